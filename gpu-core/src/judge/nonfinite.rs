//! Where the first infinity or NaN on the way to a wrong element came from: the failed case once more on the emulator, which then
//! follows such values from the instruction that made them.

use super::inputs;
use crate::compile::calls::Call;
use crate::device::{Argument, Device, RunError, Sequence};
use crate::spec::Resolved;
use crate::verdict::{FirstNonfinite, Mismatch, NonfiniteStep};
use ptx_emulator::{Nonfinite, NonfiniteKind, NonfiniteLog, SourceLine};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Blocks up to which a case is run again: it is some hundred times as slow.
const MAX_BLOCKS: u64 = 4096;
/// How long all such runs of a check may take.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(3);

/// Whether following values may explain these elements: they are no numbers, or zeros where something over infinity is zero.
pub(super) fn may_explain(mismatches: &[Mismatch]) -> bool {
    let odd = |wrong: &Mismatch| !wrong.got.is_finite() && wrong.expected.is_finite();
    let zero = |wrong: &Mismatch| wrong.got == 0.0 && wrong.expected != 0.0;
    mismatches.iter().any(|wrong| !wrong.never_written && (odd(wrong) || zero(wrong) || wrong.expected.is_nan()))
}

/// A case with wrong elements.
pub(super) struct Failed<'a> {
    pub resolved: &'a Resolved,
    pub seed: u64,
    pub wrong: &'a [Mismatch],
    /// What the source calls.
    pub calls: &'a [Call],
}

/// Runs the case again, for no longer than `limit`, and looks for the origin of the first wrong element that has one.
///
/// # Errors
/// As the device has it; a stop above all.
pub(super) fn find(
    device: &mut dyn Device,
    sequence: &Sequence<'_>,
    failed: &Failed<'_>,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Option<FirstNonfinite>, RunError> {
    let blocks = |extents: [u32; 3]| extents.iter().map(|extent| u64::from(*extent)).product::<u64>();
    let all = sequence.launches.iter().map(|launch| blocks(launch.geometry.grid)).fold(0, u64::saturating_add);
    if all > MAX_BLOCKS {
        return Ok(None);
    }
    let log = NonfiniteLog::default();
    let mut sequence = sequence.clone();
    sequence.nonfinite = Some(log.clone());
    sequence.time_limit = sequence.time_limit.min(limit);
    sequence.launches.iter_mut().for_each(|launch| launch.trace = None);
    let mut arguments: Vec<Argument> = inputs::arguments(failed.resolved, failed.seed);
    let report = device.run(&sequence, &mut arguments, stop)?;
    if !report.completed {
        return Ok(None);
    }
    let base = |name: &str| report.addresses.iter().find(|(known, _)| known == name).map(|(_, address)| *address);
    Ok(failed.wrong.iter().filter(|wrong| !wrong.never_written).find_map(|wrong| {
        let (buffer, byte, bytes) = failed.resolved.place_of(&wrong.buffer, &wrong.index)?;
        told(&log.chain(base(buffer)? + byte, bytes), wrong, failed.calls)
    }))
}

