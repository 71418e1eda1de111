//! The part of a question that is answered: choices, a number, cells, a prediction.

use super::{Place, QuestionState, QuizAction, unit};
use crate::theme::{self, font_size, radius, space};
use crate::widgets::focus;
use crate::widgets::lesson_text;
use curriculum::quiz::{self as model, Choice, Kind, Needs, PredictKernel, PredictRun, Question};
use egui::{Align2, Color32, FontId, Frame, Key, Rect, RichText, Sense, Stroke, StrokeKind, Ui, pos2, vec2};
use std::hash::{DefaultHasher, Hash, Hasher};

pub(super) fn answer_ui(ui: &mut Ui, question: &Question, state: &mut QuestionState, actions: &mut Vec<QuizAction>) {
    match &question.kind {
        Kind::Single { choices } => {
            choices_ui(ui, question, choices, false, state);
            check_button_ui(ui, question, state, actions, "Check answer");
        }
        Kind::Multiple { choices } => {
            choices_ui(ui, question, choices, true, state);
            check_button_ui(ui, question, state, actions, "Check answer");
        }
        Kind::Numeric { .. } => number_ui(ui, question, state, actions, "Check answer"),
        Kind::Predict { quantity, run, .. } => {
            let tokens = theme::tokens(ui);
            let asked = model::quantity(quantity);
            let what = asked.map_or(quantity.as_str(), |quantity| quantity.what);
            let text = format!("Predict: {what}. {}", run_sentence(run, asked.map(|quantity| quantity.needs)));
            ui.label(RichText::new(text).small().color(tokens.text_muted));
            if state.waiting {
                ui.horizontal(|ui| {
                    ui.spinner();
                    ui.label("Running; the answer is what it measures.");
                });
            } else {
                number_ui(ui, question, state, actions, "Run and compare");
            }
        }
        Kind::Cell { rows, columns, row_label, column_label, cells, .. } => {
            let grid = Grid { rows: *rows, columns: *columns, row_label, column_label, right: cells };
            grid.show(ui, state.settled(question), state);
            check_button_ui(ui, question, state, actions, "Check answer");
        }
    }
}

fn run_sentence(run: &PredictRun, needs: Option<Needs>) -> String {
    let kernel = match &run.kernel {
        PredictKernel::Learner => "your kernel".to_owned(),
        PredictKernel::Solution => "our solution".to_owned(),
        PredictKernel::Reference => "the reference kernel".to_owned(),
        PredictKernel::Experiment { name, .. } => format!("the experiment {name}"),
    };
    let device = match needs {
        Some(Needs::Gpu) => "on the GPU that is picked",
        _ => "on the emulator, whose counters are exact",
    };
    let case = run.case.as_ref().map(|case| format!(" with {case}")).unwrap_or_default();
    format!("Runs {kernel}{case} {device}.")
}

fn check_button_ui(
    ui: &mut Ui,
    question: &Question,
    state: &mut QuestionState,
    actions: &mut Vec<QuizAction>,
    text: &str,
) {
    if state.settled(question) {
        return;
    }
    let text = if state.mark.is_some() { "Try again" } else { text };
    if focus::primary(ui, text, true).clicked() {
        state.submit(question, actions);
    }
}

fn number_ui(ui: &mut Ui, question: &Question, state: &mut QuestionState, actions: &mut Vec<QuizAction>, text: &str) {
    let settled = state.settled(question);
    ui.horizontal(|ui| {
        let edit = egui::TextEdit::singleline(&mut state.typed).desired_width(140.0).hint_text("number");
        let field = ui.add_enabled(!settled, edit);
        let label = format!("Answer to: {}", question.prompt);
        field.widget_info(|| egui::WidgetInfo {
            label: Some(label.clone()),
            ..egui::WidgetInfo::text_edit(!settled, "", &state.typed, "")
        });
        if field.changed() {
            state.problem = None;
            state.mark = None;
        }
        ui.label(unit(question));
        if settled {
            return;
        }
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        // A prediction that can be made again is of the learner's own kernel.
        let again = if matches!(question.kind, Kind::Predict { .. }) { "Predict again" } else { "Try again" };
        let text = if state.mark.is_some() { again } else { text };
        if focus::primary(ui, text, true).clicked() || entered {
            state.submit(question, actions);
            if state.problem.is_some() {
                // Enter took the keyboard away; there is something to mend.
                field.request_focus();
            }
        }
    });
}

