//! Which bits of a register are undefined, and where instructions that only move bits take them.
//!
//! Compilers pack structures with padding into words, carry pairs of which one half was never set, and compute
//! conditions that another condition overrules. None of that depends on the undefined bits, so that they are followed
//! one by one through moves, logic, shifts, bit fields and conversions of integers. Everything else makes all bits of
//! its result undefined.

use crate::exec::cx::{Cx, lanes};
use crate::exec::op::{Op, Slot};
use crate::exec::opcode::opcode;
use crate::exec::sched::warp::Poison;
use crate::isa::bits::{extract, permute};
use crate::isa::movement::get_wide;

pub use super::undefined_bits::{Bits, Quick};

/// What an instruction gives each register that it writes.
pub type Moved = Vec<(Slot, Bits)>;

/// The `low` lowest bits.
pub fn ones(low: u32) -> u128 {
    if low >= 128 { u128::MAX } else { (1 << low) - 1 }
}

/// What became of undefined bits on the way to where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mixed {
    /// They are where they were.
    #[default]
    No,
    /// Each was put elsewhere as it is, or beside others, as copies of structures do.
    Placed,
    /// They were masked, or joined with others.
    Joined,
}

/// Width of a type of integers or bits, and whether it has a sign.
fn integer(ty: &str) -> Option<(u32, bool)> {
    let (kind, bits) = ty.split_at_checked(1)?;
    if !matches!(kind, "b" | "u" | "s") {
        return None;
    }
    let bits = bits.parse().ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64 | 128))?;
    Some((bits, kind == "s"))
}

/// Bits of a parameter that an instruction loads or stores, where they begin in its first word, and whether they have a sign.
fn param_part(op: &Op) -> (u32, u32, bool) {
    ((op.imm & 0xff) as u32, (op.imm >> 8 & 0xff) as u32 * 8, op.imm >> 16 & 1 != 0)
}

/// The bit at `width - 1` in all bits above it.
fn extend(bits: u128, width: u32) -> u128 {
    let bits = bits & ones(width);
    if bits >> (width - 1) & 1 != 0 { bits | !ones(width) } else { bits }
}

/// Undefined bits of a function of three bits, given by its truth table, of operands of which the first is the value
/// and the second says which bits are undefined.
fn logic(table: u32, a: (u128, u128), b: (u128, u128), c: (u128, u128)) -> u128 {
    let (mut may_be_1, mut may_be_0) = (0, 0);
    for row in 0..8 {
        let can = |operand: (u128, u128), bit: u32| {
            if row & bit != 0 { operand.0 | operand.1 } else { !operand.0 | operand.1 }
        };
        let here = can(a, 4) & can(b, 2) & can(c, 1);
        if table >> row & 1 != 0 { may_be_1 |= here } else { may_be_0 |= here }
    }
    may_be_1 & may_be_0
}

const AND: u32 = 0xc0;
const OR: u32 = 0xfc;
const XOR: u32 = 0x3c;
const NOT: u32 = 0x0f;

