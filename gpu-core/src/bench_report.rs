//! What a benchmark found.

use crate::measured::{Ceilings, Compared, Stats, Timing};
use crate::verdict::StepReport;
use ptx_emulator::{Counters, LineCounters};
use serde::{Deserialize, Serialize};

/// One size's benchmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BenchPoint {
    /// For example `n = 1048576`.
    pub name: String,
    /// None on the emulator.
    pub timing: Option<Timing>,
    pub stats: Option<Stats>,
    pub flops: f64,
    pub bytes: f64,
    /// Share of this machine's measured ceiling, 0 to 1 and a little more.
    pub share_of_ceiling: Option<f64>,
    /// Which ceiling bounds this kernel: `copy bandwidth` or `fp32`.
    pub bound: String,
    /// Time of a device-to-device copy of as many bytes, same run, interleaved.
    pub copy: Option<Stats>,
    pub reference: Option<Stats>,
    pub against_reference: Option<Compared>,
    /// The vendor's library at the same work, same buffers, interleaved.
    pub library: Option<LibraryTime>,
    /// Other libraries' programs that were timed in turns with this kernel, in a process of their own.
    pub rivals: Vec<RivalTime>,
    /// Emulator only.
    pub counters: Option<Counters>,
    pub lines: Vec<LineCounters>,
    /// Each step by itself; empty for an exercise of one launch.
    pub steps: Vec<StepReport>,
    /// Scratch memory that the kernel was given.
    pub workspace_bytes: u64,
    /// Why the figure is doubtful or was rejected; empty when sound.
    pub caveats: Vec<String>,
    /// Beat the roofline floor or failed correctness after timing: not a result.
    pub rejected: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchReport {
    pub device: String,
    pub passed_check: bool,
    pub points: Vec<BenchPoint>,
    /// Of the exercise, in its order: which ones this run reached.
    pub milestones: Vec<Reached>,
    /// One sentence.
    pub summary: String,
    /// Seconds since the Unix epoch.
    pub when_unix_s: u64,
    /// What the machine can do at most, as measured in this run or before; None on the emulator.
    pub ceilings: Option<Ceilings>,
    /// What milestones may ask of the kernel itself.
    pub kernel: KernelFacts,
}

/// One milestone and how the run stands to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    pub name: String,
    /// None where this device cannot tell.
    pub reached: Option<bool>,
    /// What was measured or counted beside what is asked, in words.
    pub because: String,
}

/// What is known of a kernel beside its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelFacts {
    pub registers: Option<f64>,
    /// 0 to 1.
    pub occupancy: Option<f64>,
    pub workspace_bytes: Option<f64>,
    /// See [`error_of`].
    pub error: Option<f64>,
}

/// What the vendor's library took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LibraryTime {
    /// For example `cuBLASLt 13.1.0, best of 24 algorithms`.
    pub name: String,
    pub stats: Stats,
}

/// What another library's program took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RivalTime {
    /// By which milestones ask for it, for example `cub`.
    pub key: String,
    /// For people, for example `CUB, by cupy.sum`.
    pub name: String,
    pub median_ns: f64,
    /// Of this kernel in the same turns.
    pub own_median_ns: f64,
}

impl RivalTime {
    /// This kernel's speed as a multiple of the rival's.
    pub fn share(&self) -> f64 {
        self.median_ns / self.own_median_ns
    }
}

impl BenchPoint {
    /// This kernel's speed as a multiple of a rival's: of the one with this key, or of the fastest.
    pub fn of_rival(&self, key: Option<&str>) -> Option<f64> {
        let asked = self.rivals.iter().filter(|rival| key.is_none_or(|key| key == rival.key));
        asked.map(RivalTime::share).reduce(f64::min)
    }

    /// This kernel's speed as a multiple of the library's.
    pub fn of_library(&self) -> Option<f64> {
        Some(self.library.as_ref()?.stats.median_ns / self.stats?.median_ns)
    }

    /// This kernel's rate as a share of a device-to-device copy of as many bytes in the same run.
    pub fn of_copy(&self) -> Option<f64> {
        Some(self.copy?.median_ns / self.stats?.median_ns)
    }

    /// The reference's rate as a share of the same copy.
    pub fn reference_of_copy(&self) -> Option<f64> {
        Some(self.copy?.median_ns / self.reference?.median_ns)
    }
}
