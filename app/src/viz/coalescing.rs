//! Coalescing: the lanes of one load or store, and the 32-byte sectors of memory that serve them.

mod example;

use super::example::Memo;
use super::kit::{self, CellLook, LaneRow};
use super::model::{self, AccessSite, LINE_BYTES, SECTOR_BYTES};
use super::requests::Sites;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Color32, Rect, Stroke, StrokeKind, Ui, Vec2, pos2, vec2};
use example::WhatIf;
use gpu_core::emulator::{AccessKind, Space, Step, Trace};

/// Widest drawing of one 4-byte word.
const WORD: f32 = 11.0;
const WORDS_PER_SECTOR: u64 = SECTOR_BYTES / 4;
const SECTORS_PER_LINE: u64 = LINE_BYTES / SECTOR_BYTES;
const SECTOR_HEIGHT: f32 = 24.0;
const ROW_GAP: f32 = 20.0;
/// Between the lanes and the memory, for the connecting lines.
const WIRES: f32 = 70.0;

pub struct Coalescing {
    what_if: WhatIf,
    cached: Memo<WhatIf, Trace>,
    sites: Sites,
    /// Bytes that all requests of a site want and fetch, by fingerprint of the trace and number of the site.
    bytes: Memo<(u64, usize), (u64, u64)>,
    /// None takes the first load.
    site: Option<usize>,
    request: Stepper,
    lane: Option<u32>,
}

impl Default for Coalescing {
    fn default() -> Self {
        Self {
            what_if: WhatIf::default(),
            cached: Memo::default(),
            sites: Sites::new(
                |space| matches!(space, Space::Global | Space::Generic),
                |step| model::sectors(step).len(),
            ),
            bytes: Memo::default(),
            site: None,
            request: Stepper::default(),
            lane: None,
        }
    }
}

/// What one request of a warp costs.
struct Cost {
    /// Bytes that lanes asked for, each byte counted once even where several lanes want it.
    wanted: u64,
    sectors: usize,
    /// The fewest sectors that could hold as many bytes.
    fewest: usize,
}

impl Cost {
    fn of(step: &Step) -> Self {
        let sectors = model::sectors(step);
        let bytes = step.access.as_ref().map_or(0, |access| u64::from(access.bytes));
        let mut ranges: Vec<(u64, u64)> =
            model::lane_addresses(step).map(|(_, address)| (address, address.saturating_add(bytes))).collect();
        ranges.sort_unstable();
        let mut wanted = 0;
        let mut end = 0;
        for (from, to) in ranges {
            wanted += to.saturating_sub(from.max(end));
            end = end.max(to);
        }
        Self { wanted, sectors: sectors.len(), fewest: wanted.div_ceil(SECTOR_BYTES) as usize }
    }

    fn used_percent(&self) -> f64 {
        100.0 * self.wanted as f64 / (self.sectors.max(1) as u64 * SECTOR_BYTES) as f64
    }
}

impl Coalescing {
    fn chosen_site(&self, sites: &[AccessSite]) -> usize {
        let load = || sites.iter().position(|site| site.kind == AccessKind::Read);
        self.site.unwrap_or_else(|| load().unwrap_or(0)).min(sites.len().saturating_sub(1))
    }

    fn what_if_ui(&mut self, ui: &mut Ui) {
        let what_if = &mut self.what_if;
        ui.horizontal_wrapped(|ui| {
            let choice = |ui: &mut Ui, name: &str, shown: String, options: &mut dyn FnMut(&mut Ui)| {
                let response = egui::ComboBox::from_id_salt(name)
                    .width(96.0)
                    .selected_text(shown.clone())
                    .show_ui(ui, |ui| options(ui))
                    .response;
                plot_kit::name_choice(&response, name, &shown);
            };
            choice(ui, "Stride", format!("stride {}", what_if.stride), &mut |ui| {
                for stride in example::STRIDES {
                    ui.selectable_value(&mut what_if.stride, stride, stride.to_string());
                }
            });
            let name = |bytes| example::WIDTHS.iter().find(|(b, _)| *b == bytes).map_or("", |(_, name)| *name);
            choice(ui, "Type", name(what_if.bytes).to_owned(), &mut |ui| {
                for (bytes, name) in example::WIDTHS {
                    ui.selectable_value(&mut what_if.bytes, bytes, name);
                }
            });
            let label = ui.label("offset");
            ui.add(egui::DragValue::new(&mut what_if.offset).range(0..=example::LARGEST_OFFSET)).labelled_by(label.id);
            crate::widgets::tick::checkbox(ui, &mut what_if.reversed, "lanes reversed");
        });
        let source = what_if.source();
        let body: Vec<&str> = source.lines().skip(1).take(2).map(str::trim).collect();
        kit::code_line_ui(ui, &body.join("\n"));
    }

