//! What floats over the code: the list of completions, and the documentation of a word.

use super::{Call, Completion, Editor, EditorAction, MarkKind, paint, signature};
use crate::builtins::Builtin;
use crate::theme::{self, Tokens, font_size, space};
use egui::{
    Align2, FontId, Frame, Id, Label, Order, Rect, Response, RichText, ScrollArea, Sense, Ui, WidgetInfo, vec2,
};

/// Rows of the list that are seen at once.
const ROWS: usize = 8;
const LIST_WIDTH: f32 = 380.0;
const DOC_WIDTH: f32 = 440.0;

/// The list at the cursor. True while the pointer is over it.
pub(super) fn completion(ui: &Ui, id: Id, list: &Completion, cursor: Rect, actions: &mut Vec<EditorAction>) -> bool {
    let t = theme::tokens(ui);
    let row = ui.text_style_height(&egui::TextStyle::Monospace) + space::XS;
    let shown = list.items.len().min(ROWS);
    let height = row * shown as f32 + 84.0;
    let area = placed(ui, id.with("completion"), cursor, height).show(ui.ctx(), |ui| {
        Frame::popup(ui.style()).inner_margin(space::XS).show(ui, |ui| {
            ui.set_width(LIST_WIDTH);
            ui.spacing_mut().item_spacing.y = 0.0;
            // Fading edges would hide a word.
            ui.spacing_mut().scroll.fade.strength = 0.0;
            ScrollArea::vertical().max_height(row * ROWS as f32).id_salt("words").show(ui, |ui| {
                for (index, item) in list.items.iter().enumerate() {
                    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), row), Sense::click());
                    let chosen = index == list.chosen;
                    response.widget_info(|| WidgetInfo::selected(egui::Role::ListBoxOption, true, chosen, &item.text));
                    if chosen {
                        response.scroll_to_me(None);
                    }
                    if ui.is_rect_visible(rect) {
                        row_ui(ui, t, rect, item.builtin, &item.text, chosen, response.hovered());
                    }
                    if response.clicked() {
                        actions.push(EditorAction::AcceptCompletion(Some(index)));
                    }
                }
            });
            if let Some(builtin) = list.choice().and_then(|item| item.builtin) {
                ui.separator();
                builtin_ui(ui, t, builtin);
            }
            ui.add_space(space::XXS);
            ui.label(
                RichText::new("↑ ↓ choose · Tab or Enter takes it · Esc closes")
                    .size(font_size::SMALL)
                    .color(t.text_faint),
            );
        });
    });
    area.response.contains_pointer()
}

fn row_ui(ui: &Ui, t: &Tokens, rect: Rect, builtin: Option<&Builtin>, text: &str, chosen: bool, hovered: bool) {
    if chosen || hovered {
        ui.painter().rect_filled(rect, 3.0, if chosen { t.accent_soft } else { t.hover });
    }
    let font = theme::editor_font(ui);
    let (letter, color) = match builtin {
        Some(builtin) => (builtin.kind.letter(), t.syntax.builtin),
        None => ("·", t.text_muted),
    };
    let place = rect.left_center() + vec2(space::S, 0.0);
    ui.painter().text(place, Align2::LEFT_CENTER, letter, font.clone(), color);
    let right = ui.painter().text(place + vec2(18.0, 0.0), Align2::LEFT_CENTER, text, font, t.text).right();
    if let Some(builtin) = builtin {
        let room = rect.right() - right - space::L - space::S;
        if room > 40.0 {
            let font = FontId::new(font_size::SMALL, egui::FontFamily::Proportional);
            let mut job = egui::text::LayoutJob::simple_singleline(builtin.doc.to_owned(), font, t.text_muted);
            job.wrap = egui::text::TextWrapping::truncate_at_width(room);
            let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
            let place = egui::pos2(right + space::L, rect.center().y - galley.size().y / 2.0);
            ui.painter().galley(place, galley, t.text_muted);
        }
    }
}

/// Below the cursor's line, or above it where there is no room below.
fn placed(ui: &Ui, id: Id, cursor: Rect, height: f32) -> egui::Area {
    let screen = ui.ctx().content_rect();
    let below = cursor.bottom() + height < screen.bottom();
    let (pivot, place) =
        if below { (Align2::LEFT_TOP, cursor.left_bottom()) } else { (Align2::LEFT_BOTTOM, cursor.left_top()) };
    egui::Area::new(id).order(Order::Foreground).pivot(pivot).fixed_pos(place).constrain(true).sense(Sense::hover())
}

