use super::*;
use std::sync::{Arc, Mutex};
use std::time::Instant;

type Updates = Arc<Mutex<Vec<Update>>>;

fn watched() -> (Elsewhere, Updates) {
    let updates = Updates::default();
    let shared = updates.clone();
    let elsewhere = Elsewhere::new(move || {
        let shared = shared.clone();
        Box::new(move |update| shared.lock().unwrap().push(update))
    });
    (elsewhere, updates)
}

fn next(updates: &Updates) -> Update {
    let start = Instant::now();
    loop {
        if let Some(update) = {
            let mut updates = updates.lock().unwrap();
            (!updates.is_empty()).then(|| updates.remove(0))
        } {
            return update;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "nothing came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn saved(updates: &Updates) -> (String, Merged) {
    match next(updates) {
        Update::SavedElsewhere { text, how, .. } => (text, how),
        Update::Problem(problem) => panic!("{problem}"),
        _ => panic!("something else came"),
    }
}

#[test]
fn texts_of_both_sides_come_together() {
    let base = "a\nb\nc\nd\n";
    assert_eq!(merge(base, base, "a\nB\nc\nd\n"), ("a\nB\nc\nd\n".into(), Merged::Theirs));
    assert_eq!(merge(base, "A\nb\nc\nd\n", "a\nb\nc\nD\n"), ("A\nb\nc\nD\n".into(), Merged::Both));
    assert_eq!(merge(base, "A\nb\nc\nd\n", "X\nb\nc\nd\n"), ("X\nb\nc\nd\n".into(), Merged::Conflict));
    assert_eq!(merge("", "é\n", ""), ("é\n".into(), Merged::Both));
}

#[test]
fn a_command_line_may_have_arguments_and_quotes() {
    assert_eq!(words("code --wait"), ["code", "--wait"]);
    assert_eq!(words("'/opt/my editor/bin' -n"), ["/opt/my editor/bin", "-n"]);
    assert_eq!(words("  "), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_save_comes_into_the_window_and_typing_goes_into_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("day").join("kernel.cu");
    let (mut elsewhere, updates) = watched();
    let slot = TextSlot::new("day", "kernel").unwrap();
    elsewhere.open(slot.clone(), path.clone(), "one\ntwo\nthree\n".into(), Some("true".into()));
    assert!(matches!(next(&updates), Update::OpenedElsewhere { path: Ok(_), .. }));
    assert!(folder.path().join("day/lab.cuh").is_file());
    // Saved there, with line ends of Windows.
    std::fs::write(&path, "one\r\n2\r\nthree\r\n").unwrap();
    assert_eq!(saved(&updates), ("one\n2\nthree\n".into(), Merged::Theirs));
    // Typed here.
    elsewhere.text(&slot, "1\n2\nthree\n");
    let start = Instant::now();
    while std::fs::read_to_string(&path).unwrap() != "1\r\n2\r\nthree\r\n" {
        assert!(start.elapsed() < Duration::from_secs(20), "never written");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Saved as a new file in its place, while here another line was typed.
    elsewhere.text(&slot, "1\n2\nthree\nfour\n");
    let new = folder.path().join("new");
    std::fs::write(&new, "1\n2 two\nthree\n").unwrap();
    std::fs::rename(&new, &path).unwrap();
    let (text, how) = saved(&updates);
    // Either side may have been first; nothing is lost.
    assert!(text == "1\n2 two\nthree\nfour\n" || how == Merged::Theirs, "{text:?}");
    elsewhere.close(slot);
    std::fs::write(&path, "later\n").unwrap();
    std::thread::sleep(LOOK_TIME * 4);
    assert!(updates.lock().unwrap().is_empty(), "closed");
}

#[cfg(unix)]
#[test]
fn what_was_saved_while_nobody_looked_is_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.cu");
    let (mut elsewhere, updates) = watched();
    let slot = TextSlot::new("day", "kernel").unwrap();
    let text = "one\ntwo\nthree\nfour\n";
    let mut open = |text: &str| {
        elsewhere.open(slot.clone(), path.clone(), text.into(), Some("true".into()));
        assert!(matches!(next(&updates), Update::OpenedElsewhere { path: Ok(_), .. }));
        elsewhere.close(slot.clone());
    };
    open(text);
    std::fs::write(&path, "one\r\n2\r\nthree\r\nfour\r\n").unwrap();
    open(&text.replace("four", "4"));
    assert_eq!(saved(&updates), ("one\n2\nthree\n4\n".into(), Merged::Both));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\n2\nthree\n4\n");
    open("typed here since\n");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "typed here since\n", "nothing was saved there");
    assert!(updates.lock().unwrap().is_empty());
}

#[cfg(unix)]
#[test]
fn a_file_that_is_gone_is_told_once_and_watched_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.cu");
    let (mut elsewhere, updates) = watched();
    let slot = TextSlot::new("day", "kernel").unwrap();
    elsewhere.open(slot.clone(), path.clone(), "one\n".into(), Some("true".into()));
    assert!(matches!(next(&updates), Update::OpenedElsewhere { path: Ok(_), .. }));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(next(&updates), Update::LostElsewhere { path: gone, .. } if gone == path));
    std::fs::write(&path, "two\n").unwrap();
    std::thread::sleep(LOOK_TIME * 4);
    assert!(updates.lock().unwrap().is_empty());
}

#[test]
fn what_a_full_disk_leaves_of_a_file_is_not_taken_for_a_save() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.cu");
    std::fs::write(&path, "one\n").unwrap();
    let (known, slot) = (seen(&path), TextSlot::new("day", "kernel").unwrap());
    let (base, ours) = ("one\n".to_owned(), "one\ntwo\n".to_owned());
    let (crlf, missed, failed) = (false, 0, false);
    let mut file = File { slot, path, base, ours, crlf, known, last: known, missed, failed };
    // The file was emptied, and then there was no room.
    let full = || Err(std::io::Error::from(std::io::ErrorKind::StorageFull));
    std::fs::write(&file.path, "").unwrap();
    assert!(matches!(written(&mut file, full()), Some(Update::Problem(_))));
    std::fs::write(&file.path, "o").unwrap();
    assert!(written(&mut file, full()).is_none(), "told once");
    assert!(look(&mut file).is_none());
    assert_eq!(std::fs::read_to_string(&file.path).unwrap(), "one\ntwo\n", "room again");
    assert_eq!(file.ours, "one\ntwo\n");
}

#[test]
fn an_editor_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (mut elsewhere, updates) = watched();
    let path = folder.path().join("kernel.cu");
    elsewhere.open(TextSlot::new("day", "kernel").unwrap(), path, String::new(), Some("no-such-editor-here".into()));
    match next(&updates) {
        Update::OpenedElsewhere { path: Err(why), .. } => assert!(why.contains("no-such-editor-here"), "{why}"),
        _ => panic!("it started"),
    }
}
