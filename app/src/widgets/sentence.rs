//! Sentences of the judge, the compiler and the course, in which words between backticks are code.

use crate::theme;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, TextStyle, Ui};
use std::borrow::Cow;

/// A sentence as text to draw: what stands between backticks is code.
pub fn job(ui: &Ui, text: &str, color: Color32) -> LayoutJob {
    let t = theme::tokens(ui);
    // Beside other labels it stands on their line.
    let format = |font, color| TextFormat { valign: ui.text_valign(), ..TextFormat::simple(font, color) };
    let prose = format(TextStyle::Body.resolve(ui.style()), color);
    let code = TextFormat { background: t.inset, ..format(theme::code_font(), t.text) };
    let mut job = LayoutJob::default();
    for (part, is_code) in code_parts(text) {
        match is_code {
            true => job.append(part, 0.0, code.clone()),
            false => job.append(&numbers(part), 0.0, prose.clone()),
        }
    }
    job
}

/// The same where letters have one look: without the backticks.
pub fn plain(text: &str) -> String {
    let parts = code_parts(text).into_iter();
    parts.map(|(part, is_code)| if is_code { part.into() } else { numbers(part) }).collect()
}

/// Digits from which a number is separated in thousands: years and most line numbers stay as they are.
const LONG: usize = 5;

/// The same with separated thousands, `65536` as `65,536`. What is part of a name, a version, an index or a list stays, and so
/// does a seed, which is typed as it is.
pub fn numbers(text: &str) -> Cow<'_, str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '#' | '[' | ',' | '/' | '-' | '+');
    let mut out = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|found| at + found) {
        let length = text[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - start);
        let (before, digits, after) = (&text[..start], &text[start..start + length], &text[start + length..]);
        at = start + length;
        let mut next = after.chars();
        let ends = match (next.next(), next.next()) {
            (Some('.' | ','), second) => !second.is_some_and(|c| c.is_ascii_digit()),
            (Some(c), _) => !is_part(c) && c != ']',
            (None, _) => true,
        };
        let stands_alone = ends && !before.ends_with(is_part) && !before.trim_end().to_lowercase().ends_with("seed");
        if length >= LONG && stands_alone {
            out.push_str(&text[done..start]);
            for (index, digit) in digits.chars().enumerate() {
                if index > 0 && (length - index).is_multiple_of(3) {
                    out.push(',');
                }
                out.push(digit);
            }
            done = at;
        }
    }
    if done == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[done..]) }
}

/// An error's words as a sentence between others: with a capital letter and a full stop.
pub fn whole(text: &str) -> String {
    let text = text.trim_end();
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) || text.is_empty() { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Pieces of a text and whether they are code. Indices that follow a name, `c`[3], are joined with it where they are
/// drawn: both are code. A backtick without a partner is a letter like any other.
fn code_parts(text: &str) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('`') {
        let Some(length) = rest[open + 1..].find('`') else { break };
        let (code, mut after) = (&rest[open + 1..open + 1 + length], &rest[open + length + 2..]);
        if open > 0 {
            parts.push((&rest[..open], false));
        }
        parts.push((code, true));
        while let Some(index) = after.strip_prefix('[').and_then(|inner| inner.find(']')) {
            parts.push((&after[..index + 2], true));
            after = &after[index + 2..];
        }
        rest = after;
    }
    if !rest.is_empty() {
        parts.push((rest, false));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_between_backticks_are_code() {
        assert_eq!(
            code_parts("reads `a`[1][2] of `b`"),
            [("reads ", false), ("a", true), ("[1]", true), ("[2]", true), (" of ", false), ("b", true)]
        );
        assert_eq!(code_parts("a ` alone"), [("a ` alone", false)]);
        assert_eq!(code_parts(""), []);
        assert_eq!(code_parts("`a`[open"), [("a", true), ("[open", false)]);
        assert_eq!(plain("`threadIdx` is é"), "threadIdx is é");
    }

    #[test]
    fn long_numbers_are_separated_and_names_are_not() {
        assert_eq!(numbers("71546 of 1000000 elements, at n = 65536."), "71,546 of 1,000,000 elements, at n = 65,536.");
        for same in ["in 2026", "a[65536]", "sm_10000", "0x123456", "1.123456", "block (70000,0,0)", "seed 123456", ""]
        {
            assert_eq!(numbers(same), same);
        }
        assert_eq!(plain("`a`[65536] is 65536"), "a[65536] is 65,536");
    }

    #[test]
    fn an_errors_words_become_a_sentence() {
        assert_eq!(whole("pip said: ERROR: none\n"), "Pip said: ERROR: none.");
        assert_eq!((whole("Is it?"), whole("Done."), whole("")), ("Is it?".into(), "Done.".into(), String::new()));
    }
}
