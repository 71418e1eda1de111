//! What the last run of a text found is kept, and is there again after a restart.

use super::engine::run_marks;
use super::heat;
use crate::effect::Effect;
use crate::kept::Kept;
use crate::state::{Desk, Loadable, State};
use crate::widgets::code_editor::EditorAction;
use curriculum::store::{RunKind, TextSlot};

/// Under which a text's places are kept.
pub fn place_key(slot: &TextSlot) -> String {
    format!("{}/{}", slot.day(), slot.exercise())
}

impl Desk {
    /// What is kept of the last run.
    fn kept(&self) -> Kept {
        Kept {
            verdict: self.verdict.value().cloned(),
            bench: self.bench.value().cloned(),
            text: self.judged_text.clone(),
            bench_is_last: self.runs.last().is_some_and(|run| run.kind == RunKind::Bench),
            console: self.console.clone(),
            traced: self.traced.clone(),
            ..Kept::default()
        }
    }

    /// Puts it back, with the marks where the text is still the one that ran.
    fn recall(&mut self, kept: Kept) {
        let is_same = kept.text == self.editor.text();
        // No version of a text has this number: it was judged in another session.
        self.judged = if is_same { self.editor.version() } else { u64::MAX };
        self.judged_text = kept.text;
        self.console = kept.console;
        self.traced = kept.traced;
        if let Some(verdict) = kept.verdict {
            if is_same {
                self.editor.marks.set_run(run_marks(&verdict));
                self.editor.marks.set_heat(heat::of_verdict(&verdict));
            }
            self.verdict = Loadable::Ready(verdict);
        }
        if let Some(report) = kept.bench {
            if is_same && kept.bench_is_last {
                self.editor.marks.set_heat(heat::of_bench(&report));
            }
            self.bench = Loadable::Ready(report);
        }
    }
}

impl State {
    /// Notes what is known of a text's last run.
    pub(super) fn keep_run(&self, slot: &TextSlot, effects: &mut Vec<Effect>) {
        if let Some(desk) = self.desks.get(slot) {
            effects.push(Effect::KeepRun { slot: slot.clone(), kept: Box::new(desk.kept()) });
        }
    }

    /// A text was read: its last run and its caret are as they were.
    pub(super) fn recall(&mut self, slot: &TextSlot, kept: Option<Kept>) {
        let (now_s, caret) = (self.now_s, self.places.carets.get(&place_key(slot)).copied());
        let folds = self.places.folds.get(&place_key(slot)).cloned().unwrap_or_default();
        let Some(desk) = self.desks.get_mut(slot) else { return };
        if let Some(kept) = kept {
            desk.recall(kept);
        }
        if !folds.is_empty() {
            desk.editor.fold_again(&folds);
        }
        if let Some((anchor, head)) = caret {
            desk.editor.act(&EditorAction::Place { offset: anchor, extend: false }, now_s);
            if head != anchor {
                desk.editor.act(&EditorAction::Place { offset: head, extend: true }, now_s);
            }
        }
    }

    /// Where everything is now, to be written down.
    pub fn note_places(&mut self) {
        self.places.picture.clone_from(&self.view.visualization);
        for desk in self.desks.values().filter(|desk| desk.loaded) {
            self.places.carets.insert(place_key(&desk.slot), desk.editor.selection_ends());
            self.places.folds.insert(place_key(&desk.slot), desk.editor.folded_lines());
        }
        self.places.trim();
    }
}
