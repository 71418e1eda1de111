//! The course's half of an exercise file: hints, known-wrong kernels, experiments and rivals. `gpu_core::spec` reads the other
//! half and takes note of these sections by name, so that a key that neither knows is an error of one of the two.

use crate::exercise::Knob;
use gpu_core::spec::toml_reader::{self, Item, Reader, Section, SpecError, join};
use gpu_core::spec::{LEFT_TO_THE_COURSE, Spec};
use gpu_core::verdict::HINT_KEYS;
use std::collections::BTreeSet;

/// All of it, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    pub hints: Vec<Hint>,
    pub wrongs: Vec<Wrong>,
    pub experiments: Vec<Experiment>,
    /// The ladder whose rivals may be timed beside the kernel.
    pub rivals: Option<String>,
}

/// Reads an exercise file: what it asks of a kernel, and what the course has to say about it.
///
/// # Errors
/// Every problem of both halves, in line order.
pub(crate) fn parse(text: &str, path: &str) -> Result<(Spec, Declared), SpecError> {
    match (Spec::parse(text, path), toml_reader::parse(text, path, read)) {
        (Ok(spec), Ok(declared)) => Ok((spec, declared)),
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
        (Err(mut error), Err(other)) => {
            // A file that is no TOML is told twice.
            error.problems.extend(other.problems);
            error.problems.sort_by_key(|problem| (problem.line, problem.column));
            error.problems.dedup();
            Err(error)
        }
    }
}

/// Reads a file that asks and has nothing to say: an experiment's own, or a rung's.
///
/// # Errors
/// As [`parse`]; sections of the course are among the problems.
pub(crate) fn parse_bare(text: &str, path: &str) -> Result<Spec, SpecError> {
    let spec = Spec::parse(text, path)?;
    toml_reader::parse(text, path, |r, root| {
        for (key, span, _) in root.entries().filter(|(key, ..)| LEFT_TO_THE_COURSE.contains(key)) {
            r.problem("", span, "this key in the exercise.toml of the exercise itself", format!("`{key}`"));
        }
        Some(())
    })?;
    Ok(spec)
}

fn read(r: &mut Reader<'_>, mut root: Section<'_>) -> Option<Declared> {
    Some(Declared {
        hints: r.sections(&mut root, "hint").into_iter().filter_map(|s| read_hint(r, s)).collect(),
        wrongs: r.sections(&mut root, "wrong").into_iter().filter_map(|s| read_wrong(r, s)).collect(),
        experiments: r.sections(&mut root, "experiment").into_iter().filter_map(|s| read_experiment(r, s)).collect(),
        rivals: r.string(&mut root, "rivals", false),
    })
}

/// A kernel that must be rejected, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// Path relative to the exercise's folder.
    pub file: String,
    /// One of [`gpu_core::verdict::HINT_KEYS`].
    pub fault: String,
    /// What the learner believed, for authors.
    pub why: String,
}

/// Steps of help, from a nudge to nearly the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// One of [`gpu_core::verdict::HINT_KEYS`]: shown when the judge diagnoses it. None: the general hints.
    pub on: Option<String>,
    pub steps: Vec<String>,
}

/// A kernel to run and vary, with nothing to pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Experiment {
    /// Path of the `.cu` file, relative to the exercise's folder.
    pub file: String,
    pub title: String,
    /// The question that it answers.
    pub question: String,
    /// Path of its own spec when it takes other parameters than the exercise.
    pub spec: Option<String>,
    pub knobs: Vec<Knob>,
}

fn read_hint(r: &mut Reader<'_>, mut section: Section<'_>) -> Option<Hint> {
    let on = match r.item(&mut section, "on", None) {
        None => None,
        Some(item) => Some(read_key(r, item, &join(&section.at, "on"))?),
    };
    let what = "an array of strings, from a nudge to nearly the answer";
    let at = join(&section.at, "steps");
    let items = r.array(&mut section, "steps", Some(what))?;
    let steps: Vec<String> = items.into_iter().filter_map(|(item, at)| r.as_string(item, &at)).collect();
    if steps.is_empty() {
        r.problem(&at, section.span.clone(), what, "none");
    }
    r.finish(section);
    Some(Hint { on, steps })
}

fn read_key(r: &mut Reader<'_>, item: Item<'_>, at: &str) -> Option<String> {
    let choices: Vec<(&'static str, &'static str)> = HINT_KEYS.iter().map(|key| (*key, *key)).collect();
    r.choice(item, at, "a diagnosis", &choices).map(str::to_owned)
}

fn read_wrong(r: &mut Reader<'_>, mut section: Section<'_>) -> Option<Wrong> {
    let file = r.file_name(&mut section, "file", ".cu");
    let fault = r.item(&mut section, "fault", Some("the diagnosis that rejects it"));
    let fault = fault.and_then(|item| read_key(r, item, &join(&section.at, "fault")));
    let why = r.string(&mut section, "why", true);
    r.finish(section);
    Some(Wrong { file: file?, fault: fault?, why: why? })
}

