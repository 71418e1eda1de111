//! Words of the lanes of a warp that lie anywhere in one array: found, counted and checked by their offsets in it, where there
//! is AVX-512. The long way makes a list of addresses of them first, and looks for patterns.

use std::arch::x86_64::*;

use super::access::{AddressWord, window_from};
use super::cx::{Cx, lanes, watch};
use super::lanes::blend;
use super::op::{Flow, Op};
use super::space::{Window, window_base, window_of};
use super::words::{Lie, Words};
use crate::report::AccessKind;

/// Whether nothing is asked for that only the long way knows.
#[inline(always)]
pub fn is_plain(cx: &Cx<'_>) -> bool {
    cx.watch & !(watch::COUNT | watch::INIT | watch::RACE) == 0 && !cx.worker.quiet && !cx.block.guarded
}

/// A weak load of a word a lane. None: it goes the long way; nothing was done.
///
/// # Safety
/// As [`super::op::Exec`]; the machine must have AVX-512.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn load_apart<A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    if !is_plain(cx) || op.d.is_none() {
        return None;
    }
    let mut offsets = [0; 32];
    // SAFETY: passed on; slots of a decoded instruction; the words are found inside one array.
    unsafe {
        let words = find_apart::<A, 4, false>(cx, op, &mut offsets)?;
        if cx.watch & !watch::COUNT != 0 && !cx.settles_words::<false>(op, &words) {
            return None;
        }
        if cx.watch & watch::COUNT != 0 {
            cx.count_words::<4>(op, &words, AccessKind::Read);
        }
        let mut out = [0u32; 32];
        match words.lie {
            Lie::One => out = [words.first.cast::<u32>().read(); 32],
            Lie::Apart(offsets) if words.mask == u32::MAX => {
                for lane in 0..32 {
                    out[lane] = words.first.add(offsets[lane] as usize).cast::<u32>().read();
                }
            }
            _ => {
                for lane in lanes(words.mask) {
                    let by = (words.at(lane, 4) - words.address) as usize;
                    out[lane] = words.first.add(by).cast::<u32>().read();
                }
            }
        }
        blend(words.mask, cx.row_mut::<u32>(op.d), &out);
    }
    Some(Flow::Next)
}

/// A weak store of a word a lane. None: it goes the long way; nothing was done.
///
/// # Safety
/// As [`load_apart`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn store_apart<A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    if !is_plain(cx) {
        return None;
    }
    let mut offsets = [0; 32];
    // SAFETY: passed on; slots of a decoded instruction; the words are found inside one array.
    unsafe {
        let words = find_apart::<A, 4, true>(cx, op, &mut offsets)?;
        if cx.watch & !watch::COUNT != 0 && !cx.settles_words::<true>(op, &words) {
            return None;
        }
        if cx.watch & watch::COUNT != 0 {
            cx.count_words::<4>(op, &words, AccessKind::Write);
        }
        let values = &*cx.row::<u32>(op.b);
        if words.falling {
            let part = |lane: usize| {
                let turned = _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
                _mm512_permutexvar_epi32(turned, _mm512_loadu_si512(values.as_ptr().add(lane).cast()))
            };
            let lowest = words.first.add((words.low - words.address) as usize);
            _mm512_storeu_si512(lowest.cast(), part(16));
            _mm512_storeu_si512(lowest.add(64).cast(), part(0));
            cx.worker.writes += 1;
            return Some(Flow::Next);
        }
        // Of lanes at one place the last one stays.
        for lane in lanes(words.mask) {
            let by = (words.at(lane, 4) - words.address) as usize;
            words.first.add(by).cast::<u32>().write(values[lane]);
        }
    }
    cx.worker.writes += 1;
    Some(Flow::Next)
}

