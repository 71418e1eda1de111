//! Integer arithmetic, and the opcodes that integer and floating-point forms share.

mod carry;
mod dot;

use carry::{Carry, carry, carry_out};

use super::{Row, Ty, example, float};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::lanes::{bin, each_bin, tri, un};
use crate::exec::op::Exec;
use crate::exec::template::Native;
use crate::report::Class;
use dot::{dp2a, dp4a};

pub const ROWS: &[Row] = &[
    Row {
        opcode: "add",
        class: Class::Integer,
        decode: |e, i| add_sub(e, i, true),
        examples: &[
            example("add.s32 %d, %a, %b;", &[(32, 7), (32, 0xffff_fffe)], (32, 5)),
            example("add.sat.s32 %d, %a, %b;", &[(32, 0x7fff_ffff), (32, 1)], (32, 0x7fff_ffff)),
            example("add.u64 %d, %a, %b;", &[(64, u64::MAX), (64, 2)], (64, 1)),
            example("add.s16 %d, %a, %b;", &[(16, 0xffff), (16, 2)], (16, 1)),
            example("add.f32 %d, %a, %b;", &[(32, 0x3f80_0000), (32, 0x4000_0000)], (32, 0x4040_0000)),
            example("add.sat.u32 %d, %a, %b;", &[(32, 0xffff_fff0), (32, 0x20)], (32, 0xffff_ffff)),
            example("add.sat.u16x2 %d, %a, %b;", &[(32, 0xfff0_0001), (32, 0x0020_0002)], (32, 0xffff_0003)),
            example("add.sat.s16x2 %d, %a, %b;", &[(32, 0x8001_7ff0), (32, 0xff00_0020)], (32, 0x8000_7fff)),
            example("add.u16x2 %d, %a, %b;", &[(32, 0x0001_ffff), (32, 0x0002_0001)], (32, 0x0003_0000)),
        ],
    },
    Row {
        opcode: "sub",
        class: Class::Integer,
        decode: |e, i| add_sub(e, i, false),
        examples: &[
            example("sub.s32 %d, %a, %b;", &[(32, 5), (32, 7)], (32, 0xffff_fffe)),
            example("sub.sat.s32 %d, %a, %b;", &[(32, 0x8000_0000), (32, 1)], (32, 0x8000_0000)),
        ],
    },
    Row {
        opcode: "mul",
        class: Class::Integer,
        decode: mul,
        examples: &[
            example("mul.lo.s32 %d, %a, %b;", &[(32, 0xffff_ffff), (32, 3)], (32, 0xffff_fffd)),
            example("mul.hi.u32 %d, %a, %b;", &[(32, 0x8000_0000), (32, 6)], (32, 3)),
            example("mul.wide.s32 %d, %a, %b;", &[(32, 0xffff_ffff), (32, 4)], (64, 0xffff_ffff_ffff_fffc)),
            example("mul.hi.s64 %d, %a, %b;", &[(64, u64::MAX), (64, 2)], (64, u64::MAX)),
            example("mul.wide.u16 %d, %a, %b;", &[(16, 0xffff), (16, 0xffff)], (32, 0xfffe_0001)),
        ],
    },
    Row {
        opcode: "mad",
        class: Class::Integer,
        decode: mad,
        examples: &[
            example("mad.lo.s32 %d, %a, %b, %c;", &[(32, 3), (32, 4), (32, 5)], (32, 17)),
            example("mad.hi.u32 %d, %a, %b, %c;", &[(32, 0x8000_0000), (32, 4), (32, 1)], (32, 3)),
            example("mad.wide.s32 %d, %a, %b, %c;", &[(32, 0xffff_ffff), (32, 4), (64, 10)], (64, 6)),
            example(
                "mad.hi.sat.s32 %d, %a, %b, %c;",
                &[(32, 0x7fff_ffff), (32, 0x7fff_ffff), (32, 0x7fff_ffff)],
                (32, 0x7fff_ffff),
            ),
        ],
    },
    Row {
        opcode: "mul24",
        class: Class::Integer,
        decode: mul24,
        examples: &[example("mul24.lo.s32 %d, %a, %b;", &[(32, 0xff_ffff), (32, 2)], (32, 0xffff_fffe))],
    },
    Row {
        opcode: "mad24",
        class: Class::Integer,
        decode: mad24,
        examples: &[example("mad24.lo.u32 %d, %a, %b, %c;", &[(32, 3), (32, 2), (32, 1)], (32, 7))],
    },
    Row {
        opcode: "div",
        class: Class::Integer,
        decode: div,
        examples: &[
            example("div.s32 %d, %a, %b;", &[(32, 0xffff_fff9), (32, 2)], (32, 0xffff_fffd)),
            example("div.u32 %d, %a, %b;", &[(32, 7), (32, 0)], (32, 0xffff_ffff)),
            example("div.u64 %d, %a, %b;", &[(64, 100), (64, 7)], (64, 14)),
            example("div.rn.f32 %d, %a, %b;", &[(32, 0x3f80_0000), (32, 0x4040_0000)], (32, 0x3eaa_aaab)),
        ],
    },
    Row {
        opcode: "rem",
        class: Class::Integer,
        decode: rem,
        examples: &[
            example("rem.s32 %d, %a, %b;", &[(32, 0xffff_fff9), (32, 2)], (32, 0xffff_ffff)),
            example("rem.u64 %d, %a, %b;", &[(64, 100), (64, 7)], (64, 2)),
            // Recorded on an H200.
            example("rem.u16 %d, %a, %b;", &[(16, 1), (16, 0)], (16, 0xffff)),
            example("rem.s32 %d, %a, %b;", &[(32, 0xffff_ffe1), (32, 0)], (32, 0xffff_ffff)),
            example("rem.u64 %d, %a, %b;", &[(64, 0x1f), (64, 0)], (64, u64::MAX)),
        ],
    },
    Row {
        opcode: "sad",
        class: Class::Integer,
        decode: sad,
        examples: &[example("sad.s32 %d, %a, %b, %c;", &[(32, 3), (32, 10), (32, 1)], (32, 8))],
    },
    Row {
        opcode: "abs",
        class: Class::Integer,
        decode: abs,
        examples: &[example("abs.s32 %d, %a;", &[(32, 0xffff_fffe)], (32, 2))],
    },
    Row {
        opcode: "neg",
        class: Class::Integer,
        decode: neg,
        examples: &[example("neg.s32 %d, %a;", &[(32, 5)], (32, 0xffff_fffb))],
    },
    Row {
        opcode: "min",
        class: Class::Integer,
        decode: |e, i| min_max(e, i, true),
        examples: &[
            example("min.s32 %d, %a, %b;", &[(32, 5), (32, 0xffff_fffb)], (32, 0xffff_fffb)),
            example("min.u16 %d, %a, %b;", &[(16, 5), (16, 9)], (16, 5)),
            example("min.f32 %d, %a, %b;", &[(32, 0x8000_0000), (32, 0)], (32, 0x8000_0000)),
            example("min.s32.relu %d, %a, %b;", &[(32, 5), (32, 0xffff_fffb)], (32, 0)),
        ],
    },
    Row {
        opcode: "max",
        class: Class::Integer,
        decode: |e, i| min_max(e, i, false),
        examples: &[
            example("max.u32 %d, %a, %b;", &[(32, 5), (32, 0xffff_fffb)], (32, 0xffff_fffb)),
            example("max.NaN.f32 %d, %a, %b;", &[(32, 0x7fc0_0000), (32, 0)], (32, 0x7fff_ffff)),
        ],
    },
    Row {
        opcode: "addc",
        class: Class::Integer,
        decode: |e, i| carry(e, i, Carry::Add),
        // Recorded on an H200: nothing borrowed sets the flag.
        examples: &[
            example("sub.cc.u32 %d, %a, %b;\naddc.u32 %d, 0, 0;", &[(32, 5), (32, 5)], (32, 1)),
            example("sub.cc.u32 %d, %a, %b;\naddc.u32 %d, 0, 0;", &[(32, 4), (32, 5)], (32, 0)),
            example("add.cc.u32 %d, %a, %b;\naddc.u32 %d, 0, 0;", &[(32, u32::MAX as u64), (32, 1)], (32, 1)),
        ],
    },
    Row {
        opcode: "subc",
        class: Class::Integer,
        decode: |e, i| carry(e, i, Carry::Sub),
        examples: &[
            example("sub.cc.u32 %d, %a, %b;\nsubc.u32 %d, 7, 2;", &[(32, 4), (32, 5)], (32, 4)),
            example("add.cc.u32 %d, %a, %b;\nsubc.u32 %d, 0, 0;", &[(32, 0), (32, 0)], (32, 0xffff_ffff)),
        ],
    },
    Row { opcode: "madc", class: Class::Integer, decode: |e, i| carry(e, i, Carry::Mad), examples: &[] },
    Row {
        opcode: "dp4a",
        class: Class::Integer,
        decode: dp4a,
        examples: &[example(
            "dp4a.s32.u32 %d, %a, %b, %c;",
            &[(32, 0x01ff_0203), (32, 0x0101_0101), (32, 10)],
            (32, 15),
        )],
    },
    Row {
        opcode: "dp2a",
        class: Class::Integer,
        decode: dp2a,
        examples: &[example(
            "dp2a.lo.s32.s32 %d, %a, %b, %c;",
            &[(32, 0xffff_0002), (32, 0x0000_0305), (32, 1)],
            (32, 8),
        )],
    },
];

