//! Block barriers, warp barriers and fences.

use super::{Row, Ty};
use crate::check::repeats::Told;
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
use crate::exec::lanes::BASE;
#[cfg(target_arch = "x86_64")]
use crate::exec::op::Exec;
use crate::exec::op::{Flow, Op, Taint};
use crate::exec::sched::block::{BARRIERS, Reduced, completion};
use crate::exec::sched::warp::Wait;
use crate::report::{Class, FaultKind};

pub const ROWS: &[Row] = &[
    Row { opcode: "bar", class: Class::Barrier, decode: bar, examples: &[] },
    Row { opcode: "barrier", class: Class::Barrier, decode: bar, examples: &[] },
    Row { opcode: "membar", class: Class::Barrier, decode: fence, examples: &[] },
    Row { opcode: "fence", class: Class::Barrier, decode: fence, examples: &[] },
];

/// What a barrier instruction does, in `Op::imm`.
const SYNC: i64 = 0;
const ARRIVE: i64 = 1;
const RED_POPC: i64 = 2;
const RED_AND: i64 = 3;
const RED_OR: i64 = 4;
/// All lanes of the warp must be there.
const ALIGNED: i64 = 1 << 8;
const COUNTED: i64 = 1 << 9;
const NEGATED: i64 = 1 << 10;

fn bar(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if i.take("warp") {
        i.take("sync");
        i.expect(1)?;
        let mut op = e.op(warp_sync);
        op.a = e.src(&i.operands[0], Ty::B32)?;
        e.push(op, Taint::Use);
        return Ok(());
    }
    if i.take("cluster") {
        return super::cluster::barrier(e, i);
    }
    i.take("cta");
    let aligned = i.take("aligned") || i.name == "bar";
    let what = match i.take_any(&["sync", "arrive", "red"]) {
        Some("sync") => SYNC,
        Some("arrive") => ARRIVE,
        Some(_) => match i.take_any(&["popc", "and", "or"]) {
            Some("popc") => RED_POPC,
            Some("and") => RED_AND,
            Some(_) => RED_OR,
            None => return i.unsupported(),
        },
        None => return i.unsupported(),
    };
    let mut imm = what | if aligned { ALIGNED } else { 0 };
    let mut operands = i.operands;
    let mut op = e.op(barrier_exec);
    if what >= RED_POPC {
        let ty = i.ty()?;
        let Some((d, rest)) = operands.split_first() else { return i.unsupported() };
        let Some((p, middle)) = rest.split_last() else { return i.unsupported() };
        op.d = if ty == Ty::Pred { e.pred_dst(d)? } else { e.dst(d, Ty::U32)? };
        let (slot, negated) = e.pred(p)?;
        op.c = slot;
        imm |= if negated { NEGATED } else { 0 };
        operands = middle;
    }
    if operands.is_empty() || operands.len() > 2 {
        return i.unsupported();
    }
    op.a = e.src(&operands[0], Ty::U32)?;
    if let Some(count) = operands.get(1) {
        op.b = e.src(count, Ty::U32)?;
        imm |= COUNTED;
    }
    op.imm = imm;
    if imm == SYNC | ALIGNED && op.a.is_pool() {
        op.run = sync_block;
    }
    e.push(op, Taint::Use);
    Ok(())
}

/// Whether it is what `__syncthreads()` becomes.
#[cfg(target_arch = "x86_64")]
pub fn is_block_barrier(op: &Op) -> bool {
    std::ptr::fn_addr_eq(op.run, sync_block as Exec)
}

/// `bar.sync` with a number in the text and no thread count, by a whole warp: what `__syncthreads()` is.
///
/// # Safety
/// As [`Exec`].
pub unsafe fn sync_block(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let pc = cx.pc;
    // SAFETY: slots of a decoded instruction.
    let id = unsafe { cx.lane::<u32>(op.a, 0) } as usize;
    if cx.mask != cx.warp.live || id >= BARRIERS {
        // SAFETY: passed on.
        return unsafe { barrier_exec(cx, op) };
    }
    if cx.watch & crate::exec::cx::watch::COUNT != 0 {
        cx.worker.counts.barrier(pc);
    }
    cx.finish_acquires(true);
    cx.check_meeting(id, None, pc);
    let generation = cx.block.barriers[id].generation;
    let threads = cx.mask.count_ones();
    if cx.block.arrive(id, threads, None, &cx.warp, pc) {
        cx.warp.pass_barrier(&cx.block.barriers[id]);
        return Flow::Next;
    }
    let current = cx.warp.current;
    cx.warp.set_awaited(current, 0);
    cx.suspend(pc + 1, Wait::Barrier { id: id as u32, generation })
}

