//! The panes to work in: editor, visualization and solution.

use super::{Screen, find, parts};
use crate::command::{Action, Command};
use crate::state::Pane;
use crate::theme::{self, space};
use crate::viz::{self, VizAction, VizInput};
use crate::widgets::code_editor::{self, EditorLook, MarkKind};
use crate::widgets::focus;
use crate::widgets::lesson_text::code_job;
use egui::{Frame, RichText, ScrollArea, Ui};

/// The editor's title: what is being edited.
pub fn editor_title(screen: &Screen<'_>) -> String {
    let state = screen.state;
    if state.desk.as_ref().is_some_and(crate::sandbox::is_free) {
        return "Sandbox kernel".to_owned();
    }
    match (state.experiment(), state.exercise(), state.desk()) {
        (Some(experiment), ..) => format!("Experiment: {}", experiment.title),
        (_, Some(exercise), Some(desk)) if desk.exercise != curriculum::MAIN => {
            format!("Editor: {}", exercise.spec.title)
        }
        _ => "Editor".to_owned(),
    }
}

/// How many problems there are, as a way to the next one.
pub fn marks_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let Some(desk) = screen.state.desk() else { return };
    // The same number as on the tab that lists them: some have no line to be marked.
    let count = desk.problem_count();
    if count > 0 {
        let text = if count == 1 { "1 problem".to_owned() } else { format!("{count} problems") };
        let serious = desk.editor.marks.iter().any(|mark| matches!(mark.kind, MarkKind::Error | MarkKind::Fault));
        let color = if serious { t.fail } else { t.warn };
        let button = egui::Button::new(RichText::new(text).small().color(color)).frame_when_inactive(false);
        if ui.add(button).on_hover_text(Action::NextProblem.tooltip(ui.ctx())).clicked() {
            screen.send(Command::Do(Action::NextProblem));
        }
    } else if desk.is_stale() {
        ui.label(RichText::new("changed since the last run").small().color(t.text_muted));
    }
    if let Some(file) = &desk.elsewhere {
        let text = RichText::new("open in your editor ✖").small().color(t.text_muted);
        let about = format!("Saving {} loads it here and checks it. Click to stop watching it", file.display());
        let response = ui.add(egui::Button::new(text).frame_when_inactive(false)).on_hover_text(about);
        response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, Action::CloseElsewhere.info().text));
        if response.clicked() {
            screen.send(Command::Do(Action::CloseElsewhere));
        }
    }
}

pub fn editor_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let Some(desk) = screen.state.desk() else {
        return parts::empty(ui, Pane::Editor.icon(), "No kernel here", "This day has no exercise, only the lesson.");
    };
    if !desk.loaded {
        return parts::empty(ui, Pane::Editor.icon(), "Opening your text…", "");
    }
    knobs_ui(ui, screen);
    if desk.editor.find.open {
        find::show(ui, screen, &desk.editor.find, &desk.editor.selection());
    }
    let key = format!("{}/{}", desk.day, desk.exercise);
    let place = format!("editor {key}");
    let down = screen.kept_scroll(&place);
    let t = theme::tokens(ui);
    let (memory, colors) = (&*screen.memory, screen.state.view.line_colors);
    let is_linked = [Pane::Compiled, Pane::Visualization].iter().any(|pane| screen.state.is_in_sight(*pane));
    let tint = |line: u32| match is_linked && memory.hovered_line == Some(line) {
        true => Some(t.hover),
        false => (colors && memory.listing.has_line(line)).then(|| theme::line_tint(t, line)),
    };
    let look = EditorLook {
        editor: &desk.editor,
        key: &key,
        read_only: false,
        label: "Code editor",
        wrap: screen.state.settings.wrap_lines,
        down,
        tint: &tint,
    };
    let response = code_editor::show(ui, &look);
    if response.hovered.is_some() {
        screen.memory.hovered_now = response.hovered;
    }
    screen.memory.scrolls.insert(place, response.down);
    if screen.takes_focus(Pane::Editor) {
        response.response.request_focus();
    }
    screen.commands.extend(response.actions.into_iter().map(Command::Edit));
}

/// The values to turn of an open experiment, and the way back to the learner's own kernel.
fn knobs_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let state = screen.state;
    let (Some(experiment), Some(desk)) = (state.experiment(), state.desk()) else { return };
    Frame::new().fill(t.raised).inner_margin(space::S).show(ui, |ui| {
        ui.take_available_width();
        ui.horizontal_wrapped(|ui| {
            for knob in &experiment.knobs {
                ui.label(RichText::new(&knob.name).monospace().strong()).on_hover_text(&knob.label);
                let now = knob.values.iter().find(|value| {
                    let line = format!("#define {} {value}", knob.name);
                    desk.editor.text().lines().any(|text| text.split_whitespace().eq(line.split_whitespace()))
                });
                for value in &knob.values {
                    let response = ui.selectable_label(now == Some(value), value.to_string());
                    let name = format!("{} = {value}", knob.name);
                    response.widget_info(|| {
                        egui::WidgetInfo::selected(egui::Role::Button, true, now == Some(value), &name)
                    });
                    if response.on_hover_text(&knob.label).clicked() {
                        screen.commands.push(Command::TurnKnob { name: knob.name.clone(), value: *value });
                    }
                }
                ui.separator();
            }
            if ui.button("Back to my kernel").clicked() {
                screen.commands.push(Command::OpenExercise(desk.exercise.clone()));
            }
        });
    });
}

