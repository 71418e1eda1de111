//! From one warp to the next where it comes to a barrier of the block or ends, without a way through the interpreter loop.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;

use super::x86::{PANICKED, ended};
use crate::exec::cx::{Cx, watch};
use crate::exec::op::{Flow, Op};
use crate::exec::sched::warp::NONE;
use crate::exec::sched::worker::QUANTUM;
use crate::isa::barrier::is_block_barrier;
use crate::isa::control::is_end;

/// Whether another warp of the block may run behind an instruction.
pub fn gives_turn(op: &Op) -> bool {
    is_block_barrier(op) || is_end(op)
}

/// Where machine code goes on behind such an instruction.
#[repr(C)]
pub struct Went {
    /// As what all of the code gives ([`super::x86`]); 0: with this warp, behind the instruction.
    ended: u64,
    /// Code of the warp that runs now; null: leave, or go on.
    to: *const u8,
}

/// Runs such an instruction for all lanes, and begins the turn of the next warp if this one is to wait or has ended.
///
/// # Safety
/// Called by code of this module, for one of the image that `cx` runs.
pub unsafe extern "sysv64" fn give_turn(cx: *mut c_void, op: *const Op) -> Went {
    // SAFETY: the code hands on what it was called with.
    let (cx, op) = unsafe { (&mut *cx.cast::<Cx<'_>>(), &*op) };
    // There is no way to unwind through such code.
    // SAFETY: as the caller promises.
    match catch_unwind(AssertUnwindSafe(|| unsafe { cx.give_turn(op) })) {
        Ok(went) => went,
        Err(panic) => {
            cx.worker.panic = Some(panic);
            Went { ended: PANICKED, to: null() }
        }
    }
}

impl Cx<'_> {
    /// # Safety
    /// As [`give_turn`].
    #[inline(always)]
    unsafe fn give_turn(&mut self, op: &Op) -> Went {
        let pc = self.pc;
        // SAFETY: as the caller promises.
        let flow = unsafe { (op.run)(self, op) };
        if flow == Flow::Next && !self.attention {
            return Went { ended: 0, to: null() };
        }
        let done = pc + 1 - self.first;
        let left = self.left - u64::from(done);
        if flow != Flow::Switch || !self.next_turn(self.given - left) {
            return Went { ended: ended(flow, pc), to: null() };
        }
        let count = self.watch & watch::COUNT != 0;
        if count && done != self.image().code[self.first as usize].straight {
            self.worker.counts.cut(pc + 1, u32::MAX);
        }
        (self.switched, self.left, self.given) = (true, QUANTUM, QUANTUM);
        let stretch = self.grid.code.and_then(|code| code.stretch(self.pc));
        match stretch {
            Some(stretch)
                if self.active == u32::MAX
                    && !self.attention
                    && stretch.count <= self.rpc.wrapping_sub(self.pc).min(QUANTUM as u32) =>
            {
                if count && stretch.count > 0 {
                    self.worker.counts.stretch(self.pc, u32::MAX);
                }
                self.first = self.pc;
                Went { ended: 0, to: stretch.inside }
            }
            _ => Went { ended: ended(Flow::Goto, NONE), to: null() },
        }
    }
}
