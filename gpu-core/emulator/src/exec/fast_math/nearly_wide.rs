//! What [`super::nearly`] does, eight lanes at a time, for machines with AVX2 alone: powers, logarithms and sines. Roots have
//! no first guess there that would be shorter than the division.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::nearly::{Ex2, LOGARITHM, Lg2, Nearly, POWERS, SINE, UNSURE, Wave};
use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{Body, blend};
use crate::exec::op::{Flow, Op};

/// A function with a short way in AVX2 registers.
pub trait NearlyWide: Nearly {
    /// Four results, and ones in all bits where the arguments are such that they can be relied on.
    ///
    /// # Safety
    /// The machine must have AVX2 and FMA.
    unsafe fn four(x: __m256d) -> (__m256d, __m256d);

    /// Rounded results that nothing can be said of after all: ones in all bits.
    ///
    /// # Safety
    /// As [`NearlyWide::four`].
    #[inline(always)]
    unsafe fn off(_: __m256) -> __m256i {
        // SAFETY: as the caller says.
        unsafe { _mm256_setzero_si256() }
    }
}

/// One instruction of it.
pub struct NearWide<N, const FTZ: bool>(PhantomData<N>);

impl<N: NearlyWide, const FTZ: bool> Body for NearWide<N, FTZ> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction; used with AVX2 only.
        unsafe {
            let row = *cx.row::<f32>(op.a);
            let mut unsure = 0;
            let (mut x, mut y, mut out) = ([0f32; 32], [0f32; 32], [0u32; 32]);
            for lane in 0..32 {
                x[lane] = N::before(f32::from_bits(row[lane]), FTZ);
            }
            for part in 0..4 {
                let x = _mm256_loadu_ps(x.as_ptr().add(8 * part));
                let (low, first) = N::four(_mm256_cvtps_pd(_mm256_castps256_ps128(x)));
                let (high, second) = N::four(_mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x)));
                let sure = [
                    _mm256_movemask_pd(_mm256_andnot_pd(is_near_middle(low), first)) as u32,
                    _mm256_movemask_pd(_mm256_andnot_pd(is_near_middle(high), second)) as u32,
                ];
                let rounded = _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
                let off = _mm256_movemask_ps(_mm256_castsi256_ps(N::off(rounded))) as u32;
                unsure |= (!(sure[0] | sure[1] << 4) & 0xff | off) << (8 * part);
                _mm256_storeu_ps(y.as_mut_ptr().add(8 * part), rounded);
            }
            for lane in 0..32 {
                out[lane] = N::after(f32::from_bits(row[lane]), y[lane], FTZ).to_bits();
            }
            for lane in lanes(unsure & cx.mask) {
                out[lane] = N::long(f32::from_bits(row[lane]), FTZ).to_bits();
            }
            blend(cx.mask, cx.row_mut::<f32>(op.d), &out);
        }
        Flow::Next
    }
}

/// Ones where results may be rounded in another way than those of the long way: how far on they are from what is just
/// before the middle between two f32.
///
/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn is_near_middle(value: __m256d) -> __m256d {
    // SAFETY: as the caller says.
    unsafe {
        let bits = _mm256_add_epi64(_mm256_castpd_si256(value), _mm256_set1_epi64x(UNSURE - (1 << 28)));
        let rest = _mm256_and_si256(bits, _mm256_set1_epi64x((1 << 29) - 1));
        _mm256_castsi256_pd(_mm256_cmpgt_epi64(_mm256_set1_epi64x(2 * UNSURE), rest))
    }
}

/// # Safety
/// The machine must have AVX2 and FMA.
#[inline(always)]
unsafe fn series(factors: &[f64], x: __m256d, mut sum: __m256d) -> __m256d {
    for factor in factors {
        // SAFETY: as the caller says.
        sum = unsafe { _mm256_fmadd_pd(sum, x, _mm256_set1_pd(*factor)) };
    }
    sum
}

/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn all() -> __m256d {
    // SAFETY: as the caller says.
    unsafe { _mm256_castsi256_pd(_mm256_set1_epi64x(-1)) }
}

/// 2^(j/4)
const QUARTERS: [f64; 4] = [1.0, 1.189207115002721, std::f64::consts::SQRT_2, 1.681792830507429];

/// What y^7 of 2^y is multiplied by; the next one would be 2^-43 where |y| is 1/8.
const SEVENTH: f64 = 1.5252733804059841e-5;

impl NearlyWide for Ex2 {
    #[inline(always)]
    unsafe fn four(x: __m256d) -> (__m256d, __m256d) {
        // SAFETY: as the caller says; the table has four numbers.
        unsafe {
            // Added to this, a number keeps two bits of its fraction, and they are the lowest.
            let large = _mm256_set1_pd(6_755_399_441_055_744.0 / 4.0);
            let moved = _mm256_add_pd(x, large);
            let y = _mm256_sub_pd(x, _mm256_sub_pd(moved, large));
            let sum = series(&POWERS, y, _mm256_set1_pd(SEVENTH));
            let moved = _mm256_castpd_si256(moved);
            // Where the two words of a number of the table are.
            let word = _mm256_and_si256(_mm256_add_epi64(moved, moved), _mm256_set1_epi64x(6));
            let next = _mm256_add_epi64(word, _mm256_set1_epi64x(1));
            let words = _mm256_or_si256(word, _mm256_slli_epi64::<32>(next));
            let table = _mm256_castpd_si256(_mm256_loadu_pd(QUARTERS.as_ptr()));
            let part = _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(table, words));
            let power = _mm256_fmadd_pd(_mm256_mul_pd(part, y), sum, part);
            // By a multiplication: what is added to the exponent of NaN could make a number of it.
            let whole = _mm256_add_epi64(_mm256_srli_epi64::<2>(moved), _mm256_set1_epi64x(1023));
            let scale = _mm256_castsi256_pd(_mm256_slli_epi64::<52>(whole));
            (_mm256_mul_pd(power, scale), all())
        }
    }
}

