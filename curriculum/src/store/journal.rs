//! The working text of one exercise on disk: `kernel.cu`, the text as anyone can read it, and `journal.jsonl`, every
//! edit since a base text. Either file alone brings the text back; the journal also brings undo back.

use super::disk::{Problem, append_lines, copy_aside, now_ms, read_text, write_atomically};
use super::history::{Delta, History};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

/// The journal is rewritten with its newest lines when it has more lines than this,
const MAX_LINES: usize = 8000;
/// keeping so many.
const KEPT_LINES: usize = 4000;
/// It is also rewritten, with the text only, when it has grown by more than this since the last time.
const MAX_BYTES: usize = 32 << 20;

/// One line of the journal. The first holds the whole text, the others a change.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edit: Option<Delta>,
    /// Chained over all lines so far: a line counts only after the very lines that it was written after.
    sum: String,
}

/// FNV-1a, 64 bits: finds torn and overwritten lines, at a cost that does not grow with the text.
fn chain(mut hash: u64, parts: &[&[u8]]) -> u64 {
    for part in parts {
        for byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

const CHAIN_START: u64 = 0xcbf2_9ce4_8422_2325;

fn chain_edit(hash: u64, delta: &Delta) -> u64 {
    let numbers = [delta.t.to_le_bytes(), (delta.at as u64).to_le_bytes()].concat();
    chain(hash, &[&numbers, delta.del.as_bytes(), delta.ins.as_bytes()])
}

/// Paths of one working text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Paths {
    pub root: PathBuf,
    pub text: PathBuf,
    pub journal: PathBuf,
}

struct Replayed {
    history: History,
    /// `kernel.cu` as found is one of the states that the journal went through.
    knows_text: bool,
    /// Lines after a place that makes no sense are not counted: more than a crash does.
    damaged: bool,
    /// The last line is incomplete, as a crash leaves it.
    torn: bool,
    lines: usize,
    hash: u64,
    /// How many bytes of the journal made sense.
    bytes: usize,
}

/// Applies a journal as far as it makes sense. None when not even the base is there.
fn replay(journal: &str, text: Option<&str>) -> Option<Replayed> {
    let mut lines = journal.split_inclusive('\n');
    let head = lines.next()?;
    let mut bytes = head.len();
    let first: Line = serde_json::from_str(head).ok()?;
    let base = first.base?;
    let mut hash = chain(CHAIN_START, &[base.as_bytes()]);
    if first.sum != format!("{hash:016x}") {
        return None;
    }
    let mut knows_text = text == Some(base.as_str());
    let mut history = History::new(base);
    let (mut damaged, mut torn, mut count) = (false, false, 1);
    for line in lines {
        let edit = serde_json::from_str::<Line>(line).ok().and_then(|line| Some((line.edit?, line.sum)));
        let fits = edit.is_some_and(|(delta, sum)| {
            let next = chain_edit(hash, &delta);
            let fits = sum == format!("{next:016x}") && history.push(delta);
            hash = if fits { next } else { hash };
            fits
        });
        if !fits {
            torn = !line.ends_with('\n');
            damaged = !torn;
            break;
        }
        count += 1;
        bytes += line.len();
        knows_text |= text == Some(history.text());
    }
    Some(Replayed { history, knows_text, damaged, torn, lines: count, hash, bytes })
}

/// A working text being written. Owned by the writer thread.
pub(crate) struct Journal {
    paths: Paths,
    text: String,
    hash: u64,
    lines: usize,
    bytes: usize,
    /// Lines not yet on disk; kept over a failed write, so that the next try has them.
    pending: String,
    /// The journal on disk does not end in the state above: write it anew,
    rewrite: bool,
    /// beginning with this: a base, or the sound part of the old one.
    sound: Option<String>,
}

/// Reads a working text; damage is reported and costs as little as possible. The history is None when nothing was
/// ever typed; then the journal begins with `start`, to which undo leads back.
pub(crate) fn open(paths: &Paths, start: &str, problems: &mut Vec<Problem>) -> (Journal, Option<History>) {
    let written = read_text(&paths.root, &paths.text, problems);
    let journal = read_text(&paths.root, &paths.journal, problems);
    let replayed = journal.as_ref().and_then(|journal| replay(journal, written.as_deref()));
    if journal.is_some() && replayed.as_ref().is_none_or(|replayed| replayed.damaged) {
        copy_aside(&paths.root, &paths.journal, problems);
    }
    let mut open = Journal {
        paths: paths.clone(),
        text: String::new(),
        hash: CHAIN_START,
        lines: 1,
        bytes: 0,
        pending: String::new(),
        rewrite: false,
        sound: None,
    };
    let Some(Replayed { mut history, knows_text, damaged, torn, lines, hash, bytes }) = replayed else {
        open.text = written.as_deref().unwrap_or(start).to_owned();
        let head = open.base_line();
        open.sound = Some(head);
        return (open, written.map(History::new));
    };
    (open.hash, open.lines, open.bytes) = (hash, lines, bytes);
    open.text = history.text().to_owned();
    open.rewrite = damaged || torn || written.is_none();
    open.sound = journal.filter(|_| open.rewrite).map(|mut journal| {
        journal.truncate(bytes);
        journal
    });
    // A text that the journal never had was changed by another program, or the journal's lines about it are the
    // damaged ones: it is the newer one, and what the journal ends with is one step of undo away.
    if let Some(outside) = written.filter(|_| !knows_text) {
        let now = now_ms();
        history.record(&outside, now);
        open.edit(&outside, now);
    }
    (open, Some(history))
}

impl Journal {
    /// Takes note of a new text in memory; cheap.
    pub fn edit(&mut self, text: &str, t: u64) {
        let Some(edit) = Delta::between(&self.text, text, t) else { return };
        self.text.clear();
        self.text.push_str(text);
        self.hash = chain_edit(self.hash, &edit);
        self.pending.push_str(&to_line(&Line { base: None, edit: Some(edit), sum: format!("{:016x}", self.hash) }));
        self.lines += 1;
    }

    /// Brings both files up to date. After an error the next call tries again with everything.
    pub fn write(&mut self) -> io::Result<()> {
        if self.pending.is_empty() && !self.rewrite {
            return Ok(());
        }
        // The journal first: a crash between the two leaves `kernel.cu` in a state that the journal knows.
        if let Some(sound) = self.sound.as_ref().filter(|sound| sound.ends_with('\n')) {
            let whole = format!("{sound}{}", self.pending);
            write_atomically(&self.paths.journal, whole.as_bytes())?;
            (self.rewrite, self.bytes, self.sound) = (false, whole.len(), None);
        } else if self.rewrite || self.bytes + self.pending.len() > MAX_BYTES + self.text.len() {
            self.start_anew()?;
        } else {
            // After a failed append nobody knows how much of it is there.
            self.rewrite = true;
            append_lines(&self.paths.journal, &self.pending)?;
            self.rewrite = false;
            self.bytes += self.pending.len();
        }
        self.pending.clear();
        write_atomically(&self.paths.text, self.text.as_bytes())?;
        if self.lines > MAX_LINES {
            self.shorten()?;
        }
        Ok(())
    }

    /// Writes a journal that holds the text only; what undo knew on disk is given up.
    fn start_anew(&mut self) -> io::Result<()> {
        let line = self.base_line();
        write_atomically(&self.paths.journal, line.as_bytes())?;
        (self.rewrite, self.lines, self.bytes) = (false, 1, line.len());
        Ok(())
    }

    /// The first line of a journal that begins with the present text.
    fn base_line(&mut self) -> String {
        self.hash = chain(CHAIN_START, &[self.text.as_bytes()]);
        to_line(&Line { base: Some(self.text.clone()), edit: None, sum: format!("{:016x}", self.hash) })
    }

    /// Rewrites the journal with its newest lines on a later base.
    fn shorten(&mut self) -> io::Result<()> {
        let journal = std::fs::read_to_string(&self.paths.journal)?;
        let lines: Vec<Line> = journal.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let Some(mut text) = lines.first().and_then(|line| line.base.clone()) else { return self.start_anew() };
        let edits: Vec<Delta> = lines.into_iter().filter_map(|line| line.edit).collect();
        let (old, kept) = edits.split_at(edits.len().saturating_sub(KEPT_LINES));
        if !old.iter().all(|edit| edit.apply(&mut text)) {
            return self.start_anew();
        }
        let mut hash = chain(CHAIN_START, &[text.as_bytes()]);
        let mut out = to_line(&Line { base: Some(text), edit: None, sum: format!("{hash:016x}") });
        for edit in kept {
            hash = chain_edit(hash, edit);
            out.push_str(&to_line(&Line { base: None, edit: Some(edit.clone()), sum: format!("{hash:016x}") }));
        }
        write_atomically(&self.paths.journal, out.as_bytes())?;
        (self.hash, self.lines, self.bytes) = (hash, kept.len() + 1, out.len());
        Ok(())
    }
}

fn to_line(line: &Line) -> String {
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn paths(dir: &Path) -> Paths {
        let folder = dir.join("days/x/main");
        Paths { root: dir.to_owned(), text: folder.join("kernel.cu"), journal: folder.join("journal.jsonl") }
    }

    fn opened(dir: &Path) -> (Journal, Option<History>, Vec<Problem>) {
        let mut problems = Vec::new();
        let (journal, history) = open(&paths(dir), "", &mut problems);
        (journal, history, problems)
    }

    /// Types each text with a pause between, writing after each.
    fn type_texts(dir: &Path, texts: &[&str]) {
        let (mut journal, _, _) = opened(dir);
        for (i, text) in texts.iter().enumerate() {
            journal.edit(text, i as u64 * 10_000);
            journal.write().unwrap();
        }
    }

    #[test]
    fn text_and_undo_come_back() {
        let dir = tempfile::tempdir().unwrap();
        assert!(opened(dir.path()).1.is_none());
        type_texts(dir.path(), &["int", "int a", "int", "int b"]);
        let (_, history, problems) = opened(dir.path());
        let mut history = history.unwrap();
        assert_eq!((history.text(), problems.len()), ("int b", 0));
        assert_eq!(history.undo(), Some(("int", 3)));
        assert_eq!(fs::read_to_string(paths(dir.path()).text).unwrap(), "int b");
    }

    #[test]
    fn a_journal_cut_at_any_byte_gives_a_state_that_was_typed() {
        let dir = tempfile::tempdir().unwrap();
        let typed = ["a", "a\u{e9}", "a\u{e9}\nb", "\u{e9}\nb", "\u{e9}\nb\"quoted\\\""];
        type_texts(dir.path(), &typed);
        let at = paths(dir.path());
        let whole = fs::read(&at.journal).unwrap();
        for cut in (0..=whole.len()).step_by(5) {
            fs::write(&at.journal, &whole[..cut]).unwrap();
            fs::write(&at.text, typed[0]).unwrap();
            let (mut journal, history, _) = opened(dir.path());
            let text = history.unwrap().text().to_owned();
            assert!(typed.contains(&text.as_str()), "cut at {cut} gave {text:?}");
            // Typing goes on and is found again.
            journal.edit("next", 1_000_000);
            journal.write().unwrap();
            assert_eq!(opened(dir.path()).1.unwrap().text(), "next", "cut at {cut}");
        }
    }

    #[test]
    fn a_damaged_journal_never_costs_the_text() {
        let dir = tempfile::tempdir().unwrap();
        type_texts(dir.path(), &["one", "one two", "one two three"]);
        let at = paths(dir.path());
        let whole = fs::read(&at.journal).unwrap();
        for byte in (0..whole.len()).step_by(7) {
            let mut bad = whole.clone();
            bad[byte] = if bad[byte] == b'#' { b'!' } else { b'#' };
            fs::write(&at.journal, &bad).unwrap();
            fs::write(&at.text, "one two three").unwrap();
            let (_, history, _) = opened(dir.path());
            assert_eq!(history.unwrap().text(), "one two three", "byte {byte}");
        }
    }

    #[test]
    fn a_lost_or_damaged_text_comes_back_from_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        type_texts(dir.path(), &["one", "one two"]);
        let at = paths(dir.path());
        for damage in [None, Some(&b"\0\0\0\0"[..]), Some(b"\xff\xff")] {
            match damage {
                None => fs::remove_file(&at.text).unwrap(),
                Some(bytes) => fs::write(&at.text, bytes).unwrap(),
            }
            let (mut journal, history, problems) = opened(dir.path());
            assert_eq!(history.unwrap().text(), "one two");
            assert_eq!(problems.is_empty(), damage.is_none());
            journal.write().unwrap();
            assert_eq!(fs::read_to_string(&at.text).unwrap(), "one two");
        }
    }

    #[test]
    fn a_change_by_another_program_is_kept_and_can_be_undone() {
        let dir = tempfile::tempdir().unwrap();
        type_texts(dir.path(), &["one", "one two"]);
        fs::write(paths(dir.path()).text, "from outside").unwrap();
        let (_, history, _) = opened(dir.path());
        let mut history = history.unwrap();
        assert_eq!(history.text(), "from outside");
        assert_eq!(history.undo().map(|(text, _)| text.to_owned()), Some("one two".to_owned()));
    }

    #[test]
    fn a_torn_line_costs_no_older_undo() {
        let dir = tempfile::tempdir().unwrap();
        type_texts(dir.path(), &["one", "one two"]);
        let at = paths(dir.path());
        let mut torn = fs::read_to_string(&at.journal).unwrap();
        torn.push_str("{\"edit\":{\"t\":3");
        fs::write(&at.journal, torn).unwrap();
        let (mut journal, _, problems) = opened(dir.path());
        assert_eq!(problems, []);
        journal.edit("one two three", 90_000);
        journal.write().unwrap();
        let mut history = opened(dir.path()).1.unwrap();
        for text in ["one two", "one"] {
            assert_eq!(history.undo().map(|(text, _)| text.to_owned()), Some(text.to_owned()));
        }
    }

    #[test]
    fn a_crash_between_the_two_files_keeps_the_newer() {
        let dir = tempfile::tempdir().unwrap();
        type_texts(dir.path(), &["one", "one two"]);
        fs::write(paths(dir.path()).text, "one").unwrap();
        assert_eq!(opened(dir.path()).1.unwrap().text(), "one two");
    }

    #[test]
    fn a_long_journal_is_shortened_and_keeps_recent_undo() {
        let dir = tempfile::tempdir().unwrap();
        let (mut journal, _, _) = opened(dir.path());
        let mut text = String::new();
        for i in 0..MAX_LINES as u64 + 10 {
            text.push_str(&format!("{i}\n"));
            journal.edit(&text, i * 10_000);
            if i % 500 == 0 {
                journal.write().unwrap();
            }
        }
        journal.write().unwrap();
        journal.edit("end", u64::MAX);
        journal.write().unwrap();
        let lines = fs::read_to_string(paths(dir.path()).journal).unwrap().lines().count();
        assert!(lines <= KEPT_LINES + 20, "{lines} lines");
        let (_, history, problems) = opened(dir.path());
        assert_eq!(problems, []);
        let mut history = history.unwrap();
        assert_eq!(history.text(), "end");
        assert_eq!(history.undo().map(|(text, _)| text.len()), Some(text.len()));
    }
}
