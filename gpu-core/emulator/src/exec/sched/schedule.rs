//! A warp's turn: which group of its lanes runs, and the interpreter loop.

use std::sync::atomic::Ordering;

use super::warp::{NONE, Rest, Split, Wait, Warp};
use super::worker::QUANTUM;
use crate::exec::cx::{Cx, watch};
use crate::exec::op::{CONDITIONAL, Flow, Op};
use crate::exec::template::BETWEEN;

/// Polls of memory after which a group that spins gives way.
const POLL_LIMIT: u32 = 32;

/// What the turns of a block's warps came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    pub ran: bool,
    /// A warp could do nothing but poll memory.
    pub polled: bool,
    pub aborted: bool,
}

/// How a warp's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Nothing of it can run now (it may have ended).
    Blocked,
    Ran,
    Polled,
    Aborted,
}

impl Cx<'_> {
    /// Gives the warp it was made with, and all behind it that have not ended, their turns.
    pub fn turns(&mut self) {
        loop {
            self.begin_turn();
            match self.run() {
                Turn::Blocked => self.round.ran |= self.used > 0,
                Turn::Ran => self.round.ran = true,
                Turn::Polled => self.round.polled = true,
                Turn::Aborted => self.round.aborted = true,
            }
            self.worker.spend(self.used);
            while let Some(missed) = self.block.missed.pop() {
                self.report_missed(missed);
            }
            if self.round.aborted {
                return;
            }
            let Some(next) = self.block.take_warp(self.warp.index as usize + 1) else { break };
            self.change_warp(next);
        }
    }

    /// Another warp of the block is to run.
    #[inline(always)]
    fn change_warp(&mut self, next: Box<Warp>) {
        let last = std::mem::replace(&mut self.warp, next);
        self.block.return_warp(last);
    }

    pub fn needs_attention(&self) -> bool {
        self.tainted || self.steps() || self.watch & watch::TRACE != 0 || !self.warp.is_settled()
    }

    /// Whether each instruction runs by itself.
    #[inline(always)]
    pub fn steps(&self) -> bool {
        !self.grid.options.fast.basic_blocks
    }

    /// Ends the turn of a warp that has ended or come to a barrier and begins that of the next one that can run, as
    /// [`Cx::turns`] and the rounds of [`super::worker::Worker`] would: most turns are so short that the way through there
    /// takes as long as they do. False: nothing was done.
    #[inline(never)]
    pub(crate) fn next_turn(&mut self, used: u64) -> bool {
        if !self.grid.options.fast.direct_turns {
            return false;
        }
        let ends = matches!(&self.warp.splits[..], [] | [Split { wait: Wait::Barrier { .. }, .. }]);
        if !ends || !self.block.missed.is_empty() || self.grid.aborted.load(Ordering::Relaxed) {
            return false;
        }
        let used = self.used + used;
        if self.block.live_threads == 0 {
            return self.next_block(used);
        }
        let (own, count) = (self.warp.index as usize, self.block.warps.len());
        let (mut index, mut new_round) = (own, false);
        let passed = loop {
            index += 1;
            if index == count {
                if self.peers.len() != 1 || !self.worker.has_more_than(used) {
                    return false;
                }
                (index, new_round) = (0, true);
            }
            if index == own {
                return false;
            }
            let Some(warp) = &self.block.warps[index] else { continue };
            if warp.live == 0 {
                continue;
            }
            if !warp.begun {
                break None;
            }
            match warp.splits[..] {
                [Split { wait: Wait::Ready, .. }] => break None,
                [Split { wait: Wait::Barrier { id, generation }, .. }] => {
                    let barrier = &self.block.barriers[id as usize];
                    if barrier.generation != generation {
                        break Some(barrier);
                    }
                    // Still to wait: a turn in which nothing happens.
                }
                _ => return false,
            }
        };
        let Some(mut next) = self.block.warps[index].take() else { return false };
        if let Some(barrier) = passed {
            next.pass_barrier(barrier);
            next.splits[0].wait = Wait::Ready;
        }
        self.worker.spend(used);
        self.round = if new_round { Round::default() } else { self.round };
        self.round.ran |= !new_round;
        if self.warp.live == 0 && !next.begun {
            self.take_over(next);
        } else {
            // The group that ran may have ended and left another one behind, which has a frame and a meeting point of its own.
            let stays = matches!(&self.warp.splits[..], [only] if only.mask == self.active);
            self.warp.rest = stays.then(|| Rest {
                registers: self.regs,
                rpc: self.rpc,
                watch: self.watch,
                tainted: self.warp.poison.are_awake(),
                settled: self.warp.is_settled(),
            });
            self.change_warp(next);
        }
        let after = if index + 1 == count { 0 } else { index + 1 };
        if let Some(warp) = self.block.warps.get(after).and_then(Option::as_ref) {
            warp.ask();
        }
        match self.warp.rest.take() {
            Some(rest) => {
                self.used = 0;
                self.regs = rest.registers;
                self.rpc = rest.rpc;
                self.watch = rest.watch;
                self.tainted = rest.tainted;
                self.attention = rest.tainted || self.steps() || rest.watch & watch::TRACE != 0 || !rest.settled;
                let split = &self.warp.splits[0];
                (self.pc, self.active) = (split.pc, split.mask);
                self.warp.current = 0;
            }
            None => {
                let begins = !self.warp.begun;
                self.begin_turn();
                if begins {
                    // As in the only group that was just made: read back so soon, that would be waited for.
                    (self.pc, self.active, self.rpc) = (self.grid.kernel().first_pc, self.warp.lanes, NONE);
                } else {
                    self.load_split(0);
                }
            }
        }
        true
    }

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
                let pc = self.warp.splits[index].pc;
                if self.warp.splits.len() > 1 {
                    self.warp.join_alike(index, |split| split.wait == wait && split.pc == pc);
                } else {
                    self.warp.current = index;
                }
                let index = self.warp.current;
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
            // Members that exited are waited for no more; the others may have come as several groups.
            Wait::Sync { members } => {
                let missing = members & self.warp.live & !mask;
                missing == 0 || missing & !self.gathered(index) == 0
            }
            // The lanes that were missing may have exited instead of coming.
            Wait::Together => self.warp.together_at(pc, frame) == self.warp.live,
            Wait::Warpgroup(progress) => self.warpgroup_reached(progress),
            Wait::Cluster { generation } => {
                self.settle_cluster();
                self.cluster.generation > generation
            }
        }
    }

    /// Runs this warp, and those that [`Cx::next_turn`] puts in its place, until one blocks, polls or has used its fuel.
    fn run(&mut self) -> Turn {
        let mut left = QUANTUM;
        let mut polled = 0;
        // Where a group polled that gave way to lanes of its own warp, and what had been written by then.
        let mut gave_way = None;
        loop {
            if !self.pick() {
                return Turn::Blocked;
            }
            let warp = self.warp.index;
            let flow = self.run_split(&mut left);
            if self.warp.index != warp {
                polled = 0;
            } else if let Some((pc, writes)) = gave_way.take()
                && self.worker.writes != writes
            {
                // Those that only go to a barrier, as all but one do in most barriers of a grid, were not waited for.
                self.note_spin(pc);
            }
            if self.grid.aborted.load(Ordering::Relaxed) {
                return Turn::Aborted;
            }
            match flow {
                Leave::Switched if self.waits_alone() => return Turn::Blocked,
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
                    gave_way = Some((self.pc, self.worker.writes));
                    if ready > 1 {
                        self.rotate();
                    }
                    if polled >= ready {
                        // Lanes may wait at a meeting point for those that spin on them: let them go ahead.
                        if !self.warp.break_join(|_| true) {
                            return Turn::Polled;
                        }
                        polled = 0;
                    }
                }
            }
        }
    }

    /// Whether only one group is left, at a barrier that waits for others: not at one that is complete, which a sibling left
    /// for a meeting point.
    fn waits_alone(&self) -> bool {
        match self.warp.splits[..] {
            [Split { wait: Wait::Barrier { id, generation }, .. }] => {
                self.block.barriers.get(id as usize).is_some_and(|barrier| barrier.generation == generation)
            }
            _ => false,
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
        if self.grid.options.observes() {
            return self.run_split_inner::<true>(fuel);
        }
        #[cfg(target_arch = "x86_64")]
        if crate::exec::lanes::wide() {
            // SAFETY: the machine has the features.
            return unsafe { self.run_split_wide(fuel) };
        }
        self.run_split_inner::<false>(fuel)
    }

    /// Counting lanes is one instruction here, and a dozen without.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn run_split_wide(&mut self, fuel: &mut u64) -> Leave {
        self.run_split_inner::<false>(fuel)
    }

    #[inline(always)]
    fn run_split_inner<const OBSERVED: bool>(&mut self, fuel: &mut u64) -> Leave {
        let (ops, code) = (self.image().code.as_ptr(), self.grid.code);
        let count = self.watch & watch::COUNT != 0;
        // Groups of one warp take turns also when they do not poll, lest one waits for ever on the other.
        let mut budget = if self.warp.splits.len() > 1 { (*fuel).min(2_000) } else { *fuel };
        let mut given = budget;
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
            let op = unsafe { &*ops.add(pc as usize) };
            let mut parts = None;
            if op.straight == CONDITIONAL && !self.attention {
                // SAFETY: slots of a decoded instruction.
                let taken = self.active & (unsafe { self.pred(op.guard) } ^ op.guard_flip);
                let part = taken != 0 && taken != self.active;
                if part && self.active == u32::MAX && self.rpc == NONE && budget > BETWEEN as u64 + 1 {
                    parts = code.and_then(|code| code.stretch(pc));
                }
                if parts.is_none() {
                    if count {
                        self.worker.counts.instruction(pc, taken);
                    }
                    budget -= 1;
                    // All go one way, which they mostly do.
                    if !part {
                        pc = if taken == 0 { pc + 1 } else { op.imm as u32 };
                        self.pc = pc;
                        continue;
                    }
                    if count {
                        self.worker.counts.divergent(pc);
                    }
                    self.diverge(taken, op.imm as u32, pc + 1, op.list);
                    pc = self.pc;
                    continue;
                }
            }
            // Not beyond the meeting point, where this group waits.
            let ahead = op.straight.min(self.rpc.wrapping_sub(pc)).min(budget.min(u32::MAX.into()) as u32);
            if parts.is_some() || ahead > 1 && op.straight != CONDITIONAL && !self.attention {
                let mut active = self.active;
                self.first = pc;
                if count && parts.is_none() {
                    self.worker.counts.stretch(pc, active);
                }
                // SAFETY: so many instructions follow one another; a stretch of the kernel's code is one from there on.
                let (flow, last) = unsafe {
                    match parts.or_else(|| code.and_then(|code| code.stretch(pc))) {
                        Some(stretch) if active == u32::MAX && stretch.count <= ahead => {
                            self.given = given;
                            let ended = self.run_code(stretch, pc, budget);
                            // It may have gone on to others, and counted those before the last one.
                            (budget, active) = (self.left, self.counted);
                            if self.switched {
                                self.switched = false;
                                (*fuel, given) = (QUANTUM, QUANTUM);
                            }
                            if ended.1 == NONE {
                                // There is no code for where it goes on.
                                pc = self.pc;
                                continue;
                            }
                            ended
                        }
                        _ => {
                            let (flow, last) = self.run_straight(op, pc, pc + ahead);
                            (flow, self.pc_of(last))
                        }
                    }
                };
                pc = last + 1;
                let done = pc - self.first;
                budget -= u64::from(done);
                // SAFETY: an instruction of the image.
                if count && done > 0 && done != unsafe { &*ops.add(self.first as usize) }.straight.max(1) {
                    self.worker.counts.cut(pc, active);
                }
                if flow == Flow::Next {
                    self.pc = pc;
                } else {
                    match self.turned(flow, pc - 1) {
                        None => pc = self.pc,
                        Some(Leave::Switched) if self.next_turn(given - budget) => {
                            (*fuel, given, budget) = (QUANTUM, QUANTUM, QUANTUM);
                            pc = self.pc;
                            continue;
                        }
                        Some(leave) => break leave,
                    }
                }
                if self.tainted {
                    // SAFETY: an instruction of the image.
                    self.after_op(unsafe { &*ops.add(last as usize) });
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
            let flow = unsafe { self.step::<OBSERVED>(op) };
            // One test for what nearly all do; the rest apart, or the compiler makes a table of both, which is a second jump.
            if flow == Flow::Next {
                pc += 1;
                self.pc = pc;
            } else {
                match self.turned(flow, pc) {
                    None => pc = self.pc,
                    Some(Leave::Switched) if self.next_turn(given - budget) => {
                        (*fuel, given, budget) = (QUANTUM, QUANTUM, QUANTUM);
                        pc = self.pc;
                        continue;
                    }
                    Some(leave) => break leave,
                }
            }
            if self.tainted {
                self.after_op(op);
            }
        };
        *fuel -= given - budget;
        self.used += given - budget;
        leave
    }

    /// Runs the instructions from `op`, which is the one at `pc`, to `end`, but those whose results the registers have
    /// ([`Op::of_launch`]). Gives the last one that it came to, and how that went.
    ///
    /// # Safety
    /// They must be instructions of this image that follow one another.
    #[inline(never)]
    unsafe fn run_straight<'i>(&mut self, op: &'i Op, pc: u32, end: u32) -> (Flow, &'i Op) {
        let mut op = std::ptr::from_ref(op);
        // SAFETY: for the whole function as the caller says: `op` and what is ahead of it stay before `end`.
        unsafe {
            let end = op.add((end - pc) as usize);
            let mut pc = pc;
            let constants = self.grid.options.fast.launch_constants;
            let skips = if constants { u8::MAX } else { 0 };
            let skipped = |op: *const Op| usize::from((*op).skip & skips);
            // Their results are there, if others follow that have none yet.
            let step = 1 + skipped(op);
            if constants && (*op).of_launch && op.add(step) < end {
                pc += step as u32;
                op = op.add(step);
            }
            let mut run = (*op).run;
            loop {
                // What is next, and what runs it, is found out before: some processors hardly foresee where such calls go,
                // and wait for it after each of them.
                let step = 1 + skipped(op);
                let next = op.add(step);
                let next_pc = pc + step as u32;
                let next_run = (*if next < end { next } else { op }).run;
                self.mask = self.active;
                self.pc = pc;
                let flow = run(self, &*op);
                if flow != Flow::Next || self.attention {
                    return (flow, &*op);
                }
                if next >= end {
                    return (flow, &*end.sub(1));
                }
                (op, pc, run) = (next, next_pc, next_run);
            }
        }
    }

    /// The place of an instruction of the image.
    pub fn pc_of(&self, op: &Op) -> u32 {
        // SAFETY: of the same list.
        unsafe { std::ptr::from_ref(op).offset_from_unsigned(self.image().code.as_ptr()) as u32 }
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
}

enum Leave {
    Switched,
    Fuel,
    Polled,
}
