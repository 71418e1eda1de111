//! A kernel's text as a file that is open in another editor too. A thread looks at the file four times a second: what is
//! saved there comes into the window, and what is typed in the window goes into the file.
//!
//! Looking is done by hand and not by a watcher of the system: one `stat` costs some microseconds, works on every file
//! system (those of a network tell nobody of changes), and does not care whether an editor writes into the file or puts
//! a new one in its place.

use crate::effect::{Merged, Update};
use curriculum::store::TextSlot;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, SystemTime};

/// Between two looks at a file. A file is read when two looks see the same, so a save is seen after at most two.
const LOOK_TIME: Duration = Duration::from_millis(250);

/// A file that is missing at so many looks is gone: an editor that replaces it takes less than a second.
const LOOKS_UNTIL_GONE: u32 = 8;

/// A larger file is no kernel.
const MAX_BYTES: u64 = 2 << 20;

/// What the window asks of the thread.
enum Order {
    Open { slot: TextSlot, path: PathBuf, text: String, editor: Option<String> },
    Text { slot: TextSlot, text: String },
    Close { slot: TextSlot },
}

/// The thread's handle. It ends with this.
pub struct Elsewhere {
    orders: Option<Sender<Order>>,
    send: Box<dyn Fn() -> Box<dyn Fn(Update) + Send>>,
}

impl Elsewhere {
    /// `send` makes a way back to the window.
    pub fn new(send: impl Fn() -> Box<dyn Fn(Update) + Send> + 'static) -> Self {
        Self { orders: None, send: Box::new(send) }
    }

    fn order(&mut self, order: Order) {
        if self.orders.is_none() {
            let (orders, ordered) = channel();
            let send = (self.send)();
            let started = std::thread::Builder::new()
                .name("files open elsewhere".to_owned())
                .spawn(move || serve(&ordered, send.as_ref()));
            match started {
                Ok(_) => self.orders = Some(orders),
                Err(error) => {
                    let why =
                        format!("The system allows no further thread ({error}); close other programs and try again");
                    (self.send)()(Update::Problem(why));
                    return;
                }
            }
        }
        if let Some(orders) = &self.orders {
            // A thread that is gone looks at nothing any more.
            let _ = orders.send(order);
        }
    }

    /// Writes the text to `path`, opens it in an editor (None is the system's choice) and looks at it from now on.
    pub fn open(&mut self, slot: TextSlot, path: PathBuf, text: String, editor: Option<String>) {
        self.order(Order::Open { slot, path, text, editor });
    }

    /// The window's text changed.
    pub fn text(&mut self, slot: &TextSlot, text: &str) {
        if self.orders.is_some() {
            self.order(Order::Text { slot: slot.clone(), text: text.to_owned() });
        }
    }

    pub fn close(&mut self, slot: TextSlot) {
        if self.orders.is_some() {
            self.order(Order::Close { slot });
        }
    }
}

/// What a look sees of a file.
type Seen = (SystemTime, u64);

/// One file that is open elsewhere.
struct File {
    slot: TextSlot,
    path: PathBuf,
    /// What both sides had last.
    base: String,
    /// The window's text now.
    ours: String,
    /// The file has line ends of Windows.
    crlf: bool,
    /// Of the content that `base` is.
    known: Option<Seen>,
    /// Of the last look.
    last: Option<Seen>,
    /// Looks at which it was missing, one after the other.
    missed: u32,
    /// The last try to write it failed and was told.
    failed: bool,
}

