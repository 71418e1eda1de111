//! What the plots share: numbers with units, logarithmic axes (egui_plot has none), hatching, legends.

use crate::theme::{self, space};
use egui::{Color32, Painter, Pos2, Rect, RichText, Shape, Stroke, StrokeKind, Ui, pos2, vec2};
use egui_plot::{GridInput, GridMark};

/// Up to three significant digits and an SI prefix: `3.21 µs`, `4.1 TB/s`, `96.4 G`.
pub fn si(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 8] =
        [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ")];
    let size = value.abs();
    if size == 0.0 || !size.is_finite() {
        return format!("{value} {unit}").trim_end().to_owned();
    }
    // Rounding may carry 999.6 into the next prefix.
    let (factor, prefix) = PREFIXES.iter().find(|(factor, _)| size >= factor * 0.9995).copied().unwrap_or((1e-9, "n"));
    format!("{} {prefix}{unit}", short(value / factor)).trim_end().to_owned()
}

/// A time given in nanoseconds, with the unit that suits it.
pub fn time_ns(ns: f64) -> String {
    si(ns * 1e-9, "s")
}

/// Three significant digits, no exponent.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 99.95 => format!("{value:.0}"),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The same without trailing zeros, for axes: `50`, `2.5`.
pub fn short(value: f64) -> String {
    let text = digits(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Marks of an axis that holds logarithms to the base 10: every decade, and 2 to 9 within a decade where there is room.
pub fn decades(input: &GridInput) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    if !(high - low).is_finite() || high - low > 60.0 {
        return Vec::new();
    }
    let mut marks = Vec::new();
    for decade in low.floor() as i64..=high.ceil() as i64 {
        for step in 1..=9 {
            let value = decade as f64 + f64::from(step).log10();
            if value >= low && value <= high {
                // Only the whole decades are labelled, unless there are few of them.
                let step_size = if step == 1 {
                    1.0
                } else if high - low < 1.5 && matches!(step, 2 | 5) {
                    0.5
                } else {
                    0.04
                };
                marks.push(GridMark { value, step_size });
            }
        }
    }
    marks
}

/// True for the marks of [`decades`] that carry a label.
pub fn is_labelled(mark: &GridMark) -> bool {
    mark.step_size >= 0.5
}

/// Steps of an axis of `span` units in `length` points, whose numbers need `room` each: the least of 1, 2, 5, 10, 20 and
/// so on, and of tenths of them, that leaves it.
pub fn step(span: f64, length: f32, room: f32) -> f64 {
    let least = span * f64::from(room) / f64::from(length.max(room));
    if !(least.is_finite() && least > 0.0) {
        return 1.0;
    }
    let decade = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|first| first * decade).find(|step| *step >= least).unwrap_or(10.0 * decade)
}

/// Marks at the multiples of a step.
pub fn marks(input: &GridInput, step: f64) -> Vec<GridMark> {
    let (from, to) = ((input.bounds.0 / step).ceil(), (input.bounds.1 / step).floor());
    // Before its first frame a plot may have any bounds.
    if !(to - from).is_finite() || to - from > 1_000.0 {
        return Vec::new();
    }
    (from as i64..=to as i64).map(|i| GridMark { value: i as f64 * step, step_size: step }).collect()
}

/// Fills a rectangle with slanted lines: the sign of what is modelled and not measured.
pub fn hatch(painter: &Painter, rect: Rect, color: Color32) {
    let painter = painter.with_clip_rect(rect.intersect(painter.clip_rect()));
    let stroke = Stroke::new(1.0, color);
    let mut x = rect.left() - rect.height();
    while x < rect.right() {
        painter.line_segment([pos2(x, rect.bottom()), pos2(x + rect.height(), rect.top())], stroke);
        x += 5.0;
    }
    painter.rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
}

/// A dashed line, for what the learner did not measure with this kernel: references and ceilings.
pub fn dashed(painter: &Painter, from: Pos2, to: Pos2, stroke: Stroke) {
    painter.extend(Shape::dashed_line(&[from, to], stroke, 6.0, 4.0));
}

/// A plot learns how wide its axes are by drawing them, so its first frame is off. The window draws when something
/// happens: this asks for one frame more whenever the plot's frame moved. `name` is the plot's.
pub fn settle(ui: &Ui, name: &str, frame: &Rect) {
    let key = egui::Id::unique(("frame of a plot", name));
    if ui.data(|data| data.get_temp::<Rect>(key)) != Some(*frame) {
        ui.data_mut(|data| data.insert_temp(key, *frame));
        ui.ctx().request_repaint();
    }
}

/// How a thing is drawn, shown before its name in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swatch {
    /// A dot with a bar: a median and its spread.
    Measured,
    Dashed,
    Solid,
    Bar,
    Hatched,
    Hollow,
    Cross,
}

/// A wrapping row of [`legend_entry`]s.
pub fn legend(ui: &mut Ui, entries: impl FnOnce(&mut Ui)) {
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = 0.0;
        ui.spacing_mut().item_spacing = vec2(space::L, space::XS);
        ui.horizontal_wrapped(entries);
    });
}

