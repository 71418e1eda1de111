//! What an instruction can reach: the lanes it runs for, its registers, its warp, block and launch.

use super::grid::{Grid, Tids, Worker};
use super::image::Image;
use super::lanes::Word;
use super::op::Slot;
use crate::count::Tallies;
use crate::exec::sched::block::Block;
use crate::exec::sched::schedule::Round;
use crate::exec::sched::warp::Warp;
use crate::isa::cluster::Cluster;

/// Bits of [`Cx::watch`]: what beyond running a memory access has to be done.
pub mod watch {
    pub const COUNT: u32 = 1;
    pub const INIT: u32 = 2;
    pub const RACE: u32 = 4;
    pub const TRACE: u32 = 8;
    /// Memory from `malloc` of device code is in use.
    pub const HEAP: u32 = 16;
}

/// The state of the group of lanes that runs, hot fields first.
pub struct Cx<'r> {
    /// Registers of the current frame.
    pub regs: *mut u8,
    /// Constant rows of the image.
    pub pool: *const u8,
    /// Shared memory of the block.
    pub shared: *mut u8,
    /// A bit for each byte of it: written. As [`Block::shared_init`], with a word behind it.
    pub shared_init: *mut u64,
    /// Lanes that execute this instruction: the group's, less those its guard switches off.
    pub mask: u32,
    /// Lanes of the group.
    pub active: u32,
    pub pc: u32,
    /// Where this group waits for its siblings; u32::MAX for nowhere in this function.
    pub rpc: u32,
    pub watch: u32,
    /// Set when the loop must look up: a fatal fault, or uninitialised values in registers.
    pub attention: bool,
    /// [`super::lanes::widest`].
    pub widest: bool,
    /// This warp's instructions carry uninitialised values in registers.
    pub tainted: bool,
    /// The block of instructions that machine code runs, by its first one, and how many more instructions it may run from
    /// there on.
    pub first: u32,
    pub left: u64,
    /// Lanes that the block was counted for.
    pub counted: u32,
    /// Of so many that the warp's turn began with.
    pub given: u64,
    /// Other warps had their turns meanwhile: see [`Cx::run_code`].
    pub switched: bool,
    /// [`Grid::tids`].
    pub tids: *const Tids,
    /// What it counts by itself.
    pub tallies: Tallies,
    /// What a matrix store is about to write at each lane's address; null for others, whose operands say it.
    pub rows: *const [[u8; 16]; 32],
    /// Instructions of this warp's turn that [`Worker`] was not told of yet.
    pub used: u64,
    pub round: Round,
    /// The running warp, which its block lacks meanwhile.
    pub warp: Box<Warp>,
    pub block: &'r mut Block,
    pub grid: &'r Grid<'r>,
    /// The blocks of the cluster by rank, the own one included (which only `block` may be used for).
    pub peers: &'r [*mut Block],
    pub cluster: &'r mut Cluster,
    pub worker: &'r mut Worker,
}

impl<'r> Cx<'r> {
    pub fn image(&self) -> &'r Image {
        self.grid.image
    }

    /// The row of an operand.
    ///
    /// # Safety
    /// `slot` must come from the decoder for the function whose frame is current.
    #[inline(always)]
    pub unsafe fn row<W: Word>(&self, slot: Slot) -> *const [W::Raw; 32] {
        let base = if slot.0 & Slot::POOL != 0 { self.pool } else { self.regs.cast_const() };
        // SAFETY: the decoder hands out offsets inside frame and pool.
        unsafe { base.add((slot.0 & !Slot::POOL) as usize).cast() }
    }

    /// The row of a destination.
    ///
    /// # Safety
    /// As [`Cx::row`], and `slot` must be a register.
    #[inline(always)]
    pub unsafe fn row_mut<W: Word>(&mut self, slot: Slot) -> *mut [W::Raw; 32] {
        // SAFETY: destinations are never in the pool.
        unsafe { self.regs.add(slot.0 as usize).cast() }
    }

    /// A predicate's mask over all lanes.
    ///
    /// # Safety
    /// As [`Cx::row`], with a predicate's slot.
    #[inline(always)]
    pub unsafe fn pred(&self, slot: Slot) -> u32 {
        let base = if slot.0 & Slot::POOL != 0 { self.pool } else { self.regs.cast_const() };
        // SAFETY: predicates are 4 bytes inside frame or pool.
        unsafe { base.add((slot.0 & !Slot::POOL) as usize).cast::<u32>().read() }
    }

    /// Sets a predicate in the lanes that run.
    ///
    /// # Safety
    /// As [`Cx::row_mut`], with a predicate's slot.
    #[inline(always)]
    pub unsafe fn set_pred(&mut self, slot: Slot, value: u32) {
        // SAFETY: predicates are 4 bytes inside the frame.
        unsafe {
            let at = self.regs.add(slot.0 as usize).cast::<u32>();
            at.write((at.read() & !self.mask) | (value & self.mask));
        }
    }

    /// Reads one lane of a row.
    ///
    /// # Safety
    /// As [`Cx::row`]; `lane` is below 32.
    #[inline(always)]
    pub unsafe fn lane<W: Word>(&self, slot: Slot, lane: usize) -> W {
        // SAFETY: a row has 32 lanes.
        unsafe { W::from_raw((*self.row::<W>(slot))[lane]) }
    }

    /// Writes one lane of a row.
    ///
    /// # Safety
    /// As [`Cx::row_mut`]; `lane` is below 32.
    #[inline(always)]
    pub unsafe fn set_lane<W: Word>(&mut self, slot: Slot, lane: usize, value: W) {
        // SAFETY: a row has 32 lanes.
        unsafe { (*self.row_mut::<W>(slot))[lane] = value.to_raw() }
    }
}

/// The set bits of a mask as lane numbers.
#[inline(always)]
pub fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

/// Calls for each lane of a mask, in order; mostly all of them run.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn each_lane(mask: u32, call: impl FnMut(usize)) {
    match mask {
        u32::MAX => (0..32).for_each(call),
        some => lanes(some).for_each(call),
    }
}
