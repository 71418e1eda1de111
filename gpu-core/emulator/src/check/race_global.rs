//! Races on global memory. An access is cut into pieces, one per 32-byte sector and run of lanes; a piece that agrees
//! with the sector's two summaries changes them at once, any other is settled exactly, cell by cell.
//!
//! Both the last write of a place and the reads since are known, so a write is compared with the reads that came after
//! the last write as well. A write that is in order forgets the reads that it is ordered behind.

use super::race_pages::*;
use crate::exec::access::{Addresses, Reach, Runs, STRONG, prefetch};
use crate::exec::cx::{Cx, lanes};
use crate::exec::image::Image;
use crate::exec::op::Op;
use crate::report::AccessKind;

/// Shadows of all allocations of a launch.
pub struct GlobalRaces {
    pages: Pages,
    /// [`Image::line_sites`].
    line_sites: Vec<u32>,
}

/// What one access brings to every piece.
#[derive(Clone, Copy)]
struct Mine {
    block: u64,
    /// Of lane 0, without a kind.
    stamp: u64,
    /// Highest clock of the own block that is ordered before.
    floor: u32,
    effect: Effect,
    /// log2 of the bytes of a lane.
    grain: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Read,
    Write,
    Atomic,
}

/// The part of an access that lies in one sector: bytes of one lane, of neighbouring lanes, or of many lanes that read
/// the same bytes.
#[derive(Clone, Copy)]
struct Piece {
    mask: u32,
    unit: u8,
    /// Thread of byte 0 by `unit`, and the other one of `many`.
    stamp: u64,
    /// Only one lane, so any unit says the same.
    single: bool,
    many: bool,
}

impl Piece {
    #[inline(always)]
    fn half(&self, kind: u64) -> Half {
        let kind = if self.many { READ_MANY } else { kind };
        Half { stamp: self.stamp | kind, mask: self.mask, unit: self.unit }
    }

    /// The same with the unit of `like`, where that is possible: then equal stamps mean equal threads.
    #[inline(always)]
    fn like(mut self, like: Half) -> Option<Piece> {
        if self.unit == like.unit {
            return Some(self);
        }
        // One lane's bytes are of one thread, which `like` says of one unit only.
        let (byte, last) = (self.mask.trailing_zeros(), 31 - self.mask.leading_zeros());
        if !self.single || byte >> like.unit != last >> like.unit {
            return None;
        }
        let thread = thread_of(self.stamp) + u64::from(byte >> self.unit);
        self.stamp = with_thread(self.stamp, thread.wrapping_sub(u64::from(byte >> like.unit)));
        self.unit = like.unit;
        Some(self)
    }

    /// Whether each byte of `half` that the piece touches was last touched by the same thread.
    #[inline(always)]
    fn same(self, half: Half) -> bool {
        let differs =
            |piece: Piece| (piece.stamp ^ half.stamp) >> BLOCK != 0 || thread_of(piece.stamp ^ half.stamp) != 0;
        !self.many && half.kind() != READ_MANY && self.like(half).is_some_and(|piece| !differs(piece))
    }
}

/// Cells that lanes conflict with: found under the lock, reported after it.
type Conflicts = Vec<(usize, u64)>;

impl Mine {
    /// Whether all that a half is about is ordered before this access.
    #[inline(always)]
    fn ordered(&self, cx: &Cx<'_>, half: Half) -> bool {
        let own = half.stamp >> BLOCK == self.block;
        own && clock_of(half.stamp) <= self.floor || self.ordered_by_warps(cx, half)
    }

    #[inline(never)]
    fn ordered_by_warps(&self, cx: &Cx<'_>, half: Half) -> bool {
        // At most 32 neighbouring threads: no more than two warps.
        let (first, last) = half.warps();
        let clock = clock_of(half.stamp);
        self.before(cx, half.stamp, first, clock)
            && (first == last || self.before(cx, half.stamp, last, clock))
            && (half.kind() != READ_MANY || {
                let shift = |byte: u32| u64::from(byte >> half.unit);
                let other = |byte: u32| ((other_of(half.stamp) + shift(byte)) & THREADS) as usize / 32;
                let first = other(half.mask.trailing_zeros() & 31);
                let last = other(31 - (half.mask.leading_zeros() & 31));
                self.before(cx, half.stamp, first, clock) && self.before(cx, half.stamp, last, clock)
            })
    }

