//! Which thread touched which element of an array, read from a trace.

use super::example::Memo;
use super::model::{self, AccessSite, Execution};
use gpu_core::emulator::{AccessKind, Space, Trace};
use std::collections::HashMap;
use std::rc::Rc;

/// One traced thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    pub block: [u32; 3],
    pub block_linear: u64,
    /// Index in its block, x fastest; its cell in the picture.
    pub linear: u32,
    pub thread: [u32; 3],
    /// Elements that it touched, counted from the array's start, in order and without repeats. Empty for a thread for
    /// which the access did not run.
    pub elements: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    pub array: String,
    /// Elements in the array.
    pub length: i64,
    /// Sorted by block and index.
    pub threads: Vec<Thread>,
    /// Threads per element that was touched at all; keys outside `0..length` are out of bounds.
    pub touches: HashMap<i64, u32>,
    /// Elements per row of a matrix, where the threads of a 2-D block show one.
    pub row_length: Option<i64>,
    pub traced_blocks: u64,
    pub blocks: u64,
}

/// Larger arrays are cut here: a picture of more elements says nothing, and a damaged trace must not take the memory.
const MOST_ELEMENTS: i64 = 1 << 40;

/// The accesses that have a map.
pub fn sites(trace: &Trace) -> Vec<AccessSite> {
    model::access_sites(trace, |space| matches!(space, Space::Global | Space::Generic | Space::Shared))
}

/// The access that a picture maps.
#[derive(Default)]
pub struct Mapped {
    /// None takes the first store, which is what most kernels are for.
    pub site: Option<usize>,
    /// By fingerprint of the trace and number of the site.
    maps: Memo<(u64, usize), Map>,
}

impl Mapped {
    pub fn chosen(&self, sites: &[AccessSite]) -> usize {
        let store = || sites.iter().position(|site| site.kind == AccessKind::Write && site.space != Space::Shared);
        self.site.unwrap_or_else(|| store().unwrap_or(0)).min(sites.len().saturating_sub(1))
    }

    pub fn map(&self, trace: &Trace, sites: &[AccessSite]) -> Option<Rc<Map>> {
        let chosen = self.chosen(sites);
        let site = sites.get(chosen)?;
        Some(self.maps.get(&(model::fingerprint(trace), chosen), |_| Map::new(trace, site)))
    }
}

impl Map {
    pub fn new(trace: &Trace, site: &AccessSite) -> Self {
        let executions = model::executions(trace, site);
        let element_bytes = element_bytes(trace, site);
        let allocation = site.allocation.and_then(|index| trace.allocations.get(index as usize));
        let lowest = || executions.iter().flat_map(|e| model::lane_addresses(e.step)).map(|(_, a)| a).min();
        let base = allocation.map_or_else(|| lowest().unwrap_or(0), |a| a.base);
        let length = allocation.map_or(0, |a| (a.bytes / element_bytes) as i64).min(MOST_ELEMENTS);

        let mut threads = all_threads(trace);
        let index: HashMap<(u64, u32), usize> =
            threads.iter().enumerate().map(|(i, thread)| ((thread.block_linear, thread.linear), i)).collect();
        for Execution { warp, step, .. } in &executions {
            let block = model::block_linear(trace.grid, warp.block);
            let bytes = step.access.as_ref().map_or(element_bytes, |a| u64::from(a.bytes)).max(1);
            for (lane, address) in model::lane_addresses(step) {
                let linear = warp.warp.saturating_mul(model::LANES).saturating_add(lane);
                let Some(thread) = index.get(&(block, linear)).and_then(|i| threads.get_mut(*i)) else { continue };
                let offset = address.wrapping_sub(base) as i64;
                let first = offset.div_euclid(element_bytes as i64);
                for element in first..first.saturating_add(bytes.div_ceil(element_bytes) as i64) {
                    if !thread.elements.contains(&element) {
                        thread.elements.push(element);
                    }
                }
            }
        }
        let mut touches: HashMap<i64, u32> = HashMap::new();
        for element in threads.iter().flat_map(|thread| &thread.elements) {
            *touches.entry(*element).or_default() += 1;
        }
        let mut blocks: Vec<u64> = threads.iter().map(|thread| thread.block_linear).collect();
        blocks.dedup();
        let mut map = Self {
            array: site.array.clone(),
            length,
            touches,
            row_length: None,
            traced_blocks: blocks.len() as u64,
            blocks: model::volume(trace.grid),
            threads,
        };
        map.row_length = map.find_row_length(trace.block, &index);
        map
    }

