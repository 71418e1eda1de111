//! `lockstep dev`: tools for authors of the course.

mod bench_window;
mod cheat_sheet;
mod check;
mod fast_paths;
mod judged;
mod jury;
mod latency;
mod new_unit;
mod others;
mod probe;
mod recording;
mod screenshots;
mod verify_counters;
mod verify_instructions;

use super::{Done, Failure, Places, usage};
use curriculum::{Course, Ladder, Unit};
use std::path::{Path, PathBuf};

#[derive(clap::Subcommand)]
pub enum Command {
    /// Verify the course: files, scaffolds that must fail, references that must pass, wrong kernels that must be caught
    Check(check::Args),
    /// Judge the kernels that other people would write: right ones must pass, wrong ones be rejected with helpful words
    Others(others::Args),
    /// Make both halves of a day from a template; existing files are kept
    NewDay(new_unit::Args),
    /// Make both halves of a lab from a template; existing files are kept
    NewLab(new_unit::Args),
    /// Make a reference page from a template; existing files are kept
    NewPage(new_unit::Args),
    /// Make both halves of a practice problem from a template; existing files are kept
    NewProblem(new_unit::Args),
    /// Measure the window: start, frames, idleness, memory, size
    BenchWindow(bench_window::Args),
    /// Take the README's pictures of the window
    Screenshots(screenshots::Args),
    /// Record the window while a kernel is typed, found wrong, mended and passed, as an animated picture
    Recording(recording::Args),
    /// Run the course's kernels without the emulator's fast paths: all must come to the same, or how long each takes without
    FastPaths(fast_paths::Args),
    /// List all keys, or write them as a page to print
    CheatSheet(cheat_sheet::Args),
    /// Time the way from an edit to its verdict, and recovery from kernels that hang or crash
    Latency(latency::Args),
    /// Compare the emulator's memory counters with the hardware's
    VerifyCounters(verify_counters::Args),
    /// Compare the emulator's instructions with this machine's GPU, result by result
    VerifyInstructions(verify_instructions::Args),
}

pub fn run(command: &Command, places: &Places) -> Done {
    match command {
        Command::Check(args) => check::run(args, places),
        Command::Others(args) => others::run(args, places),
        Command::NewDay(args) => new_unit::run(&new_unit::DAY, args, places),
        Command::NewLab(args) => new_unit::run(&new_unit::LAB, args, places),
        Command::NewPage(args) => new_unit::run(&new_unit::PAGE, args, places),
        Command::NewProblem(args) => new_unit::run(&new_unit::PROBLEM, args, places),
        Command::BenchWindow(args) => bench_window::run(args, places),
        Command::Screenshots(args) => screenshots::run(args, places),
        Command::Recording(args) => recording::run(args, places),
        Command::FastPaths(args) => fast_paths::run(args, places),
        Command::CheatSheet(args) => cheat_sheet::run(args),
        Command::Latency(args) => latency::run(args, places),
        Command::VerifyCounters(args) => verify_counters::run(args, places),
        Command::VerifyInstructions(args) => verify_instructions::run(args, places),
    }
}

/// The units that were asked for: one, or all below a folder; none where it is a ladder that was asked for.
fn select<'c>(course: &'c Course, asked: Option<&str>) -> Result<Vec<&'c Unit>, Failure> {
    let Some(asked) = asked else { return Ok(course.units().collect()) };
    if !ladders(course, Some(asked))?.is_empty() {
        return Ok(Vec::new());
    }
    let folder = format!("{}/", asked.trim_matches('/'));
    let below: Vec<&Unit> = course.units().filter(|unit| unit.address.starts_with(&folder)).collect();
    if below.is_empty() { Ok(vec![course.unit(asked).map_err(usage)?]) } else { Ok(below) }
}

/// The ladders that were asked for: `ladders/transpose`, or `ladders` for all; none where it is something else.
fn ladders<'c>(course: &'c Course, asked: Option<&str>) -> Result<Vec<&'c Ladder>, Failure> {
    let all = || course.ladders.iter();
    let Some(asked) = asked else { return Ok(all().collect()) };
    let path = asked.trim_matches('/');
    match path.strip_prefix("kernels/").unwrap_or(path).strip_prefix("ladders") {
        None => Ok(Vec::new()),
        Some("") => Ok(all().collect()),
        Some(name) => match all().find(|ladder| name.strip_prefix('/') == Some(&ladder.name)) {
            Some(ladder) => Ok(vec![ladder]),
            None => {
                let names: Vec<&str> = all().map(|ladder| ladder.name.as_str()).collect();
                Err(usage(format!("there is no ladder `{asked}`; there are: {}", names.join(", "))))
            }
        },
    }
}

/// The course that an author works on: `--content`, else the working folder when it holds one. None: the built-in one.
fn course_folder(places: &Places) -> Option<PathBuf> {
    let here = || Path::new("curriculum/course.toml").is_file().then(|| PathBuf::from("."));
    places.content.clone().or_else(here)
}
