//! Races: two accesses to one place, one of them a plain write, with no order between them.
//!
//! Shadows keep the last write and the last reads of every 4 bytes (of every 2 or every one where a kernel accesses less) with
//! thread, place and logical clock. A clock is ordered before an access when it is not above what the accessing warp
//! has seen of the other one through barriers, `__syncwarp`, fences with atomics, or acquire and release. For plain
//! accesses it takes a fence or a barrier on both sides: behind the atomic that tells, as before the one that is told of.
//! Lanes of one warp are ordered by `__syncwarp` and stronger only, and what one of them tells others covers itself ([`known`]).
//!
//! What counts: atomics and volatile accesses do not race among themselves, but for volatile loads of data that nobody looks
//! at ([`crate::analysis::data`]). The same value stored by the same
//! instruction is no race, whoever executes it. A plain read races with a volatile or relaxed store, whichever comes first. A plain
//! read of what others update atomically is reported for shared memory unless the kernel re-checks with an atomic of its
//! own (the usual compare-and-swap loop), and for global memory where it fetches a part of a result
//! (`analysis/fetched.rs`). A load that the compiler took out of a condition counts for those alone who need it
//! (`analysis/hoisted.rs`).

pub mod global;
pub mod history;
pub mod known;
#[cfg(target_arch = "x86_64")]
pub mod lays;
#[cfg(target_arch = "x86_64")]
pub mod mapped;
pub mod memory;
pub mod pages;
pub mod passed;
pub mod proxy;
pub mod rules;
pub mod same;
pub mod shadow;
#[cfg(target_arch = "x86_64")]
pub mod shadow_rows;
pub mod shadow_runs;
pub mod stale;
pub mod stored;
pub mod sync;
pub mod touched;
pub mod unfenced;
pub mod words;

use std::collections::HashSet;
use std::sync::Mutex;

use crate::check::race::shadow::{
    ALSO, CLOCK, FLAG, MAX_TIME, OTHER, SITE, THREAD, THREADS, clock_of, kept, other_of, site_of, thread_of,
};
use crate::exec::cx::{Cx, lanes};
use crate::exec::memory::access::{Addresses, Reach, Runs};
use crate::exec::memory::flags::{DATA, FETCH, VOLATILE};
use crate::exec::op::Op;
use crate::exec::opcode::opcode;
use crate::memory::space::Window;
use crate::report::{AccessKind, Fault, Position, ThreadId};

/// Reads that are judged at the end, at most. Each copy of an unrolled line is judged by itself: each may be re-checked.
pub(crate) const DEFERRED: usize = 1024;

/// Reads of atomically updated places that are races unless the kernel turns out to re-check them.
#[derive(Debug, Default)]
pub struct Deferred {
    pub(crate) faults: Mutex<Vec<(u32, Fault)>>,
    optimistic: Mutex<HashSet<u32>>,
}

impl Deferred {
    /// More of those that a read at `site` made with what is at `other`.
    pub fn count(&self, site: u32, other: Option<Position<'_>>, more: u64) {
        let mut faults = self.faults.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let same = |known: &&mut (u32, Fault)| known.0 == site && known.1.other_position() == other;
        if let Some((_, fault)) = faults.iter_mut().find(same) {
            fault.occurrences += more;
        }
    }

    /// Those that stay races.
    pub fn finish(&self) -> Vec<Fault> {
        let optimistic = self.optimistic.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut faults = self.faults.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        faults.drain(..).filter(|(site, _)| !optimistic.contains(site)).map(|(_, fault)| fault).collect()
    }
}

/// One party of a race.
pub struct Party {
    pub site: u32,
    pub thread: Option<ThreadId>,
    pub kind: AccessKind,
    /// Another lane of its warp has arrived at an mbarrier since, for itself alone: where, and which thread.
    pub told: Option<(u32, u32)>,
    /// Both are copies of one instruction, by lanes that were in no order since.
    pub at_once: bool,
}

