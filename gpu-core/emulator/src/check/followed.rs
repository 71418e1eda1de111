//! Marks of undefined values over stretches of instructions that only compute: what they do to marks depends on no value, so
//! that the marks are moved for all of a stretch first, and then it runs as any other.

use std::sync::atomic::Ordering;

use super::gates::is_gate;
use super::marks::Computed;
use crate::exec::cx::{Cx, watch};
use crate::exec::op::{Op, OpInfo, Taint};
use crate::report::Class;

/// Instructions of a stretch, at most.
const LONGEST: u8 = 64;

/// Finds the stretches of a function ([`OpInfo::followed`]), given the opcodes of its instructions.
pub fn find<'t>(code: &[Op], infos: &mut [OpInfo], opcode: impl Fn(&OpInfo) -> &'t str) {
    let mut behind = 0;
    for (op, info) in code.iter().zip(infos).rev() {
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
    /// Moves the marks for the instructions from `pc` on, of which no more than `most` follow one another. Gives how many of
    /// them must run now, as if nothing were marked, with [`Cx::after_op`] behind them.
    #[inline(never)]
    pub fn follow_ahead(&mut self, pc: u32, most: u32) -> u32 {
        let infos = &self.image().infos[pc as usize..];
        let count = most.min(infos[0].followed.into());
        let alone = self.tainted && self.watch & watch::TRACE == 0 && self.warp.is_settled();
        if count == 0 || !alone || self.grid.aborted.load(Ordering::Relaxed) {
            return 0;
        }
        let frame = self.warp.splits[self.warp.current].frame;
        let followed = infos[..count as usize].iter().position(|info| !self.move_marks(info, frame));
        let followed = followed.map_or(count, |at| at as u32);
        if followed > 0 {
            self.look_for_marks();
            (self.attention, self.worker.fresh_taint) = (false, self.tainted);
        }
        followed
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
            if sum.lanes == 0 {
                sum.origin = mark.origin;
            }
            sum.mixed |= mark.mixed;
            sum.lanes |= lanes;
        }
        for slot in &info.writes {
            marks.compute((frame, slot.0), sum, mask);
        }
        self.drop_last(info, frame);
        true
    }
}
