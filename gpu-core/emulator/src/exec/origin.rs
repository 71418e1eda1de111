//! Which array an address was made from. An index that overflows, or runs on for too long, comes to the room of another
//! array or to none: the one to name is that of the pointer, and not the nearest.
//!
//! Only faults ask: values are followed from register to register through the function's instructions, whatever the order in
//! which those run.

use std::collections::HashMap;

use super::cx::Cx;
use super::op::Slot;
use crate::exec::opcode::opcode;
use crate::memory::space::Window;
use crate::report::AllocationRef;

/// Instructions of a function beyond which nothing is followed: reports must not take long.
const MOST: usize = 1 << 16;

/// Where a pointer may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Index into the grid's shared arrays.
    Shared(usize),
    /// Index into its regions.
    Global(usize),
    /// The dynamic shared memory of a launch that has none.
    NoDynamic,
}

impl Cx<'_> {
    /// The array that the address of the running instruction was made from; None where it may be several.
    pub fn origin(&self, window: Window) -> Option<Origin> {
        let image = self.image();
        let function = image.functions.iter().rfind(|function| function.first_pc <= self.pc)?;
        let code = image.code_of(function);
        if code.len() > MOST {
            return None;
        }
        let mut from: HashMap<Slot, Vec<Origin>> = HashMap::new();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for at in code.clone() {
                let new = self.gives(at, &from, window);
                for slot in &image.infos[at].writes {
                    let known = from.entry(*slot).or_default();
                    for origin in &new {
                        if !known.contains(origin) {
                            known.push(*origin);
                            changed = true;
                        }
                    }
                }
            }
        }
        let (op, text) = (image.code.get(self.pc as usize)?, image.text(self.pc));
        let place = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(place, _)| place);
        let mut all = self.named(place, window);
        all.extend(from.get(&op.a).into_iter().flatten());
        all.dedup();
        match all[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// What the results of an instruction may be made of.
    fn gives(&self, at: usize, from: &HashMap<Slot, Vec<Origin>>, window: Window) -> Vec<Origin> {
        let image = self.image();
        let (op, info, text) = (&image.code[at], &image.infos[at], image.text(at as u32));
        let name = opcode(text);
        if name.starts_with("ld.param") {
            return if op.a.is_pool() {
                self.argument(op.imm as u64, window).into_iter().collect()
            } else {
                Vec::new()
            };
        }
        let head = name.split('.').next().unwrap_or_default();
        if matches!(head, "ld" | "ldu" | "atom" | "call" | "tex" | "setp" | "shfl" | "vote" | "ldmatrix") {
            return Vec::new();
        }
        let mut all = if head == "mov" || head == "cvta" { self.named(text, window) } else { Vec::new() };
        for slot in info.reads.iter().filter(|slot| **slot != op.guard) {
            all.extend(from.get(slot).into_iter().flatten());
        }
        all
    }

    /// The arrays that a text names.
    fn named(&self, text: &str, window: Window) -> Vec<Origin> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '$' | '%' | '.'));
        let find = |word: &str| {
            if word.is_empty() || word.starts_with(['%', '.']) || word.starts_with(|c: char| c.is_ascii_digit()) {
                return None;
            }
            if matches!(window, Window::Global | Window::Const) {
                let variable = self.image().variables.iter().find(|variable| variable.symbol == word)?;
                return self.region_at(variable.address);
            }
            let name = display_name(word);
            let given = self.grid.shared_arrays.iter().position(|array| array.name == name).map(Origin::Shared);
            let shared = &self.image().functions[self.grid.function as usize].shared;
            given
                .or_else(|| shared.iter().any(|known| known.dynamic && known.name == name).then_some(Origin::NoDynamic))
        };
        words.filter_map(find).collect()
    }

    /// The array that an argument of the kernel points to.
    fn argument(&self, offset: u64, window: Window) -> Option<Origin> {
        if !matches!(window, Window::Global | Window::Const) {
            return None;
        }
        let bytes = self.grid.launch.params.get(offset as usize..offset as usize + 8)?;
        self.region_at(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    fn region_at(&self, address: u64) -> Option<Origin> {
        let holds = |region: &crate::exec::memory::access::Region| {
            !region.freed && (region.base..=region.end).contains(&address)
        };
        self.grid.regions.iter().position(holds).map(Origin::Global)
    }

    /// An array and where in it an address lies, or would.
    pub fn place_of(&self, origin: Origin, address: u64) -> Option<AllocationRef> {
        let (name, base, bytes) = match origin {
            Origin::Shared(index) => {
                let array = self.grid.shared_arrays.get(index)?;
                (array.name.clone(), u64::from(array.base), u64::from(array.bytes))
            }
            Origin::Global(index) => {
                let region = self.grid.regions.get(index)?;
                (region.name.to_string(), region.base, region.end - region.base)
            }
            Origin::NoDynamic => return None,
        };
        Some(AllocationRef { name, base, bytes, offset: address.wrapping_sub(base) as i64 })
    }
}

/// `_ZZ4tileE1s` is `s` of function `tile`: what the programmer wrote is easier to read.
pub fn display_name(name: &str) -> String {
    fn number(text: &str) -> Option<(usize, &str)> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        Some((text[..digits].parse().ok()?, &text[digits..]))
    }
    // A name with its length before it, and what is behind it.
    fn counted(text: &str) -> Option<(&str, &str)> {
        let (length, rest) = number(text)?;
        rest.split_at_checked(length).filter(|(name, _)| !name.is_empty())
    }
    let mangled = || -> Option<&str> {
        if let Some(rest) = name.strip_prefix("_ZZ") {
            // Types of parameters end with an `E` as well, and have names: the variable's is the last.
            let ends = |behind: &str| behind.is_empty() || behind.starts_with('_');
            let of = |(at, _)| counted(&rest[at + 1..]).filter(|(_, behind)| ends(behind));
            return Some(rest.match_indices('E').find_map(of)?.0);
        }
        let tail = name.strip_prefix("_ZL").or_else(|| name.strip_prefix("_Z"))?;
        Some(counted(tail)?.0)
    };
    mangled().unwrap_or(name).to_owned()
}
