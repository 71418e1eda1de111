//! The atomics that kernels use most, of one word of 32 or 64 bits a lane: what a whole warp does to a place, to a row or to
//! words anywhere in one array.

use super::Code;
use super::operations::*;
use crate::exec::cx::{Cx, lanes};
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::BASE;
use crate::exec::lanes::blend;
use crate::exec::memory::words::{Lie, Words};
use crate::exec::op::Op;
use crate::isa::Ty;
use crate::memory::space::Window;

/// Whether an atomic is one of [`update_words`].
pub fn is_known(operation: &str, ty: Ty) -> bool {
    let added = matches!(ty, Ty::F16x2 | Ty::BF16x2);
    matches!(ty.bits(), 32 | 64) && !(matches!(operation, "min" | "max") && added)
}

/// [`update_words`], out of line.
///
/// # Safety
/// As there.
#[inline(never)]
pub unsafe fn update_words_far<const FORM: u8>(cx: &mut Cx<'_>, op: &Op, code: Code, words: &Words<'_>) -> bool {
    // SAFETY: passed on.
    unsafe { update_words::<FORM>(cx, op, code, words) }
}

/// Does one of the atomics that are one operation on a word here, which `code` must be. True: memory was changed.
///
/// # Safety
/// `words` must be there; the machine must have what `FORM` is for.
#[inline(always)]
pub unsafe fn update_words<const FORM: u8>(cx: &mut Cx<'_>, op: &Op, code: Code, words: &Words<'_>) -> bool {
    // The unit at the L2 cache adds f32 with subnormals flushed; in shared memory the SM adds and keeps them.
    let outside = words.window == Window::Global;
    macro_rules! each {
        ($word:ty, $update:expr) => {
            each::<FORM, $word, _>(cx, op, code, words, $update)
        };
    }
    // SAFETY: passed on.
    unsafe {
        match (code.operation, code.ty) {
            (0, Ty::U32 | Ty::S32) => each!(u32, Merged(u32::wrapping_add)),
            (1, Ty::U32) => each!(u32, Merged(u32::min)),
            (2, Ty::U32) => each!(u32, Merged(u32::max)),
            (1, Ty::S32) => each!(u32, Merged(|old, b| (old as i32).min(b as i32) as u32)),
            (2, Ty::S32) => each!(u32, Merged(|old, b| (old as i32).max(b as i32) as u32)),
            (3, Ty::U32) => each!(u32, Single(|old, b| if old >= b { 0 } else { old + 1 })),
            (4, Ty::U32) => each!(u32, Single(|old, b| if old == 0 || old > b { b } else { old - 1 })),
            (5, Ty::B32 | Ty::U32 | Ty::S32) => each!(u32, Swapped),
            (6, Ty::B32 | Ty::U32 | Ty::S32 | Ty::F32) => each!(u32, Single(|_, b| b)),
            (7, Ty::B32 | Ty::U32 | Ty::S32) => each!(u32, Merged(|old, b| old & b)),
            (8, Ty::B32 | Ty::U32 | Ty::S32) => each!(u32, Merged(|old, b| old | b)),
            (9, Ty::B32 | Ty::U32 | Ty::S32) => each!(u32, Merged(|old, b| old ^ b)),
            (0, Ty::F32) if outside => each!(u32, AddF32::<true>),
            (0, Ty::F32) => each!(u32, AddF32::<false>),
            (0, Ty::F16x2) => each!(u32, Single(add_f16x2)),
            (0, Ty::BF16x2) => each!(u32, Single(add_bf16x2)),
            (0, Ty::U64 | Ty::S64) => each!(u64, Merged(u64::wrapping_add)),
            (1, Ty::U64) => each!(u64, Merged(u64::min)),
            (2, Ty::U64) => each!(u64, Merged(u64::max)),
            (1, Ty::S64) => each!(u64, Merged(|old, b| (old as i64).min(b as i64) as u64)),
            (2, Ty::S64) => each!(u64, Merged(|old, b| (old as i64).max(b as i64) as u64)),
            (5, Ty::B64 | Ty::U64) => each!(u64, Swapped),
            (6, Ty::B64 | Ty::U64 | Ty::S64) => each!(u64, Single(|_, b| b)),
            (7, Ty::B64 | Ty::U64) => each!(u64, Merged(|old, b| old & b)),
            (8, Ty::B64 | Ty::U64) => each!(u64, Merged(|old, b| old | b)),
            (9, Ty::B64 | Ty::U64) => each!(u64, Merged(|old, b| old ^ b)),
            (0, Ty::F64) if outside => each!(u64, AddF64::<true>),
            (0, Ty::F64) => each!(u64, AddF64::<false>),
            _ => unreachable!("`is_known` names no other"),
        }
    }
}

/// One operation on a word for each lane, in their order. True when one changed memory.
///
/// # Safety
/// As [`update_words`].
#[inline(always)]
unsafe fn each<const FORM: u8, W: AtomicWord, U: Update<W>>(
    cx: &mut Cx<'_>,
    op: &Op,
    code: Code,
    words: &Words<'_>,
    update: U,
) -> bool {
    // SAFETY: passed on.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if FORM != BASE {
            return each_wide::<W, U>(cx, op, code, words, update);
        }
        each_base::<W, U>(cx, op, code, words, update)
    }
}

