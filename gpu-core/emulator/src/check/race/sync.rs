//! Order between blocks: what one block published through an atomic or a strong store, another that read it may see.
//!
//! A release stores, per location, the clocks of the releasing warp's view of its own block; an acquire remembers the
//! location and how much of it was there. Whether an old access is ordered before a new one of another block is asked
//! only when the shadow says they conflict.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::memory::access::{Addresses, Reach};
use crate::exec::memory::flags::{ACQUIRE, CTA, DATA, FETCH, RELEASE};
use crate::exec::op::Op;
use crate::exec::order;
use crate::memory::space::Window;

use super::history::History;
use super::unfenced::MAX_UNFENCED;

/// One block's contribution to a location.
#[derive(Clone, Debug)]
struct Release {
    block: u64,
    clocks: [u32; 32],
    /// How much the releasing block had acquired by then.
    acquired: u64,
}

/// What one block acquired at a time: a location, and how many releases were there.
#[derive(Clone, Copy, Debug)]
struct Acquire {
    address: u64,
    releases: u64,
}

#[derive(Debug, Default)]
struct Location {
    releases: History<Release>,
    /// Releases that somebody acquired: they must not grow any more.
    acquired: u64,
}

/// What a block has acquired, in order.
#[derive(Debug, Default)]
struct Acquired {
    log: History<Acquire>,
    /// The latest acquire at each location: a second one of the same releases teaches nothing.
    latest: HashMap<u64, u64>,
}

// Places that are no global addresses, by the bits above those.
/// Cluster barriers, by the first block of the cluster.
const CLUSTER_BARRIER: u64 = 1 << 62;
/// mbarriers that other blocks of the cluster arrive at, by block and offset.
const MBARRIER: u64 = 1 << 61;
/// Words of shared memory that other blocks of the cluster update, by block and offset.
const SHARED_WORD: u64 = 1 << 60;
/// The barrier of a cooperative launch's grid, by its place and the number of the arrival.
const GRID_BARRIER: u64 = 1 << 59;

/// All locations that blocks synchronise through.
#[derive(Debug, Default)]
pub struct Syncs {
    /// Where cooperative groups keep the grid's barrier; empty where they have none.
    grid_barrier: std::ops::Range<u64>,
    inner: Mutex<Inner>,
    /// Something was released: without that, acquires need not look.
    any: AtomicBool,
    /// A question was given up because the launch is to end: the ones after it are not asked.
    late: AtomicBool,
}

#[derive(Debug, Default)]
struct Inner {
    locations: HashMap<u64, Location>,
    acquired: HashMap<u64, Acquired>,
    /// How often blocks arrived at a word of the grid's barrier.
    arrivals: HashMap<(u64, u64), u64>,
    /// What blocks were found to know, by block and alias: true for ever, and complete until the block acquires more.
    views: HashMap<(u64, u64), View>,
}

#[derive(Debug, Default)]
struct View {
    /// The block's acquires when it was made.
    acquires: u64,
    clocks: HashMap<u64, Box<[u32; 32]>>,
}

/// Views kept at a time: those of the blocks that run.
const MAX_VIEWS: usize = 256;
/// Releases looked at for an answer that is near, before all that a block knows is gathered.
const NEAR: usize = 64;
/// Steps of a search between two looks at the clock: some 100 microseconds.
const STEPS: usize = 4096;

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    /// `visit` has its answer.
    Found,
    Exhausted,
    /// The launch is to end.
    Late,
}

impl Inner {
    /// The place at which blocks that came to the grid's barrier as often as this one meet. A block polls until the last
    /// one has come, and may look so late that some are at the barrier again: with what those did in between it has no
    /// order. Nobody comes again before all have come, so few places are enough.
    fn meeting(&self, address: u64, block: u64) -> u64 {
        let arrivals = self.arrivals.get(&(address, block)).copied().unwrap_or(0);
        GRID_BARRIER | (arrivals & 3) << 52 | address & ((1 << 52) - 1)
    }

