//! What is wider than its place: moved by wheel, bar and fingers, and by keys once Tab has come to it.

use super::focus;
use crate::theme::{self, font_size, radius, space};
use egui::style::ScrollAnimation;
use egui::{
    Align2, EventFilter, FontId, Id, Key, Modifiers, Rect, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2,
};
use std::fmt::Debug;
use std::hash::Hash;

/// Points that an arrow key moves by: a short column.
const STEP: f32 = 60.0;

/// Further than anything is wide; the scroll area stops at its end.
const FAR: f32 = 100_000.0;

/// Size of the sign on an edge beyond which there is more.
const SIGN: [f32; 2] = [16.0, 22.0];

/// A thing that may be wider than its place.
pub struct Sideways<'a> {
    /// What a screen reader calls it, such as `Table`.
    pub name: &'a str,
    /// The room there is.
    pub width: f32,
    /// Show on which side there is more, where nothing that is cut off would say so.
    pub signs: bool,
}

impl Sideways<'_> {
    pub fn show(&self, ui: &mut Ui, salt: impl Hash + Debug + Copy, contents: impl FnOnce(&mut Ui)) {
        let id = ui.scope_id().with(("sideways", salt));
        let area = ScrollArea::horizontal().id_salt(salt).max_width(self.width);
        let by = keys(ui, id);
        let shown = area.show(ui, |ui| {
            contents(ui);
            if by != 0.0 {
                ui.scroll_with_delta_animation(vec2(-by, 0.0), ScrollAnimation::none());
            }
        });
        let mut place = shown.inner_rect;
        place.set_height(shown.content_size.y);
        if shown.content_size.x <= place.width() + 1.0 {
            return;
        }
        let response = ui.interact(place, id, Sense::focusable_noninteractive());
        let label = format!("{}, wider than its place: Left and Right move it", self.name);
        response.widget_info(|| WidgetInfo::labeled(Role::Group, true, &label));
        focus::ring(ui, &response);
        if self.signs {
            let left = shown.state.clamped_offset().x;
            sign(ui, place, Align2::LEFT_TOP, "‹", left > 1.0);
            sign(ui, place, Align2::RIGHT_TOP, "›", left + place.width() + 1.0 < shown.content_size.x);
        }
    }
}

/// By how much the keys move it in this frame.
fn keys(ui: &Ui, id: Id) -> f32 {
    if !ui.memory(|memory| memory.has_focus(id)) {
        return 0.0;
    }
    let kept = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, kept));
    let ways = [(Key::ArrowLeft, -STEP), (Key::ArrowRight, STEP), (Key::Home, -FAR), (Key::End, FAR)];
    ui.input_mut(|input| {
        ways.map(|(key, by)| by * input.count_and_consume_key(Modifiers::NONE, key) as f32).iter().sum()
    })
}

/// An arrow in the upper corner, where the head of a table is.
fn sign(ui: &Ui, place: Rect, corner: Align2, text: &str, there_is_more: bool) {
    if !there_is_more {
        return;
    }
    let t = theme::tokens(ui);
    let at = pos2(corner.x().to_sign() * (place.width() - SIGN[0]) / 2.0 + place.center().x, place.top() + space::M);
    let chip = Rect::from_center_size(at + vec2(0.0, SIGN[1] / 2.0 - space::XS), SIGN.into());
    ui.painter().rect_filled(chip, radius::SMALL, t.accent);
    let font = FontId::proportional(font_size::HEADING);
    ui.painter().text(chip.center(), Align2::CENTER_CENTER, text, font, t.on_accent);
}
