//! Decides whether a kernel is right: fresh inputs, every size of the exercise, the float64 oracle, and the
//! emulator's checks, which run also when the device is a GPU.

mod again;
mod bits;
mod blame;
pub(crate) mod compare;
pub(crate) mod draws;
pub(crate) mod explain;
mod fills;
mod fold;
mod free_run;
pub(crate) mod inputs;
pub(crate) mod metric;
mod narrow;
pub(crate) mod steps;
pub(crate) mod tensors;
#[cfg(test)]
mod view_tests;

pub use explain::fault_sentence;
pub use free_run::{FreeRun, outer_limit, run_free};
pub use inputs::{arguments, fresh_seed};
pub use steps::Traced;
pub(crate) use tensors::oracle_inputs;

use crate::compile::{CompileReport, arrays, parameters, signature};
use crate::device::{Argument, Device, DeviceKind, Report, RunError};
use crate::emulator_device::EmulatorDevice;
use crate::job::Event;
use crate::oracle::guess::{self, Case, Guess};
use crate::oracle::{self, Expected, Oracle, Watch};
use crate::spec::{Resolved, ResolvedBuffer, Size, Spec, Step};
use crate::verdict::{CaseReport, Verdict};
use blame::Writes;
use compare::Comparison;
use ptx_emulator::{Fault, Trace, TraceRequest};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// One case may run this long. A lab ends a job without progress after about as long, so this is a little less:
/// the kernel's own fault report says more than a killed worker.
pub const CASE_TIME_LIMIT: Duration = Duration::from_secs(8);
/// Host memory for one case's buffers, their float64 copies included.
pub(crate) const MAX_CASE_BYTES: u64 = 8 << 30;

/// Cases that are run again to find who wrote a wrong element: the smallest may have no writer at all.
const MAX_BLAMES: u32 = 3;

/// What is asked of a check beside the spec.
#[derive(Clone, Debug, Default)]
pub struct CheckRequest {
    /// None: a fresh one from the operating system.
    pub seed: Option<u64>,
    /// Traced is the last of the emulator's cases.
    pub trace: Option<TraceRequest>,
    /// The step whose first launch is traced; None: the learner's first.
    pub trace_step: Option<String>,
}

