//! An answer exercise in the lesson: run a kernel whose source is shut, look at its figures, answer, point at the
//! evidence; then its source opens.

use super::{Screen, parts};
use crate::command::Command;
use crate::fonts::Bold;
use crate::icons;
use crate::mystery::MysteryKey;
use crate::state::Purpose;
use crate::theme::{self, space};
use curriculum::Unit;
use curriculum::answer::{AnswerExercise, Asked, Mystery, MysteryQuestion};
use curriculum::quiz::Quantity;
use egui::{CollapsingHeader, RichText, Ui};
use std::collections::HashMap;

/// What was answered of an exercise, and which draw it is.
#[derive(Default)]
pub struct Answers {
    draw: u64,
    /// By mystery and number of the question.
    given: HashMap<(String, usize), String>,
}

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, unit: &Unit, key: &str) {
    let t = theme::tokens(ui);
    let Some(exercise) = unit.answer(key) else { return };
    let place = format!("{}/{key}/{}", unit.id, screen.state.resets.get(&unit.id).copied().unwrap_or_default());
    let draw = screen.memory.answers.entry(place.clone()).or_default().draw;
    let drawn = exercise.drawn(draw);
    ui.horizontal(|ui| {
        ui.label(RichText::new(&exercise.title).bold());
        if screen.state.progress.has_passed(unit, key) {
            parts::chip(ui, "✔ answered", t.pass, t.pass_soft);
        }
    });
    for mystery in &drawn {
        parts::notice(ui, t.raised, t.accent, |ui| mystery_ui(ui, screen, unit, exercise, mystery, &place));
    }
    let answers = screen.memory.answers.entry(place).or_default();
    let marks: Vec<Option<bool>> = drawn.iter().flat_map(|mystery| marks(answers, mystery)).collect();
    if marks.contains(&Some(false)) && !marks.contains(&None) {
        if ui.button("Ask me again").on_hover_text("Picks new kernels and clears these answers").clicked() {
            *answers = Answers { draw: answers.draw + 1, ..Answers::default() };
        }
    } else if marks.iter().all(|mark| *mark == Some(true)) && !screen.state.progress.has_passed(unit, key) {
        screen.commands.push(Command::MysteriesSolved(key.to_owned()));
    }
}

fn marks(answers: &Answers, mystery: &Mystery) -> Vec<Option<bool>> {
    let given = |index: usize| answers.given.get(&(mystery.id.clone(), index));
    mystery.questions.iter().enumerate().map(|(index, q)| given(index).map(|given| q.is_right(given))).collect()
}

fn mystery_ui(
    ui: &mut Ui,
    screen: &mut Screen<'_>,
    unit: &Unit,
    exercise: &AnswerExercise,
    mystery: &Mystery,
    place: &str,
) {
    let t = theme::tokens(ui);
    ui.spacing_mut().item_spacing.y = space::S;
    ui.label(RichText::new(&mystery.name).bold());
    let key = MysteryKey { unit: unit.id.clone(), exercise: exercise.key.clone(), mystery: mystery.id.clone() };
    let Some(figures) = screen.state.mysteries.get(&key).cloned() else {
        let running = screen.state.running.as_ref().map(|running| &running.purpose);
        if running == Some(&Purpose::Mystery(key)) {
            ui.horizontal(|ui| {
                parts::busy(ui);
                ui.label("Counting its work");
            });
        } else if ui
            .add_enabled(
                running.is_none(),
                egui::Button::new((icons::atom(icons::PLAY), format!("Run {}", mystery.name))),
            )
            .on_hover_text("Runs it on the emulator and shows what was counted")
            .on_disabled_hover_text("Another kernel is running")
            .clicked()
        {
            let (exercise, mystery) = (exercise.key.clone(), mystery.id.clone());
            screen.commands.push(Command::CountMystery { exercise, mystery });
        }
        return;
    };
    let grid = egui::Grid::new(("figures", place, &mystery.id)).num_columns(2).spacing([space::M, space::XS]);
    grid.striped(true).show(ui, |ui| {
        for (quantity, value) in &figures {
            ui.label(RichText::new(quantity.name).monospace().small()).on_hover_text(quantity.what);
            ui.label(format!("{} {}", parts::quantity(*value), quantity.unit));
            ui.end_row();
        }
    });
    let answers = screen.memory.answers.entry(place.to_owned()).or_default();
    for (index, question) in mystery.questions.iter().enumerate() {
        let slot = (mystery.id.clone(), index);
        match answers.given.get(&slot).cloned() {
            Some(given) => answered_ui(ui, question, &given),
            None => {
                if let Some(given) = ask_ui(ui, question, &figures) {
                    answers.given.insert(slot, given);
                }
                // One question at a time: the next may say too much about this one.
                break;
            }
        }
    }
    if marks(answers, mystery).iter().all(Option::is_some) {
        CollapsingHeader::new(format!("Source of {}", mystery.name)).id_salt((place, &mystery.id)).show(ui, |ui| {
            let text = format!("```cuda\n{}```\n", mystery.source);
            screen.markdown_ui(ui, &format!("mystery/{place}/{}", mystery.id), &text);
        });
        ui.label(RichText::new("The source is open now.").small().color(t.text_muted));
    }
}

/// A button for each answer; what was chosen.
fn ask_ui(ui: &mut Ui, question: &MysteryQuestion, figures: &[(&'static Quantity, f64)]) -> Option<String> {
    ui.label(&question.ask);
    let choices: Vec<(&str, &str)> = match &question.kind {
        Asked::Choice { choices, .. } => choices.iter().map(|choice| (choice.as_str(), "")).collect(),
        Asked::Evidence { .. } => figures.iter().map(|(quantity, _)| (quantity.name, quantity.what)).collect(),
    };
    let mut given = None;
    ui.horizontal_wrapped(|ui| {
        for (choice, about) in choices {
            let mut response = ui.button(choice);
            if !about.is_empty() {
                response = response.on_hover_text(about);
            }
            if response.clicked() {
                given = Some(choice.to_owned());
            }
        }
    });
    given
}

fn answered_ui(ui: &mut Ui, question: &MysteryQuestion, given: &str) {
    let t = theme::tokens(ui);
    let right = question.is_right(given);
    ui.label(&question.ask);
    let (word, color) = if right { ("✔ Right", t.pass) } else { ("✘ No", t.fail) };
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(word).color(color));
        ui.label(format!("You said: {given}."));
        if let (false, Asked::Choice { answer, .. }) = (right, &question.kind) {
            ui.label(format!("It is: {answer}."));
        }
        if let (false, Asked::Evidence { accepted }) = (right, &question.kind) {
            ui.label(format!("It shows in: {}.", accepted.join(", ")));
        }
    });
    for words in [&question.why, &question.explain] {
        if !words.trim().is_empty() {
            ui.add(egui::Label::new(RichText::new(words.trim()).color(t.text_muted)).wrap());
        }
    }
}
