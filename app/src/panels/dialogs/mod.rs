//! Dialogs: one at a time, over the window, closed by Escape.

mod palette;
mod settings;

use super::{Screen, parts};
use crate::command::{Action, Command, Menu, keys_text};
use crate::fonts::Bold;
use crate::state::Dialog;
use crate::theme::{self, font_size, radius, space};
use crate::widgets::code_editor::names;
use crate::widgets::{focus, sentence};
use curriculum::store::Offered;
use egui::{Frame, Grid, Id, Key, Modal, RichText, ScrollArea, Stroke, TextEdit, Ui};

pub fn show(ui: &Ui, screen: &mut Screen<'_>, dialog: &Dialog) {
    let t = theme::tokens(ui);
    let frame = Frame::new()
        .fill(t.raised)
        .stroke(Stroke::new(1.0, t.border_strong))
        .corner_radius(radius::LARGE)
        .inner_margin(space::XL);
    // Each kind has a place of its own: a window keeps the size that it grew to.
    let kind = std::mem::discriminant(dialog);
    let id = Id::unique(("dialog", kind));
    screen.memory.dialog_opens = screen.memory.dialog.replace(kind) != Some(kind);
    if screen.memory.dialog_opens {
        // What had the keyboard lies behind the dialog now.
        ui.memory_mut(|memory| memory.stop_text_input());
    }
    let response = Modal::new(id).frame(frame).show(ui.ctx(), |ui| match dialog {
        Dialog::Palette { query } => palette::show(ui, screen, query),
        Dialog::GoToLine { text } => go_to_line(ui, screen, text),
        Dialog::Rename { old, new } => rename(ui, screen, old, new),
        Dialog::Settings(draft) => settings::show(ui, screen, draft),
        Dialog::Shortcuts => shortcuts(ui, screen),
        Dialog::About => about(ui, screen),
        Dialog::ConfirmSolution => confirm(
            ui,
            screen,
            "Show the solution?",
            "It opens by itself once your kernel passes. Seeing it now is noted in your progress, nothing else.",
            "Show it",
        ),
        Dialog::ConfirmResetDay => confirm(
            ui,
            screen,
            "Start this day over?",
            "Steps, answers, passed checks and reviews of this day are forgotten, and the scaffold replaces your text \
             (Undo brings the text back). Runs stay in the plots.",
            "Reset the day",
        ),
        Dialog::ConfirmImport => confirm(
            ui,
            screen,
            "Import another computer's state?",
            "Texts, progress and settings are replaced by those of the file that you choose next; what is there now is \
             kept in the folder `aside` of the data folder. Run histories are merged.",
            "Choose the file…",
        ),
        Dialog::ConfirmScript { file, confined } => {
            let may = if *confined {
                "It runs in a sandbox: it can read Python and its packages, and write to a scratch folder that is \
                 deleted afterwards. It cannot read your files or reach the network."
            } else {
                "There is no sandbox for files here, so it runs as you: it can read and change every file that you can."
            };
            let text = format!(
                "`{file}` is a Python script of this course folder and did not come with Lockstep. {may} Look at it first if \
                 you do not know who wrote it. Once allowed, it is not asked about again until Lockstep closes."
            );
            confirm(ui, screen, &format!("Run {file}?"), &text, "Run it");
        }
        Dialog::OfferPrograms(offered) => programs(ui, screen, offered),
        Dialog::ConfirmQuit => quit(ui, screen),
        Dialog::Profiles { names, new } => profiles(ui, screen, names, new),
        Dialog::ConfirmReset => confirm(
            ui,
            screen,
            "Go back to the scaffold?",
            "The text that the day starts from replaces yours. One Undo restores yours.",
            "Reset",
        ),
    });
    if response.should_close() {
        screen.send(Command::CloseDialog);
    }
}

/// The width that a dialog would like, or what the window has.
fn set_width(ui: &mut Ui, wanted: f32) {
    ui.set_width(wanted.min(ui.ctx().content_rect().width() - 2.0 * (space::XL + space::M)));
}

fn title(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).size(font_size::HEADING).bold());
    ui.add_space(space::S);
}

fn buttons(ui: &mut Ui, screen: &mut Screen<'_>, accept: &str, command: Command) {
    ui.add_space(space::M);
    parts::sides(
        ui,
        "buttons",
        screen,
        |_, _| {},
        |ui, screen| {
            let cancel = ui.button("Cancel");
            if cancel.clicked() {
                screen.send(Command::CloseDialog);
            }
            let button = focus::primary(ui, accept, true);
            // A dialog without fields has the keyboard here: Enter accepts, Escape does not.
            let nobody_has_it = ui.memory(|memory| memory.focused().is_none());
            if screen.memory.dialog_opens && nobody_has_it {
                // Where something would be lost or started unseen, Enter keeps things as they are.
                let careful = matches!(
                    screen.state.dialog,
                    Some(Dialog::ConfirmQuit | Dialog::OfferPrograms(_) | Dialog::ConfirmScript { .. })
                );
                if careful { &cancel } else { &button }.request_focus();
            }
            if button.clicked() {
                screen.send(command);
            }
        },
    );
}

