//! Moves, packing and unpacking, address-space conversions.

use std::ops::{BitOr, Shl};

use super::{Row, Ty, example};
use crate::decode::emit::{Decoded, Emit, Entity, Inst};
use crate::decode::special;
use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{Body, Word, bin, blend, copy, exec_widest};
use crate::exec::op::{Exec, Flow, Op, Slot, Taint};
use crate::exec::template::Native;
use crate::memory::space::{Window, window_base, window_of};
use crate::ptx::tree::Operand;
use crate::report::Class;

pub const ROWS: &[Row] = &[
    Row {
        opcode: "mov",
        class: Class::Move,
        decode: mov,
        examples: &[
            example("mov.b32 %d, %a;", &[(32, 7)], (32, 7)),
            example("mov.b64 %d, {%a, %b};", &[(32, 7), (32, 9)], (64, 9 << 32 | 7)),
            example("mov.b32 %d, {%a, %b};", &[(16, 7), (16, 9)], (32, 9 << 16 | 7)),
            example("mov.b64 %d, {%a, %b, %b, %a};", &[(16, 7), (16, 9)], (64, 7 << 48 | 9 << 32 | 9 << 16 | 7)),
            example(
                "{.reg .b8 %e, %f; cvt.u8.u16 %e, %a; cvt.u8.u16 %f, %b; mov.b32 %d, {%e, %f, %e, %f};}",
                &[(16, 7), (16, 9)],
                (32, 0x0907_0907),
            ),
            example("{.reg .b16 %e<3>; mov.b64 {%e0, %e1, %e2, %d}, %a;}", &[(64, 9 << 48 | 7)], (16, 9)),
            example(
                "{.reg .b8 %e<4>; mov.b32 {%e0, %e1, %e2, %e3}, %a; cvt.u16.u8 %d, %e2;}",
                &[(32, 0x0102_0304)],
                (16, 2),
            ),
            example("mov.b64 {%d, _}, %a;", &[(64, 9 << 32 | 7)], (32, 7)),
            example("mov.f32 %d, 0f3F800000;", &[], (32, 0x3f80_0000)),
        ],
    },
    Row {
        opcode: "cvta",
        class: Class::Move,
        decode: cvta,
        examples: &[example("cvta.to.shared.u64 %d, %a;", &[(64, 0x7f00_0000_0010)], (64, 0x10))],
    },
    Row { opcode: "isspacep", class: Class::Compare, decode: isspacep, examples: &[] },
    Row { opcode: "alloca", class: Class::Local, decode: alloca, examples: &[] },
    Row { opcode: "stacksave", class: Class::Local, decode: stacksave, examples: &[] },
    Row { opcode: "stackrestore", class: Class::Local, decode: stackrestore, examples: &[] },
];

fn copy_exec(bits: u32) -> Exec {
    match bits {
        0..=32 => copy::<u32>(),
        64 => copy::<u64>(),
        _ => copy::<u128>(),
    }
}

