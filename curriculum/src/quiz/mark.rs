//! Marking: an answer becomes right or wrong with the sentence that explains it.

use super::{Choice, Kind, Question, Trap, quantity};
use std::collections::BTreeSet;

/// What a learner answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Index into the choices, as they stand in the file.
    Choice(usize),
    Choices(BTreeSet<usize>),
    Number(f64),
    /// Clicked cells as (row, column).
    Cells(BTreeSet<(u32, u32)>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub correct: bool,
    /// Explains this very answer, in Markdown. Never empty for a wrong answer.
    pub message: String,
}

impl Mark {
    fn wrong(message: impl Into<String>) -> Self {
        Self { correct: false, message: message.into() }
    }
}

/// Marks an answer. A prediction cannot be marked before its run: use [`mark_prediction`].
///
/// # Errors
/// The answer does not fit the question (a number for a choice, an index that does not exist, no answer at all):
/// says what is expected. It counts neither as right nor as wrong.
pub fn mark(question: &Question, answer: &Answer) -> Result<Mark, String> {
    match (&question.kind, answer) {
        (Kind::Single { choices }, Answer::Choice(index)) => {
            let choice = choices.get(*index).ok_or("one of the choices")?;
            Ok(Mark { correct: choice.right, message: choice.why.clone() })
        }
        (Kind::Multiple { choices }, Answer::Choices(chosen)) => mark_multiple(question, choices, chosen),
        (Kind::Numeric { answer, tolerance, traps, otherwise, .. }, Answer::Number(number)) => {
            if !number.is_finite() {
                return Err("a finite number".to_owned());
            }
            if (number - answer).abs() <= *tolerance + answer.abs() * 1e-12 {
                return Ok(Mark { correct: true, message: question.why.clone() });
            }
            Ok(Mark::wrong(trap_for(traps, *number, *tolerance).unwrap_or(otherwise)))
        }
        (Kind::Cell { rows, columns, cells, traps, otherwise, .. }, Answer::Cells(clicked)) => {
            if clicked.is_empty() {
                return Err("at least one cell".to_owned());
            }
            if clicked.iter().any(|(row, column)| row >= rows || column >= columns) {
                return Err(format!("cells of the {rows} x {columns} grid"));
            }
            let wanted: BTreeSet<_> = cells.iter().copied().collect();
            if *clicked == wanted {
                return Ok(Mark { correct: true, message: question.why.clone() });
            }
            if let Some(trap) = traps.iter().find(|trap| clicked.contains(&trap.answer)) {
                return Ok(Mark::wrong(&trap.why));
            }
            if clicked.is_subset(&wanted) {
                let missing = wanted.len() - clicked.len();
                return Ok(Mark::wrong(format!("Right so far, but {missing} more belong to it. {otherwise}")));
            }
            Ok(Mark::wrong(otherwise))
        }
        (Kind::Predict { .. }, _) => Err("a run first: the answer is what this machine measures".to_owned()),
        (kind, _) => Err(format!("an answer to a {} question", kind.name())),
    }
}

fn mark_multiple(question: &Question, choices: &[Choice], chosen: &BTreeSet<usize>) -> Result<Mark, String> {
    if chosen.is_empty() {
        return Err("at least one choice".to_owned());
    }
    if chosen.iter().any(|index| *index >= choices.len()) {
        return Err("only choices that exist".to_owned());
    }
    // Each choice that was ticked wrongly explains itself. Which ones are missing is not said: that would be the answer.
    let ticked = choices.iter().enumerate().filter(|(index, choice)| !choice.right && chosen.contains(index));
    let mut reasons: Vec<String> =
        ticked.map(|(_, choice)| format!("Not \"{}\": {}", choice.text, choice.why)).collect();
    let complete = left_out(choices, chosen).is_empty();
    if reasons.is_empty() && complete {
        return Ok(Mark { correct: true, message: question.why.clone() });
    }
    if !complete {
        let missed = if reasons.is_empty() {
            "Close: you missed a correct answer."
        } else {
            "You also missed a correct answer."
        };
        reasons.push(missed.to_owned());
    }
    Ok(Mark::wrong(reasons.join("\n\n")))
}

