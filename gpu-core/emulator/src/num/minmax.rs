//! min and max with PTX's NaN, `.abs` and `.xorsign` rules, and `.relu`.
//!
//! Without `.NaN` a NaN operand is ignored; with it any NaN operand gives the canonical NaN. -0 is below +0.

use super::{NAN_16, NAN_F32, flush};

/// The modifiers of `min` and `max`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// True for max, false for min.
    pub max: bool,
    pub ftz: bool,
    /// `.NaN`: a NaN operand makes the result NaN.
    pub nan: bool,
    /// `.abs`: compare and return magnitudes.
    pub abs: bool,
    /// `.xorsign`: the result's sign is the XOR of the operands' signs (used with `.abs`).
    pub xorsign: bool,
}

macro_rules! pick {
    ($name:ident, $unsigned:ty, $signed:ty) => {
        /// Chooses between two patterns of `bits` bits. Without branches: loops over lanes become vector instructions.
        #[inline(always)]
        fn $name(
            a: $unsigned,
            b: $unsigned,
            m: Modifiers,
            bits: u32,
            infinity: $unsigned,
            canonical: $unsigned,
        ) -> $unsigned {
            const WIDTH: u32 = <$unsigned>::BITS;
            // An integer that orders as the values do, -0 below +0.
            let order = |pattern: $unsigned| {
                let shifted = (pattern << (WIDTH - bits)) as $signed;
                shifted ^ ((shifted >> (WIDTH - 1)) as $unsigned >> 1) as $signed
            };
            let sign_bit = 1 << (bits - 1);
            let sign = (a ^ b) & sign_bit;
            let (a_nan, b_nan) = (a & !sign_bit > infinity, b & !sign_bit > infinity);
            let (a, b) = if m.abs { (a & !sign_bit, b & !sign_bit) } else { (a, b) };
            let beyond = if m.max { order(b) > order(a) } else { order(b) < order(a) };
            let result = if a_nan | (!b_nan & beyond) { b } else { a };
            let result = if m.xorsign { result & !sign_bit | sign } else { result };
            if (a_nan & b_nan) | (m.nan & (a_nan | b_nan)) { canonical } else { result }
        }
    };
}

pick!(pick32, u32, i32);
pick!(pick64, u64, i64);

/// `min`/`max` of f32.
#[inline(always)]
pub fn f32(a: f32, b: f32, m: Modifiers) -> f32 {
    let (a, b) = if m.ftz { (flush(a), flush(b)) } else { (a, b) };
    f32::from_bits(pick32(a.to_bits(), b.to_bits(), m, 32, 0x7f80_0000, NAN_F32.to_bits()))
}

/// `min`/`max` of f64 (no modifiers in PTX).
#[inline(always)]
pub fn f64(a: f64, b: f64, m: Modifiers) -> f64 {
    // Of two NaNs the second stays, made quiet.
    f64::from_bits(pick64(a.to_bits(), b.to_bits(), m, 64, 0x7ff0 << 48, b.to_bits() | 1 << 51))
}

/// `min`/`max` of f16. `.ftz` flushes subnormal operands.
#[inline(always)]
pub fn f16(a: u16, b: u16, m: Modifiers) -> u16 {
    let (a, b) = if m.ftz { (flush_f16(a), flush_f16(b)) } else { (a, b) };
    pick32(a.into(), b.into(), m, 16, 0x7c00, NAN_16.into()) as u16
}

/// `min`/`max` of bf16.
#[inline(always)]
pub fn bf16(a: u16, b: u16, m: Modifiers) -> u16 {
    pick32(a.into(), b.into(), m, 16, 0x7f80, NAN_16.into()) as u16
}

/// `.ftz` for f16.
#[inline(always)]
pub fn flush_f16(h: u16) -> u16 {
    if h & 0x7c00 == 0 { h & 0x8000 } else { h }
}

/// `.relu` for f16 and bf16: negative values and -0 become +0, NaN (made canonical already) stays.
#[inline(always)]
pub fn relu16(h: u16, enabled: bool) -> u16 {
    if enabled && h & 0x8000 != 0 { 0 } else { h }
}

/// `.relu` for f32.
#[inline(always)]
pub fn relu32(x: f32, enabled: bool) -> f32 {
    if enabled && !x.is_nan() && x.is_sign_negative() { 0.0 } else { x }
}
