//! Ladder plot: how fast each rung of a ladder was on a named machine, beside the library, with the learner's own kernel
//! among them once it was timed.

mod recorded;

use super::kit;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, font_size, space};
use crate::widgets::plot_kit;
use egui::{Align2, FontId, Rect, Stroke, Ui, pos2, vec2};
use gpu_core::bench::BenchReport;
use gpu_core::emulator::Trace;
use recorded::{Figure, Recorded};

const ROW: f32 = 24.0;
const AXIS: f32 = 34.0;

/// The rungs of some ladders.
pub struct LadderPlot {
    id: &'static str,
    title: &'static str,
    ladders: &'static [&'static str],
    ladder: usize,
    rung: Stepper,
}

impl LadderPlot {
    /// Matrix products.
    pub fn gemm() -> Self {
        let ladders = &["matmul-bf16", "matmul-fp8", "matmul-tf32", "matmul-fp32"];
        Self { id: "gemm-ladder", title: "GEMM ladder", ladders, ladder: 0, rung: Stepper::default() }
    }

    /// Attention forward.
    pub fn attention() -> Self {
        let ladders = &["attention"];
        Self { id: "attention-ladder", title: "Attention ladder", ladders, ladder: 0, rung: Stepper::default() }
    }

    fn shown(&self) -> Option<&'static Recorded> {
        recorded::find(self.ladders.get(self.ladder)?)
    }

    fn picture_ui(&mut self, ui: &mut Ui, ladder: &Recorded, own: Option<Own>, words: &str) {
        let rungs = &ladder.rungs;
        let rows = rungs.len() + usize::from(own.is_some());
        let width = ui.available_width();
        let label = (width * 0.36).clamp(90.0, 260.0);
        let height = rows as f32 * ROW + AXIS;
        let canvas = self.rung.canvas(ui, vec2(width, height), words, rungs.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let left = canvas.rect.left() + label;
        let room = width - label - 74.0;
        let fastest =
            rungs.iter().map(|rung| rung.flops_per_s).fold(ladder.library_flops_per_s().unwrap_or(0.0), f64::max);
        let fastest = fastest.max(own.map_or(0.0, |own| own.flops_per_s)).max(1.0);
        let x = |flops: f64| left + room * (flops / fastest) as f32;
        let chosen = self.rung.within(rungs.len());
        let mut y = canvas.rect.top();
        let mut values = Vec::new();
        for (index, rung) in rungs.iter().enumerate() {
            let row = Rect::from_min_size(pos2(left, y), vec2(room, ROW - 6.0));
            let color = if index == chosen { tokens.lane_focus } else { tokens.series[0] };
            values.push(bar(painter, row, x(rung.flops_per_s), color, rung.flops_per_s));
            name(
                painter,
                tokens,
                pos2(left - space::S, row.center().y),
                label,
                &format!("{}. {}", index + 1, rung.title),
                index == chosen,
            );
            y += ROW;
        }
        if let Some(own) = own {
            let row = Rect::from_min_size(pos2(left, y), vec2(room, ROW - 6.0));
            values.push(bar(painter, row, x(own.flops_per_s), tokens.measured, own.flops_per_s));
            name(painter, tokens, pos2(left - space::S, row.center().y), label, "your kernel", true);
            y += ROW;
        }
        if let Some(library) = ladder.library_flops_per_s() {
            let line = Stroke::new(2.0, tokens.ceiling);
            plot_kit::dashed(painter, pos2(x(library), canvas.rect.top()), pos2(x(library), y), line);
            let text = format!("{} {}", ladder.library_name(), plot_kit::si(library, "FLOP/s"));
            kit::small(painter, pos2(x(library) + 2.0, y + 2.0), Align2::RIGHT_TOP, text, tokens.text_muted);
        }
        // After the library's line, which would cross them.
        for (at, text) in values {
            let galley = painter.layout_no_wrap(text, FontId::proportional(font_size::SMALL), tokens.text);
            let place = Rect::from_min_size(at - vec2(0.0, galley.size().y / 2.0), galley.size());
            painter.rect_filled(place.expand2(vec2(2.0, 0.0)), 0.0, tokens.inset);
            painter.galley(place.min, galley, tokens.text);
        }
        let Some(pos) = canvas.response.hover_pos() else { return };
        let row = ((pos.y - canvas.rect.top()) / ROW) as usize;
        if let Some(rung) = rungs.get(row) {
            if canvas.response.clicked() {
                self.rung.jump(row);
            }
            canvas.response.on_hover_text_at_pointer(format!("{}\n{}", rung.title, rung.change));
        }
    }
}