/// Judges a compiled kernel. Each case is sent as an [`Event::Case`] when it is done, printed text as
/// [`Event::Console`].
///
/// # Errors
/// [`RunError::BadRequest`] for a missing kernel, a wrong signature or a spec that cannot be evaluated;
/// the rest as the device has it. A kernel that is wrong is not an error but a verdict.
pub fn check(
    device: &mut dyn Device,
    compiled: &CompileReport,
    spec: &Spec,
    request: &CheckRequest,
    emit: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<Verdict, RunError> {
    let started = Instant::now();
    let oracle = spec.oracle.as_deref().ok_or_else(|| {
        RunError::BadRequest(
            "this spec names no oracle, so there is nothing to check against; run it instead".to_owned(),
        )
    })?;
    let oracle =
        oracle::find(oracle).ok_or_else(|| RunError::BadRequest(format!("there is no oracle called `{oracle}`")))?;
    signature::check(compiled, spec).map_err(RunError::BadRequest)?;
    signature::check_given(compiled, spec).map_err(RunError::Environment)?;
    local_arrays_fit(compiled, spec)?;
    let spec = &spec.directed(&compiled.launch_directives).map_err(RunError::BadRequest)?;
    let seed = request.seed.unwrap_or_else(fresh_seed);
    let mut session = Session {
        compiled,
        spec,
        oracle,
        seed,
        emit,
        stop,
        judged: Vec::new(),
        trace: None,
        trace_step: request.trace_step.clone(),
        notes: Vec::new(),
        blames_left: MAX_BLAMES,
        impossible: None,
    };

    match device.info().kind {
        DeviceKind::Emulator => session.run_on(device, spec.emulator_sizes(), request.trace.as_ref())?,
        DeviceKind::Gpu => {
            // The emulator goes first: what it finds names line and thread, where the GPU would only lose its context.
            session.check_on_emulator(request.trace.as_ref())?;
            let danger =
                session.judged.iter().flat_map(|judged| &judged.report.faults).find(|f| explain::is_dangerous(f.kind));
            match danger.map(explain::fault_sentence) {
                Some(fault) => session.notes.push(format!("Not run on {}: {fault}.", device.info().name)),
                None => session.run_on(device, &spec.check, None)?,
            }
        }
    }
    Ok(session.verdict(started))
}

/// No GPU gives a thread more than 512 KiB of local memory, and the emulator follows.
fn local_arrays_fit(compiled: &CompileReport, spec: &Spec) -> Result<(), RunError> {
    const MOST: u32 = 512 << 10;
    let stack = |step: &Step| {
        let kernels = &compiled.of_step(step)?.kernels;
        kernels.iter().find(|kernel| kernel.name == step.entry).map(|kernel| kernel.stack_bytes)
    };
    let too_large = spec.steps.iter().filter_map(|step| Some((step, stack(step)?))).find(|(_, bytes)| *bytes > MOST);
    match too_large {
        None => Ok(()),
        Some((step, bytes)) => Err(RunError::BadRequest(format!(
            "the local arrays of kernel `{}` take {bytes} bytes in each thread, and a thread has at most {MOST}: make \
             them smaller, or do without; a sum needs one variable, not all of its terms",
            step.entry
        ))),
    }
}

/// A judged case.
struct Judged {
    resolved: Resolved,
    report: CaseReport,
    hints: Vec<&'static str>,
    /// The reason names a thread.
    placed: bool,
    /// The reason says which mistake it looks like.
    guessed: Option<Guessed>,
}

/// A guess in the report of a case, and what to say without it.
struct Guessed {
    words: String,
    /// Elements that it was made from: its evidence.
    wrong: usize,
    reason_without: String,
    hints_without: Vec<&'static str>,
}

impl Guessed {
    /// Whether both name the same mistake, at sizes of their own.
    fn agrees(&self, other: &Self) -> bool {
        let letters = |words: &str| words.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        letters(&self.words) == letters(&other.words)
    }
}

/// What the cases of one check share.
struct Session<'a> {
    compiled: &'a CompileReport,
    spec: &'a Spec,
    oracle: &'static Oracle,
    seed: u64,
    emit: &'a mut dyn FnMut(Event),
    stop: &'a AtomicBool,
    judged: Vec<Judged>,
    trace: Option<Trace>,
    trace_step: Option<String>,
    notes: Vec<String>,
    /// How often the writers of wrong elements may still be looked for.
    blames_left: u32,
    /// A size at which the launch cannot be, and why.
    impossible: Option<(String, String)>,
}

