//! The open text in the learner's own editor: opening it, and taking in what was saved there.

use crate::effect::{Effect, Merged};
use crate::state::{State, ToastKind};
use crate::widgets::code_editor::EditorAction;
use curriculum::store::TextSlot;
use std::path::PathBuf;

impl State {
    pub(super) fn open_elsewhere(&mut self, effects: &mut Vec<Effect>) {
        let editor = self.settings.editor.clone();
        let Some(desk) = self.desk().filter(|desk| desk.loaded) else { return };
        effects.push(Effect::OpenElsewhere { slot: desk.slot.clone(), text: desk.editor.text().to_owned(), editor });
    }

    pub(super) fn close_elsewhere(&mut self, effects: &mut Vec<Effect>) {
        let Some(desk) = self.desk_mut() else { return };
        if desk.elsewhere.take().is_some() {
            effects.push(Effect::CloseElsewhere(desk.slot.clone()));
        }
    }

    pub(super) fn opened_elsewhere(&mut self, slot: &TextSlot, path: Result<PathBuf, String>) {
        match path {
            Ok(path) => {
                let text = format!("Saved changes of this file come here and are checked: {}", path.display());
                if let Some(desk) = self.desks.get_mut(slot) {
                    desk.elsewhere = Some(path);
                }
                self.toast(ToastKind::Info, text);
            }
            Err(why) => self.toast(ToastKind::Bad, why),
        }
    }

    pub(super) fn lost_elsewhere(&mut self, slot: &TextSlot, path: &std::path::Path) {
        let Some(desk) = self.desks.get_mut(slot) else { return };
        desk.elsewhere = None;
        let text = "The file that was open in your editor is gone; your text is all here, and Open in Your Editor writes \
                    the file anew";
        self.toast(ToastKind::Bad, format!("{text}: {}", path.display()));
    }

    pub(super) fn saved_elsewhere(&mut self, slot: &TextSlot, text: String, how: Merged, effects: &mut Vec<Effect>) {
        let now_s = self.now_s;
        let Some(desk) = self.desks.get_mut(slot).filter(|desk| desk.loaded && desk.elsewhere.is_some()) else {
            return;
        };
        desk.editor.act(&EditorAction::SetText(text), now_s);
        let is_open = self.desk.as_ref() == Some(slot);
        match how {
            Merged::Theirs => {}
            Merged::Both => self.toast(ToastKind::Info, "Your changes here and in your editor were merged"),
            Merged::Conflict => {
                let text = "The same lines changed here and in your editor: the file wins, and Undo restores yours";
                self.toast(ToastKind::Bad, text);
            }
        }
        if !is_open {
            // Noted all the same; it is checked when somebody looks.
            if let Some(desk) = self.desks.get_mut(slot) {
                desk.journalled = desk.editor.version();
                effects.push(Effect::Journal { slot: slot.clone(), text: desk.editor.text().to_owned() });
            }
            return;
        }
        self.text_may_have_changed(effects);
        if self.running.is_none() {
            self.start_check(effects);
        } else {
            self.check_again = true;
        }
    }

    /// A save came while a kernel was running: it is checked now.
    pub(super) fn check_again_if_due(&mut self, effects: &mut Vec<Effect>) {
        if self.check_again && self.running.is_none() {
            self.check_again = false;
            self.start_check(effects);
        }
    }
}
