//! Loads and stores that lie as the last one of their instruction did, in no runs ([`super::lay`]).

use std::arch::x86_64::*;

use super::access::AddressWord;
use super::lay::{Lay, Recalled};
use super::transfer::{Element, deals, is_word};
use crate::exec::cx::{Cx, each_lane, watch};
use crate::exec::lanes::{BASE, WIDE, WIDEST, Word, blend_as};
use crate::exec::op::{Flow, Op, Slot};
use crate::memory::space::Window;
use crate::report::AccessKind;

/// Whether accesses of vectors of `vector` are remembered that lie in no runs.
pub const fn recalls<const FORM: u8>(vector: usize) -> bool {
    FORM != BASE && vector <= 4
}

/// Whether nothing is asked for that only the long way knows.
#[inline(always)]
fn is_plain<const WRITE: bool>(cx: &Cx<'_>, recalled: &Recalled) -> bool {
    // SAFETY: lays stay where they are as long as the launch.
    let lay = unsafe { &*recalled.lay };
    cx.watch & !(watch::COUNT | watch::INIT | watch::RACE) == 0
        && !cx.worker.quiet
        && match lay.window {
            Window::Shared => cx.is_quiet(recalled.address, recalled.address + lay.rise + u64::from(lay.bytes), WRITE),
            _ => cx.is_quiet_outside(),
        }
}

/// Finds, counts and checks a weak access that lies as the last one of its instruction did: the lowest place, and how far above it
/// each lane is. None: it goes the other ways; nothing was done.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
pub unsafe fn recalled<const FORM: u8, A: AddressWord, const WRITE: bool>(
    cx: &mut Cx<'_>,
    op: &Op,
) -> Option<(*mut u8, *const [i32; 32])> {
    // SAFETY: passed on.
    unsafe {
        let recalled = cx.recall::<FORM, A>(op)?;
        if cx.watch != 0 && !(is_plain::<WRITE>(cx, &recalled) && cx.settles_recalled::<FORM, WRITE>(op, &recalled)) {
            return None;
        }
        (*recalled.lay).note_use();
        Some((recalled.pointer, &raw const (*recalled.lay).offsets))
    }
}

/// A weak load. None: it goes the other ways; nothing was done.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
pub unsafe fn load_recalled<const FORM: u8, E: Element, A: AddressWord, const V: usize>(
    cx: &mut Cx<'_>,
    op: &Op,
) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe {
        match FORM {
            WIDEST => load_widest::<E, A, V>(cx, op),
            _ => load_wide::<E, A, V>(cx, op),
        }
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn load_widest<E: Element, A: AddressWord, const V: usize>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe { load_as::<WIDEST, E, A, V>(cx, op) }
}

#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn load_wide<E: Element, A: AddressWord, const V: usize>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe { load_as::<WIDE, E, A, V>(cx, op) }
}

/// # Safety
/// As [`load_recalled`].
#[inline(always)]
unsafe fn load_as<const FORM: u8, E: Element, A: AddressWord, const V: usize>(
    cx: &mut Cx<'_>,
    op: &Op,
) -> Option<Flow> {
    // SAFETY: passed on; the places of all lanes that the lay knows lie in one array, and the lowest one is that of the others.
    unsafe {
        let recalled = cx.recall::<FORM, A>(op)?;
        if cx.watch != 0 && !(is_plain::<false>(cx, &recalled) && cx.settles_recalled::<FORM, false>(op, &recalled)) {
            return None;
        }
        let lay = recalled.lay;
        (*lay).note_use();
        let offsets = &raw const (*lay).offsets;
        if const { is_word::<FORM, E>(V) } && (*lay).near && !op.d.is_none() {
            load_near(&*lay, recalled.pointer.cast(), cx.mask, cx.row_mut::<u32>(op.d));
            return Some(Flow::Next);
        }
        if const { is_word::<WIDEST, E>(V) } && !op.d.is_none() {
            let to = cx.row_mut::<u32>(op.d).cast::<i32>();
            if FORM == WIDEST {
                let low = apart(recalled.pointer, offsets.cast());
                let high = if (*lay).twice { low } else { apart(recalled.pointer, offsets.cast::<i32>().add(16)) };
                _mm512_mask_storeu_epi32(to, cx.mask as u16, low);
                _mm512_mask_storeu_epi32(to.add(16), (cx.mask >> 16) as u16, high);
                return Some(Flow::Next);
            }
            for first in [0, 8] {
                let low = eight(recalled.pointer, offsets.cast::<i32>().add(first));
                let high = match (*lay).twice {
                    true => low,
                    false => eight(recalled.pointer, offsets.cast::<i32>().add(first + 16)),
                };
                put_eight(cx.mask >> first, to.add(first).cast(), low);
                put_eight(cx.mask >> (first + 16), to.add(first + 16).cast(), high);
            }
            return Some(Flow::Next);
        }
        let slots: &[Slot] = if V == 1 { &[op.d] } else { &cx.image().list(op)[..V] };
        if const { V == 2 && deals::<FORM, E>(V) } && !slots.contains(&Slot::NONE) {
            let rows = [0, 1].map(|index| cx.row_mut::<u32>(slots[index]));
            load_pairs(recalled.pointer, offsets.cast(), cx.mask, rows);
            return Some(Flow::Next);
        }
        for (index, slot) in slots.iter().enumerate() {
            if slot.is_none() {
                continue;
            }
            let mut out = [E::Row::ZERO; 32];
            if (*lay).twice {
                for lane in 0..16 {
                    let from = recalled.pointer.add((*offsets)[lane] as usize).cast::<E>().cast_const();
                    let value = from.add(index).read_unaligned().load().to_raw();
                    (out[lane], out[lane + 16]) = (value, value);
                }
                blend_as::<FORM, _>(cx.mask, cx.row_mut::<E::Row>(*slot), &out);
                continue;
            }
            for lane in 0..32 {
                let from = recalled.pointer.add((*offsets)[lane] as usize).cast::<E>().cast_const();
                out[lane] = from.add(index).read_unaligned().load().to_raw();
            }
            blend_as::<FORM, _>(cx.mask, cx.row_mut::<E::Row>(*slot), &out);
        }
    }
    Some(Flow::Next)
}