impl Session<'_> {
    /// The emulator's checks beside a GPU. What the emulator cannot run is noted, not held against the kernel.
    fn check_on_emulator(&mut self, trace: Option<&TraceRequest>) -> Result<(), RunError> {
        let mut emulator = EmulatorDevice::new();
        match emulator.load(self.compiled) {
            Ok(()) => self.run_on(&mut emulator, self.spec.emulator_sizes(), trace),
            Err(RunError::Environment(message)) => {
                self.notes.push(format!("Races and bounds were not checked: {message}."));
                Ok(())
            }
            Err(other) => Err(other),
        }
    }

    fn run_on(
        &mut self,
        device: &mut dyn Device,
        sizes: &[Size],
        trace: Option<&TraceRequest>,
    ) -> Result<(), RunError> {
        device.load(self.compiled)?;
        for (index, size) in sizes.iter().enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(RunError::Stopped);
            }
            // What no device can launch is a mistake of the kernel's, where the kernel chose it.
            if let Some(message) = impossible(self.spec, size) {
                self.impossible = Some((crate::spec::size_name(size), message));
                break;
            }
            let resolved = resolve(self.spec, size, MAX_CASE_BYTES)?;
            let trace = trace.filter(|_| index + 1 == sizes.len()).cloned();
            let judged = self.case(device, resolved, trace)?;
            (self.emit)(Event::Case(Box::new(judged.report.clone())));
            // A kernel that does not end would spend the limit again at every size.
            let hangs = judged.report.faults.iter().any(|fault| explain::rank(fault.kind) >= 12);
            self.judged.push(judged);
            if hangs {
                break;
            }
        }
        Ok(())
    }

    fn case(
        &mut self,
        device: &mut dyn Device,
        resolved: Resolved,
        trace: Option<TraceRequest>,
    ) -> Result<Judged, RunError> {
        let started = Instant::now();
        let mut resolved = resolved;
        resolved
            .reseed(self.spec, inputs::scalar_seed(self.seed, 0))
            .map_err(|(key, message)| RunError::BadRequest(format!("{key} at {}: {message}", resolved.name)))?;
        if let Some(over) = resolved.over_workspace() {
            let reason = explain::workspace_sentence(over);
            return Ok(self.not_run(device, resolved, reason, "workspace"));
        }
        let mut arguments = inputs::arguments(&resolved, self.seed);
        let expected = self.expected(&resolved, &arguments)?;
        let trace = trace.map(|request| Traced { request, step: self.trace_step.clone() });
        let sequence = steps::sequence_of(self.compiled, self.spec, &resolved, trace.as_ref());
        let mut run = device.run(&sequence, &mut arguments, self.stop)?;
        let steps = steps::step_reports(self.spec, &resolved, &run);
        emit_console(self.emit, &mut run);
        let mut comparison = if run.completed {
            let drawn = match self.spec.draws() {
                1 => None,
                _ => draws::run(device, &sequence, self.spec, &resolved, self.seed, &expected, self.stop)?,
            };
            compare::compare(&resolved, &arguments, &expected, self.spec, drawn.as_deref())
        } else {
            // Half-written outputs of an aborted run say nothing beyond its fault.
            Comparison::default()
        };
        self.trace = self.trace.take().or(run.traces.drain(..).next());
        run.faults.iter_mut().for_each(|fault| arrays::name(fault, &self.compiled.arrays));
        run.faults = in_order(std::mem::take(&mut run.faults));
        if run.completed && comparison.mismatch_count == 0 && comparison.violated.is_none() {
            let made_up = || self.oracle.made_up(&self.compiled.ptx);
            comparison.violated = violated(self.oracle, &resolved, &arguments).or_else(made_up);
        }
        let right = run.completed && run.faults.is_empty() && run.corruptions.is_empty();
        let mut again = String::new();
        if right && comparison.mismatch_count == 0 && comparison.violated.is_none() && !run.changed_variables.is_empty()
        {
            let case = again::Case {
                compiled: self.compiled,
                sequence: &sequence,
                spec: self.spec,
                resolved: &resolved,
                seed: self.seed,
                expected: &expected,
                changed: &run.changed_variables,
            };
            if let Some(second) = again::launch(device, &case, self.stop)? {
                (run, comparison, again) = (second.report, second.comparison, second.words);
            }
        }
        let buffers: Vec<&ResolvedBuffer> = resolved.buffers().collect();
        let mut corrupted: Vec<String> =
            run.corruptions.iter().map(|corruption| explain::corruption_sentence(corruption, &buffers)).collect();
        if again.is_empty() {
            comparison.guess = self.guess(&resolved, &arguments, &expected, &comparison);
        }
        let signature = resolved.signature();
        if let (Some(right), Some(output)) = (comparison.right_corner, signature.outputs.first())
            && explain::is_first_block_only(&resolved, &output.shape, right)
        {
            comparison.patterns.insert(0, "first_block_only");
        }
        let output = buffers.iter().find(|buffer| buffer.role.is_judged()).filter(|_| again.is_empty());
        if let Some(words) = output.and_then(|shape| narrow::index(shape, &comparison)) {
            comparison.patterns.insert(0, "narrow_index");
            comparison.narrow = Some(words);
        }
        let unexplained = comparison.mismatch_count > 0 || !corrupted.is_empty();
        let mut placed = !run.faults.is_empty();
        // Until one wrong case has a thread to look at. A fault says who and where already.
        if unexplained
            && !placed
            && again.is_empty()
            && self.blames_left > 0
            && device.info().kind == DeviceKind::Emulator
        {
            self.blames_left -= 1;
            if let Some(writes) = Writes::of(device, &sequence, &resolved, self.seed, self.stop)? {
                blame::name_writers(&writes, &resolved, &mut comparison.mismatches);
                if let Some(clue) = comparison.mismatches.first().map(|first| blame::clue(&writes, &resolved, first)) {
                    placed = clue.names_a_thread;
                    if clue.copies_nothing {
                        comparison.patterns.insert(0, "uninitialised");
                    }
                    comparison.clue = clue.text;
                }
                for (sentence, corruption) in corrupted.iter_mut().zip(&run.corruptions) {
                    if let Some(who) = blame::changed_by(&writes, &corruption.buffer, corruption.first_byte) {
                        sentence.push_str(&format!("; {who}"));
                        placed = true;
                    }
                }
                // A larger case may say more of the same mistake.
                if placed && (comparison.guess.is_some() || comparison.wrong.is_empty()) {
                    self.blames_left = 0;
                }
            }
        }
        let passed = run.completed
            && run.faults.is_empty()
            && corrupted.is_empty()
            && comparison.mismatch_count == 0
            && comparison.violated.is_none();
        let mut report = CaseReport {
            name: resolved.name.clone(),
            seed: self.seed,
            device: device.info().name.clone(),
            passed,
            reason: String::new(),
            mismatches: comparison.mismatches.clone(),
            mismatch_count: comparison.mismatch_count,
            element_count: comparison.element_count,
            worst_error_ratio: comparison.worst_error_ratio,
            outputs: std::mem::take(&mut comparison.outputs),
            corrupted,
            faults: run.faults,
            notes: run.notes,
            counters: run.counters,
            lines: run.lines,
            steps,
            wall_ms: 0.0,
        };
        report.reason = again.clone() + &explain::reason(&report, &comparison);
        if !passed && report.reason.is_empty() {
            report.reason = "the kernel did not run to its end".to_owned();
        }
        let hints = explain::hints(&report, &run.corruptions, &comparison);
        let guessed = comparison.guess.take().map(|guess| Guessed {
            words: guess.words,
            wrong: comparison.wrong.len(),
            reason_without: explain::reason(&report, &comparison),
            hints_without: explain::hints(&report, &run.corruptions, &comparison),
        });
        report.wall_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(Judged { resolved, report, hints, placed, guessed })
    }

    /// What belongs into the outputs. An oracle that takes long says how far it is.
    fn expected(&mut self, resolved: &Resolved, arguments: &[Argument]) -> Result<Vec<Expected>, RunError> {
        let what = format!("computing what belongs there at {}", resolved.name);
        let emit = &mut self.emit;
        let mut progress = |done: u64, total: u64| {
            emit(Event::Progress { what: what.clone(), done: done as u32, total: total as u32 });
        };
        let mut watch = Watch { stop: Some(self.stop), progress: Some(&mut progress) };
        let inputs = oracle_inputs(resolved, arguments);
        let expected = self.oracle.compute_watched(&resolved.signature(), &inputs, &mut watch);
        if watch.is_stopped() {
            return Err(RunError::Stopped);
        }
        expected.map_err(RunError::BadRequest)
    }

    /// A case that fails before anything is run.
    fn not_run(&self, device: &dyn Device, resolved: Resolved, reason: String, hint: &'static str) -> Judged {
        let report = CaseReport {
            name: resolved.name.clone(),
            seed: self.seed,
            device: device.info().name.clone(),
            passed: false,
            reason,
            mismatches: Vec::new(),
            mismatch_count: 0,
            element_count: 0,
            worst_error_ratio: 0.0,
            outputs: Vec::new(),
            corrupted: Vec::new(),
            faults: Vec::new(),
            notes: Vec::new(),
            counters: None,
            lines: Vec::new(),
            steps: Vec::new(),
            wall_ms: 0.0,
        };
        Judged { resolved, report, hints: vec![hint], placed: false, guessed: None }
    }

    /// Takes back guesses that cases with more to go by contradict, and none confirms: eight sums of three products
    /// each may well be what two mistakes give, by chance.
    fn settle_guesses(&mut self) {
        let (weak, strong): (Vec<_>, Vec<_>) = self
            .judged
            .iter_mut()
            .filter(|judged| judged.guessed.is_some())
            .partition(|judged| judged.guessed.as_ref().is_some_and(|guessed| guessed.wrong < guess::SAMPLE));
        for judged in weak {
            let contradicted = |weak: &mut Guessed| {
                let mut surer = strong.iter().filter_map(|judged| judged.guessed.as_ref());
                !strong.is_empty() && !surer.any(|guessed| guessed.agrees(weak))
            };
            if let Some(guessed) = judged.guessed.take_if(contradicted) {
                judged.report.reason = guessed.reason_without;
                judged.hints = guessed.hints_without;
            }
        }
    }

    /// Which mistake the numbers look like. Where something was never written that is what there is to say.
    fn guess(
        &self,
        resolved: &Resolved,
        arguments: &[Argument],
        expected: &[Expected],
        comparison: &Comparison,
    ) -> Option<Guess> {
        comparison.mismatches.first().filter(|first| !first.never_written)?;
        let outputs = values(resolved, arguments);
        let got = outputs.first()?;
        let case = Case {
            signature: &resolved.signature(),
            // Made again, for the kernel may have changed its own.
            inputs: &oracle_inputs(resolved, &inputs::arguments(resolved, self.seed)),
            expected: expected.first()?,
            got,
            outputs: &outputs,
            all_expected: expected,
            wrong: &comparison.wrong,
        };
        guess::guess(self.oracle, &case)
    }

    fn verdict(mut self, started: Instant) -> Verdict {
        self.settle_guesses();
        let passed = self.impossible.is_none()
            && !self.judged.is_empty()
            && self.judged.iter().all(|judged| judged.report.passed);
        let mut faults: Vec<Fault> =
            self.judged.iter().flat_map(|judged| judged.report.faults.iter().cloned()).collect();
        faults.sort_by_key(|fault| explain::rank(fault.kind));
        let mut hints: Vec<String> = Vec::new();
        let usage = self.judged.iter().rev().find_map(|judged| judged.report.counters.as_ref());
        let mut by_weight: Vec<&Judged> = self.judged.iter().collect();
        by_weight.sort_by_key(|judged| case_rank(&judged.report));
        let keys: Vec<&'static str> = by_weight.into_iter().flat_map(|judged| judged.hints.iter().copied()).collect();
        let failed = self.judged.iter().filter(|judged| !judged.report.passed);
        let whole: Vec<&[&'static str]> = failed.map(|judged| judged.hints.as_slice()).collect();
        let keys = explain::most_telling_first(keys, &whole);
        for key in keys.into_iter().chain(usage.map(explain::usage_hints).unwrap_or_default()) {
            if !hints.iter().any(|known| known == key) {
                hints.push(key.to_owned());
            }
        }
        // An output of one element is wholly unwritten for many reasons: only where it is so at every size, and at one
        // with more to write, is nothing written the diagnosis.
        let nothing = |judged: &Judged| judged.hints.contains(&"nothing_written");
        let tells = self.judged.iter().any(|judged| judged.report.element_count > 1);
        if !tells || !self.judged.iter().all(nothing) {
            hints.retain(|key| key != "nothing_written");
        }
        let failed = self.judged.iter().filter(|judged| !judged.report.passed);
        // Of equally telling ones the first that knows the mistake, or else that names a thread.
        let worst = failed.min_by_key(|judged| (case_rank(&judged.report), judged.guessed.is_none(), !judged.placed));
        let mut failure = worst.map(|judged| at_size(&judged.report.reason, &judged.report.name));
        let fault = worst.and_then(|judged| judged.report.faults.iter().min_by_key(|fault| explain::rank(fault.kind)));
        // The order and the types of the parameters come before everything that follows from them.
        let differ = parameters::differ(&self.compiled.declared, self.spec).filter(|_| !passed);
        if let Some(differ) = &differ {
            let rest = failure.as_ref().map(|failure| format!(". What came of it: {failure}")).unwrap_or_default();
            failure = Some(format!("{differ}{rest}"));
            hints.retain(|hint| hint != "wrong_signature");
            hints.insert(0, "wrong_signature".to_owned());
        }
        if let (None, Some(failure), Some(wide)) =
            (&differ, &mut failure, fault.and_then(|fault| parameters::wide(fault, self.spec)))
        {
            failure.push_str(&format!(" {wide}."));
            hints.insert(0, "wide_access".to_owned());
        }
        let (resolved, mut cases): (Vec<Resolved>, Vec<CaseReport>) =
            self.judged.into_iter().map(|judged| (judged.resolved, judged.report)).unzip();
        if let Some((name, message)) = self.impossible {
            hints.retain(|hint| hint != "bad_launch");
            hints.insert(0, "bad_launch".to_owned());
            failure = Some(at_size(&message, &name));
            cases.push(CaseReport { name, seed: self.seed, reason: message, ..CaseReport::default() });
        }
        let summary = failure.unwrap_or_else(|| explain::passed_sentence(&cases, &resolved));
        Verdict {
            passed,
            summary,
            cases,
            faults,
            hints,
            trace: self.trace,
            notes: self.notes,
            seed: self.seed,
            compile_ms: self.compiled.compile_ms,
            total_ms: started.elapsed().as_secs_f64() * 1e3,
        }
    }
}

