//! The window as a learner uses it, by accessible label, with a scripted engine.

mod commands;
mod typing;
#[path = "../window_support/mod.rs"]
mod window_support;

use curriculum::store::Given;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable};
use gpu_core::job::{Event as LabEvent, Job, Outcome};
use lockstep::command::{Action, Command};
use lockstep::state::Pane;
use window_support::{GOOD, SIZE, Window, answer, simple_script, unguarded};

#[test]
fn a_kernel_passes_and_the_plot_gets_a_point() {
    let mut window = Window::open(true, SIZE, simple_script());
    assert!(window.has("Your first kernel"));
    window.paste_kernel(GOOD);
    assert_eq!(window.text(), GOOD);
    window.click("Check");
    assert!(window.has("Passed"), "the verdict says so");
    let desk = window.app().state.desk().expect("a text");
    assert_eq!(desk.runs.len(), 1);
    assert!(desk.runs[0].passed && desk.runs[0].points.len() == 1, "the run is a point: {:?}", desk.runs);
    let day = window.app().state.day().expect("a day").clone();
    assert!(window.app().state.progress.is_step_done(&day, curriculum::Step::CodeIt));
    window.click("Plots");
    assert!(!window.has("No runs yet"));
}

/// A kernel that never ends was compiled long ago: the strip must not say that it still is.
#[test]
fn the_strip_says_what_is_under_way() {
    let script = |job: &Job| match job {
        Job::Check { .. } => Some(
            answer(job)
                .into_iter()
                .filter(|event| matches!(event, gpu_core::job::Event::Compiled(_)))
                .collect::<Vec<_>>(),
        ),
        _ => Some(answer(job)),
    };
    let mut window = Window::open(true, SIZE, Box::new(script));
    window.paste_kernel(GOOD);
    window.click("Check");
    assert!(window.app().state.is_running() && window.has("Running on "), "{:?}", window.app().state.running);
    assert!(!window.has("Compiling on "));
}

#[test]
fn who_jumps_ahead_has_not_read_what_was_skipped() {
    let mut window = Window::open(true, SIZE, simple_script());
    // A day whose challenge has no table to fill in: that is done when the table is right.
    let id = window.app().state.course.unit("week1/day5").expect("a day").id.clone();
    window.do_command(Command::OpenDay(id));
    let day = window.app().state.day().expect("a day").clone();
    let is_done = |window: &Window, step| window.app().state.progress.is_step_done(&day, step);
    window.key(Modifiers::COMMAND, Key::Num4);
    assert!(curriculum::Step::ALL.into_iter().all(|step| !is_done(&window, step)), "nothing was read");
    window.key(Modifiers::COMMAND, Key::Num1);
    window.key(Modifiers::COMMAND, Key::Num2);
    assert!(is_done(&window, curriculum::Step::Challenge), "going on to the next step ends the one before");
}

#[test]
fn the_tour_leads_to_the_first_kernel_with_room_to_write() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.do_command(Command::ShowTour(lockstep::tour::TOUR.len() - 1));
    window.click("Straight to the first kernel (Day 4)");
    let view = &window.app().state.view;
    assert_eq!((view.step, view.dock.layout()), (curriculum::Step::CodeIt, lockstep::dock::Layout::Code));
    assert!(window.app().state.tour.is_none());
}

#[test]
fn a_broken_kernel_shows_its_fault_at_the_line() {
    let mut window = Window::open(false, SIZE, simple_script());
    window.paste_kernel(&unguarded());
    window.key(Modifiers::COMMAND, Key::Enter);
    assert!(window.has("Not yet") && window.has("Out of bounds"));
    assert!(window.has("Fault on line 6"), "the gutter marks the line");
    window.harness.get_all_by_label("line 6").next().expect("a link to the line").click();
    window.settle();
    assert_eq!(window.app().state.desk().expect("a text").editor.cursor_position().0, 6);
    // A line above moves the mark along.
    window.app_edit(lockstep::widgets::code_editor::EditorAction::GoTo { line: 1, column: 1 });
    window.app_edit(lockstep::widgets::code_editor::EditorAction::NewLine);
    assert!(window.has("Fault on line 7"));
}

#[test]
fn wrong_output_lists_the_first_mismatches() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel("extern \"C\" __global__ void vector_add() {}\n");
    window.key(Modifiers::COMMAND, Key::Enter);
    assert!(window.has("never written") && window.has("c[0]"));
    assert!(window.has("What this usually means"), "the day's hint for this diagnosis");
}

