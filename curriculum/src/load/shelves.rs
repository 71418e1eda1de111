//! Reads what is no day: labs, practice problems and reference pages. A folder that is none of these is an error, so
//! that a misspelt one is not silence.

use super::{Head, toml_file, unit};
use crate::course::{Course, FAMILIES};
use crate::error::ContentError;
use crate::files::Files;
use crate::names::{is_slug, numbered};
use crate::unit::{Unit, UnitKind};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Folders of `kernels/` that belong to no unit.
const SHARED: [&str; 3] = ["ladders", "probes", "include"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabFile {
    title: String,
    summary: String,
    /// With all explanations and measurements.
    minutes: u32,
    /// With the exercises alone.
    quick_minutes: Option<u32>,
    order: u32,
    objectives: Vec<String>,
    #[serde(default)]
    after: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageFile {
    title: String,
    summary: String,
    order: u32,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    after: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemFile {
    title: String,
    summary: String,
    minutes: u32,
    difficulty: u32,
    concepts: Vec<String>,
    #[serde(default)]
    after: Vec<String>,
}

/// Reads one folder of `curriculum/` that is no week.
pub(crate) fn read(files: &Files, folder: &str, course: &mut Course, errors: &mut Vec<ContentError>) {
    match folder {
        "labs" => course.labs = sorted(all(files, "labs", "lab.toml", "reduction", errors, lab)),
        "reference" => course.pages = sorted(all(files, "reference", "page.toml", "architectures", errors, page)),
        "practice" => {
            for family in files.folders("curriculum/practice") {
                if !FAMILIES.contains(&family) {
                    let expected = format!("a family of problems out of {} (found `{family}`)", FAMILIES.join(", "));
                    errors.push(ContentError::new(format!("curriculum/practice/{family}"), 0, expected));
                }
            }
            for family in FAMILIES {
                let shelf = format!("practice/{family}");
                course.problems.extend(sorted(all(files, &shelf, "problem.toml", "argmax", errors, problem)));
            }
        }
        "ready" => {}
        _ => errors.push(ContentError::new(
            format!("curriculum/{folder}"),
            0,
            format!("one of the folders weekN, labs, practice, reference, ready (found `{folder}`)"),
        )),
    }
}

/// Units of one shelf with what they are sorted by.
fn all(
    files: &Files,
    shelf: &str,
    head: &str,
    example: &str,
    errors: &mut Vec<ContentError>,
    read: impl Fn(&Files, String, &mut Vec<ContentError>) -> Option<(u32, Unit)>,
) -> Vec<(u32, Unit)> {
    let path = format!("curriculum/{shelf}");
    for (stray, _) in files.below(&path).filter(|(name, _)| !name.contains('/')) {
        errors.push(ContentError::new(
            format!("{path}/{stray}"),
            0,
            format!("a folder with a {head}, not a file here"),
        ));
    }
    let mut found = Vec::new();
    for name in files.folders(&path) {
        if is_slug(name) {
            found.extend(read(files, format!("{shelf}/{name}"), errors));
        } else {
            let expected = format!("a folder name such as `{example}` (lower case, words joined by hyphens)");
            errors.push(ContentError::new(format!("{path}/{name}"), 0, expected));
        }
    }
    found
}

fn sorted(mut units: Vec<(u32, Unit)>) -> Vec<Unit> {
    // Stable: equal ones stay in the order of their names.
    units.sort_by_key(|(order, _)| *order);
    units.into_iter().map(|(_, unit)| unit).collect()
}

fn head<T: DeserializeOwned>(files: &Files, address: &str, name: &str, errors: &mut Vec<ContentError>) -> Option<T> {
    toml_file(files, &format!("curriculum/{address}/{name}"), errors)
}

/// Progress and texts are kept in folders of this name.
fn id(address: &str) -> String {
    address.replace('/', "-")
}

fn lab(files: &Files, address: String, errors: &mut Vec<ContentError>) -> Option<(u32, Unit)> {
    let LabFile { title, summary, minutes, quick_minutes, order, objectives, after } =
        head(files, &address, "lab.toml", errors)?;
    let head = Head { id: id(&address), title, summary, minutes, objectives, after };
    Some((order, unit(files, UnitKind::Lab { quick_minutes }, address, head, errors)))
}

fn page(files: &Files, address: String, errors: &mut Vec<ContentError>) -> Option<(u32, Unit)> {
    let PageFile { title, summary, order, tags, after } = head(files, &address, "page.toml", errors)?;
    let head = Head { id: id(&address), title, summary, minutes: 0, objectives: Vec::new(), after };
    Some((order, unit(files, UnitKind::Page { tags }, address, head, errors)))
}

fn problem(files: &Files, address: String, errors: &mut Vec<ContentError>) -> Option<(u32, Unit)> {
    let ProblemFile { title, summary, minutes, difficulty, concepts, after } =
        head(files, &address, "problem.toml", errors)?;
    if !(1..=3).contains(&difficulty) {
        let path = format!("curriculum/{address}/problem.toml");
        errors.push(ContentError::new(path, 0, format!("a difficulty from 1 to 3 (found {difficulty})")));
    }
    let family = address.split('/').nth(1).unwrap_or_default().to_owned();
    let head = Head { id: id(&address), title, summary, minutes, objectives: Vec::new(), after };
    Some((difficulty, unit(files, UnitKind::Problem { family, difficulty, concepts }, address, head, errors)))
}

/// CUDA with no words belongs to no unit: a misspelt folder, most likely.
pub(crate) fn orphans(files: &Files, errors: &mut Vec<ContentError>) {
    for folder in files.folders("kernels") {
        let (depth, head) = match folder {
            _ if numbered(folder, "week").is_some() => (1, "day.toml"),
            "labs" => (1, "lab.toml"),
            "reference" => (1, "page.toml"),
            "practice" => (2, "problem.toml"),
            _ if SHARED.contains(&folder) => continue,
            _ => {
                let expected = format!(
                    "one of the folders weekN, labs, practice, reference, {} (found `{folder}`)",
                    SHARED.join(", ")
                );
                errors.push(ContentError::new(format!("kernels/{folder}"), 0, expected));
                continue;
            }
        };
        let mut places = vec![folder.to_owned()];
        for _ in 0..depth {
            places = places
                .iter()
                .flat_map(|place| {
                    files.folders(&format!("kernels/{place}")).into_iter().map(move |n| format!("{place}/{n}"))
                })
                .collect();
        }
        for place in places {
            let words = format!("curriculum/{place}/{head}");
            if files.text(&words).is_none() {
                let expected = format!("the words that belong to it in {words}; both halves have the same folder name");
                errors.push(ContentError::new(format!("kernels/{place}"), 0, expected));
            }
        }
    }
}
