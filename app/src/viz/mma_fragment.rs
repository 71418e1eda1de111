//! MMA fragments: which lane holds which element of a tile that a tensor core takes, and in which register.

mod shapes;

use super::kit;
use super::matrix::Matrix;
use super::model;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Color32, Stroke, StrokeKind, Ui, vec2};
use gpu_core::emulator::Trace;
use shapes::{Held, Instruction, Operand, SHAPES};

const GUTTER: f32 = 40.0;
const HEAD: f32 = 34.0;
const TALLEST: f32 = 420.0;

#[derive(Default)]
pub struct MmaFragment {
    /// Index into [`SHAPES`].
    shape: usize,
    operand: usize,
    lane: Stepper,
    /// The trace that the shape was last taken from.
    filled: Option<u64>,
}

impl MmaFragment {
    fn shape(&self) -> &'static Instruction {
        &SHAPES[self.shape.min(SHAPES.len() - 1)]
    }

    fn operand(&self) -> Operand {
        let operands = self.shape().operands;
        operands[self.operand.min(operands.len() - 1)]
    }

    /// Takes the first matrix instruction of the learner's run, once for each run.
    fn fill(&mut self, input: &VizInput<'_>) {
        let Some(trace) = input.trace else { return };
        let now = Some(model::fingerprint(trace));
        if self.filled == now {
            return;
        }
        self.filled = now;
        if let Some((shape, _)) = found_in(trace).next() {
            (self.shape, self.operand) = (shape, 0);
        }
    }

    fn controls_ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let mut action = None;
        ui.horizontal_wrapped(|ui| {
            let shown = egui::ComboBox::from_id_salt("instruction")
                .width(250.0_f32.min(ui.available_width()))
                .selected_text(self.shape().name)
                .show_ui(ui, |ui| {
                    for (index, shape) in SHAPES.iter().enumerate() {
                        ui.selectable_value(&mut self.shape, index, shape.name);
                    }
                });
            plot_kit::name_choice(&shown.response, "Instruction", self.shape().name);
            for (index, operand) in self.shape().operands.iter().enumerate() {
                ui.selectable_value(&mut self.operand, index, operand.name());
            }
        });
        let Some(trace) = input.trace else { return action };
        let mut seen = Vec::new();
        for (shape, instruction) in found_in(trace) {
            let line = trace.instructions[instruction as usize].source.as_ref().map(|at| at.line);
            if seen.contains(&(shape, line)) || seen.len() == 3 {
                continue;
            }
            seen.push((shape, line));
            ui.horizontal_wrapped(|ui| {
                if ui.selectable_label(self.shape == shape, SHAPES[shape].name).clicked() {
                    (self.shape, self.operand) = (shape, 0);
                }
                action = action.take().or(kit::source_line_ui(ui, input.source, trace, instruction));
            });
        }
        action
    }

    fn picture_ui(&mut self, ui: &mut Ui, words: &str) {
        let (shape, operand) = (self.shape(), self.operand());
        let held = shape.fragment(operand);
        let (rows, columns) = shape.extent(operand);
        let width = ui.available_width();
        let cell = ((width - GUTTER) / columns as f32).min(TALLEST / rows as f32).floor().clamp(5.0, 30.0);
        let height = HEAD + rows as f32 * cell + space::S;
        let lanes = shape.lanes();
        let canvas = self.lane.canvas(ui, vec2(width, height), words, lanes);
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let matrix = Matrix { origin: canvas.rect.min + vec2(GUTTER, HEAD), rows, columns, cell };
        let lane = self.lane.within(lanes) as u32;
        painter.rect_filled(matrix.outer(), 0.0, tokens.inset);
        for element in &held {
            let rect = matrix.rect(element.row, element.column).shrink(if cell >= 8.0 { 0.75 } else { 0.25 });
            let mine = element.lane == lane;
            let fill = if mine { tokens.lane_focus } else { soft(tokens, element.register) };
            painter.rect_filled(rect, 1.0, fill);
            if cell >= 17.0 {
                let text =
                    if mine { format!("{}{}", operand.letter(), element.register) } else { element.lane.to_string() };
                let color = if mine { tokens.on_lane } else { tokens.text };
                painter.text(
                    rect.center(),
                    Align2::CENTER_CENTER,
                    text,
                    egui::FontId::proportional(theme::font_size::SMALL - 1.0),
                    color,
                );
            }
            if mine {
                painter.rect_stroke(rect, 1.0, Stroke::new(1.5, tokens.text), StrokeKind::Outside);
            }
        }
        for eight in (8..rows).step_by(8) {
            let y = matrix.rect(eight, 0).top();
            painter.hline(matrix.outer().x_range(), y, Stroke::new(1.5, tokens.border_strong));
        }
        for eight in (8..columns).step_by(8) {
            let x = matrix.rect(0, eight).left();
            painter.vline(x, matrix.outer().y_range(), Stroke::new(1.0, tokens.border_strong));
        }
        painter.rect_stroke(matrix.outer(), 0.0, Stroke::new(1.0, tokens.border_strong), StrokeKind::Outside);
        if let Some((row, first)) = shape.addressed_row(operand, lane) {
            matrix.frame(painter, row..row + 1, first..first + 8, Stroke::new(2.5, tokens.accent));
        }
        let every = (14.0 / cell).ceil().max(1.0) as usize;
        for row in (0..rows).step_by(every) {
            let at = matrix.rect(row, 0).left_center() - vec2(space::XS, 0.0);
            kit::small(painter, at, Align2::RIGHT_CENTER, row, tokens.text_muted);
        }
        let every = (20.0 / cell).ceil().max(1.0) as usize;
        for column in (0..columns).step_by(every) {
            let at = matrix.rect(0, column).center_top() - vec2(0.0, 2.0);
            kit::small(painter, at, Align2::CENTER_BOTTOM, column, tokens.text_muted);
        }
        let title = format!("{}, {rows} x {columns}", operand.title());
        kit::small(painter, canvas.rect.min, Align2::LEFT_TOP, title, tokens.text);
        let Some((row, column)) = canvas.response.hover_pos().and_then(|pos| matrix.at(pos)) else { return };
        let Some(element) = held.iter().find(|held| held.row == row && held.column == column) else { return };
        if canvas.response.clicked() {
            self.lane.jump(element.lane as usize);
        }
        let text = format!("row {row}, column {column}: lane {}, {}", element.lane, element.place(operand, shape));
        canvas.response.on_hover_text_at_pointer(text);
    }
}

