//! `cvt`: among integers, floats and packed narrow formats.

use super::float::{rounding_code, rounding_from};
use super::{Row, Ty, example};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{bin, imm_bin, imm_tri, imm_un, un};
use crate::exec::op::{Exec, Flow, Op, Taint};
use crate::exec::template::Native;
use crate::num::convert::{self, Int};
use crate::num::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::num::pack::{self, Narrow};
use crate::num::{Format, Overflow, Rounding, canonical, flush, saturate, saturate64};
use crate::ptx::tree::Operand;
use crate::report::Class;

pub const ROWS: &[Row] = &[Row {
    opcode: "cvt",
    class: Class::Convert,
    decode: cvt,
    examples: &[
        example("cvt.u64.u32 %d, %a;", &[(32, 0xffff_ffff)], (64, 0xffff_ffff)),
        example("cvt.s64.s32 %d, %a;", &[(32, 0xffff_ffff)], (64, u64::MAX)),
        example("cvt.rn.f32.s32 %d, %a;", &[(32, 0xffff_fffe)], (32, 0xc000_0000)),
        example("cvt.rzi.s32.f32 %d, %a;", &[(32, 0xc020_0000)], (32, 0xffff_fffe)),
        example("cvt.rzi.u32.f32 %d, %a;", &[(32, 0xc020_0000)], (32, 0)),
        example("cvt.f64.f32 %d, %a;", &[(32, 0x3fc0_0000)], (64, 0x3ff8_0000_0000_0000)),
        example("cvt.rn.f16.f32 %d, %a;", &[(32, 0x3fc0_0000)], (16, 0x3e00)),
        example("cvt.f32.f16 %d, %a;", &[(16, 0x3e00)], (32, 0x3fc0_0000)),
        example("cvt.rn.bf16x2.f32 %d, %a, %b;", &[(32, 0x3f80_0000), (32, 0x4000_0000)], (32, 0x3f80_4000)),
        example("cvt.rni.f32.f32 %d, %a;", &[(32, 0x4020_0000)], (32, 0x4000_0000)),
        example("cvt.u32.u8 %d, %a;", &[(32, 0x1ff)], (32, 0xff)),
        example("cvt.s8.s32 %d, %a;", &[(32, 0x180)], (32, 0xffff_ff80)),
        example("cvt.sat.u8.s32 %d, %a;", &[(32, 0xffff_ffff)], (32, 0)),
        example("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", &[(32, 0x3f80_0000), (32, 0x4000_0000)], (16, 0x3840)),
    ],
}];

fn int_of(ty: Ty) -> Option<Int> {
    let integer = matches!(
        ty,
        Ty::U8
            | Ty::U16
            | Ty::U32
            | Ty::U64
            | Ty::S8
            | Ty::S16
            | Ty::S32
            | Ty::S64
            | Ty::B8
            | Ty::B16
            | Ty::B32
            | Ty::B64
    );
    integer.then(|| Int { bits: ty.bits(), signed: ty.signed() })
}

/// Modifiers packed for `Op::imm`.
mod code {
    pub const FTZ: i64 = 1 << 4;
    pub const SAT: i64 = 1 << 5;
    pub const RELU: i64 = 1 << 6;
    pub const FINITE: i64 = 1 << 7;
    pub const INTEGRAL: i64 = 1 << 8;
    pub const KIND_SHIFT: u32 = 16;
}

fn kind_code(ty: Ty) -> Option<i64> {
    Some(match ty {
        Ty::F16 => 0,
        Ty::BF16 => 1,
        Ty::F32 | Ty::TF32 => 2,
        Ty::F64 => 3,
        _ => return None,
    })
}

/// A float of any of the four kinds as f64, flushed when asked.
#[inline(always)]
fn widen(kind: i64, raw: u64, ftz: bool) -> f64 {
    match kind & 3 {
        0 => f64::from(f16_to_f32(raw as u16)),
        1 => f64::from(bf16_to_f32(raw as u16)),
        2 => {
            let value = f32::from_bits(raw as u32);
            f64::from(if ftz { flush(value) } else { value })
        }
        _ => f64::from_bits(raw),
    }
}

