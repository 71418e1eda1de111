//! Registers that decide where a function goes.

use std::collections::HashSet;

use crate::exec::op::{Op, OpInfo, Slot};
use crate::report::Class;

/// The registers of a function that can reach a guard, an index of a jump or an argument of a call.
pub fn deciders(code: &[Op], infos: &[OpInfo]) -> HashSet<Slot> {
    let mut deciding: HashSet<Slot> = HashSet::new();
    for (op, info) in code.iter().zip(infos) {
        deciding.insert(op.guard);
        if matches!(info.class, Class::Branch | Class::Barrier) {
            deciding.extend(&info.reads);
        }
    }
    loop {
        let before = deciding.len();
        for info in infos.iter().rev() {
            if info.writes.iter().any(|slot| deciding.contains(slot)) {
                deciding.extend(&info.reads);
            }
        }
        if deciding.len() == before {
            return deciding;
        }
    }
}