    /// Whether what a warp of the cell's block did at `clock` is ordered before this access.
    fn before(&self, cx: &Cx<'_>, cell: u64, warp: usize, clock: u32) -> bool {
        if cell >> BLOCK == self.block {
            let seen = cx.warp.seen[warp].saturating_sub(cx.block.base_time);
            return clock <= self.floor || seen >= clock;
        }
        cx.grid.syncs.ordered(cell >> BLOCK, BLOCKS, warp, clock, cx.block.index)
    }
}

impl GlobalRaces {
    /// Shadows for allocations of these sizes; at most `limit` bytes of pages are made.
    pub fn new(image: &Image, sizes: &[u64], limit: u64, workers: usize, pool: Pool) -> GlobalRaces {
        GlobalRaces { pages: Pages::new(sizes, limit, workers, pool), line_sites: image.line_sites().to_vec() }
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
            self.pages.lock(page);
            if !entry.is_of(self.pages.generation) {
                self.pages.unlock(page);
                continue;
            }
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
            self.pages.unlock(page);
        }
    }

    /// None: the access takes no part in races.
    #[inline(always)]
    fn mine<const LANE_BYTES: u64>(&self, cx: &Cx<'_>, op: &Op, kind: AccessKind) -> Option<Mine> {
        let strong = op.e.0 & STRONG != 0;
        let effect = match kind {
            AccessKind::Read if strong => return None,
            AccessKind::Read => Effect::Read,
            AccessKind::Atomic => Effect::Atomic,
            _ if strong => Effect::Atomic,
            _ => Effect::Write,
        };
        let block = cx.block.index % BLOCKS;
        let clock = (cx.warp.clock - cx.block.base_time).min(CLOCKS);
        let mut site = op.site;
        if effect == Effect::Read {
            // The copies of a read that unrolling made count as one, so that neighbouring words can be told as one.
            site = self.line_sites.get(site as usize).copied().unwrap_or(site);
        }
        let site = if site <= SITES { site } else { 0 };
        let floor = cx.warp.floor.saturating_sub(cx.block.base_time).min(CLOCKS);
        let thread = u64::from(cx.warp.index * 32);
        Some(Mine {
            block,
            stamp: block << BLOCK | u64::from(clock) << CLOCK | u64::from(site) << SITE | thread << THREAD,
            // A saturated clock may be any time: never reported inside the block.
            floor: if clock == CLOCKS { CLOCKS } else { floor },
            effect,
            grain: (LANE_BYTES.ilog2() as u8).min(ONE),
        })
    }

    /// Checks an access in runs.
    #[inline(always)]
    pub fn access_runs<const BYTES: u64>(
        &self,
        cx: &mut Cx<'_>,
        op: &Op,
        reach: &Reach,
        runs: &Runs,
        kind: AccessKind,
    ) {
        let Some(mine) = self.mine::<BYTES>(cx, op, kind) else { return };
        let mut conflicts = Conflicts::new();
        let table = reach.shadow as usize;
        let lanes = runs.lanes();
        let own = thread_of(mine.stamp);
        if runs.step == BYTES {
            for (group, start) in runs.starts().iter().enumerate() {
                let first = start - reach.base;
                let end = first + lanes as u64 * BYTES;
                let thread = own + (group * lanes) as u64;
                let mut number = first / SECTOR;
                let mut page: Option<(u64, &Page)> = None;
                while number * SECTOR < end {
                    let index = number * SECTOR / PAGE;
                    let here = match page {
                        Some((known, page)) if known == index => page,
                        _ => match self.pages.page(table, index as usize) {
                            Some(found) => found,
                            None => return,
                        },
                    };
                    page = Some((index, here));
                    // Threads count from the first byte of the sector, also where the run begins behind it.
                    let passed = (number * SECTOR).wrapping_sub(first) as i64 >> mine.grain;
                    let piece = Piece {
                        mask: bytes_of(number, first, end),
                        unit: mine.grain,
                        stamp: with_thread(mine.stamp, thread.wrapping_add(passed as u64)),
                        single: BYTES == SECTOR,
                        many: false,
                    };
                    self.piece(cx, here, number, piece, &mine, &mut conflicts);
                    number += 1;
                }
            }
        } else if runs.step == 0 && mine.effect == Effect::Read {
            for (group, start) in runs.starts().iter().enumerate() {
                let first = start - reach.base;
                let Some(page) = self.pages.page(table, (first / PAGE) as usize) else { return };
                let thread = own + (group * lanes) as u64;
                let piece = Piece {
                    mask: bytes_of(first / SECTOR, first, first + BYTES),
                    unit: ONE,
                    stamp: with_thread(mine.stamp, thread) | (thread + lanes as u64 - 1) << OTHER,
                    single: false,
                    many: true,
                };
                self.piece(cx, page, first / SECTOR, piece, &mine, &mut conflicts);
            }
        } else {
            // Far apart, each lane waits for memory: ask for all of it first.
            let mut pages = [None; 32];
            for (lane, page) in pages.iter_mut().enumerate() {
                let first = runs.at(lane) - reach.base;
                let Some(found) = self.pages.page(table, (first / PAGE) as usize) else { return };
                prefetch(std::ptr::from_ref(found.entry(first / SECTOR)).cast());
                *page = Some(found);
            }
            for (lane, page) in pages.iter().enumerate() {
                let first = runs.at(lane) - reach.base;
                let Some(page) = page else { return };
                let piece = lane_piece(&mine, first / SECTOR, first, BYTES, lane);
                self.piece(cx, page, first / SECTOR, piece, &mine, &mut conflicts);
            }
        }
        if !conflicts.is_empty() {
            report::<BYTES>(cx, op, &runs.spread(BYTES), kind, &mine, conflicts);
        }
    }

    /// Checks an access lane by lane.
    #[inline(never)]
    pub fn access<const BYTES: u64>(&self, cx: &mut Cx<'_>, op: &Op, reach: &Reach, at: &Addresses, kind: AccessKind) {
        let Some(mine) = self.mine::<BYTES>(cx, op, kind) else { return };
        let mut conflicts = Conflicts::new();
        let mut left = at.mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let first = at.at[lane] - reach.base;
            // Lanes that read the same place one after the other: the first and the last stand for all.
            let mut last = lane;
            while mine.effect == Effect::Read && left != 0 && at.at[left.trailing_zeros() as usize & 31] == at.at[lane]
            {
                last = left.trailing_zeros() as usize;
                left &= left - 1;
            }
            for number in first / SECTOR..=(first + BYTES - 1) / SECTOR {
                let Some(page) = self.pages.page(reach.shadow as usize, (number * SECTOR / PAGE) as usize) else {
                    break;
                };
                let mut piece = lane_piece(&mine, number, first, BYTES, lane);
                if last != lane {
                    let thread = thread_of(mine.stamp);
                    let stamp = with_thread(mine.stamp, thread + lane as u64) | (thread + last as u64) << OTHER;
                    piece = Piece { stamp, unit: ONE, single: false, many: true, ..piece };
                }
                self.piece(cx, page, number, piece, &mine, &mut conflicts);
            }
        }
        if !conflicts.is_empty() {
            report::<BYTES>(cx, op, at, kind, &mine, conflicts);
        }
    }

    /// Settles one piece.
    #[inline(always)]
    fn piece(&self, cx: &Cx<'_>, page: &Page, number: u64, piece: Piece, mine: &Mine, conflicts: &mut Conflicts) {
        let entry = page.entry(number);
        // What only confirms what is known needs no lock: a write at the same time, if there is one, meets what is known.
        let touched = entry.is_of(self.pages.generation);
        if touched && mine.effect == Effect::Read && is_known(entry, &piece, mine) {
            return;
        }
        self.pages.lock(page);
        // Another worker may have come first.
        if !touched && !entry.is_of(self.pages.generation) {
            let (read, write) = match mine.effect {
                Effect::Read => (piece.half(READ), Half::NONE),
                Effect::Write => (Half::NONE, piece.half(WRITTEN)),
                Effect::Atomic => (Half::NONE, piece.half(ATOMIC)),
            };
            entry.start(self.pages.generation, read, write);
        } else {
            let done = match mine.effect {
                Effect::Read => read(cx, entry, &piece, mine),
                Effect::Write => write(cx, entry, &piece, mine),
                Effect::Atomic => atomic(cx, entry, &piece, mine),
            };
            if !done {
                self.settle(cx, page, entry, &piece, mine, conflicts);
            }
        }
        self.pages.unlock(page);
    }

    /// Settles a piece cell by cell. The page must be locked.
    #[inline(never)]
    fn settle(&self, cx: &Cx<'_>, page: &Page, entry: &Entry, piece: &Piece, mine: &Mine, conflicts: &mut Conflicts) {
        let (old_write, old_read) = (entry.write(), entry.read());
        // Threads of less than a word need cells of a byte.
        let mask = if piece.unit < 2 { 1 } else { piece.mask };
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
                if conflicts.last().is_none_or(|last| last.0 != lane) {
                    conflicts.push((lane, old));
                }
            }
        }
        let units = |old: Half| [piece.unit, mine.grain, if old.is_cells() { ONE } else { old.unit }];
        entry.set_write(self.pages.gather(page, old_write, &writes, units(old_write)));
        entry.set_read(self.pages.gather(page, old_read, &reads, units(old_read)));
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

