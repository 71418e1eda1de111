//! Tile coordinates: from block and thread to row and column, to the place in memory, and back.

mod example;

use super::example::Memo;
use super::kit;
use super::map::{Map, Mapped, Thread, sites};
use super::matrix::{Element, Matrix, State};
use super::model::{self, AccessSite};
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, space};
use crate::widgets::plot_kit;
use egui::{Align2, Stroke, Ui, pos2, vec2};
use example::WhatIf;
use gpu_core::emulator::Trace;

const GUTTER: f32 = 60.0;
const HEAD: f32 = 36.0;
/// Rows and columns that a picture holds; larger matrices are shown around the chosen element.
const MOST: usize = 40;
/// Cells of the strip that shows the element's neighbours in memory.
const STRIP: usize = 32;

#[derive(Default)]
pub struct Tiles {
    what_if: WhatIf,
    cached: Memo<WhatIf, Trace>,
    mapped: Mapped,
    thread: Stepper,
    /// Which of a thread's elements, for threads that touch several.
    turn: usize,
    /// The viewer's row length; None reads it from the threads.
    columns: Option<u32>,
}

/// An element with everything that its coordinates are made of.
struct Place<'a> {
    thread: &'a Thread,
    element: i64,
    columns: i64,
    rows: i64,
    /// Edges of a tile: the block's.
    tile: (i64, i64),
}

impl Place<'_> {
    fn row(&self) -> i64 {
        self.element.div_euclid(self.columns)
    }

    fn column(&self) -> i64 {
        self.element.rem_euclid(self.columns)
    }
}

impl Tiles {
    /// Elements in a row: the viewer's value, what the threads tell, or a guess from the size.
    fn columns(&self, map: &Map) -> i64 {
        let root = (map.length.max(0) as u64).isqrt() as i64;
        let guess = if root > 1 && root * root == map.length { root } else { 32 };
        self.columns.map_or_else(|| map.row_length.unwrap_or(guess), i64::from).clamp(1, map.length.max(1))
    }

