//! Floating-point arithmetic: f32, f64, f32x2 and the approximate functions. The opcodes shared with integers come
//! here from `arithmetic.rs`; 16-bit formats go on to `half.rs`.

mod extremes;

pub use extremes::{min_max, unpack};

use super::{Row, Ty, example, half};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::lanes::{bin, each_un, imm_bin, imm_tri, imm_un, tri, un};
use crate::exec::op::{Exec, Taint};
use crate::exec::rarely::{bin_rarely, tri_rarely};
use crate::exec::template::Native;
use crate::num::arith32::{self, Mode};
use crate::num::{Rounding, approx, arith64, canonical, flush};
use crate::report::Class;

pub const ROWS: &[Row] = &[
    Row {
        opcode: "fma",
        class: Class::Float32,
        decode: fma,
        examples: &[
            example(
                "fma.rn.f32 %d, %a, %b, %c;",
                &[(32, 0x4000_0000), (32, 0x4040_0000), (32, 0x3f80_0000)],
                (32, 0x40e0_0000),
            ),
            example(
                "fma.rn.f64 %d, %a, %b, %c;",
                &[(64, 0x4000_0000_0000_0000), (64, 0x4008_0000_0000_0000), (64, 0x3ff0_0000_0000_0000)],
                (64, 0x401c_0000_0000_0000),
            ),
            // These and others below were recorded on an H200. A result that would be subnormal but for its rounding is
            // flushed.
            example(
                "fma.rp.ftz.f32 %d, %a, %b, %c;",
                &[(32, 0x8080_0000), (32, 0xbf7f_ffff), (32, 0x007f_ffff)],
                (32, 0),
            ),
            example(
                "fma.rn.ftz.f16x2 %d, %a, %b, %c;",
                &[(32, 0x8400_8400), (32, 0xbbff_bbff), (32, 0x7800_8000)],
                (32, 0x7800_0000),
            ),
            example(
                "fma.rn.f64 %d, %a, %b, %c;",
                &[(64, 0x7ff8_0000_0000_0000), (64, 0x8010_0000_0000_0000), (64, 0xfff7_ffff_ffff_ffff)],
                (64, 0xffff_ffff_ffff_ffff),
            ),
        ],
    },
    Row {
        opcode: "rcp",
        class: Class::Special,
        decode: rcp,
        examples: &[
            example("rcp.rn.f32 %d, %a;", &[(32, 0x4000_0000)], (32, 0x3f00_0000)),
            example("rcp.approx.ftz.f32 %d, %a;", &[(32, 0x4080_0000)], (32, 0x3e80_0000)),
            example("rcp.approx.ftz.f64 %d, %a;", &[(64, 0xfff0_0000_0000_0001)], (64, 0x8000_0000_0000_0000)),
        ],
    },
    Row {
        opcode: "sqrt",
        class: Class::Special,
        decode: sqrt,
        examples: &[
            example("sqrt.rn.f32 %d, %a;", &[(32, 0x4080_0000)], (32, 0x4000_0000)),
            example("sqrt.rn.f64 %d, %a;", &[(64, 0x4010_0000_0000_0000)], (64, 0x4000_0000_0000_0000)),
            example("sqrt.approx.f32 %d, %a;", &[(32, 0xbf80_0000)], (32, 0x7fff_ffff)),
        ],
    },
    Row {
        opcode: "rsqrt",
        class: Class::Special,
        decode: rsqrt,
        examples: &[
            example("rsqrt.approx.f32 %d, %a;", &[(32, 0x4080_0000)], (32, 0x3f00_0000)),
            example("rsqrt.approx.f64 %d, %a;", &[(64, 2)], (64, 0x6176_a09e_667f_3bcd)),
            example("rsqrt.approx.f64 %d, %a;", &[(64, 0x000f_ffff_ffff_ffff)], (64, 0x5fe0_0000_0000_0001)),
        ],
    },
    Row {
        opcode: "ex2",
        class: Class::Special,
        decode: |e, i| approximate(e, i, "ex2"),
        examples: &[example("ex2.approx.ftz.f32 %d, %a;", &[(32, 0x4040_0000)], (32, 0x4100_0000))],
    },
    Row {
        opcode: "lg2",
        class: Class::Special,
        decode: |e, i| approximate(e, i, "lg2"),
        examples: &[example("lg2.approx.f32 %d, %a;", &[(32, 0x4100_0000)], (32, 0x4040_0000))],
    },
    Row {
        opcode: "sin",
        class: Class::Special,
        decode: |e, i| approximate(e, i, "sin"),
        examples: &[example("sin.approx.f32 %d, %a;", &[(32, 0)], (32, 0))],
    },
    Row {
        opcode: "cos",
        class: Class::Special,
        decode: |e, i| approximate(e, i, "cos"),
        examples: &[example("cos.approx.f32 %d, %a;", &[(32, 0)], (32, 0x3f80_0000))],
    },
    Row {
        opcode: "tanh",
        class: Class::Special,
        decode: |e, i| approximate(e, i, "tanh"),
        examples: &[example("tanh.approx.f32 %d, %a;", &[(32, 0)], (32, 0))],
    },
    Row {
        opcode: "copysign",
        class: Class::Float32,
        decode: copysign,
        examples: &[example("copysign.f32 %d, %a, %b;", &[(32, 0x8000_0000), (32, 0x3f80_0000)], (32, 0xbf80_0000))],
    },
    Row { opcode: "testp", class: Class::Compare, decode: testp, examples: &[] },
];

