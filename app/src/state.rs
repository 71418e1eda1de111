//! What the screen shows: plain data. Panels read it; only [`crate::apply`] changes it.

mod texts;

use crate::dock::Dock;
use crate::profiled::Profiled;
use crate::versions::{Against, Disassembler, ListingView, Versions};
use crate::widgets::code_editor::Editor;
use curriculum::quiz::PredictRun;
use curriculum::review::Date;
use curriculum::store::{Offered, Progress, RunRecord, Settings, TextSlot};
use curriculum::{Course, Exercise, Experiment, Step, Unit};
use gpu_core::bench::{BenchReport, Ceilings};
use gpu_core::compile::CompileReport;
use gpu_core::device::{DeviceChoice, DeviceInfo};
use gpu_core::spec::Spec;
use gpu_core::verdict::{CaseReport, Verdict};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub use crate::kept::Traced;
pub use crate::lab::{DeviceKey, JobKey, LabKey};
pub use crate::loadable::Loadable;
use crate::mystery::MysteryKey;
pub use crate::pane::{Pane, Sight};

/// What the device picker lists of one lab.
#[derive(Clone, Debug, Default)]
pub struct LabDevices {
    pub devices: Loadable<Vec<DeviceInfo>>,
}

/// Devices of all labs and the one that is picked.
#[derive(Clone, Debug)]
pub struct Devices {
    pub labs: BTreeMap<LabKey, LabDevices>,
    pub picked: DeviceKey,
    /// What this machine's GPUs were measured to do at most (`lockstep bench --ceilings`).
    pub ceilings: Vec<Ceilings>,
}

impl Devices {
    pub fn info(&self, key: &DeviceKey) -> Option<&DeviceInfo> {
        let devices = self.labs.get(&key.lab)?.devices.value()?;
        devices.iter().find(|info| info.choice == key.choice)
    }

    /// The ceilings of the picked device, or of this machine's GPU while the emulator is picked.
    pub fn ceilings(&self) -> Option<&Ceilings> {
        let name = self.info(&self.picked).map(|info| info.name.as_str());
        let picked = self.ceilings.iter().find(|ceilings| Some(ceilings.device.as_str()) == name);
        picked.or_else(|| (self.picked == DeviceKey::emulator()).then(|| self.ceilings.first()).flatten())
    }

    /// The first GPU of this machine.
    pub fn first_gpu(&self) -> Option<u32> {
        let devices = self.labs.get(&LabKey::Here)?.devices.value()?;
        devices.iter().find_map(|info| match info.choice {
            DeviceChoice::Gpu(index) => Some(index),
            DeviceChoice::Emulator => None,
        })
    }

    /// Name for people: the device's own, with the remote machine's in front.
    pub fn name(&self, key: &DeviceKey) -> String {
        let own = match (self.info(key), &key.choice) {
            (Some(info), _) => info.name.clone(),
            (None, DeviceChoice::Emulator) => "Emulator".to_owned(),
            (None, DeviceChoice::Gpu(0)) => "GPU".to_owned(),
            (None, DeviceChoice::Gpu(index)) => format!("GPU {index}"),
        };
        match &key.lab {
            LabKey::Here => own,
            LabKey::Remote(name) => format!("{name}: {own}"),
        }
    }
}

/// Under this name the ready check's quiz is kept, beside those of the days.
pub const READY_QUIZ: &str = "ready";

/// What is open and visible.
#[derive(Clone, Debug)]
pub struct View {
    /// The open day, by its stable id.
    pub day: Option<String>,
    pub step: Step,
    pub visualization: Option<String>,
    /// What the open text is compared with.
    pub against: Against,
    pub listing: ListingView,
    /// Grows and shrinks with each step to the next or the previous difference.
    pub difference: i32,
    pub dock: Dock,
    /// The pane that should take the keyboard; a new generation is a new request.
    pub focus: (Pane, u64),
    /// What is to be made of the plot in sight; a new generation is a new request.
    pub plot: Option<(PlotWish, u64)>,
    /// The pane that has the whole window.
    pub full: Option<Pane>,
    /// Each line of the kernel and what it was compiled to have one colour.
    pub line_colors: bool,
    /// What is to be scrolled to; a new generation is a new request.
    pub sight: Option<(Sight, u64)>,
}