    fn picture_ui(&mut self, ui: &mut Ui, trace: &Trace, step: &Step, requests: usize, words: &str) {
        let width = ui.available_width();
        let memory = Memory::new(step, width);
        let lanes_height = 22.0 + 16.0;
        let canvas = self.request.canvas(ui, vec2(width, lanes_height + WIRES + memory.size.y), words, requests);
        let tokens = theme::tokens(ui);
        let origin = canvas.rect.min;
        let row = LaneRow::new(pos2(origin.x, origin.y + 16.0), width);
        let memory = memory.placed(pos2(origin.x, origin.y + lanes_height + WIRES));
        let hovered = canvas.response.hover_pos();
        let lane = hovered.and_then(|pos| row.cells.at(pos)).map(|lane| lane as u32);
        let word = hovered.and_then(|pos| memory.word_at(pos));
        if canvas.response.clicked() {
            self.lane = if lane == self.lane { None } else { lane };
        }
        let focus = lane.or(self.lane);
        let painter = &canvas.painter;
        kit::small(painter, origin, Align2::LEFT_TOP, "lanes of the warp", tokens.text_muted);
        memory.paint(painter, tokens, step, focus);
        for (lane, address) in model::lane_addresses(step) {
            let Some(target) = memory.rect_of(address) else { continue };
            let chosen = focus == Some(lane);
            // With many lines of memory the wires would hide it; then only the chosen lane keeps its wire.
            if memory.rows > 1 && !chosen {
                continue;
            }
            let color = if chosen { tokens.lane_focus } else { tokens.lane_on.gamma_multiply(0.55) };
            wire(painter, row.rect(lane).center_bottom(), target.center_top(), color, if chosen { 2.5 } else { 1.0 });
        }
        for lane in 0..model::LANES {
            let look = if step.mask >> lane & 1 == 1 { CellLook::On } else { CellLook::Off };
            row.paint(painter, tokens, lane, look, focus == Some(lane));
        }
        let text = match (lane, word) {
            (Some(lane), _) => lane_words(trace, step, lane),
            (None, Some(address)) => memory_words(trace, step, address),
            (None, None) => return,
        };
        canvas.response.on_hover_text_at_pointer(text);
    }
}

impl Visualization for Coalescing {
    kit::head!("coalescing", "Coalescing");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = &kit::input_ui(ui, input, self.id());
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        if input.trace.is_none() {
            self.what_if_ui(ui);
        }
        let sites = self.sites.of(trace);
        let mut chosen = self.chosen_site(&sites);
        let action = kit::sites_ui(ui, input, trace, &sites, &mut chosen);
        if chosen != self.chosen_site(&sites) {
            self.site = Some(chosen);
            self.request.jump(0);
        }
        let requests = self.sites.chosen(trace, chosen).map(|(_, requests)| requests);
        let count = requests.as_ref().map_or(0, |requests| requests.count());
        self.request.ui(ui, count, "request");
        let Some((_, step)) = requests.and_then(|requests| requests.get(trace, self.request.at)) else {
            kit::nothing_ui(ui, "The traced warps made no request to global memory.");
            return action;
        };
        let words = self.describe(input);
        self.picture_ui(ui, trace, step, count, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.lane_on, "4 bytes that a lane wants");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.lane_off, "fetched with it, unused");
            kit::legend_cell(ui, CellLook::Empty, false, "sector of the same line, not fetched");
        });
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        let nothing = || format!("{}. The traced warps made no request to global memory.", kit::launch_words(trace));
        let number = self.chosen_site(&self.sites.of(trace));
        let Some((site, requests)) = self.sites.chosen(trace, number) else { return nothing() };
        let at = self.request.within(requests.count());
        let Some((warp, step)) = requests.get(trace, at) else { return nothing() };
        let cost = Cost::of(step);
        let (wanted, fetched) = self
            .bytes
            .get(&(model::fingerprint(trace), number), |_| {
                let costs = (0..requests.count()).filter_map(|at| Some(Cost::of(requests.get(trace, at)?.1)));
                costs.fold((0, 0), |(wanted, fetched), cost| {
                    (wanted + cost.wanted, fetched + cost.sectors as u64 * SECTOR_BYTES)
                })
            })
            .as_ref()
            .to_owned();
        let unused = fetched.saturating_sub(wanted);
        let judgement = if cost.sectors <= cost.fewest {
            "No request for as many bytes can do with fewer.".to_owned()
        } else {
            format!("{} would do if the bytes lay together.", kit::plural(cost.fewest, "sector"))
        };
        format!(
            "Block {}, warp {}, {}: {} want {} bytes and {} fetched, {} bytes; {:.0} % of them are used. {judgement} \
             Over all {}: {:.1} sectors a request, and {} of {} fetched bytes are not used.",
            model::coordinates(warp.block, trace.grid),
            warp.warp,
            site.label(),
            kit::plural(step.mask.count_ones() as usize, "lane"),
            cost.wanted,
            match cost.sectors {
                1 => "1 sector is".to_owned(),
                sectors => format!("{sectors} sectors are"),
            },
            cost.sectors as u64 * SECTOR_BYTES,
            cost.used_percent(),
            kit::plural(requests.count(), "traced request"),
            requests.cost() as f64 / requests.count().max(1) as f64,
            unused,
            fetched
        )
    }
}

