//! `lockstep doctor`: the ready check. Every item that is not well says how to fix it. The probes live in
//! [`crate::ready`], which the window shows too.

use super::{Done, Failure, Places, engine, json, out};
use crate::ready::{self, Item, State};

#[derive(clap::Args)]
pub struct Args {
    /// Print one JSON object (app/JSON.md, "doctor")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let data_dir = places.data_dir();
    let mut items = ready::machine(&data_dir, places.settings().nvrtc.as_deref());
    items.extend(engine::ready_items(places));
    let ready = items.iter().all(|item| item.state != State::Failed);
    if args.json {
        out::json(&json::doctor(&items, ready));
    } else {
        out::print(&text(&items, ready));
    }
    if ready { Ok(()) } else { Err(Failure::Reported) }
}

fn text(items: &[Item], ready: bool) -> String {
    let style = out::Style::stdout();
    let width = items.iter().map(|item| item.title.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
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
