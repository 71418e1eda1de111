//! Warp execution: lanes against time. Which lanes take part in each instruction, where a warp splits and where it
//! comes together again.

mod example;

use super::example::Memo;
use super::kit;
use super::model;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit::{self, Swatch};
use egui::{Align2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};
use example::{Condition, WhatIf};
use gpu_core::emulator::{Step, Trace, WarpTrace};

const GUTTER: f32 = 64.0;
/// A step is at least and at most so wide.
const NARROWEST: f32 = 18.0;
const WIDEST: f32 = 40.0;
const LANE_HEIGHT: f32 = 9.0;
/// The band above the lanes with the marks of splits and joins, and the line numbers.
const BAND: f32 = 32.0;
/// The strip below the lanes that shows the whole run.
const OVERVIEW: f32 = 34.0;

#[derive(Default)]
pub struct Warp {
    what_if: WhatIf,
    cached: Memo<WhatIf, Trace>,
    warp: usize,
    step: Stepper,
}

/// What happens to the set of active lanes from one step to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Same,
    /// Some lanes stop taking part.
    Split,
    /// Lanes that waited take part again.
    Join,
    /// Other lanes run while those of the step before wait.
    Switch,
}

fn change(before: Option<&Step>, now: &Step) -> Change {
    let Some(before) = before else { return Change::Same };
    match (before.mask, now.mask) {
        (a, b) if a == b => Change::Same,
        (a, b) if a & b == b => Change::Split,
        (a, b) if a & b == a => Change::Join,
        _ => Change::Switch,
    }
}

/// Lane slots used and lane slots there were, of the steps given.
fn slots(steps: &[Step]) -> (u64, u64) {
    let used = steps.iter().map(|step| u64::from(step.mask.count_ones())).sum();
    (used, steps.len() as u64 * u64::from(model::LANES))
}

/// Sets of lanes in the order in which they first ran: the first is drawn in the first colour, and so on.
fn paths(steps: &[Step]) -> Vec<u32> {
    let mut paths: Vec<u32> = Vec::new();
    for step in steps {
        if !paths.contains(&step.mask) {
            paths.push(step.mask);
        }
    }
    paths
}

impl Warp {
    fn warp<'a>(&self, trace: &'a Trace) -> Option<&'a WarpTrace> {
        let running = |warp: &&WarpTrace| !warp.steps.is_empty();
        trace.warps.iter().filter(running).nth(self.warp).or_else(|| trace.warps.iter().find(running))
    }

    fn choice_ui(&mut self, ui: &mut Ui, trace: &Trace) {
        let running: Vec<&WarpTrace> = trace.warps.iter().filter(|warp| !warp.steps.is_empty()).collect();
        self.warp = self.warp.min(running.len().saturating_sub(1));
        let name = |warp: &WarpTrace| {
            let (used, all) = slots(&warp.steps);
            let share = 100.0 * used as f64 / all.max(1) as f64;
            let block = model::coordinates(warp.block, trace.grid);
            format!("block {block}, warp {}: {share:.0} % of lane slots used", warp.warp)
        };
        let Some(current) = running.get(self.warp) else { return };
        let shown = egui::ComboBox::from_id_salt("warp")
            .width(260.0_f32.min(ui.available_width()))
            .selected_text(name(current))
            .show_ui(ui, |ui| {
                for (index, warp) in running.iter().enumerate() {
                    ui.selectable_value(&mut self.warp, index, name(warp));
                }
            });
        plot_kit::name_choice(&shown.response, "Warp", &name(current));
    }

    fn what_if_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            ui.label("condition");
            for condition in Condition::ALL {
                ui.selectable_value(&mut self.what_if.condition, condition, condition.code());
            }
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, trace: &Trace, warp: &WarpTrace, words: &str) {
        let width = ui.available_width();
        let lanes_height = LANE_HEIGHT * model::LANES as f32;
        let size = vec2(width, BAND + lanes_height + space::M + OVERVIEW);
        let canvas = self.step.canvas(ui, size, words, warp.steps.len());
        let tokens = theme::tokens(ui);
        let room = width - GUTTER;
        let column = (room / warp.steps.len().max(1) as f32).floor().clamp(NARROWEST, WIDEST);
        let columns = ((room / column) as usize).max(1);
        let first = self.step.at.saturating_sub(columns / 2).min(warp.steps.len().saturating_sub(columns));
        let view = View { rect: canvas.rect, column, columns, first, at: self.step.at };
        view.paint(&canvas.painter, tokens, trace, warp);
        let Some(pos) = canvas.response.hover_pos() else { return };
        if let Some((step, lane)) = view.hit(pos, warp) {
            if canvas.response.clicked() {
                self.step.jump(step);
            }
            canvas.response.on_hover_text_at_pointer(hover_words(trace, warp, step, lane));
        }
    }
}

