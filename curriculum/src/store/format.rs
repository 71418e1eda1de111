//! Which layout the data folder has. A program that is older than the folder must not write to it.

use super::StoreError;
use std::path::Path;

/// Raised only when an older Lockstep would misread or spoil what a newer one wrote; entries that are merely unknown
/// are kept by every version.
pub const FORMAT: u32 = 1;

/// File of the data folder with the number. Folders of before it was written have none; theirs is format 1.
const FILE: &str = "format.txt";

/// Refuses a newer folder, and notes the format of one that has no number yet.
///
/// # Errors
/// The folder was written by a newer Lockstep.
pub(super) fn claim(root: &Path) -> Result<(), StoreError> {
    let path = root.join(FILE);
    // A damaged number (an empty file after a power cut) is as good as none.
    let found = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse::<u32>().ok());
    match found {
        Some(found) if found > FORMAT => Err(StoreError::Newer { found, folder: root.to_owned() }),
        Some(FORMAT) => Ok(()),
        // Best effort: a folder that cannot be written is reported by whoever writes something that matters.
        _ => {
            let _ = std::fs::write(&path, format!("{FORMAT}\n"));
            Ok(())
        }
    }
}
