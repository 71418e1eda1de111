//! Text and keys in the editor of the window.

use super::window_support::{GOOD, SIZE, Window, simple_script};
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable;
use lockstep::command::{Action, Command};
use lockstep::state::Pane;
use lockstep::widgets::code_editor::MarkKind;
use std::time::{Duration, Instant};

#[test]
fn errors_appear_while_typing_and_the_next_problem_is_a_key_away() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(&GOOD.replace("a[i] + b[i]", "oops"));
    window.settle();
    assert!(window.has("Error on line 6"));
    window.key(Modifiers::NONE, Key::F8);
    let desk = window.app().state.desk().expect("a text");
    assert_eq!(desk.editor.cursor_position().0, 6);
    assert_eq!(desk.editor.marks.on_line(6)[0].kind, MarkKind::Error);
    window.key(Modifiers::COMMAND, Key::Enter);
    assert!(window.app().state.is_in_sight(Pane::Problems));
    window.key(Modifiers::COMMAND, Key::Z);
    window.settle();
    assert!(!window.has("Error on line 6"), "undo takes the error away");
}

#[test]
fn typing_undo_and_redo_work_from_the_keyboard() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.harness.get_by_label("Code editor").focus();
    window.settle();
    window.key(Modifiers::COMMAND, Key::A);
    for word in ["int ", "x;"] {
        window.type_text(word);
    }
    window.key(Modifiers::NONE, Key::Enter);
    window.key(Modifiers::NONE, Key::Tab);
    window.type_text("y");
    assert_eq!(window.text(), "int x;\n    y");
    let typed = window.text().to_owned();
    for _ in 0..8 {
        window.key(Modifiers::COMMAND, Key::Z);
    }
    assert!(window.text().contains("TODO"), "back at the scaffold: {}", window.text());
    for _ in 0..8 {
        window.key(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    }
    assert_eq!(window.text(), typed);
}

/// As the tap of a touchpad, or a machine that is slow for a moment, sends them.
#[test]
fn a_click_within_one_frame_places_the_cursor() {
    let mut window = Window::open(true, SIZE, simple_script());
    let area = window.harness.get_by_label("Code editor").rect();
    let pos = area.left_top() + egui::vec2(120.0, 9.5 * window.app().state.settings.editor_points);
    let button = |pressed| Event::PointerButton {
        pos,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let events = [Event::PointerMoved(pos), button(true), button(false)];
    window.harness.input_mut().events.extend(events);
    window.settle();
    let line = window.app().state.desk().expect("a text").editor.cursor_position().0;
    assert!(line > 4, "the cursor is on line {line}");
    window.type_text("here");
    assert!(window.text().lines().nth(line - 1).is_some_and(|line| line.contains("here")));
}

/// An input method composes, then commits.
#[test]
fn composed_text_is_shown_and_committed_once() {
    use egui::ImeEvent;
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel("// ");
    let preedit = |text: &str| egui::Event::Ime(ImeEvent::Preedit { text: text.to_owned(), active_range_chars: None });
    for event in [preedit("a"), preedit("ae")] {
        window.harness.event(event);
        window.settle();
    }
    assert_eq!(window.text(), "// ", "composing changes nothing");
    assert_eq!(window.app().state.desk().expect("a text").editor.composing(), "ae");
    window.harness.event(egui::Event::Ime(ImeEvent::Commit("æ".to_owned())));
    window.settle();
    assert_eq!(window.text(), "// æ");
    assert_eq!(window.app().state.desk().expect("a text").editor.composing(), "");
}

#[test]
fn search_replace_and_go_to_line() {
    let mut window = Window::open(false, SIZE, simple_script());
    window.paste_kernel(GOOD);
    window.key(Modifiers::COMMAND, Key::H);
    window.type_text("float");
    assert!(window.has("1 of 3"));
    window.harness.get_by_label("Replace with").focus();
    window.settle();
    window.type_text("double");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.text(), GOOD.replacen("float", "double", 1), "Enter replaces the match");
    assert!(window.harness.get_by_label("Replace with").is_focused(), "and stays for the next");
    window.click("Replace All");
    assert_eq!(window.text(), GOOD.replace("float", "double"));
    window.click("Close the search");
    assert!(!window.has("Replace All"));
    window.key(Modifiers::COMMAND, Key::G);
    window.type_text("5");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.app().state.desk().expect("a text").editor.cursor_position(), (5, 5));
    assert!(window.harness.get_by_label("Code editor").is_focused());
}

#[test]
fn reset_asks_and_can_be_undone() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel("mine");
    window.do_command(Command::Do(Action::ResetToScaffold));
    window.click("Reset");
    assert!(window.text().contains("TODO"));
    window.do_command(Command::Do(Action::Undo));
    assert_eq!(window.text(), "mine");
}

#[test]
fn the_text_is_there_again_after_a_restart_with_its_undo() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel("first");
    window.paste_kernel("second");
    let Window { harness, folder, .. } = window;
    drop(harness);
    let mut window = Window::open_in(folder, true, SIZE, simple_script());
    assert_eq!(window.text(), "second");
    window.do_command(Command::Do(Action::Undo));
    assert_eq!(window.text(), "first");
}

/// What is typed is on disk within a second, so a kill costs no more than that.
#[test]
fn typed_text_is_on_disk_within_a_second() {
    let mut window = Window::open(true, SIZE, simple_script());
    let slot = window.app().state.desk().expect("a text");
    let file = window.folder.path().join("days").join(&slot.day).join(&slot.exercise).join("kernel.cu");
    window.harness.get_by_label("Code editor").focus();
    window.settle();
    for round in 0..5 {
        let word = format!("// round {round} ");
        window.type_text(&word);
        let typed = Instant::now();
        while !std::fs::read_to_string(&file).is_ok_and(|text| text.contains(&word)) {
            assert!(typed.elapsed() < Duration::from_secs(1), "{word} is not on disk");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Typing in the middle of a long text; debug builds are several times slower than what learners run.
#[test]
fn five_thousand_lines_stay_smooth() {
    let mut window = Window::open(true, SIZE, simple_script());
    let line = "    c[i] = a[i] * 2.0f + b[i]; // one of many lines of a kernel\n";
    window.paste_kernel(&line.repeat(5_000));
    window.do_command(Command::GoToLine { line: 2_500, column: 5 });
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..40 {
        window.harness.event(egui::Event::Text("x".into()));
        let start = Instant::now();
        // The frame that takes the key and the one that shows it.
        window.harness.step();
        window.harness.step();
        times.push(start.elapsed() / 2);
    }
    times.sort();
    println!("5,000 lines, a key: p10 {:?}, median {:?}, p99 {:?}", times[4], times[20], times[39]);
    // What else the machine does only lengthens a frame, so the quick ones say what this program costs.
    assert!(times[4] < Duration::from_millis(25), "p10 {:?}, median {:?}", times[4], times[20]);
    assert!(window.text().contains("xxxxxxxx"));
}