impl Cx<'_> {
    /// Undefined bits of a register in a lane.
    pub(crate) fn undefined(&self, slot: Slot, lane: usize) -> u128 {
        let frame = self.warp.splits[self.warp.current].frame;
        if slot.is_pool() {
            return 0;
        }
        self.warp.poison.get((frame, slot.0)).map_or(0, |mark| mark.bits.of(lane))
    }

    /// Value and undefined bits of an operand in a lane.
    ///
    /// # Safety
    /// `slot` is that of an operand of `width` bits of an instruction of the current image.
    unsafe fn operand(&self, slot: Slot, lane: usize, width: u32) -> (u128, u128) {
        // SAFETY: as the caller promises.
        (unsafe { get_wide(self, slot, lane, width) }, self.undefined(slot, lane) & ones(width))
    }

    /// What an instruction that only puts bits elsewhere, and whose undefined bits are known, does to those of its operands.
    pub(crate) fn mixture(&self, op: &Op, text: &str) -> Mixed {
        let opcode = opcode(text);
        let Some((name, modifiers)) = opcode.split_once('.') else { return Mixed::Joined };
        let Some((width, signed)) = modifiers.rsplit('.').next().and_then(integer) else { return Mixed::Joined };
        if self.worker.moved.is_none() {
            return Mixed::Joined;
        }
        // Where one operand is undefined, the other is defined and leaves it as it is.
        let apart = |identity: u128| {
            lanes(self.mask).all(|lane| {
                // SAFETY: the operands have the width that the opcode says.
                let ((a, no_a), (b, no_b)) =
                    unsafe { (self.operand(op.a, lane, width), self.operand(op.b, lane, width)) };
                no_a & no_b == 0 && no_a & (b ^ identity) == 0 && no_b & (a ^ identity) == 0
            })
        };
        let placed = match name {
            "shl" | "shf" | "prmt" | "bfi" | "cvt" => true,
            "shr" | "bfe" => !signed,
            "or" | "xor" => apart(0),
            "and" => apart(u128::MAX),
            _ => false,
        };
        if placed { Mixed::Placed } else { Mixed::Joined }
    }

    /// Whether what a store of `bytes` in each of `data` leaves in memory is a structure with padding, or is all of it undefined
    /// as it lay elsewhere.
    pub fn stores_holes(&self, data: &[Slot], bytes: u64, lane: usize, mixed: Mixed) -> bool {
        let of = |slot: &Slot| {
            let (width, count) = (8 * bytes as u32, bytes as usize);
            // SAFETY: the data of a store have the width that it stores.
            let (value, undefined) = unsafe { self.operand(*slot, lane, width) };
            value.to_le_bytes().into_iter().zip(undefined.to_le_bytes()).take(count)
        };
        let stored = data.iter().flat_map(of).collect::<Vec<_>>();
        let nothing_else = || stored.iter().all(|(_, undefined)| *undefined == 0xff);
        has_holes(&stored) || mixed == Mixed::Placed && nothing_else()
    }

    /// Undefined bits of what an instruction writes that only moves bits; None for all others.
    pub fn moved(&self, op: &Op, text: &str) -> Option<Moved> {
        let opcode = opcode(text);
        let (name, modifiers) = opcode.split_once('.')?;
        if name == "mov" {
            return Some(self.moved_parts(op)).filter(|moved| !moved.is_empty());
        }
        if op.a.is_none() || op.d.is_none() {
            return None;
        }
        match name {
            "ld" if modifiers.starts_with("param") => return Some(self.moved_from_param(op)),
            "st" if modifiers.starts_with("param") => return Some(self.moved_to_param(op)),
            _ => {}
        }
        let of = |lane: usize| -> Option<u128> {
            // SAFETY: the operands have the widths that the opcode says.
            unsafe {
                match name {
                    "and" | "or" | "xor" | "not" if modifiers == "pred" => self.condition(op, name, lane),
                    "cvt" => {
                        let (to, from) = modifiers.split_once('.')?;
                        let ((to, _), (from, signed)) = (integer(to)?, integer(from)?);
                        let (_, bits) = self.operand(op.a, lane, from);
                        Some(if signed { extend(bits, from) } else { bits } & ones(to))
                    }
                    _ => self.bitwise(op, name, modifiers, lane),
                }
            }
        };
        let mut bits = Box::new([0; 32]);
        for lane in lanes(self.mask) {
            bits[lane] = of(lane)?;
        }
        Some(vec![(op.d, Bits::Each(bits))])
    }

    /// A parameter or result of a function, in words of the frame, to a register.
    fn moved_from_param(&self, op: &Op) -> Moved {
        let (bits, shift, signed) = param_part(op);
        let of = |lane: usize| {
            let word = |word: u32| self.undefined(Slot(op.a.0 + 128 * word), lane) & ones(32);
            let words = (0..bits.div_ceil(32)).fold(0, |sum, at| sum | word(at) << (32 * at));
            let part = words >> shift & ones(bits);
            if signed { extend(part, bits) } else { part }
        };
        vec![(op.d, Bits::each(of))]
    }

    /// The way there.
    fn moved_to_param(&self, op: &Op) -> Moved {
        let (bits, shift, _) = param_part(op);
        let of = |word: u32| {
            let slot = Slot(op.d.0 + 128 * word);
            let of = |lane: usize| {
                let part = (self.undefined(op.a, lane) & ones(bits)) >> (32 * word) & ones(32);
                // Less than a word leaves the rest of it.
                let kept = self.undefined(slot, lane) & ones(32) & !(ones(bits) << shift);
                part << shift | if bits < 32 { kept } else { 0 }
            };
            (slot, Bits::each(of))
        };
        (0..bits.div_ceil(32)).map(of).collect()
    }

    /// Packing and unpacking; nothing for a plain move.
    fn moved_parts(&self, op: &Op) -> Moved {
        if op.list_len == 0 {
            return Vec::new();
        }
        let part = (op.imm & 0xff) as u32;
        let slots = self.image().list(op);
        if op.d.is_none() {
            let of = |index: usize| Bits::each(|lane| self.undefined(op.a, lane) >> (index as u32 * part) & ones(part));
            return slots
                .iter()
                .enumerate()
                .filter(|(_, slot)| !slot.is_none())
                .map(|(index, slot)| (*slot, of(index)))
                .collect();
        }
        let joined = Bits::each(|lane| {
            let of =
                |(index, slot): (usize, &Slot)| (self.undefined(*slot, lane) & ones(part)) << (index as u32 * part);
            slots.iter().enumerate().map(of).fold(0, |sum, bits| sum | bits)
        });
        vec![(op.d, joined)]
    }

    /// Logic of predicates.
    ///
    /// # Safety
    /// `op` is such an instruction of the current image.
    unsafe fn condition(&self, op: &Op, name: &str, lane: usize) -> Option<u128> {
        let of = |slot: Slot, flip: i64| {
            // SAFETY: a predicate of this instruction, as the caller promises.
            let value = unsafe { self.pred(slot) } >> lane ^ flip as u32;
            (u128::from(value & 1), u128::from(self.undefined(slot, lane) != 0))
        };
        let a = of(op.a, op.imm & 1);
        if name == "not" {
            return Some(a.1);
        }
        if op.b.is_none() {
            return None;
        }
        let b = of(op.b, op.imm >> 1 & 1);
        let table = match name {
            "and" => AND,
            "or" => OR,
            _ => XOR,
        };
        Some(logic(table, a, b, (0, 0)) & 1)
    }

    /// Logic, shifts and bit fields.
    ///
    /// # Safety
    /// `op` is an instruction of the current image with this name and these modifiers.
    unsafe fn bitwise(&self, op: &Op, name: &str, modifiers: &str, lane: usize) -> Option<u128> {
        let (width, signed) = integer(modifiers.rsplit('.').next()?)?;
        let counts = ones(width);
        // SAFETY: the operands have the widths that the opcode says.
        let get = |slot: Slot| unsafe { self.operand(slot, lane, width) };
        // Amounts, starts and lengths, which must be defined.
        let amount = |slot: Slot| {
            if slot.is_none() {
                return None;
            }
            // SAFETY: as above.
            let (value, undefined) = unsafe { self.operand(slot, lane, 32) };
            (undefined == 0).then_some(value as u32)
        };
        let a = get(op.a);
        if name == "not" {
            return Some(logic(NOT, a, (0, 0), (0, 0)) & counts);
        }
        if op.b.is_none() {
            return None;
        }
        Some(match name {
            "and" => logic(AND, a, get(op.b), (0, 0)) & counts,
            "or" => logic(OR, a, get(op.b), (0, 0)) & counts,
            "xor" => logic(XOR, a, get(op.b), (0, 0)) & counts,
            "lop3" if !op.c.is_none() => logic(op.imm as u32, a, get(op.b), get(op.c)) & counts,
            "shl" => a.1.checked_shl(amount(op.b)?).unwrap_or(0) & counts,
            "shr" => {
                let bits = if signed { extend(a.1, width) as i128 } else { a.1 as i128 };
                (bits >> amount(op.b)?.min(127)) as u128 & counts
            }
            "shf" => {
                let (b, count) = (get(op.b), amount(op.c)?);
                let count = if modifiers.contains("wrap") { count & 31 } else { count.min(32) };
                let pair = b.1 << 32 | a.1;
                (if modifiers.starts_with('l') { pair << count >> 32 } else { pair >> count }) & counts
            }
            "bfe" => u128::from(extract(a.1 as u64, width, amount(op.b)?, amount(op.c)?, signed)) & counts,
            "bfi" => {
                let (from, count) = (amount(op.c)? & 0xff, amount(op.e)? & 0xff);
                let field = ones(count).checked_shl(from).unwrap_or(0) & counts;
                get(op.b).1 & !field | a.1.checked_shl(from).unwrap_or(0) & field
            }
            "prmt" if modifiers == "b32" => u128::from(permute(a.1 as u32, get(op.b).1 as u32, amount(op.c)?)),
            _ => return None,
        })
    }
}

