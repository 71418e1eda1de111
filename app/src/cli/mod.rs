//! The terminal: one file per subcommand, the same engine as the window.
//!
//! Exit status: 0 passed, 1 the kernel failed (or was rejected), 2 wrong usage or an environment that lacks something,
//! 130 stopped by Ctrl-C. `--json` writes one object per command, described in `app/JSON.md`.

mod answer;
mod bench;
mod ceilings;
mod check;
mod compile;
mod content;
mod decode;
mod dev;
mod devices;
mod doctor;
mod engine;
mod exec;
mod export;
mod json;
mod ladder;
mod list;
mod measure;
mod npy;
mod open;
mod out;
mod practice;
mod profile;
mod questions;
mod record;
mod report;
mod review;
mod rivals;
pub(crate) mod run;
mod setup;
mod subject;
mod worker;

use clap::{Parser, Subcommand};
use curriculum::store::{Settings, Store};
use gpu_core::worker::Limits;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// How a command that did not succeed ends.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The kernel failed and the report of it was printed: status 1.
    Kernel,
    /// The kernel's text cannot be judged; says why: status 1.
    Rejected(String),
    /// Wrong usage, or something is missing; says what to do: status 2.
    Usage(String),
    /// Content or doctor checks failed and were printed: status 2.
    Reported,
    /// A program run by `exec` ended with this status, which becomes ours.
    Program(u8),
    /// Ctrl-C: status 130, as shells expect.
    Interrupted,
}

impl Failure {
    fn status(&self) -> u8 {
        match self {
            Failure::Kernel | Failure::Rejected(_) => 1,
            Failure::Usage(_) | Failure::Reported => 2,
            Failure::Program(code) => *code,
            Failure::Interrupted => 130,
        }
    }

    fn message(&self) -> Option<&str> {
        match self {
            Failure::Kernel | Failure::Reported | Failure::Program(_) => None,
            Failure::Rejected(message) | Failure::Usage(message) => Some(message),
            Failure::Interrupted => Some("stopped"),
        }
    }
}

/// Shorthand for errors that a person caused or must repair.
pub(crate) fn usage(message: impl std::fmt::Display) -> Failure {
    Failure::Usage(message.to_string())
}

pub(crate) type Done = Result<(), Failure>;

#[derive(Parser)]
#[command(
    name = "lockstep",
    version,
    about = "Learn GPU programming: your CUDA C++ compiled, run on a GPU or on an emulator, judged and timed.",
    after_help = "Without a command the window opens.\n\
                  Exit status: 0 passed, 1 the kernel failed, 2 usage or environment, 130 stopped.\n\
                  Start with `lockstep doctor`, `lockstep list` and `lockstep check week1/day4`."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    places: Places,
}

/// Options that every command takes.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Places {
    /// Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one
    #[arg(long, global = true, value_name = "DIR")]
    pub content: Option<PathBuf>,
    /// Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler
    /// run is not counted
    #[arg(long, global = true, value_name = "SECONDS", value_parser = compile_time)]
    pub compile_time_limit: Option<f64>,
}

/// A number of seconds that a compilation may take.
fn compile_time(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "write a number of seconds, such as 60".to_owned())?;
    let possible = (0.1..=86_400.0).contains(&seconds);
    possible.then_some(seconds).ok_or_else(|| format!("{seconds} s is not possible; write 0.1 to 86400 seconds"))
}

impl Places {
    pub fn data_dir(&self) -> PathBuf {
        match &self.data {
            Some(dir) => std::path::absolute(dir).unwrap_or_else(|_| dir.clone()),
            None => crate::paths::data_dir(),
        }
    }

    /// What jobs may use: as usual, or as the command line says.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        let compile_time = self.compile_time_limit.map_or(usual.compile_time, Duration::from_secs_f64);
        Limits { compile_time, ..usual }
    }

    /// What the learner chose in the window; defaults where nothing was chosen.
    pub fn settings(&self) -> Settings {
        let store = Store::open_read_only(&self.data_dir());
        let settings = store.settings();
        for problem in store.take_problems() {
            out::remark(&format!("lockstep: {problem}"));
        }
        settings
    }
}

#[derive(Subcommand)]
enum Command {
    /// List the course: weeks and days, labs, practice problems, reference pages
    List(list::Args),
    /// Practice problems, and the one to try next
    Practice(practice::Args),
    /// What you remember of the quizzes, and what is due for review
    Review(review::Args),
    /// Compile a day's kernel and judge it
    Check(check::Args),
    /// Answer questions about kernels whose source is shut, by what the emulator counted of them
    Answer(answer::Args),
    /// Judge a day's kernel, then time it (GPU) or count its work (emulator)
    Bench(bench::Args),
    /// Count what a day's kernel does: on the emulator, and with Nsight Compute on a GPU, side by side
    Profile(profile::Args),
    /// Compile a file: diagnostics, registers, PTX, cubin or SASS
    Compile(compile::Args),
    /// Run a free kernel once with buffers described by a spec file
    Run(run::Args),
    /// Let the small model write with your attention kernel over a quantized cache
    Decode(decode::Args),
    /// Open the window, with a kernel that `lockstep export` wrote
    Open(open::Args),
    /// List devices that kernels can run on
    Devices(devices::Args),
    /// Check whether this machine is ready, and say how to fix what is not
    Doctor(doctor::Args),
    /// Measure this machine: matrix products on the CPU and in CUDA's library, copies
    Measure(measure::Args),
    /// Install the CUDA compiler (NVRTC) into Lockstep's data folder
    Setup(setup::Args),
    /// Run a program with the emulator as its CUDA driver
    Exec(exec::Args),
    /// Take something of the course elsewhere: a program, notebooks, notes for instructors
    #[command(subcommand)]
    Export(export::Command),
    /// Tools for authors of the course
    #[command(subcommand)]
    Dev(dev::Command),
    /// Serve jobs over standard input and output, for a window or terminal elsewhere
    Worker(worker::Args),
}

