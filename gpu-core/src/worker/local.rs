//! A lab on this machine: queues and the threads that serve them.

use super::lane::{Lane, LaneJob, list_devices};
use super::pipeline;
use super::pool::Pool;
use super::shared::Shared;
use crate::device::{DeviceChoice, DeviceKind};
use crate::job::{Event, Job, JobId, Outcome};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// Threads that serve `Job::Compile`: one for what is typed, one more for what is asked for meanwhile.
const COMPILE_THREADS: usize = 2;

pub struct Local {
    shared: Arc<Shared>,
    pool: Arc<Pool>,
    compile_queue: Option<Sender<LaneJob>>,
    list_queue: Option<Sender<LaneJob>>,
    lanes: Arc<Lanes>,
    threads: Vec<JoinHandle<()>>,
}

/// One queue per device, made on first use.
#[derive(Default)]
struct Lanes {
    queues: Mutex<HashMap<DeviceChoice, Sender<LaneJob>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Lanes {
    fn queue(&self, shared: &Arc<Shared>, pool: &Arc<Pool>, choice: &DeviceChoice) -> Sender<LaneJob> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues
            .entry(choice.clone())
            .or_insert_with(|| {
                let (queue, jobs) = channel();
                let lane = Lane::new(shared.clone(), pool.clone(), choice.clone());
                let thread = std::thread::spawn(move || lane.serve(&jobs));
                self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
                queue
            })
            .clone()
    }
}

impl Local {
    /// Starts everything in the background and returns at once.
    pub fn start(shared: Arc<Shared>) -> Self {
        let pool = Arc::new(Pool::default());
        let lanes = Arc::new(Lanes::default());
        let mut threads = Vec::new();

        let (warm_shared, warm_pool) = (shared.clone(), pool.clone());
        threads.push(std::thread::spawn(move || warm_pool.keep_warm(&warm_shared)));

        let (compile_queue, jobs) = channel();
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..COMPILE_THREADS {
            let (shared, pool, jobs) = (shared.clone(), pool.clone(), jobs.clone());
            threads.push(std::thread::spawn(move || serve_compile(&shared, &pool, &jobs)));
        }

        let (list_queue, jobs) = channel();
        let (list_shared, list_pool, list_lanes) = (shared.clone(), pool.clone(), lanes.clone());
        threads.push(std::thread::spawn(move || serve_lists(&list_shared, &list_pool, &list_lanes, &jobs)));

        lanes.queue(&shared, &pool, &DeviceChoice::Emulator);
        Local { shared, pool, compile_queue: Some(compile_queue), list_queue: Some(list_queue), lanes, threads }
    }

    pub fn submit(&self, id: JobId, job: Job, stop: Arc<AtomicBool>) {
        let queue = match &job {
            Job::Compile { .. } => self.compile_queue.clone(),
            Job::Devices => self.list_queue.clone(),
            Job::Check { device, .. }
            | Job::Bench { device, .. }
            | Job::Run { device, .. }
            | Job::Ceilings { device } => Some(self.lanes.queue(&self.shared, &self.pool, device)),
        };
        let job = LaneJob { id, job, stop, submitted: Instant::now() };
        if queue.is_none_or(|queue| queue.send(job).is_err()) {
            self.shared.emit(id, Event::Finished(Outcome::Environment("the lab has closed".to_owned())));
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        self.shared.stop_all();
        self.pool.close();
        self.compile_queue = None;
        self.list_queue = None;
        self.lanes.queues.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let lanes = std::mem::take(&mut *self.lanes.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in self.threads.drain(..).chain(lanes) {
            // A thread that panicked has nothing left to say.
            let _ = thread.join();
        }
    }
}

fn serve_compile(shared: &Shared, pool: &Pool, jobs: &Mutex<Receiver<LaneJob>>) {
    loop {
        let received = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(LaneJob { id, job, stop, .. }) = received else { return };
        let Job::Compile { source, arch, emit } = job else { continue };
        let outcome = guarded(|| {
            let report = pipeline::compile(shared, pool, &source, &arch, emit, &stop)?;
            let outcome = match report.succeeded {
                true => Outcome::Done,
                false => Outcome::CompileErrors(report.diagnostics.clone()),
            };
            shared.emit(id, Event::Compiled(Box::new(report)));
            Ok(outcome)
        });
        shared.emit(id, Event::Finished(outcome));
    }
}

/// Runs a job's work. A panic is a mistake of ours; it must cost this job only, not the thread that serves all others.
pub fn guarded(work: impl FnOnce() -> Result<Outcome, Outcome>) -> Outcome {
    // What the work leaves behind half-done is its worker, which is dropped and replaced.
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(Ok(outcome) | Err(outcome)) => outcome,
        Err(_) => Outcome::Crashed(
            "Lockstep made a mistake of its own on this job (details are on standard error); please report it"
                .to_owned(),
        ),
    }
}

fn serve_lists(shared: &Arc<Shared>, pool: &Arc<Pool>, lanes: &Lanes, jobs: &Receiver<LaneJob>) {
    // Once at the start, so that a GPU's worker is warm before it is needed.
    if let Ok(devices) = list_devices(shared, &shared.closing)
        && let Some(gpu) = devices.iter().find(|device| device.kind == DeviceKind::Gpu)
    {
        lanes.queue(shared, pool, &gpu.choice);
    }
    while let Ok(LaneJob { id, stop, .. }) = jobs.recv() {
        let outcome = match list_devices(shared, &stop) {
            Ok(devices) => {
                shared.emit(id, Event::Devices(devices));
                Outcome::Done
            }
            Err(outcome) => outcome,
        };
        shared.emit(id, Event::Finished(outcome));
    }
}
