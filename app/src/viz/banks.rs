//! Bank conflicts: the lanes of one access to shared memory, the 32 banks, and the passes that it takes.

mod example;

use super::coalescing::{place_words, wire};
use super::example::Memo;
use super::kit::{self, CellLook, LaneRow};
use super::model::{self, AccessSite, BANK_BYTES, BANKS, Pass};
use super::requests::{Requests, Sites};
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};
use example::{Pattern, WhatIf};
use gpu_core::emulator::{Space, Step, Trace};

const LABEL: f32 = 16.0;
const WIRES: f32 = 56.0;
const PASS_HEIGHT: f32 = 8.0;
const GUTTER: f32 = 56.0;

pub struct Banks {
    what_if: WhatIf,
    cached: Memo<WhatIf, Trace>,
    sites: Sites,
    site: usize,
    /// Counts the passes of all requests of the site, one after the other.
    pass: Stepper,
    /// The run whose worst site was looked up.
    seen: Option<u64>,
}

impl Default for Banks {
    fn default() -> Self {
        Self {
            what_if: WhatIf::default(),
            cached: Memo::default(),
            sites: Sites::new(
                |space| matches!(space, Space::Shared | Space::Cluster),
                |step| model::passes(step).len(),
            ),
            site: 0,
            pass: Stepper::default(),
            seen: None,
        }
    }
}

/// The site that loses most passes to conflicts; the first where none does.
fn worst(trace: &Trace, sites: &[AccessSite]) -> usize {
    let lost = |site: &AccessSite| -> usize {
        let requests = model::executions(trace, site).into_iter().map(|execution| execution.step);
        requests.map(|step| model::passes(step).len().saturating_sub(model::fewest_passes(step))).sum()
    };
    let most = sites.iter().map(lost).enumerate().rev().max_by_key(|(_, lost)| *lost);
    most.map_or(0, |(site, _)| site)
}

/// A request with its passes, and where the stepper is in it.
struct Moment<'a> {
    step: &'a Step,
    passes: Vec<Pass>,
    /// Pass within the request.
    pass: usize,
    request: usize,
}

/// The request and pass at a position in the sequence of all passes.
fn moment<'a>(trace: &'a Trace, requests: &Requests, at: usize) -> Option<Moment<'a>> {
    let (request, pass) = requests.at_cost(at)?;
    let (_, step) = requests.get(trace, request)?;
    Some(Moment { step, passes: model::passes(step), pass, request })
}

impl Banks {
    fn what_if_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            for pattern in Pattern::ALL {
                ui.selectable_value(&mut self.what_if.pattern, pattern, pattern.title());
            }
        });
        kit::code_line_ui(ui, &self.what_if.code());
    }

    fn picture_ui(&mut self, ui: &mut Ui, trace: &Trace, moment: &Moment<'_>, count: usize, words: &str) {
        let width = ui.available_width();
        let rows = moment.passes.len().min(32);
        let lanes_top = LABEL;
        let banks_top = lanes_top + 22.0 + WIRES;
        let passes_top = banks_top + 22.0 + LABEL + space::M;
        let height = passes_top + rows as f32 * PASS_HEIGHT + LABEL;
        let canvas = self.pass.canvas(ui, vec2(width, height), words, count);
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let origin = canvas.rect.min;
        let left = origin.x + GUTTER;
        let lanes = LaneRow::new(pos2(left, origin.y + lanes_top), width - GUTTER);
        let banks = LaneRow::new(pos2(left, origin.y + banks_top), width - GUTTER);
        let label = |y: f32, text: &str| {
            kit::small(painter, pos2(left - space::S, y), Align2::RIGHT_CENTER, text, tokens.text_muted);
        };
        label(lanes.rect(0).center().y, "lanes");
        label(banks.rect(0).center().y, "banks");

        let step = moment.step;
        let now = &moment.passes[moment.pass];
        let served: u32 = moment.passes[..moment.pass].iter().fold(0, |mask, pass| mask | pass.lanes);
        let bytes = step.access.as_ref().map_or(4, |access| u64::from(access.bytes.max(1)));
        for (lane, address) in model::lane_addresses(step).filter(|(lane, _)| now.lanes >> lane & 1 == 1) {
            for word in address / BANK_BYTES..=address.saturating_add(bytes - 1) / BANK_BYTES {
                if now.words.contains(&(word % BANKS, word)) {
                    let bank = (word % BANKS) as u32;
                    let (from, to) = (lanes.rect(lane).center_bottom(), banks.rect(bank).center_top());
                    wire(painter, from, to, tokens.lane_on, 1.5);
                }
            }
        }
        for lane in 0..model::LANES {
            let look = match () {
                () if now.lanes >> lane & 1 == 1 => CellLook::On,
                () if step.mask >> lane & 1 == 0 => CellLook::Off,
                () if served >> lane & 1 == 1 => CellLook::Unknown,
                () => CellLook::Empty,
            };
            lanes.paint(painter, tokens, lane, look, false);
        }
        let demand = demand(step);
        let conflicts = moment.passes.len() > model::fewest_passes(step);
        for bank in 0..BANKS as u32 {
            let works = now.words.iter().any(|(b, _)| *b == u64::from(bank));
            let look = if works { CellLook::On } else { CellLook::Unknown };
            banks.paint(painter, tokens, bank, look, false);
            // How many different words are wanted from the bank: the length of its queue.
            let rect = banks.rect(bank);
            if demand[bank as usize] > 1 && rect.width() >= 14.0 {
                let at = rect.center_bottom() + vec2(0.0, 1.0);
                let text = format!("x{}", demand[bank as usize]);
                let color = if conflicts { tokens.warn } else { tokens.text_faint };
                kit::small(painter, at, Align2::CENTER_TOP, text, color);
            }
        }
        let chart = Rect::from_min_size(
            pos2(left, origin.y + passes_top),
            vec2(lanes.cells.cell.x * model::LANES as f32, rows as f32 * PASS_HEIGHT),
        );
        paint_passes(painter, tokens, moment, chart, lanes.cells.cell.x);
        label(chart.top() + PASS_HEIGHT / 2.0, "pass 1");
        if rows > 1 {
            label(chart.bottom() - PASS_HEIGHT / 2.0, &moment.passes.len().to_string());
        }
        let Some(pos) = canvas.response.hover_pos() else { return };
        let text = if let Some(lane) = lanes.cells.at(pos) {
            match model::lane_addresses(step).find(|(l, _)| *l as usize == lane) {
                Some((_, address)) => {
                    let bank = address / BANK_BYTES % BANKS;
                    format!("Lane {lane} wants {}: bank {bank}", place_words(trace, step, address))
                }
                None => format!("Lane {lane} takes no part"),
            }
        } else if let Some(bank) = banks.cells.at(pos) {
            format!("Bank {bank}: {} wanted", kit::plural(demand[bank], "different word"))
        } else if chart.contains(pos) {
            let pass = (((pos.y - chart.top()) / PASS_HEIGHT) as usize).min(rows - 1);
            format!("Pass {} serves {}", pass + 1, lanes_words(moment.passes[pass].lanes))
        } else {
            return;
        };
        canvas.response.on_hover_text_at_pointer(text);
    }
}

