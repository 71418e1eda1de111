//! All of a learner's state as one file, to move between computers.

use super::disk::{now_ms, write_atomically};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

const FORMAT: &str = "lockstep-state";
const VERSION: u32 = 1;
/// Larger than any honest history; keeps a wrong file from filling memory.
const MAX_BYTES: u64 = 1 << 30;

/// Why a state file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("cannot be {what} ({error}): {}", .path.display())]
    File { what: &'static str, error: std::io::Error, path: PathBuf },
    #[error("expected a state file that Lockstep exported ({found}): {}", .path.display())]
    Format { found: String, path: PathBuf },
    #[error("was written by a newer Lockstep (format {found}, this one reads up to {VERSION}); update this one: {}", .path.display())]
    Newer { found: u32, path: PathBuf },
    #[error("the data folder is open for reading only; close the other Lockstep first")]
    ReadOnly,
}

#[derive(Serialize, Deserialize)]
struct Bundle {
    format: String,
    version: u32,
    /// Text by path from the data folder, with forward slashes.
    files: BTreeMap<String, String>,
}

/// Writes every text of the data folder into one file; returns how many.
pub(crate) fn export(root: &Path, to: &Path) -> Result<usize, BundleError> {
    let mut files = BTreeMap::new();
    collect(root, root, &mut files);
    let count = files.len();
    let bundle = Bundle { format: FORMAT.to_owned(), version: VERSION, files };
    let text = serde_json::to_string_pretty(&bundle).unwrap_or_default();
    write_atomically(to, text.as_bytes()).map_err(|error| BundleError::File {
        what: "written",
        error,
        path: to.to_owned(),
    })?;
    Ok(count)
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        if path.is_dir() && belongs(&name) {
            collect(root, &path, files);
        } else if belongs(&name)
            && let Ok(text) = fs::read_to_string(&path)
        {
            files.insert(name, text);
        }
    }
}

/// True for the paths that make up a learner's state, and for nothing outside the data folder.
fn belongs(name: &str) -> bool {
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let known = ["settings.toml", "progress.toml", "days"].contains(&name) || name.starts_with("days/");
    plain && known && !name.contains('\\') && !name.ends_with(".writing")
}

/// Reads a state file into the data folder. What it replaces is kept in `aside/`; run histories are joined.
pub(crate) fn import(root: &Path, from: &Path) -> Result<usize, BundleError> {
    let file = |what, path: &Path| {
        let path = path.to_owned();
        move |error| BundleError::File { what, error, path }
    };
    let format = |found: String| BundleError::Format { found, path: from.to_owned() };
    let size = fs::metadata(from).map_err(file("read", from))?.len();
    if size > MAX_BYTES {
        return Err(format(format!("found {size} bytes")));
    }
    let text = fs::read_to_string(from).map_err(file("read", from))?;
    let bundle: Bundle = serde_json::from_str(&text).map_err(|error| format(error.to_string()))?;
    if bundle.format != FORMAT {
        return Err(format(format!("found the format `{}`", bundle.format)));
    }
    if bundle.version > VERSION {
        let (found, path) = (bundle.version, from.to_owned());
        return Err(BundleError::Newer { found, path });
    }
    // All names are looked at before anything is touched.
    if let Some(stranger) = bundle.files.keys().find(|name| !belongs(name)) {
        return Err(format(format!("found a file `{stranger}` in it")));
    }
    // A file that was cut or edited must not take the place of one that can be read.
    for (name, text) in bundle.files.iter().filter(|(name, _)| name.ends_with(".toml")) {
        if let Err(error) = toml::from_str::<toml::Table>(text) {
            let first = error.to_string().lines().next().unwrap_or_default().to_owned();
            return Err(format(format!("its `{name}` is damaged, {first}")));
        }
    }
    let kept = root.join("aside").join(format!("{}-before-import", now_ms()));
    for (name, text) in &bundle.files {
        let path = root.join(name);
        let old = fs::read(&path).unwrap_or_default();
        let new =
            if name.ends_with("runs.jsonl") { joined(&String::from_utf8_lossy(&old), text) } else { text.clone() };
        if old == new.as_bytes() {
            continue;
        }
        if !old.is_empty() {
            write_atomically(&kept.join(name), &old).map_err(file("kept aside", &path))?;
        }
        write_atomically(&path, new.as_bytes()).map_err(file("written", &path))?;
    }
    Ok(bundle.files.len())
}

/// Lines of both without repetitions, those of the old file first.
fn joined(old: &str, new: &str) -> String {
    let known: std::collections::HashSet<&str> = old.lines().collect();
    let added = new.lines().filter(|line| !known.contains(line));
    old.lines().chain(added).flat_map(|line| [line, "\n"]).collect()
}
