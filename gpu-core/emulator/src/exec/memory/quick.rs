//! The common access: all 32 lanes in a few runs, or the first ones in one, inside one array of global or shared memory. What it finds fits
//! into two registers; everything else, and every fault, is left to [`Cx::prepare`].

use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

use super::access::{AddressWord, Reach, Runs, prefetch};
use super::address::{first_lanes, runs};
use super::pattern::{Followed, Pattern};
use super::transfer::window_from;
use crate::exec::cx::{Cx, watch};
#[cfg(not(target_arch = "x86_64"))]
use crate::exec::lanes::BASE;
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::{WIDE, WIDEST};
use crate::exec::op::Op;
use crate::memory::space::{WINDOW, Window, window_base, window_of};
use crate::report::AccessKind;

/// How the lanes of an access lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Shape {
    /// One behind the other.
    Dense,
    /// All at one place.
    Same,
    /// Only the first lanes of the warp run; they lie one behind the other.
    First,
    /// As the runs say.
    Runs,
    /// None of these, or wrong: nothing was checked or counted yet.
    Other,
}

/// A common access, checked and counted.
#[derive(Clone, Copy)]
pub struct Quick {
    /// The first lane's place; with [`Shape::Runs`] the place of address 0, which need not be one of memory.
    pub pointer: *mut u8,
    pub shape: Shape,
}

/// What is no common access.
const OTHER: Quick = Quick { pointer: std::ptr::null_mut(), shape: Shape::Other };

/// Bytes ahead of a row of a large array that are asked for: what the next warps will access.
const AHEAD: usize = 512;
/// Rows that lie further from each other than this are asked for one by one.
const FAR: u64 = 2048;

