//! The thread that writes the learner's files, so that the window never waits for a disk.

use super::disk::{Problem, append_lines, now_ms, write_atomically};
use super::journal::{Journal, Paths};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long edits gather before they are written: far below the promised second, even with a slow disk behind it.
const GATHER: Duration = Duration::from_millis(150);

/// A failing disk is tried again this much later.
const RETRY: Duration = Duration::from_secs(2);

pub(crate) enum Order {
    /// A text was opened: its journal continues from what was read.
    Opened(Box<Journal>, Paths),
    Edit {
        paths: Paths,
        text: String,
        t: u64,
    },
    Replace {
        path: PathBuf,
        bytes: Vec<u8>,
    },
    Append {
        path: PathBuf,
        line: String,
    },
    /// Drop what is known of files on disk: they are about to change.
    Forget,
    /// Answer when everything ordered before is on disk, or could not be written.
    Flush(Sender<()>),
}

/// Sends orders to the thread. Dropping it writes what is left.
pub(crate) struct Writer {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

/// Problems that await being shown.
pub(crate) type Problems = Arc<Mutex<Vec<Problem>>>;

/// Why the last try to write failed; None while everything is on disk.
pub(crate) type Unsaved = Arc<Mutex<Option<Problem>>>;

impl Writer {
    pub fn start(problems: Problems, unsaved: Unsaved) -> std::io::Result<Self> {
        let (orders, received) = channel();
        let thread = std::thread::Builder::new().name("store".to_owned()).spawn(move || {
            let (journals, files, lines) = (HashMap::new(), HashMap::new(), Vec::new());
            let work = Work { problems, unsaved, journals, files, lines };
            work.run(&received);
        })?;
        Ok(Self { orders: Some(orders), thread: Some(thread) })
    }

    pub fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // The thread lives as long as this sender; if it panicked the flush below says so.
            let _ = orders.send(order);
        }
    }

    /// Waits until all orders so far are carried out. False when the thread is gone or needs longer than that.
    pub fn flush(&self, patience: Duration) -> bool {
        let (done, wait) = channel();
        self.order(Order::Flush(done));
        wait.recv_timeout(patience).is_ok()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    problems: Problems,
    journals: HashMap<Paths, Journal>,
    /// Newest content of files that are replaced as a whole; only the last one counts.
    files: HashMap<PathBuf, Vec<u8>>,
    /// Runs that are not noted yet, in order.
    lines: Vec<(PathBuf, String)>,
    unsaved: Unsaved,
}

impl Work {
    fn run(mut self, orders: &Receiver<Order>) {
        let mut deadline: Option<Instant> = None;
        loop {
            let next = match deadline {
                None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => orders.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match next {
                Ok(Order::Flush(done)) => {
                    deadline = self.write_all();
                    let _ = done.send(());
                }
                Ok(order) => {
                    self.take(order);
                    deadline.get_or_insert_with(|| Instant::now() + GATHER);
                }
                Err(RecvTimeoutError::Timeout) => deadline = self.write_all(),
                Err(RecvTimeoutError::Disconnected) => {
                    self.write_all();
                    return;
                }
            }
            // A steady stream of orders must not keep the deadline from being noticed.
            if deadline.is_some_and(|at| at <= Instant::now()) {
                deadline = self.write_all();
            }
        }
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Opened(journal, paths) => {
                // Opened again while edits are still in memory: those are newer than what was read.
                self.journals.entry(paths).or_insert(*journal);
            }
            Order::Edit { paths, text, t } => {
                let journal = self.journals.entry(paths).or_insert_with_key(|paths| {
                    let mut problems = Vec::new();
                    let (journal, _) = super::journal::open(paths, "", &mut problems);
                    report(&self.problems, problems);
                    journal
                });
                journal.edit(&text, t);
            }
            Order::Replace { path, bytes } => {
                self.files.insert(path, bytes);
            }
            Order::Append { path, line } => self.lines.push((path, line)),
            Order::Forget => {
                self.write_all();
                self.journals.clear();
            }
            Order::Flush(_) => {}
        }
    }

    /// Writes everything; gives the time of the next try when something failed.
    fn write_all(&mut self) -> Option<Instant> {
        let mut failures = Vec::new();
        for (paths, journal) in &mut self.journals {
            if let Err(error) = journal.write() {
                failures.push((paths.text.clone(), error));
            }
        }
        let mut left = HashMap::new();
        for (path, bytes) in self.files.drain() {
            if let Err(error) = write_atomically(&path, &bytes) {
                failures.push((path.clone(), error));
                left.insert(path, bytes);
            }
        }
        self.files = left;
        let mut left: Vec<(PathBuf, String)> = Vec::new();
        for (path, line) in self.lines.drain(..) {
            // A run stays behind those before it.
            let waits = left.iter().any(|(other, _)| *other == path);
            let failed = if waits { None } else { append_lines(&path, &line).err() };
            let kept = waits || failed.is_some();
            failures.extend(failed.map(|error| (path.clone(), error)));
            if kept {
                left.push((path, line));
            }
        }
        self.lines = left;
        let failing = !failures.is_empty();
        let mut told = failures.into_iter().map(|(path, error)| Problem {
            message: format!("Not saved yet ({error}); trying again, what you typed is kept in memory"),
            path,
        });
        let first = told.next();
        let before =
            std::mem::replace(&mut *self.unsaved.lock().unwrap_or_else(PoisonError::into_inner), first.clone());
        // Told once and not every two seconds.
        if before.is_none() {
            report(&self.problems, first.into_iter().chain(told).collect());
        }
        failing.then(|| Instant::now() + RETRY)
    }
}

pub(crate) fn report(problems: &Problems, new: Vec<Problem>) {
    problems.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
}

/// Stamps an edit with the time at which it was made.
pub(crate) fn edit(paths: Paths, text: String) -> Order {
    Order::Edit { paths, text, t: now_ms() }
}
