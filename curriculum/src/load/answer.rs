//! Reads `kernels/<unit>/<key>/answer.toml`.

use super::exercise::told;
use super::lesson::without_anchors;
use super::{declared, line_with};
use crate::answer::{AnswerExercise, Asked, Mystery, MysteryQuestion, check_names, unknown};
use crate::error::ContentError;
use crate::files::Files;
use crate::quiz::quantity;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerFile {
    title: String,
    draw: usize,
    mystery: Vec<MysteryFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MysteryFile {
    id: String,
    name: String,
    file: String,
    spec: String,
    question: Vec<QuestionFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionFile {
    ask: String,
    choices: Option<Vec<String>>,
    answer: Option<String>,
    evidence: Option<Vec<String>>,
    #[serde(default)]
    why: String,
    #[serde(default)]
    explain: String,
    #[serde(default)]
    proof: Vec<String>,
}

/// All answer exercises of a unit, by folder name.
pub(crate) fn load(files: &Files, address: &str, errors: &mut Vec<ContentError>) -> Vec<AnswerExercise> {
    let folder = format!("kernels/{address}");
    let names = files.folders(&folder);
    names.into_iter().filter_map(|name| one(files, &format!("{folder}/{name}"), name, errors)).collect()
}

fn one(files: &Files, folder: &str, key: &str, errors: &mut Vec<ContentError>) -> Option<AnswerExercise> {
    let path = format!("{folder}/answer.toml");
    let text = files.text(&path)?;
    let file: AnswerFile =
        toml::from_str(text).map_err(|error| errors.push(ContentError::from_toml(&path, text, &error))).ok()?;
    if files.text(&format!("{folder}/exercise.toml")).is_some() {
        errors.push(ContentError::new(&path, 0, "no exercise.toml beside it: a folder is one exercise"));
    }
    let count = file.mystery.len();
    if !(1..=count).contains(&file.draw) {
        let expected = format!("`draw` from 1 to the {count} mysteries (found {})", file.draw);
        errors.push(ContentError::new(&path, line_with(text, "draw"), expected));
    }
    let mut mysteries: Vec<Mystery> = Vec::new();
    for read in file.mystery {
        let line = line_with(text, &read.file).max(1);
        if !crate::names::is_slug(&read.id) || mysteries.iter().any(|other| other.id == read.id) {
            let expected = format!("an id of lower-case words that no other mystery has (found `{}`)", read.id);
            errors.push(ContentError::new(&path, line, expected));
        }
        let mut beside = |name: &str| {
            let found = files.text(&format!("{folder}/{name}"));
            if found.is_none() {
                errors.push(ContentError::new(&path, line_with(text, name), format!("an existing file `{name}`")));
            }
            found
        };
        let (source, spec_text) = (beside(&read.file), beside(&read.spec));
        let spec_path = format!("{folder}/{}", read.spec);
        let spec = spec_text.and_then(|text| told(declared::parse_bare(text, &spec_path), errors));
        let name = read.name;
        let questions: Vec<MysteryQuestion> = read
            .question
            .into_iter()
            .filter_map(|asked| {
                let near = line_with(text, &asked.ask);
                question(asked).map_err(|what| errors.push(ContentError::new(&path, near, what))).ok()
            })
            .collect();
        if questions.is_empty() {
            errors.push(ContentError::new(&path, line, format!("a `[[mystery.question]]` about {name}")));
        }
        if let (Some(source), Some(spec)) = (source, spec) {
            let source = without_anchors(source);
            mysteries.push(Mystery { id: read.id, name, file: read.file, source, spec, questions });
        }
    }
    Some(AnswerExercise {
        key: key.to_owned(),
        folder: folder.to_owned(),
        title: file.title,
        draw: file.draw,
        mysteries,
    })
}

fn question(file: QuestionFile) -> Result<MysteryQuestion, String> {
    let QuestionFile { ask, choices, answer, evidence, why, explain, proof } = file;
    let kind = match (choices, answer, evidence) {
        (Some(choices), Some(answer), None) => {
            if choices.len() < 2 || !choices.contains(&answer) {
                return Err(format!("at least two `choices`, and `answer` one of them (found `{answer}`)"));
            }
            Asked::Choice { choices, answer }
        }
        (None, None, Some(accepted)) if !accepted.is_empty() => {
            if let Some(name) = accepted.iter().find(|name| quantity(name).is_none()) {
                return Err(format!("evidence that is measured: {}", unknown(name)));
            }
            Asked::Evidence { accepted }
        }
        _ => return Err("either `choices` with `answer`, or `evidence` with at least one quantity".to_owned()),
    };
    if why.trim().is_empty() && explain.trim().is_empty() {
        return Err("`why` or `explain`: who answered wants to know".to_owned());
    }
    for proof in &proof {
        check_names(proof)?;
    }
    Ok(MysteryQuestion { ask, kind, why, explain, proof })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quiz::Evidence;
    use gpu_core::emulator::{Counters, Traffic};
    use gpu_core::verdict::{CaseReport, RunReport};

    const SPEC: &str = "title = \"T\"\nentry = \"k\"\n[[param]]\nname = \"x\"\ndtype = \"f32\"\nshape = [\"n\"]\nrole = \"out\"\n\
                        [launch]\ngrid = [1]\nblock = [32]\n[sizes]\ncheck = [{ n = 32 }]\n";
    const ANSWER: &str = "title = \"What bounds it?\"\ndraw = 1\n[[mystery]]\nid = \"a\"\nname = \"Kernel A\"\n\
        file = \"mystery/a.cu\"\nspec = \"a.toml\"\n[[mystery.question]]\nask = \"What?\"\nchoices = [\"loads\", \"stores\"]\n\
        answer = \"loads\"\nwhy = \"w\"\n[[mystery.question]]\nask = \"Which?\"\nevidence = [\"load_sectors_per_request\"]\n\
        why = \"w\"\nproof = [\"load_sectors_per_request > 16\", \"load_sectors >= 2 * load_requests\"]\n";

    fn read(answer: &str) -> (Vec<AnswerExercise>, Vec<String>) {
        let files = Files::from_texts([
            ("kernels/labs/x/why/answer.toml", answer),
            ("kernels/labs/x/why/mystery/a.cu", "// a"),
            ("kernels/labs/x/why/a.toml", SPEC),
        ]);
        let mut errors = Vec::new();
        let found = load(&files, "labs/x", &mut errors);
        (found, errors.iter().map(ToString::to_string).collect())
    }

    fn run(sectors: u64) -> RunReport {
        let traffic = Traffic { requests: 10, sectors, bytes: 1280 };
        let counters = Counters { global_load: traffic, ..Counters::default() };
        let case = CaseReport { counters: Some(counters), ..CaseReport::default() };
        RunReport { completed: true, case, ..RunReport::default() }
    }

    #[test]
    fn answers_are_marked_and_proofs_recomputed() {
        let (found, errors) = read(ANSWER);
        assert_eq!(errors, Vec::<String>::new());
        let questions = &found[0].mystery("a").unwrap().questions;
        assert!(questions[0].is_right("loads") && !questions[0].is_right("stores"));
        assert!(questions[1].is_right("load_sectors_per_request") && !questions[1].is_right("bank_conflicts"));
        let (scattered, dense) = (run(320), run(40));
        let of = |run| questions[1].unproven(&Evidence { ran: Some(run), ..Evidence::default() });
        assert_eq!(of(&scattered), Vec::<String>::new());
        assert_eq!(of(&dense), ["`load_sectors_per_request > 16` is false: 4 > 16"]);
        let without = questions[1].unproven(&Evidence::default());
        assert!(without.iter().any(|what| what.contains("does not give `load_sectors_per_request`")), "{without:?}");
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (from, to, line, said) in [
            ("draw = 1", "draw = 2", 2, "from 1 to the 1 mysteries"),
            ("answer = \"loads\"", "answer = \"load\"", 9, "found `load`"),
            ("[\"load_sectors_per_request\"]", "[\"sectors\"]", 14, "there is no quantity `sectors`"),
            ("load_sectors >= 2", "load_sectorz >= 2", 14, "`load_sectorz`"),
            ("> 16", "16", 14, "a comparison with <"),
            ("why = \"w\"\n[[", "[[", 9, "`why` or `explain`"),
            ("mystery/a.cu", "mystery/b.cu", 6, "an existing file `mystery/b.cu`"),
            ("choices =", "choice =", 10, "valid TOML"),
            ("choices = [\"loads\", \"stores\"]\n", "", 9, "either `choices` with `answer`"),
        ] {
            assert!(ANSWER.contains(from), "{from}");
            let (_, errors) = read(&ANSWER.replacen(from, to, 1));
            let place = format!("kernels/labs/x/why/answer.toml:{line}: ");
            assert!(errors.iter().any(|e| e.starts_with(&place) && e.contains(said)), "{to} gives {errors:?}");
        }
    }

    #[test]
    fn a_draw_is_repeatable_and_without_repeats() {
        let (found, _) = read(ANSWER);
        let one = found[0].mysteries[0].clone();
        let mysteries = (0..6).map(|n| Mystery { id: n.to_string(), ..one.clone() }).collect();
        let exercise = AnswerExercise { draw: 3, mysteries, ..found[0].clone() };
        let ids = |seed| exercise.drawn(seed).iter().map(|mystery| mystery.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(1), ids(1));
        assert!((1..9).any(|seed| ids(seed) != ids(0)), "another seed draws another");
        for seed in 0..20 {
            let drawn: std::collections::BTreeSet<String> = ids(seed).into_iter().collect();
            assert_eq!(drawn.len(), 3);
        }
    }
}
