//! What labs report, turned into state.

use super::heat;
use crate::effect::Effect;
use crate::lab::KERNEL_NAME;
use crate::state::{Compiler, Desk, JobKey, LabKey, Loadable, Measured, Pane, Purpose, State, ToastKind, Traced};
use crate::widgets::code_editor::{LineMark, MarkKind};
use crate::widgets::sentence;
use curriculum::quiz::{Evidence, measure_quantity};
use curriculum::store::{RunRecord, TextSlot};
use gpu_core::compile::{CompileReport, Diagnostic, Severity};
use gpu_core::device::DeviceKind;
use gpu_core::emulator::{Fault, SourceLine};
use gpu_core::job::{Event, Outcome};
use gpu_core::verdict::{NonfiniteStep, Verdict};

/// Console text kept, in bytes; a kernel may print without end.
const MAX_CONSOLE: usize = 256 << 10;

impl State {
    /// A job got its key.
    pub fn submitted(&mut self, purpose: &Purpose, slot: Option<&TextSlot>, key: JobKey) -> Vec<Effect> {
        if *purpose == Purpose::Devices {
            self.devices.labs.entry(key.lab).or_default().devices.begin();
            return Vec::new();
        }
        if *purpose == Purpose::Diagnose {
            if let Some(desk) = slot.and_then(|slot| self.desks.get_mut(slot)) {
                desk.compiling = Some(key);
            }
            return Vec::new();
        }
        if let Purpose::Listing { other } = *purpose {
            if let Some(desk) = slot.and_then(|slot| self.desks.get_mut(slot)) {
                let job = if other { &mut desk.versions.other_job } else { &mut desk.versions.sass_job };
                // What was asked for before is of no interest any more; its report must not be taken for this one.
                return job.replace(key).map(Effect::Stop).into_iter().collect();
            }
            return Vec::new();
        }
        match &mut self.running {
            Some(running) if running.job.is_none() => {
                running.job = Some(key.clone());
                // Stop was pressed before the job had a key.
                if running.stopping { vec![Effect::Stop(key)] } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }

    /// One event of one job.
    pub fn receive(&mut self, key: &JobKey, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        if let Event::Devices(devices) = event {
            if key.lab == LabKey::Here {
                let gpus = devices.iter().filter(|info| info.kind == DeviceKind::Gpu);
                let names: Vec<_> = gpus.map(|info| (info.name.clone(), info.driver_version.clone())).collect();
                effects.extend((!names.is_empty()).then_some(Effect::LoadCeilings(names)));
            }
            let lab = self.devices.labs.entry(key.lab.clone()).or_default();
            lab.devices = Loadable::Ready(devices);
            return effects;
        }
        if self.running.as_ref().is_some_and(|running| running.job.as_ref() == Some(key)) {
            self.run_event(event, &mut effects);
        } else if let Some(slot) = self.compiling_slot(key) {
            self.diagnose_event(&slot, event);
        } else if let Some((slot, other)) = self.listing_slot(key) {
            self.listing_event(&slot, other, event);
        } else if let Event::Finished(Outcome::Environment(message)) = event
            && let Some(lab) = self.devices.labs.get_mut(&key.lab)
            && lab.devices.is_pending()
        {
            lab.devices.fail(message);
        }
        effects
    }

    fn compiling_slot(&self, key: &JobKey) -> Option<TextSlot> {
        self.desks.values().find(|desk| desk.compiling.as_ref() == Some(key)).map(|desk| desk.slot.clone())
    }

    /// The text whose listing a job is for, and whether it is the one beside it.
    fn listing_slot(&self, key: &JobKey) -> Option<(TextSlot, bool)> {
        self.desks.values().find_map(|desk| {
            let other = desk.versions.other_job.as_ref() == Some(key);
            (other || desk.versions.sass_job.as_ref() == Some(key)).then(|| (desk.slot.clone(), other))
        })
    }

    fn diagnose_event(&mut self, slot: &TextSlot, event: Event) {
        let is_open = self.desk.as_ref() == Some(slot);
        let scaffold = self.scaffold().filter(|_| is_open);
        let is_scaffold = self.desk().is_some_and(|desk| scaffold == Some(desk.editor.text()));
        let Some(desk) = self.desks.get_mut(slot) else { return };
        match event {
            // What was typed meanwhile has moved or mended the places; its own compilation follows at once.
            Event::Compiled(_) if desk.compiling_version != desk.editor.version() => {}
            Event::Compiled(mut report) => {
                if is_scaffold {
                    // What is not used yet is what there is to do.
                    report.diagnostics.retain(|found| found.severity != Severity::Warning);
                }
                set_compiled(desk, *report);
            }
            Event::Finished(outcome) => {
                desk.compiling = None;
                match outcome {
                    Outcome::Done | Outcome::CompileErrors(_) | Outcome::Stopped => desk.compiled.end(),
                    Outcome::LimitExceeded(why) | Outcome::Crashed(why) | Outcome::BadRequest(why) => {
                        desk.compiled.fail(why);
                    }
                    Outcome::Environment(why) => {
                        desk.compiled.fail(why.clone());
                        self.compiler_lost(why);
                    }
                }
            }
            _ => {}
        }
    }

    fn run_event(&mut self, event: Event, effects: &mut Vec<Effect>) {
        let Some(running) = &mut self.running else { return };
        if let Event::Progress { what, done, total } = &event {
            if !running.stopping {
                running.progress.clone_from(what);
            }
            (running.done, running.total) = (*done, *total);
            return;
        }
        if matches!(event, Event::Compiled(_)) && !running.stopping {
            // The judge reports when a case is done, which an endless kernel never is.
            "Running".clone_into(&mut running.progress);
        }
        let purpose = running.purpose.clone();
        match purpose {
            Purpose::Predict { day, question, run } => return self.predict_event(day, question, &run, event),
            Purpose::Mystery(key) => return self.mystery_event(key, event),
            _ => {}
        }
        let owner = self.running_slot();
        let Some(desk) = owner.as_ref().and_then(|slot| self.desks.get_mut(slot)) else {
            // Its text was closed for good; only the run's end matters.
            if let Event::Finished(_) = event {
                self.running = None;
            }
            return;
        };
        match event {
            Event::Compiled(report) => set_compiled(desk, *report),
            Event::Case(case) => desk.cases.push(*case),
            Event::Console(text) => append_console(desk, &text),
            Event::Verdict(verdict) => self.judged(*verdict, effects),
            Event::Bench(report) => {
                let source = self.running.as_ref().map(|running| running.source.clone()).unwrap_or_default();
                let record = RunRecord::bench(&report, &source);
                desk.runs.push(record.clone());
                desk.versions.texts.insert(record.source.clone(), Some(source.clone()));
                desk.editor.marks.set_heat(heat::of_bench(&report));
                desk.bench = Loadable::Ready(*report);
                let slot = desk.slot.clone();
                effects.push(Effect::AddRun { slot, run: Box::new(record.clone()), source });
                self.note_best(owner.as_ref(), &record, effects);
            }
            Event::Finished(outcome) => {
                self.run_ended(outcome);
                if let Some(slot) = &owner {
                    self.keep_run(slot, effects);
                }
            }
            Event::Ran(report) => self.sandbox_ran(*report),
            Event::Progress { .. } | Event::Devices(_) | Event::Ceilings(_) => {}
        }
    }

    /// The text that the run is about, which need not be the open one any more.
    fn running_slot(&self) -> Option<TextSlot> {
        self.running.as_ref()?.slot.clone()
    }

    fn judged(&mut self, verdict: Verdict, effects: &mut Vec<Effect>) {
        let Some(slot) = self.running_slot() else { return };
        let (device, source) =
            self.running.as_ref().map(|running| (running.device.clone(), running.source.clone())).unwrap_or_default();
        let (now, now_s) = (self.now_unix_s, self.now_s);
        let is_check = self.running.as_ref().is_some_and(|running| running.purpose == Purpose::Check);
        let course = self.course.clone();
        let Some(desk) = self.desks.get_mut(&slot) else { return };
        desk.editor.marks.set_run(run_marks(&verdict));
        desk.editor.marks.set_heat(heat::of_verdict(&verdict));
        if is_check {
            // The last size on the emulator is traced; only the emulator counts.
            let traced = verdict.cases.iter().rfind(|case| case.counters.is_some());
            let ended_by = traced.and_then(|case| case.faults.iter().find(|fault| fault.kind.ends_launch()).cloned());
            let captured = verdict.captured.clone();
            desk.traced = Some(Traced { trace: verdict.trace.clone(), captured, source: source.clone(), ended_by });
            let record = RunRecord::check(&device, &verdict, &source, now);
            desk.runs.push(record.clone());
            desk.versions.texts.insert(record.source.clone(), Some(source.clone()));
            effects.push(Effect::AddRun { slot: slot.clone(), run: Box::new(record), source });
        }
        let passed = verdict.passed;
        let (day_id, exercise) = (desk.day.clone(), desk.exercise.clone());
        let experiment = desk.experiment.is_some();
        desk.cases.clear();
        desk.verdict = Loadable::Ready(verdict);
        desk.judged_at_s = Some(now_s);
        if passed
            && !experiment
            && let Some(day) = course.unit_by_id(&day_id)
        {
            let first = self.progress.exercise(day, &exercise).is_none_or(|exercise| exercise.passed.is_none());
            self.progress.passed(day, &exercise, self.today);
            self.finish_part_of(day, &exercise);
            effects.push(Effect::SaveProgress);
            self.finish_last_if_complete(&day_id, effects);
            if first {
                self.toast(ToastKind::Good, "Passed for the first time. The solution is open now.");
            }
        }
    }

    /// The step in which an exercise is worked on is done: a part when all that it asks for passed, a day's Code It with
    /// the first one.
    pub(super) fn finish_part_of(&mut self, unit: &curriculum::Unit, exercise: &str) {
        let step = unit.step_of_exercise(exercise);
        let section = unit.lesson.section(step);
        let all = |key: &str| self.progress.has_passed(unit, key);
        let is_exercise = unit.exercise_by_key(exercise).is_some();
        let done = match unit.day() {
            Some(_) => is_exercise,
            None => section.is_some_and(|section| section.exercise_keys().all(all)),
        };
        if done {
            self.progress.step_done(unit, step);
        }
    }

    fn note_best(&mut self, owner: Option<&TextSlot>, record: &RunRecord, effects: &mut Vec<Effect>) {
        let best = record
            .points
            .iter()
            .filter_map(|point| point.share_of_ceiling)
            .fold(None, |best, share| Some(best.map_or(share, |best: f64| best.max(share))));
        let course = self.course.clone();
        let desk = owner.and_then(|slot| self.desks.get(slot)).filter(|desk| desk.experiment.is_none());
        let (Some(best), Some(desk)) = (best, desk) else { return };
        let key = desk.exercise.clone();
        if let Some(day) = course.unit_by_id(&desk.day) {
            let shares = &mut self.progress.exercise_mut(day, &key).best_share;
            let share = shares.entry(record.device.clone()).or_insert(best);
            *share = share.max(best);
            effects.push(Effect::SaveProgress);
        }
    }

    fn run_ended(&mut self, outcome: Outcome) {
        let Some(slot) = self.running_slot() else {
            self.running = None;
            return;
        };
        let is_sandbox = self.running.take().is_some_and(|running| running.purpose == Purpose::Sandbox);
        let Some(desk) = self.desks.get_mut(&slot) else { return };
        let trouble = match outcome {
            Outcome::Done => None,
            Outcome::CompileErrors(diagnostics) => {
                desk.editor.marks.set_compiler(compiler_marks(&diagnostics));
                self.view.dock.show(Pane::Problems);
                Some("The kernel does not compile".to_owned())
            }
            Outcome::Stopped => Some("Stopped".to_owned()),
            Outcome::LimitExceeded(why) | Outcome::Crashed(why) | Outcome::BadRequest(why) => {
                Some(sentence::whole(&why))
            }
            Outcome::Environment(why) => {
                let why = sentence::whole(&why);
                self.toast(ToastKind::Bad, why.clone());
                Some(why)
            }
        };
        if is_sandbox {
            self.sandbox_ended(trouble.as_deref());
        }
        let Some(desk) = self.desks.get_mut(&slot) else { return };
        match trouble {
            Some(trouble) => {
                if desk.verdict.is_pending() {
                    desk.verdict.fail(trouble.clone());
                }
                if desk.bench.is_pending() {
                    desk.bench.fail(trouble.clone());
                }
                desk.trouble = Some(trouble);
            }
            None => {
                desk.verdict.end();
                desk.bench.end();
            }
        }
    }

    fn predict_event(&mut self, day: String, question: String, run: &curriculum::quiz::PredictRun, event: Event) {
        let measure = |evidence: &Evidence<'_>, state: &Self| {
            let name =
                state.course.unit_by_id(&day).and_then(|day| day.quiz.question(&question)).and_then(|q| {
                    match &q.kind {
                        curriculum::quiz::Kind::Predict { quantity, .. } => Some(quantity.clone()),
                        _ => None,
                    }
                });
            let found = name.and_then(|name| measure_quantity(&name, evidence));
            found.ok_or_else(|| "The run did not give this value".to_owned())
        };
        match event {
            Event::Verdict(verdict) => {
                let evidence = Evidence {
                    verdict: Some(&verdict),
                    bench: None,
                    ran: None,
                    case: run.case.as_deref(),
                    ..Evidence::default()
                };
                let value = measure(&evidence, self);
                if run.action == curriculum::quiz::PredictAction::Check {
                    self.measured = Some(Measured { day, question, value });
                }
            }
            Event::Bench(report) => {
                let evidence = Evidence {
                    verdict: None,
                    bench: Some(&report),
                    ran: None,
                    case: run.case.as_deref(),
                    ..Evidence::default()
                };
                let value = measure(&evidence, self);
                self.measured = Some(Measured { day, question, value });
            }
            Event::Finished(outcome) => {
                self.running = None;
                let Some(why) = outcome.trouble() else { return };
                self.measured = Some(Measured { day, question, value: Err(why.to_owned()) });
            }
            _ => {}
        }
    }

    fn compiler_lost(&mut self, message: String) {
        if matches!(self.compiler, Compiler::Found { .. } | Compiler::Looking) {
            self.compiler = Compiler::Missing { message, download_bytes: 0 };
        }
    }
}

fn set_compiled(desk: &mut Desk, report: CompileReport) {
    desk.editor.marks.set_compiler(compiler_marks(&report.diagnostics));
    desk.versions.list(&report);
    desk.compiled = Loadable::Ready(report);
}

/// Marks of the learner's own text; messages about headers go to line 1, where the include is.
pub(crate) fn compiler_marks(diagnostics: &[Diagnostic]) -> Vec<LineMark> {
    diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.line > 0 && (diagnostic.file == KERNEL_NAME || diagnostic.file.is_empty()))
        .map(|diagnostic| LineMark {
            kind: match diagnostic.severity {
                Severity::Error => MarkKind::Error,
                Severity::Warning => MarkKind::Warning,
                Severity::Note => MarkKind::Note,
            },
            line: diagnostic.line,
            column: diagnostic.column,
            message: diagnostic.message.clone(),
        })
        .collect()
}

