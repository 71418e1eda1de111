//! `cvt` to and from the packed formats of 8 bits and fewer.

use super::Ty;
use super::convert::{narrow_of, overflow, relu};
use super::float::rounding_from;
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{bin, imm_bin, imm_tri, imm_un, un};
use crate::exec::op::{Exec, Flow, Op, Taint};
use crate::num::pack::{self, Narrow};
use crate::num::{Overflow, Rounding};
use crate::ptx::tree::Operand;

const NARROW_SHIFT: u32 = 48;
/// A pair of scales that are 1.
const ONES: u16 = 0x7f7f;

#[inline(always)]
fn narrow_from(code: i64) -> Narrow {
    Narrow::ALL[(code >> NARROW_SHIFT & 7) as usize % Narrow::ALL.len()]
}

fn code_of(narrow: Narrow) -> i64 {
    Narrow::ALL.iter().position(|n| *n == narrow).unwrap_or(0) as i64
}

/// `$run` for a format that it knows as `$known`: a loop over lanes that asks for none is much faster.
macro_rules! of_format {
    ($narrow:expr, $known:ident, $run:expr) => {
        match $narrow {
            Narrow::E4m3 => {
                const $known: Narrow = Narrow::E4m3;
                $run
            }
            Narrow::E5m2 => {
                const $known: Narrow = Narrow::E5m2;
                $run
            }
            Narrow::E3m2 => {
                const $known: Narrow = Narrow::E3m2;
                $run
            }
            Narrow::E2m3 => {
                const $known: Narrow = Narrow::E2m3;
                $run
            }
            Narrow::E2m1 => {
                const $known: Narrow = Narrow::E2m1;
                $run
            }
        }
    };
}

/// Two values to nearest, which is how they mostly are made.
fn nearest2(narrow: Narrow, from: Ty, relu: bool) -> Exec {
    const RN: Rounding = Rounding::Rn;
    match (from, relu) {
        (Ty::F16x2, false) => of_format!(narrow, KNOWN, un(|a: u32| pack::narrow2_f16x2(KNOWN, a, RN, false) as u16)),
        (Ty::F16x2, true) => of_format!(narrow, KNOWN, un(|a: u32| pack::narrow2_f16x2(KNOWN, a, RN, true) as u16)),
        (Ty::BF16x2, false) => of_format!(narrow, KNOWN, un(|a: u32| pack::narrow2_bf16x2(KNOWN, a, RN, false) as u16)),
        (Ty::BF16x2, true) => of_format!(narrow, KNOWN, un(|a: u32| pack::narrow2_bf16x2(KNOWN, a, RN, true) as u16)),
        (_, false) => of_format!(narrow, KNOWN, bin(|a: f32, b: f32| pack::narrow2(KNOWN, a, b, RN, false) as u16)),
        (_, true) => of_format!(narrow, KNOWN, bin(|a: f32, b: f32| pack::narrow2(KNOWN, a, b, RN, true) as u16)),
    }
}

/// The two values of a register.
fn wide2(narrow: Narrow, to: Ty, relu: bool) -> Exec {
    match (to, relu) {
        (Ty::F16x2, false) => of_format!(narrow, KNOWN, un(|a: u16| pack::widen2_f16x2(KNOWN, u32::from(a), false))),
        (Ty::F16x2, true) => of_format!(narrow, KNOWN, un(|a: u16| pack::widen2_f16x2(KNOWN, u32::from(a), true))),
        (_, false) => of_format!(narrow, KNOWN, un(|a: u16| pack::widen2_bf16x2(KNOWN, u32::from(a), false))),
        (_, true) => of_format!(narrow, KNOWN, un(|a: u16| pack::widen2_bf16x2(KNOWN, u32::from(a), true))),
    }
}

