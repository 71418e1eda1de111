//! Which of an exercise's milestones a run reached: by time on a GPU, by counters on the emulator.

use super::BenchPoint;
use crate::profile::si;
use crate::spec::Milestone;
use ptx_emulator::Counters;
use serde::{Deserialize, Serialize};

/// A counted quantity that a milestone may bound; small is good.
pub struct Counted {
    /// The key in `exercise.toml`.
    pub name: &'static str,
    pub what: &'static str,
    read: fn(&Counters, flops: f64) -> Option<f64>,
}

/// Every quantity, by name.
pub static COUNTED: &[Counted] = &[
    Counted {
        name: "bank_conflicts",
        what: "bank conflicts",
        read: |c, _| Some((c.shared_load.bank_conflicts + c.shared_store.bank_conflicts) as f64),
    },
    Counted { name: "divergent_branches", what: "splits of a warp", read: |c, _| Some(c.divergent_branches as f64) },
    Counted {
        name: "load_sectors_per_128_bytes",
        what: "sectors for each 128 bytes loaded",
        read: |c, _| per(32.0 * 4.0 * c.global_load.sectors as f64, c.global_load.bytes as f64),
    },
    Counted {
        name: "loads_per_multiply_add",
        what: "global loads for each multiply-add",
        read: |c, flops| per((c.global_load.bytes + c.async_copy_bytes) as f64 / 4.0, flops / 2.0),
    },
    Counted {
        name: "shared_loads_per_multiply_add",
        what: "shared loads for each multiply-add",
        read: |c, flops| per(c.shared_load.bytes as f64 / 4.0, flops / 2.0),
    },
    Counted {
        name: "store_sectors_per_128_bytes",
        what: "sectors for each 128 bytes stored",
        read: |c, _| per(32.0 * 4.0 * c.global_store.sectors as f64, c.global_store.bytes as f64),
    },
    Counted {
        name: "stores_per_multiply_add",
        what: "global stores for each multiply-add",
        read: |c, flops| per(c.global_store.bytes as f64 / 4.0, flops / 2.0),
    },
];

fn per(count: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| count / of)
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

/// Holds a run against the milestones. On a GPU the best point counts; on the emulator the last, which is the largest.
pub fn reached(milestones: &[Milestone], points: &[BenchPoint]) -> Vec<Reached> {
    let sound: Vec<&BenchPoint> = points.iter().filter(|point| point.rejected.is_none()).collect();
    milestones.iter().map(|milestone| one(milestone, &sound)).collect()
}

fn one(milestone: &Milestone, points: &[&BenchPoint]) -> Reached {
    let mut parts = Vec::new();
    let mut all = true;
    let mut ask = |met: bool, words: String| {
        all &= met;
        parts.push(words);
    };
    let rate = |work: fn(&BenchPoint) -> f64| {
        let rates = points.iter().filter_map(|p| Some(work(p) / p.stats?.median_ns));
        rates.reduce(f64::max)
    };
    let timed = [(milestone.gflops, rate(|p| p.flops), "FLOP/s"), (milestone.gbytes_per_s, rate(|p| p.bytes), "B/s")];
    for (asked, got, unit) in timed {
        if let (Some(asked), Some(got)) = (asked, got) {
            ask(got >= asked, format!("{} of {}", si(got * 1e9, unit), si(asked * 1e9, unit)));
        }
    }
    let share = points.iter().filter_map(|point| point.share_of_ceiling).reduce(f64::max);
    if let (Some(asked), Some(got)) = (milestone.share_of_ceiling, share) {
        ask(got >= asked, format!("{} of this machine's ceiling, {} asked", percent(got), percent(asked)));
    }
    let counted = points.last().and_then(|point| Some((point.counters.as_ref()?, point.flops)));
    if let Some((counters, flops)) = counted {
        for (name, most) in &milestone.at_most {
            let Some(quantity) = COUNTED.iter().find(|counted| counted.name == name) else { continue };
            let Some(got) = (quantity.read)(counters, flops) else { continue };
            // A sum of floats may miss an exact bound such as 1/64 by its rounding.
            ask(got <= most * (1.0 + 1e-9), format!("{} {}, at most {}", short(got), quantity.what, short(*most)));
        }
    }
    let because = match parts.is_empty() {
        false => parts.join("; "),
        true if points.is_empty() => "nothing was measured".to_owned(),
        true if points.iter().any(|point| point.stats.is_some()) => "counted on the emulator".to_owned(),
        true => "timed on a GPU".to_owned(),
    };
    Reached { name: milestone.name.clone(), reached: (!parts.is_empty()).then_some(all), because }
}

/// Whole percents, with two digits where there is less than ten of them.
fn percent(share: f64) -> String {
    match 100.0 * share {
        value if value >= 9.5 => format!("{value:.0} %"),
        value if value >= 0.95 => format!("{} %", short((10.0 * value).round() / 10.0)),
        value => format!("{} %", short(value)),
    }
}

/// Enough digits to compare with shares such as 1/16 and 1/64.
fn short(value: f64) -> String {
    if value == value.trunc() {
        return format!("{value}");
    }
    let digits = match value {
        small if small < 0.1 => 5,
        share if share < 1.0 => 4,
        _ => 2,
    };
    format!("{value:.digits$}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{Stats, untimed};
    use super::*;
    use ptx_emulator::Traffic;

    fn point() -> BenchPoint {
        untimed("n = 4", 2000.0, 100.0)
    }

    fn milestone() -> Milestone {
        Milestone {
            name: "fast".into(),
            share_of_ceiling: None,
            gflops: Some(500.0),
            gbytes_per_s: None,
            at_most: vec![("loads_per_multiply_add".into(), 0.0625), ("bank_conflicts".into(), 0.0)],
            note: String::new(),
        }
    }

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(COUNTED.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn percents_have_the_digits_they_need() {
        let shares = [1.02, 0.5, 0.104, 0.0421, 0.0099, 0.00251, 0.000_031];
        assert_eq!(shares.map(percent), ["102 %", "50 %", "10 %", "4.2 %", "1 %", "0.251 %", "0.0031 %"]);
    }

    #[test]
    fn counters_decide_on_the_emulator() {
        // 1000 multiply-adds; 250 bytes are 62.5 floats.
        let counters =
            |bytes| Counters { global_load: Traffic { requests: 1, sectors: 8, bytes }, ..Counters::default() };
        let with = |bytes| [BenchPoint { counters: Some(counters(bytes)), ..point() }];
        let good = &reached(&[milestone()], &with(250))[0];
        assert_eq!(good.reached, Some(true));
        assert!(good.because.contains("0.0625 global loads for each multiply-add, at most 0.0625"), "{}", good.because);
        assert_eq!(reached(&[milestone()], &with(254))[0].reached, Some(false));
    }

    #[test]
    fn time_decides_on_a_gpu_and_nothing_decides_nothing() {
        let timed = |median_ns| BenchPoint { stats: Some(Stats { median_ns, ..Stats::default() }), ..point() };
        assert_eq!(reached(&[milestone()], &[timed(4.0), timed(9.0)])[0].reached, Some(true), "the best point");
        assert_eq!(reached(&[milestone()], &[timed(4.1)])[0].reached, Some(false));
        assert_eq!(reached(&[milestone()], &[point()])[0].reached, None);
        let wrong = BenchPoint { rejected: Some("wrong".into()), ..timed(1.0) };
        assert_eq!(reached(&[milestone()], &[wrong])[0].reached, None, "a rejected time is none");
    }
}
