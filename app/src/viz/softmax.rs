//! Softmax: scores to drag, the temperature, the maximum that cancels, and what a 16-bit exponential does without it.

use super::kit;
use super::own::Rows;
use super::stepper::Stepper;
use super::values::{self, Look, number};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use egui::{Align2, Painter, Rect, Sense, Stroke, Ui, pos2, vec2};
use gpu_core::emulator::num::{Format, Overflow, Rounding};

const BARS: f32 = 120.0;
const ROW: f32 = 24.0;
const GUTTER: f32 = 74.0;
/// Scores of a row of the learner's own that are drawn.
const MOST: usize = 8;
/// Scores reach so far up and down.
const REACH: f64 = 100.0;
const FORMATS: [(&str, &Format); 3] = [("fp16", &Format::F16), ("bf16", &Format::BF16), ("fp32", &Format::F32)];

pub struct Softmax {
    scores: Vec<f64>,
    temperature: f64,
    /// Added to every score.
    shift: f64,
    subtracts_max: bool,
    /// Index into [`FORMATS`]: what each result is stored in.
    format: usize,
    chosen: Stepper,
    /// Row of the learner's run to take.
    row: usize,
    own: Option<Own>,
}

/// A row of the learner's run.
struct Own {
    /// Scores as they were taken: changed ones are no longer the run's.
    scores: Vec<f64>,
    /// Those beyond the ones that are drawn, which have their share of the sum.
    rest: Vec<f64>,
    /// What the kernel stored for those that are drawn.
    stored: Vec<f64>,
    row: usize,
}

impl Default for Softmax {
    fn default() -> Self {
        let scores = vec![2.0, 1.0, 0.5, 3.0, -1.0, 2.5];
        let chosen = Stepper::starting_at(3);
        Self { scores, temperature: 1.0, shift: 0.0, subtracts_max: false, format: 0, chosen, row: 0, own: None }
    }
}

/// Every result of the row, each rounded to the format.
#[derive(Clone, Debug, PartialEq)]
struct Worked {
    scaled: Vec<f64>,
    subtracted: f64,
    exponentials: Vec<f64>,
    sum: f64,
    weights: Vec<f64>,
}

impl Softmax {
    fn work(&self) -> Worked {
        let format = FORMATS[self.format].1;
        let round = |x: f64| format.decode(format.encode(x, Rounding::Rn, Overflow::Infinity));
        let rest = self.own.iter().flat_map(|own| &own.rest);
        let all = self.scores.iter().chain(rest);
        let scaled: Vec<f64> = all.map(|x| round((x + self.shift) / self.temperature)).collect();
        let most = scaled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let subtracted = if self.subtracts_max { most } else { 0.0 };
        let exponentials: Vec<f64> = scaled.iter().map(|x| round(round(x - subtracted).exp())).collect();
        let sum = exponentials.iter().fold(0.0, |sum, e| round(sum + e));
        let weights = exponentials.iter().map(|e| round(e / sum)).collect();
        Worked { scaled, subtracted, exponentials, sum, weights }
    }

    /// Takes a row of the learner's run, stored as it was in fp32.
    fn take(&mut self, rows: &Rows<'_>) {
        let (scores, stored) = rows.row(self.row.min(rows.count - 1));
        let drawn = scores.len().min(MOST);
        (self.scores, self.temperature, self.shift, self.format) = (scores[..drawn].to_vec(), 1.0, 0.0, 2);
        let (rest, stored) = (scores[drawn..].to_vec(), stored[..drawn].to_vec());
        self.own = Some(Own { scores: self.scores.clone(), rest, stored, row: self.row });
    }