fn cvt(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if i.take("pack") {
        return cvt_pack(e, i);
    }
    let narrow = i.take_where(|part| {
        part.starts_with("e4m3x")
            || part.starts_with("e5m2x")
            || part.starts_with("e2m1x")
            || part.starts_with("e2m3x")
            || part.starts_with("e3m2x")
            || part.starts_with("ue8m0x2")
            || part.starts_with("s2f6x2")
    });
    let rounding = match i.take_any(&["rni", "rzi", "rmi", "rpi", "rn", "rz", "rm", "rp", "rna", "rs"]) {
        Some(name) => (Some(name), name.len() == 3 && name != "rna"),
        None => (None, false),
    };
    let mode = match rounding.0.map(|name| &name[..2]) {
        Some("rz") => Rounding::Rz,
        Some("rm") => Rounding::Rm,
        Some("rp") => Rounding::Rp,
        _ if rounding.0 == Some("rna") => Rounding::Rna,
        _ => Rounding::Rn,
    };
    let ftz = i.take("ftz");
    let finite = i.take("satfinite");
    let sat = i.take("sat");
    let relu = i.take("relu");
    let mut imm = rounding_code(mode);
    for (flag, bit) in
        [(ftz, code::FTZ), (sat, code::SAT), (relu, code::RELU), (finite, code::FINITE), (rounding.1, code::INTEGRAL)]
    {
        imm |= if flag { bit } else { 0 };
    }
    if let Some(name) = narrow.first() {
        return super::narrow::cvt(e, i, name, rounding.0 == Some("rs"), imm);
    }
    let d = i.ty()?;
    let a = i.ty()?;
    if matches!(d, Ty::F16x2 | Ty::BF16x2) && a == Ty::F32 {
        return pack_halves(e, i, d, rounding.0 == Some("rs"), imm);
    }
    i.expect(2)?;
    let mut op = e.op(crate::decode::emit::never);
    let (slot, source_bits) = e.src_any(&i.operands[1], a)?;
    op.a = slot;
    let (target, target_bits) = e.dst_any(&i.operands[0], d)?;
    op.d = target;
    op.imm = imm;
    let wide_source = source_bits > 32;
    let wide_target = target_bits > 32;
    op.run = match (int_of(d), int_of(a)) {
        (Some(to), Some(from)) => {
            op.imm |= i64::from(from.bits) << 16
                | i64::from(from.signed) << 24
                | i64::from(to.bits) << 32
                | i64::from(to.signed) << 40;
            let simple = !sat && !wide_source && !wide_target && to.bits == 32 && from.bits == 32;
            match (wide_source, wide_target) {
                _ if simple => un(|a: u32| a),
                (false, true) if !sat && from.bits == 32 && from.signed && to.bits == 64 => un(|a: i32| i64::from(a)),
                (false, true) if !sat && from.bits == 32 && to.bits == 64 => un(|a: u32| u64::from(a)),
                (true, false) if !sat && from.bits == 64 && to.bits == 32 => un(|a: u64| a as u32),
                (false, false)
                    if !sat && from.bits == 16 && !from.signed && (to.bits > 16 || to.bits == 16 && !to.signed) =>
                {
                    un(|a: u16| u32::from(a))
                }
                (false, false) if !sat && from.bits == 32 && to.bits == 16 && !to.signed => un(|a: u32| a as u16),
                (false, false) if !sat && from.bits == 16 && from.signed && to.bits == 32 => un(|a: i16| i32::from(a)),
                (false, false) if !sat && from.bits == 8 && from.signed && to.signed => un(|a: i8| i32::from(a)),
                (false, false) if !sat && from.bits == 8 && !from.signed && (to.bits > 8 || !to.signed) => {
                    un(|a: u8| u32::from(a))
                }
                (false, false) if !sat && to.bits == 8 && !to.signed => un(|a: u8| u32::from(a)),
                (false, false) if !sat && to.bits == 8 && to.signed => un(|a: i8| i32::from(a)),
                (false, true) if !sat && from.bits == 16 && !from.signed && to.bits == 64 => un(|a: u16| u64::from(a)),
                (false, true) if !sat && from.bits == 16 && from.signed && to.bits == 64 => un(|a: i16| i64::from(a)),
                (false, false) => imm_un(|m, a: u32| int_to_int(m, u64::from(a)) as u32),
                (false, true) => imm_un(|m, a: u32| int_to_int(m, u64::from(a))),
                (true, false) => imm_un(|m, a: u64| int_to_int(m, a) as u32),
                (true, true) => imm_un(|m, a: u64| int_to_int(m, a)),
            }
        }
        (None, Some(from)) => {
            let Some(kind) = kind_code(d) else { return i.unsupported() };
            op.imm |= i64::from(from.bits) << 16 | i64::from(from.signed) << 24 | kind << 32;
            match (d, from.bits, from.signed, mode) {
                (Ty::F32, 32, true, Rounding::Rn) if !sat && !wide_source => un(|a: i32| a as f32),
                (Ty::F32, 32, false, Rounding::Rn) if !sat && !wide_source => un(|a: u32| a as f32),
                (Ty::F32, 16, true, Rounding::Rn) if !sat && !wide_source => un(|a: i16| f32::from(a)),
                (Ty::F32, 16, false, Rounding::Rn) if !sat && !wide_source => un(|a: u16| f32::from(a)),
                (Ty::F32, 8, true, Rounding::Rn) if !sat && !wide_source => un(|a: i8| f32::from(a)),
                (Ty::F32, 8, false, Rounding::Rn) if !sat && !wide_source => un(|a: u8| f32::from(a)),
                (Ty::F32, 64, true, Rounding::Rn) if !sat && wide_source => un(|a: i64| a as f32),
                (Ty::F32, 64, false, Rounding::Rn) if !sat && wide_source => un(|a: u64| a as f32),
                (Ty::F64, 32, true, _) if !sat && !wide_source => un(|a: i32| f64::from(a)),
                (Ty::F64, 32, false, _) if !sat && !wide_source => un(|a: u32| f64::from(a)),
                _ => match (wide_source, d.bits() == 64) {
                    (false, false) => imm_un(|m, a: u32| int_to_float(m, u64::from(a)) as u32),
                    (false, true) => imm_un(|m, a: u32| int_to_float(m, u64::from(a))),
                    (true, false) => imm_un(|m, a: u64| int_to_float(m, a) as u32),
                    (true, true) => imm_un(|m, a: u64| int_to_float(m, a)),
                },
            }
        }
        (Some(to), None) => {
            let Some(kind) = kind_code(a) else { return i.unsupported() };
            op.imm |= kind << code::KIND_SHIFT | i64::from(to.bits) << 32 | i64::from(to.signed) << 40;
            match (a, to.bits, to.signed, mode) {
                // `.ftz` matters to roundings up and down only.
                (Ty::F32, 32, true, Rounding::Rz) if !wide_target => un(|a: f32| convert::f32_to_s32(a, Rounding::Rz)),
                (Ty::F32, 32, false, Rounding::Rz) if !wide_target => un(|a: f32| convert::f32_to_u32(a, Rounding::Rz)),
                (Ty::F32, 32, true, Rounding::Rn) if !wide_target => un(|a: f32| convert::f32_to_s32(a, Rounding::Rn)),
                (Ty::F32, 32, false, Rounding::Rn) if !wide_target => un(|a: f32| convert::f32_to_u32(a, Rounding::Rn)),
                (Ty::F32, 32, true, Rounding::Rm) if !wide_target && !ftz => {
                    un(|a: f32| convert::f32_to_s32(a, Rounding::Rm))
                }
                (Ty::F32, 32, true, Rounding::Rm) if !wide_target => {
                    un(|a: f32| convert::f32_to_s32(flush(a), Rounding::Rm))
                }
                (Ty::F32, 32, true, Rounding::Rp) if !wide_target && !ftz => {
                    un(|a: f32| convert::f32_to_s32(a, Rounding::Rp))
                }
                (Ty::F32, 32, true, Rounding::Rp) if !wide_target => {
                    un(|a: f32| convert::f32_to_s32(flush(a), Rounding::Rp))
                }
                (Ty::F64, 32, true, Rounding::Rz) if !wide_target => {
                    un(|a: f64| convert::to_int(a, true, Rounding::Rz, Int { bits: 32, signed: true }) as u32)
                }
                (Ty::F64, 32, false, Rounding::Rz) if !wide_target => {
                    un(|a: f64| convert::to_int(a, true, Rounding::Rz, Int { bits: 32, signed: false }) as u32)
                }
                _ => match (a.bits() == 64, wide_target) {
                    (false, false) => imm_un(|m, a: u32| float_to_int(m, u64::from(a)) as u32),
                    (false, true) => imm_un(|m, a: u32| float_to_int(m, u64::from(a))),
                    (true, false) => imm_un(|m, a: u64| float_to_int(m, a) as u32),
                    (true, true) => imm_un(|m, a: u64| float_to_int(m, a)),
                },
            }
        }
        (None, None) => {
            let (Some(to), Some(from)) = (kind_code(d), kind_code(a)) else { return i.unsupported() };
            op.imm |= from << code::KIND_SHIFT | to << 32;
            if d == Ty::TF32 {
                imm_un(|m, a: f32| pack::tf32(a, rounding_from(m), overflow(m), m & code::RELU != 0))
            } else {
                match (d, a) {
                    // No f16 is subnormal as f32; to 16 bits `.ftz` has no effect.
                    (Ty::F32, Ty::F16) if imm & !(7 | code::FTZ) & 0xffff == 0 => un(|a: u16| f16_to_f32(a)),
                    (Ty::F16, Ty::F32) if imm & !code::FTZ & 0xffff == 0 => un(|a: f32| f32_to_f16(a)),
                    (Ty::BF16, Ty::F32) if imm & !code::FTZ & 0xffff == 0 => un(|a: f32| f32_to_bf16(a)),
                    (Ty::F32, Ty::F64) if imm & 0xffff == 0 => un(|a: f64| convert::f64_to_f32_bits(a)),
                    (Ty::F32, Ty::F32) if imm & 0xffff == code::SAT => un(|a: f32| saturate(a)),
                    (Ty::F32, Ty::F32) if imm & 0xffff == code::SAT | code::FTZ => un(|a: f32| saturate(flush(a))),
                    (Ty::F32, Ty::F32) if imm & !7 & 0xffff == code::INTEGRAL => whole(mode, false),
                    (Ty::F32, Ty::F32) if imm & !7 & 0xffff == code::INTEGRAL | code::FTZ => whole(mode, true),
                    (Ty::F32, Ty::BF16) if imm & !7 & 0xffff == 0 => un(|a: u16| bf16_to_f32(a)),
                    // A move.
                    (Ty::F32, Ty::F32) if imm & 0xffff == 0 => un(|a: u32| a),
                    (Ty::F64, Ty::F32) if imm & !7 & 0xffff == 0 => un(|a: f32| f64::from(a)),
                    _ => match (a.bits() == 64, d.bits() == 64) {
                        (false, false) => imm_un(|m, a: u32| float_to_float(m, u64::from(a)) as u32),
                        (false, true) => imm_un(|m, a: u32| float_to_float(m, u64::from(a))),
                        (true, false) => imm_un(|m, a: u64| float_to_float(m, a) as u32),
                        (true, true) => imm_un(|m, a: u64| float_to_float(m, a)),
                    },
                }
            }
        }
    };
    let native = match (int_of(d), int_of(a)) {
        _ if sat => Native::No,
        (Some(to), Some(from)) => match (wide_source, wide_target, from.bits, to.bits) {
            (false, false, 32, 32) => Native::Mov32,
            (false, true, 32, 64) if from.signed => Native::WidenS,
            (false, true, 32, 64) => Native::WidenU,
            (true, false, 64, 32) => Native::Narrow,
            (false, false, 8, 32) if from.signed => Native::ExtendS8,
            (false, false, 16, 32) if from.signed => Native::ExtendS16,
            (false, false, 8, 16 | 32) if !from.signed => Native::ExtendU8,
            (false, false, 16, 32) => Native::ExtendU16,
            (false, false, 16 | 32, 16) if !to.signed => Native::ExtendU16,
            _ => Native::No,
        },
        (None, Some(from)) if d == Ty::F32 && from.bits == 32 && mode == Rounding::Rn && !wide_source => {
            if from.signed { Native::FloatOfS32 } else { Native::FloatOfU32 }
        }
        _ => Native::No,
    };
    e.push(op, Taint::Compute);
    e.native(native);
    Ok(())
}

