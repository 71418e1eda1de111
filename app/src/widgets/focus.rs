//! Where the keyboard is: always in sight, and always seen.

use crate::fonts::Bold;
use crate::icons::{self, Icon};
use crate::theme::{self, radius};
use egui::{Button, Context, Id, Response, RichText, Stroke, Ui};

/// The control that has got the keyboard since the frame before.
#[derive(Clone, Copy, Default)]
struct Moved {
    now: Option<Id>,
    is_new: bool,
}

fn key() -> Id {
    Id::unique("where the keyboard is")
}

/// Notes where the keyboard went. Called once before anything is drawn.
pub fn note(ctx: &Context) {
    let now = ctx.memory(|memory| memory.focused());
    ctx.data_mut(|data| {
        let before: Moved = data.get_temp(key()).unwrap_or_default();
        data.insert_temp(key(), Moved { now, is_new: now != before.now });
    });
}

/// Asks for another frame when the keyboard moved in this one, so that it is followed. Called after all is drawn.
pub fn check(ctx: &Context) {
    let noted: Moved = ctx.data(|data| data.get_temp(key())).unwrap_or_default();
    if noted.now != ctx.memory(|memory| memory.focused()) {
        ctx.request_repaint();
    }
}

/// Scrolls to the control that has just got the keyboard, which egui leaves out of sight. Called at the end of what a
/// scroll area holds.
pub fn follow(ui: &Ui) {
    let moved: Moved = ui.data(|data| data.get_temp(key())).unwrap_or_default();
    let Some(id) = moved.now.filter(|_| moved.is_new) else { return };
    let Some(response) = response_of(ui, id) else { return };
    let inside = ui.min_rect().contains(response.rect.center()) && response.layer_id == ui.layer_id();
    // A large one, such as an editor, is not to be jumped about in.
    let fits = response.rect.height() < ui.clip_rect().height();
    if inside && fits && !ui.clip_rect().contains_rect(response.rect) {
        ui.scroll_to_rect_animation(response.rect.expand(12.0), None, egui::style::ScrollAnimation::none());
    }
}

/// What is known of a control by its number. Nothing while a button of the mouse goes down or up: egui takes the keyboard
/// from what is asked about then and is not under the mouse.
pub fn response_of(ui: &Ui, id: Id) -> Option<Response> {
    let clicks = ui.input(|input| input.pointer.any_pressed() || input.pointer.any_released());
    if clicks { None } else { ui.ctx().read_response(id) }
}

/// The one thing to press. The ring that says where the keyboard is stands around it: on it none would be seen.
pub fn primary(ui: &mut Ui, text: &str, enabled: bool) -> Response {
    primary_with(ui, None, text, enabled)
}

/// As [`primary`], with an icon before its words.
pub fn primary_with(ui: &mut Ui, icon: Option<Icon>, text: &str, enabled: bool) -> Response {
    let t = theme::tokens(ui);
    let mut atoms = egui::Atoms::default();
    let button = if enabled {
        if let Some(icon) = icon {
            atoms.push_right(icons::colored(icon, t.on_accent));
        }
        atoms.push_right(RichText::new(text).color(t.on_accent).bold());
        Button::new(atoms).fill(t.accent).stroke(Stroke::new(1.0, t.accent))
    } else {
        if let Some(icon) = icon {
            atoms.push_right(icons::atom(icon));
        }
        atoms.push_right(text.to_owned());
        Button::new(atoms)
    };
    let response = ui.add_enabled(enabled, button);
    ring(ui, &response);
    response
}

/// A ring around a control whose own look does not change when it has the keyboard.
pub fn ring(ui: &Ui, response: &Response) {
    if response.has_focus() {
        let corner = f32::from(radius::MEDIUM) + 2.0;
        let stroke = Stroke::new(1.5, theme::tokens(ui).text);
        ui.painter().rect_stroke(response.rect.expand(2.5), corner, stroke, egui::StrokeKind::Inside);
    }
}
