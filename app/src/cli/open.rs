//! `lockstep open`: the window with an exported kernel in its exercise. What desktops call for such a file.

use super::{Failure, Places, content, out, usage};
use crate::app::WindowOptions;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How the first line of an exported kernel begins; installers/share/lockstep-mime.xml knows files by it.
const MARK: &str = "// Lockstep exercise: ";

#[derive(clap::Args)]
pub struct Args {
    /// A kernel.cu of `lockstep export program`; its text goes into the editor, and Undo leads back to yours
    file: Option<PathBuf>,
}

pub fn run(args: &Args, places: &Places) -> ExitCode {
    let options = match args.file.as_deref().map(|file| options(file, places)).transpose() {
        Ok(options) => options.unwrap_or_default(),
        Err(failure) => {
            out::error(failure.message().unwrap_or_default());
            return ExitCode::from(failure.status());
        }
    };
    super::window(places, options)
}

/// The line that an exported kernel begins with.
pub fn first_line(unit: &str, exercise: &str) -> String {
    format!("{MARK}{unit} {exercise}\n")
}

/// The unit and exercise that a text's first line names.
fn named(text: &str) -> Option<(&str, &str)> {
    text.lines().next()?.strip_prefix(MARK)?.trim().split_once(' ')
}

/// Where the file belongs; told in the terminal when it belongs nowhere, before any window opens.
fn options(file: &Path, places: &Places) -> Result<WindowOptions, Failure> {
    let text = content::read(file)?;
    let shown = file.display();
    let (unit, key) = named(&text).ok_or_else(|| {
        usage(format!(
            "its first line does not name an exercise (`{}`); open the exercise in the window and use File, Import \
             Kernel: {shown}",
            first_line("week1/day4", "main").trim_end()
        ))
    })?;
    let course = content::course(places)?;
    let (unit, exercise) = content::exercise(&course, unit, Some(key))?;
    let kernel = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    Ok(WindowOptions {
        day: Some(unit.address.clone()),
        exercise: Some(exercise.key.clone()),
        kernel: Some(kernel),
        ..WindowOptions::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_leads_back_to_the_exercise() {
        let text = first_line("week1/day4", "main") + "__global__ void k() {}\n";
        assert_eq!(named(&text), Some(("week1/day4", "main")));
        assert_eq!(named("__global__ void k() {}"), None);
        assert_eq!(named(""), None);
    }

    #[test]
    fn desktops_know_the_file_by_the_same_words() {
        let kinds = include_str!("../../../installers/share/lockstep-mime.xml");
        assert!(kinds.contains(&format!("value=\"{MARK}\"")));
    }
}
