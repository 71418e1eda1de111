//! f16, bf16 and their packed forms.

use super::Ty;
use super::float::{Modes, class_of, unpack};
use super::half_lanes;
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::lanes::{bin, imm_bin, imm_tri, imm_un, un};
use crate::exec::op::{Exec, Taint};
use crate::num::arith16::{Kind, Mode, lanes1, lanes2, lanes3};
use crate::num::minmax;

/// Operations of two operands.
#[derive(Clone, Copy, PartialEq)]
pub enum Two {
    Add,
    Sub,
    Mul,
}

#[inline(always)]
fn mode(code: i64) -> Mode {
    Mode { ftz: code & 16 != 0, sat: code & 32 != 0, relu: code & 64 != 0, oob: code & 128 != 0 }
}

macro_rules! two {
    ($ty:expr, $name:ident, $plain:expr) => {
        match $ty {
            Ty::F16 | Ty::BF16 | Ty::F16x2 | Ty::BF16x2 if $plain => half_lanes::$name($ty),
            Ty::F16 => imm_bin(|m, a: u16, b: u16| Kind::F16.$name(a, b, mode(m))),
            Ty::BF16 => imm_bin(|m, a: u16, b: u16| Kind::Bf16.$name(a, b, mode(m))),
            Ty::F16x2 => imm_bin(|m, a: u32, b: u32| lanes2(a, b, |a, b| Kind::F16.$name(a, b, mode(m)))),
            Ty::BF16x2 => imm_bin(|m, a: u32, b: u32| lanes2(a, b, |a, b| Kind::Bf16.$name(a, b, mode(m)))),
            _ => return Err(format!("type {:?} does not fit", $ty)),
        }
    };
}

pub fn add_sub_mul(e: &mut Emit<'_>, i: &mut Inst<'_>, ty: Ty, modes: Modes, what: Two) -> Decoded<()> {
    let plain = mode(modes.code()) == Mode::default();
    let run: Exec = match what {
        Two::Add => two!(ty, add, plain),
        Two::Sub => two!(ty, sub, plain),
        Two::Mul => two!(ty, mul, plain),
    };
    emit(e, i, run, ty, 2, modes.code())
}

pub fn fma(e: &mut Emit<'_>, i: &mut Inst<'_>, ty: Ty, modes: Modes, relu: bool, oob: bool) -> Decoded<()> {
    let code = modes.code() | i64::from(relu) << 6 | i64::from(oob) << 7;
    let plain = mode(code) == Mode::default();
    let run: Exec = match ty {
        Ty::F16 | Ty::BF16 | Ty::F16x2 | Ty::BF16x2 if plain => half_lanes::fma(ty),
        Ty::F16 => imm_tri(|m, a: u16, b: u16, c: u16| Kind::F16.fma(a, b, c, mode(m))),
        Ty::BF16 => imm_tri(|m, a: u16, b: u16, c: u16| Kind::Bf16.fma(a, b, c, mode(m))),
        Ty::F16x2 => imm_tri(|m, a: u32, b: u32, c: u32| lanes3(a, b, c, |a, b, c| Kind::F16.fma(a, b, c, mode(m)))),
        Ty::BF16x2 => imm_tri(|m, a: u32, b: u32, c: u32| lanes3(a, b, c, |a, b, c| Kind::Bf16.fma(a, b, c, mode(m)))),
        _ => return i.unsupported(),
    };
    emit(e, i, run, ty, 3, code)
}

