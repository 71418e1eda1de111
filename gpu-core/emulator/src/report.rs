//! What a launch says about itself: faults, counters and traces. Plain data; the judge, the terminal and the
//! pictures read it, and it travels between processes.

use serde::{Deserialize, Serialize};

/// A place in the CUDA source, from the `.loc` lines that NVRTC writes under `-lineinfo`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceLine {
    /// File name as given to the compiler, for example `kernel.cu`.
    pub file: String,
    /// One-based line.
    pub line: u32,
    /// One-based column, 0 when unknown.
    pub column: u32,
}

/// One thread of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ThreadId {
    /// `blockIdx` as x, y, z.
    pub block: [u32; 3],
    /// `threadIdx` as x, y, z.
    pub thread: [u32; 3],
    /// Warp index in its block.
    pub warp: u32,
    /// Lane in its warp, 0 to 31.
    pub lane: u32,
}

/// State space of an access (PTX ISA, "State Spaces").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    Global,
    Shared,
    Local,
    Const,
    Param,
    /// Shared memory of another block of the cluster.
    Cluster,
    /// A generic address that falls in no window.
    Generic,
}

/// What an access did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
    /// `cp.async`, bulk and tensor copies.
    AsyncCopy,
}

/// Kinds of fault. The name in `--json` is the snake_case form and is stable; exercise files use it to declare
/// what a known-wrong kernel must be rejected for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    OutOfBounds,
    Misaligned,
    UseAfterFree,
    Race,
    Uninitialised,
    /// Threads of a block do not all reach the same barrier.
    BarrierDivergence,
    /// A warp operation names lanes that do not take part, or reads from an inactive lane.
    MaskMisuse,
    /// Data of an asynchronous copy used before its wait.
    MissingAsyncWait,
    /// What the kernel wrote is read through the cache for what it only reads.
    StaleRead,
    /// An mbarrier waited on or arrived at in the wrong phase, or used before `init`.
    BarrierPhase,
    /// Operands for which an instruction has no defined result, such as impossible sparsity metadata.
    UndefinedResult,
    Deadlock,
    StepBudget,
    TimeBudget,
    StackOverflow,
    BadLaunch,
    /// `trap` or a failed `assert`.
    Trap,
    /// The user pressed Stop.
    Stopped,
}

impl FaultKind {
    /// The launch cannot go on after it.
    pub fn ends_launch(self) -> bool {
        !matches!(
            self,
            FaultKind::Race
                | FaultKind::Uninitialised
                | FaultKind::MaskMisuse
                | FaultKind::UndefinedResult
                | FaultKind::BarrierDivergence
                | FaultKind::MissingAsyncWait
                | FaultKind::BarrierPhase
                | FaultKind::StaleRead
        )
    }
}

/// How a message of a race goes on whose parties are lanes of one warp; behind it stands what to do, of which whoever has the
/// source may know more.
pub const OF_ONE_WARP: &str = "; both are lanes of one warp, which need not run in step:";

/// The allocation that an address belongs to, or the nearest one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationRef {
    /// Name of the buffer or of the `__shared__`/`__device__`/`__constant__` variable where known.
    pub name: String,
    pub base: u64,
    pub bytes: u64,
    /// Byte offset of the access from `base`; negative before it.
    pub offset: i64,
}

/// What makes two parties of faults one: the line, and the call that led to it.
pub(crate) type Position<'a> = (Option<&'a SourceLine>, Option<&'a SourceLine>);

/// The second party of a race, or the place where other threads wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherSide {
    pub source: Option<SourceLine>,
    /// Where the function that `source` is in was called, when the compiler inlined it.
    #[serde(default)]
    pub inlined_at: Option<SourceLine>,
    pub thread: ThreadId,
    pub access: Option<AccessKind>,
}

/// Which of several launches, as the caller names them; the emulator itself knows one launch at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LaunchName {
    pub step: String,
    /// Counts from 0; None where the step is launched once.
    pub turn: Option<u64>,
}

