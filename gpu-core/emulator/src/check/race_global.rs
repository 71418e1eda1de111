//! Races on global memory: one cell per 4 bytes, in pages made when they are touched.
//!
//! A cell: block 16 | clock 12 | site 13 | thread 10 | other thread 10 | kind 3. Blocks are kept modulo 65536 and clocks
//! count from the start of the block; what does not fit is never reported, so the limits cost detections, not alarms.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use crate::exec::access::{Addresses, Reach, STRONG};
use crate::exec::cx::{Cx, lanes};
use crate::exec::op::Op;
use crate::report::AccessKind;

/// Bytes of memory that one page covers.
const PAGE: u64 = 4096;
pub const BLOCKS: u64 = 1 << 16;
const BLOCK: u32 = 48;
const CLOCK: u32 = 36;
const CLOCKS: u32 = (1 << 12) - 1;
const SITE: u32 = 23;
const SITES: u32 = (1 << 13) - 1;
const THREAD: u32 = 13;
const OTHER: u32 = 3;
const THREADS: u64 = 0x3ff;
const KIND: u64 = 7;

const READ: u64 = 1;
/// Read by several threads of the block, unordered among themselves.
const READ_MANY: u64 = 2;
/// Read by several blocks.
const READ_BLOCKS: u64 = 3;
const WRITTEN: u64 = 4;
const ATOMIC: u64 = 5;

struct Page {
    lock: AtomicBool,
    /// One cell per byte instead of per 4 bytes.
    fine: UnsafeCell<bool>,
    cells: UnsafeCell<Vec<u64>>,
}

/// Shadows of all allocations of a launch.
pub struct GlobalRaces {
    tables: Vec<Vec<AtomicPtr<Page>>>,
    used: AtomicU64,
    limit: u64,
    full: AtomicBool,
    shared_by_workers: bool,
}

// SAFETY: pages are changed only under their lock, or by the only worker.
unsafe impl Sync for GlobalRaces {}
// SAFETY: the pages are owned by the tables.
unsafe impl Send for GlobalRaces {}

impl Drop for GlobalRaces {
    fn drop(&mut self) {
        for page in self.tables.iter_mut().flatten() {
            let pointer = *page.get_mut();
            if !pointer.is_null() {
                // SAFETY: made by `Box::into_raw` in `page`, and dropped once.
                drop(unsafe { Box::from_raw(pointer) });
            }
        }
    }
}

/// What one access brings to a cell.
#[derive(Clone, Copy)]
struct Mine {
    block: u64,
    stamp: u64,
    /// Highest clock of the own block that is ordered before.
    floor: u64,
}

impl GlobalRaces {
    /// Shadows for allocations of these sizes; at most `limit` bytes of pages are made.
    pub fn new(sizes: &[u64], limit: u64, workers: usize) -> GlobalRaces {
        GlobalRaces {
            tables: sizes
                .iter()
                .map(|bytes| (0..bytes.div_ceil(PAGE)).map(|_| AtomicPtr::default()).collect())
                .collect(),
            used: AtomicU64::new(0),
            limit,
            full: AtomicBool::new(false),
            shared_by_workers: workers > 1,
        }
    }

