//! The search pane: words of the whole course, each hit a click away.

use super::{Screen, parts};
use crate::command::Command;
use crate::state::Pane;
use crate::theme::{self, space};
use crate::widgets::focus;
use curriculum::search::{Hit, Place};
use egui::text::{LayoutJob, TextFormat};
use egui::{Frame, Key, Margin, RichText, ScrollArea, TextEdit, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let state = screen.state;
    let mut typed = state.search.query.clone();
    Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| {
        let edit = TextEdit::singleline(&mut typed).hint_text("Search the course").desired_width(f32::INFINITY);
        let response = ui.add(edit);
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::text_edit(true, &state.search.query, &state.search.query, "");
            info.label = Some("Search the course".to_owned());
            info
        });
        if screen.takes_focus(Pane::Search) {
            response.request_focus();
        }
        let enter = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        if let Some(hit) = state.search.hits.first().filter(|_| enter) {
            screen.commands.push(Command::OpenHit(hit.clone()));
        }
        let text = match (state.search.query.trim().is_empty(), state.search.hits.len()) {
            (true, _) => "Searches lessons, glossary, quizzes and kernels".to_owned(),
            (_, 0) => "No text has all of these words.".to_owned(),
            (_, 1) => "1 match. Enter opens it.".to_owned(),
            (_, crate::state::Search::MOST) => {
                format!("The best {} matches. Enter opens the first.", crate::state::Search::MOST)
            }
            (_, count) => format!("{count} matches. Enter opens the first."),
        };
        ui.add(egui::Label::new(RichText::new(text).small().color(t.text_muted)).wrap());
    });
    if typed != state.search.query {
        screen.send(Command::SetSearch(typed));
    }
    if state.search.hits.is_empty() && !state.search.query.trim().is_empty() {
        return parts::empty(ui, Pane::Search.icon(), "No match", "Try fewer words, or part of a word.");
    }
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = space::XXS;
        Frame::new().inner_margin(Margin::symmetric(space::M as i8, 0)).show(ui, |ui| {
            for hit in &state.search.hits {
                hit_ui(ui, screen, hit);
            }
        });
        focus::follow(ui);
    });
}

fn hit_ui(ui: &mut Ui, screen: &mut Screen<'_>, hit: &Hit) {
    let t = theme::tokens(ui);
    let Some(day) = screen.state.course.unit_by_id(&hit.day) else { return };
    // Of a unit's own head the unit is all there is to name.
    let part = match hit.place {
        Place::Head if hit.snippet.starts_with(&day.title) => day.place_word(),
        Place::Head => day.title.as_str(),
        place => place.title(day),
    };
    let place = match day.day() {
        // There are many practice problems, and one of each day.
        None if hit.place != Place::Head => format!("{}: {} · {part}", day.place(), day.title),
        _ => format!("{} · {part}", day.place()),
    };
    let small = egui::TextStyle::Small.resolve(ui.style());
    let body = egui::TextStyle::Body.resolve(ui.style());
    let mut job = LayoutJob::default();
    job.append(&place, 0.0, TextFormat::simple(small, t.text_muted));
    job.append("\n", 0.0, TextFormat::default());
    let mut at = 0;
    for mark in &hit.marks {
        job.append(&hit.snippet[at..mark.start], 0.0, TextFormat::simple(body.clone(), t.text));
        let found = TextFormat { background: t.find_match, ..TextFormat::simple(body.clone(), t.text) };
        job.append(&hit.snippet[mark.clone()], 0.0, found);
        at = mark.end;
    }
    job.append(&hit.snippet[at..], 0.0, TextFormat::simple(body, t.text));
    let button =
        egui::Button::new(job).wrap().frame_when_inactive(false).min_size(egui::vec2(ui.available_width(), 0.0));
    let title = format!("Open {}: {}", day.title, hit.place.title(day));
    if ui.add(button).on_hover_text(title).clicked() {
        screen.commands.push(Command::OpenHit(hit.clone()));
    }
    ui.separator();
}
