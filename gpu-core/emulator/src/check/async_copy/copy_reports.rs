//! What is said of asynchronous copies that nobody waited for.

use super::copies::{Fill, Reader, Source};
use crate::check::repeats::Told;
use crate::exec::cx::Cx;
use crate::exec::fault::{Detail, text_of};
use crate::exec::memory::access::verb;
use crate::memory::space::Window;
use crate::report::{AccessKind, FaultKind, Space};

impl Cx<'_> {
    #[cold]
    pub(crate) fn report_fill(&mut self, fill: &Fill, address: u64, bytes: u64, lane: usize, kind: AccessKind) {
        // A wait that passed after the copy was issued, on a phase that was over before: the wrong parity.
        let waited = self.block.pending.waited.get(&(self.warp.index, fill.barrier)).copied();
        let stale = waited.filter(|wait| wait.phases <= fill.phase && wait.time >= fill.time);
        let fault = if stale.is_some() { FaultKind::BarrierPhase } else { FaultKind::MissingAsyncWait };
        let pc = self.pc;
        if self.repeats(Told::beside(fault, pc, fill.pc), 1) {
            return;
        }
        let (_, allocation) = self.locate(Window::Shared, address, bytes);
        let name = allocation.as_ref().map_or(String::new(), |a| format!(" `{}` byte {}", a.name, a.offset));
        let (who, place) = (text_of(&self.thread(lane)), self.grid.image.place(fill.pc));
        let barrier = self.shared_name(fill.barrier);
        let message = match stale {
            Some(wait) => format!(
                "{who} {}{name} that the asynchronous copy at {place} fills: its wait on the mbarrier{barrier} passed at \
                     once, because parity {} stands for a phase that was over already; the copy completes phase {}, so wait \
                     with parity {} (it flips with every phase)",
                verb(kind),
                (wait.phases + 1) & 1,
                fill.phase,
                fill.phase & 1
            ),
            None => {
                let asked = match self.refused_for(fill) {
                    Some(pc) => super::early::look_again(self.image(), pc),
                    None => String::new(),
                };
                format!(
                    "{who} {}{name} that the asynchronous copy at {place} fills, without waiting for its mbarrier{barrier} \
                     (phase {}, parity {}){asked}",
                    verb(kind),
                    fill.phase,
                    fill.phase & 1
                )
            }
        };
        let other = self.grid.image.other_side(Some(fill.pc), fill.thread, Some(AccessKind::AsyncCopy));
        let detail = Detail {
            space: Some(Space::Shared),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: Some(other),
        };
        self.fault(fault, pc, Some(lane), 1, message, detail);
    }

    #[cold]
    pub(crate) fn report_source(&mut self, source: &Source, address: u64, bytes: u64, lane: usize, kind: AccessKind) {
        let pc = self.pc;
        if self.repeats(Told::beside(FaultKind::MissingAsyncWait, pc, source.pc), 1) {
            return;
        }
        let (_, allocation) = self.locate(Window::Shared, address, bytes);
        let name = allocation.as_ref().map_or(String::new(), |a| format!(" `{}` byte {}", a.name, a.offset));
        let place = self.grid.image.place(source.pc);
        let (what, how) = match source.by {
            Reader::Copy => (
                "the bulk copy",
                "its thread must cp.async.bulk.commit_group and wait_group.read first, then a barrier",
            ),
            Reader::Wgmma => ("wgmma", "wgmma.commit_group and wgmma.wait_group first, then a barrier"),
        };
        let message = format!(
            "{} {}{name} while {what} at {place} may still read it; {how}",
            text_of(&self.thread(lane)),
            verb(kind)
        );
        let other =
            self.grid.image.other_side(Some(source.pc), self.thread_of(source.thread), Some(AccessKind::AsyncCopy));
        let detail = Detail {
            space: Some(Space::Shared),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: Some(other),
        };
        self.fault(FaultKind::MissingAsyncWait, pc, Some(lane), 1, message, detail);
    }

    #[cold]
    pub(crate) fn report_early_read(&mut self, address: u64, site: u32, thread: u32, barrier: u32, phase: u64) {
        let image = self.image();
        let pc = image.sites.get(site as usize).map_or(self.pc, |site| site.pc);
        if self.repeats(Told::beside(FaultKind::BarrierPhase, pc, self.pc), 1) {
            return;
        }
        let (_, allocation) = self.locate(Window::Shared, address, 1);
        let name =
            allocation.as_ref().map_or("shared memory".to_owned(), |a| format!("`{}` byte {}", a.name, a.offset));
        let reader = self.thread_of(thread);
        let message = format!(
            "{} reads {name} at {} before the asynchronous copy at {} fills it: its wait on the mbarrier{} passed at once, \
             because its parity stands for a phase that was over already; the copy completes phase {phase}, so wait with \
             parity {} (it flips with every phase)",
            text_of(&reader),
            image.place(pc),
            image.place(self.pc),
            self.shared_name(barrier),
            phase & 1
        );
        let copier = self.thread(self.mask.trailing_zeros() as usize & 31);
        let other = image.other_side(Some(self.pc), copier, Some(AccessKind::AsyncCopy));
        let detail = Detail {
            space: Some(Space::Shared),
            access: Some(AccessKind::Read),
            address: Some(address),
            bytes: 4,
            allocation,
            other: Some(other),
        };
        self.fault_of(FaultKind::BarrierPhase, pc, Some(reader), 1, message, detail);
    }
}