fn mov(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let vector = i.take_any(&["v2", "v4"]);
    let ty = i.ty()?;
    i.expect(2)?;
    if ty == Ty::Pred && matches!(i.operands[1], Operand::Name("%is_explicit_cluster")) {
        special::allowed("%is_explicit_cluster", e.arch)?;
        let mut op = e.op(special::explicit_cluster);
        op.d = e.pred_dst(&i.operands[0])?;
        e.push(op, Taint::Copy);
        return Ok(());
    }
    if ty == Ty::Pred {
        let mut op = e.op(copy_pred);
        let (a, negated) = e.pred(&i.operands[1])?;
        op.a = a;
        op.imm = i64::from(negated);
        op.d = e.pred_dst(&i.operands[0])?;
        e.push(op, Taint::Copy);
        return Ok(());
    }
    match (&i.operands[0], &i.operands[1]) {
        (Operand::Vector(to), Operand::Vector(from)) if vector.is_some() => {
            if to.len() != from.len() {
                return i.unsupported();
            }
            for (to, from) in to.iter().zip(from) {
                let mut op = e.op(copy_exec(ty.bits()));
                op.a = e.src(from, ty)?;
                op.d = e.dst(to, ty)?;
                e.push(op, Taint::Copy);
            }
            Ok(())
        }
        (d, Operand::Vector(parts)) => pack(e, i, ty, d, parts),
        (Operand::Vector(parts), a) => unpack(e, i, ty, parts, a),
        (Operand::Name(to), Operand::Name(from))
            if matches!(e.find(to), Some(Entity::VectorReg(_)))
                && matches!(e.find(from), Some(Entity::VectorReg(_))) =>
        {
            let (Some(Entity::VectorReg(to)), Some(Entity::VectorReg(from))) = (e.find(to), e.find(from)) else {
                return i.unsupported();
            };
            for (to, from) in to.iter().zip(&from) {
                let mut op = e.op(copy_exec(ty.bits()));
                op.a = from.slot;
                op.d = to.slot;
                e.reads.push(from.slot);
                e.writes.push(to.slot);
                e.push(op, Taint::Copy);
            }
            Ok(())
        }
        (d, a) => {
            let mut op = e.op(copy_exec(ty.bits()));
            op.a = e.src(a, ty)?;
            op.d = e.dst(d, ty)?;
            e.push(op, Taint::Copy);
            e.native(match ty.bits() {
                0..=32 => Native::Mov32,
                64 => Native::Mov64,
                _ => Native::No,
            });
            Ok(())
        }
    }
}

unsafe fn copy_pred(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let value = cx.pred(op.a) ^ if op.imm != 0 { u32::MAX } else { 0 };
        if !op.d.is_none() {
            cx.set_pred(op.d, value);
        }
    }
    Flow::Next
}

fn part_type(i: &Inst<'_>, ty: Ty, count: usize) -> Decoded<Ty> {
    Ok(match ty.bits() as usize / count {
        8 => Ty::B8,
        16 => Ty::B16,
        32 => Ty::B32,
        64 => Ty::B64,
        _ => return i.unsupported(),
    })
}

fn pack(e: &mut Emit<'_>, i: &Inst<'_>, ty: Ty, d: &Operand<'_>, parts: &[Operand<'_>]) -> Decoded<()> {
    let part = part_type(i, ty, parts.len())?;
    let mut slots = Vec::new();
    for operand in parts {
        slots.push(e.src(operand, part)?);
    }
    let mut op = e.op(match (part.bits(), ty.bits()) {
        (32, 64) => halves(true),
        (16, 32) => bin(|a: u16, b: u16| u32::from(b) << 16 | u32::from(a)),
        (_, ..=32) => exec_widest::<Joined<u32>>(),
        (_, 64) => exec_widest::<Joined<u64>>(),
        _ => pack_exec,
    });
    if slots.len() == 2 {
        (op.a, op.b) = (slots[0], slots[1]);
    }
    op.imm = i64::from(part.bits()) | i64::from(ty.bits()) << 8;
    (op.list, op.list_len) = e.list(&slots);
    op.d = e.dst(d, ty)?;
    e.push(op, Taint::Copy);
    Ok(())
}