    /// The row of the run, while the numbers are still its own.
    fn own(&self) -> Option<&Own> {
        let own = self.own.as_ref()?;
        (own.scores == self.scores && self.temperature == 1.0 && self.shift == 0.0).then_some(own)
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            values::drag(ui, "temperature", &mut self.temperature, 0.05..=20.0, 0.02);
            values::drag(ui, "add to every score", &mut self.shift, -REACH..=REACH, 0.1);
            ui.label("stored in");
            for (index, (name, _)) in FORMATS.iter().enumerate() {
                ui.selectable_value(&mut self.format, index, *name);
            }
            ui.checkbox(&mut self.subtracts_max, "subtract the maximum first");
        });
        ui.horizontal_wrapped(|ui| {
            for (index, score) in self.scores.iter_mut().enumerate() {
                values::drag(ui, &format!("x{index}"), score, -REACH..=REACH, 0.05);
            }
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, worked: &Worked, words: &str) {
        let width = ui.available_width();
        let height = 2.0 * BARS + 2.0 * ROW + 3.0 * space::XL;
        let count = self.scores.len();
        let canvas = self.chosen.canvas(ui, vec2(width, height), words, count);
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let chosen = self.chosen.within(count);
        let left = canvas.rect.left() + GUTTER;
        let step = (width - GUTTER) / count as f32;
        let scores = Rect::from_min_size(pos2(left, canvas.rect.top()), vec2(width - GUTTER, BARS));
        let reach = self.scores.iter().map(|x| (x + self.shift).abs()).fold(4.0, f64::max);
        let middle = scores.center().y;
        painter.rect_filled(scores, 2.0, tokens.inset);
        painter.hline(scores.x_range(), middle, Stroke::new(1.0, tokens.border_strong));
        let name = |y: f32, text: &str| {
            kit::small(painter, pos2(left - space::S, y), Align2::RIGHT_CENTER, text, tokens.text_muted);
        };
        name(middle, "score");
        let scale = f64::from(BARS * 0.42) / reach;
        for (index, score) in self.scores.iter().enumerate() {
            let value = score + self.shift;
            let x = left + index as f32 * step;
            let bar = Rect::from_two_pos(
                pos2(x + step * 0.25, middle),
                pos2(x + step * 0.75, middle - (value * scale) as f32),
            );
            let color = if index == chosen { tokens.lane_focus } else { tokens.series[0] };
            painter.rect_filled(bar, 2.0, color);
            let at = if value < 0.0 { bar.center_bottom() } else { bar.center_top() };
            let align = if value < 0.0 { Align2::CENTER_TOP } else { Align2::CENTER_BOTTOM };
            kit::small(painter, at, align, number(value), tokens.text);
        }
        let top = scores.bottom() + space::M;
        let cells = values::grid(pos2(left, top), 2, count, vec2(step, ROW));
        name(top + ROW * 0.5, "into exp");
        name(top + ROW * 1.5, "exp");
        for index in 0..count {
            let look = if index == chosen { Look::Focus } else { Look::Plain };
            let into = worked.scaled[index] - worked.subtracted;
            values::cell(painter, tokens, cells.rect(index), &number(into), tokens.inset, look);
            let e = worked.exponentials[index];
            let bad = if e.is_finite() { look } else { Look::Bad };
            let fill = if e.is_finite() { tokens.inset } else { tokens.fail_soft };
            values::cell(painter, tokens, cells.rect(count + index), &number(e), fill, bad);
        }
        let weights = Rect::from_min_size(pos2(left, top + 2.0 * ROW + space::XL), vec2(width - GUTTER, BARS));
        self.paint_weights(painter, tokens, weights, worked, chosen);
        name(weights.center().y, "weight");
        // A score follows the pointer.
        let drag = ui.interact(scores, canvas.response.id.with("drag"), Sense::CLICK | Sense::DRAG);
        if let Some(pos) = drag.interact_pointer_pos() {
            if drag.drag_started() || drag.clicked() {
                self.chosen.jump((((pos.x - left) / step).max(0.0) as usize).min(count - 1));
            }
            if drag.dragged() && !drag.drag_started() {
                let at = self.chosen.within(count);
                let moved = f64::from(-drag.drag_delta().y) / scale;
                self.scores[at] = ((self.scores[at] + moved).clamp(-REACH, REACH) * 100.0).round() / 100.0;
            }
        }
        drag.on_hover_cursor(egui::CursorIcon::ResizeVertical);
    }

    fn paint_weights(&self, painter: &Painter, tokens: &Tokens, area: Rect, worked: &Worked, chosen: usize) {
        let step = area.width() / self.scores.len() as f32;
        painter.rect_filled(area, 2.0, tokens.inset);
        for (index, weight) in worked.weights.iter().take(self.scores.len()).enumerate() {
            let x = area.left() + index as f32 * step;
            if !weight.is_finite() {
                let at = pos2(x + step / 2.0, area.center().y);
                kit::small(painter, at, Align2::CENTER_CENTER, number(*weight), tokens.fail);
                continue;
            }
            let height = |weight: f64| area.bottom() - (area.height() - 18.0) * weight.clamp(0.0, 1.0) as f32;
            if let Some(stored) = self.own().and_then(|own| own.stored.get(index)).filter(|stored| stored.is_finite()) {
                let line = Stroke::new(2.0, tokens.accent);
                painter.hline(x + step * 0.1..=x + step * 0.9, height(*stored), line);
            }
            let top = height(*weight);
            let bar = Rect::from_min_max(pos2(x + step * 0.25, top), pos2(x + step * 0.75, area.bottom()));
            painter.rect_filled(bar, 2.0, if index == chosen { tokens.lane_focus } else { tokens.series[2] });
            // Close together only the first digits fit.
            let text = if step < 48.0 { format!("{weight:.2}") } else { number(*weight) };
            kit::small(painter, bar.center_top(), Align2::CENTER_BOTTOM, text, tokens.text);
        }
    }
}

