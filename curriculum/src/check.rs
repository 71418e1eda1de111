//! What a sound course must have beyond the format of its files. The loader refuses what it cannot read; here is what
//! it can read and a learner would stumble over. Nothing is compiled or run: that half is `lockstep dev check`.

mod figures;
mod links;
mod solution;

use crate::answer::AnswerExercise;
use crate::course::Course;
use crate::exercise::Exercise;
use crate::files::Files;
use crate::load::exercise::path_of_given;
use crate::load::line_with;
use crate::quiz::{Kind, Needs, PredictAction, PredictKernel, PredictRun, Question, quantity};
use crate::unit::{Block, Unit, UnitKind};
use gpu_core::spec::{Fill, Param, size_name};
use std::collections::BTreeMap;
use std::fmt;

/// Least numbers, by custom of the course.
const LEAST_QUESTIONS: usize = 5;
const LEAST_OF_A_LAB: usize = 3;
const LEAST_HINTS: usize = 3;
const LEAST_WRONG_KERNELS: usize = 2;

/// One thing to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Path from the course's root.
    pub path: String,
    /// One-based; 0 when the finding is about the file as a whole.
    pub line: usize,
    /// What is wrong or missing, as a phrase.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// Collects findings about one file after the other.
struct Findings<'a> {
    files: &'a Files,
    list: Vec<Finding>,
}

impl Findings<'_> {
    /// `near` is a text in the file whose line is named; empty for the file as a whole.
    fn say(&mut self, path: &str, near: &str, what: impl Into<String>) {
        let line = if near.is_empty() { 0 } else { self.files.text(path).map_or(0, |text| line_with(text, near)) };
        self.list.push(Finding { path: path.to_owned(), line, what: what.into() });
    }
}

/// Everything about the course as a whole: repeated glossary terms, links that lead nowhere, files that belong to nothing.
pub fn course(files: &Files, course: &Course) -> Vec<Finding> {
    let mut findings = Findings { files, list: Vec::new() };
    for path in files.strangers() {
        findings.say(path, "", "no part of a course; remove it");
    }
    let mut introduced: BTreeMap<String, &Unit> = BTreeMap::new();
    for (term, day) in course.glossary() {
        if let Some(first) = introduced.insert(term.term.to_lowercase(), day) {
            let path = format!("{}/notes.toml", day.folder());
            findings.say(&path, &term.term, format!("the term `{}` is also explained by {}", term.term, first.address));
        }
    }
    for day in course.units() {
        let path = format!("{}/{}", day.folder(), day.kind.files().1);
        for section in &day.lesson.sections {
            for target in links::astray(&section.markdown, course) {
                findings.say(&path, target, format!("the link to `{target}` leads nowhere"));
            }
        }
    }
    for (day, problem) in crate::map::problems(course) {
        let head = format!("{}/{}", day.folder(), day.kind.files().0);
        findings.say(&head, "after", problem);
    }
    findings.list
}

/// Everything about one written unit. `visualizations` are the ids that the app has; None skips that check.
pub fn unit(files: &Files, day: &Unit, visualizations: Option<&[&str]>) -> Vec<Finding> {
    let mut findings = Findings { files, list: Vec::new() };
    let folder = day.folder();
    if !day.is_written() {
        let missing = format!("this file is missing: the {} is not written yet", day.kind.word());
        findings.say(&format!("{folder}/{}", day.kind.files().1), "", missing);
    } else {
        words(&mut findings, day, &folder);
        lesson(&mut findings, day, &folder, visualizations);
        quiz(&mut findings, day, &folder);
    }
    unexpected(&mut findings, day, &folder);
    for one in &day.exercises {
        exercise(&mut findings, one);
    }
    findings.list
}

/// A template's marker for words still to be written.
fn is_unfinished(text: &str) -> bool {
    text.contains("TODO:") || text.trim().is_empty()
}

