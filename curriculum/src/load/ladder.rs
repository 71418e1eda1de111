//! Reads `kernels/ladders/<name>/ladder.toml`.

use super::lesson::without_anchors;
use super::{declared, exercise, line_with};
use crate::error::ContentError;
use crate::files::Files;
use crate::ladder::{Ladder, Rival, Rung};
use crate::unit::{Block, Unit};
use serde::Deserialize;

const FOLDER: &str = "kernels/ladders";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LadderFile {
    title: String,
    summary: String,
    base: toml::Table,
    rung: Vec<RungFile>,
    #[serde(default, rename = "rival")]
    rivals: Vec<Rival>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RungFile {
    file: String,
    title: String,
    change: String,
    slower_because: Option<String>,
    /// Keys of `[base]` that this rung replaces, each as a whole.
    #[serde(default)]
    spec: toml::Table,
}

/// Gives a unit whose lesson shows a ladder that ladder's rungs as experiments of its main exercise.
pub(crate) fn lean<'d>(ladders: &[Ladder], days: impl Iterator<Item = &'d mut Unit>, errors: &mut Vec<ContentError>) {
    for day in days {
        let blocks = day.lesson.sections.iter().flat_map(|section| &section.blocks);
        let names: Vec<String> = blocks
            .filter_map(|block| match block {
                Block::Ladder { name } => Some(name.clone()),
                _ => None,
            })
            .collect();
        for name in names {
            let path = format!("{}/{}", day.folder(), day.kind.files().1);
            let Some(ladder) = ladders.iter().find(|ladder| ladder.name == name) else {
                let known: Vec<&str> = ladders.iter().map(|ladder| ladder.name.as_str()).collect();
                errors.push(ContentError::new(
                    path,
                    0,
                    format!("one of the ladders {} (found {name})", known.join(", ")),
                ));
                continue;
            };
            match day.exercises.first_mut() {
                Some(exercise) => exercise.experiments.extend(ladder.rungs.iter().map(|rung| rung.experiment(&name))),
                None => errors.push(ContentError::new(path, 0, "an exercise that the ladder can lean on")),
            }
        }
    }
}

/// Every ladder, by name.
pub(crate) fn all(files: &Files, errors: &mut Vec<ContentError>) -> Vec<Ladder> {
    files.folders(FOLDER).into_iter().filter_map(|name| ladder(files, name, errors)).collect()
}

fn ladder(files: &Files, name: &str, errors: &mut Vec<ContentError>) -> Option<Ladder> {
    let folder = format!("{FOLDER}/{name}");
    let path = format!("{folder}/ladder.toml");
    let Some(text) = files.text(&path) else {
        errors.push(ContentError::new(path, 0, "this file to exist"));
        return None;
    };
    let file: LadderFile = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            errors.push(ContentError::from_toml(&path, text, &error));
            return None;
        }
    };
    let listed: Vec<&str> = file.rung.iter().map(|rung| rung.file.as_str()).collect();
    for (stray, _) in files.below(&folder) {
        if stray.ends_with(".cu") && !listed.contains(&stray) {
            errors.push(ContentError::new(format!("{folder}/{stray}"), 0, "a `[[rung]]` of ladder.toml that names it"));
        }
    }
    let mut rungs = Vec::new();
    for rung in file.rung {
        rungs.extend(read_rung(files, &folder, &path, text, &file.base, rung, errors));
    }
    let rivals_source = files.text(&format!("{folder}/rivals.py")).unwrap_or_default().to_owned();
    for rival in &file.rivals {
        if !rivals_source.contains(&format!("def {}(", rival.call)) {
            let line = line_with(text, &rival.call);
            errors.push(ContentError::new(&path, line, format!("a function `{}` in {folder}/rivals.py", rival.call)));
        }
    }
    let (title, summary, rivals) = (file.title, file.summary, file.rivals);
    Some(Ladder { name: name.to_owned(), title, summary, rungs, rivals, rivals_source })
}

