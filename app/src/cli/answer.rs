//! `lockstep answer`: questions about kernels whose source stays shut until they are answered. Each kernel is run on the
//! emulator first; its figures are the evidence to point at.

use super::{Done, Failure, Places, content, engine, json, out, usage};
use crate::mystery::{SEED, evidence, job};
use curriculum::answer::{AnswerExercise, Asked, Mystery, figures};
use curriculum::{Course, Unit};
use serde_json::{Value, json as object};
use std::io::BufRead as _;

#[derive(clap::Args)]
pub struct Args {
    /// Unit as `lockstep list` shows it, or short: week2/day1, 2.1
    unit: String,
    /// Which of its answer exercises [default: the first]
    #[arg(long, value_name = "KEY")]
    exercise: Option<String>,
    /// Draw the same kernels again
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Answer one kernel's questions, in order: `a=latency,bytes_in_flight`
    #[arg(long, value_name = "ID=ANSWERS")]
    reply: Vec<String>,
    /// Print one JSON object (app/JSON.md, "answer")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let course = content::course(places)?;
    let (unit, exercise) = find(&course, args)?;
    let seed = args.seed.unwrap_or_else(gpu_core::judge::fresh_seed);
    let replies = replies(exercise, &args.reply)?;
    let drawn = match replies.is_empty() {
        true => exercise.drawn(seed),
        false => replies.iter().map(|(mystery, _)| *mystery).collect(),
    };
    let lab = engine::start(places, &engine::Target::local_emulator());
    let mut told = Vec::new();
    let mut all_right = true;
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    if !args.json {
        out::print(&format!("{}: {} (seed {seed})\n", unit.address, exercise.title));
    }
    for mystery in drawn {
        let answer = engine::run_in(&lab, job(mystery, Some(SEED)), false)?;
        let shown = figures(&evidence(answer.verdict.as_ref(), answer.bench.as_ref(), answer.ran.last()));
        if shown.is_empty() {
            return Err(engine::failure(&answer));
        }
        let mut given: Vec<Option<String>> = match replies.iter().find(|(of, _)| of.id == mystery.id) {
            Some((_, given)) => given.iter().cloned().map(Some).collect(),
            None => vec![None; mystery.questions.len()],
        };
        if !args.json {
            out::print(&table(mystery, &shown));
            for (question, given) in mystery.questions.iter().zip(&mut given) {
                out::print(&format!("\n{}\n", ask(question)));
                if given.is_none() {
                    // Where the input ends, what is left counts as not answered.
                    *given = lines.next().map(|typed| chosen(question, &typed));
                }
                if let Some(given) = given {
                    let right = question.is_right(given);
                    let word = if right { "Right." } else { "No." };
                    out::print(&format!("{word} {} {}\n", question.why.trim(), question.explain.trim()));
                }
            }
        }
        let answered = given.iter().all(Option::is_some);
        let marks: Vec<Option<bool>> = mystery
            .questions
            .iter()
            .zip(&given)
            .map(|(question, given)| given.as_ref().map(|given| question.is_right(given)))
            .collect();
        all_right &= marks.iter().all(|mark| *mark == Some(true));
        if answered && !args.json {
            out::print(&format!("\nThe source of {}:\n\n{}\n", mystery.name, mystery.source));
        }
        told.push(value(mystery, &shown, &given, &marks, answered));
    }
    if args.json {
        let fields = object!({
            "unit": unit.address, "exercise": exercise.key, "title": exercise.title, "seed": seed, "mysteries": told,
        });
        out::json(&json::envelope("answer", fields));
        // Asking alone is no failure.
        return if replies.is_empty() || all_right { Ok(()) } else { Err(Failure::Kernel) };
    }
    if all_right { Ok(()) } else { Err(Failure::Kernel) }
}

fn find<'c>(course: &'c Course, args: &Args) -> Result<(&'c Unit, &'c AnswerExercise), Failure> {
    let unit = course.unit(&args.unit).map_err(usage)?;
    let found = match &args.exercise {
        Some(key) => unit.answer(key),
        None => unit.answers.first(),
    };
    let keys: Vec<&str> = unit.answers.iter().map(|answer| answer.key.as_str()).collect();
    let exercise = found.ok_or_else(|| match (keys.as_slice(), &args.exercise) {
        ([], _) => usage(format!("{} asks no questions about kernels", unit.address)),
        (_, key) => {
            usage(format!("{} has no `{}`; it has {}", unit.address, key.as_deref().unwrap_or(""), keys.join(", ")))
        }
    })?;
    Ok((unit, exercise))
}

