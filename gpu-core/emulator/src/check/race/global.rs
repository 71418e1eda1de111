//! Races on global memory. An access is cut into pieces, one per 32-byte sector and run of lanes; a piece that agrees
//! with the sector's two summaries changes them at once, any other is settled exactly, cell by cell.
//!
//! Both the last write of a place and the reads since are known, so a write is compared with the reads that came after
//! the last write as well. A write that is in order forgets the reads that it is ordered behind.

mod groups;
mod row;
mod updaters;
mod updates;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::check::deadlock::patience::Patience;
use crate::check::race::pages::*;
use crate::check::race::rules::{Effect, Mine, Piece, atomic, is_known, is_store, read, step, write};
use crate::exec::cx::{Cx, lanes};
use crate::exec::image::Image;
use crate::exec::memory::access::{Addresses, Reach, Runs};
use crate::exec::memory::flags::{CTA, FETCH, NC};
use crate::exec::op::Op;
use crate::fast::Fast;
use crate::report::AccessKind;
use groups::{is_grouped, rows_of};
use row::{Row, halves};
use updaters::Updaters;
use updates::lane_piece;

/// Shadows of all allocations of a launch.
pub struct GlobalRaces {
    pages: Pages,
    /// [`Image::line_sites`].
    line_sites: Arc<[u32]>,
    patience: Patience,
    /// [`Image::fetch_sites`].
    fetch_sites: Arc<[bool]>,
    updaters: Updaters,
    fast: Fast,
}

/// A cell that a lane conflicts with: found under the lock, reported after it.
pub(crate) struct Conflict {
    pub lane: usize,
    pub cell: u64,
    /// Ordered, but read from where the write does not come ([`super::stale`]).
    pub stale: bool,
}

pub(crate) type Conflicts = Vec<Conflict>;

impl GlobalRaces {
    /// Takes the shadows of a launch's allocations; at most `limit` bytes of them are filled.
    pub fn new(image: &Image, shadows: Vec<Shadow>, limit: u64, workers: usize, fast: Fast) -> GlobalRaces {
        GlobalRaces {
            pages: Pages::new(shadows, limit, workers),
            line_sites: Arc::clone(image.line_sites()),
            patience: Patience::new(workers),
            fetch_sites: Arc::clone(image.fetch_sites()),
            updaters: Updaters::default(),
            fast,
        }
    }

    /// Whether a cell is of a read that fetches a part of a result.
    pub(crate) fn is_fetch(&self, cell: u64) -> bool {
        self.fetch_sites.get(((cell >> SITE) as u32 & SITES) as usize).copied().unwrap_or(false)
    }

    /// Gives the shadows back, in the same order.
    pub fn take_shadows(&mut self) -> Vec<Shadow> {
        self.pages.take_tables()
    }

    pub(crate) fn pages(&self) -> &Pages {
        &self.pages
    }

    /// True when memory ran out and some accesses were not checked.
    pub fn incomplete(&self) -> bool {
        self.pages.incomplete()
    }

    /// Forgets what happened to a range: it has a new owner.
    pub fn forget(&self, table: usize, offset: u64, bytes: u64) {
        for number in offset / SECTOR..(offset + bytes).div_ceil(SECTOR) {
            let Some(page) = self.pages.page(table, (number * SECTOR / PAGE) as usize) else { return };
            let mask = bytes_of(number, offset, offset + bytes);
            let entry = page.entry(number);
            let locked = !self.pages.shared_by_workers();
            let mut at = At { pages: &self.pages, table, page: Some((number * SECTOR / PAGE, page)), locked };
            at.lock();
            if !entry.is_of(self.pages.generation) {
                continue;
            }
            self.fold(page, entry);
            for write in [false, true] {
                let half = if write { entry.write() } else { entry.read() };
                let kept = if half.is_cells() {
                    let shift = Pages::shift_of(half, mask);
                    let mut spread = self.pages.spread(page, half, shift);
                    for (index, cell) in spread.cells.iter_mut().enumerate().take(32 >> shift) {
                        if mask >> (index << shift) & 1 != 0 {
                            *cell = 0;
                        }
                    }
                    self.pages.gather(page, half, &spread, [2, ONE, 0])
                } else {
                    Half { mask: half.mask & !mask, ..half }
                };
                if write { entry.set_write(kept) } else { entry.set_read(kept) }
            }
        }
    }

