//! Small parts that every panel uses, so that they look the same everywhere.

pub use crate::amounts::{counted, grouped, time};
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::icons::{self, Icon};
use crate::theme::{self, Tokens, radius, space};
use crate::widgets::focus;
pub use crate::widgets::sides::sides;
use egui::{Button, Color32, CornerRadius, Frame, Margin, Response, RichText, Ui, vec2};

/// A button for an action: icon, tooltip and shortcut come from the table.
pub fn action_button(ui: &mut Ui, action: Action, text: &str, primary: bool, enabled: bool) -> Option<Command> {
    let response = action_response(ui, action, text, primary, enabled);
    response.clicked().then_some(Command::Do(action))
}

/// As [`action_button`], for callers that need the response.
pub fn action_response(ui: &mut Ui, action: Action, text: &str, primary: bool, enabled: bool) -> Response {
    let tooltip = action.tooltip(ui.ctx());
    let response = match (primary, action.icon()) {
        (true, icon) => focus::primary_with(ui, icon, text, enabled),
        (false, Some(icon)) => ui.add_enabled(enabled, Button::new((icons::atom(icon), text))),
        (false, None) => ui.add_enabled(enabled, Button::new(text)),
    };
    response.on_hover_text(&tooltip).on_disabled_hover_text(&tooltip)
}

/// A quiet label in a rounded box.
pub fn chip(ui: &mut Ui, text: &str, color: Color32, fill: Color32) -> Response {
    let frame = Frame::new()
        .fill(fill)
        .corner_radius(radius::SMALL)
        .inner_margin(Margin::symmetric(space::S as i8, space::XXS as i8));
    frame.show(ui, |ui| ui.label(RichText::new(text).small().color(color))).response
}

/// A box with a coloured edge for a message that matters.
pub fn notice(ui: &mut Ui, fill: Color32, edge: Color32, contents: impl FnOnce(&mut Ui)) {
    let frame = Frame::new()
        .fill(fill)
        .corner_radius(radius::MEDIUM)
        .inner_margin(Margin { left: space::L as i8 + 2, ..Margin::same(space::M as i8) });
    let response = frame
        .show(ui, |ui| {
            ui.take_available_width();
            contents(ui);
        })
        .response;
    let rect = response.rect;
    // A projector shows hardly a difference of two fills: there an outline holds the box together.
    if theme::is_high_contrast(ui) {
        let stroke = egui::Stroke::new(1.0, theme::tokens(ui).border);
        ui.painter().rect_stroke(rect, radius::MEDIUM, stroke, egui::StrokeKind::Inside);
    }
    let bar = egui::Rect::from_min_max(rect.min, egui::pos2(rect.left() + 4.0, rect.bottom()));
    let corner = CornerRadius { nw: radius::MEDIUM, sw: radius::MEDIUM, ne: 0, se: 0 };
    ui.painter().rect_filled(bar, corner, edge);
}

/// Edge of the icon of an empty pane, in points.
const EMPTY_ICON: f32 = 40.0;

/// Height in points from which an empty pane has room for its icon.
const EMPTY_ROOM: f32 = 150.0;

/// What a pane says when it has nothing to show: its icon, a title and what to do.
pub fn empty(ui: &mut Ui, icon: Icon, title: &str, text: &str) {
    let t = theme::tokens(ui);
    ui.vertical_centered(|ui| {
        ui.add_space(((ui.available_height() - EMPTY_ICON) * 0.25).clamp(space::M, 96.0));
        if ui.available_height() > EMPTY_ROOM {
            let (rect, _) = ui.allocate_exact_size(vec2(EMPTY_ICON, EMPTY_ICON), egui::Sense::hover());
            icons::paint(ui.painter(), rect.center(), EMPTY_ICON, icon, t.border_strong);
        }
        ui.label(RichText::new(title).bold().color(t.text));
        ui.label(RichText::new(text).color(t.text_muted));
    });
}

/// Three dots that light up in turn: something is under way. The run's own clock redraws it, nothing else does.
pub fn busy(ui: &mut Ui) {
    let t = theme::tokens(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(26.0, 14.0), egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Status, true, "Busy"));
    let lit = (ui.input(|input| input.time) * 3.0) as usize % 3;
    for dot in 0..3 {
        let center = egui::pos2(rect.left() + 5.0 + 8.0 * dot as f32, rect.center().y);
        let color = if dot == lit { t.accent } else { t.border_strong };
        ui.painter().circle_filled(center, if dot == lit { 3.5 } else { 2.5 }, color);
    }
}

