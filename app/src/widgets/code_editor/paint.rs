//! How the editor looks: line colours, selection, marks, gutter, cursor.

use super::page::Page;
use super::view::Metrics;
use super::{Editor, EditorAction, Heat, MarkKind};
use crate::icons;
use crate::theme::{Tokens, font_size, radius, space};
use crate::widgets::highlight::{Span, TokenKind};
use egui::text::{LayoutJob, TextFormat};
use egui::{Align2, Color32, FontFamily, FontId, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use std::ops::Range;

pub(super) fn mark_color(t: &Tokens, kind: MarkKind) -> Color32 {
    match kind {
        MarkKind::Error | MarkKind::Fault => t.fail,
        MarkKind::Warning => t.warn,
        MarkKind::Note => t.info,
    }
}

/// The colour of a kind of token; also used by code blocks in lessons.
pub fn token_color(t: &Tokens, kind: TokenKind) -> Color32 {
    let s = &t.syntax;
    match kind {
        TokenKind::Plain | TokenKind::Operator => s.text,
        TokenKind::Keyword => s.keyword,
        TokenKind::Type => s.type_name,
        TokenKind::Qualifier => s.qualifier,
        TokenKind::Builtin => s.builtin,
        TokenKind::Function => s.function,
        TokenKind::Number => s.number,
        TokenKind::Text => s.string,
        TokenKind::Comment => s.comment,
        TokenKind::Preprocessor => s.preprocessor,
    }
}

/// One line (or several, for the screen reader) with its colours.
pub(crate) fn line_job(text: &str, range: Range<usize>, spans: &[Span], t: &Tokens, font: &FontId) -> LayoutJob {
    let mut job = LayoutJob { break_on_newline: false, ..LayoutJob::default() };
    job.wrap.max_width = f32::INFINITY;
    let mut push = |piece: Range<usize>, kind: TokenKind| {
        if let Some(text) = text.get(piece) {
            job.append(text, 0.0, TextFormat::simple(font.clone(), token_color(t, kind)));
        }
    };
    let mut at = range.start;
    let first = spans.partition_point(|span| span.range.end <= range.start);
    for span in spans[first..].iter().take_while(|span| span.range.start < range.end) {
        let piece = span.range.start.max(range.start)..span.range.end.min(range.end);
        push(at..piece.start, TokenKind::Plain);
        push(piece.clone(), span.kind);
        at = piece.end;
    }
    push(at..range.end, TokenKind::Plain);
    if job.sections.is_empty() {
        // An empty line still has a height and a place for the cursor.
        job.append("", 0.0, TextFormat::simple(font.clone(), t.syntax.text));
    }
    job
}

/// Everything inside the scrolling part but the cursor.
pub(super) fn body(ui: &Ui, editor: &Editor, t: &Tokens, metrics: &Metrics, page: &Page, focused: bool) {
    let painter = ui.painter();
    let clip = ui.clip_rect();
    let selection = editor.selection();
    let cursor_line = editor.buffer().line_of(editor.cursor());
    if page.lines.contains(&cursor_line) && selection.is_empty() {
        let rect = Rect::from_x_y_ranges(clip.x_range(), page.span_of(cursor_line, metrics));
        painter.rect_filled(rect, 0.0, t.current_line);
    }
    for line in page.shown() {
        if let Some(kind) = editor.marks.on_line(line as u32 + 1).first().map(|mark| mark.kind) {
            let rect = Rect::from_x_y_ranges(clip.x_range(), page.span_of(line, metrics));
            painter.rect_filled(rect, 0.0, soft_color(t, kind));
        }
    }
    if focused && editor.find.matches.is_empty() {
        for twin in &page.twins {
            ranges(ui, editor, metrics, page, twin, t.bracket_match);
        }
    }
    for found in &editor.find.matches {
        let color = if *found == selection { t.find_current } else { t.find_match };
        ranges(ui, editor, metrics, page, found, color);
    }
    if !editor.find.matches.contains(&selection) {
        ranges(ui, editor, metrics, page, &selection, t.selection);
    }
    if focused && let Some((a, b)) = editor.matching_brackets() {
        for at in [a, b] {
            ranges(ui, editor, metrics, page, &(at..at + 1), t.bracket_match);
        }
    }
    for (index, row) in page.rows.iter().enumerate() {
        let top = page.top_of_row(index, metrics) + (metrics.row - row.galley.size().y) / 2.0;
        painter.galley(pos2(page.origin.x + row.shift, top), row.galley.clone(), t.text);
    }
    marks(ui, editor, t, metrics, page);
}

fn soft_color(t: &Tokens, kind: MarkKind) -> Color32 {
    match kind {
        MarkKind::Error | MarkKind::Fault => t.fail_soft,
        MarkKind::Warning => t.warn_soft,
        MarkKind::Note => t.info_soft,
    }
}

/// Fills the visible part of a byte range.
fn ranges(ui: &Ui, editor: &Editor, metrics: &Metrics, page: &Page, range: &Range<usize>, color: Color32) {
    if range.is_empty() {
        return;
    }
    for (index, row) in page.rows.iter().enumerate() {
        let from = range.start.max(row.bytes.start);
        let to = range.end.min(row.bytes.end);
        let takes_end = row.is_last && range.end > row.bytes.end && range.start <= row.bytes.end;
        if from >= to && !(takes_end && from == to) {
            continue;
        }
        let (left, mut right) = (page.x_on(editor, index, from), page.x_on(editor, index, to));
        // A selected line end is seen as a small tail.
        if takes_end {
            right += metrics.char_width * 0.6;
        }
        let top = page.top_of_row(index, metrics);
        let rect = Rect::from_min_max(pos2(left, top), pos2(right, top + metrics.row));
        ui.painter().rect_filled(rect, 2.0, color);
    }
}

/// Underlines the marked words and writes the message after the line.
fn marks(ui: &Ui, editor: &Editor, t: &Tokens, metrics: &Metrics, page: &Page) {
    let painter = ui.painter();
    for line in page.shown() {
        let marks = editor.marks.on_line(line as u32 + 1);
        let Some(first) = marks.first() else { continue };
        let range = editor.buffer().line_range(line);
        for mark in marks.iter().filter(|mark| mark.column > 0 || mark.kind != MarkKind::Note) {
            let start = if mark.column > 0 {
                editor.buffer().offset_at(line, mark.column as usize - 1)
            } else {
                let text = editor.buffer().line(line);
                range.start + text.len() - text.trim_start().len()
            };
            let end = if mark.column > 0 { editor.buffer().word_at(start).end.max(start) } else { range.end };
            let Some(row) = page.row_of(start) else { continue };
            let (left, right) = (page.x_on(editor, row, start), page.x_on(editor, row, end));
            let y = page.top_of_row(row, metrics) + metrics.row - 2.5;
            squiggle(ui, left, right.max(left + metrics.char_width), y, mark_color(t, mark.kind));
        }
        let more = if marks.len() > 1 { format!("  (+{})", marks.len() - 1) } else { String::new() };
        let message = first.message.lines().next().unwrap_or_default();
        let Some(last) = page.rows.iter().rposition(|row| row.line == line) else { continue };
        let row = &page.rows[last];
        let left = page.origin.x + row.shift + row.galley.size().x + 3.0 * metrics.char_width;
        // A message that starts off the screen would say nothing: it then starts at the view's middle.
        let room = ui.clip_rect().right() - left - space::M;
        if room > 60.0 {
            let font = FontId::new(font_size::SMALL, FontFamily::Proportional);
            let message = crate::widgets::sentence::plain(message);
            let text = format!("{} {message}{more}", first.kind.symbol());
            let mut job = LayoutJob::simple_singleline(text, font, mark_color(t, first.kind));
            job.wrap = egui::text::TextWrapping::truncate_at_width(room);
            let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
            let top = page.top_of_row(last, metrics) + (metrics.row - galley.size().y) / 2.0;
            painter.galley(pos2(left, top), galley, t.text);
        }
    }
}

fn squiggle(ui: &Ui, left: f32, right: f32, y: f32, color: Color32) {
    let mut points = Vec::new();
    let mut x = left;
    let mut up = false;
    while x <= right {
        points.push(pos2(x, if up { y - 1.5 } else { y + 0.5 }));
        x += 2.5;
        up = !up;
    }
    ui.painter().add(egui::Shape::line(points, Stroke::new(1.2, color)));
}

/// Cursor, and what an input method is composing there.
pub(super) fn cursor(ui: &Ui, editor: &Editor, t: &Tokens, metrics: &Metrics, rect: Rect) {
    let mut x = rect.left();
    if !editor.composing().is_empty() {
        let galley = ui.painter().layout_no_wrap(editor.composing().to_owned(), metrics.font.clone(), t.syntax.text);
        let size = galley.size();
        let place = Rect::from_min_size(rect.min, vec2(size.x, metrics.row));
        ui.painter().rect_filled(place, 0.0, t.raised);
        ui.painter().galley(pos2(x, rect.center().y - size.y / 2.0), galley, t.text);
        ui.painter().hline(place.x_range(), place.bottom() - 1.0, Stroke::new(1.0, t.accent));
        x += size.x;
    }
    // It does not blink: an idle window then draws nothing.
    ui.painter().vline(x, rect.shrink2(vec2(0.0, 1.0)).y_range(), Stroke::new(2.0, t.accent));
}

/// Line numbers and marks, which do not scroll sideways.
pub(super) fn gutter(
    ui: &mut Ui,
    editor: &Editor,
    t: &Tokens,
    metrics: &Metrics,
    page: &Page,
    rect: Rect,
    actions: &mut Vec<EditorAction>,
) {
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, t.gutter);
    painter.vline(rect.right() - 0.5, rect.y_range(), Stroke::new(1.0, t.border));
    let cursor_line = editor.buffer().line_of(editor.cursor());
    for line in page.shown() {
        let center = page.top_of(line, metrics) + metrics.row / 2.0;
        let color = if line == cursor_line { t.text } else { t.gutter_text };
        let place = pos2(rect.right() - FOLD_WIDTH, center);
        painter.text(place, Align2::RIGHT_CENTER, line + 1, metrics.font.clone(), color);
        if let Some(heat) = editor.marks.heat_of(line as u32 + 1).filter(|_| metrics.heat > 0.0) {
            let cell = Rect::from_center_size(
                pos2(rect.left() + 22.0 + metrics.heat / 2.0, center),
                vec2(metrics.heat, metrics.row),
            );
            heat_ui(ui, t, line, heat, cell.intersect(rect));
        }
        let marks = editor.marks.on_line(line as u32 + 1);
        if let Some(folded) = editor.fold_of(line) {
            // Between the number and the text that it folds.
            let cell =
                Rect::from_center_size(pos2(rect.right() - FOLD_WIDTH / 2.0, center), vec2(FOLD_WIDTH, metrics.row));
            fold_ui(ui, t, line, folded, cell.intersect(rect), actions);
        }
        let Some(first) = marks.first() else { continue };
        let cell = Rect::from_center_size(pos2(rect.left() + 11.0, center), vec2(18.0, metrics.row));
        let cell = cell.intersect(rect);
        if !cell.is_positive() {
            continue;
        }
        let response = ui.interact(cell, super::editor_id().with(("mark", line)), Sense::click());
        if response.hovered() || response.has_focus() {
            painter.rect_filled(cell, f32::from(radius::SMALL), t.hover);
        }
        icons::paint(&painter, cell.center(), icons::SIZE, first.kind.icon(), mark_color(t, first.kind));
        let messages: Vec<_> = marks.iter().map(|mark| mark.message.as_str()).collect();
        let label = format!("{} on line {}: {}", first.kind.word(), line + 1, messages.join("; "));
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        if response.on_hover_text(&label).clicked() {
            actions.push(EditorAction::GoTo { line: first.line, column: first.column });
        }
    }
}

