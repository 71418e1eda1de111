//! Python scripts: the day's work in NumPy, CuPy, Numba or Triton, run by the learner's own Python; and Lockstep's own
//! programs of `crate::measure`, which speak the same.
//!
//! A script prints one line of JSON for each size (`name`, `rung`, `device`, `median_ms`, `ok`, where it makes sense
//! `gflops` or `gbps`), or one with `error`; what else it prints is passed on. It runs in a process of its own and is
//! killed when it is stopped or takes too long, and in a jail where the system has one (`gpu_core::worker::confine_script`).

#[cfg(test)]
mod jail_tests;
mod kept;
#[cfg(test)]
mod tests;

pub use kept::{ScriptKey, ScriptRun, load, save};

use crate::python;
use gpu_core::compile::fetch::PYTHON_VARIABLE;
use gpu_core::worker::confine_script;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Longest that a script may run: a first import of PyTorch takes a minute on a slow disk.
const TIME: Duration = Duration::from_secs(600);
/// Longest complaint that is passed on, in bytes.
const COMPLAINT_BYTES: u64 = 64 << 10;

/// Longest line, and most lines, that are read of a script.
const LINE_BYTES: u64 = 1 << 20;
const MOST_LINES: usize = 20_000;
/// Most bytes of all its lines.
const MOST_BYTES: usize = 16 << 20;
/// Longest text of one line that is shown, and longest name in a figure, in bytes.
const SHOWN_BYTES: usize = 4096;
const NAME_BYTES: usize = 256;
/// How long the output of what a script left behind is waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What a script found at one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// As the exercise names its sizes: `n = 1048576`.
    pub name: String,
    /// `triton`, `numpy` …
    pub rung: String,
    pub device: String,
    /// None where it was not measured, as in an interpreter.
    pub median_ms: Option<f64>,
    /// Percentiles 20 and 80, where it tells them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p20_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p80_ms: Option<f64>,
    /// 10^9 operations, or bytes, a second; for work that has a number of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gflops: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gbps: Option<f64>,
    /// Error norm over the norm of the float64 result, where it tells that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_error: Option<f64>,
    /// What was done when, in the sample that is nearest to the median.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// The result was right.
    pub ok: bool,
}

/// A piece of time on one of the engines that work side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    pub engine: Engine,
    /// Counts from 0.
    pub iteration: u32,
    /// Which piece of the iteration, where it is cut into several.
    #[serde(default)]
    pub piece: u32,
    pub start_us: f64,
    pub end_us: f64,
}

/// What works on a GPU at the same time: both copy directions, and the multiprocessors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    CopyIn,
    Compute,
    CopyOut,
}

/// One line of a script's output.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    Figure(Figure),
    /// Any other text that it printed.
    Said(String),
}

#[derive(Deserialize)]
struct Complaint {
    error: String,
}

/// A script, and what it is given.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// Its file's name.
    pub file: &'a str,
    pub source: &'a str,
    pub arguments: &'a [String],
    /// What it may read beside Python and the system's libraries.
    pub reads: &'a [PathBuf],
}

/// Runs a script; `python` is the learner's choice of interpreter. Gives each line as it comes.
///
/// # Errors
/// A sentence: no Python, a missing package (in the script's own words), a wrong result, stopped, or too slow.
pub fn run(
    python: Option<&Path>,
    script: Script<'_>,
    stop: &AtomicBool,
    each: &mut dyn FnMut(Line),
) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a scratch folder cannot be made: {error}"))?;
    let path = folder.path().join(script.file);
    std::fs::write(&path, script.source)
        .map_err(|error| format!("the script cannot be written ({error}): {}", path.display()))?;
    let child = start(python, &path, script, folder.path(), stop)?;
    finish(child, script.file, stop, each)
}

