//! GPUs through the CUDA driver, loaded at run time: nothing is linked, and a machine without a driver only hears
//! that there is none.

mod driver;
mod host_memory;
mod memory;
mod module;
mod recursion;
mod stream;
pub(crate) mod tensor_map;

pub(crate) use driver::is_abandoned;
pub use driver::sticky_cause;
pub(crate) use host_memory::HostMemory;
pub(crate) use memory::{DeviceMemory, GuardedBuffer};
pub(crate) use module::{Function, Module};
pub(crate) use stream::{Event, Graph, Stream};

use crate::compile::CompileReport;
use crate::device::{
    Argument, Corruption, Device, DeviceInfo, Launch, Report, RunError, Sequence, changed_input, pack_of,
};
use crate::measured::Ceilings;
use crate::spec::Role;
use cudarc::driver::CudaContext;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Every GPU of this machine by ordinal; empty without a working driver.
pub fn list() -> Vec<DeviceInfo> {
    // cudarc panics when a driver lacks a function; a broken driver must not take the caller along.
    let found = std::panic::catch_unwind(|| {
        let count = driver::count().unwrap_or(0);
        (0..count).filter_map(|ordinal| driver::describe_device(ordinal).ok()).collect()
    });
    found.unwrap_or_default()
}

/// What a module is loaded from: machine code, and the PTX for drivers that take none.
#[derive(Clone, PartialEq, Eq)]
struct Images {
    cubin: Vec<u8>,
    ptx: String,
}

/// An open GPU with a warm context.
pub struct CudaDevice {
    info: DeviceInfo,
    // Fields are dropped in order: the module and the stream before their context.
    module: Option<(Images, Module)>,
    /// The course's kernels by file.
    given: Vec<(String, Module)>,
    pub(crate) stream: Stream,
    pub(crate) context: Arc<CudaContext>,
    /// Measured once per process, when first needed.
    pub(crate) ceilings: Option<Ceilings>,
}

impl CudaDevice {
    /// The GPU behind a device, for timing; None for the emulator, which has no time to measure.
    pub fn behind(device: &mut dyn Device) -> Option<&mut CudaDevice> {
        device.as_any().downcast_mut()
    }

    /// Opens the GPU with this CUDA ordinal and creates its context (about 0.1 s).
    ///
    /// # Errors
    /// [`RunError::Environment`] with what is missing.
    pub fn open(ordinal: u32) -> Result<Self, RunError> {
        let info = driver::describe_device(ordinal)?;
        let context =
            CudaContext::new(ordinal as usize).map_err(|error| driver::failed("creating a context", error))?;
        // SAFETY: event tracking synchronises cudarc's own slices between streams; this crate uses none of them.
        unsafe { context.disable_event_tracking() };
        let stream = Stream::new(&context)?;
        Ok(Self { info, module: None, given: Vec::new(), stream, context, ceilings: None })
    }

    /// Unloads the module, so that the next load starts afresh, static device variables included.
    pub(crate) fn unload(&mut self) {
        self.module = None;
        self.given.clear();
    }

    /// Loads a probe's PTX, which ends in a zero byte, apart from the device's own module.
    pub(crate) fn load_apart(&self, ptx: &[u8]) -> Result<Module, RunError> {
        Module::load(&self.context, ptx)
    }

    /// Loads a compiled kernel apart from the device's own module, as a reference.
    pub(crate) fn load_reference(&self, compiled: &CompileReport) -> Result<Module, RunError> {
        Module::load_compiled(&self.context, &compiled.cubin, &compiled.ptx)
    }

    /// What buffers can have.
    pub(crate) fn free_bytes(&self) -> Result<u64, RunError> {
        let free = self.context.mem_get_info().map_err(|error| driver::failed("asking for free memory", error))?.0;
        // A GPU that shares the machine's memory can have what the system keeps of files as well, which the driver counts
        // as taken.
        let available = if driver::is_integrated(&self.context) { driver::available_bytes() } else { None };
        Ok(available.unwrap_or(0).max(free as u64))
    }

    /// The learner's module, or that of a kernel of the course.
    pub(crate) fn module(&self, given: Option<&str>) -> Result<&Module, RunError> {
        let loaded = match given {
            None => self.module.as_ref().map(|(_, module)| module),
            Some(file) => self.given.iter().find(|(known, _)| known == file).map(|(_, module)| module),
        };
        let missing = || match given {
            None => "no module is loaded".to_owned(),
            Some(file) => format!("the exercise's own kernel `{file}` is not loaded"),
        };
        loaded.ok_or_else(|| RunError::BadRequest(missing()))
    }

