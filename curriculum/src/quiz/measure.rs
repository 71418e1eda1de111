//! The named quantities that a predict-then-run question can ask for, each read from what a run really gave.

use gpu_core::bench::{BenchPoint, BenchReport};
use gpu_core::emulator::{Counters, Traffic};
use gpu_core::verdict::{RunReport, Verdict};

/// What a run left behind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    pub verdict: Option<&'a Verdict>,
    pub bench: Option<&'a BenchReport>,
    /// Of a kernel that nobody judges.
    pub ran: Option<&'a RunReport>,
    /// Case or bench point that is meant; None for the last (largest).
    pub case: Option<&'a str>,
}

/// Where a quantity can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The emulator: everywhere.
    Emulator,
    /// A GPU: it is a time.
    Gpu,
}

/// One row of [`QUANTITIES`].
pub struct Quantity {
    /// The word in `quiz.toml`.
    pub name: &'static str,
    /// Empty for a bare count.
    pub unit: &'static str,
    pub what: &'static str,
    pub needs: Needs,
    read: fn(&Evidence<'_>) -> Option<f64>,
}

impl Quantity {
    /// The value, or None where the run did not give it (no such case, no counters, no timing).
    pub fn measure(&self, evidence: &Evidence<'_>) -> Option<f64> {
        (self.read)(evidence).filter(|value| value.is_finite())
    }
}

/// Finds a quantity by name.
pub fn quantity(name: &str) -> Option<&'static Quantity> {
    QUANTITIES.iter().find(|quantity| quantity.name == name)
}

/// Every quantity, by name.
pub static QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "bank_conflicts",
        unit: "",
        what: "extra passes over the shared-memory banks, loads and stores",
        needs: Needs::Emulator,
        read: |e| counters(e).map(|c| (c.shared_load.bank_conflicts + c.shared_store.bank_conflicts) as f64),
    },
    Quantity {
        name: "divergent_branches",
        unit: "",
        what: "how often a warp split at a branch",
        needs: Needs::Emulator,
        read: |e| counters(e).map(|c| c.divergent_branches as f64),
    },
    Quantity {
        name: "faults",
        unit: "",
        what: "different faults found by the emulator's checks",
        needs: Needs::Emulator,
        read: |e| e.verdict.map(|verdict| verdict.faults.len() as f64),
    },
    Quantity {
        name: "gigabytes_per_second",
        unit: "GB/s",
        what: "bytes that the exercise must move, divided by the median time",
        needs: Needs::Gpu,
        read: |e| point(e).and_then(|p| Some(p.bytes / p.stats?.median_ns)),
    },
    Quantity {
        name: "load_bytes",
        unit: "bytes",
        what: "bytes that threads read from global memory",
        needs: Needs::Emulator,
        read: |e| counters(e).map(|c| c.global_load.bytes as f64),
    },
    Quantity {
        name: "load_requests",
        unit: "",
        what: "loads from global memory; what up to 32 threads of a warp load together counts once",
        needs: Needs::Emulator,
        read: |e| counters(e).map(|c| c.global_load.requests as f64),
    },
    Quantity {
        name: "load_sectors",
        unit: "",
        what: "32-byte sectors that loads from global memory touched",
        needs: Needs::Emulator,
        read: |e| counters(e).map(|c| c.global_load.sectors as f64),
    },
    Quantity {
        name: "load_sectors_per_request",
        unit: "",
        what: "sectors of 32 bytes that a load of a warp touches, on average",
        needs: Needs::Emulator,
        read: |e| counters(e).and_then(|c| per_request(&c.global_load)),
    },
    Quantity {
        name: "median_us",
        unit: "us",
        what: "median time of one launch",
        needs: Needs::Gpu,
        read: |e| point(e).and_then(|p| Some(p.stats?.median_ns / 1e3)),
    },
    Quantity {
        name: "never_written",
        unit: "",
        what: "output elements among the listed mismatches that no thread wrote",
        needs: Needs::Emulator,
        read: |e| {
            let verdict = e.verdict?;
            let case = verdict.cases.iter().rfind(|case| e.case.is_none_or(|name| case.name == name))?;
            Some(case.mismatches.iter().filter(|mismatch| mismatch.never_written).count() as f64)
        },
    },
    Quantity {
        name: "share_of_ceiling",
        unit: "%",
        what: "speed as a share of this machine's measured ceiling",
        needs: Needs::Gpu,
        read: |e| point(e).and_then(|p| Some(p.share_of_ceiling? * 100.0)),
    },
    Quantity {
        name: "store_requests",
        unit: "",
        what: "stores to global memory; what up to 32 threads of a warp store together counts once",
        needs: Needs::Emulator,
        read: |e| counters(e).map(|c| c.global_store.requests as f64),
    },
    Quantity {
        name: "store_sectors",
        unit: "",
        what: "32-byte sectors that stores to global memory touched",
        needs: Needs::Emulator,
        read: |e| counters(e).map(|c| c.global_store.sectors as f64),
    },
    Quantity {
        name: "store_sectors_per_request",
        unit: "",
        what: "sectors of 32 bytes that a store of a warp touches, on average",
        needs: Needs::Emulator,
        read: |e| counters(e).and_then(|c| per_request(&c.global_store)),
    },
    Quantity {
        name: "wrong_elements",
        unit: "",
        what: "output elements outside the tolerance",
        needs: Needs::Emulator,
        read: |e| {
            let verdict = e.verdict?;
            let case = verdict.cases.iter().rfind(|case| e.case.is_none_or(|name| case.name == name))?;
            Some(case.mismatch_count as f64)
        },
    },
];

