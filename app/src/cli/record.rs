//! Notes runs of the learner's own text where the window will find them: history of runs, progress.

use super::{Places, out};
use curriculum::review::Date;
use curriculum::store::{RunRecord, Store, StoreError, TextSlot};
use curriculum::{Exercise, Unit};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Adds a run, and the pass if it is one. Only the learner's own text counts, never a file named with `--kernel`.
/// A data folder in use by the window is left alone: its window would overwrite what this wrote.
pub fn run(places: &Places, day: &Unit, exercise: &Exercise, run: &RunRecord, text: &str) {
    let store = match Store::open(&places.data_dir()) {
        Ok(store) => store,
        Err(StoreError::InUse { .. }) => {
            return out::remark(
                "note: a window is open on this data folder, so this run is not noted in your progress",
            );
        }
        Err(error) => return out::remark(&format!("note: this run is not noted in your progress: {error}")),
    };
    store.add_run(&TextSlot::of(day, exercise), run, text);
    if run.passed {
        let mut progress = store.progress();
        progress.passed(day, &exercise.key, Date::from_unix(run.when_unix_s));
        store.save_progress(&progress);
    }
    store.flush(Duration::from_secs(5));
    for problem in store.take_problems() {
        out::remark(&format!("note: {problem}"));
    }
}

/// Seconds since the Unix epoch.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