/// What a plot becomes outside of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlotWish {
    /// A table on the clipboard.
    Csv,
    /// Files.
    Svg,
    Png,
}

/// What a run is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    /// What the device picker lists.
    Devices,
    /// Errors while typing.
    Diagnose,
    /// PTX and SASS to look at: of the open text, or of what it is compared with.
    Listing {
        other: bool,
    },
    Check,
    Bench,
    /// A quiz question's run; its results stay out of the panes.
    Predict {
        /// Id of the question's day, which need not be the open one when the run ends.
        day: String,
        question: String,
        run: Box<PredictRun>,
    },
    /// A kernel of one's own, which nobody judges.
    Sandbox,
    /// A kernel whose source is shut; its results stay out of the panes.
    Mystery(MysteryKey),
}

impl Purpose {
    /// Whether the run is of the open text, which then shows its results.
    pub fn is_of_the_text(&self) -> bool {
        !matches!(self, Purpose::Predict { .. } | Purpose::Mystery(_))
    }
}

/// The run under way.
#[derive(Clone, Debug)]
pub struct Running {
    pub job: Option<JobKey>,
    pub purpose: Purpose,
    pub device: String,
    /// A short line, with how much is done.
    pub progress: String,
    pub done: u32,
    pub total: u32,
    pub since_s: f64,
    /// The text that runs, for the history.
    pub source: String,
    /// Whose text it is, which need not be the open one any more; None where no text is open.
    pub slot: Option<TextSlot>,
    pub stopping: bool,
}

/// One exercise's text and all that is known about it.
pub struct Desk {
    pub slot: TextSlot,
    /// The day's id and the exercise's key, for looking both up.
    pub day: String,
    pub exercise: String,
    /// An experiment of that exercise by name; its runs count for nothing.
    pub experiment: Option<String>,
    pub editor: Editor,
    /// False while the text is still being read.
    pub loaded: bool,
    /// Version that was given to the journal last.
    pub journalled: u64,
    /// When to compile what was typed.
    pub compile_at_s: Option<f64>,
    pub compiling: Option<JobKey>,
    /// When that compilation began, and of which version of the text it is.
    pub compiling_since_s: f64,
    pub compiling_version: u64,
    pub compiled: Loadable<CompileReport>,
    /// Earlier texts and listings.
    pub versions: Versions,
    /// The file that is open in the learner's own editor too.
    pub elsewhere: Option<PathBuf>,
    pub verdict: Loadable<Verdict>,
    /// Cases as they arrive, before the verdict.
    pub cases: Vec<CaseReport>,
    pub bench: Loadable<BenchReport>,
    /// Counters on the emulator and on a GPU.
    pub profiled: Loadable<Profiled>,
    pub console: String,
    /// True when the console was cut.
    pub console_cut: bool,
    pub runs: Vec<RunRecord>,
    pub traced: Option<Traced>,
    /// How the last run ended when it was not with a verdict.
    pub trouble: Option<String>,
    /// The text that the verdict or the benchmark is about.
    pub judged_text: String,
    /// Version of the text that the verdict is about.
    pub judged: u64,
    /// When the verdict came, in seconds since the window opened; None for one that was read from disk.
    pub judged_at_s: Option<f64>,
}

impl Desk {
    /// Errors, warnings and faults.
    pub fn problem_count(&self) -> usize {
        let diagnostics = self.compiled.value().map_or(0, |report| report.diagnostics.len());
        diagnostics + self.verdict.value().map_or(0, |verdict| verdict.faults().len())
    }

    /// Nothing is known of a run any more; those in the history stay there.
    pub fn forget_run(&mut self) {
        self.verdict = Loadable::Empty;
        self.cases.clear();
        self.console.clear();
        (self.console_cut, self.traced, self.trouble) = (false, None, None);
        self.judged = 0;
        self.judged_text.clear();
        self.editor.marks.forget_run();
    }

    /// True when the text was changed since the verdict.
    pub fn is_stale(&self) -> bool {
        let newer = self.judged != 0 && self.judged != self.editor.version();
        // Undo may have led back to it.
        newer && self.judged_text != self.editor.text()
    }
}

