//! Tiled attention: for each block of queries a loop over blocks of keys. Shows which tile is loaded, which output rows
//! are rescaled because their maximum grew, and what a causal mask skips.

use super::kit;
use super::matrix::{Element, Matrix, State};
use super::own::Head;
use super::running::{Running, Turn};
use super::stepper::Stepper;
use super::values::{self, number};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Painter, Rect, Stroke, Ui, pos2, vec2};
use gpu_core::emulator::Trace;

const GUTTER: f32 = 54.0;
const HEAD: f32 = 46.0;
const OUT: f32 = 120.0;
const TALLEST: f32 = 360.0;
const MOST: usize = 32;
/// Spread of the scores: as of rows of a real head, a few hold most of the weight.
const SPREAD: f64 = 2.0;

pub struct TiledAttention {
    queries: usize,
    keys: usize,
    query_block: usize,
    key_block: usize,
    is_causal: bool,
    step: Stepper,
    /// Scores of the learner's run over [`SPREAD`], as [`TiledAttention::score`] takes them, and of how many tokens.
    own: Option<(Vec<f64>, usize)>,
}

impl Default for TiledAttention {
    fn default() -> Self {
        let step = Stepper::starting_at(5);
        Self { queries: 16, keys: 16, query_block: 4, key_block: 4, is_causal: false, step, own: None }
    }
}

/// One block of keys for one block of queries.
#[derive(Clone, Debug, PartialEq)]
struct Tile {
    query: usize,
    key: usize,
    /// Part of it is masked.
    is_cut: bool,
    /// Each row of the query block: what this tile did to its maximum and sum.
    rows: Vec<Turn>,
}

impl TiledAttention {
    fn score(scores: &[f64], query: usize, key: usize) -> f64 {
        SPREAD * scores[query * MOST + key]
    }

    /// Scores of the learner's run, as far as they reach.
    fn own(&self) -> Option<&[f64]> {
        let (scores, tokens) = self.own.as_ref()?;
        (self.queries <= *tokens && self.keys <= *tokens).then_some(scores)
    }

    fn take(&mut self, head: &Head<'_>) {
        let tokens = head.tokens.min(MOST);
        let mut scores = vec![0.0; MOST * MOST];
        for query in 0..tokens {
            for key in 0..tokens {
                scores[query * MOST + key] = head.score(query, key) / SPREAD;
            }
        }
        (self.queries, self.keys, self.is_causal) = (tokens, tokens, head.is_causal);
        self.own = Some((scores, tokens));
    }

    fn sees(&self, query: usize, key: usize) -> bool {
        // The last query is the last token.
        !self.is_causal || key + self.queries <= query + self.keys
    }

    fn rows_of(&self, block: usize) -> std::ops::Range<usize> {
        block * self.query_block..((block + 1) * self.query_block).min(self.queries)
    }

    fn keys_of(&self, block: usize) -> std::ops::Range<usize> {
        block * self.key_block..((block + 1) * self.key_block).min(self.keys)
    }

    fn blocks(&self) -> (usize, usize) {
        (self.queries.div_ceil(self.query_block), self.keys.div_ceil(self.key_block))
    }

