//! Host threads: blocks that are resident together take turns, and so do the warps of a block.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::block::Block;
use super::schedule::Round;
use super::warp::{Join, NONE, Registers};
use crate::check::deadlock::frozen::{Recent, fingerprint};
use crate::check::deadlock::stuck::{report_deadlock, report_livelock, running_place};
use crate::check::repeats::Repeats;
use crate::count::Counts;
use crate::exec::cx::{Cx, watch};
use crate::exec::grid::Grid;
use crate::exec::memory::pattern::Patterns;
use crate::isa::cluster::Cluster;
use crate::isa::control::is_end;

/// Warp instructions between two looks at the stop flag and the clock: about a millisecond.
pub(crate) const QUANTUM: u64 = 50_000;
/// Warp instructions after which finished blocks are told to the other workers.
const PUBLISH: u64 = 10_000;
/// Rounds of polls, and instructions in them, without progress after which waiting that may give up by itself is called a
/// deadlock. Not time, of which other programs on the machine take as much as they like.
const IDLE_ROUNDS: u32 = 32;
const GIVING_UP: u64 = 200_000_000;
/// Instructions that a round of polls counts as besides its own: what it costs to look at all who wait.
const ROUND: u64 = 100;

/// What one host thread keeps to itself.
pub struct Worker {
    /// Last region that an access site hit.
    pub hit: [u32; 64],
    /// Lowest address of the last access with lanes far apart, by site as well; and how far on the running one is.
    pub last_low: [u64; 64],
    pub ahead: u64,
    /// What is done with every access, but for traces.
    watch: u32,
    /// [`crate::exec::lanes::widest`].
    widest: bool,
    /// How the accesses of each instruction lie.
    pub patterns: Patterns,
    pub counts: Counts,
    pub trace: Option<crate::count::trace::Recorder>,
    pub values: crate::count::values::Watcher,
    /// Finished clusters for the next ones.
    spare: Vec<Team>,
    pub registers: Registers,
    /// Among the workers of the launch.
    number: usize,
    /// Clusters that this worker is to start next.
    taken: std::ops::Range<u64>,
    /// Access split into single lanes: not to be counted again.
    pub quiet: bool,
    pub repeats: Repeats,
    /// Lanes of an access that goes to several arrays, by array.
    pub parts: Vec<u32>,
    /// Writes, blocks that ended and instructions since [`Worker::publish`]: the launch makes progress.
    pub writes: u64,
    finished: u64,
    executed: u64,
    /// Instructions of this worker, and what its rounds of polls count as.
    spent: u64,
    /// Instructions until the next look at the stop flag and the clock.
    fuel: u64,
    /// Marks of uninitialised values on their way from sources to results.
    pub carried: Option<super::warp::Poison>,
    /// The last read of shared memory that an atomic was known to check again.
    pub rechecked: u32,
    /// What the running instruction gives each register, where it only moves bits.
    pub moved: Option<crate::check::undef::undefined::Moved>,
    pub fresh_taint: bool,
    /// Sectors or wavefronts of the last access, for the trace.
    pub last_cost: u32,
    /// What an instruction said that machine code had called.
    pub panic: Option<Box<dyn std::any::Any + Send>>,
}

/// What is left of workers when the launch is over.
pub struct Results {
    /// None: the first one gives its own.
    pub counts: Option<Counts>,
    pub traces: Vec<crate::count::trace::Recorder>,
}

impl Results {
    /// Those of a launch by so many workers.
    pub fn new(grid: &Grid<'_>) -> Results {
        let counts = || Counts::new(grid.image, grid.function as usize);
        Results { counts: (grid.workers > 1).then(counts), traces: Vec::new() }
    }
}

