//! Roots, powers, logarithms and sines of f32 in two ways: a short series in f64 decides how nearly all results are rounded. Where it comes too
//! near to the middle between two numbers, and for what is no ordinary argument, the long way of [`crate::num::approx`]
//! decides. So every result is that of the long way, bit by bit; `tests/num/nearly.rs` compares them.
//!
//! For AVX-512, which has the first guesses and the tables in registers; [`super::nearly_wide`] is for AVX2.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{Body, blend};
use crate::exec::op::{Flow, Op};
use crate::num::{approx, canonical, flush};

/// Up to so many units of the last place of f64, 2^-40 of the value at least, results of the short ways may be wrong.
pub const UNSURE: i64 = 1 << 13;

/// A function of f32 with a short way.
pub trait Nearly {
    /// What is done with arguments before, and with results, rounded to f32, after.
    fn before(x: f32, ftz: bool) -> f32;
    fn after(x: f32, y: f32, ftz: bool) -> f32;

    /// Eight results, and where the arguments are such that they can be relied on.
    fn short(x: __m512d) -> (__m512d, __mmask8);

    /// The same of sixteen: the first eight, the others.
    #[inline(always)]
    fn shorts(x: __m512) -> (__m512d, __m512d, __mmask16) {
        // SAFETY: used with AVX-512 only.
        unsafe {
            let (low, first) = Self::short(_mm512_cvtps_pd(_mm512_castps512_ps256(x)));
            let (high, second) = Self::short(_mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(x)));
            (low, high, u16::from_le_bytes([first, second]))
        }
    }

    /// Rounded results that nothing can be said of after all.
    #[inline(always)]
    fn doubtful(_: __m512) -> __mmask16 {
        0
    }

    fn long(x: f32, ftz: bool) -> f32;
}

/// One instruction of it.
pub struct Near<N, const FTZ: bool>(PhantomData<N>);

impl<N: Nearly, const FTZ: bool> Body for Near<N, FTZ> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction; used with AVX-512 only.
        unsafe { near::<N, FTZ>(cx, op) };
        Flow::Next
    }
}

/// Where results may be rounded in another way than those of the long way: how far on they are from what is just before the middle
/// between two f32.
///
/// # Safety
/// The machine must have AVX-512.
#[inline(always)]
unsafe fn is_near_middle(value: __m512d) -> __mmask8 {
    // SAFETY: as the caller says.
    unsafe {
        let bits = _mm512_add_epi64(_mm512_castpd_si512(value), _mm512_set1_epi64(UNSURE - (1 << 28)));
        let rest = _mm512_and_si512(bits, _mm512_set1_epi64((1 << 29) - 1));
        _mm512_cmplt_epu64_mask(rest, _mm512_set1_epi64(2 * UNSURE))
    }
}

/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have AVX-512.
#[inline(always)]
unsafe fn near<N: Nearly, const FTZ: bool>(cx: &mut Cx<'_>, op: &Op) {
    // SAFETY: as the caller says.
    unsafe {
        let row = *cx.row::<f32>(op.a);
        let mut unsure = 0;
        let (mut x, mut y, mut out) = ([0f32; 32], [0f32; 32], [0u32; 32]);
        for lane in 0..32 {
            x[lane] = N::before(f32::from_bits(row[lane]), FTZ);
        }
        for half in 0..2 {
            let (low, high, reliable) = N::shorts(_mm512_loadu_ps(x.as_ptr().add(16 * half)));
            let middle = u16::from_le_bytes([is_near_middle(low), is_near_middle(high)]);
            let low = _mm512_castps256_ps512(_mm512_cvtpd_ps(low));
            let rounded = _mm512_insertf32x8::<1>(low, _mm512_cvtpd_ps(high));
            unsure |= u32::from(middle | !reliable | N::doubtful(rounded)) << (16 * half);
            _mm512_storeu_ps(y.as_mut_ptr().add(16 * half), rounded);
        }
        for lane in 0..32 {
            out[lane] = N::after(f32::from_bits(row[lane]), y[lane], FTZ).to_bits();
        }
        for lane in lanes(unsure & cx.mask) {
            out[lane] = N::long(f32::from_bits(row[lane]), FTZ).to_bits();
        }
        blend(cx.mask, cx.row_mut::<f32>(op.d), &out);
    }
}

pub struct Rsqrt;

impl Nearly for Rsqrt {
    #[inline(always)]
    fn before(x: f32, ftz: bool) -> f32 {
        if ftz { flush(x) } else { x }
    }

    // None is subnormal.
    #[inline(always)]
    fn after(_: f32, y: f32, _: bool) -> f32 {
        y
    }

