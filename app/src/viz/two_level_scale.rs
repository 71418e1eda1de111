//! NVFP4's two levels of scales: the eight magnitudes of e2m1, an e4m3 scale for each 16 values, one fp32 scale for the
//! tensor; and what moves when one value changes.

use super::kit;
use super::layouts;
use super::stepper::Stepper;
use super::values::{self, Look, number};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Painter, Pos2, Rect, Stroke, Ui, pos2, vec2};
use gpu_core::formats::{Element, Given, Layout, Stored};

const BLOCKS: usize = 4;
const BLOCK: usize = 16;
const ROW: f32 = 23.0;
const HEAD: f32 = 22.0;
const LINE: f32 = 74.0;

pub struct TwoLevelScale {
    values: Vec<f64>,
    /// The tensor's scale stays as the example has it.
    keeps_tensor_scale: bool,
    element: Stepper,
}

/// Four blocks of different spread, with few digits so that they can be read.
fn example_values() -> Vec<f64> {
    let spread = [1.0, 0.3, 2.5, 0.05];
    let normal = values::normals(21, BLOCKS * BLOCK);
    normal.iter().enumerate().map(|(at, x)| (x * spread[at / BLOCK] * 100.0).round() / 100.0).collect()
}

impl Default for TwoLevelScale {
    fn default() -> Self {
        Self { values: example_values(), keeps_tensor_scale: false, element: Stepper::starting_at(2) }
    }
}

/// A tensor in NVFP4 with what can be read out of it.
struct Worked {
    layout: Layout,
    stored: Stored,
    decoded: Vec<f64>,
}

impl Worked {
    fn of(values: &[f64], tensor_scale: Option<f64>) -> Self {
        let layout = layouts::nvfp4(BLOCKS, BLOCK);
        let stored = layout.quantize(values, &Given { tensor_scale, ..Given::default() }).stored;
        Self { decoded: layout.decode(&stored), stored, layout }
    }

    fn tensor_scale(&self) -> f64 {
        self.layout.tensor_scale(&self.stored)
    }

    fn block_scale(&self, block: usize) -> f64 {
        self.layout.scale_at(&self.stored, block)
    }

    fn code(&self, at: usize) -> u8 {
        self.layout.code_at(&self.stored, at)
    }
}