    /// None: the access takes no part in races.
    #[inline(always)]
    fn mine<const LANE_BYTES: u64>(
        &self,
        cx: &Cx<'_>,
        op: &Op,
        reach: &Reach,
        kind: AccessKind,
        strong: bool,
    ) -> Option<Mine> {
        if let Some(region) = cx.grid.regions.get(reach.shadow as usize)
            && region.only_atomic.load(Ordering::Relaxed)
        {
            if kind == AccessKind::Atomic && op.e.0 & CTA == 0 {
                return None;
            }
            // It came from where nobody could tell: from now on all is watched.
            region.only_atomic.store(false, Ordering::Relaxed);
        }
        let effect = Effect::of(op, kind, strong)?;
        let block = cx.block.index % BLOCKS;
        let clock = (cx.warp.clock - cx.block.base_time).min(CLOCKS);
        let mut site = op.site;
        if effect == Effect::Read {
            // The copies of a read that unrolling made count as one, so that neighbouring words can be told as one. Those of
            // a write do not: what agrees is no race only where one instruction stores it.
            site = self.line_sites.get(site as usize).copied().unwrap_or(site);
        }
        let site = kept(site);
        let floor = cx.warp.floor.saturating_sub(cx.block.base_time).min(CLOCKS);
        let thread = u64::from(cx.warp.index * 32);
        Some(Mine {
            block,
            stamp: block << BLOCK | u64::from(clock) << CLOCK | u64::from(site) << SITE | thread << THREAD,
            // A saturated clock may be any time: never reported inside the block.
            floor: if clock == CLOCKS { CLOCKS } else { floor },
            effect,
            narrow: op.e.0 & CTA != 0,
            beyond: cx.warp.beyond,
            stores: strong && kind == AccessKind::Write || kind == AccessKind::Atomic && !self.fetch_sites.is_empty(),
            updates: kind == AccessKind::Atomic,
            fetches: effect == Effect::Read && op.e.0 & FETCH != 0,
            cached: op.e.0 & NC != 0,
            grain: (LANE_BYTES.ilog2() as u8).min(ONE),
        })
    }

