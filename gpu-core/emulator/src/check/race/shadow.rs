//! Who touched shared memory last: the shadow of a block's shared memory, a write and a read cell for every 4 bytes (for
//! every 2 or every byte where a kernel accesses less).

use crate::exec::cx::lanes;

/// Clocks of shared shadows have 28 bits.
pub const MAX_TIME: u32 = (1 << 28) - 1;

// A cell: clock 28 | site 14 | thread 10 | other thread 10 | flags 2.
pub const CLOCK: u32 = 36;
pub const SITE: u32 = 22;
pub const SITES: u32 = (1 << 14) - 1;
pub const THREAD: u32 = 12;
pub const OTHER: u32 = 2;
pub const THREADS: u64 = 0x3ff;
pub const THREAD_MASK: u64 = THREADS << THREAD;
/// Of a write cell: atomic. Of a read cell: the other thread counts too.
pub const FLAG: u64 = 1;
/// Of a warp's last update of a cell ([`SharedShadow::updates`]): the other thread is another lane of the same instruction.
pub const ALSO: u64 = 2;

pub fn site_of(cell: u64) -> u32 {
    (cell >> SITE) as u32 & SITES
}

pub fn thread_of(cell: u64) -> u32 {
    (cell >> THREAD & THREADS) as u32
}

pub fn other_of(cell: u64) -> u32 {
    (cell >> OTHER & THREADS) as u32
}

pub fn clock_of(cell: u64) -> u32 {
    (cell >> CLOCK) as u32
}

/// What is kept of the number of an access: 0 of one that does not fit.
pub fn kept(site: u32) -> u32 {
    if site <= SITES { site } else { 0 }
}

/// A cell of one thread.
pub fn stamp(clock: u32, site: u32, thread: u32) -> u64 {
    let site = kept(site);
    u64::from(clock.min(MAX_TIME)) << CLOCK | u64::from(site) << SITE | u64::from(thread) << THREAD
}

/// Cells behind the last one of memory, so that where several are looked at at once, all of them are there.
const BEHIND: usize = 7;

/// Shadow of a block's shared memory.
#[derive(Debug, Default)]
pub struct SharedShadow {
    pub writes: Vec<u64>,
    pub reads: Vec<u64>,
    /// log2 of the bytes of a cell.
    pub shift: u32,
    pub bytes: u32,
    /// The latest cell that a plain access may have left, as a bound: atomics behind it meet atomics alone.
    pub plain: u64,
    /// The same of writes, atomics too: reads behind it meet none that is not in order.
    pub written: u64,
    /// For each cell the last atomic of each warp: who reads must come behind the updates of all warps, and not only behind
    /// the newest. Empty until there is an atomic.
    updates: Vec<u64>,
    warps: usize,
    /// The latest cell of an atomic, as a bound, and between which places those lie that are not in order.
    updated: u64,
    updated_low: u64,
    updated_end: u64,
}

impl SharedShadow {
    pub fn new(bytes: u32, threads: u32) -> SharedShadow {
        let cells = if bytes == 0 { 0 } else { (bytes as usize).div_ceil(4) + BEHIND };
        let warps = threads.div_ceil(32) as usize;
        SharedShadow {
            writes: vec![0; cells],
            reads: vec![0; cells],
            shift: 2,
            bytes,
            warps,
            ..SharedShadow::default()
        }
    }

    pub fn clear(&mut self) {
        self.writes.fill(0);
        self.reads.fill(0);
        self.plain = 0;
        self.written = 0;
        self.updates.fill(0);
        self.updated = 0;
    }

    /// Cells of an access of `bytes`; 0 where it is less than one.
    #[inline(always)]
    pub fn cells_in(&self, bytes: u64) -> u64 {
        bytes >> self.shift
    }

    /// A plain access brings this cell, or one of the same time.
    #[inline(always)]
    pub fn note(&mut self, stamp: u64, write: bool) {
        self.plain = self.plain.max(stamp);
        if write {
            self.written = self.written.max(stamp);
        }
    }

