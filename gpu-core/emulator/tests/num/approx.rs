//! Approximate functions: special values of the PTX tables, and documented error bounds against f64.

use super::Random;
use ptx_emulator::num::approx::{self, Error};

const INF: f32 = f32::INFINITY;

fn same(got: f32, expected: f32) {
    assert!(got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()), "{got:e} for {expected:e}");
}

#[test]
fn special_values_are_those_of_the_manual() {
    let tiny = f32::from_bits(1);
    for ftz in [false, true] {
        same(approx::rcp(-INF, ftz), -0.0);
        same(approx::rcp(-0.0, ftz), -INF);
        same(approx::rsqrt(-0.0, ftz), -INF);
        same(approx::rsqrt(-1.0, ftz), f32::NAN);
        same(approx::rsqrt(INF, ftz), 0.0);
        same(approx::sqrt(-0.0, ftz), -0.0);
        same(approx::sqrt(-1.0, ftz), f32::NAN);
        same(approx::ex2(-INF, ftz), 0.0);
        same(approx::ex2(-0.0, ftz), 1.0);
        same(approx::ex2(INF, ftz), INF);
        same(approx::lg2(-0.0, ftz), -INF);
        same(approx::lg2(-1.0, ftz), f32::NAN);
        same(approx::lg2(INF, ftz), INF);
        same(approx::sin(-0.0, ftz), -0.0);
        same(approx::sin(INF, ftz), f32::NAN);
        same(approx::cos(0.0, ftz), 1.0);
        same(approx::cos(-INF, ftz), f32::NAN);
    }
    same(approx::rcp(tiny, true), INF);
    same(approx::lg2(tiny, true), -INF);
    same(approx::lg2(tiny, false), -149.0);
    same(approx::ex2(-130.0, true), 0.0);
    same(approx::ex2(-130.0, false), 2f32.powi(-130));
    same(approx::tanh(-0.0), -0.0);
    same(approx::tanh(INF), 1.0);
    same(approx::div_approx(1.0, 2f32.powi(127), false), 0.0);
    same(approx::div_approx(INF, 2f32.powi(127), false), f32::NAN);
    same(approx::div_full(1.0, 2f32.powi(127), false), 2f32.powi(-127));
    assert_eq!(approx::ex2_f16(0x4000), 0x4400);
    assert_eq!(approx::tanh_bf16(0xff80), 0xbf80);
}

#[test]
fn errors_stay_inside_the_documented_bounds() {
    let mut random = Random(31);
    for bound in approx::BOUNDS {
        // By magnitude where the range spans many, else evenly.
        let (from, to) = (bound.from, bound.to);
        let mut most = 0.0f64;
        for _ in 0..50_000 {
            let share = f64::from((random.bits() >> 32) as u32) / f64::from(u32::MAX);
            let x = if from > 0.0 && to / from > 16.0 {
                from * (to / from).powf(share)
            } else {
                from + (to - from) * share
            };
            let x = (x as f32).clamp(from as f32, to as f32);
            let exact = (bound.exact)(f64::from(x));
            let error = (f64::from((bound.function)(x, false)) - exact).abs();
            let (size, limit) = match bound.error {
                Error::Ulp(limit) => (error / 2f64.powi(exact.abs().log2().floor() as i32 - 23), limit),
                Error::Relative(limit) => (if error == 0.0 { 0.0 } else { error / exact.abs() }, limit),
                Error::Absolute(limit) => (error, limit),
            };
            assert!(size <= limit, "{} of {x:e}: error {size:e}, {} allows {limit:e}", bound.form, bound.source);
            most = most.max(size);
        }
        assert!(most > 0.0, "{} was never off: the exact function is compared with itself", bound.form);
    }
}

