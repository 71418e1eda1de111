//! A lab elsewhere, reached through a command line such as `ssh spark lockstep worker`.

use super::messages::{FromSupervisor, ToSupervisor};
use super::process::{Process, Waited};
use super::shared::Shared;
use super::wire::WireError;
use crate::job::{Event, Job, JobId, Outcome};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A stop that the other end does not answer is taken as done after this: its network may be gone.
const STOP_TIME: Duration = Duration::from_secs(5);
/// How long the sending of a request may wait behind the reading of answers.
const TICK: Duration = Duration::from_millis(5);

type Peer = Process<ToSupervisor, FromSupervisor>;

pub struct Remote {
    requests: Option<Sender<ToSupervisor>>,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Remote {
    pub fn start(shared: Arc<Shared>, command_line: String) -> Self {
        let (requests, queue) = channel();
        let thread_shared = shared.clone();
        let thread = std::thread::spawn(move || serve(&thread_shared, &command_line, &queue));
        Remote { requests: Some(requests), shared, thread: Mutex::new(Some(thread)) }
    }

    pub fn submit(&self, id: JobId, job: Job) {
        self.request(ToSupervisor::Submit(id, Box::new(job)), Some(id));
    }

    pub fn stop(&self, id: JobId) {
        self.request(ToSupervisor::Stop(id), None);
    }

    fn request(&self, request: ToSupervisor, id: Option<JobId>) {
        let gone = self.requests.as_ref().is_none_or(|requests| requests.send(request).is_err());
        if let (true, Some(id)) = (gone, id) {
            let outcome = Outcome::Environment("the remote lab has closed".to_owned());
            self.shared.emit(id, Event::Finished(outcome));
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.shared.closing.store(true, std::sync::atomic::Ordering::Relaxed);
        self.requests = None;
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = thread.join();
        }
    }
}

/// Owns the connection. A lost one is made anew for the next job.
fn serve(shared: &Shared, command_line: &str, queue: &Receiver<ToSupervisor>) {
    let mut peer: Option<Peer> = None;
    let mut answered = false;
    let mut stops: Vec<(JobId, Instant)> = Vec::new();
    let mut patience = Instant::now();
    loop {
        loop {
            match queue.try_recv() {
                Ok(request) => {
                    if peer.is_none() && matches!(request, ToSupervisor::Submit(..)) {
                        answered = false;
                        patience = Instant::now() + shared.config.remote_timeout;
                        match connect(shared, command_line) {
                            Ok(connected) => peer = Some(connected),
                            Err(problem) => shared.finish_all(&Outcome::Environment(problem)),
                        }
                    }
                    if let ToSupervisor::Stop(id) = request {
                        stops.push((id, Instant::now() + STOP_TIME));
                    }
                    if let Some(peer) = &peer {
                        let _ = peer.send(&request);
                    }
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        stops.retain(|(id, until)| {
            let waiting = Instant::now() < *until;
            if !waiting {
                // Without effect when the job has ended, as it mostly has.
                shared.emit(*id, Event::Finished(Outcome::Stopped));
            }
            waiting
        });
        let Some(connected) = &peer else {
            // Nothing to read from: wait for the next request without spinning.
            std::thread::sleep(TICK);
            continue;
        };
        let problem = match connected.wait(Instant::now() + TICK, None::<&AtomicBool>) {
            Waited::Message(FromSupervisor::Event(id, event)) => {
                answered = true;
                shared.emit(id, event);
                continue;
            }
            Waited::Message(FromSupervisor::Status(status)) => {
                answered = true;
                let remote = Some(command_line.to_owned());
                shared.update_status(|mine| {
                    *mine = *status;
                    mine.remote = remote;
                    mine.connected = true;
                });
                continue;
            }
            Waited::TimedOut if !answered && Instant::now() > patience => format!(
                "the remote command did not answer within {} s: `{command_line}`",
                shared.config.remote_timeout.as_secs()
            ),
            Waited::TimedOut | Waited::Stopped => continue,
            Waited::Ended(error) => lost(peer.as_mut(), &error, command_line),
        };
        peer = None;
        shared.update_status(|status| {
            status.connected = false;
            status.workers.clear();
            status.problem = Some(problem.clone());
        });
        shared.finish_all(&Outcome::Environment(problem));
    }
}

fn connect(shared: &Shared, command_line: &str) -> Result<Peer, String> {
    let mut command = if cfg!(windows) { Command::new("cmd") } else { Command::new("sh") };
    command.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(command_line);
    // A group of its own: the shell's children must go with it.
    let peer: Peer = Process::spawn(command, true)?;
    peer.send(&ToSupervisor::Limits(shared.limits())).map_err(|error| error.to_string())?;
    Ok(peer)
}

/// Why the connection ended, in one sentence that shows what the command said.
fn lost(peer: Option<&mut Peer>, error: &WireError, command_line: &str) -> String {
    let mut why = format!("the remote lab is lost: {error}");
    if let Some(peer) = peer {
        let exit = peer.end_within(Duration::from_millis(300));
        why.push_str(&format!(" ({exit})"));
        let stderr = peer.stderr();
        if !stderr.is_empty() {
            why.push_str(&format!(". It said: {stderr}"));
        }
    }
    format!("{why}. Try the command in a terminal; it must end in `lockstep worker`: `{command_line}`")
}
