//! The sandbox: a kernel of one's own, run with inputs and sizes that are guessed from its parameters.

use super::{Screen, parts, results};
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::sandbox::{self, MOST_SIZE};
use crate::state::{Desk, Loadable};
use crate::theme::{self, space};
use crate::widgets::{focus, sentence};
use egui::{Frame, Grid, Margin, RichText, ScrollArea, Slider, Ui};
use gpu_core::verdict::{RunOutput, RunReport};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let Some(desk) = screen.state.desk().filter(|desk| sandbox::is_free(&desk.slot)) else {
        return parts::empty(
            ui,
            crate::state::Pane::Sandbox.icon(),
            "The sandbox is closed",
            "Choose Sandbox in the Run menu to open a kernel of your own.",
        );
    };
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::same(space::L as i8)).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::S;
            setup_ui(ui, screen, desk);
            report_ui(ui, screen);
        });
        focus::follow(ui);
    });
}

/// Which kernel, what was guessed of it, and its sizes.
fn setup_ui(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let t = theme::tokens(ui);
    let state = screen.state;
    let names = sandbox::kernels(desk.editor.text());
    if names.len() > 1 {
        ui.horizontal_wrapped(|ui| {
            parts::caption(ui, "Kernel");
            for name in &names {
                let chosen = state.sandbox.kernel.as_ref().unwrap_or(&names[0]) == name;
                if ui.selectable_label(chosen, name).clicked() {
                    screen.commands.push(Command::SetSandboxKernel(name.clone()));
                }
            }
        });
    }
    let guessed = match sandbox::guess(desk.editor.text(), &state.sandbox) {
        Ok(guessed) => guessed,
        Err(why) => {
            return parts::notice(ui, t.warn_soft, t.warn, |ui| {
                ui.add(egui::Label::new(sentence::job(ui, &sentence::whole(&why), t.text)).wrap());
            });
        }
    };
    let size = guessed.size();
    Grid::new("sizes").num_columns(2).spacing([space::L, space::XS]).show(ui, |ui| {
        for (name, value) in &size {
            let label = ui.label(RichText::new(name).monospace());
            let mut now = *value;
            let slider = Slider::new(&mut now, 1..=MOST_SIZE).logarithmic(true);
            if ui.add(slider).labelled_by(label.id).changed() {
                screen.commands.push(Command::SetSandboxSize { name: name.clone(), value: now });
            }
            ui.end_row();
        }
    });
    ui.horizontal_wrapped(|ui| {
        let free = !state.is_running();
        if let Some(command) = parts::action_button(ui, Action::Check, "Run it", true, free) {
            screen.commands.push(command);
        }
        let text = "This finds faults and counts the work. It cannot tell whether the outputs are right.";
        ui.label(RichText::new(text).small().color(t.text_muted));
    });
    egui::CollapsingHeader::new("What Lockstep assumes from the parameters").id_salt("guesses").show(ui, |ui| {
        for guess in guessed.guesses() {
            ui.add(egui::Label::new(sentence::job(ui, &format!("• {guess}"), t.text)).wrap());
        }
        if ui.button("Copy as an exercise file").on_hover_text("For `lockstep run --spec`").clicked() {
            screen.commands.push(Command::CopyText(guessed.text.clone()));
        }
    });
}

fn report_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    match &screen.state.sandbox.ran {
        Loadable::Empty => {}
        Loadable::Pending { .. } => {
            ui.horizontal(|ui| {
                parts::busy(ui);
                ui.label("Running…");
            });
        }
        Loadable::Failed { message, .. } => parts::notice(ui, t.fail_soft, t.fail, |ui| {
            ui.add(egui::Label::new(sentence::job(ui, message, t.text)).wrap());
        }),
        Loadable::Ready(report) => ran_ui(ui, screen, report),
    }
}

fn ran_ui(ui: &mut Ui, screen: &mut Screen<'_>, report: &RunReport) {
    let t = theme::tokens(ui);
    let (symbol, color) = parts::outcome(t, report.case.passed);
    parts::notice(ui, if report.case.passed { t.pass_soft } else { t.fail_soft }, color, |ui| {
        let title = if report.case.passed { "Ran to its end" } else { "Something is wrong" };
        ui.label(RichText::new(format!("{symbol} {title}, {}", report.case.name)).bold().color(color));
        let text = if report.case.passed { "No fault found." } else { report.summary.as_str() };
        ui.add(egui::Label::new(sentence::job(ui, text, t.text)).wrap());
    });
    for fault in report.case.faults.iter().take(5) {
        results::fault_ui(ui, screen, fault, None);
    }
    for output in report.outputs.iter().filter(|output| output.is_output) {
        ui.add(egui::Label::new(RichText::new(first_elements(output)).monospace().small()).wrap());
    }
    if let Some(counters) = &report.case.counters {
        if let Some(words) = results::headline(counters) {
            ui.label(words);
        }
        results::facts_ui(ui, counters);
    }
    for note in &report.case.notes {
        ui.label(sentence::job(ui, &format!("ℹ {note}"), t.info));
    }
}

/// `c (1,000 elements): 0.5, 1, 1.5, …`
fn first_elements(output: &RunOutput) -> String {
    let shown: Vec<String> = output.head.iter().take(8).map(|value| parts::number(*value)).collect();
    let more = if output.element_count > shown.len() as u64 { ", …" } else { "" };
    format!("{} ({}): {}{more}", output.name, parts::counted(output.element_count, "element"), shown.join(", "))
}