impl TwoLevelScale {
    /// The tensor now, and the example.
    fn both(&self) -> (Worked, Worked) {
        let before = Worked::of(&example_values(), None);
        let kept = self.keeps_tensor_scale.then(|| before.tensor_scale());
        (Worked::of(&self.values, kept), before)
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            let at = self.element.within(self.values.len());
            let name = format!("value {} of block {}", at % BLOCK, at / BLOCK);
            values::drag(ui, &name, &mut self.values[at], -1e4..=1e4, 0.02);
            if ui.button("x 10").clicked() {
                self.values[at] = (self.values[at] * 10.0).clamp(-1e4, 1e4);
            }
            if ui.button("Back to the example").clicked() {
                self.values = example_values();
            }
            let text = "As a kernel does that was given the scale of an earlier tensor";
            ui.checkbox(&mut self.keeps_tensor_scale, "keep the tensor's scale").on_hover_text(text);
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, words: &str) {
        let (now, before) = self.both();
        let width = ui.available_width();
        let wide = width > 560.0;
        let columns = if wide { BLOCK } else { BLOCK / 2 };
        let margin = if wide { 96.0 } else { 58.0 };
        let rows = BLOCK / columns;
        let blocks = BLOCKS as f32 * (rows as f32 * ROW + space::XS);
        let detail = HEAD + 4.0 * rows as f32 * ROW + rows as f32 * space::S;
        let height = HEAD + blocks + space::L + LINE + detail;
        let canvas = self.element.canvas(ui, vec2(width, height), words, self.values.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let chosen = self.element.within(self.values.len());
        let cell = vec2((width - margin) / columns as f32, ROW);
        let title = format!("tensor scale {}", number(now.tensor_scale()));
        let moved = |is_moved: bool| if is_moved { Look::Used } else { Look::Plain };
        values::title(painter, tokens, canvas.rect.min + vec2(0.0, HEAD - 5.0), "values; framed: its code moved");
        let at = pos2(canvas.rect.right(), canvas.rect.top() + HEAD - 5.0);
        let color = if now.tensor_scale() == before.tensor_scale() { tokens.text } else { tokens.accent };
        kit::small(painter, at, Align2::RIGHT_BOTTOM, title, color);
        let place = |at: usize| {
            let (block, index) = (at / BLOCK, at % BLOCK);
            let top = HEAD + block as f32 * (rows as f32 * ROW + space::XS) + (index / columns) as f32 * ROW;
            Rect::from_min_size(canvas.rect.min + vec2((index % columns) as f32 * cell.x, top), cell)
        };
        for at in 0..self.values.len() {
            let block = &self.values[at / BLOCK * BLOCK..][..BLOCK];
            let most = block.iter().fold(1e-12_f64, |most, x| most.max(x.abs()));
            let look = if at == chosen { Look::Focus } else { moved(now.code(at) != before.code(at)) };
            let fill = values::heat(tokens, self.values[at] / most);
            values::cell(painter, tokens, place(at), &number(self.values[at]), fill, look);
        }
        for block in 0..BLOCKS {
            let top = place(block * BLOCK).top();
            let rect = Rect::from_min_max(
                pos2(canvas.rect.right() - margin + space::S, top),
                pos2(canvas.rect.right(), top + rows as f32 * ROW),
            );
            let (scale, old) = (now.block_scale(block), before.block_scale(block));
            let fill = if scale == old { tokens.inset } else { tokens.accent_soft };
            values::cell(
                painter,
                tokens,
                rect,
                &if wide { format!("scale {}", number(scale)) } else { number(scale) },
                fill,
                moved(scale != old),
            );
        }
        let block = chosen / BLOCK;
        let top = canvas.rect.top() + HEAD + blocks + space::L;
        let line = Rect::from_min_size(pos2(canvas.rect.left(), top), vec2(width, LINE));
        self.paint_line(painter, tokens, line, &now, chosen);
        // What each value of the block becomes.
        let origin = pos2(canvas.rect.left() + margin, top + LINE + HEAD);
        let cell = vec2((width - margin) / columns as f32, ROW);
        let factor = now.block_scale(block) * now.tensor_scale();
        let places = if wide { 1000.0 } else { 100.0 };
        let short = |x: f64| number((x * places).round() / places);
        let title = format!("block {block}, every value divided by {}", number(factor));
        values::title(painter, tokens, pos2(canvas.rect.left(), origin.y - 4.0), &title);
        for index in 0..BLOCK {
            let at = block * BLOCK + index;
            let scaled = if factor == 0.0 { 0.0 } else { self.values[at] / factor };
            let code = now.code(at);
            let texts =
                [short(scaled), number(Element::E2m1.decode(code)), format!("{code:04b}"), short(now.decoded[at])];
            let down = (index / columns) as f32 * (4.0 * ROW + space::S);
            for (row, text) in texts.iter().enumerate() {
                let place = vec2((index % columns) as f32 * cell.x, down + row as f32 * ROW);
                let look = if at == chosen { Look::Focus } else { Look::Plain };
                values::cell(painter, tokens, Rect::from_min_size(origin + place, cell), text, tokens.inset, look);
            }
        }
        for half in 0..rows {
            for (row, name) in ["divided", "nearest", "code", "read back"].iter().enumerate() {
                let y = origin.y + half as f32 * (4.0 * ROW + space::S) + (row as f32 + 0.5) * ROW;
                kit::small(painter, pos2(origin.x - space::S, y), Align2::RIGHT_CENTER, name, tokens.text_muted);
            }
        }
        let under =
            canvas.response.hover_pos().and_then(|pos| (0..self.values.len()).find(|at| place(*at).contains(pos)));
        if let (Some(at), true) = (under, canvas.response.clicked()) {
            self.element.jump(at);
        }
    }

    /// The eight magnitudes, and where the values of the chosen block fall between them.
    fn paint_line(&self, painter: &Painter, tokens: &Tokens, area: Rect, now: &Worked, chosen: usize) {
        let inner = area.shrink2(vec2(20.0, 0.0));
        let x = |magnitude: f64| inner.left() + inner.width() * (magnitude / 6.6).min(1.0) as f32;
        let y = area.top() + 38.0;
        let title = "the eight magnitudes of e2m1 and the block's values after division";
        let title = if area.width() > 480.0 { title } else { "the eight magnitudes of e2m1" };
        kit::small(painter, area.left_top(), Align2::LEFT_TOP, title, tokens.text);
        painter.hline(area.x_range(), y, Stroke::new(1.5, tokens.border_strong));
        for code in 0..8_u8 {
            let value = Element::E2m1.decode(code);
            painter.vline(x(value), y - 8.0..=y + 8.0, Stroke::new(2.0, tokens.text));
            kit::small(painter, pos2(x(value), y + 10.0), Align2::CENTER_TOP, number(value), tokens.text_muted);
        }
        let block = chosen / BLOCK;
        let factor = now.block_scale(block) * now.tensor_scale();
        for at in block * BLOCK..(block + 1) * BLOCK {
            if factor == 0.0 {
                break;
            }
            let at_line: Pos2 = pos2(x((self.values[at] / factor).abs()), y);
            let (size, color) = if at == chosen { (5.0, tokens.lane_focus) } else { (3.0, tokens.series[0]) };
            painter.circle_filled(at_line, size, color);
            if at == chosen {
                painter.circle_stroke(at_line, size, Stroke::new(1.0, tokens.text));
            }
        }
    }
}

impl Visualization for TwoLevelScale {
    kit::head_without_steps!("two-level-scale", "NVFP4: two levels of scales");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.controls_ui(ui);
        self.element.ui(ui, self.values.len(), "value");
        let words = self.describe(input);
        self.picture_ui(ui, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Hollow, tokens.accent, "moved since the example");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.lane_focus, "the chosen value");
        });
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let (now, before) = self.both();
        let at = self.element.within(self.values.len());
        let block = at / BLOCK;
        let (value, scale, tensor) = (self.values[at], now.block_scale(block), now.tensor_scale());
        let codes = (0..self.values.len()).filter(|at| now.code(*at) != before.code(*at)).count();
        let scales = (0..BLOCKS).filter(|block| now.block_scale(*block) != before.block_scale(*block)).count();
        let moved = if self.values == example_values() {
            "Change the value and see what moves.".to_owned()
        } else {
            format!(
                "Since the example {}, {} and the tensor's scale {}.",
                moved_words(codes, "code"),
                moved_words(scales, "block scale"),
                if tensor == before.tensor_scale() { "stayed" } else { "moved" }
            )
        };
        let mx = layouts::mxfp4(BLOCKS / 2, 2 * BLOCK);
        let other = mx.decode(&mx.quantize(&self.values, &Given::default()).stored);
        let scaled = if scale * tensor == 0.0 { 0.0 } else { value / (scale * tensor) };
        let amax = self.values[block * BLOCK..][..BLOCK].iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let wanted = if tensor == 0.0 { 0.0 } else { amax / 6.0 / tensor };
        format!(
            "Value {} of block {block} is {}. The block's scale is its largest magnitude / 6 / tensor scale = {}, in e4m3 {}. \
             Divided by it and tensor scale {} it is {}; the nearest e2m1 value is {} \
             (code {:04b}), read back as {}. {moved} Signal to noise of the tensor: {:.1} dB; MXFP4, with a power of two for each \
             32, has {:.1} dB.",
            at % BLOCK,
            number(value),
            number(wanted),
            number(scale),
            number(tensor),
            number(scaled),
            number(Element::E2m1.decode(now.code(at))),
            now.code(at),
            number(now.decoded[at]),
            values::sqnr_db(&self.values, &now.decoded),
            values::sqnr_db(&self.values, &other),
        )
    }
}

