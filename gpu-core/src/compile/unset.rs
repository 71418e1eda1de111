//! Variables of a kernel that are declared without a value, so that a fault can name the one that never got any.

use super::declared::{line_of, without_directives};
use super::tokens::{Kind, Token};
use crate::spec::Dtype;
use ptx_emulator::Fault;
use serde::{Deserialize, Serialize};

/// What the emulator says of a thread, which knows no names of variables.
const NO_VALUE: &str = "has a variable that was never given a value";

/// A variable or array of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unset {
    pub name: String,
    /// Where it is declared.
    pub line: u32,
    /// A fragment of the matrix units.
    pub is_fragment: bool,
    /// Some statement assigns it, or an element of it.
    pub is_assigned: bool,
    /// Lines in which it stands.
    pub used: Vec<u32>,
}

/// Variables of a source that are declared without a value.
pub fn unset(source: &str) -> Vec<Unset> {
    let all = without_directives(source);
    let mut found: Vec<Unset> = Vec::new();
    let mut depth = 0_i32;
    let mut start = 0;
    for at in 0..all.len() {
        match all[at].text {
            "{" => depth += 1,
            "}" => depth -= 1,
            ";" => {
                if depth > 0 {
                    declared(source, &all, &all[start..at], &mut found);
                }
            }
            _ => continue,
        }
        start = at + 1;
    }
    found
}

fn declared(source: &str, all: &[Token<'_>], statement: &[Token<'_>], found: &mut Vec<Unset>) {
    let Some(names) = type_end(statement) else { return };
    let is_fragment = statement[..names].iter().any(|token| token.text == "fragment");
    // `a, b[3][4]`: a name and its extents, and nothing that gives a value.
    for part in statement[names..].split(|token| token.text == ",") {
        let Some((name, rest)) = part.split_first().filter(|(name, _)| name.kind == Kind::Word) else { return };
        let mut open = 0_i32;
        let extents = rest.iter().all(|token| {
            match token.text {
                "[" => open += 1,
                "]" => open -= 1,
                "=" | "(" | "{" => return false,
                _ => {}
            }
            open > 0 || token.text == "]"
        });
        if !extents {
            continue;
        }
        let is = |token: &Token<'_>| token.text == name.text && token.kind == Kind::Word;
        let used = all
            .iter()
            .filter(|token| is(token) && token.at != name.at)
            .map(|token| line_of(source, token.at))
            .collect();
        let is_assigned = (0..all.len()).any(|at| is(&all[at]) && all[at].at != name.at && assigns(all, at + 1));
        let line = line_of(source, name.at);
        found.push(Unset { name: name.plain(), line, is_fragment, is_assigned, used });
    }
}

/// Where the names of a declaration begin; None for another statement.
fn type_end(statement: &[Token<'_>]) -> Option<usize> {
    if let Some(close) = statement.iter().position(|token| token.text == "fragment").and_then(|at| {
        let mut depth = 0_i32;
        (at + 1..statement.len()).find(|&i| {
            match statement[i].text {
                "<" => depth += 1,
                ">" => depth -= 1,
                _ => {}
            }
            depth == 0
        })
    }) {
        return Some(close + 1);
    }
    let words = statement.iter().take_while(|token| token.kind == Kind::Word).count();
    let known = |count: &usize| {
        let text: Vec<&str> = statement[..*count].iter().map(|token| token.text).collect();
        Dtype::of_cpp(&text.join(" ")).is_some()
    };
    (1..words).rev().find(known)
}

/// Whether an `=` follows a name and its indices.
fn assigns(all: &[Token<'_>], mut at: usize) -> bool {
    let text = |i: usize| all.get(i).map_or("", |token| token.text);
    while text(at) == "[" {
        match (at..all.len()).find(|&i| all[i].text == "]") {
            Some(close) => at = close + 1,
            None => return false,
        }
    }
    text(at) == "=" && text(at + 1) != "="
}

/// Names the variable that a fault is about, where its line has but one that may be meant.
pub fn name(fault: &mut Fault, unset: &[Unset]) {
    let line = fault.inlined_at.as_ref().or(fault.source.as_ref()).map_or(0, |source| source.line);
    if !fault.message.contains(NO_VALUE) {
        return;
    }
    let here: Vec<&Unset> = unset.iter().filter(|one| one.used.contains(&line)).collect();
    let never: Vec<&Unset> = here.iter().copied().filter(|one| !one.is_assigned).collect();
    let (([one], _) | (_, [one])) = (&here[..], &never[..]) else { return };
    let words = format!("uses `{}` (line {}), which was never given a value", one.name, one.line);
    fault.message = fault.message.replace(NO_VALUE, &words);
    if one.is_fragment {
        fault.message += &format!("; fill it before its first use: `wmma::fill_fragment({}, 0)`", one.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_without_a_value_are_found() {
        let source = "__global__ void k(float* a)\n{\n    float sum[4][4], x = 1, y;\n    wmma::fragment<wmma::accumulator, 16, 16, 16, float> \
                      fc;\n    unsigned int n;\n    n = 3;\n    a[0] += sum[0][0];\n    y == 3;\n    return;\n}\nfloat outside;\n";
        let found = unset(source);
        let shown: Vec<(&str, u32, bool, bool)> =
            found.iter().map(|one| (one.name.as_str(), one.line, one.is_fragment, one.is_assigned)).collect();
        assert_eq!(
            shown,
            [("sum", 3, false, false), ("y", 3, false, false), ("fc", 4, true, false), ("n", 5, false, true)]
        );
        assert_eq!(found[0].used, [7]);
        for odd in ["", "{", "{;", "{ float ; }", "{ fragment< ; }", "{ float a[; }", "{ int; }", "}{ float x;"] {
            unset(odd);
        }
    }
}
