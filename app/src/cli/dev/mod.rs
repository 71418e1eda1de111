//! `lockstep dev`: tools for authors of the course.

mod bench_window;
mod cheat_sheet;
mod check;
mod latency;
mod new_day;
mod probe;
mod screenshots;
mod verify_counters;
mod verify_instructions;

use super::{Done, Places};
use std::path::{Path, PathBuf};

#[derive(clap::Subcommand)]
pub enum Command {
    /// Verify the course: files, scaffolds that must fail, references that must pass, wrong kernels that must be caught
    Check(check::Args),
    /// Make both halves of a day from a template; existing files are kept
    NewDay(new_day::Args),
    /// Measure the window: start, frames, idleness, memory, size
    BenchWindow(bench_window::Args),
    /// Take the README's pictures of the window
    Screenshots(screenshots::Args),
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
        Command::NewDay(args) => new_day::run(args, places),
        Command::BenchWindow(args) => bench_window::run(args, places),
        Command::Screenshots(args) => screenshots::run(args, places),
        Command::CheatSheet(args) => cheat_sheet::run(args),
        Command::Latency(args) => latency::run(args, places),
        Command::VerifyCounters(args) => verify_counters::run(args, places),
        Command::VerifyInstructions(args) => verify_instructions::run(args, places),
    }
}

/// The course that an author works on: `--content`, else the working folder when it holds one. None: the built-in one.
fn course_folder(places: &Places) -> Option<PathBuf> {
    let here = || Path::new("curriculum/course.toml").is_file().then(|| PathBuf::from("."));
    places.content.clone().or_else(here)
}
