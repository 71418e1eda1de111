//! Shared memory that asynchronous operations write or read, until somebody is known to have waited for them.
//!
//! The bytes move when an instruction is issued. A *fill* (bulk and tensor loads, `st.async`) may be touched by warps
//! that waited for its mbarrier, or that are ordered behind one that did. A *source* (of bulk stores and of `wgmma`) may
//! not be written before its group was waited for; its reads count as made at that wait.

use std::collections::HashMap;

use crate::check::race::Party;
use crate::check::race::shadow::{FLAG, clock_of, other_of, site_of, stamp, thread_of};
use crate::check::repeats::{Other, Told};
use crate::check::undef::undefined_bits::Quick;
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::fault::{Detail, text_of};
use crate::exec::memory::access::{Addresses, Reach};
use crate::exec::op::{Op, Slot};
use crate::exec::sched::block::Block;
use crate::memory::space::Window;
use crate::report::{AccessKind, Class, FaultKind, Space, ThreadId};

/// Bytes between the ends of an access that are looked at as a whole.
pub const NEAR: u64 = 8192;

/// Shared memory that a copy fills.
#[derive(Clone, Debug)]
pub struct Fill {
    low: u32,
    high: u32,
    pub(crate) pc: u32,
    pub(crate) thread: ThreadId,
    /// Logical time of the block when it was issued.
    pub(crate) time: u32,
    /// The mbarrier and its phase that tell of the end.
    pub(crate) barrier: u32,
    pub(crate) phase: u64,
    /// Warps that waited, their clocks then, and which of their lanes.
    pub(crate) waits: Vec<(u32, u32, u32)>,
}

/// Shared memory that an operation reads until its group is waited for.
#[derive(Clone, Debug)]
pub struct Source {
    pub cells: Cells,
    pub pc: u32,
    pub site: u32,
    /// Thread of the block (its first lane for a warp's operation).
    pub thread: u32,
    pub group: u32,
    pub by: Reader,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Copy,
    Wgmma,
}

/// A wait at an mbarrier that passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited {
    /// Completed phases then, and the block's logical time.
    pub(crate) phases: u64,
    pub(crate) time: u32,
    /// Lanes that passed at this count of phases.
    pub(crate) lanes: u32,
    /// A lane passed without any phase completed since its last wait there.
    pub(crate) stale: bool,
}

/// Which bytes.
#[derive(Clone, Debug)]
pub enum Cells {
    Range(u32, u32),
    /// One bit for every 16 bytes.
    Chunks(Vec<u64>),
}

impl Fill {
    /// Nobody waited for it.
    pub(crate) fn is_unknown(&self) -> bool {
        self.waits.is_empty()
    }

    /// Whether a wait at an mbarrier with so many completed phases tells of its end.
    pub(crate) fn ends_with(&self, barrier: u32, phases: u64) -> bool {
        self.barrier == barrier && self.phase < phases
    }
}

impl Cells {
    fn touches(&self, low: u64, high: u64) -> bool {
        match self {
            Cells::Range(first, end) => u64::from(*first) < high && low < u64::from(*end),
            Cells::Chunks(bits) => (low / 16..high.div_ceil(16))
                .any(|chunk| bits.get(chunk as usize / 64).is_some_and(|w| w >> (chunk % 64) & 1 != 0)),
        }
    }

    fn ranges(&self) -> Vec<(u64, u64)> {
        match self {
            Cells::Range(low, high) => vec![(u64::from(*low), u64::from(high - low))],
            Cells::Chunks(bits) => (0..bits.len() as u64 * 64)
                .filter(|chunk| bits[*chunk as usize / 64] >> (chunk % 64) & 1 != 0)
                .map(|chunk| (chunk * 16, 16))
                .collect(),
        }
    }
}

