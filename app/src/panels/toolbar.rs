//! The strip at the top: menus, device, Check, Benchmark, Stop.

use super::{Screen, parts};
use crate::command::{Action, Command, Menu};
use crate::dock;
use crate::icons;
use crate::state::{DeviceKey, LabKey, Loadable, Pane};
use crate::theme::{self, space};
use crate::widgets::focus;
use egui::{Button, ComboBox, Frame, Margin, MenuBar, RichText, ScrollArea, Stroke, Ui};
use gpu_core::device::{DeviceChoice, DeviceInfo};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let frame = Frame::new().inner_margin(Margin::symmetric(space::M as i8, space::XS as i8));
    frame.show(ui, |ui| {
        ui.set_min_height(30.0);
        let menus = |ui: &mut Ui, screen: &mut Screen<'_>| {
            MenuBar::new().ui(ui, |ui| {
                for menu in Menu::ALL {
                    menu_ui(ui, screen, menu);
                }
            });
        };
        parts::sides(ui, "toolbar", screen, menus, run_ui);
    });
}

fn menu_ui(ui: &mut Ui, screen: &mut Screen<'_>, menu: Menu) {
    ui.menu_button(menu.title(), |ui| {
        ui.set_min_width(240.0);
        ui.spacing_mut().item_spacing.y = space::XXS;
        // A long menu would end below the window.
        let room = ui.ctx().content_rect().height() - 60.0;
        // Else it is as high as egui makes a window of unknown height.
        ui.set_max_height(room);
        ScrollArea::vertical().max_height(room).show(ui, |ui| {
            let actions = Action::ALL.into_iter().filter(|action| action.info().menu == menu);
            for (index, action) in actions.enumerate() {
                if index > 0 && action.begins_group() {
                    ui.separator();
                }
                let icon = action.icon().map_or_else(icons::room, icons::atom);
                let button =
                    Button::new((icon, action.info().text)).shortcut_text(action.shortcut_text(ui.ctx())).gap(space::M);
                let enabled = is_enabled(screen, action);
                let button = button.selected(is_on(screen, action));
                if ui.add_enabled(enabled, button).on_hover_text(action.info().tooltip).clicked() {
                    screen.send(Command::Do(action));
                    ui.close();
                }
            }
            focus::follow(ui);
        });
    });
}

/// Whether the action can do anything now.
pub fn is_enabled(screen: &Screen<'_>, action: Action) -> bool {
    let state = screen.state;
    let desk = state.desk().filter(|desk| desk.loaded);
    match action {
        Action::Check | Action::Benchmark | Action::Profile => desk.is_some() && !state.is_running(),
        Action::Stop => state.is_running(),
        Action::Undo => desk.is_some_and(|desk| desk.editor.can_undo()),
        Action::Redo => desk.is_some_and(|desk| desk.editor.can_redo()),
        Action::ImportKernel
        | Action::ExportKernel
        | Action::ResetToScaffold
        | Action::Find
        | Action::Replace
        | Action::FindNext
        | Action::FindPrevious
        | Action::GoToLine
        | Action::NextProblem
        | Action::Complete
        | Action::Parameters
        | Action::Explain
        | Action::FoldHints
        | Action::OpenElsewhere
        | Action::ShowCompare
        | Action::NextDifference
        | Action::PreviousDifference
        | Action::ToggleComment
        | Action::DuplicateLine
        | Action::DeleteLine
        | Action::MoveLineUp
        | Action::MoveLineDown
        | Action::NextHint
        | Action::GoToDefinition
        | Action::Rename
        | Action::Format
        | Action::QuickFix
        | Action::CopyPlot
        | Action::SavePlotSvg
        | Action::SavePlotPng
        | Action::ShowSolution => desk.is_some(),
        Action::CloseElsewhere => desk.is_some_and(|desk| desk.elsewhere.is_some()),
        Action::ShowVisualization => state.has_content(Pane::Visualization),
        Action::ResetDay => state.day().is_some_and(curriculum::Unit::is_written),
        Action::StepChallenge | Action::StepExplore | Action::StepConcept | Action::StepCodeIt | Action::StepVerify => {
            state.day().is_some_and(curriculum::Unit::is_written)
        }
        _ => true,
    }
}