/// What one lane touches of a sector.
#[inline(always)]
fn lane_piece(mine: &Mine, number: u64, first: u64, bytes: u64, lane: usize) -> Piece {
    let mask = bytes_of(number, first, first + bytes);
    let thread = thread_of(mine.stamp) + lane as u64;
    // Sizes that are no power of two have no unit of their own.
    let unit = if bytes.is_power_of_two() { mine.grain } else { ONE };
    let passed = u64::from(mask.trailing_zeros() >> unit);
    let stamp = with_thread(mine.stamp, thread.wrapping_sub(passed));
    Piece { mask, unit, stamp, single: true, many: false }
}

/// A read that brings nothing new: others are known to read the same bytes, and nobody wrote them.
#[inline(always)]
fn is_known(entry: &Entry, piece: &Piece, mine: &Mine) -> bool {
    let (write, read) = (entry.write(), entry.read());
    let own_many = read.kind() == READ_MANY && read.stamp >> BLOCK == mine.block && clock_of(read.stamp) > mine.floor;
    write.mask & piece.mask == 0
        && piece.mask & !read.mask == 0
        && !read.is_cells()
        && (read.kind() == READ_BLOCKS || own_many)
}

/// A plain read. False: settle it cell by cell; nothing was changed.
#[inline(always)]
fn read(cx: &Cx<'_>, entry: &Entry, piece: &Piece, mine: &Mine) -> bool {
    let write = entry.write();
    if write.mask & piece.mask != 0 {
        if write.is_cells() {
            return false;
        }
        if write.kind() == WRITTEN && !piece.same(write) && !mine.ordered(cx, write) {
            return false;
        }
    }
    let old = entry.read();
    let new = piece.half(READ);
    if old.mask == 0 {
        entry.set_read(new);
        return true;
    }
    if old.is_cells() {
        return false;
    }
    let covered = piece.mask & !old.mask == 0;
    let covers = old.mask & !piece.mask == 0;
    if old.stamp >> BLOCK != mine.block && old.kind() != READ_BLOCKS {
        // What another block read alone, both have read now.
        if covered && covers {
            entry.set_read(Half { stamp: new.stamp & !(KIND | THREADS << OTHER) | READ_BLOCKS, ..new });
        }
        return covered && covers;
    }
    if old.kind() == READ_BLOCKS {
        return covered;
    }
    if clock_of(old.stamp) <= mine.floor && covers {
        entry.set_read(new);
        return true;
    }
    if old.kind() == READ_MANY {
        return covered && clock_of(old.stamp) > mine.floor || extend(entry, piece, old, READ);
    }
    if piece.same(old) {
        if covered && clock_of(old.stamp) == clock_of(new.stamp) {
            return true;
        }
        if covers {
            entry.set_read(new);
            return true;
        }
        return extend(entry, piece, old, READ);
    }
    if clock_of(old.stamp) <= mine.floor || !covered || !covers {
        return extend(entry, piece, old, READ);
    }
    // Two threads of the block, unordered. The earlier clock: both are ordered before what comes behind it.
    if piece.many {
        entry.set_read(Half { stamp: earlier(new.stamp, old.stamp), ..new });
        return true;
    }
    let Some(like) = piece.like(old) else { return false };
    let both = earlier(old.stamp, new.stamp) & !(KIND | THREADS << OTHER) | READ_MANY | thread_of(like.stamp) << OTHER;
    entry.set_read(Half { stamp: both, ..old });
    true
}

