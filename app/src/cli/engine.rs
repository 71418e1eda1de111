//! The way from a command to the engine: which device, one job, its answer, the exit.

use super::{Failure, Places, out, report, usage};
use crate::ready::Item;
use curriculum::store::Remote;
use gpu_core::bench::{BenchReport, Ceilings};
use gpu_core::compile::options::Arch;
use gpu_core::compile::{CompileReport, signature};
use gpu_core::device::{DeviceChoice, DeviceInfo};
use gpu_core::job::{Emit, Event, Job, Outcome, Source};
use gpu_core::spec::Spec;
use gpu_core::verdict::{RunReport, Verdict};
use gpu_core::worker::{Lab, LabConfig};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often Ctrl-C is looked at while waiting.
const POLL: Duration = Duration::from_millis(50);
/// How long a stopped job may take to say so before the process ends without it.
const STOP_TIME: Duration = Duration::from_secs(3);

/// Options of every command that runs a kernel.
#[derive(clap::Args, Debug)]
pub struct DeviceArgs {
    /// emulator, gpu, gpu:N, or a remote machine: NAME, NAME:gpu:N, NAME:emulator
    #[arg(long, value_name = "DEVICE", default_value = "emulator")]
    pub device: String,
    /// Architecture to compile for [default: the device's own]
    #[arg(long, value_name = "sm_XX")]
    arch: Option<String>,
    /// Repeat a run with the seed that it printed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl DeviceArgs {
    pub fn target(&self, places: &Places) -> Result<Target, Failure> {
        Target::parse(&self.device, &places.settings().remotes)
    }

    pub fn arch(&self) -> Result<Option<String>, Failure> {
        self.arch.as_deref().map(arch).transpose()
    }
}

/// Checks an architecture's spelling; whether the compiler knows it is the compiler's to say.
pub fn arch(text: &str) -> Result<String, Failure> {
    match Arch::parse(text) {
        Some(arch) => Ok(arch.to_string()),
        None => Err(usage(format!("`{text}` is not an architecture; write it as in sm_90, sm_90a or sm_120a"))),
    }
}

/// Where a job goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub choice: DeviceChoice,
    /// The command that starts the worker, for a remote machine.
    command: Option<String>,
    /// For people.
    pub shown: String,
}

impl Target {
    pub fn local_emulator() -> Self {
        Target { choice: DeviceChoice::Emulator, command: None, shown: "emulator".into() }
    }

    /// A remote machine, with its first GPU.
    pub fn remote(name: &str, remotes: &[Remote]) -> Result<Self, Failure> {
        let remote = remotes.iter().find(|remote| remote.name == name).ok_or_else(|| unknown_remote(name, remotes))?;
        Ok(Target {
            choice: DeviceChoice::Gpu(0),
            command: Some(remote.command.clone()),
            shown: format!("{name}: gpu:0"),
        })
    }

    fn parse(text: &str, remotes: &[Remote]) -> Result<Self, Failure> {
        if let Some(choice) = local_choice(text) {
            return Ok(Target { choice, command: None, shown: text.to_owned() });
        }
        let (name, device) = text.split_once(':').unwrap_or((text, "gpu"));
        let target = Target::remote(name, remotes)?;
        let choice = local_choice(device).ok_or_else(|| {
            usage(format!("`{device}` is not a device of {name}: write {name}:gpu, {name}:gpu:N or {name}:emulator"))
        })?;
        Ok(Target { choice, shown: format!("{name}: {device}"), ..target })
    }
}

impl Target {
    /// On this machine.
    pub fn is_local(&self) -> bool {
        self.command.is_none()
    }
}

/// A device of this machine by its name.
pub fn local_choice(text: &str) -> Option<DeviceChoice> {
    match text {
        "emulator" => Some(DeviceChoice::Emulator),
        "gpu" => Some(DeviceChoice::Gpu(0)),
        _ => text.strip_prefix("gpu:")?.parse().ok().map(DeviceChoice::Gpu),
    }
}

pub fn unknown_remote(name: &str, remotes: &[Remote]) -> Failure {
    let known: Vec<&str> = remotes.iter().map(|remote| remote.name.as_str()).collect();
    let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
    usage(format!(
        "there is no device `{name}`: it can be emulator, gpu, gpu:N or a remote machine ({known}); remember one with \
         `lockstep devices --add NAME 'ssh HOST lockstep worker'`"
    ))
}

/// Everything that one job sent back.
pub struct Answer {
    pub outcome: Outcome,
    pub compiled: Option<CompileReport>,
    pub verdict: Option<Verdict>,
    pub bench: Option<BenchReport>,
    /// One a size.
    pub ran: Vec<RunReport>,
    pub devices: Option<Vec<DeviceInfo>>,
    pub ceilings: Option<Ceilings>,
    pub console: String,
    /// The compiler does not know the architecture that was asked for: wrong usage, not a wrong kernel.
    arch_unknown: bool,
}

