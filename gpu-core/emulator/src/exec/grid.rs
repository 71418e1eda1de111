//! A launch over all its blocks: host threads, co-resident blocks, budgets, deadlocks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use super::access::Region;
use super::block::{BARRIERS, Barrier, Block, SharedArray};
use super::cx::{Cx, watch};
use super::fault::Detail;
use super::image::{FunctionImage, Image};
use super::op::Flow;
use super::warp::{NONE, Split, Wait, Warp};
use crate::check::race::GlobalRaces;
use crate::check::shadow::SharedShadow;
use crate::check::stuck::{report_deadlock, report_livelock, running_place};
use crate::count::Counts;
use crate::isa::cluster::Cluster;
use crate::launch::{Launch, Options};
use crate::report::{Fault, FaultKind, OtherSide, ThreadId};

/// Warp instructions between two looks at the stop flag and the clock: about a millisecond.
const QUANTUM: u64 = 50_000;
/// Polls of memory after which a group that spins gives way.
const POLL_LIMIT: u32 = 32;
/// Polls of resident blocks while no memory changed, before that is called a deadlock.
const IDLE_POLLS: u64 = 2_000;
/// Rounds without progress after which a worker counts as idle.
const IDLE_ROUNDS: u32 = 16;

/// Everything that the blocks of a launch share.
pub struct Grid<'r> {
    pub image: &'r Image,
    pub function: u32,
    pub launch: &'r Launch,
    pub options: &'r Options,
    /// The argument block, padded to 16 bytes.
    pub params: Vec<u128>,
    pub regions: Vec<Region>,
    pub races: GlobalRaces,
    pub shared_arrays: Vec<SharedArray>,
    pub shared_bytes: u32,
    pub local_stride: u32,
    pub max_resident: usize,
    pub blocks: u64,
    pub next_block: AtomicU64,
    pub started: Instant,
    pub stop: &'r AtomicBool,
    pub aborted: AtomicBool,
    pub executed: AtomicU64,
    /// Moves when a kernel writes memory, so that waiting for nothing can be told from progress.
    pub progress: AtomicU64,
    pub finished_blocks: AtomicU64,
    pub workers: usize,
    /// Workers whose blocks all wait, and those that are done.
    pub idle_workers: AtomicUsize,
    pub faults: Mutex<Vec<Fault>>,
    pub console: Mutex<Console>,
    pub notes: Mutex<Vec<String>>,
    pub syncs: crate::check::sync::Syncs,
    pub deferred: crate::check::race::Deferred,
    pub clusters: [u32; 3],
    /// Zeroed memory for the grid barrier of cooperative groups; 0 when no kernel asks for it.
    pub workspace: u64,
    /// `malloc` of device code.
    pub heap: Mutex<crate::memory::Heap>,
    pub ticks: AtomicU64,
}

// SAFETY: regions point into memory that the launch owns exclusively while it runs; device code that races on it
// races on emulated memory only, which has no invalid values.
unsafe impl Sync for Grid<'_> {}

/// printf output, capped.
#[derive(Debug, Default)]
pub struct Console {
    pub text: String,
    pub dropped_lines: u64,
}

