//! Operands of the matrix units as significands and exponents.

use super::super::{half, pack::Narrow};
use super::zeros;

/// Element type of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    F16,
    Bf16,
    /// f32 whose lower 13 bits are ignored.
    Tf32,
    E4m3,
    E5m2,
    E3m2,
    E2m3,
    E2m1,
}

/// Exponent of the slots that 2:4 sparsity leaves out: below everything, so that they never set the alignment.
pub const ABSENT: i32 = -100_000;

/// Exponent that the units give to a zero, whatever the format: a product with zero takes no part in the alignment,
/// also beside the largest factor.
const ZERO_EXPONENT: i32 = -10_000;

impl Element {
    /// Exponent bits, fraction bits, bias.
    pub(super) const fn layout(self) -> (u32, u32, i32) {
        match self {
            Element::F16 => (5, 10, 15),
            Element::Bf16 => (8, 7, 127),
            Element::Tf32 => (8, 10, 127),
            Element::E4m3 => (4, 3, 7),
            Element::E5m2 => (5, 2, 15),
            Element::E3m2 => (3, 2, 3),
            Element::E2m3 => (2, 3, 1),
            Element::E2m1 => (2, 1, 1),
        }
    }

    /// Fraction bits of a significand.
    pub const fn fraction_bits(self) -> u32 {
        self.layout().1
    }

    /// Bits of one element in memory and in registers. 6-bit elements, and 4-bit elements beside wider ones
    /// (`kind::f8f6f4`), come in 8-bit containers: the caller knows which.
    pub const fn container_bits(self) -> u32 {
        match self {
            Element::Tf32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::E2m1 => 4,
            _ => 8,
        }
    }

    const fn narrow(self) -> Option<Narrow> {
        match self {
            Element::E4m3 => Some(Narrow::E4m3),
            Element::E5m2 => Some(Narrow::E5m2),
            Element::E3m2 => Some(Narrow::E3m2),
            Element::E2m3 => Some(Narrow::E2m3),
            Element::E2m1 => Some(Narrow::E2m1),
            _ => None,
        }
    }

    /// The value of a code, exactly.
    #[inline]
    pub fn value(self, code: u32) -> f32 {
        match self {
            Element::F16 => half::f16_to_f32(code as u16),
            Element::Bf16 => half::bf16_to_f32(code as u16),
            Element::Tf32 => f32::from_bits(code & 0xffff_e000),
            _ => self.narrow().map_or(0.0, |n| n.to_f32(code)),
        }
    }

    /// Signed significand and exponent; NaN and infinity have significand 0 and set `special`.
    #[inline(always)]
    fn decode(self, code: u32) -> (i32, i32, bool) {
        let (exponent_bits, fraction_bits, bias) = self.layout();
        let code = if matches!(self, Element::Tf32) { code >> 13 } else { code };
        let negative = ((code >> (exponent_bits + fraction_bits) & 1) as i32).wrapping_neg();
        let field = (code >> fraction_bits & ((1 << exponent_bits) - 1)) as i32;
        let fraction = (code & ((1 << fraction_bits) - 1)) as i32;
        let magnitude = fraction | i32::from(field != 0) << fraction_bits;
        let top = (1 << exponent_bits) - 1;
        let special = match self {
            Element::F16 | Element::Bf16 | Element::Tf32 | Element::E5m2 => field == top,
            Element::E4m3 => field == top && fraction == 7,
            Element::E3m2 | Element::E2m3 | Element::E2m1 => false,
        };
        let magnitude = if special { 0 } else { magnitude };
        let exponent = if magnitude == 0 { ZERO_EXPONENT } else { field.max(1).wrapping_sub(bias) };
        ((magnitude ^ negative).wrapping_sub(negative), exponent, special)
    }
}

/// A matrix operand decoded for the units: A row by row, B in the order of [`super::b_index`].
#[derive(Clone, Debug)]
pub struct Operand {
    pub element: Element,
    pub significand: Vec<i32>,
    pub exponent: Vec<i32>,
    /// True if some element is NaN or infinite; then `codes` is consulted.
    pub special: bool,
    pub codes: Vec<u32>,
}

impl Operand {
    /// Decodes codes in their given order.
    pub fn new(element: Element, codes: Vec<u32>) -> Operand {
        let mut operand =
            Operand { element, significand: zeros(codes.len()), exponent: zeros(codes.len()), special: false, codes };
        operand.decode_all();
        operand
    }

    /// The operand whose element i is this one's element `from(i)`.
    pub(super) fn reordered(&self, from: impl Fn(usize) -> usize) -> Operand {
        Operand {
            element: self.element,
            significand: (0..self.significand.len()).map(|i| self.significand[from(i)]).collect(),
            exponent: (0..self.exponent.len()).map(|i| self.exponent[from(i)]).collect(),
            special: self.special,
            codes: (0..self.codes.len()).map(|i| self.codes[from(i)]).collect(),
        }
    }

    /// The operand as the units see it when it was unpacked to f16 first: subnormals of e4m3 are normal numbers there, and
    /// their smaller exponents count in the alignment. Those of e5m2 are subnormals of f16 too. An H200 differs from a
    /// model without this in one of 100,000 sums of e4m3 by e5m2.
    pub(super) fn unpacked_to_f16(mut self) -> Operand {
        if self.element == Element::E4m3 {
            let normal = 1u32 << self.element.fraction_bits();
            for (significand, exponent) in self.significand.iter_mut().zip(&mut self.exponent) {
                while *significand != 0 && significand.unsigned_abs() < normal {
                    *significand *= 2;
                    *exponent -= 1;
                }
            }
        }
        self
    }

    fn decode_all(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor was just found to have AVX2.
            return unsafe { self.decode_avx2() };
        }
        self.decode_portable();
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn decode_avx2(&mut self) {
        self.decode_portable();
    }

    #[inline(always)]
    fn decode_portable(&mut self) {
        // One loop for each element type, so that its layout is constant inside.
        macro_rules! each {
            ($($element:ident)*) => { match self.element { $(Element::$element => {
                let mut special = false;
                let slots = self.significand.iter_mut().zip(&mut self.exponent);
                for (&code, (significand, exponent)) in self.codes.iter().zip(slots) {
                    let (s, e, x) = Element::$element.decode(code);
                    (*significand, *exponent) = (s, e);
                    special |= x;
                }
                self.special = special;
            })* } };
        }
        each!(F16 Bf16 Tf32 E4m3 E5m2 E3m2 E2m3 E2m1);
    }
}
