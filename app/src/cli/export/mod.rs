//! `lockstep export`: what the course holds, in the forms of other programs.

mod host;
mod instructor;
mod notebook;
mod program;
mod pytorch;

use super::{Done, Places, usage};
use std::path::Path;

#[derive(clap::Subcommand)]
pub enum Command {
    /// A program of its own around an exercise's kernel: for nvcc, or for the driver API with no toolkit
    Program(program::Args),
    /// A Python package: the kernel as a PyTorch operation, with tests and a benchmark
    Pytorch(pytorch::Args),
    /// Jupyter notebooks of a day, a week or the whole course
    Notebook(notebook::Args),
    /// Notes for those who teach the course, as one page to print
    Instructor(instructor::Args),
}

pub fn run(command: &Command, places: &Places) -> Done {
    match command {
        Command::Program(args) => program::run(args, places),
        Command::Pytorch(args) => pytorch::run(args, places),
        Command::Notebook(args) => notebook::run(args, places),
        Command::Instructor(args) => instructor::run(args, places),
    }
}

/// Writes a file, making the folders that it lies in.
fn write(path: &Path, bytes: &[u8]) -> Done {
    let told = |error: std::io::Error| usage(format!("cannot write ({error}): {}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(told)?;
    }
    std::fs::write(path, bytes).map_err(told)
}
