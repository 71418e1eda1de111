//! `st.async` and `red.async`: stores and reductions to shared memory of the cluster that tell an mbarrier (sm_90).

use super::Ty;
use super::atomic::update_with;
use super::memory::{Place, place};
use super::movement::get_wide;
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::memory::set_bits;
use crate::memory::space::Window;
use crate::ptx::tree::Operand;
use crate::report::{Class, FaultKind, Space};

/// Reductions, with their numbers among the atomic operations.
const REDUCTIONS: &[(&str, i64)] =
    &[("add", 0), ("min", 1), ("max", 2), ("inc", 3), ("dec", 4), ("and", 7), ("or", 8), ("xor", 9)];

const TYPES: &[Ty] = &[Ty::B32, Ty::U32, Ty::S32, Ty::F32, Ty::B64, Ty::U64, Ty::S64, Ty::F64];

// `Op::imm`: type 0-3, operation 4-7, then these.
const REDUCE: i64 = 1 << 8;
const WIDE: i64 = 1 << 9;
const WIDE_BARRIER: i64 = 1 << 10;
/// Of `st.bulk`: the size is a 32-bit register.
const NARROW_SIZE: i64 = 1 << 11;

/// Whether `st.async` or `red.async` is of the kind that goes to global memory and releases what came before. It has no
/// mbarrier to complete, so that it does here at once what a releasing store or reduction does.
pub fn releases(i: &mut Inst<'_>) -> bool {
    let found = i.take("release");
    if found {
        i.give_back("release");
    }
    found
}

/// Decodes what follows `st.async` or `red.async`.
pub fn decode(e: &mut Emit<'_>, i: &mut Inst<'_>, reduce: bool) -> Decoded<()> {
    e.class = Class::AsyncCopy;
    i.take_where(|part| matches!(part, "weak" | "relaxed" | "cluster"));
    if !i.take("shared::cluster") || !i.take("mbarrier::complete_tx::bytes") {
        return i.unsupported();
    }
    let mut imm = 0;
    if reduce {
        let names: Vec<&'static str> = REDUCTIONS.iter().map(|(name, _)| *name).collect();
        let Some(name) = i.take_any(&names) else { return i.unsupported() };
        let code = REDUCTIONS.iter().find(|known| known.0 == name).map_or(0, |known| known.1);
        imm |= REDUCE | code << 4;
    }
    let vector = match i.take_any(&["v2", "v4"]) {
        Some("v2") => 2,
        Some(_) => 4,
        None => 1,
    };
    let ty = i.ty()?;
    let Some(code) = TYPES.iter().position(|known| *known == ty) else { return i.unsupported() };
    i.expect(3)?;
    let values = match &i.operands[1] {
        Operand::Vector(values) => values.clone(),
        one => vec![one.clone()],
    };
    if values.len() != vector || reduce && vector > 1 {
        return i.unsupported();
    }
    let to: Place = place(e, &i.operands[0], Window::Shared)?;
    let barrier: Place = place(e, &i.operands[2], Window::Shared)?;
    let mut slots =
        vec![e.pool.splat(u128::from(to.offset as u64), 64), e.pool.splat(u128::from(barrier.offset as u64), 64)];
    for value in &values {
        slots.push(e.src(value, ty)?);
    }
    let mut op = e.op(run);
    op.a = to.base;
    op.b = barrier.base;
    op.imm = imm | code as i64 | if to.wide { WIDE } else { 0 } | if barrier.wide { WIDE_BARRIER } else { 0 };
    (op.list, op.list_len) = e.list(&slots);
    op.site = e.site(to.wide, ty.bits() / 8 * vector as u32);
    e.push(op, Taint::Use);
    Ok(())
}

/// `st.bulk`: zeros over a stretch of shared memory, in multiples of 8 bytes.
pub fn decode_bulk(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.take_where(|part| matches!(part, "weak" | "shared::cta"));
    i.expect(3)?;
    if i.operands[2] != Operand::Int(0) {
        return Err("`st.bulk` writes zeros and nothing else".to_owned());
    }
    let to: Place = place(e, &i.operands[0], Window::Shared)?;
    let mut op = e.op(run_bulk);
    op.a = to.base;
    // The size has 64 bits, or 32.
    let narrow = matches!(&i.operands[1], Operand::Name(name) if e.reg(name).is_ok_and(|reg| reg.bits == 32));
    op.imm = if to.wide { WIDE } else { 0 } | if narrow { NARROW_SIZE } else { 0 };
    op.b = e.pool.splat(u128::from(to.offset as u64), 64);
    op.c = e.src(&i.operands[1], if narrow { Ty::U32 } else { Ty::U64 })?;
    e.push(op, Taint::Use);
    Ok(())
}

