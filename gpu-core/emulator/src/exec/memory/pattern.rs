//! Accesses that lie as the last one of the same instruction did. Finding out how 32 addresses lie costs more than all
//! the rest of a load, and nearly always they lie as before, only elsewhere: that is quick to see, and then the way to
//! transfer them, what they count and how far they may go are known.

use std::sync::atomic::AtomicBool;

use super::access::{AddressWord, Runs};
#[cfg(target_arch = "x86_64")]
use super::lay::{Lays, Map};
use super::quick::Shape;
use crate::count::{Counts, Site, cost_of_runs};
use crate::exec::cx::{Cx, watch};
use crate::exec::op::Op;
use crate::memory::space::{Window, window_base};
use crate::report::AccessKind;

/// How lanes lie, relative to lane 0, which runs. In this order, for the offsets to begin where a cache line does.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Pattern {
    /// What is there for lanes that do not run means nothing.
    pub offsets: [i32; 32],
    pub runs: Runs,
    pub shape: Shape,
    bytes: u64,
    /// How eights of lanes lie, for machine code.
    #[cfg(target_arch = "x86_64")]
    eights: Eights,
    /// The offsets again.
    #[cfg(target_arch = "x86_64")]
    wide: [i64; 32],
    /// Of one column of words or vectors of words.
    #[cfg(target_arch = "x86_64")]
    pub map: Map,
}

/// How each eight lanes lie, the first eight first.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Eights {
    /// One behind the other.
    Row,
    /// All at one place.
    Same,
    Other,
}

#[cfg(target_arch = "x86_64")]
impl Eights {
    fn of(offsets: &[i32; 32], bytes: u64) -> Eights {
        let all = |step: i32| (0..32).all(|lane| offsets[lane] == offsets[lane & !7] + (lane & 7) as i32 * step);
        match () {
            () if all(bytes as i32) => Eights::Row,
            () if all(0) => Eights::Same,
            () => Eights::Other,
        }
    }
}

/// Where what machine code looks at is: in a cell, and in a pattern.
#[cfg(target_arch = "x86_64")]
pub mod places {
    use std::mem::offset_of;

    use super::{Cell, Pattern};

    pub const CELL: usize = size_of::<Cell>();
    pub const SITE: i32 = offset_of!(Cell, site) as i32;
    pub const MASK: i32 = offset_of!(Cell, mask) as i32;
    pub const PATTERN_OF: i32 = offset_of!(Cell, pattern) as i32;
    pub const FIRST: i32 = offset_of!(Cell, first) as i32;
    pub const SPAN: i32 = offset_of!(Cell, span) as i32;
    pub const POINTER: i32 = offset_of!(Cell, pointer) as i32;
    pub const HITS: i32 = offset_of!(Cell, hits) as i32;
    pub const RACELESS: i32 = offset_of!(Cell, raceless) as i32;
    pub const WRITTEN: i32 = offset_of!(Cell, written) as i32;
    pub const PHASE: i32 = offset_of!(Cell, phase) as i32;
    pub const PHASE_MASK: i32 = offset_of!(Cell, phase_mask) as i32;

    pub const PATTERN: usize = size_of::<Pattern>();
    pub const OFFSETS: i32 = offset_of!(Pattern, offsets) as i32;
    pub const EIGHTS: i32 = offset_of!(Pattern, eights) as i32;
    pub const WIDE: i32 = offset_of!(Pattern, wide) as i32;
}

/// Where the accesses of one instruction go. In this order, for what every access asks to be in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Cell {
    site: u32,
    /// Lanes that run; 0 for a cell that knows nothing.
    mask: u32,
    pattern: u32,
    /// What `cost` holds for: the low bits of lane 0's address, as many as `phase_mask` says.
    phase: u8,
    phase_mask: u8,
    /// Least address that lane 0 may have for all lanes to stay inside the array, and how far above it the last one is.
    first: u64,
    span: u64,
    /// The host's place of address 0, or what is to be added to shared memory's.
    pointer: *mut u8,
    /// Accesses that cost `cost` each and are not counted yet.
    hits: u64,
    /// Of accesses to global memory: set while they are in no race, and while nothing there is unwritten, as far as that is
    /// asked for.
    raceless: *const AtomicBool,
    written: *const AtomicBool,
    /// Index of the array, in global memory.
    pub region: u32,
    cost: u16,
    conflicts: u16,
    pub window: Window,
    /// Accesses that lay in another way.
    misses: u8,
    kind: AccessKind,
}

