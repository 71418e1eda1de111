//! A row with two ends.

use crate::theme::space;
use egui::Ui;

/// A row with something at its left end and something at its right, drawn in this order: Tab goes the way that the eye
/// does. `with` is what both work on. How wide the right side is, is known from the frame before.
pub fn sides<C>(
    ui: &mut Ui,
    key: &str,
    with: &mut C,
    left: impl FnOnce(&mut Ui, &mut C),
    right: impl FnOnce(&mut Ui, &mut C),
) {
    let known = ui.unique_id().with(("width of the right side", key));
    let width: f32 = ui.data(|data| data.get_temp(known)).unwrap_or(240.0);
    ui.horizontal(|ui| {
        ui.scope(|ui| {
            ui.set_max_width((ui.available_width() - width - space::XL).max(40.0));
            left(ui, with);
        });
        ui.add_space((ui.available_width() - width).max(0.0));
        let drawn = ui.scope(|ui| ui.horizontal(|ui| right(ui, with))).response.rect.width();
        if (drawn - width).abs() > 0.5 {
            ui.data_mut(|data| data.insert_temp(known, drawn));
            ui.ctx().request_discard("the right side is of another width");
        }
    });
}
