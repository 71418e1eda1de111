//! A kernel's counters on the emulator beside those that Nsight Compute reads on a GPU: what `lockstep profile` finds, and
//! the window shows.

use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest that it may take: Nsight Compute runs the kernel once for each group of counters.
const TIME: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(50);
/// Longest answer that is read, in bytes.
const ANSWER_BYTES: u64 = 1 << 20;

/// One counter on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// As the table of counters has it: `global_load_requests`.
    pub name: String,
    /// What Nsight Compute calls it.
    pub metric: String,
    pub emulator: Option<u64>,
    pub gpu: Option<f64>,
}

/// A kernel's counters at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profiled {
    /// As the exercise names its sizes: `n = 65536`.
    pub case: String,
    pub rows: Vec<Row>,
    /// Why there are no hardware counters, where they were asked for.
    pub gpu_missing: Option<String>,
    /// The command line that has Nsight Compute count the same launch.
    pub ncu: String,
}

impl Profiled {
    pub fn has_gpu(&self) -> bool {
        self.rows.iter().any(|row| row.gpu.is_some())
    }
}

/// Why the two sides may differ, where they do.
pub const DIFFERENCES: [&str; 4] = [
    "The assembler may merge neighboring loads of a thread into a wider one: fewer requests and wavefronts.",
    "It may drop a load whose value is in a register already, or repeat one.",
    "A loop that waits for another thread takes another number of rounds on a GPU.",
    "cp.async writes shared memory; the emulator counts that as shared stores, Nsight Compute apart.",
];

/// What is to be profiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The day's id and the exercise's key.
    pub day: String,
    pub exercise: String,
    pub kernel: String,
    /// As `--device` takes it.
    pub device: String,
    pub data_dir: PathBuf,
    /// The folder that the course was read from; None is the built-in one.
    pub content: Option<PathBuf>,
}

/// Runs `lockstep profile --json` in a process of its own, which Nsight Compute can start again.
///
/// # Errors
/// A sentence: the kernel does not compile or is wrong, stopped, or too slow.
pub fn run(request: &Request, stop: &AtomicBool) -> Result<Profiled, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("Lockstep does not find its own program: {error}"))?;
    run_by(&program, request, stop)
}

/// As [`run`], by a program at that place.
///
/// # Errors
/// As [`run`].
pub fn run_by(program: &Path, request: &Request, stop: &AtomicBool) -> Result<Profiled, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a scratch folder cannot be made: {error}"))?;
    let path = folder.path().join("kernel.cu");
    std::fs::write(&path, &request.kernel)
        .map_err(|error| format!("the kernel cannot be written ({error}): {}", path.display()))?;
    let mut command = Command::new(program);
    command.args(["profile", &request.day, "--exercise", &request.exercise, "--json", "--device", &request.device]);
    command.arg("--data").arg(&request.data_dir).arg("--kernel").arg(&path);
    if let Some(content) = &request.content {
        command.arg("--content").arg(content);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child =
        command.spawn().map_err(|error| format!("Lockstep cannot start itself ({error}): {}", program.display()))?;
    let answer = read_aside(child.stdout.take());
    let complaint = read_aside(child.stderr.take());
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Err(error) => return Err(format!("the process was lost: {error}")),
            Ok(None) if stop.load(Ordering::Relaxed) => {
                crate::scripts::end(&mut child);
                return Err("stopped".to_owned());
            }
            Ok(None) if began.elapsed() > TIME => {
                crate::scripts::end(&mut child);
                return Err(format!("it was stopped after {} seconds", TIME.as_secs()));
            }
            Ok(None) => std::thread::sleep(POLL),
        }
    }
    understood(&answer.join().unwrap_or_default(), &complaint.join().unwrap_or_default())
}

/// Reads a pipe to its end, so that the process never waits for a reader.
fn read_aside(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What was read before an error is still worth showing.
            let _ = pipe.take(ANSWER_BYTES).read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The answer's counters, or the sentence that it has instead.
fn understood(answer: &str, complaint: &str) -> Result<Profiled, String> {
    if let Ok(profiled) = serde_json::from_str(answer) {
        return Ok(profiled);
    }
    #[derive(Deserialize)]
    struct Failed {
        error: String,
    }
    if let Ok(failed) = serde_json::from_str::<Failed>(answer) {
        return Err(failed.error);
    }
    let last = complaint.lines().chain(answer.lines()).rfind(|line| !line.trim().is_empty());
    Err(last.map_or_else(|| "the kernel was not counted".to_owned(), |line| line.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_counters_or_a_sentence() {
        let answer = r#"{"command": "profile", "version": 1, "day": "week1/day4", "exercise": "main", "kernel": "k.cu",
            "case": "n = 65536", "gpu_missing": null, "ncu": "ncu --csv",
            "rows": [{"name": "global_load_requests", "metric": "l1tex__t", "emulator": 4096, "gpu": 4096.0}]}"#;
        let profiled = understood(answer, "").unwrap();
        assert_eq!((profiled.case.as_str(), profiled.has_gpu()), ("n = 65536", true));
        assert_eq!(understood("", "note\nterminated\n"), Err("terminated".to_owned()));
        assert_eq!(understood("{\"error\": \"no size\"}", ""), Err("no size".to_owned()));
        assert_eq!(understood("", ""), Err("the kernel was not counted".to_owned()));
    }
}
