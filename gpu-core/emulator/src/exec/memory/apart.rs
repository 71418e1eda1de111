//! Words of the lanes of a warp that lie anywhere in one array: found, counted and checked by their offsets in it, where there
//! is AVX2. The long way makes a list of addresses of them first, and looks for patterns.

use std::arch::x86_64::*;

use super::access::{AddressWord, window_from};
use super::words::{Lie, Words};
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::lanes::{Bits, WIDE, WIDEST, blend};
use crate::exec::op::{Flow, Op};
use crate::memory::space::{Window, window_base, window_of};
use crate::report::AccessKind;

/// Whether nothing is asked for that only the long way knows.
#[inline(always)]
pub fn is_plain(cx: &Cx<'_>) -> bool {
    is_watched_plainly(cx) && !cx.block.state.guarded
}

/// The same but for what is asynchronous.
#[inline(always)]
pub fn is_watched_plainly(cx: &Cx<'_>) -> bool {
    cx.watch & !(watch::COUNT | watch::INIT | watch::RACE) == 0 && !cx.worker.quiet
}

/// A weak load of a word a lane. None: it goes the long way; nothing was done.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for, and that must not be [`crate::exec::lanes::BASE`].
#[inline(always)]
pub unsafe fn load_apart<const FORM: u8, A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe { if FORM == WIDEST { load_widest::<A>(cx, op) } else { load_wide::<A>(cx, op) } }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn load_widest<A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe { load_as::<WIDEST, A>(cx, op) }
}

#[inline(never)]
#[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn load_wide<A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe { load_as::<WIDE, A>(cx, op) }
}

/// # Safety
/// As [`load_apart`].
#[inline(always)]
unsafe fn load_as<const FORM: u8, A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    if !is_plain(cx) || op.d.is_none() {
        return None;
    }
    let mut offsets = [0; 32];
    // SAFETY: passed on; slots of a decoded instruction; the words are found inside one array.
    unsafe {
        let words = find_apart::<FORM, A, 4, false>(cx, op, &mut offsets)?;
        if cx.watch & !watch::COUNT != 0 && !cx.settles_words::<FORM, false>(op, &words) {
            return None;
        }
        if cx.watch & watch::COUNT != 0 {
            cx.count_words::<FORM, 4>(op, &words, AccessKind::Read);
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
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for, and that must not be [`crate::exec::lanes::BASE`].
#[inline(always)]
pub unsafe fn store_apart<const FORM: u8, A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe { if FORM == WIDEST { store_widest::<A>(cx, op) } else { store_wide::<A>(cx, op) } }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn store_widest<A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe { store_as::<WIDEST, A>(cx, op) }
}

#[inline(never)]
#[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn store_wide<A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe { store_as::<WIDE, A>(cx, op) }
}

/// # Safety
/// As [`store_apart`].
#[inline(always)]
unsafe fn store_as<const FORM: u8, A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    if !is_plain(cx) {
        return None;
    }
    let mut offsets = [0; 32];
    // SAFETY: passed on; slots of a decoded instruction; the words are found inside one array.
    unsafe {
        let words = find_apart::<FORM, A, 4, true>(cx, op, &mut offsets)?;
        if cx.watch & !watch::COUNT != 0 && !cx.settles_words::<FORM, true>(op, &words) {
            return None;
        }
        if cx.watch & watch::COUNT != 0 {
            cx.count_words::<FORM, 4>(op, &words, AccessKind::Write);
        }
        let values = &*cx.row::<u32>(op.b);
        if words.falling {
            let mut turned = *values;
            turned.reverse();
            let lowest = words.first.add((words.low - words.address) as usize);
            lowest.cast::<[u32; 32]>().write_unaligned(turned);
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
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
pub unsafe fn find_apart<'o, const FORM: u8, A: AddressWord, const BYTES: u64, const WRITE: bool>(
    cx: &mut Cx<'_>,
    op: &Op,
    offsets: &'o mut [u32; 32],
) -> Option<Words<'o>> {
    if !cx.grid.options.fast.gathers {
        return None;
    }
    let mask = cx.mask;
    // SAFETY: slots of a decoded instruction.
    let row = unsafe { &*cx.row::<A>(op.a) };
    let lead = A::from_raw(row[mask.trailing_zeros() as usize & 31]).plus(op.imm as u64);
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
    let own = lead.wrapping_sub(start) as u32;
    // SAFETY: as the caller says.
    let (least, most) = unsafe {
        match FORM {
            WIDEST => offsets_widest::<A, BYTES>(row, op.imm, start, limit, own, mask, offsets)?,
            _ => offsets_of::<A, BYTES>(row, op.imm, start, limit, own, mask, offsets)?,
        }
    };
    let (mut rising, mut sinking) = (0, 0);
    for lane in 0..32 {
        let place = least + lane as u32 * BYTES as u32;
        rising |= offsets[lane] ^ place;
        // Each lane and its opposite in the row: their places add up to the same.
        sinking |= least.wrapping_add(most).wrapping_sub(offsets[lane]) ^ place;
    }
    let falling = mask == u32::MAX && least != most && sinking == 0;
    let (by, lie) = match () {
        () if least == most => (least, Lie::One),
        () if mask == u32::MAX && rising == 0 => (least, Lie::Row),
        () => (0, Lie::Apart(offsets)),
    };
    let (low, high) = (base + u64::from(least), base + u64::from(most));
    let (first, address) = (pointer.wrapping_add(by as usize), base + u64::from(by));
    Some(Words { first, address, low, high, mask, window, region, lie, falling })
}

