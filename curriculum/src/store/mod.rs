//! The learner's files: working texts with undo, progress, run histories, settings. Nothing typed is lost.
//!
//! ```text
//! DATA/format.txt                             the layout's number; a program that knows only smaller ones does not write
//! DATA/settings.toml                          what the learner chose
//! DATA/window.json                            where the panes are, on each screen
//! DATA/measured.json                          what lessons measured of this machine, the last complete run of each
//! DATA/progress.toml                          steps, passed checks, answers, spaced review; by stable ids
//! DATA/days/DAY-ID/EXERCISE/kernel.cu         the working text
//! DATA/days/DAY-ID/EXERCISE/journal.jsonl     every edit, for recovery and undo
//! DATA/days/DAY-ID/EXERCISE/runs.jsonl        every run
//! DATA/days/DAY-ID/EXERCISE/sources/SUM.cu    the text of every run
//! DATA/days/DAY-ID/EXERCISE/last-run.bin      what the last run found, for the window
//! DATA/aside/                                 damaged files, never deleted
//! DATA/lockstep.lock                          held by the one instance that writes
//! ```
//!
//! All writing happens on one background thread; whole files are replaced atomically (write beside, sync, rename, sync
//! the folder), so that a kill at any moment costs at most what was typed in the last moment.

mod bundle;
mod disk;
mod format;
mod history;
mod journal;
mod progress;
mod runs;
mod settings;
mod writer;

pub use bundle::{BundleError, Imported, Offered};
pub use disk::Problem;
pub use format::FORMAT;
pub use history::{Delta, History, common_ends};
pub use progress::{AnswerProgress, DayProgress, Done, ExerciseProgress, Given, Progress, Remembered, by_concept};
pub use runs::{RunKind, RunPoint, RunRecord, source_sum};
pub use settings::{Remote, Settings, ThemeChoice};

use journal::Paths;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use writer::{Order, Problems, Unsaved, Writer, report};

/// Names one working text: a day's id and an exercise's key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextSlot {
    day: String,
    exercise: String,
}

impl TextSlot {
    /// None unless both are lower-case words joined by hyphens: they become folder names.
    pub fn new(day_id: &str, exercise: &str) -> Option<Self> {
        let sound = crate::is_slug(day_id) && crate::is_slug(exercise);
        sound.then(|| Self { day: day_id.to_owned(), exercise: exercise.to_owned() })
    }

    /// The slot of a day's exercise; the loader has checked both names.
    pub fn of(day: &crate::Unit, exercise: &crate::Exercise) -> Self {
        Self { day: day.id.clone(), exercise: exercise.key.clone() }
    }

    /// The day's id, or `free`.
    pub fn day(&self) -> &str {
        &self.day
    }

    /// The exercise's key.
    pub fn exercise(&self) -> &str {
        &self.exercise
    }

    /// Where kernels that belong to no exercise are kept.
    pub fn free() -> Self {
        Self { day: "free".to_owned(), exercise: crate::MAIN.to_owned() }
    }
}

/// Why the data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another instance writes to it. [`Store::open_read_only`] still shows it.
    #[error(
        "another Lockstep{} uses the data folder; close it, or set LOCKSTEP_DATA to another folder: {}",
        .pid.map(|pid| format!(" (process {pid})")).unwrap_or_default(), .folder.display()
    )]
    InUse { pid: Option<u32>, folder: PathBuf },
    #[error("the data folder cannot be written ({error}); set LOCKSTEP_DATA to a folder of yours: {}", .folder.display())]
    Unusable { error: std::io::Error, folder: PathBuf },
    /// A newer version wrote it. Nothing was changed.
    #[error(
        "the data folder was written by a newer Lockstep (format {found}, this one writes {FORMAT}) and is left as it \
         is; update this Lockstep, or set LOCKSTEP_DATA to another folder: {}", .folder.display()
    )]
    Newer { found: u32, folder: PathBuf },
}

/// The learner's files in one folder.
pub struct Store {
    root: PathBuf,
    /// None when opened for reading only.
    writer: Option<Writer>,
    /// Locked while the store lives; the system frees it even after a kill.
    _lock: Option<File>,
    problems: Problems,
    unsaved: Unsaved,
}

