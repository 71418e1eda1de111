//! The settings page.

use super::{buttons, title};
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::panels::{Screen, parts};
use crate::state::SettingsDraft;
use crate::theme::{self, space};
use crate::widgets::{focus, sentence, tick};
use curriculum::store::ThemeChoice;
use egui::{DragValue, Grid, RichText, ScrollArea, TextEdit, Ui};

/// One width for the names of both groups, so that their fields line up.
const LABEL_WIDTH: f32 = 90.0;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, old: &SettingsDraft) {
    let t = theme::tokens(ui);
    super::set_width(ui, 600.0);
    title(ui, "Settings");
    let opens = screen.memory.dialog_opens;
    let mut draft = old.clone();
    ScrollArea::vertical().max_height((ui.ctx().content_rect().height() - 190.0).max(120.0)).show(ui, |ui| {
        parts::caption(ui, "Look");
        Grid::new("look").num_columns(2).min_col_width(LABEL_WIDTH).spacing([space::XXL, space::S]).show(ui, |ui| {
            ui.label("Theme");
            ui.horizontal(|ui| {
                let choices =
                    [(ThemeChoice::System, "System"), (ThemeChoice::Light, "Light"), (ThemeChoice::Dark, "Dark")];
                for (choice, name) in choices {
                    let radio = tick::radio(ui, &mut draft.settings.theme, choice, name);
                    if opens && draft.settings.theme == choice {
                        radio.request_focus();
                    }
                }
            });
            ui.end_row();
            let label = ui.label("Zoom");
            let mut percent = (draft.settings.scale * 100.0).round();
            let drag = DragValue::new(&mut percent).range(50.0..=400.0).speed(1.0).max_decimals(0).suffix(" %");
            if ui.add(drag).labelled_by(label.id).changed() {
                draft.settings.scale = percent / 100.0;
            }
            ui.end_row();
            let label = ui.label("Code size");
            let drag = DragValue::new(&mut draft.settings.editor_points)
                .range(8.0..=40.0)
                .speed(0.1)
                .max_decimals(1)
                .suffix(" pt");
            ui.add(drag).labelled_by(label.id);
            ui.end_row();
            ui.label("Typing");
            let words = "Close brackets and quotes";
            let about = Action::CloseBrackets.info().tooltip;
            tick::checkbox(ui, &mut draft.settings.close_brackets, words).on_hover_text(about);
            ui.end_row();
            ui.label("Long lines");
            let about = Action::WrapLines.tooltip(ui.ctx());
            tick::checkbox(ui, &mut draft.settings.wrap_lines, "Wrap at the edge of the editor").on_hover_text(about);
            ui.end_row();
            let label = ui.label("Indentation");
            let drag = DragValue::new(&mut draft.settings.tab_width).range(1..=8).speed(0.05).suffix(" columns");
            ui.add(drag).labelled_by(label.id);
            ui.end_row();
            ui.label("Motion");
            let about = Action::ReducedMotion.tooltip(ui.ctx());
            tick::checkbox(ui, &mut draft.settings.reduced_motion, "Reduced motion: nothing moves by itself")
                .on_hover_text(about);
            ui.end_row();
            ui.label("Projector");
            let about = Action::Projector.tooltip(ui.ctx());
            tick::checkbox(ui, &mut draft.settings.projector, "Projector mode: large type, high contrast")
                .on_hover_text(about);
            ui.end_row();
        });
        ui.add_space(space::M);
        parts::caption(ui, "Compiler and course");
        Grid::new("paths").num_columns(2).min_col_width(LABEL_WIDTH).spacing([space::XXL, space::S]).show(ui, |ui| {
            path_ui(ui, "NVRTC", &mut draft.nvrtc, "Folder with libnvrtc. Leave empty to search for it");
            path_ui(ui, "Course folder", &mut draft.content, "Leave empty for the built-in course");
            path_ui(ui, "Python", &mut draft.python, "Python for the scripts. Leave empty for python3");
            let mut editor = draft.settings.editor.clone().unwrap_or_default();
            path_ui(ui, "Your editor", &mut editor, "A command such as code. Leave empty for the default");
            draft.settings.editor = (!editor.trim().is_empty()).then_some(editor);
        });
        ui.add_space(space::M);
        parts::caption(ui, "Remote machines");
        let about = "A command that starts `lockstep worker` on another machine, so that kernels can run there.";
        ui.label(sentence::job(ui, about, t.text_muted));
        let mut removed = None;
        for (index, remote) in draft.settings.remotes.iter().enumerate() {
            ui.horizontal(|ui| {
                ui.label(RichText::new(&remote.name).bold());
                ui.monospace(&remote.command);
                if ui.button("Remove").on_hover_text(format!("Forget {}", remote.name)).clicked() {
                    removed = Some(index);
                }
            });
        }
        ui.horizontal_wrapped(|ui| {
            let edit = TextEdit::singleline(&mut draft.remote_name).hint_text("Name, such as spark");
            let name = ui.add_sized([150.0, 26.0], edit);
            labelled(&name, "Remote name", &draft.remote_name);
            let edit = TextEdit::singleline(&mut draft.remote_command).hint_text("ssh spark lockstep worker");
            let command = ui.add_sized([ui.available_size_before_wrap().x.clamp(150.0, 320.0), 26.0], edit);
            labelled(&command, "Remote command", &draft.remote_command);
            ui.label(RichText::new("Save adds it").small().color(t.text_muted));
        });
        if let Some(index) = removed {
            draft.settings.remotes.remove(index);
        }
        if let Some(problem) = &draft.problem {
            ui.label(sentence::job(ui, problem, t.fail));
        }
        focus::follow(ui);
    });
    if draft != *old {
        draft.problem = None;
        screen.send(Command::SetSettingsDraft(Box::new(draft)));
    }
    buttons(ui, screen, "Save", Command::SaveSettings);
}

fn path_ui(ui: &mut Ui, name: &str, text: &mut String, hint: &str) {
    ui.label(name);
    let response = ui.add(TextEdit::singleline(text).hint_text(hint).desired_width(ui.available_width()));
    labelled(&response, name, text);
    ui.end_row();
}

fn labelled(response: &egui::Response, name: &str, text: &str) {
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::text_edit(true, text, text, "");
        info.label = Some(name.to_owned());
        info
    });
}