/// Registers take turns in colour, softly.
fn soft(tokens: &Tokens, register: u32) -> Color32 {
    tokens.series[register as usize % tokens.series.len().min(4)].gamma_multiply(0.28)
}

/// Matrix instructions of a run that have a picture: index into [`SHAPES`] and into the trace's instructions.
fn found_in(trace: &Trace) -> impl Iterator<Item = (usize, u32)> + '_ {
    trace
        .instructions
        .iter()
        .enumerate()
        .filter_map(|(index, instruction)| shapes::of_text(&instruction.text).map(|shape| (shape, index as u32)))
}

impl Visualization for MmaFragment {
    kit::head_without_steps!("mma-fragment", "MMA fragments");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.fill(input);
        let action = self.controls_ui(ui, input);
        self.lane.ui(ui, self.shape().lanes(), "lane");
        let words = self.describe(input);
        self.picture_ui(ui, &words);
        let tokens = theme::tokens(ui);
        plot_kit::legend(ui, |ui| {
            plot_kit::legend_entry(
                ui,
                plot_kit::Swatch::Bar,
                tokens.lane_focus,
                "held by this lane; other numbers are lanes",
            );
            for register in 0..self.shape().registers(self.operand()).min(4) {
                let text = format!("{}{register}", self.operand().letter());
                plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, soft(tokens, register), &text);
            }
        });
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let (shape, operand) = (self.shape(), self.operand());
        let lane = self.lane.within(shape.lanes()) as u32;
        let mut held: Vec<Held> = shape.fragment(operand).into_iter().filter(|held| held.lane == lane).collect();
        held.sort_by_key(|held| (held.register, held.part));
        let (rows, columns) = shape.extent(operand);
        let mut registers: Vec<String> = Vec::new();
        for register in 0..shape.registers(operand) {
            let of: Vec<&Held> = held.iter().filter(|held| held.register == register).collect();
            registers.extend(shapes::register_words(operand, register, &of));
        }
        let who = if shape.lanes() > 32 {
            format!("Lane {} of warp {}", lane % 32, lane / 32)
        } else {
            format!("Lane {lane}")
        };
        let group = format!("group {}, thread {} in its group", lane % 32 / 4, lane % 4);
        let addressed = shape.addressed_row(operand, lane).map_or_else(String::new, |(row, first)| {
            format!(" It gives the address of row {row}, columns {first} to {}.", first + 7)
        });
        // A register or two say enough in a sentence; the picture has the rest.
        let shown = registers.len().min(8);
        let more = if registers.len() > shown {
            format!("; and {} registers more", registers.len() - shown)
        } else {
            String::new()
        };
        format!(
            "{who} ({group}) of {}, {rows} x {columns}, in {}: {}{more}.{addressed}",
            operand.title(),
            shape.name,
            registers[..shown].join("; ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::emulator::{Class, TraceInstruction};

    #[test]
    fn a_run_chooses_its_own_instruction() {
        let text = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1}, {%r1}, {%r2}, {%f1};";
        let instruction = TraceInstruction { text: text.into(), source: None, class: Class::Matrix };
        let trace = Trace { instructions: vec![instruction], block: [32, 1, 1], ..Trace::default() };
        let mut viz = MmaFragment::default();
        viz.fill(&VizInput { trace: Some(&trace), ..VizInput::default() });
        assert_eq!(viz.shape().name, SHAPES[shapes::of_text(text).expect("a known shape")].name);
        assert!(viz.shape().name.contains("m16n8k32"), "{}", viz.shape().name);
    }

    #[test]
    fn the_words_name_rows_and_columns() {
        let mut viz = MmaFragment::default();
        viz.lane.jump(13);
        let words = viz.describe(&VizInput::default());
        assert!(
            words.contains("a0: row 3, columns 2 and 3") && words.contains("a1: row 11, columns 2 and 3"),
            "{words}"
        );
    }
}