/// f32 rounded to a whole number.
fn whole(rounding: Rounding, ftz: bool) -> Exec {
    match (rounding, ftz) {
        (Rounding::Rz, false) => un(|a: f32| canonical(convert::integral32(a, Rounding::Rz))),
        (Rounding::Rz, true) => un(|a: f32| canonical(convert::integral32(flush(a), Rounding::Rz))),
        (Rounding::Rm, false) => un(|a: f32| canonical(convert::integral32(a, Rounding::Rm))),
        (Rounding::Rm, true) => un(|a: f32| canonical(convert::integral32(flush(a), Rounding::Rm))),
        (Rounding::Rp, false) => un(|a: f32| canonical(convert::integral32(a, Rounding::Rp))),
        (Rounding::Rp, true) => un(|a: f32| canonical(convert::integral32(flush(a), Rounding::Rp))),
        (_, false) => un(|a: f32| canonical(convert::integral32(a, Rounding::Rn))),
        (_, true) => un(|a: f32| canonical(convert::integral32(flush(a), Rounding::Rn))),
    }
}

#[inline(always)]
pub fn overflow(code: i64) -> Overflow {
    if code & code::FINITE != 0 { Overflow::Saturate } else { Overflow::Infinity }
}

#[inline(always)]
pub fn relu(code: i64) -> bool {
    code & code::RELU != 0
}

