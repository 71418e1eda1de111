//! What is no day in the window: a page, a problem and an answer exercise, opened, worked through and kept.

mod window_support;

use egui_kittest::kittest::Queryable as _;
use gpu_core::emulator::{Counters, Traffic};
use gpu_core::job::{Event, Job, Outcome};
use gpu_core::verdict::{CaseReport, RunReport};
use lockstep::command::Command;
use window_support::{GOOD, SIZE, Window, answer, simple_script};

fn do_command(window: &mut Window, command: Command) {
    window.harness.state_mut().command(command);
    window.settle();
}

fn is_done(window: &Window, id: &str) -> bool {
    let state = &window.app().state;
    state.progress.done(state.course.unit_by_id(id).expect("a unit")).is_complete()
}

#[test]
fn a_page_is_read_part_by_part() {
    let mut window = Window::open(true, SIZE, simple_script());
    let id = "reference-how-it-compiles";
    do_command(&mut window, Command::OpenDay(id.to_owned()));
    let unit = window.app().state.day().expect("a page").clone();
    assert!(window.has("How a kernel is compiled") && window.has("Reference"));
    let parts: Vec<_> = unit.steps().collect();
    assert!(parts.len() > 2, "{parts:?}");
    for next in &parts[1..] {
        assert!(!is_done(&window, id));
        let title = unit.step_title(*next).to_owned();
        // Below what fits, where a part is long: a screen reader's click needs no place.
        window.harness.get_by_label(&format!("Next: {title} ›")).click_accesskit();
        window.settle();
        assert_eq!(window.app().state.view.step, *next);
    }
    assert!(is_done(&window, id), "the last part asks for nothing");
    // A link finds a part by its heading.
    do_command(&mut window, Command::OpenLink(format!("reference/how-it-compiles#{}", unit.step_id(parts[1]))));
    assert_eq!(window.app().state.view.step, parts[1]);
}

#[test]
fn a_problem_is_done_when_its_kernel_passes() {
    let mut window = Window::open(true, SIZE, simple_script());
    let id = "practice-elementwise-clamp";
    do_command(&mut window, Command::OpenDay(id.to_owned()));
    window.until("the scaffold is read", |app| app.state.desk().is_some_and(|desk| desk.loaded && desk.day == id));
    assert!(window.text().contains("clamp_all") && window.has("Practice"));
    assert!(window.has("Show a hint"), "the part with the exercise has its hints");
    window.click("Next: Afterwards ›");
    assert!(!is_done(&window, id), "nothing passed yet");
    window.paste_kernel(GOOD);
    window.click("Check");
    let unit = window.app().state.day().expect("a problem").clone();
    assert!(window.app().state.progress.has_passed(&unit, "main"));
    assert!(is_done(&window, id), "{:?}", window.app().state.progress.days.get(id));
}

/// A run whose loads are scattered.
fn scattered(job: &Job) -> Option<Vec<Event>> {
    let Job::Bench { .. } = job else { return Some(answer(job)) };
    let load = Traffic { requests: 10, sectors: 320, bytes: 1280 };
    let counters = Counters { global_load: load, ..Counters::default() };
    let case = CaseReport { counters: Some(counters), ..CaseReport::default() };
    let ran = RunReport { completed: true, case, ..RunReport::default() };
    Some(vec![Event::Ran(Box::new(ran)), Event::Finished(Outcome::Done)])
}

#[test]
fn a_mystery_opens_once_it_is_answered() {
    let mut window = Window::open(true, SIZE, Box::new(scattered));
    let id = "practice-simulation-three-copies";
    do_command(&mut window, Command::OpenDay(id.to_owned()));
    assert!(window.has("What does it waste?") && !window.has("Source of Kernel A"));
    window.click("Run Kernel A");
    window.until("its figures", |app| !app.state.mysteries.is_empty());
    window.settle();
    assert!(window.has("load_sectors_per_request"));
    // Below what fits: a screen reader's click needs no place.
    window.harness.get_by_label("sectors of global memory").click_accesskit();
    window.settle();
    assert!(window.has("✔ Right") && !window.has("Source of Kernel A"), "one question is left");
    window.harness.get_by_role_and_label(egui::accesskit::Role::Button, "load_sectors_per_request").click_accesskit();
    window.settle();
    assert!(window.has("Source of Kernel A"));
    assert!(!is_done(&window, id), "two kernels are left");
}

#[test]
fn a_run_that_gives_no_figures_says_so() {
    let script = |job: &Job| match job {
        Job::Bench { .. } => Some(vec![Event::Finished(Outcome::Crashed("gone".into()))]),
        _ => Some(answer(job)),
    };
    let mut window = Window::open(true, SIZE, Box::new(script));
    do_command(&mut window, Command::OpenDay("practice-simulation-three-copies".to_owned()));
    window.click("Run Kernel A");
    assert!(window.has("gone") && window.has("Run Kernel A"));
    assert!(window.app().state.mysteries.is_empty());
}
