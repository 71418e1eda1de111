//! Compiled kernels on disk, by hash of everything that decides the result.

use super::options::{Arch, RECIPE_VERSION};
use super::{CompileReport, Toolchain};
use crate::compile::Source;
use crate::entries::Entries;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Names another folder than the data folder for what can be made again: a classroom with small homes.
pub const CACHE_VARIABLE: &str = "LOCKSTEP_CACHE";

/// Where compiled kernels and unpacked headers go: what [`CACHE_VARIABLE`] names, else the data folder.
pub fn base(data_dir: &Path) -> PathBuf {
    match std::env::var_os(CACHE_VARIABLE).filter(|value| !value.is_empty()) {
        Some(named) => std::path::absolute(&named).unwrap_or_else(|_| named.into()),
        None => data_dir.to_owned(),
    }
}

/// Most that the cache keeps, in bytes. A report has some 10 to 500 kB.
const MAX_BYTES: u64 = 512 << 20;
/// Writes between two looks at the size, on average: listing thousands of files takes milliseconds.
const WRITES_PER_SWEEP: u32 = 64;

/// The folder of cached reports.
pub struct Cache {
    entries: Entries,
}

/// Hash over source, headers, options, architecture and compiler, in hexadecimal. The compiler counts by path, size
/// and time of its library, which tell versions apart without loading it.
pub fn key(toolchain: &Toolchain, source: &Source, arch: Arch) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        // Lengths keep neighbours apart.
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(&RECIPE_VERSION.to_le_bytes());
    part(env!("CARGO_PKG_VERSION").as_bytes());
    part(toolchain.nvrtc.as_os_str().as_encoded_bytes());
    if let Ok(metadata) = std::fs::metadata(&toolchain.nvrtc) {
        part(&metadata.len().to_le_bytes());
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        part(&changed.map_or(0, |time| time.as_nanos()).to_le_bytes());
    }
    for folder in &toolchain.include_dirs {
        part(folder.as_os_str().as_encoded_bytes());
    }
    part(arch.to_string().as_bytes());
    part(&(source.options.len() as u64).to_le_bytes());
    source.options.iter().for_each(|option| part(option.as_bytes()));
    part(&(source.headers.len() as u64).to_le_bytes());
    for (name, text) in &source.headers {
        part(name.as_bytes());
        part(text.as_bytes());
    }
    part(source.name.as_bytes());
    part(source.text.as_bytes());
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Cache {
    /// The cache of a data folder. Touches nothing yet.
    pub fn new(data_dir: &Path) -> Self {
        Cache { entries: Entries::new(base(data_dir).join("cache").join("compile")) }
    }

    /// The report, when there is a sound entry. Anything else counts as absent and is written anew later.
    pub fn read(&self, key: &str) -> Option<CompileReport> {
        self.entries.read(key)
    }

    /// Stores a report. Failure (a full disk) only costs time later.
    pub fn write(&self, key: &str, report: &CompileReport) {
        let _ = self.entries.write(key, report);
        if rand::random::<u32>().is_multiple_of(WRITES_PER_SWEEP) {
            self.entries.sweep_to(MAX_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn report(ptx: &str) -> CompileReport {
        CompileReport { succeeded: true, ptx: ptx.to_owned(), cubin: vec![1, 2, 3], ..CompileReport::default() }
    }

    fn source(name: &str, text: &str) -> Source {
        Source { name: name.to_owned(), text: text.to_owned(), headers: Vec::new(), options: Vec::new() }
    }

    #[test]
    fn gives_back_what_was_stored_and_ignores_what_is_broken() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        assert_eq!(cache.read("k"), None);
        cache.write("k", &report("ptx"));
        assert_eq!(cache.read("k"), Some(report("ptx")));
        for broken in [&b""[..], b"short", &[7; 300]] {
            std::fs::write(cache.entries.path("k"), broken).unwrap();
            assert_eq!(cache.read("k"), None);
        }
        cache.write("k", &report("again"));
        assert_eq!(cache.read("k"), Some(report("again")));
    }

    #[test]
    fn forgets_the_entries_unused_for_longest() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        for (age, key) in ["new", "middle", "old"].into_iter().enumerate() {
            cache.write(key, &report(&"x".repeat(1000)));
            let file = std::fs::File::options().write(true).open(cache.entries.path(key)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(1000 * age as u64)).unwrap();
        }
        cache.entries.sweep_to(2500);
        assert!(cache.read("old").is_none());
        assert!(cache.read("middle").is_some() && cache.read("new").is_some());
    }

    #[test]
    fn everything_that_decides_the_result_changes_the_key() {
        let toolchain = |nvrtc: &str| Toolchain {
            nvrtc: PathBuf::from(nvrtc),
            builtins: None,
            include_dirs: Vec::new(),
            nvdisasm: None,
            origin: String::new(),
        };
        let arch = |text| Arch::parse(text).unwrap();
        let with = |option: &str| Source { options: vec![option.to_owned()], ..source("a", "b") };
        let header = |text: &str| Source { headers: vec![("h".into(), text.into())], ..source("a", "b") };
        let keys = [
            key(&toolchain("/x"), &source("a", "b"), arch("sm_90a")),
            key(&toolchain("/y"), &source("a", "b"), arch("sm_90a")),
            key(&toolchain("/x"), &source("ab", ""), arch("sm_90a")),
            key(&toolchain("/x"), &source("a", "c"), arch("sm_90a")),
            key(&toolchain("/x"), &source("a", "b"), arch("sm_90")),
            key(&toolchain("/x"), &with("-DX"), arch("sm_90a")),
            key(&toolchain("/x"), &header("1"), arch("sm_90a")),
            key(&toolchain("/x"), &header("2"), arch("sm_90a")),
        ];
        let different: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(different.len(), keys.len());
    }
}
