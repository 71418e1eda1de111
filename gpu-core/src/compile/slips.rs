//! What compiles without a word and is hardly meant: warnings of our own, made from the text alone.

use super::declared::{line_of, without_directives};
use super::tokens::{Kind, Token};
use super::{Diagnostic, Severity};
use crate::compile::Source;

/// Warnings about a source that compiles.
pub fn found(source: &Source) -> Vec<Diagnostic> {
    let all = without_directives(&source.text);
    let warning = |(at, message): (usize, String)| Diagnostic {
        severity: Severity::Warning,
        file: source.name.clone(),
        line: line_of(&source.text, at),
        column: 0,
        message,
    };
    assignments(&all).into_iter().chain(same_memory(&source.text, &all)).map(warning).collect()
}

/// `if (i = n)`: a second pair of parentheses says that it is meant.
fn assignments(all: &[Token<'_>]) -> Vec<(usize, String)> {
    let is_value = |token: &Token<'_>| matches!(token.kind, Kind::Word | Kind::Number);
    let slip = |part: &[Token<'_>]| match part {
        [word, open, name, equals, value, close]
            if ["if", "while"].contains(&word.text)
                && (open.text, equals.text, close.text) == ("(", "=", ")")
                && name.kind == Kind::Word
                && is_value(value) =>
        {
            let (word, name, value) = (word.text, name.plain(), value.plain());
            Some((
                open.at,
                format!(
                    "`{word} ({name} = {value})` stores {value} in {name}, and then asks whether that is not 0. To compare, write `==`, or \
                     `>=` where nothing beyond the end may go on"
                ),
            ))
        }
        _ => None,
    };
    all.windows(6).filter_map(slip).collect()
}

/// Two arrays of dynamic shared memory in one function: both begin at the same address.
fn same_memory(text: &str, all: &[Token<'_>]) -> Vec<(usize, String)> {
    let (mut depth, mut told) = (0_u32, false);
    // The first one of this function, or of the file.
    let mut first: Option<(String, usize)> = None;
    let mut slips = Vec::new();
    for (index, token) in all.iter().enumerate() {
        match token.text {
            "{" => depth += 1,
            // A function that is no outermost block: in a namespace, or in `extern "C" { … }`.
            "__global__" | "__device__" => (first, told) = (None, false),
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    (first, told) = (None, false);
                }
            }
            "extern" if all.get(index + 1).is_some_and(|next| next.text == "__shared__") => {
                let rest = &all[index..];
                let end = rest.iter().position(|token| token.text == "[" || token.text == ";").unwrap_or(0);
                let name = rest[..end].iter().rev().find(|token| token.kind == Kind::Word).map(Token::plain);
                let is_array = rest.get(end).is_some_and(|token| token.text == "[");
                match (&first, name.filter(|_| is_array)) {
                    (None, Some(name)) => first = Some((name, token.at)),
                    (Some((one, at)), Some(name)) if *one != name && !told => {
                        told = true;
                        slips.push((
                            token.at,
                            format!(
                                "`{one}` (line {}) and `{name}` are the same memory: all `extern __shared__` arrays begin at one address. \
                                 Declare one, and let the other begin behind its elements: `float* {name} = {one} + …;`",
                                line_of(text, *at)
                            ),
                        ));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    slips
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(text: &str) -> Vec<(u32, String)> {
        let source =
            Source { name: "k.cu".to_owned(), text: text.to_owned(), headers: Vec::new(), options: Vec::new() };
        found(&source).into_iter().map(|warning| (warning.line, warning.message)).collect()
    }

    #[test]
    fn an_assignment_in_place_of_a_comparison_is_named() {
        let found = say("void f(int i, int n)\n{\n    if (i = n) return;\n}\n");
        assert!(found.len() == 1 && found[0].0 == 3 && found[0].1.contains("stores n in i"), "{found:?}");
        for meant in [
            "if (i == n) return;",
            "if ((i = n)) return;",
            "if (int i = n) return;",
            "while (p = next(p)) ;",
            "for (i = 0; i < n; i++) ;",
            "// if (i = n)\n",
        ] {
            assert_eq!(say(&format!("void f(int i, int n) {{ {meant} }}")), [], "{meant}");
        }
    }

    #[test]
    fn two_dynamic_arrays_of_one_function_are_the_same_memory() {
        let two = "__global__ void k()\n{\n    extern __shared__ float a[];\n    extern __shared__ float b[];\n}\n";
        let found = say(two);
        assert!(
            found.len() == 1 && found[0].0 == 4 && found[0].1.contains("`a` (line 3) and `b` are the same memory"),
            "{found:?}"
        );
        let apart =
            "__global__ void k() { extern __shared__ float a[]; }\n__global__ void l() { extern __shared__ int b[]; }";
        assert_eq!(say(apart), [], "of two kernels");
        assert_eq!(say(&format!("namespace n {{\n{apart}\n}}")), [], "of two kernels in a namespace");
        assert_eq!(say("__global__ void k() { extern __shared__ float a[]; { extern __shared__ float a[]; } }"), []);
        assert_eq!(say("extern \"C\" __global__ void k() { __shared__ float a[4]; __shared__ float b[4]; }"), []);
    }
}
