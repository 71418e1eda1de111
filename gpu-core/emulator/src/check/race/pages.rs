//! What the race check of global memory remembers: two summaries per 32-byte sector, one of the last writes and one of
//! the reads since, in pages that are filled when they are touched.
//!
//! A warp mostly touches whole sectors, thread after thread, so one stamp with "which bytes" and "how many bytes each
//! thread" describes all of them. A sector that threads share in other ways gets a cell per 4 bytes, or per byte where
//! something smaller is accessed.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use crate::check::race::memory::FILLED;
pub use crate::check::race::memory::{Cells, Page, Shadow};

/// Bytes of memory that one page covers.
pub const PAGE: u64 = 4096;
pub const SECTOR: u64 = 32;
pub const SECTORS: usize = (PAGE / SECTOR) as usize;

// A cell or stamp: block 16 | clock 12 | site 13 | thread 10 | other thread 10 | kind 3. Blocks are kept modulo 65536
// and clocks count from the start of the block; what does not fit is never reported, so the limits cost detections,
// not alarms.
pub const BLOCKS: u64 = 1 << 16;
pub const BLOCK: u32 = 48;
pub const CLOCK: u32 = 36;
pub const CLOCKS: u32 = (1 << 12) - 1;
pub const SITE: u32 = 23;
pub const SITES: u32 = (1 << 13) - 1;

/// What is kept of the number of an access: 0 of one that does not fit.
pub fn kept(site: u32) -> u32 {
    if site <= SITES { site } else { 0 }
}

pub const THREAD: u32 = 13;
pub const OTHER: u32 = 3;
pub const THREADS: u64 = 0x3ff;
pub const KIND: u64 = 7;

pub const READ: u64 = 1;
/// Read by several threads of the block, unordered among themselves.
pub const READ_MANY: u64 = 2;
/// Read by several blocks.
pub const READ_BLOCKS: u64 = 3;
pub const WRITTEN: u64 = 4;
pub const ATOMIC: u64 = 5;
/// By an atomic (or strong write) whose scope is the block.
pub const ATOMIC_BLOCK: u64 = 6;

/// Unit of a summary whose bytes are all of one thread.
pub const ONE: u8 = 5;
/// A unit is log2 of the bytes of each thread, and from this bit on log2 of how far the numbers of the threads of
/// neighbouring places are apart: 0 where a warp goes along a row, more where it goes along a column.
const RISE: u8 = 3;
/// Bits of it.
const RISES: u8 = 15;
/// In a unit: the threads go down from place to place, as in a row that is written from its end.
const DOWN: u8 = 1 << 7;

/// log2 of the bytes of each thread.
#[inline(always)]
pub fn size_of_unit(unit: u8) -> u8 {
    unit & ((1 << RISE) - 1)
}

/// How far the thread of a byte is from that of byte 0.
#[inline(always)]
pub fn threads_on(unit: u8, byte: u32) -> u64 {
    let on = u64::from(byte >> size_of_unit(unit)) << (unit >> RISE & RISES);
    if unit & DOWN == 0 { on } else { on.wrapping_neg() & THREADS }
}

/// A unit of so many bytes whose threads are `1 << rise` apart.
#[inline(always)]
pub fn risen(size: u8, rise: u32) -> u8 {
    size | (rise as u8) << RISE
}

/// A unit of so many bytes whose threads go down one by one.
#[inline(always)]
pub fn falling(size: u8) -> u8 {
    size | DOWN
}

/// In place of a unit: the stamp is an index into the page's cells, of 4 bytes or of 1.
const WORDS: u8 = 0xfe;
const BYTES: u8 = 0xff;

/// Sets the thread of a cell.
#[inline(always)]
pub fn with_thread(cell: u64, thread: u64) -> u64 {
    cell & !(THREADS << THREAD) | (thread & THREADS) << THREAD
}

#[inline(always)]
pub fn thread_of(cell: u64) -> u64 {
    cell >> THREAD & THREADS
}

#[inline(always)]
pub fn other_of(cell: u64) -> u64 {
    cell >> OTHER & THREADS
}

