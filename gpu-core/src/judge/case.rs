//! One case of a check: the run, what it left beside what belongs there, and the reason that is given for it.

use super::blame::{self, Writes};
use super::compare::{self, Comparison};
use super::steps::{self, Traced};
use super::{
    Session, advice, again, captured, draws, explain, fold, gaps, inputs, narrow, nonfinite, oracle_inputs, patience,
    tensors,
};
use crate::compile::{CompileReport, arrays, unset};
use crate::device::{Argument, Device, DeviceKind, Report, RunError, Sequence};
use crate::job::Event;
use crate::oracle::guess::{self, Case, Guess};
use crate::oracle::{Expected, Oracle, Watch};
use crate::spec::{Resolved, ResolvedBuffer};
use crate::verdict::CaseReport;
use ptx_emulator::{Fault, FaultKind, TraceRequest};
use std::time::{Duration, Instant};

/// A judged case.
pub(super) struct Judged {
    pub(super) resolved: Resolved,
    pub(super) report: CaseReport,
    pub(super) hints: Vec<&'static str>,
    /// The reason names a thread.
    pub(super) placed: bool,
    /// The reason says which mistake it looks like.
    pub(super) guessed: Option<Guessed>,
    /// The reason says that an index went round, or in which rhythm elements are left out.
    pub(super) is_narrow: bool,
    /// What seems never to be written was stored, and has no value.
    pub(super) is_undefined: bool,
}

/// A guess in the report of a case, and what to say without it.
pub(super) struct Guessed {
    pub(super) words: String,
    /// The hint that answers to it.
    pub(super) key: Option<&'static str>,
    /// Elements that it was made from: its evidence.
    pub(super) wrong: usize,
    pub(super) reason_without: String,
    pub(super) hints_without: Vec<&'static str>,
}

impl Guessed {
    /// It says no more than that zeros came out.
    pub(super) fn is_zeros(&self) -> bool {
        self.words.starts_with("all wrong ones are 0")
    }

    /// Whether both name the same mistake, at sizes of their own.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        let letters = |words: &str| words.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        // The last product of 33 and the last three of 7 are left out by one loop.
        self.key.is_some() && self.key == other.key || letters(&self.words) == letters(&other.words)
    }
}

/// Cases of more bytes than this say how far they are: on a busy machine a float64 reference of so much takes seconds, in
/// which nobody is to think that the kernel hangs.
const LARGE: u64 = 64 << 20;