impl Cx<'_> {
    /// Finds, checks and counts a weak load or store of `BYTES` a lane. `found` is set with [`Shape::Runs`].
    ///
    /// # Safety
    /// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for, and on x86-64 that must not be [`crate::exec::lanes::BASE`]
    /// ([`crate::exec::lanes::is_spare`]).
    #[inline(always)]
    pub unsafe fn quick<const FORM: u8, A: AddressWord, const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        found: &mut MaybeUninit<Runs>,
    ) -> Quick {
        // SAFETY: passed on; the wide forms are chosen only where the machine has the features.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if self.widest {
                self.quick_widest::<A, BYTES, WRITE>(op, found)
            } else {
                self.quick_wide::<A, BYTES, WRITE>(op, found)
            }
            #[cfg(not(target_arch = "x86_64"))]
            self.quick_base::<A, BYTES, WRITE>(op, found)
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(never)]
    unsafe fn quick_base<A: AddressWord, const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        found: &mut MaybeUninit<Runs>,
    ) -> Quick {
        // SAFETY: passed on.
        unsafe { self.quick_inner::<BASE, A, BYTES, WRITE>(op, found) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn quick_wide<A: AddressWord, const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        found: &mut MaybeUninit<Runs>,
    ) -> Quick {
        // SAFETY: passed on.
        unsafe { self.quick_inner::<WIDE, A, BYTES, WRITE>(op, found) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn quick_widest<A: AddressWord, const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        found: &mut MaybeUninit<Runs>,
    ) -> Quick {
        // SAFETY: passed on.
        unsafe { self.quick_inner::<WIDEST, A, BYTES, WRITE>(op, found) }
    }

    /// # Safety
    /// As [`Cx::quick`]; the machine must have what `FORM` is for.
    #[inline(always)]
    unsafe fn quick_inner<const FORM: u8, A: AddressWord, const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        found: &mut MaybeUninit<Runs>,
    ) -> Quick {
        // SAFETY: passed on; patterns live as long as the launch.
        unsafe {
            if let Some(followed) = self.follow::<FORM, A>(op, BYTES) {
                let quick = self.accept::<FORM, BYTES, WRITE>(op, &followed);
                if quick.shape == Shape::Runs {
                    found.write((*followed.pattern).runs);
                }
                return quick;
            }
        }
        if !self.grid.options.fast.runs {
            return OTHER;
        }
        // SAFETY: passed on.
        let runs = unsafe {
            match self.mask {
                u32::MAX => runs::<FORM, A, BYTES>(self, op),
                _ => first_lanes::<A, BYTES>(self, op),
            }
        };
        let Some(mut runs) = runs else { return OTHER };
        let mut window = window_from(op.e.0);
        if window == Window::Generic {
            window = window_of(runs.low);
            if (runs.low ^ runs.high) >= WINDOW && window_of(runs.high) != window {
                return OTHER;
            }
            runs.rebase(window_base(window));
        }
        let step = if runs.step == BYTES { 0 } else { runs.step };
        if (runs.starts[0] | runs.starts[1] | runs.starts[2] | runs.starts[3] | step) & (BYTES - 1) != 0 {
            return OTHER;
        }
        // Runs end far below the largest address.
        let end = runs.high + BYTES;
        let cell = op.site as usize & 63;
        let pointer = match window {
            Window::Global | Window::Const => {
                let Some(region) = self.region(cell, runs.low) else { return OTHER };
                if end > region.end || region.freed || (WRITE && region.read_only) {
                    return OTHER;
                }
                region.pointer.wrapping_sub(region.base as usize)
            }
            // Addresses that `mapa` made lie beyond all arrays.
            Window::Shared if self.shared_array(cell, runs.low, end) => self.block.shared_pointer(),
            _ => return OTHER,
        };
        self.worker.ahead = 0;
        if step > 32 {
            self.ask_ahead(cell, runs.low, pointer.wrapping_add(runs.low as usize), step);
        }
        let window = if window == Window::Shared { window } else { Window::Global };
        let kind = if WRITE { AccessKind::Write } else { AccessKind::Read };
        self.remember(op, BYTES, window, &runs, kind);
        if self.watch != 0 {
            let region = self.worker.hit[cell];
            // SAFETY: passed on.
            unsafe { self.audit_form::<FORM, BYTES, WRITE>(op, window, region, &runs, 0, self.watch) };
        }
        if runs.count == 1 && step == 0 {
            let pointer = pointer.wrapping_add(runs.low as usize);
            if runs.step == 0 {
                return Quick { pointer, shape: Shape::Same };
            }
            if runs.width < 32 {
                return Quick { pointer, shape: Shape::First };
            }
            if window != Window::Shared {
                prefetch(pointer.wrapping_add(AHEAD));
                prefetch(pointer.wrapping_add(AHEAD + 64));
            }
            return Quick { pointer, shape: Shape::Dense };
        }
        found.write(runs);
        Quick { pointer, shape: Shape::Runs }
    }

    /// Every lane waits for memory: asks for this access, and for the next one if it is as far on as the last was.
    #[inline(always)]
    fn ask_ahead(&mut self, cell: usize, low: u64, pointer: *mut u8, step: u64) {
        let ahead = low.wrapping_sub(std::mem::replace(&mut self.worker.last_low[cell], low));
        self.worker.ahead = ahead;
        let next = pointer.wrapping_add(ahead as usize);
        for lane in 0..32 {
            prefetch(pointer.wrapping_add(lane * step as usize));
            prefetch(next.wrapping_add(lane * step as usize));
        }
    }

    /// Rows of a tile, or steps of a loop over the grid: the next one lies as far on as this one does from the last.
    #[inline(always)]
    pub fn ask_for_next_row<const BYTES: u64>(&mut self, op: &Op, followed: &Followed) {
        let last = std::mem::replace(&mut self.worker.last_low[op.site as usize & 63], followed.first);
        let ahead = followed.first.wrapping_sub(last);
        self.worker.ahead = if ahead.wrapping_add(FAR) > 2 * FAR { ahead } else { 0 };
        if self.worker.ahead != 0 {
            for line in 0..(BYTES as usize / 2).max(1) {
                prefetch(followed.pointer.wrapping_add(ahead as usize).wrapping_add(64 * line));
            }
        }
    }

    /// Counts and checks an access that follows a pattern.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for.
    #[inline(always)]
    pub unsafe fn accept<const FORM: u8, const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        followed: &Followed,
    ) -> Quick {
        let pointer = followed.pointer;
        // SAFETY: patterns live as long as the launch.
        let pattern = unsafe { &*followed.pattern };
        match pattern.shape {
            Shape::Dense if !followed.shared => {
                self.ask_for_next_row::<BYTES>(op, followed);
                for line in 0..(BYTES as usize / 2).max(2) {
                    prefetch(pointer.wrapping_add(AHEAD.max(32 * BYTES as usize) + 64 * line));
                }
            }
            Shape::Runs if pattern.runs.step > 32 => {
                self.ask_ahead(op.site as usize & 63, followed.first, pointer, pattern.runs.step);
            }
            _ => {}
        }
        if self.watch != 0 {
            let mut left = self.count_followed(followed);
            let quiet = !followed.shared || self.is_quiet_at::<BYTES, WRITE>(followed);
            if left & (watch::RACE | watch::TRACE) == watch::RACE {
                if followed.shared {
                    // SAFETY: passed on.
                    if self.block.state.apart || unsafe { self.settles_row::<FORM, BYTES, WRITE>(op, followed) } {
                        left &= !watch::RACE;
                    }
                    if self.block.state.written.load(Ordering::Relaxed) {
                        left &= !watch::INIT;
                    }
                } else if !(WRITE && self.block.state.guarded) && self.needs_no_check::<WRITE>(op, followed) {
                    left &= !(watch::RACE | watch::INIT);
                }
            }
            if left != 0 || !quiet {
                // SAFETY: passed on.
                unsafe { self.audit_followed::<FORM, BYTES, WRITE>(op, followed, left) };
            }
        }
        Quick { pointer, shape: pattern.shape }
    }

    /// Whether nothing asynchronous is where an access to shared memory goes.
    #[inline(always)]
    fn is_quiet_at<const BYTES: u64, const WRITE: bool>(&self, followed: &Followed) -> bool {
        // SAFETY: patterns live as long as the launch.
        let (base, runs) = (u64::from(followed.first as u32), unsafe { &(*followed.pattern).runs });
        self.is_quiet(base.wrapping_add(runs.low), base.wrapping_add(runs.high) + BYTES, WRITE)
    }

    /// Counts and checks an access in runs, which lie `by` bytes on, as `watch` says, in the form for this machine.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "inlined; a struct would be built for each access")]
    pub(crate) unsafe fn audit_form<const FORM: u8, const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        window: Window,
        region: u32,
        runs: &Runs,
        by: u64,
        watch: u32,
    ) {
        // SAFETY: as the caller says.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            match FORM {
                WIDEST => self.audit_widest::<BYTES, WRITE>(op, window, region, runs, by, watch),
                _ => self.audit_wide::<BYTES, WRITE>(op, window, region, runs, by, watch),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.audit_base::<BYTES, WRITE>(op, window, region, runs, by, watch);
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "registers; a struct would be built for each access")]
    fn audit_base<const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        window: Window,
        region: u32,
        runs: &Runs,
        by: u64,
        watch: u32,
    ) {
        self.audit_found::<BYTES, WRITE>(op, window, region, runs, by, watch);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "registers; a struct would be built for each access")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn audit_wide<const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        window: Window,
        region: u32,
        runs: &Runs,
        by: u64,
        watch: u32,
    ) {
        self.audit_found::<BYTES, WRITE>(op, window, region, runs, by, watch);
    }

    /// Shadows are rows of 64-bit words, of which AVX-512 takes twice as many at once.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "registers; a struct would be built for each access")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn audit_widest<const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        window: Window,
        region: u32,
        runs: &Runs,
        by: u64,
        watch: u32,
    ) {
        self.audit_found::<BYTES, WRITE>(op, window, region, runs, by, watch);
    }

    /// Checks what most accesses to shared memory are in few steps: a row of words, or one word for all. False:
    /// nothing was done.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for.
    #[inline(always)]
    unsafe fn settles_row<const FORM: u8, const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        followed: &Followed,
    ) -> bool {
        if !self.grid.options.fast.shadow_rows {
            return false;
        }
        // SAFETY: patterns live as long as the launch.
        let pattern = unsafe { &*followed.pattern };
        let first = followed.first as u32;
        match pattern.shape {
            Shape::Same if !WRITE && BYTES <= 4 => self.race_shared_word(op, first, BYTES),
            #[cfg(target_arch = "x86_64")]
            Shape::Dense | Shape::First if FORM == WIDEST && self.block.shared_shadow.cells_in(BYTES) == 1 => {
                // SAFETY: as the caller says; a pattern has no more than 32 lanes.
                unsafe { self.race_shared_row::<WRITE, 1>(op, first, pattern.runs.width, BYTES) }
            }
            // SAFETY: passed on.
            _ => unsafe { self.settles_rows::<FORM, BYTES, WRITE>(op, pattern, first) },
        }
    }

    /// The rest of it, apart, so that the common access stays short.
    ///
    /// # Safety
    /// The machine must have what `FORM` is for.
    #[inline(never)]
    unsafe fn settles_rows<const FORM: u8, const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        pattern: &Pattern,
        first: u32,
    ) -> bool {
        let runs = &pattern.runs;
        match pattern.shape {
            // SAFETY: as the caller says; a pattern has no more than 32 lanes, and runs of more than one group 8 each.
            #[cfg(target_arch = "x86_64")]
            Shape::Dense | Shape::First if FORM == WIDEST => unsafe {
                match self.block.shared_shadow.cells_in(BYTES) {
                    1 => self.race_shared_row::<WRITE, 1>(op, first, runs.width, BYTES),
                    2 => self.race_shared_row::<WRITE, 2>(op, first, runs.width, BYTES),
                    4 => self.race_shared_row::<WRITE, 4>(op, first, runs.width, BYTES),
                    _ => false,
                }
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Shape::Runs if FORM == WIDEST && runs.step == BYTES => unsafe {
                match self.block.shared_shadow.cells_in(BYTES) {
                    1 => self.race_shared_rows::<WRITE, 1>(op, runs, first, BYTES),
                    2 => self.race_shared_rows::<WRITE, 2>(op, runs, first, BYTES),
                    4 => self.race_shared_rows::<WRITE, 4>(op, runs, first, BYTES),
                    _ => false,
                }
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Shape::Dense | Shape::First if FORM == WIDE => unsafe { self.row_wide::<BYTES, WRITE>(op, runs, first) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Shape::Runs if FORM == WIDE && (runs.step == BYTES || runs.step == 0 && !WRITE) => unsafe {
                self.row_wide::<BYTES, WRITE>(op, runs, first)
            },
            #[cfg(not(target_arch = "x86_64"))]
            Shape::Dense => self.row_base::<BYTES, WRITE>(op, runs, first),
            Shape::Runs if !WRITE && BYTES <= 4 && runs.count == 1 => {
                self.race_shared_column(op, first, runs.step, BYTES)
            }
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Shape::Runs if pattern.map.words > 0 => unsafe {
                self.race_shared_map::<FORM, WRITE>(op, &pattern.map, u64::from(first).wrapping_add(runs.low))
            },
            _ => false,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(never)]
    fn row_base<const BYTES: u64, const WRITE: bool>(&mut self, op: &Op, runs: &Runs, first: u32) -> bool {
        let kind = if WRITE { AccessKind::Write } else { AccessKind::Read };
        self.race_shared_runs::<BYTES>(op, runs, first.into(), kind)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn row_wide<const BYTES: u64, const WRITE: bool>(&mut self, op: &Op, runs: &Runs, first: u32) -> bool {
        let kind = if WRITE { AccessKind::Write } else { AccessKind::Read };
        self.race_shared_runs::<BYTES>(op, runs, first.into(), kind)
    }

    /// Counts and checks as `watch` says.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "inlined; a struct would be built for each access")]
    pub(crate) fn audit_found<const BYTES: u64, const WRITE: bool>(
        &mut self,
        op: &Op,
        window: Window,
        region: u32,
        runs: &Runs,
        by: u64,
        watch: u32,
    ) {
        let reach = match window {
            Window::Shared => self.shared_reach(),
            _ => Reach::of(&self.grid.regions[region as usize]),
        };
        let kind = if WRITE { AccessKind::Write } else { AccessKind::Read };
        self.audit_runs::<BYTES>(op, &reach, runs, by, kind, watch);
    }
}
