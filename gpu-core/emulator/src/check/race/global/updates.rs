//! Atomics on words of global memory. Where threads of all kinds update neighbouring words, a sector has a cell for each, and
//! an atomic on words that only atomics have written since just puts itself there.

use super::{At, Conflict, Conflicts, GlobalRaces, bytes_of};
use crate::check::race::pages::*;
use crate::check::race::rules::{Mine, Piece, step};
use crate::exec::cx::Cx;

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
