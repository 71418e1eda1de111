//! Addition, multiplication and fused multiply-add of f16 and bf16 without modifiers: all lanes at once. As functions of
//! one lane they are too long for the compiler to put into a loop, and a loop of calls takes ten times as long.

use super::Ty;
use crate::exec::cx::Cx;
use crate::exec::lanes::{Body, blend, exec_widest, is_spare};
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::{WIDE, WIDEST};
use crate::exec::op::{Exec, Flow, Op};
use crate::num::arith16::{Kind, Mode};
use crate::num::arith32::{sum_to_odd, sum_to_odd_f32};
use crate::num::half::round_to_odd;

const PLAIN: Mode = Mode { ftz: false, sat: false, relu: false, oob: false };
pub const ADD: u8 = 0;
pub const SUB: u8 = 1;
pub const MUL: u8 = 2;
pub const FMA: u8 = 3;

/// What `WHAT` says, of bf16 or f16, of pairs or in the low halves.
struct Half<const WHAT: u8, const BF16: bool, const PAIRS: bool>;

#[inline(always)]
pub fn compute<const WHAT: u8, const BF16: bool>(a: &[u16; 32], b: &[u16; 32], c: &[u16; 32]) -> [u16; 32] {
    let kind = if BF16 { Kind::Bf16 } else { Kind::F16 };
    let mut out = [0; 32];
    for lane in 0..32 {
        out[lane] = match WHAT {
            ADD => kind.add(a[lane], b[lane], PLAIN),
            SUB => kind.sub(a[lane], b[lane], PLAIN),
            MUL => kind.mul(a[lane], b[lane], PLAIN),
            _ => kind.fma(a[lane], b[lane], c[lane], PLAIN),
        };
    }
    out
}

/// The same in steps of which the compiler makes vectors, for any machine: all lanes are widened, then computed, then rounded.
#[inline(always)]
pub fn compute_in_steps<const WHAT: u8, const BF16: bool>(a: &[u16; 32], b: &[u16; 32], c: &[u16; 32]) -> [u16; 32] {
    let kind = if BF16 { Kind::Bf16 } else { Kind::F16 };
    let wide = |narrow: &[u16; 32]| {
        let mut out = [0f32; 32];
        (0..32).for_each(|lane| out[lane] = kind.widen(narrow[lane]));
        out
    };
    let (a, b) = (wide(a), wide(b));
    let c = if WHAT == FMA { wide(c) } else { [0.0; 32] };
    let value = if BF16 && WHAT >= MUL { to_odd::<WHAT>(&a, &b, &c) } else { value::<WHAT>(&a, &b, &c) };
    let mut out = [0; 32];
    (0..32).for_each(|lane| out[lane] = kind.narrow(value[lane]));
    out
}

/// Results in f32 that have bits enough to be rounded again, to f16 at least.
#[inline(always)]
fn value<const WHAT: u8>(a: &[f32; 32], b: &[f32; 32], c: &[f32; 32]) -> [f32; 32] {
    let mut out = [0.0; 32];
    for lane in 0..32 {
        out[lane] = match WHAT {
            ADD => a[lane] + b[lane],
            SUB => a[lane] - b[lane],
            MUL => a[lane] * b[lane],
            // The product of two f16 is exact.
            _ => sum_to_odd_f32(a[lane] * b[lane], c[lane]),
        };
    }
    out
}

/// Products and sums of products of bf16, exact in f64 or rounded to odd there, as an f32 that can be rounded again.
#[inline(always)]
fn to_odd<const WHAT: u8>(a: &[f32; 32], b: &[f32; 32], c: &[f32; 32]) -> [f32; 32] {
    let mut out = [0.0; 32];
    for lane in 0..32 {
        let product = f64::from(a[lane]) * f64::from(b[lane]);
        out[lane] = round_to_odd(if WHAT == MUL { product } else { sum_to_odd(product, f64::from(c[lane])) });
    }
    out
}

