//! Approximate functions: special values of the PTX tables, and documented error bounds against f64.

use super::Random;
use crate::num::approx;

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
    let within = |got: f32, exact: f64, relative: f64, name: &str, x: f32| {
        if exact.abs() > f64::from(f32::MIN_POSITIVE) && exact.abs() < f64::from(f32::MAX) {
            assert!((f64::from(got) - exact).abs() <= relative * exact.abs(), "{name}({x:e}) = {got:e}, not {exact:e}");
        }
    };
    for _ in 0..100_000 {
        let x = random.f32();
        let wide = f64::from(x);
        within(approx::rcp(x, false), 1.0 / wide, 2f64.powi(-23), "rcp", x);
        within(approx::rsqrt(x.abs(), false), 1.0 / wide.abs().sqrt(), 2f64.powf(-22.9), "rsqrt", x);
        within(approx::sqrt(x.abs(), false), wide.abs().sqrt(), 2f64.powi(-23), "sqrt", x);
        within(approx::ex2(x, false), wide.exp2(), 2f64.powi(-22), "ex2", x);
        within(approx::tanh(x), wide.tanh(), 2f64.powi(-11), "tanh", x);
        let angle = (wide % std::f64::consts::PI) as f32;
        let error = (f64::from(approx::sin(angle, false)) - f64::from(angle).sin()).abs();
        assert!(error < 2f64.powf(-20.5), "sin {angle}");
        let error = (f64::from(approx::cos(angle, false)) - f64::from(angle).cos()).abs();
        assert!(error < 2f64.powf(-20.5), "cos {angle}");
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