/// Picks by integer type with one expression for all widths.
macro_rules! by_int {
    ($ty:expr, $make:ident, |$($arg:ident),+| $body:expr) => {
        match $ty {
            Ty::U16 => $make(|$($arg: u16),+| $body),
            Ty::S16 => $make(|$($arg: i16),+| $body),
            Ty::U32 => $make(|$($arg: u32),+| $body),
            Ty::S32 => $make(|$($arg: i32),+| $body),
            Ty::U64 => $make(|$($arg: u64),+| $body),
            Ty::S64 => $make(|$($arg: i64),+| $body),
            _ => return Err(format!("type {:?} does not fit", $ty)),
        }
    };
}

/// Applies an operation to both halves of a 32-bit word.
#[inline(always)]
pub fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

fn wider(ty: Ty) -> Decoded<Ty> {
    Ok(match ty {
        Ty::U16 => Ty::U32,
        Ty::S16 => Ty::S32,
        Ty::U32 => Ty::U64,
        Ty::S32 => Ty::S64,
        _ => return Err(format!("`.wide` does not go with {ty:?}")),
    })
}

fn add_sub(e: &mut Emit<'_>, i: &mut Inst<'_>, add: bool) -> Decoded<()> {
    if i.take("cc") {
        return carry_out(e, i, if add { Carry::Add } else { Carry::Sub }, false);
    }
    let ty = match i.take_int() {
        Some(ty) => ty,
        None => return float::add_sub(e, i, add),
    };
    let sat = i.take("sat");
    let run: Exec = match (ty, sat, add) {
        (Ty::S32, true, true) => bin(|a: i32, b: i32| a.saturating_add(b)),
        (Ty::S32, true, false) => bin(|a: i32, b: i32| a.saturating_sub(b)),
        (Ty::U32, true, true) => bin(|a: u32, b: u32| a.saturating_add(b)),
        (Ty::U16x2, true, true) => bin(|a: u32, b: u32| halves(a, b, u16::saturating_add)),
        (Ty::S16x2, true, true) => {
            bin(|a: u32, b: u32| halves(a, b, |a, b| (a as i16).saturating_add(b as i16) as u16))
        }
        (_, true, _) => return i.unsupported(),
        (Ty::U16x2 | Ty::S16x2, _, true) => bin(|a: u32, b: u32| halves(a, b, u16::wrapping_add)),
        (_, _, true) => by_int!(ty, bin, |a, b| a.wrapping_add(b)),
        (_, _, false) => by_int!(ty, bin, |a, b| a.wrapping_sub(b)),
    };
    e.simple2(i, run, ty, ty, ty)?;
    e.native(match (ty, add) {
        _ if sat => Native::No,
        (Ty::S32 | Ty::U32, true) => Native::Add32,
        (Ty::S32 | Ty::U32, false) => Native::Sub32,
        (Ty::S64 | Ty::U64, true) => Native::Add64,
        (Ty::S64 | Ty::U64, false) => Native::Sub64,
        _ => Native::No,
    });
    Ok(())
}