impl Answer {
    /// Before anything was sent.
    pub fn none() -> Self {
        Answer {
            outcome: Outcome::Stopped,
            compiled: None,
            verdict: None,
            bench: None,
            ran: Vec::new(),
            devices: None,
            ceilings: None,
            console: String::new(),
            arch_unknown: false,
        }
    }

    /// Takes in what was sent; true with the last event of a job.
    pub fn take(&mut self, event: Event) -> bool {
        match event {
            Event::Progress { .. } | Event::Case(_) => {}
            Event::Ceilings(measured) => self.ceilings = Some(*measured),
            Event::Devices(list) => self.devices = Some(list),
            Event::Compiled(report) => self.compiled = Some(*report),
            Event::Console(text) => self.console += &text,
            Event::Verdict(verdict) => self.verdict = Some(*verdict),
            Event::Bench(report) => self.bench = Some(*report),
            Event::Ran(report) => self.ran.push(*report),
            Event::Finished(outcome) => {
                self.outcome = outcome;
                return true;
            }
        }
        false
    }

    /// The compiler's messages and what it made, for people.
    pub fn compile_text(&self, kernel: &report::Kernel<'_>, style: out::Style) -> String {
        let Some(compiled) = &self.compiled else { return String::new() };
        let mut text = report::diagnostics(&compiled.diagnostics, kernel, style);
        if compiled.succeeded {
            text += &report::compiled(compiled);
        } else {
            text += &format!("\n{}: it does not compile\n", style.red("FAILED"));
        }
        text
    }

    /// The sentence of an outcome that has one.
    pub fn message(&self) -> Option<&str> {
        self.outcome.why()
    }
}

/// Why there is no verdict, for the last line of a kernel's report: as the outcome has it, and as the exit status says.
/// `what` is what `spec` comes from, as a learner calls it.
pub fn not_judged(answer: &Answer, spec: &Spec, what: &str) -> Option<String> {
    let differs =
        |compiled: &CompileReport| signature::check(compiled, &signature::named(spec, &compiled.ptx), what).is_err();
    match &answer.outcome {
        Outcome::BadRequest(_) if answer.compiled.as_ref().is_some_and(differs) => {
            Some(format!("it was not run: its name or its parameters are not those of the {what}"))
        }
        Outcome::BadRequest(_) => Some("it was not run".to_owned()),
        Outcome::LimitExceeded(_) if answer.compiled.is_none() => {
            Some("it was not run: compiling it was ended by a limit".to_owned())
        }
        Outcome::LimitExceeded(_) => Some("it was cut off".to_owned()),
        Outcome::Crashed(_) => Some("it took its worker along".to_owned()),
        Outcome::Done | Outcome::CompileErrors(_) | Outcome::Environment(_) | Outcome::Stopped => None,
    }
}

fn wanted_arch(job: &Job) -> Option<Arch> {
    match job {
        Job::Compile { arch, .. } => Arch::parse(arch),
        Job::Check { arch, .. } | Job::Bench { arch, .. } | Job::Run { arch, .. } => Arch::parse(arch.as_deref()?),
        Job::Devices | Job::Ceilings { .. } => None,
    }
}

/// The exit of an answer whose job was not carried out.
pub fn failure(answer: &Answer) -> Failure {
    match &answer.outcome {
        Outcome::BadRequest(why) if answer.arch_unknown => Failure::Usage(why.clone()),
        Outcome::Done | Outcome::CompileErrors(_) => Failure::Kernel,
        Outcome::Stopped => Failure::Interrupted,
        // Nothing is known of a kernel that the compiler was not done with: a busy machine is no fault of its.
        Outcome::LimitExceeded(why) if answer.compiled.is_none() => Failure::Usage(why.clone()),
        Outcome::LimitExceeded(why) | Outcome::Crashed(why) | Outcome::BadRequest(why) => {
            Failure::Rejected(why.clone())
        }
        Outcome::Environment(why) => Failure::Usage(why.clone()),
    }
}

/// Starts a lab, runs one job in it and collects what it sends. With `show`, the kernel's own output is printed as it
/// comes, and progress on a terminal.
pub fn submit(places: &Places, target: &Target, job: Job, show: bool) -> Result<Answer, Failure> {
    run_in(&start(places, target), job, show)
}

/// As [`submit`], in a lab that serves several jobs.
pub fn run_in(lab: &Lab, job: Job, show: bool) -> Result<Answer, Failure> {
    run_seen(lab, job, show, &mut |_| ())
}

