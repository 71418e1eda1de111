//! Floating-point formats bit by bit: what each bit does to the value, the neighbours of a code, where a number lands,
//! and the seven formats of the course side by side.

mod landing;
mod table;

use super::kit;
use super::stepper::Stepper;
use super::values::{self, exact};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, font_size, space};
use crate::widgets::plot_kit;
use egui::{Align2, FontId, Rect, Sense, Stroke, StrokeKind, Ui, pos2, vec2};
use gpu_core::emulator::Trace;
use gpu_core::emulator::num::Format;
use landing::{FORMATS, Kind, Landing};

const BIT: f32 = 24.0;
const LINE: f32 = 84.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Neighbours,
    Formats,
    Codes,
}

pub struct FpBits {
    /// Index into [`FORMATS`].
    format: usize,
    /// Position of the code in the order of values.
    code: Stepper,
    number: f64,
    /// The number is divided by it first.
    scale: f64,
    saturate: bool,
    view: View,
}

impl Default for FpBits {
    fn default() -> Self {
        let mut fresh = Self {
            format: 4,
            code: Stepper::default(),
            number: 0.3,
            scale: 1.0,
            saturate: true,
            view: View::Neighbours,
        };
        fresh.go_to_landing();
        fresh
    }
}

impl FpBits {
    fn name(&self) -> &'static str {
        FORMATS[self.format].0
    }

    fn format(&self) -> &'static Format {
        FORMATS[self.format].1
    }

    fn code(&self) -> u64 {
        landing::code_at(self.format(), self.code.within(landing::codes(self.format())))
    }

    fn landing(&self) -> Landing {
        landing::land(self.format(), self.scaled(), self.saturate)
    }

    /// The number after division by the scale.
    fn scaled(&self) -> f64 {
        self.number / self.scale
    }

    fn go_to_landing(&mut self) {
        self.code.jump(landing::position_of(self.format(), self.landing().code));
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        let mut changed = false;
        ui.horizontal_wrapped(|ui| {
            for (index, (name, _)) in FORMATS.iter().enumerate() {
                changed |= ui.selectable_value(&mut self.format, index, *name).changed();
            }
        });
        ui.horizontal_wrapped(|ui| {
            let speed = (self.number.abs() * 0.01).max(1e-4);
            changed |= values::drag(ui, "your number", &mut self.number, -1e39..=1e39, speed);
            changed |= values::drag(ui, "divided by", &mut self.scale, 1e-6..=1e6, 0.01);
            let text = "keep the largest value instead of overflowing";
            let shown = ui.checkbox(&mut self.saturate, text);
            changed |= shown.on_hover_text("What .satfinite in a cvt instruction does").changed();
            changed |= ui.button("Go to my number").clicked();
        });
        ui.horizontal_wrapped(|ui| {
            ui.selectable_value(&mut self.view, View::Neighbours, "Neighbors");
            ui.selectable_value(&mut self.view, View::Formats, "All seven formats");
            let text = format!("All {} codes", landing::codes(self.format()));
            let button = egui::Button::selectable(self.view == View::Codes, text);
            if ui.add_enabled(self.format().bits() <= 8, button).clicked() {
                self.view = View::Codes;
            }
        });
        if self.format().bits() > 8 && self.view == View::Codes {
            self.view = View::Neighbours;
        }
        if changed {
            self.go_to_landing();
        }
    }

    /// The bits as buttons: each toggles.
    fn bits_ui(&mut self, ui: &mut Ui) {
        let format = self.format();
        let bits = format.bits() as usize;
        let room = (ui.available_width() / BIT) as usize;
        let columns = if bits <= room { bits } else { (room / 8 * 8).max(8) };
        let rows = bits.div_ceil(columns);
        let height = rows as f32 * (BIT + space::XS);
        let (area, _) = ui.allocate_exact_size(vec2(columns as f32 * BIT, height), Sense::hover());
        let tokens = theme::tokens(ui);
        let code = self.code();
        for at in 0..bits {
            let bit = bits - 1 - at;
            let place = vec2((at % columns) as f32 * BIT, (at / columns) as f32 * (BIT + space::XS));
            let rect = Rect::from_min_size(area.min + place, vec2(BIT, BIT)).shrink(1.0);
            let response = ui.interact(rect, ui.scope_id().with(("bit", bit)), Sense::click());
            let (part, color) = self.part(tokens, bit as u32);
            let is_set = code >> bit & 1 == 1;
            let name = format!("{part}, bit {bit}");
            response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_set, &name));
            let fill = if is_set { color } else { color.gamma_multiply(0.18) };
            ui.painter().rect_filled(rect, 2.0, tokens.inset);
            ui.painter().rect_filled(rect, 2.0, fill);
            let focus = response.has_focus() || response.hovered();
            let stroke = if focus { Stroke::new(2.0, tokens.text) } else { Stroke::new(1.0, color) };
            ui.painter().rect_stroke(rect, 2.0, stroke, StrokeKind::Inside);
            let color = if is_set { kit::on_fill(tokens, color) } else { tokens.text };
            let font = FontId::monospace(font_size::BODY);
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, u8::from(is_set), font, color);
            if response.on_hover_text(name).clicked() {
                self.code.jump(landing::position_of(format, code ^ 1 << bit));
            }
        }
        plot_kit::legend(ui, |ui| {
            for (bit, count) in
                [(bits as u32 - 1, 1), (format.fraction_bits, format.exponent_bits), (0, format.fraction_bits)]
            {
                let (part, color) = self.part(tokens, bit);
                let text = format!("{part}: {}", kit::plural(count as usize, "bit"));
                plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, color, &text);
            }
        });
    }

    /// What a bit belongs to, and its colour.
    fn part(&self, tokens: &Tokens, bit: u32) -> (&'static str, egui::Color32) {
        let format = self.format();
        match bit {
            _ if bit < format.fraction_bits => ("fraction", tokens.series[2]),
            _ if bit + 1 < format.bits() => ("exponent", tokens.series[1]),
            _ => ("sign", tokens.series[5]),
        }
    }

    /// Sign, exponent and fraction as a product.
    fn formula(&self) -> String {
        let format = self.format();
        let code = self.code();
        let value = landing::decode(format, code);
        let (exponent, fraction) = landing::fields(format, code);
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let denominator = 1_u64 << format.fraction_bits;
        let power = exponent.max(1) as i64 - i64::from(format.bias);
        match landing::kind(format, code) {
            Kind::Nan => "not a number (NaN)".to_owned(),
            Kind::Infinite => format!("{sign}infinity"),
            Kind::Zero => format!("{sign}0"),
            Kind::Subnormal => format!(
                "{sign}{fraction}/{denominator} x 2^{power} = {}: exponent field 0, so no 1 in front (subnormal)",
                exact(value)
            ),
            Kind::Normal => {
                format!("{sign}(1 + {fraction}/{denominator}) x 2^({exponent} - {}) = {}", format.bias, exact(value))
            }
        }
    }

    /// The finite values around the code, at most two on each side, the code's own position among them.
    fn around(&self) -> Option<(Vec<f64>, usize)> {
        let format = self.format();
        let at = self.code.within(landing::codes(format));
        let value = |position: usize| landing::decode(format, landing::code_at(format, position));
        if !value(at).is_finite() {
            return None;
        }
        let from = at.saturating_sub(2);
        let mut here = 0;
        let mut values: Vec<f64> = Vec::new();
        for position in from..(at + 3).min(landing::codes(format)) {
            let value = value(position);
            // Minus zero and zero are one place.
            if value.is_finite() && values.last() != Some(&value) {
                values.push(value);
            }
            if position == at {
                here = values.len() - 1;
            }
        }
        Some((values, here))
    }

    fn paint_line(&self, painter: &egui::Painter, tokens: &Tokens, area: Rect) {
        let Some((values, here)) = self.around() else {
            let text = "This code has no place on the number line.";
            kit::small(painter, area.center(), Align2::CENTER_CENTER, text, tokens.fail);
            return;
        };
        let (first, last) = (values[0], values[values.len() - 1]);
        let span = (last - first).max(f64::MIN_POSITIVE);
        let inner = area.shrink2(vec2(48.0, 0.0));
        let x = |value: f64| inner.left() + inner.width() * ((value - first) / span) as f32;
        let y = area.top() + 40.0;
        painter.hline(area.x_range(), y, Stroke::new(1.5, tokens.border_strong));
        for (index, value) in values.iter().enumerate() {
            let focus = index == here;
            let color = if focus { tokens.text } else { tokens.text_muted };
            let stroke = if focus { Stroke::new(4.0, tokens.lane_focus) } else { Stroke::new(2.0, tokens.series[0]) };
            painter.vline(x(*value), y - 9.0..=y + 9.0, stroke);
            let wide = area.width() > 560.0;
            // In a narrow pane every other number is lower.
            let drop = if wide || index % 2 == here % 2 { 0.0 } else { 15.0 };
            kit::small(painter, pos2(x(*value), y + 11.0 + drop), Align2::CENTER_TOP, values::number(*value), color);
            if let Some(next) = values.get(index + 1) {
                let middle = x(value + (next - value) / 2.0);
                plot_kit::dashed(
                    painter,
                    pos2(middle, y - 6.0),
                    pos2(middle, y + 6.0),
                    Stroke::new(1.0, tokens.text_faint),
                );
            }
        }
        let scaled = self.scaled();
        let inside = (first..=last).contains(&scaled);
        let at = x(scaled.clamp(first, last));
        let tip = pos2(at, y - 11.0);
        let color = tokens.accent;
        painter.line_segment([tip - vec2(0.0, 10.0), tip], Stroke::new(2.0, color));
        painter.line_segment([tip - vec2(4.0, 5.0), tip], Stroke::new(2.0, color));
        painter.line_segment([tip - vec2(-4.0, 5.0), tip], Stroke::new(2.0, color));
        let number = values::number(scaled);
        let (text, align) = match (inside, scaled > last) {
            (true, _) => (number, Align2::CENTER_BOTTOM),
            (false, true) => (format!("{number} is further right"), Align2::RIGHT_BOTTOM),
            (false, false) => (format!("{number} is further left"), Align2::LEFT_BOTTOM),
        };
        kit::small(painter, tip - vec2(0.0, 10.0), align, text, color);
    }

    fn picture_ui(&mut self, ui: &mut Ui, words: &str) {
        let format = self.format();
        let count = landing::codes(format);
        let width = ui.available_width();
        let height = match self.view {
            View::Neighbours => LINE,
            View::Formats => FORMATS.len() as f32 * table::ROW + 20.0,
            View::Codes => table::code_map_height(if format.bits() == 8 { 16 } else { 2 }),
        };
        let canvas = self.code.canvas(ui, vec2(width, height), words, count);
        let tokens = theme::tokens(ui);
        match self.view {
            View::Neighbours => self.paint_line(&canvas.painter, tokens, canvas.rect),
            View::Formats => {
                table::paint_ranges(&canvas.painter, tokens, canvas.rect, self.scaled(), self.format);
            }
            View::Codes => {
                let cells = table::code_cells(format, canvas.rect);
                table::paint_codes(&canvas.painter, tokens, &cells, format, self.code());
                let under = canvas.response.hover_pos().and_then(|pos| cells.at(pos));
                if let Some(code) = under {
                    if canvas.response.clicked() {
                        self.code.jump(landing::position_of(format, code as u64));
                    }
                    let value = exact(landing::decode(format, code as u64));
                    canvas.response.on_hover_text_at_pointer(format!("code 0x{code:02X}: {value}"));
                }
            }
        }
    }
}

