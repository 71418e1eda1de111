//! `set` of packed f16 and bf16 pairs.

use super::Ty;
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::num::arith16::{Kind, lanes2};
use crate::num::minmax::flush_f16;

// Which relations make a comparison true, in the low bits of `Op::imm`.
const LESS: i64 = 1;
const EQUAL: i64 = 2;
const GREATER: i64 = 4;
const UNORDERED: i64 = 8;
const BF16: i64 = 16;
const FTZ: i64 = 32;
// How the predicate operand is combined.
const AND: i64 = 64;
const OR: i64 = 128;
const XOR: i64 = 256;
const NEGATED: i64 = 512;
/// The 16-bit pattern for true stands above the flags.
const TRUE_SHIFT: u32 = 16;

fn relations(operator: &str) -> Option<i64> {
    Some(match operator {
        "eq" => EQUAL,
        "ne" => LESS | GREATER,
        "lt" => LESS,
        "le" => LESS | EQUAL,
        "gt" => GREATER,
        "ge" => GREATER | EQUAL,
        "equ" => EQUAL | UNORDERED,
        "neu" => LESS | GREATER | UNORDERED,
        "ltu" => LESS | UNORDERED,
        "leu" => LESS | EQUAL | UNORDERED,
        "gtu" => GREATER | UNORDERED,
        "geu" => GREATER | EQUAL | UNORDERED,
        "num" => LESS | EQUAL | GREATER,
        "nan" => UNORDERED,
        _ => return None,
    })
}

/// `set.CmpOp{.BoolOp}{.ftz}.{f16x2, bf16x2, u32, s32}.{f16x2, bf16x2} d, a, b{, c}`: each half of d is 1.0, or all ones
/// for an integer type, where the comparison holds.
pub fn set(
    e: &mut Emit<'_>,
    i: &mut Inst<'_>,
    operator: &str,
    combine: Option<&str>,
    ftz: bool,
    (d, ty): (Ty, Ty),
) -> Decoded<()> {
    let Some(relations) = relations(operator) else { return i.unsupported() };
    let truth = match d {
        Ty::F16x2 => 0x3c00,
        Ty::BF16x2 => 0x3f80,
        Ty::U32 | Ty::S32 => 0xffff,
        _ => return i.unsupported(),
    };
    let mut op = e.op(run);
    op.imm = relations | truth << TRUE_SHIFT;
    op.imm |= if ty == Ty::BF16x2 { BF16 } else { 0 } | if ftz { FTZ } else { 0 };
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    op.c = Slot::NONE;
    if let Some(combine) = combine {
        let (slot, negated) = e.pred(&i.operands[3])?;
        op.c = slot;
        op.imm |= match combine {
            "and" => AND,
            "or" => OR,
            _ => XOR,
        } | if negated { NEGATED } else { 0 };
    }
    op.d = e.dst(&i.operands[0], d)?;
    e.push(op, Taint::Compute);
    Ok(())
}

unsafe fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let kind = if op.imm & BF16 != 0 { Kind::Bf16 } else { Kind::F16 };
    let truth = (op.imm >> TRUE_SHIFT) as u16;
    let input = |h: u16| kind.widen(if op.imm & FTZ != 0 && kind == Kind::F16 { flush_f16(h) } else { h });
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let third = if op.c.is_none() { 0 } else { cx.pred(op.c) ^ if op.imm & NEGATED != 0 { u32::MAX } else { 0 } };
        for lane in lanes(cx.mask) {
            let with = third >> lane & 1 != 0;
            let one = |a: u16, b: u16| {
                let relation = match input(a).partial_cmp(&input(b)) {
                    Some(std::cmp::Ordering::Less) => LESS,
                    Some(std::cmp::Ordering::Equal) => EQUAL,
                    Some(std::cmp::Ordering::Greater) => GREATER,
                    None => UNORDERED,
                };
                let holds = op.imm & relation != 0;
                let holds = match op.imm & (AND | OR | XOR) {
                    AND => holds && with,
                    OR => holds || with,
                    XOR => holds != with,
                    _ => holds,
                };
                if holds { truth } else { 0 }
            };
            let d = lanes2(cx.lane::<u32>(op.a, lane), cx.lane::<u32>(op.b, lane), one);
            cx.set_lane::<u32>(op.d, lane, d);
        }
    }
    Flow::Next
}
