//! Branches around a few instructions that only some lanes take, which compilers call hammocks: what lies between runs for the
//! other lanes at once, and all of them go on where they meet. So most of what threads decide for themselves needs no way
//! through the interpreter loop, and no groups.
//!
//! [`Cx::active`] says which lanes run there. Templates work for all 32 and keep the others' values; accesses, and all else
//! that may tell of single lanes, are done by their functions. Where one of those leaves, what the loop would have noted of
//! the lanes that wait is made up for ([`Cx::hold`]).
//!
//! It is done in the order of the interpreter: there the lanes that take the branch are at the meeting point at once, and the
//! others go on.

use std::ffi::c_void;
use std::mem::offset_of;
use std::ops::Range;

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::emit::{Emitter, SEEN, register};
use super::form::{BETWEEN, Native};
use super::x86::ended;
use crate::count::Tallies;
use crate::exec::cx::{Cx, watch};
use crate::exec::op::{CONDITIONAL, Flow, Op, Slot};
use crate::exec::warp::{Join, NONE};
use crate::isa::control::is_jump;
use crate::report::Class;

/// Hammocks within each other, at most.
const DEEP: usize = 4;

/// On the stack: by their depth, the lanes that meet behind hammocks; for each lane a word that says whether it runs; and a
/// row of up to 64 bits that has not its place yet.
const MEET: i32 = 8 * SEEN as i32 + 8;
const RUN: i32 = MEET + 4 * DEEP as i32;
const ROW: i32 = RUN + 128;
pub const KEPT: i32 = ROW + 256 - MEET;

/// A branch behind a stretch, for which there is code where lanes part.
pub struct Hammock {
    /// Come to with the lanes that take the branch in `eax`.
    pub from: DynamicLabel,
    /// Where else to go as long as nothing was done.
    out: DynamicLabel,
    stretch: Range<usize>,
    meet: u32,
}

/// Whether the template of an instruction may be used where only some lanes run.
pub fn masks(op: &Op) -> bool {
    op.native.access().is_none() && op.native != Native::Shuffle
}

