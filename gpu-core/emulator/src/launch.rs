//! One kernel launch: what it needs, how it is run, what comes back.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::check::race::GlobalRaces;
use crate::check::race::sync::Syncs;
use crate::check::race::touched::Touched;
use crate::described::KernelInfo;
use crate::device::Device;
use crate::exec::grid::{Console, Grid, RESERVED_SHARED, Worker};
use crate::exec::memory::arrays::Arrays;
use crate::exec::options::Options;
use crate::exec::sched::block::SharedArray;
use crate::exec::sched::waiting::Waiting;
use crate::exec::sched::worker::Results;
use crate::exec::template::Made;
use crate::memory::{Memory, WORKSPACE};
use crate::module::Module;
use crate::report::{Counters, Fault, FaultKind, LineCounters, Occupancy, Trace};
use crate::request::Launch;

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Every thread ran to its end.
    pub completed: bool,
    pub faults: Vec<Fault>,
    /// Warp instructions that ran, counted also when counters are off.
    pub executed: u64,
    pub counters: Counters,
    pub lines: Vec<LineCounters>,
    pub trace: Option<Trace>,
    /// What printf wrote, capped.
    pub console: String,
    pub console_dropped_lines: u64,
    /// Remarks that are no faults, for example that a spin lock needed independent thread scheduling.
    pub notes: Vec<String>,
    pub occupancy: Option<Occupancy>,
    /// Where [`Options::touched`] asked for it. Stays in this process.
    #[serde(skip)]
    pub touched: Option<Touched>,
}

/// Limits of the emulated device that a launch is checked against.
const MAX_THREADS: u64 = 1024;
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
/// Room for `alloca` where a kernel uses it.
const DYNAMIC_STACK: u32 = 64 << 10;
/// Stack of a thread whose depth cannot be told beforehand (recursion, calls through pointers).
const UNKNOWN_STACK: u32 = 16 << 10;
/// What race shadows may take beyond the size of the buffers.
const SHADOW_ROOM: u64 = 150 << 20;

/// Runs one kernel to its end, to its first fatal fault or until `stop` is set (seen within about 50 ms).
///
/// Faults of the launch itself (unknown kernel, too many threads, wrong argument bytes) come back as
/// [`FaultKind::BadLaunch`] with nothing run.
pub fn launch(module: &Module, memory: &mut Memory, launch: &Launch, options: &Options, stop: &AtomicBool) -> Outcome {
    match run(module, memory, launch, options, stop) {
        Ok(outcome) => outcome,
        Err(message) => Outcome {
            faults: vec![Fault {
                kind: FaultKind::BadLaunch,
                message,
                kernel: launch.kernel.clone(),
                launch: None,
                source: None,
                inlined_at: None,
                instruction: String::new(),
                thread: None,
                space: None,
                access: None,
                address: None,
                access_bytes: 0,
                allocation: None,
                other: None,
                occurrences: 1,
            }],
            ..Outcome::default()
        },
    }
}

fn triple(v: [u32; 3]) -> String {
    format!("({}, {}, {})", v[0], v[1], v[2])
}

impl KernelInfo {
    /// Whether every device launches such a grid of such blocks of this kernel; if not, which limit it breaks.
    pub fn admits(&self, grid: [u32; 3], block: [u32; 3]) -> Result<(), String> {
        for axis in 0..3 {
            let name = ["x", "y", "z"][axis];
            if block[axis] == 0 || grid[axis] == 0 {
                return Err(format!(
                    "grid {} and block {} must be at least 1 along {name}",
                    triple(grid),
                    triple(block)
                ));
            }
            if block[axis] > MAX_BLOCK[axis] {
                return Err(format!(
                    "a block may have at most {} threads along {name}, not {}",
                    MAX_BLOCK[axis], block[axis]
                ));
            }
            if grid[axis] > MAX_GRID[axis] {
                return Err(format!(
                    "a grid may have at most {} blocks along {name}, not {}",
                    MAX_GRID[axis], grid[axis]
                ));
            }
        }
        if let Some(required) = self.required_block.filter(|required| *required != block) {
            return Err(format!(
                "the kernel is compiled for blocks of {} threads (.reqntid), not {}",
                triple(required),
                triple(block)
            ));
        }
        let threads: u64 = block.iter().map(|n| u64::from(*n)).product();
        let most = self.max_threads.map_or(MAX_THREADS, |limit| u64::from(limit).min(MAX_THREADS));
        if threads > most {
            let why = if most < MAX_THREADS { " (its __launch_bounds__)" } else { "" };
            return Err(format!("block {} has {threads} threads; the limit is {most}{why}", triple(block)));
        }
        Ok(())
    }
}