impl NearlyWide for Lg2 {
    #[inline(always)]
    unsafe fn four(x: __m256d) -> (__m256d, __m256d) {
        // SAFETY: as the caller says.
        unsafe {
            let root_of_half = _mm256_set1_epi64x(0x3fe6_a09e_667f_3bcd);
            let bits = _mm256_castpd_si256(x);
            // 1024 more than the exponent, for only words without a sign can be shifted.
            let moved = _mm256_add_epi64(_mm256_sub_epi64(bits, root_of_half), _mm256_set1_epi64x(1024 << 52));
            let exponent = _mm256_srli_epi64::<52>(moved);
            let by = _mm256_slli_epi64::<52>(_mm256_sub_epi64(exponent, _mm256_set1_epi64x(1024)));
            let m = _mm256_castsi256_pd(_mm256_sub_epi64(bits, by));
            let one = _mm256_set1_pd(1.0);
            let s = _mm256_div_pd(_mm256_sub_pd(m, one), _mm256_add_pd(m, one));
            let square = _mm256_mul_pd(s, s);
            let sum = series(&LOGARITHM[1..], square, _mm256_set1_pd(LOGARITHM[0]));
            let twice = _mm256_add_pd(s, s);
            let rest = _mm256_fmadd_pd(_mm256_mul_pd(twice, square), sum, twice);
            // The lowest bits of 2^52 count ones.
            let counted = _mm256_or_si256(exponent, _mm256_set1_epi64x(0x4330_0000_0000_0000));
            let whole = _mm256_sub_pd(_mm256_castsi256_pd(counted), _mm256_set1_pd((1u64 << 52) as f64 + 1024.0));
            let value = _mm256_fmadd_pd(rest, _mm256_set1_pd(std::f64::consts::LOG2_E), whole);
            let positive = _mm256_cmp_pd::<_CMP_GT_OQ>(x, _mm256_setzero_pd());
            let finite = _mm256_cmp_pd::<_CMP_LE_OQ>(x, _mm256_set1_pd(f32::MAX.into()));
            (value, _mm256_and_pd(positive, finite))
        }
    }
}

impl<const COSINE: bool> NearlyWide for Wave<COSINE> {
    #[inline(always)]
    unsafe fn four(x: __m256d) -> (__m256d, __m256d) {
        // SAFETY: as the caller says.
        unsafe {
            let sign = _mm256_set1_pd(-0.0);
            // As many turns as a product that is rounded toward zero says: this one is exact, and loses what f32 does not
            // hold. What is left of them needs no rounding.
            let product = _mm256_mul_pd(x, _mm256_set1_pd(f32::from_bits(0x3e22_f983).into()));
            let turns = _mm256_and_pd(product, _mm256_castsi256_pd(_mm256_set1_epi64x(-1 << 29)));
            let whole = _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(turns);
            let rest = _mm256_sub_pd(turns, whole);
            let (size, quarter) = (_mm256_andnot_pd(sign, rest), _mm256_set1_pd(0.25));
            let short = if COSINE {
                _mm256_sub_pd(quarter, size)
            } else {
                // The second quarter of a turn is the first one backwards.
                _mm256_min_pd(size, _mm256_sub_pd(_mm256_set1_pd(0.5), size))
            };
            let angle = _mm256_mul_pd(short, _mm256_set1_pd(std::f64::consts::TAU));
            let square = _mm256_mul_pd(angle, angle);
            let sum = series(&SINE[1..], square, _mm256_set1_pd(SINE[0]));
            let value = _mm256_fmadd_pd(_mm256_mul_pd(angle, square), sum, angle);
            let finite = _mm256_cmp_pd::<_CMP_LE_OQ>(_mm256_andnot_pd(sign, x), _mm256_set1_pd(f32::MAX.into()));
            if COSINE {
                return (value, finite);
            }
            // What is no turn at all keeps the sign of the argument. Where f32 would be subnormal, it holds less than is
            // kept here.
            let none = _mm256_cmp_pd::<_CMP_EQ_OQ>(turns, _mm256_setzero_pd());
            let signed = _mm256_or_pd(value, _mm256_and_pd(_mm256_blendv_pd(rest, turns, none), sign));
            let normal =
                _mm256_cmp_pd::<_CMP_GE_OQ>(_mm256_andnot_pd(sign, turns), _mm256_set1_pd(f32::MIN_POSITIVE.into()));
            (signed, _mm256_and_pd(finite, _mm256_or_pd(none, normal)))
        }
    }

    /// Subnormals, and the least number that is none.
    #[inline(always)]
    unsafe fn off(y: __m256) -> __m256i {
        // SAFETY: as the caller says.
        unsafe {
            let size = _mm256_and_si256(_mm256_castps_si256(y), _mm256_set1_epi32(i32::MAX));
            let some = _mm256_cmpgt_epi32(size, _mm256_setzero_si256());
            _mm256_and_si256(some, _mm256_cmpgt_epi32(_mm256_set1_epi32(0x0080_0001), size))
        }
    }
}
