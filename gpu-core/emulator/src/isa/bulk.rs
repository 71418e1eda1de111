//! Bulk and tensor copies: `cp.async.bulk`, `cp.async.bulk.tensor`, `cp.reduce.async.bulk`.
//!
//! The bytes move when the instruction runs; a reader that did not wait for the mbarrier is found by logical time.

use super::Ty;
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
use crate::exec::op::{Flow, Op, Slot};
use crate::memory::space::{PARAM_BASE, Window, window_of};
use crate::memory::{all_bits, set_bits};
use crate::report::{AccessKind, FaultKind, Space, StepCopy, TensorBox};
use crate::tensor::layout::Interleave;
use crate::tensor::rows::{Rows, TensorRow, WALKS, Walk};
use crate::tensor::{TensorMap, TensorType};

pub(super) use super::bulk_codes::*;

/// Checked device memory for one transfer: a pointer and its init bits.
pub struct Span {
    pub pointer: *mut u8,
    init: *const std::sync::atomic::AtomicU64,
    words: usize,
    pub first_bit: u64,
    /// The array's claim that all of it is written; null for shared memory.
    all_written: *const std::sync::atomic::AtomicBool,
}

impl Span {
    /// What begins `bytes` further on.
    fn part(&self, bytes: u64) -> Span {
        Span { pointer: self.pointer.wrapping_add(bytes as usize), first_bit: self.first_bit + bytes, ..*self }
    }

    pub fn bits(&self) -> &[std::sync::atomic::AtomicU64] {
        if self.init.is_null() {
            return &[];
        }
        // SAFETY: made from a live slice of the launch's memory or of a block of this cluster.
        unsafe { std::slice::from_raw_parts(self.init, self.words) }
    }

    /// Its first `bytes` have no values any more.
    fn unwrite(&self, bytes: u64) {
        // SAFETY: null or part of the allocation, which the launch holds.
        if let Some(claim) = unsafe { self.all_written.as_ref() } {
            claim.store(false, std::sync::atomic::Ordering::Relaxed);
        }
        crate::memory::clear_bits(self.bits(), self.first_bit, bytes);
    }
}

impl Cx<'_> {
    pub fn bulk_fault(&mut self, lane: usize, kind: FaultKind, space: Space, address: u64, bytes: u64, text: String) {
        let window = if space == Space::Shared { Window::Shared } else { Window::Global };
        let (_, allocation) = self.locate(window, address, bytes);
        let near = allocation
            .as_ref()
            .map_or(String::new(), |a| format!(" (`{}` has {} bytes, this is byte {})", a.name, a.bytes, a.offset));
        let message = format!("{} {text}{near}", text_of(&self.thread(lane)));
        let detail = Detail {
            space: Some(space),
            access: Some(AccessKind::AsyncCopy),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: None,
        };
        let pc = self.pc;
        self.fault(kind, pc, Some(lane), 1, message, detail);
    }

    /// `bytes` of shared memory of this block or, by a cluster address, of another one.
    pub fn shared_span(&mut self, lane: usize, address: u64, bytes: u64) -> Option<Span> {
        let offset = address & 0xff_ffff;
        let (home, _) = self.shared_home(address)?;
        if !self.locate(Window::Shared, offset, bytes).0 {
            let text = format!("copies {bytes} bytes at shared address {offset:#x}, outside every array");
            self.bulk_fault(lane, FaultKind::OutOfBounds, Space::Shared, offset, bytes, text);
            return None;
        }
        // SAFETY: the range was checked; peers of a cluster are run by this worker alone.
        unsafe {
            let block = &mut *home;
            // What was never written stays so in a copy to there.
            block.shared_changes = block.shared_changes.wrapping_add(1);
            Some(Span {
                pointer: block.shared_pointer().add(offset as usize),
                init: block.shared_init.as_ptr(),
                words: block.shared_init.len(),
                first_bit: offset,
                all_written: &raw const block.state.written,
            })
        }
    }

    pub fn global_span(&mut self, lane: usize, address: u64, bytes: u64) -> Option<Span> {
        let regions = &self.grid.regions;
        let index = regions.partition_point(|region| region.base <= address);
        let region = index.checked_sub(1).map(|index| &regions[index]);
        match region.filter(|region| !region.freed && address.checked_add(bytes).is_some_and(|end| end <= region.end)) {
            Some(region) => Some(Span {
                pointer: region.pointer.wrapping_add((address - region.base) as usize),
                init: region.init,
                words: region.init_words,
                first_bit: address - region.base,
                all_written: region.all_written,
            }),
            None => {
                let text = format!("copies {bytes} bytes at global address {address:#x}, outside every array");
                self.bulk_fault(lane, FaultKind::OutOfBounds, Space::Global, address, bytes, text);
                None
            }
        }
    }
}

