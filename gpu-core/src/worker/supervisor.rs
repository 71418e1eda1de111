//! `lockstep worker` with no role: a whole lab behind standard input and output, for a remote user.

use super::lab::Lab;
use super::messages::{FromSupervisor, ToSupervisor};
use super::shared::LabConfig;
use super::stdio;
use super::wire::{Reader, WireError, Writer};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the status is looked at; events go out at once.
const STATUS_TICK: Duration = Duration::from_millis(200);

/// Serves until standard input ends.
pub fn serve(config: LabConfig) -> Result<(), WireError> {
    let mut to = Writer::start(stdio::take_output()?)?;
    let mut from = Reader::start(std::io::stdin())?;
    let lab = Arc::new(Lab::start(LabConfig { remote: None, ..config }));
    // Their ids are the client's; ours are our lab's.
    let theirs = Arc::new(Mutex::new(HashMap::new()));

    let (reader_lab, reader_theirs) = (lab.clone(), theirs.clone());
    std::thread::spawn(move || {
        let mut stops = HashMap::new();
        let why = loop {
            let message = match from.receive::<ToSupervisor>() {
                Ok(message) => message,
                Err(why) => break why,
            };
            match message {
                ToSupervisor::Limits(limits) => reader_lab.set_limits(limits),
                ToSupervisor::Submit(id, job) => {
                    // Held over the submission, so that no event can come out before its id is known.
                    let mut theirs = reader_theirs.lock().unwrap_or_else(PoisonError::into_inner);
                    let (own, stop) = reader_lab.submit(*job);
                    theirs.insert(own, id);
                    stops.insert(id, stop);
                }
                ToSupervisor::Stop(id) => {
                    if let Some(stop) = stops.remove(&id) {
                        stop.stop();
                    }
                }
            }
        };
        // The client is gone. Our workers see their input end and our death, and end too.
        super::leave(&why);
    });

    let mut last_status = None;
    loop {
        if let Some((own, event)) = lab.next_event(STATUS_TICK) {
            let finished = matches!(event, crate::job::Event::Finished(_));
            let id = {
                let mut theirs = theirs.lock().unwrap_or_else(PoisonError::into_inner);
                if finished { theirs.remove(&own) } else { theirs.get(&own).copied() }
            };
            if let Some(id) = id {
                to.send(&FromSupervisor::Event(id, event))?;
            }
        }
        let status = lab.status();
        if last_status.as_ref() != Some(&status) {
            to.send(&FromSupervisor::Status(Box::new(status.clone())))?;
            last_status = Some(status);
        }
    }
}
