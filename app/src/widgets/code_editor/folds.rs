//! Folding of hints: a comment that begins with TODO, with the comment lines below it. Folded, its words are hidden, so
//! that one can think first.

use super::{Buffer, Editor};
use std::ops::Range;

/// Which hints are folded, and where they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Folds {
    /// Zero-based first lines, in order.
    folded: Vec<usize>,
    /// Grows with each change of `folded`.
    generation: u64,
    cache: std::cell::RefCell<Cache>,
}

/// Found anew when the text or the folds changed.
#[derive(Clone, Debug, Default)]
struct Cache {
    of: Option<(u64, u64)>,
    hints: Vec<Range<usize>>,
    folded: Vec<Range<usize>>,
}

/// Lines (zero-based) of each hint.
fn hints(buffer: &Buffer) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for line in 0..buffer.line_count() {
        let Some(comment) = buffer.line(line).trim_start().strip_prefix("//") else { continue };
        if is_hint(comment) {
            found.push(line..line + 1);
        } else if let Some(last) = found.last_mut().filter(|last| last.end == line) {
            last.end += 1;
        }
    }
    found
}

fn is_hint(comment: &str) -> bool {
    let rest = comment.trim_start_matches(['/', '!', '*']).trim_start().strip_prefix("TODO");
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Bytes of a hint's first line that stay in sight: `// TODO 1`.
fn head_len(line: &str) -> usize {
    let Some(at) = line.find("TODO") else { return line.len() };
    let after = &line[at + 4..];
    let number = after.len() - after.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit()).len();
    (at + 4 + number).min(line.len()) - usize::from(after[..number].ends_with(' '))
}

impl Folds {
    fn cached<R>(&self, buffer: &Buffer, version: u64, read: impl FnOnce(&Cache) -> R) -> R {
        let key = (version, self.generation);
        let mut cache = self.cache.borrow_mut();
        if cache.of != Some(key) {
            if cache.of.is_none_or(|(of, _)| of != version) {
                cache.hints = hints(buffer);
            }
            cache.of = Some(key);
            let folded = cache.hints.iter().filter(|hint| self.folded.contains(&hint.start));
            cache.folded = folded.cloned().collect();
        }
        read(&cache)
    }

    /// Grows when anything is folded or opened.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    fn set(&mut self, folded: Vec<usize>) {
        self.folded = folded;
        self.generation += 1;
    }

    /// Lines from `from` (zero-based) on moved: `removed` lines went and `added` came. What was touched opens.
    pub(super) fn shift(&mut self, line: usize, removed: usize, added: usize, whole: bool) {
        if self.folded.is_empty() {
            return;
        }
        let first_after = line + removed + usize::from(!whole || removed == 0 && added == 0);
        let folded = self.folded.iter().filter_map(|start| match *start {
            start if start < line => Some(start),
            start if start >= first_after => Some(start + added - removed),
            _ => None,
        });
        let folded = folded.collect();
        self.set(folded);
    }
}

impl Editor {
    /// Lines (zero-based) of every hint of the text.
    pub fn hints(&self) -> Vec<Range<usize>> {
        self.folds.cached(&self.buffer, self.version, |cache| cache.hints.clone())
    }

    fn folded<R>(&self, read: impl FnOnce(&[Range<usize>]) -> R) -> R {
        self.folds.cached(&self.buffer, self.version, |cache| read(&cache.folded))
    }

    /// Whether the hint that begins on a line is folded; None when none begins there.
    pub fn fold_of(&self, line: usize) -> Option<bool> {
        self.folds.cached(&self.buffer, self.version, |cache| {
            let at = cache.hints.binary_search_by_key(&line, |hint| hint.start).ok()?;
            Some(cache.folded.contains(&cache.hints[at]))
        })
    }

    /// The offset up to which a folded hint's first line is shown.
    pub(super) fn shown_end(&self, line: usize) -> Option<usize> {
        let is_folded = self.fold_of(line) == Some(true);
        is_folded.then(|| self.buffer.line_range(line).start + head_len(self.buffer.line(line)))
    }

    /// Lines that are shown.
    pub fn row_count(&self) -> usize {
        let hidden: usize = self.folded(|folded| folded.iter().map(|hint| hint.len() - 1).sum());
        self.buffer.line_count() - hidden
    }

    /// The row of a line; of a hidden one that of its hint.
    pub fn row_of(&self, line: usize) -> usize {
        self.folded(|folded| {
            let hidden =
                folded.iter().take_while(|hint| hint.start < line).map(|hint| line.min(hint.end - 1) - hint.start);
            line - hidden.sum::<usize>()
        })
    }

    /// The line of a row; past the end the last line.
    pub fn line_of_row(&self, row: usize) -> usize {
        self.folded(|folded| {
            let mut line = row;
            for hint in folded {
                if hint.start >= line {
                    break;
                }
                line += hint.len() - 1;
            }
            line.min(self.buffer.line_count() - 1)
        })
    }

    /// Zero-based lines of the folded hints, to be kept.
    pub fn folded_lines(&self) -> Vec<usize> {
        self.folded(|folded| folded.iter().map(|hint| hint.start).collect())
    }