/// Causes before consequences, and each mistake once.
fn in_order(mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.sort_by_key(|fault| explain::rank(fault.kind));
    fold::fold(faults)
}

/// Order in which failed cases should be looked at: those with the most telling fault first, passed ones last.
fn case_rank(case: &CaseReport) -> u32 {
    let fault = case.faults.iter().map(|fault| explain::rank(fault.kind)).min();
    fault.unwrap_or(if case.passed { u32::MAX } else { u32::MAX - 1 })
}

/// A reason with the size at which it showed, in the parentheses of the place when there is one.
fn at_size(reason: &str, size: &str) -> String {
    let reason = reason.trim_end_matches('.');
    match reason.strip_suffix(')') {
        Some(open) => format!("{open}, at {size})."),
        None => format!("{reason} (at {size})."),
    }
}

/// What does not hold of outputs each of whose elements would do.
pub(crate) fn violated(oracle: &Oracle, resolved: &Resolved, arguments: &[Argument]) -> Option<String> {
    oracle.violated(&resolved.signature(), || values(resolved, arguments))
}

/// What the kernel left in its outputs.
fn values(resolved: &Resolved, arguments: &[Argument]) -> Vec<Vec<f64>> {
    tensors::outputs(resolved, arguments).into_iter().map(|output| output.values).collect()
}