fn read_rung(
    files: &Files,
    folder: &str,
    path: &str,
    text: &str,
    base: &toml::Table,
    rung: RungFile,
    errors: &mut Vec<ContentError>,
) -> Option<Rung> {
    let line = line_with(text, &rung.file);
    let Some(source) = files.text(&format!("{folder}/{}", rung.file)) else {
        errors.push(ContentError::new(path, line, format!("an existing file `{}`", rung.file)));
        return None;
    };
    let mut merged = base.clone();
    merged.insert("title".to_owned(), rung.title.clone().into());
    if rung.spec.contains_key("step") {
        // A sequence of launches in place of the one kernel that the others are.
        merged.remove("entry");
        merged.remove("launch");
    }
    merged.extend(rung.spec);
    let spec = toml::to_string(&merged).map_err(|error| error.to_string()).and_then(|text| {
        // The merged text has lines of its own, so a problem is told by its key.
        declared::parse_bare(&text, path).map_err(|error| {
            let problems = error.problems.iter();
            let told = problems.map(|p| format!("{} for `{}` (found {})", p.expected, p.key, p.found));
            told.collect::<Vec<_>>().join("; ")
        })
    });
    match spec {
        Ok(mut spec) => {
            exercise::read_given(files, folder, &mut spec, path, errors);
            Some(Rung {
                file: rung.file,
                title: rung.title,
                change: rung.change,
                slower_because: rung.slower_because,
                source: without_anchors(source),
                spec,
            })
        }
        Err(problem) => {
            errors.push(ContentError::new(path, line, format!("in the rung {}: {problem}", rung.file)));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"
title = "Copy"
summary = "One copy."
[base]
entry = "copy"
oracle = "copy"
param = [
  { name = "x", dtype = "f32", shape = ["n"] },
  { name = "y", dtype = "f32", shape = ["n"], role = "out" },
]
[base.launch]
grid = ["n"]
block = [1]
[base.tolerance]
absolute = 0.0
relative = 0.0
reason = "A copy is exact."
[base.sizes]
check = [{ n = 5 }]
"#;

    fn read(rungs: &str) -> (Vec<Ladder>, Vec<String>) {
        let files = Files::from_texts([
            ("kernels/ladders/copy/ladder.toml", format!("{HEAD}{rungs}")),
            ("kernels/ladders/copy/01-plain.cu", "// plain".to_owned()),
            ("kernels/ladders/copy/02-wide.cu", "// wide".to_owned()),
        ]);
        let mut errors = Vec::new();
        let ladders = all(&files, &mut errors);
        (ladders, errors.iter().map(ToString::to_string).collect())
    }

    const PLAIN: &str = "[[rung]]\nfile = \"01-plain.cu\"\ntitle = \"Plain\"\nchange = \"The first.\"\n";
    const WIDE: &str = "[[rung]]\nfile = \"02-wide.cu\"\ntitle = \"Wide\"\nchange = \"Wider.\"\n\
                        [rung.spec]\nentry = \"wide\"\nlaunch = { grid = [\"ceil_div(n, 4)\"], block = [32] }\n";

    #[test]
    fn a_rung_replaces_keys_of_the_base() {
        let (ladders, errors) = read(&format!("{PLAIN}{WIDE}"));
        assert_eq!(errors, Vec::<String>::new());
        let [ladder] = ladders.as_slice() else { panic!("{ladders:?}") };
        assert_eq!(ladder.rungs[0].spec.entry(), "copy");
        assert_eq!(ladder.rungs[1].spec.entry(), "wide");
        assert_eq!(ladder.rungs[1].spec.steps[0].launch.block[0].0, "32");
        assert_eq!(ladder.rungs[1].spec.oracle.as_deref(), Some("copy"));
        for name in ["2", "02-wide", "02-wide.cu", "wide"] {
            assert_eq!(ladder.rung(name).map(|rung| rung.title.as_str()), Some("Wide"), "{name}");
        }
        assert!(ladder.rung("0").is_none() && ladder.rung("3").is_none() && ladder.rung("w").is_none());
    }

    #[test]
    fn problems_are_all_told() {
        let (_, errors) = read(PLAIN);
        assert!(errors[0].contains("02-wide.cu") && errors[0].contains("names it"), "{errors:?}");
        let (_, errors) = read(&format!("{PLAIN}{}", WIDE.replace("02-wide", "03-gone")));
        assert!(errors.iter().any(|error| error.contains("an existing file `03-gone.cu`")), "{errors:?}");
        let (_, errors) = read(&format!("{PLAIN}{}", WIDE.replace("\"wide\"", "\"no name\"")));
        assert!(errors[0].contains("02-wide.cu") && errors[0].contains("entry"), "{errors:?}");
        let (_, errors) = read(&format!("{PLAIN}{}", WIDE.replace("change", "chance")));
        assert!(errors[0].contains("valid TOML"), "{errors:?}");
        let rival = "[[rival]]\nname = \"torch\"\ncall = \"torch_copy\"\n";
        let (_, errors) = read(&format!("{PLAIN}{WIDE}{rival}"));
        assert!(errors[0].contains("`torch_copy` in kernels/ladders/copy/rivals.py"), "{errors:?}");
    }
}