fn per_request(traffic: &Traffic) -> Option<f64> {
    (traffic.requests > 0).then(|| traffic.sectors as f64 / traffic.requests as f64)
}

/// Counters of the case that is meant, or of the last one that has any.
fn counters<'a>(evidence: &Evidence<'a>) -> Option<&'a Counters> {
    let wanted = |name: &str| evidence.case.is_none_or(|case| case == name);
    let of_cases = evidence.verdict.and_then(|verdict| {
        verdict.cases.iter().filter(|case| wanted(&case.name)).rev().find_map(|c| c.counters.as_ref())
    });
    let of_points = || {
        let points = &evidence.bench?.points;
        points.iter().filter(|point| wanted(&point.name)).rev().find_map(|p| p.counters.as_ref())
    };
    of_cases.or_else(of_points).or_else(|| evidence.ran?.counters.as_ref())
}

/// The bench point that is meant; a rejected one is no measurement.
fn point<'a>(evidence: &Evidence<'a>) -> Option<&'a BenchPoint> {
    let wanted = |point: &&BenchPoint| evidence.case.is_none_or(|case| case == point.name);
    evidence.bench?.points.iter().rfind(wanted).filter(|point| point.rejected.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::bench::Stats;

    fn bench() -> BenchReport {
        let counters =
            Counters { global_load: Traffic { requests: 64, sectors: 256, bytes: 8192 }, ..Counters::default() };
        let point = |name: &str, median_ns: f64| BenchPoint {
            name: name.into(),
            timing: None,
            stats: Some(Stats { samples: 9, median_ns, ..Stats::default() }),
            flops: 0.0,
            bytes: 12e6,
            share_of_ceiling: Some(0.9),
            bound: "copy bandwidth".into(),
            copy: None,
            reference: None,
            against_reference: None,
            library: None,
            counters: Some(counters),
            lines: Vec::new(),
            caveats: Vec::new(),
            rejected: None,
        };
        BenchReport {
            device: "d".into(),
            passed_check: true,
            points: vec![point("n = 1", 1e3), point("n = 2", 4e3)],
            milestones: Vec::new(),
            summary: String::new(),
            when_unix_s: 0,
            ceilings: None,
        }
    }

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(QUANTITIES.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(QUANTITIES.iter().all(|quantity| !quantity.what.is_empty()));
    }

    #[test]
    fn values_come_from_the_run() {
        let report = bench();
        let evidence = Evidence { bench: Some(&report), ..Evidence::default() };
        let read = |name: &str, e: &Evidence<'_>| quantity(name).unwrap().measure(e);
        assert_eq!(read("load_sectors_per_request", &evidence), Some(4.0));
        assert_eq!(read("median_us", &evidence), Some(4.0));
        assert_eq!(read("gigabytes_per_second", &evidence), Some(3000.0));
        assert_eq!(read("median_us", &Evidence { case: Some("n = 1"), ..evidence }), Some(1.0));
        assert_eq!(read("median_us", &Evidence { case: Some("n = 7"), ..evidence }), None);
    }

    #[test]
    fn what_a_run_did_not_give_is_none_for_every_quantity() {
        for quantity in QUANTITIES {
            assert_eq!(quantity.measure(&Evidence::default()), None, "{}", quantity.name);
        }
        let mut report = bench();
        report.points[1].rejected = Some("beat the roofline".into());
        let evidence = Evidence { bench: Some(&report), ..Evidence::default() };
        assert_eq!(quantity("median_us").unwrap().measure(&evidence), None);
    }
}
