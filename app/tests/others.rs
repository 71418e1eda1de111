//! Kernels that other people would write: `others/right/*.cu` beside an exercise must pass, `others/wrong/*.cu` must be
//! rejected, for the declared diagnosis and with words that lead to the mistake.
//!
//! Each file says in its head comment what it is; of a wrong one:
//!
//! ```text
//! // <one line: what the learner believed>
//! // rejected for: out_of_bounds
//! // leads to: past its end
//! ```
//!
//! `rejected for` is a diagnosis of kernels/README.md and must be what the shown hint answers to, or be found beside it;
//! `leads to` is a text in what a learner reads: the verdict's sentence, or the hint for it. There may be several.
#![cfg(target_os = "linux")]

mod lab_support;

use curriculum::{Course, Exercise};
use gpu_core::compile::Diagnostic;
use gpu_core::device::{Argument, DeviceChoice};
use gpu_core::job::{Event, Job, Outcome};
use gpu_core::verdict::{HINT_KEYS, Verdict, fault_key};
use lab_support::{TestLab, source};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Least numbers of an exercise that has such kernels at all.
const LEAST_RIGHT: usize = 3;
const LEAST_WRONG: usize = 10;

/// The checkout whose kernels are judged: this one, or that of `LOCKSTEP_REPOSITORY`, so that an author need not build
/// the program again for each text.
fn repository() -> PathBuf {
    std::env::var_os("LOCKSTEP_REPOSITORY")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned(), PathBuf::from)
}