/// Checks the shape of a launch against the device's limits.
fn check_shape(launch: &Launch, kernel: &KernelInfo, sm: &Device) -> Result<(), String> {
    kernel.admits(launch.grid, launch.block)?;
    let threads: u64 = launch.block.iter().map(|n| u64::from(*n)).product();
    let shared = u64::from(kernel.static_shared_bytes) + u64::from(launch.dynamic_shared_bytes);
    if shared > u64::from(sm.shared_per_block) {
        return Err(format!(
            "{shared} bytes of shared memory ({} static, {} dynamic) exceed the {} of a block on {}",
            kernel.static_shared_bytes, launch.dynamic_shared_bytes, sm.shared_per_block, sm.name
        ));
    }
    if let Some(registers) = launch.registers_per_thread
        && u64::from(registers) * threads.next_multiple_of(32) > 65536
    {
        return Err(format!(
            "{registers} registers for each of {threads} threads exceed the 65536 of a multiprocessor"
        ));
    }
    if launch.params.len() != kernel.param_bytes as usize {
        return Err(format!(
            "kernel `{}` takes {} bytes of arguments, {} were given",
            kernel.name,
            kernel.param_bytes,
            launch.params.len()
        ));
    }
    for axis in 0..3 {
        if launch.cluster[axis] == 0 || !launch.grid[axis].is_multiple_of(launch.cluster[axis]) {
            return Err(format!(
                "grid {} is no multiple of the cluster {}",
                triple(launch.grid),
                triple(launch.cluster)
            ));
        }
    }
    let cluster: u64 = launch.cluster.iter().map(|n| u64::from(*n)).product();
    if cluster > 16 {
        return Err(format!("a cluster of {cluster} blocks; at most 8 are portable and 16 possible"));
    }
    Ok(())
}