/// What the call around the cursor takes, above its line: the list of words opens below. The cursor's own parameter
/// is strong.
pub(super) fn parameters(ui: &Ui, id: Id, call: &Call, cursor: Rect, list_open: bool) {
    let t = theme::tokens(ui);
    let above = cursor.top() - ui.ctx().content_rect().top() > 90.0;
    if !above && list_open {
        return;
    }
    let (pivot, place) =
        if above { (Align2::LEFT_BOTTOM, cursor.left_top()) } else { (Align2::LEFT_TOP, cursor.left_bottom()) };
    let area = egui::Area::new(id.with("parameters")).order(Order::Foreground).pivot(pivot).fixed_pos(place);
    area.constrain(true).interactable(false).show(ui.ctx(), |ui| {
        Frame::popup(ui.style()).inner_margin(space::S).show(ui, |ui| {
            ui.set_max_width(DOC_WIDTH);
            let builtin = call.builtin;
            let chosen = call.parameter();
            let font = FontId::new(font_size::CODE, egui::FontFamily::Monospace);
            let mut job = egui::text::LayoutJob::default();
            let mut add = |text: &str, color, strong: bool| {
                let mut format = egui::TextFormat::simple(font.clone(), color);
                if strong {
                    format.underline = egui::Stroke::new(1.5, t.accent);
                    format.background = t.accent_soft;
                }
                job.append(text, 0.0, format);
            };
            match chosen.clone() {
                Some(range) => {
                    add(&builtin.signature[..range.start], t.text_muted, false);
                    add(&builtin.signature[range.clone()], t.text, true);
                    add(&builtin.signature[range.end..], t.text_muted, false);
                }
                None => add(builtin.signature, t.text_muted, false),
            }
            let count = signature::parameters(builtin).map_or(0, |all| all.len());
            let response = ui.add(Label::new(job).wrap());
            let spoken = match &chosen {
                Some(range) => format!(
                    "Parameter {} of {count}, {}, of {}",
                    call.argument + 1,
                    &builtin.signature[range.clone()],
                    builtin.name
                ),
                None if count < call.argument + 1 && call.argument > 0 => format!("{} takes {count}", builtin.name),
                None => builtin.signature.to_owned(),
            };
            response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, &spoken));
            ui.ctx().accesskit_node_builder(response.id, |node| node.set_live(egui::accesskit::Live::Polite));
            if chosen.is_none() && call.argument > 0 {
                let text = format!("⚠ It takes {count} argument{}.", if count == 1 { "" } else { "s" });
                ui.label(RichText::new(text).size(font_size::SMALL).color(t.warn));
            }
            ui.add(Label::new(RichText::new(builtin.doc).size(font_size::SMALL).color(t.text_muted)).wrap());
        });
    });
}

/// Signature, documentation and where to read on.
pub(super) fn builtin_ui(ui: &mut Ui, t: &Tokens, builtin: &Builtin) {
    let font = FontId::new(font_size::CODE, egui::FontFamily::Monospace);
    ui.add(Label::new(RichText::new(builtin.signature).font(font).color(t.syntax.builtin)).wrap());
    ui.add(Label::new(RichText::new(builtin.doc).color(t.text)).wrap());
    ui.add(Label::new(RichText::new(builtin.place()).size(font_size::SMALL).color(t.text_muted)).wrap());
}

/// What is known about a place: marks of its line, figures of its last run, documentation of its word.
pub(super) struct Known<'a> {
    marks: Vec<(MarkKind, &'a str)>,
    heat: Option<&'a str>,
    builtin: Option<&'static Builtin>,
}

impl<'a> Known<'a> {
    /// `word` is an offset in the word that is meant.
    pub fn at(editor: &'a Editor, line: usize, word: Option<usize>) -> Option<Self> {
        let marks: Vec<_> = editor.marks.on_line(line as u32 + 1);
        let marks = marks.into_iter().map(|mark| (mark.kind, mark.message.as_str())).collect();
        let heat = editor.marks.heat_of(line as u32 + 1).map(|heat| heat.text.as_str());
        let range = word.map(|offset| editor.buffer().word_at(offset));
        let builtin = range.and_then(|range| crate::builtins::find(&editor.text()[range]));
        let known = Self { marks, heat, builtin };
        (!known.marks.is_empty() || known.builtin.is_some() || (word.is_some() && known.heat.is_some()))
            .then_some(known)
    }

    pub fn ui(&self, ui: &mut Ui) {
        let t = theme::tokens(ui);
        ui.set_max_width(DOC_WIDTH);
        for (kind, message) in &self.marks {
            let text = format!("{} {message}", kind.symbol());
            ui.add(Label::new(crate::widgets::sentence::job(ui, &text, paint::mark_color(t, *kind))).wrap());
        }
        if let Some(builtin) = self.builtin {
            if !self.marks.is_empty() {
                ui.separator();
            }
            builtin_ui(ui, t, builtin);
        }
        if let Some(heat) = self.heat {
            if !self.marks.is_empty() || self.builtin.is_some() {
                ui.separator();
            }
            ui.add(Label::new(RichText::new(heat).size(font_size::SMALL).color(t.text_muted)).wrap());
        }
    }
}

/// The explanation that was asked for by key, at the cursor.
pub(super) fn explanation(ui: &Ui, id: Id, editor: &Editor, cursor: Rect) {
    let line = editor.buffer().line_of(editor.cursor());
    let known = Known::at(editor, line, Some(editor.cursor()));
    placed(ui, id.with("explanation"), cursor, 140.0).show(ui.ctx(), |ui| {
        Frame::popup(ui.style()).inner_margin(space::M).show(ui, |ui| match &known {
            Some(known) => known.ui(ui),
            None => {
                ui.label("No help for this word: it is not one of CUDA's, and there is no message on its line.");
            }
        });
    });
}

/// The same for the place under the pointer.
pub(super) fn hover(editor: &Editor, line: usize, offset: Option<usize>, response: &Response) {
    if let Some(known) = Known::at(editor, line, offset) {
        response.clone().on_hover_ui_at_pointer(|ui| known.ui(ui));
    }
}
