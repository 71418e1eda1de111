//! The named quantities that a predict-then-run question can ask for: those of the engine.

pub use gpu_core::bench::{Evidence, Needs, QUANTITIES, Quantity, measure_quantity, quantity};

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::bench::{BenchPoint, BenchReport, Stats};
    use gpu_core::emulator::{Counters, Traffic};

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
            rivals: Vec::new(),
            counters: Some(counters),
            lines: Vec::new(),
            caveats: Vec::new(),
            steps: Vec::new(),
            workspace_bytes: 0,
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
            kernel: gpu_core::bench::KernelFacts::default(),
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
