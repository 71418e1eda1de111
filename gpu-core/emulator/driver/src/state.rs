//! What the library knows: one process-wide driver with its device, contexts and handles.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
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
pub struct Registry<T> {
    objects: Mutex<HashMap<Handle, Arc<T>>>,
    /// What CUDA says of a handle that is none.
    unknown: CUresult,
}

impl<T> Registry<T> {
    pub fn new(unknown: CUresult) -> Registry<T> {
        Registry { objects: Mutex::default(), unknown }
    }

    pub fn add(&self, object: Arc<T>) -> Handle {
        let handle = next_handle();
        self.put(handle, object);
        handle
    }

    /// Gives a handle to another object.
    pub fn put(&self, handle: Handle, object: Arc<T>) {
        lock(&self.objects).insert(handle, object);
    }

    /// The object, or what CUDA says when there is none.
    pub fn get(&self, handle: Handle) -> Result<Arc<T>, CUresult> {
        lock(&self.objects).get(&handle).cloned().ok_or(self.unknown)
    }

    pub fn remove(&self, handle: Handle) -> Result<Arc<T>, CUresult> {
        lock(&self.objects).remove(&handle).ok_or(self.unknown)
    }

    pub fn all(&self) -> Vec<(Handle, Arc<T>)> {
        lock(&self.objects).iter().map(|(handle, object)| (*handle, object.clone())).collect()
    }
}

static NEXT_HANDLE: AtomicUsize = AtomicUsize::new(1);

/// Far from small integers, which CUDA uses for its special streams.
const FIRST_HANDLE: Handle = 0x1_0000;

fn next_handle() -> Handle {
    FIRST_HANDLE + NEXT_HANDLE.fetch_add(1, Ordering::Relaxed) * 16
}

/// Whether a handle was ever given out.
pub fn was_issued(handle: Handle) -> bool {
    handle > FIRST_HANDLE
        && handle.is_multiple_of(16)
        && (handle - FIRST_HANDLE) / 16 < NEXT_HANDLE.load(Ordering::Relaxed)
}

/// One context. All contexts of the device see the same memory, as with unified addressing.
pub struct Context {
    /// Number by which programs tell contexts apart, never used twice.
    pub id: u64,
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
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Context {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            flags: AtomicU32::new(flags),
            alive: AtomicBool::new(true),
            limits: Mutex::new(crate::context::default_limits()),
            cache_config: AtomicU32::new(0),
            default_stream: Stream::new(0, 0, true, 0),
            per_thread_stream: Stream::new(0, 0, false, 0),
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

    /// Whether a stream that orders itself with the default stream is being captured.
    pub fn legacy_stream_is_taken(&self) -> Answer {
        let streams: Vec<Arc<Stream>> = lock(&self.blocking_streams).iter().filter_map(Weak::upgrade).collect();
        match streams.iter().find_map(|stream| stream.capture()) {
            Some(capture) => {
                capture.invalidate();
                Err(STREAM_CAPTURE_IMPLICIT)
            }
            None => Ok(()),
        }
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
    /// The context that it goes with; 0 for memory that belongs to the device.
    pub owner: Handle,
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
}

/// The primary context of device 0.
#[derive(Default)]
pub struct PrimaryContext {
    /// The same for as long as the process lives, whether or not the context is alive.
    pub handle: Option<Handle>,
    pub references: u32,
    pub flags: u32,
}

/// The process that `cuInit` was called in; 0 before.
static INITIALISED: AtomicU32 = AtomicU32::new(0);

/// Marks `cuInit` as done.
///
/// # Errors
/// `CUDA_ERROR_NOT_INITIALIZED` in a process that was forked from one that used CUDA, whose threads it has not.
pub fn initialise() -> Answer {
    let process = std::process::id();
    driver();
    match INITIALISED.compare_exchange(0, process, Ordering::AcqRel, Ordering::Acquire) {
        Err(other) if other != process => Err(NOT_INITIALIZED),
        _ => Ok(()),
    }
}

/// The driver, or `NOT_INITIALIZED` before `cuInit`.
pub fn initialised() -> Result<&'static Driver, CUresult> {
    if INITIALISED.load(Ordering::Acquire) == std::process::id() { Ok(driver()) } else { Err(NOT_INITIALIZED) }
}

pub fn driver() -> &'static Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let memory_limit_bytes = crate::device::memory_bytes();
        let pools = Registry::new(INVALID_VALUE);
        let default_pool = pools.add(Arc::new(Pool::default()));
        Driver {
            failure: Failure::default(),
            memory: Mutex::new(Memory::new(memory_limit_bytes)),
            memory_limit_bytes,
            contexts: Registry::new(INVALID_CONTEXT),
            streams: Registry::new(INVALID_HANDLE),
            events: Registry::new(INVALID_HANDLE),
            libraries: Registry::new(INVALID_HANDLE),
            functions: Registry::new(INVALID_HANDLE),
            graphs: Registry::new(INVALID_VALUE),
            graph_execs: Registry::new(INVALID_VALUE),
            graph_memory: Mutex::default(),
            pools,
            primary: Mutex::default(),
            host: Mutex::default(),
            device: Mutex::default(),
            default_pool,
            current_pool: Mutex::new(default_pool),
        }
    })
}

thread_local! {
    /// This thread's stack of contexts; the last is current. It is never dropped: destructors of a C++ program's globals
    /// free memory after the main thread's own values are gone.
    pub static CURRENT: RefCell<ManuallyDrop<Vec<Handle>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// The driver, when no work has failed: after that, few calls do anything.
pub fn healthy() -> Result<&'static Driver, CUresult> {
    let driver = initialised()?;
    driver.failure.known()?;
    Ok(driver)
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
    if crate::stream::in_callback() {
        return Err(NOT_PERMITTED);
    }
    let handle = CURRENT.with_borrow(|stack| stack.last().copied()).filter(|handle| *handle != 0);
    let handle = handle.ok_or(INVALID_CONTEXT)?;
    driver.contexts.get(handle).map_err(|_| CONTEXT_IS_DESTROYED)
}

/// Resolves a stream handle: 0 and 1 are the legacy default stream, 2 the per-thread one. The context is the stream's.
pub fn stream(handle: Handle) -> Result<(Arc<Context>, Arc<Stream>), CUresult> {
    let handle = if handle == 0 && crate::abi::per_thread_default() { 2 } else { handle };
    if handle > 2 {
        let driver = initialised()?;
        let stream = driver.streams.get(handle)?;
        let context = driver.contexts.get(stream.home).map_err(|_| CONTEXT_IS_DESTROYED)?;
        context.check_later()?;
        return Ok((context, stream));
    }
    let context = current()?;
    let stream = if handle == 2 {
        crate::between::need();
        context.per_thread_stream.clone()
    } else {
        context.legacy_stream_is_taken()?;
        context.default_stream.clone()
    };
    Ok((context, stream))
}

/// The context of a stream, as a handle.
pub fn home(stream: &Stream) -> Result<Handle, CUresult> {
    if stream.home != 0 { Ok(stream.home) } else { crate::context::current_handle() }
}