/// Elides names that are wider than their column.
fn name(painter: &egui::Painter, tokens: &Tokens, at: egui::Pos2, room: f32, text: &str, strong: bool) {
    let letters = (room / 6.6) as usize;
    let short = if text.chars().count() > letters {
        text.chars().take(letters.saturating_sub(1)).chain(['…']).collect::<String>()
    } else {
        text.to_owned()
    };
    let color = if strong { tokens.text } else { tokens.text_muted };
    kit::small(painter, at, Align2::RIGHT_CENTER, short, color);
}

/// A bar, and the place and words of its value.
fn bar(painter: &egui::Painter, row: Rect, end: f32, color: egui::Color32, flops_per_s: f64) -> (egui::Pos2, String) {
    let filled = Rect::from_min_max(row.min, pos2(end.max(row.left() + 1.0), row.bottom()));
    painter.rect_filled(filled, 2.0, color);
    (pos2(filled.right() + space::XS, row.center().y), plot_kit::si(flops_per_s, "FLOP/s"))
}

/// What the learner's kernel reached, at the size that comes closest to the ladder's.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Own {
    flops_per_s: f64,
    of_library: Option<f64>,
}

fn own(bench: Option<&BenchReport>) -> Option<Own> {
    let measured = bench?.points.iter().filter(|point| point.rejected.is_none() && point.stats.is_some());
    let largest = measured.max_by(|a, b| a.flops.total_cmp(&b.flops))?;
    let seconds = largest.stats?.median_ns * 1e-9;
    Some(Own { flops_per_s: largest.flops / seconds, of_library: largest.of_library() })
}

fn times(rung: &Figure, before: Option<&Figure>) -> String {
    match before {
        Some(before) if rung.size == before.size => {
            format!(", {} times the rung before", plot_kit::digits(rung.flops_per_s / before.flops_per_s))
        }
        _ => String::new(),
    }
}

impl Visualization for LadderPlot {
    fn id(&self) -> &'static str {
        self.id
    }

    fn title(&self) -> &'static str {
        self.title
    }

    /// It shows measurements and no trace.
    fn example(&self) -> Trace {
        Trace { kernel: "example".into(), grid: [1, 1, 1], block: [32, 1, 1], ..Trace::default() }
    }

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        ui.horizontal_wrapped(|ui| {
            if self.ladders.len() < 2 {
                return;
            }
            for (index, ladder) in self.ladders.iter().enumerate() {
                if let Some(recorded) = recorded::find(ladder) {
                    ui.selectable_value(&mut self.ladder, index, &recorded.short);
                }
            }
        });
        let Some(ladder) = self.shown() else {
            kit::nothing_ui(ui, "No run of this ladder has been recorded yet.");
            return None;
        };
        self.rung.ui(ui, ladder.rungs.len(), "rung");
        let words = self.describe(input);
        self.picture_ui(ui, ladder, own(input.bench), &words);
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let Some(ladder) = self.shown() else { return "No run of this ladder has been recorded yet.".to_owned() };
        let at = self.rung.within(ladder.rungs.len());
        let Some(rung) = ladder.rungs.get(at) else { return "This ladder has no rungs.".to_owned() };
        let before = at.checked_sub(1).and_then(|before| ladder.rungs.get(before));
        let library = rung
            .of_library
            .map_or_else(String::new, |share| format!(", {} of {}", plot_kit::digits(share), ladder.library_name()));
        let own = match own(input.bench) {
            Some(own) => {
                let library = own
                    .of_library
                    .map_or_else(String::new, |share| format!(", {} of the library here", plot_kit::digits(share)));
                format!(" Your kernel, on your machine: {}{library}.", plot_kit::si(own.flops_per_s, "FLOP/s"))
            }
            None => " Benchmark your kernel on a GPU to see it among them.".to_owned(),
        };
        format!(
            "Rung {} of {}: {}. {} {} at {}{library}{}. Measured on one {}, driver {}, {}.{own}",
            at + 1,
            ladder.rungs.len(),
            rung.title,
            rung.change,
            plot_kit::si(rung.flops_per_s, "FLOP/s"),
            rung.size,
            times(rung, before),
            ladder.machine,
            ladder.driver,
            ladder.date
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ladder_of_the_plot_was_recorded_and_has_a_library() {
        for ladder in LadderPlot::gemm().ladders.iter().chain(LadderPlot::attention().ladders) {
            let recorded = recorded::find(ladder).unwrap_or_else(|| panic!("{ladder} is not recorded"));
            assert!(recorded.rungs.len() >= 3, "{ladder}");
            assert!(recorded.library_flops_per_s().is_some(), "{ladder}");
            assert!(recorded.rungs.iter().all(|rung| rung.flops_per_s > 0.0), "{ladder}");
        }
    }
}
