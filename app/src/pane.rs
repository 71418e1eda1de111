//! Regions of the window.

use crate::icons::{self, Icon};

/// Regions of the window. All but the toolbar are tiles that can be moved, closed and opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pane {
    Course,
    Search,
    Lesson,
    Progress,
    /// The ready check.
    Ready,
    /// All pictures.
    Gallery,
    Glossary,
    Editor,
    Visualization,
    Solution,
    /// The text beside another version of itself.
    Compare,
    Verdict,
    Problems,
    Console,
    Counters,
    /// PTX, SASS and registers.
    Compiled,
    /// Plots of times and counts.
    Timing,
    /// Sizes and results of a kernel of one's own.
    Sandbox,
    Log,
    Toolbar,
}

impl Pane {
    /// Every tile.
    pub const DOCKED: [Pane; 19] = [
        Pane::Course,
        Pane::Search,
        Pane::Lesson,
        Pane::Progress,
        Pane::Ready,
        Pane::Gallery,
        Pane::Glossary,
        Pane::Editor,
        Pane::Visualization,
        Pane::Solution,
        Pane::Compare,
        Pane::Verdict,
        Pane::Problems,
        Pane::Console,
        Pane::Counters,
        Pane::Compiled,
        Pane::Timing,
        Pane::Sandbox,
        Pane::Log,
    ];

    /// What the last run found; shown and hidden as one.
    pub const RESULTS: [Pane; 6] =
        [Pane::Verdict, Pane::Problems, Pane::Console, Pane::Counters, Pane::Compiled, Pane::Timing];

    /// Where a learner works; one of them takes the keyboard when a dialog closes.
    pub const WORK: [Pane; 3] = [Pane::Editor, Pane::Visualization, Pane::Solution];

    /// What stands beside its title.
    pub fn icon(self) -> Icon {
        match self {
            Pane::Course => icons::BOOKS,
            Pane::Search => icons::MAGNIFYING_GLASS,
            Pane::Lesson => icons::BOOK_OPEN_TEXT,
            Pane::Progress => icons::CHART_LINE_UP,
            Pane::Ready => icons::LIST_CHECKS,
            Pane::Gallery => icons::IMAGES,
            Pane::Glossary => icons::BOOK_BOOKMARK,
            Pane::Editor => icons::FILE_CODE,
            Pane::Visualization => icons::SHAPES,
            Pane::Solution => icons::LIGHTBULB,
            Pane::Compare => icons::GIT_DIFF,
            Pane::Verdict => icons::GAVEL,
            Pane::Problems => icons::WARNING,
            Pane::Console => icons::TERMINAL_WINDOW,
            Pane::Counters => icons::GAUGE,
            Pane::Compiled => icons::CPU,
            Pane::Timing => icons::CHART_LINE,
            Pane::Sandbox => icons::FLASK,
            Pane::Log => icons::SCROLL,
            Pane::Toolbar => icons::PLAY,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Pane::Course => "Course",
            Pane::Search => "Search",
            Pane::Lesson => "Lesson",
            Pane::Progress => "Progress",
            Pane::Ready => "Ready Check",
            Pane::Gallery => "Pictures",
            Pane::Glossary => "Glossary",
            Pane::Editor => "Editor",
            Pane::Visualization => "Visualization",
            Pane::Solution => "Solution",
            Pane::Compare => "Compare",
            Pane::Verdict => "Verdict",
            Pane::Problems => "Problems",
            Pane::Console => "Console",
            Pane::Counters => "Counters",
            Pane::Compiled => "PTX & SASS",
            Pane::Timing => "Plots",
            Pane::Sandbox => "Sandbox run",
            Pane::Log => "Log",
            Pane::Toolbar => "Toolbar",
        }
    }
}

/// What a scroll area is asked to bring into view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The hint that was shown last, in the lesson.
    Hint,
    /// What the run found: the top of the verdict.
    Verdict,
    /// The top of the plots.
    Plots,
}
