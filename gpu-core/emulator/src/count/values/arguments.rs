//! What a result was made of: the compiler writes a function such as `expf` out in twenty instructions, and the one that
//! overflows has an operand that nobody wrote down. Values through which every way to the result goes are what such a function
//! can have been called with.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::exec::image::Image;
use crate::exec::op::Slot;
use crate::report::Class;

/// Instructions before the result that are looked at, and registers among them.
const REACH: u32 = 200;
const MOST: usize = 64;
/// The base-2 logarithm of e, as a float and as a double.
const LOG2_E: [u64; 2] = [0x3fb8_aa3b, 0x3ff7_1547_652b_82fe];

/// Registers or instructions by register.
type Ways = BTreeMap<u32, Vec<u32>>;

/// A register that alone decides a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decides {
    pub slot: Slot,
    pub wide: bool,
    pub by_log2_e: bool,
}

/// Registers that alone decide what the instruction at `pc` gives, of the same line, the nearest first.
pub fn deciding(image: &Image, pc: u32) -> Vec<Decides> {
    let line = |pc: u32| image.source(pc).map(|source| (source.file, source.line));
    let Some(own) = line(pc) else { return Vec::new() };
    let mut made = Ways::new();
    for at in (pc.saturating_sub(REACH)..pc).rev().take_while(|at| line(*at).as_ref() == Some(&own)) {
        if only_computes(image, at) {
            for slot in &image.infos[at as usize].writes {
                made.entry(slot.0).or_default().push(at);
            }
        }
    }
    let constants = constants(image, pc);
    let taken =
        |at: u32| data(image, at).into_iter().filter(|slot| !constants.contains_key(slot)).collect::<Vec<u32>>();
    let mut ways = Ways::new();
    let mut open: Vec<u32> = taken(pc);
    while let Some(slot) = open.pop() {
        if ways.contains_key(&slot) || ways.len() == MOST {
            continue;
        }
        let from: Vec<u32> = made.get(&slot).into_iter().flatten().flat_map(|at| taken(*at)).collect();
        open.extend(&from);
        ways.insert(slot, from);
    }
    let starts = taken(pc);
    let mut found: Vec<u32> =
        ways.keys().copied().filter(|slot| all_go_through(&ways, &made, &starts, *slot)).collect();
    // What was made last is nearest; what comes from elsewhere was there before.
    found.sort_by_key(|slot| std::cmp::Reverse(made.get(slot).and_then(|at| at.first().copied()).unwrap_or(0)));
    let factors = factors_of_log2_e(image, pc.saturating_sub(REACH)..pc + 1, &constants);
    let of =
        |slot: u32| Decides { slot: Slot(slot), wide: is_wide(image, slot, pc), by_log2_e: factors.contains(&slot) };
    found.into_iter().map(of).collect()
}

/// Whether no way from the result to where values come from avoids a register.
fn all_go_through(ways: &Ways, made: &Ways, starts: &[u32], slot: u32) -> bool {
    let mut seen = BTreeSet::from([slot]);
    let mut open: Vec<u32> = starts.to_vec();
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        match ways.get(&at) {
            // Made of constants alone it decides nothing.
            Some(from) if made.contains_key(&at) => open.extend(from),
            // A value from elsewhere.
            _ => return false,
        }
    }
    true
}

fn only_computes(image: &Image, pc: u32) -> bool {
    use Class::{Compare, Convert, Float32, Float64, FloatNarrow, Integer, Move, Special};
    let class = image.infos[pc as usize].class;
    // A selection counts as a comparison.
    matches!(class, Compare | Integer | Float32 | Float64 | FloatNarrow | Special | Convert | Move)
}

/// Registers that an instruction takes values from: those of a selection without what chooses.
fn data(image: &Image, pc: u32) -> Vec<u32> {
    let (op, info) = (&image.code[pc as usize], &image.infos[pc as usize]);
    let chooser = image.text(pc).contains("selp.").then_some(op.c);
    let taken = info.reads.iter().filter(|slot| !slot.is_pool() && **slot != op.guard && Some(**slot) != chooser);
    taken.map(|slot| slot.0).collect()
}

/// Registers of the function at `pc` that only ever hold one constant, and the constant.
fn constants(image: &Image, pc: u32) -> BTreeMap<u32, u64> {
    let of = image.functions.iter().filter(|function| function.first_pc <= pc).max_by_key(|function| function.first_pc);
    let mut found: BTreeMap<u32, Option<u64>> = BTreeMap::new();
    for at in of.map_or(0..0, |function| image.code_of(function)) {
        let op = &image.code[at];
        let holds = image.text(at as u32).starts_with("mov.") && op.list_len == 0 && !op.a.is_none() && op.a.is_pool();
        let held = holds.then(|| constant(image, op.a));
        for slot in &image.infos[at].writes {
            found.entry(slot.0).and_modify(|known| *known = known.filter(|known| Some(*known) == held)).or_insert(held);
        }
    }
    found.into_iter().filter_map(|(slot, value)| Some((slot, value?))).collect()
}

/// Registers that are multiplied by the logarithm of e.
fn factors_of_log2_e(image: &Image, within: Range<u32>, constants: &BTreeMap<u32, u64>) -> BTreeSet<u32> {
    let is_it = |slot: Slot| {
        let value = match slot {
            slot if slot.is_none() => None,
            slot if slot.is_pool() => Some(constant(image, slot)),
            slot => constants.get(&slot.0).copied(),
        };
        // A float's row has the same four bytes again.
        value.is_some_and(|value| value == LOG2_E[1] || value & 0xffff_ffff == LOG2_E[0])
    };
    let mut found = BTreeSet::new();
    for pc in within {
        let (op, text) = (&image.code[pc as usize], image.text(pc));
        if !text.starts_with("mul.") && !text.starts_with("fma.") {
            continue;
        }
        for (factor, other) in [(op.a, op.b), (op.b, op.a)] {
            if is_it(factor) && !other.is_none() && !other.is_pool() {
                found.insert(other.0);
            }
        }
    }
    found
}

/// The first eight bytes of a constant row.
fn constant(image: &Image, slot: Slot) -> u64 {
    let at = (slot.0 & !Slot::POOL) as usize / 4;
    let word = |at: usize| image.pool.get(at / 32).map_or(0, |row| u64::from(row.0[at % 32]));
    word(at) | word(at + 1) << 32
}

/// Whether a register is made or taken as a double somewhere before.
fn is_wide(image: &Image, slot: u32, pc: u32) -> bool {
    let names = |at: &u32| {
        let info = &image.infos[*at as usize];
        info.writes.iter().chain(&info.reads).any(|other| other.0 == slot)
    };
    (pc.saturating_sub(REACH)..=pc).rev().find(names).is_some_and(|at| image.text(at).contains("f64"))
}
