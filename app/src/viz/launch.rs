//! The launch explorer: grid, blocks and threads, and which thread touches which element.

mod example;

use super::example::Memo;
use super::kit::{self, CellLook, Cells};
use super::map::{Map, Mapped, Thread, sites};
use super::model::{self, AccessSite};
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, font_size, space};
use crate::widgets::plot_kit;
use egui::{Align2, FontId, Rect, Stroke, Ui, Vec2, pos2, vec2};
use example::WhatIf;
use gpu_core::emulator::Trace;

/// Rows of threads, and of elements, that are in view at a time; the window follows the selected thread.
const ROWS_IN_VIEW: usize = 8;
/// Room for row labels at the left.
const GUTTER: f32 = 64.0;
const LABEL_HEIGHT: f32 = 20.0;

#[derive(Default)]
pub struct Launch {
    what_if: WhatIf,
    cached: Memo<WhatIf, Trace>,
    mapped: Mapped,
    thread: Stepper,
    /// The trace whose last access, the one that ended the run, was already shown.
    ended: Option<u64>,
}

impl Launch {
    /// Goes to the access and the thread that ended a run, once, and back to the stores after a run that ended well.
    fn follow_end(&mut self, input: &VizInput<'_>) {
        let Some(trace) = input.trace else { return };
        let (now, print) = (input.ended_by, model::fingerprint(trace));
        if now.is_none() && self.ended.take().is_some() {
            self.mapped.site = None;
        }
        let Some(fault) = now.filter(|_| self.ended != Some(print)) else { return };
        self.ended = Some(print);
        let sites = sites(trace);
        let line = fault.source.as_ref().map_or(0, |source| source.line);
        let array = fault.allocation.as_ref().map(|allocation| allocation.name.as_str());
        let is_it =
            |site: &AccessSite| site.line == line && Some(site.kind) == fault.access && Some(&*site.array) == array;
        let Some(site) = sites.iter().position(is_it) else { return };
        self.mapped.site = Some(site);
        let (Some(map), Some(who)) = (self.mapped.map(trace, &sites), fault.thread) else { return };
        let thread = map.threads.iter().position(|t| (t.block, t.thread) == (who.block, who.thread));
        self.thread.jump(thread.unwrap_or(0));
    }

    fn what_if_ui(&mut self, ui: &mut Ui) {
        let what_if = &mut self.what_if;
        ui.horizontal_wrapped(|ui| {
            let label = ui.label("n");
            ui.add(egui::DragValue::new(&mut what_if.n).range(example::SMALLEST_N..=example::LARGEST_N))
                .labelled_by(label.id);
            let shown = egui::ComboBox::from_id_salt("block")
                .width(110.0)
                .selected_text(format!("block size {}", what_if.block))
                .show_ui(ui, |ui| {
                    for size in example::BLOCK_SIZES {
                        ui.selectable_value(&mut what_if.block, size, size.to_string());
                    }
                });
            plot_kit::name_choice(&shown.response, "Block size", &what_if.block.to_string());
            crate::widgets::tick::checkbox(ui, &mut what_if.guard, "bounds check");
            crate::widgets::tick::checkbox(ui, &mut what_if.off_by_one, "off by one")
                .on_hover_text("i is one too large");
            crate::widgets::tick::checkbox(ui, &mut what_if.rounded_down, "grid rounded down")
                .on_hover_text("n / B blocks");
        });
        let source = what_if.source();
        let body = source.lines().skip(1).take(2).map(str::trim).collect::<Vec<_>>().join("\n");
        kit::code_line_ui(ui, &format!("{}\n{body}", what_if.launch_line()));
    }

    fn picture_ui(&mut self, ui: &mut Ui, trace: &Trace, map: &Map, words: &str) {
        let layout = Layout::new(ui.available_width(), trace, map, self.thread.at);
        let canvas = self.thread.canvas(ui, layout.size, words, map.threads.len());
        let tokens = theme::tokens(ui);
        let view = layout.placed(canvas.rect.min);
        let hovered = canvas.response.hover_pos().and_then(|pos| view.hit(pos, map));
        view.paint(&canvas.painter, tokens, trace, map, self.thread.at);
        if let Some(hit) = hovered {
            if canvas.response.clicked()
                && let Some(thread) = hit.thread(map, self.thread.at)
            {
                self.thread.jump(thread);
            }
            canvas.response.on_hover_text_at_pointer(hit.words(trace, map));
        }
    }
}

