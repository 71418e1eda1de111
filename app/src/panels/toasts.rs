//! Short messages at the bottom right, above the status strip. They go by themselves.

use super::Screen;
use crate::command::Command;
use crate::state::ToastKind;
use crate::theme::{self, radius, space};
use egui::{Align2, Area, Frame, Order, RichText, Sense, Stroke, Ui, vec2};

pub fn show(ui: &Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let mut dismissed = None;
    let area = Area::new(egui::Id::unique("toasts")).order(Order::Foreground).interactable(true);
    area.anchor(Align2::RIGHT_BOTTOM, vec2(-space::L, -40.0)).show(ui.ctx(), |ui| {
        for toast in &screen.state.toasts {
            let (symbol, color) = match toast.kind {
                ToastKind::Info => ("ℹ", t.info),
                ToastKind::Good => ("✔", t.pass),
                ToastKind::Bad => ("✖", t.fail),
            };
            let frame = Frame::new()
                .fill(t.raised)
                .stroke(Stroke::new(1.0, color))
                .corner_radius(radius::MEDIUM)
                .inner_margin(space::M);
            let response = frame.show(ui, |ui| {
                ui.set_max_width(360.0);
                ui.horizontal(|ui| {
                    ui.label(RichText::new(symbol).color(color));
                    ui.add(egui::Label::new(&toast.text).wrap());
                });
            });
            if response.response.interact(Sense::click()).on_hover_text("Click to dismiss").clicked() {
                dismissed = Some(toast.id);
            }
        }
    });
    if let Some(id) = dismissed {
        screen.send(Command::DismissToast(id));
    }
}
