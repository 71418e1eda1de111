//! The emulator's counters beside a GPU's.

use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::panels::{Screen, parts};
use crate::profiled::{DIFFERENCES, Profiled, Row};
use crate::state::{Desk, Loadable};
use crate::theme::{self, space};
use egui::{Grid, RichText, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let t = theme::tokens(ui);
    ui.add_space(space::S);
    ui.horizontal(|ui| {
        let enabled = !desk.profiled.is_pending() && !screen.state.is_running();
        let button = parts::action_button(ui, Action::Profile, Action::Profile.info().text, false, enabled);
        if let Some(command) = button {
            screen.send(command);
        }
        if desk.profiled.is_pending() {
            parts::busy(ui);
            ui.label(RichText::new("Counting on the emulator, then on the GPU").color(t.text_muted));
        }
    });
    if let Loadable::Failed { message, .. } = &desk.profiled {
        parts::notice(ui, t.fail_soft, t.fail, |ui| {
            ui.label(format!("Not profiled: {message}"));
        });
    }
    let Some(profiled) = desk.profiled.value() else { return };
    ui.label(RichText::new(&profiled.case).bold());
    table(ui, profiled);
    if let Some(why) = &profiled.gpu_missing {
        parts::notice(ui, t.warn_soft, t.warn, |ui| {
            ui.label(format!("No hardware counters: {why}"));
        });
    } else if !profiled.has_gpu() {
        ui.label(
            RichText::new("This machine has no GPU: these are the emulator's counters alone.").color(t.text_muted),
        );
    } else if profiled.rows.iter().any(differs) {
        parts::caption(ui, "Where the two differ, one of these is why");
        for why in DIFFERENCES {
            ui.label(format!("\u{2022} {why}"));
        }
    }
    let copy = ui.button("Copy the ncu command").on_hover_text("Nsight Compute's command line for this very launch");
    if copy.clicked() {
        screen.send(Command::CopyText(profiled.ncu.clone()));
    }
}

/// Whether both sides have a number, and not the same.
fn differs(row: &Row) -> bool {
    matches!((row.emulator, row.gpu), (Some(emulator), Some(gpu)) if (emulator as f64 - gpu).abs() > 0.5)
}

fn table(ui: &mut Ui, profiled: &Profiled) {
    let t = theme::tokens(ui);
    let number =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| parts::grouped(value.round() as u64));
    let has_gpu = profiled.has_gpu();
    let columns = if has_gpu { 4 } else { 3 };
    Grid::new("profiled").num_columns(columns).spacing([space::XL, space::XXS]).striped(true).show(ui, |ui| {
        parts::caption(ui, "Counter");
        parts::caption(ui, "Emulator");
        if has_gpu {
            parts::caption(ui, "GPU");
        }
        parts::caption(ui, "Nsight Compute calls it");
        ui.end_row();
        for row in &profiled.rows {
            ui.label(row.name.replace('_', " "));
            ui.monospace(number(row.emulator.map(|value| value as f64)));
            if has_gpu {
                let text = RichText::new(number(row.gpu)).monospace();
                ui.label(if differs(row) { text.color(t.warn) } else { text });
            }
            ui.label(RichText::new(&row.metric).monospace().small().color(t.text_muted));
            ui.end_row();
        }
    });
}
