//! Every 8- and 16-bit pattern through every rounding, against a table of all values of the target format.

use super::Random;
use ptx_emulator::num::format::{Format, Overflow, Rounding, ue8m0_decode, ue8m0_encode};
use ptx_emulator::num::half;

const ROUNDINGS: [Rounding; 5] = [Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp, Rounding::Rna];

/// Value of a code by the textbook formula, in powers of two.
fn value(format: &Format, code: u64) -> f64 {
    let exponent = code >> format.fraction_bits & ((1 << format.exponent_bits) - 1);
    let fraction = (code & ((1 << format.fraction_bits) - 1)) as f64 / 2f64.powi(format.fraction_bits as i32);
    if exponent == 0 {
        fraction * 2f64.powi(1 - format.bias)
    } else {
        (1.0 + fraction) * 2f64.powi(exponent as i32 - format.bias)
    }
}

/// All non-negative finite values in order; the index is the code.
fn table(format: &Format) -> Vec<f64> {
    (0..=format.max_code).map(|code| value(format, code)).collect()
}

/// Rounds by looking for the two neighbours. `above` is what lies after the last value.
fn reference(format: &Format, table: &[f64], x: f64, rounding: Rounding, overflow: Overflow) -> u64 {
    let pad = |code: u64| code << format.padding;
    let sign_bit = pad(1 << (format.exponent_bits + format.fraction_bits));
    if x.is_nan() {
        return format.nan.unwrap_or(pad(format.max_code));
    }
    if x.is_sign_negative() && !format.signed {
        return 0;
    }
    let sign = if x.is_sign_negative() { sign_bit } else { 0 };
    let beyond = match (overflow, format.infinity) {
        (Overflow::Saturate, _) => pad(format.max_code),
        (_, Some(code)) => pad(code),
        (_, None) => format.nan.unwrap_or(pad(format.max_code)),
    };
    let magnitude = x.abs();
    if magnitude == f64::INFINITY {
        return sign | beyond;
    }
    let below = table.partition_point(|&v| v <= magnitude) - 1;
    if table[below] == magnitude {
        return sign | pad(below as u64);
    }
    let last = below + 1 == table.len();
    let above = if last { value(format, format.max_code + 1) } else { table[below + 1] };
    let up_code = if last { beyond } else { pad(below as u64 + 1) };
    let middle = table[below] + (above - table[below]) / 2.0;
    let away = match rounding {
        Rounding::Rz => false,
        Rounding::Rm => x < 0.0,
        Rounding::Rp => x > 0.0,
        Rounding::Rna => magnitude >= middle,
        Rounding::Rn => magnitude > middle || (magnitude == middle && below % 2 == 1),
        Rounding::Rs { bits, width } => {
            let fraction = (magnitude - table[below]) / (above - table[below]);
            fraction + f64::from(bits) / 2f64.powi(width as i32) >= 1.0
        }
    };
    sign | if away { up_code } else { pad(below as u64) }
}

const SMALL: [Format; 8] =
    [Format::F16, Format::BF16, Format::E5M2, Format::E4M3, Format::UE4M3, Format::E3M2, Format::E2M3, Format::E2M1];

#[test]
fn decoding_every_pattern_agrees_with_the_formula() {
    for format in SMALL {
        for code in 0..1u64 << format.bits() {
            let magnitude = code & ((1 << (format.exponent_bits + format.fraction_bits)) - 1);
            let decoded = format.decode(code);
            if magnitude > format.max_code {
                let infinite = Some(magnitude) == format.infinity;
                assert!(if infinite { decoded.is_infinite() } else { decoded.is_nan() }, "{} {code:#x}", format.name);
            } else {
                assert_eq!(decoded.abs(), value(&format, magnitude), "{} {code:#x}", format.name);
                assert_eq!(decoded.is_sign_negative(), code != magnitude, "{} {code:#x}", format.name);
                assert_eq!(format.encode(decoded, Rounding::Rz, Overflow::Infinity), code, "{} {code:#x}", format.name);
            }
        }
    }
}

#[test]
fn every_16_bit_pattern_converts_to_every_small_format_in_every_rounding() {
    for target in SMALL.iter().chain([&Format::TF32]) {
        let values = table(target);
        for source in [&Format::F16, &Format::BF16] {
            for code in 0..0x1_0000u64 {
                let x = source.decode(code);
                for rounding in ROUNDINGS {
                    for overflow in [Overflow::Infinity, Overflow::Saturate] {
                        let expected = reference(target, &values, x, rounding, overflow);
                        let got = target.encode(x, rounding, overflow);
                        assert_eq!(got, expected, "{x:e} to {} {rounding:?} {overflow:?}", target.name);
                    }
                }
            }
        }
    }
}

#[test]
fn values_next_to_every_boundary_round_correctly() {
    for target in SMALL {
        let values = table(&target);
        for pair in
            values.windows(2).chain([[values[values.len() - 1], value(&target, target.max_code + 1)].as_slice()])
        {
            let middle = pair[0] + (pair[1] - pair[0]) / 2.0;
            for x in [middle, middle.next_up(), middle.next_down(), pair[0].next_up(), pair[1].next_down()] {
                for x in [x, -x] {
                    for rounding in ROUNDINGS {
                        let expected = reference(&target, &values, x, rounding, Overflow::Infinity);
                        assert_eq!(target.encode(x, rounding, Overflow::Infinity), expected, "{x:e} {}", target.name);
                    }
                    let nearest = reference(&target, &values, x, Rounding::Rn, Overflow::Infinity);
                    match target.name {
                        "f16" => assert_eq!(u64::from(half::f64_to_f16(x)), nearest, "{x:e}"),
                        "bf16" => assert_eq!(u64::from(half::f64_to_bf16(x)), nearest, "{x:e}"),
                        _ => {}
                    }
                }
            }
        }
    }
}