impl Grid<'_> {
    /// The next number in the order of all traced steps.
    pub fn tick(&self) -> u64 {
        self.ticks.fetch_add(1, Ordering::Relaxed)
    }

    pub fn abort(&self) {
        self.aborted.store(true, Ordering::Relaxed);
    }

    pub fn kernel(&self) -> &FunctionImage {
        &self.image.functions[self.function as usize]
    }

    pub fn kernel_name(&self) -> &str {
        &self.kernel().name
    }

    /// Bytes of `__shared__` variables as hardware counts them.
    pub fn static_shared(&self) -> u64 {
        u64::from(self.image.kernels[self.kernel().kernel].static_shared_bytes)
    }

    /// Coordinates of a linear thread number of a block.
    pub fn thread(&self, block: [u32; 3], linear: u32) -> ThreadId {
        let [x, y, _] = self.launch.block;
        ThreadId { block, thread: [linear % x, linear / x % y, linear / (x * y)], warp: linear / 32, lane: linear % 32 }
    }

    /// Linear number of a block by its cluster and its rank there.
    fn block_in_cluster(&self, cluster: u64, rank: u64) -> u64 {
        let size = self.clusters.map(u64::from);
        let count = [0, 1, 2].map(|axis| u64::from(self.launch.grid[axis]) / size[axis]);
        let place = [cluster % count[0], cluster / count[0] % count[1], cluster / (count[0] * count[1])];
        let inner = [rank % size[0], rank / size[0] % size[1], rank / (size[0] * size[1])];
        let at = [0, 1, 2].map(|axis| place[axis] * size[axis] + inner[axis]);
        let [nx, ny, _] = self.launch.grid.map(u64::from);
        (at[2] * ny + at[1]) * nx + at[0]
    }

    /// Coordinates of a linear block number.
    pub fn block_id(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(u64::from);
        [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32]
    }

    pub fn note(&self, text: String) {
        let mut notes = self.notes.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !notes.contains(&text) && notes.len() < 50 {
            notes.push(text);
        }
    }

    /// A fault that belongs to no single thread.
    pub fn launch_fault(&self, kind: FaultKind, message: String, other: Option<OtherSide>, pc: Option<u32>) {
        self.report(Fault {
            kind,
            message,
            kernel: self.kernel_name().to_owned(),
            source: pc.and_then(|pc| self.image.source(pc)),
            inlined_at: pc.and_then(|pc| self.image.inlined_at(pc)),
            instruction: pc.map(|pc| self.image.text(pc).to_owned()).unwrap_or_default(),
            thread: None,
            space: None,
            access: None,
            address: None,
            access_bytes: 0,
            allocation: None,
            other,
            occurrences: 1,
        });
    }

    /// Looks at stop flag, clock and step budget. False: end the launch.
    fn may_go_on(&self, place: impl Fn() -> (Option<u32>, String)) -> bool {
        if self.aborted.load(Ordering::Relaxed) {
            return false;
        }
        if self.stop.load(Ordering::Relaxed) {
            self.launch_fault(FaultKind::Stopped, "stopped on request".to_owned(), None, None);
            return false;
        }
        if let Some(limit) = self.options.time_limit
            && self.started.elapsed() > limit
        {
            let (pc, place) = place();
            let message = format!("ran longer than the limit of {:.1} s; {place}", limit.as_secs_f64());
            self.launch_fault(FaultKind::TimeBudget, message, None, pc);
            return false;
        }
        if let Some(limit) = self.options.max_warp_instructions
            && self.executed.load(Ordering::Relaxed) > limit
        {
            let (pc, place) = place();
            let message = format!("executed more than the limit of {limit} warp instructions; {place}");
            self.launch_fault(FaultKind::StepBudget, message, None, pc);
            return false;
        }
        true
    }
}

/// What one host thread keeps to itself.
pub struct Worker {
    /// Last region that an access site hit.
    pub hit: [u32; 64],
    pub counts: Counts,
    pub trace: Option<crate::count::trace::Recorder>,
    /// Parts of finished blocks for the next ones.
    #[allow(clippy::vec_box, reason = "blocks move between lists; a box moves 8 bytes instead of a block")]
    spare: Vec<Box<Block>>,
    /// Access split into single lanes: not to be counted again.
    pub quiet: bool,
    /// Writes since the last slice: the launch makes progress.
    pub writes: u64,
    /// Marks of uninitialised values on their way from sources to results.
    pub carried: Option<super::warp::Poison>,
    pub fresh_taint: bool,
    /// Sectors or wavefronts of the last access, for the trace.
    pub last_cost: u32,
}

/// The blocks of one cluster, which one worker runs in turns.
struct Team {
    #[allow(clippy::vec_box, reason = "blocks move between lists; a box moves 8 bytes instead of a block")]
    blocks: Vec<Box<Block>>,
    cluster: Cluster,
}

enum Slice {
    Done,
    Ran,
    /// Every group that could run only polled memory.
    Polled,
    Aborted,
}

impl Worker {
    pub fn new(grid: &Grid<'_>) -> Worker {
        Worker {
            hit: [0; 64],
            counts: Counts::new(grid.image),
            trace: crate::count::trace::Recorder::new(grid),
            spare: Vec::new(),
            quiet: false,
            writes: 0,
            carried: None,
            fresh_taint: false,
            last_cost: 0,
        }
    }

