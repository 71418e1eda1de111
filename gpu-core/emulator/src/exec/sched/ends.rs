//! How warps begin and end. Kernels of few instructions, which most are, begin and end one as often as they do anything: so a
//! warp that had no turn yet is little more than a number, and takes the place of one that has ended, whose registers and lists
//! are in the nearest cache.

use super::block::Block;
use super::frame::{Registers, take_bank};
use super::schedule::Round;
use super::warp::{NONE, Split, Wait, Warp};
use crate::exec::cx::Cx;
use crate::exec::grid::Grid;
use crate::exec::op::Flow;
use crate::isa::cluster::Cluster;

impl Warp {
    /// Its first turn: its lanes are at the start of the kernel, and nothing is left of the warp that was this one before.
    #[inline(always)]
    pub fn begin(&mut self, grid: &Grid<'_>, block: &Block, spare: &mut Registers) {
        let (function, mask) = (grid.kernel(), self.lanes);
        (self.begun, self.rest, self.current) = (true, None, 0);
        (self.clock, self.floor, self.passed) = (block.base_time + 1, block.base_time, block.base_time);
        if block.time > block.base_time + 1 || block.base_time == 1 {
            // It was another warp of this block. One of a block before knew less than the floor says, unless time began anew.
            self.seen = block.base_seen;
        }
        self.beyond = false;
        (self.fills_known, self.cluster_generation) = (u64::MAX, 0);
        self.joins.clear();
        self.free_joins.clear();
        self.meetings.clear();
        self.parts.clear();
        self.unfenced.clear();
        self.in_flight.clear();
        self.poison.clear();
        self.origins.clear();
        if !self.local_init.is_empty() {
            self.local_init.iter_mut().for_each(|word| *word.get_mut() = 0);
        }
        if self.frames.len() > 1 {
            self.frames.truncate(1);
        }
        let frame = match &mut self.frames[..] {
            // Of the warp that was this one before, which was of the same launch.
            [Some(kept)] => {
                self.free_from = 1;
                if kept.registers.rows.is_empty() {
                    kept.registers = take_bank(function, spare);
                }
                kept.live = mask;
                0
            }
            frames => {
                debug_assert!(frames.is_empty(), "the kernel's frame comes first");
                self.push_frame(grid.function, function, mask, NONE, spare)
            }
        };
        self.splits.clear();
        self.splits.push(Split {
            pc: function.first_pc,
            mask,
            join: NONE,
            frame,
            wait: Wait::Ready,
            polls: 0,
            awaited: 0,
        });
        if grid.options.checks.uninitialised {
            if function.gated {
                self.poison.let_sleep(frame, &function.undefined);
            }
            for slot in &function.undefined {
                self.poison_register(frame, *slot, mask, function.first_pc);
            }
        }
    }

    /// All lanes that were left of it exit, as one group in the kernel itself. Its registers stay, for the next warp that it
    /// becomes.
    #[inline(always)]
    fn end(&mut self) {
        self.live = 0;
        self.splits.clear();
        if let [Some(frame)] = &mut self.frames[..] {
            frame.live = 0;
        }
    }

    /// Lanes exit: nobody waits for them any more.
    pub fn remove_lanes(&mut self, mask: u32, spare: &mut Registers) {
        self.live &= !mask;
        if self.live == 0 {
            self.joins.clear();
            self.free_joins.clear();
        }
        for index in 0..self.joins.len() {
            let join = &mut self.joins[index];
            if join.expected & mask == 0 {
                continue;
            }
            join.expected &= !mask;
            if join.expected == 0 {
                self.close_join(index as u32);
            } else if join.expected == join.arrived {
                let join = self.joins[index].clone();
                self.close_join(index as u32);
                self.splits.push(Split::of(&join));
            }
        }
        for index in 0..self.frames.len() {
            if self.frames[index].as_ref().is_some_and(|frame| frame.live & mask != 0) {
                self.leave_frame(index as u32, mask, spare);
            }
        }
    }
}

