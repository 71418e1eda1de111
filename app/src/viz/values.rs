//! Numbers in cells: what the pictures of formats, softmax and attention share.

use super::kit::{self, Cells};
use crate::theme::{Tokens, font_size, space};
use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, StrokeKind, Ui, Vec2};
use rand::{SeedableRng, rngs::SmallRng};
use rand_distr::{Distribution, StandardNormal};
use std::ops::RangeInclusive;

/// Four significant digits, without trailing zeros: `0.1016`, `65504`, `1.18e-38`.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size == 0.0 {
        return exact(value);
    }
    if !(1e-3..1e6).contains(&size) {
        let text = format!("{value:.2e}");
        return text.replacen(".00e", "e", 1);
    }
    let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// All digits of a number.
pub fn exact(value: f64) -> String {
    match value.abs() {
        _ if value.is_nan() => "NaN".to_owned(),
        size if size == 0.0 || (1e-6..1e16).contains(&size) || value.is_infinite() => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// `12,345`.
pub fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How a cell is framed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    #[default]
    Plain,
    /// Used in this step.
    Used,
    /// The one that is chosen.
    Focus,
    /// Takes no part: crossed by a line.
    Off,
    /// Not a number, or infinite.
    Bad,
}

/// A fill for a value as a share of the largest, -1 to 1: one colour a sign, stronger when larger.
pub fn heat(tokens: &Tokens, share: f64) -> Color32 {
    if !share.is_finite() {
        return tokens.fail_soft;
    }
    let color = if share < 0.0 { tokens.series[4] } else { tokens.series[0] };
    color.gamma_multiply(0.08 + 0.5 * share.abs().min(1.0) as f32)
}

/// Equal cells, `rows` of `columns`.
pub fn grid(origin: Pos2, rows: usize, columns: usize, cell: Vec2) -> Cells {
    Cells { origin, columns, cell, count: rows * columns }
}

/// Paints a cell with its text, in the largest of two fonts that fits; a text that does not fit is left out.
pub fn cell(painter: &Painter, tokens: &Tokens, rect: Rect, text: &str, fill: Color32, look: Look) {
    let inner = rect.shrink(0.75);
    painter.rect_filled(inner, 1.0, tokens.inset);
    painter.rect_filled(inner, 1.0, fill);
    if look == Look::Off {
        painter.line_segment([inner.left_bottom(), inner.right_top()], Stroke::new(1.0, tokens.border_strong));
    }
    let color = if look == Look::Bad { tokens.fail } else { tokens.text };
    for size in [font_size::SMALL, font_size::SMALL - 2.0] {
        let galley = painter.layout_no_wrap(text.to_owned(), FontId::proportional(size), color);
        if galley.size().x <= inner.width() - 2.0 && galley.size().y <= inner.height() + 3.0 {
            painter.galley(inner.center() - galley.size() / 2.0, galley, color);
            break;
        }
    }
    let (width, color) = match look {
        Look::Focus => (2.5, tokens.lane_focus),
        Look::Used => (1.5, tokens.accent),
        Look::Bad => (1.5, tokens.fail),
        Look::Plain | Look::Off => (1.0, tokens.border),
    };
    painter.rect_stroke(inner, 1.0, Stroke::new(width, color), StrokeKind::Inside);
    if look == Look::Focus {
        painter.rect_stroke(inner.expand(1.0), 1.0, Stroke::new(1.0, tokens.text), StrokeKind::Outside);
    }
}

/// A title above a picture's part.
pub fn title(painter: &Painter, tokens: &Tokens, at: Pos2, text: &str) {
    kit::small(painter, at, Align2::LEFT_BOTTOM, text, tokens.text);
}

/// A number to drag or type, with its name, in a wrapping row; true when it changed.
pub fn drag(ui: &mut Ui, name: &str, value: &mut f64, range: RangeInclusive<f64>, speed: f64) -> bool {
    named(ui, name, egui::DragValue::new(value).range(range).speed(speed))
}

/// The same for whole numbers.
pub fn count(ui: &mut Ui, name: &str, value: &mut usize, range: RangeInclusive<usize>) -> bool {
    named(ui, name, egui::DragValue::new(value).range(range).speed(0.1))
}

fn named(ui: &mut Ui, name: &str, edit: egui::DragValue<'_>) -> bool {
    const VALUE: f32 = 56.0;
    keep_with_next(ui, name, VALUE);
    let label = ui.label(name);
    ui.add(edit).labelled_by(label.id).changed()
}

/// Breaks a wrapping row before a name whose control, so many points wide, would not fit behind it.
pub fn keep_with_next(ui: &mut Ui, name: &str, control: f32) {
    let font = egui::TextStyle::Body.resolve(ui.style());
    let wanted = ui.painter().layout_no_wrap(name.to_owned(), font, Color32::TRANSPARENT).size().x + control;
    if ui.available_size_before_wrap().x < wanted && ui.cursor().left() > ui.min_rect().left() + space::XL {
        ui.end_row();
        // Else the name would be at the top of a row that its value makes higher.
        ui.set_row_height(ui.spacing().interact_size.y);
    }
}

/// Normally distributed numbers with mean 0 and spread 1, the same on every call.
pub fn normals(seed: u64, count: usize) -> Vec<f64> {
    let mut random = SmallRng::seed_from_u64(seed);
    (0..count).map(|_| StandardNormal.sample(&mut random)).collect()
}

/// Signal to quantization noise in dB: ten times the logarithm of mean square by mean squared error.
pub fn sqnr_db(values: &[f64], stored: &[f64]) -> f64 {
    let noise: f64 = values.iter().zip(stored).map(|(x, q)| (x - q).powi(2)).sum();
    10.0 * (values.iter().map(|x| x * x).sum::<f64>() / noise).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_right() {
        for (value, text) in [
            (0.1015625, "0.1016"),
            (65504.0, "65504"),
            (-2.5, "-2.5"),
            (1.1754943508e-38, "1.18e-38"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
            (1e6, "1e6"),
            (10.0, "10"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(exact(0.1015625), "0.1015625");
    }

    #[test]
    fn noise_of_a_tenth_is_twenty_decibels() {
        assert!((sqnr_db(&[1.0, -1.0], &[1.1, -0.9]) - 20.0).abs() < 1e-9);
    }
}
