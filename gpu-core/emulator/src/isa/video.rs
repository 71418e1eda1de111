//! SIMD video instructions: two 16-bit or four 8-bit operations in one register (PTX ISA, "SIMD Video Instructions").
//! CUDA's `__vabsdiffu4`, `__vsads4` and their kin are compiled to them.
//!
//! Inputs are widened, the operation is exact, and the result is clamped (`.sat`), cut to its lane, or, with `.add`,
//! summed over the lanes onto the third operand. A mask on the destination chooses the lanes; the others are those of the
//! third operand. Selectors on the sources choose each lane's input among the lanes of both registers.

use super::{Row, Ty, example};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::lanes::imm_tri;
use crate::exec::op::{Exec, Taint};
use crate::ptx::tree::Operand;
use crate::report::Class;

pub const ROWS: &[Row] = &[
    Row {
        opcode: "vadd2",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 2, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, |a, b| a + b))),
        examples: &[
            example(
                "vadd2.s32.s32.s32.sat %d, %a, %b, %c;",
                &[(32, 0x7fff_0001), (32, 0x0001_0002), (32, 0)],
                (32, 0x7fff_0003),
            ),
            example(
                // The upper lane takes the lower half of a, the lower one the upper half of b.
                "vadd2.u32.u32.u32 %d.h1, %a.h03, %b.h22, %c;",
                &[(32, 0x0010_0001), (32, 0x0100_0002), (32, 0x7777_5555)],
                (32, 0x0003_5555),
            ),
        ],
    },
    Row {
        opcode: "vadd4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 4, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, |a, b| a + b))),
        examples: &[example(
            "vadd4.u32.u32.u32 %d, %a, %b, %c;",
            &[(32, 0xff01_0203), (32, 0x0101_0101), (32, 0)],
            (32, 0x0002_0304),
        )],
    },
    Row {
        opcode: "vsub2",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 2, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, |a, b| a - b))),
        examples: &[example(
            "vsub2.u32.u32.u32 %d, %a, %b, %c;",
            &[(32, 0x0001_0005), (32, 0x0002_0003), (32, 0)],
            (32, 0xffff_0002),
        )],
    },
    Row {
        opcode: "vsub4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 4, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, |a, b| a - b))),
        examples: &[example(
            "vsub4.u32.u32.u32.sat %d, %a, %b, %c;",
            &[(32, 0x0105_0302), (32, 0x0201_0302), (32, 0)],
            (32, 0x0004_0000),
        )],
    },
    Row {
        opcode: "vavrg2",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 2, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, average))),
        examples: &[example(
            "vavrg2.u32.u32.u32 %d, %a, %b, %c;",
            &[(32, 0x0001_ffff), (32, 0x0002_0001), (32, 0)],
            (32, 0x0002_8000),
        )],
    },
    Row {
        opcode: "vavrg4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 4, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, average))),
        examples: &[
            example(
                "vavrg4.u32.u32.u32 %d, %a, %b, %c;",
                &[(32, 0x0102_ff00), (32, 0x0204_ff01), (32, 0)],
                (32, 0x0203_ff01),
            ),
            // Recorded on an H200.
            example("vavrg4.s32.s32.s32 %d, %a, %b, %c;", &[(32, 0xffff_ffff), (32, 0), (32, 5)], (32, 0xffff_ffff)),
        ],
    },
    Row {
        opcode: "vabsdiff2",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 2, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, distance))),
        examples: &[example(
            "vabsdiff2.u32.u32.u32.add %d, %a, %b, %c;",
            &[(32, 0x0001_0009), (32, 0x0005_0002), (32, 100)],
            (32, 111),
        )],
    },
    Row {
        opcode: "vabsdiff4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 4, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, distance))),
        examples: &[
            example(
                "vabsdiff4.u32.u32.u32 %d, %a, %b, %c;",
                &[(32, 0xff00_0205), (32, 0x00ff_0502), (32, 7)],
                (32, 0xffff_0303),
            ),
            // What `__vsads4` is made of: the sum of signed distances.
            example(
                "vabsdiff4.u32.s32.s32.add %d, %a, %b, %c;",
                &[(32, 0x80ff_0001), (32, 0x7f01_0003), (32, 0)],
                (32, 259),
            ),
        ],
    },
    Row {
        opcode: "vmin2",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 2, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, i64::min))),
        examples: &[example(
            "vmin2.s32.s32.s32 %d, %a, %b, %c;",
            &[(32, 0xffff_0003), (32, 0x0001_0002), (32, 0)],
            (32, 0xffff_0002),
        )],
    },
    Row {
        opcode: "vmin4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 4, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, i64::min))),
        examples: &[example(
            "vmin4.u32.u32.u32 %d, %a, %b, %c;",
            &[(32, 0xff01_0203), (32, 0x0102_0202), (32, 0)],
            (32, 0x0101_0202),
        )],
    },
    Row {
        opcode: "vmax2",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 2, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, i64::max))),
        examples: &[example(
            "vmax2.s32.s32.s32 %d, %a, %b, %c;",
            &[(32, 0xffff_0003), (32, 0x0001_0002), (32, 0)],
            (32, 0x0001_0003),
        )],
    },
    Row {
        opcode: "vmax4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, 4, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, i64::max))),
        examples: &[example(
            "vmax4.u32.u32.u32.add %d, %a, %b, %c;",
            &[(32, 0x0102_0304), (32, 0x0401_0105), (32, 1)],
            (32, 15),
        )],
    },
    Row {
        opcode: "vset2",
        class: Class::Integer,
        decode: |e, i| {
            let run = imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, |a, b| holds(m >> COMPARISON & 7, a, b).into()));
            vset(e, i, 2, run)
        },
        examples: &[example(
            "vset2.s32.u32.lt %d.h1, %a, %b.h23, %c;",
            &[(32, 0xffff_0003), (32, 0x0001_0002), (32, 9)],
            (32, 0x0001_0009),
        )],
    },
    Row {
        opcode: "vset4",
        class: Class::Integer,
        decode: |e, i| {
            let run = imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, |a, b| holds(m >> COMPARISON & 7, a, b).into()));
            vset(e, i, 4, run)
        },
        examples: &[example(
            "vset4.u32.u32.ge.add %d, %a, %b, %c;",
            &[(32, 0x0102_0304), (32, 0x0201_0304), (32, 1)],
            (32, 4),
        )],
    },
];