#[inline(always)]
pub fn clock_of(cell: u64) -> u32 {
    (cell >> CLOCK) as u32 & CLOCKS
}

/// A summary of one side of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half {
    /// As a cell; its threads are those of byte 0, whether or not that byte is meant.
    pub stamp: u64,
    /// Which bytes it is about.
    pub mask: u32,
    /// Whose each byte is: see [`threads_on`].
    pub unit: u8,
}

impl Half {
    pub const NONE: Half = Half { stamp: 0, mask: 0, unit: ONE };

    /// In place of a summary: the cells of that number.
    fn words(index: usize) -> Half {
        Half { stamp: index as u64, mask: u32::MAX, unit: WORDS }
    }

    /// True when the sector has cells instead.
    #[inline(always)]
    pub fn is_cells(self) -> bool {
        self.unit >= WORDS
    }

    #[inline(always)]
    pub fn kind(self) -> u64 {
        self.stamp & KIND
    }

    /// Whether, in place of a write, it is [`Entry::others`].
    #[inline(always)]
    fn is_others(self) -> bool {
        self.stamp & KIND == READ_BLOCKS && !self.is_cells()
    }

    /// What it says of one byte, as a cell.
    #[inline(always)]
    pub fn cell(self, byte: u32) -> u64 {
        if self.mask >> byte & 1 == 0 {
            return 0;
        }
        let shift = threads_on(self.unit, byte);
        let stamp = with_thread(self.stamp, thread_of(self.stamp) + shift);
        if self.kind() != READ_MANY {
            return stamp;
        }
        stamp & !(THREADS << OTHER) | (other_of(stamp) + shift & THREADS) << OTHER
    }

    /// Whether something holds for the warps of all its threads, which begin at `thread`. At most 32 neighbours: no more
    /// than two warps; but those of a column may be of eight.
    #[inline(always)]
    pub fn all_warps(self, thread: u64, mut holds: impl FnMut(usize) -> bool) -> bool {
        let warp = |byte: u32| (thread + threads_on(self.unit, byte) & THREADS) as usize / 32;
        let (first, last) = (self.mask.trailing_zeros() & 31, 31 - (self.mask.leading_zeros() & 31));
        if !holds(warp(first)) || warp(first) != warp(last) && !holds(warp(last)) {
            return false;
        }
        let near = self.unit >> RISE & RISES == 0;
        near || crate::check::race::rules::bytes_of_mask(self.mask).all(|byte| holds(warp(byte)))
    }
}

/// What is known of one sector: 32 bytes of memory, 32 bytes of this, so that touching it costs one cache line.
#[repr(align(32))]
pub struct Entry {
    stamps: [AtomicU64; 2],
    masks: [AtomicU32; 2],
    /// The launch that it is from: all else is void in any other.
    generation: AtomicU32,
    units: [AtomicU8; 2],
}

const READS: usize = 0;
const WRITES: usize = 1;

impl Entry {
    // Who reads without the lock may meet a half that is being changed: the mask that he goes by is then not newer than
    // the rest.
    #[inline(always)]
    fn get(&self, side: usize) -> Half {
        let mask = self.masks[side].load(Ordering::Acquire);
        let stamp = self.stamps[side].load(Ordering::Acquire);
        Half { stamp, mask, unit: self.units[side].load(Ordering::Relaxed) }
    }

    #[inline(always)]
    fn set(&self, side: usize, half: Half) {
        self.units[side].store(half.unit, Ordering::Relaxed);
        self.stamps[side].store(half.stamp, Ordering::Release);
        self.masks[side].store(half.mask, Ordering::Release);
    }

    /// False when nobody touched the sector in this launch.
    #[inline(always)]
    pub fn is_of(&self, generation: u32) -> bool {
        self.generation.load(Ordering::Acquire) == generation
    }

    /// First touch in this launch.
    #[inline(always)]
    pub fn start(&self, generation: u32, read: Half, write: Half) {
        self.set(READS, read);
        self.set(WRITES, write);
        self.generation.store(generation, Ordering::Release);
    }

