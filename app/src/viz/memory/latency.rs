//! How long a load waits at each level of the hierarchy: as measured on this machine, or else as recorded on another,
//! which is then named. Data sheets hardly ever say it.

use gpu_core::bench::Ceilings;
use std::collections::BTreeMap;

/// Keys of [`Ceilings::more`] and of the recording, from near to far, with what they are called here.
const LEVELS: [(&str, &str); 4] = [
    ("latency_shared", "shared memory"),
    ("latency_l1", "L1"),
    ("latency_l2", "L2"),
    ("latency_memory", "device memory"),
];
const RECORDED: &str = include_str!("../../../../assets/recorded/latency-h200.json");

pub struct Latencies {
    /// `measured here, 2026-11-21` or `recorded on NVIDIA H200, 2026-11-21`.
    pub source: String,
    unit: &'static str,
    /// By key.
    values: BTreeMap<String, f64>,
}

#[derive(serde::Deserialize)]
struct Recording {
    device: String,
    date: String,
    clocks: BTreeMap<String, f64>,
}

impl Latencies {
    /// This machine's, where its ceilings hold any; otherwise the recorded ones. None if neither can be read.
    pub fn of(ceilings: Option<&Ceilings>) -> Option<Self> {
        let here = ceilings.map(|ceilings| {
            let known = ceilings.more.iter().filter(|figure| LEVELS.iter().any(|(key, _)| *key == figure.key));
            let values: BTreeMap<String, f64> = known.map(|figure| (figure.key.clone(), figure.value)).collect();
            Self { source: format!("measured on this machine, {}", ceilings.date), unit: "ns", values }
        });
        here.filter(|latencies| !latencies.values.is_empty()).or_else(|| {
            let Recording { device, date, clocks } = serde_json::from_str(RECORDED).ok()?;
            Some(Self { source: format!("recorded on an {device}, {date}"), unit: "clocks", values: clocks })
        })
    }

    /// `23 clocks`, `shared 23, L1 32 clocks`; empty where nothing is known.
    fn text(&self, keys: &[(&str, &str)]) -> String {
        let known: Vec<String> = keys
            .iter()
            .filter_map(|(key, name)| {
                let value = self.values.get(*key)?;
                Some(if name.is_empty() { format!("{value:.0}") } else { format!("{name} {value:.0}") })
            })
            .collect();
        if known.is_empty() { String::new() } else { format!("{} {}", known.join(", "), self.unit) }
    }

    /// Of the picture's rows: registers, shared memory and L1, L2, device memory. An instruction's operands come from
    /// registers with no wait of their own.
    pub fn of_rows(&self) -> [String; 4] {
        [
            String::new(),
            self.text(&[("latency_shared", "shared"), ("latency_l1", "L1")]),
            self.text(&[("latency_l2", "")]),
            self.text(&[("latency_memory", "")]),
        ]
    }

    pub fn words(&self) -> String {
        format!("A load that nothing hides waits, {}: {}.", self.source, self.text(&LEVELS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::bench::{Figure, Unit};

    #[test]
    fn what_was_measured_here_goes_before_the_recording() {
        let recorded = Latencies::of(None).expect("the recording is readable");
        assert!(recorded.source.contains("H200") && recorded.of_rows()[2].ends_with("clocks"), "{}", recorded.words());
        let figure = |key: &str, value| Figure {
            key: key.into(),
            name: key.into(),
            value,
            unit: Unit::Nanoseconds,
            how: String::new(),
        };
        let mut ceilings = Ceilings { date: "2026-12-01".into(), ..Ceilings::default() };
        assert!(Latencies::of(Some(&ceilings)).is_some_and(|latencies| latencies.source.contains("recorded")));
        ceilings.more = vec![figure("latency_l2", 120.4), figure("read_bandwidth", 1e12)];
        let here = Latencies::of(Some(&ceilings)).expect("one figure");
        assert_eq!(here.of_rows(), ["", "", "120 ns", ""].map(str::to_owned));
        assert!(here.source.contains("this machine, 2026-12-01"));
    }
}
