//! Where long lines are broken: at a space or behind a sign, with the rest indented below its line's beginning. Only
//! columns count, for the letters of code are as wide as one another, or twice as wide.

use super::{Editor, Motion};
use std::ops::Range;

/// How much further than its line a broken row is indented, in columns.
const HANGING: usize = 4;

/// Fewest columns of a row: in a narrower editor it sticks out.
pub(super) const LEAST_COLUMNS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    line: usize,
    /// Byte of the text.
    begin: usize,
    /// Columns that it is indented by.
    indent: usize,
}

/// What the rows that are known are of: the version, the folds and the columns.
pub(super) type Key = (u64, u64, usize);

/// Every row of a text at one width.
#[derive(Debug, Default)]
pub struct Wraps {
    rows: Vec<Start>,
}

fn columns_of(c: char) -> usize {
    match c {
        '\t' => 4,
        // Letters of East Asia and pictures.
        c if c >= '\u{1100}' => 2,
        _ => 1,
    }
}

/// Byte offsets at which the rest of a line begins anew; empty where it fits.
fn breaks(line: &str, columns: usize) -> (Vec<usize>, usize) {
    let blank = line.len() - line.trim_start().len();
    let indent: usize = line[..blank].chars().map(columns_of).sum::<usize>() + HANGING;
    // A line that is indented by half of the width has its rest at the same place as any other.
    let indent = if indent * 2 > columns { HANGING } else { indent };
    let (mut found, mut room, mut used, mut good) = (Vec::new(), columns, 0, None);
    let mut begin = 0;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        // Behind a space or a sign that opens or separates, never within a name or a number.
        if at > begin.max(blank) && (before == ' ' || (matches!(before, ',' | ';' | '(' | '{') && is_word(c))) {
            good = Some(at);
        }
        let wide = columns_of(c);
        if used + wide > room && at > begin {
            let cut = good.take().unwrap_or(at);
            found.push(cut);
            begin = cut;
            room = columns - indent;
            used = line[cut..at].chars().map(columns_of).sum();
        }
        used += wide;
        before = c;
    }
    (found, indent)
}

impl Wraps {
    pub(super) fn new(editor: &Editor, columns: usize) -> Self {
        let columns = columns.max(LEAST_COLUMNS);
        let mut rows = Vec::with_capacity(editor.row_count());
        for line in (0..editor.row_count()).map(|row| editor.line_of_row(row)) {
            let whole = editor.buffer().line_range(line);
            rows.push(Start { line, begin: whole.start, indent: 0 });
            let end = editor.shown_end(line).unwrap_or(whole.end);
            // Most lines are short: their bytes are at least their columns, unless tabs or wide letters are among them.
            let text = &editor.text()[whole.start..end];
            if text.len() <= columns / 4 {
                continue;
            }
            let (found, indent) = breaks(text, columns);
            rows.extend(found.into_iter().map(|at| Start { line, begin: whole.start + at, indent }));
        }
        Self { rows }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn line_of(&self, row: usize) -> usize {
        self.rows.get(row).or(self.rows.last()).map_or(0, |start| start.line)
    }

    pub(super) fn indent_of(&self, row: usize) -> usize {
        self.rows.get(row).map_or(0, |start| start.indent)
    }

    /// The bytes of a row, without the end of its line.
    pub(super) fn bytes_of(&self, editor: &Editor, row: usize) -> Range<usize> {
        let Some(start) = self.rows.get(row) else { return editor.text().len()..editor.text().len() };
        let end = match self.rows.get(row + 1) {
            Some(next) if next.line == start.line => next.begin,
            _ => editor.shown_end(start.line).unwrap_or_else(|| editor.buffer().line_range(start.line).end),
        };
        start.begin..end.max(start.begin)
    }

    /// The row that an offset is on; of a hidden line that of its hint.
    pub(super) fn row_of(&self, offset: usize) -> usize {
        self.rows.partition_point(|start| start.begin <= offset).saturating_sub(1)
    }
}

impl Editor {
    /// Where Up, Down and their pages lead where lines are broken, and the column that they aim for: by rows, as they are
    /// seen. None where lines are whole, and for other motions.
    pub(super) fn by_rows(&self, motion: Motion) -> Option<(usize, usize)> {
        let wraps = self.wraps(self.wrap_columns.get()?);
        let by = match motion {
            Motion::Up => -1,
            Motion::Down => 1,
            Motion::PageUp(rows) => -(rows as isize),
            Motion::PageDown(rows) => rows as isize,
            _ => return None,
        };
        let row = wraps.row_of(self.head);
        let own = wraps.bytes_of(self, row).start;
        let column = wraps.indent_of(row) + self.text().get(own..self.head).map_or(0, |text| text.chars().count());
        let goal = self.goal_column.unwrap_or(column);
        let last = wraps.len().saturating_sub(1);
        let target = match (row, by) {
            (0, by) if by < 0 => 0,
            (row, by) if by > 0 && row == last => self.text().len(),
            _ => {
                let to = row.saturating_add_signed(by).min(last);
                let bytes = wraps.bytes_of(self, to);
                let text = self.text().get(bytes.clone()).unwrap_or_default();
                let inside = text.char_indices().nth(goal.saturating_sub(wraps.indent_of(to)));
                let goes_on = to < last && wraps.line_of(to + 1) == wraps.line_of(to);
                // The end of a row that goes on is the start of the next one.
                let end = if goes_on { self.buffer.previous_char(bytes.end) } else { bytes.end };
                inside.map_or(end, |(at, _)| bytes.start + at)
            }
        };
        Some((target, goal))
    }
}

#[cfg(test)]
mod tests {
    use super::super::EditorAction;
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces_and_signs_and_nothing_is_lost() {
        let line = "    c[i] = alpha * a[i] + beta * b[i] + gamma * sum(c[i], d[i]);";
        let (found, indent) = breaks(line, 30);
        assert_eq!(indent, 8);
        assert!(found.len() >= 2 && found.iter().all(|at| line[..*at].ends_with([' ', ',', '(', ';'])), "{found:?}");
        let ends = found.iter().skip(1).copied().chain([line.len()]);
        assert!(found.iter().zip(ends).all(|(from, to)| to - from <= 22), "{found:?}");
        assert_eq!(breaks("short", 30).0, Vec::<usize>::new());
        assert_eq!(breaks(&"x".repeat(65), 30).0, [30, 56], "one word without a place to break it");
        assert_eq!(breaks(&"あ".repeat(20), 30).0, [45], "wide letters count twice");
        assert_eq!(breaks(&format!("{}x = 1;", " ".repeat(28)), 30).1, HANGING, "deep lines hang less");
    }

