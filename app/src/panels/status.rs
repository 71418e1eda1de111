//! The strip at the bottom: what is under way, where the cursor is, what compiles.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::state::{Compiler, Pane, Slot};
use crate::theme::{self, space};
use egui::{Align, Frame, Layout, Margin, ProgressBar, RichText, Sense, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let frame = Frame::new().inner_margin(Margin::symmetric(space::L as i8, space::XXS as i8));
    frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.set_min_height(22.0);
            left_ui(ui, screen);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let small = |text: String| RichText::new(text).small().color(t.text_muted);
                if let Some(desk) = screen.state.desk().filter(|desk| desk.loaded) {
                    let (line, column) = desk.editor.cursor_position();
                    let place =
                        ui.add(egui::Label::new(small(format!("Line {line}, column {column}"))).sense(Sense::click()));
                    if place.on_hover_text(Action::GoToLine.tooltip(ui.ctx())).clicked() {
                        screen.send(Command::Do(Action::GoToLine));
                    }
                    ui.separator();
                }
                ui.label(small(screen.state.arch())).on_hover_text("Architecture that kernels are compiled for");
                ui.separator();
                compiler_ui(ui, screen);
                if screen.state.view.focus.0 == Pane::Editor && screen.state.desk().is_some() {
                    ui.separator();
                    ui.label(small("F6 next pane".to_owned())).on_hover_text(Action::NextPane.tooltip(ui.ctx()));
                }
            });
        });
    });
}

fn left_ui(ui: &mut Ui, screen: &Screen<'_>) {
    let t = theme::tokens(ui);
    let state = screen.state;
    if let Some(running) = &state.running {
        let seconds = state.now_s - running.since_s;
        let what = if running.total > 1 {
            format!("{} ({} of {})", running.progress, running.done, running.total)
        } else {
            running.progress.clone()
        };
        if running.total > 1 {
            let share = running.done as f32 / running.total as f32;
            ui.add(ProgressBar::new(share).desired_width(90.0).desired_height(8.0).fill(t.accent));
        } else {
            parts::busy(ui);
        }
        ui.label(RichText::new(format!("{what} on {} · {seconds:.0} s", running.device)).small().color(t.text));
        return;
    }
    if let Some(problem) = &state.read_only {
        ui.label(RichText::new(format!("⚠ Nothing is saved: {problem}")).small().color(t.warn));
        return;
    }
    let Some(desk) = state.desk() else {
        ui.label(RichText::new("Ready").small().color(t.text_muted));
        return;
    };
    let (text, color) = match &desk.compiled {
        Slot::Pending { .. } => ("Compiling…".to_owned(), t.text_muted),
        Slot::Failed { message, .. } => (message.clone(), t.fail),
        Slot::Empty => ("Ready".to_owned(), t.text_muted),
        Slot::Ready(report) if report.succeeded => ("✔ Compiles".to_owned(), t.pass),
        Slot::Ready(report) => {
            let errors = report
                .diagnostics
                .iter()
                .filter(|diagnostic| diagnostic.severity == gpu_core::compile::Severity::Error)
                .count();
            (format!("✖ {errors} {}", if errors == 1 { "error" } else { "errors" }), t.fail)
        }
    };
    ui.add(egui::Label::new(RichText::new(text).small().color(color)).truncate());
}

fn compiler_ui(ui: &mut Ui, screen: &Screen<'_>) {
    let t = theme::tokens(ui);
    let small = |text: &str, color| RichText::new(text).small().color(color);
    match &screen.state.compiler {
        Compiler::Looking => ui.label(small("Looking for NVRTC…", t.text_muted)),
        Compiler::Found { origin } => {
            let version =
                screen.state.desk().and_then(|desk| desk.compiled.value()).map(|report| &report.nvrtc_version);
            let text = version.map_or_else(|| "NVRTC".to_owned(), |version| format!("NVRTC {version}"));
            ui.label(small(&text, t.text_muted)).on_hover_text(origin)
        }
        Compiler::Missing { .. } | Compiler::InstallFailed { .. } => ui.label(small("⚠ No CUDA compiler", t.warn)),
        Compiler::Installing { .. } => ui.label(small("Installing the compiler…", t.text_muted)),
    };
}