fn run(
    module: &Module,
    memory: &mut Memory,
    launch: &Launch,
    options: &Options,
    stop: &AtomicBool,
) -> Result<Outcome, String> {
    let image = &*module.image;
    let kernel = module.kernel(&launch.kernel).ok_or_else(|| {
        let names: Vec<&str> = module.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
        format!("the module has no kernel `{}`; it has: {}", launch.kernel, names.join(", "))
    })?;
    let function = image
        .functions
        .iter()
        .position(|function| function.entry && function.name == launch.kernel)
        .ok_or("the kernel has no code")?;
    let device = options.device.unwrap_or_else(|| Device::of(module.target()));
    // A kernel compiled for a cluster shape has it whatever the launch says.
    let clusters = match image.functions[function].cluster {
        Some(shape) if launch.cluster == [1, 1, 1] => shape,
        Some(shape) if shape != launch.cluster => {
            return Err(format!("the kernel is compiled for clusters of {shape:?}, not {:?}", launch.cluster));
        }
        _ => launch.cluster,
    };
    check_shape(&Launch { cluster: clusters, ..launch.clone() }, kernel, &device)?;
    memory.instantiate(module);
    let occupancy = device.occupancy(launch, kernel);
    let blocks: u64 = launch.grid.iter().map(|n| u64::from(*n)).product();
    let resident = u64::from(occupancy.blocks_per_sm.max(1)) * u64::from(device.multiprocessors);
    if launch.cooperative && blocks > resident {
        return Err(format!(
            "a cooperative launch of {blocks} blocks: only {resident} fit on the device at once ({} on each of {} \
             multiprocessors)",
            occupancy.blocks_per_sm, device.multiprocessors
        ));
    }
    let alone = options.deterministic || options.nonfinite.is_some();
    let workers = if alone { 1 } else { options.workers.max(1).min(blocks.min(1024) as usize) };
    let code = &image.functions[function];
    let local_stride = match code.stack_bytes {
        Some(bytes) => bytes.next_multiple_of(16),
        None => UNKNOWN_STACK.max(code.local_bytes * 2).next_multiple_of(16),
    } + DYNAMIC_STACK * u32::from(image.uses_alloca);
    let mut params = vec![0u128; launch.params.len().div_ceil(16)];
    for (index, byte) in launch.params.iter().enumerate() {
        params[index / 16] |= u128::from(*byte) << (8 * (index % 16));
    }
    let heap = if code.needs.heap || !memory.heap_range().is_empty() {
        memory.take_heap().map_err(|error| error.to_string())?
    } else {
        Default::default()
    };
    let watched_heap = if code.needs.heap || heap.touched { memory.heap_range() } else { 0..0 };
    // On a GPU only cooperative launches have one: cooperative groups look for it and trap.
    let workspace = match image.uses_workspace && launch.cooperative {
        true => memory.workspace().map_err(|error| error.to_string())?,
        false => 0,
    };
    let mut arrays = Arrays::of(memory, options);
    let regions = &arrays.regions;
    let alone = workers == 1 && !regions.iter().any(|region| region.of_host);
    // By an argument, or by a variable that is shared with it.
    let arguments = launch.params.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    let variables = image.variables.iter().filter(|variable| variable.managed).map(|variable| variable.address);
    let host_may_answer = arguments
        .chain(variables)
        .any(|address| regions.iter().any(|region| region.of_host && (region.base..region.end).contains(&address)));
    if options.checks.race || workers > 1 {
        arrays.find_use(image, function, launch, options);
    }
    let Arrays { regions, sizes, own_sites } = arrays;
    // With the buffers and a bit a byte for what is written: twice the buffers and `SHADOW_ROOM`.
    let limit = sizes.iter().sum::<u64>() / 8 * 7 + SHADOW_ROOM;
    let mut shared_arrays: Vec<SharedArray> = code
        .shared
        .iter()
        .filter(|variable| !variable.dynamic)
        .map(|variable| SharedArray { name: variable.name.clone(), base: variable.offset, bytes: variable.bytes })
        .collect();
    if launch.dynamic_shared_bytes > 0 {
        let name = code.shared.iter().find(|variable| variable.dynamic).map_or("dynamic shared memory", |v| &v.name);
        shared_arrays.push(SharedArray {
            name: name.to_owned(),
            base: image.dynamic_shared,
            bytes: launch.dynamic_shared_bytes,
        });
    }
    let shared_end = |arrays: &[SharedArray]| arrays.iter().map(|array| array.base + array.bytes).max().unwrap_or(0);
    // Behind all that the kernel has of its own.
    let reserved_shared = shared_end(&shared_arrays).next_multiple_of(128);
    let own_arrays = shared_arrays.len();
    if code.needs.reserved {
        let name = "shared memory reserved for the system".to_owned();
        shared_arrays.push(SharedArray { name, base: reserved_shared, bytes: RESERVED_SHARED });
    }
    let shared_bytes = shared_end(&shared_arrays).next_multiple_of(64);
    let shared_gaps: Vec<AtomicU64> = (0..shared_bytes / 64).map(|_| AtomicU64::new(u64::MAX)).collect();
    // What the system has is zero, and not to be written before it is read.
    for array in &shared_arrays[..own_arrays] {
        crate::memory::clear_bits(&shared_gaps, array.base.into(), array.bytes.into());
    }
    let shared_gaps = shared_gaps.into_iter().map(AtomicU64::into_inner).collect();
    // What is not watched would not be known to be touched either.
    let finds_intervals = options.fast.barrier_intervals
        && options.checks.race
        && !options.touched
        && clusters == [1, 1, 1]
        && shared_bytes > 0;
    let cluster_size: u64 = clusters.iter().map(|n| u64::from(*n)).product();
    let mut grid = Grid {
        image,
        function: function as u32,
        launch,
        options,
        code: match options.fast.machine_code && options.fast.basic_blocks {
            true => image.machine_code(function, Made::of(options.watches(), &options.fast)),
            false => None,
        },
        params,
        regions,
        own_sites,
        plan: if finds_intervals { image.plan(function) } else { None },
        separate: Default::default(),
        races: GlobalRaces::new(image, memory.take_shadows(&sizes), limit, workers, options.fast),
        shared_arrays,
        reserved_shared: code.needs.reserved.then_some(reserved_shared),
        shared_bytes,
        shared_gaps,
        local_stride,
        tids: Grid::tids_of(launch.block),
        places: (resident / cluster_size) as usize,
        blocks,
        waiting: Waiting::new(workers, blocks / cluster_size, code.needs.order),
        started: crate::WorkTime::start(),
        stop,
        aborted: AtomicBool::new(false),
        executed: Default::default(),
        repeated: Default::default(),
        finished_blocks: Default::default(),
        workers,
        alone,
        host_may_answer,
        faults: Mutex::new(Vec::new()),
        console: Mutex::new(Console::default()),
        notes: Mutex::new(Vec::new()),
        syncs: Syncs::new(workspace..workspace + if workspace == 0 { 0 } else { WORKSPACE }),
        deferred: Default::default(),
        clusters,
        workspace,
        heap: Mutex::new(heap),
        watched_heap,
        ticks: Default::default(),
        objects: memory.texture_objects(),
    };
    if let Some(log) = &options.nonfinite {
        log.lock().begin_launch();
    }
    let results = Mutex::new(Results::new(&grid));
    let work = || {
        let mut worker = Worker::new(&grid);
        worker.run(&grid);
        worker.hand_in(&results);
    };
    let completed = if workers == 1 {
        work();
        true
    } else {
        crate::exec::sched::crew::work_together(workers - 1, &work, || grid.waiting.miss())
    };
    let results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let heap = std::mem::take(&mut *grid.heap.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    let touched = options.touched.then(|| grid.races.touched(image, &grid.regions));
    memory.put_shadows(grid.races.take_shadows());
    let outcome = Outcome { touched, ..finish(grid, results, !completed, occupancy) };
    memory.put_heap(heap);
    Ok(outcome)
}

fn finish(grid: Grid<'_>, results: Results, panicked: bool, occupancy: Occupancy) -> Outcome {
    let aborted = grid.aborted.load(Ordering::Relaxed);
    let trace = crate::count::trace::finish(&grid, results.traces);
    let mut counters = Counters::default();
    let mut lines = Vec::new();
    if let Some(counts) = results.counts
        && (grid.options.counters || grid.options.line_counters)
    {
        (counters, lines) = counts.finish(grid.image);
    }
    if !grid.options.line_counters {
        lines.clear();
    }
    for fault in grid.deferred.finish() {
        grid.report(fault);
    }
    let mut notes = std::mem::take(&mut *grid.notes.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    if grid.races.incomplete() {
        notes.push("the race check ran out of memory: some accesses to global memory were not checked".to_owned());
    }
    if panicked {
        notes.push("the emulator met an internal error; please report the kernel".to_owned());
    }
    let mut faults = std::mem::take(&mut *grid.faults.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    // The same order whatever the host threads did.
    faults.sort_by_key(|fault| {
        let block = fault.thread.map_or(0, |thread| {
            let [x, y, z] = thread.block.map(u64::from);
            let [nx, ny, _] = grid.launch.grid.map(u64::from);
            (z * ny + y) * nx + x
        });
        (block, fault.thread.map_or(0, |thread| thread.warp), fault.source.as_ref().map_or(0, |source| source.line))
    });
    let console = std::mem::take(&mut *grid.console.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    Outcome {
        completed: !aborted && !panicked,
        faults,
        executed: grid.executed.load(Ordering::Relaxed),
        counters,
        lines,
        trace,
        console: console.text,
        console_dropped_lines: console.dropped_lines,
        notes,
        occupancy: Some(occupancy),
        touched: None,
    }
}