#[test]
fn panes_are_left_by_keyboard() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.do_command(Command::Do(Action::ToggleResults));
    window.harness.get_by_label("Code editor").focus();
    window.settle();
    let mut focused = Vec::new();
    for _ in 0..5 {
        window.key(Modifiers::NONE, Key::F6);
        let editor = window.harness.get_by_label("Code editor").is_focused();
        focused.push((window.app().state.view.focus.0, editor));
    }
    assert!(focused[..4].iter().all(|(_, editor)| !editor), "{focused:?}");
    assert!(focused[4].1, "after all panes the editor has the keyboard again: {focused:?}");
}

#[test]
fn a_quiz_answer_is_marked_and_kept() {
    let mut window = Window::open(false, SIZE, simple_script());
    window.key(Modifiers::COMMAND, Key::Num5);
    assert!(window.has("Quiz"));
    let day = window.app().state.day().expect("a day").clone();
    let question = &day.quiz.questions[0];
    window.do_command(Command::Answered { question: question.id.clone(), correct: false, given: Given::default() });
    let progress = &window.app().state.progress;
    assert!(!progress.days[&day.id].answers[&question.id].correct);
    assert!(progress.review.contains_key(&format!("{}/{}", day.id, question.id)), "it comes back for review");
}

#[test]
fn hints_come_one_by_one_and_the_solution_asks_first() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.key(Modifiers::COMMAND, Key::Num4);
    window.key(Modifiers::COMMAND | Modifiers::SHIFT, Key::H);
    assert!(window.has("Hint 1 of") && !window.has("Hint 2 of"));
    window.key(Modifiers::COMMAND | Modifiers::SHIFT, Key::H);
    assert!(window.has("Hint 2 of"));
    window.do_command(Command::Do(Action::ShowSolution));
    assert!(window.has("Show the solution?"));
    window.click("Show it");
    assert!(window.app().state.is_in_sight(Pane::Solution));
    window.click("Open our solution in the editor");
    assert_eq!(window.text(), window_support::solution(), "the plain one first");
    window.do_command(Command::Do(Action::ShowSolution));
    window.click("Fast");
    window.click("Open our solution in the editor");
    assert_eq!(window.text(), window_support::reference());
    window.key(Modifiers::COMMAND, Key::Z);
    assert_eq!(window.text(), window_support::solution());
    window.harness.get_by_label("Code editor").focus();
    window.settle();
    window.key(Modifiers::COMMAND, Key::Z);
    assert!(window.text().contains("TODO"), "the learner's text is one undo away");
}

/// The learner's Python is whatever the settings name; here one that answers at once.
#[cfg(unix)]
#[test]
fn a_python_rung_runs_and_shows_what_it_found() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut window = Window::open(true, SIZE, simple_script());
    let python = window.folder.path().join("python");
    let say = |text: &str| {
        std::fs::write(&python, format!("#!/bin/sh\n{text}\n")).expect("a scratch file");
        std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).expect("a scratch file");
    };
    window.harness.state_mut().state.settings.python = Some(python.clone());
    window.key(Modifiers::COMMAND, Key::Num4);
    let day = window.app().state.day().expect("a day").clone();
    let script = day.exercises[0].scripts[0].clone();
    let run = |window: &mut Window| {
        window.do_command(Command::RunScript(script.file.clone()));
        window.until("the script's end", |app| app.state.scripts.values().all(|script| !script.running));
        window.settle();
    };
    say("echo warming up; echo '{\"name\": \"n = 1000\", \"rung\": \"triton\", \"device\": \"a GPU\", \
         \"median_ms\": 0.004, \"ok\": true}'");
    run(&mut window);
    for shown in ["✔", "triton", "On a GPU.", "Measured on", "warming up", "under Plots"] {
        assert!(window.has(shown), "{shown:?} is not shown");
    }
    say("echo '{\"rung\": \"triton\", \"ok\": false, \"error\": \"torch not found\"}'; exit 2");
    run(&mut window);
    assert!(window.has("The script failed: torch not found"));
    assert!(window.has("On a GPU. Measured on "), "what the run before found stays, with its date");
    say("while true; do :; done");
    window.do_command(Command::RunScript(script.file.clone()));
    assert!(window.has("Stop the script"));
    window.key(Modifiers::COMMAND, Key::Period);
    window.until("the stop", |app| app.state.scripts.values().all(|script| !script.running));
    window.settle();
    assert!(window.has("The script failed: stopped"));
    // A restart shows what the last complete run found.
    let Window { harness, folder, .. } = window;
    drop(harness);
    let mut window = Window::open_in(folder, true, SIZE, simple_script());
    window.key(Modifiers::COMMAND, Key::Num4);
    for shown in ["triton", "On a GPU. Measured on ", "warming up"] {
        assert!(window.has(shown), "{shown:?} is forgotten");
    }
    assert!(!window.has("The script failed"));
}