/// The running group is only what is left of `expected`, which meets at `meet`.
unsafe extern "sysv64" fn hold(cx: *mut c_void, meet: u32, expected: u32, left: u32) {
    // SAFETY: the code hands on what it was called with.
    let cx = unsafe { &mut *cx.cast::<Cx<'_>>() };
    cx.hold(meet, expected, left);
}

impl Emitter<'_> {
    /// The hammock whose branch is behind `stretch`, if there can be code for it.
    pub fn hammock_at(&mut self, stretch: &Range<usize>, out: DynamicLabel) -> Option<Hammock> {
        let meet = self.meets_behind(stretch.end)?;
        Some(Hammock { from: self.ops.new_dynamic_label(), out, stretch: stretch.clone(), meet })
    }

    /// Where lanes that part at a branch meet, if there can be code for what lies between.
    pub fn meets_behind(&self, branch: usize) -> Option<u32> {
        let op = self.image.code.get(branch)?;
        let meet = op.list;
        let around = op.imm as u32 == meet && meet != NONE && meet as usize > branch + 1 && !op.guard.is_pool();
        if !around || meet as usize - branch - 1 > BETWEEN {
            return None;
        }
        let mut open = vec![meet];
        for pc in branch + 1..meet as usize {
            while open.last() == Some(&(pc as u32)) {
                open.pop();
            }
            let op = self.image.code.get(pc)?;
            if op.straight == CONDITIONAL {
                let (to, inner) = (op.list, *open.last()?);
                if op.guard.is_pool() || op.imm as u32 != to || to as usize <= pc || to > inner || to == NONE {
                    return None;
                }
                if to != inner {
                    open.push(to);
                }
                if open.len() > DEEP {
                    return None;
                }
            } else if op.straight == 0 || is_jump(op) || !goes_on(self.image.infos[pc].class) {
                return None;
            }
        }
        Some(meet)
    }

    /// The code for lanes that part.
    pub fn hammock(&mut self, hammock: &Hammock) {
        let Hammock { from, out, ref stretch, meet } = *hammock;
        let (branch, last) = (stretch.end as u32, self.leave);
        dynasm!(self.ops
            ; .arch x64
            ; =>from
            ; mov rcx, [rbx + offset_of!(Cx<'static>, left) as i32]
            ; sub rcx, stretch.len() as i32 + 1
            ; cmp rcx, (meet - branch) as i32
            ; jl =>out
            ; mov [rbx + offset_of!(Cx<'static>, left) as i32], rcx
            ; not eax
            ; mov [rbx + offset_of!(Cx<'static>, active) as i32], eax
            ; mov DWORD [rsp + MEET], -1
        );
        self.counted(|emitter| {
            emitter.tally_cut(stretch);
            emitter.tally(offset_of!(Tallies, executed), branch, 1);
            emitter.tally(offset_of!(Tallies, divergent), branch, 1);
            dynasm!(emitter.ops; .arch x64; popcnt ecx, eax);
            emitter.tally_more(offset_of!(Tallies, absent), branch);
        });
        let leaves = self.between(branch + 1, meet);
        dynasm!(self.ops; .arch x64; mov DWORD [rbx + offset_of!(Cx<'static>, active) as i32], -1);
        self.go_to(meet, last);
        for (label, meets) in leaves {
            self.hold_all(label, &meets, last);
        }
        self.leave = last;
    }

    /// All that lies between a branch and its meeting point. Gives where it leaves, and the meeting points that are open there.
    fn between(&mut self, from: u32, meet: u32) -> Vec<(DynamicLabel, Vec<u32>)> {
        let mut leaves = Vec::new();
        let mut ends = Vec::new();
        self.wide = false;
        self.open(meet, &mut ends, &mut leaves);
        let mut at = from;
        loop {
            while let Some(end) = ends.pop_if(|_| self.within.last() == Some(&at)) {
                self.within.pop();
                self.forget_all();
                dynasm!(self.ops; .arch x64; =>end);
                if let Some((label, _)) = leaves.iter().rfind(|(_, meets)| *meets == self.within) {
                    self.leave = *label;
                    let lanes = MEET + 4 * self.within.len() as i32;
                    dynasm!(self.ops
                        ; .arch x64
                        ; mov eax, [rsp + lanes]
                        ; mov [rbx + offset_of!(Cx<'static>, active) as i32], eax
                    );
                }
            }
            let Some(&inner) = self.within.last() else { return leaves };
            let branches = |pc: &u32| self.image.code[*pc as usize].straight == CONDITIONAL;
            let next = (at..inner).find(branches).unwrap_or(inner);
            if next > at {
                self.some_lanes(at, next);
            }
            at = next;
            if next < inner {
                self.narrow_to(next, &mut ends, &mut leaves);
                at = next + 1;
            }
        }
    }

    /// A hammock begins.
    fn open(&mut self, meet: u32, ends: &mut Vec<DynamicLabel>, leaves: &mut Vec<(DynamicLabel, Vec<u32>)>) {
        self.within.push(meet);
        self.leave = self.ops.new_dynamic_label();
        leaves.push((self.leave, self.within.clone()));
        ends.push(self.ops.new_dynamic_label());
    }

    /// Instructions without branches.
    fn some_lanes(&mut self, from: u32, end: u32) {
        self.forget_all();
        let cut = self.image.code[from as usize].straight != end - from;
        dynasm!(self.ops; .arch x64; mov DWORD [rbx + offset_of!(Cx<'static>, first) as i32], from as i32);
        self.counted(|emitter| {
            dynasm!(emitter.ops
                ; .arch x64
                ; mov ecx, [rbx + offset_of!(Cx<'static>, active) as i32]
                ; not ecx
                ; popcnt ecx, ecx
            );
            emitter.tally(offset_of!(Tallies, stretches), from, 1);
            emitter.tally_more(offset_of!(Tallies, stretches_absent), from);
        });
        let ops = &self.image.code[from as usize..end as usize];
        if ops.iter().any(|op| masks(op) && op.native != Native::No && !op.of_launch) {
            self.widen();
            let bits = self.bits;
            dynasm!(self.ops; .arch x64; vpbroadcastd ymm12, [rbx + offset_of!(Cx<'static>, active) as i32]);
            for part in 0..4 {
                dynasm!(self.ops
                    ; .arch x64
                    ; vmovups ymm13, [=>bits[part as usize]]
                    ; vpand ymm14, ymm12, ymm13
                    ; vpcmpeqd ymm14, ymm14, ymm13
                    ; vmovups [rsp + RUN + 32 * part], ymm14
                );
            }
        }
        for pc in from..end {
            let op = &self.image.code[pc as usize];
            if !op.of_launch {
                self.instruction(pc, op);
            }
        }
        self.settle();
        dynasm!(self.ops
            ; .arch x64
            ; sub QWORD [rbx + offset_of!(Cx<'static>, left) as i32], (end - from) as i32
        );
        if cut {
            self.counted(|emitter| {
                dynasm!(emitter.ops
                    ; .arch x64
                    ; mov ecx, [rbx + offset_of!(Cx<'static>, active) as i32]
                    ; not ecx
                    ; popcnt ecx, ecx
                    ; neg rcx
                );
                emitter.tally(offset_of!(Tallies, stretches), end, -1);
                emitter.tally_more(offset_of!(Tallies, stretches_absent), end);
            });
        }
    }

    /// A branch within: to the same meeting point, or to one before it.
    fn narrow_to(&mut self, pc: u32, ends: &mut Vec<DynamicLabel>, leaves: &mut Vec<(DynamicLabel, Vec<u32>)>) {
        let op = &self.image.code[pc as usize];
        let (meet, Slot(guard)) = (op.list, op.guard);
        dynasm!(self.ops
            ; .arch x64
            ; dec QWORD [rbx + offset_of!(Cx<'static>, left) as i32]
            ; mov eax, [r12 + guard as i32]
        );
        if op.guard_flip != 0 {
            dynasm!(self.ops; .arch x64; xor eax, op.guard_flip as i32);
        }
        let (active, goes) = (offset_of!(Cx<'static>, active) as i32, self.ops.new_dynamic_label());
        dynasm!(self.ops; .arch x64; and eax, [rbx + active]);
        self.counted(|emitter| {
            dynasm!(emitter.ops; .arch x64; popcnt ecx, eax; neg rcx; add rcx, 32);
            emitter.tally(offset_of!(Tallies, executed), pc, 1);
            emitter.tally_more(offset_of!(Tallies, absent), pc);
        });
        if self.within.last() != Some(&meet) {
            let lanes = MEET + 4 * self.within.len() as i32;
            self.open(meet, ends, leaves);
            dynasm!(self.ops; .arch x64; mov ecx, [rbx + active]; mov [rsp + lanes], ecx);
        }
        let end = ends[ends.len() - 1];
        dynasm!(self.ops; .arch x64; mov ecx, [rbx + active]; xor ecx, eax; jz =>end; test eax, eax; jz =>goes);
        dynasm!(self.ops; .arch x64; mov [rbx + active], ecx);
        self.counted(|emitter| emitter.tally(offset_of!(Tallies, divergent), pc, 1));
        dynasm!(self.ops; .arch x64; =>goes);
    }

    /// On with all lanes, if there is code and so much may run.
    fn go_to(&mut self, to: u32, leave: DynamicLabel) {
        if let Some((label, count)) = self.blocks.get(&to).copied() {
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
    fn hold_all(&mut self, label: DynamicLabel, meets: &[u32], leave: DynamicLabel) {
        dynasm!(self.ops; .arch x64; =>label; mov [rsp + ROW], rax);
        for (depth, meet) in meets.iter().enumerate() {
            let lanes = MEET + 4 * depth as i32;
            dynasm!(self.ops; .arch x64; mov rdi, rbx; mov esi, *meet as i32; mov edx, [rsp + lanes]);
            match depth + 1 < meets.len() {
                true => dynasm!(self.ops; .arch x64; mov ecx, [rsp + lanes + 4]),
                false => dynasm!(self.ops; .arch x64; mov ecx, [rbx + offset_of!(Cx<'static>, active) as i32]),
            }
            dynasm!(self.ops; .arch x64; mov rax, QWORD hold as *const () as i64; call rax);
        }
        dynasm!(self.ops; .arch x64; mov rax, [rsp + ROW]; jmp =>leave);
    }

    /// Code that runs if the launch counts.
    fn counted(&mut self, code: impl FnOnce(&mut Self)) {
        if !self.watched {
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
    /// The running group is only what is left of `expected`: the others of those wait for it at `meet`.
    fn hold(&mut self, meet: u32, expected: u32, left: u32) {
        let current = self.warp.current;
        let (frame, parent) = (self.warp.splits[current].frame, self.warp.splits[current].join);
        let join = self.warp.open_join(Join { pc: meet, frame, expected, arrived: expected & !left, parent });
        let split = &mut self.warp.splits[current];
        (split.join, split.mask) = (join, left);
        (self.rpc, self.counted) = (meet, left);
    }
}
