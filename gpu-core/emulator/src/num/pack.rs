//! Packed conversions: two or four values in one register, the first operand in the highest bits.

use super::format::{Format, Overflow, Rounding, ue8m0_decode, ue8m0_encode};
use super::{half, minmax};

/// The formats of at most 8 bits that packed conversions know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrow {
    E4m3,
    E5m2,
    E3m2,
    E2m3,
    E2m1,
}

impl Narrow {
    pub const ALL: [Narrow; 5] = [Narrow::E4m3, Narrow::E5m2, Narrow::E3m2, Narrow::E2m3, Narrow::E2m1];

    pub const fn format(self) -> &'static Format {
        match self {
            Narrow::E4m3 => &Format::E4M3,
            Narrow::E5m2 => &Format::E5M2,
            Narrow::E3m2 => &Format::E3M2,
            Narrow::E2m3 => &Format::E2M3,
            Narrow::E2m1 => &Format::E2M1,
        }
    }

    /// Bits that one value occupies in a packed register: 6-bit values are padded to 8, 4-bit values are not.
    pub const fn container_bits(self) -> u32 {
        if matches!(self, Narrow::E2m1) { 4 } else { 8 }
    }

    /// `cvt.rn.satfinite` of one value. NaN becomes the format's NaN, or its largest value if it has none.
    #[inline(always)]
    pub fn encode_rn(self, x: f32) -> u32 {
        match self {
            Narrow::E4m3 => nearest::<4, 3>(x, 0x7e, 0x7f),
            Narrow::E5m2 => nearest::<5, 2>(x, 0x7b, 0x7f),
            Narrow::E3m2 => nearest::<3, 2>(x, 0x1f, 0x1f),
            Narrow::E2m3 => nearest::<2, 3>(x, 0x1f, 0x1f),
            Narrow::E2m1 => nearest::<2, 1>(x, 0x7, 0x7),
        }
    }

    /// `cvt{.rn,.rz,.rs}.satfinite{.relu}` of one value; the result has no bits above the container.
    #[inline]
    pub fn encode(self, x: f32, rounding: Rounding, relu: bool) -> u32 {
        let code = if rounding == Rounding::Rn {
            self.encode_rn(x)
        } else {
            self.format().encode(f64::from(x), rounding, Overflow::Saturate) as u32
        };
        if relu && !x.is_nan() && x.is_sign_negative() { 0 } else { code }
    }

    /// The value as an f16, exact in every format here. NaN becomes `0x7fff`.
    #[inline(always)]
    pub fn to_f16(self, code: u32) -> u16 {
        let bits = self.to_f32(code).to_bits();
        let magnitude = bits & 0x7fff_ffff;
        // None of them is subnormal there, but those of e5m2, which is an f16 cut short.
        let normal = (magnitude >> 13).wrapping_sub((127 - 15) << 10);
        match self {
            Narrow::E5m2 if code & 0x7f > 0x7c => 0x7fff,
            Narrow::E5m2 => (code << 8) as u16,
            _ if magnitude > 0x7f80_0000 => 0x7fff,
            _ if magnitude == 0 => (bits >> 16) as u16,
            _ => (normal | bits >> 16 & 0x8000) as u16,
        }
    }

    /// The value as an f32, exact. Bits above the format's width are ignored.
    #[inline(always)]
    pub fn to_f32(self, code: u32) -> f32 {
        match self {
            Narrow::E4m3 => widened::<4, 3>(code, 0x7e, u32::MAX),
            Narrow::E5m2 => widened::<5, 2>(code, 0x7b, 0x7c),
            Narrow::E3m2 => widened::<3, 2>(code, 0x1f, u32::MAX),
            Narrow::E2m3 => widened::<2, 3>(code, 0x1f, u32::MAX),
            Narrow::E2m1 => widened::<2, 1>(code, 0x7, u32::MAX),
        }
    }
}

/// The value of a code of `E` exponent and `M` fraction bits, whose largest finite one and infinity are given.
#[inline(always)]
fn widened<const E: u32, const M: u32>(code: u32, max_code: u32, infinity: u32) -> f32 {
    let magnitude = code & ((1 << (E + M)) - 1);
    let sign = (code >> (E + M) & 1) << 31;
    let bias = (1u32 << (E - 1)) - 1;
    let normal = (magnitude << (23 - M)) + ((127 - bias) << 23);
    // So many of the smallest one.
    let least = f32::from_bits((127 + 1 - bias - M) << 23);
    let subnormal = (magnitude as i32 as f32 * least).to_bits();
    let finite = if magnitude < 1 << M { subnormal } else { normal };
    let above = if magnitude == infinity { 0x7f80_0000 | sign } else { super::NAN_F32.to_bits() };
    f32::from_bits(if magnitude > max_code { above } else { finite | sign })
}

