//! Single codes: e4m3, e5m2, e2m1 and whole numbers of 8 and 4 bits; and ue8m0, which only scales are stored in.

use ptx_emulator::num;
use serde::{Deserialize, Serialize};

/// What one code stands for before any scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Element {
    E4m3,
    E5m2,
    E2m1,
    /// Two's complement.
    Int8,
    Int4,
    Uint4,
}

/// How a value between two codes is rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rounding {
    /// To the nearest, of two equally near ones to the even code.
    NearestEven,
    /// To the larger magnitude when the part that would be cut off, as a share of the step, is greater than this
    /// number in [0, 1): drawn evenly, the mean over many draws is the value itself.
    Stochastic(f64),
}

impl Element {
    pub const ALL: [Element; 6] =
        [Element::E4m3, Element::E5m2, Element::E2m1, Element::Int8, Element::Int4, Element::Uint4];

    pub fn bits(self) -> usize {
        match self {
            Element::E4m3 | Element::E5m2 | Element::Int8 => 8,
            Element::E2m1 | Element::Int4 | Element::Uint4 => 4,
        }
    }

    /// The floating-point format, of those that have one.
    fn float(self) -> Option<&'static num::Format> {
        match self {
            Element::E4m3 => Some(&num::Format::E4M3),
            Element::E5m2 => Some(&num::Format::E5M2),
            Element::E2m1 => Some(&num::Format::E2M1),
            Element::Int8 | Element::Int4 | Element::Uint4 => None,
        }
    }

    pub fn is_float(self) -> bool {
        self.float().is_some()
    }

    /// Least and greatest finite value.
    pub fn range(self) -> (f64, f64) {
        match self {
            Element::E4m3 => (-448.0, 448.0),
            Element::E5m2 => (-57344.0, 57344.0),
            Element::E2m1 => (-6.0, 6.0),
            Element::Int8 => (-128.0, 127.0),
            Element::Int4 => (-8.0, 7.0),
            Element::Uint4 => (0.0, 15.0),
        }
    }

    /// The value of a code; bits above [`bits`](Self::bits) are ignored.
    pub fn decode(self, code: u8) -> f64 {
        match self {
            Element::Int8 => f64::from(code as i8),
            Element::Int4 => f64::from((code << 4) as i8 >> 4),
            Element::Uint4 => f64::from(code & 15),
            Element::E4m3 | Element::E5m2 | Element::E2m1 => {
                self.float().map_or(f64::NAN, |format| format.decode(code.into()))
            }
        }
    }

    /// The code of a value. Beyond the range, infinity included, it is the largest of that sign. NaN is NaN where the
    /// format has one, the largest value in e2m1 (as `cvt.rn.satfinite.e2m1x2.f32` gives it) and 0 in whole numbers
    /// (as `__float2int_rn` gives it).
    pub fn encode(self, value: f64, rounding: Rounding) -> u8 {
        let (least, greatest) = self.range();
        match (self.float(), rounding) {
            (Some(format), Rounding::NearestEven) => {
                format.encode(value, num::Rounding::Rn, num::Overflow::Saturate) as u8
            }
            (Some(format), Rounding::Stochastic(_)) if !value.is_finite() || value.abs() >= greatest => {
                format.encode(value, num::Rounding::Rn, num::Overflow::Saturate) as u8
            }
            (Some(format), Rounding::Stochastic(random)) => {
                let below = format.encode(value, num::Rounding::Rz, num::Overflow::Saturate) as u8;
                let from = self.decode(below);
                let share = (value - from).abs() / self.step(value);
                // Codes of one sign are ordered as their magnitudes are.
                if share > random { below + 1 } else { below }
            }
            (None, _) if value.is_nan() => 0,
            (None, Rounding::NearestEven) => self.mask(value.round_ties_even().clamp(least, greatest)),
            (None, Rounding::Stochastic(random)) => {
                let from = value.trunc();
                let away = if (value - from).abs() > random { value.signum() } else { 0.0 };
                self.mask((from + away).clamp(least, greatest))
            }
        }
    }

    fn mask(self, whole: f64) -> u8 {
        let bits = whole as i64 as u8;
        if self.bits() == 4 { bits & 15 } else { bits }
    }

    /// Distance of the two neighbouring codes between which a value lies; 1 for whole numbers.
    pub fn step(self, value: f64) -> f64 {
        let Some(format) = self.float() else { return 1.0 };
        let magnitude = value.abs().min(self.range().1);
        // Subnormals have the step of the least normal exponent.
        let exponent = exponent_of(magnitude).max(format.min_exponent());
        2f64.powi(exponent - format.fraction_bits as i32)
    }
}