pub(super) unsafe fn commit(cx: &mut Cx<'_>, _: &Op) -> Flow {
    cx.commit_bulk();
    Flow::Next
}

pub(super) unsafe fn wait(cx: &mut Cx<'_>, op: &Op) -> Flow {
    cx.wait_bulk(op.imm as u32, op.imm >> 32 != 0);
    Flow::Next
}

/// What a store does, by its operands.
type Stored = (u64, u64, Vec<u32>);

/// Operands by which two lanes store the same to the same place: a warp that stores a box as one, as CUTLASS's epilogues do, does
/// so once. None for what is no plain store.
unsafe fn stored(cx: &Cx<'_>, op: &Op, slots: &[Slot], lane: usize, shared: u64, other: u64) -> Option<Stored> {
    if op.imm & (TO_SHARED | REDUCE) != 0 {
        return None;
    }
    // SAFETY: slots of a decoded instruction; the first two are 64 bits wide and in the addresses already.
    let number = |slot: &Slot| unsafe { cx.lane::<u32>(*slot, lane) };
    let mut numbers: Vec<u32> = slots[2..].iter().map(number).collect();
    if op.imm & TENSOR == 0 {
        numbers.push(number(&op.c));
    }
    if op.imm & MASKED != 0 {
        numbers.push(number(&op.e));
    }
    Some((shared, other, numbers))
}

