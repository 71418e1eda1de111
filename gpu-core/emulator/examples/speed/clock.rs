//! Time, memory and load of this process and machine.

use std::time::{Duration, Instant};

/// Time by one of the system's clocks of core time; where there is none, time that passed.
#[cfg(unix)]
fn core_time(which: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one `timespec`, which `time` is.
    match unsafe { libc::clock_gettime(which, &mut time) } {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => passed(),
    }
}

fn passed() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Time that this thread ran on a core.
pub fn thread_time() -> Duration {
    #[cfg(unix)]
    return core_time(libc::CLOCK_THREAD_CPUTIME_ID);
    #[cfg(not(unix))]
    passed()
}

/// Time that all threads of this process ran on cores.
pub fn process_time() -> Duration {
    #[cfg(unix)]
    return core_time(libc::CLOCK_PROCESS_CPUTIME_ID);
    #[cfg(not(unix))]
    passed()
}

/// Time that all cores of this machine were busy with anything, in steps of some milliseconds (Linux).
pub fn machine_time() -> Option<Duration> {
    let all = std::fs::read_to_string("/proc/stat").ok()?;
    let fields = all.lines().next()?.split_whitespace().skip(1).map_while(|field| field.parse::<u64>().ok());
    // User, nice and system; not idle and waiting for disks; interrupts of both kinds, and what other guests took.
    let busy = fields.take(8).enumerate().filter(|(index, _)| !matches!(index, 3 | 4)).map(|(_, ticks)| ticks);
    Some(Duration::from_millis(busy.sum::<u64>() * 10))
}

/// Most memory that this process held so far, in bytes (Linux).
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Processes that wanted a core during the last minute (Linux).
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Middle, smallest and largest of some measurements.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    pub fn of(mut values: Vec<f64>) -> Spread {
        values.sort_by(f64::total_cmp);
        Spread { median: values[values.len() / 2], low: values[0], high: values[values.len() - 1] }
    }
}