    fn place<'a>(&self, trace: &Trace, map: &'a Map) -> Option<Place<'a>> {
        let thread = map.threads.get(self.thread.within(map.threads.len()))?;
        let element = *thread.elements.get(self.turn.min(thread.elements.len().checked_sub(1)?))?;
        let columns = self.columns(map);
        let tile = (i64::from(trace.block[1].max(1)), i64::from(trace.block[0].max(1)));
        Some(Place { thread, element, columns, rows: (map.length + columns - 1) / columns, tile })
    }

    fn controls_ui(
        &mut self,
        ui: &mut Ui,
        input: &VizInput<'_>,
        trace: &Trace,
        sites: &[AccessSite],
    ) -> Option<VizAction> {
        if input.trace.is_none() {
            ui.horizontal_wrapped(|ui| {
                let what_if = &mut self.what_if;
                let range = example::SMALLEST..=example::LARGEST;
                let label = ui.label("rows");
                ui.add(egui::DragValue::new(&mut what_if.rows).range(range.clone())).labelled_by(label.id);
                let label = ui.label("columns");
                ui.add(egui::DragValue::new(&mut what_if.columns).range(range)).labelled_by(label.id);
                ui.label("tile");
                for tile in example::TILES {
                    ui.selectable_value(&mut what_if.tile, tile, format!("{tile} x {tile}"));
                }
                crate::widgets::tick::checkbox(ui, &mut what_if.transposed, "transpose");
            });
            kit::code_line_ui(ui, &self.what_if.code());
        }
        let mut chosen = self.mapped.chosen(sites);
        let action = kit::sites_ui(ui, input, trace, sites, &mut chosen);
        if chosen != self.mapped.chosen(sites) {
            (self.mapped.site, self.columns, self.turn) = (Some(chosen), None, 0);
        }
        action
    }

    fn picture_ui(&mut self, ui: &mut Ui, map: &Map, columns: i64, tile: (i64, i64), words: &str) {
        let rows = (map.length.max(1) + columns - 1) / columns;
        let chosen = map
            .threads
            .get(self.thread.within(map.threads.len()))
            .and_then(|thread| thread.elements.get(self.turn.min(thread.elements.len().saturating_sub(1))))
            .copied();
        let at = chosen.unwrap_or(0).max(0);
        let (first_row, shown_rows) = window(at / columns, rows, tile.0);
        let (first_column, shown_columns) = window(at % columns, columns, tile.1);
        let width = ui.available_width();
        let cell = ((width - GUTTER) / shown_columns as f32).min(300.0 / shown_rows as f32).floor().clamp(5.0, 26.0);
        let height = HEAD + shown_rows as f32 * cell + 3.0 * space::XL + 20.0;
        let canvas = self.thread.canvas(ui, vec2(width, height), words, map.threads.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let origin = canvas.rect.min + vec2(GUTTER, HEAD);
        let matrix = Matrix { origin, rows: shown_rows, columns: shown_columns, cell };
        let element = |row: usize, column: usize| (first_row + row as i64) * columns + first_column + column as i64;
        matrix.paint(painter, tokens, Some((tile.0 as usize, tile.1 as usize)), |row, column| {
            let element = element(row, column);
            let state = match () {
                () if Some(element) == chosen => State::Focus,
                () if map.touches.contains_key(&element) => State::Before,
                () => State::Empty,
            };
            Element { state, number: (cell >= 22.0).then_some(element as u32) }
        });
        let every = (14.0 / cell).ceil().max(1.0) as usize;
        for row in (0..shown_rows).step_by(every) {
            let at = matrix.rect(row, 0).left_center() - vec2(space::S, 0.0);
            kit::small(painter, at, Align2::RIGHT_CENTER, first_row + row as i64, tokens.text_muted);
        }
        let every = (22.0 / cell).ceil().max(1.0) as usize;
        for column in (0..shown_columns).step_by(every) {
            let at = matrix.rect(0, column).center_top() - vec2(0.0, 2.0);
            kit::small(painter, at, Align2::CENTER_BOTTOM, first_column + column as i64, tokens.text_muted);
        }
        let title = format!("{}, {rows} rows of {columns}, tiles of {} x {}", map.array, tile.0, tile.1);
        kit::small(painter, canvas.rect.min, Align2::LEFT_TOP, title, tokens.text);
        if let Some(chosen) = chosen {
            // The tile that holds the element.
            let inside = |at: i64, first: i64, edge: i64| ((at / edge * edge - first).max(0)) as usize;
            let (row, column) = (chosen.max(0) / columns, chosen.max(0) % columns);
            let top = inside(row, first_row, tile.0);
            let left = inside(column, first_column, tile.1);
            let (down, right) = (top + tile.0 as usize, left + tile.1 as usize);
            matrix.frame(painter, top..down, left..right, Stroke::new(2.5, tokens.lane_focus));
        }
        self.strip_ui(&canvas, map, columns, chosen, matrix.outer().bottom() + space::XL);
        let Some((row, column)) = canvas.response.hover_pos().and_then(|pos| matrix.at(pos)) else { return };
        let element = element(row, column);
        if canvas.response.clicked()
            && let Some(thread) = map.threads_of(element).next()
        {
            self.thread.jump(thread);
            let elements = &map.threads[thread].elements;
            self.turn = elements.iter().position(|e| *e == element).unwrap_or(0);
        }
        let (row, column) = (first_row + row as i64, first_column + column as i64);
        let text = format!(
            "{}[{element}]: row {row}, column {column}\ntile ({}, {}), row {} and column {} in it",
            map.array,
            row / tile.0,
            column / tile.1,
            row % tile.0,
            column % tile.1
        );
        canvas.response.on_hover_text_at_pointer(text);
    }

    /// The same elements as they lie in memory.
    fn strip_ui(&self, canvas: &kit::Canvas, map: &Map, columns: i64, chosen: Option<i64>, top: f32) {
        let tokens = theme::for_dark(canvas.response.ctx.global_style().visuals.dark_mode);
        let painter = &canvas.painter;
        let left = canvas.rect.left() + GUTTER;
        let cell = ((canvas.rect.width() - GUTTER) / STRIP as f32).floor().clamp(6.0, 26.0);
        let at = chosen.unwrap_or(0).max(0);
        let first = (at - STRIP as i64 / 2).clamp(0, (map.length - STRIP as i64).max(0));
        let count = (map.length - first).clamp(1, STRIP as i64) as usize;
        let strip = Matrix { origin: pos2(left, top + space::M), rows: 1, columns: count, cell };
        let label = strip.origin + vec2(-space::S, cell / 2.0);
        kit::small(painter, label, Align2::RIGHT_CENTER, "memory", tokens.text_muted);
        strip.paint(painter, tokens, None, |_, index| {
            let element = first + index as i64;
            let same_tile = chosen.is_some_and(|chosen| chosen / columns == element / columns);
            let state = match () {
                () if Some(element) == chosen => State::Focus,
                () if same_tile => State::Before,
                () => State::Empty,
            };
            Element { state, number: None }
        });
        for index in (0..count).filter(|index| (first + *index as i64) % columns == 0) {
            let x = strip.rect(0, index).left();
            painter.vline(x, strip.outer().y_range().expand(3.0), Stroke::new(2.0, tokens.border_strong));
            let row = (first + index as i64) / columns;
            let at = pos2(x + 2.0, strip.outer().bottom() + 3.0);
            kit::small(painter, at, Align2::LEFT_TOP, format!("row {row}"), tokens.text_faint);
        }
    }
}