fn serve(orders: &Receiver<Order>, send: &dyn Fn(Update)) {
    let mut files: Vec<File> = Vec::new();
    loop {
        // With no file there is nothing to look at, and the thread sleeps.
        let order = if files.is_empty() {
            orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            orders.recv_timeout(LOOK_TIME)
        };
        match order {
            Ok(order) => obey(order, &mut files, send),
            Err(RecvTimeoutError::Timeout) => {
                for file in &mut files {
                    if let Some(update) = look(file) {
                        send(update);
                    }
                }
                files.retain(|file| file.missed < LOOKS_UNTIL_GONE);
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn obey(order: Order, files: &mut Vec<File>, send: &dyn Fn(Update)) {
    match order {
        Order::Open { slot, path, text, editor } => {
            files.retain(|file| file.slot != slot);
            // What was saved there while nobody looked is not written over.
            let met = saved_meanwhile(&path).map(|(base, theirs)| merge(&base, &text, &theirs));
            let (text, how) = met.map_or((text, None), |(text, how)| (text, Some(how)));
            let opened = open(&path, &text).and_then(|()| start(&path, editor.as_deref()));
            match opened {
                Ok(()) => {
                    keep_base(&path, &text);
                    let known = seen(&path);
                    send(Update::OpenedElsewhere { slot: slot.clone(), path: Ok(path.clone()) });
                    if let Some(how) = how {
                        send(Update::SavedElsewhere { slot: slot.clone(), text: text.clone(), how });
                    }
                    let (base, ours) = (text.clone(), text);
                    let (crlf, missed, failed) = (false, 0, false);
                    files.push(File { slot, path, base, ours, crlf, known, last: known, missed, failed });
                }
                Err(why) => send(Update::OpenedElsewhere { slot, path: Err(why) }),
            }
        }
        Order::Text { slot, text } => {
            if let Some(file) = files.iter_mut().find(|file| file.slot == slot) {
                file.ours = text;
            }
        }
        Order::Close { slot } => files.retain(|file| file.slot != slot),
    }
}

/// Where the text is noted that both sides had last: only so can a later session tell what was saved in between.
fn base_path(path: &Path) -> PathBuf {
    path.with_extension("base")
}

/// Notes it. A failure costs no more than the note.
fn keep_base(path: &Path, base: &str) {
    let _ = std::fs::write(base_path(path), base);
}

/// What both sides had last and what the file has now, when it was saved since.
fn saved_meanwhile(path: &Path) -> Option<(String, String)> {
    if seen(path)?.1 > MAX_BYTES {
        return None;
    }
    let base = std::fs::read_to_string(base_path(path)).ok()?;
    let theirs = std::fs::read_to_string(path).ok()?.replace("\r\n", "\n");
    (base != theirs).then_some((base, theirs))
}

fn seen(path: &Path) -> Option<Seen> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn open(path: &Path, text: &str) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("The kernel cannot be written ({error}): {}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(problem)?;
        // Other editors look for them there.
        for (name, header) in gpu_core::compile::includes::COURSE_HEADERS {
            std::fs::write(folder.join(name), header).map_err(problem)?;
        }
    }
    std::fs::write(path, text).map_err(problem)
}

/// Starts the learner's editor and does not wait for it.
fn start(path: &Path, editor: Option<&str>) -> Result<(), String> {
    let mut command = match editor.map(str::trim).filter(|editor| !editor.is_empty()) {
        Some(line) => {
            // `code --wait` is a program with an argument; a path with spaces may be quoted.
            let mut words = words(line).into_iter();
            let mut command = Command::new(words.next().unwrap_or_default());
            command.args(words);
            command
        }
        None if cfg!(target_os = "macos") => {
            let mut command = Command::new("open");
            command.arg("-t");
            command
        }
        None if cfg!(windows) => {
            let mut command = Command::new("cmd");
            command.args(["/C", "start", ""]);
            command
        }
        None => Command::new("xdg-open"),
    };
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let shown = command.get_program().to_string_lossy().into_owned();
    let child = command.spawn().map_err(|error| {
        format!("The editor `{shown}` does not start ({error}): name yours in the settings, for example `code`")
    })?;
    leave(child, "an editor");
    Ok(())
}

/// Shows a web page in the learner's browser, with what the system has for that.
///
/// # Errors
/// One sentence: what does not start, and the address to open by hand.
pub fn open_page(url: &str) -> Result<(), String> {
    // A shell of Windows would take the `&` of an address for its own; this program takes the address as it is.
    let (program, first) = match () {
        () if cfg!(target_os = "macos") => ("open", None),
        () if cfg!(windows) => ("rundll32", Some("url.dll,FileProtocolHandler")),
        () => ("xdg-open", None),
    };
    let mut command = Command::new(program);
    command.args(first).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child =
        command.spawn().map_err(|error| format!("No browser starts (`{program}`: {error}); open it by hand: {url}"))?;
    leave(child, "a browser");
    Ok(())
}

/// Somebody must take note of a program's end, or it stays as a dead entry of the system.
fn leave(mut child: std::process::Child, name: &str) {
    let _ = std::thread::Builder::new().name(name.to_owned()).spawn(move || child.wait());
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, c) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (_, c) => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// One look: takes over what was saved there, or writes what was typed here.
fn look(file: &mut File) -> Option<Update> {
    let now = seen(&file.path);
    let settled = now == file.last;
    file.last = now;
    let Some(now) = now else {
        // Being replaced, or deleted: an editor's save may take a moment.
        file.missed += 1;
        let lost = || Update::LostElsewhere { slot: file.slot.clone(), path: file.path.clone() };
        return (file.missed == LOOKS_UNTIL_GONE).then(lost);
    };
    file.missed = 0;
    if file.known != Some(now) {
        // Read when it holds still: an editor may be in the middle of writing.
        if !settled {
            return None;
        }
        file.known = Some(now);
        return take_over(file, now);
    }
    if file.ours == file.base {
        return None;
    }
    let text = if file.crlf { file.ours.replace('\n', "\r\n") } else { file.ours.clone() };
    // Into the file itself and not a new one in its place: some editors watch the file and not its name.
    written(file, std::fs::write(&file.path, text))
}

fn take_over(file: &mut File, now: Seen) -> Option<Update> {
    if now.1 > MAX_BYTES {
        let problem = format!("The file is too large for a kernel and is not read: {}", file.path.display());
        return Some(Update::Problem(problem));
    }
    let bytes = std::fs::read(&file.path).ok()?;
    let Ok(text) = String::from_utf8(bytes) else {
        let problem = format!("The file is not UTF-8 text and is not read; save it as UTF-8: {}", file.path.display());
        return Some(Update::Problem(problem));
    };
    file.crlf = text.contains("\r\n");
    let theirs = text.replace("\r\n", "\n");
    if theirs == file.base {
        return None;
    }
    let (merged, how) = merge(&file.base, &file.ours, &theirs);
    keep_base(&file.path, &theirs);
    file.base = theirs;
    file.ours.clone_from(&merged);
    Some(Update::SavedElsewhere { slot: file.slot.clone(), text: merged, how })
}

/// The text of both sides, from what they had in common.
pub fn merge(base: &str, ours: &str, theirs: &str) -> (String, Merged) {
    if ours == base || ours == theirs {
        return (theirs.to_owned(), Merged::Theirs);
    }
    let merged = similar::TextMerge::from_lines(base, ours, theirs);
    if merged.is_conflicted() { (theirs.to_owned(), Merged::Conflict) } else { (merged.to_string(), Merged::Both) }
}

/// Takes note of a write. What a full disk left of it is no text of anybody's; the window's journal has the whole.
fn written(file: &mut File, written: std::io::Result<()>) -> Option<Update> {
    file.known = seen(&file.path);
    file.last = file.known;
    match written {
        Ok(()) => {
            keep_base(&file.path, &file.ours);
            file.base.clone_from(&file.ours);
            file.failed = false;
            None
        }
        Err(_) if file.failed => None,
        Err(error) => {
            file.failed = true;
            let what = "The file that is open in your editor cannot be written";
            Some(Update::Problem(format!("{what} ({error}); it is tried again: {}", file.path.display())))
        }
    }
}

#[cfg(test)]
mod tests;