/// What is told of an element: the first step that computed something, and the first NaN behind it.
fn told(chain: &[Nonfinite], wrong: &Mismatch, calls: &[Call]) -> Option<FirstNonfinite> {
    let steps: Vec<NonfiniteStep> = chain.iter().map(|step| said(step, calls)).collect();
    // A constant infinity is no mistake by itself, but what `logf(0)` gives is one to the compiler.
    let computes = |(step, said): (&Nonfinite, &NonfiniteStep)| {
        step.kind == NonfiniteKind::Computed || said.expression.ends_with(')') && step.kind == NonfiniteKind::Constant
    };
    let at = chain.iter().zip(&steps).position(computes)?;
    let first = steps[at].clone();
    let then = steps[at + 1..].iter().find(|step| step.value.is_nan() && !first.value.is_nan()).cloned();
    let index: String = wrong.index.iter().map(|at| format!("[{at}]")).collect();
    let element = format!("{}{index}", wrong.buffer);
    let again = match first.occurrences {
        0 | 1 => String::new(),
        2 => ", and once more".to_owned(),
        count => format!(", and {} more times", count - 1),
    };
    let becomes = then.as_ref().map(|then| format!(" From it came {}{}.", of(then), place(then))).unwrap_or_default();
    let is_zero = wrong.got == 0.0;
    let ends = if is_zero { format!(" A number divided by it is 0, as {element} is.") } else { String::new() };
    let sentence = format!(
        "The first value on the way to {element} that is not finite: {}{}, {}{again}.{becomes}{ends}",
        of(&first),
        place(&first),
        who(&first)
    );
    Some(FirstNonfinite { sentence, buffer: wrong.buffer.clone(), index: wrong.index.clone(), first, then })
}

/// `expf(1204.5) = inf`.
pub(super) fn of(step: &NonfiniteStep) -> String {
    format!("{} = {}", step.expression, step.value)
}

/// ` at line 14`, with the step where there are several.
pub(super) fn place(step: &NonfiniteStep) -> String {
    let line = own(step).map_or_else(String::new, |source| format!(" at line {}", source.line));
    step.launch.as_ref().map_or(line.clone(), |launch| format!("{line} of {launch}"))
}

fn who(step: &NonfiniteStep) -> String {
    let triple = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    let thread = &step.thread;
    format!("block {}, thread {} (lane {})", triple(thread.block), triple(thread.thread), thread.lane)
}

/// The line of the kernel: what is in a header was called from there.
fn own(step: &NonfiniteStep) -> Option<&SourceLine> {
    let is_header = |file: &str| [".h", ".hpp", ".cuh"].iter().any(|end| file.ends_with(end));
    let source = step.source.as_ref()?;
    Some(step.inlined_at.as_ref().filter(|_| is_header(&source.file)).unwrap_or(source))
}

/// A step in the learner's own words, where one of the functions that its line calls gives just this.
fn said(step: &Nonfinite, calls: &[Call]) -> NonfiniteStep {
    let lines: Vec<u32> = step.source.iter().chain(&step.inlined_at).map(|source| source.line).collect();
    let here = calls.iter().filter(|call| lines.contains(&call.line) || lines.contains(&call.statement));
    let mut named = here.filter_map(|call| called(step, call));
    let expression = named.next().unwrap_or_else(|| step.expression.clone());
    NonfiniteStep {
        value: step.value,
        expression,
        operands: step.operands.clone(),
        instruction: step.instruction.clone(),
        source: step.source.clone(),
        inlined_at: step.inlined_at.clone(),
        launch: step.launch.clone(),
        thread: step.thread,
        occurrences: step.occurrences,
    }
}

/// `expf(1204.5)`, if one of the values that decide the result makes it that.
fn called(step: &Nonfinite, call: &Call) -> Option<String> {
    let gives =
        |value: &f64| call.of(*value).is_some_and(|given| given == step.value || given.is_nan() && step.value.is_nan());
    let finite = |value: &f64| value.is_finite();
    let of_e = step.arguments.iter().filter(|argument| argument.by_log2_e).map(|argument| argument.value);
    let any = || step.operands.iter().copied().take(1).chain(step.arguments.iter().map(|argument| argument.value));
    let value = match call.is_of_e() {
        true => of_e.filter(finite).find(gives),
        false => any().filter(finite).find(gives),
    };
    // Logarithms and roots begin by scaling what is small up.
    let unscaled = |value: f64| any().find(|other| is_scaled(value, *other) && gives(other)).unwrap_or(value);
    value.map(unscaled).map(|value| format!("{}({})", call.name, super::explain::number(value)))
}

