//! Rounded arithmetic against exact sign tests: a result is right if the exact value lies where the rounding says.

use super::Random;
use super::exact::Exact;
use ptx_emulator::num::arith16::{self, Kind};
use ptx_emulator::num::convert::{self, Int};
use ptx_emulator::num::format::Rounding;
use ptx_emulator::num::minmax::{self, Modifiers};
use ptx_emulator::num::{arith32, arith64};
use std::cmp::Ordering;

const DIRECTED: [Rounding; 4] = [Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp];

/// Neighbours of a result in its own format.
struct Neighbours {
    below: f64,
    at: f64,
    above: f64,
    even: bool,
}

fn of_f64(r: f64) -> Neighbours {
    Neighbours { below: r.next_down(), at: r, above: r.next_up(), even: r.to_bits() & 1 == 0 }
}

fn of_f32(r: f32) -> Neighbours {
    Neighbours { below: r.next_down().into(), at: r.into(), above: r.next_up().into(), even: r.to_bits() & 1 == 0 }
}

fn of_16(kind: Kind, r: u16) -> Neighbours {
    let step = |up: bool| {
        let away = up != (r & 0x8000 != 0);
        let code = match (r & 0x7fff, away) {
            (0, _) => {
                if up {
                    1
                } else {
                    0x8001
                }
            }
            (_, true) => r + 1,
            (_, false) => r - 1,
        };
        f64::from(kind.widen(code))
    };
    Neighbours { below: step(false), at: kind.widen(r).into(), above: step(true), even: r & 1 == 0 }
}

