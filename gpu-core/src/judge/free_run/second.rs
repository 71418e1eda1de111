//! A free run once more in what it left of the module's variables, as a host launches a kernel many times.

use super::{Findings, FreeRun};
use crate::device::{Argument, Device, Report, RunError, Sequence};
use crate::judge::case::in_order;
use crate::judge::{again, inputs};
use crate::oracle::Expected;
use crate::spec::Resolved;
use std::sync::atomic::AtomicBool;

/// A run in which nothing was wrong.
pub(super) struct First<'a> {
    pub run: &'a FreeRun<'a>,
    pub sequence: &'a Sequence<'a>,
    pub resolved: &'a Resolved,
    pub given: &'a [Argument],
    pub seed: u64,
    pub expected: Option<&'a [Expected]>,
}

/// Launches again. None where the second launch is right too, or the device keeps nothing.
///
/// # Errors
/// As the device has it; a stop above all.
pub(super) fn launch(
    device: &mut dyn Device,
    first: &First<'_>,
    changed: &[String],
    stop: &AtomicBool,
) -> Result<Option<(Report, Findings)>, RunError> {
    let options = first.run.options;
    let mut arguments = inputs::arguments_with(first.resolved, first.seed, &options.inputs);
    let mut sequence = first.sequence.clone();
    sequence.launches.iter_mut().for_each(|launch| launch.trace = None);
    let Some(mut report) = device.run_again(&sequence, &mut arguments, stop)? else { return Ok(None) };
    report.faults = in_order(std::mem::take(&mut report.faults), first.run.compiled, first.resolved);
    let mut findings = Findings::default();
    let unwritten = report.unwritten.as_deref();
    match first.expected.filter(|_| report.completed) {
        Some(expected) => {
            findings.compare(first.run, first.resolved, first.given, &arguments, expected, unwritten);
        }
        None if report.completed => findings.look(first.resolved, first.given, &arguments, unwritten, options),
        None => {}
    }
    let right = report.completed && report.faults.is_empty() && report.corruptions.is_empty();
    if right && findings.is_clean() {
        return Ok(None);
    }
    findings.again = again::words(changed);
    Ok(Some((report, findings)))
}
