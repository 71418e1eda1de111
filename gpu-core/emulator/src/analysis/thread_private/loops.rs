//! Registers that a loop moves on by equal steps, and how often it can.

use super::affine::{Affine, Interval, SELVES};
use super::structure::{Way, is_guarded};
use super::values::{Value, Values, comparison, integer};
use crate::exec::lanes::COMBINE_NONE;
use crate::exec::op::Slot;
use crate::exec::opcode::opcode;

/// No thread takes more steps of a loop: at 10 ns each that would be an hour and a half.
const MOST_STEPS: i128 = 1 << 39;
/// Branches looked at for all loops of a kernel, times its instructions.
const MOST_WORK: usize = 1 << 20;
/// Instructions that may write such a register, and that a compared value may be away from it.
const MOST_WRITERS: usize = 8;
const MOST_MOVES: usize = 4;

/// A register that holds `begin` and so many times `step`.
#[derive(Clone, Debug)]
pub struct Loop {
    pub begin: Value,
    pub step: i128,
    /// The instruction that moves it on.
    at: u32,
    /// How often that was done: at any time, and by an instruction in front of the one that does it.
    any_time: u16,
    before: u16,
}

/// The same without what bounds it.
struct Shape {
    begin: Value,
    step: i128,
    at: u32,
    /// The instructions that give it its first value.
    begins: Vec<u32>,
}

/// A value that is compared: a register of a loop and a number.
struct Compared {
    slot: Slot,
    offset: i128,
    /// Where the register is read.
    read: u32,
}

