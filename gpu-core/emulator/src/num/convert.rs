//! Conversions between floats and integers, and among wide floats.

use super::arith32::round_f64;
use super::format::{Format, Overflow, Rounding};

/// Integer type of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// 8, 16, 32 or 64.
    pub bits: u32,
    pub signed: bool,
}

impl Int {
    #[inline(always)]
    pub const fn min(self) -> i128 {
        if self.signed { -(1i128 << (self.bits - 1)) } else { 0 }
    }

    #[inline(always)]
    pub const fn max(self) -> i128 {
        (1i128 << (self.bits - self.signed as u32)) - 1
    }
}

/// Rounds to an integral value (`.rni`, `.rzi`, `.rmi`, `.rpi`); the sign of zero is kept.
#[inline(always)]
pub fn integral64(x: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Rz => x.trunc(),
        Rounding::Rm => x.floor(),
        Rounding::Rp => x.ceil(),
        Rounding::Rna => x.round(),
        Rounding::Rn | Rounding::Rs { .. } => x.round_ties_even(),
    }
}

/// Rounds an f32 to an integral value.
#[inline(always)]
pub fn integral32(x: f32, rounding: Rounding) -> f32 {
    match rounding {
        Rounding::Rz => x.trunc(),
        Rounding::Rm => x.floor(),
        Rounding::Rp => x.ceil(),
        Rounding::Rna => x.round(),
        Rounding::Rn | Rounding::Rs { .. } => x.round_ties_even(),
    }
}

/// Float to integer, clamped to the type's range. `from_f64` says whether the source is f64, which decides what NaN
/// becomes: 0 from a narrower float to at most 32 bits, else `1 << (bits - 1)`.
///
/// The result is sign- or zero-extended to 64 bits.
#[inline(always)]
pub fn to_int(x: f64, from_f64: bool, rounding: Rounding, int: Int) -> u64 {
    if x.is_nan() {
        let most_significant = 1u64 << (int.bits - 1);
        return match (from_f64 || int.bits == 64, int.signed) {
            (false, _) => 0,
            (true, false) => most_significant,
            (true, true) => most_significant.wrapping_neg(),
        };
    }
    let whole = integral64(x, rounding);
    match (int.signed, int.bits) {
        (true, 64) => whole as i64 as u64,
        (false, 64) => whole as u64,
        (true, bits) => (whole as i64).clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) as u64,
        (false, bits) => (whole as u64).min((1 << bits) - 1),
    }
}

/// Below 2^31 in magnitude, where whole numbers of f32 are converted eight at a time: with what lies beyond, in one step,
/// they go one by one.
const BOUND: f32 = 2_147_483_648.0;

/// The whole part of a number below [`BOUND`] in magnitude, 0 for others and NaN.
#[inline(always)]
fn near(x: f32) -> i32 {
    let safe = if x.abs() < BOUND { x } else { 0.0 };
    // SAFETY: it fits.
    unsafe { safe.to_int_unchecked() }
}

/// f32 to s32, the most frequent case.
#[inline(always)]
pub fn f32_to_s32(x: f32, rounding: Rounding) -> i32 {
    let whole = integral32(x, rounding);
    let large = if whole >= BOUND { i32::MAX } else { near(whole) };
    if whole <= -BOUND { i32::MIN } else { large }
}

/// f32 to u32.
#[inline(always)]
pub fn f32_to_u32(x: f32, rounding: Rounding) -> u32 {
    let whole = integral32(x, rounding);
    let upper = near(whole - BOUND) as u32 ^ 0x8000_0000;
    let lower = near(if whole > 0.0 { whole } else { 0.0 }) as u32;
    let inside = if whole >= BOUND { upper } else { lower };
    if whole >= 2.0 * BOUND { u32::MAX } else { inside }
}

/// Integer (already extended to i128) to a float format, as a code of that format.
#[inline]
pub fn from_int(value: i128, format: &Format, rounding: Rounding) -> u64 {
    let magnitude = value.unsigned_abs() as u64;
    format.round(value < 0, magnitude, 0, rounding, Overflow::Infinity)
}

/// Signed integer to f32.
#[inline(always)]
pub fn s64_to_f32(value: i64, rounding: Rounding) -> f32 {
    if rounding == Rounding::Rn {
        return value as f32;
    }
    f32::from_bits(from_int(value.into(), &Format::F32, rounding) as u32)
}

/// Unsigned integer to f32.
#[inline(always)]
pub fn u64_to_f32(value: u64, rounding: Rounding) -> f32 {
    if rounding == Rounding::Rn {
        return value as f32;
    }
    f32::from_bits(from_int(value.into(), &Format::F32, rounding) as u32)
}

/// Signed integer to f64.
#[inline(always)]
pub fn s64_to_f64(value: i64, rounding: Rounding) -> f64 {
    if rounding == Rounding::Rn {
        return value as f64;
    }
    f64::from_bits(from_int(value.into(), &Format::F64, rounding))
}

/// Unsigned integer to f64.
#[inline(always)]
pub fn u64_to_f64(value: u64, rounding: Rounding) -> f64 {
    if rounding == Rounding::Rn {
        return value as f64;
    }
    f64::from_bits(from_int(value.into(), &Format::F64, rounding))
}

/// A NaN in another format, both kinds 0 to 3 for f16, bf16, f32 and f64. From and to f64 sign and payload survive,
/// with the quiet bit; everything else, and an f32 that `.ftz` sends through the flushing unit first, is canonical.
pub fn nan(from: i64, to: i64, raw: u64, ftz: bool) -> u64 {
    const FRACTION: [u32; 4] = [10, 7, 23, 52];
    const CANONICAL: [u64; 4] = [0x7fff, 0x7fff, 0x7fff_ffff, 0];
    let (fraction, to_fraction) = (FRACTION[from as usize & 3], FRACTION[to as usize & 3]);
    if from != 3 && to != 3 {
        return CANONICAL[to as usize & 3];
    }
    let raw = if from == 2 && ftz { CANONICAL[2] } else { raw };
    let width = [16, 16, 32, 64][from as usize & 3];
    let to_width = [16, 16, 32, 64][to as usize & 3];
    let payload = (raw & ((1 << fraction) - 1)) << (52 - fraction) >> (52 - to_fraction);
    let exponent = (1u64 << (to_width - 1)) - (1 << to_fraction);
    (raw >> (width - 1) & 1) << (to_width - 1) | exponent | 1 << (to_fraction - 1) | payload
}

/// f64 to f32, nearest even, with what [`nan`] makes of NaN; as bits.
#[inline(always)]
pub fn f64_to_f32_bits(x: f64) -> u32 {
    let raw = x.to_bits();
    let nan = (raw >> 63 << 31 | 0x7fc0_0000 | (raw & ((1 << 52) - 1)) >> 29) as u32;
    if x.is_nan() { nan } else { (x as f32).to_bits() }
}

/// f64 to f32. `.ftz` and `.sat` are applied by the caller, as for arithmetic.
#[inline(always)]
pub fn f64_to_f32(x: f64, rounding: Rounding) -> f32 {
    super::canonical(round_f64(x, rounding))
}
