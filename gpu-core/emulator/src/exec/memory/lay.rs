//! Accesses whose lanes lie in no runs, but as they did the last time: rows and columns with holes, butterflies, two columns of
//! one tile. As [`super::pattern`], for any lanes: which of them run may differ from time to time where each part of the access
//! costs the same. What this does not know goes on its way as if this were not here.

use std::cell::Cell;

use super::access::{AddressWord, Addresses, gathered, window_from};
use crate::count::{Counts, Site, sectors, wavefronts};
use crate::exec::cx::{Cx, lanes as lanes_of, watch};
use crate::exec::op::Op;
use crate::memory::space::{Window, window_base, window_of};
use crate::report::AccessKind;

/// Words that the map of a lay covers at most.
pub const MAPPED: usize = 128;
/// Bits of written bytes are looked at in so many words at once, if they are no more.
pub const NEAR: usize = 24;
/// Accesses that a lay must serve to be worth what it costs to make one.
const WORTH: u16 = 8;
/// Lanes further apart than this are left to the long way.
const FAR: u64 = 1 << 30;

/// Places that lanes access, each once.
#[derive(Clone, Debug)]
pub struct Places {
    /// How many of the following are set.
    pub count: usize,
    pub cells: [u32; 32],
    /// The first and the last lane at each.
    pub first: [u8; 32],
    pub last: [u8; 32],
    /// A bit for each that several lanes are at.
    pub several: u32,
}

/// Which words an access of whole words covers, from its lowest place on, if they are no more than these.
#[derive(Clone, Debug)]
pub struct Map {
    /// Words that it covers, holes too; 0: there is none.
    pub words: u8,
    /// The lane that each word belongs to, or [`NOBODY`].
    pub lane_of: [u8; MAPPED],
    /// A bit for each word that belongs to a lane.
    pub touched: [u8; MAPPED / 8],
}

/// In place of a lane: a mask of lanes has no bit for it.
pub const NOBODY: u8 = 32;

impl Map {
    pub const NONE: Map = Map { words: 0, lane_of: [NOBODY; MAPPED], touched: [0; MAPPED / 8] };

    /// Of lanes that lie so far from the lowest place as `offsets` say, each at places of its own.
    pub fn of(offsets: &[i32; 32], lanes: u32, bytes: u64) -> Map {
        let mut map = Map::NONE;
        let rise = lanes_of(lanes).map(|lane| offsets[lane] as u64).max().unwrap_or(0);
        if bytes < 4 || rise + bytes > 4 * MAPPED as u64 {
            return map;
        }
        map.words = ((rise + bytes) / 4) as u8;
        for lane in lanes_of(lanes) {
            for word in 0..(bytes / 4) as usize {
                let word = offsets[lane] as usize / 4 + word;
                map.lane_of[word] = lane as u8;
                map.touched[word / 8] |= 1 << (word % 8);
            }
        }
        map
    }
}

/// A place in shared memory at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    /// The block's index, counted from 1.
    block: u64,
    /// [`crate::exec::sched::block::Block::shared_changes`]
    changes: u32,
    address: u32,
}

/// How the lanes of one instruction's accesses lay, relative to the lowest place. In this order: what every access asks for lies in
/// one cache line, and the offsets begin with the next one.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Lay {
    site: u32,
    /// Lanes that it holds for; 0 for one that knows nothing.
    pub lanes: u32,
    /// Least address of the lowest place for all lanes to stay inside the array, and how far above it the last one is.
    first: u64,
    span: u64,
    /// What is to be added to an address for it to be one of the window.
    origin: u64,
    /// The host's place of address 0, or what is to be added to shared memory's.
    pointer: *mut u8,
    /// Accesses that are not counted yet, and their lanes.
    hits: Cell<u64>,
    lanes_hit: Cell<u64>,
    /// Accesses that it served since it was made.
    uses: Cell<u16>,
    pub bytes: u8,
    pub window: Window,
    /// Whether there is a map, of no more than 32 words.
    pub near: bool,
    /// What an access costs is that of any of its lanes, not of all of them alone; and the low bits of the address it holds for.
    parts: bool,
    phase: u8,
    phase_mask: u8,
    /// 0 for lanes that nothing is known of.
    pub offsets: [i32; 32],
    /// From the lowest place to the highest one.
    pub rise: u64,
    /// Where all bytes of all lanes are known to have values, in shared memory.
    known: Cell<Known>,
    pub region: u32,
    /// No two lanes access the same place.
    pub distinct: bool,
    /// The second half of the lanes lies where the first one does.
    pub twice: bool,
    /// Accesses that lay in another way.
    misses: u16,
    /// Of lanes at places of their own.
    pub map: Map,
    /// A bit for each byte from the lowest one on, if they lie no further apart than these.
    pub bytes_at: [u64; NEAR],
    /// The places of the lanes, in units of `bytes` from the lowest one on.
    pub places: Places,
    /// What an access costs.
    cost: u64,
    conflicts: u64,
    kind: AccessKind,
}