/// The blocks of one cluster, which one worker runs in turns.
struct Team {
    #[allow(clippy::vec_box, reason = "blocks move between lists; a box moves 8 bytes instead of a block")]
    blocks: Vec<Box<Block>>,
    cluster: Cluster,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slice {
    Done,
    Ran,
    /// Every group that could run only polled memory.
    Polled,
    Aborted,
}

impl Worker {
    pub fn new(grid: &Grid<'_>) -> Worker {
        let options = grid.options;
        let mut watched = 0;
        if options.counters || options.line_counters {
            watched |= watch::COUNT;
        }
        if options.checks.uninitialised {
            watched |= watch::INIT;
        }
        if options.checks.race {
            watched |= watch::RACE;
        }
        Worker {
            watch: watched,
            widest: crate::exec::lanes::widest(),
            hit: [0; 64],
            last_low: [0; 64],
            ahead: 0,
            patterns: Patterns::new(grid.image.sites.len()),
            counts: Counts::new(grid.image, grid.function as usize),
            trace: crate::count::trace::Recorder::new(grid),
            values: Default::default(),
            spare: Vec::new(),
            registers: Registers::new(),
            number: 0,
            taken: 0..0,
            quiet: false,
            repeats: Repeats::default(),
            parts: Vec::new(),
            writes: 0,
            finished: 0,
            executed: 0,
            spent: 0,
            fuel: QUANTUM,
            carried: None,
            rechecked: 0,
            fresh_taint: false,
            moved: None,
            last_cost: 0,
            panic: None,
        }
    }

    /// Adds what this worker did to what all workers did. Not after every block: the sums would wander from core to core.
    fn publish(&mut self, grid: &Grid<'_>) {
        if self.writes > 0 {
            grid.waiting.progressed(std::mem::take(&mut self.writes));
        }
        for (sum, own) in [(&grid.finished_blocks, &mut self.finished), (&grid.executed, &mut self.executed)] {
            if *own > 0 {
                sum.fetch_add(std::mem::take(own), Ordering::Relaxed);
            }
        }
    }

    /// Adds what it counted to that of the others. Its tables go back to the system on the thread that had them made: another
    /// one would have later tables of its own beside those of this one, and cache lines that both write all the time.
    pub fn hand_in(self, results: &Mutex<Results>) {
        let mut results = results.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &mut results.counts {
            Some(counts) => counts.merge(&self.counts),
            none => *none = Some(self.counts),
        }
        results.traces.extend(self.trace);
    }

    /// Runs blocks until none is left.
    pub fn run(&mut self, grid: &Grid<'_>) {
        self.run_blocks(grid);
        self.publish(grid);
        self.patterns.count(&mut self.counts);
        grid.count_repeats(&self.repeats);
    }

    fn run_blocks(&mut self, grid: &Grid<'_>) {
        let number = grid.waiting.begin();
        self.number = number;
        // Together they have as many as the device.
        let places = (grid.places / grid.workers + usize::from(number < grid.places % grid.workers)).max(1);
        let mut resident: Vec<Team> = Vec::new();
        let (mut turn, mut idle, mut seen) = (0, 0, None);
        let mut recent = Recent::default();
        let mut since = 0;
        let mut peers = Vec::new();
        loop {
            if resident.is_empty() {
                let Some(team) = self.next(grid, places) else {
                    self.publish(grid);
                    grid.waiting.done(number);
                    return;
                };
                resident.push(team);
                turn = 0;
            }
            if turn >= resident.len() {
                // Every block had its turn and polled: what they wrote before must be known to all.
                turn = 0;
                self.publish(grid);
                let progress = grid.waiting.progress();
                let state = Some((progress, grid.finished_blocks.load(Ordering::Relaxed)));
                if state != seen || idle == 0 {
                    (seen, idle) = (state, 1);
                    recent.clear();
                    since = self.spent;
                    grid.waiting.runs(number);
                } else {
                    idle += 1;
                    self.spent += ROUND;
                    let blocks = || resident.iter().flat_map(|team| &team.blocks).map(Box::as_ref);
                    let full = resident.len() >= places || self.none_left(grid);
                    let stuck = full
                        && !grid.host_may_answer
                        && (recent.repeats(fingerprint(grid.image, blocks()))
                            || idle > IDLE_ROUNDS && self.spent - since > GIVING_UP);
                    if stuck && grid.waiting.all_wait(number, progress) {
                        // One of them says so for all.
                        if !grid.aborted.swap(true, Ordering::SeqCst) {
                            report_livelock(grid, &blocks().collect::<Vec<_>>());
                        }
                        return;
                    }
                }
                if idle > 4 {
                    std::thread::yield_now();
                }
            }
            let slice = self.slice(&mut resident[turn], grid, &mut peers);
            if slice != Slice::Done || self.executed > PUBLISH {
                self.publish(grid);
            }
            match slice {
                Slice::Done => {
                    let team = resident.swap_remove(turn);
                    self.finished += team.blocks.len() as u64;
                    self.spare.push(team);
                    idle = 0;
                }
                Slice::Ran => {
                    idle = 0;
                    grid.waiting.runs(number);
                }
                Slice::Polled => {
                    turn += 1;
                    if turn == resident.len() {
                        // What they wait for, another block may do. An eighth more, or the first ones would have
                        // polled as often as there are places.
                        let room = places.saturating_sub(resident.len());
                        for _ in 0..room.min(resident.len() / 8 + 1) {
                            let Some(team) = self.next(grid, places - resident.len()) else { break };
                            resident.push(team);
                            idle = 0;
                        }
                    }
                }
                Slice::Aborted => return,
            }
        }
    }

