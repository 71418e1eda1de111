//! The emulator as a device: every run with all checks, counters and, when asked, a trace.

use crate::clock::thread_time;
use crate::compile::CompileReport;
use crate::device::{
    Argument, Buffer, Corruption, Device, DeviceChoice, DeviceInfo, DeviceKind, Launch, Report, RunError, Sequence,
    changed_input, pack_of,
};
use crate::spec::{Role, TENSOR_MAP_BYTES};
use ptx_emulator::{Checks, Counters, Fast, FaultKind, LineCounters, Memory, Module, Options, SourceLine, WorkTime};
use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The architecture that kernels are compiled for unless an exercise requires another: the richest one whose
/// instructions a data-centre GPU of today runs, so that the same PTX can be compared with hardware.
const DEFAULT_ARCH: &str = "sm_90a";
const DEFAULT_CAPABILITY: (u32, u32) = (9, 0);
/// Device memory of the emulated GPU. Shadow memory for the checks costs about as much again.
const MEMORY_BYTES: u64 = 4 << 30;

/// A CPU that runs PTX.
pub struct EmulatorDevice {
    info: DeviceInfo,
    /// How launches are run, but for what each of them says itself.
    options: Options,
    /// Core time of this thread in launches.
    spent: Cell<Duration>,
    own: Option<Loaded>,
    /// The course's kernels by file.
    given: Vec<(String, Loaded)>,
    /// Memory of the last run, and where its buffers are, if it left something in the module's variables.
    kept: Option<(Memory, Vec<u64>)>,
}

/// A module with the PTX that it was made from, so that loading the same again is free.
struct Loaded {
    ptx: String,
    module: Module,
}

impl Loaded {
    fn new(ptx: &str, fast: Fast) -> Result<Self, RunError> {
        let module = Module::load_with(ptx, fast)
            .map_err(|error| RunError::Environment(format!("the emulator cannot run this kernel: {error}")))?;
        Ok(Self { ptx: ptx.to_owned(), module })
    }
}

impl EmulatorDevice {
    pub fn new() -> Self {
        Self::with(Options::default())
    }

    /// One that runs launches in another way than usual.
    pub fn with(options: Options) -> Self {
        let spent = Cell::default();
        Self { info: Self::describe(), options, spent, own: None, given: Vec::new(), kept: None }
    }