/// Words at 8 places, one by one: that is faster than the machine's own instruction for it, and in a register at once, where
/// an array of them would have to be written before it can be read as a whole.
///
/// # Safety
/// The words must be there; the machine must have AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn eight(from: *const u8, offsets: *const i32) -> __m256i {
    // SAFETY: as the caller says.
    let at = |lane: usize| unsafe { from.add(*offsets.add(lane) as usize).cast::<i32>().read_unaligned() };
    let four = |lane: usize| _mm_setr_epi32(at(lane), at(lane + 1), at(lane + 2), at(lane + 3));
    _mm256_setr_m128i(four(0), four(4))
}

/// Writes those of 8 words that `mask` has a bit for.
///
/// # Safety
/// `to` must point into a row; the machine must have AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn put_eight(mask: u32, to: *mut __m256i, words: __m256i) {
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    let here = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(mask as i32), bits), bits);
    // As in `blend_as`, they are not to see that it is the same place.
    // SAFETY: as the caller says.
    unsafe { _mm256_storeu_si256(std::hint::black_box(to), _mm256_blendv_epi8(_mm256_loadu_si256(to), words, here)) };
}

/// Words at 16 places.
///
/// # Safety
/// As [`eight`]; the machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn apart(from: *const u8, offsets: *const i32) -> __m512i {
    // SAFETY: as the caller says.
    unsafe { _mm512_inserti64x4::<1>(_mm512_castsi256_si512(eight(from, offsets)), eight(from, offsets.add(8))) }
}

/// Loads a pair of words for each lane of `mask`.
///
/// # Safety
/// The words of all lanes must be there, `rows` must be rows; the machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn load_pairs(from: *const u8, offsets: *const i32, mask: u32, rows: [*mut [u32; 32]; 2]) {
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    // SAFETY: as the caller says.
    unsafe {
        let at = |lane: usize| from.add(*offsets.add(lane) as usize).cast::<i64>().read_unaligned();
        let eight = |first: usize| {
            let at = |lane: usize| at(first + lane);
            _mm512_setr_epi64(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))
        };
        for half in 0..2 {
            let (low, high) = (eight(16 * half), eight(16 * half + 8));
            for (row, which) in rows.iter().zip([even, odd]) {
                let words = _mm512_permutex2var_epi32(low, which, high);
                _mm512_mask_storeu_epi32(row.cast::<i32>().add(16 * half), (mask >> (16 * half)) as u16, words);
            }
        }
    }
}

/// The opposite; of lanes at one place the last one stays.
///
/// # Safety
/// As [`load_pairs`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn store_pairs(rows: [*const [u32; 32]; 2], mask: u32, to: *mut u8, offsets: &[i32; 32]) {
    let first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    let second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    let mut pairs = [0u64; 32];
    // SAFETY: as the caller says.
    unsafe {
        for half in 0..2 {
            let [low, high] = rows.map(|row| _mm512_loadu_si512(row.cast::<i32>().add(16 * half).cast()));
            let out = pairs.as_mut_ptr().add(16 * half).cast::<i64>();
            _mm512_storeu_epi64(out, _mm512_permutex2var_epi32(low, first, high));
            _mm512_storeu_epi64(out.add(8), _mm512_permutex2var_epi32(low, second, high));
        }
        let store = |lane: usize| to.add(offsets[lane & 31] as usize).cast::<u64>().write_unaligned(pairs[lane & 31]);
        each_lane(mask, store);
    }
}