fn mul(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let half = i.take_any(&["lo", "hi", "wide"]);
    let Some(half) = half else { return float::mul(e, i) };
    let ty = i.ty()?;
    let mut d = ty;
    let run = match half {
        "lo" => by_int!(ty, bin, |a, b| a.wrapping_mul(b)),
        "hi" => match ty {
            Ty::U16 => bin(|a: u16, b: u16| (u32::from(a) * u32::from(b) >> 16) as u16),
            Ty::S16 => bin(|a: i16, b: i16| (i32::from(a) * i32::from(b) >> 16) as i16),
            Ty::U32 => bin(|a: u32, b: u32| (u64::from(a) * u64::from(b) >> 32) as u32),
            Ty::S32 => bin(|a: i32, b: i32| (i64::from(a) * i64::from(b) >> 32) as i32),
            Ty::U64 => bin(|a: u64, b: u64| (u128::from(a) * u128::from(b) >> 64) as u64),
            Ty::S64 => bin(|a: i64, b: i64| (i128::from(a) * i128::from(b) >> 64) as i64),
            _ => return i.unsupported(),
        },
        _ => {
            d = wider(ty)?;
            match ty {
                Ty::U16 => bin(|a: u16, b: u16| u32::from(a) * u32::from(b)),
                Ty::S16 => bin(|a: i16, b: i16| i32::from(a) * i32::from(b)),
                Ty::U32 => bin(|a: u32, b: u32| u64::from(a) * u64::from(b)),
                _ => bin(|a: i32, b: i32| i64::from(a) * i64::from(b)),
            }
        }
    };
    e.simple2(i, run, d, ty, ty)?;
    e.native(match (half, ty) {
        ("lo", Ty::S32 | Ty::U32) => Native::Mul32,
        ("lo", Ty::S64 | Ty::U64) => Native::Mul64,
        ("hi", Ty::S32) => Native::MulHighS,
        ("hi", Ty::U32) => Native::MulHighU,
        ("wide", Ty::S32) => Native::MulWideS,
        ("wide", Ty::U32) => Native::MulWideU,
        _ => Native::No,
    });
    Ok(())
}

