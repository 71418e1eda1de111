//! A block: shared memory, barriers and its warps.

use std::sync::atomic::{AtomicBool, AtomicU64};

use super::warp::{Join, Warp};
use crate::analysis::barrier_intervals::Separate;
use crate::check::race::known::Known;
use crate::check::race::shadow::SharedShadow;
use crate::check::registers::Share;
use crate::exec::grid::{Grid, RESERVED_SHARED};

/// Hardware barriers of a block.
pub const BARRIERS: usize = 16;

/// What `bar.red` counts: true predicates; whether all are; whether any is.
pub type Reduced = (u32, bool, bool);

/// What a completion of a barrier is called: never 0.
pub fn completion(generation: u64) -> u32 {
    generation as u32 | 1 << 31
}

/// One of the 16 barriers.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// Counts completions; a waiter goes on when it moves.
    pub generation: u64,
    pub arrived: u32,
    /// Threads it waits for when the instruction names a number.
    pub expected: Option<u32>,
    /// Clocks that arrivals brought, and those that the last completion handed out.
    pub clocks: [u32; 32],
    pub released: [u32; 32],
    /// The last completion was one of the whole block: instead of `released`, all that came before counts as seen.
    pub whole: bool,
    /// Logical time of the last completion: the new clock of all who waited.
    pub time: u32,
    /// Reduction of `bar.red`: population count, and, or; the last completion's result.
    pub count: u32,
    pub all: bool,
    pub any: bool,
    pub result: Reduced,
    /// Groups that wait for the result, and the results that not all have fetched: the barrier may serve others, and
    /// complete again, before those that it let go run.
    pub reducing: u32,
    pub unfetched: Vec<(u32, u32, Reduced)>,
    /// Where the first arrival of this generation stands, and which thread of the block it is.
    pub first_pc: u32,
    pub first_thread: u32,
}

impl Default for Barrier {
    fn default() -> Barrier {
        Barrier {
            generation: 0,
            arrived: 0,
            expected: None,
            clocks: [0; 32],
            released: [0; 32],
            whole: false,
            time: 0,
            count: 0,
            all: true,
            any: false,
            result: (0, true, false),
            reducing: 0,
            unfetched: Vec::new(),
            first_pc: 0,
            first_thread: 0,
        }
    }
}

/// Threads that a barrier completed without, because they had exited.
#[derive(Clone, Copy, Debug)]
pub struct Missed {
    pub barrier: u32,
    pub pc: u32,
    pub arrived: u32,
    /// Linear number of the thread that came first.
    pub first_thread: u32,
}

/// An array in shared memory, for bounds and names.
#[derive(Clone, Debug)]
pub struct SharedArray {
    pub name: String,
    pub base: u32,
    pub bytes: u32,
}

/// Everything of a block but its warps while one of them runs.
/// What is known of a block's shared memory. In one word: machine code asks for all of it at once.
#[derive(Debug, Default)]
#[repr(C, align(4))]
pub struct SharedState {
    /// No two of its threads meet there between two barriers ([`crate::analysis::barrier_intervals`]).
    pub apart: bool,
    /// All of it is known to be written.
    pub written: AtomicBool,
    /// Accesses need a closer look: something asynchronous, or another block, is at it.
    pub guarded: bool,
    /// There is more behind that than copies by `cp.async`.
    pub more: bool,
}

