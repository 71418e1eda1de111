//! f16 and bf16 to and from f32: the conversions that lane loops do most, without branches on data.

use super::format::{Format, Overflow, Rounding};

/// f16 to f32, exact. NaN becomes the canonical NaN.
#[inline(always)]
pub fn f16_to_f32(h: u16) -> f32 {
    let sign = u32::from(h & 0x8000) << 16;
    let magnitude = u32::from(h & 0x7fff) << 13;
    // Multiplying by 2^112 re-biases the exponent and normalises subnormals in one exact step.
    let scaled = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
    let special = if magnitude > 0x0f80_0000 { 0x7fff_ffff } else { 0x7f80_0000 };
    let bits = if magnitude >= 0x0f80_0000 { special } else { scaled };
    let sign = if magnitude > 0x0f80_0000 { 0 } else { sign };
    f32::from_bits(bits | sign)
}

/// f32 to f16, nearest even. NaN becomes `0x7fff`, overflow infinity.
#[inline(always)]
pub fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    // Normal results: re-bias, add the rounding increment (0xfff plus the last kept bit), drop 13 bits.
    let normal = magnitude.wrapping_add(0xc800_0fff).wrapping_add(magnitude >> 13 & 1) >> 13;
    // Subnormal results: adding 0.5 aligns the quantum 2^-24 with the last bit of an f32, and the addition rounds.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let small = magnitude < 0x3880_0000;
    let big = magnitude >= 0x477f_f000;
    let finite = if small { subnormal } else { normal } as u16;
    let nan = magnitude > 0x7f80_0000;
    let code = if big { 0x7c00 } else { finite };
    if nan { super::NAN_16 } else { code | sign }
}

/// bf16 to f32: the same bits, also for NaN, as the hardware (which merely shifts) does.
#[inline(always)]
pub fn bf16_to_f32(h: u16) -> f32 {
    f32::from_bits(u32::from(h) << 16)
}

/// f32 to bf16, nearest even. NaN becomes `0x7fff`.
#[inline(always)]
pub fn f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff).wrapping_add(bits >> 16 & 1) >> 16;
    if bits & 0x7fff_ffff > 0x7f80_0000 { super::NAN_16 } else { rounded as u16 }
}

/// f32 to f16 with any rounding and optional saturation.
#[inline]
pub fn f32_to_f16_with(x: f32, rounding: Rounding, overflow: Overflow) -> u16 {
    if rounding == Rounding::Rn && overflow == Overflow::Infinity {
        return f32_to_f16(x);
    }
    Format::F16.encode(f64::from(x), rounding, overflow) as u16
}

/// f32 to bf16 with any rounding and optional saturation.
#[inline]
pub fn f32_to_bf16_with(x: f32, rounding: Rounding, overflow: Overflow) -> u16 {
    if rounding == Rounding::Rn && overflow == Overflow::Infinity {
        return f32_to_bf16(x);
    }
    Format::BF16.encode(f64::from(x), rounding, overflow) as u16
}

/// f64 to f16 with one rounding. (By way of f32 a value could be rounded twice.)
#[inline(always)]
pub fn f64_to_f16(x: f64) -> u16 {
    f32_to_f16(round_to_odd(x))
}

/// f64 to bf16 with one rounding.
#[inline(always)]
pub fn f64_to_bf16(x: f64) -> u16 {
    f32_to_bf16(round_to_odd(x))
}

/// f64 to f32, where an inexact result has its last bit set: a later rounding to at most 21 bits is then the one that
/// the double itself would have undergone.
#[inline(always)]
pub fn round_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    let bits = nearest.to_bits();
    // Truncate: step back toward zero where rounding went away from it (infinity steps to the largest finite value).
    let truncated = if back.abs() > x.abs() { bits.wrapping_sub(1) } else { bits };
    let inexact = back != x;
    let odd = if inexact { truncated | 1 } else { bits };
    if x.is_nan() { super::NAN_F32 } else { f32::from_bits(odd) }
}

/// Widens lanes of f16 held in the low halves of registers.
#[inline(always)]
pub fn f16_lanes_to_f32<const N: usize>(lanes: &[u32; N]) -> [f32; N] {
    std::array::from_fn(|i| f16_to_f32(lanes[i] as u16))
}

/// Narrows lanes to f16, nearest even, in the low halves.
#[inline(always)]
pub fn f32_lanes_to_f16<const N: usize>(lanes: &[f32; N]) -> [u32; N] {
    std::array::from_fn(|i| u32::from(f32_to_f16(lanes[i])))
}

/// Widens lanes of bf16 held in the low halves of registers.
#[inline(always)]
pub fn bf16_lanes_to_f32<const N: usize>(lanes: &[u32; N]) -> [f32; N] {
    std::array::from_fn(|i| bf16_to_f32(lanes[i] as u16))
}

/// Narrows lanes to bf16, nearest even, in the low halves.
#[inline(always)]
pub fn f32_lanes_to_bf16<const N: usize>(lanes: &[f32; N]) -> [u32; N] {
    std::array::from_fn(|i| u32::from(f32_to_bf16(lanes[i])))
}
