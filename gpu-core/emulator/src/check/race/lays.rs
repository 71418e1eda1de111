//! The checks of accesses that lie as earlier ones did, in no runs.

use std::arch::x86_64::*;
use std::sync::atomic::{AtomicU64, Ordering};

use super::shadow::{CLOCK, FLAG, OTHER, SharedShadow, THREAD, THREAD_MASK, THREADS};
use super::shadow_runs::{join_read, of_lane};
use crate::exec::cx::{Cx, each_lane, lanes, watch};
use crate::exec::lanes::{WIDE, WIDEST};
use crate::exec::memory::access::{Addresses, Reach};
use crate::exec::memory::lay::{Lay, Map, NEAR, Recalled};
use crate::exec::op::Op;
use crate::memory::space::Window;
use crate::report::AccessKind;

impl Cx<'_> {
    /// Counts and checks an access that was recalled. False: look closer; nothing was changed.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for.
    #[inline(always)]
    pub unsafe fn settles_recalled<const FORM: u8, const WRITE: bool>(&mut self, op: &Op, recalled: &Recalled) -> bool {
        // SAFETY: passed on.
        unsafe {
            match FORM {
                WIDEST => self.settles_widest::<WRITE>(op, recalled),
                _ => self.settles_wide::<WRITE>(op, recalled),
            }
        }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn settles_widest<const WRITE: bool>(&mut self, op: &Op, recalled: &Recalled) -> bool {
        // SAFETY: passed on.
        unsafe { self.settles_as::<WIDEST, WRITE>(op, recalled) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn settles_wide<const WRITE: bool>(&mut self, op: &Op, recalled: &Recalled) -> bool {
        // SAFETY: passed on.
        unsafe { self.settles_as::<WIDE, WRITE>(op, recalled) }
    }

    /// # Safety
    /// As [`Cx::settles_recalled`].
    #[inline(always)]
    unsafe fn settles_as<const FORM: u8, const WRITE: bool>(&mut self, op: &Op, recalled: &Recalled) -> bool {
        let (watch, mask, address) = (self.watch, self.mask, recalled.address);
        // SAFETY: lays stay where they are as long as the launch; what is called here changes its counts alone, after all else.
        let lay = unsafe { &*recalled.lay };
        let shared = lay.window == Window::Shared;
        if watch & (watch::INIT | watch::RACE) != 0 {
            let reach = match lay.window {
                Window::Shared => self.shared_reach(),
                _ => Reach::of(&self.grid.regions[lay.region as usize]),
            };
            let unwritten =
                watch & watch::INIT != 0 && !reach.all_written && !self.has_values::<FORM>(&reach, lay, address);
            if unwritten && !WRITE {
                return false;
            }
            let watched = watch & watch::RACE != 0 && shared && !self.block.state.apart;
            // SAFETY: passed on.
            if watched && !unsafe { self.race_shared_lay::<FORM, WRITE>(op, lay, address) } {
                return false;
            }
            let kind = if WRITE { AccessKind::Write } else { AccessKind::Read };
            let race = watch & watch::RACE != 0 && !shared && !self.is_in_no_race(op, &reach, kind);
            if unwritten || race {
                let at = lay.spread(address, mask);
                match lay.bytes {
                    1 => self.settle_lanes::<1>(op, &reach, &at, kind, unwritten, race),
                    2 => self.settle_lanes::<2>(op, &reach, &at, kind, unwritten, race),
                    4 => self.settle_lanes::<4>(op, &reach, &at, kind, unwritten, race),
                    8 => self.settle_lanes::<8>(op, &reach, &at, kind, unwritten, race),
                    _ => self.settle_lanes::<16>(op, &reach, &at, kind, unwritten, race),
                }
            }
        }
        if watch & watch::COUNT != 0 {
            self.count_recalled(lay);
        }
        true
    }

    /// Whether what lanes of this access touch has values.
    #[inline(always)]
    fn has_values<const FORM: u8>(&self, reach: &Reach, lay: &Lay, address: u64) -> bool {
        let shared = lay.window == Window::Shared;
        if shared && self.is_known(lay, address) {
            return true;
        }
        let written = is_written::<FORM>(reach, lay, address, self.mask);
        if written && shared && self.mask == lay.lanes {
            self.note_known(lay, address);
        }
        written
    }

    /// What is written first, and races on global memory, lane by lane.
    #[inline(never)]
    fn settle_lanes<const BYTES: u64>(
        &mut self,
        op: &Op,
        reach: &Reach,
        at: &Addresses,
        kind: AccessKind,
        unwritten: bool,
        race: bool,
    ) {
        if unwritten {
            self.check_init::<BYTES>(op, reach, at, kind);
        }
        if race {
            let grid = self.grid;
            grid.races.access::<BYTES>(self, op, reach, at, kind);
        }
    }

    /// What a plain access leaves in shared memory where it meets nothing unordered. False: look closer; nothing was changed.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for.
    #[inline(always)]
    unsafe fn race_shared_lay<const FORM: u8, const WRITE: bool>(&mut self, op: &Op, lay: &Lay, address: u64) -> bool {
        let (stamp, floor) = self.shared_stamp(op);
        let bytes = u64::from(lay.bytes);
        let end = address + lay.rise + bytes;
        if !WRITE && self.joins_slowly(floor, address, end) {
            return false;
        }
        let shadow = &self.block.shared_shadow;
        // Lanes that write the same place race among themselves.
        if end > u64::from(shadow.bytes) || bytes < 1 << shadow.shift || WRITE && !lay.distinct {
            return false;
        }
        let shadow = &mut self.block.shared_shadow;
        let clear = if lay.map.words > 0 && shadow.shift == 2 {
            let some = (self.mask != lay.lanes).then_some(self.mask);
            // SAFETY: passed on; a map of so few words has no more parts.
            unsafe {
                match lay.map.words {
                    ..=32 => shadow.mapped::<FORM, WRITE, 4>(&lay.map, address, some, stamp, floor),
                    _ => shadow.mapped::<FORM, WRITE, 0>(&lay.map, address, some, stamp, floor),
                }
            }
        } else {
            // SAFETY: passed on.
            unsafe { shadow.scattered::<FORM, WRITE>(lay, address, self.mask, stamp, floor) }
        };
        if clear {
            shadow.note(stamp, WRITE);
        }
        clear
    }
}

/// Whether what lanes of `mask` access has values.
#[inline(always)]
fn is_written<const FORM: u8>(reach: &Reach, lay: &Lay, address: u64, mask: u32) -> bool {
    let (bits, first) = (reach.init_bits(), address - reach.base);
    let words = (lay.rise + u64::from(lay.bytes)).div_ceil(64) as usize;
    let from = (first / 64) as usize;
    let near = reach.window == Window::Shared && words <= NEAR && from + words < bits.len();
    if near {
        let bits = &bits[from..=from + words];
        let all = match FORM {
            // SAFETY: the caller's machine has AVX-512 in this form.
            WIDEST => unsafe { have_values(lay, bits, first % 64) },
            _ => have_values_wide(lay, bits, first % 64),
        };
        if all {
            return true;
        }
    }
    // Aligned accesses stay inside one word of bits.
    let want = u64::MAX >> (64 - lay.bytes);
    let mut missing = 0;
    for lane in 0..32 {
        let bit = first + lay.offsets[lane] as u64;
        let word = bits[(bit / 64) as usize].load(Ordering::Relaxed);
        missing |= u32::from(!(word >> (bit % 64)) & want != 0) << lane;
    }
    missing & mask == 0
}

/// Whether the bytes of shared memory that all lanes access have values; the first of them is bit `by` of the first word, and one more word is there than
/// they cover.
///
/// # Safety
/// The machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn have_values(lay: &Lay, bits: &[AtomicU64], by: u64) -> bool {
    let words = bits.len() - 1;
    let (down, up) = (_mm512_set1_epi64(by as i64), _mm512_set1_epi64(64 - by as i64));
    let mut missing = 0;
    for part in 0..words.div_ceil(8) {
        let here = (u64::MAX >> (64 - (words - 8 * part).min(8))) as u8;
        // SAFETY: only words that are there are loaded; those of the lay are a multiple of eight. Shared memory is never
        // that of two workers.
        unsafe {
            let place = bits.as_ptr().add(8 * part).cast::<i64>();
            let low = _mm512_maskz_loadu_epi64(here, place);
            let high = _mm512_maskz_loadu_epi64(here, place.add(1));
            let have = _mm512_or_si512(_mm512_srlv_epi64(low, down), _mm512_sllv_epi64(high, up));
            let want = _mm512_loadu_si512(lay.bytes_at.as_ptr().add(8 * part).cast());
            let lacks = _mm512_andnot_si512(have, want);
            missing |= _mm512_test_epi64_mask(lacks, lacks);
        }
    }
    missing == 0
}

/// The same word by word.
#[inline(always)]
fn have_values_wide(lay: &Lay, bits: &[AtomicU64], by: u64) -> bool {
    // SAFETY: shared memory is never that of two workers.
    let bits = unsafe { std::slice::from_raw_parts(bits.as_ptr().cast::<u64>(), bits.len()) };
    let mut missing = 0;
    for ((low, high), want) in bits.iter().zip(&bits[1..]).zip(&lay.bytes_at) {
        missing |= want & !(low >> by | high << 1 << (63 - by));
    }
    missing == 0
}

/// All lanes of a lay read a cell each, of those from `from` on. The first and the last one at each stand for all there, unless
/// one of this warp has read it since all was in order: false then, and nothing was changed.
///
/// # Safety
/// The cells must be there; the machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn read_places(lay: &Lay, reads: &mut [u64], from: u64, stamp: u64, floor: u64) -> bool {
    let places = &lay.places;
    let all = |value: u64| _mm512_set1_epi64(value as i64);
    let (floor, stamp, flag, others) = (all(floor), all(stamp), all(FLAG), all(THREADS << OTHER | FLAG));
    let (thread, warp) = (all(THREAD_MASK), all(THREAD_MASK & !(31 << THREAD)));
    let parts = places.count.div_ceil(8);
    let mut new = [[0u64; 8]; 4];
    let mut again = 0;
    let cells = reads.as_mut_ptr().wrapping_add(from as usize);
    for (part, new) in new.iter_mut().enumerate().take(parts) {
        let here = (u32::MAX >> (32 - (places.count - 8 * part).min(8))) as u8;
        // SAFETY: as the caller says; places that are not set are the lowest cell.
        unsafe {
            let cell = |index: usize| cells.add(places.cells[8 * part + index] as usize).read() as i64;
            let old = _mm512_setr_epi64(cell(0), cell(1), cell(2), cell(3), cell(4), cell(5), cell(6), cell(7));
            let lane = |of: &[u8; 32]| {
                let lane = _mm512_cvtepu8_epi64(_mm_loadl_epi64(of.as_ptr().add(8 * part).cast()));
                _mm512_add_epi64(stamp, _mm512_slli_epi64::<THREAD>(lane))
            };
            let (first, last) = (lane(&places.first), lane(&places.last));
            let late = _mm512_cmpgt_epu64_mask(old, floor);
            again |= here & late & !_mm512_test_epi64_mask(_mm512_xor_si512(old, stamp), warp);
            let me = _mm512_srli_epi64::<{ THREAD - OTHER }>(_mm512_and_si512(last, thread));
            let other = _mm512_or_si512(me, flag);
            let fresh = _mm512_mask_or_epi64(first, (places.several >> (8 * part)) as u8, first, other);
            let joined = _mm512_or_si512(_mm512_andnot_si512(others, old), other);
            _mm512_storeu_si512(new.as_mut_ptr().cast(), _mm512_mask_mov_epi64(fresh, late, joined));
        }
    }
    if again != 0 {
        return false;
    }
    let new = new.as_flattened();
    for (cell, new) in places.cells[..places.count].iter().zip(new) {
        // SAFETY: as the caller says.
        unsafe { cells.add(*cell as usize).write(*new) };
    }
    true
}

