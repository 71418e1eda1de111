//! Which loads fetch what the kernel goes on to store: plain ones, and volatile ones of data ([`super::data`]).
//!
//! Where others update a word by atomics, with nothing to order them, a plain load finds any of its values. That is what
//! a look ahead wants, which decides whether an atomic is worth its while, or what to try a compare-and-swap with. A value
//! that goes into a result has to be the right one: such a load is in a race with those atomics.

use std::collections::HashSet;

use super::flow::Graph;
use crate::exec::image::Texts;
use crate::exec::memory::flags::{DATA, FETCH};
use crate::exec::op::{Op, OpInfo, Slot, Taint};
use crate::exec::opcode::opcode;

/// Loads times instructions that are looked at for one function.
const MOST_STEPS: usize = 1 << 24;

/// Marks those loads of a function. True when there are any, and atomics that they may race with.
pub fn mark(code: &mut [Op], infos: &[OpInfo], texts: &Texts, graph: &Graph) -> bool {
    let text = |at: usize| texts.get(infos[at].text);
    let is_atomic = |at: usize| matches!(name_of(opcode(text(at))), "atom" | "red");
    if !(0..code.len()).any(is_atomic) {
        return false;
    }
    let is_load = |at: usize| name_of(opcode(text(at))) == "ld";
    let in_global = (0..code.len()).any(|at| is_atomic(at) && is_global(opcode(text(at))));
    let fed = stored(code, infos, texts);
    let in_shared = (0..code.len()).any(|at| is_atomic(at) && is_shared(opcode(text(at))));
    let may_meet = |opcode: &str| in_global && is_global(opcode) || in_shared && is_shared(opcode);
    // Relaxed ones were marked where they are data.
    let asks = |at: usize| {
        code[at].e.0 & (DATA | FETCH) != 0 && is_load(at)
            || is_plain_load(opcode(text(at))) && may_meet(opcode(text(at)))
    };
    let fetches = |at: usize| asks(at) && infos[at].writes.iter().any(|slot| fed.contains(slot));
    let loads: Vec<usize> = (0..code.len()).filter(|&at| fetches(at)).collect();
    if loads.len().saturating_mul(code.len()) > MOST_STEPS {
        return false;
    }
    for at in 0..code.len() {
        if is_load(at) && loads.binary_search(&at).is_err() {
            code[at].e.0 &= !FETCH;
        }
    }
    let mut any = false;
    for load in loads {
        let place = place_of(text(load));
        // A compare-and-swap behind it asks again whether the value still stands.
        let asks = |at: usize| opcode(text(at)).contains(".cas.") && place_of(text(at)) == place;
        if place.is_none() || !reaches(graph, load, asks) {
            code[load].e.0 |= FETCH;
            any |= in_global && is_global(opcode(text(load)));
        }
    }
    any
}

fn name_of(opcode: &str) -> &str {
    opcode.split('.').next().unwrap_or_default()
}

/// Of global memory, or of any.
fn is_global(opcode: &str) -> bool {
    !opcode
        .split('.')
        .any(|part| part.starts_with("shared") || matches!(part, "local" | "const") || part.starts_with("param"))
}

fn is_shared(opcode: &str) -> bool {
    opcode.split('.').any(|part| part.starts_with("shared"))
}

fn is_plain_load(opcode: &str) -> bool {
    name_of(opcode) == "ld" && !opcode.split('.').any(|part| is_order(part) || part == "nc")
}

fn is_order(part: &str) -> bool {
    matches!(part, "volatile" | "relaxed" | "acquire" | "mmio")
}

/// Whether a loop over such an instruction may end by what another block does: what it finds there is asked for again and
/// again.
pub fn may_poll(opcode: &str, result_used: bool) -> bool {
    let has = |which: fn(&str) -> bool| opcode.split('.').any(which);
    is_global(opcode)
        && match name_of(opcode) {
            "ld" => has(is_order),
            "atom" => result_used,
            "multimem" => true,
            _ => false,
        }
}

/// What stands in brackets.
fn place_of(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

/// Registers whose values go into what is stored, as they are or computed with. What only decides does not.
fn stored(code: &[Op], infos: &[OpInfo], texts: &Texts) -> HashSet<Slot> {
    let mut fed: HashSet<Slot> = HashSet::new();
    for (op, info) in code.iter().zip(infos) {
        if info.taint == Taint::Memory && name_of(opcode(texts.get(info.text))) == "st" {
            fed.extend(info.reads.iter().filter(|slot| **slot != op.a && **slot != op.guard && !slot.is_pool()));
        }
    }
    loop {
        let before = fed.len();
        for (op, info) in code.iter().zip(infos).rev() {
            let carries = matches!(info.taint, Taint::Copy | Taint::Compute | Taint::Shuffle | Taint::Select);
            if !carries || !info.writes.iter().any(|slot| fed.contains(slot)) {
                continue;
            }
            let name = name_of(opcode(texts.get(info.text)));
            if !name.starts_with("set") && name != "testp" {
                let chooses = |slot: &Slot| info.taint == Taint::Select && *slot == op.c;
                fed.extend(info.reads.iter().filter(|slot| **slot != op.guard && !slot.is_pool() && !chooses(slot)));
            }
        }
        if fed.len() == before {
            return fed;
        }
    }
}

/// Whether some way leads from `from` to such an instruction.
fn reaches(graph: &Graph, from: usize, such: impl Fn(usize) -> bool) -> bool {
    let mut seen = vec![false; graph.next.len()];
    let mut todo = vec![from];
    while let Some(at) = todo.pop() {
        for &next in graph.next.get(at).into_iter().flatten() {
            let next = next as usize;
            if next < seen.len() && !std::mem::replace(&mut seen[next], true) {
                if such(next) {
                    return true;
                }
                todo.push(next);
            }
        }
    }
    false
}