    /// Core time that launches have taken since this was last asked, where they are made by one host thread.
    pub fn take_spent(&self) -> Duration {
        self.spent.take()
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

impl EmulatorDevice {
    fn module(&self, given: Option<&str>) -> Result<&Module, RunError> {
        let loaded = match given {
            None => self.own.as_ref(),
            Some(file) => self.given.iter().find(|(known, _)| known == file).map(|(_, loaded)| loaded),
        };
        let missing = || match given {
            None => "no module is loaded".to_owned(),
            Some(file) => format!("the exercise's own kernel `{file}` is not loaded"),
        };
        loaded.map(|loaded| &loaded.module).ok_or_else(|| RunError::BadRequest(missing()))
    }

    /// Makes one launch and adds what it did to the report.
    #[expect(clippy::too_many_arguments, reason = "the state of one loop, which a struct would only rename")]
    fn one(
        &self,
        launch: &Launch<'_>,
        memory: &mut Memory,
        packed: &[Vec<u8>],
        time_limit: Duration,
        sequence: &Sequence<'_>,
        report: &mut Report,
        lines: &mut BTreeMap<SourceLine, Counters>,
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let request = ptx_emulator::Launch {
            kernel: launch.kernel.to_owned(),
            grid: launch.geometry.grid,
            block: launch.geometry.block,
            cluster: launch.geometry.cluster,
            dynamic_shared_bytes: launch.geometry.dynamic_shared_bytes,
            params: pack_of(launch, packed),
            registers_per_thread: launch.registers_per_thread,
            cooperative: launch.geometry.cooperative,
        };
        let trace = launch.trace.clone();
        let written_once = sequence.written_once;
        let watched = launch.watched.clone();
        let mut options =
            Options { trace, watched, time_limit: Some(time_limit), written_once, ..self.options.clone() };
        if sequence.nonfinite.is_some() {
            (options.checks, options.counters, options.line_counters) = (Checks::NONE, false, false);
            options.nonfinite.clone_from(&sequence.nonfinite);
        }
        let module = self.module(launch.given)?;
        let started = thread_time();
        let outcome = ptx_emulator::launch(module, memory, &request, &options, stop);
        self.spent.set(self.spent.get() + thread_time().saturating_sub(started));
        if let (Some(log), Some(name)) = (&sequence.nonfinite, &launch.name) {
            log.name_launch(name);
        }
        if stop.load(Ordering::Relaxed) || outcome.faults.iter().any(|fault| fault.kind == FaultKind::Stopped) {
            return Err(RunError::Stopped);
        }
        report.completed &= outcome.completed;
        report.faults.extend(outcome.faults.into_iter().map(|mut fault| {
            fault.launch.clone_from(&launch.name);
            fault
        }));
        report.counters.get_or_insert_default().add(&outcome.counters);
        report.each.push(outcome.counters);
        for line in outcome.lines {
            lines.entry(line.source).or_default().add(&line.counters);
        }
        report.traces.extend(outcome.trace.map(|mut trace| {
            trace.launch.clone_from(&launch.name);
            trace
        }));
        report.console.push_str(&outcome.console);
        report.console_dropped_lines += outcome.console_dropped_lines;
        let notes = outcome.notes.into_iter().map(|note| match &launch.name {
            Some(name) => format!("{name}: {note}"),
            None => note,
        });
        for note in notes {
            if !report.notes.contains(&note) {
                report.notes.push(note);
            }
        }
        report.occupancy = report.occupancy.take().or(outcome.occupancy);
        Ok(())
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
        if self.own.as_ref().is_none_or(|own| own.ptx != compiled.ptx) {
            (self.own, self.kept) = (None, None);
            self.own = Some(Loaded::new(&compiled.ptx, self.options.fast)?);
        }
        self.given.retain(|(file, loaded)| {
            compiled.given.iter().any(|kernel| kernel.file == *file && kernel.report.ptx == loaded.ptx)
        });
        for kernel in &compiled.given {
            if !self.given.iter().any(|(file, _)| *file == kernel.file) {
                self.given.push((kernel.file.clone(), Loaded::new(&kernel.report.ptx, self.options.fast)?));
            }
        }
        Ok(())
    }

    fn run(
        &mut self,
        sequence: &Sequence<'_>,
        arguments: &mut [Argument],
        stop: &AtomicBool,
    ) -> Result<Report, RunError> {
        self.kept = None;
        self.run_in(Memory::new(MEMORY_BYTES), None, sequence, arguments, stop)
    }

    fn run_again(
        &mut self,
        sequence: &Sequence<'_>,
        arguments: &mut [Argument],
        stop: &AtomicBool,
    ) -> Result<Option<Report>, RunError> {
        let Some((memory, addresses)) = self.kept.take() else { return Ok(None) };
        self.run_in(memory, Some(addresses), sequence, arguments, stop).map(Some)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl EmulatorDevice {
    /// Runs kernels in a memory, with its buffers in new places or made anew in those of the run before.
    fn run_in(
        &mut self,
        mut memory: Memory,
        places: Option<Vec<u64>>,
        sequence: &Sequence<'_>,
        arguments: &mut [Argument],
        stop: &AtomicBool,
    ) -> Result<Report, RunError> {
        let addresses = match places {
            Some(places) => renew(&mut memory, arguments, places)?,
            None => reserve(&mut memory, arguments)?,
        };
        let packed = place(&mut memory, arguments, &addresses)?;
        let spent = WorkTime::start();
        let mut report = Report { completed: true, ..Report::default() };
        let mut lines = BTreeMap::new();
        for launch in &sequence.launches {
            let left = sequence.time_limit.saturating_sub(spent.elapsed());
            self.one(launch, &mut memory, &packed, left, sequence, &mut report, &mut lines, stop)?;
            // What follows would work on what a broken launch left, and its faults would hide the cause.
            if !report.completed || (!report.faults.is_empty() && sequence.launches.len() > 1) {
                report.completed &= report.each.len() == sequence.launches.len();
                break;
            }
        }
        if sequence.nonfinite.is_some() {
            let buffers = arguments.iter().zip(&addresses);
            report.addresses = buffers.filter_map(|(argument, address)| named(argument, *address)).collect();
        }
        report.lines = lines.into_iter().map(|(source, counters)| LineCounters { source, counters }).collect();
        let (corruptions, unwritten) = collect(&memory, arguments, &addresses)?;
        (report.corruptions, report.unwritten) = (corruptions, Some(unwritten));
        report.changed_variables = self.module(None)?.changed_variables(&memory);
        if !report.changed_variables.is_empty() {
            self.kept = Some((memory, addresses));
        }
        Ok(report)
    }
}

/// A buffer's name and its address.
fn named(argument: &Argument, address: u64) -> Option<(String, u64)> {
    match argument {
        Argument::Buffer(buffer) => Some((buffer.name.clone(), address)),
        _ => None,
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

/// Fills the buffers. Returns each argument as a kernel gets it.
fn place(memory: &mut Memory, arguments: &[Argument], addresses: &[u64]) -> Result<Vec<Vec<u8>>, RunError> {
    for (argument, address) in arguments.iter().zip(addresses) {
        if let Argument::Buffer(buffer) = argument
            && buffer.role != Role::Out
        {
            memory.write(*address, &buffer.bytes).map_err(internal)?;
        }
    }
    let bytes_of = |(argument, address): (&Argument, &u64)| {
        Ok(match argument {
            Argument::Scalar(bytes) => bytes.clone(),
            Argument::Buffer(_) => address.to_le_bytes().to_vec(),
            Argument::TensorMap(map) if !map.is_usable() => vec![0; TENSOR_MAP_BYTES],
            Argument::TensorMap(map) => {
                let encoded = map.for_emulator(addresses[map.buffer]).encode();
                let encoded =
                    encoded.map_err(|error| RunError::BadRequest(format!("tensor map `{}`: {error}", map.name)))?;
                encoded.to_vec()
            }
            Argument::TiledMap { buffer, map } => {
                let map = map.moved_by(addresses[*buffer]);
                map.encode().map_err(|error| RunError::BadRequest(error.to_string()))?.to_vec()
            }
        })
    };
    arguments.iter().zip(addresses).map(bytes_of).collect()
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

fn internal(error: ptx_emulator::MemoryError) -> RunError {
    RunError::Environment(format!("the emulator's memory failed: {error}"))
}
