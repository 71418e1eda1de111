//! What atomics do to a word.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::exec::cx::lanes;
use crate::exec::lanes::{Bits, Word};
use crate::exec::order::UPDATE;
use crate::num::arith16::{Kind, Mode, lanes2};
use crate::num::{Rounding, arith32, arith64};

/// A word of memory that is changed at once.
pub trait AtomicWord: Word<Raw = Self> + Bits + PartialEq {
    /// Zero for equal words.
    fn differs(self, other: Self) -> Self;

    fn or(self, other: Self) -> Self;

    /// A word that other host threads may be at.
    ///
    /// # Safety
    /// `place` must be an aligned word.
    unsafe fn look(place: *mut u8) -> Self;

    /// Puts `new` in place of `old`; what was there if that was another, or by chance.
    ///
    /// # Safety
    /// As [`AtomicWord::look`].
    unsafe fn put(place: *mut u8, old: Self, new: Self) -> Result<Self, Self>;

    /// Changes a word that other host threads may be at; gives what it was and is.
    ///
    /// # Safety
    /// As [`AtomicWord::look`].
    #[inline(always)]
    unsafe fn change(place: *mut u8, f: impl Fn(Self) -> Self) -> (Self, Self) {
        // SAFETY: passed on.
        unsafe {
            let mut old = Self::look(place);
            loop {
                let new = f(old);
                match Self::put(place, old, new) {
                    Ok(_) => return (old, new),
                    Err(now) => old = now,
                }
            }
        }
    }
}

macro_rules! atomic_word {
    ($($word:ty, $atomic:ty;)*) => {
        $(impl AtomicWord for $word {
            #[inline(always)]
            fn differs(self, other: $word) -> $word { self ^ other }

            #[inline(always)]
            fn or(self, other: $word) -> $word { self | other }

            #[inline(always)]
            unsafe fn look(place: *mut u8) -> $word {
                // SAFETY: as the caller says; device memory is only accessed through raw pointers.
                unsafe { <$atomic>::from_ptr(place.cast()) }.load(Ordering::Relaxed)
            }

            #[inline(always)]
            unsafe fn put(place: *mut u8, old: $word, new: $word) -> Result<$word, $word> {
                // SAFETY: as above.
                let word = unsafe { <$atomic>::from_ptr(place.cast()) };
                word.compare_exchange_weak(old, new, UPDATE, Ordering::Relaxed)
            }
        })*
    };
}

atomic_word! {
    u32, AtomicU32;
    u64, AtomicU64;
}

/// An operation on words.
pub trait Update<W: AtomicWord>: Copy {
    /// It takes two operands.
    const SWAPS: bool = false;

    /// The new value of a word.
    fn one(&self, old: W, b: W, c: W) -> W;

    /// What the operands of a whole warp make of one word, where they may be put together in any order.
    #[inline(always)]
    fn merged(&self, _first: W, _b: &[W; 32]) -> Option<W> {
        None
    }

    /// What the lanes of `mask` make of one word one after the other, with what each found there in `out` (the others: what
    /// the first one found), where there is a shorter way than [`Update::one`] for each.
    #[inline(always)]
    fn in_turn(&self, _first: W, _b: &[W; 32], _mask: u32, _out: &mut [W; 32]) -> Option<W> {
        None
    }
}

/// Operands may be combined with each other before one meets what is in memory.
#[derive(Clone, Copy)]
pub struct Merged<F>(pub F);

impl<W: AtomicWord, F: Fn(W, W) -> W + Copy> Update<W> for Merged<F> {
    #[inline(always)]
    fn one(&self, old: W, b: W, _: W) -> W {
        self.0(old, b)
    }

    #[inline(always)]
    fn merged(&self, first: W, b: &[W; 32]) -> Option<W> {
        let all = b[1..].iter().fold(b[0], |all, b| self.0(all, *b));
        Some(self.0(first, all))
    }
}

