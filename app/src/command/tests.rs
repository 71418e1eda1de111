//! The table of actions is complete, no key is given twice, and none is one that the system keeps for itself.

use super::*;
use egui::{Key, KeyboardShortcut};
use std::collections::HashSet;

#[test]
fn every_action_is_complete_and_its_shortcuts_are_its_own() {
    let mut texts = HashSet::new();
    let mut shortcuts = HashSet::new();
    let mut listed = HashSet::new();
    for action in Action::ALL {
        let info = action.info();
        assert!(listed.insert(action), "{action:?} is listed twice");
        assert!(!info.text.is_empty() && !info.tooltip.is_empty(), "{action:?} lacks words");
        assert!(!info.tooltip.ends_with('.'), "{action:?}: a tooltip is a phrase");
        assert!(texts.insert(info.text), "{:?} is used twice", info.text);
        assert!(!info.shortcuts.is_empty(), "{action:?} has no key");
        for keys in info.shortcuts {
            assert!(shortcuts.insert(*keys), "{action:?}: {keys:?} is taken");
            assert!(keys.then.is_some() == (keys.first == LEAD), "{action:?}: {} leads to others", key_names(keys));
            // With Shift such a key is another sign: `Shift` and `/` are a question mark.
            let first = keys.first;
            let is_sign = first.logical_key.symbol_or_name().chars().all(|c| c.is_ascii_punctuation());
            assert!(!(first.modifiers.shift && is_sign), "{action:?}: {keys:?} cannot be pressed");
        }
        assert_eq!(info.scope == Scope::Editor, action.editor_action().is_some(), "{action:?}");
    }
}

/// Keys that never reach a window on some desktop, or mean something else there.
const TAKEN: [(Modifiers, Key, &str); 16] = [
    (Modifiers::ALT, Key::F4, "closes the window"),
    (Modifiers::ALT, Key::Tab, "switches windows"),
    (ALT_SHIFT, Key::Tab, "switches windows"),
    (Modifiers::ALT, Key::Escape, "switches windows"),
    (Modifiers::ALT, Key::Space, "the window's menu"),
    (Modifiers::ALT, Key::F1, "GNOME and KDE: the menu"),
    (Modifiers::ALT, Key::F2, "GNOME and KDE: run a command"),
    (Modifiers::ALT, Key::F7, "GNOME: moves the window"),
    (Modifiers::ALT, Key::F8, "GNOME: resizes the window"),
    (Modifiers::ALT, Key::F10, "GNOME: maximizes the window"),
    (CTRL, Key::Escape, "Windows: the start menu"),
    (CTRL_SHIFT, Key::Escape, "Windows: the task manager"),
    (Modifiers::CTRL, Key::Space, "IBus and Fcitx: another input method"),
    (CTRL_SHIFT, Key::U, "IBus: a character by its number"),
    (CTRL, Key::Semicolon, "Fcitx: the clipboard"),
    (Modifiers::SHIFT, Key::Space, "Fcitx: full width"),
];

#[test]
fn no_action_depends_on_a_key_that_keyboards_or_desktops_take() {
    let is_altgr = |modifiers: Modifiers| modifiers.alt && (modifiers.ctrl || modifiers.command);
    let taken = |keys: &Keys| {
        let KeyboardShortcut { modifiers, logical_key } = keys.first;
        // Alone with Alt, letters are the mnemonics of menus, and on a Mac they are other letters.
        let letter = logical_key.name().len() == 1 && modifiers.alt && !modifiers.shift;
        letter || TAKEN.iter().any(|(of, key, _)| (*of, *key) == (modifiers, logical_key))
    };
    for action in Action::ALL {
        let all = action.info().shortcuts;
        for keys in all {
            assert!(!is_altgr(keys.first.modifiers), "{action:?}: {} is AltGr on many keyboards", key_names(keys));
        }
        assert!(all.iter().any(|keys| !taken(keys)), "{action:?} has no key that always arrives: {all:?}");
    }
}

#[test]
fn keys_are_written_as_people_write_them() {
    let names = |action: Action| key_names(&action.info().shortcuts[0]);
    assert_eq!(names(Action::ThemeDark), "Ctrl+K D");
    assert_eq!(names(Action::ReducedMotion), "Ctrl+K .");
    assert_eq!(names(Action::Settings), "Ctrl+,");
}