fn unpack(e: &mut Emit<'_>, i: &Inst<'_>, ty: Ty, parts: &[Operand<'_>], a: &Operand<'_>) -> Decoded<()> {
    let part = part_type(i, ty, parts.len())?;
    let source = e.src(a, ty)?;
    let mut slots = Vec::new();
    for operand in parts {
        slots.push(if *operand == Operand::Sink { Slot::NONE } else { e.dst(operand, part)? });
    }
    let mut op = e.op(match (part.bits(), ty.bits()) {
        (32, 64) => halves(false),
        (16, 32) => exec_widest::<Halves<u16, u32>>(),
        (8 | 16, ..=32) => exec_widest::<Parts<u32>>(),
        (8 | 16, 64) => exec_widest::<Parts<u64>>(),
        _ => unpack_exec,
    });
    op.a = source;
    op.imm = i64::from(part.bits()) | i64::from(ty.bits()) << 8;
    (op.list, op.list_len) = e.list(&slots);
    e.push(op, Taint::Copy);
    Ok(())
}

/// One lane of a row of any width as 128 bits.
///
/// # Safety
/// As [`Cx::row`].
#[inline(always)]
pub unsafe fn get_wide(cx: &Cx<'_>, slot: Slot, lane: usize, bits: u32) -> u128 {
    // SAFETY: passed on.
    unsafe {
        match bits {
            8 => u128::from(cx.lane::<u32>(slot, lane) as u8),
            16 => u128::from(cx.lane::<u32>(slot, lane) as u16),
            32 => u128::from(cx.lane::<u32>(slot, lane)),
            64 => u128::from(cx.lane::<u64>(slot, lane)),
            _ => cx.lane::<u128>(slot, lane),
        }
    }
}

/// Sets one lane of a row of any width.
///
/// # Safety
/// As [`Cx::row_mut`].
#[inline(always)]
pub unsafe fn set_wide(cx: &mut Cx<'_>, slot: Slot, lane: usize, bits: u32, value: u128) {
    // SAFETY: passed on.
    unsafe {
        match bits {
            8 => cx.set_lane::<u32>(slot, lane, u32::from(value as u8)),
            16 => cx.set_lane::<u32>(slot, lane, u32::from(value as u16)),
            32 => cx.set_lane::<u32>(slot, lane, value as u32),
            64 => cx.set_lane::<u64>(slot, lane, value as u64),
            _ => cx.set_lane::<u128>(slot, lane, value),
        }
    }
}

/// Two words as one of 64 bits (`join`: from `a` and `b`), or such a one as two (those of the list).
pub fn halves(join: bool) -> Exec {
    if join { bin(|a: u32, b: u32| u64::from(b) << 32 | u64::from(a)) } else { exec_widest::<Halves<u32, u64>>() }
}

unsafe fn pack_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (part, whole) = ((op.imm & 0xff) as u32, (op.imm >> 8) as u32);
    let slots = cx.image().list(op);
    for lane in lanes(cx.mask) {
        let mut value = 0;
        // SAFETY: slots of a decoded instruction.
        unsafe {
            for (index, slot) in slots.iter().enumerate() {
                value |= get_wide(cx, *slot, lane, part) << (index as u32 * part);
            }
            set_wide(cx, op.d, lane, whole, value);
        }
    }
    Flow::Next
}

/// The two halves of each lane.
struct Halves<P, W>(std::marker::PhantomData<(P, W)>);

impl<P: Word<Raw = u32>, W: Word<Raw: Into<u64>>> Body for Halves<P, W> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let bits = 8 * size_of::<P>();
        // SAFETY: slots of a decoded instruction. A target may be the source.
        unsafe {
            let whole = *cx.row::<W>(op.a);
            for (index, slot) in cx.image().list(op)[..2].iter().enumerate() {
                if slot.is_none() {
                    continue;
                }
                let mut out = [0u32; 32];
                for lane in 0..32 {
                    let part: u64 = whole[lane].into() >> (bits * index);
                    out[lane] = P::from_raw(part as u32).to_raw();
                }
                blend(cx.mask, cx.row_mut::<P>(*slot), &out);
            }
        }
        Flow::Next
    }
}

/// Words that several parts of at most 32 bits make.
struct Joined<W>(std::marker::PhantomData<W>);

impl<W: Word<Raw: From<u32> + Shl<u32, Output = W::Raw> + BitOr<Output = W::Raw>>> Body for Joined<W> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let bits = (op.imm & 0xff) as u32;
        let ones = u32::MAX >> (32 - bits);
        // SAFETY: slots of a decoded instruction. The target may be a source.
        unsafe {
            let mut out = [W::Raw::from(0u32); 32];
            for (index, slot) in cx.image().list(op).iter().enumerate() {
                let part = &*cx.row::<u32>(*slot);
                for lane in 0..32 {
                    out[lane] = out[lane] | W::Raw::from(part[lane] & ones) << (index as u32 * bits);
                }
            }
            blend(cx.mask, cx.row_mut::<W>(op.d), &out);
        }
        Flow::Next
    }
}

