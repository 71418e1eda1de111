//! Starting and stopping runs, hints and the solution.

use crate::command::Command;
use crate::effect::Effect;
use crate::lab::KERNEL_NAME;
use crate::scripts::{Decoding, ScriptKey, ScriptRun};
use crate::state::{Compiler, Desk, Dialog, LabKey, Measured, Pane, Purpose, Running, Sight, State, ToastKind};
use curriculum::quiz::{Kind, Needs, PredictAction, PredictKernel, PredictRun, quantity};
use curriculum::store::Given;
use gpu_core::choice::Choice;
use gpu_core::device::DeviceChoice;
use gpu_core::emulator::{SourceLine, TraceRequest};
use gpu_core::emulator_device::EmulatorDevice;
use gpu_core::job::{Emit, Job, Source};

/// Memory that a run's trace may take: enough for the first warps of a small case.
const TRACE_BYTES: usize = 8 << 20;

/// Blocks traced from the first on.
const TRACE_BLOCKS: u64 = 16;

/// How long a compilation of an older text may hold up that of a newer one: longer than any small kernel's.
const COMPILE_PATIENCE_S: f64 = 0.8;

pub(crate) fn source(text: &str) -> Source {
    Source { name: KERNEL_NAME.to_owned(), text: text.to_owned(), headers: Vec::new(), options: Vec::new() }
}

impl State {
    pub(super) fn start_check(&mut self, effects: &mut Vec<Effect>) {
        let device = self.devices.picked.clone();
        // Blocks that the launch does not have cost nothing; a small case is then traced whole, its last block too.
        let trace =
            Some(TraceRequest { blocks: (0..TRACE_BLOCKS).collect(), warps: Vec::new(), max_bytes: TRACE_BYTES });
        let Some((text, spec)) = self.text_and_spec() else { return };
        let job = Job::Check {
            source: source(&text),
            spec: Box::new(spec),
            device: device.choice.clone(),
            arch: None,
            seed: None,
            trace,
        };
        self.start(job, Purpose::Check, text, effects);
    }

    pub(super) fn start_bench(&mut self, effects: &mut Vec<Effect>) {
        let device = self.devices.picked.clone();
        let Some((text, spec)) = self.text_and_spec() else { return };
        // An experiment has parameters of its own; the reference would not fit them.
        let own = self.experiment().is_some();
        let reference = self.exercise().filter(|_| !own).map(|exercise| exercise.reference.as_str());
        // The reference beside itself would say nothing.
        let reference = reference.filter(|reference| *reference != text).map(source);
        let job = Job::Bench {
            source: source(&text),
            spec: Box::new(spec),
            device: device.choice.clone(),
            arch: None,
            seed: None,
            reference,
        };
        self.start(job, Purpose::Bench, text, effects);
    }

    fn text_and_spec(&self) -> Option<(String, gpu_core::spec::Spec)> {
        let desk = self.desk().filter(|desk| desk.loaded)?;
        Some((desk.editor.text().to_owned(), self.spec()?.clone()))
    }

    /// False where nothing was started; a message says why.
    pub(super) fn start(&mut self, job: Job, purpose: Purpose, text: String, effects: &mut Vec<Effect>) -> bool {
        if self.running.is_some() {
            self.toast(ToastKind::Info, "A kernel is running. Stop it first (Ctrl+.)");
            return false;
        }
        let lab = self.devices.picked.lab.clone();
        if lab == LabKey::Here && matches!(self.compiler, Compiler::Missing { .. } | Compiler::InstallFailed { .. }) {
            self.compiler_banner_hidden = false;
            self.toast(ToastKind::Bad, "The CUDA compiler is missing: install it with the button above");
            return false;
        }
        let slot = self.desk.clone();
        let bench = matches!(purpose, Purpose::Bench);
        if let Some(desk) = self.desk_mut()
            && purpose.is_of_the_text()
        {
            desk.verdict.begin();
            if bench {
                desk.bench.begin();
            }
            desk.cases.clear();
            desk.console.clear();
            desk.console_cut = false;
            desk.trouble = None;
            desk.compile_at_s = None;
            desk.judged = desk.editor.version();
            desk.judged_text.clone_from(&text);
            desk.editor.marks.forget_run();
            let results = match &purpose {
                Purpose::Sandbox => Pane::Sandbox,
                _ if bench => Pane::Timing,
                _ => Pane::Verdict,
            };
            self.leave_full_for(results);
            self.view.dock.show(results);
            self.bring_into_view(if bench { Sight::Plots } else { Sight::Verdict });
        }
        self.running = Some(Running {
            job: None,
            device: self.devices.name(&self.devices.picked),
            purpose: purpose.clone(),
            progress: "Compiling".to_owned(),
            done: 0,
            total: 0,
            since_s: self.now_s,
            source: text,
            slot: slot.clone(),
            stopping: false,
        });
        effects.push(Effect::Submit { lab, job: Box::new(job), purpose, slot });
        true
    }