    /// Folds the hints on these lines, as they were kept; where none begins nothing is folded.
    pub fn fold_again(&mut self, lines: &[usize]) {
        let hints = self.hints();
        let kept = hints.iter().map(|hint| hint.start).filter(|start| lines.contains(start)).collect();
        self.folds.set(kept);
        self.leave_fold();
    }

    pub fn is_hidden(&self, line: usize) -> bool {
        self.folded(|folded| folded.iter().any(|hint| hint.start < line && line < hint.end))
    }

    pub(super) fn toggle_fold(&mut self, line: usize) {
        let mut folded = self.folded(|folded| folded.iter().map(|hint| hint.start).collect::<Vec<_>>());
        match folded.iter().position(|start| *start == line) {
            Some(at) => {
                folded.remove(at);
            }
            None => folded.push(line),
        }
        folded.sort_unstable();
        self.folds.set(folded);
        self.leave_fold();
    }

    /// Folds every hint, or opens them all when all are folded.
    pub(super) fn toggle_folds(&mut self) {
        let all: Vec<usize> = self.hints().iter().map(|hint| hint.start).collect();
        let folded = self.folded(<[_]>::len);
        self.folds.set(if folded < all.len() { all } else { Vec::new() });
        self.leave_fold();
    }

    /// Where the cursor is must be seen: it goes to the front of a hint that was folded around it.
    fn leave_fold(&mut self) {
        let line = self.buffer.line_of(self.head);
        let around = self.folded(|folded| folded.iter().find(|hint| hint.contains(&line)).cloned());
        if let Some(hint) = around {
            let end = self.shown_end(hint.start).unwrap_or(self.head);
            self.head = self.head.min(end);
            self.anchor = self.head;
        }
    }

    /// Opens the hint that the cursor went into.
    pub(super) fn open_fold_at_cursor(&mut self) {
        let line = self.buffer.line_of(self.head);
        let around = self.folded(|folded| folded.iter().find(|hint| hint.contains(&line)).cloned());
        let Some(hint) = around else { return };
        let inside = self.shown_end(hint.start).is_some_and(|end| self.head > end);
        if inside {
            self.toggle_fold(hint.start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EditorAction, Motion};
    use super::*;

    const TEXT: &str =
        "int x;\n// TODO 1: think\n//   of this\n// and that\nint y;\n    // TODO: more\nint z;\n// TODOS are none\n";

    fn editor() -> Editor {
        Editor::new(TEXT.to_owned())
    }

    #[test]
    fn hints_are_comments_that_begin_with_todo() {
        assert_eq!(editor().hints(), [1..4, 5..6]);
        assert_eq!(
            (head_len("// TODO 1: think"), head_len("    // TODO: more"), head_len("// TODO 12 x")),
            (9, 11, 10)
        );
        assert_eq!(head_len("no"), 2);
    }

    #[test]
    fn folded_lines_have_no_row_and_are_stepped_over() {
        let mut editor = editor();
        editor.act(&EditorAction::ToggleFolds, 0.0);
        assert_eq!(editor.row_count(), editor.buffer().line_count() - 2);
        let rows: Vec<_> = (0..editor.row_count()).map(|row| editor.line_of_row(row)).collect();
        assert_eq!(rows, [0, 1, 4, 5, 6, 7, 8]);
        for (row, line) in rows.iter().enumerate() {
            assert_eq!(editor.row_of(*line), row);
        }
        assert_eq!((editor.row_of(2), editor.row_of(3)), (1, 1));
        assert!(editor.is_hidden(2) && editor.is_hidden(3) && !editor.is_hidden(1) && !editor.is_hidden(4));
        let down = EditorAction::Move { motion: Motion::Down, extend: false };
        editor.act(&down, 0.0);
        editor.act(&down, 0.0);
        assert_eq!(editor.cursor_position().0, 5);
        assert_eq!(editor.fold_of(1), Some(true), "still folded");
        editor.act(&EditorAction::ToggleFolds, 0.0);
        assert_eq!(editor.row_count(), editor.buffer().line_count());
    }

    #[test]
    fn going_in_opens_and_edits_above_move_the_folds() {
        let mut editor = editor();
        editor.act(&EditorAction::ToggleFold(1), 0.0);
        assert_eq!((editor.fold_of(1), editor.fold_of(5)), (Some(true), Some(false)));
        editor.act(&EditorAction::GoTo { line: 1, column: 1 }, 0.0);
        editor.act(&EditorAction::NewLine, 0.0);
        assert_eq!((editor.fold_of(1), editor.fold_of(2)), (None, Some(true)), "moved along");
        editor.act(&EditorAction::GoTo { line: 4, column: 1 }, 0.0);
        assert_eq!(editor.fold_of(2), Some(false), "a hidden line was gone to");
        editor.act(&EditorAction::ToggleFold(2), 0.0);
        editor.act(&EditorAction::GoTo { line: 3, column: 3 }, 0.0);
        assert_eq!(editor.fold_of(2), Some(true), "what is in sight of it");
        editor.act(&EditorAction::Move { motion: Motion::LineEnd, extend: false }, 0.0);
        assert_eq!(editor.fold_of(2), Some(false));
        editor.act(&EditorAction::ToggleFold(2), 0.0);
        assert_eq!(editor.cursor_position().0, 3, "the cursor stays in sight");
        editor.act(&EditorAction::SetText(String::new()), 0.0);
        assert_eq!((editor.row_count(), editor.hints().len()), (1, 0));
    }
}
