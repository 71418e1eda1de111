//! Approximate functions: special values of the PTX tables, and documented error bounds against f64.

use super::Random;
use crate::num::approx::{self, Error};

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
