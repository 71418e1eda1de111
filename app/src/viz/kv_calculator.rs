//! KV-cache calculator: bytes of the cache for a model, context, batch and formats; what fits; the least time of a step.

use super::kit;
use super::kv_model::{self, SHAPES, STORES, Shape, Store};
use super::stepper::Stepper;
use super::values::{self, number, thousands};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Painter, Rect, Stroke, Ui, pos2, vec2};

/// Contexts are powers of two from this one.
const LEAST_CONTEXT: usize = 256;
const CONTEXTS: usize = 13;
const GUTTER: f32 = 96.0;
const BAR: f32 = 26.0;
const CHART: f32 = 170.0;

pub struct KvCalculator {
    shape: Shape,
    k: usize,
    v: usize,
    weight_bits: f64,
    batch: usize,
    /// Position 0 is the least context.
    context: Stepper,
    memory_gb: f64,
    gb_per_s: f64,
    /// What the two figures of the machine are.
    source: String,
}

impl Default for KvCalculator {
    fn default() -> Self {
        Self {
            shape: SHAPES[0],
            k: 1,
            v: 3,
            weight_bits: 16.0,
            batch: 4,
            context: Stepper::starting_at(9),
            memory_gb: 141.0,
            gb_per_s: 4400.0,
            source: H200.to_owned(),
        }
    }
}

const H200: &str = "one H200, which read a cache at 4.4 TB/s in November 2026";
const GB10: &str = "GB10 (DGX Spark), nominal";

/// Everything that follows from the choices.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sizes {
    token: f64,
    cache: f64,
    weights: f64,
    memory: f64,
    step_s: f64,
}

impl KvCalculator {
    fn tokens(&self) -> usize {
        LEAST_CONTEXT << self.context.within(CONTEXTS)
    }

    fn sizes(&self, k: Store, v: Store, context: usize) -> Sizes {
        let token = self.shape.cache_bytes_a_token(k, v);
        let cache = token * (context * self.batch) as f64;
        let weights = self.shape.parameters() * self.weight_bits / 8.0;
        // Each step reads every weight and the whole cache once.
        let step_s = (cache + weights) / (self.gb_per_s * 1e9);
        Sizes { token, cache, weights, memory: self.memory_gb * 1e9, step_s }
    }

    fn now(&self) -> Sizes {
        self.sizes(STORES[self.k].1, STORES[self.v].1, self.tokens())
    }

