//! The editor on the screen: a gutter that stays and lines that scroll. Only visible lines are laid out.

use super::{Editor, EditorAction, Show, input, paint, popup};
use crate::theme::{self, Tokens, space};
use egui::{Align, FontId, Galley, Id, Pos2, Rect, Response, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of one line that are laid out; of a longer line it is the part in view.
const MAX_LINE_BYTES: usize = 4_000;

/// Bytes of a line up to which it can be scrolled to: beyond it single precision would make characters jump.
const MAX_SCROLL_BYTES: usize = 500_000;

/// What is drawn.
pub struct EditorLook<'a> {
    pub editor: &'a Editor,
    /// Distinguishes the scroll positions of different texts.
    pub key: &'a str,
    pub read_only: bool,
    /// Name for screen readers.
    pub label: &'a str,
    /// Scrolls so far down in this frame, in points.
    pub down: Option<f32>,
    /// The background of a line (one-based), where it is linked to something elsewhere.
    pub tint: &'a dyn Fn(u32) -> Option<egui::Color32>,
}

/// What the learner did in this frame.
pub struct EditorResponse {
    pub actions: Vec<EditorAction>,
    pub response: Response,
    /// How far down it is scrolled, in points.
    pub down: f32,
    /// The line under the pointer, one-based.
    pub hovered: Option<u32>,
}

/// The editor's widget, the same for every text, so that focus can be asked for by name.
pub fn editor_id() -> Id {
    Id::unique("code editor")
}

/// Sizes that depend on font and text.
pub(super) struct Metrics {
    pub font: FontId,
    pub row: f32,
    pub char_width: f32,
    pub gutter: f32,
    /// Width of the column with shares of the last run; 0 without a run.
    pub heat: f32,
}

/// The visible part, laid out.
pub(super) struct Page {
    /// Zero-based.
    pub lines: Range<usize>,
    /// The row of each line below the first one's; None for what is folded away.
    pub rows: Vec<Option<usize>>,
    pub galleys: Vec<Arc<Galley>>,
    /// Of each line: the byte at which its galley begins, and how far right of the origin that is.
    pub begins: Vec<(usize, f32)>,
    /// Screen position of the first visible line's top left.
    pub origin: Pos2,
}

impl Page {
    pub fn top_of(&self, line: usize, metrics: &Metrics) -> f32 {
        let index = line.saturating_sub(self.lines.start).min(self.rows.len().saturating_sub(1));
        // A hidden line is where its hint is, the nearest one above that is shown.
        let row = self.rows.get(..=index).and_then(|rows| rows.iter().rev().flatten().next());
        self.origin.y + row.map_or(0.0, |row| *row as f32) * metrics.row
    }

    /// Lines that are shown, with what is drawn of them.
    pub fn shown(&self) -> impl Iterator<Item = (usize, &Arc<Galley>)> {
        let lines = self.lines.clone().zip(&self.rows).zip(&self.galleys);
        lines.filter_map(|((line, row), galley)| row.map(|_| (line, galley)))
    }

    /// The line at a row below the first, if there is one.
    pub fn line_at(&self, row: usize) -> Option<usize> {
        Some(self.lines.start + self.rows.iter().position(|found| *found == Some(row))?)
    }

    /// Screen x of an offset on a visible line.
    pub fn x_of(&self, editor: &Editor, line: usize, offset: usize) -> Option<f32> {
        let index = line.checked_sub(self.lines.start)?;
        self.rows.get(index).copied()??;
        let galley = self.galleys.get(index)?;
        let (start, shift) = *self.begins.get(index)?;
        let column = editor.text().get(start..offset.max(start))?.chars().count();
        let cursor = egui::text::CCursor::new(column);
        Some(self.origin.x + shift + galley.pos_from_cursor(cursor).min.x)
    }
}