/// Decodes a `cvt` with a narrow type `name`; `imm` holds the other modifiers.
pub fn cvt(e: &mut Emit<'_>, i: &mut Inst<'_>, name: &str, stochastic: bool, imm: i64) -> Decoded<()> {
    let other = i.ty()?;
    // The narrow type is the destination when it stands first.
    let to_narrow = i.opcode.find(name) < i.opcode.rfind(type_name(other));
    if name == "ue8m0x2" {
        return scale(e, i, other, to_narrow, imm);
    }
    let scaled = i.take("scaled::n2::ue8m0");
    if name == "s2f6x2" {
        return fixed(e, i, other, to_narrow, scaled, imm);
    }
    let Some(narrow) = narrow_of(name) else { return i.unsupported() };
    let imm = imm | code_of(narrow) << NARROW_SHIFT;
    if scaled {
        return scaled_up(e, i, other, to_narrow, imm);
    }
    if name.ends_with("x4") {
        return four(e, i, narrow, stochastic, imm);
    }
    if stochastic {
        return i.unsupported();
    }
    // A pair of 4-bit values is an 8-bit register, held like a 16-bit one.
    let packed = Ty::B16;
    let mut op;
    let nearest = rounding_from(imm) == Rounding::Rn;
    match (to_narrow, other) {
        (true, Ty::F32) if nearest => {
            i.expect(3)?;
            op = e.op(nearest2(narrow, other, relu(imm)));
            op.a = e.src(&i.operands[1], Ty::F32)?;
            op.b = e.src(&i.operands[2], Ty::F32)?;
            op.d = e.dst(&i.operands[0], packed)?;
        }
        (true, Ty::F16x2 | Ty::BF16x2) if nearest => {
            i.expect(2)?;
            op = e.op(nearest2(narrow, other, relu(imm)));
            op.a = e.src(&i.operands[1], other)?;
            op.d = e.dst(&i.operands[0], packed)?;
        }
        (true, Ty::F32) => {
            i.expect(3)?;
            op = e
                .op(imm_bin(|m, a: f32, b: f32| pack::narrow2(narrow_from(m), a, b, rounding_from(m), relu(m)) as u16));
            op.a = e.src(&i.operands[1], Ty::F32)?;
            op.b = e.src(&i.operands[2], Ty::F32)?;
            op.d = e.dst(&i.operands[0], packed)?;
        }
        (true, Ty::F16x2 | Ty::BF16x2) => {
            i.expect(2)?;
            let run: Exec = if other == Ty::F16x2 {
                imm_un(|m, a: u32| pack::narrow2_f16x2(narrow_from(m), a, rounding_from(m), relu(m)) as u16)
            } else {
                imm_un(|m, a: u32| pack::narrow2_bf16x2(narrow_from(m), a, rounding_from(m), relu(m)) as u16)
            };
            op = e.op(run);
            op.a = e.src(&i.operands[1], other)?;
            op.d = e.dst(&i.operands[0], packed)?;
        }
        (false, Ty::F16x2 | Ty::BF16x2) => {
            i.expect(2)?;
            let finite = overflow(imm) == Overflow::Saturate;
            let run: Exec = match other {
                Ty::F16x2 if finite => return i.unsupported(),
                Ty::F16x2 => wide2(narrow, other, relu(imm)),
                // An infinity of e5m2 is the one value that `.satfinite` changes.
                _ if finite => imm_un(|m, a: u16| {
                    pack::widen2_bf16x2_scaled(narrow_from(m), u32::from(a), ONES, Overflow::Saturate, relu(m))
                }),
                _ => wide2(narrow, other, relu(imm)),
            };
            op = e.op(run);
            op.a = e.src(&i.operands[1], packed)?;
            op.d = e.dst(&i.operands[0], other)?;
        }
        _ => return i.unsupported(),
    }
    op.imm = imm;
    e.push(op, Taint::Compute);
    Ok(())
}

fn type_name(ty: Ty) -> &'static str {
    match ty {
        Ty::F16x2 => ".f16x2",
        Ty::BF16x2 => ".bf16x2",
        _ => ".f32",
    }
}

/// `.s2f6x2`, with a pair of scales or with 1.
fn fixed(e: &mut Emit<'_>, i: &mut Inst<'_>, other: Ty, to_narrow: bool, scaled: bool, imm: i64) -> Decoded<()> {
    let inputs = if to_narrow && other == Ty::F32 { 2 } else { 1 };
    i.expect(1 + inputs + usize::from(scaled))?;
    let scale = |e: &mut Emit<'_>| match i.operands.get(1 + inputs) {
        Some(operand) => e.src(operand, Ty::B16),
        None => Ok(e.pool.splat(ONES.into(), 32)),
    };
    let mut op;
    match (to_narrow, other) {
        (true, Ty::F32) => {
            op = e.op(imm_tri(|m, a: f32, b: f32, scale: u16| pack::s2f6x2(a, b, scale, relu(m)) as u16));
            op.a = e.src(&i.operands[1], Ty::F32)?;
            op.b = e.src(&i.operands[2], Ty::F32)?;
            op.c = scale(e)?;
            op.d = e.dst(&i.operands[0], Ty::B16)?;
        }
        (true, Ty::BF16x2) => {
            op = e.op(imm_bin(|m, a: u32, scale: u16| {
                let half = |bits: u32| crate::num::half::bf16_to_f32(bits as u16);
                pack::s2f6x2(half(a >> 16), half(a), scale, relu(m)) as u16
            }));
            op.a = e.src(&i.operands[1], other)?;
            op.b = scale(e)?;
            op.d = e.dst(&i.operands[0], Ty::B16)?;
        }
        (false, Ty::BF16x2) => {
            op = e.op(imm_bin(|m, a: u16, scale: u16| {
                pack::bf16x2_from_s2f6x2(u32::from(a), scale, overflow(m), relu(m))
            }));
            op.a = e.src(&i.operands[1], Ty::B16)?;
            op.b = scale(e)?;
            op.d = e.dst(&i.operands[0], other)?;
        }
        _ => return i.unsupported(),
    }
    op.imm = imm;
    e.push(op, Taint::Compute);
    Ok(())
}

