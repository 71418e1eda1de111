//! The floating-point formats as data, and one rounding engine for all of them.

/// How an inexact result is chosen. `Rs` (stochastic) carries its random bits; see [`Rounding::Rs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Nearest, ties to even (`.rn`).
    Rn,
    /// Toward zero (`.rz`).
    Rz,
    /// Toward minus infinity (`.rm`).
    Rm,
    /// Toward plus infinity (`.rp`).
    Rp,
    /// Nearest, ties away from zero (`.rna`).
    Rna,
    /// Stochastic (`.rs`): `bits` is added to the discarded fraction, aligned at its most significant bit and `width`
    /// bits wide; a carry rounds away from zero.
    Rs { bits: u32, width: u32 },
}

/// What a finite value too large for the format becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Infinity where the format has one and the rounding leads there, else NaN; IEEE 754.
    Infinity,
    /// The largest finite value (`.satfinite`), also for infinite input.
    Saturate,
}

/// A binary floating-point format of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Name as PTX writes it.
    pub name: &'static str,
    /// Exponent bits.
    pub exponent_bits: u32,
    /// Fraction bits stored.
    pub fraction_bits: u32,
    /// Exponent bias.
    pub bias: i32,
    /// Bits below the fraction that are always zero (13 for tf32, which lies in an f32 register).
    pub padding: u32,
    /// Largest finite magnitude, as a code without sign and padding.
    pub max_code: u64,
    /// Code of infinity, if the format has one.
    pub infinity: Option<u64>,
    /// Canonical NaN with padding bits, if the format has one. Without one, NaN encodes as the largest value.
    pub nan: Option<u64>,
    /// False for `.ue4m3`: negative values do not exist.
    pub signed: bool,
}

const fn ieee(name: &'static str, exponent_bits: u32, fraction_bits: u32, nan: u64) -> Format {
    let infinity = ((1 << exponent_bits) - 1) << fraction_bits;
    Format {
        name,
        exponent_bits,
        fraction_bits,
        bias: (1 << (exponent_bits - 1)) - 1,
        padding: 0,
        max_code: infinity - 1,
        infinity: Some(infinity),
        nan: Some(nan),
        signed: true,
    }
}

const fn finite(name: &'static str, exponent_bits: u32, fraction_bits: u32) -> Format {
    Format {
        name,
        exponent_bits,
        fraction_bits,
        bias: (1 << (exponent_bits - 1)) - 1,
        padding: 0,
        max_code: (1 << (exponent_bits + fraction_bits)) - 1,
        infinity: None,
        nan: None,
        signed: true,
    }
}

impl Format {
    pub const F64: Format = ieee("f64", 11, 52, 0xfff8_0000_0000_0000);
    pub const F32: Format = ieee("f32", 8, 23, 0x7fff_ffff);
    pub const F16: Format = ieee("f16", 5, 10, 0x7fff);
    pub const BF16: Format = ieee("bf16", 8, 7, 0x7fff);
    /// f32 with 10 fraction bits, in the upper 19 bits of a 32-bit register.
    pub const TF32: Format = Format { padding: 13, ..ieee("tf32", 8, 10, 0x7fff_ffff) };
    pub const E5M2: Format = ieee("e5m2", 5, 2, 0x7f);
    /// No infinity; only `S.1111.111` is NaN, so the largest value is 448.
    pub const E4M3: Format = Format { max_code: 0x7e, nan: Some(0x7f), ..finite("e4m3", 4, 3) };
    /// e4m3 without a sign, the block scale of NVFP4.
    pub const UE4M3: Format = Format { signed: false, name: "ue4m3", ..Format::E4M3 };
    pub const E3M2: Format = finite("e3m2", 3, 2);
    pub const E2M3: Format = finite("e2m3", 2, 3);
    pub const E2M1: Format = finite("e2m1", 2, 1);

    /// Every format described by this type, for tests and tables (`.ue8m0` has no sign, zero or fraction: see
    /// [`ue8m0_encode`]).
    pub const ALL: [Format; 11] = [
        Format::F64,
        Format::F32,
        Format::F16,
        Format::BF16,
        Format::TF32,
        Format::E5M2,
        Format::E4M3,
        Format::UE4M3,
        Format::E3M2,
        Format::E2M3,
        Format::E2M1,
    ];

