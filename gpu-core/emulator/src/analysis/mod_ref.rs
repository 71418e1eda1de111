//! Which arguments of a kernel its writes to global memory can go through: where pointers come from, by the flow of
//! values between registers.
//!
//! What a kernel only reads takes part in no race, and most arrays are only read. The answer errs on the side of
//! "written": a pointer that was itself in memory may be any. Should a write reach an array all the same (an index far
//! beyond its own array, an address put together from bytes), the race check watches that array from then on.

use std::collections::HashMap;

use crate::exec::image::Image;
use crate::exec::memory::flags::CTA;
use crate::exec::op::Slot;

/// Bytes of the argument block: offset and length.
pub type Argument = (u32, u32);

/// A value may be any address.
const ANY: u64 = 1 << 63;
/// It depends on memory, less than an address of it at a time.
const PART: u64 = 1 << 62;
const MOST_ARGUMENTS: usize = 62;

/// An access to global memory.
#[derive(Clone, Debug)]
pub struct Access {
    pub pc: u32,
    /// The arguments that its address may be made of; None: any.
    pub through: Option<Vec<Argument>>,
    /// A plain load or store.
    pub plain: bool,
    pub writes: bool,
}

/// What a kernel may write through.
#[derive(Clone, Debug)]
pub struct Written {
    pub accesses: Vec<Access>,
    pub arguments: Vec<Argument>,
    /// Those of them that see more than `atom` and `red`.
    pub stored: Vec<Argument>,
    /// Those that it may load through, or update with a scope that leaves other blocks out.
    pub seen: Vec<Argument>,
}

/// What one instruction does with addresses.
enum Role {
    /// The results depend on the operands.
    Computes,
    /// The results are these arguments, or from memory.
    Gives(u64),
    /// It writes where its address says; the results are from memory.
    Writes(u64),
    /// The same as one step that nothing comes between.
    Updates(u64),
    /// The results are from where its address says.
    Reads(u64),
    /// It may read anywhere.
    Copies,
    /// It may write anywhere.
    Unknown,
}

/// The arguments that the kernel at `first..end` of the code may write through; None when it may write anywhere.
pub fn written_arguments(image: &Image, first: usize, end: usize) -> Option<Written> {
    let mut arguments: Vec<Argument> = Vec::new();
    let mut roles = Vec::with_capacity(end - first);
    for at in first..end {
        match role(image, at, &mut arguments)? {
            Role::Unknown => return None,
            role => roles.push(role),
        }
    }
    let mut from: HashMap<Slot, u64> = HashMap::new();
    loop {
        let mut changed = false;
        for (at, role) in (first..end).zip(&roles) {
            let info = &image.infos[at];
            let mut value = match role {
                Role::Gives(value) | Role::Writes(value) | Role::Updates(value) | Role::Reads(value) => *value,
                _ => {
                    let guard = image.code[at].guard;
                    let sources = info.reads.iter().filter(|slot| **slot != guard);
                    sources.fold(0, |all, slot| all | from.get(slot).copied().unwrap_or(0))
                }
            };
            let packs = info.reads.len() > 1 && value & PART != 0 && operation(image, at).starts_with("mov");
            if packs {
                value |= ANY;
            }
            for slot in &info.writes {
                let known = from.entry(*slot).or_insert(0);
                changed |= *known | value != *known;
                *known |= value;
            }
        }
        if !changed {
            break;
        }
    }
    let (mut written, mut stored, mut seen) = (0, 0, 0);
    let mut accesses = Vec::new();
    for (at, role) in (first..end).zip(&roles) {
        let op = &image.code[at];
        if matches!(role, Role::Gives(_)) || matches!(role, Role::Computes) && op.site == 0 {
            continue;
        }
        // Anything but one register may be part of an address where the form is not a plain one.
        let through = match op.site {
            0 => image.infos[at].reads.iter().fold(0, |all, slot| all | from.get(slot).copied().unwrap_or(0)),
            _ => from.get(&op.a).copied().unwrap_or(0),
        };
        let plain = matches!(operation(image, at).split('.').next(), Some("ld" | "ldu" | "st"));
        let writes = matches!(role, Role::Writes(_) | Role::Updates(_));
        accesses.push((at, if matches!(role, Role::Copies) { ANY } else { through }, plain, writes));
        match role {
            Role::Writes(_) => {
                written |= through;
                stored |= through;
            }
            Role::Updates(_) => {
                written |= through;
                if op.e.0 & CTA != 0 {
                    seen |= through;
                }
            }
            Role::Copies => seen |= ANY,
            _ => seen |= through,
        }
    }
    // Through an address that was itself in memory, anything may be read.
    seen |= if seen & ANY != 0 { u64::MAX } else { 0 };
    if written & ANY != 0 {
        return None;
    }
    let those = |set: u64| -> Vec<Argument> {
        (0..arguments.len()).filter(|index| set >> index & 1 != 0).map(|index| arguments[index]).collect()
    };
    let access = |(at, through, plain, writes): (usize, u64, bool, bool)| Access {
        pc: at as u32,
        through: (through & ANY == 0).then(|| those(through)),
        plain,
        writes,
    };
    Some(Written {
        accesses: accesses.into_iter().map(access).collect(),
        arguments: those(written),
        stored: those(stored),
        seen: those(seen),
    })
}