unsafe fn barrier_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let pc = cx.pc;
    let first = cx.mask.trailing_zeros() as usize & 31;
    // SAFETY: slots of a decoded instruction.
    let id = unsafe { cx.lane::<u32>(op.a, first) } as usize;
    // SAFETY: slots of a decoded instruction.
    let count = (op.imm & COUNTED != 0).then(|| unsafe { cx.lane::<u32>(op.b, first) });
    // SAFETY: slots of a decoded instruction.
    let differs = !op.a.is_pool() && lanes(cx.mask).any(|lane| unsafe { cx.lane::<u32>(op.a, lane) } as usize != id);
    if differs
        && op.imm & ALIGNED != 0
        && cx.grid.options.checks.barrier
        && !cx.repeats(Told::alone(FaultKind::BarrierDivergence, pc), cx.mask.count_ones())
    {
        let message = format!(
            "{} and other lanes of its warp name different barriers; all lanes of a warp must name the same one",
            text_of(&cx.thread(first))
        );
        cx.fault(FaultKind::BarrierDivergence, pc, Some(first), cx.mask.count_ones(), message, Detail::default());
    }
    if id >= BARRIERS || count.is_some_and(|count| count == 0 || count % 32 != 0) {
        let message = if id >= BARRIERS {
            format!("{} uses barrier {id}; there are barriers 0 to 15", text_of(&cx.thread(first)))
        } else {
            format!(
                "{} waits at barrier {id} for {} threads, which is no positive multiple of 32",
                text_of(&cx.thread(first)),
                count.unwrap_or(0)
            )
        };
        cx.fault(FaultKind::BarrierDivergence, pc, Some(first), 1, message, Detail::default());
        cx.grid.abort();
        return Flow::Next;
    }
    let what = op.imm & 0xff;
    // A group that waited comes back here, awake, to fetch the result of a reduction.
    if what >= RED_POPC
        && let Some(completion) = cx.warp.take_awaited(cx.warp.current)
    {
        let result = cx.block.barriers[id].fetch(completion);
        // SAFETY: passed on.
        unsafe { finish_reduction(cx, op, result) };
        return Flow::Next;
    }
    // Since Volta every thread comes to a barrier of the whole block for itself, whatever the rest of its warp does; so a
    // part of a warp counts as what it is, unless a check is to say that it should have been all of it.
    let alone = op.imm & ALIGNED == 0 || count.is_none() && !cx.grid.options.checks.barrier;
    if alone && cx.mask != cx.active {
        // Lanes whose predicate says no do not wait.
        let next = pc + 1;
        return cx.diverge(cx.mask, pc, next, next);
    }
    if !alone && cx.mask != cx.warp.live {
        // Part of the warp: wait for the siblings to come to the same instruction.
        let together = cx.mask | cx.warp.together_at(pc, cx.warp.splits[cx.warp.current].frame);
        if together != cx.warp.live {
            if cx.mask != cx.active {
                let next = pc + 1;
                return cx.diverge(cx.mask, pc, next, next);
            }
            return cx.suspend(pc, Wait::Together);
        }
        // Those that waited arrive with this group, and all wait on.
        let generation = cx.block.barriers[id].generation;
        let current = cx.warp.current;
        let waiting = Wait::Barrier { id: id as u32, generation };
        let arrive_only = what == ARRIVE;
        for (index, split) in cx.warp.splits.iter_mut().enumerate() {
            if index != current && split.wait == Wait::Together && split.pc == pc {
                split.wait = if arrive_only { Wait::Ready } else { waiting };
                if arrive_only || what == SYNC {
                    split.pc = pc + 1;
                }
                if what >= RED_POPC {
                    split.awaited = completion(generation);
                    cx.block.barriers[id].reducing += 1;
                }
            }
        }
        cx.mask = together;
    }
    if cx.watch & crate::exec::cx::watch::COUNT != 0 {
        cx.worker.counts.barrier(pc);
    }
    if what >= RED_POPC {
        // SAFETY: slots of a decoded instruction.
        let values = unsafe { cx.pred(op.c) } ^ if op.imm & NEGATED != 0 { u32::MAX } else { 0 };
        let barrier = &mut cx.block.barriers[id];
        barrier.count += (values & cx.mask).count_ones();
        barrier.all &= values & cx.mask == cx.mask;
        barrier.any |= values & cx.mask != 0;
    }
    // With a thread count the barrier counts whole warps.
    let threads = if count.is_some() && cx.mask == cx.warp.live { 32 } else { cx.mask.count_ones() };
    cx.finish_acquires(true);
    cx.check_meeting(id, count, pc);
    let generation = cx.block.barriers[id].generation;
    let done = cx.block.arrive(id, threads, count, &cx.warp, pc);
    {
        let time = &mut cx.block.time;
        if what == ARRIVE {
            cx.warp.tick(time);
        }
    }
    if what == ARRIVE {
        return Flow::Next;
    }
    if done {
        cx.warp.pass_barrier(&cx.block.barriers[id]);
        if what >= RED_POPC {
            // SAFETY: passed on.
            unsafe { finish_reduction(cx, op, cx.block.barriers[id].result) };
        }
        return Flow::Next;
    }
    let current = cx.warp.current;
    let at = if what >= RED_POPC {
        cx.block.barriers[id].reducing += 1;
        cx.warp.set_awaited(current, completion(generation));
        pc
    } else {
        cx.warp.set_awaited(current, 0);
        pc + 1
    };
    cx.suspend(at, Wait::Barrier { id: id as u32, generation })
}

