//! What is measured of a kernel's time, and of a machine.

use crate::words::{duration, si};
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
    /// What else was measured: further bandwidths and rates, latencies.
    pub more: Vec<Figure>,
    /// Clock of the multiprocessors while measuring.
    pub clock_mhz: Option<f64>,
    /// After measuring, where `nvidia-smi` tells it.
    pub temperature_c: Option<f64>,
    pub notes: Vec<String>,
}

/// One measured limit of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Stable name for programs, for example `read_bandwidth`.
    pub key: String,
    /// For people.
    pub name: String,
    pub value: f64,
    pub unit: Unit,
    /// How it was measured, in a few words.
    pub how: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    BytesPerSecond,
    OperationsPerSecond,
    Nanoseconds,
}

impl Figure {
    /// The value with its unit, for example `4.25 TB/s`.
    pub fn text(&self) -> String {
        match self.unit {
            Unit::BytesPerSecond => si(self.value, "B/s"),
            Unit::OperationsPerSecond => si(self.value, "FLOP/s"),
            Unit::Nanoseconds => duration(self.value),
        }
    }
}

impl Ceilings {
    /// Every figure, the two that bound all kernels first.
    pub fn figures(&self) -> Vec<Figure> {
        let figure = |key: &str, name: &str, value, unit, how: &str| Figure {
            key: key.to_owned(),
            name: name.to_owned(),
            value,
            unit,
            how: how.to_owned(),
        };
        let copy = "the best copy inside the GPU, bytes read plus bytes written";
        let fma = "independent chains of multiply-adds in registers";
        let mut all = vec![
            figure("copy_bandwidth", "copy", self.copy_bytes_per_s, Unit::BytesPerSecond, copy),
            figure("fp32", "FP32", self.fp32_flops, Unit::OperationsPerSecond, fma),
        ];
        all.extend(self.more.iter().cloned());
        all
    }

    pub fn figure(&self, key: &str) -> Option<f64> {
        self.figures().into_iter().find(|figure| figure.key == key).map(|figure| figure.value)
    }
}
