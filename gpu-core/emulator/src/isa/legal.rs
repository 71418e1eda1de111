//! Which modifiers go with which types, for instructions between registers: a form that no assembler takes is refused,
//! not guessed at.
//!
//! `legal.tsv` is what ptxas of CUDA 13.5 said to every combination of the modifiers and types that its `?` rows name.
//! Columns of the other rows: the newest of sm_75, sm_80, sm_89, sm_90a, sm_100a, sm_110a that refuses the form (0: none
//! does; an `a` behind it: later ones take it as sm_XXXa or sm_XXXf only), the opcode, leading types, last types,
//! modifiers in alphabetic order; `-` is none, and each stands for all combinations. Comparisons of `set`, and `.and`, `.or`, `.xor` of `set` and `setp`, are left out, as are spaces,
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
    pub forms: HashMap<String, Since>,
}

/// Which architectures have a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    /// The newest architecture without it.
    above: u32,
    /// Only `sm_XXXa` and `sm_XXXf` have it.
    specific: bool,
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
                    let number = above.trim_end_matches('a');
                    let Ok(above) = number.parse().map(|n| Since { above: n, specific: number != above }) else {
                        continue;
                    };
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

/// Beginnings of opcodes with the first architecture that has them.
const OPCODES_SINCE: &[(&str, u32)] = &[
    ("barrier.cluster", 90),
    ("clusterlaunchcontrol", 100),
    ("cp.async.bulk", 90),
    ("cp.reduce.async.bulk", 90),
    ("elect", 90),
    ("fence.acquire", 90),
    ("fence.mbarrier_init", 90),
    ("fence.proxy.async", 90),
    ("fence.proxy.tensormap::generic", 90),
    ("fence.release", 90),
    ("getctarank", 90),
    ("griddepcontrol", 90),
    ("mapa", 90),
    ("membar.proxy.async", 90),
    ("mbarrier.complete_tx", 90),
    ("mbarrier.expect_tx", 90),
    ("mbarrier.try_wait", 90),
    ("red.async", 90),
    ("setmaxnreg", 90),
    ("st.async", 90),
    ("st.bulk", 100),
];

/// Words anywhere in an opcode with the first architecture that has them.
const WORDS_SINCE: &[(&str, u32)] = &[("cluster", 90), ("expect_tx", 90), ("shared::cluster", 90), ("tensormap", 90)];

/// Refuses what came with a later architecture than the module's.
fn since(opcode: &str, arch: Arch) -> Decoded<()> {
    let begins = |start: &str| opcode.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let by_opcode = OPCODES_SINCE.iter().filter(|(start, _)| begins(start));
    let by_word = WORDS_SINCE.iter().filter(|(word, _)| opcode.split('.').any(|part| part == *word));
    match by_opcode.chain(by_word).map(|(_, since)| *since).max() {
        Some(since) if arch.number < since => {
            Err(format!("`{opcode}` needs sm_{since} or higher, the module is for sm_{}", arch.number))
        }
        _ => Ok(()),
    }
}

/// Refuses an opcode that the table knows all words of, but not together.
pub fn check(opcode: &str, arch: Arch) -> Decoded<()> {
    since(opcode, arch)?;
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
        Some(Since { above, .. }) if arch.number <= *above => {
            Err(format!("`{opcode}` does not exist up to sm_{above}: compile for a newer architecture"))
        }
        Some(Since { specific: true, .. }) if !arch.specific => {
            Err(format!("`{opcode}` exists on sm_{0}a and sm_{0}f only, the module is for sm_{0}", arch.number))
        }
        Some(_) => Ok(()),
    }
}