    /// Runs blocks until none is left.
    pub fn run(&mut self, grid: &Grid<'_>) {
        let mut resident: Vec<Team> = Vec::new();
        let (mut turn, mut idle, mut seen) = (0, 0, (u64::MAX, u64::MAX));
        let mut counted_idle = false;
        loop {
            if counted_idle != (idle > IDLE_ROUNDS) {
                counted_idle = !counted_idle;
                if counted_idle {
                    grid.idle_workers.fetch_add(1, Ordering::Relaxed);
                } else {
                    grid.idle_workers.fetch_sub(1, Ordering::Relaxed);
                }
            }
            if resident.is_empty() {
                let Some(team) = self.next(grid) else {
                    grid.idle_workers.fetch_add(1, Ordering::Relaxed);
                    return;
                };
                resident.push(team);
                turn = 0;
            }
            if turn >= resident.len() {
                turn = 0;
                let state = (grid.progress.load(Ordering::Relaxed), grid.finished_blocks.load(Ordering::Relaxed));
                idle = if state == seen { idle + 1 } else { 0 };
                seen = state;
                if idle > 2 * IDLE_ROUNDS
                    && u64::from(idle) * resident.len() as u64 > IDLE_POLLS
                    && grid.idle_workers.load(Ordering::Relaxed) >= grid.workers
                    && grid.started.elapsed().as_millis() > 200
                {
                    let blocks: Vec<&Block> = resident.iter().flat_map(|team| &team.blocks).map(Box::as_ref).collect();
                    report_livelock(grid, &blocks);
                    return;
                }
                if idle > 16 {
                    std::thread::yield_now();
                }
            }
            let slice = self.slice(&mut resident[turn], grid);
            if self.writes > 0 {
                grid.progress.fetch_add(std::mem::take(&mut self.writes), Ordering::Relaxed);
            }
            match slice {
                Slice::Done => {
                    let team = resident.swap_remove(turn);
                    grid.finished_blocks.fetch_add(team.blocks.len() as u64, Ordering::Relaxed);
                    self.spare.extend(team.blocks);
                    idle = 0;
                }
                Slice::Ran => {
                    idle = 0;
                }
                Slice::Polled => {
                    turn += 1;
                    if turn == resident.len()
                        && resident.len() < grid.max_resident
                        && let Some(team) = self.next(grid)
                    {
                        resident.push(team);
                        idle = 0;
                    }
                }
                Slice::Aborted => return,
            }
        }
    }

    /// The next cluster (a single block when there are none).
    fn next(&mut self, grid: &Grid<'_>) -> Option<Team> {
        let size: u64 = grid.clusters.iter().map(|n| u64::from(*n)).product();
        let index = grid.next_block.fetch_add(1, Ordering::Relaxed);
        if index * size >= grid.blocks {
            return None;
        }
        let first = grid.block_in_cluster(index, 0);
        let blocks = (0..size)
            .map(|rank| {
                let mut block = self.make_block(grid, grid.block_in_cluster(index, rank));
                block.cluster_rank = rank as u32;
                block
            })
            .collect();
        Some(Team { blocks, cluster: Cluster { first, ..Cluster::default() } })
    }