/// The right choices that were not chosen, each with its explanation: what the whole answer adds to a mark.
pub fn left_out(choices: &[Choice], chosen: &BTreeSet<usize>) -> Vec<String> {
    let missing = choices.iter().enumerate().filter(|(index, choice)| choice.right && !chosen.contains(index));
    missing.map(|(_, choice)| format!("\"{}\": {}", choice.text, choice.why)).collect()
}

/// The explanation of a known wrong number, if this is one.
fn trap_for(traps: &[Trap<f64>], number: f64, tolerance: f64) -> Option<&String> {
    let near = |trap: &&Trap<f64>| (number - trap.answer).abs() <= tolerance.max(trap.answer.abs() * 0.005);
    traps.iter().find(near).map(|trap| &trap.why)
}

/// Marks a prediction against what was measured, in the quantity's unit.
///
/// # Errors
/// Not a prediction question, or a number that is not finite.
pub fn mark_prediction(question: &Question, predicted: f64, measured: f64) -> Result<Mark, String> {
    let Kind::Predict { quantity: name, relative_tolerance, tolerance, traps, .. } = &question.kind else {
        return Err("a predict-then-run question".to_owned());
    };
    if !predicted.is_finite() || !measured.is_finite() {
        return Err("a finite number".to_owned());
    }
    let unit = quantity(name).map_or("", |quantity| quantity.unit);
    let space = if unit.is_empty() || unit == "%" { "" } else { " " };
    let said = |number: f64| format!("{}{space}{unit}", show(number));
    let correct = (predicted - measured).abs() <= tolerance.max(relative_tolerance * measured.abs());
    let opening = format!("You predicted {}, this machine measured {}.", said(predicted), said(measured));
    let reason = if correct { &question.why } else { trap_for(traps, predicted, *tolerance).unwrap_or(&question.why) };
    Ok(Mark { correct, message: format!("{opening} {reason}") })
}

/// A number with at most four significant digits behind the point and none that say nothing.
fn show(number: f64) -> String {
    if number == 0.0 || !(1e-4..1e15).contains(&number.abs()) {
        return format!("{number:e}").replace("0e0", "0");
    }
    let digits = (3 - number.abs().log10().floor() as i64).clamp(0, 8) as usize;
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Units that can be typed for one another, each with how many of the first it is.
const UNITS: [&[(&str, f64)]; 4] = [
    &[
        ("bytes", 1.0),
        ("byte", 1.0),
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ],
    &[("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)],
    &[("FLOP/s", 1.0), ("MFLOP/s", 1e6), ("GFLOP/s", 1e9), ("TFLOP/s", 1e12), ("PFLOP/s", 1e15)],
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9)],
];

/// A number with another unit of the same kind behind it (`2 MiB` where bytes are asked): what stands before the unit,
/// and how many of the asked unit one of it is.
fn in_other_unit<'t>(text: &'t str, asked: &str) -> Option<(&'t str, f64)> {
    let of = |unit: &str| {
        let families = UNITS.iter().enumerate();
        let mut units = families.flat_map(|(kind, family)| family.iter().map(move |(name, size)| (kind, *name, *size)));
        units.find(|(_, name, _)| name.eq_ignore_ascii_case(unit)).map(|(kind, _, size)| (kind, size))
    };
    let (kind, size) = of(asked)?;
    // The unit is the last word, with or without a blank before it; hexadecimal digits are none.
    let at = text.rfind(|c: char| c.is_ascii_digit() || c.is_whitespace() || c == ')')?;
    let at = at + text[at..].chars().next()?.len_utf8();
    let (found_kind, found) = of(&text[at..])?;
    let body = text[..at].trim_end();
    (found_kind == kind && !(body.len() == at && body.starts_with("0x"))).then_some((body, found / size))
}

