//! `lockstep dev check`: the course is sound from both sides. Files are read by the same loader as the learner's; every
//! kernel is compiled and judged on the emulator by the same engine.

use super::jury::{Case, Jury, JuryArgs, diagnoses, passed, source, why};
use super::{course_folder, ladders, others, select};
use crate::cli::engine::Answer;
use crate::cli::{Done, Failure, Places, out, usage};
use crate::widgets::figure::Drawing;
use crate::{measure, mystery, viz};
use curriculum::answer::{AnswerExercise, MysteryQuestion, figures};
use curriculum::check as sound;
use curriculum::quiz::{Evidence, Kind, Needs, PredictAction, PredictKernel, PredictRun, mark_prediction, quantity};
use curriculum::{Block, Course, Exercise, Files, Ladder, Status, Unit};
use gpu_core::choice::Choice;
use gpu_core::device::DeviceChoice;
use gpu_core::emulator_device::EmulatorDevice;
use gpu_core::job::{Emit, Job, Outcome};

#[derive(clap::Args)]
pub struct Args {
    /// Only this unit or ladder, or all below a folder: week2/day3, week2, labs, ladders/transpose [default: everything
    /// written]
    unit: Option<String>,
    #[command(flatten)]
    jury: JuryArgs,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let mut problems = Vec::new();
    let mut files = Files::embedded();
    let root = course_folder(places);
    let course = match &root {
        Some(dir) => {
            files = Files::from_folder(dir).map_err(|errors| usage(lines(&errors)))?;
            out::print(&format!("course in {}\n", dir.display()));
            match Course::load(dir) {
                Ok(course) => course,
                Err(errors) => {
                    out::print(&format!("{errors}\n\nproblems: {}\n", errors.0.len()));
                    return Err(Failure::Kernel);
                }
            }
        }
        None => {
            out::print("the built-in course\n");
            Course::embedded()
        }
    };
    let mut units = select(&course, args.unit.as_deref())?;
    // One that was asked for by name is told what it lacks.
    let by_name = args.unit.is_some() && units.len() == 1;
    units.retain(|unit| by_name || unit.status == Status::Written || !unit.exercises.is_empty());
    problems.extend(sound::course(&files, &course).iter().map(ToString::to_string));
    let visualizations: Vec<&str> = viz::all().iter().map(|viz| viz.id()).collect();
    let jury = Jury::new(places, &args.jury);
    let mut cases = Vec::new();
    for unit in &units {
        problems.extend(sound::unit(&files, unit, Some(&visualizations)).iter().map(ToString::to_string));
        blocks(unit, &mut problems);
        for exercise in &unit.exercises {
            exercise_cases(&jury, exercise, &mut cases);
            if let Some(root) = &root {
                let path = format!("{}/exercise.toml", exercise.folder);
                let open = others::untested_milestones(root, exercise);
                problems.extend(open.into_iter().map(|problem| format!("{path}: {problem}")));
            }
        }
        prediction_cases(&jury, unit, &mut cases, &mut problems);
        for exercise in &unit.answers {
            answer_cases(&jury, exercise, &mut cases);
        }
    }
    for ladder in ladders(&course, args.unit.as_deref())? {
        climb(&jury, ladder, &mut cases);
    }
    for problem in &problems {
        out::print(&format!("{problem}\n"));
    }
    let found = jury.hear(&cases)?;
    let problems = problems.len() + found.problems;
    let kernels = cases.len();
    let seconds = found.took.as_secs_f64();
    let judged = format!("kernels: {kernels} ({} judged now, {} known) in {seconds:.1} s", found.ran, found.known);
    out::print(&format!("units checked: {}, {judged}, problems: {problems}\n", units.len()));
    if problems == 0 { Ok(()) } else { Err(Failure::Kernel) }
}

/// What a lesson's interactive parts need of this program.
fn blocks(unit: &Unit, problems: &mut Vec<String>) {
    for block in unit.lesson.sections.iter().flat_map(|section| &section.blocks) {
        if let Block::Figure { file, svg, .. } = block
            && let Err(problem) = Drawing::read(svg)
        {
            problems.push(format!("{}/{file}: {problem}", unit.folder()));
        }
        if let Block::Measure { name } = block
            && measure::find(name).is_none()
        {
            let known: Vec<&str> = measure::PROGRAMS.iter().map(|program| program.name).collect();
            let path = format!("{}/{}", unit.folder(), unit.kind.files().1);
            problems.push(format!("{path}: there is no program `{name}`; there are: {}", known.join(", ")));
        }
    }
}

