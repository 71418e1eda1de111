//! `lockstep practice`: problems by family, difficulty and concept, and the one to try next.

use super::{Done, Places, content, json, out, usage};
use curriculum::FAMILIES;
use curriculum::practice::{self, Standing};
use curriculum::store::Store;
use serde_json::{Value, json as object};

#[derive(clap::Args)]
pub struct Args {
    /// The problem to try next, by your own results
    #[arg(long, conflicts_with_all = ["family", "difficulty", "concept", "open"])]
    next: bool,
    /// Problems of one family, for example reductions
    #[arg(long, value_name = "NAME")]
    family: Option<String>,
    /// Problems of one difficulty, 1 to 3
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3))]
    difficulty: Option<u32>,
    /// Problems that train a concept; a part of its name is enough
    #[arg(long, value_name = "TEXT")]
    concept: Option<String>,
    /// Only those that you have not solved
    #[arg(long)]
    open: bool,
    /// Print one JSON object (app/JSON.md, "practice")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let course = content::course(places)?;
    let progress = Store::open_read_only(&places.data_dir()).progress();
    if let Some(family) = args.family.as_deref().filter(|family| !FAMILIES.contains(family)) {
        return Err(usage(format!("there is no family `{family}`; there are {}", FAMILIES.join(", "))));
    }
    let rating = practice::rating(&course, &progress);
    let shown: Vec<Standing<'_>> = if args.next {
        practice::next(&course, &progress).into_iter().collect()
    } else {
        practice::standings(&course, &progress).into_iter().filter(|standing| args.wants(standing)).collect()
    };
    if args.json {
        let problems: Vec<Value> = shown.iter().map(described).collect();
        let fields = object!({ "rating": rating.round(), "next": args.next, "problems": problems });
        out::json(&json::envelope("practice", fields));
        return Ok(());
    }
    if shown.is_empty() {
        out::print(if args.next { "Every problem is solved.\n" } else { "No problem is like that.\n" });
        return Ok(());
    }
    let style = out::Style::stdout();
    if args.next {
        let standing = &shown[0];
        out::print(&format!(
            "{}  {}\n{}\n\nDifficulty {} of 3, about {} minutes. Your rating is {rating:.0}: you would solve {:.0} in 10 like it.\n\
             Read it in the window, or check a kernel: lockstep check {} --kernel FILE\n",
            style.bold(&standing.unit.address),
            standing.unit.title,
            standing.unit.summary,
            standing.difficulty,
            standing.unit.minutes,
            10.0 * standing.chance,
            standing.unit.address
        ));
        return Ok(());
    }
    let row = |standing: &Standing<'_>| {
        vec![
            if standing.is_solved { "solved".to_owned() } else { String::new() },
            standing.unit.address.clone(),
            "*".repeat(standing.difficulty as usize),
            standing.unit.title.clone(),
            standing.concepts.join(", "),
        ]
    };
    use out::Align::Left;
    let solved = shown.iter().filter(|standing| standing.is_solved).count();
    let table = out::table(&[Left, Left, Left, Left, Left], &shown.iter().map(row).collect::<Vec<_>>());
    let tail = "Which one is next: lockstep practice --next";
    out::print(&format!("{table}\n{solved} of {} solved, your rating is {rating:.0}. {tail}\n", shown.len()));
    Ok(())
}

impl Args {
    fn wants(&self, standing: &Standing<'_>) -> bool {
        let concept = self.concept.as_deref().map(str::to_lowercase);
        self.family.as_deref().is_none_or(|family| family == standing.family)
            && self.difficulty.is_none_or(|difficulty| difficulty == standing.difficulty)
            && concept.is_none_or(|text| standing.concepts.iter().any(|own| own.to_lowercase().contains(&text)))
            && !(self.open && standing.is_solved)
    }
}

fn described(standing: &Standing<'_>) -> Value {
    object!({
        "address": standing.unit.address,
        "title": standing.unit.title,
        "summary": standing.unit.summary,
        "family": standing.family,
        "difficulty": standing.difficulty,
        "minutes": standing.unit.minutes,
        "concepts": standing.concepts,
        "solved": standing.is_solved,
        "chance": (standing.chance * 100.0).round() / 100.0,
    })
}
