//! Where the panes are: named arrangements of docked tiles, remembered for each screen. Plain data without egui, so
//! that [`crate::apply`] can change it and a file can keep it; `panels/dock.rs` draws it.

mod node;
mod standard;

pub use node::Node;

use crate::pane::Pane;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The named layouts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Course, lesson and picture.
    #[default]
    Read,
    /// Lesson, editor and results.
    Code,
    /// Editor beside PTX and SASS, plots and counters.
    Profile,
}

impl Layout {
    pub const ALL: [Layout; 3] = [Layout::Read, Layout::Code, Layout::Profile];

    pub fn title(self) -> &'static str {
        match self {
            Layout::Read => "Read",
            Layout::Code => "Code",
            Layout::Profile => "Profile",
        }
    }
}

/// Which arrangement: a layout, that of a window too low to halve its height, or the one pane at a time that a narrow
/// window has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    Wide(Layout),
    LowProfile,
    Narrow,
}

/// Tiles, and the panes among them that are closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Arrangement {
    root: Node,
    #[serde(default)]
    hidden: BTreeSet<Pane>,
}

/// Kept between starts: which layout was open, and what was changed of any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    #[serde(default)]
    layout: Layout,
    /// By screen (`1920x1080`), then by place (`read`).
    #[serde(default)]
    screens: BTreeMap<String, BTreeMap<String, Arrangement>>,
}

/// The panes' places.
#[derive(Clone, Debug, PartialEq)]
pub struct Dock {
    layout: Layout,
    /// Size of the screen in pixels, as text.
    screen: String,
    narrow: bool,
    low: bool,
    now: Arrangement,
    kept: BTreeMap<String, BTreeMap<String, Arrangement>>,
}

impl Default for Dock {
    fn default() -> Self {
        Self::new(Saved::default())
    }
}

impl Dock {
    /// What was kept, as far as it makes sense; the standard arrangement in place of the rest.
    pub fn new(saved: Saved) -> Self {
        let mut dock = Self {
            layout: saved.layout,
            screen: String::new(),
            narrow: false,
            low: false,
            now: standard::arrangement(Place::Wide(saved.layout)),
            kept: saved.screens,
        };
        dock.fetch();
        dock
    }