    /// Checks a weak access in runs.
    #[inline(always)]
    pub fn access_runs<const BYTES: u64>(
        &self,
        cx: &mut Cx<'_>,
        op: &Op,
        reach: &Reach,
        runs: &Runs,
        kind: AccessKind,
    ) {
        let Some(mine) = self.mine::<BYTES>(cx, op, reach, kind, false) else { return };
        let mut conflicts = Conflicts::new();
        if self.follows_updates(&mine) {
            self.follow_updates::<BYTES>(cx, reach, &runs.spread(BYTES), &mine, &mut conflicts);
        }
        let mut at = self.at(reach);
        let lanes = runs.width;
        let own = thread_of(mine.stamp);
        if runs.step == BYTES {
            // Whether the group before brought nothing new: then neither does one that reads the same.
            let mut known = None;
            for (group, start) in runs.starts().iter().enumerate() {
                if known == Some(*start) {
                    continue;
                }
                let first = start - reach.base;
                let end = first + lanes as u64 * BYTES;
                let thread = own + (group * lanes) as u64;
                if runs.width == 32 {
                    // What the next warps will ask for.
                    at.pages.prefetch(at.table, first / SECTOR + AHEAD);
                    at.pages.prefetch(at.table, first / SECTOR + AHEAD + 2);
                    if cx.worker.ahead != 0 {
                        let next = first.wrapping_add(cx.worker.ahead) / SECTOR;
                        at.pages.prefetch(at.table, next);
                        at.pages.prefetch(at.table, next + 2);
                    }
                }
                let row = Row { first, end, thread, single: BYTES == SECTOR || lanes == 1 };
                let mut number = first / SECTOR;
                known = Some(*start);
                while number * SECTOR < end {
                    let Some(page) = at.page(number) else { return };
                    let piece = row.piece(number, &mine);
                    if !self.piece(cx, &mut at, page, number, piece, &mine, &mut conflicts) {
                        known = None;
                    }
                    number += 1;
                }
            }
        } else if runs.step == 0 && mine.effect == Effect::Read {
            for (group, start) in runs.starts().iter().enumerate() {
                let first = start - reach.base;
                let Some(page) = at.page(first / SECTOR) else { return };
                let thread = own + (group * lanes) as u64;
                let piece = Piece {
                    mask: bytes_of(first / SECTOR, first, first + BYTES),
                    unit: ONE,
                    stamp: with_thread(mine.stamp, thread) | (thread + lanes as u64 - 1) << OTHER,
                    single: false,
                    many: true,
                };
                self.piece(cx, &mut at, page, first / SECTOR, piece, &mine, &mut conflicts);
            }
        } else if runs.width < 32 {
            self.access_groups::<BYTES>(cx, &mut at, reach, runs, &mine, &mut conflicts);
        } else {
            let first = runs.low - reach.base;
            if runs.step >= SECTOR {
                // Far apart, each lane waits for memory: ask for all of it first, and for what comes next.
                let ahead = first.wrapping_add(cx.worker.ahead);
                for lane in 0..32 {
                    at.pages.prefetch(at.table, (first + lane * runs.step) / SECTOR);
                    at.pages.prefetch(at.table, ahead.wrapping_add(lane * runs.step) / SECTOR);
                }
            }
            let grouped = self.fast.sector_groups && mine.effect != Effect::Atomic && !mine.cached;
            if const { is_grouped(BYTES) } && runs.step < SECTOR && grouped {
                let first_of = |lane: usize| first + lane as u64 * runs.step;
                self.access_grouped::<BYTES>(cx, &mut at, u32::MAX, first_of, &mine, &mut conflicts);
                drop(at);
                if !conflicts.is_empty() {
                    report::<BYTES>(cx, op, &runs.spread(BYTES), kind, &mine, conflicts);
                }
                return;
            }
            // Whole sectors apart, the lanes' pieces differ by their threads alone.
            let level = runs.step.is_multiple_of(SECTOR);
            let lane_0 = lane_piece(&mine, first / SECTOR, first, BYTES, 0);
            for lane in 0..32 {
                let first = first + lane as u64 * runs.step;
                let Some(page) = at.page(first / SECTOR) else { return };
                let piece = if level {
                    Piece { stamp: with_thread(lane_0.stamp, thread_of(lane_0.stamp) + lane as u64), ..lane_0 }
                } else {
                    lane_piece(&mine, first / SECTOR, first, BYTES, lane)
                };
                self.piece(cx, &mut at, page, first / SECTOR, piece, &mine, &mut conflicts);
            }
        }
        drop(at);
        if !conflicts.is_empty() {
            report::<BYTES>(cx, op, &runs.spread(BYTES), kind, &mine, conflicts);
        }
    }

