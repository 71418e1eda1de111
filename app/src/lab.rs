//! The window's side of the engine: labs by key, and a scripted one for tests.

use curriculum::store::Settings;
use gpu_core::device::DeviceChoice;
use gpu_core::job::{Event, Job, JobId};
use gpu_core::worker::{Lab, LabConfig, StopHandle};
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

/// Name of the open text, as the compiler and its messages have it.
pub const KERNEL_NAME: &str = "kernel.cu";

/// Which lab: this machine's, or a remote one by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabKey {
    #[default]
    Here,
    Remote(String),
}

/// A job of one lab.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobKey {
    pub lab: LabKey,
    pub id: JobId,
}

/// A device of one lab.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceKey {
    pub lab: LabKey,
    pub choice: DeviceChoice,
}

impl DeviceKey {
    pub fn emulator() -> Self {
        Self { lab: LabKey::Here, choice: DeviceChoice::Emulator }
    }
}

/// What the window asks of the engine. No method blocks.
pub trait Engine {
    /// Makes a lab reachable, or starts it afresh. `remote` is the command line that leads to it; None is this machine.
    fn connect(&mut self, lab: &LabKey, remote: Option<&str>, settings: &Settings);
    fn submit(&mut self, lab: &LabKey, job: Job) -> JobKey;
    fn stop(&mut self, job: &JobKey);
    fn poll(&mut self) -> Vec<(JobKey, Event)>;
}

/// The real engine: a lab for this machine and one for each remote that was picked.
pub struct Labs {
    labs: HashMap<LabKey, Lab>,
    handles: HashMap<JobKey, StopHandle>,
    data_dir: PathBuf,
    context: egui::Context,
    /// Program and arguments that start a worker; None is this program.
    worker_command: Option<Vec<String>>,
}

impl Labs {
    pub fn new(data_dir: PathBuf, context: egui::Context) -> Self {
        Self { labs: HashMap::new(), handles: HashMap::new(), data_dir, context, worker_command: None }
    }

    /// With another program as worker; a test's own program is none.
    pub fn with_worker(self, worker_command: Vec<String>) -> Self {
        Self { worker_command: Some(worker_command), ..self }
    }

    fn start(&mut self, key: &LabKey, remote: Option<&str>, nvrtc: Option<PathBuf>) {
        let mut config =
            LabConfig { remote: remote.map(str::to_owned), nvrtc, ..LabConfig::new(self.data_dir.clone()) };
        if let Some(command) = &self.worker_command {
            config.worker_command.clone_from(command);
        }
        let lab = Lab::start(config);
        let context = self.context.clone();
        lab.on_event(Box::new(move || context.request_repaint()));
        if let Some(old) = self.labs.insert(key.clone(), lab) {
            // Ending workers may take a moment.
            let _ = std::thread::Builder::new().name("end of a lab".to_owned()).spawn(move || drop(old));
        }
    }
}

impl Engine for Labs {
    fn connect(&mut self, lab: &LabKey, remote: Option<&str>, settings: &Settings) {
        self.start(lab, remote, settings.nvrtc.clone());
    }

    fn submit(&mut self, lab: &LabKey, job: Job) -> JobKey {
        if !self.labs.contains_key(lab) {
            self.start(lab, None, None);
        }
        let (id, handle) = self.labs[lab].submit(job);
        let key = JobKey { lab: lab.clone(), id };
        self.handles.insert(key.clone(), handle);
        key
    }

    fn stop(&mut self, job: &JobKey) {
        if let Some(handle) = self.handles.get(job) {
            handle.stop();
        }
    }

    fn poll(&mut self) -> Vec<(JobKey, Event)> {
        let mut events = Vec::new();
        for (key, lab) in &self.labs {
            events.extend(lab.poll().into_iter().map(|(id, event)| (JobKey { lab: key.clone(), id }, event)));
        }
        for (key, event) in &events {
            if matches!(event, Event::Finished(_)) {
                self.handles.remove(key);
            }
        }
        events
    }
}

/// Answers to a job; None is silence.
pub type Script = Box<dyn FnMut(&Job) -> Option<Vec<Event>>>;

/// An engine that answers what a script says; None is silence, as from a worker that hangs.
pub struct Scripted {
    script: Script,
    /// Jobs seen, for tests to look at.
    pub jobs: Vec<Job>,
    pub stopped: Vec<JobKey>,
    waiting: VecDeque<(JobKey, Event)>,
    last: u64,
    /// Jobs that were not answered.
    silent: Vec<JobKey>,
}

impl Scripted {
    pub fn new(script: impl FnMut(&Job) -> Option<Vec<Event>> + 'static) -> Self {
        Self {
            script: Box::new(script),
            jobs: Vec::new(),
            stopped: Vec::new(),
            waiting: VecDeque::new(),
            last: 0,
            silent: Vec::new(),
        }
    }

    /// Late answers to the oldest job that got none.
    pub fn answer(&mut self, events: Vec<Event>) {
        if !self.silent.is_empty() {
            let key = self.silent.remove(0);
            self.waiting.extend(events.into_iter().map(|event| (key.clone(), event)));
        }
    }
}

impl Engine for Scripted {
    fn connect(&mut self, _lab: &LabKey, _remote: Option<&str>, _settings: &Settings) {}

    fn submit(&mut self, lab: &LabKey, job: Job) -> JobKey {
        self.last += 1;
        let key = JobKey { lab: lab.clone(), id: JobId(self.last) };
        match (self.script)(&job) {
            Some(events) => self.waiting.extend(events.into_iter().map(|event| (key.clone(), event))),
            None => self.silent.push(key.clone()),
        }
        self.jobs.push(job);
        key
    }

    fn stop(&mut self, job: &JobKey) {
        self.stopped.push(job.clone());
        if let Some(at) = self.silent.iter().position(|silent| silent == job) {
            self.silent.remove(at);
            self.waiting.push_back((job.clone(), Event::Finished(gpu_core::job::Outcome::Stopped)));
        }
    }

    fn poll(&mut self) -> Vec<(JobKey, Event)> {
        self.waiting.drain(..).collect()
    }
}
