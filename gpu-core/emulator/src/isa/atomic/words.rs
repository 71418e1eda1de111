//! The atomics that kernels use most, of one word a lane: what a whole warp does to a place, to a row or to single words.

use std::sync::atomic::{AtomicU32, Ordering, fence};

use super::Code;
use crate::exec::access::{AddressWord, Addresses, Reach, Runs};
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::lanes::{blend, is_spare};
use crate::exec::op::Op;
use crate::exec::order::{BEFORE_STORE, UPDATE};
use crate::exec::quick::Shape;
use crate::exec::space::Window;
use crate::exec::updates::Apartness;
use crate::isa::Ty;
use crate::num::arith32;
use crate::report::AccessKind;

/// Whether an atomic is of words, and nothing is asked for beyond bounds and counters: then it may take the short way.
#[inline(always)]
fn is_bare(cx: &Cx<'_>, code: Code) -> bool {
    cx.watch & !watch::COUNT == 0 && code.vector == 1 && code.ty.bits() == 32 && !cx.block.guarded
}

/// Remembers how an atomic lay that went to one place or to neighbours. Only what [`update_words`] knows may be.
#[inline(always)]
pub fn remember(cx: &mut Cx<'_>, op: &Op, code: Code, reach: &Reach, at: &Addresses) {
    // Addresses that `mapa` made lie in no array of the own block.
    let here = reach.window == Window::Global || reach.window == Window::Shared && reach.base == 0;
    if is_bare(cx, code) && here && at.mask == u32::MAX && (at.contiguous || at.low == at.high) {
        let (low, high) = (at.low, at.high);
        let step = if at.contiguous { 4 } else { 0 };
        let runs = Runs { count: 1, width: 32, step, starts: [low; 4], low, high };
        cx.remember(op, 4, reach.window, &runs, AccessKind::Atomic);
    }
}

/// An atomic on one place or on neighbours, which lies as the last one of this instruction did. None: it is another;
/// nothing was done.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
pub unsafe fn update_followed<const FORM: u8, A: AddressWord>(cx: &mut Cx<'_>, op: &Op, code: Code) -> Option<bool> {
    if const { is_spare(FORM) } || !is_bare(cx, code) {
        return None;
    }
    // SAFETY: passed on; patterns live as long as the launch, and what follows one lies inside its array.
    unsafe {
        let followed = cx.follow::<FORM, A>(op, 4)?;
        let span = match (*followed.pattern).shape {
            Shape::Same => 0,
            Shape::Dense => 31 * 4,
            _ => return None,
        };
        if cx.count_followed(&followed) & watch::COUNT != 0 {
            return None;
        }
        let (window, region) = cx.place_followed(&followed);
        let (first, low, high) = (followed.pointer.cast(), followed.first, followed.first + span);
        let words = Words { first, low, high, mask: cx.mask, window, region, lanes: None };
        update_words(cx, op, code, &words)
    }
}

/// Where the words of an atomic are.
pub struct Words<'a> {
    /// Place of the first lane's.
    first: *mut u32,
    low: u64,
    high: u64,
    mask: u32,
    window: Window,
    region: u32,
    /// Where they are neither one nor a row of all lanes.
    lanes: Option<(&'a Reach, &'a Addresses)>,
}

impl<'a> Words<'a> {
    /// # Safety
    /// `reach` must hold for all of `at`.
    #[inline(always)]
    pub unsafe fn of(reach: &'a Reach, at: &'a Addresses) -> Words<'a> {
        let near = (at.contiguous || at.low == at.high) && reach.stride == 0;
        Words {
            // SAFETY: as the caller says.
            first: unsafe { reach.lane(at.at[0], 0) }.cast(),
            low: at.low,
            high: at.high,
            mask: at.mask,
            window: reach.window,
            region: reach.shadow,
            lanes: (!near).then_some((reach, at)),
        }
    }
}

/// The atomics that kernels use most: one word, and an operation that is one instruction here. None: it is another.
///
/// # Safety
/// `words` must be there.
#[inline(always)]
pub unsafe fn update_words(cx: &mut Cx<'_>, op: &Op, code: Code, words: &Words<'_>) -> Option<bool> {
    use std::ops::{BitAnd, BitOr, BitXor};
    if code.vector != 1 {
        return None;
    }
    // SAFETY: passed on.
    let changed = unsafe {
        match (code.operation, code.ty) {
            (0, Ty::U32 | Ty::S32) => each_word::<true>(cx, op, code, words, u32::wrapping_add),
            (0, Ty::F32) => {
                let flush = words.window == Window::Global;
                let mode = arith32::Mode { ftz: flush, ..arith32::Mode::RN };
                let add = |old, b| arith32::add(f32::from_bits(old), f32::from_bits(b), mode).to_bits();
                each_word::<false>(cx, op, code, words, add)
            }
            (1, Ty::U32) => each_word::<true>(cx, op, code, words, u32::min),
            (2, Ty::U32) => each_word::<true>(cx, op, code, words, u32::max),
            (1, Ty::S32) => each_word::<true>(cx, op, code, words, |old, b| (old as i32).min(b as i32) as u32),
            (2, Ty::S32) => each_word::<true>(cx, op, code, words, |old, b| (old as i32).max(b as i32) as u32),
            (6, Ty::B32 | Ty::U32 | Ty::S32 | Ty::F32) => each_word::<false>(cx, op, code, words, |_, b| b),
            (7, Ty::B32 | Ty::U32 | Ty::S32) => each_word::<true>(cx, op, code, words, u32::bitand),
            (8, Ty::B32 | Ty::U32 | Ty::S32) => each_word::<true>(cx, op, code, words, u32::bitor),
            (9, Ty::B32 | Ty::U32 | Ty::S32) => each_word::<true>(cx, op, code, words, u32::bitxor),
            _ => return None,
        }
    };
    Some(changed)
}

