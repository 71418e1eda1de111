//! Keys that are pressed while the keyboard is on its way to another control: they wait for it, in order.
//!
//! A command opens a dialog at the end of one frame, and the dialog's text box has the keyboard two frames later. What is
//! typed meanwhile would go to nobody, or into the kernel.

use super::Memory;
use crate::command::Action;
use crate::state::{Dialog, State};
use egui::{Context, Event, Key, KeyboardShortcut};

/// Frames that keys wait at most: the pane that was asked for may not be in sight.
const MOST_FRAMES: u32 = 8;

#[derive(Default)]
pub struct TypedAhead {
    held: Vec<Event>,
    frames: u32,
    /// Whom the keys wait for: the request for the keyboard, and whether a dialog is open.
    awaited: (u64, bool),
}

/// Holds back what was typed while the keyboard moves, and lets it go when it has arrived. Called first in a frame.
pub fn pass(ctx: &Context, state: &State, memory: &mut Memory) {
    let awaited = (state.view.focus.1, state.dialog.is_some());
    let moves = is_moving(ctx, state, memory);
    let waiting = &mut memory.typed_ahead;
    if waiting.awaited != awaited {
        (waiting.awaited, waiting.frames) = (awaited, 0);
    }
    if moves && waiting.frames < MOST_FRAMES {
        waiting.frames += 1;
        ctx.input_mut(|input| hold_from(&mut input.events, 0, &mut waiting.held));
        if !waiting.held.is_empty() {
            ctx.request_repaint();
        }
    } else if !waiting.held.is_empty() {
        ctx.input_mut(|input| {
            let later = std::mem::replace(&mut input.events, std::mem::take(&mut waiting.held));
            input.events.extend(later);
        });
    }
}

fn is_moving(ctx: &Context, state: &State, memory: &Memory) -> bool {
    match &state.dialog {
        Some(dialog) => {
            memory.dialog != Some(std::mem::discriminant(dialog)) || ctx.memory(|memory| memory.focused().is_none())
        }
        None => memory.dialog.is_some() || state.view.focus.1 != memory.focus_granted,
    }
}

fn is_typed(event: &Event) -> bool {
    matches!(
        event,
        Event::Key { pressed: true, .. } | Event::Text(_) | Event::Paste(_) | Event::Copy | Event::Cut | Event::Ime(_)
    )
}

/// Takes what was typed from this event on.
fn hold_from(events: &mut Vec<Event>, from: usize, held: &mut Vec<Event>) {
    let from = from.min(events.len());
    let rest = events.split_off(from);
    for event in rest {
        if is_typed(&event) { held.push(event) } else { events.push(event) }
    }
}

/// Where the press of a shortcut is among the events.
pub fn place_of(events: &[Event], shortcut: &KeyboardShortcut) -> Option<usize> {
    events.iter().position(|event| {
        matches!(event, Event::Key { key, modifiers, pressed: true, .. }
            if *key == shortcut.logical_key && modifiers.matches_logically(shortcut.modifiers))
    })
}

impl TypedAhead {
    /// Holds what came after a shortcut in the same frame, where its action takes the keyboard elsewhere.
    pub fn after(&mut self, action: Action, events: &mut Vec<Event>, at: usize) {
        if matches!(
            action,
            Action::GoToLine
                | Action::Palette
                | Action::Find
                | Action::Replace
                | Action::SearchCourse
                | Action::Settings
        ) {
            hold_from(events, at, &mut self.held);
        }
    }

    /// A dialog that Enter closes reads nothing of what comes after it; its text box would drop that.
    pub fn after_enter(&mut self, dialog: Option<&Dialog>, events: &mut Vec<Event>) {
        let closes = matches!(dialog, Some(Dialog::GoToLine { .. } | Dialog::Palette { .. }));
        let enter = |event: &Event| matches!(event, Event::Key { key: Key::Enter, pressed: true, .. });
        if closes && let Some(at) = events.iter().position(enter) {
            hold_from(events, at + 1, &mut self.held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_typed_waits_and_in_order() {
        let text = |text: &str| Event::Text(text.to_owned());
        let mut events = vec![text("a"), Event::PointerGone, text("b"), Event::Copy];
        let mut held = Vec::new();
        hold_from(&mut events, 1, &mut held);
        assert_eq!(events, [text("a"), Event::PointerGone]);
        assert_eq!(held, [text("b"), Event::Copy]);
        hold_from(&mut events, 9, &mut held);
        assert_eq!(held.len(), 2);
    }
}