/// Reads what a learner types into a number field: `1,000`, `1 000`, `4.5e3`, `2^20`, `12 bytes`, `2 MiB`, `0x20`, `87 %`.
///
/// # Errors
/// Not a number; says what is accepted. A unit of another kind than the question's is an error too, not a wrong answer.
pub fn parse_number(text: &str, unit: &str) -> Result<f64, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("a number".to_owned());
    }
    if let Some((body, factor)) = in_other_unit(text, unit) {
        return parse_number(body, "").map(|number| number * factor).map_err(|_| not_a_number(text, unit));
    }
    let mut body = text;
    if !unit.is_empty() && text.len() > unit.len() {
        let at = text.len() - unit.len();
        if text.is_char_boundary(at) && text[at..].eq_ignore_ascii_case(unit) {
            body = text[..at].trim_end();
        }
    }
    if let Some(hexadecimal) = body.strip_prefix("0x") {
        return i64::from_str_radix(hexadecimal, 16).map(|n| n as f64).map_err(|_| "a hexadecimal number".to_owned());
    }
    let plain: String = body.chars().filter(|c| !matches!(c, ' ' | '_' | '\u{a0}' | '\u{202f}')).collect();
    let plain = without_thousands(&plain);
    super::evaluate(&plain).ok().filter(|number| number.is_finite()).ok_or_else(|| not_a_number(text, unit))
}

/// What is accepted instead.
fn not_a_number(text: &str, unit: &str) -> String {
    match unit {
        "" => format!("a number such as 1000, 2^20 or 4.5e3 (found `{text}`)"),
        unit => format!("a number, with or without `{unit}` (found `{text}`)"),
    }
}

