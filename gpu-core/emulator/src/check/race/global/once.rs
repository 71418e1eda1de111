//! What nobody touched in this launch: most large arrays are touched once, and there is nothing to compare with.

use super::{At, GlobalRaces, bytes_of};
use crate::check::race::pages::*;
use crate::check::race::rules::{Effect, Mine, Piece};

/// Lanes side by side, `thread` the first of them, which access the bytes from `first` to `end`.
pub struct Row {
    pub first: u64,
    pub end: u64,
    pub thread: u64,
    /// Each sector is one lane's.
    pub single: bool,
}

impl Row {
    /// What lies in one of its sectors.
    #[inline(always)]
    pub fn piece(&self, number: u64, mine: &Mine) -> Piece {
        // Threads count from the first byte of the sector, also where the row begins behind it.
        let passed = (number * SECTOR).wrapping_sub(self.first) as i64 >> mine.grain;
        Piece {
            mask: bytes_of(number, self.first, self.end),
            unit: mine.grain,
            stamp: with_thread(mine.stamp, self.thread.wrapping_add(passed as u64)),
            single: self.single,
            many: false,
        }
    }
}

impl GlobalRaces {
    /// The first sectors of a row, up to one that somebody touched, which it gives, or the one behind the last. Pieces that
    /// nobody refers to stay in registers.
    #[inline(always)]
    pub(crate) fn start_row(&self, at: &mut At<'_>, row: &Row, mine: &Mine) -> u64 {
        let mut number = row.first / SECTOR;
        if !self.fast.first_touch {
            return number;
        }
        while number * SECTOR < row.end {
            let Some(page) = at.page(number) else { break };
            let entry = page.entry(number);
            if entry.is_of(self.pages.generation) {
                break;
            }
            if !at.locked {
                at.lock();
                // Another worker may have come first.
                if entry.is_of(self.pages.generation) {
                    break;
                }
            }
            let (read, write) = halves(&row.piece(number, mine), mine);
            entry.start(self.pages.generation, read, write);
            number += 1;
        }
        number
    }

    /// The first lanes of an access whose lanes lie whole sectors apart, as long as nobody touched those: most large arrays
    /// are touched once. Gives how many lanes that were.
    #[inline(always)]
    pub(crate) fn start_apart(&self, at: &mut At<'_>, first: u64, step: u64, lane_0: &Piece, mine: &Mine) -> usize {
        if !self.fast.first_touch {
            return 0;
        }
        let (read, write) = halves(lane_0, mine);
        let thread = thread_of(lane_0.stamp);
        for lane in 0..32 {
            let number = first / SECTOR + lane * (step / SECTOR);
            let Some(page) = at.page(number) else { return lane as usize };
            let entry = page.entry(number);
            if entry.is_of(self.pages.generation) {
                return lane as usize;
            }
            if !at.locked {
                at.lock();
                if entry.is_of(self.pages.generation) {
                    return lane as usize;
                }
            }
            let own = |half: Half| match half.mask {
                0 => half,
                _ => Half { stamp: with_thread(half.stamp, thread + lane), ..half },
            };
            entry.start(self.pages.generation, own(read), own(write));
        }
        32
    }
}

/// What is known of a sector that only a piece has touched: reads and writes.
#[inline(always)]
pub fn halves(piece: &Piece, mine: &Mine) -> (Half, Half) {
    match mine.effect {
        Effect::Read => (piece.half(READ), Half::NONE),
        Effect::Write => (Half::NONE, piece.half(WRITTEN)),
        Effect::Atomic => (Half::NONE, piece.half(mine.atomic_kind())),
    }
}
