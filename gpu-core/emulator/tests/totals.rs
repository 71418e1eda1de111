//! What blocks add up by atomics is no result yet for those that read it in the same launch, with nothing to wait for the
//! others.

mod common;

use common::*;
use ptx_emulator::{AccessKind, FaultKind, Launch, Options, Outcome};

/// Each thread updates word 0 of `sum`, at `%rd1`, by `update`; `%r1` is its own number and `%rd3` the place for its result.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 sum, .param .u64 out) {{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<12>;\n.reg .f32 %f<2>;\n.reg .b64 %rd<6>;\nld.param.u64 %rd1, [sum];\nld.param.u64 %rd2, [out];\n\
         mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.u32 %r1, %r3, %r4, %r2;\n\
         mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd3, %rd2;\n{body}\nret;\n}}"
    )
}

fn run_on(body: &str, blocks: u32) -> Outcome {
    let module = load(&kernel(body));
    let mut memory = memory();
    let (sum, out) = (upload_u32(&mut memory, "sum", &[0; 64]), upload_u32(&mut memory, "out", &[0; 256]));
    let launch = Launch::new("k", [blocks, 1, 1], [64, 1, 1]).arg_u64(sum).arg_u64(out);
    run_with(&module, &mut memory, &launch, &Options { workers: 1, ..Options::default() })
}

/// Each race is of the sum; the last one's access. A reader and one that adds may each come last in one run.
fn is_race(body: &str, blocks: u32) -> AccessKind {
    let outcome = run_on(body, blocks);
    assert!(outcome.completed && !outcome.faults.is_empty(), "{body}\n{:#?}", outcome.faults);
    for fault in &outcome.faults {
        assert_eq!(fault.kind, FaultKind::Race, "{body}\n{fault:#?}");
        assert!(fault.message.contains("`sum`[0]"), "{}", fault.message);
    }
    outcome.faults.last().and_then(|fault| fault.access).expect("an access")
}

fn is_clean(body: &str, blocks: u32) {
    let outcome = run_on(body, blocks);
    assert!(outcome.completed && outcome.faults.is_empty(), "{body}\n{:#?}", outcome.faults);
}

const ADD: &str = "atom.global.add.u32 %r5, [%rd1], %r1;\nbar.sync 0;\n";

#[test]
fn a_total_that_others_still_add_to_is_no_result() {
    // A barrier is one block's: one block may, two may not.
    for use_it in ["", "mad.lo.u32 %r6, %r6, 3, %r1;\n", "cvt.rn.f32.u32 %f1, %r6;\nmov.b32 %r6, %f1;\n"] {
        let body = format!("{ADD}ld.global.u32 %r6, [%rd1];\n{use_it}st.global.u32 [%rd3], %r6;");
        is_clean(&body, 1);
        is_race(&body, 2);
        // A reduction is as much of an update.
        is_race(&body.replace("atom.global.add.u32 %r5, ", "red.global.add.u32 "), 2);
        // Only the first block adds, and only the second one reads.
        let body = body
            .replace("bar.sync 0;", "bra $end;\n$read:")
            .replace("atom", "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra $read;\natom");
        assert_eq!(is_race(&format!("{body}\n$end:"), 2), AccessKind::Read);
    }
}

#[test]
fn a_total_that_is_read_before_others_add_to_it_is_none_either() {
    // Only the first thread of the first block reads, before the second block has begun.
    let first = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $end;\n";
    let body =
        format!("{ADD}{first}ld.global.u32 %r6, [%rd1];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%rd3], %r6;\n$end:");
    is_clean(&body, 1);
    assert_eq!(is_race(&body, 2), AccessKind::Atomic);
}

#[test]
fn looking_ahead_is_no_use_of_a_total() {
    // Whether it is worth an atomic.
    is_clean(
        "ld.global.u32 %r6, [%rd1];\nsetp.le.u32 %p1, %r1, %r6;\n@%p1 bra $end;\nred.global.max.u32 [%rd1], %r1;\n$end:",
        2,
    );
    // What to try a compare-and-swap with; its last answer is stored.
    is_clean(
        "ld.global.u32 %r6, [%rd1];\n$again:\nmov.u32 %r7, %r6;\nadd.u32 %r8, %r7, %r1;\n\
         atom.global.cas.b32 %r6, [%rd1], %r7, %r8;\nsetp.ne.u32 %p1, %r6, %r7;\n@%p1 bra $again;\n\
         st.global.u32 [%rd3], %r6;",
        2,
    );
    // A volatile load asks for whatever is there now.
    is_clean(&format!("{ADD}ld.volatile.global.u32 %r6, [%rd1];\nst.global.u32 [%rd3], %r6;"), 2);
    // What a fence publishes together with a count is complete for who counts last.
    is_clean(
        "red.global.add.u32 [%rd1], %r1;\nmembar.gl;\nbar.sync 0;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra $end;\n\
         atom.global.inc.u32 %r5, [%rd1+128], 100;\nmembar.gl;\nsetp.ne.u32 %p1, %r5, 1;\n@%p1 bra $end;\n\
         ld.global.u32 %r6, [%rd1];\nst.global.u32 [%rd2], %r6;\n$end:",
        2,
    );
}