impl Visualization for Launch {
    kit::head!("launch", "Launch explorer");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = &kit::input_ui(ui, input, self.id());
        self.follow_end(input);
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        if input.trace.is_none() {
            self.what_if_ui(ui);
        }
        let sites = sites(trace);
        let Some(map) = self.mapped.map(trace, &sites) else {
            kit::nothing_ui(ui, "The traced threads touched no array.");
            return None;
        };
        let mut chosen = self.mapped.chosen(&sites);
        let action = kit::sites_ui(ui, input, trace, &sites, &mut chosen);
        if chosen != self.mapped.chosen(&sites) {
            self.mapped.site = Some(chosen);
        }
        self.thread.ui(ui, map.threads.len(), "thread");
        let words = self.describe(input);
        self.picture_ui(ui, trace, &map, &words);
        plot_kit::legend(ui, |ui| {
            kit::legend_cell(ui, CellLook::On, false, "touches an element");
            kit::legend_cell(ui, CellLook::Off, false, "masked off: touches none");
            kit::legend_cell(ui, CellLook::Empty, false, "element never touched");
            if map.touched_more_than_once() > 0 {
                kit::legend_cell(ui, CellLook::Twice, false, "touched by several threads");
            }
            if map.out_of_bounds() > 0 {
                kit::legend_cell(ui, CellLook::Bad, false, "outside the array");
            }
            if !map.is_complete() {
                kit::legend_cell(ui, CellLook::Unknown, false, "not traced");
            }
            kit::legend_cell(ui, CellLook::On, true, "selected");
        });
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        let sites = sites(trace);
        let Some(map) = self.mapped.map(trace, &sites) else {
            return format!("{}. The traced threads touched no array.", kit::launch_words(trace));
        };
        let mut words = Vec::new();
        if let Some(thread) = map.threads.get(self.thread.within(map.threads.len())) {
            words.push(thread_words(trace, &map, thread));
        }
        words.push(summary(&map));
        words.join(" ")
    }
}

/// One thread: how its index comes about and what it touches.
fn thread_words(trace: &Trace, map: &Map, thread: &Thread) -> String {
    let mut words = String::new();
    let mut indices = Vec::new();
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let (block, width, lane) = (thread.block[axis], trace.block[axis], thread.thread[axis]);
        if axis > 0 && trace.grid[axis] <= 1 && width <= 1 {
            continue;
        }
        let index = u64::from(block) * u64::from(width) + u64::from(lane);
        indices.push(index);
        words.push_str(&format!(
            "blockIdx.{name} * blockDim.{name} + threadIdx.{name} = {block} * {width} + {lane} = {index}. "
        ));
    }
    let array = &map.array;
    match thread.elements.as_slice() {
        [] => words.push_str("It touches no element: its lane was masked off when the access ran."),
        [one] => {
            words.push_str(&format!("It touches {array}[{one}]"));
            let shift = indices.first().map(|index| one - *index as i64);
            match (indices.len(), shift) {
                _ if !(0..map.length).contains(one) => {
                    words.push_str(&format!(", outside the array of {}.", kit::plural(map.length as usize, "element")));
                }
                (1, Some(shift)) if shift != 0 => words.push_str(&format!(", {shift:+} from its index.")),
                _ => words.push('.'),
            }
        }
        many => {
            let shown: Vec<String> = many.iter().take(4).map(i64::to_string).collect();
            let more = if many.len() > 4 { ", …" } else { "" };
            words.push_str(&format!("It touches {} elements: {array}[{}{more}].", many.len(), shown.join(", ")));
        }
    }
    words
}

/// The whole launch in two sentences.
fn summary(map: &Map) -> String {
    let (busy, idle) = map.busy_and_idle();
    let array = &map.array;
    let mut words = format!("{busy} of {} traced threads touch {array}", map.threads.len());
    words.push_str(&match idle {
        0 => ". ".to_owned(),
        1 => ", 1 is idle. ".to_owned(),
        more => format!(", {more} are idle. "),
    });
    let mut facts = Vec::new();
    let untouched = map.untouched();
    if map.is_complete() && untouched > 0 {
        facts.push(format!("{untouched} of its {} elements are never touched", map.length));
    } else if map.is_complete() {
        facts.push(if map.length == 1 {
            "its one element is touched".to_owned()
        } else {
            format!("all {} elements are touched", map.length)
        });
    } else {
        facts.push(format!("{} of {} blocks were traced", map.traced_blocks, map.blocks));
    }
    match map.touched_more_than_once() {
        0 => facts.push("none twice".to_owned()),
        more => facts.push(format!("{more} by several threads")),
    }
    if map.out_of_bounds() > 0 {
        let lie =
            if map.out_of_bounds() == 1 { "1 access lies" } else { &format!("{} accesses lie", map.out_of_bounds()) };
        facts.push(format!("{lie} outside it"));
    }
    let facts = facts.join(", ");
    let mut letters = facts.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{words}{first}{}.", letters.as_str())
}

