//! The quiz panel: asks, marks, and explains each wrong answer where it was given.
//!
//! The first answer to a question is the one that counts; the learner may try again for as long as the explanation has
//! not been opened. Of choices, few are left after each try: a second wrong answer opens it.

mod answer_ui;
mod one_by_one;
mod reflection;

pub use reflection::{Reflections, reflections_ui};

use crate::fonts::Bold;
use crate::theme::{self, radius, space};
use crate::widgets::lesson_text::{self, LessonCache};
use crate::widgets::sentence;
use curriculum::quiz::{self as model, Answer, Kind, Mark, PredictKernel, PredictRun, Question, Quiz};
use curriculum::store::{AnswerProgress, Given};
use egui::{Frame, RichText, Stroke, Ui};
use std::collections::{BTreeSet, HashMap};

/// What the learner did.
#[derive(Clone, Debug, PartialEq)]
pub enum QuizAction {
    /// The first answer to a question, for progress and review.
    Answered { question: String, correct: bool, given: Given },
    /// A later one.
    TriedAgain { question: String, given: Given },
    /// A prediction was made: run this and call [`QuizState::measured`].
    Run { question: String, run: PredictRun },
    /// A link in a question or explanation.
    OpenLink(String),
}

/// Answers and marks of one quiz, by question id. Keep one for each day.
#[derive(Default)]
pub struct QuizState {
    questions: HashMap<String, QuestionState>,
    /// The question in sight; None until the quiz is shown.
    at: Option<usize>,
    /// All questions below each other, as some like to read them.
    all_at_once: bool,
}

#[derive(Default)]
struct QuestionState {
    chosen: BTreeSet<usize>,
    typed: String,
    cells: BTreeSet<(u32, u32)>,
    mark: Option<Mark>,
    first_correct: Option<bool>,
    /// The answer was opened; it can be read but not answered again.
    opened: bool,
    /// Wrong answers so far, and the choices that were the last one.
    wrong: u32,
    refused: BTreeSet<usize>,
    waiting: bool,
    /// What is missing before the answer can be marked.
    problem: Option<String>,
    texts: HashMap<Place, LessonCache>,
}

/// Texts of one question, each with its own layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Prompt,
    Choice(usize),
    Message,
    Why,
    LeftOut,
}

/// How far a quiz is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    pub questions: usize,
    pub answered: usize,
    /// Right at the first try.
    pub right: usize,
}

impl QuizState {
    /// With all questions in sight from the start.
    pub fn all_in_sight() -> Self {
        Self { all_at_once: true, ..Self::default() }
    }

    pub fn score(&self, quiz: &Quiz) -> Score {
        let firsts = quiz.questions.iter().filter_map(|q| self.questions.get(&q.id)?.first_correct);
        let (mut answered, mut right) = (0, 0);
        for correct in firsts {
            answered += 1;
            right += usize::from(correct);
        }
        Score { questions: quiz.questions.len(), answered, right }
    }

    /// The questions that were answered, each with whether the first answer was right.
    pub fn firsts<'q>(&self, quiz: &'q Quiz) -> Vec<(&'q Question, bool)> {
        quiz.questions.iter().filter_map(|q| Some((q, self.questions.get(&q.id)?.first_correct?))).collect()
    }

    /// Marks a prediction when its run has ended: the measured value in the quantity's unit, or why there is none.
    pub fn measured(&mut self, quiz: &Quiz, question: &str, value: Result<f64, String>) -> Option<QuizAction> {
        let state = self.questions.get_mut(question)?;
        state.waiting = false;
        let question = quiz.question(question)?;
        let outcome = value.and_then(|measured| Ok((state.mark_prediction(question, measured)?, measured)));
        match outcome {
            Ok((mark, measured)) => state.marked(question, mark, Some(measured)),
            Err(problem) => {
                state.problem = Some(problem);
                None
            }
        }
    }

    /// Restores what was answered on an earlier day, so that the score is right before anything is shown: the answer
    /// with what it was told, as it stood there.
    pub fn restore(&mut self, quiz: &Quiz, question: &str, answer: &AnswerProgress) {
        let state = self.questions.entry(question.to_owned()).or_default();
        state.first_correct = Some(answer.correct);
        if let (Some(question), Some(given)) = (quiz.question(question), &answer.given) {
            state.give(question, given);
            if state.mark.as_ref().is_some_and(|mark| !mark.correct) {
                state.count_wrong(question, answer.tries.max(1));
            }
        }
    }

    /// Whether a prediction waits for its run.
    pub fn is_waiting(&self, question: &str) -> bool {
        self.questions.get(question).is_some_and(|state| state.waiting)
    }
}