/// What `Op::imm` says of the operand types.
pub const SIGNED_RESULT: i64 = 1;
pub const SIGNED_A: i64 = 2;
pub const SIGNED_B: i64 = 4;
pub const SATURATE: i64 = 8;
const ACCUMULATE: i64 = 16;
/// Four bits: the lanes of the result.
const MASK: u32 = 8;
/// Three bits a lane: which lane of the two sources, those of the second behind those of the first.
const SELECT_A: u32 = 12;
const SELECT_B: u32 = 24;
/// Which comparison.
const COMPARISON: u32 = 36;

/// The signs of `count` types (the last ones of result, first and second operand), and `.sat`.
pub fn signs(i: &mut Inst<'_>, count: usize) -> Decoded<i64> {
    let mut imm = 0;
    for bit in &[SIGNED_RESULT, SIGNED_A, SIGNED_B][3 - count..] {
        match i.ty()? {
            Ty::S32 => imm |= bit,
            Ty::U32 => {}
            _ => return i.unsupported(),
        }
    }
    Ok(if i.take("sat") { imm | SATURATE } else { imm })
}

const COMPARISONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

/// The number of a comparison, for [`holds`].
pub fn compare(i: &mut Inst<'_>) -> Decoded<i64> {
    match i.take_any(&COMPARISONS).and_then(|name| COMPARISONS.iter().position(|known| *known == name)) {
        Some(at) => Ok(at as i64),
        None => i.unsupported(),
    }
}

#[inline(always)]
pub fn holds(comparison: i64, a: i64, b: i64) -> bool {
    match comparison {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a <= b,
        4 => a > b,
        _ => a >= b,
    }
}

/// Brings a result into the range of a type of `bits`, when asked to.
#[inline(always)]
pub fn clamp(exact: i64, saturate: bool, signed: bool, bits: u32) -> i64 {
    match (saturate, signed) {
        (true, true) => exact.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (true, false) => exact.clamp(0, (1 << bits) - 1),
        (false, _) => exact,
    }
}