/// Rounding, flush-to-zero and saturation of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    pub rounding: Rounding,
    pub ftz: bool,
    pub sat: bool,
}

impl Modes {
    pub fn take(i: &mut Inst<'_>) -> Modes {
        let rounding = match i.take_any(&["rn", "rz", "rm", "rp"]) {
            Some("rz") => Rounding::Rz,
            Some("rm") => Rounding::Rm,
            Some("rp") => Rounding::Rp,
            _ => Rounding::Rn,
        };
        Modes { rounding, ftz: i.take("ftz"), sat: i.take("sat") }
    }

    pub fn plain(self) -> bool {
        self.rounding == Rounding::Rn && !self.ftz && !self.sat
    }

    /// For `Op::imm`.
    pub fn code(self) -> i64 {
        rounding_code(self.rounding) | i64::from(self.ftz) << 4 | i64::from(self.sat) << 5
    }
}

/// What `-ftz=true`, and with it `--use_fast_math`, puts on every f32 instruction.
const FTZ: Modes = Modes { rounding: Rounding::Rn, ftz: true, sat: false };
const FLUSHING: Mode = Mode { ftz: true, ..Mode::RN };

/// Whether a flushed result may have come from just below the least normal number: see [`arith32::mul`].
#[inline(always)]
fn least_normal(x: f32) -> bool {
    x.abs() == f32::MIN_POSITIVE
}

pub fn rounding_code(rounding: Rounding) -> i64 {
    match rounding {
        Rounding::Rz => 1,
        Rounding::Rm => 2,
        Rounding::Rp => 3,
        Rounding::Rna => 4,
        _ => 0,
    }
}

#[inline(always)]
pub fn rounding_from(code: i64) -> Rounding {
    match code & 7 {
        1 => Rounding::Rz,
        2 => Rounding::Rm,
        3 => Rounding::Rp,
        4 => Rounding::Rna,
        _ => Rounding::Rn,
    }
}

#[inline(always)]
fn mode(code: i64) -> Mode {
    Mode { rounding: rounding_from(code), ftz: code & 16 != 0, sat: code & 32 != 0 }
}

/// An operation on f32 with one of the modifiers that are a loop of their own: a rounding, or saturation. `rest`: others, of
/// which no compiler writes many.
macro_rules! f32_by_mode {
    ($modes:expr, $make:ident, ($($x:ident),+), $op:path, $rest:expr) => {
        match $modes {
            Modes { rounding: Rounding::Rz, ftz: false, sat: false } => {
                $make(|$($x: f32),+| $op($($x),+, Mode { rounding: Rounding::Rz, ..Mode::RN }))
            }
            Modes { rounding: Rounding::Rm, ftz: false, sat: false } => {
                $make(|$($x: f32),+| $op($($x),+, Mode { rounding: Rounding::Rm, ..Mode::RN }))
            }
            Modes { rounding: Rounding::Rp, ftz: false, sat: false } => {
                $make(|$($x: f32),+| $op($($x),+, Mode { rounding: Rounding::Rp, ..Mode::RN }))
            }
            Modes { rounding: Rounding::Rn, ftz: false, sat: true } => {
                $make(|$($x: f32),+| $op($($x),+, Mode { sat: true, ..Mode::RN }))
            }
            _ => $rest,
        }
    };
}

