//! `lockstep dev others`: kernels that other people would write. `others/right/*.cu` beside an exercise must pass,
//! `others/wrong/*.cu` must be rejected, for the declared diagnosis and with words that lead to the mistake.
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
//! `leads to` is a text in what a learner reads: the verdict's sentence, or the hint for it. There may be several. A
//! right one may say `// does not reach: NAME OF MILESTONE`, which the emulator's counters must confirm.

use super::jury::{Case, Jury, JuryArgs, diagnoses, passed, why};
use super::{course_folder, select};
use crate::cli::engine::Answer;
use crate::cli::{Done, Failure, Places, out, usage};
use curriculum::{Course, Exercise, MAIN};
use gpu_core::job::Outcome;
use gpu_core::verdict::HINT_KEYS;
use std::path::Path;

/// Least numbers, right and wrong, of an exercise that has such kernels at all: of a unit's main exercise, of a warm-up and of
/// a practice problem.
const OF_MAIN: [usize; 2] = [3, 10];
const OF_WARM_UP: [usize; 2] = [1, 1];
const OF_PRACTICE: [usize; 2] = [1, 4];

/// What is asked of an exercise, and what it is called there.
fn least_of(exercise: &Exercise) -> ([usize; 2], &'static str) {
    if exercise.folder.starts_with("kernels/practice/") {
        return (OF_PRACTICE, "a practice problem");
    }
    match exercise.key == MAIN {
        true => (OF_MAIN, "a main exercise"),
        false => (OF_WARM_UP, "a warm-up"),
    }
}

#[derive(clap::Args)]
pub struct Args {
    /// Only of this unit, or of all below a folder: week2/day3, week2, labs [default: the whole course]
    unit: Option<String>,
    #[command(flatten)]
    jury: JuryArgs,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let Some(root) = course_folder(places) else {
        return Err(usage(
            "these kernels are not built in: run this in a clone of Lockstep, or name its folder with --content DIR",
        ));
    };
    let course = Course::load(&root).map_err(usage)?;
    let units = select(&course, args.unit.as_deref())?;
    let jury = Jury::new(places, &args.jury);
    let mut problems = Vec::new();
    let mut cases = Vec::new();
    for exercise in units.iter().flat_map(|unit| &unit.exercises) {
        let (right, wrong) = (kernels(&root, exercise, "right"), kernels(&root, exercise, "wrong"));
        problems.extend(too_few(exercise, &right, &wrong));
        cases.extend(right.into_iter().map(|kernel| right_case(&jury, exercise, kernel)));
        for kernel in wrong {
            match wrong_case(&jury, exercise, &kernel) {
                Ok(case) => cases.push(case),
                Err(problem) => problems.push(format!("{}: {problem}", kernel.name)),
            }
        }
    }
    for problem in &problems {
        out::print(&format!("{problem}\n"));
    }
    let found = jury.hear(&cases)?;
    let problems = problems.len() + found.problems;
    let (count, seconds) = (cases.len(), found.took.as_secs_f64());
    let judged = format!("kernels judged: {count} ({} now, {} known) in {seconds:.1} s", found.ran, found.known);
    out::print(&format!("{judged}, problems: {problems}\n"));
    if problems == 0 { Ok(()) } else { Err(Failure::Kernel) }
}

/// A kernel that another person would write.
pub struct Kernel {
    /// Path from the course's root.
    pub name: String,
    pub text: String,
}

/// The kernels of one side, sorted; unreadable ones are as if empty, and fail.
pub fn kernels(root: &Path, exercise: &Exercise, side: &str) -> Vec<Kernel> {
    let folder = root.join(&exercise.folder).join("others").join(side);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<Kernel> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .map(|path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            Kernel { name: format!("{}/others/{side}/{file}", exercise.folder), text }
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Values of a key in the head comment.
pub fn declared<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let head =
        text.lines().take_while(|line| line.starts_with("//") || line.starts_with("#include") || line.is_empty());
    head.filter_map(|line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": ")).map(str::trim).collect()
}

/// What a kernel's head comment says that it does not reach.
pub fn unreached(text: &str) -> Vec<&str> {
    declared(text, "does not reach")
}

fn too_few(exercise: &Exercise, right: &[Kernel], wrong: &[Kernel]) -> Vec<String> {
    // A warm-up may have nothing but what its milestones need.
    let only_for_milestones = wrong.is_empty() && right.iter().all(|kernel| !unreached(&kernel.text).is_empty());
    if only_for_milestones {
        return Vec::new();
    }
    let ([least_right, least_wrong], what) = least_of(exercise);
    let sides = [("right", right.len(), least_right), ("wrong", wrong.len(), least_wrong)];
    let few = sides.into_iter().filter(|(_, found, least)| found < least);
    few.map(|(side, found, least)| {
        format!("{}/others/{side}: {found} kernels, and {what} that has any needs at least {least}", exercise.folder)
    })
    .collect()
}

