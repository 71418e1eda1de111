//! How many multiply-adds the cores can do when no memory is in the way: the ceiling that every product is held against.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Sums that a core keeps at once. An instruction's result is ready after 4 or 5 cycles and two can begin in each, so 8
/// to 10 must be on their way; there are 16 registers, or 32.
const SUMS: usize = 12;
/// Rounds between two looks at the clock: some microseconds.
const ROUNDS: usize = 4096;
/// Time of a sample, and how many are taken. The best counts: the ceiling is what the machine can do when nothing else
/// runs, and whatever runs beside it only lowers a sample.
const SAMPLE: Duration = Duration::from_millis(60);
const SAMPLES: usize = 5;

/// Does `ROUNDS` rounds of `SUMS` multiply-adds on vectors, and says how many operations that were.
type Burst = fn() -> u64;

/// 10^9 operations a second of multiply-adds in `f32`, on all cores at once, from registers alone. None when it was
/// stopped.
pub fn ceiling_gflops(stop: &AtomicBool) -> Option<f64> {
    let burst = burst();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // The first raises the clock, and is not counted.
    let samples: Option<Vec<f64>> = (0..=SAMPLES).map(|_| sample(burst, cores, stop)).collect();
    samples?.into_iter().skip(1).reduce(f64::max)
}

fn sample(burst: Burst, cores: usize, stop: &AtomicBool) -> Option<f64> {
    let together = Barrier::new(cores);
    let work = || {
        together.wait();
        let (begun, mut operations) = (Instant::now(), 0);
        while begun.elapsed() < SAMPLE && !stop.load(Ordering::Relaxed) {
            operations += burst();
        }
        operations as f64 / begun.elapsed().as_secs_f64()
    };
    let rates: f64 = std::thread::scope(|scope| {
        let others: Vec<_> = (1..cores).map(|_| scope.spawn(work)).collect();
        work() + others.into_iter().filter_map(|other| other.join().ok()).sum::<f64>()
    });
    (!stop.load(Ordering::Relaxed)).then_some(rates / 1e9)
}

/// The widest that this processor has.
fn burst() -> Burst {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has what the function needs.
            return || unsafe { x86::with_avx512() };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has what the function needs.
            return || unsafe { x86::with_fma() };
        }
    }
    #[cfg(target_arch = "aarch64")]
    return neon;
    #[cfg(not(target_arch = "aarch64"))]
    plain
}

/// Where no vector instruction with a multiply-add is known: multiplications and additions of 4 numbers, which
/// compilers turn into vectors.
#[cfg(not(target_arch = "aarch64"))]
fn plain() -> u64 {
    let factor = std::hint::black_box([0.999_f32; 4]);
    let mut sums = std::hint::black_box([[1.0_f32; 4]; SUMS]);
    for _ in 0..ROUNDS {
        for sum in &mut sums {
            for (sum, factor) in sum.iter_mut().zip(factor) {
                *sum = *sum * factor + factor;
            }
        }
    }
    std::hint::black_box(sums);
    operations(4)
}

#[cfg(target_arch = "aarch64")]
fn neon() -> u64 {
    use std::arch::aarch64::{vdupq_n_f32, vfmaq_f32};
    // SAFETY: every 64-bit ARM processor has these instructions; they touch registers only.
    unsafe {
        let factor = vdupq_n_f32(std::hint::black_box(0.999));
        let mut sums = [vdupq_n_f32(std::hint::black_box(1.0)); SUMS];
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum = vfmaq_f32(factor, *sum, factor);
            }
        }
        std::hint::black_box(sums);
    }
    operations(4)
}

/// A multiplication and an addition for each number of each vector.
fn operations(lanes: usize) -> u64 {
    (2 * lanes * SUMS * ROUNDS) as u64
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{ROUNDS, SUMS, operations};
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};
    use std::hint::black_box;

    #[target_feature(enable = "avx2,fma")]
    pub fn with_fma() -> u64 {
        let factor = _mm256_set1_ps(black_box(0.999));
        let mut sums = [_mm256_set1_ps(black_box(1.0)); SUMS];
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(*sum, factor, factor);
            }
        }
        black_box(sums);
        operations(8)
    }

    #[target_feature(enable = "avx512f")]
    pub fn with_avx512() -> u64 {
        let factor = _mm512_set1_ps(black_box(0.999));
        let mut sums = [_mm512_set1_ps(black_box(1.0)); SUMS];
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                *sum = _mm512_fmadd_ps(*sum, factor, factor);
            }
        }
        black_box(sums);
        operations(16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_stays_below_the_ceiling() {
        let stop = AtomicBool::new(false);
        let ceiling = ceiling_gflops(&stop).expect("not stopped");
        let library = crate::ladder()[3];
        let rule = crate::Rule { least_samples: 3, time: Duration::from_millis(100) };
        let measured = crate::measure(&library, 256, rule, &stop).expect("not stopped");
        // Both are disturbed by whatever else runs; what is counted would be off by a factor of two at least.
        assert!(measured.gflops() < 1.3 * ceiling, "{} of {ceiling}", measured.gflops());
        assert_eq!(ceiling_gflops(&AtomicBool::new(true)), None);
    }

    #[test]
    fn every_way_counts_its_operations() {
        assert_eq!(operations(4), (2 * 4 * 12 * 4096) as u64);
        assert_eq!(burst()() % operations(4), 0);
    }
}