/// The parts of each lane, of 8 or 16 bits.
struct Parts<W>(std::marker::PhantomData<W>);

impl<W: Word<Raw: Into<u64>>> Body for Parts<W> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let bits = (op.imm & 0xff) as u32;
        let ones = (1u64 << bits) - 1;
        // SAFETY: slots of a decoded instruction. A target may be the source.
        unsafe {
            let whole = *cx.row::<W>(op.a);
            for (index, slot) in cx.image().list(op).iter().enumerate().filter(|(_, slot)| !slot.is_none()) {
                let mut out = [0u32; 32];
                for lane in 0..32 {
                    let value: u64 = whole[lane].into();
                    out[lane] = (value >> (index as u32 * bits) & ones) as u32;
                }
                blend(cx.mask, cx.row_mut::<u32>(*slot), &out);
            }
        }
        Flow::Next
    }
}

unsafe fn unpack_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (part, whole) = ((op.imm & 0xff) as u32, (op.imm >> 8) as u32);
    let slots = cx.image().list(op);
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let value = get_wide(cx, op.a, lane, whole);
            for (index, slot) in slots.iter().enumerate() {
                if !slot.is_none() {
                    set_wide(cx, *slot, lane, part, value >> (index as u32 * part));
                }
            }
        }
    }
    Flow::Next
}

fn window(i: &mut Inst<'_>) -> Decoded<Window> {
    Ok(
        match i.take_any(&[
            "global",
            "shared::cluster",
            "shared::cta",
            "shared",
            "local",
            "const",
            "param::entry",
            "param",
        ]) {
            Some("global") => Window::Global,
            Some("local") => Window::Local,
            Some("const") => Window::Const,
            Some("param" | "param::entry") => Window::Param,
            Some(_) => Window::Shared,
            None => return i.unsupported(),
        },
    )
}

fn cvta(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let to = i.take("to");
    let window = window(i)?;
    let ty = i.ty()?;
    i.expect(2)?;
    if ty.bits() == 32 {
        // The low halves of the windows' bases are 0, so that the low half of an address is the same in all.
        if e.arch.number >= 90 {
            return Err(format!("`{}` (a 32-bit generic address) ended with sm_89; use `.u64`", i.opcode));
        }
        let mut op = e.op(copy::<u32>());
        op.a = e.src(&i.operands[1], ty)?;
        op.d = e.dst(&i.operands[0], ty)?;
        e.push(op, Taint::Copy);
        return Ok(());
    }
    let base = window_base(window);
    let mut op = e.op(if base == 0 { copy::<u64>() } else { bin(|a: u64, b: u64| a.wrapping_add(b)) });
    op.b = e.pool.splat(if to { base.wrapping_neg() } else { base }.into(), 64);
    op.a = e.src(&i.operands[1], ty)?;
    op.d = e.dst(&i.operands[0], ty)?;
    e.push(op, Taint::Copy);
    e.native(if base == 0 { Native::Mov64 } else { Native::Add64 });
    Ok(())
}

fn isspacep(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let cta = i.take("shared::cta");
    let window = if cta { Window::Shared } else { window(i)? };
    i.expect(2)?;
    let mut op = e.op(is_space);
    op.imm = window as i64 | i64::from(cta) << 8;
    let narrow = matches!(&i.operands[1], Operand::Name(name) if e.reg(name).is_ok_and(|reg| reg.bits == 32));
    if narrow {
        op.imm |= NARROW;
    }
    op.a = e.src(&i.operands[1], if narrow { Ty::U32 } else { Ty::U64 })?;
    op.d = e.pred_dst(&i.operands[0])?;
    e.push(op, Taint::Compute);
    Ok(())
}