/// Finds words of `BYTES` that lie in one array, without fault; `offsets` is room for where they are.
///
/// # Safety
/// As [`super::op::Exec`]; the machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn find_apart<'o, A: AddressWord, const BYTES: u64, const WRITE: bool>(
    cx: &mut Cx<'_>,
    op: &Op,
    offsets: &'o mut [u32; 32],
) -> Option<Words<'o>> {
    let mask = cx.mask;
    // SAFETY: slots of a decoded instruction.
    let row = unsafe { cx.row::<A>(op.a) };
    // SAFETY: as above.
    let lead = A::from_raw(unsafe { (*row)[mask.trailing_zeros() as usize & 31] }).plus(op.imm as u64);
    let mut window = window_from(op.e.0);
    let mut origin = 0;
    if window == Window::Generic {
        window = window_of(lead);
        origin = window_base(window);
    }
    let cell = op.site as usize & 63;
    let (base, bytes, pointer, region) = match window {
        Window::Global => {
            let region = cx.region(cell, lead).filter(|region| !(region.freed || WRITE && region.read_only))?;
            (region.base, region.end - region.base, region.pointer, region.shadow)
        }
        Window::Shared => {
            let low = lead - origin;
            if low >= 1 << 24 || !cx.shared_array(cell, low, low + BYTES) {
                return None;
            }
            let array = &cx.grid.shared_arrays[cx.worker.hit[cell] as usize];
            let (base, bytes) = (u64::from(array.base), u64::from(array.bytes));
            (base, bytes, cx.block.shared_pointer().wrapping_add(base as usize), 0)
        }
        _ => return None,
    };
    let limit = bytes.checked_sub(BYTES).filter(|limit| *limit < 1 << 31)?;
    let start = base + origin;
    // SAFETY: rows of 32 lanes; the machine has AVX-512.
    unsafe {
        // As two loads: addresses were mostly stored just before, in halves of this.
        let two = |from: *const __m256i| {
            let low = _mm512_castsi256_si512(_mm256_loadu_si256(from));
            _mm512_inserti64x4::<1>(low, _mm256_loadu_si256(from.add(1)))
        };
        let own = _mm512_set1_epi32(lead.wrapping_sub(start) as i32);
        let mut found = [own; 2];
        let mut bad = 0;
        if size_of::<A::Raw>() == 4 {
            let start = u32::try_from(start).ok()?;
            let (add, start) = (_mm512_set1_epi32(op.imm as i32), _mm512_set1_epi32(start as i32));
            let (limit, low) = (_mm512_set1_epi32(limit as i32), _mm512_set1_epi32(BYTES as i32 - 1));
            for half in 0..2 {
                let runs = (mask >> (16 * half)) as u16;
                let at = _mm512_add_epi32(two(row.cast::<u32>().add(16 * half).cast()), add);
                let offset = _mm512_sub_epi32(at, start);
                let odd = _mm512_test_epi32_mask(at, low) | _mm512_cmpgt_epu32_mask(offset, limit);
                bad |= u32::from(odd & runs);
                found[half] = _mm512_mask_mov_epi32(own, runs, offset);
            }
        } else {
            let (add, start) = (_mm512_set1_epi64(op.imm), _mm512_set1_epi64(start as i64));
            let (limit, low) = (_mm512_set1_epi64(limit as i64), _mm512_set1_epi64(BYTES as i64 - 1));
            for half in 0..2 {
                let mut narrow = [_mm256_setzero_si256(); 2];
                for (part, narrow) in narrow.iter_mut().enumerate() {
                    let first = 16 * half + 8 * part;
                    let at = _mm512_add_epi64(two(row.cast::<u64>().add(first).cast()), add);
                    let offset = _mm512_sub_epi64(at, start);
                    let odd = _mm512_test_epi64_mask(at, low) | _mm512_cmpgt_epu64_mask(offset, limit);
                    bad |= u32::from(odd) & mask >> first & 0xff;
                    *narrow = _mm512_cvtepi64_epi32(offset);
                }
                let offset = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(narrow[0]), narrow[1]);
                found[half] = _mm512_mask_mov_epi32(own, (mask >> (16 * half)) as u16, offset);
            }
        }
        if bad != 0 {
            return None;
        }
        let least = _mm512_reduce_min_epu32(_mm512_min_epu32(found[0], found[1]));
        let most = _mm512_reduce_max_epu32(_mm512_max_epu32(found[0], found[1]));
        let numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let first = _mm512_add_epi32(
            _mm512_set1_epi32(least as i32),
            _mm512_mullo_epi32(numbers, _mm512_set1_epi32(BYTES as i32)),
        );
        let second = _mm512_add_epi32(first, _mm512_set1_epi32(16 * BYTES as i32));
        let row = mask == u32::MAX
            && _mm512_cmpneq_epi32_mask(found[0], first) | _mm512_cmpneq_epi32_mask(found[1], second) == 0;
        // Each lane and its opposite in the row: their places add up to the same.
        let ends = _mm512_set1_epi32(least.wrapping_add(most) as i32);
        let falling = mask == u32::MAX
            && least != most
            && _mm512_cmpneq_epi32_mask(_mm512_sub_epi32(ends, found[0]), first)
                | _mm512_cmpneq_epi32_mask(_mm512_sub_epi32(ends, found[1]), second)
                == 0;
        let (by, lie) = match () {
            () if least == most => (least, Lie::One),
            () if row => (least, Lie::Row),
            () => {
                _mm512_storeu_si512(offsets.as_mut_ptr().cast(), found[0]);
                _mm512_storeu_si512(offsets.as_mut_ptr().add(16).cast(), found[1]);
                (0, Lie::Apart(offsets))
            }
        };
        let (low, high) = (base + u64::from(least), base + u64::from(most));
        let (first, address) = (pointer.wrapping_add(by as usize), base + u64::from(by));
        Some(Words { first, address, low, high, mask, window, region, lie, falling })
    }
}
