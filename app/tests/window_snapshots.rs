//! Pictures of the whole window and of every panel, light and dark. `UPDATE_SNAPSHOTS=1` writes them anew; look at
//! each one that changed.

mod window_support;

use egui::{Key, Modifiers};
use egui_kittest::SnapshotResults;
use gpu_core::job::{Event, Job};
use lockstep::command::{Action, Command};
use lockstep::effect::Update;
use lockstep::state::{Compiler, Dialog, Pane};
use window_support::{GOOD, SIZE, Window, answer, simple_script, unguarded};

/// The smallest window that is allowed; what fits here fits everywhere.
const SMALL: [f32; 2] = [900.0, 600.0];

/// Prepares a window in both themes and compares the pictures.
fn both_themes(name: &str, size: [f32; 2], prepare: impl Fn(&mut Window)) {
    add_both_themes(&mut SnapshotResults::new(), name, size, prepare);
}

fn add_both_themes(results: &mut SnapshotResults, name: &str, size: [f32; 2], prepare: impl Fn(&mut Window)) {
    for (theme, dark) in [("light", false), ("dark", true)] {
        let mut window = Window::open(dark, size, simple_script());
        prepare(&mut window);
        // Toasts and what they cover are tested apart.
        let toasts: Vec<u64> = window.app().state.toasts.iter().map(|toast| toast.id).collect();
        for id in toasts {
            window.harness.state_mut().command(Command::DismissToast(id));
        }
        window.settle();
        window.shot(results, &format!("window_{name}-{theme}"));
    }
}

/// Without course and lesson, so that the picture is of the pane in question.
fn pane(name: &str, prepare: impl Fn(&mut Window)) {
    add_pane(&mut SnapshotResults::new(), name, prepare);
}

fn add_pane(results: &mut SnapshotResults, name: &str, prepare: impl Fn(&mut Window)) {
    add_both_themes(results, name, SMALL, |window| {
        window.harness.state_mut().command(Command::Do(Action::ToggleCourse));
        window.harness.state_mut().command(Command::Do(Action::ToggleLesson));
        prepare(window);
    });
}

#[test]
fn first_sight() {
    both_themes("challenge", SIZE, |_| {});
}

#[test]
fn smallest_window() {
    both_themes("small", SMALL, |_| {});
}

#[test]
fn explore() {
    both_themes("explore", SIZE, |window| window.key(Modifiers::COMMAND, Key::Num2));
}

#[test]
fn code_with_errors_and_hints() {
    both_themes("code", SIZE, |window| {
        window.key(Modifiers::COMMAND, Key::Num4);
        window.key(Modifiers::COMMAND | Modifiers::SHIFT, Key::H);
        window.paste_kernel(&GOOD.replace("a[i] + b[i]", "oops"));
        window.key(Modifiers::COMMAND, Key::F);
        window.type_text("int");
        window.key(Modifiers::NONE, Key::F3);
    });
}

#[test]
fn verify() {
    both_themes("verify", SIZE, |window| {
        window.paste_kernel(GOOD);
        window.key(Modifiers::COMMAND, Key::Enter);
        window.key(Modifiers::COMMAND, Key::Num5);
    });
}

#[test]
fn verdict_with_a_fault() {
    pane("fault", |window| {
        window.paste_kernel(&unguarded());
        window.key(Modifiers::COMMAND, Key::Enter);
    });
}

#[test]
fn verdict_with_mismatches() {
    pane("mismatch", |window| {
        window.paste_kernel("extern \"C\" __global__ void vector_add() {}\n");
        window.key(Modifiers::COMMAND, Key::Enter);
    });
}

#[test]
fn every_result_tab() {
    let mut results = SnapshotResults::new();
    for tab in [Pane::Problems, Pane::Console, Pane::Counters, Pane::Compiled, Pane::Timing] {
        let name = format!("tab_{}", format!("{tab:?}").to_lowercase());
        add_pane(&mut results, &name, |window| {
            window.paste_kernel(&unguarded());
            window.key(Modifiers::COMMAND, Key::Enter);
            if tab == Pane::Timing {
                window.paste_kernel(GOOD);
                window.key(Modifiers::COMMAND, Key::Enter);
            }
            window.harness.state_mut().command(Command::ShowPane(tab));
            window.settle();
        });
    }
}

