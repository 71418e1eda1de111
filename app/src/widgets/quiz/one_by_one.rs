//! One question at a time: how far the quiz is, a mark for each question that leads to it, and the way on.

use super::QuizState;
use crate::fonts::Bold;
use crate::theme::{self, Tokens, radius, space};
use crate::widgets::focus;
use curriculum::quiz::Quiz;
use egui::{Button, Color32, Frame, RichText, Stroke, Ui, vec2};
use std::ops::Range;

/// The score, the bar of marks and the choice between one question and all of them.
pub(super) fn head_ui(ui: &mut Ui, quiz: &Quiz, state: &mut QuizState) {
    let t = theme::tokens(ui);
    let score = state.score(quiz);
    let summary = match score.answered {
        0 if score.questions == 1 => "1 question".to_owned(),
        0 => format!("{} questions", score.questions),
        answered => format!("{answered} of {} answered, {} right on the first try", score.questions, score.right),
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(summary).color(t.text_muted));
        if score.questions > 1 {
            let text = if state.all_at_once { "One at a time" } else { "Show all" };
            let button = Button::new(RichText::new(text).small().color(t.link)).frame_when_inactive(false);
            if ui.add(button).on_hover_text("Changes how many questions are shown").clicked() {
                state.all_at_once = !state.all_at_once;
            }
        }
    });
    if score.questions < 2 || state.all_at_once {
        return;
    }
    let at = shown(quiz, state).start;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::XS, space::XS);
        for (index, question) in quiz.questions.iter().enumerate() {
            let correct = state.questions.get(&question.id).and_then(|question| question.first_correct);
            if mark_ui(ui, t, index, at == index, correct) {
                state.at = Some(index);
            }
        }
    });
}

/// The question that is in sight; the first one that is open when the quiz is opened.
pub(super) fn shown(quiz: &Quiz, state: &mut QuizState) -> Range<usize> {
    let last = quiz.questions.len().saturating_sub(1);
    let open = || {
        let is_open = |id: &str| state.questions.get(id).is_none_or(|question| question.first_correct.is_none());
        quiz.questions.iter().position(|question| is_open(&question.id)).unwrap_or(0)
    };
    let at = state.at.unwrap_or_else(open).min(last);
    state.at = Some(at);
    at..at + 1
}

/// A question's number, with how it was answered; true when it was chosen.
fn mark_ui(ui: &mut Ui, t: &Tokens, index: usize, is_shown: bool, correct: Option<bool>) -> bool {
    let (sign, word, color, fill): (&str, &str, Color32, Color32) = match correct {
        Some(true) => ("✔", "right", t.pass, t.pass_soft),
        Some(false) => ("✖", "missed", t.fail, t.fail_soft),
        None => ("", "open", t.text_muted, t.raised),
    };
    let text = if sign.is_empty() { format!("{}", index + 1) } else { format!("{} {sign}", index + 1) };
    let edge = if is_shown { Stroke::new(1.5, t.accent) } else { Stroke::new(1.0, t.border) };
    let button = Button::new(RichText::new(text).small().color(color)).fill(fill).stroke(edge);
    let response = ui.add(button.corner_radius(radius::LARGE).min_size(vec2(30.0, 22.0)));
    let name = format!("Go to question {}, {word}", index + 1);
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_shown, &name));
    focus::ring(ui, &response);
    response.clicked()
}

/// Back and on; at the end how it went.
pub(super) fn ways_ui(ui: &mut Ui, quiz: &Quiz, state: &mut QuizState) {
    let t = theme::tokens(ui);
    let count = quiz.questions.len();
    let at = shown(quiz, state).start;
    let question = state.questions.get(&quiz.questions[at].id);
    let is_answered = question.is_some_and(|question| question.first_correct.is_some());
    let score = state.score(quiz);
    ui.horizontal(|ui| {
        if ui.add_enabled(at > 0, Button::new("‹ Previous question")).clicked() {
            state.at = Some(at - 1);
        }
        if at + 1 < count {
            let text = "Next question ›";
            let next = if is_answered { focus::primary(ui, text, true) } else { ui.button(text) };
            if next.clicked() {
                state.at = Some(at + 1);
            }
        }
    });
    if score.answered < count {
        return;
    }
    let all = score.right == count;
    Frame::new()
        .fill(if all { t.pass_soft } else { t.info_soft })
        .corner_radius(radius::MEDIUM)
        .inner_margin(space::M)
        .show(ui, |ui| {
            ui.take_available_width();
            let text = format!("Quiz done: {} of {count} right on the first try", score.right);
            ui.label(RichText::new(text).bold().color(if all { t.pass } else { t.info }));
            if !all {
                ui.label(RichText::new("Missed questions come back in your review.").color(t.text_muted));
            }
        });
}