fn emit2(e: &mut Emit<'_>, i: &Inst<'_>, run: Exec, ty: Ty, imm: i64) -> Decoded<()> {
    i.expect(3)?;
    e.class = class_of(ty);
    let mut op = e.op(run);
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    op.d = e.dst(&i.operands[0], ty)?;
    op.imm = imm;
    e.push(op, Taint::Compute);
    Ok(())
}

fn emit3(e: &mut Emit<'_>, i: &Inst<'_>, run: Exec, ty: Ty, imm: i64) -> Decoded<()> {
    i.expect(4)?;
    e.class = class_of(ty);
    let mut op = e.op(run);
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    op.c = e.src(&i.operands[3], ty)?;
    op.d = e.dst(&i.operands[0], ty)?;
    op.imm = imm;
    e.push(op, Taint::Compute);
    Ok(())
}

fn emit1(e: &mut Emit<'_>, i: &Inst<'_>, run: Exec, ty: Ty, imm: i64) -> Decoded<()> {
    i.expect(2)?;
    let mut op = e.op(run);
    op.a = e.src(&i.operands[1], ty)?;
    op.d = e.dst(&i.operands[0], ty)?;
    op.imm = imm;
    e.push(op, Taint::Compute);
    Ok(())
}

pub fn class_of(ty: Ty) -> Class {
    match ty {
        Ty::F64 => Class::Float64,
        Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2 => Class::FloatNarrow,
        _ => Class::Float32,
    }
}

pub fn add_sub(e: &mut Emit<'_>, i: &mut Inst<'_>, add: bool) -> Decoded<()> {
    let modes = Modes::take(i);
    let ty = i.ty()?;
    // `add.f32.f16`: the first operand (or the addend) is a narrow float that is widened first.
    if ty == Ty::F32
        && let Some(narrow) = i.ty_maybe()
    {
        return half::mixed(e, i, narrow, if add { half::Mixed::Add } else { half::Mixed::Sub }, modes);
    }
    let code = modes.code();
    let run: Exec = match (ty, add) {
        (Ty::F32, true) if modes.plain() => bin(|a: f32, b: f32| arith32::add(a, b, Mode::RN)),
        (Ty::F32, false) if modes.plain() => bin(|a: f32, b: f32| arith32::sub(a, b, Mode::RN)),
        (Ty::F32, true) if modes == FTZ => bin(|a: f32, b: f32| arith32::add(a, b, FLUSHING)),
        (Ty::F32, false) if modes == FTZ => bin(|a: f32, b: f32| arith32::sub(a, b, FLUSHING)),
        (Ty::F32, true) => {
            f32_by_mode!(modes, bin, (a, b), arith32::add, imm_bin(|m, a: f32, b: f32| arith32::add(a, b, mode(m))))
        }
        (Ty::F32, false) => {
            f32_by_mode!(modes, bin, (a, b), arith32::sub, imm_bin(|m, a: f32, b: f32| arith32::sub(a, b, mode(m))))
        }
        (Ty::F64, true) if modes.plain() => bin(|a: f64, b: f64| arith64::add(a, b, Rounding::Rn)),
        (Ty::F64, false) if modes.plain() => bin(|a: f64, b: f64| arith64::sub(a, b, Rounding::Rn)),
        (Ty::F64, true) => imm_bin(|m, a: f64, b: f64| arith64::add(a, b, rounding_from(m))),
        (Ty::F64, false) => imm_bin(|m, a: f64, b: f64| arith64::sub(a, b, rounding_from(m))),
        (Ty::F32x2, true) if modes.plain() => {
            bin(|a: u64, b: u64| arith32::pair(a, b, |a, b| arith32::add(a, b, Mode::RN)))
        }
        (Ty::F32x2, false) if modes.plain() => {
            bin(|a: u64, b: u64| arith32::pair(a, b, |a, b| arith32::sub(a, b, Mode::RN)))
        }
        (Ty::F32x2, true) => imm_bin(|m, a: u64, b: u64| arith32::pair(a, b, |a, b| arith32::add(a, b, mode(m)))),
        (Ty::F32x2, false) => imm_bin(|m, a: u64, b: u64| arith32::pair(a, b, |a, b| arith32::sub(a, b, mode(m)))),
        _ => return half::add_sub_mul(e, i, ty, modes, if add { half::Two::Add } else { half::Two::Sub }),
    };
    emit2(e, i, run, ty, code)?;
    e.native(match (ty, add) {
        (Ty::F32, true) if modes == FTZ => Native::AddFlushed,
        (Ty::F32, false) if modes == FTZ => Native::SubFlushed,
        _ if !modes.plain() => Native::No,
        (Ty::F32, true) => Native::AddF32,
        (Ty::F32, false) => Native::SubF32,
        (Ty::F64, true) => Native::AddF64,
        (Ty::F64, false) => Native::SubF64,
        _ => Native::No,
    });
    Ok(())
}

