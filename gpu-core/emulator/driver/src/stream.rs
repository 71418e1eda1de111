//! Streams: in-order queues with a thread each, a virtual clock, and capture into graphs.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::abi::*;
use crate::between::{self, Clock, Moment};
use crate::capture::{Capture, Joined};
use crate::event::Event;
use crate::graph::{HostCall, Operation};
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
    /// What is known of the order of work once it is done; None while nobody asks for that.
    after: OnceLock<Arc<Clock>>,
}

impl Ticket {
    pub fn finished_at(end_ns: f64) -> Arc<Ticket> {
        Arc::new(Ticket { end_ns: Mutex::new(Some(end_ns)), ..Ticket::default() })
    }

    pub fn end_ns(&self) -> Option<f64> {
        *lock(&self.end_ns)
    }

    /// Whether it is done, as the program learns it.
    pub fn is_done(&self) -> bool {
        let done = self.end_ns().is_some();
        if done {
            between::host_saw(self.after.get());
        }
        done
    }

    /// Waits as the program does.
    pub fn wait(&self) -> f64 {
        let end_ns = self.done();
        between::host_saw(self.after.get());
        end_ns
    }

    /// Waits as a stream does.
    pub fn done(&self) -> f64 {
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
    moment: Option<Moment>,
    waits_for: Vec<Arc<Ticket>>,
    ticket: Arc<Ticket>,
    submitted_ns: f64,
    context: Arc<Context>,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    running: bool,
    /// Pieces of work so far.
    count: u64,
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
    pub capture: Mutex<Option<Joined>>,
    attributes: Mutex<BTreeMap<u32, [u32; 16]>>,
}

/// Every stream that is there or still has something to do.
static ALL: Mutex<Vec<Weak<Stream>>> = Mutex::new(Vec::new());

/// Waits for all work: that of every context's default streams too, and of streams that were destroyed meanwhile. What frees memory
/// does so, since nobody knows which work uses it.
pub fn wait_for_all() {
    let all: Vec<Arc<Stream>> = lock(&ALL).iter().filter_map(Weak::upgrade).collect();
    for stream in all {
        stream.last().wait();
    }
}

impl Stream {
    pub fn new(flags: u32, priority: i32, blocking: bool, home: Handle) -> Arc<Stream> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let stream = Arc::new(Stream {
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
        });
        let mut all = lock(&ALL);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&stream));
        stream
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
    pub fn come_after(&self, nodes: &[Handle], replace: bool) {
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
        self.enqueue_behind(context, Vec::new(), work)
    }

    /// Queues a wait for work of other streams: work of this one like all other, which is not done before that is.
    pub fn wait_for(self: &Arc<Self>, context: &Arc<Context>, ticket: Arc<Ticket>) {
        self.enqueue_behind(context, vec![ticket], None);
    }

    fn enqueue_behind(
        self: &Arc<Self>,
        context: &Arc<Context>,
        mut waits_for: Vec<Arc<Ticket>>,
        work: Option<Work>,
    ) -> Arc<Ticket> {
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
        let before = std::mem::replace(&mut *lock(&self.last), ticket.clone());
        queue.count += 1;
        let clocks: Vec<Option<Arc<Clock>>> =
            waits_for.iter().chain([&before]).map(|ticket| ticket.after.get().cloned()).collect();
        let moment = between::submit((self.id, queue.count), || self.title(), &clocks);
        if let Some(moment) = &moment {
            let _ = ticket.after.set(moment.after());
        }
        queue.items.push_back(Item {
            work,
            moment,
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

    /// How messages call it.
    fn title(&self) -> String {
        match (self.home, self.blocking) {
            (0, true) => "the default stream".to_owned(),
            (0, false) => "the thread's default stream".to_owned(),
            _ => format!("stream {}", self.id),
        }
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
    let ready_ns = item.waits_for.iter().map(|ticket| ticket.done()).fold(0.0, f64::max);
    let mut end_ns = clock_ns.max(ready_ns).max(item.submitted_ns);
    let work = item.work.filter(|_| item.context.alive.load(Ordering::Acquire) && !driver().failure.happened());
    match between::during(item.moment, || work.map_or(Ok(0.0), |work| work(end_ns))) {
        Ok(device_ns) => end_ns += device_ns,
        Err(code) => driver().failure.set(code),
    }
    item.ticket.finish(end_ns);
    end_ns
}

const NON_BLOCKING: u32 = 1;
/// `CU_EVENT_WAIT_EXTERNAL`: in a capture, the wait is a node of the graph.
const WAIT_EXTERNAL: u32 = 1;
/// `CU_HOST_TASK_SPINWAIT`, the last of its kind.
const HOST_TASK_SPINWAIT: u32 = 1;

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
        if stream.last().is_done() { context.check() } else { Err(NOT_READY) }
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
    fn cuStreamGetCtx_v2(stream: Handle, context: *mut Handle, green: *mut Handle) {
        let (_, stream) = state::stream(stream)?;
        put(context, state::home(&stream)?)?;
        // No stream is of a green context.
        put(green, 0)
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
        wait_event(&context, &stream, &found)
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
            between::tell_host();
            Ok(0.0)
        });
        target.enqueue(&context, Some(work));
        Ok(())
    }
    fn cuLaunchHostFunc(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) {
        host_call(stream, function, data)
    }
    fn cuLaunchHostFunc_v2(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void, mode: u32) {
        // How a thread waits for such calls, which it does without a difference here.
        if mode > HOST_TASK_SPINWAIT {
            return Err(INVALID_VALUE);
        }
        host_call(stream, function, data)
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

fn create(out: *mut Handle, flags: u32, priority: i32) -> Answer {
    let context = state::current()?;
    if flags > NON_BLOCKING || out.is_null() {
        return Err(INVALID_VALUE);
    }
    between::need();
    let stream = Stream::new(flags, priority, flags & NON_BLOCKING == 0, crate::context::current_handle()?);
    if stream.blocking {
        lock(&context.blocking_streams).push(Arc::downgrade(&stream));
    }
    unsafe { put(out, driver().streams.add(stream)) }
}

fn host_call(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) -> Answer {
    let call = HostCall::new(function, data)?;
    let (context, stream) = state::stream(stream)?;
    stream.submit(&context, Operation::Host(call)).map(drop)
}

fn wait_event(context: &Arc<Context>, stream: &Arc<Stream>, event: &Event) -> Answer {
    if let Some((capture, nodes)) = event.capture() {
        return stream.join_capture(&capture, &nodes);
    }
    if let Some(capture) = stream.capture() {
        // An event from outside the capture cannot order work inside the graph.
        capture.invalidate();
        return Err(STREAM_CAPTURE_ISOLATION);
    }
    if let Some(ticket) = event.ticket() {
        stream.wait_for(context, ticket);
    }
    Ok(())
}
