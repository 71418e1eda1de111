//! Installs the pinned compiler wheels into the data folder with the user's own pip and index configuration. No
//! toolkit, no administrator. Each package is unpacked beside its place and renamed into it, so that an interrupted
//! installation leaves nothing that looks complete.

use super::Toolchain;
use super::locate::{NotFound, TOOLCHAIN_FOLDER, locate};
pub use super::wheels::Package;
use super::wheels::{Platform, VERSION, WHEELS, Wheel};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Commands that may start Python 3, in the order tried.
pub const PYTHON_NAMES: [&str; 3] = ["python3", "python", "py"];

/// Names the Python to install with, before [`PYTHON_NAMES`].
pub const PYTHON_VARIABLE: &str = "LOCKSTEP_PYTHON";

/// A line of Python before any other: `python -c` and `python -m` look for modules in the folder that a terminal happens to be
/// in first, and a folder of somebody else's may hold a `csv.py`.
pub const NOT_FROM_HERE: &str = "import sys; sys.path[:] = [folder for folder in sys.path if folder]";

/// The arguments that run a module as `-m` does, but for [`NOT_FROM_HERE`].
pub fn module(name: &str) -> [String; 2] {
    let run = format!("{NOT_FROM_HERE}; import runpy; runpy.run_module('{name}', run_name='__main__', alter_sys=True)");
    ["-c".to_owned(), run]
}

/// How often the child and the stop flag are looked at.
const POLL: Duration = Duration::from_millis(50);

/// Where an installation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done, for example `nvidia-cuda-nvrtc 13.5.37`.
    pub what: String,
    /// Bytes downloaded of all packages together.
    pub done_bytes: u64,
    pub total_bytes: u64,
}

/// Why nothing was installed. Every message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(
        "NVIDIA publishes no CUDA compiler for {os} on {arch}: use another machine as a remote device \
         (see README.md, \"Remote devices\")",
        os = std::env::consts::OS,
        arch = std::env::consts::ARCH
    )]
    Platform,
    #[error(
        "Python 3 was not found (tried {tried}): install it (Debian, Ubuntu: `sudo apt-get install python3 python3-pip`; \
         Windows: the installer of python.org), or set {PYTHON_VARIABLE} to it"
    )]
    NoPython { tried: String },
    #[error(
        "{python} has no pip and cannot make a virtual environment with one: install it (Debian, Ubuntu: \
         `sudo apt-get install python3-pip`; Fedora: `sudo dnf install python3-pip`) and try again"
    )]
    NoPip { python: String },
    #[error(
        "the package index could not be reached: check the network or pip's index settings and try again. pip said: {0}"
    )]
    Network(String),
    #[error(
        "a downloaded package is not the one that Lockstep was tested with (its SHA-256 differs), so it was not \
         installed: check the index that pip is set to use. pip said: {0}"
    )]
    Hash(String),
    #[error("cannot write to the data folder ({source}): free some space (200 MB) or set LOCKSTEP_DATA to another folder: {}", path.display())]
    Disk { path: PathBuf, source: std::io::Error },
    #[error("pip failed: {0}")]
    Pip(String),
    #[error("the installation was stopped; nothing was left half-installed")]
    Stopped,
    #[error("installed, yet not found afterwards: {0}")]
    NotFoundAfterwards(NotFound),
}

/// Bytes that [`fetch`] downloads on this machine for `what`; packages that are there already count nothing.
pub fn download_bytes(data_dir: &Path, what: &[Package]) -> u64 {
    let Some(platform) = Platform::of_this_machine() else { return 0 };
    wheels_for(WHEELS, platform, what)
        .iter()
        .filter(|wheel| !package_folder(data_dir, wheel.package).is_dir())
        .map(|wheel| wheel.download_bytes)
        .sum()
}

/// Installs those of `what` that are missing and returns the toolchain. Calls `progress` often; set `stop` from another
/// thread or a signal handler to give up within a tenth of a second. Two processes may call it at once: the second
/// waits for the first.
pub fn fetch(
    data_dir: &Path,
    what: &[Package],
    progress: &mut dyn FnMut(Progress),
    stop: &AtomicBool,
) -> Result<Toolchain, FetchError> {
    let platform = Platform::of_this_machine().ok_or(FetchError::Platform)?;
    let python = std::env::var_os(PYTHON_VARIABLE).filter(|v| !v.is_empty());
    Installer { table: WHEELS, platform, python, environment: Vec::new() }.install(data_dir, what, progress, stop)?;
    // The packages just installed, not whatever LOCKSTEP_NVRTC names.
    locate(Some(&package_folder(data_dir, Package::Nvrtc)), data_dir)
        .map(|found| Toolchain { origin: "Lockstep's data folder".into(), ..found })
        .map_err(FetchError::NotFoundAfterwards)
}