// SAFETY: the pointer goes into memory that the launch owns; only the worker that has the lay uses it.
unsafe impl Send for Lay {}

/// One that knows nothing.
fn unknown() -> Lay {
    Lay {
        site: 0,
        lanes: 0,
        first: 0,
        span: 0,
        origin: 0,
        pointer: std::ptr::null_mut(),
        hits: Cell::new(0),
        lanes_hit: Cell::new(0),
        uses: Cell::new(0),
        bytes: 0,
        window: Window::Global,
        near: false,
        parts: false,
        phase: 0,
        phase_mask: 0,
        offsets: [0; 32],
        rise: 0,
        known: Cell::new(Known { block: 0, changes: 0, address: 0 }),
        region: 0,
        distinct: false,
        twice: false,
        misses: 0,
        map: Map::NONE,
        bytes_at: [0; NEAR],
        places: Places { count: 0, cells: [0; 32], first: [0; 32], last: [0; 32], several: 0 },
        cost: 0,
        conflicts: 0,
        kind: AccessKind::Read,
    }
}

/// Instructions beyond this share lays.
const LAYS: usize = 512;

/// What one worker remembers: two for each site, for accesses that lane 0 takes part in and others. None before the first one.
#[derive(Debug)]
pub struct Lays {
    all: Vec<Option<Box<Lay>>>,
    sites: usize,
}

/// An access that lies as an earlier one.
#[derive(Clone, Copy)]
pub struct Recalled {
    /// As long as the launch, and changed by what remembers another one in its place only.
    pub lay: *const Lay,
    /// The lowest place, and its address in the window.
    pub pointer: *mut u8,
    pub address: u64,
}

impl Lays {
    /// For a module of so many sites.
    pub fn new(sites: usize) -> Lays {
        Lays { all: Vec::new(), sites: sites.next_power_of_two().min(LAYS) }
    }

    #[inline(always)]
    fn index(&self, site: u32, mask: u32) -> usize {
        2 * (site as usize & (self.sites - 1)) + (mask & 1) as usize
    }

    #[inline(always)]
    fn at(&self, index: usize) -> Option<&Lay> {
        self.all.get(index)?.as_deref()
    }

    /// Adds what the lays have seen to the counts.
    pub fn count(&mut self, counts: &mut Counts) {
        self.all.iter().flatten().for_each(|lay| lay.settle(counts));
    }
}

impl Places {
    fn add(&mut self, cell: u32, lane: u8) {
        let known = self.cells[..self.count].iter().position(|known| *known == cell);
        let index = known.unwrap_or(self.count);
        if known.is_some() {
            self.several |= 1 << index;
        } else {
            self.count += 1;
            self.cells[index] = cell;
            self.first[index] = lane;
        }
        self.last[index] = lane;
    }
}

impl Lay {
    /// An access was recalled, and did what it had to.
    #[inline(always)]
    pub fn note_use(&self) {
        self.uses.set(self.uses.get().saturating_add(1));
    }

    /// Adds what was not counted yet.
    fn settle(&self, counts: &mut Counts) {
        let (hits, lanes) = (self.hits.take(), self.lanes_hit.take());
        if hits == 0 {
            return;
        }
        let more = Site {
            requests: hits,
            cost: hits * self.cost,
            conflicts: hits * self.conflicts,
            bytes: lanes * u64::from(self.bytes),
            space: if self.window == Window::Shared { 2 } else { 1 },
            kind: Some(self.kind),
        };
        counts.add(self.site, &more);
    }

