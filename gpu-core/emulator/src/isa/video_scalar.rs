//! Scalar video instructions: one operation on bytes, half-words or words of two registers, clamped to what the
//! destination holds, with a second operation or a merge on a third (PTX ISA, "Scalar Video Instructions").
//!
//! These follow the manual. Since Volta no GPU has them: the assembler writes sequences of other instructions, which
//! depart from the manual (`vadd.u32.u32.u32.sat` of two large numbers wraps on an H200) and from one another (the
//! merge `vadd.u32.u32.u32 %d.h1, %a.b3, %b, %c` is right as NVRTC 13.5 assembles it and gives zero as driver 580
//! does). `lockstep dev verify-instructions` therefore lists them as a group of their own.

use super::video::{SATURATE, SIGNED_A, SIGNED_B, SIGNED_RESULT, clamp, compare, holds, signs};
use super::{Row, Ty, example};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::lanes::imm_tri;
use crate::exec::op::{Exec, Taint};
use crate::ptx::tree::Operand;
use crate::report::Class;

pub const ROWS: &[Row] = &[
    Row {
        opcode: "vadd",
        class: Class::Integer,
        decode: |e, i| two(e, i, imm_tri(|m, a, b, c| apply(m, a, b, c, |a, b| a + b))),
        examples: &[
            example("vadd.s32.u32.s32.sat %d, %a.b3, %b.h1;", &[(32, 0xff00_0000), (32, 0xfffe_0000)], (32, 253)),
            example(
                "vadd.u32.u32.u32.sat %d.b1, %a, %b, %c;",
                &[(32, 200), (32, 100), (32, 0x1122_3344)],
                (32, 0x1122_ff44),
            ),
            example("vadd.u32.u32.u32.max %d, %a, %b, %c;", &[(32, 2), (32, 3), (32, 9)], (32, 9)),
        ],
    },
    Row {
        opcode: "vsub",
        class: Class::Integer,
        decode: |e, i| two(e, i, imm_tri(|m, a, b, c| apply(m, a, b, c, |a, b| a - b))),
        examples: &[
            example("vsub.u32.u32.u32.sat %d, %a, %b;", &[(32, 2), (32, 3)], (32, 0)),
            example("vsub.s32.s32.s32.add %d, %a.b0, %b.b1, %c;", &[(32, 0x80), (32, 0x100), (32, 200)], (32, 71)),
        ],
    },
    Row {
        opcode: "vabsdiff",
        class: Class::Integer,
        decode: |e, i| two(e, i, imm_tri(|m, a, b, c| apply(m, a, b, c, |a, b| (a - b).abs()))),
        examples: &[example("vabsdiff.u32.s32.s32 %d, %a.h0, %b.h1;", &[(32, 0xffff), (32, 0x0005_0000)], (32, 6))],
    },
    Row {
        opcode: "vmin",
        class: Class::Integer,
        decode: |e, i| two(e, i, imm_tri(|m, a, b, c| apply(m, a, b, c, i64::min))),
        examples: &[example("vmin.s32.s32.u32 %d, %a, %b;", &[(32, 0xffff_ffff), (32, 1)], (32, 0xffff_ffff))],
    },
    Row {
        opcode: "vmax",
        class: Class::Integer,
        decode: |e, i| two(e, i, imm_tri(|m, a, b, c| apply(m, a, b, c, i64::max))),
        examples: &[example(
            "vmax.u32.u32.u32 %d.h1, %a, %b.b2, %c;",
            &[(32, 4), (32, 0x70000), (32, 1)],
            (32, 0x70001),
        )],
    },
    Row {
        opcode: "vshl",
        class: Class::Integer,
        decode: |e, i| shift(e, i, imm_tri(|m, a, b, c| apply(m, a, b, c, |a, b| a << b))),
        examples: &[example("vshl.u32.u32.u32.clamp %d, %a.b0, %b;", &[(32, 0x1ff), (32, 4)], (32, 0xff0))],
    },
    Row {
        opcode: "vshr",
        class: Class::Integer,
        decode: |e, i| shift(e, i, imm_tri(|m, a, b, c| apply(m, a, b, c, |a, b| a >> b))),
        examples: &[
            example("vshr.s32.s32.u32.clamp %d, %a, %b;", &[(32, 0x8000_0000), (32, 40)], (32, 0xffff_ffff)),
            example("vshr.u32.u32.u32.wrap %d, %a, %b;", &[(32, 16), (32, 33)], (32, 8)),
        ],
    },
    Row {
        opcode: "vmad",
        class: Class::Integer,
        decode: vmad,
        examples: &[
            example("vmad.s32.s32.u32.shr7 %d, %a.b0, %b, %c;", &[(32, 0xff), (32, 256), (32, 0)], (32, 0xffff_fffe)),
            example("vmad.u32.u32.u32.po %d, %a, %b, %c;", &[(32, 3), (32, 4), (32, 5)], (32, 18)),
            example("vmad.s32.u32.u32.sat %d, %a, %b, -%c;", &[(32, 2), (32, 3), (32, 10)], (32, 0xffff_fffc)),
        ],
    },
    Row {
        opcode: "vset",
        class: Class::Integer,
        decode: vset,
        examples: &[
            example("vset.s32.u32.lt %d, %a.b0, %b;", &[(32, 0x80), (32, 1)], (32, 1)),
            example("vset.u32.u32.ge.add %d, %a, %b, %c;", &[(32, 1), (32, 1), (32, 7)], (32, 8)),
        ],
    },
];

