//! `lockstep dev check`: the course is sound from both sides. Files are read by the same loader as the learner's; every
//! kernel is compiled and judged on the emulator by the same engine.

use super::course_folder;
use crate::cli::engine::{self, Answer, Target};
use crate::cli::{Done, Failure, Places, out, usage};
use crate::widgets::figure::Drawing;
use crate::{measure, viz};
use curriculum::check as sound;
use curriculum::quiz::{Evidence, Kind, Needs, PredictAction, PredictKernel, PredictRun, mark_prediction, quantity};
use curriculum::{Block, Course, Exercise, Files, Ladder, Status, Unit};
use gpu_core::device::DeviceChoice;
use gpu_core::job::{Emit, Job, Outcome, Source};
use gpu_core::spec::Spec;
use gpu_core::verdict::fault_key;
use gpu_core::worker::Lab;

#[derive(clap::Args)]
pub struct Args {
    /// Only this day [default: all written ones]
    day: Option<String>,
    /// Judge with inputs of this seed: the answer to the same course is the same each time
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What every kernel of the course is judged with.
struct Judge {
    lab: Lab,
    seed: Option<u64>,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let mut problems = Vec::new();
    let mut files = Files::embedded();
    let course = match course_folder(places) {
        Some(dir) => {
            files = Files::from_folder(&dir).map_err(|errors| usage(lines(&errors)))?;
            out::print(&format!("course in {}\n", dir.display()));
            match Course::load(&dir) {
                Ok(course) => course,
                Err(errors) => {
                    out::print(&format!("{errors}\n\n{} problems\n", errors.0.len()));
                    return Err(Failure::Kernel);
                }
            }
        }
        None => {
            out::print("the built-in course\n");
            Course::embedded()
        }
    };
    let days: Vec<&Unit> = match &args.day {
        Some(asked) => vec![course.unit(asked).map_err(usage)?],
        None => course.units().filter(|day| day.status == Status::Written || !day.exercises.is_empty()).collect(),
    };
    problems.extend(sound::course(&files, &course).iter().map(ToString::to_string));
    let visualizations: Vec<&str> = viz::all().iter().map(|viz| viz.id()).collect();
    let judge = Judge { lab: engine::start(places, &Target::local_emulator()), seed: Some(args.seed) };
    let mut kernels = 0;
    for day in &days {
        problems.extend(sound::unit(&files, day, Some(&visualizations)).iter().map(ToString::to_string));
        for section in &day.lesson.sections {
            for block in &section.blocks {
                if let Block::Figure { file, svg, .. } = block
                    && let Err(problem) = Drawing::read(svg)
                {
                    problems.push(format!("curriculum/{}/{file}: {problem}", day.address));
                }
                if let Block::Measure { name } = block
                    && measure::find(name).is_none()
                {
                    let known: Vec<&str> = measure::PROGRAMS.iter().map(|program| program.name).collect();
                    let path = format!("curriculum/{}/lesson.md", day.address);
                    problems.push(format!("{path}: there is no program `{name}`; there are: {}", known.join(", ")));
                }
            }
        }
        for exercise in &day.exercises {
            kernels += exercise_problems(&judge, exercise, &mut problems)?;
        }
        predictions(&judge, day, &mut problems)?;
    }
    if args.day.is_none() {
        for ladder in &course.ladders {
            kernels += climb(&judge, ladder, &mut problems)?;
        }
    }
    for problem in &problems {
        out::print(&format!("{problem}\n"));
    }
    let days = days.len();
    out::print(&format!("days checked: {days}, kernels: {kernels}, problems: {}\n", problems.len()));
    if problems.is_empty() { Ok(()) } else { Err(Failure::Kernel) }
}

fn lines(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Compiles and judges all kernels of an exercise; returns how many.
fn exercise_problems(judge: &Judge, exercise: &Exercise, problems: &mut Vec<String>) -> Result<usize, Failure> {
    let mut say = |file: &str, what: String| problems.push(format!("{}/{file}: {what}", exercise.folder));
    let mut count = 1;
    out::transient(&format!("{}: scaffold", exercise.folder));
    let scaffold = check(judge, "scaffold.cu", &exercise.scaffold, &exercise.spec)?;
    match (&scaffold.outcome, &scaffold.verdict) {
        (Outcome::Done, Some(verdict)) if !verdict.passed => {}
        (Outcome::Done, _) => say("scaffold.cu", "it passes; a learner would have nothing to do".into()),
        _ => say("scaffold.cu", format!("it must compile and run: {}", why(&scaffold))),
    }
    let plain = exercise.plain_solution.as_ref().map(|text| ("solution.cu", text));
    for (file, text) in plain.into_iter().chain([("reference.cu", &exercise.reference)]) {
        count += 1;
        out::transient(&format!("{}: {file}", exercise.folder));
        let answer = check(judge, file, text, &exercise.spec)?;
        if !answer.verdict.as_ref().is_some_and(|verdict| verdict.passed) {
            say(file, format!("it must pass: {}", why(&answer)));
        }
    }
    for wrong in &exercise.wrongs {
        count += 1;
        out::transient(&format!("{}: {}", exercise.folder, wrong.file));
        let answer = check(judge, &wrong.file, &wrong.source, &exercise.spec)?;
        let found = diagnoses(&answer);
        if answer.verdict.as_ref().is_some_and(|verdict| verdict.passed) {
            say(&wrong.file, format!("it passes; it must be rejected for {}", wrong.fault));
        } else if !found.contains(&wrong.fault) {
            say(&wrong.file, format!("it must be rejected for {}, not: {}", wrong.fault, why(&answer)));
        }
    }
    for experiment in &exercise.experiments {
        count += 1;
        let file = format!("experiments/{}.cu", experiment.name);
        let job = Job::Compile {
            source: source(&file, &experiment.source),
            arch: experiment.spec.as_ref().unwrap_or(&exercise.spec).requires.clone().unwrap_or_else(|| "sm_90".into()),
            emit: Emit::default(),
        };
        let answer = engine::run_in(&judge.lab, job, false)?;
        if answer.outcome != Outcome::Done {
            say(&file, format!("it must compile: {}", why(&answer)));
        }
    }
    out::transient("");
    Ok(count)
}

/// Counts what the quiz has learners predict, and marks with it what the quiz says is right and what is wrong.
fn predictions(judge: &Judge, day: &Unit, problems: &mut Vec<String>) -> Result<(), Failure> {
    for question in &day.quiz.questions {
        let Kind::Predict { quantity: name, run, expected, traps, .. } = &question.kind else { continue };
        let Some(asked) = quantity(name).filter(|quantity| quantity.needs == Needs::Emulator) else { continue };
        let mut say = |what: String| {
            problems.push(format!("curriculum/{}/quiz.toml: question `{}`: {what}", day.address, question.id));
        };
        out::transient(&format!("{}: {}", day.address, question.id));
        let Some(job) = counting(judge, day, run) else {
            say("what it runs is not there".to_owned());
            continue;
        };
        let answer = engine::run_in(&judge.lab, job, false)?;
        let case = run.case.as_deref();
        let evidence = Evidence { verdict: answer.verdict.as_ref(), bench: answer.bench.as_ref(), case };
        let Some(counted) = asked.measure(&evidence) else {
            say(format!("its run does not give `{name}`: {}", why(&answer)));
            continue;
        };
        let is_right = |number: f64| mark_prediction(question, number, counted).is_ok_and(|mark| mark.correct);
        if let Some(expected) = expected.filter(|number| !is_right(*number)) {
            say(format!("`expression` gives {expected}, and the emulator counts {counted}"));
        }
        for trap in traps.iter().filter(|trap| is_right(trap.answer)) {
            say(format!("the trap {} is right: the emulator counts {counted}", trap.answer));
        }
    }
    out::transient("");
    Ok(())
}

/// What a prediction runs; None where the course lacks it, which the check of its files says.
fn counting(judge: &Judge, day: &Unit, run: &PredictRun) -> Option<Job> {
    let exercise = day.exercise_by_key(&run.exercise)?;
    let mut spec = &exercise.spec;
    let text = match &run.kernel {
        PredictKernel::Learner | PredictKernel::Solution => exercise.solution().to_owned(),
        PredictKernel::Reference => exercise.reference.clone(),
        PredictKernel::Experiment { name, knobs } => {
            let (_, experiment) = day.experiment(name)?;
            spec = experiment.spec.as_ref().unwrap_or(spec);
            experiment.with(knobs).ok()?
        }
    };
    let (source, spec) = (source("kernel.cu", &text), Box::new(spec.clone()));
    let device = DeviceChoice::Emulator;
    Some(match run.action {
        PredictAction::Check => Job::Check { source, spec, device, arch: None, seed: judge.seed, trace: None },
        PredictAction::Bench => Job::Bench { source, spec, device, arch: None, seed: judge.seed, reference: None },
    })
}

/// Judges every rung of a ladder (one without an oracle must at least run without a fault); returns how many.
fn climb(judge: &Judge, ladder: &Ladder, problems: &mut Vec<String>) -> Result<usize, Failure> {
    for rung in &ladder.rungs {
        let place = format!("kernels/ladders/{}/{}", ladder.name, rung.file);
        out::transient(&place);
        let answer = match rung.spec.oracle {
            Some(_) => check(judge, &rung.file, &rung.source, &rung.spec)?,
            None => {
                let job = Job::Run {
                    source: source(&rung.file, &rung.source),
                    spec: Box::new(rung.spec.clone()),
                    device: DeviceChoice::Emulator,
                    arch: None,
                    seed: judge.seed,
                    trace: None,
                    options: Box::default(),
                };
                engine::run_in(&judge.lab, job, false)?
            }
        };
        let ran = !answer.ran.is_empty() && answer.ran.iter().all(|ran| ran.completed && ran.faults.is_empty());
        if !ran && !answer.verdict.as_ref().is_some_and(|verdict| verdict.passed) {
            problems.push(format!("{place}: it must pass: {}", why(&answer)));
        }
        let compiled = answer.compiled.as_ref();
        let kernel = compiled.and_then(|report| report.kernels.iter().find(|kernel| kernel.name == rung.spec.entry));
        if kernel.is_some_and(|kernel| kernel.spill_store_bytes + kernel.spill_load_bytes > 0) {
            problems.push(format!("{place}: its registers spill"));
        }
    }
    out::transient("");
    Ok(ladder.rungs.len())
}

fn source(file: &str, text: &str) -> Source {
    let name = file.rsplit('/').next().unwrap_or(file).to_owned();
    Source { name, text: text.to_owned(), headers: Vec::new(), options: Vec::new() }
}

fn check(judge: &Judge, file: &str, text: &str, spec: &Spec) -> Result<Answer, Failure> {
    let job = Job::Check {
        source: source(file, text),
        spec: Box::new(spec.clone()),
        device: DeviceChoice::Emulator,
        arch: None,
        seed: judge.seed,
        trace: None,
    };
    engine::run_in(&judge.lab, job, false)
}

/// Everything that a kernel was rejected for.
fn diagnoses(answer: &Answer) -> Vec<String> {
    let Some(verdict) = &answer.verdict else { return Vec::new() };
    let faults = verdict.faults.iter().map(|fault| fault_key(fault.kind).to_owned());
    faults.chain(verdict.hints.iter().cloned()).collect()
}

/// One line on how a job ended.
fn why(answer: &Answer) -> String {
    match (&answer.outcome, &answer.verdict) {
        (Outcome::CompileErrors(list), _) => {
            list.first().map_or("it does not compile".into(), |d| format!("line {}: {}", d.line, d.message))
        }
        (Outcome::Done, Some(verdict)) => verdict.summary.clone(),
        _ => answer.message().unwrap_or("no verdict").to_owned(),
    }
}