    /// Visits the releases that block `to` knows of, the latest first, until `visit` says that it has its answer, or
    /// `over` that nobody waits for one.
    fn reach(&self, to: u64, over: &impl Fn() -> bool, mut visit: impl FnMut(&Release) -> bool) -> Search {
        let Some(own) = self.acquired.get(&to) else { return Search::Exhausted };
        let mut steps = 0;
        // Of a block's log, and of a location's releases, what comes before this was visited or will be.
        let mut logs: HashMap<u64, u64> = HashMap::from([(to, own.log.len())]);
        let mut places: HashMap<u64, u64> = HashMap::new();
        let mut todo: Vec<(u64, std::ops::Range<u64>)> = vec![(to, 0..own.log.len())];
        while let Some((block, mut range)) = todo.pop() {
            let Some(log) = self.acquired.get(&block) else { continue };
            let Some((position, acquire)) = log.log.last_in(range.clone()) else { continue };
            steps += 1;
            if steps >= STEPS {
                steps = 0;
                if over() {
                    return Search::Late;
                }
            }
            range.end = position;
            todo.push((block, range));
            let known = places.entry(acquire.address).or_insert(0);
            let new = *known..acquire.releases;
            if new.is_empty() {
                continue;
            }
            *known = acquire.releases;
            let Some(location) = self.locations.get(&acquire.address) else { continue };
            for release in location.releases.within(new.clone()).rev() {
                steps += 1;
                if visit(release) {
                    return Search::Found;
                }
            }
            for release in location.releases.within(new) {
                let done = logs.entry(release.block).or_insert(0);
                if release.acquired > *done {
                    todo.push((release.block, *done..release.acquired));
                    *done = release.acquired;
                }
            }
        }
        Search::Exhausted
    }
}

impl Syncs {
    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// For a launch whose grid has its barrier in these bytes.
    pub fn new(grid_barrier: std::ops::Range<u64>) -> Syncs {
        Syncs { grid_barrier, ..Syncs::default() }
    }

    /// Clocks count from the start of the block.
    pub fn release(&self, mut address: u64, block: u64, clocks: [u32; 32]) {
        self.any.store(true, Ordering::Relaxed);
        let mut inner = self.lock();
        if self.grid_barrier.contains(&address) {
            *inner.arrivals.entry((address, block)).or_default() += 1;
            address = inner.meeting(address, block);
        }
        let acquired = inner.acquired.get(&block).map_or(0, |acquired| acquired.log.len());
        let location = inner.locations.entry(address).or_default();
        // What nobody acquired in between is one release.
        let unseen = location.releases.len() > location.acquired;
        if let Some(last) = location.releases.last_mut().filter(|last| unseen && last.block == block) {
            last.merge(&Release { block, clocks, acquired });
            return;
        }
        location.releases.push(Release { block, clocks, acquired }, |release| release.block, Release::merge);
    }

    pub fn acquire(&self, mut address: u64, block: u64) {
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
        let mut inner = self.lock();
        if self.grid_barrier.contains(&address) {
            address = inner.meeting(address, block);
        }
        let Some(location) = inner.locations.get_mut(&address) else { return };
        let releases = location.releases.len();
        location.acquired = releases;
        let acquired = inner.acquired.entry(block).or_default();
        if acquired.latest.insert(address, releases) != Some(releases) {
            let same = |kept: &mut Acquire, other: &Acquire| kept.releases = kept.releases.max(other.releases);
            acquired.log.push(Acquire { address, releases }, |acquire| acquire.address, same);
        }
    }

    /// Whether an access by warp `warp` of block `from` at `clock` (counted from the block's start) is ordered before what
    /// block `to` does now.
    /// `from` is compared modulo `alias`, as shadows keep only part of a block's number.
    ///
    /// Costs little in a loop however long: histories are folded, and what a block knows is gathered at most once after
    /// each of its acquires. That can still be long where very many blocks meet at very many places, so `over` is asked
    /// now and then whether the launch is to end; from then on everything counts as ordered, lest half an answer
    /// accuses anyone.
    pub fn ordered(&self, from: u64, alias: u64, warp: usize, clock: u32, to: u64, over: impl Fn() -> bool) -> bool {
        // Most launches release nothing; and whoever acquired something was told so by the same flag.
        if !self.any.load(Ordering::Relaxed) {
            return false;
        }
        if self.late.load(Ordering::Relaxed) {
            return true;
        }
        let mut guard = self.lock();
        let inner = &mut *guard;
        let Some(acquired) = inner.acquired.get(&to) else { return false };
        let acquires = acquired.log.len();
        let from = from % alias;
        if let Some(view) = inner.views.get(&(to, alias)) {
            if view.clocks.get(&from).is_some_and(|clocks| clocks[warp] >= clock) {
                return true;
            }
            if view.acquires == acquires {
                return false;
            }
        }
        let (mut looked, mut found) = (0, false);
        let near = inner.reach(to, &over, |release| {
            looked += 1;
            found = release.block % alias == from && release.clocks[warp] >= clock;
            found || looked > NEAR
        });
        if found {
            return true;
        }
        let mut clocks: HashMap<u64, Box<[u32; 32]>> = HashMap::new();
        let all = inner.reach(to, &over, |release| {
            let known = clocks.entry(release.block % alias).or_insert_with(|| Box::new([0; 32]));
            join(known, &release.clocks);
            false
        });
        if near == Search::Late || all == Search::Late {
            self.late.store(true, Ordering::Relaxed);
            return true;
        }
        let answer = clocks.get(&from).is_some_and(|clocks| clocks[warp] >= clock);
        if inner.views.len() >= MAX_VIEWS {
            inner.views.clear();
        }
        inner.views.insert((to, alias), View { acquires, clocks });
        answer
    }