/// `cvt.rn{.satfinite}{.relu}.scaled::n2::ue8m0.bf16x2.e4m3x2 d, a, scale` and its siblings.
fn scaled_up(e: &mut Emit<'_>, i: &mut Inst<'_>, other: Ty, to_narrow: bool, imm: i64) -> Decoded<()> {
    if to_narrow || other != Ty::BF16x2 {
        return i.unsupported();
    }
    i.expect(3)?;
    let mut op = e.op(imm_bin(|m, a: u16, scale: u16| {
        pack::widen2_bf16x2_scaled(narrow_from(m), u32::from(a), scale, overflow(m), relu(m))
    }));
    op.a = e.src(&i.operands[1], Ty::B16)?;
    op.b = e.src(&i.operands[2], Ty::B16)?;
    op.d = e.dst(&i.operands[0], other)?;
    op.imm = imm;
    e.push(op, Taint::Compute);
    Ok(())
}

/// Power-of-two scales.
fn scale(e: &mut Emit<'_>, i: &mut Inst<'_>, other: Ty, to_narrow: bool, imm: i64) -> Decoded<()> {
    let mut op;
    match (to_narrow, other) {
        (true, Ty::F32) => {
            i.expect(3)?;
            op = e.op(imm_bin(|m, a: f32, b: f32| pack::ue8m0x2(a, b, rounding_from(m), overflow(m)) as u16));
            op.a = e.src(&i.operands[1], Ty::F32)?;
            op.b = e.src(&i.operands[2], Ty::F32)?;
            op.d = e.dst(&i.operands[0], Ty::B16)?;
        }
        (true, Ty::BF16x2) => {
            i.expect(2)?;
            op = e.op(imm_un(|m, a: u32| {
                let half = |bits: u32| crate::num::half::bf16_to_f32(bits as u16);
                pack::ue8m0x2(half(a >> 16), half(a), rounding_from(m), overflow(m)) as u16
            }));
            op.a = e.src(&i.operands[1], other)?;
            op.d = e.dst(&i.operands[0], Ty::B16)?;
        }
        (false, Ty::BF16x2) => {
            i.expect(2)?;
            op = e.op(imm_un(|_, a: u16| pack::bf16x2_from_ue8m0x2(u32::from(a))));
            op.a = e.src(&i.operands[1], Ty::B16)?;
            op.d = e.dst(&i.operands[0], other)?;
        }
        _ => return i.unsupported(),
    }
    op.imm = imm;
    e.push(op, Taint::Compute);
    Ok(())
}

/// `cvt.rs.satfinite.e4m3x4.f32 d, {a, b, e, f}, rbits`.
fn four(e: &mut Emit<'_>, i: &mut Inst<'_>, narrow: Narrow, stochastic: bool, imm: i64) -> Decoded<()> {
    i.expect(3)?;
    let Operand::Vector(values) = &i.operands[1] else { return i.unsupported() };
    if !stochastic || values.len() != 4 {
        return i.unsupported();
    }
    let mut slots = Vec::new();
    for value in values {
        slots.push(e.src(value, Ty::F32)?);
    }
    let mut op = e.op(four_exec);
    (op.list, op.list_len) = e.list(&slots);
    op.b = e.src(&i.operands[2], Ty::B32)?;
    // Four 4-bit values make 16 bits, four 8-bit ones 32.
    op.d = e.dst(&i.operands[0], if narrow == Narrow::E2m1 { Ty::B16 } else { Ty::B32 })?;
    op.imm = imm;
    e.push(op, Taint::Compute);
    Ok(())
}

unsafe fn four_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let slots = cx.image().list(op);
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction; the list has four.
        unsafe {
            let value = |index: usize| cx.lane::<f32>(slots[index], lane);
            let values = [value(0), value(1), value(2), value(3)];
            let bits = cx.lane::<u32>(op.b, lane);
            let out = pack::narrow4_rs(narrow_from(op.imm), values, bits, relu(op.imm));
            cx.set_lane::<u32>(op.d, lane, out);
        }
    }
    Flow::Next
}
