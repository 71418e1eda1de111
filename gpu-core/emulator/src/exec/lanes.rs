//! Loops over the 32 lanes of a warp, written once and specialised per operation.
//!
//! A closure that captures nothing becomes an [`Exec`]: `bin(|a: u32, b: u32| a.wrapping_add(b))`. Each is compiled
//! three times, for any x86-64, for AVX2 with FMA and for AVX-512, where the lanes that do not run cost nothing; the machine
//! picks once. All lanes are computed, then blended by mask: a vector loop over 32 lanes is cheaper than a test per lane.
//! Costly functions use the `each_*` forms, which visit only the lanes that run.

use super::cx::{Cx, lanes};
use super::op::{Exec, Flow, Op};
#[cfg(target_arch = "x86_64")]
pub use crate::features::wide;
pub use crate::features::{chosen, widest};

/// A value that one lane of a register holds.
pub trait Word: Copy + 'static {
    /// How the row stores it.
    type Raw: Bits + 'static;
    const ZERO: Self::Raw;
    fn from_raw(raw: Self::Raw) -> Self;
    fn to_raw(self) -> Self::Raw;
}

macro_rules! word {
    ($($ty:ty => $raw:ty, $from:expr, $to:expr;)*) => {
        $(impl Word for $ty {
            type Raw = $raw;
            const ZERO: $raw = 0;
            #[inline(always)]
            fn from_raw(raw: $raw) -> $ty { ($from)(raw) }
            #[inline(always)]
            fn to_raw(self) -> $raw { ($to)(self) }
        })*
    };
}

word! {
    u8 => u32, |r| r as u8, |v| v as u32;
    i8 => u32, |r| r as i8, |v| v as i32 as u32;
    u16 => u32, |r| r as u16, |v| v as u32;
    i16 => u32, |r| r as i16, |v| v as u16 as u32;
    u32 => u32, |r| r, |v| v;
    i32 => u32, |r| r as i32, |v| v as u32;
    u64 => u64, |r| r, |v| v;
    i64 => u64, |r| r as i64, |v| v as u64;
    u128 => u128, |r| r, |v| v;
    f32 => u32, f32::from_bits, f32::to_bits;
    f64 => u64, f64::from_bits, f64::to_bits;
}

/// Forms of the hottest loops: for any machine, with AVX2 and FMA ([`wide`]), with AVX-512 ([`widest`]).
pub const BASE: u8 = 0;
pub const WIDE: u8 = 1;
#[cfg(target_arch = "x86_64")]
pub const WIDEST: u8 = 2;

/// Makes a value of a closure type that captures nothing.
#[inline(always)]
pub(crate) fn conjure<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0) };
    // SAFETY: F has no bytes, and the caller of `un`, `bin`, ... held a value of this `Copy` type.
    unsafe { std::ptr::NonNull::<F>::dangling().as_ptr().read() }
}

/// Whether a form is only for x86-64 processors from before AVX2: it goes lane by lane, which is short, for a copy of every
/// loop in half as wide registers is long and hardly anybody's.
pub const fn is_spare(form: u8) -> bool {
    cfg!(target_arch = "x86_64") && form == BASE
}

/// What a row holds for each lane, and how bits of two are mixed.
pub trait Bits: Copy {
    /// `self` where `mask` has the bit of `lane`, else `other`. Not by a condition: that becomes a branch for each lane. By
    /// a comparison, which is one vector instruction, and not by shifts of the mask, which are three.
    fn mix(self, other: Self, mask: u32, lane: usize) -> Self;
}

macro_rules! bits {
    ($($ty:ty),*) => {
        $(impl Bits for $ty {
            #[inline(always)]
            fn mix(self, other: $ty, mask: u32, lane: usize) -> $ty {
                let keep = <$ty>::from(<$ty>::from(mask) & 1 << lane == 0).wrapping_sub(1);
                self & keep | other & !keep
            }
        })*
    };
}

bits!(u32, u64, u128);