/// The compiler library on this machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Compiler {
    Looking,
    Found {
        origin: String,
    },
    /// Says what to do.
    Missing {
        message: String,
        download_bytes: u64,
    },
    Installing {
        what: String,
        done_bytes: u64,
        total_bytes: u64,
    },
    InstallFailed {
        message: String,
        download_bytes: u64,
    },
}

/// Fields of the settings page while it is open.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsDraft {
    pub settings: Settings,
    pub nvrtc: String,
    pub content: String,
    pub python: String,
    pub remote_name: String,
    pub remote_command: String,
    pub problem: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Dialog {
    Palette {
        query: String,
    },
    GoToLine {
        text: String,
    },
    /// A new name for the one at the cursor.
    Rename {
        old: String,
        new: String,
    },
    Settings(Box<SettingsDraft>),
    Shortcuts,
    About,
    /// Asks before showing the solution.
    ConfirmSolution,
    ConfirmReset,
    ConfirmResetDay,
    ConfirmImport,
    /// Asks before a Python script of a foreign course runs.
    ConfirmScript {
        file: String,
        /// This system keeps it from files and the network.
        confined: bool,
    },
    /// Settings of an imported state that name programs, and which of them the learner wants.
    OfferPrograms(Vec<(Offered, bool)>),
    /// Asks before closing while something is not on disk.
    ConfirmQuit,
    /// Names of the profiles on this machine, and a new one being typed.
    Profiles {
        names: Vec<String>,
        new: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToastKind {
    Info,
    Good,
    Bad,
}

#[derive(Clone, Debug)]
pub struct Toast {
    pub id: u64,
    pub kind: ToastKind,
    pub text: String,
    pub until_s: f64,
}

/// A message that was shown, or a thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    pub at_unix_s: u64,
    pub kind: ToastKind,
    pub text: String,
}

/// Full-text search over the course.
#[derive(Clone, Debug, Default)]
pub struct Search {
    pub query: String,
    pub hits: Vec<curriculum::search::Hit>,
    /// None until it is built, and again when the course changes.
    pub index: Option<Arc<curriculum::search::Index>>,
}

impl Search {
    /// Hits shown.
    pub const MOST: usize = 60;
}

/// What the run of a prediction gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub day: String,
    pub question: String,
    /// In the quantity's unit, or why there is none.
    pub value: Result<f64, String>,
}

/// Everything.
pub struct State {
    pub course: Arc<Course>,
    /// What is wrong with a content folder; the embedded course is shown then.
    pub course_problem: Option<String>,
    pub data_dir: PathBuf,
    pub read_only: Option<String>,
    /// Why something is not on disk; it is tried again.
    pub unsaved: Option<String>,
    /// Where texts were when they were seen last, in this session or an earlier one.
    pub places: crate::kept::Places,
    /// Something was typed that no file takes, for the data folder is only read.
    pub typed_unsaved: bool,
    /// The learner closes the window although something is not on disk.
    pub leaves_unsaved: bool,
    pub progress: Progress,
    pub settings: Settings,
    pub today: Date,
    /// Seconds since the Unix epoch.
    pub now_unix_s: u64,
    /// Seconds since the window opened.
    pub now_s: f64,
    pub view: View,
    pub desks: BTreeMap<TextSlot, Desk>,
    /// The open text.
    pub desk: Option<TextSlot>,
    pub devices: Devices,
    pub running: Option<Running>,
    pub compiler: Compiler,
    pub compiler_banner_hidden: bool,
    pub disassembler: Disassembler,
    /// Check when the run under way has ended: the file was saved elsewhere.
    pub check_again: bool,
    pub dialog: Option<Dialog>,
    pub toasts: Vec<Toast>,
    pub next_id: u64,
    pub scripts: BTreeMap<crate::scripts::ScriptKey, crate::scripts::ScriptRun>,
    /// Texts of scripts that are not Lockstep's and that the learner let run, until the window closes.
    pub allowed_scripts: std::collections::BTreeSet<String>,
    pub log: Vec<LogLine>,
    pub search: Search,
    pub sandbox: crate::sandbox::Sandbox,
    /// What the ready check found.
    pub ready: Loadable<Vec<crate::ready::Item>>,
    /// Questions under review by day id; empty outside of a review.
    pub review: Vec<(String, Vec<String>)>,
    /// Reviews begun, so that each starts with empty answers.
    pub reviews: u32,
    /// Times that a day was reset, so that its quiz starts anew.
    pub resets: BTreeMap<String, u32>,
    /// Step of the tour, from 0.
    pub tour: Option<usize>,
    /// Name of the open profile; None is the machine's own.
    pub profile: Option<String>,
    /// Figures of kernels whose source is shut, as far as they were run.
    pub mysteries: BTreeMap<MysteryKey, Vec<(&'static curriculum::quiz::Quantity, f64)>>,
    /// A measured prediction on its way to the quiz.
    pub measured: Option<Measured>,
}

impl State {
    /// Whether closing the window now would lose something that was typed.
    pub fn would_lose(&self) -> bool {
        self.unsaved.is_some() || self.typed_unsaved
    }

