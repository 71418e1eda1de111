//! Shared memory that each block has for the system's own use, which cooperative groups ask for by `%reserved_smem_offset_1`.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Outcome};

/// What a launch of a kernel with such static memory and body left in `out`, of which each thread has 16 words.
fn run_body(bytes: u32, dynamic: u32, grid: u32, threads: u32, body: &str) -> (Outcome, Vec<u32>) {
    let own = if bytes > 0 { format!(".shared .align 4 .b8 own[{bytes}];") } else { String::new() };
    let module = load(&format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.extern .shared .align 4 .b8 more[];\n\
         .visible .entry k(.param .u64 out)\n{{\n{own}\n.reg .b32 %r<40>;\n.reg .b64 %rd<9>;\n.reg .pred %p<4>;\n\
         ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n\
         mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 64;\nadd.u64 %rd1, %rd1, %rd2;\n{body}\nret;\n}}\n"
    ));
    let mut memory = memory();
    let count = 16 * (grid * threads) as usize;
    let out = upload_u32(&mut memory, "out", &vec![0xdead; count]);
    let launch = Launch::new("k", [grid, 1, 1], [threads, 1, 1]).shared(dynamic).arg_u64(out);
    let outcome = run(&module, &mut memory, &launch);
    (outcome, download_u32(&memory, out, count))
}

/// Static and dynamic bytes; what an H100 said of `%total_smem_size` and `%aggr_smem_size`.
const SIZES: &[[u32; 4]] = &[
    [0, 0, 0, 1024],
    [0, 130, 256, 1154],
    [4, 0, 128, 1040],
    [4, 4, 128, 1044],
    [4, 256, 384, 1296],
    [100, 4, 128, 1140],
    [100, 100, 256, 1236],
    [130, 130, 384, 1298],
    [1024, 256, 1280, 2304],
];

#[test]
fn sizes_are_those_of_a_gpu() {
    for &[bytes, dynamic, total, all] in SIZES {
        let uses = if bytes > 0 { "mov.u32 %r9, own;" } else { "" };
        let body = format!(
            "{uses}\nmov.u32 %r10, %dynamic_smem_size;\nmov.u32 %r11, %total_smem_size;\nmov.u32 %r12, %aggr_smem_size;\n\
             st.global.u32 [%rd1], %r10;\nst.global.u32 [%rd1+4], %r11;\nst.global.u32 [%rd1+8], %r12;"
        );
        let (outcome, words) = run_body(bytes, dynamic, 1, 1, &body);
        assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
        assert_eq!(words[..3], [dynamic, total, all], "{bytes} and {dynamic} bytes");
    }
}

/// Everybody's words there are counted up, and nobody's own memory is.
const ADDS: &str = "mov.u32 %r5, %reserved_smem_offset_1;
mov.u32 %r6, %reserved_smem_offset_begin;
mov.u32 %r7, %reserved_smem_offset_end;
mov.u32 %r8, %reserved_smem_offset_cap;
sub.u32 %r7, %r7, %r6;
sub.u32 %r8, %r8, %r6;
st.global.v2.u32 [%rd1+8], {%r7, %r8};
shl.b32 %r9, %r1, 2;
mov.u32 %r10, own;
add.u32 %r10, %r10, %r9;
st.shared.u32 [%r10], 7;
mov.u32 %r11, more;
add.u32 %r11, %r11, %r9;
st.shared.u32 [%r11], 9;
add.u32 %r12, %r5, %r9;
ld.shared.u32 %r13, [%r12];
ld.shared.u32 %r14, [%r12+1016];
bar.sync 0;
atom.shared.add.u32 %r15, [%r12], 5;
atom.shared.add.u32 %r15, [%r5+284], 1;
bar.sync 0;
ld.shared.u32 %r16, [%r12];
ld.shared.u32 %r17, [%r5+284];
ld.shared.u32 %r18, [%r10];
ld.shared.u32 %r19, [%r11];
st.global.v2.u32 [%rd1], {%r13, %r14};
st.global.v4.u32 [%rd1+16], {%r16, %r17, %r18, %r19};";

#[test]
fn it_is_zero_in_every_block_and_lies_apart() {
    let (outcome, words) = run_body(8, 8, 300, 2, ADDS);
    assert!(outcome.completed && outcome.faults.is_empty(), "{:#?}", outcome.faults);
    for (thread, words) in words.chunks(16).enumerate() {
        assert_eq!(words[..8], [0, 0, 288, 1024, 5, 2, 7, 9], "thread {thread}");
    }
}

#[test]
fn beyond_it_there_is_nothing() {
    let (outcome, _) = run_body(0, 0, 1, 1, "mov.u32 %r5, %reserved_smem_offset_cap;\nst.shared.u32 [%r5], 1;");
    assert_eq!(outcome.faults.len(), 1, "{:#?}", outcome.faults);
    assert_eq!(outcome.faults[0].kind, FaultKind::OutOfBounds);
    assert!(outcome.faults[0].message.contains("reserved for the system"), "{}", outcome.faults[0].message);
}

/// Who does not ask for it has none.
#[test]
fn there_is_none_for_others() {
    let (outcome, _) = run_body(4, 0, 1, 1, "mov.u32 %r5, own;\nst.shared.u32 [%r5+128], 1;");
    assert_eq!(outcome.faults.first().map(|fault| fault.kind), Some(FaultKind::OutOfBounds), "{:#?}", outcome.faults);
}

/// All lanes write what all lanes have read before a vote, as the library does there; in a kernel's own memory that is a race.
#[test]
fn races_are_told_of_the_kernels_own_memory_alone() {
    let body = |place: &str| {
        format!(
            "mov.u32 %r5, {place};\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 st.shared.u32 [%r5], 4;\nbar.sync 0;\n\
             ld.shared.u32 %r6, [%r5];\nsetp.ne.u32 %p1, %r6, 3;\nvote.sync.all.pred %p1, %p1, -1;\n\
             selp.u32 %r7, %r1, 2, %p1;\nst.shared.u32 [%r5], %r7;\nst.global.u32 [%rd1], %r6;"
        )
    };
    let (outcome, _) = run_body(4, 0, 1, 32, &body("own"));
    assert!(outcome.faults.iter().any(|fault| fault.kind == FaultKind::Race), "{:#?}", outcome.faults);
    let (outcome, words) = run_body(4, 0, 1, 32, &body("%reserved_smem_offset_1"));
    assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
    assert!(words.chunks(16).all(|words| words[0] == 4));
}
