//! Loop order: one thread walks through three matrices; a small cache shows why the order of the loops matters.

mod example;
mod measured;

use super::example::Memo;
use super::kit;
use super::matrix::{Element, Matrix, State};
use super::model;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, font_size, space};
use crate::widgets::plot_kit;
use egui::{Align2, FontId, Rect, Ui, pos2, vec2};
use example::WhatIf;
use gpu_core::emulator::Trace;
use std::collections::VecDeque;
use std::rc::Rc;

/// Bytes of a line of the picture's cache, and how many lines it holds. Real ones are larger in proportion to real
/// matrices: 64 bytes and 32 KiB are common for a CPU's first level.
const LINE_BYTES: u64 = 16;
const LINES: usize = 8;
const TITLE: f32 = 18.0;
const GAP: f32 = 24.0;
const BAR: f32 = 18.0;

#[derive(Default)]
pub struct Loops {
    what_if: WhatIf,
    cached: Memo<WhatIf, Trace>,
    step: Stepper,
    walks: Memo<u64, Walk>,
    /// Share of misses for each order of the loops, by size of the blocks.
    orders: Memo<u32, Vec<(String, f64)>>,
}

/// One access of the walk.
#[derive(Clone, Copy, Debug)]
struct Visit {
    array: u32,
    element: u64,
    address: u64,
    /// Its line was not in the cache.
    miss: bool,
}

/// All accesses of the trace's first thread, with what the cache did.
struct Walk {
    visits: Vec<Visit>,
    /// Name, first address and elements in a row, per allocation.
    arrays: Vec<(String, u64, u64)>,
}

impl Walk {
    fn new(trace: &Trace) -> Self {
        let arrays: Vec<(String, u64, u64)> = trace
            .allocations
            .iter()
            .map(|a| {
                let elements = (a.bytes / 4).max(1);
                let root = elements.isqrt();
                (a.name.clone(), a.base, if root * root == elements { root } else { elements.min(32) })
            })
            .collect();
        let mut visits = Vec::new();
        let mut cache: VecDeque<u64> = VecDeque::new();
        let steps = trace.warps.first().map_or(&[][..], |warp| warp.steps.as_slice());
        for step in steps {
            let Some(array) = step.access.as_ref().and_then(|access| access.allocation) else { continue };
            let Some((_, base, _)) = arrays.get(array as usize) else { continue };
            let Some((_, address)) = model::lane_addresses(step).next() else { continue };
            let line = address / LINE_BYTES;
            let known = cache.iter().position(|l| *l == line);
            if let Some(known) = known {
                cache.remove(known);
            } else if cache.len() == LINES {
                cache.pop_front();
            }
            // The newest at the back; the oldest is the first to go.
            cache.push_back(line);
            let element = address.wrapping_sub(*base) / 4;
            visits.push(Visit { array, element, address, miss: known.is_none() });
        }
        Self { visits, arrays }
    }

    /// Lines in the cache after visit `at`.
    fn cache_at(&self, at: usize) -> Vec<u64> {
        let mut lines: Vec<u64> = Vec::new();
        // The last distinct lines are those that are kept.
        for visit in self.visits[..(at + 1).min(self.visits.len())].iter().rev() {
            let line = visit.address / LINE_BYTES;
            if !lines.contains(&line) {
                lines.push(line);
            }
            if lines.len() == LINES {
                break;
            }
        }
        lines
    }

    fn misses(&self, upto: usize) -> usize {
        self.visits.iter().take(upto).filter(|visit| visit.miss).count()
    }

    fn miss_percent(&self) -> f64 {
        100.0 * self.misses(self.visits.len()) as f64 / self.visits.len().max(1) as f64
    }
}

impl Loops {
    fn walk(&self, trace: &Trace) -> Rc<Walk> {
        self.walks.get(&model::fingerprint(trace), |_| Walk::new(trace))
    }