impl QuestionState {
    fn marked(&mut self, question: &Question, mark: Mark, measured: Option<f64>) -> Option<QuizAction> {
        self.problem = None;
        let correct = mark.correct;
        self.mark = Some(mark);
        if !correct {
            self.count_wrong(question, 1);
        }
        let (given, question) = (self.given(question, measured), question.id.clone());
        if self.first_correct.is_some() {
            return Some(QuizAction::TriedAgain { question, given });
        }
        self.first_correct = Some(correct);
        Some(QuizAction::Answered { question, correct, given })
    }

    /// Counts wrong answers; among choices the second one opens the answer.
    fn count_wrong(&mut self, question: &Question, tries: u32) {
        self.wrong += tries;
        if is_choice(question) {
            self.opened |= self.wrong >= TRIES;
            self.refused.clone_from(&self.chosen);
        }
    }

    /// Right, given up, or told by a run: nothing more to answer.
    fn settled(&self, question: &Question) -> bool {
        // The learner's own kernel may be another one by the next run; the others measure the same again.
        let told = matches!(&question.kind, Kind::Predict { run, .. } if run.kernel != PredictKernel::Learner);
        self.opened || self.mark.as_ref().is_some_and(|mark| mark.correct || told)
    }

    /// Marks the number as it was typed.
    fn mark_prediction(&self, question: &Question, measured: f64) -> Result<Mark, String> {
        model::mark_prediction(question, model::parse_number(&self.typed, unit(question))?, measured)
    }

    /// The answer as it stands, to keep.
    fn given(&self, question: &Question, measured: Option<f64>) -> Given {
        let answer = match &question.kind {
            Kind::Single { choices } | Kind::Multiple { choices } => {
                self.chosen.iter().filter_map(|index| choices.get(*index)).map(|choice| choice.text.clone()).collect()
            }
            Kind::Numeric { .. } | Kind::Predict { .. } => vec![self.typed.trim().to_owned()],
            Kind::Cell { .. } => self.cells.iter().map(|(row, column)| format!("{row},{column}")).collect(),
        };
        Given { answer, measured }
    }

    /// Puts a kept answer back and marks it again. One that no longer fits the question is left out.
    fn give(&mut self, question: &Question, given: &Given) {
        match &question.kind {
            Kind::Single { choices } | Kind::Multiple { choices } => {
                let index = |text: &String| choices.iter().position(|choice| choice.text == *text);
                let Some(chosen) = given.answer.iter().map(index).collect() else { return };
                self.chosen = chosen;
            }
            Kind::Numeric { .. } | Kind::Predict { .. } => {
                self.typed = given.answer.first().cloned().unwrap_or_default();
            }
            Kind::Cell { .. } => {
                let cell = |text: &String| {
                    let (row, column) = text.split_once(',')?;
                    Some((row.parse().ok()?, column.parse().ok()?))
                };
                let Some(cells) = given.answer.iter().map(cell).collect() else { return };
                self.cells = cells;
            }
        }
        self.mark = match given.measured {
            Some(measured) => self.mark_prediction(question, measured).ok(),
            None => self.answer(question).ok().and_then(|answer| model::mark(question, &answer).ok()),
        };
    }