impl Cx<'_> {
    #[inline(always)]
    pub fn race_shared<const BYTES: u64>(&mut self, op: &Op, at: &Addresses, kind: AccessKind) {
        if BYTES < 1 << self.block.shared_shadow.shift {
            self.block.shared_shadow.refine(BYTES.ilog2());
        }
        if at.high >> 24 != 0 {
            self.check_peer(op, at, BYTES, kind);
            return;
        }
        if at.high + BYTES > u64::from(self.block.shared_shadow.bytes) {
            return;
        }
        let strong = op.e.0 & crate::exec::memory::access::STRONG != 0 && !matches!(kind, AccessKind::AsyncCopy);
        let (stamp, floor) = self.shared_stamp(op);
        match kind {
            AccessKind::Atomic => self.block.shared_shadow.note_atomic(stamp, floor, at.low, at.high + BYTES),
            _ => self.block.shared_shadow.note(stamp, kind != AccessKind::Read),
        }
        self.race_shared_lanes::<BYTES>(op, at, kind, stamp, floor, strong);
    }

    /// What this warp's accesses bring to a cell (of its lane 0), and the cells up to which are ordered before.
    #[inline(always)]
    pub(crate) fn shared_stamp(&self, op: &Op) -> (u64, u64) {
        let clock = u64::from(self.warp.clock.min(MAX_TIME));
        let site = kept(op.site);
        let stamp = clock << CLOCK | u64::from(site) << SITE | u64::from(self.warp.index * 32) << THREAD;
        (stamp, u64::from(self.warp.floor) << CLOCK | ((1 << CLOCK) - 1))
    }

    /// The same for an access in runs, `by` bytes on. False: look at the lanes; nothing was changed.
    #[inline(always)]
    pub fn race_shared_runs<const BYTES: u64>(&mut self, op: &Op, runs: &Runs, by: u64, kind: AccessKind) -> bool {
        let strong = op.e.0 & crate::exec::memory::access::STRONG != 0;
        let bytes = u64::from(self.block.shared_shadow.bytes);
        let high = runs.high.wrapping_add(by);
        let shift = self.block.shared_shadow.shift;
        if strong || BYTES < 1 << shift || high + BYTES > bytes {
            return false;
        }
        let (stamp, floor) = self.shared_stamp(op);
        let low = runs.low.wrapping_add(by);
        if kind == AccessKind::Read && self.joins_slowly(floor, low, high + BYTES) {
            return false;
        }
        let shadow = &mut self.block.shared_shadow;
        shadow.note(stamp, kind != AccessKind::Read);
        let common = shadow.is_common(BYTES);
        match kind {
            AccessKind::Read if runs.step == 0 => shadow.broadcast::<BYTES>(runs, by, stamp, floor),
            AccessKind::Read if common => match runs.width {
                32 => shadow.read::<BYTES, 32>(runs, by, BYTES, stamp, floor),
                16 => shadow.read::<BYTES, 16>(runs, by, BYTES, stamp, floor),
                8 => shadow.read::<BYTES, 8>(runs, by, BYTES, stamp, floor),
                _ => shadow.read::<BYTES, 0>(runs, by, BYTES, stamp, floor),
            },
            AccessKind::Read => shadow.read::<0, 0>(runs, by, BYTES, stamp, floor),
            AccessKind::Write if common => match runs.width {
                32 => shadow.write::<BYTES, 32>(runs, by, BYTES, stamp, floor),
                16 => shadow.write::<BYTES, 16>(runs, by, BYTES, stamp, floor),
                8 => shadow.write::<BYTES, 8>(runs, by, BYTES, stamp, floor),
                _ => shadow.write::<BYTES, 0>(runs, by, BYTES, stamp, floor),
            },
            AccessKind::Write => shadow.write::<0, 0>(runs, by, BYTES, stamp, floor),
            _ => false,
        }
    }

    /// Whether races on shared memory up to `end` are looked for by cells of `bytes`.
    #[inline(always)]
    pub(crate) fn is_by(&self, bytes: u64, end: u32) -> bool {
        1 << self.block.shared_shadow.shift == bytes && end <= self.block.shared_shadow.bytes
    }

    /// All lanes read the `bytes` at `first`, which lie in one array. False: look closer; nothing was changed.
    #[inline(never)]
    pub fn race_shared_word(&mut self, op: &Op, first: u32, bytes: u64) -> bool {
        if !self.is_by(bytes, first.saturating_add(bytes as u32)) {
            return false;
        }
        let (stamp, floor) = self.shared_stamp(op);
        if self.joins_slowly(floor, first.into(), u64::from(first) + bytes) {
            return false;
        }
        self.block.shared_shadow.note(stamp, false);
        self.block.shared_shadow.read_word(first, stamp, floor)
    }

    /// Each lane reads `bytes`, `step` bytes behind those of the lane before, in one array. False: look closer; nothing was
    /// changed.
    #[inline(never)]
    pub fn race_shared_column(&mut self, op: &Op, first: u32, step: u64, bytes: u64) -> bool {
        let end = u64::from(first) + 31 * step + bytes;
        if u32::try_from(end).is_ok_and(|end| self.is_by(bytes, end)) && step.is_multiple_of(bytes) {
            let (stamp, floor) = self.shared_stamp(op);
            if self.joins_slowly(floor, first.into(), end) {
                return false;
            }
            self.block.shared_shadow.note(stamp, false);
            return self.block.shared_shadow.read_column(first, step, stamp, floor);
        }
        false
    }

    /// The first `lanes` lanes read or write `bytes` each, in `EACH` cells, side by side from `first` on, which lie in one array.
    /// False: look closer; nothing was changed.
    ///
    /// # Safety
    /// The machine must have AVX-512; `lanes` must be 32 at most; `EACH` must be 1, 2 or 4.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
    pub unsafe fn race_shared_row<const WRITE: bool, const EACH: usize>(
        &mut self,
        op: &Op,
        first: u32,
        lanes: usize,
        bytes: u64,
    ) -> bool {
        if !self.is_by(bytes / EACH as u64, first.saturating_add(bytes as u32 * lanes as u32)) {
            return false;
        }
        let (stamp, floor) = self.shared_stamp(op);
        let end = u64::from(first) + bytes * lanes as u64;
        if !WRITE && self.joins_slowly(floor, first.into(), end) {
            return false;
        }
        let shadow = &mut self.block.shared_shadow;
        shadow.note(stamp, WRITE);
        // SAFETY: as the caller says.
        unsafe {
            match (WRITE, lanes) {
                (true, 32) => shadow.write_row::<true, EACH>(first, lanes, stamp, floor),
                (true, _) => shadow.write_row::<false, EACH>(first, lanes, stamp, floor),
                (false, 32) => shadow.read_row::<true, EACH>(first, lanes, stamp, floor),
                (false, _) => shadow.read_row::<false, EACH>(first, lanes, stamp, floor),
            }
        }
    }

    /// Each of 2 or 4 groups of lanes reads or writes `bytes` a lane, in `EACH` cells, side by side, which lie in one array; `runs` are
    /// relative to `first`. False: look closer; nothing was changed.
    ///
    /// # Safety
    /// The machine must have AVX-512; `EACH` must be 1, 2 or 4; the runs must be of lanes side by side.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
    pub unsafe fn race_shared_rows<const WRITE: bool, const EACH: usize>(
        &mut self,
        op: &Op,
        runs: &Runs,
        first: u32,
        bytes: u64,
    ) -> bool {
        let first = u64::from(first);
        let (low, end) = (first.wrapping_add(runs.low), first.wrapping_add(runs.high) + bytes);
        if !u32::try_from(end).is_ok_and(|end| self.is_by(bytes / EACH as u64, end)) {
            return false;
        }
        let (stamp, floor) = self.shared_stamp(op);
        if !WRITE && self.joins_slowly(floor, low, end) {
            return false;
        }
        let shadow = &mut self.block.shared_shadow;
        shadow.note(stamp, WRITE);
        // SAFETY: as the caller says; all of it lies inside.
        unsafe { shadow.rows::<WRITE, EACH>(runs, first, stamp, floor) }
    }

    #[inline(never)]
    fn race_shared_lanes<const BYTES: u64>(
        &mut self,
        op: &Op,
        at: &Addresses,
        kind: AccessKind,
        stamp: u64,
        floor: u64,
        strong: bool,
    ) {
        let shift = self.block.shared_shadow.shift;
        let cells = (BYTES >> shift).max(1);
        if kind == AccessKind::Read && op.e.0 & VOLATILE != 0 {
            self.note_poll(op, at);
        }
        if kind == AccessKind::Atomic && cells == 1 && self.update_cells(at, shift, stamp, floor) {
            return;
        }
        for lane in lanes(at.mask) {
            let mine = stamp + ((lane as u64) << THREAD);
            let me = thread_of(mine);
            for cell in 0..cells {
                let index = ((at.at[lane] >> shift) + cell) as usize;
                let write = self.block.shared_shadow.writes[index];
                let read = self.block.shared_shadow.reads[index];
                let foreign_write = write > floor && thread_of(write) != me && !self.has_seen(write, me);
                let atomic_write = write & FLAG != 0;
                let mut against: Option<(u64, u32, AccessKind)> = None;
                match (kind, strong) {
                    (AccessKind::Read, true) if op.e.0 & DATA == 0 => {
                        if foreign_write && atomic_write && thread_of(write) / 32 == self.warp.index {
                            against = self.volatile_write(op, write);
                        }
                    }
                    (AccessKind::Read, _) => {
                        let takes = !strong || op.e.0 & FETCH != 0;
                        if foreign_write && (takes || !atomic_write || self.is_stored(write)) {
                            let atomic = atomic_write && !self.is_stored(write);
                            let other = if atomic { AccessKind::Atomic } else { AccessKind::Write };
                            against = Some((write, thread_of(write), other));
                        } else if takes && atomic_write {
                            against = self.earlier_update(index, me, floor);
                        }
                        self.block.shared_shadow.reads[index] = if thread_of(read) == me && read > floor {
                            let gone = self.warp.beyond && self.knows(other_of(read), read, me);
                            mine | if gone { 0 } else { read & (FLAG | THREADS << OTHER) }
                        } else if read <= floor || self.follows(read, me) {
                            mine
                        } else {
                            read & !(THREADS << OTHER) | u64::from(me) << OTHER | FLAG
                        };
                    }
                    (AccessKind::Atomic, _) | (AccessKind::Write, true) => {
                        if foreign_write && !atomic_write {
                            against = Some((write, thread_of(write), AccessKind::Write));
                        } else if kind == AccessKind::Write {
                            against = self.unread(read, me, floor);
                        } else if read > floor {
                            against = self.unread(read, me, floor).filter(|(cell, ..)| self.is_fetch(*cell));
                        }
                        if read > floor && thread_of(read) == me {
                            self.optimistic(site_of(read));
                        }
                        // A plain write of the same thread that nobody else may know of stays what is known: it does not
                        // become atomic by what follows.
                        let own_plain = write > floor && thread_of(write) == me && !atomic_write;
                        let known = !own_plain || self.has_seen(write, me);
                        if known && kind == AccessKind::Atomic {
                            let is_here = |other: usize| {
                                at.mask >> other & 1 != 0 && at.at[other] >> shift == at.at[lane] >> shift
                            };
                            self.block.shared_shadow.put_lane(index, mine | FLAG, is_here);
                        } else if known {
                            self.block.shared_shadow.writes[index] = mine | FLAG;
                        }
                    }
                    _ => {
                        if foreign_write {
                            let other = if atomic_write { AccessKind::Atomic } else { AccessKind::Write };
                            against = Some((write, thread_of(write), other));
                        } else {
                            against = self.unread(read, me, floor);
                        }
                        self.block.shared_shadow.writes[index] = mine;
                        self.block.shared_shadow.reads[index] = 0;
                    }
                }
                if let Some((cell, thread, other)) = against {
                    self.pass_slowly(1);
                    let benign = other == AccessKind::Write
                        && site_of(cell) == kept(op.site)
                        && match kind {
                            AccessKind::Write => self.same_value(op, at, (lane, 0), thread, BYTES),
                            AccessKind::AsyncCopy => self.same_copy(op, at, lane, thread),
                            _ => false,
                        };
                    if benign {
                        continue;
                    }
                    let told = self.warp.told_by_another(thread, clock_of(cell));
                    let copies = kind == AccessKind::AsyncCopy && site_of(cell) == kept(op.site);
                    let at_once = copies && thread / 32 == self.warp.index && clock_of(cell) == self.warp.clock;
                    let (site, by) = (site_of(cell), Some(self.thread_of(thread)));
                    let party = Party { site, thread: by, kind: other, told, at_once };
                    self.report_race(op, Window::Shared, at.at[lane], BYTES, lane, kind, party);
                    break;
                }
            }
        }
    }

    /// Atomics on places that nobody wrote plainly or read since all was in order. False: look closer; nothing was changed.
    #[inline(always)]
    fn update_cells(&mut self, at: &Addresses, shift: u32, stamp: u64, floor: u64) -> bool {
        let shadow = &mut self.block.shared_shadow;
        let Some(writes) = shadow.writes.get(..=(at.high >> shift) as usize) else { return false };
        let Some(reads) = shadow.reads.get(..writes.len()) else { return false };
        let mut unclear = false;
        for lane in lanes(at.mask) {
            let index = (at.at[lane] >> shift) as usize;
            unclear |= writes[index] > floor && writes[index] & FLAG == 0 || reads[index] > floor;
        }
        if !unclear {
            for lane in lanes(at.mask) {
                let index = (at.at[lane] >> shift) as usize;
                let is_here = |other: usize| at.mask >> other & 1 != 0 && (at.at[other] >> shift) as usize == index;
                shadow.put_lane(index, stamp + ((lane as u64) << THREAD) | FLAG, is_here);
            }
        }
        !unclear
    }

    /// Whether the reads that a cell tells of are ordered before what thread `me` does, beyond what the floor says.
    #[inline(always)]
    fn follows(&self, read: u64, me: u32) -> bool {
        self.warp.beyond && self.has_seen(read, me) && (read & FLAG == 0 || self.knows(other_of(read), read, me))
    }

    /// Whether reads have to be joined with what is known by what this warp has seen of others, which short ways do not ask.
    /// And whether others than the last one may have updated what it reads in `[low, end)`.
    #[inline(always)]
    pub(crate) fn joins_slowly(&self, floor: u64, low: u64, end: u64) -> bool {
        let shadow = &self.block.shared_shadow;
        self.warp.beyond && shadow.plain > floor || shadow.is_updated(floor, low, end)
    }

    /// Whether what a cell tells of is a read that fetches a part of a result: any other may find any value.
    #[cold]
    fn is_fetch(&self, cell: u64) -> bool {
        let image = self.image();
        let site = image.sites.get(site_of(cell) as usize).filter(|_| site_of(cell) != 0);
        site.is_some_and(|site| image.code[site.pc as usize].e.0 & FETCH != 0)
    }

    /// An atomic on a cell that is not ordered before what thread `me` does, whoever made the last one.
    fn earlier_update(&self, cell: usize, me: u32, floor: u64) -> Option<(u64, u32, AccessKind)> {
        self.block.shared_shadow.updates_of(cell).iter().filter(|update| **update > floor).find_map(|&update| {
            let other = (update & ALSO != 0).then_some(other_of(update));
            [Some(thread_of(update)), other].into_iter().flatten().find_map(|thread| {
                let met = || thread / 32 == self.warp.index && self.warp.met(thread, clock_of(update), me);
                let seen = || self.warp.knows(thread, clock_of(update));
                (thread != me && !seen() && !met()).then_some((update, thread, AccessKind::Atomic))
            })
        })
    }

    /// The read that a write of thread `me` comes too early for.
    #[inline(always)]
    fn unread(&self, read: u64, me: u32, floor: u64) -> Option<(u64, u32, AccessKind)> {
        if read <= floor || self.has_seen(read, me) {
            return None;
        }
        let (first, other) = (thread_of(read), other_of(read));
        if first != me {
            return Some((read, first, AccessKind::Read));
        }
        let both = read & FLAG != 0 && other != me && !self.knows(other, read, me);
        both.then_some((read, other, AccessKind::Read))
    }

    /// Whether what a cell says is ordered before what thread `me` does, beyond what the floor says; of its own, whether the
    /// others of its warp know.
    fn has_seen(&self, cell: u64, me: u32) -> bool {
        let (thread, clock) = (thread_of(cell), clock_of(cell));
        let warp = thread / 32;
        let met = || thread != me && warp == self.warp.index && self.warp.met(thread, clock, me);
        self.warp.knows(thread, clock) || met()
    }

    /// The same of a read by another thread, which may have been at any time up to the cell's.
    fn knows(&self, thread: u32, cell: u64, me: u32) -> bool {
        let warp = thread / 32;
        self.warp.knows(thread, clock_of(cell)) || warp == self.warp.index && self.warp.met(thread, 0, me)
    }

    /// `volatile` orders nothing between lanes of a warp. A volatile read of what another lane stored since the last
    /// `__syncwarp` is a race, unless the read turns out to poll.
    #[cold]
    fn volatile_write(&self, op: &Op, write: u64) -> Option<(u64, u32, AccessKind)> {
        let image = self.image();
        let site = image.sites.get(site_of(write) as usize)?;
        let both = op.e.0 & image.code[site.pc as usize].e.0 & VOLATILE != 0;
        let store = image.infos[site.pc as usize].class == crate::report::Class::Shared;
        (both && store).then_some((write, thread_of(write), AccessKind::Write))
    }

    /// Whether what a cell calls an atomic was a strong store.
    #[cold]
    fn is_stored(&self, write: u64) -> bool {
        let image = self.image();
        let site = image.sites.get(site_of(write) as usize).filter(|_| site_of(write) != 0);
        write & FLAG != 0 && site.is_some_and(|site| opcode(image.text(site.pc)).starts_with("st"))
    }

    /// A volatile read: the same place again at the same instruction is polling, which is what `volatile` is for.
    #[cold]
    fn note_poll(&mut self, op: &Op, at: &Addresses) {
        let now = (op.site, at.low);
        if self.warp.last_volatile == now {
            self.optimistic(op.site);
        }
        self.warp.last_volatile = now;
    }

    fn optimistic(&mut self, site: u32) {
        if std::mem::replace(&mut self.worker.rechecked, site) == site {
            return;
        }
        let mut sites = self.grid.deferred.optimistic.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        sites.insert(site);
    }
}