impl Cx<'_> {
    /// What is known of the running warp when its turn begins.
    #[inline(always)]
    pub(crate) fn begin_turn(&mut self) {
        self.used = 0;
        self.warp.rest = None;
        if !self.warp.begun {
            self.warp.begin(self.grid, self.block, &mut self.worker.registers);
            let frame = self.warp.frame_mut(0);
            self.regs = frame.registers.rows.as_mut_ptr().cast();
            if self.grid.options.fast.launch_constants && !std::mem::replace(&mut frame.registers.ready, true) {
                self.fill_bank();
            }
        }
        self.watch = self.worker.watch_of(self.grid, self.block.index, self.warp.index);
        self.tainted = self.warp.poison.are_awake();
        self.attention = self.needs_attention();
    }

    /// Puts the kernel's values of the launch into registers that had none.
    #[cold]
    fn fill_bank(&mut self) {
        (self.mask, self.watch) = (u32::MAX, 0);
        let image = self.image();
        for &pc in &self.grid.kernel().of_launch {
            self.pc = pc;
            let op = &image.code[pc as usize];
            // SAFETY: the op belongs to this image, and `regs` to a frame of its function. It fills rows from rows and from
            // parameters, in lanes that the warp has not got too.
            let flow = unsafe { (op.run)(self, op) };
            debug_assert!(flow == Flow::Next, "values of the launch are computed straight on");
        }
    }

    /// Lanes `mask` of the running group end.
    pub fn exit_lanes(&mut self, mask: u32) -> Flow {
        if mask == self.warp.live && self.warp.frames.len() == 1 {
            self.warp.end();
            return self.exited(mask, Flow::Switch);
        }
        let rest = self.active & !mask;
        let current = self.warp.current;
        let next = self.pc + 1;
        if rest == 0 {
            self.warp.splits.remove(current);
        } else {
            self.active = rest;
            self.pc = next;
            self.store_split();
        }
        self.warp.remove_lanes(mask, &mut self.worker.registers);
        self.exited(mask, if rest == 0 { Flow::Switch } else { Flow::Goto })
    }

    #[inline(always)]
    fn exited(&mut self, mask: u32, flow: Flow) -> Flow {
        if self.warp.live == 0 {
            self.block.last_warp = self.warp.index;
        }
        self.block.lanes_exited(mask);
        if self.block.live_threads == 0 {
            self.block_ends();
        }
        flow
    }

    /// A warp of the block that had no turn yet is to run next, in place of the one that ended.
    #[inline(always)]
    pub(crate) fn take_over(&mut self, mut next: Box<Warp>) {
        let (index, lanes) = (next.index, next.lanes);
        let (own, own_lanes) = (self.warp.index, self.warp.lanes);
        next.renew(own, own_lanes);
        (next.live, next.begun) = (0, true);
        self.block.return_warp(next);
        self.warp.renew(index, lanes);
    }
    /// The block has ended: makes it the next one that its worker is to run, and begins the turn of its first warp, in place of
    /// the one that ended last.
    #[inline(never)]
    pub(crate) fn next_block(&mut self, used: u64) -> bool {
        let grid = self.grid;
        // Of a launch of which it is to be found out whether its threads meet, the worker does that.
        let known = grid.plan.is_none() || grid.separate.get().is_some();
        if self.peers.len() != 1 || !known || !self.worker.has_more_than(used) {
            return false;
        }
        let Some(index) = self.worker.follow() else { return false };
        self.worker.spend(used);
        self.round = Round { ran: true, ..Round::default() };
        *self.cluster = Cluster { first: index, ..Cluster::default() };
        self.block.start(grid, index);
        self.warp.renew(0, self.block.lanes_of(0));
        self.begin_turn();
        (self.pc, self.active, self.rpc) = (grid.kernel().first_pc, self.warp.lanes, NONE);
        true
    }
}