    /// The answer as it stands.
    ///
    /// # Errors
    /// What is missing or cannot be read, to show beside the answer.
    fn answer(&self, question: &Question) -> Result<Answer, String> {
        Ok(match &question.kind {
            Kind::Single { .. } => Answer::Choice(*self.chosen.first().ok_or("Choose one first.")?),
            Kind::Multiple { .. } => Answer::Choices(self.chosen.clone()),
            Kind::Numeric { unit, .. } => {
                Answer::Number(model::parse_number(&self.typed, unit).map_err(|expected| format!("Type {expected}."))?)
            }
            Kind::Predict { .. } => Answer::Number(
                model::parse_number(&self.typed, unit(question)).map_err(|expected| format!("Type {expected}."))?,
            ),
            Kind::Cell { .. } => Answer::Cells(self.cells.clone()),
        })
    }

    fn submit(&mut self, question: &Question, actions: &mut Vec<QuizAction>) {
        let answer = match self.answer(question) {
            Ok(answer) => answer,
            Err(problem) => {
                self.problem = Some(problem);
                return;
            }
        };
        if is_choice(question) && self.wrong > 0 && self.chosen == self.refused {
            self.problem = Some("You gave this answer last time. Change it first.".to_owned());
            return;
        }
        if let Kind::Predict { run, .. } = &question.kind {
            self.problem = None;
            self.waiting = true;
            actions.push(QuizAction::Run { question: question.id.clone(), run: run.clone() });
            return;
        }
        match model::mark(question, &answer) {
            Ok(mark) => actions.extend(self.marked(question, mark, None)),
            Err(expected) => self.problem = Some(format!("Give {expected}.")),
        }
    }

    fn text_ui(&mut self, ui: &mut Ui, place: Place, markdown: &str, actions: &mut Vec<QuizAction>) {
        let cache = self.texts.entry(place).or_default();
        for action in lesson_text::show(ui, cache, markdown) {
            if let lesson_text::LessonAction::OpenLink(target) = action {
                actions.push(QuizAction::OpenLink(target));
            }
        }
    }
}

/// Wrong answers to a question with choices after which the right one is told.
const TRIES: u32 = 2;

fn is_choice(question: &Question) -> bool {
    matches!(question.kind, Kind::Single { .. } | Kind::Multiple { .. })
}

/// The unit that a number is typed in; empty for a bare count.
fn unit(question: &Question) -> &str {
    match &question.kind {
        Kind::Numeric { unit, .. } => unit,
        Kind::Predict { quantity, .. } => model::quantity(quantity).map_or("", |quantity| quantity.unit),
        _ => "",
    }
}

/// Shows the quiz: one question at a time with the way to the others, or all of them.
pub fn show(ui: &mut Ui, quiz: &Quiz, state: &mut QuizState) -> Vec<QuizAction> {
    let mut actions = Vec::new();
    let tokens = theme::tokens(ui);
    if quiz.questions.is_empty() {
        ui.label(RichText::new("This day has no questions yet.").color(tokens.text_muted));
        return actions;
    }
    one_by_one::head_ui(ui, quiz, state);
    ui.spacing_mut().item_spacing.y = space::L;
    ui.add_space(space::XXS);
    let count = quiz.questions.len();
    let shown = if state.all_at_once || count == 1 { 0..count } else { one_by_one::shown(quiz, state) };
    for (index, question) in quiz.questions.iter().enumerate().skip(shown.start).take(shown.len()) {
        let question_state = state.questions.entry(question.id.clone()).or_default();
        ui.push_id(&question.id, |ui| question_ui(ui, index, question, question_state, &mut actions));
    }
    if shown.len() < count {
        one_by_one::ways_ui(ui, quiz, state);
    }
    actions
}

