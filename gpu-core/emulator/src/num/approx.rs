//! The `.approx` functions.
//!
//! The hardware interpolates small tables whose content is not published, so bits cannot agree everywhere. These
//! compute in f64, follow the steps that the assembler emits (argument scaling, squaring for subnormal results, the
//! FMUL that turns radians into turns) and round once: inside every documented error bound, exact on special values.

use super::series::{logarithm, power_of_two, tangent, wave};
use super::{canonical, flush};

/// How far a result may be from the exact one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Error {
    /// Units in the last place of an f32.
    Ulp(f64),
    /// Times the exact result.
    Relative(f64),
    Absolute(f64),
}

/// What the manual allows a function, and where.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub form: &'static str,
    /// Section of the PTX ISA manual, chapter "Instruction Set", with the words that give the bound.
    pub source: &'static str,
    pub function: fn(f32, bool) -> f32,
    pub exact: fn(f64) -> f64,
    /// Arguments that the bound holds for.
    pub from: f64,
    pub to: f64,
    pub error: Error,
}

/// Every one-argument f32 function and its bound; a test walks the list.
pub const BOUNDS: &[Bound] = &[
    bound("rcp.approx.f32", "rcp: \"maximum ulp error of 1\"", rcp, |x| 1.0 / x, 1e-37, 1e37, Error::Ulp(1.0)),
    bound(
        "sqrt.approx.f32",
        "sqrt: \"maximum relative error 2^-23\"",
        sqrt,
        f64::sqrt,
        1e-37,
        1e38,
        Error::Relative(P23),
    ),
    bound(
        "rsqrt.approx.f32",
        "rsqrt: \"maximum relative error 2^-22.9\"",
        rsqrt,
        |x| 1.0 / x.sqrt(),
        1e-37,
        1e38,
        Error::Relative(P22_9),
    ),
    bound("ex2.approx.f32", "ex2: \"maximum ulp error of 2\"", ex2, f64::exp2, -125.0, 127.0, Error::Ulp(2.0)),
    bound(
        "lg2.approx.f32",
        "lg2: \"absolute error 2^-22\" in (0.5, 2)",
        lg2,
        f64::log2,
        0.5,
        2.0,
        Error::Absolute(P22),
    ),
    bound("lg2.approx.f32", "lg2: \"relative error 2^-22\" above 2", lg2, f64::log2, 2.0, 1e38, Error::Relative(P22)),
    bound(
        "lg2.approx.f32",
        "lg2: \"relative error 2^-22\" below 0.5",
        lg2,
        f64::log2,
        1e-37,
        0.5,
        Error::Relative(P22),
    ),
    bound(
        "sin.approx.f32",
        "sin: \"absolute error 2^-20.5\" in [-pi, pi]",
        sin,
        f64::sin,
        -PI,
        PI,
        Error::Absolute(P20_5),
    ),
    bound(
        "cos.approx.f32",
        "cos: \"absolute error 2^-20.5\" in [-pi, pi]",
        cos,
        f64::cos,
        -PI,
        PI,
        Error::Absolute(P20_5),
    ),
    bound(
        "tanh.approx.f32",
        "tanh: \"maximum relative error 2^-11\"",
        |x, _| tanh(x),
        f64::tanh,
        -20.0,
        20.0,
        Error::Relative(P11),
    ),
];

const PI: f64 = std::f64::consts::PI;
const P11: f64 = 1.0 / 2048.0;
/// 2^-20.5
const P20_5: f64 = std::f64::consts::FRAC_1_SQRT_2 / 1048576.0;
const P22: f64 = 1.0 / 4194304.0;
/// 2^-22.9
const P22_9: f64 = 1.071773462536293 / 8388608.0;
const P23: f64 = 1.0 / 8388608.0;

#[allow(clippy::too_many_arguments)]
const fn bound(
    form: &'static str,
    source: &'static str,
    function: fn(f32, bool) -> f32,
    exact: fn(f64) -> f64,
    from: f64,
    to: f64,
    error: Error,
) -> Bound {
    Bound { form, source, function, exact, from, to, error }
}

#[inline(always)]
fn input(x: f32, ftz: bool) -> f32 {
    if ftz { flush(x) } else { x }
}

