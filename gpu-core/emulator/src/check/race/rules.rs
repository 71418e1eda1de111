//! What one access to global memory and what is known of a sector make of each other: by summaries where they agree, by
//! cells where not.

use crate::check::race::pages::*;
use crate::exec::cx::Cx;
use crate::exec::memory::flags::DATA;
use crate::exec::op::Op;
use crate::exec::opcode::opcode;
use crate::report::AccessKind;

/// What one access brings to every piece.
#[derive(Clone, Copy)]
pub struct Mine {
    pub block: u64,
    /// Of lane 0, without a kind.
    pub stamp: u64,
    /// Highest clock of the own block that is ordered before.
    pub floor: u32,
    pub effect: Effect,
    /// Its scope is the block: for other blocks it is no atomic.
    pub narrow: bool,
    /// The warp has seen more than the floor says: what is summed up by that may be out of date.
    pub beyond: bool,
    /// A strong store: no atomic update, so that plain reads race with it. Or an update, which those race with that fetch
    /// a part of a result ([`crate::exec::memory::flags::FETCH`]), where there are any.
    pub stores: bool,
    /// It is an update.
    pub updates: bool,
    /// A read of that kind.
    pub fetches: bool,
    /// Reads through the cache for what is only read.
    pub cached: bool,
    /// log2 of the bytes of a lane.
    pub grain: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Read,
    Write,
    Atomic,
}

impl Effect {
    /// None: the access takes no part in races.
    #[inline(always)]
    pub fn of(op: &Op, kind: AccessKind, strong: bool) -> Option<Effect> {
        match kind {
            AccessKind::Read if strong && op.e.0 & DATA == 0 => None,
            AccessKind::Read => Some(Effect::Read),
            AccessKind::Atomic => Some(Effect::Atomic),
            _ if strong => Some(Effect::Atomic),
            _ => Some(Effect::Write),
        }
    }
}

/// Whether a cell of the atomic kinds is that of a strong store.
#[cold]
pub fn is_store(cx: &Cx<'_>, cell: u64) -> bool {
    let (image, site) = (cx.image(), (cell >> SITE) as u32 & SITES);
    site != 0 && image.sites.get(site as usize).is_some_and(|site| opcode(image.text(site.pc)).starts_with("st"))
}

/// The part of an access that lies in one sector: bytes of one lane, of neighbouring lanes, or of many lanes that read
/// the same bytes.
#[derive(Clone, Copy)]
pub struct Piece {
    pub mask: u32,
    pub unit: u8,
    /// Thread of byte 0 by `unit`, and the other one of `many`.
    pub stamp: u64,
    /// Only one lane, so any unit says the same.
    pub single: bool,
    pub many: bool,
}

