//! The window under odd conditions: hardly any room, a disk that takes nothing, files that others take away.

mod window_support;

use curriculum::store::TextSlot;
use egui_kittest::kittest::Queryable;
use lockstep::command::{Action, Command};
use lockstep::effect::Update;
use lockstep::state::{Dialog, ToastKind};
use window_support::{GOOD, SIZE, Window, simple_script};

/// A screen of 1280x800 at twice the size.
const SMALL: [f32; 2] = [640.0, 400.0];

fn act(window: &mut Window, action: Action) {
    window.harness.state_mut().command(Command::Do(action));
    window.settle();
}

#[test]
fn dialogs_fit_a_small_window() {
    for size in [SMALL, SIZE] {
        let mut window = Window::open(true, size, simple_script());
        let dialogs: [(Action, &[&str]); 5] = [
            (Action::Palette, &["Command palette"]),
            (Action::Settings, &["Settings", "Your editor", "Save"]),
            (Action::Shortcuts, &["Keyboard Shortcuts", "Ctrl+S", "Close"]),
            (Action::Profiles, &["New profile", "Open"]),
            (Action::ResetDay, &["Start this day over?", "Cancel", "Reset the day"]),
        ];
        for (action, parts) in dialogs {
            act(&mut window, action);
            window.until("the dialog", |app| app.state.dialog.is_some());
            window.settle();
            for part in parts {
                let rect = window.harness.get_all_by_label(part).last().expect(part).rect();
                assert!(rect.left() >= 0.0 && rect.right() <= size[0], "{part} of {action:?} at {size:?}: {rect:?}");
            }
            window.harness.state_mut().command(Command::CloseDialog);
            window.settle();
        }
    }
}

/// The keyboard is on Close, below what scrolls: that is no reason to scroll.
#[test]
fn the_cheat_sheet_opens_at_its_top() {
    let mut window = Window::open(true, SIZE, simple_script());
    act(&mut window, Action::Shortcuts);
    let title = window.harness.get_all_by_label("Keyboard Shortcuts").next().expect("a title").rect();
    let first = window.harness.get_all_by_label("File").last().expect("the first group").rect();
    assert!(first.top() >= title.bottom(), "{first:?} below {title:?}");
}

#[test]
fn messages_and_facts_share_the_strip() {
    for width in [600.0, 640.0, 900.0, SIZE[0]] {
        let mut window = Window::open(true, [width, 400.0], simple_script());
        for with_message in [false, true] {
            if with_message {
                let long =
                    "A long message of the kind that has a path in it, and more words than any strip has room for";
                window.harness.state_mut().inject(Update::Problem(long.into()));
            }
            window.settle();
            let place = window.harness.get_by_label("Line 1, column 1").rect();
            assert!(place.right() <= width, "{place:?} at {width}");
            let facts = ["sm_90a", "NVRTC 13.5", "F6 next pane"];
            let facts = facts.iter().filter_map(|fact| window.harness.query_by_label(fact)).map(|fact| fact.rect());
            let first = facts.map(|fact| fact.left()).fold(place.left(), f32::min);
            let left = if with_message { "Dismiss message" } else { "✔ Compiles" };
            let left = window.harness.get_by_label(left).rect();
            assert!(left.right() <= first, "{left:?} is over what begins at {first}, at {width}");
        }
    }
}

/// Until it is on disk the strip says so, and closing asks.
#[test]
fn what_is_not_on_disk_is_said_until_it_is() {
    let mut window = Window::open(true, SIZE, simple_script());
    let days = window.folder.path().join("days");
    assert!(!days.exists());
    std::fs::write(&days, "in the way").expect("a file where the folder should be");
    window.paste_kernel(GOOD);
    window.until("the failure", |app| app.state.unsaved.is_some());
    window.harness.state_mut().state.toasts.clear();
    window.settle();
    assert!(window.has("Not saved yet"), "when the message is gone");
    act(&mut window, Action::Quit);
    assert_eq!(window.app().state.dialog, Some(Dialog::ConfirmQuit));
    window.key(egui::Modifiers::NONE, egui::Key::Enter);
    assert!(window.app().state.dialog.is_none() && !window.app().state.leaves_unsaved, "Enter keeps it open");
    std::fs::remove_file(&days).expect("out of the way");
    window.until("the disk", |app| app.state.unsaved.is_none());
    window.settle();
    assert!(window.has("Everything is saved again") && !window.has("Not saved yet"));
    act(&mut window, Action::Quit);
    assert_eq!(window.app().state.dialog, None, "nothing to ask");
    let kept = days.join("first-kernel/main/kernel.cu");
    assert_eq!(std::fs::read_to_string(kept).expect("the text"), GOOD);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_deleted_elsewhere_is_not_waited_for() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    window.harness.state_mut().state.settings.editor = Some("true".into());
    act(&mut window, Action::OpenElsewhere);
    let slot = TextSlot::new("first-kernel", "main").expect("a name");
    let elsewhere = |app: &lockstep::app::App| app.state.desks[&slot].elsewhere.clone();
    window.until("the file", |app| elsewhere(app).is_some());
    std::fs::remove_file(elsewhere(window.app()).expect("a file")).expect("deleted");
    window.until("its loss", |app| elsewhere(app).is_none());
    let toast = window.app().state.toasts.last().expect("a message");
    assert!(toast.kind == ToastKind::Bad && toast.text.contains("is gone"), "{}", toast.text);
    assert_eq!(window.text(), GOOD);
}

/// A warning without a line counts like the others, and the key that leads to problems leads to the list.
#[test]
fn a_problem_without_a_line_is_counted_and_shown() {
    let script = Box::new(|job: &gpu_core::job::Job| {
        let mut events = window_support::answer(job);
        for event in &mut events {
            if let gpu_core::job::Event::Compiled(report) = event {
                report.diagnostics.push(gpu_core::compile::Diagnostic {
                    severity: gpu_core::compile::Severity::Warning,
                    file: String::new(),
                    line: 0,
                    column: 0,
                    message: "no kernel is defined here".into(),
                });
            }
        }
        Some(events)
    });
    let mut window = Window::open(true, SIZE, script);
    window.paste_kernel(GOOD);
    window.until("the warning", |app| app.state.desk().is_some_and(|desk| desk.problem_count() == 1));
    window.settle();
    assert!(window.has("1 problem"));
    act(&mut window, Action::NextProblem);
    assert!(window.has("no kernel is defined here"));
}
