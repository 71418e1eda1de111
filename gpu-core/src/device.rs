//! One trait for everything that can run a compiled kernel.

use crate::compile::CompileReport;
use crate::cuda::CudaDevice;
use crate::emulator_device::EmulatorDevice;
use crate::spec::{Dtype, Geometry, ResolvedMap, Role};
use ptx_emulator::{Counters, Fault, LineCounters, Occupancy, TensorMap, Trace, TraceRequest};
use serde::{Deserialize, Serialize};
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

/// Opens a device. A GPU's context stays alive until the device is dropped.
///
/// # Errors
/// [`RunError::Environment`] when there is no such device here.
pub fn open(choice: &DeviceChoice) -> Result<Box<dyn Device>, RunError> {
    Ok(match choice {
        DeviceChoice::Emulator => Box::new(EmulatorDevice::new()),
        DeviceChoice::Gpu(ordinal) => Box::new(CudaDevice::open(*ordinal)?),
    })
}

/// Every device of this machine: GPUs by ordinal, then the emulator, which is always there.
pub fn list() -> Vec<DeviceInfo> {
    let mut devices = crate::cuda::list();
    devices.push(EmulatorDevice::describe());
    devices
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

/// One launch. Arguments are given apart.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    pub kernel: &'a str,
    pub geometry: Geometry,
    /// Registers that ptxas gave each thread, for the emulator's occupancy.
    pub registers_per_thread: Option<u32>,
    pub trace: Option<TraceRequest>,
    pub time_limit: Duration,
    /// The emulator takes it for a race when two threads store to one place of global memory, also the same value.
    pub written_once: bool,
}

/// What a launch did beside its outputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Every thread ran to its end.
    pub completed: bool,
    /// Emulator only, like all up to `occupancy`.
    pub faults: Vec<Fault>,
    pub counters: Option<Counters>,
    pub lines: Vec<LineCounters>,
    pub trace: Option<Trace>,
    /// Printed text that the device itself collected (a GPU prints to the process's own output).
    pub console: String,
    pub console_dropped_lines: u64,
    pub notes: Vec<String>,
    pub occupancy: Option<Occupancy>,
    pub corruptions: Vec<Corruption>,
    /// Elements of pure outputs that nobody wrote, by buffer. None where the device only knows the poison.
    pub unwritten: Option<Vec<(String, Vec<usize>)>>,
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

    /// Makes a module ready and forgets the one before.
    ///
    /// # Errors
    /// [`RunError::Environment`] when this device cannot run it, with the reason.
    fn load(&mut self, compiled: &CompileReport) -> Result<(), RunError>;

    /// Runs a kernel of the loaded module once. Outputs are poisoned before, and read back into `arguments`.
    ///
    /// # Errors
    /// See [`RunError`]. A kernel's own faults are in the report where the device can go on after them.
    fn run(&mut self, launch: &Launch<'_>, arguments: &mut [Argument], stop: &AtomicBool) -> Result<Report, RunError>;

    /// Runs a kernel once more in what the last run left of the module's variables, as a host does that launches it twice; buffers
    /// are made anew. None where the device keeps nothing, or nothing was left.
    ///
    /// # Errors
    /// As [`Device::run`].
    fn run_again(
        &mut self,
        _launch: &Launch<'_>,
        _arguments: &mut [Argument],
        _stop: &AtomicBool,
    ) -> Result<Option<Report>, RunError> {
        Ok(None)
    }

    /// The GPU behind this device, for timing; None for the emulator, which has no time to measure.
    fn as_cuda(&mut self) -> Option<&mut CudaDevice>;
}