/// Writes the lanes of `mask`.
///
/// # Safety
/// `to` must point to a row.
#[inline(always)]
pub unsafe fn blend<R: Bits>(mask: u32, to: *mut [R; 32], from: &[R; 32]) {
    // SAFETY: passed on.
    unsafe { blend_as::<BASE, R>(mask, to, from) };
}

/// The same in the form for this machine. With AVX2 compilers make masked stores of what keeps some of what it replaces, which take
/// some processors many times as long as whole ones: so they are not to see that it is the same place.
///
/// # Safety
/// As [`blend`].
#[inline(always)]
pub unsafe fn blend_as<const FORM: u8, R: Bits>(mask: u32, to: *mut [R; 32], from: &[R; 32]) {
    // SAFETY: the caller gives a valid row.
    unsafe {
        if mask == u32::MAX {
            *to = *from;
        } else {
            let old = *to;
            let mut new = old;
            for lane in 0..32 {
                new[lane] = from[lane].mix(old[lane], mask, lane);
            }
            *(if FORM == WIDE { std::hint::black_box(to) } else { to }) = new;
        }
    }
}

/// One operation on all lanes.
pub trait Body {
    /// # Safety
    /// As [`Exec`].
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_widest<B: Body>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    unsafe { B::run::<WIDEST>(cx, op) }
}

unsafe fn run_base<B: Body>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    unsafe { B::run::<BASE>(cx, op) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_wide<B: Body>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    unsafe { B::run::<WIDE>(cx, op) }
}

/// The form of `B` for this machine.
pub fn exec<B: Body>() -> Exec {
    #[cfg(target_arch = "x86_64")]
    if chosen().vector_forms && wide() {
        return run_wide::<B>;
    }
    run_base::<B>
}

/// The same with a form for AVX-512.
pub fn exec_widest<B: Body>() -> Exec {
    #[cfg(target_arch = "x86_64")]
    if chosen().vector_forms && widest() {
        return run_widest::<B>;
    }
    exec::<B>()
}

macro_rules! mapper {
    ($(#[$doc:meta])* $name:ident, $each:ident, $body:ident, $each_body:ident, $(($arg:ident, $slot:ident)),+) => {
        struct $body<$($arg,)+ D, F>(std::marker::PhantomData<($($arg,)+ D, F)>);
        impl<$($arg: Word,)+ D: Word, F: Fn($($arg),+) -> D + Copy> Body for $body<$($arg,)+ D, F> {
            #[inline(always)]
            unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
                if const { is_spare(FORM) } {
                    // SAFETY: passed on.
                    return unsafe { $each_body::<$($arg,)+ D, F>::run::<FORM>(cx, op) };
                }
                let f = conjure::<F>();
                // SAFETY: slots of a decoded instruction.
                unsafe {
                    $(let $slot = cx.row::<$arg>(op.$slot);)+
                    let mut out = [D::ZERO; 32];
                    for lane in 0..32 {
                        out[lane] = f($($arg::from_raw((*$slot)[lane])),+).to_raw();
                    }
                    let d = cx.row_mut::<D>(op.d);
                    blend_as::<FORM, _>(cx.mask, d, &out);
                }
                Flow::Next
            }
        }
        $(#[$doc])*
        pub fn $name<$($arg: Word,)+ D: Word, F: Fn($($arg),+) -> D + Copy + 'static>(_: F) -> Exec {
            exec_widest::<$body<$($arg,)+ D, F>>()
        }

        struct $each_body<$($arg,)+ D, F>(std::marker::PhantomData<($($arg,)+ D, F)>);
        impl<$($arg: Word,)+ D: Word, F: Fn($($arg),+) -> D + Copy> Body for $each_body<$($arg,)+ D, F> {
            #[inline(always)]
            unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
                let f = conjure::<F>();
                for lane in lanes(cx.mask) {
                    // SAFETY: slots of a decoded instruction; lane < 32.
                    unsafe {
                        let value = f($(cx.lane::<$arg>(op.$slot, lane)),+);
                        cx.set_lane::<D>(op.d, lane, value);
                    }
                }
                Flow::Next
            }
        }
        /// The same, visiting only the lanes that run: for functions too costly to compute in vain.
        pub fn $each<$($arg: Word,)+ D: Word, F: Fn($($arg),+) -> D + Copy + 'static>(_: F) -> Exec {
            run_base::<$each_body<$($arg,)+ D, F>>
        }
    };
}