/// `stamp` with the earlier of both clocks.
#[inline(always)]
fn earlier(stamp: u64, other: u64) -> u64 {
    let clock = u64::from(clock_of(stamp).min(clock_of(other)));
    stamp & !(u64::from(CLOCKS) << CLOCK) | clock << CLOCK
}

/// Adds bytes to a half that says the same of others.
#[inline(always)]
fn extend(entry: &Entry, piece: &Piece, old: Half, kind: u64) -> bool {
    let put = |half: Half| match kind {
        READ => entry.set_read(half),
        _ => entry.set_write(half),
    };
    if let Some(like) = piece.like(old)
        && like.half(kind).stamp == old.stamp
    {
        put(Half { mask: old.mask | piece.mask, ..old });
        return true;
    }
    // One thread's elements one after the other: as of one thread, they may be of one kind.
    let lone = old.mask & !(unit_mask(old) << (old.mask.trailing_zeros() & 31)) == 0;
    if !piece.single || !lone || old.kind() != kind || old.unit == ONE {
        return false;
    }
    let one = Half { unit: ONE, ..old };
    let byte = old.mask.trailing_zeros();
    let stamp = with_thread(old.stamp, thread_of(old.stamp) + u64::from(byte >> old.unit));
    match piece.like(one) {
        Some(like) if like.half(kind).stamp == stamp => {
            put(Half { stamp, mask: old.mask | piece.mask, unit: ONE });
            true
        }
        _ => false,
    }
}