/// f16 by the machine's own conversions, which every machine with AVX2 has.
///
/// # Safety
/// The machine must have AVX2 and F16C.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn compute_f16_wide<const WHAT: u8>(a: &[u16; 32], b: &[u16; 32], c: &[u16; 32]) -> [u16; 32] {
    use std::arch::x86_64::*;

    let wide = |narrow: &[u16; 32]| {
        let mut out = [0f32; 32];
        for part in 0..4 {
            // SAFETY: 8 values each.
            unsafe {
                let lanes = _mm256_cvtph_ps(_mm_loadu_si128(narrow.as_ptr().add(8 * part).cast()));
                _mm256_storeu_ps(out.as_mut_ptr().add(8 * part), lanes);
            }
        }
        out
    };
    let value = value::<WHAT>(&wide(a), &wide(b), &if WHAT == FMA { wide(c) } else { [0.0; 32] });
    let mut out = [0; 32];
    for part in 0..4 {
        // SAFETY: 8 values each.
        unsafe {
            let lanes = _mm256_loadu_ps(value.as_ptr().add(8 * part));
            // Of a NaN the upper bits stay: these are all ones then, and the sign is none.
            let nan = _mm256_cmp_ps::<_CMP_UNORD_Q>(lanes, lanes);
            let lanes = _mm256_blendv_ps(lanes, _mm256_set1_ps(crate::num::NAN_F32), nan);
            let rounded = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(lanes);
            _mm_storeu_si128(out.as_mut_ptr().add(8 * part).cast(), rounded);
        }
    }
    out
}

/// f16 by the machine's own conversions. Each result is what [`Kind`] gives: a NaN of any kind ends as the canonical one.
///
/// # Safety
/// The machine must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn compute_f16<const WHAT: u8>(a: &[u16; 32], b: &[u16; 32], c: &[u16; 32]) -> [u16; 32] {
    use std::arch::x86_64::*;

    let wide = |narrow: &[u16; 32]| {
        let mut out = [0f32; 32];
        for half in 0..2 {
            // SAFETY: 16 values each.
            unsafe {
                let lanes = _mm512_cvtph_ps(_mm256_loadu_si256(narrow.as_ptr().add(16 * half).cast()));
                _mm512_storeu_ps(out.as_mut_ptr().add(16 * half), lanes);
            }
        }
        out
    };
    let (a, b) = (wide(a), wide(b));
    let mut value = [0f32; 32];
    match WHAT {
        ADD => (0..32).for_each(|lane| value[lane] = a[lane] + b[lane]),
        SUB => (0..32).for_each(|lane| value[lane] = a[lane] - b[lane]),
        MUL => (0..32).for_each(|lane| value[lane] = a[lane] * b[lane]),
        _ => {
            // An odd f32 has bits enough to be rounded again: the truncated sum, with its last bit set where the sums
            // rounded down and up differ.
            let c = wide(c);
            for half in 0..2 {
                // SAFETY: 16 values each.
                unsafe {
                    let part = |row: &[f32; 32]| _mm512_loadu_ps(row.as_ptr().add(16 * half));
                    let (a, b, c) = (part(&a), part(&b), part(&c));
                    let down = _mm512_fmadd_round_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a, b, c);
                    let up = _mm512_fmadd_round_ps::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(a, b, c);
                    let cut = _mm512_fmadd_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(a, b, c);
                    let inexact = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(down, up);
                    let bits = _mm512_castps_si512(cut);
                    let odd = _mm512_mask_or_epi32(bits, inexact, bits, _mm512_set1_epi32(1));
                    _mm512_storeu_ps(value.as_mut_ptr().add(16 * half), _mm512_castsi512_ps(odd));
                }
            }
        }
    }
    let mut out = [0; 32];
    for half in 0..2 {
        // SAFETY: 16 values each.
        unsafe {
            let lanes = _mm512_loadu_ps(value.as_ptr().add(16 * half));
            let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(lanes, lanes);
            let rounded = _mm512_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(lanes);
            let canonical = _mm256_mask_set1_epi16(rounded, nan, crate::num::NAN_16 as i16);
            _mm256_storeu_si256(out.as_mut_ptr().add(16 * half).cast(), canonical);
        }
    }
    out
}

