//! Attention step by step on a case small enough to read: scores, scale, mask, weights, output, one query at a time.

use super::kit::{self, Cells};
use super::own::Head;
use super::running;
use super::stepper::Stepper;
use super::values::{self, Look, number};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use egui::{Painter, Rect, Ui, vec2};

/// Tokens, and elements of a head.
const N: usize = 4;
const D: usize = 4;
const ROW: f32 = 23.0;
const HEAD: f32 = 20.0;

type Square = [[f64; 4]; 4];

const Q: Square = [[1.0, 0.0, 1.0, 0.5], [0.0, 2.0, 0.0, 1.0], [1.0, 1.0, -1.0, 0.0], [2.0, 0.5, 0.0, -1.0]];
const K: Square = [[1.0, 0.5, 0.0, 1.0], [0.0, 1.5, 0.5, 1.0], [2.0, 0.0, 1.0, 0.0], [0.5, 1.0, -1.0, 0.5]];
const V: Square = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 1.0, 3.0], [1.0, 1.0, 1.0, 4.0]];

pub struct AttentionSteps {
    /// Q, K, V.
    inputs: [Square; 3],
    is_scaled: bool,
    is_causal: bool,
    step: Stepper,
    /// Matrix, row and column of the number to change.
    chosen: (usize, usize, usize),
    own: Option<Own>,
}

/// The first tokens and elements of a head of the learner's run.
struct Own {
    /// Q, K, V as they were taken: changed ones are no longer the run's.
    inputs: [Square; 3],
    /// What the elements that are not drawn add to each dot product.
    rest: Square,
    /// Of a whole head.
    elements: usize,
    /// What the kernel stored; None where tokens that are not drawn have a part in it.
    stored: Option<Square>,
}

