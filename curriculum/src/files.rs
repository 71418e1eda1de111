//! Where the course's text comes from: the table embedded by `build.rs`, or a folder, or the one over the other.

use crate::error::ContentError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// What a course is made of; the same list as in `build.rs`. Anything else below a day is reported by the checks.
pub const EXTENSIONS: [&str; 7] = ["csv", "md", "toml", "cu", "cuh", "py", "svg"];

/// Longest text file accepted: a lesson of this size would be a mistake, and reading it would freeze the window.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// A course's files by path with forward slashes, for example `curriculum/week1/day4-first-kernel/lesson.md`.
#[derive(Clone, Debug, Default)]
pub struct Files {
    texts: BTreeMap<String, String>,
    /// Files that are no part of a course, by the same kind of path; only a folder has them.
    strangers: Vec<String>,
}

impl Files {
    /// The files compiled into this program.
    pub fn embedded() -> Self {
        let texts = EMBEDDED.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self { texts, strangers: Vec::new() }
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
            found.read_tree(dir, &dir.join(part), &mut errors);
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
        Self { texts: texts.into_iter().map(|(p, t)| (p.into(), t.into())).collect(), strangers: Vec::new() }
    }

    fn read_tree(&mut self, root: &Path, folder: &Path, errors: &mut Vec<ContentError>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // The crate's own files lie beside the words; a contributor's Python leaves caches behind; `others` holds
            // test kernels, which are no part of a course.
            let ours = path.parent().is_some_and(|p| p == root.join("curriculum"))
                && ["src", "tests", "Cargo.toml", "build.rs"].contains(&name.as_str());
            if name.starts_with('.') || ["__pycache__", "README.md", "others"].contains(&name.as_str()) || ours {
                continue;
            }
            if path.is_dir() {
                self.read_tree(root, &path, errors);
                continue;
            }
            let key = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            if !path.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known)) {
                self.strangers.push(key);
                continue;
            }
            match read_text(&path) {
                Ok(text) => {
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
    let size = std::fs::metadata(path).map_err(|e| format!("a readable file ({e})"))?.len();
    if size > MAX_FILE_BYTES {
        return Err(format!(
            "a text of at most {} MB (this file has {:.1} MB)",
            MAX_FILE_BYTES >> 20,
            size as f64 / 1e6
        ));
    }
    let bytes = std::fs::read(path).map_err(|e| format!("a readable file ({e})"))?;
    // Windows checkouts carry carriage returns; lines and anchors are compared without them.
    String::from_utf8(bytes)
        .map(|text| text.replace("\r\n", "\n"))
        .map_err(|e| format!("UTF-8 text (byte {} is not)", e.utf8_error().valid_up_to()))
}
