//! Codes of floating-point formats in the order of their values, and where a number lands among them. The formats and
//! their rounding are the emulator's own.

use crate::viz::values::exact;
use gpu_core::emulator::num::{Format, Overflow, Rounding};

/// The seven formats of the course with the names that lessons use.
pub const FORMATS: [(&str, &Format); 7] = [
    ("fp32", &Format::F32),
    ("tf32", &Format::TF32),
    ("fp16", &Format::F16),
    ("bf16", &Format::BF16),
    ("e4m3", &Format::E4M3),
    ("e5m2", &Format::E5M2),
    ("e2m1", &Format::E2M1),
];

/// What a code stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Zero,
    Subnormal,
    Normal,
    Infinite,
    Nan,
}

/// Value of a code without padding.
pub fn decode(format: &Format, code: u64) -> f64 {
    format.decode(code << format.padding)
}

/// Codes of a format: `2^bits`.
pub fn codes(format: &Format) -> usize {
    1 << format.bits()
}

/// The code at a position in the order of values: negative ones first, the largest magnitudes at the ends.
pub fn code_at(format: &Format, position: usize) -> u64 {
    let half = 1_u64 << (format.bits() - 1);
    let position = position as u64;
    if position < half { half | (half - 1 - position) } else { (position - half) & (half - 1) }
}

pub fn position_of(format: &Format, code: u64) -> usize {
    let half = 1_u64 << (format.bits() - 1);
    let magnitude = code & (half - 1);
    (if code & half == 0 { half + magnitude } else { half - 1 - magnitude }) as usize
}

/// Exponent field and fraction field.
pub fn fields(format: &Format, code: u64) -> (u64, u64) {
    let exponent = code >> format.fraction_bits & ((1 << format.exponent_bits) - 1);
    (exponent, code & ((1 << format.fraction_bits) - 1))
}

pub fn kind(format: &Format, code: u64) -> Kind {
    let value = decode(format, code);
    match value {
        _ if value.is_nan() => Kind::Nan,
        _ if value.is_infinite() => Kind::Infinite,
        _ if value == 0.0 => Kind::Zero,
        _ if fields(format, code).0 == 0 => Kind::Subnormal,
        _ => Kind::Normal,
    }
}

pub fn largest(format: &Format) -> f64 {
    decode(format, format.max_code)
}

pub fn least_normal(format: &Format) -> f64 {
    2f64.powi(format.min_exponent())
}

pub fn least_subnormal(format: &Format) -> f64 {
    decode(format, 1)
}

/// Distance from 1 to the next larger value: the machine epsilon.
pub fn epsilon(format: &Format) -> f64 {
    2f64.powi(-(format.fraction_bits as i32))
}

/// Where a number lands, and why there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Landing {
    pub code: u64,
    pub value: f64,
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    Exact,
    /// The nearer of the two values between which it lies.
    Nearer {
        below: f64,
        above: f64,
    },
    /// In the middle between the two; the one whose last bit is 0.
    Tie {
        below: f64,
        above: f64,
    },
    /// Beyond the largest value, which it becomes.
    Saturated,
    /// Beyond the largest value, and not kept there.
    Overflowed,
    Nan,
}

/// Rounds to nearest even; `saturate` keeps what is too large at the largest value, as `.satfinite` does.
pub fn land(format: &Format, number: f64, saturate: bool) -> Landing {
    let overflow = if saturate { Overflow::Saturate } else { Overflow::Infinity };
    let encode = |rounding| format.encode(number, rounding, overflow) >> format.padding;
    let code = encode(Rounding::Rn);
    let value = decode(format, code);
    let most = largest(format);
    let why = match () {
        () if number.is_nan() => Why::Nan,
        () if value == number => Why::Exact,
        () if !value.is_finite() => Why::Overflowed,
        // Half a step beyond the largest value still rounds down to it.
        () if number.abs() > most => Why::Saturated,
        () => {
            let (below, above) = (decode(format, encode(Rounding::Rm)), decode(format, encode(Rounding::Rp)));
            if number - below == above - number { Why::Tie { below, above } } else { Why::Nearer { below, above } }
        }
    };
    Landing { code, value, why }
}

