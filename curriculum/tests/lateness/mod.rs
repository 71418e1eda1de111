//! How late a busy machine lets a thread go on: what a promise of time is held against.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A write to disk takes a few turns of the processor, and each may come as late as the latest that was seen.
pub const TURNS_OF_A_WRITE: u64 = 5;

/// How late, in milliseconds, this machine lets a thread go on: the most of some sleeps, each with a small file written.
pub fn lateness_ms(folder: &Path, done: &AtomicBool) -> u64 {
    let mut latest = 0;
    while !done.load(Ordering::Relaxed) {
        let started = Instant::now();
        std::thread::sleep(Duration::from_millis(20));
        let mut file = std::fs::File::create(folder.join("canary")).unwrap();
        file.write_all(b"still alive").and_then(|()| file.sync_data()).unwrap();
        latest = latest.max(started.elapsed().as_millis() as u64 - 20);
    }
    latest
}