/// Loads a word for each lane of `mask` from no more than 32 words, which are taken into registers at once.
///
/// # Safety
/// The words that the lay covers must be there from `from` on; `row` must be a row; the machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn load_near(lay: &Lay, from: *const i32, mask: u32, row: *mut [u32; 32]) {
    let there = u32::MAX >> (32 - u32::from(lay.map.words));
    // SAFETY: as the caller says; what lies beyond the words is not touched.
    unsafe {
        let low = _mm512_maskz_loadu_epi32(there as u16, from);
        let high = _mm512_maskz_loadu_epi32((there >> 16) as u16, from.wrapping_add(16));
        for half in 0..2 {
            let offsets = _mm512_loadu_si512(lay.offsets.as_ptr().add(16 * half).cast());
            let words = _mm512_permutex2var_epi32(low, _mm512_srli_epi32::<2>(offsets), high);
            let to = row.cast::<i32>().add(16 * half);
            let old = _mm512_loadu_si512(to.cast());
            _mm512_storeu_si512(to.cast(), _mm512_mask_mov_epi32(old, (mask >> (16 * half)) as u16, words));
        }
    }
}

/// The opposite, to words of which each belongs to one lane.
///
/// # Safety
/// As [`load_near`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn store_near(lay: &Lay, row: *const [u32; 32], mask: u32, to: *mut i32) {
    // SAFETY: as the caller says; only words of lanes that run are touched, and the map has 32 at least.
    unsafe {
        let low = _mm512_loadu_si512(row.cast());
        let high = _mm512_loadu_si512(row.cast::<i32>().add(16).cast());
        let (runs, one) = (_mm512_set1_epi32(mask as i32), _mm512_set1_epi32(1));
        for half in 0..2 {
            let lane = _mm512_cvtepu8_epi32(_mm_loadu_si128(lay.map.lane_of.as_ptr().add(16 * half).cast()));
            let touched = u16::from_le_bytes([lay.map.touched[2 * half], lay.map.touched[2 * half + 1]]);
            let here = _mm512_mask_test_epi32_mask(touched, _mm512_srlv_epi32(runs, lane), one);
            let words = _mm512_permutex2var_epi32(low, lane, high);
            _mm512_mask_storeu_epi32(to.wrapping_add(16 * half), here, words);
        }
    }
}

/// A weak store. None: it goes the other ways; nothing was done.
///
/// # Safety
/// As [`load_recalled`].
#[inline(always)]
pub unsafe fn store_recalled<const FORM: u8, E: Element, A: AddressWord, const V: usize>(
    cx: &mut Cx<'_>,
    op: &Op,
) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe {
        match FORM {
            WIDEST => store_widest::<E, A, V>(cx, op),
            _ => store_wide::<E, A, V>(cx, op),
        }
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn store_widest<E: Element, A: AddressWord, const V: usize>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe { store_as::<WIDEST, E, A, V>(cx, op) }
}

#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn store_wide<E: Element, A: AddressWord, const V: usize>(cx: &mut Cx<'_>, op: &Op) -> Option<Flow> {
    // SAFETY: passed on.
    unsafe { store_as::<WIDE, E, A, V>(cx, op) }
}

/// # Safety
/// As [`load_recalled`].
#[inline(always)]
unsafe fn store_as<const FORM: u8, E: Element, A: AddressWord, const V: usize>(
    cx: &mut Cx<'_>,
    op: &Op,
) -> Option<Flow> {
    // SAFETY: as for loads; lanes that run are among those that the lay knows.
    unsafe {
        let recalled = cx.recall::<FORM, A>(op)?;
        if cx.watch != 0 && !(is_plain::<true>(cx, &recalled) && cx.settles_recalled::<FORM, true>(op, &recalled)) {
            return None;
        }
        let lay = recalled.lay;
        (*lay).note_use();
        let offsets = &raw const (*lay).offsets;
        if const { is_word::<FORM, E>(V) } && (*lay).near {
            store_near(&*lay, cx.row::<u32>(op.b), cx.mask, recalled.pointer.cast());
            cx.worker.writes += 1;
            return Some(Flow::Next);
        }
        let slots: &[Slot] = if V == 1 { &[op.b] } else { &cx.image().list(op)[..V] };
        if const { V == 2 && deals::<FORM, E>(V) } {
            let rows = [0, 1].map(|index| cx.row::<u32>(slots[index]));
            store_pairs(rows, cx.mask, recalled.pointer, &*offsets);
            cx.worker.writes += 1;
            return Some(Flow::Next);
        }
        // Of lanes at one place the last one stays.
        for (index, slot) in slots.iter().enumerate() {
            let row = cx.row::<E::Row>(*slot);
            let store = |lane: usize| {
                let to = recalled.pointer.add((*offsets)[lane & 31] as usize).cast::<E>();
                to.add(index).write_unaligned(E::store(E::Row::from_raw((*row)[lane & 31])));
            };
            each_lane(cx.mask, store);
        }
    }
    cx.worker.writes += 1;
    Some(Flow::Next)
}

/// Remembers how an access lies of which nothing was known. Out of line, so that the common access stays short.
///
/// # Safety
/// As [`load_recalled`].
#[inline(never)]
pub unsafe fn note_anew<A: AddressWord>(cx: &mut Cx<'_>, op: &Op, bytes: u64, kind: AccessKind) {
    // SAFETY: passed on.
    unsafe { cx.note_lay::<A>(op, bytes, kind) };
}
