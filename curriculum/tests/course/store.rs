//! The learner's files as the app uses them, with damage and failing disks.

use super::{run, slot};
use curriculum::Course;
use curriculum::review::Date;
use curriculum::store::{Given, Progress, Settings, Store, StoreError, TextSlot, ThemeChoice};
use std::fs;
use std::time::Duration;

#[test]
fn everything_comes_back_after_closing() {
    let dir = tempfile::tempdir().unwrap();
    let course = Course::embedded();
    let day = course.unit("first-kernel").unwrap();
    let mut progress = Progress::default();
    progress.answered(day, "linear-index", false, Given::default(), Date(20_000));
    let settings = Settings { theme: ThemeChoice::Dark, ..Settings::default() };
    {
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(store.text(&slot(), "scaffold").text(), "scaffold");
        store.edit(&slot(), "a");
        store.edit(&slot(), "ab\n");
        store.save_progress(&progress);
        store.save_settings(&settings);
        store.add_run(&slot(), &run("ab\n", 1), "ab\n");
        store.add_run(&slot(), &run("ab\n", 2), "ab\n");
    }
    let store = Store::open(dir.path()).unwrap();
    let mut history = store.text(&slot(), "another scaffold");
    assert_eq!(history.text(), "ab\n");
    while history.undo().is_some() {}
    assert_eq!(history.text(), "scaffold");
    assert_eq!(store.progress(), progress);
    assert_eq!(store.settings(), settings);
    let runs = store.runs(&slot());
    assert_eq!(runs.iter().map(|run| run.when_unix_s).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(store.run_source(&slot(), &runs[0]).as_deref(), Some("ab\n"));
    assert_eq!(store.take_problems(), []);
}

#[test]
fn damage_is_told_kept_aside_and_never_fatal() {
    let dir = tempfile::tempdir().unwrap();
    for (file, bytes) in [
        ("progress.toml", &b"days = 3"[..]),
        ("progress.toml", b"\xff\xff"),
        ("settings.toml", b"theme = \"dark"),
        ("settings.toml", b"\0\0\0\0\0"),
        ("days/first-kernel/main/journal.jsonl", b"{\"nonsense\":1}\n"),
        ("days/first-kernel/main/kernel.cu", b"\xc3\x28"),
    ] {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.settings();
        store.progress();
        store.text(&slot(), "");
        let problems = store.take_problems();
        let kept =
            problems.iter().find(|p| p.path.starts_with(dir.path().join("aside"))).unwrap_or_else(|| panic!("{file}"));
        assert_eq!(fs::read(&kept.path).unwrap(), bytes, "{file}");
        let name = file.rsplit('/').next().unwrap();
        assert!(kept.message.starts_with(name), "{}", kept.message);
        store.edit(&slot(), format!("after {file}"));
        drop(store);
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(store.text(&slot(), "").text(), format!("after {file}"));
        assert_eq!(store.take_problems(), [], "{file}: told once");
    }
}

#[test]
fn a_torn_run_costs_that_run_only() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.add_run(&slot(), &run("a", 1), "a");
    assert!(store.flush(Duration::from_secs(5)));
    let path = dir.path().join("days/first-kernel/main/runs.jsonl");
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("{\"when_unix_s\":2,\"ki\n");
    text.push_str("{\"when_unix_s\":3");
    fs::write(&path, &text).unwrap();
    store.add_run(&slot(), &run("b", 4), "b");
    let runs = store.runs(&slot());
    assert_eq!(runs.iter().map(|run| run.when_unix_s).collect::<Vec<_>>(), [1, 4]);
    assert!(store.take_problems()[0].message.contains("2 of 4 runs cannot be read"));
    assert!(fs::read_to_string(&path).unwrap().starts_with(&text));
}

#[test]
fn a_folder_that_cannot_be_written_is_told_with_a_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    let Err(error) = Store::open(&file.join("data")) else { panic!("opened a folder inside a file") };
    assert!(matches!(error, StoreError::Unusable { .. }));
    assert!(error.to_string().contains("LOCKSTEP_DATA"), "{error}");
}