/// The low `bits` of a register as a number.
#[inline(always)]
fn extend(raw: u64, bits: u32, signed: bool) -> i128 {
    let shift = 64 - bits;
    if signed { i128::from((raw << shift) as i64 >> shift) } else { i128::from(raw << shift >> shift) }
}

/// The result fills the register: sign-extended for signed types, which is what a wider destination gets.
#[inline(always)]
fn int_to_int(m: i64, raw: u64) -> u64 {
    let from = extend(raw, (m >> 16 & 0xff) as u32, m >> 24 & 1 != 0);
    let to = Int { bits: (m >> 32 & 0xff) as u32, signed: m >> 40 & 1 != 0 };
    let value = if m & code::SAT != 0 { from.clamp(to.min(), to.max()) } else { from };
    extend(value as u64, to.bits, to.signed) as u64
}

#[inline(always)]
fn int_to_float(m: i64, raw: u64) -> u64 {
    let value = extend(raw, (m >> 16 & 0xff) as u32, m >> 24 & 1 != 0);
    let rounding = rounding_from(m);
    let sat = m & code::SAT != 0;
    match m >> 32 & 3 {
        // Every whole number above 0 saturates at 1.
        0 if sat => u64::from(value > 0) * 0x3c00,
        1 if sat => u64::from(value > 0) * 0x3f80,
        0 => convert::from_int(value, &Format::F16, rounding),
        1 => convert::from_int(value, &Format::BF16, rounding),
        2 => {
            let x = if value < 0 {
                convert::s64_to_f32(value as i64, rounding)
            } else {
                convert::u64_to_f32(value as u64, rounding)
            };
            u64::from(if sat { saturate(x) } else { x }.to_bits())
        }
        _ => {
            let x = if value < 0 {
                convert::s64_to_f64(value as i64, rounding)
            } else {
                convert::u64_to_f64(value as u64, rounding)
            };
            if sat { saturate64(x) } else { x }.to_bits()
        }
    }
}

