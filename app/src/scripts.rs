//! Python scripts: the day's work in NumPy, CuPy, Numba or Triton, run by the learner's own Python; and Lockstep's own
//! programs of `crate::measure`, which speak the same.
//!
//! A script prints one line of JSON for each size (`name`, `rung`, `device`, `median_ms`, `ok`, where it makes sense
//! `gflops` or `gbps`), or one with `error`; what else it prints is passed on. It runs in a process of its own and is
//! killed when it is stopped or takes too long.

mod kept;

pub use kept::{ScriptKey, ScriptRun, load, save};

use gpu_core::compile::fetch::{PYTHON_NAMES, PYTHON_VARIABLE};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Write};
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

/// Runs a script; `python` is the learner's choice of interpreter. Gives each line as it comes.
///
/// # Errors
/// A sentence: no Python, a missing package (in the script's own words), a wrong result, stopped, or too slow.
pub fn run(
    python: Option<&Path>,
    file: &str,
    source: &str,
    sizes: &[String],
    stop: &AtomicBool,
    each: &mut dyn FnMut(Line),
) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| format!("a scratch folder cannot be made: {error}"))?;
    let path = folder.path().join(file);
    let written = std::fs::File::create(&path).and_then(|mut script| script.write_all(source.as_bytes()));
    written.map_err(|error| format!("the script cannot be written ({error}): {}", path.display()))?;
    let child = start(python, &path, sizes)?;
    finish(child, file, stop, each)
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
    if ended.is_err() {
        end(&mut child);
    }
    let status = child.wait().map_err(|error| format!("the process was lost: {error}"))?;
    let (complaint, wrong) = ended?;
    match (status.success(), complaint) {
        (true, _) => Ok(()),
        (false, Some(complaint)) => Err(complaint),
        (false, None) if wrong => Err("the result was wrong".to_owned()),
        (false, None) => Err(format!("{file} ended with {status}")),
    }
}

/// Ends a process that leads a group of its own, and what it started.
pub(crate) fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = -(child.id() as i32);
        // SAFETY: a plain system call. The group is the child's own, see `start`; the child has not been waited for.
        unsafe { libc::kill(group, libc::SIGKILL) };
    }
    let _ = child.kill();
}

fn start(python: Option<&Path>, script: &Path, sizes: &[String]) -> Result<Child, String> {
    let named = python.map(|path| path.display().to_string());
    let named = named.or_else(|| std::env::var(PYTHON_VARIABLE).ok().filter(|name| !name.is_empty()));
    let names = named.map_or_else(|| PYTHON_NAMES.map(str::to_owned).to_vec(), |name| vec![name]);
    let mut problem = String::new();
    for name in &names {
        let mut command = Command::new(name);
        command.arg("-u").arg(script).args(sizes);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, which ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        match command.spawn() {
            Ok(child) => return Ok(child),
            Err(error) => problem = format!("{name}: {error}"),
        }
    }
    Err(format!("Python 3 was not found ({problem}); install it, name it in the settings, or set {PYTHON_VARIABLE}"))
}

/// Passes lines on until the output ends. Gives what went wrong in words, and whether a result was wrong.
fn follow(child: &mut Child, stop: &AtomicBool, each: &mut dyn FnMut(Line)) -> Result<(Option<String>, bool), String> {
    let (sender, lines) = sync_channel(1024);
    let output = child.stdout.take();
    std::thread::spawn(move || {
        let Some(output) = output else { return };
        let mut output = BufReader::new(output);
        // A line without an end, and lines without an end, must not fill memory.
        for _ in 0..MOST_LINES {
            let mut line = Vec::new();
            match output.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(1..) => {}
                _ => return,
            }
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            if sender.send(text).is_err() {
                return;
            }
        }
        let _ = sender.send(format!("more than {MOST_LINES} lines: the rest is not shown"));
        let _ = std::io::copy(&mut output, &mut std::io::sink());
    });
    let errors = child.stderr.take();
    let errors = std::thread::spawn(move || {
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
        String::from_utf8_lossy(&text).into_owned()
    });
    let (started, mut complaint, mut wrong) = (Instant::now(), None, false);
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err("stopped".to_owned());
        }
        if started.elapsed() > TIME {
            return Err(format!("it took longer than {} minutes and was stopped", TIME.as_secs() / 60));
        }
        match lines.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => match parse(&line) {
                Ok(Line::Figure(figure)) => {
                    wrong |= !figure.ok;
                    each(Line::Figure(figure));
                }
                Ok(said) => each(said),
                Err(error) => complaint = Some(error),
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // A traceback ends with what happened.
    let errors = errors.join().unwrap_or_default();
    let last = errors.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned);
    Ok((complaint.or(last), wrong))
}

/// Reads one line; the error is a script's own complaint.
fn parse(line: &str) -> Result<Line, String> {
    if let Ok(figure) = serde_json::from_str::<Figure>(line) {
        return Ok(Line::Figure(figure));
    }
    match serde_json::from_str::<Complaint>(line) {
        Ok(complaint) => Err(complaint.error),
        Err(_) => Ok(Line::Said(line.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(source: &str) -> (Vec<Line>, Result<(), String>) {
        let mut lines = Vec::new();
        let ended = run(None, "x.py", source, &["7".to_owned()], &AtomicBool::new(false), &mut |line| lines.push(line));
        (lines, ended)
    }

    const FIGURE: &str = "import json, sys\nprint('hello')\nprint(json.dumps({'name': 'n = ' + sys.argv[1], 'rung': \
                          'numpy', 'device': 'cpu', 'median_ms': 0.5, 'samples': 9, 'ok': OK}))\n";

    #[test]
    fn figures_and_words_come_line_by_line() {
        let (lines, ended) = lines_of(&FIGURE.replace("OK", "True"));
        assert_eq!(ended, Ok(()));
        assert_eq!(lines[0], Line::Said("hello".into()));
        let Line::Figure(figure) = &lines[1] else { panic!("{lines:?}") };
        assert_eq!((figure.name.as_str(), figure.median_ms, figure.ok), ("n = 7", Some(0.5), true));
    }

    #[test]
    fn what_goes_wrong_is_one_sentence() {
        let (_, ended) = lines_of(&(FIGURE.replace("OK", "False") + "sys.exit(1)\n"));
        assert_eq!(ended.unwrap_err(), "the result was wrong");
        let (_, ended) =
            lines_of("print('{\"rung\": \"x\", \"ok\": false, \"error\": \"numpy not found\"}')\nexit(2)\n");
        assert_eq!(ended.unwrap_err(), "numpy not found");
        let (_, ended) = lines_of("raise ValueError('no such thing')\n");
        assert_eq!(ended.unwrap_err(), "ValueError: no such thing");
        let mut none = |_| {};
        let nowhere = Some(Path::new("/nowhere/python"));
        let ended = run(nowhere, "x.py", "", &[], &AtomicBool::new(false), &mut none);
        assert!(ended.unwrap_err().contains("Python 3 was not found (/nowhere/python"));
    }

    #[test]
    fn a_rung_that_never_ends_can_be_stopped() {
        let stop = AtomicBool::new(false);
        let mut said = |_| stop.store(true, Ordering::Relaxed);
        let ended = run(None, "x.py", "print('go')\nwhile True: pass\n", &[], &stop, &mut said);
        assert_eq!(ended.unwrap_err(), "stopped");
    }
}
