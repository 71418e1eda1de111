//! The judge's own work on many elements says every second that it goes on: a lab ends a job of which it hears nothing, and
//! nobody is to think that the kernel hangs.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(1);
/// Work that is not done after so many is a mistake of ours, which the lab's limit may end.
const MOST: u32 = 300;

/// Does the work in a thread of its own, and calls `tell` each second until it is done.
pub(super) fn told<T: Send>(tell: &mut dyn FnMut(), work: impl FnOnce() -> T + Send) -> T {
    told_each(EVERY, tell, work)
}

fn told_each<T: Send>(every: Duration, tell: &mut dyn FnMut(), work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let (running, ended) = channel::<()>();
        let work = scope.spawn(move || {
            // Dropped at the end, however that comes.
            let _running = running;
            work()
        });
        for _ in 0..MOST {
            match ended.recv_timeout(every) {
                Err(RecvTimeoutError::Timeout) => tell(),
                _ => break,
            }
        }
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_work_is_told_of_and_short_work_is_not() {
        let mut times = 0;
        assert_eq!(told(&mut || times += 1, || 7), 7);
        assert_eq!(times, 0);
        let wait = || std::thread::sleep(Duration::from_millis(200));
        told_each(Duration::from_millis(10), &mut || times += 1, wait);
        assert!((2..=20).contains(&times), "{times}");
    }
}
