//! `lockstep export notebook`: a day as a Jupyter notebook, which runs the learner's kernel through this program.

use super::super::{Done, Failure, Places, content, out, usage};
use super::write;
use curriculum::quiz::{Kind, Question};
use curriculum::{Block, Course, Exercise, Unit};
use regex::Regex;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const HELPER: &str = include_str!("lockstep_notebook.py");

/// Names of the first week's notebooks, as courses in notebooks have them; others are named after their day.
const WEEK_1: [&str; 7] = [
    "01_numpy_baseline",
    "02_cupy_intro",
    "03_gpu_architecture",
    "04_first_kernel",
    "05_memory_hierarchy",
    "06_tiling_basics",
    "07_fast_matmul",
];

#[derive(clap::Args)]
pub struct Args {
    /// A day (week1/day4), a week (week1), a lab, or `all`
    what: String,
    /// Folder to write into; notebooks of the same name are replaced
    #[arg(short, long, value_name = "DIR", default_value = "notebooks")]
    output: PathBuf,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let course = content::course(places)?;
    let units = chosen(&course, &args.what)?;
    write(&args.output.join("lockstep_notebook.py"), HELPER.as_bytes())?;
    write(&args.output.join("00_ready_check.ipynb"), text_of(&ready()).as_bytes())?;
    for unit in &units {
        let name = name_of(unit);
        write(&args.output.join(format!("{name}.ipynb")), text_of(&notebook(unit, &args.output)?).as_bytes())?;
        let quiz = json!({ "questions": unit.quiz.questions.iter().map(question).collect::<Vec<_>>() });
        write(&args.output.join("quiz").join(format!("{}.json", unit.id)), text_of(&quiz).as_bytes())?;
    }
    let count = units.len() + 1;
    out::print(&format!(
        "{count} notebooks are in {}. Open them with: jupyter lab {}\n",
        args.output.display(),
        args.output.display()
    ));
    Ok(())
}

/// The units that a name stands for, those with a lesson.
fn chosen<'c>(course: &'c Course, what: &str) -> Result<Vec<&'c Unit>, Failure> {
    let written = course.units().filter(|unit| unit.is_written() && !unit.lesson.sections.is_empty());
    let below = format!("{}/", what.trim_end_matches('/'));
    let found: Vec<&Unit> = written.filter(|unit| what == "all" || unit.address.starts_with(&below)).collect();
    match found.is_empty() {
        false => Ok(found),
        true => Ok(vec![course.unit(what).map_err(usage)?]),
    }
}

/// File name without ending.
fn name_of(unit: &Unit) -> String {
    let slug = unit.address.rsplit('/').next().unwrap_or(&unit.address).replace('-', "_");
    match unit.day() {
        Some((1, day @ 1..=7)) => WEEK_1[day as usize - 1].to_owned(),
        Some((week, day)) => {
            let bare = slug.split_once('_').map_or(slug.as_str(), |(_, rest)| rest);
            format!("week{week}_{day:02}_{bare}")
        }
        None => unit.address.replace(['/', '-'], "_"),
    }
}

