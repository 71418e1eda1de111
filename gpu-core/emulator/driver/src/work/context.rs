//! Contexts, and which of them is current.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use super::stream::{self, Stream};
use crate::abi::*;
use crate::process::{self, Registry, lock};

/// Contexts by handle.
pub static CONTEXTS: LazyLock<Registry<Context>> = LazyLock::new(|| Registry::new(INVALID_CONTEXT));

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
            limits: Mutex::new(default_limits()),
            cache_config: AtomicU32::new(0),
            default_stream: Stream::new(0, 0, true, 0),
            per_thread_stream: Stream::new(0, 0, false, 0),
            blocking_streams: Mutex::default(),
        }
    }

    /// Fails when the context is gone, or with the sticky error; for calls that wait for work.
    pub fn check(&self) -> Answer {
        self.check_alive()?;
        process::driver().failure.seen()
    }

    /// As [`Context::check`], for calls that do not wait: an error of work that has only just run is not known yet.
    pub fn check_later(&self) -> Answer {
        self.check_alive()?;
        process::driver().failure.known()
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

/// The primary context of device 0.
pub struct PrimaryContext {
    /// The same for as long as the process lives, whether or not the context is alive.
    pub handle: Option<Handle>,
    pub references: u32,
    pub flags: u32,
}

/// The primary context.
pub static PRIMARY: Mutex<PrimaryContext> = Mutex::new(PrimaryContext { handle: None, references: 0, flags: 0 });

/// `CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH`.
const DEVICE_RUNTIME_SYNC_DEPTH: u32 = 3;

/// Limits by `CUlimit`, with the values that a driver starts with.
fn default_limits() -> BTreeMap<u32, usize> {
    let mut limits =
        BTreeMap::from([(0, 1024), (1, 1 << 20), (2, 8 << 20), (4, 2048), (5, 64), (6, 0), (7, 0), (8, 0)]);
    // How deep kernels may wait for kernels that they launched: from Hopper on they may not wait at all.
    if process::device::current().major < 9 {
        limits.insert(DEVICE_RUNTIME_SYNC_DEPTH, 2);
    }
    limits
}

thread_local! {
    /// This thread's stack of contexts; the last is current. It is never dropped: destructors of a C++ program's globals
    /// free memory after the main thread's own values are gone.
    pub static CURRENT: RefCell<ManuallyDrop<Vec<Handle>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// The current context of this thread, alive and without a sticky error.
pub fn current() -> Result<Arc<Context>, CUresult> {
    let context = current_unchecked()?;
    context.check_later()?;
    Ok(context)
}

/// The current context, whatever its state.
pub fn current_unchecked() -> Result<Arc<Context>, CUresult> {
    process::initialised()?;
    if stream::in_callback() {
        return Err(NOT_PERMITTED);
    }
    let handle = CURRENT.with_borrow(|stack| stack.last().copied()).filter(|handle| *handle != 0);
    let handle = handle.ok_or(INVALID_CONTEXT)?;
    CONTEXTS.get(handle).map_err(|_| CONTEXT_IS_DESTROYED)
}

/// Handle of the current context.
pub fn current_handle() -> Result<Handle, CUresult> {
    CURRENT.with_borrow(|stack| stack.last().copied()).filter(|handle| *handle != 0).ok_or(INVALID_CONTEXT)
}
