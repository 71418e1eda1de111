//! Every step of chosen warps, up to a memory bound.

use std::collections::{BTreeSet, HashMap};

use crate::count::values::watched_instructions;
use crate::exec::cx::{Cx, lanes};
use crate::exec::grid::Grid;
use crate::exec::memory::access::{Addresses, space_of};
use crate::memory::space::Window;
use crate::report::{
    AccessKind, Step, StepAccess, StepBarrier, StepCopy, TensorBox, Trace, TraceAllocation, TraceInstruction,
    TraceRequest, WarpTrace, WatchedValues,
};
use crate::tensor::TensorMap;

/// Collects the steps that one worker runs.
#[derive(Debug)]
pub struct Recorder {
    request: TraceRequest,
    pub warps: Vec<WarpTrace>,
    /// Where a warp is among them.
    places: HashMap<([u32; 3], u32), usize>,
    current: usize,
    bytes: usize,
    pub truncated: bool,
    /// Instructions whose results are kept, and those.
    pub watched: BTreeSet<u32>,
    values: Vec<WatchedValues>,
}

impl Recorder {
    pub fn new(grid: &Grid<'_>) -> Option<Recorder> {
        let request = grid.options.trace.clone()?;
        let watched = match &grid.options.watched[..] {
            [] => BTreeSet::new(),
            lines => watched_instructions(grid.image, grid.function as usize, lines),
        };
        let (warps, values) = (Vec::new(), Vec::new());
        let (places, current, bytes, truncated) = (HashMap::new(), 0, 0, false);
        Some(Recorder { request, warps, places, current, bytes, truncated, watched, values })
    }

    /// Keeps values of a watched line, as far as there is room.
    pub fn keep(&mut self, values: WatchedValues) {
        if self.room(size_of::<WatchedValues>() + 8 * values.values.len() + values.source.file.len()) {
            self.values.push(values);
        }
    }

    /// Whether a warp is traced.
    pub fn wants(&self, block: u64, warp: u32) -> bool {
        self.request.blocks.contains(&block) && (self.request.warps.is_empty() || self.request.warps.contains(&warp))
    }

    fn open(&mut self, block: [u32; 3], warp: u32) {
        let warps = &mut self.warps;
        self.current = *self.places.entry((block, warp)).or_insert_with(|| {
            warps.push(WarpTrace { block, warp, steps: Vec::new() });
            warps.len() - 1
        });
    }

    fn room(&mut self, bytes: usize) -> bool {
        if self.bytes + bytes > self.request.max_bytes {
            self.truncated = true;
            return false;
        }
        self.bytes += bytes;
        true
    }
}

impl TensorBox {
    /// A box of `map` that begins at `start`; its array is looked up when it is traced.
    pub fn of(map: &TensorMap, start: Vec<i64>, element_bits: u32) -> Self {
        TensorBox {
            allocation: None,
            start,
            extents: map.tile.clone(),
            sizes: map.sizes.clone(),
            address: map.address,
            strides_bytes: map.strides.clone(),
            element_bits,
            swizzle_bytes: map.swizzle.span() as u32,
        }
    }
}

