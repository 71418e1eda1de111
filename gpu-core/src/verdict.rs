//! What the judge found.

use crate::measured::Stats;
use crate::spec::{Dtype, Step};
use ptx_emulator::{Counters, Fault, FaultKind, LaunchName, LineCounters, SourceLine, ThreadId, Trace};
use serde::{Deserialize, Serialize};

/// Every key that a verdict's hints, an exercise's `[[hint]] on` and a `[[wrong]] fault` may hold: first the fault
/// kinds ([`fault_key`]), then what the judge itself diagnoses.
pub const HINT_KEYS: [&str; 42] = [
    "out_of_bounds",
    "misaligned",
    "use_after_free",
    "race",
    "uninitialised",
    "barrier_divergence",
    "mask_misuse",
    "missing_async_wait",
    "barrier_phase",
    "stale_read",
    "undefined_result",
    "deadlock",
    "step_budget",
    "time_budget",
    "stack_overflow",
    "bad_launch",
    "trap",
    "stopped",
    // The judge's own.
    "wrong_output",
    "nothing_written",
    "first_block_only",
    "cut_sums",
    "doubled",
    "moved_output",
    "kept_state",
    "narrow_index",
    "whole_number",
    "never_written",
    "input_changed",
    "workspace",
    "nan_output",
    "transposed_output",
    "precision",
    "tail_missing",
    "shifted_output",
    "wrong_signature",
    "wide_access",
    "compile_error",
    "crashed",
    // Not failures: how a kernel that passes uses the machine.
    "uncoalesced",
    "bank_conflicts",
    "divergence",
];

/// Those of [`HINT_KEYS`] that the emulator's faults have, and what is as certain: causes, not patterns.
pub const FAULT_KEYS: &[&str] = HINT_KEYS.split_at(18).0;

/// The stable snake_case name of a fault kind.
pub fn fault_key(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::OutOfBounds => "out_of_bounds",
        FaultKind::Misaligned => "misaligned",
        FaultKind::UseAfterFree => "use_after_free",
        FaultKind::Race => "race",
        FaultKind::Uninitialised => "uninitialised",
        FaultKind::BarrierDivergence => "barrier_divergence",
        FaultKind::MaskMisuse => "mask_misuse",
        FaultKind::MissingAsyncWait => "missing_async_wait",
        FaultKind::BarrierPhase => "barrier_phase",
        FaultKind::StaleRead => "stale_read",
        FaultKind::UndefinedResult => "undefined_result",
        FaultKind::Deadlock => "deadlock",
        FaultKind::StepBudget => "step_budget",
        FaultKind::TimeBudget => "time_budget",
        FaultKind::StackOverflow => "stack_overflow",
        FaultKind::BadLaunch => "bad_launch",
        FaultKind::Trap => "trap",
        FaultKind::Stopped => "stopped",
    }
}

/// A wrong output element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    pub buffer: String,
    /// Row-major index in the buffer's shape, for example `[3, 17]`.
    pub index: Vec<u64>,
    pub expected: f64,
    pub got: f64,
    /// The element still holds the poison that it was filled with: nothing was written there.
    pub never_written: bool,
    /// Something was stored there that has no value: it was computed from what nobody wrote, or from what a shuffle did not give.
    pub undefined: bool,
    /// The stored code, where the element is one of a view.
    pub code: Option<CodePair>,
    /// Who wrote it last; only where the emulator watched that.
    pub writer: Option<Writer>,
}

/// The first infinity or NaN on the way to a wrong element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstNonfinite {
    /// All of it in words.
    pub sentence: String,
    /// The element that it came to.
    pub buffer: String,
    pub index: Vec<u64>,
    pub first: NonfiniteStep,
    /// The NaN that an infinity became, where that was not the first.
    pub then: Option<NonfiniteStep>,
}

