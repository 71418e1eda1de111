//! The progress pane: where to go on, what is due for review, and what was really done, day by day.

use super::Screen;
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::state::State;
use crate::theme::{self, font_size, space};
use crate::widgets::focus;
use crate::widgets::quiz::{self, QuizAction};
use crate::widgets::sideways::Sideways;
use curriculum::quiz::Quiz;
use curriculum::{Shelf, Step, Unit};
use egui::{Frame, Grid, Margin, RichText, ScrollArea, Ui, vec2};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::same(space::XL as i8)).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::M;
            if screen.state.review.is_empty() {
                overview_ui(ui, screen);
                let course = screen.state.course.clone();
                let width = ui.available_width();
                for shelf in course.shelves() {
                    shelf_ui(ui, screen, &shelf, width);
                }
                super::remembered::show(ui, screen);
                files_ui(ui, screen);
            } else {
                review_ui(ui, screen);
            }
        });
        focus::follow(ui);
    });
}

fn overview_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let state = screen.state;
    let name = state.profile.as_deref().map_or_else(String::new, |name| format!(" of {name}"));
    ui.label(RichText::new(format!("Progress{name}")).size(font_size::HEADING).bold());
    let totals = Totals::of(state);
    let text = format!(
        "{} of {} kernels passed, {} of {} questions answered right, {} of {} days done.",
        totals.passed, totals.kernels, totals.right, totals.questions, totals.complete, totals.written
    );
    ui.add(egui::Label::new(RichText::new(text).color(t.text_muted)).wrap());
    ui.horizontal_wrapped(|ui| {
        if let Some((day, step)) = next_step(state) {
            let text = format!("Continue: {}, {}", day.place(), day.step_title(step));
            if focus::primary(ui, &text, true).on_hover_text(&day.title).clicked() {
                screen.commands.push(Command::OpenDay(day.id.clone()));
                screen.commands.push(Command::ShowStep(step));
            }
        }
        let due = state.progress.due(&state.course, state.today, usize::MAX).len();
        let text = match due {
            0 => "Nothing to review today".to_owned(),
            1 => "Review 1 question".to_owned(),
            more => format!("Review {more} questions"),
        };
        let review = ui.add_enabled(due > 0, egui::Button::new(text));
        let tooltip = Action::Review.tooltip(ui.ctx());
        if review.on_hover_text(&tooltip).on_disabled_hover_text(tooltip).clicked() {
            screen.send(Command::Do(Action::Review));
        }
        if ui
            .button("Course map")
            .on_hover_text("How days and labs build on one another, and what you can do next")
            .clicked()
        {
            screen.send(Command::ShowVisualization("course-map".to_owned()));
        }
    });
}

/// Sums over the course.
#[derive(Default)]
struct Totals {
    kernels: usize,
    passed: usize,
    questions: usize,
    right: usize,
    written: usize,
    complete: usize,
}

impl Totals {
    fn of(state: &State) -> Self {
        let mut totals = Self::default();
        for day in state.course.days().filter(|day| day.is_written()) {
            let line = Line::of(state, day);
            totals.written += 1;
            totals.complete += usize::from(state.progress.done(day).is_complete());
            totals.kernels += day.exercises.len();
            totals.passed += line.passed;
            totals.questions += day.quiz.questions.len();
            totals.right += line.right;
        }
        totals
    }
}

/// What was done of a day.
struct Line {
    passed: usize,
    right: usize,
    /// Best share of the ceiling and its device.
    best: Option<(f64, String)>,
    due: usize,
    /// The solution was looked at before the kernel passed.
    solution_seen: bool,
}

impl Line {
    fn of(state: &State, day: &Unit) -> Self {
        let progress = &state.progress;
        let exercises = || day.exercises.iter().filter_map(|exercise| progress.exercise(day, &exercise.key));
        let main = day.exercise().and_then(|exercise| progress.exercise(day, &exercise.key));
        let answers = progress.days.get(&day.id).map(|progress| &progress.answers);
        let right = |id: &String| answers.is_some_and(|answers| answers.get(id).is_some_and(|answer| answer.correct));
        let best = main.into_iter().flat_map(|main| &main.best_share).max_by(|a, b| a.1.total_cmp(b.1));
        Self {
            passed: exercises().filter(|exercise| exercise.passed.is_some()).count(),
            right: day.quiz.questions.iter().filter(|question| right(&question.id)).count(),
            best: best.map(|(device, share)| (*share, device.clone())),
            due: progress.due(&state.course, state.today, usize::MAX).iter().filter(|(d, _)| d.id == day.id).count(),
            solution_seen: exercises().any(|exercise| exercise.solution_seen),
        }
    }
}

