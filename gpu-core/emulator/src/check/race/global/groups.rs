//! Lanes that share sectors in other ways than side by side: the words of structures, every second or third element, places
//! anywhere. What such lanes touch of one sector is one piece where a unit says whose each byte is, and goes into the
//! sector's cells where none does.

use super::super::same::in_turn;
use super::updates::{knows_atomic, lane_piece};
use super::{At, Conflict, Conflicts, GlobalRaces, report};
use crate::check::race::pages::*;
use crate::check::race::rules::{Effect, Mine, Piece, step};
use crate::exec::cx::{Cx, lanes};
use crate::exec::memory::access::{Addresses, Reach, Runs, STRONG};
use crate::exec::op::Op;
use crate::report::AccessKind;

/// Lanes of one access that touch one sector, each at bytes of its own.
pub(crate) struct Group {
    number: u64,
    /// Bytes of each lane.
    bytes: u32,
    /// Those of all of them.
    mask: u32,
    /// Lane and first byte of each.
    lanes: [(u8, u8); 32],
    count: usize,
}

impl Group {
    /// For lanes of `bytes`.
    #[inline(always)]
    pub(crate) fn new(bytes: u64) -> Group {
        Group { number: 0, bytes: bytes as u32, mask: 0, lanes: [(0, 0); 32], count: 0 }
    }

    #[inline(always)]
    fn begin_anew(&mut self) {
        (self.mask, self.count) = (0, 0);
    }

    /// The lane that a piece of one lane is of.
    #[inline(always)]
    pub(crate) fn of(piece: &Piece, mine: &Mine) -> Group {
        let byte = piece.mask.trailing_zeros() & 31;
        let thread = thread_of(piece.stamp) + threads_on(piece.unit, byte);
        let mut group = Group::new(piece.mask.count_ones().into());
        group.add((thread.wrapping_sub(thread_of(mine.stamp)) & 31) as usize, byte.into());
        group
    }

    /// Whether a lane at `first` cannot join: it is in another sector, or at bytes of another lane.
    #[inline(always)]
    fn is_foreign(&self, first: u64) -> bool {
        first / SECTOR != self.number || self.mask & self.bytes_at(first) != 0
    }

    /// Bytes of the sector that a lane at `first` has.
    #[inline(always)]
    fn bytes_at(&self, first: u64) -> u32 {
        (((1u64 << self.bytes) - 1) << (first % SECTOR)) as u32
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, lane: usize, first: u64) {
        self.number = first / SECTOR;
        self.lanes[self.count & 31] = (lane as u8, (first % SECTOR) as u8);
        self.count += 1;
        self.mask |= self.bytes_at(first);
    }

    /// The unit by which the threads go up with their bytes; None: there is no such one. Asked for where all lanes are there:
    /// places that lie anywhere have none after the third lane.
    #[inline(always)]
    fn unit(&self) -> Option<u8> {
        let (lane_0, byte_0) = self.lanes[0];
        let from_first = |at: usize| {
            let (lane, byte) = self.lanes[at & 31];
            (i32::from(lane) - i32::from(lane_0), i32::from(byte) - i32::from(byte_0))
        };
        // Bytes from one thread to the next, if they are a power of two: without a division, which takes longer than all the
        // rest.
        let (apart, on) = from_first(1);
        let (bytes, threads) = (on.unsigned_abs(), apart.unsigned_abs());
        let size = bytes.trailing_zeros().wrapping_sub(threads.trailing_zeros());
        let fits = size < 5 && threads << size == bytes && 1 << size >= self.bytes.min(SECTOR as u32 / 2);
        let mut unit = fits.then(|| if (on < 0) != (apart < 0) { falling(size as u8) } else { size as u8 });
        // One below the other in a column.
        if bytes < threads && on == self.bytes as i32 && (apart as u32).is_power_of_two() {
            unit = Some(risen(self.bytes.trailing_zeros() as u8, apart.ilog2()));
        }
        let unit = unit?;
        let first = threads_on(unit, byte_0.into());
        let same = |at: usize| {
            let on = threads_on(unit, self.lanes[at & 31].1.into()).wrapping_sub(first) & THREADS;
            on == from_first(at).0 as u64
        };
        (1..self.count).all(same).then_some(unit)
    }

