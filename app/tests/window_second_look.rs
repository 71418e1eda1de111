//! What comes back after a restart, keys that are typed ahead, tables to fill in, the sandbox, one pane at full size.

mod window_support;

use curriculum::Step;
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable;
use lockstep::command::{Action, Command};
use lockstep::effect::Update;
use lockstep::state::{Compiler, Dialog, Pane};
use lockstep::widgets::code_editor::EditorAction;
use std::time::Duration;
use window_support::{GOOD, SIZE, Window, simple_script, unguarded};

fn act(window: &mut Window, action: Action) {
    window.harness.state_mut().command(Command::Do(action));
    window.settle();
}

#[test]
fn a_restart_brings_the_run_the_caret_and_the_picture_back() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(&unguarded());
    window.key(Modifiers::COMMAND, Key::Enter);
    window.until("the verdict", |app| app.state.desk().is_some_and(|desk| desk.verdict.value().is_some()));
    window.harness.state_mut().command(Command::GoToLine { line: 5, column: 3 });
    window.settle();
    window.harness.state_mut().command(Command::ShowVisualization("coalescing".to_owned()));
    window.settle();
    let desk = window.app().state.desk().expect("a desk");
    let (caret, marks) = (desk.editor.selection_ends(), desk.editor.marks.iter().count());
    let heat = desk.editor.marks.heat().to_vec();
    let summary = desk.verdict.value().expect("a verdict").summary.clone();
    assert!(marks > 0 && !heat.is_empty());
    window.harness.state_mut().save_window();
    let slot = desk_slot(&window);
    let store = window.app().services.store.clone();
    window.until("the run on disk", |_| store.last_run(&slot).is_some());
    assert!(store.flush(Duration::from_secs(20)));
    drop(store);
    let Window { harness, engine, folder } = window;
    drop((harness, engine));

    let window = Window::open_in(folder, true, SIZE, simple_script());
    let desk = window.app().state.desk().expect("a desk");
    assert_eq!(desk.verdict.value().map(|verdict| verdict.summary.as_str()), Some(summary.as_str()));
    assert!(!desk.is_stale(), "it is of this text");
    assert_eq!(desk.editor.marks.heat(), heat);
    assert_eq!(desk.editor.marks.iter().count(), marks);
    assert_eq!(desk.editor.selection_ends(), caret);
    assert_eq!(window.app().state.view.visualization.as_deref(), Some("coalescing"));
}

fn desk_slot(window: &Window) -> curriculum::store::TextSlot {
    window.app().state.desk.clone().expect("a text is open")
}

#[test]
fn go_to_line_loses_no_key() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    // All in one frame: the shortcut, the number, Enter, and a letter for the line.
    let key = |key, modifiers| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
    for event in [
        key(Key::G, Modifiers::COMMAND),
        key(Key::Num6, Modifiers::NONE),
        Event::Text("6".to_owned()),
        key(Key::Enter, Modifiers::NONE),
        Event::Text("/".to_owned()),
        Event::Text("/".to_owned()),
    ] {
        window.harness.event(event);
    }
    window.harness.run_steps(24);
    assert!(window.app().state.dialog.is_none());
    let sixth = window.text().lines().nth(5).expect("a line");
    assert!(sixth.trim_start().starts_with("//"), "{sixth}");
    assert_eq!(window.text().matches("//").count(), GOOD.matches("//").count() + 1);
}

#[test]
fn the_ready_check_looks_again_after_an_installation() {
    let mut window = Window::open(true, SIZE, simple_script());
    act(&mut window, Action::ReadyCheck);
    window.until("the check", |app| app.state.ready.value().is_some());
    window.harness.state_mut().inject(Update::Compiler(Compiler::Installing {
        what: "it".into(),
        done_bytes: 0,
        total_bytes: 0,
    }));
    window.harness.state_mut().inject(Update::Compiler(Compiler::Found { origin: "here".into() }));
    assert!(window.app().state.ready.is_pending(), "it looks again by itself");
    window.until("the check", |app| !app.state.ready.is_pending());
}

