//! TMA boxes: which part of a tensor one copy takes, what fills the places beyond its edge, and where each 16 bytes of it
//! go in shared memory, with the swizzle.

mod layout;

use super::kit;
use super::matrix::{Element, Matrix, State};
use super::model;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Stroke, Ui, pos2, vec2};
use gpu_core::emulator::{TensorBox, Trace};
use layout::{BoxCopy, CHUNK_BYTES, Piece, SWIZZLES};

const GUTTER: f32 = 46.0;
const HEAD: f32 = 34.0;
/// Chunks of shared memory side by side: all 32 banks once.
const CHUNKS_A_ROW: usize = 8;
/// Rows of either picture; more are left out.
const MOST_ROWS: usize = 24;
const MOST_COLUMNS: usize = 24;

#[derive(Default)]
pub struct TmaBox {
    copy: BoxCopy,
    chunk: Stepper,
    /// Which copy of the learner's run.
    turn: usize,
}

/// A box that the learner's run copied, with the instruction that did it.
struct Ran<'a> {
    tensor: &'a TensorBox,
    instruction: u32,
    block: [u32; 3],
    to_shared: bool,
    shared_low: u64,
}

/// The copies of two-dimensional boxes in a trace; more dimensions are shown by their innermost two.
fn boxes(trace: &Trace) -> Vec<Ran<'_>> {
    let steps = trace.warps.iter().flat_map(|warp| warp.steps.iter().map(move |step| (warp.block, step)));
    let mut found: Vec<(u64, Ran<'_>)> = steps
        .filter_map(|(block, step)| {
            let copy = step.copy.as_ref()?;
            let tensor = copy.tensor.as_ref().filter(|tensor| !tensor.extents.is_empty())?;
            let (instruction, to_shared, shared_low) = (step.instruction, copy.to_shared, copy.shared_low);
            Some((step.tick, Ran { tensor, instruction, block, to_shared, shared_low }))
        })
        .collect();
    found.sort_by_key(|(tick, _)| *tick);
    found.into_iter().map(|(_, ran)| ran).collect()
}

