//! What tells a launch that waits for ever from one that waits: who has begun, who waits since when, what is left.
//!
//! `tests/order.rs` walks through all orders in which its steps can meet.

use crate::atomics::{AtomicU64, AtomicUsize, Ordering, fence};

/// A value that host threads change often, on cache lines of its own: beside others it would take those away from
/// every core that reads them. 128 bytes, because neighbouring lines are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

// Where a worker stands: it runs, it has not begun, it is done; or, from `WAITING` on, its blocks all wait as long as
// `progress` stays what it was.
const RUNNING: u64 = 0;
const NOT_BEGUN: u64 = 1;
const DONE: u64 = 2;
const WAITING: u64 = 3;

/// Clusters that are given out one after the other.
#[derive(Debug)]
struct Part {
    next: AtomicU64,
    end: u64,
}

impl Part {
    fn left(&self) -> u64 {
        self.end.saturating_sub(self.next.load(Ordering::SeqCst))
    }
}

/// The workers of a launch and its blocks (or clusters).
#[derive(Debug)]
pub struct Waiting {
    standing: Vec<Apart<AtomicU64>>,
    /// Workers that have begun, and those that will not come.
    begun: AtomicUsize,
    missing: AtomicUsize,
    parts: Vec<Apart<Part>>,
    /// Moves when a kernel writes memory, so that waiting for nothing can be told from progress.
    progress: Apart<AtomicU64>,
}

impl Waiting {
    /// `in_order`: clusters begin in the order of their numbers, as they do on a GPU. Otherwise each worker begins with a part
    /// of its own: so launches that follow each other find their data in the caches of the core that had them, and workers
    /// meet less often where blocks share pages of memory and of its shadows.
    pub fn new(workers: usize, clusters: u64, in_order: bool) -> Waiting {
        let parts = if in_order { 1 } else { (workers as u64).min(clusters).max(1) };
        let begin = |part: u64| (u128::from(part) * u128::from(clusters) / u128::from(parts)) as u64;
        Waiting {
            standing: (0..workers).map(|_| Apart(AtomicU64::new(NOT_BEGUN))).collect(),
            begun: AtomicUsize::new(0),
            missing: AtomicUsize::new(0),
            parts: (0..parts)
                .map(|part| Apart(Part { next: AtomicU64::new(begin(part)), end: begin(part + 1) }))
                .collect(),
            progress: Apart(AtomicU64::new(0)),
        }
    }

    /// A worker begins. Gives its number.
    pub fn begin(&self) -> usize {
        let worker = self.begun.fetch_add(1, Ordering::Relaxed).min(self.standing.len() - 1);
        self.standing[worker].store(RUNNING, Ordering::SeqCst);
        worker
    }

    /// A worker that will not come.
    pub fn miss(&self) {
        let before = self.missing.fetch_add(1, Ordering::Relaxed);
        if let Some(last) = self.standing.len().checked_sub(before + 1) {
            self.standing[last].store(DONE, Ordering::SeqCst);
        }
    }

    /// Something could go on in a worker that may have waited.
    pub fn runs(&self, worker: usize) {
        if self.standing[worker].load(Ordering::Relaxed) != RUNNING {
            self.standing[worker].store(RUNNING, Ordering::SeqCst);
        }
    }

    /// A worker has nothing left to do, and has told its progress.
    pub fn done(&self, worker: usize) {
        self.standing[worker].store(DONE, Ordering::SeqCst);
    }

    /// The next clusters of a worker's part or, when none are left there, of the part that has most. `count` says how many
    /// to take where about so many are left.
    pub fn take(&self, worker: usize, count: impl Fn(u64) -> u64) -> std::ops::Range<u64> {
        let own = &self.parts[worker % self.parts.len()];
        let mut part = own;
        loop {
            let left = part.left();
            if left > 0 {
                // As if the others were as far, whose numbers would have to come from their cores.
                let count = count(left * self.parts.len() as u64);
                // Who sees that none is left must see that the worker that took the last one has begun.
                let first = part.next.fetch_add(count, Ordering::Release);
                if first < part.end {
                    return first..(first + count).min(part.end);
                }
            }
            part = self.parts.iter().max_by_key(|part| part.left()).unwrap_or(own);
            if part.left() == 0 {
                return 0..0;
            }
        }
    }

    /// Clusters that nobody took yet.
    pub fn left(&self) -> u64 {
        self.parts.iter().map(|part| part.left()).sum()
    }

    /// So many writes were made.
    pub fn progressed(&self, writes: u64) {
        // Who sees that there was progress must find in memory what it was.
        self.progress.fetch_add(writes, Ordering::Release);
    }

    pub fn progress(&self) -> u64 {
        self.progress.load(Ordering::SeqCst)
    }

    /// A worker's blocks can do nothing but wait until memory changes, which they looked at after `progress` was read. True
    /// when that is so of all workers, and no block is left for one that has not begun.
    pub fn all_wait(&self, worker: usize, progress: u64) -> bool {
        self.standing[worker].store(WAITING + progress, Ordering::SeqCst);
        // Of two that come here at the same time, one at least sees the other.
        fence(Ordering::SeqCst);
        let left = self.left() > 0;
        let all = self.standing.iter().all(|standing| match standing.load(Ordering::SeqCst) {
            RUNNING => false,
            NOT_BEGUN => !left,
            DONE => true,
            since => since == WAITING + progress,
        });
        // Last: what a worker wrote just before it was seen to be done, somebody may have waited for.
        all && self.progress() == progress
    }
}
