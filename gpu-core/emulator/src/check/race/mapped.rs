//! Accesses to shared memory by words with holes between them, as a map says whose they are.

use std::arch::x86_64::*;

use super::shadow::{FLAG, OTHER, SharedShadow, THREAD, THREAD_MASK, THREADS};
use crate::exec::lanes::WIDEST;
use crate::exec::memory::lay::{MAPPED, Map};

impl SharedShadow {
    /// An access by words of which each belongs to one lane, of those side by side from the lowest one on, by all lanes of the map
    /// or `some`: in `PARTS` of eight words, or (0) as many as there are. False: look closer; nothing was changed.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for; the words must be no more than the parts have.
    #[inline(always)]
    pub unsafe fn mapped<const FORM: u8, const WRITE: bool, const PARTS: usize>(
        &mut self,
        map: &Map,
        address: u64,
        some: Option<u32>,
        stamp: u64,
        floor: u64,
    ) -> bool {
        // SAFETY: passed on.
        unsafe {
            match FORM {
                WIDEST => self.mapped_widest::<WRITE, PARTS>(map, address, some, stamp, floor),
                _ => self.mapped_wide::<WRITE>(map, address, some.unwrap_or(u32::MAX), stamp, floor),
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn mapped_widest<const WRITE: bool, const PARTS: usize>(
        &mut self,
        map: &Map,
        address: u64,
        some: Option<u32>,
        stamp: u64,
        floor: u64,
    ) -> bool {
        let first = (address >> 2) as usize;
        let check = WRITE || self.written > floor;
        let words = usize::from(map.words);
        let (writes, reads) = (&mut self.writes[first..][..words], &mut self.reads[first..][..words]);
        let all = |value: u64| _mm512_set1_epi64(value as i64);
        let (floor, thread, flag) = (all(floor), all(THREAD_MASK), all(FLAG));
        // What lanes bring has no flag.
        let (others, thread_or_flag) = (all(THREADS << OTHER | FLAG), all(THREAD_MASK | FLAG));
        let (stamp, runs, one) = (all(stamp), all(some.unwrap_or(0).into()), all(1));
        // The cells of a part that lanes of the mask access, and what these leave there.
        // SAFETY: the map has whole parts.
        let lane_of =
            |part: usize| _mm512_cvtepu8_epi64(unsafe { _mm_loadl_epi64(map.lane_of.as_ptr().add(8 * part).cast()) });
        let here_of = |part: usize, lane: __m512i| {
            let touched = map.touched[part];
            if some.is_some() {
                _mm512_mask_test_epi64_mask(touched, _mm512_srlv_epi64(runs, lane), one)
            } else {
                touched
            }
        };
        let mine_of = |lane: __m512i| _mm512_add_epi64(stamp, _mm512_slli_epi64::<THREAD>(lane));
        // Of parts beyond the words no cell is touched.
        let parts = if PARTS > 0 { PARTS } else { words.div_ceil(8) };
        // SAFETY: only cells that lanes access are loaded and stored.
        unsafe {
            // Bits in which what is not in order differs from what these lanes bring.
            let mut bad = _mm512_setzero_si512();
            for part in 0..if check { parts } else { 0 } {
                let lane = lane_of(part);
                let (here, mine) = (here_of(part, lane), mine_of(lane));
                let write = _mm512_maskz_loadu_epi64(here, writes.as_ptr().wrapping_add(8 * part).cast());
                let late = _mm512_cmpgt_epu64_mask(write, floor);
                let other = _mm512_and_si512(_mm512_xor_si512(write, mine), thread);
                bad = _mm512_mask_or_epi64(bad, late, bad, other);
                if WRITE {
                    let read = _mm512_maskz_loadu_epi64(here, reads.as_ptr().wrapping_add(8 * part).cast());
                    let late = _mm512_cmpgt_epu64_mask(read, floor);
                    let other = _mm512_and_si512(_mm512_xor_si512(read, mine), thread_or_flag);
                    bad = _mm512_mask_or_epi64(bad, late, bad, other);
                }
            }
            if _mm512_test_epi64_mask(bad, bad) != 0 {
                return false;
            }
            for part in 0..parts {
                let lane = lane_of(part);
                let (here, mine) = (here_of(part, lane), mine_of(lane));
                let place = reads.as_mut_ptr().wrapping_add(8 * part);
                if WRITE {
                    _mm512_mask_storeu_epi64(writes.as_mut_ptr().wrapping_add(8 * part).cast(), here, mine);
                    _mm512_mask_storeu_epi64(place.cast(), here, _mm512_setzero_si512());
                    continue;
                }
                let old = _mm512_maskz_loadu_epi64(here, place.cast());
                let late = _mm512_cmpgt_epu64_mask(old, floor);
                let new = if late == 0 {
                    mine
                } else {
                    let other = _mm512_mask_test_epi64_mask(late, _mm512_xor_si512(old, mine), thread);
                    // By this lane before: what is known of others stays. By another one: this lane is the other.
                    let same = _mm512_or_si512(mine, _mm512_and_si512(old, others));
                    let me = _mm512_srli_epi64::<{ THREAD - OTHER }>(_mm512_and_si512(mine, thread));
                    let joined = _mm512_or_si512(_mm512_andnot_si512(others, old), _mm512_or_si512(me, flag));
                    _mm512_mask_mov_epi64(_mm512_mask_mov_epi64(mine, late, same), other, joined)
                };
                _mm512_mask_storeu_epi64(place.cast(), here, new);
            }
        }
        true
    }

    /// Four words at once; cells in holes are written as they were.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn mapped_wide<const WRITE: bool>(
        &mut self,
        map: &Map,
        address: u64,
        mask: u32,
        stamp: u64,
        floor: u64,
    ) -> bool {
        let first = (address >> 2) as usize;
        let check = WRITE || self.written > floor;
        // Behind the last cell there are enough for whole parts.
        let parts = usize::from(map.words).div_ceil(4);
        let writes = self.writes[first..][..4 * parts].as_mut_ptr().cast::<__m256i>();
        let reads = self.reads[first..][..4 * parts].as_mut_ptr().cast::<__m256i>();
        let all = |value: u64| _mm256_set1_epi64x(value as i64);
        let (stamp, thread, flag) = (all(stamp), all(THREAD_MASK), all(FLAG));
        let (others, zero) = (all(THREADS << OTHER | FLAG), _mm256_setzero_si256());
        // Comparisons have a sign.
        let (sign, floor) = (all(1 << 63), all(floor ^ 1 << 63));
        let late = |cell: __m256i| _mm256_cmpgt_epi64(_mm256_xor_si256(cell, sign), floor);
        // By its bits: of a blend with what a cell holds compilers make a masked store, which takes much longer.
        let pick = |yes: __m256i, no: __m256i, here: __m256i| {
            _mm256_or_si256(_mm256_and_si256(yes, here), _mm256_andnot_si256(here, no))
        };
        // SAFETY: this machine has AVX2.
        let running = unsafe { running(&map.lane_of, mask) };
        // Of a part: which of its cells lanes of the mask access, and what these leave there.
        let here_and_mine = |part: usize| {
            let of = |bytes: &[u8; MAPPED]| {
                // SAFETY: the map has whole parts.
                _mm_cvtsi32_si128(unsafe { bytes.as_ptr().add(4 * part).cast::<i32>().read_unaligned() })
            };
            let lane = _mm256_cvtepu8_epi64(of(&map.lane_of));
            (_mm256_cvtepi8_epi64(of(&running)), _mm256_add_epi64(stamp, _mm256_slli_epi64::<{ THREAD as i32 }>(lane)))
        };
        // SAFETY: the cells are there.
        unsafe {
            // Bits in which what is not in order differs from what these lanes bring, which has no flag.
            let mut bad = zero;
            for part in 0..if check { parts } else { 0 } {
                let (here, mine) = here_and_mine(part);
                let write = _mm256_loadu_si256(writes.add(part));
                let mut odd = _mm256_and_si256(late(write), _mm256_and_si256(_mm256_xor_si256(write, mine), thread));
                if WRITE {
                    let read = _mm256_loadu_si256(reads.add(part));
                    let other = _mm256_and_si256(_mm256_xor_si256(read, mine), _mm256_or_si256(thread, flag));
                    odd = _mm256_or_si256(odd, _mm256_and_si256(late(read), other));
                }
                bad = _mm256_or_si256(bad, _mm256_and_si256(odd, here));
            }
            if _mm256_testz_si256(bad, bad) == 0 {
                return false;
            }
            for part in 0..parts {
                let (here, mine) = here_and_mine(part);
                let (write, read) = (writes.add(part), reads.add(part));
                let old = _mm256_loadu_si256(read);
                if WRITE {
                    _mm256_storeu_si256(write, pick(mine, _mm256_loadu_si256(write), here));
                    _mm256_storeu_si256(read, _mm256_andnot_si256(here, old));
                    continue;
                }
                let late = late(old);
                let mut new = mine;
                if _mm256_testz_si256(late, here) == 0 {
                    // By this lane before: what is known of others stays. By another one: this lane is the other.
                    let same = _mm256_or_si256(mine, _mm256_and_si256(old, others));
                    let me = _mm256_srli_epi64::<{ (THREAD - OTHER) as i32 }>(_mm256_and_si256(mine, thread));
                    let joined = _mm256_or_si256(_mm256_andnot_si256(others, old), _mm256_or_si256(me, flag));
                    let own = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_xor_si256(old, mine), thread), zero);
                    new = _mm256_blendv_epi8(mine, _mm256_blendv_epi8(joined, same, own), late);
                }
                _mm256_storeu_si256(read, pick(new, old, here));
            }
        }
        true
    }
}

/// For each word of a map all ones where its lane is one of `mask`, else 0. As bytes in memory: where compilers
/// see that these come from comparisons, they make masks of masks of them.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn running(lane_of: &[u8; MAPPED], mask: u32) -> [u8; MAPPED] {
    let bytes = _mm256_broadcastsi128_si256(_mm_cvtsi32_si128(mask as i32));
    let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let seven = _mm256_set1_epi8(7);
    let mut running = [0; MAPPED];
    for part in 0..MAPPED / 32 {
        // SAFETY: 32 bytes of each.
        unsafe {
            let lane = _mm256_loadu_si256(lane_of.as_ptr().add(32 * part).cast());
            let byte = _mm256_and_si256(_mm256_srli_epi16::<3>(lane), seven);
            let bit = _mm256_shuffle_epi8(bits, _mm256_and_si256(lane, seven));
            let runs = _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(bytes, byte), bit), bit);
            _mm256_storeu_si256(running.as_mut_ptr().add(32 * part).cast(), runs);
        }
    }
    running
}
