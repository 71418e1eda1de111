//! One device's queue: a thread that owns the device's worker, and what to do when it hangs or dies.

use super::local::guarded;
use super::messages::{FromDevice, Task, ToDevice};
use super::pipeline;
use super::pool::Pool;
use super::process::{Process, Waited};
use super::shared::Shared;
use crate::bench::ceilings;
use crate::choice::Choice;
use crate::compile::{CompileReport, GivenKernel, Severity, Toolchain, declared, locate, signature};
use crate::device::{DeviceChoice, DeviceInfo, RunError};
use crate::job::{Emit, Event, Job, JobId, Outcome, Source};
use crate::spec::{Given, Spec};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// Creating a CUDA context takes 0.2 s warm, many seconds on a machine with many GPUs or none initialised.
const OPEN_TIME: Duration = Duration::from_secs(60);
/// How often the limit of a run may pass by the clock before its worker is taken for lost: the emulator ends a run by itself
/// after as much work, and on a busy machine that takes longer.
const EMULATOR_PATIENCE: u32 = 4;
/// How long a stopped task may take to end by itself. A kernel on a GPU cannot be stopped, only killed.
const STOP_GRACE_EMULATOR: Duration = Duration::from_millis(1000);
const STOP_GRACE_GPU: Duration = Duration::from_millis(200);

type Worker = Process<ToDevice, FromDevice>;

/// A job on its way to a device.
pub struct LaneJob {
    pub id: JobId,
    pub job: Job,
    pub stop: Arc<AtomicBool>,
    pub submitted: Instant,
}

/// How a kernel is to be compiled.
struct Wanted {
    /// As asked for; None: what exercise and device agree on.
    arch: Option<String>,
    /// The learner's kernel, whose report goes out.
    own: bool,
    /// For a benchmark, where the emulator is no substitute.
    timed: bool,
}

/// A device's thread.
pub struct Lane {
    shared: Arc<Shared>,
    pool: Arc<Pool>,
    choice: DeviceChoice,
    worker: Option<(Worker, DeviceInfo)>,
    last: Option<Last>,
}

/// What was compiled last for a free run. A model that decodes asks for the same kernel thousands of times, and reading its
/// text and its report anew took as long as the launch.
struct Last {
    source: Source,
    spec: Spec,
    asked: Option<String>,
    on: String,
    toolchain: Toolchain,
    report: CompileReport,
}

impl Lane {
    pub fn new(shared: Arc<Shared>, pool: Arc<Pool>, choice: DeviceChoice) -> Self {
        Lane { shared, pool, choice, worker: None, last: None }
    }

    /// Takes jobs until the queue closes. Keeps the worker warm in between.
    pub fn serve(mut self, queue: &Receiver<LaneJob>) {
        // A failure here is reported by the first job that meets it.
        let _ = self.open(&self.shared.clone().closing);
        while let Ok(job) = queue.recv() {
            if self.shared.is_closing() {
                break;
            }
            let LaneJob { id, job, stop, submitted } = job;
            let outcome = guarded(|| self.perform(id, job, &stop, submitted));
            let lost = self.worker.is_none();
            self.shared.emit(id, Event::Finished(outcome));
            if lost {
                let _ = self.open(&self.shared.clone().closing);
            }
        }
    }

    fn role(&self) -> String {
        match self.choice {
            DeviceChoice::Emulator => "emulator".to_owned(),
            DeviceChoice::Gpu(ordinal) => format!("gpu {ordinal}"),
        }
    }

    /// The worker's device; starts the worker when there is none.
    fn open(&mut self, stop: &AtomicBool) -> Result<DeviceInfo, Outcome> {
        if let Some((_, info)) = &self.worker {
            return Ok(info.clone());
        }
        let mut command = self.shared.worker_command("device");
        if self.choice == DeviceChoice::Emulator {
            super::pool::clear_environment(&mut command);
        }
        let worker: Worker = Process::spawn(command, false).map_err(Outcome::Environment)?;
        self.shared.note_worker(&self.role(), worker.pid(), false);
        let open =
            ToDevice::Open { choice: self.choice.clone(), memory_bytes: self.shared.limits().emulator_memory_bytes };
        let _ = worker.send(&open);
        let outcome = match worker.wait(Instant::now() + OPEN_TIME, Some(stop)) {
            Waited::Message(FromDevice::Opened(Ok(info))) => {
                self.worker = Some((worker, info.clone()));
                return Ok(info);
            }
            Waited::Message(FromDevice::Opened(Err(error))) => outcome_of(error),
            Waited::Stopped => Outcome::Stopped,
            Waited::TimedOut => Outcome::Environment(format!(
                "the device did not open within {} s; see `lockstep doctor`",
                OPEN_TIME.as_secs()
            )),
            Waited::Message(_) => Outcome::Environment("the device's worker answered out of turn".to_owned()),
            Waited::Ended(error) => {
                let mut worker = worker;
                let exit = worker.end_within(Duration::from_millis(300));
                self.shared.forget_worker(worker.pid());
                return Err(Outcome::Environment(format!(
                    "the device's worker ended before it was ready ({exit}; {error}){}",
                    worker.last_words()
                )));
            }
        };
        self.shared.forget_worker(worker.pid());
        Err(outcome)
    }

