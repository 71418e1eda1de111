//! One device's queue: a thread that owns the device's worker, and what to do when it hangs or dies.

use super::local::guarded;
use super::messages::{FromDevice, Task, ToDevice};
use super::pipeline;
use super::pool::Pool;
use super::process::{Process, Waited};
use super::shared::Shared;
use crate::bench::ceilings;
use crate::compile::options::Arch;
use crate::compile::{CompileReport, Severity, arrays, declared, locate, signature};
use crate::device::{DeviceChoice, DeviceInfo, RunError};
use crate::job::{Emit, Event, Job, JobId, Outcome, Source};
use crate::spec::{Directive, Spec, launch_directives};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// Creating a CUDA context takes 0.2 s warm, many seconds on a machine with many GPUs or none initialised.
const OPEN_TIME: Duration = Duration::from_secs(60);
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

/// A device's thread.
pub struct Lane {
    shared: Arc<Shared>,
    pool: Arc<Pool>,
    choice: DeviceChoice,
    worker: Option<(Worker, DeviceInfo)>,
}

impl Lane {
    pub fn new(shared: Arc<Shared>, pool: Arc<Pool>, choice: DeviceChoice) -> Self {
        Lane { shared, pool, choice, worker: None }
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
        let worker: Worker =
            Process::spawn(self.shared.worker_command("device"), false).map_err(Outcome::Environment)?;
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
                    said(&worker.stderr())
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
                let compiled = self.compile(id, &source, &spec, arch, stop, true)?;
                let ms = compiled.compile_ms;
                (Task::Check { compiled, spec: *spec, seed, trace }, limits.run_time, ms)
            }
            Job::Run { source, spec, arch, seed, trace, options, .. } => {
                let compiled = self.compile_free(id, &source, &spec, arch.clone(), stop, true)?;
                let ms = compiled.compile_ms;
                let against = match &options.against {
                    Some(other) => {
                        let other = self.compile_free(id, other, &spec, arch, stop, false);
                        Some(Box::new(other.map_err(|outcome| of_other("the kernel to compare with", outcome))?))
                    }
                    None => None,
                };
                let time = crate::judge::outer_limit(&options, limits.run_time);
                (Task::Run { compiled, against, spec: *spec, seed, trace, options }, time, ms)
            }
            Job::Bench { source, spec, arch, seed, reference, .. } => {
                let compiled = self.compile(id, &source, &spec, arch.clone(), stop, true)?;
                let ms = compiled.compile_ms;
                let reference = match reference {
                    Some(reference) => Some(Box::new(
                        self.compile(id, &reference, &spec, arch, stop, false)
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

    /// Compiles for this device. `own` for the learner's kernel, whose report goes out.
    fn compile(
        &mut self,
        id: JobId,
        source: &Source,
        spec: &Spec,
        arch: Option<String>,
        stop: &AtomicBool,
        own: bool,
    ) -> Result<CompileReport, Outcome> {
        let mut report = self.compile_only(id, source, spec, arch, stop, own)?;
        signature::check(&report.ptx, spec).map_err(Outcome::BadRequest)?;
        report.launch_directives = directives(source)?;
        Ok(report)
    }

    fn compile_only(
        &mut self,
        id: JobId,
        source: &Source,
        spec: &Spec,
        arch: Option<String>,
        stop: &AtomicBool,
        own: bool,
    ) -> Result<CompileReport, Outcome> {
        let info = self.open(stop)?;
        let arch = choose_arch(&info, spec.requires.as_deref(), arch)?;
        let mut source = source.clone();
        let missing = spec.options.iter().filter(|option| !source.options.contains(option)).cloned();
        source.options.extend(missing.collect::<Vec<_>>());
        let mut report = pipeline::compile(&self.shared, &self.pool, &source, &arch, Emit::default(), stop)?;
        if own {
            self.shared.emit(id, Event::Compiled(Box::new(report.clone())));
        }
        if !report.succeeded {
            return Err(Outcome::CompileErrors(report.diagnostics));
        }
        report.declared = declared::kernels(&source.text);
        report.arrays = arrays::arrays(&source.text, &source.options);
        Ok(report)
    }

    /// As `compile`, for a kernel whose name may be C++'s, and an instance of a template that the source does not name itself.
    fn compile_free(
        &mut self,
        id: JobId,
        source: &Source,
        spec: &Spec,
        arch: Option<String>,
        stop: &AtomicBool,
        own: bool,
    ) -> Result<CompileReport, Outcome> {
        let source = declared::instantiated(source, &spec.entry);
        let mut report = self.compile_only(id, &source, spec, arch, stop, own)?;
        let mut named = spec.clone();
        named.entry = signature::entry_called(&report.ptx, &spec.entry).unwrap_or(named.entry);
        signature::check(&report.ptx, &named).map_err(Outcome::BadRequest)?;
        report.launch_directives = directives(&source)?;
        Ok(report)
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
        let task = ToDevice::Task { task: Box::new(task), console_bytes: self.shared.limits().console_bytes };
        worker.send(&task).map_err(|error| Outcome::Environment(error.to_string()))?;
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
                    break Outcome::LimitExceeded(format!(
                        "nothing was finished within {:.0} s, so the run was ended. Look for a loop that never ends or \
                         a barrier that not all threads reach. Where the arrays have billions of elements, that alone \
                         can take so long: choose a smaller size, or allow more time",
                        time.as_secs_f64()
                    ));
                }
                Waited::Ended(_) if stopping => break Outcome::Stopped,
                Waited::Ended(error) => {
                    let exit = worker.end_within(Duration::from_millis(300));
                    break Outcome::Crashed(format!(
                        "the worker of {} died during the run ({exit}; {error}){}. A fresh one is started: try again",
                        info.name,
                        said(&worker.stderr())
                    ));
                }
            }
        };
        self.shared.forget_worker(worker.pid());
        Ok(outcome)
    }
}

fn directives(source: &Source) -> Result<Vec<Directive>, Outcome> {
    launch_directives(&source.text, &source.options)
        .map_err(|(line, message)| Outcome::BadRequest(format!("{}:{line}: {message}", source.name)))
}

/// The architecture to compile for: the one asked for, else the device's own if the exercise runs there.
fn choose_arch(info: &DeviceInfo, requires: Option<&str>, asked: Option<String>) -> Result<String, Outcome> {
    if let Some(asked) = asked {
        return Ok(asked);
    }
    let required = match requires {
        Some(text) => Some(Arch::parse(text).ok_or_else(|| {
            Outcome::BadRequest(format!(
                "the exercise requires `{text}`, which is no architecture; write it as in sm_90a"
            ))
        })?),
        None => None,
    };
    if info.choice == DeviceChoice::Emulator {
        return Ok(Arch::for_emulator(required).to_string());
    }
    let own = Arch::of_capability(info.capability.0, info.capability.1);
    match required {
        Some(required) if !own.satisfies(required) => Err(Outcome::BadRequest(format!(
            "this exercise needs {required}; {} is {own}. Choose the emulator, which runs it on any machine",
            info.name
        ))),
        _ => Ok(own.to_string()),
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

fn said(stderr: &str) -> String {
    stderr.lines().last().map(|line| format!(". It said: {line}")).unwrap_or_default()
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
            said(&worker.stderr())
        ))),
    }
}