    #[inline(always)]
    fn short(x: __m512d) -> (__m512d, __mmask8) {
        // SAFETY: used with AVX-512 only.
        unsafe {
            // A guess that is right to 2^-14, bettered once: that leaves less than a third of (2^-13)^3.
            let guess = _mm512_rsqrt14_pd(x);
            let error = _mm512_fnmadd_pd(_mm512_mul_pd(x, guess), guess, _mm512_set1_pd(1.0));
            let factor = _mm512_fmadd_pd(error, _mm512_set1_pd(0.375), _mm512_set1_pd(0.5));
            let root = _mm512_fmadd_pd(_mm512_mul_pd(guess, error), factor, guess);
            let positive = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(x, _mm512_setzero_pd());
            (root, positive & _mm512_cmp_pd_mask::<_CMP_LE_OQ>(x, _mm512_set1_pd(f32::MAX.into())))
        }
    }

    fn long(x: f32, ftz: bool) -> f32 {
        approx::rsqrt(x, ftz)
    }
}

pub struct Ex2;

/// 2^(j/8)
const EIGHTHS: [f64; 8] = [
    1.0,
    1.0905077326652577,
    1.189207115002721,
    1.2968395546510096,
    std::f64::consts::SQRT_2,
    1.5422108254079407,
    1.681792830507429,
    1.8340080864093424,
];

/// What y^6, y^5 ... y of 2^y are multiplied by; the next one would be less than 2^-44 where |y| is 1/16.
pub const POWERS: [f64; 6] = [
    0.0001540353039338161,
    0.0013333558146428443,
    0.009618129107628477,
    0.05550410866482158,
    0.24022650695910072,
    std::f64::consts::LN_2,
];

impl Nearly for Ex2 {
    // Results below 2^-126 are the square of 2^(x/2). Beyond the limits all are 0, or infinite.
    #[inline(always)]
    fn before(x: f32, ftz: bool) -> f32 {
        let x = if ftz {
            flush(x)
        } else if x < -126.0 {
            x * 0.5
        } else {
            x
        };
        x.clamp(-256.0, 256.0)
    }

    #[inline(always)]
    fn after(x: f32, y: f32, ftz: bool) -> f32 {
        canonical(if ftz {
            flush(y)
        } else if x < -126.0 {
            y * y
        } else {
            y
        })
    }

    #[inline(always)]
    fn short(x: __m512d) -> (__m512d, __mmask8) {
        // SAFETY: used with AVX-512 only; the table has eight numbers.
        unsafe {
            // Added to this, a number keeps three bits of its fraction, and they are the lowest.
            let large = _mm512_set1_pd(6_755_399_441_055_744.0 / 8.0);
            let moved = _mm512_add_pd(x, large);
            let eighths = _mm512_sub_pd(moved, large);
            let y = _mm512_sub_pd(x, eighths);
            let mut sum = _mm512_set1_pd(POWERS[0]);
            for factor in &POWERS[1..] {
                sum = _mm512_fmadd_pd(sum, y, _mm512_set1_pd(*factor));
            }
            let part = _mm512_permutexvar_pd(_mm512_castpd_si512(moved), _mm512_loadu_pd(EIGHTHS.as_ptr()));
            let power = _mm512_fmadd_pd(_mm512_mul_pd(part, y), sum, part);
            (_mm512_scalef_pd(power, eighths), u8::MAX)
        }
    }

    fn long(x: f32, ftz: bool) -> f32 {
        approx::ex2(x, ftz)
    }
}

pub struct Lg2;

/// Where `m` is between the roots of 1/2 and 2 and s is (m - 1) / (m + 1), log(m) is 2 s times a series of s^2, of which these are
/// the factors of s^14, s^12 ... s^2; the next one would be less than 2^-44.
pub const LOGARITHM: [f64; 7] = [1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0];

impl Nearly for Lg2 {
    #[inline(always)]
    fn before(x: f32, ftz: bool) -> f32 {
        if ftz { flush(x) } else { x }
    }

    // None is subnormal.
    #[inline(always)]
    fn after(_: f32, y: f32, _: bool) -> f32 {
        y
    }

    #[inline(always)]
    fn short(x: __m512d) -> (__m512d, __mmask8) {
        // SAFETY: used with AVX-512 only.
        unsafe {
            let root_of_half = _mm512_set1_epi64(0x3fe6_a09e_667f_3bcd);
            let bits = _mm512_castpd_si512(x);
            let exponent = _mm512_srai_epi64::<52>(_mm512_sub_epi64(bits, root_of_half));
            let m = _mm512_castsi512_pd(_mm512_sub_epi64(bits, _mm512_slli_epi64::<52>(exponent)));
            let one = _mm512_set1_pd(1.0);
            let (above, below) = (_mm512_sub_pd(m, one), _mm512_add_pd(m, one));
            // A reciprocal that is right to 2^-14 and bettered once, and the quotient by it, bettered as well.
            let guess = _mm512_rcp14_pd(below);
            let part = _mm512_fmadd_pd(_mm512_fnmadd_pd(below, guess, one), guess, guess);
            let quotient = _mm512_mul_pd(above, part);
            let s = _mm512_fmadd_pd(_mm512_fnmadd_pd(below, quotient, above), part, quotient);
            let square = _mm512_mul_pd(s, s);
            let mut sum = _mm512_set1_pd(LOGARITHM[0]);
            for factor in &LOGARITHM[1..] {
                sum = _mm512_fmadd_pd(sum, square, _mm512_set1_pd(*factor));
            }
            let twice = _mm512_add_pd(s, s);
            let rest = _mm512_fmadd_pd(_mm512_mul_pd(twice, square), sum, twice);
            let whole = _mm512_cvtepi64_pd(exponent);
            let value = _mm512_fmadd_pd(rest, _mm512_set1_pd(std::f64::consts::LOG2_E), whole);
            let positive = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(x, _mm512_setzero_pd());
            (value, positive & _mm512_cmp_pd_mask::<_CMP_LE_OQ>(x, _mm512_set1_pd(f32::MAX.into())))
        }
    }

