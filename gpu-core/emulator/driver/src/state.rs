//! What the library knows: one process-wide driver with its device, contexts and handles.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use ptx_emulator::Memory;

use crate::abi::*;
use crate::event::Event;
use crate::graph::{Executable, Graph, GraphMemory};
use crate::module::{Function, Library};
use crate::pool::Pool;
use crate::stream::Stream;

/// Locks, taking the value even if another thread panicked: every holder leaves it consistent.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Objects by handle.
pub struct Registry<T>(Mutex<HashMap<Handle, Arc<T>>>);

impl<T> Registry<T> {
    fn new() -> Registry<T> {
        Registry(Mutex::new(HashMap::new()))
    }

    pub fn add(&self, object: Arc<T>) -> Handle {
        let handle = next_handle();
        lock(&self.0).insert(handle, object);
        handle
    }

    /// The object, or `CUDA_ERROR_INVALID_HANDLE`.
    pub fn get(&self, handle: Handle) -> Result<Arc<T>, CUresult> {
        lock(&self.0).get(&handle).cloned().ok_or(INVALID_HANDLE)
    }

    pub fn remove(&self, handle: Handle) -> Result<Arc<T>, CUresult> {
        lock(&self.0).remove(&handle).ok_or(INVALID_HANDLE)
    }

    pub fn all(&self) -> Vec<(Handle, Arc<T>)> {
        lock(&self.0).iter().map(|(handle, object)| (*handle, object.clone())).collect()
    }
}

fn next_handle() -> Handle {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    // Far from small integers, which CUDA uses for its special streams.
    0x1_0000 + NEXT.fetch_add(1, Ordering::Relaxed) * 16
}

/// One context. All contexts of the device see the same memory, as with unified addressing.
pub struct Context {
    pub flags: AtomicU32,
    pub alive: AtomicBool,
    pub limits: Mutex<BTreeMap<u32, usize>>,
    pub cache_config: AtomicU32,
    /// Stream 0 of this context.
    pub default_stream: Arc<Stream>,
    pub per_thread_stream: Arc<Stream>,
    /// Streams that order themselves with the default stream.
    pub blocking_streams: Mutex<Vec<Weak<Stream>>>,
}

impl Context {
    pub fn new(flags: u32) -> Context {
        Context {
            flags: AtomicU32::new(flags),
            alive: AtomicBool::new(true),
            limits: Mutex::new(crate::context::default_limits()),
            cache_config: AtomicU32::new(0),
            default_stream: Stream::new(0, 0, true),
            per_thread_stream: Stream::new(0, 0, false),
            blocking_streams: Mutex::default(),
        }
    }

    /// Fails when the context is gone, or with the sticky error; for calls that wait for work.
    pub fn check(&self) -> Answer {
        self.check_alive()?;
        driver().failure.seen()
    }

    /// As [`Context::check`], for calls that do not wait: an error of work that has only just run is not known yet.
    fn check_later(&self) -> Answer {
        self.check_alive()?;
        driver().failure.known()
    }

    fn check_alive(&self) -> Answer {
        if self.alive.load(Ordering::Acquire) { Ok(()) } else { Err(CONTEXT_IS_DESTROYED) }
    }
}

/// The first error of asynchronous work. It belongs to the process: on hardware no call works after it, in no context,
/// old or new (seen on an H200).
#[derive(Default)]
pub struct Failure(Mutex<Option<(CUresult, Instant)>>);

/// A GPU takes longer than the host to get from a launch to the next call, so that call never has the launch's error;
/// the emulator, which may be done in microseconds, waits this long before it tells calls that do not wait.
const SURFACES_AFTER: Duration = Duration::from_millis(20);

impl Failure {
    pub fn set(&self, code: CUresult) {
        lock(&self.0).get_or_insert_with(|| (code, Instant::now() + SURFACES_AFTER));
    }

    /// The error as of now; from here on every call has it.
    fn seen(&self) -> Answer {
        match lock(&self.0).as_mut() {
            Some((code, surfaces)) => {
                *surfaces = Instant::now();
                Err(*code)
            }
            None => Ok(()),
        }
    }

    fn known(&self) -> Answer {
        match *lock(&self.0) {
            Some((code, surfaces)) if Instant::now() >= surfaces => Err(code),
            _ => Ok(()),
        }
    }