fn lines(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// All kernels of an exercise, and what each must do.
fn exercise_cases<'c>(jury: &Jury<'_>, exercise: &'c Exercise, cases: &mut Vec<Case<'c>>) {
    let place = |file: &str| format!("{}/{file}", exercise.folder);
    let check = |file: &str, text: &str| jury.check(file, text, &exercise.spec);
    let scaffold = check("scaffold.cu", &exercise.scaffold);
    cases.push(Case::new(place("scaffold.cu"), scaffold, |answer| match (&answer.outcome, &answer.verdict) {
        (Outcome::Done, Some(verdict)) if !verdict.passed => Vec::new(),
        (Outcome::Done, _) => vec!["it passes; a learner would have nothing to do".to_owned()],
        _ => vec![format!("it must compile and run: {}", why(answer))],
    }));
    let plain = exercise.plain_solution.as_ref().map(|text| ("solution.cu", text));
    for (file, text) in plain.into_iter().chain([("reference.cu", &exercise.reference)]) {
        // Each branch of a kernel that has several; one text serves all where the exercise names none.
        let branches: Vec<Option<&String>> = match exercise.spec.arch.as_slice() {
            [] => vec![None],
            branches => branches.iter().map(Some).collect(),
        };
        for branch in branches {
            let mut job = check(file, text);
            if let Job::Check { arch, .. } = &mut job {
                *arch = branch.cloned();
            }
            let on = branch.map_or_else(String::new, |arch| format!(" for {arch}"));
            cases.push(Case::new(place(file), job, move |answer| match passed(answer) {
                true => Vec::new(),
                false => vec![format!("it must pass{on}: {}", why(answer))],
            }));
        }
    }
    for wrong in &exercise.wrongs {
        cases.push(Case::new(place(&wrong.file), check(&wrong.file, &wrong.source), |answer| {
            if passed(answer) {
                vec![format!("it passes; it must be rejected for {}", wrong.fault)]
            } else if !diagnoses(answer).contains(&wrong.fault) {
                vec![format!("it must be rejected for {}, not: {}", wrong.fault, why(answer))]
            } else {
                unplaced(exercise, &wrong.fault, answer).into_iter().collect()
            }
        }));
    }
    for experiment in &exercise.experiments {
        let file = format!("experiments/{}.cu", experiment.name);
        let names: Vec<String> = others::unreached(&experiment.source).into_iter().map(str::to_owned).collect();
        if experiment.spec.is_none() && !names.is_empty() {
            let job = jury.bench(&file, &experiment.source, &exercise.spec);
            let judge = move |answer: &_| others::reached_after_all(exercise, &names, answer);
            cases.push(Case::new(place(&file), job, judge));
            continue;
        }
        let spec = experiment.spec.as_ref().unwrap_or(&exercise.spec);
        let mut source = source(&file, &experiment.source);
        source.options.clone_from(&spec.options);
        let chosen = Choice::of(&EmulatorDevice::describe(), spec);
        let arch = chosen.map_or_else(|_| "sm_90a".to_owned(), |choice| choice.arch.to_string());
        let job = Job::Compile { source, arch, emit: Emit::default() };
        cases.push(Case::new(place(&file), job, |answer| match answer.outcome {
            Outcome::Done => Vec::new(),
            _ => vec![format!("it must compile: {}", why(answer))],
        }));
    }
}

/// What the sentence about a wrong kernel of a day lacks: the line, the block and the thread.
fn unplaced(exercise: &Exercise, fault: &str, answer: &Answer) -> Option<String> {
    if !exercise.folder.starts_with("kernels/week") {
        return None;
    }
    let summary = answer.verdict.as_ref().map_or("", |verdict| verdict.summary.as_str());
    // Too much scratch memory is seen before anything runs.
    if fault == "workspace" {
        let tells = summary.contains(" bytes, and this exercise allows ");
        return (!tells).then(|| format!("its sentence must say how much memory is allowed: {summary}"));
    }
    let placed = summary.contains("block (") && (summary.contains("thread (") || summary.contains(" lanes "));
    let line = summary.contains(" at line ") || summary.contains(".cu:");
    // A pattern of all elements says more than one of them, many draws have no thread, and of several launches the one that
    // stored a wrong element need not be the learner's.
    const PATTERNS: [&str; 4] = ["of every ", "holds what belongs to", "wrong on average", " products of each sum "];
    let is_known = PATTERNS.iter().any(|pattern| summary.contains(pattern));
    let of_steps = exercise.spec.steps.len() > 1 && summary.contains("] is ") && summary.contains(", expected ");
    let tells = placed && line || is_known || of_steps;
    (!tells).then(|| format!("its sentence must name line, block and thread: {summary}"))
}

