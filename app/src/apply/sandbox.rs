//! The sandbox: opening a text that belongs to no exercise, and running it.

use super::engine::fault_marks;
use super::heat;
use super::open::new_desk;
use super::run::source;
use crate::effect::Effect;
use crate::sandbox;
use crate::state::{Pane, Purpose, State, ToastKind};
use curriculum::store::TextSlot;
use gpu_core::job::{Job, RunOptions};
use gpu_core::verdict::RunReport;

impl State {
    pub(super) fn open_sandbox(&mut self, effects: &mut Vec<Effect>) {
        let slot = TextSlot::free();
        if !self.desks.contains_key(&slot) {
            effects.push(Effect::Load { slot: slot.clone(), scaffold: sandbox::SCAFFOLD.to_owned() });
            self.desks.insert(slot.clone(), new_desk(slot.clone(), slot.day(), slot.exercise(), None));
        }
        self.desk = Some(slot);
        self.show_pane(Pane::Sandbox, effects);
        self.show_pane(Pane::Editor, effects);
        self.focus(Pane::Editor);
    }

    pub(super) fn run_sandbox(&mut self, effects: &mut Vec<Effect>) {
        let Some(desk) = self.desk().filter(|desk| desk.loaded) else { return };
        let text = desk.editor.text().to_owned();
        let guessed = match sandbox::guess(&text, &self.sandbox) {
            Ok(guessed) => guessed,
            // The pane says it too, and what to do.
            Err(why) => return self.toast(ToastKind::Bad, why),
        };
        let options = RunOptions { sizes: vec![guessed.size()], ..RunOptions::default() };
        let job = Job::Run {
            source: source(&text),
            spec: Box::new(guessed.spec),
            device: self.devices.picked.choice.clone(),
            arch: None,
            seed: None,
            trace: None,
            options: Box::new(options),
        };
        if self.start(job, Purpose::Sandbox, text, effects) {
            self.sandbox.ran.begin();
        }
    }

    /// The run came to its end, rightly or not.
    pub(super) fn sandbox_ran(&mut self, report: RunReport) {
        if let Some(desk) = self.desks.get_mut(&TextSlot::free()) {
            desk.editor.marks.set_run(fault_marks(&report.case.faults));
            if let Some(counters) = &report.case.counters {
                desk.editor.marks.set_heat(heat::lines(counters, &report.case.lines));
            }
        }
        self.sandbox.ran = crate::state::Loadable::Ready(report);
    }

    /// The run ended; without a report it says why.
    pub(super) fn sandbox_ended(&mut self, trouble: Option<&str>) {
        match trouble {
            Some(trouble) if self.sandbox.ran.is_pending() => self.sandbox.ran.fail(trouble.to_owned()),
            _ => self.sandbox.ran.end(),
        }
    }
}
