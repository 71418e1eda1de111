//! The editor on the screen: a gutter that stays and lines that scroll. Only visible lines are laid out.

use super::page::{Page, lay_out};
use super::wraps::{LEAST_COLUMNS, Wraps};
use super::{Editor, EditorAction, Show, input, paint, popup};
use crate::theme::{self, space};
use egui::{Align, FontId, Id, Pos2, Rect, Response, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

/// Bytes of a line up to which it can be scrolled to: beyond it single precision would make characters jump.
const MAX_SCROLL_BYTES: usize = 500_000;

/// Width in points from which there is always room for the lines' shares.
const WIDE: f32 = 520.0;

/// What is drawn.
pub struct EditorLook<'a> {
    pub editor: &'a Editor,
    /// Distinguishes the scroll positions of different texts.
    pub key: &'a str,
    pub read_only: bool,
    /// Name for screen readers.
    pub label: &'a str,
    /// Long lines are broken at the edge.
    pub wrap: bool,
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
        let columns = ((viewport.width() - 2.0 * space::L) / metrics.char_width).max(0.0) as usize;
        editor.wrap_columns.set(look.wrap.then_some(columns.max(LEAST_COLUMNS)));
        let wraps = editor.wrap_columns.get().map(|columns| editor.wraps(columns));
        let content = content_size(editor, &metrics, wraps.as_deref(), viewport.size());
        let (content_rect, _) = ui.allocate_exact_size(content, Sense::hover());
        let page = lay_out(ui, editor, t, &metrics, wraps, (content_rect.min, viewport));
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
        for line in page.shown() {
            if let Some(fill) = (look.tint)(line as u32 + 1) {
                ui.painter().rect_filled(
                    Rect::from_x_y_ranges(clip.x_range(), page.span_of(line, &metrics)),
                    0.0,
                    fill,
                );
            }
        }
        paint::body(ui, editor, t, &metrics, &page, focused);
        if focused && let Some(rect) = page.place_of(editor, editor.cursor(), &metrics) {
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
            let place = page.place_of(editor, at, &metrics).unwrap_or(cursor);
            popup::parameters(ui, id, &call, place, editor.completion().is_some());
        }
        if let Some(list) = editor.completion() {
            let place = page.place_of(editor, list.start, &metrics).unwrap_or(cursor);
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
    paint::heads(ui, editor, t, &metrics, &page, whole, &mut actions);
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
    // Room for a mark on the left of the number and a gap on its right, and for the lines' shares: also before the first
    // run, so that the text stays where it is. A narrow editor has none to spare.
    let is_wide = ui.available_width() >= WIDE;
    let heat = if editor.marks.heat().is_empty() && !is_wide { 0.0 } else { paint::HEAT_WIDTH };
    let gutter = 22.0 + heat + digits * char_width + paint::FOLD_WIDTH;
    Metrics { font, row: (height * 1.25).round(), char_width, gutter, heat }
}

fn content_size(editor: &Editor, metrics: &Metrics, wraps: Option<&Wraps>, viewport: Vec2) -> Vec2 {
    let longest = if wraps.is_some() { 0 } else { editor.buffer().longest_bytes().min(MAX_SCROLL_BYTES) } as f32;
    let width = (longest + 2.0) * metrics.char_width;
    let height = wraps.map_or_else(|| editor.row_count(), Wraps::len) as f32 * metrics.row;
    // The last line can be scrolled up, so that one does not write at the window's edge.
    let spare = (viewport.y - 4.0 * metrics.row).clamp(0.0, 8.0 * metrics.row);
    // A click below a short text is one into the text.
    vec2(width.max(viewport.x), (height + spare).max(viewport.y))
}

/// The cursor's place on the screen, also when it is outside the view.
fn cursor_rect(editor: &Editor, metrics: &Metrics, page: &Page, top_left: Pos2) -> Rect {
    let at = editor.cursor();
    let line = editor.buffer().line_of(at);
    let row = page.wraps.as_ref().map_or_else(|| editor.row_of(line), |wraps| wraps.row_of(at));
    let known = page.place_of(editor, at, metrics);
    let x = known.map_or_else(
        || {
            let start = match &page.wraps {
                Some(wraps) => wraps.bytes_of(editor, row).start,
                None => editor.buffer().line_range(line).start,
            };
            let column = at.saturating_sub(start).min(MAX_SCROLL_BYTES);
            top_left.x + space::XS + column as f32 * metrics.char_width
        },
        |place| place.left(),
    );
    Rect::from_min_size(pos2(x, top_left.y + row as f32 * metrics.row), vec2(2.0, metrics.row))
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
    let offset = page.offset_at(editor, metrics, pos);
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
    let Some(found) = page.rows.get(row as usize) else { return };
    let offset = page.offset_at(editor, metrics, pos);
    // Beyond the end of the line no word is meant.
    let end = page.x_on(editor, row as usize, found.bytes.end);
    popup::hover(editor, found.line, (pos.x <= end).then_some(offset), response);
}