/// Whether a menu item carries a tick.
fn is_on(screen: &Screen<'_>, action: Action) -> bool {
    use curriculum::store::ThemeChoice;
    let state = screen.state;
    match action {
        Action::ToggleCourse => state.is_in_sight(Pane::Course),
        Action::ToggleLesson => state.is_in_sight(Pane::Lesson),
        Action::ToggleResults => Pane::RESULTS.iter().any(|pane| state.is_in_sight(*pane)),
        Action::Projector => state.settings.projector,
        Action::ReducedMotion => state.settings.reduced_motion,
        Action::CloseBrackets => state.settings.close_brackets,
        Action::ShowVisualization => state.is_in_sight(Pane::Visualization),
        Action::ShowCompare => state.is_in_sight(Pane::Compare),
        Action::ShowCompiled => state.is_in_sight(Pane::Compiled),
        Action::ShowPlots => state.is_in_sight(Pane::Timing),
        Action::ShowLog => state.is_in_sight(Pane::Log),
        Action::ShowProgress => state.is_in_sight(Pane::Progress),
        Action::ShowGallery => state.is_in_sight(Pane::Gallery),
        Action::ShowCourseMap => {
            state.view.visualization.as_deref() == Some("course-map") && state.is_in_sight(Pane::Visualization)
        }
        Action::ShowGlossary => state.is_in_sight(Pane::Glossary),
        Action::Sandbox => state.has_content(Pane::Sandbox),
        Action::FullSize => state.view.full.is_some(),
        Action::WrapLines => state.settings.wrap_lines,
        Action::LineColors => state.view.line_colors,
        Action::SearchCourse => state.is_in_sight(Pane::Search),
        Action::LayoutRead => state.view.dock.layout() == dock::Layout::Read,
        Action::LayoutCode => state.view.dock.layout() == dock::Layout::Code,
        Action::LayoutProfile => state.view.dock.layout() == dock::Layout::Profile,
        Action::ThemeDark => state.settings.theme == ThemeChoice::Dark,
        Action::ThemeLight => state.settings.theme == ThemeChoice::Light,
        Action::ThemeSystem => state.settings.theme == ThemeChoice::System,
        Action::ShowSolution => state.is_in_sight(Pane::Solution),
        _ => false,
    }
}

/// Device, and what is done with the kernel on it.
fn run_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    // A long name is cut: it would push Stop out of the window.
    let most = if screen.state.view.dock.is_narrow() { 84.0 } else { 190.0 } + space::XXL;
    ui.scope(|ui| {
        ui.set_max_width(most);
        devices_ui(ui, screen);
    });
    ui.add_space(space::XS);
    let ready = is_enabled(screen, Action::Check);
    let check = parts::action_response(ui, Action::Check, "Check", true, ready);
    if screen.takes_focus(Pane::Toolbar) {
        check.request_focus();
    }
    if check.clicked() {
        screen.send(Command::Do(Action::Check));
    }
    let bench = parts::action_button(ui, Action::Benchmark, "Benchmark", false, ready);
    screen.commands.extend(bench);
    let running = screen.state.is_running();
    let color = if running { t.fail } else { t.text_muted };
    let stop = Button::new((icons::colored(icons::STOP, color), RichText::new("Stop").color(color)))
        .stroke(Stroke::new(1.0, if running { t.fail } else { t.border }));
    let response = ui.add_enabled(running, stop).on_hover_text(Action::Stop.tooltip(ui.ctx()));
    focus::ring(ui, &response);
    if response.on_disabled_hover_text("Nothing is running").clicked() {
        screen.send(Command::Do(Action::Stop));
    }
}

fn devices_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let state = screen.state;
    let picked = state.devices.name(&state.devices.picked);
    let mut chosen = None;
    let response = ComboBox::from_id_salt("device")
        .selected_text(RichText::new(&picked))
        .width(if screen.state.view.dock.is_narrow() { 84.0 } else { 190.0 })
        .truncate()
        .height(400.0)
        .show_ui(ui, |ui| {
            ui.set_min_width(260.0);
            for (lab, list) in &state.devices.labs {
                if let LabKey::Remote(name) = lab {
                    ui.separator();
                    parts::caption(ui, name);
                }
                let devices: Vec<DeviceInfo> = list.devices.value().cloned().unwrap_or_default();
                for info in &devices {
                    let key = DeviceKey { lab: lab.clone(), choice: info.choice.clone() };
                    let selected = state.devices.picked == key;
                    let text = format!("{}  ·  {}", info.name, info.arch);
                    if ui.selectable_label(selected, text).clicked() {
                        chosen = Some(key);
                    }
                }
                if devices.is_empty() {
                    unknown_ui(ui, screen, lab, &list.devices, &mut chosen);
                }
            }
            ui.separator();
            if ui.button("Add a remote machine…").clicked() {
                screen.commands.push(Command::Do(Action::Settings));
                ui.close();
            }
        })
        .response;
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Device");
        info.current_text_value = Some(picked.clone());
        info
    });
    response.on_hover_text("Where kernels run. The emulator finds races and counts memory sectors; a GPU is timed.");
    if let Some(key) = chosen {
        screen.send(Command::PickDevice(key));
    }
}

/// A lab whose devices are not known yet.
fn unknown_ui(
    ui: &mut Ui,
    screen: &Screen<'_>,
    lab: &LabKey,
    devices: &Loadable<Vec<DeviceInfo>>,
    chosen: &mut Option<DeviceKey>,
) {
    let t = theme::tokens(ui);
    let picked = &screen.state.devices.picked;
    match lab {
        LabKey::Here => {
            let key = DeviceKey::emulator();
            if ui.selectable_label(*picked == key, "Emulator").clicked() {
                *chosen = Some(key);
            }
        }
        LabKey::Remote(_) => {
            let key = DeviceKey { lab: lab.clone(), choice: DeviceChoice::Gpu(0) };
            if ui.selectable_label(*picked == key, "First GPU").clicked() {
                *chosen = Some(key);
            }
        }
    }
    match devices {
        Loadable::Pending { .. } => {
            ui.label(RichText::new("looking for devices…").small().color(t.text_muted));
        }
        Loadable::Failed { message, .. } => {
            ui.label(RichText::new(message).small().color(t.fail));
        }
        Loadable::Empty | Loadable::Ready(_) => {}
    }
}