    /// No block is left to begin.
    fn none_left(&self, grid: &Grid<'_>) -> bool {
        self.taken.is_empty() && grid.waiting.left() == 0
    }

    /// The next cluster (a single block when there are none), where so many more have places.
    fn next(&mut self, grid: &Grid<'_>, room: usize) -> Option<Team> {
        let size = grid.cluster_size();
        if self.taken.is_empty() {
            // Neighbours touch the same pages of memory and of its shadows: several at a time keep them with one worker, and
            // of a picture whole rows of blocks do. Fewer when few are left, so that workers end together.
            // Not below a number that is the same for the whole launch: in loops over the grid, blocks taken one by one lie on
            // the same pages all the time. Only at the end half of it: there the others wait for who took the last ones.
            let workers = grid.workers as u64;
            let share = |teams: u64, most| (teams / (workers * 16)).clamp(1, most);
            let least = share(grid.blocks / size, 16);
            self.taken = grid.waiting.take(self.number, |left| {
                let last = left < 2 * least * workers;
                let count = if last { least.div_ceil(2) } else { least.max(share(left, 64)) };
                // All that are taken must come to run, whatever they wait for.
                count.min(room as u64)
            });
        }
        let index = self.taken.next()?;
        let mut team = self.spare.pop().unwrap_or_else(|| Team {
            blocks: (0..size).map(|_| Box::new(Block::new(grid))).collect(),
            cluster: Cluster::default(),
        });
        team.cluster = Cluster { first: grid.block_in_cluster(index, 0), ..Cluster::default() };
        for (rank, block) in (0..size).zip(&mut team.blocks) {
            block.start(grid, grid.block_in_cluster(index, rank));
            block.cluster_rank = rank as u32;
        }
        Some(team)
    }

    /// A block that is alone in its cluster has ended: the one to run in its place, if one is there at once.
    #[inline(always)]
    pub(crate) fn follow(&mut self) -> Option<u64> {
        let next = self.taken.next()?;
        self.finished += 1;
        Some(next)
    }