/// Why a launch cannot be at a size: too many threads in a block, or an expression that gives none.
pub(crate) fn impossible(spec: &Spec, size: &Size) -> Option<String> {
    let (key, message) = spec.resolve(size).err()?;
    let part = spec.steps.iter().find_map(|step| key.strip_prefix(&step.at)?.strip_prefix('.'))?;
    let of = if spec.has_steps() { format!(" ({})", steps::place_in_words(spec, &key)) } else { String::new() };
    Some(format!("this launch cannot be: `{part}`{of}: {message}"))
}

/// Evaluates a spec at a size and refuses what would not fit into memory.
pub(crate) fn resolve(spec: &Spec, size: &Size, most_bytes: u64) -> Result<Resolved, RunError> {
    let at = crate::spec::size_name(size);
    let resolved = spec.resolve(size).map_err(|(key, message)| {
        RunError::BadRequest(format!("{} at {at}: {message}", steps::place_in_words(spec, &key)))
    })?;
    let bytes = resolved.buffer_bytes();
    if bytes > most_bytes {
        return Err(RunError::Limit(format!("{at} needs {bytes} bytes of buffers; the limit is {most_bytes}")));
    }
    Ok(resolved)
}

fn emit_console(emit: &mut dyn FnMut(Event), run: &mut Report) {
    let mut text = std::mem::take(&mut run.console);
    if run.console_dropped_lines > 0 {
        text.push_str(&format!("\n[{} more lines were printed and dropped]\n", run.console_dropped_lines));
    }
    if !text.is_empty() {
        emit(Event::Console(text));
    }
}

