//! What snapshot tests share. `UPDATE_SNAPSHOTS=1 cargo test -p lockstep` writes the pictures anew; look at each one
//! that changed.

#![allow(dead_code, reason = "each test file uses its part")]

use egui_kittest::{Harness, SnapshotOptions, SnapshotResults};
use lockstep::theme;

/// Software rasterizers of different machines differ by a few pixels at the edges of letters.
fn options() -> SnapshotOptions {
    SnapshotOptions::default().threshold(1.5).max_failed_pixels(200)
}

/// A window of `size` points showing `ui`, in a panel as in the program.
pub fn harness<'a>(dark: bool, size: [f32; 2], mut ui: impl FnMut(&mut egui::Ui) + 'a) -> Harness<'a> {
    let theme = if dark { egui::Theme::Dark } else { egui::Theme::Light };
    Harness::builder().with_size(size).with_theme(theme).with_context_setup(theme::install).build_ui(move |root| {
        let fill = theme::for_dark(dark).panel;
        let frame = egui::Frame::new().fill(fill).inner_margin(theme::space::L);
        // The test's own margin around everything.
        let screen = root.ctx().content_rect();
        root.painter().with_clip_rect(screen).rect_filled(screen, 0.0, fill);
        egui::CentralPanel::default().frame(frame).show(root, |root| ui(root));
    })
}

/// Pictures of one test, compared together so that all that differ are written.
#[derive(Default)]
pub struct Shots {
    results: SnapshotResults,
}

impl Shots {
    /// Compares with `tests/snapshots/<name>-<theme>.png` in both themes. `make` is called once for each theme.
    pub fn both_themes<F: FnMut(&mut egui::Ui)>(&mut self, name: &str, size: [f32; 2], mut make: impl FnMut() -> F) {
        for dark in [false, true] {
            self.in_theme(dark, name, size, &mut make);
        }
    }

    /// As [`both_themes`](Self::both_themes), in one of them.
    pub fn in_theme<F: FnMut(&mut egui::Ui)>(
        &mut self,
        dark: bool,
        name: &str,
        size: [f32; 2],
        make: impl FnOnce() -> F,
    ) {
        let mut harness = harness(dark, size, make());
        harness.run();
        let theme = if dark { "dark" } else { "light" };
        self.results.add(harness.try_snapshot_options(format!("{name}-{theme}"), &options()));
    }

    /// Compares what a harness shows now.
    pub fn shot(&mut self, name: &str, harness: &mut Harness<'_>) {
        self.results.add(harness.try_snapshot_options(name, &options()));
    }
}

/// Compares one thing in both themes.
pub fn both_themes<F: FnMut(&mut egui::Ui)>(name: &str, size: [f32; 2], make: impl FnMut() -> F) {
    Shots::default().both_themes(name, size, make);
}