pub fn mul(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let modes = Modes::take(i);
    let ty = i.ty()?;
    let run: Exec = match ty {
        Ty::F32 if modes.plain() => bin(|a: f32, b: f32| arith32::mul(a, b, Mode::RN)),
        Ty::F32 if modes == FTZ => bin_rarely(
            |a: f32, b: f32| canonical(flush(flush(a) * flush(b))),
            least_normal,
            |a: f32, b: f32| arith32::mul(a, b, FLUSHING),
        ),
        Ty::F32 => {
            f32_by_mode!(modes, bin, (a, b), arith32::mul, imm_bin(|m, a: f32, b: f32| arith32::mul(a, b, mode(m))))
        }
        Ty::F64 if modes.plain() => bin(|a: f64, b: f64| arith64::mul(a, b, Rounding::Rn)),
        Ty::F64 => imm_bin(|m, a: f64, b: f64| arith64::mul(a, b, rounding_from(m))),
        Ty::F32x2 if modes.plain() => bin(|a: u64, b: u64| arith32::pair(a, b, |a, b| arith32::mul(a, b, Mode::RN))),
        Ty::F32x2 => imm_bin(|m, a: u64, b: u64| arith32::pair(a, b, |a, b| arith32::mul(a, b, mode(m)))),
        _ => return half::add_sub_mul(e, i, ty, modes, half::Two::Mul),
    };
    emit2(e, i, run, ty, modes.code())?;
    e.native(match ty {
        Ty::F32 if modes.plain() => Native::MulF32,
        Ty::F32 if modes == FTZ => Native::MulFlushed,
        Ty::F64 if modes.plain() => Native::MulF64,
        _ => Native::No,
    });
    Ok(())
}

pub fn fma(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let modes = Modes::take(i);
    let relu = i.take("relu");
    let oob = i.take("oob");
    let ty = i.ty()?;
    if ty == Ty::F32
        && let Some(narrow) = i.ty_maybe()
    {
        return half::mixed(e, i, narrow, half::Mixed::Fma, modes);
    }
    let run: Exec = match ty {
        Ty::F32 if modes.plain() => tri(|a: f32, b: f32, c: f32| canonical(a.mul_add(b, c))),
        Ty::F32 if modes == FTZ => tri_rarely(
            |a: f32, b: f32, c: f32| canonical(flush(flush(a).mul_add(flush(b), flush(c)))),
            least_normal,
            |a: f32, b: f32, c: f32| arith32::fma(a, b, c, FLUSHING),
        ),
        Ty::F32 => {
            let rest = imm_tri(|m, a: f32, b: f32, c: f32| arith32::fma(a, b, c, mode(m)));
            f32_by_mode!(modes, tri, (a, b, c), arith32::fma, rest)
        }
        Ty::F64 if modes.plain() => tri(|a: f64, b: f64, c: f64| arith64::fma(a, b, c, Rounding::Rn)),
        Ty::F64 => imm_tri(|m, a: f64, b: f64, c: f64| arith64::fma(a, b, c, rounding_from(m))),
        Ty::F32x2 if modes.plain() => tri(|a: u64, b: u64, c: u64| arith32::pair_fma(a, b, c, Mode::RN)),
        Ty::F32x2 => imm_tri(|m, a: u64, b: u64, c: u64| arith32::pair_fma(a, b, c, mode(m))),
        _ => return half::fma(e, i, ty, modes, relu, oob),
    };
    emit3(e, i, run, ty, modes.code())?;
    e.native(match ty {
        Ty::F32 if modes.plain() => Native::FmaF32,
        Ty::F32 if modes == FTZ => Native::FmaFlushed,
        Ty::F64 if modes.plain() => Native::FmaF64,
        _ => Native::No,
    });
    Ok(())
}

