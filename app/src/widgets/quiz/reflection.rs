//! "What would happen if": the learner writes an answer and then compares it with one.

use crate::fonts::Bold;
use crate::theme::{self, radius, space};
use crate::widgets::lesson_text::{self, LessonCache};
use curriculum::Reflection;
use egui::{Frame, RichText, Stroke, Ui};
use std::collections::HashMap;

/// What was written, by reflection id.
#[derive(Default)]
pub struct Reflections {
    entries: HashMap<String, Entry>,
}

#[derive(Default)]
struct Entry {
    written: String,
    compared: bool,
    ask: LessonCache,
    think: LessonCache,
}

impl Reflections {
    pub fn written(&self, id: &str) -> &str {
        self.entries.get(id).map_or("", |entry| entry.written.as_str())
    }

    /// Puts back what was written on an earlier day.
    pub fn restore(&mut self, id: &str, written: String) {
        self.entries.entry(id.to_owned()).or_default().written = written;
    }
}

/// Shows the questions; returns the ids whose text changed, to be kept.
pub fn reflections_ui(ui: &mut Ui, reflections: &[Reflection], state: &mut Reflections) -> Vec<String> {
    let mut changed = Vec::new();
    let tokens = theme::tokens(ui);
    for reflection in reflections {
        let entry = state.entries.entry(reflection.id.clone()).or_default();
        let width = ui.available_width().min(theme::PROSE_WIDTH + 2.0 * space::L);
        let frame = Frame::new()
            .fill(tokens.raised)
            .stroke(Stroke::new(1.0, tokens.border))
            .corner_radius(radius::MEDIUM)
            .inner_margin(space::L);
        ui.push_id(&reflection.id, |ui| {
            frame.show(ui, |ui| {
                ui.set_width(width - 2.0 * space::L - 2.0);
                ui.spacing_mut().item_spacing.y = space::M;
                lesson_text::show(ui, &mut entry.ask, &reflection.ask);
                let edit = egui::TextEdit::multiline(&mut entry.written)
                    .desired_width(f32::INFINITY)
                    .desired_rows(2)
                    .hint_text("Your own notes");
                let edit = ui.add(edit);
                let name = format!("Your answer to: {}", curriculum::search::plain(&reflection.ask));
                ui.ctx().accesskit_node_builder(edit.id, |node| node.set_label(name));
                if edit.changed() {
                    changed.push(reflection.id.clone());
                }
                if entry.compared {
                    Frame::new().fill(tokens.info_soft).corner_radius(radius::SMALL).inner_margin(space::M).show(
                        ui,
                        |ui| {
                            ui.set_width(ui.available_width());
                            ui.label(RichText::new("One answer").bold().color(tokens.info));
                            lesson_text::show(ui, &mut entry.think, &reflection.think);
                        },
                    );
                } else if ui.button("Show our answer").on_hover_text("Shows one possible answer").clicked() {
                    entry.compared = true;
                }
            });
        });
    }
    changed
}
