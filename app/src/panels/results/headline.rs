//! A run in one sentence, held against the best that there can be.

use crate::panels::parts;
use gpu_core::bench::{BenchPoint, BenchReport};
use gpu_core::emulator::{Counters, Traffic};

/// Bytes of a sector, the unit in which global memory is moved (Nsight Compute, "Memory Tables").
const SECTOR_BYTES: f64 = 32.0;

/// Sectors of each request, and the fewest that the bytes asked for need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sectors {
    pub each: f64,
    pub least: f64,
}

impl Sectors {
    /// None where nothing was moved.
    pub fn of(traffic: &Traffic) -> Option<Self> {
        let requests = traffic.requests as f64;
        let each = traffic.sectors as f64 / requests;
        // Lanes that read one address share its sector: fewer than their bytes would need, and never less than one.
        let least = (traffic.bytes as f64 / SECTOR_BYTES / requests).max(1.0).min(each);
        (traffic.requests > 0).then_some(Self { each, least })
    }

    /// A last request that is not full, or one that begins inside a sector, is no waste worth a word.
    pub fn is_least(self) -> bool {
        self.each <= 1.02 * self.least
    }
}

/// All loads and stores of global memory together.
pub fn global(counters: &Counters) -> Traffic {
    let (load, store) = (&counters.global_load, &counters.global_store);
    Traffic {
        requests: load.requests + store.requests,
        sectors: load.sectors + store.sectors,
        bytes: load.bytes + store.bytes,
    }
}

/// What the largest size that counts as a result says.
pub fn of_report(report: &BenchReport) -> Option<String> {
    of_point(report.points.iter().rfind(|point| point.rejected.is_none())?)
}

fn of_point(point: &BenchPoint) -> Option<String> {
    if let Some(stats) = &point.stats {
        let share = point
            .share_of_ceiling
            .map_or(String::new(), |share| format!(", {:.0} % of this machine's ceiling", 100.0 * share));
        return Some(format!("{} at {}{share}.", parts::time(stats.median_ns), point.name));
    }
    of_counters(point.counters.as_ref()?)
}

/// `4.00 sectors a request, the least there is`, or how far from it.
pub fn of_counters(counters: &Counters) -> Option<String> {
    let sectors = Sectors::of(&global(counters))?;
    let each = format!("{:.2} sectors a request", sectors.each);
    Some(match sectors.is_least() {
        true => format!("{each}, the least there is."),
        false => format!("{each}; {:.2} would carry the same bytes.", sectors.least),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_are_held_against_the_bytes_that_were_asked_for() {
        let said = |requests, sectors, bytes| {
            of_counters(&Counters { global_load: Traffic { requests, sectors, bytes }, ..Counters::default() })
        };
        assert_eq!(said(10, 40, 1280).as_deref(), Some("4.00 sectors a request, the least there is."));
        assert_eq!(said(10, 320, 1280).as_deref(), Some("32.00 sectors a request; 4.00 would carry the same bytes."));
        // All lanes of a warp read one word.
        assert_eq!(said(10, 10, 1280).as_deref(), Some("1.00 sectors a request, the least there is."));
        assert_eq!(said(0, 0, 0), None);
    }
}
