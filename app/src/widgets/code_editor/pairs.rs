//! Brackets and quotes come in twos: typing one writes the other behind the cursor, typing the other goes over it.
//!
//! What was written here is remembered until it is typed over or edited. Only that is ever gone over or taken back
//! with its partner: whoever types both signs, in whatever order, has each of them once.

use super::signature::past_quoted;
use super::{EditKind, Editor};
use std::ops::Range;

/// The sign that closes what `c` opens; a quote closes itself.
fn closer(c: char) -> Option<char> {
    Some(match c {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '"' | '\'' => c,
        _ => return None,
    })
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'')
}

/// Offsets of the pairs of which the second sign was written for the learner, and not yet by him.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs(Vec<(usize, usize)>);

impl Pairs {
    /// The text in `range` became `length` bytes: signs behind it move along, those in it are gone.
    pub fn edited(&mut self, range: &Range<usize>, length: usize) {
        self.0.retain_mut(|(open, close)| {
            for at in [open, close] {
                if *at >= range.end {
                    *at = *at - range.len() + length;
                } else if *at >= range.start {
                    return false;
                }
            }
            true
        });
    }

    /// The pair whose second sign is there.
    fn closed_at(&self, close: usize) -> Option<usize> {
        self.0.iter().position(|pair| pair.1 == close)
    }
}

/// What a place in the text is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Code,
    Comment,
    Quoted,
}

/// What stands at the end of a text. `code` hears each byte that is neither in a comment nor in quotes.
///
/// Reads from the beginning, for a comment may begin anywhere before: 200 kB take a fraction of a millisecond.
fn walk(text: &str, mut code: impl FnMut(usize, u8)) -> Place {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") {
            let Some(end) = text[at..].find('\n') else { return Place::Comment };
            at += end;
        } else if rest.starts_with(b"/*") {
            let Some(end) = text[at + 2..].find("*/") else { return Place::Comment };
            at += end + 3;
        } else if rest[0] == b'"' || rest[0] == b'\'' && !bytes[..at].last().is_some_and(u8::is_ascii_alphanumeric) {
            // A `'` in a number only sets its digits apart.
            at = past_quoted(bytes, at, rest[0]);
            if at >= bytes.len() {
                return Place::Quoted;
            }
        } else {
            code(at, rest[0]);
        }
        at += 1;
    }
    Place::Code
}

/// Whether every bracket of this kind between the two is closed there: else the next one that is typed closes that.
fn is_whole(text: &str, open: usize, close: usize, (opens, closes): (char, char)) -> bool {
    let mut depth = 0_i32;
    walk(&text[..close], |at, byte| {
        if at > open {
            depth += i32::from(byte == opens as u8) - i32::from(byte == closes as u8);
        }
    });
    depth == 0
}

impl Editor {
    /// Types one bracket or quote with all that belongs to it. False where it is a sign like any other.
    pub(super) fn type_paired(&mut self, c: char, now_s: f64) -> bool {
        let selection = self.selection();
        if !selection.is_empty() {
            let Some(close) = closer(c) else { return false };
            let edits = [(selection.start..selection.start, c.into()), (selection.end..selection.end, close.into())];
            // Both are one byte: what was selected stays so.
            self.replace_all_of(EditKind::Other, &edits, (self.anchor + 1, self.head + 1), now_s);
            return true;
        }
        if self.type_over(c, now_s) {
            return true;
        }
        let Some(close) = closer(c).filter(|_| self.may_open(c)) else { return false };
        let at = self.head;
        self.replace_all_of(EditKind::Typing, &[(at..at, format!("{c}{close}"))], (at + 1, at + 1), now_s);
        self.pairs.0.push((at, at + 1));
        true
    }

    /// Goes over the sign that was written for the learner, across the line ends between him and it.
    fn type_over(&mut self, c: char, now_s: f64) -> bool {
        let rest = &self.text()[self.head..];
        let gap = if is_quote(c) { 0 } else { rest.len() - rest.trim_start().len() };
        let close = self.head + gap;
        let escaped =
            is_quote(c) && self.text()[..self.head].bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1;
        let Some(pair) = self.pairs.closed_at(close).filter(|_| !escaped && self.text()[close..].starts_with(c)) else {
            return false;
        };
        let open = self.pairs.0[pair].0;
        let opens = self.buffer.char_at(open).unwrap_or(c);
        if !is_quote(c) && !is_whole(self.text(), open, close, (opens, c)) {
            return false;
        }
        self.pairs.0.remove(pair);
        let line = self.buffer.line_range(self.buffer.line_of(self.head));
        let below = self.buffer.line_range(self.buffer.line_of(close)).start;
        let is_blank = self.text()[line.start..self.head].trim().is_empty();
        if below > line.start && is_blank {
            // The empty line that Enter made for what would have come: the bracket below it is the one that was typed.
            let end = close - (below - line.start) + 1;
            self.replace_all_of(EditKind::Other, &[(line.start..below, String::new())], (end, end), now_s);
        } else {
            self.place(close + 1, false);
        }
        true
    }