/// Draws the editor into all the space there is.
pub fn show(ui: &mut Ui, look: &EditorLook<'_>) -> EditorResponse {
    let t = theme::tokens(ui);
    let editor = look.editor;
    let id = editor_id();
    let metrics = metrics(ui, editor);
    let whole = ui.available_rect_before_wrap();
    ui.painter().rect_filled(whole, 0.0, t.inset);
    let gutter = Rect::from_min_size(whole.min, vec2(metrics.gutter, whole.height()));
    let body = Rect::from_min_max(pos2(gutter.right(), whole.top()), whole.max);

    let mut body_ui = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt("body"));
    // Fading edges would hide characters.
    body_ui.spacing_mut().scroll.fade.strength = 0.0;
    let mut actions = Vec::new();
    let mut area = egui::ScrollArea::both().id_salt(look.key).auto_shrink(false);
    if let Some(offset) = before_search(ui, editor, look.key) {
        area = area.scroll_offset(offset);
    } else if let Some(down) = look.down {
        area = area.vertical_scroll_offset(down);
        // The caret was put back too, which asks for no jump.
        ui.data_mut(|data| data.insert_temp(revealed_id(look.key), editor.reveal().generation));
    }
    let output = area.show_viewport(&mut body_ui, |ui, viewport| {
        let content = content_size(editor, &metrics, viewport.size());
        let (content_rect, _) = ui.allocate_exact_size(content, Sense::hover());
        let page = lay_out(ui, editor, t, &metrics, content_rect.min, viewport);
        let clip = ui.clip_rect();
        let response = ui.interact(clip.intersect(content_rect), id, Sense::click_and_drag());
        mouse(ui, editor, &metrics, &page, &response, &mut actions);
        let focused = response.has_focus();
        if focused {
            ui.memory_mut(|memory| memory.set_focus_lock_filter(id, input::KEPT_KEYS));
            let visible = (viewport.height() / metrics.row).floor() as usize;
            actions.extend(input::actions(ui, id, editor, visible.saturating_sub(1), look.read_only));
        } else if !look.read_only {
            actions.extend(input::requests(ui, id));
        }
        let cursor = cursor_rect(editor, &metrics, &page, content_rect.min);
        reveal(ui, editor, look.key, cursor);
        for (line, _) in page.shown() {
            if let Some(fill) = (look.tint)(line as u32 + 1) {
                let top = page.top_of(line, &metrics);
                ui.painter().rect_filled(Rect::from_x_y_ranges(clip.x_range(), top..=top + metrics.row), 0.0, fill);
            }
        }
        paint::body(ui, editor, t, &metrics, &page, focused);
        if focused && let Some(x) = page.x_of(editor, editor.buffer().line_of(editor.cursor()), editor.cursor()) {
            let rect = Rect::from_min_size(pos2(x, cursor.top()), vec2(1.0, metrics.row));
            paint::cursor(ui, editor, t, &metrics, rect);
            tell_input_method(ui, id, clip, rect);
            if editor.is_explaining() {
                popup::explanation(ui, id, editor, rect);
            }
        }
        if focused
            && !editor.is_explaining()
            && let Some(call) = editor.shown_call()
        {
            let line = editor.buffer().line_of(editor.cursor());
            // At its bracket where that is on the cursor's line: then the box stays while the arguments grow.
            let at = call.open.max(editor.buffer().line_range(line).start);
            let x = page.x_of(editor, line, at).unwrap_or(cursor.left());
            let place = Rect::from_min_size(pos2(x, cursor.top()), vec2(1.0, metrics.row));
            popup::parameters(ui, id, &call, place, editor.completion().is_some());
        }
        if let Some(list) = editor.completion() {
            let line = editor.buffer().line_of(editor.cursor());
            let x = page.x_of(editor, line, list.start).unwrap_or(cursor.left());
            let place = Rect::from_min_size(pos2(x, cursor.top()), vec2(1.0, metrics.row));
            let before = actions.len();
            let over = popup::completion(ui, id, list, place, &mut actions);
            if actions.len() > before {
                response.request_focus();
            } else if !focused && !over {
                actions.push(EditorAction::CloseCompletion);
            }
        }
        describe(ui, look, &response, &page, &metrics);
        (response, page)
    });
    if editor.find.from.is_none() {
        ui.data_mut(|data| data.insert_temp(scroll_id(look.key), output.state.clamped_offset()));
    }
    let down = output.state.unclamped_offset().y;
    let (mut response, page) = output.inner;
    paint::gutter(ui, editor, t, &metrics, &page, gutter, &mut actions);
    ui.advance_cursor_after_rect(whole);
    let hovered = response.hover_pos().and_then(|pos| {
        let row = (pos.y - page.origin.y) / metrics.row;
        page.line_at(if row < 0.0 { usize::MAX } else { row as usize }).map(|line| line as u32 + 1)
    });
    if response.hovered() {
        response = response.on_hover_cursor(egui::CursorIcon::Text);
        hover_message(editor, &metrics, &page, &response);
    }
    EditorResponse { actions, response, down, hovered }
}

