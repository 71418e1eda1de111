//! Runs the built `lockstep` as a person would, with a data folder of its own and no display.

#![allow(dead_code, reason = "each test program uses a part")]

use gpu_core::compile::locate;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// No command of a test may take longer.
const PATIENCE: Duration = Duration::from_secs(600);

/// Where NVRTC is. Fails, and says how to get it, when it is nowhere: these tests prove nothing without it.
pub fn nvrtc() -> PathBuf {
    match locate::locate(None, &lockstep::paths::data_dir()) {
        Ok(found) => found.nvrtc,
        Err(error) => panic!("this test needs NVRTC. {error}"),
    }
}

/// A learner's machine.
pub struct Machine {
    folder: tempfile::TempDir,
    with_nvrtc: bool,
}

/// How a command ended.
pub struct Ended {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Machine {
    pub fn new() -> Self {
        Machine { folder: tempfile::tempdir().expect("a scratch folder"), with_nvrtc: true }
    }

    /// A machine where no NVRTC is found, whatever this one has.
    pub fn without_nvrtc() -> Self {
        Machine { with_nvrtc: false, ..Machine::new() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("LOCKSTEP_DATA", self.path("data")).env_remove("CLICOLOR_FORCE");
        for display in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
            command.env_remove(display);
        }
        if self.with_nvrtc {
            command.env("LOCKSTEP_NVRTC", nvrtc());
        } else {
            command.env("LOCKSTEP_NVRTC", self.path("no-such-folder"));
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        end(self.command(arguments))
    }

    /// A command with `--json`: its one object and its status.
    pub fn json(&self, arguments: &[&str]) -> (Value, i32) {
        let ended = self.run(&[arguments, &["--json"]].concat());
        let value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| {
            panic!("{arguments:?} printed no JSON object ({error}): {}{}", ended.stdout, ended.stderr)
        });
        (value, ended.status)
    }
}

/// Runs to the end; a command that hangs fails the test instead of the whole run.
pub fn end(mut command: Command) -> Ended {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("lockstep starts");
    let id = child.id();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let output: Output =
        receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{command:?} (process {id}) hangs")).unwrap();
    let ended = Ended {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    };
    assert!(!ended.stderr.contains("panicked"), "{command:?}\n{}", ended.stderr);
    assert!(!ended.stdout.contains('\x1b'), "colour codes in a pipe: {}", ended.stdout);
    ended
}

/// Waits until `ready` is true.
pub fn wait_for(child: &mut Child, what: &str, mut ready: impl FnMut() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(child.try_wait().unwrap().is_none(), "the command ended before {what}");
        assert!(started.elapsed() < PATIENCE, "no {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Ended {
    /// Asserts the status and a text in standard error.
    #[track_caller]
    pub fn fails(&self, status: i32, said: &[&str]) {
        assert_eq!(self.status, status, "{}{}", self.stdout, self.stderr);
        for text in said {
            assert!(self.stderr.contains(text), "`{text}` is missing in: {}{}", self.stderr, self.stdout);
        }
    }

    /// Asserts success and texts in standard output.
    #[track_caller]
    pub fn shows(&self, said: &[&str]) {
        assert_eq!(self.status, 0, "{}{}", self.stdout, self.stderr);
        for text in said {
            assert!(self.stdout.contains(text), "`{text}` is missing in: {}{}", self.stdout, self.stderr);
        }
    }
}

/// Folder of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
