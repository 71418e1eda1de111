//! Quantization of a sample: its histogram, a scale to drag, and how clipping trades against rounding.

use super::kit;
use super::layouts::{self, Share};
use super::stepper::Stepper;
use super::values::{self, number};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Painter, Pos2, Rect, Sense, Stroke, Ui, pos2, vec2};
use gpu_core::formats::{Format, Given, Rounding};
use gpu_core::spec::Dtype;

const COUNT: usize = 2048;
const BINS: usize = 64;
const GUTTER: f32 = 66.0;
const HISTOGRAM: f32 = 110.0;
const ERRORS: f32 = 90.0;
const CURVE: f32 = 110.0;
/// The clip moves by hundredths of the largest magnitude.
const CLIPS: usize = 100;

/// What a value is stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Whole numbers of so many bits, 2 to 8, as many negative as positive.
    Bits(u8),
    /// Sixteen codes from 0 on with a zero point.
    ZeroPoint,
    E4m3,
    E2m1,
}

impl Kind {
    fn name(self) -> String {
        match self {
            Kind::Bits(bits) => format!("{bits} bits, symmetric"),
            Kind::ZeroPoint => "4 bits with a zero point".to_owned(),
            Kind::E4m3 => "e4m3".to_owned(),
            Kind::E2m1 => "e2m1".to_owned(),
        }
    }

    fn format(self) -> Format {
        match self {
            // Fewer bits are the middle of the eight: values are clipped before.
            Kind::Bits(_) => Format::Int8,
            Kind::ZeroPoint => Format::Uint4,
            Kind::E4m3 => Format::E4m3,
            Kind::E2m1 => Format::Nvfp4,
        }
    }

