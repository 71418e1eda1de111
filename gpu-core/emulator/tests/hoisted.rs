//! A load that the compiler took out of a condition counts for those threads alone whom the source has read.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Outcome};

/// Rounds of: thread 0 clears a flag in shared memory, all meet, some may set it, all meet, and `ask` looks at it.
/// `%p1` is set in all threads but the first; what `%p3` is set in goes on.
fn rounds(ask: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n.reg .pred %p<8>;\n\
         .reg .b16 %rs<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.shared .align 4 .b8 flag[4];\nld.param.u64 %rd1, [out];\n\
         mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\nmov.u32 %r2, 0;\n$round:\n@%p1 bra $meet;\n\
         st.shared.u32 [flag], 0;\n$meet:\nbar.sync 0;\nsetp.ne.u32 %p2, %r1, 40;\n@%p2 bra $ask;\n\
         st.shared.u32 [flag], 1;\n$ask:\nbar.sync 0;\n{ask}\n@%p3 bra $on;\nst.global.u32 [%rd1], %r2;\n$on:\n\
         add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p4, %r2, 4;\n@%p4 bra $round;\nret;\n}}"
    )
}

fn outcome(ask: &str) -> Outcome {
    let module = load(&rounds(ask));
    let mut memory = memory();
    let out = memory.alloc("out", 4).expect("fits");
    let outcome = run(&module, &mut memory, &Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(out));
    assert!(outcome.completed);
    if outcome.faults.is_empty() {
        assert_eq!(download_u32(&memory, out, 1), [3], "{ask}");
        // What was loaded is counted for all.
        assert_eq!(outcome.counters.shared_load.bytes, 4 * 64 * 4);
    }
    outcome
}

#[test]
fn only_who_needs_a_load_reads() {
    let load = "ld.shared.u32 %r3, [flag];\n";
    for ask in [
        format!("{load}setp.eq.u32 %p5, %r3, 0;\nor.pred %p3, %p1, %p5;"),
        format!("{load}setp.eq.u32 %p5, %r3, 0;\nor.pred %p3, %p5, %p1;"),
        format!("{load}setp.ne.u32 %p5, %r3, 0;\nand.pred %p6, %p5, !%p1;\nnot.pred %p3, %p6;"),
        format!("{load}selp.b32 %r4, 0, %r3, %p1;\nsetp.eq.u32 %p3, %r4, 0;"),
        format!("{load}and.b32 %r4, %r3, 255;\nselp.b32 %r5, %r4, 0, !%p1;\nsetp.eq.u32 %p3, %r5, 0;"),
    ] {
        let outcome = outcome(&ask);
        assert!(outcome.faults.is_empty(), "{ask}\n{:#?}", outcome.faults);
    }
}

#[test]
fn all_read_where_the_value_is_used_elsewhere() {
    let load = "ld.shared.u32 %r3, [flag];\n";
    for ask in [
        // By all.
        format!("{load}setp.eq.u32 %p3, %r3, 0;"),
        // Once more, behind.
        format!("{load}setp.eq.u32 %p5, %r3, 0;\nor.pred %p3, %p1, %p5;\nadd.u32 %r6, %r6, %r3;"),
        // What decides is there in other lanes than those that may do without.
        format!(
            "{load}setp.eq.u32 %p5, %r3, 0;\nsetp.eq.u32 %p6, %r1, 70;\nor.pred %p7, %p6, %p5;\nor.pred %p3, %p7, %p1;"
        ),
        format!("{load}setp.ne.u32 %p5, %r3, 0;\nand.pred %p6, %p5, %p1;\nnot.pred %p3, %p6;"),
    ] {
        let outcome = outcome(&ask);
        assert_eq!(kinds(&outcome).first(), Some(&FaultKind::Race), "{ask}\n{:#?}", outcome.faults);
    }
}
