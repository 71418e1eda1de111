//! Calls on events.

use std::sync::Arc;

use crate::abi::*;
use crate::graph::{Operation, submit};
use crate::process;
use crate::work;
use crate::work::capture::forbid_unsafe;
use crate::work::event::{DISABLE_TIMING, EVENTS, Event, INTERPROCESS, find, record};

/// `CU_EVENT_RECORD_EXTERNAL`: in a capture, the record is a node of the graph.
const RECORD_EXTERNAL: u32 = 1;

api_with_streams! {
    fn cuEventCreate(event: *mut Handle, flags: u32) {
        work::current()?;
        // Events for other processes cannot have times.
        if flags & !7 != 0 || flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS || event.is_null() {
            return Err(INVALID_VALUE);
        }
        let home = work::current_handle()?;
        put(event, EVENTS.add(Arc::new(Event::new(flags, home))))
    }
    fn cuEventDestroy(event: Handle) {
        process::healthy()?;
        EVENTS.remove(event).map(drop)
    }
    fn cuEventDestroy_v2(event: Handle) {
        process::healthy()?;
        EVENTS.remove(event).map(drop)
    }
    fn cuEventRecord(event: Handle, stream: Handle) {
        record(event, stream)
    }
    fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: u32) {
        if flags > RECORD_EXTERNAL {
            return Err(INVALID_VALUE);
        }
        let (context, target) = work::stream(stream)?;
        if flags == RECORD_EXTERNAL {
            EVENTS.get(event)?;
            // Outside of a capture there is no graph that the record could be a node of.
            if target.capture().is_none() {
                return Err(ILLEGAL_STATE);
            }
            return submit(&target, &context, Operation::RecordEvent(event)).map(drop);
        }
        record(event, stream)
    }
    fn cuEventQuery(event: Handle) {
        let event = find(event)?;
        event.outside_capture()?;
        forbid_unsafe()?;
        match event.ticket() {
            Some(ticket) if !ticket.is_done() => Err(NOT_READY),
            _ => work::current_unchecked().map_or(Ok(()), |context| context.check()),
        }
    }
    fn cuEventSynchronize(event: Handle) {
        let event = find(event)?;
        event.outside_capture()?;
        forbid_unsafe()?;
        if let Some(ticket) = event.ticket() {
            ticket.wait();
        }
        work::current_unchecked().map_or(Ok(()), |context| context.check())
    }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
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