/// The 128-byte lines that a request touches, in rows.
struct Memory {
    /// Line numbers (address divided by 128), ascending.
    lines: Vec<u64>,
    sectors: Vec<(u64, u32)>,
    per_row: usize,
    rows: usize,
    word: f32,
    line_width: f32,
    origin: egui::Pos2,
    size: Vec2,
}

impl Memory {
    fn new(step: &Step, width: f32) -> Self {
        let sectors = model::sectors(step);
        let mut lines: Vec<u64> = sectors.iter().map(|(sector, _)| sector / SECTORS_PER_LINE).collect();
        lines.dedup();
        // As large as fits for a few lines, small for many.
        let gap = space::L;
        let words = (SECTORS_PER_LINE * WORDS_PER_SECTOR) as f32;
        let wanted = lines.len().clamp(1, 4) as f32;
        let word = ((width - gap * (wanted - 1.0)) / wanted / words).floor().clamp(4.0, WORD);
        let line_width = word * words + gap;
        let per_row = (((width + gap) / line_width) as usize).max(1);
        let rows = lines.len().div_ceil(per_row);
        let height = rows as f32 * (SECTOR_HEIGHT + ROW_GAP);
        Self { lines, sectors, per_row, rows, word, line_width, origin: pos2(0.0, 0.0), size: vec2(width, height) }
    }

    fn placed(mut self, origin: egui::Pos2) -> Self {
        self.origin = origin;
        self
    }

    fn line_rect(&self, index: usize) -> Rect {
        let x = (index % self.per_row) as f32 * self.line_width;
        let y = (index / self.per_row) as f32 * (SECTOR_HEIGHT + ROW_GAP);
        Rect::from_min_size(self.origin + vec2(x, y), vec2(self.line_width - space::L, SECTOR_HEIGHT))
    }

    fn word_rect(&self, line: usize, word: u64) -> Rect {
        let rect = self.line_rect(line);
        let x = rect.left() + word as f32 * self.word;
        Rect::from_min_size(pos2(x, rect.top()), vec2(self.word, SECTOR_HEIGHT))
    }

    /// Where the word at an address is drawn.
    fn rect_of(&self, address: u64) -> Option<Rect> {
        let line = self.lines.binary_search(&(address / LINE_BYTES)).ok()?;
        Some(self.word_rect(line, address % LINE_BYTES / 4))
    }

    /// The address of the word under a position.
    fn word_at(&self, pos: egui::Pos2) -> Option<u64> {
        let line = (0..self.lines.len()).find(|line| self.line_rect(*line).contains(pos))?;
        let word = ((pos.x - self.line_rect(line).left()) / self.word) as u64;
        self.lines[line].checked_mul(LINE_BYTES)?.checked_add(word * 4)
    }

