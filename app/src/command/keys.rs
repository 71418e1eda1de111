//! Keys of an action: one with its modifiers, or Ctrl+K and then another.
//!
//! Ctrl+Alt is not used: on European keyboards it is AltGr, with which `@`, `{` and `\` are typed, and desktops lock
//! the screen and switch workspaces with it. What is done rarely has two keys instead, which nobody else takes.

use egui::{Key, KeyboardShortcut, Modifiers};

/// A key with its modifiers, and for some actions a second one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Keys {
    pub first: KeyboardShortcut,
    pub then: Option<Key>,
}

/// The first of two keys.
pub const LEAD: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::K);

pub(super) const fn key(modifiers: Modifiers, key: Key) -> Keys {
    Keys { first: KeyboardShortcut::new(modifiers, key), then: None }
}

pub(super) const fn after_lead(key: Key) -> Keys {
    Keys { first: LEAD, then: Some(key) }
}

/// Keys as this system's people write them: `Ctrl+,` and not `Ctrl+Comma`; `Ctrl+K D` are two, one after the other.
pub fn keys_text(ctx: &egui::Context, keys: &Keys) -> String {
    text(keys, |shortcut| ctx.format_shortcut(shortcut))
}

/// The same without a window, for what is printed.
pub fn key_names(keys: &Keys) -> String {
    text(keys, |shortcut| shortcut.format(&egui::ModifierNames::NAMES, cfg!(target_os = "macos")))
}

fn text(keys: &Keys, format: impl Fn(&KeyboardShortcut) -> String) -> String {
    let shown = |shortcut: &KeyboardShortcut| with_signs(format(shortcut), shortcut);
    let then = keys.then.map(|key| KeyboardShortcut::new(Modifiers::NONE, key));
    let first = shown(&keys.first);
    then.map_or(first.clone(), |then| format!("{first} {}", shown(&then)))
}

fn with_signs(text: String, shortcut: &KeyboardShortcut) -> String {
    let sign = match shortcut.logical_key {
        Key::Comma => ",",
        Key::Period => ".",
        Key::Slash => "/",
        Key::Questionmark => "?",
        Key::Plus => "+",
        Key::Minus => "-",
        Key::Equals => "=",
        _ => return text,
    };
    text.replace(shortcut.logical_key.name(), sign)
}
