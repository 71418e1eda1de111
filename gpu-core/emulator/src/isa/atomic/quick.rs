//! Short ways for atomics of words. One that lies as the last one of its instruction did, at one place or in a row, is
//! followed as loads and stores are. One whose words lie anywhere in one array keeps their places as offsets in it, from
//! bounds to counters and checks: most of the long way is looking for patterns.

use super::Code;
use super::words::{Lie, Words, update_words, update_words_far};
use crate::exec::access::{AddressWord, window_from};
use crate::exec::cx::{Cx, watch};
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::WIDEST;
use crate::exec::lanes::is_spare;
use crate::exec::op::Op;
use crate::exec::quick::Shape;
use crate::exec::space::{Window, window_base};
use crate::isa::memory::RELEASE;
use crate::report::AccessKind;

/// Whether an atomic is one of [`update_words`], and nothing is asked for that only the long way knows.
#[inline(always)]
fn is_plain(cx: &Cx<'_>, op: &Op, code: Code) -> bool {
    let watched = cx.watch & !(watch::COUNT | watch::INIT | watch::RACE) == 0 && !cx.worker.quiet;
    code.word != 0
        && watched
        && !cx.block.guarded
        && (cx.watch & watch::RACE == 0 || op.e.0 & RELEASE == 0 && !cx.orders())
}

/// An atomic that can take a short way. None: it is another; nothing was done.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
pub unsafe fn update_quickly<const FORM: u8, A: AddressWord>(cx: &mut Cx<'_>, op: &Op, code: Code) -> Option<bool> {
    if const { is_spare(FORM) } || !is_plain(cx, op, code) {
        return None;
    }
    // SAFETY: passed on.
    unsafe {
        match code.word {
            4 => update_near::<FORM, A, 4>(cx, op, code),
            _ => update_near::<FORM, A, 8>(cx, op, code),
        }
    }
}

/// # Safety
/// As [`update_quickly`].
#[inline(always)]
unsafe fn update_near<const FORM: u8, A: AddressWord, const BYTES: u64>(
    cx: &mut Cx<'_>,
    op: &Op,
    code: Code,
) -> Option<bool> {
    // SAFETY: passed on; patterns live as long as the launch, and what follows one lies inside its array.
    unsafe {
        let followed = match cx.follow::<FORM, A>(op, BYTES) {
            Some(followed) => followed,
            #[cfg(target_arch = "x86_64")]
            None if FORM == WIDEST => return update_apart::<A, BYTES>(cx, op, code),
            None => return None,
        };
        let (lie, span) = match (*followed.pattern).shape {
            Shape::Same => (Lie::One, 0),
            Shape::Dense => (Lie::Row, 31 * BYTES),
            _ => return None,
        };
        let (window, region) = cx.place_followed(&followed);
        let generic = window_from(op.e.0) == Window::Generic;
        let low = if generic { followed.first - window_base(window) } else { followed.first };
        let (first, high) = (followed.pointer, low + span);
        let words = Words { first, address: low, low, high, mask: cx.mask, window, region, lie };
        let left = cx.count_followed(&followed);
        if left != 0 {
            cx.check_update::<FORM, BYTES>(op, &words, left);
        }
        let changed = match BYTES {
            4 => update_words::<FORM>(cx, op, code, &words),
            _ => update_words_far::<FORM>(cx, op, code, &words),
        };
        learn(cx, op, &words);
        Some(changed)
    }
}

/// What another block published at these places before the atomic.
#[inline(always)]
fn learn(cx: &mut Cx<'_>, op: &Op, words: &Words<'_>) {
    if cx.watch & watch::RACE != 0 && cx.orders() {
        cx.acquire_words(op, words);
    }
}

/// An atomic on words anywhere in one array of global or shared memory. None: it is another; nothing was done.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn update_apart<A: AddressWord, const BYTES: u64>(cx: &mut Cx<'_>, op: &Op, code: Code) -> Option<bool> {
    let mut offsets = [0; 32];
    // SAFETY: passed on; the words are found inside one array.
    unsafe {
        let words = find_apart::<A, BYTES>(cx, op, &mut offsets)?;
        if cx.mask == u32::MAX
            && let Some(runs) = words.runs(BYTES)
        {
            cx.remember(op, BYTES, words.window, &runs, AccessKind::Atomic);
        }
        if cx.watch & watch::COUNT != 0 {
            cx.count_update::<BYTES>(op, &words);
        }
        if cx.watch & !watch::COUNT != 0 {
            cx.check_update::<WIDEST, BYTES>(op, &words, cx.watch & !watch::COUNT);
        }
        let changed = update_words_far::<WIDEST>(cx, op, code, &words);
        learn(cx, op, &words);
        Some(changed)
    }
}

/// Finds words of `BYTES` that lie in one array, without fault; `offsets` is room for where they are.
///
/// # Safety
/// As [`update_apart`].
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn find_apart<'o, A: AddressWord, const BYTES: u64>(
    cx: &mut Cx<'_>,
    op: &Op,
    offsets: &'o mut [u32; 32],
) -> Option<Words<'o>> {
    use std::arch::x86_64::*;
    let mask = cx.mask;
    // SAFETY: slots of a decoded instruction.
    let row = unsafe { cx.row::<A>(op.a) };
    // SAFETY: as above.
    let lead = A::from_raw(unsafe { (*row)[mask.trailing_zeros() as usize & 31] }).plus(op.imm as u64);
    let mut window = window_from(op.e.0);
    let mut origin = 0;
    if window == Window::Generic {
        window = crate::exec::space::window_of(lead);
        origin = window_base(window);
    }
    let cell = op.site as usize & 63;
    let (base, bytes, pointer, region) = match window {
        Window::Global => {
            let region = cx.region(cell, lead).filter(|region| !region.freed && !region.read_only)?;
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
        Some(Words { first, address, low, high, mask, window, region, lie })
    }
}