pub fn abs_neg(e: &mut Emit<'_>, i: &mut Inst<'_>, ty: Ty, ftz: bool, abs: bool) -> Decoded<()> {
    let run: Exec = match (ty, abs) {
        (Ty::F16, true) if !ftz => un(|a: u16| Kind::F16.abs(a, false)),
        (Ty::BF16, true) if !ftz => un(|a: u16| Kind::Bf16.abs(a, false)),
        (Ty::F16x2, true) if !ftz => un(|a: u32| lanes1(a, |a| Kind::F16.abs(a, false))),
        (Ty::BF16x2, true) if !ftz => un(|a: u32| lanes1(a, |a| Kind::Bf16.abs(a, false))),
        (Ty::F16, false) if !ftz => un(|a: u16| Kind::F16.neg(a, false)),
        (Ty::BF16, false) if !ftz => un(|a: u16| Kind::Bf16.neg(a, false)),
        (Ty::F16x2, false) if !ftz => un(|a: u32| lanes1(a, |a| Kind::F16.neg(a, false))),
        (Ty::BF16x2, false) if !ftz => un(|a: u32| lanes1(a, |a| Kind::Bf16.neg(a, false))),
        (Ty::F16, true) => imm_un(|m, a: u16| Kind::F16.abs(a, m != 0)),
        (Ty::F16, false) => imm_un(|m, a: u16| Kind::F16.neg(a, m != 0)),
        (Ty::BF16, true) => imm_un(|m, a: u16| Kind::Bf16.abs(a, m != 0)),
        (Ty::BF16, false) => imm_un(|m, a: u16| Kind::Bf16.neg(a, m != 0)),
        (Ty::F16x2, true) => imm_un(|m, a: u32| lanes1(a, |a| Kind::F16.abs(a, m != 0))),
        (Ty::F16x2, false) => imm_un(|m, a: u32| lanes1(a, |a| Kind::F16.neg(a, m != 0))),
        (Ty::BF16x2, true) => imm_un(|m, a: u32| lanes1(a, |a| Kind::Bf16.abs(a, m != 0))),
        (Ty::BF16x2, false) => imm_un(|m, a: u32| lanes1(a, |a| Kind::Bf16.neg(a, m != 0))),
        _ => return i.unsupported(),
    };
    emit(e, i, run, ty, 1, i64::from(ftz))
}

#[inline(always)]
fn relu(value: u16, code: i64) -> u16 {
    minmax::relu16(value, code & 32 != 0)
}

pub fn min_max(e: &mut Emit<'_>, i: &mut Inst<'_>, ty: Ty, code: i64) -> Decoded<()> {
    let three = i.operands.len() == 4;
    let run: Exec = match (ty, three) {
        // Without modifiers, or with `.NaN`.
        (Ty::F16, false) if code == 0 => bin(|a: u16, b: u16| minmax::f16(a, b, unpack(0))),
        (Ty::F16, false) if code == 1 => bin(|a: u16, b: u16| minmax::f16(a, b, unpack(1))),
        (Ty::F16, false) if code == 4 => bin(|a: u16, b: u16| minmax::f16(a, b, unpack(4))),
        (Ty::F16, false) if code == 5 => bin(|a: u16, b: u16| minmax::f16(a, b, unpack(5))),
        (Ty::BF16, false) if code == 0 => bin(|a: u16, b: u16| minmax::bf16(a, b, unpack(0))),
        (Ty::BF16, false) if code == 1 => bin(|a: u16, b: u16| minmax::bf16(a, b, unpack(1))),
        (Ty::BF16, false) if code == 4 => bin(|a: u16, b: u16| minmax::bf16(a, b, unpack(4))),
        (Ty::BF16, false) if code == 5 => bin(|a: u16, b: u16| minmax::bf16(a, b, unpack(5))),
        (Ty::F16x2, false) if code == 0 => bin(|a: u32, b: u32| lanes2(a, b, |a, b| minmax::f16(a, b, unpack(0)))),
        (Ty::F16x2, false) if code == 1 => bin(|a: u32, b: u32| lanes2(a, b, |a, b| minmax::f16(a, b, unpack(1)))),
        (Ty::F16x2, false) if code == 4 => bin(|a: u32, b: u32| lanes2(a, b, |a, b| minmax::f16(a, b, unpack(4)))),
        (Ty::F16x2, false) if code == 5 => bin(|a: u32, b: u32| lanes2(a, b, |a, b| minmax::f16(a, b, unpack(5)))),
        (Ty::BF16x2, false) if code == 0 => bin(|a: u32, b: u32| lanes2(a, b, |a, b| minmax::bf16(a, b, unpack(0)))),
        (Ty::BF16x2, false) if code == 1 => bin(|a: u32, b: u32| lanes2(a, b, |a, b| minmax::bf16(a, b, unpack(1)))),
        (Ty::BF16x2, false) if code == 4 => bin(|a: u32, b: u32| lanes2(a, b, |a, b| minmax::bf16(a, b, unpack(4)))),
        (Ty::BF16x2, false) if code == 5 => bin(|a: u32, b: u32| lanes2(a, b, |a, b| minmax::bf16(a, b, unpack(5)))),
        (Ty::F16, false) => imm_bin(|m, a: u16, b: u16| relu(minmax::f16(a, b, unpack(m)), m)),
        (Ty::BF16, false) => imm_bin(|m, a: u16, b: u16| relu(minmax::bf16(a, b, unpack(m)), m)),
        (Ty::F16x2, false) => imm_bin(|m, a: u32, b: u32| lanes2(a, b, |a, b| relu(minmax::f16(a, b, unpack(m)), m))),
        (Ty::BF16x2, false) => imm_bin(|m, a: u32, b: u32| lanes2(a, b, |a, b| relu(minmax::bf16(a, b, unpack(m)), m))),
        _ => return i.unsupported(),
    };
    emit(e, i, run, ty, 2, code)
}