    /// The learner lets a foreign course's script run.
    pub(super) fn allow_script(&mut self, file: &str, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let Some(day) = self.view.day.as_deref().and_then(|id| course.unit_by_id(id)) else { return };
        if let Some(script) =
            day.exercises.iter().flat_map(|exercise| &exercise.scripts).find(|script| script.file == file)
        {
            self.allowed_scripts.insert(script.source.clone());
            self.run_script(file, effects);
        }
    }

    pub(super) fn run_script(&mut self, file: &str, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let Some(day) = self.view.day.as_deref().and_then(|id| course.unit_by_id(id)) else { return };
        let mut scripts = day.exercises.iter().flat_map(|exercise| &exercise.scripts);
        let Some(script) = scripts.find(|script| script.file == file) else { return };
        if !curriculum::is_own_script(&script.source) && !self.allowed_scripts.contains(&script.source) {
            self.dialog =
                Some(Dialog::ConfirmScript { file: file.to_owned(), confined: gpu_core::worker::confines_scripts() });
            return;
        }
        if self.scripts.values().any(|script| script.running) {
            self.toast(ToastKind::Info, "A script is running. Stop it first (Ctrl+.)");
            return;
        }
        let key = ScriptKey { day: day.id.clone(), file: file.to_owned() };
        self.begin_script(&key);
        effects.push(Effect::RunScript { key, source: script.source.clone(), python: self.settings.python.clone() });
    }

    pub(super) fn run_program(&mut self, name: &str, effects: &mut Vec<Effect>) {
        if crate::measure::find(name).is_none() {
            return;
        }
        // Two at a time would take each other's cores.
        if self.is_busy() {
            self.toast(ToastKind::Info, "Something else is running, and both would slow down. Stop it first (Ctrl+.)");
            return;
        }
        let key = ScriptKey::of_program(name);
        self.begin_script(&key);
        effects.push(Effect::RunProgram(key));
    }

    /// The text of the exercise whose kernel decodes, where it was opened.
    pub fn decode_desk(&self) -> Option<&Desk> {
        let day = &self.course.unit(crate::viz::decode_writer::DAY).ok()?.id;
        let is_it = |desk: &&Desk| desk.day == *day && desk.exercise == curriculum::MAIN && desk.experiment.is_none();
        self.desks.values().find(is_it).filter(|desk| desk.loaded)
    }

    /// Lets the small model write, in a process of its own.
    pub(super) fn decode(&mut self, cache: &'static str, own: bool, effects: &mut Vec<Effect>) {
        if self.is_busy() {
            self.toast(ToastKind::Info, "Something else is running, and both would slow down. Stop it first (Ctrl+.)");
            return;
        }
        let kernel = self.decode_desk().filter(|_| own).map(|desk| desk.editor.text().to_owned());
        // Remote devices have a process of their own, which this one cannot start.
        let device = match (&self.devices.picked.lab, &self.devices.picked.choice) {
            (LabKey::Here, DeviceChoice::Gpu(index)) => format!("gpu:{index}"),
            _ => "emulator".to_owned(),
        };
        let key = ScriptKey::of_program(crate::viz::decode_writer::PROGRAM);
        self.begin_script(&key);
        let request = Decoding { cache, kernel, device, data_dir: self.data_dir.clone() };
        effects.push(Effect::Decode { key, request: Box::new(request) });
    }