/// What the pointer is on.
enum Hit {
    Block(u64),
    Thread(usize),
    Element(i64),
}

impl Hit {
    /// The thread to select when it is clicked.
    fn thread(&self, map: &Map, now: usize) -> Option<usize> {
        match self {
            Hit::Block(block) => map.threads.iter().position(|thread| thread.block_linear == *block),
            Hit::Thread(thread) => Some(*thread),
            // Clicking again walks through the threads that share an element.
            Hit::Element(element) => {
                let threads: Vec<usize> = map.threads_of(*element).collect();
                let next = threads.iter().copied().find(|thread| *thread > now);
                next.or(threads.first().copied())
            }
        }
    }

    fn words(&self, trace: &Trace, map: &Map) -> String {
        match self {
            Hit::Block(block) => {
                let traced = map.threads.iter().any(|thread| thread.block_linear == *block);
                format!("Block {block}{}", if traced { "" } else { ", not traced" })
            }
            Hit::Thread(index) => map.threads.get(*index).map_or_else(String::new, |thread| {
                let at = model::coordinates(thread.thread, trace.block);
                format!(
                    "Thread {at} of block {}, lane {} of warp {}\n{}",
                    model::coordinates(thread.block, trace.grid),
                    thread.linear % model::LANES,
                    thread.linear / model::LANES,
                    thread_words(trace, map, thread)
                )
            }),
            Hit::Element(element) => {
                let count = map.touches.get(element).copied().unwrap_or(0);
                let who = match count {
                    0 if map.is_complete() => "never touched".to_owned(),
                    0 => "not touched by the traced blocks".to_owned(),
                    count => format!("touched by {}", kit::plural(count as usize, "thread")),
                };
                let place = if (0..map.length).contains(element) { "" } else { ", outside the array" };
                format!("{}[{element}]{place}: {who}", map.array)
            }
        }
    }
}

/// Sizes and windows of the three parts.
struct Layout {
    size: Vec2,
    blocks: Cells,
    first_block: u64,
    threads: Cells,
    /// Index into [`Map::threads`] of the block's first thread.
    first_thread: usize,
    first_thread_row: usize,
    thread_rows: usize,
    elements: Cells,
    first_element: i64,
}

impl Layout {
    fn new(width: f32, trace: &Trace, map: &Map, selected: usize) -> Self {
        let room = (width - GUTTER).max(64.0);
        let tile = vec2(38.0, 24.0);
        let per_row = ((room / tile.x) as usize).clamp(1, 32);
        let thread = map.threads.get(selected.min(map.threads.len().saturating_sub(1)));
        let block = thread.map_or(0, |thread| thread.block_linear);
        // Two rows of blocks, with the selected one in view.
        let first_block = (block / per_row as u64).saturating_sub(1) * per_row as u64;
        let shown_blocks = (map.blocks.saturating_sub(first_block)).min(2 * per_row as u64) as usize;

        let flat = trace.block[1] <= 1 && trace.block[2] <= 1;
        let columns = if flat || trace.block[0] > 64 { 32 } else { trace.block[0].max(1) as usize };
        let side = |columns: usize| (room / columns as f32).floor().clamp(5.0, 20.0);
        let first_thread = map.threads.iter().position(|t| t.block_linear == block).unwrap_or(0);
        let in_block = map.threads.iter().filter(|t| t.block_linear == block).count();
        let thread_rows = in_block.div_ceil(columns);
        let selected_row = selected.saturating_sub(first_thread) / columns;
        let first_thread_row = window(selected_row, thread_rows);
        let shown_threads = (in_block - (first_thread_row * columns).min(in_block)).min(columns * ROWS_IN_VIEW);

        let fits = |length: i64| (2..=(room / 5.0) as i64).contains(&length);
        let element_columns = map.row_length.filter(|length| fits(*length)).map_or(32, |length| length as usize);
        let here = thread.and_then(|thread| thread.elements.first().copied()).unwrap_or_else(|| {
            // An idle thread shows the end of the array, where idle threads would go.
            if selected == 0 { 0 } else { map.length - 1 }
        });
        let highest = map.touches.keys().copied().max().unwrap_or(0).max(map.length - 1);
        let rows = (highest.max(0) as usize / element_columns) + 1;
        let first_row = window((here.max(0) as usize) / element_columns, rows);
        let first_element = (first_row * element_columns) as i64;
        let shown_elements = ((highest + 1 - first_element).max(1) as usize).min(element_columns * ROWS_IN_VIEW);

        let cells = |columns: usize, cell: Vec2, count: usize| Cells { origin: pos2(0.0, 0.0), columns, cell, count };
        let mut layout = Self {
            size: Vec2::ZERO,
            blocks: cells(per_row, tile, shown_blocks.max(1)),
            first_block,
            threads: cells(columns, Vec2::splat(side(columns)), shown_threads.max(1)),
            first_thread,
            first_thread_row,
            thread_rows,
            elements: cells(element_columns, Vec2::splat(side(element_columns)), shown_elements),
            first_element,
        };
        let mut y = LABEL_HEIGHT;
        for part in [&mut layout.blocks, &mut layout.threads, &mut layout.elements] {
            part.origin = pos2(GUTTER, y);
            y += part.size().y + LABEL_HEIGHT + space::M;
        }
        layout.size = vec2(width.max(GUTTER + 64.0), y - LABEL_HEIGHT);
        layout
    }

