//! Boxes to tick and choices of one: outlined, so that an empty one is seen on every surface.

use crate::theme;
use egui::{Response, Ui};

/// A box to tick.
pub fn checkbox(ui: &mut Ui, on: &mut bool, text: &str) -> Response {
    outlined(ui, |ui| ui.checkbox(on, text))
}

/// One of several choices.
pub fn radio<T: PartialEq>(ui: &mut Ui, chosen: &mut T, value: T, text: &str) -> Response {
    outlined(ui, |ui| ui.radio_value(chosen, value, text))
}

/// egui draws these in the look of its buttons, whose outline is quiet because they have words on them.
fn outlined(ui: &mut Ui, contents: impl FnOnce(&mut Ui) -> Response) -> Response {
    let t = theme::tokens(ui);
    let (look, wrap) = (ui.visuals().widgets.inactive, ui.style().wrap_mode);
    // No scope: in a row that wraps, a box goes to the next row with its words, and in one piece.
    ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
    let inactive = &mut ui.visuals_mut().widgets.inactive;
    inactive.bg_fill = t.inset;
    inactive.bg_stroke.color = t.border_strong;
    let response = contents(ui);
    ui.visuals_mut().widgets.inactive = look;
    ui.style_mut().wrap_mode = wrap;
    response
}