    fn perform(&mut self, id: JobId, job: Job, stop: &AtomicBool, submitted: Instant) -> Result<Outcome, Outcome> {
        let limits = self.shared.limits();
        let (task, time, compile_ms) = match job {
            Job::Check { source, spec, arch, seed, trace, .. } => {
                let branch = if arch.is_none() { self.branch(&spec, stop)? } else { None };
                let compiled = self.compile(id, &source, &spec, Wanted { arch, own: true, timed: false }, stop)?;
                let mut ms = compiled.compile_ms;
                let branch = match branch {
                    None => None,
                    Some(arch) => {
                        let wanted = Wanted { arch: Some(arch), own: false, timed: false };
                        match self.compile(id, &source, &spec, wanted, stop) {
                            Ok(branch) => Some(Box::new(branch)),
                            // A compiler older than the architecture: what the GPU takes is judged all the same.
                            Err(Outcome::Environment(_)) => None,
                            Err(other) => return Err(other),
                        }
                    }
                };
                ms += branch.as_ref().map_or(0.0, |branch| branch.compile_ms);
                (Task::Check { compiled, branch, spec: *spec, seed, trace }, limits.run_time, ms)
            }
            Job::Run { source, spec, arch, seed, trace, options, .. } => {
                let compiled = self.compile_free(
                    id,
                    &source,
                    &spec,
                    Wanted { arch: arch.clone(), own: true, timed: false },
                    stop,
                )?;
                let ms = compiled.compile_ms;
                let against = match &options.against {
                    Some(other) => {
                        let other =
                            self.compile_free(id, other, &spec, Wanted { arch, own: false, timed: false }, stop);
                        Some(Box::new(other.map_err(|outcome| of_other("the kernel to compare with", outcome))?))
                    }
                    None => None,
                };
                let time = crate::judge::outer_limit(&options, limits.run_time);
                (Task::Run { compiled, against, spec: *spec, seed, trace, options }, time, ms)
            }
            Job::Bench { source, spec, arch, seed, reference, .. } => {
                let compiled =
                    self.compile(id, &source, &spec, Wanted { arch: arch.clone(), own: true, timed: true }, stop)?;
                let ms = compiled.compile_ms;
                let reference = match reference {
                    Some(reference) => Some(Box::new(
                        self.compile(id, &reference, &spec, Wanted { arch, own: false, timed: true }, stop)
                            .map_err(|outcome| of_other("the reference", outcome))?,
                    )),
                    None => None,
                };
                let library = self.library();
                let ceilings = self.worker.as_ref().and_then(|(_, info)| {
                    ceilings::load(&self.shared.config.data_dir, &info.name, info.driver_version.as_deref())
                        .map(Box::new)
                });
                (Task::Bench { compiled, reference, spec: *spec, seed, library, ceilings }, limits.bench_time, ms)
            }
            Job::Ceilings { .. } => (Task::Ceilings { probes: self.probes(stop)? }, limits.bench_time, 0.0),
            Job::Devices | Job::Compile { .. } => {
                return Err(Outcome::Environment("this job needs no device".to_owned()));
            }
        };
        self.run(id, task, time, stop, compile_ms, submitted)
    }

    /// The exercise's own architecture, where this device takes another one.
    fn branch(&mut self, spec: &Spec, stop: &AtomicBool) -> Result<Option<String>, Outcome> {
        let info = self.open(stop)?;
        let choice = Choice::of(&info, spec).map_err(Outcome::BadRequest)?;
        Ok(choice.branch.map(|branch| branch.to_string()))
    }

