//! Statements that stand inside a condition on the thread's own number: a barrier of the block there would wait for threads that
//! never come. Read from the text, for advice only.

use super::declared::{line_of, without_directives};
use super::tokens::{Kind, Token};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Lanes of a warp.
const WARP: u64 = 32;

/// What stands inside one condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Where the condition itself stands.
    pub line: u32,
    /// As written: `t < 32`.
    pub text: String,
    /// First and last line of what stands inside.
    pub inside: (u32, u32),
    /// It lets threads of the first warp in, and no others.
    pub one_warp: bool,
}

impl Condition {
    pub fn holds(&self, line: u32) -> bool {
        (self.inside.0..=self.inside.1).contains(&line)
    }
}

/// All such conditions of a source: of `if`, `while` and `for`.
pub fn conditions(source: &str) -> Vec<Condition> {
    let all = without_directives(source);
    let own = of_the_thread(&all);
    let names_thread =
        |part: &[Token<'_>]| part.iter().any(|token| own.contains(token.text) || token.text == "threadIdx");
    let mut found = Vec::new();
    for (at, token) in all.iter().enumerate() {
        let opens = all.get(at + 1).is_some_and(|next| next.text == "(");
        if !matches!(token.text, "if" | "while" | "for") || !opens {
            continue;
        }
        let Some(close) = closing(&all, at + 1, ["(", ")"]) else { continue };
        let mut asked = at + 2..close;
        if token.text == "for" {
            let mut parts = (at + 2..close).filter(|&i| all[i].text == ";");
            let (Some(first), Some(second)) = (parts.next(), parts.next()) else { continue };
            asked = first + 1..second;
        }
        let condition = &all[asked];
        let (Some(first), Some(last)) = (condition.first(), condition.last()) else { continue };
        if !names_thread(condition) {
            continue;
        }
        let text = source[first.at..last.end].split_whitespace().collect::<Vec<_>>().join(" ");
        let mut add = |from: usize, one_warp: bool| {
            let end = statement(&all, from)?;
            let inside = (line_of(source, all[from].at), line_of(source, all[end].at));
            found.push(Condition { line: line_of(source, token.at), text: text.clone(), inside, one_warp });
            Some(end)
        };
        let end = add(close + 1, token.text == "if" && of_one_warp(&all, condition));
        if let Some(end) = end
            && all.get(end + 1).is_some_and(|next| next.text == "else")
        {
            add(end + 2, false);
        }
    }
    found
}

/// Names that are given something made of the thread's number.
fn of_the_thread<'a>(all: &[Token<'a>]) -> BTreeSet<&'a str> {
    let mut own: BTreeSet<&str> = BTreeSet::new();
    // A name may be made of one that is made later, in a loop.
    for _ in 0..3 {
        for at in 1..all.len() {
            if all[at].text != "=" || all[at - 1].kind != Kind::Word {
                continue;
            }
            let end = (at..all.len()).find(|&i| matches!(all[i].text, ";" | "," | "{")).unwrap_or(all.len());
            if all[at..end].iter().any(|token| token.text == "threadIdx" || own.contains(token.text)) {
                own.insert(all[at - 1].text);
            }
        }
    }
    own
}