    /// Whether some block published anything at a place.
    pub(crate) fn has(&self, address: u64) -> bool {
        let address = |inner: &Inner| match self.grid_barrier.contains(&address) {
            // Arrivals are told apart by their number.
            true => inner.arrivals.keys().any(|(word, _)| *word == address),
            false => inner.locations.contains_key(&address),
        };
        self.any.load(Ordering::Relaxed) && address(&self.lock())
    }

    /// True when blocks synchronise at all.
    pub fn used_by(&self, block: u64) -> bool {
        self.lock().acquired.contains_key(&block)
    }
}

impl Release {
    fn merge(&mut self, other: &Release) {
        join(&mut self.clocks, &other.clocks);
        self.acquired = self.acquired.max(other.acquired);
    }
}

fn join(have: &mut [u32; 32], new: &[u32; 32]) {
    for (have, new) in have.iter_mut().zip(new) {
        *have = (*have).max(*new);
    }
}

impl Cx<'_> {
    pub(crate) fn watches_races(&self) -> bool {
        self.watch & watch::RACE != 0
    }

    /// What this warp has seen of its block, itself included.
    pub fn clocks(&self) -> [u32; 32] {
        self.warp.clocks()
    }

    fn since_start(&self, clocks: [u32; 32]) -> [u32; 32] {
        clocks.map(|clock| clock.saturating_sub(self.block.base_time))
    }

    /// What this warp has seen and some fence covered: a relaxed atomic publishes it. The fence may be another warp's with a
    /// barrier behind it, as in `__threadfence(); __syncthreads(); if (threadIdx.x == 0) atomicAdd(...)`.
    pub fn fenced(&self, narrow: bool) -> Option<[u32; 32]> {
        let fenced = if narrow { &self.block.fenced_block } else { &self.block.fenced };
        let fenced = fenced.as_deref()?;
        let mut seen = self.clocks();
        for (seen, fenced) in seen.iter_mut().zip(fenced) {
            *seen = (*seen).min(*fenced);
        }
        Some(seen)
    }

    pub(crate) fn clustered(&self) -> bool {
        self.peers.len() > 1
    }

    /// The place of a shared word for other blocks of the cluster.
    pub(crate) fn word_key(&mut self, address: u64) -> Option<u64> {
        let (home, offset) = self.shared_home(address)?;
        // SAFETY: peers of a cluster are run by this worker alone.
        Some(SHARED_WORD | unsafe { (*home).index } << 24 | u64::from(offset))
    }

    /// Before an atomic or strong store: publishes what a fence (or the instruction's own `.release`) covers.
    pub fn release(&mut self, op: &Op, reach: &Reach, at: &Addresses) {
        if !self.watches_races() {
            return;
        }
        let mut narrow = self.fenced(true);
        let mut wide = self.fenced(false);
        if op.e.0 & RELEASE != 0 {
            let seen = self.clocks();
            let time = &mut self.block.time;
            self.warp.tick(time);
            narrow = Some(seen);
            if op.e.0 & CTA == 0 {
                wide = narrow;
            }
        }
        let Some(narrow) = narrow else { return };
        let wide = wide.map(|wide| self.since_start(wide));
        let block = self.block.index;
        for key in keys(reach, at) {
            let shared = reach.window == Window::Shared;
            if !shared || key >> 24 == 0 {
                let entry = self.block.syncs.entry(key).or_insert([0; 32]);
                for (have, new) in entry.iter_mut().zip(&narrow) {
                    *have = (*have).max(*new);
                }
            }
            let Some(wide) = wide else { continue };
            if !shared {
                self.grid.syncs.release(key, block, wide);
            } else if self.clustered()
                && let Some(key) = self.word_key(key)
            {
                self.grid.syncs.release(key, block, wide);
            }
        }
    }

    /// After an atomic or acquiring load: learns what was published at its location, or will where a fence follows.
    pub fn acquire(&mut self, op: &Op, reach: &Reach, at: &Addresses) {
        if self.watches_races() && self.may_learn() {
            for key in keys(reach, at) {
                self.meet(op, reach.window, key);
            }
        }
    }

    /// False when nothing was published that this block could learn: most kernels with atomics order nothing by them.
    #[inline(always)]
    pub(crate) fn may_learn(&self) -> bool {
        !self.block.syncs.is_empty() || self.clustered() || self.grid.syncs.any.load(Ordering::Relaxed)
    }

    pub(crate) fn learn(&mut self, window: Window, key: u64, wide: bool) {
        if let Some(clocks) = self.block.syncs.get(&key).copied() {
            self.warp.acquire(&clocks);
        }
        let block = self.block.index;
        if window == Window::Global {
            if wide {
                self.grid.syncs.acquire(key, block);
            }
        } else if self.clustered()
            && let Some(key) = self.word_key(key)
        {
            self.grid.syncs.acquire(key, block);
        }
    }

    /// Keeps this thread's accesses to memory in order for others ([`order`]).
    pub fn order(&self, ordering: Ordering) {
        if !self.grid.alone {
            std::sync::atomic::fence(ordering);
        }
    }

    /// After a strong load. True: it polled often enough to give way.
    pub fn strong_load(&mut self, op: &Op, reach: &Reach, at: &Addresses) -> bool {
        if reach.window == Window::Global {
            self.order(order::BEHIND_LOAD);
        }
        if op.e.0 & (FETCH | DATA) == FETCH && reach.window == Window::Global && self.watches_races() {
            let grid = self.grid;
            grid.races.note_unfinished(self, op, reach, at);
        }
        if op.e.0 & ACQUIRE != 0 {
            self.acquire(op, reach, at);
        } else if self.watches_races() && self.warp.unfenced.len() < MAX_UNFENCED {
            // A relaxed or volatile load orders nothing until a fence follows.
            self.remember_load(reach, at);
        }
        matches!(reach.window, Window::Shared | Window::Global) && self.polled()
    }

    pub fn strong_store(&mut self, op: &Op, reach: &Reach, at: &Addresses) {
        self.release(op, reach, at);
        if reach.window == Window::Global {
            self.order(order::BEFORE_STORE);
        }
    }

    /// A fence: from here a relaxed atomic publishes what came before, and what relaxed loads saw is ordered.
    pub fn fence(&mut self, narrow: bool) {
        if !narrow {
            self.order(order::FENCE);
        }
        let seen = self.clocks();
        let cover = |fenced: &mut Option<Box<[u32; 32]>>| {
            let fenced = fenced.get_or_insert_with(|| Box::new([0; 32]));
            for (have, new) in fenced.iter_mut().zip(&seen) {
                *have = (*have).max(*new);
            }
        };
        cover(&mut self.block.fenced_block);
        if !narrow {
            cover(&mut self.block.fenced);
        }
        self.finish_acquires(!narrow);
        let time = &mut self.block.time;
        self.warp.tick(time);
    }

    /// Publishes this warp's view at the cluster's barrier; `relaxed`: only what a fence covers.
    pub fn publish_cluster(&mut self, relaxed: bool) {
        let clocks = if relaxed { self.fenced(false) } else { Some(self.clocks()) };
        if let Some(clocks) = clocks {
            let clocks = self.since_start(clocks);
            self.grid.syncs.release(self.cluster_key(self.cluster.generation), self.block.index, clocks);
        }
        let time = &mut self.block.time;
        self.warp.tick(time);
    }

    /// Learns what the blocks of the cluster published at one generation of their barrier.
    pub fn learn_cluster(&mut self, generation: u64) {
        self.grid.syncs.acquire(self.cluster_key(generation), self.block.index);
    }

    /// Generations take turns at four places: a block learns one before it can arrive at the next but one.
    fn cluster_key(&self, generation: u64) -> u64 {
        CLUSTER_BARRIER | (generation & 3) << 40 | self.cluster.first
    }

    /// An arrival at another block's mbarrier: the two blocks count time differently.
    /// `relaxed`: it publishes only what a fence covers.
    pub fn publish_mbarrier(&mut self, home: u64, offset: u32, phase: u64, relaxed: bool) {
        let clocks = if relaxed { self.fenced(false) } else { Some(self.clocks()) };
        let Some(clocks) = clocks else { return };
        let clocks = self.since_start(clocks);
        self.grid.syncs.release(mbarrier_key(home, offset, phase), self.block.index, clocks);
    }

    /// A wait at the own block's mbarrier passed with this many phases completed.
    pub fn learn_mbarrier(&mut self, offset: u32, phases: u64) {
        if self.clustered() {
            let block = self.block.index;
            for phase in phases.saturating_sub(2)..phases {
                self.grid.syncs.acquire(mbarrier_key(block, offset, phase), block);
            }
        }
    }
}

/// A wait learns the last two phases while the next two may be arrived at: four places suffice.
fn mbarrier_key(home: u64, offset: u32, phase: u64) -> u64 {
    MBARRIER | (phase & 3) << 52 | home << 24 | u64::from(offset)
}

pub(crate) fn keys(reach: &Reach, at: &Addresses) -> Vec<u64> {
    if !matches!(reach.window, Window::Shared | Window::Global) {
        return Vec::new();
    }
    let mut keys: Vec<u64> = lanes(at.mask).map(|lane| at.at[lane] & !3).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