    /// Counts the open text on the emulator and, with Nsight Compute, on this machine's GPU.
    pub(super) fn profile(&mut self, effects: &mut Vec<Effect>) {
        if self.is_busy() {
            self.toast(ToastKind::Info, "Something else is running, and both would slow down. Stop it first (Ctrl+.)");
            return;
        }
        let LabKey::Here = &self.devices.picked.lab else {
            let text = "Nsight Compute counts on this machine only; run `lockstep profile` on the remote one";
            return self.toast(ToastKind::Info, text);
        };
        let device = match (self.devices.picked.choice.clone(), self.devices.first_gpu()) {
            (DeviceChoice::Gpu(index), _) | (DeviceChoice::Emulator, Some(index)) => format!("gpu:{index}"),
            (DeviceChoice::Emulator, None) => "emulator".to_owned(),
        };
        let Some(desk) = self.desk().filter(|desk| desk.loaded && !crate::sandbox::is_free(&desk.slot)) else {
            return self.toast(ToastKind::Info, "Open an exercise first: its sizes say what is counted");
        };
        if desk.experiment.is_some() {
            return self
                .toast(ToastKind::Info, "An experiment is not profiled: profile its exercise, or Benchmark this one");
        }
        let Some(day) = self.course.unit_by_id(&desk.day) else { return };
        let request = crate::profiled::Request {
            day: day.address.clone(),
            exercise: desk.exercise.clone(),
            kernel: desk.editor.text().to_owned(),
            device,
            data_dir: self.data_dir.clone(),
            content: self.settings.content.clone(),
        };
        let slot = desk.slot.clone();
        if let Some(desk) = self.desk_mut() {
            desk.profiled.begin();
        }
        self.leave_full_for(Pane::Counters);
        self.view.dock.show(Pane::Counters);
        effects.push(Effect::Profile { slot, request: Box::new(request) });
    }

    /// Whether a kernel, a script or a profiler runs.
    fn is_busy(&self) -> bool {
        self.running.is_some() || self.scripts.values().any(|script| script.running) || self.is_profiling()
    }

    fn is_profiling(&self) -> bool {
        self.desks.values().any(|desk| desk.profiled.is_pending())
    }

    fn begin_script(&mut self, key: &ScriptKey) {
        let before = self.scripts.remove(key);
        self.scripts.insert(key.clone(), ScriptRun::after(before));
    }

    pub(super) fn stop(&mut self, effects: &mut Vec<Effect>) {
        if self.scripts.values().any(|script| script.running) || self.is_profiling() {
            effects.push(Effect::StopScript);
        }
        if let Some(running) = &mut self.running {
            running.stopping = true;
            "Stopping".clone_into(&mut running.progress);
            if let Some(job) = &running.job {
                effects.push(Effect::Stop(job.clone()));
            }
        }
    }

    /// When what was typed is compiled next, if nothing stands in the way.
    pub(super) fn next_compile_s(&self) -> Option<f64> {
        // A run compiles anyway, and the compiler would only slow it down.
        if self.running.is_some() || !matches!(self.compiler, Compiler::Found { .. }) {
            return None;
        }
        let desk = self.desk()?;
        let due_s = desk.compile_at_s?;
        // One at a time: a small kernel is done before stopping it would be, and stopping costs a warm worker.
        Some(if desk.compiling.is_some() { due_s.max(desk.compiling_since_s + COMPILE_PATIENCE_S) } else { due_s })
    }

    /// Compiles what was typed, for its errors.
    pub(super) fn compile_if_due(&mut self, effects: &mut Vec<Effect>) {
        let now_s = self.now_s;
        if self.next_compile_s().is_none_or(|at_s| at_s > now_s) {
            return;
        }
        let arch = self.arch();
        let options = self.spec().map(|spec| spec.options.clone()).unwrap_or_default();
        let slot = self.desk.clone();
        let Some(desk) = self.desk_mut() else { return };
        desk.compile_at_s = None;
        desk.compiled.begin();
        if let Some(older) = desk.compiling.take() {
            effects.push(Effect::Stop(older));
        }
        desk.compiling_since_s = now_s;
        desk.compiling_version = desk.editor.version();
        let source = Source { options, ..source(desk.editor.text()) };
        let job = Job::Compile { source, arch, emit: Emit::default() };
        effects.push(Effect::Submit { lab: LabKey::Here, job: Box::new(job), purpose: Purpose::Diagnose, slot });
    }

