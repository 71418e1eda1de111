//! The tiled matrix product, barrier by barrier: what a block loads, what it keeps in shared memory, how often each
//! loaded element is used.

mod example;
mod phases;

use super::example::Memo;
use super::kit;
use super::matrix::{Element, Matrix, State};
use super::model;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, space};
use crate::widgets::plot_kit;
use egui::{Stroke, Ui, Vec2, pos2, vec2};
use example::WhatIf;
use gpu_core::emulator::Trace;
use phases::{Array, Phases};
use std::rc::Rc;

const TITLE: f32 = 18.0;
const GAP: f32 = 24.0;
/// Room for the title of a shared array.
const SHARED_TITLE: f32 = 72.0;

#[derive(Default)]
pub struct Tiled {
    what_if: WhatIf,
    cached: Memo<WhatIf, Trace>,
    block: usize,
    phase: Stepper,
    /// By fingerprint of the trace and block.
    phases: Memo<(u64, [u32; 3]), Phases>,
}

/// The trace of a product of two n x n matrices; a tile of 1 is the naive kernel.
pub(super) fn product(n: u32, tile: u32) -> Trace {
    WhatIf { n, tile }.trace()
}

fn blocks(trace: &Trace) -> Vec<[u32; 3]> {
    let mut blocks: Vec<[u32; 3]> = trace.warps.iter().map(|warp| warp.block).collect();
    blocks.sort_by_key(|block| (block[2], block[1], block[0]));
    blocks.dedup();
    blocks
}

impl Tiled {
    fn phases(&self, trace: &Trace) -> Option<([u32; 3], Rc<Phases>)> {
        let blocks = blocks(trace);
        let block = *blocks.get(self.block.min(blocks.len().saturating_sub(1)))?;
        let key = (model::fingerprint(trace), block);
        Some((block, self.phases.get(&key, |_| Phases::new(trace, block))))
    }

    fn controls_ui(&mut self, ui: &mut Ui, trace: &Trace, is_example: bool) {
        ui.horizontal_wrapped(|ui| {
            if is_example {
                ui.label("n");
                for n in example::SIZES {
                    ui.selectable_value(&mut self.what_if.n, n, n.to_string());
                }
                ui.add_space(space::L);
                ui.label("tile");
                for tile in example::TILES.into_iter().filter(|tile| self.what_if.n.is_multiple_of(*tile)) {
                    let name = if tile == 1 { "none".to_owned() } else { format!("{tile} x {tile}") };
                    ui.selectable_value(&mut self.what_if.tile, tile, name);
                }
            }
            ui.add_space(space::L);
            let blocks = blocks(trace);
            self.block = self.block.min(blocks.len().saturating_sub(1));
            let name = |block: &[u32; 3]| format!("block {}", model::coordinates(*block, trace.grid));
            if let Some(current) = blocks.get(self.block) {
                let shown = egui::ComboBox::from_id_salt("block").selected_text(name(current)).show_ui(ui, |ui| {
                    for (index, block) in blocks.iter().enumerate() {
                        ui.selectable_value(&mut self.block, index, name(block));
                    }
                });
                plot_kit::name_choice(&shown.response, "Block", &name(current));
            }
        });
        if is_example {
            kit::code_line_ui(ui, self.what_if.code());
        }
    }