    fn make_block(&mut self, grid: &Grid<'_>, index: u64) -> Box<Block> {
        let threads: u32 = grid.launch.block.iter().product();
        let shared_units = (grid.shared_bytes as usize).div_ceil(16);
        let mut block = self.spare.pop().unwrap_or_else(|| {
            Box::new(Block {
                index,
                id: [0; 3],
                threads,
                live_threads: threads,
                warps: Vec::new(),
                barriers: vec![Barrier::default(); BARRIERS],
                time: 1,
                base_time: 1,
                syncs: Default::default(),
                shared: vec![u128::MAX; shared_units],
                shared_init: (0..(grid.shared_bytes as usize).div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
                shared_shadow: SharedShadow::new(if grid.options.checks.race { grid.shared_bytes } else { 0 }),
                missed: Vec::new(),
                copies: Default::default(),
                mbarriers: Default::default(),
                pending: Default::default(),
                guarded: false,
                fenced: None,
                fenced_block: None,
                proxy: [0; 32],
                cluster_rank: 0,
            })
        });
        block.index = index;
        block.id = grid.block_id(index);
        block.live_threads = threads;
        block.barriers.fill(Barrier::default());
        block.copies.reset();
        block.mbarriers.clear();
        block.pending.reset();
        block.guarded = false;
        (block.fenced, block.fenced_block) = (None, None);
        block.proxy = [0; 32];
        if block.time > crate::check::shadow::MAX_TIME / 2 {
            block.time = 1;
            block.shared_shadow.clear();
        }
        for word in &mut block.shared_init {
            *word.get_mut() = 0;
        }
        let function = grid.kernel();
        let base = block.time;
        block.base_time = base;
        block.syncs.clear();
        block.time += 1;
        let count = threads.div_ceil(32);
        let mut old = std::mem::take(&mut block.warps);
        block.warps = (0..count)
            .map(|warp| {
                let lanes = threads - warp * 32;
                let mask = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
                let mut made = match old.get_mut(warp as usize).and_then(Option::take) {
                    // Of the same launch, so its thread numbers are right already.
                    Some(mut made) => {
                        made.reset(warp, mask);
                        made
                    }
                    None => {
                        let mut tid = [[0; 32]; 3];
                        for lane in 0..32 {
                            let id = grid.thread([0; 3], warp * 32 + lane as u32).thread;
                            for axis in 0..3 {
                                tid[axis][lane] = id[axis];
                            }
                        }
                        Box::new(Warp::new(warp, mask, tid, grid.local_stride))
                    }
                };
                // Warps that do not exist are always up to date: they must not hold the floor down.
                made.seen = std::array::from_fn(|other| if (other as u32) < count { base } else { u32::MAX });
                made.clock = base + 1;
                made.floor = base;
                let frame = made.push_frame(grid.function, function, mask, NONE);
                made.splits.push(Split {
                    pc: function.first_pc,
                    mask,
                    join: NONE,
                    frame,
                    wait: Wait::Ready,
                    polls: 0,
                    awaited: false,
                });
                if grid.options.checks.uninitialised {
                    for slot in &function.undefined {
                        made.poison_register(frame, *slot, mask, function.first_pc);
                    }
                }
                Some(made)
            })
            .collect();
        block
    }

    /// Runs the warps of a cluster's blocks round after round, for about one quantum.
    fn slice(&mut self, team: &mut Team, grid: &Grid<'_>) -> Slice {
        let mut fuel = QUANTUM;
        let peers: Vec<*mut Block> = team.blocks.iter_mut().map(|block| std::ptr::from_mut(&mut **block)).collect();
        loop {
            let (mut ran, mut polled, mut live) = (false, false, false);
            for &peer in &peers {
                // SAFETY: the pointers come from this team's own boxes; while a warp of one block runs, the others are
                // reached only through `Cx::peers`, never through a second reference.
                let block = unsafe { &mut *peer };
                if block.live_threads == 0 {
                    continue;
                }
                live = true;
                for index in 0..block.warps.len() {
                    let Some(mut warp) = block.warps[index].take() else { continue };
                    if warp.live != 0 {
                        let before = warp.executed;
                        let stop = self.turn(&mut warp, block, grid, &peers, &mut team.cluster);
                        let used = warp.executed - before;
                        grid.executed.fetch_add(used, Ordering::Relaxed);
                        fuel = fuel.saturating_sub(used);
                        match stop {
                            Turn::Blocked => ran |= used > 0,
                            Turn::Ran => ran = true,
                            Turn::Polled => polled = true,
                            Turn::Aborted => {
                                block.warps[index] = Some(warp);
                                return Slice::Aborted;
                            }
                        }
                    }
                    block.warps[index] = Some(warp);
                }
            }
            if !live {
                return Slice::Done;
            }
            if !ran && !polled {
                // Somebody's exit may have completed the cluster barrier: a last round will tell.
                let waits = team.blocks.iter().any(|block| block.live_threads > 0 && block.waits_for_cluster());
                let all: u32 = team.blocks.iter().map(|block| block.live_threads).sum();
                if waits && team.cluster.arrived > 0 && team.cluster.arrived >= all {
                    team.cluster.arrived = 0;
                    team.cluster.generation += 1;
                    continue;
                }
                let stuck = team.blocks.iter().find(|block| block.live_threads > 0);
                if let Some(block) = stuck {
                    report_deadlock(grid, block);
                }
                return Slice::Aborted;
            }
            let place = || running_place(grid, &team.blocks);
            if (fuel == 0 || !ran) && !grid.may_go_on(place) {
                return Slice::Aborted;
            }
            if !ran {
                return Slice::Polled;
            }
            if fuel == 0 {
                return Slice::Ran;
            }
        }
    }

    /// Gives one warp its turn.
    fn turn(
        &mut self,
        warp: &mut Warp,
        block: &mut Block,
        grid: &Grid<'_>,
        peers: &[*mut Block],
        cluster: &mut Cluster,
    ) -> Turn {
        let options = grid.options;
        let mut bits = 0;
        if options.counters || options.line_counters {
            bits |= watch::COUNT;
        }
        if options.checks.uninitialised {
            bits |= watch::INIT;
        }
        if options.checks.race {
            bits |= watch::RACE;
        }
        if self.trace.as_ref().is_some_and(|trace| trace.wants(block.index, warp.index)) {
            bits |= watch::TRACE;
        }
        if bits != 0 && grid.image.uses_heap {
            bits |= watch::HEAP;
        }
        let tainted = !warp.poison.is_empty();
        let mut cx = Cx {
            regs: std::ptr::null_mut(),
            pool: grid.image.pool.as_ptr().cast(),
            mask: 0,
            active: 0,
            pc: 0,
            rpc: NONE,
            watch: bits,
            attention: tainted || bits & watch::TRACE != 0 || !warp.is_settled(),
            widest: super::lanes::widest(),
            tainted,
            warp,
            block,
            grid,
            peers,
            cluster,
            worker: self,
        };
        let stop = cx.run(QUANTUM);
        while let Some(missed) = cx.block.missed.pop() {
            cx.report_missed(missed);
        }
        stop
    }
}

/// How a warp's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing of it can run now (it may have ended).
    Blocked,
    Ran,
    Polled,
    Aborted,
}

