//! Stores on their way. A store is entered into the shadow before it is made, so a worker that meets another's entry may
//! read memory too early to see whether both store the same.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A store lands as soon as its thread runs again, on a busy machine after tens of milliseconds. True races use it up.
const MOST_US: u64 = 100_000;

/// Microseconds that the workers of a launch may still wait, all together.
pub struct Patience(AtomicU64);

impl Patience {
    /// A worker that is alone has made all its stores.
    pub fn new(workers: usize) -> Patience {
        Patience(AtomicU64::new(if workers > 1 { MOST_US } else { 0 }))
    }

    /// Whether `same` holds, now or as soon as stores of other workers have landed.
    pub fn holds_soon(&self, same: impl Fn() -> bool) -> bool {
        while !same() {
            let left = self.0.load(Ordering::Relaxed);
            if left == 0 {
                return false;
            }
            let began = Instant::now();
            std::thread::sleep(Duration::from_micros(20));
            // Two that wait at once may count as one: this is a limit, not a measurement.
            self.0.store(left.saturating_sub(began.elapsed().as_micros().max(1) as u64), Ordering::Relaxed);
        }
        true
    }
}
