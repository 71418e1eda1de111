//! The search strip above the editor.

use super::Screen;
use crate::command::{Action, Command};
use crate::theme::{self, space};
use crate::widgets::code_editor::{EditorAction, Find};
use egui::{Frame, Key, Margin, RichText, Stroke, TextEdit, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, find: &Find, selection: &std::ops::Range<usize>) {
    let t = theme::tokens(ui);
    let mut query = find.query.clone();
    let mut replacement = find.replacement.clone();
    let mut typed = false;
    let (mut match_case, mut whole_word, mut regex) = (find.match_case, find.whole_word, find.regex);
    let frame = Frame::new()
        .fill(t.raised)
        .stroke(Stroke::new(1.0, t.border))
        .inner_margin(Margin::symmetric(space::M as i8, space::XS as i8));
    let at = find.matches.iter().position(|found| found == selection);
    frame.show(ui, |ui| {
        ui.take_available_width();
        ui.horizontal(|ui| {
            let edit = TextEdit::singleline(&mut query).desired_width(190.0).hint_text("Find").id_salt("find query");
            let response = ui.add(edit);
            label(&response, "Find", &query);
            // Also when the same words were typed over the old ones.
            typed = response.changed();
            if find.focus != screen.memory.find_focus_granted {
                screen.memory.find_focus_granted = find.focus;
                response.request_focus();
                select_all(ui, response.id, &query);
            }
            if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
                let shift = ui.input(|input| input.modifiers.shift);
                // The first Enter keeps the match that typing found; the next ones go on from there.
                if shift || at.is_none() || find.from.is_none() {
                    let step = if shift { EditorAction::FindPrevious } else { EditorAction::FindNext };
                    screen.send(Command::Edit(step));
                }
                screen.send(Command::Edit(EditorAction::KeepFound));
                response.request_focus();
            }
            if icon(ui, "⬆", Action::FindPrevious) {
                screen.send(Command::Edit(EditorAction::FindPrevious));
            }
            if icon(ui, "⬇", Action::FindNext) {
                screen.send(Command::Edit(EditorAction::FindNext));
            }
            toggle(ui, &mut match_case, "Aa", "Match case");
            toggle(ui, &mut whole_word, "ab|", "Whole words only");
            toggle(ui, &mut regex, ".*", "Regular expression; $1 in the replacement is its first group");
            let (text, color) = match (find.query.is_empty(), find.matches.len(), at) {
                _ if find.problem.is_some() => (String::new(), t.text_muted),
                (true, ..) => (String::new(), t.text_muted),
                (_, 0, _) => ("no match".to_owned(), t.fail),
                (_, count, Some(at)) => (format!("{} of {count}", at + 1), t.text_muted),
                (_, 1, None) => ("1 match".to_owned(), t.text_muted),
                (_, count, None) => (format!("{count} matches"), t.text_muted),
            };
            ui.label(RichText::new(text).small().color(color));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let close = ui.button("✖").on_hover_text("Close the search and stay here; Escape goes back");
                close.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "Close the search"));
                if close.clicked() {
                    screen.send(Command::Edit(EditorAction::KeepFound));
                    screen.send(Command::CloseFind);
                }
            });
        });
        if let Some(problem) = &find.problem {
            // Not an error in red: most of the time the expression is only not yet written to its end.
            let text = RichText::new(format!("Not a valid expression yet: {problem}")).small().color(t.warn);
            ui.add(egui::Label::new(text).wrap());
        }
        if find.replace_open {
            ui.horizontal(|ui| {
                let edit = TextEdit::singleline(&mut replacement)
                    .desired_width(190.0)
                    .hint_text("Replace with")
                    .id_salt("find replacement");
                let response = ui.add(edit);
                label(&response, "Replace with", &replacement);
                if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
                    screen.send(Command::Edit(EditorAction::ReplaceOne));
                    response.request_focus();
                }
                if ui.button("Replace").on_hover_text("Replace this match and go to the next").clicked() {
                    screen.send(Command::Edit(EditorAction::ReplaceOne));
                }
                if ui.button("Replace All").on_hover_text("Replace every match. One Undo takes it back").clicked() {
                    screen.send(Command::Edit(EditorAction::ReplaceAll));
                }
            });
        }
    });
    let changed = typed
        || query != find.query
        || replacement != find.replacement
        || match_case != find.match_case
        || whole_word != find.whole_word
        || regex != find.regex;
    if changed {
        screen.send(Command::SetFind { query, replacement, match_case, whole_word, regex });
    }
}

/// What was looked for before is replaced by typing, and taken as it is by Enter.
fn select_all(ui: &Ui, id: egui::Id, query: &str) {
    let mut state = TextEdit::load_state(ui.ctx(), id).unwrap_or_default();
    let end = egui::text::CCursor::new(query.chars().count());
    state.cursor.set_char_range(Some(egui::text::CCursorRange::two(egui::text::CCursor::default(), end)));
    TextEdit::store_state(ui.ctx(), id, state);
}

/// A switch whose name for screen readers is what it does.
fn toggle(ui: &mut Ui, on: &mut bool, text: &str, name: &str) {
    let response = ui.toggle_value(on, text).on_hover_text(name);
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, *on, name));
}

fn icon(ui: &mut Ui, text: &str, action: Action) -> bool {
    let response = ui.button(text).on_hover_text(action.tooltip(ui.ctx()));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, action.info().text));
    response.clicked()
}

fn label(response: &egui::Response, name: &str, text: &str) {
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::text_edit(true, text, text, name);
        info.label = Some(name.to_owned());
        info
    });
}