    /// All tiles that are worked on, in order.
    fn tiles(&self) -> Vec<Tile> {
        let scores = self.own().map_or_else(|| values::normals(7, MOST * MOST), <[f64]>::to_vec);
        let (queries, keys) = self.blocks();
        let mut tiles = Vec::new();
        for query in 0..queries {
            let mut running = vec![Running::EMPTY; self.rows_of(query).len()];
            for key in 0..keys {
                let seen = |row: usize| self.keys_of(key).filter(move |column| self.sees(row, *column));
                // The last row of a block sees most.
                let Some(last) = self.rows_of(query).last().filter(|row| seen(*row).next().is_some()) else { continue };
                let first = self.rows_of(query).start;
                let is_cut =
                    seen(first).count() < self.keys_of(key).len() || seen(last).count() < self.keys_of(key).len();
                let rows = (self.rows_of(query).zip(&mut running))
                    .map(|(row, so_far)| {
                        let tile: Vec<f64> = seen(row).map(|column| Self::score(&scores, row, column)).collect();
                        let of_tile = Running::of(&tile);
                        let before = *so_far;
                        *so_far = before.merge(of_tile);
                        let factor = before.factor_to(so_far.max);
                        Turn { before, after: *so_far, factor, term: so_far.sum - before.sum * factor }
                    })
                    .collect();
                tiles.push(Tile { query, key, is_cut, rows });
            }
        }
        tiles
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            values::count(ui, "queries", &mut self.queries, 1..=MOST);
            values::count(ui, "keys", &mut self.keys, 2..=MOST);
            values::count(ui, "queries a block", &mut self.query_block, 1..=MOST);
            values::count(ui, "keys a block", &mut self.key_block, 1..=MOST);
            ui.checkbox(&mut self.is_causal, "causal mask");
        });
        self.query_block = self.query_block.min(self.queries);
        self.key_block = self.key_block.min(self.keys);
    }

    fn picture_ui(&mut self, ui: &mut Ui, tiles: &[Tile], words: &str) {
        let width = ui.available_width();
        let out = if width > 460.0 { OUT } else { 30.0 };
        let cell =
            ((width - GUTTER - out) / self.keys as f32).min(TALLEST / self.queries.max(12) as f32).floor().max(5.0);
        let height = HEAD + self.queries as f32 * cell + space::S;
        let canvas = self.step.canvas(ui, vec2(width, height), words, tiles.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let now = self.step.within(tiles.len());
        let tile = &tiles[now];
        let matrix =
            Matrix { origin: canvas.rect.min + vec2(GUTTER, HEAD), rows: self.queries, columns: self.keys, cell };
        let is_done = |query, key| tiles[..now].iter().any(|tile| (tile.query, tile.key) == (query, key));
        matrix.paint(painter, tokens, Some((self.query_block, self.key_block)), |row, column| {
            let (query, key) = (row / self.query_block, column / self.key_block);
            let state = match () {
                () if !self.sees(row, column) => State::Empty,
                () if (query, key) == (tile.query, tile.key) => State::Now,
                () if is_done(query, key) => State::Before,
                () => State::Empty,
            };
            Element { state, number: None }
        });
        for row in 0..self.queries {
            for column in (0..self.keys).filter(|column| !self.sees(row, *column)) {
                let rect = matrix.rect(row, column);
                painter.line_segment([rect.left_bottom(), rect.right_top()], Stroke::new(1.0, tokens.border_strong));
            }
        }
        let (rows, keys) = (self.rows_of(tile.query), self.keys_of(tile.key));
        matrix.frame(painter, rows.clone(), keys.clone(), Stroke::new(2.5, tokens.accent));
        // Q at the left, K and V at the top: what of them is in shared memory now.
        let strip = (cell - 2.0).clamp(6.0, 16.0);
        for row in 0..self.queries {
            let at = matrix.rect(row, 0).left_center() - vec2(strip / 2.0 + 6.0, 0.0);
            let rect = Rect::from_center_size(at, vec2(strip, cell - 1.0));
            held(painter, tokens, rect, rows.contains(&row));
        }
        for column in 0..self.keys {
            for (line, _) in ["K", "V"].iter().enumerate() {
                let at = matrix.rect(0, column).center_top() - vec2(0.0, strip * (1.6 - line as f32) + 2.0);
                held(
                    painter,
                    tokens,
                    Rect::from_center_size(at, vec2(cell - 1.0, strip - 2.0)),
                    keys.contains(&column),
                );
            }
        }
        let corner = matrix.origin;
        kit::small(painter, pos2(corner.x - 6.0, corner.y - 2.0), Align2::RIGHT_BOTTOM, "K, V", tokens.text_muted);
        let at = pos2(corner.x - strip - 12.0, corner.y + rows.start as f32 * cell);
        kit::small(painter, at, Align2::RIGHT_TOP, "Q", tokens.text);
        self.paint_output(painter, tokens, &matrix, &tiles[..=now], out);
        let under = canvas.response.hover_pos().and_then(|pos| matrix.at(pos));
        if let (Some((row, column)), true) = (under, canvas.response.clicked()) {
            let wanted = (row / self.query_block, column / self.key_block);
            if let Some(at) = tiles.iter().position(|tile| (tile.query, tile.key) == wanted) {
                self.step.jump(at);
            }
        }
    }

    /// Beside each row of the output how often it was rescaled so far.
    fn paint_output(&self, painter: &Painter, tokens: &Tokens, matrix: &Matrix, done: &[Tile], room: f32) {
        let Some(now) = done.last() else { return };
        let left = matrix.outer().right() + space::M;
        let strip = (matrix.cell - 2.0).clamp(8.0, 18.0);
        kit::small(painter, pos2(left, matrix.origin.y - 2.0), Align2::LEFT_BOTTOM, "O", tokens.text);
        for row in 0..self.queries {
            let query = row / self.query_block;
            let of_row = done.iter().filter(|tile| tile.query == query).map(|tile| &tile.rows[row % self.query_block]);
            let times = of_row.clone().filter(|turn| turn.rescales()).count();
            let is_started = of_row.clone().next().is_some();
            let rescaled = now.query == query && of_row.clone().next_back().is_some_and(Turn::rescales);
            let middle = matrix.rect(row, 0).center().y;
            let rect =
                Rect::from_min_size(pos2(left, middle - matrix.cell / 2.0 + 0.5), vec2(strip, matrix.cell - 1.0));
            held(painter, tokens, rect, now.query == query);
            if rescaled {
                painter.rect_filled(rect, 1.0, tokens.series[4]);
            } else if is_started && now.query != query {
                painter.rect_filled(rect, 1.0, tokens.lane_on.gamma_multiply(0.3));
            }
            let every = (13.0 / matrix.cell).ceil() as usize;
            if is_started && room > 60.0 && row % every == 0 {
                let factor = now.rows.get(row % self.query_block).filter(|_| rescaled).map(|turn| turn.factor);
                let text = match factor {
                    Some(factor) => format!("x {}", number((factor * 1000.0).round() / 1000.0)),
                    None => kit::plural(times, "rescale"),
                };
                let color = if rescaled { tokens.text } else { tokens.text_muted };
                kit::small(painter, pos2(left + strip + space::XS, middle), Align2::LEFT_CENTER, text, color);
            }
        }
    }
}

