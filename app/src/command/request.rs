//! What a panel asks for: an action of the table, or something that needs a value with it.

use super::Action;
use crate::dock::Node;
use crate::state::Pane;
use crate::widgets::code_editor::EditorAction;
use curriculum::Step;
use curriculum::store::Given;

/// Every change of the state that the screen can ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Do(Action),
    /// A day by its stable id.
    OpenDay(String),
    /// A link as written in a lesson.
    OpenLink(String),
    ShowStep(Step),
    /// Opens a pane and brings it to the front.
    ShowPane(Pane),
    ClosePane(Pane),
    /// What dragging, resizing and tab clicks made of the tiles.
    Arrange(Box<Node>),
    /// The window is on a screen of this size, or has become narrow or low.
    SetScreen {
        screen: String,
        narrow: bool,
        low: bool,
    },
    /// A visualization by id, in the work area.
    ShowVisualization(String),
    /// An exercise of the open day by key.
    OpenExercise(String),
    /// An experiment of the open day by name.
    OpenExperiment(String),
    /// Sets a knob of the open experiment.
    TurnKnob {
        name: String,
        value: i64,
    },
    /// An edit of the open text.
    Edit(EditorAction),
    /// Jump to a line of the open text and take the keyboard there. Column 0: the line's first character.
    GoToLine {
        line: u32,
        column: u32,
    },
    FocusPane(Pane),
    /// The mouse was pressed in a pane: it is the current one, and what was pressed has the keyboard.
    PressPane(Pane),
    CloseFind,
    /// A size of the sandbox's kernel by name.
    SetSandboxSize {
        name: String,
        value: i64,
    },
    /// Which kernel of the sandbox's text is run.
    SetSandboxKernel(String),
    SetNewName(String),
    SetAgainst(crate::versions::Against),
    /// Reads the text to compare with.
    ReadVersion(crate::versions::Against),
    SetListing(crate::versions::ListingView),
    /// Compiles what the listing lacks.
    FetchListing,
    InstallDisassembler,
    SetFind {
        query: String,
        replacement: String,
        match_case: bool,
        whole_word: bool,
        regex: bool,
    },
    /// A device by its key.
    PickDevice(crate::state::DeviceKey),
    /// Replaces the text with this one, as one step that can be undone.
    OpenInEditor(String),
    CloseDialog,
    SetPaletteQuery(String),
    SetGoToLine(String),
    SetSettingsDraft(Box<crate::state::SettingsDraft>),
    SaveSettings,
    ConfirmDialog,
    InstallCompiler,
    StopInstall,
    LookForCompiler,
    HideCompilerBanner,
    /// Runs a Python script of the open day, by file name.
    RunScript(String),
    /// Measures this machine with a program of `crate::measure`, by name.
    RunProgram(String),
    /// Let the small model write, with the cache in a format and the learner's own kernel or the course's.
    Decode {
        cache: &'static str,
        own: bool,
    },
    StopScript,
    Answered {
        question: String,
        correct: bool,
        given: Given,
    },
    /// An answer to a question of the ready check.
    ReadyAnswered {
        question: String,
        correct: bool,
        given: Given,
    },
    /// A further answer; the first one counts.
    TriedAgain {
        /// The question's day by id; None is the ready check.
        day: Option<String>,
        question: String,
        given: Given,
    },
    Predict {
        /// The question's day by id.
        day: String,
        question: String,
        run: Box<curriculum::quiz::PredictRun>,
    },
    /// Runs a kernel whose source is shut, of an answer exercise of the open unit.
    CountMystery {
        exercise: String,
        mystery: String,
    },
    /// All questions of an answer exercise of the open unit were answered right.
    MysteriesSolved(String),
    /// What was typed into a table of a unit's lesson, to be checked and kept.
    FillTable {
        /// The unit's id.
        day: String,
        table: String,
        typed: Vec<String>,
    },
    Reflect {
        id: String,
        text: String,
    },
    MarkStepDone(Step),
    DismissToast(u64),
    /// Words to look for in the whole course.
    SetSearch(String),
    OpenHit(curriculum::search::Hit),
    /// An answer given in a review.
    Reviewed {
        day: String,
        question: String,
        correct: bool,
        given: Given,
    },
    EndReview,
    /// Runs the ready check.
    LookAround,
    /// A step of the tour by number, from 0; past the last one it ends.
    ShowTour(usize),
    EndTour,
    SetProfileName(String),
    /// Whether a program of an imported state is wanted, by its place in the list.
    WantProgram(usize, bool),
    /// Opens the texts and progress of a profile; None is the one that every machine has.
    SwitchProfile(Option<String>),
    CopyText(String),
    /// Writes a text, such as a picture of a plot, into a file that the learner picks.
    SavePage {
        name: String,
        text: String,
    },
    /// Writes what is on the screen there as a PNG file that the learner picks.
    SavePicture {
        name: String,
        /// In points.
        area: egui::Rect,
    },
    /// A short message for the learner.
    Say(String),
    /// Puts the text of a run (counted from 1) into the editor.
    OpenRun(u32),
}
