//! Rows of lanes that lie a step apart, several to a sector, and rows from their end: what lanes have of each sector is told from
//! the step alone. As [`super::groups`], with which this agrees in everything that is found.

use super::groups::Group;
use super::{At, Conflicts, GlobalRaces, report};
use crate::check::race::pages::*;
use crate::check::race::rules::{Effect, Mine, Piece};
use crate::exec::cx::Cx;
use crate::exec::lanes::BASE;
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::{WIDE, WIDEST};
use crate::exec::memory::access::Reach;
use crate::exec::memory::words::Words;
use crate::exec::op::Op;
use crate::report::AccessKind;

/// Steps of so many elements have a table.
const STEPS: usize = 8;
/// In a table, an element that is no lane's.
const NOBODY: u8 = 0xff;
/// Elements of a sector, in bytes: none of a lane lies further in front of what a sector begins with.
const BEFORE: usize = 32;
const TABLE: usize = BEFORE + 32 * STEPS + 32;

/// For each step, counted in elements, the lane that each element from the first one on belongs to.
static LANES: [[u8; TABLE]; STEPS] = {
    let mut all = [[NOBODY; TABLE]; STEPS];
    let mut step = 1;
    while step < STEPS {
        let mut lane = 0;
        while lane < 32 {
            all[step][BEFORE + lane * step] = lane as u8;
            lane += 1;
        }
        step += 1;
    }
    all
};

/// The lanes of a stepped access that lie in one sector.
#[derive(Clone, Copy)]
struct Part {
    number: u64,
    /// The first of them, and its first byte in the sector.
    lane: u32,
    byte: u32,
    count: u32,
    mask: u32,
}

impl Part {
    #[inline(never)]
    fn group(&self, bytes: u64, step: u64) -> Group {
        let mut group = Group::new(bytes);
        for index in 0..u64::from(self.count) {
            let first = self.number * SECTOR + u64::from(self.byte) + index * step;
            group.add(self.lane as usize + index as usize, first);
        }
        group
    }
}