fn metrics(ui: &Ui, editor: &Editor) -> Metrics {
    let font = theme::editor_font(ui);
    let (height, char_width) = ui.fonts_mut(|fonts| (fonts.row_height(&font), fonts.glyph_width(&font, '0')));
    let digits = editor.buffer().line_count().max(100).to_string().len() as f32;
    // Room for a mark on the left of the number and a gap on its right; after a run for the lines' shares too.
    let heat = if editor.marks.heat().is_empty() { 0.0 } else { paint::HEAT_WIDTH };
    let gutter = 22.0 + heat + digits * char_width + space::M + space::XS;
    Metrics { font, row: (height * 1.25).round(), char_width, gutter, heat }
}

fn content_size(editor: &Editor, metrics: &Metrics, viewport: Vec2) -> Vec2 {
    let longest = editor.buffer().longest_bytes().min(MAX_SCROLL_BYTES) as f32;
    let width = (longest + 2.0) * metrics.char_width;
    let height = editor.row_count() as f32 * metrics.row;
    // The last line can be scrolled up, so that one does not write at the window's edge.
    let spare = (viewport.y - 4.0 * metrics.row).clamp(0.0, 8.0 * metrics.row);
    // A click below a short text is one into the text.
    vec2(width.max(viewport.x), (height + spare).max(viewport.y))
}

fn lay_out(ui: &Ui, editor: &Editor, t: &Tokens, metrics: &Metrics, top_left: Pos2, viewport: Rect) -> Page {
    let count = editor.row_count();
    let first = ((viewport.top() / metrics.row).floor().max(0.0) as usize).min(count);
    let last = ((viewport.bottom() / metrics.row).ceil().max(0.0) as usize).min(count);
    let lines = if first < last { editor.line_of_row(first)..editor.line_of_row(last - 1) + 1 } else { 0..0 };
    let bytes = editor.buffer().line_range(lines.start).start
        ..editor.buffer().line_range(lines.end.saturating_sub(1).max(lines.start)).end;
    let (spans, pending) = editor.spans(bytes);
    if pending {
        ui.ctx().request_repaint_after(std::time::Duration::from_millis(30));
    }
    let begins: Vec<(usize, f32)> =
        lines.clone().map(|line| begin_of(editor, metrics, line, viewport.left())).collect();
    let galleys = lines
        .clone()
        .zip(&begins)
        .map(|(line, (begin, _))| {
            let range = *begin..editor.buffer().line_range(line).end;
            let end = editor.buffer().clamp(range.end.min(range.start + MAX_LINE_BYTES));
            let folded = editor.shown_end(line);
            let mut job = paint::line_job(editor.text(), range.start..folded.unwrap_or(end), &spans, t, &metrics.font);
            if folded.is_some() {
                job.append(" …", 0.0, egui::TextFormat::simple(metrics.font.clone(), t.text_faint));
            }
            ui.fonts_mut(|fonts| fonts.layout_job(job))
        })
        .collect();
    let rows = lines.clone().map(|line| (!editor.is_hidden(line)).then(|| editor.row_of(line) - first)).collect();
    let origin = pos2(top_left.x + space::XS, top_left.y + first as f32 * metrics.row);
    Page { origin, lines, rows, galleys, begins }
}

/// Where the part of a line begins that is laid out: the line's start, or a little left of the view in a long one.
fn begin_of(editor: &Editor, metrics: &Metrics, line: usize, left: f32) -> (usize, f32) {
    let range = editor.buffer().line_range(line);
    if range.len() <= MAX_LINE_BYTES {
        return (range.start, 0.0);
    }
    // A quarter of the part is left of the view, so that its other end is right of any view.
    let column = (left / metrics.char_width).max(0.0) as usize;
    let column = column.saturating_sub(MAX_LINE_BYTES / 4);
    let begin = editor.buffer().clamp((range.start + column).min(range.end));
    // Bytes stand for columns: a line so long is a table of numbers, and only the scroll bar's place depends on it.
    (begin, (begin - range.start) as f32 * metrics.char_width)
}

