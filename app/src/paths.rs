//! Where Lockstep keeps the learner's texts, progress, settings and fetched tools.

use std::path::{Path, PathBuf};

/// Names another data folder: tests, a shared classroom machine, a USB stick.
pub const DATA_VARIABLE: &str = "LOCKSTEP_DATA";

/// The data folder; not created here. `~/.local/share/lockstep` on Linux, `%APPDATA%\lockstep\data` on Windows,
/// or what [`DATA_VARIABLE`] names. A user with no home folder gets one in the system's temporary folder.
pub fn data_dir() -> PathBuf {
    if let Some(named) = std::env::var_os(DATA_VARIABLE).filter(|value| !value.is_empty()) {
        let named = PathBuf::from(named);
        return std::path::absolute(&named).unwrap_or(named);
    }
    match directories::ProjectDirs::from("", "", "lockstep") {
        Some(dirs) => dirs.data_dir().to_owned(),
        None => std::env::temp_dir().join("lockstep"),
    }
}

/// File of the data folder that names the profile used last.
const LAST_PROFILE: &str = "profile.txt";

/// True for what can be a profile's name: it becomes a folder's.
pub fn is_profile_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    !name.trim().is_empty() && name.trim() == name && name.chars().count() <= 40 && name.chars().all(plain)
}

/// Where a profile's texts and progress are; None is the data folder itself. The compiler is shared.
pub fn profile_dir(data_dir: &Path, name: Option<&str>) -> PathBuf {
    match name {
        Some(name) => data_dir.join("profiles").join(name),
        None => data_dir.to_owned(),
    }
}

/// Profiles of this machine by name, sorted.
pub fn profiles(data_dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(data_dir.join("profiles")).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| is_profile_name(name));
    names.sort();
    names
}

/// The profile that was open last, if it is still there.
pub fn last_profile(data_dir: &Path) -> Option<String> {
    let name = std::fs::read_to_string(data_dir.join(LAST_PROFILE)).ok()?.trim().to_owned();
    (is_profile_name(&name) && profile_dir(data_dir, Some(&name)).is_dir()).then_some(name)
}

/// Notes it for the next start; without the note the machine's own profile opens.
pub fn remember_profile(data_dir: &Path, name: Option<&str>) {
    let file = data_dir.join(LAST_PROFILE);
    // Best effort: a folder that cannot be written has been reported by the store.
    let _ = match name {
        Some(name) => std::fs::write(file, name),
        None => std::fs::remove_file(file),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_folders_with_plain_names() {
        for good in ["Ada", "Jürgen 2", "a-b_c"] {
            assert!(is_profile_name(good), "{good}");
        }
        for bad in ["", " ", "..", "a/b", "a\\b", ".hidden", " x", &"x".repeat(41)] {
            assert!(!is_profile_name(bad), "{bad}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(profiles(folder.path()), Vec::<String>::new());
        for name in ["Zoe", "Ada", "not.one"] {
            std::fs::create_dir_all(folder.path().join("profiles").join(name)).unwrap();
        }
        assert_eq!(profiles(folder.path()), ["Ada", "Zoe"]);
        remember_profile(folder.path(), Some("Ada"));
        assert_eq!(last_profile(folder.path()).as_deref(), Some("Ada"));
        remember_profile(folder.path(), None);
        assert_eq!(last_profile(folder.path()), None);
        remember_profile(folder.path(), Some("Gone"));
        assert_eq!(last_profile(folder.path()), None);
    }
}
