//! A warp's turn: which group of its lanes runs, and the interpreter loop.

use std::sync::atomic::Ordering;

use super::cx::{Cx, watch};
use super::fault::Detail;
use super::op::{CONDITIONAL, Flow};
use super::warp::{NONE, Split, Wait};
use crate::report::FaultKind;

/// Polls of memory after which a group that spins gives way.
const POLL_LIMIT: u32 = 32;

/// How a warp's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing of it can run now (it may have ended).
    Blocked,
    Ran,
    Polled,
    Aborted,
}

impl Cx<'_> {
    /// A group of this warp that can run: the newest first.
    fn pick(&mut self) -> bool {
        for index in (0..self.warp.splits.len()).rev() {
            let wait = self.warp.splits[index].wait;
            // What is common comes first: the table that the rest is made into is a jump that is hard to foresee.
            if let Wait::Barrier { id, generation } = wait {
                let Some(barrier) = self.block.barriers.get(id as usize) else { continue };
                if barrier.generation == generation {
                    continue;
                }
                self.warp.pass_barrier(barrier);
                self.warp.splits[index].wait = Wait::Ready;
                self.load_split(index);
                return true;
            }
            if !self.may_go(index) {
                continue;
            }
            if let Wait::Cluster { generation } = wait {
                self.pass_cluster(generation);
            }
            self.warp.splits[index].wait = Wait::Ready;
            self.load_split(index);
            return true;
        }
        false
    }

    /// Whether a group waits for nothing, or for nothing any more.
    fn may_go(&mut self, index: usize) -> bool {
        let Split { pc, frame, mask, wait, .. } = self.warp.splits[index];
        match wait {
            Wait::Ready => true,
            Wait::Barrier { id, generation } => {
                self.block.barriers.get(id as usize).is_some_and(|barrier| barrier.generation != generation)
            }
            // Members that exited are waited for no more.
            Wait::Sync { members } => members & self.warp.live & !mask == 0,
            // The lanes that were missing may have exited instead of coming.
            Wait::Together => self.warp.together_at(pc, frame) == self.warp.live,
            Wait::Warpgroup { groups } => self.warpgroup_committed(groups),
            Wait::Cluster { generation } => {
                self.settle_cluster();
                self.cluster.generation > generation
            }
        }
    }

    /// Runs this warp until it blocks, polls or has used its fuel.
    pub fn run(&mut self, fuel: u64) -> Turn {
        let mut left = fuel;
        let mut polled = 0;
        loop {
            if !self.pick() {
                return Turn::Blocked;
            }
            let before = left;
            let flow = self.run_split(&mut left);
            self.warp.executed += before - left;
            if self.grid.aborted.load(Ordering::Relaxed) {
                return Turn::Aborted;
            }
            match flow {
                // Alone and at a barrier that waits for others.
                Leave::Switched if matches!(&self.warp.splits[..], [Split { wait: Wait::Barrier { .. }, .. }]) => {
                    return Turn::Blocked;
                }
                Leave::Switched => polled = 0,
                Leave::Fuel if left == 0 => return Turn::Ran,
                Leave::Fuel => {
                    polled = 0;
                    self.rotate();
                }
                Leave::Polled => {
                    polled += 1;
                    // Those whose barrier is complete have not been told yet, and must not starve behind a sibling that
                    // waits for what they do next.
                    let ready = (0..self.warp.splits.len()).filter(|&index| self.may_go(index)).count();
                    if ready > 1 {
                        let pc = self.pc;
                        self.rotate();
                        self.note_spin(pc);
                    }
                    if polled >= ready {
                        // Lanes may wait at a meeting point for those that spin on them: let them go ahead.
                        let pc = self.pc;
                        if !self.warp.break_join() {
                            return Turn::Polled;
                        }
                        self.note_spin(pc);
                        polled = 0;
                    }
                }
            }
        }
    }

    /// Gives the siblings a turn: the newest group runs first, so the current one goes to the front.
    fn rotate(&mut self) {
        let current = self.warp.current;
        let split = self.warp.splits.remove(current);
        self.warp.splits.insert(0, split);
    }

    fn note_spin(&self, pc: u32) {
        let place = self.image().place(pc);
        self.grid.note(format!(
            "lanes of one warp waited for each other at {place}: this ends only with independent thread scheduling \
             (Volta and later)"
        ));
    }

    /// The interpreter loop, in the form for this machine.
    fn run_split(&mut self, fuel: &mut u64) -> Leave {
        #[cfg(target_arch = "x86_64")]
        if super::lanes::wide() {
            // SAFETY: the machine has the features.
            return unsafe { self.run_split_wide(fuel) };
        }
        self.run_split_inner(fuel)
    }

    /// Counting lanes is one instruction here, and a dozen without.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn run_split_wide(&mut self, fuel: &mut u64) -> Leave {
        self.run_split_inner(fuel)
    }

    #[inline(always)]
    fn run_split_inner(&mut self, fuel: &mut u64) -> Leave {
        let code = self.image().code.as_ptr();
        let count = self.watch & watch::COUNT != 0;
        // Groups of one warp take turns also when they do not poll, lest one waits for ever on the other.
        let mut budget = if self.warp.splits.len() > 1 { (*fuel).min(2_000) } else { *fuel };
        let given = budget;
        // A copy of `self.pc`, which the loop only writes: read back from memory, it would hold up every instruction.
        let mut pc = self.pc;
        let leave = loop {
            if pc == self.rpc || pc == NONE {
                let go_on = if pc == NONE { self.finish_call() } else { self.arrive() };
                if !go_on {
                    break Leave::Switched;
                }
                pc = self.pc;
                continue;
            }
            if budget == 0 {
                self.store_split();
                break Leave::Fuel;
            }
            // SAFETY: the decoder ends every function with `exit` or `ret`, and targets are inside the code.
            let op = unsafe { &*code.add(pc as usize) };
            if op.straight == CONDITIONAL && !self.attention {
                // SAFETY: slots of a decoded instruction.
                let taken = self.active & (unsafe { self.pred(op.guard) } ^ op.guard_flip);
                // All go one way, which they mostly do.
                if taken == 0 || taken == self.active {
                    if count {
                        self.worker.counts.instruction(pc, taken);
                    }
                    budget -= 1;
                    pc = if taken == 0 { pc + 1 } else { op.imm as u32 };
                    self.pc = pc;
                    continue;
                }
            }
            // Not beyond the meeting point, where this group waits.
            let ahead = op.straight.min(self.rpc.wrapping_sub(pc)).min(budget.min(u32::MAX.into()) as u32);
            if ahead > 1 && op.straight != CONDITIONAL && !self.attention {
                let (first, active) = (pc, self.active);
                if count {
                    self.worker.counts.stretch(pc, active);
                }
                let mut last = op;
                let flow = loop {
                    self.mask = active;
                    self.pc = pc;
                    // SAFETY: the op belongs to this image.
                    let flow = unsafe { (last.run)(self, last) };
                    pc += 1;
                    if flow != Flow::Next || self.attention || pc == first + ahead {
                        break flow;
                    }
                    // SAFETY: so many instructions follow one another.
                    last = unsafe { &*code.add(pc as usize) };
                };
                budget -= u64::from(pc - first);
                if count && pc - first != op.straight {
                    self.worker.counts.cut(pc, active);
                }
                if flow == Flow::Next {
                    self.pc = pc;
                } else {
                    match self.turned(flow, pc - 1) {
                        None => pc = self.pc,
                        Some(leave) => break leave,
                    }
                }
                if self.tainted {
                    self.after_op(last);
                }
                continue;
            }
            budget -= 1;
            // Where there is no guard, the constant that stands for one need not be fetched.
            // SAFETY: slots of a decoded instruction.
            let guard = if op.guard.is_pool() { u32::MAX } else { unsafe { self.pred(op.guard) } };
            self.mask = self.active & (guard ^ op.guard_flip);
            if count {
                self.worker.counts.instruction(pc, self.mask);
            }
            if self.attention && !self.look_up(op) {
                self.store_split();
                break Leave::Switched;
            }
            if self.mask == 0 {
                pc += 1;
                self.pc = pc;
                continue;
            }
            // SAFETY: the op belongs to this image.
            let flow = unsafe { (op.run)(self, op) };
            // One test for what nearly all do; the rest apart, or the compiler makes a table of both, which is a second jump.
            if flow == Flow::Next {
                pc += 1;
                self.pc = pc;
            } else {
                match self.turned(flow, pc) {
                    None => pc = self.pc,
                    Some(leave) => break leave,
                }
            }
            if self.tainted {
                self.after_op(op);
            }
        };
        *fuel -= given - budget;
        leave
    }

    /// After an instruction that did not just go on. None: the group runs on at `self.pc`.
    #[inline(never)]
    fn turned(&mut self, flow: Flow, pc: u32) -> Option<Leave> {
        match flow {
            Flow::Next | Flow::Goto => None,
            Flow::Switch => Some(Leave::Switched),
            Flow::Yield => {
                self.pc = pc + 1;
                self.store_split();
                Some(Leave::Polled)
            }
        }
    }

    /// Called before an instruction when something is unusual. False: end the launch.
    fn look_up(&mut self, op: &super::op::Op) -> bool {
        if self.grid.aborted.load(Ordering::Relaxed) {
            return false;
        }
        self.attention = self.tainted;
        if self.tainted {
            self.before_op(op);
        }
        if !self.warp.is_settled() {
            self.attention = true;
            self.check_in_flight(op);
        }
        if self.watch & watch::TRACE != 0 {
            self.attention = true;
            self.trace_step();
        }
        true
    }

    /// Counts a poll of memory; past the limit the group gives way.
    pub fn polled(&mut self) -> bool {
        let current = self.warp.current;
        let split = &mut self.warp.splits[current];
        split.polls += 1;
        if split.polls > POLL_LIMIT {
            split.polls = 0;
            return true;
        }
        false
    }

    pub(super) fn report_missed(&mut self, missed: super::block::Missed) {
        if !self.grid.options.checks.barrier {
            return;
        }
        let total = self.block.threads;
        let first = self.thread_of(missed.first_thread);
        let [x, y, z] = first.thread;
        let message = format!(
            "only {} of the {total} threads of block ({},{},{}) reach barrier {}, thread ({x},{y},{z}) first; the \
             others ended before it",
            missed.arrived, self.block.id[0], self.block.id[1], self.block.id[2], missed.barrier
        );
        self.fault_of(
            FaultKind::BarrierDivergence,
            missed.pc,
            Some(first),
            total - missed.arrived,
            message,
            Detail::default(),
        );
    }
}

enum Leave {
    Switched,
    Fuel,
    Polled,
}
