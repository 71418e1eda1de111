//! Undo history as small differences, with the same rules live and after a restart.

use serde::{Deserialize, Serialize};

/// Edits closer together than this, and at the same place, are one step of undo.
const MERGE_MS: u64 = 700;

/// Steps kept; older ones are forgotten, the text is not.
const MAX_STEPS: usize = 2000;

/// How many bytes two texts have in common at their beginnings and at their ends: whole characters, and none twice.
pub fn common_ends(old: &str, new: &str) -> (usize, usize) {
    let mut start = common_prefix(old.as_bytes(), new.as_bytes());
    while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
        start -= 1;
    }
    let (old, new) = (&old[start..], &new[start..]);
    let mut end = common_suffix(old.as_bytes(), new.as_bytes());
    while !old.is_char_boundary(old.len() - end) || !new.is_char_boundary(new.len() - end) {
        end -= 1;
    }
    (start, end)
}

/// Compared in pieces, which a processor does many times faster than byte by byte: at each key it is the whole text.
const PIECE: usize = 64;

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let pieces = a.chunks_exact(PIECE).zip(b.chunks_exact(PIECE));
    let equal = PIECE * pieces.take_while(|(a, b)| a == b).count();
    equal + a[equal..].iter().zip(&b[equal..]).take_while(|(a, b)| a == b).count()
}

fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let pieces = a.rchunks_exact(PIECE).zip(b.rchunks_exact(PIECE));
    let equal = PIECE * pieces.take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - equal], &b[..b.len() - equal]);
    equal + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// One replacement in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// Milliseconds since 1970.
    pub t: u64,
    /// Byte offset.
    pub at: usize,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub del: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ins: String,
}

impl Delta {
    /// The smallest single replacement that makes `new` out of `old`; None when they are equal.
    pub fn between(old: &str, new: &str, t: u64) -> Option<Self> {
        if old == new {
            return None;
        }
        let (start, end) = common_ends(old, new);
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        Some(Self {
            t,
            at: start,
            del: old_rest[..old_rest.len() - end].to_owned(),
            ins: new_rest[..new_rest.len() - end].to_owned(),
        })
    }

    /// Applies it; false and no change when the text is not the one it was made for.
    #[must_use]
    pub fn apply(&self, text: &mut String) -> bool {
        let end = self.at.saturating_add(self.del.len());
        if text.get(self.at..end) != Some(self.del.as_str()) {
            return false;
        }
        text.replace_range(self.at..end, &self.ins);
        true
    }

    fn inverse(&self) -> Self {
        Self { t: self.t, at: self.at, del: self.ins.clone(), ins: self.del.clone() }
    }

    fn same_change(&self, other: &Self) -> bool {
        self.at == other.at && self.del == other.del && self.ins == other.ins
    }
}

/// A text with its past and, after an undo, its future.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    text: String,
    steps: Vec<Delta>,
    /// Steps before this are done, those from here on are undone.
    cursor: usize,
}

impl History {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), steps: Vec::new(), cursor: 0 }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn can_undo(&self) -> bool {
        self.cursor > 0
    }

    pub fn can_redo(&self) -> bool {
        self.cursor < self.steps.len()
    }

    /// Notes a new text. Typing on at the same place within a moment joins the last step; a line break or a pause
    /// begins a new one. Going back to the state before or after the cursor counts as undo or redo.
    pub fn record(&mut self, text: &str, now_ms: u64) {
        if let Some(delta) = Delta::between(&self.text, text, now_ms) {
            self.push(delta);
        }
    }

    /// As [`History::record`], for a difference that is already known. False when it does not fit the text.
    pub(crate) fn push(&mut self, delta: Delta) -> bool {
        if !delta.apply(&mut self.text) {
            return false;
        }
        if self.cursor > 0 && self.steps[self.cursor - 1].inverse().same_change(&delta) {
            self.cursor -= 1;
            return true;
        }
        if self.steps.get(self.cursor).is_some_and(|next| next.same_change(&delta)) {
            self.cursor += 1;
            return true;
        }
        self.steps.truncate(self.cursor);
        if !self.steps.last_mut().is_some_and(|last| merge(last, &delta)) {
            self.steps.push(delta);
        }
        if self.steps.len() > MAX_STEPS {
            self.steps.drain(..self.steps.len() - MAX_STEPS);
        }
        self.cursor = self.steps.len();
        true
    }

    /// Goes one step back; the text and the byte offset where it changed.
    pub fn undo(&mut self) -> Option<(&str, usize)> {
        let delta = self.steps.get(self.cursor.checked_sub(1)?)?.inverse();
        self.cursor -= 1;
        let caret = delta.at + delta.ins.len();
        let fitted = delta.apply(&mut self.text);
        debug_assert!(fitted, "steps fit the text they were made on");
        Some((&self.text, caret))
    }

    /// Goes one step forward again.
    pub fn redo(&mut self) -> Option<(&str, usize)> {
        let delta = self.steps.get(self.cursor)?;
        let caret = delta.at + delta.ins.len();
        let fitted = delta.apply(&mut self.text);
        debug_assert!(fitted, "steps fit the text they were made on");
        self.cursor += 1;
        Some((&self.text, caret))
    }
}

