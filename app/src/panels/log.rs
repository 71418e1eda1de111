//! The log pane: what happened since the window opened, so that no message is lost when its toast goes.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::state::{LogLine, ToastKind};
use crate::theme::{self, Tokens, space};
use crate::widgets::sentence;
use egui::{Color32, Frame, Margin, RichText, ScrollArea, Ui};

/// Lines that are drawn, the newest: each may take several rows, so all of a long log would be laid out in every frame.
const SHOWN: usize = 200;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let lines = &screen.state.log;
    if lines.is_empty() {
        return parts::empty(
            ui,
            crate::state::Pane::Log.icon(),
            "No messages yet",
            "Runs, messages and problems are noted here.",
        );
    }
    Frame::new().inner_margin(Margin::symmetric(space::L as i8, space::S as i8)).show(ui, |ui| {
        let count = |ui: &mut Ui, _: &mut Screen<'_>| {
            let count = parts::counted(lines.len() as u64, "message");
            ui.label(RichText::new(format!("{count}, times in UTC")).small().color(t.text_muted));
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
    ScrollArea::vertical().auto_shrink(false).stick_to_bottom(true).show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(space::L as i8, 0)).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::XS;
            let earlier = lines.len().saturating_sub(SHOWN);
            if earlier > 0 {
                let text = format!("{} before these: Copy all includes them.", parts::counted(earlier as u64, "line"));
                ui.label(RichText::new(text).small().color(t.text_muted));
            }
            for line in &lines[earlier..] {
                ui.horizontal_top(|ui| {
                    let (symbol, color) = sign(t, line.kind);
                    ui.label(RichText::new(clock(line.at_unix_s)).monospace().small().color(t.text_muted));
                    ui.label(RichText::new(symbol).color(color));
                    // Whole: whoever has no mouse to rest on a line must read its end too.
                    ui.add(egui::Label::new(sentence::job(ui, &line.text, t.text)).wrap().selectable(true));
                });
            }
        });
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