impl Cx<'_> {
    /// Records the instruction that is about to run.
    pub fn trace_step(&mut self) {
        let tick = self.grid.tick();
        let (block, warp, pc, mask) = (self.block.id, self.warp.index, self.pc, self.mask);
        let Some(recorder) = &mut self.worker.trace else { return };
        if !recorder.room(size_of::<Step>()) {
            return;
        }
        recorder.open(block, warp);
        let current = recorder.current;
        recorder.warps[current].steps.push(Step {
            tick,
            instruction: pc,
            mask,
            access: None,
            copy: None,
            barrier: None,
        });
    }

    /// Adds the memory side to the step that runs. `place` lies in the array that is meant.
    #[cold]
    pub fn trace_access(&mut self, window: Window, at: &Addresses, bytes: u32, kind: AccessKind, place: u64) {
        if self.grid.options.nonfinite.is_some() {
            self.note_touched(window, at);
        }
        let pc = self.pc;
        let allocation = self.trace_allocation(window, place);
        let cost = self.worker.last_cost;
        let Some(recorder) = &mut self.worker.trace else { return };
        let addresses: Vec<u64> = lanes(at.mask).map(|lane| at.at[lane]).collect();
        if !recorder.room(addresses.len() * 8 + size_of::<StepAccess>()) {
            return;
        }
        let current = recorder.current;
        let Some(step) = recorder.warps.get_mut(current).and_then(|trace| trace.steps.last_mut()) else { return };
        if step.instruction != pc {
            return;
        }
        match &mut step.access {
            None => {
                let (space, further) = (space_of(window), Vec::new());
                step.access = Some(StepAccess { space, kind, bytes, allocation, addresses, further, cost });
            }
            // Another group of the same instruction.
            Some(first) if first.kind == kind && first.bytes == bytes && addresses.len() == first.addresses.len() => {
                first.further.extend(addresses);
            }
            Some(_) => {}
        }
    }

    /// Adds the asynchronous copy that the running step starts. `address` is the tensor's, where it copies a box.
    #[cold]
    pub fn trace_copy(&mut self, mut copy: StepCopy, address: u64) {
        if let Some(tensor) = &mut copy.tensor {
            tensor.allocation = self.trace_allocation(Window::Global, address);
        }
        let lists = copy.tensor.as_ref().map_or(0, |tensor| tensor.start.len() * 28);
        let Some(step) = self.traced_step(size_of::<StepCopy>() + lists) else { return };
        if step.copy.is_none() {
            step.copy = Some(Box::new(copy));
        }
    }

    /// Adds the mbarrier that the running step uses; the first one of several.
    #[cold]
    pub fn trace_barrier(&mut self, barrier: StepBarrier) {
        let Some(step) = self.traced_step(0) else { return };
        let first = step.barrier.get_or_insert(barrier);
        if first.address == barrier.address {
            first.phase = first.phase.max(barrier.phase);
        }
    }

    /// The step that runs, if it is traced and there is room for so many bytes more.
    fn traced_step(&mut self, bytes: usize) -> Option<&mut Step> {
        let pc = self.pc;
        let recorder = self.worker.trace.as_mut()?;
        if !recorder.room(bytes) {
            return None;
        }
        let current = recorder.current;
        recorder.warps.get_mut(current)?.steps.last_mut().filter(|step| step.instruction == pc)
    }

    /// Index into the trace's allocations, which are those of [`allocations`].
    pub(crate) fn trace_allocation(&self, window: Window, address: u64) -> Option<u32> {
        let mut index = 0;
        for region in &self.grid.regions {
            if region.freed {
                continue;
            }
            if matches!(window, Window::Global | Window::Const) && address >= region.base && address < region.end {
                return Some(index);
            }
            index += 1;
        }
        for array in &self.grid.shared_arrays {
            let (base, end) = (u64::from(array.base), u64::from(array.base) + u64::from(array.bytes));
            if window == Window::Shared && address >= base && address < end {
                return Some(index);
            }
            index += 1;
        }
        None
    }
}

/// All arrays that a trace of this launch may refer to.
fn allocations(grid: &Grid<'_>) -> Vec<TraceAllocation> {
    let global = grid.regions.iter().filter(|region| !region.freed).map(|region| TraceAllocation {
        name: region.name.clone(),
        space: space_of(Window::Global),
        base: region.base,
        bytes: region.end - region.base,
    });
    let shared = grid.shared_arrays.iter().map(|array| TraceAllocation {
        name: array.name.clone(),
        space: space_of(Window::Shared),
        base: u64::from(array.base),
        bytes: u64::from(array.bytes),
    });
    global.chain(shared).collect()
}

/// Joins what the workers recorded; instructions are numbered by first use.
pub fn finish(grid: &Grid<'_>, recorders: Vec<Recorder>) -> Option<Trace> {
    grid.options.trace.as_ref()?;
    let mut trace = Trace {
        kernel: grid.kernel_name().to_owned(),
        launch: None,
        grid: grid.launch.grid,
        block: grid.launch.block,
        allocations: allocations(grid),
        instructions: Vec::new(),
        warps: Vec::new(),
        values: Vec::new(),
        truncated: false,
    };
    for recorder in recorders {
        trace.truncated |= recorder.truncated;
        trace.values.extend(recorder.values);
        trace.warps.extend(recorder.warps);
    }
    trace.values.sort_by_key(|values| (values.tick, values.block, values.warp));
    trace.warps.sort_by_key(|warp| (warp.block[2], warp.block[1], warp.block[0], warp.warp));
    let mut numbers = HashMap::new();
    for step in trace.warps.iter_mut().flat_map(|warp| &mut warp.steps) {
        let pc = step.instruction;
        let count = numbers.len() as u32;
        step.instruction = *numbers.entry(pc).or_insert_with(|| {
            trace.instructions.push(TraceInstruction {
                text: grid.image.text(pc).to_owned(),
                source: grid.image.source(pc),
                class: grid.image.infos[pc as usize].class,
            });
            count
        });
    }
    Some(trace)
}
