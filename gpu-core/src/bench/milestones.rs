//! Which of an exercise's milestones a run reached: by time on a GPU, by counters on the emulator.

use super::KernelFacts;
use super::quantities::{Evidence, Needs, OF_RIVAL, Quantity, quantity, rival_of};
use super::{BenchPoint, Reached};
use crate::spec::Milestone;
use crate::words::{grouped, si};

/// Holds a run against the milestones. On a GPU the best point counts; on the emulator the last, which is the largest.
pub fn reached(milestones: &[Milestone], points: &[BenchPoint], kernel: KernelFacts) -> Vec<Reached> {
    let sound: Vec<&BenchPoint> = points.iter().filter(|point| point.rejected.is_none()).collect();
    milestones.iter().map(|milestone| one(milestone, &sound, kernel)).collect()
}

fn one(milestone: &Milestone, points: &[&BenchPoint], kernel: KernelFacts) -> Reached {
    let mut parts = Vec::new();
    let mut missing: Vec<String> = Vec::new();
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
    let bounds = milestone.at_most.iter().map(|bound| (bound, false));
    for ((name, bound), is_at_least) in bounds.chain(milestone.at_least.iter().map(|bound| (bound, true))) {
        let Some(quantity) = quantity(name) else { continue };
        let rival = rival_of(name);
        let of = |point: &&BenchPoint| {
            quantity.value(&Evidence { alone: Some(point), kernel, rival, ..Evidence::default() })
        };
        let better = |a: f64, b: f64| if is_at_least { a.max(b) } else { a.min(b) };
        let got = match quantity.needs {
            Needs::Gpu => points.iter().filter_map(of).reduce(better),
            Needs::Emulator => points.last().and_then(of),
        };
        let Some(got) = got else {
            missing.extend(quantity.is_beside().then(|| unmeasured(quantity, rival)));
            continue;
        };
        // A sum of floats may miss an exact bound such as 1/64 by its rounding.
        let met = if is_at_least { got >= bound * (1.0 - 1e-9) } else { got <= bound * (1.0 + 1e-9) };
        let word = if is_at_least { "at least" } else { "at most" };
        match quantity.unit {
            "%" if quantity.name == OF_RIVAL => {
                let whose = rival.map_or("the fastest rival's".to_owned(), |key| format!("{}'s", called(points, key)));
                ask(met, format!("{} of {whose} speed, {word} {}", percent(got), percent(*bound)));
            }
            "%" => ask(met, format!("{} {}, {word} {}", percent(got), quantity.what, percent(*bound))),
            _ => ask(met, format!("{} {}, {word} {}", short(got), quantity.what, short(*bound))),
        }
    }
    if !missing.is_empty() {
        // What was not timed is neither reached nor missed; what was measured may be missed all the same.
        let known = (!all).then_some(false);
        parts.push(format!("not measured here: {}", missing.join("; ")));
        return Reached { name: milestone.name.clone(), reached: known, because: parts.join("; ") };
    }
    let because = match parts.is_empty() {
        false => parts.join("; "),
        true if points.is_empty() => "nothing was measured".to_owned(),
        true if points.iter().any(|point| point.stats.is_some()) => "counted on the emulator".to_owned(),
        true => "timed on a GPU".to_owned(),
    };
    Reached { name: milestone.name.clone(), reached: (!parts.is_empty()).then_some(all), because }
}

/// A rival as people call it.
fn called<'p>(points: &[&'p BenchPoint], key: &'p str) -> &'p str {
    let rivals = points.iter().flat_map(|point| &point.rivals);
    rivals.into_iter().find(|rival| rival.key == key).map_or(key, |rival| rival.name.as_str())
}

