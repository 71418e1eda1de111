//! All of a learner's state as one file, to move between computers.

use super::disk::{now_ms, write_atomically};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
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

/// Settings that name a program, a library, or a folder whose scripts are run: never taken from a file that somebody else may
/// have written, unless the learner says so of each.
const PROGRAMS: [(&str, &str); 5] = [
    ("nvrtc", "the library that compiles every kernel"),
    ("python", "the program that runs Python rungs"),
    ("editor", "the program that opens a kernel elsewhere"),
    ("remotes", "commands that reach other machines, given to the shell"),
    ("content", "a folder with a course, whose Python rungs can be run"),
];
/// Settings that a state file may bring; others are not taken over.
const HARMLESS: [&str; 10] = [
    "theme",
    "scale",
    "editor_points",
    "device",
    "projector",
    "close_brackets",
    "wrap_lines",
    "tab_width",
    "reduced_motion",
    "tour_seen",
];

/// A setting of a state file that was not taken over, because it names something that would be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// Its name in `settings.toml`.
    pub setting: String,
    /// What it is for, as a phrase.
    pub purpose: &'static str,
    /// As it stands in the file.
    pub value: toml::Value,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// Texts of the file.
    pub files: usize,
    /// Settings that were left out; the learner may take each with [`super::Settings::take`].
    pub offered: Vec<Offered>,
}

/// The settings that result: harmless ones of the file, and of this machine those that name programs.
fn settings_of(own: &str, theirs: &str) -> (String, Vec<Offered>) {
    let table = |text: &str| toml::from_str::<toml::Table>(text).unwrap_or_default();
    let (own, mut theirs) = (table(own), table(theirs));
    let mut offered = Vec::new();
    for (setting, purpose) in PROGRAMS {
        if let Some(value) = theirs.remove(setting).filter(|value| own.get(setting) != Some(value)) {
            offered.push(Offered { setting: setting.to_owned(), purpose, value });
        }
    }
    let is_harmless = |setting: &str| HARMLESS.contains(&setting);
    theirs.retain(|setting, _| is_harmless(setting));
    theirs.extend(own.into_iter().filter(|(setting, _)| !is_harmless(setting)));
    (toml::to_string(&theirs).unwrap_or_default(), offered)
}

/// Reads a state file into the data folder. What it replaces is kept in `aside/`; run histories are joined.
pub(crate) fn import(root: &Path, from: &Path) -> Result<Imported, BundleError> {
    let file = |what, path: &Path| {
        let path = path.to_owned();
        move |error| BundleError::File { what, error, path }
    };
    let format = |found: String| BundleError::Format { found, path: from.to_owned() };
    let told = fs::metadata(from).map_err(file("read", from))?;
    if !told.is_file() || told.len() > MAX_BYTES {
        return Err(format(if told.is_file() {
            format!("found {} bytes", told.len())
        } else {
            "found no file".to_owned()
        }));
    }
    // Whatever the system says of its size: no more than is accepted is read.
    let mut text = String::new();
    let read = fs::File::open(from).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text));
    read.map_err(file("read", from))?;
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
    let mut offered = Vec::new();
    let kept = root.join("aside").join(format!("{}-before-import", now_ms()));
    for (name, text) in &bundle.files {
        let path = root.join(name);
        let old = fs::read(&path).unwrap_or_default();
        let new = match name.as_str() {
            "settings.toml" => {
                let (settings, left) = settings_of(&String::from_utf8_lossy(&old), text);
                offered = left;
                settings
            }
            name if name.ends_with("runs.jsonl") => joined(&String::from_utf8_lossy(&old), text),
            _ => text.clone(),
        };
        if old == new.as_bytes() {
            continue;
        }
        if !old.is_empty() {
            write_atomically(&kept.join(name), &old).map_err(file("kept aside", &path))?;
        }
        write_atomically(&path, new.as_bytes()).map_err(file("written", &path))?;
    }
    Ok(Imported { files: bundle.files.len(), offered })
}

/// Lines of both without repetitions, those of the old file first.
fn joined(old: &str, new: &str) -> String {
    let known: std::collections::HashSet<&str> = old.lines().collect();
    let added = new.lines().filter(|line| !known.contains(line));
    old.lines().chain(added).flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_brings_no_program() {
        let own = "theme = \"dark\"\npython = \"/usr/bin/python3\"\nkept = 1\n";
        let theirs = "theme = \"light\"\nscale = 2.0\nnvrtc = \"/tmp/evil\"\npython = \"/tmp/evil.sh\"\n\
                      remotes = [{ name = \"a\", command = \"rm -r ~\" }]\nstart = \"rm\"\n";
        let (text, offered) = settings_of(own, theirs);
        let table: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(table["theme"].as_str(), Some("light"));
        assert_eq!(table["python"].as_str(), Some("/usr/bin/python3"));
        assert!(table.contains_key("kept") && !text.contains("evil") && !text.contains("rm"), "{text}");
        let names: Vec<&str> = offered.iter().map(|offered| offered.setting.as_str()).collect();
        assert_eq!(names, ["nvrtc", "python", "remotes"]);
        assert_eq!(settings_of(own, own).1, []);
    }

    /// Every setting is either harmless or asked for: a new one has to be thought about.
    #[test]
    fn every_setting_is_one_or_the_other() {
        let remote = super::super::Remote { name: "a".into(), command: "b".into() };
        let settings = super::super::Settings {
            theme: super::super::ThemeChoice::Dark,
            scale: 2.0,
            editor_points: 20.0,
            nvrtc: Some("a".into()),
            content: Some("a".into()),
            remotes: vec![remote],
            device: Some("a".into()),
            python: Some("a".into()),
            projector: true,
            close_brackets: false,
            wrap_lines: true,
            tab_width: 8,
            reduced_motion: true,
            tour_seen: true,
            editor: Some("a".into()),
            other: toml::Table::new(),
        };
        let table: toml::Table = toml::from_str(&settings.to_text()).unwrap();
        let known = PROGRAMS.len() + HARMLESS.len();
        assert_eq!(table.len(), known, "{table:?}");
        let of_both = |name: &str| HARMLESS.contains(&name) || PROGRAMS.iter().any(|(program, _)| *program == name);
        assert!(table.keys().all(|name| of_both(name)), "{table:?}");
    }
}
