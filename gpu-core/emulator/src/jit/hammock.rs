//! Branches around a few instructions, or between two such ways, which compilers call hammocks: where lanes part there, what lies
//! between runs for those that come to it at once, and all of them go on where they meet. So most of what threads decide for themselves needs no way
//! through the interpreter loop, and no groups.
//!
//! [`Cx::active`] says which lanes run there. Templates work for all 32 and keep the others' values; accesses, and all else
//! that may tell of single lanes, are done by their functions. Where one of those leaves, what the loop would have noted of
//! the lanes that wait is made up for ([`Cx::hold`]).
//!
//! It is done in the order of the interpreter: there the lanes that take a branch to the meeting point are there at once, and
//! the others go on; of two ways, the one behind the branch is gone first.

use std::ffi::c_void;
use std::mem::offset_of;
use std::ops::Range;

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::emit::{Emitter, SEEN, register};
use super::x86::ended;
use crate::count::Tallies;
use crate::exec::cx::{Cx, watch};
use crate::exec::op::{CONDITIONAL, Flow, Op, Slot};
use crate::exec::sched::warp::{Join, NONE, Split, Wait};
use crate::exec::template::{BETWEEN, Native};
use crate::isa::control::is_jump;
use crate::report::Class;

/// Hammocks within each other, at most.
const DEEP: usize = 4;

/// On the stack: by their depth, the lanes that meet behind hammocks, and those that go the other way when the first ones have
/// met; for each lane a word that says whether it runs; and a row of up to 64 bits that has not its place yet.
const MEET: i32 = 8 * SEEN as i32 + 8;
const OTHERS: i32 = MEET + 4 * DEEP as i32;
const RUN: i32 = OTHERS + 4 * DEEP as i32;
const ROW: i32 = RUN + 128;
pub const KEPT: i32 = ROW + 256 - MEET;

/// A branch behind a stretch, for which there is code where lanes part.
pub struct Hammock {
    /// Come to with the lanes that take the branch in `eax`.
    pub from: DynamicLabel,
    /// Where else to go as long as nothing was done.
    out: DynamicLabel,
    stretch: Range<usize>,
}

/// A hammock that the code at hand is in: where its lanes meet, and where those begin that are still to go the other way.
#[derive(Clone, Copy)]
pub struct Within {
    meet: u32,
    others: Option<u32>,
}

impl Within {
    /// Some hammock.
    pub const ANY: Within = Within { meet: NONE, others: None };
}

/// Where code leaves, and the hammocks that it is in there.
pub struct Left {
    label: DynamicLabel,
    within: Vec<Within>,
}

/// Whether the template of an instruction may be used where only some lanes run.
pub fn masks(op: &Op) -> bool {
    op.native.access().is_none() && op.native != Native::Shuffle
}

