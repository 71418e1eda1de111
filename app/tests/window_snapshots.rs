//! Pictures of the whole window and of every panel, once light and once dark. `UPDATE_SNAPSHOTS=1` writes them anew; look at
//! each one that changed.

mod window_support;

use egui::{Key, Modifiers};
use egui_kittest::SnapshotResults;
use gpu_core::job::{Event, Job};
use lockstep::command::{Action, Command};
use lockstep::effect::Update;
use lockstep::state::{Compiler, Pane};
use window_support::{GOOD, SIZE, Window, answer, simple_script, unguarded};

/// A small window; `window_odd.rs` has the smallest.
const SMALL: [f32; 2] = [900.0, 600.0];

/// A laptop in the light theme and a desk screen in the dark one, in points, and pixels for each point. The large pictures
/// have fewer, to keep the repository small: they are there for what stands where. What the window is made of has its
/// pictures in both themes by itself (`viz.rs`, `plots.rs`, `lesson_text.rs`, `quiz.rs`).
const VIEWS: [(&str, [f32; 2], f32, &str, bool); 2] =
    [("", SIZE, 1.0, "light", false), ("_wide", [1920.0, 1080.0], 0.4, "dark", true)];

/// Prepares a window in both views and compares the pictures.
fn everywhere(name: &str, prepare: impl Fn(&mut Window)) {
    add_everywhere(&mut SnapshotResults::new(), name, prepare);
}

fn add_everywhere(results: &mut SnapshotResults, name: &str, prepare: impl Fn(&mut Window)) {
    for (suffix, size, scale, theme, dark) in VIEWS {
        add(results, &format!("{name}{suffix}-{theme}"), dark, size, scale, &prepare);
    }
}

fn add(
    results: &mut SnapshotResults,
    name: &str,
    dark: bool,
    size: [f32; 2],
    scale: f32,
    prepare: impl Fn(&mut Window),
) {
    let mut window = Window::open_scaled(dark, size, scale, simple_script());
    prepare(&mut window);
    // Messages are tested apart.
    let toasts: Vec<u64> = window.app().state.toasts.iter().map(|toast| toast.id).collect();
    for id in toasts {
        window.harness.state_mut().command(Command::DismissToast(id));
    }
    window.settle();
    window.shot(results, &format!("window_{name}"));
}

/// A picture's name, and what leads to it from the picture before.
type Scene<'a> = (&'a str, &'a dyn Fn(&mut Window));