    /// Writes words that nobody else has touched but before this access. False: nothing was changed.
    #[inline(always)]
    fn puts_words(&self, words: &mut [u64; 8], mine: &Mine) -> bool {
        let stamp = |lane: u8| with_thread(mine.stamp, thread_of(mine.stamp) + u64::from(lane));
        let mut clear = true;
        for &(lane, byte) in &self.lanes[..self.count] {
            clear &= is_own(words[usize::from(byte / 4) & 7], stamp(lane), mine);
        }
        for &(lane, byte) in &self.lanes[..if clear { self.count } else { 0 }] {
            words[usize::from(byte / 4) & 7] = stamp(lane) | WRITTEN;
        }
        clear
    }

    /// All of it as one piece.
    #[inline(always)]
    fn piece(&self, mine: &Mine) -> Option<Piece> {
        let unit = if self.count == 1 { mine.grain } else { self.unit()? };
        let (lane, byte) = self.lanes[0];
        let thread = thread_of(mine.stamp) + u64::from(lane);
        let stamp = with_thread(mine.stamp, thread.wrapping_sub(threads_on(unit, byte.into())));
        Some(Piece { mask: self.mask, unit, stamp, single: self.count == 1, many: false })
    }
}

/// Whether lanes of so many bytes are checked by the sectors that they share.
pub(crate) const fn is_grouped(bytes: u64) -> bool {
    bytes.is_power_of_two() && bytes <= SECTOR / 2
}

/// Two to the power of this many lanes stand in a row of the block, where the lanes below each other share a sector and those
/// side by side do not: columns of a matrix. 0: it is not so. Lanes that share a sector are best met one after the other.
#[inline(always)]
pub(crate) fn rows_of(first_of: &impl Fn(usize) -> u64) -> usize {
    let sector = |lane: usize| first_of(lane) / SECTOR;
    if sector(0) == sector(1) {
        return 0;
    }
    (1..5).find(|turn| sector(1 << turn) == sector(0)).unwrap_or(0)
}

/// Lanes over more than this many bytes meet pages that nobody met of late: their entries are asked for ahead. Columns of a
/// matrix lie closer, and its pages are at hand.
const SCATTERED: u64 = 64 * PAGE;