fn words(findings: &mut Findings<'_>, day: &Unit, folder: &str) {
    let head = format!("{folder}/{}", day.kind.files().0);
    let (told, what) = match &day.kind {
        UnitKind::Day { .. } | UnitKind::Lab { .. } => (&day.objectives, "objectives"),
        UnitKind::Problem { concepts, .. } => (concepts, "concepts"),
        UnitKind::Page { tags } => (tags, "tags"),
    };
    if told.is_empty() || told.iter().chain([&day.summary]).any(|text| is_unfinished(text)) {
        findings.say(&head, "", format!("a summary and {what} that are written"));
    }
    let notes = format!("{folder}/notes.toml");
    if day.day().is_some() && (day.reflection.is_empty() || day.links.is_empty()) {
        findings.say(&notes, "", "at least one reflection and one link");
    }
    for reflection in &day.reflection {
        if is_unfinished(&reflection.ask) || is_unfinished(&reflection.think) {
            findings.say(&notes, &reflection.id, format!("reflection `{}` is not written", reflection.id));
        }
    }
    for link in &day.links {
        if !link.url.starts_with("https://") || is_unfinished(&link.why) {
            findings.say(&notes, &link.url, format!("link `{}` needs an https address and a reason", link.title));
        }
    }
    for (kind, name, empty) in day
        .math
        .iter()
        .map(|entry| ("math entry", &entry.name, is_unfinished(&entry.formula) || is_unfinished(&entry.meaning)))
        .chain(day.glossary.iter().map(|term| ("term", &term.term, is_unfinished(&term.meaning))))
    {
        if empty {
            findings.say(&notes, name, format!("{kind} `{name}` is not written"));
        }
    }
}

fn lesson(findings: &mut Findings<'_>, day: &Unit, folder: &str, visualizations: Option<&[&str]>) {
    let path = format!("{folder}/{}", day.kind.files().1);
    let word = day.kind.word();
    for section in &day.lesson.sections {
        if is_unfinished(&section.markdown) {
            findings.say(&path, &section.title, format!("the section `{}` is not written", section.title));
        }
        for figure in figures::without_machine(&section.markdown) {
            findings.say(&path, figure, format!("`{figure}` is a measurement: name the machine in the same paragraph"));
        }
        for block in &section.blocks {
            match block {
                Block::Experiment { name } if day.experiment(name).is_none() => {
                    findings.say(&path, name, format!("no exercise of the {word} has an experiment `{name}`"));
                }
                Block::Exercise { key } if day.exercise_by_key(key).is_none() => {
                    findings.say(&path, key, format!("the {word} has no exercise `{key}`"));
                }
                Block::Answer { key } if day.answer(key).is_none() => {
                    findings.say(&path, key, format!("the {word} has no answer exercise `{key}`"));
                }
                Block::Visualization { id, .. } if visualizations.is_some_and(|ids| !ids.contains(&id.as_str())) => {
                    findings.say(&path, id, format!("there is no visualization `{id}`"));
                }
                _ => {}
            }
        }
    }
    for answer in &day.answers {
        let shown = day.lesson.sections.iter().flat_map(|section| &section.blocks);
        if !shown.clone().any(|block| matches!(block, Block::Answer { key } if *key == answer.key)) {
            findings.say(&path, "", format!("the lesson has no `{{{{answer {}}}}}`", answer.key));
        }
    }
    // An exercise that the lesson never mentions would be found by nobody.
    for exercise in &day.exercises {
        let shown = day.lesson.sections.iter().flat_map(|section| &section.blocks);
        if !shown.clone().any(|block| matches!(block, Block::Exercise { key } if *key == exercise.key)) {
            findings.say(&path, "", format!("the lesson has no `{{{{exercise {}}}}}`", exercise.key));
        }
    }
}

