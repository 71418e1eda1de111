//! Where the time of one decode step goes: weights, cache, small kernels and waiting for launches, before and after a
//! change. A model: each kernel takes as long as its bytes, and never less than a launch.

use super::kit;
use super::kv_model::{self, SHAPES, STORES, Store};
use super::stepper::Stepper;
use super::values::{self, number};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Painter, Rect, Ui, pos2, vec2};
use gpu_core::bench::Timing;

const GUTTER: f32 = 66.0;
const BAR: f32 = 46.0;
const ROW: f32 = 22.0;

/// How a step is done.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Setup {
    k: usize,
    v: usize,
    /// All launches in one CUDA graph.
    graph: bool,
    /// The attention kernel reads the small formats itself; else they are turned into bf16 before it.
    fused: bool,
}

pub struct DecodeTimeline {
    shape: usize,
    batch: usize,
    context: usize,
    before: Setup,
    after: Setup,
    gb_per_s: f64,
    /// Least microseconds of a kernel, alone and in a graph.
    launch_us: f64,
    graph_us: f64,
    /// Use the rate of the learner's benchmark for attention.
    own_rate: bool,
    piece: Stepper,
}

impl Default for DecodeTimeline {
    fn default() -> Self {
        Self {
            shape: 0,
            batch: 64,
            context: 8192,
            before: Setup { k: 0, v: 0, graph: false, fused: true },
            after: Setup { k: 1, v: 3, graph: true, fused: true },
            gb_per_s: 4400.0,
            launch_us: 7.2,
            graph_us: 3.3,
            own_rate: false,
            piece: Stepper::starting_at(1),
        }
    }
}

/// Kernels of one kind, all layers together.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    name: &'static str,
    launches: usize,
    bytes: f64,
    /// Microseconds for the bytes, and what launches add to them.
    moving_us: f64,
    waiting_us: f64,
}

impl Piece {
    fn total_us(&self) -> f64 {
        self.moving_us + self.waiting_us
    }
}

fn total_us(pieces: &[Piece]) -> f64 {
    pieces.iter().map(Piece::total_us).sum()
}

/// Bytes per second of the learner's last benchmark at its largest size.
fn measured_rate(input: &VizInput<'_>) -> Option<(f64, String)> {
    let bench = input.bench?;
    let timed = bench.points.iter().filter(|point| matches!(point.timing, Some(Timing::Measured { .. })));
    let point = timed.filter(|point| point.rejected.is_none()).max_by(|a, b| a.bytes.total_cmp(&b.bytes))?;
    let rate = point.bytes / (point.stats?.median_ns * 1e-9);
    (rate.is_finite() && rate > 0.0).then(|| (rate, point.name.clone()))
}

impl DecodeTimeline {
    /// The pieces of a step, in the order in which a layer runs them; `rate` in bytes per second is attention's.
    fn pieces(&self, setup: &Setup, rate: f64) -> Vec<Piece> {
        let shape = &SHAPES[self.shape];
        let (layers, batch) = (shape.layers, self.batch as f64);
        let floor_us = if setup.graph { self.graph_us } else { self.launch_us };
        let whole = self.gb_per_s * 1e9;
        // Each kernel of a kind moves its share of the bytes.
        let piece = |name, launches: usize, bytes: f64, rate: f64| {
            let moving_us = bytes / rate * 1e6;
            let waiting_us = (floor_us * launches as f64 - moving_us).max(0.0);
            Piece { name, launches, bytes, moving_us, waiting_us }
        };
        let (k, v) = (STORES[setup.k].1, STORES[setup.v].1);
        let cache = shape.cache_bytes_a_token(k, v) * self.context as f64 * batch;
        let wide = shape.cache_bytes_a_token(Store::Bf16, Store::Bf16) * self.context as f64 * batch;
        let is_small = (k, v) != (Store::Bf16, Store::Bf16);
        let activations = 2.0 * batch * shape.width as f64 * layers as f64;
        let mut pieces = vec![piece("projections", 2 * layers, 2.0 * shape.projections() * layers as f64, whole)];
        if is_small && !setup.fused {
            pieces.push(piece("dequantize the cache", layers, cache + wide, whole));
        }
        let read = if setup.fused { cache } else { wide };
        pieces.push(piece("attention", 2 * layers, read, rate));
        let feed_forward = 2.0 * shape.feed_forward_parameters() * layers as f64;
        pieces.push(piece("feed-forward", 2 * layers, feed_forward, whole));
        // Two norms, rotation and append, the activation: each reads and writes the step's rows.
        pieces.push(piece("small kernels", 4 * layers, 8.0 * activations, whole));
        pieces.push(piece("last product", 1, 2.0 * shape.vocabulary_parameters(), whole));
        pieces
    }