/// Nearest even with saturation into a format of `E` exponent and `M` fraction bits.
#[inline(always)]
fn nearest<const E: u32, const M: u32>(x: f32, max_code: u32, nan: u32) -> u32 {
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let sign = (bits >> 31) << (E + M);
    let bias = (1u32 << (E - 1)) - 1;
    let shift = 23 - M;
    let increment = (1 << (shift - 1)) - 1 + (magnitude >> shift & 1);
    let normal = (magnitude.wrapping_add(increment) >> shift).wrapping_sub((127 - bias) << M);
    // Adding 2^(e_min - M + 23) aligns the subnormal quantum with the last bit of an f32; the addition rounds.
    let magic = (127 + 1 - bias - M + 23) << 23;
    let subnormal = (f32::from_bits(magnitude) + f32::from_bits(magic)).to_bits().wrapping_sub(magic);
    let smallest_normal = (128 - bias) << 23;
    let code = if magnitude < smallest_normal { subnormal } else { normal };
    if magnitude > 0x7f80_0000 { nan } else { code.min(max_code) | sign }
}

/// `cvt….{e4m3x2, e5m2x2, e3m2x2, e2m3x2, e2m1x2}.f32 d, a, b`: `a` in the high container.
#[inline]
pub fn narrow2(narrow: Narrow, a: f32, b: f32, rounding: Rounding, relu: bool) -> u32 {
    narrow.encode(a, rounding, relu) << narrow.container_bits() | narrow.encode(b, rounding, relu)
}

/// `cvt….{e4m3x2, …}.f16x2 d, a`.
#[inline]
pub fn narrow2_f16x2(narrow: Narrow, a: u32, rounding: Rounding, relu: bool) -> u32 {
    narrow2(narrow, half::f16_to_f32((a >> 16) as u16), half::f16_to_f32(a as u16), rounding, relu)
}

/// `cvt….{e4m3x2, …}.bf16x2 d, a`.
#[inline]
pub fn narrow2_bf16x2(narrow: Narrow, a: u32, rounding: Rounding, relu: bool) -> u32 {
    narrow2(narrow, half::bf16_to_f32((a >> 16) as u16), half::bf16_to_f32(a as u16), rounding, relu)
}

/// `cvt.rn{.relu}.f16x2.{e4m3x2, …} d, a`.
#[inline]
pub fn widen2_f16x2(narrow: Narrow, packed: u32, relu: bool) -> u32 {
    let one = |code| minmax::relu16(narrow.to_f16(code), relu);
    u32::from(one(packed >> narrow.container_bits())) << 16 | u32::from(one(packed))
}

/// `cvt.rn{.relu}.bf16x2.{e4m3x2, …} d, a`, exact as well.
#[inline]
pub fn widen2_bf16x2(narrow: Narrow, packed: u32, relu: bool) -> u32 {
    let one = |code| minmax::relu16(half::f32_to_bf16(narrow.to_f32(code)), relu);
    u32::from(one(packed >> narrow.container_bits())) << 16 | u32::from(one(packed))
}

/// `cvt.rn{.satfinite}{.relu}.scaled::n2::ue8m0.bf16x2.{e4m3x2, …} d, a, scale`: each value times its own scale.
pub fn widen2_bf16x2_scaled(narrow: Narrow, packed: u32, scale: u16, overflow: Overflow, relu: bool) -> u32 {
    let one = |code: u32, scale: u8| {
        let value = f64::from(narrow.to_f32(code)) * f64::from(ue8m0_decode(scale));
        u32::from(minmax::relu16(Format::BF16.encode(value, Rounding::Rn, overflow) as u16, relu))
    };
    one(packed >> narrow.container_bits(), (scale >> 8) as u8) << 16 | one(packed, scale as u8)
}

/// `cvt.rs{.relu}.satfinite.{e4m3x4, e5m2x4, e3m2x4, e2m3x4, e2m1x4}.f32 d, {a, b, e, f}, rbits`.
///
/// The 8-bit containers take the upper 16 random bits for `a` and `b` and the lower 16 for `e` and `f`. `.e2m1x4` takes
/// the upper bytes of both halves for `a` and `b` and the lower bytes for `e` and `f`; the manual gives the bytes and
/// not their order, here the upper half comes first.
pub fn narrow4_rs(narrow: Narrow, [a, b, e, f]: [f32; 4], rbits: u32, relu: bool) -> u32 {
    let (ab, ef) = if narrow == Narrow::E2m1 {
        (rbits >> 16 & 0xff00 | rbits >> 8 & 0xff, rbits >> 8 & 0xff00 | rbits & 0xff)
    } else {
        (rbits >> 16, rbits & 0xffff)
    };
    let one = |x: f32, bits: u32| narrow.encode(x, Rounding::Rs { bits, width: 16 }, relu);
    let width = narrow.container_bits();
    one(a, ab) << (3 * width) | one(b, ab) << (2 * width) | one(e, ef) << width | one(f, ef)
}

/// `cvt.{rn,rz}{.relu}{.satfinite}.f16x2.f32 d, a, b`.
#[inline]
pub fn f16x2(a: f32, b: f32, rounding: Rounding, overflow: Overflow, relu: bool) -> u32 {
    let one = |x| minmax::relu16(half::f32_to_f16_with(x, rounding, overflow), relu);
    u32::from(one(a)) << 16 | u32::from(one(b))
}

