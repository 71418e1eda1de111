//! After Ctrl+K: which keys can come next, and what they do.

use super::{Memory, Screen, parts, status, toolbar};
use crate::command::{Action, Command, LEAD, Scope, key_names, keys_text};
use crate::theme::{self, space};
use crate::widgets::code_editor::editor_id;
use egui::{Align2, Area, Button, Event, Frame, Grid, Id, Key, Order, RichText, Ui};

/// Actions in a column of the list.
const ROWS: usize = 6;

/// The actions of two keys, with the second one.
fn actions() -> impl Iterator<Item = (Action, Key)> {
    let second = |action: Action| action.info().shortcuts.iter().find_map(|keys| keys.then);
    Action::ALL.into_iter().filter_map(move |action| Some((action, second(action)?)))
}

/// Takes Ctrl+K. The key after it may have come within the same frame: then that is carried out at once.
pub fn first_key(ctx: &egui::Context, memory: &mut Memory) -> Option<Vec<Command>> {
    let follows = ctx.input_mut(|input| {
        let key = LEAD.logical_key;
        let place = input
            .events
            .iter()
            .position(|event| matches!(event, Event::Key { key: k, pressed: true, .. } if *k == key));
        input.consume_shortcut(&LEAD).then(|| {
            let after = input.events.iter().skip(place.unwrap_or_default());
            after.into_iter().any(|event| matches!(event, Event::Key { key, pressed: true, .. } if !is_modifier(*key)))
        })
    })?;
    memory.lead = true;
    Some(if follows { second_key(ctx, memory) } else { Vec::new() })
}

/// Whoever holds Ctrl for the second key too, as other editors want it, presses it anew.
fn is_modifier(key: Key) -> bool {
    use Key::{AltLeft, AltRight, ControlLeft, ControlRight, ShiftLeft, ShiftRight, SuperLeft, SuperRight};
    matches!(key, AltLeft | AltRight | ControlLeft | ControlRight | ShiftLeft | ShiftRight | SuperLeft | SuperRight)
}

/// Takes the key that follows, whatever it is: nothing of it is typed into a text.
pub fn second_key(ctx: &egui::Context, memory: &mut Memory) -> Vec<Command> {
    let key = ctx.input_mut(|input| {
        let pressed = input.events.iter().find_map(|event| match event {
            Event::Key { key, pressed: true, .. } if !is_modifier(*key) => Some((*key, true)),
            // Whoever still holds Ctrl; that types nothing.
            Event::Copy => Some((Key::C, false)),
            Event::Cut => Some((Key::X, false)),
            Event::Paste(_) => Some((Key::V, false)),
            _ => None,
        })?;
        let has_typed = input.events.iter().any(|event| matches!(event, Event::Text(_)));
        input.events.retain(|event| {
            !matches!(event, Event::Key { .. } | Event::Text(_) | Event::Copy | Event::Cut | Event::Paste(_))
        });
        Some((pressed.0, pressed.1 && !has_typed))
    });
    let Some((key, will_type)) = key else { return Vec::new() };
    (memory.lead, memory.lead_types) = (false, will_type);
    let in_editor = ctx.memory(|memory| memory.has_focus(editor_id()));
    let fits = |action: Action| in_editor || action.info().scope == Scope::Global;
    match actions().find(|(action, second)| *second == key && fits(*action)) {
        Some((action, _)) => vec![Command::Do(action)],
        None if key == Key::Escape => Vec::new(),
        None => {
            let keys = crate::command::Keys { first: LEAD, then: Some(key) };
            vec![Command::Say(format!("{} is not a command. {} shows all keys", key_names(&keys), all_keys()))]
        }
    }
}

/// An input method may send the letter of a key after the key, in a frame of its own; until the next key it is not typed.
pub fn drop_letter(ctx: &egui::Context, memory: &mut Memory) {
    let is_key = |event: &Event| matches!(event, Event::Key { .. });
    memory.lead_types = ctx.input_mut(|input| {
        let over = input.events.iter().any(is_key);
        if !over {
            input.events.retain(|event| !matches!(event, Event::Text(_)));
        }
        !over
    });
}

fn all_keys() -> String {
    Action::Shortcuts.info().shortcuts.first().map(key_names).unwrap_or_default()
}

/// The list, above the strip at the bottom.
pub fn show(ui: &Ui, screen: &mut Screen<'_>) {
    if !screen.memory.lead {
        return;
    }
    let t = theme::tokens(ui);
    let place = egui::vec2(space::M, -status::HEIGHT - space::S);
    let area = Area::new(Id::unique("second key")).order(Order::Foreground).anchor(Align2::LEFT_BOTTOM, place);
    let shown = area.show(ui.ctx(), |ui| {
        Frame::popup(ui.style()).inner_margin(space::M).show(ui, |ui| {
            let lead = crate::command::Keys { first: LEAD, then: None };
            let head = format!("{} and then …   (Escape cancels)", keys_text(ui.ctx(), &lead));
            let head = ui.label(RichText::new(head).small().color(t.text_muted));
            ui.ctx().accesskit_node_builder(head.id, |node| node.set_live(egui::accesskit::Live::Polite));
            let listed: Vec<(Action, Key)> =
                actions().filter(|(action, _)| action.info().scope == Scope::Global).collect();
            Grid::new("second keys").spacing([space::L, space::XXS]).show(ui, |ui| {
                for row in 0..ROWS {
                    for (action, key) in listed.iter().skip(row).step_by(ROWS) {
                        row_ui(ui, screen, *action, *key);
                    }
                    ui.end_row();
                }
            });
        });
    });
    // A click elsewhere takes it back.
    let clicked = ui.input(|input| input.pointer.any_pressed().then(|| input.pointer.interact_pos()).flatten());
    if clicked.is_some_and(|at| !shown.response.rect.contains(at)) {
        screen.memory.lead = false;
    }
}

fn row_ui(ui: &mut Ui, screen: &mut Screen<'_>, action: Action, key: Key) {
    let t = theme::tokens(ui);
    let keys = crate::command::Keys { first: egui::KeyboardShortcut::new(egui::Modifiers::NONE, key), then: None };
    parts::key_cap(ui, &keys_text(ui.ctx(), &keys));
    let enabled = toolbar::is_enabled(screen, action);
    let button = Button::new(RichText::new(action.info().text).color(if enabled { t.text } else { t.text_faint }));
    let response = ui.add_enabled(enabled, button.frame_when_inactive(false)).on_hover_text(action.info().tooltip);
    if response.clicked() {
        screen.memory.lead = false;
        screen.send(Command::Do(action));
    }
}
