//! Tensor maps changed on the device (`tensormap`), and work taken over from blocks that did not start
//! (`clusterlaunchcontrol`).

use super::bulk::{Span, carry_init};
use super::memory::place;
use super::{Row, Ty};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::memory::set_bits;
use crate::memory::space::{Window, window_of};
use crate::ptx::tree::Operand;
use crate::report::{Class, FaultKind, Space};
use crate::tensor::Field;

pub const ROWS: &[Row] = &[
    Row { opcode: "tensormap", class: Class::AsyncCopy, decode, examples: &[] },
    Row { opcode: "clusterlaunchcontrol", class: Class::AsyncCopy, decode: launch_control, examples: &[] },
];

const MAP_BYTES: u64 = 128;

const FIELDS: [(&str, Field); 11] = [
    ("global_address", Field::Address),
    ("rank", Field::Rank),
    ("box_dim", Field::Box),
    ("global_dim", Field::Size),
    ("global_stride", Field::Stride),
    ("element_stride", Field::Step),
    ("elemtype", Field::Element),
    ("interleave_layout", Field::Interleave),
    ("swizzle_mode", Field::Swizzle),
    ("swizzle_atomicity", Field::Atomicity),
    ("fill_mode", Field::Fill),
];

// `Op::imm`: the field's number, the ordinal from bit 8, then these.
const WIDE: i64 = 1 << 16;
const WIDE_VALUE: i64 = 1 << 17;
const SHARED: i64 = 1 << 18;

fn decode(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if i.take("cp_fenceproxy") {
        return fence_copy(e, i);
    }
    if !i.take("replace") || !i.take("tile") {
        return i.unsupported();
    }
    let names: Vec<&'static str> = FIELDS.iter().map(|field| field.0).collect();
    let Some(name) = i.take_any(&names) else { return i.unsupported() };
    let code = names.iter().position(|known| *known == name).unwrap_or(0);
    let shared = i.take("shared::cta");
    let window = if shared {
        Window::Shared
    } else if i.take("global") {
        Window::Global
    } else {
        Window::Generic
    };
    if !i.take("b1024") {
        return i.unsupported();
    }
    let ty = i.ty()?;
    let ordinal = matches!(FIELDS[code].1, Field::Box | Field::Size | Field::Stride | Field::Step);
    i.expect(if ordinal { 3 } else { 2 })?;
    let map = place(e, &i.operands[0], window)?;
    let mut imm = code as i64;
    if ordinal {
        match i.operands[1] {
            Operand::Int(at) if at < 5 => imm |= (at as i64) << 8,
            _ => return Err("the ordinal of a tensor map's field is a number from 0 to 4".to_owned()),
        }
    }
    let mut op = e.op(replace);
    op.a = map.base;
    op.b = e.pool.splat(u128::from(map.offset as u64), 64);
    op.c = e.src(&i.operands[i.operands.len() - 1], ty)?;
    op.imm = imm
        | if map.wide { WIDE } else { 0 }
        | if ty.bits() == 64 { WIDE_VALUE } else { 0 }
        | if shared { SHARED } else { 0 };
    e.push(op, Taint::Use);
    Ok(())
}

impl Cx<'_> {
    /// An address of a lane: base and offset.
    ///
    /// # Safety
    /// Slots of a decoded instruction.
    unsafe fn address(&self, base: Slot, wide: bool, offset: Slot, lane: usize) -> u64 {
        // SAFETY: as the caller says.
        unsafe {
            let base = if wide { self.lane::<u64>(base, lane) } else { self.lane::<u32>(base, lane).into() };
            base.wrapping_add(self.lane::<u64>(offset, lane))
        }
    }

    /// The 128 bytes of a tensor map, checked.
    fn map_span(&mut self, lane: usize, address: u64, shared: bool) -> Option<Span> {
        if !address.is_multiple_of(MAP_BYTES) {
            let text = format!("changes a tensor map at {address:#x}, which is no multiple of 128");
            self.bulk_fault(lane, FaultKind::Misaligned, Space::Global, address, MAP_BYTES, text);
            return None;
        }
        if shared || window_of(address) == Window::Shared {
            return self.shared_span(lane, u64::from(address as u32), MAP_BYTES);
        }
        self.global_span(lane, address, MAP_BYTES)
    }
}

unsafe fn replace(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (field, ordinal) = (FIELDS[(op.imm & 0xff) as usize % FIELDS.len()].1, (op.imm >> 8 & 7) as usize);
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        let (address, value) = unsafe {
            let value =
                if op.imm & WIDE_VALUE != 0 { cx.lane::<u64>(op.c, lane) } else { cx.lane::<u32>(op.c, lane).into() };
            (cx.address(op.a, op.imm & WIDE != 0, op.b, lane), value)
        };
        let Some(span) = cx.map_span(lane, address, op.imm & SHARED != 0) else { return Flow::Next };
        // SAFETY: the span was checked for 128 bytes; only one warp of those that share it runs at a time, as far as
        // the program is free of races.
        let bytes = unsafe { &mut *span.pointer.cast::<[u8; MAP_BYTES as usize]>() };
        if let Err(text) = field.replace(bytes, ordinal, value) {
            cx.bulk_fault(lane, FaultKind::UndefinedResult, Space::Global, address, MAP_BYTES, text);
            return Flow::Next;
        }
    }
    cx.worker.writes += 1;
    Flow::Next
}