    /// Whether a partner is of use: in code, and where nothing follows that would be meant to be inside.
    fn may_open(&self, c: char) -> bool {
        let next = self.buffer.char_at(self.head);
        let free = next.is_none_or(|next| next.is_whitespace() || ")]};,".contains(next));
        let before = self.text()[..self.head].chars().next_back();
        // Behind a letter a quote ends something, sets digits apart, or is an apostrophe.
        let ends = is_quote(c) && before.is_some_and(|b| b.is_alphanumeric() || b == '_' || b == '\\' || b == c);
        free && !ends && walk(&self.text()[..self.head], |_, _| {}) == Place::Code
    }

    /// What Backspace takes between a sign and the partner that was written for it: both.
    pub(super) fn empty_pair(&self) -> Option<Range<usize>> {
        let open = self.head.checked_sub(1)?;
        self.pairs.0.contains(&(open, self.head)).then_some(open..self.head + 1)
    }

    /// A pair that came back by Redo, with the cursor in it, is one that was written here.
    pub(super) fn note_pair_again(&mut self, inserted: &Range<usize>) {
        let (open, close) = (self.head.saturating_sub(1), self.head);
        let sign = |at: usize| self.text()[at..].chars().next();
        if inserted.start <= open
            && close < inserted.end
            && self.text().is_char_boundary(open)
            && sign(open).and_then(closer).is_some_and(|c| sign(close) == Some(c))
        {
            self.pairs.0.push((open, close));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EditorAction, Motion};
    use super::*;

    /// The text with `|` at the cursor after typing letter by letter; `⏎` is Enter, `⌫` Backspace, `←` and `→` arrows.
    fn typed(start: &str, keys: &str) -> String {
        let at = start.find('|').unwrap();
        let mut editor = Editor::new(start.replacen('|', "", 1));
        editor.closes_pairs = true;
        editor.act(&EditorAction::Place { offset: at, extend: false }, 0.0);
        press(&mut editor, keys);
        shown(&editor)
    }

    fn press(editor: &mut Editor, keys: &str) {
        for (i, key) in keys.chars().enumerate() {
            let action = match key {
                '⏎' => EditorAction::NewLine,
                '⌫' => EditorAction::Erase(Motion::Left),
                '←' => EditorAction::Move { motion: Motion::Left, extend: false },
                '→' => EditorAction::Move { motion: Motion::Right, extend: false },
                key => EditorAction::Type(key.into()),
            };
            editor.act(&action, 0.05 * i as f64);
        }
    }

    fn shown(editor: &Editor) -> String {
        let mut text = editor.text().to_owned();
        text.insert(editor.cursor(), '|');
        text
    }

    #[test]
    fn a_partner_is_written_and_typed_over() {
        for (keys, shown) in [
            ("(", "(|)"),
            ("f(a[i", "f(a[i|])"),
            ("f(a[i]);", "f(a[i]);|"),
            ("{}", "{}|"),
            ("{}}", "{}}|"),
            ("char c = 'x';", "char c = 'x';|"),
            ("printf(\"%d (\\\"\\n\", i);", "printf(\"%d (\\\"\\n\", i);|"),
            ("s = \"\";", "s = \"\";|"),
            ("#include \"lab.cuh\"", "#include \"lab.cuh\"|"),
            ("int n = 1'000'000;", "int n = 1'000'000;|"),
            ("// don't (\"see\" :-)", "// don't (\"see\" :-)|"),
            ("/* a ( ' */ (", "/* a ( ' */ (|)"),
            ("a<b>(c<<<1, 2>>>", "a<b>(c<<<1, 2>>>|)"),
        ] {
            assert_eq!(typed("|", keys), shown, "{keys}");
        }
    }

    /// As people do who look at the keyboard: every sign, both Enters, nothing twice.
    #[test]
    fn a_block_typed_in_full_is_there_once() {
        let kernel = "void f(int* a)⏎{⏎if (a[0]) {⏎a[1] = '{';⏎}⏎}⏎";
        let shown = "void f(int* a)\n{\n    if (a[0]) {\n        a[1] = '{';\n    }\n}\n|";
        assert_eq!(typed("|", kernel), shown);
        assert_eq!(typed("|", "{⏎}"), "{\n}|");
        assert_eq!(typed("|", "{⏎⏎⏎}"), "{\n    \n    \n}|", "lines above stay");
        assert_eq!(typed("|", "{⏎a;}"), "{\n    a;\n}|");
        assert_eq!(typed("|", "f(⏎a,⏎b);"), "f(\n    a,\n    b\n);|");
    }

    /// A bracket that was put before words has no partner yet: the next one closes it, and not the one around both.
    #[test]
    fn what_is_still_open_inside_is_closed_first() {
        assert_eq!(typed("|", "f((x←(→)"), "f(((x)|))");
        let mut editor = Editor::new(String::new());
        editor.closes_pairs = true;
        press(&mut editor, "{⏎a;");
        editor.act(&EditorAction::GoTo { line: 2, column: 0 }, 0.0);
        press(&mut editor, "if (b) {");
        editor.act(&EditorAction::Move { motion: Motion::LineEnd, extend: false }, 0.0);
        press(&mut editor, "⏎}⏎}");
        assert_eq!(shown(&editor), "{\n    if (b) {a;\n}\n}|");
    }

    #[test]
    fn no_partner_where_it_would_be_in_the_way() {
        assert_eq!(typed("|x + y", "("), "(|x + y");
        assert_eq!(typed("f|(a)", "("), "f(|(a)");
        assert_eq!(typed("\"a| b\"", "("), "\"a(| b\"");
        assert_eq!(typed("it|", "'"), "it'|");
        assert_eq!(typed("// |", "("), "// (|");
        assert_eq!(typed("f(a|)", ")"), "f(a)|)", "that bracket was the learner's own");
    }

    #[test]
    fn backspace_takes_the_empty_pair() {
        assert_eq!(typed("|", "f(⌫"), "f|");
        assert_eq!(typed("|", "\"⌫"), "|");
        assert_eq!(typed("|", "([{⌫⌫⌫"), "|");
        assert_eq!(typed("|", "(a⌫⌫"), "|");
        assert_eq!(typed("|", "()⌫"), "(|");
        assert_eq!(typed("(|)", "⌫"), "|)", "that bracket was the learner's own");
        assert_eq!(typed("|", "(←→⌫"), "|", "going away and coming back changes nothing");
        assert_eq!(typed("|", "(←x→a)"), "x(a)|");
    }

    #[test]
    fn a_selection_is_put_between_them() {
        let mut editor = Editor::new("a + é".to_owned());
        editor.closes_pairs = true;
        editor.act(&EditorAction::SelectAll, 0.0);
        for (sign, text) in [("(", "(a + é)"), ("\"", "(\"a + é\")")] {
            editor.act(&EditorAction::Type(sign.into()), 1.0);
            assert_eq!((editor.text(), editor.selected_text()), (text, "a + é"));
        }
        editor.act(&EditorAction::Undo, 2.0);
        assert_eq!((editor.text(), editor.selected_text()), ("(a + é)", "a + é"));
        editor.act(&EditorAction::Type(")".into()), 3.0);
        assert_eq!(editor.text(), "())", "what closes replaces, as every letter does");
    }

    #[test]
    fn undo_takes_pairs_back_and_redo_knows_them() {
        let mut editor = Editor::new(String::new());
        editor.closes_pairs = true;
        press(&mut editor, "f(a");
        for text in ["f(|)", "|"] {
            editor.act(&EditorAction::Undo, 9.0);
            assert_eq!(shown(&editor), text);
        }
        editor.act(&EditorAction::Redo, 9.0);
        editor.act(&EditorAction::Type(")".into()), 9.0);
        assert_eq!(shown(&editor), "f()|", "typed over what Redo brought back");
        let mut editor = Editor::new(String::new());
        editor.closes_pairs = true;
        press(&mut editor, "{⏎}");
        editor.act(&EditorAction::Undo, 9.0);
        assert_eq!(shown(&editor), "{\n    |\n}");
    }

    #[test]
    fn switched_off_every_sign_is_one() {
        let mut editor = Editor::new(String::new());
        press(&mut editor, "f(\"a\") {⏎}");
        assert_eq!(shown(&editor), "f(\"a\") {\n}|");
    }
}