/// The heads of what the first line is in, above the text: a click leads there. Where they would hide the cursor there is none.
pub(super) fn heads(
    ui: &Ui,
    editor: &Editor,
    t: &Tokens,
    metrics: &Metrics,
    page: &Page,
    whole: Rect,
    actions: &mut Vec<EditorAction>,
) {
    let Some(first) = page.rows.first().map(|row| row.line) else { return };
    if page.first == 0 || whole.height() < 8.0 * metrics.row {
        return;
    }
    // Of the first line that they do not cover: else they would stay when their block has left.
    let heads = editor.heads_above(first, first + super::scope::MOST);
    let hides_cursor = page.row_of(editor.cursor()).is_some_and(|row| row <= heads.len());
    if heads.is_empty() || hides_cursor {
        return;
    }
    let height = heads.len() as f32 * metrics.row;
    let strip = Rect::from_min_size(whole.min, vec2(whole.width(), height));
    let painter = ui.painter_at(strip.expand2(vec2(0.0, 2.0)));
    painter.rect_filled(strip, 0.0, t.raised);
    painter.hline(strip.x_range(), strip.bottom(), Stroke::new(1.0, t.border_strong));
    for (index, head) in heads.into_iter().enumerate() {
        let row =
            Rect::from_min_size(strip.min + vec2(0.0, index as f32 * metrics.row), vec2(strip.width(), metrics.row));
        // A drag too, or the press would also go to the text below it.
        let response = ui.interact(row, super::editor_id().with(("head", index)), Sense::click_and_drag());
        if response.hovered() || response.has_focus() {
            painter.rect_filled(row, 0.0, t.hover);
        }
        let number = pos2(row.left() + metrics.gutter - FOLD_WIDTH, row.center().y);
        painter.text(number, Align2::RIGHT_CENTER, head + 1, metrics.font.clone(), t.gutter_text);
        let range = editor.buffer().line_range(head);
        // Of a long text only the colours of what is in view are known.
        let is_near = editor.text().len() <= super::syntax::NEAR_BYTES;
        let spans = if is_near { editor.spans(range.clone()).0 } else { Vec::new() };
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(line_job(editor.text(), range, &spans, t, &metrics.font)));
        let place = pos2(row.left() + metrics.gutter + space::XS, row.center().y - galley.size().y / 2.0);
        painter.galley(place, galley, t.text);
        let label = format!("Go up to line {}: {}", head + 1, editor.buffer().line(head).trim());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        if response.on_hover_cursor(egui::CursorIcon::PointingHand).clicked() {
            actions.push(EditorAction::GoTo { line: head as u32 + 1, column: 0 });
        }
    }
}

