//! A relaxed atomic tells that something was published; only a fence or a barrier behind it orders what follows.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Outcome};

/// Thread 0 of each block takes a lock, adds to `data` and gives the lock back; what stands at the places of `before` and
/// `behind` makes the difference.
fn locked(before: &str, behind: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data, .param .u64 lock) {{\n\
         .reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [lock];\n\
         mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $end;\n\
         $again: atom.global.cas.b32 %r2, [%rd2], 0, 1;\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra $again;\n{before}\n\
         ld.global.u32 %r3, [%rd1];\nadd.u32 %r3, %r3, 1;\nst.global.u32 [%rd1], %r3;\n{behind}\n\
         atom.global.exch.b32 %r4, [%rd2], 0;\n$end:\nret;\n}}"
    )
}

/// The last block to come adds up what all blocks left; `between` stands behind the count that tells which one it is.
fn last(between: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data, .param .u64 count) {{\n\
         .reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [count];\n\
         mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd3, %rd1;\nst.global.u32 [%rd3+4], %r1;\n\
         membar.gl;\natom.global.inc.u32 %r2, [%rd2], 100;\n{between}\nsetp.ne.u32 %p1, %r2, 1;\n@%p1 bra $end;\n\
         ld.global.u32 %r3, [%rd1+4];\nld.global.u32 %r4, [%rd1+8];\nadd.u32 %r3, %r3, %r4;\nst.global.u32 [%rd1], %r3;\n\
         $end:\nret;\n}}"
    )
}

fn outcome(ptx: &str, threads: u32) -> Outcome {
    let module = load(ptx);
    let mut memory = memory();
    let (data, word) = (upload_u32(&mut memory, "data", &[0; 4]), upload_u32(&mut memory, "word", &[0]));
    run(&module, &mut memory, &Launch::new("k", [2, 1, 1], [threads, 1, 1]).arg_u64(data).arg_u64(word))
}

fn is_clean(ptx: &str) {
    let outcome = outcome(ptx, 1);
    assert!(outcome.completed && outcome.faults.is_empty(), "{ptx}\n{:#?}", outcome.faults);
}

fn is_race(ptx: &str, says: &str) {
    let outcome = outcome(ptx, 1);
    assert!(!outcome.faults.is_empty(), "{ptx}");
    for fault in &outcome.faults {
        assert_eq!(fault.kind, FaultKind::Race, "{ptx}\n{fault:#?}");
        assert!(fault.message.contains(says), "{}", fault.message);
    }
}

#[test]
fn a_lock_orders_with_a_fence_on_either_side() {
    is_clean(&locked("membar.gl;", "membar.gl;"));
    is_clean(&locked("fence.acq_rel.gpu;", "fence.acq_rel.gpu;"));
    is_race(&locked("", "membar.gl;"), "a fence (__threadfence)");
    is_race(&locked("membar.gl;", ""), "no barrier or other order");
    // Both sides have a scope that leaves the other block out, or one of them has.
    is_race(&locked("membar.cta;", "membar.gl;"), "a fence (__threadfence)");
    is_race(&locked("membar.gl;", "membar.cta;"), "no barrier or other order");
    // An atomic that acquires needs no fence.
    is_clean(&locked("", "membar.gl;").replace("atom.global.cas", "atom.acquire.gpu.global.cas"));
}

#[test]
fn the_last_block_looks_behind_a_fence_or_a_barrier() {
    is_clean(&last("membar.gl;"));
    is_clean(&last("bar.sync 0;"));
    is_race(&last(""), "a fence (__threadfence)");
}

#[test]
fn warps_of_a_block_need_the_fence_that_publishes_only() {
    // The threads of two warps instead of two blocks, where the scope of the block is enough.
    let warps =
        |ptx: String| ptx.replace("setp.ne.u32 %p1, %r1, 0;", "and.b32 %r5, %r1, 31;\nsetp.ne.u32 %p1, %r5, 0;");
    let run = |before: &str, behind: &str| {
        let module = load(&warps(locked(before, behind)));
        let mut memory = memory();
        let (data, word) = (upload_u32(&mut memory, "data", &[0; 4]), upload_u32(&mut memory, "word", &[0]));
        let launch = Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(data).arg_u64(word);
        let outcome = run(&module, &mut memory, &launch);
        assert!(outcome.completed);
        kinds(&outcome)
    };
    assert_eq!(run("membar.cta;", "membar.cta;"), []);
    assert_eq!(run("membar.gl;", "membar.gl;"), []);
    // They share a cache: what others published is there.
    assert_eq!(run("", "membar.cta;"), []);
    assert!(run("membar.cta;", "").contains(&FaultKind::Race));
}
