//! Online softmax: one pass over values with a running maximum and sum; where the maximum grows, the sum is rescaled.
//! The row may be cut into parts whose results are merged at the end.

use super::kit;
use super::own::Rows;
use super::running::{Running, Turn};
use super::stepper::Stepper;
use super::values::{self, Look, number};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Painter, Rect, Stroke, Ui, pos2, vec2};

const BARS: f32 = 130.0;
const ROW: f32 = 22.0;
const GUTTER: f32 = 70.0;
const MOST: usize = 16;
const MIXED: [f64; 4] = [3.0, 1.0, 5.0, 4.0];
const LONGER: [f64; 8] = [1.0, 0.5, 2.0, 1.5, 3.5, -1.0, 3.0, 2.5];

pub struct OnlineSoftmax {
    values: Vec<f64>,
    /// Pieces that are summed on their own and merged.
    parts: usize,
    /// The sum is not rescaled: the mistake to look at.
    forgets: bool,
    step: Stepper,
    /// Row of the learner's run to take, and the scores that were taken, of how many.
    row: usize,
    own: Option<(usize, Vec<f64>, usize)>,
}

impl Default for OnlineSoftmax {
    fn default() -> Self {
        Self { values: MIXED.to_vec(), parts: 1, forgets: false, step: Stepper::starting_at(2), row: 0, own: None }
    }
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Take { part: usize, index: usize, turn: Turn },
    Merge { part: usize, before: Running, with: Running, after: Running },
}

impl OnlineSoftmax {
    /// First index of a part.
    fn start(&self, part: usize) -> usize {
        part * self.values.len() / self.parts
    }

    fn part_of(&self, index: usize) -> usize {
        (0..self.parts).rev().find(|part| self.start(*part) <= index).unwrap_or(0)
    }

    fn events(&self) -> Vec<Stage> {
        let mut events = Vec::new();
        let mut results = vec![Running::EMPTY; self.parts];
        for (index, value) in self.values.iter().enumerate() {
            let part = self.part_of(index);
            let mut turn = results[part].take(*value);
            if self.forgets {
                turn.after.sum = turn.before.sum + turn.term;
            }
            results[part] = turn.after;
            events.push(Stage::Take { part, index, turn });
        }
        let mut merged = results[0];
        for (part, with) in results.iter().enumerate().skip(1) {
            let after = merged.merge(*with);
            events.push(Stage::Merge { part, before: merged, with: *with, after });
            merged = after;
        }
        events
    }