#[test]
fn a_failing_write_is_told_once_and_made_good_later() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    // A file where the slot's folder should be: every write fails until it is gone.
    let days = dir.path().join("days");
    fs::write(&days, "in the way").unwrap();
    store.edit(&slot(), "kept in memory");
    store.flush(Duration::from_secs(5));
    store.flush(Duration::from_secs(5));
    let problems = store.take_problems();
    assert!(problems.iter().any(|problem| problem.message.contains("kept in memory")), "{problems:?}");
    fs::remove_file(&days).unwrap();
    assert!(store.flush(Duration::from_secs(5)));
    drop(store);
    assert_eq!(Store::open(dir.path()).unwrap().text(&slot(), "").text(), "kept in memory");
}

#[test]
fn a_folder_that_is_being_let_go_of_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let closing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop(store);
    });
    assert!(Store::open(dir.path()).is_ok(), "the window before is closing");
    closing.join().unwrap();
}

#[test]
fn runs_of_a_full_disk_are_noted_when_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let days = dir.path().join("days");
    fs::write(&days, "in the way").unwrap();
    assert!(store.unsaved().is_none());
    for when in [1, 2] {
        store.add_run(&slot(), &run("a", when), "a");
        assert!(store.flush(Duration::from_secs(5)));
    }
    assert!(store.unsaved().is_some_and(|problem| problem.path.starts_with(&days)), "until it is on disk");
    fs::remove_file(&days).unwrap();
    let runs = store.runs(&slot());
    assert_eq!(runs.iter().map(|run| run.when_unix_s).collect::<Vec<_>>(), [1, 2]);
    assert!(store.unsaved().is_none());
}

#[test]
fn names_that_are_no_folder_names_are_refused() {
    for (day, exercise) in [("../x", "main"), ("", "main"), ("a", "b/c"), ("A", "main"), ("a", "..")] {
        assert_eq!(TextSlot::new(day, exercise), None);
    }
}

#[test]
fn all_state_moves_as_one_file() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = here.path().join("outside/state.json");
    let progress = Progress { last_day: Some("first-kernel".into()), ..Progress::default() };
    let old = Store::open(&here.path().join("data")).unwrap();
    old.edit(&slot(), "from the old computer");
    old.save_progress(&progress);
    old.add_run(&slot(), &run("a", 1), "a");
    assert!(old.export(&file).unwrap() >= 4);

    let new = Store::open(there.path()).unwrap();
    new.edit(&slot(), "typed before the import");
    new.add_run(&slot(), &run("b", 2), "b");
    new.import(&file).unwrap();
    assert_eq!(new.text(&slot(), "").text(), "from the old computer");
    assert_eq!(new.progress(), progress);
    assert_eq!(new.runs(&slot()).iter().map(|run| run.when_unix_s).collect::<Vec<_>>(), [2, 1]);
    new.edit(&slot(), "and on");
    drop(new);
    let new = Store::open(there.path()).unwrap();
    assert_eq!(new.text(&slot(), "").text(), "and on");
    let kept = walk(&there.path().join("aside"));
    assert!(kept.iter().any(|text| text == "typed before the import"), "{kept:?}");

    for (text, part) in [
        ("{", "EOF"),
        ("{\"format\":\"x\",\"version\":1,\"files\":{}}", "format `x`"),
        ("{\"format\":\"lockstep-state\",\"version\":9,\"files\":{}}", "newer Lockstep (format 9"),
        ("{\"format\":\"lockstep-state\",\"version\":1,\"files\":{\"days/../../x\":\"\"}}", "`days/../../x`"),
        ("{\"format\":\"lockstep-state\",\"version\":1,\"files\":{\"/etc/x\":\"\"}}", "`/etc/x`"),
    ] {
        fs::write(&file, text).unwrap();
        let error = new.import(&file).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(Store::open_read_only(there.path()).import(&file).is_err());
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![fs::read_to_string(path).unwrap()] }).collect()
}
