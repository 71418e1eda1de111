//! A block's run, cut at its barriers.

use crate::viz::model;
use gpu_core::emulator::{AccessKind, Space, Trace, WarpTrace};
use std::collections::HashMap;

/// An array that the block touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub name: String,
    pub shared: bool,
    pub written: bool,
    pub read: bool,
    /// Elements, and how many of them make a row in the picture.
    pub length: u64,
    pub columns: u64,
    element_bytes: u64,
}

impl Array {
    pub fn rows(&self) -> u64 {
        self.length.div_ceil(self.columns.max(1))
    }
}

/// Between two barriers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// Per array: how often each element was read, and written, by the threads of the block.
    pub reads: HashMap<(usize, u64), u32>,
    pub writes: HashMap<(usize, u64), u32>,
    /// A multiply-add is two.
    pub float_operations: u64,
    /// True when a barrier ends it.
    pub barrier: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    pub arrays: Vec<Array>,
    pub phases: Vec<Phase>,
    pub threads: u64,
}

/// A picture of more elements than this shows nothing; and a damaged trace must not take the memory.
const MOST_ELEMENTS: u64 = 1 << 14;
/// A kernel with more barriers is cut here.
const MOST_PHASES: usize = 512;

impl Phases {
    /// The phases of the block whose index is `block`.
    pub fn new(trace: &Trace, block: [u32; 3]) -> Self {
        let warps: Vec<&WarpTrace> = trace.warps.iter().filter(|warp| warp.block == block).collect();
        let mut found = Self { threads: model::volume(trace.block), ..Self::default() };
        let mut index: HashMap<u32, usize> = HashMap::new();
        for access in warps.iter().flat_map(|w| &w.steps).filter_map(|step| step.access.as_ref()) {
            let Some(number) = access.allocation else { continue };
            let Some(allocation) = trace.allocations.get(number as usize) else { continue };
            let shared = matches!(allocation.space, Space::Shared | Space::Cluster);
            if !shared && !matches!(allocation.space, Space::Global | Space::Generic) {
                continue;
            }
            let at = *index.entry(number).or_insert_with(|| {
                found.arrays.push(Array {
                    name: allocation.name.clone(),
                    shared,
                    written: false,
                    read: false,
                    length: 0,
                    columns: 0,
                    element_bytes: u64::MAX,
                });
                found.arrays.len() - 1
            });
            let array = &mut found.arrays[at];
            array.element_bytes = array.element_bytes.min(u64::from(access.bytes.max(1)));
            array.length = (allocation.bytes / array.element_bytes).min(MOST_ELEMENTS);
            match access.kind {
                AccessKind::Read => array.read = true,
                AccessKind::Write => array.written = true,
                AccessKind::Atomic => (array.read, array.written) = (true, true),
                AccessKind::AsyncCopy => {}
            }
        }
        for (number, at) in &index {
            found.arrays[*at].columns = columns(trace, &warps, *number, &found.arrays[*at]);
        }
        // What cannot be told from an array's own accesses is taken from one of the same length.
        for at in 0..found.arrays.len() {
            if found.arrays[at].columns == 0 {
                let length = found.arrays[at].length;
                let same = found.arrays.iter().find(|other| other.length == length && other.columns > 1);
                found.arrays[at].columns = same.map_or_else(|| square_or_32(length), |other| other.columns);
            }
        }
        for warp in &warps {
            found.read_warp(trace, warp, &index);
        }
        found
    }

    fn read_warp(&mut self, trace: &Trace, warp: &WarpTrace, index: &HashMap<u32, usize>) {
        let mut at = 0;
        for step in &warp.steps {
            if self.phases.len() <= at {
                if at >= MOST_PHASES {
                    return;
                }
                self.phases.push(Phase::default());
            }
            let phase = &mut self.phases[at];
            if let Some(instruction) = trace.instructions.get(step.instruction as usize) {
                if model::is_block_barrier(instruction) {
                    phase.barrier = true;
                    at += 1;
                    continue;
                }
                phase.float_operations += model::flops_of(instruction, step.mask) as u64;
            }
            let Some(access) = &step.access else { continue };
            let Some((number, array)) = access.allocation.and_then(|n| Some((n, *index.get(&n)?))) else { continue };
            let base = trace.allocations.get(number as usize).map_or(0, |a| a.base);
            let width = self.arrays[array].element_bytes.max(1);
            let touched = match access.kind {
                AccessKind::Read => &mut phase.reads,
                _ => &mut phase.writes,
            };
            for (_, address) in model::lane_addresses(step) {
                let first = address.wrapping_sub(base) / width;
                for element in first..first.saturating_add(u64::from(access.bytes).div_ceil(width)) {
                    if element < self.arrays[array].length {
                        *touched.entry((array, element)).or_default() += 1;
                    }
                }
            }
        }
    }

    /// Reads of global elements, and different elements among them, up to and with phase `at`.
    pub fn global_reads(&self, at: usize) -> (u64, usize) {
        self.reads_of(at, false)
    }

    /// Reads of shared elements up to and with phase `at`.
    pub fn shared_reads(&self, at: usize) -> u64 {
        self.reads_of(at, true).0
    }

    fn reads_of(&self, at: usize, shared: bool) -> (u64, usize) {
        let mut different = std::collections::HashSet::new();
        let mut count = 0;
        for phase in self.phases.iter().take(at + 1) {
            for (key, times) in phase.reads.iter().filter(|(key, _)| self.arrays[key.0].shared == shared) {
                count += u64::from(*times);
                different.insert(*key);
            }
        }
        (count, different.len())
    }

    /// Whether an element was touched in a phase before `at`.
    pub fn touched_before(&self, at: usize, key: (usize, u64)) -> bool {
        self.phases.iter().take(at).any(|phase| phase.reads.contains_key(&key) || phase.writes.contains_key(&key))
    }
}

/// Elements from one row to the next, from how the address moves with `threadIdx.y`, or with `threadIdx.x` where y goes
/// along a row; 0 when that does not tell.
fn columns(trace: &Trace, warps: &[&WarpTrace], allocation: u32, array: &Array) -> u64 {
    let width = trace.block[0].max(1);
    let mut sideways = 0;
    for step in warps.iter().flat_map(|warp| &warp.steps) {
        if step.access.as_ref().is_none_or(|access| access.allocation != Some(allocation)) {
            continue;
        }
        let lanes: HashMap<u32, u64> = model::lane_addresses(step).collect();
        let distance = |lane: u32, by: u32| {
            let (from, to) = (lanes.get(&lane)?, lanes.get(&lane.checked_add(by)?)?);
            Some(to.saturating_sub(*from) / array.element_bytes.max(1))
        };
        let is_row = |distance: &u64| (2..=array.length).contains(distance);
        for lane in 0..model::LANES {
            match distance(lane, width) {
                Some(below) if is_row(&below) => return below,
                Some(1) if (lane + 1) % width != 0 && sideways == 0 => {
                    sideways = distance(lane, 1).filter(is_row).unwrap_or(0);
                }
                _ => {}
            }
        }
    }
    sideways
}

fn square_or_32(length: u64) -> u64 {
    let root = length.isqrt();
    if root > 1 && root * root == length { root } else { length.clamp(1, 32) }
}