/// `threadIdx.x < 32`, `t < 16`, `t <= 31`, `warp == 0`.
fn of_one_warp(all: &[Token<'_>], condition: &[Token<'_>]) -> bool {
    let [left @ .., mark, bound] = condition else { return false };
    let is_thread = |part: &[Token<'_>]| match part {
        [word, dot, axis] => word.text == "threadIdx" && dot.text == "." && axis.text == "x",
        _ => false,
    };
    // What a name was given where it is declared.
    let given = |name: &str| {
        let at = (1..all.len()).find(|&i| all[i].text == "=" && all[i - 1].text == name)?;
        let end = (at..all.len()).find(|&i| matches!(all[i].text, ";" | ","))?;
        Some(&all[at + 1..end])
    };
    let of = |part: &[Token<'_>], is: &dyn Fn(&[Token<'_>]) -> bool| match part {
        [name] => given(name.text).is_some_and(is),
        part => is(part),
    };
    let number = bound.text.trim_end_matches(['u', 'U']).parse::<u64>().ok();
    let most = number.or_else(|| matches!(bound.text, "warpSize" | "WARP_SIZE" | "WARP").then_some(WARP));
    let is_warp = |part: &[Token<'_>]| match part {
        [thread @ .., mark, by] => {
            let divides = mark.text == "/" && matches!(by.text, "32" | "warpSize" | "WARP_SIZE" | "WARP");
            // `>>` is two marks.
            let thread = if mark.text == ">" && by.text == "5" {
                thread.split_last().map_or(thread, |(_, rest)| rest)
            } else {
                thread
            };
            (divides || by.text == "5" && mark.text == ">") && of(thread, &is_thread)
        }
        _ => false,
    };
    match mark.text {
        "<" => most.is_some_and(|most| most <= WARP) && of(left, &is_thread),
        // `<=` and `==` are two marks each.
        "=" => match left.split_last() {
            Some((first, left)) if first.text == "<" => most.is_some_and(|most| most < WARP) && of(left, &is_thread),
            Some((first, left)) if first.text == "=" => number == Some(0) && of(left, &is_warp),
            _ => false,
        },
        "<=" => most.is_some_and(|most| most < WARP) && of(left, &is_thread),
        "==" => number == Some(0) && of(left, &is_warp),
        _ => false,
    }
}

/// Index of the last token of the statement that begins at one.
fn statement(all: &[Token<'_>], from: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for at in from..all.len() {
        match all[at].text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            "{" if depth == 0 => return closing(all, at, ["{", "}"]),
            ";" if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

fn closing(all: &[Token<'_>], open: usize, marks: [&str; 2]) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, token) in all.iter().enumerate().skip(open) {
        if token.text == marks[0] {
            depth += 1;
        } else if token.text == marks[1] {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> Vec<(String, (u32, u32), bool)> {
        conditions(body).into_iter().map(|one| (one.text, one.inside, one.one_warp)).collect()
    }

    #[test]
    fn conditions_on_the_thread_are_found_with_what_stands_inside() {
        let body = "int t = threadIdx.x, b = blockIdx.x;\nif (t < 32) {\n  s[t] = 1;\n}\nif (b == 0) x = 1;\nfor (int d = 1; d < 9; d *= 2)\n  if (t >= \
                    d) s[t] += 1;\n  else\n    s[t] = 2;\nfor (int i = t; i < n; i += 64)\n  v += x[i];\n";
        let found = shown(body);
        assert_eq!(
            found,
            [
                ("t < 32".to_owned(), (2, 4), true),
                ("t >= d".to_owned(), (7, 7), false),
                ("t >= d".to_owned(), (9, 9), false),
                ("i < n".to_owned(), (11, 11), false)
            ]
        );
    }

    #[test]
    fn one_warp_is_told_from_less_and_more() {
        let one = |condition: &str| {
            let text =
                format!("int t = threadIdx.x; int w = t / 32; int i = blockIdx.x * 64 + t; if ({condition}) x = 1;");
            shown(&text).first().is_some_and(|found| found.2)
        };
        for yes in
            ["t < 32", "threadIdx.x < 16", "t <= 31", "w == 0", "t < warpSize", "threadIdx.x / 32 == 0", "t >> 5 == 0"]
        {
            assert!(one(yes), "{yes}");
        }
        for no in
            ["t < 33", "t < 64", "i < 32", "t > 3", "w == 1", "t < n", "threadIdx.y < 32", "t <= 32", "t < 32 || n"]
        {
            assert!(!one(no), "{no}");
        }
    }

    #[test]
    fn odd_texts_do_no_harm() {
        for odd in [
            "",
            "if",
            "if (",
            "if (threadIdx.x)",
            "for (;;)",
            "for (int i = threadIdx.x; i < 3",
            "while (threadIdx.x) {",
            "= =",
        ] {
            conditions(odd);
        }
    }
}