/// The same where there is no AVX-512.
///
/// # Safety
/// The cells must be there.
#[inline(always)]
unsafe fn read_places_wide(lay: &Lay, reads: &mut [u64], from: u64, stamp: u64, floor: u64) -> bool {
    let places = &lay.places;
    let cells = reads.as_mut_ptr().wrapping_add(from as usize);
    let other = |mine: u64| (mine & THREAD_MASK) >> (THREAD - OTHER) | FLAG;
    let parts = places.count.div_ceil(8);
    let (mut new, mut again) = ([[0u64; 8]; 4], 0);
    for (part, new) in new.iter_mut().enumerate().take(parts) {
        // SAFETY: as the caller says; places that are not set are the lowest cell.
        let old: [u64; 8] = std::array::from_fn(|index| unsafe { *cells.add(places.cells[8 * part + index] as usize) });
        let (first, last) = (&places.first[8 * part..][..8], &places.last[8 * part..][..8]);
        let several = u64::from(places.several) >> (8 * part);
        for index in 0..8 {
            let [first, last] = [first, last].map(|lane| of_lane(stamp, lane[index].into()));
            let late = u64::from(old[index] > floor).wrapping_neg();
            // Of this warp.
            let own = u64::from((old[index] ^ stamp) & (THREAD_MASK & !(31 << THREAD)) == 0).wrapping_neg();
            let others = (several >> index & 1).wrapping_neg();
            again |= late & own;
            let fresh = first | other(last) & others;
            let joined = old[index] & !(THREADS << OTHER) | other(last);
            new[index] = joined & late | fresh & !late;
        }
    }
    if again != 0 {
        return false;
    }
    for (cell, new) in places.cells[..places.count].iter().zip(new.as_flattened()) {
        // SAFETY: as the caller says.
        unsafe { cells.add(*cell as usize).write(*new) };
    }
    true
}

