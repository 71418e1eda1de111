//! Which modifiers go with which types, for instructions between registers: a form that no assembler takes is refused,
//! not guessed at.
//!
//! `legal.tsv` is what ptxas of CUDA 13.5 said to every combination of the modifiers and types that its `?` rows name.
//! Columns of the other rows: the newest of sm_75, sm_80, sm_89, sm_90a, sm_100a that refuses the form (0: none does),
//! the opcode, leading types, last types, modifiers in alphabetic order; `-` is none, and each stands for all
//! combinations. Comparisons of `set`, and `.and`, `.or`, `.xor` of `set` and `setp`, are left out, as are spaces,
//! orderings and scopes of atomics. What names anything else is not judged here.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use crate::build::emit::{Arch, Decoded};

pub const TABLE: &str = include_str!("legal.tsv");

/// One opcode: the words that were tried, and the forms that were taken, with the newest architecture that lacks them.
#[derive(Default)]
pub struct Family {
    pub types: HashSet<&'static str>,
    modifiers: HashSet<&'static str>,
    pub forms: HashMap<String, u32>,
}

pub fn families() -> &'static HashMap<&'static str, Family> {
    static FAMILIES: OnceLock<HashMap<&'static str, Family>> = OnceLock::new();
    FAMILIES.get_or_init(|| {
        let mut out: HashMap<&'static str, Family> = HashMap::new();
        for row in TABLE.lines() {
            let fields: Vec<&'static str> = row.split('\t').collect();
            match fields[..] {
                ["?", opcode, types, modifiers] => {
                    let family = out.entry(opcode).or_default();
                    family.types = types.split(' ').collect();
                    family.modifiers = modifiers.split(' ').collect();
                }
                [above, opcode, leading, last, modifiers] => {
                    let Ok(above) = above.parse() else { continue };
                    let family = out.entry(opcode).or_default();
                    for modifiers in modifiers.split(' ') {
                        for leading in leading.split(' ') {
                            for last in last.split(' ') {
                                family.forms.insert(key(modifiers, leading, last), above);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        out
    })
}

fn key(modifiers: &str, leading: &str, last: &str) -> String {
    format!("{modifiers} {leading} {last}")
}

fn joined(parts: &[&str]) -> String {
    if parts.is_empty() { "-".to_owned() } else { parts.join(".") }
}

/// Refuses an opcode that the table knows all words of, but not together.
pub fn check(opcode: &str, arch: Arch) -> Decoded<()> {
    let mut parts = opcode.split('.');
    let name = parts.next().unwrap_or_default();
    if matches!(name, "ld" | "ldu" | "st") {
        return super::legal_memory::check(name, opcode, arch);
    }
    let Some(family) = families().get(name) else { return Ok(()) };
    let compares = matches!(name, "set" | "setp");
    if name == "set" {
        parts.next();
    }
    let atomic = matches!(name, "atom" | "red");
    let passed_over = |part: &str| {
        compares && matches!(part, "and" | "or" | "xor") || atomic && super::legal_memory::goes_with_atomics(part)
    };
    let mut words: Vec<&str> = parts.filter(|part| !passed_over(part)).collect();
    let Some(last) = words.pop() else { return Ok(()) };
    let (leading, mut modifiers): (Vec<&str>, Vec<&str>) =
        words.into_iter().partition(|word| family.types.contains(word));
    if !family.types.contains(last) || !modifiers.iter().all(|word| family.modifiers.contains(word)) {
        return Ok(());
    }
    modifiers.sort_unstable();
    match family.forms.get(&key(&joined(&modifiers), &joined(&leading), last)) {
        None => Err(format!("`{opcode}` does not exist: `{name}` has no such modifiers with these types")),
        Some(above) if arch.number <= *above => {
            Err(format!("`{opcode}` does not exist up to sm_{above}: compile for a newer architecture"))
        }
        Some(_) => Ok(()),
    }
}
