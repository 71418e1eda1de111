//! Reads of shared memory that the shadow is told of later, or never. Most arrays are filled, read by everybody and left at a
//! barrier, behind which nobody asks any more who read them before. So where nothing unordered was written, a read is only put on
//! a list; the shadow is told as soon as anybody looks at what lies there, and the list is forgotten where the whole block
//! meets. Whoever looks finds what would have been there at once: `tests/later.rs`.

use std::fmt;

use super::shadow::{CLOCK, SharedShadow};
use super::shadow_runs::{join_read, of_lane};
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::op::Op;
use crate::exec::sched::block::Block;
use crate::exec::sched::warp::{Split, Wait};

/// Reads on the list; one more, and the shadow is told.
const LIMIT: usize = 4096;
/// Instructions beyond this share what is known of whether the shadow had to be told.
const SITES: usize = 256;
/// Reads of an instruction that are not put on the list, after one that the shadow had to be told of.
const REST: u8 = u8::MAX;

/// One read, of lanes that lie so far from `base` as `offsets` says.
#[derive(Clone, Copy)]
struct Read {
    offsets: *const [i32; 32],
    base: u64,
    stamp: u64,
    floor: u64,
    mask: u32,
    bytes: u16,
    /// Of its instruction, in `rest`.
    place: u16,
}

/// The list.
pub struct Later {
    reads: Vec<Read>,
    /// What they lie between.
    low: u64,
    end: u64,
    /// By instruction: reads until one is put on the list again.
    rest: Box<[u8; SITES]>,
}

// SAFETY: the pointers go to patterns and lays of the worker that runs the block, and the list is empty when it does not.
unsafe impl Send for Later {}

impl Default for Later {
    fn default() -> Later {
        Later { reads: Vec::new(), low: u64::MAX, end: 0, rest: Box::new([0; SITES]) }
    }
}

impl fmt::Debug for Later {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} reads between {} and {}", self.reads.len(), self.low, self.end)
    }
}

impl Later {
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        self.reads.clear();
        (self.low, self.end) = (u64::MAX, 0);
    }
}

impl SharedShadow {
    /// Somebody looks at what is known of `[low, end)`. What this is done for, was put on the list in vain.
    #[inline(always)]
    pub fn settle(&mut self, low: u64, end: u64) {
        // It mostly is empty, and then ends at 0.
        if low < self.later.end && end > self.later.low {
            self.tell_vainly();
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_vainly(&mut self) {
        for read in &self.later.reads {
            self.later.rest[usize::from(read.place) % SITES] = REST;
        }
        self.tell();
    }

    /// The shadow learns of all reads on the list.
    #[cold]
    #[inline(never)]
    pub fn tell(&mut self) {
        for index in 0..self.later.reads.len() {
            let read = self.later.reads[index];
            let cells = usize::from(read.bytes >> self.shift);
            // SAFETY: what patterns and lays hold changes after this alone ([`Cx::tell_reads`]).
            let offsets = unsafe { &*read.offsets };
            for lane in lanes(read.mask) {
                let first = (read.base.wrapping_add(offsets[lane] as u64) >> self.shift) as usize;
                for old in &mut self.reads[first..][..cells] {
                    *old = join_read(*old, of_lane(read.stamp, lane), (read.floor >> CLOCK) as i64);
                }
            }
        }
        self.later.forget();
    }
}

impl Block {
    /// All warps but the running one wait at a barrier that is complete now, and the running one was the last to come: what
    /// was read is in order before all that follows.
    #[inline(always)]
    pub fn forget_reads(&mut self, id: usize, generation: u64) {
        if self.shared_shadow.later.is_empty() || !self.barriers[id].whole {
            return;
        }
        let waits = |split: &Split| matches!(split.wait, Wait::Barrier { id: at, generation: then } if at as usize == id && then == generation);
        let all =
            self.warps.iter().flatten().all(|warp| {
                warp.live == 0 || matches!(&warp.splits[..], [only] if only.mask == warp.live && waits(only))
            });
        if all {
            self.shared_shadow.later.forget();
        }
    }
}

fn place_of(op: &Op) -> usize {
    op.site as usize % SITES
}

impl Cx<'_> {
    /// Whether reads of an instruction are told at once for now, of which this is one.
    #[inline(always)]
    pub fn tells_now(&mut self, op: &Op) -> bool {
        let rest = &mut self.block.shared_shadow.later.rest[place_of(op)];
        let now = *rest > 0;
        *rest = rest.saturating_sub(1);
        now
    }

    /// Puts a weak read on the list, of which each lane reads `bytes` so far from `base` as `offsets` says, from `low` on and up to
    /// `end`, which lie in one array and where it is quiet ([`Cx::is_quiet`]). False: the shadow is to be told now; nothing was changed.
    ///
    /// # Safety
    /// What `offsets` points to must stay as it is until [`Cx::tell_reads`].
    #[inline(never)]
    pub unsafe fn reads_later(
        &mut self,
        op: &Op,
        offsets: *const [i32; 32],
        bytes: u64,
        base: u64,
        low: u64,
        end: u64,
    ) -> bool {
        if !self.grid.options.fast.deferred_reads {
            return false;
        }
        let ((stamp, floor), mask) = (self.shared_stamp(op), self.mask);
        // Other blocks of a cluster do not come to its barriers.
        let alone = self.watch & watch::TRACE == 0 && self.peers.len() == 1;
        let alone = alone && !self.joins_slowly(floor, low, end);
        let shadow = &mut self.block.shared_shadow;
        if !alone || shadow.written > floor || end > u64::from(shadow.bytes) || bytes < 1 << shadow.shift {
            return false;
        }
        shadow.note(stamp, false);
        let later = &mut shadow.later;
        (later.low, later.end) = (later.low.min(low), later.end.max(end));
        later.reads.push(Read { offsets, base, stamp, floor, mask, bytes: bytes as u16, place: place_of(op) as u16 });
        if later.reads.len() == LIMIT {
            shadow.tell_vainly();
        }
        true
    }

    /// Must come before what patterns and lays hold changes, and before another block of this worker runs.
    #[inline(always)]
    pub fn tell_reads(&mut self) {
        if !self.block.shared_shadow.later.is_empty() {
            self.block.shared_shadow.tell();
        }
    }
}