    /// Takes the first scores of a row of the learner's run.
    fn take(&mut self, rows: &Rows<'_>) {
        let (scores, _) = rows.row(self.row.min(rows.count - 1));
        self.values = scores[..scores.len().min(MOST)].to_vec();
        self.own = Some((self.row, self.values.clone(), scores.len()));
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            ui.label("order");
            if ui.button("3, 1, 5, 4").clicked() {
                self.values = MIXED.to_vec();
            }
            if ui.button("eight values").clicked() {
                self.values = LONGER.to_vec();
            }
            if ui.button("rising").on_hover_text("The maximum grows at every step").clicked() {
                self.values.sort_by(f64::total_cmp);
            }
            if ui.button("falling").on_hover_text("The first value is the maximum").clicked() {
                self.values.sort_by(|a, b| b.total_cmp(a));
            }
            let mut count = self.values.len();
            if values::count(ui, "values", &mut count, 2..=MOST) {
                self.values.resize(count, 0.0);
            }
            ui.label("parts");
            for parts in [1, 2, 4] {
                ui.selectable_value(&mut self.parts, parts, parts.to_string());
            }
            let text = "What the sum becomes when it is not multiplied by the factor";
            ui.checkbox(&mut self.forgets, "forget the factor").on_hover_text(text);
        });
        self.parts = self.parts.min(self.values.len());
        ui.horizontal_wrapped(|ui| {
            for (index, value) in self.values.iter_mut().enumerate() {
                values::drag(ui, &format!("x{index}"), value, -1000.0..=1000.0, 0.05);
            }
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, events: &[Stage], words: &str) {
        let width = ui.available_width();
        let merges = if self.parts > 1 { 2.0 * ROW + space::XL } else { 0.0 };
        let height = BARS + 4.0 * ROW + space::L + merges;
        let canvas = self.step.canvas(ui, vec2(width, height), words, events.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let now = self.step.within(events.len());
        let left = canvas.rect.left() + GUTTER;
        let cell = vec2((width - GUTTER) / self.values.len() as f32, ROW);
        let bars = Rect::from_min_size(pos2(left, canvas.rect.top()), vec2(width - GUTTER, BARS));
        self.paint_bars(painter, tokens, bars, &events[..=now]);
        let top = bars.bottom() + space::M;
        for (row, name) in ["maximum", "factor", "adds", "sum"].iter().enumerate() {
            let at = pos2(left - space::S, top + (row as f32 + 0.5) * ROW);
            kit::small(painter, at, Align2::RIGHT_CENTER, name, tokens.text_muted);
        }
        let cells = values::grid(pos2(left, top), 4, self.values.len(), cell);
        for (at, event) in events.iter().enumerate() {
            let Stage::Take { index, turn, .. } = event else { continue };
            let look = if at == now { Look::Focus } else { Look::Plain };
            let texts = [turn.after.max, turn.factor, turn.term, turn.after.sum].map(number);
            for (row, text) in texts.iter().enumerate() {
                let rect = cells.rect(row * self.values.len() + index);
                let fill = if row == 1 && turn.rescales() { tokens.warn_soft } else { tokens.inset };
                let text = if at > now || row == 1 && turn.before == Running::EMPTY { "" } else { text };
                let fill = if at > now { tokens.inset } else { fill };
                values::cell(painter, tokens, rect, text, fill, look);
            }
        }
        if self.parts > 1 {
            self.paint_merges(painter, tokens, pos2(left, top + 4.0 * ROW + space::XL), &events[..=now]);
        }
        let hovered = canvas.response.hover_pos().filter(|pos| pos.x >= left && pos.y < top + 4.0 * ROW);
        if let (Some(pos), true) = (hovered, canvas.response.clicked()) {
            self.step.jump((((pos.x - left) / cell.x) as usize).min(self.values.len() - 1));
        }
    }

    /// The values, and each part's maximum so far as a line over what was taken in.
    fn paint_bars(&self, painter: &Painter, tokens: &Tokens, area: Rect, done: &[Stage]) {
        let least = self.values.iter().copied().fold(0.0, f64::min);
        let most = self.values.iter().copied().fold(0.0, f64::max).max(least + 1e-9);
        let inner = Rect::from_min_max(area.min + vec2(0.0, 20.0), area.max - vec2(0.0, 10.0));
        let y = |value: f64| inner.bottom() - inner.height() * ((value - least) / (most - least)) as f32;
        let step = area.width() / self.values.len() as f32;
        painter.rect_filled(area, 2.0, tokens.inset);
        painter.hline(area.x_range(), y(0.0), Stroke::new(1.0, tokens.border_strong));
        kit::small(painter, pos2(area.left() - space::S, y(0.0)), Align2::RIGHT_CENTER, "0", tokens.text_muted);
        for (index, value) in self.values.iter().enumerate() {
            let x = area.left() + index as f32 * step;
            let turn = done.iter().find_map(|event| match event {
                Stage::Take { index: at, turn, .. } if *at == index => Some(turn),
                _ => None,
            });
            let is_now = matches!(done.last(), Some(Stage::Take { index: at, .. }) if *at == index);
            let color = match turn {
                _ if is_now => tokens.lane_focus,
                Some(_) => tokens.series[0],
                None => tokens.lane_off,
            };
            let bar = Rect::from_two_pos(pos2(x + step * 0.2, y(0.0)), pos2(x + step * 0.8, y(*value)));
            painter.rect_filled(bar, 2.0, color);
            let (at, align) = if *value < 0.0 {
                (pos2(x + step / 2.0, y(0.0) - 1.0), Align2::CENTER_BOTTOM)
            } else {
                (pos2(x + step / 2.0, y(0.0) - 3.0), Align2::CENTER_BOTTOM)
            };
            let text = if turn.is_some() && *value >= 0.0 { tokens.on_lane } else { tokens.text };
            kit::small(painter, at, align, number(*value), text);
            if let Some(turn) = turn {
                let line = Stroke::new(2.0, tokens.accent);
                painter.hline(x..=x + step, y(turn.after.max), line);
                if turn.rescales() {
                    painter.vline(x, y(turn.before.max)..=y(turn.after.max), line);
                    kit::small(
                        painter,
                        pos2(x + step / 2.0, area.top() + 2.0),
                        Align2::CENTER_TOP,
                        "rescale",
                        tokens.warn,
                    );
                }
            }
        }
        for part in 1..self.parts {
            let x = area.left() + self.start(part) as f32 * step;
            painter.vline(x, area.y_range(), Stroke::new(2.0, tokens.border_strong));
        }
    }

    fn paint_merges(&self, painter: &Painter, tokens: &Tokens, origin: egui::Pos2, done: &[Stage]) {
        let result = |wanted: usize| {
            done.iter().rev().find_map(|event| match event {
                Stage::Take { part, turn, .. } if *part == wanted => Some(turn.after),
                _ => None,
            })
        };
        let merged = done.iter().rev().find_map(|event| match event {
            Stage::Merge { part, after, .. } => Some((*part, *after)),
            Stage::Take { .. } => None,
        });
        let width = (painter.clip_rect().right() - origin.x) / (self.parts + 1) as f32;
        for (row, name) in ["m", "l"].iter().enumerate() {
            let at = pos2(origin.x - space::S, origin.y + (row as f32 + 0.5) * ROW);
            kit::small(painter, at, Align2::RIGHT_CENTER, name, tokens.text_muted);
        }
        for column in 0..=self.parts {
            let (title, shown) = if column < self.parts {
                (format!("part {}", column + 1), result(column))
            } else {
                ("merged".to_owned(), merged.map(|(_, after)| after))
            };
            let x = origin.x + column as f32 * width;
            kit::small(painter, pos2(x + width / 2.0, origin.y), Align2::CENTER_BOTTOM, title, tokens.text_muted);
            let used = merged.is_some_and(|(part, _)| column <= part || column == self.parts);
            for (row, text) in [shown.map(|r| number(r.max)), shown.map(|r| number(r.sum))].iter().enumerate() {
                let rect = Rect::from_min_size(pos2(x, origin.y + row as f32 * ROW), vec2(width, ROW));
                let look = if used { Look::Used } else { Look::Plain };
                values::cell(painter, tokens, rect, text.as_deref().unwrap_or(""), tokens.inset, look);
            }
        }
    }
}

impl Visualization for OnlineSoftmax {
    kit::head_without_steps!("online-softmax", "Online softmax stepper");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        if let Some(rows) = Rows::of(input.captured).filter(|rows| rows.columns > 1)
            && rows.ui(ui, &mut self.row)
        {
            self.take(&rows);
        }
        self.controls_ui(ui);
        let events = self.events();
        self.step.ui(ui, events.len(), "step");
        let words = self.describe(input);
        self.picture_ui(ui, &events, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Solid, tokens.accent, "running maximum");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.lane_focus, "this value");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.warn_soft, "the maximum grew: old sum rescaled");
        });
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let events = self.events();
        let now = self.step.within(events.len());
        let rescales =
            events[..=now].iter().filter(|event| matches!(event, Stage::Take { turn, .. } if turn.rescales())).count();
        let own = self.own.as_ref().filter(|(_, taken, _)| *taken == self.values).map_or_else(
            String::new,
            |(row, taken, all)| {
                format!(" These are the first {} of {all} scores of row {row} of your last check.", taken.len())
            },
        );
        let so_far = format!("Rescales so far: {rescales}.{own}");
        match events[now] {
            Stage::Take { index, turn, part } => {
                let value = number(self.values[index]);
                let place = if self.parts > 1 { format!("Part {}, x{index}", part + 1) } else { format!("x{index}") };
                let (old, new, sum) = (number(turn.before.max), number(turn.after.max), number(turn.after.sum));
                let what = if turn.before == Running::EMPTY {
                    format!("is the first value: maximum {new}, sum 1.")
                } else if turn.rescales() {
                    let forgotten = if self.forgets { " (forgotten here!)" } else { "" };
                    format!(
                        "beats the maximum {old}. The old sum {} is multiplied by exp({old} - {new}) = {}{forgotten}, then exp(0) = 1 is \
                         added: sum {sum}.",
                        number(turn.before.sum),
                        number(turn.factor)
                    )
                } else {
                    format!(
                        "leaves the maximum at {new}, so the factor is 1. exp({value} - {new}) = {} is added: sum {sum}.",
                        number(turn.term)
                    )
                };
                let end = if now + 1 == events.len() {
                    let right = Running::of(&self.values);
                    let right = if self.forgets {
                        format!(" The right sum of the row is {}.", number(right.sum))
                    } else {
                        String::new()
                    };
                    format!(" The log-sum-exp of the row is {}.{right}", number(turn.after.log_sum_exp()))
                } else {
                    String::new()
                };
                format!("{place} = {value} {what} {so_far}{end}")
            }
            Stage::Merge { part, before, with, after } => format!(
                "Merge part {} into what came before it. The larger maximum is {}. Sum: {} x {} + {} x {} = {}. Each side is \
                 rescaled to the common maximum, so the result is the one of a single pass. {so_far}",
                part + 1,
                number(after.max),
                number(before.sum),
                number(before.factor_to(after.max)),
                number(with.sum),
                number(with.factor_to(after.max)),
                number(after.sum)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(viz: &OnlineSoftmax) -> Running {
        match viz.events().pop() {
            Some(Stage::Take { turn, .. }) => turn.after,
            Some(Stage::Merge { after, .. }) => after,
            None => Running::EMPTY,
        }
    }

    #[test]
    fn parts_change_the_way_and_not_the_result() {
        let whole = last(&OnlineSoftmax::default());
        for parts in [1, 2, 4] {
            let viz = OnlineSoftmax { parts, ..OnlineSoftmax::default() };
            assert_eq!(viz.events().len(), MIXED.len() + parts - 1);
            assert!((last(&viz).log_sum_exp() - whole.log_sum_exp()).abs() < 1e-12, "{parts} parts");
        }
    }

    #[test]
    fn a_forgotten_factor_leaves_too_much() {
        assert!((last(&OnlineSoftmax::default()).sum - 1.522).abs() < 1e-3);
        let viz = OnlineSoftmax { forgets: true, ..OnlineSoftmax::default() };
        assert!((last(&viz).sum - 2.503).abs() < 1e-3);
    }

    #[test]
    fn a_row_of_the_learners_run_is_taken() {
        let captured = super::super::own::tests::rows();
        let mut viz = OnlineSoftmax { row: 2, ..OnlineSoftmax::default() };
        viz.take(&Rows::of(Some(&captured)).expect("x and y"));
        assert_eq!(viz.values, [8.0, 9.0, 10.0, 11.0]);
        assert!(viz.describe(&VizInput::default()).contains("the first 4 of 4 scores of row 2 of your last check"));
        viz.values[0] = 1.0;
        assert!(!viz.describe(&VizInput::default()).contains("your last check"));
    }

    #[test]
    fn a_rising_row_rescales_at_every_step_and_a_falling_one_never() {
        let mut viz =
            OnlineSoftmax { values: LONGER.to_vec(), step: Stepper::starting_at(7), ..OnlineSoftmax::default() };
        viz.values.sort_by(f64::total_cmp);
        assert!(viz.describe(&VizInput::default()).contains("Rescales so far: 7."));
        viz.values.reverse();
        assert!(viz.describe(&VizInput::default()).contains("Rescales so far: 0."));
    }
}
