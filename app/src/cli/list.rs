//! `lockstep list`: the course, week by week and shelf by shelf. Days that are not written yet are shown and say so.

mod map;

use super::{Done, Places, content, json, out};
use curriculum::{MAIN, Status};

#[derive(clap::Args)]
pub struct Args {
    /// What leads to what: units by what they build on
    #[arg(long)]
    map: bool,
    /// Print one JSON object (app/JSON.md, "list")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let course = content::course(places)?;
    if args.json {
        out::json(&if args.map { map::object(&course) } else { json::list(&course) });
        return Ok(());
    }
    let style = out::Style::stdout();
    if args.map {
        out::print(&map::text(&course, style));
        return Ok(());
    }
    let width = course.units().map(|day| day.address.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for shelf in course.shelves() {
        let heading = if shelf.name.is_empty() { shelf.title } else { format!("{}: {}", shelf.title, shelf.name) };
        text += &format!("{}\n", style.bold(&heading));
        for day in shelf.units {
            let address = format!("{:width$}", day.address);
            text += &match &day.status {
                Status::Written => format!("  {address}  {}\n", day.title),
                Status::Planned { .. } => style.dim(&format!("  {address}  {} (not written yet)", day.title)) + "\n",
            };
            for exercise in day.exercises.iter().filter(|exercise| exercise.key != MAIN) {
                text += &format!("  {:width$}    --exercise {}  {}\n", "", exercise.key, exercise.spec.title);
            }
        }
        text.push('\n');
    }
    text += "Check a day: lockstep check week1/day4 --kernel reference\n";
    out::print(&text);
    Ok(())
}
