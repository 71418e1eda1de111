//! The small model writes: text that appears token by token, each layer's attention a launch of the learner's kernel over a
//! cache in the format that is chosen, with bytes and milliseconds a token. `lockstep decode` in a process of its own.

use super::kit;
use super::kv_model;
use super::stepper::Stepper;
use super::values::number;
use super::{Visualization, VizAction, VizInput};
use crate::fonts::Bold;
use crate::icons;
use crate::scripts::{Figure, ScriptRun};
use crate::theme::{self, Tokens, radius, space};
use egui::{Align2, Frame, Painter, Rect, RichText, Stroke, Ui, pos2, vec2};
use gpu_core::emulator::Trace;
use serde::Deserialize;
use small_model::CacheFormat;

/// Under this name its runs are kept, beside those of the programs that measure.
pub const PROGRAM: &str = "decode";
/// The day whose exercise is the kernel for keys in e4m3 and values in NVFP4.
pub const DAY: &str = "week4/day7-production";
/// A run of 28 November 2026 on the emulator of two cores that were busy, as `lockstep decode --lines` printed it.
const EXAMPLE: &str = include_str!("decode_writer/example.jsonl");

const CHART: f32 = 110.0;
const GUTTER: f32 = 60.0;

pub struct DecodeWriter {
    cache: CacheFormat,
    /// With the learner's kernel, where that fits the format.
    own: bool,
    token: Stepper,
    /// Tokens that there were when the last one was shown.
    shown: usize,
}

impl Default for DecodeWriter {
    fn default() -> Self {
        Self { cache: CacheFormat::K8v4, own: true, token: Stepper::default(), shown: 0 }
    }
}

/// The first line of a run.
#[derive(Clone, Debug, Default, Deserialize)]
struct Head {
    kernel: String,
    device: String,
    cache: String,
    prompt: String,
    bytes_per_token: f64,
    fp16_bytes_per_token: f64,
}

/// A run, as far as it is.
struct Text {
    head: Head,
    tokens: Vec<Figure>,
    is_example: bool,
}

impl Text {
    fn of(run: &ScriptRun) -> Option<Self> {
        let head = run.said.iter().find_map(|line| serde_json::from_str(line).ok())?;
        Some(Self { head, tokens: run.figures.clone(), is_example: false })
    }

    fn example() -> Self {
        let mut lines = EXAMPLE.lines();
        let head = lines.next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        Self { head, tokens: lines.filter_map(|line| serde_json::from_str(line).ok()).collect(), is_example: true }
    }

    fn new(input: &VizInput<'_>) -> Self {
        input.program(PROGRAM).and_then(Self::of).unwrap_or_else(Self::example)
    }

    /// Of all but the first, whose launch also compiles.
    fn median_ms(&self) -> Option<f64> {
        let mut times: Vec<f64> = self.tokens.iter().skip(1).filter_map(|token| token.median_ms).collect();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied()
    }
}