/// Joins `next` to `last` when it continues the same typing or deleting.
fn merge(last: &mut Delta, next: &Delta) -> bool {
    let soon = next.t.saturating_sub(last.t) <= MERGE_MS;
    if !soon || last.ins.contains('\n') || next.ins.contains('\n') {
        return false;
    }
    if last.del.is_empty() && next.del.is_empty() && next.at == last.at + last.ins.len() {
        last.ins.push_str(&next.ins);
    } else if last.ins.is_empty() && next.ins.is_empty() && next.at + next.del.len() == last.at {
        last.del.insert_str(0, &next.del);
        last.at = next.at;
    } else {
        return false;
    }
    last.t = next.t;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_ends_are_what_comparing_byte_by_byte_finds() {
        let slow = |old: &str, new: &str| {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let (a, b) = (chars(old), chars(new));
            let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
            let end = a[start..].iter().rev().zip(b[start..].iter().rev()).take_while(|(a, b)| a == b).count();
            let bytes = |chars: &[char]| chars.iter().map(|c| c.len_utf8()).sum::<usize>();
            (bytes(&a[..start]), bytes(&a[a.len() - end..]))
        };
        let long = "0123456789é\n".repeat(40);
        for at in 0..long.len() {
            let at = long.floor_char_boundary(at);
            for with in ["", "x", "è", "0123456789é\n"] {
                let mut new = long.clone();
                new.replace_range(at..long.ceil_char_boundary((at + 3).min(long.len())), with);
                for (old, new) in [(&long, &new), (&new, &long)] {
                    assert_eq!(common_ends(old, new), slow(old, new), "{at} {with:?}");
                }
            }
        }
        assert_eq!(common_ends("aa", "aaa"), (2, 0), "no byte is counted twice");
        assert_eq!(common_ends("", "x"), (0, 0));
    }

    #[test]
    fn a_difference_is_small_and_cuts_no_letter_in_two() {
        for (old, new) in [
            ("", "a"),
            ("abc", "abxc"),
            ("aaa", "aa"),
            ("né", "nè"),
            ("日本", "日木本"),
            ("ab", "ba"),
            ("é", "\u{1e9}"),
        ] {
            let delta = Delta::between(old, new, 0).unwrap();
            let mut text = old.to_owned();
            assert!(delta.apply(&mut text), "{old} -> {new}");
            assert_eq!(text, new);
            assert!(delta.inverse().apply(&mut text));
            assert_eq!(text, old);
        }
        assert_eq!(Delta::between("same", "same", 0), None);
        assert!(!Delta { t: 0, at: 9, del: "x".into(), ins: String::new() }.apply(&mut "abc".to_owned()));
        assert!(!Delta { t: 0, at: usize::MAX, del: "x".into(), ins: String::new() }.apply(&mut "abc".to_owned()));
    }

    #[test]
    fn typing_is_one_step_and_a_pause_begins_the_next() {
        let mut history = History::new("");
        for (i, text) in ["i", "in", "int"].iter().enumerate() {
            history.record(text, i as u64 * 100);
        }
        history.record("int a", 5_000);
        assert_eq!(history.undo(), Some(("int", 3)));
        assert_eq!(history.undo(), Some(("", 0)));
        assert_eq!(history.undo(), None);
        assert_eq!(history.redo(), Some(("int", 3)));
        history.record("int b", 9_000);
        assert!(!history.can_redo());
        assert_eq!(history.undo(), Some(("int", 3)));
    }

    #[test]
    fn deleting_backwards_is_one_step() {
        let mut history = History::new("abc");
        for (i, text) in ["ab", "a", ""].iter().enumerate() {
            history.record(text, i as u64 * 100);
        }
        assert_eq!(history.undo(), Some(("abc", 3)));
    }

    #[test]
    fn an_undo_seen_from_outside_is_recognised() {
        let mut history = History::new("a");
        history.record("ab", 0);
        history.record("abc", 10_000);
        history.record("ab", 20_000);
        assert!(history.can_redo());
        assert_eq!(history.redo(), Some(("abc", 3)));
        assert_eq!(history.undo(), Some(("ab", 2)));
        assert_eq!(history.undo(), Some(("a", 1)));
    }

    #[test]
    fn old_steps_are_forgotten_and_the_text_is_not() {
        let mut history = History::new("");
        for i in 0..3 * MAX_STEPS as u64 {
            history.record(&format!("{i}"), i * 10_000);
        }
        assert_eq!(history.text(), format!("{}", 3 * MAX_STEPS - 1));
        let mut steps = 0;
        while history.undo().is_some() {
            steps += 1;
        }
        assert_eq!(steps, MAX_STEPS);
    }
}
