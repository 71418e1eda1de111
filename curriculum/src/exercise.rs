//! Loads the CUDA half of a day: the exercise in its folder, and further ones in sub-folders.

use crate::course::{Exercise, Experiment, Hints, Knob, Rung, TriggeredHint, WrongKernel};
use crate::error::ContentError;
use crate::files::Files;
use crate::lesson::without_anchors;
use crate::load::{line_with, toml_file};
use serde::Deserialize;

/// Key of the exercise in the day's own folder.
pub const MAIN: &str = "main";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HintsFile {
    #[serde(default)]
    hint: Vec<HintFile>,
    #[serde(default)]
    when: Vec<WhenFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HintFile {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WhenFile {
    fault: String,
    text: String,
}

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
    let spec = match parse_spec(spec_text) {
        Ok(spec) => spec,
        Err((line, expected)) => {
            errors.push(ContentError::new(spec_path, line, expected));
            return None;
        }
    };
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
    for wrong in &spec.wrong {
        if let Some(text) = source(&wrong.file, line_with(spec_text, &wrong.file).max(1)) {
            wrongs.push(WrongKernel {
                file: wrong.file.clone(),
                source: text,
                fault: wrong.fault.clone(),
                why: wrong.why.clone(),
            });
        }
    }
    let experiments = experiments(files, folder, errors);
    let rungs = rungs(files, folder, errors);
    let hints = hints(files, folder, errors);
    Some(Exercise {
        key: key.to_owned(),
        folder: folder.to_owned(),
        spec,
        spec_text: spec_text.to_owned(),
        scaffold: scaffold?,
        reference: reference?,
        wrongs,
        experiments,
        rungs,
        hints,
    })
}

/// `hints.toml` lies with the words, for it is words: `curriculum/…` for `kernels/…`.
pub(crate) fn hints_path(folder: &str) -> String {
    format!("curriculum/{}/hints.toml", folder.strip_prefix("kernels/").unwrap_or(folder))
}

fn hints(files: &Files, folder: &str, errors: &mut Vec<ContentError>) -> Hints {
    let path = hints_path(folder);
    if files.text(&path).is_none() {
        return Hints::default();
    }
    let HintsFile { hint, when } = toml_file(files, &path, errors).unwrap_or_default();
    Hints {
        steps: hint.into_iter().map(|HintFile { text }| text.trim().to_owned()).collect(),
        triggered: when
            .into_iter()
            .map(|WhenFile { fault, text }| TriggeredHint { fault, text: text.trim().to_owned() })
            .collect(),
    }
}

fn experiments(files: &Files, folder: &str, errors: &mut Vec<ContentError>) -> Vec<Experiment> {
    let mut experiments = Vec::new();
    for (file, text) in files.below(&format!("{folder}/experiments")) {
        let path = format!("{folder}/experiments/{file}");
        let Some(name) = file.strip_suffix(".cu").filter(|name| crate::address::is_slug(name)) else {
            errors.push(ContentError::new(path, 0, "a file name such as `block-size.cu`"));
            continue;
        };
        let source = without_anchors(text);
        let mut comment = source.lines().map_while(|line| line.strip_prefix("//")).map(str::trim);
        let title = comment.next().unwrap_or_default().trim_end_matches('.').to_owned();
        if title.is_empty() {
            errors.push(ContentError::new(&path, 1, "a comment line with the experiment's title"));
        }
        let about = comment.collect::<Vec<_>>().join("\n").trim().to_owned();
        let knobs = knobs(&path, &source, errors);
        experiments.push(Experiment { name: name.to_owned(), title, about, source, knobs });
    }
    experiments
}

/// Reads the `//?` lines of an experiment.
fn knobs(path: &str, source: &str, errors: &mut Vec<ContentError>) -> Vec<Knob> {
    let lines: Vec<&str> = source.lines().collect();
    let mut knobs: Vec<Knob> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(rest) = line.trim().strip_prefix("//?") else { continue };
        let mut error = |expected: &str| errors.push(ContentError::new(path, index + 1, expected));
        let parts = rest.split_once(':').and_then(|(name, rest)| Some((name.trim(), rest.split_once('|')?)));
        let Some((name, (values, what))) = parts else {
            error("`//? NAME: value value | what it is`");
            continue;
        };
        let values: Vec<String> = values.split_whitespace().map(str::to_owned).collect();
        let target = lines.get(index + 1).copied().unwrap_or_default();
        let present: Vec<&String> = values.iter().filter(|value| find_token(target, value).is_some()).collect();
        if values.len() < 2 || present.len() != 1 {
            error("at least two values, exactly one of which stands on the next line");
            continue;
        }
        if knobs.iter().any(|knob| knob.name == name) {
            error("a knob name that is not used above");
        }
        knobs.push(Knob {
            name: name.to_owned(),
            what: what.trim().to_owned(),
            default: present[0].clone(),
            values,
            line: index + 1,
        });
    }
    knobs
}

