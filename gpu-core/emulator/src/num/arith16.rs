//! f16 and bf16 arithmetic, correctly rounded to nearest even (the only rounding that PTX has for them).

use super::NAN_16;
use super::arith32::{sum_to_odd, sum_to_odd_f32};
use super::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, f64_to_bf16, f64_to_f16};
use super::minmax::{flush_f16, relu16};

/// Which of the two 16-bit formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    F16,
    Bf16,
}

/// The NaN that stands for an element out of bounds, without its sign.
const OOB_NAN: u16 = 0x7ff7;

/// Modifiers of 16-bit arithmetic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// Flush subnormal inputs and results (f16 only).
    pub ftz: bool,
    /// Clamp to [0, 1], NaN to +0.
    pub sat: bool,
    /// Clamp negative results to +0, NaN stays.
    pub relu: bool,
    /// `.oob`: a factor that is the out-of-bounds NaN gives +0 (fma only).
    pub oob: bool,
}

impl Kind {
    #[inline(always)]
    pub fn widen(self, h: u16) -> f32 {
        match self {
            Kind::F16 => f16_to_f32(h),
            Kind::Bf16 => bf16_to_f32(h),
        }
    }

    #[inline(always)]
    pub fn narrow(self, x: f32) -> u16 {
        match self {
            Kind::F16 => f32_to_f16(x),
            Kind::Bf16 => f32_to_bf16(x),
        }
    }

    #[inline(always)]
    const fn one(self) -> u16 {
        match self {
            Kind::F16 => 0x3c00,
            Kind::Bf16 => 0x3f80,
        }
    }

    #[inline(always)]
    fn is_nan(self, h: u16) -> bool {
        h & 0x7fff > if matches!(self, Kind::F16) { 0x7c00 } else { 0x7f80 }
    }

    #[inline(always)]
    fn input(self, h: u16, mode: Mode) -> u16 {
        if mode.ftz && self == Kind::F16 { flush_f16(h) } else { h }
    }

    #[inline(always)]
    fn finish(self, h: u16, mode: Mode) -> u16 {
        let h = self.input(h, mode);
        let h = if mode.sat { if self.is_nan(h) || h & 0x8000 != 0 { 0 } else { h.min(self.one()) } } else { h };
        relu16(h, mode.relu)
    }

    #[inline(always)]
    fn product(self, a: u16, b: u16) -> f64 {
        f64::from(self.widen(a)) * f64::from(self.widen(b))
    }

    /// Whether `.ftz` has to look at how a result came to be: see [`Kind::just_below_normal`].
    #[inline(always)]
    fn least_normal(self, h: u16, mode: Mode) -> bool {
        mode.ftz && self == Kind::F16 && h & 0x7fff == 0x0400
    }

    /// Whether a value is subnormal in f16 also when rounded as if the exponent had no lower end: the hardware flushes
    /// it then, though it rounds to the least normal number.
    fn just_below_normal(self, exact: f64) -> bool {
        f64_to_f16(exact * 8192.0) & 0x7fff < 0x3800
    }

    /// a + b. The f32 sum may be inexact, but 24 bits are enough (2p + 2) for the second rounding to be harmless in f16;
    /// for bf16 they are enough too.
    #[inline(always)]
    pub fn add(self, a: u16, b: u16, mode: Mode) -> u16 {
        let (a, b) = (self.input(a, mode), self.input(b, mode));
        self.finish(self.narrow(self.widen(a) + self.widen(b)), mode)
    }

    #[inline(always)]
    pub fn sub(self, a: u16, b: u16, mode: Mode) -> u16 {
        let (a, b) = (self.input(a, mode), self.input(b, mode));
        self.finish(self.narrow(self.widen(a) - self.widen(b)), mode)
    }

    /// a * b; by way of f64, because a bf16 product can be subnormal in f32 and would be rounded twice.
    #[inline(always)]
    pub fn mul(self, a: u16, b: u16, mode: Mode) -> u16 {
        let (a, b) = (self.input(a, mode), self.input(b, mode));
        let product = match self {
            Kind::F16 => f32_to_f16(f16_to_f32(a) * f16_to_f32(b)),
            Kind::Bf16 => f64_to_bf16(f64::from(bf16_to_f32(a)) * f64::from(bf16_to_f32(b))),
        };
        if self.least_normal(product, mode) && self.just_below_normal(self.product(a, b)) {
            return self.finish(product & 0x8000, mode);
        }
        self.finish(product, mode)
    }

    /// a * b + c, rounded once.
    #[inline(always)]
    pub fn fma(self, a: u16, b: u16, c: u16, mode: Mode) -> u16 {
        // What tensor copies can fill with; an H200 took this pattern, of either sign, and no other NaN for it.
        if mode.oob && [a, b].iter().any(|factor| factor & 0x7fff == OOB_NAN) {
            return 0;
        }
        let (a, b, c) = (self.input(a, mode), self.input(b, mode), self.input(c, mode));
        let exact = |kind: Kind| sum_to_odd(kind.product(a, b), f64::from(kind.widen(c)));
        let sum = match self {
            // A product of two f16 is exact in f32, and an odd f32 has bits enough to be rounded again.
            Kind::F16 => f32_to_f16(sum_to_odd_f32(f16_to_f32(a) * f16_to_f32(b), f16_to_f32(c))),
            Kind::Bf16 => f64_to_bf16(exact(self)),
        };
        if self.least_normal(sum, mode) && self.just_below_normal(exact(self)) {
            return self.finish(sum & 0x8000, mode);
        }
        self.finish(sum, mode)
    }

    /// -a; NaN becomes the canonical one.
    #[inline(always)]
    pub fn neg(self, a: u16, ftz: bool) -> u16 {
        if self.is_nan(a) { NAN_16 } else { self.input(a, Mode { ftz, ..Mode::default() }) ^ 0x8000 }
    }

    #[inline(always)]
    pub fn abs(self, a: u16, ftz: bool) -> u16 {
        if self.is_nan(a) { NAN_16 } else { self.input(a, Mode { ftz, ..Mode::default() }) & 0x7fff }
    }
}

/// Applies a unary operation to both halves of a packed register.
#[inline(always)]
pub fn lanes1(a: u32, op: impl Fn(u16) -> u16) -> u32 {
    u32::from(op((a >> 16) as u16)) << 16 | u32::from(op(a as u16))
}

/// Applies a binary operation to both halves of packed registers.
#[inline(always)]
pub fn lanes2(a: u32, b: u32, op: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(op((a >> 16) as u16, (b >> 16) as u16)) << 16 | u32::from(op(a as u16, b as u16))
}

/// Applies a ternary operation to both halves of packed registers.
#[inline(always)]
pub fn lanes3(a: u32, b: u32, c: u32, op: impl Fn(u16, u16, u16) -> u16) -> u32 {
    u32::from(op((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16)) << 16
        | u32::from(op(a as u16, b as u16, c as u16))
}