    #[inline(always)]
    fn at(&self, reach: &Reach) -> At<'_> {
        let locked = !self.pages.shared_by_workers();
        At { pages: &self.pages, table: reach.shadow as usize, page: None, locked }
    }

    /// Settles one piece. True: it brought nothing new.
    #[inline(always)]
    #[allow(
        clippy::too_many_arguments,
        reason = "inlined into the loops over pieces; a struct would be built for each"
    )]
    fn piece(
        &self,
        cx: &Cx<'_>,
        at: &mut At<'_>,
        page: Page<'_>,
        number: u64,
        piece: Piece,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) -> bool {
        let known = self.sum_up(cx, at, page, number, piece, mine, conflicts);
        if known == Some(false) {
            self.settle_piece(cx, page, number, &piece, mine, conflicts);
        }
        known.is_none()
    }

    /// Adds a piece to what is known of its sector. None: it brought nothing new. False: nothing was changed; settle it
    /// cell by cell, for which the page is locked.
    #[inline(always)]
    #[allow(
        clippy::too_many_arguments,
        reason = "inlined into the loops over pieces; a struct would be built for each"
    )]
    fn sum_up(
        &self,
        cx: &Cx<'_>,
        at: &mut At<'_>,
        page: Page<'_>,
        number: u64,
        piece: Piece,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) -> Option<bool> {
        let entry = page.entry(number);
        // What only confirms what is known needs no lock: a write at the same time, if there is one, meets what is known.
        let touched = entry.is_of(self.pages.generation);
        if touched && mine.effect == Effect::Read && is_known(entry, &piece, mine) {
            return None;
        }
        at.lock();
        // Another worker may have come first.
        if !touched && !entry.is_of(self.pages.generation) {
            let (read, write) = halves(&piece, mine);
            entry.start(self.pages.generation, read, write);
            return Some(true);
        }
        if mine.cached && touched {
            self.find_stale(page, entry, &piece, mine, conflicts);
        }
        Some(match mine.effect {
            Effect::Read => read(cx, entry, &piece, mine),
            Effect::Write => write(cx, entry, &piece, mine),
            Effect::Atomic => {
                atomic(cx, entry, &piece, mine) || self.update_cells(cx, page, entry, &piece, mine, conflicts)
            }
        })
    }

    /// Makes what further blocks have read a part of the reads. The page must be locked.
    #[inline(always)]
    fn fold(&self, page: Page<'_>, entry: &Entry) {
        if entry.others().mask != 0 {
            self.fold_now(page, entry);
        }
    }

    #[inline(never)]
    fn fold_now(&self, page: Page<'_>, entry: &Entry) {
        let (others, old) = (entry.others(), entry.read());
        let shift = Pages::shift_of(old, others.mask).min(Pages::shift_of(others, others.mask));
        let mut reads = self.pages.spread(page, old, shift);
        for (index, cell) in reads.cells.iter_mut().enumerate().take(32 >> shift) {
            let byte = (index << shift) as u32;
            if others.mask >> byte & 1 != 0 {
                *cell = others.cell(byte);
            }
        }
        entry.set_read(self.pages.gather(page, old, &reads, [2, ONE, 0]));
        entry.set_write(Half::NONE);
    }

    /// Settles a piece cell by cell. The page must be locked.
    #[inline(never)]
    fn settle(
        &self,
        cx: &Cx<'_>,
        page: Page<'_>,
        entry: &Entry,
        piece: &Piece,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        self.fold(page, entry);
        let (old_write, old_read) = (entry.write(), entry.read());
        // Threads of less than a word need cells of a byte.
        let mask = if size_of_unit(piece.unit) < 2 { 1 } else { piece.mask };
        let shift = Pages::shift_of(old_write, mask).min(Pages::shift_of(old_read, mask));
        let mut writes = self.pages.spread(page, old_write, shift);
        let mut reads = self.pages.spread(page, old_read, shift);
        let new = piece.half(0);
        let first_thread = thread_of(mine.stamp);
        for index in 0..32usize >> shift {
            let byte = (index << shift) as u32;
            if piece.mask >> byte & 1 == 0 {
                continue;
            }
            // `Half::cell` moves the other thread along only for many readers, whose unit is one thread for all.
            let stamp = new.cell(byte) & !KIND;
            let clash = step(cx, &mut writes.cells[index], &mut reads.cells[index], stamp, piece.many, mine);
            if let Some(old) = clash {
                let mut who = thread_of(stamp);
                if piece.many && who == thread_of(old) && old >> BLOCK == mine.block {
                    who = other_of(stamp);
                }
                let lane = (who.wrapping_sub(first_thread) & 31) as usize;
                if conflicts.last().is_none_or(|last| last.stale || last.lane != lane) {
                    conflicts.push(Conflict { lane, cell: old, stale: false });
                }
            }
        }
        let units = |old: Half| [piece.unit, mine.grain, if old.is_cells() { ONE } else { old.unit }];
        entry.set_write(self.pages.gather(page, old_write, &writes, units(old_write)));
        entry.set_read(self.pages.gather(page, old_read, &reads, units(old_read)));
    }
}

/// Sectors ahead of a row that are asked for: 512 bytes of memory, which the next warps will access.
const AHEAD: u64 = 16;