fn right_case<'c>(jury: &Jury<'_>, exercise: &'c Exercise, kernel: Kernel) -> Case<'c> {
    let names: Vec<String> = unreached(&kernel.text).into_iter().map(str::to_owned).collect();
    let job = match names.is_empty() {
        true => jury.check(&kernel.name, &kernel.text, &exercise.spec),
        false => jury.bench(&kernel.name, &kernel.text, &exercise.spec),
    };
    Case::new(kernel.name, job, move |answer| {
        if passed(answer) {
            return reached_after_all(exercise, &names, answer);
        }
        vec![format!("it is right and must pass: {}", read(exercise, answer))]
    })
}

/// Declared milestones that a run reached, or that there are not.
pub fn reached_after_all(exercise: &Exercise, names: &[String], answer: &Answer) -> Vec<String> {
    let known = || exercise.spec.milestones.iter().map(|milestone| milestone.name.as_str()).collect::<Vec<_>>();
    let problem = |name: &String| {
        let milestone = exercise.spec.milestones.iter().find(|milestone| milestone.name == *name);
        let Some(milestone) = milestone else {
            return Some(format!("there is no milestone `{name}`; there are: {}", known().join(", ")));
        };
        if !milestone.is_counted() {
            return Some(format!("only a GPU can tell whether `{name}` is reached; take the line out"));
        }
        let reached = answer.bench.iter().flat_map(|bench| &bench.milestones).find(|reached| reached.name == *name);
        match reached {
            Some(reached) if reached.reached == Some(false) => None,
            Some(reached) => Some(format!("it must not reach `{name}`: {}", reached.because)),
            None => Some(format!("its work was not counted, so nothing is known of `{name}`: {}", why(answer))),
        }
    };
    names.iter().filter_map(problem).collect()
}

/// Milestones that a run on the emulator can tell and that no kernel is known to miss: nothing shows that they ask for
/// anything. Looks at `others/right` and at experiments with the exercise's own parameters.
pub fn untested_milestones(root: &Path, exercise: &Exercise) -> Vec<String> {
    let right = kernels(root, exercise, "right");
    let own = exercise.experiments.iter().filter(|experiment| experiment.spec.is_none());
    let texts = || right.iter().map(|kernel| &kernel.text).chain(own.clone().map(|experiment| &experiment.source));
    let missed = |name: &str| texts().any(|text| unreached(text).contains(&name));
    let open = exercise.spec.milestones.iter().filter(|milestone| milestone.is_counted() && !missed(&milestone.name));
    open.map(|milestone| {
        format!(
            "milestone `{}`: no kernel in others/right or experiments says `// does not reach: {}`",
            milestone.name, milestone.name
        )
    })
    .collect()
}

fn wrong_case<'c>(jury: &Jury<'_>, exercise: &'c Exercise, kernel: &Kernel) -> Result<Case<'c>, String> {
    let [fault] = declared(&kernel.text, "rejected for")[..] else {
        return Err("one head comment `// rejected for: <diagnosis>` is missing".to_owned());
    };
    if !HINT_KEYS.contains(&fault) {
        return Err(format!("`{fault}` is not a diagnosis; there are: {}", HINT_KEYS.join(", ")));
    }
    let leads: Vec<String> = declared(&kernel.text, "leads to").into_iter().map(str::to_owned).collect();
    if leads.is_empty() {
        return Err("a head comment `// leads to: <words of the message>` is missing".to_owned());
    }
    let fault = fault.to_owned();
    let job = jury.check(&kernel.name, &kernel.text, &exercise.spec);
    Ok(Case::new(kernel.name.clone(), job, move |answer| {
        wrong_problem(exercise, &fault, &leads, answer).into_iter().collect()
    }))
}

/// What is not as its head comment says.
fn wrong_problem(exercise: &Exercise, fault: &str, leads: &[String], answer: &Answer) -> Option<String> {
    let read = read(exercise, answer);
    if passed(answer) {
        return Some(format!("it passes; it must be rejected for {fault}"));
    }
    let found = diagnoses(answer);
    if !found.iter().any(|key| key == fault) {
        return Some(format!("it must be rejected for {fault}, not {}: {read}", found.join(", ")));
    }
    let missing = leads.iter().find(|words| !read.to_lowercase().contains(&words.to_lowercase()));
    missing.map(|words| format!("`{words}` is not in what a learner reads: {read}"))
}

/// What a learner reads first: the sentence, and the steps of the hint that is shown for it.
fn read(exercise: &Exercise, answer: &Answer) -> String {
    let text = match (&answer.verdict, &answer.outcome) {
        (Some(verdict), _) => verdict.summary.clone(),
        (None, Outcome::CompileErrors(list)) => {
            list.iter().map(|error| format!("line {}: {}\n", error.line, error.message)).collect()
        }
        (None, _) => answer.message().unwrap_or_default().to_owned(),
    };
    // The judge's own keys come first: the first is what the learner was told.
    let mut keys = answer.verdict.as_ref().map_or_else(Vec::new, |verdict| verdict.hints.clone());
    keys.extend(diagnoses(answer));
    match exercise.hints.for_keys(&keys) {
        Some(hint) => format!("{text}\n{}", hint.steps.join("\n")),
        None => text,
    }
}