pub fn approximate(e: &mut Emit<'_>, i: &mut Inst<'_>, what: &str, ty: Ty) -> Decoded<()> {
    let Some(run) = super::half_tables::find(what, ty) else { return i.unsupported() };
    emit(e, i, run, ty, 1, 0)
}

/// `add`, `sub` and `fma` of f32 with narrow operands.
#[derive(Clone, Copy, PartialEq)]
pub enum Mixed {
    Add,
    Sub,
    Fma,
}

pub fn mixed(e: &mut Emit<'_>, i: &mut Inst<'_>, narrow: Ty, what: Mixed, modes: Modes) -> Decoded<()> {
    use crate::num::arith32;
    let _ = narrow;
    #[inline(always)]
    fn full(code: i64) -> arith32::Mode {
        arith32::Mode { rounding: super::float::rounding_from(code), ftz: false, sat: code & 32 != 0 }
    }
    let run: Exec = match (what, narrow) {
        (Mixed::Add, Ty::F16) => imm_bin(|m, a: u16, c: f32| arith32::add(Kind::F16.widen(a), c, full(m))),
        (Mixed::Add, Ty::BF16) => imm_bin(|m, a: u16, c: f32| arith32::add(Kind::Bf16.widen(a), c, full(m))),
        (Mixed::Sub, Ty::F16) => imm_bin(|m, a: u16, c: f32| arith32::sub(Kind::F16.widen(a), c, full(m))),
        (Mixed::Sub, Ty::BF16) => imm_bin(|m, a: u16, c: f32| arith32::sub(Kind::Bf16.widen(a), c, full(m))),
        (Mixed::Fma, Ty::F16) => {
            imm_tri(|m, a: u16, b: u16, c: f32| arith32::fma(Kind::F16.widen(a), Kind::F16.widen(b), c, full(m)))
        }
        (Mixed::Fma, Ty::BF16) => {
            imm_tri(|m, a: u16, b: u16, c: f32| arith32::fma(Kind::Bf16.widen(a), Kind::Bf16.widen(b), c, full(m)))
        }
        _ => return i.unsupported(),
    };
    let mut op = e.op(run);
    op.imm = modes.code();
    i.expect(if what == Mixed::Fma { 4 } else { 3 })?;
    op.a = e.src(&i.operands[1], narrow)?;
    if what == Mixed::Fma {
        op.b = e.src(&i.operands[2], narrow)?;
        op.c = e.src(&i.operands[3], Ty::F32)?;
    } else {
        op.b = e.src(&i.operands[2], Ty::F32)?;
    }
    op.d = e.dst(&i.operands[0], Ty::F32)?;
    e.push(op, Taint::Compute);
    Ok(())
}

fn emit(e: &mut Emit<'_>, i: &Inst<'_>, run: Exec, ty: Ty, sources: usize, imm: i64) -> Decoded<()> {
    i.expect(sources + 1)?;
    e.class = class_of(ty);
    let mut op = e.op(run);
    op.a = e.src(&i.operands[1], ty)?;
    if sources > 1 {
        op.b = e.src(&i.operands[2], ty)?;
    }
    if sources > 2 {
        op.c = e.src(&i.operands[3], ty)?;
    }
    op.d = e.dst(&i.operands[0], ty)?;
    op.imm = imm;
    e.push(op, Taint::Compute);
    Ok(())
}