    #[inline(always)]
    pub fn write(&self) -> Half {
        let half = self.get(WRITES);
        if half.is_others() { Half::NONE } else { half }
    }

    /// The bytes that further blocks have read, where one block alone has read the rest; kept in place of the writes, of
    /// which there are none.
    #[inline(always)]
    pub fn others(&self) -> Half {
        let half = self.get(WRITES);
        if half.is_others() { half } else { Half::NONE }
    }

    #[inline(always)]
    pub fn read(&self) -> Half {
        self.get(READS)
    }

    #[inline(always)]
    pub fn set_write(&self, half: Half) {
        self.set(WRITES, half);
    }

    #[inline(always)]
    pub fn set_read(&self, half: Half) {
        self.set(READS, half);
    }
}

/// A sector spread out into cells of `1 << shift` bytes; those beyond its 32 bytes mean nothing.
pub struct Spread {
    pub cells: [u64; 32],
    pub shift: u32,
}

/// Whether a mask of bytes consists of whole words.
pub fn is_words(mask: u32) -> bool {
    (mask & 0x1111_1111) * 15 == mask
}

/// The shadows of all allocations of a launch.
pub struct Pages {
    tables: Vec<Shadow>,
    used: AtomicU64,
    limit: u64,
    full: AtomicBool,
    shared_by_workers: bool,
    /// Number of this launch in the process, never 0 (but after 2^32 launches).
    pub generation: u32,
}

static LAUNCHES: AtomicU32 = AtomicU32::new(1);

impl Pages {
    /// Takes the shadows of a launch's allocations; at most `limit` bytes of them are filled.
    pub fn new(tables: Vec<Shadow>, limit: u64, workers: usize) -> Pages {
        let used = tables.iter().map(Shadow::filled).sum();
        Pages {
            tables,
            used: AtomicU64::new(used),
            limit,
            full: AtomicBool::new(false),
            shared_by_workers: workers > 1,
            generation: LAUNCHES.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Gives the shadows back, in the same order.
    pub fn take_tables(&mut self) -> Vec<Shadow> {
        std::mem::take(&mut self.tables)
    }

    /// True when memory ran out and some accesses were not checked.
    pub fn incomplete(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Takes `bytes` out of the limit.
    fn take(&self, bytes: u64) -> bool {
        let fits = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.limit;
        if !fits {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            self.full.store(true, Ordering::Relaxed);
        }
        fits
    }

    /// The shadow of one allocation.
    #[inline(always)]
    pub fn table(&self, table: usize) -> Option<&Shadow> {
        self.tables.get(table)
    }

    /// One page of an allocation's shadow; None beyond its end or the limit.
    #[inline(always)]
    pub fn page(&self, table: usize, index: usize) -> Option<Page<'_>> {
        let table = self.tables.get(table)?;
        let page = table.page(index)?;
        (page.head.filled.load(Ordering::Relaxed) || self.fill(table, page)).then_some(page)
    }

    #[inline(never)]
    fn fill(&self, table: &Shadow, page: Page<'_>) -> bool {
        if !self.take(FILLED) {
            return false;
        }
        if page.head.filled.swap(true, Ordering::Relaxed) {
            // Another worker was first.
            self.used.fetch_sub(FILLED, Ordering::Relaxed);
        } else {
            table.add_filled();
        }
        true
    }

    /// Asks for what is known of a sector; any number will do.
    #[inline(always)]
    pub fn prefetch(&self, table: usize, number: u64) {
        if let Some(table) = self.tables.get(table) {
            table.prefetch(number);
        }
    }

    /// Whether pages must be locked at all.
    #[inline(always)]
    pub fn shared_by_workers(&self) -> bool {
        self.shared_by_workers
    }

    /// Cell size (as a shift) at which a half and an access to `mask` can be told exactly.
    pub fn shift_of(half: Half, mask: u32) -> u32 {
        let fine = match half.unit {
            WORDS => false,
            BYTES => true,
            _ => half.mask != 0 && (size_of_unit(half.unit) < 2 || !is_words(half.mask)),
        };
        if fine || !is_words(mask) { 0 } else { 2 }
    }

    /// The cells of a sector that has one for each word.
    ///
    /// # Safety
    /// The page must be locked, or this the only worker; and nobody may hold what an earlier call gave.
    #[inline(always)]
    pub unsafe fn words<'p>(&self, page: Page<'p>, half: Half) -> Option<&'p mut [u64; 8]> {
        if half.unit != WORDS {
            return None;
        }
        // SAFETY: as the caller says.
        unsafe { page.cells(self.generation) }.words.get_mut(half.stamp as usize)
    }