    /// Steps of the scale from 0 to the clip, or from end to end with a zero point.
    fn most(self) -> f64 {
        match self {
            Kind::Bits(bits) => f64::from((1_u32 << (bits - 1)) - 1),
            _ => self.format().element().range().1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    Normal,
    Outlier,
    HeavyTails,
    Positive,
}

impl Data {
    const ALL: [(Data, &'static str); 4] = [
        (Data::Normal, "normal"),
        (Data::Outlier, "with an outlier"),
        (Data::HeavyTails, "heavy tails"),
        (Data::Positive, "only positive"),
    ];

    fn values(self, outlier: f64) -> Vec<f64> {
        let mut values = values::normals(3, COUNT);
        match self {
            Data::Normal => {}
            Data::Outlier => values[COUNT / 2] = outlier,
            // A normal number over the root of a mean of four squares: Student's t.
            Data::HeavyTails => {
                let others = values::normals(4, 4 * COUNT);
                for (value, four) in values.iter_mut().zip(others.chunks(4)) {
                    *value /= (four.iter().map(|x| x * x).sum::<f64>() / 4.0).sqrt();
                }
            }
            Data::Positive => values.iter_mut().for_each(|x| *x = x.abs()),
        }
        values
    }
}

/// Errors at one clip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Errors {
    /// Mean squared error of the values beyond the clip, and of those within.
    clipping: f64,
    rounding: f64,
    clipped: usize,
    sqnr_db: f64,
}

type Key = (Kind, Data, bool, f64);

pub struct Quantization {
    kind: Kind,
    data: Data,
    outlier: f64,
    stochastic: bool,
    clip: Stepper,
    /// For each clip, with what it was worked out from.
    curve: Option<(Key, Vec<Errors>)>,
}

impl Default for Quantization {
    fn default() -> Self {
        let clip = Stepper::starting_at(69);
        Self { kind: Kind::Bits(4), data: Data::Normal, outlier: 20.0, stochastic: false, clip, curve: None }
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, x| most.max(x.abs()))
}

impl Quantization {
    fn clip_at(&self, position: usize, values: &[f64]) -> f64 {
        largest(values) * (position + 1) as f64 / CLIPS as f64
    }

    fn key(&self) -> Key {
        (self.kind, self.data, self.stochastic, self.outlier)
    }

    fn sample(&self) -> Vec<f64> {
        self.data.values(self.outlier)
    }

    /// Least value that a code reaches: with a zero point the sample's own when nothing is negative.
    fn lower(&self, clip: f64) -> f64 {
        if self.kind == Kind::ZeroPoint && self.data == Data::Positive { 0.0 } else { -clip }
    }

    fn scale(&self, clip: f64) -> f64 {
        let reach = if self.kind == Kind::ZeroPoint { clip - self.lower(clip) } else { clip };
        reach / self.kind.most()
    }

    fn zero_point(&self, clip: f64) -> f64 {
        (-self.lower(clip) / self.scale(clip)).round_ties_even()
    }

    /// The sample as it is stored and read back.
    fn stored(&self, values: &[f64], clip: f64) -> Vec<f64> {
        let mut layout = layouts::scaled(self.kind.format(), 1, values.len(), Share::Tensor);
        let (scale, zero) = ([self.scale(clip)], [self.zero_point(clip)]);
        let mut given = Given { scales: Some(&scale), ..Given::default() };
        if self.kind == Kind::ZeroPoint {
            layout.zero_points = Some(layouts::part(Dtype::I32));
            given.zero_points = Some(&zero);
        }
        let clipped: Vec<f64> = values.iter().map(|x| x.clamp(-clip, clip)).collect();
        // Evenly spread in an order that follows nothing, and the same in every frame.
        let mut draw = 0.5_f64;
        let quantized = layout.quantize_with(&clipped, &given, || {
            draw = (draw + 0.618_033_988_749_895).fract();
            if self.stochastic { Rounding::Stochastic(draw) } else { Rounding::NearestEven }
        });
        layout.decode(&quantized.stored)
    }

    /// Every value that a code stands for, in order.
    fn levels(&self, clip: f64) -> Vec<f64> {
        let element = self.kind.format().element();
        let (scale, zero) = (self.scale(clip), if self.kind == Kind::ZeroPoint { self.zero_point(clip) } else { 0.0 });
        let codes = (0..1_u32 << element.bits()).map(|code| element.decode(code as u8));
        let mut levels: Vec<f64> =
            codes.filter(|x| x.is_finite() && x.abs() <= self.kind.most()).map(|x| (x - zero) * scale).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    }

    fn errors(&self, values: &[f64], clip: f64) -> Errors {
        let stored = self.stored(values, clip);
        let mut errors = Errors { sqnr_db: values::sqnr_db(values, &stored), ..Errors::default() };
        for (x, q) in values.iter().zip(&stored) {
            let squared = (x - q).powi(2) / values.len() as f64;
            if x.abs() > clip {
                errors.clipping += squared;
                errors.clipped += 1;
            } else {
                errors.rounding += squared;
            }
        }
        errors
    }

    fn all_errors(&self, values: &[f64]) -> Vec<Errors> {
        (0..CLIPS).map(|at| self.errors(values, self.clip_at(at, values))).collect()
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            let mut bits = if let Kind::Bits(bits) = self.kind { usize::from(bits) } else { 4 };
            let is_symmetric = matches!(self.kind, Kind::Bits(_));
            let chosen = ui.selectable_label(is_symmetric, "whole numbers").clicked();
            if values::count(ui, "bits", &mut bits, 2..=8) || chosen {
                self.kind = Kind::Bits(bits as u8);
            }
            for kind in [Kind::ZeroPoint, Kind::E4m3, Kind::E2m1] {
                ui.selectable_value(&mut self.kind, kind, kind.name());
            }
            ui.checkbox(&mut self.stochastic, "stochastic rounding");
        });
        ui.horizontal_wrapped(|ui| {
            ui.label("values");
            for (data, name) in Data::ALL {
                ui.selectable_value(&mut self.data, data, name);
            }
            if self.data == Data::Outlier {
                values::drag(ui, "outlier", &mut self.outlier, 4.0..=200.0, 0.2);
            }
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, values: &[f64], words: &str) {
        if self.curve.as_ref().is_none_or(|(of, _)| *of != self.key()) {
            self.curve = Some((self.key(), self.all_errors(values)));
        }
        let width = ui.available_width();
        let height = HISTOGRAM + ERRORS + CURVE + 2.0 * space::XXL + 36.0;
        let canvas = self.clip.canvas(ui, vec2(width, height), words, CLIPS);
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let at = self.clip.within(CLIPS);
        let clip = self.clip_at(at, values);
        let (left, room) = (canvas.rect.left() + GUTTER, width - GUTTER - space::S);
        let area = |top: f32, height: f32| Rect::from_min_size(pos2(left, canvas.rect.top() + top), vec2(room, height));
        let histogram = area(0.0, HISTOGRAM);
        let most = largest(values) * 1.02;
        let x = |value: f64| histogram.center().x + histogram.width() * 0.5 * (value / most) as f32;
        self.paint_histogram(painter, tokens, histogram, values, clip);
        let errors = area(HISTOGRAM + space::XXL, ERRORS);
        self.paint_errors(painter, tokens, errors, values, clip);
        let curve = area(HISTOGRAM + ERRORS + 2.0 * space::XXL, CURVE);
        if let Some((_, all)) = &self.curve {
            paint_curve(painter, tokens, curve, all, at);
        }
        for (rect, text) in [(histogram, "values"), (errors, "error"), (curve, "mean sq.\nerror")] {
            let at = pos2(left - space::S, rect.top() + 8.0);
            kit::small(painter, at, Align2::RIGHT_TOP, text, tokens.text_muted);
        }
        let drag = ui.interact(histogram.union(errors), canvas.response.id.with("clip"), Sense::DRAG);
        if let (Some(pos), true) = (drag.interact_pointer_pos(), drag.dragged()) {
            let share = f64::from((pos.x - x(0.0)).abs() / (x(most) - x(0.0)).max(1.0)) * 1.02;
            self.clip.jump(((share * CLIPS as f64).round() as usize).clamp(1, CLIPS) - 1);
        }
        drag.on_hover_cursor(egui::CursorIcon::ResizeHorizontal);
        let under = canvas.response.interact_pointer_pos().filter(|pos| curve.contains(*pos));
        if let (Some(pos), true) = (under, canvas.response.clicked()) {
            self.clip.jump((((pos.x - curve.left()) / curve.width() * CLIPS as f32) as usize).min(CLIPS - 1));
        }
    }

    fn paint_histogram(&self, painter: &Painter, tokens: &Tokens, area: Rect, values: &[f64], clip: f64) {
        let most = largest(values) * 1.02;
        let x = |value: f64| area.center().x + area.width() * 0.5 * (value / most) as f32;
        painter.rect_filled(area, 2.0, tokens.inset);
        let mut bins = [0_usize; BINS];
        for value in values {
            let bin = ((value / most + 1.0) / 2.0 * BINS as f64) as usize;
            bins[bin.min(BINS - 1)] += 1;
        }
        let tallest = bins.iter().copied().max().unwrap_or(1).max(1);
        let step = area.width() / BINS as f32;
        for (bin, count) in bins.iter().enumerate() {
            // The root, so that the few far ones are seen.
            let height = (area.height() - 6.0) * (*count as f32 / tallest as f32).sqrt();
            let left = area.left() + bin as f32 * step;
            let bar =
                Rect::from_min_max(pos2(left + 0.5, area.bottom() - height), pos2(left + step - 0.5, area.bottom()));
            let middle = (bin as f64 + 0.5) / BINS as f64 * 2.0 * most - most;
            let color = if middle.abs() > clip { tokens.series[4] } else { tokens.series[0] };
            painter.rect_filled(bar, 0.0, color);
        }
        let levels = self.levels(clip);
        let is_fine = levels.len() > 64;
        for level in levels.iter().filter(|level| level.abs() <= most) {
            let short = if is_fine { 5.0 } else { 12.0 };
            painter.vline(x(*level), area.bottom() - short..=area.bottom(), Stroke::new(1.0, tokens.text));
        }
        for edge in [-clip, clip] {
            painter.vline(x(edge), area.y_range(), Stroke::new(2.5, tokens.accent));
        }
        for (value, align) in [(-most, Align2::LEFT_TOP), (0.0, Align2::CENTER_TOP), (most, Align2::RIGHT_TOP)] {
            let text = number((value / 1.02 * 100.0).round() / 100.0);
            kit::small(painter, pos2(x(value), area.bottom() + 2.0), align, text, tokens.text_muted);
        }
    }

    fn paint_errors(&self, painter: &Painter, tokens: &Tokens, area: Rect, values: &[f64], clip: f64) {
        let most = largest(values) * 1.02;
        painter.rect_filled(area, 2.0, tokens.inset);
        painter.hline(area.x_range(), area.center().y, Stroke::new(1.0, tokens.border_strong));
        let stored = self.stored(values, clip);
        let worst = values.iter().zip(&stored).fold(1e-12_f64, |worst, (x, q)| worst.max((x - q).abs()));
        for (value, q) in values.iter().zip(&stored) {
            let error = (q - value) / worst;
            let at = pos2(
                area.center().x + area.width() * 0.5 * (value / most) as f32,
                area.center().y - (area.height() * 0.5 - 4.0) * error as f32,
            );
            let color = if value.abs() > clip { tokens.series[4] } else { tokens.series[0] };
            painter.circle_filled(at, 1.8, color);
        }
        let at = pos2(area.left() - space::S, area.bottom());
        kit::small(painter, at, Align2::RIGHT_BOTTOM, format!("± {}", plot_kit::digits(worst)), tokens.text_muted);
    }
}

/// Both parts of the error for every clip, on a logarithmic axis, with the best clip marked.
fn paint_curve(painter: &Painter, tokens: &Tokens, area: Rect, all: &[Errors], now: usize) {
    painter.rect_filled(area, 2.0, tokens.inset);
    let total = |errors: &Errors| errors.clipping + errors.rounding;
    let most = all.iter().map(total).fold(1e-12, f64::max).log10();
    let least = all.iter().map(total).fold(f64::INFINITY, f64::min).max(1e-9).log10() - 1.0;
    let place = |at: usize, value: f64| {
        let share = ((value.max(1e-12).log10() - least) / (most - least)).clamp(0.0, 1.0);
        pos2(
            area.left() + area.width() * (at as f32 + 1.0) / CLIPS as f32,
            area.bottom() - area.height() * share as f32,
        )
    };
    let line = |of: fn(&Errors) -> f64, stroke: Stroke| {
        let points: Vec<Pos2> = all.iter().enumerate().map(|(at, errors)| place(at, of(errors))).collect();
        painter.add(egui::Shape::line(points, stroke));
    };
    line(|errors| errors.clipping, Stroke::new(1.5, tokens.series[4]));
    line(|errors| errors.rounding, Stroke::new(1.5, tokens.series[0]));
    line(|errors| errors.clipping + errors.rounding, Stroke::new(2.5, tokens.text));
    let best = best_of(all);
    painter.circle_stroke(place(best, total(&all[best])), 5.0, Stroke::new(2.0, tokens.pass));
    painter.vline(place(now, 1.0).x, area.y_range(), Stroke::new(2.5, tokens.accent));
    for percent in [25, 50, 75, 100] {
        let at = pos2(area.left() + area.width() * percent as f32 / 100.0, area.bottom() + 2.0);
        let align = if percent == 100 { Align2::RIGHT_TOP } else { Align2::CENTER_TOP };
        kit::small(painter, at, align, format!("{percent} %"), tokens.text_muted);
    }
    let title = pos2(area.center().x, area.bottom() + 16.0);
    kit::small(painter, title, Align2::CENTER_TOP, "clip, as a share of the largest magnitude", tokens.text_muted);
}

fn best_of(all: &[Errors]) -> usize {
    let total = |at: &usize| all[*at].clipping + all[*at].rounding;
    (0..all.len()).min_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or(0)
}

impl Visualization for Quantization {
    kit::head_without_steps!("quantization", "Quantization explorer");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.controls_ui(ui);
        self.clip.ui(ui, CLIPS, "clip");
        let values = self.sample();
        let words = self.describe(input);
        self.picture_ui(ui, &values, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Solid, tokens.accent, "clip: drag it");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.series[0], "rounded (bars: root of the count)");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.series[4], "clipped");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Solid, tokens.text, "both errors together; ring: the least");
        });
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let values = self.sample();
        let at = self.clip.within(CLIPS);
        let clip = self.clip_at(at, &values);
        let now = self.errors(&values, clip);
        let fresh;
        let all = match &self.curve {
            Some((of, all)) if *of == self.key() => all,
            _ => {
                fresh = self.all_errors(&values);
                &fresh
            }
        };
        let best = best_of(all);
        let name = self.kind.name();
        let scale = match self.kind {
            Kind::ZeroPoint => format!("scale {}, zero point {}", number(self.scale(clip)), self.zero_point(clip)),
            _ => format!("scale is clip / {} = {}", self.kind.most(), number(self.scale(clip))),
        };
        let positive = if self.data == Data::Positive && self.kind != Kind::ZeroPoint {
            " Half of the codes are negative and unused: a zero point would put them to work."
        } else {
            ""
        };
        format!(
            "{name} with a clip at {} % of the largest magnitude, {}. The {scale}. Clipped: {} of {COUNT} values. \
             Mean squared error: {} from rounding, {} from clipping. Signal to noise: {:.1} dB. The best clip is {} %, with {:.1} \
             dB.{positive}",
            at + 1,
            number(clip),
            now.clipped,
            number(now.rounding),
            number(now.clipping),
            now.sqnr_db,
            best + 1,
            all[best].sqnr_db,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_largest_magnitude_nothing_is_clipped_and_no_error_exceeds_half_a_step() {
        for kind in [Kind::Bits(8), Kind::Bits(4), Kind::Bits(3), Kind::ZeroPoint] {
            let viz = Quantization { kind, ..Quantization::default() };
            let values = viz.sample();
            let clip = viz.clip_at(CLIPS - 1, &values);
            let errors = viz.errors(&values, clip);
            assert_eq!((errors.clipped, errors.clipping), (0, 0.0));
            let half = viz.scale(clip) / 2.0 * 1.0001;
            let stored = viz.stored(&values, clip);
            assert!(values.iter().zip(&stored).all(|(x, q)| (x - q).abs() <= half), "{kind:?}");
        }
    }

    #[test]
    fn with_outliers_a_smaller_clip_is_better() {
        let viz = Quantization { data: Data::Outlier, ..Quantization::default() };
        let values = viz.sample();
        let all = viz.all_errors(&values);
        let best = best_of(&all);
        assert!(best < CLIPS - 1 && all[best].sqnr_db > all[CLIPS - 1].sqnr_db);
    }

    #[test]
    fn the_signal_to_noise_is_the_one_that_the_course_measures() {
        // Normal numbers, November 2026: 4 bits 18.8 dB clipped at 2.5 and 14.7 at 4.5, 8 bits 40.8 at 4.
        let values = Data::Normal.values(0.0);
        for (bits, clip, wanted) in [(4, 2.5, 18.8), (4, 4.5, 14.7), (8, 4.0, 40.8)] {
            let viz = Quantization { kind: Kind::Bits(bits), ..Quantization::default() };
            let got = viz.errors(&values, clip).sqnr_db;
            assert!((got - wanted).abs() < 0.5, "{bits} bits at {clip}: {got:.2} dB");
        }
    }

    #[test]
    fn a_zero_point_helps_when_nothing_is_negative() {
        let viz = |kind| Quantization { kind, data: Data::Positive, ..Quantization::default() };
        let values = Data::Positive.values(0.0);
        let of = |kind| viz(kind).errors(&values, largest(&values)).sqnr_db;
        assert!(of(Kind::ZeroPoint) > of(Kind::Bits(4)) + 4.0, "twice as many codes are at work");
    }

    #[test]
    fn stochastic_rounding_costs_noise() {
        let values = Data::Normal.values(0.0);
        let clip = largest(&values);
        let nearest = Quantization::default().errors(&values, clip);
        let stochastic = Quantization { stochastic: true, ..Quantization::default() }.errors(&values, clip);
        assert!(stochastic.rounding > 1.5 * nearest.rounding, "about twice the mean squared error");
    }
}
