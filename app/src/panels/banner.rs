//! Strips under the toolbar: the missing compiler with the offer to install it, and other things that hold work up.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::state::Compiler;
use crate::theme::{self, Tokens, space};
use crate::widgets::{focus, sentence};
use egui::{Color32, Frame, Margin, Panel, ProgressBar, RichText, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    if let Some(problem) = &screen.state.course_problem {
        strip(ui, "course problem", t.fail_soft, |ui| {
            ui.label(RichText::new("✖").color(t.fail));
            let lines = problem.lines().count();
            let first = problem.lines().next().unwrap_or_default();
            let more = if lines > 1 { format!("  (and {} more)", lines - 1) } else { String::new() };
            let text = format!("The course folder is not shown, because it has errors: {first}{more}");
            ui.add(egui::Label::new(text).wrap()).on_hover_text(problem);
        });
    }
    unsaved_ui(ui, screen);
    if screen.state.compiler_banner_hidden {
        return;
    }
    match &screen.state.compiler {
        Compiler::Looking | Compiler::Found { .. } => {}
        Compiler::Missing { message, download_bytes } => strip(ui, "compiler", t.warn_soft, |ui| {
            missing_ui(ui, screen, t, ("⚠", t.warn), message, *download_bytes);
        }),
        Compiler::InstallFailed { message, download_bytes } => strip(ui, "compiler", t.fail_soft, |ui| {
            missing_ui(ui, screen, t, ("✖", t.fail), message, *download_bytes);
        }),
        Compiler::Installing { what, done_bytes, total_bytes } => strip(ui, "compiler", t.info_soft, |ui| {
            ui.label(format!("Installing {what}"));
            let share = if *total_bytes > 0 { *done_bytes as f32 / *total_bytes as f32 } else { 0.0 };
            let megabytes = |bytes: u64| bytes as f64 / 1e6;
            let text = match total_bytes {
                0 => "asking for it".to_owned(),
                _ => format!("{:.0} of {:.0} MB", megabytes(*done_bytes), megabytes(*total_bytes)),
            };
            let bar = ProgressBar::new(share)
                .desired_width(260.0)
                .fill(t.accent_soft)
                .text(RichText::new(text).color(t.text));
            ui.add(bar);
            if ui.button("Cancel").on_hover_text("Nothing is left half-installed").clicked() {
                screen.send(Command::StopInstall);
            }
        }),
    }
}

/// Nothing, or not everything, reaches the disk: it stays until that is over, with a way to keep the text.
fn unsaved_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let state = screen.state;
    let text = match (&state.read_only, &state.unsaved) {
        (Some(why), _) => format!("Nothing that you do here is saved: {}", sentence::whole(why)),
        (None, Some(why)) => sentence::whole(why),
        (None, None) => return,
    };
    strip(ui, "unsaved", t.warn_soft, |ui| {
        ui.label(RichText::new("⚠").color(t.warn));
        let words = |ui: &mut Ui, _: &mut Screen<'_>| {
            let label = ui.add(egui::Label::new(sentence::job(ui, &text, t.text)).wrap());
            ui.ctx().accesskit_node_builder(label.id, |node| node.set_live(egui::accesskit::Live::Polite));
        };
        parts::sides(ui, "unsaved", screen, words, |ui, screen| {
            let has_text = screen.state.desk().is_some_and(|desk| desk.loaded);
            let button = ui.add_enabled(has_text, egui::Button::new("Save the kernel as a file…"));
            if button.on_hover_text("Keeps a copy of this text somewhere else").clicked() {
                screen.send(Command::Do(Action::ExportKernel));
            }
        });
    });
}

fn missing_ui(
    ui: &mut Ui,
    screen: &mut Screen<'_>,
    t: &Tokens,
    (symbol, color): (&str, Color32),
    message: &str,
    download_bytes: u64,
) {
    ui.label(RichText::new(symbol).color(color));
    let size =
        if download_bytes > 0 { format!(" ({:.0} MB from PyPI)", download_bytes as f64 / 1e6) } else { String::new() };
    let text = format!(
        "{} You can read without it, but kernels need it to run. Lockstep can install it into its own folder{size}, \
         with no CUDA toolkit and no administrator.",
        sentence::whole(message)
    );
    let words = |ui: &mut Ui, _: &mut Screen<'_>| {
        ui.add(egui::Label::new(sentence::job(ui, &text, t.text)).wrap());
    };
    parts::sides(ui, "compiler", screen, words, |ui, screen| {
        let licence = "Downloads NVIDIA's wheels with pip and checks their hashes; NVIDIA's license applies to them";
        if focus::primary(ui, "Install NVRTC", true).on_hover_text(licence).clicked() {
            screen.send(Command::InstallCompiler);
        }
        if ui.button("Choose a folder…").on_hover_text("Name the folder that holds libnvrtc").clicked() {
            screen.send(Command::Do(Action::Settings));
        }
        if ui.button("Look again").on_hover_text("After installing it yourself").clicked() {
            screen.send(Command::LookForCompiler);
        }
        if ui.button("Later").on_hover_text("Hide this until a kernel is run").clicked() {
            screen.send(Command::HideCompilerBanner);
        }
    });
}

fn strip(ui: &mut Ui, id: &str, fill: Color32, contents: impl FnOnce(&mut Ui)) {
    let frame = Frame::new().fill(fill).inner_margin(Margin::symmetric(space::L as i8, space::S as i8));
    Panel::top(format!("banner {id}")).frame(frame).resizable(false).show(ui, |ui| {
        ui.horizontal(contents);
    });
}