#[cfg(test)]
pub(crate) mod tests_support {
    use crate::spec::{CeilingKind, Cost, Expr, LaunchShape, Spec, Step, Tolerance};

    /// A spec with nothing in it but a launch of one thread.
    pub fn empty_spec(entry: &str) -> Spec {
        let one = || vec![Expr::from("1")];
        Spec {
            title: String::new(),
            steps: vec![Step {
                name: entry.to_owned(),
                entry: entry.to_owned(),
                args: Vec::new(),
                launch: LaunchShape {
                    grid: one(),
                    block: one(),
                    cluster: Vec::new(),
                    dynamic_shared_bytes: Expr::from("0"),
                    cooperative: false,
                    learner_may_change: false,
                },
                given: None,
                repeat: None,
                group: None,
                at: "launch".to_owned(),
            }],
            params: Vec::new(),
            oracle: None,
            tolerance: Tolerance { absolute: 0.0, relative: 0.0, reason: String::new() },
            check: Vec::new(),
            emulator_check: Vec::new(),
            bench: Vec::new(),
            emulator_bench: Vec::new(),
            cost: Cost { flops: Expr::from("0"), bytes: Expr::from("0"), ceiling: CeilingKind::Auto },
            milestones: Vec::new(),
            requires: None,
            arch: Vec::new(),
            written_once: false,
            options: Vec::new(),
            outputs: Vec::new(),
            views: Vec::new(),
            may_be_empty: Vec::new(),
        }
    }
}
