//! Streams: in-order queues with a thread each, on a virtual clock.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::capture::{Capture, Joined};
use super::context::{CONTEXTS, Context, current, current_handle};
use super::order::{self, Clock, Moment};
use super::ticket::{Ticket, host_now_ns};
use crate::abi::*;
use crate::process::{self, Registry, driver, lock};

/// Streams by handle, but for the default ones.
pub static STREAMS: LazyLock<Registry<Stream>> = LazyLock::new(|| Registry::new(INVALID_HANDLE));

/// Something for a stream to do. Takes the virtual time at which it starts and returns how long it took on the device,
/// both in nanoseconds.
pub type Work = Box<dyn FnOnce(f64) -> Result<f64, CUresult> + Send>;

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
    pub blocking: bool,
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
        let moment = order::submit((self.id, queue.count), || self.title(), &clocks);
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
    match order::during(item.moment, || work.map_or(Ok(0.0), |work| work(end_ns))) {
        Ok(device_ns) => end_ns += device_ns,
        Err(code) => driver().failure.set(code),
    }
    item.ticket.finish(end_ns);
    end_ns
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
    pub fn attribute(&self, id: u32) -> Result<[u32; 16], CUresult> {
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

    pub fn copy_attributes(&self, from: &Stream) {
        let copied = lock(&from.attributes).clone();
        *lock(&self.attributes) = copied;
    }

    pub fn set_attribute(&self, id: u32, value: &[u32; 16]) -> Answer {
        self.attribute(id)?;
        if id == ATTRIBUTE_SYNC_POLICY && !SYNC_POLICIES.contains(&value[0]) {
            return Err(INVALID_VALUE);
        }
        lock(&self.attributes).insert(id, *value);
        Ok(())
    }
}

/// Resolves a stream handle: 0 and 1 are the legacy default stream, 2 the per-thread one. The context is the stream's.
pub fn resolve(handle: Handle) -> Result<(Arc<Context>, Arc<Stream>), CUresult> {
    let handle = if handle == 0 && per_thread_default() { 2 } else { handle };
    if handle > 2 {
        process::initialised()?;
        let stream = STREAMS.get(handle)?;
        let context = CONTEXTS.get(stream.home).map_err(|_| CONTEXT_IS_DESTROYED)?;
        context.check_later()?;
        return Ok((context, stream));
    }
    let context = current()?;
    let stream = if handle == 2 {
        order::need();
        context.per_thread_stream.clone()
    } else {
        context.legacy_stream_is_taken()?;
        context.default_stream.clone()
    };
    Ok((context, stream))
}

/// The context of a stream, as a handle.
pub fn home(stream: &Stream) -> Result<Handle, CUresult> {
    if stream.home != 0 { Ok(stream.home) } else { current_handle() }
}