/// Counts what the quiz has learners predict, and marks with it what the quiz says is right and what is wrong.
fn prediction_cases<'c>(jury: &Jury<'_>, unit: &'c Unit, cases: &mut Vec<Case<'c>>, problems: &mut Vec<String>) {
    for question in &unit.quiz.questions {
        let Kind::Predict { quantity: name, run, expected, traps, .. } = &question.kind else { continue };
        let Some(asked) = quantity(name).filter(|quantity| quantity.needs == Needs::Emulator) else { continue };
        let place = format!("{}/quiz.toml: question `{}`", unit.folder(), question.id);
        let Some(job) = counting(jury, unit, run) else {
            problems.push(format!("{place}: what it runs is not there"));
            continue;
        };
        cases.push(Case::new(place, job, move |answer| {
            let case = run.case.as_deref();
            let evidence = Evidence {
                verdict: answer.verdict.as_ref(),
                bench: answer.bench.as_ref(),
                ran: None,
                case,
                ..Evidence::default()
            };
            let Some(counted) = asked.measure(&evidence) else {
                return vec![format!("its run does not give `{name}`: {}", why(answer))];
            };
            let is_right = |number: f64| mark_prediction(question, number, counted).is_ok_and(|mark| mark.correct);
            let mut found = Vec::new();
            if let Some(expected) = expected.filter(|number| !is_right(*number)) {
                found.push(format!("`expression` gives {expected}, and the emulator counts {counted}"));
            }
            for trap in traps.iter().filter(|trap| is_right(trap.answer)) {
                found.push(format!("the trap {} is right: the emulator counts {counted}", trap.answer));
            }
            found
        }));
    }
}

/// Runs each mystery and holds the accepted answers against what was counted.
fn answer_cases<'c>(jury: &Jury<'_>, exercise: &'c AnswerExercise, cases: &mut Vec<Case<'c>>) {
    for one in &exercise.mysteries {
        let place = format!("{}/answer.toml: {}", exercise.folder, one.name);
        cases.push(Case::new(place, mystery::job(one, jury.seed), |run| {
            let evidence = mystery::evidence(run.verdict.as_ref(), run.bench.as_ref(), run.ran.last());
            if figures(&evidence).is_empty() {
                return vec![format!("it must run and be counted: {}", why(run))];
            }
            let of = |question: &'c MysteryQuestion| {
                question.unproven(&evidence).into_iter().map(|what| format!("\"{}\": {what}", question.ask))
            };
            one.questions.iter().flat_map(of).collect()
        }));
    }
}

/// What a prediction runs; None where the course lacks it, which the check of its files says.
fn counting(jury: &Jury<'_>, unit: &Unit, run: &PredictRun) -> Option<Job> {
    let exercise = unit.exercise_by_key(&run.exercise)?;
    let mut spec = &exercise.spec;
    let text = match &run.kernel {
        PredictKernel::Learner | PredictKernel::Solution => exercise.solution().to_owned(),
        PredictKernel::Reference => exercise.reference.clone(),
        PredictKernel::Experiment { name, knobs } => {
            let (_, experiment) = unit.experiment(name)?;
            spec = experiment.spec.as_ref().unwrap_or(spec);
            experiment.with(knobs).ok()?
        }
    };
    Some(match run.action {
        PredictAction::Check => jury.check("kernel.cu", &text, spec),
        PredictAction::Bench => jury.bench("kernel.cu", &text, spec),
    })
}

/// Every rung of a ladder; one without an oracle must at least run without a fault.
fn climb<'c>(jury: &Jury<'_>, ladder: &'c Ladder, cases: &mut Vec<Case<'c>>) {
    for rung in &ladder.rungs {
        let job = match rung.spec.oracle {
            Some(_) => jury.check(&rung.file, &rung.source, &rung.spec),
            None => Job::Run {
                source: source(&rung.file, &rung.source),
                spec: Box::new(rung.spec.clone()),
                device: DeviceChoice::Emulator,
                arch: None,
                seed: jury.seed,
                trace: None,
                options: Box::default(),
            },
        };
        cases.push(Case::new(format!("kernels/ladders/{}/{}", ladder.name, rung.file), job, |answer| {
            let mut found = Vec::new();
            let ran =
                !answer.ran.is_empty() && answer.ran.iter().all(|ran| ran.completed && ran.case.faults.is_empty());
            if !ran && !passed(answer) {
                found.push(format!("it must pass: {}", why(answer)));
            }
            let kernels = answer.compiled.iter().flat_map(|report| &report.kernels);
            let spills = |kernel: &gpu_core::compile::KernelResources| {
                kernel.name == rung.spec.entry() && kernel.spill_store_bytes + kernel.spill_load_bytes > 0
            };
            if kernels.into_iter().any(spills) {
                found.push("its registers spill".to_owned());
            }
            found
        }));
    }
}
