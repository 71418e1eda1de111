//! The control-flow graph of a function: where diverged lanes meet, and which registers may be read unwritten.

use std::collections::HashMap;

use crate::exec::op::{OpInfo, Slot, Taint};
use crate::exec::sched::warp::NONE;
use crate::report::Class;

/// Where a control transfer goes, for the flow graph.
#[derive(Clone, Debug, PartialEq)]
pub enum Edge {
    Next,
    /// Label, and whether falling through is possible too.
    Branch(Target, bool),
    Table(Vec<Target>),
    /// Leaves the function (`conditional`: or goes on).
    Leave {
        conditional: bool,
    },
    /// `exit` in a kernel.
    Exit {
        conditional: bool,
    },
    /// `trap` and calls that never return.
    Dead {
        conditional: bool,
    },
}

/// A label as seen from a scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub name: String,
    pub scopes: Vec<u32>,
}

/// Successors of every instruction of a function, by index inside it.
pub struct Graph {
    /// Successors; `exit` stands for leaving the function.
    pub next: Vec<Vec<u32>>,
    exit: u32,
    /// Ends of a kernel's parts that never come to the one that `next` leads out at: each of what those before it do not end.
    further: Vec<u32>,
}

/// How a function uses its registers.
#[derive(Debug, Default)]
pub struct RegisterUse {
    /// Registers that some path reads before it writes them.
    pub undefined: Vec<Slot>,
    /// Most 32-bit registers whose values are needed at one point; None for functions too large to be looked at.
    pub most_live: Option<u32>,
    /// Instructions, by index inside the function, whose reads are the last ones of their registers ([`OpInfo::last`]).
    pub last: Vec<(u32, u16)>,
}

/// Finds a label from inside out.
pub fn resolve(labels: &HashMap<(u32, String), u32>, target: &Target) -> Option<u32> {
    target.scopes.iter().find_map(|scope| labels.get(&(*scope, target.name.clone())).copied())
}

/// The instructions that the first one leads to.
fn reached(next: &[Vec<u32>]) -> Vec<bool> {
    let mut reached = vec![false; next.len()];
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        if let Some(known) = reached.get_mut(at as usize)
            && !std::mem::replace(known, true)
        {
            open.extend(&next[at as usize]);
        }
    }
    reached
}

/// Predecessors of each instruction, and of the exit.
fn before(next: &[Vec<u32>], exit: u32) -> Vec<Vec<u32>> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); exit as usize + 1];
    for (at, next) in next.iter().enumerate() {
        for &to in next {
            before[to as usize].push(at as u32);
        }
    }
    before
}

impl Graph {
    /// Builds the graph. In kernels only the last way out that code can come to counts as the end: lanes that exit early are
    /// waited for by nobody, so they must not keep the others apart. (Compilers end kernels with a label, behind which another
    /// `ret` is put here, and with an `exit` behind a loop that never ends. An `exit` counts where no `ret` does: where compilers
    /// are told to put one, it is an early way out, which may stand behind all else.) What never comes there, as of warps that
    /// have a part and an end of their own, has ends that are found in the same way.
    pub fn new(edges: &[Edge], labels: &HashMap<(u32, String), u32>, entry: bool) -> Graph {
        let count = edges.len() as u32;
        let exit = count;
        let mut next: Vec<Vec<u32>> = edges
            .iter()
            .enumerate()
            .map(|(at, edge)| {
                let after = at as u32 + 1;
                let mut out = match edge {
                    Edge::Next => vec![after],
                    Edge::Branch(target, falls) => {
                        let mut out: Vec<u32> = resolve(labels, target).into_iter().collect();
                        if *falls {
                            out.push(after);
                        }
                        out
                    }
                    Edge::Table(targets) => targets.iter().filter_map(|target| resolve(labels, target)).collect(),
                    Edge::Leave { conditional } | Edge::Exit { conditional } | Edge::Dead { conditional } => {
                        if *conditional {
                            vec![after]
                        } else {
                            Vec::new()
                        }
                    }
                };
                out.retain(|&to| to <= count);
                out
            })
            .collect();
        let returns = |at: &usize| matches!(edges[*at], Edge::Leave { .. });
        let exits = |at: &usize| matches!(edges[*at], Edge::Exit { .. });
        let mut further = Vec::new();
        if entry {
            let mut open = reached(&next);
            let before = before(&next, exit);
            let mut ends = Vec::new();
            loop {
                let last = |is: &dyn Fn(&usize) -> bool| (0..edges.len()).rev().find(|at| open[*at] && is(at));
                let Some(last) = last(&returns).or_else(|| last(&exits)) else { break };
                let mut leads = vec![last as u32];
                let mut parts = false;
                while let Some(at) = leads.pop() {
                    if std::mem::replace(&mut open[at as usize], false) {
                        parts |= next[at as usize].len() > 1;
                        leads.extend(&before[at as usize]);
                    }
                }
                // Where lanes do not part, nothing is asked.
                if parts || ends.is_empty() {
                    ends.push(last as u32);
                }
            }
            if let Some((first, others)) = ends.split_first() {
                next[*first as usize].push(exit);
                further = others.to_vec();
            }
        } else {
            (0..edges.len()).filter(returns).for_each(|at| next[at].push(exit));
        }
        Graph { next, exit, further }
    }

