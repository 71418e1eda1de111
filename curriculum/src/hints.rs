//! Help for one exercise: its own hints, and those that are common to all.

mod common;

/// Help for one exercise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// From a nudge to nearly the answer, shown one after the other on request.
    pub steps: Vec<String>,
    /// Shown when a check ends with this diagnosis.
    pub triggered: Vec<TriggeredHint>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggeredHint {
    /// A hint key as in `Verdict::hints`: `race`, `out_of_bounds`, `wrong_output`, …
    pub fault: String,
    /// From a nudge to nearly the answer.
    pub steps: Vec<String>,
}

impl Hints {
    /// The exercise's own hint for a diagnosis.
    pub fn own(&self, key: &str) -> Option<&TriggeredHint> {
        self.triggered.iter().find(|hint| hint.fault == key)
    }

    /// The hint for the first of a verdict's keys, which is what the learner was told: the exercise's own, else the
    /// common one. A hint for something else would lead away from it.
    pub fn for_keys<'a>(&'a self, keys: &[String]) -> Option<&'a TriggeredHint> {
        let first = keys.first()?;
        let near = match first.as_str() {
            "tail_missing" => self.own("never_written"),
            "step_budget" => self.own("time_budget"),
            "time_budget" => self.own("step_budget"),
            _ => None,
        };
        let own = self.own(first).or(near).or_else(|| common::find(first));
        own.or_else(|| keys.iter().find_map(|key| self.own(key)))
    }
}
