//! Every pane, dialog and visualization has its pictures, at two sizes in both themes: this walks the lists, so that
//! what is new is not forgotten. The pictures themselves are compared by `window_snapshots.rs` and `viz.rs`.

use lockstep::state::{Dialog, Pane, SettingsDraft};
use lockstep::viz;
use std::path::Path;

const SOURCE: &str = include_str!("window_snapshots.rs");

/// The scene that shows a pane in front. No default: the compiler names a pane that is new.
fn scene_of_pane(pane: Pane) -> &'static str {
    match pane {
        Pane::Course | Pane::Lesson | Pane::Toolbar => "challenge",
        Pane::Search => "search",
        Pane::Progress => "progress",
        Pane::Ready => "ready",
        Pane::Gallery => "gallery",
        Pane::Glossary => "glossary",
        Pane::Sandbox => "sandbox",
        Pane::Editor => "code",
        Pane::Visualization => "explore",
        Pane::Solution => "solution",
        Pane::Compare => "compare",
        Pane::Verdict => "fault",
        Pane::Problems => "tab_problems",
        Pane::Console => "tab_console",
        Pane::Counters => "tab_counters",
        Pane::Compiled => "tab_compiled",
        Pane::Timing => "tab_timing",
        Pane::Log => "log",
    }
}

fn scene_of_dialog(dialog: &Dialog) -> &'static str {
    match dialog {
        Dialog::Palette { .. } => "dialog_palette",
        Dialog::GoToLine { .. } => "dialog_go_to_line",
        Dialog::Settings(_) => "dialog_settings",
        Dialog::Shortcuts => "dialog_shortcuts",
        Dialog::About => "dialog_about",
        Dialog::ConfirmSolution => "dialog_solution",
        Dialog::ConfirmReset => "dialog_confirm",
        Dialog::ConfirmResetDay => "dialog_reset_day",
        Dialog::ConfirmImport => "dialog_import",
        Dialog::ConfirmScript { .. } => "dialog_script",
        Dialog::OfferPrograms(_) => "dialog_programs",
        Dialog::ConfirmQuit => "dialog_unsaved",
        Dialog::Rename { .. } => "dialog_rename",
        Dialog::Profiles { .. } => "dialog_profiles",
    }
}

/// One of each.
fn dialogs() -> Vec<Dialog> {
    let draft = SettingsDraft {
        settings: curriculum::store::Settings::default(),
        nvrtc: String::new(),
        content: String::new(),
        python: String::new(),
        remote_name: String::new(),
        remote_command: String::new(),
        problem: None,
    };
    vec![
        Dialog::Palette { query: String::new() },
        Dialog::GoToLine { text: String::new() },
        Dialog::Settings(Box::new(draft)),
        Dialog::Shortcuts,
        Dialog::About,
        Dialog::ConfirmSolution,
        Dialog::ConfirmReset,
        Dialog::ConfirmResetDay,
        Dialog::ConfirmImport,
        Dialog::ConfirmScript { file: String::new(), confined: true },
        Dialog::OfferPrograms(Vec::new()),
        Dialog::ConfirmQuit,
        Dialog::Rename { old: String::new(), new: String::new() },
        Dialog::Profiles { names: Vec::new(), new: String::new() },
    ]
}

fn has_picture(name: &str) -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.png")).is_file()
}

#[test]
fn every_pane_and_dialog_is_in_the_pictures_at_two_sizes() {
    let panes = Pane::DOCKED.into_iter().chain([Pane::Toolbar]).map(scene_of_pane);
    let dialogs = dialogs();
    for scene in panes.chain(dialogs.iter().map(scene_of_dialog)) {
        assert!(SOURCE.contains(&format!("\"{scene}\"")), "{scene} is no scene of window_snapshots.rs");
        for name in [format!("{scene}-light"), format!("{scene}_wide-dark")] {
            assert!(has_picture(&format!("window_{name}")), "there is no picture window_{name}");
        }
    }
}

#[test]
fn every_visualization_is_in_the_pictures_in_both_themes() {
    for viz in viz::all() {
        let id = viz.id();
        for name in ["-light", "_last-dark", "_narrow-light", "_empty-dark"].map(|kind| format!("{id}{kind}")) {
            assert!(has_picture(&format!("viz_{name}")), "there is no picture viz_{name}");
        }
    }
}
