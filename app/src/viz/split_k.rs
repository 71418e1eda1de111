//! Splitting the keys of a decode step over blocks: which multiprocessor works on what, the partial results, and the merge
//! that ends it. The times are a model in units that the reader sets.

use super::kit;
use super::kv_model;
use super::running::Running;
use super::stepper::Stepper;
use super::values::{self, Look, number};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Painter, Rect, Stroke, Ui, pos2, vec2};
use gpu_core::emulator::Trace;

const MOST_SPLITS: usize = 64;
/// For the words: a tile is 64 keys, with K in e4m3 and V in NVFP4 at head dimension 128.
const TILE_BYTES: f64 = 64.0 * 200.0;
/// Four query heads of 128 fp32 values, written once and read once.
const PARTIAL_BYTES: f64 = 4096.0;
const GUTTER: f32 = 82.0;
const GANTT: f32 = 190.0;
const CHART: f32 = 84.0;
const ROW: f32 = 22.0;
/// Partial results of the first head that have room.
const SHOWN_PARTS: usize = 8;

pub struct SplitK {
    /// Sequences times key heads: what there is without splitting.
    heads: usize,
    /// Tiles of keys of one head.
    tiles: usize,
    multiprocessors: usize,
    /// Cost of starting a block, and of merging one partial result, in tiles.
    start: f64,
    merge: f64,
    /// Position 0 is one block a head.
    splits: Stepper,
}

impl Default for SplitK {
    fn default() -> Self {
        Self { heads: 8, tiles: 128, multiprocessors: 132, start: 2.0, merge: 0.5, splits: Stepper::starting_at(7) }
    }
}

/// One block on the timeline, in tiles of time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    multiprocessor: usize,
    head: usize,
    part: usize,
    from: f64,
    to: f64,
}

struct Plan {
    pieces: Vec<Piece>,
    /// When the last partial result is written.
    partials_done: f64,
    /// One for each head, where there is anything to merge.
    merges: Vec<Piece>,
    total: f64,
}

impl Plan {
    /// Share of the time for which a multiprocessor works, on average.
    fn busy(&self, multiprocessors: usize) -> f64 {
        let worked: f64 = self.pieces.iter().chain(&self.merges).map(|piece| piece.to - piece.from).sum();
        worked / (self.total * multiprocessors as f64)
    }
}

impl SplitK {
    fn splits(&self) -> usize {
        self.splits.within(self.most_splits()) + 1
    }

    fn most_splits(&self) -> usize {
        MOST_SPLITS.min(self.tiles)
    }

    /// Tiles of a part: the first ones take one more where it does not come out even.
    fn part_tiles(&self, splits: usize, part: usize) -> std::ops::Range<usize> {
        part * self.tiles / splits..(part + 1) * self.tiles / splits
    }

    /// Each block goes to the multiprocessor that is free first, as the hardware does it.
    fn plan(&self, splits: usize) -> Plan {
        let mut free = vec![0.0; self.multiprocessors];
        let mut place = |head: usize, part: usize, length: f64| {
            let first = (0..free.len()).min_by(|a, b| f64::total_cmp(&free[*a], &free[*b])).unwrap_or(0);
            let from = free[first];
            free[first] += length;
            Piece { multiprocessor: first, head, part, from, to: from + length }
        };
        let mut pieces = Vec::new();
        for head in 0..self.heads {
            for part in 0..splits {
                let length = self.start + self.part_tiles(splits, part).len() as f64;
                pieces.push(place(head, part, length));
            }
        }
        let partials_done = pieces.iter().map(|piece| piece.to).fold(0.0, f64::max);
        let mut merges = Vec::new();
        if splits > 1 {
            free.fill(partials_done);
            let mut place = |head: usize, length: f64| {
                let first = (0..free.len()).min_by(|a, b| f64::total_cmp(&free[*a], &free[*b])).unwrap_or(0);
                let from = free[first];
                free[first] += length;
                Piece { multiprocessor: first, head, part: 0, from, to: from + length }
            };
            merges.extend((0..self.heads).map(|head| place(head, self.start + self.merge * splits as f64)));
        }
        let total = merges.iter().map(|piece| piece.to).fold(partials_done, f64::max);
        Plan { pieces, partials_done, merges, total }
    }

