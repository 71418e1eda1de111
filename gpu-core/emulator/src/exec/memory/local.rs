//! Accesses to local memory that name it: arrays that a thread indexes, and what registers had no room for. Each lane has a part
//! of its own, so that all there is to find out is whether it stays inside, and what was written there. What is not plain
//! goes the way of all other accesses, which also says what is wrong.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::access::{AddressWord, Addresses};
use super::transfer::{Element, Load, STRONG, Store};
use crate::exec::cx::{Cx, lanes, watch};
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::WIDEST;
use crate::exec::lanes::{Body, Word, exec_widest, is_spare};
use crate::exec::op::{Exec, Flow, Op, Slot};
use crate::report::AccessKind;

/// Where the lanes of an access go.
struct Places {
    /// Bytes into the warp's local memory; of lanes that do not run as of one that does, but in their own parts.
    at: [i32; 32],
    all: Addresses,
}

/// Finds out where lanes go that stay inside their parts. Nothing is counted or checked.
///
/// # Safety
/// As [`Exec`].
#[inline(always)]
unsafe fn places<A: AddressWord>(cx: &Cx<'_>, op: &Op, bytes: u64) -> Option<Places> {
    let frame = cx.warp.splits[cx.warp.current].frame;
    let last = u64::from(cx.warp.frame(frame).local_top).checked_sub(bytes)?;
    let (mask, stride, offset) = (cx.mask, cx.warp.local_stride, op.imm as u64);
    let (mut own, mut at) = ([0u64; 32], [0i32; 32]);
    let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
    // SAFETY: slots of a decoded instruction.
    let base = unsafe { &*cx.row::<A>(op.a) };
    let first = A::from_raw(base[mask.trailing_zeros() as usize & 31]).plus(offset);
    for lane in 0..32 {
        let here = A::from_raw(base[lane]).plus(offset);
        let keep = (u64::from(mask >> lane) & 1).wrapping_neg();
        let here = first ^ ((here ^ first) & keep);
        own[lane] = here;
        low = low.min(here);
        high = high.max(here);
        bits |= here;
        at[lane] = (here as u32).wrapping_add(lane as u32 * stride) as i32;
    }
    if high > last || bits & (bytes - 1) != 0 {
        return None;
    }
    Some(Places { at, all: Addresses { at: own, mask, low, high, contiguous: false } })
}

/// Lanes some of whose bytes were never written, of those that run.
#[inline(always)]
fn unwritten(cx: &mut Cx<'_>, places: &Places, bytes: u64) -> u32 {
    let bits = cx.warp.local_init.as_mut_ptr().cast::<u64>();
    let want = u64::MAX >> (64 - bytes);
    let mut missing = 0;
    for lane in 0..32 {
        let bit = places.at[lane] as u32;
        // SAFETY: one bit for each byte of local memory, and places lie in it. Aligned, they are inside one word.
        let word = unsafe { bits.add(bit as usize / 64).read() };
        missing |= u32::from(!(word >> (bit % 64)) & want != 0) << lane;
    }
    missing & places.all.mask
}

/// Finds, checks and counts an access of `bytes`. None: nothing was done.
///
/// # Safety
/// As [`Exec`].
#[inline(always)]
unsafe fn find<A: AddressWord, const WRITE: bool>(cx: &mut Cx<'_>, op: &Op, bytes: u64) -> Option<Places> {
    if op.e.0 & STRONG != 0 || cx.watch & watch::TRACE != 0 || !cx.grid.options.fast.local_arrays {
        return None;
    }
    // SAFETY: passed on.
    let places = unsafe { places::<A>(cx, op, bytes) }?;
    if cx.watch & watch::INIT != 0 {
        let missing = unwritten(cx, &places, bytes);
        if missing != 0 && !WRITE {
            return None;
        }
        for lane in lanes(missing) {
            let bit = places.at[lane] as u32;
            *cx.warp.local_init[bit as usize / 64].get_mut() |= (u64::MAX >> (64 - bytes)) << (bit % 64);
        }
    }
    if cx.watch & watch::COUNT != 0 && !cx.worker.quiet {
        cx.count_local(op, &places.all, bytes, if WRITE { AccessKind::Write } else { AccessKind::Read });
    }
    Some(places)
}

/// A load of `V` elements of local memory.
struct LoadLocal<E, A, const V: usize>(std::marker::PhantomData<(E, A)>);

