//! SIMD video instructions: two 16-bit or four 8-bit operations in one register (PTX ISA, "SIMD Video Instructions").
//! CUDA's `__vabsdiffu4`, `__vsads4` and their kin are compiled to them.
//!
//! Inputs are widened, the operation is exact, and the result is clamped (`.sat`), cut to its lane, or, with `.add`,
//! summed over the lanes onto the third operand. Lane masks and selectors are refused: only inline PTX can have them.

use super::{Row, Ty, example};
use crate::build::emit::{Decoded, Emit, Inst};
use crate::exec::lanes::imm_tri;
use crate::exec::op::{Exec, Taint};
use crate::report::Class;

pub const ROWS: &[Row] = &[
    Row {
        opcode: "vadd2",
        class: Class::Integer,
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, |a, b| a + b))),
        examples: &[example(
            "vadd2.s32.s32.s32.sat %d, %a, %b, %c;",
            &[(32, 0x7fff_0001), (32, 0x0001_0002), (32, 0)],
            (32, 0x7fff_0003),
        )],
    },
    Row {
        opcode: "vadd4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, |a, b| a + b))),
        examples: &[example(
            "vadd4.u32.u32.u32 %d, %a, %b, %c;",
            &[(32, 0xff01_0203), (32, 0x0101_0101), (32, 0)],
            (32, 0x0002_0304),
        )],
    },
    Row {
        opcode: "vsub2",
        class: Class::Integer,
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, |a, b| a - b))),
        examples: &[example(
            "vsub2.u32.u32.u32 %d, %a, %b, %c;",
            &[(32, 0x0001_0005), (32, 0x0002_0003), (32, 0)],
            (32, 0xffff_0002),
        )],
    },
    Row {
        opcode: "vsub4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, |a, b| a - b))),
        examples: &[example(
            "vsub4.u32.u32.u32.sat %d, %a, %b, %c;",
            &[(32, 0x0105_0302), (32, 0x0201_0302), (32, 0)],
            (32, 0x0004_0000),
        )],
    },
    Row {
        opcode: "vavrg2",
        class: Class::Integer,
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, average))),
        examples: &[example(
            "vavrg2.u32.u32.u32 %d, %a, %b, %c;",
            &[(32, 0x0001_ffff), (32, 0x0002_0001), (32, 0)],
            (32, 0x0002_8000),
        )],
    },
    Row {
        opcode: "vavrg4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, average))),
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
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, distance))),
        examples: &[example(
            "vabsdiff2.u32.u32.u32.add %d, %a, %b, %c;",
            &[(32, 0x0001_0009), (32, 0x0005_0002), (32, 100)],
            (32, 111),
        )],
    },
    Row {
        opcode: "vabsdiff4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, distance))),
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
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, i64::min))),
        examples: &[example(
            "vmin2.s32.s32.s32 %d, %a, %b, %c;",
            &[(32, 0xffff_0003), (32, 0x0001_0002), (32, 0)],
            (32, 0xffff_0002),
        )],
    },
    Row {
        opcode: "vmin4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, i64::min))),
        examples: &[example(
            "vmin4.u32.u32.u32 %d, %a, %b, %c;",
            &[(32, 0xff01_0203), (32, 0x0102_0202), (32, 0)],
            (32, 0x0101_0202),
        )],
    },
    Row {
        opcode: "vmax2",
        class: Class::Integer,
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<2>(m, a, b, c, i64::max))),
        examples: &[example(
            "vmax2.s32.s32.s32 %d, %a, %b, %c;",
            &[(32, 0xffff_0003), (32, 0x0001_0002), (32, 0)],
            (32, 0x0001_0003),
        )],
    },
    Row {
        opcode: "vmax4",
        class: Class::Integer,
        decode: |e, i| simd(e, i, imm_tri(|m, a, b, c| lanes::<4>(m, a, b, c, i64::max))),
        examples: &[example(
            "vmax4.u32.u32.u32.add %d, %a, %b, %c;",
            &[(32, 0x0102_0304), (32, 0x0401_0105), (32, 1)],
            (32, 15),
        )],
    },
];

/// What `Op::imm` says of the operand types.
const SIGNED_RESULT: i64 = 1;
const SIGNED_A: i64 = 2;
const SIGNED_B: i64 = 4;
const SATURATE: i64 = 8;
const ACCUMULATE: i64 = 16;

fn simd(e: &mut Emit<'_>, i: &mut Inst<'_>, run: Exec) -> Decoded<()> {
    i.expect(4)?;
    let mut imm = 0;
    for bit in [SIGNED_RESULT, SIGNED_A, SIGNED_B] {
        match i.ty()? {
            Ty::S32 => imm |= bit,
            Ty::U32 => {}
            _ => return i.unsupported(),
        }
    }
    match (i.take("sat"), i.take("add")) {
        (true, true) => return i.unsupported(),
        (true, false) => imm |= SATURATE,
        (false, true) => imm |= ACCUMULATE,
        (false, false) => {}
    }
    let mut op = e.op(run);
    op.imm = imm;
    op.a = e.src(&i.operands[1], Ty::U32)?;
    op.b = e.src(&i.operands[2], Ty::U32)?;
    op.c = e.src(&i.operands[3], Ty::U32)?;
    op.d = e.dst(&i.operands[0], Ty::U32)?;
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
    let lane = |word: u32, n: u32, signed: bool| {
        let up = word << (32 - bits * (n + 1));
        if signed { i64::from(up as i32 >> (32 - bits)) } else { i64::from(up >> (32 - bits)) }
    };
    let (mut packed, mut sum) = (0, i64::from(c));
    for n in 0..N {
        let exact = f(lane(a, n, imm & SIGNED_A != 0), lane(b, n, imm & SIGNED_B != 0));
        sum += exact;
        let kept = match (imm & SATURATE != 0, imm & SIGNED_RESULT != 0) {
            (true, true) => exact.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            (true, false) => exact.clamp(0, (1 << bits) - 1),
            (false, _) => exact,
        };
        packed |= (kept as u32 & (u32::MAX >> (32 - bits))) << (bits * n);
    }
    if imm & ACCUMULATE != 0 { sum as u32 } else { packed }
}
