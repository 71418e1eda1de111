//! Bit counting, bit fields and byte permutation.

use super::{Row, Ty, example};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::Cx;
use crate::exec::lanes::{Body, bin, blend, exec_widest, imm_tri, tri, un};
use crate::exec::op::{Exec, Flow, Op, Taint};
use crate::exec::template::Native;
use crate::report::Class;

pub const ROWS: &[Row] = &[
    Row {
        opcode: "popc",
        class: Class::Integer,
        decode: |e, i| count(e, i, 0),
        examples: &[example("popc.b32 %d, %a;", &[(32, 0xff)], (32, 8))],
    },
    Row {
        opcode: "clz",
        class: Class::Integer,
        decode: |e, i| count(e, i, 1),
        examples: &[example("clz.b64 %d, %a;", &[(64, 1)], (32, 63))],
    },
    Row {
        opcode: "brev",
        class: Class::Integer,
        decode: brev,
        examples: &[example("brev.b32 %d, %a;", &[(32, 1)], (32, 0x8000_0000))],
    },
    Row {
        opcode: "bfind",
        class: Class::Integer,
        decode: bfind,
        examples: &[
            example("bfind.u32 %d, %a;", &[(32, 0x10)], (32, 4)),
            example("bfind.shiftamt.u32 %d, %a;", &[(32, 0x10)], (32, 27)),
            example("bfind.s32 %d, %a;", &[(32, 0xffff_ffff)], (32, 0xffff_ffff)),
        ],
    },
    Row {
        opcode: "bfe",
        class: Class::Integer,
        decode: bfe,
        examples: &[
            example("bfe.u32 %d, %a, %b, %c;", &[(32, 0xabcd), (32, 4), (32, 8)], (32, 0xbc)),
            example("bfe.s32 %d, %a, %b, %c;", &[(32, 0xf0), (32, 4), (32, 4)], (32, 0xffff_ffff)),
            // Recorded on an H200.
            example(
                "bfe.u64 %d, %a, %b, %c;",
                &[(64, 0xc000_0000_0000_0000), (32, 0xd), (32, 0xe4b4_3d0e)],
                (64, 0x0006_0000_0000_0000),
            ),
            example(
                "bfe.s64 %d, %a, %b, %c;",
                &[(64, 0x8000_0000_0000_0001), (32, 0x563b_7f2d), (32, 0x24)],
                (64, u64::MAX),
            ),
        ],
    },
    Row {
        opcode: "bfi",
        class: Class::Integer,
        decode: bfi,
        examples: &[
            example("bfi.b32 %d, %a, %b, %c, 4;", &[(32, 0xff), (32, 0), (32, 8)], (32, 0xf00)),
            // Recorded on an H200.
            example("bfi.b64 %d, %a, %b, %c, 33;", &[(64, 0x8000), (64, 1), (32, 0x605e_8b1c)], (64, 1)),
        ],
    },
    Row {
        opcode: "bmsk",
        class: Class::Integer,
        decode: bmsk,
        examples: &[example("bmsk.clamp.b32 %d, %a, %b;", &[(32, 4), (32, 4)], (32, 0xf0))],
    },
    Row {
        opcode: "szext",
        class: Class::Integer,
        decode: szext,
        examples: &[example("szext.clamp.s32 %d, %a, %b;", &[(32, 0x8f), (32, 8)], (32, 0xffff_ff8f))],
    },
    Row {
        opcode: "fns",
        class: Class::Integer,
        decode: fns,
        examples: &[example("fns.b32 %d, %a, %b, %c;", &[(32, 0b1010_1010), (32, 2), (32, 2)], (32, 5))],
    },
    Row {
        opcode: "prmt",
        class: Class::Integer,
        decode: prmt,
        examples: &[
            example(
                "prmt.b32 %d, %a, %b, %c;",
                &[(32, 0x3322_1100), (32, 0x7766_5544), (32, 0x7531)],
                (32, 0x7755_3311),
            ),
            example("prmt.b32 %d, %a, %b, %c;", &[(32, 0x80), (32, 0), (32, 0x8)], (32, 0x8080_80ff)),
        ],
    },
];

fn count(e: &mut Emit<'_>, i: &mut Inst<'_>, what: u8) -> Decoded<()> {
    let ty = i.ty()?;
    let run: Exec = match (ty.bits(), what) {
        (32, 0) => un(|a: u32| a.count_ones()),
        (64, 0) => un(|a: u64| a.count_ones()),
        (32, _) => un(|a: u32| a.leading_zeros()),
        (64, _) => un(|a: u64| a.leading_zeros()),
        _ => return i.unsupported(),
    };
    e.simple1(i, run, Ty::U32, ty)?;
    e.native(match (ty.bits(), what) {
        (32, 0) => Native::Ones32,
        (32, _) => Native::Leading32,
        _ => Native::No,
    });
    Ok(())
}

