//! `mbarrier`: barriers in shared memory that count arrivals and bytes of asynchronous copies.
//!
//! The 64 bits are opaque in PTX; the emulator keeps the state beside the memory, by address.

use super::memory::{Place, place, space};
use super::{Row, Ty};
use crate::build::emit::{Decoded, Emit, Inst};
use crate::check::arrivals::Before;
use crate::check::repeats::Told;
use crate::exec::block::{Block, SharedArray};
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::fault::{Detail, text_of};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::exec::space::{SHARED_BASE, Window};
use crate::memory::set_bits;
use crate::ptx::tree::Operand;
use crate::report::{AccessKind, Class, FaultKind, Space, ThreadId};

pub const ROWS: &[Row] = &[Row { opcode: "mbarrier", class: Class::Barrier, decode, examples: &[] }];

/// One mbarrier.
#[derive(Clone, Debug)]
pub struct MBarrier {
    /// Arrivals of a whole phase.
    pub count: u32,
    /// Arrivals that the current phase still lacks.
    pub pending: i64,
    /// Bytes that copies still owe.
    pub bytes: i64,
    /// Completed phases, and those of which some thread of its block knows.
    pub phase: u64,
    pub known: u64,
    clocks: [u32; 32],
    released: [u32; 32],
    /// Lanes of each warp of its block that arrived in the current phase, and in the one before.
    arrived: [u32; 32],
    ended: [u32; 32],
    /// Who initialised it, at which of the block's times, and where.
    init: (u32, u32, u32),
    /// Somebody used it without being ordered behind that, which was reported.
    unordered: bool,
    /// That it was stored over has been reported.
    overwritten: bool,
    /// The phase that it began with: an earlier mbarrier at its place had those before, and tokens of it are good still.
    born: u64,
    /// It was given up. Who waits for it all the same finds what it was, as on hardware.
    pub gone: bool,
    /// That it is used all the same, or that tokens of an earlier one are, has been reported.
    late: bool,
}

impl MBarrier {
    /// Somebody has arrived, or a copy delivered, in the current phase.
    pub fn begun(&self) -> bool {
        self.pending != i64::from(self.count) || self.bytes != 0
    }

    /// "lacks 3 of 4 arrivals and 256 bytes"
    pub fn lacks(&self) -> String {
        let bytes = match self.bytes {
            0 => String::new(),
            more if more > 0 => format!(" and {more} bytes of copies that were announced"),
            less => format!(" and got {} bytes that no expect_tx announced", -less),
        };
        format!("lacks {} of {} arrivals{bytes}", self.pending.max(0), self.count)
    }

    fn settle(&mut self) {
        if self.pending <= 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = i64::from(self.count);
            for (released, clock) in self.released.iter_mut().zip(&mut self.clocks) {
                *released = (*released).max(std::mem::take(clock));
            }
            self.ended = std::mem::take(&mut self.arrived);
        }
    }

    /// What a lane of warp `warp`, which has seen `clocks`, has to know before it arrives: how the phase before ended.
    /// None: it knows, as far as other warps go, or there was none.
    fn before(&self, warp: usize, clocks: &[u32; 32], lane: usize) -> Option<Before> {
        let unseen = self.released.iter().zip(clocks).any(|(released, seen)| released > seen);
        let lanes = self.ended[warp] & !(1 << lane);
        (self.phase > self.born && !self.gone && (unseen || lanes != 0)).then(|| Before {
            phase: self.phase - self.born - 1,
            count: self.count,
            released: self.released,
            lanes,
            init: self.init.2,
        })
    }

    /// Bytes of a copy have arrived; gives the phase that they belong to.
    pub fn complete(&mut self, bytes: i64) -> u64 {
        let phase = self.phase;
        self.bytes -= bytes;
        self.settle();
        phase
    }
}

