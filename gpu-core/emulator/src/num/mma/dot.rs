//! Tiles of dot products on the floating-point units.

use super::super::format::power_of_two;
use super::super::{arith16, arith32, arith64, canonical, half};
use super::{Accumulator, Model, Operand, Order};
use std::ops::Range;

/// Columns computed together: one AVX2 register of 32-bit integers.
pub const WIDTH: usize = 8;

/// Position of B's element (k, column) in an operand of inner dimension `k_total`: blocks of eight columns, row after
/// row inside a block. With eight columns in all this is the plain row-by-row order.
#[inline(always)]
pub const fn b_index(k_total: usize, k: usize, column: usize) -> usize {
    (column / WIDTH * k_total + k) * WIDTH + column % WIDTH
}

/// D = A x B + C for an m x n tile with inner dimension k.
///
/// `a` holds m x k elements row by row, `b` k x n in the order of [`b_index`], `c` and `d` m x n row by row; f16
/// accumulators travel as f32 values. `n` must be a multiple of 8, as in every PTX shape.
pub fn dot_tile(model: &Model, (m, n, k): (usize, usize, usize), a: &Operand, b: &Operand, c: &[f32], d: &mut [f32]) {
    assert!(a.codes.len() == m * k && b.codes.len() == k * n && c.len() == m * n && d.len() == m * n);
    assert!(n.is_multiple_of(WIDTH), "tiles are computed in blocks of eight columns");
    match model.order {
        Order::Quad => quad_tile(model.accumulator, (m, n), a, b, c, d),
        Order::Chain(group) => {
            d.copy_from_slice(c);
            for start in (0..k).step_by(group) {
                step(model, (m, n, k), start..k.min(start + group), a, b, d);
            }
        }
        Order::HalfWords(span) => {
            let order: Vec<usize> =
                [0, 1].iter().flat_map(|&upper| (0..k).filter(move |k| k / span % 2 == upper)).collect();
            let a = a.reordered(|i| i / k * k + order[i % k]).unpacked_to_f16();
            let b = b.reordered(|i| (i / WIDTH / k * k + order[i / WIDTH % k]) * WIDTH + i % WIDTH).unpacked_to_f16();
            d.fill(0.0);
            step(model, (m, n, k), 0..k / 2, &a, &b, d);
            step(model, (m, n, k), k / 2..k, &a, &b, d);
            for (d, &c) in d.iter_mut().zip(c) {
                *d = match model.accumulator {
                    Accumulator::F16 => half::f16_to_f32(half::f32_to_f16(c + *d)),
                    _ => canonical(c + *d),
                };
            }
        }
    }
}

/// One pass of the units over the inner indices `ks`, accumulating in `d`.
fn step(model: &Model, dims: (usize, usize, usize), ks: Range<usize>, a: &Operand, b: &Operand, d: &mut [f32]) {
    let before = if a.special || b.special { d.to_vec() } else { Vec::new() };
    match model.accumulator {
        Accumulator::F32 => dispatch::<F32>(model, dims, ks.clone(), a, b, d),
        Accumulator::F32Short => dispatch::<F32Short>(model, dims, ks.clone(), a, b, d),
        Accumulator::F16 => dispatch::<F16>(model, dims, ks.clone(), a, b, d),
    }
    override_specials(dims, ks, a, b, &before, d);
}

/// How sums become accumulators, as a type so that the inner loop is compiled for each.
trait Rounding {
    /// Exponent below which an accumulator's significand is not normalised.
    const FLOOR: i32;
    fn round(exact: f64) -> f32;
}

struct F32;
struct F32Short;
struct F16;

impl Rounding for F32 {
    const FLOOR: i32 = -126;
    #[inline(always)]
    fn round(exact: f64) -> f32 {
        toward_zero(exact)
    }
}

impl Rounding for F32Short {
    const FLOOR: i32 = -126;
    #[inline(always)]
    fn round(exact: f64) -> f32 {
        f32::from_bits(toward_zero(exact).to_bits() & !0x3ff)
    }
}

impl Rounding for F16 {
    const FLOOR: i32 = -14;
    #[inline(always)]
    fn round(exact: f64) -> f32 {
        half::f16_to_f32(half::f64_to_f16(exact))
    }
}

/// The operands of eight dot products with one row of A, over the inner indices of one step.
pub struct Products<'a> {
    pub a_significands: &'a [i32],
    pub a_exponents: &'a [i32],
    pub b_significands: &'a [[i32; WIDTH]],
    pub b_exponents: &'a [[i32; WIDTH]],
    /// Left shift that gives products the model's fraction bits.
    pub preshift: u32,
}

/// Largest exponent and exact sum of the cut terms, for eight columns.
pub type Sums = ([i32; WIDTH], [f64; WIDTH]);

