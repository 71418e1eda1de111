//! Atomics on words of global memory. Where threads of all kinds update neighbouring words, a sector has a cell for each, and
//! an atomic on words that only atomics have written since just puts itself there.

use std::sync::atomic::Ordering;

use super::{At, Conflict, Conflicts, GlobalRaces, bytes_of, report};
use crate::check::race::pages::*;
use crate::check::race::rules::{Mine, Piece, atomic, is_atomic, step};
use crate::exec::cx::{Cx, lanes};
use crate::exec::memory::access::Reach;
use crate::exec::memory::flags::CTA;
use crate::exec::memory::words::{Lie, Words};
use crate::exec::op::Op;
use crate::report::AccessKind;

impl GlobalRaces {
    /// An atomic on whole words of a sector that has cells. False: settle it; nothing was changed.
    #[inline(always)]
    pub(crate) fn update_cells(
        &self,
        cx: &Cx<'_>,
        page: Page<'_>,
        entry: &Entry,
        piece: &Piece,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) -> bool {
        // SAFETY: locked, or this is the only worker.
        let Some(cells) = (unsafe { self.pages.words(page, entry.write()) }) else { return false };
        // The reads that a strong store may race with lie elsewhere.
        if !is_words(piece.mask) || mine.stores && entry.read().mask & piece.mask != 0 {
            return false;
        }
        let new = piece.half(0);
        let mut left = piece.mask;
        while left != 0 {
            let byte = left.trailing_zeros();
            left &= !(15 << byte);
            let stamp = new.cell(byte) & !KIND;
            if let Some(old) = step(cx, &mut cells[byte as usize / 4], &mut 0, stamp, false, mine) {
                let lane = (thread_of(stamp).wrapping_sub(thread_of(mine.stamp)) & 31) as usize;
                if conflicts.last().is_none_or(|last| last.stale || last.lane != lane) {
                    conflicts.push(Conflict { lane, cell: old, stale: false });
                }
            }
        }
        true
    }

    /// Checks an atomic on words of `BYTES`.
    #[inline(always)]
    pub fn update<const BYTES: u64>(&self, cx: &mut Cx<'_>, op: &Op, reach: &Reach, words: &Words<'_>) {
        if cx.grid.regions[words.region as usize].only_atomic.load(Ordering::Relaxed) && op.e.0 & CTA == 0 {
            return;
        }
        if matches!(words.lie, Lie::One) {
            cx.note_number(words.mask, words.low);
        }
        match words.lie {
            Lie::Row if let Some(runs) = words.runs(BYTES) => {
                self.access_runs::<BYTES>(cx, op, reach, &runs, AccessKind::Atomic);
            }
            Lie::Apart(_) => self.update_apart::<BYTES>(cx, op, reach, words),
            _ => {
                if !self.update_one::<BYTES>(cx, op, reach, words) {
                    self.access::<BYTES>(cx, op, reach, &words.spread(BYTES), AccessKind::Atomic);
                }
            }
        }
    }

    /// All lanes at one place, which only atomics of such scope have written: the last one stays known. False: nothing was
    /// done.
    #[inline(always)]
    fn update_one<const BYTES: u64>(&self, cx: &mut Cx<'_>, op: &Op, reach: &Reach, words: &Words<'_>) -> bool {
        let Some(mine) = self.mine::<BYTES>(cx, op, reach, AccessKind::Atomic, true) else { return false };
        self.note_update::<BYTES>(cx, reach, words, &mine);
        let mut at = self.at(reach);
        let first = words.low - reach.base;
        let number = first / SECTOR;
        let Some(page) = at.page(number) else { return false };
        let entry = page.entry(number);
        let lane = 31 - words.mask.leading_zeros() as usize & 31;
        let piece = lane_piece(&mine, number, first, BYTES, lane);
        at.lock();
        if !entry.is_of(self.pages.generation) || entry.others().mask != 0 {
            return false;
        }
        if mine.stores && entry.read().mask & piece.mask != 0 {
            return false;
        }
        let old = entry.write();
        // SAFETY: locked, or this is the only worker.
        if let Some(cells) = unsafe { self.pages.words(page, old) } {
            let stamp = with_thread(mine.stamp, thread_of(mine.stamp) + lane as u64);
            let those = &mut cells[(first % SECTOR / 4) as usize..][..(BYTES / 4) as usize];
            let settled = those.iter().all(|cell| is_atomic(*cell, &mine));
            if settled {
                those.fill(stamp | mine.atomic_kind());
            }
            return settled;
        }
        let known = !old.is_cells() && piece.mask & !old.mask == 0 && is_atomic(old.stamp, &mine);
        known && atomic(cx, entry, &piece, &mine)
    }

