//! `lockstep review`: what is remembered of the quizzes, for how long, and what comes back when.

use super::{Done, Places, content, json, out};
use curriculum::review::Date;
use curriculum::store::{Remembered, Store, by_concept};
use serde_json::{Value, json as object};

#[derive(clap::Args)]
pub struct Args {
    /// Every question, not concepts alone
    #[arg(long)]
    questions: bool,
    /// Print one JSON object (app/JSON.md, "review")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let course = content::course(places)?;
    let progress = Store::open_read_only(&places.data_dir()).progress();
    let today = Date::from_unix(super::record::now());
    let remembered = progress.remembered(&course, today);
    let concepts = by_concept(&remembered);
    let due = remembered.iter().filter(|one| one.due <= today).count();
    if args.json {
        let concepts: Vec<Value> = concepts
            .iter()
            .map(|(name, count, chance, due)| {
                object!({ "concept": name, "questions": count, "chance": rounded(*chance), "due": due.to_string() })
            })
            .collect();
        let questions: Vec<Value> = remembered.iter().map(described).collect();
        let fields = object!({ "today": today.to_string(), "due": due, "concepts": concepts, "questions": questions });
        out::json(&json::envelope("review", fields));
        return Ok(());
    }
    if remembered.is_empty() {
        out::print("Nothing to remember yet: answer a day's quiz in the window first.\n");
        return Ok(());
    }
    use out::Align::{Left, Right};
    let percent = |chance: f64| format!("{:.0} %", 100.0 * chance);
    let table = if args.questions {
        let row = |one: &Remembered<'_>| {
            vec![
                percent(one.chance),
                format!("{:.0} days", one.stability_days.max(1.0)),
                when(one.due, today),
                format!("{}#{}", one.unit.address, one.question.id),
                one.question.concept.clone(),
            ]
        };
        out::table(&[Right, Right, Left, Left, Left], &remembered.iter().map(row).collect::<Vec<_>>())
    } else {
        let row = |(name, count, chance, due): &(&str, usize, f64, Date)| {
            let questions = if *count == 1 { "1 question".to_owned() } else { format!("{count} questions") };
            vec![percent(*chance), when(*due, today), questions, (*name).to_owned()]
        };
        out::table(&[Right, Left, Right, Left], &concepts.iter().map(row).collect::<Vec<_>>())
    };
    out::print(&format!(
        "{table}\nThe first column is the chance that you would be right today, by a model of memory (FSRS). A question comes \
         back when its chance is down to 90 %.\n{}\n",
        match due {
            0 => "Nothing is due today.".to_owned(),
            1 => "1 question is due today: open the window, Day, Review.".to_owned(),
            more => format!("{more} questions are due today: open the window, Day, Review."),
        }
    ));
    Ok(())
}

fn rounded(chance: f64) -> f64 {
    (chance * 1000.0).round() / 1000.0
}

/// `today`, `in 4 days`.
fn when(due: Date, today: Date) -> String {
    match due.0.saturating_sub(today.0) {
        ..=0 => "today".to_owned(),
        1 => "tomorrow".to_owned(),
        days => format!("in {days} days"),
    }
}

fn described(one: &Remembered<'_>) -> Value {
    object!({
        "unit": one.unit.address,
        "question": one.question.id,
        "concept": one.question.concept,
        "chance": rounded(one.chance),
        "stability_days": (one.stability_days * 10.0).round() / 10.0,
        "last": one.last.to_string(),
        "due": one.due.to_string(),
    })
}