/// What was to be timed beside the kernel, and how it is.
fn unmeasured(quantity: &Quantity, rival: Option<&str>) -> String {
    match (quantity.name, rival) {
        (OF_RIVAL, Some(key)) => {
            format!("the speed beside `{key}`, which `lockstep bench … --rivals` times on a GPU of this machine")
        }
        (OF_RIVAL, None) => {
            "the speed beside its rivals, which `lockstep bench … --rivals` times on a GPU of this machine".to_owned()
        }
        ("share_of_library", _) => "the speed beside the vendor's library, on a GPU and with cuBLASLt".to_owned(),
        _ => "the speed beside the reference kernel, on a GPU".to_owned(),
    }
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
        return if (0.0..1e15).contains(&value) { grouped(value as u64) } else { format!("{value}") };
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
    use super::super::{RivalTime, Stats, untimed};
    use super::*;
    use ptx_emulator::{Counters, Traffic};

    fn point() -> BenchPoint {
        untimed("n = 4", 2000.0, 100.0)
    }

    fn milestone() -> Milestone {
        Milestone {
            name: "fast".into(),
            share_of_ceiling: None,
            gflops: Some(500.0),
            gbytes_per_s: None,
            at_least: Vec::new(),
            at_most: vec![("loads_per_multiply_add".into(), 0.0625), ("bank_conflicts".into(), 0.0)],
            note: String::new(),
        }
    }

    #[test]
    fn bounds_go_both_ways() {
        let asks = Milestone {
            at_most: vec![("registers".into(), 64.0), ("workspace_bytes".into(), 0.0)],
            at_least: vec![("async_bytes".into(), 1.0), ("occupancy".into(), 0.5)],
            gflops: None,
            ..milestone()
        };
        let counted = |bytes| BenchPoint {
            counters: Some(Counters { async_copy_bytes: bytes, ..Counters::default() }),
            ..point()
        };
        let kernel =
            KernelFacts { registers: Some(40.0), occupancy: Some(0.75), workspace_bytes: Some(0.0), error: None };
        let one = &reached(std::slice::from_ref(&asks), &[counted(4096)], kernel)[0];
        assert_eq!(one.reached, Some(true), "{}", one.because);
        assert!(one.because.contains("40 registers of a thread, at most 64"), "{}", one.because);
        assert!(one.because.contains("75 %"), "{}", one.because);
        assert_eq!(reached(std::slice::from_ref(&asks), &[counted(0)], kernel)[0].reached, Some(false));
        let full = KernelFacts { registers: Some(128.0), ..kernel };
        assert_eq!(reached(&[asks], &[counted(4096)], full)[0].reached, Some(false));
    }

    /// What was not timed beside the kernel is neither reached nor missed.
    #[test]
    fn a_rival_that_was_not_timed_decides_nothing() {
        let asks = |at_least: &[(&str, f64)]| Milestone {
            at_least: at_least.iter().map(|(name, bound)| ((*name).to_owned(), *bound)).collect(),
            at_most: Vec::new(),
            gflops: None,
            ..milestone()
        };
        let rival = |key: &str, median_ns| RivalTime {
            key: key.to_owned(),
            name: format!("{key} of torch"),
            median_ns,
            own_median_ns: 10.0,
        };
        let timed = || BenchPoint { stats: Some(Stats { median_ns: 4.0, ..Stats::default() }), ..point() };
        let say = |bounds: &[(&str, f64)], point: BenchPoint| {
            let found = reached(&[asks(bounds)], &[point], KernelFacts::default()).remove(0);
            (found.reached, found.because)
        };
        let of_cub = [("share_of_rival.cub", 1.0)];
        let (met, because) = say(&of_cub, timed());
        assert!(met.is_none() && because.starts_with("not measured here: the speed beside `cub`"), "{because}");
        let beside = BenchPoint { rivals: vec![rival("cub", 11.0), rival("eager", 9.0)], ..timed() };
        let (met, because) = say(&of_cub, beside.clone());
        assert_eq!(
            (met, because.as_str()),
            (Some(true), "110 % of cub of torch's speed, at least 100 %"),
            "the kernel took 10 ns beside its 11"
        );
        assert_eq!(say(&[("share_of_rival.eager", 1.0)], beside.clone()).0, Some(false));
        let (met, because) = say(&[("share_of_rival", 1.0)], beside.clone());
        assert!(met == Some(false) && because.starts_with("90 % of the fastest rival's"), "{because}");
        assert_eq!(say(&[("share_of_rival.flash", 1.0)], beside.clone()).0, None, "another one was timed");
        // What was measured is missed all the same.
        let (met, because) = say(&[("share_of_rival.cub", 1.0), ("gigabytes_per_second", 1e6)], timed());
        assert!(met == Some(false) && because.contains("not measured here"), "{because}");
        assert_eq!(say(&[("share_of_rival.cub", 1.0), ("gigabytes_per_second", 1.0)], timed()).0, None);
        let (met, because) = say(&[("share_of_library", 0.9)], timed());
        assert!(met.is_none() && because.contains("vendor's library"), "{because}");
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
        let good = &reached(&[milestone()], &with(250), KernelFacts::default())[0];
        assert_eq!(good.reached, Some(true));
        assert!(good.because.contains("0.0625 global loads for each multiply-add, at most 0.0625"), "{}", good.because);
        assert_eq!(reached(&[milestone()], &with(254), KernelFacts::default())[0].reached, Some(false));
    }

    #[test]
    fn time_decides_on_a_gpu_and_nothing_decides_nothing() {
        let timed = |median_ns| BenchPoint { stats: Some(Stats { median_ns, ..Stats::default() }), ..point() };
        assert_eq!(
            reached(&[milestone()], &[timed(4.0), timed(9.0)], KernelFacts::default())[0].reached,
            Some(true),
            "the best point"
        );
        assert_eq!(reached(&[milestone()], &[timed(4.1)], KernelFacts::default())[0].reached, Some(false));
        assert_eq!(reached(&[milestone()], &[point()], KernelFacts::default())[0].reached, None);
        let wrong = BenchPoint { rejected: Some("wrong".into()), ..timed(1.0) };
        assert_eq!(
            reached(&[milestone()], &[wrong], KernelFacts::default())[0].reached,
            None,
            "a rejected time is none"
        );
    }
}