type Reply<'c> = (&'c Mystery, Vec<String>);

fn replies<'c>(exercise: &'c AnswerExercise, typed: &[String]) -> Result<Vec<Reply<'c>>, Failure> {
    let read = |text: &String| {
        let (id, given) = text.split_once('=').ok_or_else(|| usage(format!("`{text}`: write ID=ANSWER,ANSWER")))?;
        let mystery = exercise.mystery(id).ok_or_else(|| {
            let known: Vec<&str> = exercise.mysteries.iter().map(|mystery| mystery.id.as_str()).collect();
            usage(format!("there is no kernel `{id}`; there are: {}", known.join(", ")))
        })?;
        let given: Vec<String> = given.split(',').map(|given| given.trim().to_owned()).collect();
        if given.len() != mystery.questions.len() {
            let count = mystery.questions.len();
            return Err(usage(format!("{} has {count} questions, and `{text}` {} answers", mystery.name, given.len())));
        }
        Ok((mystery, given))
    };
    typed.iter().map(read).collect()
}

type Figures = [(&'static curriculum::quiz::Quantity, f64)];

fn table(mystery: &Mystery, shown: &Figures) -> String {
    let width = shown.iter().map(|(quantity, _)| quantity.name.len()).max().unwrap_or(0);
    let mut text = format!("\n{}: what the emulator counted\n", mystery.name);
    for (quantity, value) in shown {
        text += &format!("  {:width$}  {value:>12}  {}\n", quantity.name, quantity.what);
    }
    text
}

fn ask(question: &curriculum::answer::MysteryQuestion) -> String {
    match &question.kind {
        Asked::Choice { choices, .. } => {
            let lines: Vec<String> =
                choices.iter().zip('a'..).map(|(choice, letter)| format!("  {letter}  {choice}")).collect();
            format!("{}\n{}\nLetter: ", question.ask, lines.join("\n"))
        }
        Asked::Evidence { .. } => format!("{}\nName one of the figures above: ", question.ask),
    }
}

/// A letter stands for its choice; anything else is taken as it is.
fn chosen(question: &curriculum::answer::MysteryQuestion, typed: &str) -> String {
    let typed = typed.trim();
    if let (Asked::Choice { choices, .. }, [letter]) = (&question.kind, typed.as_bytes()) {
        let index = letter.to_ascii_lowercase().wrapping_sub(b'a') as usize;
        if let Some(choice) = choices.get(index) {
            return choice.clone();
        }
    }
    typed.to_owned()
}

/// Nothing that gives the answer away before it was given.
fn value(
    mystery: &Mystery,
    shown: &Figures,
    given: &[Option<String>],
    marks: &[Option<bool>],
    answered: bool,
) -> Value {
    let figures: Vec<Value> = shown
        .iter()
        .map(|(quantity, value)| object!({ "name": quantity.name, "value": value, "unit": quantity.unit, "what": quantity.what }))
        .collect();
    let questions: Vec<Value> = mystery
        .questions
        .iter()
        .zip(given.iter().zip(marks))
        .map(|(question, (given, right))| {
            let (choices, accepted) = match &question.kind {
                Asked::Choice { choices, answer } => (choices.clone(), vec![answer.clone()]),
                Asked::Evidence { accepted } => (Vec::new(), accepted.clone()),
            };
            let after = |value: Value| if right.is_some() { value } else { Value::Null };
            object!({
                "ask": question.ask,
                "wants_evidence": matches!(question.kind, Asked::Evidence { .. }),
                "choices": choices,
                "given": given,
                "right": right,
                "accepted": after(object!(accepted)),
                "why": after(object!(question.why)),
                "explain": after(object!(question.explain)),
            })
        })
        .collect();
    let source = if answered { object!(mystery.source) } else { Value::Null };
    object!({ "id": mystery.id, "name": mystery.name, "figures": figures, "questions": questions, "source": source })
}