/// Lanes of `mask` write `each` cells each, of their own, which nobody accessed since all was in order: most arrays are filled so.
/// False: somebody did; nothing was changed.
///
/// # Safety
/// The cells that `first` says, and those behind them, must be there.
#[inline(always)]
unsafe fn write_fresh(
    writes: &mut [u64],
    reads: &mut [u64],
    first: impl Fn(usize) -> usize,
    each: usize,
    mask: u32,
    stamp: u64,
    floor: u64,
) -> bool {
    let (writes, reads) = (writes.as_mut_ptr(), reads.as_mut_ptr());
    let mut last = 0;
    let look = |lane: usize| {
        for cell in first(lane)..first(lane) + each {
            // SAFETY: as the caller says.
            last = unsafe { last.max(*writes.add(cell)).max(*reads.add(cell)) };
        }
    };
    each_lane(mask, look);
    if last > floor {
        return false;
    }
    let leave = |lane: usize| {
        for cell in first(lane)..first(lane) + each {
            // SAFETY: as the caller says.
            unsafe { (*writes.add(cell), *reads.add(cell)) = (of_lane(stamp, lane), 0) };
        }
    };
    each_lane(mask, leave);
    true
}

/// Lanes of `mask` write two cells each, of their own, which nobody accessed since all was in order: most arrays are filled so. False:
/// somebody did; nothing was changed.
///
/// # Safety
/// The cells that `first` says, and those behind them, must be there; the machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn write_fresh_pairs(
    writes: &mut [u64],
    reads: &mut [u64],
    first: impl Fn(usize) -> usize,
    mask: u32,
    stamp: u64,
    floor: u64,
) -> bool {
    let (writes, reads) = (writes.as_mut_ptr(), reads.as_mut_ptr());
    let mut last = _mm_setzero_si128();
    for lane in lanes(mask) {
        let cell = first(lane);
        // SAFETY: as the caller says.
        unsafe {
            let (write, read) = (_mm_loadu_si128(writes.add(cell).cast()), _mm_loadu_si128(reads.add(cell).cast()));
            last = _mm_max_epu64(last, _mm_max_epu64(write, read));
        }
    }
    if _mm_cmpgt_epu64_mask(last, _mm_set1_epi64x(floor as i64)) != 0 {
        return false;
    }
    for lane in lanes(mask) {
        let cell = first(lane);
        // SAFETY: as above.
        unsafe {
            _mm_storeu_si128(writes.add(cell).cast(), _mm_set1_epi64x(of_lane(stamp, lane) as i64));
            _mm_storeu_si128(reads.add(cell).cast(), _mm_setzero_si128());
        }
    }
    true
}