    fn best(&self) -> usize {
        let total = |splits: &usize| self.plan(*splits).total;
        (1..=self.most_splits()).min_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or(1)
    }

    /// Partial results of the first head: scores drawn once, one a tile.
    fn partials(&self, splits: usize) -> Vec<Running> {
        let scores = values::normals(31, self.tiles);
        (0..splits).map(|part| Running::of(&scores[self.part_tiles(splits, part)])).collect()
    }

    fn controls_ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) {
        ui.horizontal_wrapped(|ui| {
            values::count(ui, "sequences x key heads", &mut self.heads, 1..=512);
            values::count(ui, "tiles of keys a head", &mut self.tiles, 1..=1024);
            values::count(ui, "multiprocessors", &mut self.multiprocessors, 1..=160);
            if let Some(count) = input.device.and_then(|device| device.multiprocessors)
                && ui.button(format!("This machine's {count}")).clicked()
            {
                self.multiprocessors = (count as usize).clamp(1, 160);
            }
        });
        ui.horizontal_wrapped(|ui| {
            values::drag(ui, "a block's start costs, in tiles", &mut self.start, 0.0..=100.0, 0.05);
            values::drag(ui, "merging a partial result", &mut self.merge, 0.0..=100.0, 0.02);
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, words: &str) {
        let width = ui.available_width();
        let parts = 2.0 * ROW + space::XXL;
        let height = GANTT + space::XXL + parts + space::XL + CHART + 36.0;
        let count = self.most_splits();
        let canvas = self.splits.canvas(ui, vec2(width, height), words, count);
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let left = canvas.rect.left() + GUTTER;
        let room = width - GUTTER - space::S;
        let (splits, plan, unsplit) = (self.splits(), self.plan(self.splits()), self.plan(1));
        let gantt = Rect::from_min_size(pos2(left, canvas.rect.top()), vec2(room, GANTT));
        self.paint_gantt(painter, tokens, gantt, &plan, plan.total.max(unsplit.total));
        let top = gantt.bottom() + space::XXL + ROW * 0.7;
        self.paint_partials(painter, tokens, Rect::from_min_size(pos2(left, top), vec2(room, 2.0 * ROW)), splits);
        let chart = Rect::from_min_size(pos2(left, top + parts + space::S), vec2(room, CHART));
        self.paint_chart(painter, tokens, chart);
        let under = canvas.response.hover_pos().filter(|pos| chart.contains(*pos));
        if let (Some(pos), true) = (under, canvas.response.clicked()) {
            self.splits.jump((((pos.x - chart.left()) / chart.width() * count as f32) as usize).min(count - 1));
        }
    }

    fn paint_gantt(&self, painter: &Painter, tokens: &Tokens, area: Rect, plan: &Plan, whole: f64) {
        painter.rect_filled(area, 2.0, tokens.inset);
        let row = area.height() / self.multiprocessors as f32;
        let x = |time: f64| area.left() + area.width() * (time / whole.max(1e-9)) as f32;
        let place = |piece: &Piece| {
            let top = area.top() + piece.multiprocessor as f32 * row;
            let gap = if row > 5.0 { 1.0 } else { 0.0 };
            Rect::from_min_max(pos2(x(piece.from), top), pos2(x(piece.to), top + row - gap))
        };
        for piece in &plan.pieces {
            let rect = place(piece);
            let color = tokens.series[piece.head % 7];
            painter.rect_filled(rect.shrink2(vec2(0.5, 0.0)), 1.0, color.gamma_multiply(0.75));
            // What it costs to start, before the first tile.
            let start = Rect::from_min_max(rect.min, pos2(x(piece.from + self.start), rect.bottom()));
            painter.rect_filled(start.shrink2(vec2(0.5, 0.0)), 1.0, tokens.border_strong);
            if row >= 11.0 && rect.width() > 40.0 {
                let text = format!("{}.{}", piece.head, piece.part);
                kit::small(painter, rect.center(), Align2::CENTER_CENTER, text, tokens.text);
            }
        }
        for merge in &plan.merges {
            plot_kit::hatch(painter, place(merge), tokens.warn);
        }
        if !plan.merges.is_empty() {
            let at = x(plan.partials_done);
            plot_kit::dashed(painter, pos2(at, area.top()), pos2(at, area.bottom()), Stroke::new(1.5, tokens.text));
        }
        let every = if row < 14.0 { (18.0 / row).ceil() as usize } else { 1 };
        for at in (0..self.multiprocessors).step_by(every) {
            let y = area.top() + ((at as f32 + 0.5) * row).max(7.0);
            kit::small(
                painter,
                pos2(area.left() - space::S, y),
                Align2::RIGHT_CENTER,
                format!("SM {at}"),
                tokens.text_muted,
            );
        }
        let step = plot_kit::step(whole, area.width(), 60.0);
        let mut time = 0.0;
        while time <= whole {
            kit::small(
                painter,
                pos2(x(time), area.bottom() + 2.0),
                Align2::CENTER_TOP,
                number(time),
                tokens.text_muted,
            );
            time += step;
        }
    }

    /// Maximum and sum of each part of the first head, and of the whole.
    fn paint_partials(&self, painter: &Painter, tokens: &Tokens, area: Rect, splits: usize) {
        let partials = self.partials(splits);
        let most = if area.width() > 400.0 { SHOWN_PARTS } else { SHOWN_PARTS / 2 };
        let shown = partials.len().min(most);
        let merged = partials.iter().fold(Running::EMPTY, |all, part| all.merge(*part));
        let width = area.width() / (shown + 1) as f32;
        for (row, name) in ["maximum", "sum"].iter().enumerate() {
            let at = pos2(area.left() - space::S, area.top() + (row as f32 + 0.5) * ROW);
            kit::small(painter, at, Align2::RIGHT_CENTER, name, tokens.text_muted);
        }
        for column in 0..=shown {
            let (title, result) = match partials.get(column).filter(|_| column < shown) {
                Some(part) => (format!("0.{column}"), *part),
                None => ("head 0 merged".to_owned(), merged),
            };
            let x = area.left() + column as f32 * width;
            let title = if column == shown && width < 90.0 { "merged".to_owned() } else { title };
            kit::small(
                painter,
                pos2(x + width / 2.0, area.top() - 1.0),
                Align2::CENTER_BOTTOM,
                title,
                tokens.text_muted,
            );
            for (row, value) in [result.max, result.sum].iter().enumerate() {
                let rect = Rect::from_min_size(pos2(x, area.top() + row as f32 * ROW), vec2(width, ROW));
                let look = if column == shown { Look::Focus } else { Look::Plain };
                values::cell(painter, tokens, rect, &number(*value), tokens.inset, look);
            }
        }
    }

    /// Time for every number of splits.
    fn paint_chart(&self, painter: &Painter, tokens: &Tokens, area: Rect) {
        let totals: Vec<f64> = (1..=self.most_splits()).map(|splits| self.plan(splits).total).collect();
        let most = totals.iter().copied().fold(1e-9, f64::max);
        let step = area.width() / totals.len() as f32;
        painter.rect_filled(area, 2.0, tokens.inset);
        let best = self.best();
        for (at, total) in totals.iter().enumerate() {
            let x = area.left() + at as f32 * step;
            let top = area.bottom() - (area.height() - 4.0) * (total / most) as f32;
            let bar = Rect::from_min_max(pos2(x + 1.0, top), pos2(x + step - 1.0, area.bottom()));
            let color = if at + 1 == self.splits() { tokens.lane_focus } else { tokens.series[0] };
            painter.rect_filled(bar, 1.0, color);
            if at + 1 == best {
                painter.rect_stroke(bar.expand(1.0), 1.0, Stroke::new(2.0, tokens.pass), egui::StrokeKind::Outside);
            }
            if (at + 1).is_multiple_of(if step > 9.0 { 4 } else { 8 }) || at == 0 {
                kit::small(
                    painter,
                    pos2(x + step / 2.0, area.bottom() + 2.0),
                    Align2::CENTER_TOP,
                    at + 1,
                    tokens.text_muted,
                );
            }
        }
        kit::small(
            painter,
            pos2(area.left() - space::S, area.top() + 8.0),
            Align2::RIGHT_CENTER,
            "time",
            tokens.text_muted,
        );
        let title = pos2(area.center().x, area.bottom() + 17.0);
        kit::small(painter, title, Align2::CENTER_TOP, "blocks a head", tokens.text_muted);
    }
}

impl Visualization for SplitK {
    fn id(&self) -> &'static str {
        "split-k"
    }

    fn title(&self) -> &'static str {
        "Split-K timeline"
    }

    /// It needs the work's size and no steps of a kernel.
    fn example(&self) -> Trace {
        Trace { kernel: "example".into(), grid: [32, 1, 1], block: [128, 1, 1], ..Trace::default() }
    }

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.controls_ui(ui, input);
        self.splits.ui(ui, self.most_splits(), "split");
        let words = self.describe(input);
        self.picture_ui(ui, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.series[0], "a block on its keys: head.part");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.border_strong, "its start");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Hatched, tokens.warn, "merge of a head's partial results");
        });
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let splits = self.splits();
        let (plan, unsplit) = (self.plan(splits), self.plan(1));
        let best = self.best();
        let merge = if splits == 1 {
            "Each block finishes a whole head, so there is nothing to merge.".to_owned()
        } else {
            format!(
                "Each block writes a partial result, and a second kernel merges the {splits} of a head: {} of partial results moved, \
                 beside {} of cache (64 keys a tile, d 128, 4 query heads, K in e4m3, V in NVFP4).",
                kv_model::bytes((self.heads * splits) as f64 * PARTIAL_BYTES),
                kv_model::bytes((self.heads * self.tiles) as f64 * TILE_BYTES),
            )
        };
        format!(
            "{} x {} = {} on {}. {merge} Modelled time: {} tiles, {:.2} times as fast as without splitting; the multiprocessors \
             are busy for {:.0} % of it. Best here: {} a head.",
            kit::plural(self.heads, "head"),
            kit::plural(splits, "part"),
            kit::plural(self.heads * splits, "block"),
            kit::plural(self.multiprocessors, "multiprocessor"),
            number(plan.total),
            unsplit.total / plan.total,
            100.0 * plan.busy(self.multiprocessors),
            kit::plural(best, "block"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_is_the_one_worked_by_hand() {
        let viz = SplitK { tiles: 64, multiprocessors: 16, ..SplitK::default() };
        // 8 blocks on 16 multiprocessors, each 2 + 64 tiles long.
        assert_eq!((viz.plan(1).total, viz.plan(1).merges.len()), (66.0, 0));
        // 16 blocks of 2 + 32, then a merge of 2 + 2 * 0.5.
        assert_eq!((viz.plan(2).partials_done, viz.plan(2).total), (34.0, 37.0));
        assert!((viz.plan(1).busy(16) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn no_multiprocessor_works_on_two_blocks_at_once() {
        let viz = SplitK { heads: 5, tiles: 37, multiprocessors: 3, ..SplitK::default() };
        for splits in 1..=8 {
            let plan = viz.plan(splits);
            assert_eq!(plan.pieces.len(), 5 * splits);
            let tiles: usize = (0..splits).map(|part| viz.part_tiles(splits, part).len()).sum();
            assert_eq!(tiles, 37, "every tile once");
            for (at, a) in plan.pieces.iter().enumerate() {
                let clash = |b: &Piece| b.multiprocessor == a.multiprocessor && b.from < a.to && a.from < b.to;
                assert!(!plan.pieces[at + 1..].iter().any(clash));
            }
        }
    }

    #[test]
    fn merged_parts_are_the_whole() {
        let viz = SplitK::default();
        let whole = viz.partials(1)[0];
        for splits in 2..=MOST_SPLITS {
            let merged = viz.partials(splits).iter().fold(Running::EMPTY, |all, part| all.merge(*part));
            assert!((merged.log_sum_exp() - whole.log_sum_exp()).abs() < 1e-12);
        }
    }
}