/// Width of the gutter's column of shares.
pub(super) const HEAT_WIDTH: f32 = 46.0;

/// Width of the gutter's column of triangles that fold, between number and text.
pub(super) const FOLD_WIDTH: f32 = 14.0;

/// Height of the bar under a share, in points.
const BAR: f32 = 3.0;

/// A line's share of the run's instructions as a number over a bar, with a sign when its memory accesses cost too much.
fn heat_ui(ui: &Ui, t: &Tokens, line: usize, heat: &Heat, cell: Rect) {
    if !cell.is_positive() {
        return;
    }
    let painter = ui.painter();
    let response = ui.interact(cell, super::editor_id().with(("heat", line)), Sense::hover());
    let inner = cell.shrink2(vec2(2.0, 2.0));
    let bar = vec2(inner.width() * heat.share.clamp(0.0, 1.0), BAR);
    let bar = Rect::from_min_size(inner.left_bottom() - vec2(0.0, BAR), bar);
    let (fill, color) = if heat.trouble.is_some() { (t.warn, t.warn) } else { (t.info, t.text_muted) };
    painter.rect_filled(inner, f32::from(radius::SMALL), if response.hovered() { t.hover } else { t.gutter });
    painter.rect_filled(bar, 1.0, fill.gamma_multiply(0.75));
    // The number keeps clear of its bar.
    let inner = inner.with_max_y(inner.bottom() - BAR);
    let font = FontId::new(font_size::SMALL - 1.0, FontFamily::Proportional);
    if heat.share >= 0.005 {
        let text = format!("{:.0} %", heat.share * 100.0);
        painter.text(inner.right_center() - vec2(2.0, 0.0), Align2::RIGHT_CENTER, text, font.clone(), color);
    }
    if let Some(trouble) = heat.trouble {
        painter.text(inner.left_center() + vec2(2.0, 0.0), Align2::LEFT_CENTER, trouble.symbol(), font, color);
    }
    let label = format!("Line {}: {}", line + 1, heat.text);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &label));
    response.on_hover_text(&label);
}

/// The triangle that folds and opens a hint.
fn fold_ui(ui: &Ui, t: &Tokens, line: usize, folded: bool, cell: Rect, actions: &mut Vec<EditorAction>) {
    if !cell.is_positive() {
        return;
    }
    let response = ui.interact(cell, super::editor_id().with(("fold", line)), Sense::click());
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(cell, f32::from(radius::SMALL), t.hover);
    }
    let font = FontId::new(font_size::SMALL, FontFamily::Proportional);
    let sign = if folded { "▶" } else { "▼" };
    ui.painter().text(cell.center(), Align2::CENTER_CENTER, sign, font, t.gutter_text);
    let label = format!("{} the hint on line {}", if folded { "Open" } else { "Fold" }, line + 1);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
    if response.on_hover_text(&label).clicked() {
        actions.push(EditorAction::ToggleFold(line));
    }
}
