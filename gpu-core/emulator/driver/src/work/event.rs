//! Events: marks in streams, with times of the virtual device clock.

use std::sync::{Arc, LazyLock, Mutex, Weak};

use super::capture::Capture;
use super::context::CONTEXTS;
use super::ticket::Ticket;
use crate::abi::*;
use crate::process::{self, Registry, lock};

/// Events by handle.
pub static EVENTS: LazyLock<Registry<Event>> = LazyLock::new(|| Registry::new(INVALID_HANDLE));

pub const DISABLE_TIMING: u32 = 2;
pub const INTERPROCESS: u32 = 4;

#[derive(Default)]
struct Mark {
    ticket: Option<Arc<Ticket>>,
    /// The capture that the last record went into, and the nodes that it stands for.
    capture: Option<(Weak<Capture>, Vec<Handle>)>,
}

/// One event.
pub struct Event {
    pub flags: u32,
    /// The context that it was made in.
    pub home: Handle,
    mark: Mutex<Mark>,
}

impl Event {
    pub fn new(flags: u32, home: Handle) -> Event {
        Event { flags, home, mark: Mutex::default() }
    }

    /// Without times, and of this process alone.
    pub fn is_plain(&self) -> bool {
        self.flags & (DISABLE_TIMING | INTERPROCESS) == DISABLE_TIMING
    }

    /// The completion that the last record stands for; None when it was never recorded.
    pub fn ticket(&self) -> Option<Arc<Ticket>> {
        lock(&self.mark).ticket.clone()
    }

    /// The capture that the last record went into, while it lasts, and the nodes that the event stands for.
    pub fn capture(&self) -> Option<(Arc<Capture>, Vec<Handle>)> {
        let mark = lock(&self.mark);
        let (capture, nodes) = mark.capture.as_ref()?;
        Some((capture.upgrade()?, nodes.clone()))
    }

    /// Makes the event stand for a completion to come.
    pub fn mark(&self, ticket: Arc<Ticket>) {
        *lock(&self.mark) = Mark { ticket: Some(ticket), capture: None };
    }

    pub fn outside_capture(&self) -> Answer {
        match self.capture() {
            Some((capture, _)) => {
                capture.invalidate();
                Err(CAPTURED_EVENT)
            }
            None => Ok(()),
        }
    }
}

/// An event whose context is alive.
pub fn find(handle: Handle) -> Result<Arc<Event>, CUresult> {
    process::initialised()?;
    let event = EVENTS.get(handle)?;
    CONTEXTS.get(event.home).map_err(|_| CONTEXT_IS_DESTROYED)?;
    Ok(event)
}

pub fn record(event: Handle, stream: Handle) -> Answer {
    let event = find(event)?;
    let (context, stream) = super::stream(stream)?;
    if event.home != super::home(&stream)? {
        return Err(INVALID_HANDLE);
    }
    let mark = match stream.capture() {
        Some(capture) => Mark { ticket: None, capture: Some((Arc::downgrade(&capture), stream.tail())) },
        None => Mark { ticket: Some(stream.marker(&context)), capture: None },
    };
    *lock(&event.mark) = mark;
    Ok(())
}
