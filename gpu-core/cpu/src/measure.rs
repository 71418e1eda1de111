//! Correctness first, then time: the median of several products, each from zero.

use crate::variants::Variant;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When to stop taking samples.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub least_samples: usize,
    /// Not another sample once so much time was spent on a variant.
    pub time: Duration,
}

impl Default for Rule {
    fn default() -> Self {
        Self { least_samples: 3, time: Duration::from_millis(1500) }
    }
}

/// One variant at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub n: usize,
    /// Median of the samples, in milliseconds.
    pub median_ms: f64,
    pub samples: usize,
    /// Every element agrees with a float64 product.
    pub ok: bool,
}

impl Measured {
    /// 2 n^3 operations over the median time, in 10^9 a second.
    pub fn gflops(&self) -> f64 {
        2.0 * (self.n as f64).powi(3) / (self.median_ms * 1e6)
    }
}

/// Whole numbers from -4 to 4, by a linear congruential generator: sums of their products are exact in `f32` as long as
/// they stay below 2^24, so a right product is right to the last bit, in any order.
fn whole_numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % 9
    };
    (0..count).map(|_| next() as f32 - 4.0).collect()
}

/// Rows that are compared: all of a small matrix, some of a large one, for a float64 product of 1024 x 1024 would take
/// longer than what is measured.
const CHECKED_ROWS: usize = 64;

fn is_right(n: usize, a: &[f32], b: &[f32], c: &[f32]) -> bool {
    let step = n.div_ceil(CHECKED_ROWS).max(1);
    (0..n).step_by(step).all(|i| {
        let mut row = vec![0.0_f64; n];
        for k in 0..n {
            let factor = f64::from(a[i * n + k]);
            for (sum, value) in row.iter_mut().zip(&b[k * n..][..n]) {
                *sum += factor * f64::from(*value);
            }
        }
        row.iter().zip(&c[i * n..][..n]).all(|(want, got)| *want == f64::from(*got))
    })
}

/// Checks a variant and takes its time. None when it was stopped.
pub fn measure(variant: &Variant, n: usize, rule: Rule, stop: &AtomicBool) -> Option<Measured> {
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |now| now.subsec_nanos());
    let (a, b) = (whole_numbers(n * n, seed), whole_numbers(n * n, seed ^ 0x9e37_79b9));
    let mut c = vec![0.0_f32; n * n];
    let mut samples: Vec<f64> = Vec::new();
    let mut ok = false;
    let started = Instant::now();
    // The first product warms caches, page tables and clock, and is the one that is checked.
    for round in 0.. {
        c.fill(0.0);
        let begun = Instant::now();
        let whole = (variant.product)(n, std::hint::black_box(&a), std::hint::black_box(&b), &mut c, stop);
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        std::hint::black_box(&c);
        if !whole || stop.load(Ordering::Relaxed) {
            return None;
        }
        if round == 0 {
            ok = is_right(n, &a, &b, &c);
            // Seconds long: it need not be done again to be sure of its time.
            if started.elapsed() > 2 * rule.time {
                samples.push(ms);
                break;
            }
            continue;
        }
        samples.push(ms);
        if samples.len() >= rule.least_samples && started.elapsed() > rule.time {
            break;
        }
    }
    samples.sort_by(f64::total_cmp);
    let (low, high) = (samples[(samples.len() - 1) / 2], samples[samples.len() / 2]);
    Some(Measured { n, median_ms: f64::midpoint(low, high), samples: samples.len(), ok })
}

/// The processor's name and how many cores a variant uses: `AMD EPYC 7B13, 1 of 16 cores`.
pub fn physical_description(all_cores: bool) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim().to_owned()))
        .unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH));
    let used = if all_cores { cores } else { 1 };
    format!("{name}, {used} of {cores} core{}", if cores == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants::{ladder, orders};

    fn quick() -> Rule {
        Rule { least_samples: 1, time: Duration::ZERO }
    }

    #[test]
    fn every_variant_is_right_at_awkward_sizes() {
        for variant in ladder().iter().chain(&orders()) {
            for n in [1, 2, 63, 65, 130] {
                let found = measure(variant, n, quick(), &AtomicBool::new(false)).expect("not stopped");
                assert!(found.ok, "{} at n = {n}", variant.name);
                assert!(found.median_ms > 0.0 && found.gflops() > 0.0);
            }
        }
    }

    #[test]
    fn a_wrong_product_is_seen() {
        let n = 70;
        let (a, b) = (whole_numbers(n * n, 1), whole_numbers(n * n, 2));
        let mut c = vec![0.0; n * n];
        assert!(crate::loops::ikj(n, &a, &b, &mut c, &AtomicBool::new(false)));
        assert!(is_right(n, &a, &b, &c));
        // A row that is looked at: every second one.
        c[68 * n + 69] += 1.0;
        assert!(!is_right(n, &a, &b, &c));
    }

    #[test]
    fn a_stop_ends_it() {
        for variant in ladder().iter().chain(&orders()) {
            assert_eq!(measure(variant, 256, Rule::default(), &AtomicBool::new(true)), None, "{}", variant.name);
        }
    }
}