/// The line of the learner's text that a place is in, or that called what it is in.
fn own_line<'a>(source: &'a Option<SourceLine>, inlined_at: &'a Option<SourceLine>) -> Option<&'a SourceLine> {
    source.iter().chain(inlined_at).find(|place| place.file == KERNEL_NAME)
}

/// Where a run went wrong: its faults, or the line that wrote the first wrong element.
pub(super) fn run_marks(verdict: &Verdict) -> Vec<LineMark> {
    let mut marks = fault_marks(verdict.faults());
    if marks.is_empty() {
        marks.extend(wrong_mark(verdict));
    }
    marks.extend(nonfinite_marks(verdict));
    marks
}

pub(super) fn fault_marks<'f>(faults: impl IntoIterator<Item = &'f Fault>) -> Vec<LineMark> {
    let mark = |line: u32, column: u32, message: String| LineMark { kind: MarkKind::Fault, line, column, message };
    let mut marks: Vec<LineMark> = Vec::new();
    for fault in faults {
        let own = own_line(&fault.source, &fault.inlined_at);
        if let Some(place) = own {
            marks.push(mark(place.line, place.column, fault.message.clone()));
        }
        let other = fault.other.as_ref().and_then(|other| own_line(&other.source, &other.inlined_at));
        if let Some(place) = other.filter(|other| Some(*other) != own) {
            marks.push(mark(place.line, place.column, format!("the other side of: {}", fault.message)));
        }
    }
    marks.dedup();
    marks
}