impl std::fmt::Display for LaunchName {
    /// `step "combine"`, or `step "combine", turn 3`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "step \"{}\"", self.step)?;
        self.turn.map_or(Ok(()), |turn| write!(f, ", turn {turn}"))
    }
}

/// One thing that is wrong with a kernel. Equal faults of many threads are folded into the first with a count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub kind: FaultKind,
    /// One sentence with the facts: thread, array, index, range. No position (that is in `source`).
    pub message: String,
    pub kernel: String,
    /// None of a launch by itself.
    #[serde(default)]
    pub launch: Option<LaunchName>,
    pub source: Option<SourceLine>,
    /// Where the function that `source` is in was called, when the compiler inlined it.
    #[serde(default)]
    pub inlined_at: Option<SourceLine>,
    /// The PTX instruction's text.
    pub instruction: String,
    /// None for faults of the launch itself.
    pub thread: Option<ThreadId>,
    pub space: Option<Space>,
    pub access: Option<AccessKind>,
    pub address: Option<u64>,
    /// Bytes that one thread accessed.
    pub access_bytes: u32,
    pub allocation: Option<AllocationRef>,
    pub other: Option<OtherSide>,
    /// How many threads met the same fault at the same instruction.
    pub occurrences: u64,
}

impl Fault {
    /// Source line of the second party.
    pub fn other_line(&self) -> Option<&SourceLine> {
        self.other.as_ref()?.source.as_ref()
    }

    /// Line and call of this party.
    pub(crate) fn position(&self) -> Position<'_> {
        (self.source.as_ref(), self.inlined_at.as_ref())
    }

    /// The same of the second party.
    pub(crate) fn other_position(&self) -> Option<Position<'_>> {
        self.other.as_ref().map(|other| (other.source.as_ref(), other.inlined_at.as_ref()))
    }

    /// `kernel.cu:7`, or `lab.cuh:3, called from kernel.cu:7` when the compiler inlined the function of that line.
    pub fn place(&self) -> Option<String> {
        let source = self.source.as_ref()?;
        let call = self.inlined_at.as_ref().map(|call| format!(", called from {}:{}", call.file, call.line));
        Some(format!("{}:{}{}", source.file, source.line, call.unwrap_or_default()))
    }
}

/// Instruction classes of the mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Class {
    Integer,
    Float32,
    Float64,
    /// f16, bf16 and narrower, scalar and packed.
    FloatNarrow,
    /// Approximate functions: the special function unit.
    Special,
    Convert,
    Move,
    Compare,
    Branch,
    Global,
    Shared,
    Local,
    Const,
    Atomic,
    Warp,
    Barrier,
    AsyncCopy,
    Matrix,
    Other,
}

impl Class {
    pub const COUNT: usize = Class::Other as usize + 1;
    pub const ALL: [Class; Class::COUNT] = [
        Class::Integer,
        Class::Float32,
        Class::Float64,
        Class::FloatNarrow,
        Class::Special,
        Class::Convert,
        Class::Move,
        Class::Compare,
        Class::Branch,
        Class::Global,
        Class::Shared,
        Class::Local,
        Class::Const,
        Class::Atomic,
        Class::Warp,
        Class::Barrier,
        Class::AsyncCopy,
        Class::Matrix,
        Class::Other,
    ];
}

/// Requests to global or local memory, counted as Nsight Compute counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Warp-level instructions that reached memory with at least one active lane.
    pub requests: u64,
    /// 32-byte sectors (l1tex__t_sectors_pipe_lsu_mem_global_op_*.sum).
    pub sectors: u64,
    /// Bytes that threads asked for.
    pub bytes: u64,
}

/// Shared-memory work, counted as Nsight Compute counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedTraffic {
    pub requests: u64,
    /// Passes over the 32 banks (l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*.sum).
    pub wavefronts: u64,
    /// Wavefronts beyond the fewest that the access width needs
    /// (l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_*.sum).
    pub bank_conflicts: u64,
    pub bytes: u64,
}