// SAFETY: the pointer goes into memory that the launch owns; only the worker that has the cell uses it.
unsafe impl Send for Cell {}

static ALWAYS: AtomicBool = AtomicBool::new(true);
static NEVER: AtomicBool = AtomicBool::new(false);

const EMPTY: Cell = Cell {
    site: 0,
    mask: 0,
    pattern: 0,
    phase: 0,
    phase_mask: 0,
    first: 0,
    span: 0,
    pointer: std::ptr::null_mut(),
    hits: 0,
    raceless: &raw const NEVER,
    written: &raw const NEVER,
    region: 0,
    cost: 0,
    conflicts: 0,
    window: Window::Global,
    misses: 0,
    kind: AccessKind::Read,
};

/// Patterns that are remembered; one more, and all are forgotten.
const PATTERNS: usize = 32;
/// Instructions beyond this share cells.
const CELLS: usize = 1024;

/// What one worker remembers.
#[derive(Debug)]
pub struct Patterns {
    /// As many as a power of two.
    cells: Vec<Cell>,
    known: Vec<Pattern>,
    /// Of accesses that lie in no runs.
    #[cfg(target_arch = "x86_64")]
    pub lays: Lays,
}

/// An access that follows a pattern.
#[derive(Clone, Copy)]
pub struct Followed {
    /// Lane 0's place and address.
    pub pointer: *mut u8,
    pub first: u64,
    pub shared: bool,
    cell: usize,
    pub pattern: *const Pattern,
}

impl Patterns {
    /// For a module of so many sites.
    pub fn new(sites: usize) -> Patterns {
        Patterns {
            cells: vec![EMPTY; sites.next_power_of_two().min(CELLS)],
            known: Vec::with_capacity(PATTERNS),
            #[cfg(target_arch = "x86_64")]
            lays: Lays::new(sites),
        }
    }

    #[inline(always)]
    fn index(&self, site: u32) -> usize {
        site as usize & (self.cells.len() - 1)
    }

    /// The cell of a site in a module of so many.
    #[cfg(target_arch = "x86_64")]
    pub fn cell_of(site: u32, sites: usize) -> usize {
        site as usize & (sites.next_power_of_two().min(CELLS) - 1)
    }

    /// Where the cells and the patterns are; neither ever moves.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn places(&self) -> (*const Cell, *const Pattern) {
        (self.cells.as_ptr(), self.known.as_ptr())
    }

    /// Adds what the cells have seen to the counts.
    pub fn count(&mut self, counts: &mut Counts) {
        for cell in &mut self.cells {
            cell.settle(&self.known, counts);
        }
        #[cfg(target_arch = "x86_64")]
        self.lays.count(counts);
    }

    fn pattern(&mut self, pattern: Pattern, counts: &mut Counts) -> u32 {
        let same = |known: &Pattern| {
            known.shape == pattern.shape
                && known.bytes == pattern.bytes
                && known.runs.width == pattern.runs.width
                && known.offsets == pattern.offsets
        };
        if let Some(index) = self.known.iter().position(same) {
            return index as u32;
        }
        if self.known.len() == PATTERNS {
            self.count(counts);
            self.known.clear();
            self.cells.iter_mut().for_each(|cell| cell.mask = 0);
        }
        self.known.push(pattern);
        self.known.len() as u32 - 1
    }
}

impl Cell {
    /// Adds what was not counted yet.
    fn settle(&mut self, known: &[Pattern], counts: &mut Counts) {
        let hits = std::mem::take(&mut self.hits);
        if hits == 0 {
            return;
        }
        let shared = self.window == Window::Shared;
        let bytes = known[self.pattern as usize].bytes * u64::from(self.mask.count_ones());
        let more = Site {
            requests: hits,
            cost: hits * u64::from(self.cost),
            conflicts: hits * u64::from(self.conflicts),
            bytes: hits * bytes,
            space: if shared { 2 } else { 1 },
            kind: Some(self.kind),
        };
        counts.add(self.site, &more);
    }
}