impl Visualization for Softmax {
    kit::head_without_steps!("softmax", "Softmax explorer");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        if let Some(rows) = Rows::of(input.captured)
            && rows.ui(ui, &mut self.row)
        {
            self.take(&rows);
        }
        self.controls_ui(ui);
        self.chosen.ui(ui, self.scores.len(), "score");
        let words = self.describe(input);
        let worked = self.work();
        self.picture_ui(ui, &worked, &words);
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let worked = self.work();
        let at = self.chosen.within(self.scores.len());
        let name = FORMATS[self.format].0;
        let into = number(worked.scaled[at] - worked.subtracted);
        let first = format!(
            "x{at} = {}: exp({into}) = {} and the weight is {}. The sum of the exponentials is {}.",
            number(self.scores[at] + self.shift),
            number(worked.exponentials[at]),
            number(worked.weights[at]),
            number(worked.sum)
        );
        let is_bad = worked.weights.iter().any(|weight| weight.is_nan()) || worked.sum.is_infinite();
        let lost = worked.exponentials.iter().filter(|e| **e == 0.0).count();
        let second = if is_bad {
            let edge = match name {
                "fp16" => "above exp(11.09)",
                _ => "above exp(88.72)",
            };
            format!(
                " An exponential or the sum overflowed {name} ({edge}): infinity over infinity is NaN. Subtract the maximum."
            )
        } else if self.subtracts_max {
            format!(
                " The maximum {} was subtracted from every score: it cancels in the quotient, and no exponential is above 1.",
                number(worked.subtracted)
            )
        } else if worked.sum == 0.0 {
            format!(" Every exponential underflowed {name} to 0. Subtract the maximum.")
        } else {
            " Add the same number to every score and watch: the weights stay, until an exponential overflows."
                .to_owned()
        };
        let third = match lost {
            0 => String::new(),
            _ => format!(" Too small for {name} and rounded to 0: {lost} of {}.", worked.scaled.len()),
        };
        let fourth = self.own().map_or_else(String::new, |own| {
            let more = match own.rest.len() {
                0 => String::new(),
                rest => format!(" Drawn are the first {} scores; the other {rest} are in the sum.", self.scores.len()),
            };
            let stored = own.stored.get(at).copied().unwrap_or(f64::NAN);
            format!(
                " This is row {} of your last check, where your kernel stored {} here.{more}",
                own.row,
                number(stored)
            )
        });
        format!("{first}{second}{third}{fourth}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::running;
    use super::*;

    #[test]
    fn in_fp32_it_is_softmax_with_and_without_the_maximum() {
        let mut viz = Softmax { format: 2, ..Softmax::default() };
        let wanted = running::softmax(&viz.scores);
        for subtracts_max in [false, true] {
            viz.subtracts_max = subtracts_max;
            for shift in [0.0, 20.0] {
                viz.shift = shift;
                let near = viz.work().weights.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-6);
                assert!(near, "{subtracts_max} {shift}");
            }
        }
    }

    #[test]
    fn a_row_of_the_learners_run_is_drawn_beside_what_was_stored() {
        let captured = super::super::own::tests::rows();
        let rows = Rows::of(Some(&captured)).expect("x and y");
        let mut viz = Softmax { row: 1, ..Softmax::default() };
        viz.take(&rows);
        assert_eq!(viz.scores, [4.0, 5.0, 6.0, 7.0]);
        assert!(
            viz.describe(&VizInput::default()).contains("row 1 of your last check, where your kernel stored 0.5 here")
        );
        viz.shift = 1.0;
        assert!(!viz.describe(&VizInput::default()).contains("your kernel"), "these are other numbers");
        let long = Softmax {
            own: Some(Own { scores: vec![0.0; 2], rest: vec![0.0; 6], stored: vec![0.125; 2], row: 0 }),
            scores: vec![0.0; 2],
            format: 2,
            ..Softmax::default()
        };
        assert_eq!(long.work().weights[0], 0.125, "what is not drawn counts");
        assert!(long.describe(&VizInput::default()).contains("the other 6 are in the sum"));
    }

    #[test]
    fn fp16_overflows_past_eleven_and_the_maximum_mends_it() {
        let mut viz = Softmax { shift: 9.0, ..Softmax::default() };
        assert!(viz.work().weights.iter().any(|weight| weight.is_nan()), "exp(12) is past 65504");
        assert!(viz.describe(&VizInput::default()).contains("overflowed fp16"));
        viz.subtracts_max = true;
        assert!((viz.work().weights.iter().sum::<f64>() - 1.0).abs() < 1e-2);
        viz = Softmax { scores: vec![11.0, 0.0], ..Softmax::default() };
        assert!(viz.work().sum.is_finite(), "exp(11) is 59874, which fp16 holds");
    }
}