/// Whether a value is another one times a large power of 2.
fn is_scaled(value: f64, other: f64) -> bool {
    let factor = value / other;
    factor.is_finite() && factor >= f64::from(1 << 20) && factor.log2().fract() == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emulator::{Argument, ThreadId};

    fn step(kind: NonfiniteKind, value: f64, expression: &str, line: u32) -> Nonfinite {
        Nonfinite {
            kind,
            value,
            expression: expression.to_owned(),
            operands: vec![1610.5],
            arguments: vec![Argument { value: 1610.5, by_log2_e: false }, Argument { value: 1204.5, by_log2_e: true }],
            instruction: "ex2.approx.ftz.f32 %f33, %f31".to_owned(),
            source: Some(SourceLine { file: "kernel.cu".to_owned(), line, column: 5 }),
            inlined_at: None,
            launch: None,
            thread: ThreadId { block: [2, 0, 0], thread: [3, 0, 0], warp: 0, lane: 3 },
            occurrences: 5,
        }
    }

    fn wrong(got: f64) -> Mismatch {
        let (buffer, index) = ("y".to_owned(), vec![2, 3]);
        Mismatch { buffer, index, expected: 0.5, got, never_written: false, undefined: false, code: None, writer: None }
    }

    #[test]
    fn a_chain_is_told_in_the_words_of_the_source() {
        let calls = crate::compile::calls::calls("\n\n\nfloat e = expf(x[i]);\nfloat y = e / sum;\n");
        let chain = [
            step(NonfiniteKind::Computed, f64::INFINITY, "exp2(1610.5)", 4),
            step(NonfiniteKind::Computed, f64::NAN, "inf / inf", 5),
        ];
        let found = told(&chain, &wrong(f64::NAN), &calls).expect("computed");
        assert_eq!(
            found.sentence,
            "The first value on the way to y[2][3] that is not finite: expf(1204.5) = inf at line 4, block (2,0,0), thread \
             (3,0,0) (lane 3), and 4 more times. From it came inf / inf = NaN at line 5."
        );
        let zero = told(&chain[..1], &wrong(0.0), &[]).expect("computed");
        assert!(zero.sentence.contains("exp2(1610.5) = inf at line 4"), "{}", zero.sentence);
        assert!(zero.sentence.ends_with("A number divided by it is 0, as y[2][3] is."), "{}", zero.sentence);
    }

    #[test]
    fn an_argument_that_was_scaled_up_is_told_as_it_was() {
        let call = &crate::compile::calls::calls("float y = logf(x);")[0];
        let argument = |value| Argument { value, by_log2_e: false };
        let arguments = vec![argument(-8_388_608.0), argument(-1.0), argument(-3.0)];
        let step = Nonfinite { arguments, operands: Vec::new(), ..step(NonfiniteKind::Computed, f64::NAN, "?", 1) };
        assert_eq!(called(&step, call).as_deref(), Some("logf(-1)"));
    }

    #[test]
    fn what_was_given_is_no_first() {
        let given = step(NonfiniteKind::Given, f64::INFINITY, "x[5]", 4);
        assert_eq!(told(std::slice::from_ref(&given), &wrong(f64::NAN), &[]), None);
        let constant = Nonfinite { kind: NonfiniteKind::Constant, value: f64::NEG_INFINITY, ..given.clone() };
        let made = step(NonfiniteKind::Computed, f64::NAN, "-inf - (-inf)", 7);
        let found = told(&[constant, made], &wrong(f64::NAN), &[]).expect("computed");
        assert_eq!(found.first.expression, "-inf - (-inf)");
        assert_eq!(found.then, None);
    }

    #[test]
    fn only_what_values_can_explain_is_looked_for() {
        assert!(may_explain(&[wrong(f64::NAN)]) && may_explain(&[wrong(0.0)]));
        assert!(!may_explain(&[wrong(0.25)]));
        assert!(!may_explain(&[Mismatch { never_written: true, ..wrong(f64::NAN) }]));
    }
}
