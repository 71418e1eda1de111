//! `mbarrier`: barriers in shared memory that count arrivals and bytes of asynchronous copies.
//!
//! The 64 bits are opaque in PTX; the emulator keeps the state beside the memory, by address.

use super::mbarrier_run::{run_narrow, run_wide};
use super::memory::{Place, place, space};
use super::{Row, Ty};
use crate::check::async_copy::arrivals::Before;
use crate::check::race::known::Known;
use crate::check::repeats::Told;
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, watch};
use crate::exec::fault::{Detail, text_of};
use crate::exec::op::{Slot, Taint};
use crate::exec::sched::block::Block;
use crate::memory::space::SHARED_BASE;
use crate::ptx::tree::Operand;
use crate::report::{AccessKind, Class, FaultKind, Space, StepBarrier, ThreadId};

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
    pub(super) clocks: Known,
    pub(super) released: Known,
    /// Lanes of each warp of its block that arrived in the current phase, and in the one before.
    pub(super) arrived: [u32; 32],
    ended: [u32; 32],
    /// Who initialised it, at which of the block's times, and where.
    init: (u32, u32, u32),
    /// Copy engines can see that: a fence came behind it.
    pub shown: bool,
    /// Somebody used it without being ordered behind that, which was reported.
    unordered: bool,
    /// That it was stored over has been reported.
    overwritten: bool,
    /// The phase that it began with: an earlier mbarrier at its place had those before, and tokens of it are good still.
    pub born: u64,
    /// It was given up. Who waits for it all the same finds what it was, as on hardware.
    pub gone: bool,
    /// That it is used all the same, or that tokens of an earlier one are, has been reported.
    pub(super) late: bool,
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

    pub(super) fn settle(&mut self) {
        if self.pending <= 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = i64::from(self.count);
            self.released.join(&std::mem::take(&mut self.clocks));
            self.ended = std::mem::take(&mut self.arrived);
        }
    }

    /// What lanes of warp `warp`, which has seen `clocks`, have to know before they arrive: how the phase before ended.
    /// None: they know, as far as other warps go, or there was none.
    pub(super) fn before(&self, warp: usize, clocks: &[u32; 32]) -> Option<Before> {
        let unseen = self.released.clocks.iter().zip(clocks).any(|(released, seen)| released > seen);
        let lanes = self.ended[warp];
        (self.phase > self.born && !self.gone && (unseen || lanes != 0)).then(|| Before {
            phase: self.phase - self.born - 1,
            count: self.count,
            released: self.released.clocks,
            lanes,
            init: self.init.2,
        })
    }

    /// One that was just initialised, by a thread of the block at a time and an instruction, after `earlier` at its place.
    pub(super) fn new(count: u32, init: (u32, u32, u32), earlier: Option<&MBarrier>) -> MBarrier {
        // Even, so that parities count from 0.
        let born = earlier.map_or(0, |earlier| (earlier.phase + 2) & !1);
        MBarrier {
            count,
            pending: i64::from(count),
            bytes: 0,
            phase: born,
            known: born,
            clocks: Known::default(),
            released: Known::default(),
            arrived: [0; 32],
            ended: [0; 32],
            init,
            shown: false,
            unordered: false,
            overwritten: false,
            born,
            gone: false,
            late: false,
        }
    }

    /// The thread that initialised it, and when.
    pub fn made_by(&self) -> (u32, u32) {
        (self.init.0, self.init.1)
    }

    pub fn made_at(&self) -> u32 {
        self.init.2
    }

    /// Bytes of a copy have arrived; gives the phase that they belong to.
    pub fn complete(&mut self, bytes: i64) -> u64 {
        let phase = self.phase;
        self.bytes -= bytes;
        self.settle();
        phase
    }
}

pub(super) const INIT: i64 = 0;
pub(super) const INVAL: i64 = 1;
pub(super) const ARRIVE: i64 = 2;
pub(super) const EXPECT: i64 = 3;
pub(super) const ARRIVE_EXPECT: i64 = 4;
pub(super) const COMPLETE: i64 = 5;
pub(super) const TEST: i64 = 6;
pub(super) const TRY: i64 = 7;
pub(super) const TEST_PARITY: i64 = 8;
pub(super) const TRY_PARITY: i64 = 9;
pub(super) const DROP: i64 = 10;
pub(super) const DROP_EXPECT: i64 = 11;
pub(super) const COPY_ARRIVE: i64 = 12;
pub(super) const COPY_ARRIVE_NOINC: i64 = 13;
/// Publishes only what a fence covers.
pub(super) const RELAXED: i64 = 1 << 8;

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

/// What the memory of an mbarrier holds: its state is kept elsewhere, and whatever else is found there was stored by
/// something that is no mbarrier operation.
pub(super) const OPAQUE: u64 = u64::from_le_bytes(*b"mbarrier");

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
    pub(super) fn publish_remote(&mut self, address: u64, lane: usize, relaxed: bool) -> bool {
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

    /// Before an mbarrier of the own block is initialised: that no other thread does so too, with nothing in between.
    #[cold]
    pub(super) fn check_first(&mut self, offset: u32, lane: usize) {
        let own = self.warp.index * 32 + lane as u32;
        let Some(earlier) = self.block.mbarriers.get(&offset).filter(|barrier| !barrier.gone) else { return };
        let (thread, clock, pc) = earlier.init;
        let warp = thread / 32;
        // Lanes of one warp that do it in one instruction, or threads of two warps that nothing orders.
        let ordered =
            if warp == self.warp.index { self.warp.clock > clock } else { self.warp.heard(warp as usize) >= clock };
        if thread == own || ordered || self.repeats(Told::beside(FaultKind::BarrierPhase, self.pc, pc), 1) {
            return;
        }
        let by = self.grid.thread(self.block.id, thread);
        let message = format!(
            "{} initialises the mbarrier{} that {} initialises too, with no barrier between them: one thread makes an \
             mbarrier, as in `if (threadIdx.x == 0)`, and __syncthreads() behind it shows it to the others",
            text_of(&self.thread(lane)),
            self.shared_name(offset),
            text_of(&by)
        );
        let other = self.image().other_side(Some(pc), by, Some(AccessKind::Write));
        let detail = Detail {
            space: Some(Space::Shared),
            address: Some(offset.into()),
            bytes: 8,
            other: Some(other),
            ..Detail::default()
        };
        let pc = self.pc;
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
    pub(super) fn report_anew(&mut self, offset: u32, lane: usize) {
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
        if self.worker.trace.is_none() {
            return self.use_mbarrier(address, lane, f);
        }
        let mut phases = (0, 0);
        let answer = self.use_mbarrier(address, lane, |barrier| {
            phases.0 = barrier.phase - barrier.born;
            let answer = f(barrier);
            phases.1 = barrier.phase.saturating_sub(barrier.born);
            answer
        });
        let (phase_before, phase) = phases;
        self.trace_barrier(StepBarrier { address: address & 0xff_ffff, phase_before, phase });
        answer
    }

    fn use_mbarrier<R>(&mut self, address: u64, lane: usize, f: impl FnOnce(&mut MBarrier) -> R) -> Option<R> {
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
                        warp == self.warp.index as usize || self.warp.heard(warp) >= clock
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