/// Runs one of Lockstep's own programs as `lockstep measure NAME --lines`.
///
/// # Errors
/// As [`run`].
pub fn run_program(name: &str, stop: &AtomicBool, each: &mut dyn FnMut(Line)) -> Result<(), String> {
    let program =
        std::env::current_exe().map_err(|error| format!("Lockstep does not find its own program: {error}"))?;
    let child = Command::new(&program)
        .args(["measure", name, "--lines"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("Lockstep cannot start itself ({error}): {}", program.display()))?;
    finish(child, name, stop, each)
}

/// What the small model is to write with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoding {
    /// A format as `lockstep decode --cache` takes it.
    pub cache: &'static str,
    /// The learner's text; None is the course's kernel.
    pub kernel: Option<String>,
    /// As `--device` takes it.
    pub device: String,
    pub data_dir: PathBuf,
}

/// Runs `lockstep decode --lines`: a line about the run, then a figure for each token.
///
/// # Errors
/// As [`run`].
pub fn run_decoding(request: &Decoding, stop: &AtomicBool, each: &mut dyn FnMut(Line)) -> Result<(), String> {
    let program =
        std::env::current_exe().map_err(|error| format!("Lockstep does not find its own program: {error}"))?;
    let folder = tempfile::tempdir().map_err(|error| format!("a scratch folder cannot be made: {error}"))?;
    let mut command = Command::new(&program);
    command.args(["decode", "--lines", "--cache", request.cache, "--device", &request.device, "--data"]);
    command.arg(&request.data_dir);
    if let Some(kernel) = &request.kernel {
        let path = folder.path().join("kernel.cu");
        std::fs::write(&path, kernel)
            .map_err(|error| format!("the kernel cannot be written ({error}): {}", path.display()))?;
        command.arg("--kernel").arg(path);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Its workers are of its group, and end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child =
        command.spawn().map_err(|error| format!("Lockstep cannot start itself ({error}): {}", program.display()))?;
    finish(child, "decode", stop, each)
}

/// Follows a process to its end.
fn finish(mut child: Child, file: &str, stop: &AtomicBool, each: &mut dyn FnMut(Line)) -> Result<(), String> {
    let ended = follow(&mut child, stop, each);
    end(&mut child);
    let status = child.wait().map_err(|error| format!("the process was lost: {error}"))?;
    let (complaint, wrong) = ended?;
    match (status.success(), complaint) {
        (true, _) => Ok(()),
        (false, Some(complaint)) => Err(complaint),
        (false, None) if wrong => Err("the result was wrong".to_owned()),
        (false, None) => Err(format!("{file} ended with {status}")),
    }
}

/// Whether a process has ended. It is left to be waited for: its number stays its own until then, and its group's too.
fn has_ended(child: &mut Child) -> bool {
    #[cfg(unix)]
    // SAFETY: an all-zero structure is a valid one, and the pointer leads to it. The child has not been waited for.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let asked = libc::waitid(libc::P_PID, child.id(), &mut info, libc::WEXITED | libc::WNOWAIT | libc::WNOHANG);
        asked != 0 || info.si_pid() != 0
    }
    #[cfg(not(unix))]
    !matches!(child.try_wait(), Ok(None))
}

/// Ends a process that leads a group of its own, and what it started, also when it has ended itself.
pub(crate) fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = -(child.id() as i32);
        // SAFETY: a plain system call. The group is the child's own, see `start`; the child has not been waited for.
        unsafe { libc::kill(group, libc::SIGKILL) };
    }
    let _ = child.kill();
}