impl Poison {
    /// The same mark on other bits; None when there are none in these lanes.
    pub fn on(self, bits: Bits, mask: u32) -> Option<Poison> {
        let bits = bits.within(mask);
        let lanes = bits.lanes(128);
        (lanes != 0).then_some(Poison { lanes, bits, ..self })
    }

    /// The same mark in these lanes alone; None when there are none.
    pub fn within(mut self, mask: u32) -> Option<Poison> {
        let bits = std::mem::take(&mut self.bits);
        self.on(bits, mask)
    }

    /// This mark where there is one, and `old` in the lanes of `kept`.
    pub fn over(mut self, old: Option<&Poison>, kept: u32) -> Poison {
        if let Some(old) = old {
            self.bits = self.bits.with(&old.bits, kept, 128, false);
            self.lanes |= old.lanes & kept;
        }
        self
    }
}

/// Whether stored bytes, each with its undefined bits, have holes as structures with padding have: bytes that are
/// defined and others of which no bit is. A number that was masked, with nothing but zeros above, is none.
fn has_holes(bytes: &[(u8, u8)]) -> bool {
    let whole = bytes.iter().all(|(_, undefined)| matches!(undefined, 0 | 0xff));
    let some = bytes.iter().any(|(_, undefined)| *undefined == 0);
    let masked = bytes.first().is_some_and(|(_, undefined)| *undefined != 0)
        && bytes.iter().all(|(value, undefined)| *undefined != 0 || *value == 0);
    whole && some && !masked
}
