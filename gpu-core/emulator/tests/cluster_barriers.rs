//! What the barrier of a cluster orders inside a block: what came before the arrivals, and nothing behind them.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Module};

const ARRIVE: &str = "barrier.cluster.arrive.aligned;\n";
const WAIT: &str = "barrier.cluster.wait.aligned;\n";

/// Two warps in each of two blocks; `%w` is the warp, `%at` the own word of an array in shared memory, `%next` that of the
/// same lane of the other warp, `%far` the place of `%at`'s lane in the other block, which both warps share.
fn races(body: &str) -> usize {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n.reqnctapercluster 2, 1, 1\n{{\n\
         .reg .pred %p, %q;\n.reg .b32 %t, %w, %l, %s, %at, %next, %far, %rank, %v;\n\
         .shared .align 4 .b8 words[256];\n\
         mov.u32 %t, %tid.x;\nshr.u32 %w, %t, 5;\nand.b32 %l, %t, 31;\nmov.u32 %s, words;\n\
         mad.lo.u32 %at, %t, 4, %s;\nxor.b32 %next, %at, 128;\nmov.u32 %rank, %cluster_ctarank;\nxor.b32 %rank, %rank, 1;\n\
         mad.lo.u32 %far, %l, 4, %s;\nmapa.shared::cluster.u32 %far, %far, %rank;\n\
         setp.eq.u32 %p, %w, 0;\nsetp.ne.u32 %q, %w, 0;\n\
         {body}\n{ARRIVE}{WAIT}ret;\n}}\n"
    );
    let module = Module::load(&ptx).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 64]);
    let launch = Launch { cluster: [2, 1, 1], ..Launch::new("k", [2, 1, 1], [64, 1, 1]).arg_u64(out) };
    let outcome = run_with(&module, &mut memory, &launch, &Default::default());
    assert!(outcome.completed, "{body}: {:#?}", outcome.faults);
    for fault in &outcome.faults {
        assert_eq!(fault.kind, FaultKind::Race, "{body}: {fault:#?}");
    }
    outcome.faults.len()
}

/// Nothing orders two warps of a block behind the barrier, in its own memory and in that of the other block.
#[test]
fn nothing_behind_it_is_ordered() {
    let both = format!("{ARRIVE}{WAIT}");
    assert_ne!(races(&format!("{both}@%p st.shared.u32 [%at], %t;\n@%q ld.shared.u32 %v, [%next];")), 0);
    assert_ne!(races(&format!("{both}@%q st.shared.u32 [%at], %t;\n@%p ld.shared.u32 %v, [%next];")), 0);
    assert_ne!(races(&format!("{both}st.shared::cluster.u32 [%far], %t;")), 0);
    // The second of two is one like the first.
    assert_ne!(races(&format!("{both}{both}@%p st.shared.u32 [%at], %t;\n@%q ld.shared.u32 %v, [%next];")), 0);
}

#[test]
fn what_came_before_is_ordered() {
    let both = format!("{ARRIVE}{WAIT}");
    assert_eq!(races(&format!("st.shared.u32 [%at], %t;\n{both}ld.shared.u32 %v, [%next];")), 0);
    assert_eq!(races(&format!("{both}st.shared.u32 [%at], %t;\nbar.sync 0;\nld.shared.u32 %v, [%next];")), 0);
    let rounds = format!("st.shared.u32 [%at], %t;\n{both}ld.shared.u32 %v, [%next];\n{both}").repeat(3);
    assert_eq!(races(&rounds), 0);
    let far = format!("{both}@%p st.shared::cluster.u32 [%far], %t;\n{both}@%q st.shared::cluster.u32 [%far], %t;");
    assert_eq!(races(&far), 0);
}

/// Between arrival and wait a warp may do what the barrier does not order.
#[test]
fn what_lies_between_is_not_ordered() {
    let store = "@%p st.shared.u32 [%at], %t;\n";
    assert_ne!(races(&format!("{ARRIVE}{store}{WAIT}@%q ld.shared.u32 %v, [%next];")), 0);
    assert_eq!(races(&format!("{store}{ARRIVE}{WAIT}@%q ld.shared.u32 %v, [%next];")), 0);
    // The next barrier does.
    assert_eq!(races(&format!("{ARRIVE}{store}{WAIT}{ARRIVE}{WAIT}@%q ld.shared.u32 %v, [%next];")), 0);
}

/// An arrival without memory semantics orders what a fence covers.
#[test]
fn a_relaxed_arrival_orders_what_a_fence_covers() {
    let relaxed = format!("barrier.cluster.arrive.relaxed.aligned;\n{WAIT}");
    let (store, load) = ("st.shared.u32 [%at], %t;\n", "ld.shared.u32 %v, [%next];");
    assert_ne!(races(&format!("{store}{relaxed}{load}")), 0);
    assert_eq!(races(&format!("{store}fence.acq_rel.cluster;\n{relaxed}{load}")), 0);
    assert_eq!(races(&format!("{store}bar.sync 0;\n{relaxed}{load}")), 0);
}

/// Warps that have ended are waited for no more, and what they did is over.
#[test]
fn warps_that_have_ended_are_behind_nobody() {
    let store = "st.shared.u32 [%at], %t;\n@%q ret;\n";
    assert_eq!(races(&format!("{store}{ARRIVE}{WAIT}ld.shared.u32 %v, [%next];")), 0);
}
