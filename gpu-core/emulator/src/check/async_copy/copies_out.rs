//! Global memory that bulk copies write, until their thread has waited for them, and mbarriers that copies still need.

use crate::check::repeats::Told;
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
use crate::exec::memory::access::{Addresses, verb};
use crate::memory::space::Window;
use crate::report::{AccessKind, FaultKind, Space, ThreadId};

/// A range of global memory that a bulk copy of this block writes.
#[derive(Clone, Debug)]
pub struct Outgoing {
    low: u64,
    high: u64,
    pc: u32,
    thread: u32,
    group: u32,
}

impl Cx<'_> {
    /// A bulk copy of `lane` writes a range of global memory.
    pub(crate) fn note_outgoing(&mut self, low: u64, bytes: u64, lane: usize) {
        let (pc, thread) = (self.pc, self.warp.index * 32 + lane as u32);
        let group = self.block.pending.open_group(thread);
        let outgoing = &mut self.block.pending.outgoing;
        // Rows of one tensor copy that follow each other are one range.
        let joins =
            |last: &&mut Outgoing| last.high == low && (last.pc, last.thread, last.group) == (pc, thread, group);
        match outgoing.last_mut().filter(joins) {
            Some(last) => last.high = low + bytes,
            None => outgoing.push(Outgoing { low, high: low + bytes, pc, thread, group }),
        }
        (self.block.state.guarded, self.block.state.more) = (true, true);
    }

    /// The thread waited for all but `keep` of its groups, and not only for their reads.
    pub(crate) fn arrived(&mut self, keep: u32) {
        let (first, mask) = (self.warp.index * 32, self.mask);
        let mut outgoing = std::mem::take(&mut self.block.pending.outgoing);
        outgoing.retain(|copy| {
            let lane = copy.thread.wrapping_sub(first);
            let waited = lane < 32 && mask >> lane & 1 != 0;
            !waited || copy.group + keep >= self.block.pending.open_group(copy.thread)
        });
        self.block.pending.outgoing = outgoing;
    }

    /// An access to global memory while bulk copies of the block are on their way there.
    #[cold]
    #[inline(never)]
    pub fn check_outgoing(&mut self, at: &Addresses, bytes: u64, kind: AccessKind) {
        if !matches!(kind, AccessKind::Read | AccessKind::Write) {
            return;
        }
        let touched = self.block.pending.outgoing.iter().find_map(|copy| {
            let lane = lanes(at.mask).find(|&lane| at.at[lane] < copy.high && copy.low < at.at[lane] + bytes)?;
            Some((lane, copy.clone()))
        });
        let Some((lane, copy)) = touched else { return };
        if self.repeats(Told::beside(FaultKind::MissingAsyncWait, self.pc, copy.pc), 1) {
            return;
        }
        let address = at.at[lane];
        let (_, allocation) = self.locate(Window::Global, address, bytes);
        let name = allocation.as_ref().map_or(String::new(), |a| format!(" `{}` byte {}", a.name, a.offset));
        let thread = self.thread_of(copy.thread);
        let message = format!(
            "{} {}{name}, to which the bulk copy at {} is on its way; {} must wait with cp.async.bulk.wait_group \
             (without .read, which only waits until shared memory has been read), then a barrier",
            text_of(&self.thread(lane)),
            verb(kind),
            self.image().place(copy.pc),
            text_of(&thread)
        );
        self.report_copy(
            FaultKind::MissingAsyncWait,
            Window::Global,
            (address, bytes, lane, kind),
            message,
            copy.pc,
            thread,
        );
    }

    /// An mbarrier of the own block is initialised or given up while a copy that nobody waited for is to arrive there.
    pub fn check_reinit(&mut self, offset: u32, lane: usize) {
        let awaited = |fill: &&super::copies::Fill| fill.barrier == offset && fill.is_unknown();
        let Some(fill) = self.block.pending.fills.iter().find(awaited).cloned() else { return };
        if self.repeats(Told::beside(FaultKind::BarrierPhase, self.pc, fill.pc), 1) {
            return;
        }
        let message = format!(
            "{} makes the mbarrier{} anew (or invalid) while the asynchronous copy at {} is to complete its phase {}, for \
             which nobody waited: wait for it first",
            text_of(&self.thread(lane)),
            self.shared_name(offset),
            self.image().place(fill.pc),
            fill.phase
        );
        let access = (u64::from(offset), 8, lane, AccessKind::Write);
        self.report_copy(FaultKind::BarrierPhase, Window::Shared, access, message, fill.pc, fill.thread);
    }

    fn report_copy(
        &mut self,
        kind: FaultKind,
        window: Window,
        (address, bytes, lane, access): (u64, u64, usize, AccessKind),
        message: String,
        copy: u32,
        copier: ThreadId,
    ) {
        let (_, allocation) = self.locate(window, address, bytes);
        let other = self.image().other_side(Some(copy), copier, Some(AccessKind::AsyncCopy));
        let detail = Detail {
            space: Some(if window == Window::Shared { Space::Shared } else { Space::Global }),
            access: Some(access),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: Some(other),
        };
        let pc = self.pc;
        self.fault(kind, pc, Some(lane), 1, message, detail);
    }
}
