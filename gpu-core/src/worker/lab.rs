//! What window and terminal see of all this.

use super::local::Local;
use super::messages::{LabStatus, Limits};
use super::remote::Remote;
use super::shared::{LabConfig, Shared, Waker};
use crate::job::{Event, Job, JobId};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Compiles and runs in worker processes. No method but [`Lab::next_event`] blocks. Dropping it ends all workers.
pub struct Lab {
    shared: Arc<Shared>,
    backend: Arc<Backend>,
    last_id: AtomicU64,
    /// The job that [`Lab::submit_latest`] would supersede.
    latest: Mutex<Option<StopHandle>>,
}

enum Backend {
    Local(Local),
    Remote(Remote),
}

/// Stops one job. Cheap to clone; dropping it stops nothing.
#[derive(Clone)]
pub struct StopHandle {
    id: JobId,
    shared: Arc<Shared>,
    // Weak: a kept handle must not keep the workers alive.
    backend: std::sync::Weak<Backend>,
}

impl StopHandle {
    /// Ends the job soon, with [`crate::job::Outcome::Stopped`]. A job that has ended stays as it is.
    pub fn stop(&self) {
        self.shared.stop(self.id);
        if let Some(Backend::Remote(remote)) = self.backend.upgrade().as_deref() {
            remote.stop(self.id);
        }
    }
}

impl Lab {
    /// Returns at once; workers get warm in the background.
    pub fn start(config: LabConfig) -> Lab {
        let remote = config.remote.clone();
        let shared = Arc::new(Shared::new(config));
        let backend = match remote {
            Some(command_line) => Backend::Remote(Remote::start(shared.clone(), command_line)),
            None => Backend::Local(Local::start(shared.clone())),
        };
        Lab { shared, backend: Arc::new(backend), last_id: AtomicU64::new(0), latest: Mutex::new(None) }
    }

    /// Queues a job. Jobs of one device run in order; compilations and listings do not wait for them.
    pub fn submit(&self, job: Job) -> (JobId, StopHandle) {
        let id = JobId(self.last_id.fetch_add(1, Ordering::Relaxed) + 1);
        let stop = self.shared.begin(id);
        match &*self.backend {
            Backend::Local(local) => local.submit(id, job, stop),
            Backend::Remote(remote) => remote.submit(id, job),
        }
        (id, StopHandle { id, shared: self.shared.clone(), backend: Arc::downgrade(&self.backend) })
    }

    /// As [`Lab::submit`], and stops the job that was submitted this way before: for compiling while someone types.
    pub fn submit_latest(&self, job: Job) -> (JobId, StopHandle) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(older) = latest.take() {
            older.stop();
        }
        let (id, handle) = self.submit(job);
        *latest = Some(handle.clone());
        (id, handle)
    }

    /// All events that have arrived. Never blocks.
    pub fn poll(&self) -> Vec<(JobId, Event)> {
        self.shared.take_events()
    }

    /// The next event, or None after `timeout`. Every event is given out once, here or by [`Lab::poll`].
    pub fn next_event(&self, timeout: Duration) -> Option<(JobId, Event)> {
        self.shared.next_event(timeout)
    }

    /// Sets a function that is called, from any thread, when an event or a new status is there.
    pub fn on_event(&self, waker: Waker) {
        self.shared.set_waker(waker);
    }

    pub fn status(&self) -> LabStatus {
        self.shared.status()
    }

    /// Applies to jobs submitted from now on. A remote lab takes its limits when it connects.
    pub fn set_limits(&self, limits: Limits) {
        self.shared.set_limits(limits);
    }
}
