//! Data folders that released versions left behind. Each stays in `tests/states/VERSION`, and every later version must
//! read it whole. With `UPDATE_STATES=1` the folder of the version at hand is written, once, before its release.

use super::{run, slot};
use curriculum::Course;
use curriculum::review::Date;
use curriculum::store::{FORMAT, Given, Progress, Settings, Store, StoreError, ThemeChoice};
use std::fs;
use std::path::{Path, PathBuf};

const TEXT: &str = "extern \"C\" __global__ void vector_add(const float* a, const float* b, float* c, int n) {}\n";

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/states")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Everything below a folder with its bytes, but for the lock of whoever has it open.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => left.push(path),
                path if path.ends_with("lockstep.lock") => {}
                path => all.push((path.clone(), fs::read(path).unwrap())),
            }
        }
    }
    all.sort();
    all
}

/// What a learner of this version would leave: a text with steps back, a run that passed, an answer, settings.
fn write(folder: &Path) {
    let course = Course::embedded();
    let day = course.unit("first-kernel").unwrap();
    let mut progress = Progress { last_day: Some("first-kernel".into()), ..Progress::default() };
    progress.passed(day, "main", Date(20_000));
    progress.answered(day, "linear-index", true, Given::default(), Date(20_000));
    let store = Store::open(folder).unwrap();
    store.text(&slot(), "scaffold");
    store.edit(&slot(), TEXT);
    store.save_progress(&progress);
    store.save_settings(&Settings { theme: ThemeChoice::Light, tour_seen: true, ..Settings::default() });
    store.add_run(&slot(), &run(TEXT, 1_728_000_000), TEXT);
    drop(store);
    fs::remove_file(folder.join("lockstep.lock")).unwrap();
}

/// Opens a copy of a kept folder and finds everything that [`write`] put there.
fn reads_whole(folder: &Path) {
    let course = Course::embedded();
    let day = course.unit("first-kernel").unwrap();
    let store = Store::open(folder).unwrap();
    let mut history = store.text(&slot(), "another scaffold");
    assert_eq!(history.text(), TEXT);
    while history.undo().is_some() {}
    assert_eq!(history.text(), "scaffold");
    let progress = store.progress();
    assert!(progress.has_passed(day, "main"));
    assert_eq!(progress.last_day.as_deref(), Some("first-kernel"));
    assert!(progress.days["first-kernel"].answers["linear-index"].correct);
    let settings = store.settings();
    assert!(settings.theme == ThemeChoice::Light && settings.tour_seen);
    let runs = store.runs(&slot());
    assert_eq!(runs.len(), 1);
    assert_eq!(store.run_source(&slot(), &runs[0]).as_deref(), Some(TEXT));
    assert_eq!(store.take_problems(), []);
}

#[test]
fn states_of_every_released_version_open() {
    let own = kept().join(env!("CARGO_PKG_VERSION"));
    if std::env::var_os("UPDATE_STATES").is_some() && !own.exists() {
        write(&own);
    }
    assert!(own.is_dir(), "run once with UPDATE_STATES=1 before this version is released: {}", own.display());
    for version in fs::read_dir(kept()).unwrap().flatten() {
        let dir = tempfile::tempdir().unwrap();
        copy(&version.path(), dir.path());
        reads_whole(dir.path());
        // Opened a second time, by what the first left.
        reads_whole(dir.path());
    }
}

#[test]
fn a_folder_without_a_number_is_of_the_first_format() {
    let dir = tempfile::tempdir().unwrap();
    copy(&kept().join("0.1.0"), dir.path());
    fs::remove_file(dir.path().join("format.txt")).unwrap();
    reads_whole(dir.path());
    assert_eq!(fs::read_to_string(dir.path().join("format.txt")).unwrap(), "1\n");
    fs::write(dir.path().join("format.txt"), "").unwrap();
    reads_whole(dir.path());
}

#[test]
fn a_newer_folder_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    copy(&kept().join("0.1.0"), dir.path());
    fs::write(dir.path().join("format.txt"), format!("{}\n", FORMAT + 1)).unwrap();
    let before = contents(dir.path());
    let Err(error) = Store::open(dir.path()) else { panic!("opened a newer folder") };
    assert!(matches!(error, StoreError::Newer { found, .. } if found == FORMAT + 1));
    assert!(error.to_string().contains("update this Lockstep"), "{error}");
    // It can still be looked at.
    let looking = Store::open_read_only(dir.path());
    assert_eq!(looking.text(&slot(), "scaffold").text(), TEXT);
    looking.edit(&slot(), "lost");
    drop(looking);
    assert_eq!(contents(dir.path()), before);
}