    pub fn day(&self) -> Option<&Unit> {
        self.course.unit_by_id(self.view.day.as_deref()?)
    }

    pub fn desk(&self) -> Option<&Desk> {
        self.desks.get(self.desk.as_ref()?)
    }

    /// The open text's exercise.
    pub fn exercise(&self) -> Option<&Exercise> {
        let desk = self.desk()?;
        self.course.unit_by_id(&desk.day)?.exercise_by_key(&desk.exercise)
    }

    /// The open experiment, if the open text is one.
    pub fn experiment(&self) -> Option<&Experiment> {
        let name = self.desk()?.experiment.as_ref()?;
        self.exercise()?.experiments.iter().find(|experiment| experiment.name == *name)
    }

    /// What the open text starts from.
    pub fn scaffold(&self) -> Option<&str> {
        match self.experiment() {
            Some(experiment) => Some(&experiment.source),
            None => self.exercise().map(|exercise| exercise.scaffold.as_str()),
        }
    }

    /// What the open text is judged by.
    pub fn spec(&self) -> Option<&Spec> {
        let own = self.experiment().and_then(|experiment| experiment.spec.as_ref());
        own.or_else(|| self.exercise().map(|exercise| &exercise.spec))
    }

    /// True when the open exercise was passed or its solution asked for.
    pub fn solution_unlocked(&self) -> bool {
        let (Some(day), Some(desk)) = (self.day(), self.desk()) else { return false };
        self.progress
            .exercise(day, &desk.exercise)
            .is_some_and(|exercise| exercise.passed.is_some() || exercise.solution_seen)
    }

    /// Under which a day's quiz keeps its answers: another one after each reset.
    pub fn quiz_key(&self, day: &str) -> String {
        format!("{day}/{}", self.resets.get(day).copied().unwrap_or_default())
    }

    /// Under which the review under way keeps its answers to a day's questions.
    pub fn review_key(&self, day: &str) -> String {
        format!("review/{}/{day}", self.reviews)
    }

    /// Whether a pane has anything to show now; its tab is left out where not.
    pub fn has_content(&self, pane: Pane) -> bool {
        match pane {
            Pane::Course
            | Pane::Search
            | Pane::Lesson
            | Pane::Progress
            | Pane::Ready
            | Pane::Gallery
            | Pane::Glossary
            | Pane::Log
            | Pane::Toolbar => true,
            Pane::Sandbox => self.desk.as_ref().is_some_and(crate::sandbox::is_free),
            Pane::Visualization => self.view.visualization.is_some(),
            Pane::Solution => self.solution_unlocked(),
            Pane::Editor
            | Pane::Compare
            | Pane::Verdict
            | Pane::Problems
            | Pane::Console
            | Pane::Counters
            | Pane::Compiled
            | Pane::Timing => self.desk().is_some(),
        }
    }

    /// The panes in sight, in reading order.
    pub fn panes_in_sight(&self) -> Vec<Pane> {
        if let Some(full) = self.view.full.filter(|pane| self.has_content(*pane)) {
            return vec![full];
        }
        self.view.dock.in_sight(|pane| self.has_content(pane))
    }

    pub fn is_in_sight(&self, pane: Pane) -> bool {
        self.panes_in_sight().contains(&pane)
    }

    pub fn hints_shown(&self) -> usize {
        let (Some(day), Some(desk)) = (self.day(), self.desk()) else { return 0 };
        self.progress.exercise(day, &desk.exercise).map_or(0, |exercise| exercise.hints_shown as usize)
    }

    /// The one thing that is under way, in a few words.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }
}