/// The running group is only `runs` of those that meet at `meet`, and `others` are still to go on from `at`.
unsafe extern "sysv64" fn hold(cx: *mut c_void, meet: u32, lanes: u32, runs: u32, at: u32, others: u32) {
    // SAFETY: the code hands on what it was called with.
    let cx = unsafe { &mut *cx.cast::<Cx<'_>>() };
    cx.hold(meet, lanes, runs, at, others);
}

impl Emitter<'_> {
    /// The hammock whose branch is behind `stretch`, if there can be code for it.
    pub fn hammock_at(&mut self, stretch: &Range<usize>, out: DynamicLabel) -> Option<Hammock> {
        self.is_hammock(stretch.end).then(|| {
            let from = self.ops.new_dynamic_label();
            Hammock { from, out, stretch: stretch.clone() }
        })
    }

    /// Whether there can be code for what lies between a branch and where its lanes meet.
    pub fn is_hammock(&self, branch: usize) -> bool {
        let Some(op) = self.image.code.get(branch) else { return false };
        let around = op.straight == CONDITIONAL && op.list != NONE && op.list as usize > branch + 1;
        self.made.predicated_regions
            && around
            && op.list as usize - branch - 1 <= BETWEEN
            && self.has_ways(branch as u32, op.list, 1)
    }

    /// Whether a branch is around something, or between two ways, that end before `end` and have code.
    fn has_ways(&self, branch: u32, end: u32, deep: usize) -> bool {
        let op = &self.image.code[branch as usize];
        let (to, meet) = (op.imm as u32, op.list);
        if op.guard.is_pool() || meet <= branch || meet > end || deep > DEEP {
            return false;
        }
        if to == meet {
            return self.has_code(branch + 1, meet, meet, deep);
        }
        if to <= branch + 1 || to > meet {
            return false;
        }
        let jump = &self.image.code[to as usize - 1];
        let jumps = is_jump(jump) && jump.imm as u32 == meet && jump.guard.is_pool();
        jumps && self.has_code(branch + 1, to - 1, meet, deep) && self.has_code(to, meet, meet, deep)
    }

    /// Whether all from `from` to `end` has code, where lanes may go to `meet` early.
    fn has_code(&self, from: u32, end: u32, meet: u32, deep: usize) -> bool {
        let mut at = from;
        while at < end {
            let op = &self.image.code[at as usize];
            if op.straight != CONDITIONAL {
                if is_jump(op) || !goes_on(self.image.infos[at as usize].class) {
                    return false;
                }
                at += 1;
            } else if op.list == meet && op.imm as u32 == meet {
                if op.guard.is_pool() {
                    return false;
                }
                at += 1;
            } else {
                if !self.has_ways(at, end, deep + 1) {
                    return false;
                }
                at = op.list;
            }
        }
        true
    }

    /// The code for lanes that part.
    pub fn hammock(&mut self, hammock: &Hammock) {
        let Hammock { from, out, ref stretch } = *hammock;
        let (branch, last) = (stretch.end as u32, self.leave);
        let meet = self.image.code[stretch.end].list;
        let left = offset_of!(Cx<'static>, left) as i32;
        self.wide = false;
        dynasm!(self.ops
            ; .arch x64
            ; =>from
            ; mov rcx, [rbx + left]
            ; sub rcx, stretch.len() as i32 + 1
            ; cmp rcx, (meet - branch) as i32
            ; jl =>out
            ; mov [rbx + left], rcx
        );
        self.counted(|emitter| {
            emitter.tally_cut(stretch);
            emitter.tally_guarded(branch);
        });
        self.ways(branch);
        self.go_to(meet, last);
        for left in std::mem::take(&mut self.left) {
            self.hold_all(&left, last);
        }
    }

    /// What lies between a branch that is behind what was made last, and its meeting point. `eax`: the lanes that take it.
    fn ways(&mut self, branch: u32) {
        let op = &self.image.code[branch as usize];
        let (to, meet) = (op.imm as u32, op.list);
        let depth = self.within.len() as i32;
        let (lanes, others) = (MEET + 4 * depth, OTHERS + 4 * depth);
        let active = offset_of!(Cx<'static>, active) as i32;
        let (back, two) = (self.leave, to != meet);
        let [goes, other, changes, end] = std::array::from_fn(|_| self.ops.new_dynamic_label());
        let first_gone = if two { other } else { end };
        dynasm!(self.ops; .arch x64; mov ecx, [rbx + active]; mov [rsp + lanes], ecx);
        if two {
            dynasm!(self.ops; .arch x64; mov [rsp + others], eax);
        }
        dynasm!(self.ops; .arch x64; xor ecx, eax);
        match two {
            true => dynasm!(self.ops; .arch x64; jz =>changes),
            false => dynasm!(self.ops; .arch x64; jz =>end),
        }
        dynasm!(self.ops; .arch x64; test eax, eax; jz =>goes; mov [rbx + active], ecx);
        self.counted(|emitter| emitter.tally(offset_of!(Tallies, divergent), branch, 1));
        dynasm!(self.ops; .arch x64; =>goes);
        self.within.push(Within { meet, others: two.then_some(to) });
        self.may_leave();
        if two {
            self.between(branch + 1, to - 1, true, first_gone);
            dynasm!(self.ops
                ; .arch x64
                ; =>other
                ; mov eax, [rsp + others]
                ; test eax, eax
                ; jz =>end
                ; mov [rbx + active], eax
                ; =>changes
            );
            self.within.pop();
            self.within.push(Within { meet, others: None });
            self.may_leave();
            self.between(to, meet, false, end);
        } else {
            self.between(branch + 1, meet, false, end);
        }
        self.within.pop();
        self.leave = back;
        self.forget_all();
        dynasm!(self.ops; .arch x64; =>end; mov eax, [rsp + lanes]; mov [rbx + active], eax);
    }

    /// Another place where the code at hand leaves, with what is known now of the lanes that wait.
    fn may_leave(&mut self) {
        self.leave = self.ops.new_dynamic_label();
        self.left.push(Left { label: self.leave, within: self.within.clone() });
    }

    /// All from `from` to `end`, and a jump behind it; goes to `gone` where no lane is left.
    fn between(&mut self, from: u32, end: u32, jump: bool, gone: DynamicLabel) {
        let mut at = from;
        loop {
            let single = |pc: &u32| matches!(self.image.code[*pc as usize].straight, 0 | CONDITIONAL);
            match (at..end).find(single) {
                None => {
                    if at < end + u32::from(jump) {
                        self.some_lanes(at, end, jump);
                    }
                    return;
                }
                Some(next) => {
                    if next > at {
                        self.some_lanes(at, next, false);
                    }
                    at = next + 1;
                    let op = &self.image.code[next as usize];
                    if op.straight == 0 {
                        self.guarded(next, op);
                    } else {
                        at = self.branch_within(next, op, gone);
                    }
                }
            }
        }
    }

    /// Instructions without guards, and a jump behind them.
    fn some_lanes(&mut self, from: u32, end: u32, jump: bool) {
        self.forget_all();
        let behind = end + u32::from(jump);
        let cut = self.image.code[from as usize].straight != behind - from;
        dynasm!(self.ops; .arch x64; mov DWORD [rbx + offset_of!(Cx<'static>, first) as i32], from as i32);
        self.tally_some(from, 1);
        let ops = &self.image.code[from as usize..end as usize];
        if ops.iter().any(|op| masks(op) && op.native != Native::No && !self.is_done(op)) {
            self.widen();
            dynasm!(self.ops; .arch x64; vpbroadcastd ymm12, [rbx + offset_of!(Cx<'static>, active) as i32]);
            for part in 0..4 {
                let bits = self.bits(part);
                dynasm!(self.ops
                    ; .arch x64
                    ; vmovups ymm13, [=>bits]
                    ; vpand ymm14, ymm12, ymm13
                    ; vpcmpeqd ymm14, ymm14, ymm13
                    ; vmovups [rsp + RUN + 32 * part], ymm14
                );
            }
        }
        for pc in from..end {
            let op = &self.image.code[pc as usize];
            if !self.is_done(op) {
                self.instruction(pc, op);
            }
        }
        self.settle();
        dynasm!(self.ops
            ; .arch x64
            ; sub QWORD [rbx + offset_of!(Cx<'static>, left) as i32], (behind - from) as i32
        );
        if cut {
            self.tally_some(behind, -1);
        }
    }

    /// Counts a stretch that the lanes that run begin, or with -1 takes it back from there on.
    fn tally_some(&mut self, at: u32, more: i32) {
        self.counted(|emitter| {
            dynasm!(emitter.ops
                ; .arch x64
                ; mov ecx, [rbx + offset_of!(Cx<'static>, active) as i32]
                ; not ecx
                ; popcnt ecx, ecx
            );
            if more < 0 {
                dynasm!(emitter.ops; .arch x64; neg rcx);
            }
            emitter.tally(offset_of!(Tallies, stretches), at, more);
            emitter.tally_more(offset_of!(Tallies, stretches_absent), at);
        });
    }

    /// The lanes of those that run which the guard of an instruction lets go, in `eax`; counts it.
    fn guard(&mut self, pc: u32, op: &Op) {
        let Slot(guard) = op.guard;
        match op.guard.is_pool() {
            true => dynasm!(self.ops; .arch x64; mov eax, [r13 + (guard & !Slot::POOL) as i32]),
            false => dynasm!(self.ops; .arch x64; mov eax, [r12 + guard as i32]),
        }
        if op.guard_flip != 0 {
            dynasm!(self.ops; .arch x64; xor eax, op.guard_flip as i32);
        }
        dynasm!(self.ops; .arch x64; and eax, [rbx + offset_of!(Cx<'static>, active) as i32]);
        self.counted(|emitter| {
            emitter.tally_guarded(pc);
        });
    }

    /// An instruction that has a guard.
    fn guarded(&mut self, pc: u32, op: &Op) {
        let none = self.ops.new_dynamic_label();
        dynasm!(self.ops; .arch x64; mov DWORD [rbx + offset_of!(Cx<'static>, first) as i32], pc as i32);
        self.guard(pc, op);
        dynasm!(self.ops; .arch x64; test eax, eax; jz =>none);
        self.call_for(pc);
        dynasm!(self.ops; .arch x64; =>none; dec QWORD [rbx + offset_of!(Cx<'static>, left) as i32]);
    }

    /// A branch within: to where the lanes meet, or with a meeting point of its own. Gives where to go on.
    fn branch_within(&mut self, pc: u32, op: &Op, gone: DynamicLabel) -> u32 {
        dynasm!(self.ops; .arch x64; dec QWORD [rbx + offset_of!(Cx<'static>, left) as i32]);
        self.guard(pc, op);
        if op.imm as u32 != op.list || self.within.last().is_none_or(|within| within.meet != op.list) {
            self.ways(pc);
            return op.list;
        }
        let (active, goes) = (offset_of!(Cx<'static>, active) as i32, self.ops.new_dynamic_label());
        dynasm!(self.ops
            ; .arch x64
            ; mov ecx, [rbx + active]
            ; xor ecx, eax
            ; jz =>gone
            ; test eax, eax
            ; jz =>goes
            ; mov [rbx + active], ecx
        );
        self.counted(|emitter| emitter.tally(offset_of!(Tallies, divergent), pc, 1));
        dynasm!(self.ops; .arch x64; =>goes);
        pc + 1
    }

    /// On with all lanes, if there is code and so much may run.
    fn go_to(&mut self, to: u32, leave: DynamicLabel) {
        if let Some((label, count)) = self.blocks.get(&to).copied().filter(|_| self.made.block_chaining) {
            let out = self.ops.new_dynamic_label();
            dynasm!(self.ops
                ; .arch x64
                ; cmp QWORD [rbx + offset_of!(Cx<'static>, left) as i32], count as i32
                ; jl =>out
                ; mov DWORD [rbx + offset_of!(Cx<'static>, first) as i32], to as i32
            );
            self.counted(|emitter| emitter.tally_begin(to));
            dynasm!(self.ops; .arch x64; jmp =>label; =>out);
        }
        dynasm!(self.ops
            ; .arch x64
            ; mov DWORD [rbx + offset_of!(Cx<'static>, pc) as i32], to as i32
            ; mov rax, QWORD ended(Flow::Goto, NONE) as i64
            ; jmp =>leave
        );
    }

    /// Makes up for what the loop would know of the lanes that wait; `rax` is kept.
    fn hold_all(&mut self, left: &Left, leave: DynamicLabel) {
        let label = left.label;
        dynasm!(self.ops; .arch x64; =>label; mov [rsp + ROW], rax);
        for (depth, within) in left.within.iter().enumerate() {
            let (lanes, others) = (MEET + 4 * depth as i32, OTHERS + 4 * depth as i32);
            dynasm!(self.ops; .arch x64; mov rdi, rbx; mov esi, within.meet as i32; mov edx, [rsp + lanes]);
            match depth + 1 < left.within.len() {
                true => dynasm!(self.ops; .arch x64; mov ecx, [rsp + lanes + 4]),
                false => dynasm!(self.ops; .arch x64; mov ecx, [rbx + offset_of!(Cx<'static>, active) as i32]),
            }
            match within.others {
                Some(at) => dynasm!(self.ops; .arch x64; mov r8d, at as i32; mov r9d, [rsp + others]),
                None => dynasm!(self.ops; .arch x64; xor r8d, r8d; xor r9d, r9d),
            }
            dynasm!(self.ops; .arch x64; mov rax, QWORD hold as *const () as i64; call rax);
        }
        dynasm!(self.ops; .arch x64; mov rax, [rsp + ROW]; jmp =>leave);
    }

    /// Code that runs if the launch counts.
    fn counted(&mut self, code: impl FnOnce(&mut Self)) {
        if !self.made.watched {
            return;
        }
        let plain = self.ops.new_dynamic_label();
        dynasm!(self.ops
            ; .arch x64
            ; test BYTE [rbx + offset_of!(Cx<'static>, watch) as i32], watch::COUNT as i8
            ; jz =>plain
        );
        code(self);
        dynasm!(self.ops; .arch x64; =>plain);
    }

    /// Counts an instruction that the lanes in `eax` run.
    fn tally_guarded(&mut self, pc: u32) {
        dynasm!(self.ops; .arch x64; popcnt ecx, eax; neg rcx; add rcx, 32);
        self.tally(offset_of!(Tallies, executed), pc, 1);
        self.tally_more(offset_of!(Tallies, absent), pc);
    }

    /// Adds what is in `rcx`.
    fn tally_more(&mut self, table: usize, pc: u32) {
        let table = (offset_of!(Cx<'static>, tallies) + table) as i32;
        dynasm!(self.ops; .arch x64; mov rdx, [rbx + table]; add [rdx + 8 * pc as i32], rcx);
    }

    /// Keeps a part of a result until the lanes that run are known to get it.
    pub fn keep(&mut self, part: i32, from: u8) {
        dynasm!(self.ops; .arch x64; vmovups [rsp + ROW + 32 * part], Ry(from));
    }

    /// Writes a result, which was kept, in the lanes that run. What `group` holds in the others nobody asks for before all
    /// lanes have met, where it is forgotten.
    pub fn write_some(&mut self, slot: Slot, bytes: u32, group: Option<usize>) {
        let to = slot.0 as i32;
        for part in 0..bytes as i32 / 32 {
            let from = match group {
                Some(group) => register(group, part),
                None => {
                    dynasm!(self.ops; .arch x64; vmovups ymm13, [rsp + ROW + 32 * part]);
                    13
                }
            };
            match bytes {
                128 => dynasm!(self.ops; .arch x64; vmovups ymm12, [rsp + RUN + 32 * part]),
                _ => dynasm!(self.ops; .arch x64; vpmovsxdq ymm12, [rsp + RUN + 16 * part]),
            }
            dynasm!(self.ops
                ; .arch x64
                ; vmovups ymm14, [r12 + to + 32 * part]
                ; vblendvps ymm14, ymm14, Ry(from), ymm12
                ; vmovups [r12 + to + 32 * part], ymm14
            );
        }
    }
}

/// Instructions that look at no other lanes, and wait for nobody.
fn goes_on(class: Class) -> bool {
    match class {
        Class::Integer | Class::Float32 | Class::Float64 | Class::FloatNarrow | Class::Special | Class::Convert => true,
        Class::Move | Class::Compare => true,
        Class::Global | Class::Shared | Class::Local | Class::Const | Class::Atomic => true,
        Class::Branch | Class::Warp | Class::Barrier | Class::AsyncCopy | Class::Matrix | Class::Other => false,
    }
}

impl Cx<'_> {
    /// The running group is only `runs` of those that meet at `meet`. The others of `lanes` wait there, but for `others`, which go
    /// on from `at` when their turn comes.
    fn hold(&mut self, meet: u32, lanes: u32, runs: u32, at: u32, others: u32) {
        let current = self.warp.current;
        let (frame, parent) = (self.warp.splits[current].frame, self.warp.splits[current].join);
        let arrived = lanes & !runs & !others;
        let join = self.warp.open_join(Join { pc: meet, frame, expected: lanes, arrived, parent });
        let split = &mut self.warp.splits[current];
        (split.join, split.mask) = (join, runs);
        if others != 0 {
            self.warp.splits.push(Split { pc: at, mask: others, join, frame, wait: Wait::Ready, polls: 0, awaited: 0 });
        }
        (self.rpc, self.counted) = (meet, runs);
    }
}