const INIT: i64 = 0;
const INVAL: i64 = 1;
const ARRIVE: i64 = 2;
const EXPECT: i64 = 3;
const ARRIVE_EXPECT: i64 = 4;
const COMPLETE: i64 = 5;
const TEST: i64 = 6;
const TRY: i64 = 7;
const TEST_PARITY: i64 = 8;
const TRY_PARITY: i64 = 9;
const DROP: i64 = 10;
const DROP_EXPECT: i64 = 11;
const COPY_ARRIVE: i64 = 12;
const COPY_ARRIVE_NOINC: i64 = 13;
/// Publishes only what a fence covers.
const RELAXED: i64 = 1 << 8;

fn decode(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let what = i.take_any(&[
        "init",
        "inval",
        "arrive",
        "arrive_drop",
        "expect_tx",
        "complete_tx",
        "test_wait",
        "try_wait",
        "pending_count",
    ]);
    let Some(what) = what else { return i.unsupported() };
    if what == "pending_count" {
        i.ty()?;
        i.expect(2)?;
        let mut op = e.op(crate::exec::lanes::un(|state: u64| state as u32));
        op.a = e.src(&i.operands[1], Ty::B64)?;
        op.d = e.dst(&i.operands[0], Ty::U32)?;
        e.push(op, Taint::Compute);
        return Ok(());
    }
    let expects = what != "expect_tx" && i.take("expect_tx");
    let partial = i.take("noComplete");
    let parity = i.take("parity");
    let window = space(i);
    let taken = i.take_where(|part| {
        matches!(part, "relaxed" | "acquire" | "release" | "cta" | "cluster")
            || part.starts_with("phase_type")
            || part == "shared::cta"
            || part == "shared::cluster"
    });
    let relaxed = taken.contains(&"relaxed");
    i.take("b64");
    let operands = i.operands;
    let code = match (what, expects, parity) {
        ("init", ..) => INIT,
        ("inval", ..) => INVAL,
        ("arrive", false, _) => ARRIVE,
        ("arrive", true, _) => ARRIVE_EXPECT,
        ("arrive_drop", false, _) => DROP,
        ("arrive_drop", true, _) => DROP_EXPECT,
        ("expect_tx", ..) => EXPECT,
        ("complete_tx", ..) => COMPLETE,
        ("test_wait", _, false) => TEST,
        ("test_wait", _, true) => TEST_PARITY,
        ("try_wait", _, false) => TRY,
        _ => TRY_PARITY,
    };
    // Arrivals may give a state, waits always give a predicate.
    let mut rest = operands;
    let mut op = e.op(run_wide);
    match code {
        TEST | TRY | TEST_PARITY | TRY_PARITY => {
            let Some((d, tail)) = rest.split_first() else { return i.unsupported() };
            op.d = e.pred_dst(d)?;
            rest = tail;
        }
        ARRIVE | ARRIVE_EXPECT | DROP | DROP_EXPECT if !matches!(rest.first(), Some(Operand::Address { .. })) => {
            let Some((d, tail)) = rest.split_first() else { return i.unsupported() };
            op.d = if *d == Operand::Sink { Slot::NONE } else { e.dst(d, Ty::B64)? };
            rest = tail;
        }
        _ => {}
    }
    let Some((address, tail)) = rest.split_first() else { return i.unsupported() };
    if e.arch.number < 90 && !partial && matches!(code, ARRIVE | DROP) && !tail.is_empty() {
        return Err(format!("`{}` with a count needs sm_90 or higher, or .noComplete", i.opcode));
    }
    let at: Place = place(e, address, window)?;
    op.run = if at.wide { run_wide } else { run_narrow };
    op.a = at.base;
    op.list = at.offset as u32;
    op.list_len = (at.offset >> 32) as u32;
    op.imm = code | if relaxed { RELAXED } else { 0 };
    op.b = match (tail.first(), code) {
        (Some(count), TEST | TRY) => e.src(count, Ty::B64)?,
        // The parity operand may be a predicate-like number.
        (Some(count), _) => e.src(count, Ty::U32)?,
        (None, ARRIVE | DROP) => e.pool.splat(1, 32),
        (None, _) => e.pool.splat(0, 32),
    };
    e.push(op, Taint::Use);
    Ok(())
}

