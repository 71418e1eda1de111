//! Training-memory calculator: every byte that a training step keeps on one GPU, for a model and the usual ways to save.

mod bill;

use super::kit;
use super::kv_model::bytes;
use super::stepper::Stepper;
use super::values::{self, thousands};
use super::{Visualization, VizAction, VizInput};
use crate::fonts::Bold;
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use bill::{Bill, Choices, ITEMS, OPTIMIZERS, PRECISIONS, PRESETS, RECOMPUTE, ZERO};
use egui::{Align2, Color32, Grid, Painter, Rect, RichText, Stroke, Ui, pos2, vec2};

/// Batches are powers of two from 1.
const BATCHES: usize = 9;
const GUTTER: f32 = 74.0;
const BAR: f32 = 30.0;
const CHART: f32 = 170.0;

pub struct TrainingMemory {
    choices: Choices,
    /// Position 0 is one sequence.
    batch: Stepper,
    memory_gb: f64,
}

impl Default for TrainingMemory {
    fn default() -> Self {
        Self { choices: Choices::default(), batch: Stepper::starting_at(3), memory_gb: 80.0 }
    }
}

impl TrainingMemory {
    fn batch(&self) -> usize {
        1 << self.batch.within(BATCHES)
    }

    fn bill(&self) -> Bill {
        self.choices.bill(self.batch())
    }