/// PTX ISA, sections ex2 and tanh of the half precision instructions: relative 2^-9.9 (f16) and 2^-7 (bf16) for ex2,
/// absolute 2^-10.987 and 2^-8 for tanh. Every pattern is tried.
#[test]
fn halves_stay_inside_the_documented_bounds() {
    use ptx_emulator::num::half::{bf16_to_f32, f16_to_f32};
    type Half = fn(u16) -> u16;
    type Wide = fn(u16) -> f32;
    type Row = (&'static str, Half, Wide, fn(f64) -> f64, bool, f64);
    let forms: [Row; 4] = [
        ("ex2.approx.f16", approx::ex2_f16, f16_to_f32, f64::exp2, true, 2f64.powf(-9.9)),
        ("ex2.approx.ftz.bf16", approx::ex2_bf16, bf16_to_f32, f64::exp2, true, 2f64.powi(-7)),
        ("tanh.approx.f16", approx::tanh_f16, f16_to_f32, f64::tanh, false, 2f64.powf(-10.987)),
        ("tanh.approx.bf16", approx::tanh_bf16, bf16_to_f32, f64::tanh, false, 2f64.powi(-8)),
    ];
    for (form, function, wide, exact, relative, limit) in forms {
        let (mut tried, mut most) = (0, 0.0f64);
        for code in 0..=u16::MAX {
            let x = f64::from(wide(code));
            let got = f64::from(wide(function(code)));
            let want = exact(x);
            if x.is_nan() || want == 0.0 || x.is_infinite() {
                assert_eq!(got.is_nan(), x.is_nan(), "{form} of {code:#x}");
                continue;
            }
            // Beyond the format's normal numbers a relative bound cannot hold.
            let normal = if form.ends_with("bf16") { 2f64.powi(-126)..2f64.powi(127) } else { 2f64.powi(-14)..65504.0 };
            if relative && !normal.contains(&want) {
                continue;
            }
            let error = (got - want).abs() / if relative { want } else { 1.0 };
            assert!(error <= limit, "{form} of {x:e}: error {error:e}, {limit:e} is allowed");
            (tried, most) = (tried + 1, most.max(error));
        }
        assert!(tried > 30_000 && most > 0.0, "{form}: {tried} tried, {most:e} the most");
    }
}

#[test]
fn quotients_stay_within_two_ulp() {
    let mut random = Random(32);
    for _ in 0..100_000 {
        let (a, b) = (random.f32(), random.f32());
        let exact = f64::from(a) / f64::from(b);
        if !exact.is_finite() || exact.abs() < 1e-37 || exact.abs() > 1e38 || !(1e-37..8e37).contains(&b.abs()) {
            continue;
        }
        for got in [approx::div_approx(a, b, false), approx::div_full(a, b, false)] {
            let ulp = 2f64.powi(exact.abs().log2().floor() as i32 - 23);
            assert!((f64::from(got) - exact).abs() <= 2.0 * ulp, "{a:e} / {b:e} = {got:e}");
        }
    }
}

#[test]
fn double_precision_units_use_the_upper_half_only() {
    let x = 3.0f64;
    let r = approx::rcp64(x);
    assert_eq!(r.to_bits() & 0xffff_ffff, 0);
    assert!((r * x - 1.0).abs() < 2f64.powi(-20));
    assert_eq!(approx::rcp64(f64::from_bits(x.to_bits() | 0xffff_ffff)), r, "the low half is ignored");
    assert_eq!(approx::rcp64(f64::from_bits(1)), f64::INFINITY);
    assert_eq!(approx::rcp64(-f64::MAX).to_bits(), (-0.0f64).to_bits(), "subnormal results are flushed");
    assert_eq!(approx::rsqrt64(-0.0), f64::NEG_INFINITY);
    assert!(approx::rsqrt64(-1.0).is_nan());
    assert!((approx::rsqrt64(4.0) - 0.5).abs() == 0.0);
}

/// Recorded on x86-64 Linux. Systems' own functions do not agree to the last bit, and ARM makes other NaNs.
#[test]
fn every_machine_gives_the_same_bits() {
    let hash = |function: &dyn Fn(f32) -> f32| {
        // Every 16411th pattern, subnormals, infinities and NaN among them.
        (0..u64::from(u32::MAX)).step_by(16411).fold(0xcbf2_9ce4_8422_2325_u64, |hash, bits| {
            let result = function(f32::from_bits(bits as u32)).to_bits();
            (hash ^ u64::from(result)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let halves = |function: fn(u16) -> u16| {
        (0..=u16::MAX).fold(0xcbf2_9ce4_8422_2325_u64, |hash, code| {
            (hash ^ u64::from(function(code))).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let found = [
        ("lg2", hash(&|x| approx::lg2(x, false))),
        ("sin", hash(&|x| approx::sin(x, false))),
        ("cos", hash(&|x| approx::cos(x, false))),
        ("ex2", hash(&|x| approx::ex2(x, false))),
        ("tanh", hash(&approx::tanh)),
        ("rsqrt", hash(&|x| approx::rsqrt(x, false))),
        ("ex2 of f16", halves(approx::ex2_f16)),
        ("ex2 of bf16", halves(approx::ex2_bf16)),
        ("tanh of f16", halves(approx::tanh_f16)),
        ("tanh of bf16", halves(approx::tanh_bf16)),
    ];
    assert_eq!(found, RECORDED, "{found:#x?}");
}

const RECORDED: [(&str, u64); 10] = [
    ("lg2", 0xf286_d099_b801_c3eb),
    ("sin", 0x4e01_0af1_efc8_63fb),
    ("cos", 0x0cd4_37af_5c7a_6572),
    ("ex2", 0x9be5_e5f3_1014_65b8),
    ("tanh", 0x19bb_a1ad_9948_ff58),
    ("rsqrt", 0x3939_afab_954b_08d5),
    ("ex2 of f16", 0x86bc_d1b1_6d97_1049),
    ("ex2 of bf16", 0x12e0_bc76_6c94_d8d4),
    ("tanh of f16", 0x2993_c614_ab7a_afc9),
    ("tanh of bf16", 0xea23_0ac6_925c_6ab5),
];