fn mad(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let Some(half) = i.take_any(&["lo", "hi", "wide"]) else { return float::fma(e, i) };
    if i.take("cc") {
        i.give_back(half);
        return carry_out(e, i, Carry::Mad, false);
    }
    let sat = i.take("sat");
    let ty = i.ty()?;
    let mut d = ty;
    let run = match (half, sat) {
        ("lo", false) => by_int!(ty, tri, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("hi", true) if ty == Ty::S32 => {
            tri(|a: i32, b: i32, c: i32| ((i64::from(a) * i64::from(b) >> 32) as i32).saturating_add(c))
        }
        (_, true) => return i.unsupported(),
        ("hi", false) => match ty {
            Ty::U16 => tri(|a: u16, b: u16, c: u16| ((u32::from(a) * u32::from(b) >> 16) as u16).wrapping_add(c)),
            Ty::S16 => tri(|a: i16, b: i16, c: i16| ((i32::from(a) * i32::from(b) >> 16) as i16).wrapping_add(c)),
            Ty::U32 => tri(|a: u32, b: u32, c: u32| ((u64::from(a) * u64::from(b) >> 32) as u32).wrapping_add(c)),
            Ty::S32 => tri(|a: i32, b: i32, c: i32| ((i64::from(a) * i64::from(b) >> 32) as i32).wrapping_add(c)),
            Ty::U64 => tri(|a: u64, b: u64, c: u64| ((u128::from(a) * u128::from(b) >> 64) as u64).wrapping_add(c)),
            Ty::S64 => tri(|a: i64, b: i64, c: i64| ((i128::from(a) * i128::from(b) >> 64) as i64).wrapping_add(c)),
            _ => return i.unsupported(),
        },
        _ => {
            d = wider(ty)?;
            match ty {
                Ty::U16 => tri(|a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c)),
                Ty::S16 => tri(|a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c)),
                Ty::U32 => tri(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c)),
                _ => tri(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c)),
            }
        }
    };
    e.simple3(i, run, d, ty, ty, d)?;
    e.native(match (half, ty) {
        ("lo", Ty::S32 | Ty::U32) => Native::Mad32,
        ("lo", Ty::S64 | Ty::U64) => Native::Mad64,
        ("wide", Ty::S32) => Native::MadWideS,
        ("wide", Ty::U32) => Native::MadWideU,
        _ => Native::No,
    });
    Ok(())
}