impl Values<'_> {
    /// What a register with several writers holds when the instruction at `pc` reads it.
    pub(crate) fn looped(&mut self, slot: Slot, pc: u32) -> Option<Value> {
        if !self.loops.contains_key(&slot) {
            if self.busy.contains(&slot) {
                return None;
            }
            // Loops are the same wherever their registers are wanted.
            let facts = std::mem::take(&mut self.facts);
            let known = std::mem::take(&mut self.known);
            self.busy.push(slot);
            let found = self.find_loop(slot);
            self.busy.pop();
            (self.facts, self.known) = (facts, known);
            // Within another one that is being looked at, less may be known than there is to know.
            if found.is_some() || self.selves.is_empty() && self.busy.is_empty() {
                self.loops.insert(slot, found);
            } else {
                return None;
            }
        }
        let known = self.loops.get(&slot)?.as_ref()?;
        let count = if pc < known.at && self.structure.in_line(pc, known.at) { known.before } else { known.any_time };
        let sum = known.begin.sum.plus(&Affine::atom(count), known.step)?.reduced(known.begin.bits);
        Some(Value { sum, ..known.begin.clone() })
    }

    fn find_loop(&mut self, slot: Slot) -> Option<Loop> {
        let shape = self.shape(slot)?;
        let most = self.executions(slot, &shape).unwrap_or(MOST_STEPS);
        let (any_time, before) = (self.count(most), self.count((most - 1).max(0)));
        let Shape { begin, step, at, .. } = shape;
        Some(Loop { begin, step, at, any_time, before })
    }

    fn shape(&mut self, slot: Slot) -> Option<Shape> {
        let writers = self.structure.writers(slot);
        if writers.len() > MOST_WRITERS || self.selves.contains(&slot) {
            return None;
        }
        let own = SELVES + self.selves.len() as u16;
        let (mut begin, mut begins, mut moved): (Option<Value>, _, _) = (None, Vec::new(), None);
        for writer in writers {
            self.selves.push(slot);
            let value = self.result(*writer);
            self.selves.pop();
            let value = value?;
            let others = value.sum.terms.iter().any(|(atom, _)| *atom >= SELVES && *atom != own);
            match value.sum.factor(own) {
                0 if !others && begin.as_ref().is_none_or(|begin| *begin == value) => {
                    begin = Some(value);
                    begins.push(*writer);
                }
                1 if !others && value.sum.terms.len() == 1 && value.sum.constant != 0 && moved.is_none() => {
                    moved = Some((*writer, value.sum.constant));
                }
                _ => return None,
            }
        }
        let (at, step) = moved?;
        let reads = |pc: u32| &self.image.infos[pc as usize].reads;
        if !reads(at).contains(&slot) {
            // A copy of a sum that was made before the register got its first value is no step from that.
            let [copied] = reads(at)[..] else { return None };
            let [sum] = *self.structure.writers(copied) else { return None };
            let begun = self.structure.reach(self.structure.after(sum), &[at], None).has_any(&begins);
            if !reads(sum).contains(&slot) || begun {
                return None;
            }
        }
        Some(Shape { begin: begin?, step, at, begins })
    }

    /// How often a register can be moved on after it got its first value.
    fn executions(&mut self, slot: Slot, shape: &Shape) -> Option<i128> {
        let structure = self.structure;
        let mut least = None;
        self.work += structure.branches.len() * structure.instructions();
        if self.work > MOST_WORK {
            return None;
        }
        for way in
            structure.branches.iter().flat_map(|branch| [true, false].map(|taken| Way { branch: *branch, taken }))
        {
            let out = Way { taken: !way.taken, ..way };
            // Whoever leaves begins anew, or is done; whoever stays does not begin anew; and nobody takes two steps without
            // having been asked in between.
            let mut ends = shape.begins.clone();
            if structure.reach(&[structure.to(out)], &ends, None).has(shape.at)
                || structure.reach(&[structure.to(way)], &[], Some(out)).has_any(&shape.begins)
            {
                continue;
            }
            ends.push(way.branch);
            if structure.reach(structure.after(shape.at), &ends, None).has(shape.at) {
                continue;
            }
            let Some(passes) = self.passes(way, slot, shape) else { continue };
            let behind = !structure.reach(&[structure.first()], &[], Some(way)).has(shape.at);
            let most = if behind { passes } else { passes + 1 };
            least = Some(least.map_or(most, |least: i128| least.min(most)));
        }
        least
    }

    /// How often in a row control can go this way.
    fn passes(&mut self, way: Way, slot: Slot, shape: &Shape) -> Option<i128> {
        let (image, structure) = (self.image, self.structure);
        let branch = &image.code[way.branch as usize];
        let [test] = *structure.writers(branch.guard) else { return None };
        let op = &image.code[test as usize];
        let parts: Vec<&str> = opcode(image.text(test)).split('.').collect();
        let ["setp", operator, ty] = parts[..] else { return None };
        let (signed, bits) = integer(ty)?;
        let plain = op.imm == COMBINE_NONE && op.e.is_none() && !is_guarded(op);
        if !plain || !structure.in_line(test, way.branch) {
            return None;
        }
        let holds = way.taken ^ (branch.guard_flip != 0);
        let operator = comparison(operator)?;
        let operator = if holds { operator } else { opposite(operator) };
        for (counter, bound, operator) in [(op.a, op.b, operator), (op.b, op.a, mirrored(operator))] {
            let Some(compared) = self.compared_register(counter, test) else { continue };
            let other = if compared.slot == slot { None } else { Some(self.shape(compared.slot)) };
            let Some(counter) = other.as_ref().map_or(Some(shape), Option::as_ref) else { continue };
            if counter.begin.bits != bits || !structure.in_line(compared.read, way.branch) {
                continue;
            }
            // How often it was moved on when it is first compared.
            let late = (compared.read < counter.at && counter.at < way.branch) as i128;
            let first = if structure.in_line(counter.at, way.branch) {
                1 - late
            } else if self.moves_once(way, counter) {
                0
            } else {
                continue;
            };
            let out = structure.to(Way { taken: !way.taken, ..way });
            let again = structure.reach(&[structure.to(way)], &[], Some(Way { taken: !way.taken, ..way }));
            if again.has_any(&counter.begins) || structure.reach(&[out], &counter.begins, None).has(way.branch) {
                continue;
            }
            let Some(bound) = self.operand(bound, bits, test) else { continue };
            let (Some(bound), Some(begin)) = (self.exact(&bound, signed), self.exact(&counter.begin, signed)) else {
                continue;
            };
            let interval = |sum: &Affine| sum.interval(&self.ranges, &[]);
            let (Some(bound), Some(begin)) = (interval(&bound), interval(&begin)) else { continue };
            let begin = (begin.0 + compared.offset, begin.1 + compared.offset);
            if let Some(passes) = passes_of(operator, begin, first, counter.step, bound, (signed, bits)) {
                return Some(passes);
            }
        }
        None
    }

    /// Whether a register is moved on just once from one time that control goes this way to the next, and not before the
    /// first one.
    fn moves_once(&self, way: Way, counter: &Shape) -> bool {
        let structure = self.structure;
        !structure.reach(&[structure.to(way)], &[counter.at], None).has(way.branch)
            && !structure.reach(structure.after(counter.at), &[way.branch], None).has(counter.at)
            && !structure.reach(&[structure.first()], &[], Some(way)).has(counter.at)
    }

    /// The register of a loop that an operand is a copy of, or a sum with a number.
    fn compared_register(&mut self, operand: Slot, test: u32) -> Option<Compared> {
        let mut found = Compared { slot: operand, offset: 0, read: test };
        for _ in 0..MOST_MOVES {
            if found.slot.is_none() || found.slot.is_pool() {
                return None;
            }
            let [writer] = *self.structure.writers(found.slot) else {
                return (self.structure.writers(found.slot).len() > 1).then_some(found);
            };
            let op = &self.image.code[writer as usize];
            let parts: Vec<&str> = opcode(self.image.text(writer)).split('.').collect();
            let (_, bits) = integer(parts.last()?)?;
            if is_guarded(op) || writer >= found.read || self.image.text(writer).contains('{') {
                return None;
            }
            let sign = match parts[..] {
                ["mov", _] => 0,
                ["add", _] => 1,
                ["sub", _] => -1,
                _ => return None,
            };
            if sign != 0 {
                let number = self.operand(op.b, bits, writer)?.sum.reduced(bits).as_constant()?;
                found.offset += sign * number;
            }
            found = Compared { slot: op.a, read: writer, ..found };
        }
        None
    }
}

