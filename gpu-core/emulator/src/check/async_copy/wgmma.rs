//! `wgmma` in flight: accumulators and A fragments in registers belong to it until `wgmma.wait_group`.
//!
//! The products are computed when they are issued. What was computed from an accumulator that was not waited for must
//! not leave the registers; arithmetic that the compiler moved before the wait is harmless and followed instead.

use super::copies::{Cells, Reader, Source};
use crate::check::repeats::Told;
use crate::exec::cx::{Cx, watch};
use crate::exec::fault::{Detail, text_of};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::exec::sched::warp::{Wait, Warp};
use crate::report::{AccessKind, FaultKind};

/// A register of an operation in flight.
#[derive(Clone, Copy, Debug)]
pub struct InFlight {
    pub group: u32,
    pub pc: u32,
    /// Read by it (a fragment of A), not written.
    pub input: bool,
}

/// How far a warp is with the work of its warpgroup: groups committed, and products that it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub groups: u32,
    pub products: u32,
}

impl Warp {
    /// Nothing of `wgmma` is in the registers.
    pub fn is_settled(&self) -> bool {
        self.in_flight.is_empty()
    }
}

impl Cx<'_> {
    /// A product is issued: it reads these 16-byte chunks of shared memory, and its registers are its own.
    pub fn note_product(&mut self, op: &Op, chunks: &[u32], accumulators: &[Slot], fragments: &[Slot]) {
        let warp = self.warp.index as usize;
        self.block.pending.wgmma[warp] += 1;
        if self.watch == 0 {
            return;
        }
        let frame = self.warp.splits[self.warp.current].frame;
        let borrowed = fragments.iter().find_map(|slot| self.warp.in_flight.get(&(frame, slot.0)).copied());
        if let Some(mark) = borrowed.filter(|mark| !mark.input) {
            self.report_in_flight(mark, "feeds A of a wgmma with the accumulator of");
        }
        self.note_accumulators(accumulators, fragments);
        if self.watch & watch::RACE != 0 {
            let ranges: Vec<(u64, u64)> = chunks.iter().map(|chunk| (u64::from(*chunk), 16)).collect();
            self.check_proxy(&ranges, 0, "wgmma");
        }
        let group = self.block.pending.wgmma_group[warp];
        let (pc, thread) = (self.pc, self.warp.index * 32);
        let sources = &mut self.block.pending.sources;
        let known = sources.iter().position(|s| s.by == Reader::Wgmma && s.thread == thread && s.group == group);
        let index = known.unwrap_or_else(|| {
            let bits = vec![0; self.block.shared.len().div_ceil(64)];
            sources.push(Source { cells: Cells::Chunks(bits), pc, site: op.site, thread, group, by: Reader::Wgmma });
            sources.len() - 1
        });
        if let Cells::Chunks(bits) = &mut sources[index].cells {
            for chunk in chunks {
                if let Some(word) = bits.get_mut(*chunk as usize / 1024) {
                    *word |= 1 << (chunk / 16 % 64);
                }
            }
        }
        (self.block.state.guarded, self.block.state.more) = (true, true);
    }

    /// An operation is issued: its accumulators and fragments are its own until the wait.
    fn note_accumulators(&mut self, accumulators: &[Slot], fragments: &[Slot]) {
        let (frame, pc) = (self.warp.splits[self.warp.current].frame, self.pc);
        let group = self.block.pending.wgmma_group[self.warp.index as usize];
        for slot in fragments {
            self.warp.in_flight.entry((frame, slot.0)).or_insert(InFlight { group, pc, input: true });
        }
        for slot in accumulators {
            self.warp.in_flight.insert((frame, slot.0), InFlight { group, pc, input: false });
        }
        self.attention = true;
    }

    /// Whether every other live warp of this warpgroup has come as far.
    pub fn warpgroup_reached(&self, progress: Progress) -> bool {
        let first = self.warp.index as usize / 4 * 4;
        let pending = &self.block.pending;
        (first..first + 4).all(|warp| {
            let runs = self.block.warps.get(warp).is_some_and(|w| w.as_ref().is_some_and(|w| w.live != 0));
            let products = pending.wgmma[warp].max(pending.wgmma_reached[warp]);
            !runs || pending.wgmma_group[warp] >= progress.groups && products >= progress.products
        })
    }

    /// A warp comes to a product. Some: others must come first, for the four of a warpgroup begin it together (seen on an
    /// H100: what the last one stored before is in it, though nothing in PTX says so).
    pub fn await_warpgroup(&mut self) -> Option<Flow> {
        let warp = self.warp.index as usize;
        let products = self.block.pending.wgmma[warp] + 1;
        self.block.pending.wgmma_reached[warp] = products;
        self.await_progress(Progress { groups: 0, products })
    }

    /// Some: other warps of the warpgroup must come as far first; the instruction runs again then.
    pub fn await_progress(&mut self, progress: Progress) -> Option<Flow> {
        if self.warpgroup_reached(progress) {
            return None;
        }
        let (pc, mask) = (self.pc, self.mask);
        if self.watch & watch::COUNT != 0 {
            self.worker.counts.again(pc, mask);
        }
        // Groups of this warp that had come before it wait on with it.
        let current = self.warp.current;
        for (index, split) in self.warp.splits.iter_mut().enumerate() {
            if index != current && split.mask & mask != 0 {
                (split.pc, split.wait) = (pc, Wait::Warpgroup(progress));
            }
        }
        Some(self.suspend(pc, Wait::Warpgroup(progress)))
    }

    /// `wgmma.wait_group keep`: one warp's wait stands for its warpgroup, whose operation it is.
    pub fn wait_wgmma(&mut self, keep: u32) {
        let warp = self.warp.index;
        let open = self.block.pending.wgmma_group[warp as usize];
        let limit = open.saturating_sub(keep);
        let time = &mut self.block.time;
        self.warp.sync_lanes(time);
        let clock = self.warp.clock;
        let waited = std::mem::replace(&mut self.block.pending.wgmma_waited[warp as usize], limit);
        for group in waited..limit {
            let (other, then) = *self.block.pending.wgmma_waits.entry((warp / 4, group)).or_insert((warp, clock));
            self.warp.learn(other as usize, then);
        }
        let done =
            self.retire(|source| source.by == Reader::Wgmma && source.thread / 128 == warp / 4 && source.group < limit);
        for source in &done {
            self.read_again(source.site, &source.cells, warp * 32);
        }
        // All of its lanes have waited for that.
        let time = &mut self.block.time;
        self.warp.sync_lanes(time);
        self.warp.in_flight.retain(|_, mark| mark.group >= limit);
    }

    /// Looks at an ordinary instruction while registers are in flight.
    #[cold]
    pub fn check_in_flight(&mut self, op: &Op) {
        let image = self.image();
        let info = &image.infos[self.pc as usize];
        if self.mask == 0 || crate::isa::wgmma::is_one(op) {
            return;
        }
        let frame = self.warp.splits[self.warp.current].frame;
        let find = |slot: &Slot| self.warp.in_flight.get(&(frame, slot.0)).copied();
        let read = info.reads.iter().find_map(|slot| find(slot).filter(|mark| !mark.input));
        let loads = info.taint == Taint::Memory && !info.writes.is_empty();
        let overwritten = info.writes.iter().find_map(|slot| find(slot).filter(|mark| mark.input && loads));
        let carries = matches!(info.taint, Taint::Copy | Taint::Compute | Taint::Select);
        match read {
            Some(mark) if !carries => self.report_in_flight(mark, "uses the accumulator of"),
            Some(mark) => {
                for slot in &info.writes {
                    self.warp.in_flight.insert((frame, slot.0), mark);
                }
                return;
            }
            None => {}
        }
        if let Some(mark) = overwritten {
            self.report_in_flight(mark, "overwrites a fragment of A of");
        }
        for slot in &info.writes {
            self.warp.in_flight.remove(&(frame, slot.0));
        }
    }

    pub fn report_in_flight(&mut self, mark: InFlight, what: &str) {
        let (pc, count) = (self.pc, self.mask.count_ones());
        if self.repeats(Told::beside(FaultKind::MissingAsyncWait, pc, mark.pc), count) {
            return;
        }
        let lane = self.mask.trailing_zeros() as usize & 31;
        let open = self.block.pending.wgmma_group[self.warp.index as usize];
        let how = if mark.group == open {
            "which was never committed: wgmma.commit_group, then wgmma.wait_group, come first"
        } else {
            "before wgmma.wait_group says that it is done"
        };
        let image = self.image();
        let message = format!("{} {what} the wgmma at {}, {how}", text_of(&self.thread(lane)), image.place(mark.pc));
        let other = image.other_side(Some(mark.pc), self.thread(lane), Some(AccessKind::AsyncCopy));
        let detail = Detail { other: Some(other), ..Detail::default() };
        self.fault(FaultKind::MissingAsyncWait, pc, Some(lane), count, message, detail);
    }

    /// Every warp of a warpgroup must take part in its products.
    pub fn check_warpgroups(&mut self) {
        if self.block.pending.wgmma == [0; 32] {
            return;
        }
        let counts = self.block.pending.wgmma;
        let warps = self.block.threads.div_ceil(32) as usize;
        for first in (0..32).step_by(4) {
            let group = &counts[first..first + 4];
            let Some(&most) = group.iter().max().filter(|most| **most > 0) else { continue };
            if group.iter().all(|count| *count == most) {
                continue;
            }
            let (few, least) = group.iter().enumerate().min_by_key(|(_, count)| **count).unwrap_or((0, &0));
            let missing = if first + few >= warps { " (the block has no such warp)" } else { "" };
            let message = format!(
                "warp {} of block ({},{},{}) issued {most} wgmma.mma_async, warp {} only {least}{missing}: all four warps of a \
                 warpgroup must issue each one",
                first + group.iter().position(|count| *count == most).unwrap_or(0),
                self.block.id[0],
                self.block.id[1],
                self.block.id[2],
                first + few
            );
            let pc = self.image().code.iter().position(crate::isa::wgmma::is_one).unwrap_or(0) as u32;
            self.fault_of(FaultKind::MaskMisuse, pc, None, 1, message, Detail::default());
        }
    }

    /// `wgmma.mma_async` on a way that met no `wgmma.fence` since its registers were touched.
    #[cold]
    pub fn report_unfenced(&mut self) {
        let (pc, count) = (self.pc, self.mask.count_ones());
        if self.repeats(Told::alone(FaultKind::MissingAsyncWait, pc), count) {
            return;
        }
        let lane = self.mask.trailing_zeros() as usize & 31;
        let message = format!(
            "{} issues a wgmma on registers that were written or read since the last wgmma.fence; put wgmma.fence before the \
             first wgmma.mma_async behind such accesses",
            text_of(&self.thread(lane))
        );
        self.fault(FaultKind::MissingAsyncWait, pc, Some(lane), count, message, Detail::default());
    }
}