/// What a launch, or one source line of it, did. PTX is not SASS: memory counters and barriers are exact,
/// instruction counts are of PTX instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Executed PTX instructions, one per warp.
    pub warp_instructions: u64,
    /// The same weighted by active lanes.
    pub thread_instructions: u64,
    /// Warp instructions by [`Class`], indexed by `Class as usize`.
    pub by_class: [u64; Class::COUNT],
    /// Conditional branches executed, and those whose lanes disagreed.
    pub branches: u64,
    pub divergent_branches: u64,
    pub global_load: Traffic,
    pub global_store: Traffic,
    /// Atomics whose old value is used.
    pub global_atomic: Traffic,
    /// Atomics whose old value nobody uses: the hardware sends them as reductions.
    #[serde(default)]
    pub global_reduction: Traffic,
    pub local_load: Traffic,
    pub local_store: Traffic,
    pub shared_load: SharedTraffic,
    pub shared_store: SharedTraffic,
    pub shared_atomic: SharedTraffic,
    /// Warp arrivals at block-wide barriers.
    pub barriers: u64,
    /// Of `cp.async`, whose bytes are among those of global loads as well, and of the copy engine.
    pub async_copy_bytes: u64,
    /// Those of them that the copy engine moved: bulk and tensor copies.
    #[serde(default)]
    pub bulk_copy_bytes: u64,
    /// mma, wmma and wgmma instructions, and their multiply-adds.
    pub matrix_instructions: u64,
    pub matrix_multiply_adds: u64,
}

impl Counters {
    /// Adds what another launch did.
    pub fn add(&mut self, other: &Counters) {
        // Every field by name, so that a new one cannot be forgotten.
        let Counters {
            warp_instructions,
            thread_instructions,
            by_class,
            branches,
            divergent_branches,
            global_load,
            global_store,
            global_atomic,
            global_reduction,
            local_load,
            local_store,
            shared_load,
            shared_store,
            shared_atomic,
            barriers,
            async_copy_bytes,
            bulk_copy_bytes,
            matrix_instructions,
            matrix_multiply_adds,
        } = other;
        self.warp_instructions += warp_instructions;
        self.thread_instructions += thread_instructions;
        for (sum, more) in self.by_class.iter_mut().zip(by_class) {
            *sum += more;
        }
        self.branches += branches;
        self.divergent_branches += divergent_branches;
        self.global_load.add(global_load);
        self.global_store.add(global_store);
        self.global_atomic.add(global_atomic);
        self.global_reduction.add(global_reduction);
        self.local_load.add(local_load);
        self.local_store.add(local_store);
        self.shared_load.add(shared_load);
        self.shared_store.add(shared_store);
        self.shared_atomic.add(shared_atomic);
        self.barriers += barriers;
        self.async_copy_bytes += async_copy_bytes;
        self.bulk_copy_bytes += bulk_copy_bytes;
        self.matrix_instructions += matrix_instructions;
        self.matrix_multiply_adds += matrix_multiply_adds;
    }
}

impl Traffic {
    fn add(&mut self, other: &Traffic) {
        let Traffic { requests, sectors, bytes } = other;
        self.requests += requests;
        self.sectors += sectors;
        self.bytes += bytes;
    }
}

impl SharedTraffic {
    fn add(&mut self, other: &SharedTraffic) {
        let SharedTraffic { requests, wavefronts, bank_conflicts, bytes } = other;
        self.requests += requests;
        self.wavefronts += wavefronts;
        self.bank_conflicts += bank_conflicts;
        self.bytes += bytes;
    }
}

/// Counters of one source line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCounters {
    pub source: SourceLine,
    pub counters: Counters,
}

/// An allocation that a trace refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceAllocation {
    pub name: String,
    pub space: Space,
    pub base: u64,
    pub bytes: u64,
}

/// Which warps to trace, and how much to keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceRequest {
    /// Linear block indices (x fastest).
    pub blocks: Vec<u64>,
    /// Warps of those blocks; empty means all.
    pub warps: Vec<u32>,
    /// Upper bound of the trace's memory, in bytes.
    pub max_bytes: usize,
}