/// `cp.async.mbarrier.arrive{.noinc}.shared.b64 [addr]`: arrives when the thread's copies are done, which is at once.
pub fn copy_arrive(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if !i.take("arrive") {
        return i.unsupported();
    }
    let noinc = i.take("noinc");
    let window = space(i);
    i.take("b64");
    i.expect(1)?;
    let at = place(e, &i.operands[0], window)?;
    let mut op = e.op(if at.wide { run_wide } else { run_narrow });
    op.a = at.base;
    op.list = at.offset as u32;
    op.list_len = (at.offset >> 32) as u32;
    op.imm = if noinc { COPY_ARRIVE_NOINC } else { COPY_ARRIVE };
    op.b = e.pool.splat(1, 32);
    e.push(op, Taint::Use);
    Ok(())
}

unsafe fn run_wide(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    unsafe { run::<true>(cx, op) }
}

unsafe fn run_narrow(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    unsafe { run::<false>(cx, op) }
}

/// What the memory of an mbarrier holds: its state is kept elsewhere, and whatever else is found there was stored by
/// something that is no mbarrier operation.
const OPAQUE: u64 = u64::from_le_bytes(*b"mbarrier");

impl Cx<'_> {
    /// The block that a shared address belongs to, and its offset there.
    pub fn shared_home(&mut self, address: u64) -> Option<(*mut Block, u32)> {
        let address = if address >= SHARED_BASE { address - SHARED_BASE } else { address } as u32;
        let rank = address >> 24;
        let offset = address & 0xff_ffff;
        if rank == 0 || rank - 1 == self.block.cluster_rank {
            return Some((std::ptr::from_mut(self.block), offset));
        }
        self.peers.get(rank as usize - 1).map(|peer| (*peer, offset))
    }

    /// Before an arrival: true when the mbarrier is another block's, which then learns of this warp through the launch.
    fn publish_remote(&mut self, address: u64, lane: usize, relaxed: bool) -> bool {
        let Some((home, offset)) = self.shared_home(address) else { return false };
        if std::ptr::eq(home, self.block) {
            return false;
        }
        self.check_remote_arrival(home, address, lane);
        // SAFETY: peers of a cluster are run by this worker alone.
        let (index, phase) = unsafe { ((*home).index, (*home).mbarriers.get(&offset).map_or(0, |b| b.phase)) };
        self.publish_mbarrier(index, offset, phase, relaxed);
        true
    }

    #[cold]
    fn report_unordered(&mut self, offset: u32, lane: usize, by: ThreadId, init: u32) {
        let (image, pc) = (self.image(), self.pc);
        if self.repeats(Told::beside(FaultKind::BarrierPhase, pc, init), 1) {
            return;
        }
        let message = format!(
            "{} uses the mbarrier{} that {} initialises at {}, with no barrier between them: it may come first; \
             __syncthreads() (for other blocks a cluster barrier) goes behind mbarrier.init",
            text_of(&self.thread(lane)),
            self.shared_name(offset),
            text_of(&by),
            image.place(init)
        );
        let other = image.other_side(Some(init), by, Some(AccessKind::Write));
        let detail = Detail {
            space: Some(Space::Shared),
            address: Some(offset.into()),
            bytes: 8,
            other: Some(other),
            ..Detail::default()
        };
        self.fault(FaultKind::BarrierPhase, pc, Some(lane), 1, message, detail);
    }

    #[cold]
    fn report_overwritten(&mut self, offset: u32, lane: usize) {
        let pc = self.pc;
        if self.repeats(Told::alone(FaultKind::BarrierPhase, pc), 1) {
            return;
        }
        let message = format!(
            "{} uses the mbarrier{} after something else was stored over it; its 8 bytes belong to mbarrier operations \
             from mbarrier.init to mbarrier.inval",
            text_of(&self.thread(lane)),
            self.shared_name(offset)
        );
        let detail = Detail { space: Some(Space::Shared), address: Some(offset.into()), bytes: 8, ..Detail::default() };
        self.fault(FaultKind::BarrierPhase, pc, Some(lane), 1, message, detail);
    }

    #[cold]
    fn report_absent(&mut self, offset: u32, lane: usize) {
        let message = format!(
            "{} uses the mbarrier{} at shared address {offset:#x} before mbarrier.init (or after inval)",
            text_of(&self.thread(lane)),
            self.shared_name(offset)
        );
        let pc = self.pc;
        self.fault(FaultKind::BarrierPhase, pc, Some(lane), 1, message, Detail::default());
    }

    #[cold]
    fn report_anew(&mut self, offset: u32, lane: usize) {
        let message = format!(
            "{} waits with a token of an mbarrier{} that was initialised anew meanwhile: all threads must have seen the \
             phase end first, so a barrier such as __syncthreads() goes before mbarrier.init",
            text_of(&self.thread(lane)),
            self.shared_name(offset)
        );
        let pc = self.pc;
        self.fault(FaultKind::BarrierPhase, pc, Some(lane), 1, message, Detail::default());
    }

    /// Runs `f` on the mbarrier at a shared address of any block of the cluster.
    pub fn with_mbarrier<R>(&mut self, address: u64, lane: usize, f: impl FnOnce(&mut MBarrier) -> R) -> Option<R> {
        let (home, offset) = self.shared_home(address)?;
        // SAFETY: peers of a cluster are run by this worker alone, and only one warp of it runs.
        let found = unsafe { (*home).mbarriers.get_mut(&offset) };
        match found {
            Some(barrier) if barrier.gone => {
                if self.grid.options.checks.barrier && !std::mem::replace(&mut barrier.late, true) {
                    self.report_absent(offset, lane);
                }
                Some(f(barrier))
            }
            Some(barrier) => {
                // SAFETY: as above; it lay inside when it was initialised.
                let holds = unsafe { (*home).shared_pointer().add(offset as usize).cast::<u64>().read() };
                if holds != OPAQUE && !barrier.overwritten && self.grid.options.checks.barrier {
                    barrier.overwritten = true;
                    self.report_overwritten(offset, lane);
                }
                if !barrier.unordered && self.watch & watch::RACE != 0 {
                    // SAFETY: as above.
                    let (index, base) = unsafe { ((*home).index, (*home).base_time) };
                    let (thread, clock, pc) = barrier.init;
                    let warp = thread as usize / 32;
                    let ordered = if index == self.block.index {
                        warp == self.warp.index as usize || self.warp.seen(warp) >= clock
                    } else {
                        self.grid.syncs.ordered(
                            index,
                            u64::MAX,
                            warp,
                            clock.saturating_sub(base),
                            self.block.index,
                            || self.grid.over(),
                        )
                    };
                    if !ordered {
                        barrier.unordered = true;
                        // SAFETY: as above.
                        let by = self.grid.thread(unsafe { (*home).id }, thread);
                        self.report_unordered(offset, lane, by, pc);
                    }
                }
                Some(f(barrier))
            }
            None => {
                self.report_absent(offset, lane);
                self.grid.abort();
                None
            }
        }
    }
}

