//! Logic and shifts.

use super::{Row, Ty, example};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{bin, imm_tri, tri, un};
use crate::exec::op::{Exec, Flow, Op, Taint};
use crate::exec::template::Native;
use crate::ptx::tree::Operand;
use crate::report::Class;

pub const ROWS: &[Row] = &[
    Row {
        opcode: "and",
        class: Class::Integer,
        decode: |e, i| logic(e, i, 0),
        examples: &[example("and.b32 %d, %a, %b;", &[(32, 0b1100), (32, 0b1010)], (32, 0b1000))],
    },
    Row {
        opcode: "or",
        class: Class::Integer,
        decode: |e, i| logic(e, i, 1),
        examples: &[example("or.b64 %d, %a, %b;", &[(64, 0b1100), (64, 0b1010)], (64, 0b1110))],
    },
    Row {
        opcode: "xor",
        class: Class::Integer,
        decode: |e, i| logic(e, i, 2),
        examples: &[example("xor.b16 %d, %a, %b;", &[(16, 0b1100), (16, 0b1010)], (16, 0b0110))],
    },
    Row {
        opcode: "not",
        class: Class::Integer,
        decode: not,
        examples: &[example("not.b32 %d, %a;", &[(32, 1)], (32, 0xffff_fffe))],
    },
    Row {
        opcode: "cnot",
        class: Class::Integer,
        decode: cnot,
        examples: &[example("cnot.b32 %d, %a;", &[(32, 0)], (32, 1))],
    },
    Row {
        opcode: "lop3",
        class: Class::Integer,
        decode: lop3,
        examples: &[example(
            "lop3.b32 %d, %a, %b, %c, 0x96;",
            &[(32, 0b1100), (32, 0b1010), (32, 0b1111)],
            (32, 0b1001),
        )],
    },
    Row {
        opcode: "shl",
        class: Class::Integer,
        decode: shl,
        examples: &[
            example("shl.b32 %d, %a, %b;", &[(32, 1), (32, 31)], (32, 0x8000_0000)),
            example("shl.b32 %d, %a, %b;", &[(32, 1), (32, 32)], (32, 0)),
            example("shl.b64 %d, %a, %b;", &[(64, 1), (32, 40)], (64, 1 << 40)),
        ],
    },
    Row {
        opcode: "shr",
        class: Class::Integer,
        decode: shr,
        examples: &[
            example("shr.s32 %d, %a, %b;", &[(32, 0x8000_0000), (32, 40)], (32, 0xffff_ffff)),
            example("shr.u32 %d, %a, %b;", &[(32, 0x8000_0000), (32, 40)], (32, 0)),
            example("shr.s16 %d, %a, %b;", &[(16, 0x8000), (32, 3)], (16, 0xf000)),
        ],
    },
    Row {
        opcode: "shf",
        class: Class::Integer,
        decode: shf,
        examples: &[
            example("shf.l.wrap.b32 %d, %a, %b, %c;", &[(32, 0x8000_0000), (32, 1), (32, 33)], (32, 3)),
            example("shf.r.clamp.b32 %d, %a, %b, %c;", &[(32, 5), (32, 7), (32, 40)], (32, 7)),
        ],
    },
];

fn logic(e: &mut Emit<'_>, i: &mut Inst<'_>, what: u8) -> Decoded<()> {
    let ty = i.ty()?;
    if ty == Ty::Pred {
        i.expect(3)?;
        e.class = Class::Compare;
        let run: Exec = match what {
            0 => pred_logic::<0>,
            1 => pred_logic::<1>,
            _ => pred_logic::<2>,
        };
        let mut op = e.op(run);
        let (a, not_a) = e.pred(&i.operands[1])?;
        let (b, not_b) = e.pred(&i.operands[2])?;
        (op.a, op.b) = (a, b);
        op.imm = i64::from(not_a) | i64::from(not_b) << 1;
        op.d = e.pred_dst(&i.operands[0])?;
        if op.d.is_none() {
            return Ok(());
        }
        e.push(op, Taint::Compute);
        e.native([Native::AndPred, Native::OrPred, Native::XorPred][what.min(2) as usize]);
        return Ok(());
    }
    let run: Exec = match (ty.bits(), what) {
        (8..=32, 0) => bin(|a: u32, b: u32| a & b),
        (8..=32, 1) => bin(|a: u32, b: u32| a | b),
        (8..=32, _) => bin(|a: u32, b: u32| a ^ b),
        (64, 0) => bin(|a: u64, b: u64| a & b),
        (64, 1) => bin(|a: u64, b: u64| a | b),
        (64, _) => bin(|a: u64, b: u64| a ^ b),
        (_, 0) => bin(|a: u128, b: u128| a & b),
        (_, 1) => bin(|a: u128, b: u128| a | b),
        _ => bin(|a: u128, b: u128| a ^ b),
    };
    e.simple2(i, run, ty, ty, ty)?;
    e.native(match (ty.bits(), what) {
        (8..=32, 0) => Native::And32,
        (8..=32, 1) => Native::Or32,
        (8..=32, _) => Native::Xor32,
        (64, 0) => Native::And64,
        (64, 1) => Native::Or64,
        (64, _) => Native::Xor64,
        _ => Native::No,
    });
    Ok(())
}

