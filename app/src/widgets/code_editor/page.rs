//! The part of the text that is on the screen, laid out row by row. A line is one row, or several where long lines are
//! broken at the edge.

use super::view::Metrics;
use super::wraps::Wraps;
use super::{Editor, paint};
use crate::theme::{Tokens, space};
use crate::widgets::highlight::{Span, TokenKind};
use egui::{Galley, Pos2, Rect, Ui, pos2, vec2};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes of one row that are laid out; of a longer line it is the part in view.
const MAX_ROW_BYTES: usize = 4_000;

/// One row of the screen.
pub(super) struct Row {
    /// Zero-based.
    pub line: usize,
    /// The bytes that are laid out; the whole row, or the part of a very long one that is in view.
    pub bytes: Range<usize>,
    /// How far right of the origin its first character is.
    pub shift: f32,
    pub galley: Arc<Galley>,
    /// The line ends here.
    pub is_last: bool,
}

/// The visible part, laid out.
pub(super) struct Page {
    /// Zero-based lines, with those that are folded away between them.
    pub lines: Range<usize>,
    pub rows: Vec<Row>,
    /// The number of its first row among all of the text.
    pub first: usize,
    /// Screen position of the first row's top left.
    pub origin: Pos2,
    /// Other places of the name at the cursor.
    pub twins: Vec<Range<usize>>,
    pub wraps: Option<Rc<Wraps>>,
}

impl Page {
    /// The top of the first row of a line. A hidden line is where its hint is, the nearest one above that is shown.
    pub fn top_of(&self, line: usize, metrics: &Metrics) -> f32 {
        let after = self.rows.partition_point(|row| row.line <= line);
        let shown = after.checked_sub(1).map_or(0, |at| self.rows[at].line);
        self.top_of_row(self.rows.partition_point(|row| row.line < shown), metrics)
    }

    pub fn top_of_row(&self, row: usize, metrics: &Metrics) -> f32 {
        self.origin.y + row as f32 * metrics.row
    }

    /// What a line takes of the screen from top to bottom.
    pub fn span_of(&self, line: usize, metrics: &Metrics) -> egui::Rangef {
        let top = self.top_of(line, metrics);
        let rows = self.rows.iter().filter(|row| row.line == line).count().max(1);
        egui::Rangef::new(top, top + rows as f32 * metrics.row)
    }

    /// Lines that are shown.
    pub fn shown(&self) -> impl Iterator<Item = usize> {
        let mut last = None;
        self.rows.iter().filter_map(move |row| (last.replace(row.line) != Some(row.line)).then_some(row.line))
    }

    /// The line at a row below the first, if there is one.
    pub fn line_at(&self, row: usize) -> Option<usize> {
        self.rows.get(row).map(|row| row.line)
    }

    /// The row that an offset is on.
    pub fn row_of(&self, offset: usize) -> Option<usize> {
        let at = self.rows.partition_point(|row| row.bytes.start <= offset).checked_sub(1)?;
        let row = &self.rows[at];
        // Behind what is laid out of a very long line, and in a folded hint, there is no place.
        (offset <= row.bytes.end).then_some(at)
    }

    /// Screen x of an offset on a row.
    pub fn x_on(&self, editor: &Editor, row: usize, offset: usize) -> f32 {
        let Row { bytes, shift, galley, .. } = &self.rows[row];
        let before = editor.text().get(bytes.start..offset.clamp(bytes.start, bytes.end)).unwrap_or_default();
        let cursor = egui::text::CCursor::new(before.chars().count());
        self.origin.x + shift + galley.pos_from_cursor(cursor).min.x
    }

    /// The place of an offset: its left end, as high as its row.
    pub fn place_of(&self, editor: &Editor, offset: usize, metrics: &Metrics) -> Option<Rect> {
        let row = self.row_of(offset)?;
        let place = pos2(self.x_on(editor, row, offset), self.top_of_row(row, metrics));
        Some(Rect::from_min_size(place, vec2(1.0, metrics.row)))
    }

    /// The offset at a place, also above, below and beside the page.
    pub fn offset_at(&self, editor: &Editor, metrics: &Metrics, pos: Pos2) -> usize {
        let row = ((pos.y - self.origin.y) / metrics.row).floor() as isize;
        let Some((at, row)) = usize::try_from(row).ok().and_then(|at| Some((at, self.rows.get(at)?))) else {
            let row = self.first.saturating_add_signed(row);
            if self.first == 0 && pos.y < self.origin.y {
                return 0;
            }
            return match &self.wraps {
                Some(wraps) if row >= wraps.len() => editor.text().len(),
                Some(wraps) => wraps.bytes_of(editor, row).start,
                None if row >= editor.row_count() => editor.text().len(),
                None => editor.buffer().line_range(editor.line_of_row(row)).start,
            };
        };
        let x = pos.x - self.origin.x - row.shift;
        let column = row.galley.cursor_from_pos(vec2(x, metrics.row / 2.0)).index.0;
        let text = editor.text().get(row.bytes.clone()).unwrap_or_default();
        match text.char_indices().nth(column) {
            Some((found, _)) => row.bytes.start + found,
            // The end of a broken row is the start of the next: what was meant is on this one.
            None if !row.is_last && self.rows.get(at + 1).is_some() => editor.buffer().previous_char(row.bytes.end),
            // A click on the sign of a folded hint goes into it.
            None if column > text.chars().count() => editor.buffer().next_char(row.bytes.end),
            None => row.bytes.end,
        }
    }
}