impl Landing {
    pub fn words(&self, name: &str, number: f64) -> String {
        let (from, to) = (exact(number), exact(self.value));
        let error = || {
            let relative = 100.0 * ((self.value - number) / number).abs();
            format!("The error is {} %.", super::super::values::number(relative))
        };
        match self.why {
            Why::Exact => format!("{from} is exact in {name}."),
            Why::Nearer { below, above } => {
                let (below, above) = (exact(below), exact(above));
                format!("{from} lies between {below} and {above} and goes to the nearer one, {to}. {}", error())
            }
            Why::Tie { below, above } => {
                let (below, above) = (exact(below), exact(above));
                let rule = "halfway, so the code whose last bit is 0 wins";
                format!("{from} lies between {below} and {above}, exactly {rule}: {to}. {}", error())
            }
            Why::Saturated => format!("{from} is beyond the largest value of {name} and becomes that value, {to}."),
            Why::Overflowed => format!("{from} is too large for {name}: it overflows to {to}."),
            Why::Nan if self.value.is_nan() => format!("NaN stays NaN in {name}."),
            Why::Nan => format!("{name} has no NaN: it becomes {to}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::formats::{Element, Rounding as ElementRounding};

    #[test]
    fn positions_are_in_the_order_of_values() {
        for (name, format) in FORMATS {
            let total = codes(format);
            let finite = |position: usize| decode(format, code_at(format, position));
            let around = (0..total).step_by((total / 997).max(1));
            for position in around.filter(|position| position + 1 < total) {
                assert_eq!(position_of(format, code_at(format, position)), position, "{name}");
                let (here, next) = (finite(position), finite(position + 1));
                assert!(here.is_nan() || next.is_nan() || here <= next, "{name}: {here} before {next}");
            }
        }
    }

    #[test]
    fn small_formats_agree_with_the_format_module() {
        for (element, format) in
            [(Element::E4m3, &Format::E4M3), (Element::E5m2, &Format::E5M2), (Element::E2m1, &Format::E2M1)]
        {
            for code in 0..codes(format) as u64 {
                let (ours, theirs) = (decode(format, code), element.decode(code as u8));
                assert!(ours == theirs || ours.is_nan() && theirs.is_nan(), "{element:?} {code:#x}");
            }
            assert_eq!(largest(format), element.range().1);
            for number in [0.1, -0.3, 1.3, 2.5, 5.7, 17.0, 464.0, 1e9, 1e-9, -7e4] {
                let landing = land(format, number, true);
                assert_eq!(landing.code, u64::from(element.encode(number, ElementRounding::NearestEven)), "{number}");
            }
        }
    }

    #[test]
    fn halves_and_floats_land_where_the_processor_puts_them() {
        for number in [0.1, 1.0 / 3.0, 65519.0, 65520.0, 1e-7, 88.8, -2.5e-5, 16_777_217.0] {
            assert_eq!(land(&Format::F32, number, false).value, f64::from(number as f32));
            let half = gpu_core::emulator::num::half::f32_to_f16(number as f32);
            assert_eq!(land(&Format::F16, f64::from(number as f32), false).code, u64::from(half));
        }
        assert_eq!(land(&Format::F16, 65520.0, false).why, Why::Overflowed);
        assert_eq!(land(&Format::F16, 65520.0, true).value, 65504.0);
        assert_eq!(land(&Format::F16, 11.1f64.exp(), false).value, f64::INFINITY, "exp of 11.1 is past fp16");
    }

    #[test]
    fn the_reason_is_the_right_one() {
        let e4m3 = &Format::E4M3;
        assert_eq!(land(e4m3, 17.0, true).why, Why::Tie { below: 16.0, above: 18.0 });
        assert_eq!(land(e4m3, 17.0, true).value, 16.0);
        assert_eq!(land(e4m3, 17.1, true).why, Why::Nearer { below: 16.0, above: 18.0 });
        assert_eq!(land(e4m3, 0.5, true).why, Why::Exact);
        assert_eq!(land(e4m3, 500.0, true).why, Why::Saturated);
        assert!(land(e4m3, 500.0, false).value.is_nan(), "e4m3 has no infinity");
        assert_eq!(land(&Format::E2M1, f64::NAN, true).value, 6.0);
        assert_eq!((epsilon(&Format::F16), least_subnormal(e4m3)), (2f64.powi(-10), 2f64.powi(-9)));
    }
}
