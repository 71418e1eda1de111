//! The emulator as a device: every run with all checks, counters and, when asked, a trace.

use crate::compile::CompileReport;
use crate::cuda::CudaDevice;
use crate::device::{
    Argument, Buffer, Corruption, CorruptionKind, Device, DeviceChoice, DeviceInfo, DeviceKind, Launch, Report,
    RunError,
};
use crate::spec::{Role, TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES};
use ptx_emulator::{FaultKind, Memory, Module, Options};
use std::sync::atomic::{AtomicBool, Ordering};

/// The architecture that kernels are compiled for unless an exercise requires another: the richest one whose
/// instructions a data-centre GPU of today runs, so that the same PTX can be compared with hardware.
const DEFAULT_ARCH: &str = "sm_90a";
const DEFAULT_CAPABILITY: (u32, u32) = (9, 0);
/// Device memory of the emulated GPU. Shadow memory for the checks costs about as much again.
const MEMORY_BYTES: u64 = 4 << 30;

/// A CPU that runs PTX.
pub struct EmulatorDevice {
    info: DeviceInfo,
    /// The PTX that `module` was made from, so that loading the same again is free.
    loaded: Option<(String, Module)>,
    /// Memory of the last run, and where its buffers are, if it left something in the module's variables.
    kept: Option<(Memory, Vec<u64>)>,
}

impl EmulatorDevice {
    pub fn new() -> Self {
        Self { info: Self::describe(), loaded: None, kept: None }
    }

    pub fn describe() -> DeviceInfo {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        DeviceInfo {
            choice: DeviceChoice::Emulator,
            kind: DeviceKind::Emulator,
            name: format!("Emulator ({cores} core{})", if cores == 1 { "" } else { "s" }),
            capability: DEFAULT_CAPABILITY,
            arch: DEFAULT_ARCH.to_owned(),
            multiprocessors: None,
            memory_bytes: Some(MEMORY_BYTES),
            l2_bytes: None,
            clock_khz: None,
            memory_clock_khz: None,
            memory_bus_bits: None,
            shared_per_block_optin_bytes: None,
            driver_version: None,
        }
    }
}

impl Default for EmulatorDevice {
    fn default() -> Self {
        Self::new()
    }
}

impl Device for EmulatorDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, compiled: &CompileReport) -> Result<(), RunError> {
        if self.loaded.as_ref().is_some_and(|(ptx, _)| *ptx == compiled.ptx) {
            return Ok(());
        }
        (self.loaded, self.kept) = (None, None);
        let module = Module::load(&compiled.ptx)
            .map_err(|error| RunError::Environment(format!("the emulator cannot run this kernel: {error}")))?;
        self.loaded = Some((compiled.ptx.clone(), module));
        Ok(())
    }

    fn run(&mut self, launch: &Launch<'_>, arguments: &mut [Argument], stop: &AtomicBool) -> Result<Report, RunError> {
        self.kept = None;
        self.run_in(Memory::new(MEMORY_BYTES), None, launch, arguments, stop)
    }

    fn run_again(
        &mut self,
        launch: &Launch<'_>,
        arguments: &mut [Argument],
        stop: &AtomicBool,
    ) -> Result<Option<Report>, RunError> {
        let Some((memory, addresses)) = self.kept.take() else { return Ok(None) };
        self.run_in(memory, Some(addresses), launch, arguments, stop).map(Some)
    }

    fn as_cuda(&mut self) -> Option<&mut CudaDevice> {
        None
    }
}

impl EmulatorDevice {
    /// Runs a kernel in a memory, with its buffers in new places or made anew in those of the run before.
    fn run_in(
        &mut self,
        mut memory: Memory,
        places: Option<Vec<u64>>,
        launch: &Launch<'_>,
        arguments: &mut [Argument],
        stop: &AtomicBool,
    ) -> Result<Report, RunError> {
        let Some((_, module)) = &self.loaded else {
            return Err(RunError::BadRequest("no module is loaded".to_owned()));
        };
        let addresses = match places {
            Some(places) => renew(&mut memory, arguments, places)?,
            None => reserve(&mut memory, arguments)?,
        };
        let params = place(&mut memory, arguments, &addresses)?;
        let request = ptx_emulator::Launch {
            kernel: launch.kernel.to_owned(),
            grid: launch.geometry.grid,
            block: launch.geometry.block,
            cluster: launch.geometry.cluster,
            dynamic_shared_bytes: launch.geometry.dynamic_shared_bytes,
            params,
            registers_per_thread: launch.registers_per_thread,
            cooperative: false,
        };
        let options = Options {
            trace: launch.trace.clone(),
            time_limit: Some(launch.time_limit),
            written_once: launch.written_once,
            ..Options::default()
        };
        let outcome = ptx_emulator::launch(module, &mut memory, &request, &options, stop);
        if stop.load(Ordering::Relaxed) || outcome.faults.iter().any(|fault| fault.kind == FaultKind::Stopped) {
            return Err(RunError::Stopped);
        }
        let (corruptions, unwritten) = collect(&memory, arguments, &addresses)?;
        let changed_variables = module.changed_variables(&memory);
        if !changed_variables.is_empty() {
            self.kept = Some((memory, addresses));
        }
        Ok(Report {
            completed: outcome.completed,
            faults: outcome.faults,
            counters: Some(outcome.counters),
            lines: outcome.lines,
            trace: outcome.trace,
            console: outcome.console,
            console_dropped_lines: outcome.console_dropped_lines,
            notes: outcome.notes,
            occupancy: outcome.occupancy,
            corruptions,
            unwritten: Some(unwritten),
            changed_variables,
        })
    }
}

