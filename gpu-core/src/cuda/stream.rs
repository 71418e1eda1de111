//! A stream, its events and its graphs: queueing, timing and waiting that can be stopped.

use super::driver::{abandon, failed, is_abandoned};
use crate::device::RunError;
use cudarc::driver::sys::{self, CUdeviceptr};
use cudarc::driver::{CudaContext, DriverError, result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Waiting starts by asking at once again and again, for most kernels take microseconds, and goes over to sleeping
/// when a kernel runs longer than this.
const SPIN: Duration = Duration::from_millis(2);
const SLEEP: Duration = Duration::from_micros(200);

/// A stream that waits for the legacy default stream and is waited for by it: the synchronous copies and fills of
/// `memory.rs` go through that one, and on the device they may end after the call has returned.
pub(crate) struct Stream {
    handle: sys::CUstream,
    context: Arc<CudaContext>,
}

// SAFETY: stream handles are opaque driver objects that any thread may use.
unsafe impl Send for Stream {}

impl Stream {
    pub fn new(context: &Arc<CudaContext>) -> Result<Self, RunError> {
        context.bind_to_thread().map_err(|error| failed("binding the context", error))?;
        let handle = result::stream::create(result::stream::StreamKind::Default)
            .map_err(|error| failed("creating a stream", error))?;
        Ok(Self { handle, context: context.clone() })
    }

    pub fn raw(&self) -> sys::CUstream {
        self.handle
    }

    /// Waits until all that was queued is done.
    ///
    /// # Errors
    /// Sticky errors of the kernels; [`RunError::Stopped`] and [`RunError::Limit`] while the kernel still runs:
    /// CUDA cannot cancel it, so the process must end then.
    pub fn wait(&self, deadline: Instant, stop: &AtomicBool) -> Result<(), RunError> {
        let started = Instant::now();
        loop {
            // SAFETY: the stream lives as long as `self`.
            match unsafe { sys::cuStreamQuery(self.handle) } {
                sys::CUresult::CUDA_SUCCESS => break,
                sys::CUresult::CUDA_ERROR_NOT_READY => {}
                error => return Err(failed("running the kernel", DriverError(error))),
            }
            if stop.load(Ordering::Relaxed) {
                abandon();
                return Err(RunError::Stopped);
            }
            let now = Instant::now();
            if now >= deadline {
                abandon();
                return Err(RunError::Limit(format!(
                    "the kernel was still running after {:.0} s: look for a loop that never ends, or a barrier that not all threads reach",
                    (now - started).as_secs_f64()
                )));
            }
            if now - started < SPIN {
                std::thread::yield_now();
            } else {
                std::thread::sleep(SLEEP);
            }
        }
        // Already idle: this only makes the driver hand over what the kernel printed.
        // SAFETY: as above.
        unsafe { result::stream::synchronize(self.handle) }.map_err(|error| failed("running the kernel", error))
    }

    /// Queues a fill with one byte.
    pub fn fill(&self, address: CUdeviceptr, bytes: usize, value: u8) -> Result<(), RunError> {
        // SAFETY: callers pass the address and size of an allocation that they hold.
        unsafe { result::memset_d8_async(address, value, bytes, self.handle) }
            .map_err(|error| failed("filling memory", error))
    }

    /// Queues a copy inside the GPU.
    pub fn copy(&self, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<(), RunError> {
        // SAFETY: callers pass addresses and a size inside allocations that they hold, which do not overlap.
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.handle) }
            .map_err(|error| failed("copying on the GPU", error))
    }

    pub fn record(&self, event: &Event) -> Result<(), RunError> {
        // SAFETY: stream and event live through the call.
        unsafe { result::event::record(event.handle, self.handle) }.map_err(|error| failed("recording an event", error))
    }

    /// What is queued from now on begins when `event`, of another stream, has come to pass.
    pub fn wait_for(&self, event: &Event) -> Result<(), RunError> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: stream and event live through the call; the event has been recorded.
        unsafe { result::stream::wait_event(self.handle, event.handle, flags) }
            .map_err(|error| failed("waiting for an event", error))
    }

    /// Captures what `queue` queues into a graph.
    pub fn capture(&self, queue: impl FnOnce() -> Result<(), RunError>) -> Result<Graph, RunError> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream lives as long as `self`; every path below ends the capture.
        unsafe { result::stream::begin_capture(self.handle, mode) }.map_err(|error| failed("capturing", error))?;
        let queued = queue();
        // SAFETY: a capture is under way on this stream.
        let graph = unsafe { result::stream::end_capture(self.handle) };
        queued?;
        let graph = graph.map_err(|error| failed("capturing", error))?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: `graph` is valid; it is not needed once instantiated.
        let status = unsafe { sys::cuGraphInstantiateWithFlags(&mut handle, graph, 0) }.result();
        // SAFETY: as above.
        let _ = unsafe { result::graph::destroy(graph) };
        status.map_err(|error| failed("making a graph", error))?;
        Ok(Graph { handle })
    }

    pub fn launch_graph(&self, graph: &Graph) -> Result<(), RunError> {
        // SAFETY: graph and stream live through the call.
        unsafe { result::graph::launch(graph.handle, self.handle) }.map_err(|error| failed("launching a graph", error))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !is_abandoned() && self.context.bind_to_thread().is_ok() {
            // SAFETY: created in `new`, destroyed nowhere else.
            let _ = unsafe { result::stream::destroy(self.handle) };
        }
    }
}

/// A point in a stream whose time the GPU notes.
pub(crate) struct Event {
    handle: sys::CUevent,
}

impl Event {
    pub fn new() -> Result<Self, RunError> {
        let handle = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)
            .map_err(|error| failed("creating an event", error))?;
        Ok(Self { handle })
    }

    /// Nanoseconds from this event to a later one; both must have been waited for.
    pub fn nanos_until(&self, later: &Event) -> Result<f64, RunError> {
        let mut milliseconds = 0f32;
        // SAFETY: the function has this signature in every driver; both events live through the call.
        let status = unsafe { elapsed_function()?(&mut milliseconds, self.handle, later.handle) };
        status.result().map_err(|error| failed("reading a time", error))?;
        Ok(f64::from(milliseconds) * 1e6)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !is_abandoned() {
            // SAFETY: created in `new`, destroyed nowhere else.
            let _ = unsafe { result::event::destroy(self.handle) };
        }
    }
}

type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;

/// `cuEventElapsedTime` under the name that every driver has: cudarc's bindings for CUDA 13 know only the `_v2` that
/// came with 12.8.
fn elapsed_function() -> Result<Elapsed, RunError> {
    static FUNCTION: OnceLock<Option<Elapsed>> = OnceLock::new();
    // SAFETY: the library was loaded before any event could be made, and the symbol has this signature.
    let find = || unsafe { sys::culib().get::<Elapsed>(b"cuEventElapsedTime\0").ok().map(|symbol| *symbol) };
    FUNCTION
        .get_or_init(find)
        .ok_or_else(|| RunError::Environment("the NVIDIA driver lacks cuEventElapsedTime; update it".to_owned()))
}

/// A sequence of launches that costs the CPU one call.
pub(crate) struct Graph {
    handle: sys::CUgraphExec,
}

impl Drop for Graph {
    fn drop(&mut self) {
        if !is_abandoned() {
            // SAFETY: instantiated in `Stream::capture`, destroyed nowhere else.
            let _ = unsafe { result::graph::exec_destroy(self.handle) };
        }
    }
}