#[derive(Debug)]
pub struct Block {
    pub index: u64,
    pub id: [u32; 3],
    pub threads: u32,
    pub live_threads: u32,
    pub warps: Vec<Option<Box<Warp>>>,
    /// The one that ended last.
    pub last_warp: u32,
    pub barriers: Vec<Barrier>,
    /// One bit per barrier that somebody arrived at.
    pub barriers_used: u32,
    /// Logical time: moves on at every synchronisation; never reset, so that stamps of earlier blocks are old.
    pub time: u32,
    /// `time` when the block started, and what each of its warps knew of each then.
    pub base_time: u32,
    pub base_seen: [u32; 32],
    /// Clocks published through atomics and strong stores, for the other warps of the block, by address.
    pub syncs: std::collections::HashMap<u64, [u32; 32]>,
    pub shared: Vec<u128>,
    /// One bit per byte: written. Those between the arrays are set, and those of a last word more, up to which machine code
    /// may look.
    pub shared_init: Vec<AtomicU64>,
    /// How often some of them may have been cleared again.
    pub shared_changes: u32,
    pub shared_shadow: SharedShadow,
    pub missed: Vec<Missed>,
    /// `cp.async` copies that nobody waited for yet.
    pub copies: crate::isa::copy_groups::Copies,
    /// Live mbarriers by shared address.
    pub mbarriers: std::collections::BTreeMap<u32, crate::isa::mbarrier::MBarrier>,
    /// What asynchronous operations are about.
    pub pending: crate::check::async_copy::copies::Pending,
    /// Undefined values in shared and local memory.
    pub stored: crate::check::race::stored::Stored,
    /// What is known of its shared memory.
    pub state: SharedState,
    /// [`SharedState::apart`] is still to be found out.
    pub undecided: bool,
    /// Clock of each warp up to which fences cover what it did: fences for the whole device, and for the block at least.
    pub fenced: Option<Box<[u32; 32]>>,
    pub fenced_block: Option<Box<[u32; 32]>>,
    /// Clocks up to which stores are visible to asynchronous copies.
    pub proxy: Known,
    /// What its warps asked for with `setmaxnreg`.
    pub shares: Vec<Share>,
    /// Global words that single threads of it updated atomically, the latest last: who took a number there comes behind
    /// everyone whose update it saw, also where another worker wrote its own into the shadow after this one.
    pub numbers: Vec<(u64, u32)>,
    /// Rank in its cluster.
    pub cluster_rank: u32,
    /// What its warps' arrivals at the cluster's barrier order, by generation.
    pub cluster_arrivals: [crate::isa::cluster::Arrivals; 2],
}

/// Numbers that are remembered.
const NUMBERS: usize = 64;

impl Block {
    /// Remembers that one thread updated a word of global memory atomically.
    pub fn note_number(&mut self, word: u64, thread: u32) {
        if self.numbers.contains(&(word, thread)) {
            return;
        }
        if self.numbers.len() == NUMBERS {
            self.numbers.remove(0);
        }
        self.numbers.push((word, thread));
    }

    /// A block of the grid that [`Block::start`] is still to make a certain one.
    pub fn new(grid: &Grid<'_>) -> Block {
        let threads: u32 = grid.launch.block.iter().product();
        let shared_units = (grid.shared_bytes as usize).div_ceil(16);
        Block {
            index: 0,
            id: [0; 3],
            threads,
            live_threads: threads,
            warps: Vec::new(),
            last_warp: 0,
            barriers: vec![Barrier::default(); BARRIERS],
            barriers_used: 0,
            time: 1,
            base_time: 1,
            base_seen: [u32::MAX; 32],
            syncs: Default::default(),
            shared: vec![u128::MAX; shared_units],
            shared_init: (0..=(grid.shared_bytes as usize).div_ceil(64)).map(|_| AtomicU64::new(u64::MAX)).collect(),
            shared_changes: 0,
            shared_shadow: SharedShadow::new(if grid.options.checks.race { grid.shared_bytes } else { 0 }, threads),
            missed: Vec::new(),
            copies: Default::default(),
            mbarriers: Default::default(),
            pending: Default::default(),
            stored: Default::default(),
            state: SharedState::default(),
            undecided: false,
            fenced: None,
            fenced_block: None,
            numbers: Vec::new(),
            proxy: Known::default(),
            shares: Vec::new(),
            cluster_rank: 0,
            cluster_arrivals: Default::default(),
        }
    }

