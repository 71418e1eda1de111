//! The wide views of the formats: all seven beside each other, and every code of a small one.

use super::landing::{self, FORMATS, Kind};
use crate::theme::{self, Tokens, font_size};
use crate::viz::kit::{self, Cells};
use crate::viz::values::{self, Look};
use egui::{Align2, Painter, Rect, RichText, ScrollArea, Stroke, StrokeKind, Ui, pos2};
use gpu_core::emulator::num::Format;

/// Powers of two of the range picture's ends: fp32's smallest and largest numbers fit.
const FROM: f32 = -152.0;
const TO: f32 = 130.0;
pub const ROW: f32 = 22.0;

/// The seven formats: what a number becomes in each, and how far and how fine they reach.
pub fn formats_ui(ui: &mut Ui, number: f64, saturate: bool) {
    let tokens = theme::tokens(ui);
    ScrollArea::horizontal().id_salt("formats").show(ui, |ui| {
        egui::Grid::new("formats").striped(true).num_columns(9).show(ui, |ui| {
            let heads = [
                "format",
                "bits",
                "the number",
                "error",
                "largest",
                "least normal",
                "least > 0",
                "step at 1",
                "exp(x) fits to",
            ];
            for head in heads {
                ui.label(RichText::new(head).small().color(tokens.text_muted));
            }
            ui.end_row();
            for (name, format) in FORMATS {
                let landing = landing::land(format, number, saturate);
                let error = (landing.value - number).abs() / number.abs();
                let error = if number == 0.0 { 0.0 } else { 100.0 * error };
                ui.strong(name);
                ui.label(format!("1 + {} + {}", format.exponent_bits, format.fraction_bits));
                let text = RichText::new(values::number(landing.value));
                ui.label(if landing.value.is_finite() { text } else { text.color(tokens.fail) });
                ui.label(if error.is_finite() { format!("{} %", values::number(error)) } else { "–".to_owned() });
                for value in [
                    landing::largest(format),
                    landing::least_normal(format),
                    landing::least_subnormal(format),
                    landing::epsilon(format),
                    landing::largest(format).ln(),
                ] {
                    ui.label(values::number(value));
                }
                ui.end_row();
            }
        });
    });
}

/// Ranges on an axis of powers of two; the number is a line through all of them. Subnormals are hatched.
pub fn paint_ranges(painter: &Painter, tokens: &Tokens, area: Rect, number: f64, chosen: usize) {
    const NAME: f32 = 44.0;
    let left = area.left() + NAME;
    let x = |power: f32| left + (area.right() - left) * (power - FROM) / (TO - FROM);
    for (row, (name, format)) in FORMATS.iter().enumerate() {
        let y = area.top() + row as f32 * ROW;
        let color = if row == chosen { tokens.text } else { tokens.text_muted };
        kit::small(painter, pos2(left - 6.0, y + ROW / 2.0), Align2::RIGHT_CENTER, name, color);
        let bar = |from: f64, to: f64| {
            Rect::from_min_max(pos2(x(from.log2() as f32), y + 4.0), pos2(x(to.log2() as f32), y + ROW - 4.0))
        };
        let normal = bar(landing::least_normal(format), landing::largest(format));
        let fill = if row == chosen { tokens.lane_focus } else { tokens.series[0].gamma_multiply(0.8) };
        painter.rect_filled(normal, 2.0, fill);
        let subnormal = bar(landing::least_subnormal(format), landing::least_normal(format));
        crate::widgets::plot_kit::hatch(painter, subnormal, fill);
    }
    let bottom = area.top() + FORMATS.len() as f32 * ROW;
    for power in [-149, -126, -64, -24, 0, 16, 64, 128] {
        let at = pos2(x(power as f32), bottom + 2.0);
        painter.vline(at.x, area.top()..=bottom, Stroke::new(0.5, tokens.grid));
        if area.width() > 500.0 || matches!(power, -149 | -64 | 0 | 64 | 128) {
            kit::small(painter, at, Align2::CENTER_TOP, format!("2^{power}"), tokens.text_muted);
        }
    }
    if number != 0.0 && number.is_finite() {
        let at = x(number.abs().log2() as f32).clamp(left, area.right());
        painter.vline(at, area.top()..=bottom, Stroke::new(2.0, tokens.accent));
    }
}

/// Where the codes of a format of at most 8 bits are drawn: a row for each upper half of a code.
pub fn code_cells(format: &Format, area: Rect) -> Cells {
    let columns = if format.bits() == 8 { 16 } else { 8 };
    let rows = landing::codes(format) / columns;
    let head = 16.0;
    let cell = egui::vec2(((area.width() - 24.0) / columns as f32).floor(), ROW);
    values::grid(area.min + egui::vec2(24.0, head), rows, columns, cell)
}

pub fn paint_codes(painter: &Painter, tokens: &Tokens, cells: &Cells, format: &Format, chosen: u64) {
    let span = (landing::largest(format) / landing::least_subnormal(format)).log2();
    for code in 0..landing::codes(format) {
        let value = landing::decode(format, code as u64);
        let kind = landing::kind(format, code as u64);
        let share = (value.abs() / landing::least_subnormal(format)).max(1.0).log2() / span;
        let fill = match kind {
            Kind::Nan | Kind::Infinite => tokens.fail_soft,
            Kind::Zero => tokens.inset,
            // A value near 1 is in the middle of the scale.
            _ => values::heat(tokens, if value < 0.0 { -share.max(0.05) } else { share.max(0.05) }),
        };
        let look = match kind {
            Kind::Nan | Kind::Infinite => Look::Bad,
            _ if code as u64 == chosen => Look::Focus,
            _ => Look::Plain,
        };
        let rect = cells.rect(code);
        values::cell(painter, tokens, rect, &values::number(value), fill, look);
        if kind == Kind::Subnormal {
            let at = rect.left_top() + egui::vec2(4.0, 4.0);
            painter.circle_filled(at, 1.5, tokens.text);
        }
        if code as u64 == chosen && look == Look::Bad {
            painter.rect_stroke(rect, 1.0, Stroke::new(2.5, tokens.lane_focus), StrokeKind::Outside);
        }
    }
    for column in 0..cells.columns {
        let at = cells.rect(column).center_top() - egui::vec2(0.0, 1.0);
        kit::small(painter, at, Align2::CENTER_BOTTOM, format!("{column:X}"), tokens.text_faint);
    }
    for row in 0..cells.rows() {
        let at = cells.rect(row * cells.columns).left_center() - egui::vec2(4.0, 0.0);
        kit::small(painter, at, Align2::RIGHT_CENTER, format!("{:X}", row * cells.columns / 16), tokens.text_faint);
    }
}

/// Text size that the code map is laid out for.
pub const fn code_map_height(rows: usize) -> f32 {
    rows as f32 * ROW + font_size::SMALL + 8.0
}
