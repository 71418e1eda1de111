//! What every memory access goes through when anything beyond bounds is asked for.

use std::sync::atomic::Ordering;

use crate::check::async_copy::copies::NEAR;
use crate::check::repeats::Told;
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::fault::{Detail, text_of};
use crate::exec::memory::access::{Addresses, Reach, Runs};
use crate::exec::op::Op;
use crate::memory::space::Window;
use crate::memory::{all_bits, set_bits, set_bits_alone};
use crate::report::{AccessKind, AllocationRef, FaultKind, Space};

impl Cx<'_> {
    /// Counts, traces and checks one access whose bounds are known to hold.
    #[inline(always)]
    pub fn audit<const BYTES: u64>(&mut self, op: &Op, reach: &Reach, at: &Addresses, kind: AccessKind) {
        if self.watch & watch::COUNT != 0 && !self.worker.quiet {
            self.count_access::<BYTES>(op, reach.window, at, kind);
        }
        if self.watch & watch::INIT != 0 && !reach.all_written {
            self.check_init::<BYTES>(op, reach, at, kind);
        }
        if self.watch & watch::RACE != 0 {
            match reach.window {
                Window::Shared if self.block.state.apart => {}
                Window::Shared => self.race_shared::<BYTES>(op, at, kind),
                Window::Global => self.race_global::<BYTES>(op, reach, at, kind),
                _ => {}
            }
        }
        if self.block.state.guarded {
            match reach.window {
                Window::Shared => self.check_guarded(op, at, BYTES, kind),
                Window::Global => self.check_outgoing(at, BYTES, kind),
                _ => {}
            }
        }
        if self.watch & (watch::TRACE | watch::HEAP) != 0 {
            if self.is_on_heap(reach, at.low, at.high) {
                self.check_heap(at, BYTES, kind);
            }
            if self.watch & watch::TRACE != 0 {
                self.trace_access(reach.window, at, BYTES as u32, kind, at.low);
            }
        }
    }

    /// Whether an access from `low` to `high` is one of memory from `malloc`, if that is watched.
    #[inline(always)]
    fn is_on_heap(&self, reach: &Reach, low: u64, high: u64) -> bool {
        let heap = &self.grid.watched_heap;
        self.watch & watch::HEAP != 0 && reach.window == Window::Global && high >= heap.start && low < heap.end
    }

    /// Memory from `malloc` of device code is one allocation to the host: its pieces have bounds of their own.
    #[cold]
    fn check_heap(&mut self, at: &Addresses, bytes: u64, kind: AccessKind) {
        let mut wrong = None;
        {
            let heap = self.grid.heap.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            for lane in lanes(at.mask) {
                let address = at.at[lane];
                let piece = heap.piece(address);
                if piece.is_some_and(|(base, size)| address.saturating_add(bytes) <= base + size) {
                    continue;
                }
                if piece.is_some() || heap.is_free(address) {
                    wrong = Some((lane, piece));
                    break;
                }
            }
        }
        let Some((lane, piece)) = wrong else { return };
        let (address, who, verb) = (at.at[lane], text_of(&self.thread(lane)), crate::exec::memory::access::verb(kind));
        let (fault, message, allocation) = match piece {
            Some((base, size)) => (
                FaultKind::OutOfBounds,
                format!("{who} {verb} {bytes} bytes at byte {} of {size} that malloc gave", address - base),
                Some(AllocationRef { name: "malloc".to_owned(), base, bytes: size, offset: (address - base) as i64 }),
            ),
            None => (
                FaultKind::UseAfterFree,
                format!(
                    "{who} {verb} {bytes} bytes at {address:#x}, in memory that free() gave back or malloc never gave"
                ),
                None,
            ),
        };
        let detail = Detail {
            space: Some(Space::Global),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: None,
        };
        let pc = self.pc;
        self.fault(fault, pc, Some(lane), 1, message, detail);
    }

    /// The same as `watch` says for an access in runs, which lie `by` bytes on. Each check answers from the runs alone where
    /// it can; one that cannot gets the lanes, and so do all with a trace, which tests compare with.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "inlined; a struct would be built for each access")]
    pub fn audit_runs<const BYTES: u64>(
        &mut self,
        op: &Op,
        reach: &Reach,
        runs: &Runs,
        by: u64,
        kind: AccessKind,
        watch: u32,
    ) {
        if watch & watch::COUNT != 0 && !self.worker.quiet {
            let runs = runs.moved(by);
            let lanes = watch & watch::TRACE != 0;
            if lanes || !self.count_runs::<BYTES>(op, reach.window, &runs, kind) {
                self.count_access::<BYTES>(op, reach.window, &runs.spread(BYTES), kind);
            }
        }
        if watch & watch::INIT != 0 && !reach.all_written && !self.init_runs::<BYTES>(reach, runs, by, kind) {
            self.check_init::<BYTES>(op, reach, &runs.moved(by).spread(BYTES), kind);
        }
        if watch & watch::RACE != 0 {
            match reach.window {
                Window::Shared if self.block.state.apart => {}
                Window::Shared if watch & watch::TRACE == 0 && self.race_shared_runs::<BYTES>(op, runs, by, kind) => {}
                Window::Shared => self.race_shared::<BYTES>(op, &runs.moved(by).spread(BYTES), kind),
                Window::Global if self.is_in_no_race(op, reach, kind) => {}
                Window::Global => {
                    let grid = self.grid;
                    grid.races.access_runs::<BYTES>(self, op, reach, &runs.moved(by), kind);
                }
                _ => {}
            }
        }
        if self.block.state.guarded {
            match reach.window {
                Window::Shared => self.check_guarded(op, &runs.moved(by).spread(BYTES), BYTES, kind),
                Window::Global => self.check_outgoing(&runs.moved(by).spread(BYTES), BYTES, kind),
                _ => {}
            }
        }
        if watch & (watch::TRACE | watch::HEAP) != 0 {
            if self.is_on_heap(reach, runs.low.wrapping_add(by), runs.high.wrapping_add(by)) {
                self.check_heap(&runs.moved(by).spread(BYTES), BYTES, kind);
            }
            if watch & watch::TRACE != 0 {
                let all = runs.moved(by).spread(BYTES);
                self.trace_access(reach.window, &all, BYTES as u32, kind, all.low);
            }
        }
    }

    /// The init bits of an access in runs. False: look at the lanes; nothing was changed.
    #[inline(always)]
    fn init_runs<const BYTES: u64>(&self, reach: &Reach, runs: &Runs, by: u64, kind: AccessKind) -> bool {
        let bytes = match runs.step {
            0 => BYTES,
            step if step == BYTES => BYTES * runs.width as u64,
            _ => return self.init_apart::<BYTES>(reach, runs, by, kind),
        };
        let bits = reach.init_bits();
        let writes = matches!(kind, AccessKind::Write | AccessKind::AsyncCopy);
        let mut all = true;
        for start in runs.starts() {
            let first = start.wrapping_add(by) - reach.base;
            if !all_bits(bits, first, bytes) {
                all = false;
                if writes {
                    set_bits(bits, first, bytes);
                }
            }
        }
        all || writes
    }

    /// The same for one run whose lanes lie apart.
    #[inline(always)]
    fn init_apart<const BYTES: u64>(&self, reach: &Reach, runs: &Runs, by: u64, kind: AccessKind) -> bool {
        if runs.count != 1 {
            return false;
        }
        let bits = reach.init_bits();
        let writes = matches!(kind, AccessKind::Write | AccessKind::AsyncCopy);
        let alone = reach.window != Window::Global || self.grid.workers == 1;
        let first = runs.starts[0].wrapping_add(by) - reach.base;
        // Aligned accesses stay inside one word of bits.
        let want = u64::MAX >> (64 - BYTES);
        let bit = |lane: u64| first + lane * runs.step;
        // Most find all of it written: no branch for a lane.
        let mut missing = 0;
        for lane in 0..runs.width as u64 {
            let word = bits[(bit(lane) / 64) as usize].load(Ordering::Relaxed);
            missing |= !word >> (bit(lane) % 64) & want;
        }
        if missing == 0 || !writes {
            return missing == 0;
        }
        for lane in 0..runs.width as u64 {
            let bit = bit(lane);
            let (word, mask) = (&bits[(bit / 64) as usize], want << (bit % 64));
            let old = word.load(Ordering::Relaxed);
            if old & mask == mask {
                continue;
            }
            match alone {
                true => word.store(old | mask, Ordering::Relaxed),
                false => _ = word.fetch_or(mask, Ordering::Relaxed),
            }
        }
        true
    }

    #[inline(always)]
    pub fn check_init<const BYTES: u64>(&mut self, op: &Op, reach: &Reach, at: &Addresses, kind: AccessKind) {
        let bits = reach.init_bits();
        let writes = matches!(kind, AccessKind::Write | AccessKind::AsyncCopy);
        if at.contiguous && reach.stride == 0 {
            let first = at.low - reach.base;
            if writes {
                if !all_bits(bits, first, 32 * BYTES) {
                    set_bits(bits, first, 32 * BYTES);
                }
                return;
            }
            if all_bits(bits, first, 32 * BYTES) {
                return;
            }
        }
        // Shared and local memory is never that of two workers.
        let alone = reach.window != Window::Global || self.grid.workers == 1;
        let mut missing = 0;
        if writes {
            for lane in lanes(at.mask) {
                let first = reach.init_bit(at.at[lane], lane);
                if alone {
                    set_bits_alone(bits, first, BYTES);
                } else {
                    set_bits(bits, first, BYTES);
                }
            }
        } else if BYTES.is_power_of_two() && at.at.iter().fold(0, |all, at| all | at) & (BYTES - 1) == 0 {
            // Aligned accesses stay inside one word of bits. Inactive lanes repeat an active one's address (in its own
            // part of local memory, which exists).
            let want = if BYTES == 64 { u64::MAX } else { (1 << BYTES) - 1 };
            for lane in 0..32 {
                let first = reach.init_bit(at.at[lane], lane);
                let word = bits[(first / 64) as usize].load(std::sync::atomic::Ordering::Relaxed);
                missing |= u32::from(word >> (first % 64) & want != want) << lane;
            }
            missing &= at.mask;
        } else {
            for lane in lanes(at.mask) {
                let first = reach.init_bit(at.at[lane], lane);
                missing |= u32::from(!all_bits(bits, first, BYTES)) << lane;
            }
        }
        if missing != 0 {
            self.uninitialised_read(op, reach, at, BYTES, kind, missing);
            if kind == AccessKind::Atomic {
                // Report once, not for every later update.
                for lane in lanes(missing) {
                    set_bits(bits, reach.init_bit(at.at[lane], lane), BYTES);
                }
            }
        }
    }

    #[cold]
    pub fn check_copies(&mut self, at: &Addresses, bytes: u64, kind: AccessKind) {
        // Rows and columns of a tile that is there, while others are being filled.
        let span = at.high - at.low + bytes;
        if span <= NEAR && !self.block.copies.fill(at.low, span) {
            return;
        }
        for lane in lanes(at.mask) {
            let Some((thread, copy_pc)) = self.block.copies.overlap(at.at[lane], bytes) else { continue };
            if kind == AccessKind::AsyncCopy && thread == self.warp.index * 32 + lane as u32 {
                // Re-issuing a copy over one's own pending copy: only the order is in doubt.
                continue;
            }
            let pc = self.pc;
            if self.repeats(Told::beside(FaultKind::MissingAsyncWait, pc, copy_pc), 1) {
                return;
            }
            let (_, allocation) = self.locate(Window::Shared, at.at[lane], bytes);
            let what =
                allocation.as_ref().map_or("shared memory".to_owned(), |a| match a.offset.checked_rem(bytes as i64) {
                    Some(0) => format!("`{}`[{}]", a.name, a.offset / bytes as i64),
                    _ => format!("{bytes} bytes of `{}` from byte {}", a.name, a.offset),
                });
            let message = format!(
                "{} {} {what} while an asynchronous copy fills it (started at {}); wait for it first: each thread waits for its own \
                 copies (`__pipeline_wait_prior(0)`, which is `cp.async.wait_group 0`), and a barrier behind that shows them to the \
                 others; a barrier alone waits for no copy",
                text_of(&self.thread(lane)),
                crate::exec::memory::access::verb(kind),
                self.grid.image.place(copy_pc)
            );
            let other = self.grid.image.other_side(Some(copy_pc), self.thread_of(thread), Some(AccessKind::AsyncCopy));
            let detail = Detail {
                space: Some(Space::Shared),
                access: Some(kind),
                address: Some(at.at[lane]),
                bytes: bytes as u32,
                allocation,
                other: Some(other),
            };
            self.fault(FaultKind::MissingAsyncWait, pc, Some(lane), 1, message, detail);
            return;
        }
    }
}
