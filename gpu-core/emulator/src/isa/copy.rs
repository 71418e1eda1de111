//! `cp.async` and its groups. The bulk and tensor forms are in `bulk.rs`.

use super::memory::{Place, ordering, place};
use super::{Row, Ty};
use crate::build::emit::{Decoded, Emit, Inst};
use crate::exec::access::{AddressWord, Addresses, Found, Reach, addresses};
use crate::exec::cx::{Cx, lanes};
use crate::exec::op::{Flow, Op, Taint};
use crate::exec::space::Window;
use crate::ptx::tree::Operand;
use crate::report::{AccessKind, Class};

pub const ROWS: &[Row] = &[Row { opcode: "cp", class: Class::AsyncCopy, decode: cp, examples: &[] }];

fn cp(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let reduce = i.take("reduce");
    i.take("async");
    if i.take("bulk") {
        return super::bulk_decode::decode(e, i, reduce);
    }
    if i.take("mbarrier") {
        return super::mbarrier::copy_arrive(e, i);
    }
    if i.take("commit_group") {
        i.expect(0)?;
        let op = e.op(commit);
        e.push(op, Taint::Use);
        return Ok(());
    }
    if i.take("wait_all") {
        i.expect(0)?;
        let op = e.op(wait);
        e.push(op, Taint::Use);
        return Ok(());
    }
    if i.take("wait_group") {
        i.expect(1)?;
        let Operand::Int(pending) = i.operands[0] else { return i.unsupported() };
        let mut op = e.op(wait);
        op.imm = pending as i64;
        op.list = 1;
        e.push(op, Taint::Use);
        return Ok(());
    }
    ordering(i);
    i.take("shared::cta");
    i.take("shared");
    i.take("global");
    let [to, from, size, rest @ ..] = i.operands else { return i.unsupported() };
    let Operand::Int(bytes @ (4 | 8 | 16)) = *size else {
        return Err("cp.async copies 4, 8 or 16 bytes".to_owned());
    };
    let to: Place = place(e, to, Window::Shared)?;
    let from: Place = place(e, from, Window::Global)?;
    if !from.wide {
        return i.unsupported();
    }
    let mut op = e.op(if to.wide { copy::<u64> } else { copy::<u32> });
    op.a = to.base;
    op.imm = to.offset;
    op.b = from.base;
    // The source offset and the size travel in one slot each.
    op.c = e.pool.splat(u128::from(from.offset as u64), 64);
    op.list = bytes as u32;
    // `src-size` or an ignore predicate, then perhaps a cache policy.
    match rest.first() {
        Some(Operand::Name(name)) if e.reg(name).is_ok_and(|reg| reg.bits == 64) => {}
        Some(operand @ (Operand::Name(_) | Operand::Not(_))) if e.pred(operand).is_ok() => {
            let (slot, negated) = e.pred(operand)?;
            op.e = slot;
            op.list_len = 2 | u32::from(negated);
        }
        Some(operand) => {
            op.d = e.src(operand, Ty::U32)?;
            op.list_len = 4;
        }
        None => {}
    }
    op.site = e.site(to.wide, bytes as u32);
    e.push(op, Taint::Use);
    Ok(())
}

/// The data arrives at once, but its bytes count as pending until the group is waited for.
unsafe fn copy<A: AddressWord>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    unsafe {
        match op.list {
            4 => copy_of::<A, 4>(cx, op),
            8 => copy_of::<A, 8>(cx, op),
            _ => copy_of::<A, 16>(cx, op),
        }
    }
}

unsafe fn copy_of<A: AddressWord, const BYTES: usize>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let bytes = BYTES as u64;
    let mask = cx.mask;
    let mut data = [[0u8; BYTES]; 32];
    // SAFETY: slots of a decoded instruction; pointers were range-checked.
    unsafe {
        let mut source = op.clone();
        source.a = op.b;
        source.imm = (*cx.row::<u64>(op.c))[0] as i64;
        if op.list_len & 6 == 0 || is_whole(cx, op, BYTES as u32) {
            let mut at = addresses::<u64>(cx, &source, bytes);
            match find::<BYTES>(cx, op, Window::Global, &mut at, bytes, AccessKind::Read) {
                Found::Yes(reach) => {
                    for (lane, to) in data.iter_mut().enumerate() {
                        // Lanes that do not run repeat the address of one that does.
                        *to = reach.lane(at.at[lane], lane).cast::<[u8; BYTES]>().read_unaligned();
                    }
                }
                Found::Mixed => return cx.one_by_one(op),
                Found::Fault => return Flow::Next,
            }
        } else if let Err(flow) = read_parts::<BYTES>(cx, op, &mut source, &mut data) {
            return flow;
        }
        let mut at = addresses::<A>(cx, op, bytes);
        match find::<BYTES>(cx, op, Window::Shared, &mut at, bytes, AccessKind::AsyncCopy) {
            Found::Yes(reach) => {
                for lane in lanes(mask) {
                    reach.lane(at.at[lane], lane).cast::<[u8; BYTES]>().write_unaligned(data[lane]);
                }
                cx.start_copy(&at, bytes as u32);
            }
            Found::Mixed => return cx.one_by_one(op),
            Found::Fault => return Flow::Next,
        }
        cx.worker.counts.async_bytes(cx.pc, bytes * u64::from(mask.count_ones()));
    }
    Flow::Next
}