/// What asynchronous operations of a block are about.
#[derive(Debug, Default)]
pub struct Pending {
    pub(crate) fills: Vec<Fill>,
    pub sources: Vec<Source>,
    pub(crate) outgoing: Vec<super::copies_out::Outgoing>,
    /// Moves with every new fill.
    epoch: u64,
    /// Open group of bulk stores of each thread.
    groups: HashMap<u32, u32, Quick>,
    /// For each warp and mbarrier: its last wait that passed.
    pub(crate) waited: HashMap<(u32, u32), Waited, Quick>,
    /// The same for its last wait that came too early.
    pub(crate) refused: HashMap<(u32, u32), super::early::Refused, Quick>,
    /// `wgmma.mma_async` that each warp issued, and came to.
    pub wgmma: [u32; 32],
    pub wgmma_reached: [u32; 32],
    /// Open `wgmma` group of each warp, and the first that it has not waited for.
    pub wgmma_group: [u32; 32],
    pub wgmma_waited: [u32; 32],
    /// The first warp of each warpgroup that waited for a group, and its clock then.
    pub wgmma_waits: HashMap<(u32, u32), (u32, u32)>,
    /// What other blocks of the cluster did here.
    pub remote: crate::check::cluster::Remotes,
}

impl Pending {
    /// A new block starts. Piece by piece: most blocks are short, and used nothing of it.
    pub fn reset(&mut self) {
        let Pending { fills, sources, outgoing, epoch, groups, waited, refused, wgmma_waits, remote, .. } = self;
        *epoch += 1;
        fills.clear();
        sources.clear();
        outgoing.clear();
        groups.clear();
        waited.clear();
        refused.clear();
        wgmma_waits.clear();
        remote.reset();
        for counts in [&mut self.wgmma, &mut self.wgmma_reached, &mut self.wgmma_group, &mut self.wgmma_waited] {
            *counts = [0; 32];
        }
    }

    /// The group of bulk copies that a thread has not committed yet.
    pub(crate) fn open_group(&self, thread: u32) -> u32 {
        self.groups.get(&thread).copied().unwrap_or(0)
    }
}

impl Block {
    /// Whether accesses to shared memory need a closer look.
    pub fn refresh_guard(&mut self) {
        let pending = &self.pending;
        self.state.more = !pending.fills.is_empty()
            || !pending.sources.is_empty()
            || !pending.outgoing.is_empty()
            || !pending.remote.is_empty();
        self.state.guarded = self.state.more || !self.copies.is_empty();
    }
}

