//! Order between blocks: what one block published through an atomic or a strong store, another that read it may see.
//!
//! A release stores, per location, the clocks of the releasing warp's view of its own block; an acquire remembers the
//! location and how much of it was there. Whether an old access is ordered before a new one of another block is asked
//! only when the shadow says they conflict.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::exec::access::{Addresses, Reach};
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::op::Op;
use crate::exec::space::Window;
use crate::isa::memory::{ACQUIRE, RELEASE};

/// One block's contribution to a location.
#[derive(Clone, Debug)]
struct Release {
    block: u64,
    /// Position in the location's history: an acquire sees those before its own.
    version: u32,
    clocks: [u32; 32],
    /// What the releasing block had acquired by then.
    acquired: u32,
}

#[derive(Debug, Default)]
struct Location {
    releases: Vec<Release>,
}

/// What a block has acquired: locations and versions, in order.
#[derive(Debug, Default)]
struct Acquired {
    seen: Vec<(u64, u32)>,
}

/// All locations that blocks synchronise through.
#[derive(Debug, Default)]
pub struct Syncs {
    inner: Mutex<Inner>,
    /// Something was released: without that, acquires need not look.
    any: std::sync::atomic::AtomicBool,
}

#[derive(Debug, Default)]
struct Inner {
    locations: HashMap<u64, Location>,
    acquired: HashMap<u64, Acquired>,
}

impl Syncs {
    fn release(&self, address: u64, block: u64, clocks: [u32; 32]) {
        self.any.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut inner = self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let acquired = inner.acquired.get(&block).map_or(0, |acquired| acquired.seen.len() as u32);
        let location = inner.locations.entry(address).or_default();
        let version = location.releases.len() as u32;
        // A block that releases again only adds to what it said before.
        if let Some(last) = location.releases.last_mut().filter(|last| last.block == block) {
            for (have, new) in last.clocks.iter_mut().zip(&clocks) {
                *have = (*have).max(*new);
            }
            last.acquired = acquired;
            return;
        }
        location.releases.push(Release { block, version, clocks, acquired });
    }

    fn acquire(&self, address: u64, block: u64) {
        if !self.any.load(std::sync::atomic::Ordering::Relaxed) {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(version) = inner.locations.get(&address).map(|location| location.releases.len() as u32) else {
            return;
        };
        let acquired = inner.acquired.entry(block).or_default();
        match acquired.seen.iter_mut().rev().find(|seen| seen.0 == address) {
            Some(seen) if seen.1 == version => {}
            Some(seen) => seen.1 = version,
            None => acquired.seen.push((address, version)),
        }
    }

    /// Whether an access by warp `warp` of block `from` at `clock` is ordered before what block `to` does now.
    /// `from` is compared modulo `alias`, as shadows keep only part of a block's number.
    pub fn ordered(&self, from: u64, alias: u64, warp: usize, clock: u32, to: u64) -> bool {
        let inner = self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(acquired) = inner.acquired.get(&to) else { return false };
        let mut todo: Vec<(u64, u32)> = acquired.seen.clone();
        let mut known: HashMap<u64, u32> = HashMap::new();
        while let Some((address, version)) = todo.pop() {
            let seen = known.entry(address).or_insert(0);
            let start = *seen;
            if version <= start {
                continue;
            }
            *seen = version;
            let Some(location) = inner.locations.get(&address) else { continue };
            for release in location.releases.iter().filter(|r| r.version >= start && r.version < version) {
                if release.block % alias == from % alias && release.clocks[warp] >= clock {
                    return true;
                }
                if release.acquired > 0
                    && let Some(more) = inner.acquired.get(&release.block)
                {
                    todo.extend(more.seen.iter().take(release.acquired as usize));
                }
            }
        }
        false
    }

    /// True when blocks synchronise at all.
    pub fn used_by(&self, block: u64) -> bool {
        let inner = self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        inner.acquired.contains_key(&block)
    }
}

impl Cx<'_> {
    fn watches_races(&self) -> bool {
        self.watch & watch::RACE != 0
    }

    /// Before an atomic or strong store: publishes what a fence (or the instruction's own `.release`) covers.
    pub fn release(&mut self, op: &Op, reach: &Reach, at: &Addresses) {
        if !self.watches_races() {
            return;
        }
        let mut clocks = None;
        if op.e.0 & RELEASE != 0 {
            let mut seen = self.warp.seen;
            let own = self.warp.index as usize;
            seen[own] = seen[own].max(self.warp.clock);
            let time = &mut self.block.time;
            self.warp.tick(time);
            clocks = Some(seen);
        } else if let Some(fence) = &self.warp.fence {
            clocks = Some(**fence);
        }
        let Some(clocks) = clocks else { return };
        for key in self.keys(reach, at) {
            if reach.window == Window::Shared {
                let entry = self.block.shared_syncs.entry(key).or_insert([0; 32]);
                for (have, new) in entry.iter_mut().zip(&clocks) {
                    *have = (*have).max(*new);
                }
            } else {
                self.grid.syncs.release(key, self.block.index, clocks);
            }
        }
    }

    /// After an atomic or strong load: learns what was published at its location.
    pub fn acquire(&mut self, reach: &Reach, at: &Addresses) {
        if !self.watches_races() {
            return;
        }
        for key in self.keys(reach, at) {
            if reach.window == Window::Shared {
                if let Some(clocks) = self.block.shared_syncs.get(&key).copied() {
                    self.warp.acquire(&clocks);
                }
            } else {
                // Own releases come back as well: warps of one block order each other this way too.
                self.grid.syncs.acquire(key, self.block.index);
                if let Some(clocks) = self.grid.syncs.own(key, self.block.index) {
                    self.warp.acquire(&clocks);
                }
            }
        }
    }

    fn keys(&self, reach: &Reach, at: &Addresses) -> Vec<u64> {
        if !matches!(reach.window, Window::Shared | Window::Global) {
            return Vec::new();
        }
        let mut keys: Vec<u64> = lanes(at.mask).map(|lane| at.at[lane] & !3).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// After a strong load. True: it polled often enough to give way.
    pub fn strong_load(&mut self, op: &Op, reach: &Reach, at: &Addresses) -> bool {
        let _ = ACQUIRE & op.e.0;
        self.acquire(reach, at);
        matches!(reach.window, Window::Shared | Window::Global) && self.polled()
    }

    pub fn strong_store(&mut self, op: &Op, reach: &Reach, at: &Addresses) {
        self.release(op, reach, at);
    }
}

impl Syncs {
    /// What the block itself published at a location.
    fn own(&self, address: u64, block: u64) -> Option<[u32; 32]> {
        if !self.any.load(std::sync::atomic::Ordering::Relaxed) {
            return None;
        }
        let inner = self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let location = inner.locations.get(&address)?;
        let mut sum: Option<[u32; 32]> = None;
        for release in location.releases.iter().filter(|release| release.block == block) {
            let sum = sum.get_or_insert([0; 32]);
            for (have, new) in sum.iter_mut().zip(&release.clocks) {
                *have = (*have).max(*new);
            }
        }
        sum
    }
}

impl Syncs {
    /// A block publishes everything it did so far at a key of its own kind (cluster barriers).
    pub fn publish(&self, key: u64, block: u64, clocks: [u32; 32]) {
        self.release(key, block, clocks);
    }

    /// A block learns what was published at such a key.
    pub fn learn(&self, key: u64, block: u64) {
        self.acquire(key, block);
    }
}
