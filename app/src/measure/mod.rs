//! Lockstep's own programs that measure this machine for a lesson: `{{measure cpu-matmul}}` there, `lockstep measure
//! cpu-matmul` in the terminal.
//!
//! Each runs in a process of its own and prints the lines of a rung (`crate::scripts`), so that a window never waits for
//! it, a stop ends it at once, and its figures stand in the same plot as Python's and CUDA's. To add one: a file here
//! with a `static PROGRAM`, and a line in [`PROGRAMS`].

mod cpu;
mod goals;
mod library;
mod recorded;

pub use goals::{Goal, share_of_ceiling};
pub use recorded::{Origin, Recording, head_line, recording};

use crate::scripts::Figure;
use std::sync::atomic::AtomicBool;

/// Does it: every figure goes out as it comes; one sentence on what went wrong.
type Run = fn(&Request<'_>, &mut dyn FnMut(Figure)) -> Result<(), String>;

/// A program by name.
pub struct Program {
    /// As lessons and the terminal call it.
    pub name: &'static str,
    pub title: &'static str,
    /// One sentence: what it does and how long that takes.
    pub what: &'static str,
    /// Sizes where none are given.
    pub sizes: &'static [usize],
    /// What its figures are held against.
    pub goals: &'static [Goal],
    run: Run,
}

/// What a program is asked for.
pub struct Request<'a> {
    /// Matrices are `n` by `n`, for each of these.
    pub sizes: &'a [usize],
    /// For finding libraries.
    pub data_dir: &'a std::path::Path,
    pub stop: &'a AtomicBool,
}

/// Every program.
pub static PROGRAMS: [&Program; 3] = [&cpu::MATMUL, &cpu::LOOP_ORDERS, &library::MATMUL];

pub fn find(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().copied().find(|program| program.name == name)
}

impl Program {
    /// Measures, and gives each figure as it is found.
    ///
    /// # Errors
    /// One sentence: what is missing and what to do, or `stopped`.
    pub fn run(&self, request: &Request<'_>, each: &mut dyn FnMut(Figure)) -> Result<(), String> {
        (self.run)(request, each)
    }
}

/// As the plots name a size.
fn size_name(n: usize) -> String {
    format!("n = {n}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn names_are_unique_and_words_are_given() {
        for (index, program) in PROGRAMS.iter().enumerate() {
            assert!(curriculum::is_slug(program.name), "{}", program.name);
            assert!(!program.title.is_empty() && program.what.ends_with('.') && !program.sizes.is_empty());
            assert!(PROGRAMS[..index].iter().all(|other| other.name != program.name));
        }
    }

    #[test]
    fn the_cpu_programs_measure_and_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        for program in [&cpu::MATMUL, &cpu::LOOP_ORDERS] {
            let stop = AtomicBool::new(false);
            let mut figures: Vec<Figure> = Vec::new();
            let request = Request { sizes: &[48], data_dir: folder.path(), stop: &stop };
            program.run(&request, &mut |figure| figures.push(figure)).unwrap();
            assert!(figures.len() >= 4 && figures.iter().all(|figure| figure.ok), "{figures:?}");
            assert!(figures.iter().all(|figure| figure.gflops.is_some_and(|rate| rate > 0.0)), "{figures:?}");
            let stopped = program.run(&request, &mut |_| stop.store(true, Ordering::Relaxed));
            assert_eq!(stopped.unwrap_err(), "stopped");
        }
    }
}
