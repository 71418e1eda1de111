//! What all threads of a lab share: settings, status, stop flags and the events on their way out.

use super::messages::{LabStatus, Limits, WorkerStatus};
use crate::compile::{Toolchain, locate};
use crate::job::{Event, JobId, Outcome};
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Settings of a lab.
#[derive(Clone, Debug)]
pub struct LabConfig {
    /// Program and arguments that start a worker; `--role …` is added. The program's path must be absolute.
    pub worker_command: Vec<String>,
    /// A command line for `sh -c` that leads to `lockstep worker` elsewhere, for example `ssh spark lockstep worker`.
    /// Everything then runs there.
    pub remote: Option<String>,
    /// How long the other end of `remote` may take to answer; a batch system may queue it.
    pub remote_timeout: Duration,
    /// Cache, headers and the fetched toolchain live here.
    pub data_dir: PathBuf,
    /// Where NVRTC is, when the user says so; a file or a folder.
    pub nvrtc: Option<PathBuf>,
    /// Compile workers kept ready, each some 60 MB. Two let an edit compile at once even while the one before it is
    /// being killed; one will do for a single command.
    pub warm_compilers: usize,
    pub limits: Limits,
}

impl LabConfig {
    /// This program as its own worker, on this machine.
    pub fn new(data_dir: PathBuf) -> Self {
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("lockstep"));
        let program = match program.to_str() {
            Some(program) => program.to_owned(),
            // A path that is not UTF-8: the child, while it is still a copy of this process, finds itself.
            None if cfg!(target_os = "linux") => "/proc/self/exe".to_owned(),
            None => program.to_string_lossy().into_owned(),
        };
        LabConfig {
            worker_command: vec![program, "worker".to_owned()],
            remote: None,
            remote_timeout: Duration::from_secs(120),
            data_dir,
            nvrtc: None,
            warm_compilers: 2,
            limits: Limits::default(),
        }
    }
}

/// Most events of one job: more than any course or program makes, in which each case and each line of output is one.
const MOST_EVENTS: u32 = 200_000;
/// Of text beyond the limit this much of each event is kept, so that "… were left out" is read.
const NOTE_BYTES: usize = 200;

struct Room {
    console_bytes: u64,
    events: u32,
}

/// A function that is called whenever there is a new event or status.
pub type Waker = Box<dyn Fn() + Send + Sync>;

pub struct Shared {
    pub config: LabConfig,
    /// Set when the lab is being dropped.
    pub closing: AtomicBool,
    limits: Mutex<Limits>,
    status: Mutex<LabStatus>,
    toolchain: Mutex<Option<Toolchain>>,
    stops: Mutex<HashMap<JobId, Arc<AtomicBool>>>,
    /// What jobs that run may still send here, whoever runs them: a remote is no reason to fill this machine's memory.
    rooms: Mutex<HashMap<JobId, Room>>,
    events: Mutex<VecDeque<(JobId, Event)>>,
    arrived: Condvar,
    waker: Mutex<Option<Waker>>,
}