    /// How `lanes` of those lie, and the lowest place.
    fn of(at: &[u64; 32], lanes: u32, bytes: u64, window: Window) -> (Lay, u64) {
        let lead = at[lanes.trailing_zeros() as usize & 31];
        let runs = |lane: usize| lanes >> lane & 1 != 0;
        let all = gathered(std::array::from_fn(|lane| if runs(lane) { at[lane] } else { lead }), lanes, bytes);
        let offset = |lane: usize| if runs(lane) { (at[lane] - all.low) as i32 } else { 0 };
        let (cost, conflicts) = match window {
            Window::Shared => wavefronts(&all, bytes),
            _ => (sectors(&all, bytes), 0),
        };
        let mut lay = Lay {
            offsets: std::array::from_fn(offset),
            bytes: bytes as u8,
            rise: all.high - all.low,
            lanes,
            window,
            cost,
            conflicts,
            // One pass over the banks, in which no two words meet, is one for any of the lanes.
            parts: window == Window::Shared && cost == 1 && conflicts == 0,
            ..unknown()
        };
        for lane in lanes_of(lanes) {
            let offset = lay.offsets[lane] as u32;
            lay.places.add(offset / bytes as u32, lane as u8);
            for byte in (offset as usize..offset as usize + bytes as usize).take_while(|byte| byte / 64 < NEAR) {
                lay.bytes_at[byte / 64] |= 1 << (byte % 64);
            }
        }
        lay.distinct = lay.places.several == 0;
        lay.twice = lanes == u32::MAX && lay.offsets[..16] == lay.offsets[16..];
        if lay.distinct {
            lay.map = Map::of(&lay.offsets, lanes, bytes);
            lay.near = (1..=32).contains(&lay.map.words);
        }
        (lay, all.low)
    }

    /// Its addresses for lanes of `mask`, where the lowest place is at `address`.
    #[inline(never)]
    pub fn spread(&self, address: u64, mask: u32) -> Addresses {
        let at = |lane: usize| address + self.offsets[lane & 31] as u64;
        let lead = mask.trailing_zeros() as usize;
        let all = std::array::from_fn(|lane| at(if mask >> lane & 1 != 0 { lane } else { lead }));
        gathered(all, mask, self.bytes.into())
    }
}