    /// The probes of `bench::ceilings`, compiled for this GPU; None without a compiler.
    fn probes(&mut self, stop: &AtomicBool) -> Result<Option<CompileReport>, Outcome> {
        let info = self.open(stop)?;
        if info.choice == DeviceChoice::Emulator || self.shared.toolchain().is_err() {
            return Ok(None);
        }
        let source = ceilings::source();
        let report = pipeline::compile(&self.shared, &self.pool, &source, &info.arch, Emit::default(), stop)?;
        let first = report.first_error().map(|first| first.message.clone()).unwrap_or_default();
        match report.succeeded {
            true => Ok(Some(report)),
            false => Err(Outcome::Environment(format!("the probes do not compile for {}: {first}", info.arch))),
        }
    }

    /// cuBLASLt on this machine, for a GPU to compare with.
    fn library(&self) -> Option<PathBuf> {
        if self.choice == DeviceChoice::Emulator {
            return None;
        }
        let compiler = self.shared.toolchain().ok().map(|toolchain| toolchain.nvrtc);
        locate::cublas_lt(compiler.as_deref(), &self.shared.config.data_dir)
    }

    /// Compiles the kernels of a job for this device.
    fn compile(
        &mut self,
        id: JobId,
        source: &Source,
        spec: &Spec,
        wanted: Wanted,
        stop: &AtomicBool,
    ) -> Result<CompileReport, Outcome> {
        let mut report = self.compile_text(id, source, spec, &wanted, stop)?;
        signature::check(&report, spec, signature::EXERCISE).map_err(Outcome::BadRequest)?;
        self.compile_given(&mut report, source, spec, stop)?;
        Ok(report)
    }

    /// As `compile`, for kernels whose names may be C++'s, and instances of templates that the source does not name itself.
    fn compile_free(
        &mut self,
        id: JobId,
        source: &Source,
        spec: &Spec,
        wanted: Wanted,
        stop: &AtomicBool,
    ) -> Result<CompileReport, Outcome> {
        let started = Instant::now();
        let on = self.open(stop)?.arch;
        let toolchain = self.shared.toolchain().map_err(Outcome::Environment)?;
        if let Some(last) = self.last.as_ref()
            && (&last.asked, &last.on, &last.toolchain) == (&wanted.arch, &on, &toolchain)
            && (&last.source, &last.spec) == (source, spec)
        {
            let compile_ms = started.elapsed().as_secs_f64() * 1e3;
            let report = CompileReport { from_cache: true, compile_ms, ..last.report.clone() };
            if wanted.own {
                self.shared.emit(id, Event::Compiled(Box::new(report.clone())));
            }
            return Ok(report);
        }
        let (asked, text) = (wanted.arch.clone(), source);
        let own = spec.steps.iter().filter(|step| step.given.is_none());
        let source = own.fold(source.clone(), |source, step| declared::instantiated(&source, &step.entry));
        let mut report = self.compile_text(id, &source, spec, &wanted, stop)?;
        let named = signature::named(spec, &report.ptx);
        signature::check(&report, &named, "spec").map_err(Outcome::BadRequest)?;
        self.compile_given(&mut report, &source, spec, stop)?;
        let (source, spec, report_of) = (text.clone(), spec.clone(), report.clone());
        self.last = Some(Last { source, spec, asked, on, toolchain, report: report_of });
        Ok(report)
    }

    /// Compiles the learner's text, and looks for what its comments and declarations say.
    fn compile_text(
        &mut self,
        id: JobId,
        source: &Source,
        spec: &Spec,
        wanted: &Wanted,
        stop: &AtomicBool,
    ) -> Result<CompileReport, Outcome> {
        let info = self.open(stop)?;
        let arch = match &wanted.arch {
            Some(asked) => asked.clone(),
            None => choose_arch(&info, spec, wanted.timed)?,
        };
        let mut source = source.clone();
        let missing = spec.options.iter().filter(|option| !source.options.contains(option)).cloned();
        source.options.extend(missing.collect::<Vec<_>>());
        let mut report = pipeline::compile(&self.shared, &self.pool, &source, &arch, Emit::default(), stop)?;
        if wanted.own {
            self.shared.emit(id, Event::Compiled(Box::new(report.clone())));
        }
        if !report.succeeded {
            return Err(Outcome::CompileErrors(report.diagnostics));
        }
        report.read(&source).map_err(Outcome::BadRequest)?;
        Ok(report)
    }

