//! Where Lockstep keeps the learner's texts, progress, settings and fetched tools.

use std::path::PathBuf;

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