/// In `Op::imm` of `isspacep`: the address has 32 bits.
const NARROW: i64 = 1 << 9;

unsafe fn is_space(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let mut mask = 0;
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        let address = unsafe {
            if op.imm & NARROW == 0 { cx.lane::<u64>(op.a, lane) } else { cx.lane::<u32>(op.a, lane).into() }
        };
        let window = window_of(address);
        let own = op.imm >> 8 & 1 == 0 || address as u32 >> 24 == 0;
        let constant = window == Window::Global
            && cx.grid.regions.iter().any(|r| r.read_only && address >= r.base && address < r.end);
        let hit = match op.imm & 0xff {
            code if code == Window::Const as i64 => constant,
            code if code == Window::Global as i64 => window == Window::Global && !constant,
            code => window as i64 == code && own,
        };
        mask |= u32::from(hit) << lane;
    }
    // SAFETY: slots of a decoded instruction.
    unsafe { cx.set_pred(op.d, mask) };
    Flow::Next
}

fn alloca(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    if i.operands.len() < 2 {
        return i.unsupported();
    }
    e.uses_alloca = true;
    let mut op = e.op(alloca_exec);
    op.a = e.src(&i.operands[1], ty)?;
    op.imm = match i.operands.get(2) {
        Some(Operand::Int(align)) => (*align).clamp(1, 256) as i64,
        _ => 8,
    };
    op.list = ty.bits();
    op.d = e.dst(&i.operands[0], ty)?;
    e.push(op, Taint::Compute);
    Ok(())
}

/// Lanes may ask for different sizes; the frame grows by the largest.
unsafe fn alloca_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let mut most = 0;
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        most = most
            .max(unsafe { if op.list == 64 { cx.lane::<u64>(op.a, lane) } else { cx.lane::<u32>(op.a, lane).into() } });
    }
    let frame = cx.warp.splits[cx.warp.current].frame;
    let top = u64::from(cx.warp.frame(frame).local_top).next_multiple_of(op.imm as u64);
    let end = top.saturating_add(most).next_multiple_of(16);
    if end > u64::from(cx.warp.local_stride) {
        cx.stack_overflow(end);
        return Flow::Next;
    }
    cx.warp.frame_mut(frame).local_top = end as u32;
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            if op.list == 64 { cx.set_lane::<u64>(op.d, lane, top) } else { cx.set_lane::<u32>(op.d, lane, top as u32) }
        }
    }
    Flow::Next
}

fn stacksave(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    i.expect(1)?;
    let mut op = e.op(save_exec);
    op.list = ty.bits();
    op.d = e.dst(&i.operands[0], ty)?;
    e.push(op, Taint::Compute);
    Ok(())
}

unsafe fn save_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let frame = cx.warp.splits[cx.warp.current].frame;
    let top = cx.warp.frame(frame).local_top;
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            if op.list == 64 { cx.set_lane::<u64>(op.d, lane, top.into()) } else { cx.set_lane::<u32>(op.d, lane, top) }
        }
    }
    Flow::Next
}

fn stackrestore(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    i.expect(1)?;
    let mut op = e.op(restore_exec);
    op.list = ty.bits();
    op.a = e.src(&i.operands[0], ty)?;
    e.push(op, Taint::Use);
    Ok(())
}

unsafe fn restore_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let frame = cx.warp.splits[cx.warp.current].frame;
    let lane = cx.mask.trailing_zeros() as usize & 31;
    // SAFETY: slots of a decoded instruction.
    let top = unsafe { if op.list == 64 { cx.lane::<u64>(op.a, lane) as u32 } else { cx.lane::<u32>(op.a, lane) } };
    // Diverged lanes may still use the room above: it is given back only when the whole frame restores.
    if cx.warp.frame(frame).live == cx.mask {
        cx.warp.frame_mut(frame).local_top = top.min(cx.warp.local_stride);
    }
    Flow::Next
}
