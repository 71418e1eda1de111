//! `lockstep dev new-day week2/day3-bank-conflicts`, and the same of labs, pages and problems: both halves of a unit. The
//! kernel half works at once; the words are marked TODO, and `lockstep dev check` names each until it is written.

use super::course_folder;
use crate::cli::{Done, Failure, Places, out, usage};
use curriculum::{FAMILIES, is_slug};
use std::path::Path;

#[derive(clap::Args)]
pub struct Args {
    /// Where it goes: lower case, words joined by hyphens (week2/day3-bank-conflicts, reduction, sparse/spmv)
    address: String,
    /// Its title, where it has none yet
    #[arg(long)]
    title: Option<String>,
}

type Files = &'static [(&'static str, &'static str)];

/// What is made of one kind of unit. `{title}` and `{entry}` are filled into the texts.
pub struct Template {
    /// For messages, `day`.
    word: &'static str,
    example: &'static str,
    /// The folder that addresses of this kind begin with; may be left out when typed.
    shelf: &'static str,
    /// Checks the address below the shelf.
    is_sound: fn(&str) -> bool,
    words: Files,
    kernels: Files,
}

pub static DAY: Template = Template {
    word: "day",
    example: "week2/day3-bank-conflicts",
    shelf: "",
    is_sound: |address| {
        let number = |text: &str| text.parse::<u32>().is_ok_and(|n| n > 0) && !text.starts_with('+');
        address.split_once('/').is_some_and(|(week, day)| {
            let day = day.strip_prefix("day").and_then(|rest| rest.split_once('-'));
            week.strip_prefix("week").is_some_and(number) && day.is_some_and(|(n, slug)| number(n) && is_slug(slug))
        })
    },
    words: &[
        ("day.toml", include_str!("template/day.toml")),
        ("lesson.md", include_str!("template/lesson.md")),
        ("quiz.toml", include_str!("template/quiz.toml")),
        ("notes.toml", include_str!("template/notes.toml")),
    ],
    kernels: KERNELS,
};

pub static LAB: Template = Template {
    word: "lab",
    example: "labs/reduction",
    shelf: "labs/",
    is_sound: is_slug,
    words: &[
        ("lab.toml", include_str!("template/lab.toml")),
        ("lesson.md", include_str!("template/lab.md")),
        ("quiz.toml", include_str!("template/quiz.toml")),
        ("notes.toml", include_str!("template/notes.toml")),
    ],
    kernels: KERNELS,
};

pub static PAGE: Template = Template {
    word: "page",
    example: "reference/architectures",
    shelf: "reference/",
    is_sound: is_slug,
    words: &[("page.toml", include_str!("template/page.toml")), ("page.md", include_str!("template/page.md"))],
    kernels: &[],
};

pub static PROBLEM: Template = Template {
    word: "problem",
    example: "practice/reductions/argmax",
    shelf: "practice/",
    is_sound: |address| {
        address.split_once('/').is_some_and(|(family, slug)| FAMILIES.contains(&family) && is_slug(slug))
    },
    words: &[
        ("problem.toml", include_str!("template/problem.toml")),
        ("problem.md", include_str!("template/problem.md")),
    ],
    kernels: KERNELS,
};

const KERNELS: Files = &[
    ("exercise.toml", include_str!("template/exercise.toml")),
    ("scaffold.cu", include_str!("template/scaffold.cu")),
    ("reference.cu", include_str!("template/reference.cu")),
    ("wrong/out_of_bounds.cu", include_str!("template/wrong/out_of_bounds.cu")),
    ("wrong/wrong_output.cu", include_str!("template/wrong/wrong_output.cu")),
];

pub fn run(template: &Template, args: &Args, places: &Places) -> Done {
    let Some(root) = course_folder(places) else {
        return Err(usage(
            "there is no course here: run this in a clone of Lockstep, or name its folder with --content DIR",
        ));
    };
    let address = full_address(template, &args.address)?;
    let last = address.rsplit('/').next().unwrap_or_default();
    let slug = if template.shelf.is_empty() { last.split_once('-').map_or(last, |(_, slug)| slug) } else { last };
    let entry = slug.replace('-', "_");
    let title = args.title.clone().unwrap_or_else(|| {
        let words = slug.replace('-', " ");
        let mut letters = words.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
    });
    if title.contains(['"', '\\', '\n']) {
        return Err(usage("a title must not contain quotes, backslashes or line breaks"));
    }
    if let Some((week, _)) = address.split_once('/').filter(|_| template.shelf.is_empty())
        && !root.join("curriculum").join(week).join("week.toml").is_file()
    {
        return Err(usage(format!(
            "there is no {week} yet: write curriculum/{week}/week.toml with `title` and `project`"
        )));
    }
    for (half, files) in [("curriculum", template.words), ("kernels", template.kernels)] {
        for (name, text) in files {
            let shown = format!("{half}/{address}/{name}");
            let text = text.replace("{title}", &title).replace("{entry}", &entry);
            let made = write_new(&root.join(&shown), &text)
                .map_err(|error| usage(format!("cannot be written ({error}): {shown}")))?;
            out::print(&format!("{}  {shown}\n", if made { "made " } else { "kept " }));
        }
    }
    out::print(&format!(
        "\nNext: write what says TODO, then `lockstep dev check {address}`.\n\
         The formats: kernels/README.md and CONTRIBUTING.md, \"A {}\".\n",
        template.word
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

/// The address with its shelf.
fn full_address(template: &Template, typed: &str) -> Result<String, Failure> {
    let below = typed.strip_prefix(template.shelf).unwrap_or(typed);
    if (template.is_sound)(below) {
        return Ok(format!("{}{below}", template.shelf));
    }
    let mut message =
        format!("`{typed}` is not an address of a {}; write it as in {}", template.word, template.example);
    if template.shelf == PROBLEM.shelf {
        message += &format!(", with a family out of {}", FAMILIES.join(", "));
    }
    Err(usage(message))
}