impl<E: Element, A: AddressWord, const V: usize> Body for LoadLocal<E, A, V> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let bytes = const { (size_of::<E>() * V) as u64 };
        // SAFETY: slots of a decoded instruction; what was found lies inside.
        unsafe {
            if const { is_spare(FORM) } {
                return Load::<E, A, V>::run::<FORM>(cx, op);
            }
            let Some(places) = find::<A, false>(cx, op, bytes) else { return Load::<E, A, V>::run::<FORM>(cx, op) };
            let slots: &[Slot] = if V == 1 { &[op.d] } else { &cx.image().list(op)[..V] };
            for (index, slot) in slots.iter().enumerate().filter(|(_, slot)| !slot.is_none()) {
                let from = cx.warp.local.as_ptr().cast::<E>().add(index).cast::<u8>();
                #[cfg(target_arch = "x86_64")]
                if const { FORM == WIDEST && super::transfer::is_plain_word::<E>() } {
                    gather(from, &places.at, places.all.mask, cx.row_mut::<u32>(*slot));
                    continue;
                }
                let row = cx.row_mut::<E::Row>(*slot);
                for lane in lanes(places.all.mask) {
                    let value = from.add(places.at[lane] as usize).cast::<E>().read_unaligned();
                    (*row)[lane] = value.load().to_raw();
                }
            }
        }
        Flow::Next
    }
}

/// A store of `V` elements to local memory.
struct StoreLocal<E, A, const V: usize>(std::marker::PhantomData<(E, A)>);

impl<E: Element, A: AddressWord, const V: usize> Body for StoreLocal<E, A, V> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let bytes = const { (size_of::<E>() * V) as u64 };
        // SAFETY: as in `LoadLocal`.
        unsafe {
            if const { is_spare(FORM) } {
                return Store::<E, A, V>::run::<FORM>(cx, op);
            }
            let Some(places) = find::<A, true>(cx, op, bytes) else { return Store::<E, A, V>::run::<FORM>(cx, op) };
            let slots: &[Slot] = if V == 1 { &[op.b] } else { &cx.image().list(op)[..V] };
            for (index, slot) in slots.iter().enumerate() {
                let to = cx.warp.local.as_mut_ptr().cast::<E>().add(index).cast::<u8>();
                #[cfg(target_arch = "x86_64")]
                if const { FORM == WIDEST && super::transfer::is_plain_word::<E>() } {
                    scatter(to, &places.at, places.all.mask, cx.row::<u32>(*slot));
                    continue;
                }
                let row = cx.row::<E::Row>(*slot);
                for lane in lanes(places.all.mask) {
                    let value = E::store(E::Row::from_raw((*row)[lane]));
                    to.add(places.at[lane] as usize).cast::<E>().write_unaligned(value);
                }
            }
        }
        cx.worker.writes += 1;
        Flow::Next
    }
}

/// Words of the lanes of `mask` from so many bytes behind `from`.
///
/// # Safety
/// They and the row must be there; the machine must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn gather(from: *const u8, at: &[i32; 32], mask: u32, row: *mut [u32; 32]) {
    for half in 0..2 {
        // SAFETY: as the caller says.
        unsafe {
            let place = row.cast::<i32>().add(16 * half);
            let old = _mm512_loadu_si512(place.cast());
            let at = _mm512_loadu_si512(at.as_ptr().add(16 * half).cast());
            let here = (mask >> (16 * half)) as u16;
            let new = _mm512_mask_i32gather_epi32::<1>(old, here, at, from.cast());
            _mm512_storeu_si512(place.cast(), new);
        }
    }
}

/// The way there.
///
/// # Safety
/// As [`gather`].
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn scatter(to: *mut u8, at: &[i32; 32], mask: u32, row: *const [u32; 32]) {
    for half in 0..2 {
        // SAFETY: as the caller says.
        unsafe {
            let value = _mm512_loadu_si512(row.cast::<i32>().add(16 * half).cast());
            let at = _mm512_loadu_si512(at.as_ptr().add(16 * half).cast());
            let here = (mask >> (16 * half)) as u16;
            _mm512_mask_i32scatter_epi32::<1>(to.cast(), here, at, value);
        }
    }
}

/// The load of `vector` elements of local memory.
pub fn load_local<E: Element>(vector: usize) -> Exec {
    match vector {
        1 => exec_widest::<LoadLocal<E, u64, 1>>(),
        2 => exec_widest::<LoadLocal<E, u64, 2>>(),
        _ => exec_widest::<LoadLocal<E, u64, 4>>(),
    }
}

/// The store of `vector` elements to local memory.
pub fn store_local<E: Element>(vector: usize) -> Exec {
    match vector {
        1 => exec_widest::<StoreLocal<E, u64, 1>>(),
        2 => exec_widest::<StoreLocal<E, u64, 2>>(),
        _ => exec_widest::<StoreLocal<E, u64, 4>>(),
    }
}