/// One after the other.
#[derive(Clone, Copy)]
pub struct Single<F>(pub F);

impl<W: AtomicWord, F: Fn(W, W) -> W + Copy> Update<W> for Single<F> {
    #[inline(always)]
    fn one(&self, old: W, b: W, _: W) -> W {
        self.0(old, b)
    }
}

/// Compare and swap.
#[derive(Clone, Copy)]
pub struct Swapped;

impl<W: AtomicWord> Update<W> for Swapped {
    const SWAPS: bool = true;

    #[inline(always)]
    fn one(&self, old: W, b: W, c: W) -> W {
        if old == b { c } else { old }
    }
}

/// `FLUSHES`: subnormals become zeros.
#[derive(Clone, Copy)]
pub struct AddF32<const FLUSHES: bool>;

impl<const FLUSHES: bool> Update<u32> for AddF32<FLUSHES> {
    #[inline(always)]
    fn one(&self, old: u32, b: u32, _: u32) -> u32 {
        let mode = arith32::Mode { ftz: FLUSHES, ..arith32::Mode::RN };
        arith32::add(f32::from_bits(old), f32::from_bits(b), mode).to_bits()
    }

    /// Sums of the machine, which are ours where there is neither a NaN nor a subnormal.
    #[inline(always)]
    fn in_turn(&self, first: u32, b: &[u32; 32], mask: u32, out: &mut [u32; 32]) -> Option<u32> {
        let mut sum = f32::from_bits(first);
        if mask == u32::MAX {
            for lane in 0..32 {
                out[lane] = sum.to_bits();
                sum += f32::from_bits(b[lane]);
            }
        } else {
            *out = [first; 32];
            for lane in lanes(mask) {
                out[lane] = sum.to_bits();
                sum += f32::from_bits(b[lane]);
            }
        }
        let odd = |bits: u32| {
            let size = bits & 0x7fff_ffff;
            size > 0x7f80_0000 || FLUSHES & (size.wrapping_sub(1) < 0x007f_ffff)
        };
        let mut any = u32::from(odd(sum.to_bits()));
        for lane in 0..32 {
            any |= u32::from(odd(out[lane])) | u32::from(odd(b[lane])) & mask >> lane;
        }
        (any & 1 == 0).then_some(sum.to_bits())
    }
}

/// `OUTSIDE`: at the L2 cache, where a NaN that is there stays bit for bit; in shared memory it is made quiet.
#[derive(Clone, Copy)]
pub struct AddF64<const OUTSIDE: bool>;

impl<const OUTSIDE: bool> Update<u64> for AddF64<OUTSIDE> {
    #[inline(always)]
    fn one(&self, old: u64, b: u64, _: u64) -> u64 {
        let (x, y) = (f64::from_bits(old), f64::from_bits(b));
        if OUTSIDE && x.is_nan() { old } else { arith64::add(y, x, Rounding::Rn).to_bits() }
    }

    #[inline(always)]
    fn in_turn(&self, first: u64, b: &[u64; 32], mask: u32, out: &mut [u64; 32]) -> Option<u64> {
        let mut sum = f64::from_bits(first);
        if mask == u32::MAX {
            for lane in 0..32 {
                out[lane] = sum.to_bits();
                sum += f64::from_bits(b[lane]);
            }
        } else {
            *out = [first; 32];
            for lane in lanes(mask) {
                out[lane] = sum.to_bits();
                sum += f64::from_bits(b[lane]);
            }
        }
        // Once there is one, it stays.
        (!sum.is_nan()).then_some(sum.to_bits())
    }
}

pub fn add_f16x2(old: u32, b: u32) -> u32 {
    lanes2(old, b, |x, y| Kind::F16.add(x, y, Mode::default()))
}

pub fn add_bf16x2(old: u32, b: u32) -> u32 {
    lanes2(old, b, |x, y| Kind::Bf16.add(x, y, Mode::default()))
}
