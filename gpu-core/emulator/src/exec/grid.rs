//! What the blocks of a launch share: memory, budgets, faults and console.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::image::{FunctionImage, Image};
use crate::WorkTime;
use crate::analysis::barrier_intervals::{Plan, Separate};
use crate::check::race::GlobalRaces;
use crate::exec::memory::access::Region;
use crate::exec::options::Options;
use crate::exec::sched::block::SharedArray;
use crate::exec::sched::waiting::{Apart, Waiting};
pub use crate::exec::sched::worker::Worker;
use crate::report::{Fault, FaultKind, OtherSide, ThreadId};
use crate::request::Launch;

/// Coordinates of a warp's threads in its block, axis by axis.
pub type Tids = [[u32; 32]; 3];

/// Shared memory of each block that is for the system's own use, from sm_80 on; cooperative groups keep there what tiles of
/// several warps need. It is zero where a block begins, and kernels find it by registers alone: on a GPU it lies at 0, here
/// behind the kernel's own arrays.
pub const RESERVED_SHARED: u32 = 1024;
/// So much of it is taken (H100).
pub const RESERVED_TAKEN: u32 = 288;

/// Everything that the blocks of a launch share.
pub struct Grid<'r> {
    pub image: &'r Image,
    pub function: u32,
    pub launch: &'r Launch,
    pub options: &'r Options,
    /// Machine code of the kernel.
    pub code: Option<&'r crate::jit::Code>,
    /// The argument block, padded to 16 bytes.
    pub params: Vec<u128>,
    pub regions: Vec<Region>,
    pub races: GlobalRaces,
    /// The array that a memory access belongs to, where every thread has parts of its own ([`crate::analysis::thread_private::find`]).
    pub own_sites: Arc<[u32]>,
    /// What shows whether threads meet in shared memory between two barriers, and what was found of this launch.
    pub plan: Option<&'r Plan>,
    pub separate: OnceLock<Option<Arc<Separate>>>,
    pub shared_arrays: Vec<SharedArray>,
    /// Where [`RESERVED_SHARED`] bytes lie that the kernel asks for by `%reserved_smem_offset_1` or others.
    pub reserved_shared: Option<u32>,
    pub shared_bytes: u32,
    /// One bit per byte of shared memory: in no array.
    pub shared_gaps: Vec<u64>,
    pub local_stride: u32,
    /// Coordinates of the threads of each warp, the same in all blocks.
    pub tids: Vec<Tids>,
    /// Clusters that are there at the same time.
    pub places: usize,
    pub blocks: u64,
    pub waiting: Waiting,
    pub started: WorkTime,
    pub stop: &'r AtomicBool,
    pub aborted: AtomicBool,
    pub executed: Apart<AtomicU64>,
    /// Faults that were met again. One instruction may meet as many as it has lanes, each of which takes as long as many
    /// instructions: a loop of them would take minutes to come to the end of its step budget.
    pub repeated: Apart<AtomicU64>,
    pub finished_blocks: Apart<AtomicU64>,
    pub workers: usize,
    /// Nobody else is at global memory while it runs: no other worker, nor the program whose memory it is.
    pub alone: bool,
    /// An argument points into memory of that program, which may write what the kernel waits for.
    pub host_may_answer: bool,
    pub faults: Mutex<Vec<Fault>>,
    pub console: Mutex<Console>,
    pub notes: Mutex<Vec<String>>,
    pub syncs: crate::check::race::sync::Syncs,
    pub deferred: crate::check::race::Deferred,
    pub clusters: [u32; 3],
    /// Zeroed memory for the grid barrier of cooperative groups; 0 when no kernel asks for it.
    pub workspace: u64,
    /// `malloc` of device code.
    pub(crate) heap: Mutex<crate::memory::Heap>,
    /// Where it is, if a thread may have got any of it.
    pub watched_heap: std::ops::Range<u64>,
    pub ticks: Apart<AtomicU64>,
    /// Texture and surface objects.
    pub(crate) objects: Arc<crate::texture::TextureObjects>,
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
    /// Blocks of a cluster.
    pub fn cluster_size(&self) -> u64 {
        self.clusters.iter().map(|n| u64::from(*n)).product()
    }

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

    /// Whether an address in shared memory is of the part that the system has. What its libraries do there counts on what GPUs do
    /// beyond PTX: a lane writes what others of its warp read before a vote.
    pub fn is_reserved(&self, address: u64) -> bool {
        self.reserved_shared.is_some_and(|base| (base..base + RESERVED_SHARED).contains(&(address as u32)))
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

    /// [`Grid::tids`] of a launch.
    pub fn tids_of([x, y, z]: [u32; 3]) -> Vec<Tids> {
        let thread = |linear: u32| [linear % x, linear / x % y, linear / (x * y)];
        let row = |warp: u32, axis: usize| std::array::from_fn(|lane| thread(warp * 32 + lane as u32)[axis]);
        (0..(x * y * z).div_ceil(32)).map(|warp| std::array::from_fn(|axis| row(warp, axis))).collect()
    }

    /// Linear number of a block by its cluster and its rank there.
    pub(crate) fn block_in_cluster(&self, cluster: u64, rank: u64) -> u64 {
        if self.clusters == [1, 1, 1] {
            return cluster;
        }
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
            launch: None,
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

    /// Whether the launch is to end, as a long search asks between two instructions; the next look reports it.
    pub fn over(&self) -> bool {
        self.aborted.load(Ordering::Relaxed)
            || self.stop.load(Ordering::Relaxed)
            || self.options.time_limit.is_some_and(|limit| self.started.is_over(limit))
    }

    /// Looks at stop flag, clock and step budget. False: end the launch.
    pub fn may_go_on(&self, place: impl Fn() -> (Option<u32>, String)) -> bool {
        if self.aborted.load(Ordering::Relaxed) {
            return false;
        }
        if self.stop.load(Ordering::Relaxed) {
            self.launch_fault(FaultKind::Stopped, "stopped on request".to_owned(), None, None);
            return false;
        }
        if let Some(limit) = self.options.time_limit
            && self.started.is_over(limit)
        {
            let (pc, place) = place();
            let endless = pc.filter(|pc| crate::check::race::words::is_endless(self.image, *pc));
            let why = endless.map_or("", |_| {
                ", a loop in which nothing is left that could end it: the value of a plain variable may be kept, so a flag is \
                 polled with `volatile` or an atomic"
            });
            let message = format!("ran longer than the limit of {:.1} s; {place}{why}", limit.as_secs_f64());
            self.launch_fault(FaultKind::TimeBudget, message, None, pc);
            return false;
        }
        if let Some(limit) = self.options.max_warp_instructions {
            let what = if self.executed.load(Ordering::Relaxed) > limit {
                format!("executed more than the limit of {limit} warp instructions")
            } else if self.repeated.load(Ordering::Relaxed) > limit {
                format!("met the same faults more often than its limit of {limit} warp instructions")
            } else {
                return true;
            };
            let (pc, place) = place();
            let message = format!("{what}; {place}");
            self.launch_fault(FaultKind::StepBudget, message, None, pc);
            return false;
        }
        true
    }
}
