//! Builds the course from its files: folder order is course order, and both halves of a unit are laid over each other.

mod answer;
mod declared;
pub(crate) mod exercise;
mod ladder;
mod lesson;
mod shelves;

use crate::course::{Course, Week};
use crate::error::{ContentError, ContentErrors, line_of};
use crate::files::Files;
use crate::names::numbered;
use crate::quiz::{self, Quiz};
use crate::rivals;
use crate::unit::{Block, Lesson, Link, MathEntry, Reflection, Status, Term, Unit, UnitKind};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

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
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DayFile {
    title: String,
    summary: String,
    /// Only where the slug was changed after learners had progress under it.
    id: Option<String>,
    minutes: Option<u32>,
    #[serde(default)]
    objectives: Vec<String>,
    /// Units that it builds on.
    #[serde(default)]
    after: Vec<String>,
}

/// `notes.toml`: the small lists of a unit.
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

impl Course {
    /// The course compiled into this program.
    ///
    /// # Panics
    /// Never in a released program: a test loads it, and what it loads is fixed at build time.
    pub fn embedded() -> Self {
        match course(&Files::embedded()) {
            Ok(course) => course,
            Err(errors) => unreachable!("the embedded course is checked by tests: {errors}"),
        }
    }

    /// The course in a folder, or the embedded one with a folder's files over it; see [`Files::from_folder`].
    ///
    /// # Errors
    /// Everything that is wrong with the folder's files, each with path, line and what is expected.
    pub fn load(dir: &Path) -> Result<Self, ContentErrors> {
        let files = Files::from_folder(dir).map_err(ContentErrors)?;
        Self::from_files(&files)
    }

    /// The course that these files make.
    ///
    /// # Errors
    /// As [`Course::load`].
    pub fn from_files(files: &Files) -> Result<Self, ContentErrors> {
        course(files)
    }
}