    /// Runs the warps of a cluster's blocks round after round, until they end or the quantum does.
    /// `peers` is room for the list of them.
    fn slice(&mut self, team: &mut Team, grid: &Grid<'_>, peers: &mut Vec<*mut Block>) -> Slice {
        peers.clear();
        peers.extend(team.blocks.iter_mut().map(|block| std::ptr::from_mut(&mut **block)));
        loop {
            let (mut ran, mut polled, mut live) = (false, false, false);
            for &peer in &*peers {
                // SAFETY: the pointers come from this team's own boxes; while a warp of one block runs, the others are
                // reached only through `Cx::peers`, never through a second reference.
                let block = unsafe { &mut *peer };
                if block.live_threads == 0 {
                    continue;
                }
                live = true;
                let round = self.round(block, grid, peers, &mut team.cluster);
                if round.aborted {
                    return Slice::Aborted;
                }
                ran |= round.ran;
                polled |= round.polled;
            }
            if !live {
                // Short blocks never come to the end of a quantum by themselves.
                return if self.fuel > 0 || self.may_go_on(grid, team) { Slice::Done } else { Slice::Aborted };
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
                // A `.sync` operation waits for members that have not exited, a barrier for threads. Those that wait at a meeting point may
                // be on their way out: threads are scheduled one by one, and only the emulator holds them there. The
                // barrier check calls it misuse all the same: such code works by what lanes happen to do next. But where they
                // meet to end, they have nothing more to do, and end.
                let lenient = !grid.options.checks.barrier;
                let code = &grid.image.code;
                let ends = |pc: u32| code.get(pc as usize).is_some_and(|op| is_end(op) && op.guard.is_pool());
                let goes = |join: &Join| lenient || join.frame == 0 && ends(join.pc);
                if team.blocks.iter_mut().any(|block| block.free_awaited_lanes(goes)) {
                    continue;
                }
                let stuck = team.blocks.iter().find(|block| block.live_threads > 0);
                if let Some(block) = stuck {
                    report_deadlock(grid, block);
                }
                return Slice::Aborted;
            }
            let spent = self.fuel == 0;
            if (spent || !ran) && !self.may_go_on(grid, team) {
                return Slice::Aborted;
            }
            if !ran {
                return Slice::Polled;
            }
            if spent {
                return Slice::Ran;
            }
        }
    }

    /// Looks at stop flag, clock and step budget, and starts a new quantum. False: end the launch.
    fn may_go_on(&mut self, grid: &Grid<'_>, team: &Team) -> bool {
        self.fuel = QUANTUM;
        self.publish(grid);
        grid.may_go_on(|| running_place(grid, &team.blocks))
    }

    /// So many instructions were run.
    pub(crate) fn spend(&mut self, used: u64) {
        self.executed += used;
        self.spent += used;
        self.fuel = self.fuel.saturating_sub(used);
    }

    /// Whether so many instructions leave some of the quantum.
    pub(crate) fn has_more_than(&self, used: u64) -> bool {
        self.fuel > used
    }

    /// What is done with every access of a warp.
    #[inline(always)]
    pub(crate) fn watch_of(&self, grid: &Grid<'_>, block: u64, warp: u32) -> u32 {
        let mut bits = self.watch;
        let traced = self.trace.as_ref().is_some_and(|trace| trace.wants(block, warp));
        if traced || grid.options.nonfinite.is_some() {
            bits |= watch::TRACE;
        }
        if bits != 0 && !grid.watched_heap.is_empty() {
            bits |= watch::HEAP;
        }
        bits
    }

    /// Gives each warp of a block that has not ended its turn.
    fn round(&mut self, block: &mut Block, grid: &Grid<'_>, peers: &[*mut Block], cluster: &mut Cluster) -> Round {
        let Some(warp) = block.take_warp(0) else { return Round::default() };
        let mut cx = Cx {
            regs: std::ptr::null_mut(),
            pool: grid.image.pool.as_ptr().cast(),
            shared: block.shared_pointer(),
            shared_init: block.shared_init.as_mut_ptr().cast(),
            mask: 0,
            active: 0,
            pc: 0,
            rpc: NONE,
            watch: 0,
            attention: false,
            widest: self.widest,
            tainted: false,
            first: 0,
            left: 0,
            counted: u32::MAX,
            given: 0,
            switched: false,
            tids: grid.tids.as_ptr(),
            tallies: self.counts.tallies(),
            rows: std::ptr::null(),
            used: 0,
            round: Round::default(),
            warp,
            block,
            grid,
            peers,
            cluster,
            worker: self,
        };
        if cx.block.undecided {
            cx.decide();
        }
        cx.turns();
        let Cx { warp, block, round, .. } = cx;
        block.return_warp(warp);
        round
    }
}