    /// From one thread to the one below it, the element moves by a row.
    fn find_row_length(&self, block: [u32; 3], index: &HashMap<(u64, u32), usize>) -> Option<i64> {
        if block[1] < 2 {
            return None;
        }
        let step = |from: &Thread, by: u32| {
            let to = self.threads.get(*index.get(&(from.block_linear, from.linear.checked_add(by)?))?)?;
            Some(to.elements.first()? - from.elements.first()?)
        };
        let downwards = self.threads.iter().find_map(|thread| step(thread, block[0]).filter(|distance| *distance > 1));
        // Where y goes along a row, x goes down a column.
        let neighbours = || self.threads.iter().any(|thread| step(thread, block[0]) == Some(1));
        downwards.or_else(|| {
            let inner = self.threads.iter().filter(|thread| thread.thread[0] + 1 < block[0]);
            inner.filter(|_| neighbours()).find_map(|thread| step(thread, 1).filter(|distance| *distance > 1))
        })
    }

    pub fn is_complete(&self) -> bool {
        self.traced_blocks >= self.blocks
    }

    /// Threads that touch an element; and those that touch none.
    pub fn busy_and_idle(&self) -> (usize, usize) {
        let busy = self.threads.iter().filter(|thread| !thread.elements.is_empty()).count();
        (busy, self.threads.len() - busy)
    }

    pub fn out_of_bounds(&self) -> usize {
        self.touches.keys().filter(|element| **element < 0 || **element >= self.length).count()
    }

    pub fn touched_more_than_once(&self) -> usize {
        self.touches.values().filter(|count| **count > 1).count()
    }

    /// Elements of the array that no traced thread touched.
    pub fn untouched(&self) -> i64 {
        let inside = self.touches.keys().filter(|element| (0..self.length).contains(*element)).count();
        self.length - inside as i64
    }

    /// Threads that touch an element, by index into [`Map::threads`].
    pub fn threads_of(&self, element: i64) -> impl Iterator<Item = usize> + '_ {
        let touches = move |thread: &Thread| thread.elements.contains(&element);
        self.threads.iter().enumerate().filter(move |(_, thread)| touches(thread)).map(|(i, _)| i)
    }
}

/// Every thread of the traced warps.
fn all_threads(trace: &Trace) -> Vec<Thread> {
    let mut threads: Vec<Thread> = Vec::new();
    for warp in &trace.warps {
        for lane in 0..model::lanes_in_warp(trace.block, warp.warp) {
            let linear = warp.warp * model::LANES + lane;
            threads.push(Thread {
                block: warp.block,
                block_linear: model::block_linear(trace.grid, warp.block),
                linear,
                thread: model::thread_at(trace.block, linear),
                elements: Vec::new(),
            });
        }
    }
    threads.sort_by_key(|thread| (thread.block_linear, thread.linear));
    threads.dedup_by_key(|thread| (thread.block_linear, thread.linear));
    threads
}

/// The narrowest access to the same array: a `float4` load then covers four elements.
fn element_bytes(trace: &Trace, site: &AccessSite) -> u64 {
    let accesses = trace.warps.iter().flat_map(|warp| &warp.steps).filter_map(|step| step.access.as_ref());
    let same = accesses.filter(|access| access.allocation == site.allocation && access.space == site.space);
    u64::from(same.map(|access| access.bytes).min().unwrap_or(site.bytes).max(1))
}
