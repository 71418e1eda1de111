//! Opening days, steps, exercises and links.

use crate::dock::Layout;
use crate::effect::Effect;
use crate::state::{Desk, Loadable, Pane, State, ToastKind};
use crate::versions::Versions;
use crate::widgets::code_editor::{Editor, EditorAction};
use curriculum::store::TextSlot;
use curriculum::{Step, store};

impl State {
    pub(super) fn open_day(&mut self, id: &str, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let Some(day) = course.unit_by_id(id) else { return };
        // Whoever chooses a day wants its words; a window that has just opened keeps the panes as they were left.
        let is_chosen = self.view.day.is_some();
        if self.view.day.as_deref() != Some(id) {
            self.view.step = day.first_step();
            self.view.dock.show(Pane::Editor);
            self.view.visualization = day.visualizations.first().cloned();
        }
        self.view.day = Some(id.to_owned());
        self.desk = None;
        match day.exercise() {
            Some(exercise) => self.open_text(day, exercise, effects),
            // All there is to see of it.
            None => self.view.dock.show(Pane::Lesson),
        }
        let has_lesson = self.view.dock.is_open(Pane::Lesson) || self.view.dock.layout() != Layout::Profile;
        if is_chosen && has_lesson {
            self.view.dock.show(Pane::Lesson);
        }
        if self.progress.last_day.as_deref() != Some(id) {
            self.progress.last_day = Some(id.to_owned());
            self.progress.last_step = None;
            effects.push(Effect::SaveProgress);
        }
        self.finish_last_if_complete(id, effects);
    }

    fn open_text(&mut self, day: &curriculum::Unit, exercise: &curriculum::Exercise, effects: &mut Vec<Effect>) {
        let slot = store::TextSlot::of(day, exercise);
        self.open_slot(slot, day, exercise, None, &exercise.scaffold, effects);
    }

    fn open_slot(
        &mut self,
        slot: TextSlot,
        day: &curriculum::Unit,
        exercise: &curriculum::Exercise,
        experiment: Option<String>,
        scaffold: &str,
        effects: &mut Vec<Effect>,
    ) {
        if !self.desks.contains_key(&slot) {
            effects.push(Effect::Load { slot: slot.clone(), scaffold: scaffold.to_owned() });
            self.desks.insert(slot.clone(), new_desk(slot.clone(), &day.id, &exercise.key, experiment));
        }
        self.desk = Some(slot);
    }

    pub(super) fn open_exercise(&mut self, key: &str, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let day = self.view.day.as_deref().and_then(|id| course.unit_by_id(id));
        let Some((day, exercise)) = day.and_then(|day| Some((day, day.exercise_by_key(key)?))) else { return };
        self.open_text(day, exercise, effects);
        self.view.dock.show(Pane::Editor);
        self.focus(Pane::Editor);
    }

    /// An experiment is a text of its own: the learner's kernel stays as it is.
    pub(super) fn open_experiment(&mut self, name: &str, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let day = self.view.day.as_deref().and_then(|id| course.unit_by_id(id));
        let Some((day, (exercise, experiment))) = day.and_then(|day| Some((day, day.experiment(name)?))) else {
            return;
        };
        let Some(slot) = TextSlot::new(&day.id, &format!("experiment-{name}")) else { return };
        self.open_slot(slot, day, exercise, Some(name.to_owned()), &experiment.source, effects);
        self.view.dock.show(Pane::Editor);
        self.focus(Pane::Editor);
    }

    /// Rewrites a knob's `#define` line in the text as it stands.
    pub(super) fn turn_knob(&mut self, name: &str, value: i64, effects: &mut Vec<Effect>) {
        let Some(desk) = self.desk() else { return };
        let mut found = false;
        let lines: Vec<String> = desk
            .editor
            .text()
            .split('\n')
            .map(|line| {
                let mut words = line.split_whitespace();
                let is_it = words.next() == Some("#define") && words.next() == Some(name);
                found |= is_it;
                if is_it { format!("#define {name} {value}") } else { line.to_owned() }
            })
            .collect();
        if found {
            self.edit(&EditorAction::SetText(lines.join("\n")), effects);
        } else {
            self.toast(
                ToastKind::Bad,
                format!("The line `#define {name}` is gone from the text. Undo or Reset restores it"),
            );
        }
    }

    pub(super) fn open_neighbour(&mut self, forward: bool, effects: &mut Vec<Effect>) {
        let ids: Vec<String> = self.course.units().map(|unit| unit.id.clone()).collect();
        let at = ids.iter().position(|id| Some(id) == self.view.day.as_ref());
        let next = match (at, forward) {
            (Some(at), true) => ids.get(at + 1),
            (Some(at), false) => at.checked_sub(1).and_then(|at| ids.get(at)),
            (None, _) => ids.first(),
        };
        if let Some(id) = next.cloned() {
            self.open_day(&id, effects);
        }
    }

