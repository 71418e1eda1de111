//! `lockstep dev`: tools for authors of the course.

mod check;
mod new_day;

use super::{Done, Places};
use std::path::{Path, PathBuf};

#[derive(clap::Subcommand)]
pub enum Command {
    /// Verify the course: files, scaffolds that must fail, references that must pass, wrong kernels that must be caught
    Check(check::Args),
    /// Make both halves of a day from a template; existing files are kept
    NewDay(new_day::Args),
}

pub fn run(command: &Command, places: &Places) -> Done {
    match command {
        Command::Check(args) => check::run(args, places),
        Command::NewDay(args) => new_day::run(args, places),
    }
}

/// The course that an author works on: `--content`, else the working folder when it holds one. None: the built-in one.
fn course_folder(places: &Places) -> Option<PathBuf> {
    let here = || Path::new("curriculum/course.toml").is_file().then(|| PathBuf::from("."));
    places.content.clone().or_else(here)
}