    fn picture_ui(&mut self, ui: &mut Ui, phases: &Phases, words: &str) {
        let layout = Layout::new(phases, ui.available_width());
        let canvas = self.phase.canvas(ui, layout.size, words, phases.phases.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let at = self.phase.within(phases.phases.len());
        let Some(phase) = phases.phases.get(at) else { return };
        let hovered = canvas.response.hover_pos();
        let mut tooltip = None;
        for (index, matrix) in &layout.matrices {
            let array = &phases.arrays[*index];
            let matrix = Matrix { origin: matrix.origin + canvas.rect.min.to_vec2(), ..*matrix };
            let key = |row: usize, column: usize| (*index, row as u64 * array.columns + column as u64);
            let title = if array.shared {
                format!("{}, shared", array.name)
            } else {
                // Along k both tiles move, each in its own direction; every kernel of the course has these names.
                let along = match array.name.as_str() {
                    "a" | "A" => ", k to the right",
                    "b" | "B" => ", k downwards",
                    _ => "",
                };
                format!("{}, {} x {}{along}", array.name, array.rows(), array.columns)
            };
            matrix.title(painter, tokens, &title);
            matrix.paint(painter, tokens, None, |row, column| {
                let key = key(row, column);
                let times = phase.reads.get(&key).copied().unwrap_or(0);
                let written = phase.writes.contains_key(&key);
                let state = match (times > 0 || written, phases.touched_before(at, key)) {
                    (true, _) => State::Now,
                    (false, true) => State::Before,
                    (false, false) => State::Empty,
                };
                Element { state, number: (times > 0).then_some(times) }
            });
            let Some((row, column)) = hovered.and_then(|pos| matrix.at(pos)) else { continue };
            let (index, element) = key(row, column);
            let reads = phase.reads.get(&(index, element)).copied().unwrap_or(0);
            let writes = phase.writes.get(&(index, element)).copied().unwrap_or(0);
            let mut text = format!("{}[{element}], row {row}, column {column}", array.name);
            text.push_str(&match (reads, writes) {
                (0, 0) => "\nnot touched in this phase".to_owned(),
                (reads, 0) => format!("\nread {} in this phase", times(reads)),
                (0, writes) => format!("\nwritten {} in this phase", times(writes)),
                (reads, writes) => format!("\nread {} and written {}", times(reads), times(writes)),
            });
            tooltip = Some(text);
            if layout.classical == Some(index) {
                // An element of the result needs a row of the first factor and a column of the second.
                let stroke = Stroke::new(2.0, tokens.lane_focus);
                for (number, factor) in layout.matrices.iter().take(2).enumerate() {
                    let matrix = Matrix { origin: factor.1.origin + canvas.rect.min.to_vec2(), ..factor.1 };
                    if number == 0 {
                        matrix.frame(painter, row..row + 1, 0..matrix.columns, stroke);
                    } else {
                        matrix.frame(painter, 0..matrix.rows, column..column + 1, stroke);
                    }
                }
            }
        }
        if let Some(text) = tooltip {
            canvas.response.on_hover_text_at_pointer(text);
        }
    }
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Where each array is drawn.
struct Layout {
    /// Array and place; for a product the two factors come first.
    matrices: Vec<(usize, Matrix)>,
    /// The result's array, when the picture is that of a product: A at the left, B above, C where they meet.
    classical: Option<usize>,
    size: Vec2,
}

impl Layout {
    fn new(phases: &Phases, width: f32) -> Self {
        let global: Vec<usize> = (0..phases.arrays.len()).filter(|i| !phases.arrays[*i].shared).collect();
        let shared: Vec<usize> = (0..phases.arrays.len()).filter(|i| phases.arrays[*i].shared).collect();
        let factors: Vec<usize> = global.iter().copied().filter(|i| !phases.arrays[*i].written).collect();
        let results: Vec<usize> = global.iter().copied().filter(|i| phases.arrays[*i].written).collect();
        match (factors.as_slice(), results.as_slice()) {
            ([a, b], [c]) => {
                let [ma, mb, mc] = [*a, *b, *c].map(|i| shape(&phases.arrays[i]));
                let fits = ma.0 == mc.0 && mb.1 == mc.1;
                if fits { Self::product(phases, [*a, *b, *c], &shared, width) } else { Self::row(phases, width) }
            }
            _ => Self::row(phases, width),
        }
    }

    fn product(phases: &Phases, [a, b, c]: [usize; 3], shared: &[usize], width: f32) -> Self {
        let [sa, sb, sc] = [a, b, c].map(|i| shape(&phases.arrays[i]));
        let across = sa.1.max(1) + sc.1.max(1);
        let cell = ((width.min(620.0) - GAP) / across as f32).floor().clamp(2.0, 18.0);
        let place =
            |origin: egui::Pos2, shape: (usize, usize)| Matrix { origin, rows: shape.0, columns: shape.1, cell };
        let middle = pos2(sa.1 as f32 * cell + GAP, TITLE + sb.0 as f32 * cell + GAP);
        let mut matrices =
            vec![(a, place(pos2(0.0, middle.y), sa)), (b, place(pos2(middle.x, TITLE), sb)), (c, place(middle, sc))];
        // The shared tiles stand in the empty quarter; where that is too small, at the right or below.
        let room = |index: usize| (shape(&phases.arrays[index]).1 as f32 * cell).max(SHARED_TITLE) + space::M;
        let rows = shared.iter().map(|i| shape(&phases.arrays[*i]).0).max().unwrap_or(0) as f32 * cell;
        let columns: f32 = shared.iter().map(|i| room(*i)).sum();
        let right = middle.x + sc.1 as f32 * cell + GAP;
        let mut bottom = middle.y + sc.0.max(sa.0) as f32 * cell;
        let mut at = match () {
            () if columns <= middle.x && rows + TITLE <= middle.y - TITLE => pos2(0.0, TITLE),
            () if right + columns <= width => pos2(right, TITLE),
            () => pos2(0.0, bottom + GAP),
        };
        for index in shared {
            let shape = shape(&phases.arrays[*index]);
            matrices.push((*index, place(at, shape)));
            at.x += room(*index);
            bottom = bottom.max(at.y + shape.0 as f32 * cell);
        }
        Self { matrices, classical: Some(c), size: vec2(width, bottom + space::M) }
    }

    /// Side by side, wrapping.
    fn row(phases: &Phases, width: f32) -> Self {
        let mut matrices = Vec::new();
        let mut at = pos2(0.0, TITLE);
        let mut bottom = TITLE;
        for (index, array) in phases.arrays.iter().enumerate() {
            let (rows, columns) = shape(array);
            let cell = (240.0 / rows.max(columns).max(1) as f32).floor().clamp(2.0, 16.0);
            let size = vec2(columns as f32 * cell, rows as f32 * cell);
            let room = size.x.max(110.0) + GAP;
            if at.x > 0.0 && at.x + room > width + GAP {
                at = pos2(0.0, bottom + TITLE + space::M);
            }
            matrices.push((index, Matrix { origin: at, rows, columns, cell }));
            at.x += room;
            bottom = bottom.max(at.y + size.y);
        }
        Self { matrices, classical: None, size: vec2(width, bottom + space::M) }
    }
}

/// Rows and columns in the picture: at most 64 each.
fn shape(array: &Array) -> (usize, usize) {
    (array.rows().clamp(1, 64) as usize, array.columns.clamp(1, 64) as usize)
}

impl Visualization for Tiled {
    kit::head!("tiled-matmul", "Tiled matrix product");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = &kit::input_ui(ui, input, self.id());
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        self.controls_ui(ui, trace, input.trace.is_none());
        let Some((_, phases)) = self.phases(trace).filter(|(_, p)| !p.arrays.is_empty() && !p.phases.is_empty()) else {
            kit::nothing_ui(ui, "The traced block touched no array.");
            return None;
        };
        self.phase.ui(ui, phases.phases.len(), "phase");
        let words = self.describe(input);
        self.picture_ui(ui, &phases, &words);
        plot_kit::legend(ui, |ui| {
            State::Now.legend_ui(ui, "touched now; the number: times read");
            State::Before.legend_ui(ui, "touched before");
            State::Empty.legend_ui(ui, "not by this block");
        });
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        let nothing = || format!("{}. The traced block touched no array.", kit::launch_words(trace));
        let Some((block, phases)) = self.phases(trace) else { return nothing() };
        let at = self.phase.within(phases.phases.len());
        let Some(phase) = phases.phases.get(at) else { return nothing() };
        let mut words =
            format!("Block {}, phase {} of {}: ", model::coordinates(block, trace.grid), at + 1, phases.phases.len());
        let mut parts = Vec::new();
        for (index, array) in phases.arrays.iter().enumerate() {
            let of = |touched: &std::collections::HashMap<(usize, u64), u32>| {
                let mine = touched.iter().filter(|(key, _)| key.0 == index);
                mine.fold((0, 0), |(different, all), (_, times)| (different + 1, all + times))
            };
            let ((read, reads), (written, _)) = (of(&phase.reads), of(&phase.writes));
            if read > 0 {
                let often = if reads > read {
                    format!(", each {:.0} times", f64::from(reads) / f64::from(read))
                } else {
                    String::new()
                };
                parts.push(format!("reads {} of {}{often}", kit::plural(read as usize, "element"), array.name));
            }
            if written > 0 {
                parts.push(format!("writes {written} of {}", array.name));
            }
        }
        if phase.float_operations > 0 {
            parts.push(format!("{} floating-point operations", phase.float_operations));
        }
        let what = if parts.is_empty() { "touches no array".to_owned() } else { parts.join("; ") };
        words.push_str(&what);
        words.push_str(if phase.barrier { ". A barrier ends it. " } else { ". " });
        let (global, different) = phases.global_reads(at);
        let shared = phases.shared_reads(at);
        words.push_str(&format!("So far {global} reads of global memory for {different} different elements"));
        if shared > 0 {
            let reuse = shared as f64 / global.max(1) as f64;
            words.push_str(&format!(", and {shared} reads of shared memory: {reuse:.1} uses for each global read."));
        } else {
            words.push('.');
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(what_if: &WhatIf) -> Phases {
        Phases::new(&what_if.trace(), [1, 1, 0])
    }

    #[test]
    fn a_tile_divides_the_global_reads_by_its_edge() {
        // 16 threads, 2 * 8 operands each; with tiles of 4 each operand is loaded once for 4 threads.
        let naive = all(&WhatIf { n: 8, tile: 1 });
        let tiled = all(&WhatIf { n: 8, tile: 4 });
        let last = |phases: &Phases| phases.global_reads(phases.phases.len() - 1);
        assert_eq!(last(&naive), (16 * 16, 2 * 4 * 8));
        assert_eq!(last(&tiled), (16 * 16 / 4, 2 * 4 * 8));
        assert_eq!(tiled.shared_reads(tiled.phases.len() - 1), 16 * 16);
    }

    #[test]
    fn shapes_are_read_from_the_threads() {
        let tiled = all(&WhatIf { n: 12, tile: 4 });
        let columns: Vec<(&str, u64)> = tiled.arrays.iter().map(|a| (a.name.as_str(), a.columns)).collect();
        assert_eq!(columns, [("A", 12), ("B", 12), ("As", 4), ("Bs", 4), ("C", 12)]);
        let naive = all(&WhatIf { n: 12, tile: 1 });
        assert!(naive.arrays.iter().all(|array| array.columns == 12), "{:?}", naive.arrays);
    }

    #[test]
    fn barriers_cut_the_run() {
        let tiled = all(&WhatIf { n: 8, tile: 4 });
        // Load and compute for each of two tiles, then the store.
        assert_eq!(tiled.phases.len(), 5);
        assert!(tiled.phases[..4].iter().all(|phase| phase.barrier) && !tiled.phases[4].barrier);
        assert_eq!(tiled.phases[1].float_operations, 16 * 4 * 2);
    }
}
