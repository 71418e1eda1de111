//! A kernel of one's own, once at each size that is asked for: what it printed, counted and left behind, and what can be said
//! of its outputs without an exercise. An oracle in the spec, or another kernel, says what they should be.

mod second;

use super::blame::{self, Writes};
use super::case::{emit_console, in_order, values, violated};
use super::compare::{self, Comparison};
use super::tensors::Unwritten;
use super::{
    MAX_CASE_BYTES, Traced, explain, fresh_seed, impossible, inputs, nonfinite, oracle_inputs, resolve, steps,
};
use crate::compile::{CompileReport, constants, signature};
use crate::device::{Argument, Buffer, Device, DeviceKind, Report, RunError};
use crate::job::{Event, RunOptions};
use crate::oracle::{self, Expected, guess};
use crate::spec::{Resolved, ResolvedBuffer, ResolvedParam, Role, Size, Spec, Tolerance};
use crate::verdict::{CaseReport, FirstNonfinite, Mismatch, RunOutput, RunReport};
use ptx_emulator::TraceRequest;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Elements of each buffer that are reported.
const HEAD: usize = 16;
/// Wrong elements that are told one by one.
const TABLE_ROWS: usize = 10;
/// Whole buffers that go back in one message, together at most.
const MAX_WHOLE_BYTES: usize = 192 << 20;

/// What is asked of a free run.
pub struct FreeRun<'a> {
    pub compiled: &'a CompileReport,
    /// The kernel whose outputs are expected, and its name.
    pub against: Option<(&'a CompileReport, &'a str)>,
    /// Kernels are named as in C++ here.
    pub spec: &'a Spec,
    pub options: &'a RunOptions,
    pub seed: Option<u64>,
    /// Traced is the last size.
    pub trace: Option<TraceRequest>,
}

