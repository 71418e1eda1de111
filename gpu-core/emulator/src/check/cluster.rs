//! Shared memory of another block of the cluster: order between the blocks, and whether the other one runs at all.
//!
//! Blocks count logical time each for itself, so that order between them is asked of what they published
//! ([`crate::check::race::sync`]): cluster barriers, arrivals at each other's mbarriers, releases.

use std::collections::HashMap;

use super::race::Party;
use crate::check::race::shadow::{FLAG, clock_of, other_of, site_of, thread_of};
use crate::check::undef::undefined_bits::Quick;
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::fault::{Detail, text_of};
use crate::exec::memory::access::{Addresses, STRONG, verb};
use crate::exec::op::Op;
use crate::exec::sched::block::Block;
use crate::memory::space::Window;
use crate::report::{AccessKind, FaultKind, Space, ThreadId};

/// One access of another block.
#[derive(Clone, Copy, Debug)]
struct Remote {
    block: u64,
    thread: ThreadId,
    /// Linear number in its block.
    linear: u32,
    /// Counted from the start of that block.
    clock: u32,
    site: u32,
    kind: AccessKind,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Option<Remote>,
    read: Option<Remote>,
}

/// What other blocks did to a block's shared memory, by 4-byte word.
#[derive(Debug, Default)]
pub struct Remotes {
    cells: HashMap<u32, Cell, Quick>,
    /// The last arrival of each warp at an mbarrier, by its offset, the warp's block and number; where, and in which phase.
    arrivals: HashMap<(u32, u64, u32), (Remote, u32, u64)>,
    /// Ranks of the cluster that this block knows to have started.
    started: u32,
}

impl Remotes {
    pub fn reset(&mut self) {
        self.cells.clear();
        self.arrivals.clear();
        self.started = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Nobody did anything that must be over before the block ends.
    pub fn are_none(&self) -> bool {
        self.cells.is_empty() && self.arrivals.is_empty()
    }

    /// An asynchronous copy has written `[low, high)` anew.
    pub fn forget(&mut self, low: u32, high: u32) {
        if !self.cells.is_empty() {
            self.cells.retain(|word, _| word * 4 >= high || word * 4 + 4 <= low);
        }
    }
}

/// Whether two accesses to one place conflict when nothing orders them.
fn conflicts(one: AccessKind, two: AccessKind) -> bool {
    use AccessKind::{Atomic, Read};
    !matches!((one, two), (Read, Read) | (Atomic, Atomic))
}

impl Cx<'_> {
    fn after(&self, access: &Remote) -> bool {
        if access.block == self.block.index {
            let clock = access.clock.saturating_add(self.block.base_time);
            return self.warp.heard(access.linear as usize / 32) >= clock;
        }
        self.grid.syncs.ordered(
            access.block,
            u64::MAX,
            access.linear as usize / 32,
            access.clock,
            self.block.index,
            || self.grid.over(),
        )
    }

    fn remote(&self, op: &Op, lane: usize, kind: AccessKind) -> Remote {
        self.remote_at(op.site, lane, kind)
    }

    fn remote_at(&self, site: u32, lane: usize, kind: AccessKind) -> Remote {
        Remote {
            block: self.block.index,
            thread: self.thread(lane),
            linear: self.warp.index * 32 + lane as u32,
            clock: self.warp.clock.saturating_sub(self.block.base_time),
            site,
            kind,
        }
    }

    /// An arrival at an mbarrier of another block, which must still be there.
    pub fn check_remote_arrival(&mut self, home: *mut Block, address: u64, lane: usize) {
        if self.watch & watch::RACE == 0 {
            return;
        }
        // SAFETY: peers of a cluster are run by this worker alone.
        let rank = u64::from(unsafe { (*home).cluster_rank });
        let offset = (address & 0xff_ffff) as u32;
        if self.peer_runs(home, (rank + 1) << 24 | u64::from(offset), 8, lane, AccessKind::Atomic) {
            let mine = self.remote_at(0, lane, AccessKind::Atomic);
            // SAFETY: as above.
            let home = unsafe { &mut *home };
            let phase = home.mbarriers.get(&offset).map_or(0, |barrier| barrier.phase);
            home.pending.remote.arrivals.insert((offset, mine.block, mine.linear / 32), (mine, self.pc, phase));
        }
    }