    fn controls_ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) {
        let choices = &mut self.choices;
        ui.horizontal_wrapped(|ui| {
            for preset in PRESETS {
                if ui.selectable_label(choices.model == preset, preset.name).clicked() {
                    choices.model = preset;
                }
            }
            values::count(ui, "layers", &mut choices.model.layers, 1..=256);
            values::count(ui, "width h", &mut choices.model.width, 64..=32_768);
            values::count(ui, "heads a", &mut choices.model.heads, 1..=256);
            values::count(ui, "vocabulary V", &mut choices.model.vocabulary, 256..=1_000_000);
            values::count(ui, "tokens a sequence s", &mut choices.sequence, 16..=1_048_576);
        });
        ui.horizontal_wrapped(|ui| {
            choose(ui, "precision", &mut choices.precision, &PRECISIONS.map(|precision| precision.name));
            choose(ui, "optimizer", &mut choices.optimizer, &OPTIMIZERS.map(|(name, _)| name));
            choose(ui, "recomputation", &mut choices.recompute, &RECOMPUTE);
            choose(ui, "ZeRO", &mut choices.zero, &ZERO);
            values::count(ui, "GPUs", &mut choices.gpus, 1..=4096);
            ui.checkbox(&mut choices.fused, "fused attention").on_hover_text("Scores are never stored");
        });
        ui.horizontal_wrapped(|ui| {
            values::drag(ui, "memory in GB", &mut self.memory_gb, 1.0..=10_000.0, 1.0);
            for (name, memory) in [("H100", 80.0), ("H200", 141.0), ("GB10", 128.0)] {
                if ui.button(name).clicked() {
                    self.memory_gb = memory;
                }
            }
            if let Some(memory) = input.device.and_then(|device| device.memory_bytes)
                && ui.button("This machine").clicked()
            {
                self.memory_gb = memory as f64 / 1e9;
            }
        });
    }

    /// Item, formula and bytes.
    fn table_ui(&self, ui: &mut Ui, bill: &Bill) {
        let tokens = theme::tokens(ui);
        let colors = colors(tokens);
        Grid::new("training memory").num_columns(3).spacing([space::M, space::XS]).striped(true).show(ui, |ui| {
            for head in ["Item", "Bytes on one GPU", ""] {
                ui.label(RichText::new(head).small().bold().color(tokens.text_muted));
            }
            ui.end_row();
            for (index, name) in ITEMS.into_iter().enumerate() {
                let (formula, value) = (&bill.formulas[index], bill.items[index]);
                ui.horizontal(|ui| {
                    let (dot, _) = ui.allocate_exact_size(vec2(10.0, 10.0), egui::Sense::hover());
                    ui.painter().rect_filled(dot, 2.0, colors[index]);
                    ui.label(name);
                });
                ui.label(RichText::new(formula).monospace().size(theme::font_size::SMALL));
                ui.label(bytes(value));
                ui.end_row();
            }
            ui.label(RichText::new("sum").bold());
            ui.label("");
            ui.label(RichText::new(bytes(bill.total())).bold());
            ui.end_row();
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, words: &str) {
        let width = ui.available_width();
        let canvas = self.batch.canvas(ui, vec2(width, BAR + space::XXL + CHART + 36.0), words, BATCHES);
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let left = canvas.rect.left() + GUTTER;
        let room = width - GUTTER - space::S;
        let top = canvas.rect.top() + space::XS;
        let name = pos2(left - space::S, top + BAR / 2.0);
        kit::small(painter, name, Align2::RIGHT_CENTER, "one GPU", tokens.text);
        let memory = self.memory_gb * 1e9;
        paint_bar(painter, tokens, Rect::from_min_size(pos2(left, top), vec2(room, BAR)), &self.bill(), memory);
        let chart = Rect::from_min_size(pos2(left, top + BAR + space::XXL), vec2(room, CHART));
        self.paint_batches(painter, tokens, chart, memory);
        let under = canvas.response.hover_pos().filter(|pos| chart.contains(*pos));
        if let (Some(pos), true) = (under, canvas.response.clicked()) {
            self.batch.jump((((pos.x - chart.left()) / chart.width() * BATCHES as f32) as usize).min(BATCHES - 1));
        }
    }

    /// A stacked bar for each batch, against the memory. What is higher than the chart is cut and says how much it is.
    fn paint_batches(&self, painter: &Painter, tokens: &Tokens, area: Rect, memory: f64) {
        painter.rect_filled(area, 2.0, tokens.inset);
        let most = 1.6 * memory;
        let height = |bytes: f64| area.height() * (bytes / most).min(1.0) as f32;
        let step = area.width() / BATCHES as f32;
        let colors = colors(tokens);
        for at in 0..BATCHES {
            let bill = self.choices.bill(1 << at);
            let x = area.left() + at as f32 * step;
            let (mut below, is_now) = (0.0, at == self.batch.within(BATCHES));
            for (value, color) in bill.items.iter().zip(colors) {
                let (from, to) = (area.bottom() - height(below), area.bottom() - height(below + value));
                let piece = Rect::from_min_max(pos2(x + step * 0.18, to), pos2(x + step * 0.82, from));
                painter.rect_filled(piece, 0.0, if is_now { color } else { color.gamma_multiply(0.7) });
                below += value;
            }
            if is_now {
                let whole = pos2(x + step * 0.18, area.bottom() - height(below));
                let frame = Rect::from_min_max(whole, pos2(x + step * 0.82, area.bottom()));
                let stroke = Stroke::new(2.0, tokens.lane_focus);
                painter.rect_stroke(frame, 0.0, stroke, egui::StrokeKind::Outside);
            }
            if below > memory {
                let top = pos2(x + step / 2.0, area.top() + 9.0);
                // On a disc of its own: red on a bar can hardly be seen.
                painter.circle_filled(top, 7.5, tokens.panel);
                kit::small(painter, top, Align2::CENTER_CENTER, "✖", tokens.fail);
            }
            let label = pos2(x + step / 2.0, area.bottom() + 2.0);
            kit::small(painter, label, Align2::CENTER_TOP, 1 << at, tokens.text_muted);
        }
        let y = area.bottom() - height(memory);
        let stroke = Stroke::new(1.5, tokens.ceiling);
        plot_kit::dashed(painter, pos2(area.left(), y), pos2(area.right(), y), stroke);
        let label = pos2(area.left() - space::S, y);
        kit::small(painter, label, Align2::RIGHT_CENTER, bytes(memory), tokens.text_muted);
        let title = pos2(area.center().x, area.bottom() + 17.0);
        kit::small(painter, title, Align2::CENTER_TOP, "sequences in a batch, on each GPU", tokens.text_muted);
    }
}

fn choose(ui: &mut Ui, name: &str, value: &mut usize, options: &[&str]) {
    values::keep_with_next(ui, name, 118.0);
    ui.label(name);
    let shown = egui::ComboBox::from_id_salt(name).width(110.0).selected_text(options[*value]).show_ui(ui, |ui| {
        for (index, option) in options.iter().enumerate() {
            ui.selectable_value(value, index, *option);
        }
    });
    plot_kit::name_choice(&shown.response, name, options[*value]);
}

fn colors(tokens: &Tokens) -> [Color32; ITEMS.len()] {
    let series = &tokens.series;
    [series[5], series[0], series[2], series[1], series[3], series[4], series[6]]
}

/// All items side by side, and the end of the memory.
fn paint_bar(painter: &Painter, tokens: &Tokens, bar: Rect, bill: &Bill, memory: f64) {
    let whole = memory.max(bill.total());
    let x = |bytes: f64| bar.left() + bar.width() * (bytes / whole) as f32;
    painter.rect_filled(bar, 2.0, tokens.lane_off);
    let mut before = 0.0;
    for (value, (name, color)) in bill.items.iter().zip(ITEMS.into_iter().zip(colors(tokens))) {
        let piece = Rect::from_x_y_ranges(x(before)..=x(before + value), bar.y_range());
        painter.rect_filled(piece, 0.0, color);
        if piece.width() > 8.0 * name.len() as f32 {
            kit::small(painter, piece.center(), Align2::CENTER_CENTER, name, kit::on_fill(tokens, color));
        }
        before += value;
    }
    let end = x(memory);
    if before > memory {
        plot_kit::hatch(painter, Rect::from_x_y_ranges(end..=bar.right(), bar.y_range()), tokens.fail);
    }
    painter.vline(end.min(bar.right() - 1.0), bar.top() - 3.0..=bar.bottom() + 3.0, Stroke::new(2.0, tokens.text));
}

impl Visualization for TrainingMemory {
    kit::head_without_steps!("training-memory", "Training-memory calculator");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.controls_ui(ui, input);
        self.batch.ui(ui, BATCHES, "batch");
        let words = self.describe(input);
        self.picture_ui(ui, &words);
        self.table_ui(ui, &self.bill());
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let (bill, choices, memory) = (self.bill(), &self.choices, self.memory_gb * 1e9);
        let total = bill.total();
        let verdict = if total <= memory {
            format!("It fits {}, with {} to spare.", bytes(memory), bytes(memory - total))
        } else {
            format!("It does not fit {}: {} are missing.", bytes(memory), bytes(total - memory))
        };
        let most = (0..BATCHES).rev().find(|at| choices.bill(1 << at).total() <= memory);
        let most = match most {
            Some(at) => format!("The largest of these batches that fits is {}.", 1_u32 << at),
            None => "No batch fits: the state alone, or one sequence, is too much.".to_owned(),
        };
        let (at, share) = bill.largest();
        format!(
            "P = {} parameters; {} sequences of {} tokens on each of {}: {} together, {} before the first batch. {} takes the \
             largest share, {:.0} %. {verdict} {most} Not counted: workspace, the driver's context, and what the allocator \
             keeps.",
            plot_kit::si(choices.model.parameters(), "").trim_end(),
            self.batch(),
            thousands(choices.sequence as f64),
            kit::plural(choices.gpus, "GPU"),
            bytes(total),
            bytes(bill.state()),
            ITEMS[at],
            100.0 * share,
        )
    }
}