    /// Makes a new or a finished block the one of that number.
    pub fn start(&mut self, grid: &Grid<'_>, index: u64) {
        let threads = self.threads;
        self.index = index;
        self.id = grid.block_id(index);
        self.live_threads = threads;
        for id in crate::exec::cx::lanes(std::mem::take(&mut self.barriers_used)) {
            self.barriers[id] = Barrier::default();
        }
        self.copies.reset();
        self.mbarriers.clear();
        self.pending.reset();
        self.stored.reset();
        // What is not asked for is known.
        let checks = &grid.options.checks;
        self.state = SharedState {
            apart: !checks.race,
            written: AtomicBool::new(!checks.uninitialised),
            guarded: false,
            more: false,
        };
        (self.fenced, self.fenced_block) = (None, None);
        self.proxy.clear();
        self.shares.clear();
        self.cluster_arrivals = Default::default();
        if self.time > crate::check::race::shadow::MAX_TIME / 2 {
            self.time = 1;
            self.shared_shadow.clear();
        }
        for (word, gaps) in self.shared_init.iter_mut().zip(&grid.shared_gaps) {
            *word.get_mut() = *gaps;
        }
        self.shared_changes = 0;
        if let Some(base) = grid.reserved_shared {
            self.shared[base as usize / 16..][..RESERVED_SHARED as usize / 16].fill(0);
        }
        match grid.separate.get() {
            Some(found) => self.take_separate(found.as_deref()),
            None => self.undecided = grid.plan.is_some(),
        }
        self.base_time = self.time;
        self.syncs.clear();
        self.numbers.clear();
        self.time += 1;
        let count = threads.div_ceil(32);
        // Warps that do not exist are always up to date: they must not hold the floor down.
        self.base_seen[..count as usize].fill(self.base_time);
        let made = || Some(Box::new(Warp::new(grid.local_stride, self.base_seen)));
        self.warps.resize_with(count as usize, made);
        // What ran last is nearest.
        self.warps.swap(0, self.last_warp as usize);
        for warp in 0..count {
            let lanes = self.lanes_of(warp);
            // One may run.
            if let Some(made) = &mut self.warps[warp as usize] {
                made.renew(warp, lanes);
            }
        }
    }

    /// Lanes that a warp has.
    pub fn lanes_of(&self, warp: u32) -> u32 {
        match self.threads - warp * 32 {
            lanes @ 0..32 => (1 << lanes) - 1,
            _ => u32::MAX,
        }
    }

    /// What was found of the launch holds for this block.
    pub fn take_separate(&mut self, found: Option<&Separate>) {
        self.undecided = false;
        let Some(found) = found else { return };
        self.state.apart = true;
        for (word, untouched) in self.shared_init.iter_mut().zip(&found.untouched) {
            *word.get_mut() |= untouched;
        }
    }

    /// Takes the first warp from `index` on that has not ended, so that it can run.
    pub fn take_warp(&mut self, index: usize) -> Option<Box<Warp>> {
        let live = |warp: &Option<Box<Warp>>| warp.as_ref().is_some_and(|warp| warp.live != 0);
        self.warps.get_mut(index..)?.iter_mut().find(|warp| live(warp))?.take()
    }

    /// Puts a warp back to its place.
    #[inline(always)]
    pub fn return_warp(&mut self, warp: Box<Warp>) {
        let index = warp.index as usize;
        self.warps[index] = Some(warp);
    }

    pub fn shared_pointer(&mut self) -> *mut u8 {
        self.shared.as_mut_ptr().cast()
    }

    /// Threads exit: barriers that wait for the whole block may be complete now.
    #[inline(always)]
    pub fn lanes_exited(&mut self, mask: u32) {
        self.live_threads -= mask.count_ones();
        for id in crate::exec::cx::lanes(self.barriers_used) {
            let barrier = &self.barriers[id];
            if barrier.arrived > 0 && barrier.expected.is_none() && barrier.arrived >= self.live_threads {
                self.complete(id);
            }
        }
    }

