//! One trait for everything that can run a compiled kernel.

use crate::compile::CompileReport;
use crate::spec::{Dtype, Geometry, ResolvedMap, Role, TENSOR_MAP_ALIGN};
use ptx_emulator::{
    Counters, Fault, LaunchName, LineCounters, NonfiniteLog, Occupancy, SourceLine, TensorMap, Trace, TraceRequest,
};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Which device a job wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DeviceChoice {
    Emulator,
    /// GPU by CUDA ordinal.
    Gpu(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    Emulator,
    Gpu,
}

/// What is known of a device. Values that a device does not tell are None.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    pub choice: DeviceChoice,
    pub kind: DeviceKind,
    /// For example `NVIDIA H200`, or `Emulator (2 cores)`.
    pub name: String,
    /// Compute capability as major, minor; for the emulator that of its default architecture.
    pub capability: (u32, u32),
    /// Architecture that kernels are compiled for by default, as in `sm_90a`.
    pub arch: String,
    pub multiprocessors: Option<u32>,
    pub memory_bytes: Option<u64>,
    pub l2_bytes: Option<u64>,
    pub clock_khz: Option<u32>,
    pub memory_clock_khz: Option<u32>,
    pub memory_bus_bits: Option<u32>,
    pub shared_per_block_optin_bytes: Option<u32>,
    pub driver_version: Option<String>,
}

/// Why a device could not do, or finish, what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum RunError {
    /// The request makes no sense; says what is expected.
    #[error("{0}")]
    BadRequest(String),
    /// The machine lacks something; says what to do.
    #[error("{0}")]
    Environment(String),
    /// The device context is unusable from here on (illegal address and its kin): its process must end.
    #[error("{0}")]
    Sticky(String),
    #[error("stopped")]
    Stopped,
    /// A limit of the run was exceeded; says which and what to do.
    #[error("{0}")]
    Limit(String),
}

impl RunError {
    /// Whether a device of this kind can do nothing more in its process: after a sticky error, or because a kernel
    /// that was stopped or ran too long is still running on the GPU, where nothing can cancel it.
    pub fn loses(&self, kind: DeviceKind) -> bool {
        match self {
            RunError::Sticky(_) => true,
            RunError::Stopped | RunError::Limit(_) => kind == DeviceKind::Gpu,
            RunError::BadRequest(_) | RunError::Environment(_) => false,
        }
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Buffer(Buffer),
    /// The value's bytes, little-endian.
    Scalar(Vec<u8>),
    /// Made on the device, where the address of its buffer is known.
    TensorMap(ResolvedMap),
    /// Any tiled tensor map, made likewise; its address counts from the start of an argument.
    TiledMap {
        buffer: usize,
        map: TensorMap,
    },
}

/// Device memory that a kernel gets a pointer to.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    pub name: String,
    pub dtype: Dtype,
    pub role: Role,
    /// Before a run what the memory holds (ignored for `Role::Out`, whose `len` alone counts), after it what the
    /// kernel left there. Elements of an output that nobody wrote hold [`Dtype::poison`].
    pub bytes: Vec<u8>,
}

/// One launch of a [`Sequence`].
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// As reports call it; None for a launch by itself.
    pub name: Option<LaunchName>,
    /// File of the course's kernel that is launched; None: a kernel of the learner's text.
    pub given: Option<&'a str>,
    pub kernel: &'a str,
    pub geometry: Geometry,
    /// Registers that ptxas gave each thread, for the emulator's occupancy.
    pub registers_per_thread: Option<u32>,
    /// Places of the arguments that the kernel takes, in its order; None: all of them.
    pub takes: Option<Vec<usize>>,
    /// Scalars that have another value in this launch: the argument's place, and its bytes.
    pub scalars: Vec<(usize, Vec<u8>)>,
    pub trace: Option<TraceRequest>,
    /// Lines whose values the trace keeps.
    pub watched: Vec<SourceLine>,
}

impl<'a> Launch<'a> {
    /// A launch of a kernel that takes all arguments.
    pub fn new(kernel: &'a str, geometry: Geometry) -> Self {
        Launch {
            name: None,
            given: None,
            kernel,
            geometry,
            registers_per_thread: None,
            takes: None,
            scalars: Vec::new(),
            trace: None,
            watched: Vec::new(),
        }
    }

    /// Places of the arguments that the kernel takes, of `count` in all.
    pub fn places(&self, count: usize) -> Vec<usize> {
        self.takes.clone().unwrap_or_else(|| (0..count).collect())
    }

    /// An error of this launch says which one it is of.
    pub fn blame(&self, error: RunError) -> RunError {
        let Some(name) = &self.name else { return error };
        let named = |message: String| format!("{name}: {message}");
        match error {
            RunError::BadRequest(message) => RunError::BadRequest(named(message)),
            RunError::Environment(message) => RunError::Environment(named(message)),
            RunError::Sticky(message) => RunError::Sticky(named(message)),
            RunError::Limit(message) => RunError::Limit(named(message)),
            RunError::Stopped => RunError::Stopped,
        }
    }
}

