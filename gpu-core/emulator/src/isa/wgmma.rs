//! `wgmma` (sm_90a): matrix products of a warpgroup with operands in shared memory.
//!
//! Each of the four warps computes its 16 rows of D when it issues the instruction; D counts as pending until
//! `wgmma.wait_group`.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use super::Ty;
use super::matrix::{intern, registers, report_undefined, row, whole_warp};
use crate::check::async_copy::wgmma::Progress;
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::Cx;
use crate::exec::lanes::blend;
use crate::exec::memory::access::{Found, gathered, window_code};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::memory::space::Window;
use crate::num::mma::b_index;
use crate::num::mma::descriptor::{CHUNK, Descriptor};
use crate::num::mma::form::Input;
use crate::num::mma::warpgroup::{self, Options, ROWS, WarpGroupForm};
use crate::ptx::tree::Operand;
use crate::report::AccessKind;

/// A form with the immediates of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Call {
    form: WarpGroupForm,
    a_registers: bool,
    negate_a: bool,
    negate_b: bool,
    transpose_a: bool,
    transpose_b: bool,
    /// scale-d is a predicate (its negation is folded in) or an immediate.
    scale_negated: bool,
}

pub fn wgmma(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if (e.arch.number, e.arch.specific) != (90, true) {
        return Err(format!("`{}` exists on sm_90a only; use mma.sync elsewhere", i.opcode));
    }
    match i.take_any(&["fence", "commit_group", "wait_group", "mma_async"]) {
        Some("mma_async") => mma_async(e, i),
        Some("wait_group") => {
            i.take_where(|p| matches!(p, "sync" | "aligned"));
            i.expect(1)?;
            let Operand::Int(pending) = i.operands[0] else { return i.unsupported() };
            let mut op = e.op(wait);
            op.imm = pending as i64;
            e.push(op, Taint::Use);
            Ok(())
        }
        Some(what) => {
            i.take_where(|p| matches!(p, "sync" | "aligned"));
            i.expect(0)?;
            let op = e.op(if what == "fence" { fence } else { commit });
            e.push(op, Taint::Use);
            Ok(())
        }
        None => i.unsupported(),
    }
}

fn mma_async(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.take_where(|_| true);
    let form = WarpGroupForm::parse(i.opcode)?;
    let (nd, na) = form.registers();
    let a_registers = matches!(i.operands.get(1), Some(Operand::Vector(_)));
    let sparse = usize::from(form.sparse) * 2;
    let transposes = usize::from(form.can_transpose()) * if a_registers { 1 } else { 2 };
    let full = 4 + sparse + 2 * usize::from(form.can_negate()) + transposes;
    i.expect(full)?;
    let mut slots = Vec::new();
    let d = registers(&i.operands[0], nd, "D")?;
    for operand in d {
        slots.push(e.dst(operand, Ty::B32)?);
    }
    // D is read as well; a dropped D (scale-d false) is no use of it, so it is not named as a source.
    if a_registers {
        for operand in registers(&i.operands[1], na, "A")? {
            slots.push(e.src(operand, Ty::B32)?);
        }
    } else {
        slots.push(e.src(&i.operands[1], Ty::B64)?);
    }
    slots.push(e.src(&i.operands[2], Ty::B64)?);
    let mut at = 3;
    if form.sparse {
        slots.push(e.src(&i.operands[3], Ty::B32)?);
        slots.push(e.src(&i.operands[4], Ty::B32)?);
        at = 5;
    }
    let (scale, scale_negated) = e.pred(&i.operands[at])?;
    let immediate = |at: usize| match i.operands.get(at) {
        Some(Operand::Int(value)) => Ok(*value as i64),
        _ => Err(format!("`{}`: operand {at} must be an immediate", i.opcode)),
    };
    let mut call = Call {
        form,
        a_registers,
        negate_a: false,
        negate_b: false,
        transpose_a: false,
        transpose_b: false,
        scale_negated,
    };
    at += 1;
    if form.can_negate() {
        (call.negate_a, call.negate_b) = (immediate(at)? == -1, immediate(at + 1)? == -1);
        at += 2;
    }
    if form.can_transpose() {
        if !a_registers {
            call.transpose_a = immediate(at)? != 0;
            at += 1;
        }
        call.transpose_b = immediate(at)? != 0;
    }
    static CALLS: OnceLock<Mutex<HashMap<Call, &'static Call>>> = OnceLock::new();
    let mut op = e.op(run);
    op.imm = std::ptr::from_ref(intern(&CALLS, call, || call)) as i64;
    op.c = scale;
    op.e = Slot(window_code(Window::Shared));
    (op.list, op.list_len) = e.list(&slots);
    op.site = e.site(true, CHUNK as u32);
    // Each of the four warps does a quarter.
    op.d = Slot((ROWS * form.n * form.k) as u32);
    e.push(op, Taint::Compute);
    Ok(())
}