/// `cvt.{rn,rz}{.relu}{.satfinite}.bf16x2.f32 d, a, b`.
#[inline]
pub fn bf16x2(a: f32, b: f32, rounding: Rounding, overflow: Overflow, relu: bool) -> u32 {
    let one = |x| minmax::relu16(half::f32_to_bf16_with(x, rounding, overflow), relu);
    u32::from(one(a)) << 16 | u32::from(one(b))
}

/// `cvt.rs{.relu}{.satfinite}.f16x2.f32 d, a, b, rbits`: 13 random bits at bit 16 for `a`, 13 at bit 0 for `b`.
pub fn f16x2_rs(a: f32, b: f32, rbits: u32, overflow: Overflow, relu: bool) -> u32 {
    let one = |x, bits| {
        minmax::relu16(half::f32_to_f16_with(x, Rounding::Rs { bits: bits & 0x1fff, width: 13 }, overflow), relu)
    };
    u32::from(one(a, rbits >> 16)) << 16 | u32::from(one(b, rbits))
}

/// `cvt.rs{.relu}{.satfinite}.bf16x2.f32 d, a, b, rbits`: the upper 16 random bits for `a`, the lower for `b`.
pub fn bf16x2_rs(a: f32, b: f32, rbits: u32, overflow: Overflow, relu: bool) -> u32 {
    let one = |x, bits| {
        minmax::relu16(half::f32_to_bf16_with(x, Rounding::Rs { bits: bits & 0xffff, width: 16 }, overflow), relu)
    };
    u32::from(one(a, rbits >> 16)) << 16 | u32::from(one(b, rbits))
}

/// `cvt.{rna,rn,rz}{.satfinite}{.relu}.tf32.f32 d, a`: the f32 pattern with 13 zero bits at the bottom.
#[inline]
pub fn tf32(x: f32, rounding: Rounding, overflow: Overflow, relu: bool) -> u32 {
    if x.is_nan() {
        // `.rna` adds and cuts without regard to NaN, and saturating takes one step back from infinity, so that a NaN
        // may end as a number.
        let cut = x.to_bits() & !0x1fff;
        return match (rounding, overflow) {
            (Rounding::Rna, Overflow::Infinity) => cut,
            (Rounding::Rna, Overflow::Saturate) => cut - 0x2000,
            _ => 0x7fff_e000,
        };
    }
    let code = Format::TF32.encode(f64::from(x), rounding, overflow) as u32;
    if relu && !x.is_nan() && x.is_sign_negative() { 0 } else { code }
}

/// `cvt.{rz,rp}{.satfinite}.ue8m0x2.f32 d, a, b` (also for bf16 inputs, widened).
pub fn ue8m0x2(a: f32, b: f32, rounding: Rounding, overflow: Overflow) -> u32 {
    let one = |x: f32| u32::from(ue8m0_encode(f64::from(x), rounding, overflow));
    one(a) << 8 | one(b)
}

/// `cvt.rn.bf16x2.ue8m0x2 d, a`.
pub fn bf16x2_from_ue8m0x2(packed: u32) -> u32 {
    let one = |code: u32| u32::from(half::f32_to_bf16(ue8m0_decode(code as u8)));
    one(packed >> 8 & 0xff) << 16 | one(packed & 0xff)
}

/// `cvt.rn.satfinite{.relu}{.scaled::n2::ue8m0}.s2f6x2.f32 d, a, b{, scale}`: fixed point with 6 fraction bits in two's
/// complement; inputs are divided by their scale first. Without a scale pass `0x7f7f`.
pub fn s2f6x2(a: f32, b: f32, scale: u16, relu: bool) -> u32 {
    let one = |x: f32, scale: u8| -> u32 {
        let factor = f64::from(ue8m0_decode(scale));
        let scaled = f64::from(x) / factor * 64.0;
        let fixed = if scaled.is_nan() { 127 } else { scaled.round_ties_even().clamp(-128.0, 127.0) as i32 };
        (if relu { fixed.max(0) } else { fixed } & 0xff) as u32
    };
    one(a, (scale >> 8) as u8) << 8 | one(b, scale as u8)
}

/// `cvt.rn{.satfinite}{.relu}{.scaled::n2::ue8m0}.bf16x2.s2f6x2 d, a{, scale}`.
pub fn bf16x2_from_s2f6x2(packed: u32, scale: u16, overflow: Overflow, relu: bool) -> u32 {
    let one = |code: u8, scale: u8| {
        let value = f64::from(code as i8) / 64.0 * f64::from(ue8m0_decode(scale));
        u32::from(minmax::relu16(Format::BF16.encode(value, Rounding::Rn, overflow) as u16, relu))
    };
    one((packed >> 8) as u8, (scale >> 8) as u8) << 16 | one(packed as u8, scale as u8)
}

/// Element `index` of packed two's-complement integers of `bits` bits (4 or 8), signed or not.
#[inline(always)]
pub fn unpack_int(register: u32, index: u32, bits: u32, signed: bool) -> i32 {
    let field = register << (32 - bits * (index + 1));
    if signed { field as i32 >> (32 - bits) } else { (field >> (32 - bits)) as i32 }
}