unsafe fn pred_logic<const WHAT: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let a = cx.pred(op.a) ^ if op.imm & 1 != 0 { u32::MAX } else { 0 };
        let b = cx.pred(op.b) ^ if op.imm & 2 != 0 { u32::MAX } else { 0 };
        let value = match WHAT {
            0 => a & b,
            1 => a | b,
            _ => a ^ b,
        };
        cx.set_pred(op.d, value);
    }
    Flow::Next
}

unsafe fn pred_not(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let value = !(cx.pred(op.a) ^ if op.imm & 1 != 0 { u32::MAX } else { 0 });
        cx.set_pred(op.d, value);
    }
    Flow::Next
}

fn not(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    if ty == Ty::Pred {
        i.expect(2)?;
        e.class = Class::Compare;
        let mut op = e.op(pred_not);
        let (a, negated) = e.pred(&i.operands[1])?;
        op.a = a;
        op.imm = i64::from(negated);
        op.d = e.pred_dst(&i.operands[0])?;
        e.push(op, Taint::Compute);
        e.native(Native::NotPred);
        return Ok(());
    }
    let run: Exec = match ty.bits() {
        16 => un(|a: u16| !a),
        32 => un(|a: u32| !a),
        64 => un(|a: u64| !a),
        _ => return i.unsupported(),
    };
    e.simple1(i, run, ty, ty)?;
    e.native(if ty.bits() == 32 { Native::Not32 } else { Native::No });
    Ok(())
}

fn cnot(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    let run: Exec = match ty.bits() {
        16 => un(|a: u16| u16::from(a == 0)),
        32 => un(|a: u32| u32::from(a == 0)),
        64 => un(|a: u64| u64::from(a == 0)),
        _ => return i.unsupported(),
    };
    e.simple1(i, run, ty, ty)
}

/// Any function of three bits, by its truth table.
#[inline(always)]
fn table3(table: i64, a: u32, b: u32, c: u32) -> u32 {
    let mut out = 0;
    for row in 0..8 {
        if table >> row & 1 != 0 {
            let x = if row & 4 != 0 { a } else { !a };
            let y = if row & 2 != 0 { b } else { !b };
            let z = if row & 1 != 0 { c } else { !c };
            out |= x & y & z;
        }
    }
    out
}

