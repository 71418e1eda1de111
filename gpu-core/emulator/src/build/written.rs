//! Which arguments of a kernel its writes to global memory can go through: where pointers come from, by the flow of
//! values between registers.
//!
//! What a kernel only reads takes part in no race, and most arrays are only read. The answer errs on the side of
//! "written": a pointer that was itself in memory may be any. Should a write reach an array all the same (an index far
//! beyond its own array, an address put together from bytes), the race check watches that array from then on.

use std::collections::HashMap;

use crate::exec::image::Image;
use crate::exec::op::Slot;

/// Bytes of the argument block: offset and length.
pub type Argument = (u32, u32);

/// A value may be any address.
const ANY: u64 = 1 << 63;
/// It depends on memory, less than an address of it at a time.
const PART: u64 = 1 << 62;
const MOST_ARGUMENTS: usize = 62;

/// What one instruction does with addresses.
enum Role {
    /// The results depend on the operands.
    Computes,
    /// The results are these arguments, or from memory.
    Gives(u64),
    /// It writes where its address says; the results are from memory.
    Writes(u64),
    /// It may write anywhere.
    Unknown,
}

/// The arguments that the kernel at `first..end` of the code may write through; None when it may write anywhere.
pub fn written_arguments(image: &Image, first: usize, end: usize) -> Option<Vec<Argument>> {
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
                Role::Gives(value) | Role::Writes(value) => *value,
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
    let mut written = 0;
    for (at, _) in (first..end).zip(&roles).filter(|(_, role)| matches!(role, Role::Writes(_))) {
        let op = &image.code[at];
        // Anything but one register may be part of an address where the form is not a plain one.
        written |= match op.site {
            0 => image.infos[at].reads.iter().fold(0, |all, slot| all | from.get(slot).copied().unwrap_or(0)),
            _ => from.get(&op.a).copied().unwrap_or(0),
        };
    }
    if written & ANY != 0 {
        return None;
    }
    Some((0..arguments.len()).filter(|index| written >> index & 1 != 0).map(|index| arguments[index]).collect())
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
        "ld" | "ldu" => Role::Gives(from_memory),
        "st" | "red" if has("async") || has("bulk") => Role::Unknown,
        "st" | "red" | "atom" if inner => Role::Gives(from_memory),
        "st" | "red" | "atom" => Role::Writes(from_memory),
        "wmma" if has("load") => Role::Gives(PART),
        "wmma" if has("store") && !inner => Role::Writes(PART),
        "ldmatrix" => Role::Gives(PART),
        // Predicates hold no addresses.
        "setp" | "testp" | "isspacep" => Role::Gives(0),
        "cp" if has("reduce") || operation.contains(".global.shared") => Role::Unknown,
        "call" | "multimem" | "tensormap" | "discard" => Role::Unknown,
        _ => Role::Computes,
    })
}

#[cfg(test)]
mod tests {
    use crate::module::Module;

    /// The arguments at 0, 8 and 16 that a kernel of three pointers and a number may write through.
    fn written(body: &str) -> Option<Vec<u32>> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, \
             .param .u32 n) {{\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n.reg .pred %p<3>;\nld.param.u64 %rd1, [a];\n\
             ld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\nld.param.u32 %r1, [n];\n{body}\nret;\n}}"
        );
        let module = Module::load(&text).unwrap_or_else(|error| panic!("{error}"));
        let found = module.image.written_arguments(0)?;
        let pointers: Vec<u32> = found.iter().map(|(offset, _)| *offset).filter(|offset| *offset < 24).collect();
        Some(pointers)
    }

    #[test]
    fn stores_go_where_their_addresses_come_from() {
        let plain = "ld.global.u32 %r2, [%rd1];\nmul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd3, %rd4;\nst.global.u32 [%rd5], %r2;";
        assert_eq!(written(plain), Some(vec![16]));
        assert_eq!(written("ld.global.u32 %r2, [%rd1];"), Some(vec![]));
        assert_eq!(written("atom.global.add.u32 %r2, [%rd2], 1;"), Some(vec![8]));
        assert_eq!(written("red.global.add.u32 [%rd2], 1;\nst.global.u64 [%rd1], %rd3;"), Some(vec![0, 8]));
    }

    #[test]
    fn an_index_from_memory_is_no_address_and_a_pointer_from_memory_is_any() {
        let scatter = "ld.global.u32 %r2, [%rd1];\nmul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd3, %rd4;\nst.global.u32 [%rd5], %r2;";
        assert_eq!(written(scatter), Some(vec![16]));
        assert_eq!(written("ld.global.u64 %rd4, [%rd1];\nst.global.u32 [%rd4], %r1;"), None);
        let halves = "ld.global.v2.u32 {%r2, %r3}, [%rd1];\nmov.b64 %rd4, {%r2, %r3};\nst.global.u32 [%rd4], %r1;";
        assert_eq!(written(halves), None);
        assert_eq!(written("atom.global.exch.b64 %rd4, [%rd1], %rd2;\nst.global.u32 [%rd4], %r1;"), None);
    }

    #[test]
    fn either_of_two_pointers_counts_as_both_and_turns_of_a_loop_add_up() {
        let either = "setp.eq.u32 %p1, %r1, 0;\nselp.b64 %rd4, %rd1, %rd2, %p1;\nst.global.u32 [%rd4], %r1;";
        assert_eq!(written(either), Some(vec![0, 8]));
        let turns = "mov.b64 %rd4, %rd1;\nmov.b64 %rd5, %rd2;\n$next:\nst.global.u32 [%rd4], %r1;\nmov.b64 %rd6, %rd4;\n\
                     mov.b64 %rd4, %rd5;\nmov.b64 %rd5, %rd6;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $next;";
        assert_eq!(written(turns), Some(vec![0, 8]));
    }

    #[test]
    fn copies_out_of_shared_memory_may_write_anywhere() {
        let bulk = "mov.u32 %r2, 0;\ncp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r2], %r1;";
        let module = Module::load(&format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 c, .param .u32 n) {{\n.reg .b64 \
             %rd<9>;\n.reg .b32 %r<9>;\nld.param.u64 %rd3, [c];\nld.param.u32 %r1, [n];\n{bulk}\nret;\n}}"
        ));
        assert_eq!(module.unwrap_or_else(|error| panic!("{error}")).image.written_arguments(0), None);
    }
}
