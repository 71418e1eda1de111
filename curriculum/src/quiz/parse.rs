//! Reads `quiz.toml`. One flat table for all kinds, so that every error has a line.

use super::{Choice, Kind, PredictAction, PredictKernel, PredictRun, Question, Quiz, Trap, evaluate, quantity};
use crate::error::{ContentError, line_of};
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQuiz {
    #[serde(default)]
    question: Vec<Spanned<RawQuestion>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawQuestion {
    id: String,
    kind: Spanned<String>,
    concept: String,
    prompt: String,
    why: String,
    #[serde(default)]
    choice: Vec<Spanned<RawChoice>>,
    answer: Option<f64>,
    expression: Option<Spanned<String>>,
    tolerance: Option<f64>,
    relative_tolerance: Option<f64>,
    unit: Option<String>,
    otherwise: Option<String>,
    #[serde(default)]
    trap: Vec<Spanned<RawTrap>>,
    rows: Option<u32>,
    columns: Option<u32>,
    row_label: Option<String>,
    column_label: Option<String>,
    cells: Option<Vec<(u32, u32)>>,
    quantity: Option<Spanned<String>>,
    run: Option<Spanned<RawRun>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawChoice {
    text: String,
    #[serde(default)]
    right: bool,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTrap {
    answer: Option<f64>,
    cell: Option<(u32, u32)>,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRun {
    #[serde(default = "main_exercise")]
    exercise: String,
    kernel: String,
    action: String,
    case: Option<String>,
    #[serde(default)]
    knobs: std::collections::BTreeMap<String, i64>,
}

fn main_exercise() -> String {
    "main".to_owned()
}

/// Parses and validates a quiz; reports all errors and leaves the faulty questions out.
pub(crate) fn parse(path: &str, text: &str, errors: &mut Vec<ContentError>) -> Quiz {
    let raw: RawQuiz = match toml::from_str(text) {
        Ok(raw) => raw,
        Err(error) => {
            errors.push(ContentError::from_toml(path, text, &error));
            return Quiz::default();
        }
    };
    let mut quiz = Quiz::default();
    for raw in raw.question {
        let mut reader = Reader { path, text, start: raw.span().start, errors };
        if let Some(question) = reader.question(raw.into_inner()) {
            if quiz.question(&question.id).is_some() {
                reader.error(None, format!("an id that no earlier question has (found `{}` again)", question.id));
            }
            quiz.questions.push(question);
        }
    }
    quiz
}

struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    start: usize,
    errors: &'a mut Vec<ContentError>,
}

impl Reader<'_> {
    fn error(&mut self, at: Option<usize>, expected: impl Into<String>) {
        let line = line_of(self.text, at.unwrap_or(self.start));
        self.errors.push(ContentError::new(self.path, line, expected));
    }

    fn need<T>(&mut self, value: Option<T>, name: &str, kind: &str) -> Option<T> {
        if value.is_none() {
            self.error(None, format!("`{name}` in a question of kind {kind}"));
        }
        value
    }

    fn question(&mut self, raw: RawQuestion) -> Option<Question> {
        if !crate::names::is_slug(&raw.id) {
            self.error(None, format!("an id of lower-case words and hyphens (found `{}`)", raw.id));
        }
        for (name, text) in [("concept", &raw.concept), ("prompt", &raw.prompt), ("why", &raw.why)] {
            if text.trim().is_empty() {
                self.error(None, format!("a `{name}` that is not empty"));
            }
        }
        self.only_fields_of_kind(&raw);
        let kind = match raw.kind.get_ref().as_str() {
            "single" | "multiple" => self.choices(&raw)?,
            "numeric" => self.numeric(&raw)?,
            "cell" => self.cell(&raw)?,
            "predict" => self.predict(&raw)?,
            other => {
                let at = raw.kind.span().start;
                let expected = format!("a kind: single, multiple, numeric, cell or predict (found `{other}`)");
                self.error(Some(at), expected);
                return None;
            }
        };
        let RawQuestion { id, concept, prompt, why, .. } = raw;
        let clean = |text: String| text.trim().to_owned();
        Some(Question { id, concept, prompt: clean(prompt), why: clean(why), kind })
    }

    /// A field that the kind does not read would be silently lost.
    fn only_fields_of_kind(&mut self, raw: &RawQuestion) {
        let kind = raw.kind.get_ref().as_str();
        let present = [
            ("choice", !raw.choice.is_empty(), &["single", "multiple"][..]),
            ("answer", raw.answer.is_some(), &["numeric"]),
            ("expression", raw.expression.is_some(), &["numeric", "predict"]),
            ("unit", raw.unit.is_some(), &["numeric"]),
            ("tolerance", raw.tolerance.is_some(), &["numeric", "predict"]),
            ("relative_tolerance", raw.relative_tolerance.is_some(), &["predict"]),
            ("otherwise", raw.otherwise.is_some(), &["numeric", "cell"]),
            ("trap", !raw.trap.is_empty(), &["numeric", "cell", "predict"]),
            ("rows", raw.rows.is_some(), &["cell"]),
            ("columns", raw.columns.is_some(), &["cell"]),
            ("row_label", raw.row_label.is_some(), &["cell"]),
            ("column_label", raw.column_label.is_some(), &["cell"]),
            ("cells", raw.cells.is_some(), &["cell"]),
            ("quantity", raw.quantity.is_some(), &["predict"]),
            ("run", raw.run.is_some(), &["predict"]),
        ];
        for (name, present, kinds) in present {
            if present && !kinds.contains(&kind) {
                self.error(None, format!("no `{name}` in a question of kind {kind}"));
            }
        }
    }

    fn choices(&mut self, raw: &RawQuestion) -> Option<Kind> {
        let kind = raw.kind.get_ref().as_str();
        let mut choices = Vec::new();
        for choice in &raw.choice {
            let RawChoice { text, right, why } = choice.get_ref();
            if text.trim().is_empty() || why.trim().is_empty() {
                self.error(Some(choice.span().start), "a choice with a `text` and its own `why`");
            }
            choices.push(Choice { text: text.trim().to_owned(), right: *right, why: why.trim().to_owned() });
        }
        let right = choices.iter().filter(|choice| choice.right).count();
        if choices.len() < 2 {
            self.error(None, "at least two choices");
        } else if kind == "single" && right != 1 {
            self.error(None, format!("exactly one choice with `right = true` (found {right})"));
        } else if kind == "multiple" && (right == 0 || right == choices.len()) {
            self.error(None, "at least one right and one wrong choice");
        } else {
            return Some(if kind == "single" { Kind::Single { choices } } else { Kind::Multiple { choices } });
        }
        None
    }

    fn numeric(&mut self, raw: &RawQuestion) -> Option<Kind> {
        let answer = self.need(raw.answer, "answer", "numeric")?;
        let otherwise = self.need(raw.otherwise.clone(), "otherwise", "numeric")?;
        let tolerance = self.not_negative(raw.tolerance, "tolerance");
        if let Some(expression) = &raw.expression {
            match evaluate(expression.get_ref()) {
                Ok(value) if (value - answer).abs() <= tolerance.max(answer.abs() * 1e-9) => {}
                Ok(value) => {
                    let expected = format!("an `answer` that `expression` gives (it gives {value}, found {answer})");
                    self.error(Some(expression.span().start), expected);
                }
                Err(expected) => self.error(Some(expression.span().start), expected),
            }
        }
        let traps = self.number_traps(raw);
        for trap in &traps {
            if (trap.answer - answer).abs() <= tolerance {
                self.error(None, format!("traps that are wrong (found {}, which is right)", trap.answer));
            }
        }
        Some(Kind::Numeric {
            answer,
            tolerance,
            unit: raw.unit.clone().unwrap_or_default(),
            expression: raw.expression.as_ref().map(|expression| expression.get_ref().clone()),
            traps,
            otherwise: otherwise.trim().to_owned(),
        })
    }

    fn not_negative(&mut self, value: Option<f64>, name: &str) -> f64 {
        let value = value.unwrap_or(0.0);
        if !(value.is_finite() && value >= 0.0) {
            self.error(None, format!("a `{name}` of 0 or more (found {value})"));
        }
        value
    }

    fn number_traps(&mut self, raw: &RawQuestion) -> Vec<Trap<f64>> {
        let mut traps = Vec::new();
        for trap in &raw.trap {
            let RawTrap { answer, cell, why } = trap.get_ref();
            match (answer, cell) {
                (Some(answer), None) => traps.push(Trap { answer: *answer, why: why.trim().to_owned() }),
                _ => self.error(Some(trap.span().start), "a trap with `answer` (a number) and `why`"),
            }
        }
        traps
    }

    fn cell(&mut self, raw: &RawQuestion) -> Option<Kind> {
        let rows = self.need(raw.rows, "rows", "cell")?;
        let columns = self.need(raw.columns, "columns", "cell")?;
        let cells = self.need(raw.cells.clone(), "cells", "cell")?;
        let otherwise = self.need(raw.otherwise.clone(), "otherwise", "cell")?;
        if !(1..=64).contains(&rows) || !(1..=64).contains(&columns) {
            self.error(None, format!("a grid of 1 to 64 rows and columns (found {rows} x {columns})"));
            return None;
        }
        let mut traps = Vec::new();
        for trap in &raw.trap {
            let RawTrap { answer, cell, why } = trap.get_ref();
            match (answer, cell) {
                (None, Some(cell)) => traps.push(Trap { answer: *cell, why: why.trim().to_owned() }),
                _ => self.error(Some(trap.span().start), "a trap with `cell` ([row, column]) and `why`"),
            }
        }
        let inside = |cell: &(u32, u32)| cell.0 < rows && cell.1 < columns;
        if cells.is_empty() || !cells.iter().all(inside) || !traps.iter().all(|trap| inside(&trap.answer)) {
            self.error(None, format!("`cells` and trap cells inside the {rows} x {columns} grid, counted from 0"));
        }
        if traps.iter().any(|trap| cells.contains(&trap.answer)) {
            self.error(None, "trap cells that are wrong");
        }
        Some(Kind::Cell {
            rows,
            columns,
            row_label: raw.row_label.clone().unwrap_or_else(|| "row".to_owned()),
            column_label: raw.column_label.clone().unwrap_or_else(|| "column".to_owned()),
            cells,
            traps,
            otherwise: otherwise.trim().to_owned(),
        })
    }

    fn predict(&mut self, raw: &RawQuestion) -> Option<Kind> {
        let name = self.need(raw.quantity.as_ref(), "quantity", "predict")?;
        if quantity(name.get_ref()).is_none() {
            let known: Vec<_> = super::QUANTITIES.iter().map(|quantity| quantity.name).collect();
            let expected = format!("a quantity: {} (found `{}`)", known.join(", "), name.get_ref());
            self.error(Some(name.span().start), expected);
        }
        let run = self.need(raw.run.as_ref(), "run", "predict")?;
        let at = Some(run.span().start);
        let RawRun { exercise, kernel, action, case, knobs } = run.get_ref();
        let knobs: Vec<_> = knobs.iter().map(|(name, value)| (name.clone(), *value)).collect();
        let kernel = match kernel.as_str() {
            "learner" => PredictKernel::Learner,
            "solution" => PredictKernel::Solution,
            "reference" => PredictKernel::Reference,
            other => match other.strip_prefix("experiments/") {
                Some(name) => PredictKernel::Experiment { name: name.to_owned(), knobs },
                None => {
                    self.error(
                        at,
                        format!("`learner`, `solution`, `reference` or `experiments/NAME` (found `{other}`)"),
                    );
                    return None;
                }
            },
        };
        let action = match action.as_str() {
            "check" => PredictAction::Check,
            "bench" => PredictAction::Bench,
            other => {
                self.error(at, format!("`check` or `bench` as action (found `{other}`)"));
                return None;
            }
        };
        let relative_tolerance = self.not_negative(raw.relative_tolerance, "relative_tolerance");
        let tolerance = self.not_negative(raw.tolerance, "tolerance");
        let expected = raw.expression.as_ref().map(|expression| (evaluate(expression.get_ref()), expression.span()));
        let expected = expected.and_then(|(value, span)| match value {
            Ok(value) => Some(value),
            Err(problem) => {
                self.error(Some(span.start), problem);
                None
            }
        });
        Some(Kind::Predict {
            quantity: name.get_ref().clone(),
            run: PredictRun { exercise: exercise.clone(), kernel, action, case: case.clone() },
            relative_tolerance,
            tolerance,
            expected,
            traps: self.number_traps(raw),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors_of(text: &str) -> Vec<String> {
        let mut errors = Vec::new();
        parse("quiz.toml", text, &mut errors);
        errors.iter().map(ToString::to_string).collect()
    }

    const HEAD: &str = "[[question]]\nid = \"a\"\nconcept = \"c\"\nprompt = \"p\"\nwhy = \"w\"\n";

    #[test]
    fn good_questions_are_read() {
        let text = format!(
            "{HEAD}kind = \"numeric\"\nanswer = 127\nexpression = \"3 * 40 + 7\"\notherwise = \"no\"\n\
             [[question.trap]]\nanswer = 283\nwhy = \"swapped\"\n"
        );
        let mut errors = Vec::new();
        let quiz = parse("quiz.toml", &text, &mut errors);
        assert_eq!(errors, []);
        assert_eq!(quiz.questions[0].kind.name(), "numeric");
    }

    #[test]
    fn each_mistake_is_told_with_path_line_and_what_is_expected() {
        let cases = [
            (
                "kind = \"numeric\"\nanswer = 1\nexpression = \"2\"\notherwise = \"n\"",
                "quiz.toml:8: expected an `answer`",
            ),
            ("kind = \"numeric\"\nanswer = 1", "quiz.toml:1: expected `otherwise`"),
            ("kind = \"essay\"", "quiz.toml:6: expected a kind: single"),
            ("kind = \"single\"\nchoice = [{text = \"a\", why = \"w\"}, {text = \"b\", why = \"w\"}]", "exactly one"),
            (
                "kind = \"single\"\nchoice = [{text = \"a\", why = \"\"}, {text = \"b\", why = \"w\", right = true}]",
                "quiz.toml:7",
            ),
            ("kind = \"multiple\"\nchoice = [{text = \"a\", why = \"w\", right = true}]", "two choices"),
            ("kind = \"cell\"\nrows = 2\ncolumns = 2\ncells = [[2, 0]]\notherwise = \"n\"", "inside the 2 x 2 grid"),
            (
                "kind = \"predict\"\nquantity = \"speed\"\nrun = {kernel = \"reference\", action = \"check\"}",
                "a quantity: async_bytes",
            ),
            ("kind = \"predict\"\nquantity = \"faults\"\nrun = {kernel = \"mine\", action = \"check\"}", "`learner`"),
            ("kind = \"single\"\nrows = 2", "no `rows` in a question of kind single"),
            ("kind = \"single\"\ncolour = 2", "quiz.toml:7: expected valid TOML: unknown field `colour`"),
            ("kind = ", "quiz.toml:6: expected valid TOML"),
        ];
        for (text, message) in cases {
            let errors = errors_of(&format!("{HEAD}{text}"));
            assert!(errors.iter().any(|error| error.contains(message)), "{text}\ngave {errors:?}");
        }
    }

    #[test]
    fn ids_are_unique() {
        let one = format!("{HEAD}kind = \"cell\"\nrows = 1\ncolumns = 1\ncells = [[0, 0]]\notherwise = \"n\"\n");
        assert!(errors_of(&format!("{one}{one}"))[0].contains("no earlier question"));
    }
}