fn question_ui(
    ui: &mut Ui,
    index: usize,
    question: &Question,
    state: &mut QuestionState,
    actions: &mut Vec<QuizAction>,
) {
    let tokens = theme::tokens(ui);
    let outer = ui.available_width().min(theme::PROSE_WIDTH + 2.0 * space::L);
    let frame = Frame::new()
        .fill(tokens.raised)
        .stroke(Stroke::new(1.0, tokens.border))
        .corner_radius(radius::MEDIUM)
        .inner_margin(space::L);
    frame.show(ui, |ui| {
        ui.set_width(outer - 2.0 * space::L - 2.0);
        ui.spacing_mut().item_spacing.y = space::M;
        ui.horizontal(|ui| {
            let head = RichText::new(format!("Question {}", index + 1)).small().bold().color(tokens.text_muted);
            ui.label(head);
            ui.label(RichText::new(&question.concept).small().color(tokens.text_faint));
            if let Some(correct) = state.first_correct {
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    let right_now = state.mark.as_ref().is_some_and(|mark| mark.correct);
                    let (mark, color) = match (correct, right_now) {
                        (true, _) => ("✔ right", tokens.pass),
                        (false, true) => ("✖ missed at first", tokens.fail),
                        (false, false) => ("✖ missed", tokens.fail),
                    };
                    ui.label(RichText::new(mark).small().color(color))
                        .on_hover_text("The first answer counts. Missed questions come back for review.");
                });
            }
        });
        state.text_ui(ui, Place::Prompt, &question.prompt, actions);
        answer_ui::answer_ui(ui, question, state, actions);
        if let Some(problem) = &state.problem {
            ui.add(egui::Label::new(sentence::job(ui, problem, tokens.warn)).wrap());
        }
        mark_ui(ui, question, state, actions);
    });
}

/// What the marking said, and the way on from there.
fn mark_ui(ui: &mut Ui, question: &Question, state: &mut QuestionState, actions: &mut Vec<QuizAction>) {
    let tokens = theme::tokens(ui);
    let Some(mark) = state.mark.clone() else { return };
    let (fill, color, title) = if mark.correct {
        (tokens.pass_soft, tokens.pass, "✔ Right")
    } else {
        (tokens.fail_soft, tokens.fail, "✖ Not quite")
    };
    Frame::new().fill(fill).corner_radius(radius::SMALL).inner_margin(space::M).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = space::XS;
        ui.label(RichText::new(title).bold().color(color));
        state.text_ui(ui, Place::Message, &mark.message, actions);
        if mark.correct && !mark.message.contains(question.why.trim()) {
            state.text_ui(ui, Place::Why, &question.why, actions);
        }
    });
    // The words of a prediction hold what was measured.
    if mark.correct || matches!(question.kind, Kind::Predict { .. }) {
        return;
    }
    if state.opened {
        Frame::new().fill(tokens.info_soft).corner_radius(radius::SMALL).inner_margin(space::M).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = space::XS;
            ui.label(RichText::new(format!("Answer: {}", right_answer(question))).bold().color(tokens.info));
            state.text_ui(ui, Place::Why, &question.why, actions);
            if let Kind::Multiple { choices } = &question.kind {
                let missing = model::left_out(choices, &state.chosen);
                state.text_ui(ui, Place::LeftOut, &missing.join("\n\n"), actions);
            }
        });
        return;
    }
    ui.horizontal_wrapped(|ui| {
        if ui.button("Show the answer").on_hover_text("Shows the answer. No more tries after that").clicked() {
            state.opened = true;
        }
        if is_choice(question) {
            let words = "or try once more. After that it is shown.";
            ui.label(RichText::new(words).small().color(tokens.text_muted));
        }
    });
}

fn right_answer(question: &Question) -> String {
    match &question.kind {
        Kind::Single { choices } | Kind::Multiple { choices } => {
            let right: Vec<_> = choices.iter().filter(|c| c.right).map(|c| c.text.replace(['`', '$'], "")).collect();
            right.join("; ")
        }
        Kind::Numeric { answer, unit, .. } => format!("{answer} {unit}").trim_end().to_owned(),
        Kind::Cell { cells, .. } => {
            let cells: Vec<_> = cells.iter().map(|(row, column)| format!("row {row}, column {column}")).collect();
            cells.join("; ")
        }
        // Its mark says what was measured.
        Kind::Predict { .. } => String::new(),
    }
}