/// `compare(candidate, times)` gives the order of `times * exact` against the sum of the candidates.
fn check(n: Neighbours, rounding: Rounding, compare: impl Fn(f64, f64) -> Ordering, what: &str) {
    let Neighbours { below, at, above, even } = n;
    // Twice the exact value against twice the result.
    let side = compare(at, at);
    if side == Ordering::Equal {
        return;
    }
    let negative = at < 0.0 || (at == 0.0 && at.is_sign_negative());
    let allowed = match rounding {
        Rounding::Rm => Ordering::Greater,
        Rounding::Rp => Ordering::Less,
        Rounding::Rz => {
            if negative {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        _ => {
            let other = if side == Ordering::Greater { above } else { below };
            let against_middle = compare(at, other);
            let fine = against_middle == side.reverse() || (against_middle == Ordering::Equal && even);
            assert!(fine, "{what}: {at:e} is not the nearest");
            return;
        }
    };
    assert_eq!(side, allowed, "{what}: {at:e} lies on the wrong side");
    let next = if side == Ordering::Greater { above } else { below };
    assert_eq!(compare(next, next), side.reverse(), "{what}: {at:e} is not the closest on its side");
}

/// Order of 2 (a b + c) against x + y.
fn against_fma(a: f64, b: f64, c: f64) -> impl Fn(f64, f64) -> Ordering {
    move |x, y| {
        let mut exact = Exact::zero();
        exact.add_product(a, b, 2);
        exact.add_f64(c, 2);
        exact.add_f64(x, -1);
        exact.add_f64(y, -1);
        exact.sign()
    }
}

/// Order of 2 a / b against x + y, by multiplying with b.
fn against_quotient(a: f64, b: f64) -> impl Fn(f64, f64) -> Ordering {
    move |x, y| {
        let mut exact = Exact::zero();
        exact.add_f64(a, 2);
        exact.add_product(x, b, -1);
        exact.add_product(y, b, -1);
        if b < 0.0 { exact.sign().reverse() } else { exact.sign() }
    }
}

/// Order of 2 sqrt(a) against x + y: 4 a against (x + y)^2.
fn against_root(a: f64) -> impl Fn(f64, f64) -> Ordering {
    move |x, y| {
        let mut exact = Exact::zero();
        exact.add_f64(a, 4);
        exact.add_product(x, x, -1);
        exact.add_product(x, y, -2);
        exact.add_product(y, y, -1);
        if x + y < 0.0 { Ordering::Greater } else { exact.sign() }
    }
}

fn checkable(r: f64, limit: f64) -> bool {
    r.is_finite() && r.abs() < limit
}

#[test]
fn f32_results_are_correctly_rounded_in_every_direction() {
    let mut random = Random(11);
    for i in 0..60_000 {
        let (a, b, c) = (random.f32(), random.f32(), random.f32());
        // Every third sum nearly cancels.
        let c = if i % 3 == 0 { -(a * b) } else { c };
        let wide = (f64::from(a), f64::from(b), f64::from(c));
        for rounding in DIRECTED {
            let mode = arith32::Mode { rounding, ..arith32::Mode::RN };
            let limit = f64::from(f32::MAX);
            let cases = [
                (arith32::add(a, c, mode), (wide.0, 1.0, wide.2), "add"),
                (arith32::sub(a, b, mode), (wide.0, 1.0, -wide.1), "sub"),
                (arith32::mul(a, b, mode), (wide.0, wide.1, 0.0), "mul"),
                (arith32::fma(a, b, c, mode), wide, "fma"),
            ];
            for (r, (x, y, z), name) in cases {
                if checkable(r.into(), limit) && z.is_finite() {
                    check(of_f32(r), rounding, against_fma(x, y, z), &format!("{name} {a:e} {b:e} {c:e} {rounding:?}"));
                }
            }
            let q = arith32::div(a, b, mode);
            if b != 0.0 && checkable(q.into(), limit) {
                check(of_f32(q), rounding, against_quotient(wide.0, wide.1), &format!("div {a:e} {b:e} {rounding:?}"));
            }
            let s = arith32::sqrt(a.abs(), mode);
            check(of_f32(s), rounding, against_root(wide.0.abs()), &format!("sqrt {a:e} {rounding:?}"));
        }
        if c.is_finite() {
            let soft = arith32::fma_without_hardware(a, b, c);
            assert_eq!(soft.to_bits(), arith32::fma(a, b, c, arith32::Mode::RN).to_bits(), "{a:e} {b:e} {c:e}");
        }
    }
}

#[test]
fn f64_results_are_correctly_rounded_in_every_direction() {
    let mut random = Random(13);
    for i in 0..20_000 {
        let (a, b, c) = (random.f64(), random.f64(), random.f64());
        let c = if i % 3 == 0 && (a * b).is_finite() { -(a * b) } else { c };
        for rounding in DIRECTED {
            let limit = f64::MAX;
            let cases = [
                (arith64::add(a, c, rounding), (a, 1.0, c), "add"),
                (arith64::sub(a, b, rounding), (a, 1.0, -b), "sub"),
                (arith64::mul(a, b, rounding), (a, b, 0.0), "mul"),
                (arith64::fma(a, b, c, rounding), (a, b, c), "fma"),
            ];
            for (r, (x, y, z), name) in cases {
                if checkable(r, limit) {
                    check(of_f64(r), rounding, against_fma(x, y, z), &format!("{name} {a:e} {b:e} {c:e} {rounding:?}"));
                }
            }
            let q = arith64::div(a, b, rounding);
            if b != 0.0 && checkable(q, limit) {
                check(of_f64(q), rounding, against_quotient(a, b), &format!("div {a:e} {b:e} {rounding:?}"));
            }
            let s = arith64::sqrt(a.abs(), rounding);
            check(of_f64(s), rounding, against_root(a.abs()), &format!("sqrt {a:e} {rounding:?}"));
        }
    }
}

#[test]
fn overflow_and_signed_zeros_follow_the_direction() {
    let with = |rounding| arith32::Mode { rounding, ..arith32::Mode::RN };
    let m = f32::MAX;
    assert_eq!(arith32::add(m, m, with(Rounding::Rz)), m);
    assert_eq!(arith32::add(m, m, with(Rounding::Rm)), m);
    assert_eq!(arith32::add(m, m, with(Rounding::Rp)), f32::INFINITY);
    assert_eq!(arith32::mul(-m, m, with(Rounding::Rp)), -m);
    assert_eq!(arith64::mul(f64::MAX, 2.0, Rounding::Rz), f64::MAX);
    assert_eq!(arith64::mul(-f64::MAX, 2.0, Rounding::Rm), f64::NEG_INFINITY);
    assert!(arith32::sub(1.0, 1.0, with(Rounding::Rm)).is_sign_negative());
    assert!(arith32::sub(1.0, 1.0, with(Rounding::Rp)).is_sign_positive());
    assert!(arith64::sub(1.0, 1.0, Rounding::Rm).is_sign_negative());
    assert!(arith64::add(0.0, 0.0, Rounding::Rm).is_sign_positive());
    assert!(arith32::add(0.0, 0.0, with(Rounding::Rm)).is_sign_positive());
    assert!(arith32::fma(-0.0, 1.0, -0.0, with(Rounding::Rp)).is_sign_negative());
    assert_eq!(arith32::add(f32::INFINITY, -f32::INFINITY, with(Rounding::Rz)).to_bits(), 0x7fff_ffff);
    assert_eq!(arith32::div(1.0, -0.0, with(Rounding::Rm)), f32::NEG_INFINITY);
}

#[test]
fn ftz_and_sat_apply_to_inputs_and_results() {
    let tiny = f32::from_bits(1);
    let ftz = arith32::Mode { ftz: true, ..arith32::Mode::RN };
    assert_eq!(arith32::add(-tiny, -tiny, ftz).to_bits(), 0x8000_0000, "the sign is kept");
    assert_eq!(arith32::mul(f32::MIN_POSITIVE, 0.5, ftz).to_bits(), 0);
    assert_eq!(arith32::mul(tiny, f32::MAX, ftz), 0.0);
    let sat = arith32::Mode { sat: true, ..arith32::Mode::RN };
    assert_eq!(arith32::add(1.0, 1.0, sat), 1.0);
    assert_eq!(arith32::add(f32::NAN, 1.0, sat).to_bits(), 0);
    assert_eq!(arith32::add(-3.0, 1.0, sat).to_bits(), 0);
}

#[test]
fn f16_and_bf16_results_are_correctly_rounded() {
    let mut random = Random(17);
    let finite = |kind: Kind, bits: u64| {
        let h = bits as u16;
        if kind.widen(h).is_finite() { h } else { h & 0x3fff }
    };
    for kind in [Kind::F16, Kind::Bf16] {
        for i in 0..300_000u32 {
            let (a, b) = (finite(kind, random.bits()), finite(kind, random.bits()));
            let c = finite(kind, random.bits());
            let mode = arith16::Mode::default();
            let c = if i % 3 == 0 { finite(kind, u64::from(kind.mul(a, b, mode) ^ 0x8000)) } else { c };
            let (x, y, z) = (f64::from(kind.widen(a)), f64::from(kind.widen(b)), f64::from(kind.widen(c)));
            let cases = [
                (kind.add(a, c, mode), (x, 1.0, z), "add"),
                (kind.sub(a, c, mode), (x, 1.0, -z), "sub"),
                (kind.mul(a, b, mode), (x, y, 0.0), "mul"),
                (kind.fma(a, b, c, mode), (x, y, z), "fma"),
            ];
            for (r, (p, q, s), name) in cases {
                let largest = if kind == Kind::F16 { 0x7bff } else { 0x7f7f };
                if r & 0x7fff < largest {
                    let what = format!("{name} {kind:?} {a:#x} {b:#x} {c:#x}");
                    check(of_16(kind, r), Rounding::Rn, against_fma(p, q, s), &what);
                }
            }
        }
    }
}

#[test]
fn sixteen_bit_modifiers() {
    let mode = arith16::Mode::default();
    let f16 = Kind::F16;
    assert_eq!(f16.add(0x7c00, 0xfc00, mode), 0x7fff);
    assert_eq!(f16.add(0x3c00, 0x3c00, arith16::Mode { sat: true, ..mode }), 0x3c00);
    assert_eq!(f16.add(0x0001, 0x0001, arith16::Mode { ftz: true, ..mode }), 0);
    assert_eq!(f16.fma(0x3c00, 0xbc00, 0, arith16::Mode { relu: true, ..mode }), 0);
    assert_eq!(f16.fma(0x7e00, 0xbc00, 0, arith16::Mode { relu: true, ..mode }), 0x7fff);
    // Recorded on an H200: no NaN is made 0.
    assert_eq!(f16.fma(0xffff, 0, 0x6cbc, arith16::Mode { oob: true, ..mode }), 0x7fff);
    assert_eq!(arith16::lanes2(0x3c00_4000, 0x3c00_3c00, |a, b| f16.add(a, b, mode)), 0x4000_4200);
}

#[test]
fn minimum_and_maximum() {
    let min = Modifiers::default();
    let max = Modifiers { max: true, ..min };
    assert_eq!(minmax::f32(-0.0, 0.0, min).to_bits(), 0x8000_0000);
    assert_eq!(minmax::f32(-0.0, 0.0, max).to_bits(), 0);
    assert_eq!(minmax::f32(0.0, -0.0, max).to_bits(), 0);
    assert_eq!(minmax::f32(f32::NAN, 1.0, min), 1.0);
    assert_eq!(minmax::f32(f32::NAN, -f32::NAN, min).to_bits(), 0x7fff_ffff);
    assert_eq!(minmax::f32(f32::NAN, 1.0, Modifiers { nan: true, ..min }).to_bits(), 0x7fff_ffff);
    let xorsign = Modifiers { abs: true, xorsign: true, ..max };
    assert_eq!(minmax::f32(-3.0, 2.0, xorsign), -3.0);
    assert_eq!(minmax::f32(-3.0, -2.0, xorsign), 3.0);
    assert_eq!(minmax::f16(0xbc00, 0x3c00, max), 0x3c00);
    assert_eq!(minmax::bf16(0xff81, 0xbf80, max), 0xbf80);
    let mut random = Random(23);
    for _ in 0..100_000 {
        let (a, b) = (random.f64(), random.f64());
        assert_eq!(minmax::f64(a, b, min), a.min(b));
        assert_eq!(minmax::f64(a, b, max), a.max(b));
    }
}

#[test]
fn floats_to_integers_round_clamp_and_treat_nan_by_width() {
    let int = |bits, signed| Int { bits, signed };
    for signed in [false, true] {
        for bits in [8, 16, 32, 64] {
            let ty = int(bits, signed);
            let wide = |x: u64| if signed { i128::from(x as i64) } else { i128::from(x) };
            for rounding in DIRECTED {
                assert_eq!(wide(convert::to_int(1e30, true, rounding, ty)), ty.max());
                assert_eq!(wide(convert::to_int(-1e30, true, rounding, ty)), ty.min());
            }
            let nan = convert::to_int(f64::NAN, false, Rounding::Rz, ty);
            let pattern = if bits == 64 { 1u64 << 63 } else { 0 };
            assert_eq!(nan, pattern, "from f32 to {bits}");
            let nan = convert::to_int(f64::NAN, true, Rounding::Rz, ty);
            assert_eq!(nan & (u64::MAX >> (64 - bits)), 1 << (bits - 1), "from f64 to {bits}");
        }
    }
    let s8 = int(8, true);
    for half_steps in -400i64..400 {
        let x = half_steps as f64 / 2.0;
        let floor = half_steps.div_euclid(2);
        let odd = half_steps.rem_euclid(2) == 1;
        let clamp = |v: i64| v.clamp(-128, 127) as u64;
        assert_eq!(convert::to_int(x, false, Rounding::Rm, s8), clamp(floor));
        assert_eq!(convert::to_int(x, false, Rounding::Rp, s8), clamp(floor + i64::from(odd)));
        assert_eq!(
            convert::to_int(x, false, Rounding::Rn, s8),
            clamp(floor + i64::from(odd && floor.rem_euclid(2) == 1))
        );
        assert_eq!(convert::to_int(x, false, Rounding::Rz, s8), clamp(half_steps / 2));
    }
}

#[test]
fn integers_to_floats_round_in_every_direction() {
    let mut random = Random(29);
    for _ in 0..200_000 {
        let shift = random.bits() % 60;
        let value = (random.bits() as i64) >> shift;
        for rounding in DIRECTED {
            let r = convert::s64_to_f32(value, rounding);
            let exact = |x: f64, y: f64| (2 * i128::from(value)).cmp(&(x as i128 + y as i128));
            if value.unsigned_abs() > 1 << 26 {
                check(of_f32(r), rounding, exact, &format!("{value} {rounding:?}"));
            } else if value.unsigned_abs() < 1 << 24 {
                assert_eq!(r as i64, value);
            }
            let wide = convert::s64_to_f64(value, rounding);
            if value.unsigned_abs() > 1 << 56 {
                check(of_f64(wide), rounding, exact, &format!("{value} {rounding:?}"));
            }
        }
        assert_eq!(convert::u64_to_f32(value as u64, Rounding::Rn), value as u64 as f32);
        assert_eq!(convert::u64_to_f64(value as u64, Rounding::Rn), value as u64 as f64);
    }
    assert_eq!(convert::from_int(65520, &ptx_emulator::num::Format::F16, Rounding::Rn), 0x7c00);
    assert_eq!(convert::from_int(-65520, &ptx_emulator::num::Format::F16, Rounding::Rz), 0xfbff);
}

/// Which NaN an operation makes of numbers, and which of two comes out, differs from one kind of processor to the next.
#[test]
fn nans_of_doubles_are_the_same_on_every_machine() {
    use std::hint::black_box as hidden;
    let (inf, made) = (hidden(f64::INFINITY), 0xfff8_0000_0000_0000_u64);
    for rounding in [Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp] {
        let results = [
            arith64::add(inf, -inf, rounding),
            arith64::sub(inf, inf, rounding),
            arith64::mul(0.0, inf, rounding),
            arith64::fma(0.0, inf, 1.0, rounding),
            arith64::fma(1.0, inf, -inf, rounding),
            arith64::div(hidden(0.0), 0.0, rounding),
            arith64::div(inf, -inf, rounding),
            arith64::sqrt(hidden(-1.0), rounding),
        ];
        assert_eq!(results.map(f64::to_bits), [made; 8], "{rounding:?}");
        // The first is quiet, the second signals.
        let (quiet, signalling) = (hidden(f64::from_bits(0x7ff8 << 48 | 5)), hidden(f64::from_bits(0xfff0 << 48 | 6)));
        let quieted = signalling.to_bits() | 1 << 51;
        assert_eq!(arith64::add(quiet, signalling, rounding).to_bits(), quieted);
        assert_eq!(arith64::mul(signalling, quiet, rounding).to_bits(), quiet.to_bits());
        assert_eq!(arith64::div(quiet, signalling, rounding).to_bits(), quiet.to_bits());
        assert_eq!(arith64::div(1.0, signalling, rounding).to_bits(), quieted);
        assert_eq!(arith64::sqrt(signalling, rounding).to_bits(), quieted);
    }
}