/// Where registers may be touched: the decoder has checked the ways to each product (`build::fences`).
unsafe fn fence(cx: &mut Cx<'_>, _: &Op) -> Flow {
    match whole_warp(cx, "wgmma.fence") {
        Err(flow) => flow,
        Ok(()) => Flow::Next,
    }
}

unsafe fn commit(cx: &mut Cx<'_>, _: &Op) -> Flow {
    if let Err(flow) = whole_warp(cx, "wgmma.commit_group") {
        return flow;
    }
    cx.block.pending.wgmma_group[cx.warp.index as usize] += 1;
    Flow::Next
}

/// The products were computed when they were issued; what the checks hold back is free from here.
unsafe fn wait(cx: &mut Cx<'_>, op: &Op) -> Flow {
    if let Err(flow) = whole_warp(cx, "wgmma.wait_group") {
        return flow;
    }
    // The operation is the whole warpgroup's: it is not complete before all four warps have issued it.
    let groups = cx.block.pending.wgmma_group[cx.warp.index as usize].saturating_sub(op.imm as u32);
    if let Some(flow) = cx.await_progress(Progress { groups, products: 0 }) {
        return flow;
    }
    cx.wait_wgmma(op.imm as u32);
    Flow::Next
}

/// What the flow analysis must tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Fence,
    Wait,
    Product,
}

/// The part that an instruction plays among those of `wgmma`.
pub fn part(op: &Op) -> Option<Part> {
    let is = |f: crate::exec::op::Exec| op.run as usize == f as usize;
    match () {
        () if is(fence) => Some(Part::Fence),
        () if is(wait) => Some(Part::Wait),
        () if is(run) => Some(Part::Product),
        () => None,
    }
}

/// A product.
pub fn is_one(op: &Op) -> bool {
    part(op) == Some(Part::Product)
}

/// The registers that hold A, of what a product reads.
pub fn fragments<'s>(op: &Op, reads: &'s [Slot]) -> &'s [Slot] {
    // SAFETY: `imm` of a product holds a call that lives for ever.
    let call = unsafe { &*(op.imm as usize as *const Call) };
    if call.a_registers { &reads[..call.form.registers().1.min(reads.len())] } else { &[] }
}

/// Marks a product that some way reaches with registers touched since the last fence.
pub fn mark_unfenced(op: &mut Op) {
    op.b = UNFENCED;
}

const UNFENCED: Slot = Slot(1);

/// Reads chunks of shared memory with the usual checks; counted as no load, since the matrix unit fetches them itself.
unsafe fn chunks(cx: &mut Cx<'_>, op: &Op, addresses: &[u32]) -> Option<Vec<[u8; CHUNK]>> {
    let mut out = Vec::with_capacity(addresses.len());
    let quiet = std::mem::replace(&mut cx.worker.quiet, true);
    for group in addresses.chunks(32) {
        let mask = u32::MAX >> (32 - group.len());
        let at = std::array::from_fn(|lane| u64::from(*group.get(lane).unwrap_or(&group[0])));
        let mut at = gathered(at, mask, CHUNK as u64);
        match cx.reach::<{ CHUNK as u64 }>(op, Window::Shared, &mut at, CHUNK as u64, AccessKind::Read) {
            Found::Yes(reach) => {
                for lane in 0..group.len() {
                    let mut chunk = [0u8; CHUNK];
                    // SAFETY: the range check covered the chunk.
                    unsafe { std::ptr::copy_nonoverlapping(reach.lane(at.at[lane], lane), chunk.as_mut_ptr(), CHUNK) };
                    out.push(chunk);
                }
            }
            Found::Mixed => {
                // Chunks in several arrays: one by one.
                for lane in 0..group.len() {
                    let mut one = gathered([at.at[lane]; 32], 1, CHUNK as u64);
                    let Found::Yes(reach) =
                        cx.reach::<{ CHUNK as u64 }>(op, Window::Shared, &mut one, CHUNK as u64, AccessKind::Read)
                    else {
                        cx.worker.quiet = quiet;
                        return None;
                    };
                    let mut chunk = [0u8; CHUNK];
                    // SAFETY: the range check covered the chunk.
                    unsafe { std::ptr::copy_nonoverlapping(reach.lane(one.at[0], 0), chunk.as_mut_ptr(), CHUNK) };
                    out.push(chunk);
                }
            }
            Found::Fault => {
                cx.worker.quiet = quiet;
                return None;
            }
        }
    }
    cx.worker.quiet = quiet;
    Some(out)
}