    /// Lets lanes that a `.sync` operation or a barrier waits for leave such a meeting point. False when none is held there.
    pub fn free_awaited_lanes(&mut self, which: impl Fn(&Join) -> bool) -> bool {
        self.warps.iter_mut().flatten().any(|warp| {
            let grouped = warp.splits.iter().fold(0, |mask, split| mask | split.mask);
            let held = warp.live & !grouped;
            let awaits = |wait: super::warp::Wait| match wait {
                super::warp::Wait::Sync { members } => members & held != 0,
                super::warp::Wait::Barrier { .. } | super::warp::Wait::Together => held != 0,
                _ => false,
            };
            warp.splits.iter().any(|split| awaits(split.wait)) && warp.break_join(&which)
        })
    }

    /// Some group waits at the cluster barrier.
    pub fn waits_for_cluster(&self) -> bool {
        let splits = self.warps.iter().flatten().flat_map(|warp| &warp.splits);
        splits.into_iter().any(|split| matches!(split.wait, super::warp::Wait::Cluster { .. }))
    }

    /// `threads` arrive at a barrier. True when that completed it.
    #[inline]
    pub fn arrive(&mut self, id: usize, threads: u32, expected: Option<u32>, warp: &Warp, pc: u32) -> bool {
        self.barriers_used |= 1 << id;
        let barrier = &mut self.barriers[id];
        if barrier.arrived == 0 {
            barrier.expected = expected;
            barrier.first_pc = pc;
            barrier.first_thread =
                warp.index * 32 + warp.splits.get(warp.current).map_or(0, |s| s.mask.trailing_zeros() & 31);
        }
        barrier.arrived += threads;
        // Threads that go on from several places are in several intervals.
        self.state.apart &= pc == barrier.first_pc;
        // A barrier of the whole block orders everything anyhow.
        if barrier.expected.is_some() {
            for (clock, seen) in barrier.clocks.iter_mut().zip(warp.clocks()) {
                *clock = (*clock).max(seen);
            }
        }
        let needed = barrier.expected.unwrap_or(self.live_threads);
        if self.barriers[id].arrived >= needed {
            self.complete(id);
            return true;
        }
        false
    }

    fn complete(&mut self, id: usize) {
        self.time += 1;
        // Where a block has filled its arrays, it mostly meets before it reads them.
        if !*self.state.written.get_mut() {
            *self.state.written.get_mut() = self.shared_init.iter_mut().all(|word| *word.get_mut() == u64::MAX);
        }
        let barrier = &mut self.barriers[id];
        if barrier.expected.is_none() && barrier.arrived < self.threads {
            self.missed.push(Missed {
                barrier: id as u32,
                pc: barrier.first_pc,
                arrived: barrier.arrived,
                first_thread: barrier.first_thread,
            });
        }
        if barrier.reducing != 0 {
            let result = (barrier.count, barrier.all, barrier.any);
            barrier.unfetched.push((completion(barrier.generation), std::mem::take(&mut barrier.reducing), result));
        }
        barrier.generation += 1;
        barrier.arrived = 0;
        // When the whole block met, everything before is ordered before everything behind.
        barrier.whole = barrier.expected.is_none();
        if !barrier.whole {
            barrier.released = barrier.clocks;
            barrier.clocks = [0; 32];
        }
        barrier.time = self.time;
        barrier.expected = None;
        barrier.result = (barrier.count, barrier.all, barrier.any);
        (barrier.count, barrier.all, barrier.any) = (0, true, false);
    }
}

impl Barrier {
    /// The result of a completion, for one of the groups that waited for it.
    pub fn fetch(&mut self, completion: u32) -> Reduced {
        let Some(at) = self.unfetched.iter().position(|(of, ..)| *of == completion) else { return self.result };
        let (_, groups, result) = &mut self.unfetched[at];
        let result = *result;
        *groups -= 1;
        if *groups == 0 {
            self.unfetched.swap_remove(at);
        }
        result
    }
}

/// Meetings of some lanes that a warp remembers.
const MEETINGS: usize = 32;

impl Warp {
    /// The clock of warp `other` up to which this warp has seen what that one did.
    #[inline(always)]
    pub fn seen(&self, other: usize) -> u32 {
        self.seen[other].max(self.floor)
    }

