//! The checks find nothing in the course that ships, and find what is planted.

use curriculum::check::{self, Finding};
use curriculum::{Course, Files};
use std::path::Path;

const DAY: &str = "week1/day4-first-kernel";

/// Which visualizations the window has is for its own check (`lockstep dev check`).
fn findings_of(files: &Files, course: &Course) -> Vec<Finding> {
    let units = course.units().filter(|unit| unit.is_written());
    let of_units = units.flat_map(|unit| check::unit(files, unit, None));
    check::course(files, course).into_iter().chain(of_units).collect()
}

/// The same of one day alone, with those visualizations that it shows.
fn findings_of_day(files: &Files, course: &Course) -> Vec<Finding> {
    let day = course.unit(DAY).unwrap();
    let shown = ["coalescing", "launch", "warp-execution"];
    check::course(files, course).into_iter().chain(check::unit(files, day, Some(&shown))).collect()
}

#[test]
fn the_course_that_ships_is_sound() {
    let findings = findings_of(&Files::embedded(), &Course::embedded());
    assert!(findings.is_empty(), "{}", findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
}

/// Copies the written day into a folder, changes one file, and gives what the checks say.
fn planted(file: &str, change: impl Fn(&str) -> String) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let from = root.join(file);
    let text = std::fs::read_to_string(&from).unwrap_or_default();
    let changed = change(&text);
    assert_ne!(text, changed, "{file}: the planted mistake changed nothing");
    let to = dir.path().join(file);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::write(&to, changed).unwrap();
    let files = Files::from_folder(dir.path()).unwrap();
    match Course::load(dir.path()) {
        Ok(course) => findings_of_day(&files, &course).iter().map(ToString::to_string).collect(),
        Err(errors) => errors.0.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn planted_mistakes_are_found_at_their_place() {
    let words = |file: &str| format!("curriculum/{DAY}/{file}");
    let kernel = |file: &str| format!("kernels/{DAY}/{file}");
    let replaced = |from: &'static str, to: &'static str| move |text: &str| text.replacen(from, to, 1);
    type Change = Box<dyn Fn(&str) -> String>;
    let cases: Vec<(String, Change, &str)> = vec![
        (words("lesson.md"), Box::new(replaced("{{viz launch:", "{{viz lunch:")), "there is no visualization `lunch`"),
        (
            words("lesson.md"),
            Box::new(|text: &str| format!("{text}\nSee [it](week1/day9).\n")),
            "the link to `week1/day9` leads nowhere",
        ),
        (
            words("lesson.md"),
            Box::new(replaced("{{experiment stride}}", "{{experiment strides}}")),
            "no exercise of the day has an experiment `strides`",
        ),
        (
            words("lesson.md"),
            Box::new(replaced("{{exercise matrix-add}}", "")),
            "the lesson has no `{{exercise matrix-add}}`",
        ),
        (
            words("lesson.md"),
            Box::new(replaced("grid-stride.cu#loop", "grid-stride.cu#loops")),
            "expected an anchor that kernels",
        ),
        (
            words("lesson.md"),
            Box::new(replaced("On one H200 such a copy", "On a good GPU such a copy")),
            "name the machine",
        ),
        (
            words("quiz.toml"),
            Box::new(replaced("answer = 677", "answer = 678")),
            "expected an `answer` that `expression` gives (it gives 677, found 678)",
        ),
        (words("quiz.toml"), Box::new(replaced("STRIDE = 2", "STRIDE = 3")), "knob STRIDE takes 1, 2, 4, 8, 16, 32"),
        (words("quiz.toml"), Box::new(replaced("case = \"n = 65536\"", "case = \"n = 7\"")), "no such case as `n = 7`"),
        (
            words("quiz.toml"),
            Box::new(replaced("action = \"bench\", case = \"n = 268435456\"", "action = \"check\"")),
            "the action must be `bench`",
        ),
        (
            words("quiz.toml"),
            Box::new(|text: &str| text.split("[[question]]").take(3).collect::<Vec<_>>().join("[[question]]")),
            "2 questions; a day has at least 5",
        ),
        (words("notes.toml"), Box::new(replaced("https://docs", "http://docs")), "needs an https address"),
        (
            words("notes.toml"),
            Box::new(replaced("term = \"Block\"", "term = \"thread\"")),
            "the term `thread` is also explained",
        ),
        (words("picture.md"), Box::new(|_: &str| "x".to_owned()), "no part of a day"),
        (kernel("old.cu"), Box::new(|_: &str| "x".to_owned()), "neither a file of an exercise nor named"),
        (kernel("scaffold.cu"), Box::new(|text: &str| text.replace("TODO", "Do")), "no TODO"),
        (kernel("scaffold.cu"), Box::new(replaced("int n)", "long n)")), "outside the TODO places"),
        (
            kernel("exercise.toml"),
            Box::new(replaced("on = \"misaligned\"", "on = \"deadlock\"")),
            "no hint `on = \"misaligned\"`",
        ),
        (
            kernel("exercise.toml"),
            Box::new(replaced("wrong/race.cu", "wrong/races.cu")),
            "an existing file `wrong/races.cu`",
        ),
        (
            kernel("experiments/stride.cu"),
            Box::new(replaced("#define STRIDE 8", "#define STRIDE 4")),
            "the line `#define STRIDE 8`",
        ),
        (kernel("solution.cu"), Box::new(replaced("c[i] =", "// TODO\n c[i] =")), "the solution has a TODO left"),
    ];
    for (file, change, message) in cases {
        let found = planted(&file, change);
        assert!(found.iter().any(|finding| finding.contains(message)), "{file}: {message}\nfound {found:#?}");
    }
}
