//! The table of actions is complete, and no key is given twice.

use super::*;
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
        for shortcut in info.shortcuts {
            let key = (shortcut.modifiers, shortcut.logical_key);
            assert!(shortcuts.insert(format!("{key:?}")), "{action:?}: {key:?} is taken");
            // With Shift such a key is another sign: `Shift` and `/` are a question mark.
            let is_sign = shortcut.logical_key.symbol_or_name().chars().all(|c| c.is_ascii_punctuation());
            assert!(!(shortcut.modifiers.shift && is_sign), "{action:?}: {key:?} cannot be pressed");
        }
        assert_eq!(info.scope == Scope::Editor, action.editor_action().is_some(), "{action:?}");
    }
}
