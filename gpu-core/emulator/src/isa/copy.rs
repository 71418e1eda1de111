//! `cp.async` and its groups. The bulk and tensor forms are in `bulk.rs`.

use std::mem::MaybeUninit;

use super::memory::{Place, ordering, place};
use super::{Row, Ty};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{Body, exec_widest, is_spare};
use crate::exec::memory::access::{Access, AddressWord, Found, Prepared, Reach, Runs, addresses, window_code};
use crate::exec::memory::quick::Shape;
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::memory::space::Window;
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
    let mut op = e.op(match (to.wide, bytes) {
        (false, 4) => exec_widest::<Copies<u32, 4>>(),
        (false, 8) => exec_widest::<Copies<u32, 8>>(),
        (false, _) => exec_widest::<Copies<u32, 16>>(),
        (true, 4) => exec_widest::<Copies<u64, 4>>(),
        (true, 8) => exec_widest::<Copies<u64, 8>>(),
        (true, _) => exec_widest::<Copies<u64, 16>>(),
    });
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
    // For the source: see `read_whole`.
    e.site(from.wide, bytes as u32);
    e.push(op, Taint::Use);
    Ok(())
}

/// Bytes of 32 lanes at most.
const ROOM: usize = 512;

/// The data arrives at once, but its bytes count as pending until the group is waited for.
struct Copies<A, const BYTES: u64>(std::marker::PhantomData<A>);

impl<A: AddressWord, const BYTES: u64> Body for Copies<A, BYTES> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let mask = cx.mask;
        // What lanes that run read is set, and nothing else is asked.
        let mut room = MaybeUninit::<[u8; ROOM]>::uninit();
        let data = room.as_mut_ptr().cast::<u8>();
        // SAFETY: slots of a decoded instruction; pointers were range-checked.
        unsafe {
            let mut source = Op { a: op.b, e: Slot(window_code(Window::Global)), ..op.clone() };
            source.imm = (*cx.row::<u64>(op.c))[0] as i64;
            let read = if op.list_len & 6 == 0 || is_whole(cx, op, BYTES as u32) {
                read_whole::<FORM, BYTES>(cx, op, &mut source, data)
            } else {
                read_parts::<BYTES>(cx, op, &mut source, data)
            };
            if let Err(flow) = read {
                return flow;
            }
            let target = Op { e: Slot(window_code(Window::Shared)), ..op.clone() };
            if let Err(flow) = write_whole::<FORM, A, BYTES>(cx, op, &target, data) {
                return flow;
            }
        }
        cx.worker.counts.async_bytes(cx.pc, BYTES * u64::from(mask.count_ones()));
        Flow::Next
    }
}

/// Reads as much as is written, mostly from a few runs.
///
/// # Safety
/// As [`Exec`]; `source` is `op` as a load. The machine must have what `FORM` is for.
#[inline(always)]
unsafe fn read_whole<const FORM: u8, const BYTES: u64>(
    cx: &mut Cx<'_>,
    op: &Op,
    source: &mut Op,
    data: *mut u8,
) -> Result<(), Flow> {
    // SAFETY: slots of a decoded instruction; pointers were range-checked.
    unsafe {
        if !is_spare(FORM) {
            // A number of its own, or what is remembered of the one would be taken for the other.
            source.site = op.site + 1;
            let mut runs = MaybeUninit::uninit();
            let quick = cx.quick::<FORM, u64, BYTES, false>(source, &mut runs);
            let (from, to) = (quick.pointer, data);
            match quick.shape {
                Shape::Dense => std::ptr::copy_nonoverlapping(from, to, 32 * BYTES as usize),
                Shape::First => std::ptr::copy_nonoverlapping(from, to, cx.mask.count_ones() as usize * BYTES as usize),
                Shape::Same => lanes(u32::MAX).for_each(|lane| element::<BYTES>(from, to, 0, lane)),
                Shape::Runs => {
                    let runs: &Runs = runs.assume_init_ref();
                    for lane in 0..32 {
                        element::<BYTES>(from.wrapping_add(runs.at(lane) as usize), to, 0, lane);
                    }
                }
                Shape::Other => {}
            }
            source.site = op.site;
            if quick.shape != Shape::Other {
                return Ok(());
            }
        }
        let mut access = Access::new();
        match cx.prepare::<u64, BYTES>(source, AccessKind::Read, &mut access) {
            Prepared::Lanes => {}
            Prepared::Mixed => return Err(cx.one_by_one(op)),
            Prepared::Fault => return Err(Flow::Next),
        }
        let (at, reach) = (access.all.assume_init_ref(), access.reach.assume_init_ref());
        for lane in lanes(cx.mask) {
            element::<BYTES>(reach.lane(at.at[lane], lane), data, 0, lane);
        }
    }
    Ok(())
}