impl GlobalRaces {
    /// Checks an access lane by lane.
    #[inline(never)]
    pub fn access<const BYTES: u64>(&self, cx: &mut Cx<'_>, op: &Op, reach: &Reach, at: &Addresses, kind: AccessKind) {
        let Some(mine) = self.mine::<BYTES>(cx, op, reach, kind, op.e.0 & STRONG != 0) else { return };
        let mut conflicts = Conflicts::new();
        if self.follows_updates(&mine) {
            self.follow_updates::<BYTES>(cx, reach, at, &mine, &mut conflicts);
        }
        let mut place = self.at(reach);
        let mut left = at.mask;
        let same = |lanes: u32| {
            let next = lanes & lanes - 1;
            next != 0 && at.at[next.trailing_zeros() as usize & 31] == at.at[lanes.trailing_zeros() as usize & 31]
        };
        if const { is_grouped(BYTES) }
            && self.fast.sector_groups
            && kind != AccessKind::Atomic
            && !mine.cached
            && (kind == AccessKind::Write || !same(left))
        {
            if at.high - at.low > SCATTERED {
                let number = |lane: usize| (at.at[lane] - reach.base) / SECTOR;
                lanes(left).for_each(|lane| place.pages.prefetch(place.table, number(lane)));
                if place.locked {
                    // SAFETY: this is the only worker.
                    lanes(left).for_each(|lane| unsafe { place.pages.prefetch_words(place.table, number(lane)) });
                }
            }
            let first_of = |lane: usize| at.at[lane & 31] - reach.base;
            self.access_grouped::<BYTES>(cx, &mut place, left, first_of, &mine, &mut conflicts);
            left = 0;
        }
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
                let Some(page) = place.page(number) else { break };
                let mut piece = lane_piece(&mine, number, first, BYTES, lane);
                if last != lane {
                    let thread = thread_of(mine.stamp);
                    let stamp = with_thread(mine.stamp, thread + lane as u64) | (thread + last as u64) << OTHER;
                    piece = Piece { stamp, unit: ONE, single: false, many: true, ..piece };
                }
                self.piece(cx, &mut place, page, number, piece, &mine, &mut conflicts);
            }
            if mine.effect == Effect::Atomic && knows_atomic(&place, first, BYTES, &mine) {
                // More lanes at the same place: the last one stays known, and those between bring nothing new.
                let mut same = 0;
                while left != 0 && at.at[left.trailing_zeros() as usize & 31] == at.at[lane] {
                    same = left & left.wrapping_neg();
                    left &= left - 1;
                }
                left |= same;
            }
        }
        drop(place);
        if !conflicts.is_empty() {
            report::<BYTES>(cx, op, at, kind, &mine, conflicts);
        }
    }

    /// Checks an access of several groups of lanes, or of the first lanes alone, which are not side by side.
    #[inline(never)]
    pub(crate) fn access_groups<const BYTES: u64>(
        &self,
        cx: &Cx<'_>,
        at: &mut At<'_>,
        reach: &Reach,
        runs: &Runs,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        let mask = if runs.is_full() { u32::MAX } else { (1 << runs.width) - 1 };
        let first_of = |lane: usize| runs.at(lane) - reach.base;
        if const { is_grouped(BYTES) } && self.fast.sector_groups && mine.effect != Effect::Atomic && !mine.cached {
            return self.access_grouped::<BYTES>(cx, at, mask, first_of, mine, conflicts);
        }
        for lane in lanes(mask) {
            let first = first_of(lane);
            let Some(page) = at.page(first / SECTOR) else { return };
            let piece = lane_piece(mine, first / SECTOR, first, BYTES, lane);
            self.piece(cx, at, page, first / SECTOR, piece, mine, conflicts);
        }
    }

    /// Checks plain reads or writes of `BYTES`, a power of two, by lanes of `mask`, which are at `first_of`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "inlined into the loops over lanes")]
    pub(crate) fn access_grouped<const BYTES: u64>(
        &self,
        cx: &Cx<'_>,
        at: &mut At<'_>,
        mask: u32,
        first_of: impl Fn(usize) -> u64,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        let mut group = Group::new(BYTES);
        let turn = if mask == u32::MAX { rows_of(&first_of) } else { 0 };
        for index in lanes(mask) {
            let lane = in_turn(index, turn);
            let first = first_of(lane);
            if group.count > 0 && group.is_foreign(first) {
                self.settle_group(cx, at, &group, mine, conflicts);
                group.begin_anew();
            }
            group.add(lane, first);
        }
        if group.count > 0 {
            self.settle_group(cx, at, &group, mine, conflicts);
        }
    }

    /// What a piece leaves where its sector has cells, or needs some. The page must be locked.
    #[inline(never)]
    pub(crate) fn settle_piece(
        &self,
        cx: &Cx<'_>,
        page: Page<'_>,
        number: u64,
        piece: &Piece,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        if piece.single && mine.effect != Effect::Atomic {
            self.settle_cells(cx, page, page.entry(number), &Group::of(piece, mine), mine, conflicts);
        } else {
            self.settle(cx, page, page.entry(number), piece, mine, conflicts);
        }
    }

    #[inline(never)]
    pub(crate) fn settle_group(
        &self,
        cx: &Cx<'_>,
        at: &mut At<'_>,
        group: &Group,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        let Some(page) = at.page(group.number) else { return };
        let entry = page.entry(group.number);
        if let Some(piece) = group.piece(mine) {
            if self.sum_up(cx, at, page, group.number, piece, mine, conflicts) == Some(false) {
                self.settle_summed(cx, page, &piece, group, mine, conflicts);
            }
            return;
        }
        if mine.effect == Effect::Atomic {
            for &(lane, byte) in &group.lanes[..group.count] {
                let first = group.number * SECTOR + u64::from(byte);
                let piece = lane_piece(mine, group.number, first, group.bytes.into(), lane.into());
                self.piece(cx, at, page, group.number, piece, mine, conflicts);
            }
            return;
        }
        at.lock();
        if !entry.is_of(self.pages.generation) {
            entry.start(self.pages.generation, Half::NONE, Half::NONE);
        }
        self.settle_cells(cx, page, entry, group, mine, conflicts);
    }

    /// A group that is one piece, but that no summary can tell. The page must be locked.
    #[inline(always)]
    pub(crate) fn settle_summed(
        &self,
        cx: &Cx<'_>,
        page: Page<'_>,
        piece: &Piece,
        group: &Group,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        let entry = page.entry(group.number);
        // What has all of it anew may leave a summary in place of cells.
        if piece.mask == u32::MAX || mine.effect == Effect::Atomic {
            self.settle(cx, page, entry, piece, mine, conflicts);
        } else {
            self.settle_cells(cx, page, entry, group, mine, conflicts);
        }
    }

    /// What plain reads or writes leave in the cells of a sector, which gets some where it has none. The page must be locked.
    #[inline(never)]
    pub(crate) fn settle_cells(
        &self,
        cx: &Cx<'_>,
        page: Page<'_>,
        entry: &Entry,
        group: &Group,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        self.fold(page, entry);
        let (old_write, old_read) = (entry.write(), entry.read());
        let writes = mine.effect == Effect::Write;
        // Whether nothing but its writes is to be looked at.
        let plain = writes && group.bytes == 4 && !old_read.is_cells() && old_read.mask & group.mask == 0;
        if plain && old_write.mask == 0 {
            let write = self.pages.new_words(page, [0; 8]);
            // SAFETY: locked, or this is the only worker.
            let cells = unsafe { page.cells(self.pages.generation) };
            if let Some(words) = cells.words_of(write) {
                group.puts_words(words, mine);
            }
            entry.set_write(write);
            return;
        }
        if plain {
            // SAFETY: as above.
            let cells = unsafe { page.cells(self.pages.generation) };
            if cells.words_of(old_write).is_some_and(|words| group.puts_words(words, mine)) {
                return;
            }
        }
        let mask = if group.bytes < 4 { 1 } else { group.mask };
        let shift = Pages::shift_of(old_write, mask).min(Pages::shift_of(old_read, mask));
        // Only what is added to needs cells: from a summary of reads a write takes its bytes, if they are there.
        let write = if writes { self.pages.in_cells(page, old_write, shift) } else { old_write };
        let read = if !writes || old_read.is_cells() { self.pages.in_cells(page, old_read, shift) } else { old_read };
        if write != old_write {
            entry.set_write(write);
        }
        // SAFETY: locked, or this is the only worker; nothing else takes cells until the end.
        let cells = unsafe { page.cells(self.pages.generation) };
        for &(lane, first) in &group.lanes[..group.count] {
            let stamp = with_thread(mine.stamp, thread_of(mine.stamp) + u64::from(lane));
            for byte in (u32::from(first)..u32::from(first) + group.bytes).step_by(1 << shift) {
                let (mut was, mut seen) = (cells.get(write, byte), cells.get(read, byte));
                if !is_clear(was, seen, stamp, mine) {
                    let clash = step(cx, &mut was, &mut seen, stamp, false, mine);
                    let lane = usize::from(lane);
                    if let Some(old) = clash
                        && conflicts.last().is_none_or(|last| last.stale || last.lane != lane)
                    {
                        conflicts.push(Conflict { lane, cell: old, stale: false });
                    }
                } else if writes {
                    (was, seen) = (stamp | WRITTEN, 0);
                } else {
                    seen = stamp | READ;
                }
                if writes {
                    cells.put(write, byte, was);
                }
                cells.put(read, byte, seen);
            }
        }
        if writes && !read.is_cells() {
            entry.set_read(Half { mask: read.mask & !group.mask, ..read });
        } else if read != old_read {
            entry.set_read(read);
        }
    }
}

/// Whether nobody else has touched a place but before this access, as far as its block's clock tells: what becomes of it is
/// plain then.
#[inline(always)]
fn is_clear(write: u64, read: u64, stamp: u64, mine: &Mine) -> bool {
    is_own(write, stamp, mine) && (read == 0 || read & KIND == READ && is_own(read, stamp, mine))
}

#[inline(always)]
fn is_own(cell: u64, stamp: u64, mine: &Mine) -> bool {
    let before = (clock_of(cell) <= mine.floor) | (thread_of(cell) == thread_of(stamp));
    (cell == 0) | ((cell >> BLOCK == mine.block) & before)
}