pub fn div(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let approximate = i.take("approx");
    let full = i.take("full");
    let modes = Modes::take(i);
    let ty = i.ty()?;
    let run: Exec = match ty {
        Ty::F32 if approximate && modes.ftz => bin(|a: f32, b: f32| approx::div_approx(a, b, true)),
        Ty::F32 if approximate => bin(|a: f32, b: f32| approx::div_approx(a, b, false)),
        Ty::F32 if full && modes.ftz => bin(|a: f32, b: f32| approx::div_full(a, b, true)),
        Ty::F32 if full => bin(|a: f32, b: f32| approx::div_full(a, b, false)),
        Ty::F32 if modes.plain() => bin(|a: f32, b: f32| canonical(a / b)),
        Ty::F32 if modes == FTZ => bin_rarely(
            |a: f32, b: f32| canonical(flush(flush(a) / flush(b))),
            least_normal,
            |a: f32, b: f32| arith32::div(a, b, FLUSHING),
        ),
        Ty::F32 => imm_bin(|m, a: f32, b: f32| arith32::div(a, b, mode(m))),
        Ty::F64 if modes.plain() => bin(|a: f64, b: f64| arith64::div(a, b, Rounding::Rn)),
        Ty::F64 => imm_bin(|m, a: f64, b: f64| arith64::div(a, b, rounding_from(m))),
        _ => return i.unsupported(),
    };
    emit2(e, i, run, ty, modes.code())
}

fn rcp(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let approximate = i.take("approx");
    let modes = Modes::take(i);
    let ty = i.ty()?;
    let run: Exec = match ty {
        Ty::F32 if approximate && modes.ftz => un(|a: f32| approx::rcp(a, true)),
        Ty::F32 if approximate => un(|a: f32| approx::rcp(a, false)),
        Ty::F32 if modes.plain() => un(|a: f32| canonical(1.0 / a)),
        Ty::F32 => imm_un(|m, a: f32| arith32::rcp(a, mode(m))),
        Ty::F64 if approximate => each_un(approx_rcp64),
        Ty::F64 if modes.plain() => un(|a: f64| arith64::rcp(a, Rounding::Rn)),
        Ty::F64 => imm_un(|m, a: f64| arith64::rcp(a, rounding_from(m))),
        _ => return i.unsupported(),
    };
    emit1(e, i, run, ty, modes.code())
}

fn approx_rcp64(a: f64) -> f64 {
    approx::rcp64(a)
}

fn sqrt(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let approximate = i.take("approx");
    let modes = Modes::take(i);
    let ty = i.ty()?;
    let run: Exec = match ty {
        Ty::F32 if approximate && modes.ftz => un(|a: f32| approx::sqrt(a, true)),
        Ty::F32 if approximate => un(|a: f32| approx::sqrt(a, false)),
        Ty::F32 if modes.plain() => un(|a: f32| arith32::sqrt(a, Mode::RN)),
        Ty::F32 if modes == FTZ => un(|a: f32| arith32::sqrt(a, FLUSHING)),
        Ty::F32 => imm_un(|m, a: f32| arith32::sqrt(a, mode(m))),
        Ty::F64 if modes.plain() => un(|a: f64| arith64::sqrt(a, Rounding::Rn)),
        Ty::F64 => imm_un(|m, a: f64| arith64::sqrt(a, rounding_from(m))),
        _ => return i.unsupported(),
    };
    emit1(e, i, run, ty, modes.code())
}

fn rsqrt(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if !i.take("approx") {
        return i.unsupported();
    }
    let modes = Modes::take(i);
    let ty = i.ty()?;
    let run: Exec = match ty {
        Ty::F32 if modes.ftz => un(|a: f32| approx::rsqrt(a, true)),
        Ty::F32 => un(|a: f32| approx::rsqrt(a, false)),
        Ty::F64 if modes.ftz => each_un(|a: f64| approx::rsqrt64_ftz(a)),
        Ty::F64 => each_un(|a: f64| approx::rsqrt64(a)),
        _ => return i.unsupported(),
    };
    emit1(e, i, run, ty, modes.code())
}

fn approximate(e: &mut Emit<'_>, i: &mut Inst<'_>, what: &str) -> Decoded<()> {
    if !i.take("approx") {
        return i.unsupported();
    }
    let modes = Modes::take(i);
    let ty = i.ty()?;
    let run: Exec = match (what, ty) {
        ("ex2", Ty::F32) if modes.ftz => un(|a: f32| approx::ex2(a, true)),
        ("ex2", Ty::F32) => un(|a: f32| approx::ex2(a, false)),
        ("lg2", Ty::F32) if modes.ftz => un(|a: f32| approx::lg2(a, true)),
        ("lg2", Ty::F32) => un(|a: f32| approx::lg2(a, false)),
        ("sin", Ty::F32) if modes.ftz => un(|a: f32| approx::sin(a, true)),
        ("sin", Ty::F32) => un(|a: f32| approx::sin(a, false)),
        ("cos", Ty::F32) if modes.ftz => un(|a: f32| approx::cos(a, true)),
        ("cos", Ty::F32) => un(|a: f32| approx::cos(a, false)),
        ("tanh", Ty::F32) => un(|a: f32| approx::tanh(a)),
        _ => return half::approximate(e, i, what, ty),
    };
    emit1(e, i, run, ty, modes.code())
}