/// Products and sums of products of bf16 by way of f32. They are rounded once all the same: what is cut off an f32 is kept
/// as an odd last bit, and an f32 has bits enough to be rounded again; its exponents are those of bf16. Each result is what
/// [`Kind`] gives.
///
/// # Safety
/// The machine must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn compute_bf16<const WHAT: u8>(a: &[u16; 32], b: &[u16; 32], c: &[u16; 32]) -> [u16; 32] {
    use std::arch::x86_64::*;

    const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
    const CUT: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
    let mut value = [0f32; 32];
    for half in 0..2 {
        // SAFETY: 16 values each.
        unsafe {
            let part = |narrow: &[u16; 32]| {
                let narrow = _mm256_loadu_si256(narrow.as_ptr().add(16 * half).cast());
                _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(narrow)))
            };
            let (a, b, c) = (part(a), part(b), part(c));
            let (down, up, cut) = if WHAT == MUL {
                (_mm512_mul_round_ps::<DOWN>(a, b), _mm512_mul_round_ps::<UP>(a, b), _mm512_mul_round_ps::<CUT>(a, b))
            } else {
                let down = _mm512_fmadd_round_ps::<DOWN>(a, b, c);
                (down, _mm512_fmadd_round_ps::<UP>(a, b, c), _mm512_fmadd_round_ps::<CUT>(a, b, c))
            };
            // A sum that is exactly zero has the sign that rounding to nearest gives it, as cutting does.
            let inexact = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(down, up);
            let bits = _mm512_castps_si512(cut);
            let odd = _mm512_mask_or_epi32(bits, inexact, bits, _mm512_set1_epi32(1));
            _mm512_storeu_ps(value.as_mut_ptr().add(16 * half), _mm512_castsi512_ps(odd));
        }
    }
    let mut out = [0; 32];
    for lane in 0..32 {
        out[lane] = Kind::Bf16.narrow(value[lane]);
    }
    out
}

/// [`compute`] in the form for this machine.
///
/// # Safety
/// The machine must have what `FORM` is for.
#[inline(always)]
unsafe fn compute_form<const FORM: u8, const WHAT: u8, const BF16: bool>(
    a: &[u16; 32],
    b: &[u16; 32],
    c: &[u16; 32],
) -> [u16; 32] {
    #[cfg(target_arch = "x86_64")]
    if FORM == WIDEST && !BF16 {
        // SAFETY: as the caller says.
        return unsafe { compute_f16::<WHAT>(a, b, c) };
    }
    #[cfg(target_arch = "x86_64")]
    if FORM == WIDEST && (WHAT == MUL || WHAT == FMA) {
        // SAFETY: as the caller says.
        return unsafe { compute_bf16::<WHAT>(a, b, c) };
    }
    #[cfg(target_arch = "x86_64")]
    if FORM == WIDE && !BF16 {
        // SAFETY: as the caller says.
        return unsafe { compute_f16_wide::<WHAT>(a, b, c) };
    }
    if const { is_spare(FORM) } {
        return compute::<WHAT, BF16>(a, b, c);
    }
    compute_in_steps::<WHAT, BF16>(a, b, c)
}

/// One half of each lane.
#[inline(always)]
fn part(row: &[u32; 32], shift: u32) -> [u16; 32] {
    let mut out = [0; 32];
    for lane in 0..32 {
        out[lane] = (row[lane] >> shift) as u16;
    }
    out
}

impl<const WHAT: u8, const BF16: bool, const PAIRS: bool> Body for Half<WHAT, BF16, PAIRS> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let (a, b) = (*cx.row::<u32>(op.a), *cx.row::<u32>(op.b));
            let c = if WHAT == FMA { *cx.row::<u32>(op.c) } else { [0; 32] };
            let low = compute_form::<FORM, WHAT, BF16>(&part(&a, 0), &part(&b, 0), &part(&c, 0));
            let mut out = [0u32; 32];
            if PAIRS {
                let high = compute_form::<FORM, WHAT, BF16>(&part(&a, 16), &part(&b, 16), &part(&c, 16));
                for lane in 0..32 {
                    out[lane] = u32::from(high[lane]) << 16 | u32::from(low[lane]);
                }
            } else {
                for lane in 0..32 {
                    out[lane] = low[lane].into();
                }
            }
            blend(cx.mask, cx.row_mut::<u32>(op.d), &out);
        }
        Flow::Next
    }
}

fn choose<const WHAT: u8>(ty: Ty) -> Exec {
    match ty {
        Ty::F16 => exec_widest::<Half<WHAT, false, false>>(),
        Ty::BF16 => exec_widest::<Half<WHAT, true, false>>(),
        Ty::F16x2 => exec_widest::<Half<WHAT, false, true>>(),
        _ => exec_widest::<Half<WHAT, true, true>>(),
    }
}

pub fn add(ty: Ty) -> Exec {
    choose::<ADD>(ty)
}

pub fn sub(ty: Ty) -> Exec {
    choose::<SUB>(ty)
}

pub fn mul(ty: Ty) -> Exec {
    choose::<MUL>(ty)
}

pub fn fma(ty: Ty) -> Exec {
    choose::<FMA>(ty)
}