    /// What the open text is compiled for: what its exercise asks for, on the picked device.
    pub fn arch(&self) -> String {
        let picked = self.devices.info(&self.devices.picked);
        let info = picked.or_else(|| self.devices.info(&crate::state::DeviceKey::emulator()));
        let info = info.cloned().unwrap_or_else(EmulatorDevice::describe);
        let asked = self.spec().and_then(|spec| Choice::of(&info, spec).ok());
        asked.map_or(info.arch, |choice| choice.arch.to_string())
    }

    pub(super) fn predict(&mut self, day: String, question: String, run: PredictRun, effects: &mut Vec<Effect>) {
        if let Err(problem) = self.start_prediction(&day, &question, run, effects) {
            self.measured = Some(Measured { day, question, value: Err(problem) });
        }
    }

    /// The error says why there is no run; the question stays open then.
    fn start_prediction(
        &mut self,
        day: &str,
        question: &str,
        run: PredictRun,
        effects: &mut Vec<Effect>,
    ) -> Result<(), String> {
        let course = self.course.clone();
        let day = course.unit_by_id(day).ok_or("the course no longer has this day")?;
        let exercise = day.exercise_by_key(&run.exercise).ok_or("the day no longer has this exercise")?;
        let mut spec = &exercise.spec;
        let text = match &run.kernel {
            PredictKernel::Learner => {
                let own = self.desk().filter(|desk| desk.day == day.id && desk.exercise == run.exercise);
                own.map(|desk| desk.editor.text().to_owned()).ok_or("This runs your kernel. Open that day first")?
            }
            PredictKernel::Solution => exercise.solution().to_owned(),
            PredictKernel::Reference => exercise.reference.clone(),
            PredictKernel::Experiment { name, knobs } => {
                let (_, experiment) = day.experiment(name).ok_or("the day no longer has this experiment")?;
                spec = experiment.spec.as_ref().unwrap_or(spec);
                experiment.with(knobs)?
            }
        };
        let asked = day.quiz.question(question).and_then(|question| match &question.kind {
            Kind::Predict { quantity: name, .. } => quantity(name),
            _ => None,
        });
        // What the emulator counts is asked of it also where a GPU is picked: a GPU gives times only.
        let device = match asked.map(|quantity| quantity.needs) {
            Some(Needs::Gpu) => self.devices.picked.choice.clone(),
            _ => DeviceChoice::Emulator,
        };
        if device == DeviceChoice::Emulator && asked.is_some_and(|quantity| quantity.needs == Needs::Gpu) {
            return Err("Only a GPU can measure this time: pick one above. Without one the day is complete without this question".to_owned());
        }
        let (source, spec) = (source(&text), Box::new(spec.clone()));
        let job = match run.action {
            PredictAction::Check => Job::Check { source, spec, device, arch: None, seed: None, trace: None },
            PredictAction::Bench => Job::Bench { source, spec, device, arch: None, seed: None, reference: None },
        };
        if self.running.is_some() {
            return Err("A kernel is running. Try again when it has finished".to_owned());
        }
        let (day, question) = (day.id.clone(), question.to_owned());
        if self.start(job, Purpose::Predict { day, question, run: Box::new(run) }, text, effects) {
            Ok(())
        } else {
            Err("It needs the CUDA compiler: install it with the button above".to_owned())
        }
    }