#[inline(always)]
fn output(x: f64, ftz: bool) -> f32 {
    let x = x as f32;
    canonical(if ftz { flush(x) } else { x })
}

/// What a quotient or root of f32 ends as. The machine rounds it once; by way of f64 it would be the same number.
#[inline(always)]
fn finished(x: f32, ftz: bool) -> f32 {
    canonical(if ftz { flush(x) } else { x })
}

/// `rcp.approx{.ftz}.f32`; documented within 1 ulp. +-0 gives +-infinity.
#[inline(always)]
pub fn rcp(x: f32, ftz: bool) -> f32 {
    finished(1.0 / input(x, ftz), ftz)
}

/// `div.approx{.ftz}.f32`: a times the reciprocal of b, within 2 ulp for |b| in 2^-126..2^126.
/// For larger |b| the reciprocal is flushed: the result is 0, or NaN if a is infinite.
#[inline(always)]
pub fn div_approx(a: f32, b: f32, ftz: bool) -> f32 {
    let (a, b) = (input(a, ftz), input(b, ftz));
    let two_126 = f32::from_bits(0x7e80_0000);
    let zero = f32::from_bits((a.to_bits() ^ b.to_bits()) & 0x8000_0000);
    let by_large = if a.abs() < f32::INFINITY { zero } else { super::NAN_F32 };
    // Both operands are scaled up first for a subnormal divisor, whose reciprocal need not fit.
    let small = (b != 0.0) & (b.abs() < f32::MIN_POSITIVE);
    let quotient = finished(if small { a / b } else { a * rcp(b, false) }, ftz);
    if (b.abs() < f32::INFINITY) & (b.abs() > two_126) { by_large } else { quotient }
}

/// `div.full{.ftz}.f32`: within 2 ulp over the full range, as operands are scaled first.
#[inline(always)]
pub fn div_full(a: f32, b: f32, ftz: bool) -> f32 {
    finished(input(a, ftz) / input(b, ftz), ftz)
}

/// `sqrt.approx{.ftz}.f32`; within 1 ulp (2^-23 relative).
#[inline(always)]
pub fn sqrt(x: f32, ftz: bool) -> f32 {
    let x = input(x, ftz);
    super::arith32::rooted(x, finished(x.sqrt(), ftz))
}

/// `rsqrt.approx{.ftz}.f32`; documented 2^-22.9 relative. +-0 gives +-infinity.
#[inline(always)]
pub fn rsqrt(x: f32, ftz: bool) -> f32 {
    let x = input(x, ftz);
    let root = super::arith32::rooted(x, output(1.0 / f64::from(x).sqrt(), ftz));
    if x == 0.0 { (f32::INFINITY).copysign(x) } else { root }
}

/// `ex2.approx{.ftz}.f32`; documented 2 ulp. Results below 2^-126 are the square of 2^(x/2), as the assembler has it.
#[inline(always)]
pub fn ex2(x: f32, ftz: bool) -> f32 {
    let x = input(x, ftz);
    let small = !ftz && x < -126.0;
    let power = power_of_two(f64::from(if small { x * 0.5 } else { x }));
    if small { (power as f32) * (power as f32) } else { output(power, ftz) }
}

/// `lg2.approx{.ftz}.f32`; documented 2^-22 (absolute within 0.5..2). Zero of either sign gives -infinity.
#[inline(always)]
pub fn lg2(x: f32, ftz: bool) -> f32 {
    output(logarithm(f64::from(input(x, ftz))), ftz)
}

/// The multiplication by 1/(2 pi), rounded toward zero, with which the assembler turns radians into turns.
#[inline(always)]
fn turns(x: f32) -> f64 {
    const ONE_OVER_TWO_PI: f32 = f32::from_bits(0x3e22_f983);
    let product = f64::from(x) * f64::from(ONE_OVER_TWO_PI);
    f64::from(super::arith32::round_f64(product, super::Rounding::Rz))
}

/// `sin.approx{.ftz}.f32`; absolute error 2^-20.5 in [-pi, pi], growing outside as on hardware.
#[inline(always)]
pub fn sin(x: f32, ftz: bool) -> f32 {
    let t = turns(input(x, ftz));
    let rest = t - t.round_ties_even();
    // The second quarter of a turn is the first one backwards.
    let short = if rest.abs() > 0.25 { 0.5 - rest.abs() } else { rest.abs() };
    let sine = output(wave(short).copysign(rest), ftz);
    if t == 0.0 { 0.0f32.copysign(x) } else { sine }
}

