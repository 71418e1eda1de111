//! Registers that may be read before they are written, in kernels that hardly name them.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Options, TraceRequest};

/// Each lane but `leader` leaves %r1 as it is. `then` goes on with it; 12 other instructions stand between.
fn kernel(then: &str) -> String {
    let others = "    add.u32 %r6, %r6, %r7;\n    xor.b32 %r7, %r7, %r6;\n".repeat(6);
    format!(
        "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 to, .param .u32 leader)
{{
    .reg .pred %p<3>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r2, [leader];
    mov.u32 %r3, %tid.x;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd2, %rd1, %rd2;
    mov.u32 %r6, 1;
    mov.u32 %r7, 2;
{others}
    setp.ne.u32 %p1, %r3, %r2;
    @%p1 bra join;
    mov.u32 %r1, 7;
join:
{others}
{then}
{others}
    st.global.u32 [%rd2], %r4;
    ret;
}}"
    )
}

fn launched(ptx: &str, trace: bool) -> (ptx_emulator::Outcome, Vec<u32>) {
    let module = load(ptx);
    let mut memory = memory();
    let to = upload_u32(&mut memory, "to", &[0; 64]);
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(to).arg_u32(5);
    let request = TraceRequest { blocks: vec![0], warps: Vec::new(), max_bytes: 1 << 20 };
    let options = Options { trace: trace.then_some(request), ..Options::default() };
    let outcome = run_with(&module, &mut memory, &launch, &options);
    (outcome, download_u32(&memory, to, 32))
}

#[test]
fn a_value_of_the_lane_that_has_one_is_no_fault() {
    let ptx = kernel("    shfl.sync.idx.b32 %r4, %r1, 5, 31, -1;");
    let (outcome, values) = launched(&ptx, false);
    assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
    assert_eq!(values, [7; 32]);
}

#[test]
fn a_value_of_a_lane_that_has_none_is_followed_to_its_use() {
    let uses = [
        // From another lane, through a copy, and used only later.
        ("    shfl.sync.idx.b32 %r4, %r1, 6, 31, -1;", "", 32),
        ("    mov.b32 %r4, %r1;", "", 31),
        ("    mov.b32 %r4, 0;\n    selp.b32 %r5, %r1, %r4, %p1;", "    add.u32 %r4, %r5, 1;", 31),
        // Where one lane alone goes.
        ("    mov.b32 %r4, %r1;\n    setp.ne.u32 %p2, %r3, 9;\n    @%p2 mov.b32 %r4, 0;", "", 1),
    ];
    for (then, later, lanes) in uses {
        let computes = "    add.u32 %r4, %r4, 1;";
        let ptx = kernel(&format!("{then}\n{later}\n{computes}"));
        let (outcome, _) = launched(&ptx, false);
        let [fault] = &outcome.faults[..] else { panic!("{then}: {:#?}", outcome.faults) };
        assert_eq!((fault.kind, fault.occurrences), (FaultKind::Uninitialised, lanes), "{then}");
        // Whoever traces it sees the same.
        assert_eq!(launched(&ptx, true).0.faults, outcome.faults, "{then}");
    }
}

#[test]
fn what_is_written_before_it_is_read_is_no_fault() {
    // In every lane, though only in two steps.
    let ptx = kernel("    @%p1 mov.b32 %r1, %r3;\n    add.u32 %r4, %r1, 1;");
    let (outcome, values) = launched(&ptx, false);
    assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
    assert_eq!(values, std::array::from_fn::<u32, 32, _>(|lane| if lane == 5 { 8 } else { lane as u32 + 1 }));
}

#[test]
fn a_trace_goes_on_when_the_last_mark_is_gone() {
    let ptx = kernel("    shfl.sync.idx.b32 %r4, %r1, 5, 31, -1;\n    mov.b32 %r1, 0;");
    let (outcome, _) = launched(&ptx, true);
    assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
    let trace = outcome.trace.expect("asked for");
    // As many as are counted, from the first to the last.
    assert_eq!(trace.warps[0].steps.len() as u64, outcome.counters.warp_instructions);
    assert_eq!(trace.instructions.last().map(|last| last.text.as_str()), Some("ret"));
}

/// What one group of lanes asks for no more, another one may still have to ask for.
#[test]
fn a_mark_is_dropped_for_those_lanes_alone_that_are_done_with_it() {
    for not in ["", "!"] {
        let module = load(&format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 c)\n{{\n\
             .reg .pred %p; .reg .b32 %x, %y, %z, %tid; .reg .b64 %rc, %rj;\n.shared .align 4 .b8 tile[128];\n\
             mov.u32 %tid, %tid.x; setp.lt.u32 %p, %tid, 16; mov.u32 %z, 0; ld.shared.u32 %x, [tile];\n\
             @{not}%p bra $other;\nmov.u32 %y, %x;\nbra $end;\n$other:\nadd.u32 %z, %x, 1;\n$end:\n\
             ld.param.u64 %rc, [c]; mul.wide.u32 %rj, %tid, 4; add.u64 %rc, %rc, %rj; st.global.u32 [%rc], %z; ret;\n}}\n"
        ));
        let mut memory = memory();
        let c = memory.alloc("c", 128).expect("fits");
        let outcome = run(&module, &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(c));
        assert_eq!(kinds(&outcome), [FaultKind::Uninitialised], "{:?}", outcome.faults);
    }
}