fn text_of(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Makes cells, each with an id of its own as the format wants.
#[derive(Default)]
struct Cells {
    cells: Vec<Value>,
}

impl Cells {
    fn add(&mut self, mut cell: Value, text: &str) {
        cell["id"] = format!("cell-{}", self.cells.len()).into();
        let lines: Vec<&str> = text.trim_end().split_inclusive('\n').collect();
        cell["source"] = json!(lines);
        self.cells.push(cell);
    }

    fn words(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.add(json!({ "cell_type": "markdown", "metadata": {} }), text);
        }
    }

    fn code(&mut self, text: &str, tags: &[&str]) {
        let cell = json!({
            "cell_type": "code", "metadata": { "tags": tags }, "execution_count": null, "outputs": [],
        });
        self.add(cell, text);
    }

    fn notebook(self) -> Value {
        json!({
            "cells": self.cells,
            "metadata": {
                "kernelspec": { "display_name": "Python 3", "language": "python", "name": "python3" },
                "language_info": { "name": "python" },
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        })
    }
}

fn ready() -> Value {
    let mut cells = Cells::default();
    cells.words("# Ready check\n\nThis notebook asks Lockstep what this machine has. No GPU is needed for the course.");
    cells.code("import lockstep_notebook as lockstep\n\nlockstep.ready()", &["ready"]);
    cells.notebook()
}

/// A Python string literal that shows a kernel line by line.
fn literal(text: &str) -> String {
    match text.contains("'''") || text.ends_with('\'') {
        false => format!("r'''\n{}\n'''", text.trim_end()),
        true => json!(text).to_string(),
    }
}

fn notebook(unit: &Unit, folder: &Path) -> Result<Value, Failure> {
    let mut cells = Cells::default();
    let goals: String = unit.objectives.iter().map(|goal| format!("- {goal}\n")).collect();
    let goals = if goals.is_empty() { goals } else { format!("\n\nAfter this you can:\n\n{goals}") };
    cells.words(&format!("# {}\n\n{}{goals}", unit.title, unit.summary));
    cells.code(
        &format!("import lockstep_notebook as lockstep\n\nunit = lockstep.Unit({:?}, {:?})", unit.address, unit.id),
        &["setup"],
    );
    let mut shown = Vec::new();
    for section in &unit.lesson.sections {
        cells.words(&format!("## {}", section.title));
        for block in &section.blocks {
            match block {
                Block::Markdown(text) => cells.words(text),
                Block::Figure { file, svg, caption } => {
                    let name = format!("{}-{file}", unit.id);
                    write(&folder.join("figures").join(&name), plain_svg(svg).as_bytes())?;
                    cells.words(&format!("![{}](figures/{name})\n\n*{caption}*", caption.replace(['[', ']'], "")));
                }
                Block::Visualization { caption, .. } => {
                    cells.words(&format!("> **In the window of Lockstep:** {caption}"));
                }
                Block::Ladder { name } => {
                    cells.words(&format!("> Its rungs, in a terminal: `lockstep bench --ladder {name}`"));
                }
                Block::Experiment { name } => cells.code(&format!("unit.experiment({name:?})"), &["experiment"]),
                Block::Exercise { key } => {
                    if let Some(exercise) = unit.exercise_by_key(key) {
                        shown.push(key.clone());
                        exercise_cells(&mut cells, exercise);
                    }
                }
                Block::Answer { key } => {
                    cells.words(&format!("> In a terminal: `lockstep answer {} {key}`", unit.address));
                }
                Block::Fill(table) => cells.words(&table.markdown()),
                Block::Measure { name } => cells.code(&format!("lockstep.measure({name:?})"), &["measure"]),
            }
        }
        if section.step == curriculum::Step::CodeIt {
            // A day's main exercise belongs here, whether or not the text has a line for it.
            for exercise in unit.exercises.iter().filter(|exercise| !shown.contains(&exercise.key)) {
                exercise_cells(&mut cells, exercise);
            }
            shown.extend(unit.exercises.iter().map(|exercise| exercise.key.clone()));
            for script in unit.exercises.iter().flat_map(|exercise| &exercise.scripts) {
                cells.words(&format!("**The same in Python** (`{}`):", script.file));
                cells.code(&format!("unit.rung({:?}, {})", script.file, literal(&script.source)), &["rung"]);
            }
        }
    }
    for exercise in unit.exercises.iter().filter(|exercise| !shown.contains(&exercise.key)) {
        exercise_cells(&mut cells, exercise);
    }
    rest(&mut cells, unit);
    Ok(cells.notebook())
}

fn exercise_cells(cells: &mut Cells, exercise: &Exercise) {
    cells.words(&format!(
        "### Exercise: {}\n\nComplete the kernel and run the cell: it is compiled and judged. `unit.hint({:?})` gives a hint.",
        exercise.spec.title, exercise.key
    ));
    let text =
        format!("kernel = {}\n\nresult = unit.check(kernel, exercise={:?})", literal(&exercise.scaffold), exercise.key);
    cells.code(&text, &["exercise", &format!("exercise-{}", exercise.key)]);
    cells.code(&format!("unit.bench(kernel, exercise={:?})", exercise.key), &["bench"]);
}

/// Quiz, formulas, links.
fn rest(cells: &mut Cells, unit: &Unit) {
    if !unit.quiz.questions.is_empty() {
        cells.words("## Quiz");
        for question in &unit.quiz.questions {
            cells.code(&format!("unit.ask({:?})", question.id), &["quiz"]);
        }
    }
    if !unit.math.is_empty() {
        let rows = unit
            .math
            .iter()
            .map(|math| format!("| {} | ${}$ | {} |\n", math.name, math.formula.replace('|', "\\vert "), math.meaning));
        cells.words(&format!(
            "## Formulas\n\n| Name | Formula | Meaning |\n|---|---|---|\n{}",
            rows.collect::<String>()
        ));
    }
    if !unit.links.is_empty() {
        let rows = unit.links.iter().map(|link| format!("- [{}]({}): {}\n", link.title, link.url, link.why));
        cells.words(&format!("## Links\n\n{}", rows.collect::<String>()));
    }
}

static COLOR: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"var\(--[a-z-]+, *([^)]*)\)").expect("the expression is a constant"));

