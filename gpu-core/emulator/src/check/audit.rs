//! What every memory access goes through when anything beyond bounds is asked for.

use crate::exec::access::{Addresses, Reach};
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::fault::{Detail, text_of};
use crate::exec::op::Op;
use crate::exec::space::Window;
use crate::memory::{all_bits, set_bits};
use crate::report::{AccessKind, AllocationRef, FaultKind, OtherSide, Space};

impl Cx<'_> {
    /// Counts, traces and checks one access whose bounds are known to hold.
    #[inline(always)]
    pub fn audit<const BYTES: u64>(&mut self, op: &Op, reach: &Reach, at: &Addresses, kind: AccessKind) {
        if self.watch & watch::COUNT != 0 && !self.worker.quiet {
            self.count_access::<BYTES>(op, reach.window, at, kind);
        }
        if self.watch & watch::INIT != 0 && !reach.init.is_null() {
            self.check_init::<BYTES>(op, reach, at, kind);
        }
        if self.watch & watch::RACE != 0 {
            match reach.window {
                Window::Shared => self.race_shared::<BYTES>(op, at, kind),
                Window::Global => self.race_global::<BYTES>(op, reach, at, kind),
                _ => {}
            }
        }
        if reach.window == Window::Shared && self.block.guarded {
            self.check_guarded(op, at, BYTES, kind);
        }
        if self.watch & (watch::TRACE | watch::HEAP) != 0 {
            if self.watch & watch::HEAP != 0 && reach.window == Window::Global {
                self.check_heap(at, BYTES, kind);
            }
            if self.watch & watch::TRACE != 0 {
                self.trace_access(reach.window, at, BYTES as u32, kind);
            }
        }
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
                if piece.is_some_and(|(base, size)| address + bytes <= base + size) {
                    continue;
                }
                let past = piece.filter(|(base, size)| address < (base + size).next_multiple_of(16));
                if past.is_some() || heap.is_free(address) {
                    wrong = Some((lane, past));
                    break;
                }
            }
        }
        let Some((lane, piece)) = wrong else { return };
        let (address, who, verb) = (at.at[lane], text_of(&self.thread(lane)), crate::exec::access::verb(kind));
        let (fault, message, allocation) = match piece {
            Some((base, size)) => (
                FaultKind::OutOfBounds,
                format!("{who} {verb} {bytes} bytes at byte {} of {size} that malloc gave", address - base),
                AllocationRef { name: "malloc".to_owned(), base, bytes: size, offset: (address - base) as i64 },
            ),
            None => (
                FaultKind::UseAfterFree,
                format!(
                    "{who} {verb} {bytes} bytes at {address:#x}, in memory that free() gave back or malloc never gave"
                ),
                AllocationRef { name: "device heap".to_owned(), base: address, bytes: 0, offset: 0 },
            ),
        };
        let detail = Detail {
            space: Some(Space::Global),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation: Some(allocation),
            other: None,
        };
        let pc = self.pc;
        self.fault(fault, pc, Some(lane), 1, message, detail);
    }

    #[inline(always)]
    fn check_init<const BYTES: u64>(&mut self, op: &Op, reach: &Reach, at: &Addresses, kind: AccessKind) {
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
        let mut missing = 0;
        for lane in lanes(at.mask) {
            let first = reach.init_bit(at.at[lane], lane);
            if writes {
                set_bits(bits, first, BYTES);
            } else {
                missing |= u32::from(!all_bits(bits, first, BYTES)) << lane;
            }
        }
        if missing != 0 {
            self.uninitialised_read(op, reach.window, at, BYTES, kind, missing);
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
        for lane in lanes(at.mask) {
            let Some((thread, copy_pc)) = self.block.copies.overlap(at.at[lane], bytes) else { continue };
            if kind == AccessKind::AsyncCopy && thread == self.warp.index * 32 + lane as u32 {
                // Re-issuing a copy over one's own pending copy: only the order is in doubt.
                continue;
            }
            let (_, allocation) = self.locate(Window::Shared, at.at[lane], bytes);
            let what = allocation.as_ref().map_or(String::new(), |a| format!(" `{}` byte {}", a.name, a.offset));
            let source = self.grid.image.source(copy_pc);
            let message = format!(
                "{} {} {bytes} bytes of{what} while an asynchronous copy fills them (started at {}); wait for it first",
                text_of(&self.thread(lane)),
                crate::exec::access::verb(kind),
                self.grid.image.place(copy_pc)
            );
            let other = OtherSide { source, thread: self.thread_of(thread), access: Some(AccessKind::AsyncCopy) };
            let detail = Detail {
                space: Some(Space::Shared),
                access: Some(kind),
                address: Some(at.at[lane]),
                bytes: bytes as u32,
                allocation,
                other: Some(other),
            };
            let pc = self.pc;
            self.fault(FaultKind::MissingAsyncWait, pc, Some(lane), 1, message, detail);
            return;
        }
    }
}