    pub(super) fn show_step(&mut self, step: Step, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let open = self.view.day.as_deref().and_then(|id| course.unit_by_id(id));
        let Some(unit) = open.filter(|unit| unit.is_written()) else { return };
        if unit.lesson.section(step).is_none() {
            return;
        }
        // Going on from a step that is read, not done, finishes it; who jumps ahead has not read it.
        let left = self.view.step;
        let is_read = match left {
            Step::Challenge | Step::Explore | Step::Concept => self.progress.has_filled_step(unit, left),
            Step::CodeIt | Step::Verify => false,
            // What it asks for is done, where it asks for something.
            Step::Part(_) => unit
                .lesson
                .section(left)
                .is_some_and(|section| section.exercise_keys().all(|key| self.progress.has_passed(unit, key))),
        };
        if is_read && unit.step_after(left) == Some(step) {
            self.mark_step(left, effects);
        }
        self.view.step = step;
        self.progress.last_step = Some(unit.step_id(step).to_owned());
        effects.push(Effect::SaveProgress);
        match step {
            Step::Explore if self.view.visualization.is_some() => {
                self.view.dock.show(Pane::Visualization);
                // A picture needs the room; the next run opens the results again.
                if self.view.dock.layout() == Layout::Read {
                    self.view.dock.set_open(&Pane::RESULTS, false);
                }
            }
            Step::CodeIt | Step::Verify => self.view.dock.show(Pane::Editor),
            _ => {}
        }
        // Last: where panes share their tabs, the step's text was asked for.
        self.view.dock.show(Pane::Lesson);
        if matches!(step, Step::Part(_)) {
            self.finish_last_if_complete(&unit.id, effects);
        }
    }

    /// A day's steps have names on the keyboard; of other units the keys mean the first parts.
    pub(super) fn show_nth_step(&mut self, index: usize, effects: &mut Vec<Effect>) {
        if let Some(step) = self.day().and_then(|unit| unit.steps().nth(index)) {
            self.show_step(step, effects);
        }
    }

    pub(super) fn mark_step(&mut self, step: Step, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let Some(day) = self.view.day.as_deref().and_then(|id| course.unit_by_id(id)) else { return };
        if !self.progress.is_step_done(day, step) {
            self.progress.step_done(day, step);
            effects.push(Effect::SaveProgress);
        }
    }

    /// Keeps what was typed into a table. The step is done when all that it asks for is right.
    pub(super) fn fill_table(&mut self, day: &str, table: String, typed: Vec<String>, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let Some(unit) = course.unit_by_id(day) else { return };
        self.progress.days.entry(unit.id.clone()).or_default().tables.insert(table, typed);
        let step = self.view.step;
        let is_read = matches!(step, Step::Challenge | Step::Explore | Step::Concept);
        if is_read && self.progress.has_filled_step(unit, step) {
            self.progress.step_done(unit, step);
        }
        effects.push(Effect::SaveProgress);
    }

    pub(super) fn open_link(&mut self, target: &str, effects: &mut Vec<Effect>) {
        if target.starts_with("https://") || target.starts_with("http://") {
            effects.push(Effect::OpenUrl(target.to_owned()));
        } else if let Some((unit, step)) = target.split_once('#')
            && let Ok(unit) = self.course.unit(unit)
            && let Some(step) = unit.step_by_id(step)
        {
            let id = unit.id.clone();
            // `week1/day5#concept`
            self.open_day(&id, effects);
            self.show_step(step, effects);
        } else if let Some(id) = self.course.unit(target).ok().map(|day| day.id.clone()) {
            self.open_day(&id, effects);
        } else if let Some(term) = target.strip_prefix("glossary:") {
            let found = self.course.glossary().into_iter().find(|(entry, _)| entry.term.eq_ignore_ascii_case(term));
            let text = match found {
                Some((entry, _)) => curriculum::search::plain(&format!("{}: {}", entry.term, entry.meaning)),
                None => format!("\"{term}\" is not in the glossary yet"),
            };
            self.toast(ToastKind::Info, text);
        } else {
            self.toast(ToastKind::Bad, format!("This link has no target: {target}"));
        }
    }
}

pub(super) fn new_desk(slot: TextSlot, day: &str, exercise: &str, experiment: Option<String>) -> Desk {
    Desk {
        slot,
        day: day.to_owned(),
        exercise: exercise.to_owned(),
        experiment,
        editor: Editor::default(),
        loaded: false,
        journalled: 0,
        compile_at_s: None,
        compiling: None,
        compiling_since_s: 0.0,
        compiling_version: 0,
        compiled: Loadable::Empty,
        versions: Versions::default(),
        elsewhere: None,
        verdict: Loadable::Empty,
        cases: Vec::new(),
        bench: Loadable::Empty,
        profiled: Loadable::Empty,
        console: String::new(),
        console_cut: false,
        runs: Vec::new(),
        traced: None,
        trouble: None,
        judged_text: String::new(),
        judged: 0,
        judged_at_s: None,
    }
}