fn confirm(ui: &mut Ui, screen: &mut Screen<'_>, question: &str, text: &str, accept: &str) {
    set_width(ui, 420.0);
    let t = theme::tokens(ui);
    title(ui, question);
    ui.add(egui::Label::new(sentence::job(ui, text, t.text)).wrap());
    buttons(ui, screen, accept, Command::ConfirmDialog);
}

/// What was typed would be lost; it can still become a file.
fn quit(ui: &mut Ui, screen: &mut Screen<'_>) {
    set_width(ui, 420.0);
    let t = theme::tokens(ui);
    title(ui, "Close without saving?");
    let state = screen.state;
    let why = state.read_only.as_deref().or(state.unsaved.as_deref());
    let text = match why {
        Some(why) => format!("What you typed last is only in memory. {}", sentence::whole(why)),
        None => "Everything is saved again.".to_owned(),
    };
    ui.add(egui::Label::new(sentence::job(ui, &text, t.text)).wrap());
    if state.desk().is_some_and(|desk| desk.loaded) && why.is_some() {
        ui.add_space(space::S);
        if ui.button("Save the kernel as a file…").on_hover_text(Action::ExportKernel.info().tooltip).clicked() {
            screen.send(Command::Do(Action::ExportKernel));
        }
    }
    buttons(ui, screen, "Close anyway", Command::ConfirmDialog);
}

/// What an imported state would have run: one by one, and nothing of it unless it is ticked.
fn programs(ui: &mut Ui, screen: &mut Screen<'_>, offered: &[(Offered, bool)]) {
    let t = theme::tokens(ui);
    set_width(ui, 520.0);
    title(ui, "This file also names programs");
    let text = "Texts, progress and harmless settings are in. These settings of the file would make Lockstep run something, so \
                they were left out. Tick only what you know and want on this computer.";
    ui.add(egui::Label::new(RichText::new(text).color(t.text_muted)).wrap());
    ui.add_space(space::S);
    ScrollArea::vertical().max_height(260.0).show(ui, |ui| {
        for (index, (offered, wanted)) in offered.iter().enumerate() {
            let mut ticked = *wanted;
            let label = format!("{}: {}", offered.setting, offered.purpose);
            if ui.checkbox(&mut ticked, label).changed() {
                screen.send(Command::WantProgram(index, ticked));
            }
            let value: String = offered.value.to_string().chars().take(300).collect();
            ui.add(egui::Label::new(RichText::new(value).monospace().color(t.text_muted)).wrap());
            ui.add_space(space::S);
        }
    });
    buttons(ui, screen, "Use the ticked ones", Command::ConfirmDialog);
}

/// Everybody who learns on this machine has texts and progress of their own.
fn profiles(ui: &mut Ui, screen: &mut Screen<'_>, names: &[String], new: &str) {
    let t = theme::tokens(ui);
    set_width(ui, 420.0);
    title(ui, "Profiles");
    let text = "Each has its own texts, progress and settings. The compiler is shared.";
    ui.add(egui::Label::new(RichText::new(text).color(t.text_muted)).wrap());
    ui.add_space(space::S);
    let all = std::iter::once(None).chain(names.iter().map(|name| Some(name.as_str())));
    ScrollArea::vertical().max_height(220.0).show(ui, |ui| {
        for name in all {
            let open = screen.state.profile.as_deref() == name;
            let text = name.unwrap_or("Own profile");
            if ui.selectable_label(open, text).clicked() {
                screen.send(Command::SwitchProfile(name.map(str::to_owned)));
            }
        }
        focus::follow(ui);
    });
    ui.add_space(space::S);
    let Line { response, typed, enter } = line_edit(ui, new, "New profile", "Name of a new profile");
    if screen.memory.dialog_opens {
        response.request_focus();
    }
    if typed != new {
        screen.send(Command::SetProfileName(typed));
    } else if enter && !new.trim().is_empty() {
        screen.send(Command::ConfirmDialog);
    }
    buttons(ui, screen, "Open", Command::ConfirmDialog);
}

/// A line of text in a dialog, as it is now.
struct Line {
    response: egui::Response,
    typed: String,
    /// Enter was pressed in it.
    enter: bool,
}

fn line_edit(ui: &mut Ui, text: &str, label: &str, hint: &str) -> Line {
    let mut typed = text.to_owned();
    let response = ui.add(TextEdit::singleline(&mut typed).hint_text(hint).desired_width(f32::INFINITY));
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::text_edit(true, text, text, "");
        info.label = Some(label.to_owned());
        info
    });
    let enter = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    Line { response, typed, enter }
}

