//! `lockstep dev new-day week2/day3-bank-conflicts`: both halves of a day. The kernel half works at once; the words are
//! marked TODO, and `lockstep dev check` names each until it is written.

use super::course_folder;
use crate::cli::{Done, Places, out, usage};
use std::path::Path;

#[derive(clap::Args)]
pub struct Args {
    /// Where the day goes: weekN/dayM-slug, lower case, words joined by hyphens
    address: String,
    /// Title of the day, for a day that has none yet
    #[arg(long)]
    title: Option<String>,
}

/// Files of the template: path in the half, text. `{title}` and `{entry}` are filled in.
const WORDS: [(&str, &str); 4] = [
    ("day.toml", include_str!("template/day.toml")),
    ("lesson.md", include_str!("template/lesson.md")),
    ("quiz.toml", include_str!("template/quiz.toml")),
    ("notes.toml", include_str!("template/notes.toml")),
];
const KERNELS: [(&str, &str); 5] = [
    ("exercise.toml", include_str!("template/exercise.toml")),
    ("scaffold.cu", include_str!("template/scaffold.cu")),
    ("reference.cu", include_str!("template/reference.cu")),
    ("wrong/out_of_bounds.cu", include_str!("template/wrong/out_of_bounds.cu")),
    ("wrong/wrong_output.cu", include_str!("template/wrong/wrong_output.cu")),
];

pub fn run(args: &Args, places: &Places) -> Done {
    let Some(root) = course_folder(places) else {
        return Err(usage(
            "there is no course here: run this in a clone of Lockstep, or name its folder with --content DIR",
        ));
    };
    let (week, day) = parse(&args.address)?;
    let slug = day.split_once('-').map_or("", |(_, slug)| slug);
    let entry = slug.replace('-', "_");
    let title = args.title.clone().unwrap_or_else(|| {
        let words = slug.replace('-', " ");
        let mut letters = words.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
    });
    if title.contains(['"', '\\', '\n']) {
        return Err(usage("a title must not contain quotes, backslashes or line breaks"));
    }
    if !root.join("curriculum").join(week).join("week.toml").is_file() {
        return Err(usage(format!(
            "there is no {week} yet: write curriculum/{week}/week.toml with `title` and `project`"
        )));
    }
    for (half, files) in [("curriculum", &WORDS[..]), ("kernels", &KERNELS[..])] {
        for (name, template) in files {
            let shown = format!("{half}/{week}/{day}/{name}");
            let text = template.replace("{title}", &title).replace("{entry}", &entry);
            let made = write_new(&root.join(&shown), &text)
                .map_err(|error| usage(format!("cannot be written ({error}): {shown}")))?;
            out::print(&format!("{}  {shown}\n", if made { "made " } else { "kept " }));
        }
    }
    out::print(&format!(
        "\nNext: write what says TODO, then `lockstep dev check {week}/{day}`.\n\
         The formats: kernels/README.md and CONTRIBUTING.md, \"A day\".\n"
    ));
    Ok(())
}

/// False when the file was there already; it is never changed.
fn write_new(path: &Path, text: &str) -> std::io::Result<bool> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    match std::fs::File::create_new(path) {
        Ok(mut file) => std::io::Write::write_all(&mut file, text.as_bytes()).map(|()| true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Week and day folder of an address in full.
fn parse(address: &str) -> Result<(&str, &str), crate::cli::Failure> {
    let number = |text: &str| text.parse::<u32>().is_ok_and(|n| n > 0) && !text.starts_with('+');
    let parts = address.split_once('/').filter(|(week, day)| {
        week.strip_prefix("week").is_some_and(number)
            && day
                .strip_prefix("day")
                .and_then(|rest| rest.split_once('-'))
                .is_some_and(|(n, slug)| number(n) && curriculum::is_slug(slug))
    });
    parts.ok_or_else(|| usage(format!("`{address}` is no address; write it as in week2/day3-bank-conflicts")))
}
