//! The editor as a learner uses it, by keyboard and accessible label, with a scripted engine.

mod window_support;

use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use gpu_core::job::{Event, Job, Outcome};
use lockstep::state::{JobKey, LabKey};
use window_support::{GOOD, SIZE, Window, answer, compiled, simple_script};

fn open() -> Window {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    window
}

fn cursor(window: &Window) -> (usize, usize) {
    window.app().state.desk().expect("a text").editor.cursor_position()
}

fn go_to(window: &mut Window, line: u32, column: u32) {
    window.harness.state_mut().command(lockstep::command::Command::GoToLine { line, column });
    window.settle();
}

#[test]
fn a_word_is_completed_by_keyboard_with_its_documentation() {
    let mut window = open();
    go_to(&mut window, 6, 5);
    for letter in "syncth".chars() {
        window.type_text(&letter.to_string());
    }
    assert!(window.has("__syncthreads_count"), "others that fit");
    assert!(window.has("Waits until every thread of the block is here"), "one line about it");
    assert!(window.has("Synchronization Functions"), "the manual's section");
    window.key(Modifiers::NONE, Key::ArrowDown);
    window.key(Modifiers::NONE, Key::ArrowUp);
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.text().contains("    __syncthreadsif"), "{}", window.text());
    assert!(!window.has("__syncthreads_count"), "the list is closed");
    // The next Enter is a line again, and Escape closes the list and nothing else.
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(cursor(&window).0, 7);
    window.type_text("th");
    window.type_text("re");
    let listed = |window: &Window| window.harness.query_all_by_label("threadIdx").next().is_some();
    assert!(listed(&window));
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!listed(&window) && window.harness.get_by_label("Code editor").is_focused());
    window.key(Modifiers::CTRL, Key::Space);
    assert!(listed(&window), "asked for by key");
    window.harness.get_by_label("threadIdx").click();
    window.settle();
    assert!(window.text().contains("\n    threadIdxif"), "by mouse: {}", window.text());
    assert!(window.harness.get_by_label("Code editor").is_focused());
}

#[test]
fn words_of_the_text_are_offered_too() {
    let mut window = open();
    go_to(&mut window, 6, 5);
    window.type_text("vect");
    window.key(Modifiers::NONE, Key::Tab);
    assert!(window.text().contains("    vector_addif"), "{}", window.text());
}

#[test]
fn a_builtin_is_explained_by_key() {
    let mut window = open();
    go_to(&mut window, 5, 15);
    assert!(!window.has("This block's index in the grid"));
    window.key(Modifiers::COMMAND, Key::I);
    assert!(window.has("This block's index in the grid"), "blockIdx");
    window.key(Modifiers::NONE, Key::ArrowLeft);
    assert!(!window.has("This block's index in the grid"), "it goes with the next step");
}

#[test]
fn an_expression_is_searched_and_replaced_with_its_groups() {
    let mut window = open();
    window.key(Modifiers::COMMAND, Key::H);
    window.click("Regular expression; $1 in the replacement is its first group");
    window.harness.get_by_label("Find").focus();
    window.settle();
    window.type_text(r"const float\* (\w)");
    assert!(window.has("2 matches"));
    window.harness.get_by_label("Replace with").focus();
    window.settle();
    window.type_text("const double* in_$1");
    window.click("Replace All");
    assert!(window.text().contains("const double* in_a, const double* in_b,"), "{}", window.text());
    window.harness.get_by_label("Find").focus();
    window.settle();
    window.type_text("(");
    assert!(window.has("unclosed group"), "what is wrong with it");
}

#[test]
fn hot_lines_are_marked_after_a_run() {
    let mut window = open();
    assert!(!window.has("of the instructions"));
    window.key(Modifiers::COMMAND, Key::Enter);
    assert!(window.has("Line 6: 100.0 % of the instructions"));
    assert!(window.has("4.00 sectors per request, 98 % of them used"));
    // They move with the text.
    go_to(&mut window, 1, 1);
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.has("Line 7: 100.0 % of the instructions"));
}

/// A compilation that ends after more was typed says nothing about the text that is there now.
#[test]
fn results_of_an_older_text_are_dropped() {
    let script = |job: &Job| match job {
        Job::Compile { source, .. } if source.text.contains("oops") => None,
        job => Some(answer(job)),
    };
    let mut window = Window::open(true, SIZE, Box::new(script));
    window.paste_kernel(&GOOD.replace("a[i] + b[i]", "oops"));
    let asked = |window: &Window| {
        let engine = window.engine.0.borrow();
        engine.jobs.iter().filter(|job| matches!(job, Job::Compile { .. })).count() as u64
    };
    let before = asked(&window);
    let key = window.app().state.desk().and_then(|desk| desk.compiling.clone()).expect("under way");
    window.type_text("x");
    let late = Event::Compiled(Box::new(compiled(&GOOD.replace("a[i] + b[i]", "oops"))));
    let state = &mut window.harness.state_mut().state;
    let _ = state.receive(&key, late);
    assert_eq!(state.desk().expect("a text").editor.marks.iter().count(), 0, "the error is of the text before");
    let _ = state.receive(&key, Event::Finished(Outcome::Done));
    window.settle();
    assert!(asked(&window) > before, "the new text is compiled at once");
    assert_eq!(key.lab, LabKey::Here);
    assert_ne!(window.app().state.desk().and_then(|desk| desk.compiling.clone()), None::<JobKey>);
}
