//! A second launch in what the first left of the module's variables: a host launches a kernel many times and loads it once, so
//! that a counter or a queue which nobody sets back is right the first time only.

use super::case::in_order;
use super::compare::{self, Comparison};
use super::inputs;
use crate::compile::CompileReport;
use crate::device::{Argument, Device, Report, RunError, Sequence};
use crate::oracle::Expected;
use crate::spec::{Resolved, Spec};
use std::sync::atomic::AtomicBool;

/// What went wrong in a second launch after a first one that was right.
pub(super) struct Again {
    /// The beginning of the sentence.
    pub words: String,
    pub report: Report,
    pub comparison: Comparison,
}

/// The case that is launched again: its inputs are the same, its outputs unwritten.
pub(super) struct Case<'a> {
    pub compiled: &'a CompileReport,
    pub sequence: &'a Sequence<'a>,
    pub spec: &'a Spec,
    pub resolved: &'a Resolved,
    pub seed: u64,
    pub expected: &'a [Expected],
    /// Variables that the first launch changed.
    pub changed: &'a [String],
}

/// Launches again. None where the second launch is right too, or the device keeps nothing.
///
/// # Errors
/// As the device has it; a stop above all.
pub(super) fn launch(device: &mut dyn Device, case: &Case<'_>, stop: &AtomicBool) -> Result<Option<Again>, RunError> {
    let mut arguments: Vec<Argument> = inputs::arguments(case.resolved, case.seed);
    let Some(mut report) = device.run_again(case.sequence, &mut arguments, stop)? else { return Ok(None) };
    let mut comparison = match report.completed {
        true => {
            compare::compare(case.resolved, &arguments, case.expected, case.spec, None, report.unwritten.as_deref())
        }
        false => Comparison::default(),
    };
    let right = report.completed && report.faults.is_empty() && report.corruptions.is_empty();
    if right && comparison.mismatch_count == 0 {
        return Ok(None);
    }
    report.faults = in_order(std::mem::take(&mut report.faults), case.compiled, case.resolved);
    // What it looks like speaks of the first launch.
    comparison.patterns = vec!["kept_state"];
    comparison.right_corner = None;
    Ok(Some(Again { words: words(case.changed), report, comparison }))
}

/// The beginning of the sentence, with the variables that the first launch changed.
pub(super) fn words(changed: &[String]) -> String {
    let names: Vec<String> = changed.iter().take(3).map(|name| format!("`{name}`")).collect();
    format!(
        "the first launch is right and the second is not: it finds what the first one left in {}, for a `__device__` variable keeps \
         its value. Set it back before the kernel ends. In the second launch ",
        names.join(", ")
    )
}