impl Cx<'_> {
    /// What a plain access by all lanes leaves, which lies as a map says from `address` on, in one array. False: look closer;
    /// nothing was changed.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for.
    #[inline(always)]
    pub unsafe fn race_shared_map<const FORM: u8, const WRITE: bool>(
        &mut self,
        op: &Op,
        map: &Map,
        address: u64,
    ) -> bool {
        // SAFETY: passed on.
        unsafe {
            match FORM {
                WIDEST => self.map_widest::<WRITE>(op, map, address),
                _ => self.map_wide::<WRITE>(op, map, address),
            }
        }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn map_widest<const WRITE: bool>(&mut self, op: &Op, map: &Map, address: u64) -> bool {
        // SAFETY: passed on.
        unsafe { self.map_as::<WIDEST, WRITE>(op, map, address) }
    }

    #[inline(never)]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn map_wide<const WRITE: bool>(&mut self, op: &Op, map: &Map, address: u64) -> bool {
        // SAFETY: passed on.
        unsafe { self.map_as::<WIDE, WRITE>(op, map, address) }
    }

    /// # Safety
    /// As [`Cx::race_shared_map`].
    #[inline(always)]
    unsafe fn map_as<const FORM: u8, const WRITE: bool>(&mut self, op: &Op, map: &Map, address: u64) -> bool {
        let (stamp, floor) = self.shared_stamp(op);
        let end = address + 4 * u64::from(map.words);
        if !WRITE && self.joins_slowly(floor, address, end) {
            return false;
        }
        let shadow = &mut self.block.shared_shadow;
        if end > u64::from(shadow.bytes) || shadow.shift != 2 {
            return false;
        }
        shadow.note(stamp, WRITE);
        // SAFETY: passed on.
        unsafe { shadow.mapped::<FORM, WRITE, 0>(map, address, None, stamp, floor) }
    }
}