#[inline(always)]
pub fn sum_products_portable(p: &Products<'_>, c_significand: &[i32; WIDTH], c_exponent: &[i32; WIDTH]) -> Sums {
    let mut largest = *c_exponent;
    for (&e, row) in p.a_exponents.iter().zip(p.b_exponents) {
        for x in 0..WIDTH {
            largest[x] = largest[x].max(e.wrapping_add(row[x]));
        }
    }
    let sum = std::array::from_fn(|x| {
        let own = i64::from(cut(c_significand[x], largest[x].wrapping_sub(c_exponent[x])));
        let terms = p.a_significands.iter().zip(p.a_exponents).zip(p.b_significands.iter().zip(p.b_exponents));
        let sum = terms.fold(own, |sum, ((&s, &e), (significands, exponents))| {
            let shift = largest[x].wrapping_sub(e.wrapping_add(exponents[x]));
            sum + i64::from(cut(s.wrapping_shl(p.preshift).wrapping_mul(significands[x]), shift))
        });
        sum as f64
    });
    (largest, sum)
}

fn dispatch<R: Rounding>(
    model: &Model,
    dims: (usize, usize, usize),
    ks: Range<usize>,
    a: &Operand,
    b: &Operand,
    d: &mut [f32],
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just found to have AVX2.
        return unsafe { step_avx2::<R>(model, dims, ks, a, b, d) };
    }
    step_portable::<R>(model, dims, ks, a, b, d, sum_products_portable);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn step_avx2<R: Rounding>(
    model: &Model,
    dims: (usize, usize, usize),
    ks: Range<usize>,
    a: &Operand,
    b: &Operand,
    d: &mut [f32],
) {
    step_portable::<R>(model, dims, ks, a, b, d, |p, s, e| super::dot_avx2::sum_products(p, s, e));
}

