//! What an access to words that lie anywhere costs, without the list of their addresses.

use super::{sectors, wavefronts};
use crate::exec::cx::Cx;
use crate::exec::lanes::WIDEST;
use crate::exec::memory::words::{Lie, Words};
use crate::exec::op::Op;
use crate::memory::space::Window;
use crate::report::AccessKind;

impl Cx<'_> {
    /// Counts an access to words of `BYTES`.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for, AVX2 at least.
    #[inline(always)]
    pub unsafe fn count_words<const FORM: u8, const BYTES: u64>(
        &mut self,
        op: &Op,
        words: &Words<'_>,
        kind: AccessKind,
    ) {
        let shared = words.window == Window::Shared;
        // SAFETY: as the caller says.
        let cost = unsafe {
            match words.lie {
                Lie::Apart(_) if !shared && words.falling => Some((words.high / 32 - words.low / 32 + 1, 0)),
                Lie::Apart(offsets) if !shared => {
                    Some((distinct::<FORM, 5>(offsets, words.address, words.high - words.low), 0))
                }
                Lie::Apart(offsets) if BYTES == 4 => few_rows(offsets, words).or_else(|| rows(offsets, words)),
                _ => None,
            }
        };
        let (cost, conflicts) = cost.unwrap_or_else(|| {
            let at = words.spread(BYTES);
            if shared { wavefronts(&at, BYTES) } else { (sectors(&at, BYTES), 0) }
        });
        let lanes = u64::from(words.mask.count_ones());
        self.add_access(op, if shared { 2 } else { 1 }, (cost, conflicts), BYTES * lanes, kind);
    }
}

/// Whether the lanes that run have a word each.
///
/// # Safety
/// The machine must have what `FORM` is for, AVX2 at least.
#[inline(always)]
pub unsafe fn are_distinct<const FORM: u8>(words: &Words<'_>) -> bool {
    match words.lie {
        Lie::One => words.mask.is_power_of_two(),
        Lie::Row => true,
        // Lanes that do not run are where the first one is.
        // SAFETY: passed on.
        Lie::Apart(offsets) => unsafe {
            distinct::<FORM, 2>(offsets, 0, words.high - words.low) == u64::from(words.mask.count_ones())
        },
    }
}

/// How many pieces of `1 << SHIFT` bytes the places are in, of which the last is `span` behind the first; `base` is where offset 0
/// is.
///
/// # Safety
/// The machine must have what `FORM` is for.
#[inline(always)]
unsafe fn distinct<const FORM: u8, const SHIFT: u32>(offsets: &[u32; 32], base: u64, span: u64) -> u64 {
    if FORM == WIDEST {
        // SAFETY: passed on.
        return unsafe { distinct_widest::<SHIFT>(offsets, base) };
    }
    let inside = base as u32 & ((1 << SHIFT) - 1);
    let mut pieces = [0; 64];
    for lane in 0..32 {
        pieces[32 + lane] = offsets[lane].wrapping_add(inside) >> SHIFT;
    }
    if span >> SHIFT < 63 {
        // Numbers that differ by less than 64 differ in their last six bits.
        let seen = pieces[32..].iter().fold(0, |seen, piece| seen | 1u64 << (piece & 63));
        return seen.count_ones().into();
    }
    // What is in no array stands before the first lane.
    pieces[..32].fill(u32::MAX);
    let mut known = [0; 32];
    for back in 1..32 {
        for lane in 0..32 {
            known[lane] |= u32::from(pieces[32 + lane] == pieces[32 + lane - back]).wrapping_neg();
        }
    }
    known.iter().map(|known| u64::from(!known & 1)).sum()
}

/// The same with AVX-512.
///
/// # Safety
/// The machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn distinct_widest<const SHIFT: u32>(offsets: &[u32; 32], base: u64) -> u64 {
    use std::arch::x86_64::*;
    let inside = _mm512_set1_epi32((base & ((1 << SHIFT) - 1)) as i32);
    // SAFETY: 16 offsets each.
    let part = |half: usize| unsafe {
        let offsets = _mm512_loadu_si512(offsets.as_ptr().add(16 * half).cast());
        _mm512_srli_epi32::<SHIFT>(_mm512_add_epi32(offsets, inside))
    };
    let (low, high) = (part(0), part(1));
    let zero = _mm512_setzero_si512();
    let new = |lanes: __m512i| _mm512_cmpeq_epi32_mask(_mm512_conflict_epi32(lanes), zero);
    let (first, mut second) = (new(low), new(high));
    let mut turned = low;
    for _ in 0..16 {
        second &= _mm512_cmpneq_epi32_mask(high, turned);
        turned = _mm512_alignr_epi32::<1>(turned, turned);
    }
    u64::from(first.count_ones() + second.count_ones())
}

/// Wavefronts and conflicts of words in no more than eight rows of 32: a byte for each bank holds its words, a bit each.
/// None: there are more rows.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn few_rows(offsets: &[u32; 32], words: &Words<'_>) -> Option<(u64, u64)> {
    use std::arch::x86_64::*;
    let lowest = words.low / 128;
    if words.high / 128 - lowest >= 8 {
        return None;
    }
    // Relative to the first row; below it only by what the array's own place is.
    let by = words.address.wrapping_sub(128 * lowest) as u32;
    let mut banks = [0u32; 32];
    let mut bits = [0u32; 32];
    for lane in 0..32 {
        let word = offsets[lane].wrapping_add(by) / 4;
        banks[lane] = word & 31;
        bits[lane] = 1 << (word / 32 & 31);
    }
    let mut rows = [0u8; 32];
    for lane in 0..32 {
        rows[(banks[lane] & 31) as usize] |= bits[lane] as u8;
    }
    // SAFETY: 32 bytes.
    unsafe {
        let rows = _mm256_loadu_si256(rows.as_ptr().cast());
        let counts = _mm256_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
        );
        let four = _mm256_set1_epi8(15);
        let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(rows, four));
        let high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(rows), four));
        let each = _mm256_add_epi8(low, high);
        let sums = _mm256_sad_epu8(each, _mm256_setzero_si256());
        let sums = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        let total = _mm_extract_epi64::<0>(sums) as u64 + _mm_extract_epi64::<1>(sums) as u64;
        let most = _mm_max_epu8(_mm256_castsi256_si128(each), _mm256_extracti128_si256::<1>(each));
        // The least of the opposites, of pairs of bytes.
        let most = _mm_max_epu8(most, _mm_srli_epi16::<8>(most));
        let most = _mm_and_si128(most, _mm_set1_epi16(255));
        let least = _mm_minpos_epu16(_mm_sub_epi16(_mm_set1_epi16(255), most));
        let most = 255 - (_mm_extract_epi16::<0>(least) as u64 & 255);
        Some((most, most - total.div_ceil(32)))
    }
}

/// The same of no more than 64 rows.
#[inline(always)]
fn rows(offsets: &[u32; 32], words: &Words<'_>) -> Option<(u64, u64)> {
    let lowest = words.low / 128;
    if words.high / 128 - lowest >= 64 {
        return None;
    }
    let by = words.address.wrapping_sub(128 * lowest) as u32;
    let mut rows = [0u64; 32];
    for offset in offsets {
        let word = offset.wrapping_add(by) / 4;
        rows[(word & 31) as usize] |= 1 << (word / 32 & 63);
    }
    let (mut total, mut most) = (0, 0);
    for bank in rows {
        let words = u64::from(bank.count_ones());
        total += words;
        most = words.max(most);
    }
    Some((most, most - total.div_ceil(32)))
}
