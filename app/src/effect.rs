//! What a change of the state asks of the world, and what the world answers. Both are plain data: nothing in
//! [`crate::apply`] touches a file, a process or a clock.

use crate::elsewhere::Merged;
use crate::kept::Kept;
use crate::rungs::{Decoding, Line, RungKey, RungRun};
use crate::state::{JobKey, LabKey, Purpose};
use crate::widgets::code_editor::Change;
use curriculum::Course;
use curriculum::store::{Offered, Progress, RunRecord, Settings, Slot, Store};
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
        slot: Option<Slot>,
    },
    Stop(JobKey),
    /// Ask for the devices of a lab.
    ListDevices(LabKey),
    /// Read a working text and its runs.
    Load {
        slot: Slot,
        scaffold: String,
    },
    /// Note the working text.
    Journal {
        slot: Slot,
        text: String,
    },
    SaveProgress,
    SaveSettings,
    /// Note what lessons measured.
    SaveMeasured,
    /// Note where the panes are.
    SaveWindow,
    AddRun {
        slot: Slot,
        run: Box<RunRecord>,
        source: String,
    },
    /// Note what the last run of a text found.
    KeepRun {
        slot: Slot,
        kept: Box<Kept>,
    },
    /// Read the text of an earlier run.
    LoadRun {
        slot: Slot,
        run: Box<RunRecord>,
        number: u32,
    },
    /// Read the text of an earlier run, to compare with.
    ReadRun {
        slot: Slot,
        run: Box<RunRecord>,
    },
    InstallDisassembler,
    /// Write the text to a file, open it in the learner's editor and watch it.
    OpenElsewhere {
        slot: Slot,
        text: String,
        editor: Option<String>,
    },
    CloseElsewhere(Slot),
    /// Lay a text out with clang-format.
    Format {
        slot: Slot,
        version: u64,
        text: String,
        tab_width: u32,
    },
    PickImport,
    PickExport {
        name: String,
        text: String,
    },
    /// Run a Python rung with the learner's Python.
    RunRung {
        key: RungKey,
        source: String,
        python: Option<PathBuf>,
    },
    /// Measure this machine with one of Lockstep's own programs, in a process of its own.
    RunProgram(RungKey),
    /// Let the small model write, in a process of its own.
    Decode {
        key: RungKey,
        request: Box<Decoding>,
    },
    /// Count with Nsight Compute, in a process of its own.
    Profile {
        slot: Slot,
        request: Box<crate::profiled::Request>,
    },
    StopRung,
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
    pub measured: BTreeMap<RungKey, RungRun>,
}

impl Learner {
    pub fn read(store: &Store) -> Self {
        Self { progress: store.progress(), settings: store.settings(), measured: crate::rungs::load(store) }
    }
}

/// A profile's files, ready to be written to.
pub struct OpenedProfile {
    pub store: Arc<Store>,
    pub learner: Learner,
}

/// What an import brings: progress and settings as they are now, and the settings that it did not take over.
pub type Takeover = (Box<Learner>, Vec<Offered>);

/// What background work found.
pub enum Update {
    Loaded {
        slot: Slot,
        text: String,
        past: Vec<Change>,
        runs: Vec<RunRecord>,
        /// What the last run found, in an earlier session.
        kept: Option<Box<Kept>>,
    },
    /// The text of a run by its sum; None when it is gone.
    RunText {
        slot: Slot,
        sum: String,
        text: Option<String>,
    },
    Disassembler(Result<(), String>),
    /// The file that is open in the learner's editor, or why there is none.
    OpenedElsewhere {
        slot: Slot,
        path: Result<PathBuf, String>,
    },
    /// It was saved there.
    /// The file is gone, and is looked at no longer.
    LostElsewhere {
        slot: Slot,
        path: PathBuf,
    },
    SavedElsewhere {
        slot: Slot,
        text: String,
        how: Merged,
    },
    /// What clang-format made of a version of a text, or why nothing.
    Formatted {
        slot: Slot,
        version: u64,
        result: Result<String, String>,
    },
    /// A kernel's counters on the emulator and on a GPU, or why there are none.
    Profiled {
        slot: Slot,
        result: Result<Box<crate::profiled::Profiled>, String>,
    },
    Imported(Result<(String, String), String>),
    Exported(Result<Option<PathBuf>, String>),
    Compiler(crate::state::Compiler),
    /// A line of a rung.
    RungLine(RungKey, Line),
    RungEnded(RungKey, Result<(), String>),
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
