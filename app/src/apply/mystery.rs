//! Answer exercises in the window: a kernel whose source is shut is run, and its figures are kept to point at.

use crate::effect::Effect;
use crate::mystery::{self, MysteryKey};
use crate::state::{Purpose, State, ToastKind};
use curriculum::answer::figures;
use gpu_core::job::Event;

impl State {
    /// Runs a mystery of the open unit on the emulator.
    pub(super) fn count_mystery(&mut self, exercise: &str, id: &str, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let unit = self.view.day.as_deref().and_then(|id| course.unit_by_id(id));
        let found = unit.and_then(|unit| Some((unit, unit.answer(exercise)?.mystery(id)?)));
        let Some((unit, found)) = found else { return };
        let key = MysteryKey { unit: unit.id.clone(), exercise: exercise.to_owned(), mystery: id.to_owned() };
        let job = mystery::job(found, Some(mystery::SEED));
        self.start(job, Purpose::Mystery(key), found.source.clone(), effects);
    }

    pub(super) fn mystery_event(&mut self, key: MysteryKey, event: Event) {
        let shown = match event {
            // Counted at the benchmark's size, where there is one; a verdict comes before it.
            Event::Bench(report) => figures(&mystery::evidence(None, Some(&report), None)),
            Event::Ran(report) => figures(&mystery::evidence(None, None, Some(&report))),
            Event::Finished(outcome) => {
                self.running = None;
                let why = match outcome.trouble() {
                    None if self.mysteries.contains_key(&key) => return,
                    None => "The run gave no numbers",
                    Some(why) => why,
                };
                return self.toast(ToastKind::Bad, why.to_owned());
            }
            _ => return,
        };
        if !shown.is_empty() {
            self.mysteries.insert(key, shown);
        }
    }

    /// Every question of a draw was answered right.
    pub(super) fn mysteries_solved(&mut self, exercise: &str, effects: &mut Vec<Effect>) {
        let course = self.course.clone();
        let Some(unit) = self.view.day.as_deref().and_then(|id| course.unit_by_id(id)) else { return };
        if unit.answer(exercise).is_none() || self.progress.has_passed(unit, exercise) {
            return;
        }
        self.progress.passed(unit, exercise, self.today);
        effects.push(Effect::SaveProgress);
        self.finish_part_of(unit, exercise);
        self.finish_last_if_complete(&unit.id, effects);
    }
}