#[test]
fn a_chosen_day_brings_its_lesson_forward() {
    let mut window = Window::open(true, SIZE, simple_script());
    act(&mut window, Action::ShowProgress);
    assert!(!window.app().state.is_in_sight(Pane::Lesson));
    let day = window.app().state.day().expect("a day").id.clone();
    window.harness.state_mut().command(Command::OpenDay(day));
    window.settle();
    assert!(window.app().state.is_in_sight(Pane::Lesson));
}

#[test]
fn a_step_with_a_table_is_done_when_the_table_is() {
    let mut window = Window::open(true, [1280.0, 1600.0], simple_script());
    let day = window.app().state.day().expect("a day").clone();
    let is_done = |window: &Window| window.app().state.progress.is_step_done(&day, Step::Challenge);
    window.key(Modifiers::COMMAND, Key::Num2);
    assert!(!is_done(&window), "it was only looked at");
    window.key(Modifiers::COMMAND, Key::Num1);
    let cells = ["works? (yes or no), 256", "works? (yes or no), 257"];
    for cell in cells {
        window.harness.get_by_label(cell).focus();
        window.settle();
        window.type_text("yes");
    }
    window.harness.get_by_label("Check the table").click_accesskit();
    window.settle();
    assert!(window.has("1 of 8 right") && !is_done(&window));
    let right = ["yes", "no", "4", "1024", "no", "4", "1,024", "YES"].map(str::to_owned).to_vec();
    let fill = Command::FillTable { day: day.id.clone(), table: "sizes".to_owned(), typed: right };
    window.harness.state_mut().command(fill);
    assert!(is_done(&window));
}

#[test]
fn a_pane_has_the_whole_window_with_one_key() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.harness.get_by_label("Code editor").focus();
    window.harness.state_mut().command(Command::FocusPane(Pane::Editor));
    window.settle();
    window.key(Modifiers::NONE, Key::F4);
    assert_eq!(window.app().state.panes_in_sight(), [Pane::Editor]);
    window.key(Modifiers::NONE, Key::F4);
    assert!(window.app().state.is_in_sight(Pane::Lesson));
    window.key(Modifiers::NONE, Key::F4);
    act(&mut window, Action::ShowProgress);
    assert!(window.app().state.is_in_sight(Pane::Progress), "another pane was asked for");
}

#[test]
fn gallery_and_glossary_lead_to_pictures_and_days() {
    let mut window = Window::open(true, SIZE, simple_script());
    act(&mut window, Action::ShowGallery);
    window.harness.get_by_label("Open Bank conflicts").click_accesskit();
    window.settle();
    assert_eq!(window.app().state.view.visualization.as_deref(), Some("bank-conflicts"));
    act(&mut window, Action::ShowGlossary);
    window.type_text("coalesc");
    assert!(window.app().state.is_in_sight(Pane::Glossary) && window.has("Week "));
}

#[test]
fn a_name_is_renamed_and_found() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    let at = GOOD.find("if (i").expect("a use") + 4;
    window.harness.state_mut().command(Command::GoToLine { line: 1, column: 1 });
    let place = lockstep::widgets::code_editor::EditorAction::Place { offset: at, extend: false };
    window.harness.state_mut().command(Command::Edit(place));
    window.settle();
    act(&mut window, Action::Rename);
    assert_eq!(window.app().state.dialog, Some(Dialog::Rename { old: "i".into(), new: "i".into() }));
    window.harness.state_mut().command(Command::SetNewName("index".into()));
    window.harness.state_mut().command(Command::ConfirmDialog);
    window.settle();
    assert!(window.text().contains("if (index < n) c[index] = a[index] + b[index];"), "{}", window.text());
    act(&mut window, Action::GoToDefinition);
    let desk = window.app().state.desk().expect("a desk");
    assert_eq!(desk.editor.selected_text(), "index");
    assert_eq!(desk.editor.cursor_position().0, 5, "its declaration");
}