pub use crate::check::race::global::GlobalRaces;
pub use crate::check::race::pages::Shadow;

impl Cx<'_> {
    #[inline(always)]
    pub fn race_global<const BYTES: u64>(&mut self, op: &Op, reach: &Reach, at: &Addresses, kind: AccessKind) {
        let grid = self.grid;
        if self.is_in_no_race(op, reach, kind) {
            return;
        }
        if kind == AccessKind::Atomic {
            self.note_number(at.mask, at.low);
        }
        if kind == AccessKind::Atomic && at.contiguous {
            let low = at.low;
            let runs = Runs { count: 1, width: 32, step: BYTES, starts: [low; 4], low, high: at.high };
            return grid.races.access_runs::<BYTES>(self, op, reach, &runs, kind);
        }
        grid.races.access::<BYTES>(self, op, reach, at, kind);
    }

    /// Remembers an atomic of one lane: see [`crate::exec::sched::block::Block::numbers`].
    #[inline(always)]
    pub fn note_number(&mut self, mask: u32, address: u64) {
        if mask.is_power_of_two() {
            let thread = self.warp.index * 32 + mask.trailing_zeros();
            self.block.note_number(address & !3, thread);
        }
    }

    /// Whether it is known of an array that no such access to it is in a race.
    #[inline(always)]
    pub fn is_in_no_race(&self, op: &Op, reach: &Reach, kind: AccessKind) -> bool {
        reach.only_read && self.is_mere_read(reach, kind) || reach.owned && self.is_own(op, reach)
    }

    /// Whether an access to what is only read is a read; the first that is not ends that.
    #[inline(always)]
    pub fn is_mere_read(&self, reach: &Reach, kind: AccessKind) -> bool {
        if kind != AccessKind::Read {
            self.grid.regions[reach.shadow as usize].only_read.store(false, std::sync::atomic::Ordering::Relaxed);
        }
        kind == AccessKind::Read
    }

    /// A race on global memory; `other` is None when only the other block's existence is known.
    pub fn global_race(
        &mut self,
        op: &Op,
        address: u64,
        bytes: u64,
        lane: usize,
        kind: AccessKind,
        other: (u32, Option<ThreadId>, AccessKind),
    ) {
        let party = Party { site: other.0, thread: other.1, kind: other.2, told: None, at_once: false };
        self.report_race(op, Window::Global, address, bytes, lane, kind, party);
    }
}