/// The first step that is not done of the day that was open last, else of the first day that is not complete.
fn next_step(state: &State) -> Option<(&Unit, Step)> {
    let open = |day: &&Unit| day.is_written() && !state.progress.done(day).is_complete();
    let last = state.progress.last_day.as_deref().and_then(|id| state.course.unit_by_id(id)).filter(open);
    let day = last.or_else(|| state.course.days().find(open))?;
    let step = day.steps().find(|step| !state.progress.is_step_done(day, *step));
    Some((day, step.unwrap_or_else(|| day.last_step())))
}

/// `width` is what all tables have, so that their columns are below one another.
fn shelf_ui(ui: &mut Ui, screen: &mut Screen<'_>, shelf: &Shelf<'_>, width: f32) {
    let t = theme::tokens(ui);
    ui.add_space(space::S);
    ui.label(RichText::new(format!("{}  {}", shelf.title, shelf.name).trim_end()).bold());
    let planned = shelf.units.iter().filter(|unit| !unit.is_written()).count();
    if planned == shelf.units.len() {
        let text = format!("{planned} {}s, not written yet: {}", shelf.units[0].kind.word(), shelf.about);
        ui.add(egui::Label::new(RichText::new(text).small().color(t.text_muted)).wrap());
        return;
    }
    // What is left beside the other columns is the day's: its name is cut, nothing else is.
    let others = WIDTHS.iter().sum::<f32>() + WIDTHS.len() as f32 * space::M;
    let name_width = (width - others).clamp(LEAST_NAME, MOST_NAME);
    if width < others + LEAST_NAME {
        // By itself, or it would widen the pane, and the sentences around it would wrap out of sight.
        let wide = Sideways { name: &shelf.title, width, signs: true };
        wide.show(ui, &shelf.title, |ui| table_ui(ui, screen, shelf, name_width));
    } else {
        table_ui(ui, screen, shelf, name_width);
    }
}

fn table_ui(ui: &mut Ui, screen: &mut Screen<'_>, shelf: &Shelf<'_>, name_width: f32) {
    let t = theme::tokens(ui);
    let grid = Grid::new(("progress", &shelf.title)).num_columns(6).spacing([space::M, space::XS]).striped(true);
    grid.show(ui, |ui| {
        let widths = std::iter::once(name_width).chain(WIDTHS);
        for ((name, about), width) in COLUMNS.into_iter().zip(widths) {
            let name = if name == "Day" { shelf.units[0].place_word() } else { name };
            let caption = RichText::new(name).small().bold().color(t.text_muted);
            let caption = cell(ui, width, |ui| ui.label(caption));
            if !about.is_empty() {
                caption.on_hover_text(about);
            }
        }
        ui.end_row();
        for day in &shelf.units {
            day_ui(ui, screen, day, name_width);
            ui.end_row();
        }
    });
}

/// What is told of a day, and what it means.
const COLUMNS: [(&str, &str); 6] = [
    ("Day", ""),
    ("Steps", "Challenge, Explore, Concept, Code It, Verify"),
    ("Passed", "Kernels that passed, out of those that the day asks for"),
    ("Speed", "The best measured share of this machine's ceiling"),
    ("Quiz", "Questions that you got right in the end, out of the day's"),
    ("Due", "Questions that were missed and are to be answered again today"),
];

/// Points of each column after the first: five squares, and four short figures.
const WIDTHS: [f32; 5] = [70.0, 44.0, 44.0, 50.0, 28.0];
const LEAST_NAME: f32 = 110.0;
const MOST_NAME: f32 = 260.0;

/// A cell as wide as its column, whatever is in it.
fn cell<R>(ui: &mut Ui, width: f32, contents: impl FnOnce(&mut Ui) -> R) -> R {
    let size = vec2(width, ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(size, egui::Layout::left_to_right(egui::Align::Center), |ui| {
        ui.set_min_width(width);
        contents(ui)
    })
    .inner
}

fn day_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit, name_width: f32) {
    let t = theme::tokens(ui);
    let name = day.day().map_or_else(|| day.title.clone(), |(_, number)| format!("{number}  {}", day.title));
    let name = RichText::new(name).color(t.link);
    // Its tooltip has the name, whole.
    let name = egui::Label::new(name).truncate().show_tooltip_when_elided(false).sense(egui::Sense::click());
    let link = cell(ui, name_width, |ui| ui.add(name)).on_hover_cursor(egui::CursorIcon::PointingHand);
    link.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Link, true, &day.title));
    if link.has_focus() {
        ui.painter().rect_stroke(link.rect.expand(2.0), 3.0, (1.5, t.accent), egui::StrokeKind::Outside);
    }
    if link.on_hover_text(format!("{}: {}", day.title, day.summary)).clicked() {
        screen.send(Command::OpenDay(day.id.clone()));
    }
    if !day.is_written() {
        ui.label(RichText::new("planned").color(t.text_muted));
        return;
    }
    let line = Line::of(screen.state, day);
    cell(ui, WIDTHS[0], |ui| steps_ui(ui, screen.state, day));
    let passed = RichText::new(format!("{} of {}", line.passed, day.exercises.len()));
    let all = line.passed == day.exercises.len() && line.passed > 0;
    let response = ui.label(passed.color(if all { t.pass } else { t.text }));
    if line.solution_seen {
        response.on_hover_text("The solution was looked at before the kernel passed");
    }
    match &line.best {
        Some((share, device)) => {
            let text = RichText::new(format!("{:.0} %", 100.0 * share)).color(t.measured);
            ui.label(text).on_hover_text(format!("Of the ceiling, measured on {device}"));
        }
        None => {
            let text = "Not measured: that takes a benchmark on a GPU";
            ui.label(RichText::new("–").color(t.text_muted)).on_hover_text(text);
        }
    }
    ui.label(format!("{} of {}", line.right, day.quiz.questions.len()));
    if line.due > 0 {
        ui.label(RichText::new(line.due.to_string()).color(t.warn));
    } else {
        ui.label(RichText::new("–").color(t.text_muted));
    }
}

