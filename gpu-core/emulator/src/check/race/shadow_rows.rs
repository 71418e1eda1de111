//! Accesses to shared memory by rows of cells, where there is AVX-512: what kernels do most. As the loops of
//! [`super::shadow_runs`], with which they agree in every bit.

use std::arch::x86_64::*;

use super::shadow::{FLAG, OTHER, SharedShadow, THREAD, THREAD_MASK, THREADS};
use crate::exec::memory::access::Runs;

/// Cells side by side, `EACH` for each of the first lanes.
impl SharedShadow {
    /// # Safety
    /// The machine must have AVX-512; `lanes` must be 32 at most, and is with `FULL`; `EACH` must be 1, 2 or 4.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
    pub unsafe fn read_row<const FULL: bool, const EACH: usize>(
        &mut self,
        first: u32,
        lanes: usize,
        stamp: u64,
        floor: u64,
    ) -> bool {
        let count = if FULL { 32 * EACH } else { lanes * EACH };
        let cell = (first >> self.shift) as usize;
        // Most reads come behind a barrier that all writes were before.
        let check = self.written > floor;
        let (writes, reads) = (&self.writes[cell..cell + count], &mut self.reads[cell..cell + count]);
        let all = |value: u64| _mm512_set1_epi64(value as i64);
        let (floor, thread, others) = (all(floor), all(THREAD_MASK), all(THREADS << OTHER | FLAG));
        let numbers = match EACH {
            1 => _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
            2 => _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3),
            _ => _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1),
        };
        let own = _mm512_add_epi64(all(stamp), _mm512_slli_epi64::<THREAD>(numbers));
        let next = all((8 / EACH as u64) << THREAD);
        let here = |part: usize| if FULL { 0xff } else { (0xff_u32 >> (8 - (count - 8 * part).min(8))) as u8 };
        let parts = count.div_ceil(8);
        // SAFETY: only cells of lanes that are there are loaded and stored.
        unsafe {
            let (mut bad, mut mine) = (0, own);
            for part in 0..if check { parts } else { 0 } {
                let write = _mm512_maskz_loadu_epi64(here(part), writes.as_ptr().add(8 * part).cast());
                let late = _mm512_cmpgt_epu64_mask(write, floor);
                bad |= _mm512_mask_test_epi64_mask(late, _mm512_xor_si512(write, mine), thread);
                mine = _mm512_add_epi64(mine, next);
            }
            if bad != 0 {
                return false;
            }
            let mut mine = own;
            for part in 0..parts {
                let place = reads.as_mut_ptr().add(8 * part);
                let old = _mm512_maskz_loadu_epi64(here(part), place.cast());
                let late = _mm512_cmpgt_epu64_mask(old, floor);
                let other = _mm512_mask_test_epi64_mask(late, _mm512_xor_si512(old, mine), thread);
                // By this lane before: what is known of others stays.
                let same = _mm512_or_si512(mine, _mm512_and_si512(old, others));
                // By another one: this lane is the other.
                let me = _mm512_srli_epi64::<{ THREAD - OTHER }>(_mm512_and_si512(mine, thread));
                let joined = _mm512_or_si512(_mm512_andnot_si512(others, old), _mm512_or_si512(me, all(FLAG)));
                let new = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(mine, late, same), other, joined);
                _mm512_mask_storeu_epi64(place.cast(), here(part), new);
                mine = _mm512_add_epi64(mine, next);
            }
        }
        true
    }

    /// # Safety
    /// As [`SharedShadow::read_row`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
    pub unsafe fn write_row<const FULL: bool, const EACH: usize>(
        &mut self,
        first: u32,
        lanes: usize,
        stamp: u64,
        floor: u64,
    ) -> bool {
        let count = if FULL { 32 * EACH } else { lanes * EACH };
        let cell = (first >> self.shift) as usize;
        let (writes, reads) = (&mut self.writes[cell..cell + count], &mut self.reads[cell..cell + count]);
        let all = |value: u64| _mm512_set1_epi64(value as i64);
        let (floor, thread, flag) = (all(floor), all(THREAD_MASK), all(FLAG));
        let numbers = match EACH {
            1 => _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
            2 => _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3),
            _ => _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1),
        };
        let own = _mm512_add_epi64(all(stamp), _mm512_slli_epi64::<THREAD>(numbers));
        let next = all((8 / EACH as u64) << THREAD);
        let here = |part: usize| if FULL { 0xff } else { (0xff_u32 >> (8 - (count - 8 * part).min(8))) as u8 };
        let parts = count.div_ceil(8);
        // SAFETY: only cells of lanes that are there are loaded and stored.
        unsafe {
            let (mut bad, mut mine) = (0, own);
            for part in 0..parts {
                let write = _mm512_maskz_loadu_epi64(here(part), writes.as_ptr().add(8 * part).cast());
                let read = _mm512_maskz_loadu_epi64(here(part), reads.as_ptr().add(8 * part).cast());
                let late = _mm512_cmpgt_epu64_mask(write, floor);
                bad |= _mm512_mask_test_epi64_mask(late, _mm512_xor_si512(write, mine), thread);
                let late = _mm512_cmpgt_epu64_mask(read, floor);
                bad |= _mm512_mask_test_epi64_mask(late, _mm512_xor_si512(read, mine), thread);
                bad |= _mm512_mask_test_epi64_mask(late, read, flag);
                mine = _mm512_add_epi64(mine, next);
            }
            if bad != 0 {
                return false;
            }
            let mut mine = own;
            for part in 0..parts {
                _mm512_mask_storeu_epi64(writes.as_mut_ptr().add(8 * part).cast(), here(part), mine);
                _mm512_mask_storeu_epi64(reads.as_mut_ptr().add(8 * part).cast(), here(part), _mm512_setzero_si512());
                mine = _mm512_add_epi64(mine, next);
            }
        }
        true
    }
}

