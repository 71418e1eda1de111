//! f32 arithmetic, correctly rounded in every direction.
//!
//! Directed roundings go through f64: products are exact there, sums leave an exact error term, and quotients and roots
//! of 24-bit numbers never fall on an f32 unless they are exact.

use super::format::Rounding;
use super::{canonical, flush, saturate};

/// The modifiers that f32 arithmetic shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    pub rounding: Rounding,
    /// Flush subnormal inputs and results to a zero of the same sign.
    pub ftz: bool,
    /// Clamp the result to [0, 1], NaN to +0.
    pub sat: bool,
}

impl Mode {
    /// Nearest even, subnormals kept, no saturation.
    pub const RN: Mode = Mode { rounding: Rounding::Rn, ftz: false, sat: false };
}

/// Rounds a double to f32. `Rna` and `Rs` do not exist for f32 arithmetic and act as `Rn`.
#[inline(always)]
pub fn round_f64(x: f64, rounding: Rounding) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    let step_back = match rounding {
        Rounding::Rn | Rounding::Rna | Rounding::Rs { .. } => return nearest,
        Rounding::Rz => back.abs() > x.abs(),
        Rounding::Rm => back > x && x > 0.0,
        Rounding::Rp => back < x && x < 0.0,
    };
    let step_out = match rounding {
        Rounding::Rm => back > x && x < 0.0,
        Rounding::Rp => back < x && x > 0.0,
        _ => false,
    };
    let bits = nearest.to_bits();
    // -tiny rounds to -0 as nearest, whose next value outward is the smallest subnormal: bits + 1 in both signs.
    f32::from_bits(bits.wrapping_add(u32::from(step_out)).wrapping_sub(u32::from(step_back)))
}

/// a + b in f64 where an inexact sum has an odd last bit, so that the next rounding sees which side the truth is on.
#[inline(always)]
pub fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    let toward = if (error > 0.0) == (sum > 0.0) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    // A zero sum is always exact. Infinite and NaN sums make `error` NaN and stay as they are.
    let adjust = error.abs() > 0.0 && bits & 1 == 0;
    f64::from_bits(if adjust { toward } else { bits })
}

/// The same in f32.
#[inline(always)]
pub fn sum_to_odd_f32(a: f32, b: f32) -> f32 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    let toward = if (error > 0.0) == (sum > 0.0) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let adjust = error.abs() > 0.0 && bits & 1 == 0;
    f32::from_bits(if adjust { toward } else { bits })
}

/// An exact zero sum of opposite terms is -0 when rounding down, +0 otherwise.
#[inline(always)]
fn zero_sign(sum: f64, a: f64, b: f64, rounding: Rounding) -> f64 {
    if sum == 0.0 && rounding == Rounding::Rm && (a.is_sign_negative() || b.is_sign_negative()) { -0.0 } else { sum }
}

#[inline(always)]
fn finish(x: f32, mode: Mode) -> f32 {
    let x = if mode.ftz { flush(x) } else { x };
    if mode.sat { saturate(x) } else { canonical(x) }
}

/// Whether `.ftz` flushes a result that rounding took to the least normal number: the hardware looks at the value
/// rounded as if the exponent had no lower end.
#[inline(always)]
fn just_below_normal(exact: f64, x: f32, mode: Mode) -> bool {
    let up = f64::from_bits((1023 + 64) << 52);
    mode.ftz
        && x.abs() == f32::MIN_POSITIVE
        && round_f64(exact * up, mode.rounding).abs() < (f64::from(f32::MIN_POSITIVE) * up) as f32
}

#[inline(always)]
fn finish_inexact(exact: f64, x: f32, mode: Mode) -> f32 {
    finish(if just_below_normal(exact, x, mode) { 0.0f32.copysign(x) } else { x }, mode)
}

#[inline(always)]
fn input(x: f32, mode: Mode) -> f32 {
    if mode.ftz { flush(x) } else { x }
}