unsafe fn run_bulk(cx: &mut Cx<'_>, op: &Op) -> Flow {
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        let (address, bytes) = unsafe {
            let base =
                if op.imm & WIDE != 0 { cx.lane::<u64>(op.a, lane) } else { u64::from(cx.lane::<u32>(op.a, lane)) };
            let bytes = match op.imm & NARROW_SIZE {
                0 => cx.lane::<u64>(op.c, lane),
                _ => cx.lane::<u32>(op.c, lane).into(),
            };
            (base.wrapping_add(cx.lane::<u64>(op.b, lane)), bytes)
        };
        let shared = address & 0xffff_ffff;
        if !shared.is_multiple_of(8) || !bytes.is_multiple_of(8) {
            let text = format!("clears {bytes} bytes at shared address {shared:#x}; both must be multiples of 8");
            cx.bulk_fault(lane, FaultKind::Misaligned, Space::Shared, shared, bytes, text);
            return Flow::Next;
        }
        let Some(span) = cx.shared_span(lane, shared, bytes) else { return Flow::Next };
        // SAFETY: the span was checked for as many bytes.
        unsafe { std::ptr::write_bytes(span.pointer, 0, bytes as usize) };
        if !span.bits().is_empty() {
            set_bits(span.bits(), span.first_bit, bytes);
        }
    }
    cx.worker.writes += 1;
    Flow::Next
}

unsafe fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let slots = cx.image().list(op).to_vec();
    let ty = TYPES[(op.imm & 15) as usize % TYPES.len()];
    let size = u64::from(ty.bits() / 8);
    let bytes = size * (slots.len() as u64 - 2);
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        let (address, barrier) = unsafe {
            let base = |slot: Slot, wide: bool| {
                if wide { cx.lane::<u64>(slot, lane) } else { u64::from(cx.lane::<u32>(slot, lane)) }
            };
            (
                base(op.a, op.imm & WIDE != 0).wrapping_add(cx.lane::<u64>(slots[0], lane)),
                base(op.b, op.imm & WIDE_BARRIER != 0).wrapping_add(cx.lane::<u64>(slots[1], lane)),
            )
        };
        if !address.is_multiple_of(bytes) {
            let text =
                format!("stores {bytes} bytes at {:#x}, which is not a multiple of {bytes}", address & 0xff_ffff);
            cx.bulk_fault(lane, FaultKind::Misaligned, Space::Shared, address & 0xff_ffff, bytes, text);
            return Flow::Next;
        }
        let Some(span) = cx.shared_span(lane, address, bytes) else { return Flow::Next };
        for (index, slot) in slots[2..].iter().enumerate() {
            // SAFETY: the span was checked for `bytes`; slots of a decoded instruction.
            unsafe {
                let value = get_wide(cx, *slot, lane, ty.bits());
                let place = span.pointer.add(index * size as usize);
                if op.imm & REDUCE != 0 {
                    update_with(place, (op.imm >> 4 & 15) as u32, ty, value);
                } else {
                    std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), place, size as usize);
                }
            }
        }
        if op.imm & REDUCE == 0 && !span.bits().is_empty() {
            set_bits(span.bits(), span.first_bit, bytes);
        }
        cx.worker.counts.async_bytes(cx.pc, bytes);
        let Some(phase) = cx.with_mbarrier(barrier, lane, |b| b.complete(bytes as i64)) else { return Flow::Next };
        let barrier = (barrier & 0xff_ffff) as u32;
        if op.imm & REDUCE == 0 || !cx.reduces_already(address, barrier, phase) {
            cx.note_fill(op, address, bytes, lane, barrier, phase);
        }
        cx.worker.writes += 1;
    }
    Flow::Next
}
