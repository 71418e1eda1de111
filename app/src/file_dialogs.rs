//! Files that the learner picks, with the desktop's own dialog. They block; call them on a thread of their own.
//!
//! A Linux desktop may have none: no portal and no zenity, as over ssh or with a bare window manager. rfd then answers
//! like somebody who cancels. A person needs longer for that, so a quick None is taken for a missing dialog: what was to
//! be saved goes into the folder for downloads, and what was to be opened says what to install.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// No dialog is drawn, read and cancelled in less.
const QUICKEST_PERSON: Duration = Duration::from_millis(250);

/// Who is asked where a file is.
#[derive(Clone, Debug)]
pub enum Picker {
    /// The learner, with the desktop's dialogs.
    Learner,
    /// Nobody: what is saved goes into this folder, and nothing is opened. A test that meets a dialog neither shows it
    /// on its desktop nor leaves files in somebody's home.
    Folder(PathBuf),
}

impl Picker {
    /// Where to save a file; None when the learner cancelled.
    pub fn to_save(&self, title: &str, name: &str) -> Option<PathBuf> {
        match self {
            Picker::Learner => to_save(title, name),
            Picker::Folder(folder) => Some(free_name(folder, name)),
        }
    }

    /// What to open, of files with these endings by the name of their kind; None when the learner cancelled.
    ///
    /// # Errors
    /// This desktop has no file dialog; says what to install.
    pub fn to_open(&self, title: &str, kinds: &[(&str, &[&str])]) -> Result<Option<PathBuf>, String> {
        match self {
            Picker::Learner => to_open(title, kinds),
            Picker::Folder(_) => Ok(None),
        }
    }
}

fn to_save(title: &str, name: &str) -> Option<PathBuf> {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let dialog = rfd::FileDialog::new().set_title(title).set_file_name(name);
    let began = Instant::now();
    match dialog.add_filter(kind(ending), &[ending]).save_file() {
        // Some dialogs leave the ending to the person.
        Some(path) if path.extension().is_none() => Some(path.with_extension(ending)),
        Some(path) => Some(path),
        None if is_missing(began) => Some(free_name(&downloads(), name)),
        None => None,
    }
}

fn to_open(title: &str, kinds: &[(&str, &[&str])]) -> Result<Option<PathBuf>, String> {
    let dialog = rfd::FileDialog::new().set_title(title);
    let dialog = kinds.iter().fold(dialog, |dialog, (name, endings)| dialog.add_filter(*name, endings));
    let began = Instant::now();
    match dialog.pick_file() {
        None if is_missing(began) => {
            Err("This desktop has no file dialog: install zenity or xdg-desktop-portal".to_owned())
        }
        picked => Ok(picked),
    }
}

fn is_missing(began: Instant) -> bool {
    cfg!(target_os = "linux") && began.elapsed() < QUICKEST_PERSON
}

fn kind(ending: &str) -> &'static str {
    match ending {
        "cu" => "CUDA C++",
        "json" => "Lockstep state",
        "html" => "Web page",
        "svg" | "png" => "Picture",
        _ => "File",
    }
}

/// The folder for downloads, else the user's own, else the one for temporary files.
fn downloads() -> PathBuf {
    let dirs = directories::UserDirs::new();
    let of_user = dirs.map(|dirs| dirs.download_dir().unwrap_or(dirs.home_dir()).to_owned());
    of_user.filter(|folder| folder.is_dir()).unwrap_or_else(std::env::temp_dir)
}

/// A name that nothing there has: `plot.svg`, `plot-2.svg`, …
fn free_name(folder: &Path, name: &str) -> PathBuf {
    let (stem, ending) = name.rsplit_once('.').map_or((name, String::new()), |(stem, end)| (stem, format!(".{end}")));
    let more = (2..).map(|number| folder.join(format!("{stem}-{number}{ending}")));
    let mut names = std::iter::once(folder.join(name)).chain(more);
    names.find(|path| !path.exists()).unwrap_or_else(|| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_learner_files_go_into_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let picker = Picker::Folder(folder.path().to_owned());
        assert_eq!(picker.to_save("Save the page", "keys.html"), Some(folder.path().join("keys.html")));
        assert_eq!(picker.to_open("Import a kernel", &[("CUDA C++", &["cu"])]), Ok(None));
    }

    #[test]
    fn nothing_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        for expected in ["plot.svg", "plot-2.svg", "plot-3.svg"] {
            let path = free_name(folder.path(), "plot.svg");
            assert_eq!(path, folder.path().join(expected));
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(free_name(folder.path(), "keys"), folder.path().join("keys"));
    }
}