pub(super) unsafe fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let slots = cx.image().list(op).to_vec();
    let mut first: Option<(Stored, u64, u64)> = None;
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        let (shared, other) = unsafe {
            let narrow = |cx: &Cx<'_>, slot: Slot, wide: bool| -> u64 {
                if wide { cx.lane::<u64>(slot, lane) } else { cx.lane::<u32>(slot, lane).into() }
            };
            let shared = narrow(cx, op.a, op.imm & WIDE_SHARED != 0).wrapping_add(cx.lane::<u64>(slots[0], lane));
            let wide = !(op.imm & TO_SHARED != 0 && op.imm & FROM_SHARED != 0) || op.imm & WIDE_SHARED != 0;
            let other = narrow(cx, op.b, wide).wrapping_add(cx.lane::<u64>(slots[1], lane));
            (shared, other)
        };
        // SAFETY: passed on.
        let same = unsafe { stored(cx, op, &slots, lane, shared, other) };
        if let Some((of_first, bytes, reach)) = &first
            && same.as_ref() == Some(of_first)
        {
            cx.worker.counts.async_bytes(cx.pc, *bytes);
            if shared & 0xff00_0000 == 0 {
                cx.note_source(op, (shared & 0xff_ffff) as u32, *reach, lane, true);
            }
            continue;
        }
        // SAFETY: passed on.
        let moved = unsafe {
            if op.imm & TENSOR != 0 {
                tensor(cx, op, &slots, lane, shared, other)
            } else {
                plain(cx, op, &slots, lane, shared, other)
            }
        };
        let Some(Moved { bytes, reach, targets }) = moved else { return Flow::Next };
        if first.is_none() {
            first = same.map(|same| (same, bytes, reach));
        }
        cx.worker.counts.async_bytes(cx.pc, bytes);
        if cx.worker.trace.is_some() && op.imm & TENSOR == 0 {
            let to_shared = op.imm & TO_SHARED != 0;
            let shared_low = shared & 0xff_ffff;
            let global = (op.imm & TO_SHARED == 0 || op.imm & FROM_SHARED == 0).then_some(other);
            let lane = lane as u32;
            let copy = StepCopy { shared_low, shared_bytes: reach, to_shared, bytes, lane, global, tensor: None };
            cx.trace_copy(copy, 0);
        }
        if op.imm & TO_SHARED != 0 {
            // SAFETY: slots of a decoded instruction.
            let barrier = unsafe {
                let base = if op.imm & WIDE_BARRIER != 0 {
                    cx.lane::<u64>(op.d, lane)
                } else {
                    cx.lane::<u32>(op.d, lane).into()
                };
                base.wrapping_add(cx.lane::<u64>(slots[slots.len() - 1], lane))
            };
            if op.imm & FROM_SHARED != 0 && other & !0xff_ffff & 0xff00_0000 == 0 {
                cx.note_source(op, (other & 0xff_ffff) as u32, bytes, lane, false);
            }
            for (target, prefix) in targets {
                let barrier = prefix.map_or(barrier, |prefix| barrier & 0xff_ffff | prefix);
                cx.check_shown(barrier, lane);
                let Some(phase) = cx.with_mbarrier(barrier, lane, |b| b.complete(bytes as i64)) else {
                    return Flow::Next;
                };
                cx.note_fill(op, target, reach, lane, (barrier & 0xff_ffff) as u32, phase);
            }
        } else if shared & 0xff00_0000 == 0 {
            cx.note_source(op, (shared & 0xff_ffff) as u32, reach, lane, true);
        }
        cx.worker.writes += 1;
    }
    Flow::Next
}

/// What a copy did.
struct Moved {
    /// As an mbarrier counts them.
    bytes: u64,
    /// Bytes of shared memory from the first to the last.
    reach: u64,
    /// The shared places that were filled (with the block's address prefix under multicast).
    targets: Vec<(u64, Option<u64>)>,
}

/// The shared destinations of a copy: one, or one in each block of the multicast mask.
unsafe fn targets(cx: &Cx<'_>, op: &Op, lane: usize, shared: u64) -> Vec<(u64, Option<u64>)> {
    if op.imm & MULTICAST == 0 {
        return vec![(shared, None)];
    }
    // SAFETY: slots of a decoded instruction.
    let mask = unsafe { cx.lane::<u32>(op.e, lane) };
    (0..16u64)
        .filter(|rank| mask >> rank & 1 != 0)
        .map(|rank| {
            let prefix = (rank + 1) << 24;
            (shared & 0xff_ffff | prefix, Some(prefix))
        })
        .collect()
}