/// `1,234,567` without its commas; `1,5` is left alone (and refused), for it might mean one and a half.
fn without_thousands(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
    let groups: Vec<&str> = whole.split(',').collect();
    let first = groups[0].trim_start_matches('-').len();
    let digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let grouped = groups.len() > 1
        && (1..=3).contains(&first)
        && groups[1..].iter().all(|group| group.len() == 3 && digits(group));
    if !grouped {
        return text.to_owned();
    }
    let whole = groups.concat();
    fraction.map_or(whole.clone(), |fraction| format!("{whole}.{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quiz::{PredictAction, PredictKernel, PredictRun};

    fn question(kind: Kind) -> Question {
        Question { id: "q".into(), concept: "c".into(), prompt: "p".into(), why: "because".into(), kind }
    }

    fn choice(text: &str, right: bool) -> Choice {
        Choice { text: text.into(), right, why: format!("why {text}") }
    }

    #[test]
    fn a_single_choice_explains_itself() {
        let q = question(Kind::Single { choices: vec![choice("a", false), choice("b", true)] });
        assert_eq!(mark(&q, &Answer::Choice(0)), Ok(Mark { correct: false, message: "why a".into() }));
        assert!(mark(&q, &Answer::Choice(1)).unwrap().correct);
        assert!(mark(&q, &Answer::Choice(2)).is_err());
        assert!(mark(&q, &Answer::Number(1.0)).is_err());
    }

    #[test]
    fn a_multiple_choice_needs_all_and_only_the_right_ones() {
        let q = question(Kind::Multiple { choices: vec![choice("a", true), choice("b", false), choice("c", true)] });
        let marked = |chosen: &[usize]| mark(&q, &Answer::Choices(chosen.iter().copied().collect()));
        assert!(marked(&[0, 2]).unwrap().correct);
        let wrong = marked(&[0, 1]).unwrap();
        assert!(!wrong.correct && wrong.message.starts_with("Not \"b\": why b"), "{}", wrong.message);
        assert!(
            wrong.message.contains("missed a correct answer") && !wrong.message.contains("\"c\""),
            "{}",
            wrong.message
        );
        assert!(marked(&[0]).unwrap().message.starts_with("Close"));
        let Kind::Multiple { choices } = &q.kind else { unreachable!() };
        assert_eq!(left_out(choices, &[0, 1].into()), ["\"c\": why c"]);
        assert!(!marked(&[0, 1, 2]).unwrap().correct);
        assert!(!marked(&[0]).unwrap().correct);
        assert!(marked(&[]).is_err() && marked(&[7]).is_err());
    }

    #[test]
    fn a_number_is_right_within_its_tolerance_and_known_mistakes_are_named() {
        let traps = vec![Trap { answer: 283.0, why: "columns first".into() }];
        let q = question(Kind::Numeric {
            answer: 127.0,
            tolerance: 0.0,
            unit: String::new(),
            expression: None,
            traps,
            otherwise: "count again".into(),
        });
        let message = |n: f64| mark(&q, &Answer::Number(n)).unwrap();
        assert!(message(127.0).correct);
        assert_eq!(message(283.0).message, "columns first");
        assert_eq!(message(126.0), Mark { correct: false, message: "count again".into() });
        assert!(mark(&q, &Answer::Number(f64::NAN)).is_err());
    }

    #[test]
    fn cells_must_be_hit_exactly() {
        let q = question(Kind::Cell {
            rows: 3,
            columns: 4,
            row_label: String::new(),
            column_label: String::new(),
            cells: vec![(1, 2), (2, 2)],
            traps: vec![Trap { answer: (2, 1), why: "swapped".into() }],
            otherwise: "no".into(),
        });
        let marked = |cells: &[(u32, u32)]| mark(&q, &Answer::Cells(cells.iter().copied().collect()));
        assert!(marked(&[(1, 2), (2, 2)]).unwrap().correct);
        assert_eq!(marked(&[(2, 1)]).unwrap().message, "swapped");
        assert!(marked(&[(1, 2)]).unwrap().message.starts_with("Right so far, but 1 more"));
        assert_eq!(marked(&[(0, 0)]).unwrap().message, "no");
        assert!(marked(&[(3, 0)]).is_err() && marked(&[]).is_err());
    }

    #[test]
    fn a_prediction_is_compared_with_the_measurement() {
        let q = question(Kind::Predict {
            quantity: "load_sectors_per_request".into(),
            run: PredictRun {
                exercise: "main".into(),
                kernel: PredictKernel::Reference,
                action: PredictAction::Check,
                case: None,
            },
            relative_tolerance: 0.1,
            tolerance: 0.0,
            expected: None,
            traps: vec![Trap { answer: 1.0, why: "a sector is 32 bytes".into() }],
        });
        assert!(mark_prediction(&q, 4.2, 4.0).unwrap().correct);
        let wrong = mark_prediction(&q, 1.0, 4.0).unwrap();
        assert!(!wrong.correct && wrong.message.contains("measured 4.") && wrong.message.contains("32 bytes"));
        assert!(mark_prediction(&q, f64::INFINITY, 4.0).is_err());
        assert!(mark(&q, &Answer::Number(4.0)).is_err());
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, unit, value) in [
            ("127", "", 127.0),
            (" 1,048,576 ", "", 1_048_576.0),
            ("2^20", "", 1_048_576.0),
            ("12 bytes", "bytes", 12.0),
            ("12Bytes", "bytes", 12.0),
            ("87 %", "%", 87.0),
            ("0x20", "", 32.0),
            ("3*40+7", "", 127.0),
            ("1 000.5", "", 1000.5),
            ("-4", "", -4.0),
        ] {
            assert_eq!(parse_number(text, unit), Ok(value), "{text}");
        }
        for bad in ["", "many", "12 apples", "1,5", "1/0", "0xzz", "é"] {
            assert!(parse_number(bad, "bytes").is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_are_shown_short() {
        for (number, text) in [(4.0, "4"), (4385.2, "4385"), (0.12345, "0.1235"), (0.0, "0"), (1e20, "1e20")] {
            assert_eq!(show(number), text);
        }
    }

    #[test]
    fn a_number_may_have_another_unit_of_the_same_kind() {
        for (text, unit, number) in [
            ("2 MiB", "bytes", 2_097_152.0),
            ("2MiB", "bytes", 2_097_152.0),
            ("2 mib", "bytes", 2_097_152.0),
            ("1 byte", "bytes", 1.0),
            ("(3 * 2^20) B", "bytes", 3_145_728.0),
            ("1,024 kB", "bytes", 1_024_000.0),
            ("8 MiB", "MB", 8.388_608),
            ("1.5 ms", "us", 1_500.0),
            ("4 TB/s", "GB/s", 4_000.0),
            ("0.5 TFLOP/s", "GFLOP/s", 500.0),
            ("0x20 KiB", "bytes", 32_768.0),
            ("0x2B", "bytes", 43.0),
        ] {
            let found = parse_number(text, unit).unwrap_or_else(|expected| panic!("{text}: {expected}"));
            assert!((found - number).abs() <= 1e-12 * number, "{text} gave {found}");
        }
        for (text, unit) in [("2 MiB", "threads"), ("2 ms", "bytes"), ("2 GB/s", "GB"), ("MiB", "bytes"), ("2 MiB", "")]
        {
            let refused = parse_number(text, unit).expect_err(text);
            assert!(refused.contains(text), "{refused}");
        }
    }
}