    /// What this warp has seen of each warp of its block, itself included.
    pub fn clocks(&self) -> [u32; 32] {
        let mut clocks = self.seen.map(|seen| seen.max(self.floor));
        for part in &self.parts {
            clocks[part.warp as usize] = self.heard(part.warp as usize);
        }
        let own = self.index as usize;
        clocks[own] = clocks[own].max(self.clock);
        clocks
    }

    /// Learns of one other warp's clock.
    pub fn learn(&mut self, other: usize, clock: u32) {
        let mut clocks = [0; 32];
        clocks[other] = clock;
        self.acquire(&clocks);
    }

    /// Learns of other warps' clocks.
    pub fn acquire(&mut self, clocks: &[u32; 32]) {
        for (seen, clock) in self.seen.iter_mut().zip(clocks) {
            *seen = (*seen).max(*clock);
        }
        for part in &mut self.parts {
            let clock = clocks[part.warp as usize];
            part.clocks.iter_mut().for_each(|known| *known = (*known).max(clock));
        }
        self.refresh_floor();
    }

    /// Starts a new interval at `time`: later accesses are not covered by clocks handed out before.
    pub fn tick(&mut self, time: &mut u32) {
        *time += 1;
        self.clock = *time;
    }

    /// Goes on after a block barrier, which each group of its lanes that waited there does for itself: what the first one of
    /// them has done behind it since is not ordered for the others.
    #[inline]
    pub fn pass_barrier(&mut self, barrier: &Barrier) {
        if std::mem::replace(&mut self.passed, barrier.time) == barrier.time {
            return;
        }
        let own = self.index as usize;
        self.seen[own] = self.seen[own].max(self.clock);
        self.meetings.clear();
        self.clock = self.clock.max(barrier.time);
        if barrier.whole {
            self.floor = self.floor.max(barrier.time - 1);
            self.beyond = false;
            self.parts.clear();
            return;
        }
        let clocks = barrier.released;
        self.acquire(&clocks);
    }

    /// The lanes of this warp are ordered among themselves up to here.
    pub fn sync_lanes(&mut self, time: &mut u32) {
        let own = self.index as usize;
        self.seen[own] = self.seen[own].max(self.clock);
        self.meetings.clear();
        self.tick(time);
        self.refresh_floor();
    }

    /// The lanes of `mask` are ordered among themselves up to here, the others are not.
    pub fn sync_some(&mut self, mask: u32, time: &mut u32) {
        if mask & self.live == self.live {
            return self.sync_lanes(time);
        }
        if self.meetings.len() == MEETINGS {
            // What came before the oldest counts as ordered: a race that is missed rather than one that is none.
            let (clock, _) = self.meetings.remove(0);
            let own = self.index as usize;
            self.seen[own] = self.seen[own].max(clock);
            self.refresh_floor();
        }
        self.meetings.push((self.clock, mask));
        self.beyond = true;
        self.tick(time);
    }

    /// Whether what lane `from` of this warp did at `clock` is ordered before what lane `to` does now, by meetings of some
    /// of the lanes: order passes on from one to the next.
    pub fn met(&self, from: u32, clock: u32, to: u32) -> bool {
        self.met_any(1 << (from & 31), clock) >> (to & 31) & 1 != 0
    }

    /// All lanes that are so ordered behind some of `from`, and those.
    pub fn met_any(&self, from: u32, clock: u32) -> u32 {
        let later = self.meetings.iter().filter(|(at, _)| *at >= clock);
        later.fold(from, |all, (_, mask)| if all & mask != 0 { all | mask } else { all })
    }

    pub fn refresh_floor(&mut self) {
        if !self.parts.is_empty() {
            self.settle_parts();
        }
        self.floor = self.floor.max(self.seen.iter().copied().min().unwrap_or(0));
        // Warps that the block does not have were seen for all time.
        let more = self.seen.iter().any(|seen| *seen > self.floor && *seen != u32::MAX);
        self.beyond = more || !self.meetings.is_empty() || !self.parts.is_empty();
    }
}