#[test]
fn fast_half_conversions_agree_with_the_engine() {
    for code in 0..=u16::MAX {
        let x = Format::F16.decode(code.into());
        let fast = half::f16_to_f32(code);
        if x.is_nan() {
            assert_eq!(fast.to_bits(), 0x7fff_ffff);
        } else {
            assert_eq!(f64::from(fast).to_bits(), x.to_bits(), "{code:#x}");
            assert_eq!(half::f32_to_f16(fast), code);
        }
        assert_eq!(half::bf16_to_f32(code).to_bits(), u32::from(code) << 16);
    }
    let mut random = Random(1);
    let edges = [0u32, 1, 0x7f7f_ffff, 0x7f80_0000, 0x7f80_0001, 0x477f_efff, 0x477f_f000, 0x3300_0000, 0x3300_0001];
    let any = (0..2_000_000).map(|_| random.bits() as u32).chain(edges).chain(edges.map(|e| e | 1 << 31));
    for bits in any {
        let x = f32::from_bits(bits);
        let wide = f64::from(x);
        assert_eq!(
            u64::from(half::f32_to_f16(x)),
            Format::F16.encode(wide, Rounding::Rn, Overflow::Infinity),
            "{bits:#x}"
        );
        assert_eq!(
            u64::from(half::f32_to_bf16(x)),
            Format::BF16.encode(wide, Rounding::Rn, Overflow::Infinity),
            "{bits:#x}"
        );
    }
}

#[test]
fn stochastic_rounding_carries_out_of_the_discarded_bits() {
    let mut random = Random(7);
    for target in [Format::F16, Format::BF16, Format::E4M3, Format::E5M2, Format::E2M1] {
        let values = table(&target);
        for _ in 0..100_000 {
            // Exponents inside the target's range; the reference divides in f64, exact for these widths.
            let exponent = target.min_exponent() - 2 + (random.bits() % 6) as i32;
            let x = (1.0 + (random.bits() >> 41) as f64 / 2f64.powi(23)) * 2f64.powi(exponent);
            let width = if target.name == "f16" { 13 } else { 16 };
            let rounding = Rounding::Rs { bits: (random.bits() & ((1 << width) - 1)) as u32, width };
            let expected = reference(&target, &values, x, rounding, Overflow::Saturate);
            assert_eq!(target.encode(x, rounding, Overflow::Saturate), expected, "{x:e} {rounding:?} {}", target.name);
        }
    }
}

#[test]
fn known_corner_cases() {
    let rn = |format: &Format, x: f64| format.encode(x, Rounding::Rn, Overflow::Infinity);
    assert_eq!(rn(&Format::E4M3, 464.0), 0x7e, "464 is a tie that goes to 448");
    assert_eq!(rn(&Format::E4M3, 464.1), 0x7f, "overflow without saturation is NaN");
    assert_eq!(rn(&Format::E2M1, f64::NAN), 7, "NaN becomes +6");
    assert_eq!(rn(&Format::E5M2, 61440.0), 0x7c, "half way to 2^16 overflows");
    assert_eq!(Format::E5M2.encode(f64::INFINITY, Rounding::Rn, Overflow::Saturate), 0x7b);
    assert_eq!(Format::TF32.encode(1.0 + 2f64.powi(-11), Rounding::Rna, Overflow::Infinity), 0x3f80_2000);
    assert_eq!(Format::F16.encode(1e6, Rounding::Rz, Overflow::Infinity), 0x7bff);
}

#[test]
fn ue8m0_is_the_power_of_two_below_or_above() {
    for code in 0..=254u8 {
        let x = f64::from(ue8m0_decode(code));
        assert_eq!(x, 2f64.powi(i32::from(code) - 127));
        for rounding in [Rounding::Rz, Rounding::Rp] {
            assert_eq!(ue8m0_encode(x, rounding, Overflow::Infinity), code);
            assert_eq!(ue8m0_encode(-x, rounding, Overflow::Infinity), code);
        }
        assert_eq!(ue8m0_encode(x * 1.9375, Rounding::Rz, Overflow::Infinity), code);
        assert_eq!(ue8m0_encode(x * 1.0625, Rounding::Rp, Overflow::Infinity), code + 1);
    }
    assert!(ue8m0_decode(255).is_nan());
    assert_eq!(ue8m0_encode(f64::NAN, Rounding::Rz, Overflow::Saturate), 255);
    assert_eq!(ue8m0_encode(f64::INFINITY, Rounding::Rp, Overflow::Saturate), 254);
    assert_eq!(ue8m0_encode(f64::from(f32::MAX), Rounding::Rp, Overflow::Infinity), 255);
    assert_eq!(ue8m0_encode(0.0, Rounding::Rp, Overflow::Infinity), 0);
}