/// The kernels of one side, sorted.
fn kernels(exercise: &Exercise, side: &str) -> Vec<(String, String)> {
    let folder = repository().join(&exercise.folder).join("others").join(side);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(String, String)> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .map(|path| {
            let name = format!("{}/others/{side}/{}", exercise.folder, path.file_name().unwrap().to_string_lossy());
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

/// Values of a key in the head comment.
fn declared<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let head =
        text.lines().take_while(|line| line.starts_with("//") || line.starts_with("#include") || line.is_empty());
    head.filter_map(|line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": ")).map(str::trim).collect()
}

struct Judged {
    verdict: Option<Verdict>,
    errors: Vec<Diagnostic>,
    outcome: Outcome,
}

/// The same inputs each time, for a test that fails by chance says nothing; `LOCKSTEP_SEED=2` tries others.
fn seed() -> u64 {
    std::env::var("LOCKSTEP_SEED").map_or(1, |text| text.parse().expect("LOCKSTEP_SEED is a whole number"))
}

fn judge(lab: &TestLab, exercise: &Exercise, text: &str) -> Judged {
    judge_with(lab, exercise, text, seed())
}

fn judge_with(lab: &TestLab, exercise: &Exercise, text: &str, seed: u64) -> Judged {
    let spec = Box::new(exercise.spec.clone());
    let device = DeviceChoice::Emulator;
    let (events, outcome) =
        lab.run(Job::Check { source: source(text), spec, device, arch: None, seed: Some(seed), trace: None });
    let verdict = events.into_iter().find_map(|event| match event {
        Event::Verdict(verdict) => Some(*verdict),
        _ => None,
    });
    let errors = if let Outcome::CompileErrors(list) = &outcome { list.clone() } else { Vec::new() };
    Judged { verdict, errors, outcome }
}

impl Judged {
    fn diagnoses(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        if let Some(verdict) = &self.verdict {
            found.extend(verdict.hints.iter().cloned());
            found.extend(verdict.faults.iter().map(|fault| fault_key(fault.kind).to_owned()));
        }
        match &self.outcome {
            Outcome::CompileErrors(_) => found.push("compile_error".to_owned()),
            Outcome::BadRequest(_) => found.push("wrong_signature".to_owned()),
            _ => {}
        }
        found
    }

    /// What a learner reads first: the sentence, and the steps of the hint that is shown for it.
    fn read(&self, exercise: &Exercise) -> String {
        let mut text = match (&self.verdict, &self.outcome) {
            (Some(verdict), _) => verdict.summary.clone(),
            (None, Outcome::BadRequest(why) | Outcome::Crashed(why) | Outcome::LimitExceeded(why)) => why.clone(),
            _ => self.errors.iter().map(|error| format!("line {}: {}\n", error.line, error.message)).collect(),
        };
        if let Some(hint) = exercise.hints.for_keys(&self.diagnoses()) {
            text = format!("{text}\n{}", hint.steps.join("\n"));
        }
        text
    }
}

/// `LOCKSTEP_OTHERS=day5` walks only addresses that contain that text.
fn wanted(exercise: &Exercise) -> bool {
    std::env::var("LOCKSTEP_OTHERS").map_or(true, |part| exercise.folder.contains(&part))
}

#[test]
fn kernels_that_other_people_would_write_are_judged_rightly() {
    let course = Course::load(&repository()).unwrap_or_else(|errors| panic!("{errors}"));
    // A busy machine's compiler may take long; that is not what is looked at here.
    let lab = TestLab::with_limits(|limits| limits.compile_time = Duration::from_secs(120)).warm();
    let mut problems: Vec<String> = Vec::new();
    let mut judged = 0;
    for exercise in course.days().flat_map(|day| &day.exercises).filter(|exercise| wanted(exercise)) {
        let (right, wrong) = (kernels(exercise, "right"), kernels(exercise, "wrong"));
        if right.is_empty() && wrong.is_empty() {
            continue;
        }
        for (side, found, least) in [("right", right.len(), LEAST_RIGHT), ("wrong", wrong.len(), LEAST_WRONG)] {
            if found < least {
                problems.push(format!("{}/others/{side}: {found} kernels; at least {least}", exercise.folder));
            }
        }
        for (name, text) in &right {
            judged += 1;
            let answer = judge(&lab, exercise, text);
            if !answer.verdict.as_ref().is_some_and(|verdict| verdict.passed) {
                problems.push(format!("{name}: it is right and must pass: {}", answer.read(exercise)));
            }
        }
        for (name, text) in &wrong {
            judged += 1;
            problems.extend(wrong_problem(&lab, exercise, text).map(|problem| format!("{name}: {problem}")));
        }
    }
    assert!(problems.is_empty(), "{judged} judged, {} problems:\n{}", problems.len(), problems.join("\n"));
    println!("{judged} kernels judged");
}

/// What is not as its head comment says.
fn wrong_problem(lab: &TestLab, exercise: &Exercise, text: &str) -> Option<String> {
    let [fault] = declared(text, "rejected for")[..] else {
        return Some("one head comment `// rejected for: <diagnosis>` is missing".to_owned());
    };
    if !HINT_KEYS.contains(&fault) {
        return Some(format!("`{fault}` is no diagnosis; there are: {}", HINT_KEYS.join(", ")));
    }
    let leads = declared(text, "leads to");
    if leads.is_empty() {
        return Some("a head comment `// leads to: <words of the message>` is missing".to_owned());
    }
    let answer = judge(lab, exercise, text);
    let read = answer.read(exercise);
    if answer.verdict.as_ref().is_some_and(|verdict| verdict.passed) {
        return Some(format!("it passes; it must be rejected for {fault}"));
    }
    let found = answer.diagnoses();
    if !found.iter().any(|key| key == fault) {
        return Some(format!("it must be rejected for {fault}, not {found:?}: {:?} {read}", answer.outcome));
    }
    let missing = leads.into_iter().find(|words| !read.to_lowercase().contains(&words.to_lowercase()));
    missing.map(|words| format!("`{words}` is not in what a learner reads: {read}"))
}

/// Of every sum of the second case (2 x 3 times 3 x 4) the last product is the largest one, and positive, with these inputs.
fn last_is_largest(exercise: &Exercise, seed: u64) -> bool {
    let size = &exercise.spec.emulator_sizes()[1];
    let resolved = exercise.spec.resolve(size, None).expect("the course's own");
    let buffers: Vec<Vec<f64>> = gpu_core::judge::arguments(&resolved, seed)
        .iter()
        .filter_map(|argument| match argument {
            Argument::Buffer(buffer) => Some(buffer.dtype.decode_all(&buffer.bytes)),
            _ => None,
        })
        .collect();
    let [rows, inner, columns] = ["rows", "inner", "columns"].map(|name| size[name] as usize);
    let product = |row: usize, k: usize, column: usize| buffers[0][row * inner + k] * buffers[1][k * columns + column];
    (0..rows * columns).all(|index| {
        let (row, column) = (index / columns, index % columns);
        let last = product(row, inner - 1, column);
        last > 0.0 && (0..inner - 1).all(|k| product(row, k, column) < last)
    })
}

#[test]
fn what_fits_a_small_case_by_chance_is_not_said() {
    let course = Course::load(&repository()).unwrap_or_else(|errors| panic!("{errors}"));
    let folder = "kernels/week1/day1-cpu-baseline";
    let exercise = course.days().flat_map(|day| &day.exercises).find(|exercise| exercise.folder == folder);
    let exercise = exercise.expect("day 1's exercise");
    let seed = (0..).find(|seed| last_is_largest(exercise, *seed)).expect("some seed");
    let path = repository().join(folder).join("others/wrong/largest-product.cu");
    let answer = judge_with(&TestLab::start(), exercise, &std::fs::read_to_string(path).unwrap(), seed);
    let read = answer.read(exercise);
    assert!(read.contains("largest of its products"), "seed {seed}: {read}");
    assert!(!read.contains("last product alone") && !answer.diagnoses().iter().any(|key| key == "cut_sums"), "{read}");
}