    fn orders(&self) -> Rc<Vec<(String, f64)>> {
        let share = |order: [usize; 3]| Walk::new(&WhatIf { order, ..self.what_if.clone() }.trace()).miss_percent();
        self.orders.get(&self.what_if.block, |_| {
            example::ORDERS.into_iter().map(|order| (WhatIf::name(order), share(order))).collect()
        })
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            ui.label("loops");
            for order in example::ORDERS {
                ui.selectable_value(&mut self.what_if.order, order, WhatIf::name(order));
            }
            ui.add_space(space::L);
            for block in example::BLOCKS {
                let name = if block == example::N { "whole".to_owned() } else { format!("blocks of {block}") };
                ui.selectable_value(&mut self.what_if.block, block, name);
            }
        });
        kit::code_line_ui(ui, &self.what_if.code());
    }

    fn picture_ui(&mut self, ui: &mut Ui, walk: &Walk, bars: &[(String, f64)], words: &str) {
        let width = ui.available_width();
        let shown: Vec<usize> = (0..walk.arrays.len().min(3)).collect();
        let rows = |index: usize| {
            let last = walk.visits.iter().filter(|v| v.array as usize == index).map(|v| v.element).max().unwrap_or(0);
            (last / walk.arrays[index].2.max(1) + 1).clamp(1, 32) as usize
        };
        let widest: f32 = shown.iter().map(|i| walk.arrays[*i].2.min(32) as f32).sum();
        let cell = ((width - GAP * shown.len() as f32) / widest.max(1.0)).floor().clamp(4.0, 22.0);
        let tallest = shown.iter().map(|i| rows(*i)).max().unwrap_or(1) as f32 * cell;
        let height = TITLE + tallest + space::XL + bars.len() as f32 * BAR + if bars.is_empty() { 0.0 } else { TITLE };
        let canvas = self.step.canvas(ui, vec2(width, height), words, walk.visits.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let at = self.step.within(walk.visits.len());
        let Some(now) = walk.visits.get(at) else { return };
        let cache = walk.cache_at(at);
        let mut x = canvas.rect.left();
        for index in shown {
            let (name, base, columns) = &walk.arrays[index];
            let columns = (*columns).clamp(1, 32) as usize;
            let origin = pos2(x, canvas.rect.top() + TITLE);
            let matrix = Matrix { origin, rows: rows(index), columns, cell };
            // Of the learner's own run only the shape is known.
            let own = || format!("{} x {columns}", rows(index));
            let axes = if bars.is_empty() { own() } else { WhatIf::axes(name).map_or_else(own, str::to_owned) };
            matrix.title(painter, tokens, &format!("{name}: {axes}"));
            matrix.paint(painter, tokens, None, |row, column| {
                let element = (row * columns + column) as u64;
                let line = base.wrapping_add(element * 4) / LINE_BYTES;
                let here = now.array as usize == index && now.element == element;
                let state = match () {
                    () if here && now.miss => State::Fetched,
                    () if here => State::Focus,
                    () if cache.contains(&line) => State::Near,
                    () => State::Empty,
                };
                Element { state, number: None }
            });
            x += columns as f32 * cell + GAP;
        }
        let top = canvas.rect.top() + TITLE + tallest + space::XL;
        self.paint_bars(painter, bars, canvas.rect, top, tokens);
    }

    fn paint_bars(
        &self,
        painter: &egui::Painter,
        bars: &[(String, f64)],
        rect: Rect,
        top: f32,
        tokens: &crate::theme::Tokens,
    ) {
        if bars.is_empty() {
            return;
        }
        let titles = [
            "share of the accesses that must fetch a line, for each order (counted)",
            "accesses that must fetch a line (counted)",
        ];
        let at = pos2(rect.left(), top);
        kit::small_in(painter, at, Align2::LEFT_TOP, rect.width(), &titles, tokens.text);
        let most = bars.iter().map(|(_, share)| *share).fold(1.0, f64::max);
        for (index, (name, share)) in bars.iter().enumerate() {
            let y = top + TITLE + index as f32 * BAR;
            let chosen = *name == WhatIf::name(self.what_if.order);
            let label = pos2(rect.left() + 28.0, y + BAR / 2.0);
            let font = FontId::monospace(font_size::SMALL);
            painter.text(label, Align2::RIGHT_CENTER, name, font, if chosen { tokens.text } else { tokens.text_muted });
            let left = rect.left() + 36.0;
            let length = (rect.width() - 110.0).max(40.0) * (*share / most) as f32;
            let bar = Rect::from_min_size(pos2(left, y + 3.0), vec2(length, BAR - 6.0));
            painter.rect_filled(bar, 2.0, if chosen { tokens.lane_focus } else { tokens.series[0] });
            let text = format!("{share:.0} %");
            kit::small(
                painter,
                pos2(bar.right() + space::S, y + BAR / 2.0),
                Align2::LEFT_CENTER,
                text,
                tokens.text_muted,
            );
        }
    }
}

