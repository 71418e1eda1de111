//! How a launch is run.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::conditions::Conditions;
use crate::count::values::NonfiniteLog;
use crate::device::Device;
use crate::fast::Fast;
use crate::report::{SourceLine, TraceRequest};
use crate::request::Checks;

/// How a launch is run.
#[derive(Clone, Debug)]
pub struct Options {
    pub checks: Checks,
    /// Also the same value, stored to global memory by the same instruction in two threads, is a race.
    pub written_once: bool,
    /// Which bytes of global memory the launch touches ([`Outcome::touched`](crate::Outcome::touched)); needs the race check.
    pub touched: bool,
    /// Sectors, bank conflicts and instruction counts.
    pub counters: bool,
    /// The same per source line.
    pub line_counters: bool,
    pub trace: Option<TraceRequest>,
    /// Lines whose values the trace keeps, by the file's name as given to the compiler; columns are not looked at.
    pub watched: Vec<SourceLine>,
    /// Follows infinities and NaN, instruction by instruction and on one host thread.
    pub nonfinite: Option<NonfiniteLog>,
    /// Step budget over all warps of the launch; also the most times that faults told before may come again.
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
    /// The device whose limits count; that of the module's target when None.
    pub device: Option<Device>,
    /// Fast paths that may be taken; results, counters and faults are the same without them.
    pub fast: Fast,
    /// The conditions of the graph that the launch is a part of.
    pub conditions: Option<Arc<Conditions>>,
}

/// Cores that this process may use. Asked for once: that reads several files, which takes as long as a small launch.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |cores| cores.get()))
}

impl Default for Options {
    fn default() -> Options {
        Options {
            checks: Checks::ALL,
            written_once: false,
            touched: false,
            counters: true,
            line_counters: true,
            trace: None,
            watched: Vec::new(),
            nonfinite: None,
            max_warp_instructions: None,
            time_limit: None,
            console_limit_bytes: 1 << 20,
            workers: cores(),
            deterministic: false,
            max_faults: 20,
            device: None,
            fast: Fast::default(),
            conditions: None,
        }
    }
}

impl Options {
    /// Whether accesses are counted, checked or traced.
    pub(crate) fn watches(&self) -> bool {
        let checks = self.checks.race || self.checks.uninitialised;
        checks || self.counters || self.line_counters || self.trace.is_some() || self.nonfinite.is_some()
    }

    /// Whether somebody looks at what instructions give.
    pub(crate) fn observes(&self) -> bool {
        self.nonfinite.is_some() || self.trace.is_some() && !self.watched.is_empty()
    }

    /// Bounds and alignment only: the fastest way to run.
    pub fn unchecked() -> Options {
        Options { checks: Checks::NONE, counters: false, line_counters: false, ..Options::default() }
    }
}