    /// Bits of a code, sign included, padding excluded.
    pub const fn bits(&self) -> u32 {
        self.exponent_bits + self.fraction_bits + self.signed as u32
    }

    /// Smallest normal exponent.
    pub const fn min_exponent(&self) -> i32 {
        1 - self.bias
    }

    #[inline(always)]
    fn sign_code(&self, negative: bool) -> u64 {
        (negative as u64) << (self.exponent_bits + self.fraction_bits + self.padding)
    }

    /// The value of a code, exactly. A code's bits above the format's width are ignored.
    pub fn decode(&self, code: u64) -> f64 {
        let code = code >> self.padding;
        let magnitude = code & ((1 << (self.exponent_bits + self.fraction_bits)) - 1);
        let negative = self.signed && (code >> (self.exponent_bits + self.fraction_bits)) & 1 == 1;
        let value = if magnitude > self.max_code {
            if Some(magnitude) == self.infinity { f64::INFINITY } else { f64::NAN }
        } else {
            let field = (magnitude >> self.fraction_bits) as i32;
            let fraction = magnitude & ((1 << self.fraction_bits) - 1);
            let significand = if field == 0 { fraction } else { fraction | 1 << self.fraction_bits };
            scale(significand as f64, field.max(1) - self.bias - self.fraction_bits as i32)
        };
        if negative { -value } else { value }
    }

    /// Encodes a double, which every narrower source widens to exactly.
    pub fn encode(&self, x: f64, rounding: Rounding, overflow: Overflow) -> u64 {
        let bits = x.to_bits();
        let negative = x.is_sign_negative();
        let field = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        if field == 0x7ff {
            if fraction != 0 {
                return self.nan.unwrap_or(self.max_code << self.padding);
            }
            if negative && !self.signed {
                return 0;
            }
            return match (overflow, self.infinity) {
                (Overflow::Infinity, Some(code)) => self.sign_code(negative) | code << self.padding,
                (Overflow::Infinity, None) => {
                    self.sign_code(negative) | self.nan.unwrap_or(self.max_code << self.padding)
                }
                (Overflow::Saturate, _) => self.largest(negative),
            };
        }
        let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
        self.round(negative, significand, field.max(1) - 1075, rounding, overflow)
    }

    /// The largest finite magnitude with a sign. An unsigned format has no negative values: zero.
    fn largest(&self, negative: bool) -> u64 {
        if negative && !self.signed { 0 } else { self.sign_code(negative) | self.max_code << self.padding }
    }

    /// Rounds `significand * 2^exponent` into this format.
    ///
    /// The lowest bit of `significand` may be a sticky bit (an OR of everything below it) if at least
    /// `fraction_bits + 3` bits are significant.
    pub fn round(
        &self,
        negative: bool,
        significand: u64,
        exponent: i32,
        rounding: Rounding,
        overflow: Overflow,
    ) -> u64 {
        let sign = self.sign_code(negative);
        if significand == 0 {
            return if self.signed { sign } else { 0 };
        }
        if negative && !self.signed {
            return 0;
        }
        let fraction_bits = self.fraction_bits as i32;
        let top = exponent + 63 - significand.leading_zeros() as i32;
        // Exponent of the last bit kept: relative for normal results, fixed for subnormal ones.
        let quantum = top.max(self.min_exponent()) - fraction_bits;
        let discarded = quantum - exponent;
        let mut kept;
        if discarded <= 0 {
            kept = significand << -discarded;
        } else {
            let rest;
            (kept, rest) = split(significand, discarded as u32);
            kept += rounds_up(rounding, negative, kept, rest) as u64;
        }
        // The hidden bit of `kept` carries into the exponent field by itself.
        let code = (((quantum + fraction_bits - self.min_exponent()) as u64) << self.fraction_bits) + kept;
        if code <= self.max_code {
            return sign | code << self.padding;
        }
        let toward_zero = match rounding {
            Rounding::Rz => true,
            Rounding::Rm => !negative,
            Rounding::Rp => negative,
            Rounding::Rn | Rounding::Rna | Rounding::Rs { .. } => false,
        };
        if overflow == Overflow::Saturate || toward_zero {
            return self.largest(negative);
        }
        match self.infinity {
            Some(code) => sign | code << self.padding,
            None => sign | self.nan.unwrap_or(self.max_code << self.padding),
        }
    }