    fn controls_ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) {
        ui.horizontal_wrapped(|ui| {
            for shape in SHAPES {
                if ui.selectable_label(self.shape.name == shape.name, shape.name).clicked() {
                    self.shape = shape;
                }
            }
            values::count(ui, "layers", &mut self.shape.layers, 1..=256);
            values::count(ui, "key heads", &mut self.shape.key_heads, 1..=128);
            values::count(ui, "head dimension", &mut self.shape.head_dim, 16..=256);
        });
        ui.horizontal_wrapped(|ui| {
            for (name, value) in [("K", &mut self.k), ("V", &mut self.v)] {
                ui.label(name);
                let shown =
                    egui::ComboBox::from_id_salt(name).width(90.0).selected_text(STORES[*value].0).show_ui(ui, |ui| {
                        for (index, (name, _)) in STORES.iter().enumerate() {
                            ui.selectable_value(value, index, *name);
                        }
                    });
                plot_kit::name_choice(&shown.response, name, STORES[*value].0);
            }
            values::drag(ui, "bits a weight", &mut self.weight_bits, 2.0..=32.0, 0.1);
            values::count(ui, "batch", &mut self.batch, 1..=1024);
        });
        ui.horizontal_wrapped(|ui| {
            let by_hand = values::drag(ui, "memory in GB", &mut self.memory_gb, 1.0..=10_000.0, 1.0);
            if by_hand | values::drag(ui, "bandwidth in GB/s", &mut self.gb_per_s, 1.0..=100_000.0, 10.0) {
                "your own figures".clone_into(&mut self.source);
            }
            let mut choose = |ui: &mut Ui, name: &str, memory: f64, rate: f64, source: &str| {
                if ui.button(name).clicked() {
                    (self.memory_gb, self.gb_per_s) = (memory, rate);
                    source.clone_into(&mut self.source);
                }
            };
            choose(ui, "H200", 141.0, 4400.0, H200);
            choose(ui, "GB10", 128.0, 273.0, GB10);
            if let (Some(memory), Some(ceilings)) =
                (input.device.and_then(|device| device.memory_bytes), input.ceilings)
            {
                let source = format!("{}: copy measured on {}", ceilings.device, ceilings.date);
                choose(ui, "This machine", memory as f64 / 1e9, ceilings.copy_bytes_per_s / 1e9, &source);
            }
        });
        let tokens = theme::tokens(ui);
        ui.label(
            egui::RichText::new(format!("Figures of the machine: {}.", self.source)).small().color(tokens.text_muted),
        );
    }

    fn picture_ui(&mut self, ui: &mut Ui, words: &str) {
        let width = ui.available_width();
        let pairs = self.pairs();
        let height = BAR + space::XL + pairs.len() as f32 * BAR + space::XXL + CHART + 36.0;
        let canvas = self.context.canvas(ui, vec2(width, height), words, CONTEXTS);
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let left = canvas.rect.left() + GUTTER;
        let room = width - GUTTER - space::S;
        let label = |y: f32, text: &str, strong: bool| {
            let color = if strong { tokens.text } else { tokens.text_muted };
            kit::small(painter, pos2(left - space::S, y), Align2::RIGHT_CENTER, text, color);
        };
        let mut y = canvas.rect.top();
        label(y + BAR / 2.0, "memory", true);
        paint_memory(painter, tokens, Rect::from_min_size(pos2(left, y), vec2(room, BAR - 4.0)), &self.now());
        y += BAR + space::XL;
        let at = pos2(left, y - 3.0);
        let titles = ["cache and least time of a step, by formats", "cache, least time of a step"];
        kit::small_in(painter, at, Align2::LEFT_BOTTOM, room, &titles, tokens.text);
        let most =
            pairs.iter().map(|(k, v)| self.sizes(STORES[*k].1, STORES[*v].1, self.tokens()).cache).fold(1.0, f64::max);
        for (k, v) in &pairs {
            let sizes = self.sizes(STORES[*k].1, STORES[*v].1, self.tokens());
            let is_now = (*k, *v) == (self.k, self.v);
            let name = if k == v { STORES[*k].0.to_owned() } else { format!("{} / {}", STORES[*k].0, STORES[*v].0) };
            label(y + BAR / 2.0, &name, is_now);
            // The longest bar leaves its words their place.
            let bar_room = (room * 0.62).min(room - 112.0).max(24.0);
            let bar = Rect::from_min_size(
                pos2(left, y + 4.0),
                vec2((bar_room * (sizes.cache / most) as f32).max(1.0), BAR - 8.0),
            );
            painter.rect_filled(bar, 2.0, if is_now { tokens.lane_focus } else { tokens.series[0] });
            let text = format!("{}, {}", kv_model::bytes(sizes.cache), plot_kit::si(sizes.step_s, "s"));
            kit::small(painter, bar.right_center() + vec2(space::S, 0.0), Align2::LEFT_CENTER, text, tokens.text);
            y += BAR;
        }
        y += space::XXL;
        let chart = Rect::from_min_size(pos2(left, y), vec2(room, CHART));
        self.paint_contexts(painter, tokens, chart);
        let under = canvas.response.hover_pos().filter(|pos| chart.contains(*pos));
        if let (Some(pos), true) = (under, canvas.response.clicked()) {
            self.context.jump((((pos.x - chart.left()) / chart.width() * CONTEXTS as f32) as usize).min(CONTEXTS - 1));
        }
    }

    /// Formats to compare: the usual ones, and the chosen pair.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs = vec![(0, 0), (1, 1), (1, 3), (3, 3)];
        if !pairs.contains(&(self.k, self.v)) {
            pairs.push((self.k, self.v));
        }
        pairs
    }

    /// Memory for every context, on a logarithmic axis, against what there is.
    fn paint_contexts(&self, painter: &Painter, tokens: &Tokens, area: Rect) {
        painter.rect_filled(area, 2.0, tokens.inset);
        let of = |at: usize| self.sizes(STORES[self.k].1, STORES[self.v].1, LEAST_CONTEXT << at);
        let memory = self.memory_gb * 1e9;
        let (first, last) = (of(0), of(CONTEXTS - 1));
        let least = first.cache.min(first.weights).min(memory).max(1.0).log10() - 0.2;
        let most = (last.cache + last.weights).max(memory).log10() + 0.2;
        let y = |bytes: f64| area.bottom() - area.height() * ((bytes.max(1.0).log10() - least) / (most - least)) as f32;
        let step = area.width() / CONTEXTS as f32;
        for at in 0..CONTEXTS {
            let sizes = of(at);
            let x = area.left() + at as f32 * step;
            let bar = |from: f32, to: f32, bytes: f64| {
                Rect::from_min_max(pos2(x + step * from, y(bytes)), pos2(x + step * to, area.bottom()))
            };
            painter.rect_filled(bar(0.12, 0.44, sizes.weights), 1.0, tokens.series[5]);
            let cache = if at == self.context.within(CONTEXTS) { tokens.lane_focus } else { tokens.series[0] };
            painter.rect_filled(bar(0.5, 0.88, sizes.cache), 1.0, cache);
            if sizes.cache + sizes.weights > memory {
                let top = pos2(x + step / 2.0, area.top() + 2.0);
                kit::small(painter, top, Align2::CENTER_TOP, "✖", tokens.fail);
            }
            if step > 34.0 || at % 3 == 0 {
                let at = pos2(x + step / 2.0, area.bottom() + 2.0);
                kit::small(
                    painter,
                    at,
                    Align2::CENTER_TOP,
                    context_words(sizes_context(sizes, self.batch)),
                    tokens.text_muted,
                );
            }
        }
        plot_kit::dashed(
            painter,
            pos2(area.left(), y(memory)),
            pos2(area.right(), y(memory)),
            Stroke::new(2.0, tokens.ceiling),
        );
        let at = pos2(area.left() - space::S, y(memory));
        kit::small(painter, at, Align2::RIGHT_CENTER, kv_model::bytes(memory), tokens.text_muted);
        let title = pos2(area.center().x, area.bottom() + 17.0);
        kit::small(painter, title, Align2::CENTER_TOP, "tokens of context", tokens.text_muted);
    }
}