impl Cx<'_> {
    /// A group of this warp that can run: the newest first.
    fn pick(&mut self) -> bool {
        for index in (0..self.warp.splits.len()).rev() {
            let ready = match self.warp.splits[index].wait {
                Wait::Ready => true,
                Wait::Barrier { id, generation } => {
                    let moved = self.block.barriers[id as usize].generation != generation;
                    if moved {
                        self.warp.pass_barrier(&self.block.barriers[id as usize]);
                    }
                    moved
                }
                // Members that exited are waited for no more.
                Wait::Sync { members } => members & self.warp.live & !self.warp.splits[index].mask == 0,
                Wait::Together => self.warp.splits[index].mask == self.warp.live,
                Wait::Warpgroup { groups } => self.warpgroup_committed(groups),
                Wait::Cluster { generation } => {
                    self.settle_cluster();
                    let done = self.cluster.generation > generation;
                    if done {
                        self.pass_cluster(generation);
                    }
                    done
                }
            };
            if ready {
                self.warp.splits[index].wait = Wait::Ready;
                self.load_split(index);
                return true;
            }
        }
        false
    }

    /// Runs this warp until it blocks, polls or has used its fuel.
    pub fn run(&mut self, fuel: u64) -> Turn {
        let mut left = fuel;
        let mut polled = 0;
        loop {
            if !self.pick() {
                return Turn::Blocked;
            }
            let before = left;
            let flow = self.run_split(&mut left);
            self.warp.executed += before - left;
            if self.grid.aborted.load(Ordering::Relaxed) {
                return Turn::Aborted;
            }
            match flow {
                Leave::Switched => polled = 0,
                Leave::Fuel if left == 0 => return Turn::Ran,
                Leave::Fuel => {
                    polled = 0;
                    self.rotate();
                }
                Leave::Polled => {
                    polled += 1;
                    let ready = self.warp.splits.iter().filter(|split| split.wait == Wait::Ready).count();
                    if ready > 1 {
                        let pc = self.pc;
                        self.rotate();
                        self.note_spin(pc);
                    }
                    if polled >= ready {
                        // Lanes may wait at a meeting point for those that spin on them: let them go ahead.
                        let pc = self.pc;
                        if !self.warp.break_join() {
                            return Turn::Polled;
                        }
                        self.note_spin(pc);
                        polled = 0;
                    }
                }
            }
        }
    }

    /// Gives the siblings a turn: the newest group runs first, so the current one goes to the front.
    fn rotate(&mut self) {
        let current = self.warp.current;
        let split = self.warp.splits.remove(current);
        self.warp.splits.insert(0, split);
    }

    fn note_spin(&self, pc: u32) {
        let place = self.image().place(pc);
        self.grid.note(format!(
            "lanes of one warp waited for each other at {place}: this ends only with independent thread scheduling \
             (Volta and later)"
        ));
    }

    /// The interpreter loop, in the form for this machine.
    fn run_split(&mut self, fuel: &mut u64) -> Leave {
        #[cfg(target_arch = "x86_64")]
        if super::lanes::wide() {
            // SAFETY: the machine has the features.
            return unsafe { self.run_split_wide(fuel) };
        }
        self.run_split_inner(fuel)
    }

    /// Counting lanes is one instruction here, and a dozen without.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn run_split_wide(&mut self, fuel: &mut u64) -> Leave {
        self.run_split_inner(fuel)
    }

    #[inline(always)]
    fn run_split_inner(&mut self, fuel: &mut u64) -> Leave {
        let code = self.image().code.as_ptr();
        let count = self.watch & watch::COUNT != 0;
        // Groups of one warp take turns also when they do not poll, lest one waits for ever on the other.
        let mut budget = if self.warp.splits.len() > 1 { (*fuel).min(2_000) } else { *fuel };
        let given = budget;
        let leave = loop {
            if self.pc == self.rpc || self.pc == NONE {
                let go_on = if self.pc == NONE { self.finish_call() } else { self.arrive() };
                if !go_on {
                    break Leave::Switched;
                }
                continue;
            }
            if budget == 0 {
                self.store_split();
                break Leave::Fuel;
            }
            budget -= 1;
            // SAFETY: the decoder ends every function with `exit` or `ret`, and targets are inside the code.
            let op = unsafe { &*code.add(self.pc as usize) };
            // SAFETY: slots of a decoded instruction.
            self.mask = self.active & unsafe { self.pred(op.guard) } ^ (self.active & op.guard_flip);
            if count {
                self.worker.counts.instruction(self.pc, self.mask);
            }
            if self.attention && !self.look_up(op) {
                self.store_split();
                break Leave::Switched;
            }
            if self.mask == 0 {
                self.pc += 1;
                continue;
            }
            // SAFETY: the op belongs to this image.
            match unsafe { (op.run)(self, op) } {
                Flow::Next => self.pc += 1,
                Flow::Goto => {}
                Flow::Switch => break Leave::Switched,
                Flow::Yield => {
                    self.pc += 1;
                    self.store_split();
                    break Leave::Polled;
                }
            }
            if self.tainted {
                self.after_op(op);
            }
        };
        *fuel -= given - budget;
        leave
    }

    /// Called before an instruction when something is unusual. False: end the launch.
    fn look_up(&mut self, op: &super::op::Op) -> bool {
        if self.grid.aborted.load(Ordering::Relaxed) {
            return false;
        }
        self.attention = self.tainted;
        if self.tainted {
            self.before_op(op);
        }
        if !self.warp.is_settled() {
            self.attention = true;
            self.check_in_flight(op);
        }
        if self.watch & watch::TRACE != 0 {
            self.attention = true;
            self.trace_step();
        }
        true
    }

    /// Counts a poll of memory; past the limit the group gives way.
    pub fn polled(&mut self) -> bool {
        let current = self.warp.current;
        let split = &mut self.warp.splits[current];
        split.polls += 1;
        if split.polls > POLL_LIMIT {
            split.polls = 0;
            return true;
        }
        false
    }

    fn report_missed(&mut self, missed: super::block::Missed) {
        if !self.grid.options.checks.barrier {
            return;
        }
        let total = self.block.threads;
        let message = format!(
            "only {} of the {total} threads of block ({},{},{}) reach barrier {}; the others ended before it",
            missed.arrived, self.block.id[0], self.block.id[1], self.block.id[2], missed.barrier
        );
        self.fault(
            FaultKind::BarrierDivergence,
            missed.pc,
            Some(0),
            total - missed.arrived,
            message,
            Detail::default(),
        );
    }
}

enum Leave {
    Switched,
    Fuel,
    Polled,
}