/// As many low bits as a thread has bytes.
#[inline(always)]
fn unit_mask(half: Half) -> u32 {
    ((1u64 << (1u32 << half.unit)) - 1) as u32
}

/// A plain write. False: settle it cell by cell; nothing was changed.
#[inline(always)]
fn write(cx: &Cx<'_>, entry: &Entry, piece: &Piece, mine: &Mine) -> bool {
    let (old, reads) = (entry.write(), entry.read());
    if reads.mask & piece.mask != 0 {
        let clear = !reads.is_cells()
            && reads.kind() != READ_BLOCKS
            && (reads.kind() == READ && piece.same(reads) || mine.ordered(cx, reads));
        if !clear {
            return false;
        }
    }
    if old.mask & piece.mask != 0 && (old.is_cells() || !(piece.same(old) || mine.ordered(cx, old))) {
        return false;
    }
    if old.mask & !piece.mask == 0 {
        entry.set_write(piece.half(WRITTEN));
    } else if old.is_cells() || !extend(entry, piece, old, WRITTEN) {
        return false;
    }
    if reads.mask & piece.mask != 0 {
        entry.set_read(Half { mask: reads.mask & !piece.mask, ..reads });
    }
    true
}

/// An atomic or strong write. It races with plain writes only: plain reads of what others update atomically are the
/// usual optimistic read. False: settle it cell by cell; nothing was changed.
#[inline(always)]
fn atomic(cx: &Cx<'_>, entry: &Entry, piece: &Piece, mine: &Mine) -> bool {
    let old = entry.write();
    if old.mask & !piece.mask != 0 || old.is_cells() {
        return false;
    }
    if old.mask != 0 && old.kind() == WRITTEN && !piece.same(old) && !mine.ordered(cx, old) {
        return false;
    }
    entry.set_write(piece.half(ATOMIC));
    true
}