// What `Op::imm` says beside the signs: three bits for each selector, then how the result is used.
const SELECT_A: u32 = 8;
const SELECT_B: u32 = 11;
const SELECT_D: u32 = 14;
const SECOND: u32 = 17;
/// Which comparison.
const DETAIL: u32 = 20;
const NEGATE_PRODUCT: i64 = 1 << 24;
const NEGATE_C: i64 = 1 << 25;
const PLUS_ONE: i64 = 1 << 26;
/// Right shift of a product.
const SCALE: u32 = 28;

const PARTS: [&str; 6] = ["b0", "b1", "b2", "b3", "h0", "h1"];

/// A register and which part of it: 0 for all.
fn part<'a>(operand: &Operand<'a>) -> (Operand<'a>, i64) {
    if let Operand::Name(name) = operand
        && let Some((register, suffix)) = name.rsplit_once('.')
        && let Some(code) = PARTS.iter().position(|part| *part == suffix)
    {
        return (Operand::Name(register), code as i64 + 1);
    }
    (operand.clone(), 0)
}

/// Reads the operands behind the modifiers and pushes the instruction.
fn push(e: &mut Emit<'_>, i: &mut Inst<'_>, run: Exec, mut imm: i64) -> Decoded<()> {
    let (d, select_d) = part(&i.operands[0]);
    let (a, select_a) = part(&i.operands[1]);
    let (b, select_b) = part(&i.operands[2]);
    imm |= select_a << SELECT_A | select_b << SELECT_B | select_d << SELECT_D;
    let mut op = e.op(run);
    op.imm = imm;
    op.a = e.src(&a, Ty::U32)?;
    op.b = e.src(&b, Ty::U32)?;
    op.c = match i.operands.get(3) {
        Some(c) => e.src(c, Ty::U32)?,
        None => e.pool.splat(0, 32),
    };
    op.d = e.dst(&d, Ty::U32)?;
    e.push(op, Taint::Compute);
    Ok(())
}

/// A third operand is there for a second operation or a merge, and only then.
fn third(i: &Inst<'_>, second: i64) -> Decoded<()> {
    let merged = i.operands.first().is_some_and(|d| part(d).1 != 0);
    i.expect(if second != 0 || merged { 4 } else { 3 })?;
    if second != 0 && merged { i.unsupported() } else { Ok(()) }
}

fn second(i: &mut Inst<'_>) -> i64 {
    let names = ["add", "min", "max"];
    i.take_any(&names).and_then(|name| names.iter().position(|known| *known == name)).map_or(0, |at| at as i64 + 1)
}

fn two(e: &mut Emit<'_>, i: &mut Inst<'_>, run: Exec) -> Decoded<()> {
    let mut imm = signs(i, 3)?;
    let second = second(i);
    third(i, second)?;
    imm |= second << SECOND;
    push(e, i, run, imm)
}

const CLAMP_SHIFT: i64 = 1 << 40;
const WRAP_SHIFT: i64 = 1 << 41;

fn shift(e: &mut Emit<'_>, i: &mut Inst<'_>, run: Exec) -> Decoded<()> {
    let mut imm = signs(i, 3)?;
    imm |= match i.take_any(&["clamp", "wrap"]) {
        Some("clamp") => CLAMP_SHIFT,
        Some(_) => WRAP_SHIFT,
        None => return i.unsupported(),
    };
    let second = second(i);
    third(i, second)?;
    imm |= second << SECOND;
    push(e, i, run, imm)
}