/// An instruction whose result is an infinity or NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NonfiniteStep {
    pub value: f64,
    /// What was computed: `expf(1204.5)`, `inf / inf`.
    pub expression: String,
    /// Of the PTX instruction, in its order.
    pub operands: Vec<f64>,
    pub instruction: String,
    pub source: Option<SourceLine>,
    /// Where the function that `source` is in was called, when the compiler inlined it.
    pub inlined_at: Option<SourceLine>,
    /// None in an exercise of one launch.
    pub launch: Option<LaunchName>,
    /// The first that met it.
    pub thread: ThreadId,
    /// How often this instruction gave one, over all threads.
    pub occurrences: u64,
}

/// A stored code beside the reference's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodePair {
    pub got: u32,
    /// None where the reference computes values and no codes.
    pub expected: Option<u32>,
    /// Width of a code.
    pub bits: u32,
    /// Of the element's group; None without scales.
    pub got_scale: Option<f64>,
    pub expected_scale: Option<f64>,
}

/// What was measured of one output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputReport {
    /// A parameter, or a view.
    pub of: String,
    /// One of [`crate::spec::METRICS`].
    pub metric: String,
    /// Of `elementwise` the largest error in units of the tolerance, of `exact` how many elements are wrong.
    pub measured: f64,
    pub limit: f64,
    /// The measured value must be at least the limit; else at most.
    pub is_at_least: bool,
    pub passed: bool,
    /// Why the limit is right, as the exercise says.
    pub reason: String,
}

/// The thread that wrote an element, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// Which launch, where there are several.
    pub launch: Option<LaunchName>,
    pub thread: ThreadId,
    pub source: Option<SourceLine>,
}

/// What one step of an exercise with several did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    pub name: String,
    pub entry: String,
    /// The course's kernel, not the learner's.
    pub given: bool,
    /// How often it was launched.
    pub launches: u64,
    /// Of all its launches. Emulator only.
    pub counters: Option<Counters>,
    /// Time of all its launches by themselves, in a benchmark on a GPU.
    pub stats: Option<Stats>,
}

impl StepReport {
    /// A step that has not run.
    pub fn of(step: &Step) -> Self {
        let given = step.given.is_some();
        StepReport { name: step.name.clone(), entry: step.entry.clone(), given, ..StepReport::default() }
    }
}

/// The judged outcome of one case (one size, one seed).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// For example `n = 1000`.
    pub name: String,
    pub seed: u64,
    /// `emulator` or the GPU's name.
    pub device: String,
    pub passed: bool,
    /// One sentence saying why it failed; empty when passed.
    pub reason: String,
    /// First mismatches in index order, at most 10.
    pub mismatches: Vec<Mismatch>,
    pub mismatch_count: u64,
    pub element_count: u64,
    /// Largest error seen, in units of the tolerance (1.0 is the limit).
    pub worst_error_ratio: f64,
    /// Each output by its own metric; empty when the kernel did not run to its end.
    pub outputs: Vec<OutputReport>,
    /// A guard zone or an input was changed: which buffer, at which element.
    pub corrupted: Vec<String>,
    pub faults: Vec<Fault>,
    /// Where a wrong element's infinity or NaN came from; only where the emulator looked for it.
    pub first_nonfinite: Option<FirstNonfinite>,
    /// Hints from the run that are not failures (a spin lock that only ended by fair scheduling, say).
    pub notes: Vec<String>,
    /// Emulator only.
    pub counters: Option<Counters>,
    pub lines: Vec<LineCounters>,
    /// In the exercise's order; empty for an exercise of one launch.
    pub steps: Vec<StepReport>,
    pub wall_ms: f64,
}

/// The whole check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub passed: bool,
    /// One sentence: what passed, or the first thing that is wrong.
    pub summary: String,
    pub cases: Vec<CaseReport>,
    /// Hint keys for the lesson (`race`, `out_of_bounds`, `wrong_output`, `never_written`, …).
    pub hints: Vec<String>,
    /// What the check could not do or left out, and why.
    pub notes: Vec<String>,
    /// The trace that was asked for, of the first case that has one.
    pub trace: Option<Trace>,
    /// The numbers of the case that was traced.
    pub captured: Option<Captured>,
    pub seed: u64,
    pub compile_ms: f64,
    pub total_ms: f64,
}