/// Codes of a matrix in shared memory: `place(mn, k)` says where element (mn, k) goes.
unsafe fn matrix(
    cx: &mut Cx<'_>,
    op: &Op,
    descriptor: Descriptor,
    (first, count, k): (usize, usize, usize),
    (bits, transposed): (usize, bool),
    chunks_read: &mut Vec<u32>,
    place: impl Fn(usize, usize) -> usize,
) -> Option<Vec<u32>> {
    // One-bit matrices are handled as words of 32.
    let (unit, k) = if bits == 1 { (32, k / 32) } else { (bits, k) };
    let per_chunk = CHUNK * 8 / unit;
    let mut addresses = Vec::new();
    if transposed {
        for chunk in 0..count / per_chunk {
            addresses.extend((0..k).map(|kk| descriptor.mn_major((first / per_chunk + chunk) as u32, kk as u32)));
        }
    } else {
        for mn in 0..count {
            addresses.extend((0..k / per_chunk).map(|chunk| descriptor.k_major((first + mn) as u32, chunk as u32)));
        }
    }
    // SAFETY: passed on.
    let data = unsafe { chunks(cx, op, &addresses)? };
    chunks_read.extend(addresses);
    let mut codes = vec![0; count * k];
    for (i, chunk) in data.iter().enumerate() {
        for (e, bytes) in chunk.chunks(unit / 8).enumerate() {
            let code = bytes.iter().rev().fold(0u32, |code, &byte| code << 8 | u32::from(byte));
            let (mn, kk) = if transposed {
                (i / k * per_chunk + e, i % k)
            } else {
                let row_chunks = k / per_chunk;
                (i / row_chunks, i % row_chunks * per_chunk + e)
            };
            codes[place(mn, kk)] = code;
        }
    }
    Some(codes)
}

unsafe fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: `imm` holds a call that lives for ever; slots of a decoded instruction.
    unsafe {
        let call = &*(op.imm as usize as *const Call);
        let form = &call.form;
        if let Err(flow) = whole_warp(cx, "wgmma.mma_async") {
            return flow;
        }
        if let Some(flow) = cx.await_warpgroup() {
            return flow;
        }
        let slots = cx.image().list(op);
        let (nd, na) = form.registers();
        let (d_slots, rest) = slots.split_at(nd);
        let bits = form.element_bits();
        let stored = form.stored_k();
        let first_row = cx.warp.index as usize % 4 * ROWS;
        let words = if bits == 1 { stored / 32 } else { stored };
        let mut read = Vec::new();
        let fragments = if call.a_registers { &rest[..na] } else { &[] };
        let (a, rest) = if call.a_registers {
            let mut rows = [&[0u32; 32]; 4];
            for (to, slot) in rows.iter_mut().zip(&rest[..na]) {
                *to = row(cx, *slot);
            }
            (Some(form.a_from_registers(&rows)), &rest[na..])
        } else {
            let descriptor = Descriptor::decode((*cx.row::<u64>(rest[0]))[0]);
            let a =
                matrix(cx, op, descriptor, (first_row, ROWS, stored), (bits, call.transpose_a), &mut read, |mn, k| {
                    mn * words + k
                });
            (a, &rest[1..])
        };
        let descriptor = Descriptor::decode((*cx.row::<u64>(rest[0]))[0]);
        let (n, k) = (form.n, form.k);
        let float = matches!(form.b, Input::Float(_));
        let b = matrix(cx, op, descriptor, (0, n, k), (bits, call.transpose_b), &mut read, |mn, kk| {
            if bits == 1 {
                mn * (k / 32) + kk
            } else if float {
                b_index(k, kk, mn)
            } else {
                kk * n + mn
            }
        });
        let (Some(a), Some(b)) = (a, b) else { return Flow::Next };
        if op.b == UNFENCED {
            cx.report_unfenced();
        }
        cx.note_product(op, &read, d_slots, fragments);
        let metadata = if form.sparse { Some((row(cx, rest[1]), row(cx, rest[2])[0] as usize)) } else { None };
        let scale = cx.pred(op.c) ^ if call.scale_negated { u32::MAX } else { 0 };
        let options =
            Options { accumulate: scale & 1 != 0, negate_a: call.negate_a, negate_b: call.negate_b, metadata };
        let mut d: Vec<[u32; 32]> = d_slots.iter().map(|slot| *cx.row::<u32>(*slot)).collect();
        if let Err(undefined) = warpgroup::run(form, a, b, options, &mut d) {
            report_undefined(cx, &undefined.to_string());
            return Flow::Next;
        }
        for (from, slot) in d.iter().zip(d_slots) {
            let to = cx.row_mut::<u32>(*slot);
            blend(cx.mask, to, from);
        }
    }
    Flow::Next
}
