//! Marks of undefined values over stretches of instructions that only compute: what they do to marks depends on no value, so
//! that the marks are moved for all of a stretch first, and then it runs as any other.

use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;

use super::gates::is_gate;
use super::marks::{Computed, bit};
use crate::exec::cx::{Cx, watch};
use crate::exec::op::{CONDITIONAL, Op, OpInfo, Taint};
use crate::report::Class;

/// Instructions that run as if nothing were marked: how many, and how many may be done by machine code.
pub type Ran = (u32, RangeInclusive<u32>);

/// Instructions of a stretch, at most.
const LONGEST: u8 = 64;

/// Finds the stretches of a function ([`OpInfo::followed`]) and the registers that it names where, given the opcodes of its
/// instructions.
pub fn find<'t>(code: &[Op], infos: &mut [OpInfo], opcode: impl Fn(&OpInfo) -> &'t str) {
    let (mut behind, mut names_behind) = (0, 0);
    for (op, info) in code.iter().zip(infos).rev() {
        let slots = [op.a, op.b, op.c, op.d, op.guard];
        let slots = slots.iter().chain(&info.reads).chain(&info.writes).filter(|slot| !slot.is_none());
        info.names = slots.filter(|slot| !slot.is_pool()).fold(0, |all, slot| all | bit(*slot));
        let goes_on = op.straight > 1 && op.straight != CONDITIONAL;
        info.names_ahead = info.names | if goes_on { names_behind } else { 0 };
        names_behind = info.names_ahead;
        behind = if only_computes(op, info, opcode(info)) { LONGEST.min(behind + 1) } else { 0 };
        info.followed = behind;
    }
}

/// Whether nothing but registers has a part in an instruction, and it does nothing else about marks than to move them.
fn only_computes(op: &Op, info: &OpInfo, opcode: &str) -> bool {
    let of_registers = matches!(
        info.class,
        Class::Integer
            | Class::Float32
            | Class::Float64
            | Class::FloatNarrow
            | Class::Special
            | Class::Convert
            | Class::Compare
            | Class::Move
    );
    let moves_marks = match info.taint {
        Taint::Compute | Taint::Select => true,
        // Of a whole register.
        Taint::Copy => opcode.starts_with("mov.") && op.list_len == 0,
        _ => false,
    };
    of_registers && moves_marks && op.guard.is_pool() && !is_gate(op)
}

impl Cx<'_> {
    /// Called before an instruction when something is unusual. False: end the launch.
    pub fn look_up(&mut self, op: &Op) -> bool {
        if self.grid.aborted.load(Ordering::Relaxed) {
            return false;
        }
        self.attention = self.tainted || self.steps();
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

    /// Moves the marks for the instructions from `pc` on, of which no more than `most` follow one another. They must run now, as
    /// if nothing were marked, with [`Cx::after_op`] behind them.
    #[inline(never)]
    pub fn follow_ahead(&mut self, pc: u32, most: u32) -> Option<Ran> {
        let infos = &self.image().infos[pc as usize..];
        let count = most.min(infos[0].followed.into());
        if count == 0 || !self.only_marks() {
            return None;
        }
        let frame = self.warp.splits[self.warp.current].frame;
        let infos = &infos[..count as usize];
        let followed = match self.follow_whole(pc, infos, frame) {
            true => count,
            false => infos.iter().position(|info| !self.move_marks(info, frame)).map_or(count, |at| at as u32),
        };
        if followed == 0 {
            return None;
        }
        self.look_for_marks();
        (self.attention, self.worker.fresh_taint) = (false, self.tainted);
        Some((followed, followed..=followed))
    }

    /// Whether nothing but marks asks for attention.
    #[inline(always)]
    fn only_marks(&self) -> bool {
        let alone = self.grid.options.fast.taint_ahead
            && !self.steps()
            && self.tainted
            && self.watch & watch::TRACE == 0
            && self.warp.is_settled();
        alone && !self.grid.aborted.load(Ordering::Relaxed)
    }

    /// Whether an instruction that asks for attention can run without, since it names no register that is marked.
    #[inline(never)]
    pub fn names_no_mark(&self, pc: u32) -> bool {
        self.only_marks() && !self.warp.poison.may_have_any(self.image().infos[pc as usize].names)
    }

    /// The same of all that follow it straight on, `most` at most. If so, they must run now, with [`Cx::after_op`] behind them.
    #[inline(never)]
    pub fn name_no_mark(&mut self, pc: u32, most: u32) -> Option<Ran> {
        let info = &self.image().infos[pc as usize];
        if !self.only_marks() || self.warp.poison.may_have_any(info.names_ahead) {
            return None;
        }
        (self.attention, self.worker.fresh_taint) = (false, true);
        // What only computes: a barrier would go on to other warps.
        Some((most, 1..=most.min(info.followed.into())))
    }

    /// Moves the marks for one. False: how depends on values, and nothing was changed.
    #[inline(always)]
    fn move_marks(&mut self, info: &OpInfo, frame: u32) -> bool {
        let (mask, marks) = (self.active, &mut self.warp.poison);
        let mut sum = Computed::default();
        for slot in &info.reads {
            let Some(mark) = marks.get((frame, slot.0)) else { continue };
            let lanes = mark.lanes & mask;
            if lanes == 0 {
                continue;
            }
            if info.taint == Taint::Copy {
                // The only register that it reads.
                let mark = mark.clone().within(mask);
                for to in &info.writes {
                    self.mark((frame, to.0), mark.clone(), mask);
                }
                self.drop_last(info, frame);
                return true;
            }
            if info.taint != Taint::Compute || info.moves || info.writes.len() != 1 {
                return false;
            }
            sum.add(mark, mask);
        }
        for slot in &info.writes {
            marks.compute((frame, slot.0), sum, mask);
        }
        self.drop_last(info, frame);
        true
    }
}
