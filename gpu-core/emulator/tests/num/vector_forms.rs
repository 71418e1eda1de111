//! Forms that are computed for all lanes at once, against what each lane's function says: on special values with each
//! other, on random bits, and in warps of which only some lanes run.

use std::sync::atomic::AtomicBool;

use ptx_emulator::num::approx;
use ptx_emulator::num::arith16::{Kind, Mode as Narrow, lanes3};
use ptx_emulator::num::arith32::{self, Mode};
use ptx_emulator::num::convert::{self, Int};
use ptx_emulator::num::format::{Format, Overflow, Rounding};
use ptx_emulator::num::half::{bf16_to_f32, f16_to_f32};
use ptx_emulator::num::{NAN_F32, canonical, flush, saturate};
use ptx_emulator::{Launch, Memory, Module, Options, launch};

use super::Random;

type Reference = fn(u64, u64, u64) -> u64;

const FTZ: Mode = Mode { ftz: true, ..Mode::RN };
const RZ: Mode = Mode { rounding: Rounding::Rz, ..Mode::RN };
const RM: Mode = Mode { rounding: Rounding::Rm, ..Mode::RN };
const RP: Mode = Mode { rounding: Rounding::Rp, ..Mode::RN };
const SAT: Mode = Mode { sat: true, ..Mode::RN };

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn bits(x: f32) -> u64 {
    x.to_bits().into()
}

/// By way of f64, rounded once.
fn through(x: f64, ftz: bool) -> f32 {
    let x = x as f32;
    canonical(if ftz { flush(x) } else { x })
}

fn input(x: u64, ftz: bool) -> f32 {
    if ftz { flush(f(x)) } else { f(x) }
}

fn div_approx(a: u64, b: u64, ftz: bool) -> u64 {
    let (a, b) = (input(a, ftz), input(b, ftz));
    if b.is_finite() && b.abs() > 2f32.powi(126) {
        return bits(if a.is_finite() { 0.0f32.copysign(a) * b.signum() } else { NAN_F32 });
    }
    if b != 0.0 && b.abs() < f32::MIN_POSITIVE {
        return bits(through(f64::from(a) / f64::from(b), ftz));
    }
    bits(through(f64::from(a) * f64::from(through(1.0 / f64::from(b), false)), ftz))
}

fn div_full(a: u64, b: u64, ftz: bool) -> u64 {
    bits(through(f64::from(input(a, ftz)) / f64::from(input(b, ftz)), ftz))
}

fn sqrt(a: u64, ftz: bool) -> u64 {
    let a = input(a, ftz);
    if a < 0.0 || a.is_nan() { 0x7fff_ffff } else { bits(through(f64::from(a).sqrt(), ftz)) }
}

fn rsqrt(a: u64, ftz: bool) -> u64 {
    let a = f64::from(input(a, ftz));
    bits(if a == 0.0 { f32::INFINITY.copysign(a as f32) } else { through(1.0 / a.sqrt(), ftz) })
}

/// The larger or smaller of two floats of 16 (17 stands for bf16), 32 or 64 bits, by their values: -0 is below +0.
fn extreme(a: u64, b: u64, width: u32, max: bool, nan: bool) -> u64 {
    let [a, b] = [a, b].map(|x| if width == 64 { x } else { x & ((1 << width) - 1) });
    let sign = 1u64 << (width - 1);
    let (infinity, canonical) = match width {
        16 => (0x7c00, 0x7fff),
        17 => (0x7f80, 0x7fff),
        32 => (0x7f80_0000, 0x7fff_ffff),
        _ => (0x7ff0 << 48, b | 1 << 51),
    };
    let sign = if width == 17 { 0x8000 } else { sign };
    let is_nan = |x: u64| x & (sign - 1) > infinity;
    let order = |x: u64| if x & sign != 0 { -1 - i128::from(x & (sign - 1)) } else { i128::from(x & (sign - 1)) };
    match (is_nan(a), is_nan(b)) {
        (true, true) => canonical,
        (true, false) | (false, true) if nan => canonical,
        (true, false) => b,
        (false, true) => a,
        _ if (order(a) < order(b)) == max => b,
        _ => a,
    }
}