unsafe fn plain(cx: &mut Cx<'_>, op: &Op, slots: &[Slot], lane: usize, shared: u64, other: u64) -> Option<Moved> {
    // SAFETY: slots of a decoded instruction.
    let bytes = u64::from(unsafe { cx.lane::<u32>(op.c, lane) });
    let between_shared = op.imm & TO_SHARED != 0 && op.imm & FROM_SHARED != 0;
    let wrong = match () {
        () if !bytes.is_multiple_of(16) => Some(("the size", Space::Shared, shared)),
        () if !shared.is_multiple_of(16) => Some(("its address in shared memory", Space::Shared, shared)),
        () if other.is_multiple_of(16) => None,
        () if between_shared => Some(("the address that it reads", Space::Shared, other)),
        () => Some(("its address in global memory", Space::Global, other)),
    };
    if let Some((what, space, address)) = wrong {
        let text = format!("starts a bulk copy of {bytes} bytes, but {what} is not a multiple of 16");
        let address = if space == Space::Shared { address & 0xff_ffff } else { address };
        cx.bulk_fault(lane, FaultKind::Misaligned, space, address, bytes, text);
        return None;
    }
    if op.imm & IGNORE != 0 {
        // SAFETY: passed on.
        return unsafe { ignoring(cx, op, slots, lane, shared, other, bytes) };
    }
    if op.imm & TO_SHARED != 0 {
        let from = if op.imm & FROM_SHARED != 0 {
            cx.shared_span(lane, other, bytes)?
        } else {
            let span = cx.global_span(lane, other, bytes)?;
            cx.note_global(op, other, bytes, lane, AccessKind::Read);
            span
        };
        // SAFETY: slots of a decoded instruction.
        let targets = unsafe { targets(cx, op, lane, shared) };
        for (target, _) in &targets {
            let to = cx.shared_span(lane, *target, bytes)?;
            combine(op, &from, &to, bytes);
        }
        return Some(Moved { bytes, reach: bytes, targets });
    }
    let from = cx.shared_span(lane, shared, bytes)?;
    let to = cx.global_span(lane, other, bytes)?;
    let reduces = op.imm & REDUCE != 0;
    if op.imm & MASKED != 0 {
        // SAFETY: slots of a decoded instruction; both spans were checked for `bytes`.
        let mask = unsafe { cx.lane::<u32>(op.e, lane) };
        for at in (0..bytes).filter(|at| mask >> (at % 16) & 1 != 0) {
            combine(op, &from.part(at), &to.part(at), 1);
        }
        // Races are told by pieces of 16 bytes: those left out count with their neighbours.
        if mask & 0xffff != 0 {
            cx.note_global(op, other, bytes, lane, AccessKind::AsyncCopy);
        }
        return Some(Moved { bytes, reach: bytes, targets: Vec::new() });
    }
    cx.note_global(op, other, bytes, lane, if reduces { AccessKind::Atomic } else { AccessKind::AsyncCopy });
    combine(op, &from, &to, bytes);
    Some(Moved { bytes, reach: bytes, targets: Vec::new() })
}

/// A load whose first and last bytes may lie outside the array: what arrives for those means nothing, so they count as
/// unwritten.
unsafe fn ignoring(
    cx: &mut Cx<'_>,
    op: &Op,
    slots: &[Slot],
    lane: usize,
    shared: u64,
    other: u64,
    bytes: u64,
) -> Option<Moved> {
    // SAFETY: slots of a decoded instruction.
    let [left, right] = [2, 3].map(|at| u64::from(unsafe { cx.lane::<u32>(slots[at], lane) }));
    if left > 15 || right > 15 || left + right > bytes {
        let text = format!("ignores {left} and {right} bytes of a bulk copy of {bytes}; 0 to 15 are allowed");
        cx.bulk_fault(lane, FaultKind::UndefinedResult, Space::Global, other, bytes, text);
        return None;
    }
    let inner = bytes - left - right;
    let to = cx.shared_span(lane, shared, bytes)?;
    if !to.bits().is_empty() {
        to.unwrite(bytes);
    }
    if inner > 0 {
        let from = cx.global_span(lane, other + left, inner)?;
        cx.note_global(op, other + left, inner, lane, AccessKind::Read);
        combine(op, &from, &to.part(left), inner);
    }
    Some(Moved { bytes, reach: bytes, targets: vec![(shared, None)] })
}

/// Copies, or reduces into what is there. Both spans were checked for `bytes`.
fn combine(op: &Op, from: &Span, to: &Span, bytes: u64) {
    if op.imm & REDUCE != 0 {
        let ty = TYPES[(op.imm >> 12 & 15) as usize % TYPES.len()];
        // SAFETY: the caller checked both spans.
        unsafe { reduce(from, to.pointer, bytes, (op.imm >> 8 & 15) as usize, ty) };
    } else {
        // SAFETY: the caller checked both spans.
        unsafe { std::ptr::copy(from.pointer, to.pointer, bytes as usize) };
        carry_init(from, to, bytes);
    }
}