impl Visualization for FpBits {
    fn id(&self) -> &'static str {
        "fp-bits"
    }

    fn title(&self) -> &'static str {
        "Floating-point bits"
    }

    /// It needs a format and a number, and no steps.
    fn example(&self) -> Trace {
        Trace { kernel: "example".into(), grid: [1, 1, 1], block: [1, 1, 1], ..Trace::default() }
    }

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.controls_ui(ui);
        self.bits_ui(ui);
        ui.label(egui::RichText::new(self.formula()).monospace());
        self.code.ui(ui, landing::codes(self.format()), "code");
        let words = self.describe(input);
        self.picture_ui(ui, &words);
        match self.view {
            View::Formats => table::formats_ui(ui, self.scaled(), self.saturate),
            View::Codes => plot_kit::legend(ui, |ui| {
                let tokens = theme::tokens(ui);
                plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, values::heat(tokens, 0.6), "positive");
                plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, values::heat(tokens, -0.6), "negative");
                let text = "infinity or NaN; a dot in the corner marks a subnormal";
                plot_kit::legend_entry(ui, plot_kit::Swatch::Hollow, tokens.fail, text);
            }),
            View::Neighbours => {}
        }
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let format = self.format();
        let code = self.code();
        let at = self.code.within(landing::codes(format));
        let value = landing::decode(format, code);
        let digits = (format.bits() as usize).div_ceil(4);
        let mut words = format!("{} code 0x{code:0digits$X}: ", self.name());
        let beside = |step: i64| {
            let position = usize::try_from(at as i64 + step).ok()?;
            (position < landing::codes(format)).then(|| landing::decode(format, landing::code_at(format, position)))
        };
        match (value.is_finite(), beside(-1), beside(1)) {
            (true, Some(below), Some(above)) if below.is_finite() && above.is_finite() => {
                let step = (above - value).max(value - below);
                words += &format!(
                    "{}. Its neighbors are {} and {}; the step here is {}. ",
                    exact(value),
                    exact(below),
                    exact(above),
                    values::number(step)
                );
            }
            (true, ..) => words += &format!("{}, the end of the finite values. ", exact(value)),
            (false, ..) => words += &format!("{}. ", exact(value)),
        }
        words + &self.landing().words(self.name(), self.scaled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_where_its_number_lands() {
        let fresh = FpBits::default();
        assert_eq!(landing::decode(fresh.format(), fresh.code()), 0.3125);
        let words = fresh.describe(&VizInput::default());
        assert!(words.contains("0.3 lies between 0.28125 and 0.3125"), "{words}");
    }

    #[test]
    fn the_formula_names_what_the_fields_hold() {
        let mut viz = FpBits { format: 4, ..FpBits::default() };
        let mut at = |code: u64| {
            viz.code.jump(landing::position_of(viz.format(), code));
            viz.formula()
        };
        assert_eq!(at(0x4B), "(1 + 3/8) x 2^(9 - 7) = 5.5");
        assert!(at(0x83).starts_with("-3/8 x 2^-6 = -0.005859375"), "{}", at(0x83));
        assert_eq!((at(0x7F), at(0x80)), ("not a number (NaN)".to_owned(), "-0".to_owned()));
    }
}