impl Cx<'_> {
    /// Whether [`Cx::check_guarded`] would find nothing at an access to bytes `low` to `end` of the own block's shared memory:
    /// what is filled lies elsewhere, or this warp knows that it has come.
    #[inline(always)]
    pub fn is_quiet(&self, low: u64, end: u64, write: bool) -> bool {
        match &self.block.state {
            state if !state.guarded => true,
            state if !state.more => end - low <= NEAR && !self.block.copies.fill(low, end - low),
            _ => self.is_quiet_there(low, end, write),
        }
    }

    #[inline(never)]
    fn is_quiet_there(&self, low: u64, end: u64, write: bool) -> bool {
        let (copies, pending) = (&self.block.copies, &self.block.pending);
        pending.remote.is_empty()
            && (pending.fills.is_empty() || self.warp.fills_known == pending.epoch || self.is_filled(low, end))
            && (!write || pending.sources.is_empty())
            && (copies.is_empty() || end - low <= NEAR && !copies.fill(low, end - low))
    }

    /// Whether this warp knows of all that is filled from `low` to `end` that it is there.
    fn is_filled(&self, low: u64, end: u64) -> bool {
        self.block.pending.fills.iter().all(|fill| {
            let apart = end <= u64::from(fill.low) || u64::from(fill.high) <= low;
            apart || self.warp.live & !self.knowing(fill) == 0
        })
    }

    /// The same for an access to global memory.
    #[inline(always)]
    pub fn is_quiet_outside(&self) -> bool {
        !self.block.state.guarded || self.block.pending.outgoing.is_empty()
    }

    /// An access to the own block's shared memory while something asynchronous is about.
    #[cold]
    #[inline(never)]
    pub fn check_guarded(&mut self, op: &Op, at: &Addresses, bytes: u64, kind: AccessKind) {
        if at.high >> 24 != 0 {
            return;
        }
        if !self.block.copies.is_empty() {
            self.check_copies(at, bytes, kind);
        }
        if self.warp.fills_known != self.block.pending.epoch && !self.block.pending.fills.is_empty() {
            self.check_fills(at, bytes, kind);
        }
        if kind != AccessKind::Read && !self.block.pending.sources.is_empty() {
            let touched = self.block.pending.sources.iter().find_map(|source| {
                let lane = lanes(at.mask).find(|&lane| source.cells.touches(at.at[lane], at.at[lane] + bytes))?;
                Some((lane, source.clone()))
            });
            if let Some((lane, source)) = touched {
                self.report_source(&source, at.at[lane], bytes, lane, kind);
            }
        }
        if self.watch & watch::RACE != 0 && !self.block.pending.remote.is_empty() {
            self.check_remote(op, at, bytes, kind);
        }
    }

    fn knows_fill(&self, fill: &Fill) -> bool {
        fill.waits.iter().any(|(warp, clock, _)| *warp == self.warp.index || self.warp.heard(*warp as usize) >= *clock)
    }

    /// The same for one lane: what another lane of its warp waited for, it knows once the two have met.
    /// Lanes of this warp that know that a fill is there: they waited, or are ordered behind somebody who did.
    pub(crate) fn knowing(&self, fill: &Fill) -> u32 {
        fill.waits.iter().fold(0, |known, (warp, clock, lanes_that)| {
            if self.warp.heard(*warp as usize) >= *clock {
                u32::MAX
            } else if *warp == self.warp.index {
                known | self.warp.met_any(*lanes_that, *clock)
            } else {
                known
            }
        })
    }

    fn check_fills(&mut self, at: &Addresses, bytes: u64, kind: AccessKind) {
        let mut all_known = true;
        let mut hit = None;
        for fill in &self.block.pending.fills {
            let unknown = self.warp.live & !self.knowing(fill);
            if unknown == 0 {
                continue;
            }
            all_known = false;
            let touches =
                |lane: &usize| at.at[*lane] < u64::from(fill.high) && u64::from(fill.low) < at.at[*lane] + bytes;
            if let Some(lane) = lanes(at.mask & unknown).find(touches) {
                hit = Some((lane, fill.clone()));
                break;
            }
        }
        match hit {
            Some((lane, fill)) => self.report_fill(&fill, at.at[lane], bytes, lane, kind),
            None if all_known => self.warp.fills_known = self.block.pending.epoch,
            None => {}
        }
    }

    /// " `full`" or " `full`[1]" for an mbarrier's offset.
    pub fn shared_name(&self, offset: u32) -> String {
        let array = self.grid.shared_arrays.iter().find(|a| (a.base..a.base + a.bytes.max(1)).contains(&offset));
        array.map_or(String::new(), |a| match (offset - a.base) / 8 {
            0 if a.bytes <= 8 => format!(" `{}`", a.name),
            index => format!(" `{}`[{index}]", a.name),
        })
    }

    /// A copy of this warp's `lane` filled `bytes` at a shared address of any block of the cluster, to be told of by a
    /// phase of an mbarrier of that block.
    pub fn note_fill(&mut self, op: &Op, address: u64, bytes: u64, lane: usize, barrier: u32, phase: u64) {
        let Some((home, offset)) = self.shared_home(address) else { return };
        let own = std::ptr::eq(home, self.block);
        if own {
            self.check_refill(op, offset, bytes, lane, (barrier, phase));
        } else if self.watch & watch::RACE != 0 {
            self.check_peer_fill(op, home, offset, bytes, lane);
        }
        let (pc, thread) = (self.pc, self.thread(lane));
        // SAFETY: peers of a cluster are run by this worker alone.
        let block = unsafe { &mut *home };
        let high = offset + bytes as u32;
        if block.shared_shadow.bytes > 0 {
            block.shared_shadow.forget(offset.into(), bytes);
        }
        block.pending.remote.forget(offset, high);
        block.time += 1;
        let time = block.time;
        // What is left of earlier copies stays filled by them.
        let mut kept = Vec::with_capacity(block.pending.fills.len() + 1);
        for fill in block.pending.fills.drain(..) {
            if fill.low < offset.min(fill.high) {
                kept.push(Fill { high: offset.min(fill.high), ..fill.clone() });
            }
            if fill.high > high.max(fill.low) {
                kept.push(Fill { low: high.max(fill.low), ..fill });
            }
        }
        // Neighbours of one instruction are one fill.
        let joins = |last: &&mut Fill| {
            last.high == offset && (last.pc, last.barrier, last.phase) == (pc, barrier, phase) && last.waits.is_empty()
        };
        if let Some(last) = kept.last_mut().filter(joins) {
            last.high = high;
            last.time = time;
            block.pending.fills = kept;
            block.pending.epoch += 1;
            return;
        }
        kept.push(Fill { low: offset, high, pc, thread, time, barrier, phase, waits: Vec::new() });
        block.pending.fills = kept;
        block.pending.epoch += 1;
        (block.state.guarded, block.state.more) = (true, true);
    }

    /// Whether a reduction of the same phase has filled a place already: reductions do not exclude each other.
    pub fn reduces_already(&mut self, address: u64, barrier: u32, phase: u64) -> bool {
        let Some((home, offset)) = self.shared_home(address) else { return true };
        // SAFETY: peers of a cluster are run by this worker alone.
        let fills = unsafe { &(*home).pending.fills };
        fills.iter().any(|f| f.low <= offset && offset < f.high && (f.barrier, f.phase) == (barrier, phase))
    }

    /// What a new fill of the own block's memory may collide with.
    fn check_refill(&mut self, op: &Op, offset: u32, bytes: u64, lane: usize, phase: (u32, u64)) {
        let (low, high) = (u64::from(offset), u64::from(offset) + bytes);
        let kind = AccessKind::AsyncCopy;
        let pending = &self.block.pending;
        let touched = |fill: &&Fill| u64::from(fill.low) < high && low < u64::from(fill.high);
        if let Some(fill) = pending.fills.iter().filter(touched).find(|fill| !self.knows_fill(fill)).cloned() {
            self.report_fill(&fill, low.max(fill.low.into()), bytes, lane, kind);
        }
        let source = self.block.pending.sources.iter().find(|source| source.cells.touches(low, high)).cloned();
        if let Some(source) = source {
            self.report_source(&source, low, bytes, lane, kind);
        }
        if self.watch & watch::RACE != 0 {
            self.check_range(op, low, bytes, lane, kind, Some(phase));
        }
    }

    /// Races of an asynchronous operation that writes (or only reads) a range of the own block's memory now.
    fn check_range(&mut self, op: &Op, low: u64, bytes: u64, lane: usize, kind: AccessKind, phase: Option<(u32, u64)>) {
        let me = self.warp.index * 32 + lane as u32;
        let (base, shift) = (self.block.base_time, self.block.shared_shadow.shift);
        let cells = self.block.shared_shadow.cells(low, bytes);
        let foreign =
            |thread: u32, cell: u64| clock_of(cell) > base && thread != me && !self.warp.knows(thread, clock_of(cell));
        let mut found = None;
        for index in cells {
            let (write, read) = (self.block.shared_shadow.writes[index], self.block.shared_shadow.reads[index]);
            let place = (index as u64) << shift;
            if foreign(thread_of(write), write) {
                let by = if write & FLAG != 0 { AccessKind::Atomic } else { AccessKind::Write };
                found = Some((place, write, thread_of(write), by));
                break;
            }
            if kind == AccessKind::Read {
                continue;
            }
            let reader = if foreign(thread_of(read), read) {
                Some(thread_of(read))
            } else {
                Some(other_of(read)).filter(|other| read & FLAG != 0 && foreign(*other, read))
            };
            if let Some(reader) = reader {
                found = Some((place, read, reader, AccessKind::Read));
                break;
            }
        }
        if let Some((place, cell, thread, by)) = found {
            // The reader may have waited for this very phase, with the wrong parity.
            if let Some((barrier, phase)) = phase.filter(|_| by == AccessKind::Read)
                && let Some(wait) = self.block.pending.waited.get(&(thread / 32, barrier)).copied()
                && wait.stale
                && wait.phases <= phase
            {
                self.report_early_read(place, site_of(cell), thread, barrier, phase);
                return;
            }
            let told = self.warp.told_by_another(thread, clock_of(cell));
            let party =
                Party { site: site_of(cell), thread: Some(self.thread_of(thread)), kind: by, told, at_once: false };
            let kind = AccessKind::AsyncCopy;
            self.report_race(op, Window::Shared, place.max(low), 4, lane, kind, party);
        }
    }

    /// An asynchronous operation of `lane` reads a range of the own block's memory: order, visibility, and (with a group)
    /// that nobody writes it before the wait.
    pub fn note_source(&mut self, op: &Op, offset: u32, bytes: u64, lane: usize, pending: bool) {
        if self.watch & watch::RACE != 0 {
            self.check_range(op, offset.into(), bytes, lane, AccessKind::Read, None);
            self.read_again(op.site, &Cells::Range(offset, offset + bytes as u32), self.warp.index * 32 + lane as u32);
            self.check_proxy(&[(offset.into(), bytes)], lane, "this copy");
        }
        let unwaited = self.block.pending.fills.iter().find(|fill| {
            u64::from(fill.low) < u64::from(offset) + bytes && offset < fill.high && !self.knows_fill(fill)
        });
        if let Some(fill) = unwaited.cloned() {
            self.report_fill(&fill, offset.max(fill.low).into(), bytes, lane, AccessKind::AsyncCopy);
        }
        if pending {
            let thread = self.warp.index * 32 + lane as u32;
            let group = self.block.pending.open_group(thread);
            let cells = Cells::Range(offset, offset + bytes as u32);
            let (pc, site) = (self.pc, op.site);
            self.block.pending.sources.push(Source { cells, pc, site, thread, group, by: Reader::Copy });
            (self.block.state.guarded, self.block.state.more) = (true, true);
        }
    }

    /// The reads of an asynchronous operation count as made now.
    pub fn read_again(&mut self, site: u32, cells: &Cells, thread: u32) {
        let new = stamp(self.warp.clock, site, thread);
        let shadow = &mut self.block.shared_shadow;
        for (low, bytes) in cells.ranges() {
            // Without the race check nothing is remembered.
            let cells = shadow.cells(low, bytes);
            if let Some(reads) = shadow.reads.get_mut(cells) {
                reads.fill(new);
                shadow.note(new, false);
            }
        }
    }

    /// Stores that no `fence.proxy.async` made visible to what reads `ranges` now.
    pub fn check_proxy(&mut self, ranges: &[(u64, u64)], lane: usize, what: &str) {
        let base = self.block.base_time;
        let image = self.image();
        let mut found = None;
        'all: for (low, bytes) in ranges {
            for index in self.block.shared_shadow.cells(*low, *bytes) {
                let write = self.block.shared_shadow.writes[index];
                let clock = clock_of(write);
                if clock <= base || self.block.proxy.of(thread_of(write)) >= clock {
                    continue;
                }
                let pc = image.sites.get(site_of(write) as usize).map(|site| site.pc);
                // `cp.async` is left alone: the order of its copies is that of its own wait.
                if pc.is_some_and(|pc| image.infos[pc as usize].class == Class::AsyncCopy) {
                    continue;
                }
                found = Some(((index as u64) << self.block.shared_shadow.shift, thread_of(write), pc));
                break 'all;
            }
        }
        let Some((address, thread, pc)) = found else { return };
        let other = pc.map_or(Other::Nowhere, Other::At);
        if self.repeats(Told { other, ..Told::alone(FaultKind::MissingAsyncWait, self.pc) }, 1) {
            return;
        }
        let (_, allocation) = self.locate(Window::Shared, address, 1);
        let name =
            allocation.as_ref().map_or("shared memory".to_owned(), |a| format!("`{}` byte {}", a.name, a.offset));
        let writer = self.thread_of(thread);
        let place = pc.map_or(String::new(), |pc| format!(" at {}", image.place(pc)));
        let message = format!(
            "{} starts an asynchronous read of {name}, which {} stored{place} with no fence.proxy.async since: {what} may see \
             the old bytes; put fence.proxy.async (of the storing threads) between the stores and the barrier",
            text_of(&self.thread(lane)),
            text_of(&writer)
        );
        let other = image.other_side(pc, writer, Some(AccessKind::Write));
        let detail = Detail {
            space: Some(Space::Shared),
            access: Some(AccessKind::AsyncCopy),
            address: Some(address),
            bytes: 4,
            allocation,
            other: Some(other),
        };
        let pc = self.pc;
        self.fault(FaultKind::MissingAsyncWait, pc, Some(lane), 1, message, detail);
    }

    /// A copy of `lane` reads or writes a range of global memory, in pieces of 16 bytes.
    pub fn note_global(&mut self, op: &Op, address: u64, bytes: u64, lane: usize, kind: AccessKind) {
        if self.watch & watch::RACE == 0 {
            return;
        }
        let regions = &self.grid.regions;
        let at = regions.partition_point(|region| region.base <= address);
        let Some(region) = at.checked_sub(1).map(|index| &regions[index]).filter(|region| !region.read_only) else {
            return;
        };
        let reach = Reach {
            pointer: region.pointer,
            base: region.base,
            stride: 0,
            init: region.init,
            init_words: region.init_words,
            shadow: region.shadow,
            window: Window::Global,
            only_read: region.is_only_read(),
            owned: region.is_owned(),
            all_written: false,
        };
        // Only the place of the instruction counts; it has no ordering of its own.
        let plain = Op { e: Slot(0), ..op.clone() };
        for piece in (address..address + bytes).step_by(16) {
            let at = Addresses { at: [piece; 32], mask: 1 << lane, low: piece, high: piece, contiguous: false };
            self.race_global::<16>(&plain, &reach, &at, kind);
        }
        if kind != AccessKind::Read {
            self.note_outgoing(address, bytes, lane);
        }
    }

    /// `cp.async.bulk.commit_group`
    pub fn commit_bulk(&mut self) {
        for lane in lanes(self.mask) {
            *self.block.pending.groups.entry(self.warp.index * 32 + lane as u32).or_default() += 1;
        }
    }

    /// `cp.async.bulk.wait_group`: at most `keep` groups of each thread stay open; `reads` waits for their reads alone.
    pub fn wait_bulk(&mut self, keep: u32, reads: bool) {
        if !reads {
            self.arrived(keep);
        }
        let (first, mask) = (self.warp.index * 32, self.mask);
        let groups = std::mem::take(&mut self.block.pending.groups);
        let done = self.retire(|source| {
            let lane = source.thread.wrapping_sub(first);
            let open = groups.get(&source.thread).copied().unwrap_or(0);
            source.by == Reader::Copy && lane < 32 && mask >> lane & 1 != 0 && source.group + keep < open
        });
        self.block.pending.groups = groups;
        for source in &done {
            self.read_again(source.site, &source.cells, source.thread);
        }
    }

    pub(crate) fn retire(&mut self, done: impl Fn(&Source) -> bool) -> Vec<Source> {
        let (gone, kept) = std::mem::take(&mut self.block.pending.sources).into_iter().partition(done);
        self.block.pending.sources = kept;
        self.block.refresh_guard();
        gone
    }

    /// The last thread of the block ends.
    #[cold]
    pub fn block_ends(&mut self) {
        let unwaited = self.block.pending.sources.iter().find(|source| source.by == Reader::Copy).cloned();
        if let Some(source) = unwaited {
            let thread = self.thread_of(source.thread);
            let message = format!(
                "block ({},{},{}) ends while the bulk copy that {} started may still read its shared memory; \
                 cp.async.bulk.commit_group and wait_group.read 0 first",
                self.block.id[0],
                self.block.id[1],
                self.block.id[2],
                text_of(&thread)
            );
            let detail =
                Detail { space: Some(Space::Shared), access: Some(AccessKind::AsyncCopy), ..Detail::default() };
            self.fault_of(FaultKind::MissingAsyncWait, source.pc, Some(thread), 1, message, detail);
        }
        self.check_warpgroups();
        if !self.block.shares.is_empty() {
            self.check_shares();
        }
        if self.watch & watch::RACE != 0 && !self.block.pending.remote.are_none() {
            self.check_ended();
        }
    }
}
