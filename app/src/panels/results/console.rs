//! What the kernel printed.

use crate::command::Command;
use crate::panels::{Screen, parts};
use crate::state::Desk;
use crate::theme::{self, space};
use egui::{Frame, Label, RichText, ScrollArea, TextStyle, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let t = theme::tokens(ui);
    if desk.console.is_empty() {
        return parts::empty(
            ui,
            crate::state::Pane::Console.icon(),
            "Nothing printed",
            "What the kernel prints with printf appears here.",
        );
    }
    Frame::new().fill(t.inset).inner_margin(space::M).show(ui, |ui| {
        ui.horizontal(|ui| {
            let lines = desk.console.lines().count();
            let text = if desk.console_cut {
                format!(
                    "The first {}. The kernel printed more, which is left out.",
                    parts::counted(lines as u64, "line")
                )
            } else {
                parts::counted(lines as u64, "line")
            };
            ui.label(RichText::new(text).small().color(if desk.console_cut { t.warn } else { t.text_muted }));
            if ui.small_button("Copy").clicked() {
                screen.send(Command::CopyText(desk.console.clone()));
            }
        });
        let lines: Vec<&str> = desk.console.lines().collect();
        let height = ui.text_style_height(&TextStyle::Monospace);
        ScrollArea::both().id_salt("console").auto_shrink(false).stick_to_bottom(true).show_rows(
            ui,
            height,
            lines.len(),
            |ui, rows| {
                for line in &lines[rows] {
                    ui.add(Label::new(RichText::new(*line).monospace().color(t.text)).extend());
                }
            },
        );
    });
}
