//! The ready check as a page: what this machine has, and a way to what is missing.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::ready::{Item, State as Standing};
use crate::state::{Compiler, Slot};
use crate::theme::{self, font_size, space};
use egui::{Frame, Margin, ProgressBar, RichText, ScrollArea, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::same(space::XL as i8)).show(ui, |ui| {
            ui.set_max_width(ui.available_width().min(theme::PROSE_WIDTH));
            ui.spacing_mut().item_spacing.y = space::M;
            ui.label(RichText::new("Is this machine ready?").size(font_size::HEADING).strong());
            let items = screen.state.ready.value().cloned().unwrap_or_default();
            ui.label(RichText::new(verdict(&items)).color(t.text_muted));
            ui.horizontal(|ui| {
                if ui.button("Look again").on_hover_text(Action::ReadyCheck.tooltip(ui.ctx())).clicked() {
                    screen.send(Command::LookAround);
                }
                if matches!(screen.state.ready, Slot::Pending { .. }) {
                    parts::busy(ui);
                    ui.label(RichText::new("Looking…").color(t.text_muted));
                }
            });
            for item in &items {
                item_ui(ui, screen, item);
            }
        });
    });
}

fn verdict(items: &[Item]) -> String {
    let count = |state| items.iter().filter(|item| item.state == state).count();
    match (items.len(), count(Standing::Failed), count(Standing::Limited)) {
        (0, ..) => "Nothing is known yet.".to_owned(),
        (_, 0, 0) => "Everything is there.".to_owned(),
        (_, 0, 1) => "Ready. One thing is optional and missing.".to_owned(),
        (_, 0, more) => format!("Ready. {more} things are optional and missing."),
        (_, 1, _) => "One thing must be repaired before kernels can run.".to_owned(),
        (_, more, _) => format!("{more} things must be repaired before kernels can run."),
    }
}

fn item_ui(ui: &mut Ui, screen: &mut Screen<'_>, item: &Item) {
    let t = theme::tokens(ui);
    let (symbol, name, color, fill) = match item.state {
        Standing::Fine => ("✔", "fine", t.pass, t.raised),
        Standing::Limited => ("⚠", "optional", t.warn, t.warn_soft),
        Standing::Failed => ("✖", "to repair", t.fail, t.fail_soft),
    };
    parts::notice(ui, fill, color, |ui| {
        ui.horizontal(|ui| {
            let sign = ui.label(RichText::new(symbol).color(color));
            sign.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, name));
            ui.label(RichText::new(item.title).strong());
        });
        ui.add(egui::Label::new(RichText::new(&item.found).color(t.text)).wrap());
        let Some(fix) = &item.fix else { return };
        ui.add(egui::Label::new(RichText::new(format!("To do: {fix}")).color(t.text_muted)).wrap());
        ui.horizontal_wrapped(|ui| fix_ui(ui, screen, item, fix));
    });
}

/// The fix as a button where the window can do it, and its commands to copy.
fn fix_ui(ui: &mut Ui, screen: &mut Screen<'_>, item: &Item, fix: &str) {
    match (item.id, &screen.state.compiler) {
        ("nvrtc" | "headers" | "disassembler", Compiler::Installing { what, done_bytes, total_bytes }) => {
            let share = if *total_bytes > 0 { *done_bytes as f32 / *total_bytes as f32 } else { 0.0 };
            ui.label(format!("Installing {what}"));
            ui.add(ProgressBar::new(share).desired_width(180.0).show_percentage());
            if ui.button("Cancel").clicked() {
                screen.commands.push(Command::StopInstall);
            }
        }
        ("nvrtc" | "headers" | "disassembler", _) => {
            let licence =
                "Downloads NVIDIA's wheels with pip and checks their hashes; NVIDIA's licence applies to them";
            if ui.button("Install NVRTC").on_hover_text(licence).clicked() {
                screen.commands.push(Command::InstallCompiler);
            }
        }
        ("python", _) if ui.button("Choose a Python…").clicked() => {
            screen.commands.push(Command::Do(Action::Settings));
        }
        _ => {}
    }
    for command in commands(fix) {
        if ui.button(format!("Copy `{command}`")).on_hover_text("Run it in a terminal").clicked() {
            screen.commands.push(Command::CopyText(command.to_owned()));
        }
    }
}

/// What stands between backquotes and is more than a name.
fn commands(fix: &str) -> impl Iterator<Item = &str> {
    fix.split('`').skip(1).step_by(2).filter(|text| text.contains(' '))
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_are_what_stands_between_backquotes() {
        let found: Vec<&str> =
            super::commands("run `sudo apt install x` or set `FOO`; then `lockstep setup`").collect();
        assert_eq!(found, ["sudo apt install x", "lockstep setup"]);
    }
}
