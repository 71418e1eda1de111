//! `min` and `max` of floats.

use super::super::{Ty, half};
use super::{emit2, emit3};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::lanes::{bin, imm_bin, imm_tri, tri};
use crate::exec::op::Exec;
use crate::exec::template::Native;
use crate::num::minmax;

pub fn min_max(e: &mut Emit<'_>, i: &mut Inst<'_>, min: bool) -> Decoded<()> {
    let ftz = i.take("ftz");
    let nan = i.take("NaN");
    let xorsign = i.take("xorsign");
    let abs = i.take("abs");
    let relu = i.take("relu");
    let ty = i.ty()?;
    let modifiers = minmax::Modifiers { max: !min, ftz, nan, abs, xorsign };
    let code = pack(modifiers, relu);
    let three = i.operands.len() == 4;
    if three && (xorsign || e.arch.number < 100) {
        let why = if xorsign { "takes two values" } else { "takes three values on sm_100 or higher only" };
        return Err(format!("`{}` {why}", i.opcode));
    }
    if ty == Ty::F32 && abs && !xorsign && !three {
        return Err(format!("`{}` of two values takes `.abs` with `.xorsign` only", i.opcode));
    }
    let run: Exec = match (ty, three) {
        (Ty::F32, false) if code == 0 => bin(|a: f32, b: f32| minmax::f32(a, b, unpack(0))),
        (Ty::F32, false) if code == 1 => bin(|a: f32, b: f32| minmax::f32(a, b, unpack(1))),
        // `.ftz`, `.NaN` or both.
        (Ty::F32, false) if code == 2 => bin(|a: f32, b: f32| minmax::f32(a, b, unpack(2))),
        (Ty::F32, false) if code == 3 => bin(|a: f32, b: f32| minmax::f32(a, b, unpack(3))),
        (Ty::F32, false) if code == 4 => bin(|a: f32, b: f32| minmax::f32(a, b, unpack(4))),
        (Ty::F32, false) if code == 5 => bin(|a: f32, b: f32| minmax::f32(a, b, unpack(5))),
        (Ty::F32, false) if code == 6 => bin(|a: f32, b: f32| minmax::f32(a, b, unpack(6))),
        (Ty::F32, false) if code == 7 => bin(|a: f32, b: f32| minmax::f32(a, b, unpack(7))),
        (Ty::F64, false) if code == 0 => bin(|a: f64, b: f64| minmax::f64(a, b, unpack(0))),
        (Ty::F64, false) if code == 1 => bin(|a: f64, b: f64| minmax::f64(a, b, unpack(1))),
        (Ty::F32, false) => imm_bin(|m, a: f32, b: f32| minmax::f32(a, b, unpack(m))),
        (Ty::F32, true) if code == 0 => {
            tri(|a: f32, b: f32, c: f32| minmax::f32(minmax::f32(a, b, unpack(0)), c, unpack(0)))
        }
        (Ty::F32, true) if code == 1 => {
            tri(|a: f32, b: f32, c: f32| minmax::f32(minmax::f32(a, b, unpack(1)), c, unpack(1)))
        }
        (Ty::F32, true) => imm_tri(|m, a: f32, b: f32, c: f32| minmax::f32(minmax::f32(a, b, unpack(m)), c, unpack(m))),
        (Ty::F64, false) => imm_bin(|m, a: f64, b: f64| minmax::f64(a, b, unpack(m))),
        _ => return half::min_max(e, i, ty, code),
    };
    if three {
        return emit3(e, i, run, ty, code);
    }
    emit2(e, i, run, ty, code)?;
    e.native(match (ty, code) {
        (Ty::F32, 0) => Native::MinF32,
        (Ty::F32, 1) => Native::MaxF32,
        _ => Native::No,
    });
    Ok(())
}

fn pack(m: minmax::Modifiers, relu: bool) -> i64 {
    i64::from(m.max)
        | i64::from(m.ftz) << 1
        | i64::from(m.nan) << 2
        | i64::from(m.abs) << 3
        | i64::from(m.xorsign) << 4
        | i64::from(relu) << 5
}

#[inline(always)]
pub fn unpack(code: i64) -> minmax::Modifiers {
    minmax::Modifiers {
        max: code & 1 != 0,
        ftz: code & 2 != 0,
        nan: code & 4 != 0,
        abs: code & 8 != 0,
        xorsign: code & 16 != 0,
    }
}