/// The page that an access is at, locked from its first change there on.
pub(crate) struct At<'p> {
    pages: &'p Pages,
    table: usize,
    page: Option<(u64, Page<'p>)>,
    /// Locked, or nobody else is there.
    locked: bool,
}

impl<'p> At<'p> {
    /// The page of a sector; None beyond the allocation or the limit of memory.
    #[inline(always)]
    fn page(&mut self, number: u64) -> Option<Page<'p>> {
        let index = number * SECTOR / PAGE;
        match self.page {
            Some((known, page)) if known == index => Some(page),
            _ => {
                self.leave();
                let page = self.pages.page(self.table, index as usize)?;
                self.page = Some((index, page));
                Some(page)
            }
        }
    }

    #[inline(always)]
    fn lock(&mut self) {
        if !self.locked
            && let Some((_, page)) = self.page
        {
            page.lock();
            self.locked = true;
        }
    }

    #[inline(always)]
    fn leave(&mut self) {
        if let Some((_, page)) = self.page.take()
            && self.locked
            && self.pages.shared_by_workers()
        {
            page.unlock();
            self.locked = false;
        }
    }
}

impl Drop for At<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.leave();
    }
}

/// Bytes of sector `number` that lie in `first..end`, which meets it.
#[inline(always)]
fn bytes_of(number: u64, first: u64, end: u64) -> u32 {
    let start = number * SECTOR;
    let low = first.saturating_sub(start).min(31) as u32;
    let high = (end - start).min(SECTOR) as u32;
    (u32::MAX >> (32 - high)) & (u32::MAX << low)
}

/// Reports what lanes conflict with, unless the stores agree.
#[cold]
#[inline(never)]
fn report<const BYTES: u64>(
    cx: &mut Cx<'_>,
    op: &Op,
    at: &Addresses,
    kind: AccessKind,
    mine: &Mine,
    conflicts: Conflicts,
) {
    cx.pass_slowly(at.mask.count_ones());
    let turn = if const { is_grouped(BYTES) } && at.mask == u32::MAX { rows_of(&|lane: usize| at.at[lane]) } else { 0 };
    for lane in lanes(at.mask) {
        let own = conflicts.iter().filter(|conflict| conflict.lane == lane);
        let Some(Conflict { cell: old, stale, .. }) = own.min_by_key(|conflict| conflict.stale) else { continue };
        let site = (old >> SITE) as u32 & SITES;
        let was = old & KIND;
        let same_block = old >> BLOCK == mine.block;
        let thread = thread_of(*old) as u32;
        let other = match was {
            WRITTEN => AccessKind::Write,
            ATOMIC | ATOMIC_BLOCK if !is_store(cx, *old) => AccessKind::Atomic,
            ATOMIC | ATOMIC_BLOCK => AccessKind::Write,
            _ => AccessKind::Read,
        };
        let me = cx.warp.index * 32 + lane as u32;
        if kind == AccessKind::Write
            && other == AccessKind::Atomic
            && !same_block
            && cx.block.numbers.contains(&(at.at[lane] & !3, me))
        {
            // The counter is set back by who took the last number.
            continue;
        }
        if kind == AccessKind::Write
            && other == AccessKind::Write
            && site == kept(op.site)
            && !cx.grid.options.written_once
            && if same_block {
                cx.same_value(op, at, (lane, turn), thread, BYTES)
            } else {
                cx.grid.races.patience.holds_soon(|| cx.same_value(op, at, (lane, turn), u32::MAX, BYTES))
            }
        {
            continue;
        }
        let id = if same_block {
            (was != READ_BLOCKS).then(|| cx.thread_of(thread))
        } else {
            // Blocks are kept modulo 65536: a launch with more names the first that fits.
            let index = (old >> BLOCK) % BLOCKS;
            (index < cx.grid.blocks).then(|| cx.grid.thread(cx.grid.block_id(index), thread))
        };
        if *stale {
            cx.report_stale(at.at[lane], BYTES, lane, (site, id, other));
            continue;
        }
        cx.global_race(op, at.at[lane], BYTES, lane, kind, (site, id, other));
    }
}