impl SharedShadow {
    /// What lanes leave in cells anywhere, one lane after the other; lanes that write have cells of their own.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for.
    #[inline(always)]
    unsafe fn scattered<const FORM: u8, const WRITE: bool>(
        &mut self,
        lay: &Lay,
        address: u64,
        mask: u32,
        stamp: u64,
        floor: u64,
    ) -> bool {
        let shift = self.shift;
        let each = (lay.bytes >> shift) as usize;
        let end = ((address + lay.rise + u64::from(lay.bytes)) >> shift) as usize;
        let check = WRITE || self.written > floor;
        let (writes, reads) = (&mut self.writes[..end], &mut self.reads[..end]);
        let first = |lane: usize| ((address + lay.offsets[lane & 31] as u64) >> shift) as usize;
        if WRITE && FORM != WIDEST {
            // SAFETY: the cells of all lanes of the lay lie before `end`.
            if unsafe { write_fresh(writes, reads, first, each, mask, stamp, floor) } {
                return true;
            }
        } else if WRITE && each == 2 {
            // SAFETY: the cells of all lanes of the lay lie before `end`; the caller's machine has AVX-512.
            if unsafe { write_fresh_pairs(writes, reads, first, mask, stamp, floor) } {
                return true;
            }
        }
        let mut bad = 0;
        for lane in lanes(if check { mask } else { 0 }) {
            for cell in first(lane)..first(lane) + each {
                let (write, read, mine) = (writes[cell], reads[cell], of_lane(stamp, lane));
                let other = |cell: u64| u64::from(cell > floor) * ((cell ^ mine) & THREAD_MASK);
                bad |= other(write);
                if WRITE {
                    bad |= other(read) | u64::from(read > floor) * (read & FLAG);
                }
            }
        }
        if bad != 0 {
            return false;
        }
        if !WRITE && each == 1 && mask == lay.lanes {
            // SAFETY: the cells of all places lie inside; the caller's machine has AVX-512.
            let done = unsafe {
                match FORM {
                    WIDEST => read_places(lay, reads, address >> shift, stamp, floor),
                    _ => read_places_wide(lay, reads, address >> shift, stamp, floor),
                }
            };
            if done {
                return true;
            }
        }
        let floor_clock = (floor >> CLOCK) as i64;
        for lane in lanes(mask) {
            let mine = of_lane(stamp, lane);
            for cell in first(lane)..first(lane) + each {
                if WRITE {
                    (writes[cell], reads[cell]) = (mine, 0);
                } else {
                    reads[cell] = join_read(reads[cell], mine, floor_clock);
                }
            }
        }
        true
    }
}