impl GlobalRaces {
    /// Checks plain reads or writes of `BYTES`, a power of two, by all lanes, from `first` on `step` apart: a multiple of `BYTES`,
    /// and less than a sector.
    #[inline(always)]
    pub(crate) fn access_stepped<const BYTES: u64>(
        &self,
        cx: &Cx<'_>,
        at: &mut At<'_>,
        first: u64,
        step: u64,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        if step == 0 || !self.fast.sector_steps {
            let first_of = |lane: usize| first + lane as u64 * step;
            return self.access_grouped::<BYTES>(cx, at, u32::MAX, first_of, mine, conflicts);
        }
        // SAFETY: the machine has what the form is for.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            if cx.widest {
                return self.stepped_widest::<BYTES>(cx, at, first, step, mine, conflicts);
            }
            if crate::exec::lanes::wide() {
                return self.stepped_wide::<BYTES>(cx, at, first, step, mine, conflicts);
            }
        }
        self.stepped_base::<BYTES>(cx, at, first, step, mine, conflicts);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn stepped_widest<const BYTES: u64>(
        &self,
        cx: &Cx<'_>,
        at: &mut At<'_>,
        first: u64,
        step: u64,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        self.stepped::<WIDEST, BYTES>(cx, at, first, step, mine, conflicts);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn stepped_wide<const BYTES: u64>(
        &self,
        cx: &Cx<'_>,
        at: &mut At<'_>,
        first: u64,
        step: u64,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        self.stepped::<WIDE, BYTES>(cx, at, first, step, mine, conflicts);
    }

    #[inline(never)]
    fn stepped_base<const BYTES: u64>(
        &self,
        cx: &Cx<'_>,
        at: &mut At<'_>,
        first: u64,
        step: u64,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        self.stepped::<BASE, BYTES>(cx, at, first, step, mine, conflicts);
    }

    #[inline(always)]
    fn stepped<const FORM: u8, const BYTES: u64>(
        &self,
        cx: &Cx<'_>,
        at: &mut At<'_>,
        first: u64,
        step: u64,
        mine: &Mine,
        conflicts: &mut Conflicts,
    ) {
        let width = step as u32;
        let unit = width.is_power_of_two().then_some(width.trailing_zeros() as u8);
        // The bytes of lanes of which the first one is at the beginning.
        let own = (1u64 << BYTES) as u32 - 1;
        let all = (0..SECTOR as u32).step_by(step as usize).fold(0, |all, byte| all | own << byte);
        // To divide less than 32 by it.
        let shares = 0xffff / width + 1;
        let mut lane = 0;
        while lane < 32 {
            let here = first + u64::from(lane * width);
            let (number, byte) = (here / SECTOR, (here % SECTOR) as u32);
            let count = ((SECTOR as u32 - 1 - byte) * shares >> 16) + 1;
            let count = count.min(32 - lane);
            let end = u64::from(byte + count * width);
            let mask = (u64::from(all << byte) & ((1 << end) - 1)) as u32;
            let part = Part { number, lane, byte, count, mask };
            lane += count;
            let Some(page) = at.page(number) else { return };
            let unit = if count == 1 { Some(mine.grain) } else { unit };
            let Some(unit) = unit else {
                if mine.effect != Effect::Write || !self.write_cells::<FORM, BYTES>(at, page, &part, width, mine) {
                    self.settle_group(cx, at, &part.group(BYTES, step), mine, conflicts);
                }
                continue;
            };
            let thread = thread_of(mine.stamp) + u64::from(part.lane);
            let stamp = with_thread(mine.stamp, thread.wrapping_sub(u64::from(byte >> unit)));
            let piece = Piece { mask, unit, stamp, single: count == 1, many: false };
            if self.sum_up(cx, at, page, number, piece, mine, conflicts) == Some(false)
                // What has all of it anew may leave a summary in place of cells.
                && (mine.effect != Effect::Write
                    || mask == u32::MAX
                    || !self.write_cells::<FORM, BYTES>(at, page, &part, width, mine))
            {
                self.settle_summed(cx, page, &piece, &part.group(BYTES, step), mine, conflicts);
            }
        }
    }

    /// Writes of words or bytes into the cells of a sector, where nobody else has touched these but before. False: settle them;
    /// nothing that matters was changed.
    #[inline(always)]
    fn write_cells<const FORM: u8, const BYTES: u64>(
        &self,
        at: &mut At<'_>,
        page: Page<'_>,
        part: &Part,
        step: u32,
        mine: &Mine,
    ) -> bool {
        if const { BYTES != 4 && BYTES != 1 } || (step / BYTES as u32) >= STEPS as u32 {
            return false;
        }
        let entry = page.entry(part.number);
        at.lock();
        if !entry.is_of(self.pages.generation) {
            entry.start(self.pages.generation, Half::NONE, Half::NONE);
        }
        let (mut write, read) = (entry.write(), entry.read());
        if read.is_cells() || read.mask & part.mask != 0 || entry.others().mask != 0 {
            return false;
        }
        let from = (part.lane * step) as i32 - part.byte as i32;
        let elements = (BEFORE as i32 + from / BYTES as i32) as usize;
        let lanes = &LANES[(step / BYTES as u32) as usize][elements..];
        if write.mask == 0 {
            entry.set_write(match BYTES {
                4 => self.pages.new_words(page, fresh(lanes, mine)),
                _ => self.pages.new_bytes(page, fresh(lanes, mine)),
            });
            return true;
        }
        let shift = if BYTES == 4 { 2 } else { 0 };
        if !write.is_cells() && Pages::shift_of(write, if BYTES == 4 { part.mask } else { 1 }) == shift {
            // Fields of structures, and both of every two elements: one instruction after the other.
            write = self.pages.in_cells(page, write, shift);
            entry.set_write(write);
        }
        // SAFETY: locked, or this is the only worker.
        let cells = unsafe { page.cells(self.pages.generation) };
        match BYTES {
            4 => cells.words_of(write).is_some_and(|words| put::<FORM, 8>(words, lanes, mine)),
            _ => cells.bytes_of(write).is_some_and(|bytes| put::<FORM, 32>(bytes, lanes, mine)),
        }
    }

    /// Checks plain reads or writes of `BYTES` by all lanes, which lie side by side in falling order.
    #[inline(never)]
    pub fn access_falling<const BYTES: u64>(
        &self,
        cx: &mut Cx<'_>,
        op: &Op,
        reach: &Reach,
        words: &Words<'_>,
        kind: AccessKind,
    ) {
        let Some(mine) = self.mine::<BYTES>(cx, op, reach, kind, false) else { return };
        let mut conflicts = Conflicts::new();
        if self.follows_updates(&mine) {
            self.follow_updates::<BYTES>(cx, reach, &words.spread(BYTES), &mine, &mut conflicts);
        }
        let mut at = self.at(reach);
        let first = words.low - reach.base;
        let (end, last) = (first + 32 * BYTES, thread_of(mine.stamp) + 31);
        let unit = falling(mine.grain);
        let mut number = first / SECTOR;
        at.pages.prefetch(at.table, number.wrapping_sub(super::AHEAD));
        at.pages.prefetch(at.table, number.wrapping_sub(super::AHEAD - 2));
        while number * SECTOR < end {
            let Some(page) = at.page(number) else { break };
            // Threads count from the first byte of the sector, also where the row begins behind it.
            let passed = (number * SECTOR).wrapping_sub(first) as i64 >> mine.grain;
            let stamp = with_thread(mine.stamp, last.wrapping_sub(passed as u64));
            let piece = Piece { mask: super::bytes_of(number, first, end), unit, stamp, single: false, many: false };
            self.piece(cx, &mut at, page, number, piece, &mine, &mut conflicts);
            number += 1;
        }
        drop(at);
        if !conflicts.is_empty() {
            report::<BYTES>(cx, op, &words.spread(BYTES), kind, &mine, conflicts);
        }
    }
}

