//! Sentences of the judge, the compiler and the course, in which words between backticks are code.

use crate::theme;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, TextStyle, Ui};

/// A sentence as text to draw: what stands between backticks is code.
pub fn job(ui: &Ui, text: &str, color: Color32) -> LayoutJob {
    let t = theme::tokens(ui);
    // Beside other labels it stands on their line.
    let format = |font, color| TextFormat { valign: ui.text_valign(), ..TextFormat::simple(font, color) };
    let prose = format(TextStyle::Body.resolve(ui.style()), color);
    let code = TextFormat { background: t.inset, ..format(theme::code_font(), t.text) };
    let mut job = LayoutJob::default();
    for (part, is_code) in code_parts(text) {
        job.append(part, 0.0, if is_code { code.clone() } else { prose.clone() });
    }
    job
}

/// The same where letters have one look: without the backticks.
pub fn plain(text: &str) -> String {
    code_parts(text).into_iter().map(|(part, _)| part).collect()
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
    fn an_errors_words_become_a_sentence() {
        assert_eq!(whole("pip said: ERROR: none\n"), "Pip said: ERROR: none.");
        assert_eq!((whole("Is it?"), whole("Done."), whole("")), ("Is it?".into(), "Done.".into(), String::new()));
    }
}
