//! The strip at the bottom: what is under way, where the cursor is, what compiles.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::state::{Compiler, Loadable, Pane, ToastKind};
use crate::theme::{self, space};
use crate::widgets::{focus, sentence};
use egui::{Align, Frame, Layout, Margin, ProgressBar, RichText, Sense, Ui};

/// Height in points.
pub const HEIGHT: f32 = 32.0;

/// Of the strip's width, what the left end may take.
const LEFT_SHARE: f32 = 0.7;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let frame = Frame::new().inner_margin(Margin::symmetric(space::L as i8, space::XXS as i8));
    frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.set_min_height(HEIGHT - 2.0 * space::XXS);
            let busy = screen.state.is_running();
            ui.scope(|ui| {
                ui.set_max_width(ui.available_width() * LEFT_SHARE);
                if busy || screen.state.toasts.is_empty() {
                    left_ui(ui, screen);
                }
                toast_ui(ui, screen);
            });
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| right_ui(ui, screen));
        });
    });
}

/// What stands at the right end, the most useful first: what has no room is left out.
fn right_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let small = |text: String| RichText::new(text).small().color(t.text_muted);
    if let Some(desk) = screen.state.desk().filter(|desk| desk.loaded) {
        let (line, column) = desk.editor.cursor_position();
        let text = format!("Line {line}, column {column}");
        if !has_room(ui, &text) {
            return;
        }
        let place = ui.add(egui::Button::new(small(text)).frame_when_inactive(false));
        if place.on_hover_text(Action::GoToLine.tooltip(ui.ctx())).clicked() {
            screen.send(Command::Do(Action::GoToLine));
        }
        ui.separator();
    }
    let arch = screen.state.arch();
    if !has_room(ui, &arch) {
        return;
    }
    ui.label(small(arch)).on_hover_text("Architecture that kernels are compiled for");
    ui.separator();
    if !compiler_ui(ui, screen) {
        return;
    }
    if let Some(profile) = screen.state.profile.as_ref().filter(|profile| has_room(ui, profile)) {
        ui.separator();
        // Whose progress this is: several people may sit here in turn.
        let name = egui::Button::new(small(profile.clone())).frame_when_inactive(false);
        let name = ui.add(name).on_hover_text(Action::Profiles.tooltip(ui.ctx()));
        name.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Profile {profile}")));
        if name.clicked() {
            screen.commands.push(Command::Do(Action::Profiles));
        }
    }
    let next = "F6 next pane";
    if screen.state.view.focus.0 == Pane::Editor && screen.state.desk().is_some() && has_room(ui, next) {
        ui.separator();
        ui.label(small(next.to_owned())).on_hover_text(Action::NextPane.tooltip(ui.ctx()));
    }
}

/// Whether a small text, with the line before it, fits into what is left of the strip.
fn has_room(ui: &Ui, text: &str) -> bool {
    let text = egui::WidgetText::from(RichText::new(text).small());
    let galley = text.into_galley(ui, Some(egui::TextWrapMode::Extend), f32::INFINITY, egui::TextStyle::Small);
    galley.size().x + 2.0 * space::L < ui.available_width()
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
    let room = ui.available_width();
    let frame = Frame::new().fill(fill).corner_radius(theme::radius::SMALL).inner_margin(Margin::symmetric(6, 1));
    frame.show(ui, |ui| {
        ui.set_max_width(room);
        ui.horizontal(|ui| {
            ui.label(RichText::new(symbol).small().color(color));
            let close = egui::Button::new(RichText::new("✖").small()).frame_when_inactive(false);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.set_max_width((ui.available_width() - 64.0).max(40.0));
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
        let text = format!("{what} on {} · {seconds:.0} s", running.device);
        // A message beside it keeps some room.
        let room = if state.toasts.is_empty() { 1.0 } else { 0.6 };
        ui.scope(|ui| {
            ui.set_max_width(ui.available_width() * room);
            ui.add(egui::Label::new(RichText::new(text).small().color(t.text)).truncate());
        });
        return;
    }
    let unsaved = state.read_only.as_ref().map(|problem| format!("⚠ Nothing is saved: {problem}"));
    let unsaved = unsaved.or_else(|| state.unsaved.as_ref().map(|problem| format!("⚠ {problem}")));
    if let Some(problem) = unsaved {
        let label = egui::Label::new(RichText::new(&problem).small().color(t.warn)).truncate();
        ui.add(label).on_hover_text(&problem);
        return;
    }
    let Some(desk) = state.desk() else {
        ui.label(RichText::new("Ready").small().color(t.text_muted));
        return;
    };
    let (text, color) = match &desk.compiled {
        Loadable::Pending { .. } => ("Compiling…".to_owned(), t.text_muted),
        Loadable::Failed { message, .. } => (message.clone(), t.fail),
        Loadable::Empty => ("Ready".to_owned(), t.text_muted),
        Loadable::Ready(report) if report.succeeded => ("✔ Compiles".to_owned(), t.pass),
        Loadable::Ready(report) => {
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

const NO_SANDBOX: &str = "\nThis system has no sandbox for the compiler: only the check of a kernel's text keeps it from files. \
                          Only run kernels from people you trust.";

/// What is known of the compiler; false when there was no room for it.
fn compiler_ui(ui: &mut Ui, screen: &Screen<'_>) -> bool {
    let t = theme::tokens(ui);
    let state = screen.state;
    let (text, color) = match &state.compiler {
        Compiler::Looking => ("Looking for NVRTC…".to_owned(), t.text_muted),
        Compiler::Found { .. } => {
            let report = state.desk().and_then(|desk| desk.compiled.value());
            let version = report.map(|report| format!("NVRTC {}", report.nvrtc_version));
            let version = version.unwrap_or_else(|| "NVRTC".to_owned());
            // Said every time: what guards the learner's files depends on it.
            if gpu_core::worker::has_jail() {
                (version, t.text_muted)
            } else {
                (format!("⚠ {version}, no sandbox"), t.warn)
            }
        }
        Compiler::Missing { .. } | Compiler::InstallFailed { .. } => ("⚠ No CUDA compiler".to_owned(), t.warn),
        Compiler::Installing { .. } => ("Installing the compiler…".to_owned(), t.text_muted),
    };
    if !has_room(ui, &text) {
        return false;
    }
    let label = ui.label(RichText::new(text).small().color(color));
    if let Compiler::Found { origin } = &state.compiler {
        let guard = if gpu_core::worker::has_jail() { "" } else { NO_SANDBOX };
        label.on_hover_text(format!("{origin}{guard}"));
    }
    true
}
