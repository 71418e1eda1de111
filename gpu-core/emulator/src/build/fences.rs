//! `wgmma.fence`: which products can be reached with their registers touched since the last fence.
//!
//! PTX asks for a fence before the first product of a kernel and between any access to a register and a product that
//! uses it. The compiler may move arithmetic across the fence, so only ways that meet no fence at all since the last
//! `wgmma.wait_group` count; copies stand for what they copy.

use std::collections::{HashMap, VecDeque};

use crate::analysis::flow::Graph;
use crate::exec::op::{Op, OpInfo, Slot, Taint};
use crate::isa::wgmma::{Part, fragments, mark_unfenced, part};

/// What is known at a place, over all ways to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    /// Some way met no fence since the kernel began.
    virgin: bool,
    /// Some way met no fence since the last wait.
    open: bool,
    /// Registers touched since the last fence.
    touched: Vec<u64>,
}

/// Marks the products of a function that need a fence and may not have had one.
pub fn check(code: &mut [Op], infos: &[OpInfo], graph: &Graph, entry: bool) {
    let products: Vec<usize> = (0..code.len()).filter(|at| part(&code[*at]) == Some(Part::Product)).collect();
    if products.is_empty() {
        return;
    }
    let mut index: HashMap<Slot, usize> = HashMap::new();
    for info in infos {
        for slot in info.reads.iter().chain(&info.writes).filter(|slot| !slot.is_pool()) {
            let next = index.len();
            index.entry(*slot).or_insert(next);
        }
    }
    let words = index.len().div_ceil(64);
    if code.len().saturating_mul(words) > 1 << 26 {
        // A function this large would cost more than the check is worth.
        return;
    }
    let parts: Vec<Option<Part>> = code.iter().map(part).collect();
    let bit = |slot: &Slot| index.get(slot).map(|at| (at / 64, 1u64 << (at % 64)));
    let step = |at: usize, state: &mut State| {
        let info = &infos[at];
        match parts[at] {
            Some(Part::Fence) => {
                (state.virgin, state.open) = (false, false);
                state.touched.fill(0);
            }
            Some(Part::Wait) => state.open = true,
            Some(Part::Product) => {}
            None if info.taint == Taint::Copy => {
                let touched = info.reads.iter().filter_map(bit).any(|(word, mask)| state.touched[word] & mask != 0);
                for (word, mask) in info.writes.iter().filter_map(bit) {
                    state.touched[word] =
                        if touched { state.touched[word] | mask } else { state.touched[word] & !mask };
                }
            }
            None => {
                for (word, mask) in info.reads.iter().chain(&info.writes).filter_map(bit) {
                    state.touched[word] |= mask;
                }
            }
        }
    };
    // States at the beginnings of straight pieces only.
    let mut leader = vec![false; code.len() + 1];
    leader[0] = true;
    for (at, next) in graph.next.iter().enumerate() {
        if next.len() != 1 || next[0] as usize != at + 1 {
            leader[at + 1] = true;
            next.iter().for_each(|to| leader[*to as usize] = true);
        }
    }
    let mut states: HashMap<usize, State> = HashMap::new();
    states.insert(0, State { virgin: entry, open: entry, touched: vec![if entry { u64::MAX } else { 0 }; words] });
    let mut todo = VecDeque::from([0usize]);
    let mut found = Vec::new();
    while let Some(start) = todo.pop_front() {
        let mut state = states[&start].clone();
        let mut at = start;
        loop {
            if parts[at] == Some(Part::Product) {
                let own = infos[at].writes.iter().chain(fragments(&code[at], &infos[at].reads)).filter_map(bit);
                let touched = own.into_iter().any(|(word, mask)| state.touched[word] & mask != 0);
                if state.virgin || state.open && touched {
                    found.push(at);
                }
            }
            step(at, &mut state);
            let next = &graph.next[at];
            if next.len() == 1 && next[0] as usize == at + 1 && at + 1 < code.len() && !leader[at + 1] {
                at += 1;
                continue;
            }
            for to in next.iter().map(|to| *to as usize).filter(|to| *to < code.len()) {
                let changed = match states.get_mut(&to) {
                    None => {
                        states.insert(to, state.clone());
                        true
                    }
                    Some(known) => {
                        let before = known.clone();
                        known.virgin |= state.virgin;
                        known.open |= state.open;
                        known.touched.iter_mut().zip(&state.touched).for_each(|(have, new)| *have |= new);
                        *known != before
                    }
                };
                if changed {
                    todo.push_back(to);
                }
            }
            break;
        }
    }
    for at in found {
        mark_unfenced(&mut code[at]);
    }
}