impl Visualization for Warp {
    kit::head!("warp-execution", "Warp execution");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = &kit::input_ui(ui, input, self.id());
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        if input.trace.is_none() {
            self.what_if_ui(ui);
        }
        self.choice_ui(ui, trace);
        let Some(warp) = self.warp(trace) else {
            kit::nothing_ui(ui, "No warp was traced.");
            return None;
        };
        self.step.ui(ui, warp.steps.len(), "step");
        let own_source = self.what_if.source();
        let source = if input.trace.is_some() { input.source } else { Some(own_source.as_str()) };
        let mut action = None;
        if let Some(step) = warp.steps.get(self.step.at) {
            let line = trace.instructions.get(step.instruction as usize).and_then(|i| i.source.as_ref());
            match (source, line) {
                (Some(source), Some(line)) => kit::listing_ui(ui, source, line.line, 5),
                _ => action = kit::source_line_ui(ui, source, trace, step.instruction),
            }
        }
        let words = self.describe(input);
        self.picture_ui(ui, trace, warp, &words);
        let tokens = theme::tokens(ui);
        plot_kit::legend(ui, |ui| {
            plot_kit::legend_entry(ui, Swatch::Bar, tokens.series[0], "lane takes part; one color per set of lanes");
            plot_kit::legend_entry(ui, Swatch::Bar, tokens.lane_off, "lane waits");
            ui.label(egui::RichText::new("▼ split   ▲ join   ◆ other lanes").small().color(tokens.text_muted));
        });
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        let Some(warp) = self.warp(trace) else {
            return format!("{}. No warp was traced.", kit::launch_words(trace));
        };
        let at = self.step.within(warp.steps.len());
        let step = &warp.steps[at];
        let before = at.checked_sub(1).and_then(|before| warp.steps.get(before));
        let active = step.mask.count_ones();
        let (place, text) = instruction_words(trace, step);
        let mut words = format!("Step {}, {place}: {text} {active} of 32 lanes take part. ", at + 1);
        match change(before, step) {
            Change::Same => {}
            Change::Split => {
                let waiting = before.map_or(0, |b| b.mask.count_ones()) - active;
                let verb = if waiting == 1 { "waits" } else { "wait" };
                words.push_str(&format!("Here the warp splits: {} {verb}. ", kit::plural(waiting as usize, "lane")));
            }
            Change::Join => words.push_str("Here lanes that waited join again. "),
            Change::Switch => words.push_str("Now other lanes run; those of the step before wait. "),
        }
        let (used, all) = slots(&warp.steps);
        words.push_str(&format!(
            "Over its {} steps the warp used {:.0} % of its lane slots.",
            warp.steps.len(),
            100.0 * used as f64 / all.max(1) as f64
        ));
        words
    }
}

fn source_line(trace: &Trace, step: &Step) -> Option<u32> {
    Some(trace.instructions.get(step.instruction as usize)?.source.as_ref()?.line)
}

/// `line 4` or `at an unknown line`, and the instruction.
fn instruction_words(trace: &Trace, step: &Step) -> (String, String) {
    match trace.instructions.get(step.instruction as usize) {
        Some(instruction) => {
            let place = instruction.source.as_ref().map_or("no source line".to_owned(), |s| format!("line {}", s.line));
            (place, format!("{}.", instruction.text.trim_end_matches(';')))
        }
        None => ("no source line".to_owned(), "an instruction that the trace does not name.".to_owned()),
    }
}