fn quiz(findings: &mut Findings<'_>, day: &Unit, folder: &str) {
    let path = format!("{folder}/quiz.toml");
    let word = day.kind.word();
    let least = match day.kind {
        UnitKind::Day { .. } => LEAST_QUESTIONS,
        UnitKind::Lab { .. } => LEAST_OF_A_LAB,
        UnitKind::Problem { .. } | UnitKind::Page { .. } => 0,
    };
    if day.quiz.questions.len() < least {
        let count = day.quiz.questions.len();
        findings.say(&path, "", format!("{count} questions; a {word} has at least {least}"));
    }
    for question in &day.quiz.questions {
        let mut say = |what: String| findings.say(&path, &format!("\"{}\"", question.id), what);
        if [&question.prompt, &question.why, &question.concept].into_iter().any(|text| is_unfinished(text)) {
            say(format!("question `{}` is not written", question.id));
        }
        for what in explanations(question) {
            say(format!("question `{}`: {what}", question.id));
        }
        if let Kind::Predict { quantity: name, run, expected, .. } = &question.kind {
            if expected.is_none() && quantity(name).is_some_and(|quantity| quantity.needs == Needs::Emulator) {
                say(format!("question `{}`: an `expression` that gives what the emulator counts", question.id));
            }
            for what in prediction(day, name, run) {
                say(format!("question `{}`: {what}", question.id));
            }
        }
    }
}

/// Every wrong answer has its own explanation.
fn explanations(question: &Question) -> Vec<String> {
    let whys: Vec<&String> = match &question.kind {
        Kind::Single { choices } | Kind::Multiple { choices } => choices.iter().map(|choice| &choice.why).collect(),
        Kind::Numeric { traps, otherwise, .. } => traps.iter().map(|trap| &trap.why).chain([otherwise]).collect(),
        Kind::Cell { traps, otherwise, .. } => traps.iter().map(|trap| &trap.why).chain([otherwise]).collect(),
        Kind::Predict { traps, .. } => traps.iter().map(|trap| &trap.why).collect(),
    };
    let mut findings = Vec::new();
    for (index, why) in whys.iter().enumerate() {
        if is_unfinished(why) {
            findings.push("an explanation is not written".to_owned());
        } else if whys[..index].contains(why) {
            findings.push(format!("two answers have the same explanation (`{why}`)"));
        }
    }
    findings
}

/// What a predict-then-run question runs must exist and be able to give its quantity.
fn prediction(day: &Unit, name: &str, run: &PredictRun) -> Vec<String> {
    let Some(exercise) = day.exercise_by_key(&run.exercise) else {
        return vec![format!("the {} has no exercise `{}`", day.kind.word(), run.exercise)];
    };
    let mut findings = Vec::new();
    let mut spec = &exercise.spec;
    if let PredictKernel::Experiment { name, knobs } = &run.kernel {
        match exercise.experiments.iter().find(|experiment| experiment.name == *name) {
            None => findings.push(format!("exercise `{}` has no experiment `{name}`", exercise.key)),
            Some(experiment) => {
                findings.extend(experiment.with(knobs).err());
                spec = experiment.spec.as_ref().unwrap_or(spec);
            }
        }
    }
    let needs_gpu = quantity(name).is_some_and(|quantity| quantity.needs == Needs::Gpu);
    if needs_gpu && run.action == PredictAction::Check {
        findings.push(format!("`{name}` is a time, so the action must be `bench`"));
    }
    let sizes = match run.action {
        PredictAction::Check => spec.emulator_sizes(),
        PredictAction::Bench if needs_gpu => &spec.bench,
        PredictAction::Bench => spec.emulator_bench_sizes(),
    };
    let names: Vec<String> = sizes.iter().map(size_name).collect();
    if let Some(case) = &run.case
        && !names.contains(case)
    {
        findings.push(format!("no such case as `{case}`; there are: {}", names.join("; ")));
    }
    findings
}

