//! Loads the CUDA half of a day: the exercise in its folder, and further ones in sub-folders.

use super::declared::{self, Declared};
use super::lesson::without_anchors;
use super::line_with;
use crate::error::ContentError;
use crate::exercise::{Exercise, Experiment, MAIN, Script, WrongKernel, define_line};
use crate::files::Files;
use crate::hints::{Hints, TriggeredHint};
use gpu_core::spec::{Spec, toml_reader::SpecError};
use serde::Deserialize;

/// All exercises of a day, the main one first, then by folder name.
pub(crate) fn load(files: &Files, address: &str, errors: &mut Vec<ContentError>) -> Vec<Exercise> {
    let folder = format!("kernels/{address}");
    let mut exercises = Vec::new();
    if files.text(&format!("{folder}/exercise.toml")).is_some() {
        exercises.extend(exercise(files, &folder, MAIN, errors));
    }
    for name in files.folders(&folder) {
        let inner = format!("{folder}/{name}");
        if files.text(&format!("{inner}/exercise.toml")).is_some() {
            exercises.extend(exercise(files, &inner, name, errors));
        }
    }
    exercises
}

fn exercise(files: &Files, folder: &str, key: &str, errors: &mut Vec<ContentError>) -> Option<Exercise> {
    let spec_path = format!("{folder}/exercise.toml");
    let spec_text = files.text(&spec_path)?;
    let (mut spec, declared) = told(declared::parse(spec_text, &spec_path), errors)?;
    if let Err((path, why)) = spec.attach_files(|name| files.text(&format!("{folder}/{name}")).map(str::to_owned)) {
        errors.push(ContentError::new(format!("{folder}/{path}"), 0, format!("a file of numbers: {why}")));
    }
    read_given(files, folder, &mut spec, &spec_path, errors);
    let mut source = |name: &str, line: usize| match files.text(&format!("{folder}/{name}")) {
        Some(text) => Some(without_anchors(text)),
        None if line > 0 => {
            errors.push(ContentError::new(&spec_path, line, format!("an existing file `{name}`")));
            None
        }
        None => {
            errors.push(ContentError::new(format!("{folder}/{name}"), 0, "this file to exist"));
            None
        }
    };
    let scaffold = source("scaffold.cu", 0);
    let reference = source("reference.cu", 0);
    let mut wrongs = Vec::new();
    for wrong in &declared.wrongs {
        if let Some(text) = source(&wrong.file, line_with(spec_text, &wrong.file).max(1)) {
            wrongs.push(WrongKernel {
                file: wrong.file.clone(),
                source: text,
                fault: wrong.fault.clone(),
                why: wrong.why.clone(),
            });
        }
    }
    let plain_solution = files.text(&format!("{folder}/solution.cu")).map(without_anchors);
    let experiments = experiments(files, folder, &declared, errors);
    let scripts = scripts(files, folder, errors);
    let hints = hints(&declared);
    Some(Exercise {
        key: key.to_owned(),
        folder: folder.to_owned(),
        spec,
        spec_text: spec_text.to_owned(),
        scaffold: scaffold?,
        reference: reference?,
        plain_solution,
        wrongs,
        experiments,
        scripts,
        hints,
        rivals: declared.rivals,
    })
}

/// Fills in the kernels of the course's own that the steps of a spec launch.
pub(crate) fn read_given(
    files: &Files,
    folder: &str,
    spec: &mut Spec,
    spec_path: &str,
    errors: &mut Vec<ContentError>,
) {
    let read = |file: &str| {
        let path = path_of_given(files, folder, file)?;
        files.text(&path).map(without_anchors).ok_or_else(|| "this file to exist".to_owned())
    };
    if let Err(missing) = spec.read_given(read) {
        let line = files.text(spec_path).map_or(0, |text| line_with(text, "given"));
        errors.push(ContentError::new(spec_path, line, format!("for a step's `given`, {missing}")));
    }
}

/// Where a step's `given` is. Behind `../` it is in the unit's own folder, and not beyond.
pub(crate) fn path_of_given(files: &Files, folder: &str, file: &str) -> Result<String, String> {
    let Some(above) = file.strip_prefix("../") else { return Ok(format!("{folder}/{file}")) };
    let unit = folder.rsplit_once('/').map_or("", |(unit, _)| unit);
    let of_course = unit.strip_prefix("kernels/").map(|address| format!("curriculum/{address}"));
    // Texts of a unit lie right in its folder; a week or a family has a file of its own alone.
    let is_unit = |folder: String| {
        ["lesson.md", "page.md", "problem.md"].iter().any(|name| files.text(&format!("{folder}/{name}")).is_some())
    };
    match of_course.is_some_and(is_unit) {
        true => Ok(format!("{unit}/{above}")),
        false => Err("a path inside the unit's folder".to_owned()),
    }
}

/// What was read, or its problems told.
pub(crate) fn told<T>(read: Result<T, SpecError>, errors: &mut Vec<ContentError>) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(error) => {
            errors.extend(error.problems.iter().map(|problem| {
                let key = if problem.key.is_empty() { String::new() } else { format!(" for `{}`", problem.key) };
                let expected = format!("{}{key} (found {})", problem.expected, problem.found);
                ContentError::new(&error.path, problem.line as usize, expected)
            }));
            None
        }
    }
}

