//! Accesses to shared memory in runs, settled at once where they agree with the shadow: loops without branches, which
//! become vector instructions. `[cell..][..count]` gives slices whose length the compiler knows, which
//! `[cell..cell + count]` does not: the last of its vectors would be done one by one.

use super::shadow::{CLOCK, FLAG, OTHER, SharedShadow, THREAD, THREAD_MASK, THREADS};
use crate::exec::access::Runs;

/// `stamp` of another lane of the warp.
#[inline(always)]
fn of_lane(stamp: u64, lane: usize) -> u64 {
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
fn join_read(old: u64, mine: u64, floor_clock: i64) -> u64 {
    let me = (mine & THREAD_MASK) >> (THREAD - OTHER);
    let joined = old & !(THREADS << OTHER) | me | FLAG;
    let own = mine | old & (FLAG | THREADS << OTHER);
    let both = if (old ^ mine) & THREAD_MASK == 0 { own } else { joined };
    let late = late(old, floor_clock);
    mine & !late | both & late
}

/// Accesses in runs, of `BYTES` a lane and `LANES` lanes a run (0: as many as the runs say). False: look closer; nothing was changed.
impl SharedShadow {
    /// First cell of a lane of a run, and the distance to the next lane's.
    #[inline(always)]
    fn run_cells(runs: &Runs, start: u64) -> (usize, usize) {
        ((start >> 2) as usize, (runs.step >> 2) as usize)
    }

    /// All lanes of each run read one place: its first and last lane stand for all.
    #[inline(always)]
    pub fn broadcast<const BYTES: u64>(&mut self, runs: &Runs, stamp: u64, floor: u64) -> bool {
        let floor_clock = (floor >> CLOCK) as i64;
        let words = (BYTES / 4) as usize;
        for start in runs.starts() {
            let (cell, _) = Self::run_cells(runs, *start);
            if self.writes[cell..][..words].iter().any(|write| *write > floor) {
                return false;
            }
        }
        let lanes = runs.width;
        for (group, start) in runs.starts().iter().enumerate() {
            let (cell, _) = Self::run_cells(runs, *start);
            let first = of_lane(stamp, group * lanes);
            let last = of_lane(stamp, (group + 1) * lanes - 1);
            for old in &mut self.reads[cell..][..words] {
                *old = if *old > floor && (*old ^ first) & THREAD_MASK != 0 {
                    join_read(*old, first, floor_clock)
                } else {
                    first | (last & THREAD_MASK) >> (THREAD - OTHER) | FLAG
                };
            }
        }
        true
    }

    #[inline(always)]
    pub fn read<const BYTES: u64, const LANES: usize>(&mut self, runs: &Runs, stamp: u64, floor: u64) -> bool {
        let floor_clock = (floor >> CLOCK) as i64;
        let words = (BYTES / 4) as usize;
        let lanes = if LANES == 0 { runs.width } else { LANES };
        let dense = runs.step == BYTES;
        let mut bad = 0;
        for (group, start) in runs.starts().iter().enumerate() {
            let (cell, step) = Self::run_cells(runs, *start);
            let stamp = of_lane(stamp, group * lanes);
            let foreign =
                |write: u64, lane: usize| late(write, floor_clock) & (write ^ of_lane(stamp, lane)) & THREAD_MASK;
            if dense {
                let writes = &self.writes[cell..][..lanes * words];
                for index in 0..lanes * words {
                    bad |= foreign(writes[index], index / words);
                }
            } else {
                let writes = &self.writes[cell..cell + (lanes - 1) * step + words];
                for lane in 0..lanes {
                    for word in 0..words {
                        bad |= foreign(writes[lane * step + word], lane);
                    }
                }
            }
        }
        if bad != 0 {
            return false;
        }
        for (group, start) in runs.starts().iter().enumerate() {
            let (cell, step) = Self::run_cells(runs, *start);
            let stamp = of_lane(stamp, group * lanes);
            if dense {
                let reads = &mut self.reads[cell..][..lanes * words];
                for index in 0..lanes * words {
                    reads[index] = join_read(reads[index], of_lane(stamp, index / words), floor_clock);
                }
            } else {
                let reads = &mut self.reads[cell..cell + (lanes - 1) * step + words];
                for lane in 0..lanes {
                    for word in 0..words {
                        let old = &mut reads[lane * step + word];
                        *old = join_read(*old, of_lane(stamp, lane), floor_clock);
                    }
                }
            }
        }
        true
    }

    #[inline(always)]
    pub fn write<const BYTES: u64, const LANES: usize>(&mut self, runs: &Runs, stamp: u64, floor: u64) -> bool {
        let floor_clock = (floor >> CLOCK) as i64;
        let words = (BYTES / 4) as usize;
        let lanes = if LANES == 0 { runs.width } else { LANES };
        let dense = runs.step == BYTES;
        // Lanes that write the same place race among themselves.
        let apart = runs.starts().windows(2).all(|pair| pair[1] >= pair[0] + lanes as u64 * runs.step.max(BYTES));
        if runs.step < BYTES || !apart {
            return false;
        }
        let mut bad = 0;
        for (group, start) in runs.starts().iter().enumerate() {
            let (cell, step) = Self::run_cells(runs, *start);
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
                    bad |= clash(writes[index], reads[index], index / words);
                }
            } else {
                let writes = &self.writes[cell..cell + (lanes - 1) * step + words];
                let reads = &self.reads[cell..cell + (lanes - 1) * step + words];
                for lane in 0..lanes {
                    for word in 0..words {
                        bad |= clash(writes[lane * step + word], reads[lane * step + word], lane);
                    }
                }
            }
        }
        if bad != 0 {
            return false;
        }
        for (group, start) in runs.starts().iter().enumerate() {
            let (cell, step) = Self::run_cells(runs, *start);
            let stamp = of_lane(stamp, group * lanes);
            if dense {
                for (index, write) in self.writes[cell..][..lanes * words].iter_mut().enumerate() {
                    *write = of_lane(stamp, index / words);
                }
                self.reads[cell..][..lanes * words].fill(0);
            } else {
                for lane in 0..lanes {
                    for word in 0..words {
                        self.writes[cell + lane * step + word] = of_lane(stamp, lane);
                        self.reads[cell + lane * step + word] = 0;
                    }
                }
            }
        }
        true
    }
}
