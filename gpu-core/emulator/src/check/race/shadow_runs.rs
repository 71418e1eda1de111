//! Accesses to shared memory in runs, settled at once where they agree with the shadow: loops without branches, which
//! become vector instructions. `[cell..][..count]` gives slices whose length the compiler knows, which
//! `[cell..cell + count]` does not: the last of its vectors would be done one by one.

use super::shadow::{CLOCK, FLAG, OTHER, SharedShadow, THREAD, THREAD_MASK, THREADS};
use crate::exec::memory::access::Runs;

/// `stamp` of another lane of the warp.
#[inline(always)]
pub fn of_lane(stamp: u64, lane: usize) -> u64 {
    stamp + ((lane as u64) << THREAD)
}

/// All ones for a cell that is not ordered before, else 0. Clocks have 28 bits, so that the difference has a sign, and
/// the sign makes a vector comparison.
#[inline(always)]
fn late(cell: u64, floor_clock: i64) -> u64 {
    ((floor_clock - (cell >> CLOCK) as i64) >> 63) as u64
}

/// A read of a cell by `mine` becomes part of what is known.
#[inline(always)]
pub fn join_read(old: u64, mine: u64, floor_clock: i64) -> u64 {
    let me = (mine & THREAD_MASK) >> (THREAD - OTHER);
    let joined = old & !(THREADS << OTHER) | me | FLAG;
    let own = mine | old & (FLAG | THREADS << OTHER);
    let both = if (old ^ mine) & THREAD_MASK == 0 { own } else { joined };
    let late = late(old, floor_clock);
    mine & !late | both & late
}

/// Lanes from `first` to `last` (their stamps), which are several, read a cell: what one after the other leaves.
#[inline(always)]
fn by_all(old: u64, first: u64, last: u64, floor: u64) -> u64 {
    let other = |thread: u64| (thread & THREAD_MASK) >> (THREAD - OTHER) | FLAG;
    let (was, low, high) = (old & THREAD_MASK, first & THREAD_MASK, last & THREAD_MASK);
    match () {
        () if old <= floor || was == low => first | other(last),
        () if was < low || was > high => old & !(THREADS << OTHER) | other(last),
        () if was == high => last | other(last - (1 << THREAD)),
        () => first & !THREAD_MASK | was | other(last),
    }
}

/// Does something for each lane and each of its `words`, of which there are as many as a power of two, in loops of which the
/// compiler knows how often they go round. A macro, since closures are left out of what is compiled for newer machines.
macro_rules! for_words {
    ($lanes:expr, $words:expr, $lane:ident, $word:ident, $body:block) => {
        match $words {
            1 => {
                for $lane in 0..$lanes {
                    let $word = 0;
                    $body
                }
            }
            2 => {
                for $lane in 0..$lanes {
                    for $word in 0..2 {
                        $body
                    }
                }
            }
            words => {
                for $lane in 0..$lanes {
                    for four in 0..words / 4 {
                        for $word in 4 * four..4 * four + 4 {
                            $body
                        }
                    }
                }
            }
        }
    };
}

/// Accesses in runs, `by` bytes on, of `BYTES` a lane and `LANES` lanes a run (0: as many as `bytes` and the runs say), which are
/// whole cells. With `BYTES` the cells are as [`SharedShadow::is_common`] says. False: look closer; nothing was changed.
impl SharedShadow {
    /// First cell of a lane of a run, and the distance to the next lane's.
    #[inline(always)]
    fn run_cells(&self, runs: &Runs, by: u64, start: u64) -> (usize, usize) {
        ((start.wrapping_add(by) >> self.shift) as usize, (runs.step >> self.shift) as usize)
    }

    /// Whether an access of `bytes` a lane is one cell a lane, or one of whole words by words.
    #[inline(always)]
    pub fn is_common(&self, bytes: u64) -> bool {
        self.shift == bytes.ilog2().min(2)
    }

    /// log2 of the cells of a lane.
    #[inline(always)]
    fn cells_of<const BYTES: u64>(&self, bytes: u64) -> u32 {
        match BYTES {
            0 => bytes.ilog2() - self.shift,
            1 | 2 => 0,
            _ => BYTES.ilog2() - 2,
        }
    }

    /// All 32 lanes read the cell at `first`.
    #[inline(always)]
    pub fn read_word(&mut self, first: u32, stamp: u64, floor: u64) -> bool {
        let cell = (first >> self.shift) as usize;
        let (Some(write), Some(read)) = (self.writes.get(cell), self.reads.get_mut(cell)) else { return false };
        if *write > floor {
            return false;
        }
        *read = by_all(*read, stamp, of_lane(stamp, 31), floor);
        true
    }

    /// Lanes read cells `step` bytes apart, the first one at `first`, none of which anybody accessed since all was in order.
    #[inline(always)]
    pub fn read_column(&mut self, first: u32, step: u64, stamp: u64, floor: u64) -> bool {
        let (cell, step) = ((first >> self.shift) as usize, (step >> self.shift) as usize);
        let span = 31 * step + 1;
        let Some(writes) = self.writes.get(cell..).and_then(|rest| rest.get(..span)) else { return false };
        let Some(reads) = self.reads.get_mut(cell..).and_then(|rest| rest.get_mut(..span)) else { return false };
        let mut last = 0;
        for lane in 0..32 {
            last = last.max(reads[lane * step]);
        }
        if self.written > floor {
            for lane in 0..32 {
                last = last.max(writes[lane * step]);
            }
        }
        if last > floor {
            return false;
        }
        for lane in 0..32 {
            reads[lane * step] = of_lane(stamp, lane);
        }
        true
    }