    /// Compiles the kernels of the course apart from the learner's text, but as that is, and adds them to its report.
    fn compile_given(
        &mut self,
        report: &mut CompileReport,
        own: &Source,
        spec: &Spec,
        stop: &AtomicBool,
    ) -> Result<(), Outcome> {
        for Given { file, text } in spec.given() {
            let source = Source {
                name: file.clone(),
                text: text.clone(),
                headers: own.headers.clone(),
                options: spec.options.clone(),
            };
            let compiled = pipeline::compile(&self.shared, &self.pool, &source, &report.arch, Emit::default(), stop)?;
            if !compiled.succeeded {
                let first = compiled.first_error().map(|found| format!("line {}: {}", found.line, found.message));
                let first = first.unwrap_or_else(|| "the compiler does not say why".to_owned());
                let message = format!("the exercise's own kernel `{file}` does not compile: {first}");
                return Err(Outcome::Environment(message));
            }
            report.given.push(GivenKernel { file: file.clone(), report: compiled });
        }
        signature::check_given(report, spec).map_err(Outcome::Environment)
    }

    /// Sends the task and passes its events on, until it is done, stopped, too slow or dead.
    fn run(
        &mut self,
        id: JobId,
        task: Task,
        time: Duration,
        stop: &AtomicBool,
        compile_ms: f64,
        submitted: Instant,
    ) -> Result<Outcome, Outcome> {
        let Some((mut worker, info)) = self.worker.take() else {
            return Err(Outcome::Environment("the device's worker is gone; try again".to_owned()));
        };
        let role = self.role();
        self.shared.note_worker(&role, worker.pid(), true);
        let large = large(&task, self.choice == DeviceChoice::Emulator);
        let task = ToDevice::Task { task: Box::new(task), console_bytes: self.shared.limits().console_bytes };
        worker.send(&task).map_err(|error| Outcome::Environment(error.to_string()))?;
        // The emulator keeps its own limit, which a busy machine stretches.
        let time = if self.choice == DeviceChoice::Emulator { time.saturating_mul(EMULATOR_PATIENCE) } else { time };
        let mut deadline = Instant::now() + time;
        let mut stopping = false;
        let outcome = loop {
            match worker.wait(deadline, (!stopping).then_some(stop)) {
                Waited::Message(FromDevice::Event(event)) => {
                    // Printing is no progress: an endless loop may print.
                    if !stopping && !matches!(event, Event::Console(_)) {
                        deadline = Instant::now() + time;
                    }
                    if let Event::Ceilings(measured) = &event
                        && let Err(error) = ceilings::save(&self.shared.config.data_dir, measured)
                    {
                        self.shared.emit(id, Event::Console(format!("the ceilings could not be kept: {error}\n")));
                    }
                    self.shared.emit(id, with_times(event, compile_ms, submitted));
                }
                Waited::Message(FromDevice::Done(result)) => {
                    let keep = !result.as_ref().is_err_and(|error| error.loses(info.kind));
                    let outcome = match result {
                        _ if stopping => Outcome::Stopped,
                        Ok(()) => Outcome::Done,
                        Err(error) => outcome_of(error),
                    };
                    if keep {
                        self.shared.note_worker(&role, worker.pid(), false);
                        self.worker = Some((worker, info));
                        return Ok(outcome);
                    }
                    break outcome;
                }
                Waited::Message(_) => {}
                Waited::Stopped if self.shared.is_closing() => break Outcome::Stopped,
                Waited::Stopped => {
                    let _ = worker.send(&ToDevice::Stop);
                    stopping = true;
                    deadline = Instant::now()
                        + if self.choice == DeviceChoice::Emulator { STOP_GRACE_EMULATOR } else { STOP_GRACE_GPU };
                }
                Waited::TimedOut if stopping => break Outcome::Stopped,
                Waited::TimedOut => {
                    let seconds = time.as_secs_f64();
                    let ended = format!("nothing was finished within {seconds:.0} s, so the run was ended");
                    break Outcome::LimitExceeded(match large {
                        Some(large) => format!(
                            "{ended}. {large}: filling and comparing them alone can take so long. Choose a smaller size, or \
                             allow more time"
                        ),
                        None => format!(
                            "{ended}. Unless this machine is busy, look for a loop that never ends or a barrier that not all \
                             threads reach"
                        ),
                    });
                }
                Waited::Ended(_) if stopping => break Outcome::Stopped,
                Waited::Ended(error) => {
                    let exit = worker.end_within(Duration::from_millis(300));
                    break Outcome::Crashed(match exit.ended_outside() {
                        Some(how) => {
                            format!("the worker of {} {how} ({exit}). A fresh one is started: try again", info.name)
                        }
                        None => format!(
                            "the worker of {} died during the run ({exit}; {error}){}. A fresh one is started: try again",
                            info.name,
                            worker.last_words()
                        ),
                    });
                }
            }
        };
        self.shared.forget_worker(worker.pid());
        Ok(outcome)
    }
}

