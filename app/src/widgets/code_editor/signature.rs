//! The call that is being written: which of CUDA's functions, and which of its parameters. Pure functions of the text.

use super::complete::is_word;
use crate::builtins::{self, Builtin};
use std::ops::Range;

/// Bytes before the cursor that are looked at: a statement, and a bound on a key's work.
const REACH: usize = 2_000;

/// A call of one of CUDA's functions around the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Byte offset of its opening bracket.
    pub open: usize,
    pub builtin: &'static Builtin,
    /// Arguments before the cursor's.
    pub argument: usize,
}

/// A bracket that is open at the cursor.
struct Open<'a> {
    at: usize,
    /// What stands before it; empty for a bracket that only groups.
    word: &'a str,
    commas: usize,
}

/// The innermost call around `cursor`; None in a comment, and where another function's arguments are written.
pub fn call_at(text: &str, cursor: usize) -> Option<Call> {
    let from = text.floor_char_boundary(cursor.saturating_sub(REACH));
    // Whole lines, so that a comment is seen from its beginning.
    let from = if from == 0 { 0 } else { text[from..cursor].find('\n').map_or(from, |at| from + at + 1) };
    let open = open_brackets(&text[from..cursor])?;
    let inner = open.iter().rev().find(|open| !open.word.is_empty())?;
    let builtin = builtins::find(inner.word).filter(|builtin| parameters(builtin).is_some())?;
    Some(Call { open: from + inner.at, builtin, argument: inner.commas })
}

/// Brackets open at the end of a text, the innermost last; None when it ends in a comment.
fn open_brackets(text: &str) -> Option<Vec<Open<'_>>> {
    let bytes = text.as_bytes();
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => at += text[at..].find('\n')?,
            b'/' if bytes[at..].starts_with(b"/*") => at += 2 + text[at + 2..].find("*/")? + 1,
            quote @ (b'"' | b'\'') => at = past_quoted(bytes, at, quote),
            b'(' | b'[' => {
                let word = if bytes[at] == b'(' { word_before(text, at) } else { "" };
                open.push(Open { at, word, commas: 0 });
            }
            b')' | b']' => {
                open.pop();
            }
            b',' => {
                if let Some(inner) = open.last_mut() {
                    inner.commas += 1;
                }
            }
            // A statement's end: whatever was left open was left so by mistake.
            b';' | b'{' | b'}' => open.clear(),
            _ => {}
        }
        at += 1;
    }
    Some(open)
}

/// The place of the quote that ends what begins at `at`, or the last byte where none does.
pub(super) fn past_quoted(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != quote && bytes[end] != b'\n' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    end
}

/// The word that ends where a bracket opens, with spaces between them or without.
fn word_before(text: &str, at: usize) -> &str {
    let before = text[..at].trim_end_matches(' ');
    let start = before.char_indices().rev().take_while(|(_, c)| is_word(*c)).last();
    start.map_or("", |(start, _)| &before[start..])
}

/// Where in its signature each parameter of a function stands; None for what is not called.
pub fn parameters(builtin: &Builtin) -> Option<Vec<Range<usize>>> {
    let signature = builtin.signature;
    let name = signature.find(&format!("{}(", builtin.name))?;
    let first = name + builtin.name.len() + 1;
    let mut found = Vec::new();
    let (mut depth, mut start) = (0_usize, first);
    for (at, byte) in signature.bytes().enumerate().skip(first) {
        match byte {
            b'(' | b'<' | b'[' => depth += 1,
            b')' if depth == 0 => {
                found.push(start..at);
                break;
            }
            b')' | b'>' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                found.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    let trimmed = found.into_iter().map(|range| {
        let text = &signature[range.clone()];
        let left = range.start + text.len() - text.trim_start().len();
        left..left + text.trim().len()
    });
    Some(trimmed.filter(|range| !range.is_empty()).collect())
}

impl Call {
    /// Where in the signature the cursor's parameter stands. What is open at the end (`...`) takes all further ones.
    pub fn parameter(&self) -> Option<Range<usize>> {
        let all = parameters(self.builtin)?;
        let open_ended = all.last().is_some_and(|last| {
            let text = &self.builtin.signature[last.clone()];
            text.contains("...") || text.contains('…')
        });
        let last = all.len().checked_sub(1)?;
        all.get(if open_ended { self.argument.min(last) } else { self.argument }).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The function and the parameter at the end of a text.
    fn at_end(text: &str) -> Option<(&'static str, Option<&'static str>)> {
        let call = call_at(text, text.len())?;
        Some((call.builtin.name, call.parameter().map(|range| &call.builtin.signature[range])))
    }

    #[test]
    fn the_parameter_at_the_cursor_is_found() {
        let shuffle = |parameter| Some(("__shfl_down_sync", Some(parameter)));
        assert_eq!(at_end("x = __shfl_down_sync("), shuffle("unsigned mask"));
        assert_eq!(at_end("x = __shfl_down_sync(0xffffffff, "), shuffle("T var"));
        assert_eq!(at_end("x = __shfl_down_sync(m, f(a, b)[i, j], "), shuffle("unsigned delta"));
        assert_eq!(at_end("x = __shfl_down_sync (m, (a + b"), shuffle("T var"));
        assert_eq!(at_end("x = __shfl_down_sync(m, a[i"), shuffle("T var"));
        assert_eq!(at_end("x = __shfl_down_sync(m, // one, two\n  /* , */ v"), shuffle("T var"));
        assert_eq!(at_end("x = __shfl_down_sync(1, 2, 3, 4, 5"), Some(("__shfl_down_sync", None)), "one too many");
    }

    #[test]
    fn only_calls_of_cudas_functions_count() {
        for text in [
            "",
            "__shfl_down_sync",
            "__shfl_down_sync(m, v)",
            "mine(",
            "if (",
            "__shfl_down_sync(m, mine(",
            "// __shfl_down_sync(",
            "/* __shfl_down_sync(",
            "\"__shfl_down_sync(",
            "__shfl_down_sync(m; x = ",
            "threadIdx(",
        ] {
            assert_eq!(at_end(text), None, "{text:?}");
        }
        assert_eq!(at_end("__shfl_down_sync(m, atomicAdd(").map(|found| found.0), Some("atomicAdd"));
        assert_eq!(at_end("printf(\"%d, (\", 1, 2, 3").map(|found| found.0), Some("printf"));
        assert!(at_end("printf(\"%d, (\", 1, 2, 3").is_some_and(|found| found.1.is_some()), "open at its end");
    }

    #[test]
    fn every_function_of_the_table_has_parameters_that_can_be_shown() {
        for builtin in builtins::all().iter().filter(|builtin| builtin.kind == builtins::Kind::Function) {
            let found = parameters(builtin);
            assert!(found.is_some(), "{}: no bracket after the name in {}", builtin.name, builtin.signature);
            for range in found.unwrap_or_default() {
                let text = &builtin.signature[range];
                assert!(!text.is_empty() && !text.starts_with(' '), "{}: {text:?}", builtin.name);
            }
        }
    }

    #[test]
    fn any_text_and_cursor_are_fine() {
        let text = "é(\"\\ä(日本語, '\u{1F600}wo)](;/*";
        for (at, _) in text.char_indices() {
            let _ = call_at(text, at);
        }
        let long = format!("__shfl_down_sync({}", "1 + ".repeat(1000));
        assert_eq!(at_end(&long), None, "out of reach");
    }
}