/// Prints help, the version or what is wrong with the usage: status 0 for the first two, where they could be printed, else 2.
fn help(asked: &clap::Error) -> ExitCode {
    let printed = asked.print().and_then(|()| std::io::Write::flush(&mut std::io::stdout()));
    match printed {
        Err(error) if !asked.use_stderr() && error.kind() != std::io::ErrorKind::BrokenPipe => {
            out::remark(&format!("lockstep: the output could not be written: {error}"));
            ExitCode::from(2)
        }
        _ => ExitCode::from(u8::try_from(asked.exit_code()).unwrap_or(2)),
    }
}

/// Parses the command line and runs what it asks for.
pub fn main() -> ExitCode {
    // A limit of file sizes (`ulimit -f`) is then an error to tell and not the end.
    #[cfg(unix)]
    // SAFETY: ignoring a signal installs no handler code.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(asked) => return help(&asked),
    };
    let places = cli.places;
    let Some(command) = cli.command else { return window(&places, crate::app::WindowOptions::default()) };
    let wants_json = command.wants_json();
    let name = command.name();
    let done = match command {
        Command::List(args) => list::run(&args, &places),
        Command::Practice(args) => practice::run(&args, &places),
        Command::Review(args) => review::run(&args, &places),
        Command::Check(args) => check::run(&args, &places),
        Command::Answer(args) => answer::run(&args, &places),
        Command::Bench(args) => bench::run(&args, &places),
        Command::Profile(args) => profile::run(&args, &places),
        Command::Compile(args) => compile::run(&args, &places),
        Command::Run(args) => run::run(&args, &places),
        Command::Decode(args) => decode::run(&args, &places),
        Command::Open(args) => return open::run(&args, &places),
        Command::Devices(args) => devices::run(&args, &places),
        Command::Doctor(args) => doctor::run(&args, &places),
        Command::Measure(args) => measure::run(&args, &places),
        Command::Setup(args) => setup::run(&args, &places),
        Command::Exec(args) => exec::run(&args, &places),
        Command::Export(args) => export::run(&args, &places),
        Command::Dev(args) => dev::run(&args, &places),
        Command::Worker(args) => return worker::run(&args, &places),
    };
    if let Some(why) = out::unwritten() {
        out::error(&format!("the output could not be written: {why}"));
        return ExitCode::from(done.err().map_or(2, |failure| failure.status()));
    }
    let Err(failure) = done else { return ExitCode::SUCCESS };
    if let Some(message) = failure.message() {
        out::error(message);
        if wants_json && !out::json_printed() {
            out::json(&json::error(name, message, failure.status()));
        }
    }
    ExitCode::from(failure.status())
}

impl Command {
    fn wants_json(&self) -> bool {
        match self {
            Command::List(args) => args.json,
            Command::Practice(args) => args.json,
            Command::Review(args) => args.json,
            Command::Check(args) => args.json,
            Command::Answer(args) => args.json,
            Command::Bench(args) => args.json,
            Command::Profile(args) => args.json,
            Command::Compile(args) => args.json,
            Command::Run(args) => args.json,
            Command::Decode(args) => args.json,
            Command::Devices(args) => args.json,
            Command::Doctor(args) => args.json,
            Command::Measure(_)
            | Command::Setup(_)
            | Command::Exec(_)
            | Command::Open(_)
            | Command::Export(_)
            | Command::Dev(_)
            | Command::Worker(_) => false,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Command::List(_) => "list",
            Command::Practice(_) => "practice",
            Command::Review(_) => "review",
            Command::Check(_) => "check",
            Command::Answer(_) => "answer",
            Command::Bench(_) => "bench",
            Command::Profile(_) => "profile",
            Command::Compile(_) => "compile",
            Command::Run(_) => "run",
            Command::Decode(_) => "decode",
            Command::Open(_) => "open",
            Command::Devices(_) => "devices",
            Command::Doctor(_) => "doctor",
            Command::Measure(_) => "measure",
            Command::Setup(_) => "setup",
            Command::Exec(_) => "exec",
            Command::Export(_) => "export",
            Command::Dev(_) => "dev",
            Command::Worker(_) => "worker",
        }
    }
}

/// All commands and options, for what is written from them: man pages, completions of shells.
pub fn definition() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Opens the window, or says in one sentence why it cannot.
fn window(places: &Places, first: crate::app::WindowOptions) -> ExitCode {
    #[cfg(windows)]
    if crate::console::is_ours_alone() && crate::console::start_again_without() {
        return ExitCode::SUCCESS;
    }
    let options = crate::app::WindowOptions {
        content: places.content.clone(),
        data_dir: places.data.as_ref().map(|_| places.data_dir()),
        ..first
    };
    match crate::app::run_window(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            out::error(&format!(
                "no window: {why}; use the terminal commands `lockstep list`, `check`, `bench`, `compile`, `run`, \
                 `devices` and `doctor` (`lockstep --help` explains them)"
            ));
            ExitCode::from(2)
        }
    }
}