fn brev(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    let run: Exec = match ty.bits() {
        32 => un(|a: u32| a.reverse_bits()),
        64 => un(|a: u64| a.reverse_bits()),
        _ => return i.unsupported(),
    };
    e.simple1(i, run, ty, ty)?;
    e.native(if ty.bits() == 32 { Native::Reverse32 } else { Native::No });
    Ok(())
}

fn bfind(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let shift = i.take("shiftamt");
    let ty = i.ty()?;
    // Position of the highest bit that is not a copy of the sign; all ones when there is none.
    let run: Exec = match (ty, shift) {
        (Ty::U32, false) => un(|a: u32| 31u32.wrapping_sub(a.leading_zeros())),
        (Ty::U32, true) => un(|a: u32| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        (Ty::S32, false) => un(|a: i32| 31u32.wrapping_sub((a ^ a >> 31).leading_zeros())),
        (Ty::S32, true) => un(|a: i32| if a ^ a >> 31 == 0 { u32::MAX } else { (a ^ a >> 31).leading_zeros() }),
        (Ty::U64, false) => un(|a: u64| 63u32.wrapping_sub(a.leading_zeros())),
        (Ty::U64, true) => un(|a: u64| if a == 0 { u32::MAX } else { a.leading_zeros() }),
        (Ty::S64, false) => un(|a: i64| 63u32.wrapping_sub((a ^ a >> 63).leading_zeros())),
        (Ty::S64, true) => un(|a: i64| if a ^ a >> 63 == 0 { u32::MAX } else { (a ^ a >> 63).leading_zeros() }),
        _ => return i.unsupported(),
    };
    e.simple1(i, run, Ty::U32, ty)?;
    e.native(match (ty, shift) {
        (Ty::U32, false) => Native::FindU32,
        (Ty::U32, true) => Native::FindShiftU32,
        (Ty::S32, false) => Native::FindS32,
        (Ty::S32, true) => Native::FindShiftS32,
        _ => Native::No,
    });
    Ok(())
}

/// Start or length of a bit field: the lowest 8 bits count in the 32-bit instructions, all bits in the 64-bit ones,
/// which the assembler makes of shifts.
#[inline(always)]
fn field_bound(bound: u32, width: u32) -> u32 {
    if width == 64 { bound.min(255) } else { bound & 0xff }
}

/// Bits `from` to `from + count` of `a`, sign-extended when `signed`.
#[inline(always)]
pub(crate) fn extract(a: u64, width: u32, from: u32, count: u32, signed: bool) -> u64 {
    let (from, count) = (field_bound(from, width), field_bound(count, width));
    let msb = width - 1;
    let sign = if !signed || count == 0 {
        0
    } else {
        let at = (from + count - 1).min(msb);
        a >> at & 1
    };
    let bits = if from < 64 { a >> from } else { 0 };
    let kept = count.min(width.saturating_sub(from));
    let mask = if kept >= 64 { u64::MAX } else { (1 << kept) - 1 };
    if sign != 0 { bits & mask | !mask } else { bits & mask }
}

fn bfe(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    let run: Exec = match ty {
        Ty::U32 => tri(|a: u32, b: u32, c: u32| extract(u64::from(a), 32, b, c, false) as u32),
        Ty::S32 => tri(|a: u32, b: u32, c: u32| extract(u64::from(a), 32, b, c, true) as u32),
        Ty::U64 => tri(|a: u64, b: u32, c: u32| extract(a, 64, b, c, false)),
        Ty::S64 => tri(|a: u64, b: u32, c: u32| extract(a, 64, b, c, true)),
        _ => return i.unsupported(),
    };
    e.simple3(i, run, ty, ty, Ty::U32, Ty::U32)
}

fn bfi(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    i.expect(5)?;
    let run: Exec = match ty.bits() {
        32 => exec_widest::<Insert<u32>>(),
        64 => exec_widest::<Insert<u64>>(),
        _ => return i.unsupported(),
    };
    let mut op = e.op(run);
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    op.c = e.src(&i.operands[3], Ty::U32)?;
    op.e = e.src(&i.operands[4], Ty::U32)?;
    op.d = e.dst(&i.operands[0], ty)?;
    e.push(op, Taint::Compute);
    Ok(())
}

trait Bits: crate::exec::lanes::Word {
    fn insert(self, into: Self, from: u32, count: u32) -> Self;
}

macro_rules! bits {
    ($ty:ty) => {
        impl Bits for $ty {
            #[inline(always)]
            fn insert(self, into: $ty, from: u32, count: u32) -> $ty {
                const LAST: u32 = <$ty>::BITS - 1;
                let (from, count) = (field_bound(from, <$ty>::BITS), field_bound(count, <$ty>::BITS));
                let ones = if count > LAST { <$ty>::MAX } else { (1 << (count & LAST)) - 1 };
                let mask = if from > LAST { 0 } else { ones << (from & LAST) };
                into & !mask | self << (from & LAST) & mask
            }
        }
    };
}
bits!(u32);
bits!(u64);

struct Insert<W>(std::marker::PhantomData<W>);

impl<W: Bits> Body for Insert<W> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let (a, b) = (&*cx.row::<W>(op.a), &*cx.row::<W>(op.b));
            let (from, count) = (&*cx.row::<u32>(op.c), &*cx.row::<u32>(op.e));
            let mut out = [W::ZERO; 32];
            for lane in 0..32 {
                let (a, b) = (W::from_raw(a[lane]), W::from_raw(b[lane]));
                out[lane] = a.insert(b, from[lane], count[lane]).to_raw();
            }
            blend(cx.mask, cx.row_mut::<W>(op.d), &out);
        }
        Flow::Next
    }
}

