//! What scripts and programs measured, as the window holds it and as the learner's store keeps it: a restart shows the
//! last complete run of each, with its date.

use super::Figure;
use curriculum::review::Date;
use curriculum::store::Store;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A day's id and the file name of one of its Python scripts; or no day and the name of a program of `crate::measure`,
/// which measures the machine and belongs to no day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScriptKey {
    pub day: String,
    pub file: String,
}

impl ScriptKey {
    pub fn of_program(name: &str) -> Self {
        Self { day: String::new(), file: name.to_owned() }
    }
}

/// What a script said when it ran last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptRun {
    pub running: bool,
    pub figures: Vec<Figure>,
    /// Other text that it printed, cut to the first lines.
    pub said: Vec<String>,
    pub problem: Option<String>,
    /// When the figures were complete, in seconds since the Unix epoch; None while they come, and of a run that failed.
    pub when_unix_s: Option<u64>,
    /// The last complete run, while another one is under way or has failed.
    pub earlier: Option<Box<ScriptRun>>,
}

impl ScriptRun {
    /// A run that begins, with what the one before found at the back of its mind.
    #[must_use]
    pub fn after(before: Option<ScriptRun>) -> Self {
        let earlier = before.and_then(|mut run| match run.when_unix_s {
            Some(_) => {
                run.earlier = None;
                Some(Box::new(run))
            }
            None => run.earlier,
        });
        Self { running: true, earlier, ..Self::default() }
    }

    /// The run has ended; true when it is one to keep. One that failed before its first figure shows the earlier ones.
    pub fn end(&mut self, ended: Result<(), String>, now_unix_s: u64) -> bool {
        self.running = false;
        self.problem = ended.err();
        if self.problem.is_none() && !self.figures.is_empty() {
            self.when_unix_s = Some(now_unix_s);
            self.earlier = None;
            return true;
        }
        if self.figures.is_empty()
            && let Some(earlier) = self.earlier.take()
        {
            *self = Self { problem: self.problem.take(), ..*earlier };
        }
        false
    }

    /// The day of a complete run, as `2026-11-21`.
    pub fn date(&self) -> Option<String> {
        self.when_unix_s.map(|seconds| Date::from_unix(seconds).to_string())
    }

    fn complete(&self) -> Option<&ScriptRun> {
        if self.when_unix_s.is_some() { Some(self) } else { self.earlier.as_deref() }
    }
}

/// One complete run in the file.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    key: ScriptKey,
    when_unix_s: u64,
    figures: Vec<Figure>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    said: Vec<String>,
}

/// Gives the last complete run of each to the store; returns at once.
pub fn save(store: &Store, runs: &BTreeMap<ScriptKey, ScriptRun>) {
    let kept = runs.iter().filter_map(|(key, run)| {
        let run = run.complete()?;
        let (figures, said) = (run.figures.clone(), run.said.clone());
        Some(Kept { key: key.clone(), when_unix_s: run.when_unix_s?, figures, said })
    });
    store.save_measured(&kept.collect::<Vec<_>>());
}

/// What the store keeps.
pub fn load(store: &Store) -> BTreeMap<ScriptKey, ScriptRun> {
    let kept: Vec<Kept> = store.measured().unwrap_or_default();
    let run = |Kept { key, when_unix_s, figures, said }| {
        (key, ScriptRun { figures, said, when_unix_s: Some(when_unix_s), ..ScriptRun::default() })
    };
    kept.into_iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn complete(rung: &str, when_unix_s: u64) -> ScriptRun {
        let figure = Figure { name: "n = 7".into(), rung: rung.into(), ok: true, ..Figure::default() };
        let mut run = ScriptRun { figures: vec![figure], ..ScriptRun::after(None) };
        assert!(run.end(Ok(()), when_unix_s));
        run
    }

    #[test]
    fn a_run_that_fails_early_leaves_the_figures_of_the_one_before() {
        let first = complete("one", 86_400);
        let mut again = ScriptRun::after(Some(first.clone()));
        assert!(again.running && again.figures.is_empty() && again.date().is_none());
        assert_eq!(again.complete(), Some(&first), "what is kept on disk meanwhile");
        assert!(!again.end(Err("stopped".into()), 99));
        assert_eq!((again.date().as_deref(), again.problem.as_deref()), (Some("1970-01-02"), Some("stopped")));
        assert_eq!(again.figures, first.figures);
        // Failing twice changes nothing.
        let mut again = ScriptRun::after(Some(again));
        again.end(Err("no Python".into()), 99);
        assert_eq!(again.figures, first.figures);
        // One that got somewhere shows how far, and is not kept.
        let mut half = ScriptRun::after(Some(again));
        half.figures = complete("two", 1).figures;
        assert!(!half.end(Err("stopped".into()), 99));
        assert_eq!((half.figures[0].rung.as_str(), half.date()), ("two", None));
        assert_eq!(half.complete().map(|run| run.figures[0].rung.as_str()), Some("one"));
    }

    #[test]
    fn complete_runs_come_back_from_the_store_with_their_date() {
        let folder = tempfile::tempdir().unwrap();
        let (done, half) = (ScriptKey::of_program("cpu-matmul"), ScriptKey { day: "d".into(), file: "x.py".into() });
        {
            let store = Store::open(folder.path()).unwrap();
            assert!(load(&store).is_empty());
            save(&store, &[(done.clone(), complete("one", 3)), (half, ScriptRun::after(None))].into());
            assert!(store.flush(Duration::from_secs(5)));
        }
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(load(&store), [(done, complete("one", 3))].into());
        drop(store);
        std::fs::write(folder.path().join("measured.json"), "[{").unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert!(load(&store).is_empty());
        assert!(store.take_problems()[0].to_string().contains("measured.json"));
    }
}