    fn placed(mut self, at: egui::Pos2) -> Self {
        for part in [&mut self.blocks, &mut self.threads, &mut self.elements] {
            part.origin += at.to_vec2();
        }
        self
    }

    fn hit(&self, pos: egui::Pos2, map: &Map) -> Option<Hit> {
        if let Some(index) = self.blocks.at(pos) {
            return Some(Hit::Block(self.first_block + index as u64));
        }
        if let Some(index) = self.threads.at(pos) {
            let thread = self.first_thread + self.first_thread_row * self.threads.columns + index;
            return (thread < map.threads.len()).then_some(Hit::Thread(thread));
        }
        self.elements.at(pos).map(|index| Hit::Element(self.first_element + index as i64))
    }

    fn paint(&self, painter: &egui::Painter, tokens: &Tokens, trace: &Trace, map: &Map, selected: usize) {
        let selected = selected.min(map.threads.len().saturating_sub(1));
        let thread = map.threads.get(selected);
        self.paint_blocks(painter, tokens, trace, map, thread);
        let from = self.paint_threads(painter, tokens, trace, map, selected);
        let to = self.paint_elements(painter, tokens, map, thread);
        // Behind the caption that it crosses.
        self.paint_ways(painter, tokens, from, &to);
        self.paint_elements_caption(painter, tokens, map);
    }

    /// From the selected thread to each of its elements.
    fn paint_ways(&self, painter: &egui::Painter, tokens: &Tokens, from: Option<Rect>, to: &[Rect]) {
        let Some(from) = from else { return };
        for to in to {
            let (a, b) = (from.center_bottom(), to.center_top());
            let mid = (a.y + b.y) / 2.0;
            let curve = egui::epaint::CubicBezierShape::from_points_stroke(
                [a, pos2(a.x, mid), pos2(b.x, mid), b],
                false,
                egui::Color32::TRANSPARENT,
                Stroke::new(2.0, tokens.lane_focus),
            );
            painter.add(curve);
        }
    }

    fn paint_blocks(
        &self,
        painter: &egui::Painter,
        tokens: &Tokens,
        trace: &Trace,
        map: &Map,
        selected: Option<&Thread>,
    ) {
        let top = self.blocks.origin - vec2(GUTTER, LABEL_HEIGHT);
        let label = format!("Grid of {}", kit::plural(map.blocks as usize, "block"));
        kit::small(painter, top, Align2::LEFT_TOP, label, tokens.text);
        for index in 0..self.blocks.count {
            let linear = self.first_block + index as u64;
            let traced = map.threads.iter().any(|thread| thread.block_linear == linear);
            let busy = map.threads.iter().any(|t| t.block_linear == linear && !t.elements.is_empty());
            let look = match (traced, busy) {
                (true, true) => CellLook::On,
                (true, false) => CellLook::Off,
                (false, _) => CellLook::Unknown,
            };
            let rect = self.blocks.rect(index);
            let focus = selected.is_some_and(|thread| thread.block_linear == linear);
            kit::paint_cell(painter, tokens, rect, look, focus);
            let [x, y, _] = trace.grid.map(|d| u64::from(d.max(1)));
            let at = [(linear % x) as u32, (linear / x % y) as u32, (linear / (x * y)) as u32];
            let text = model::coordinates(at, trace.grid).replace(['(', ')', ' '], "");
            kit::small(painter, rect.center(), Align2::CENTER_CENTER, text, kit::on_cell(tokens, look));
        }
    }