/// `floor(log2(x))` of a positive number, exactly; a very small one for 0.
fn exponent_of(x: f64) -> i32 {
    if x == 0.0 {
        return -1074;
    }
    let field = (x.to_bits() >> 52 & 0x7ff) as i32;
    if field == 0 { exponent_of(x * 2f64.powi(64)) - 64 } else { field - 1023 }
}

/// The value of a ue8m0 scale: `2^(code - 127)`, NaN for 255.
pub fn ue8m0_value(code: u8) -> f64 {
    if code == 255 { f64::NAN } else { 2f64.powi(i32::from(code) - 127) }
}

/// The ue8m0 scale of a block by the OCP recipe: the exponent of its largest magnitude, less that of the largest element
/// value. An all-zero block has the least scale, one with an infinity the NaN.
pub fn ue8m0_of_amax(amax: f64, element: Element) -> u8 {
    if !amax.is_finite() {
        return 255;
    }
    (exponent_of(amax) - exponent_of(element.range().1) + 127).clamp(0, 254) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emulator::num::half;

    /// Finite values of a format by the definition in the OCP papers: sign, exponent field, fraction field.
    fn by_definition(exponent_bits: u32, fraction_bits: u32, code: u32) -> f64 {
        let bias = (1 << (exponent_bits - 1)) - 1;
        let fraction = f64::from(code & ((1 << fraction_bits) - 1)) / f64::from(1 << fraction_bits);
        let field = (code >> fraction_bits & ((1 << exponent_bits) - 1)) as i32;
        let magnitude =
            if field == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(field - bias) };
        if code >> (exponent_bits + fraction_bits) == 1 { -magnitude } else { magnitude }
    }

    /// Every code with its value, NaN and infinity left out, by a formula of its own.
    fn table(element: Element) -> Vec<(u8, f64)> {
        let codes = 0..1_u32 << element.bits();
        let value = |code: u32| match element {
            Element::E4m3 if code & 0x7f == 0x7f => None,
            Element::E4m3 => Some(by_definition(4, 3, code)),
            Element::E5m2 if code & 0x7c == 0x7c => None,
            Element::E5m2 => Some(by_definition(5, 2, code)),
            Element::E2m1 => Some(by_definition(2, 1, code)),
            Element::Int8 => Some(if code < 128 { f64::from(code) } else { f64::from(code) - 256.0 }),
            Element::Int4 => Some(if code < 8 { f64::from(code) } else { f64::from(code) - 16.0 }),
            Element::Uint4 => Some(f64::from(code)),
        };
        codes.filter_map(|code| value(code).map(|value| (code as u8, value))).collect()
    }

    /// The nearest code by trying them all; of two equally near ones the even one. Zeros keep the sign.
    fn nearest(element: Element, table: &[(u8, f64)], x: f64) -> u8 {
        let (least, greatest) = element.range();
        let x_in_range = x.clamp(least, greatest);
        let fits = |(_, value): &&(u8, f64)| {
            *value != 0.0 || !element.is_float() || value.is_sign_negative() == x.is_sign_negative()
        };
        let distance = |value: f64| (x_in_range - value).abs();
        let best = table.iter().filter(fits).map(|(_, value)| distance(*value)).fold(f64::INFINITY, f64::min);
        let mut tied = table.iter().filter(fits).filter(|(_, value)| distance(*value) == best).map(|(code, _)| *code);
        let first = tied.next().unwrap_or_default();
        tied.next().map_or(first, |second| if first & 1 == 0 { first } else { second })
    }

    #[test]
    fn every_code_has_the_value_of_the_definition_and_goes_back() {
        for element in Element::ALL {
            let table = table(element);
            for (code, value) in &table {
                assert_eq!(element.decode(*code), *value, "{element:?} {code:#x}");
                let back = element.encode(*value, Rounding::NearestEven);
                assert_eq!(back, *code, "{element:?} {value}");
                for random in [0.0, 0.3, 0.999] {
                    assert_eq!(element.encode(*value, Rounding::Stochastic(random)), *code, "{element:?} {value}");
                }
            }
            let values = || table.iter().map(|(_, value)| *value);
            let range = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
            assert_eq!(element.range(), range, "{element:?}");
            let others = 1 << element.bits();
            let not_finite = (0..others).filter(|code| !element.decode(*code as u8).is_finite()).count();
            assert_eq!(table.len() + not_finite, others as usize, "{element:?}");
        }
    }

    #[test]
    fn all_halves_round_to_the_nearest_code() {
        for element in Element::ALL {
            let table = table(element);
            for bits in 0..=u16::MAX {
                let x = f64::from(half::f16_to_f32(bits));
                let got = element.encode(x, Rounding::NearestEven);
                if x.is_nan() {
                    let value = element.decode(got);
                    assert!(value.is_nan() || value == if element == Element::E2m1 { 6.0 } else { 0.0 });
                    continue;
                }
                assert_eq!(got, nearest(element, &table, x), "{element:?} of {x} ({bits:#06x})");
            }
        }
    }

    #[test]
    fn midpoints_go_to_the_even_code_and_their_neighbours_to_the_nearer_one() {
        for element in Element::ALL {
            let mut sorted = table(element);
            sorted.retain(|(_, value)| !(value.is_sign_negative() && *value == 0.0));
            sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
            for pair in sorted.windows(2) {
                let ((low_code, low), (high_code, high)) = (pair[0], pair[1]);
                let middle = ((low + high) / 2.0) as f32;
                let encode = |x: f32| element.decode(element.encode(f64::from(x), Rounding::NearestEven));
                assert_eq!(encode(middle.next_down()), low, "{element:?} below {middle}");
                assert_eq!(encode(middle.next_up()), high, "{element:?} above {middle}");
                let even = if low_code & 1 == 0 { low } else { high };
                assert!(low_code & 1 != high_code & 1, "{element:?}: neighbours differ in their last bit");
                assert_eq!(encode(middle), even, "{element:?} at {middle}");
                assert_eq!(element.step(f64::from(middle)), high - low, "{element:?} at {middle}");
            }
        }
    }

    #[test]
    fn beyond_the_range_the_largest_value_stands() {
        for element in Element::ALL {
            let (least, greatest) = element.range();
            for rounding in [Rounding::NearestEven, Rounding::Stochastic(0.0), Rounding::Stochastic(0.99)] {
                for far in [greatest * 1.5, 1e30, f64::INFINITY] {
                    assert_eq!(element.decode(element.encode(far, rounding)), greatest, "{element:?} {far}");
                    assert_eq!(element.decode(element.encode(-far, rounding)), least, "{element:?} -{far}");
                }
            }
        }
    }

    #[test]
    fn stochastic_rounding_goes_up_as_often_as_it_should() {
        for element in Element::ALL {
            for x in [0.3, 1.3, 2.2, 3.9, 5.1, -0.7, -4.4].into_iter().filter(|x| element.range().0 <= *x) {
                let draws = 1000;
                let sum: f64 = (0..draws)
                    .map(|draw| element.decode(element.encode(x, Rounding::Stochastic(f64::from(draw) / 1000.0))))
                    .sum();
                // Of evenly spaced numbers the mean is the value to within a step of the grid of 1000.
                let miss = (sum / f64::from(draws) - x).abs();
                assert!(miss <= element.step(x) / 900.0, "{element:?} {x}: {miss}");
            }
        }
    }

    #[test]
    fn a_ue8m0_scale_is_a_power_of_two_that_leaves_the_largest_element_in_reach() {
        for code in 0..255_u8 {
            assert_eq!(ue8m0_value(code), f64::from(i32::from(code) - 127).exp2(), "{code}");
        }
        assert!(ue8m0_value(255).is_nan());
        // floor(log2(amax)) - 2 for e2m1, whose largest value is 6 = 1.5 * 2^2.
        for (amax, exponent) in [(6.0, 0), (4.0, 0), (3.999, -1), (7.9, 0), (8.0, 1), (1e-3, -12), (448.0, 6)] {
            let value = ue8m0_value(ue8m0_of_amax(amax, Element::E2m1));
            assert_eq!(value, 2f64.powi(exponent), "{amax}");
            assert!(amax / value < 8.0, "{amax}");
        }
        assert_eq!(ue8m0_of_amax(0.0, Element::E2m1), 0);
        assert_eq!(ue8m0_of_amax(f64::INFINITY, Element::E2m1), 255);
        assert_eq!(
            ue8m0_of_amax(f64::from(f32::from_bits(1)), Element::E2m1),
            0,
            "a subnormal amax has the least scale"
        );
    }
}