fn hover_words(trace: &Trace, warp: &WarpTrace, at: usize, lane: Option<u32>) -> String {
    let Some(step) = warp.steps.get(at) else { return String::new() };
    let (place, text) = instruction_words(trace, step);
    let head = format!("Step {}, {place}\n{text}", at + 1);
    match lane {
        Some(lane) => {
            let linear = warp.warp.saturating_mul(model::LANES).saturating_add(lane);
            let thread = model::coordinates(model::thread_at(trace.block, linear), trace.block);
            let state = if step.mask >> lane & 1 == 1 { "takes part" } else { "waits" };
            format!("{head}\nLane {lane} (thread {thread}) {state}")
        }
        None => format!("{head}\n{} of 32 lanes take part", step.mask.count_ones()),
    }
}

/// The part of a warp's steps that is in view.
struct View {
    rect: Rect,
    /// Width of a step.
    column: f32,
    columns: usize,
    first: usize,
    at: usize,
}

impl View {
    fn lanes_top(&self) -> f32 {
        self.rect.top() + BAND
    }

    fn lanes_bottom(&self) -> f32 {
        self.lanes_top() + LANE_HEIGHT * model::LANES as f32
    }

    fn left(&self) -> f32 {
        self.rect.left() + GUTTER
    }

    fn overview(&self) -> Rect {
        let right = self.left() + (self.columns as f32 * self.column).max(120.0).min(self.rect.right() - self.left());
        Rect::from_min_max(pos2(self.left(), self.lanes_bottom() + space::M), pos2(right, self.rect.bottom()))
    }

    /// The step under a position, and the lane where the position is on the lanes.
    fn hit(&self, pos: egui::Pos2, warp: &WarpTrace) -> Option<(usize, Option<u32>)> {
        let overview = self.overview();
        if overview.contains(pos) {
            let share = (pos.x - overview.left()) / overview.width();
            let step = (share * warp.steps.len() as f32) as usize;
            return (step < warp.steps.len()).then_some((step, None));
        }
        let column = (pos.x - self.left()) / self.column;
        if column < 0.0 || pos.y > self.lanes_bottom() {
            return None;
        }
        let step = self.first + column as usize;
        let lane = ((pos.y - self.lanes_top()) / LANE_HEIGHT) as i64;
        let lane = (pos.y >= self.lanes_top() && lane < 32).then_some(lane as u32);
        (step < warp.steps.len()).then_some((step, lane))
    }

    fn paint(&self, painter: &egui::Painter, tokens: &Tokens, trace: &Trace, warp: &WarpTrace) {
        let paths = paths(&warp.steps);
        let color = |mask: u32| {
            let index = paths.iter().position(|path| *path == mask).unwrap_or(0);
            tokens.series[index % tokens.series.len()]
        };
        for lane in (0..model::LANES).filter(|lane| lane % 4 == 0 || *lane == 31) {
            let y = self.lanes_top() + (lane as f32 + 0.5) * LANE_HEIGHT;
            let text = if lane == 0 { "lane 0".to_owned() } else { lane.to_string() };
            if lane != 28 {
                kit::small(painter, pos2(self.left() - space::S, y), Align2::RIGHT_CENTER, text, tokens.text_muted);
            }
        }
        let label = pos2(self.left() - space::S, self.lanes_top() - 2.0);
        kit::small(painter, label, Align2::RIGHT_BOTTOM, "code line", tokens.text_muted);
        for column in 0..self.columns {
            let index = self.first + column;
            let Some(step) = warp.steps.get(index) else { break };
            let x = self.left() + column as f32 * self.column;
            let before = index.checked_sub(1).and_then(|before| warp.steps.get(before));
            let mark = match change(before, step) {
                Change::Same => None,
                Change::Split => Some("▼"),
                Change::Join => Some("▲"),
                Change::Switch => Some("◆"),
            };
            if let Some(mark) = mark {
                let at = pos2(x + self.column / 2.0, self.rect.top() + BAND / 4.0);
                kit::small(painter, at, Align2::CENTER_CENTER, mark, tokens.text);
            }
            let line = source_line(trace, step);
            if line.is_some() && (column == 0 || line != before.and_then(|before| source_line(trace, before))) {
                let at = pos2(x + self.column / 2.0, self.lanes_top() - 2.0);
                let line = line.map(|line| line.to_string()).unwrap_or_default();
                kit::small(painter, at, Align2::CENTER_BOTTOM, line, tokens.text_muted);
            }
            for lane in 0..model::LANES {
                let on = step.mask >> lane & 1 == 1;
                let min = pos2(x, self.lanes_top() + lane as f32 * LANE_HEIGHT);
                let rect = Rect::from_min_size(min, vec2(self.column, LANE_HEIGHT)).shrink(1.0);
                if on {
                    painter.rect_filled(rect, 1.0, color(step.mask));
                } else {
                    let bar = Rect::from_center_size(rect.center(), vec2(rect.width(), 2.0));
                    painter.rect_filled(bar, 0.0, tokens.border);
                }
            }
            let barrier = trace.instructions.get(step.instruction as usize).is_some_and(model::is_block_barrier);
            if barrier {
                let line = Stroke::new(2.0, tokens.text);
                painter.vline(x + self.column / 2.0, self.lanes_top()..=self.lanes_bottom(), line);
            }
            if index == self.at {
                let frame = Rect::from_min_max(pos2(x, self.lanes_top()), pos2(x + self.column, self.lanes_bottom()));
                painter.rect_stroke(frame.expand(1.0), 2.0, Stroke::new(2.5, tokens.lane_focus), StrokeKind::Outside);
            }
        }
        self.paint_overview(painter, tokens, warp, color);
    }