    /// What is to be kept: only arrangements that differ from the standard ones.
    pub fn saved(&self) -> Saved {
        let mut all = self.clone();
        all.put_away();
        all.kept.retain(|_, places| !places.is_empty());
        Saved { layout: self.layout, screens: all.kept }
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub fn is_narrow(&self) -> bool {
        self.narrow
    }

    pub fn root(&self) -> &Node {
        &self.now.root
    }

    /// Takes over what dragging, resizing and tab clicks made of the tiles.
    pub fn arrange(&mut self, root: Node) {
        if let Some(root) = root.sound() {
            self.now.root = root;
        }
    }

    pub fn set_layout(&mut self, layout: Layout) {
        self.change(|dock| dock.layout = layout);
    }

    /// The window moved to a screen of another size.
    pub fn set_screen(&mut self, screen: &str) {
        self.change(|dock| screen.clone_into(&mut dock.screen));
    }

    pub fn set_narrow(&mut self, narrow: bool) {
        self.change(|dock| dock.narrow = narrow);
    }

    pub fn is_low(&self) -> bool {
        self.low
    }

    /// Large type in a small window: there is no room for panes above one another that need many rows.
    pub fn set_low(&mut self, low: bool) {
        self.change(|dock| dock.low = low);
    }

    pub fn screen(&self) -> &str {
        &self.screen
    }

    /// Back to the standard arrangement of the open layout.
    pub fn reset(&mut self) {
        self.now = standard::arrangement(self.place());
    }

    fn place(&self) -> Place {
        match self.layout {
            _ if self.narrow => Place::Narrow,
            Layout::Profile if self.low => Place::LowProfile,
            layout => Place::Wide(layout),
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Self)) {
        self.put_away();
        change(self);
        self.fetch();
    }

    fn put_away(&mut self) {
        let place = self.place();
        let places = self.kept.entry(self.screen.clone()).or_default();
        if self.now == standard::arrangement(place) {
            places.remove(key(place));
        } else {
            places.insert(key(place).to_owned(), self.now.clone());
        }
    }

    fn fetch(&mut self) {
        let place = self.place();
        let kept = self.kept.get(&self.screen).and_then(|places| places.get(key(place)));
        let sound = kept.and_then(|kept| Some(Arrangement { root: kept.root.clone().sound()?, ..kept.clone() }));
        self.now = sound.unwrap_or_else(|| standard::arrangement(place));
    }

    /// False when it was closed.
    pub fn is_open(&self, pane: Pane) -> bool {
        !self.now.hidden.contains(&pane)
    }

    /// Opens a pane and brings its tab to the front.
    pub fn show(&mut self, pane: Pane) {
        // The results were closed as one, so they come back as one.
        if Pane::RESULTS.contains(&pane) && Pane::RESULTS.iter().all(|pane| !self.is_open(*pane)) {
            self.set_open(&Pane::RESULTS, true);
        }
        self.now.hidden.remove(&pane);
        self.now.root.activate(pane);
    }

    pub fn set_open(&mut self, panes: &[Pane], open: bool) {
        for pane in panes {
            if open {
                self.now.hidden.remove(pane);
            } else {
                self.now.hidden.insert(*pane);
            }
        }
    }

    /// The panes that are in sight, in reading order: open, with something to show, and in front of their tabs.
    pub fn in_sight(&self, has_content: impl Fn(Pane) -> bool) -> Vec<Pane> {
        let mut found = Vec::new();
        self.now.root.in_sight(&|pane| self.is_open(pane) && has_content(pane), &mut found);
        found
    }

    /// Makes a pane wider or narrower (`row`), or taller or lower, by a factor.
    pub fn grow(&mut self, pane: Pane, row: bool, factor: f32) {
        self.now.root.grow(pane, row, factor);
    }

    /// Moves a pane to the next group of tabs; the way to rearrange without a mouse.
    pub fn move_on(&mut self, pane: Pane) {
        let mut root = self.now.root.clone();
        root.move_on(pane, &|pane| self.is_open(pane));
        self.arrange(root);
        self.now.root.activate(pane);
    }
}

fn key(place: Place) -> &'static str {
    match place {
        Place::Wide(Layout::Read) => "read",
        Place::Wide(Layout::Code) => "code",
        Place::Wide(Layout::Profile) => "profile",
        Place::LowProfile => "profile_low",
        Place::Narrow => "narrow",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_sight(dock: &Dock) -> Vec<Pane> {
        dock.in_sight(|pane| pane != Pane::Solution)
    }

    #[test]
    fn every_standard_arrangement_holds_every_pane_once() {
        for place in [Place::Narrow, Place::LowProfile].into_iter().chain(Layout::ALL.map(Place::Wide)) {
            let arrangement = standard::arrangement(place);
            assert_eq!(arrangement.root.clone().sound(), Some(arrangement.root.clone()), "{place:?}");
            assert_eq!(arrangement.root.panes().len(), Pane::DOCKED.len(), "{place:?}");
        }
    }

    #[test]
    fn layouts_and_screens_remember_their_own_changes() {
        let mut dock = Dock::default();
        dock.set_screen("1920x1080");
        dock.set_open(&[Pane::Course], false);
        dock.set_layout(Layout::Profile);
        assert!(in_sight(&dock).contains(&Pane::Compiled) && !in_sight(&dock).contains(&Pane::Lesson));
        dock.grow(Pane::Editor, true, 1.5);
        let wide = dock.root().clone();
        dock.set_screen("1280x800");
        assert_ne!(*dock.root(), wide, "another screen has sizes of its own");
        let text = serde_json::to_string(&dock.saved()).expect("plain data");
        let mut dock = Dock::new(serde_json::from_str(&text).expect("what was written"));
        assert_eq!(dock.layout(), Layout::Profile);
        dock.set_screen("1920x1080");
        assert_eq!(*dock.root(), wide);
        dock.set_layout(Layout::Read);
        assert!(!dock.is_open(Pane::Course) && dock.is_open(Pane::Lesson));
        dock.reset();
        assert!(dock.is_open(Pane::Course));
    }

    #[test]
    fn a_low_window_puts_nothing_above_what_needs_many_rows() {
        let mut dock = Dock::default();
        dock.set_layout(Layout::Profile);
        let all = in_sight(&dock);
        dock.set_low(true);
        assert_eq!(in_sight(&dock), [Pane::Editor, Pane::Compiled]);
        dock.show(Pane::Timing);
        assert_eq!(in_sight(&dock), [Pane::Editor, Pane::Timing]);
        dock.set_low(false);
        assert_eq!(in_sight(&dock), all, "the high one is as it was");
        dock.set_layout(Layout::Code);
        let code = in_sight(&dock);
        dock.set_low(true);
        assert_eq!(in_sight(&dock), code, "where one writes and checks, both stay in sight");
    }

    #[test]
    fn a_file_that_makes_no_sense_gives_the_standard_layout() {
        for root in [
            r#"{"tabs":{"children":[],"active":0}}"#,
            r#"{"tabs":{"children":[{"pane":"editor"},{"pane":"editor"}],"active":9}}"#,
            r#"{"row":[[-1.0,{"pane":"editor"}]]}"#,
        ] {
            let text = format!(r#"{{"layout":"code","screens":{{"":{{"code":{{"root":{root}}}}}}}}}"#);
            let dock = Dock::new(serde_json::from_str(&text).expect("well-formed"));
            assert_eq!(dock.root().panes().len(), Pane::DOCKED.len(), "{root}");
        }
        // One pane alone is sound; the others join it.
        let text = r#"{"screens":{"":{"read":{"root":{"tabs":{"children":[{"pane":"editor"}],"active":0}}}}}}"#;
        let dock = Dock::new(serde_json::from_str(text).expect("well-formed"));
        assert_eq!(dock.root().panes().len(), Pane::DOCKED.len());
        assert_eq!(dock.root().panes()[0], Pane::Editor);
    }

    #[test]
    fn results_close_and_open_as_one_and_a_pane_can_move_without_a_mouse() {
        let mut dock = Dock::default();
        dock.set_layout(Layout::Code);
        dock.set_open(&Pane::RESULTS, false);
        assert!(!in_sight(&dock).contains(&Pane::Verdict));
        dock.show(Pane::Timing);
        assert!(in_sight(&dock).contains(&Pane::Timing) && dock.is_open(Pane::Verdict));
        assert!(!in_sight(&dock).contains(&Pane::Verdict), "it is behind another tab");
        let before = in_sight(&dock);
        for _ in 0..6 {
            dock.move_on(Pane::Timing);
            assert!(in_sight(&dock).contains(&Pane::Timing));
            assert_eq!(dock.root().panes().len(), Pane::DOCKED.len());
        }
        assert!(before.contains(&Pane::Editor));
    }
}