    /// True when memory ran out and some accesses were not checked.
    pub fn incomplete(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    fn page(&self, table: usize, index: usize) -> Option<&Page> {
        let cell = self.tables.get(table)?.get(index)?;
        let mut pointer = cell.load(Ordering::Acquire);
        if pointer.is_null() {
            let bytes = PAGE / 4 * 8;
            if self.used.fetch_add(bytes, Ordering::Relaxed) + bytes > self.limit {
                self.full.store(true, Ordering::Relaxed);
                return None;
            }
            let made = Box::into_raw(Box::new(Page {
                lock: AtomicBool::new(false),
                fine: UnsafeCell::new(false),
                cells: UnsafeCell::new(vec![0; PAGE as usize / 4]),
            }));
            match cell.compare_exchange(std::ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => pointer = made,
                Err(other) => {
                    // SAFETY: nobody else has seen `made`.
                    drop(unsafe { Box::from_raw(made) });
                    pointer = other;
                }
            }
        }
        // SAFETY: pages live as long as the tables.
        Some(unsafe { &*pointer })
    }

    /// Forgets what happened to a range: it has a new owner.
    pub fn forget(&self, table: usize, offset: u64, bytes: u64) {
        let mut at = offset;
        while at < offset + bytes {
            let end = (at / PAGE + 1) * PAGE;
            if let Some(page) = self.page(table, (at / PAGE) as usize) {
                self.lock(page);
                // SAFETY: locked, or this is the only worker.
                let (cells, fine) = unsafe { (&mut *page.cells.get(), *page.fine.get()) };
                let shift = if fine { 0 } else { 2 };
                let last = (end.min(offset + bytes) - 1) % PAGE >> shift;
                cells[(at % PAGE >> shift) as usize..=last as usize].fill(0);
                self.unlock(page);
            }
            at = end;
        }
    }

    fn lock(&self, page: &Page) {
        if self.shared_by_workers {
            while page.lock.swap(true, Ordering::Acquire) {
                std::hint::spin_loop();
            }
        }
    }

    fn unlock(&self, page: &Page) {
        if self.shared_by_workers {
            page.lock.store(false, Ordering::Release);
        }
    }

    #[inline(always)]
    pub fn access<const BYTES: u64>(&self, cx: &mut Cx<'_>, op: &Op, reach: &Reach, at: &Addresses, kind: AccessKind) {
        let strong = op.e.0 & STRONG != 0;
        if strong && kind == AccessKind::Read {
            return;
        }
        let block = cx.block.index % BLOCKS;
        let clock = (cx.warp.clock - cx.block.base_time).min(CLOCKS);
        let site = if op.site <= SITES { op.site } else { 0 };
        let floor = cx.warp.floor.saturating_sub(cx.block.base_time).min(CLOCKS);
        let thread = u64::from(cx.warp.index * 32);
        let mine = Mine {
            block,
            stamp: block << BLOCK | u64::from(clock) << CLOCK | u64::from(site) << SITE | thread << THREAD,
            // A saturated clock may be any time: never reported inside the block.
            floor: if floor == CLOCKS || clock == CLOCKS { u64::from(CLOCKS) } else { u64::from(floor) },
        };
        let atomic = kind == AccessKind::Atomic || strong;
        let (first, last) = (at.low - reach.base, at.high - reach.base + BYTES - 1);
        if at.contiguous && BYTES.is_multiple_of(4) && first / PAGE == last / PAGE {
            let Some(page) = self.page(reach.shadow as usize, (first / PAGE) as usize) else { return };
            self.lock(page);
            // SAFETY: locked, or this is the only worker.
            let (cells, fine) = unsafe { (&mut *page.cells.get(), *page.fine.get()) };
            let done = !fine && {
                let start = (first % PAGE / 4) as usize;
                let cells = &mut cells[start..start + 8 * BYTES as usize];
                match (kind, atomic) {
                    (AccessKind::Read, _) => read_span::<BYTES>(cells, mine),
                    (_, true) => false,
                    _ => write_span::<BYTES>(cells, mine),
                }
            };
            self.unlock(page);
            if done {
                return;
            }
        }
        self.access_lanes::<BYTES>(cx, op, reach, at, kind, mine, atomic);
    }

    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn access_lanes<const BYTES: u64>(
        &self,
        cx: &mut Cx<'_>,
        op: &Op,
        reach: &Reach,
        at: &Addresses,
        kind: AccessKind,
        mine: Mine,
        atomic: bool,
    ) {
        let plain_read = kind == AccessKind::Read && !atomic;
        let mut held: Option<(u64, &Page)> = None;
        let mut conflicts: Vec<(usize, u64)> = Vec::new();
        for lane in lanes(at.mask) {
            let first = at.at[lane] - reach.base;
            // Lanes that read the same place one after the other: the first two stand for all.
            if plain_read && lane >= 2 && at.at[lane - 2] == at.at[lane] && at.at[lane - 1] == at.at[lane] {
                continue;
            }
            let number = first / PAGE;
            let page = match held {
                Some((known, page)) if known == number => page,
                _ => {
                    if let Some((_, page)) = held.take() {
                        self.unlock(page);
                    }
                    let Some(page) = self.page(reach.shadow as usize, number as usize) else { break };
                    self.lock(page);
                    held = Some((number, page));
                    page
                }
            };
            let stamp = mine.stamp + ((lane as u64) << THREAD);
            // SAFETY: locked, or this is the only worker.
            let (cells, fine) = unsafe { (&mut *page.cells.get(), &mut *page.fine.get()) };
            if BYTES < 4 && !*fine {
                *cells = cells.iter().flat_map(|cell| [*cell; 4]).collect();
                *fine = true;
                self.used.fetch_add(PAGE * 6, Ordering::Relaxed);
            }
            let shift = if *fine { 0 } else { 2 };
            let count = (BYTES >> shift).max(1);
            for index in 0..count {
                // Accesses are aligned, so they stay inside one page.
                let Some(cell) = cells.get_mut(((first % PAGE >> shift) + index) as usize) else { break };
                let old = *cell;
                if plain_read {
                    if old == 0 {
                        *cell = stamp | READ;
                        continue;
                    }
                    let own = old >> BLOCK == mine.block;
                    let late = (old >> CLOCK & u64::from(CLOCKS)) > mine.floor;
                    let other = (old ^ stamp) >> THREAD & THREADS != 0;
                    // Nothing to learn: this block is known to read it, or blocks are.
                    if old & KIND == READ_BLOCKS || own && late && other && old & KIND == READ_MANY {
                        continue;
                    }
                    if own && old & KIND == READ && (!late || !other) {
                        *cell = stamp | READ;
                        continue;
                    }
                }
                let (new, conflict) = step(cx, old, stamp, mine, kind, atomic);
                *cell = new;
                if conflict && conflicts.last().is_none_or(|last| last.0 != lane) {
                    conflicts.push((lane, old));
                }
            }
        }
        if let Some((_, page)) = held {
            self.unlock(page);
        }
        for (lane, old) in conflicts {
            conflict::<BYTES>(cx, op, at, lane, kind, mine, old);
        }
    }
}

/// What becomes of a cell, and whether the access conflicts with what it says.
fn step(cx: &Cx<'_>, old: u64, stamp: u64, mine: Mine, kind: AccessKind, atomic: bool) -> (u64, bool) {
    let was = old & KIND;
    let me = stamp >> THREAD & THREADS;
    let same_block = old >> BLOCK == mine.block;
    let thread = old >> THREAD & THREADS;
    let same = same_block && thread == me;
    let before = || {
        let clock = (old >> CLOCK) as u32 & CLOCKS;
        if same_block {
            let warp = thread as usize / 32;
            let seen = cx.warp.seen[warp].saturating_sub(cx.block.base_time);
            mine.floor == u64::from(CLOCKS) || u64::from(clock) <= mine.floor || seen >= clock
        } else {
            cx.grid.syncs.ordered(old >> BLOCK, BLOCKS, thread as usize / 32, clock, cx.block.index)
        }
    };
    if was == 0 {
        let new = if atomic {
            ATOMIC
        } else if kind == AccessKind::Read {
            READ
        } else {
            WRITTEN
        };
        return (stamp | new, false);
    }
    if atomic {
        // Atomic against plain read is left alone: the usual optimistic read.
        let conflict = was == WRITTEN && !same && !before();
        return (stamp | ATOMIC, conflict);
    }
    if kind == AccessKind::Read {
        return match was {
            READ | READ_MANY if same_block => {
                if was == READ && same || before() {
                    (stamp | READ, false)
                } else if same {
                    (old, false)
                } else {
                    (old & !(THREADS << OTHER | KIND) | me << OTHER | READ_MANY, false)
                }
            }
            READ | READ_MANY | READ_BLOCKS => (stamp | READ_BLOCKS, false),
            ATOMIC => (old, false),
            // The write stays what is known: later readers in other blocks must still meet it.
            _ => (old, !same && !before()),
        };
    }
    let conflict = match was {
        READ => !same && !before(),
        READ_MANY => !same_block && !before() || same_block && u64::from((old >> CLOCK) as u32 & CLOCKS) > mine.floor,
        READ_BLOCKS => {
            if same_block {
                !cx.grid.syncs.used_by(cx.block.index)
            } else {
                !before()
            }
        }
        _ => !same && !before(),
    };
    (stamp | WRITTEN, conflict)
}

/// The cell's threads against which a lane conflicts, reported unless the stores agree.
#[cold]
fn conflict<const BYTES: u64>(
    cx: &mut Cx<'_>,
    op: &Op,
    at: &Addresses,
    lane: usize,
    kind: AccessKind,
    mine: Mine,
    old: u64,
) {
    let site = (old >> SITE) as u32 & SITES;
    let was = old & KIND;
    let same_block = old >> BLOCK == mine.block;
    let me = u64::from(cx.warp.index * 32) + lane as u64;
    let mut thread = (old >> THREAD & THREADS) as u32;
    if was == READ_MANY && u64::from(thread) == me {
        thread = (old >> OTHER & THREADS) as u32;
    }
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
        return;
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

/// 32 neighbouring accesses that only read. False: look closer; nothing was changed.
#[inline(always)]
fn read_span<const BYTES: u64>(cells: &mut [u64], mine: Mine) -> bool {
    let words = (BYTES / 4) as usize;
    let mut bad = false;
    for cell in cells.iter() {
        bad |= cell & KIND >= WRITTEN;
    }
    if bad {
        return false;
    }
    for lane in 0..32 {
        let stamp = mine.stamp + ((lane as u64) << THREAD);
        for word in 0..words {
            let old = cells[lane * words + word];
            let own_block = old >> BLOCK == mine.block;
            let ordered = (old >> CLOCK & u64::from(CLOCKS)) <= mine.floor;
            let same = (old ^ stamp) >> THREAD & THREADS == 0;
            let me = stamp >> THREAD & THREADS;
            let many = old & !(THREADS << OTHER | KIND) | me << OTHER | READ_MANY;
            let in_block = if ordered || same && old & KIND == READ {
                stamp | READ
            } else if same {
                old
            } else {
                many
            };
            let cross = stamp | READ_BLOCKS;
            cells[lane * words + word] = if old == 0 {
                stamp | READ
            } else if own_block && old & KIND != READ_BLOCKS {
                in_block
            } else {
                cross
            };
        }
    }
    true
}

/// 32 neighbouring writes to places that nobody else touched, or that the own block touched before its last barrier.
#[inline(always)]
fn write_span<const BYTES: u64>(cells: &mut [u64], mine: Mine) -> bool {
    let words = (BYTES / 4) as usize;
    let mut bad = false;
    for lane in 0..32 {
        let stamp = mine.stamp + ((lane as u64) << THREAD);
        for word in 0..words {
            let old = cells[lane * words + word];
            let own_block = old >> BLOCK == mine.block;
            let ordered = (old >> CLOCK & u64::from(CLOCKS)) <= mine.floor;
            let same = (old ^ stamp) >> THREAD & THREADS == 0 && matches!(old & KIND, READ | WRITTEN);
            bad |= !(old == 0 || own_block && old & KIND != READ_BLOCKS && (ordered || same));
        }
    }
    if bad {
        return false;
    }
    for lane in 0..32 {
        let stamp = mine.stamp + ((lane as u64) << THREAD) | WRITTEN;
        for word in 0..words {
            cells[lane * words + word] = stamp;
        }
    }
    true
}