fn read_experiment(r: &mut Reader<'_>, mut section: Section<'_>) -> Option<Experiment> {
    let file = r.file_name(&mut section, "file", ".cu");
    let title = r.string(&mut section, "title", true);
    let question = r.string(&mut section, "question", true);
    let spec = if section.has("spec") { Some(r.file_name(&mut section, "spec", ".toml")?) } else { None };
    let mut names = BTreeSet::new();
    let mut knobs = Vec::new();
    for knob in r.sections(&mut section, "knob") {
        let (at, span) = (knob.at.clone(), knob.span.clone());
        let Some(knob) = read_knob(r, knob) else { continue };
        if !names.insert(knob.name.clone()) {
            r.problem(&at, span, "a name that no other knob has", format!("`{}` again", knob.name));
        }
        knobs.push(knob);
    }
    r.finish(section);
    Some(Experiment { file: file?, title: title?, question: question?, spec, knobs })
}

fn read_knob(r: &mut Reader<'_>, mut section: Section<'_>) -> Option<Knob> {
    let name = r.identifier(&mut section, "name", "the macro's name, a C identifier");
    let label = r.string(&mut section, "label", true);
    let at = join(&section.at, "values");
    let items = r.array(&mut section, "values", Some("an array of whole numbers"))?;
    let values: Vec<i64> = items.into_iter().filter_map(|(item, at)| r.as_integer(item, &at)).collect();
    if values.len() < 2 {
        r.problem(&at, section.span.clone(), "at least two values to compare", format!("{}", values.len()));
    }
    let default_at = join(&section.at, "default");
    let default = match r.item(&mut section, "default", None) {
        None => values.first().copied(),
        Some(item) => r.as_integer(item, &default_at),
    };
    if default.is_some_and(|default| !values.contains(&default)) {
        r.problem(&default_at, section.span.clone(), format!("one of {values:?}"), format!("{default:?}"));
    }
    r.finish(section);
    Some(Knob { name: name?, values, default: default?, label: label? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = include_str!("../../../kernels/README.md");

    fn example() -> &'static str {
        let start = README.find("```toml\n").expect("README holds an example") + 8;
        let end = README[start..].find("```").expect("the example ends");
        &README[start..start + end]
    }

    #[test]
    fn the_documented_example_has_both_halves() {
        let (spec, declared) = parse(example(), "example.toml").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(spec.entry(), "vector_add");
        assert_eq!(declared.hints.len(), 2);
        assert_eq!(declared.wrongs[0].fault, "out_of_bounds");
        assert_eq!(declared.experiments[0].knobs[0].default, 1);
    }

    #[test]
    fn every_section_that_is_left_to_the_course_is_read_here() {
        let start = example().find("[[hint]]").expect("the course's sections come last");
        for key in LEFT_TO_THE_COURSE {
            let error = parse(&format!("{key} = 3\n{}", &example()[..start]), "e.toml");
            let error = error.expect_err(key).to_string();
            let wanted = if key == "rivals" { "a string" } else { "an array of tables" };
            assert!(error.contains(&format!("{key}: expected {wanted}")), "{error}");
        }
    }

    #[track_caller]
    fn rejects(from: &str, to: &str, parts: &[&str]) {
        assert!(example().contains(from), "the example no longer holds {from:?}");
        let error = parse(&example().replacen(from, to, 1), "exercise.toml").expect_err(to).to_string();
        for part in parts.iter().chain(&["exercise.toml:"]) {
            assert!(error.contains(part), "`{to}` gives\n{error}\nwithout\n{part}");
        }
    }

    #[test]
    fn mistakes_are_named_with_line_expectation_and_finding() {
        rejects("fault = \"out_of_bounds\"", "fault = \"oob\"", &["a diagnosis", "race", "\"oob\""]);
        rejects("file = \"wrong/", "file = \"../wrong/", &["relative path to a .cu file"]);
        rejects("values = [1, 2, 4, 8, 16, 32]", "values = [2]", &["at least two values"]);
        rejects("default = 1", "default = 3", &["one of [1, 2"]);
        rejects("[[hint]]", "[[hnt]]", &["did you mean `hint`?"]);
        rejects("[[experiment.knob]]", "[[experiment.knop]]", &["experiment[0]", "did you mean `knob`?"]);
        rejects("title = ", "title ", &["exercise.toml:1:", "valid TOML"]);
    }

    #[test]
    fn both_halves_report_at_once() {
        let text = example().replace("role = \"out\"", "role = \"output\"").replace("why = ", "wy = ");
        let error = parse(&text, "exercise.toml").expect_err("two mistakes").to_string();
        assert!(error.contains("in, out, inout") && error.contains("did you mean `why`?"), "{error}");
    }

    #[test]
    fn help_belongs_to_the_exercise_itself() {
        let error = parse_bare(example(), "experiments/own.toml").expect_err("it has hints").to_string();
        assert!(error.contains("exercise.toml of the exercise itself, found `hint`"), "{error}");
    }
}