impl Cx<'_> {
    /// Whether a weak load or store lies as an earlier one of its instruction did, and goes well; what it costs is known as
    /// well, if that is asked for. Nothing is counted or checked yet but bounds and alignment.
    ///
    /// # Safety
    /// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
    #[inline(always)]
    pub unsafe fn recall<const FORM: u8, A: AddressWord>(&self, op: &Op) -> Option<Recalled> {
        let lays = &self.worker.patterns.lays;
        let (index, mask) = (lays.index(op.site, self.mask), self.mask);
        let lay = lays.at(index)?;
        if lay.site != op.site || mask & !lay.lanes != 0 {
            return None;
        }
        let lead = mask.trailing_zeros() as usize & 31;
        // SAFETY: slots of a decoded instruction; rows of 32 lanes.
        let (row, own) = unsafe {
            let row = self.row::<A>(op.a);
            (row, A::from_raw((*row)[lead]).widen().wrapping_sub(lay.offsets[lead] as u64))
        };
        // SAFETY: as above.
        if !unsafe { A::follows::<FORM>(row, own, &lay.offsets, mask) } {
            return None;
        }
        let mut address = own.wrapping_add(op.imm as u64);
        if size_of::<A::Raw>() == 4 {
            address = address as u32 as u64;
        }
        if address.wrapping_sub(lay.first) > lay.span || address & u64::from(lay.bytes - 1) != 0 {
            return None;
        }
        let known = (lay.parts || mask == lay.lanes) && address as u8 & lay.phase_mask == lay.phase;
        if self.watch & watch::COUNT != 0 && !known {
            return None;
        }
        let base = if lay.window == Window::Shared { self.shared } else { std::ptr::null_mut() };
        let pointer = base.wrapping_add(lay.pointer as usize).wrapping_add(address as usize);
        Some(Recalled { lay, pointer, address: address - lay.origin })
    }

    /// Counts an access that was recalled.
    #[inline(always)]
    pub fn count_recalled(&self, lay: &Lay) {
        lay.hits.set(lay.hits.get() + 1);
        lay.lanes_hit.set(lay.lanes_hit.get() + u64::from(self.mask.count_ones()));
    }

    /// What a lay in shared memory knows if all that it covers from `address` on has values now: as long as the block lives, and
    /// nobody takes them away.
    #[inline(always)]
    fn known_at(&self, address: u64) -> Known {
        Known { block: self.block.index + 1, changes: self.block.shared_changes, address: address as u32 }
    }

    /// Whether all that lanes of a lay in shared memory access is known to have values.
    #[inline(always)]
    pub fn is_known(&self, lay: &Lay, address: u64) -> bool {
        lay.known.get() == self.known_at(address)
    }

    /// All of it has.
    #[inline(always)]
    pub fn note_known(&self, lay: &Lay, address: u64) {
        lay.known.set(self.known_at(address));
    }

    /// Remembers how a weak load or store of `bytes` a lane lies that nothing was known of.
    ///
    /// # Safety
    /// As [`crate::exec::op::Exec`].
    #[inline]
    pub unsafe fn note_lay<A: AddressWord>(&mut self, op: &Op, bytes: u64, kind: AccessKind) {
        if !self.grid.options.fast.layout_cache {
            return;
        }
        let lays = &mut self.worker.patterns.lays;
        if lays.all.is_empty() {
            lays.all = vec![None; 2 * lays.sites];
        }
        let index = lays.index(op.site, self.mask);
        let lay = lays.all[index].get_or_insert_with(|| Box::new(unknown()));
        // What was of use is to be learnt anew soon; accesses that never lie as the last one did are hardly ever looked at.
        let uses = lay.uses.get();
        lay.misses = if uses >= WORTH { 1 } else { lay.misses.wrapping_add(1) };
        if uses == 0 && lay.misses > 8 {
            // Not even asked.
            lay.lanes = 0;
        }
        if lay.misses.is_power_of_two() || lay.misses & 1023 == 0 {
            // SAFETY: passed on.
            unsafe { self.note_lay_now::<A>(op, bytes, kind, index) };
        }
    }

    /// # Safety
    /// As [`crate::exec::op::Exec`].
    #[cold]
    #[inline(never)]
    unsafe fn note_lay_now<A: AddressWord>(&mut self, op: &Op, bytes: u64, kind: AccessKind, index: usize) {
        // SAFETY: slots of a decoded instruction.
        let row = unsafe { &*self.row::<A>(op.a) };
        let mut at = row.map(|raw| A::from_raw(raw).plus(op.imm as u64));
        let lead = at[self.mask.trailing_zeros() as usize & 31];
        let (mut window, mut origin) = (window_from(op.e.0), 0);
        if window == Window::Generic {
            window = window_of(lead);
            origin = window_base(window);
        }
        at.iter_mut().for_each(|at| *at = at.wrapping_sub(origin));
        let lead = lead.wrapping_sub(origin);
        let (cell, asked) = (op.site as usize & 63, self.watch);
        let (base, end, pointer) = match window {
            Window::Global => {
                let Some(region) = self.region(cell, lead) else { return };
                // Where races are looked for by lanes all the same, little is won.
                let unwatched = kind == AccessKind::Read && region.is_only_read() || region.is_owned();
                let checked = asked & watch::RACE != 0 && !unwatched;
                if region.freed || kind == AccessKind::Write && region.read_only || checked {
                    return;
                }
                (region.base, region.end, region.pointer.wrapping_sub(region.base as usize))
            }
            Window::Shared if lead < 1 << 24 && self.shared_array(cell, lead, lead + bytes) => {
                let array = &self.grid.shared_arrays[self.worker.hit[cell] as usize];
                (u64::from(array.base), u64::from(array.base) + u64::from(array.bytes), std::ptr::null_mut())
            }
            _ => return,
        };
        let region = self.worker.hit[cell];
        let inside = |at: u64| {
            at >= base && at < end && end - at >= bytes && at & (bytes - 1) == 0 && at.abs_diff(lead) < FAR / 2
        };
        let valid = (0..32).fold(0, |valid, lane| valid | u32::from(inside(at[lane])) << lane);
        if self.mask & !valid != 0 {
            return;
        }
        // Those that do not run now may run next time; their registers mostly say where.
        let (mut lay, mut lowest) = Lay::of(&at, valid, bytes, window);
        if !lay.parts && self.watch & watch::COUNT != 0 {
            (lay, lowest) = Lay::of(&at, self.mask, bytes, window);
        }
        lay.site = op.site;
        lay.region = region;
        lay.kind = kind;
        lay.origin = origin;
        lay.first = base + origin;
        // All of them are inside.
        lay.span = end - bytes - lay.rise - base;
        lay.pointer = pointer.wrapping_sub(origin as usize);
        lay.phase_mask = if window == Window::Shared { 3 } else { 31 };
        lay.phase = lowest as u8 & lay.phase_mask;
        let worker = &mut *self.worker;
        if let Some(known) = &mut worker.patterns.lays.all[index] {
            known.settle(&mut worker.counts);
            lay.misses = known.misses;
            **known = lay;
        }
    }
}