/// Copies an element of `BYTES` to another place in a list of such.
///
/// # Safety
/// Both must be there.
#[inline(always)]
unsafe fn element<const BYTES: u64>(from: *const u8, to: *mut u8, at: usize, index: usize) {
    let bytes = BYTES as usize;
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(from.add(at * bytes), to.add(index * bytes), bytes) };
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

/// Fills shared memory, mostly as the last time.
///
/// # Safety
/// As [`Exec`]; `target` is `op` as a store. The machine must have what `FORM` is for.
#[inline(always)]
unsafe fn write_whole<const FORM: u8, A: AddressWord, const BYTES: u64>(
    cx: &mut Cx<'_>,
    op: &Op,
    target: &Op,
    data: *const u8,
) -> Result<(), Flow> {
    let mask = cx.mask;
    // SAFETY: slots of a decoded instruction; pointers were range-checked.
    unsafe {
        let mut access = Access::new();
        match cx.prepare::<A, BYTES>(target, AccessKind::AsyncCopy, &mut access) {
            Prepared::Lanes => {}
            Prepared::Mixed => return Err(cx.one_by_one(op)),
            Prepared::Fault => return Err(Flow::Next),
        }
        let (at, reach) = (access.all.assume_init_ref(), access.reach.assume_init_ref());
        for lane in lanes(mask) {
            element::<BYTES>(data, reach.lane(at.at[lane], lane), lane, 0);
        }
        cx.start_copy(at.at.map(|address| address as u32), at.mask, at.contiguous, BYTES as u32);
    }
    Ok(())
}

/// What is read where lanes read less than they write: nothing (an ignored source) or as much as `src-size` says. Each
/// size is read in pieces of widths that memory knows.
unsafe fn read_parts<const BYTES: u64>(cx: &mut Cx<'_>, op: &Op, source: &mut Op, data: *mut u8) -> Result<(), Flow> {
    let (bytes, mask, offset) = (BYTES, cx.mask, source.imm);
    // SAFETY: as the caller says.
    unsafe { data.write_bytes(0, ROOM) };
    let mut sizes = [bytes; 32];
    let mut beyond = None;
    for lane in lanes(mask) {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            if op.list_len & 4 != 0 {
                let asked = u64::from(cx.lane::<u32>(op.d, lane));
                sizes[lane] = asked.min(bytes);
                if asked > bytes {
                    beyond = Some(asked as u32 as i32);
                }
            } else if (cx.pred(op.e) >> lane & 1 != 0) != (op.list_len & 1 != 0) {
                sizes[lane] = 0;
            }
        }
    }
    if let Some(asked) = beyond {
        let why = format!(
            "`cp.async` is to read {asked} bytes of the {bytes} that it writes: the source size is from 0 to {bytes}"
        );
        super::matrix::report_undefined(cx, &why);
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
                16 => cx.reach::<16>(op, window, &mut at, align, kind),
                8 => cx.reach::<8>(op, window, &mut at, align, kind),
                4 => cx.reach::<4>(op, window, &mut at, align, kind),
                2 => cx.reach::<2>(op, window, &mut at, align, kind),
                _ => cx.reach::<1>(op, window, &mut at, align, kind),
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
                // SAFETY: pointers were range-checked.
                unsafe {
                    let to = data.add(lane * BYTES as usize + done as usize);
                    std::ptr::copy_nonoverlapping(reach.lane(at.at[lane], lane), to, piece as usize);
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
