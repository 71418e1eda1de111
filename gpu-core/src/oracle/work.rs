//! How an oracle works through a large case: on all cores, saying how far it is, and ending when it is told to.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often progress is said.
const EVERY: Duration = Duration::from_millis(200);
/// Outputs up to this many elements, with rows up to as many, are computed on the calling thread: threads cost more
/// than they save.
const SMALL: usize = 4096;

/// Who is told of an oracle's progress, and what ends it. The default tells nobody.
#[derive(Default)]
pub struct Watch<'a> {
    pub stop: Option<&'a AtomicBool>,
    /// Called on the caller's thread with rows done and rows in all, a few times a second while it takes longer.
    pub progress: Option<&'a mut dyn FnMut(u64, u64)>,
}

impl Watch<'_> {
    /// Whether to give up; what was computed by then is not whole.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// Calls `work(first_row, rows)` on disjoint bands of a row-major array, on all cores. After a stop the rest is left
/// as it was.
pub(super) fn in_bands(
    output: &mut [f64],
    row_length: usize,
    watch: &mut Watch<'_>,
    work: impl Fn(usize, &mut [f64]) + Sync,
) {
    let row_length = row_length.max(1);
    let rows = output.len() / row_length;
    if output.len() <= SMALL && row_length <= SMALL {
        return work(0, output);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Several bands a core, so that no core idles long at the end and progress is seen.
    let band = rows.div_ceil(8 * cores).max(1);
    let stop = watch.stop;
    let is_stopped = || stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
    let (done, running) = (AtomicUsize::new(0), AtomicUsize::new(cores));
    let bands = Mutex::new(output.chunks_mut(band * row_length).enumerate());
    let caller = std::thread::current();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let next = bands.lock().ok().and_then(|mut bands| bands.next());
                    let Some((index, rows)) = next.filter(|_| !is_stopped()) else { break };
                    let count = rows.len() / row_length;
                    work(index * band, rows);
                    done.fetch_add(count, Ordering::Relaxed);
                }
                running.fetch_sub(1, Ordering::Release);
                caller.unpark();
            });
        }
        let Some(progress) = watch.progress.as_mut() else { return };
        let mut said = Instant::now();
        while running.load(Ordering::Acquire) > 0 {
            std::thread::park_timeout(EVERY);
            if said.elapsed() >= EVERY {
                said = Instant::now();
                progress(done.load(Ordering::Relaxed) as u64, rows as u64);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_worked_on_once() {
        for (rows, length) in [(1, 1), (7, 3), (1000, 17), (3, 9000)] {
            let mut output = vec![0.0; rows * length];
            in_bands(&mut output, length, &mut Watch::default(), |first, band| {
                for (row, out) in band.chunks_exact_mut(length).enumerate() {
                    out.iter_mut().for_each(|x| *x += (first + row + 1) as f64);
                }
            });
            assert!(
                output.chunks_exact(length).enumerate().all(|(row, out)| out.iter().all(|x| *x == (row + 1) as f64))
            );
        }
    }

    #[test]
    fn what_takes_long_says_how_far_it_is() {
        let mut output = vec![0.0; 16 * 5000];
        let mut said = Vec::new();
        let mut hear = |done, all| said.push((done, all));
        let mut watch = Watch { stop: None, progress: Some(&mut hear) };
        in_bands(&mut output, 5000, &mut watch, |_, band| {
            std::thread::sleep(EVERY / 4 * (band.len() / 5000) as u32);
        });
        assert!(!said.is_empty() && said.iter().all(|(done, all)| *done <= 16 && *all == 16), "{said:?}");
    }

    #[test]
    fn a_stop_ends_it() {
        let stop = AtomicBool::new(true);
        let mut output = vec![0.0; 100_000];
        in_bands(&mut output, 10, &mut Watch { stop: Some(&stop), progress: None }, |_, band| band.fill(1.0));
        assert!(output.iter().all(|x| *x == 0.0));
    }
}
