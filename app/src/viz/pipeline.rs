//! Pipeline timeline: for each stage of shared memory when it is filled, waited for, read and free, and what the warps do
//! meanwhile.

mod batches;
mod example;

use super::example::Memo;
use super::kit;
use super::model;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use batches::{Batch, Pipeline, Work};
use egui::{Align2, Color32, Rect, Stroke, StrokeKind, Ui, pos2, vec2};
use example::WhatIf;
use gpu_core::emulator::Trace;
use std::rc::Rc;

const LABEL: f32 = 78.0;
const STAGE: f32 = 30.0;
const WARP: f32 = 13.0;
/// More rows say no more.
const MOST_STAGES: usize = 8;
const MOST_WARPS: usize = 16;

#[derive(Default)]
pub struct PipelineTimeline {
    what_if: WhatIf,
    cached: Memo<WhatIf, Trace>,
    read: Memo<u64, Pipeline>,
    batch: Stepper,
}

impl PipelineTimeline {
    fn pipeline(&self, trace: &Trace) -> Rc<Pipeline> {
        self.read.get(&model::fingerprint(trace), |_| Pipeline::of(trace))
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            ui.label("stages");
            for stages in 1..=example::MOST_STAGES {
                ui.selectable_value(&mut self.what_if.stages, stages, stages.to_string());
            }
            let label = ui.label("tiles");
            ui.add(egui::DragValue::new(&mut self.what_if.tiles).range(2..=16)).labelled_by(label.id);
            let label = ui.label("multiply-adds a tile");
            ui.add(egui::DragValue::new(&mut self.what_if.work).range(1..=16)).labelled_by(label.id);
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, pipeline: &Pipeline, words: &str) {
        let stages = pipeline.stages.len().min(MOST_STAGES);
        let warps = pipeline.warps.len().min(MOST_WARPS);
        let width = ui.available_width();
        let height = space::XL + stages as f32 * STAGE + space::L + warps as f32 * WARP + space::XL;
        let canvas = self.batch.canvas(ui, vec2(width, height), words, pipeline.batches.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let left = canvas.rect.left() + LABEL;
        let room = (width - LABEL - space::S).max(40.0);
        let count = pipeline.beats.len().max(1);
        let x = |beat: usize| left + room * beat.min(count) as f32 / count as f32;
        let top = canvas.rect.top() + space::XL;
        let chosen = self.batch.within(pipeline.batches.len());
        kit::small(painter, canvas.rect.min, Align2::LEFT_TOP, "stages of shared memory", tokens.text);
        for stage in 0..stages {
            let row = Rect::from_min_size(pos2(left, top + stage as f32 * STAGE), vec2(room, STAGE - 6.0));
            painter.rect_filled(row, 2.0, tokens.inset);
            let label = pos2(left - space::S, row.center().y);
            kit::small(painter, label, Align2::RIGHT_CENTER, format!("stage {stage}"), tokens.text_muted);
        }
        for (number, batch) in pipeline.batches.iter().enumerate().filter(|(_, batch)| batch.stage < stages) {
            let y = top + batch.stage as f32 * STAGE;
            let part = |from: usize, to: usize| {
                Rect::from_min_max(pos2(x(from), y), pos2(x(to.max(from + 1)), y + STAGE - 6.0))
            };
            let waited = batch.waited.unwrap_or(batch.issued.1 + 1);
            let flight = part(batch.issued.0, waited);
            painter.rect_filled(flight, 1.0, tokens.series[2].gamma_multiply(0.45));
            plot_kit::hatch(painter, flight, tokens.series[2]);
            if let Some((first, last)) = batch.read {
                painter.rect_filled(part(waited, first), 0.0, tokens.lane_on.gamma_multiply(0.3));
                painter.rect_filled(part(first, last + 1), 1.0, tokens.lane_on);
            }
            let end = batch.read.map_or(waited, |(_, last)| last + 1);
            let whole = part(batch.issued.0, end);
            if whole.width() > 18.0 {
                let font = egui::FontId::proportional(theme::font_size::SMALL);
                painter.text(whole.left_center() + vec2(4.0, 0.0), Align2::LEFT_CENTER, number, font, tokens.text);
            }
            if number == chosen {
                painter.rect_stroke(whole, 1.0, Stroke::new(2.5, tokens.lane_focus), StrokeKind::Outside);
            }
        }
        let top = top + stages as f32 * STAGE + space::L;
        for (row, warp) in pipeline.warps.iter().take(warps).enumerate() {
            let at = pos2(left - space::S, top + row as f32 * WARP + WARP / 2.0);
            if row.is_multiple_of((warps / 6).max(1)) {
                kit::small(painter, at, Align2::RIGHT_CENTER, format!("warp {warp}"), tokens.text_muted);
            }
        }
        for (at, beat) in pipeline.beats.iter().enumerate().filter(|(_, beat)| beat.warp < warps) {
            let y = top + beat.warp as f32 * WARP;
            let mark = Rect::from_min_max(pos2(x(at), y), pos2(x(at + 1).max(x(at) + 1.0), y + WARP - 3.0));
            painter.rect_filled(mark, 0.0, color(tokens, beat.work));
        }
        let bottom = top + warps as f32 * WARP + 3.0;
        kit::small(painter, pos2(left, bottom), Align2::LEFT_TOP, "first instruction", tokens.text_faint);
        kit::small(
            painter,
            pos2(left + room, bottom),
            Align2::RIGHT_TOP,
            format!("{count} instructions later"),
            tokens.text_faint,
        );
        if let Some(batch) = pipeline.batches.get(chosen) {
            // Until when the chosen copies are on their way, through all rows.
            for at in [batch.issued.0, batch.waited.unwrap_or(batch.issued.1 + 1)] {
                let line = Stroke::new(1.0, tokens.lane_focus);
                plot_kit::dashed(painter, pos2(x(at), canvas.rect.top() + space::XL), pos2(x(at), bottom), line);
            }
        }
        let Some(pos) = canvas.response.hover_pos() else { return };
        let stage = ((pos.y - canvas.rect.top() - space::XL) / STAGE).floor();
        let under = pipeline
            .batches
            .iter()
            .position(|batch| batch.stage as f32 == stage && pos.x >= x(batch.issued.0) && pos.x < x(batch.refilled));
        if let Some(under) = under {
            if canvas.response.clicked() {
                self.batch.jump(under);
            }
            canvas.response.on_hover_text_at_pointer(batch_words(pipeline, under, &pipeline.batches[under]));
        }
    }
}

fn color(tokens: &Tokens, work: Work) -> Color32 {
    match work {
        Work::Copy => tokens.series[2],
        Work::Wait => tokens.warn,
        Work::Read => tokens.lane_on,
        Work::Compute => tokens.series[1],
        Work::Other => tokens.border,
    }
}

fn batch_words(pipeline: &Pipeline, number: usize, batch: &Batch) -> String {
    let others = pipeline.others_in_flight(batch);
    let wait = match batch.hidden() {
        Some(0) => "They are waited for at once: nothing hides their latency.".to_owned(),
        Some(hidden) => format!(
            "Before the wait the block runs {}; that is the work that hides their latency. {} more on the way then.",
            kit::plural(hidden, "instruction"),
            match others {
                0 => "No batch is".to_owned(),
                1 => "One batch is".to_owned(),
                n => format!("{n} batches are"),
            }
        ),
        None => "The traced part has no wait for them.".to_owned(),
    };
    let read = match batch.read {
        Some((first, last)) => format!(" The stage is read at instructions {first} to {last}"),
        None => " No read of it was traced".to_owned(),
    };
    let refill = if batch.refilled < pipeline.beats.len() {
        format!(" and filled again from instruction {} on.", batch.refilled)
    } else {
        ", and not filled again.".to_owned()
    };
    format!("Batch {number} copies {} bytes into stage {}. {wait}{read}{refill}", batch.bytes, batch.stage)
}

impl Visualization for PipelineTimeline {
    kit::head!("pipeline-timeline", "Pipeline timeline");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = &kit::input_ui(ui, input, self.id());
        if input.trace.is_none() {
            self.controls_ui(ui);
        }
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        let pipeline = self.pipeline(trace);
        if pipeline.batches.is_empty() {
            kit::nothing_ui(ui, "The traced block started no asynchronous copy into shared memory.");
            return None;
        }
        self.batch.ui(ui, pipeline.batches.len(), "batch of copies");
        let action = input.trace.and_then(|trace| {
            let batch = pipeline.batches.get(self.batch.within(pipeline.batches.len()))?;
            kit::source_line_ui(ui, input.source, trace, batch.instruction)
        });
        let words = self.describe(input);
        self.picture_ui(ui, &pipeline, &words);
        let tokens = theme::tokens(ui);
        plot_kit::legend(ui, |ui| {
            plot_kit::legend_entry(ui, plot_kit::Swatch::Hatched, tokens.series[2], "copies on their way");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.lane_on, "read");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.series[1], "arithmetic");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.warn, "wait or barrier");
        });
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        if !batches::has_copies(trace) {
            return "The traced block started no asynchronous copy into shared memory.".to_owned();
        }
        let pipeline = self.pipeline(trace);
        let number = self.batch.within(pipeline.batches.len());
        let Some(batch) = pipeline.batches.get(number) else {
            return "The traced block started no asynchronous copy into shared memory.".to_owned();
        };
        let line = batches::line_of(trace, batch.instruction);
        let line = line.map_or_else(String::new, |line| format!(", copied by line {line}"));
        let count = pipeline.batches.len();
        format!(
            "{} In all: {count} {} in {}{line}, with {} of shared memory. This is order, not time: the emulator has no clock.",
            batch_words(&pipeline, number, batch),
            if count == 1 { "batch" } else { "batches" },
            batches::block_words(trace, pipeline.block),
            kit::plural(pipeline.stages.len(), "stage"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stages: u32) -> Pipeline {
        Pipeline::of(&WhatIf { stages, ..WhatIf::default() }.trace())
    }

    #[test]
    fn every_tile_is_a_batch_in_the_stage_that_it_fills() {
        for stages in 1..=4 {
            let pipeline = of(stages);
            assert_eq!(pipeline.batches.len(), 8, "{stages} stages");
            assert_eq!(pipeline.stages.len(), stages as usize);
            for (number, batch) in pipeline.batches.iter().enumerate() {
                assert_eq!(batch.stage, number % stages as usize, "{stages} stages");
                assert_eq!(batch.bytes, 1024);
                let waited = batch.waited.expect("each batch is waited for");
                let (first, last) = batch.read.expect("each batch is read");
                assert!(
                    batch.issued.1 < waited && waited < first && last < batch.refilled,
                    "{stages} stages: {batch:?}"
                );
            }
        }
    }

    #[test]
    fn more_stages_hide_more() {
        let hidden = |stages| of(stages).batches[4].hidden().expect("a wait");
        assert!(hidden(1) <= 3, "one stage waits at once: {}", hidden(1));
        assert!(hidden(2) > 10 && hidden(3) > hidden(2) && hidden(4) > hidden(3));
        let pipeline = of(4);
        assert_eq!(
            pipeline.others_in_flight(&pipeline.batches[4]),
            2,
            "two tiles are ahead of the one that is waited for"
        );
    }
}