    /// Spreads a half into cells of `1 << shift` bytes. The page must be locked.
    pub fn spread(&self, page: Page<'_>, half: Half, shift: u32) -> Spread {
        // SAFETY: locked, or this is the only worker.
        let stored = unsafe { page.cells(self.generation) };
        let mut cells = [0; 32];
        match (half.unit, shift) {
            (WORDS, 2) => cells[..8].copy_from_slice(&stored.words[half.stamp as usize]),
            (BYTES, 0) => cells = stored.bytes[half.stamp as usize],
            _ => {
                for (index, cell) in cells.iter_mut().enumerate().take(32 >> shift) {
                    let byte = index << shift;
                    *cell = match half.unit {
                        WORDS => stored.words[half.stamp as usize][byte / 4],
                        BYTES => stored.bytes[half.stamp as usize][byte],
                        _ => half.cell(byte as u32),
                    };
                }
            }
        }
        Spread { cells, shift }
    }

    /// Puts cells back in place of `old`: as a summary with one of `units` if they allow it. The page must be locked.
    pub fn gather(&self, page: Page<'_>, old: Half, spread: &Spread, units: [u8; 3]) -> Half {
        // SAFETY: locked, or this is the only worker.
        let stored = unsafe { page.cells(self.generation) };
        let shift = spread.shift;
        let cells = &spread.cells[..32 >> shift];
        let summary = units.into_iter().filter(|unit| *unit < WORDS).find_map(|unit| summarise(cells, shift, unit));
        if let Some(summary) = summary {
            match old.unit {
                WORDS => stored.free_words.push(old.stamp as u32),
                BYTES => stored.free_bytes.push(old.stamp as u32),
                _ => {}
            }
            return summary;
        }
        self.store(page, old, spread)
    }

    /// A half as cells of `1 << shift` bytes. The page must be locked.
    #[inline(always)]
    pub fn in_cells(&self, page: Page<'_>, half: Half, shift: u32) -> Half {
        match (half.unit, shift) {
            (WORDS, 2) | (BYTES, 0) => half,
            (_, 2) => {
                // SAFETY: locked, or this is the only worker.
                let stored = unsafe { page.cells(self.generation) };
                let words = match half.mask {
                    0 => [0; 8],
                    _ => std::array::from_fn(|word| half.cell(4 * word as u32)),
                };
                self.place(&mut stored.words, &mut stored.free_words, None, words).map_or(Half::NONE, Half::words)
            }
            _ => self.store(page, half, &self.spread(page, half, shift)),
        }
    }

    /// Cells of words. The page must be locked.
    #[inline(always)]
    pub fn new_words(&self, page: Page<'_>, cells: [u64; 8]) -> Half {
        // SAFETY: locked, or this is the only worker.
        let stored = unsafe { page.cells(self.generation) };
        self.place(&mut stored.words, &mut stored.free_words, None, cells).map_or(Half::NONE, Half::words)
    }

    /// Asks for the cells of a sector that has one for each word.
    ///
    /// # Safety
    /// As [`Pages::words`].
    #[inline(always)]
    pub unsafe fn prefetch_words(&self, table: usize, number: u64) {
        let page = self.tables.get(table).and_then(|table| table.page((number * SECTOR / PAGE) as usize));
        let Some(page) = page else { return };
        let entry = page.entry(number);
        let write = entry.write();
        if entry.is_of(self.generation) && write.unit == WORDS {
            // SAFETY: as the caller says.
            let words = unsafe { page.cells(self.generation) }.words.as_ptr();
            crate::exec::memory::access::prefetch(words.wrapping_add(write.stamp as usize).cast());
        }
    }

