//! Captures: work that streams record into graphs instead of doing it, and what may not be done meanwhile.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::ThreadId;

use crate::abi::*;
use crate::graph::Graph;
use crate::state::{self, driver, lock};
use crate::stream::Stream;

/// Values of `CUstreamCaptureMode`.
const MODE_GLOBAL: u32 = 0;
const MODE_RELAXED: u32 = 2;

/// A capture in progress, shared by all streams that joined it.
pub struct Capture {
    pub graph: Arc<Graph>,
    /// The graph's handle.
    pub handle: Handle,
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
    shown: Vec<Handle>,
}

impl Stream {
    /// Starts a capture into a new graph, or into an existing one behind some of its nodes.
    pub fn begin_capture(&self, mode: u32, graph: Option<(Handle, Arc<Graph>)>, tail: Vec<Handle>) -> Answer {
        let mut slot = lock(&self.capture);
        if mode > MODE_RELAXED {
            return Err(INVALID_VALUE);
        }
        if slot.is_some() {
            return Err(ILLEGAL_STATE);
        }
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let (handle, graph) = graph.unwrap_or_else(|| {
            crate::between::need();
            let graph = Arc::new(Graph::default());
            (driver().graphs.add(graph.clone()), graph)
        });
        let capture = Capture {
            graph,
            handle,
            id: u64::from(NEXT.fetch_add(1, Ordering::Relaxed)),
            invalid: Mutex::new(false),
            thread: std::thread::current().id(),
            mode,
        };
        let capture = Arc::new(capture);
        let mut active = lock(&ACTIVE);
        active.retain(|other| other.strong_count() > 0);
        active.push(Arc::downgrade(&capture));
        *slot = Some(Joined { capture, origin: true, tail, shown: Vec::new() });
        Ok(())
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

    /// Ends the capture in the stream where it began; every stream that joined it must have been waited for.
    pub fn end_capture(&self) -> Result<Handle, CUresult> {
        let mut slot = lock(&self.capture);
        let joined = slot.take().ok_or(ILLEGAL_STATE)?;
        if !joined.origin {
            joined.capture.invalidate();
            *slot = Some(joined);
            return Err(STREAM_CAPTURE_UNMATCHED);
        }
        drop(slot);
        let wrong_thread = joined.capture.mode != MODE_RELAXED && joined.capture.thread != std::thread::current().id();
        let Joined { capture, tail, .. } = joined;
        let mut unjoined = false;
        for (_, other) in driver().streams.all() {
            let mut theirs = lock(&other.capture);
            if let Some(part) = theirs.take_if(|part| Arc::ptr_eq(&part.capture, &capture)) {
                unjoined |= !capture.graph.reaches(&part.tail, &tail);
            }
        }
        let code = match (capture.is_invalid(), unjoined) {
            (true, _) => STREAM_CAPTURE_INVALIDATED,
            (false, _) if wrong_thread => STREAM_CAPTURE_WRONG_THREAD,
            (false, false) => return Ok(capture.handle),
            (false, true) => STREAM_CAPTURE_UNJOINED,
        };
        let _ = driver().graphs.remove(capture.handle);
        Err(code)
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
    for (_, stream) in driver().streams.all() {
        if let Some(capture) = stream.capture().filter(|_| stream.home == context) {
            capture.invalidate();
            forbidden = true;
        }
    }
    if forbidden { Err(STREAM_CAPTURE_UNSUPPORTED) } else { Ok(()) }
}

unsafe fn capture_info(
    stream: Handle,
    status: *mut u32,
    id: *mut u64,
    graph: *mut Handle,
    dependencies: *mut *const Handle,
    count: *mut usize,
) -> Answer {
    let (_, stream) = state::stream(stream)?;
    let mut slot = lock(&stream.capture);
    unsafe {
        put(status, slot.as_ref().map_or(0, |joined| 1 + u32::from(joined.capture.is_invalid())))?;
        if let Some(joined) = slot.as_mut() {
            joined.shown = joined.tail.clone();
            put_optional(id, joined.capture.id);
            put_optional(graph, joined.capture.handle);
            put_optional(dependencies, joined.shown.as_ptr());
            put_optional(count, joined.shown.len());
        }
    }
    Ok(())
}

unsafe fn update_dependencies(stream: Handle, dependencies: *const Handle, count: usize, flags: u32) -> Answer {
    /// `CU_STREAM_SET_CAPTURE_DEPENDENCIES`; 0 adds.
    const SET: u32 = 1;
    let (_, stream) = state::stream(stream)?;
    if stream.capture().is_none() {
        return Err(ILLEGAL_STATE);
    }
    if flags > SET || dependencies.is_null() && count > 0 {
        return Err(INVALID_VALUE);
    }
    let nodes = if count == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(dependencies, count) } };
    stream.come_after(nodes, flags == SET);
    Ok(())
}