fn opposite(operator: &str) -> &'static str {
    match operator {
        "lt" => "ge",
        "le" => "gt",
        "gt" => "le",
        "ge" => "lt",
        "eq" => "ne",
        _ => "eq",
    }
}

fn mirrored(operator: &'static str) -> &'static str {
    match operator {
        "lt" => "gt",
        "le" => "ge",
        "gt" => "lt",
        "ge" => "le",
        same => same,
    }
}

/// How many of `begin + first * step`, `begin + (first + 1) * step`, … compare with `bound`, up to the first that does not;
/// None where numbers could leave their type, or there is no end.
pub fn passes_of(
    operator: &str,
    begin: Interval,
    first: i128,
    step: i128,
    bound: Interval,
    (signed, bits): (bool, u32),
) -> Option<i128> {
    let whole = 1i128 << bits;
    let (least, most) = if signed { (-whole / 2, whole / 2 - 1) } else { (0, whole - 1) };
    let begin = (begin.0 + first * step, begin.1 + first * step);
    if operator == "ne" {
        if begin.0 != begin.1 || bound.0 != bound.1 || begin.0 < least || begin.0 > most {
            return None;
        }
        let passes = (bound.0 - begin.0) / step;
        return (passes >= 0 && (bound.0 - begin.0) % step == 0).then_some(passes);
    }
    // Down is up with all signs changed.
    let (begin, step, bound, least, most) = match operator {
        "lt" | "le" => (begin, step, bound, least, most),
        "gt" | "ge" => ((-begin.1, -begin.0), -step, (-bound.1, -bound.0), -most, -least),
        _ => return None,
    };
    let below = if matches!(operator, "le" | "ge") { bound.1 + 1 } else { bound.1 };
    if step <= 0 || begin.0 < least || begin.1 > most || below - 1 + step > most {
        return None;
    }
    Some(((below - begin.0 + step - 1).div_euclid(step)).max(0))
}