    /// Puts cells in place of `old`. The page must be locked.
    fn store(&self, page: Page<'_>, old: Half, spread: &Spread) -> Half {
        // SAFETY: locked, or this is the only worker.
        let stored = unsafe { page.cells(self.generation) };
        let shift = spread.shift;
        let keep = match (old.unit, shift) {
            (WORDS, 2) | (BYTES, 0) => Some(old.stamp as usize),
            (WORDS, _) => {
                stored.free_words.push(old.stamp as u32);
                None
            }
            (BYTES, _) => {
                stored.free_bytes.push(old.stamp as u32);
                None
            }
            _ => None,
        };
        let (list_unit, index) = if shift == 2 {
            let mut words = [0; 8];
            words.copy_from_slice(&spread.cells[..8]);
            (WORDS, self.place(&mut stored.words, &mut stored.free_words, keep, words))
        } else {
            (BYTES, self.place(&mut stored.bytes, &mut stored.free_bytes, keep, spread.cells))
        };
        match index {
            Some(index) => Half { stamp: index as u64, mask: u32::MAX, unit: list_unit },
            None => Half::NONE,
        }
    }

    fn place<T>(&self, list: &mut Vec<T>, free: &mut Vec<u32>, keep: Option<usize>, value: T) -> Option<usize> {
        let index = match keep.or_else(|| free.pop().map(|index| index as usize)) {
            Some(index) => index,
            None => {
                if !self.take(size_of::<T>() as u64) {
                    return None;
                }
                list.push(value);
                return Some(list.len() - 1);
            }
        };
        list[index] = value;
        Some(index)
    }
}

impl Cells {
    /// What a half says of one byte, as a cell.
    #[inline(always)]
    pub fn get(&self, half: Half, byte: u32) -> u64 {
        match half.unit {
            WORDS => self.words[half.stamp as usize][byte as usize / 4 & 7],
            BYTES => self.bytes[half.stamp as usize][byte as usize & 31],
            _ => half.cell(byte),
        }
    }

    /// The cells of a half that has one for each word.
    #[inline(always)]
    pub fn words_of(&mut self, half: Half) -> Option<&mut [u64; 8]> {
        if half.unit == WORDS { self.words.get_mut(half.stamp as usize) } else { None }
    }

    /// Changes the cell of a byte, if the half has cells.
    #[inline(always)]
    pub fn put(&mut self, half: Half, byte: u32, cell: u64) {
        match half.unit {
            WORDS => self.words[half.stamp as usize][byte as usize / 4 & 7] = cell,
            BYTES => self.bytes[half.stamp as usize][byte as usize & 31] = cell,
            _ => {}
        }
    }
}

/// One half that says the same as cells, if they are of one kind, place and time and their threads go up by `unit`.
fn summarise(cells: &[u64], shift: u32, unit: u8) -> Option<Half> {
    let Some(first) = cells.iter().position(|cell| *cell != 0) else { return Some(Half::NONE) };
    let units = |index: usize| threads_on(unit, (index << shift) as u32);
    let base = cells[first];
    let stamp = with_thread(base, thread_of(base).wrapping_sub(units(first)));
    let stamp = if base & KIND == READ_MANY {
        stamp & !(THREADS << OTHER) | (other_of(base).wrapping_sub(units(first)) & THREADS) << OTHER
    } else {
        stamp
    };
    let mut half = Half { stamp, mask: 0, unit };
    for (index, cell) in cells.iter().enumerate() {
        if *cell != 0 {
            half.mask |= ((1u64 << (1 << shift)) - 1 << (index << shift)) as u32;
        }
    }
    let same = |index: usize| cells[index] == half.cell((index << shift) as u32);
    (0..cells.len()).all(same).then_some(half)
}
