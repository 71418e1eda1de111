//! Time limits on a machine that has other things to do.

use ptx_emulator::WorkTime;
use std::time::{Duration, Instant};

#[test]
fn work_is_at_most_what_the_clock_says_and_at_least_a_quarter() {
    // The clock first: on a busy machine much can pass between two statements.
    let (clock, work) = (Instant::now(), WorkTime::start());
    std::thread::sleep(Duration::from_millis(120));
    let spent = work.elapsed();
    assert!(spent >= Duration::from_millis(30) && spent <= clock.elapsed(), "{spent:?}");
    assert!(!work.is_over(clock.elapsed() + Duration::from_secs(1)));
    assert!(work.is_over(Duration::from_millis(20)));
}