/// `cos.approx{.ftz}.f32`; absolute error 2^-20.5 in [-pi, pi].
#[inline(always)]
pub fn cos(x: f32, ftz: bool) -> f32 {
    let t = turns(input(x, ftz));
    output(wave(0.25 - (t - t.round_ties_even()).abs()), ftz)
}

/// `tanh.approx.f32`; documented 2^-11 relative. Subnormal inputs are kept.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    output(tangent(f64::from(x)), false)
}

/// `ex2.approx` of f16 and bf16 lanes: computed in f64, rounded once by the caller's format.
#[inline(always)]
pub fn ex2_f16(h: u16) -> u16 {
    super::half::f64_to_f16(power_of_two(f64::from(super::half::f16_to_f32(h))))
}

/// `ex2.approx.ftz.bf16`: subnormal inputs and results are flushed.
#[inline(always)]
pub fn ex2_bf16(h: u16) -> u16 {
    let result = super::half::f64_to_bf16(power_of_two(f64::from(flush(super::half::bf16_to_f32(h)))));
    if result & 0x7f80 == 0 { result & 0x8000 } else { result }
}

/// `tanh.approx.f16`.
#[inline(always)]
pub fn tanh_f16(h: u16) -> u16 {
    super::half::f64_to_f16(tangent(f64::from(super::half::f16_to_f32(h))))
}

/// `tanh.approx.bf16`.
#[inline(always)]
pub fn tanh_bf16(h: u16) -> u16 {
    super::half::f64_to_bf16(tangent(f64::from(super::half::bf16_to_f32(h))))
}

/// Keeps the upper 32 bits of a double, rounding to nearest, and flushes subnormals: how the double-precision
/// reciprocal units return results.
fn upper_half(x: f64) -> f64 {
    if x.is_nan() {
        return f64::from_bits(0x7fff_ffff_0000_0000);
    }
    if x.is_finite() && x.abs() < f64::MIN_POSITIVE {
        return 0.0f64.copysign(x);
    }
    let bits = x.to_bits();
    f64::from_bits(if x.is_infinite() { bits } else { bits.wrapping_add(0x8000_0000) & !0xffff_ffff })
}

fn truncated_input(x: f64) -> f64 {
    let upper = f64::from_bits(x.to_bits() & !0xffff_ffff);
    // A NaN whose payload lies in the ignored half is an infinity to these units.
    if upper.abs() < f64::MIN_POSITIVE { 0.0f64.copysign(x) } else { upper }
}

/// `rcp.approx.ftz.f64`: uses and returns the upper 32 bits only.
pub fn rcp64(x: f64) -> f64 {
    upper_half(1.0 / truncated_input(x))
}

/// `rsqrt.approx.ftz.f64`: uses and returns the upper 32 bits only.
pub fn rsqrt64_ftz(x: f64) -> f64 {
    let x = truncated_input(x);
    if x == 0.0 { f64::INFINITY.copysign(x) } else { upper_half(1.0 / x.sqrt()) }
}

/// `rsqrt.approx.f64`: a routine that the assembler puts in, good to an ulp or so over the whole range, subnormals too.
pub fn rsqrt64(x: f64) -> f64 {
    if x.is_nan() {
        return super::arith64::quiet(x);
    }
    if x == 0.0 {
        return f64::INFINITY.copysign(x);
    }
    if x < 0.0 {
        return super::NAN_F64;
    }
    if x.is_infinite() {
        return 0.0;
    }
    // Subnormals are brought up by 2^108, an even power.
    let (x, up) = if x < f64::MIN_POSITIVE { (x * 2f64.powi(108), 2f64.powi(54)) } else { (x, 1.0) };
    let y = 1.0 / x.sqrt();
    // One Newton step with the residual 1 - x y^2 taken exactly enough.
    let product = x * y;
    let rest = x.mul_add(y, -product);
    let residual = (-product).mul_add(y, 1.0) - rest * y;
    y.mul_add(0.5 * residual, y) * up
}