    /// For work that is about to run: nothing runs after a failure.
    pub fn happened(&self) -> bool {
        lock(&self.0).is_some()
    }
}

/// A range of host memory known to the driver.
#[derive(Clone, Copy, Debug)]
pub struct HostRange {
    pub bytes: usize,
    pub managed: bool,
    /// Allocated by `cuMemHostAlloc` and friends (else registered).
    pub owned: bool,
    pub flags: u32,
}

/// A device allocation's bookkeeping beside the emulator's own.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRange {
    pub bytes: u64,
    pub pool: Option<Handle>,
}

/// The whole driver.
pub struct Driver {
    pub failure: Failure,
    pub memory: Mutex<Memory>,
    pub memory_limit_bytes: u64,
    pub contexts: Registry<Context>,
    pub streams: Registry<Stream>,
    pub events: Registry<Event>,
    pub libraries: Registry<Library>,
    pub functions: Registry<Function>,
    pub graphs: Registry<Graph>,
    pub graph_execs: Registry<Executable>,
    pub graph_memory: Mutex<GraphMemory>,
    pub pools: Registry<Pool>,
    pub primary: Mutex<PrimaryContext>,
    pub host: Mutex<BTreeMap<usize, HostRange>>,
    pub device: Mutex<BTreeMap<u64, DeviceRange>>,
    pub default_pool: Handle,
    pub current_pool: Mutex<Handle>,
    pub linked: Mutex<HashMap<Handle, Vec<u8>>>,
}

/// The primary context of device 0.
#[derive(Default)]
pub struct PrimaryContext {
    pub handle: Option<Handle>,
    pub references: u32,
    pub flags: u32,
}

static INITIALISED: AtomicBool = AtomicBool::new(false);

/// Marks `cuInit` as done.
pub fn initialise() {
    driver();
    INITIALISED.store(true, Ordering::Release);
}

/// The driver, or `NOT_INITIALIZED` before `cuInit`.
pub fn initialised() -> Result<&'static Driver, CUresult> {
    if INITIALISED.load(Ordering::Acquire) { Ok(driver()) } else { Err(NOT_INITIALIZED) }
}

pub fn driver() -> &'static Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let memory_limit_bytes = crate::device::memory_bytes();
        let pools = Registry::new();
        let default_pool = pools.add(Arc::new(Pool::default()));
        Driver {
            failure: Failure::default(),
            memory: Mutex::new(Memory::new(memory_limit_bytes)),
            memory_limit_bytes,
            contexts: Registry::new(),
            streams: Registry::new(),
            events: Registry::new(),
            libraries: Registry::new(),
            functions: Registry::new(),
            graphs: Registry::new(),
            graph_execs: Registry::new(),
            graph_memory: Mutex::default(),
            pools,
            primary: Mutex::default(),
            host: Mutex::default(),
            device: Mutex::default(),
            default_pool,
            current_pool: Mutex::new(default_pool),
            linked: Mutex::default(),
        }
    })
}

thread_local! {
    /// This thread's stack of contexts; the last is current.
    pub static CURRENT: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

/// The current context of this thread, alive and without a sticky error.
pub fn current() -> Result<Arc<Context>, CUresult> {
    let context = current_unchecked()?;
    context.check_later()?;
    Ok(context)
}

/// The current context, whatever its state.
pub fn current_unchecked() -> Result<Arc<Context>, CUresult> {
    let driver = initialised()?;
    let handle = CURRENT.with_borrow(|stack| stack.last().copied()).filter(|handle| *handle != 0);
    let handle = handle.ok_or(INVALID_CONTEXT)?;
    driver.contexts.get(handle).map_err(|_| CONTEXT_IS_DESTROYED)
}

/// Resolves a stream handle: 0 and 1 are the legacy default stream, 2 the per-thread one.
pub fn stream(handle: Handle) -> Result<(Arc<Context>, Arc<Stream>), CUresult> {
    let context = current()?;
    let stream = match handle {
        0 | 1 => context.default_stream.clone(),
        2 => context.per_thread_stream.clone(),
        other => driver().streams.get(other)?,
    };
    Ok((context, stream))
}