/// A square for each of a day's five steps, filled ones are done; parts may be many and are counted.
fn steps_ui(ui: &mut Ui, state: &State, day: &Unit) {
    let t = theme::tokens(ui);
    if day.day().is_none() {
        let done = day.steps().filter(|step| state.progress.is_step_done(day, *step)).count();
        ui.label(format!("{done} of {}", day.lesson.sections.len()));
        return;
    }
    let (rect, response) = ui.allocate_exact_size(vec2(5.0 * 14.0, 14.0), egui::Sense::hover());
    let mut done = Vec::new();
    for (index, step) in Step::ALL.into_iter().enumerate() {
        let center = egui::pos2(rect.left() + 7.0 + 14.0 * index as f32, rect.center().y);
        let square = egui::Rect::from_center_size(center, vec2(10.0, 10.0));
        if state.progress.is_step_done(day, step) {
            ui.painter().rect_filled(square, 2.0, t.pass);
            done.push(step.title());
        } else {
            ui.painter().rect_stroke(square, 2.0, (1.0, t.border_strong), egui::StrokeKind::Inside);
        }
    }
    let text = if done.is_empty() { "No step done".to_owned() } else { format!("Done: {}", done.join(", ")) };
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &text));
    response.on_hover_text(text);
}

fn files_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    ui.separator();
    ui.label(RichText::new("Your files").bold());
    let text = "Texts, runs, answers and settings as one file, to move to another computer or to keep.";
    ui.add(egui::Label::new(RichText::new(text).color(t.text_muted)).wrap());
    ui.horizontal_wrapped(|ui| {
        for action in [Action::ExportState, Action::ImportState, Action::ResetDay, Action::Profiles] {
            if ui.button(action.info().text).on_hover_text(action.tooltip(ui.ctx())).clicked() {
                screen.send(Command::Do(action));
            }
        }
    });
}

/// The questions that are due, one quiz after the other.
fn review_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let state = screen.state;
    ui.label(RichText::new("Review").size(font_size::HEADING).bold());
    let text = "Questions that you missed come back the next day. Each right answer makes the wait longer: a question returns \
                when you would still get it right nine times in ten.";
    ui.add(egui::Label::new(RichText::new(text).color(t.text_muted)).wrap());
    ui.set_max_width(ui.available_width().min(theme::PROSE_WIDTH));
    for (day_id, questions) in &state.review {
        let Some(day) = state.course.unit_by_id(day_id) else { continue };
        ui.label(RichText::new(format!("{}: {}", day.place(), day.title)).bold());
        let due = day.quiz.questions.iter().filter(|question| questions.contains(&question.id)).cloned().collect();
        let key = state.review_key(day_id);
        let quiz_state = screen.memory.quizzes.entry(key).or_default();
        for action in quiz::show(ui, &Quiz { questions: due }, quiz_state) {
            screen.commands.push(match action {
                QuizAction::Answered { question, correct, given } => {
                    Command::Reviewed { day: day_id.clone(), question, correct, given }
                }
                QuizAction::TriedAgain { question, given } => {
                    Command::TriedAgain { day: Some(day_id.clone()), question, given }
                }
                QuizAction::Run { question, run } => {
                    Command::Predict { day: day_id.clone(), question, run: Box::new(run) }
                }
                QuizAction::OpenLink(target) => Command::OpenLink(target),
            });
        }
    }
    if ui.button("Done").on_hover_text("Back to the overview. Your answers are kept").clicked() {
        screen.send(Command::EndReview);
    }
}
