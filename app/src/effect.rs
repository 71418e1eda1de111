//! What a change of the state asks of the world, and what the world answers. Both are plain data: nothing in
//! [`crate::apply`] touches a file, a process or a clock.

use crate::kept::Kept;
use crate::lab::{JobKey, LabKey};
use crate::scripts::{Decoding, Line, ScriptKey, ScriptRun};
use crate::state::Purpose;
use crate::widgets::code_editor::Change;
use curriculum::Course;
use curriculum::store::{Offered, Progress, RunRecord, Settings, Store, TextSlot};
use gpu_core::bench::Ceilings;
use gpu_core::job::Job;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Something to be done outside the state. None of them blocks the window.
#[derive(Debug)]
pub enum Effect {
    Connect {
        lab: LabKey,
        remote: Option<String>,
    },
    Submit {
        lab: LabKey,
        job: Box<Job>,
        purpose: Purpose,
        slot: Option<TextSlot>,
    },
    Stop(JobKey),
    /// Ask for the devices of a lab.
    ListDevices(LabKey),
    /// Read a working text and its runs.
    Load {
        slot: TextSlot,
        scaffold: String,
    },
    /// Note the working text.
    Journal {
        slot: TextSlot,
        text: String,
    },
    SaveProgress,
    SaveSettings,
    /// Note what lessons measured.
    SaveMeasured,
    /// Note where the panes are.
    SaveWindow,
    AddRun {
        slot: TextSlot,
        run: Box<RunRecord>,
        source: String,
    },
    /// Note what the last run of a text found.
    KeepRun {
        slot: TextSlot,
        kept: Box<Kept>,
    },
    /// Read the text of an earlier run.
    LoadRun {
        slot: TextSlot,
        run: Box<RunRecord>,
        number: u32,
    },
    /// Read the text of an earlier run, to compare with.
    ReadRun {
        slot: TextSlot,
        run: Box<RunRecord>,
    },
    InstallDisassembler,
    /// Write the text to a file, open it in the learner's editor and watch it.
    OpenElsewhere {
        slot: TextSlot,
        text: String,
        editor: Option<String>,
    },
    CloseElsewhere(TextSlot),
    /// Lay a text out with clang-format.
    Format {
        slot: TextSlot,
        version: u64,
        text: String,
        tab_width: u32,
    },
    PickImport,
    PickExport {
        name: String,
        text: String,
    },
    /// Run a Python script with the learner's Python.
    RunScript {
        key: ScriptKey,
        source: String,
        python: Option<PathBuf>,
    },
    /// Measure this machine with one of Lockstep's own programs, in a process of its own.
    RunProgram(ScriptKey),
    /// Let the small model write, in a process of its own.
    Decode {
        key: ScriptKey,
        request: Box<Decoding>,
    },
    /// Count with Nsight Compute, in a process of its own.
    Profile {
        slot: TextSlot,
        request: Box<crate::profiled::Request>,
    },
    StopScript,
    /// Read what these devices of this machine were measured to do at most: name and driver of each.
    LoadCeilings(Vec<(String, Option<String>)>),
    /// Run the ready check.
    LookAround,
    /// Prepare the full-text search.
    BuildIndex(Arc<Course>),
    /// Write everything into a file that the learner picks.
    ExportState,
    /// Take over a file that the learner picks.
    ImportState,
    /// Write a part of the window, in points, as a picture under a name that the learner picks.
    SavePicture {
        name: String,
        area: egui::Rect,
    },
    /// Write a page of text under a name that the learner picks.
    SavePage {
        name: String,
        text: String,
    },
    /// Find the profiles of this machine.
    ListProfiles,
    /// Open another profile's files.
    OpenProfile(Option<String>),
    LookForCompiler,
    InstallCompiler,
    StopInstall,
    LoadCourse(Option<PathBuf>),
    Copy(String),
    OpenUrl(String),
    /// Restart the local lab, for a changed compiler.
    RestartLab,
    /// Theme and zoom from the settings.
    ApplyLook,
    Quit,
}

/// What is read anew when the learner's files were replaced.
pub struct Learner {
    pub progress: Progress,
    pub settings: Settings,
    pub measured: BTreeMap<ScriptKey, ScriptRun>,
}

impl Learner {
    pub fn read(store: &Store) -> Self {
        Self { progress: store.progress(), settings: store.settings(), measured: crate::scripts::load(store) }
    }
}

/// A profile's files, ready to be written to.
pub struct OpenedProfile {
    pub store: Arc<Store>,
    pub learner: Learner,
}

/// What an import brings: progress and settings as they are now, and the settings that it did not take over.
pub type Takeover = (Box<Learner>, Vec<Offered>);

/// How texts of the two sides came together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// Only the file changed.
    Theirs,
    /// Both did, at different places.
    Both,
    /// Both changed the same lines: the file's are taken, and the window's are a step of its undo.
    Conflict,
}

/// What background work found.
pub enum Update {
    Loaded {
        slot: TextSlot,
        text: String,
        past: Vec<Change>,
        runs: Vec<RunRecord>,
        /// What the last run found, in an earlier session.
        kept: Option<Box<Kept>>,
    },
    /// The text of a run by its sum; None when it is gone.
    RunText {
        slot: TextSlot,
        sum: String,
        text: Option<String>,
    },
    Disassembler(Result<(), String>),
    /// The file that is open in the learner's editor, or why there is none.
    OpenedElsewhere {
        slot: TextSlot,
        path: Result<PathBuf, String>,
    },
    /// The file is gone, and is looked at no longer.
    LostElsewhere {
        slot: TextSlot,
        path: PathBuf,
    },
    /// It was saved there.
    SavedElsewhere {
        slot: TextSlot,
        text: String,
        how: Merged,
    },
    /// What clang-format made of a version of a text, or why nothing.
    Formatted {
        slot: TextSlot,
        version: u64,
        result: Result<String, String>,
    },
    /// A kernel's counters on the emulator and on a GPU, or why there are none.
    Profiled {
        slot: TextSlot,
        result: Result<Box<crate::profiled::Profiled>, String>,
    },
    Imported(Result<(String, String), String>),
    Exported(Result<Option<PathBuf>, String>),
    Compiler(crate::state::Compiler),
    /// A line of a script.
    ScriptLine(ScriptKey, Line),
    ScriptEnded(ScriptKey, Result<(), String>),
    Course(Result<Arc<Course>, String>),
    Ready(Vec<crate::ready::Item>),
    Ceilings(Vec<Ceilings>),
    Index(Arc<curriculum::search::Index>),
    /// How many files were written, and where; None when nothing was picked.
    StateExported(Result<Option<(usize, PathBuf)>, String>),
    /// Progress and settings as they are after an import, and the settings that were left out because they name programs.
    StateImported(Result<Option<Takeover>, String>),
    Profiles(Vec<String>),
    /// Another profile's files are open.
    ProfileOpened(Option<String>, Box<OpenedProfile>),
    /// Why something is not on disk, or that everything is again.
    Unsaved(Option<String>),
    /// Something went wrong with the learner's files.
    Problem(String),
}