impl Default for AttentionSteps {
    fn default() -> Self {
        Self {
            inputs: [Q, K, V],
            is_scaled: true,
            is_causal: true,
            step: Stepper::starting_at(13),
            chosen: (0, 0, 0),
            own: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Stage {
    Scores,
    Scale,
    Mask,
    Weights,
    Output,
}

/// All results of the case.
struct Worked {
    dots: Square,
    scaled: Square,
    masked: Square,
    weights: Square,
    output: Square,
}

impl AttentionSteps {
    fn stages(&self) -> Vec<Stage> {
        let all = [Stage::Scores, Stage::Scale, Stage::Mask, Stage::Weights, Stage::Output];
        let is_on = |stage: &Stage| match stage {
            Stage::Scale => self.is_scaled,
            Stage::Mask => self.is_causal,
            _ => true,
        };
        all.into_iter().filter(is_on).collect()
    }

    fn count(&self) -> usize {
        self.stages().len() * N
    }

    /// Stage and query of the present step: a stage is done for every query before the next, as by a kernel a stage.
    fn now(&self) -> (Stage, usize) {
        let at = self.step.within(self.count());
        (self.stages()[at / N], at % N)
    }

    /// The learner's run, while the numbers are still its own.
    fn own(&self) -> Option<&Own> {
        self.own.as_ref().filter(|own| own.inputs == self.inputs)
    }

    /// Elements of a whole head.
    fn elements(&self) -> usize {
        self.own().map_or(D, |own| own.elements)
    }

    /// Takes the first tokens and elements of a head.
    fn take(&mut self, head: &Head<'_>) {
        let square = |from: &[f64]| -> Square {
            std::array::from_fn(|row| std::array::from_fn(|column| from[row * head.elements + column]))
        };
        self.inputs = head.inputs.map(square);
        let [q, k, _] = &self.inputs;
        let drawn = |row: usize, column: usize| q[row].iter().zip(&k[column]).map(|(a, b)| a * b).sum::<f64>();
        let whole = (head.elements as f64).sqrt();
        let rest = |row: usize| std::array::from_fn(|column| head.score(row, column) * whole - drawn(row, column));
        (self.is_scaled, self.is_causal) = (true, head.is_causal || head.tokens > N);
        let is_whole = head.is_causal || head.tokens == N;
        self.own = Some(Own {
            inputs: self.inputs,
            rest: std::array::from_fn(rest),
            elements: head.elements,
            stored: is_whole.then(|| square(head.output)),
        });
    }

    fn work(&self) -> Worked {
        let [q, k, v] = &self.inputs;
        let mut dots = [[0.0; N]; N];
        for (row, query) in q.iter().enumerate() {
            for (column, key) in k.iter().enumerate() {
                let rest = self.own().map_or(0.0, |own| own.rest[row][column]);
                dots[row][column] = query.iter().zip(key).map(|(a, b)| a * b).sum::<f64>() + rest;
            }
        }
        let factor = if self.is_scaled { 1.0 / (self.elements() as f64).sqrt() } else { 1.0 };
        let scaled = dots.map(|row| row.map(|x| x * factor));
        let mut masked = scaled;
        if self.is_causal {
            for (row, scores) in masked.iter_mut().enumerate() {
                scores[row + 1..].fill(f64::NEG_INFINITY);
            }
        }
        let mut weights = [[0.0; N]; N];
        let mut output = [[0.0; D]; N];
        for row in 0..N {
            weights[row].copy_from_slice(&running::softmax(&masked[row]));
            for column in 0..D {
                output[row][column] = (0..N).map(|key| weights[row][key] * v[key][column]).sum();
            }
        }
        Worked { dots, scaled, masked, weights, output }
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            ui.checkbox(&mut self.is_scaled, "divide by sqrt(d)");
            ui.checkbox(&mut self.is_causal, "causal mask");
            if ui.button("Reset the numbers").clicked() {
                self.inputs = [Q, K, V];
            }
        });
        ui.horizontal_wrapped(|ui| {
            ui.label("change");
            for (index, name) in ["Q", "K", "V"].iter().enumerate() {
                ui.selectable_value(&mut self.chosen.0, index, *name);
            }
            values::count(ui, "row", &mut self.chosen.1, 0..=N - 1);
            values::count(ui, "column", &mut self.chosen.2, 0..=D - 1);
            let (matrix, row, column) = self.chosen;
            values::drag(ui, "value", &mut self.inputs[matrix][row][column], -100.0..=100.0, 0.05);
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, worked: &Worked, words: &str) {
        let width = ui.available_width();
        let across = if width > 460.0 { 3 } else { 2 };
        let down = 6 / across;
        let block = vec2((width - (across - 1) as f32 * space::L) / across as f32, HEAD + N as f32 * ROW + space::M);
        let canvas = self.step.canvas(ui, vec2(width, block.y * down as f32), words, self.count());
        let tokens = theme::tokens(ui);
        let (stage, query) = self.now();
        // What a matrix holds so far: rows of the stages before, and of this one down to its query.
        let reached = |wanted: Stage, row: usize| stage > wanted || stage == wanted && row <= query;
        let none = [[f64::NAN; N]; N];
        let mut scores = none;
        let mut weights = none;
        let mut output = none;
        for row in 0..N {
            for (from, values) in
                [(Stage::Scores, &worked.dots), (Stage::Scale, &worked.scaled), (Stage::Mask, &worked.masked)]
            {
                if self.stages().contains(&from) && reached(from, row) {
                    scores[row] = values[row];
                }
            }
            if reached(Stage::Weights, row) {
                weights[row] = worked.weights[row];
            }
            if reached(Stage::Output, row) {
                output[row] = worked.output[row];
            }
        }
        let uses = |row: usize, matrix: usize| match (stage, matrix) {
            (Stage::Scores, 0) | (_, 2) if stage < Stage::Output => row == query,
            (Stage::Scores, 1) => true,
            (Stage::Weights | Stage::Output, 3) => row == query,
            (Stage::Output, 4) => !self.is_causal || row <= query,
            (Stage::Output, 5) => row == query,
            _ => false,
        };
        let shown: [(&str, &Square); 6] = [
            ("Q: queries", &self.inputs[0]),
            ("K: keys", &self.inputs[1]),
            ("S: scores", &scores),
            ("P: weights", &weights),
            ("V: values", &self.inputs[2]),
            ("O: output", &output),
        ];
        let mut clicked = None;
        for (index, (name, square)) in shown.iter().enumerate() {
            let at = vec2((index % across) as f32 * (block.x + space::L), (index / across) as f32 * block.y);
            let area = Rect::from_min_size(canvas.rect.min + at, block);
            let cells = values::grid(area.min + vec2(0.0, HEAD), N, D, vec2(block.x / D as f32, ROW));
            values::title(&canvas.painter, tokens, cells.origin - vec2(0.0, 3.0), name);
            let chosen = match index {
                0 | 1 if self.chosen.0 == index => Some((self.chosen.1, self.chosen.2)),
                4 if self.chosen.0 == 2 => Some((self.chosen.1, self.chosen.2)),
                _ => None,
            };
            paint(&canvas.painter, tokens, &cells, square, |row| uses(row, index), chosen);
            let under = canvas.response.hover_pos().and_then(|pos| cells.at(pos));
            if let (Some(cell), true) = (under, canvas.response.clicked()) {
                clicked = Some((index, cell / D, cell % D));
            }
        }
        match clicked {
            Some((index @ 0..=1, row, column)) => self.chosen = (index, row, column),
            Some((4, row, column)) => self.chosen = (2, row, column),
            _ => {}
        }
    }
}

fn paint(
    painter: &Painter,
    tokens: &Tokens,
    cells: &Cells,
    square: &Square,
    uses: impl Fn(usize) -> bool,
    chosen: Option<(usize, usize)>,
) {
    let all = square.iter().flatten().filter(|x| x.is_finite());
    let most = all.fold(1e-9_f64, |most, x| most.max(x.abs()));
    for (row, values) in square.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            let rect = cells.rect(row * D + column);
            let is_masked = *value == f64::NEG_INFINITY;
            let look = match () {
                () if chosen == Some((row, column)) => Look::Focus,
                () if is_masked => Look::Off,
                () if uses(row) => Look::Used,
                () => Look::Plain,
            };
            // Not reached yet.
            let is_open = value.is_nan();
            let text = if is_open { String::new() } else { number((value * 1000.0).round() / 1000.0) };
            let fill = if is_open || is_masked { tokens.inset } else { values::heat(tokens, value / most) };
            values::cell(painter, tokens, rect, &text, fill, look);
        }
    }
}

impl Visualization for AttentionSteps {
    kit::head_without_steps!("attention-steps", "Attention step by step");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        if let Some(head) = Head::of(input.captured).filter(|head| head.tokens >= N && head.elements >= D)
            && head.ui(ui)
        {
            self.take(&head);
        }
        self.controls_ui(ui);
        self.step.ui(ui, self.count(), "step");
        let words = self.describe(input);
        let worked = self.work();
        self.picture_ui(ui, &worked, &words);
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let worked = self.work();
        let (stage, query) = self.now();
        let list = |values: &[f64]| {
            let rounded = values.iter().map(|x| number((x * 1000.0).round() / 1000.0));
            rounded.collect::<Vec<_>>().join(", ")
        };
        let stages = self.stages();
        let place = stages.iter().position(|at| *at == stage).unwrap_or(0) + 1;
        let what = match stage {
            Stage::Scores => format!(
                "dot products of query {query} with every key: {}. That is row {query} of S = Q K^T.",
                list(&worked.dots[query])
            ),
            Stage::Scale => format!(
                "row {query} divided by sqrt({}) = {}: {}. It keeps the spread of the scores near 1 however long the vectors \
                 are.",
                self.elements(),
                number((self.elements() as f64).sqrt()),
                list(&worked.scaled[query])
            ),
            Stage::Mask if query + 1 == N => format!("query {query} is the last token and sees every key."),
            Stage::Mask => format!(
                "query {query} may not see {} after it: their scores become minus infinity.",
                kit::plural(N - 1 - query, "key")
            ),
            Stage::Weights => format!(
                "softmax of row {query}: {}. The weights sum to 1{}.",
                list(&worked.weights[query]),
                if self.is_causal && query + 1 < N { ", and masked keys have weight 0" } else { "" }
            ),
            Stage::Output => format!(
                "row {query} of O is the sum of the rows of V, each times its weight: {}.",
                list(&worked.output[query])
            ),
        };
        let own = self.own().map_or_else(String::new, |own| {
            let stored = own.stored.as_ref().filter(|_| stage == Stage::Output);
            let stored =
                stored.map_or_else(String::new, |stored| format!(" Your kernel stored {}.", list(&stored[query])));
            let elements = match own.elements {
                D => String::new(),
                all => format!(" Drawn are {D} of {all} elements; all of them are in the dot products."),
            };
            format!("{stored} These are the first {N} tokens of your last check.{elements}")
        });
        format!("Step {place} of {}, query {query}: {what}{own}", stages.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_query_of_a_causal_row_copies_its_value() {
        let viz = AttentionSteps::default();
        let worked = viz.work();
        assert_eq!((worked.weights[0], worked.output[0]), ([1.0, 0.0, 0.0, 0.0], V[0]));
        assert_eq!(worked.dots[0], [1.5, 1.0, 3.0, -0.25]);
        assert_eq!(worked.scaled[0], [0.75, 0.5, 1.5, -0.125]);
    }

    #[test]
    fn a_head_of_the_learners_run_is_worked_out_with_all_its_elements() {
        let captured = super::super::own::tests::head();
        let head = Head::of(Some(&captured)).expect("q, k, v, o");
        let mut viz = AttentionSteps::default();
        viz.take(&head);
        let worked = viz.work();
        for query in 0..N {
            let scores: Vec<f64> = (0..=query).map(|key| head.score(query, key)).collect();
            let weights = running::softmax(&scores);
            let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            assert!(worked.weights[query].iter().zip(&weights).all(near), "query {query}");
        }
        let last = AttentionSteps { step: Stepper::starting_at(19), ..viz };
        let words = last.describe(&VizInput::default());
        assert!(words.contains("Your kernel stored") && words.contains("4 of 6 elements"), "{words}");
    }

    #[test]
    fn outputs_are_weighted_means_of_the_values() {
        for (is_scaled, is_causal) in [(true, true), (true, false), (false, false)] {
            let worked = AttentionSteps { is_scaled, is_causal, ..AttentionSteps::default() }.work();
            let factor = if is_scaled { 0.5 } else { 1.0 };
            for query in 0..N {
                let seen = if is_causal { query + 1 } else { N };
                let e: Vec<f64> = (0..seen).map(|key| (worked.dots[query][key] * factor).exp()).collect();
                let sum: f64 = e.iter().sum();
                for (column, got) in worked.output[query].iter().enumerate() {
                    let wanted: f64 = e.iter().zip(&V).map(|(e, value)| e / sum * value[column]).sum();
                    assert!((got - wanted).abs() < 1e-12);
                }
            }
        }
    }
}