/// A worker that never answers costs no frame, also in this unoptimised build.
#[test]
fn the_window_stays_alive_while_a_worker_hangs() {
    let script = |job: &gpu_core::job::Job| match job {
        gpu_core::job::Job::Check { .. } => None,
        job => Some(answer(job)),
    };
    let mut window = Window::open(true, SIZE, Box::new(script));
    window.paste_kernel(GOOD);
    window.key(Modifiers::COMMAND, Key::Enter);
    assert!(window.app().state.is_running() && window.has("Checking"));
    window_support::check_frames(|| {
        window.harness.event(egui::Event::Text("x".into()));
        window.harness.step();
    });
    assert!(window.text().contains("xxxxxxxxxx"), "typing goes on");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.app().state.is_running() && window.has("Stopped"));
    assert_eq!(window.engine.0.borrow().stopped.len(), 1);
}

#[test]
fn the_missing_compiler_is_offered_and_checks_wait_for_it() {
    use lockstep::effect::Update;
    use lockstep::state::Compiler;
    let mut window = Window::open(false, SIZE, simple_script());
    let missing = Compiler::Missing { message: "NVRTC was not found.".into(), download_bytes: 90_000_000 };
    window.harness.state_mut().inject(Update::Compiler(missing));
    window.settle();
    assert!(window.has("90 MB") && window.has("Install NVRTC"));
    let before = window.engine.0.borrow().jobs.len();
    window.key(Modifiers::COMMAND, Key::Enter);
    assert_eq!(window.engine.0.borrow().jobs.len(), before, "nothing is submitted");
    assert!(window.has("The CUDA compiler is missing"));
    let progress =
        Compiler::Installing { what: "nvidia-cuda-nvrtc".into(), done_bytes: 45_000_000, total_bytes: 90_000_000 };
    window.harness.state_mut().inject(Update::Compiler(progress));
    window.settle();
    assert!(window.has("45 of 90 MB") && window.has("Cancel"));
}

#[test]
fn settings_are_changed_and_a_remote_machine_is_added() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.key(Modifiers::COMMAND, Key::Comma);
    window.click("Light");
    window.harness.get_by_label("Remote name").focus();
    window.settle();
    window.type_text("spark");
    window.click("Save");
    assert!(window.has("needs a name and the command"), "half a remote is refused");
    window.harness.get_by_label("Remote command").focus();
    window.settle();
    window.type_text("ssh spark lockstep worker");
    window.click("Save");
    let settings = &window.app().state.settings;
    assert_eq!(settings.theme, curriculum::store::ThemeChoice::Light);
    assert_eq!(settings.remotes.len(), 1);
}

impl Window {
    fn do_command(&mut self, command: Command) {
        self.harness.state_mut().command(command);
        self.settle();
    }

    fn app_edit(&mut self, action: lockstep::widgets::code_editor::EditorAction) {
        self.do_command(Command::Edit(action));
    }
}

/// The mark on the tab is about the text that is there: it goes with the first change, and while a run goes on or was
/// stopped.
#[test]
fn the_verdicts_mark_goes_with_what_it_was_about() {
    let script = |job: &Job| match job {
        // The second check hangs until it is stopped.
        Job::Check { source, .. } if source.text.contains("slow") => None,
        job => Some(answer(job)),
    };
    let mut window = Window::open(true, SIZE, Box::new(script));
    let mark = |window: &Window| {
        let tab = window
            .harness
            .query_all_by_role(egui::accesskit::Role::Tab)
            .find_map(|tab| tab.accesskit_node().label().filter(|label| label.ends_with("Verdict")));
        tab.expect("the tab").trim_end_matches("Verdict").trim().to_owned()
    };
    window.paste_kernel(GOOD);
    window.key(Modifiers::COMMAND, Key::Enter);
    assert_eq!(mark(&window), "✔");
    window.type_text("// slow");
    assert_eq!(mark(&window), "", "of another text");
    window.key(Modifiers::COMMAND, Key::Z);
    assert_eq!(mark(&window), "✔", "Undo leads back to it");
    window.type_text("// slow");
    window.key(Modifiers::COMMAND, Key::Enter);
    assert!(window.app().state.is_running());
    assert_eq!(mark(&window), "", "it is being judged");
    window.key(Modifiers::COMMAND, Key::Period);
    window.engine.0.borrow_mut().answer(vec![LabEvent::Finished(Outcome::Stopped)]);
    window.settle();
    assert!(!window.app().state.is_running());
    assert_eq!(mark(&window), "", "stopped");
}