/// The general hints in one list, and those that belong to a diagnosis.
fn hints(declared: &Declared) -> Hints {
    let mut hints = Hints::default();
    for hint in &declared.hints {
        match &hint.on {
            None => hints.steps.extend(hint.steps.iter().cloned()),
            Some(fault) => {
                hints.triggered.push(TriggeredHint { fault: fault.clone(), steps: hint.steps.clone() });
            }
        }
    }
    hints
}

fn experiments(files: &Files, folder: &str, declared: &Declared, errors: &mut Vec<ContentError>) -> Vec<Experiment> {
    let mut experiments = Vec::new();
    for declared in &declared.experiments {
        let path = format!("{folder}/{}", declared.file);
        let Some(text) = files.text(&path) else {
            errors.push(ContentError::new(format!("{folder}/exercise.toml"), 0, format!("an existing file {path}")));
            continue;
        };
        let own = declared.spec.as_ref().map(|name| format!("{folder}/{name}"));
        let own: Option<Spec> = own.and_then(|path| match files.text(&path) {
            Some(text) => {
                let mut spec = told(declared::parse_bare(text, &path), errors)?;
                read_given(files, folder, &mut spec, &path, errors);
                Some(spec)
            }
            None => {
                errors.push(ContentError::new(path, 0, "this file to exist"));
                None
            }
        });
        let name = declared.file.rsplit('/').next().unwrap_or_default().trim_end_matches(".cu").to_owned();
        if !crate::names::is_slug(&name) {
            errors.push(ContentError::new(&path, 0, "a file name such as `block-size.cu`"));
        }
        let source = without_anchors(text);
        for knob in &declared.knobs {
            match define_line(&source, &knob.name) {
                Some((_, value)) if value == knob.default.to_string() => {}
                _ => errors.push(ContentError::new(
                    &path,
                    0,
                    format!("the line `#define {} {}` for a knob of exercise.toml", knob.name, knob.default),
                )),
            }
        }
        experiments.push(Experiment {
            name,
            title: declared.title.clone(),
            question: declared.question.clone(),
            source,
            knobs: declared.knobs.clone(),
            spec: own,
            files: [Some(&declared.file), declared.spec.as_ref()].into_iter().flatten().cloned().collect(),
        });
    }
    experiments
}

fn scripts(files: &Files, folder: &str, errors: &mut Vec<ContentError>) -> Vec<Script> {
    let mut scripts = Vec::new();
    for (file, source) in files.below(folder) {
        if file.contains('/') || !file.ends_with(".py") {
            continue;
        }
        let path = format!("{folder}/{file}");
        let title = source.split_once("\"\"\"").map_or("", |(_, rest)| rest.lines().next().unwrap_or_default());
        let title = title.trim_end_matches("\"\"\"").trim().trim_end_matches('.').to_owned();
        if title.is_empty() {
            errors.push(ContentError::new(&path, 1, "a docstring whose first line is the script's title"));
        }
        let Some(packages) = inline_dependencies(source) else {
            errors.push(ContentError::new(
                path,
                1,
                "inline script metadata (PEP 723): `# /// script`, `# dependencies = [\"numpy\"]`, `# ///`",
            ));
            continue;
        };
        scripts.push(Script { file: file.to_owned(), title, source: source.to_owned(), packages });
    }
    scripts
}

/// The `dependencies` of a script's metadata block.
fn inline_dependencies(source: &str) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Script {
        #[serde(default)]
        dependencies: Vec<String>,
    }
    let block: String = source
        .lines()
        .skip_while(|line| *line != "# /// script")
        .skip(1)
        .take_while(|line| *line != "# ///")
        .map(|line| format!("{}\n", line.strip_prefix('#').unwrap_or(line).trim_start()))
        .collect();
    if block.is_empty() {
        return None;
    }
    toml::from_str::<Script>(&block).ok().map(|script| script.dependencies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_read_from_the_script() {
        let text = "# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\"torch\", \"triton\"]\n# ///\n";
        assert_eq!(inline_dependencies(text), Some(vec!["torch".to_owned(), "triton".to_owned()]));
        assert_eq!(inline_dependencies("import numpy\n"), None);
    }

    #[test]
    fn a_given_kernel_may_be_shared_within_its_unit() {
        let files = Files::from_texts([("curriculum/week3/day4/lesson.md", ""), ("curriculum/week3/week.toml", "")]);
        let path = |folder: &str, file: &str| path_of_given(&files, folder, file);
        assert_eq!(path("kernels/week3/day4/mask", "given/a.cu"), Ok("kernels/week3/day4/mask/given/a.cu".to_owned()));
        assert_eq!(path("kernels/week3/day4/mask", "../given/a.cu"), Ok("kernels/week3/day4/given/a.cu".to_owned()));
        let refused = Err("a path inside the unit's folder".to_owned());
        assert_eq!(path("kernels/week3/day4", "../given/a.cu"), refused, "a week is no unit");
        assert_eq!(path("kernels/ladders/attention", "../a.cu"), refused);
    }
}
