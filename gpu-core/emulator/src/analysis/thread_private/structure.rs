//! What of a kernel's code does not depend on the launch: where registers get their values, where control goes, and which
//! branches stand before an access.

use std::collections::HashMap;

use crate::analysis::mod_ref::Access;
use crate::exec::image::Image;
use crate::exec::op::{Op, Slot};
use crate::exec::opcode::opcode;

/// Longer kernels, with more accesses or more branches, are not looked at.
const MOST_CODE: usize = 1 << 14;
const MOST_ACCESSES: usize = 512;
const MOST_BRANCHES: usize = 64;

/// A way out of a conditional branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub branch: u32,
    pub taken: bool,
}

/// All numbers of instructions are those in the image.
#[derive(Clone, Debug)]
pub struct Structure {
    first: u32,
    /// Instructions that write a register.
    writers: HashMap<Slot, Vec<u32>>,
    next: Vec<Vec<u32>>,
    /// Control comes there from elsewhere than from the instruction before.
    entered: Vec<bool>,
    pub branches: Vec<u32>,
    /// Accesses to global memory, with the ways that all threads have gone that come there.
    pub accesses: Vec<(Access, Vec<Way>)>,
}

/// Some of a kernel's instructions.
pub struct Reached {
    first: u32,
    these: Vec<bool>,
}

impl Reached {
    pub fn has(&self, pc: u32) -> bool {
        self.these.get((pc - self.first) as usize).copied().unwrap_or(false)
    }

    pub fn has_any(&self, pcs: &[u32]) -> bool {
        pcs.iter().any(|pc| self.has(*pc))
    }
}

impl Structure {
    /// None where that would cost more than it may save, or calls leave the kernel.
    pub fn of(image: &Image, function: usize) -> Option<Structure> {
        let entry = &image.functions[function];
        let code = image.code_of(entry);
        let accesses = &image.written_arguments(function)?.accesses;
        if code.len() > MOST_CODE || accesses.len() > MOST_ACCESSES {
            return None;
        }
        let (first, end) = (code.start as u32, code.end as u32);
        let mut writers: HashMap<Slot, Vec<u32>> = HashMap::new();
        for pc in first..end {
            for slot in &image.infos[pc as usize].writes {
                writers.entry(*slot).or_default().push(pc);
            }
        }
        // What some path reads before it is written has no value that one could tell.
        entry.undefined.iter().for_each(|slot| drop(writers.remove(slot)));
        let next: Vec<Vec<u32>> = (first..end).map(|pc| successors(image, pc, first..end)).collect::<Option<_>>()?;
        let mut entered = vec![false; next.len()];
        for (at, to) in next.iter().enumerate().flat_map(|(at, next)| next.iter().map(move |to| (at, to))) {
            entered[(to - first) as usize] |= *to != first + at as u32 + 1;
        }
        let branches: Vec<u32> = (first..end).filter(|pc| next[(pc - first) as usize].len() == 2).collect();
        let mut structure = Structure { first, writers, next, entered, branches, accesses: Vec::new() };
        structure.accesses = accesses.iter().map(|access| (access.clone(), Vec::new())).collect();
        if structure.branches.len() <= MOST_BRANCHES {
            for way in
                structure.branches.iter().flat_map(|branch| [true, false].map(|taken| Way { branch: *branch, taken }))
            {
                let others = structure.reach(&[first], &[], Some(way));
                let behind = structure.accesses.iter_mut().filter(|(access, _)| !others.has(access.pc));
                behind.for_each(|(_, ways)| ways.push(way));
            }
        }
        Some(structure)
    }

    pub fn first(&self) -> u32 {
        self.first
    }

    pub fn writers(&self, slot: Slot) -> &[u32] {
        self.writers.get(&slot).map_or(&[], Vec::as_slice)
    }

    /// Where a way leads.
    pub fn to(&self, way: Way) -> u32 {
        self.next[(way.branch - self.first) as usize][usize::from(!way.taken)]
    }

    pub fn after(&self, pc: u32) -> &[u32] {
        &self.next[(pc - self.first) as usize]
    }

    /// What control may come to from `starts`, which count, without going beyond `ends` or along `closed`.
    pub fn reach(&self, starts: &[u32], ends: &[u32], closed: Option<Way>) -> Reached {
        let mut these = vec![false; self.next.len()];
        let mut stack = starts.to_vec();
        while let Some(pc) = stack.pop() {
            let at = (pc - self.first) as usize;
            if std::mem::replace(&mut these[at], true) || ends.contains(&pc) {
                continue;
            }
            match closed {
                Some(way) if way.branch == pc => stack.push(self.next[at][usize::from(way.taken)]),
                _ => stack.extend(&self.next[at]),
            }
        }
        Reached { first: self.first, these }
    }

    /// Whether `from` and `to` always run one after the other, with whatever lies between them.
    pub fn in_line(&self, from: u32, to: u32) -> bool {
        from <= to
            && (from..to).all(|pc| {
                let at = (pc - self.first) as usize;
                self.next[at][..] == [pc + 1] && !self.entered[at + 1]
            })
    }

    /// Instructions of the kernel.
    pub fn instructions(&self) -> usize {
        self.next.len()
    }
}

pub fn is_guarded(op: &Op) -> bool {
    !op.guard.is_pool()
}

/// Where control goes from an instruction: of a conditional branch, first where it is taken. None where that is not known.
fn successors(image: &Image, pc: u32, kernel: std::ops::Range<u32>) -> Option<Vec<u32>> {
    let op = &image.code[pc as usize];
    let falls = |falls: bool| if falls && kernel.contains(&(pc + 1)) { vec![pc + 1] } else { Vec::new() };
    Some(match opcode(image.text(pc)).split('.').next().unwrap_or_default().trim_end_matches(';') {
        "bra" => {
            let target = op.imm as u32;
            if !kernel.contains(&target) {
                return None;
            }
            let mut next = vec![target];
            next.extend(falls(is_guarded(op)));
            next
        }
        "brx" | "call" => return None,
        "ret" | "exit" | "trap" => falls(is_guarded(op)),
        _ => falls(true),
    })
}
