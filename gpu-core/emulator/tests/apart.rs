//! Groups of a warp's lanes that came apart, and meet at barriers and operations of the whole warp all the same.

mod common;

use common::*;
use ptx_emulator::{Launch, Options};

const PTX: &str = include_str!("ptx/apart.sm_90.ptx");

/// Runs a kernel with two warps and gives what each thread stored, 0 at first.
fn stored(kernel: &str) -> Vec<u32> {
    let module = load(PTX);
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 64]);
    let launch = Launch::new(kernel, [1, 1, 1], [64, 1, 1]).arg_u64(out);
    // Threads that end before a barrier are for the checks to tell: how it goes on is asked here.
    let outcome = run_with(&module, &mut memory, &launch, &Options::unchecked());
    assert!(outcome.completed && outcome.faults.is_empty(), "{kernel}: {:#?}", outcome.faults);
    download_u32(&memory, out, 64)
}

#[test]
fn halves_that_call_one_after_the_other_are_in_one_call() {
    let sum = |lanes: std::ops::Range<u32>| [lanes.sum::<u32>(); 32];
    assert_eq!(stored("calls"), [sum(0..32), sum(32..64)].concat());
}

#[test]
fn groups_at_a_barrier_go_on_when_the_rest_of_the_warp_ends() {
    let warp: Vec<u32> = (0..32).map(|lane| [1, 0, 2, 2][lane / 8]).collect();
    assert_eq!(stored("leaves"), [warp.clone(), warp].concat());
}

#[test]
fn a_group_that_a_barrier_let_go_runs_before_its_sibling_polls_on() {
    let module = load(PTX);
    for second in 0..2 {
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[0; 64]);
        let launch = Launch::new("released", [1, 1, 1], [64, 1, 1]).arg_u64(out).arg_u32(second);
        run_clean(&module, &mut memory, &launch);
        let halves: Vec<u32> = (0..64).map(|thread| if thread % 2 == second { 2 } else { 1 }).collect();
        assert_eq!(download_u32(&memory, out, 64), halves, "second {second}");
    }
}