/// The same of 2 or 4 rows, of half or a quarter of the lanes each: what blocks of 16 or 8 threads across do.
impl SharedShadow {
    /// # Safety
    /// The machine must have AVX-512; `EACH` must be 1, 2 or 4; the runs, `by` bytes on, must be of lanes side by side, and their
    /// cells there.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
    pub unsafe fn rows<const WRITE: bool, const EACH: usize>(
        &mut self,
        runs: &Runs,
        by: u64,
        stamp: u64,
        floor: u64,
    ) -> bool {
        // Lanes that write the same place race among themselves.
        let least = runs.width as u64 * runs.step;
        let apart = |pair: &[u64]| pair[1].wrapping_sub(pair[0]) as i64 >= least as i64;
        if WRITE && !runs.starts().windows(2).all(apart) {
            return false;
        }
        let check = WRITE || self.written > floor;
        let all = |value: u64| _mm512_set1_epi64(value as i64);
        let (floor, thread, flag) = (all(floor), all(THREAD_MASK), all(FLAG));
        let others = all(THREADS << OTHER | FLAG);
        let numbers = match EACH {
            1 => _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
            2 => _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3),
            _ => _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1),
        };
        let own = _mm512_add_epi64(all(stamp), _mm512_slli_epi64::<THREAD>(numbers));
        let next = all((8 / EACH as u64) << THREAD);
        // A group has 8 lanes at least: whole parts.
        let parts = runs.width * EACH / 8;
        let (writes, reads) = (self.writes.as_mut_ptr(), self.reads.as_mut_ptr());
        let first = |start: u64| (start.wrapping_add(by) >> self.shift) as usize;
        // SAFETY: as the caller says.
        unsafe {
            let (mut bad, mut mine) = (0, own);
            for start in if check { runs.starts() } else { &[] } {
                for part in 0..parts {
                    let cell = first(*start) + 8 * part;
                    let write = _mm512_loadu_epi64(writes.add(cell).cast());
                    let late = _mm512_cmpgt_epu64_mask(write, floor);
                    bad |= _mm512_mask_test_epi64_mask(late, _mm512_xor_si512(write, mine), thread);
                    if WRITE {
                        let read = _mm512_loadu_epi64(reads.add(cell).cast());
                        let late = _mm512_cmpgt_epu64_mask(read, floor);
                        bad |= _mm512_mask_test_epi64_mask(late, _mm512_xor_si512(read, mine), thread);
                        bad |= _mm512_mask_test_epi64_mask(late, read, flag);
                    }
                    mine = _mm512_add_epi64(mine, next);
                }
            }
            if bad != 0 {
                return false;
            }
            let mut mine = own;
            for start in runs.starts() {
                for part in 0..parts {
                    let place = reads.add(first(*start) + 8 * part).cast();
                    if WRITE {
                        _mm512_storeu_epi64(writes.add(first(*start) + 8 * part).cast(), mine);
                        _mm512_storeu_epi64(place, _mm512_setzero_si512());
                    } else {
                        let old = _mm512_loadu_epi64(place);
                        let late = _mm512_cmpgt_epu64_mask(old, floor);
                        let other = _mm512_mask_test_epi64_mask(late, _mm512_xor_si512(old, mine), thread);
                        // As in a single row.
                        let same = _mm512_or_si512(mine, _mm512_and_si512(old, others));
                        let me = _mm512_srli_epi64::<{ THREAD - OTHER }>(_mm512_and_si512(mine, thread));
                        let joined = _mm512_or_si512(_mm512_andnot_si512(others, old), _mm512_or_si512(me, flag));
                        let new = _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(mine, late, same), other, joined);
                        _mm512_storeu_epi64(place, new);
                    }
                    mine = _mm512_add_epi64(mine, next);
                }
            }
        }
        true
    }
}