    fn both(&self, input: &VizInput<'_>) -> [Vec<Piece>; 2] {
        let whole = self.gb_per_s * 1e9;
        let own = measured_rate(input).filter(|_| self.own_rate).map_or(whole, |(rate, _)| rate);
        [self.pieces(&self.before, whole), self.pieces(&self.after, own)]
    }

    fn controls_ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) {
        ui.horizontal_wrapped(|ui| {
            for (index, shape) in SHAPES.iter().enumerate() {
                ui.selectable_value(&mut self.shape, index, shape.name);
            }
            values::count(ui, "batch", &mut self.batch, 1..=1024);
            values::count(ui, "tokens of context", &mut self.context, 1..=1 << 20);
        });
        for (name, setup) in [("before", &mut self.before), ("after", &mut self.after)] {
            ui.horizontal_wrapped(|ui| {
                ui.label(name);
                for (part, value) in [("K", &mut setup.k), ("V", &mut setup.v)] {
                    let shown = egui::ComboBox::from_id_salt((name, part))
                        .width(90.0)
                        .selected_text(format!("{part} {}", STORES[*value].0))
                        .show_ui(ui, |ui| {
                            for (index, (name, _)) in STORES.iter().enumerate() {
                                ui.selectable_value(value, index, *name);
                            }
                        });
                    plot_kit::name_choice(&shown.response, &format!("{part} {name}"), STORES[*value].0);
                }
                ui.checkbox(&mut setup.fused, "dequantized in the kernel");
                ui.checkbox(&mut setup.graph, "CUDA graph");
            });
        }
        ui.horizontal_wrapped(|ui| {
            values::drag(ui, "bandwidth in GB/s", &mut self.gb_per_s, 1.0..=100_000.0, 10.0);
            values::drag(ui, "least time of a kernel, in µs: alone", &mut self.launch_us, 0.0..=1000.0, 0.05);
            values::drag(ui, "in a graph", &mut self.graph_us, 0.0..=1000.0, 0.05);
            if let Some(ceilings) = input.ceilings
                && ui.button("This machine's bandwidth").clicked()
            {
                self.gb_per_s = ceilings.copy_bytes_per_s / 1e9;
            }
            if let Some((rate, name)) = measured_rate(input) {
                let text = format!("attention after: your kernel's {} ({name})", plot_kit::si(rate, "B/s"));
                ui.checkbox(&mut self.own_rate, text);
            }
        });
        let text =
            "Modeled. The figures it starts with were measured on one H200 in November 2026; change any of them.";
        ui.label(egui::RichText::new(text).small().color(theme::tokens(ui).text_muted));
    }

    /// Which bar and which piece a position of the stepper is.
    fn chosen(&self, both: &[Vec<Piece>; 2]) -> (usize, usize) {
        let at = self.piece.within(both[0].len() + both[1].len());
        if at < both[0].len() { (0, at) } else { (1, at - both[0].len()) }
    }

    fn picture_ui(&mut self, ui: &mut Ui, both: &[Vec<Piece>; 2], words: &str) {
        let width = ui.available_width();
        let rows = both[0].len().max(both[1].len());
        let beside = width > 560.0;
        let table = rows as f32 * ROW + 20.0;
        let height = 2.0 * (BAR + space::M) + 24.0 + if beside { table } else { 2.0 * table + space::M };
        let canvas = self.piece.canvas(ui, vec2(width, height), words, both[0].len() + both[1].len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let chosen = self.chosen(both);
        let whole = both.iter().map(|pieces| total_us(pieces)).fold(1e-9, f64::max);
        let left = canvas.rect.left() + GUTTER;
        let room = width - GUTTER - space::S;
        let mut clicked = None;
        for (bar, pieces) in both.iter().enumerate() {
            let y = canvas.rect.top() + bar as f32 * (BAR + space::M);
            let name = ["before", "after"][bar];
            let at = pos2(left - space::S, y + BAR / 2.0);
            kit::small(painter, at - vec2(0.0, 8.0), Align2::RIGHT_CENTER, name, tokens.text);
            let time = plot_kit::si(total_us(pieces) * 1e-6, "s");
            kit::small(painter, at + vec2(0.0, 8.0), Align2::RIGHT_CENTER, time, tokens.text_muted);
            let mut from = 0.0;
            for (index, piece) in pieces.iter().enumerate() {
                let x = |us: f64| left + room * (us / whole) as f32;
                let rect = Rect::from_min_max(pos2(x(from), y), pos2(x(from + piece.total_us()), y + BAR));
                paint_piece(painter, tokens, rect, piece, (bar, index) == chosen);
                if canvas.response.hover_pos().is_some_and(|pos| rect.contains(pos)) && canvas.response.clicked() {
                    clicked = Some((bar, index));
                }
                from += piece.total_us();
            }
        }
        let top = canvas.rect.top() + 2.0 * (BAR + space::M) + 20.0;
        for (bar, pieces) in both.iter().enumerate() {
            let origin = match (bar, beside) {
                (1, true) => pos2(canvas.rect.center().x + space::M, top),
                (1, false) => pos2(canvas.rect.left(), top + table + space::M),
                _ => pos2(canvas.rect.left(), top),
            };
            let room = if beside { width / 2.0 - space::L } else { width };
            kit::small(painter, origin, Align2::LEFT_BOTTOM, ["before", "after"][bar], tokens.text);
            for (index, piece) in pieces.iter().enumerate() {
                let row = Rect::from_min_size(origin + vec2(0.0, index as f32 * ROW + 2.0), vec2(room, ROW));
                if (bar, index) == chosen {
                    painter.rect_filled(row, 2.0, tokens.accent_soft);
                }
                let swatch = Rect::from_center_size(row.left_center() + vec2(10.0, 0.0), vec2(12.0, 12.0));
                painter.rect_filled(swatch, 2.0, color(tokens, piece.name));
                let text = row.left_center() + vec2(22.0, 0.0);
                kit::small(painter, text, Align2::LEFT_CENTER, piece.name, tokens.text);
                let time = plot_kit::si(piece.total_us() * 1e-6, "s");
                let share = 100.0 * piece.total_us() / total_us(pieces).max(1e-9);
                let text = format!("{time}, {share:.0} %");
                kit::small(painter, row.right_center() - vec2(4.0, 0.0), Align2::RIGHT_CENTER, text, tokens.text);
                if canvas.response.hover_pos().is_some_and(|pos| row.contains(pos)) && canvas.response.clicked() {
                    clicked = Some((bar, index));
                }
            }
        }
        if let Some((bar, index)) = clicked {
            self.piece.jump(if bar == 0 { index } else { both[0].len() + index });
        }
    }
}