    /// Where lanes that part at each instruction meet: its immediate post-dominator, NONE where there is none but the end.
    /// Nobody waits at the other side of a branch for those that never come there, if they may have to wait themselves
    /// for what `waits` says.
    pub fn meeting_points(&self, waits: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut parents = self.parents(&self.next);
        let part = |parents: &[u32]| parents.iter().map(|parent| *parent != u32::MAX).collect::<Vec<_>>();
        // For each end what comes to it, or to one before.
        let mut parts = vec![part(&parents)];
        for end in &self.further {
            let mut next = self.next.clone();
            next.iter_mut().for_each(|next| next.retain(|to| *to != self.exit));
            next[*end as usize].push(self.exit);
            // What comes to an end before has its parent, and leads to none of these.
            for (known, parent) in parents.iter_mut().zip(self.parents(&next)) {
                *known = if *known == u32::MAX { parent } else { *known };
            }
            parts.push(part(&parents));
        }
        let of = |at: u32| parts.iter().position(|part| part.get(at as usize).is_none_or(|is| *is));
        let may_wait = self.leads_to(waits);
        for (at, next) in self.next.iter().enumerate().filter(|(_, next)| next.len() > 1) {
            let meet = parents[at];
            let leaves = |to: &u32| *to != meet && of(*to) != of(meet) && may_wait[*to as usize];
            if next.contains(&meet) && next.iter().any(leaves) {
                parents[at] = u32::MAX;
            }
        }
        parents.iter().map(|parent| if *parent >= self.exit { NONE } else { *parent }).collect()
    }