/// Every step of chosen warps, in execution order of each warp.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    pub kernel: String,
    /// None of a launch by itself.
    #[serde(default)]
    pub launch: Option<LaunchName>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub allocations: Vec<TraceAllocation>,
    /// PTX text and source of each program counter that occurs.
    pub instructions: Vec<TraceInstruction>,
    pub warps: Vec<WarpTrace>,
    /// What watched lines gave ([`crate::Options::watched`]), in order of time.
    #[serde(default)]
    pub values: Vec<WatchedValues>,
    /// True when `max_bytes` cut it short.
    pub truncated: bool,
}

/// What a line gave in one warp at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedValues {
    pub source: SourceLine,
    pub block: [u32; 3],
    pub warp: u32,
    /// Order among all traced steps of the launch.
    pub tick: u64,
    /// Lanes that have a value, and the values in their order. A register of two numbers gives both, one behind the other.
    pub mask: u32,
    pub values: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceInstruction {
    pub text: String,
    pub source: Option<SourceLine>,
    pub class: Class,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpTrace {
    pub block: [u32; 3],
    pub warp: u32,
    pub steps: Vec<Step>,
}

/// One executed warp instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Order among all traced warps of the launch.
    pub tick: u64,
    /// Index into [`Trace::instructions`].
    pub instruction: u32,
    /// Lanes that executed it.
    pub mask: u32,
    pub access: Option<StepAccess>,
    /// The copy that it started and that goes on by itself.
    pub copy: Option<Box<StepCopy>>,
    /// The mbarrier that it used.
    pub barrier: Option<StepBarrier>,
}

/// An asynchronous copy of a step: `cp.async`, a bulk copy or a tensor box.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepCopy {
    /// Offset in the block's shared memory, and bytes from the first to the last that belong to it.
    pub shared_low: u64,
    pub shared_bytes: u64,
    /// Into shared memory, or out of it.
    pub to_shared: bool,
    /// Bytes that move.
    pub bytes: u64,
    /// The lane that started it; of several the first.
    pub lane: u32,
    /// Address of the other end in global memory, of copies of plain bytes.
    pub global: Option<u64>,
    /// The tensor box; None for copies of plain bytes.
    pub tensor: Option<TensorBox>,
}

/// A box of a tensor. All lists begin with the innermost dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorBox {
    /// Index into [`Trace::allocations`] of the array that the tensor map describes.
    pub allocation: Option<u32>,
    /// Where the box begins, in elements; may be negative for loads.
    pub start: Vec<i64>,
    /// Elements of the box, and of the tensor.
    pub extents: Vec<u32>,
    pub sizes: Vec<u64>,
    /// Address of the tensor's first element, and the bytes from one index to the next, of the second dimension and up.
    pub address: u64,
    pub strides_bytes: Vec<u64>,
    pub element_bits: u32,
    /// 0, 32, 64 or 128.
    pub swizzle_bytes: u32,
}

/// What a step did to an mbarrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepBarrier {
    /// Offset in shared memory.
    pub address: u64,
    /// Phases that were over before the step, and after it.
    pub phase_before: u64,
    pub phase: u64,
}

/// The memory side of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepAccess {
    pub space: Space,
    pub kind: AccessKind,
    /// Bytes per lane.
    pub bytes: u32,
    /// Index into [`Trace::allocations`] of the lowest active lane's allocation.
    pub allocation: Option<u32>,
    /// Address per active lane, in lane order.
    pub addresses: Vec<u64>,
    /// The same for the further groups of an instruction that moves several, such as a fragment of the matrix units: group by
    /// group, in lane order.
    #[serde(default)]
    pub further: Vec<u64>,
    /// Sectors (global, local) or wavefronts (shared) that it cost.
    pub cost: u32,
}

/// What keeps more blocks from sharing one multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OccupancyLimit {
    Threads,
    Blocks,
    Registers,
    SharedMemory,
}

/// How many blocks and warps one multiprocessor can hold at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    pub blocks_per_sm: u32,
    pub warps_per_sm: u32,
    pub max_warps_per_sm: u32,
    pub limited_by: OccupancyLimit,
}
