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

/// A laptop and a desk screen, in points. The large pictures have half as many pixels, to keep the repository small:
/// they are there for what stands where.
const SIZES: [(&str, [f32; 2], f32); 2] = [("", SIZE, 1.0), ("_wide", [1920.0, 1080.0], 0.5)];

/// Prepares a window at both sizes in both themes and compares the pictures.
fn everywhere(name: &str, prepare: impl Fn(&mut Window)) {
    add_everywhere(&mut SnapshotResults::new(), name, prepare);
}

fn add_everywhere(results: &mut SnapshotResults, name: &str, prepare: impl Fn(&mut Window)) {
    for (suffix, size, scale) in SIZES {
        add_both_themes(results, &format!("{name}{suffix}"), size, scale, &prepare);
    }
}

fn add_both_themes(
    results: &mut SnapshotResults,
    name: &str,
    size: [f32; 2],
    scale: f32,
    prepare: impl Fn(&mut Window),
) {
    for (theme, dark) in [("light", false), ("dark", true)] {
        let mut window = Window::open(dark, size, simple_script());
        window.harness.set_pixels_per_point(scale);
        prepare(&mut window);
        // Messages are tested apart.
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
    add_everywhere(results, name, |window| {
        window.harness.state_mut().command(Command::Do(Action::ToggleCourse));
        window.harness.state_mut().command(Command::Do(Action::ToggleLesson));
        prepare(window);
    });
}

fn act(window: &mut Window, action: Action) {
    window.harness.state_mut().command(Command::Do(action));
    window.settle();
}

#[test]
fn first_sight() {
    everywhere("challenge", |_| {});
}

#[test]
fn smallest_window() {
    let mut results = SnapshotResults::new();
    add_both_themes(&mut results, "small", SMALL, 1.0, |_| {});
    // A window of 1280 by 800 pixels at scale 2: one pane at a time.
    add_both_themes(&mut results, "narrow", [640.0, 400.0], 1.0, |_| {});
}

#[test]
fn layouts() {
    let mut results = SnapshotResults::new();
    for (name, action) in [("code", Action::LayoutCode), ("profile", Action::LayoutProfile)] {
        add_everywhere(&mut results, &format!("layout_{name}"), |window| {
            window.paste_kernel(&unguarded());
            window.key(Modifiers::COMMAND, Key::Enter);
            act(window, action);
        });
    }
}

#[test]
fn panes_that_are_opened_on_request() {
    let mut results = SnapshotResults::new();
    add_everywhere(&mut results, "progress", |window| {
        let day = window.app().state.day().expect("a day").clone();
        let question = day.quiz.questions[0].id.clone();
        window.harness.state_mut().command(Command::Answered { question, correct: false });
        window.paste_kernel(GOOD);
        window.key(Modifiers::COMMAND, Key::Enter);
        act(window, Action::ShowProgress);
    });
    add_everywhere(&mut results, "review", |window| {
        let day = window.app().state.day().expect("a day").clone();
        let question = day.quiz.questions[0].id.clone();
        window.harness.state_mut().command(Command::Answered { question, correct: false });
        for card in window.harness.state_mut().state.progress.review.values_mut() {
            card.due = curriculum::review::Date(0);
        }
        act(window, Action::Review);
    });
    add_everywhere(&mut results, "search", |window| {
        act(window, Action::SearchCourse);
        window.type_text("warp sectors");
        window.until("the index", |app| app.state.search.index.is_some());
        window.settle();
    });
    add_everywhere(&mut results, "ready", |window| {
        act(window, Action::ReadyCheck);
        window.until("the check", |app| app.state.ready.value().is_some());
        window.harness.state_mut().inject(Update::Ready(ready_items()));
        window.settle();
    });
    add_everywhere(&mut results, "log", |window| {
        act(window, Action::ClearLog);
        window.harness.state_mut().inject(Update::Problem("The data folder cannot be written: the disk is full".into()));
        for line in &mut window.harness.state_mut().state.log {
            line.at_unix_s = 1_790_000_000;
        }
        act(window, Action::ShowLog);
    });
    add_everywhere(&mut results, "tour", |window| {
        window.harness.state_mut().command(Command::ShowTour(3));
        window.settle();
    });
    add_everywhere(&mut results, "projector", |window| act(window, Action::Projector));
}

fn ready_items() -> Vec<lockstep::ready::Item> {
    use lockstep::ready::{Item, State};
    let item = |id, title, state, found: &str, fix: Option<&str>| Item {
        id,
        title,
        state,
        found: found.to_owned(),
        fix: fix.map(str::to_owned),
    };
    vec![
        item("cpu", "Processor", State::Fine, "linux x86_64, 8 cores", None),
        item(
            "nvrtc",
            "CUDA compiler",
            State::Failed,
            "NVRTC was not found",
            Some("run `lockstep setup` (65 MB from the Python package index; no toolkit, no administrator)"),
        ),
        item("gpu_driver", "NVIDIA driver", State::Limited, "no NVIDIA driver", Some("kernels run on the emulator")),
    ]
}

#[test]
fn explore() {
    everywhere("explore", |window| window.key(Modifiers::COMMAND, Key::Num2));
}

#[test]
fn code_with_errors_and_hints() {
    everywhere("code", |window| {
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
    everywhere("verify", |window| {
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
    everywhere("planned", |window| {
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
        ("reset_day", Action::ResetDay),
        ("import", Action::ImportState),
        ("profiles", Action::Profiles),
    ] {
        add_everywhere(&mut results, &format!("dialog_{name}"), |window| {
            act(window, action);
            if action == Action::Profiles {
                window.until("the profiles", |app| app.state.dialog.is_some());
                window.harness.state_mut().inject(Update::Profiles(vec!["Ada".into(), "Grace".into()]));
                window.settle();
            }
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