fn lop3(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    // `lop3.or.b32 d|p, a, b, c, table, q` also gives a predicate; NVRTC writes the plain form.
    let combine = i.take_any(&["or", "and"]);
    let ty = i.ty()?;
    if ty != Ty::B32 {
        return i.unsupported();
    }
    i.expect(if combine.is_some() { 6 } else { 5 })?;
    let Operand::Int(table) = &i.operands[4] else { return Err("the truth table must be a number".to_owned()) };
    let table = (*table & 0xff) as i64;
    // The tables that compilers write most get code of their own.
    let run: Exec = match table {
        0x80 => tri(|a: u32, b: u32, c: u32| a & b & c),
        0xfe => tri(|a: u32, b: u32, c: u32| a | b | c),
        0x96 => tri(|a: u32, b: u32, c: u32| a ^ b ^ c),
        0xca => tri(|a: u32, b: u32, c: u32| (a & b) | (!a & c)),
        0xe8 => tri(|a: u32, b: u32, c: u32| (a & b) | (a & c) | (b & c)),
        0xf8 => tri(|a: u32, b: u32, c: u32| a | (b & c)),
        0xea => tri(|a: u32, b: u32, c: u32| (a & b) | c),
        0x6a => tri(|a: u32, b: u32, c: u32| (a & b) ^ c),
        _ => imm_tri(|t, a: u32, b: u32, c: u32| table3(t, a, b, c)),
    };
    let (d, p) = match (&i.operands[0], combine) {
        (Operand::Pair(d, p), Some(_)) => (&**d, Some(&**p)),
        (d, None) => (d, None),
        _ => return i.unsupported(),
    };
    let mut op = e.op(run);
    op.imm = table;
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    op.c = e.src(&i.operands[3], ty)?;
    op.d = e.dst(d, ty)?;
    let value = op.d;
    e.push(op, Taint::Compute);
    if let (Some(p), Some(combine)) = (p, combine) {
        let mut op = e.op(if combine == "or" { nonzero::<true> } else { nonzero::<false> });
        op.a = value;
        e.reads.push(value);
        let (b, negated) = e.pred(&i.operands[5])?;
        op.b = b;
        op.imm = i64::from(negated);
        op.d = e.pred_dst(p)?;
        e.push(op, Taint::Compute);
    }
    Ok(())
}

unsafe fn nonzero<const OR: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let mut mask = 0;
        for lane in lanes(cx.mask) {
            mask |= u32::from(cx.lane::<u32>(op.a, lane) != 0) << lane;
        }
        let other = cx.pred(op.b) ^ if op.imm != 0 { u32::MAX } else { 0 };
        cx.set_pred(op.d, if OR { mask | other } else { mask & other });
    }
    Flow::Next
}

fn shl(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    // Shift amounts clamp: 32 and more clears a 32-bit value.
    let run: Exec = match ty.bits() {
        16 => bin(|a: u16, n: u32| if n < 16 { a << n } else { 0 }),
        32 => bin(|a: u32, n: u32| if n < 32 { a << n } else { 0 }),
        64 => bin(|a: u64, n: u32| if n < 64 { a << n } else { 0 }),
        _ => return i.unsupported(),
    };
    e.simple2(i, run, ty, ty, Ty::U32)?;
    e.native(match ty.bits() {
        32 => Native::Shl32,
        64 => Native::Shl64,
        _ => Native::No,
    });
    Ok(())
}

fn shr(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    let run: Exec = match ty {
        Ty::S16 => bin(|a: i16, n: u32| a >> n.min(15)),
        Ty::S32 => bin(|a: i32, n: u32| a >> n.min(31)),
        Ty::S64 => bin(|a: i64, n: u32| a >> n.min(63)),
        Ty::U16 | Ty::B16 => bin(|a: u16, n: u32| if n < 16 { a >> n } else { 0 }),
        Ty::U32 | Ty::B32 => bin(|a: u32, n: u32| if n < 32 { a >> n } else { 0 }),
        Ty::U64 | Ty::B64 => bin(|a: u64, n: u32| if n < 64 { a >> n } else { 0 }),
        _ => return i.unsupported(),
    };
    e.simple2(i, run, ty, ty, Ty::U32)?;
    e.native(match ty {
        Ty::S32 => Native::ShrS32,
        Ty::U32 | Ty::B32 => Native::ShrU32,
        Ty::U64 | Ty::B64 => Native::ShrU64,
        _ => Native::No,
    });
    Ok(())
}

fn shf(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let left = match i.take_any(&["l", "r"]) {
        Some(side) => side == "l",
        None => return i.unsupported(),
    };
    let wrap = match i.take_any(&["wrap", "clamp"]) {
        Some(mode) => mode == "wrap",
        None => return i.unsupported(),
    };
    let ty = i.ty()?;
    let run: Exec = match (left, wrap) {
        (true, true) => tri(|a: u32, b: u32, n: u32| (pair(a, b) << (n & 31) >> 32) as u32),
        (true, false) => tri(|a: u32, b: u32, n: u32| (pair(a, b) << n.min(32) >> 32) as u32),
        (false, true) => tri(|a: u32, b: u32, n: u32| (pair(a, b) >> (n & 31)) as u32),
        (false, false) => tri(|a: u32, b: u32, n: u32| (pair(a, b) >> n.min(32)) as u32),
    };
    e.simple3(i, run, ty, ty, ty, Ty::U32)
}

#[inline(always)]
fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