impl Store {
    /// Opens the data folder for this instance alone, making it where needed.
    ///
    /// # Errors
    /// Another instance has it, a newer version wrote it, or it cannot be written.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let unusable = |error| StoreError::Unusable { error, folder: root.to_owned() };
        std::fs::create_dir_all(root).map_err(unusable)?;
        format::claim(root)?;
        let problems: Problems = Arc::new(Mutex::new(Vec::new()));
        let path = root.join("lockstep.lock");
        let mut lock =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(unusable)?;
        match patient_lock(&lock) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = lock.read_to_string(&mut text);
                return Err(StoreError::InUse { pid: text.trim().parse().ok(), folder: root.to_owned() });
            }
            // Some network file systems know no locks; working without one beats not working.
            Err(TryLockError::Error(error)) => {
                let message = format!("cannot be locked ({error}); do not open Lockstep twice with this folder");
                report(&problems, vec![Problem { message, path }]);
            }
        }
        // For the message of a second instance only, so a failure does not matter.
        let _ = lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| write!(lock, "{}", std::process::id()));
        let unsaved = Unsaved::default();
        let writer = Writer::start(problems.clone(), unsaved.clone()).map_err(unusable)?;
        Ok(Self { root: root.to_owned(), writer: Some(writer), _lock: Some(lock), problems, unsaved })
    }

    /// Opens the data folder to look at it: edits stay in memory, nothing is written.
    pub fn open_read_only(root: &Path) -> Self {
        Self { root: root.to_owned(), writer: None, _lock: None, problems: Arc::default(), unsaved: Arc::default() }
    }

    pub fn is_read_only(&self) -> bool {
        self.writer.is_none()
    }

    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// What went wrong since the last call; show it.
    pub fn take_problems(&self) -> Vec<Problem> {
        std::mem::take(&mut *self.problems.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why the last try to write failed, while something is not on disk. It is tried again every two seconds.
    pub fn unsaved(&self) -> Option<Problem> {
        self.unsaved.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until everything is on disk, at most this long. False when it took longer.
    pub fn flush(&self, patience: Duration) -> bool {
        self.writer.as_ref().is_none_or(|writer| writer.flush(patience))
    }

    fn slot_folder(&self, slot: &TextSlot) -> PathBuf {
        self.root.join("days").join(&slot.day).join(&slot.exercise)
    }

    fn paths(&self, slot: &TextSlot) -> Paths {
        let folder = self.slot_folder(slot);
        Paths { root: self.root.clone(), text: folder.join("kernel.cu"), journal: folder.join("journal.jsonl") }
    }

    fn order(&self, order: Order) {
        if let Some(writer) = &self.writer {
            writer.order(order);
        }
    }

    /// The working text with its undo history, or `scaffold` when nothing was typed yet: undo leads back to it.
    /// Reads two small files, and waits for edits that are still being written.
    pub fn text(&self, slot: &TextSlot, scaffold: &str) -> History {
        self.flush(Duration::from_secs(2));
        let paths = self.paths(slot);
        let mut problems = Vec::new();
        let history = if self.is_read_only() {
            look(&paths, &mut problems)
        } else {
            let (journal, history) = journal::open(&paths, scaffold, &mut problems);
            self.order(Order::Opened(Box::new(journal), paths));
            history
        };
        report(&self.problems, problems);
        history.unwrap_or_else(|| History::new(scaffold))
    }

    /// Notes the text of an exercise; returns at once. It is on disk within a moment.
    pub fn edit(&self, slot: &TextSlot, text: impl Into<String>) {
        self.order(writer::edit(self.paths(slot), text.into()));
    }

    pub fn progress(&self) -> Progress {
        let path = self.root.join("progress.toml");
        self.read_whole(&path, |text, _| toml::from_str(text).ok()).unwrap_or_default()
    }

    /// Saves progress; returns at once.
    pub fn save_progress(&self, progress: &Progress) {
        match toml::to_string(progress) {
            Ok(text) => self.order(Order::Replace { path: self.root.join("progress.toml"), bytes: text.into_bytes() }),
            Err(error) => {
                let message = format!("progress cannot be written as TOML ({error})");
                report(&self.problems, vec![Problem { message, path: self.root.join("progress.toml") }]);
            }
        }
    }

    pub fn settings(&self) -> Settings {
        let path = self.root.join("settings.toml");
        self.read_whole(&path, |text, problems| Settings::parse(text, &path, problems)).unwrap_or_default()
    }

    /// Saves settings; returns at once.
    pub fn save_settings(&self, settings: &Settings) {
        let bytes = settings.to_text().into_bytes();
        self.order(Order::Replace { path: self.root.join("settings.toml"), bytes });
    }

    /// What was measured of this machine, in the window's own form (JSON); not part of an export, for another machine has
    /// other figures.
    pub fn measured<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        self.read_whole(&self.root.join("measured.json"), |text, _| serde_json::from_str(text).ok())
    }

    /// Keeps it; returns at once.
    pub fn save_measured(&self, measured: &impl serde::Serialize) {
        if let Ok(bytes) = serde_json::to_vec(measured) {
            self.order(Order::Replace { path: self.root.join("measured.json"), bytes });
        }
    }

    /// What the window keeps about itself on this machine (JSON); not part of an export.
    pub fn window(&self) -> Option<String> {
        std::fs::read_to_string(self.root.join("window.json")).ok()
    }

    /// Keeps it; returns at once.
    pub fn save_window(&self, text: String) {
        self.order(Order::Replace { path: self.root.join("window.json"), bytes: text.into_bytes() });
    }

    /// What the window keeps of the last run of a text, in its own form; not part of an export.
    pub fn last_run(&self, slot: &TextSlot) -> Option<Vec<u8>> {
        std::fs::read(self.slot_folder(slot).join("last-run.bin")).ok()
    }

    /// Keeps it; returns at once.
    pub fn save_last_run(&self, slot: &TextSlot, bytes: Vec<u8>) {
        self.order(Order::Replace { path: self.slot_folder(slot).join("last-run.bin"), bytes });
    }

    /// Adds a run to an exercise's history and keeps the text that ran; returns at once.
    pub fn add_run(&self, slot: &TextSlot, run: &RunRecord, source: &str) {
        let folder = self.slot_folder(slot);
        let kept = folder.join("sources").join(format!("{}.cu", run.source));
        if !kept.exists() {
            self.order(Order::Replace { path: kept, bytes: source.as_bytes().to_owned() });
        }
        if let Ok(mut line) = serde_json::to_string(run) {
            line.push('\n');
            self.order(Order::Append { path: folder.join("runs.jsonl"), line });
        }
    }

    /// An exercise's runs, oldest first.
    pub fn runs(&self, slot: &TextSlot) -> Vec<RunRecord> {
        self.flush(Duration::from_secs(2));
        let path = self.slot_folder(slot).join("runs.jsonl");
        let mut problems = Vec::new();
        let text = disk::read_text_lossy(&path, &mut problems).unwrap_or_default();
        let (runs, unread) = runs::parse(&text);
        if unread > 0 {
            let message = format!("{unread} of {} runs cannot be read and are left out", runs.len() + unread);
            problems.push(Problem { message, path });
        }
        report(&self.problems, problems);
        runs
    }

    /// The kernel that a run ran, while it is still there.
    pub fn run_source(&self, slot: &TextSlot, run: &RunRecord) -> Option<String> {
        let name = Path::new(&run.source).file_name()?.to_str()?.to_owned();
        std::fs::read_to_string(self.slot_folder(slot).join("sources").join(format!("{name}.cu"))).ok()
    }

    /// Writes everything into one file, to move to another computer; returns how many texts it holds.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn export(&self, to: &Path) -> Result<usize, BundleError> {
        self.flush(Duration::from_secs(10));
        bundle::export(&self.root, to)
    }

    /// Takes over a file that [`Store::export`] wrote: texts, progress and settings are replaced (what was there is
    /// kept in `aside/`), run histories are joined. Settings that name programs are not taken over but told. Read everything
    /// anew afterwards.
    ///
    /// # Errors
    /// Not such a file, or the data folder cannot be written. Nothing is touched when the file is not sound.
    pub fn import(&self, from: &Path) -> Result<Imported, BundleError> {
        let Some(writer) = &self.writer else { return Err(BundleError::ReadOnly) };
        writer.flush(Duration::from_secs(10));
        writer.order(Order::Forget);
        writer.flush(Duration::from_secs(10));
        bundle::import(&self.root, from)
    }

    /// Reads a file as a whole; one that makes no sense is moved aside (a read-only store leaves it) and reported.
    fn read_whole<T>(&self, path: &Path, parse: impl Fn(&str, &mut Vec<Problem>) -> Option<T>) -> Option<T> {
        self.flush(Duration::from_secs(2));
        let mut problems = Vec::new();
        let text = if self.is_read_only() {
            std::fs::read_to_string(path).ok()
        } else {
            disk::read_text(&self.root, path, &mut problems)
        };
        let read = text.as_ref().and_then(|text| parse(text, &mut problems));
        if text.is_some() && read.is_none() {
            let message = "makes no sense; defaults are used".to_owned();
            problems.push(Problem { message, path: path.to_owned() });
            if !self.is_read_only() {
                disk::move_aside(&self.root, path, &mut problems);
            }
        }
        report(&self.problems, problems);
        read
    }
}

/// The lock, or why not. A window that was closed a moment ago, or a program that was just started and has not let go of
/// the files that it was born with, still has it for a little while.
fn patient_lock(file: &File) -> Result<(), TryLockError> {
    const TRIES: u32 = 6;
    for _ in 1..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
            other => return other,
        }
    }
    file.try_lock()
}

/// Looks at a working text without touching anything.
fn look(paths: &Paths, problems: &mut Vec<Problem>) -> Option<History> {
    match std::fs::read_to_string(&paths.text) {
        Ok(text) => Some(History::new(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            problems.push(Problem { message: format!("cannot be read ({error})"), path: paths.text.clone() });
            None
        }
    }
}
