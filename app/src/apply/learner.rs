//! The learner's files as a whole: search, review, resetting a day, moving everything, profiles.

use crate::effect::{Effect, Learner};
use crate::state::{Dialog, Pane, Search, State, ToastKind};
use crate::widgets::code_editor::EditorAction;
use curriculum::search::{Hit, Place};
use curriculum::store::TextSlot;

/// Questions asked in one review: about ten minutes.
const REVIEW: usize = 12;

/// Lines kept in the log.
const LOG: usize = 1000;

impl State {
    pub(super) fn set_search(&mut self, query: String, effects: &mut Vec<Effect>) {
        self.search.query = query;
        self.look_up_again(effects);
    }

    /// Searches, or asks for the index first.
    pub(super) fn look_up_again(&mut self, effects: &mut Vec<Effect>) {
        match &self.search.index {
            Some(index) => self.search.hits = index.search(&self.search.query, Search::MOST),
            None if self.search.query.is_empty() => {}
            None => effects.push(Effect::BuildIndex(self.course.clone())),
        }
    }

    pub(super) fn open_search(&mut self, effects: &mut Vec<Effect>) {
        self.show_pane(Pane::Search, effects);
        self.focus(Pane::Search);
        if self.search.index.is_none() {
            effects.push(Effect::BuildIndex(self.course.clone()));
        }
    }

    pub(super) fn open_hit(&mut self, hit: &Hit, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let Some(unit) = course.unit_by_id(&hit.day) else { return };
        self.open_day(&hit.day, effects);
        self.show_step(hit.place.step(unit), effects);
        if hit.place == Place::Kernel {
            self.view.dock.show(Pane::Editor);
        }
    }

    pub(super) fn begin_review(&mut self, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let due = self.progress.due(&course, self.today, REVIEW);
        if due.is_empty() {
            return self.toast(ToastKind::Info, "Nothing to review today");
        }
        let mut review: Vec<(String, Vec<String>)> = Vec::new();
        for (day, question) in due {
            match review.iter_mut().find(|(id, _)| *id == day.id) {
                Some((_, questions)) => questions.push(question.id.clone()),
                None => review.push((day.id.clone(), vec![question.id.clone()])),
            }
        }
        self.review = review;
        self.reviews += 1;
        self.show_pane(Pane::Progress, effects);
    }

    /// Forgets what was done of the open day; the text can be brought back by Undo, the runs stay in the plots.
    pub(super) fn reset_day(&mut self, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let Some(day) = self.view.day.as_deref().and_then(|id| course.unit_by_id(id)) else { return };
        self.progress.forget(day);
        *self.resets.entry(day.id.clone()).or_default() += 1;
        let now_s = self.now_s;
        for exercise in &day.exercises {
            let slot = TextSlot::of(day, exercise);
            match self.desks.get_mut(&slot) {
                Some(desk) if desk.loaded => {
                    desk.editor.act(&EditorAction::SetText(exercise.scaffold.clone()), now_s);
                    desk.journalled = desk.editor.version();
                    desk.compile_at_s = Some(now_s);
                    desk.forget_run();
                }
                _ => {}
            }
            effects.push(Effect::KeepRun { slot: slot.clone(), kept: Box::default() });
            effects.push(Effect::Journal { slot, text: exercise.scaffold.clone() });
        }
        effects.push(Effect::SaveProgress);
        self.show_step(day.first_step(), effects);
        self.toast(ToastKind::Info, "The day starts over. Undo in the editor restores your text");
    }

    /// Other files are open: everything that was read from the old ones goes.
    pub(super) fn take_over(&mut self, learner: Learner, effects: &mut Vec<Effect>) {
        self.stop(effects);
        // What it still says is about a text that is gone.
        self.running = None;
        self.progress = learner.progress;
        self.settings = learner.settings;
        self.scripts = learner.measured;
        self.desks.clear();
        self.desk = None;
        self.places = crate::kept::Places::default();
        self.review.clear();
        let ready = std::iter::once(crate::state::READY_QUIZ.to_owned());
        for quiz in self.course.units().map(|unit| unit.id.clone()).chain(ready) {
            *self.resets.entry(quiz).or_default() += 1;
        }
        let last = self.progress.last_day.clone().filter(|id| self.course.unit_by_id(id).is_some());
        self.view.day = None;
        if let Some(id) = last.or_else(|| super::first_day(&self.course)) {
            self.open_day(&id, effects);
        }
        effects.push(Effect::ApplyLook);
    }

    pub(super) fn switch_profile(&mut self, name: Option<String>, effects: &mut Vec<Effect>) {
        let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        if name.as_deref().is_some_and(|name| !crate::paths::is_profile_name(name)) {
            return self.toast(ToastKind::Bad, "A profile name can have up to 40 letters, digits, spaces and hyphens");
        }
        self.dialog = None;
        if name != self.profile {
            effects.push(Effect::OpenProfile(name));
        }
    }

    /// Looks around this machine, without holding anything up.
    pub(super) fn look_around(&mut self, effects: &mut Vec<Effect>) {
        self.ready.begin();
        effects.push(Effect::LookAround);
    }

    pub(crate) fn note(&mut self, kind: ToastKind, text: impl Into<String>) {
        let line = crate::state::LogLine { at_unix_s: self.now_unix_s, kind, text: text.into() };
        self.log.push(line);
        if self.log.len() > LOG {
            self.log.remove(0);
        }
    }

    /// The profiles dialog's text field.
    pub(super) fn set_profile_name(&mut self, text: String) {
        if let Some(Dialog::Profiles { new, .. }) = &mut self.dialog {
            *new = text;
        }
    }
}