#[inline(always)]
fn float_to_int(m: i64, raw: u64) -> u64 {
    let kind = m >> code::KIND_SHIFT & 3;
    let to = Int { bits: (m >> 32 & 0xff) as u32, signed: m >> 40 & 1 != 0 };
    let value = widen(kind, raw, m & code::FTZ != 0);
    convert::to_int(value, kind == 3, rounding_from(m), to)
}

#[inline(always)]
fn float_to_float(m: i64, raw: u64) -> u64 {
    let from = m >> code::KIND_SHIFT & 3;
    let to = m >> 32 & 3;
    let (ftz, sat, rounding) = (m & code::FTZ != 0, m & code::SAT != 0, rounding_from(m));
    // A conversion to 16 bits sees subnormals in spite of `.ftz`: they matter to the directed roundings.
    let mut value = widen(from, raw, ftz && to >= 2);
    if value.is_nan() && !sat {
        return convert::nan(from, to, raw, ftz);
    }
    if m & code::INTEGRAL != 0 {
        value = convert::integral64(value, rounding);
    }
    match to {
        0 | 1 => {
            let format = if to == 0 { &Format::F16 } else { &Format::BF16 };
            let mut bits = format.encode(value, rounding, overflow(m)) as u16;
            if sat {
                let x = if to == 0 { f16_to_f32(bits) } else { bf16_to_f32(bits) };
                bits = format.encode(f64::from(saturate(x)), Rounding::Rn, Overflow::Infinity) as u16;
            }
            u64::from(crate::num::minmax::relu16(bits, relu(m)))
        }
        2 => {
            let x = convert::f64_to_f32(value, rounding);
            let x = if ftz { flush(x) } else { x };
            let x = if sat { saturate(x) } else { canonical(x) };
            u64::from(crate::num::minmax::relu32(x, relu(m)).to_bits())
        }
        _ => if sat { saturate64(value) } else { value }.to_bits(),
    }
}