    fn paint(&self, painter: &egui::Painter, tokens: &Tokens, step: &Step, focus: Option<u32>) {
        let bytes = step.access.as_ref().map_or(4, |access| u64::from(access.bytes.max(1)));
        for (index, line) in self.lines.iter().enumerate() {
            let rect = self.line_rect(index);
            for sector in 0..SECTORS_PER_LINE {
                let number = line * SECTORS_PER_LINE + sector;
                let lanes = self.sectors.binary_search_by_key(&number, |(s, _)| *s).ok();
                let left = self.word_rect(index, sector * WORDS_PER_SECTOR);
                let right = self.word_rect(index, (sector + 1) * WORDS_PER_SECTOR - 1);
                let area = left.union(right).shrink2(vec2(0.75, 0.0));
                if lanes.is_none() {
                    painter.rect_stroke(area, 2.0, Stroke::new(1.0, tokens.border), StrokeKind::Inside);
                    continue;
                }
                painter.rect_filled(area, 2.0, tokens.lane_off);
                painter.rect_stroke(area, 2.0, Stroke::new(1.0, tokens.border_strong), StrokeKind::Outside);
            }
            let last = rect.right();
            let short = format!("cache line {}", index + 1);
            let whole = format!("{short}: 4 sectors of 32 bytes");
            let texts: &[&str] = if index == 0 { &[whole.as_str(), short.as_str()] } else { &[short.as_str()] };
            let at = pos2((rect.left() + last) / 2.0, rect.bottom() + 2.0);
            kit::small_in(painter, at, Align2::CENTER_TOP, rect.width(), texts, tokens.text_faint);
        }
        for (lane, address) in model::lane_addresses(step) {
            for part in (0..bytes).step_by(4) {
                let Some(rect) = self.rect_of(address.saturating_add(part)) else { continue };
                let color = if focus == Some(lane) { tokens.lane_focus } else { tokens.lane_on };
                painter.rect_filled(rect.shrink2(vec2(0.75, 3.0)), 1.0, color);
            }
        }
    }
}

/// A smooth line from a lane to its data.
pub(super) fn wire(painter: &egui::Painter, from: egui::Pos2, to: egui::Pos2, color: Color32, width: f32) {
    let mid = (from.y + to.y) / 2.0;
    painter.add(egui::epaint::CubicBezierShape::from_points_stroke(
        [from, pos2(from.x, mid), pos2(to.x, mid), to],
        false,
        Color32::TRANSPARENT,
        Stroke::new(width, color),
    ));
}

/// `x[12], byte 48 of x` for an address.
pub(super) fn place_words(trace: &Trace, step: &Step, address: u64) -> String {
    let Some(access) = &step.access else { return format!("address {address:#x}") };
    match model::allocation(trace, access) {
        Some(array) => {
            let offset = address.wrapping_sub(array.base) as i64;
            let element = offset.div_euclid(i64::from(access.bytes.max(1)));
            format!("{}[{element}], byte {offset} of {}", array.name, array.name)
        }
        None => format!("address {address:#x}"),
    }
}

fn lane_words(trace: &Trace, step: &Step, lane: u32) -> String {
    match model::lane_addresses(step).find(|(l, _)| *l == lane) {
        Some((_, address)) => format!("Lane {lane} wants {}", place_words(trace, step, address)),
        None => format!("Lane {lane} takes no part in this request"),
    }
}

fn memory_words(trace: &Trace, step: &Step, address: u64) -> String {
    let sector = address / SECTOR_BYTES;
    let lanes = model::sectors(step).into_iter().find(|(s, _)| *s == sector).map_or(0, |(_, lanes)| lanes);
    let who = match lanes.count_ones() {
        0 => "this sector is not fetched".to_owned(),
        count => format!("this sector serves {}", kit::plural(count as usize, "lane")),
    };
    format!("{}: {who}", place_words(trace, step, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sectors_per_request(what_if: &WhatIf) -> f64 {
        let trace = what_if.trace();
        let sites = Coalescing::default().sites.of(&trace);
        let load = sites.iter().find(|site| site.kind == AccessKind::Read).expect("a load");
        let executions = model::executions(&trace, load);
        executions.iter().map(|e| model::sectors(e.step).len() as f64).sum::<f64>() / executions.len() as f64
    }

    #[test]
    fn the_example_costs_what_the_hardware_would() {
        let base = WhatIf { stride: 1, offset: 0, bytes: 4, reversed: false };
        for (what_if, expected) in [
            (base.clone(), 4.0),
            (WhatIf { reversed: true, ..base.clone() }, 4.0),
            (WhatIf { offset: 1, ..base.clone() }, 5.0),
            (WhatIf { offset: 8, ..base.clone() }, 4.0),
            (WhatIf { stride: 2, ..base.clone() }, 8.0),
            (WhatIf { stride: 32, ..base.clone() }, 32.0),
            (WhatIf { stride: 0, ..base.clone() }, 1.0),
            (WhatIf { bytes: 16, ..base }, 16.0),
        ] {
            assert!((sectors_per_request(&what_if) - expected).abs() < 1e-9, "{what_if:?}");
        }
    }

    #[test]
    fn bytes_wanted_by_several_lanes_count_once() {
        let trace = WhatIf { stride: 0, ..WhatIf::default() }.trace();
        let sites = Coalescing::default().sites.of(&trace);
        let step = model::executions(&trace, &sites[0])[0].step;
        let cost = Cost::of(step);
        assert_eq!((cost.wanted, cost.sectors, cost.fewest), (4, 1, 1));
    }
}