    /// Returns where the selected thread is.
    fn paint_threads(
        &self,
        painter: &egui::Painter,
        tokens: &Tokens,
        trace: &Trace,
        map: &Map,
        selected: usize,
    ) -> Option<Rect> {
        let top = self.threads.origin - vec2(GUTTER, LABEL_HEIGHT);
        let block = map.threads.get(self.first_thread)?.block;
        let mut label = format!("Threads of block {}", model::coordinates(block, trace.grid));
        if self.thread_rows > ROWS_IN_VIEW {
            let last = (self.first_thread_row + ROWS_IN_VIEW).min(self.thread_rows);
            label.push_str(&format!(", rows {} to {last} of {}", self.first_thread_row + 1, self.thread_rows));
        }
        kit::small(painter, top, Align2::LEFT_TOP, label, tokens.text);
        self.threads.paint_column_numbers(painter, tokens);
        let mut place = None;
        for index in 0..self.threads.count {
            let at = self.first_thread + self.first_thread_row * self.threads.columns + index;
            let Some(thread) = map.threads.get(at) else { break };
            let bad = thread.elements.iter().any(|element| !(0..map.length).contains(element));
            let look = match (thread.elements.is_empty(), bad) {
                (true, _) => CellLook::Off,
                (false, true) => CellLook::Bad,
                (false, false) => CellLook::On,
            };
            let rect = self.threads.rect(index);
            if self.threads.is_labelled(index) {
                let text = if trace.block[1] > 1 {
                    format!("y = {}", thread.thread[1])
                } else {
                    format!("warp {}", thread.linear / model::LANES)
                };
                let at = rect.left_center() - vec2(space::S, 0.0);
                kit::small(painter, at, Align2::RIGHT_CENTER, text, tokens.text_muted);
            }
            kit::paint_cell(painter, tokens, rect, look, at == selected);
            if at == selected {
                place = Some(rect);
            }
        }
        place
    }

    /// Returns where the selected thread's elements are.
    fn paint_elements(
        &self,
        painter: &egui::Painter,
        tokens: &Tokens,
        map: &Map,
        selected: Option<&Thread>,
    ) -> Vec<Rect> {
        let mut places = Vec::new();
        for index in 0..self.elements.count {
            let element = self.first_element + index as i64;
            let count = map.touches.get(&element).copied().unwrap_or(0);
            let look = match (count, (0..map.length).contains(&element)) {
                (0, true) if map.is_complete() => CellLook::Empty,
                (0, true) => CellLook::Unknown,
                (0, false) => continue,
                (_, false) => CellLook::Bad,
                (1, true) => CellLook::On,
                (_, true) => CellLook::Twice,
            };
            let rect = self.elements.rect(index);
            if self.elements.is_labelled(index) {
                let at = rect.left_center() - vec2(space::S, 0.0);
                kit::small(painter, at, Align2::RIGHT_CENTER, element, tokens.text_muted);
            }
            let focus = selected.is_some_and(|thread| thread.elements.contains(&element));
            kit::paint_cell(painter, tokens, rect, look, focus);
            if focus && places.len() < 8 {
                places.push(rect);
            }
        }
        places
    }

    /// On a ground of its own: the way to an element may lead behind it.
    fn paint_elements_caption(&self, painter: &egui::Painter, tokens: &Tokens, map: &Map) {
        let top = self.elements.origin - vec2(GUTTER, LABEL_HEIGHT);
        let mut label = format!("Elements of {} ({} in all)", map.array, map.length);
        let last = self.first_element + self.elements.count as i64 - 1;
        if self.first_element > 0 || last < map.length - 1 {
            label.push_str(&format!(", {} to {last} shown", self.first_element));
        }
        let galley = painter.layout_no_wrap(label, FontId::proportional(font_size::SMALL), tokens.text);
        let place = Rect::from_min_size(top, galley.size()).expand2(vec2(2.0, 0.0));
        painter.rect_filled(place, 0.0, tokens.inset);
        painter.galley(top, galley, tokens.text);
    }
}

/// First row of a window of [`ROWS_IN_VIEW`] rows that holds `row`.
fn window(row: usize, rows: usize) -> usize {
    if rows <= ROWS_IN_VIEW {
        return 0;
    }
    row.saturating_sub(ROWS_IN_VIEW / 2).min(rows - ROWS_IN_VIEW)
}

#[cfg(test)]
mod tests;