fn pairs(a: u64, b: u64, f: impl Fn(u64, u64) -> u64) -> u64 {
    f(a & 0xffff, b & 0xffff) | f(a >> 16 & 0xffff, b >> 16 & 0xffff) << 16
}

fn narrow(x: u64, format: &Format) -> u64 {
    if f(x).is_nan() { 0x7fff } else { format.encode(f64::from(f(x)), Rounding::Rn, Overflow::Infinity) }
}

fn whole(a: u64, ftz: bool, rounding: Rounding) -> u64 {
    let a = input(a, ftz);
    bits(if a.is_nan() { NAN_F32 } else { convert::integral64(f64::from(a), rounding) as f32 })
}

fn to_int(a: u64, ftz: bool, rounding: Rounding, signed: bool) -> u64 {
    convert::to_int(f64::from(input(a, ftz)), false, rounding, Int { bits: 32, signed }) & 0xffff_ffff
}

fn f64_to_int(a: u64, signed: bool) -> u64 {
    convert::to_int(f64::from_bits(a), true, Rounding::Rz, Int { bits: 32, signed }) & 0xffff_ffff
}

fn f64_to_f32(a: u64) -> u64 {
    let x = f64::from_bits(a);
    if x.is_nan() { convert::nan(3, 2, a, false) } else { bits(x as f32) }
}

fn bytes(word: u64, signed: bool) -> [i64; 4] {
    std::array::from_fn(|at| {
        let byte = (word >> (8 * at)) as u8;
        if signed { (byte as i8).into() } else { byte.into() }
    })
}

fn dot(a: u64, b: u64, c: u64, signed: [bool; 2]) -> u64 {
    let products = bytes(a, signed[0]).into_iter().zip(bytes(b, signed[1])).map(|(x, y)| x * y);
    (c as u32).wrapping_add(products.sum::<i64>() as u32).into()
}

fn insert(a: u64, b: u64, from: u64, count: u64, width: u64) -> u64 {
    let (from, count) = (from & 0xff, count & 0xff);
    (0..width).fold(b, |word, bit| {
        let inside = bit >= from && bit < from + count;
        if inside { word & !(1 << bit) | (a >> (bit - from) & 1) << bit } else { word }
    })
}

