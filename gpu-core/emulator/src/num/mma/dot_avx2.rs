//! The inner loop of the units for AVX2, by hand: left alone, the compiler vectorises along k and transposes each step.

use super::dot::{Products, Sums, WIDTH};
use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2")]
fn load(lanes: &[i32; WIDTH]) -> __m256i {
    // SAFETY: the array has the 32 bytes that an unaligned load reads.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

/// Shifts toward zero; shifts of 32 and more give zero.
#[inline]
#[target_feature(enable = "avx2")]
fn cut(value: __m256i, shift: __m256i) -> __m256i {
    _mm256_sign_epi32(_mm256_srlv_epi32(_mm256_abs_epi32(value), shift), value)
}

#[inline]
#[target_feature(enable = "avx2")]
fn widen_add(sum: &mut [__m256d; 2], part: __m256i) {
    let low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(part));
    let high = _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(part));
    sum[0] = _mm256_add_pd(sum[0], low);
    sum[1] = _mm256_add_pd(sum[1], high);
}

/// Largest exponent and exact sum of the cut terms, for eight columns.
///
/// # Safety
/// The machine must have AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub fn sum_products(p: &Products<'_>, c_significand: &[i32; WIDTH], c_exponent: &[i32; WIDTH]) -> Sums {
    let c_exponent = load(c_exponent);
    let mut largest = c_exponent;
    for (&e, row) in p.a_exponents.iter().zip(p.b_exponents) {
        largest = _mm256_max_epi32(largest, _mm256_add_epi32(_mm256_set1_epi32(e), load(row)));
    }
    let mut sum = [_mm256_setzero_pd(); 2];
    widen_add(&mut sum, cut(load(c_significand), _mm256_sub_epi32(largest, c_exponent)));
    // Eight products of at most 2^(fraction bits + 2) fit in 32 bits.
    let a = p.a_significands.chunks(8).zip(p.a_exponents.chunks(8));
    let b = p.b_significands.chunks(8).zip(p.b_exponents.chunks(8));
    for ((a_significands, a_exponents), (b_significands, b_exponents)) in a.zip(b) {
        let mut part = _mm256_setzero_si256();
        let a = a_significands.iter().zip(a_exponents);
        for ((&s, &e), (significands, exponents)) in a.zip(b_significands.iter().zip(b_exponents)) {
            let product = _mm256_mullo_epi32(_mm256_set1_epi32(s.wrapping_shl(p.preshift)), load(significands));
            let shift = _mm256_sub_epi32(_mm256_sub_epi32(largest, _mm256_set1_epi32(e)), load(exponents));
            part = _mm256_add_epi32(part, cut(product, shift));
        }
        widen_add(&mut sum, part);
    }
    let (mut exponents, mut sums) = ([0; WIDTH], [0.0; WIDTH]);
    // SAFETY: both arrays have room for what is stored: 32 bytes, and twice 32.
    unsafe {
        _mm256_storeu_si256(exponents.as_mut_ptr().cast(), largest);
        _mm256_storeu_pd(sums.as_mut_ptr(), sum[0]);
        _mm256_storeu_pd(sums.as_mut_ptr().add(4), sum[1]);
    }
    (exponents, sums)
}
