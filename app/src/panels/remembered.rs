//! What is remembered of the quizzes, concept by concept, and when it comes back: a part of the progress pane.

use super::Screen;
use crate::fonts::Bold;
use crate::theme::{self, space};
use curriculum::store::by_concept;
use egui::{CollapsingHeader, Grid, RichText, Sense, Ui, vec2};

/// Concepts that are shown at first: those that are remembered least.
const FIRST: usize = 12;
const BAR: f32 = 60.0;

pub fn show(ui: &mut Ui, screen: &Screen<'_>) {
    let state = screen.state;
    let remembered = state.progress.remembered(&state.course, state.today);
    if remembered.is_empty() {
        return;
    }
    let t = theme::tokens(ui);
    let concepts = by_concept(&remembered);
    ui.add_space(space::S);
    ui.label(RichText::new("What you remember").bold());
    let text = "The chance that you would answer right today, by a model of memory (FSRS). A question comes back when its \
                chance is down to 90 %: soon after a miss, then less and less often.";
    ui.add(egui::Label::new(RichText::new(text).small().color(t.text_muted)).wrap());
    let rows = |ui: &mut Ui, name: &str, concepts: &[(&str, usize, f64, curriculum::review::Date)]| {
        Grid::new(name).num_columns(3).spacing([space::M, space::XS]).striped(true).show(ui, |ui| {
            for (concept, count, chance, due) in concepts {
                let percent = format!("{:.0} %", 100.0 * chance);
                ui.horizontal(|ui| {
                    let (rect, response) = ui.allocate_exact_size(vec2(BAR, 10.0), Sense::hover());
                    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &percent));
                    ui.painter().rect_filled(rect, 2.0, t.inset);
                    let mut filled = rect;
                    filled.set_width(rect.width() * *chance as f32);
                    ui.painter().rect_filled(filled, 2.0, if *chance < 0.9 { t.warn } else { t.pass });
                    ui.label(RichText::new(percent).small());
                });
                let questions = if *count == 1 { "1 question".to_owned() } else { format!("{count} questions") };
                ui.label(*concept).on_hover_text(questions);
                let days = due.0.saturating_sub(state.today.0);
                let when = if days <= 0 { "today".to_owned() } else { format!("in {days} d") };
                ui.label(RichText::new(when).small().color(if days <= 0 { t.warn } else { t.text_muted }));
                ui.end_row();
            }
        });
    };
    let (first, rest) = concepts.split_at(concepts.len().min(FIRST));
    rows(ui, "least remembered", first);
    if !rest.is_empty() {
        let title = format!("{} more concepts", rest.len());
        CollapsingHeader::new(title).id_salt("better remembered").show(ui, |ui| rows(ui, "better remembered", rest));
    }
}