    /// Words that lie anywhere, lane by lane.
    #[inline(always)]
    fn update_apart<const BYTES: u64>(&self, cx: &mut Cx<'_>, op: &Op, reach: &Reach, words: &Words<'_>) {
        let Some(mine) = self.mine::<BYTES>(cx, op, reach, AccessKind::Atomic, true) else { return };
        self.note_update::<BYTES>(cx, reach, words, &mine);
        let mut conflicts = Conflicts::new();
        let mut place = self.at(reach);
        for lane in lanes(words.mask) {
            place.pages.prefetch(place.table, (words.at(lane, BYTES) - reach.base) / SECTOR);
        }
        for lane in lanes(words.mask) {
            let first = words.at(lane, BYTES) - reach.base;
            let number = first / SECTOR;
            let Some(page) = place.page(number) else { continue };
            let entry = page.entry(number);
            // Where threads of all kinds meet, a sector has cells.
            let unread = !mine.stores || entry.read().mask & bytes_of(number, first, first + BYTES) == 0;
            if unread && entry.is_of(self.pages.generation) {
                place.lock();
                // SAFETY: locked, or this is the only worker.
                if let Some(cells) = unsafe { self.pages.words(page, entry.write()) } {
                    let those = &mut cells[(first % SECTOR / 4) as usize..][..(BYTES / 4) as usize];
                    if those.iter().all(|cell| is_atomic(*cell, &mine)) {
                        those.fill(with_thread(mine.stamp, thread_of(mine.stamp) + lane as u64) | mine.atomic_kind());
                        continue;
                    }
                }
            }
            let piece = lane_piece(&mine, number, first, BYTES, lane);
            self.piece(cx, &mut place, page, number, piece, &mine, &mut conflicts);
        }
        drop(place);
        if !conflicts.is_empty() {
            report::<BYTES>(cx, op, &words.spread(BYTES), AccessKind::Atomic, &mine, conflicts);
        }
    }
}

/// Whether the last writes of a place that lies in one sector are known to be atomics of this very access.
#[inline(always)]
pub(crate) fn knows_atomic(at: &At<'_>, first: u64, bytes: u64, mine: &Mine) -> bool {
    let Some((_, page)) = at.page else { return false };
    let write = page.entry(first / SECTOR).write();
    let place = bytes_of(first / SECTOR, first, first + bytes);
    let own = (write.stamp ^ mine.stamp) >> SITE == 0 && write.kind() == mine.atomic_kind();
    own && !write.is_cells() && place & !write.mask == 0
}

/// What one lane touches of a sector.
#[inline(always)]
pub(crate) fn lane_piece(mine: &Mine, number: u64, first: u64, bytes: u64, lane: usize) -> Piece {
    let mask = bytes_of(number, first, first + bytes);
    let thread = thread_of(mine.stamp) + lane as u64;
    // Sizes that are no power of two have no unit of their own.
    let unit = if bytes.is_power_of_two() { mine.grain } else { ONE };
    let passed = u64::from(mask.trailing_zeros() >> unit);
    let stamp = with_thread(mine.stamp, thread.wrapping_sub(passed));
    Piece { mask, unit, stamp, single: true, many: false }
}