/// What was never written stays so in the copy.
pub fn carry_init(from: &Span, to: &Span, bytes: u64) {
    let (source, target) = (from.bits(), to.bits());
    if target.is_empty() {
        return;
    }
    if source.is_empty() || all_bits(source, from.first_bit, bytes) {
        set_bits(target, to.first_bit, bytes);
        return;
    }
    for byte in 0..bytes {
        if all_bits(source, from.first_bit + byte, 1) {
            set_bits(target, to.first_bit + byte, 1);
        } else {
            to.part(byte).unwrite(1);
        }
    }
}

unsafe fn reduce(from: &Span, to: *mut u8, bytes: u64, operation: usize, ty: Ty) {
    // The order of the decoder's reductions in that of the atomics.
    let operation = [0, 1, 2, 3, 4, 7, 8, 9][operation.min(7)];
    let size = ty.bits() as usize / 8;
    for at in (0..bytes as usize).step_by(size) {
        // SAFETY: the caller checked both ranges.
        unsafe {
            let mut raw = [0u8; 16];
            std::ptr::copy_nonoverlapping(from.pointer.add(at), raw.as_mut_ptr(), size);
            super::atomic::update_with(to.add(at), operation, ty, u128::from_le_bytes(raw));
        }
    }
}

unsafe fn tensor(cx: &mut Cx<'_>, op: &Op, slots: &[Slot], lane: usize, shared: u64, descriptor: u64) -> Option<Moved> {
    let rank = (op.imm >> 20 & 7) as usize;
    if window_of(descriptor) == Window::Local {
        let text = "uses a tensor map in the thread's own memory, where the copy engine cannot read it: a parameter that is no \
                    `const __grid_constant__ CUtensorMap` is copied there"
            .to_owned();
        cx.bulk_fault(lane, FaultKind::BadLaunch, Space::Local, descriptor, 128, text);
        return None;
    }
    let mut raw = [0u8; 128];
    let readable =
        cx.peek(descriptor, lane, &mut raw).is_some() || cx.peek(PARAM_BASE + descriptor, lane, &mut raw).is_some();
    let map = TensorMap::decode(&raw).filter(|map| readable && map.sizes.len() == rank);
    let Some(map) = map else {
        let text = format!("uses {descriptor:#x} as a {rank}-dimensional tensor map, which it is not");
        cx.bulk_fault(lane, FaultKind::BadLaunch, Space::Global, descriptor, 128, text);
        return None;
    };
    let walk = WALKS[(op.imm >> WALK_AT & 7) as usize % WALKS.len()];
    let coordinates = if walk == Walk::FourRows { 5 } else { rank };
    // SAFETY: slots of a decoded instruction.
    let number = |slot: &Slot| unsafe { cx.lane::<u32>(*slot, lane) };
    let interleaved = map.interleave != Interleave::None;
    let map = map.spread();
    let mut start = vec![0; usize::from(interleaved)];
    start.extend(slots[2..2 + coordinates].iter().map(|slot| i64::from(number(slot) as i32)));
    let mut info: Vec<i64> = slots[2 + coordinates..].iter().map(|slot| i64::from(number(slot) as u16)).collect();
    // A store in im2col mode has no offsets.
    info.resize(3.max(info.len()), 0);
    let (bits, piece) = (map.element.bits(), map.element.piece());
    let load = op.imm & TO_SHARED != 0;
    let rows = match Rows::new(&map, walk, &start, &info) {
        Ok(rows) => rows.count(),
        Err(text) => {
            cx.bulk_fault(lane, FaultKind::BadLaunch, Space::Global, descriptor, 128, text);
            return None;
        }
    };
    let row = map.row_bytes();
    let total = u64::from(map.tile[0]) * bits / 8 * rows;
    // A row narrower than the swizzle's span leaves the rest of the span alone, as on an H200, but in interleaved layouts.
    let pitch = if interleaved { row } else { row.max(map.swizzle.span()) };
    let reach = (pitch * rows).next_multiple_of(map.swizzle.span().max(1));
    if !shared.is_multiple_of(128) {
        let text =
            format!("copies a tensor box at shared address {:#x}, which is no multiple of 128", shared & 0xff_ffff);
        cx.bulk_fault(lane, FaultKind::Misaligned, Space::Shared, shared & 0xff_ffff, total, text);
        return None;
    }
    if (start[0] * bits as i64 / 8) % 16 != 0 {
        let text = format!("copies a tensor box whose innermost coordinate {} is no multiple of 16 bytes", start[0]);
        cx.bulk_fault(lane, FaultKind::Misaligned, Space::Global, map.address, total, text);
        return None;
    }
    if let Some(unit) = map.element.unpacked_row().filter(|unit| start[0] % *unit as i64 != 0) {
        let text = format!("copies a box of unpacked elements from {} on, which is no multiple of {unit}", start[0]);
        cx.bulk_fault(lane, FaultKind::Misaligned, Space::Global, map.address, total, text);
        return None;
    }
    if !load && (map.element == TensorType::U4Align16 || piece.elements == 16 && op.imm & REDUCE != 0) {
        let text = "stores a box by a tensor map whose elements can only be loaded".to_owned();
        cx.bulk_fault(lane, FaultKind::BadLaunch, Space::Global, descriptor, 128, text);
        return None;
    }
    if !load && start.iter().any(|coordinate| *coordinate < 0) {
        let given = &start[usize::from(interleaved)..];
        let text = format!("stores a tensor box at the negative coordinates {given:?}");
        cx.bulk_fault(lane, FaultKind::OutOfBounds, Space::Global, map.address, total, text);
        return None;
    }
    // SAFETY: slots of a decoded instruction.
    let targets = if load { unsafe { targets(cx, op, lane, shared) } } else { vec![(shared, None)] };
    for (target, _) in &targets {
        let span = cx.shared_span(lane, *target, reach)?;
        let base = *target & 0xff_ffff;
        let Ok(mut walker) = Rows::new(&map, walk, &start, &info) else { return None };
        for index in 0..rows {
            let TensorRow { address, inside } = walker.next_row();
            // The part of the row that lies inside the tensor.
            let mut run: Option<(u64, u64)> = None;
            for at in (0..row).step_by(piece.inner as usize) {
                let element = start[0] + (at / piece.inner * piece.elements) as i64 * i64::from(map.element_strides[0]);
                let offset = map.swizzle.apply(base + index * pitch + at) - base;
                let global = address.wrapping_add((element * bits as i64 / 8) as u64);
                let mut here = inside && element >= 0 && (element as u64) < map.sizes[0];
                if !load && !here && inside && element >= 0 {
                    // Stores go by 16 bytes: an H200 writes what shares such a piece with the last element of the row.
                    let first = element as u64 * bits / 8 & !15;
                    here = first * 8 < map.sizes[0] * bits && cx.locate(Window::Global, global, piece.outer).0;
                }
                // SAFETY: the swizzle permutes inside 1024-byte groups of the checked box when it is aligned; the
                // offset is checked for boxes that are not.
                unsafe {
                    if offset + piece.inner > reach {
                        let text = "copies a swizzled box that is not aligned to its pattern".to_owned();
                        cx.bulk_fault(lane, FaultKind::Misaligned, Space::Shared, base, total, text);
                        return None;
                    }
                    let place = span.pointer.add(offset as usize);
                    let inner = Span { pointer: place, first_bit: base + offset, ..span };
                    if !here {
                        if load {
                            fill(place, piece.outer as usize, map.nan_fill);
                            if !inner.bits().is_empty() {
                                set_bits(inner.bits(), inner.first_bit, piece.outer);
                            }
                        }
                    } else {
                        let outer = cx.global_span(lane, global, piece.outer)?;
                        run = Some((run.map_or(global, |run| run.0), global + piece.outer));
                        if load {
                            std::ptr::copy_nonoverlapping(outer.pointer, place, piece.outer as usize);
                            if matches!(map.element, TensorType::TF32 | TensorType::TF32Ftz) {
                                let word = place.cast::<u32>();
                                word.write_unaligned(to_tf32(word.read_unaligned()));
                            }
                            carry_init(&outer, &inner, piece.outer);
                        } else if op.imm & REDUCE != 0 {
                            let operation = (op.imm >> 8 & 15) as usize;
                            reduce(&inner, outer.pointer, piece.outer, operation, element_type(map.element));
                        } else if map.element == TensorType::U6Align16 {
                            pack_six_bits(&inner, &outer);
                        } else {
                            std::ptr::copy_nonoverlapping(place, outer.pointer, piece.outer as usize);
                            carry_init(&inner, &outer, piece.outer);
                        }
                    }
                }
            }
            if let Some((first, end)) = run.filter(|_| op.imm & TO_SHARED == 0 || target == &targets[0].0) {
                let kind = match op.imm & (TO_SHARED | REDUCE) {
                    0 => AccessKind::AsyncCopy,
                    REDUCE => AccessKind::Atomic,
                    _ => AccessKind::Read,
                };
                cx.note_global(op, first & !15, (end - (first & !15)).next_multiple_of(16), lane, kind);
            }
        }
    }
    if cx.worker.trace.is_some() {
        let tensor = Some(TensorBox::of(&map, start, bits as u32));
        let (shared_low, lane) = (shared & 0xff_ffff, lane as u32);
        let copy =
            StepCopy { shared_low, shared_bytes: reach, to_shared: load, bytes: total, lane, global: None, tensor };
        cx.trace_copy(copy, map.address);
    }
    Some(Moved { bytes: total, reach, targets })
}