fn sizes_context(sizes: Sizes, batch: usize) -> usize {
    (sizes.cache / sizes.token / batch as f64).round() as usize
}

/// `512`, `8k`, `1M`.
fn context_words(tokens: usize) -> String {
    match tokens {
        0..1024 => tokens.to_string(),
        1024..1_048_576 => format!("{}k", tokens / 1024),
        _ => format!("{}M", tokens / 1_048_576),
    }
}

/// Weights, cache and what is left, or how far it goes beyond.
fn paint_memory(painter: &Painter, tokens: &Tokens, bar: Rect, sizes: &Sizes) {
    let whole = sizes.memory.max(sizes.weights + sizes.cache);
    let x = |bytes: f64| bar.left() + bar.width() * (bytes / whole) as f32;
    painter.rect_filled(bar, 2.0, tokens.lane_off);
    let weights = Rect::from_x_y_ranges(bar.left()..=x(sizes.weights), bar.y_range());
    let cache = Rect::from_x_y_ranges(x(sizes.weights)..=x(sizes.weights + sizes.cache), bar.y_range());
    for (rect, name, color) in [(weights, "weights", tokens.series[5]), (cache, "cache", tokens.lane_focus)] {
        painter.rect_filled(rect, 2.0, color);
        if rect.width() > 50.0 {
            kit::small(painter, rect.center(), Align2::CENTER_CENTER, name, kit::on_fill(tokens, color));
        }
    }
    let end = x(sizes.memory);
    if sizes.weights + sizes.cache > sizes.memory {
        let over = Rect::from_x_y_ranges(end..=bar.right(), bar.y_range());
        plot_kit::hatch(painter, over, tokens.fail);
    }
    painter.vline(end.min(bar.right() - 1.0), bar.top() - 3.0..=bar.bottom() + 3.0, Stroke::new(2.0, tokens.text));
}