impl Verdict {
    /// Faults of all cases, most telling first.
    pub fn faults(&self) -> Vec<&Fault> {
        let mut faults: Vec<&Fault> = self.cases.iter().flat_map(|case| &case.faults).collect();
        faults.sort_by_key(|fault| rank(fault.kind));
        faults
    }
}

/// Position of a fault kind in the order in which a learner should look at them: causes before consequences.
pub fn rank(kind: FaultKind) -> u32 {
    match kind {
        FaultKind::BadLaunch => 0,
        FaultKind::OutOfBounds => 1,
        FaultKind::Misaligned => 2,
        FaultKind::UseAfterFree => 3,
        FaultKind::StackOverflow => 4,
        FaultKind::Trap => 5,
        FaultKind::BarrierDivergence => 6,
        FaultKind::BarrierPhase => 7,
        FaultKind::MissingAsyncWait => 8,
        FaultKind::MaskMisuse => 9,
        FaultKind::UndefinedResult => 10,
        FaultKind::Race => 11,
        FaultKind::StaleRead => 12,
        FaultKind::Uninitialised => 13,
        FaultKind::Deadlock => 14,
        FaultKind::StepBudget => 15,
        FaultKind::TimeBudget => 16,
        FaultKind::Stopped => 17,
    }
}

/// What a case was given and what its kernel left, for pictures: the first elements of each buffer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Captured {
    pub case: String,
    /// The case's size, by name.
    pub sizes: Vec<(String, i64)>,
    /// Inputs as they were before the run, then outputs after it. What is both is there twice.
    pub buffers: Vec<CapturedBuffer>,
}

/// A buffer of a [`Captured`] case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapturedBuffer {
    pub name: String,
    pub shape: Vec<u64>,
    pub is_output: bool,
    /// Row by row, and perhaps not all.
    pub values: Vec<f64>,
}

/// Outcome of a free run at one size. It passed when it completed with no fault, nothing damaged, and outputs as far as they
/// can be judged without an oracle: written, finite where the inputs are, and as the oracle or the other kernel has them
/// where there is one. Its `element_count` is of those that were compared with an expectation; 0 where there was none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// What was found, as of a case of a check; `reason` is empty where nothing is wrong.
    pub case: CaseReport,
    /// Every thread ran to its end.
    pub completed: bool,
    /// One sentence: the first thing that is wrong, or that nothing is.
    pub summary: String,
    /// Hint keys as in [`Verdict::hints`].
    pub hints: Vec<String>,
    pub trace: Option<Trace>,
    /// Each buffer after the run.
    pub outputs: Vec<RunOutput>,
}

/// A buffer after a free run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunOutput {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Vec<u64>,
    /// Whether the kernel was to write it.
    pub is_output: bool,
    pub element_count: u64,
    /// The first elements.
    pub head: Vec<f64>,
    /// Elements of an output that nobody wrote.
    pub never_written: u64,
    /// Elements in which something without a value was stored, as far as it is known.
    pub undefined: u64,
    pub nan_count: u64,
    pub infinite_count: u64,
    /// The whole buffer, little-endian, where it was asked for.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// postcard numbers the variants in order, so all of them can be had.
    fn fault_kinds() -> Vec<FaultKind> {
        (0..=u8::MAX).map_while(|number| postcard::from_bytes(&[number]).ok()).collect()
    }

    #[test]
    fn hints_can_name_every_fault() {
        let kinds = fault_kinds();
        assert_eq!(kinds.last(), Some(&FaultKind::Stopped), "all of them");
        for kind in kinds.iter().copied() {
            assert!(FAULT_KEYS.contains(&fault_key(kind)), "`{}` is no key of a fault", fault_key(kind));
        }
        assert_eq!(FAULT_KEYS.len(), kinds.len(), "the keys of faults are those of the emulator's kinds");
        let unique: std::collections::BTreeSet<&str> = HINT_KEYS.into_iter().collect();
        assert_eq!(unique.len(), HINT_KEYS.len(), "no key is there twice");
    }
}