unsafe fn run<const WIDE: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (mut passed, mut refused) = (0, 0);
    let (code, relaxed) = (op.imm & !RELAXED, op.imm & RELAXED != 0);
    let waits = matches!(code, TEST | TRY | TEST_PARITY | TRY_PARITY);
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        let (base, value) = unsafe {
            let base = if WIDE { cx.lane::<u64>(op.a, lane) } else { cx.lane::<u32>(op.a, lane).into() };
            let wide = matches!(code, TEST | TRY);
            (base, if wide { cx.lane::<u64>(op.b, lane) } else { cx.lane::<u32>(op.b, lane).into() })
        };
        let offset = i64::from(op.list) | i64::from(op.list_len) << 32;
        let address = base.wrapping_add(offset as u64);
        let place = address & 0xff_ffff;
        let holds = |array: &SharedArray| {
            place >= u64::from(array.base) && place + 8 <= u64::from(array.base) + u64::from(array.bytes)
        };
        let inside = cx.grid.shared_arrays.iter().any(holds);
        if !inside || !address.is_multiple_of(8) {
            let (_, allocation) = cx.locate(Window::Shared, place, 8);
            let name = allocation.map_or(String::new(), |a| format!(" (nearest: `{}`)", a.name));
            let message = format!(
                "{} has an mbarrier at {address:#x}, which is no 8-byte aligned place in shared memory{name}",
                text_of(&cx.thread(lane))
            );
            let (pc, kind) = (cx.pc, if inside { FaultKind::Misaligned } else { FaultKind::OutOfBounds });
            cx.fault(kind, pc, Some(lane), 1, message, Detail::default());
            return Flow::Next;
        }
        match code {
            INIT => {
                let count = value as u32;
                if !(1..1 << 20).contains(&count) {
                    let message = format!(
                        "{} initialises an mbarrier for {count} arrivals; 1 to {} are possible",
                        text_of(&cx.thread(lane)),
                        (1 << 20) - 1
                    );
                    let pc = cx.pc;
                    cx.fault(FaultKind::BarrierPhase, pc, Some(lane), 1, message, Detail::default());
                }
                let Some((home, at)) = cx.shared_home(address) else { return Flow::Next };
                if std::ptr::eq(home, cx.block) && cx.grid.options.checks.barrier {
                    cx.check_reinit(at, lane);
                }
                // SAFETY: peers of a cluster are run by this worker alone.
                let earlier = unsafe { (*home).mbarriers.get(&at) };
                // Even, so that parities count from 0.
                let born = earlier.map_or(0, |earlier| (earlier.phase + 2) & !1);
                let made = MBarrier {
                    count,
                    pending: i64::from(count),
                    bytes: 0,
                    phase: born,
                    known: born,
                    clocks: [0; 32],
                    released: [0; 32],
                    arrived: [0; 32],
                    ended: [0; 32],
                    init: (cx.warp.index * 32 + lane as u32, cx.warp.clock, cx.pc),
                    unordered: false,
                    overwritten: false,
                    born,
                    gone: false,
                    late: false,
                };
                // SAFETY: peers of a cluster are run by this worker alone, and the place was found to be inside.
                unsafe {
                    (*home).mbarriers.insert(at, made);
                    (*home).shared_pointer().add(at as usize).cast::<u64>().write(OPAQUE);
                    set_bits(&(*home).shared_init, at.into(), 8);
                }
            }
            INVAL => {
                if let Some((home, at)) = cx.shared_home(address) {
                    if std::ptr::eq(home, cx.block) && cx.grid.options.checks.barrier {
                        cx.check_reinit(at, lane);
                    }
                    // SAFETY: as above.
                    if let Some(barrier) = unsafe { (*home).mbarriers.get_mut(&at) } {
                        barrier.gone = true;
                    }
                }
            }
            TEST | TRY | TEST_PARITY | TRY_PARITY => {
                let Some((done, released, phases, earlier, anew)) = cx.with_mbarrier(address, lane, |barrier| {
                    let done = match code {
                        TEST | TRY => barrier.phase != value >> 32,
                        // The phase of this parity is over when the current one has the other parity.
                        _ => barrier.phase & 1 != value & 1,
                    };
                    if done {
                        let told = if matches!(code, TEST | TRY) { (value >> 32) + 1 } else { barrier.phase };
                        barrier.known = barrier.known.max(told);
                    }
                    let earlier = matches!(code, TEST | TRY) && value >> 32 < barrier.born;
                    let anew = earlier && !barrier.gone && !std::mem::replace(&mut barrier.late, true);
                    (done, barrier.released, barrier.phase, earlier, anew)
                }) else {
                    return Flow::Next;
                };
                if anew && cx.grid.options.checks.barrier {
                    cx.report_anew((address & 0xff_ffff) as u32, lane);
                }
                let old = matches!(code, TEST | TRY) && !earlier && phases > (value >> 32) + 1;
                if old && !cx.repeats(Told::alone(FaultKind::BarrierPhase, cx.pc), 1) {
                    let message = format!(
                        "{} waits for phase {} of the mbarrier{}, but {phases} phases are over: a token is good for its own \
                         phase and until the next one ends",
                        text_of(&cx.thread(lane)),
                        value >> 32,
                        cx.shared_name((address & 0xff_ffff) as u32)
                    );
                    let pc = cx.pc;
                    cx.fault(FaultKind::BarrierPhase, pc, Some(lane), 1, message, Detail::default());
                }
                let offset = (address & 0xff_ffff) as u32;
                if done && cx.may_be_early(offset, phases, &released, lane) {
                    refused |= 1 << lane;
                } else if done {
                    passed |= 1 << lane;
                    cx.learn_mbarrier(offset, phases);
                    cx.warp.acquire(&released);
                    cx.passed_mbarrier(offset, phases, lane);
                }
            }
            _ => {
                // As they are before the arrival itself does anything.
                let clocks = cx.warp.clocks();
                if matches!(code, COPY_ARRIVE | COPY_ARRIVE_NOINC) {
                    cx.wait_copies(1 << lane, None);
                }
                let remote = cx.publish_remote(address, lane, relaxed);
                let warp = cx.warp.index as usize;
                let arrives = matches!(code, ARRIVE | ARRIVE_EXPECT | DROP | DROP_EXPECT | COPY_ARRIVE_NOINC);
                let ordered = arrives && !remote && cx.watch & watch::RACE != 0 && cx.grid.options.checks.barrier;
                let published = if relaxed { cx.fenced(true).unwrap_or_default() } else { clocks };
                let state = cx.with_mbarrier(address, lane, |barrier| {
                    let state = barrier.phase << 32 | barrier.pending.max(0) as u64;
                    let before = if ordered { barrier.before(warp, &clocks, lane) } else { None };
                    if arrives && !remote {
                        barrier.arrived[warp] |= 1 << lane;
                    }
                    if !remote {
                        for (clock, seen) in barrier.clocks.iter_mut().zip(&published) {
                            *clock = (*clock).max(*seen);
                        }
                    }
                    match code {
                        EXPECT => barrier.bytes += value as i64,
                        COMPLETE => barrier.bytes -= value as i64,
                        ARRIVE => barrier.pending -= value as i64,
                        ARRIVE_EXPECT => {
                            barrier.bytes += value as i64;
                            barrier.pending -= 1;
                        }
                        DROP | DROP_EXPECT => {
                            let gone = if code == DROP { value.max(1) } else { 1 };
                            barrier.bytes += if code == DROP_EXPECT { value as i64 } else { 0 };
                            barrier.count = barrier.count.saturating_sub(gone as u32);
                            barrier.pending -= gone as i64;
                        }
                        // Without `.noinc` the pending count is raised first, so that nothing changes.
                        COPY_ARRIVE => {}
                        _ => barrier.pending -= 1,
                    }
                    let over = barrier.pending < 0;
                    barrier.settle();
                    (state, over, before)
                });
                let Some((state, over, before)) = state else { return Flow::Next };
                if let Some(before) = before {
                    cx.check_arrival((address & 0xff_ffff) as u32, lane, &before);
                }
                if over && !cx.repeats(Told::alone(FaultKind::BarrierPhase, cx.pc), 1) {
                    let message = format!(
                        "{} arrives at an mbarrier more often than its count of this phase allows",
                        text_of(&cx.thread(lane))
                    );
                    let pc = cx.pc;
                    cx.fault(FaultKind::BarrierPhase, pc, Some(lane), 1, message, Detail::default());
                }
                if !op.d.is_none() {
                    // SAFETY: slots of a decoded instruction.
                    unsafe { cx.set_lane::<u64>(op.d, lane, state) };
                }
            }
        }
    }
    if !waits {
        cx.worker.writes += 1;
        let time = &mut cx.block.time;
        cx.warp.tick(time);
        return Flow::Next;
    }
    // SAFETY: slots of a decoded instruction.
    unsafe {
        if !op.d.is_none() {
            cx.set_pred(op.d, passed);
        }
    }
    // Who asks again is told yes: nobody else need run for that.
    if passed | refused == cx.mask {
        return Flow::Next;
    }
    // Waiting costs nobody anything: the others run first.
    if matches!(code, TRY | TRY_PARITY) || cx.polled() { Flow::Yield } else { Flow::Next }
}