impl Visualization for KvCalculator {
    kit::head_without_steps!("kv-calculator", "KV-cache calculator");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.controls_ui(ui, input);
        self.context.ui(ui, CONTEXTS, "context");
        let words = self.describe(input);
        self.picture_ui(ui, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.series[5], "weights");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.series[0], "cache");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Dashed, tokens.ceiling, "memory of the machine");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Cross, tokens.fail, "does not fit");
        });
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let sizes = self.now();
        let free = sizes.memory - sizes.weights;
        let fits = if sizes.weights > sizes.memory {
            "The weights alone do not fit.".to_owned()
        } else {
            let most = (free / sizes.token / self.batch as f64).floor();
            let sequences = (free / sizes.token / self.tokens() as f64).floor();
            let verdict = if sizes.cache <= free { "It fits" } else { "It does not fit" };
            format!(
                "{verdict}: beside the weights there is room for {} such sequences, or for {} tokens in each of {}.",
                thousands(sequences),
                thousands(most),
                self.batch
            )
        };
        format!(
            "{}, K in {}, V in {}: a token adds {} to the cache, bf16 would add {:.2} times as much. {} sequences of {} tokens hold {}, and the weights {}. {fits} A step \
             reads all of it once: at least {} at {} GB/s, at most {} tokens a second. Activations and scratch memory are not \
             counted.",
            self.shape.name,
            STORES[self.k].0,
            STORES[self.v].0,
            kv_model::bytes(sizes.token),
            self.shape.cache_bytes_a_token(Store::Bf16, Store::Bf16) / sizes.token,
            self.batch,
            thousands(self.tokens() as f64),
            kv_model::bytes(sizes.cache),
            kv_model::bytes(sizes.weights),
            plot_kit::si(sizes.step_s, "s"),
            number(self.gb_per_s),
            thousands((self.batch as f64 / sizes.step_s).floor()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_are_those_worked_by_hand() {
        let viz = KvCalculator { k: 0, v: 0, batch: 1, ..KvCalculator::default() };
        // 2 * 32 layers * 8 heads * 128 elements * 2 bytes.
        let sizes = viz.now();
        assert_eq!(sizes.token, 131_072.0);
        assert_eq!((viz.tokens(), sizes.cache), (131_072, 131_072.0 * 131_072.0));
        assert!((sizes.step_s - (sizes.cache + sizes.weights) / 4.4e12).abs() < 1e-12);
    }

    #[test]
    fn it_says_what_does_not_fit() {
        let viz = KvCalculator { k: 0, v: 0, batch: 64, ..KvCalculator::default() };
        assert!(viz.describe(&VizInput::default()).contains("It does not fit"));
        let small = KvCalculator { memory_gb: 8.0, ..KvCalculator::default() };
        assert!(small.describe(&VizInput::default()).contains("weights alone do not fit"));
        assert_eq!((thousands(1_234_567.0), context_words(8192)), ("1,234,567".to_owned(), "8k".to_owned()));
    }
}