/// Launches one after the other over the same memory. Arguments are given apart.
#[derive(Clone, Debug)]
pub struct Sequence<'a> {
    pub launches: Vec<Launch<'a>>,
    /// Of all launches together.
    pub time_limit: Duration,
    /// The emulator takes it for a race when two threads store to one place of global memory, also the same value.
    pub written_once: bool,
    /// The emulator follows infinities and NaN into this, and neither checks nor counts meanwhile.
    pub nonfinite: Option<NonfiniteLog>,
}

impl<'a> Sequence<'a> {
    /// One launch.
    pub fn of(launch: Launch<'a>, time_limit: Duration) -> Self {
        Sequence { launches: vec![launch], time_limit, written_once: false, nonfinite: None }
    }
}

/// What a sequence did beside its outputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Every thread of every launch ran to its end.
    pub completed: bool,
    /// Emulator only, like all up to `occupancy`. Of the first launch that has any: the launches after it are not made.
    pub faults: Vec<Fault>,
    /// Of all launches together.
    pub counters: Option<Counters>,
    /// Of each launch that was made, in order.
    pub each: Vec<Counters>,
    /// Of all launches together.
    pub lines: Vec<LineCounters>,
    /// Of the launches that ask for one, in order.
    pub traces: Vec<Trace>,
    /// Printed text that the device itself collected (a GPU prints to the process's own output).
    pub console: String,
    pub console_dropped_lines: u64,
    pub notes: Vec<String>,
    /// Of the first launch.
    pub occupancy: Option<Occupancy>,
    pub corruptions: Vec<Corruption>,
    /// Elements of pure outputs that nobody wrote, by buffer. None where the device only knows the poison.
    pub unwritten: Option<Vec<(String, Vec<usize>)>>,
    /// Where the buffers were, in a run that followed values (emulator only).
    pub addresses: Vec<(String, u64)>,
    /// `__device__` variables that hold something else than before the run (emulator only).
    pub changed_variables: Vec<String>,
}

/// Memory that a kernel changed and should not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corruption {
    pub buffer: String,
    pub kind: CorruptionKind,
    /// Byte offset of the first change from the buffer's start; negative before it.
    pub first_byte: i64,
    /// For inputs the bytes of all changed elements.
    pub changed_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorruptionKind {
    /// In the guard zone before or after a buffer.
    Guard,
    /// Inside an `in` buffer.
    Input,
}

/// Anything that runs a compiled kernel.
pub trait Device: Send {
    fn info(&self) -> &DeviceInfo;

    /// Makes the learner's module ready, and the course's kernels that belong to it; forgets those before.
    ///
    /// # Errors
    /// [`RunError::Environment`] when this device cannot run it, with the reason.
    fn load(&mut self, compiled: &CompileReport) -> Result<(), RunError>;

    /// Runs kernels of the loaded modules, one after the other. Outputs are poisoned before the first, and read back
    /// into `arguments` after the last.
    ///
    /// # Errors
    /// See [`RunError`]. A kernel's own faults are in the report where the device can go on after them.
    fn run(
        &mut self,
        sequence: &Sequence<'_>,
        arguments: &mut [Argument],
        stop: &AtomicBool,
    ) -> Result<Report, RunError>;

    /// Runs a kernel once more in what the last run left of the module's variables, as a host does that launches it twice; buffers
    /// are made anew. None where the device keeps nothing, or nothing was left.
    ///
    /// # Errors
    /// As [`Device::run`].
    fn run_again(
        &mut self,
        _sequence: &Sequence<'_>,
        _arguments: &mut [Argument],
        _stop: &AtomicBool,
    ) -> Result<Option<Report>, RunError> {
        Ok(None)
    }

    /// This device itself, or the one behind it, for what only one kind can do: `CudaDevice::behind`.
    fn as_any(&mut self) -> &mut dyn Any;
}

/// A launch's argument block, out of what each argument is by itself.
pub(crate) fn pack_of(launch: &Launch<'_>, packed: &[Vec<u8>]) -> Vec<u8> {
    let mut params = Vec::new();
    for place in launch.places(packed.len()) {
        let own = launch.scalars.iter().find(|(index, _)| *index == place).map(|(_, bytes)| bytes);
        if let Some(bytes) = own.or(packed.get(place)) {
            pack(&mut params, bytes);
        }
    }
    params
}

/// Appends an argument at its natural alignment, as CUDA lays out kernel parameters: its size, but 64 for a tensor
/// map.
pub(crate) fn pack(params: &mut Vec<u8>, bytes: &[u8]) {
    params.resize(params.len().next_multiple_of(bytes.len().clamp(1, TENSOR_MAP_ALIGN)), 0);
    params.extend_from_slice(bytes);
}

/// The first difference between an input before and after a run.
pub(crate) fn changed_input(buffer: &Buffer, after: &[u8]) -> Option<Corruption> {
    if buffer.bytes == after {
        return None;
    }
    let size = buffer.dtype.bytes();
    let changed = |at: &usize| buffer.bytes[at * size..][..size] != after[at * size..][..size];
    let elements = 0..after.len() / size;
    Some(Corruption {
        buffer: buffer.name.clone(),
        kind: CorruptionKind::Input,
        first_byte: (elements.clone().find(changed)? * size) as i64,
        changed_bytes: (elements.filter(changed).count() * size) as u64,
    })
}