impl Visualization for Loops {
    kit::head!("loop-order", "Loop order");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = &kit::input_ui(ui, input, self.id());
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        if input.trace.is_none() {
            self.controls_ui(ui);
        }
        let walk = self.walk(trace);
        if walk.visits.is_empty() {
            kit::nothing_ui(ui, "The first traced thread touched no array.");
            return None;
        }
        self.step.ui(ui, walk.visits.len(), "access");
        let words = self.describe(input);
        let bars = if input.trace.is_none() { self.orders() } else { Rc::default() };
        self.picture_ui(ui, &walk, &bars, &words);
        plot_kit::legend(ui, |ui| {
            State::Focus.legend_ui(ui, "this access, found in the cache");
            State::Fetched.legend_ui(ui, "this access, its line fetched");
            State::Near.legend_ui(ui, "in the cache");
        });
        kit::caption_ui(ui, &words);
        ui.add_space(space::M);
        measured::ui(ui, input, self.what_if.order)
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        let walk = self.walk(trace);
        let at = self.step.within(walk.visits.len());
        let Some(visit) = walk.visits.get(at) else {
            return format!("{}. The first traced thread touched no array.", kit::launch_words(trace));
        };
        let (name, _, columns) = &walk.arrays[visit.array as usize];
        let columns = (*columns).max(1);
        let before = walk.visits[..at].iter().rev().find(|earlier| earlier.array == visit.array);
        let moved = before.map_or_else(String::new, |before| match visit.element as i64 - before.element as i64 {
            0 => format!(", the same element of {name} as before"),
            1 => format!(", the next element of {name}"),
            distance => format!(", {distance:+} from the last access to {name}"),
        });
        let accesses = if at == 0 { "1 access".to_owned() } else { format!("{} accesses", at + 1) };
        let found = if visit.miss { "its line has to be fetched" } else { "its line is in the cache" };
        format!(
            "Access {}: {name}[{}], row {}, column {}{moved}; {found}. So far {} fetched for {accesses}; \
             over the whole walk {:.0} % of the accesses fetch a line. The picture's cache holds {LINES} lines of {} elements.",
            at + 1,
            visit.element,
            visit.element / columns,
            visit.element % columns,
            kit::plural(walk.misses(at + 1), "line"),
            walk.miss_percent(),
            LINE_BYTES / 4
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(order: [usize; 3], block: u32) -> f64 {
        Walk::new(&WhatIf { order, block, ..WhatIf::default() }.trace()).miss_percent()
    }

    #[test]
    fn the_innermost_loop_decides() {
        // k innermost walks down a column of B; j innermost walks along rows; i innermost walks down two columns.
        let (ijk, ikj, jki) =
            (share([0, 1, 2], example::N), share([0, 2, 1], example::N), share([1, 2, 0], example::N));
        assert!(ikj < ijk && ijk < jki, "{ikj} {ijk} {jki}");
    }

    #[test]
    fn every_order_does_the_same_accesses() {
        for order in example::ORDERS {
            for block in example::BLOCKS {
                let walk = Walk::new(&WhatIf { order, block, ..WhatIf::default() }.trace());
                assert_eq!(walk.visits.len(), 3 * 8 * 8 * 8, "{order:?} in blocks of {block}");
            }
        }
    }

    #[test]
    fn the_cache_shown_is_the_cache_counted() {
        let walk = Walk::new(&WhatIf::default().trace());
        for at in 1..walk.visits.len() {
            let line = walk.visits[at].address / LINE_BYTES;
            assert_eq!(walk.visits[at].miss, !walk.cache_at(at - 1).contains(&line), "access {at}");
        }
    }
}