/// A figure in the colours that it names for browsers.
fn plain_svg(svg: &str) -> String {
    COLOR.replace_all(svg, "$1").into_owned()
}

/// A question for the helper: its prompt, what can be answered, and what is said to each answer.
fn question(question: &Question) -> Value {
    let mut value = json!({
        "id": question.id, "kind": question.kind.name(), "prompt": question.prompt, "why": question.why,
    });
    match &question.kind {
        Kind::Single { choices } | Kind::Multiple { choices } => {
            let choices = choices.iter().map(|c| json!({ "text": c.text, "right": c.right, "why": c.why }));
            value["choices"] = choices.collect();
        }
        Kind::Numeric { answer, tolerance, unit, traps, otherwise, .. } => {
            value["answer"] = json!(answer);
            value["tolerance"] = json!(tolerance);
            value["unit"] = json!(unit);
            value["traps"] = traps.iter().map(|trap| json!({ "answer": trap.answer, "why": trap.why })).collect();
            value["otherwise"] = json!(otherwise);
        }
        Kind::Cell { rows, columns, cells, otherwise, row_label, column_label, .. } => {
            value["rows"] = json!(rows);
            value["columns"] = json!(columns);
            value["row_label"] = json!(row_label);
            value["column_label"] = json!(column_label);
            value["cells"] = json!(cells);
            value["otherwise"] = json!(otherwise);
        }
        Kind::Predict { expected, relative_tolerance, tolerance, quantity, .. } => {
            value["answer"] = json!(expected);
            value["relative_tolerance"] = json!(relative_tolerance);
            value["tolerance"] = json!(tolerance);
            value["quantity"] = json!(quantity);
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_is_a_sound_notebook() {
        let course = Course::embedded();
        let folder = tempfile::tempdir().expect("a folder");
        let mut names = Vec::new();
        for unit in chosen(&course, "all").unwrap_or_default() {
            let notebook = notebook(unit, folder.path()).unwrap_or_else(|why| panic!("{}: {why:?}", unit.address));
            let cells = notebook["cells"].as_array().expect("cells");
            let code = |tag: &str| {
                cells
                    .iter()
                    .filter(|cell| {
                        cell["metadata"]["tags"].as_array().is_some_and(|tags| tags.iter().any(|t| t == tag))
                    })
                    .count()
            };
            assert_eq!(code("exercise"), unit.exercises.len(), "{}", unit.address);
            assert_eq!(code("quiz"), unit.quiz.questions.len(), "{}", unit.address);
            assert!(!serde_json::to_string(cells).unwrap_or_default().contains("var(--"), "{}", unit.address);
            names.push(name_of(unit));
        }
        assert!(names.len() >= 14, "{names:?}");
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "two notebooks of one name");
        assert!(matches!(chosen(&course, "week9"), Err(Failure::Usage(_))));
    }
}