/// The cursor's place on the screen, also when it is outside the view.
fn cursor_rect(editor: &Editor, metrics: &Metrics, page: &Page, top_left: Pos2) -> Rect {
    let line = editor.buffer().line_of(editor.cursor());
    let laid_out = line.checked_sub(page.lines.start).and_then(|index| page.begins.get(index));
    let laid_out = laid_out.is_some_and(|(begin, _)| (*begin..=begin + MAX_LINE_BYTES).contains(&editor.cursor()));
    let x = page.x_of(editor, line, editor.cursor()).filter(|_| laid_out).unwrap_or_else(|| {
        let column = (editor.cursor() - editor.buffer().line_range(line).start).min(MAX_SCROLL_BYTES);
        top_left.x + space::XS + column as f32 * metrics.char_width
    });
    let top = top_left.y + editor.row_of(line) as f32 * metrics.row;
    Rect::from_min_size(pos2(x, top), vec2(2.0, metrics.row))
}

/// Where the view stood when no search was under way.
fn scroll_id(key: &str) -> Id {
    editor_id().with(("before the search", key))
}

/// The place that the view goes back to in this frame, when the search led nowhere or was left.
fn before_search(ui: &Ui, editor: &Editor, key: &str) -> Option<Vec2> {
    let wanted = editor.reveal();
    let done: u64 = ui.data(|data| data.get_temp(revealed_id(key))).unwrap_or(0);
    (wanted.to == Show::Before && wanted.generation != done).then(|| ui.data(|data| data.get_temp(scroll_id(key))))?
}

fn revealed_id(key: &str) -> Id {
    editor_id().with(("revealed", key))
}

/// Scrolls to the cursor when the editor asks for it. Done once per request: afterwards the wheel is free.
fn reveal(ui: &Ui, editor: &Editor, key: &str, cursor: Rect) {
    let wanted = editor.reveal();
    let memory_id = revealed_id(key);
    let done: u64 = ui.data(|data| data.get_temp(memory_id)).unwrap_or(0);
    if wanted.generation == done {
        return;
    }
    ui.data_mut(|data| data.insert_temp(memory_id, wanted.generation));
    // The scroll area was told already.
    if wanted.to == Show::Before {
        return;
    }
    let center = wanted.to == Show::Center;
    let rect = cursor.expand2(vec2(32.0, if center { 0.0 } else { cursor.height() }));
    let align = center.then_some(Align::Center);
    ui.scroll_to_rect_animation(rect, align, egui::style::ScrollAnimation::none());
}

fn offset_at(editor: &Editor, metrics: &Metrics, page: &Page, pos: Pos2) -> usize {
    let row = ((pos.y - page.origin.y) / metrics.row).floor() as isize;
    if row < 0 && page.lines.start == 0 {
        return 0;
    }
    // Outside the view, while dragging, folds do not matter.
    let on_page = usize::try_from(row).ok().and_then(|row| page.line_at(row));
    let line = on_page.unwrap_or_else(|| match row {
        row if row < 0 => page.lines.start.saturating_add_signed(row),
        row => page.lines.end + (row as usize).saturating_sub(page.rows.iter().flatten().count()),
    });
    if line >= editor.buffer().line_count() {
        return editor.text().len();
    }
    match page.galleys.get(line - page.lines.start.min(line)) {
        Some(galley) if page.lines.contains(&line) => {
            let (begin, shift) = page.begins[line - page.lines.start];
            let column = galley.cursor_from_pos(vec2(pos.x - page.origin.x - shift, metrics.row / 2.0)).index.0;
            let end = editor.buffer().line_range(line).end;
            let rest = &editor.text()[begin..end];
            rest.char_indices().nth(column).map_or(end, |(at, _)| begin + at)
        }
        _ => editor.buffer().offset_at(line, 0),
    }
}

