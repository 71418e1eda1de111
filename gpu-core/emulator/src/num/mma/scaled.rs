//! `kind::mxf4` and `kind::mxf4nvf4`: e2m1 operands with a scale for each 16 or 32 elements of k.
//!
//! Sixteen products are summed exactly; each such sum times its two scale significands is aligned with the others and
//! the accumulator by the scales' exponents (not normalised), cut toward zero to 35 fraction bits, added, and rounded
//! toward zero to f32.

use super::super::format::power_of_two;
use super::super::pack::Narrow;
use super::integer::integer_tile;

/// Type of the block scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScaleType {
    /// A power of two, `2^(code - 127)`.
    Ue8m0,
    /// e4m3 whose sign bit is ignored.
    Ue4m3,
}

const FRACTION_BITS: i32 = 35;
/// An e2m1 value in halves, by code.
const HALVES: [i32; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

impl ScaleType {
    /// Significand in eighths and exponent; `None` for NaN.
    fn decode(self, code: u8) -> Option<(i64, i32)> {
        match self {
            ScaleType::Ue8m0 => (code != 255).then(|| (8, i32::from(code) - 127)),
            ScaleType::Ue4m3 => {
                let (field, fraction) = (i32::from(code >> 3 & 15), i64::from(code & 7));
                match (field, fraction) {
                    (15, 7) => None,
                    (0, 0) => Some((0, -126)),
                    (0, _) => Some((fraction, -6)),
                    _ => Some((fraction | 8, field - 7)),
                }
            }
        }
    }

    /// The value of a scale.
    pub fn value(self, code: u8) -> f32 {
        match self {
            ScaleType::Ue8m0 => super::super::format::ue8m0_decode(code),
            ScaleType::Ue4m3 => Narrow::E4m3.to_f32(u32::from(code & 0x7f)),
        }
    }
}

/// D = (A x scales) x (B x scales) + C with e2m1 operands.
///
/// `a` holds m x k codes row by row and `a_scales` m rows of k / `block` scales; `b` holds k x n codes row by row and
/// `b_scales` n columns of k / `block` scales (the scales of one column are adjacent). `group` elements are summed
/// exactly: 16, or 32 when every other one is a zero that 2:4 sparsity left out.
pub fn fp4_tile(
    scale: ScaleType,
    (block, group): (usize, usize),
    (m, n, k): (usize, usize, usize),
    (a, a_scales): (&[u8], &[u8]),
    (b, b_scales): (&[u8], &[u8]),
    c: &[f32],
    d: &mut [f32],
) {
    let scales = k / block;
    let decode = |codes: &[u8]| codes.iter().map(|&s| scale.decode(s)).collect::<Vec<_>>();
    let (a_scales, b_scales) = (decode(a_scales), decode(b_scales));
    let halves = |codes: &[u8]| codes.iter().map(|&x| HALVES[usize::from(x & 15)]).collect::<Vec<i32>>();
    let (a, b) = (halves(a), halves(b));
    let groups = k / group;
    let sums = group_sums((m, n, k), group, &a, &b);
    let mut terms = vec![(0i64, 0i32); groups];
    for i in 0..m {
        for j in 0..n {
            for (g, term) in terms.iter_mut().enumerate() {
                let at = g * group / block;
                *term = match (a_scales[i * scales + at], b_scales[j * scales + at]) {
                    (Some((p, e)), Some((q, f))) => (i64::from(sums[(i * groups + g) * n + j]) * p * q, e + f),
                    _ => (i64::MAX, 0),
                };
            }
            d[i * n + j] = accumulate(&terms, c[i * n + j]);
        }
    }
}

/// Exact sums of each group of products: m rows of k / `group` rows of n.
fn group_sums((m, n, k): (usize, usize, usize), group: usize, a: &[i32], b: &[i32]) -> Vec<i32> {
    let groups = k / group;
    let mut sums = vec![0i32; m * groups * n];
    let zero = vec![0i32; m * n];
    let mut part = vec![0i32; m * n];
    let mut column = vec![0i32; m * group];
    for g in 0..groups {
        for (to, from) in column.chunks_mut(group).zip(a.chunks(k)) {
            to.copy_from_slice(&from[g * group..(g + 1) * group]);
        }
        integer_tile((m, n, group), &column, &b[g * group * n..(g + 1) * group * n], &zero, false, &mut part);
        for (i, row) in part.chunks(n).enumerate() {
            sums[(i * groups + g) * n..][..n].copy_from_slice(row);
        }
    }
    sums
}

/// Adds terms with 8 fraction bits (2 of the products, 3 of each scale) to `c`. A term of `i64::MAX` is NaN.
fn accumulate(terms: &[(i64, i32)], c: f32) -> f32 {
    const TERM_FRACTION: i32 = 8;
    if c.is_nan() || terms.iter().any(|t| t.0 == i64::MAX) {
        return super::super::NAN_F32;
    }
    if c.is_infinite() {
        return c;
    }
    let bits = c.to_bits();
    let field = (bits >> 23 & 0xff) as i32;
    let magnitude = i64::from(bits & 0x7f_ffff) | i64::from(field != 0) << 23;
    let c_exponent = if magnitude == 0 { -126 } else { field.max(1) - 127 };
    let c_significand = if c.is_sign_negative() { -magnitude } else { magnitude };
    let largest = terms.iter().map(|t| t.1).fold(c_exponent, i32::max);
    let cut = |significand: i64, fraction: i32, exponent: i32| {
        let widened = significand << (FRACTION_BITS - fraction);
        let magnitude = widened.unsigned_abs() >> (largest - exponent).min(63);
        if widened < 0 { -(magnitude as i64) } else { magnitude as i64 }
    };
    let sum = terms.iter().fold(cut(c_significand, 23, c_exponent), |s, t| s + cut(t.0, TERM_FRACTION, t.1));
    // At most 50 bits: exact in f64, and so is the scaling.
    let exact = sum as f64 * power_of_two(largest - FRACTION_BITS);
    super::dot::toward_zero(exact) + 0.0
}
