//! A folder of things that were made once and can be made again: each under a name that says what decides it, with a hash in
//! front, so that half an entry or a foreign one counts as absent.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Hash in front of an entry.
const DIGEST_BYTES: usize = 32;
/// A read marks an entry as used at most this often.
const TOUCH_AGE: Duration = Duration::from_secs(3600);

/// The folder.
pub struct Entries {
    folder: PathBuf,
}

impl Entries {
    /// Touches nothing yet.
    pub fn new(folder: PathBuf) -> Self {
        Entries { folder }
    }

    pub fn path(&self, key: &str) -> PathBuf {
        self.folder.join(key)
    }

    /// What is kept under `key`, when there is a sound entry.
    pub fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let path = self.path(key);
        let bytes = std::fs::read(&path).ok()?;
        let (digest, payload) = bytes.split_at_checked(DIGEST_BYTES)?;
        if digest != Sha256::digest(payload).as_slice() {
            return None;
        }
        let value = postcard::from_bytes(payload).ok()?;
        mark_used(&path);
        Some(value)
    }

    /// # Errors
    /// The folder or the file cannot be written, which only costs time later.
    pub fn write(&self, key: &str, value: &impl Serialize) -> std::io::Result<()> {
        let payload = postcard::to_stdvec(value).map_err(std::io::Error::other)?;
        std::fs::create_dir_all(&self.folder)?;
        // Written aside and renamed, so that no reader meets half an entry.
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
        file.write_all(&Sha256::digest(&payload))?;
        file.write_all(&payload)?;
        file.persist(self.path(key))?;
        Ok(())
    }

    /// Every file with its last use and its size, in bytes; the one unused for longest first.
    fn files(&self) -> Vec<(SystemTime, u64, PathBuf)> {
        let entry = |entry: std::io::Result<std::fs::DirEntry>| {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        };
        let mut files: Vec<_> = std::fs::read_dir(&self.folder).into_iter().flatten().filter_map(entry).collect();
        files.sort();
        files
    }

    /// Removes the entries unused for longest until at most `max_bytes` remain.
    pub fn sweep_to(&self, max_bytes: u64) {
        let files = self.files();
        let mut total: u64 = files.iter().map(|file| file.1).sum();
        for (_, bytes, path) in files {
            if total <= max_bytes {
                break;
            }
            if std::fs::remove_file(path).is_ok() {
                total -= bytes;
            }
        }
    }

    /// Removes the entries that nobody used for so long.
    pub fn sweep_older(&self, age: Duration) {
        let old = |time: SystemTime| time.elapsed().is_ok_and(|unused| unused > age);
        for (_, _, path) in self.files().into_iter().take_while(|file| old(file.0)) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The time of last change serves as the time of last use: access times are often switched off.
fn mark_used(path: &Path) {
    let old = |time: SystemTime| time.elapsed().is_ok_and(|age| age > TOUCH_AGE);
    if std::fs::metadata(path).and_then(|metadata| metadata.modified()).is_ok_and(old)
        && let Ok(file) = std::fs::File::options().write(true).open(path)
    {
        let _ = file.set_modified(SystemTime::now());
    }
}
