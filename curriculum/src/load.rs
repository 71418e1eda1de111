//! Builds the course from its files: folder order is course order, and both halves of a day are laid over each other.

use crate::address::numbered;
use crate::course::{Block, Course, Day, Lesson, Link, MathEntry, Reflection, Status, Term, Week};
use crate::error::{ContentError, ContentErrors, line_of};
use crate::exercise;
use crate::files::Files;
use crate::ladder;
use crate::lesson;
use crate::quiz::{self, Quiz};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The ready check's questions.
const READY: &str = "curriculum/ready/quiz.toml";

/// Default length of a day: the five steps take about an hour.
const DAY_MINUTES: u32 = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CourseFile {
    title: String,
    #[serde(default = "english")]
    language: String,
}

fn english() -> String {
    "en".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WeekFile {
    title: String,
    project: String,
}

/// `day.toml`. A day with no `lesson.md` is planned.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DayFile {
    title: String,
    summary: String,
    /// Only where the slug was changed after learners had progress under it.
    id: Option<String>,
    minutes: Option<u32>,
    #[serde(default)]
    objectives: Vec<String>,
}

/// `notes.toml`: the small lists of a day.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotesFile {
    #[serde(default)]
    reflection: Vec<ReflectionFile>,
    #[serde(default)]
    link: Vec<LinkFile>,
    #[serde(default)]
    math: Vec<MathFile>,
    #[serde(default)]
    term: Vec<TermFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReflectionFile {
    id: String,
    ask: String,
    think: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkFile {
    title: String,
    url: String,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MathFile {
    name: String,
    formula: String,
    meaning: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TermFile {
    term: String,
    meaning: String,
}

/// Reads the whole course; either it is sound, or all that is wrong comes back.
pub(crate) fn course(files: &Files) -> Result<Course, ContentErrors> {
    let mut errors = Vec::new();
    let head: Option<CourseFile> = toml_file(files, "curriculum/course.toml", &mut errors);
    let mut weeks = Vec::new();
    for folder in files.folders("curriculum") {
        let Some(number) = numbered(folder, "week") else {
            if folder.starts_with("week") {
                let path = format!("curriculum/{folder}");
                errors.push(ContentError::new(path, 0, "a folder name such as `week2`"));
            }
            continue;
        };
        weeks.push(week(files, folder, number.number, &mut errors));
    }
    // By number and not by name: week10 follows week9.
    weeks.sort_by_key(|week| week.number);
    let ladders = ladder::all(files, &mut errors);
    ladder::lean(&ladders, weeks.iter_mut().flat_map(|week| &mut week.days), &mut errors);
    orphans(files, &mut errors);
    repeated(&weeks, &mut errors);
    let ready = files.text(READY).map_or_else(Quiz::default, |text| quiz::parse(READY, text, &mut errors));
    match head {
        Some(CourseFile { title, language }) if errors.is_empty() => {
            Ok(Course { title, language, weeks, ladders, ready })
        }
        _ => Err(ContentErrors(errors)),
    }
}

fn week(files: &Files, folder: &str, number: u32, errors: &mut Vec<ContentError>) -> Week {
    let path = format!("curriculum/{folder}");
    let file: Option<WeekFile> = toml_file(files, &format!("{path}/week.toml"), errors);
    let (title, project) = file.map_or_else(Default::default, |WeekFile { title, project }| (title, project));
    let mut days = Vec::new();
    for name in files.folders(&path) {
        match numbered(name, "day") {
            Some(found) if !found.slug.is_empty() => {
                let at = Place { address: format!("{folder}/{name}"), week: number, number: found.number };
                days.push(day(files, at, found.slug, errors));
            }
            _ => errors.push(ContentError::new(
                format!("{path}/{name}"),
                0,
                "a folder name such as `day4-first-kernel` (lower case, words joined by hyphens)",
            )),
        }
    }
    days.sort_by_key(|day| day.number);
    Week { number, title, project, days }
}

struct Place {
    address: String,
    week: u32,
    number: u32,
}

fn day(files: &Files, place: Place, slug: &str, errors: &mut Vec<ContentError>) -> Day {
    let Place { address, week, number } = place;
    let folder = format!("curriculum/{address}");
    let head: Option<DayFile> = toml_file(files, &format!("{folder}/day.toml"), errors);
    let head = head.unwrap_or_else(|| DayFile {
        title: slug.to_owned(),
        summary: String::new(),
        id: None,
        minutes: None,
        objectives: Vec::new(),
    });
    if let Some(id) = head.id.as_ref().filter(|id| !crate::address::is_slug(id)) {
        let expected = format!("an id of lower-case words and hyphens (found `{id}`)");
        errors.push(ContentError::new(format!("{folder}/day.toml"), 0, expected));
    }
    let lesson_path = format!("{folder}/lesson.md");
    let lesson = files.text(&lesson_path).map(|text| {
        let source = lesson::Source { files, path: &lesson_path, address: &address };
        lesson::parse(&source, text, errors)
    });
    let quiz_path = format!("{folder}/quiz.toml");
    let quiz = files.text(&quiz_path).map_or_else(Quiz::default, |text| quiz::parse(&quiz_path, text, errors));
    let notes_path = format!("{folder}/notes.toml");
    let notes = match files.text(&notes_path) {
        Some(_) => toml_file(files, &notes_path, errors).unwrap_or_default(),
        None => NotesFile::default(),
    };
    let NotesFile { reflection, link, math, term } = notes;
    let exercises = exercise::load(files, &address, errors);
    let status = match lesson {
        Some(_) => Status::Written,
        None => Status::Planned { summary: head.summary.clone() },
    };
    let lesson = lesson.unwrap_or_else(Lesson::empty);
    let visualizations = shown(&lesson);
    Day {
        id: head.id.unwrap_or_else(|| slug.to_owned()),
        address,
        week,
        number,
        title: head.title,
        summary: head.summary,
        status,
        minutes: head.minutes.unwrap_or(DAY_MINUTES),
        objectives: head.objectives,
        lesson,
        quiz,
        reflection: reflection
            .into_iter()
            .map(|ReflectionFile { id, ask, think }| Reflection { id, ask: trimmed(&ask), think: trimmed(&think) })
            .collect(),
        links: link.into_iter().map(|LinkFile { title, url, why }| Link { title, url, why }).collect(),
        math: math
            .into_iter()
            .map(|MathFile { name, formula, meaning }| MathEntry { name, formula, meaning })
            .collect(),
        glossary: term.into_iter().map(|TermFile { term, meaning }| Term { term, meaning }).collect(),
        exercises,
        visualizations,
    }
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

/// Ids of the visualizations in a lesson, each once, in order.
fn shown(lesson: &Lesson) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for block in lesson.sections.iter().flat_map(|section| &section.blocks) {
        if let Block::Visualization { id, .. } = block
            && !ids.contains(id)
        {
            ids.push(id.clone());
        }
    }
    ids
}

/// A day's CUDA with no words belongs to no day: a misspelt folder, most likely.
fn orphans(files: &Files, errors: &mut Vec<ContentError>) {
    for week in files.folders("kernels").into_iter().filter(|name| name.starts_with("week")) {
        for day in files.folders(&format!("kernels/{week}")) {
            let words = format!("curriculum/{week}/{day}/day.toml");
            if files.text(&words).is_none() {
                errors.push(ContentError::new(
                    format!("kernels/{week}/{day}"),
                    0,
                    format!("the words of this day in {words}; both halves have the same folder name"),
                ));
            }
        }
    }
}

/// Two days may share neither a place nor the name that progress is kept under.
fn repeated(weeks: &[Week], errors: &mut Vec<ContentError>) {
    let days: Vec<&Day> = weeks.iter().flat_map(|week| &week.days).collect();
    for (index, day) in days.iter().enumerate() {
        for other in &days[..index] {
            let path = format!("curriculum/{}", day.address);
            if (day.week, day.number) == (other.week, other.number) {
                errors.push(ContentError::new(path, 0, format!("a day number that {} has not", other.address)));
            } else if day.id == other.id {
                let expected =
                    format!("an id other than `{}`, which {} has (set `id` in day.toml)", day.id, other.address);
                errors.push(ContentError::new(path, 0, expected));
            }
        }
    }
}

/// Reads a TOML file that must exist.
pub(crate) fn toml_file<T: DeserializeOwned>(files: &Files, path: &str, errors: &mut Vec<ContentError>) -> Option<T> {
    let Some(text) = files.text(path) else {
        errors.push(ContentError::new(path, 0, "this file to exist"));
        return None;
    };
    toml::from_str(text).map_err(|error| errors.push(ContentError::from_toml(path, text, &error))).ok()
}

/// One-based line of the first occurrence of `needle`, 0 when it does not occur.
pub(crate) fn line_with(text: &str, needle: &str) -> usize {
    text.find(needle).map_or(0, |offset| line_of(text, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(extra: &[(&str, &str)]) -> Files {
        let mut texts = vec![
            ("curriculum/course.toml", "title = \"T\"\n"),
            ("curriculum/week1/week.toml", "title = \"W\"\nproject = \"P\"\n"),
            ("curriculum/week1/day1-a/day.toml", "title = \"A\"\nsummary = \"s\"\n"),
            ("curriculum/week1/day2-b/day.toml", "title = \"B\"\nsummary = \"s\"\n"),
        ];
        texts.extend(extra);
        Files::from_texts(texts)
    }

    fn errors_of(extra: &[(&str, &str)]) -> Vec<String> {
        match course(&files(extra)) {
            Ok(_) => Vec::new(),
            Err(ContentErrors(errors)) => errors.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn folder_order_is_course_order() {
        let course = course(&files(&[
            ("curriculum/week10/week.toml", "title = \"W10\"\nproject = \"P\"\n"),
            ("curriculum/week10/day10-z/day.toml", "title = \"Z\"\nsummary = \"s\"\n"),
            ("curriculum/week10/day9-y/day.toml", "title = \"Y\"\nsummary = \"s\"\n"),
            ("curriculum/week2/week.toml", "title = \"W2\"\nproject = \"P\"\n"),
        ]))
        .unwrap();
        assert_eq!(course.weeks.iter().map(|w| w.number).collect::<Vec<_>>(), [1, 2, 10]);
        assert_eq!(course.weeks[2].days.iter().map(|d| d.number).collect::<Vec<_>>(), [9, 10]);
    }

    #[test]
    fn a_moved_day_keeps_its_id() {
        let extra = [("curriculum/week1/day3-c/day.toml", "title = \"C\"\nsummary = \"s\"\nid = \"old\"\n")];
        let course = course(&files(&extra)).unwrap();
        assert_eq!(course.day("week1/day1").unwrap().id, "a");
        assert_eq!(course.day_by_id("old").unwrap().address, "week1/day3-c");
    }

    #[test]
    fn every_mistake_names_its_place() {
        for (path, text, message) in [
            ("curriculum/week1/day3-c/lesson.md", "## Challenge", "day.toml: expected this file to exist"),
            (
                "curriculum/week1/day2-c/day.toml",
                "title = \"C\"\nsummary = \"s\"",
                "a day number that week1/day2-b has not",
            ),
            ("curriculum/week1/day3-a/day.toml", "title = \"C\"\nsummary = \"s\"", "an id other than `a`"),
            ("curriculum/week1/Day3/day.toml", "", "a folder name such as `day4-first-kernel`"),
            ("curriculum/week1/day1-a/quiz.toml", "[[question]]\nid = 3", "quiz.toml:2: expected valid TOML"),
            ("curriculum/week1/day1-a/notes.toml", "\n\n[[lnk]]", "notes.toml:3: expected valid TOML"),
            ("kernels/week1/day9-x/reference.cu", "", "kernels/week1/day9-x: expected the words"),
            ("curriculum/weekx/week.toml", "", "a folder name such as `week2`"),
        ] {
            let errors = errors_of(&[(path, text)]);
            assert!(errors.iter().any(|error| error.contains(message)), "{path} gave {errors:?}");
        }
    }
}