fn color(tokens: &Tokens, piece: &str) -> egui::Color32 {
    match piece {
        "projections" => tokens.series[0],
        "dequantize the cache" => tokens.series[4],
        "attention" => tokens.series[1],
        "feed-forward" => tokens.series[2],
        "small kernels" => tokens.series[7],
        _ => tokens.series[5],
    }
}

/// Solid while bytes move, hatched while a launch is waited for.
fn paint_piece(painter: &Painter, tokens: &Tokens, rect: Rect, piece: &Piece, focus: bool) {
    let color = color(tokens, piece.name);
    let share = piece.moving_us / piece.total_us().max(1e-12);
    let moving = Rect::from_min_max(rect.min, pos2(rect.left() + rect.width() * share as f32, rect.bottom()));
    painter.rect_filled(moving, 1.0, color);
    if piece.waiting_us > 0.0 {
        plot_kit::hatch(painter, Rect::from_min_max(pos2(moving.right(), rect.top()), rect.max), color);
    }
    let galley = painter.layout_no_wrap(
        piece.name.to_owned(),
        egui::FontId::proportional(theme::font_size::SMALL),
        kit::on_fill(tokens, color),
    );
    if galley.size().x + 6.0 < moving.width() {
        painter.galley(moving.center() - galley.size() / 2.0, galley, kit::on_fill(tokens, color));
    }
    if focus {
        painter.rect_stroke(rect, 1.0, egui::Stroke::new(2.5, tokens.lane_focus), egui::StrokeKind::Inside);
        painter.rect_stroke(rect, 1.0, egui::Stroke::new(1.0, tokens.text), egui::StrokeKind::Outside);
    }
}

