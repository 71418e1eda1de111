//! Captures: that streams record work instead of doing it, and what may not be done meanwhile.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::ThreadId;

use super::stream::{STREAMS, Stream};
use crate::abi::*;
use crate::process::lock;

/// Values of `CUstreamCaptureMode`.
pub const MODE_GLOBAL: u32 = 0;
const MODE_RELAXED: u32 = 2;

/// A capture in progress, shared by all streams that joined it.
pub struct Capture {
    /// The handle of the graph that it goes into.
    pub graph: Handle,
    pub id: u64,
    invalid: Mutex<bool>,
    thread: ThreadId,
    mode: u32,
}

impl Capture {
    pub fn invalidate(&self) {
        *lock(&self.invalid) = true;
    }

    pub fn is_invalid(&self) -> bool {
        *lock(&self.invalid)
    }
}

/// A stream's part in a capture.
pub struct Joined {
    pub capture: Arc<Capture>,
    /// The capture began in this stream.
    origin: bool,
    /// Nodes that the next one comes after.
    pub tail: Vec<Handle>,
    /// The tail as a program last asked for it: it holds pointers to this until it asks again.
    pub shown: Vec<Handle>,
}

/// What a capture was when its first stream ended it.
pub struct Ended {
    pub capture: Arc<Capture>,
    /// The last nodes of that stream, and those of each other one that took part.
    pub tail: Vec<Handle>,
    pub others: Vec<Vec<Handle>>,
    /// Another thread than the one that began it ended it, and its mode does not allow that.
    pub wrong_thread: bool,
}

impl Stream {
    /// Starts a capture into a graph, behind some of its nodes.
    pub fn begin_capture(&self, mode: u32, graph: impl FnOnce() -> Handle, tail: Vec<Handle>) -> Answer {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let mut slot = lock(&self.capture);
        if mode > MODE_RELAXED {
            return Err(INVALID_VALUE);
        }
        if slot.is_some() {
            return Err(ILLEGAL_STATE);
        }
        let capture = Arc::new(Capture {
            graph: graph(),
            id: u64::from(NEXT.fetch_add(1, Ordering::Relaxed)),
            invalid: Mutex::new(false),
            thread: std::thread::current().id(),
            mode,
        });
        let mut active = lock(&ACTIVE);
        active.retain(|other| other.strong_count() > 0);
        active.push(Arc::downgrade(&capture));
        *slot = Some(Joined { capture, origin: true, tail, shown: Vec::new() });
        Ok(())
    }

    /// Ends the capture of this stream, where it began, and that of every stream that joined it.
    pub fn end_capture(&self) -> Result<Ended, CUresult> {
        let mut slot = lock(&self.capture);
        let joined = slot.take().ok_or(ILLEGAL_STATE)?;
        if !joined.origin {
            joined.capture.invalidate();
            *slot = Some(joined);
            return Err(STREAM_CAPTURE_UNMATCHED);
        }
        drop(slot);
        let Joined { capture, tail, .. } = joined;
        let wrong_thread = capture.mode != MODE_RELAXED && capture.thread != std::thread::current().id();
        let all = STREAMS.all();
        let part = |stream: &Stream| lock(&stream.capture).take_if(|part| Arc::ptr_eq(&part.capture, &capture));
        let others = all.iter().filter_map(|(_, other)| part(other)).map(|part| part.tail).collect();
        Ok(Ended { capture, tail, others, wrong_thread })
    }

    /// Joins another stream's capture (a wait on an event recorded in it).
    pub fn join_capture(&self, capture: &Arc<Capture>, nodes: &[Handle]) -> Answer {
        let mut slot = lock(&self.capture);
        match &*slot {
            Some(own) if !Arc::ptr_eq(&own.capture, capture) => {
                own.capture.invalidate();
                capture.invalidate();
                return Err(STREAM_CAPTURE_MERGE);
            }
            Some(_) => {}
            None => {
                let joined = Joined { capture: capture.clone(), origin: false, tail: Vec::new(), shown: Vec::new() };
                *slot = Some(joined);
            }
        }
        drop(slot);
        self.come_after(nodes, false);
        Ok(())
    }
}

/// Captures in progress, whichever stream they began in.
static ACTIVE: Mutex<Vec<Weak<Capture>>> = Mutex::new(Vec::new());

thread_local! {
    /// How much this thread cares for captures (`cuThreadExchangeStreamCaptureMode`).
    static CAPTURE_MODE: Cell<u32> = const { Cell::new(MODE_GLOBAL) };
}

/// For calls that may act on work of other streams, such as allocating: while a capture goes on that is not relaxed,
/// they are forbidden to its thread, and to all threads when it is global. The attempt ends the capture.
pub fn forbid_unsafe() -> Answer {
    let own_mode = CAPTURE_MODE.get();
    if own_mode == MODE_RELAXED {
        return Ok(());
    }
    let active: Vec<Arc<Capture>> = lock(&ACTIVE).iter().filter_map(Weak::upgrade).collect();
    let thread = std::thread::current().id();
    let hit = active.iter().filter(|capture| {
        let own = capture.thread == thread && capture.mode != MODE_RELAXED;
        own || own_mode == MODE_GLOBAL && capture.mode == MODE_GLOBAL
    });
    let mut forbidden = false;
    hit.for_each(|capture| {
        capture.invalidate();
        forbidden = true;
    });
    if forbidden { Err(STREAM_CAPTURE_UNSUPPORTED) } else { Ok(()) }
}

/// Ends every capture in a context: no call may wait for all its work while one goes on.
pub fn forbid_waiting(context: Handle) -> Answer {
    let mut forbidden = false;
    for (_, stream) in STREAMS.all() {
        if let Some(capture) = stream.capture().filter(|_| stream.home == context) {
            capture.invalidate();
            forbidden = true;
        }
    }
    if forbidden { Err(STREAM_CAPTURE_UNSUPPORTED) } else { Ok(()) }
}

/// How much this thread cares for captures from now on; gives how much it did.
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` for a mode that does not exist.
pub fn exchange_mode(wanted: u32) -> Result<u32, CUresult> {
    if wanted > MODE_RELAXED { Err(INVALID_VALUE) } else { Ok(CAPTURE_MODE.replace(wanted)) }
}