fn vset(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    // The result is a number of 32 bits without sign.
    let mut imm = signs(i, 2)?;
    imm |= compare(i)? << DETAIL;
    let second = second(i);
    third(i, second)?;
    imm |= second << SECOND;
    let run = imm_tri(|m, a, b, c| apply(m, a, b, c, move |a, b| i64::from(holds(m >> DETAIL & 7, a, b))));
    push(e, i, run, imm)
}

fn vmad(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let mut imm = signs(i, 3)?;
    i.expect(4)?;
    if i.take("po") {
        imm |= PLUS_ONE;
    }
    imm |= signs(i, 0)?;
    imm |= match i.take_any(&["shr7", "shr15"]) {
        Some("shr7") => 7 << SCALE,
        Some(_) => 15 << SCALE,
        None => 0,
    };
    let mut operands = i.operands.to_vec();
    for (at, flag) in [(1, NEGATE_PRODUCT), (2, NEGATE_PRODUCT), (3, NEGATE_C)] {
        if let Operand::Negated(name) = operands[at] {
            operands[at] = Operand::Name(name);
            imm ^= flag;
        }
    }
    if part(&operands[0]).1 != 0 || imm & PLUS_ONE != 0 && imm & (NEGATE_PRODUCT | NEGATE_C) != 0 {
        return i.unsupported();
    }
    let (a, select_a) = part(&operands[1]);
    let (b, select_b) = part(&operands[2]);
    let mut op = e.op(imm_tri(multiply));
    op.imm = imm | select_a << SELECT_A | select_b << SELECT_B;
    op.a = e.src(&a, Ty::U32)?;
    op.b = e.src(&b, Ty::U32)?;
    op.c = e.src(&operands[3], Ty::U32)?;
    op.d = e.dst(&operands[0], Ty::U32)?;
    e.push(op, Taint::Compute);
    Ok(())
}

/// The chosen part of a register, extended by its type.
fn extract(word: u32, select: i64, signed: bool) -> i64 {
    let (bits, at) = match select {
        0 => (32, 0),
        1..=4 => (8, 8 * (select - 1)),
        _ => (16, 16 * (select - 5)),
    };
    let up = word << (32 - bits - at);
    if signed { i64::from(up as i32 >> (32 - bits)) } else { i64::from(up >> (32 - bits)) }
}

/// Bits and place of the part that the result is merged into.
fn destination(select: i64) -> (u32, u32) {
    match select {
        0 => (32, 0),
        1..=4 => (8, 8 * (select as u32 - 1)),
        _ => (16, 16 * (select as u32 - 5)),
    }
}

#[inline(always)]
fn apply(imm: i64, a: u32, b: u32, c: u32, f: impl Fn(i64, i64) -> i64) -> u32 {
    let a = extract(a, imm >> SELECT_A & 7, imm & SIGNED_A != 0);
    let mut b = extract(b, imm >> SELECT_B & 7, imm & SIGNED_B != 0);
    if imm & CLAMP_SHIFT != 0 {
        b = b.min(32);
    } else if imm & WRAP_SHIFT != 0 {
        b &= 31;
    }
    let signed = imm & SIGNED_RESULT != 0;
    let (bits, at) = destination(imm >> SELECT_D & 7);
    let exact = clamp(f(a, b), imm & SATURATE != 0, signed, bits) as u32;
    let ordered = |x: u32| if signed { i64::from(x as i32) } else { i64::from(x) };
    match imm >> SECOND & 3 {
        1 => exact.wrapping_add(c),
        2 => ordered(exact).min(ordered(c)) as u32,
        3 => ordered(exact).max(ordered(c)) as u32,
        _ if bits == 32 => exact,
        _ => {
            let mask = ((1u32 << bits) - 1) << at;
            c & !mask | exact << at & mask
        }
    }
}

fn multiply(imm: i64, a: u32, b: u32, mut c: u32) -> u32 {
    let a = extract(a, imm >> SELECT_A & 7, imm & SIGNED_A != 0);
    let b = extract(b, imm >> SELECT_B & 7, imm & SIGNED_B != 0);
    let signed = imm & (SIGNED_A | SIGNED_B | NEGATE_PRODUCT | NEGATE_C) != 0;
    let mut product = i128::from(a) * i128::from(b);
    let mut one = imm & PLUS_ONE != 0;
    if imm & NEGATE_PRODUCT != 0 {
        (product, one) = (!product, true);
    } else if imm & NEGATE_C != 0 {
        (c, one) = (!c, true);
    }
    let addend = if signed { i128::from(c as i32) } else { i128::from(c) };
    let sum = (product + addend + i128::from(one)) >> (imm >> SCALE & 15);
    clamp(sum as i64, imm & SATURATE != 0, signed, 32) as u32
}