    /// An access to another block's shared memory. False: that block has ended, which was reported.
    pub fn check_peer(&mut self, op: &Op, at: &Addresses, bytes: u64, kind: AccessKind) {
        let Some((home, _)) = self.shared_home(at.low) else { return };
        let strong = op.e.0 & STRONG != 0 && kind != AccessKind::AsyncCopy;
        let kind = match kind {
            AccessKind::Write if strong => AccessKind::Atomic,
            AccessKind::Read if strong => return,
            other => other,
        };
        let lane = at.mask.trailing_zeros() as usize & 31;
        if !self.peer_runs(home, at.at[lane], bytes, lane, kind) {
            return;
        }
        for lane in lanes(at.mask) {
            let offset = (at.at[lane] & 0xff_ffff) as u32;
            if self.peer_range(op, home, offset, bytes, lane, kind) {
                return;
            }
        }
    }

    /// A copy of this block fills another block's memory.
    pub fn check_peer_fill(&mut self, op: &Op, home: *mut Block, offset: u32, bytes: u64, lane: usize) {
        // SAFETY: peers of a cluster are run by this worker alone.
        let rank = u64::from(unsafe { (*home).cluster_rank });
        if self.peer_runs(home, (rank + 1) << 24 | u64::from(offset), bytes, lane, AccessKind::AsyncCopy) {
            self.peer_range(op, home, offset, bytes, lane, AccessKind::AsyncCopy);
        }
    }

    /// Compares with what is known of a range of another block's memory and adds this access. True: a race.
    fn peer_range(
        &mut self,
        op: &Op,
        home: *mut Block,
        offset: u32,
        bytes: u64,
        lane: usize,
        kind: AccessKind,
    ) -> bool {
        // SAFETY: peers of a cluster are run by this worker alone; `home` is not the block that runs.
        let block = unsafe { &mut *home };
        let mine = self.remote(op, lane, kind);
        let shadow = &block.shared_shadow;
        let local = |thread: u32, cell: u64, kind: AccessKind| Remote {
            block: block.index,
            thread: self.grid.thread(block.id, thread),
            linear: thread,
            clock: clock_of(cell).saturating_sub(block.base_time),
            site: site_of(cell),
            kind,
        };
        let mut against = None;
        for index in shadow.cells(offset.into(), bytes) {
            let (write, read) = (shadow.writes[index], shadow.reads[index]);
            let by = if write & FLAG != 0 { AccessKind::Atomic } else { AccessKind::Write };
            let (wrote, has_read) = (clock_of(write) > block.base_time, clock_of(read) > block.base_time);
            let known = [
                (wrote, thread_of(write), write, by),
                (has_read, thread_of(read), read, AccessKind::Read),
                (has_read && read & FLAG != 0, other_of(read), read, AccessKind::Read),
            ];
            let conflicting = known.into_iter().filter(|(is, .., by)| *is && conflicts(kind, *by));
            against = conflicting.map(|(_, thread, cell, by)| local(thread, cell, by)).find(|other| !self.after(other));
            if against.is_some() {
                break;
            }
        }
        for word in offset / 4..(u64::from(offset) + bytes).div_ceil(4) as u32 {
            let cell = block.pending.remote.cells.entry(word).or_default();
            let same = |other: &Remote| other.block == mine.block && other.linear == mine.linear;
            let known = [cell.write, cell.read];
            if against.is_none() {
                against = known
                    .into_iter()
                    .flatten()
                    .find(|other| !same(other) && conflicts(kind, other.kind) && !self.after(other));
            }
            if kind == AccessKind::Read {
                cell.read = Some(mine);
            } else {
                *cell = Cell { write: Some(mine), read: None };
            }
        }
        (block.state.guarded, block.state.more) = (true, true);
        let Some(other) = against else { return false };
        let party =
            Party { site: other.site, thread: Some(other.thread), kind: other.kind, told: None, at_once: false };
        let address = u64::from(block.cluster_rank + 1) << 24 | u64::from(offset);
        self.report_race(op, Window::Shared, address, bytes.min(16), lane, kind, party);
        true
    }

