//! What was timed beside a kernel in the same run: the vendor's library, and other libraries' programs.

use super::{BenchPoint, Stats};
use serde::{Deserialize, Serialize};

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
