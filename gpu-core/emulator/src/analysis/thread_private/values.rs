//! What registers hold, as sums over the coordinates of a thread.

use std::collections::{HashMap, HashSet};

use super::affine::{Affine, COORDINATES, COUNTS, Fact, Interval, SELVES};
use super::loops::Loop;
use super::structure::{Structure, Way, is_guarded};
use crate::exec::image::Image;
use crate::exec::lanes::COMBINE_NONE;
use crate::exec::memory::access::Region;
use crate::exec::op::{Op, Slot};
use crate::exec::opcode::opcode;
use crate::request::Launch;

/// Instructions that one value may go back over. A thread of the host may have little stack.
const DEPTH: u32 = 64;

/// A register's value: modulo `1 << bits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub sum: Affine,
    pub bits: u32,
    /// The array of an argument that it is a place of.
    pub array: Option<usize>,
}

/// The values of one launch.
pub struct Values<'v> {
    pub image: &'v Image,
    pub structure: &'v Structure,
    launch: &'v Launch,
    regions: &'v [Region],
    /// By atom.
    pub ranges: Vec<Interval>,
    /// That hold where the value is wanted.
    pub facts: Vec<Fact>,
    pub known: HashMap<Slot, Option<Value>>,
    pub loops: HashMap<Slot, Option<Loop>>,
    /// Registers whose loops are being looked at: for their steps, and at all.
    pub selves: Vec<Slot>,
    pub busy: Vec<Slot>,
    visited: HashSet<Slot>,
    depth: u32,
    pub work: usize,
}

/// An integer type of 32 or 64 bits by its name: whether it has a sign, and its bits.
pub fn integer(part: &str) -> Option<(bool, u32)> {
    let bits = part.get(1..)?.parse().ok()?;
    match part.as_bytes()[0] {
        b's' => Some((true, bits)),
        b'u' | b'b' => Some((false, bits)),
        _ => None,
    }
    .filter(|(_, bits)| matches!(bits, 32 | 64))
}

