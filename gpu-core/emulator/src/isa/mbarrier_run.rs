//! What operations on mbarriers do. Lanes that wait for the same at the same mbarrier do it together.

use super::mbarrier::{
    ARRIVE, ARRIVE_EXPECT, COMPLETE, COPY_ARRIVE, COPY_ARRIVE_NOINC, DROP, DROP_EXPECT, EXPECT, INIT, INVAL, MBarrier,
    OPAQUE, RELAXED, TEST, TEST_PARITY, TRY, TRY_PARITY,
};
use crate::check::race::known::Known;
use crate::check::repeats::Told;
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::fault::{Detail, text_of};
use crate::exec::op::{Flow, Op};
use crate::exec::sched::block::SharedArray;
use crate::memory::set_bits;
use crate::memory::space::Window;
use crate::report::FaultKind;

pub unsafe fn run_wide(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    unsafe { run::<true>(cx, op) }
}

pub unsafe fn run_narrow(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    unsafe { run::<false>(cx, op) }
}

/// What lanes do at one mbarrier.
struct Deed {
    code: i64,
    relaxed: bool,
    address: u64,
    value: u64,
    /// The lanes, and the first of them.
    mask: u32,
    lane: usize,
}

impl Deed {
    /// Offset in shared memory.
    fn offset(&self) -> u32 {
        (self.address & 0xff_ffff) as u32
    }

    /// How many arrivals each lane makes that does nothing else.
    fn arrivals(&self) -> Option<u64> {
        match self.code {
            ARRIVE => Some(self.value),
            COPY_ARRIVE => Some(0),
            COPY_ARRIVE_NOINC => Some(1),
            _ => None,
        }
    }
}

/// The operation is over: a fault.
struct Over;

/// The lanes of `all` in which a row holds what it holds in lane `lane`, as far as `part` tells.
unsafe fn alike<T: Copy, P: Copy + Eq>(row: *const [T; 32], lane: usize, all: u32, part: impl Fn(T) -> P) -> u32 {
    // SAFETY: passed on.
    let row = unsafe { &*row };
    let own = part(row[lane]);
    // Most rows are alike in all lanes.
    if row.iter().fold(true, |same, other| same & (part(*other) == own)) {
        return all;
    }
    lanes(all).filter(|&other| part(row[other]) == own).fold(0, |same, other| same | 1 << other)
}