/// One operation on a word for each lane, in their order. True when one changed memory. `MERGES`: operands may be combined
/// with each other, in any order, before one meets what is in memory.
///
/// # Safety
/// As [`update_words`].
#[inline(never)]
unsafe fn each_word<const MERGES: bool>(
    cx: &mut Cx<'_>,
    op: &Op,
    code: Code,
    words: &Words<'_>,
    f: impl Fn(u32, u32) -> u32 + Copy,
) -> bool {
    let apartness = cx.apartness(words.window, words.region);
    let held = cx.hold_updates(apartness, words.low, words.high);
    // Shared memory needs none: only this worker is there.
    let ordered = || {
        if apartness != Apartness::Alone {
            fence(BEFORE_STORE);
        }
    };
    let returns = code.returns && !op.d.is_none();
    let mut out = [0; 32];
    let mut differs = 0;
    // SAFETY: as the caller says; slots of a decoded instruction; other workers may be at global memory, where words
    // change under a lock or by compare-and-swap.
    unsafe {
        let b = &*cx.row::<u32>(op.b);
        let one = words.low == words.high;
        match words.lanes {
            None if one => {
                // All that the warp does to one word is one step for everybody else.
                let mut all = |first: u32| {
                    let mut value = first;
                    if MERGES && !returns && words.mask == u32::MAX {
                        value = f(first, merge(b, f));
                        differs = value ^ first;
                    } else {
                        differs = 0;
                        for lane in lanes(words.mask) {
                            out[lane] = value;
                            value = f(value, b[lane]);
                            differs |= value ^ out[lane];
                        }
                    }
                    value
                };
                if apartness == Apartness::Each {
                    let word = AtomicU32::from_ptr(words.first);
                    let mut old = word.load(Ordering::Relaxed);
                    while let Err(now) = word.compare_exchange_weak(old, all(old), UPDATE, Ordering::Relaxed) {
                        old = now;
                    }
                } else {
                    ordered();
                    words.first.write(all(words.first.read()));
                }
            }
            None if apartness == Apartness::Alone || held.is_some() => {
                ordered();
                let row = words.first.cast::<[u32; 32]>();
                out = row.read();
                let mut new = [0; 32];
                for lane in 0..32 {
                    new[lane] = f(out[lane], b[lane]);
                    differs |= new[lane] ^ out[lane];
                }
                row.write(new);
            }
            None => {
                for lane in 0..32 {
                    let address = words.low + 4 * lane as u64;
                    let (old, new) = update_apart(cx, apartness, words.first.add(lane), address, |old| f(old, b[lane]));
                    out[lane] = old;
                    differs |= new ^ old;
                }
            }
            Some((reach, at)) if apartness == Apartness::Alone || held.is_some() => {
                ordered();
                let first = reach.pointer.wrapping_sub(reach.base as usize);
                if words.mask == u32::MAX && reach.stride == 0 && !returns {
                    for lane in 0..32 {
                        let place = first.wrapping_add(at.at[lane] as usize).cast::<u32>();
                        let old = place.read();
                        let new = f(old, b[lane]);
                        place.write(new);
                        differs |= new ^ old;
                    }
                } else if words.mask == u32::MAX {
                    for lane in 0..32 {
                        let place = first.wrapping_add(at.at[lane] as usize + lane * reach.stride).cast::<u32>();
                        let old = place.read();
                        let new = f(old, b[lane]);
                        place.write(new);
                        out[lane] = old;
                        differs |= new ^ old;
                    }
                } else {
                    for lane in lanes(words.mask) {
                        let place = reach.lane(at.at[lane], lane).cast::<u32>();
                        out[lane] = place.read();
                        let value = f(out[lane], b[lane]);
                        differs |= value ^ out[lane];
                        place.write(value);
                    }
                }
            }
            Some((reach, at)) => {
                for lane in lanes(words.mask) {
                    let place = reach.lane(at.at[lane], lane).cast::<u32>();
                    let (old, new) = update_apart(cx, apartness, place, at.at[lane], |old| f(old, b[lane]));
                    out[lane] = old;
                    differs |= new ^ old;
                }
            }
        }
        drop(held);
        if returns {
            blend(words.mask, cx.row_mut::<u32>(op.d), &out);
        }
    }
    differs != 0
}

/// Updates one word that other host threads may be at: under a lock of its own, or by compare-and-swap. Gives what it was
/// and is.
///
/// # Safety
/// `place` must be a word of global memory, at `address`.
#[inline(always)]
unsafe fn update_apart(
    cx: &Cx<'_>,
    apartness: Apartness,
    place: *mut u32,
    address: u64,
    f: impl Fn(u32) -> u32,
) -> (u32, u32) {
    let _held = if apartness == Apartness::Locks { cx.grid.updates.hold(address, address) } else { None };
    // SAFETY: as the caller says.
    let word = unsafe { AtomicU32::from_ptr(place) };
    let mut old = word.load(Ordering::Relaxed);
    loop {
        let new = f(old);
        match word.compare_exchange_weak(old, new, UPDATE, Ordering::Relaxed) {
            Ok(_) => return (old, new),
            Err(now) => old = now,
        }
    }
}

/// All lanes of a row in one value.
#[inline(always)]
fn merge(row: &[u32; 32], f: impl Fn(u32, u32) -> u32) -> u32 {
    let mut parts = *row;
    let mut left = 32;
    while left > 1 {
        left /= 2;
        for lane in 0..left {
            parts[lane] = f(parts[lane], parts[lane + left]);
        }
    }
    parts[0]
}
