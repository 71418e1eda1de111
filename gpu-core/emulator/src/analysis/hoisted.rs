//! Loads that a compiler took out of a condition.
//!
//! `if (threadIdx.x == 0 && flag)` becomes a load of `flag` by all threads and an `and` of two predicates, where the
//! load can do no harm. But of the source only the first thread reads, and nobody else need be done before `flag` is
//! written again. So in the lanes in which another predicate, known by then, decides alone, such a load takes no part in
//! races.

use super::flow::Graph;
use crate::exec::cx::{Cx, watch};
use crate::exec::image::{Image, Texts};
use crate::exec::op::{Exec, Flow, Op, OpInfo, Slot, Taint};
use crate::exec::opcode::opcode;
use crate::exec::template::Native;

/// A load of which some lanes have no need.
#[derive(Clone, Copy, Debug)]
pub struct Hoisted {
    pub pc: u32,
    run: Exec,
    /// Says in which lanes its value matters, by the bits of `flip` the other way round.
    matters: Slot,
    flip: u32,
}

/// Instructions from the load to where another predicate decides.
const FAR: usize = 16;

/// Puts [`needed`] in the place of what runs such loads of a function that begins at `first_pc`.
pub fn find(code: &mut [Op], infos: &[OpInfo], texts: &Texts, graph: &Graph, first_pc: u32) -> Vec<Hoisted> {
    let text = |at: usize| opcode(texts.get(infos[at].text));
    let mut found = Vec::new();
    for load in 0..code.len() {
        let shared = text(load).starts_with("ld.shared.") || text(load).starts_with("ld.global.");
        let plain = !["volatile", "relaxed", "acquire", "mmio", "nc"].iter().any(|part| text(load).contains(part));
        let guarded = !code[load].guard.is_pool() || code[load].guard_flip != 0;
        if shared
            && plain
            && !guarded
            && let Some((matters, flip)) = decided_by(load, code, infos, &text, graph)
        {
            let run = std::mem::replace(&mut code[load].run, needed);
            code[load].native = Native::No;
            found.push(Hoisted { pc: first_pc + load as u32, run, matters, flip });
        }
    }
    found
}

/// The predicate that decides, if all that is made of the loaded value comes to it, and without a branch.
fn decided_by<'t>(
    load: usize,
    code: &[Op],
    infos: &[OpInfo],
    text: &impl Fn(usize) -> &'t str,
    graph: &Graph,
) -> Option<(Slot, u32)> {
    let [mut value] = infos[load].writes[..] else { return None };
    let known = |slot: Slot, end: usize| !infos[load..end].iter().any(|info| info.writes.contains(&slot));
    for at in load + 1..(load + FAR).min(code.len()) {
        if graph.next[at - 1][..] != [at as u32] {
            return None;
        }
        let (op, info) = (&code[at], &infos[at]);
        if !info.reads.contains(&value) {
            if info.writes.contains(&value) {
                return None;
            }
            continue;
        }
        let used = infos.iter().filter(|info| info.reads.contains(&value)).count();
        let guarded = !op.guard.is_pool() || op.guard_flip != 0;
        let [result] = info.writes[..] else { return None };
        if used != 1 || guarded {
            return None;
        }
        let name = text(at);
        let decides = match name {
            // `or` asks where the other one is not set, `and` where it is.
            "or.pred" | "and.pred" if op.a != op.b => {
                let (other, negated) = if op.a == value { (op.b, op.imm & 2) } else { (op.a, op.imm & 1) };
                Some((other, (negated != 0) ^ (name == "or.pred")))
            }
            _ if info.taint == Taint::Select && op.c != value && op.a != op.b => {
                Some((op.c, (op.imm != 0) ^ (op.b == value)))
            }
            _ => None,
        };
        if let Some((other, flip)) = decides {
            return known(other, at).then_some((other, if flip { u32::MAX } else { 0 }));
        }
        if !matches!(info.taint, Taint::Copy | Taint::Compute) {
            return None;
        }
        value = result;
    }
    None
}

/// Runs a load, of which only the lanes that need it count for races.
///
/// # Safety
/// As [`Exec`]; [`find`] put it there.
unsafe fn needed(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let Some(hoisted) = cx.image().hoisted(cx.pc) else { return Flow::Next };
    // SAFETY: a predicate of the function that runs, as `find` saw to.
    let needs = unsafe { cx.pred(hoisted.matters) } ^ hoisted.flip;
    let (mask, watch) = (cx.mask, cx.watch);
    if watch & watch::RACE == 0 || mask & !needs == 0 {
        // SAFETY: passed on.
        return unsafe { (hoisted.run)(cx, op) };
    }
    // All lanes load, and are counted; then those that need it are looked at.
    cx.watch = watch & !watch::RACE;
    // SAFETY: passed on.
    let flow = unsafe { (hoisted.run)(cx, op) };
    if flow == Flow::Next && mask & needs != 0 {
        (cx.mask, cx.watch) = (mask & needs, watch::RACE);
        // SAFETY: passed on; the lanes are some of those that ran.
        unsafe { (hoisted.run)(cx, op) };
        cx.mask = mask;
    }
    cx.watch = watch;
    flow
}

impl Image {
    fn hoisted(&self, pc: u32) -> Option<Hoisted> {
        let index = self.hoisted.binary_search_by_key(&pc, |hoisted| hoisted.pc).ok()?;
        Some(self.hoisted[index])
    }
}
