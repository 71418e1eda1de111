//! f64 arithmetic, correctly rounded in every direction.
//!
//! Nearest even is the native operation. The directed roundings compute the exact result with a sticky last bit in 128
//! bits of integer, then round once: no error-free transformation survives subnormals and overflow as simply.

use super::format::{Format, Rounding};

/// A finite nonzero double as `significand * 2^exponent`.
#[derive(Clone, Copy)]
struct Parts {
    negative: bool,
    significand: u64,
    exponent: i32,
}

#[inline(always)]
fn parts(x: f64) -> Parts {
    let bits = x.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
    Parts { negative: x.is_sign_negative(), significand, exponent: field.max(1) - 1075 }
}

fn round(negative: bool, significand: u128, exponent: i32, rounding: Rounding) -> f64 {
    f64::from_bits(Format::F64.round_wide(negative, significand, exponent, rounding))
}

/// Zero of the sign that an exact cancellation gives.
fn cancelled(rounding: Rounding) -> f64 {
    if rounding == Rounding::Rm { -0.0 } else { 0.0 }
}

/// A NaN with the quiet bit; sign and payload stay.
#[inline(always)]
pub(super) fn quiet(nan: f64) -> f64 {
    f64::from_bits(nan.to_bits() | 1 << 51)
}

/// The NaN that an operation makes of numbers has its sign set. So has that of x86; that of ARM has not. The sign is put
/// in as a bit: where the choice is between a NaN and a square root, LLVM takes the root, which may be NaN itself.
#[inline(always)]
fn made(result: f64) -> f64 {
    let sign = u64::from(cfg!(not(target_arch = "x86_64")) && result.is_nan()) << 63;
    f64::from_bits(result.to_bits() | sign)
}

/// `result` unless an operand is NaN: the last such operand comes out then.
#[inline(always)]
pub(super) fn last_nan(a: f64, b: f64, result: f64) -> f64 {
    if b.is_nan() {
        quiet(b)
    } else if a.is_nan() {
        quiet(a)
    } else {
        made(result)
    }
}

#[inline(always)]
pub fn add(a: f64, b: f64, rounding: Rounding) -> f64 {
    let sum = if rounding == Rounding::Rn { a + b } else { fma_exact(a, 1.0, b, rounding, a + b) };
    last_nan(a, b, sum)
}

#[inline(always)]
pub fn sub(a: f64, b: f64, rounding: Rounding) -> f64 {
    // A NaN keeps its sign.
    last_nan(a, b, add(a, -b, rounding))
}

#[inline(always)]
pub fn mul(a: f64, b: f64, rounding: Rounding) -> f64 {
    let nearest = last_nan(a, b, a * b);
    if rounding == Rounding::Rn || special(a, b) || a == 0.0 || b == 0.0 {
        return nearest;
    }
    let (a, b) = (parts(a), parts(b));
    let product = u128::from(a.significand) * u128::from(b.significand);
    round(a.negative != b.negative, product, a.exponent + b.exponent, rounding)
}

/// a * b + c with one rounding.
#[inline(always)]
pub fn fma(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    let nearest = if c.is_nan() { quiet(c) } else { last_nan(a, b, a.mul_add(b, c)) };
    if rounding == Rounding::Rn { nearest } else { fma_exact(a, b, c, rounding, nearest) }
}

fn special(a: f64, b: f64) -> bool {
    !a.is_finite() || !b.is_finite()
}

/// Directed `a * b + c`; `nearest` is returned for operands that are not finite.
fn fma_exact(a: f64, b: f64, c: f64, rounding: Rounding, nearest: f64) -> f64 {
    if special(a, b) || !c.is_finite() {
        return nearest;
    }
    let (a, b, c) = (parts(a), parts(b), parts(c));
    let product_negative = a.negative != b.negative;
    let product = u128::from(a.significand) * u128::from(b.significand);
    if product == 0 && c.significand == 0 {
        let negative = if product_negative == c.negative { c.negative } else { rounding == Rounding::Rm };
        return if negative { -0.0 } else { 0.0 };
    }
    if product == 0 {
        return round(c.negative, c.significand.into(), c.exponent, rounding);
    }
    let product_exponent = a.exponent + b.exponent;
    if c.significand == 0 {
        return round(product_negative, product, product_exponent, rounding);
    }
    // Both operands with their highest bit at bit 126: one bit is left for a carry, and the smaller one, shifted right
    // with a sticky bit, still decides every rounding.
    let (p, p_exponent) = normalise(product, product_exponent);
    let (q, q_exponent) = normalise(u128::from(c.significand), c.exponent);
    let p_larger = (p_exponent, p) >= (q_exponent, q);
    let (big, small, exponent, gap, negative) = if p_larger {
        (p, q, p_exponent, p_exponent - q_exponent, product_negative)
    } else {
        (q, p, q_exponent, q_exponent - p_exponent, c.negative)
    };
    let small = if gap >= 127 { 1 } else { small >> gap | u128::from(small & ((1u128 << gap) - 1) != 0) };
    let sum = if product_negative == c.negative { big + small } else { big - small };
    if sum == 0 { cancelled(rounding) } else { round(negative, sum, exponent, rounding) }
}

fn normalise(significand: u128, exponent: i32) -> (u128, i32) {
    let shift = significand.leading_zeros() - 1;
    (significand << shift, exponent - shift as i32)
}

#[inline(always)]
pub fn div(a: f64, b: f64, rounding: Rounding) -> f64 {
    // Said outright: of two NaNs x86 takes the first, ARM a signalling one.
    let nearest = if a.is_nan() { quiet(a) } else { last_nan(a, b, a / b) };
    if rounding == Rounding::Rn || special(a, b) || a == 0.0 || b == 0.0 {
        return nearest;
    }
    let (a, b) = (parts(a), parts(b));
    // At least 2^126 over less than 2^53: 73 significant bits of quotient or more; the remainder is the sticky bit.
    let shift = a.significand.leading_zeros() + 63;
    let numerator = u128::from(a.significand) << shift;
    let denominator = u128::from(b.significand);
    let quotient = numerator / denominator;
    let sticky = u128::from(numerator % denominator != 0);
    // One more bit below the quotient holds the sticky bit.
    round(a.negative != b.negative, quotient << 1 | sticky, a.exponent - shift as i32 - b.exponent - 1, rounding)
}

#[inline(always)]
pub fn rcp(a: f64, rounding: Rounding) -> f64 {
    div(1.0, a, rounding)
}

#[inline(always)]
pub fn sqrt(a: f64, rounding: Rounding) -> f64 {
    let nearest = if a.is_nan() { quiet(a) } else { made(a.sqrt()) };
    if rounding == Rounding::Rn || !a.is_finite() || a <= 0.0 {
        return nearest;
    }
    let Parts { significand, exponent, .. } = parts(a);
    // An even exponent and at least 120 significant bits give a root of 60 bits or more.
    let shift = significand.leading_zeros() + 62;
    let shift = if (exponent - shift as i32) % 2 == 0 { shift } else { shift - 1 };
    let radicand = u128::from(significand) << shift;
    let root = radicand.isqrt();
    let sticky = u128::from(root * root != radicand);
    round(false, root << 1 | sticky, (exponent - shift as i32) / 2 - 1, rounding)
}