    /// What may come to such an instruction.
    fn leads_to(&self, is: impl Fn(usize) -> bool) -> Vec<bool> {
        let before = before(&self.next, self.exit);
        let mut leads = vec![false; self.next.len() + 1];
        let mut open: Vec<u32> = (0..self.exit).filter(|at| is(*at as usize)).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut leads[at as usize], true) {
                open.extend(&before[at as usize]);
            }
        }
        leads
    }

    /// The same for one graph; u32::MAX for what does not come to its exit.
    /// (Cooper, Harvey and Kennedy's algorithm on the reversed graph.)
    fn parents(&self, next: &[Vec<u32>]) -> Vec<u32> {
        let count = next.len();
        let before = before(next, self.exit);
        // Post-order of the reversed graph from the exit, without recursion.
        let mut order = vec![u32::MAX; count + 1];
        let mut sequence = Vec::with_capacity(count + 1);
        let mut visited = vec![false; count + 1];
        let mut stack = vec![(self.exit, 0usize)];
        visited[self.exit as usize] = true;
        while let Some((node, at)) = stack.pop() {
            match before[node as usize].get(at) {
                Some(&from) => {
                    stack.push((node, at + 1));
                    if !visited[from as usize] {
                        visited[from as usize] = true;
                        stack.push((from, 0));
                    }
                }
                None => {
                    order[node as usize] = sequence.len() as u32;
                    sequence.push(node);
                }
            }
        }
        let mut parent = vec![u32::MAX; count + 1];
        parent[self.exit as usize] = self.exit;
        let mut changed = true;
        while changed {
            changed = false;
            for &node in sequence.iter().rev().skip(1) {
                let mut new = u32::MAX;
                for &to in &next[node as usize] {
                    if parent[to as usize] == u32::MAX {
                        continue;
                    }
                    new = if new == u32::MAX { to } else { intersect(&parent, &order, new, to) };
                }
                if new != u32::MAX && parent[node as usize] != new {
                    parent[node as usize] = new;
                    changed = true;
                }
            }
        }
        parent.truncate(count);
        parent
    }

    /// Registers that some path reads before it writes them, and how many are in use at once. `widths` gives the 32-bit
    /// words of each register by its offset, ascending; predicates are not in it.
    pub fn registers(&self, infos: &[OpInfo], widths: &[(u32, u32)], guarded: impl Fn(usize) -> bool) -> RegisterUse {
        let mut index: HashMap<Slot, u32> = HashMap::new();
        let mut slots = Vec::new();
        for info in infos {
            for slot in info.reads.iter().chain(&info.writes) {
                if !slot.is_pool() {
                    index.entry(*slot).or_insert_with(|| {
                        slots.push(*slot);
                        slots.len() as u32 - 1
                    });
                }
            }
        }
        let words = slots.len().div_ceil(64);
        let count = self.next.len();
        if count.saturating_mul(words) > 1 << 26 {
            // A function this large would cost more than the check is worth.
            return RegisterUse::default();
        }
        // Blocks of straight-line code, to keep the bit sets few.
        let mut leader = vec![false; count + 1];
        leader[0] = true;
        for (at, next) in self.next.iter().enumerate() {
            if next.len() != 1 || next[0] != at as u32 + 1 {
                leader[at + 1] = true;
                for &to in next {
                    leader[to as usize] = true;
                }
            }
        }
        let starts: Vec<usize> = (0..count).filter(|&at| leader[at]).collect();
        let mut block_of = vec![0usize; count];
        let mut need = vec![vec![0u64; words]; starts.len()];
        let mut kill = vec![vec![0u64; words]; starts.len()];
        let mut ends = Vec::with_capacity(starts.len());
        for (block, &start) in starts.iter().enumerate() {
            let end = starts.get(block + 1).copied().unwrap_or(count);
            ends.push(end - 1);
            for at in start..end {
                block_of[at] = block;
                for slot in &infos[at].reads {
                    if let Some(&bit) = index.get(slot) {
                        let (word, mask) = (bit as usize / 64, 1u64 << (bit % 64));
                        if kill[block][word] & mask == 0 {
                            need[block][word] |= mask;
                        }
                    }
                }
                if !guarded(at) {
                    for slot in &infos[at].writes {
                        if let Some(&bit) = index.get(slot) {
                            kill[block][bit as usize / 64] |= 1 << (bit % 64);
                        }
                    }
                }
            }
        }
        let mut live = need.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for block in (0..starts.len()).rev() {
                for &to in &self.next[ends[block]] {
                    if to as usize >= count {
                        continue;
                    }
                    let next = block_of[to as usize];
                    for word in 0..words {
                        let more = live[next][word] & !kill[block][word] & !live[block][word];
                        if more != 0 {
                            live[block][word] |= more;
                            changed = true;
                        }
                    }
                }
            }
        }
        let words_of: Vec<u32> = slots
            .iter()
            .map(|slot| widths.binary_search_by_key(&slot.0, |width| width.0).map_or(0, |at| widths[at].1))
            .collect();
        let (mut most_live, mut last) = (0, Vec::new());
        for (block, &start) in starts.iter().enumerate() {
            let mut now = vec![0u64; words];
            for &to in self.next[ends[block]].iter().filter(|to| (**to as usize) < count) {
                for (word, bits) in now.iter_mut().zip(&live[block_of[to as usize]]) {
                    *word |= bits;
                }
            }
            let held = (0..slots.len()).filter(|bit| now[bit / 64] >> (bit % 64) & 1 != 0);
            let mut sum: u32 = held.map(|bit| words_of[bit]).sum();
            most_live = most_live.max(sum);
            for at in (start..=ends[block]).rev() {
                // A guarded write may leave the old value, so the register was needed before it as well.
                let writes: &[Slot] = if guarded(at) { &[] } else { &infos[at].writes };
                let dead = last_reads(&infos[at], |slot| {
                    index.get(&slot).is_some_and(|bit| now[*bit as usize / 64] >> (bit % 64) & 1 == 0)
                });
                for (slots, alive) in [(writes, false), (&infos[at].reads, true)] {
                    for &bit in slots.iter().filter_map(|slot| index.get(slot)) {
                        let (word, mask) = (bit as usize / 64, 1u64 << (bit % 64));
                        if (now[word] & mask != 0) != alive {
                            now[word] ^= mask;
                            let width = words_of[bit as usize];
                            sum = if alive { sum + width } else { sum - width };
                        }
                    }
                }
                most_live = most_live.max(sum);
                if dead != 0 {
                    last.push((at as u32, dead));
                }
            }
        }
        let undefined = slots
            .iter()
            .enumerate()
            .filter(|(bit, _)| live.first().is_some_and(|first| first[bit / 64] >> (bit % 64) & 1 != 0))
            .map(|(_, slot)| *slot)
            .collect();
        RegisterUse { undefined, most_live: Some(most_live), last }
    }
}

/// Which of the registers that an instruction reads, and does not write, are `dead` behind it.
fn last_reads(info: &OpInfo, dead: impl Fn(Slot) -> bool) -> u16 {
    // What runs behind these may be another function, or other lanes.
    if info.taint == Taint::Call || info.class == Class::Branch {
        return 0;
    }
    let is_last = |slot: Slot| !slot.is_pool() && !info.writes.contains(&slot) && dead(slot);
    (info.reads.iter().take(16).enumerate()).fold(0, |last, (at, slot)| last | u16::from(is_last(*slot)) << at)
}

fn intersect(parent: &[u32], order: &[u32], a: u32, b: u32) -> u32 {
    let (mut a, mut b) = (a, b);
    while a != b {
        while order[a as usize] < order[b as usize] {
            a = parent[a as usize];
        }
        while order[b as usize] < order[a as usize] {
            b = parent[b as usize];
        }
    }
    a
}
