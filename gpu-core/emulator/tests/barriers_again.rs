//! mbarriers that are made anew or given up while others still look at them, and lanes that copy the same.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Options};

const PTX: &str = include_str!("ptx/mbarrier_again.sm_90.ptx");

/// Which of two warps sees the phase end first is chance on hardware, where both usually do; only the checks object.
#[test]
fn late_waiters_find_what_hardware_leaves_them() {
    let module = load(PTX);
    for (kernel, who) in [("anew", 0), ("anew", 32), ("given_up", 0), ("given_up", 32)] {
        let mut memory = memory();
        let out = memory.alloc("out", 256).expect("fits");
        let launch = Launch::new(kernel, [1, 1, 1], [64, 1, 1]).arg_u64(out).arg_u32(who);
        let outcome = run_with(&module, &mut memory, &launch, &Options::unchecked());
        assert!(outcome.completed && outcome.faults.is_empty(), "{kernel}: {:#?}", outcome.faults);
        assert_eq!(download_u32(&memory, out, 64), (0..64).collect::<Vec<_>>());
    }
}

#[test]
fn tokens_of_an_mbarrier_made_anew_are_reported() {
    let module = load(PTX);
    for (kernel, words) in [("anew", "initialised anew"), ("given_up", "after inval")] {
        // Whichever warp arrives last, the other one is late once.
        let mut faults = Vec::new();
        for who in [0, 32] {
            let mut memory = memory();
            let out = memory.alloc("out", 256).expect("fits");
            let launch = Launch::new(kernel, [1, 1, 1], [64, 1, 1]).arg_u64(out).arg_u32(who);
            faults.extend(run(&module, &mut memory, &launch).faults);
        }
        assert!(faults.iter().all(|fault| fault.kind == FaultKind::BarrierPhase), "{kernel}: {faults:#?}");
        let late = faults.iter().filter(|fault| fault.message.contains(words)).count();
        assert_eq!(late, 1, "{kernel}: {faults:#?}");
    }
}

#[test]
fn lanes_may_copy_the_same_to_the_same_place() {
    let module = load(PTX);
    let numbers: Vec<u32> = (0..256).collect();
    for (apart, expect) in [(0, &[][..]), (16, &[FaultKind::Race][..])] {
        let mut memory = memory();
        let from = upload_u32(&mut memory, "from", &numbers);
        let out = memory.alloc("out", 128).expect("fits");
        let launch = Launch::new("copies", [1, 1, 1], [32, 1, 1]).arg_u64(from).arg_u64(out).arg_u32(apart);
        let outcome = run(&module, &mut memory, &launch);
        let mut found = kinds(&outcome);
        found.dedup();
        assert_eq!(found, expect, "{:#?}", outcome.faults);
        if apart == 0 {
            assert_eq!(download_u32(&memory, out, 32), numbers[..32]);
        }
    }
}
