//! What is done to names and layout of the open text as a whole: rename, format, quick fixes.

use crate::effect::Effect;
use crate::state::{Dialog, State, ToastKind};
use crate::widgets::code_editor::{EditorAction, names};

impl State {
    pub(super) fn ask_new_name(&mut self) {
        let Some(desk) = self.desk().filter(|desk| desk.loaded) else { return };
        match names::at(desk.editor.text(), desk.editor.cursor()) {
            Some(range) => {
                let old = desk.editor.text()[range].to_owned();
                self.ask(Dialog::Rename { new: old.clone(), old });
            }
            None => self.toast(ToastKind::Info, "Put the cursor on a name first"),
        }
    }

    pub(super) fn set_new_name(&mut self, text: String) {
        if let Some(Dialog::Rename { new, .. }) = &mut self.dialog {
            *new = text;
        }
    }

    pub(super) fn rename(&mut self, old: &str, new: &str, effects: &mut Vec<Effect>) {
        let new = new.trim();
        if !names::is_name(new) {
            self.dialog = Some(Dialog::Rename { old: old.to_owned(), new: new.to_owned() });
            return self.toast(
                ToastKind::Bad,
                "A name is made of letters, digits and underscores, and does not start with a digit",
            );
        }
        let Some(desk) = self.desk() else { return };
        let text = desk.editor.text();
        let places = names::occurrences(text, old);
        if old == new || places.is_empty() {
            return self.focus_work();
        }
        let taken = !names::occurrences(text, new).is_empty();
        let renamed = names::renamed(text, &places, new);
        let cursor = desk.editor.cursor();
        let before = places.iter().filter(|range| range.start < cursor).count();
        let cursor = (cursor + before * new.len()).saturating_sub(before * old.len());
        self.edit(&EditorAction::SetText(renamed), effects);
        self.edit(&EditorAction::Place { offset: cursor, extend: false }, effects);
        let count = crate::amounts::counted(places.len() as u64, "place");
        match taken {
            true => {
                self.toast(ToastKind::Bad, format!("{new} was already in this text. One Undo takes the rename back"))
            }
            false => self.toast(ToastKind::Good, format!("Renamed in {count}. One Undo takes it back")),
        }
        self.focus_work();
    }

    pub(super) fn format(&mut self, effects: &mut Vec<Effect>) {
        if let Some(desk) = self.desk().filter(|desk| desk.loaded) {
            effects.push(Effect::Format {
                slot: desk.slot.clone(),
                version: desk.editor.version(),
                text: desk.editor.text().to_owned(),
                tab_width: self.settings.tab_width,
            });
        }
    }

    /// What clang-format made of the text. A text that was edited meanwhile stays as it is.
    pub(super) fn formatted(
        &mut self,
        slot: &curriculum::store::TextSlot,
        version: u64,
        result: Result<String, String>,
        effects: &mut Vec<Effect>,
    ) {
        let text = match result {
            Ok(text) => text,
            Err(why) => return self.toast(ToastKind::Bad, why),
        };
        let Some(desk) = self.desk().filter(|desk| desk.slot == *slot && desk.editor.version() == version) else {
            return self.toast(ToastKind::Info, "You typed in the meantime, so nothing was formatted");
        };
        if desk.editor.text() == text {
            return self.toast(ToastKind::Info, "The text is already formatted");
        }
        let (line, _) = desk.editor.cursor_position();
        self.edit(&EditorAction::SetText(text), effects);
        self.edit(&EditorAction::GoTo { line: line as u32, column: 0 }, effects);
        self.toast(ToastKind::Good, "Formatted. One Undo takes it back");
    }

    /// Mends the error that is nearest below the cursor's line start, where there is a known way.
    pub(super) fn quick_fix(&mut self, effects: &mut Vec<Effect>) {
        let Some(desk) = self.desk().filter(|desk| desk.loaded) else { return };
        let line = desk.editor.cursor_position().0 as u32;
        let entry = self.spec().map(|spec| spec.entry().to_owned());
        let fixes = crate::quick_fix::all(desk.editor.text(), &desk.editor.marks, entry.as_deref());
        let nearest = fixes.into_iter().min_by_key(|fix| fix.line.abs_diff(line));
        match nearest {
            Some(fix) => {
                self.edit(&EditorAction::SetText(fix.text), effects);
                self.edit(&EditorAction::GoTo { line: fix.line, column: 0 }, effects);
                self.toast(ToastKind::Good, format!("{}. Undo takes it back", fix.what));
            }
            None => self.toast(ToastKind::Info, "There is no quick fix for this problem"),
        }
    }
}
