//! The results panes: what the last run found.

mod compiled;
mod console;
mod counters;
mod headline;
mod passed;
mod problems;
mod profiled;
mod timing;

pub use headline::of_counters as headline;
pub use timing::timed_runs;
pub use verdict::fault_ui;
mod verdict;

pub use compiled::ListingMemory;

use super::{Screen, parts};
use crate::state::{Desk, Loadable, Pane, Sight};
use crate::theme::space;
use crate::widgets::focus;
use egui::{Frame, Margin, ScrollArea, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, pane: Pane) {
    let state = screen.state;
    let Some(desk) = state.desk() else {
        return parts::empty(ui, pane.icon(), "No results", "This day has no exercise.");
    };
    match pane {
        // These scroll by themselves.
        Pane::Compiled => compiled::show(ui, screen, desk),
        Pane::Timing => timing::show(ui, screen, desk),
        Pane::Console => console::show(ui, screen, desk),
        pane => {
            // Sentences wrap; the counters' table may be wider than the pane.
            let wide = pane == Pane::Counters;
            ScrollArea::new([wide, true]).auto_shrink(false).show(ui, |ui| {
                if pane == Pane::Verdict && screen.comes_into_view(Sight::Verdict) {
                    ui.scroll_to_cursor(Some(egui::Align::TOP));
                }
                Frame::new().inner_margin(Margin::same(space::L as i8)).show(ui, |ui| match pane {
                    Pane::Verdict => verdict::show(ui, screen, desk),
                    Pane::Problems => problems::show(ui, screen, desk),
                    _ => {
                        counters::show(ui, screen, desk);
                        profiled::show(ui, screen, desk);
                    }
                });
                focus::follow(ui);
            });
        }
    }
}

/// What was counted, as name and value.
pub fn facts_ui(ui: &mut Ui, counters: &gpu_core::emulator::Counters) {
    egui::Grid::new("facts").num_columns(2).spacing([crate::theme::space::XXL, crate::theme::space::XXS]).show(
        ui,
        |ui| {
            for (name, value) in counters::facts(counters) {
                parts::fact(ui, name, value);
            }
        },
    );
}

/// Whether the text passed. It is a promise about the text that is there: while a run goes on, after one that was stopped
/// and after a change of the text there is none.
pub fn outcome(desk: &Desk) -> Option<bool> {
    match &desk.verdict {
        Loadable::Ready(verdict) if !desk.is_stale() => Some(verdict.passed),
        _ => None,
    }
}

/// A pane's title with what is new in it.
pub fn title(desk: &Desk, pane: Pane) -> String {
    let title = pane.title();
    match pane {
        Pane::Verdict => match outcome(desk) {
            Some(passed) => format!("{} {title}", if passed { "✔" } else { "✖" }),
            None => title.to_owned(),
        },
        Pane::Problems => match desk.problem_count() {
            0 => title.to_owned(),
            count => format!("{title} {count}"),
        },
        Pane::Console if !desk.console.is_empty() => format!("{title} •"),
        _ => title.to_owned(),
    }
}
