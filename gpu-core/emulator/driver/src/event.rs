//! Events: marks in streams, with times of the virtual device clock.

use std::sync::{Arc, Mutex, Weak};

use crate::abi::*;
use crate::capture::{Capture, forbid_unsafe};
use crate::graph::Operation;
use crate::state::{self, driver, lock};
use crate::stream::Ticket;

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
/// `CU_EVENT_RECORD_EXTERNAL`: in a capture, the record is a node of the graph.
const RECORD_EXTERNAL: u32 = 1;

#[derive(Default)]
struct Mark {
    ticket: Option<Arc<Ticket>>,
    /// The capture that the last record went into, and the nodes that it stands for.
    capture: Option<(Weak<Capture>, Vec<Handle>)>,
}

/// One event.
pub struct Event {
    flags: u32,
    /// The context that it was made in.
    home: Handle,
    mark: Mutex<Mark>,
}

impl Event {
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

    fn outside_capture(&self) -> Answer {
        match self.capture() {
            Some((capture, _)) => {
                capture.invalidate();
                Err(CAPTURED_EVENT)
            }
            None => Ok(()),
        }
    }
}

api_with_streams! {
    fn cuEventCreate(event: *mut Handle, flags: u32) {
        state::current()?;
        // Events for other processes cannot have times.
        if flags & !7 != 0 || flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS || event.is_null() {
            return Err(INVALID_VALUE);
        }
        let home = crate::context::current_handle()?;
        put(event, driver().events.add(Arc::new(Event { flags, home, mark: Mutex::default() })))
    }
    fn cuEventDestroy(event: Handle) {
        state::healthy()?;
        driver().events.remove(event).map(drop)
    }
    fn cuEventDestroy_v2(event: Handle) {
        state::healthy()?;
        driver().events.remove(event).map(drop)
    }
    fn cuEventRecord(event: Handle, stream: Handle) {
        record(event, stream)
    }
    fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: u32) {
        if flags > RECORD_EXTERNAL {
            return Err(INVALID_VALUE);
        }
        let (context, target) = state::stream(stream)?;
        if flags == RECORD_EXTERNAL {
            driver().events.get(event)?;
            // Outside of a capture there is no graph that the record could be a node of.
            if target.capture().is_none() {
                return Err(ILLEGAL_STATE);
            }
            return target.submit(&context, Operation::RecordEvent(event)).map(drop);
        }
        record(event, stream)
    }
    fn cuEventQuery(event: Handle) {
        let event = find(event)?;
        event.outside_capture()?;
        forbid_unsafe()?;
        match event.ticket() {
            Some(ticket) if !ticket.is_done() => Err(NOT_READY),
            _ => state::current_unchecked().map_or(Ok(()), |context| context.check()),
        }
    }
    fn cuEventSynchronize(event: Handle) {
        let event = find(event)?;
        event.outside_capture()?;
        forbid_unsafe()?;
        if let Some(ticket) = event.ticket() {
            ticket.wait();
        }
        state::current_unchecked().map_or(Ok(()), |context| context.check())
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
}

/// An event whose context is alive.
pub fn find(handle: Handle) -> Result<Arc<Event>, CUresult> {
    let event = state::initialised()?.events.get(handle)?;
    driver().contexts.get(event.home).map_err(|_| CONTEXT_IS_DESTROYED)?;
    Ok(event)
}

pub fn record(event: Handle, stream: Handle) -> Answer {
    let event = find(event)?;
    let (context, stream) = state::stream(stream)?;
    if event.home != state::home(&stream)? {
        return Err(INVALID_HANDLE);
    }
    let mark = match stream.capture() {
        Some(capture) => Mark { ticket: None, capture: Some((Arc::downgrade(&capture), stream.tail())) },
        None => Mark { ticket: Some(stream.marker(&context)), capture: None },
    };
    *lock(&event.mark) = mark;
    Ok(())
}

fn elapsed(out: *mut f32, start: Handle, end: Handle) -> Answer {
    let (start, end) = (find(start)?, find(end)?);
    if (start.flags | end.flags) & DISABLE_TIMING != 0 || start.home != end.home {
        return Err(INVALID_HANDLE);
    }
    if start.capture().is_some() || end.capture().is_some() {
        return Err(CAPTURED_EVENT);
    }
    let (Some(from), Some(to)) = (start.ticket(), end.ticket()) else { return Err(INVALID_HANDLE) };
    let (Some(from_ns), Some(to_ns)) = (from.end_ns(), to.end_ns()) else { return Err(NOT_READY) };
    unsafe { put(out, ((to_ns - from_ns) / 1e6) as f32) }
}