#[test]
fn the_sandbox_guesses_and_runs_what_is_chosen() {
    use gpu_core::job::{Event as Said, Job, Outcome};
    use gpu_core::verdict::{CaseReport, RunReport};
    let script = |job: &Job| match job {
        Job::Run { options, .. } => {
            let size = options.sizes.first().and_then(|size| size.get("n").copied());
            let name = format!("n = {}", size.unwrap_or_default());
            let case = CaseReport { name, passed: true, ..CaseReport::default() };
            let report = RunReport { case, completed: true, summary: "Ran.".into(), ..RunReport::default() };
            Some(vec![Said::Ran(Box::new(report)), Said::Finished(Outcome::Done)])
        }
        job => Some(window_support::answer(job)),
    };
    let mut window = Window::open(true, SIZE, Box::new(script));
    let own = window.text().to_owned();
    act(&mut window, Action::Sandbox);
    window.until("the text", |app| app.state.desk().is_some_and(|desk| desk.loaded));
    window.settle();
    assert!(window.text().contains("scale") && window.app().state.is_in_sight(Pane::Editor));
    window.harness.state_mut().command(Command::SetSandboxSize { name: "n".into(), value: 77 });
    act(&mut window, Action::Check);
    window.until("the report", |app| app.state.sandbox.ran.value().is_some());
    window.settle();
    assert!(window.app().state.is_in_sight(Pane::Sandbox) && window.has("n = 77"));
    let day = window.app().state.day().expect("a day").id.clone();
    window.harness.state_mut().command(Command::OpenDay(day));
    window.settle();
    assert_eq!(window.text(), own, "the day's kernel is as it was");
}

/// A script of Lockstep's own course runs at once; one that somebody changed runs when the learner says so, and once is enough.
#[cfg(unix)]
#[test]
fn a_foreign_courses_script_asks_first() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut window = Window::open(true, SIZE, simple_script());
    let (python, ran) = (window.folder.path().join("python"), window.folder.path().join("ran"));
    std::fs::write(&python, format!("#!/bin/sh\necho once >> '{}'\n", ran.display())).expect("a scratch file");
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).expect("a scratch file");
    let state = &mut window.harness.state_mut().state;
    state.settings.python = Some(python);
    let id = state.day().expect("a day").id.clone();
    let course = std::sync::Arc::make_mut(&mut state.course);
    let mut units = course.weeks.iter_mut().flat_map(|week| &mut week.days);
    let unit = units.find(|unit| unit.id == id).expect("the day");
    unit.exercises[0].scripts[0].source.push_str("\n# theirs\n");
    let file = unit.exercises[0].scripts[0].file.clone();
    let times = || std::fs::read_to_string(&ran).map_or(0, |text| text.lines().count());
    window.harness.state_mut().command(Command::RunScript(file.clone()));
    window.settle();
    assert!(matches!(window.app().state.dialog, Some(Dialog::ConfirmScript { .. })) && times() == 0);
    window.key(Modifiers::NONE, Key::Escape);
    assert!(window.app().state.dialog.is_none() && times() == 0);
    for round in 1..=2 {
        window.harness.state_mut().command(Command::RunScript(file.clone()));
        window.settle();
        if round == 1 {
            window.click("Run it");
        }
        window.until("the script's end", |app| app.state.scripts.values().all(|script| !script.running));
        assert_eq!(times(), round);
    }
}