/// Removes what [`fetch`] installed, so that the next call starts afresh.
pub fn remove(data_dir: &Path) -> Result<(), FetchError> {
    for package in Package::ALL {
        let folder = package_folder(data_dir, package);
        if folder.is_dir() {
            fs::remove_dir_all(&folder).map_err(|source| FetchError::Disk { path: folder, source })?;
        }
    }
    Ok(())
}

fn package_folder(data_dir: &Path, package: Package) -> PathBuf {
    data_dir.join(TOOLCHAIN_FOLDER).join(format!("{}-{VERSION}", package.name()))
}

fn wheels_for(table: &'static [Wheel], platform: Platform, what: &[Package]) -> Vec<&'static Wheel> {
    table.iter().filter(|wheel| wheel.platform == platform && what.contains(&wheel.package)).collect()
}

/// What an installation depends on, so that tests can give it a small index and a Python of their own.
struct Installer {
    table: &'static [Wheel],
    platform: Platform,
    python: Option<OsString>,
    /// Added to pip's environment.
    environment: Vec<(&'static str, OsString)>,
}

impl Installer {
    fn install(
        &self,
        data_dir: &Path,
        what: &[Package],
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<(), FetchError> {
        let root = data_dir.join(TOOLCHAIN_FOLDER);
        let disk = |source| FetchError::Disk { path: root.clone(), source };
        fs::create_dir_all(&root).map_err(disk)?;
        let lock = fs::File::create(root.join(".lock")).map_err(disk)?;
        while let Err(error) = lock.try_lock() {
            if let fs::TryLockError::Error(source) = error {
                return Err(disk(source));
            }
            wait(stop, "another Lockstep is installing", progress)?;
        }
        // Under the lock, what is still partial belongs to a process that died.
        for entry in fs::read_dir(&root).map_err(disk)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(".partial-") {
                fs::remove_dir_all(entry.path()).map_err(disk)?;
            }
        }
        let missing: Vec<&Wheel> = wheels_for(self.table, self.platform, what)
            .into_iter()
            .filter(|wheel| !package_folder(data_dir, wheel.package).is_dir())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let scratch = tempfile::Builder::new().prefix(".partial-").tempdir_in(&root).map_err(disk)?;
        let python = self.python_with_pip(scratch.path(), progress, stop)?;
        let total_bytes = missing.iter().map(|wheel| wheel.download_bytes).sum();
        let mut before = 0;
        for wheel in missing {
            let mut report = |done: u64| {
                let what = format!("{} {VERSION}", wheel.package.name());
                progress(Progress { what, done_bytes: before + done.min(wheel.download_bytes), total_bytes });
            };
            report(0);
            let unpacked = self.unpack(&python, wheel, scratch.path(), &mut report, stop)?;
            fs::rename(&unpacked, package_folder(data_dir, wheel.package)).map_err(disk)?;
            before += wheel.download_bytes;
        }
        Ok(())
    }

    /// Lets pip download, verify and unpack one wheel into a new folder in `scratch`.
    fn unpack(
        &self,
        python: &Path,
        wheel: &Wheel,
        scratch: &Path,
        report: &mut dyn FnMut(u64),
        stop: &AtomicBool,
    ) -> Result<PathBuf, FetchError> {
        let name = wheel.package.name();
        let disk = |source| FetchError::Disk { path: scratch.to_owned(), source };
        let target = scratch.join(name);
        let temporary = scratch.join(format!("{name}.tmp"));
        let requirements = scratch.join(format!("{name}.txt"));
        fs::create_dir_all(&temporary).map_err(disk)?;
        fs::write(&requirements, format!("{name}=={VERSION} --hash=sha256:{}\n", wheel.sha256)).map_err(disk)?;
        let mut command = Command::new(python);
        command
            .args(module("pip"))
            .args(["install", "--require-hashes", "--only-binary", ":all:", "--no-deps", "--no-compile"])
            .args(["--no-input", "--disable-pip-version-check", "--progress-bar", "off"])
            // This program's, which need not be Python's: a 32-bit Python is common on Windows.
            .args(["--platform", self.platform.tag(), "--target"])
            .arg(&target)
            .arg("-r")
            .arg(&requirements)
            // pip downloads into the temporary folder: its growth is the progress, with any version of pip.
            .envs(["TMPDIR", "TEMP", "TMP"].map(|variable| (variable, &temporary)))
            // Settings that make sense for the user's own installations and contradict --target.
            .env("PIP_USER", "0")
            .env_remove("PIP_PREFIX")
            .env_remove("PIP_REQUIRE_VIRTUALENV")
            .envs(self.environment.iter().map(|(variable, value)| (variable, value)));
        let output =
            run_watched(&mut command, stop, &mut || report(bytes_in(&temporary))).map_err(|problem| match problem {
                Problem::Stopped => FetchError::Stopped,
                Problem::Io(source) => FetchError::Pip(format!("cannot start {}: {source}", python.display())),
            })?;
        if !output.succeeded {
            return Err(explain(&output.text, scratch));
        }
        if !target.is_dir() {
            return Err(FetchError::Pip(format!("it reported success, yet installed nothing for {name}")));
        }
        Ok(target)
    }

    /// A Python whose pip works; makes a private virtual environment when the system's has none.
    fn python_with_pip(
        &self,
        scratch: &Path,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<PathBuf, FetchError> {
        let candidates: Vec<PathBuf> = match &self.python {
            Some(python) => vec![PathBuf::from(python)],
            None => PYTHON_NAMES.iter().map(PathBuf::from).collect(),
        };
        let works = |python: &Path, first: [String; 2], rest: &[&str]| -> Result<bool, FetchError> {
            let mut command = Command::new(python);
            command.args(first).args(rest).envs(self.environment.iter().map(|(k, v)| (k, v)));
            match run_watched(&mut command, stop, &mut || ()) {
                Ok(output) => Ok(output.succeeded),
                Err(Problem::Stopped) => Err(FetchError::Stopped),
                Err(Problem::Io(_)) => Ok(false),
            }
        };
        let mut pythons = Vec::new();
        for python in &candidates {
            if works(python, ["-c", "import sys; sys.exit(sys.version_info < (3, 7))"].map(str::to_owned), &[])? {
                pythons.push(python);
            }
        }
        for python in &pythons {
            if works(python, module("pip"), &["--version"])? {
                return Ok(python.to_path_buf());
            }
        }
        let Some(python) = pythons.first() else {
            let tried: Vec<String> = candidates.iter().map(|c| c.display().to_string()).collect();
            return Err(FetchError::NoPython { tried: tried.join(", ") });
        };
        progress(Progress { what: "preparing pip".into(), done_bytes: 0, total_bytes: 0 });
        let venv = scratch.join("venv");
        let inside = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python3" });
        let folder = venv.to_string_lossy();
        if works(python, module("venv"), &[&folder])? && works(&inside, module("pip"), &["--version"])? {
            return Ok(inside);
        }
        Err(FetchError::NoPip { python: python.display().to_string() })
    }
}

fn wait(stop: &AtomicBool, what: &str, progress: &mut dyn FnMut(Progress)) -> Result<(), FetchError> {
    if stop.load(Ordering::Relaxed) {
        return Err(FetchError::Stopped);
    }
    progress(Progress { what: what.to_owned(), done_bytes: 0, total_bytes: 0 });
    std::thread::sleep(POLL);
    Ok(())
}

enum Problem {
    Stopped,
    Io(std::io::Error),
}

struct Output {
    succeeded: bool,
    /// Standard output and error together.
    text: String,
}

/// Runs a command to its end, or kills it when `stop` is set; calls `tick` meanwhile.
fn run_watched(command: &mut Command, stop: &AtomicBool, tick: &mut dyn FnMut()) -> Result<Output, Problem> {
    if stop.load(Ordering::Relaxed) {
        return Err(Problem::Stopped);
    }
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(Problem::Io)?;
    // Readers of their own, so that a talkative child never blocks on a full pipe.
    let reader = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                let _ = pipe.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = reader(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let err = reader(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let status = loop {
        if stop.load(Ordering::Relaxed) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Problem::Stopped);
        }
        match child.try_wait().map_err(Problem::Io)? {
            Some(status) => break status,
            None => std::thread::sleep(POLL),
        }
        tick();
    };
    let mut text = out.join().unwrap_or_default();
    text.push_str(&err.join().unwrap_or_default());
    Ok(Output { succeeded: status.success(), text })
}

/// Turns pip's output into one cause with one remedy.
fn explain(text: &str, scratch: &Path) -> FetchError {
    // The last line that states an error; pip prints hints and tracebacks around it.
    let line = text
        .lines()
        .rfind(|line| line.starts_with("ERROR") || line.contains("Error:"))
        .or_else(|| text.lines().rfind(|line| !line.trim().is_empty()))
        .unwrap_or("nothing")
        .trim()
        .to_owned();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["DO NOT MATCH THE HASHES", "HashMismatch"]) {
        let got = text.lines().rfind(|line| line.trim_start().starts_with("Got")).unwrap_or(&line);
        FetchError::Hash(got.trim().to_owned())
    } else if says(&["No space left", "Errno 28", "Disk quota"]) {
        FetchError::Disk { path: scratch.to_owned(), source: std::io::Error::other("no space left") }
    } else if says(&[
        "NewConnectionError",
        "ConnectTimeout",
        "ReadTimeout",
        "Max retries",
        "Could not find a version",
        "No matching distribution",
        "Temporary failure in name resolution",
        "SSLError",
        "ProxyError",
        "HTTP error",
    ]) {
        FetchError::Network(line)
    } else {
        FetchError::Pip(line)
    }
}

/// Bytes of all files below `folder`.
fn bytes_in(folder: &Path) -> u64 {
    let mut total = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(data) if data.is_dir() => total += bytes_in(&entry.path()),
            Ok(data) => total += data.len(),
            Err(_) => {}
        }
    }
    total
}

#[cfg(test)]
mod tests;
