//! Comparisons and selections.

use super::{Row, Ty, example};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{COMBINE_AND, COMBINE_NONE, COMBINE_NOT, COMBINE_OR, COMBINE_XOR, cmp, select};
use crate::exec::op::{Exec, Flow, Op, Taint};
use crate::exec::template::{Native, Relation};
use crate::num::flush;
use crate::num::half::{bf16_to_f32, f16_to_f32};
use crate::ptx::tree::Operand;
use crate::report::Class;

pub const ROWS: &[Row] = &[
    Row { opcode: "setp", class: Class::Compare, decode: setp, examples: &[] },
    Row {
        opcode: "set",
        class: Class::Compare,
        decode: set,
        examples: &[
            example("set.lt.u32.s32 %d, %a, %b;", &[(32, 0xffff_ffff), (32, 0)], (32, 0xffff_ffff)),
            example("set.gt.f16x2.f16x2 %d, %a, %b;", &[(32, 0x4000_7e00), (32, 0)], (32, 0x3c00_0000)),
            example("set.neu.u32.bf16x2 %d, %a, %b;", &[(32, 0x3f80_7fff), (32, 0x3f80_0000)], (32, 0xffff)),
            example("set.gt.f32.f32 %d, %a, %b;", &[(32, 0x4000_0000), (32, 0)], (32, 0x3f80_0000)),
        ],
    },
    Row { opcode: "selp", class: Class::Compare, decode: selp, examples: &[] },
    Row {
        opcode: "slct",
        class: Class::Compare,
        decode: slct,
        examples: &[
            example("slct.u32.s32 %d, %a, %b, %c;", &[(32, 1), (32, 2), (32, 0xffff_ffff)], (32, 2)),
            // Recorded on an H200.
            example("slct.ftz.u32.f32 %d, %a, %b, %c;", &[(32, 1), (32, 0xffff_ffff), (32, 0x8000_0001)], (32, 1)),
        ],
    },
];