/// Several scenes in one window of each size and theme, one after the other: opening a window is what costs.
fn scenes(scenes: &[Scene<'_>]) {
    let mut results = SnapshotResults::new();
    for (suffix, size, scale, theme, dark) in VIEWS {
        let mut window = Window::open_scaled(dark, size, scale.min(0.75), simple_script());
        for (name, prepare) in scenes {
            prepare(&mut window);
            let toasts: Vec<u64> = window.app().state.toasts.iter().map(|toast| toast.id).collect();
            for id in toasts {
                window.harness.state_mut().command(Command::DismissToast(id));
            }
            window.settle();
            window.shot(&mut results, &format!("window_{name}{suffix}-{theme}"));
        }
    }
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
    add(&mut results, "small-light", false, SMALL, 1.0, |_| {});
    // A window of 1280 by 800 pixels at scale 2: one pane at a time.
    add(&mut results, "narrow-dark", true, [640.0, 400.0], 1.0, |_| {});
}

#[test]
fn layouts() {
    scenes(&[
        ("layout_code", &|window| {
            window.paste_kernel(&unguarded());
            window.key(Modifiers::COMMAND, Key::Enter);
            act(window, Action::LayoutCode);
        }),
        ("layout_profile", &|window| act(window, Action::LayoutProfile)),
        ("projector", &|window| {
            act(window, Action::LayoutCode);
            act(window, Action::Projector);
        }),
        ("projector_profile", &|window| act(window, Action::LayoutProfile)),
    ]);
}

#[test]
fn panes_that_are_opened_on_request() {
    let miss = |window: &mut Window| {
        let day = window.app().state.day().expect("a day").clone();
        let question = day.quiz.questions[0].id.clone();
        window.harness.state_mut().command(Command::Answered {
            question,
            correct: false,
            given: curriculum::store::Given::default(),
        });
    };
    scenes(&[
        ("progress", &|window| {
            miss(window);
            window.paste_kernel(GOOD);
            window.key(Modifiers::COMMAND, Key::Enter);
            act(window, Action::ShowProgress);
        }),
        ("review", &|window| {
            for card in window.harness.state_mut().state.progress.review.values_mut() {
                card.due = curriculum::review::Date(0);
            }
            act(window, Action::Review);
        }),
        ("search", &|window| {
            window.harness.state_mut().command(Command::EndReview);
            act(window, Action::SearchCourse);
            window.type_text("warp sectors");
            window.until("the index", |app| app.state.search.index.is_some());
        }),
        ("ready", &|window| {
            act(window, Action::ReadyCheck);
            window.until("the check", |app| app.state.ready.value().is_some());
            window.harness.state_mut().inject(Update::Ready(ready_items()));
        }),
        ("log", &|window| {
            act(window, Action::ClearLog);
            let problem = "The data folder cannot be written: the disk is full".to_owned();
            window.harness.state_mut().inject(Update::Problem(problem));
            for line in &mut window.harness.state_mut().state.log {
                line.at_unix_s = 1_790_000_000;
            }
            act(window, Action::ShowLog);
        }),
        ("tour", &|window| {
            window.harness.state_mut().command(Command::ShowTour(3));
            window.settle();
        }),
    ]);
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
        item("cpu", "Processor", State::Fine, "Linux, x86_64, 8 cores", None),
        item(
            "nvrtc",
            "CUDA compiler",
            State::Failed,
            "NVRTC was not found",
            Some("run `lockstep setup` (65 MB from the Python package index; no toolkit, no administrator)"),
        ),
        item(
            "gpu_driver",
            "NVIDIA driver",
            State::Limited,
            "No NVIDIA driver: kernels run on the emulator",
            Some("a GPU on another machine works too"),
        ),
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
fn every_result_tab() {
    let show = |window: &mut Window, pane: Pane| {
        window.harness.state_mut().command(Command::ShowPane(pane));
        window.settle();
    };
    scenes(&[
        ("fault", &|window| {
            act(window, Action::ToggleCourse);
            act(window, Action::ToggleLesson);
            window.paste_kernel(&unguarded());
            window.key(Modifiers::COMMAND, Key::Enter);
        }),
        ("tab_problems", &|window| show(window, Pane::Problems)),
        ("tab_console", &|window| show(window, Pane::Console)),
        ("tab_counters", &|window| show(window, Pane::Counters)),
        ("tab_compiled", &|window| show(window, Pane::Compiled)),
        ("tab_timing", &|window| {
            window.paste_kernel(GOOD);
            window.key(Modifiers::COMMAND, Key::Enter);
            show(window, Pane::Timing);
        }),
        ("mismatch", &|window| {
            window.paste_kernel("extern \"C\" __global__ void vector_add() {}\n");
            window.key(Modifiers::COMMAND, Key::Enter);
        }),
        ("compare", &|window| {
            act(window, Action::ShowCompare);
            window.until("the differences", |app| app.state.is_in_sight(Pane::Compare));
        }),
        ("solution", &|window| {
            act(window, Action::ShowSolution);
            window.harness.state_mut().command(Command::ConfirmDialog);
            window.settle();
        }),
    ]);
}

#[test]
fn pages_of_their_own() {
    scenes(&[
        ("gallery", &|window| act(window, Action::ShowGallery)),
        ("glossary", &|window| act(window, Action::ShowGlossary)),
        ("sandbox", &|window| {
            act(window, Action::Sandbox);
            window.until("the text", |app| app.state.desk().is_some_and(|desk| desk.loaded));
            act(window, Action::LayoutCode);
            window.harness.state_mut().command(Command::ShowPane(Pane::Sandbox));
            window.settle();
        }),
    ]);
}

#[test]
fn passed() {
    everywhere("passed", |window| {
        window.paste_kernel(GOOD);
        window.key(Modifiers::COMMAND, Key::Enter);
    });
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
    everywhere("planned", |window| window.open_a_planned_day());
}

#[test]
fn dialogs() {
    let open = |window: &mut Window, action: Action| {
        window.harness.state_mut().command(Command::CloseDialog);
        act(window, action);
    };
    scenes(&[
        ("dialog_palette", &|window| {
            // Little behind the dialogs: smaller pictures.
            act(window, Action::ToggleCourse);
            act(window, Action::ToggleLesson);
            window.paste_kernel("");
            open(window, Action::Palette);
            window.type_text("line");
        }),
        ("dialog_shortcuts", &|window| open(window, Action::Shortcuts)),
        ("dialog_settings", &|window| open(window, Action::Settings)),
        ("dialog_about", &|window| open(window, Action::About)),
        ("dialog_go_to_line", &|window| open(window, Action::GoToLine)),
        ("dialog_confirm", &|window| open(window, Action::ResetToScaffold)),
        ("dialog_solution", &|window| open(window, Action::ShowSolution)),
        ("dialog_reset_day", &|window| open(window, Action::ResetDay)),
        ("dialog_import", &|window| open(window, Action::ImportState)),
        ("dialog_script", &|window| {
            window.harness.state_mut().state.dialog =
                Some(lockstep::state::Dialog::ConfirmScript { file: "numpy_rung.py".into(), confined: true });
        }),
        ("dialog_programs", &|window| {
            window.harness.state_mut().command(Command::CloseDialog);
            let offered = |setting: &str, purpose, value: &str| curriculum::store::Offered {
                setting: setting.into(),
                purpose,
                value: value.into(),
            };
            let offered = vec![
                (offered("nvrtc", "the library that compiles every kernel", "/tmp/there/lib"), false),
                (offered("python", "the program that runs Python rungs", "/tmp/there/python"), true),
            ];
            window.harness.state_mut().state.dialog = Some(lockstep::state::Dialog::OfferPrograms(offered));
        }),
        ("dialog_profiles", &|window| {
            window.harness.state_mut().command(Command::CloseDialog);
            window.harness.state_mut().inject(Update::Profiles(vec!["Ada".into(), "Grace".into()]));
        }),
        ("dialog_rename", &|window| {
            window.harness.state_mut().command(Command::CloseDialog);
            let (old, new) = ("i".to_owned(), "index".to_owned());
            window.harness.state_mut().state.dialog = Some(lockstep::state::Dialog::Rename { old, new });
        }),
        ("dialog_unsaved", &|window| {
            let path = "/home/learner/.local/share/lockstep/progress.toml";
            let why = format!("Not saved yet (No space left on device); trying again: {path}");
            window.harness.state_mut().inject(Update::Unsaved(Some(why)));
            open(window, Action::Quit);
        }),
    ]);
}

#[test]
fn a_second_key_is_waited_for() {
    everywhere("second_key", |window| window.key(Modifiers::COMMAND, Key::K));
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
