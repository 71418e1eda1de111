//! mbarriers that are made anew or given up while others still look at them, or asked for phases long past, and lanes that copy the
//! same.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Options, Outcome};

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

/// A loop without an end in which each thread asks for the phase of a token of its own mbarrier again and again; `late` makes
/// two further phases before, and the token is none any more.
fn asks_again(late: bool) -> ptx_emulator::Module {
    let phases =
        if late { "bar.warp.sync -1; mbarrier.arrive.shared.b64 %rd2, [%r1];".repeat(2) } else { String::new() };
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
    .shared .align 8 .b8 bar[256];
    mov.u32 %r1, bar;
    mov.u32 %r2, %tid.x;
    shl.b32 %r2, %r2, 3;
    add.u32 %r1, %r1, %r2;
    mbarrier.init.shared.b64 [%r1], 1;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %rd1, [%r1];
    {phases}
$again:
    mbarrier.test_wait.shared.b64 %p2, [%r1], %rd1;
    bra $again;
}}"
    ))
}

fn run_again(module: &ptx_emulator::Module, most: u64) -> Outcome {
    let options = Options { workers: 1, max_warp_instructions: Some(most), ..Options::default() };
    run_with(module, &mut memory(), &Launch::new("again", [1, 1, 1], [32, 1, 1]), &options)
}

/// What is said once is counted from then on: a loop that makes the same mistake in every turn takes about as long as one that
/// makes none.
#[test]
fn the_same_mistake_again_and_again_is_cheap() {
    // Time of an instruction.
    let run = |module: &ptx_emulator::Module, most: u64| {
        let begin = std::time::Instant::now();
        let outcome = run_again(module, most);
        let took = begin.elapsed().as_secs_f64() / outcome.executed as f64;
        (took, kinds(&outcome).contains(&FaultKind::BarrierPhase))
    };
    let (right, wrong) = (asks_again(false), asks_again(true));
    // Whatever else the machine does, it does not do it all the time.
    let ratio = (0..5).map(|_| {
        // The mistakes of all lanes count: about as many instructions as of the right one.
        let ((usual, none), (again, some)) = (run(&right, 30_000), run(&wrong, 32 * 30_000));
        assert!(!none && some);
        again / usual
    });
    let least = ratio.fold(f64::MAX, f64::min);
    assert!(least < 10.0, "{least} times as long");
}

/// Each lane of an instruction may make its mistake again: what that takes is held to the budget as well, or a loop of nothing
/// else would go on for 32 times as long as the budget allows.
#[test]
fn mistakes_without_end_end_with_the_budget() {
    let most = 20_000;
    let outcome = run_again(&asks_again(true), most);
    assert!(!outcome.completed);
    assert_eq!(kinds(&outcome), [FaultKind::BarrierPhase, FaultKind::StepBudget], "{:#?}", outcome.faults);
    // Looks at the budget are 1,024 mistakes apart, and the instruction that made the last one goes on to its end.
    let times = outcome.faults[0].occurrences;
    assert!((most..most + 2 * 1_024).contains(&times), "{times} times");
    // Those who make none have all of it.
    let outcome = run_again(&asks_again(false), most);
    assert_eq!(kinds(&outcome), [FaultKind::StepBudget], "{:#?}", outcome.faults);
    assert!(outcome.executed > most, "{}", outcome.executed);
}
