//! What a stretch goes on to by itself, without a way through the interpreter loop: the one behind it, the one that it jumps to,
//! or the one that a branch behind it takes all lanes to. It counts as the loop does, and leaves to that where lanes part, where
//! they may meet others, where no more instructions may run, and what has no code.

use std::mem::offset_of;
use std::ops::Range;

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::emit::Emitter;
use super::meeting::give_turn;
use crate::count::Tallies;
use crate::exec::cx::{Cx, watch};
use crate::exec::op::{CONDITIONAL, Flow, Op, Slot};
use crate::exec::sched::warp::NONE;
use crate::isa::control::is_jump;

/// How the lanes went at a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branch {
    None,
    Taken,
    NotTaken,
}

impl Emitter<'_> {
    /// Where the last instruction of a stretch jumps to.
    pub fn jump_of(&self, stretch: &Range<usize>) -> Option<u32> {
        let last = self.image.code[stretch.clone()].last()?;
        is_jump(last).then_some(last.imm as u32)
    }

    /// Goes on behind a stretch, all of which has run but the jump at its end, or leaves with what [`Cx::run_code`] wants to
    /// know.
    ///
    /// [`Cx::run_code`]: super::x86
    pub fn go_on(&mut self, stretch: &Range<usize>, jump: Option<u32>) {
        let end = stretch.end as u32;
        let last = u64::from(end - 1) << 8;
        let out = self.ops.new_dynamic_label();
        // Other lanes may wait where it leads: then none of this is done.
        dynasm!(self.ops; .arch x64; cmp DWORD [rbx + offset_of!(Cx<'static>, rpc) as i32], NONE as i32; jne =>out);
        if let Some(target) = jump {
            self.go(stretch, target, Branch::None, out);
            dynasm!(self.ops
                ; .arch x64
                ; =>out
                ; mov DWORD [rbx + offset_of!(Cx<'static>, pc) as i32], target as i32
                ; mov rax, QWORD (last | (1 + Flow::Goto as u64)) as i64
            );
            return;
        }
        match self.image.code.get(stretch.end) {
            Some(op) if op.straight == CONDITIONAL => self.branch(stretch, op, out),
            Some(_) => self.go(stretch, end, Branch::None, out),
            None => {}
        }
        dynasm!(self.ops; .arch x64; =>out; mov rax, QWORD last as i64);
    }

    /// The branch behind a stretch, where all lanes go one way and that has code.
    fn branch(&mut self, stretch: &Range<usize>, op: &Op, out: DynamicLabel) {
        let (target, behind) = (op.imm as u32, stretch.end as u32 + 1);
        if op.guard.is_pool() {
            return;
        }
        let hammock = self.hammock_at(stretch, out);
        if hammock.is_none() && !self.blocks.contains_key(&target) && !self.blocks.contains_key(&behind) {
            return;
        }
        let parted = hammock.as_ref().map_or(out, |hammock| hammock.from);
        self.hammocks.extend(hammock);
        let not_taken = self.ops.new_dynamic_label();
        let Slot(guard) = op.guard;
        dynasm!(self.ops; .arch x64; mov eax, [r12 + guard as i32]);
        if op.guard_flip != 0 {
            dynasm!(self.ops; .arch x64; xor eax, op.guard_flip as i32);
        }
        dynasm!(self.ops; .arch x64; test eax, eax; jz =>not_taken; cmp eax, -1; jne =>parted);
        self.go(stretch, target, Branch::Taken, out);
        dynasm!(self.ops; .arch x64; jmp =>out; =>not_taken);
        self.go(stretch, behind, Branch::NotTaken, out);
    }

    /// Goes on at `to`, if that has code and so much may run; else to `out`, or on.
    fn go(&mut self, stretch: &Range<usize>, to: u32, branch: Branch, out: DynamicLabel) {
        let Some((label, count)) = self.blocks.get(&to).copied().filter(|_| self.made.block_chaining) else { return };
        let end = stretch.end as u32;
        let done = stretch.len() as i32 + i32::from(branch != Branch::None);
        dynasm!(self.ops
            ; .arch x64
            ; mov rax, [rbx + offset_of!(Cx<'static>, left) as i32]
            ; sub rax, done
            ; cmp rax, count as i32
            ; jl =>out
            ; mov [rbx + offset_of!(Cx<'static>, left) as i32], rax
            ; mov DWORD [rbx + offset_of!(Cx<'static>, first) as i32], to as i32
        );
        if self.made.watched {
            let plain = self.ops.new_dynamic_label();
            dynasm!(self.ops
                ; .arch x64
                ; test BYTE [rbx + offset_of!(Cx<'static>, watch) as i32], watch::COUNT as i8
                ; jz =>plain
            );
            self.tally_cut(stretch);
            if branch != Branch::None {
                self.tally(offset_of!(Tallies, executed), end, 1);
            }
            if branch == Branch::NotTaken {
                self.tally(offset_of!(Tallies, absent), end, 32);
            }
            self.tally_begin(to);
            dynasm!(self.ops; .arch x64; =>plain);
        }
        dynasm!(self.ops; .arch x64; jmp =>label);
    }

    /// Counts a stretch that all lanes begin.
    pub fn tally_begin(&mut self, at: u32) {
        if self.image.code[at as usize].straight != CONDITIONAL {
            self.tally(offset_of!(Tallies, stretches), at, 1);
        }
    }

    /// Takes back what was counted of instructions behind a stretch that are not of it.
    pub fn tally_cut(&mut self, stretch: &Range<usize>) {
        if !stretch.is_empty() && self.image.code[stretch.start].straight != stretch.len() as u32 {
            self.tally(offset_of!(Tallies, stretches), stretch.end as u32, -1);
        }
    }

    /// A barrier of the block or the end, where this goes on with this warp, or with the next one where that stands.
    pub fn turn(&mut self, pc: u32) {
        let (leave, go_on, elsewhere) = (self.leave(), self.ops.new_dynamic_label(), self.ops.new_dynamic_label());
        dynasm!(self.ops; .arch x64; mov eax, -1);
        self.stands_at(pc);
        dynasm!(self.ops
            ; .arch x64
            ; mov rax, QWORD give_turn as *const () as i64
            ; call rax
            ; mov r12, [rbx + offset_of!(Cx<'static>, regs) as i32]
            ; test rdx, rdx
            ; jnz =>elsewhere
            ; test eax, eax
            ; jz =>go_on
            ; jmp =>leave
            ; =>elsewhere
            ; jmp rdx
            ; =>go_on
        );
    }

    /// Adds to what is counted of an instruction.
    pub fn tally(&mut self, table: usize, pc: u32, more: i32) {
        let table = (offset_of!(Cx<'static>, tallies) + table) as i32;
        dynasm!(self.ops
            ; .arch x64
            ; mov rdx, [rbx + table]
            ; add QWORD [rdx + 8 * pc as i32], more
        );
    }
}