    /// All lanes of each run read one place: its first and last lane stand for all.
    #[inline(always)]
    pub fn broadcast<const BYTES: u64>(&mut self, runs: &Runs, by: u64, stamp: u64, floor: u64) -> bool {
        let words = if self.is_common(BYTES) { const { BYTES.div_ceil(4) } } else { BYTES >> self.shift } as usize;
        for start in if self.written > floor { runs.starts() } else { &[] } {
            let (cell, _) = self.run_cells(runs, by, *start);
            if self.writes[cell..][..words].iter().any(|write| *write > floor) {
                return false;
            }
        }
        let lanes = runs.width;
        for (group, start) in runs.starts().iter().enumerate() {
            let (cell, _) = self.run_cells(runs, by, *start);
            let first = of_lane(stamp, group * lanes);
            let last = of_lane(stamp, (group + 1) * lanes - 1);
            for old in &mut self.reads[cell..][..words] {
                *old = by_all(*old, first, last, floor);
            }
        }
        true
    }

    #[inline(always)]
    pub fn read<const BYTES: u64, const LANES: usize>(
        &mut self,
        runs: &Runs,
        by: u64,
        bytes: u64,
        stamp: u64,
        floor: u64,
    ) -> bool {
        let floor_clock = (floor >> CLOCK) as i64;
        let each = self.cells_of::<BYTES>(bytes);
        let words = 1 << each;
        let lanes = if LANES == 0 { runs.width } else { LANES };
        let dense = runs.step == bytes;
        let mut bad = 0;
        let starts = if self.written > floor { runs.starts() } else { &[] };
        for (group, start) in starts.iter().enumerate() {
            let (cell, step) = self.run_cells(runs, by, *start);
            let stamp = of_lane(stamp, group * lanes);
            let foreign =
                |write: u64, lane: usize| late(write, floor_clock) & (write ^ of_lane(stamp, lane)) & THREAD_MASK;
            if dense {
                let writes = &self.writes[cell..][..lanes * words];
                for index in 0..lanes * words {
                    bad |= foreign(writes[index], index >> each);
                }
            } else {
                let writes = &self.writes[cell..cell + (lanes - 1) * step + words];
                for_words!(lanes, words, lane, word, {
                    bad |= foreign(writes[lane * step + word], lane);
                });
            }
        }
        if bad != 0 {
            return false;
        }
        for (group, start) in runs.starts().iter().enumerate() {
            let (cell, step) = self.run_cells(runs, by, *start);
            let stamp = of_lane(stamp, group * lanes);
            if dense {
                let reads = &mut self.reads[cell..][..lanes * words];
                for index in 0..lanes * words {
                    reads[index] = join_read(reads[index], of_lane(stamp, index >> each), floor_clock);
                }
            } else {
                let reads = &mut self.reads[cell..cell + (lanes - 1) * step + words];
                for_words!(lanes, words, lane, word, {
                    let old = &mut reads[lane * step + word];
                    *old = join_read(*old, of_lane(stamp, lane), floor_clock);
                });
            }
        }
        true
    }

    #[inline(always)]
    pub fn write<const BYTES: u64, const LANES: usize>(
        &mut self,
        runs: &Runs,
        by: u64,
        bytes: u64,
        stamp: u64,
        floor: u64,
    ) -> bool {
        let floor_clock = (floor >> CLOCK) as i64;
        let each = self.cells_of::<BYTES>(bytes);
        let words = 1 << each;
        let lanes = if LANES == 0 { runs.width } else { LANES };
        let dense = runs.step == bytes;
        // Lanes that write the same place race among themselves.
        let least = lanes as u64 * runs.step.max(bytes);
        let apart = runs.starts().windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) as i64 >= least as i64);
        if runs.step < bytes || !apart {
            return false;
        }
        let mut bad = 0;
        for (group, start) in runs.starts().iter().enumerate() {
            let (cell, step) = self.run_cells(runs, by, *start);
            let stamp = of_lane(stamp, group * lanes);
            let clash = |write: u64, read: u64, lane: usize| {
                let mine = of_lane(stamp, lane);
                late(write, floor_clock) & (write ^ mine) & THREAD_MASK
                    | late(read, floor_clock) & ((read ^ mine) & THREAD_MASK | read & FLAG)
            };
            if dense {
                let writes = &self.writes[cell..][..lanes * words];
                let reads = &self.reads[cell..][..lanes * words];
                for index in 0..lanes * words {
                    bad |= clash(writes[index], reads[index], index >> each);
                }
            } else {
                let writes = &self.writes[cell..cell + (lanes - 1) * step + words];
                let reads = &self.reads[cell..cell + (lanes - 1) * step + words];
                for_words!(lanes, words, lane, word, {
                    bad |= clash(writes[lane * step + word], reads[lane * step + word], lane);
                });
            }
        }
        if bad != 0 {
            return false;
        }
        for (group, start) in runs.starts().iter().enumerate() {
            let (cell, step) = self.run_cells(runs, by, *start);
            let stamp = of_lane(stamp, group * lanes);
            if dense {
                for (index, write) in self.writes[cell..][..lanes * words].iter_mut().enumerate() {
                    *write = of_lane(stamp, index >> each);
                }
                self.reads[cell..][..lanes * words].fill(0);
            } else {
                let span = (lanes - 1) * step + words;
                let (writes, reads) = (&mut self.writes[cell..][..span], &mut self.reads[cell..][..span]);
                for_words!(lanes, words, lane, word, {
                    writes[lane * step + word] = of_lane(stamp, lane);
                    reads[lane * step + word] = 0;
                });
            }
        }
        true
    }
}