/// [`Cx::reach`] for a size that its caller knows.
fn find<const BYTES: usize>(
    cx: &mut Cx<'_>,
    op: &Op,
    window: Window,
    at: &mut Addresses,
    align: u64,
    kind: AccessKind,
) -> Found {
    match BYTES {
        1 => cx.reach::<1>(op, window, at, align, kind),
        2 => cx.reach::<2>(op, window, at, align, kind),
        4 => cx.reach::<4>(op, window, at, align, kind),
        8 => cx.reach::<8>(op, window, at, align, kind),
        _ => cx.reach::<16>(op, window, at, align, kind),
    }
}

/// Whether all lanes read as much as they write, although each could read less.
unsafe fn is_whole(cx: &Cx<'_>, op: &Op, bytes: u32) -> bool {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        if op.list_len & 4 != 0 {
            let sizes = &*cx.row::<u32>(op.d);
            let less = (0..32).fold(0, |less, lane| less | u32::from(sizes[lane] < bytes) << lane);
            less & cx.mask == 0
        } else {
            let ignored = cx.pred(op.e) ^ if op.list_len & 1 != 0 { u32::MAX } else { 0 };
            ignored & cx.mask == 0
        }
    }
}

/// What is read where lanes read less than they write: nothing (an ignored source) or as much as `src-size` says. Each
/// size is read in pieces of widths that memory knows.
unsafe fn read_parts<const BYTES: usize>(
    cx: &mut Cx<'_>,
    op: &Op,
    source: &mut Op,
    data: &mut [[u8; BYTES]; 32],
) -> Result<(), Flow> {
    let (bytes, mask, offset) = (BYTES as u64, cx.mask, source.imm);
    let mut sizes = [bytes; 32];
    for lane in lanes(mask) {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            if op.list_len & 4 != 0 {
                sizes[lane] = u64::from(cx.lane::<u32>(op.d, lane)).min(bytes);
            } else if (cx.pred(op.e) >> lane & 1 != 0) != (op.list_len & 1 != 0) {
                sizes[lane] = 0;
            }
        }
    }
    let present = lanes(mask).fold(0u32, |sizes_seen, lane| sizes_seen | 1 << sizes[lane]);
    for size in (1..=bytes).filter(|size| present >> size & 1 != 0) {
        cx.mask = lanes(mask).filter(|&lane| sizes[lane] == size).fold(0u32, |some, lane| some | 1 << lane);
        let mut done = 0;
        for piece in [16u64, 8, 4, 2, 1].into_iter().filter(|piece| size & piece != 0) {
            source.imm = offset.wrapping_add(done as i64);
            // SAFETY: passed on.
            let mut at = unsafe { addresses::<u64>(cx, source, piece) };
            let align = if done == 0 { bytes } else { 1 };
            let (window, kind) = (Window::Global, AccessKind::Read);
            let found = match piece {
                16 => find::<16>(cx, op, window, &mut at, align, kind),
                8 => find::<8>(cx, op, window, &mut at, align, kind),
                4 => find::<4>(cx, op, window, &mut at, align, kind),
                2 => find::<2>(cx, op, window, &mut at, align, kind),
                _ => find::<1>(cx, op, window, &mut at, align, kind),
            };
            let reach: Reach = match found {
                Found::Yes(reach) => reach,
                Found::Mixed => {
                    cx.mask = mask;
                    // SAFETY: passed on.
                    return Err(unsafe { cx.one_by_one(op) });
                }
                Found::Fault => return Err(Flow::Next),
            };
            for lane in lanes(cx.mask) {
                let to = &mut data[lane][done as usize..][..piece as usize];
                // SAFETY: pointers were range-checked.
                unsafe {
                    std::ptr::copy_nonoverlapping(reach.lane(at.at[lane], lane), to.as_mut_ptr(), piece as usize);
                }
            }
            done += piece;
        }
    }
    cx.mask = mask;
    Ok(())
}

unsafe fn commit(cx: &mut Cx<'_>, _: &Op) -> Flow {
    cx.block.copies.commit(cx.warp.index, cx.mask);
    Flow::Next
}

unsafe fn wait(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let keep = if op.list == 1 { Some(op.imm as u32) } else { None };
    let mask = cx.mask;
    cx.wait_copies(mask, keep);
    Flow::Next
}