/// Byte offset of `token` in `line` where it is not part of a longer word.
fn find_token(line: &str, token: &str) -> Option<usize> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    line.match_indices(token).map(|(at, _)| at).find(|at| {
        let before = line[..*at].chars().next_back();
        let after = line[at + token.len()..].chars().next();
        !before.is_some_and(word) && !after.is_some_and(word)
    })
}

impl Experiment {
    /// The source with knobs turned; knobs that are not named keep their value.
    ///
    /// # Errors
    /// No such knob, or a value that it does not offer: says which exist.
    pub fn with(&self, settings: &[(String, String)]) -> Result<String, String> {
        let mut lines: Vec<String> = self.source.lines().map(str::to_owned).collect();
        for (name, value) in settings {
            let Some(knob) = self.knobs.iter().find(|knob| knob.name == *name) else {
                let known: Vec<_> = self.knobs.iter().map(|knob| knob.name.as_str()).collect();
                return Err(format!("experiment {} has no knob `{name}`; it has: {}", self.name, known.join(", ")));
            };
            if !knob.values.contains(value) {
                return Err(format!("knob {name} takes {} (found `{value}`)", knob.values.join(", ")));
            }
            let line = &mut lines[knob.line];
            if let Some(at) = find_token(line, &knob.default) {
                line.replace_range(at..at + knob.default.len(), value);
            }
        }
        Ok(lines.join("\n") + "\n")
    }
}

fn rungs(files: &Files, folder: &str, errors: &mut Vec<ContentError>) -> Vec<Rung> {
    let mut rungs = Vec::new();
    for (file, source) in files.below(folder) {
        if file.contains('/') || !file.ends_with(".py") {
            continue;
        }
        let path = format!("{folder}/{file}");
        let title = source.split_once("\"\"\"").map_or("", |(_, rest)| rest.lines().next().unwrap_or_default());
        let title = title.trim_end_matches("\"\"\"").trim().trim_end_matches('.').to_owned();
        if title.is_empty() {
            errors.push(ContentError::new(&path, 1, "a docstring whose first line is the rung's title"));
        }
        let Some(packages) = inline_dependencies(source) else {
            errors.push(ContentError::new(
                path,
                1,
                "inline script metadata (PEP 723): `# /// script`, `# dependencies = [\"numpy\"]`, `# ///`",
            ));
            continue;
        };
        rungs.push(Rung { file: file.to_owned(), title, source: source.to_owned(), packages });
    }
    rungs
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

/// Becomes the exercise format's own reader as soon as there is one.
fn parse_spec(_text: &str) -> Result<gpu_core::spec::Spec, (usize, String)> {
    Err((0, "a build that reads exercise files".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// Stride.\n// Turn it.\n//? STRIDE: 1 2 32 | elements between threads\nconstexpr int STRIDE = 1; // not 12\n\
                        //? block: 64 128 | threads\n// lockstep: block = 128\n";

    fn experiment(text: &str) -> (Vec<Experiment>, Vec<ContentError>) {
        let files = Files::from_texts([("kernels/w/d/experiments/stride.cu", text)]);
        let mut errors = Vec::new();
        (experiments(&files, "kernels/w/d", &mut errors), errors)
    }

    #[test]
    fn knobs_change_one_token() {
        let (found, errors) = experiment(TEXT);
        assert_eq!(errors, []);
        assert_eq!((found[0].title.as_str(), found[0].knobs.len()), ("Stride", 2));
        let set = |name: &str, value: &str| found[0].with(&[(name.to_owned(), value.to_owned())]);
        assert!(set("STRIDE", "32").unwrap().contains("STRIDE = 32; // not 12"));
        assert!(set("block", "64").unwrap().contains("block = 64\n"));
        assert_eq!(found[0].with(&[]).unwrap(), TEXT);
        assert!(set("STRIDE", "3").unwrap_err().contains("1, 2, 32"));
        assert!(set("depth", "3").unwrap_err().contains("STRIDE, block"));
    }

    #[test]
    fn a_knob_that_turns_nothing_is_an_error() {
        for bad in ["// t\n//? A: 1 2 | x\nint a = 3;\n", "// t\n//? A: 1 2\nint a = 1;\n", "// t\n//? A: 1 2 | x"] {
            let (_, errors) = experiment(bad);
            assert_eq!(errors.len(), 1, "{bad}");
            assert_eq!(errors[0].line, 2);
        }
    }

    #[test]
    fn dependencies_are_read_from_the_script() {
        let text = "# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\"torch\", \"triton\"]\n# ///\n";
        assert_eq!(inline_dependencies(text), Some(vec!["torch".to_owned(), "triton".to_owned()]));
        assert_eq!(inline_dependencies("import numpy\n"), None);
    }
}