/// Which lanes each pass serves, a row for each pass.
fn paint_passes(painter: &egui::Painter, tokens: &Tokens, moment: &Moment<'_>, chart: Rect, cell: f32) {
    painter.rect_filled(chart, 2.0, tokens.inset);
    for (row, pass) in moment.passes.iter().take(32).enumerate() {
        let y = chart.top() + row as f32 * PASS_HEIGHT;
        for lane in model::lanes(pass.lanes) {
            let rect = Rect::from_min_size(pos2(chart.left() + lane as f32 * cell, y), vec2(cell, PASS_HEIGHT));
            let color = if row == moment.pass { tokens.lane_on } else { tokens.lane_on.gamma_multiply(0.45) };
            painter.rect_filled(rect.shrink(1.0), 1.0, color);
        }
        if row == moment.pass {
            let rect = Rect::from_x_y_ranges(chart.x_range(), y..=y + PASS_HEIGHT);
            painter.rect_stroke(rect, 1.0, Stroke::new(2.0, tokens.lane_focus), StrokeKind::Outside);
        }
    }
}

/// Different words wanted from each bank.
fn demand(step: &Step) -> [usize; BANKS as usize] {
    let bytes = step.access.as_ref().map_or(4, |access| u64::from(access.bytes.max(1)));
    let mut words: Vec<u64> = model::lane_addresses(step)
        .flat_map(|(_, address)| address / BANK_BYTES..=address.saturating_add(bytes - 1) / BANK_BYTES)
        .collect();
    words.sort_unstable();
    words.dedup();
    let mut demand = [0; BANKS as usize];
    for word in words {
        demand[(word % BANKS) as usize] += 1;
    }
    demand
}

/// `lane 3`, `lanes 0 to 15`, `5 lanes`.
fn lanes_words(mask: u32) -> String {
    let count = mask.count_ones();
    let (first, last) = (mask.trailing_zeros(), 31 - mask.leading_zeros().min(31));
    match count {
        0 => "no lane".to_owned(),
        1 => format!("lane {first}"),
        _ if last - first + 1 == count => format!("lanes {first} to {last}"),
        _ => format!("{count} lanes"),
    }
}