/// The instruction's name with its modifiers.
fn operation(image: &Image, at: usize) -> &str {
    let words = image.text(at as u32).split_whitespace();
    words.into_iter().find(|word| !word.starts_with('@')).unwrap_or("").trim_end_matches(';')
}

/// None when there are too many arguments to tell apart.
fn role(image: &Image, at: usize, arguments: &mut Vec<Argument>) -> Option<Role> {
    let operation = operation(image, at);
    let parts: Vec<&str> = operation.split('.').collect();
    let has = |name: &str| parts.iter().any(|part| part.split("::").next() == Some(name));
    let whole = ["b64", "u64", "s64", "b128"].iter().any(|ty| has(ty));
    let from_memory = if whole { ANY } else { PART };
    let inner = has("shared") || has("local") || has("param");
    let op = &image.code[at];
    Some(match parts[0] {
        "ld" | "ldu" if has("param") => {
            let bytes = image.sites.get(op.site as usize).map_or(0, |site| site.bytes);
            if op.site == 0 || !op.a.is_pool() || bytes == 0 {
                return Some(Role::Gives(ANY));
            }
            let argument = (op.imm as u32, bytes);
            let index = arguments.iter().position(|known| *known == argument).unwrap_or_else(|| {
                arguments.push(argument);
                arguments.len() - 1
            });
            if index >= MOST_ARGUMENTS {
                return None;
            }
            Role::Gives(1 << index)
        }
        "ld" | "ldu" if inner => Role::Gives(from_memory),
        "ld" | "ldu" => Role::Reads(from_memory),
        "st" | "red" if has("async") || has("bulk") => Role::Unknown,
        "st" | "red" | "atom" if inner => Role::Gives(from_memory),
        "st" => Role::Writes(from_memory),
        "red" | "atom" => Role::Updates(from_memory),
        "wmma" if has("load") => Role::Reads(PART),
        "wmma" if has("store") && !inner => Role::Writes(PART),
        "ldmatrix" => Role::Gives(PART),
        // Predicates hold no addresses.
        "setp" | "testp" | "isspacep" => Role::Gives(0),
        "cp" if has("reduce") || operation.contains(".global.shared") => Role::Unknown,
        // Also by maps of tensors, which no register shows.
        "cp" if has("global") => Role::Copies,
        // By objects, which may stand for any memory.
        "tex" | "tld4" | "suld" => Role::Copies,
        "sust" | "sured" => Role::Unknown,
        "call" | "multimem" | "tensormap" | "discard" => Role::Unknown,
        _ => Role::Computes,
    })
}