fn choices_ui(ui: &mut Ui, question: &Question, choices: &[Choice], many: bool, state: &mut QuestionState) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        if many {
            let hint = RichText::new("More than one may be right.").small();
            ui.label(hint.color(theme::tokens(ui).text_muted));
        }
        let settled = state.settled(question);
        for index in shuffled(choices.len(), &question.id) {
            choice_ui(ui, index, &choices[index], many, settled, state);
        }
    });
}

/// A fixed order that does not follow the file's, where the right choice tends to come first.
fn shuffled(count: usize, id: &str) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|index| {
        let mut hasher = DefaultHasher::new();
        (id, index).hash(&mut hasher);
        hasher.finish()
    });
    order
}

fn choice_ui(ui: &mut Ui, index: usize, choice: &Choice, many: bool, settled: bool, state: &mut QuestionState) {
    let tokens = theme::tokens(ui);
    let chosen = state.chosen.contains(&index);
    // Colours only judge once the question is settled, or the choice that was just marked wrong.
    let judged = match &state.mark {
        Some(_) if settled => (chosen || choice.right).then_some(choice.right),
        Some(mark) if chosen && !mark.correct && !many => Some(false),
        _ => None,
    };
    let (fill, line) = match judged {
        Some(true) => (tokens.pass_soft, tokens.pass),
        Some(false) => (tokens.fail_soft, tokens.fail),
        None if chosen => (tokens.accent_soft, tokens.accent),
        None => (tokens.panel, tokens.border),
    };
    let frame = Frame::new()
        .fill(fill)
        .stroke(Stroke::new(1.0, line))
        .corner_radius(radius::SMALL)
        .inner_margin(egui::Margin::symmetric(space::M as i8, space::S as i8));
    let shown = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_top(|ui| {
            let row = (font_size::BODY * 1.5).round();
            let (rect, _) = ui.allocate_exact_size(vec2(space::XL, row), Sense::hover());
            paint_marker(ui, rect, many, chosen, judged);
            ui.vertical(|ui| {
                let cache = state.texts.entry(Place::Choice(index)).or_default();
                lesson_text::show_inside_control(ui, cache, &choice.text);
            });
        });
    });
    // On top of the text, so that a click anywhere on the row chooses.
    let sense = if settled { Sense::hover() } else { Sense::click() };
    let response = ui.interact(shown.response.rect, ui.scope_id().with(("choice", index)), sense);
    let role = if many { egui::Role::CheckBox } else { egui::Role::RadioButton };
    response.widget_info(|| egui::WidgetInfo::selected(role, !settled, chosen, &choice.text));
    if response.has_focus() || response.hovered() && !settled {
        let ring = if response.has_focus() { tokens.accent } else { tokens.border_strong };
        let stroke = Stroke::new(if response.has_focus() { 2.0 } else { 1.0 }, ring);
        ui.painter().rect_stroke(response.rect, radius::SMALL, stroke, StrokeKind::Outside);
    }
    if response.clicked() {
        if !many {
            state.chosen.clear();
        }
        if !state.chosen.remove(&index) {
            state.chosen.insert(index);
        }
        state.problem = None;
        // The old verdict speaks of another answer.
        state.mark = None;
    }
}

/// A radio button or check box that turns into a tick or a cross when judged, so that colour never stands alone.
fn paint_marker(ui: &Ui, rect: Rect, many: bool, chosen: bool, judged: Option<bool>) {
    let tokens = theme::tokens(ui);
    let painter = ui.painter();
    let center = pos2(rect.left() + space::S + 1.0, rect.center().y);
    if let Some(right) = judged {
        let (mark, color) = if right { ("✔", tokens.pass) } else { ("✖", tokens.fail) };
        painter.text(center, Align2::CENTER_CENTER, mark, FontId::proportional(font_size::BODY), color);
        return;
    }
    let stroke = Stroke::new(1.5, if chosen { tokens.accent } else { tokens.border_strong });
    if many {
        let box_rect = Rect::from_center_size(center, vec2(12.0, 12.0));
        painter.rect(
            box_rect,
            radius::SMALL,
            if chosen { tokens.accent } else { Color32::TRANSPARENT },
            stroke,
            StrokeKind::Inside,
        );
        if chosen {
            painter.text(center, Align2::CENTER_CENTER, "✔", FontId::proportional(10.0), tokens.on_accent);
        }
    } else {
        painter.circle_stroke(center, 6.0, stroke);
        if chosen {
            painter.circle_filled(center, 3.0, tokens.accent);
        }
    }
}

struct Grid<'a> {
    rows: u32,
    columns: u32,
    row_label: &'a str,
    column_label: &'a str,
    right: &'a [(u32, u32)],
}

