//! Number formats and arithmetic of the machine, as pure functions over bit patterns and native floats.
//!
//! Nothing here knows of warps or instructions: the instruction table calls these functions for each lane.
//! Every function that rounds takes the rounding explicitly; every NaN that a function makes is the one that the
//! hardware makes (`0x7fffffff` for f32, `0x7fff` for f16 and bf16).
//!
//! | module | content |
//! |---|---|
//! | [`format`] | the formats as data, exact decoding, encoding with every rounding |
//! | [`half`] | f16 and bf16 to and from f32, fast, and slices of lanes |
//! | [`pack`] | packed conversions (`.f16x2`, `.e4m3x2`, …), stochastic rounding, `.s2f6` |
//! | [`arith16`], [`arith32`], [`arith64`] | correctly rounded arithmetic |
//! | [`minmax`] | min and max with the NaN, `.abs` and `.xorsign` rules |
//! | [`convert`] | float to integer, integer to float, float to float |
//! | [`approx`] | the `.approx` functions |
//! | `series` | what those are computed by |
//! | [`filter`] | texture units: addressing, weights, sums |
//! | [`fragment`] | which lane and register holds which element of a matrix |
//! | [`mma`] | the matrix units: dot products, tiles, block scales, 2:4 sparsity |

pub mod approx;
pub mod arith16;
pub mod arith32;
pub mod arith64;
pub mod convert;
pub mod filter;
pub mod format;
pub mod fragment;
pub mod half;
pub mod minmax;
pub mod mma;
pub mod pack;
mod series;

pub use format::{Format, Overflow, Rounding};

/// The NaN that every f32 operation of the hardware returns.
pub const NAN_F32: f32 = f32::from_bits(0x7fff_ffff);
/// The NaN that f64 operations make of numbers; one that is an operand comes out as it is, made quiet.
pub const NAN_F64: f64 = f64::from_bits(0xfff8_0000_0000_0000);
/// The NaN that every f16 and bf16 operation returns.
pub const NAN_16: u16 = 0x7fff;

/// Replaces any NaN by the hardware's canonical f32 NaN.
#[inline(always)]
pub fn canonical(x: f32) -> f32 {
    if x.is_nan() { NAN_F32 } else { x }
}

/// `.ftz` for f32: a subnormal becomes a zero of the same sign.
#[inline(always)]
pub fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    if bits & 0x7f80_0000 == 0 { f32::from_bits(bits & 0x8000_0000) } else { x }
}

/// `.sat` for f32: clamps to [+0, 1]; NaN becomes +0.
#[inline(always)]
pub fn saturate(x: f32) -> f32 {
    if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }
}

/// `.sat` for f64: clamps to [+0, 1]; NaN becomes +0.
#[inline(always)]
pub fn saturate64(x: f64) -> f64 {
    if x > 0.0 { if x < 1.0 { x } else { 1.0 } } else { 0.0 }
}