/// What is left of `height`, which began at `top`, for the plot itself: two lines of text come below it.
pub fn height_left(ui: &Ui, top: f32, height: f32) -> f32 {
    let used = ui.cursor().top() - top;
    (height - used - 2.0 * theme::font_size::SMALL * 1.3 - 2.0 * space::S).max(96.0)
}

/// One entry of a legend, to be placed in a wrapping row.
pub fn legend_entry(ui: &mut Ui, swatch: Swatch, color: Color32, text: &str) {
    const SWATCH_WIDTH: f32 = 22.0;
    let font = egui::FontId::proportional(theme::font_size::SMALL);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, theme::tokens(ui).text_muted);
    let size = vec2(SWATCH_WIDTH + space::XS + galley.size().x, galley.size().y.max(14.0));
    let (area, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
    let rect = Rect::from_min_size(area.min, vec2(SWATCH_WIDTH, area.height()));
    let painter = ui.painter();
    let middle = rect.center();
    match swatch {
        Swatch::Measured => {
            painter.vline(middle.x, rect.y_range().shrink(1.0), Stroke::new(1.5, color));
            painter.circle_filled(middle, 3.5, color);
        }
        Swatch::Dashed => dashed(painter, rect.left_center(), rect.right_center(), Stroke::new(1.5, color)),
        Swatch::Solid => {
            painter.hline(rect.x_range(), middle.y, Stroke::new(2.0, color));
        }
        Swatch::Bar => {
            painter.rect_filled(Rect::from_center_size(middle, vec2(10.0, 10.0)), 2.0, color);
        }
        Swatch::Hatched => hatch(painter, rect.shrink2(vec2(2.0, 1.0)), color),
        Swatch::Hollow => {
            painter.circle_stroke(middle, 3.5, Stroke::new(1.5, color));
        }
        Swatch::Cross => {
            let font = egui::FontId::proportional(theme::font_size::SMALL);
            painter.text(middle, egui::Align2::CENTER_CENTER, "✖", font, color);
        }
    }
    let at = pos2(rect.right() + space::XS, area.center().y - galley.size().y / 2.0);
    painter.galley(at, galley, color);
}

/// Gives a drop-down list its name for screen readers; it shows only its value.
pub fn name_choice(response: &egui::Response, name: &str, value: &str) {
    response.widget_info(|| egui::WidgetInfo {
        current_text_value: Some(value.to_owned()),
        ..egui::WidgetInfo::labeled(egui::Role::ComboBox, true, name)
    });
}

/// What a plot shows when there is nothing to plot: what it is for and how to fill it.
pub fn empty_state(ui: &mut Ui, height: f32, title: &str, how: &str) {
    let tokens = theme::tokens(ui);
    egui::Frame::new()
        .fill(tokens.inset)
        .stroke(Stroke::new(1.0, tokens.border))
        .corner_radius(theme::radius::MEDIUM)
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.set_min_height(height);
            ui.vertical_centered(|ui| {
                ui.add_space((height / 2.0 - 28.0).max(space::M));
                ui.label(RichText::new(title).color(tokens.text_muted));
                ui.label(RichText::new(how).small().color(tokens.text_faint));
            });
        });
}

/// One field of a CSV line: quoted where it must be (RFC 4180).
pub fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_carry_three_digits_and_a_prefix() {
        for (value, unit, text) in [
            (3.214e-6, "s", "3.21 µs"),
            (999.7, "B", "1 kB"),
            (4.1e12, "B/s", "4.1 TB/s"),
            (0.0, "s", "0 s"),
            (12.0, "", "12"),
            (5e-10, "s", "0.5 ns"),
            (123_456.0, "", "123 k"),
        ] {
            assert_eq!(si(value, unit), text);
        }
    }

    #[test]
    fn decades_stay_within_the_bounds() {
        let marks = decades(&GridInput { bounds: (-0.5, 2.2), base_step_size: 0.01 });
        assert!(marks.iter().all(|m| m.value >= -0.5 && m.value <= 2.2));
        assert_eq!(marks.iter().filter(|m| is_labelled(m)).count(), 3);
        let absurd = GridInput { bounds: (f64::NEG_INFINITY, 3.0), base_step_size: 1.0 };
        assert!(decades(&absurd).is_empty());
    }

    #[test]
    fn steps_of_an_axis_are_round_and_leave_room() {
        let steps = [4.0, 20.0, 60.0, 2_000.0, 10_000.0].map(|span| step(span, 540.0, 48.0));
        assert_eq!(steps, [0.5, 2.0, 10.0, 200.0, 1_000.0]);
        assert_eq!([step(5.0, 60.0, 24.0), step(3.0, -20.0, 24.0), step(f64::NAN, 9.0, 24.0)], [2.0, 5.0, 1.0]);
        let values = |low, high, step| {
            let bounds = GridInput { bounds: (low, high), base_step_size: 1.0 };
            marks(&bounds, step).iter().map(|mark| mark.value).collect::<Vec<_>>()
        };
        assert_eq!(values(0.3, 6.1, 2.0), [2.0, 4.0, 6.0]);
        assert!(values(f64::NEG_INFINITY, 1.0, 2.0).is_empty());
    }

    #[test]
    fn csv_fields_are_quoted_where_needed() {
        assert_eq!(csv_field("n = 1"), "n = 1");
        assert_eq!(csv_field("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