const OPERATORS: &[&str] = &[
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

macro_rules! ordered {
    ($op:expr, $t:ty, $map:expr) => {
        match $op {
            "eq" => cmp(|a: $t, b: $t| $map(a) == $map(b)),
            "ne" => cmp(|a: $t, b: $t| $map(a) != $map(b)),
            "lt" | "lo" => cmp(|a: $t, b: $t| $map(a) < $map(b)),
            "le" | "ls" => cmp(|a: $t, b: $t| $map(a) <= $map(b)),
            "gt" | "hi" => cmp(|a: $t, b: $t| $map(a) > $map(b)),
            "ge" | "hs" => cmp(|a: $t, b: $t| $map(a) >= $map(b)),
            other => return Err(format!("comparison `.{other}` does not go with this type")),
        }
    };
}

macro_rules! floating {
    ($op:expr, $t:ty, $map:expr) => {
        match $op {
            "eq" => cmp(|a: $t, b: $t| $map(a) == $map(b)),
            "lt" => cmp(|a: $t, b: $t| $map(a) < $map(b)),
            "le" => cmp(|a: $t, b: $t| $map(a) <= $map(b)),
            "gt" => cmp(|a: $t, b: $t| $map(a) > $map(b)),
            "ge" => cmp(|a: $t, b: $t| $map(a) >= $map(b)),
            // Ordered: false when an operand is NaN.
            "ne" => cmp(|a: $t, b: $t| $map(a) < $map(b) || $map(a) > $map(b)),
            // Unordered: true when an operand is NaN.
            "equ" => cmp(|a: $t, b: $t| !($map(a) < $map(b) || $map(a) > $map(b))),
            "neu" => cmp(|a: $t, b: $t| $map(a) != $map(b)),
            "ltu" => cmp(|a: $t, b: $t| !($map(a) >= $map(b))),
            "leu" => cmp(|a: $t, b: $t| !($map(a) > $map(b))),
            "gtu" => cmp(|a: $t, b: $t| !($map(a) <= $map(b))),
            "geu" => cmp(|a: $t, b: $t| !($map(a) < $map(b))),
            "num" => cmp(|a: $t, b: $t| !$map(a).is_nan() && !$map(b).is_nan()),
            "nan" => cmp(|a: $t, b: $t| $map(a).is_nan() || $map(b).is_nan()),
            other => return Err(format!("comparison `.{other}` does not go with this type")),
        }
    };
}

#[inline(always)]
fn same<T>(value: T) -> T {
    value
}

#[inline(always)]
fn flush16(h: u16) -> f32 {
    f16_to_f32(crate::num::minmax::flush_f16(h))
}

fn comparison(operator: &str, ty: Ty, ftz: bool) -> Decoded<Exec> {
    Ok(match ty {
        Ty::B16 | Ty::U16 => ordered!(operator, u16, same),
        Ty::S16 => ordered!(operator, i16, same),
        Ty::B32 | Ty::U32 => ordered!(operator, u32, same),
        Ty::S32 => ordered!(operator, i32, same),
        Ty::B64 | Ty::U64 => ordered!(operator, u64, same),
        Ty::S64 => ordered!(operator, i64, same),
        Ty::B128 => ordered!(operator, u128, same),
        Ty::F32 if ftz => floating!(operator, f32, flush),
        Ty::F32 => floating!(operator, f32, same),
        Ty::F64 => floating!(operator, f64, same),
        Ty::F16 if ftz => floating!(operator, u16, flush16),
        Ty::F16 => floating!(operator, u16, f16_to_f32),
        Ty::BF16 => floating!(operator, u16, bf16_to_f32),
        _ => return Err(format!("type {ty:?} cannot be compared")),
    })
}

fn setp(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let Some(operator) = i.take_any(OPERATORS) else { return i.unsupported() };
    let combine = i.take_any(&["and", "or", "xor"]);
    let ftz = i.take("ftz");
    let ty = i.ty()?;
    i.expect(if combine.is_some() { 4 } else { 3 })?;
    if matches!(ty, Ty::F16x2 | Ty::BF16x2) {
        return setp_pair(e, i, operator, combine, ftz, ty);
    }
    let mut op = e.op(comparison(operator, ty, ftz)?);
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    op.imm = COMBINE_NONE;
    if let Some(combine) = combine {
        let (c, negated) = e.pred(&i.operands[3])?;
        op.c = c;
        op.imm = match combine {
            "and" => COMBINE_AND,
            "or" => COMBINE_OR,
            _ => COMBINE_XOR,
        } | if negated { COMBINE_NOT } else { 0 };
    }
    match &i.operands[0] {
        Operand::Pair(..) if matches!(ty, Ty::F16 | Ty::BF16) => {
            return Err(format!("`{}` gives one predicate: the second is for other types", i.opcode));
        }
        Operand::Pair(p, q) => {
            op.d = e.pred_dst(p)?;
            op.e = e.pred_dst(q)?;
        }
        p => op.d = e.pred_dst(p)?,
    }
    let single = combine.is_none() && op.e.is_none();
    e.push(op, Taint::Compute);
    e.native(match (ty, Relation::named(operator)) {
        (Ty::S16, Some(relation)) if single => Native::SetS16(relation),
        (Ty::U16 | Ty::B16, Some(relation)) if single => Native::SetU16(relation),
        (Ty::S64, Some(relation)) if single => Native::SetS64(relation),
        (Ty::U64 | Ty::B64, Some(relation)) if single => Native::SetU64(relation),
        (Ty::S32, Some(relation)) if single => Native::SetS32(relation),
        (Ty::U32 | Ty::B32, Some(relation)) if single => Native::SetU32(relation),
        (Ty::F32, Some(relation)) if single && !ftz => Native::SetF32(relation),
        _ => Native::No,
    });
    Ok(())
}

/// Packed comparison: the two predicates are those of the low and the high half.
fn setp_pair(
    e: &mut Emit<'_>,
    i: &mut Inst<'_>,
    operator: &'static str,
    combine: Option<&'static str>,
    ftz: bool,
    ty: Ty,
) -> Decoded<()> {
    let element = if ty == Ty::F16x2 { Ty::F16 } else { Ty::BF16 };
    let (a, b) = (e.src(&i.operands[1], ty)?, e.src(&i.operands[2], ty)?);
    // A single predicate is that of the low half.
    let (p, q) = match &i.operands[0] {
        Operand::Pair(p, q) => (&**p, Some(&**q)),
        p => (p, None),
    };
    let third = match combine {
        Some(combine) => {
            let (c, negated) = e.pred(&i.operands[3])?;
            let code = match combine {
                "and" => COMBINE_AND,
                "or" => COMBINE_OR,
                _ => COMBINE_XOR,
            };
            Some((c, code | if negated { COMBINE_NOT } else { 0 }))
        }
        None => None,
    };
    let reads = e.reads.clone();
    for (half, target) in [(false, Some(p)), (true, q)] {
        let Some(target) = target else { continue };
        let (mut x, mut y) = (a, b);
        if half {
            for slot in [&mut x, &mut y] {
                let shifted = e.allocate(32);
                let mut op = e.op(crate::exec::lanes::un(|v: u32| v >> 16));
                op.a = *slot;
                op.d = shifted;
                e.reads = reads.clone();
                e.writes = vec![shifted];
                e.push(op, Taint::Compute);
                *slot = shifted;
            }
        }
        let mut op = e.op(comparison(operator, element, ftz)?);
        (op.a, op.b) = (x, y);
        if let Some((c, code)) = third {
            op.c = c;
            op.imm = code;
        }
        e.reads = reads.clone();
        op.d = e.pred_dst(target)?;
        e.push(op, Taint::Compute);
    }
    Ok(())
}

fn set(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let Some(operator) = i.take_any(OPERATORS) else { return i.unsupported() };
    let combine = i.take_any(&["and", "or", "xor"]);
    let ftz = i.take("ftz");
    let (d, ty) = (i.ty()?, i.ty()?);
    i.expect(if combine.is_some() { 4 } else { 3 })?;
    let pair = matches!(ty, Ty::F16x2 | Ty::BF16x2);
    if pair {
        return super::packed::set(e, i, operator, combine, ftz, (d, ty));
    }
    let flag = e.allocate(1);
    let mut op = e.op(comparison(operator, ty, ftz)?);
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    if let Some(combine) = combine {
        let (c, negated) = e.pred(&i.operands[3])?;
        op.c = c;
        op.imm = match combine {
            "and" => COMBINE_AND,
            "or" => COMBINE_OR,
            _ => COMBINE_XOR,
        } | if negated { COMBINE_NOT } else { 0 };
    }
    op.d = flag;
    e.writes.push(flag);
    e.push(op, Taint::Compute);
    let (yes, bits) = match d {
        Ty::F32 => (1.0f32.to_bits(), 32),
        Ty::F16 => (0x3c00, 16),
        Ty::BF16 => (0x3f80, 16),
        Ty::U16 | Ty::S16 => (0xffff, 16),
        Ty::U32 | Ty::S32 => (u32::MAX, 32),
        _ => return i.unsupported(),
    };
    let mut op = e.op(select::<u32>());
    op.a = e.pool.splat(u128::from(yes), bits);
    op.b = e.pool.splat(0, bits);
    op.c = flag;
    e.reads.push(flag);
    op.d = e.dst(&i.operands[0], d)?;
    e.push(op, Taint::Compute);
    Ok(())
}

fn selp(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    i.expect(4)?;
    let run: Exec = match ty.bits() {
        8..=32 => select::<u32>(),
        64 => select::<u64>(),
        128 => select::<u128>(),
        _ => return i.unsupported(),
    };
    let mut op = e.op(run);
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    let (c, negated) = e.pred(&i.operands[3])?;
    op.c = c;
    op.imm = if negated { -1 } else { 0 };
    op.d = e.dst(&i.operands[0], ty)?;
    e.push(op, Taint::Select);
    e.native(match ty.bits() {
        8..=32 => Native::Select32,
        64 => Native::Select64,
        _ => Native::No,
    });
    Ok(())
}

fn slct(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ftz = i.take("ftz");
    let (ty, c) = (i.ty()?, i.ty()?);
    i.expect(4)?;
    let run: Exec = match (ty.bits(), c) {
        (8..=32, Ty::S32) => choose::<u32, false>,
        (8..=32, Ty::F32) => choose::<u32, true>,
        (64, Ty::S32) => choose::<u64, false>,
        (64, Ty::F32) => choose::<u64, true>,
        _ => return i.unsupported(),
    };
    let mut op = e.op(run);
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    op.c = e.src(&i.operands[3], c)?;
    op.d = e.dst(&i.operands[0], ty)?;
    op.imm = i64::from(ftz);
    e.push(op, Taint::Compute);
    Ok(())
}

unsafe fn choose<W: crate::exec::lanes::Word, const FLOAT: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let c = cx.lane::<u32>(op.c, lane);
            // -0 counts as 0, and with `.ftz` so does a negative subnormal; NaN counts as negative.
            let number = |c: f32| if op.imm != 0 { flush(c) } else { c };
            let first = if FLOAT { number(f32::from_bits(c)) >= 0.0 } else { c as i32 >= 0 };
            let value = cx.lane::<W>(if first { op.a } else { op.b }, lane);
            cx.set_lane(op.d, lane, value);
        }
    }
    Flow::Next
}
