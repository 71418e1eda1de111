//! mbarriers that are made anew or given up while others still look at them, or asked for phases long past, and lanes that copy the
//! same.

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

/// What is said once is counted from then on: a loop that makes the same mistake in every turn takes about as long as one that
/// makes none.
#[test]
fn the_same_mistake_again_and_again_is_cheap() {
    let kernel = |phases: &str| {
        load(&format!(
            "
.version 8.0
.target sm_90
.address_size 64
.visible .entry again()
{{
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    .shared .align 8 .b8 bar[8];
    mov.u32 %r1, bar;
    mov.u32 %r2, %tid.x;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra $made;
    mbarrier.init.shared.b64 [%r1], 32;
$made:
    bar.sync 0;
    mbarrier.arrive.shared.b64 %rd1, [%r1];
    {phases}
$again:
    mbarrier.test_wait.shared.b64 %p2, [%r1], %rd1;
    bra $again;
}}"
        ))
    };
    let run = |module: &ptx_emulator::Module| {
        let options = Options { workers: 1, max_warp_instructions: Some(30_000), ..Options::default() };
        let launch = Launch::new("again", [1, 1, 1], [32, 1, 1]);
        let begin = std::time::Instant::now();
        let outcome = run_with(module, &mut memory(), &launch, &options);
        (begin.elapsed(), kinds(&outcome).contains(&FaultKind::BarrierPhase))
    };
    // Two further phases, and the token is none any more.
    let late = "bar.warp.sync -1; mbarrier.arrive.shared.b64 %rd2, [%r1];".repeat(2);
    let (right, wrong) = (kernel(""), kernel(&late));
    // Whatever else the machine does, it does not do it all the time.
    let ratio = (0..5).map(|_| {
        let ((usual, none), (again, some)) = (run(&right), run(&wrong));
        assert!(!none && some);
        again.as_secs_f64() / usual.as_secs_f64()
    });
    let least = ratio.fold(f64::MAX, f64::min);
    assert!(least < 10.0, "{least} times as long");
}