impl Cx<'_> {
    /// Compares an arrival with the first one of the same generation: they must mean the same barrier.
    #[inline(always)]
    fn check_meeting(&mut self, id: usize, count: Option<u32>, pc: u32) {
        let barrier = &self.block.barriers[id];
        if barrier.arrived != 0 && barrier.first_pc != pc && self.grid.options.checks.barrier {
            self.check_different(id, count, pc);
        }
    }

    /// The same, where the first one is another instruction.
    fn check_different(&mut self, id: usize, count: Option<u32>, pc: u32) {
        let barrier = &self.block.barriers[id];
        let first = barrier.first_pc;
        let image = self.image();
        let threads =
            |count: Option<u32>| count.map_or("the whole block".to_owned(), |count| format!("{count} threads"));
        let lane = self.mask.trailing_zeros() as usize & 31;
        let who = text_of(&self.thread(lane));
        let message = if barrier.expected != count {
            format!(
                "{who} waits at barrier {id} for {} while others already wait there at {} for {}; give all of them the \
                 same count",
                threads(count),
                image.place(first),
                threads(barrier.expected)
            )
        } else if id == 0 && count.is_none() && image.infos[first as usize].source != image.infos[pc as usize].source {
            let (Some(here), Some(there)) = (image.source(pc), image.source(first)) else { return };
            if (&here.file, here.line) == (&there.file, there.line) {
                return;
            }
            format!(
                "{who} waits at the __syncthreads() of line {} while other threads of the block wait at that of line {}; \
                 all threads of a block must reach the same one",
                here.line, there.line
            )
        } else {
            return;
        };
        let other = image.other_side(Some(first), self.thread_of(barrier.first_thread), None);
        let detail = Detail { other: Some(other), ..Detail::default() };
        self.fault(FaultKind::BarrierDivergence, pc, Some(lane), self.mask.count_ones(), message, detail);
    }
}

unsafe fn finish_reduction(cx: &mut Cx<'_>, op: &Op, (count, all, any): Reduced) {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        match op.imm & 0xff {
            RED_POPC => {
                for lane in lanes(cx.mask) {
                    cx.set_lane::<u32>(op.d, lane, count);
                }
            }
            RED_AND => cx.set_pred(op.d, if all { u32::MAX } else { 0 }),
            _ => cx.set_pred(op.d, if any { u32::MAX } else { 0 }),
        }
    }
}

unsafe fn warp_sync(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    let members = match unsafe { cx.members::<BASE>(op.a) } {
        Ok(members) => members,
        Err(flow) => return flow,
    };
    if let Some(flow) = cx.gather(members, true) {
        return flow;
    }
    let time = &mut cx.block.time;
    cx.warp.sync_some(members, time);
    Flow::Next
}

/// What a fence does, in `Op::imm`.
const NARROW: i64 = 1;
const PROXY: i64 = 2;
const ASYNC_PROXY: i64 = 4;
/// It shows what `mbarrier.init` made to copy engines and other blocks.
const SHOWS: i64 = 8;

fn fence(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let narrow = i.take("cta");
    let proxy = !i.take_where(|part| part.starts_with("proxy")).is_empty();
    let asynchronous = !i.take_where(|part| part == "async" || part.starts_with("async::")).is_empty();
    let initialised = i.take("mbarrier_init");
    i.take_where(|part| {
        matches!(
            part,
            "gl" | "sys"
                | "gpu"
                | "cluster"
                | "sc"
                | "acq_rel"
                | "acquire"
                | "release"
                | "alias"
                | "generic"
                | "tensormap"
                | "sync_restrict"
                | "global"
                | "shared"
        ) || part.contains("::")
    });
    let mut op = e.op(fence_exec);
    op.imm = if narrow { NARROW } else { 0 }
        | if proxy { PROXY } else { 0 }
        | if proxy && asynchronous { ASYNC_PROXY } else { 0 }
        | if initialised || proxy && asynchronous { SHOWS } else { 0 };
    e.push(op, Taint::Copy);
    Ok(())
}

unsafe fn fence_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    if op.imm & SHOWS != 0 {
        cx.show_mbarriers();
    }
    if op.imm & PROXY == 0 {
        cx.fence(op.imm & NARROW != 0);
    } else if op.imm & ASYNC_PROXY != 0 {
        cx.fence_async_proxy();
    }
    Flow::Next
}
