//! The checks of atomics on words, from how these lie: what most kernels update atomically is written, and nobody reads or
//! writes it in any other way in between.

use std::sync::atomic::Ordering;

use super::shadow::{ALSO, FLAG, OTHER, THREAD, thread_of};
#[cfg(target_arch = "x86_64")]
use super::shadow::{CLOCK, THREAD_MASK};
#[cfg(target_arch = "x86_64")]
use super::shadow_runs::{join_read, of_lane};
use crate::exec::cx::{Cx, lanes, watch};
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::{WIDE, WIDEST};
use crate::exec::memory::access::{Reach, STRONG};
use crate::exec::memory::words::{Lie, Words};
use crate::exec::op::Op;
use crate::memory::all_bits;
#[cfg(target_arch = "x86_64")]
use crate::memory::set_bits;
use crate::memory::space::Window;
use crate::report::AccessKind;

impl Cx<'_> {
    /// Counts and checks an atomic on words of `BYTES`, as `watch` says.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for.
    #[inline(always)]
    pub unsafe fn check_update<const FORM: u8, const BYTES: u64>(&mut self, op: &Op, words: &Words<'_>, watch: u32) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as the caller says.
        unsafe {
            match FORM {
                WIDEST => return self.check_update_widest::<BYTES>(op, words, watch),
                WIDE => return self.check_update_wide::<BYTES>(op, words, watch),
                _ => {}
            }
        }
        self.check_update_base::<BYTES>(op, words, watch);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn check_update_widest<const BYTES: u64>(&mut self, op: &Op, words: &Words<'_>, watch: u32) {
        self.check_update_inner::<BYTES>(op, words, watch);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn check_update_wide<const BYTES: u64>(&mut self, op: &Op, words: &Words<'_>, watch: u32) {
        self.check_update_inner::<BYTES>(op, words, watch);
    }

    #[inline(never)]
    fn check_update_base<const BYTES: u64>(&mut self, op: &Op, words: &Words<'_>, watch: u32) {
        self.check_update_inner::<BYTES>(op, words, watch);
    }

    #[inline(always)]
    fn check_update_inner<const BYTES: u64>(&mut self, op: &Op, words: &Words<'_>, watch: u32) {
        let kind = AccessKind::Atomic;
        let reach = match words.window {
            Window::Shared => self.shared_reach(),
            _ => Reach::of(&self.grid.regions[words.region as usize]),
        };
        if watch & watch::COUNT != 0 {
            self.count_access::<BYTES>(op, words.window, &words.spread(BYTES), kind);
        }
        if watch & watch::INIT != 0 && !reach.all_written && !is_written::<BYTES>(&reach, words) {
            self.check_init::<BYTES>(op, &reach, &words.spread(BYTES), kind);
        }
        if watch & watch::RACE == 0 {
            return;
        }
        if words.window == Window::Shared {
            if !self.block.state.apart && !self.race_shared_words::<BYTES>(op, words) {
                self.race_shared::<BYTES>(op, &words.spread(BYTES), kind);
            }
            return;
        }
        // From now on all is watched, whatever the array was taken for.
        self.is_in_no_race(op, &reach, kind);
        let grid = self.grid;
        grid.races.update::<BYTES>(self, op, &reach, words);
    }

    /// Atomics on shared memory that nobody wrote plainly or read since all was in order. False: look closer; nothing was
    /// changed.
    #[inline(always)]
    fn race_shared_words<const BYTES: u64>(&mut self, op: &Op, words: &Words<'_>) -> bool {
        if op.e.0 & STRONG == 0 || !self.is_by(4, (words.high + BYTES) as u32) {
            return false;
        }
        let (stamp, floor) = self.shared_stamp(op);
        let shadow = &mut self.block.shared_shadow;
        shadow.settle(words.low, words.high + BYTES);
        shadow.note_atomic(stamp, floor, words.low, words.high + BYTES);
        let own = |lane: usize| stamp + ((lane as u64) << THREAD) | FLAG;
        let each = (BYTES / 4) as usize;
        let first = (words.low / 4) as usize;
        let last = (words.high / 4) as usize + each;
        let (writes, reads) = (&shadow.writes[..last], &shadow.reads[..last]);
        let clear = |cell: usize| !(writes[cell] > floor && writes[cell] & FLAG == 0 || reads[cell] > floor);
        let ordered = shadow.plain <= floor;
        match words.lie {
            Lie::One => {
                if !ordered && !(first..last).all(clear) {
                    return false;
                }
                let lane = 31 - words.mask.leading_zeros() as usize & 31;
                let other = words.mask.trailing_zeros() as usize & 31;
                let thread = u64::from(thread_of(own(other)));
                let also = if other == lane { 0 } else { thread << OTHER | ALSO };
                for cell in first..last {
                    shadow.put_update(cell, own(lane), also);
                }
            }
            Lie::Row => {
                if !ordered && !(first..last).all(clear) {
                    return false;
                }
                for index in 0..32 * each {
                    shadow.put_update(first + index, own(index / each), 0);
                }
            }
            Lie::Apart(offsets) => {
                let cell = |lane: usize| ((words.address as u32).wrapping_add(offsets[lane]) / 4) as usize;
                if !ordered && !lanes(words.mask).all(|lane| (0..each).all(|word| clear(cell(lane) + word))) {
                    return false;
                }
                // A length that no closure refers to stays known to the compiler: stores, not loops.
                let mut put = |lane: usize| {
                    for word in 0..const { BYTES as usize / 4 } {
                        let is_here = |other: usize| words.mask >> other & 1 != 0 && cell(other) == cell(lane);
                        shadow.put_lane(cell(lane) + word, own(lane), is_here);
                    }
                };
                if words.mask == u32::MAX {
                    for lane in 0..32 {
                        put(lane);
                    }
                } else {
                    for lane in lanes(words.mask) {
                        put(lane);
                    }
                }
            }
        }
        true
    }
}

/// Loads and stores of words anywhere in one array.
#[cfg(target_arch = "x86_64")]
impl Cx<'_> {
    /// Checks a weak load or store of words of 4 bytes. False: look closer; nothing was changed.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for, AVX2 at least.
    #[inline(always)]
    pub unsafe fn settles_words<const FORM: u8, const WRITE: bool>(&mut self, op: &Op, words: &Words<'_>) -> bool {
        let shared = words.window == Window::Shared;
        let reach = match words.window {
            Window::Shared => self.shared_reach(),
            _ => Reach::of(&self.grid.regions[words.region as usize]),
        };
        let kind = if WRITE { AccessKind::Write } else { AccessKind::Read };
        let init = self.watch & watch::INIT != 0 && !reach.all_written;
        if init && !WRITE && !is_written::<4>(&reach, words) {
            return false;
        }
        if shared && self.watch & watch::RACE != 0 && !self.block.state.apart {
            // SAFETY: passed on.
            let apart = !WRITE || unsafe { crate::count::are_distinct::<FORM>(words) };
            if !apart || !self.race_shared_apart::<WRITE>(op, words) {
                return false;
            }
        }
        let first = words.low - reach.base;
        if init && WRITE && words.falling {
            if !all_bits(reach.init_bits(), first, 128) {
                set_bits(reach.init_bits(), first, 128);
            }
        } else if init && WRITE {
            self.check_init::<4>(op, &reach, &words.spread(4), kind);
        }
        if !shared && self.watch & watch::RACE != 0 && !self.is_in_no_race(op, &reach, kind) {
            let grid = self.grid;
            if words.falling {
                grid.races.access_falling::<4>(self, op, &reach, words, kind);
            } else {
                grid.races.access::<4>(self, op, &reach, &words.spread(4), kind);
            }
        }
        true
    }

    /// What a plain access leaves in shared memory where it meets nothing unordered; lanes that write have a word each. False:
    /// look closer; nothing was changed.
    #[inline(always)]
    fn race_shared_apart<const WRITE: bool>(&mut self, op: &Op, words: &Words<'_>) -> bool {
        if !self.is_by(4, (words.high + 4) as u32) {
            return false;
        }
        let (stamp, floor) = self.shared_stamp(op);
        if !WRITE && self.joins_slowly(floor, words.low, words.high + 4) {
            return false;
        }
        let shadow = &mut self.block.shared_shadow;
        shadow.settle(words.low, words.high + 4);
        shadow.note(stamp, WRITE);
        let last = words.high as usize / 4;
        let (writes, reads) = (&mut shadow.writes[..=last], &mut shadow.reads[..=last]);
        let cell = |lane: usize| words.at(lane, 4) as usize / 4;
        let mut bad = 0;
        for lane in lanes(words.mask) {
            let (write, read, mine) = (writes[cell(lane)], reads[cell(lane)], of_lane(stamp, lane));
            let other = |cell: u64| u64::from(cell > floor) * ((cell ^ mine) & THREAD_MASK);
            bad |= other(write);
            if WRITE {
                bad |= other(read) | u64::from(read > floor) * (read & FLAG);
            }
        }
        if bad != 0 {
            return false;
        }
        for lane in lanes(words.mask) {
            let mine = of_lane(stamp, lane);
            if WRITE {
                writes[cell(lane)] = mine;
                reads[cell(lane)] = 0;
            } else {
                reads[cell(lane)] = join_read(reads[cell(lane)], mine, (floor >> CLOCK) as i64);
            }
        }
        true
    }
}

/// Whether all the words have values.
#[inline(always)]
fn is_written<const BYTES: u64>(reach: &Reach, words: &Words<'_>) -> bool {
    let bits = reach.init_bits();
    let first = words.low - reach.base;
    match words.lie {
        Lie::One => all_bits(bits, first, BYTES),
        Lie::Row => all_bits(bits, first, 32 * BYTES),
        Lie::Apart(_) => {
            // Aligned accesses stay inside one word of bits.
            let want = u64::MAX >> (64 - BYTES);
            let mut missing = 0;
            for lane in 0..32 {
                let bit = words.at(lane, BYTES) - reach.base;
                missing |= !(bits[(bit / 64) as usize].load(Ordering::Relaxed) >> (bit % 64)) & want;
            }
            missing == 0
        }
    }
}
