//! Keys, mouse and screen reader requests to actions.

use super::{Editor, EditorAction, Motion};
use egui::{Event, EventFilter, Id, ImeEvent, Key, Modifiers, Ui, accesskit};

/// Keys that the editor keeps for itself while it has the focus. F6 is not among them: it leads out.
pub(super) const KEPT_KEYS: EventFilter =
    EventFilter { tab: true, horizontal_arrows: true, vertical_arrows: true, escape: true };

/// Actions for this frame's events. `page` is the number of lines that are visible.
pub(super) fn actions(ui: &Ui, id: Id, editor: &Editor, page: usize, read_only: bool) -> Vec<EditorAction> {
    let mut actions = Vec::new();
    let owns_ime = ui.memory(|memory| memory.owns_ime_events(id));
    for event in ui.input(|input| input.filtered_events(&KEPT_KEYS)) {
        match event {
            Event::Copy => ui.copy_text(editor.copy_text()),
            Event::Cut => {
                ui.copy_text(editor.copy_text());
                actions.push(EditorAction::Cut);
            }
            Event::Paste(text) if !text.is_empty() => actions.push(EditorAction::Paste(text)),
            Event::Text(text) if !text.is_empty() && text != "\n" && text != "\r" => {
                actions.push(EditorAction::Type(text));
            }
            Event::Ime(event) if owns_ime => match event {
                ImeEvent::Preedit { text, .. } if text != "\n" && text != "\r" && text != editor.composing() => {
                    actions.push(EditorAction::Compose(text));
                }
                ImeEvent::Commit(text) if text != "\n" && text != "\r" => {
                    actions.push(EditorAction::Compose(String::new()));
                    actions.push(EditorAction::Type(text));
                }
                _ => {}
            },
            Event::Key { key, pressed: true, modifiers, .. } => {
                let of_list = editor.completion().and_then(|_| list_action(key, modifiers));
                actions.extend(of_list.or_else(|| key_action(key, modifiers, page)));
            }
            _ => {}
        }
    }
    actions.extend(requests(ui, id));
    if read_only {
        actions.retain(|action| {
            matches!(
                action,
                EditorAction::Move { .. }
                    | EditorAction::Place { .. }
                    | EditorAction::SelectAll
                    | EditorAction::Select(_)
                    | EditorAction::SelectLine(_)
                    | EditorAction::SelectWord(_)
            )
        });
    }
    actions
}

/// What a screen reader asks for, which needs no focus.
pub(super) fn requests(ui: &Ui, id: Id) -> Vec<EditorAction> {
    let value = |request: &accesskit::ActionRequest| match &request.data {
        Some(accesskit::ActionData::Value(text)) => Some(text.to_string()),
        _ => None,
    };
    ui.input(|input| {
        let set = input.accesskit_action_requests(id, accesskit::Action::SetValue).filter_map(value);
        let replace = input.accesskit_action_requests(id, accesskit::Action::ReplaceSelectedText).filter_map(value);
        set.map(EditorAction::SetText).chain(replace.map(EditorAction::Paste)).collect()
    })
}

/// Keys of the open list of words.
fn list_action(key: Key, modifiers: Modifiers) -> Option<EditorAction> {
    if modifiers.any() {
        return None;
    }
    Some(match key {
        Key::ArrowUp => EditorAction::StepCompletion(-1),
        Key::ArrowDown => EditorAction::StepCompletion(1),
        Key::PageUp => EditorAction::StepCompletion(-8),
        Key::PageDown => EditorAction::StepCompletion(8),
        Key::Tab | Key::Enter => EditorAction::AcceptCompletion(None),
        Key::Escape => EditorAction::CloseCompletion,
        _ => return None,
    })
}

/// The editing keys that every editor has. Keys with a name in the menus are in the command table instead.
fn key_action(key: Key, modifiers: Modifiers, page: usize) -> Option<EditorAction> {
    let word = modifiers.ctrl || modifiers.alt;
    let command = modifiers.command;
    let motion = match key {
        Key::ArrowLeft if word => Motion::WordLeft,
        Key::ArrowRight if word => Motion::WordRight,
        Key::ArrowLeft => Motion::Left,
        Key::ArrowRight => Motion::Right,
        Key::ArrowUp if !word => Motion::Up,
        Key::ArrowDown if !word => Motion::Down,
        Key::PageUp if !word => Motion::PageUp(page),
        Key::PageDown if !word => Motion::PageDown(page),
        Key::Home if command => Motion::TextStart,
        Key::End if command => Motion::TextEnd,
        Key::Home => Motion::LineStart,
        Key::End => Motion::LineEnd,
        Key::Backspace => return Some(EditorAction::Erase(if word { Motion::WordLeft } else { Motion::Left })),
        Key::Delete if !modifiers.shift => {
            return Some(EditorAction::Erase(if word { Motion::WordRight } else { Motion::Right }));
        }
        Key::Tab if word || command => return None,
        Key::Tab if modifiers.shift => return Some(EditorAction::Outdent),
        Key::Tab => return Some(EditorAction::Indent),
        Key::Enter if !word && !command => return Some(EditorAction::NewLine),
        Key::Escape => return Some(EditorAction::CloseCompletion),
        Key::A if command && !modifiers.shift => return Some(EditorAction::SelectAll),
        _ => return None,
    };
    Some(EditorAction::Move { motion, extend: modifiers.shift })
}