/// As [`run_in`]; `seen` is given each event before it is taken in.
pub fn run_seen(lab: &Lab, job: Job, show: bool, seen: &mut dyn FnMut(&Event)) -> Result<Answer, Failure> {
    let stop = stop_on_ctrl_c();
    let mut answer = Answer::none();
    let wanted = wanted_arch(&job);
    let (id, handle) = lab.submit(job);
    let mut stopped_at: Option<Instant> = None;
    loop {
        if stop.load(Ordering::SeqCst) && stopped_at.is_none() {
            handle.stop();
            stopped_at = Some(Instant::now());
        }
        if stopped_at.is_some_and(|at| at.elapsed() > STOP_TIME) {
            return Err(Failure::Interrupted);
        }
        let Some((of, event)) = lab.next_event(POLL) else { continue };
        if of != id {
            continue;
        }
        seen(&event);
        match &event {
            Event::Progress { what, done, total } if show => out::transient(&progress_line(what, *done, *total)),
            Event::Console(text) if show => {
                out::transient("");
                out::print(&out::visible(text));
            }
            _ => {}
        }
        if answer.take(event) {
            if show {
                out::transient("");
            }
            let known = lab.status().nvrtc_archs;
            answer.arch_unknown = wanted.is_some_and(|arch| !known.is_empty() && !known.contains(&arch.number));
            return Ok(answer);
        }
    }
}

fn progress_line(what: &str, done: u32, total: u32) -> String {
    if total > 1 { format!("{what} ({done} of {total})") } else { what.to_owned() }
}

/// The lab of this machine, or of a remote one.
pub fn start(places: &Places, target: &Target) -> Lab {
    let (nvrtc, limits) = (places.settings().nvrtc, places.limits());
    Lab::start(LabConfig { remote: target.command.clone(), nvrtc, limits, ..LabConfig::new(places.data_dir()) })
}

/// The flag that Ctrl-C and a termination signal set; installed on the first call. A second Ctrl-C ends the process at
/// once, for whoever cannot wait.
pub fn stop_on_ctrl_c() -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    static INSTALLED: std::sync::Once = std::sync::Once::new();
    INSTALLED.call_once(|| {
        let installed = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        if let Err(error) = installed {
            out::remark(&format!("Ctrl-C will end the program at once, not cleanly: {error}"));
        }
    });
    &STOP
}

/// Items of the ready check that need the engine: whether a kernel compiles and runs, in which jail, and the GPUs; and
/// the compute capability of the best of these.
pub fn ready_items(places: &Places) -> (Vec<Item>, Option<(u32, u32)>) {
    let lab = start(places, &Target::local_emulator());
    let mut items = vec![trial(&lab)];
    let mut capability = None;
    let status = lab.status();
    items.push(match status.jail {
        Some(jail) if jail.starts_with("none") => Item::limited(
            "sandbox",
            "Compiler's sandbox",
            jail,
            "run kernels of people you trust: here nothing but the check of their text keeps the compiler from files. On \
             Linux, a kernel of 5.13 or later with Landlock enabled confines it fully; limits of time and memory hold anyway",
        ),
        Some(jail) => Item::fine("sandbox", "Compiler's sandbox", jail),
        None => Item::limited("sandbox", "Compiler's sandbox", "not known", "repair the compiler first"),
    });
    if let Ok(Answer { devices: Some(devices), .. }) = run_in(&lab, Job::Devices, false) {
        items.extend(crate::ready::gpus(&devices));
        capability = crate::ready::best_capability(&devices);
    }
    (items, capability)
}

/// Compiles a kernel, as the course will.
fn trial(lab: &Lab) -> Item {
    const ID: &str = "trial";
    const TITLE: &str = "Trial compilation";
    const TEXT: &str = "extern \"C\" __global__ void trial(float* a) { a[threadIdx.x] *= 2.0f; }\n";
    // Never from the cache: what is asked is whether a compiler works now, and in which jail.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |now| now.as_nanos());
    let text = format!("{TEXT}// {now}\n");
    let source = Source { name: "trial.cu".into(), text, headers: Vec::new(), options: Vec::new() };
    let job = Job::Compile { source, arch: "sm_90".into(), emit: Emit::default() };
    match run_in(lab, job, false) {
        Ok(Answer { outcome: Outcome::Done, compiled: Some(report), .. }) => {
            let found = format!("NVRTC {} made sm_90 code in {:.0} ms", report.nvrtc_version, report.compile_ms);
            Item::fine(ID, TITLE, found)
        }
        Ok(answer) => {
            let why = answer.message().unwrap_or("the compiler rejected a correct kernel").to_owned();
            Item::failed(ID, TITLE, why, "run `lockstep setup --again`")
        }
        Err(_) => Item::failed(ID, TITLE, "stopped", "run `lockstep doctor` again"),
    }
}