/// `cvt.rn.f16x2.f32 d, a, b`: a goes to the high half.
fn pack_halves(e: &mut Emit<'_>, i: &mut Inst<'_>, d: Ty, stochastic: bool, imm: i64) -> Decoded<()> {
    i.expect(if stochastic { 4 } else { 3 })?;
    let run: Exec = match (d, stochastic) {
        (Ty::F16x2, false) if imm & 0xffff == 0 => {
            bin(|a: f32, b: f32| u32::from(f32_to_f16(a)) << 16 | u32::from(f32_to_f16(b)))
        }
        (_, false) if imm & 0xffff == 0 => {
            bin(|a: f32, b: f32| u32::from(f32_to_bf16(a)) << 16 | u32::from(f32_to_bf16(b)))
        }
        (Ty::F16x2, false) => imm_bin(|m, a: f32, b: f32| pack::f16x2(a, b, rounding_from(m), overflow(m), relu(m))),
        (_, false) => imm_bin(|m, a: f32, b: f32| pack::bf16x2(a, b, rounding_from(m), overflow(m), relu(m))),
        (Ty::F16x2, true) => imm_tri(|m, a: f32, b: f32, r: u32| pack::f16x2_rs(a, b, r, overflow(m), relu(m))),
        (_, true) => imm_tri(|m, a: f32, b: f32, r: u32| pack::bf16x2_rs(a, b, r, overflow(m), relu(m))),
    };
    let mut op = e.op(run);
    op.imm = imm;
    op.a = e.src(&i.operands[1], Ty::F32)?;
    op.b = e.src(&i.operands[2], Ty::F32)?;
    if stochastic {
        op.c = e.src(&i.operands[3], Ty::B32)?;
    }
    op.d = e.dst(&i.operands[0], d)?;
    e.push(op, Taint::Compute);
    Ok(())
}

/// `cvt.pack.sat.u8.s32.b32 d, a, b, c`: two saturated integers in the low part, the rest shifted up from c.
fn cvt_pack(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if !i.take("sat") {
        return i.unsupported();
    }
    let name = i.take_any(&["u2", "s2", "u4", "s4", "u8", "s8", "u16", "s16"]);
    let Some(name) = name else { return i.unsupported() };
    let bits: i64 = name[1..].parse().map_err(|_| "unknown type".to_owned())?;
    let from = i.ty()?;
    let three = i.take("b32");
    i.expect(if three { 4 } else { 3 })?;
    let mut op = e.op(pack_ints);
    op.imm = bits | i64::from(name.starts_with('s')) << 8 | i64::from(from.signed()) << 9;
    op.a = e.src(&i.operands[1], from)?;
    op.b = e.src(&i.operands[2], from)?;
    op.c = match i.operands.get(3) {
        Some(operand) => e.src(operand, Ty::B32)?,
        None => e.pool.splat(0, 32),
    };
    op.d = e.dst(&i.operands[0], Ty::B32)?;
    if let Operand::Sink = i.operands[0] {
        return i.unsupported();
    }
    e.push(op, Taint::Compute);
    Ok(())
}

unsafe fn pack_ints(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let to = Int { bits: (op.imm & 0xff) as u32, signed: op.imm >> 8 & 1 != 0 };
    let signed = op.imm >> 9 & 1 != 0;
    let mask = (1u64 << to.bits) - 1;
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let fit = |raw: u32| (extend(u64::from(raw), 32, signed).clamp(to.min(), to.max()) as u64 & mask) as u32;
            let (a, b) = (fit(cx.lane(op.a, lane)), fit(cx.lane(op.b, lane)));
            let c: u32 = cx.lane(op.c, lane);
            let rest = u64::from(c) << (2 * to.bits);
            cx.set_lane::<u32>(op.d, lane, rest as u32 | a << to.bits | b);
        }
    }
    Flow::Next
}

/// The narrow formats by name.
pub fn narrow_of(name: &str) -> Option<Narrow> {
    Some(match &name[..name.find('x')?] {
        "e4m3" => Narrow::E4m3,
        "e5m2" => Narrow::E5m2,
        "e3m2" => Narrow::E3m2,
        "e2m3" => Narrow::E2m3,
        "e2m1" => Narrow::E2m1,
        _ => return None,
    })
}