/// A poisoned lock means that a thread panicked between two assignments of plain data; the data is still good.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub fn new(config: LabConfig) -> Self {
        Shared {
            closing: AtomicBool::new(false),
            limits: Mutex::new(config.limits.clone()),
            status: Mutex::new(LabStatus { remote: config.remote.clone(), ..LabStatus::default() }),
            toolchain: Mutex::new(None),
            stops: Mutex::default(),
            rooms: Mutex::default(),
            events: Mutex::default(),
            arrived: Condvar::new(),
            waker: Mutex::new(None),
            config,
        }
    }

    pub fn limits(&self) -> Limits {
        lock(&self.limits).clone()
    }

    pub fn set_limits(&self, limits: Limits) {
        *lock(&self.limits) = limits;
    }

    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// The command that starts a worker of a role.
    pub fn worker_command(&self, role: &str) -> Command {
        let mut words = self.config.worker_command.iter();
        let mut command = Command::new(words.next().map_or("lockstep", String::as_str));
        command.args(words).args(["--role", role]);
        command
    }

    /// The compiler. Searches on the first call, and again on every call until it is found, so that `lockstep setup`
    /// needs no restart.
    pub fn toolchain(&self) -> Result<Toolchain, String> {
        let mut known = lock(&self.toolchain);
        if let Some(toolchain) = known.as_ref().filter(|toolchain| toolchain.nvrtc.exists()) {
            return Ok(toolchain.clone());
        }
        let found = locate::locate(self.config.nvrtc.as_deref(), &self.config.data_dir);
        let found = found.map_err(|error| error.to_string());
        *known = found.as_ref().ok().cloned();
        self.update_status(|status| {
            status.toolchain = known.clone();
            status.problem = found.as_ref().err().cloned();
        });
        found
    }

    pub fn status(&self) -> LabStatus {
        lock(&self.status).clone()
    }

    pub fn update_status(&self, change: impl FnOnce(&mut LabStatus)) {
        let mut status = lock(&self.status);
        let before = status.clone();
        change(&mut status);
        let changed = *status != before;
        drop(status);
        if changed {
            self.wake();
        }
    }

    pub fn note_worker(&self, role: &str, pid: u32, busy: bool) {
        self.update_status(|status| match status.workers.iter_mut().find(|worker| worker.pid == pid) {
            Some(worker) => worker.busy = busy,
            None => status.workers.push(WorkerStatus { role: role.to_owned(), pid, busy }),
        });
    }

    pub fn forget_worker(&self, pid: u32) {
        self.update_status(|status| status.workers.retain(|worker| worker.pid != pid));
    }

    /// Registers a job and returns its stop flag.
    pub fn begin(&self, id: JobId) -> Arc<AtomicBool> {
        lock(&self.stops).entry(id).or_default().clone()
    }

    pub fn stop(&self, id: JobId) {
        if let Some(flag) = lock(&self.stops).get(&id) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    pub fn stop_all(&self) {
        lock(&self.stops).values().for_each(|flag| flag.store(true, Ordering::Relaxed));
    }

    /// Ends every job that has not ended; for a connection that broke.
    pub fn finish_all(&self, outcome: &Outcome) {
        let ids: Vec<JobId> = lock(&self.stops).keys().copied().collect();
        ids.into_iter().for_each(|id| self.emit(id, Event::Finished(outcome.clone())));
    }

    /// Sends an event out. After a job's end nothing more of it is let through.
    pub fn emit(&self, id: JobId, event: Event) {
        {
            let mut stops = lock(&self.stops);
            let known = match event {
                Event::Finished(_) => stops.remove(&id).is_some(),
                _ => stops.contains_key(&id),
            };
            if !known {
                return;
            }
        }
        let Some(event) = self.admit(id, event) else { return };
        lock(&self.events).push_back((id, event));
        self.arrived.notify_all();
        self.wake();
    }

    /// The event as far as there is room for it; a job's end always has some.
    fn admit(&self, id: JobId, event: Event) -> Option<Event> {
        let mut rooms = lock(&self.rooms);
        if matches!(event, Event::Finished(_)) {
            rooms.remove(&id);
            return Some(event);
        }
        let console_bytes = self.limits().console_bytes;
        let room = rooms.entry(id).or_insert(Room { console_bytes, events: MOST_EVENTS });
        room.events = room.events.checked_sub(1)?;
        let Event::Console(mut text) = event else { return Some(event) };
        let end = text.floor_char_boundary(usize::try_from(room.console_bytes).unwrap_or(usize::MAX).min(text.len()));
        // Nothing after a gap. The worker's own note of what it dropped is short, and has room of its own.
        room.console_bytes = if end < text.len() { 0 } else { room.console_bytes - end as u64 };
        text.truncate(end.max(text.floor_char_boundary(NOTE_BYTES.min(text.len()))));
        (!text.is_empty()).then_some(Event::Console(text))
    }

    pub fn take_events(&self) -> Vec<(JobId, Event)> {
        lock(&self.events).drain(..).collect()
    }

    pub fn next_event(&self, timeout: Duration) -> Option<(JobId, Event)> {
        let deadline = Instant::now() + timeout;
        let mut events = lock(&self.events);
        loop {
            if let Some(event) = events.pop_front() {
                return Some(event);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            events = self.arrived.wait_timeout(events, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn set_waker(&self, waker: Waker) {
        *lock(&self.waker) = Some(waker);
    }

    fn wake(&self) {
        if let Some(waker) = lock(&self.waker).as_ref() {
            waker();
        }
    }
}