mapper!(
    /// `d = f(a)` in every lane.
    un, each_un, Un, EachUn, (A, a));
mapper!(
    /// `d = f(a, b)` in every lane.
    bin, each_bin, Bin, EachBin, (A, a), (B, b));
mapper!(
    /// `d = f(a, b, c)` in every lane.
    tri, each_tri, Tri, EachTri, (A, a), (B, b), (C, c));

macro_rules! imm_mapper {
    ($(#[$doc:meta])* $name:ident, $body:ident, $(($arg:ident, $slot:ident)),+) => {
        struct $body<$($arg,)+ D, F>(std::marker::PhantomData<($($arg,)+ D, F)>);
        impl<$($arg: Word,)+ D: Word, F: Fn(i64, $($arg),+) -> D + Copy> Body for $body<$($arg,)+ D, F> {
            #[inline(always)]
            unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
                let f = conjure::<F>();
                let imm = op.imm;
                for lane in lanes(cx.mask) {
                    // SAFETY: slots of a decoded instruction; lane < 32.
                    unsafe {
                        let value = f(imm, $(cx.lane::<$arg>(op.$slot, lane)),+);
                        cx.set_lane::<D>(op.d, lane, value);
                    }
                }
                Flow::Next
            }
        }
        $(#[$doc])*
        pub fn $name<$($arg: Word,)+ D: Word, F: Fn(i64, $($arg),+) -> D + Copy + 'static>(_: F) -> Exec {
            exec_widest::<$body<$($arg,)+ D, F>>()
        }
    };
}

imm_mapper!(
    /// `d = f(imm, a)` in the lanes that run; modifiers that need no code of their own travel in `imm`.
    imm_un, ImmUn, (A, a));
imm_mapper!(
    /// `d = f(imm, a, b)` in the lanes that run.
    imm_bin, ImmBin, (A, a), (B, b));
imm_mapper!(
    /// `d = f(imm, a, b, c)` in the lanes that run.
    imm_tri, ImmTri, (A, a), (B, b), (C, c));

/// The lanes that something holds for; nothing is said of those beside `among`.
#[inline(always)]
pub fn mask_of<const FORM: u8>(among: u32, holds: impl Fn(usize) -> bool) -> u32 {
    if const { is_spare(FORM) } {
        return lanes(among).fold(0, |mask, lane| mask | u32::from(holds(lane)) << lane);
    }
    let mut flags = [0u8; 32];
    for lane in 0..32 {
        flags[lane] = u8::from(holds(lane)).wrapping_neg();
    }
    #[cfg(target_arch = "x86_64")]
    if FORM != BASE {
        use std::arch::x86_64::{_mm256_loadu_si256, _mm256_movemask_epi8};
        // SAFETY: AVX2 is there in this form, and the flags are 32 bytes.
        return unsafe { _mm256_movemask_epi8(_mm256_loadu_si256(flags.as_ptr().cast())) } as u32;
    }
    let mut mask = 0;
    for lane in 0..32 {
        mask |= u32::from(flags[lane] & 1) << lane;
    }
    mask
}

/// `d = mask of f(a, b)`, `e = its opposite` when there is one, both combined with predicate `c` as `imm` says.
struct Cmp<A, F>(std::marker::PhantomData<(A, F)>);

/// How a comparison is combined with a third predicate.
pub const COMBINE_NONE: i64 = 0;
pub const COMBINE_AND: i64 = 1;
pub const COMBINE_OR: i64 = 2;
pub const COMBINE_XOR: i64 = 3;
/// Added when the third predicate is negated.
pub const COMBINE_NOT: i64 = 4;