#[test]
fn a_run_that_hangs() {
    let script = |job: &Job| match job {
        Job::Check { .. } => None,
        job => Some(answer(job)),
    };
    let mut results = SnapshotResults::new();
    for (theme, dark) in [("light", false), ("dark", true)] {
        let mut window = Window::open(dark, SMALL, Box::new(script));
        window.harness.state_mut().command(Command::Do(Action::ToggleCourse));
        window.paste_kernel(GOOD);
        window.key(Modifiers::COMMAND, Key::Enter);
        window.shot(&mut results, &format!("window_running-{theme}"));
    }
}

#[test]
fn console() {
    let mut results = SnapshotResults::new();
    for (theme, dark) in [("light", false), ("dark", true)] {
        let script = |job: &Job| {
            let mut events = answer(job);
            let lines: String = (0..200).map(|i| format!("block 0, thread {i}: a = {}\n", i * 3)).collect();
            events.insert(0, Event::Console(lines));
            Some(events)
        };
        let mut window = Window::open(dark, SMALL, Box::new(script));
        window.harness.state_mut().command(Command::Do(Action::ToggleCourse));
        window.harness.state_mut().command(Command::Do(Action::ToggleLesson));
        window.paste_kernel(&unguarded());
        window.key(Modifiers::COMMAND, Key::Enter);
        window.click("Console •");
        window.shot(&mut results, &format!("window_console-{theme}"));
    }
}

#[test]
fn a_planned_day() {
    both_themes("planned", SMALL, |window| {
        let next = window.app().state.course.days().find(|day| !day.is_written()).expect("a planned day").id.clone();
        window.harness.state_mut().command(Command::OpenDay(next));
        window.settle();
    });
}

#[test]
fn the_solution() {
    pane("solution", |window| {
        window.harness.state_mut().command(Command::Do(Action::ShowSolution));
        window.harness.state_mut().command(Command::ConfirmDialog);
        window.settle();
    });
}

#[test]
fn dialogs() {
    let mut results = SnapshotResults::new();
    for (name, action) in [
        ("palette", Action::Palette),
        ("shortcuts", Action::Shortcuts),
        ("settings", Action::Settings),
        ("about", Action::About),
        ("go_to_line", Action::GoToLine),
        ("confirm", Action::ResetToScaffold),
    ] {
        add_both_themes(&mut results, &format!("dialog_{name}"), SMALL, |window| {
            window.harness.state_mut().command(Command::Do(action));
            window.settle();
            if let Some(Dialog::Palette { .. }) = window.app().state.dialog {
                window.type_text("line");
            }
        });
    }
}

#[test]
fn banners_and_toasts() {
    let compilers = [
        ("missing", Compiler::Missing { message: "NVRTC was not found.".into(), download_bytes: 92_000_000 }),
        (
            "installing",
            Compiler::Installing {
                what: "nvidia-cuda-nvrtc 13.5.37".into(),
                done_bytes: 31_000_000,
                total_bytes: 92_000_000,
            },
        ),
        (
            "install_failed",
            Compiler::InstallFailed {
                message: "The package index could not be reached: check the network.".into(),
                download_bytes: 92_000_000,
            },
        ),
    ];
    let mut results = SnapshotResults::new();
    for (name, compiler) in compilers {
        for (theme, dark) in [("light", false), ("dark", true)] {
            let mut window = Window::open(dark, SMALL, simple_script());
            window.harness.state_mut().inject(Update::Compiler(compiler.clone()));
            window.harness.state_mut().inject(Update::Exported(Ok(Some("/home/learner/vector_add.cu".into()))));
            window
                .harness
                .state_mut()
                .inject(Update::Problem("The data folder cannot be written: the disk is full".into()));
            window.harness.run_steps(2);
            window.shot(&mut results, &format!("window_{name}-{theme}"));
        }
    }
}