/// What a load finds outside the tensor: of NaNs, an H200 fills every 16 bits with the one that `fma.oob` takes for an
/// element out of bounds, whatever the type.
unsafe fn fill(to: *mut u8, bytes: usize, nan: bool) {
    let pattern: [u8; 16] = std::array::from_fn(|at| if nan { [0xf7, 0x7f][at % 2] } else { 0 });
    // SAFETY: the caller checked the range.
    unsafe { std::ptr::copy_nonoverlapping(pattern.as_ptr(), to, bytes.min(16)) };
}

/// Sixteen bytes with an element in the lower six bits each, as 12 bytes (`.b6p2x16`).
///
/// # Safety
/// The spans were checked for as many bytes.
unsafe fn pack_six_bits(from: &Span, to: &Span) {
    // SAFETY: as the caller says.
    unsafe {
        let codes = from.pointer.cast::<[u8; 16]>().read_unaligned();
        let packed = codes.iter().rev().fold(0u128, |all, code| all << 6 | u128::from(code & 0x3f));
        std::ptr::copy_nonoverlapping(packed.to_le_bytes().as_ptr(), to.pointer, 12);
    }
    if to.bits().is_empty() {
        return;
    }
    if from.bits().is_empty() || all_bits(from.bits(), from.first_bit, 16) {
        set_bits(to.bits(), to.first_bit, 12);
    } else {
        to.unwrite(12);
    }
}

/// A float rounded to the 10 fraction bits of tf32, as a load by a tensor map of such a type does on an H200: subnormals
/// too, in both types. Every NaN becomes the one that has all its fraction bits.
fn to_tf32(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0x7f80_0000 {
        return if bits & 0x7f_ffff == 0 { bits } else { 0x7fff_e000 };
    }
    (bits + 0xfff + (bits >> 13 & 1)) & !0x1fff
}
