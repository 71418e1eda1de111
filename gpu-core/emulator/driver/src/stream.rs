//! Streams: in-order queues with a thread each, a virtual clock, and capture into graphs.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use crate::abi::*;
use crate::event::Event;
use crate::graph::{Graph, HostCall, Operation};
use crate::state::{self, Context, driver, lock};

/// Something for a stream to do. Takes the virtual time at which it starts and returns how long it took on the device,
/// both in nanoseconds.
pub type Work = Box<dyn FnOnce(f64) -> Result<f64, CUresult> + Send>;

/// Nanoseconds of the host clock since the library was first used.
pub fn host_now_ns() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as f64
}

/// The completion of one piece of work.
#[derive(Default)]
pub struct Ticket {
    /// End on the virtual device clock, in nanoseconds, once done.
    end_ns: Mutex<Option<f64>>,
    changed: Condvar,
}

impl Ticket {
    pub fn finished_at(end_ns: f64) -> Arc<Ticket> {
        Arc::new(Ticket { end_ns: Mutex::new(Some(end_ns)), changed: Condvar::new() })
    }

    pub fn end_ns(&self) -> Option<f64> {
        *lock(&self.end_ns)
    }

    pub fn wait(&self) -> f64 {
        let mut end = lock(&self.end_ns);
        loop {
            if let Some(end) = *end {
                return end;
            }
            end = self.changed.wait(end).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn finish(&self, end_ns: f64) {
        *lock(&self.end_ns) = Some(end_ns);
        self.changed.notify_all();
    }
}

struct Item {
    work: Option<Work>,
    waits_for: Vec<Arc<Ticket>>,
    ticket: Arc<Ticket>,
    submitted_ns: f64,
    context: Arc<Context>,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    running: bool,
    /// What the next item must wait for beside its predecessor (`cuStreamWaitEvent`).
    pending_waits: Vec<Arc<Ticket>>,
}

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

/// One stream.
pub struct Stream {
    pub flags: u32,
    pub priority: i32,
    pub id: u64,
    /// The context that it was made in; 0 for the default streams, of which each context has its own.
    pub home: Handle,
    /// Takes part in the legacy default stream's implicit ordering.
    blocking: bool,
    queue: Mutex<Queue>,
    arrived: Condvar,
    last: Mutex<Arc<Ticket>>,
    capture: Mutex<Option<Joined>>,
    attributes: Mutex<BTreeMap<u32, [u32; 16]>>,
}

/// A stream's part in a capture.
struct Joined {
    capture: Arc<Capture>,
    /// The capture began in this stream.
    origin: bool,
    /// Nodes that the next one comes after.
    tail: Vec<Handle>,
    /// The tail as a program last asked for it: it holds pointers to this until it asks again.
    shown: Vec<Handle>,
}

impl Stream {
    pub fn new(flags: u32, priority: i32, blocking: bool, home: Handle) -> Arc<Stream> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        Arc::new(Stream {
            flags,
            priority,
            id: u64::from(NEXT.fetch_add(1, Ordering::Relaxed)),
            home,
            blocking,
            queue: Mutex::default(),
            arrived: Condvar::new(),
            last: Mutex::new(Ticket::finished_at(0.0)),
            capture: Mutex::new(None),
            attributes: Mutex::default(),
        })
    }

    /// The completion of everything submitted so far.
    pub fn last(&self) -> Arc<Ticket> {
        lock(&self.last).clone()
    }

    pub fn capture(&self) -> Option<Arc<Capture>> {
        lock(&self.capture).as_ref().map(|joined| joined.capture.clone())
    }

    /// Nodes that the next captured one comes after.
    pub fn tail(&self) -> Vec<Handle> {
        lock(&self.capture).as_ref().map_or_else(Vec::new, |joined| joined.tail.clone())
    }

    /// Adds nodes for the next captured one to come after, or takes these instead of those before.
    fn come_after(&self, nodes: &[Handle], replace: bool) {
        if let Some(joined) = lock(&self.capture).as_mut() {
            if replace {
                joined.tail.clear();
            }
            for node in nodes {
                if !joined.tail.contains(node) {
                    joined.tail.push(*node);
                }
            }
        }
    }

    /// Queues an operation, or records it when the stream is capturing.
    pub fn submit(self: &Arc<Self>, context: &Arc<Context>, operation: Operation) -> Result<Arc<Ticket>, CUresult> {
        if let Some(capture) = self.capture() {
            if capture.is_invalid() {
                return Err(STREAM_CAPTURE_INVALIDATED);
            }
            let node = capture.graph.push(operation, &self.tail())?;
            self.come_after(&[node], true);
            return Ok(Ticket::finished_at(host_now_ns()));
        }
        Ok(self.enqueue(context, Some(Box::new(move |_| operation.run()))))
    }

    /// Queues a marker that is done when everything before it is.
    pub fn marker(self: &Arc<Self>, context: &Arc<Context>) -> Arc<Ticket> {
        self.enqueue(context, None)
    }

    /// Queues work behind all before it. Waits of the default stream on the others, and of the others on it, are added
    /// here.
    pub fn enqueue(self: &Arc<Self>, context: &Arc<Context>, work: Option<Work>) -> Arc<Ticket> {
        let mut waits_for = Vec::new();
        if self.blocking {
            if Arc::ptr_eq(self, &context.default_stream) {
                let mut blocking = lock(&context.blocking_streams);
                blocking.retain(|stream| stream.strong_count() > 0);
                waits_for.extend(blocking.iter().filter_map(Weak::upgrade).map(|stream| stream.last()));
            } else {
                waits_for.push(context.default_stream.last());
            }
        }
        let ticket = Arc::new(Ticket::default());
        let mut queue = lock(&self.queue);
        waits_for.append(&mut queue.pending_waits);
        *lock(&self.last) = ticket.clone();
        queue.items.push_back(Item {
            work,
            waits_for,
            ticket: ticket.clone(),
            submitted_ns: host_now_ns(),
            context: context.clone(),
        });
        if queue.running {
            self.arrived.notify_one();
        } else {
            queue.running = true;
            let stream = self.clone();
            let spawned = std::thread::Builder::new().name("cuda stream".into()).spawn(move || stream.serve());
            if spawned.is_err() {
                // No thread to be had: run it here, in order, rather than fail.
                drop(queue);
                self.clone().serve_once();
                lock(&self.queue).running = false;
            }
        }
        ticket
    }

    pub fn wait_for(&self, ticket: Arc<Ticket>) {
        lock(&self.queue).pending_waits.push(ticket);
    }

    /// The stream's thread: runs items in order; ends when none came for a while.
    fn serve(self: Arc<Self>) {
        let mut clock_ns = 0.0;
        loop {
            let mut queue = lock(&self.queue);
            let item = loop {
                if let Some(item) = queue.items.pop_front() {
                    break item;
                }
                let (next, timeout) = self
                    .arrived
                    .wait_timeout(queue, Duration::from_millis(500))
                    .unwrap_or_else(PoisonError::into_inner);
                queue = next;
                if timeout.timed_out() && queue.items.is_empty() {
                    queue.running = false;
                    return;
                }
            };
            drop(queue);
            clock_ns = run(item, clock_ns);
        }
    }

    fn serve_once(self: Arc<Self>) {
        let mut clock_ns = 0.0;
        while let Some(item) = { lock(&self.queue).items.pop_front() } {
            clock_ns = run(item, clock_ns);
        }
    }

    /// Waits for all work and reports the context's error.
    pub fn synchronize(&self, context: &Context) -> Answer {
        if let Some(capture) = self.capture() {
            capture.invalidate();
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        self.last().wait();
        context.check()
    }

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

thread_local! {
    /// A host function runs on this thread; it may not call CUDA.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a program's function on a stream's thread.
pub fn call_back(function: impl FnOnce()) {
    IN_CALLBACK.set(true);
    function();
    IN_CALLBACK.set(false);
}

/// Whether a host function is calling.
pub fn in_callback() -> bool {
    IN_CALLBACK.get()
}

/// Runs one item and returns the virtual time at its end.
fn run(item: Item, clock_ns: f64) -> f64 {
    let ready_ns = item.waits_for.iter().map(|ticket| ticket.wait()).fold(0.0, f64::max);
    let mut end_ns = clock_ns.max(ready_ns).max(item.submitted_ns);
    if let Some(work) = item.work
        && item.context.alive.load(Ordering::Acquire)
        && !driver().failure.happened()
    {
        match work(end_ns) {
            Ok(device_ns) => end_ns += device_ns,
            Err(code) => driver().failure.set(code),
        }
    }
    item.ticket.finish(end_ns);
    end_ns
}

const NON_BLOCKING: u32 = 1;
/// `CU_EVENT_WAIT_EXTERNAL`: in a capture, the wait is a node of the graph.
const WAIT_EXTERNAL: u32 = 1;
/// `CU_STREAM_CAPTURE_MODE_RELAXED`, the last of the modes.
const MODE_RELAXED: u32 = 2;
const MODE_GLOBAL: u32 = 0;

api_with_streams! {
    fn cuStreamCreate(stream: *mut Handle, flags: u32) {
        create(stream, flags, 0)
    }
    fn cuStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32) {
        create(stream, flags, priority.clamp(-5, 0))
    }
    fn cuStreamDestroy(stream: Handle) {
        state::healthy()?;
        driver().streams.remove(stream).map(drop)
    }
    fn cuStreamDestroy_v2(stream: Handle) {
        state::healthy()?;
        // Work already queued still runs: its thread holds the stream.
        driver().streams.remove(stream).map(drop)
    }
    fn cuStreamSynchronize(stream: Handle) {
        let (context, stream) = state::stream(stream)?;
        stream.synchronize(&context)
    }
    fn cuStreamQuery(stream: Handle) {
        let (context, stream) = state::stream(stream)?;
        if let Some(capture) = stream.capture() {
            capture.invalidate();
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        if stream.last().end_ns().is_some() { context.check() } else { Err(NOT_READY) }
    }
    fn cuStreamGetFlags(stream: Handle, flags: *mut u32) {
        put(flags, state::stream(stream)?.1.flags)
    }
    fn cuStreamGetPriority(stream: Handle, priority: *mut i32) {
        put(priority, state::stream(stream)?.1.priority)
    }
    fn cuStreamGetId(stream: Handle, id: *mut u64) {
        put(id, state::stream(stream)?.1.id)
    }
    fn cuStreamGetCtx(stream: Handle, context: *mut Handle) {
        let (_, stream) = state::stream(stream)?;
        put(context, state::home(&stream)?)
    }
    fn cuStreamGetDevice(stream: Handle, device: *mut i32) {
        state::stream(stream)?;
        put(device, 0)
    }
    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) {
        if flags > WAIT_EXTERNAL {
            return Err(INVALID_VALUE);
        }
        let (context, stream) = state::stream(stream)?;
        let found = crate::event::find(event)?;
        if flags == WAIT_EXTERNAL {
            if stream.capture().is_none() {
                return Err(ILLEGAL_STATE);
            }
            return stream.submit(&context, Operation::WaitEvent(event)).map(drop);
        }
        wait_event(&stream, &found)
    }
    fn cuStreamAddCallback(stream: Handle, callback: Option<unsafe extern "C" fn(Handle, CUresult, *mut c_void)>, data: *mut c_void, flags: u32) {
        let callback = callback.filter(|_| flags == 0).ok_or(INVALID_VALUE)?;
        let (context, target) = state::stream(stream)?;
        let data = data as usize;
        if let Some(capture) = target.capture() {
            capture.invalidate();
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        let work: Work = Box::new(move |_| {
            call_back(|| unsafe { callback(stream, SUCCESS, data as *mut c_void) });
            Ok(0.0)
        });
        target.enqueue(&context, Some(work));
        Ok(())
    }
    fn cuLaunchHostFunc(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) {
        let call = HostCall::new(function, data)?;
        let (context, stream) = state::stream(stream)?;
        stream.submit(&context, Operation::Host(call)).map(drop)
    }
    fn cuStreamAttachMemAsync(stream: Handle, pointer: CUdeviceptr, length: usize, flags: u32) {
        const GLOBAL: u32 = 1;
        const SINGLE: u32 = 4;
        state::stream(stream)?;
        let (start, range) = crate::memory::host_range(pointer as usize).ok_or(INVALID_VALUE)?;
        let whole = start == pointer as usize && (length == 0 || length == range.bytes);
        // Memory is visible to every stream here, which every attachment allows; the default stream takes none for itself.
        let allowed = matches!(flags, GLOBAL | 2) || flags == SINGLE && stream > 1;
        if range.managed && whole && allowed { Ok(()) } else { Err(INVALID_VALUE) }
    }
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
    fn cuStreamCopyAttributes(to: Handle, from: Handle) {
        let ((_, to), (_, from)) = (state::stream(to)?, state::stream(from)?);
        let copied = lock(&from.attributes).clone();
        *lock(&to.attributes) = copied;
        Ok(())
    }
    fn cuStreamGetAttribute(stream: Handle, attribute: u32, value: *mut [u32; 16]) {
        let (_, stream) = state::stream(stream)?;
        if value.is_null() {
            return Err(INVALID_VALUE);
        }
        put(value, stream.attribute(attribute)?)
    }
    fn cuStreamSetAttribute(stream: Handle, attribute: u32, value: *const [u32; 16]) {
        // They steer caches and scheduling, which do not change results.
        let (_, stream) = state::stream(stream)?;
        let value = value.as_ref().ok_or(INVALID_VALUE)?;
        stream.set_attribute(attribute, value)
    }
    fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) {
        let wanted = *mode.as_ref().ok_or(INVALID_VALUE)?;
        if wanted > MODE_RELAXED {
            return Err(INVALID_VALUE);
        }
        put(mode, CAPTURE_MODE.replace(wanted))
    }
}

/// Values of `CUlaunchAttributeID` that streams have.
const ATTRIBUTE_ACCESS_POLICY: u32 = 1;
const ATTRIBUTE_SYNC_POLICY: u32 = 3;
const ATTRIBUTE_PRIORITY: u32 = 8;
const ATTRIBUTE_SYNC_DOMAINS: u32 = 9;
const ATTRIBUTE_SYNC_DOMAIN: u32 = 10;
/// `CU_SYNC_POLICY_AUTO` to `CU_SYNC_POLICY_BLOCKING_SYNC`.
const SYNC_POLICIES: std::ops::RangeInclusive<u32> = 1..=4;

impl Stream {
    /// Attributes steer caches and scheduling, which do not change results; they are kept for who asks.
    fn attribute(&self, id: u32) -> Result<[u32; 16], CUresult> {
        let mut value = [0; 16];
        match id {
            ATTRIBUTE_PRIORITY => value[0] = self.priority as u32,
            // The default and the remote domain, one byte each.
            ATTRIBUTE_SYNC_DOMAINS => value[0] = 1 << 8,
            ATTRIBUTE_SYNC_POLICY => value[0] = 1,
            ATTRIBUTE_ACCESS_POLICY | ATTRIBUTE_SYNC_DOMAIN => {}
            _ => return Err(INVALID_VALUE),
        }
        Ok(lock(&self.attributes).get(&id).copied().unwrap_or(value))
    }

    fn set_attribute(&self, id: u32, value: &[u32; 16]) -> Answer {
        self.attribute(id)?;
        if id == ATTRIBUTE_SYNC_POLICY && !SYNC_POLICIES.contains(&value[0]) {
            return Err(INVALID_VALUE);
        }
        lock(&self.attributes).insert(id, *value);
        Ok(())
    }
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

fn create(out: *mut Handle, flags: u32, priority: i32) -> Answer {
    let context = state::current()?;
    if flags > NON_BLOCKING || out.is_null() {
        return Err(INVALID_VALUE);
    }
    let stream = Stream::new(flags, priority, flags & NON_BLOCKING == 0, crate::context::current_handle()?);
    if stream.blocking {
        lock(&context.blocking_streams).push(Arc::downgrade(&stream));
    }
    unsafe { put(out, driver().streams.add(stream)) }
}

fn wait_event(stream: &Arc<Stream>, event: &Event) -> Answer {
    if let Some((capture, nodes)) = event.capture() {
        return stream.join_capture(&capture, &nodes);
    }
    if let Some(capture) = stream.capture() {
        // An event from outside the capture cannot order work inside the graph.
        capture.invalidate();
        return Err(STREAM_CAPTURE_ISOLATION);
    }
    if let Some(ticket) = event.ticket() {
        stream.wait_for(ticket);
    }
    Ok(())
}