    /// Whether the other block has started, for certain, and has not ended.
    fn peer_runs(&mut self, home: *mut Block, address: u64, bytes: u64, lane: usize, kind: AccessKind) -> bool {
        // SAFETY: peers of a cluster are run by this worker alone.
        let (index, id, rank, live) =
            unsafe { ((*home).index, (*home).id, (*home).cluster_rank, (*home).live_threads) };
        if live == 0 {
            let message = format!(
                "{} {} shared memory of block ({},{},{}), which has ended; let the blocks of a cluster meet at a cluster \
                 barrier before any of them ends",
                text_of(&self.thread(lane)),
                verb(kind),
                id[0],
                id[1],
                id[2]
            );
            self.peer_fault(FaultKind::UseAfterFree, address, bytes, lane, kind, message);
            return false;
        }
        if self.block.pending.remote.started >> rank & 1 != 0 {
            return true;
        }
        self.block.pending.remote.started |= 1 << rank;
        if !(0..32).any(|warp| self.grid.syncs.ordered(index, u64::MAX, warp, 0, self.block.index, || self.grid.over()))
        {
            let message = format!(
                "{} {} shared memory of block ({},{},{}), which may not have started yet; wait at a cluster barrier first",
                text_of(&self.thread(lane)),
                verb(kind),
                id[0],
                id[1],
                id[2]
            );
            self.peer_fault(FaultKind::Race, address, bytes, lane, kind, message);
        }
        true
    }

    fn peer_fault(
        &mut self,
        fault: FaultKind,
        address: u64,
        bytes: u64,
        lane: usize,
        kind: AccessKind,
        message: String,
    ) {
        let (_, allocation) = self.locate(Window::Shared, address, bytes);
        let home = self.shared_home(address).map_or([0; 3], |(home, _)| {
            // SAFETY: peers of a cluster are run by this worker alone.
            unsafe { (*home).id }
        });
        let detail = Detail {
            space: Some(Space::Cluster),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: Some(self.grid.image.other_side(None, self.grid.thread(home, 0), None)),
        };
        let pc = self.pc;
        self.fault(fault, pc, Some(lane), 1, message, detail);
    }

    /// An access of this block to its own shared memory, which others have reached into.
    pub fn check_remote(&mut self, op: &Op, at: &Addresses, bytes: u64, kind: AccessKind) {
        let strong = op.e.0 & STRONG != 0 && kind != AccessKind::AsyncCopy;
        let kind = match kind {
            AccessKind::Write if strong => AccessKind::Atomic,
            AccessKind::Read if strong => return,
            other => other,
        };
        for lane in lanes(at.mask) {
            for word in (at.at[lane] / 4) as u32..(at.at[lane] + bytes).div_ceil(4) as u32 {
                let Some(cell) = self.block.pending.remote.cells.get(&word) else { continue };
                let known = [cell.write, cell.read];
                let against =
                    known.into_iter().flatten().find(|other| conflicts(kind, other.kind) && !self.after(other));
                if let Some(other) = against {
                    let party = Party {
                        site: other.site,
                        thread: Some(other.thread),
                        kind: other.kind,
                        told: None,
                        at_once: false,
                    };
                    self.report_race(op, Window::Shared, at.at[lane], bytes, lane, kind, party);
                    return;
                }
            }
        }
    }

    /// The block ends: whatever others did to its memory must be ordered before that.
    pub fn check_ended(&mut self) {
        let image = self.image();
        let remote = &self.block.pending.remote;
        let accesses = remote.cells.values().flat_map(|cell| [cell.write, cell.read]).flatten();
        let accesses = accesses.map(|access| (access, image.sites.get(access.site as usize).map_or(0, |site| site.pc)));
        // Who knows that a phase is over knows that its arrivals took place, also those that order nothing else.
        let known = |offset: &u32| self.block.mbarriers.get(offset).map_or(0, |barrier| barrier.known);
        let arrivals = remote.arrivals.iter().filter(|((offset, ..), (.., phase))| *phase >= known(offset));
        let mut all = accesses.chain(arrivals.map(|(_, (arrival, pc, _))| (*arrival, *pc)));
        let Some((other, pc)) = all.find(|(other, _)| !self.after(other)) else { return };
        let message = format!(
            "{} {} shared memory of block ({},{},{}), which may have ended by then; let the blocks of a cluster meet at a \
             cluster barrier before any of them ends",
            text_of(&other.thread),
            verb(other.kind),
            self.block.id[0],
            self.block.id[1],
            self.block.id[2]
        );
        let detail = Detail {
            space: Some(Space::Cluster),
            access: Some(other.kind),
            other: Some(self.grid.image.other_side(None, self.grid.thread(self.block.id, 0), None)),
            ..Detail::default()
        };
        self.fault_of(FaultKind::UseAfterFree, pc, Some(other.thread), 1, message, detail);
    }
}
