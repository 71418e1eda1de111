//! The results pane: what the last run found, in tabs.

mod compiled;
mod console;
mod counters;
mod problems;
mod timing;
mod verdict;

use super::{Screen, parts};
use crate::command::Command;
use crate::state::{Desk, Pane, ResultTab};
use crate::theme::space;
use egui::{Frame, Margin, ScrollArea, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let state = screen.state;
    let Some(desk) = state.desk() else {
        return parts::empty(ui, "No results", "This day has no exercise.");
    };
    let focus = screen.takes_focus(Pane::Results);
    parts::tab_strip(ui, |ui| {
        for tab in ResultTab::ALL {
            let open = state.view.result == tab;
            let response = parts::tab(ui, open, &tab_text(desk, tab));
            if open && focus {
                response.request_focus();
            }
            if response.clicked() {
                screen.send(Command::ShowResult(tab));
            }
        }
    });
    match state.view.result {
        // These scroll by themselves.
        ResultTab::Compiled => compiled::show(ui, screen, desk),
        ResultTab::Timing => timing::show(ui, screen, desk),
        ResultTab::Console => console::show(ui, screen, desk),
        tab => {
            // Sentences wrap; the counters' table may be wider than the pane.
            let wide = tab == ResultTab::Counters;
            let scroll = ScrollArea::new([wide, true]).id_salt(("result", tab)).auto_shrink(false);
            scroll.show(ui, |ui| {
                Frame::new().inner_margin(Margin::same(space::L as i8)).show(ui, |ui| match tab {
                    ResultTab::Verdict => verdict::show(ui, screen, desk),
                    ResultTab::Problems => problems::show(ui, screen, desk),
                    _ => counters::show(ui, screen, desk),
                });
            });
        }
    }
}

/// A tab's title with what is new in it.
fn tab_text(desk: &Desk, tab: ResultTab) -> String {
    let title = tab.title();
    match tab {
        ResultTab::Verdict => match desk.verdict.value() {
            Some(verdict) if verdict.passed => format!("✔ {title}"),
            Some(_) => format!("✖ {title}"),
            None => title.to_owned(),
        },
        ResultTab::Problems => match problems::count(desk) {
            0 => title.to_owned(),
            count => format!("{title} {count}"),
        },
        ResultTab::Console if !desk.console.is_empty() => format!("{title} •"),
        _ => title.to_owned(),
    }
}