impl Session<'_> {
    fn goes_on(&mut self, resolved: &Resolved, what: &str) {
        if resolved.buffer_bytes() > LARGE {
            (self.emit)(Event::Progress { what: format!("{}: {what}", resolved.name), done: 0, total: 0 });
        }
    }

    pub(super) fn case(
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
        self.goes_on(&resolved, "the inputs are made");
        let expected = self.expected(&resolved, &arguments)?;
        self.goes_on(&resolved, "the reference is computed");
        let trace = trace.map(|request| Traced { request, step: self.trace_step.clone() });
        let sequence = steps::sequence_of(self.compiled, self.spec, &resolved, trace.as_ref());
        let mut captured = trace.is_some().then(|| captured::before(&resolved, &arguments));
        let mut run = device.run(&sequence, &mut arguments, self.stop)?;
        self.goes_on(&resolved, "comparing the results");
        if let Some(captured) = captured.as_mut().filter(|_| run.completed) {
            captured::after(captured, &resolved, &arguments);
        }
        self.captured = self.captured.take().or(captured);
        let steps = steps::step_reports(self.spec, &resolved, &run);
        emit_console(self.emit, &mut run);
        let undefined = match device.info().kind {
            DeviceKind::Emulator => {
                blame::take_undefined(device, &sequence, &resolved, self.seed, &mut run, self.stop)?
            }
            DeviceKind::Gpu => Vec::new(),
        };
        let mut comparison = if run.completed {
            let drawn = match self.spec.draws() {
                1 => None,
                _ => draws::run(device, &sequence, self.spec, &resolved, self.seed, &expected, self.stop)?,
            };
            let (spec, unwritten) = (self.spec, run.unwritten.as_deref());
            let compare = || compare::compare(&resolved, &arguments, &expected, spec, drawn.as_deref(), unwritten);
            match resolved.buffer_bytes() > LARGE {
                true => patience::told(&mut || self.goes_on(&resolved, "comparing the results"), compare),
                false => compare(),
            }
        } else {
            // Half-written outputs of an aborted run say nothing beyond its fault.
            Comparison::default()
        };
        if !undefined.is_empty() {
            // What has no value is no pattern of values.
            comparison.patterns.retain(|pattern| *pattern != "nan_output");
            blame::mark_undefined(&undefined, &resolved, &mut comparison.mismatches);
        }
        self.trace = self.trace.take().or(run.traces.drain(..).next());
        run.faults = in_order(std::mem::take(&mut run.faults), self.compiled, &resolved);
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
            if comparison.mismatch_count > 0 {
                self.goes_on(&resolved, "looking for what is wrong");
            }
            comparison.guess = self.guess(&resolved, &arguments, &expected, &comparison);
            comparison.drop_precision();
        }
        let signature = resolved.signature();
        if let (Some(right), Some(output)) = (comparison.right_corner, signature.outputs.first())
            && explain::is_first_block_only(&resolved, &output.shape, right)
        {
            comparison.patterns.insert(0, "first_block_only");
        }
        let output = buffers.iter().find(|buffer| buffer.role.is_judged()).filter(|_| again.is_empty());
        let is_race = run.faults.iter().any(|fault| fault.kind == FaultKind::Race);
        let seen = narrow::Seen { is_race, ptx: &self.compiled.ptx };
        if let Some(words) = output.and_then(|shape| narrow::index(shape, &comparison, &seen)) {
            if narrow::is_certain(words) {
                comparison.patterns.retain(|pattern| *pattern != "first_block_only");
            }
            comparison.patterns.insert(0, "narrow_index");
            comparison.narrow = Some(words);
        }
        if let Some(words) = output.and_then(|shape| gaps::words(&resolved, shape, run.unwritten.as_deref())) {
            // There is no tail: the same is missing all along.
            comparison.patterns.retain(|pattern| *pattern != "tail_missing");
            comparison.gaps = Some(words);
        }
        let is_narrow = comparison.narrow.is_some_and(narrow::is_certain) || comparison.gaps.is_some();
        let unexplained = comparison.mismatch_count > 0 || !corrupted.is_empty();
        let mut placed = !run.faults.is_empty();
        // Until one wrong case has a thread to look at. A fault says who and where already.
        if unexplained
            && !placed
            && again.is_empty()
            && self.blames_left > 0
            && device.info().kind == DeviceKind::Emulator
        {
            placed = self.blame(device, &sequence, &resolved, &run, &mut comparison, &mut corrupted)?;
        }
        let mut first_nonfinite = None;
        let is_emulated = device.info().kind == DeviceKind::Emulator;
        let may_follow = run.faults.is_empty() && again.is_empty() && !self.follow_left.is_zero() && is_emulated;
        // Zeros mostly have other reasons: of those the first case alone.
        let is_odd = comparison.mismatches.iter().any(|wrong| !wrong.got.is_finite());
        let is_first = self.follow_left == nonfinite::TIME_LIMIT;
        if may_follow && (is_odd || is_first) && nonfinite::may_explain(&comparison.mismatches) {
            let (wrong, calls) = (&comparison.mismatches[..], &self.compiled.calls[..]);
            let failed = nonfinite::Failed { resolved: &resolved, seed: self.seed, wrong, calls };
            let started = Instant::now();
            first_nonfinite = nonfinite::find(device, &sequence, &failed, self.follow_left, self.stop)?;
            // One is enough.
            let left = self.follow_left.saturating_sub(started.elapsed());
            self.follow_left = if first_nonfinite.is_none() { left } else { Duration::ZERO };
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
            first_nonfinite,
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
            key: guess.key,
            wrong: comparison.wrong.len(),
            reason_without: explain::reason(&report, &comparison),
            hints_without: explain::hints(&report, &run.corruptions, &comparison),
        });
        report.wall_ms = started.elapsed().as_secs_f64() * 1e3;
        let is_undefined = !undefined.is_empty() && !hints.contains(&"never_written");
        Ok(Judged { resolved, report, hints, placed, guessed, is_narrow, is_undefined })
    }

    /// Runs the case again and adds who wrote what is wrong. Whether a thread was found.
    fn blame(
        &mut self,
        device: &mut dyn Device,
        sequence: &Sequence<'_>,
        resolved: &Resolved,
        run: &Report,
        comparison: &mut Comparison,
        corrupted: &mut [String],
    ) -> Result<bool, RunError> {
        let mut placed = false;
        self.blames_left -= 1;
        if let Some(writes) = Writes::of(device, sequence, resolved, self.seed, self.stop)? {
            blame::name_writers(&writes, resolved, &mut comparison.mismatches);
            if let Some(clue) = comparison.mismatches.first().map(|first| blame::clue(&writes, resolved, first)) {
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
        Ok(placed)
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
            first_nonfinite: None,
            notes: Vec::new(),
            counters: None,
            lines: Vec::new(),
            steps: Vec::new(),
            wall_ms: 0.0,
        };
        Judged {
            resolved,
            report,
            hints: vec![hint],
            placed: false,
            guessed: None,
            is_narrow: false,
            is_undefined: false,
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
        let first = comparison.mismatches.first().filter(|first| !first.never_written)?;
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
            named: &first.buffer,
            is_coded: first.code.is_some(),
        };
        guess::guess(self.oracle, &case)
    }
}

/// Causes before consequences, each mistake once, and in the words of the source.
pub(super) fn in_order(mut faults: Vec<Fault>, compiled: &CompileReport, resolved: &Resolved) -> Vec<Fault> {
    let block = resolved.only_launch().map(|launch| launch.geometry.block);
    for fault in &mut faults {
        advice::improve(fault, &compiled.conditions);
        unset::name(fault, &compiled.unset);
        arrays::name(fault, &compiled.arrays, block);
    }
    faults.sort_by_key(|fault| explain::rank(fault.kind));
    fold::fold(faults)
}

/// What does not hold of outputs each of whose elements would do.
pub(crate) fn violated(oracle: &Oracle, resolved: &Resolved, arguments: &[Argument]) -> Option<String> {
    oracle.violated(&resolved.signature(), || values(resolved, arguments))
}

/// What the kernel left in its outputs.
pub(super) fn values(resolved: &Resolved, arguments: &[Argument]) -> Vec<Vec<f64>> {
    tensors::outputs(resolved, arguments).into_iter().map(|output| output.values).collect()
}

pub(super) fn emit_console(emit: &mut dyn FnMut(Event), run: &mut Report) {
    let mut text = std::mem::take(&mut run.console);
    if run.console_dropped_lines > 0 {
        text.push_str(&format!("\n[{} more lines were printed and dropped]\n", run.console_dropped_lines));
    }
    if !text.is_empty() {
        emit(Event::Console(text));
    }
}