    /// The same of an atomic somewhere in `[low, end)`, where `floor` is ordered before.
    #[inline(always)]
    pub fn note_atomic(&mut self, stamp: u64, floor: u64, low: u64, end: u64) {
        self.written = self.written.max(stamp);
        if self.updates.is_empty() {
            self.updates = vec![0; self.writes.len() * self.warps];
        }
        if self.updated <= floor {
            (self.updated_low, self.updated_end) = (low, end);
        }
        self.updated = self.updated.max(stamp);
        (self.updated_low, self.updated_end) = (self.updated_low.min(low), self.updated_end.max(end));
    }

    /// An atomic leaves `own` in a cell; `also` is another lane of it at the same place, if there is one.
    #[inline(always)]
    pub fn put_update(&mut self, cell: usize, own: u64, also: u64) {
        self.writes[cell] = own;
        self.updates[cell * self.warps + thread_of(own) as usize / 32] = own | also;
    }

    /// The same of one lane after the other: `is_here` says whether an earlier lane of this instruction has the same place.
    #[inline(always)]
    pub fn put_lane(&mut self, cell: usize, own: u64, is_here: impl Fn(usize) -> bool) {
        let before = self.updates[cell * self.warps + thread_of(own) as usize / 32];
        let (earlier, lane) = (thread_of(before) as usize % 32, thread_of(own) as usize % 32);
        let also = match before >> SITE == own >> SITE && earlier < lane && is_here(earlier) {
            true if before & ALSO != 0 => before & (THREADS << OTHER) | ALSO,
            true => u64::from(thread_of(before)) << OTHER | ALSO,
            false => 0,
        };
        self.put_update(cell, own, also);
    }

    /// Whether somebody has updated any of `[low, end)` since `floor`, so that its newest write does not say all.
    #[inline(always)]
    pub fn is_updated(&self, floor: u64, low: u64, end: u64) -> bool {
        self.updated > floor && low < self.updated_end && end > self.updated_low
    }

    /// The last atomic on a cell of each warp that made one.
    #[inline(always)]
    pub fn updates_of(&self, cell: usize) -> &[u64] {
        self.updates.get(cell * self.warps..).and_then(|rest| rest.get(..self.warps)).unwrap_or(&[])
    }

    /// Goes down to cells of `1 << shift` bytes, when something as small is accessed.
    #[cold]
    pub fn refine(&mut self, shift: u32) {
        let each = 1 << (self.shift - shift);
        let spread = |cells: &Vec<u64>| cells.iter().flat_map(|cell| std::iter::repeat_n(*cell, each)).collect();
        self.writes = spread(&self.writes);
        self.reads = spread(&self.reads);
        if !self.updates.is_empty() {
            let cells = self.updates.chunks_exact(self.warps);
            self.updates = cells.flat_map(|cell| std::iter::repeat_n(cell, each).flatten().copied()).collect();
        }
        self.shift = shift;
    }

    /// The cells of `[low, low + bytes)`; none when races are not watched.
    pub fn cells(&self, low: u64, bytes: u64) -> std::ops::Range<usize> {
        let end = ((low + bytes).min(u64::from(self.bytes)) + (1 << self.shift) - 1) >> self.shift;
        (low >> self.shift) as usize..end.max(low >> self.shift) as usize
    }

    /// The lanes of `mask` have written `bytes` each; `first` is what lane 0 leaves.
    pub fn fill_lanes(&mut self, addresses: &[u32; 32], mask: u32, bytes: u32, contiguous: bool, first: u64) {
        let of = |lane: usize| first + ((lane as u64) << THREAD);
        let each = (bytes >> self.shift) as usize;
        if contiguous && mask == u32::MAX && each > 0 {
            let cells = self.cells(addresses[0].into(), 32 * u64::from(bytes));
            for (lane, cells) in self.writes[cells].chunks_exact_mut(each).enumerate() {
                cells.fill(of(lane));
            }
            return;
        }
        for lane in lanes(mask) {
            let cells = self.cells(addresses[lane].into(), bytes.into());
            self.writes[cells].fill(of(lane));
        }
    }

    /// Forgets a range: an asynchronous copy has written it anew.
    pub fn forget(&mut self, low: u64, bytes: u64) {
        let cells = self.cells(low, bytes);
        self.writes[cells.clone()].fill(0);
        if !self.updates.is_empty() {
            self.updates[cells.start * self.warps..cells.end * self.warps].fill(0);
        }
        self.reads[cells].fill(0);
    }
}
