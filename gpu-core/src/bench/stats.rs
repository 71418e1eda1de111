//! Order statistics, the rule that ends sampling, and faster/slower/inconclusive: pure functions of the samples.

use super::{Compared, Stats};

impl Stats {
    /// Of samples in nanoseconds; None without any.
    pub fn of(samples: &[f64]) -> Option<Stats> {
        let mut sorted: Vec<f64> = samples.iter().copied().filter(|sample| sample.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (min, last) = (*sorted.first()?, sorted.len() - 1);
        // Linear between neighbours, so that few samples do not jump.
        let quantile = |share: f64| {
            let at = share * last as f64;
            let below = at.floor() as usize;
            sorted[below] + (sorted[(below + 1).min(last)] - sorted[below]) * at.fract()
        };
        Some(Stats {
            samples: sorted.len() as u32,
            median_ns: quantile(0.5),
            p20_ns: quantile(0.2),
            p80_ns: quantile(0.8),
            min_ns: min,
        })
    }

    /// Half the distance from the 20th to the 80th percentile, as a share of the median.
    pub fn spread(&self) -> f64 {
        (self.p80_ns - self.p20_ns) / 2.0 / self.median_ns.max(f64::MIN_POSITIVE)
    }
}

/// When enough has been sampled. The figures are those of the established harnesses (nvbench's defaults).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    pub least_samples: usize,
    pub least_seconds: f64,
    /// Standard deviation over mean that counts as quiet.
    pub quiet: f64,
    /// Samples over which an unquiet series must have kept its noise level to be called stable.
    pub window: usize,
    pub most_seconds: f64,
}

impl Default for StopRule {
    fn default() -> Self {
        Self { least_samples: 10, least_seconds: 0.5, quiet: 0.005, window: 64, most_seconds: 15.0 }
    }
}

/// Why sampling ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Quiet,
    /// Noisy, but no longer changing: more samples would not help.
    StableNoise,
    TimeOut,
}

impl StopRule {
    /// Whether to end, given all samples of the noisiest subject and the seconds spent.
    pub fn ended(&self, samples: &[f64], seconds: f64) -> Option<Ended> {
        if seconds >= self.most_seconds && !samples.is_empty() {
            return Some(Ended::TimeOut);
        }
        if samples.len() < self.least_samples || seconds < self.least_seconds {
            return None;
        }
        if noise(samples) < self.quiet {
            return Some(Ended::Quiet);
        }
        // The noise of the first half of the window against that of the whole: equal means nothing new is learnt.
        if samples.len() >= 2 * self.window {
            let recent = noise(samples);
            let before = noise(&samples[..samples.len() - self.window]);
            if (recent - before).abs() < 0.05 * recent {
                return Some(Ended::StableNoise);
            }
        }
        None
    }
}

/// Standard deviation over mean.
pub fn noise(samples: &[f64]) -> f64 {
    let count = samples.len() as f64;
    if samples.len() < 2 {
        return f64::INFINITY;
    }
    let mean = samples.iter().sum::<f64>() / count;
    let variance = samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / (count - 1.0);
    variance.sqrt() / mean
}

/// Differences below this are not told apart on hardware that sets its own clock.
const LEAST_DIFFERENCE: f64 = 0.01;

/// Is `own` faster than `other`? The sentence names the figures or the reason for doubt.
pub fn compare(own: &Stats, other: &Stats) -> (Compared, String) {
    let difference = (other.median_ns - own.median_ns) / other.median_ns.max(f64::MIN_POSITIVE);
    let percent = difference.abs() * 100.0;
    let least = 3;
    if own.samples < least || other.samples < least {
        return (Compared::Inconclusive, "too few samples to compare".to_owned());
    }
    if difference.abs() < LEAST_DIFFERENCE {
        return (Compared::Inconclusive, format!("the medians differ by {percent:.1}%, less than clocks vary"));
    }
    let overlap = own.p20_ns <= other.p80_ns && other.p20_ns <= own.p80_ns;
    if overlap {
        let spread = own.spread().max(other.spread()) * 100.0;
        return (
            Compared::Inconclusive,
            format!("the medians differ by {percent:.1}%, but the samples overlap (spread {spread:.1}%)"),
        );
    }
    match difference > 0.0 {
        true => (Compared::Faster, format!("{percent:.1}% less time")),
        false => (Compared::Slower, format!("{percent:.1}% more time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(center: f64, spread: f64, count: usize) -> Vec<f64> {
        (0..count).map(|i| center + spread * ((i * 37 % 11) as f64 / 5.0 - 1.0)).collect()
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_samples() {
        let stats = Stats::of(&[5.0, 1.0, 3.0, 2.0, 4.0]).expect("samples");
        assert_eq!((stats.median_ns, stats.min_ns, stats.samples), (3.0, 1.0, 5));
        assert!((stats.p20_ns - 1.8).abs() < 1e-12 && (stats.p80_ns - 4.2).abs() < 1e-12);
        assert_eq!(Stats::of(&[]), None);
        assert_eq!(Stats::of(&[f64::NAN]), None);
    }

    #[test]
    fn sampling_ends_quiet_or_stable_or_late_but_never_early() {
        let rule = StopRule::default();
        let quiet = around(100.0, 0.1, 50);
        assert_eq!(rule.ended(&quiet[..9], 1.0), None, "too few");
        assert_eq!(rule.ended(&quiet, 0.4), None, "too soon");
        assert_eq!(rule.ended(&quiet, 0.6), Some(Ended::Quiet));
        let noisy = around(100.0, 20.0, 300);
        assert_eq!(rule.ended(&noisy[..100], 1.0), None, "not yet known to be stable");
        assert_eq!(rule.ended(&noisy, 1.0), Some(Ended::StableNoise));
        assert_eq!(rule.ended(&noisy[..5], 15.0), Some(Ended::TimeOut));
        assert_eq!(rule.ended(&[], 20.0), None, "at least one sample");
    }

    #[test]
    fn comparison_needs_a_difference_beyond_the_noise() {
        let stats = |center, spread| Stats::of(&around(center, spread, 100)).expect("samples");
        assert_eq!(compare(&stats(90.0, 1.0), &stats(100.0, 1.0)).0, Compared::Faster);
        assert_eq!(compare(&stats(110.0, 1.0), &stats(100.0, 1.0)).0, Compared::Slower);
        let (outcome, reason) = compare(&stats(99.5, 0.1), &stats(100.0, 0.1));
        assert_eq!(outcome, Compared::Inconclusive);
        assert!(reason.contains("0.5%"), "{reason}");
        let (outcome, reason) = compare(&stats(90.0, 20.0), &stats(100.0, 20.0));
        assert_eq!(outcome, Compared::Inconclusive);
        assert!(reason.contains("overlap"), "{reason}");
    }
}