impl DecodeWriter {
    fn controls_ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let tokens = theme::tokens(ui);
        let run = input.program(PROGRAM);
        let running = run.is_some_and(|run| run.running);
        let mut action = None;
        ui.horizontal_wrapped(|ui| {
            ui.label("cache");
            for format in CacheFormat::ALL {
                if ui.selectable_label(self.cache == format, format.name()).clicked() {
                    self.cache = format;
                }
            }
            let fits = self.cache == CacheFormat::K8v4 && input.has_decode_kernel;
            ui.add_enabled(fits, egui::Checkbox::new(&mut self.own, "my kernel")).on_hover_text(
                "Your kernel of week 4, day 7, which reads keys in e4m3 and values in NVFP4 (k8v4). Open that day once.",
            );
            if running {
                ui.spinner();
                if ui.button("Stop writing").clicked() {
                    action = Some(VizAction::StopMeasuring);
                }
            } else if ui.add(egui::Button::new((icons::atom(icons::PLAY), "Write"))).on_hover_text("120 tokens; stop whenever you like").clicked() {
                self.shown = 0;
                action = Some(VizAction::Decode { cache: self.cache.name(), own: fits && self.own });
            }
        });
        if let Some(problem) = run.and_then(|run| run.problem.as_ref()) {
            ui.label(RichText::new(problem).small().color(tokens.fail));
        }
        action
    }

    fn text_ui(&self, ui: &mut Ui, text: &Text) {
        let tokens = theme::tokens(ui);
        let mut job = egui::text::LayoutJob::default();
        let font = theme::code_font();
        let mut add = |piece: &str, color, back| {
            let format = egui::TextFormat { font_id: font.clone(), color, background: back, ..Default::default() };
            job.append(piece, 0.0, format);
        };
        add(&text.head.prompt, tokens.text_muted, egui::Color32::TRANSPARENT);
        let at = self.token.within(text.tokens.len());
        for (index, token) in text.tokens.iter().enumerate() {
            let back = if index == at { tokens.accent_soft } else { egui::Color32::TRANSPARENT };
            add(&token.rung, tokens.text, back);
        }
        Frame::new().fill(tokens.inset).corner_radius(radius::SMALL).inner_margin(space::M).show(ui, |ui| {
            ui.take_available_width();
            ui.add(egui::Label::new(job).wrap().selectable(true));
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, text: &Text, words: &str) {
        let count = text.tokens.len();
        let width = ui.available_width();
        let canvas = self.token.canvas(ui, vec2(width, CHART + space::XL), words, count);
        let tokens = theme::tokens(ui);
        let area = Rect::from_min_size(
            canvas.rect.min + vec2(GUTTER, space::XS),
            vec2((width - GUTTER - space::S).max(10.0), CHART),
        );
        paint_times(&canvas.painter, tokens, area, &text.tokens, self.token.within(count));
        let under = canvas.response.hover_pos().filter(|pos| area.contains(*pos));
        if let (Some(pos), true, 1..) = (under, canvas.response.clicked(), count) {
            self.token.jump((((pos.x - area.left()) / area.width() * count as f32) as usize).min(count - 1));
        }
    }
}

/// Milliseconds of each token.
fn paint_times(painter: &Painter, tokens: &Tokens, area: Rect, times: &[Figure], chosen: usize) {
    painter.rect_filled(area, 2.0, tokens.inset);
    // The first token's launch compiles: it would make all others dots.
    let of = |token: &Figure| token.median_ms.unwrap_or(0.0);
    let most = times.iter().skip(1).map(of).fold(1e-9, f64::max) * 1.15;
    let step = area.width() / times.len().max(1) as f32;
    for (index, token) in times.iter().enumerate() {
        let height = area.height() * (of(token) / most).min(1.0) as f32;
        let left = area.left() + index as f32 * step;
        let bar =
            Rect::from_min_max(pos2(left + 0.1 * step, area.bottom() - height), pos2(left + 0.9 * step, area.bottom()));
        painter.rect_filled(bar, 1.0, if index == chosen { tokens.lane_focus } else { tokens.series[0] });
    }
    let label = pos2(area.left() - space::S, area.top() + 8.0);
    kit::small(painter, label, Align2::RIGHT_CENTER, format!("{} ms", number(most)), tokens.text_muted);
    let zero = pos2(area.left() - space::S, area.bottom() - 6.0);
    kit::small(painter, zero, Align2::RIGHT_CENTER, "0 ms", tokens.text_muted);
    painter.hline(area.x_range(), area.bottom(), Stroke::new(1.0, tokens.border_strong));
    let title = pos2(area.center().x, area.bottom() + 2.0);
    kit::small(painter, title, Align2::CENTER_TOP, "time of each token", tokens.text_muted);
}

impl Visualization for DecodeWriter {
    fn id(&self) -> &'static str {
        "decode-writer"
    }

    fn title(&self) -> &'static str {
        "The small model writes"
    }

    /// It needs a run of the model and no trace.
    fn example(&self) -> Trace {
        Trace { kernel: "decode_paged".into(), grid: [8, 1, 1], block: [32, 1, 1], ..Trace::default() }
    }

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let action = self.controls_ui(ui, input);
        let text = Text::new(input);
        let count = text.tokens.len();
        // The newest token is in sight while they come, unless the viewer looks at another one.
        if count > self.shown && self.token.at + 1 >= self.shown && !text.is_example {
            self.token.jump(count.saturating_sub(1));
        }
        self.shown = count;
        if text.is_example {
            let what = "Example, recorded on the emulator of two cores in November 2026. Write one of your own.";
            ui.label(RichText::new(what).small().color(theme::tokens(ui).text_muted));
        }
        ui.label(
            RichText::new(format!("{}, {}, cache {}", text.head.kernel, text.head.device, text.head.cache)).bold(),
        );
        self.text_ui(ui, &text);
        self.token.ui(ui, count, "token");
        let words = self.describe(input);
        self.picture_ui(ui, &text, &words);
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let text = Text::new(input);
        let head = &text.head;
        let at = self.token.within(text.tokens.len());
        let Some(token) = text.tokens.get(at) else {
            return format!("The model has not written a token yet. The cache is {}.", head.cache);
        };
        let ms = |value: Option<f64>| value.map_or_else(|| "an unknown time".to_owned(), |ms| format!("{ms:.0} ms"));
        format!(
            "Token {} of {} is `{}` and took {}; the median is {}. That is every layer's attention as a launch through the \
             judge, with all copies, and the other layers on the CPU, so it is no GPU's time. In {} a token adds {} to the \
             cache, {:.2} times less than in fp16.",
            at + 1,
            text.tokens.len(),
            token.rung,
            ms(token.median_ms),
            ms(text.median_ms()),
            head.cache,
            kv_model::bytes(head.bytes_per_token),
            head.fp16_bytes_per_token / head.bytes_per_token.max(1.0),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripts::ScriptKey;
    use std::collections::BTreeMap;

    #[test]
    fn a_run_takes_the_place_of_the_example_and_is_followed() {
        let example = DecodeWriter::default().describe(&VizInput::default());
        assert!(example.contains("Token 1 of") && example.contains("800 B"), "{example}");
        let head = r#"{"kernel":"mine.cu","device":"emulator","cache":"int4","prompt":"A","bytes_per_token":576,
                       "fp16_bytes_per_token":2048}"#;
        let token = |text: &str, ms| Figure { rung: text.into(), median_ms: Some(ms), ok: true, ..Figure::default() };
        let run = ScriptRun {
            running: true,
            said: vec!["anything".into(), head.replace('\n', " ")],
            figures: vec![token(" w", 900.0), token("arp", 20.0), token("!", 30.0)],
            ..ScriptRun::default()
        };
        let runs = BTreeMap::from([(ScriptKey::of_program(PROGRAM), run)]);
        let input = VizInput { measured: Some(&runs), ..VizInput::default() };
        let viz = DecodeWriter { token: Stepper::starting_at(1), ..DecodeWriter::default() };
        let words = viz.describe(&input);
        assert!(words.contains("`arp` and took 20 ms; the median is 30 ms"), "{words}");
        assert!(words.contains("3.56 times less"), "{words}");
    }
}
