//! The search strip: opening, asking, stepping, leaving.

use crate::effect::Effect;
use crate::state::{Pane, State};
use crate::widgets::code_editor::{EditorAction, Find};

impl State {
    pub(super) fn open_find(&mut self, replace: bool) {
        self.view.dock.show(Pane::Editor);
        if let Some(desk) = self.desk_mut() {
            let selected = desk.editor.selected_text().to_owned();
            let text = desk.editor.text().to_owned();
            let (selection, ends) = (desk.editor.selection(), desk.editor.selection_ends());
            let find = &mut desk.editor.find;
            // What the search itself has selected is no new question: an expression stays one.
            let own = find.open && find.matches.contains(&selection);
            find.from = if find.open { find.from } else { Some(ends) };
            find.open = true;
            find.replace_open = replace;
            find.focus += 1;
            if !own && !selected.is_empty() && !selected.contains('\n') {
                find.query = if find.regex { regex::escape(&selected) } else { selected };
            }
            find.refresh(&text);
        }
    }

    pub(super) fn set_find(
        &mut self,
        query: String,
        replacement: String,
        match_case: bool,
        whole_word: bool,
        regex: bool,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(desk) = self.desk_mut() {
            let text = desk.editor.text().to_owned();
            let find = &mut desk.editor.find;
            let asked = |find: &Find| (find.query.clone(), find.match_case, find.whole_word, find.regex);
            let (before, other_replacement) = (asked(find), find.replacement != replacement);
            find.query = query;
            find.replacement = replacement;
            find.match_case = match_case;
            find.whole_word = whole_word;
            find.regex = regex;
            find.refresh(&text);
            if !other_replacement || asked(find) != before {
                self.edit(&EditorAction::FindAsTyped, effects);
            }
        }
    }

    /// To the next or the previous match, also while the strip is closed.
    pub(super) fn step_find(&mut self, forward: bool, effects: &mut Vec<Effect>) {
        if self.desk().is_some_and(|desk| desk.editor.find.query.is_empty()) {
            return self.open_find(false);
        }
        if let Some(desk) = self.desk_mut() {
            desk.editor.find.open = true;
            let text = desk.editor.text().to_owned();
            desk.editor.find.refresh(&text);
        }
        self.edit(if forward { &EditorAction::FindNext } else { &EditorAction::FindPrevious }, effects);
    }

    /// Goes back to where the search began, unless a match was kept.
    pub(super) fn close_find(&mut self, effects: &mut Vec<Effect>) {
        self.edit(&EditorAction::LeaveFound, effects);
        if let Some(desk) = self.desk_mut() {
            desk.editor.find.open = false;
            desk.editor.find.matches.clear();
        }
        self.focus_work();
    }
}
