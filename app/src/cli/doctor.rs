//! `lockstep doctor`: the ready check. Every item that is not well says how to fix it. The probes live in
//! [`crate::ready`], which the window shows too.

use super::{Done, Failure, Places, content, engine, json, out, questions};
use crate::ready::{self, Answers, Item, State};

#[derive(clap::Args)]
pub struct Args {
    /// Also ask a few questions, for the pace
    #[arg(long, conflicts_with = "json")]
    quiz: bool,
    /// Print one JSON object (app/JSON.md, "doctor")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let data_dir = places.data_dir();
    let mut items = ready::machine(&data_dir, places.settings().nvrtc.as_deref());
    let (of_engine, capability) = engine::ready_items(places);
    items.extend(of_engine);
    let ready = items.iter().all(|item| item.state != State::Failed);
    if args.json {
        let recommended = ready::recommend(&items, capability, &Answers::default());
        out::json(&json::doctor(&items, ready, &recommended));
    } else {
        out::print(&text(&items, ready));
        let answers = if args.quiz { questions::ask(&content::course(places)?.ready) } else { Answers::default() };
        let recommended = ready::recommend(&items, capability, &answers);
        let style = out::Style::stdout();
        let mut text = format!("\nYour way: {}\n{}\n", style.bold(recommended.path.title()), recommended.what);
        for reason in &recommended.because {
            text += &format!("- {reason}\n");
        }
        if answers == Answers::default() {
            text += "Eight questions help to find the pace: lockstep doctor --quiz\n";
        }
        out::print(&text);
    }
    if ready { Ok(()) } else { Err(Failure::Reported) }
}

fn text(items: &[Item], ready: bool) -> String {
    let style = out::Style::stdout();
    let width = items.iter().map(|item| item.title.chars().count()).max().unwrap_or(0);
    let mut text = format!("Lockstep {}\n\n", env!("CARGO_PKG_VERSION"));
    for Item { title, state, found, fix, .. } in items {
        let mark = match state {
            State::Fine => style.green("ok    "),
            State::Limited => style.yellow("note  "),
            State::Failed => style.red("FAILED"),
        };
        text += &format!("{mark}  {title:width$}  {found}\n");
        if let Some(fix) = fix {
            text += &format!("{:indent$}fix: {fix}\n", "", indent = width + 10);
        }
    }
    text += if ready {
        "\nReady. Notes limit comfort, not the course: every day can be done on the emulator.\n"
    } else {
        "\nNot ready: repair what FAILED, then run `lockstep doctor` again.\n"
    };
    text
}
