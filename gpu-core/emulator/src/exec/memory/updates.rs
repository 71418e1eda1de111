//! Atomics of one warp as a whole, where several host threads run: one lock instead of an atomic instruction for each lane,
//! which would cost more than all the rest of the access.
//!
//! That holds only in arrays that the kernel writes by atomics alone ([`super::access::Region::only_updated`]): a store in
//! between, which asks no lock, would be lost.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exec::cx::Cx;
use crate::exec::order::{GIVE, TAKE};
use crate::exec::sched::waiting::Apart;
use crate::memory::space::Window;

/// Neighbouring bytes of one lock: a row of 32 words is mostly in one, and the rows of two host threads are not.
pub const STRIPE: u64 = 4096;
const LOCKS: usize = 64;
/// Tries before others get the core: who holds the lock may have lost it.
const TRIES: u32 = 200;

/// The locks of a launch.
#[derive(Debug)]
pub struct Updates([Apart<AtomicBool>; LOCKS]);

impl Default for Updates {
    fn default() -> Updates {
        Updates(std::array::from_fn(|_| Apart(AtomicBool::new(false))))
    }
}

/// Up to two locks that are held.
pub struct Held<'u>([Option<&'u AtomicBool>; 2]);

impl Updates {
    /// Locks the bytes from `low` to those at `high`. None: they are too far apart.
    #[inline(always)]
    pub fn hold(&self, low: u64, high: u64) -> Option<Held<'_>> {
        let (first, last) = (low / STRIPE, high / STRIPE);
        let lock = |stripe: u64| &*self.0[stripe as usize % LOCKS];
        if first == last {
            return Some(Held([Some(take(lock(first))), None]));
        }
        if last - first != 1 {
            return None;
        }
        // In one order everywhere, lest two wait for each other.
        let (one, two) = if (last as usize).is_multiple_of(LOCKS) { (last, first) } else { (first, last) };
        Some(Held([Some(take(lock(one))), Some(take(lock(two)))]))
    }
}

#[inline(always)]
fn take(lock: &AtomicBool) -> &AtomicBool {
    if lock.swap(true, TAKE) {
        wait(lock);
    }
    lock
}

#[cold]
#[inline(never)]
fn wait(lock: &AtomicBool) {
    let mut tries = 0;
    while lock.load(Ordering::Relaxed) || lock.swap(true, TAKE) {
        tries += 1;
        if tries % TRIES == 0 {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

impl Drop for Held<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        for lock in self.0.iter().flatten() {
            lock.store(false, GIVE);
        }
    }
}

/// How the atomics of a warp stay apart from those of other host threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Apartness {
    /// Nobody else is there.
    Alone,
    /// By the locks of [`Updates`].
    Locks,
    /// By atomic instructions.
    Each,
}

impl<'r> Cx<'r> {
    /// How atomics stay apart in a window, or in an array of global memory.
    #[inline(always)]
    pub fn apartness(&self, window: Window, region: u32) -> Apartness {
        // Shared and local memory is never that of two workers.
        if window != Window::Global {
            return Apartness::Alone;
        }
        let Some(region) = self.grid.regions.get(region as usize) else { return Apartness::Each };
        match self.grid.workers {
            1 if !region.of_host => Apartness::Alone,
            _ if region.only_updated => Apartness::Locks,
            _ => Apartness::Each,
        }
    }

    /// Locks the bytes from `low` to those at `high`. None: it is too much, or needs no locks.
    #[inline(always)]
    pub fn hold_updates(&self, apartness: Apartness, low: u64, high: u64) -> Option<Held<'r>> {
        if apartness != Apartness::Locks {
            return None;
        }
        let grid = self.grid;
        grid.updates.hold(low, high)
    }
}