impl Grid<'_> {
    /// Where one cell is asked for, a click moves there.
    fn is_many(&self) -> bool {
        self.right.len() > 1
    }

    fn show(&self, ui: &mut Ui, settled: bool, state: &mut QuestionState) {
        let tokens = theme::tokens(ui);
        if self.is_many() {
            ui.label(RichText::new("Pick all that belong.").small().color(tokens.text_muted));
        }
        let gutter = 28.0;
        let room = ui.available_width() - gutter - space::M;
        let side = (room / self.columns.max(1) as f32).clamp(14.0, 34.0).floor();
        let small = FontId::proportional(font_size::SMALL);
        let (across, down) = (or(self.column_label, "column"), or(self.row_label, "row"));
        let axes = format!("{across}  →   (down: {down})");
        let width = ui.painter().layout_no_wrap(axes.clone(), small.clone(), tokens.text_muted).size().x;
        let fits = gutter + width <= ui.available_width();
        if !fits {
            let words = format!("Across: {across}.\nDown: {down}.");
            ui.add(egui::Label::new(RichText::new(words).small().color(tokens.text_muted)).wrap());
        }
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            let lines = if fits { 2.8 } else { 1.4 };
            let head = vec2(gutter + side * self.columns as f32, font_size::SMALL * lines);
            let (rect, _) = ui.allocate_exact_size(head, Sense::hover());
            let painter = ui.painter();
            let corner = rect.left_top();
            if fits {
                let at = pos2(corner.x + gutter, corner.y);
                painter.text(at, Align2::LEFT_TOP, axes, small.clone(), tokens.text_muted);
            }
            for column in 0..self.columns {
                // Every number where there is room, else every fourth.
                if side < 20.0 && column % 4 != 0 {
                    continue;
                }
                let x = rect.left() + gutter + side * (column as f32 + 0.5);
                let at = pos2(x, rect.bottom() - 2.0);
                painter.text(at, Align2::CENTER_BOTTOM, column.to_string(), small.clone(), tokens.text_muted);
            }
            for row in 0..self.rows {
                ui.horizontal(|ui| {
                    let (rect, _) = ui.allocate_exact_size(vec2(gutter, side), Sense::hover());
                    let at = pos2(rect.right() - space::S, rect.center().y);
                    ui.painter().text(at, Align2::RIGHT_CENTER, row.to_string(), small.clone(), tokens.text_muted);
                    for column in 0..self.columns {
                        self.cell_ui(ui, state, (row, column), side, settled);
                    }
                });
            }
        });
    }

    fn cell_ui(&self, ui: &mut Ui, state: &mut QuestionState, cell: (u32, u32), side: f32, settled: bool) {
        let tokens = theme::tokens(ui);
        let chosen = state.cells.contains(&cell);
        let sense = if settled { Sense::hover() } else { Sense::click() };
        let (rect, response) = ui.allocate_exact_size(vec2(side, side), sense);
        let label = format!("{} {}, {} {}", or(self.row_label, "row"), cell.0, or(self.column_label, "column"), cell.1);
        let role = if self.is_many() { egui::Role::CheckBox } else { egui::Role::RadioButton };
        response.widget_info(|| egui::WidgetInfo::selected(role, !settled, chosen, &label));
        let right = self.right.contains(&cell);
        let (fill, mark) = match (settled, chosen, right) {
            (true, _, true) => (tokens.pass_soft, Some(("✔", tokens.pass))),
            (true, true, false) => (tokens.fail_soft, Some(("✖", tokens.fail))),
            (false, true, _) => (tokens.accent, None),
            _ if response.hovered() && !settled => (tokens.hover, None),
            _ => (tokens.inset, None),
        };
        let inner = rect.shrink(1.0);
        let (width, line) = if response.has_focus() { (2.0, tokens.accent) } else { (1.0, tokens.border_strong) };
        ui.painter().rect(inner, radius::SMALL, fill, Stroke::new(width, line), StrokeKind::Inside);
        if let Some((mark, color)) = mark {
            let font = FontId::proportional(font_size::SMALL);
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, mark, font, color);
        }
        let response = if settled { response } else { response.on_hover_text(&label) };
        if response.clicked() {
            if !self.is_many() {
                state.cells.retain(|other| *other == cell);
            }
            if !state.cells.remove(&cell) {
                state.cells.insert(cell);
            }
            state.problem = None;
            state.mark = None;
        }
    }
}

fn or<'a>(text: &'a str, fallback: &'a str) -> &'a str {
    if text.is_empty() { fallback } else { text }
}