/// Not wider: operands were mostly stored just before, in registers of this width, and a load across two stores waits for both.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn each_wide<W: AtomicWord, U: Update<W>>(
    cx: &mut Cx<'_>,
    op: &Op,
    code: Code,
    words: &Words<'_>,
    update: U,
) -> bool {
    // SAFETY: passed on.
    unsafe { each_inner::<W, U>(cx, op, code, words, update) }
}

#[inline(never)]
unsafe fn each_base<W: AtomicWord, U: Update<W>>(
    cx: &mut Cx<'_>,
    op: &Op,
    code: Code,
    words: &Words<'_>,
    update: U,
) -> bool {
    // SAFETY: passed on.
    unsafe { each_inner::<W, U>(cx, op, code, words, update) }
}

#[inline(always)]
unsafe fn each_inner<W: AtomicWord, U: Update<W>>(
    cx: &mut Cx<'_>,
    op: &Op,
    code: Code,
    words: &Words<'_>,
    update: U,
) -> bool {
    let first = words.first;
    let alone = is_alone(cx, words);
    let returns = code.returns && !op.d.is_none();
    let mut out = [W::ZERO; 32];
    let mut differs = W::ZERO;
    // SAFETY: as the caller says; slots of a decoded instruction; other workers may be at global memory, where words
    // change by compare-and-swap.
    unsafe {
        let b = &*cx.row::<W>(op.b);
        let c = &*cx.row::<W>(if U::SWAPS { op.c } else { op.b });
        match words.lie {
            Lie::One => {
                // All that the warp does to one word is one step for everybody else.
                let place = first;
                let mut old = if alone { place.cast::<W>().read() } else { W::look(place) };
                loop {
                    let new;
                    (new, differs) = all_at_one(update, old, [b, c], words.mask, returns, &mut out);
                    if alone {
                        place.cast::<W>().write(new);
                        break;
                    }
                    match W::put(place, old, new) {
                        Ok(_) => break,
                        Err(now) => old = now,
                    }
                }
            }
            Lie::Row if alone => {
                let row = first.cast::<[W; 32]>();
                out = row.read_unaligned();
                let mut new = [W::ZERO; 32];
                for lane in 0..32 {
                    new[lane] = update.one(out[lane], b[lane], c[lane]);
                    differs = differs.or(new[lane].differs(out[lane]));
                }
                row.write_unaligned(new);
            }
            Lie::Row => {
                for lane in 0..32 {
                    let by = lane * size_of::<W>();
                    let (old, new) = W::change(first.add(by), |old| update.one(old, b[lane], c[lane]));
                    out[lane] = old;
                    differs = differs.or(new.differs(old));
                }
            }
            Lie::Apart(offsets) if alone && words.mask == u32::MAX && !returns => {
                for lane in 0..32 {
                    let place = first.add(offsets[lane] as usize).cast::<W>();
                    let old = place.read();
                    let new = update.one(old, b[lane], c[lane]);
                    place.write(new);
                    differs = differs.or(new.differs(old));
                }
            }
            Lie::Apart(offsets) if alone && words.mask == u32::MAX => {
                for lane in 0..32 {
                    let place = first.add(offsets[lane] as usize).cast::<W>();
                    let old = place.read();
                    let new = update.one(old, b[lane], c[lane]);
                    place.write(new);
                    out[lane] = old;
                    differs = differs.or(new.differs(old));
                }
            }
            Lie::Apart(offsets) if alone => {
                for lane in lanes(words.mask) {
                    let place = first.add(offsets[lane] as usize).cast::<W>();
                    let old = place.read();
                    let new = update.one(old, b[lane], c[lane]);
                    place.write(new);
                    out[lane] = old;
                    differs = differs.or(new.differs(old));
                }
            }
            Lie::Apart(offsets) => {
                for lane in lanes(words.mask) {
                    let by = offsets[lane] as usize;
                    let (old, new) = W::change(first.add(by), |old| update.one(old, b[lane], c[lane]));
                    out[lane] = old;
                    differs = differs.or(new.differs(old));
                }
            }
        }
        if returns {
            blend(words.mask, cx.row_mut::<W>(op.d), &out);
        }
    }
    differs != W::ZERO
}

/// What the lanes make of one word, and whether any of them changed it.
#[inline(always)]
fn all_at_one<W: AtomicWord, U: Update<W>>(
    update: U,
    first: W,
    [b, c]: [&[W; 32]; 2],
    mask: u32,
    returns: bool,
    out: &mut [W; 32],
) -> (W, W) {
    if !returns
        && mask == u32::MAX
        && let Some(last) = update.merged(first, b)
    {
        return (last, last.differs(first));
    }
    if let Some(last) = update.in_turn(first, b, mask, out) {
        return (last, (0..32).fold(last.differs(first), |all, lane| all.or(out[lane].differs(first))));
    }
    let (mut value, mut differs) = (first, W::ZERO);
    for lane in lanes(mask) {
        out[lane] = value;
        value = update.one(value, b[lane], c[lane]);
        differs = differs.or(value.differs(out[lane]));
    }
    (value, differs)
}

/// Whether no other host thread can be at the words: shared and local memory is never that of two workers.
#[inline(always)]
fn is_alone(cx: &Cx<'_>, words: &Words<'_>) -> bool {
    let region = cx.grid.regions.get(words.region as usize);
    words.window != Window::Global || cx.grid.workers == 1 && region.is_some_and(|region| !region.of_host)
}
