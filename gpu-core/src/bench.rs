//! Timing on a GPU; counters on the emulator. Measured and modelled time are different types.

use ptx_emulator::{Counters, LineCounters};
use serde::{Deserialize, Serialize};

/// A time with its kind. The two are never drawn alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Timing {
    /// Event-timed samples of one launch each, in nanoseconds, in the order taken.
    Measured { nanos: Vec<f64>, cold_l2: bool },
    /// An interval from counters and published latencies; names the resource that bounds it.
    Modelled { low_ns: f64, high_ns: f64, bound_by: String },
}

/// Order statistics of measured samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    pub samples: u32,
    pub median_ns: f64,
    pub p20_ns: f64,
    pub p80_ns: f64,
    pub min_ns: f64,
}

/// A comparison's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    Faster,
    Slower,
    Inconclusive,
}

/// Measured ceilings of one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    pub device: String,
    pub driver: String,
    /// ISO 8601 date.
    pub date: String,
    /// Device-to-device copy, bytes read plus bytes written per second.
    pub copy_bytes_per_s: f64,
    /// Fused multiply-add rate in FP32, operations per second.
    pub fp32_flops: f64,
    pub notes: Vec<String>,
}

/// One size's benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Emulator only.
    pub counters: Option<Counters>,
    pub lines: Vec<LineCounters>,
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
    /// One sentence.
    pub summary: String,
    /// Seconds since the Unix epoch.
    pub when_unix_s: u64,
}