#[inline(always)]
fn step_portable<R: Rounding>(
    model: &Model,
    (m, n, k): (usize, usize, usize),
    ks: Range<usize>,
    a: &Operand,
    b: &Operand,
    d: &mut [f32],
    sum_products: impl Fn(&Products<'_>, &[i32; WIDTH], &[i32; WIDTH]) -> Sums,
) {
    let fraction_bits = model.fraction_bits;
    // Products then carry exactly `fraction_bits` fraction bits; every pair of formats has fewer.
    let preshift = fraction_bits - (a.element.fraction_bits() + b.element.fraction_bits());
    let blocks = n / WIDTH;
    let (b_significands, _) = b.significand.as_chunks::<WIDTH>();
    let (b_exponents, _) = b.exponent.as_chunks::<WIDTH>();
    let (d_blocks, _) = d.as_chunks_mut::<WIDTH>();
    for i in 0..m {
        let a_significands = &a.significand[i * k..][ks.clone()];
        let a_exponents = &a.exponent[i * k..][ks.clone()];
        for block in 0..blocks {
            let b_significands = &b_significands[block * k..][ks.clone()];
            let b_exponents = &b_exponents[block * k..][ks.clone()];
            let d = &mut d_blocks[i * blocks + block];
            let c = *d;
            let (c_significand, c_exponent) = decode_accumulator::<R>(&c, model);
            let products = Products { a_significands, a_exponents, b_significands, b_exponents, preshift };
            let (largest, sum) = sum_products(&products, &c_significand, &c_exponent);
            for x in 0..WIDTH {
                let exact = sum[x] * power_of_two(largest[x].wrapping_sub(fraction_bits as i32));
                // A sum that is too small for the result becomes +0, a negative one too.
                let result = R::round(exact) + 0.0;
                d[x] = if c[x].is_finite() { result } else { canonical(c[x]) };
            }
        }
    }
}

/// Shifts right toward zero; shifts of 31 and more leave nothing.
#[inline(always)]
fn cut(value: i32, shift: i32) -> i32 {
    let sign = value >> 31;
    let magnitude = ((value ^ sign).wrapping_sub(sign) as u32).wrapping_shr(shift.min(31) as u32);
    (magnitude as i32 ^ sign).wrapping_sub(sign)
}

/// Significand with `fraction_bits` fraction bits, and exponent. An f16 accumulator keeps f16's subnormal exponent.
#[inline(always)]
fn decode_accumulator<R: Rounding>(c: &[f32; WIDTH], model: &Model) -> ([i32; WIDTH], [i32; WIDTH]) {
    let fraction_bits = model.fraction_bits;
    let mut significand = [0; WIDTH];
    let mut exponent = [0; WIDTH];
    for x in 0..WIDTH {
        let bits = c[x].to_bits();
        let sign = bits as i32 >> 31;
        let field = (bits >> 23 & 0xff) as i32;
        let magnitude = (bits & 0x7f_ffff) as i32 | i32::from(field != 0) << 23;
        let own = field.max(1).wrapping_sub(127);
        let lift = R::FLOOR.wrapping_sub(own).max(0);
        let aligned = magnitude.wrapping_shr(lift.min(31) as u32);
        let scaled =
            if fraction_bits >= 23 { aligned << (fraction_bits - 23) } else { aligned >> (23 - fraction_bits) };
        significand[x] = (scaled ^ sign).wrapping_sub(sign);
        exponent[x] = if magnitude == 0 { model.zero_exponent } else { own.wrapping_add(lift) };
    }
    (significand, exponent)
}

/// Toward zero to f32, but a sum of 2^128 or more is infinite.
#[inline(always)]
pub(super) fn toward_zero(exact: f64) -> f32 {
    let nearest = exact as f32;
    let past = f64::from(nearest).abs() > exact.abs();
    let overflow = exact.abs() >= power_of_two(128);
    f32::from_bits(nearest.to_bits().wrapping_sub(u32::from(past && !overflow)))
}

/// Replaces results whose products contain NaN or infinity.
fn override_specials(
    (m, n, k): (usize, usize, usize),
    ks: Range<usize>,
    a: &Operand,
    b: &Operand,
    before: &[f32],
    d: &mut [f32],
) {
    if before.is_empty() {
        return;
    }
    let values = |operand: &Operand| operand.codes.iter().map(|&c| operand.element.value(c)).collect::<Vec<f32>>();
    let (a_values, b_values) = (values(a), values(b));
    for i in 0..m {
        for j in 0..n {
            let mut specials = 0f32;
            for kk in ks.clone() {
                let (x, y) = (a_values[i * k + kk], b_values[b_index(k, kk, j)]);
                if (!x.is_finite() || !y.is_finite()) && a.exponent[i * k + kk] != super::ABSENT {
                    specials += x * y;
                }
            }
            if !specials.is_finite() {
                d[i * n + j] = canonical(specials + before[i * n + j]);
            }
        }
    }
}

/// Adds the exponents of `.ue8m0` scales: `a_scales` one for each row of A, `b_scales` one for each column of B. A NaN
/// scale (255) must be handled by the caller: it makes its whole row or column NaN.
pub fn add_scales(
    a: &mut Operand,
    b: &mut Operand,
    (m, n, k): (usize, usize, usize),
    a_scales: &[u8],
    b_scales: &[u8],
) {
    for (row, &scale) in a.exponent.chunks_mut(k).zip(&a_scales[..m]) {
        row.iter_mut().for_each(|e| *e += i32::from(scale) - 127);
    }
    for (i, e) in b.exponent[..k * n].iter_mut().enumerate() {
        let column = i / (WIDTH * k) * WIDTH + i % WIDTH;
        *e += i32::from(b_scales[column]) - 127;
    }
}

/// The software call behind `mma.m8n8k4` on sm_80 and later. With an f32 accumulator: an fma chain over the four
/// products from zero, then added to C. With f16: two pairs, each added to C in f32, then rounded.
pub fn quad_tile(accumulator: Accumulator, (m, n): (usize, usize), a: &Operand, b: &Operand, c: &[f32], d: &mut [f32]) {
    for i in 0..m {
        for j in 0..n {
            let x: [f32; 4] = std::array::from_fn(|k| a.element.value(a.codes[i * 4 + k]));
            let y: [f32; 4] = std::array::from_fn(|k| b.element.value(b.codes[b_index(4, k, j)]));
            let c = c[i * n + j];
            let fma = |x, y, z| arith32::fma(x, y, z, arith32::Mode::RN);
            d[i * n + j] = if accumulator == Accumulator::F16 {
                let (first, second) = (fma(x[1], y[1], x[0] * y[0]), fma(x[3], y[3], x[2] * y[2]));
                arith16::Kind::F16.widen(half::f32_to_f16(c + first + second))
            } else {
                canonical(c + (0..4).fold(0.0, |sum, k| fma(x[k], y[k], sum)))
            };
        }
    }
}

/// f64 `mma`: a chain of fma over k in ascending order. Layouts as in [`dot_tile`].
pub fn chain_f64(
    (m, n, k): (usize, usize, usize),
    rounding: super::super::Rounding,
    a: &[f64],
    b: &[f64],
    c: &[f64],
    d: &mut [f64],
) {
    for i in 0..m {
        for j in 0..n {
            let fma = |sum, kk| arith64::fma(a[i * k + kk], b[kk * n + j], sum, rounding);
            d[i * n + j] = (0..k).fold(c[i * n + j], fma);
        }
    }
}
