//! With the variable `LOCKSTEP_TWIN` set, every launch of the tests that is short is made twice more, by one host thread: on the
//! fast paths and in the reference mode.
//! Memory, counters, faults and the number of instructions must be the same. Kernels that read registers which nobody set
//! find what the warp before left there, which may not be the same.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use ptx_emulator::{Fast, FaultKind, Launch, Memory, Module, Options, Outcome};

/// Launches of more warp instructions are compared by `tests/reference_mode.rs` alone.
const SHORT: u64 = 50_000;
/// Memory that is copied at most.
const MOST_BYTES: u64 = 4 << 20;

/// The memory before a launch; None where that is not to be looked at.
pub fn before(module: &Module, memory: &Memory, options: &Options) -> Option<Memory> {
    let plain =
        options.fast == Fast::NONE || options.conditions.is_some() || ptx_emulator::inside::asks_for_time(module);
    let wanted = std::env::var_os("LOCKSTEP_TWIN").is_some();
    if plain || !wanted || memory.usage().0 > MOST_BYTES { None } else { memory.copy() }
}

/// Compares a launch with the reference mode, given the memory before it and what it came to.
pub fn hold(module: &Module, before: Memory, launch: &Launch, options: &Options, outcome: &Outcome) {
    if outcome.executed > SHORT || ends_by_time(outcome) {
        return;
    }
    let run = |mut memory: Memory, fast: Fast| {
        let options = Options { fast, workers: 1, trace: None, ..options.clone() };
        let outcome = ptx_emulator::launch(module, &mut memory, launch, &options, &AtomicBool::new(false));
        (outcome, memory)
    };
    let Some(again) = before.copy() else { return };
    let (usual, reference) = (run(again, options.fast), run(before, Fast::NONE));
    let differences = differences(&usual, &reference);
    assert!(differences.is_empty(), "`{}` in the reference mode: {differences}", launch.kernel);
}

/// What ended a launch by the clock, or by a budget that ends it wherever it is.
pub fn ends_by_time(outcome: &Outcome) -> bool {
    let by_time = [FaultKind::Stopped, FaultKind::TimeBudget, FaultKind::StepBudget];
    outcome.faults.iter().any(|fault| by_time.contains(&fault.kind))
}

/// What differs between a launch on some fast paths and one in the reference mode; empty for nothing.
pub fn differences((usual, memory): &(Outcome, Memory), (reference, plain): &(Outcome, Memory)) -> String {
    let mut said = String::new();
    let mut differ = |what: &str, a: &dyn std::fmt::Debug, b: &dyn std::fmt::Debug| {
        let (a, b) = (format!("{a:#?}"), format!("{b:#?}"));
        if a != b {
            let line = a.lines().zip(b.lines()).find(|(a, b)| a != b);
            let _ = writeln!(said, "{what} differ: {line:?}\n{a}\n{b}");
        }
    };
    differ("faults", &usual.faults, &reference.faults);
    differ("completion", &usual.completed, &reference.completed);
    differ("printed text", &usual.console, &reference.console);
    // What ends a launch is noticed by other warps a little later on the fast paths.
    if usual.completed {
        differ("instructions", &usual.executed, &reference.executed);
        differ("counters", &usual.counters, &reference.counters);
        differ("counters of lines", &usual.lines, &reference.lines);
        for ((name, bytes, written), (_, plain, plain_written)) in memory.contents().zip(plain.contents()) {
            let first = bytes.iter().zip(plain).position(|(a, b)| a != b);
            differ(&format!("bytes of `{name}`"), &first.map(|at| (at, bytes[at])), &first.map(|at| (at, plain[at])));
            differ(&format!("written bytes of `{name}`"), &(written == plain_written), &true);
        }
    }
    said
}
