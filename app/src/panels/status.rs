//! The strip at the bottom: what is under way, where the cursor is, what compiles.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::state::{Compiler, Pane, Slot, ToastKind};
use crate::theme::{self, space};
use crate::widgets::{focus, sentence};
use egui::{Align, Frame, Layout, Margin, ProgressBar, RichText, Sense, Ui};

/// Height in points.
pub const HEIGHT: f32 = 32.0;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let frame = Frame::new().inner_margin(Margin::symmetric(space::L as i8, space::XXS as i8));
    frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.set_min_height(HEIGHT - 2.0 * space::XXS);
            let busy = screen.state.is_running();
            if busy || screen.state.toasts.is_empty() {
                left_ui(ui, screen);
            }
            toast_ui(ui, screen);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let small = |text: String| RichText::new(text).small().color(t.text_muted);
                if let Some(desk) = screen.state.desk().filter(|desk| desk.loaded) {
                    let (line, column) = desk.editor.cursor_position();
                    let place = ui.add(
                        egui::Button::new(small(format!("Line {line}, column {column}"))).frame_when_inactive(false),
                    );
                    if place.on_hover_text(Action::GoToLine.tooltip(ui.ctx())).clicked() {
                        screen.send(Command::Do(Action::GoToLine));
                    }
                    ui.separator();
                }
                ui.label(small(screen.state.arch())).on_hover_text("Architecture that kernels are compiled for");
                ui.separator();
                compiler_ui(ui, screen);
                if let Some(profile) = &screen.state.profile {
                    ui.separator();
                    // Whose progress this is: several people may sit here in turn.
                    let name = egui::Button::new(small(profile.clone())).frame_when_inactive(false);
                    let name = ui.add(name).on_hover_text(Action::Profiles.tooltip(ui.ctx()));
                    name.widget_info(|| {
                        egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Profile {profile}"))
                    });
                    if name.clicked() {
                        screen.commands.push(Command::Do(Action::Profiles));
                    }
                }
                if screen.state.view.focus.0 == Pane::Editor && screen.state.desk().is_some() {
                    ui.separator();
                    ui.label(small("F6 next pane".to_owned())).on_hover_text(Action::NextPane.tooltip(ui.ctx()));
                }
            });
        });
    });
}

/// The newest message, in the strip so that it hides no work; the others are one click away in the log.
fn toast_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let state = screen.state;
    let Some(toast) = state.toasts.last() else { return };
    let (symbol, color) = super::log::sign(t, toast.kind);
    let fill = match toast.kind {
        ToastKind::Info => t.info_soft,
        ToastKind::Good => t.pass_soft,
        ToastKind::Bad => t.fail_soft,
    };
    let room = (ui.available_width() * 0.62).max(160.0);
    let frame = Frame::new().fill(fill).corner_radius(theme::radius::SMALL).inner_margin(Margin::symmetric(6, 1));
    frame.show(ui, |ui| {
        ui.set_max_width(room);
        ui.horizontal(|ui| {
            ui.label(RichText::new(symbol).small().color(color));
            let close = egui::Button::new(RichText::new("✖").small()).frame_when_inactive(false);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.set_max_width((ui.available_width() - 64.0).max(80.0));
                let text =
                    egui::Label::new(RichText::new(sentence::plain(&toast.text)).small().color(t.text)).truncate();
                let text = ui.add(text.sense(Sense::click())).on_hover_text(&toast.text);
                focus::ring(ui, &text);
                // Read out when it appears.
                ui.ctx().accesskit_node_builder(text.id, |node| node.set_live(egui::accesskit::Live::Polite));
                if text.clicked() {
                    screen.commands.push(Command::Do(Action::ShowLog));
                }
            });
            if state.toasts.len() > 1 {
                let more = format!("+{}", state.toasts.len() - 1);
                let more = egui::Button::new(RichText::new(more).small()).frame_when_inactive(false);
                if ui.add(more).on_hover_text(Action::ShowLog.tooltip(ui.ctx())).clicked() {
                    screen.commands.push(Command::Do(Action::ShowLog));
                }
            }
            let response = ui.add(close).on_hover_text("Dismiss");
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "Dismiss message"));
            if response.clicked() {
                screen.commands.push(Command::DismissToast(toast.id));
            }
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