#[inline(always)]
pub fn add(a: f32, b: f32, mode: Mode) -> f32 {
    let (a, b) = (input(a, mode), input(b, mode));
    let sum = if mode.rounding == Rounding::Rn {
        a + b
    } else {
        let (a, b) = (f64::from(a), f64::from(b));
        round_f64(zero_sign(sum_to_odd(a, b), a, b, mode.rounding), mode.rounding)
    };
    finish(sum, mode)
}

#[inline(always)]
pub fn sub(a: f32, b: f32, mode: Mode) -> f32 {
    add(a, -b, mode)
}

#[inline(always)]
pub fn mul(a: f32, b: f32, mode: Mode) -> f32 {
    let (a, b) = (input(a, mode), input(b, mode));
    let exact = f64::from(a) * f64::from(b);
    let product = if mode.rounding == Rounding::Rn { a * b } else { round_f64(exact, mode.rounding) };
    finish_inexact(exact, product, mode)
}

/// a * b + c with one rounding. Inside a function compiled for FMA hardware the nearest form is one instruction.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32, mode: Mode) -> f32 {
    let (a, b, c) = (input(a, mode), input(b, mode), input(c, mode));
    let exact = || sum_to_odd(f64::from(a) * f64::from(b), f64::from(c));
    let sum = if mode.rounding == Rounding::Rn {
        a.mul_add(b, c)
    } else {
        let product = f64::from(a) * f64::from(b);
        round_f64(zero_sign(exact(), product, f64::from(c), mode.rounding), mode.rounding)
    };
    if !mode.ftz || sum.abs() != f32::MIN_POSITIVE {
        return finish(sum, mode);
    }
    finish_inexact(exact(), sum, mode)
}

/// The nearest `fma` without FMA hardware: the product is exact in f64 and the sum is rounded to odd. Vectorises.
#[inline(always)]
pub fn fma_without_hardware(a: f32, b: f32, c: f32) -> f32 {
    canonical(sum_to_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32)
}

#[inline(always)]
pub fn div(a: f32, b: f32, mode: Mode) -> f32 {
    let (a, b) = (input(a, mode), input(b, mode));
    let exact = f64::from(a) / f64::from(b);
    let quotient = if mode.rounding == Rounding::Rn { a / b } else { round_f64(exact, mode.rounding) };
    finish_inexact(exact, quotient, mode)
}

#[inline(always)]
pub fn rcp(a: f32, mode: Mode) -> f32 {
    div(1.0, a, mode)
}

/// `root`, or NaN for a negative operand and for NaN. By bits: where it compares numbers, the compiler takes the machine's
/// NaN for ours.
#[inline(always)]
pub(super) fn rooted(a: f32, root: f32) -> f32 {
    let bits = a.to_bits();
    let none = (bits > 0x7f80_0000) & (bits != 0x8000_0000);
    f32::from_bits(if none { super::NAN_F32.to_bits() } else { root.to_bits() })
}

#[inline(always)]
pub fn sqrt(a: f32, mode: Mode) -> f32 {
    let a = input(a, mode);
    let root = if mode.rounding == Rounding::Rn { a.sqrt() } else { round_f64(f64::from(a).sqrt(), mode.rounding) };
    rooted(a, finish(root, mode))
}

/// `add`, `sub` and `mul` of two packed f32 (`.f32x2`), the first value in the low half.
#[inline]
pub fn pair(a: u64, b: u64, op: impl Fn(f32, f32) -> f32) -> u64 {
    let half = |x: u64, shift: u32| f32::from_bits((x >> shift) as u32);
    let low = op(half(a, 0), half(b, 0)).to_bits();
    let high = op(half(a, 32), half(b, 32)).to_bits();
    u64::from(high) << 32 | u64::from(low)
}

/// `fma` of two packed f32.
#[inline]
pub fn pair_fma(a: u64, b: u64, c: u64, mode: Mode) -> u64 {
    let half = |x: u64, shift: u32| f32::from_bits((x >> shift) as u32);
    let one = |shift: u32| u64::from(fma(half(a, shift), half(b, shift), half(c, shift), mode).to_bits());
    one(32) << 32 | one(0)
}