api_with_streams! {
    fn cuStreamBeginCapture(stream: Handle) {
        let (_, target) = state::stream(stream)?;
        if stream < 2 {
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        target.begin_capture(MODE_GLOBAL, None, Vec::new())
    }
    fn cuStreamBeginCapture_v2(stream: Handle, mode: u32) {
        let (_, target) = state::stream(stream)?;
        if stream < 2 {
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        target.begin_capture(mode, None, Vec::new())
    }
    fn cuStreamBeginCaptureToGraph(stream: Handle, graph: Handle, dependencies: *const Handle, _edges: *const u64, count: usize, mode: u32) {
        let (_, target) = state::stream(stream)?;
        if stream < 2 {
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        let into = driver().graphs.get(graph)?;
        let tail = match (dependencies.is_null(), count) {
            (_, 0) => Vec::new(),
            (true, _) => return Err(INVALID_VALUE),
            (false, _) => std::slice::from_raw_parts(dependencies, count).to_vec(),
        };
        target.begin_capture(mode, Some((graph, into)), tail)
    }
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) {
        let (_, stream) = state::stream(stream)?;
        match stream.end_capture() {
            Ok(captured) if graph.is_null() => driver().graphs.remove(captured).map(drop),
            Ok(captured) => put(graph, captured),
            Err(code) => {
                put_optional(graph, 0);
                Err(code)
            }
        }
    }
    fn cuStreamIsCapturing(stream: Handle, status: *mut u32) {
        let (_, stream) = state::stream(stream)?;
        put(status, stream.capture().map_or(0, |capture| 1 + u32::from(capture.is_invalid())))
    }
    fn cuStreamGetCaptureInfo(stream: Handle, status: *mut u32, id: *mut u64) {
        capture_info(stream, status, id, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut())
    }
    fn cuStreamGetCaptureInfo_v2(stream: Handle, status: *mut u32, id: *mut u64, graph: *mut Handle, dependencies: *mut *const Handle, count: *mut usize) {
        capture_info(stream, status, id, graph, dependencies, count)
    }
    fn cuStreamGetCaptureInfo_v3(stream: Handle, status: *mut u32, id: *mut u64, graph: *mut Handle, dependencies: *mut *const Handle, edges: *mut *const u64, count: *mut usize) {
        // NULL stands for edges without data.
        put_optional(edges, std::ptr::null());
        capture_info(stream, status, id, graph, dependencies, count)
    }
    fn cuStreamUpdateCaptureDependencies(stream: Handle, dependencies: *const Handle, count: usize, flags: u32) {
        update_dependencies(stream, dependencies, count, flags)
    }
    fn cuStreamUpdateCaptureDependencies_v2(stream: Handle, dependencies: *const Handle, _edges: *const u64, count: usize, flags: u32) {
        update_dependencies(stream, dependencies, count, flags)
    }
    fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) {
        let wanted = *mode.as_ref().ok_or(INVALID_VALUE)?;
        if wanted > MODE_RELAXED {
            return Err(INVALID_VALUE);
        }
        put(mode, CAPTURE_MODE.replace(wanted))
    }
}