impl Visualization for Banks {
    kit::head!("bank-conflicts", "Bank conflicts");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = &kit::input_ui(ui, input, self.id());
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        if input.trace.is_none() {
            self.what_if_ui(ui);
        }
        let sites = self.sites.of(trace);
        let run = input.trace.map(model::fingerprint);
        if run.is_some() && self.seen != run {
            (self.seen, self.site) = (run, worst(trace, &sites));
            self.pass.jump(0);
        }
        let before = self.site;
        let action = kit::sites_ui(ui, input, trace, &sites, &mut self.site);
        if self.site != before {
            self.pass.jump(0);
        }
        let chosen = self.sites.chosen(trace, self.site);
        let count = chosen.as_ref().map_or(0, |(_, requests)| requests.cost());
        self.pass.ui(ui, count, "pass");
        let Some(moment) = chosen.and_then(|(_, requests)| moment(trace, &requests, self.pass.at)) else {
            kit::nothing_ui(ui, "The traced warps used no shared memory.");
            return action;
        };
        let words = self.describe(input);
        self.picture_ui(ui, trace, &moment, count, &words);
        plot_kit::legend(ui, |ui| {
            kit::legend_cell(ui, CellLook::On, false, "served in this pass");
            kit::legend_cell(ui, CellLook::Empty, false, "waits");
            kit::legend_cell(ui, CellLook::Unknown, false, "served before, or bank at rest");
            kit::legend_cell(ui, CellLook::Off, false, "takes no part");
            let queue = "x2, x3, …: so many different words are wanted of the bank";
            ui.label(egui::RichText::new(queue).small().color(theme::tokens(ui).text_muted));
        });
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let trace = &self.cached.shown(input, &self.what_if, WhatIf::trace);
        let nothing = || format!("{}. The traced warps used no shared memory.", kit::launch_words(trace));
        let Some((site, requests)) = self.sites.chosen(trace, self.site) else { return nothing() };
        let Some(moment) = moment(trace, &requests, self.pass.within(requests.cost())) else { return nothing() };
        let step = moment.step;
        let needed = model::fewest_passes(step);
        let extra = moment.passes.len().saturating_sub(needed);
        let worst = demand(step).into_iter().max().unwrap_or(0);
        let judgement = match (extra, worst) {
            (0, _) if needed > 1 => format!("{needed} passes are the fewest for so many bytes: no conflict."),
            (0, _) => "One pass is the fewest: no conflict.".to_owned(),
            (extra, worst) => format!(
                "{} lost to conflicts: one bank is wanted for {worst} different words.",
                kit::plural(extra, "pass").replace("passs", "passes")
            ),
        };
        let now = &moment.passes[moment.pass];
        let sharing = now.lanes.count_ones() as usize > now.words.len();
        let bytes = step.access.as_ref().map_or(4, |access| access.bytes);
        let phases = match bytes {
            16.. => {
                " Accesses of 16 bytes go in two phases, lanes 0 to 15 and then lanes 16 to 31, each with passes of its own."
            }
            8 => " An access of 8 bytes wants two words a lane, so a full warp takes at least two passes.",
            _ => "",
        };
        let broadcast = if sharing { " Lanes that want the same word are served together: a broadcast." } else { "" };
        format!(
            "{}, request {} of {}: pass {} of {} serves {}.{broadcast} {judgement}{phases}",
            capital(&site.label()),
            moment.request + 1,
            requests.count(),
            moment.pass + 1,
            moment.passes.len(),
            lanes_words(now.lanes),
        )
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_shown_where_it_loses_most() {
        use crate::viz::example::Builder;
        use gpu_core::emulator::AccessKind;
        let mut b = Builder::new("three_lines", [1, 1, 1], [32, 1, 1]);
        let tile = b.array("tile", Space::Shared, 32 * 32 * 4);
        let warp = b.warp([0, 0, 0], 0);
        for (line, stride) in [(3, 1), (4, 2), (5, 32), (6, 32)] {
            let site = b.site("ld.shared.f32", line, tile, AccessKind::Read, 4);
            b.access(warp, site, u32::MAX, |lane| i64::from(lane * stride % 1024));
        }
        let trace = b.finish();
        let sites = Banks::default().sites.of(&trace);
        assert_eq!(sites[worst(&trace, &sites)].line, 5, "the first of the worst");
        assert_eq!(worst(&trace, &sites[..1]), 0);
        assert_eq!(worst(&trace, &[]), 0);
    }

    #[test]
    fn the_patterns_take_the_passes_that_the_hardware_takes() {
        for (pattern, expected, lost) in [
            (Pattern::Row, 1, 0),
            (Pattern::Column, 32, 31),
            (Pattern::Padded, 1, 0),
            (Pattern::Swizzled, 1, 0),
            (Pattern::Every4th, 4, 3),
            (Pattern::Broadcast, 1, 0),
            (Pattern::Vector, 4, 0),
        ] {
            let trace = WhatIf { pattern }.trace();
            let sites = Banks::default().sites.of(&trace);
            for execution in model::executions(&trace, &sites[0]) {
                let passes = model::passes(execution.step).len();
                let extra = passes - model::fewest_passes(execution.step);
                assert_eq!((passes, extra), (expected, lost), "{pattern:?}");
            }
        }
    }

    #[test]
    fn lanes_are_named_shortly() {
        assert_eq!(lanes_words(0), "no lane");
        assert_eq!(lanes_words(1 << 31), "lane 31");
        assert_eq!(lanes_words(0xff), "lanes 0 to 7");
        assert_eq!(lanes_words(0b101), "2 lanes");
    }
}