/// The title of a visualization by id.
pub fn visualization_title(id: &str) -> String {
    viz::titles().iter().find(|(known, _)| *known == id).map_or(id, |(_, title)| title).to_owned()
}

pub fn visualization_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let state = screen.state;
    let Some(id) = &state.view.visualization else {
        return parts::empty(ui, Pane::Visualization.icon(), "No visualization here", "This day has none.");
    };
    if !screen.memory.visualizations.contains_key(id) {
        match viz::by_id(id) {
            Some(found) => screen.memory.visualizations.insert(id.clone(), found),
            None => {
                return parts::empty(
                    ui,
                    Pane::Visualization.icon(),
                    id,
                    "This visualization comes with a later version of Lockstep.",
                );
            }
        };
    }
    let Some(shown) = screen.memory.visualizations.get_mut(id) else { return };
    let desk = state.desk();
    // On a page without a kernel the one that was open before serves.
    let compiled_desk = desk.or_else(|| state.desks.values().rev().find(|desk| desk.versions.listed.is_some()));
    if shown.wants_listing() && state.listing_lacks() {
        screen.commands.push(Command::FetchListing);
    }
    let traced = desk.and_then(|desk| desk.traced.as_ref());
    let compiled = desk.and_then(|desk| desk.compiled.value());
    let entry = state.spec().map(gpu_core::spec::Spec::entry);
    let input = VizInput {
        trace: traced.and_then(|traced| traced.trace.as_ref()),
        captured: traced.and_then(|traced| traced.captured.as_ref()),
        is_traceless: traced.is_some_and(|traced| traced.trace.is_none()),
        source: traced.map(|traced| traced.source.as_str()),
        ended_by: traced.and_then(|traced| traced.ended_by.as_ref()),
        is_stale: desk.zip(traced).is_some_and(|(desk, traced)| desk.editor.text() != traced.source),
        is_overtaken: desk.is_some_and(|desk| desk.trouble.is_some()),
        bench: desk.and_then(|desk| desk.bench.value()),
        line: desk.and_then(|desk| u32::try_from(desk.editor.cursor_position().0).ok()),
        resources: compiled.and_then(|report| report.kernels.iter().find(|kernel| Some(kernel.name.as_str()) == entry)),
        text: compiled_desk.map(|desk| desk.editor.text()),
        compiled: compiled_desk.and_then(|desk| desk.versions.listed.as_ref()),
        course: Some(&state.course),
        progress: Some(&state.progress),
        has_decode_kernel: state.decode_desk().is_some(),
        device: state.devices.info(&state.devices.picked),
        ceilings: state.devices.ceilings(),
        measured: Some(&state.scripts),
    };
    viz::kit::set_pointed(ui, screen.memory.hovered_line);
    let action = ScrollArea::vertical()
        .id_salt(("visualization", id))
        .auto_shrink(false)
        .show(ui, |ui| {
            let action = Frame::new().inner_margin(space::L).show(ui, |ui| shown.ui(ui, &input)).inner;
            focus::follow(ui);
            action
        })
        .inner;
    if let Some(line) = viz::kit::pointed_here(ui) {
        screen.memory.hovered_now = Some(line);
    }
    match action {
        Some(VizAction::GoToLine(place)) if place.file == crate::lab::KERNEL_NAME => {
            screen.send(Command::GoToLine { line: place.line, column: place.column });
        }
        Some(VizAction::OpenUnit(id)) => screen.send(Command::OpenDay(id)),
        Some(VizAction::Measure(program)) => screen.send(Command::RunProgram(program.to_owned())),
        Some(VizAction::Decode { cache, own }) => screen.send(Command::Decode { cache, own }),
        Some(VizAction::StopMeasuring) => screen.send(Command::StopScript),
        Some(VizAction::GoToLine(_)) | None => {}
    }
}

pub fn solution_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let Some(exercise) = screen.state.exercise() else { return };
    let text = |fast: bool| if fast { &exercise.reference } else { exercise.solution() };
    let which = egui::Id::unique("which solution is shown");
    let mut fast = ui.data(|data| data.get_temp(which).unwrap_or(false));
    Frame::new().inner_margin(space::M).show(ui, |ui| {
        ui.horizontal(|ui| {
            if exercise.plain_solution.is_some() {
                ui.selectable_value(&mut fast, false, "Plain").on_hover_text("The scaffold with its places filled in");
                ui.selectable_value(&mut fast, true, "Fast").on_hover_text("What benchmarks compare with");
            }
            let words = |ui: &mut Ui, _: &mut Screen<'_>| {
                let text = "Our solution. Yours is untouched in the editor.";
                ui.add(egui::Label::new(RichText::new(text).color(t.text_muted)).truncate());
            };
            parts::sides(ui, "solution", screen, words, |ui, screen| {
                let button = ui.button("Open in the editor");
                let name = "Open our solution in the editor";
                button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
                if button.on_hover_text("Undo restores your text").clicked() {
                    screen.send(Command::OpenInEditor(text(fast).to_owned()));
                }
                if ui.button("Copy").clicked() {
                    screen.send(Command::CopyText(text(fast).to_owned()));
                }
            });
        });
        ScrollArea::both().id_salt("solution").auto_shrink(false).show(ui, |ui| {
            let job = code_job(t, "cuda", text(fast));
            ui.add(egui::Label::new(job).extend().selectable(true));
        });
    });
    ui.data_mut(|data| data.insert_temp(which, fast));
}