/// Lays out what a viewport shows.
pub(super) fn lay_out(
    ui: &Ui,
    editor: &Editor,
    t: &Tokens,
    metrics: &Metrics,
    wraps: Option<Rc<Wraps>>,
    (top_left, viewport): (Pos2, Rect),
) -> Page {
    let count = wraps.as_ref().map_or_else(|| editor.row_count(), |wraps| wraps.len());
    let first = ((viewport.top() / metrics.row).floor().max(0.0) as usize).min(count);
    let last = ((viewport.bottom() / metrics.row).ceil().max(0.0) as usize).min(count);
    let places: Vec<(usize, Range<usize>, f32)> = (first..last)
        .map(|row| match &wraps {
            Some(wraps) => {
                let shift = wraps.indent_of(row) as f32 * metrics.char_width;
                (wraps.line_of(row), wraps.bytes_of(editor, row), shift)
            }
            None => {
                let line = editor.line_of_row(row);
                let (begin, shift) = begin_of(editor, metrics, line, viewport.left());
                let end = editor.buffer().line_range(line).end.min(begin + MAX_ROW_BYTES);
                (line, begin..editor.shown_end(line).unwrap_or(editor.buffer().clamp(end)), shift)
            }
        })
        .collect();
    let lines = match (places.first(), places.last()) {
        (Some((first, ..)), Some((last, ..))) => *first..last + 1,
        _ => 0..0,
    };
    let bytes = match (places.first(), places.last()) {
        (Some((_, first, _)), Some((_, last, _))) => first.start..last.end,
        _ => 0..0,
    };
    let (spans, pending) = editor.spans(bytes.clone());
    if pending {
        ui.ctx().request_repaint_after(std::time::Duration::from_millis(30));
    }
    let rows = places
        .into_iter()
        .map(|(line, bytes, shift)| {
            let whole = editor.buffer().line_range(line);
            let folded = editor.shown_end(line).is_some_and(|end| end <= bytes.end);
            let mut job = paint::line_job(editor.text(), bytes.clone(), &spans, t, &metrics.font);
            if folded {
                job.append(" …", 0.0, egui::TextFormat::simple(metrics.font.clone(), t.text_faint));
            }
            let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
            let is_last = folded || bytes.end >= whole.end;
            Row { line, is_last, bytes, shift, galley }
        })
        .collect();
    let origin = pos2(top_left.x + space::XS, top_left.y + first as f32 * metrics.row);
    let twins = twins(editor, bytes, &spans);
    Page { lines, rows, first, origin, twins, wraps }
}

/// Where the part of a line begins that is laid out: the line's start, or a little left of the view in a long one.
fn begin_of(editor: &Editor, metrics: &Metrics, line: usize, left: f32) -> (usize, f32) {
    let range = editor.buffer().line_range(line);
    if range.len() <= MAX_ROW_BYTES {
        return (range.start, 0.0);
    }
    // A quarter of the part is left of the view, so that its other end is right of any view.
    let column = (left / metrics.char_width).max(0.0) as usize;
    let column = column.saturating_sub(MAX_ROW_BYTES / 4);
    let begin = editor.buffer().clamp((range.start + column).min(range.end));
    // Bytes stand for columns: a line so long is a table of numbers, and only the scroll bar's place depends on it.
    (begin, (begin - range.start) as f32 * metrics.char_width)
}

/// Every place on the page of the name that the cursor is at, where it has more than one. Words of the language are none.
fn twins(editor: &Editor, page: Range<usize>, spans: &[Span]) -> Vec<Range<usize>> {
    let text = editor.text();
    if !editor.selection().is_empty() {
        return Vec::new();
    }
    let Some(own) = super::names::at(text, editor.cursor()) else { return Vec::new() };
    let kind_at = |offset: usize| {
        let at = spans.partition_point(|span| span.range.end <= offset);
        spans.get(at).filter(|span| span.range.start <= offset).map_or(TokenKind::Plain, |span| span.kind)
    };
    let is_name = |offset: usize| {
        matches!(kind_at(offset), TokenKind::Plain | TokenKind::Function | TokenKind::Builtin | TokenKind::Operator)
    };
    let (name, Some(shown)) = (&text[own], text.get(page.clone())) else { return Vec::new() };
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let is_whole = |at: usize| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    };
    let found = shown.match_indices(name).map(|(at, _)| page.start + at);
    let found: Vec<_> =
        found.filter(|at| is_whole(*at) && is_name(*at)).map(|start| start..start + name.len()).collect();
    if found.len() > 1 { found } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::EditorAction;
    use super::*;

    #[test]
    fn a_name_is_marked_wherever_it_is_code() {
        let text = "int n = 2; // n\nint nn = n + n; float x = 1;\n";
        let mut editor = Editor::new(text.to_owned());
        let marked = |editor: &Editor| {
            let spans = editor.spans(0..text.len()).0;
            twins(editor, 0..text.len(), &spans).into_iter().map(|range| range.start).collect::<Vec<_>>()
        };
        editor.act(&EditorAction::Place { offset: 4, extend: false }, 0.0);
        assert_eq!(marked(&editor), [4, 25, 29], "neither the comment nor a longer name");
        editor.act(&EditorAction::Place { offset: text.find("x = 1").unwrap(), extend: false }, 0.0);
        assert!(marked(&editor).is_empty(), "it is there once");
        editor.act(&EditorAction::Place { offset: 1, extend: false }, 0.0);
        assert!(marked(&editor).is_empty(), "a word of the language");
        editor.act(&EditorAction::Select(4..5), 0.0);
        assert!(marked(&editor).is_empty(), "what is selected is marked already");
    }
}