#[inline(always)]
fn low24(a: i32) -> i64 {
    i64::from(a << 8 >> 8)
}

fn mul24(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let hi = i.take("hi");
    if !hi && !i.take("lo") {
        return i.unsupported();
    }
    let ty = i.ty()?;
    let run = match (ty, hi) {
        (Ty::U32, false) => bin(|a: u32, b: u32| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff)),
        (Ty::U32, true) => bin(|a: u32, b: u32| (u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff) >> 16) as u32),
        (Ty::S32, false) => bin(|a: i32, b: i32| (low24(a) * low24(b)) as i32),
        (Ty::S32, true) => bin(|a: i32, b: i32| (low24(a) * low24(b) >> 16) as i32),
        _ => return i.unsupported(),
    };
    e.simple2(i, run, ty, ty, ty)
}

fn mad24(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let hi = i.take("hi");
    if !hi && !i.take("lo") {
        return i.unsupported();
    }
    let sat = i.take("sat");
    let ty = i.ty()?;
    let run = match (ty, hi, sat) {
        (Ty::U32, false, false) => {
            tri(|a: u32, b: u32, c: u32| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c))
        }
        (Ty::U32, true, false) => tri(|a: u32, b: u32, c: u32| {
            ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff) >> 16) as u32).wrapping_add(c)
        }),
        (Ty::S32, false, false) => tri(|a: i32, b: i32, c: i32| ((low24(a) * low24(b)) as i32).wrapping_add(c)),
        (Ty::S32, true, false) => tri(|a: i32, b: i32, c: i32| ((low24(a) * low24(b) >> 16) as i32).wrapping_add(c)),
        (Ty::S32, true, true) => tri(|a: i32, b: i32, c: i32| ((low24(a) * low24(b) >> 16) as i32).saturating_add(c)),
        _ => return i.unsupported(),
    };
    e.simple3(i, run, ty, ty, ty, ty)
}

/// The low 32 bits of the whole part of a quotient of 32-bit integers: eight lanes at a time, where integers divide one by
/// one. The quotient in f64 is off by less than 2^-53 of itself, and what is no whole number lies at least 1 / b from the
/// next one, which is more, for a b has no 64 bits.
#[inline(always)]
fn quotient(a: f64, b: f64) -> u32 {
    // Added to this, a whole number ends up in the lowest bits, also a negative one.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    ((a / b).trunc() + WHOLE).to_bits() as u32
}

fn div(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let Some(ty) = i.take_int() else { return float::div(e, i) };
    // By zero the hardware's own division routine gives all ones; PTX leaves it open.
    let run = match ty {
        Ty::U16 => each_bin(|a: u16, b: u16| a.checked_div(b).unwrap_or(u16::MAX)),
        Ty::S16 => each_bin(|a: i16, b: i16| if b == 0 { -1 } else { a.wrapping_div(b) }),
        Ty::U32 => bin(|a: u32, b: u32| if b == 0 { u32::MAX } else { quotient(a.into(), b.into()) }),
        Ty::S32 => bin(|a: i32, b: i32| if b == 0 { u32::MAX } else { quotient(a.into(), b.into()) }),
        Ty::U64 => each_bin(|a: u64, b: u64| a.checked_div(b).unwrap_or(u64::MAX)),
        Ty::S64 => each_bin(|a: i64, b: i64| if b == 0 { -1 } else { a.wrapping_div(b) }),
        _ => return i.unsupported(),
    };
    e.simple2(i, run, ty, ty, ty)
}

fn rem(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    // By zero: all ones, as for `div`.
    let run = match ty {
        Ty::U16 => each_bin(|a: u16, b: u16| a.checked_rem(b).unwrap_or(!0)),
        Ty::S16 => each_bin(|a: i16, b: i16| if b == 0 { -1 } else { a.wrapping_rem(b) }),
        Ty::U32 => bin(|a: u32, b: u32| {
            let rest = a.wrapping_sub(quotient(a.into(), b.into()).wrapping_mul(b));
            if b == 0 { u32::MAX } else { rest }
        }),
        Ty::S32 => bin(|a: i32, b: i32| {
            let rest = (a as u32).wrapping_sub(quotient(a.into(), b.into()).wrapping_mul(b as u32));
            if b == 0 { u32::MAX } else { rest }
        }),
        Ty::U64 => each_bin(|a: u64, b: u64| a.checked_rem(b).unwrap_or(!0)),
        Ty::S64 => each_bin(|a: i64, b: i64| if b == 0 { -1 } else { a.wrapping_rem(b) }),
        _ => return i.unsupported(),
    };
    e.simple2(i, run, ty, ty, ty)
}