/// `tensormap.cp_fenceproxy`: a map goes from shared to global memory, published to those that acquire it.
fn fence_copy(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let spaces = i.take_where(|part| matches!(part, "global" | "shared::cta"));
    i.take_where(|_| true);
    i.expect(3)?;
    if spaces[..] != ["global", "shared::cta"] || !matches!(i.operands[2], Operand::Int(MAP_BYTES)) {
        return i.unsupported();
    }
    let to = place(e, &i.operands[0], Window::Global)?;
    let from = place(e, &i.operands[1], Window::Shared)?;
    let mut op = e.op(copy);
    (op.a, op.c) = (to.base, from.base);
    op.b = e.pool.splat(u128::from(to.offset as u64), 64);
    op.d = e.pool.splat(u128::from(from.offset as u64), 64);
    op.imm = if to.wide { WIDE } else { 0 } | if from.wide { WIDE_VALUE } else { 0 };
    e.push(op, Taint::Use);
    Ok(())
}

unsafe fn copy(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // All lanes name the same map.
    let lane = cx.mask.trailing_zeros() as usize;
    // SAFETY: slots of a decoded instruction.
    let (to, from) = unsafe {
        (cx.address(op.a, op.imm & WIDE != 0, op.b, lane), cx.address(op.c, op.imm & WIDE_VALUE != 0, op.d, lane))
    };
    let Some(source) = cx.map_span(lane, from, true) else { return Flow::Next };
    let Some(target) = cx.map_span(lane, to, false) else { return Flow::Next };
    // SAFETY: both spans were checked for 128 bytes.
    unsafe { std::ptr::copy(source.pointer, target.pointer, MAP_BYTES as usize) };
    carry_init(&source, &target, MAP_BYTES);
    cx.fence(false);
    cx.worker.writes += 1;
    Flow::Next
}

/// Bytes of the answer to a request.
const ANSWER_BYTES: u64 = 16;

/// `clusterlaunchcontrol`: a running block asks for the work of one that has not started. The answer here is always
/// no, which it may be on hardware as well: all blocks start by themselves.
fn launch_control(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if i.take("query_cancel") {
        i.expect(2)?;
        let canceled = i.take("is_canceled");
        if !canceled && i.take_where(|part| part.starts_with("get_first_ctaid")).is_empty() {
            return i.unsupported();
        }
        i.take_where(|_| true);
        let mut op = e.op(answer);
        op.a = e.src(&i.operands[1], Ty::B128)?;
        if canceled {
            op.imm = 1;
            op.d = e.pred_dst(&i.operands[0])?;
            e.push(op, Taint::Compute);
            return Ok(());
        }
        let targets = match &i.operands[0] {
            Operand::Vector(list) => list.clone(),
            one => vec![one.clone()],
        };
        for target in targets {
            let mut op = op.clone();
            op.d = e.dst(&target, Ty::B32)?;
            e.push(op, Taint::Compute);
        }
        return Ok(());
    }
    if !i.take("try_cancel") || !i.take("async") {
        return i.unsupported();
    }
    let everywhere = i.take("multicast::cluster::all");
    i.take_where(|part| matches!(part, "shared::cta" | "mbarrier::complete_tx::bytes" | "b128"));
    i.expect(2)?;
    let to = place(e, &i.operands[0], Window::Shared)?;
    let barrier = place(e, &i.operands[1], Window::Shared)?;
    let mut op = e.op(request);
    (op.a, op.c) = (to.base, barrier.base);
    op.b = e.pool.splat(u128::from(to.offset as u64), 64);
    op.d = e.pool.splat(u128::from(barrier.offset as u64), 64);
    op.imm = if to.wide { WIDE } else { 0 }
        | if barrier.wide { WIDE_VALUE } else { 0 }
        | if everywhere { SHARED } else { 0 };
    op.site = e.site(to.wide, ANSWER_BYTES as u32);
    e.push(op, Taint::Use);
    Ok(())
}

unsafe fn answer(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        if op.d.is_none() {
        } else if op.imm == 1 {
            cx.set_pred(op.d, 0);
        } else {
            for lane in lanes(cx.mask) {
                cx.set_lane::<u32>(op.d, lane, 0);
            }
        }
    }
    Flow::Next
}

unsafe fn request(cx: &mut Cx<'_>, op: &Op) -> Flow {
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        let (to, barrier) = unsafe {
            (cx.address(op.a, op.imm & WIDE != 0, op.b, lane), cx.address(op.c, op.imm & WIDE_VALUE != 0, op.d, lane))
        };
        let blocks = cx.peers.len().max(1) as u64;
        let places: Vec<Option<u64>> =
            if op.imm & SHARED != 0 { (0..blocks).map(|rank| Some((rank + 1) << 24)).collect() } else { vec![None] };
        for prefix in places {
            let at = |address: u64| prefix.map_or(address, |prefix| address & 0xff_ffff | prefix);
            let (to, barrier) = (at(to), at(barrier));
            if !to.is_multiple_of(ANSWER_BYTES) {
                let text =
                    format!("asks for an answer at shared address {:#x}, which is no multiple of 16", to & 0xff_ffff);
                cx.bulk_fault(lane, FaultKind::Misaligned, Space::Shared, to & 0xff_ffff, ANSWER_BYTES, text);
                return Flow::Next;
            }
            let Some(span) = cx.shared_span(lane, to, ANSWER_BYTES) else { return Flow::Next };
            // SAFETY: the span was checked for as many bytes.
            unsafe { std::ptr::write_bytes(span.pointer, 0, ANSWER_BYTES as usize) };
            if !span.bits().is_empty() {
                set_bits(span.bits(), span.first_bit, ANSWER_BYTES);
            }
            let Some(phase) = cx.with_mbarrier(barrier, lane, |b| b.complete(ANSWER_BYTES as i64)) else {
                return Flow::Next;
            };
            cx.note_fill(op, to, ANSWER_BYTES, lane, (barrier & 0xff_ffff) as u32, phase);
        }
    }
    cx.worker.writes += 1;
    Flow::Next
}