/// A small heading above a group.
pub fn caption(ui: &mut Ui, text: &str) {
    let t = theme::tokens(ui);
    ui.label(RichText::new(text).small().bold().color(t.text_muted));
}

/// As [`caption`], with an icon before it.
pub fn icon_caption(ui: &mut Ui, icon: Icon, color: Color32, text: &str) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        icons::show(ui, icon, color);
        caption(ui, text);
    });
}

/// An icon, and beside it words that wrap without running under it.
pub fn with_icon(ui: &mut Ui, icon: Icon, color: Color32, contents: impl FnOnce(&mut Ui)) {
    ui.horizontal_top(|ui| {
        // On the first line of the words, whose links make it higher than its letters.
        let row = vec2(icons::SIZE, ui.spacing().interact_size.y);
        let (rect, _) = ui.allocate_exact_size(row, egui::Sense::hover());
        icons::paint(ui.painter(), rect.center(), icons::SIZE, icon, color);
        ui.vertical(|ui| ui.horizontal_wrapped(contents));
    });
}

/// A button with an icon before its words.
pub fn icon_button(ui: &mut Ui, icon: Icon, text: impl Into<egui::WidgetText>) -> Response {
    ui.add(Button::new((icons::atom(icon), text.into())))
}

/// A key as it looks on a keyboard.
pub fn key_cap(ui: &mut Ui, text: &str) -> Response {
    let t = theme::tokens(ui);
    let frame = Frame::new()
        .fill(t.inset)
        .stroke(egui::Stroke::new(1.0, t.border_strong))
        .corner_radius(radius::SMALL)
        .inner_margin(Margin::symmetric(space::S as i8, 0));
    frame.show(ui, |ui| ui.label(RichText::new(text).monospace().small().color(t.text))).response
}

/// Name and value, in two columns of a grid row.
pub fn fact(ui: &mut Ui, name: &str, value: impl Into<String>) {
    let t = theme::tokens(ui);
    ui.label(RichText::new(name).color(t.text_muted));
    ui.label(RichText::new(value).color(t.text));
    ui.end_row();
}

/// The symbol and colour of an outcome.
pub fn outcome(t: &Tokens, passed: bool) -> (&'static str, Color32) {
    if passed { ("✔", t.pass) } else { ("✖", t.fail) }
}

/// A number as a learner would write it: as many digits as tell it apart.
pub fn number(value: f64) -> String {
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.4e}")
    }
}

/// A figure of a run: whole numbers with separators.
pub fn quantity(value: f64) -> String {
    let is_whole = value.fract() == 0.0 && (0.0..1e15).contains(&value);
    if is_whole { grouped(value as u64) } else { number(value) }
}

/// A milestone, and how what was measured or counted stands to it; None where that cannot be told.
pub fn milestone(ui: &mut Ui, name: &str, reached: Option<bool>, because: &str) {
    let t = theme::tokens(ui);
    let (mark, color) = match reached {
        Some(true) => ("✔ reached", t.pass),
        Some(false) => ("not yet", t.warn),
        None => ("open", t.text_muted),
    };
    ui.horizontal_wrapped(|ui| {
        // A table above it may be wider than the pane; these words wrap at what can be seen.
        ui.set_max_width((ui.clip_rect().right() - ui.cursor().left() - space::M).max(200.0));
        ui.label(RichText::new(name).bold());
        ui.label(RichText::new(mark).color(color));
        ui.label(RichText::new(because).small().color(t.text_muted));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!((grouped(0), grouped(999), grouped(1000)), ("0".into(), "999".into(), "1,000".into()));
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!((time(12.4), time(1234.0), time(3.2e9)), ("12 ns".into(), "1.23 µs".into(), "3.20 s".into()));
        assert_eq!((number(0.0), number(1.5), number(-2.0)), ("0".into(), "1.5".into(), "-2".into()));
        assert_eq!((quantity(16384.0), quantity(0.25), quantity(-2.0)), ("16,384".into(), "0.25".into(), "-2".into()));
        assert_eq!((number(1e-9), number(f64::NAN)), ("1.0000e-9".into(), "NaN".into()));
    }
}