    /// Queues a launch whose arguments are on the GPU.
    fn queue(&self, launch: &Launch<'_>, packed: &[Vec<u8>]) -> Result<(), RunError> {
        let function = self.module(launch.given)?.function(launch.kernel)?;
        function.prepare(&launch.geometry, self.info.shared_per_block_optin_bytes)?;
        function.launch(self.stream.raw(), &launch.geometry, &pack_of(launch, packed))
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        if driver::is_abandoned() {
            // Releasing the context would wait for the kernel that still runs.
            std::mem::forget(self.context.clone());
        }
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, compiled: &CompileReport) -> Result<(), RunError> {
        if driver::is_abandoned() {
            return Err(RunError::Sticky("the GPU's context was lost in an earlier run of this process".to_owned()));
        }
        let images = Images { cubin: compiled.cubin.clone(), ptx: compiled.ptx.clone() };
        if self.module.as_ref().is_none_or(|(loaded, _)| *loaded != images) {
            self.module = None;
            if images.cubin.is_empty() && images.ptx.is_empty() {
                return Err(RunError::Environment(format!(
                    "there is no code for {}; compile for {}",
                    self.info.name, self.info.arch
                )));
            }
            recursion::make_room(&self.context, &images.ptx)?;
            let module = Module::load_compiled(&self.context, &images.cubin, &images.ptx)?;
            self.module = Some((images, module));
        }
        self.given.clear();
        for kernel in &compiled.given {
            let images = Images { cubin: kernel.report.cubin.clone(), ptx: kernel.report.ptx.clone() };
            let module = Module::load_compiled(&self.context, &images.cubin, &images.ptx)?;
            self.given.push((kernel.file.clone(), module));
        }
        Ok(())
    }

    fn run(
        &mut self,
        sequence: &Sequence<'_>,
        arguments: &mut [Argument],
        stop: &AtomicBool,
    ) -> Result<Report, RunError> {
        let (packed, buffers) = place(&self.context, arguments)?;
        let deadline = Instant::now() + sequence.time_limit;
        for launch in &sequence.launches {
            self.queue(launch, &packed).map_err(|error| launch.blame(error))?;
            // Before the next one is queued, so that an error is that of the launch that caused it.
            self.stream.wait(deadline, stop).map_err(|error| launch.blame(error))?;
        }
        let corruptions = collect(arguments, &buffers)?;
        Ok(Report { completed: true, corruptions, ..Report::default() })
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// Each argument as a kernel gets it, and the buffers behind them; scalars have none.
type Placed = (Vec<Vec<u8>>, Vec<Option<GuardedBuffer>>);

/// Allocates the buffers with their first contents.
fn place(context: &Arc<CudaContext>, arguments: &[Argument]) -> Result<Placed, RunError> {
    let mut buffers = Vec::with_capacity(arguments.len());
    for argument in arguments {
        buffers.push(match argument {
            Argument::Scalar(_) | Argument::TensorMap(_) | Argument::TiledMap { .. } => None,
            Argument::Buffer(buffer) => {
                let memory = GuardedBuffer::new(context, &buffer.name, buffer.bytes.len())?;
                match buffer.role {
                    Role::Out => memory.write_repeated(buffer.dtype.poison())?,
                    Role::In | Role::InOut | Role::Zeroed | Role::Scratch => memory.write(&buffer.bytes)?,
                }
                Some(memory)
            }
        });
    }
    let address = |index: usize| buffers[index].as_ref().map_or(0, GuardedBuffer::address);
    let bytes_of = |(index, argument): (usize, &Argument)| {
        Ok(match argument {
            Argument::Scalar(bytes) => bytes.clone(),
            Argument::TensorMap(map) => tensor_map::encode(map, address(map.buffer))?.to_vec(),
            Argument::TiledMap { buffer, map } => {
                tensor_map::encode_tiled(&map.moved_by(address(*buffer)), "of an instruction")?.to_vec()
            }
            Argument::Buffer(_) => address(index).to_le_bytes().to_vec(),
        })
    };
    let packed: Result<Vec<Vec<u8>>, RunError> = arguments.iter().enumerate().map(bytes_of).collect();
    Ok((packed?, buffers))
}

/// Reads outputs back, compares inputs and looks at the guard zones.
fn collect(arguments: &mut [Argument], buffers: &[Option<GuardedBuffer>]) -> Result<Vec<Corruption>, RunError> {
    let mut corruptions = Vec::new();
    for (argument, memory) in arguments.iter_mut().zip(buffers) {
        let (Argument::Buffer(buffer), Some(memory)) = (argument, memory) else { continue };
        corruptions.extend(memory.check_guards()?);
        if buffer.role == Role::In {
            let mut after = vec![0; buffer.bytes.len()];
            memory.read(&mut after)?;
            corruptions.extend(changed_input(buffer, &after));
        } else {
            memory.read(&mut buffer.bytes)?;
        }
    }
    Ok(corruptions)
}
