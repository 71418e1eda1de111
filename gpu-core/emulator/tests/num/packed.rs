//! Packed conversions: positions, saturation, relu, NaN.

use super::Random;
use ptx_emulator::num::format::{Format, Overflow, Rounding};
use ptx_emulator::num::pack::{self, Narrow};

#[test]
fn narrow_formats_agree_with_the_engine_on_every_16_bit_input() {
    for narrow in Narrow::ALL {
        for source in [Format::F16, Format::BF16] {
            for code in 0..0x1_0000u64 {
                let x = source.decode(code) as f32;
                let expected = narrow.format().encode(f64::from(x), Rounding::Rn, Overflow::Saturate);
                assert_eq!(u64::from(narrow.encode_rn(x)), expected, "{x:e} to {narrow:?}");
            }
        }
        let mut random = Random(3);
        for _ in 0..300_000 {
            let x = f32::from_bits(random.bits() as u32);
            let expected = narrow.format().encode(f64::from(x), Rounding::Rn, Overflow::Saturate);
            assert_eq!(u64::from(narrow.encode_rn(x)), expected, "{x:e} to {narrow:?}");
        }
    }
}

#[test]
fn widening_every_byte_is_exact() {
    for narrow in Narrow::ALL {
        let format = narrow.format();
        for code in 0..256u32 {
            let exact = format.decode(code.into());
            let (f16, f32) = (Format::F16.decode(narrow.to_f16(code).into()), narrow.to_f32(code));
            if exact.is_nan() {
                assert_eq!((narrow.to_f16(code), f32.to_bits()), (0x7fff, 0x7fff_ffff));
            } else {
                assert_eq!((f16.to_bits(), f64::from(f32).to_bits()), (exact.to_bits(), exact.to_bits()), "{narrow:?}");
            }
        }
    }
}

#[test]
fn the_first_operand_lies_in_the_high_container() {
    let rn = Rounding::Rn;
    assert_eq!(pack::narrow2(Narrow::E4m3, 1.0, -2.0, rn, false), 0x38c0);
    assert_eq!(pack::narrow2(Narrow::E4m3, 1.0, -2.0, rn, true), 0x3800, "relu clamps the negative one");
    assert_eq!(pack::narrow2(Narrow::E2m1, 6.0, 0.5, rn, false), 0x71);
    assert_eq!(pack::narrow2(Narrow::E2m3, 7.5, -1.0, rn, false), 0x1f28);
    assert_eq!(pack::f16x2(1.0, 2.0, rn, Overflow::Infinity, false), 0x3c00_4000);
    assert_eq!(pack::f16x2(1e6, f32::NAN, rn, Overflow::Saturate, true), 0x7bff_7fff);
    assert_eq!(pack::bf16x2(1.0, -0.0, rn, Overflow::Infinity, true), 0x3f80_0000);
    assert_eq!(pack::widen2_f16x2(Narrow::E2m1, 0x1f, false), 0x3800_c600, "0.5 and -6");
    assert_eq!(pack::widen2_bf16x2(Narrow::E5m2, 0x3cbc, false), 0x3f80_bf80);
    let scaled = pack::widen2_bf16x2_scaled(Narrow::E2m1, 0x17, 0x807e, Overflow::Infinity, false);
    assert_eq!(scaled, 0x3f80_4040, "0.5 times 2 and 6 times a half");
    assert_eq!(pack::narrow2_f16x2(Narrow::E5m2, 0x3c00_c000, rn, false), 0x3cc0);
    assert_eq!(pack::ue8m0x2(1.5, 4.0, Rounding::Rp, Overflow::Infinity), 0x8081);
    assert_eq!(pack::bf16x2_from_ue8m0x2(0x807f), 0x4000_3f80);
}

#[test]
fn stochastic_containers_use_their_own_random_bits() {
    // 1 + 1/16 lies half way between two e4m3 values: only a random value of at least 2^15 rounds away.
    let x = 1.0 + 1.0 / 16.0;
    assert_eq!(pack::narrow4_rs(Narrow::E4m3, [x; 4], 0x8000_7fff, false), 0x3939_3838);
    assert_eq!(pack::narrow4_rs(Narrow::E4m3, [x; 4], 0x7fff_8000, false), 0x3838_3939);
    // 1.25 is half way between e2m1's 1 and 1.5.
    assert_eq!(pack::narrow4_rs(Narrow::E2m1, [1.25; 4], 0x8000_0000, false), 0x3322);
    assert_eq!(pack::narrow4_rs(Narrow::E2m1, [1.25; 4], 0x0080_0000, false), 0x2233);
    let half_step = 1.0 + 2f32.powi(-11);
    assert_eq!(pack::f16x2_rs(half_step, half_step, 0x1000_0fff, Overflow::Infinity, false), 0x3c01_3c00);
    assert_eq!(pack::f16x2_rs(half_step, half_step, 0xefff_f000, Overflow::Infinity, false), 0x3c00_3c01);
    let step = 1.0 + 2f32.powi(-8);
    assert_eq!(pack::bf16x2_rs(step, step, 0x8000_7fff, Overflow::Infinity, false), 0x3f81_3f80);
}

#[test]
fn s2f6_is_a_signed_byte_over_64() {
    for code in 0..256u32 {
        let wide = pack::bf16x2_from_s2f6x2(code << 8 | code, 0x7f7f, Overflow::Infinity, false);
        let x = f32::from_bits(wide & 0xffff_0000);
        assert_eq!(x, f32::from(code as u8 as i8) / 64.0);
        assert_eq!(pack::s2f6x2(x, x, 0x7f7f, false), code << 8 | code);
        assert_eq!(pack::s2f6x2(x * 4.0, x, 0x817f, false), code << 8 | code, "the first scale is 4");
    }
    assert_eq!(pack::s2f6x2(100.0, -100.0, 0x7f7f, false), 0x7f80);
    assert_eq!(pack::s2f6x2(f32::NAN, -1.0, 0x7f7f, true), 0x7f00);
}

#[test]
fn integers_unpack_with_and_without_sign() {
    assert_eq!(pack::unpack_int(0xf123_4567, 7, 4, true), -1);
    assert_eq!(pack::unpack_int(0xf123_4567, 7, 4, false), 15);
    assert_eq!(pack::unpack_int(0xf123_4567, 0, 4, true), 7);
    assert_eq!(pack::unpack_int(0xf123_4567, 3, 8, true), -15);
    assert_eq!(pack::unpack_int(0xf123_4567, 1, 8, false), 0x45);
}
