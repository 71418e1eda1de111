//! Who updated which words of global memory atomically. The shadow knows the newest write of a place; of atomics, which
//! order nothing among themselves, each of the others may still be to come for a reader that nothing puts behind it: a
//! total that the last block reads must have been added to by all of them.
//!
//! Only launches in which some load fetches a part of a result keep this list ([`crate::build`], `fetched.rs`): a plain load
//! that looks ahead may find any value. A block's updates lie in the part of its number, so that workers seldom wait for each
//! other.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Conflict, Conflicts, GlobalRaces};
use crate::check::race::pages::*;
use crate::check::race::rules::{Effect, Mine};
use crate::exec::cx::{Cx, lanes};
use crate::exec::memory::access::{Addresses, Reach};
use crate::exec::op::Op;
use crate::memory::space::Window;
use crate::report::AccessKind;

const PARTS: usize = 16;
/// Updates of one warp at one word that are remembered, at most: each takes 8 bytes and a little.
const MOST: usize = 1 << 21;
/// Questions whether one of those is ordered before a read: about half a second of them.
const PATIENCE: usize = 1 << 22;
/// Entries that are looked through for those of the own block, which mostly are the last ones.
const RECENT: usize = 64;

/// By allocation and word: the last update of each warp, as a cell.
type Part = HashMap<(usize, u64), Vec<u64>>;

#[derive(Default)]
pub(crate) struct Updaters {
    parts: [Mutex<Part>; PARTS],
    noted: AtomicUsize,
    asked: AtomicUsize,
}

impl Updaters {
    fn part(&self, index: usize) -> std::sync::MutexGuard<'_, Part> {
        self.parts[index % PARTS].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn note(&self, table: usize, word: u64, cell: u64) {
        let mut part = self.part((cell >> BLOCK) as usize);
        let entries = part.entry((table, word)).or_default();
        let from = entries.len().saturating_sub(RECENT);
        let same = |known: &&mut u64| (**known ^ cell) >> BLOCK == 0 && thread_of(**known) / 32 == thread_of(cell) / 32;
        if let Some(known) = entries[from..].iter_mut().find(same) {
            *known = cell;
        } else if self.noted.fetch_add(1, Ordering::Relaxed) < MOST {
            entries.push(cell);
        }
    }

    /// The first update of a word for which `open` holds.
    fn find(&self, table: usize, word: u64, open: impl Fn(u64) -> bool) -> Option<u64> {
        (0..PARTS).find_map(|index| {
            let part = self.part(index);
            let entries = part.get(&(table, word))?;
            if self.asked.fetch_add(entries.len(), Ordering::Relaxed) > PATIENCE {
                return None;
            }
            entries.iter().copied().find(|cell| open(*cell))
        })
    }
}

impl GlobalRaces {
    /// Whether an access has to do with the list at all.
    #[inline(always)]
    pub(crate) fn follows_updates(&self, mine: &Mine) -> bool {
        match mine.effect {
            Effect::Atomic => mine.updates && mine.stores,
            Effect::Read => mine.fetches,
            Effect::Write => false,
        }
    }

    /// Remembers an atomic, or finds the updates that a read does not come behind.
    #[cold]
    #[inline(never)]
    pub(crate) fn follow_updates<const BYTES: u64>(
        &self,
        cx: &Cx<'_>,
        reach: &Reach,
        at: &Addresses,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        let table = reach.shadow as usize;
        for lane in lanes(at.mask) {
            let first = at.at[lane] - reach.base;
            let stamp = with_thread(mine.stamp, thread_of(mine.stamp) + lane as u64);
            for word in first / 4..(first + BYTES).div_ceil(4) {
                if mine.effect == Effect::Atomic {
                    self.updaters.note(table, word, stamp | mine.atomic_kind());
                } else if let Some(cell) = self.unfollowed(cx, table, word, mine, thread_of(stamp)) {
                    conflicts.push(Conflict { lane, cell, stale: false });
                    break;
                }
            }
        }
    }

    /// An update of a word that is not ordered before what thread `me` does.
    pub(crate) fn unfollowed(&self, cx: &Cx<'_>, table: usize, word: u64, mine: &Mine, me: u64) -> Option<u64> {
        self.updaters.find(table, word, |cell| {
            let (thread, clock) = (thread_of(cell), clock_of(cell));
            let own = cell >> BLOCK == mine.block;
            if own && thread == me || mine.before(cx, cell, thread as usize / 32, clock) {
                return false;
            }
            let beside = own && thread / 32 == u64::from(cx.warp.index);
            !(beside && cx.warp.met(thread as u32, clock + cx.block.base_time, me as u32))
        })
    }

    /// A relaxed load of data that others may still be updating: no data race, and the number may be unfinished.
    #[cold]
    #[inline(never)]
    pub fn note_unfinished(&self, cx: &mut Cx<'_>, op: &Op, reach: &Reach, at: &Addresses) {
        let Some(mine) = self.mine::<4>(cx, op, reach, AccessKind::Read, false) else { return };
        let table = reach.shadow as usize;
        let found = lanes(at.mask).find_map(|lane| {
            let me = thread_of(mine.stamp) + lane as u64;
            let cell = self.unfollowed(cx, table, (at.at[lane] - reach.base) / 4, &mine, me)?;
            Some((lane, cell))
        });
        let Some((lane, cell)) = found else { return };
        let image = cx.image();
        let site = (cell >> SITE) as u32 & SITES;
        let other = image.sites.get(site as usize).filter(|_| site != 0);
        let updated = other.map_or("an unknown line".to_owned(), |site| image.place(site.pc));
        let name = cx.locate(Window::Global, at.at[lane], 4).1.map_or("memory".to_owned(), |a| format!("`{}`", a.name));
        cx.grid.note(format!(
            "{} stores a value made of {name}, which it reads by a relaxed load, while other threads may still update it at \
             {updated}: no data race, but the number may be unfinished; have all updates done first (a fence and a counter, \
             or another launch)",
            image.place(cx.pc)
        ));
    }
}