impl Cx<'_> {
    /// Whether a weak load or store of `bytes` a lane lies as the last one of this instruction did, and goes well.
    /// Nothing is counted or checked yet but bounds and alignment.
    ///
    /// # Safety
    /// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
    #[inline(always)]
    pub unsafe fn follow<const FORM: u8, A: AddressWord>(&self, op: &Op, bytes: u64) -> Option<Followed> {
        let patterns = &self.worker.patterns;
        let index = patterns.index(op.site);
        // SAFETY: the number of cells is a power of two; patterns that cells name are there; slots are those of a decoded
        // instruction.
        unsafe {
            let cell = patterns.cells.get_unchecked(index);
            if cell.site != op.site || cell.mask != self.mask {
                return None;
            }
            let pattern = patterns.known.get_unchecked(cell.pattern as usize);
            let row = self.row::<A>(op.a);
            let own = A::from_raw((*row)[0]);
            if !A::follows::<FORM>(row, own.widen(), &pattern.offsets, self.mask) {
                return None;
            }
            let first = own.plus(op.imm as u64);
            if first.wrapping_sub(cell.first) > cell.span || first & (bytes - 1) != 0 {
                return None;
            }
            let shared = cell.window == Window::Shared;
            let origin = if shared { self.shared } else { std::ptr::null_mut() };
            let pointer = origin.wrapping_add(cell.pointer as usize).wrapping_add(first as usize);
            Some(Followed { pointer, first, shared, cell: index, pattern })
        }
    }

    /// Remembers how a common access lay; `runs` are relative to its window.
    #[inline(never)]
    pub fn remember(&mut self, op: &Op, bytes: u64, window: Window, runs: &Runs, kind: AccessKind) {
        if !self.grid.options.fast.shape_cache {
            return;
        }
        let patterns = &mut self.worker.patterns;
        let index = patterns.index(op.site);
        let cell = &mut patterns.cells[index];
        cell.misses = cell.misses.wrapping_add(1);
        if !cell.misses.is_power_of_two() && cell.misses & 15 != 0 {
            return;
        }
        self.remember_now(op, bytes, window, runs, kind);
    }

    #[cold]
    fn remember_now(&mut self, op: &Op, bytes: u64, window: Window, runs: &Runs, kind: AccessKind) {
        let low = runs.starts[0];
        let offset = |address: u64| i32::try_from(address.wrapping_sub(low) as i64).ok();
        let (Some(below), Some(above)) = (offset(runs.low), offset(runs.high)) else { return };
        let shape = match (runs.count, runs.step) {
            (1, 0) => Shape::Same,
            (1, step) if step == bytes && runs.width == 32 => Shape::Dense,
            (1, step) if step == bytes => Shape::First,
            _ => Shape::Runs,
        };
        let runs_here = |lane: usize| runs.is_full() || lane < runs.width;
        let at = |lane: usize| if runs_here(lane) { runs.at(lane).wrapping_sub(low) as i32 } else { 0 };
        let offsets = std::array::from_fn(at);
        let pattern = Pattern {
            offsets,
            runs: runs.moved(low.wrapping_neg()),
            shape,
            bytes,
            #[cfg(target_arch = "x86_64")]
            eights: Eights::of(&offsets, bytes),
            #[cfg(target_arch = "x86_64")]
            wide: offsets.map(i64::from),
            #[cfg(target_arch = "x86_64")]
            map: match (shape, runs.count) {
                (Shape::Runs, 1) if runs.step > bytes => Map::of(&offsets, u32::MAX, bytes),
                _ => Map::NONE,
            },
        };
        let hit = self.worker.hit[op.site as usize & 63];
        let (base, end, pointer) = if window == Window::Shared {
            let array = &self.grid.shared_arrays[hit as usize];
            (u64::from(array.base), u64::from(array.base) + u64::from(array.bytes), std::ptr::null_mut::<u8>())
        } else {
            let region = &self.grid.regions[hit as usize];
            (region.base, region.end, region.pointer.wrapping_sub(region.base as usize))
        };
        let first = base + u64::from(below.unsigned_abs());
        let Some(span) = (end - bytes).checked_sub(above as u64).and_then(|last| last.checked_sub(first)) else {
            return;
        };
        let generic = super::transfer::window_from(op.e.0) == Window::Generic;
        let moved = if generic { window_base(window) } else { 0 };
        // The low bits that banks and sectors depend on; a cost that is not known holds for no address.
        let (cost, conflicts) = cost_of_runs(window, runs, bytes);
        let (phase, phase_mask) = match window {
            _ if cost.max(conflicts) > 0xffff => (1, 0),
            Window::Shared => (low as u8 & 3, 3),
            // One aligned element each for groups of lanes that lie whole sectors apart: as many sectors wherever it is.
            _ if runs.step == 0 && runs.starts().iter().all(|start| (start ^ low).is_multiple_of(32)) => (0, 0),
            _ => (low as u8 & 31, 31),
        };
        let (raceless, written) = self.always_settled(op, window, hit, kind);
        let (patterns, counts) = (&mut self.worker.patterns, &mut self.worker.counts);
        let pattern = patterns.pattern(pattern, counts);
        let index = patterns.index(op.site);
        let cell = &mut patterns.cells[index];
        cell.settle(&patterns.known, counts);
        *cell = Cell {
            site: op.site,
            mask: self.mask,
            pattern,
            phase,
            phase_mask,
            first: first.wrapping_add(moved),
            span,
            pointer: pointer.wrapping_sub(moved as usize),
            hits: 0,
            raceless,
            written,
            region: hit,
            cost: cost as u16,
            conflicts: conflicts as u16,
            window,
            misses: cell.misses,
            kind,
        };
    }

    /// Where it is said that nothing is to be checked of accesses to an array: that they are in no race, and that nothing there
    /// is unwritten.
    fn always_settled(
        &self,
        op: &Op,
        window: Window,
        region: u32,
        kind: AccessKind,
    ) -> (*const AtomicBool, *const AtomicBool) {
        let checks = &self.grid.options.checks;
        let (always, never) = (&raw const ALWAYS, &raw const NEVER);
        if window == Window::Shared {
            return (never, never);
        }
        let region = &self.grid.regions[region as usize];
        let own = self.grid.own_sites.get(op.site as usize) == Some(&region.shadow);
        let raceless = match kind {
            _ if !checks.race => always,
            _ if own && region.is_owned() => &raw const region.owned,
            AccessKind::Read => &raw const region.only_read,
            _ => never,
        };
        let written = match () {
            () if !checks.uninitialised || region.init.is_null() => always,
            () => region.all_written,
        };
        (raceless, written)
    }

    /// Counts an access that follows a pattern, where that is one step of a counter; gives what else is to be done.
    #[inline(always)]
    pub fn count_followed(&mut self, followed: &Followed) -> u32 {
        let worker = &mut *self.worker;
        // SAFETY: `follow` found the cell.
        let cell = unsafe { worker.patterns.cells.get_unchecked_mut(followed.cell) };
        let plain = self.watch & (watch::COUNT | watch::TRACE) == watch::COUNT && !worker.quiet;
        // Windows begin at multiples of what banks and sectors depend on.
        if plain && followed.first as u8 & cell.phase_mask == cell.phase {
            cell.hits += 1;
            return self.watch & !watch::COUNT;
        }
        self.watch
    }

    /// Whether an access that follows a pattern goes to global memory that is all written, and is in no race.
    #[inline(always)]
    pub(crate) fn needs_no_check<const WRITE: bool>(&self, op: &Op, followed: &Followed) -> bool {
        // SAFETY: `follow` found the cell, which names a region of the launch.
        let region = unsafe {
            let cell = self.worker.patterns.cells.get_unchecked(followed.cell);
            self.grid.regions.get_unchecked(cell.region as usize)
        };
        let own = || self.grid.own_sites.get(op.site as usize) == Some(&region.shadow);
        let unraced = !WRITE && region.is_only_read() || region.is_owned() && own();
        unraced && region.is_all_written()
    }

    /// Counts and checks an access that follows a pattern, as `watch` says.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for.
    #[inline(always)]
    pub(crate) unsafe fn audit_followed<const FORM: u8, const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        followed: &Followed,
        watch: u32,
    ) {
        // SAFETY: `follow` found the cell, and the pattern lives as long as the launch.
        let (cell, runs) =
            unsafe { (self.worker.patterns.cells.get_unchecked(followed.cell), &(*followed.pattern).runs) };
        let (window, region) = (cell.window, cell.region);
        let generic = super::transfer::window_from(op.e.0) == Window::Generic;
        let by = if generic { followed.first - window_base(window) } else { followed.first };
        // SAFETY: passed on.
        unsafe { self.audit_form::<FORM, BYTES, WRITE>(op, window, region, runs, by, watch) };
    }
}
