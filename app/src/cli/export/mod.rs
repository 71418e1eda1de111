//! `lockstep export`: what the course holds, in the forms of other programs.

mod host;
mod instructor;
mod notebook;
mod program;
mod pytorch;

use super::content::{self, Kernel};
use super::{Done, Failure, Places, usage};
use gpu_core::spec::{Spec, launch_directives};
use std::path::{Path, PathBuf};

/// The kernel that a package is made around, and where that goes.
#[derive(clap::Args)]
struct SubjectArgs {
    /// A day, lab, problem or page, as in `lockstep list`
    unit: String,
    /// An exercise other than the main one
    #[arg(long, value_name = "NAME")]
    exercise: Option<String>,
    /// A file, or `reference`, `solution`, `scaffold` [default: your own text, else the scaffold]
    #[arg(long, value_name = "FILE")]
    kernel: Option<String>,
    /// Folder to write; must be empty or absent
    #[arg(short, long, visible_alias = "out", value_name = "DIR")]
    output: PathBuf,
}

struct Subject {
    /// The unit's address, as in `lockstep list`.
    unit: String,
    /// The exercise's key.
    exercise: String,
    kernel: Kernel,
    /// With the launch that the kernel asks for.
    spec: Spec,
    folder: PathBuf,
}

impl SubjectArgs {
    fn load(&self, places: &Places) -> Result<Subject, Failure> {
        let course = content::course(places)?;
        let (unit, exercise) = content::exercise(&course, &self.unit, self.exercise.as_deref())?;
        let kernel = content::kernel(places, unit, exercise, self.kernel.as_deref())?;
        let spec = kernel.spec.as_ref().unwrap_or(&exercise.spec);
        if std::fs::read_dir(&self.output).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(usage(format!("the folder is not empty: {}", self.output.display())));
        }
        let directives = launch_directives(&kernel.source.text, &spec.options)
            .map_err(|(line, why)| Failure::Rejected(format!("{} line {line}: {why}", kernel.shown)))?;
        let spec = spec.directed(&directives).map_err(Failure::Rejected)?;
        let (unit, exercise) = (unit.address.clone(), exercise.key.clone());
        Ok(Subject { unit, exercise, kernel, spec, folder: self.output.clone() })
    }
}

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