impl Visualization for DecodeTimeline {
    kit::head_without_steps!("decode-timeline", "Decode timeline");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.controls_ui(ui, input);
        let both = self.both(input);
        self.piece.ui(ui, both[0].len() + both[1].len(), "piece");
        let words = self.describe(input);
        self.picture_ui(ui, &both, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.series[7], "moving bytes");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Hatched, tokens.series[7], "waiting for launches");
        });
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let both = self.both(input);
        let (bar, index) = self.chosen(&both);
        let piece = &both[bar][index];
        let (before, after) = (total_us(&both[0]), total_us(&both[1]));
        let when = ["Before", "After"][bar];
        let bound = if piece.waiting_us > piece.moving_us {
            "Launches bound it: fewer kernels or a graph help, fewer bytes do not."
        } else {
            "Its bytes bound it: fewer of them help."
        };
        let waiting = if piece.waiting_us > 0.0 {
            format!(", {} of them waiting for launches", plot_kit::si(piece.waiting_us * 1e-6, "s"))
        } else {
            String::new()
        };
        let rate = self.batch as f64 * 1e6;
        format!(
            "{when}, {}: {} in {}, {} to move, {} in all{waiting}. {bound} The whole step takes {} before \
             and {} after, {:.2} times as fast: {} and {} tokens a second at batch {}.",
            piece.name,
            kit::plural(piece.launches, "kernel"),
            SHAPES[self.shape].name,
            kv_model::bytes(piece.bytes),
            plot_kit::si(piece.total_us() * 1e-6, "s"),
            plot_kit::si(before * 1e-6, "s"),
            plot_kit::si(after * 1e-6, "s"),
            before / after,
            number((rate / before).round()),
            number((rate / after).round()),
            self.batch,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_batches_are_bound_by_the_cache() {
        let viz = DecodeTimeline::default();
        let [before, after] = viz.both(&VizInput::default());
        let attention = |pieces: &[Piece]| {
            pieces
                .iter()
                .find(|piece| piece.name == "attention")
                .map(|piece| (piece.bytes, piece.moving_us))
                .unwrap_or_default()
        };
        // 131072 bytes a token, 8192 tokens, 64 sequences.
        assert_eq!(attention(&before).0, 131_072.0 * 8192.0 * 64.0);
        assert!((attention(&before).1 - 15_618.0).abs() < 1.0);
        assert!((attention(&before).0 / attention(&after).0 - 2.56).abs() < 1e-9);
    }

    #[test]
    fn a_tiny_step_is_bound_by_launches_and_a_graph_helps() {
        let viz = DecodeTimeline { shape: 2, batch: 1, context: 64, ..DecodeTimeline::default() };
        let [before, after] = viz.both(&VizInput::default());
        let waiting = |pieces: &[Piece]| pieces.iter().map(|piece| piece.waiting_us).sum::<f64>();
        assert!(waiting(&before) > 0.8 * total_us(&before));
        assert!(total_us(&before) > 1.8 * total_us(&after));
    }

    #[test]
    fn dequantizing_first_moves_more_bytes_than_bf16() {
        let mut viz = DecodeTimeline::default();
        viz.after.fused = false;
        let [before, after] = viz.both(&VizInput::default());
        assert!(total_us(&after) > total_us(&before));
    }
}