fn copysign(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    // The sign is that of the first source.
    let run: Exec = match ty {
        Ty::F32 => bin(|a: u32, b: u32| a & 0x8000_0000 | b & 0x7fff_ffff),
        Ty::F64 => bin(|a: u64, b: u64| a & 1 << 63 | b & !(1 << 63)),
        _ => return i.unsupported(),
    };
    emit2(e, i, run, ty, 0)
}

/// `result`, or the NaN of every f32 operation if `a` is one.
#[inline(always)]
fn quiet32(a: u32, result: u32) -> u32 {
    if a & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { result }
}

/// `result`, or `a` as a quiet NaN if it is one.
#[inline(always)]
fn quiet64(a: u64, result: u64) -> u64 {
    if a & !(1 << 63) > 0x7ff0 << 48 { a | 1 << 51 } else { result }
}

pub fn abs_neg(e: &mut Emit<'_>, i: &mut Inst<'_>, ty: Ty, ftz: bool, abs: bool) -> Decoded<()> {
    let run: Exec = match (ty, abs, ftz) {
        // Additions of -0 in hardware: a NaN comes out as one of theirs.
        (Ty::F32, true, false) => un(|a: u32| quiet32(a, a & 0x7fff_ffff)),
        (Ty::F32, true, true) => un(|a: f32| quiet32(a.to_bits(), flush(a).to_bits() & 0x7fff_ffff)),
        (Ty::F32, false, false) => un(|a: u32| quiet32(a, a ^ 0x8000_0000)),
        (Ty::F32, false, true) => un(|a: f32| quiet32(a.to_bits(), flush(a).to_bits() ^ 0x8000_0000)),
        (Ty::F64, true, _) => un(|a: u64| quiet64(a, a & !(1 << 63))),
        (Ty::F64, false, _) => un(|a: u64| quiet64(a, a ^ 1 << 63)),
        _ => return half::abs_neg(e, i, ty, ftz, abs),
    };
    e.class = class_of(ty);
    e.simple1(i, run, ty, ty)?;
    e.native(match (ty, abs, ftz) {
        (Ty::F32, true, false) => Native::AbsF32,
        (Ty::F32, false, false) => Native::NegF32,
        _ => Native::No,
    });
    Ok(())
}

fn testp(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    use crate::exec::lanes::test;
    let Some(what) = i.take_any(&["finite", "infinite", "number", "notanumber", "normal", "subnormal"]) else {
        return i.unsupported();
    };
    let ty = i.ty()?;
    // The hardware counts zeros as normal.
    let run: Exec = match (ty, what) {
        (Ty::F32, "finite") => test(|a: f32| a.is_finite()),
        (Ty::F32, "infinite") => test(|a: f32| a.is_infinite()),
        (Ty::F32, "number") => test(|a: f32| !a.is_nan()),
        (Ty::F32, "notanumber") => test(|a: f32| a.is_nan()),
        (Ty::F32, "normal") => test(|a: f32| a.is_normal() || a == 0.0),
        (Ty::F32, _) => test(|a: f32| a.is_subnormal()),
        (Ty::F64, "finite") => test(|a: f64| a.is_finite()),
        (Ty::F64, "infinite") => test(|a: f64| a.is_infinite()),
        (Ty::F64, "number") => test(|a: f64| !a.is_nan()),
        (Ty::F64, "notanumber") => test(|a: f64| a.is_nan()),
        (Ty::F64, "normal") => test(|a: f64| a.is_normal() || a == 0.0),
        (Ty::F64, _) => test(|a: f64| a.is_subnormal()),
        _ => return i.unsupported(),
    };
    i.expect(2)?;
    let mut op = e.op(run);
    op.a = e.src(&i.operands[1], ty)?;
    op.d = e.pred_dst(&i.operands[0])?;
    e.push(op, Taint::Compute);
    Ok(())
}