/// Files in the day's folders that nothing refers to.
fn unexpected(findings: &mut Findings<'_>, day: &Unit, folder: &str) {
    let files = findings.files;
    let blocks = || day.lesson.sections.iter().flat_map(|section| &section.blocks);
    for (name, _) in files.below(folder) {
        let is_shown = blocks().any(|block| matches!(block, Block::Figure { file, .. } if file == name));
        let (head, words) = day.kind.files();
        if ![head, words, "quiz.toml", "notes.toml"].contains(&name) && !is_shown {
            findings.say(&format!("{folder}/{name}"), "", format!("no part of a {}; remove it", day.kind.word()));
        }
    }
    let kernels = format!("kernels/{}", day.address);
    for (name, _) in files.below(&kernels) {
        let path = format!("{kernels}/{name}");
        // The innermost exercise folder that holds it.
        let owner = day.exercises.iter().filter(|e| path.starts_with(&format!("{}/", e.folder)));
        let known = owner.max_by_key(|e| e.folder.len()).is_some_and(|e| is_expected(e, &path[e.folder.len() + 1..]));
        let of_answer = day.answers.iter().any(|answer| {
            path.strip_prefix(&format!("{}/", answer.folder)).is_some_and(|name| is_of_answer(files, answer, name))
        });
        let is_given = day.exercises.iter().any(|exercise| {
            let given = exercise.spec.given();
            given.iter().any(|given| path_of_given(files, &exercise.folder, &given.file).is_ok_and(|of| of == path))
        });
        if !known && !of_answer && !is_given {
            findings.say(
                &path,
                "",
                "neither a file of an exercise nor named in its exercise.toml; remove or declare it",
            );
        }
    }
}

/// `answer.toml`, and what it names.
fn is_of_answer(files: &Files, answer: &AnswerExercise, name: &str) -> bool {
    let names = files.text(&format!("{}/answer.toml", answer.folder)).unwrap_or_default();
    name == "answer.toml" || names.contains(&format!("\"{name}\""))
}

fn is_expected(exercise: &Exercise, name: &str) -> bool {
    ["exercise.toml", "scaffold.cu", "solution.cu", "reference.cu"].contains(&name)
        || exercise.spec.given().iter().any(|given| given.file == name)
        || exercise
            .spec
            .params
            .iter()
            .any(|param| matches!(param, Param::Buffer { fill: Some(Fill::File { path, .. }), .. } if path == name))
        || exercise.wrongs.iter().any(|wrong| wrong.file == name)
        || exercise.experiments.iter().any(|e| e.files.iter().any(|file| file == name))
        || exercise.scripts.iter().any(|script| script.file == name && is_script_name(name))
}

/// `04_triton_vector_add.py`
fn is_script_name(name: &str) -> bool {
    let (number, rest) = name.split_once('_').unwrap_or((name, ""));
    number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit()) && !rest.is_empty()
}

fn exercise(findings: &mut Findings<'_>, exercise: &Exercise) {
    let path = format!("{}/exercise.toml", exercise.folder);
    let Exercise { hints, wrongs, scaffold, .. } = exercise;
    if hints.steps.len() < LEAST_HINTS {
        findings.say(&path, "", format!("{} general hints; there are at least {LEAST_HINTS}", hints.steps.len()));
    }
    for step in hints.steps.iter().chain(hints.triggered.iter().flat_map(|hint| &hint.steps)) {
        if is_unfinished(step) {
            findings.say(&path, step, "a hint is not written");
        }
    }
    if wrongs.len() < LEAST_WRONG_KERNELS {
        findings.say(
            &path,
            "",
            format!("{} known-wrong kernels; there are at least {LEAST_WRONG_KERNELS}", wrongs.len()),
        );
    }
    for wrong in wrongs {
        if hints.own(&wrong.fault).is_none() {
            findings.say(
                &path,
                &wrong.file,
                format!("no hint `on = \"{}\"`, which a wrong kernel ends in", wrong.fault),
            );
        }
    }
    let place = format!("{}/scaffold.cu", exercise.folder);
    for what in solution::findings(scaffold, exercise.solution()) {
        findings.say(&place, what.near, what.what);
    }
}