impl<A: Word, F: Fn(A, A) -> bool + Copy> Body for Cmp<A, F> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let f = conjure::<F>();
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let (a, b) = (cx.row::<A>(op.a), cx.row::<A>(op.b));
            let mask = mask_of::<FORM>(cx.mask, |lane| f(A::from_raw((*a)[lane]), A::from_raw((*b)[lane])));
            let (mut yes, mut no) = (mask, !mask);
            if op.imm != COMBINE_NONE {
                let c = cx.pred(op.c) ^ if op.imm & COMBINE_NOT != 0 { u32::MAX } else { 0 };
                (yes, no) = match op.imm & 3 {
                    COMBINE_AND => (yes & c, no & c),
                    COMBINE_OR => (yes | c, no | c),
                    _ => (yes ^ c, no ^ c),
                };
            }
            if !op.d.is_none() {
                cx.set_pred(op.d, yes);
            }
            if !op.e.is_none() {
                cx.set_pred(op.e, no);
            }
        }
        Flow::Next
    }
}

/// `setp` with a comparison.
pub fn cmp<A: Word, F: Fn(A, A) -> bool + Copy + 'static>(_: F) -> Exec {
    exec_widest::<Cmp<A, F>>()
}

struct Test<A, F>(std::marker::PhantomData<(A, F)>);

impl<A: Word, F: Fn(A) -> bool + Copy> Body for Test<A, F> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let f = conjure::<F>();
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let a = cx.row::<A>(op.a);
            cx.set_pred(op.d, mask_of::<FORM>(cx.mask, |lane| f(A::from_raw((*a)[lane]))));
        }
        Flow::Next
    }
}

/// A predicate from one operand.
pub fn test<A: Word, F: Fn(A) -> bool + Copy + 'static>(_: F) -> Exec {
    exec_widest::<Test<A, F>>()
}

struct CopyRow<A>(std::marker::PhantomData<A>);

impl<A: Word> Body for CopyRow<A> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction. The two rows are one or lie apart, so that all of it may be read first.
        unsafe {
            let (from, to) = (cx.row::<A>(op.a), cx.row_mut::<A>(op.d));
            if cx.mask == u32::MAX {
                std::ptr::copy(from, to, 1);
            } else {
                let from = *from;
                blend_as::<FORM, _>(cx.mask, to, &from);
            }
        }
        Flow::Next
    }
}

/// `d = a`, as one block of memory: as a function of each lane it would go through scalar registers.
pub fn copy<A: Word>() -> Exec {
    exec_widest::<CopyRow<A>>()
}

/// `d = value(cx, imm)` in every lane.
struct Splat<F>(std::marker::PhantomData<F>);

impl<F: Fn(&Cx<'_>, i64) -> u32 + Copy> Body for Splat<F> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let value = conjure::<F>()(cx, op.imm);
        // SAFETY: slots of a decoded instruction.
        unsafe { blend_as::<FORM, _>(cx.mask, cx.row_mut::<u32>(op.d), &[value; 32]) };
        Flow::Next
    }
}

/// The same value, computed once, for all lanes.
pub fn splat<F: Fn(&Cx<'_>, i64) -> u32 + Copy + 'static>(_: F) -> Exec {
    exec_widest::<Splat<F>>()
}

struct Select<A>(std::marker::PhantomData<A>);

impl<A: Word> Body for Select<A> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let (a, b) = (cx.row::<A>(op.a), cx.row::<A>(op.b));
            let choose = cx.pred(op.c) ^ op.imm as u32;
            if const { is_spare(FORM) } {
                let d = cx.row_mut::<A>(op.d);
                for lane in lanes(cx.mask) {
                    (*d)[lane] = if choose >> lane & 1 != 0 { (*a)[lane] } else { (*b)[lane] };
                }
                return Flow::Next;
            }
            let mut out = [A::ZERO; 32];
            for lane in 0..32 {
                out[lane] = (*a)[lane].mix((*b)[lane], choose, lane);
            }
            let d = cx.row_mut::<A>(op.d);
            blend_as::<FORM, _>(cx.mask, d, &out);
        }
        Flow::Next
    }
}

/// `d = c ? a : b`; `imm` of -1 negates the predicate.
pub fn select<A: Word>() -> Exec {
    exec_widest::<Select<A>>()
}