/// First row and number of rows to show around `at`, starting at a tile's border.
fn window(at: i64, total: i64, tile: i64) -> (i64, usize) {
    let most = MOST as i64;
    if total <= most {
        return (0, total.max(1) as usize);
    }
    let first = (at - most / 2).clamp(0, total - most) / tile * tile;
    (first, (total - first).min(most) as usize)
}

impl Visualization for Tiles {
    kit::head!("tile-coordinates", "Tile coordinates");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = &kit::input_ui(ui, input, self.id());
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        let sites = sites(trace);
        let action = self.controls_ui(ui, input, trace, &sites);
        let Some(map) = self.mapped.map(trace, &sites).filter(|map| map.length > 0) else {
            kit::nothing_ui(ui, "The traced threads touched no array.");
            return action;
        };
        let before = self.thread.at;
        self.thread.ui(ui, map.threads.len(), "thread");
        if self.thread.at != before {
            self.turn = 0;
        }
        let turns = map.threads.get(self.thread.at).map_or(0, |thread| thread.elements.len());
        let is_run = input.trace.is_some();
        let mut extra_ui = |ui: &mut Ui| {
            let mut columns = self.columns(&map) as u32;
            if is_run {
                let label = ui.label("row length");
                let largest = map.length.clamp(1, 1 << 20) as u32;
                let edit = ui.add(egui::DragValue::new(&mut columns).range(1..=largest)).labelled_by(label.id);
                if edit.changed() {
                    self.columns = Some(columns);
                }
            }
            if turns > 1 {
                let label = ui.label(format!("its element, 1 to {turns}"));
                let mut turn = self.turn.min(turns - 1) + 1;
                ui.add(egui::DragValue::new(&mut turn).range(1..=turns)).labelled_by(label.id);
                self.turn = turn - 1;
            }
        };
        if is_run || turns > 1 {
            ui.horizontal_wrapped(|ui| extra_ui(ui));
        }
        let words = self.describe(input);
        let tile = (i64::from(trace.block[1].max(1)), i64::from(trace.block[0].max(1)));
        self.picture_ui(ui, &map, self.columns(&map), tile, &words);
        plot_kit::legend(ui, |ui| {
            State::Focus.legend_ui(ui, "the thread's element, in its tile");
            State::Before.legend_ui(ui, "touched; in memory: the same row");
            State::Empty.legend_ui(ui, "not touched");
        });
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        let sites = sites(trace);
        let Some(map) = self.mapped.map(trace, &sites).filter(|map| !map.threads.is_empty()) else {
            return format!("{}. The traced threads touched no array.", kit::launch_words(trace));
        };
        let Some(place) = self.place(trace, &map) else {
            let thread = &map.threads[self.thread.within(map.threads.len())];
            let columns = self.columns(&map);
            let [row, column, _] = [1, 0, 2].map(|axis: usize| {
                i64::from(thread.block[axis]) * i64::from(trace.block[axis]) + i64::from(thread.thread[axis])
            });
            let why = if column >= columns || row * columns >= map.length {
                "lies outside the matrix: the bounds check keeps it idle"
            } else {
                "touches nothing here: its lane was masked off when the line ran"
            };
            return format!(
                "Thread {} of block {} {why}.",
                model::coordinates(thread.thread, trace.block),
                model::coordinates(thread.block, trace.grid)
            );
        };
        let Place { thread, element, columns, rows, tile } = place;
        let (row, column) = (place.row(), place.column());
        let [bx, by, _] = thread.block;
        let [tx, ty, _] = thread.thread;
        let (in_y, in_x) = (i64::from(by) * tile.0 + i64::from(ty), i64::from(bx) * tile.1 + i64::from(tx));
        // A kernel may use its numbers otherwise.
        let (y_is, x_is) = if (row, column) == (in_y, in_x) { ("row", "column") } else { ("in y", "in x") };
        format!(
            "Thread (x {tx}, y {ty}) of block (x {bx}, y {by}) has {y_is} {by} * {} + {ty} = {in_y} and {x_is} {bx} * {} + {tx} = \
             {in_x}. It touches {}[{element}], which is row {element} / {columns} = {row} and column {element} % {columns} = \
             {column} of the {rows} x {columns} matrix: tile ({}, {}), row {} and column {} in it. The element below \
             lies {columns} further in memory.",
            tile.0,
            tile.1,
            map.array,
            row / tile.0,
            column / tile.1,
            row % tile.0,
            column % tile.1,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::Builder;
    use super::*;
    use gpu_core::emulator::{AccessKind, Space};

    #[test]
    fn the_words_follow_the_thread() {
        let mut tiles = Tiles::default();
        let words = tiles.describe(&VizInput::default());
        assert!(words.contains("out[0]") && words.contains("10 x 12 matrix"), "{words}");
        // Block 1, thread (x 2, y 1): row 1, column 6.
        tiles.thread.at = 16 + 6;
        let words = tiles.describe(&VizInput::default());
        assert!(words.contains("out[18]") && words.contains("row 18 / 12 = 1 and column 18 % 12 = 6"), "{words}");
    }

    #[test]
    fn a_transposed_store_has_rows_of_the_other_length() {
        let mut tiles = Tiles { what_if: WhatIf { transposed: true, ..WhatIf::default() }, ..Tiles::default() };
        tiles.thread.at = 1;
        let words = tiles.describe(&VizInput::default());
        assert!(words.contains("out[10]"), "{words}");
    }

    #[test]
    fn threads_beyond_the_edge_are_idle() {
        let mut tiles = Tiles::default();
        let trace = tiles.example();
        tiles.thread.at = model::volume(trace.grid) as usize * 16 - 1;
        assert!(tiles.describe(&VizInput::default()).contains("outside the matrix"));
    }

    #[test]
    fn a_kernel_whose_x_is_the_row_is_read_as_it_is() {
        let mut b = Builder::new("turned", [1, 1, 1], [4, 2, 1]);
        let array = b.array("c", Space::Global, 4 * 2 * 4);
        let site = b.site("st.global.f32", 3, array, AccessKind::Write, 4);
        let warp = b.warp([0, 0, 0], 0);
        // The last thread is held back for a reason of its own.
        b.access(warp, site, 0x7f, |lane| i64::from(lane % 4 * 2 + lane / 4));
        let trace = b.finish();
        let input = VizInput { trace: Some(&trace), ..VizInput::default() };
        let mut tiles = Tiles::default();
        tiles.thread.at = 1;
        let words = tiles.describe(&input);
        assert!(words.contains("has in y 0 * 2 + 0 = 0 and in x 0 * 4 + 1 = 1"), "{words}");
        assert!(words.contains("row 2 / 2 = 1 and column 2 % 2 = 0 of the 4 x 2 matrix"), "{words}");
        tiles.thread.at = 4;
        assert!(tiles.describe(&input).contains("column 1 % 2 = 1"), "{}", tiles.describe(&input));
    }

    #[test]
    fn a_thread_inside_the_matrix_is_not_said_to_be_outside() {
        let mut b = Builder::new("even_rows", [1, 1, 1], [4, 2, 1]);
        let array = b.array("c", Space::Global, 2 * 4 * 4);
        let site = b.site("st.global.f32", 3, array, AccessKind::Write, 4);
        let warp = b.warp([0, 0, 0], 0);
        b.access(warp, site, 0b0101_1111, i64::from);
        let trace = b.finish();
        let mut tiles = Tiles::default();
        tiles.thread.at = 5;
        let words = tiles.describe(&VizInput { trace: Some(&trace), ..VizInput::default() });
        assert!(words.contains("masked off") && !words.contains("outside"), "{words}");
    }

    #[test]
    fn large_matrices_are_shown_around_the_element() {
        for (at, total) in [(0, 1000), (500, 1000), (999, 1000), (5, 8)] {
            let (first, count) = window(at, total, 16);
            assert!(first <= at && at < first + count as i64 && first + count as i64 <= total, "{at} of {total}");
        }
    }
}