impl<'v> Values<'v> {
    pub fn new(image: &'v Image, structure: &'v Structure, launch: &'v Launch, regions: &'v [Region]) -> Values<'v> {
        let sizes = launch.block.iter().chain(&launch.grid);
        Values {
            image,
            structure,
            launch,
            regions,
            ranges: sizes.map(|size| (0, i128::from(*size) - 1)).collect(),
            facts: Vec::new(),
            known: HashMap::new(),
            loops: HashMap::new(),
            selves: Vec::new(),
            busy: Vec::new(),
            visited: HashSet::new(),
            depth: 0,
            work: 0,
        }
    }

    /// From now on values are wanted where these facts hold.
    pub fn assume(&mut self, facts: Vec<Fact>) {
        if self.facts != facts {
            self.facts = facts;
            self.known.clear();
        }
    }

    /// A new atom: how often a step was taken.
    pub fn count(&mut self, most: i128) -> u16 {
        self.ranges.push((0, most));
        COUNTS + (self.ranges.len() - 1 - COORDINATES) as u16
    }

    /// An operand of so many bits that the instruction at `pc` reads.
    pub fn operand(&mut self, slot: Slot, bits: u32, pc: u32) -> Option<Value> {
        if slot.is_none() {
            return None;
        }
        if slot.is_pool() {
            let row = &self.image.pool.get((slot.0 & !Slot::POOL) as usize / 128)?.0;
            let high = if bits == 64 { i128::from(row[1]) << 32 } else { 0 };
            return Some(Value { sum: Affine::constant(high | i128::from(row[0])), bits, array: None });
        }
        let value = self.register(slot, pc)?;
        // Of a wider one the lower bits count.
        (value.bits >= bits).then(|| Value { sum: value.sum.reduced(bits), bits, array: value.array })
    }

    fn register(&mut self, slot: Slot, pc: u32) -> Option<Value> {
        if let Some(at) = self.selves.iter().position(|own| *own == slot) {
            let bits = self.loop_bits(slot)?;
            return Some(Value { sum: Affine::atom(SELVES + at as u16), bits, array: None });
        }
        match *self.structure.writers(slot) {
            [] => None,
            [writer] => {
                if let Some(known) = self.known.get(&slot) {
                    return known.clone();
                }
                if self.depth >= DEPTH || !self.visited.insert(slot) {
                    return None;
                }
                self.depth += 1;
                let value = self.result(writer);
                self.depth -= 1;
                self.visited.remove(&slot);
                // What depends on a register that is being looked at holds for that alone.
                if self.selves.is_empty() && self.busy.is_empty() {
                    self.known.insert(slot, value.clone());
                }
                value
            }
            _ => self.looped(slot, pc),
        }
    }

    /// Width of a register that a loop changes, by what writes it.
    fn loop_bits(&self, slot: Slot) -> Option<u32> {
        let writers = self.structure.writers(slot);
        let bits = |pc: &u32| -> Option<u32> {
            let parts: Vec<&str> = opcode(self.image.text(*pc)).split('.').collect();
            match parts[..] {
                ["cvt", to, _] => Some(integer(to)?.1),
                [_, "wide", ty] => Some(2 * integer(ty)?.1),
                _ => Some(integer(parts.last()?)?.1),
            }
        };
        let first = bits(writers.first()?)?;
        writers.iter().all(|pc| bits(pc) == Some(first)).then_some(first)
    }

    /// What the instruction at `pc` gives, if it runs.
    pub fn result(&mut self, pc: u32) -> Option<Value> {
        let image = self.image;
        let (op, text) = (&image.code[pc as usize], image.text(pc));
        // Vectors are several registers.
        if is_guarded(op) || image.infos[pc as usize].writes.len() != 1 || text.contains('{') {
            return None;
        }
        let parts: Vec<&str> = opcode(text).split('.').collect();
        if parts[..2.min(parts.len())] == ["ld", "param"] {
            return self.argument(op, image.sites.get(op.site as usize)?.bytes);
        }
        if op.site != 0 {
            return None;
        }
        let (_, bits) = integer(parts.last()?)?;
        match parts[..] {
            ["mov", _] if op.a.is_none() => self.special(text),
            ["mov", _] => self.operand(op.a, bits, pc),
            ["cvta", ..] => self.operand(op.a, bits, pc).filter(|value| value.bits == 64),
            ["cvt", to, from] => self.converted(op, pc, integer(to)?, integer(from)?),
            ["add", _] => self.sum(op, bits, 1, pc),
            ["sub", _] => self.sum(op, bits, -1, pc),
            ["mul", "lo", _] => self.product(op, bits, pc),
            ["mul", "wide", ty] => self.wide_product(op, pc, integer(ty)?),
            ["mad", "lo", _] => {
                let product = self.product(op, bits, pc)?;
                self.added(product, op.c, pc)
            }
            ["mad", "wide", ty] => {
                let product = self.wide_product(op, pc, integer(ty)?)?;
                self.added(product, op.c, pc)
            }
            ["shl", _] => {
                let by = self.operand(op.b, 32, pc)?.sum.as_constant().filter(|by| (0..32).contains(by))?;
                let value = self.operand(op.a, bits, pc)?;
                scale(value, 1 << by)
            }
            ["or", _] => self.joined(op, bits, pc),
            ["not", _] => {
                let value = scale(self.operand(op.a, bits, pc)?, -1)?;
                joined(value, Value { sum: Affine::constant(-1), bits, array: None }, 1)
            }
            ["neg", _] => scale(self.operand(op.a, bits, pc)?, -1),
            [name, ty] => self.folded(name, op, integer(ty)?, pc),
            _ => None,
        }
    }

    fn argument(&self, op: &Op, bytes: u32) -> Option<Value> {
        if !op.a.is_pool() || !matches!(bytes, 4 | 8) {
            return None;
        }
        let at = usize::try_from(op.imm).ok()?;
        let word = self.launch.params.get(at..at + bytes as usize)?;
        let number = word.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        let array = if bytes == 8 { self.array_at(number) } else { None };
        Some(Value { sum: Affine::constant(number.into()), bits: 8 * bytes, array })
    }

    /// The array that an argument points into, or just behind.
    pub fn array_at(&self, address: u64) -> Option<usize> {
        let at = self.regions.partition_point(|region| region.base <= address).checked_sub(1)?;
        (address <= self.regions[at].end).then_some(at)
    }

    fn special(&self, text: &str) -> Option<Value> {
        let name = text.rsplit(',').next()?.trim().trim_end_matches(';');
        let axis = |name: &str| ["x", "y", "z"].iter().position(|axis| Some(*axis) == name.split('.').nth(1));
        let at = axis(name)?;
        let sum = match name.split('.').next()? {
            "%tid" => Affine::atom(at as u16),
            "%ctaid" => Affine::atom(3 + at as u16),
            "%ntid" => Affine::constant(self.launch.block[at].into()),
            "%nctaid" => Affine::constant(self.launch.grid[at].into()),
            _ => return None,
        };
        // There is only one thread of a kind along an axis of size 1.
        let sum = match sum.terms.first() {
            Some((atom, _)) if self.ranges[*atom as usize] == (0, 0) => Affine::default(),
            _ => sum,
        };
        Some(Value { sum, bits: 32, array: None })
    }

    /// A value as the integer that it stands for.
    pub fn exact(&self, value: &Value, signed: bool) -> Option<Affine> {
        let whole = 1i128 << value.bits;
        let least = if signed { -whole / 2 } else { 0 };
        let (low, high) = value.sum.interval(&self.ranges, &self.facts)?;
        let shift = (low - least).div_euclid(whole) * whole;
        (high - shift < least + whole).then(|| value.sum.plus(&Affine::constant(-shift), 1))?
    }

    fn converted(&mut self, op: &Op, pc: u32, to: (bool, u32), from: (bool, u32)) -> Option<Value> {
        let value = self.operand(op.a, from.1, pc)?;
        if to.1 <= from.1 {
            return Some(Value { sum: value.sum.reduced(to.1), bits: to.1, array: value.array });
        }
        Some(Value { sum: self.exact(&value, from.0)?, bits: to.1, array: None })
    }

    fn sum(&mut self, op: &Op, bits: u32, sign: i128, pc: u32) -> Option<Value> {
        let (a, b) = (self.operand(op.a, bits, pc)?, self.operand(op.b, bits, pc)?);
        joined(a, b, sign)
    }

    fn added(&mut self, product: Value, slot: Slot, pc: u32) -> Option<Value> {
        let other = self.operand(slot, product.bits, pc)?;
        joined(product, other, 1)
    }

    fn product(&mut self, op: &Op, bits: u32, pc: u32) -> Option<Value> {
        let (a, b) = (self.operand(op.a, bits, pc)?, self.operand(op.b, bits, pc)?);
        match (a.sum.as_constant(), b.sum.as_constant()) {
            (Some(factor), _) => scale(b, factor),
            (_, Some(factor)) => scale(a, factor),
            _ => None,
        }
    }

    fn wide_product(&mut self, op: &Op, pc: u32, (signed, bits): (bool, u32)) -> Option<Value> {
        let (a, b) = (self.operand(op.a, bits, pc)?, self.operand(op.b, bits, pc)?);
        let (a, b) = (self.exact(&a, signed)?, self.exact(&b, signed)?);
        let sum = match (a.as_constant(), b.as_constant()) {
            (Some(factor), _) => b.times(factor)?,
            (_, Some(factor)) => a.times(factor)?,
            _ => return None,
        };
        Some(Value { sum, bits: 2 * bits, array: None }).filter(|_| bits == 32)
    }

    /// `or` of a value that has nothing in the low bits with a number that has nothing else.
    fn joined(&mut self, op: &Op, bits: u32, pc: u32) -> Option<Value> {
        let (a, b) = (self.operand(op.a, bits, pc)?, self.operand(op.b, bits, pc)?);
        let (value, number) = match (a.sum.as_constant(), b.sum.as_constant()) {
            (Some(a), Some(b)) => return constant(a.rem_euclid(1 << bits) | b.rem_euclid(1 << bits), bits),
            (_, Some(number)) => (a, number),
            (Some(number), _) => (b, number),
            _ => return None,
        };
        if number < 0 {
            return None;
        }
        let step = (number as u128 + 1).next_power_of_two() as i128;
        let free = value.sum.constant % step == 0 && value.sum.terms.iter().all(|(_, factor)| factor % step == 0);
        free.then(|| joined(value, Value { sum: Affine::constant(number), bits, array: None }, 1))?
    }

    /// Numbers alone.
    fn folded(&mut self, name: &str, op: &Op, (signed, bits): (bool, u32), pc: u32) -> Option<Value> {
        let shifts = matches!(name, "shr");
        let a = self.operand(op.a, bits, pc)?;
        let b = self.operand(op.b, if shifts { 32 } else { bits }, pc)?;
        let number = |values: &Self, value: &Value| values.exact(value, signed)?.as_constant();
        let (a, b) = (number(self, &a)?, number(self, &b)?);
        let value = match name {
            "and" => a & b,
            "xor" => a ^ b,
            "min" => a.min(b),
            "max" => a.max(b),
            "shr" if (0..i128::from(bits)).contains(&b) => a >> b,
            "div" if b != 0 => a / b,
            "rem" if b != 0 => a % b,
            _ => return None,
        };
        constant(value, bits)
    }

    /// What holds where threads have gone this way.
    pub fn facts_of(&mut self, way: Way) -> Vec<Fact> {
        let op = &self.image.code[way.branch as usize];
        let mut facts = Vec::new();
        self.learn(op.guard, way.taken ^ (op.guard_flip != 0), &mut facts, 0);
        facts
    }

    /// What holds where a predicate does, or does not.
    pub fn learn(&mut self, slot: Slot, holds: bool, facts: &mut Vec<Fact>, depth: u32) {
        let [pc] = *self.structure.writers(slot) else { return };
        let (image, op) = (self.image, &self.image.code[pc as usize]);
        if is_guarded(op) || depth > 8 {
            return;
        }
        let parts: Vec<&str> = opcode(image.text(pc)).split('.').collect();
        match parts[..] {
            // Both of them do, or neither.
            ["and", "pred"] if holds => {
                self.learn(op.a, op.imm & 1 == 0, facts, depth + 1);
                self.learn(op.b, op.imm & 2 == 0, facts, depth + 1);
            }
            ["or", "pred"] if !holds => {
                self.learn(op.a, op.imm & 1 != 0, facts, depth + 1);
                self.learn(op.b, op.imm & 2 != 0, facts, depth + 1);
            }
            ["not", "pred"] => self.learn(op.a, holds ^ (op.imm & 1 == 0), facts, depth + 1),
            ["setp", operator, ty] if op.imm == COMBINE_NONE && op.e.is_none() => {
                facts.extend(self.compared(op, pc, operator, ty, holds));
            }
            _ => {}
        }
    }

    fn compared(&mut self, op: &Op, pc: u32, operator: &str, ty: &str, holds: bool) -> Option<Fact> {
        let (signed, bits) = integer(ty)?;
        let (a, b) = (self.operand(op.a, bits, pc)?, self.operand(op.b, bits, pc)?);
        let difference = self.exact(&a, signed)?.plus(&self.exact(&b, signed)?, -1)?;
        let at_any_time = difference.terms.iter().all(|(atom, _)| (*atom as usize) < COORDINATES);
        if difference.terms.is_empty() || !at_any_time {
            return None;
        }
        let (mut low, mut high) = difference.interval(&self.ranges, &[])?;
        match (comparison(operator)?, holds) {
            ("lt", true) | ("ge", false) => high = high.min(-1),
            ("le", true) | ("gt", false) => high = high.min(0),
            ("gt", true) | ("le", false) => low = low.max(1),
            ("ge", true) | ("lt", false) => low = low.max(0),
            ("eq", true) | ("ne", false) => (low, high) = (low.max(0), high.min(0)),
            _ => return None,
        }
        // Nobody comes there.
        if low > high {
            return None;
        }
        let constant = difference.constant;
        Some(Fact { terms: difference.terms, within: (low - constant, high - constant) })
    }
}

/// The comparison of integers by its name for either kind of them.
pub fn comparison(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "lt" | "lo" => "lt",
        "le" | "ls" => "le",
        "gt" | "hi" => "gt",
        "ge" | "hs" => "ge",
        "eq" => "eq",
        "ne" => "ne",
        _ => return None,
    })
}

fn constant(number: i128, bits: u32) -> Option<Value> {
    Some(Value { sum: Affine::constant(number).reduced(bits), bits, array: None })
}

fn scale(value: Value, factor: i128) -> Option<Value> {
    Some(Value { sum: value.sum.times(factor)?.reduced(value.bits), bits: value.bits, array: None })
}

/// The sum, or the difference; a place of an array and an offset are a place of it.
fn joined(a: Value, b: Value, sign: i128) -> Option<Value> {
    let array = match (a.array, b.array) {
        (Some(_), Some(_)) => return None,
        (_, Some(_)) if sign < 0 => return None,
        (a, b) => a.or(b),
    };
    Some(Value { sum: a.sum.plus(&b.sum, sign)?.reduced(a.bits), bits: a.bits, array })
}