fn held(painter: &Painter, tokens: &Tokens, rect: Rect, is_held: bool) {
    if is_held {
        painter.rect_filled(rect, 1.0, tokens.lane_focus);
    } else {
        painter.rect_filled(rect, 1.0, tokens.lane_off);
    }
}

/// `rows 4 to 7`, `row 4`.
fn range_words(noun: &str, range: &std::ops::Range<usize>) -> String {
    if range.len() == 1 {
        format!("{noun} {}", range.start)
    } else {
        format!("{noun}s {} to {}", range.start, range.end - 1)
    }
}

impl Visualization for TiledAttention {
    fn id(&self) -> &'static str {
        "tiled-attention"
    }

    fn title(&self) -> &'static str {
        "Tiled attention animation"
    }

    /// It needs the blocks' sizes and no steps of a kernel.
    fn example(&self) -> Trace {
        Trace { kernel: "example".into(), grid: [4, 1, 1], block: [128, 1, 1], ..Trace::default() }
    }

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        if let Some(head) = Head::of(input.captured).filter(|head| head.tokens > 1)
            && head.ui(ui)
        {
            self.take(&head);
        }
        self.controls_ui(ui);
        let tiles = self.tiles();
        self.step.ui(ui, tiles.len(), "tile");
        let words = self.describe(input);
        self.picture_ui(ui, &tiles, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            State::Now.legend_ui(ui, "this tile of scores");
            State::Before.legend_ui(ui, "done: scores thrown away, output written");
            kit::legend_cell(ui, kit::CellLook::Off, false, "masked");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.lane_focus, "on the chip now");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.series[4], "output row rescaled now");
        });
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let tiles = self.tiles();
        let now = self.step.within(tiles.len());
        let tile = &tiles[now];
        let (queries, keys) = self.blocks();
        let rescaled: Vec<String> = (self.rows_of(tile.query).zip(&tile.rows))
            .filter(|(_, turn)| turn.rescales())
            .map(|(row, _)| row.to_string())
            .collect();
        let is_first = tiles[..now].iter().all(|before| before.query != tile.query);
        let rescale = match rescaled.len() {
            _ if is_first => "It is the first tile of these rows: there is nothing to rescale yet.".to_owned(),
            0 => "No maximum grew, so no output row is rescaled.".to_owned(),
            1 => {
                format!("The maximum of row {} grew: its output and sum are multiplied by exp(old - new).", rescaled[0])
            }
            _ => format!(
                "The maxima of rows {} grew: their outputs and sums are multiplied by exp(old - new).",
                rescaled.join(", ")
            ),
        };
        let cut = if tile.is_cut { " Part of the tile is masked." } else { "" };
        let is_last = tiles.get(now + 1).is_none_or(|next| next.query != tile.query);
        let end = if is_last { " It is the last tile of these rows: divide by the sums and write them." } else { "" };
        let loaded: usize = tiles[..=now].iter().map(|tile| self.keys_of(tile.key).len()).sum();
        let loads = format!(" Loaded so far: {loaded} rows of K and as many of V.");
        let skipped = queries * keys - tiles.len();
        let blind = (0..self.queries).filter(|row| !self.sees(*row, 0)).count();
        let blind = match blind {
            0 => String::new(),
            _ => format!(" The first {blind} queries see no key: their outputs are zeros."),
        };
        let own = if self.own().is_some() { " The scores are those of your last check." } else { "" };
        let skipped = if skipped > 0 {
            format!(" The mask skips {skipped} of {} tiles whole.", queries * keys)
        } else {
            String::new()
        };
        format!(
            "Query block {} of {queries} ({}), key block {} of {keys}: K and V of {} are loaded.{cut} {rescale}{end}{loads}{skipped}{blind}{own}",
            tile.query + 1,
            range_words("row", &self.rows_of(tile.query)),
            tile.key + 1,
            range_words("key", &self.keys_of(tile.key)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_ends_with_the_sum_of_the_whole_row() {
        let scores = values::normals(7, MOST * MOST);
        for (queries, keys, query_block, key_block, is_causal) in
            [(16, 16, 4, 4, false), (16, 16, 4, 8, true), (13, 20, 5, 3, true), (7, 7, 7, 1, false), (4, 9, 4, 2, true)]
        {
            let viz = TiledAttention { queries, keys, query_block, key_block, is_causal, ..TiledAttention::default() };
            let tiles = viz.tiles();
            for row in 0..queries {
                let seen: Vec<f64> = (0..keys)
                    .filter(|key| viz.sees(row, *key))
                    .map(|key| TiledAttention::score(&scores, row, key))
                    .collect();
                let wanted = Running::of(&seen);
                let last = tiles.iter().rfind(|tile| tile.query == row / query_block).expect("a tile of the row");
                let got = last.rows[row % query_block].after;
                assert!((got.log_sum_exp() - wanted.log_sum_exp()).abs() < 1e-9, "{queries} {query_block} row {row}");
            }
        }
    }

    #[test]
    fn scores_of_the_learners_run_decide_what_is_rescaled() {
        let captured = super::super::own::tests::head();
        let head = Head::of(Some(&captured)).expect("q, k, v, o");
        let mut viz = TiledAttention { query_block: 1, key_block: 1, ..TiledAttention::default() };
        viz.take(&head);
        assert_eq!((viz.queries, viz.keys, viz.is_causal), (5, 5, true));
        let tiles = viz.tiles();
        let last = tiles.iter().rfind(|tile| tile.query == 4).expect("a tile");
        let scores: Vec<f64> = (0..5).map(|key| head.score(4, key)).collect();
        let whole = Running::of(&scores);
        assert!((last.rows[0].after.log_sum_exp() - whole.log_sum_exp()).abs() < 1e-12);
        assert!(viz.describe(&VizInput::default()).contains("those of your last check"));
        viz.queries = 6;
        assert!(!viz.describe(&VizInput::default()).contains("your last check"), "there are only five");
    }

    #[test]
    fn queries_before_the_first_key_have_no_tile() {
        let viz = TiledAttention { queries: 12, keys: 4, is_causal: true, ..TiledAttention::default() };
        assert!((0..8).all(|row| !viz.sees(row, 0)) && viz.sees(8, 0) && viz.sees(11, 3));
        assert!(viz.tiles().iter().all(|tile| tile.query == 2));
        assert!(viz.describe(&VizInput::default()).contains("The first 8 queries see no key"));
    }

    #[test]
    fn a_causal_mask_skips_the_tiles_above_the_diagonal() {
        let mut viz = TiledAttention { is_causal: true, ..TiledAttention::default() };
        assert_eq!(viz.tiles().len(), 10, "4 + 3 + 2 + 1 of 16");
        assert_eq!(viz.tiles().iter().filter(|tile| tile.is_cut).count(), 4, "those on the diagonal");
        assert!(viz.describe(&VizInput::default()).contains("skips 6 of 16"));
        viz.is_causal = false;
        assert_eq!(viz.tiles().len(), 16);
    }
}