impl TmaBox {
    /// The copy that is drawn: the learner's, or the one that was set by hand.
    fn shown(&self, ran: &[Ran<'_>]) -> BoxCopy {
        ran.get(self.turn.min(ran.len().saturating_sub(1))).map_or(self.copy, |ran| BoxCopy::of(ran.tensor))
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        let copy = &mut self.copy;
        ui.horizontal_wrapped(|ui| {
            let number = |ui: &mut Ui, name: &str, value: &mut i64, range: std::ops::RangeInclusive<i64>| {
                let label = ui.label(name);
                ui.add(egui::DragValue::new(value).range(range)).labelled_by(label.id);
            };
            number(ui, "tensor rows", &mut copy.rows, 1..=64);
            number(ui, "columns", &mut copy.columns, 4..=96);
            number(ui, "box rows", &mut copy.box_rows, 1..=32);
            number(ui, "columns", &mut copy.box_columns, 4..=64);
            number(ui, "from row", &mut copy.row, -16..=64);
            number(ui, "column", &mut copy.column, -32..=96);
        });
        ui.horizontal_wrapped(|ui| {
            ui.label("element");
            for bytes in [1, 2, 4] {
                let name = format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" });
                ui.selectable_value(&mut copy.element_bytes, bytes, name);
            }
            ui.label("swizzle");
            for swizzle in SWIZZLES {
                let name = if swizzle == 0 { "none".to_owned() } else { format!("{swizzle} bytes") };
                ui.selectable_value(&mut copy.swizzle, swizzle, name);
            }
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, copy: &BoxCopy, words: &str) {
        let pieces = copy.pieces();
        let chosen = self.chunk.within(pieces.len());
        // Both pictures count in pieces of 16 bytes.
        let first_row = copy.row.min(0);
        let last_row = (copy.rows.max(copy.row + copy.box_rows)).min(first_row + MOST_ROWS as i64);
        let first_chunk = copy.column_chunk().min(0);
        let chunks = copy.tensor_chunks().max(copy.column_chunk() + copy.box_chunks());
        let last_chunk = chunks.min(first_chunk + MOST_COLUMNS as i64);
        let (rows, columns) = ((last_row - first_row).max(1) as usize, (last_chunk - first_chunk).max(1) as usize);
        let shared_rows = copy.shared_bytes().unsigned_abs().div_ceil(128).clamp(1, MOST_ROWS as u64) as usize;
        let width = ui.available_width();
        let beside = width > 560.0;
        let room = if beside { (width - 2.0 * GUTTER - space::L) / 2.0 } else { width - GUTTER };
        let cell = (room / columns.max(CHUNKS_A_ROW) as f32)
            .min(330.0 / rows.max(shared_rows) as f32)
            .floor()
            .clamp(6.0, 26.0);
        let (above, below) = (rows as f32 * cell, shared_rows as f32 * cell);
        let height = if beside { HEAD + above.max(below) } else { 2.0 * HEAD + above + below } + space::M;
        let canvas = self.chunk.canvas(ui, vec2(width, height), words, pieces.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let tensor = Matrix { origin: canvas.rect.min + vec2(GUTTER, HEAD), rows, columns, cell };
        let at = if beside {
            pos2(canvas.rect.left() + 2.0 * GUTTER + room + space::L, canvas.rect.top() + HEAD)
        } else {
            pos2(canvas.rect.left() + GUTTER, canvas.rect.top() + 2.0 * HEAD + above)
        };
        let shared = Matrix { origin: at, rows: shared_rows, columns: CHUNKS_A_ROW, cell };
        let place = |piece: &Piece| ((piece.row - first_row) as usize, (piece.chunk - first_chunk) as usize);
        let focus = pieces.get(chosen);
        tensor.paint(painter, tokens, None, |row, column| {
            let (row, chunk) = (row as i64 + first_row, column as i64 + first_chunk);
            let inside = (0..copy.rows).contains(&row) && (0..copy.tensor_chunks()).contains(&chunk);
            let state = match () {
                () if focus.is_some_and(|piece| (piece.row, piece.chunk) == (row, chunk)) => State::Focus,
                () if copy.holds(row, chunk) && inside => State::Before,
                () if copy.holds(row, chunk) => State::Near,
                () => State::Empty,
            };
            Element { state, number: None }
        });
        // The tensor's own edge, and the box.
        let clamp = |at: i64, first: i64, most: usize| (at - first).clamp(0, most as i64) as usize;
        let edge = Stroke::new(2.0, tokens.text);
        let of_tensor = (
            clamp(0, first_row, rows)..clamp(copy.rows, first_row, rows),
            clamp(0, first_chunk, columns)..clamp(copy.tensor_chunks(), first_chunk, columns),
        );
        tensor.frame(painter, of_tensor.0, of_tensor.1, edge);
        let of_box = (
            clamp(copy.row, first_row, rows)..clamp(copy.row + copy.box_rows, first_row, rows),
            clamp(copy.column_chunk(), first_chunk, columns)
                ..clamp(copy.column_chunk() + copy.box_chunks(), first_chunk, columns),
        );
        tensor.frame(painter, of_box.0, of_box.1, Stroke::new(2.5, tokens.accent));
        let in_shared = |piece: &Piece| {
            let chunk = piece.offset / CHUNK_BYTES;
            ((chunk / CHUNKS_A_ROW as i64) as usize, (chunk % CHUNKS_A_ROW as i64) as usize)
        };
        shared.paint(painter, tokens, None, |row, column| {
            let here = pieces.iter().find(|piece| in_shared(piece) == (row, column));
            let state = match here {
                Some(piece) if focus == Some(piece) => State::Focus,
                Some(piece) if piece.outside == layout::Outside::Whole => State::Near,
                Some(_) => State::Before,
                None => State::Empty,
            };
            // Row of the box: where rows go is what a swizzle changes.
            Element { state, number: here.map(|piece| (piece.row - copy.row) as u32) }
        });
        axis_ui(painter, tokens, &tensor, first_row, "tensor, in pieces of 16 bytes");
        axis_ui(painter, tokens, &shared, 0, "shared memory, 128 bytes a row");
        for column in 0..CHUNKS_A_ROW {
            if cell >= 16.0 || column % 2 == 0 {
                let at = shared.rect(0, column).center_top() - vec2(0.0, 2.0);
                kit::small(painter, at, Align2::CENTER_BOTTOM, column * 4, tokens.text_faint);
            }
        }
        let Some(pos) = canvas.response.hover_pos() else { return };
        let under = |piece: &&Piece| Some(place(piece)) == tensor.at(pos) || Some(in_shared(piece)) == shared.at(pos);
        if let Some((index, piece)) = pieces.iter().enumerate().find(|(_, piece)| under(piece)) {
            if canvas.response.clicked() {
                self.chunk.jump(index);
            }
            canvas.response.on_hover_text_at_pointer(copy.piece_words(piece));
        }
    }
}

fn axis_ui(painter: &egui::Painter, tokens: &Tokens, matrix: &Matrix, first: i64, title: &str) {
    let top = matrix.origin - vec2(GUTTER - space::XS, HEAD);
    kit::small(painter, top, Align2::LEFT_TOP, title, tokens.text);
    let every = (14.0 / matrix.cell).ceil().max(1.0) as usize;
    for row in (0..matrix.rows).step_by(every) {
        let at = matrix.rect(row, 0).left_center() - vec2(space::XS, 0.0);
        kit::small(painter, at, Align2::RIGHT_CENTER, first + row as i64, tokens.text_muted);
    }
}

impl Visualization for TmaBox {
    kit::head_without_steps!("tma-box", "TMA boxes");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = &kit::input_ui(ui, input, self.id());
        let ran = input.trace.map(boxes).unwrap_or_default();
        let mut action = None;
        match (input.trace, ran.get(self.turn.min(ran.len().saturating_sub(1)))) {
            (Some(trace), Some(now)) => {
                ui.horizontal_wrapped(|ui| {
                    let label = ui.label(format!("copy 1 to {}", ran.len()));
                    let mut turn = self.turn.min(ran.len() - 1) + 1;
                    ui.add(egui::DragValue::new(&mut turn).range(1..=ran.len())).labelled_by(label.id);
                    self.turn = turn - 1;
                    let way = if now.to_shared { "load" } else { "store" };
                    let text = format!(
                        "{way} by block {}, shared offset {}",
                        model::coordinates(now.block, trace.grid),
                        now.shared_low
                    );
                    ui.label(egui::RichText::new(text).small().color(theme::tokens(ui).text_muted));
                    action = kit::source_line_ui(ui, input.source, trace, now.instruction);
                });
            }
            (Some(_), None) => {
                kit::nothing_ui(ui, "The traced blocks copied no tensor box.");
                return None;
            }
            (None, _) => self.controls_ui(ui),
        }
        let copy = self.shown(&ran);
        self.chunk.ui(ui, copy.pieces().len(), "piece");
        let words = self.describe(input);
        self.picture_ui(ui, &copy, &words);
        plot_kit::legend(ui, |ui| {
            State::Focus.legend_ui(ui, "this piece of 16 bytes");
            State::Before.legend_ui(ui, "copied from the tensor; the number is its row in the box");
            State::Near.legend_ui(ui, "outside the tensor: filled with zeros");
        });
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let ran = input.trace.map(boxes).unwrap_or_default();
        if input.trace.is_some() && ran.is_empty() {
            return "The traced blocks copied no tensor box.".to_owned();
        }
        let copy = self.shown(&ran);
        let pieces = copy.pieces();
        let piece =
            pieces.get(self.chunk.within(pieces.len())).map_or_else(String::new, |piece| copy.piece_words(piece));
        format!("{} {piece}{}", copy.words(), copy.trouble().map_or_else(String::new, |why| format!(" {why}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::emulator::{Step, StepCopy, WarpTrace};

    #[test]
    fn a_run_shows_its_own_boxes() {
        let tensor = TensorBox {
            allocation: None,
            start: vec![32, 8],
            extents: vec![32, 4],
            sizes: vec![100, 50],
            element_bits: 32,
            swizzle_bytes: 128,
            ..TensorBox::default()
        };
        let moved =
            StepCopy { shared_low: 1024, shared_bytes: 512, to_shared: true, bytes: 512, ..StepCopy::default() };
        let copy = StepCopy { tensor: Some(tensor), ..moved };
        let step = Step { tick: 0, instruction: 0, mask: 1, access: None, copy: Some(Box::new(copy)), barrier: None };
        let warps = vec![WarpTrace { block: [0; 3], warp: 0, steps: vec![step] }];
        let trace = Trace { warps, grid: [1; 3], block: [32, 1, 1], ..Trace::default() };
        let words = TmaBox::default().describe(&VizInput { trace: Some(&trace), ..VizInput::default() });
        assert!(words.contains("4 rows of 32") && words.contains("row 8, column 32"), "{words}");
    }
}