    fn long(x: f32, ftz: bool) -> f32 {
        approx::lg2(x, ftz)
    }
}

/// `COSINE`: that of a quarter of a turn on.
pub struct Wave<const COSINE: bool>;

/// The factors of x^13, x^11 ... x^3 of the sine of x up to a quarter of a turn, chosen for the largest error to be least, 2^-43 of
/// the sine: a series would need two more.
pub const SINE: [f64; 6] = [
    1.5409527959327587e-10,
    -2.503019689534627e-8,
    2.7556953112031953e-6,
    -0.00019841266729725933,
    0.008333333321087318,
    -0.16666666666504606,
];

impl<const COSINE: bool> Nearly for Wave<COSINE> {
    #[inline(always)]
    fn before(x: f32, ftz: bool) -> f32 {
        if ftz { flush(x) } else { x }
    }

    // Subnormals are left to the long way. Zeros are common: tables of angles begin at one, and have quarters of a turn.
    #[inline(always)]
    fn after(_: f32, y: f32, _: bool) -> f32 {
        y
    }

    /// Of what is left of a number of turns.
    #[inline(always)]
    fn short(rest: __m512d) -> (__m512d, __mmask8) {
        // SAFETY: used with AVX-512 only.
        unsafe {
            let (size, quarter) = (_mm512_abs_pd(rest), _mm512_set1_pd(0.25));
            let short = if COSINE {
                _mm512_sub_pd(quarter, size)
            } else {
                // The second quarter of a turn is the first one backwards.
                _mm512_min_pd(size, _mm512_sub_pd(_mm512_set1_pd(0.5), size))
            };
            let angle = _mm512_mul_pd(short, _mm512_set1_pd(std::f64::consts::TAU));
            let square = _mm512_mul_pd(angle, angle);
            let mut sum = _mm512_set1_pd(SINE[0]);
            for factor in &SINE[1..] {
                sum = _mm512_fmadd_pd(sum, square, _mm512_set1_pd(*factor));
            }
            let value = _mm512_fmadd_pd(_mm512_mul_pd(angle, square), sum, angle);
            let sign = _mm512_and_pd(rest, _mm512_set1_pd(-0.0));
            (if COSINE { value } else { _mm512_or_pd(value, sign) }, u8::MAX)
        }
    }

    #[inline(always)]
    fn shorts(x: __m512) -> (__m512d, __m512d, __mmask16) {
        // SAFETY: used with AVX-512 only.
        unsafe {
            // As many turns as a product that is rounded toward zero says; what is left of them needs no rounding.
            let factor = _mm512_set1_ps(f32::from_bits(0x3e22_f983));
            let turns = _mm512_mul_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(x, factor);
            let whole = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(turns);
            // What is no turn at all keeps the sign of the argument.
            let none = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(turns, _mm512_setzero_ps());
            let rest = _mm512_mask_mov_ps(_mm512_sub_ps(turns, whole), none, turns);
            let (low, _) = Self::short(_mm512_cvtps_pd(_mm512_castps512_ps256(rest)));
            let (high, _) = Self::short(_mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(rest)));
            (low, high, _mm512_cmp_ps_mask::<_CMP_LE_OQ>(_mm512_abs_ps(x), _mm512_set1_ps(f32::MAX)))
        }
    }

    /// Subnormals, and the least number that is none.
    #[inline(always)]
    fn doubtful(y: __m512) -> __mmask16 {
        // SAFETY: used with AVX-512 only.
        unsafe {
            let size = _mm512_castps_si512(_mm512_abs_ps(y));
            let before = _mm512_sub_epi32(size, _mm512_set1_epi32(1));
            _mm512_cmplt_epu32_mask(before, _mm512_set1_epi32(0x0080_0000))
        }
    }

    fn long(x: f32, ftz: bool) -> f32 {
        if COSINE { approx::cos(x, ftz) } else { approx::sin(x, ftz) }
    }
}