fn go_to_line(ui: &mut Ui, screen: &mut Screen<'_>, text: &str) {
    let t = theme::tokens(ui);
    set_width(ui, 320.0);
    title(ui, "Go to Line");
    let lines = screen.state.desk().map_or(0, |desk| desk.editor.buffer().line_count());
    let hint = format!("1 to {lines}, or 12:5 for a column");
    let Line { response, typed, enter } = line_edit(ui, text, "Line number", &hint);
    if !enter {
        response.request_focus();
    }
    if typed != text {
        screen.send(Command::SetGoToLine(typed));
    }
    if enter {
        screen.send(Command::ConfirmDialog);
    }
    ui.label(RichText::new("Enter goes there. Escape closes.").small().color(t.text_muted));
}

fn rename(ui: &mut Ui, screen: &mut Screen<'_>, old: &str, new: &str) {
    set_width(ui, 360.0);
    title(ui, "Rename");
    let places = screen.state.desk().map_or(0, |desk| names::occurrences(desk.editor.text(), old).len());
    let text = format!("`{old}` appears in {} of this text.", parts::counted(places as u64, "place"));
    ui.label(sentence::job(ui, &text, theme::tokens(ui).text_muted));
    let Line { response, typed, enter } = line_edit(ui, new, "New name", "");
    if screen.memory.dialog_opens {
        response.request_focus();
    }
    if typed != new {
        screen.send(Command::SetNewName(typed));
    } else if enter {
        screen.send(Command::ConfirmDialog);
    }
    buttons(ui, screen, "Rename", Command::ConfirmDialog);
}

/// Width from which the cheat sheet has room for what each action does.
const EXPLAINED_WIDTH: f32 = 640.0;

/// The cheat sheet, from the table of actions.
fn shortcuts(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    set_width(ui, 700.0);
    title(ui, "Keyboard Shortcuts");
    ScrollArea::vertical().max_height(ui.ctx().content_rect().height() * 0.65).show(ui, |ui| {
        // One grid, so that the columns of all groups line up. In a narrow window pointing at a name explains it.
        let explains = ui.available_width() >= EXPLAINED_WIDTH;
        Grid::new("shortcuts").num_columns(3).spacing([space::XL, space::XS]).show(ui, |ui| {
            for menu in Menu::ALL {
                let keyed = |action: &Action| action.info().menu == menu && !action.info().shortcuts.is_empty();
                let actions: Vec<Action> = Action::ALL.into_iter().filter(keyed).collect();
                if actions.is_empty() {
                    continue;
                }
                parts::caption(ui, menu.title());
                ui.end_row();
                for action in actions {
                    ui.horizontal(|ui| {
                        ui.spacing_mut().item_spacing.x = space::XS;
                        for (index, shortcut) in action.info().shortcuts.iter().enumerate() {
                            if index > 0 {
                                ui.label(RichText::new("or").small().color(t.text_muted));
                            }
                            // Two keys, one after the other, are two caps.
                            for cap in keys_text(ui.ctx(), shortcut).split(' ') {
                                parts::key_cap(ui, cap);
                            }
                        }
                    });
                    ui.label(action.info().text).on_hover_text(action.info().tooltip);
                    if explains {
                        ui.label(RichText::new(action.info().tooltip).small().color(t.text_muted));
                    }
                    ui.end_row();
                }
            }
        });
        parts::caption(ui, "Editor");
        for text in crate::cheat_sheet::EDITOR {
            ui.label(text);
        }
        parts::caption(ui, "Visualizations");
        ui.add(egui::Label::new(crate::cheat_sheet::visualizations()).wrap());
    });
    closing(ui, screen, |ui, screen| {
        let save = ui.button("Save for printing…").on_hover_text(Action::SaveCheatSheet.tooltip(ui.ctx()));
        if save.clicked() {
            screen.send(Command::Do(Action::SaveCheatSheet));
        }
    });
}

/// Close at the right, and what else can be done left of it.
fn closing(ui: &mut Ui, screen: &mut Screen<'_>, more: impl FnOnce(&mut Ui, &mut Screen<'_>)) {
    ui.add_space(space::M);
    parts::sides(
        ui,
        "buttons",
        screen,
        |_, _| {},
        |ui, screen| {
            more(ui, screen);
            let close = ui.button("Close");
            if screen.memory.dialog_opens {
                close.request_focus();
            }
            if close.clicked() {
                screen.send(Command::CloseDialog);
            }
        },
    );
}

fn about(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    set_width(ui, 460.0);
    title(ui, "Lockstep");
    ui.label(format!("Version {}", env!("CARGO_PKG_VERSION")));
    ui.add_space(space::S);
    let text = "A lab for learning GPU programming in CUDA C++, on a GPU or on an emulator. \
                Everything drawn and graded comes from what your kernel really did.";
    ui.add(egui::Label::new(text).wrap());
    ui.add_space(space::S);
    ui.label(
        RichText::new("MIT or Apache-2.0. NVIDIA's compiler comes under NVIDIA's own license.").color(t.text_muted),
    );
    let folder = format!("Your texts and progress: {}", screen.state.data_dir.display());
    ui.add(egui::Label::new(RichText::new(folder).small().color(t.text_muted)).wrap());
    closing(ui, screen, |_, _| {});
}