fn moved_words(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun} moved"),
        _ => format!("{} moved", kit::plural(count, noun)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::formats::Format;

    #[test]
    fn a_value_is_code_times_both_scales() {
        let viz = TwoLevelScale::default();
        let now = viz.both().0;
        assert_eq!(now.layout.format, Format::Nvfp4);
        for at in 0..viz.values.len() {
            let wanted = Element::E2m1.decode(now.code(at)) * now.block_scale(at / BLOCK) * now.tensor_scale();
            assert!((now.decoded[at] - wanted).abs() < 1e-9);
        }
        let most = viz.values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        assert!((now.tensor_scale() / (most / 2688.0) - 1.0).abs() < 1e-6, "the largest over 6 * 448");
    }

    #[test]
    fn a_larger_value_moves_its_block_and_the_largest_of_all_moves_the_tensor() {
        let mut viz = TwoLevelScale::default();
        // The last block is the smallest: doubling its largest moves its own scale alone.
        let at = (48..64).max_by(|a, b| viz.values[*a].abs().total_cmp(&viz.values[*b].abs())).unwrap_or(48);
        viz.values[at] *= 2.0;
        assert!(viz.describe(&VizInput::default()).contains("1 block scale moved and the tensor's scale stayed"));
        viz.values[at] = 100.0;
        assert!(viz.describe(&VizInput::default()).contains("the tensor's scale moved"));
    }
}