    /// Active lanes of every step as bars, with the part in view framed.
    fn paint_overview(
        &self,
        painter: &egui::Painter,
        tokens: &Tokens,
        warp: &WarpTrace,
        color: impl Fn(u32) -> egui::Color32,
    ) {
        let area = self.overview();
        painter.rect_filled(area, 2.0, tokens.inset);
        let label = pos2(area.left() - space::S, area.center().y);
        kit::small(painter, label, Align2::RIGHT_CENTER, "whole run", tokens.text_muted);
        let count = warp.steps.len().max(1);
        let width = area.width() / count as f32;
        // More steps than pixels: some are skipped.
        let stride = (1.0 / width).ceil().max(1.0) as usize;
        for (index, step) in warp.steps.iter().enumerate().step_by(stride) {
            let height = area.height() * step.mask.count_ones() as f32 / model::LANES as f32;
            let x = area.left() + index as f32 * width;
            let bar = Rect::from_min_max(
                pos2(x, area.bottom() - height),
                pos2(x + (width * stride as f32 - 0.5).max(0.7), area.bottom()),
            );
            painter.rect_filled(bar, 0.0, color(step.mask));
        }
        let place = |index: usize| area.left() + index.min(count) as f32 * width;
        if count > self.columns {
            let window = Rect::from_x_y_ranges(place(self.first)..=place(self.first + self.columns), area.y_range());
            painter.rect_stroke(window, 2.0, Stroke::new(1.0, tokens.text), StrokeKind::Inside);
        }
        let now = place(self.at) + width / 2.0;
        painter.vline(now, area.y_range(), Stroke::new(2.0, tokens.lane_focus));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_warps_do_not_diverge_and_halves_do() {
        let uniform = WhatIf { condition: Condition::WholeWarps }.trace();
        assert!(uniform.warps.iter().all(|warp| paths(&warp.steps).len() == 1));
        for condition in [Condition::EveryOther, Condition::FirstHalf, Condition::OneLane] {
            let trace = WhatIf { condition }.trace();
            let warp = &trace.warps[0];
            let changes: Vec<_> = warp.steps.windows(2).map(|pair| change(Some(&pair[0]), &pair[1])).collect();
            assert!(changes.contains(&Change::Split) && changes.contains(&Change::Join), "{condition:?}");
            let (used, all) = slots(&warp.steps);
            assert!(used < all);
        }
    }

    #[test]
    fn a_loop_thins_out_lane_by_lane() {
        let trace = WhatIf { condition: Condition::Loop }.trace();
        assert!(paths(&trace.warps[0].steps).len() >= 4);
    }
}
