//! The dot product of two vectors that can be turned: components, lengths and angle, the projection, and what
//! normalising changes.

use super::kit;
use super::own::Keys;
use super::stepper::Stepper;
use super::values::{self, number};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Color32, Painter, Pos2, Rect, Sense, Stroke, Ui, Vec2, pos2, vec2};

const SIDE: f32 = 300.0;
/// The plane reaches so far from its middle.
const REACH: f64 = 3.0;
const TURN: usize = 360;

pub struct DotProduct {
    length_a: f64,
    /// Degrees.
    angle_a: f64,
    length_b: f64,
    /// Position is the angle of b in degrees.
    angle_b: Stepper,
    normalised: bool,
    /// Key of the learner's run to take, and the one that was taken.
    key: usize,
    own: Option<Own>,
}

/// A query and a key of the learner's run.
struct Own {
    key: usize,
    lengths: [f64; 2],
    degrees: f64,
    dot: f64,
    stored: f64,
    /// Lengths and angle as they are drawn: changed ones are no longer the run's.
    drawn: ([f64; 2], usize),
}

impl Default for DotProduct {
    fn default() -> Self {
        let angle_b = Stepper::starting_at(70);
        Self { length_a: 2.0, angle_a: 20.0, length_b: 1.5, angle_b, normalised: false, key: 0, own: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Worked {
    a: [f64; 2],
    b: [f64; 2],
    lengths: [f64; 2],
    cosine: f64,
    dot: f64,
    /// Length of b along a, with its sign.
    projection: f64,
}

impl DotProduct {
    fn degrees_b(&self) -> f64 {
        self.angle_b.within(TURN) as f64
    }

    fn work(&self, degrees_b: f64) -> Worked {
        let lengths = if self.normalised { [1.0, 1.0] } else { [self.length_a, self.length_b] };
        let at = |length: f64, degrees: f64| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            [length * cos, length * sin]
        };
        let (a, b) = (at(lengths[0], self.angle_a), at(lengths[1], degrees_b));
        let dot = a[0] * b[0] + a[1] * b[1];
        let cosine = (degrees_b - self.angle_a).to_radians().cos();
        Worked { a, b, lengths, cosine, dot, projection: dot / lengths[0] }
    }

    /// The angle between the two, 0 to 180 degrees.
    fn between(&self) -> f64 {
        let apart = (self.degrees_b() - self.angle_a).rem_euclid(360.0);
        apart.min(360.0 - apart)
    }

    /// Draws the query and a key of the learner's run in the plane that both lie in.
    fn take(&mut self, keys: &Keys<'_>) {
        let key = self.key.min(keys.count - 1);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (query, other) = (keys.query, keys.key(key));
        let lengths = [dot(query, query).sqrt(), dot(other, other).sqrt()];
        let product = dot(query, other);
        let degrees = (product / (lengths[0] * lengths[1]).max(f64::MIN_POSITIVE)).clamp(-1.0, 1.0).acos().to_degrees();
        let scale = 2.5 / lengths[0].max(lengths[1]).max(f64::MIN_POSITIVE);
        let drawn = lengths.map(|length| (length * scale).clamp(0.1, REACH));
        ([self.length_a, self.length_b], self.angle_a, self.normalised) = (drawn, 0.0, false);
        self.angle_b.jump(degrees.round() as usize);
        let drawn = (drawn, degrees.round() as usize);
        self.own = Some(Own { key, lengths, degrees, dot: product, stored: keys.scores[key], drawn });
    }

    /// What was taken, while it is drawn.
    fn own(&self) -> Option<&Own> {
        let drawn = ([self.length_a, self.length_b], self.angle_b.within(TURN));
        self.own.as_ref().filter(|own| own.drawn == drawn && self.angle_a == 0.0 && !self.normalised)
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            if !self.normalised {
                values::drag(ui, "|a|", &mut self.length_a, 0.1..=REACH, 0.01);
            }
            values::drag(ui, "angle of a", &mut self.angle_a, 0.0..=359.0, 1.0);
            if !self.normalised {
                values::drag(ui, "|b|", &mut self.length_b, 0.1..=REACH, 0.01);
            }
            let mut degrees = self.angle_b.within(TURN);
            if values::count(ui, "angle of b", &mut degrees, 0..=TURN - 1) {
                self.angle_b.jump(degrees);
            }
            ui.checkbox(&mut self.normalised, "normalize both");
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, words: &str) {
        let width = ui.available_width();
        let beside = width > 560.0;
        let side = SIDE.min(width);
        let height = if beside { side } else { side + 170.0 };
        let canvas = self.angle_b.canvas(ui, vec2(width, height), words, TURN);
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let plane = Rect::from_min_size(canvas.rect.min, Vec2::splat(side));
        let worked = self.work(self.degrees_b());
        paint_plane(painter, tokens, plane, &worked);
        let chart = if beside {
            Rect::from_min_max(pos2(plane.right() + 64.0, plane.top() + 24.0), canvas.rect.max - vec2(8.0, 34.0))
        } else {
            Rect::from_min_max(pos2(plane.left() + 44.0, plane.bottom() + 24.0), canvas.rect.max - vec2(8.0, 34.0))
        };
        self.paint_curve(painter, tokens, chart, &worked);
        // The tip that is nearer to where the drag began follows the pointer.
        let drag = ui.interact(plane, canvas.response.id.with("tip"), Sense::DRAG);
        let key = canvas.response.id.with("dragged tip");
        if let Some(pos) = drag.interact_pointer_pos() {
            let unit = plane.width() / (2.0 * REACH as f32);
            let place = |v: [f64; 2]| plane.center() + vec2(v[0] as f32, -v[1] as f32) * unit;
            if drag.drag_started() {
                let is_a = place(worked.a).distance(pos) < place(worked.b).distance(pos);
                ui.data_mut(|data| data.insert_temp(key, is_a));
            }
            let is_a = ui.data(|data| data.get_temp(key).unwrap_or(false));
            let at = (pos - plane.center()) / unit;
            let degrees = f64::from(-at.y).atan2(f64::from(at.x)).to_degrees().round().rem_euclid(360.0);
            let length = (f64::from(at.length()) * 20.0).round() / 20.0;
            let length = length.clamp(0.1, REACH);
            if is_a {
                self.angle_a = degrees;
            } else {
                self.angle_b.jump(degrees as usize);
            }
            if !self.normalised {
                *(if is_a { &mut self.length_a } else { &mut self.length_b }) = length;
            }
        }
        drag.on_hover_cursor(egui::CursorIcon::Grab);
    }

    /// The dot product for every angle of b.
    fn paint_curve(&self, painter: &Painter, tokens: &Tokens, area: Rect, worked: &Worked) {
        let most = (worked.lengths[0] * worked.lengths[1]).max(1e-9);
        let y = |dot: f64| area.center().y - area.height() * 0.5 * (dot / most) as f32;
        let x = |degrees: f64| area.left() + area.width() * (degrees / 360.0) as f32;
        painter.rect_filled(area, 2.0, tokens.inset);
        painter.hline(area.x_range(), y(0.0), Stroke::new(1.0, tokens.border_strong));
        for value in [most, 0.0, -most] {
            let at = pos2(area.left() - space::XS, y(value));
            kit::small(painter, at, Align2::RIGHT_CENTER, number(value), tokens.text_muted);
        }
        for degrees in [0, 90, 180, 270, 360] {
            let at = pos2(x(f64::from(degrees)), area.bottom() + 2.0);
            painter.vline(at.x, area.y_range(), Stroke::new(0.5, tokens.grid));
            let align = if degrees == 360 { Align2::RIGHT_TOP } else { Align2::CENTER_TOP };
            kit::small(painter, at, align, format!("{degrees}°"), tokens.text_muted);
        }
        let points: Vec<Pos2> =
            (0..=72).map(|at| f64::from(at) * 5.0).map(|at| pos2(x(at), y(self.work(at).dot))).collect();
        painter.add(egui::Shape::line(points, Stroke::new(2.0, tokens.series[0])));
        painter.circle_filled(pos2(x(self.degrees_b()), y(worked.dot)), 5.0, tokens.lane_focus);
        let title = pos2(area.center().x, area.bottom() + 17.0);
        kit::small(painter, title, Align2::CENTER_TOP, "angle of b", tokens.text_muted);
        kit::small(painter, area.left_top() - vec2(0.0, 8.0), Align2::LEFT_BOTTOM, "a · b", tokens.text);
    }
}

fn paint_plane(painter: &Painter, tokens: &Tokens, area: Rect, worked: &Worked) {
    let unit = area.width() / (2.0 * REACH as f32);
    let place = |v: [f64; 2]| area.center() + vec2(v[0] as f32, -v[1] as f32) * unit;
    painter.rect_filled(area, 2.0, tokens.inset);
    for step in -(REACH as i32)..=REACH as i32 {
        let offset = step as f32 * unit;
        let stroke =
            Stroke::new(if step == 0 { 1.5 } else { 0.5 }, if step == 0 { tokens.border_strong } else { tokens.grid });
        painter.vline(area.center().x + offset, area.y_range(), stroke);
        painter.hline(area.x_range(), area.center().y + offset, stroke);
    }
    // The foot of b on a's line.
    let along = worked.projection / worked.lengths[0];
    let foot = place([worked.a[0] * along, worked.a[1] * along]);
    plot_kit::dashed(painter, place(worked.b), foot, Stroke::new(1.5, tokens.text_muted));
    painter.line_segment([area.center(), foot], Stroke::new(6.0, tokens.series[2].gamma_multiply(0.7)));
    for (v, name, color) in [(worked.a, "a", tokens.series[0]), (worked.b, "b", tokens.lane_focus)] {
        arrow(painter, area.center(), place(v), color);
        let beyond = (place(v) - area.center()).normalized() * 12.0;
        let at = (place(v) + beyond).clamp(area.min + vec2(6.0, 8.0), area.max - vec2(6.0, 8.0));
        kit::small(painter, at, Align2::CENTER_CENTER, name, tokens.text);
    }
}

fn arrow(painter: &Painter, from: Pos2, to: Pos2, color: Color32) {
    let along = (to - from).normalized();
    let stroke = Stroke::new(3.0, color);
    painter.line_segment([from, to], stroke);
    for side in [along.rot90(), -along.rot90()] {
        painter.line_segment([to, to - along * 9.0 + side * 5.0], stroke);
    }
}

impl Visualization for DotProduct {
    kit::head_without_steps!("dot-product", "Dot product explorer");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        if let Some(keys) = Keys::of(input.captured)
            && keys.ui(ui, &mut self.key)
        {
            self.take(&keys);
        }
        self.controls_ui(ui);
        self.angle_b.ui(ui, TURN, "degree");
        let words = self.describe(input);
        self.picture_ui(ui, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Solid, tokens.series[0], "a");
            plot_kit::legend_entry(
                ui,
                plot_kit::Swatch::Solid,
                tokens.lane_focus,
                "b: drag its tip, or use the arrow keys",
            );
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.series[2], "projection of b onto a");
        });
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let worked = self.work(self.degrees_b());
        let short = |x: f64| number((x * 1000.0).round() / 1000.0);
        let between = self.between();
        let meaning = match between {
            _ if between < 1.0 => "They point the same way: the largest dot product for these lengths.",
            _ if between < 89.5 => "The angle is below 90 degrees: the dot product is positive.",
            _ if between < 90.5 => "They are perpendicular: the dot product is 0.",
            _ if between < 179.0 => "The angle is above 90 degrees: the dot product is negative.",
            _ => "They point opposite ways: the most negative dot product for these lengths.",
        };
        let own = self.own().map_or_else(String::new, |own| {
            format!(
                " Drawn to scale are the query and key {} of your last check: {} and {} long, {:.1} degrees apart, so their dot product \
                 is {}. Your kernel stored {}.",
                own.key,
                short(own.lengths[0]),
                short(own.lengths[1]),
                own.degrees,
                short(own.dot),
                short(own.stored)
            )
        });
        let normalised = if self.normalised {
            " Both have length 1, so only the angle counts: this is the cosine similarity."
        } else {
            " A longer vector scores higher at the same angle; normalizing removes that."
        };
        format!(
            "a = ({}, {}), b = ({}, {}): a · b = {} x {} + {} x {} = {}. The same as |a| |b| cos = {} x {} x {}, with {between:.0} \
             degrees between them. The projection of b onto a is {} long. {meaning}{normalised}{own}",
            short(worked.a[0]),
            short(worked.a[1]),
            short(worked.b[0]),
            short(worked.b[1]),
            short(worked.a[0]),
            short(worked.b[0]),
            short(worked.a[1]),
            short(worked.b[1]),
            short(worked.dot),
            short(worked.lengths[0]),
            short(worked.lengths[1]),
            short(worked.cosine),
            short(worked.projection),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_and_angle_give_the_same() {
        for degrees in (0..360).step_by(7) {
            let viz = DotProduct { angle_b: Stepper::starting_at(degrees), ..DotProduct::default() };
            let worked = viz.work(degrees as f64);
            let by_angle = worked.lengths[0] * worked.lengths[1] * worked.cosine;
            assert!((worked.dot - by_angle).abs() < 1e-12, "{degrees}");
            assert!((worked.projection - worked.lengths[1] * worked.cosine).abs() < 1e-12);
        }
    }

    #[test]
    fn a_key_of_the_learners_run_is_drawn_in_its_plane() {
        let captured = super::super::own::tests::keys();
        let keys = Keys::of(Some(&captured)).expect("q, keys and scores");
        let mut viz = DotProduct { key: 1, ..DotProduct::default() };
        viz.take(&keys);
        assert_eq!((viz.length_a, viz.length_b, viz.between()), (1.25, 2.5, 0.0), "10 long, and twice the query");
        let words = viz.describe(&VizInput::default());
        assert!(
            words.contains("5 and 10 long, 0.0 degrees apart, so their dot product is 50. Your kernel stored 49."),
            "{words}"
        );
        viz.key = 0;
        viz.take(&keys);
        assert_eq!(viz.between(), 90.0);
        viz.length_a = 1.0;
        assert!(!viz.describe(&VizInput::default()).contains("your last check"));
    }

    #[test]
    fn normalised_vectors_leave_the_cosine() {
        let viz = DotProduct { angle_b: Stepper::starting_at(80), normalised: true, ..DotProduct::default() };
        assert!((viz.work(80.0).dot - 0.5).abs() < 1e-12, "60 degrees apart");
        assert_eq!(viz.between(), 60.0);
        let wide = DotProduct { angle_a: 350.0, angle_b: Stepper::starting_at(20), ..DotProduct::default() };
        assert_eq!(wide.between(), 30.0, "across 0 degrees");
    }
}
