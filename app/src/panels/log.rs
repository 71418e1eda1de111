//! The log pane: what happened since the window opened, so that no message is lost when its toast goes.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::state::{LogLine, ToastKind};
use crate::theme::{self, Tokens, space};
use crate::widgets::sentence;
use egui::{Color32, Frame, Margin, RichText, ScrollArea, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let lines = &screen.state.log;
    if lines.is_empty() {
        return parts::empty(ui, "Nothing has happened yet", "Runs, messages and problems are noted here.");
    }
    Frame::new().inner_margin(Margin::symmetric(space::L as i8, space::S as i8)).show(ui, |ui| {
        let count = |ui: &mut Ui, _: &mut Screen<'_>| {
            let count = if lines.len() == 1 { "1 message".to_owned() } else { format!("{} messages", lines.len()) };
            ui.label(RichText::new(count).small().color(t.text_muted));
        };
        parts::sides(ui, "log", screen, count, |ui, screen| {
            if ui.button("Copy all").on_hover_text("For a report").clicked() {
                screen.commands.push(Command::CopyText(text(lines)));
            }
            if ui.button("Clear").on_hover_text(Action::ClearLog.tooltip(ui.ctx())).clicked() {
                screen.commands.push(Command::Do(Action::ClearLog));
            }
        });
    });
    let row = ui.text_style_height(&egui::TextStyle::Body) + space::XS;
    ScrollArea::vertical().auto_shrink(false).stick_to_bottom(true).show_rows(ui, row, lines.len(), |ui, range| {
        ui.spacing_mut().item_spacing.y = space::XS;
        for line in &lines[range] {
            ui.horizontal(|ui| {
                ui.add_space(space::L);
                let (symbol, color) = sign(t, line.kind);
                ui.label(RichText::new(clock(line.at_unix_s)).monospace().small().color(t.text_muted));
                ui.label(RichText::new(symbol).color(color));
                ui.add(egui::Label::new(sentence::job(ui, &line.text, t.text)).truncate().selectable(true))
                    .on_hover_text(&line.text);
            });
        }
    });
}

/// Symbol and colour of a kind of message.
pub fn sign(t: &Tokens, kind: ToastKind) -> (&'static str, Color32) {
    match kind {
        ToastKind::Info => ("ℹ", t.info),
        ToastKind::Good => ("✔", t.pass),
        ToastKind::Bad => ("✖", t.fail),
    }
}

/// Hours, minutes and seconds in UTC; the machine's own zone is not known without asking the system.
fn clock(unix_s: u64) -> String {
    let day_s = unix_s % 86_400;
    format!("{:02}:{:02}:{:02}", day_s / 3600, day_s / 60 % 60, day_s % 60)
}

fn text(lines: &[LogLine]) -> String {
    let line = |line: &LogLine| {
        let kind = match line.kind {
            ToastKind::Info => "note",
            ToastKind::Good => "good",
            ToastKind::Bad => "bad",
        };
        format!("{} UTC  {kind}  {}\n", clock(line.at_unix_s), line.text)
    };
    lines.iter().map(line).collect()
}