impl Piece {
    #[inline(always)]
    pub fn half(&self, kind: u64) -> Half {
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
        if !self.single || byte >> size_of_unit(like.unit) != last >> size_of_unit(like.unit) {
            return None;
        }
        let thread = thread_of(self.stamp) + threads_on(self.unit, byte);
        self.stamp = with_thread(self.stamp, thread.wrapping_sub(threads_on(like.unit, byte)));
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

impl Mine {
    /// What an atomic leaves.
    #[inline(always)]
    pub fn atomic_kind(&self) -> u64 {
        if self.narrow { ATOMIC_BLOCK } else { ATOMIC }
    }

    /// Whether an atomic of the kind and block of `stamp` and this one are none for each other.
    #[inline(always)]
    fn out_of_scope(&self, stamp: u64) -> bool {
        stamp >> BLOCK != self.block && (self.narrow && stamp & KIND == ATOMIC || stamp & KIND == ATOMIC_BLOCK)
    }

    /// Whether all that a half is about is ordered before this access.
    #[inline(always)]
    pub fn ordered(&self, cx: &Cx<'_>, half: Half) -> bool {
        let own = half.stamp >> BLOCK == self.block;
        own && clock_of(half.stamp) <= self.floor || self.ordered_by_warps(cx, half)
    }

    #[inline(never)]
    fn ordered_by_warps(&self, cx: &Cx<'_>, half: Half) -> bool {
        let clock = clock_of(half.stamp);
        let before = |warp: usize| self.before(cx, half.stamp, warp, clock);
        half.all_warps(thread_of(half.stamp), before)
            && (half.kind() != READ_MANY || half.all_warps(other_of(half.stamp), before))
    }

    /// Whether what a warp of the cell's block did at `clock` is ordered before this access.
    pub fn before(&self, cx: &Cx<'_>, cell: u64, warp: usize, clock: u32) -> bool {
        if cell >> BLOCK == self.block {
            let seen = cx.warp.heard(warp).saturating_sub(cx.block.base_time);
            return clock <= self.floor || seen >= clock;
        }
        cx.grid.syncs.ordered(cell >> BLOCK, BLOCKS, warp, clock, cx.block.index, || cx.grid.over())
    }
}

/// A read that brings nothing new: others are known to read the same bytes, and nobody wrote them.
#[inline(always)]
pub fn is_known(entry: &Entry, piece: &Piece, mine: &Mine) -> bool {
    let (write, others, read) = (entry.write(), entry.others(), entry.read());
    let own_many = read.kind() == READ_MANY && read.stamp >> BLOCK == mine.block && clock_of(read.stamp) > mine.floor;
    let own_many = own_many && !mine.beyond;
    if piece.mask & !others.mask == 0 {
        return true;
    }
    write.mask & piece.mask == 0
        && piece.mask & !read.mask == 0
        && !read.is_cells()
        && (read.kind() == READ_BLOCKS || own_many)
}

/// A plain read. False: settle it cell by cell; nothing was changed.
#[inline(always)]
pub fn read(cx: &Cx<'_>, entry: &Entry, piece: &Piece, mine: &Mine) -> bool {
    let others = entry.others();
    if others.mask != 0 {
        return read_others(entry, piece, mine, others);
    }
    let write = entry.write();
    if write.mask & piece.mask != 0 {
        if write.is_cells() {
            return false;
        }
        let conflicts = write.kind() == WRITTEN || mine.fetches || is_store(cx, write.stamp);
        if conflicts && !piece.same(write) && !mine.ordered(cx, write) {
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
        let both = Half { stamp: by_blocks(new.stamp), ..new };
        if covered && covers {
            entry.set_read(both);
        } else if covered && write.mask == 0 {
            entry.set_write(both);
        } else {
            return false;
        }
        return true;
    }
    if old.kind() == READ_BLOCKS {
        return covered;
    }
    if clock_of(old.stamp) <= mine.floor && covers {
        entry.set_read(new);
        return true;
    }
    if mine.beyond && clock_of(old.stamp) > mine.floor && !piece.same(old) {
        return false;
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

/// The stamp of bytes that several blocks have read.
#[inline(always)]
fn by_blocks(stamp: u64) -> u64 {
    stamp & !(KIND | THREADS << OTHER) | READ_BLOCKS
}

/// A plain read where further blocks have read some bytes and nobody wrote: usually one block after the other goes
/// through the sector word by word. False: settle it cell by cell; nothing was changed.
#[inline(always)]
fn read_others(entry: &Entry, piece: &Piece, mine: &Mine, others: Half) -> bool {
    let old = entry.read();
    if piece.mask & !others.mask == 0 {
        return true;
    }
    if old.stamp >> BLOCK == mine.block {
        return piece.mask & others.mask == 0 && extend(entry, piece, old, READ);
    }
    if piece.mask & !old.mask != 0 || piece.like(others).is_none_or(|like| by_blocks(like.stamp) != others.stamp) {
        return false;
    }
    let both = Half { mask: others.mask | piece.mask, ..others };
    if both.mask == old.mask {
        entry.set_read(both);
        entry.set_write(Half::NONE);
    } else {
        entry.set_write(both);
    }
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
    // One thread's element so far: with another one that says the same, those two may go on in their way.
    let lone = old.mask & !(unit_mask(old) << (old.mask.trailing_zeros() & 31)) == 0;
    if !piece.single || !lone || old.kind() != kind || old.unit == ONE {
        return false;
    }
    let size = size_of_unit(old.unit);
    let place = |mask: u32| mask.trailing_zeros() & 31;
    let was = thread_of(old.stamp) + threads_on(old.unit, place(old.mask)) & THREADS;
    let now = thread_of(piece.stamp) + threads_on(piece.unit, place(piece.mask)) & THREADS;
    let apart = now as i32 - was as i32;
    let unit = if apart == 0 {
        // Its own next element: all is of one thread.
        ONE
    } else {
        // A column of threads: they go up by as much from place to place.
        let places = (place(piece.mask) >> size) as i32 - (place(old.mask) >> size) as i32;
        let rise = if places == 0 || apart % places != 0 { 0 } else { apart / places };
        if size_of_unit(piece.unit) != size || rise <= 0 || !(rise as u32).is_power_of_two() {
            return false;
        }
        risen(size, rise.ilog2())
    };
    let all = Half { stamp: with_thread(old.stamp, was.wrapping_sub(threads_on(unit, place(old.mask)))), unit, ..old };
    match piece.like(all) {
        Some(like) if like.half(kind).stamp == all.stamp => {
            put(Half { mask: old.mask | piece.mask, ..all });
            true
        }
        _ => false,
    }
}

/// The numbers of the bytes of a mask.
#[inline(always)]
pub fn bytes_of_mask(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |byte| mask >> byte & 1 != 0)
}

/// As many low bits as a thread has bytes.
#[inline(always)]
fn unit_mask(half: Half) -> u32 {
    ((1u64 << (1u32 << size_of_unit(half.unit))) - 1) as u32
}

/// A plain write. False: settle it cell by cell; nothing was changed.
#[inline(always)]
pub fn write(cx: &Cx<'_>, entry: &Entry, piece: &Piece, mine: &Mine) -> bool {
    let (old, reads) = (entry.write(), entry.read());
    if entry.others().mask != 0 || !follows_reads(cx, reads, piece, mine) {
        return false;
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

/// Whether all reads of what a write touches are its own, or ordered before it, as far as that is known at once.
#[inline(always)]
fn follows_reads(cx: &Cx<'_>, reads: Half, piece: &Piece, mine: &Mine) -> bool {
    reads.mask & piece.mask == 0
        || !reads.is_cells()
            && reads.kind() != READ_BLOCKS
            && (reads.kind() == READ && piece.same(reads) || mine.ordered(cx, reads))
}

/// An atomic or strong store. An atomic races with plain writes, and with plain reads that fetch a part of a result: all
/// others are the usual optimistic read. False: settle it cell by cell; nothing was changed.
#[inline(always)]
pub fn atomic(cx: &Cx<'_>, entry: &Entry, piece: &Piece, mine: &Mine) -> bool {
    let old = entry.write();
    if old.is_cells() || entry.others().mask != 0 {
        return false;
    }
    if mine.stores && !follows_reads(cx, entry.read(), piece, mine) {
        return false;
    }
    if old.mask & piece.mask != 0 {
        let written = old.kind() == WRITTEN;
        if written && piece.same(old) {
            // The thread's own plain write stays in memory of the check: its atomic orders nothing for the others.
            return old.mask == piece.mask;
        }
        if (written || mine.out_of_scope(old.stamp)) && !mine.ordered(cx, old) {
            return false;
        }
    }
    if old.mask & !piece.mask != 0 {
        return extend(entry, piece, old, mine.atomic_kind());
    }
    entry.set_write(piece.half(mine.atomic_kind()));
    true
}

/// What becomes of a place, and the cell that the access conflicts with: its thread is who is to blame.
pub fn step(cx: &Cx<'_>, write: &mut u64, read: &mut u64, stamp: u64, many: bool, mine: &Mine) -> Option<u64> {
    let me = thread_of(stamp);
    let by_me = |cell: u64, thread: u64| cell >> BLOCK == mine.block && thread == me;
    let before = |cell: u64, thread: u64| {
        mine.before(cx, cell, thread as usize / 32, clock_of(cell))
            || cell >> BLOCK == mine.block
                && thread != me
                && thread / 32 == u64::from(cx.warp.index)
                && cx.warp.met(thread as u32, clock_of(cell) + cx.block.base_time, me as u32)
    };
    let clear = |cell: u64| by_me(cell, thread_of(cell)) || before(cell, thread_of(cell));
    // The read that a write comes too early for.
    let unread = |old: u64| match old & KIND {
        READ => (!clear(old)).then_some(old),
        READ_MANY if !clear(old) => Some(old),
        READ_MANY => {
            let other = other_of(old);
            let clear = by_me(old, other) || before(old, other);
            (!clear).then_some(with_thread(old, other))
        }
        READ_BLOCKS if old >> BLOCK == mine.block => (!cx.grid.syncs.used_by(cx.block.index)).then_some(old),
        READ_BLOCKS => (!before(old, thread_of(old))).then_some(old),
        _ => None,
    };
    match mine.effect {
        Effect::Atomic => {
            let written = *write & KIND == WRITTEN;
            if written && by_me(*write, thread_of(*write)) {
                return None;
            }
            let clash = ((written || mine.out_of_scope(*write)) && !clear(*write)).then_some(*write);
            let matters = |cell: &u64| !mine.updates || cx.grid.races.is_fetch(*cell);
            let clash = clash.or_else(|| if mine.stores { unread(*read).filter(matters) } else { None });
            *write = stamp | mine.atomic_kind();
            clash
        }
        Effect::Read => {
            // Of many readers only one can be the writer.
            let ordered = if many { before(*write, thread_of(*write)) } else { clear(*write) };
            let conflicts =
                |cell: u64| cell & KIND == WRITTEN || cell & KIND != 0 && (mine.fetches || is_store(cx, cell));
            let clash = (!ordered && conflicts(*write)).then_some(*write);
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
            let clash = (*write != 0 && !clear(*write)).then_some(*write).or_else(|| unread(*read));
            *write = stamp | WRITTEN;
            *read = 0;
            clash
        }
    }
}