/// What a lane leaves, and all ones where there is one.
#[inline(always)]
fn stamp(lane: u8, mine: &Mine) -> (u64, u64) {
    (mine.stamp.wrapping_add(u64::from(lane) << THREAD) | WRITTEN, u64::from(lane == NOBODY).wrapping_sub(1))
}

/// The cells of lanes, where nobody has touched any.
#[inline(always)]
fn fresh<const N: usize>(lanes: &[u8], mine: &Mine) -> [u64; N] {
    let lanes: &[u8; N] = lanes.first_chunk().expect("a table ends behind the last sector");
    let mut cells = [0; N];
    for index in 0..N {
        let (stamp, here) = stamp(lanes[index], mine);
        cells[index] = stamp & here;
    }
    cells
}

/// Writes the cells of lanes, unless somebody else has touched one but before. False: nothing was changed.
#[inline(always)]
fn put<const FORM: u8, const N: usize>(cells: &mut [u64; N], lanes: &[u8], mine: &Mine) -> bool {
    let lanes: &[u8; N] = lanes.first_chunk().expect("a table ends behind the last sector");
    #[cfg(target_arch = "x86_64")]
    if FORM == WIDE {
        // SAFETY: the caller's machine has AVX2 in this form.
        return unsafe { put_wide(cells, lanes, mine) };
    }
    let (mut new, mut bad) = ([0; N], 0);
    let (floor, block) = (i64::from(mine.floor), mine.block << BLOCK);
    // By signs, all ones where it holds: what compares for equality is not made a vector of.
    let is_any = |bits: u64| ((0 - (bits >> 1 | bits & 1) as i64) >> 63) as u64;
    for index in 0..N {
        let (stamp, here) = stamp(lanes[index], mine);
        let old = cells[index];
        let behind = ((floor - i64::from(clock_of(old))) >> 63) as u64;
        let other = is_any((old ^ stamp) & THREADS << THREAD);
        let foreign = is_any((old ^ block) >> BLOCK);
        bad |= here & is_any(old) & (foreign | behind & other);
        new[index] = stamp & here | old & !here;
    }
    if bad == 0 {
        *cells = new;
    }
    bad == 0
}

/// The same four cells at a time. Of the loop above compilers make one lane after the other, with AVX2.
///
/// # Safety
/// The machine must have AVX2; `N` must be a multiple of 4.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn put_wide<const N: usize>(cells: &mut [u64; N], lanes: &[u8; N], mine: &Mine) -> bool {
    use std::arch::x86_64::*;
    let all = |value: u64| _mm256_set1_epi64x(value as i64);
    let (own, thread, zero) = (all(mine.stamp | WRITTEN), all(THREADS << THREAD), _mm256_setzero_si256());
    let (floor, clocks) = (all(mine.floor.into()), all(CLOCKS.into()));
    let (mut new, mut bad) = ([zero; N], zero);
    for part in 0..N / 4 {
        // SAFETY: four of each.
        let (lane, old) = unsafe {
            let lane = lanes.as_ptr().add(4 * part).cast::<i32>().read_unaligned();
            (_mm256_cvtepi8_epi64(_mm_cvtsi32_si128(lane)), _mm256_loadu_si256(cells.as_ptr().add(4 * part).cast()))
        };
        // A lane has no sign, what is nobody's has one.
        let nobody = _mm256_cmpgt_epi64(zero, lane);
        let stamp = _mm256_add_epi64(own, _mm256_slli_epi64::<{ THREAD as i32 }>(lane));
        let apart = _mm256_xor_si256(old, stamp);
        let clock = _mm256_and_si256(_mm256_srli_epi64::<{ CLOCK as i32 }>(old), clocks);
        let late = _mm256_cmpgt_epi64(clock, floor);
        let other = _mm256_and_si256(_mm256_and_si256(apart, thread), late);
        let odd = _mm256_or_si256(_mm256_srli_epi64::<{ BLOCK as i32 }>(apart), other);
        let free = _mm256_or_si256(nobody, _mm256_cmpeq_epi64(old, zero));
        bad = _mm256_or_si256(bad, _mm256_andnot_si256(free, odd));
        new[part] = _mm256_blendv_epi8(stamp, old, nobody);
    }
    if _mm256_testz_si256(bad, bad) == 0 {
        return false;
    }
    for (part, new) in new[..N / 4].iter().enumerate() {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(cells.as_mut_ptr().add(4 * part).cast(), *new) };
    }
    true
}
