//! Draws the tour: a card that covers no pane's heading, and a frame around what it is about.

use super::Screen;
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::state::{Compiler, Pane};
use crate::theme::{self, font_size, radius, space};
use crate::tour::{FIRST_KERNEL, TOUR};
use crate::widgets::focus;
use curriculum::{Step, Unit};
use egui::{Align2, Area, Frame, Id, Order, RichText, Stroke, Ui, vec2};

pub fn show(ui: &Ui, screen: &mut Screen<'_>) {
    let Some((step, card)) = screen.state.tour.and_then(|step| Some((step, TOUR.get(step)?))) else { return };
    let t = theme::tokens(ui);
    let frame = Frame::new()
        .fill(t.raised)
        .stroke(Stroke::new(1.5, t.accent))
        .corner_radius(radius::LARGE)
        .inner_margin(space::XL);
    let area = Area::new(Id::unique("tour")).order(Order::Foreground);
    // The results lie at the bottom: what a card says of them must not hide them.
    let (anchor, offset) = match card.pane {
        Some(Pane::Verdict) => (Align2::CENTER_CENTER, vec2(0.0, -80.0)),
        _ => (Align2::CENTER_BOTTOM, vec2(0.0, -44.0)),
    };
    let missing = matches!(screen.state.compiler, Compiler::Missing { .. } | Compiler::InstallFailed { .. });
    area.anchor(anchor, offset).show(ui.ctx(), |ui| {
        frame.show(ui, |ui| {
            ui.set_width(ui.ctx().content_rect().width().min(540.0) - 60.0);
            ui.horizontal(|ui| {
                ui.label(RichText::new(card.title).size(font_size::HEADING).bold());
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    let place = format!("{} of {}", step + 1, TOUR.len());
                    ui.label(RichText::new(place).small().color(t.text_muted));
                });
            });
            ui.add_space(space::S);
            ui.add(egui::Label::new(card.text).wrap());
            if step == 0 && missing {
                let text = "First let the bar above install NVIDIA's compiler: kernels need it, and it takes a minute.";
                ui.add(egui::Label::new(RichText::new(text).color(t.warn)).wrap());
            }
            ui.add_space(space::M);
            ui.horizontal(|ui| {
                let last = step + 1 == TOUR.len();
                let text = if last { "Begin" } else { "Next" };
                let next = focus::primary(ui, text, true);
                // The keyboard goes along: Enter leads through the whole tour, also when what had it is gone, such as the
                // button that installs the compiler.
                let nobody_has_it = ui.memory(|memory| memory.focused().is_none());
                if screen.memory.tour_focus != Some(step) || nobody_has_it {
                    screen.memory.tour_focus = Some(step);
                    next.request_focus();
                }
                if next.clicked() {
                    screen.send(Command::ShowTour(step + 1));
                }
                if last {
                    first_kernel_ui(ui, screen);
                }
                if step > 0 && ui.button("Back").clicked() {
                    screen.send(Command::ShowTour(step - 1));
                }
                if !last && ui.button("End the tour").on_hover_text("Help opens it again").clicked() {
                    screen.send(Command::EndTour);
                }
            });
        });
    });
}

/// The short way to a kernel that passes.
fn first_kernel_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let is_it = |day: &&Unit| day.day() == Some(FIRST_KERNEL) && day.is_written();
    let Some(day) = screen.state.course.days().find(is_it) else { return };
    let id = day.id.clone();
    let text = format!("Straight to the first kernel (Day {})", FIRST_KERNEL.1);
    if ui.button(text).on_hover_text(&day.summary).clicked() {
        screen.send(Command::EndTour);
        screen.send(Command::OpenDay(id));
        screen.send(Command::ShowStep(Step::CodeIt));
        // Its lines are longer than the editor beside a lesson and a picture.
        screen.send(Command::Do(Action::LayoutCode));
    }
}
