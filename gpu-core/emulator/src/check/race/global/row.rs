//! What lies in one sector of a row of lanes, and what is known of a sector that nobody else has touched.

use super::bytes_of;
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

/// What is known of a sector that only a piece has touched: reads and writes.
#[inline(always)]
pub fn halves(piece: &Piece, mine: &Mine) -> (Half, Half) {
    match mine.effect {
        Effect::Read => (piece.half(READ), Half::NONE),
        Effect::Write => (Half::NONE, piece.half(WRITTEN)),
        Effect::Atomic => (Half::NONE, piece.half(mine.atomic_kind())),
    }
}