/// Reads the whole course; either it is sound, or all that is wrong comes back.
pub(crate) fn course(files: &Files) -> Result<Course, ContentErrors> {
    let mut errors = Vec::new();
    let head: Option<CourseFile> = toml_file(files, "curriculum/course.toml", &mut errors);
    let mut course = Course::default();
    for folder in files.folders("curriculum") {
        match numbered(folder, "week") {
            Some(number) => course.weeks.push(week(files, folder, number.number, &mut errors)),
            None => shelves::read(files, folder, &mut course, &mut errors),
        }
    }
    // By number and not by name: week10 follows week9.
    course.weeks.sort_by_key(|week| week.number);
    let ladders = ladder::all(files, &mut errors);
    ladder::lean(&ladders, course.units_mut(), &mut errors);
    course
        .units_mut()
        .flat_map(|unit| &unit.exercises)
        .for_each(|exercise| rivals::check(&ladders, exercise, &mut errors));
    course.ladders = ladders;
    shelves::orphans(files, &mut errors);
    repeated(&course, &mut errors);
    let ready = files.text(READY).map_or_else(Quiz::default, |text| quiz::parse(READY, text, &mut errors));
    match head {
        Some(CourseFile { title, language }) if errors.is_empty() => Ok(Course { title, language, ready, ..course }),
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
    days.sort_by_key(|day| day.day());
    Week { number, title, project, days }
}

struct Place {
    address: String,
    week: u32,
    number: u32,
}

fn day(files: &Files, place: Place, slug: &str, errors: &mut Vec<ContentError>) -> Unit {
    let Place { address, week, number } = place;
    let path = format!("curriculum/{address}/day.toml");
    let head: Option<DayFile> = toml_file(files, &path, errors);
    let head = head.unwrap_or_else(|| DayFile { title: slug.to_owned(), ..DayFile::default() });
    if let Some(id) = head.id.as_ref().filter(|id| !crate::names::is_slug(id)) {
        let expected = format!("an id of lower-case words and hyphens (found `{id}`)");
        errors.push(ContentError::new(path, 0, expected));
    }
    let DayFile { title, summary, id, minutes, objectives, after } = head;
    let minutes = minutes.unwrap_or(DAY_MINUTES);
    let head = Head { id: id.unwrap_or_else(|| slug.to_owned()), title, summary, minutes, objectives, after };
    unit(files, UnitKind::Day { week, number }, address, head, errors)
}

/// What the head file of every kind of unit says.
pub(crate) struct Head {
    pub id: String,
    pub title: String,
    pub summary: String,
    pub minutes: u32,
    pub objectives: Vec<String>,
    pub after: Vec<String>,
}

/// Reads all that a unit has beside its head file.
pub(crate) fn unit(files: &Files, kind: UnitKind, address: String, head: Head, errors: &mut Vec<ContentError>) -> Unit {
    let folder = format!("curriculum/{address}");
    let is_day = matches!(kind, UnitKind::Day { .. });
    let lesson_path = format!("{folder}/{}", kind.files().1);
    let lesson = files.text(&lesson_path).map(|text| {
        let headings = if is_day { lesson::Headings::Day } else { lesson::Headings::Free { title: &head.title } };
        let source = lesson::Source { files, path: &lesson_path, address: &address, headings };
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
    let answers = answer::load(files, &address, errors);
    let status = match lesson {
        Some(_) => Status::Written,
        None => Status::Planned { summary: head.summary.clone() },
    };
    let no_words = || if is_day { Lesson::empty_day() } else { Lesson { sections: Vec::new() } };
    let lesson = lesson.unwrap_or_else(no_words);
    let visualizations = shown(&lesson);
    let Head { id, title, summary, minutes, objectives, after } = head;
    Unit {
        kind,
        address,
        id,
        title,
        summary,
        status,
        minutes,
        objectives,
        after,
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
        answers,
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

/// Two days may not share a place, no two units the name that progress is kept under.
fn repeated(course: &Course, errors: &mut Vec<ContentError>) {
    let units: Vec<&Unit> = course.units().collect();
    for (index, unit) in units.iter().enumerate() {
        for other in &units[..index] {
            let path = unit.folder();
            if unit.day().is_some() && unit.day() == other.day() {
                errors.push(ContentError::new(path, 0, format!("a day number that {} has not", other.address)));
            } else if unit.id == other.id {
                let expected =
                    format!("an id other than `{}`, which {} has (set `id` in day.toml)", unit.id, other.address);
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
        assert_eq!(course.weeks[2].days.iter().map(|d| d.day().unwrap().1).collect::<Vec<_>>(), [9, 10]);
    }

    #[test]
    fn a_moved_day_keeps_its_id() {
        let extra = [("curriculum/week1/day3-c/day.toml", "title = \"C\"\nsummary = \"s\"\nid = \"old\"\n")];
        let course = course(&files(&extra)).unwrap();
        assert_eq!(course.unit("week1/day1").unwrap().id, "a");
        assert_eq!(course.unit_by_id("old").unwrap().address, "week1/day3-c");
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
            ("curriculum/weekx/week.toml", "", "one of the folders weekN, labs, practice, reference, ready"),
            ("curriculum/lab/x/lab.toml", "", "(found `lab`)"),
            ("curriculum/labs/x.md", "", "a folder with a lab.toml"),
            ("curriculum/labs/x/lesson.md", "a", "labs/x/lab.toml: expected this file to exist"),
            ("curriculum/labs/X/lab.toml", "", "a folder name such as `reduction`"),
            ("curriculum/practice/misc/x/problem.toml", "", "elementwise, reductions,"),
            ("curriculum/practice/sparse/problem.toml", "", "a folder with a problem.toml"),
            ("curriculum/reference/x/page.toml", "title = \"X\"\ntag = 3", "page.toml:2: expected valid TOML"),
            ("kernels/labs/x/exercise.toml", "", "curriculum/labs/x/lab.toml"),
            ("kernels/practice/sparse/x/exercise.toml", "", "curriculum/practice/sparse/x/problem.toml"),
            ("kernels/misc/x.cu", "", "one of the folders weekN, labs, practice, reference, ladders"),
        ] {
            let errors = errors_of(&[(path, text)]);
            assert!(errors.iter().any(|error| error.contains(message)), "{path} gave {errors:?}");
        }
    }
}
