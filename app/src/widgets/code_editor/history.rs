//! Undo and redo by differences. egui keeps whole texts, which a long file cannot afford.

use std::ops::Range;

/// Steps kept. At a few bytes each this is thousands of edits, far more than anyone undoes.
const MAX_STEPS: usize = 5_000;

/// What an edit was, which decides what is undone together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// Letters of a word: one step until a pause, a space or a move.
    Typing,
    /// Backspace or Delete, one character.
    Erasing,
    /// Everything else is a step of its own.
    Other,
}

/// One replacement: at `at`, `removed` became `inserted`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub at: usize,
    pub removed: String,
    pub inserted: String,
}

impl Change {
    /// The smallest replacement that makes `new` of `old`; None when they are equal.
    pub fn between(old: &str, new: &str) -> Option<Self> {
        if old == new {
            return None;
        }
        let (prefix, suffix) = curriculum::store::common_ends(old, new);
        let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
        Some(Self {
            at: prefix,
            removed: old_rest[..old_rest.len() - suffix].to_owned(),
            inserted: new_rest[..new_rest.len() - suffix].to_owned(),
        })
    }

    /// The range that must be replaced to undo this.
    pub fn inserted_range(&self) -> Range<usize> {
        self.at..self.at + self.inserted.len()
    }

    /// The range that must be replaced to redo this.
    pub fn removed_range(&self) -> Range<usize> {
        self.at..self.at + self.removed.len()
    }
}

/// Changes that are undone together, with the selection (anchor, head) before and after.
#[derive(Clone, Debug)]
pub struct Step {
    pub changes: Vec<Change>,
    pub before: (usize, usize),
    pub after: (usize, usize),
    kind: EditKind,
    at_s: f64,
}

/// Longest pause between keys that still join one step, in seconds.
const PAUSE_S: f64 = 1.0;

#[derive(Clone, Debug, Default)]
pub struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
    /// The next edit begins a new step.
    sealed: bool,
}

impl History {
    /// Records one edit. `now_s` is any clock in seconds.
    pub fn record(
        &mut self,
        kind: EditKind,
        changes: Vec<Change>,
        before: (usize, usize),
        after: (usize, usize),
        now_s: f64,
    ) {
        self.undone.clear();
        let sealed = std::mem::take(&mut self.sealed);
        if !sealed
            && let (Some(last), [change]) = (self.done.last_mut(), changes.as_slice())
            && last.kind == kind
            && kind != EditKind::Other
            && now_s - last.at_s <= PAUSE_S
            && let [merged] = last.changes.as_mut_slice()
            && merge(merged, change, kind)
        {
            last.after = after;
            last.at_s = now_s;
            return;
        }
        self.done.push(Step { changes, before, after, kind, at_s: now_s });
        if self.done.len() > MAX_STEPS {
            self.done.remove(0);
        }
    }

    /// The next edit starts a step of its own: the cursor was moved, or another pane used.
    pub fn seal(&mut self) {
        self.sealed = true;
    }

    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    pub fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Takes the last step back; the caller applies its changes in reverse.
    pub fn undo(&mut self) -> Option<&Step> {
        let step = self.done.pop()?;
        self.undone.push(step);
        self.sealed = true;
        self.undone.last()
    }

    /// Takes the last undone step; the caller applies its changes in order.
    pub fn redo(&mut self) -> Option<&Step> {
        let step = self.undone.pop()?;
        self.done.push(step);
        self.sealed = true;
        self.done.last()
    }
}

/// Joins `next` to `last` where they touch and the learner would call them one edit.
fn merge(last: &mut Change, next: &Change, kind: EditKind) -> bool {
    match kind {
        EditKind::Typing => {
            let joins = next.removed.is_empty()
                && next.at == last.at + last.inserted.len()
                && !next.inserted.contains('\n')
                && (!next.inserted.starts_with(' ') || last.inserted.ends_with(' '));
            if joins {
                last.inserted.push_str(&next.inserted);
            }
            joins
        }
        EditKind::Erasing => {
            if !next.inserted.is_empty() || !last.inserted.is_empty() {
                return false;
            }
            if next.at + next.removed.len() == last.at {
                last.removed.insert_str(0, &next.removed);
                last.at = next.at;
                true
            } else if next.at == last.at {
                last.removed.push_str(&next.removed);
                true
            } else {
                false
            }
        }
        EditKind::Other => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(at: usize, text: &str) -> Vec<Change> {
        vec![Change { at, removed: String::new(), inserted: text.to_owned() }]
    }

    fn steps(history: &mut History) -> usize {
        std::iter::from_fn(|| history.undo().map(|_| ())).count()
    }

    #[test]
    fn a_word_is_one_step_and_the_next_word_another() {
        let mut history = History::default();
        for (i, c) in "int x".chars().enumerate() {
            history.record(EditKind::Typing, typed(i, &c.to_string()), (i, i), (i + 1, i + 1), 0.1 * i as f64);
        }
        assert_eq!(steps(&mut history), 2);
    }

    #[test]
    fn a_pause_a_move_and_a_jump_each_begin_a_step() {
        let mut history = History::default();
        history.record(EditKind::Typing, typed(0, "a"), (0, 0), (1, 1), 0.0);
        history.record(EditKind::Typing, typed(1, "b"), (1, 1), (2, 2), 5.0);
        history.seal();
        history.record(EditKind::Typing, typed(2, "c"), (2, 2), (3, 3), 5.1);
        history.record(EditKind::Typing, typed(0, "d"), (0, 0), (1, 1), 5.2);
        assert_eq!(steps(&mut history), 4);
    }

    #[test]
    fn backspaces_join_in_either_direction() {
        let mut history = History::default();
        let erased = |at, text: &str| vec![Change { at, removed: text.to_owned(), inserted: String::new() }];
        history.record(EditKind::Erasing, erased(2, "c"), (3, 3), (2, 2), 0.0);
        history.record(EditKind::Erasing, erased(1, "b"), (2, 2), (1, 1), 0.1);
        history.record(EditKind::Erasing, erased(1, "d"), (1, 1), (1, 1), 0.2);
        let step = history.undo().cloned().expect("one step");
        assert_eq!(step.changes, erased(1, "bcd"));
        assert!(!history.can_undo() && history.can_redo());
        history.record(EditKind::Typing, typed(0, "x"), (0, 0), (1, 1), 0.3);
        assert!(!history.can_redo(), "a new edit ends what could be redone");
    }
}
