//! The learner's Python: which one it is, and what it says of itself.
//!
//! Nothing here lets it import from the folder that a terminal happens to be in: `python -c` and `python -m` look there first,
//! and a course folder of somebody else may hold a `csv.py`.

use gpu_core::compile::fetch::{NOT_FROM_HERE, PYTHON_NAMES, PYTHON_VARIABLE};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest that an interpreter may take to answer: a broken one may hang.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest answer, in bytes.
const ANSWER_BYTES: u64 = 1 << 20;

/// The names to try: the one that was chosen, or else those that Python usually has.
pub fn names(chosen: Option<&Path>) -> Vec<PathBuf> {
    let named = chosen.map(Path::to_owned);
    let named = named.or_else(|| std::env::var_os(PYTHON_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from));
    named.map_or_else(|| PYTHON_NAMES.map(PathBuf::from).to_vec(), |name| vec![name])
}

/// What an interpreter prints when it is asked `question`; None when it is absent, fails, is stopped or takes too long.
pub fn ask(name: &Path, question: &str, arguments: &[&str], stop: &AtomicBool) -> Option<String> {
    let mut command = Command::new(name);
    command.arg("-c").arg(format!("{NOT_FROM_HERE}\n{question}")).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let output = child.stdout.take()?;
    // Read meanwhile: a full pipe would hold it up.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.take(ANSWER_BYTES).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success().then(|| reader.join().unwrap_or_default()),
            Ok(None) if started.elapsed() < PATIENCE && !stop.load(Ordering::Relaxed) => {
                std::thread::sleep(Duration::from_millis(5));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// An interpreter, and what it must be able to read.
#[derive(Debug, PartialEq)]
pub struct Interpreter {
    pub program: PathBuf,
    /// Its own folders and those of its packages, and the program itself.
    pub reads: Vec<PathBuf>,
    /// Where the user's own packages lie below, which Python finds by the home folder otherwise.
    pub user_base: Option<PathBuf>,
}

/// The program, its folders and where packages are looked for, one a line. What PATH leads to may be a script of a version
/// manager that hides all of them.
const FOLDERS: &str = "
import sys, site
print('lockstep'); print(sys.executable); print(site.getuserbase())
for folder in [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix] + sys.path: print(folder)
";

/// Asks a Python where it lives. One that does not say is taken as it is named.
pub fn interpreter(name: &Path, stop: &AtomicBool) -> Interpreter {
    let answer = ask(name, FOLDERS, &[], stop).unwrap_or_default();
    let mut lines = answer.lines();
    let (program, user_base) = match (lines.next(), lines.next(), lines.next()) {
        (Some("lockstep"), Some(program), base) if Path::new(program).is_absolute() => (program.into(), base),
        _ => (found(name), None),
    };
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
    let mut reads: Vec<PathBuf> =
        lines.filter(|_| user_base.is_some()).flat_map(|line| parts(Path::new(line), home.as_deref())).collect();
    reads.extend(program.canonicalize());
    reads.push(program.clone());
    Interpreter { program, reads, user_base: user_base.map(PathBuf::from) }
}

/// A folder of Python's; of one that holds the home folder too, only what can be Python's.
fn parts(folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let around_home = home.is_some_and(|home| home.starts_with(folder));
    match (folder.is_absolute(), around_home) {
        (false, _) => Vec::new(),
        (true, false) => vec![folder.to_owned()],
        (true, true) => ["bin", "lib", "lib64", "include"].map(|part| folder.join(part)).to_vec(),
    }
}

/// The file that a name stands for: as the system looks for programs, and seen from any folder.
fn found(name: &Path) -> PathBuf {
    if name.components().count() > 1 {
        return std::path::absolute(name).unwrap_or_else(|_| name.to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
        .unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_says_where_it_lives() {
        let stop = AtomicBool::new(false);
        let Some(python) =
            names(None).into_iter().map(|name| interpreter(&name, &stop)).find(|one| one.user_base.is_some())
        else {
            return;
        };
        assert!(python.program.is_absolute() && python.program.is_file(), "{python:?}");
        assert!(
            python.reads.iter().any(|folder| folder.join("site-packages").is_dir() || folder.join("os.py").is_file())
        );
        let nowhere = interpreter(Path::new("/nowhere/python"), &stop);
        assert_eq!((nowhere.program.as_path(), nowhere.user_base), (Path::new("/nowhere/python"), None));
    }

    #[test]
    fn of_a_folder_around_the_home_folder_little_is_read() {
        let home = Some(Path::new("/home/a"));
        assert_eq!(parts(Path::new("/home/a/v/lib"), home), [Path::new("/home/a/v/lib")]);
        assert!(!parts(Path::new("/home/a"), home).contains(&PathBuf::from("/home/a")));
        assert!(!parts(Path::new("/"), home).contains(&PathBuf::from("/")));
        assert!(parts(Path::new(""), home).is_empty() && parts(Path::new("x"), home).is_empty());
    }
}