/// Allocates the buffers; addresses are 0 for scalars.
fn reserve(memory: &mut Memory, arguments: &[Argument]) -> Result<Vec<u64>, RunError> {
    let each = |argument: &Argument| match argument {
        Argument::Buffer(buffer) => memory
            .alloc(&buffer.name, buffer.bytes.len() as u64)
            .map_err(|error| RunError::Limit(format!("buffer `{}`: {error}", buffer.name))),
        _ => Ok(0),
    };
    arguments.iter().map(each).collect()
}

/// Makes the buffers of an earlier run new ones at their places, which nobody has written.
fn renew(memory: &mut Memory, arguments: &[Argument], places: Vec<u64>) -> Result<Vec<u64>, RunError> {
    for (_, place) in arguments.iter().zip(&places).filter(|(argument, _)| matches!(argument, Argument::Buffer(_))) {
        memory.free(*place).and_then(|()| memory.revive(*place)).map_err(internal)?;
    }
    Ok(places)
}

/// Fills the buffers and packs the argument block.
fn place(memory: &mut Memory, arguments: &[Argument], addresses: &[u64]) -> Result<Vec<u8>, RunError> {
    let mut params = Vec::new();
    for (argument, address) in arguments.iter().zip(addresses) {
        if let Argument::Buffer(buffer) = argument
            && buffer.role != Role::Out
        {
            memory.write(*address, &buffer.bytes).map_err(internal)?;
        }
        match argument {
            Argument::Scalar(bytes) => pack(&mut params, bytes),
            Argument::Buffer(_) => pack(&mut params, &address.to_le_bytes()),
            Argument::TensorMap(map) if !map.is_usable() => pack(&mut params, &[0; TENSOR_MAP_BYTES]),
            Argument::TensorMap(map) => {
                let encoded = map.for_emulator(addresses[map.buffer]).encode();
                let encoded =
                    encoded.map_err(|error| RunError::BadRequest(format!("tensor map `{}`: {error}", map.name)))?;
                pack(&mut params, &encoded);
            }
            Argument::TiledMap { buffer, map } => {
                let map = map.moved_by(addresses[*buffer]);
                pack(&mut params, &map.encode().map_err(|error| RunError::BadRequest(error.to_string()))?);
            }
        }
    }
    Ok(params)
}

/// Appends an argument at its natural alignment, as CUDA lays out kernel parameters: its size, but 64 for a tensor
/// map.
pub(crate) fn pack(params: &mut Vec<u8>, bytes: &[u8]) {
    params.resize(params.len().next_multiple_of(bytes.len().clamp(1, TENSOR_MAP_ALIGN)), 0);
    params.extend_from_slice(bytes);
}

/// Memory that changed and should not have, and elements of outputs that nobody wrote.
type Collected = (Vec<Corruption>, Vec<(String, Vec<usize>)>);

/// Reads outputs back and compares inputs.
fn collect(memory: &Memory, arguments: &mut [Argument], addresses: &[u64]) -> Result<Collected, RunError> {
    let mut corruptions = Vec::new();
    let mut unwritten = Vec::new();
    for (argument, &address) in arguments.iter_mut().zip(addresses) {
        let Argument::Buffer(buffer) = argument else { continue };
        let mut after = vec![0; buffer.bytes.len()];
        memory.read(address, &mut after).map_err(internal)?;
        match buffer.role {
            Role::In => corruptions.extend(changed_input(buffer, &after)),
            Role::InOut | Role::Zeroed | Role::Scratch => buffer.bytes = after,
            Role::Out => {
                buffer.bytes = after;
                unwritten.push((buffer.name.clone(), poison_unwritten(memory, buffer, address)));
            }
        }
    }
    Ok((corruptions, unwritten))
}

/// Marks the elements that nobody wrote in a way that every device shares, and tells which they are.
fn poison_unwritten(memory: &Memory, buffer: &mut Buffer, address: u64) -> Vec<usize> {
    let mut found = Vec::new();
    let size = buffer.dtype.bytes();
    let end = address + buffer.bytes.len() as u64;
    let mut from = address;
    while from < end {
        let Some(unwritten) = memory.initialised(from, end - from) else { break };
        let element = (unwritten - address) as usize / size;
        buffer.bytes[element * size..][..size].copy_from_slice(buffer.dtype.poison());
        found.push(element);
        from = address + ((element + 1) * size) as u64;
    }
    found
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

fn internal(error: ptx_emulator::MemoryError) -> RunError {
    RunError::Environment(format!("the emulator's memory failed: {error}"))
}