    #[test]
    fn down_and_up_go_by_rows() {
        let mut editor = Editor::new(format!("{}\nab\n", "word ".repeat(20)));
        editor.wrap_columns.set(Some(40));
        let go = |editor: &mut Editor, motion| {
            editor.act(&EditorAction::Move { motion, extend: false }, 0.0);
            editor.cursor()
        };
        editor.act(&EditorAction::Place { offset: 10, extend: false }, 0.0);
        assert_eq!(go(&mut editor, Motion::Down), 40 + 10 - HANGING, "the second row hangs");
        assert_eq!(go(&mut editor, Motion::Down), 75 + 10 - HANGING);
        assert_eq!(go(&mut editor, Motion::Down), 103, "a short line");
        assert_eq!(go(&mut editor, Motion::Up), 75 + 10 - HANGING, "the column is aimed for");
        assert_eq!(go(&mut editor, Motion::PageUp(9)), 10);
        assert_eq!(go(&mut editor, Motion::Up), 0);
        editor.wrap_columns.set(None);
        assert_eq!(go(&mut editor, Motion::Down), 101 + 2, "by lines again");
    }

    #[test]
    fn every_row_is_found_by_its_bytes_and_folded_lines_have_none() {
        let long = "int a = 1; ".repeat(9);
        let mut editor = Editor::new(format!("{long}\n// TODO think\n// of this\nint b;\n"));
        let check = |editor: &Editor| {
            let wraps = Wraps::new(editor, 40);
            let mut text = String::new();
            for row in 0..wraps.len() {
                let bytes = wraps.bytes_of(editor, row);
                assert_eq!(wraps.row_of(bytes.start), row);
                text.push_str(&editor.text()[bytes]);
            }
            (wraps.len(), text)
        };
        let (rows, text) = check(&editor);
        assert_eq!((rows, text), (3 + 4, editor.text().replace('\n', "")));
        editor.act(&EditorAction::ToggleFolds, 0.0);
        let (rows, text) = check(&editor);
        assert_eq!(rows, 3 + 3);
        assert!(text.contains("// TODO") && !text.contains("of this"));
    }
}
