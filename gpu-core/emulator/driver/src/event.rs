//! Events: marks in streams, with times of the virtual device clock.

use std::sync::{Arc, Mutex, Weak};

use crate::abi::*;
use crate::graph::Operation;
use crate::state::{self, driver, lock};
use crate::stream::{Capture, Ticket};

const DISABLE_TIMING: u32 = 2;
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
    mark: Mutex<Mark>,
}

impl Event {
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

api! {
    fn cuEventCreate(event: *mut Handle, flags: u32) {
        state::current()?;
        if flags & !7 != 0 {
            return Err(INVALID_VALUE);
        }
        put(event, driver().events.add(Arc::new(Event { flags, mark: Mutex::default() })))
    }
    fn cuEventDestroy_v2(event: Handle) {
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
        if flags == RECORD_EXTERNAL && target.capture().is_some() {
            driver().events.get(event)?;
            return target.submit(&context, Operation::RecordEvent(event)).map(drop);
        }
        record(event, stream)
    }
    fn cuEventQuery(event: Handle) {
        let event = driver().events.get(event)?;
        event.outside_capture()?;
        match event.ticket() {
            Some(ticket) if ticket.end_ns().is_none() => Err(NOT_READY),
            _ => state::current_unchecked().map_or(Ok(()), |context| context.check()),
        }
    }
    fn cuEventSynchronize(event: Handle) {
        let event = driver().events.get(event)?;
        event.outside_capture()?;
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

fn record(event: Handle, stream: Handle) -> Answer {
    let event = driver().events.get(event)?;
    let (context, stream) = state::stream(stream)?;
    let mark = match stream.capture() {
        Some(capture) => Mark { ticket: None, capture: Some((Arc::downgrade(&capture), stream.tail())) },
        None => Mark { ticket: Some(stream.marker(&context)), capture: None },
    };
    *lock(&event.mark) = mark;
    Ok(())
}

fn elapsed(out: *mut f32, start: Handle, end: Handle) -> Answer {
    let (start, end) = (driver().events.get(start)?, driver().events.get(end)?);
    if (start.flags | end.flags) & DISABLE_TIMING != 0 {
        return Err(INVALID_HANDLE);
    }
    start.outside_capture()?;
    end.outside_capture()?;
    let (Some(from), Some(to)) = (start.ticket(), end.ticket()) else { return Err(INVALID_HANDLE) };
    let (Some(from_ns), Some(to_ns)) = (from.end_ns(), to.end_ns()) else { return Err(NOT_READY) };
    unsafe { put(out, ((to_ns - from_ns) / 1e6) as f32) }
}