/// Runs a kernel once at each size, and sends an [`Event::Ran`] for each.
///
/// # Errors
/// As [`check`](super::check), but no oracle is needed.
pub fn run_free(
    device: &mut dyn Device,
    run: &FreeRun<'_>,
    emit: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<(), RunError> {
    let spec = run.spec.directed(&run.compiled.launch_directives).map_err(RunError::BadRequest)?;
    let spec = &signature::named(&spec, &run.compiled.ptx);
    signature::check(run.compiled, spec, "spec").map_err(RunError::BadRequest)?;
    signature::check_given(run.compiled, spec).map_err(RunError::Environment)?;
    let first: Vec<Size> = run.spec.check.iter().take(1).cloned().collect();
    let sizes = if run.options.sizes.is_empty() { &first } else { &run.options.sizes };
    if sizes.is_empty() {
        return Err(RunError::BadRequest("the spec has no size in sizes.check".to_owned()));
    }
    let seed = run.seed.unwrap_or_else(fresh_seed);
    for (index, size) in sizes.iter().enumerate() {
        let trace = run.trace.clone().filter(|_| index + 1 == sizes.len());
        let report = one_size(device, run, spec, size, seed, trace, emit, stop)?;
        emit(Event::Ran(Box::new(report)));
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the state of one loop, which a struct would only rename")]
fn one_size(
    device: &mut dyn Device,
    run: &FreeRun<'_>,
    spec: &Spec,
    size: &Size,
    seed: u64,
    trace: Option<TraceRequest>,
    emit: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<RunReport, RunError> {
    let started = Instant::now();
    let options = run.options;
    if let Some(why) = impossible(spec, size, &run.compiled.launch_directives) {
        let (name, device) = (crate::spec::size_name(size), device.info().name.clone());
        let case = CaseReport { name, device, seed, reason: why.clone(), ..CaseReport::default() };
        return Ok(RunReport { case, summary: why, hints: vec!["bad_launch".to_owned()], ..RunReport::default() });
    }
    let resolved = resolve(spec, size, MAX_CASE_BYTES)?;
    if let Some(over) = resolved.over_workspace() {
        return Err(RunError::BadRequest(explain::workspace_sentence(over)));
    }
    let mut arguments = inputs::arguments_with(&resolved, seed, &options.inputs);
    check_given(&arguments, &options.inputs)?;
    let given = arguments.clone();
    let expected = expected(device, run, &resolved, &given, stop)?;

    device.load(run.compiled)?;
    let trace = trace.map(|request| Traced { request, step: None });
    let mut sequence = steps::sequence_of(run.compiled, spec, &resolved, trace.as_ref());
    sequence.time_limit = options.time_limit.unwrap_or(sequence.time_limit);
    let mut ran = device.run(&sequence, &mut arguments, stop)?;
    emit_console(emit, &mut ran);
    ran.faults = in_order(std::mem::take(&mut ran.faults), run.compiled, &resolved);
    let mut findings = Findings::default();
    let is_emulated = device.info().kind == DeviceKind::Emulator && options.inputs.is_empty();
    let undefined = match is_emulated {
        true => blame::take_undefined(device, &sequence, &resolved, seed, &mut ran, stop)?,
        false => Vec::new(),
    };
    if ran.completed {
        match &expected {
            Some(expected) => {
                findings.compare(run, &resolved, &given, &arguments, expected, ran.unwritten.as_deref());
            }
            None => findings.look(&resolved, &given, &arguments, ran.unwritten.as_deref(), options),
        }
    }
    if !undefined.is_empty() {
        findings.comparison.patterns.retain(|pattern| *pattern != "nan_output");
        findings.keys.retain(|key| *key != "nan_output");
        blame::mark_undefined(&undefined, &resolved, &mut findings.comparison.mismatches);
    }
    let clean = ran.completed && ran.faults.is_empty() && ran.corruptions.is_empty() && findings.is_clean();
    if clean && !ran.changed_variables.is_empty() {
        let (resolved, sequence, expected) = (&resolved, &sequence, expected.as_deref());
        let first = second::First { run, sequence, resolved, given: &given, seed, expected };
        if let Some((mut report, found)) = second::launch(device, &first, &ran.changed_variables, stop)? {
            report.traces = std::mem::take(&mut ran.traces);
            (ran, findings) = (report, found);
        }
    }
    // Where a wrong element was written, or the nearest one to what nobody wrote. Given inputs cannot be made again.
    let wrong = !findings.comparison.mismatches.is_empty() && findings.again.is_empty();
    if wrong
        && ran.faults.is_empty()
        && options.inputs.is_empty()
        && device.info().kind == DeviceKind::Emulator
        && let Some(writes) = Writes::of(device, &sequence, &resolved, seed, stop)?
    {
        findings.blame(&writes, &resolved);
    }
    if wrong
        && ran.faults.is_empty()
        && options.inputs.is_empty()
        && device.info().kind == DeviceKind::Emulator
        && nonfinite::may_explain(&findings.comparison.mismatches)
    {
        let (wrong, calls) = (&findings.comparison.mismatches[..], &run.compiled.calls[..]);
        let failed = nonfinite::Failed { resolved: &resolved, seed, wrong, calls };
        findings.nonfinite = nonfinite::find(device, &sequence, &failed, nonfinite::TIME_LIMIT, stop)?;
    }
    findings.constants = constants::unset(&run.compiled.ptx);
    let outputs = resolved.params.iter().zip(&arguments).filter_map(|(param, argument)| match (param, argument) {
        (ResolvedParam::Buffer(shape), Argument::Buffer(buffer)) => {
            let count = |known: Unwritten<'_>| unwritten(buffer, known).len() as u64;
            Some(output(shape, buffer, count(ran.unwritten.as_deref()), count(Some(&undefined))))
        }
        _ => None,
    });
    let mut outputs: Vec<RunOutput> = outputs.collect();
    if options.whole_outputs {
        whole(&mut outputs, &arguments)?;
    }
    let steps = steps::step_reports(spec, &resolved, &ran);
    let against = run.against.map(|(_, name)| name);
    let mut report = RunReport { outputs, ..findings.report(device, ran, &resolved, seed, against) };
    report.case.steps = steps;
    if expected.is_none() {
        report.case.element_count = 0;
    }
    report.case.wall_ms = started.elapsed().as_secs_f64() * 1e3;
    Ok(report)
}

/// Whether what is given belongs into this kernel's buffers.
fn check_given(arguments: &[Argument], given: &[(String, Vec<u8>)]) -> Result<(), RunError> {
    for (name, bytes) in given {
        let found = arguments.iter().find_map(|argument| match argument {
            Argument::Buffer(buffer) if buffer.name == *name => Some(buffer),
            _ => None,
        });
        let Some(buffer) = found else {
            return Err(RunError::BadRequest(format!("the kernel has no buffer `{name}` to fill")));
        };
        if buffer.role == Role::Out {
            return Err(RunError::BadRequest(format!(
                "`{name}` is an output, which holds nothing before the run; give it the role `inout` to fill it"
            )));
        }
        if buffer.bytes.len() != bytes.len() {
            let size = buffer.dtype.bytes();
            return Err(RunError::BadRequest(format!(
                "`{name}` has {} elements at this size, and {} were given: choose the size with --size",
                buffer.bytes.len() / size,
                bytes.len() / size
            )));
        }
    }
    Ok(())
}

/// The spec with the bare names of templates where `ptx` has them under those: another kernel need not be one.
fn without_instances(spec: &Spec, ptx: &str) -> Spec {
    let mut spec = spec.clone();
    for step in spec.steps.iter_mut().filter(|step| step.given.is_none()) {
        let bare = step.entry.split('<').next().unwrap_or_default().to_owned();
        if signature::entry_called(ptx, &bare).is_some() {
            step.entry = bare;
        }
    }
    spec
}

/// What the outputs should be: by the other kernel, else by the spec's oracle.
fn expected(
    device: &mut dyn Device,
    run: &FreeRun<'_>,
    resolved: &Resolved,
    given: &[Argument],
    stop: &AtomicBool,
) -> Result<Option<Vec<Expected>>, RunError> {
    if let Some((other, name)) = run.against {
        let spec = run.spec.directed(&other.launch_directives);
        let spec = spec.map_err(|why| RunError::BadRequest(format!("{name}: {why}")))?;
        let spec = signature::named(&without_instances(&spec, &other.ptx), &other.ptx);
        signature::check(other, &spec, "spec").map_err(|why| RunError::BadRequest(format!("{name}: {why}")))?;
        let resolved = resolve(&spec, &resolved.size, MAX_CASE_BYTES)?;
        device.load(other)?;
        let mut sequence = steps::sequence_of(other, &spec, &resolved, None);
        sequence.time_limit = run.options.time_limit.unwrap_or(sequence.time_limit);
        let mut arguments = given.to_vec();
        // It may want more scratch memory than the kernel beside it.
        for (argument, param) in arguments.iter_mut().zip(&resolved.params) {
            if let (Argument::Buffer(buffer), ResolvedParam::Buffer(shape)) = (argument, param)
                && shape.role == Role::Scratch
            {
                buffer.bytes = vec![0; shape.bytes() as usize];
            }
        }
        let ran = device.run(&sequence, &mut arguments, stop)?;
        if let Some(fault) = ran.faults.iter().min_by_key(|fault| explain::rank(fault.kind)) {
            let fault = explain::fault_sentence(fault);
            return Err(RunError::BadRequest(format!(
                "{name}, the kernel to compare with, has a fault itself: {fault}"
            )));
        }
        if !ran.completed {
            return Err(RunError::BadRequest(format!("{name}, the kernel to compare with, did not run to its end")));
        }
        return Ok(Some(values(&resolved, &arguments).into_iter().map(Expected::plain).collect()));
    }
    let Some(name) = run.spec.oracle.as_deref() else { return Ok(None) };
    let oracle =
        oracle::find(name).ok_or_else(|| RunError::BadRequest(format!("there is no oracle called `{name}`")))?;
    let computed = oracle.compute(&resolved.signature(), &oracle_inputs(resolved, given));
    computed.map(Some).map_err(RunError::BadRequest)
}

/// How far two kernels may differ that round in other orders: some hundred roundings of the coarsest output.
fn tolerance(spec: &Spec, resolved: &Resolved, by_kernel: bool) -> Tolerance {
    let stated = spec.tolerance.absolute > 0.0 || spec.tolerance.relative > 0.0;
    if stated || !by_kernel {
        return spec.tolerance.clone();
    }
    let judged = resolved.buffers().filter(|buffer| buffer.role.is_judged());
    let relative = 128.0 * judged.map(|buffer| buffer.dtype.roundoff()).fold(0.0, f64::max);
    let reason = "Two kernels may round in another order.".to_owned();
    Tolerance { absolute: relative, relative, reason }
}

/// What is wrong after a run, beside its faults.
#[derive(Default)]
struct Findings {
    comparison: Comparison,
    /// There was an expectation.
    is_compared: bool,
    /// What to say of the outputs where nothing is known that they should be.
    sentence: Option<String>,
    keys: Vec<&'static str>,
    constants: Vec<String>,
    nonfinite: Option<FirstNonfinite>,
    /// How a sentence about a second launch begins; empty of the first.
    again: String,
}

impl Findings {
    fn compare(
        &mut self,
        run: &FreeRun<'_>,
        resolved: &Resolved,
        given: &[Argument],
        arguments: &[Argument],
        expected: &[Expected],
        unwritten: Unwritten<'_>,
    ) {
        let tolerance = tolerance(run.spec, resolved, run.against.is_some());
        let spec = Spec { tolerance, ..run.spec.clone() };
        self.is_compared = true;
        self.comparison = compare::compare(resolved, arguments, expected, &spec, None, unwritten);
        let named = run.spec.oracle.as_deref().filter(|_| run.against.is_none()).and_then(oracle::find);
        let oracle = named.unwrap_or(&oracle::ANOTHER_KERNEL);
        if self.comparison.mismatch_count == 0 {
            self.comparison.violated = violated(oracle, resolved, arguments);
            return;
        }
        let wrong = self.comparison.mismatches.first().filter(|wrong| !wrong.never_written);
        let outputs = values(resolved, arguments);
        if let (Some(wrong), Some(got), Some(first)) = (wrong, outputs.first(), expected.first()) {
            self.comparison.guess = guess::guess(
                oracle,
                &guess::Case {
                    signature: &resolved.signature(),
                    inputs: &oracle_inputs(resolved, given),
                    expected: first,
                    got,
                    outputs: &outputs,
                    all_expected: expected,
                    wrong: &self.comparison.wrong,
                    named: &wrong.buffer,
                    is_coded: wrong.code.is_some(),
                },
            );
            self.comparison.drop_precision();
        }
    }

    /// Nothing is wrong with the outputs.
    fn is_clean(&self) -> bool {
        self.comparison.mismatch_count == 0 && self.comparison.violated.is_none() && self.sentence.is_none()
    }

    /// Without an expectation: outputs that nobody wrote, and numbers that are none although all inputs are.
    fn look(
        &mut self,
        resolved: &Resolved,
        given: &[Argument],
        arguments: &[Argument],
        known: Option<&[(String, Vec<usize>)]>,
        options: &RunOptions,
    ) {
        let finite = given.iter().all(|argument| match argument {
            Argument::Buffer(buffer) if buffer.role.is_given() && buffer.dtype.is_float() => {
                buffer.dtype.nonfinite_counts(&buffer.bytes) == (0, 0)
            }
            _ => true,
        });
        for (param, argument) in resolved.params.iter().zip(arguments) {
            let (ResolvedParam::Buffer(shape), Argument::Buffer(buffer)) = (param, argument) else { continue };
            if !shape.role.is_judged() {
                continue;
            }
            self.comparison.element_count += shape.elements;
            let missing = unwritten(buffer, known);
            if !missing.is_empty() && !options.may_be_partial {
                self.unwritten(shape, &missing);
            } else if finite && !options.may_be_infinite {
                self.no_number(shape, buffer, &missing);
            }
        }
    }

    fn unwritten(&mut self, shape: &ResolvedBuffer, missing: &[usize]) {
        let Some(first) = missing.first() else { return };
        let share = match missing.len() as u64 {
            all if all == shape.elements => format!("none of its {all} elements was"),
            one @ 1 => format!("{one} of {} elements was not", shape.elements),
            some => format!("{some} of {} elements were not", shape.elements),
        };
        let what = format!("{} was never written: {share}", named(shape, *first as u64));
        self.keys.push(if missing.len() as u64 == shape.elements { "nothing_written" } else { "never_written" });
        self.add(shape, missing, true, &vec![f64::NAN; missing.len().min(TABLE_ROWS)], what);
    }

    fn no_number(&mut self, shape: &ResolvedBuffer, buffer: &Buffer, missing: &[usize]) {
        if !buffer.dtype.is_float() {
            return;
        }
        let values = buffer.dtype.decode_all(&buffer.bytes);
        let written = |at: &usize| missing.binary_search(at).is_err();
        let odd: Vec<usize> = (0..values.len()).filter(|at| !values[*at].is_finite()).filter(written).collect();
        let Some(first) = odd.first() else { return };
        let value = values[*first];
        let alike = odd.iter().filter(|at| values[**at].is_nan() == value.is_nan()).count();
        let why = if value.is_nan() {
            "A NaN comes from 0 / 0, inf / inf (an exponential that is too large), inf - inf, inf * 0, or the root or logarithm of a negative number"
        } else {
            "An infinity comes from a number too large for the type, or a division by zero"
        };
        let what = format!(
            "{} is {value}, and so are {alike} of {} elements, although every input is finite. {why}",
            named(shape, *first as u64),
            shape.elements
        );
        self.keys.push("nan_output");
        let shown: Vec<f64> = odd.iter().take(TABLE_ROWS).map(|at| values[*at]).collect();
        self.add(shape, &odd, false, &shown, what);
    }

    fn add(&mut self, shape: &ResolvedBuffer, at: &[usize], never_written: bool, got: &[f64], what: String) {
        let room = TABLE_ROWS.saturating_sub(self.comparison.mismatches.len());
        self.comparison.mismatches.extend(at.iter().zip(got).take(room).map(|(at, got)| Mismatch {
            buffer: shape.name.clone(),
            index: shape.index_of(*at as u64),
            expected: f64::NAN,
            got: *got,
            never_written,
            undefined: false,
            writer: None,
            code: None,
        }));
        self.comparison.mismatch_count += at.len() as u64;
        self.sentence.get_or_insert(what);
    }

    fn blame(&mut self, writes: &Writes, case: &Resolved) {
        blame::name_writers(writes, case, &mut self.comparison.mismatches);
        let Some(first) = self.comparison.mismatches.first() else { return };
        let clue = blame::clue(writes, case, first);
        if clue.copies_nothing {
            self.comparison.patterns.insert(0, "uninitialised");
            self.keys.insert(0, "uninitialised");
        }
        if let (Some(sentence), Some(text)) = (&mut self.sentence, &clue.text) {
            *sentence = format!("{sentence} ({text})");
        }
        self.comparison.clue = clue.text;
    }

    fn report(
        &self,
        device: &dyn Device,
        ran: Report,
        resolved: &Resolved,
        seed: u64,
        against: Option<&str>,
    ) -> RunReport {
        let buffers: Vec<&ResolvedBuffer> = resolved.buffers().collect();
        let corrupted: Vec<String> =
            ran.corruptions.iter().map(|corruption| explain::corruption_sentence(corruption, &buffers)).collect();
        let judged = self.sentence.is_none();
        let mut case = CaseReport {
            name: resolved.name.clone(),
            seed,
            device: device.info().name.clone(),
            passed: false,
            reason: String::new(),
            mismatches: self.comparison.mismatches.clone(),
            mismatch_count: self.comparison.mismatch_count,
            element_count: self.comparison.element_count,
            worst_error_ratio: self.comparison.worst_error_ratio,
            outputs: self.comparison.outputs.clone(),
            corrupted,
            faults: ran.faults,
            first_nonfinite: self.nonfinite.clone(),
            notes: ran.notes,
            counters: ran.counters,
            lines: ran.lines,
            steps: Vec::new(),
            wall_ms: 0.0,
        };
        // What was found without an expectation has a sentence of its own; faults and damage come before it.
        let spared = Comparison::default();
        let comparison = if judged { &self.comparison } else { &spared };
        let mut reason = explain::reason(&case, comparison);
        let mut hints: Vec<String> =
            explain::hints(&case, &ran.corruptions, comparison).into_iter().map(str::to_owned).collect();
        hints.extend(self.keys.iter().map(|key| (*key).to_owned()));
        if let Some(name) = self.constants.first() {
            hints.push("uninitialised".to_owned());
            if reason.is_empty() {
                reason = format!(
                    "`{name}` is `__constant__` and nothing sets it, so it is all zeros. Set it with `--set {name}=…`, or \
                     give it values where it is declared"
                );
            }
        }
        if reason.is_empty() {
            reason = self.sentence.clone().unwrap_or_default();
            if let Some(found) = self.nonfinite.as_ref().filter(|_| !reason.is_empty()) {
                reason = format!("{}. {}", reason.trim_end_matches('.'), found.sentence);
            }
        }
        if reason.is_empty() && !ran.completed {
            "the kernel did not run to its end".clone_into(&mut reason);
        }
        let mut seen = Vec::new();
        hints.retain(|hint| {
            !seen.contains(hint) && {
                seen.push(hint.clone());
                true
            }
        });
        if !self.again.is_empty() {
            reason = format!("{}{reason}", self.again);
            hints.insert(0, "kept_state".to_owned());
        }
        case.passed = reason.is_empty();
        let summary = if case.passed { self.passed(device.info().kind, resolved, against) } else { reason.clone() };
        case.reason = reason;
        let (completed, trace) = (ran.completed, ran.traces.into_iter().next());
        RunReport { case, completed, summary, hints, trace, outputs: Vec::new() }
    }

    /// What can be said of a run in which nothing was wrong.
    fn passed(&self, kind: DeviceKind, resolved: &Resolved, against: Option<&str>) -> String {
        let at = if resolved.name.is_empty() { String::new() } else { format!(" at {}", resolved.name) };
        let checked = match kind {
            DeviceKind::Emulator => "no fault found",
            DeviceKind::Gpu => "a GPU reports no races, and few faults: run on the emulator for those",
        };
        let count = self.comparison.element_count;
        match against {
            Some(name) => format!("all {count} output elements agree with {name}{at}; {checked}"),
            None if self.is_compared => {
                format!("all {count} output elements agree with the oracle{at}; {checked}")
            }
            None => format!("ran to its end{at}; {checked}. Nothing says what the outputs should be"),
        }
    }
}

/// `c[3][17]`.
fn named(shape: &ResolvedBuffer, element: u64) -> String {
    let index: String = shape.index_of(element).iter().map(|at| format!("[{at}]")).collect();
    format!("{}{index}", shape.name)
}

/// Elements of an output that nobody wrote, ascending: as the device knows it, else those that still hold the poison, where no
/// small number could.
fn unwritten(buffer: &Buffer, known: Option<&[(String, Vec<usize>)]>) -> Vec<usize> {
    if let Some(known) = known {
        return known.iter().find(|(name, _)| *name == buffer.name).map(|(_, at)| at.clone()).unwrap_or_default();
    }
    let (size, poison) = (buffer.dtype.bytes(), buffer.dtype.poison());
    if buffer.role != Role::Out || (size < 4 && !buffer.dtype.is_float()) {
        return Vec::new();
    }
    let elements = buffer.bytes.chunks_exact(size).enumerate();
    elements.filter(|(_, bytes)| *bytes == poison).map(|(at, _)| at).collect()
}

fn output(shape: &ResolvedBuffer, buffer: &Buffer, never_written: u64, undefined: u64) -> RunOutput {
    let size = buffer.dtype.bytes();
    let (nan_count, infinite_count) = buffer.dtype.nonfinite_counts(&buffer.bytes);
    RunOutput {
        name: shape.name.clone(),
        dtype: buffer.dtype,
        shape: shape.shape.clone(),
        is_output: shape.role.is_judged(),
        element_count: (buffer.bytes.len() / size) as u64,
        head: buffer.dtype.decode_all(&buffer.bytes[..buffer.bytes.len().min(HEAD * size)]),
        never_written,
        undefined,
        // What was never written, or has no value, reads as NaN, and is told apart.
        nan_count: if buffer.dtype.is_float() { nan_count.saturating_sub(never_written + undefined) } else { 0 },
        infinite_count,
        bytes: Vec::new(),
    }
}

fn whole(outputs: &mut [RunOutput], arguments: &[Argument]) -> Result<(), RunError> {
    let mut total = 0;
    for argument in arguments {
        let Argument::Buffer(buffer) = argument else { continue };
        let Some(output) = outputs.iter_mut().find(|output| output.name == buffer.name && output.is_output) else {
            continue;
        };
        total += buffer.bytes.len();
        if total > MAX_WHOLE_BYTES {
            return Err(RunError::Limit(format!(
                "the outputs are larger than the {} MiB that can be written to files: run at a smaller size",
                MAX_WHOLE_BYTES >> 20
            )));
        }
        output.bytes.clone_from(&buffer.bytes);
    }
    Ok(())
}

/// How long a run may take from outside, given what its sizes may take.
pub fn outer_limit(options: &RunOptions, usual: Duration) -> Duration {
    const MARGIN: Duration = Duration::from_secs(4);
    // The other kernel runs first, within the same limit, and so may the search for who wrote what.
    options.time_limit.map_or(usual, |limit| usual.max(limit.saturating_mul(3) + MARGIN))
}
