//! Which modifiers go with which types, for instructions between registers: a form that no assembler takes is refused,
//! not guessed at.
//!
//! `legal.tsv` is what ptxas of CUDA 13.5 said to every combination of the modifiers and types that its `?` rows name.
//! Columns of the other rows: the newest of sm_75, sm_80, sm_89, sm_90a, sm_100a, sm_110a that refuses the form (0: none
//! does; a letter behind it: [`Among`]), the opcode, leading types, last types,
//! modifiers in alphabetic order; `-` is none, and each stands for all combinations. Comparisons of `set` are those of `setp`; `.and`, `.or`, `.xor` of both are left out, as are spaces,
//! orderings and scopes of atomics. What names anything else is not judged here.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use crate::decode::emit::{Arch, Decoded};

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
    among: Among,
}

/// Which of the later architectures have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Among {
    All,
    /// `a`: as `sm_XXXa` and `sm_XXXf`.
    Specific,
    /// `d`: sm_100 and sm_103, as `a` and `f`.
    DataCentre,
    /// `e`: sm_100a and sm_103a.
    Exact,
}

impl Since {
    fn read(column: &str) -> Option<Since> {
        let number = column.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let among = match &column[number.len()..] {
            "" => Among::All,
            "a" => Among::Specific,
            "d" => Among::DataCentre,
            "e" => Among::Exact,
            _ => return None,
        };
        Some(Since { above: number.parse().ok()?, among })
    }
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
                    let Some(above) = Since::read(above) else { continue };
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
const WORDS_SINCE: &[(&str, u32)] =
    &[("cluster", 90), ("cp_mask", 100), ("expect_tx", 90), ("shared::cluster", 90), ("tensormap", 90)];

/// Refuses what came with a later architecture than the module's.
fn since(opcode: &str, arch: Arch) -> Decoded<()> {
    let begins = |start: &str| opcode.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let by_opcode = OPCODES_SINCE.iter().filter(|(start, _)| begins(start));
    let relaxed = begins("mbarrier") && opcode.contains(".relaxed");
    let by_word = WORDS_SINCE.iter().filter(|(word, _)| opcode.split('.').any(|part| part == *word));
    let by_both = relaxed.then_some(90);
    match by_opcode.chain(by_word).map(|(_, since)| *since).chain(by_both).max() {
        Some(since) if arch.number < since => {
            Err(format!("`{opcode}` needs sm_{since} or higher, the module is for sm_{}", arch.number))
        }
        _ if begins("setmaxnreg") && !arch.specific => {
            Err(format!("`{opcode}` exists on sm_{0}a and its like only, the module is for sm_{0}", arch.number))
        }
        _ => Ok(()),
    }
}

/// Refuses what only the chips with tensor memory have: pairs of blocks, and some ways through a tensor.
fn tensor_memory(opcode: &str, arch: Arch) -> Decoded<()> {
    let has = |word: &str| opcode.split('.').any(|part| part == word);
    let ways = ["tile::gather4", "im2col::w"];
    let here = opcode.contains(".shared::cta.global.") && !opcode.contains(".cta_group::");
    if ways.into_iter().any(has) && here {
        return match arch.number {
            100.. => Ok(()),
            number => Err(format!("`{opcode}` needs sm_100 or higher, the module is for sm_{number}")),
        };
    }
    let wanted =
        opcode.contains(".cta_group::") || ways.into_iter().any(has) || has("tile::scatter4") || has("im2col::w::128");
    if wanted && !(matches!(arch.number, 100..120) && arch.specific) {
        return Err(format!("`{opcode}` exists on sm_100a, sm_103a and sm_110a (and their `f`) only"));
    }
    Ok(())
}

/// Refuses an opcode that the table knows all words of, but not together.
pub fn check(opcode: &str, arch: Arch) -> Decoded<()> {
    since(opcode, arch)?;
    tensor_memory(opcode, arch)?;
    let mut parts = opcode.split('.');
    let name = parts.next().unwrap_or_default();
    if matches!(name, "ld" | "ldu" | "st") {
        return super::legal_memory::check(name, opcode, arch);
    }
    let Some(family) = families().get(name) else { return Ok(()) };
    let compares = matches!(name, "set" | "setp");
    if name == "set" {
        // A comparison takes the types that it takes in `setp`.
        let ty = opcode.rsplit('.').next().unwrap_or_default();
        if let Some(comparison) = parts.next()
            && let Some(family) = families().get("setp")
            && !family.forms.contains_key(&key(comparison, "-", ty))
        {
            return Err(format!("`{opcode}` does not exist: `.{comparison}` does not compare `.{ty}`"));
        }
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
        Some(Since { among, .. }) => {
            let data_centre = matches!(arch.number, 100 | 103);
            match among {
                Among::Specific if !arch.specific => {
                    Err(format!("`{opcode}` exists on sm_{0}a and sm_{0}f only, the module is for sm_{0}", arch.number))
                }
                Among::DataCentre if !(data_centre && arch.specific) => {
                    Err(format!("`{opcode}` exists on sm_100a, sm_100f, sm_103a and sm_103f only"))
                }
                Among::Exact if !(data_centre && arch.exact) => {
                    Err(format!("`{opcode}` exists on sm_100a and sm_103a only"))
                }
                _ => Ok(()),
            }
        }
    }
}
