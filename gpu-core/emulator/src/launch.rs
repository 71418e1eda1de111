//! One kernel launch: what it needs, how it is run, what comes back.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::memory::Memory;
use crate::module::Module;
use crate::report::{Counters, Fault, FaultKind, LineCounters, Occupancy, Trace, TraceRequest};

/// A kernel, its shape and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Kernel name as it stands in the PTX (mangled unless `extern "C"`).
    pub kernel: String,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y, z; `[1, 1, 1]` for none (a kernel's own `.reqnctapercluster` counts then).
    pub cluster: [u32; 3],
    pub dynamic_shared_bytes: u32,
    /// The packed argument block, laid out as [`KernelInfo::params`](crate::KernelInfo::params) says.
    pub params: Vec<u8>,
    /// Registers that ptxas gave each thread, for occupancy; None leaves registers out of it.
    pub registers_per_thread: Option<u32>,
    /// A cooperative launch: all blocks must fit on the device at once.
    pub cooperative: bool,
}

impl Launch {
    /// A launch without clusters, dynamic shared memory or arguments.
    pub fn new(kernel: &str, grid: [u32; 3], block: [u32; 3]) -> Launch {
        Launch {
            kernel: kernel.to_owned(),
            grid,
            block,
            cluster: [1, 1, 1],
            dynamic_shared_bytes: 0,
            params: Vec::new(),
            registers_per_thread: None,
            cooperative: false,
        }
    }

    /// Appends one argument, padded to its own size (the natural alignment of scalars and pointers).
    pub fn arg(mut self, bytes: &[u8]) -> Launch {
        let align = bytes.len().next_power_of_two().clamp(1, 16);
        while !self.params.len().is_multiple_of(align) {
            self.params.push(0);
        }
        self.params.extend_from_slice(bytes);
        self
    }

    pub fn arg_u64(self, value: u64) -> Launch {
        self.arg(&value.to_le_bytes())
    }

    pub fn arg_u32(self, value: u32) -> Launch {
        self.arg(&value.to_le_bytes())
    }

    pub fn arg_f32(self, value: f32) -> Launch {
        self.arg(&value.to_le_bytes())
    }

    pub fn shared(mut self, dynamic_bytes: u32) -> Launch {
        self.dynamic_shared_bytes = dynamic_bytes;
        self
    }
}

/// Which checks beyond bounds and alignment (those are always made).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    pub race: bool,
    pub uninitialised: bool,
    pub barrier: bool,
}

impl Checks {
    pub const ALL: Checks = Checks { race: true, uninitialised: true, barrier: true };
    pub const NONE: Checks = Checks { race: false, uninitialised: false, barrier: false };
}

/// How a launch is run.
#[derive(Clone, Debug)]
pub struct Options {
    pub checks: Checks,
    /// Sectors, bank conflicts and instruction counts.
    pub counters: bool,
    /// The same per source line.
    pub line_counters: bool,
    pub trace: Option<TraceRequest>,
    /// Step budget over all warps of the launch.
    pub max_warp_instructions: Option<u64>,
    pub time_limit: Option<Duration>,
    /// printf output beyond this is dropped, and the dropped lines are counted.
    pub console_limit_bytes: usize,
    /// Host threads.
    pub workers: usize,
    /// One host thread, blocks in order: floating-point atomics give the same bits every time.
    pub deterministic: bool,
    /// The launch stops after this many different faults.
    pub max_faults: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            checks: Checks::ALL,
            counters: true,
            line_counters: true,
            trace: None,
            max_warp_instructions: None,
            time_limit: None,
            console_limit_bytes: 1 << 20,
            workers: std::thread::available_parallelism().map_or(1, |cores| cores.get()),
            deterministic: false,
            max_faults: 20,
        }
    }
}

impl Options {
    /// Bounds and alignment only: the fastest way to run.
    pub fn unchecked() -> Options {
        Options { checks: Checks::NONE, counters: false, line_counters: false, ..Options::default() }
    }
}

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Every thread ran to its end.
    pub completed: bool,
    pub faults: Vec<Fault>,
    pub counters: Counters,
    pub lines: Vec<LineCounters>,
    pub trace: Option<Trace>,
    /// What printf wrote, capped.
    pub console: String,
    pub console_dropped_lines: u64,
    /// Remarks that are no faults, for example that a spin lock needed independent thread scheduling.
    pub notes: Vec<String>,
    pub occupancy: Option<Occupancy>,
}

/// Runs one kernel to its end, to its first fatal fault or until `stop` is set (seen within about 50 ms).
///
/// Faults of the launch itself (unknown kernel, too many threads, wrong argument bytes) come back as
/// [`FaultKind::BadLaunch`] with nothing run.
pub fn launch(module: &Module, memory: &mut Memory, launch: &Launch, options: &Options, stop: &AtomicBool) -> Outcome {
    let _ = (module, memory, options, stop);
    Outcome {
        faults: vec![Fault {
            kind: FaultKind::BadLaunch,
            message: format!("kernel `{}` cannot run yet", launch.kernel),
            kernel: launch.kernel.clone(),
            source: None,
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
    }
}