fn mouse(
    ui: &Ui,
    editor: &Editor,
    metrics: &Metrics,
    page: &Page,
    response: &Response,
    actions: &mut Vec<EditorAction>,
) {
    let Some(pos) = response.interact_pointer_pos() else {
        return;
    };
    let offset = offset_at(editor, metrics, page, pos);
    let (pressed, shift) = ui.input(|input| (input.pointer.primary_pressed(), input.modifiers.shift));
    if response.triple_clicked() {
        actions.push(EditorAction::SelectLine(editor.buffer().line_of(offset)));
    } else if response.double_clicked() {
        actions.push(EditorAction::SelectWord(offset));
    } else if pressed && (response.is_pointer_button_down_on() || response.clicked()) {
        // The tap of a touchpad may be pressed and released within one frame.
        response.request_focus();
        actions.push(EditorAction::Place { offset, extend: shift });
    } else if response.dragged_by(egui::PointerButton::Primary) && offset != editor.cursor() {
        actions.push(EditorAction::Place { offset, extend: true });
    } else if response.clicked() && !response.has_focus() {
        // A click of a screen reader or a test has no press before it.
        response.request_focus();
    }
    let middle = ui.input(|input| {
        input.events.iter().find_map(|event| match event {
            egui::Event::MiddleClickPaste { text, .. } => Some(text.clone()),
            _ => None,
        })
    });
    if let Some(text) = middle {
        actions.push(EditorAction::Place { offset, extend: false });
        actions.push(EditorAction::Paste(text));
    }
}

fn tell_input_method(ui: &Ui, id: Id, rect: Rect, cursor_rect: Rect) {
    if ui.memory(|memory| memory.owns_ime_events(id)) {
        ui.output_mut(|output| {
            output.ime = Some(egui::output::IMEOutput {
                purpose: egui::IMEPurpose::Normal,
                rect,
                cursor_rect,
                should_interrupt_composition: false,
            });
        });
    }
}

/// Role, value, cursor and visible lines for screen readers and tests.
fn describe(ui: &Ui, look: &EditorLook<'_>, response: &Response, page: &Page, metrics: &Metrics) {
    let editor = look.editor;
    response.widget_info(|| {
        let mut info = WidgetInfo::text_edit(!look.read_only, editor.text(), editor.text(), "");
        info.label = Some(look.label.to_owned());
        info
    });
    let active = ui.ctx().accesskit_node_builder(response.id, |builder| {
        builder.set_role(egui::accesskit::Role::MultilineTextInput);
        builder.set_label(look.label);
    });
    if active.is_none() || page.lines.is_empty() {
        return;
    }
    let buffer = editor.buffer();
    let range = buffer.line_range(page.lines.start).start..buffer.line_range(page.lines.end - 1).end;
    let mut job = paint::line_job(editor.text(), range.clone(), &[], theme::tokens(ui), &metrics.font);
    job.break_on_newline = true;
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    let (anchor, head) = editor.selection_ends();
    let column = |offset: usize| {
        let offset = offset.clamp(range.start, range.end);
        egui::text::CCursor::new(editor.text()[range.start..offset].chars().count())
    };
    let cursor = egui::text_selection::CCursorRange::two(column(anchor), column(head));
    let place = egui::emath::TSTransform::from_translation(page.origin.to_vec2());
    egui::text_selection::accesskit_text::update_accesskit_for_text_widget(
        ui.ctx(),
        response.id,
        Some(cursor),
        place,
        &galley,
    );
}

/// What is known about the place where the pointer rests.
fn hover_message(editor: &Editor, metrics: &Metrics, page: &Page, response: &Response) {
    let Some(pos) = response.hover_pos() else { return };
    let row = (pos.y - page.origin.y) / metrics.row;
    if row < 0.0 || editor.completion().is_some() || editor.is_explaining() {
        return;
    }
    let Some(line) = page.line_at(row as usize) else { return };
    let offset = offset_at(editor, metrics, page, pos);
    // Beyond the end of the line no word is meant.
    let end = page.x_of(editor, line, editor.buffer().line_range(line).end).unwrap_or(f32::INFINITY);
    popup::hover(editor, line, (pos.x <= end).then_some(offset), response);
}