/// The rows of `lockstep profile`, where a GPU and Nsight Compute were there and where they were not.
#[test]
fn a_profile_sets_the_gpus_counters_beside_the_emulators() {
    use lockstep::profiled::{DIFFERENCES, Profiled, Row};
    let row = |name: &str, emulator, gpu| Row { name: name.into(), metric: format!("{name}.sum"), emulator, gpu };
    let counted = |gpu: Option<f64>, gpu_missing: Option<&str>| Profiled {
        case: "n = 65536".into(),
        rows: vec![row("global_load_requests", Some(4096), gpu), row("dram_bytes", None, gpu)],
        gpu_missing: gpu_missing.map(str::to_owned),
        ncu: "ncu --csv".into(),
    };
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    window.harness.state_mut().command(Command::ShowPane(Pane::Counters));
    window.settle();
    assert!(window.has(Action::Profile.info().text), "offered before anything was counted");
    let slot = desk_slot(&window);
    let show = |window: &mut Window, result| {
        window.harness.state_mut().inject(Update::Profiled { slot: slot.clone(), result });
        window.settle();
    };
    show(&mut window, Ok(Box::new(counted(Some(2048.0), None))));
    assert!(window.has("global load requests") && window.has("4,096") && window.has("2,048"));
    assert!(window.has(DIFFERENCES[0]) && window.has("dram_bytes.sum"));
    show(&mut window, Ok(Box::new(counted(Some(4096.0), None))));
    assert!(!window.has(DIFFERENCES[0]), "both counted the same");
    show(&mut window, Ok(Box::new(counted(None, Some("ncu is not installed")))));
    assert!(window.has("No hardware counters: ncu is not installed") && !window.has("This machine has no GPU"));
    show(&mut window, Err("the kernel does not compile".into()));
    assert!(window.has("Not profiled: the kernel does not compile"));
    // What was counted before stays.
    assert!(window.has("global load requests"));
}

/// A click below the first row of a long line is still in that line, where lines are broken.
#[test]
fn long_lines_are_broken_on_request() {
    let mut window = Window::open(true, SIZE, simple_script());
    act(&mut window, Action::LayoutCode);
    let long = format!("// {}\nint b;\n", "word ".repeat(60));
    window.paste_kernel(&long);
    let second_row = |window: &mut Window| {
        window.key(Modifiers::COMMAND, Key::Home);
        let place = window.harness.get_by_label("Code editor").rect();
        let pos = place.left_top() + egui::vec2(60.0, 30.0);
        window.harness.hover_at(pos);
        for pressed in [true, false] {
            let button = egui::PointerButton::Primary;
            window.harness.event(Event::PointerButton { pos, button, pressed, modifiers: Modifiers::NONE });
            window.harness.step();
        }
        window.settle();
        window.app().state.desk().expect("a desk").editor.cursor_position()
    };
    assert_eq!(second_row(&mut window).0, 2);
    act(&mut window, Action::WrapLines);
    let (line, column) = second_row(&mut window);
    assert!(line == 1 && column > 40, "line {line}, column {column}");
    assert_eq!(window.text(), long, "the text stays as it is");
}

#[test]
fn the_head_of_a_block_stays_in_sight_and_leads_back() {
    let mut window = Window::open(true, SIZE, simple_script());
    act(&mut window, Action::LayoutCode);
    let text = format!("__global__ void k(int n)\n{{\n    for (;;) {{\n{}    }}\n}}\n", "        n += 1;\n".repeat(90));
    window.paste_kernel(&text);
    window.key(Modifiers::COMMAND, Key::Home);
    assert!(!window.has("Go up to line"));
    window.harness.state_mut().command(Command::GoToLine { line: 80, column: 1 });
    window.settle();
    assert!(window.has("Go up to line 1: __global__ void k(int n)"));
    window.click("Go up to line 3: for (;;) {");
    assert_eq!(window.app().state.desk().expect("a desk").editor.cursor_position().0, 3);
}

#[test]
fn folded_hints_are_folded_after_a_restart() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel("int a;\n// TODO 1: think\n// of this\nint b;\n// TODO 2: more\n");
    window.harness.state_mut().command(Command::Edit(EditorAction::ToggleFold(1)));
    window.settle();
    window.harness.state_mut().save_window();
    let store = window.app().services.store.clone();
    assert!(store.flush(Duration::from_secs(20)));
    drop(store);
    let Window { harness, engine, folder } = window;
    drop((harness, engine));
    let window = Window::open_in(folder, true, SIZE, simple_script());
    assert_eq!(window.app().state.desk().expect("a desk").editor.folded_lines(), [1]);
}
