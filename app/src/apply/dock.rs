//! Panes: showing, closing, moving, and who has the keyboard.

use crate::command::Action;
use crate::dock::Layout;
use crate::effect::Effect;
use crate::state::{Pane, State};
use crate::tour::TOUR;

/// How much one key press changes a pane's size.
const STEP: f32 = 1.15;

impl State {
    /// Gives all the room to the pane that has the keyboard, or back.
    pub(super) fn toggle_full(&mut self) {
        let pane = self.view.focus.0;
        let sight = self.panes_in_sight();
        self.view.full = match self.view.full {
            Some(_) => None,
            None => sight.contains(&pane).then_some(pane).or(sight.first().copied()),
        };
        self.focus(self.view.full.unwrap_or(pane));
    }

    /// Opens a pane and brings it to the front.
    pub(super) fn show_pane(&mut self, pane: Pane, effects: &mut Vec<Effect>) {
        self.leave_full_for(pane);
        self.view.dock.show(pane);
        effects.push(Effect::SaveWindow);
    }

    pub(super) fn show_and_focus(&mut self, pane: Pane, effects: &mut Vec<Effect>) {
        self.show_pane(pane, effects);
        self.focus(pane);
    }

    /// The tour's next card, with the pane that it is about.
    pub(super) fn show_tour(&mut self, step: usize, effects: &mut Vec<Effect>) {
        let Some(card) = TOUR.get(step) else { return self.end_tour(effects) };
        self.tour = Some(step);
        if let Some(layout) = card.layout {
            self.view.dock.set_layout(layout);
        }
        if let Some(pane) = card.pane {
            self.view.dock.show(pane);
        }
    }

    pub(super) fn end_tour(&mut self, effects: &mut Vec<Effect>) {
        self.tour = None;
        if !self.settings.tour_seen {
            self.settings.tour_seen = true;
            effects.push(Effect::SaveSettings);
        }
        self.set_layout(Layout::Read, effects);
    }

    pub(super) fn close_pane(&mut self, pane: Pane, effects: &mut Vec<Effect>) {
        self.view.dock.set_open(&[pane], false);
        if self.view.focus.0 == pane {
            self.focus_work();
        }
        effects.push(Effect::SaveWindow);
    }

    /// Closes panes that are open and in sight; else opens them.
    pub(super) fn toggle_panes(&mut self, panes: &[Pane], effects: &mut Vec<Effect>) {
        let sight = self.panes_in_sight();
        let seen = panes.iter().any(|pane| sight.contains(pane));
        self.view.dock.set_open(panes, !seen);
        if let (false, Some(first)) = (seen, panes.first()) {
            // Behind another tab it would look as if nothing had happened.
            if !panes.iter().any(|pane| self.is_in_sight(*pane)) {
                self.view.dock.show(*first);
            }
        }
        effects.push(Effect::SaveWindow);
    }

    pub(super) fn set_layout(&mut self, layout: Layout, effects: &mut Vec<Effect>) {
        self.view.full = None;
        self.view.dock.set_layout(layout);
        effects.push(Effect::SaveWindow);
        if !self.is_in_sight(self.view.focus.0) {
            self.focus_work();
        }
    }

    /// What the keyboard does to the pane that has it.
    pub(super) fn rearrange(&mut self, action: Action, effects: &mut Vec<Effect>) {
        let pane = self.view.focus.0;
        let dock = &mut self.view.dock;
        match action {
            Action::ResetLayout => dock.reset(),
            Action::ClosePane => return self.close_pane(pane, effects),
            Action::MovePane => dock.move_on(pane),
            Action::WidenPane => dock.grow(pane, true, STEP),
            Action::NarrowPane => dock.grow(pane, true, STEP.recip()),
            Action::HeightenPane => dock.grow(pane, false, STEP),
            Action::LowerPane => dock.grow(pane, false, STEP.recip()),
            _ => return,
        }
        effects.push(Effect::SaveWindow);
    }

    /// Another pane was asked for than the one that has the window.
    pub(super) fn leave_full_for(&mut self, pane: Pane) {
        if self.view.full.is_some_and(|full| full != pane) {
            self.view.full = None;
        }
    }

    pub(super) fn focus(&mut self, pane: Pane) {
        if pane != Pane::Toolbar {
            self.leave_full_for(pane);
        }
        self.view.focus = (pane, self.view.focus.1 + 1);
    }

    /// Gives the keyboard to where the learner works.
    pub(super) fn focus_work(&mut self) {
        let sight = self.panes_in_sight();
        let work = Pane::WORK.into_iter().find(|pane| sight.contains(pane));
        self.focus(work.or(sight.first().copied()).unwrap_or(Pane::Toolbar));
    }

    /// The next pane in reading order; the toolbar is the last.
    pub(super) fn cycle_pane(&mut self, forward: bool) {
        let mut shown = self.panes_in_sight();
        shown.push(Pane::Toolbar);
        let at = shown.iter().position(|pane| *pane == self.view.focus.0);
        let next = match (at, forward) {
            (Some(at), true) => (at + 1) % shown.len(),
            (Some(at), false) => (at + shown.len() - 1) % shown.len(),
            (None, _) => 0,
        };
        self.focus(shown[next]);
    }
}