/// The line that wrote the first wrong element.
fn wrong_mark(verdict: &Verdict) -> Option<LineMark> {
    let case = verdict.cases.iter().find(|case| case.mismatches.iter().any(|mismatch| mismatch.writer.is_some()))?;
    let mismatch = case.mismatches.iter().find(|mismatch| mismatch.writer.is_some())?;
    let place = mismatch.writer.as_ref()?.source.as_ref().filter(|place| place.file == KERNEL_NAME)?;
    let message = format!("a wrong value is written here: {}", case.reason);
    Some(LineMark { kind: MarkKind::Fault, line: place.line, column: place.column, message })
}

/// The lines that made the first infinity and NaN.
fn nonfinite_marks(verdict: &Verdict) -> Vec<LineMark> {
    let Some(found) = verdict.cases.iter().find_map(|case| case.first_nonfinite.as_ref()) else { return Vec::new() };
    let mark = |step: &NonfiniteStep, message: String| {
        let place = own_line(&step.source, &step.inlined_at)?;
        Some(LineMark { kind: MarkKind::Fault, line: place.line, column: place.column, message })
    };
    let first = mark(&found.first, found.sentence.clone());
    let then = found.then.as_ref().and_then(|then| mark(then, format!("{} = {}", then.expression, then.value)));
    first.into_iter().chain(then).collect()
}

fn append_console(desk: &mut Desk, text: &str) {
    if desk.console_cut {
        return;
    }
    desk.console.push_str(text);
    if desk.console.len() > MAX_CONSOLE {
        let end = desk.console.floor_char_boundary(MAX_CONSOLE);
        desk.console.truncate(end);
        desk.console_cut = true;
    }
}