    pub(super) fn next_hint(&mut self, effects: &mut Vec<Effect>) {
        let steps = self.exercise().map_or(0, |exercise| exercise.hints.steps.len());
        let shown = self.hints_shown();
        if shown >= steps {
            let text = if steps == 0 { "This exercise has no hints" } else { "That was the last hint" };
            return self.toast(ToastKind::Info, text);
        }
        let course = self.course.clone();
        let (Some(day), Some(desk)) = (self.view.day.as_deref().and_then(|id| course.unit_by_id(id)), self.desk())
        else {
            return;
        };
        let key = desk.exercise.clone();
        self.progress.exercise_mut(day, &key).hints_shown = shown as u32 + 1;
        self.view.step = day.step_of_exercise(&key);
        self.view.dock.show(Pane::Lesson);
        self.bring_into_view(Sight::Hint);
        effects.push(Effect::SaveProgress);
    }

    pub(super) fn unlock_solution(&mut self, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let (Some(day), Some(desk)) = (self.view.day.as_deref().and_then(|id| course.unit_by_id(id)), self.desk())
        else {
            return;
        };
        let key = desk.exercise.clone();
        self.progress.exercise_mut(day, &key).solution_seen = true;
        self.show_pane(Pane::Solution, effects);
        effects.push(Effect::SaveProgress);
    }

    pub(super) fn answered(&mut self, question: &str, correct: bool, given: Given, effects: &mut Vec<Effect>) {
        let Some(day) = self.view.day.clone() else { return };
        effects.extend(self.answered_of(&day, question, correct, given));
    }

    /// An answer to a question of any day: a measured one may come when another day is open.
    pub fn answered_of(&mut self, day: &str, question: &str, correct: bool, given: Given) -> Vec<Effect> {
        let course = self.course.clone();
        let Some(day) = course.unit_by_id(day) else { return Vec::new() };
        self.progress.answered(day, question, correct, given, self.today);
        let mut effects = vec![Effect::SaveProgress];
        self.finish_last_if_complete(&day.id, &mut effects);
        effects
    }

    /// A further answer: the first one counts, but a day that lacked nothing else is done now.
    pub(super) fn tried_again(&mut self, day: Option<&str>, question: &str, given: Given, effects: &mut Vec<Effect>) {
        self.progress.tried_again(day, question, given);
        effects.push(Effect::SaveProgress);
        if let Some(day) = day {
            self.finish_last_if_complete(day, effects);
        }
    }

    pub(super) fn reflect(&mut self, id: &str, text: String, effects: &mut Vec<Effect>) {
        let Some(day) = self.view.day.clone() else { return };
        self.progress.days.entry(day).or_default().reflections.insert(id.to_owned(), text);
        effects.push(Effect::SaveProgress);
    }

    /// A day's Verify is finished when the check passed and every question was answered that can be without a GPU; the
    /// last part of any other unit when it was shown, too, and all its exercises passed. Of any unit: a run or a review
    /// may end while another one is open.
    pub(super) fn finish_last_if_complete(&mut self, day: &str, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let Some(day) = course.unit_by_id(day) else { return };
        let progress = self.progress.days.get(&day.id);
        let mut asked = day.quiz.questions.iter().filter(|question| !question.needs_gpu());
        let answered = asked.all(|q| progress.is_some_and(|p| p.answers.contains_key(&q.id)));
        let last = day.last_step();
        let passed = match day.day() {
            Some(_) => day.exercise().is_none_or(|exercise| self.progress.has_passed(day, &exercise.key)),
            None => {
                let shown = self.view.day.as_deref() == Some(&day.id) && self.view.step == last;
                shown && day.exercise_keys().all(|key| self.progress.has_passed(day, key))
            }
        };
        if day.is_written() && answered && passed && !self.progress.is_step_done(day, last) {
            self.progress.step_done(day, last);
            effects.push(Effect::SaveProgress);
        }
    }

    pub(super) fn install_compiler(&mut self, effects: &mut Vec<Effect>) {
        self.compiler = Compiler::Installing { what: "NVIDIA's compiler".to_owned(), done_bytes: 0, total_bytes: 0 };
        if let Some(Dialog::Settings(_)) = self.dialog {
            self.dialog = None;
        }
        effects.push(Effect::InstallCompiler);
    }

    /// The command that the link to a place stands for. None: the place is in no text of the learner's.
    pub fn jump_to(place: &SourceLine) -> Option<Command> {
        (place.file == KERNEL_NAME).then_some(Command::GoToLine { line: place.line, column: place.column })
    }
}