    /// Like [`Format::round`] for a 128-bit significand whose lowest bit may be sticky.
    pub fn round_wide(&self, negative: bool, significand: u128, exponent: i32, rounding: Rounding) -> u64 {
        let excess = 64u32.saturating_sub(significand.leading_zeros());
        let lost = significand & ((1u128 << excess) - 1) != 0;
        let narrow = (significand >> excess) as u64 | lost as u64;
        self.round(negative, narrow, exponent + excess as i32, rounding, Overflow::Infinity)
    }
}

/// The discarded part as a 64-bit fraction of one unit of the kept part, with a sticky lowest bit.
#[inline(always)]
fn split(significand: u64, discarded: u32) -> (u64, u64) {
    if discarded < 64 {
        (significand >> discarded, significand << (64 - discarded))
    } else if discarded == 64 {
        (0, significand)
    } else if discarded < 128 {
        let shift = discarded - 64;
        (0, significand >> shift | (significand << (64 - shift) != 0) as u64)
    } else {
        (0, 1)
    }
}

#[inline(always)]
fn rounds_up(rounding: Rounding, negative: bool, kept: u64, rest: u64) -> bool {
    const HALF: u64 = 1 << 63;
    match rounding {
        Rounding::Rn => rest > HALF || (rest == HALF && kept & 1 == 1),
        Rounding::Rna => rest >= HALF,
        Rounding::Rz => false,
        Rounding::Rm => negative && rest != 0,
        Rounding::Rp => !negative && rest != 0,
        Rounding::Rs { bits, width } => {
            let random = u64::from(bits & (((1u64 << width) - 1) as u32)) << (64 - width);
            rest.checked_add(random).is_none()
        }
    }
}

/// `x * 2^exponent`, exact when the result is a double (also outside the exponent range of a single factor).
pub fn scale(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * power_of_two(half) * power_of_two(exponent - half)
}

/// 2^exponent for -1022..=1023.
#[inline(always)]
pub fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits((exponent.wrapping_add(1023) as u64) << 52)
}

/// The value of a `.ue8m0` scale: `2^(code - 127)`, NaN for 255.
#[inline]
pub fn ue8m0_decode(code: u8) -> f32 {
    match code {
        255 => super::NAN_F32,
        0 => f32::from_bits(0x0040_0000),
        _ => f32::from_bits(u32::from(code) << 23),
    }
}

/// The `.ue8m0` scale of |x|. `Rz` and `Rp` are the roundings of PTX; the others round to the nearest power of two with
/// ties upward, as the CUDA headers do. Zero and everything below 2^-127 become 2^-127.
pub fn ue8m0_encode(x: f64, rounding: Rounding, overflow: Overflow) -> u8 {
    let x = x.abs();
    if x.is_nan() {
        return 255;
    }
    let saturated = if overflow == Overflow::Saturate { 254 } else { 255 };
    if x == f64::INFINITY {
        return saturated;
    }
    if x <= power_of_two(-127) {
        return 0;
    }
    let exponent = (x.to_bits() >> 52) as i32 - 1023;
    let fraction = x.to_bits() & ((1 << 52) - 1);
    let up = match rounding {
        Rounding::Rz | Rounding::Rm => false,
        Rounding::Rp => fraction != 0,
        Rounding::Rn | Rounding::Rna | Rounding::Rs { .. } => fraction >= 1 << 51,
    };
    let code = exponent + 127 + i32::from(up);
    if code > 254 {
        // Rounding toward zero never leaves the finite range.
        return if matches!(rounding, Rounding::Rz | Rounding::Rm) { 254 } else { saturated };
    }
    code as u8
}