unsafe fn run<const WIDE: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (mut passed, mut refused) = (0, 0);
    let (code, relaxed) = (op.imm & !RELAXED, op.imm & RELAXED != 0);
    let waits = matches!(code, TEST | TRY | TEST_PARITY | TRY_PARITY);
    let offset = i64::from(op.list) | i64::from(op.list_len) << 32;
    let mut left = cx.mask;
    while left != 0 {
        let lane = left.trailing_zeros() as usize & 31;
        // SAFETY: slots of a decoded instruction.
        let (base, value, mask) = unsafe {
            let (base, mask) = if WIDE {
                (cx.lane::<u64>(op.a, lane), alike(cx.row::<u64>(op.a), lane, left, |a| a))
            } else {
                (cx.lane::<u32>(op.a, lane).into(), alike(cx.row::<u32>(op.a), lane, left, |a| a))
            };
            if matches!(code, TEST | TRY) {
                // Of a token the phase alone is looked at.
                (base, cx.lane::<u64>(op.b, lane), alike(cx.row::<u64>(op.b), lane, mask, |token| token >> 32))
            } else {
                (base, cx.lane::<u32>(op.b, lane).into(), alike(cx.row::<u32>(op.b), lane, mask, |b| b))
            }
        };
        let mask = if waits || cx.grid.options.fast.grouped_arrivals { mask } else { 1 << lane };
        let address = base.wrapping_add(offset as u64);
        let mut deed = Deed { code, relaxed, address, value, mask, lane };
        let done = is_place(cx, &deed).and_then(|()| match code {
            INIT | INVAL => {
                deed.mask = 1 << lane;
                init(cx, &deed)
            }
            TEST | TRY | TEST_PARITY | TRY_PARITY => {
                let (yes, no) = wait(cx, &deed)?;
                passed |= yes;
                refused |= no;
                Ok(())
            }
            _ => {
                if !may_arrive_together(cx, &deed) {
                    deed.mask = 1 << lane;
                }
                arrive(cx, op, &deed)
            }
        });
        if done.is_err() {
            return Flow::Next;
        }
        left &= !deed.mask;
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

/// An mbarrier can only be where shared memory is, and aligned.
fn is_place(cx: &mut Cx<'_>, deed: &Deed) -> Result<(), Over> {
    let (address, lane) = (deed.address, deed.lane);
    let place = u64::from(deed.offset());
    let holds = |array: &SharedArray| {
        place >= u64::from(array.base) && place + 8 <= u64::from(array.base) + u64::from(array.bytes)
    };
    let inside = cx.grid.shared_arrays.iter().any(holds);
    if inside && address.is_multiple_of(8) {
        return Ok(());
    }
    let (_, allocation) = cx.locate(Window::Shared, place, 8);
    let name = allocation.map_or(String::new(), |a| format!(" (nearest: `{}`)", a.name));
    let message = format!(
        "{} has an mbarrier at {address:#x}, which is no 8-byte aligned place in shared memory{name}",
        text_of(&cx.thread(lane))
    );
    let (pc, kind) = (cx.pc, if inside { FaultKind::Misaligned } else { FaultKind::OutOfBounds });
    cx.fault(kind, pc, Some(lane), 1, message, Detail::default());
    Err(Over)
}

/// `mbarrier.init` and `mbarrier.inval`.
fn init(cx: &mut Cx<'_>, deed: &Deed) -> Result<(), Over> {
    let Deed { address, lane, .. } = *deed;
    let count = deed.value as u32;
    if deed.code == INIT && !(1..1 << 20).contains(&count) {
        let message = format!(
            "{} initialises an mbarrier for {count} arrivals; 1 to {} are possible",
            text_of(&cx.thread(lane)),
            (1 << 20) - 1
        );
        let pc = cx.pc;
        cx.fault(FaultKind::BarrierPhase, pc, Some(lane), 1, message, Detail::default());
    }
    let Some((home, at)) = cx.shared_home(address) else {
        return if deed.code == INIT { Err(Over) } else { Ok(()) };
    };
    if std::ptr::eq(home, cx.block) && cx.grid.options.checks.barrier {
        cx.check_reinit(at, lane);
        if deed.code == INIT {
            cx.check_first(at, lane);
        }
    }
    let by = (cx.warp.index * 32 + lane as u32, cx.warp.clock, cx.pc);
    // SAFETY: peers of a cluster are run by this worker alone, and the place was found to be inside.
    unsafe {
        if deed.code == INVAL {
            if let Some(barrier) = (*home).mbarriers.get_mut(&at) {
                barrier.gone = true;
            }
            return Ok(());
        }
        let made = MBarrier::new(count, by, (*home).mbarriers.get(&at));
        (*home).mbarriers.insert(at, made);
        (*home).shared_pointer().add(at as usize).cast::<u64>().write(OPAQUE);
        set_bits(&(*home).shared_init, at.into(), 8);
    }
    Ok(())
}

/// The lanes of a wait that passed, and those that were told that the phase is not over although it is.
fn wait(cx: &mut Cx<'_>, deed: &Deed) -> Result<(u32, u32), Over> {
    let Deed { code, value, lane, mask, .. } = *deed;
    let offset = deed.offset();
    let token = matches!(code, TEST | TRY);
    if !token && value > 1 && !cx.repeats(Told::alone(FaultKind::BarrierPhase, cx.pc), mask.count_ones()) {
        let message = format!(
            "{} waits for parity {} of the mbarrier{}, and a parity is 0 or 1: pass `phase & 1`, or flip \
             one bit a phase",
            text_of(&cx.thread(lane)),
            value as u32 as i32,
            cx.shared_name(offset)
        );
        let pc = cx.pc;
        cx.fault(FaultKind::BarrierPhase, pc, Some(lane), mask.count_ones(), message, Detail::default());
    }
    let asked = cx.with_mbarrier(deed.address, lane, |barrier| {
        // The phase of a parity is over when the current one has the other parity.
        let done = if token { barrier.phase != value >> 32 } else { barrier.phase & 1 != value & 1 };
        if done {
            let told = if token { (value >> 32) + 1 } else { barrier.phase };
            barrier.known = barrier.known.max(told);
        }
        let earlier = token && value >> 32 < barrier.born;
        let anew = earlier && !barrier.gone && !std::mem::replace(&mut barrier.late, true);
        (done.then(|| barrier.released.clone()), barrier.phase, earlier, anew)
    });
    let (released, phases, earlier, anew) = asked.ok_or(Over)?;
    if anew && cx.grid.options.checks.barrier {
        cx.report_anew(offset, lane);
    }
    let old = token && !earlier && phases > (value >> 32) + 1;
    let count = mask.count_ones();
    if old && !cx.repeats(Told::alone(FaultKind::BarrierPhase, cx.pc), count) {
        let message = format!(
            "{} waits for phase {} of the mbarrier{}, but {phases} phases are over: a token is good for its own \
             phase and until the next one ends",
            text_of(&cx.thread(lane)),
            value >> 32,
            cx.shared_name(offset)
        );
        let pc = cx.pc;
        cx.fault(FaultKind::BarrierPhase, pc, Some(lane), count, message, Detail::default());
    }
    let Some(released) = released else { return Ok((0, 0)) };
    let (mut left, mut refused) = (mask, 0);
    while left != 0 {
        let (early, decided) = cx.may_be_early(offset, phases, &released.clocks, left);
        refused |= early;
        left &= !decided;
        let yes = decided & !early;
        if yes != 0 {
            cx.learn_mbarrier(offset, phases);
            cx.warp.take(&released);
            cx.passed_mbarrier(offset, phases, yes);
        }
    }
    Ok((mask & !refused, refused))
}

/// Whether lanes can arrive at once: they do nothing but that, at an mbarrier of their own block, and none of them ends the
/// phase but the last one.
fn may_arrive_together(cx: &mut Cx<'_>, deed: &Deed) -> bool {
    let (Some(each), Some((home, offset))) = (deed.arrivals(), cx.shared_home(deed.address)) else { return false };
    std::ptr::eq(home, cx.block)
        && cx.block.mbarriers.get(&offset).is_some_and(|barrier| {
            let all = each.checked_mul(u64::from(deed.mask.count_ones())).and_then(|all| i64::try_from(all).ok());
            !barrier.gone && all.is_some_and(|all| all <= barrier.pending)
        })
}

fn arrive(cx: &mut Cx<'_>, op: &Op, deed: &Deed) -> Result<(), Over> {
    let Deed { code, relaxed, address, value, mask, lane } = *deed;
    // As they are before the arrival itself does anything.
    let clocks = cx.warp.clocks();
    if matches!(code, COPY_ARRIVE | COPY_ARRIVE_NOINC) {
        cx.wait_copies(mask, None);
    }
    let remote = cx.publish_remote(address, lane, relaxed);
    let warp = cx.warp.index as usize;
    let arrives = matches!(code, ARRIVE | ARRIVE_EXPECT | DROP | DROP_EXPECT | COPY_ARRIVE_NOINC);
    let watches = cx.watch & watch::RACE != 0;
    let ordered = arrives && !remote && watches && cx.grid.options.checks.barrier;
    let published = match relaxed {
        true => cx.fenced(true).unwrap_or_default().into(),
        false if watches => cx.warp.told_by(mask, cx.pc),
        false => Known::from(clocks),
    };
    let count = i64::from(mask.count_ones());
    let state = cx.with_mbarrier(address, lane, |barrier| {
        let state = barrier.phase << 32;
        let pending = barrier.pending;
        let before = if ordered { barrier.before(warp, &clocks) } else { None };
        if arrives && !remote {
            barrier.arrived[warp] |= mask;
        }
        if !remote {
            barrier.clocks.join(&published);
        }
        match code {
            EXPECT => barrier.bytes += value as i64,
            COMPLETE => barrier.bytes -= value as i64,
            ARRIVE => barrier.pending -= value as i64 * count,
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
            _ => barrier.pending -= count,
        }
        let over = barrier.pending < 0;
        barrier.settle();
        (state, pending, over, before)
    });
    let (state, pending, over, before) = state.ok_or(Over)?;
    if let Some(before) = before {
        cx.check_arrivals(deed.offset(), mask, &before);
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
        // Each finds what those before it left.
        let each = deed.arrivals().unwrap_or(0) as i64;
        for (index, lane) in lanes(mask).enumerate() {
            let pending = (pending - each * index as i64).max(0) as u64;
            // SAFETY: slots of a decoded instruction.
            unsafe { cx.set_lane::<u64>(op.d, lane, state | pending) };
        }
    }
    Ok(())
}