/// How far the words of `BYTES` at `row` and `imm` lie behind `start`, and the least and the most of that; lanes that do not run
/// are at `own`. None: one that runs is further than `limit`, or at no place for words.
#[inline(always)]
fn offsets_of<A: AddressWord, const BYTES: u64>(
    row: &[A::Raw; 32],
    imm: i64,
    start: u64,
    limit: u64,
    own: u32,
    mask: u32,
    offsets: &mut [u32; 32],
) -> Option<(u32, u32)> {
    let mut bad = 0;
    if size_of::<A::Raw>() == 4 {
        let (start, limit) = (u32::try_from(start).ok()?, limit as u32);
        for lane in 0..32 {
            let at = A::from_raw(row[lane]).plus(imm as u64) as u32;
            let offset = at.wrapping_sub(start);
            let odd = at & (BYTES as u32 - 1) | u32::from(offset > limit);
            bad |= odd.mix(0, mask, lane);
            offsets[lane] = offset.mix(own, mask, lane);
        }
    } else {
        for lane in 0..32 {
            let at = A::from_raw(row[lane]).plus(imm as u64);
            let offset = at.wrapping_sub(start);
            let odd = at & (BYTES - 1) | u64::from(offset > limit);
            bad |= (odd as u32).mix(0, mask, lane);
            offsets[lane] = (offset as u32).mix(own, mask, lane);
        }
    }
    let (mut least, mut most) = (u32::MAX, 0);
    for lane in 0..32 {
        least = least.min(offsets[lane]);
        most = most.max(offsets[lane]);
    }
    if bad == 0 { Some((least, most)) } else { None }
}

/// The same with AVX-512.
///
/// # Safety
/// The machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn offsets_widest<A: AddressWord, const BYTES: u64>(
    row: &[A::Raw; 32],
    imm: i64,
    start: u64,
    limit: u64,
    own: u32,
    mask: u32,
    offsets: &mut [u32; 32],
) -> Option<(u32, u32)> {
    // SAFETY: rows of 32 lanes; the machine has AVX-512.
    unsafe {
        // As two loads: addresses were mostly stored just before, in halves of this.
        let two = |from: *const __m256i| {
            let low = _mm512_castsi256_si512(_mm256_loadu_si256(from));
            _mm512_inserti64x4::<1>(low, _mm256_loadu_si256(from.add(1)))
        };
        let own = _mm512_set1_epi32(own as i32);
        let mut found = [own; 2];
        let mut bad = 0;
        if size_of::<A::Raw>() == 4 {
            let start = u32::try_from(start).ok()?;
            let (add, start) = (_mm512_set1_epi32(imm as i32), _mm512_set1_epi32(start as i32));
            let (limit, low) = (_mm512_set1_epi32(limit as i32), _mm512_set1_epi32(BYTES as i32 - 1));
            for half in 0..2 {
                let runs = (mask >> (16 * half)) as u16;
                let at = _mm512_add_epi32(two(row.as_ptr().cast::<u32>().add(16 * half).cast()), add);
                let offset = _mm512_sub_epi32(at, start);
                let odd = _mm512_test_epi32_mask(at, low) | _mm512_cmpgt_epu32_mask(offset, limit);
                bad |= u32::from(odd & runs);
                found[half] = _mm512_mask_mov_epi32(own, runs, offset);
            }
        } else {
            let (add, start) = (_mm512_set1_epi64(imm), _mm512_set1_epi64(start as i64));
            let (limit, low) = (_mm512_set1_epi64(limit as i64), _mm512_set1_epi64(BYTES as i64 - 1));
            for half in 0..2 {
                let mut narrow = [_mm256_setzero_si256(); 2];
                for (part, narrow) in narrow.iter_mut().enumerate() {
                    let first = 16 * half + 8 * part;
                    let at = _mm512_add_epi64(two(row.as_ptr().cast::<u64>().add(first).cast()), add);
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
        _mm512_storeu_si512(offsets.as_mut_ptr().cast(), found[0]);
        _mm512_storeu_si512(offsets.as_mut_ptr().add(16).cast(), found[1]);
        Some((least, most))
    }
}
