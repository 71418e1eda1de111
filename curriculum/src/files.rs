//! Where the course's text comes from: the table embedded by `build.rs`, or a folder, or the one over the other.

use crate::error::ContentError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// What a course is made of; the same list as in `build.rs`. Anything else below a day is reported by the checks.
pub const EXTENSIONS: [&str; 7] = ["csv", "md", "toml", "cu", "cuh", "py", "svg"];

/// Longest text file accepted: a lesson of this size would be a mistake, and reading it would freeze the window.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Of a whole course; ours has less than a tenth of it.
const MAX_COURSE_BYTES: u64 = 128 << 20;
/// Entries of one folder, and folders in one another, that are looked at.
const MOST_ENTRIES: usize = 10_000;
const MOST_FOLDERS_DEEP: usize = 12;

/// A course's files by path with forward slashes, for example `curriculum/week1/day4-first-kernel/lesson.md`.
#[derive(Clone, Debug, Default)]
pub struct Files {
    texts: BTreeMap<String, String>,
    /// Files that are no part of a course, by the same kind of path; only a folder has them.
    strangers: Vec<String>,
    /// Of all texts that were read from a folder.
    bytes: u64,
}

/// Whether a script is one of those compiled into this program, whatever folder it was read from.
pub fn is_own_script(text: &str) -> bool {
    embedded().any(|(path, own)| path.ends_with(".py") && own == text)
}

/// Path and text of every file that `build.rs` compiled in.
fn embedded() -> impl Iterator<Item = (&'static str, String)> {
    let texts = lz4_flex::block::decompress_size_prepended(EMBEDDED_TEXTS).expect("packed by build.rs");
    let mut texts = String::from_utf8(texts).expect("packed from texts by build.rs");
    // From the end: each text is then split off what is left, and nothing is moved.
    EMBEDDED.iter().rev().map(move |(path, bytes)| (*path, texts.split_off(texts.len() - bytes)))
}

impl Files {
    /// The files compiled into this program.
    pub fn embedded() -> Self {
        let texts = embedded().map(|(path, text)| (path.to_owned(), text)).collect();
        Self { texts, ..Self::default() }
    }

    /// Reads `dir/curriculum` and `dir/kernels`. A folder with `curriculum/course.toml` is a whole course and stands
    /// alone; without it the folder's files replace the embedded ones of the same path, which is how an instructor
    /// adapts one lesson or translates day by day.
    ///
    /// # Errors
    /// The folder cannot be read, holds neither part, or a file is not UTF-8 or too long; all such files at once.
    pub fn from_folder(dir: &Path) -> Result<Self, Vec<ContentError>> {
        let mut found = Self::default();
        let mut errors = Vec::new();
        for part in ["curriculum", "kernels"] {
            found.read_tree(dir, &dir.join(part), 0, &mut errors);
        }
        if found.bytes > MAX_COURSE_BYTES {
            errors.push(ContentError::new(
                dir.display().to_string(),
                0,
                format!("a course of at most {} MB in all", MAX_COURSE_BYTES >> 20),
            ));
        }
        if found.texts.is_empty() && errors.is_empty() {
            errors.push(ContentError::new(
                dir.display().to_string(),
                0,
                "a folder that holds `curriculum/` or `kernels/` with course files",
            ));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        if found.texts.contains_key("curriculum/course.toml") {
            return Ok(found);
        }
        let mut merged = Self::embedded();
        merged.texts.extend(found.texts);
        merged.strangers = found.strangers;
        Ok(merged)
    }

    /// A course given as text, for tests of the loader and the checks.
    pub fn from_texts<P: Into<String>, T: Into<String>>(texts: impl IntoIterator<Item = (P, T)>) -> Self {
        Self { texts: texts.into_iter().map(|(p, t)| (p.into(), t.into())).collect(), ..Self::default() }
    }

    fn read_tree(&mut self, root: &Path, folder: &Path, depth: usize, errors: &mut Vec<ContentError>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut paths: Vec<PathBuf> = entries.flatten().take(MOST_ENTRIES).map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if self.bytes > MAX_COURSE_BYTES || depth > MOST_FOLDERS_DEEP {
                return;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // The crate's own files lie beside the words; a contributor's Python leaves caches behind; `others` holds
            // test kernels, which are no part of a course.
            let ours = path.parent().is_some_and(|p| p == root.join("curriculum"))
                && ["src", "tests", "Cargo.toml", "build.rs"].contains(&name.as_str());
            if name.starts_with('.') || ["__pycache__", "README.md", "others"].contains(&name.as_str()) || ours {
                continue;
            }
            let key = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            // As it is, and not what a link leads to: a course is what lies in its folder.
            let kind = std::fs::symlink_metadata(&path).map(|metadata| metadata.file_type());
            match kind {
                Ok(kind) if kind.is_dir() => {
                    self.read_tree(root, &path, depth + 1, errors);
                    continue;
                }
                Ok(kind) if kind.is_file() => {}
                Ok(kind) => {
                    let found = if kind.is_symlink() { "a link" } else { "no regular file" };
                    errors.push(ContentError::new(
                        key,
                        0,
                        format!("a file or folder of the course itself (found {found})"),
                    ));
                    continue;
                }
                Err(error) => {
                    errors.push(ContentError::new(key, 0, format!("a readable file ({error})")));
                    continue;
                }
            }
            if !path.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known)) {
                self.strangers.push(key);
                continue;
            }
            match read_text(&path) {
                Ok(text) => {
                    self.bytes += text.len() as u64;
                    if let Some((line, expected)) = crate::limits::of(&key, &text) {
                        errors.push(ContentError::new(&key, line, expected));
                    }
                    self.texts.insert(key, text);
                }
                Err(expected) => errors.push(ContentError::new(key, 0, expected)),
            }
        }
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    pub fn strangers(&self) -> &[String] {
        &self.strangers
    }

    /// Files below `folder` (any depth), as the rest of the path and the text, in order of path.
    pub fn below<'a>(&'a self, folder: &str) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let length = prefix.len();
        self.texts
            .range(prefix.clone()..)
            .take_while(move |(path, _)| path.starts_with(&prefix))
            .map(move |(path, text)| (&path[length..], text.as_str()))
    }

    /// Names of the folders directly below `folder`, in order.
    pub fn folders<'a>(&'a self, folder: &str) -> Vec<&'a str> {
        let mut names: Vec<&str> =
            self.below(folder).filter_map(|(path, _)| path.split_once('/').map(|(first, _)| first)).collect();
        names.dedup();
        names
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    use std::io::Read;
    let unreadable = |error: std::io::Error| format!("a readable file ({error})");
    let mut bytes = Vec::new();
    // Whatever the system says of its size: no more than is accepted is read.
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("a text of at most {} MB", MAX_FILE_BYTES >> 20));
    }
    // Windows checkouts carry carriage returns; lines and anchors are compared without them.
    String::from_utf8(bytes)
        .map(|text| text.replace("\r\n", "\n"))
        .map_err(|e| format!("UTF-8 text (byte {} is not)", e.utf8_error().valid_up_to()))
}