/// What becomes of a place, and the cell that the access conflicts with: its thread is who is to blame.
fn step(cx: &Cx<'_>, write: &mut u64, read: &mut u64, stamp: u64, many: bool, mine: &Mine) -> Option<u64> {
    let me = thread_of(stamp);
    let by_me = |cell: u64, thread: u64| cell >> BLOCK == mine.block && thread == me;
    let before = |cell: u64, thread: u64| mine.before(cx, cell, thread as usize / 32, clock_of(cell));
    let clear = |cell: u64| by_me(cell, thread_of(cell)) || before(cell, thread_of(cell));
    match mine.effect {
        Effect::Atomic => {
            let clash = (*write & KIND == WRITTEN && !clear(*write)).then_some(*write);
            *write = stamp | ATOMIC;
            clash
        }
        Effect::Read => {
            // Of many readers only one can be the writer.
            let ordered = if many { before(*write, thread_of(*write)) } else { clear(*write) };
            let clash = (*write & KIND == WRITTEN && !ordered).then_some(*write);
            let new = stamp | if many { READ_MANY } else { READ };
            let old = *read;
            *read = match old & KIND {
                READ_BLOCKS => old,
                READ | READ_MANY if old >> BLOCK == mine.block => {
                    let late = clock_of(old) > mine.floor && !before(old, thread_of(old));
                    let late = late || old & KIND == READ_MANY && !before(old, other_of(old));
                    if !late || old & KIND == READ && by_me(old, thread_of(old)) {
                        new
                    } else if old & KIND == READ_MANY {
                        old
                    } else if many {
                        earlier(new, old)
                    } else {
                        earlier(old, new) & !(KIND | THREADS << OTHER) | me << OTHER | READ_MANY
                    }
                }
                READ | READ_MANY => stamp & !(THREADS << OTHER) | READ_BLOCKS,
                _ => new,
            };
            clash
        }
        Effect::Write => {
            let mut clash = (*write != 0 && !clear(*write)).then_some(*write);
            let old = *read;
            if clash.is_none() {
                clash = match old & KIND {
                    READ => (!clear(old)).then_some(old),
                    READ_MANY if !clear(old) => Some(old),
                    READ_MANY => {
                        let other = other_of(old);
                        let clear = by_me(old, other) || before(old, other);
                        (!clear).then_some(with_thread(old, other))
                    }
                    READ_BLOCKS if old >> BLOCK == mine.block => {
                        (!cx.grid.syncs.used_by(cx.block.index)).then_some(old)
                    }
                    READ_BLOCKS => (!before(old, thread_of(old))).then_some(old),
                    _ => None,
                };
            }
            *write = stamp | WRITTEN;
            *read = 0;
            clash
        }
    }
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
    for lane in lanes(at.mask) {
        let Some((_, old)) = conflicts.iter().find(|conflict| conflict.0 == lane) else { continue };
        let site = (old >> SITE) as u32 & SITES;
        let was = old & KIND;
        let same_block = old >> BLOCK == mine.block;
        let thread = thread_of(*old) as u32;
        let other = match was {
            WRITTEN => AccessKind::Write,
            ATOMIC => AccessKind::Atomic,
            _ => AccessKind::Read,
        };
        if kind == AccessKind::Write
            && other == AccessKind::Write
            && site == op.site
            && cx.stores_same(op, at, lane, if same_block { thread } else { u32::MAX }, BYTES)
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
        cx.global_race(op, at.at[lane], BYTES, lane, kind, (site, id, other));
    }
}