/// What a form does in one lane. Names of registers: `h` 16 bits, `r` 32, `d` 64.
const FORMS: &[(&str, Reference)] = &[
    ("add.ftz.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::add(f(a), f(b), FTZ))),
    ("sub.ftz.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::sub(f(a), f(b), FTZ))),
    ("mul.ftz.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::mul(f(a), f(b), FTZ))),
    ("fma.rn.ftz.f32 %r0, %r1, %r2, %r3", |a, b, c| bits(arith32::fma(f(a), f(b), f(c), FTZ))),
    ("add.rz.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::add(f(a), f(b), RZ))),
    ("add.rm.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::add(f(a), f(b), RM))),
    ("add.rp.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::add(f(a), f(b), RP))),
    ("add.sat.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::add(f(a), f(b), SAT))),
    ("sub.rz.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::sub(f(a), f(b), RZ))),
    ("sub.rm.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::sub(f(a), f(b), RM))),
    ("sub.sat.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::sub(f(a), f(b), SAT))),
    ("mul.rz.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::mul(f(a), f(b), RZ))),
    ("mul.rm.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::mul(f(a), f(b), RM))),
    ("mul.rp.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::mul(f(a), f(b), RP))),
    ("mul.sat.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::mul(f(a), f(b), SAT))),
    ("fma.rz.f32 %r0, %r1, %r2, %r3", |a, b, c| bits(arith32::fma(f(a), f(b), f(c), RZ))),
    ("fma.rm.f32 %r0, %r1, %r2, %r3", |a, b, c| bits(arith32::fma(f(a), f(b), f(c), RM))),
    ("fma.rp.f32 %r0, %r1, %r2, %r3", |a, b, c| bits(arith32::fma(f(a), f(b), f(c), RP))),
    ("fma.rn.sat.f32 %r0, %r1, %r2, %r3", |a, b, c| bits(arith32::fma(f(a), f(b), f(c), SAT))),
    ("mul.rn.bf16 %h0, %h1, %h2", |a, b, _| Kind::Bf16.mul(a as u16, b as u16, Narrow::default()).into()),
    ("fma.rn.bf16x2 %r0, %r1, %r2, %r3", |a, b, c| {
        lanes3(a as u32, b as u32, c as u32, |a, b, c| Kind::Bf16.fma(a, b, c, Narrow::default())).into()
    }),
    ("div.rn.ftz.f32 %r0, %r1, %r2", |a, b, _| bits(arith32::div(f(a), f(b), FTZ))),
    ("rcp.rn.f32 %r0, %r1", |a, _, _| bits(arith32::rcp(f(a), Mode::RN))),
    ("sqrt.rn.f32 %r0, %r1", |a, _, _| sqrt(a, false)),
    ("sqrt.rn.ftz.f32 %r0, %r1", |a, _, _| sqrt(a, true)),
    ("sqrt.approx.f32 %r0, %r1", |a, _, _| sqrt(a, false)),
    ("sqrt.approx.ftz.f32 %r0, %r1", |a, _, _| sqrt(a, true)),
    ("rsqrt.approx.f32 %r0, %r1", |a, _, _| rsqrt(a, false)),
    ("rsqrt.approx.ftz.f32 %r0, %r1", |a, _, _| rsqrt(a, true)),
    ("ex2.approx.f32 %r0, %r1", |a, _, _| bits(approx::ex2(f(a), false))),
    ("ex2.approx.ftz.f32 %r0, %r1", |a, _, _| bits(approx::ex2(f(a), true))),
    ("ex2.approx.f16 %h0, %h1", |a, _, _| approx::ex2_f16(a as u16).into()),
    ("ex2.approx.ftz.bf16 %h0, %h1", |a, _, _| approx::ex2_bf16(a as u16).into()),
    ("tanh.approx.f16 %h0, %h1", |a, _, _| approx::tanh_f16(a as u16).into()),
    ("tanh.approx.bf16 %h0, %h1", |a, _, _| approx::tanh_bf16(a as u16).into()),
    ("ex2.approx.f16x2 %r0, %r1", |a, _, _| pairs(a, 0, |a, _| approx::ex2_f16(a as u16).into())),
    ("ex2.approx.ftz.bf16x2 %r0, %r1", |a, _, _| pairs(a, 0, |a, _| approx::ex2_bf16(a as u16).into())),
    ("tanh.approx.f16x2 %r0, %r1", |a, _, _| pairs(a, 0, |a, _| approx::tanh_f16(a as u16).into())),
    ("tanh.approx.bf16x2 %r0, %r1", |a, _, _| pairs(a, 0, |a, _| approx::tanh_bf16(a as u16).into())),
    ("rcp.approx.f32 %r0, %r1", |a, _, _| div_full(0x3f80_0000, a, false)),
    ("rcp.approx.ftz.f32 %r0, %r1", |a, _, _| div_full(0x3f80_0000, a, true)),
    ("div.approx.f32 %r0, %r1, %r2", |a, b, _| div_approx(a, b, false)),
    ("div.approx.ftz.f32 %r0, %r1, %r2", |a, b, _| div_approx(a, b, true)),
    ("div.full.f32 %r0, %r1, %r2", |a, b, _| div_full(a, b, false)),
    ("div.full.ftz.f32 %r0, %r1, %r2", |a, b, _| div_full(a, b, true)),
    ("max.f32 %r0, %r1, %r2", |a, b, _| extreme(a, b, 32, true, false)),
    ("min.f32 %r0, %r1, %r2", |a, b, _| extreme(a, b, 32, false, false)),
    ("max.NaN.f32 %r0, %r1, %r2", |a, b, _| extreme(a, b, 32, true, true)),
    ("min.NaN.f32 %r0, %r1, %r2", |a, b, _| extreme(a, b, 32, false, true)),
    ("max.ftz.f32 %r0, %r1, %r2", |a, b, _| extreme(bits(flush(f(a))), bits(flush(f(b))), 32, true, false)),
    ("min.ftz.f32 %r0, %r1, %r2", |a, b, _| extreme(bits(flush(f(a))), bits(flush(f(b))), 32, false, false)),
    ("max.ftz.NaN.f32 %r0, %r1, %r2", |a, b, _| extreme(bits(flush(f(a))), bits(flush(f(b))), 32, true, true)),
    ("min.ftz.NaN.f32 %r0, %r1, %r2", |a, b, _| extreme(bits(flush(f(a))), bits(flush(f(b))), 32, false, true)),
    ("max.f64 %d0, %d1, %d2", |a, b, _| extreme(a, b, 64, true, false)),
    ("min.f64 %d0, %d1, %d2", |a, b, _| extreme(a, b, 64, false, false)),
    ("max.f16 %h0, %h1, %h2", |a, b, _| extreme(a & 0xffff, b & 0xffff, 16, true, false)),
    ("min.NaN.f16 %h0, %h1, %h2", |a, b, _| extreme(a & 0xffff, b & 0xffff, 16, false, true)),
    ("max.f16x2 %r0, %r1, %r2", |a, b, _| pairs(a, b, |a, b| extreme(a, b, 16, true, false))),
    ("min.f16x2 %r0, %r1, %r2", |a, b, _| pairs(a, b, |a, b| extreme(a, b, 16, false, false))),
    ("max.NaN.f16x2 %r0, %r1, %r2", |a, b, _| pairs(a, b, |a, b| extreme(a, b, 16, true, true))),
    ("max.bf16x2 %r0, %r1, %r2", |a, b, _| pairs(a, b, |a, b| extreme(a, b, 17, true, false))),
    ("min.NaN.bf16x2 %r0, %r1, %r2", |a, b, _| pairs(a, b, |a, b| extreme(a, b, 17, false, true))),
    ("neg.f16x2 %r0, %r1", |a, _, _| pairs(a, 0, |a, _| if a & 0x7fff > 0x7c00 { 0x7fff } else { a ^ 0x8000 })),
    ("abs.bf16x2 %r0, %r1", |a, _, _| pairs(a, 0, |a, _| if a & 0x7fff > 0x7f80 { 0x7fff } else { a & 0x7fff })),
    ("cvt.rn.f16.f32 %h0, %r1", |a, _, _| narrow(a, &Format::F16)),
    ("cvt.rn.bf16.f32 %h0, %r1", |a, _, _| narrow(a, &Format::BF16)),
    ("cvt.rn.f16x2.f32 %r0, %r1, %r2", |a, b, _| narrow(a, &Format::F16) << 16 | narrow(b, &Format::F16)),
    ("cvt.rn.bf16x2.f32 %r0, %r1, %r2", |a, b, _| narrow(a, &Format::BF16) << 16 | narrow(b, &Format::BF16)),
    ("cvt.f32.f16 %r0, %h1", |a, _, _| bits(f16_to_f32(a as u16))),
    ("cvt.f32.bf16 %r0, %h1", |a, _, _| bits(bf16_to_f32(a as u16))),
    ("cvt.rn.f32.f64 %r0, %d1", |a, _, _| f64_to_f32(a)),
    ("cvt.sat.f32.f32 %r0, %r1", |a, _, _| bits(saturate(f(a)))),
    ("cvt.ftz.sat.f32.f32 %r0, %r1", |a, _, _| bits(saturate(flush(f(a))))),
    ("cvt.rni.f32.f32 %r0, %r1", |a, _, _| whole(a, false, Rounding::Rn)),
    ("cvt.rzi.f32.f32 %r0, %r1", |a, _, _| whole(a, false, Rounding::Rz)),
    ("cvt.rmi.f32.f32 %r0, %r1", |a, _, _| whole(a, false, Rounding::Rm)),
    ("cvt.rpi.f32.f32 %r0, %r1", |a, _, _| whole(a, false, Rounding::Rp)),
    ("cvt.rni.ftz.f32.f32 %r0, %r1", |a, _, _| whole(a, true, Rounding::Rn)),
    ("cvt.rzi.ftz.f32.f32 %r0, %r1", |a, _, _| whole(a, true, Rounding::Rz)),
    ("cvt.rmi.ftz.f32.f32 %r0, %r1", |a, _, _| whole(a, true, Rounding::Rm)),
    ("cvt.rpi.ftz.f32.f32 %r0, %r1", |a, _, _| whole(a, true, Rounding::Rp)),
    ("cvt.rni.s32.f32 %r0, %r1", |a, _, _| to_int(a, false, Rounding::Rn, true)),
    ("cvt.rzi.s32.f32 %r0, %r1", |a, _, _| to_int(a, false, Rounding::Rz, true)),
    ("cvt.rzi.u32.f32 %r0, %r1", |a, _, _| to_int(a, false, Rounding::Rz, false)),
    ("cvt.rni.u32.f32 %r0, %r1", |a, _, _| to_int(a, false, Rounding::Rn, false)),
    ("cvt.rzi.ftz.s32.f32 %r0, %r1", |a, _, _| to_int(a, true, Rounding::Rz, true)),
    ("cvt.rzi.ftz.u32.f32 %r0, %r1", |a, _, _| to_int(a, true, Rounding::Rz, false)),
    ("cvt.rmi.s32.f32 %r0, %r1", |a, _, _| to_int(a, false, Rounding::Rm, true)),
    ("cvt.rpi.s32.f32 %r0, %r1", |a, _, _| to_int(a, false, Rounding::Rp, true)),
    ("cvt.rmi.ftz.s32.f32 %r0, %r1", |a, _, _| to_int(a, true, Rounding::Rm, true)),
    ("cvt.rpi.ftz.s32.f32 %r0, %r1", |a, _, _| to_int(a, true, Rounding::Rp, true)),
    ("cvt.rzi.s32.f64 %r0, %d1", |a, _, _| f64_to_int(a, true)),
    ("cvt.rzi.u32.f64 %r0, %d1", |a, _, _| f64_to_int(a, false)),
    ("cvt.rn.f32.s16 %r0, %h1", |a, _, _| bits(f32::from(a as i16))),
    ("cvt.rn.f32.u16 %r0, %h1", |a, _, _| bits(f32::from(a as u16))),
    ("cvt.rn.f32.s8 %r0, %r1", |a, _, _| bits(f32::from(a as i8))),
    ("cvt.rn.f32.u8 %r0, %r1", |a, _, _| bits(f32::from(a as u8))),
    ("cvt.rn.f32.s64 %r0, %d1", |a, _, _| bits(a as i64 as f32)),
    ("cvt.rn.f32.u64 %r0, %d1", |a, _, _| bits(a as f32)),
    ("cvt.s32.s16 %r0, %h1", |a, _, _| i32::from(a as i16) as u32 as u64),
    ("cvt.u32.s16 %r0, %h1", |a, _, _| i32::from(a as i16) as u32 as u64),
    ("cvt.s32.s8 %r0, %r1", |a, _, _| i32::from(a as i8) as u32 as u64),
    ("cvt.s16.s8 %h0, %h1", |a, _, _| i16::from(a as i8) as u16 as u64),
    ("cvt.u32.u8 %r0, %r1", |a, _, _| a & 0xff),
    ("cvt.s8.u8 %r0, %r1", |a, _, _| i32::from(a as i8) as u32 as u64),
    ("cvt.u8.s8 %r0, %r1", |a, _, _| a & 0xff),
    ("cvt.s8.s32 %r0, %r1", |a, _, _| i32::from(a as i8) as u32 as u64),
    ("cvt.u8.u32 %r0, %r1", |a, _, _| a & 0xff),
    ("cvt.s64.s16 %d0, %h1", |a, _, _| i64::from(a as i16) as u64),
    ("cvt.u64.u16 %d0, %h1", |a, _, _| a & 0xffff),
    ("mov.b32 {%h0, %h3}, %r1", |a, _, _| a & 0xffff),
    ("mov.b32 {%h3, %h0}, %r1", |a, _, _| a >> 16 & 0xffff),
    ("mov.b64 {%r0, _}, %d1", |a, _, _| a & 0xffff_ffff),
    ("mov.b64 {_, %r0}, %d1", |a, _, _| a >> 32),
    ("div.u32 %r0, %r1, %r2", |a, b, _| (a as u32).checked_div(b as u32).unwrap_or(u32::MAX).into()),
    ("rem.u32 %r0, %r1, %r2", |a, b, _| (a as u32).checked_rem(b as u32).unwrap_or(u32::MAX).into()),
    ("div.s32 %r0, %r1, %r2", |a, b, _| {
        if b as u32 == 0 { 0xffff_ffff } else { (a as i32).wrapping_div(b as i32) as u32 as u64 }
    }),
    ("rem.s32 %r0, %r1, %r2", |a, b, _| {
        if b as u32 == 0 { 0xffff_ffff } else { (a as i32).wrapping_rem(b as i32) as u32 as u64 }
    }),
    ("dp4a.s32.s32 %r0, %r1, %r2, %r3", |a, b, c| dot(a, b, c, [true, true])),
    ("dp4a.u32.u32 %r0, %r1, %r2, %r3", |a, b, c| dot(a, b, c, [false, false])),
    ("dp4a.s32.u32 %r0, %r1, %r2, %r3", |a, b, c| dot(a, b, c, [true, false])),
    ("dp4a.u32.s32 %r0, %r1, %r2, %r3", |a, b, c| dot(a, b, c, [false, true])),
    ("bfi.b32 %r0, %r1, %r2, %r3, %r4", |a, b, c| insert(a & 0xffff_ffff, b & 0xffff_ffff, c, c >> 8, 32)),
    ("selp.b32 %r0, %r1, %r2, %p1", |a, b, c| if c & 1 != 0 { a & 0xffff_ffff } else { b & 0xffff_ffff }),
    ("selp.b64 %d0, %d1, %d2, %p1", |a, b, c| if c & 1 != 0 { a } else { b }),
];

/// Patterns that are special in some format, in each half of 64 bits.
fn specials() -> Vec<u64> {
    let narrow = [0u64, 1, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7f80, 0x7f81, 0x7fff];
    let words = [
        0u64,
        1,
        2,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0x3380_0000,
        0x3f00_0000,
        0x3f7f_ffff,
        0x3f80_0000,
        0x3fc0_0000,
        0x477f_f000,
        0x4f00_0000,
        0x4f80_0000,
        0x7e80_0000,
        0x7e80_0001,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7f80_0001,
        0x7fc0_0000,
        0x7fff_ffff,
        7,
    ];
    let mut all: Vec<u64> = narrow.iter().flat_map(|x| [*x, x | 0x8000, x | x << 16, x << 16 | 0x8000_0000]).collect();
    all.extend(words.iter().flat_map(|x| [*x, x | 0x8000_0000]));
    all.extend(
        [1.5f64, 0.1, 1e300, 1e-300, 4e9, 2147483647.5, -2147483648.5, f64::NAN, -f64::INFINITY, -0.0]
            .map(f64::to_bits),
    );
    all
}

/// Three operands for each thread.
fn operands() -> [Vec<u64>; 3] {
    let specials = specials();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut out = [Vec::new(), Vec::new(), Vec::new()];
    let mut push = |row: [u64; 3]| out.iter_mut().zip(row).for_each(|(list, value)| list.push(value));
    for &a in &specials {
        for &b in &specials {
            push([a, b, specials[(random.bits() % specials.len() as u64) as usize]]);
        }
    }
    for _ in 0..8000 {
        push([random.bits(), random.bits(), random.bits()]);
        push([0, 1, 2].map(|_| u64::from(random.f32().to_bits())));
        push([0, 1, 2].map(|_| random.f64().to_bits()));
        // Products, sums and quotients near the least normal number.
        let near = |bits: u64, exponent: u64| bits & 0x807f_ffff | exponent << 23;
        let (a, b, c) = (random.bits(), random.bits(), random.bits());
        push([near(a, 50 + (a >> 40 & 31)), near(b, 50 + (b >> 40 & 31)), near(c, 1 + (c >> 40 & 1))]);
        push([near(a, 1 + (a >> 40 & 31)), near(b, 127 + (b >> 40 & 31)), near(c, 1)]);
    }
    out
}

#[test]
fn whole_warps_give_what_each_lane_would() {
    let operands = operands();
    let count = operands[0].len();
    for (form, reference) in FORMS {
        let target = form.find('0').map(|at| form.as_bytes()[at - 1]).expect("a target");
        let result = match target {
            b'h' => "cvt.u64.u16 %d0, %h0;",
            b'r' => "cvt.u64.u32 %d0, %r0;",
            _ => "",
        };
        let text = format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, \
             .param .u64 out, .param .u32 n)\n{{\n.reg .pred %p<3>;\n.reg .b16 %h<5>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n\
             mov.u32 %r5, %ctaid.x;\nmov.u32 %r6, %ntid.x;\nmov.u32 %r7, %tid.x;\nmad.lo.u32 %r5, %r5, %r6, %r7;\n\
             ld.param.u32 %r6, [n];\nsetp.ge.u32 %p2, %r5, %r6;\n@%p2 ret;\nmul.wide.u32 %d4, %r5, 8;\n\
             ld.param.u64 %d5, [a];\nadd.u64 %d5, %d5, %d4;\nld.global.u64 %d1, [%d5];\n\
             ld.param.u64 %d5, [b];\nadd.u64 %d5, %d5, %d4;\nld.global.u64 %d2, [%d5];\n\
             ld.param.u64 %d5, [c];\nadd.u64 %d5, %d5, %d4;\nld.global.u64 %d3, [%d5];\n\
             cvt.u32.u64 %r1, %d1;\ncvt.u32.u64 %r2, %d2;\ncvt.u32.u64 %r3, %d3;\nshr.u32 %r4, %r3, 8;\n\
             cvt.u16.u32 %h1, %r1;\ncvt.u16.u32 %h2, %r2;\nand.b32 %r8, %r3, 1;\nsetp.ne.u32 %p1, %r8, 0;\n\
             {form};\n{result}\nld.param.u64 %d5, [out];\nadd.u64 %d5, %d5, %d4;\nst.global.u64 [%d5], %d0;\nret;\n}}\n"
        );
        let module = Module::load(&text).unwrap_or_else(|problems| panic!("{form}: {problems:?}"));
        let mut memory = Memory::new(1 << 28);
        // The last warp is a part of one.
        let mut job = Launch::new("k", [count.div_ceil(128) as u32, 1, 1], [128, 1, 1]);
        for (name, list) in ["a", "b", "c"].iter().zip(&operands) {
            let address = memory.alloc(name, 8 * count as u64).expect("fits");
            memory.write(address, &list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).expect("inside");
            job = job.arg_u64(address);
        }
        let to = memory.alloc("out", 8 * count as u64).expect("fits");
        let job = job.arg_u64(to).arg_u32(count as u32);
        let outcome = launch(&module, &mut memory, &job, &Options::unchecked(), &AtomicBool::new(false));
        assert!(outcome.completed && outcome.faults.is_empty(), "{form}: {:?}", outcome.faults);
        let mut bytes = vec![0; 8 * count];
        memory.read(to, &mut bytes).expect("inside");
        for (at, got) in bytes.chunks_exact(8).enumerate() {
            let got = u64::from_le_bytes(got.try_into().expect("eight"));
            let [a, b, c] = [0, 1, 2].map(|list| operands[list][at]);
            let right = reference(a, b, c);
            assert_eq!(got, right, "{form} of {a:#x}, {b:#x}, {c:#x}: {got:#x} instead of {right:#x}");
        }
    }
}
