//! Time limits that a busy machine does not shorten.

use std::time::{Duration, Instant};

/// However little of the machine's time this process got, so many times the limit by the clock are enough.
const PATIENCE: u32 = 4;

/// Time that was spent on work: by the clock on an idle machine, and no more than this process had of the processors on a
/// machine that others keep busy, of which by the clock there is at least a quarter.
#[derive(Clone, Copy, Debug)]
pub struct WorkTime {
    clock: Instant,
    processor: Option<Duration>,
}

impl WorkTime {
    pub fn start() -> Self {
        Self { clock: Instant::now(), processor: processor() }
    }

    pub fn elapsed(&self) -> Duration {
        let clock = self.clock.elapsed();
        match (self.processor, processor()) {
            (Some(before), Some(now)) => spent(clock, now.saturating_sub(before)),
            _ => clock,
        }
    }

    /// As `elapsed() > limit`, and asks the system only when the clock says so.
    pub fn is_over(&self, limit: Duration) -> bool {
        self.clock.elapsed() > limit && self.elapsed() > limit
    }
}

fn spent(clock: Duration, processor: Duration) -> Duration {
    clock.min(processor.max(clock / PATIENCE))
}

/// What all threads of this process had of the processors; None where the system is not asked.
#[cfg(target_os = "linux")]
fn processor() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a plain system call that fills the structure.
    let asked = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    (asked == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

#[cfg(not(target_os = "linux"))]
fn processor() -> Option<Duration> {
    None
}
