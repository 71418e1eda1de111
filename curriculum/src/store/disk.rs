//! Files that survive being killed at any moment: atomic replacement, durable appends, and reading with care.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Something about the learner's files that went wrong and was handled; shown once, never swallowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What happened and what became of the data, one sentence.
    pub message: String,
    pub path: PathBuf,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.message, self.path.display())
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Replaces a file so that after a crash there is either the old or the new content: write beside it, sync, rename,
/// sync the folder.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("a path with a folder"))?;
    fs::create_dir_all(folder)?;
    let mut name = path.file_name().ok_or_else(|| io::Error::other("a path with a file name"))?.to_owned();
    // One writer per data folder (there is a lock), so that a fixed name is enough and no litter grows.
    name.push(".writing");
    let beside = folder.join(name);
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&beside, path)?;
    sync_folder(folder)
}

/// Makes a rename durable. Only Unix lets a folder be opened and synced.
fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Appends whole lines and syncs. A torn line left by a crash is closed first, so that it cannot swallow a new one.
pub(crate) fn append_lines(path: &Path, lines: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let mut text = String::new();
    let before = file.metadata()?.len();
    if before > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            text.push('\n');
        }
    }
    text.push_str(lines);
    // Half a line of a full disk would stay in the way of the next try.
    file.write_all(text.as_bytes()).inspect_err(|_| drop(file.set_len(before)))?;
    file.sync_data()
}

/// A text file's content; None when there is none. What is no text is moved aside and reported.
pub(crate) fn read_text(root: &Path, path: &Path, problems: &mut Vec<Problem>) -> Option<String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            problems.push(Problem { message: format!("cannot be read ({error})"), path: path.to_owned() });
            move_aside(root, path, problems);
            return None;
        }
    };
    match String::from_utf8(bytes) {
        // File systems fill the lost end of a file with zeros after a power cut.
        Ok(text) if !text.contains('\0') => Some(text),
        _ => {
            problems.push(Problem { message: "is not text".to_owned(), path: path.to_owned() });
            move_aside(root, path, problems);
            None
        }
    }
}

/// A text file's content with what is no text replaced: for files that are read line by line and never rewritten.
pub(crate) fn read_text_lossy(path: &Path, problems: &mut Vec<Problem>) -> Option<String> {
    match fs::read(path) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            problems.push(Problem { message: format!("cannot be read ({error})"), path: path.to_owned() });
            None
        }
    }
}

/// Moves a damaged file into `aside/`, so that nothing is overwritten and a person can look at it.
pub(crate) fn move_aside(root: &Path, path: &Path, problems: &mut Vec<Problem>) {
    let label = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace(['/', '\\'], "_");
    let folder = root.join("aside");
    let target = folder.join(format!("{}-{label}", now_ms()));
    let moved = fs::create_dir_all(&folder).and_then(|()| fs::rename(path, &target));
    let (message, path) = match moved {
        Ok(()) => (format!("{} was damaged and is kept here", name_of(path)), target),
        Err(error) => (format!("is damaged and could not be moved aside ({error})"), path.to_owned()),
    };
    problems.push(Problem { message, path });
}

fn name_of(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().map_or_else(|| path.to_string_lossy(), std::ffi::OsStr::to_string_lossy)
}

/// Copies a damaged file into `aside/` and leaves the original for its readable part.
pub(crate) fn copy_aside(root: &Path, path: &Path, problems: &mut Vec<Problem>) {
    let label = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace(['/', '\\'], "_");
    let folder = root.join("aside");
    let target = folder.join(format!("{}-{label}", now_ms()));
    let (message, path) = match fs::create_dir_all(&folder).and_then(|()| fs::copy(path, &target)) {
        Ok(_) => (format!("{} was damaged in part; a copy is kept here", name_of(path)), target),
        Err(error) => (format!("is damaged in part and could not be copied aside ({error})"), path.to_owned()),
    };
    problems.push(Problem { message, path });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_does_not_swallow_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/runs.jsonl");
        append_lines(&path, "one\n").unwrap();
        fs::write(&path, "one\ntw").unwrap();
        append_lines(&path, "three\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntw\nthree\n");
    }

    #[test]
    fn what_is_no_text_is_moved_aside_and_told() {
        let dir = tempfile::tempdir().unwrap();
        for bytes in [&b"\xff\xfe"[..], b"abc\0\0\0"] {
            let path = dir.path().join("days/x/kernel.cu");
            write_atomically(&path, bytes).unwrap();
            let mut problems = Vec::new();
            assert_eq!(read_text(dir.path(), &path, &mut problems), None);
            assert!(!path.exists());
            let kept = &problems.last().unwrap().path;
            assert_eq!(fs::read(kept).unwrap(), bytes);
            fs::remove_file(kept).unwrap();
        }
    }

    #[test]
    fn a_folder_in_the_way_is_a_problem_and_not_a_panic() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("kernel.cu");
        fs::create_dir(&path).unwrap();
        assert!(write_atomically(&path, b"x").is_err());
        let mut problems = Vec::new();
        assert_eq!(read_text(dir.path(), &path, &mut problems), None);
        assert!(!problems.is_empty());
    }
}