/// What to compile for where nobody asks. The emulator serves where the device cannot, but it has no times.
fn choose_arch(info: &DeviceInfo, spec: &Spec, timed: bool) -> Result<String, Outcome> {
    let Choice { arch, beyond, .. } = Choice::of(info, spec).map_err(Outcome::BadRequest)?;
    match beyond {
        Some(why) if timed => {
            Err(Outcome::BadRequest(format!("{why}. Choose the emulator, which counts on any machine")))
        }
        _ => Ok(arch.to_string()),
    }
}

/// A verdict's times as the learner lived them: from the job's submission, compiling included.
fn with_times(event: Event, compile_ms: f64, submitted: Instant) -> Event {
    match event {
        Event::Verdict(mut verdict) => {
            verdict.compile_ms = compile_ms;
            verdict.total_ms = submitted.elapsed().as_secs_f64() * 1e3;
            Event::Verdict(verdict)
        }
        other => other,
    }
}

fn outcome_of(error: RunError) -> Outcome {
    match error {
        RunError::BadRequest(why) => Outcome::BadRequest(why),
        RunError::Environment(why) => Outcome::Environment(why),
        RunError::Sticky(why) => Outcome::Crashed(why),
        RunError::Stopped => Outcome::Stopped,
        RunError::Limit(why) => Outcome::LimitExceeded(why),
    }
}

/// What became of a kernel that is not the learner's.
fn of_other(which: &str, outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::CompileErrors(found) => {
            let first = found.iter().find(|found| found.severity == Severity::Error).or(found.first());
            let first = first.map(|found| format!("{}:{}: {}", found.file, found.line, found.message));
            Outcome::Environment(format!("{which} does not compile: {}", first.unwrap_or_default()))
        }
        Outcome::BadRequest(why) => Outcome::BadRequest(format!("{which}: {why}")),
        other => other,
    }
}

/// Lists the devices, in a worker of its own: asking CUDA costs 0.1 s and may crash in a broken driver.
pub fn list_devices(shared: &Shared, stop: &AtomicBool) -> Result<Vec<DeviceInfo>, Outcome> {
    let worker: Worker = Process::spawn(shared.worker_command("device"), false).map_err(Outcome::Environment)?;
    let _ = worker.send(&ToDevice::List);
    match worker.wait(Instant::now() + OPEN_TIME, Some(stop)) {
        Waited::Message(FromDevice::Devices(devices)) => {
            shared.update_status(|status| status.devices = Some(devices.clone()));
            Ok(devices)
        }
        Waited::Stopped => Err(Outcome::Stopped),
        Waited::Message(_) => {
            Err(Outcome::Environment("the worker that lists devices answered out of turn".to_owned()))
        }
        Waited::TimedOut => Err(Outcome::Environment(format!(
            "the devices could not be listed within {} s; is the GPU's driver hanging? See `lockstep doctor`",
            OPEN_TIME.as_secs()
        ))),
        Waited::Ended(error) => Err(Outcome::Environment(format!(
            "the worker that lists devices ended early ({error}){}",
            worker.last_words()
        ))),
    }
}

/// The largest of a task's sizes with the bytes of its arrays, where they take longer than most kernels.
fn large(task: &Task, is_emulated: bool) -> Option<String> {
    const LARGE_BYTES: u64 = 1 << 30;
    let (spec, sizes) = match task {
        Task::Run { spec, options, .. } if options.sizes.is_empty() => (spec, spec.check.get(..1)?),
        Task::Run { spec, options, .. } => (spec, &options.sizes[..]),
        Task::Check { spec, .. } | Task::Bench { spec, .. } if is_emulated => (spec, &spec.emulator_check[..]),
        Task::Check { spec, .. } | Task::Bench { spec, .. } => (spec, &spec.check[..]),
        Task::Ceilings { .. } => return None,
    };
    let bytes = |size| spec.resolve(size).ok().map(|resolved| (resolved.buffer_bytes(), size));
    let (bytes, size) = sizes.iter().filter_map(bytes).max_by_key(|(bytes, _)| *bytes)?;
    let name = crate::spec::size_name(size);
    (bytes >= LARGE_BYTES).then(|| format!("At {name} the arrays have {:.1} GB", bytes as f64 / 1e9))
}