fn start(
    chosen: Option<&Path>,
    path: &Path,
    script: Script<'_>,
    scratch: &Path,
    stop: &AtomicBool,
) -> Result<Child, String> {
    wake_gpu();
    let mut problem = String::new();
    for name in python::names(chosen) {
        let found = python::interpreter(&name, stop);
        if stop.load(Ordering::Relaxed) {
            return Err("stopped".to_owned());
        }
        let mut command = Command::new(&found.program);
        command.arg("-u").arg(path).args(script.arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its home folder is another one in the jail.
        command.envs(found.user_base.as_ref().map(|base| ("PYTHONUSERBASE", base)));
        // A group of its own, which ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        confine_script(&mut command, &[&found.reads, script.reads].concat(), scratch)?;
        match command.spawn() {
            Ok(child) => return Ok(child),
            Err(error) => problem = format!("{}: {error}", name.display()),
        }
    }
    Err(format!("Python 3 was not found ({problem}); install it, name it in the settings, or set {PYTHON_VARIABLE}"))
}

/// The first program that uses CUDA since the machine started makes its device files, by a helper that gains rights; in a jail
/// nothing gains rights, so it is called before.
fn wake_gpu() {
    if Path::new("/proc/driver/nvidia/version").exists() && !Path::new("/dev/nvidia-uvm").exists() {
        let helper = Command::new("nvidia-modprobe").args(["-u", "-c=0"]).stdin(Stdio::null()).output();
        // Without it the script says that it finds no GPU.
        drop(helper);
    }
}

/// Passes lines on until the output ends. Gives what went wrong in words, and whether a result was wrong.
fn follow(child: &mut Child, stop: &AtomicBool, each: &mut dyn FnMut(Line)) -> Result<(Option<String>, bool), String> {
    let (sender, lines) = sync_channel(64);
    let output = child.stdout.take();
    std::thread::spawn(move || {
        let Some(output) = output else { return };
        let mut output = BufReader::new(output);
        // A line without an end, and lines without an end, must not fill memory.
        let mut left = MOST_BYTES;
        for _ in 0..MOST_LINES {
            let mut line = Vec::new();
            match output.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(bytes @ 1..) if bytes <= left => left -= bytes,
                Ok(1..) => break,
                _ => return,
            }
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            if sender.send(text).is_err() {
                return;
            }
        }
        let most = MOST_BYTES >> 20;
        let _ = sender.send(format!("more than {MOST_LINES} lines or {most} MB: the rest is not shown"));
        let _ = std::io::copy(&mut output, &mut std::io::sink());
    });
    let errors = child.stderr.take();
    let (say, last_words) = sync_channel(1);
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(errors) = errors {
            let mut errors = errors;
            // The end counts, and a full pipe must not stop the script.
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut piece) {
                text.extend_from_slice(&piece[..count]);
                let surplus = text.len().saturating_sub(COMPLAINT_BYTES as usize);
                text.drain(..surplus);
            }
        }
        let _ = say.send(String::from_utf8_lossy(&text).into_owned());
    });
    let (started, mut complaint, mut wrong) = (Instant::now(), None, false);
    let mut ended: Option<Instant> = None;
    // A script may close its output and go on, or end and leave others that hold it open.
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err("stopped".to_owned());
        }
        if started.elapsed() > TIME {
            return Err(format!("it took longer than {} minutes and was stopped", TIME.as_secs() / 60));
        }
        let line = lines.recv_timeout(Duration::from_millis(50));
        if ended.is_none() && line.is_err() && has_ended(child) {
            ended = Some(Instant::now());
            end(child);
        }
        match line {
            Ok(line) => match parse(&line) {
                Ok(Line::Figure(figure)) => {
                    wrong |= !figure.ok;
                    each(Line::Figure(figure));
                }
                Ok(said) => each(said),
                Err(error) => complaint = Some(error),
            },
            Err(RecvTimeoutError::Timeout) if ended.is_some_and(|at| at.elapsed() > LAST_WORDS) => break,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) if ended.is_some() => break,
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    // A traceback ends with what happened.
    let errors = last_words.recv_timeout(LAST_WORDS).unwrap_or_default();
    let last = errors.lines().rev().find(|line| !line.trim().is_empty()).map(|line| cut(line, SHOWN_BYTES));
    Ok((complaint.or(last), wrong))
}

/// The beginning of a text.
fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes { text.to_owned() } else { format!("{}…", &text[..text.floor_char_boundary(bytes)]) }
}

/// Reads one line; the error is a script's own complaint.
fn parse(line: &str) -> Result<Line, String> {
    if let Ok(mut figure) = serde_json::from_str::<Figure>(line) {
        for text in [&mut figure.name, &mut figure.rung, &mut figure.device] {
            *text = cut(text, NAME_BYTES);
        }
        return Ok(Line::Figure(figure));
    }
    match serde_json::from_str::<Complaint>(line) {
        Ok(complaint) => Err(cut(&complaint.error, SHOWN_BYTES)),
        Err(_) => Ok(Line::Said(cut(line, SHOWN_BYTES))),
    }
}