fn bmsk(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let wrap = i.take("wrap");
    if !wrap && !i.take("clamp") {
        return i.unsupported();
    }
    let ty = i.ty()?;
    let run: Exec = if wrap {
        bin(|a: u32, b: u32| ((1u64 << (b & 31)) - 1 << (a & 31)) as u32)
    } else {
        bin(|a: u32, b: u32| if a >= 32 { 0 } else { ((1u64 << b.min(32)) - 1 << a) as u32 })
    };
    e.simple2(i, run, ty, Ty::U32, Ty::U32)
}

fn szext(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let wrap = i.take("wrap");
    if !wrap && !i.take("clamp") {
        return i.unsupported();
    }
    let ty = i.ty()?;
    let run: Exec = match (ty, wrap) {
        (Ty::U32, true) => bin(|a: u32, n: u32| extract(u64::from(a), 32, 0, n & 31, false) as u32),
        (Ty::U32, false) => bin(|a: u32, n: u32| extract(u64::from(a), 32, 0, n.min(32), false) as u32),
        (Ty::S32, true) => bin(|a: u32, n: u32| extract(u64::from(a), 32, 0, n & 31, true) as u32),
        (Ty::S32, false) => bin(|a: u32, n: u32| extract(u64::from(a), 32, 0, n.min(32), true) as u32),
        _ => return i.unsupported(),
    };
    e.simple2(i, run, ty, ty, Ty::U32)
}

/// Position of the n-th set bit of `mask`, counted from `base` upward (n > 0) or downward (n < 0).
fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    if offset == 0 {
        return if mask >> base & 1 != 0 { base } else { u32::MAX };
    }
    let (mut at, step) = (base as i32, offset.signum());
    let mut left = offset.unsigned_abs();
    while (0..32).contains(&at) {
        if mask >> at & 1 != 0 {
            left -= 1;
            if left == 0 {
                return at as u32;
            }
        }
        at += step;
    }
    u32::MAX
}

fn fns(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    let run = crate::exec::lanes::each_tri(|mask: u32, base: u32, offset: i32| nth_set(mask, base, offset));
    e.simple3(i, run, ty, Ty::B32, Ty::B32, Ty::S32)
}

#[inline(always)]
pub(crate) fn permute(a: u32, b: u32, select: u32) -> u32 {
    let mut out = 0;
    for index in 0..4 {
        let choice = select >> (4 * index);
        let word = if choice & 4 != 0 { b } else { a };
        let byte = word >> (8 * (choice & 3)) & 0xff;
        let byte = if choice & 8 != 0 { (byte >> 7).wrapping_neg() & 0xff } else { byte };
        out |= byte << (8 * index);
    }
    out
}

/// The named modes of `prmt` pick bytes by the two low bits of `c`.
#[inline(always)]
fn permute_mode(mode: i64, a: u32, b: u32, c: u32) -> u32 {
    let c = c & 3;
    let select = match mode {
        0 => [0x3210, 0x4321, 0x5432, 0x6543][c as usize],
        1 => [0x5670, 0x6701, 0x7012, 0x0123][c as usize],
        2 => [0x0000, 0x1111, 0x2222, 0x3333][c as usize],
        3 => [0x3210, 0x3211, 0x3222, 0x3333][c as usize],
        4 => [0x0000, 0x1110, 0x2210, 0x3210][c as usize],
        _ => [0x1010, 0x3232, 0x1010, 0x3232][c as usize],
    };
    permute(a, b, select)
}

fn prmt(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let mode = i.take_any(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
    let ty = i.ty_maybe().unwrap_or(Ty::B32);
    let Some(mode) = mode else {
        let run = tri(|a: u32, b: u32, c: u32| permute(a, b, c));
        return e.simple3(i, run, ty, ty, ty, ty);
    };
    i.expect(4)?;
    let mut op = e.op(imm_tri(|m, a: u32, b: u32, c: u32| permute_mode(m, a, b, c)));
    op.imm = match mode {
        "f4e" => 0,
        "b4e" => 1,
        "rc8" => 2,
        "ecl" => 3,
        "ecr" => 4,
        _ => 5,
    };
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    op.c = e.src(&i.operands[3], ty)?;
    op.d = e.dst(&i.operands[0], ty)?;
    e.push(op, Taint::Compute);
    Ok(())
}