fn sad(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    let run = match ty {
        Ty::U16 => tri(|a: u16, b: u16, c: u16| c.wrapping_add(a.abs_diff(b))),
        Ty::S16 => tri(|a: i16, b: i16, c: u16| c.wrapping_add(a.abs_diff(b))),
        Ty::U32 => tri(|a: u32, b: u32, c: u32| c.wrapping_add(a.abs_diff(b))),
        Ty::S32 => tri(|a: i32, b: i32, c: u32| c.wrapping_add(a.abs_diff(b))),
        Ty::U64 => tri(|a: u64, b: u64, c: u64| c.wrapping_add(a.abs_diff(b))),
        Ty::S64 => tri(|a: i64, b: i64, c: u64| c.wrapping_add(a.abs_diff(b))),
        _ => return i.unsupported(),
    };
    e.simple3(i, run, ty, ty, ty, ty)
}

fn abs(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ftz = i.take("ftz");
    let ty = i.ty()?;
    let run = match ty {
        Ty::S16 => un(|a: i16| a.wrapping_abs()),
        Ty::S32 => un(|a: i32| a.wrapping_abs()),
        Ty::S64 => un(|a: i64| a.wrapping_abs()),
        _ => return float::abs_neg(e, i, ty, ftz, true),
    };
    e.simple1(i, run, ty, ty)
}

fn neg(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ftz = i.take("ftz");
    let ty = i.ty()?;
    let run = match ty {
        Ty::S16 => un(|a: i16| a.wrapping_neg()),
        Ty::S32 => un(|a: i32| a.wrapping_neg()),
        Ty::S64 => un(|a: i64| a.wrapping_neg()),
        _ => return float::abs_neg(e, i, ty, ftz, false),
    };
    e.simple1(i, run, ty, ty)?;
    e.native(if ty == Ty::S32 { Native::NegS32 } else { Native::No });
    Ok(())
}

fn min_max(e: &mut Emit<'_>, i: &mut Inst<'_>, min: bool) -> Decoded<()> {
    let Some(ty) = i.take_int() else { return float::min_max(e, i, min) };
    let relu = i.take("relu");
    let run = match (ty, min) {
        (Ty::U16x2, true) => bin(|a: u32, b: u32| halves(a, b, |a, b| a.min(b))),
        (Ty::U16x2, false) => bin(|a: u32, b: u32| halves(a, b, |a, b| a.max(b))),
        (Ty::S16x2, true) if relu => bin(|a: u32, b: u32| halves(a, b, |a, b| (a as i16).min(b as i16).max(0) as u16)),
        (Ty::S16x2, false) if relu => bin(|a: u32, b: u32| halves(a, b, |a, b| (a as i16).max(b as i16).max(0) as u16)),
        (Ty::S16x2, true) => bin(|a: u32, b: u32| halves(a, b, |a, b| (a as i16).min(b as i16) as u16)),
        (Ty::S16x2, false) => bin(|a: u32, b: u32| halves(a, b, |a, b| (a as i16).max(b as i16) as u16)),
        (Ty::S32, true) if relu => bin(|a: i32, b: i32| a.min(b).max(0)),
        (Ty::S32, false) if relu => bin(|a: i32, b: i32| a.max(b).max(0)),
        _ if relu => return i.unsupported(),
        (_, true) => by_int!(ty, bin, |a, b| a.min(b)),
        (_, false) => by_int!(ty, bin, |a, b| a.max(b)),
    };
    e.simple2(i, run, ty, ty, ty)?;
    e.native(match (ty, min) {
        _ if relu => Native::No,
        (Ty::S32, true) => Native::MinS32,
        (Ty::S32, false) => Native::MaxS32,
        (Ty::U32, true) => Native::MinU32,
        (Ty::U32, false) => Native::MaxU32,
        _ => Native::No,
    });
    Ok(())
}