/// A register and the digits behind its last dot, lowest lane first: `%r1.h30` gives 0, 3. None: it has no such suffix.
fn suffix<'a>(operand: &Operand<'a>, lanes: u32) -> Option<(Operand<'a>, Vec<i64>)> {
    let Operand::Name(name) = operand else { return None };
    let (register, suffix) = name.rsplit_once('.')?;
    let digits = suffix.strip_prefix(if lanes == 2 { 'h' } else { 'b' })?;
    let digits: Option<Vec<i64>> = digits.chars().rev().map(|c| c.to_digit(8).map(i64::from)).collect();
    Some((Operand::Name(register), digits.filter(|digits| !digits.is_empty())?))
}

fn simd(e: &mut Emit<'_>, i: &mut Inst<'_>, lanes: u32, run: Exec) -> Decoded<()> {
    let imm = signs(i, 3)?;
    packed(e, i, lanes, run, imm)
}

fn vset(e: &mut Emit<'_>, i: &mut Inst<'_>, lanes: u32, run: Exec) -> Decoded<()> {
    let imm = signs(i, 2)? | compare(i)? << COMPARISON;
    packed(e, i, lanes, run, imm)
}

/// Reads the operands behind the types and pushes the instruction.
fn packed(e: &mut Emit<'_>, i: &mut Inst<'_>, lanes: u32, run: Exec, mut imm: i64) -> Decoded<()> {
    i.expect(4)?;
    if i.take("add") {
        if imm & SATURATE != 0 {
            return i.unsupported();
        }
        imm |= ACCUMULATE;
    }
    let (d, mask) = match suffix(&i.operands[0], lanes) {
        Some((d, chosen)) if chosen.iter().all(|lane| *lane < i64::from(lanes)) => {
            (d, chosen.iter().fold(0, |mask, lane| mask | 1 << lane))
        }
        Some(_) => return i.unsupported(),
        None => (i.operands[0].clone(), (1 << lanes) - 1),
    };
    imm |= mask << MASK;
    let mut sources = Vec::new();
    for (at, shift) in [(1, SELECT_A), (2, SELECT_B)] {
        let first = if at == 1 { 0 } else { i64::from(lanes) };
        let (source, chosen) = suffix(&i.operands[at], lanes)
            .unwrap_or_else(|| (i.operands[at].clone(), (first..first + i64::from(lanes)).collect()));
        if chosen.len() != lanes as usize || chosen.iter().any(|lane| *lane >= 2 * i64::from(lanes)) {
            return i.unsupported();
        }
        imm |= chosen.iter().enumerate().fold(0, |all, (lane, from)| all | from << (shift + 3 * lane as u32));
        sources.push(source);
    }
    let mut op = e.op(run);
    op.imm = imm;
    op.a = e.src(&sources[0], Ty::U32)?;
    op.b = e.src(&sources[1], Ty::U32)?;
    op.c = e.src(&i.operands[3], Ty::U32)?;
    op.d = e.dst(&d, Ty::U32)?;
    e.push(op, Taint::Compute);
    Ok(())
}

/// Rounds halves away from zero, as an H200 does.
fn average(a: i64, b: i64) -> i64 {
    let sum = a + b;
    (sum + i64::from(sum >= 0)) >> 1
}

fn distance(a: i64, b: i64) -> i64 {
    (a - b).abs()
}

/// One operation on each of `N` lanes.
#[inline(always)]
fn lanes<const N: u32>(imm: i64, a: u32, b: u32, c: u32, f: impl Fn(i64, i64) -> i64) -> u32 {
    let bits = 32 / N;
    let lane = |select: u32, n: u32, signed: bool| {
        let from = (imm >> (select + 3 * n)) as u32 & 7;
        let word = if from < N { a } else { b };
        let up = word << (32 - bits * (from % N + 1));
        if signed { i64::from(up as i32 >> (32 - bits)) } else { i64::from(up >> (32 - bits)) }
    };
    let (mut packed, mut sum) = (c, i64::from(c));
    for n in (0..N).filter(|n| imm >> (MASK + n) & 1 != 0) {
        let exact = f(lane(SELECT_A, n, imm & SIGNED_A != 0), lane(SELECT_B, n, imm & SIGNED_B != 0));
        sum += exact;
        let kept = clamp(exact, imm & SATURATE != 0, imm & SIGNED_RESULT != 0, bits) as u32;
        let field = (u32::MAX >> (32 - bits)) << (bits * n);
        packed = packed & !field | kept << (bits * n) & field;
    }
    if imm & ACCUMULATE != 0 { sum as u32 } else { packed }
}
