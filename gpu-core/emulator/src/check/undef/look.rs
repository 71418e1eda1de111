//! What is to be looked at before an instruction, and which registers it names.

use std::sync::atomic::Ordering;

use super::marks::bit;
use crate::exec::cx::{Cx, watch};
use crate::exec::op::{Op, OpInfo};

/// Finds the registers that each instruction names ([`OpInfo::names`]).
pub fn find_names(code: &[Op], infos: &mut [OpInfo]) {
    for (op, info) in code.iter().zip(infos) {
        let slots = [op.a, op.b, op.c, op.d, op.guard];
        let slots = slots.iter().chain(&info.reads).chain(&info.writes).filter(|slot| !slot.is_none());
        info.names = slots.filter(|slot| !slot.is_pool()).fold(0, |all, slot| all | bit(*slot));
    }
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
}
