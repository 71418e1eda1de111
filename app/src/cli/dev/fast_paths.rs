//! `lockstep dev fast-paths`: the course's kernels with and without the emulator's fast paths. Memory, counters and faults must
//! be the same in the reference mode, and with `--alone` without each fast path by itself; with `--times`, what each is worth.

use super::jury::source;
use super::{course_folder, ladders, others, select};
use crate::cli::out::{Align, table};
use crate::cli::{Done, Failure, Places, engine, out, usage};
use curriculum::{Course, Exercise};
use gpu_core::choice::Choice;
use gpu_core::compile::{CompileReport, GivenKernel};
use gpu_core::device::Device as _;
use gpu_core::emulator::Fast;
use gpu_core::emulator_device::EmulatorDevice;
use gpu_core::fast_paths::SideBySide;
use gpu_core::job::{Emit, Job, Outcome, RunOptions, Source};
use gpu_core::judge::{self, CheckRequest, FreeRun};
use gpu_core::spec::Spec;
use gpu_core::worker::{Lab, LabConfig};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Args {
    /// Only this unit, or all below a folder: week2/day3, week2, labs [default: the course and its ladders]
    unit: Option<String>,
    /// Only so many kernels, spread over all
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Also without each fast path by itself
    #[arg(long)]
    alone: bool,
    /// Only without these fast paths, each by itself: names with commas between
    #[arg(long, value_name = "NAMES")]
    only: Option<String>,
    /// Time right kernels in N rounds, each way in turns, and print how many times as long they take without each fast path
    #[arg(long, value_name = "N")]
    times: Option<usize>,
    /// Inputs of this seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A kernel, and what it is judged by.
struct Subject<'c> {
    place: String,
    text: String,
    spec: &'c Spec,
}

/// What one kernel took in each way, by rounds.
struct Times {
    place: String,
    spent: Vec<Vec<Duration>>,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let root = course_folder(places);
    let course = match &root {
        Some(root) => Course::load(root).map_err(usage)?,
        None => Course::embedded(),
    };
    let right_only = args.times.is_some();
    let mut subjects = Vec::new();
    for exercise in select(&course, args.unit.as_deref())?.into_iter().flat_map(|unit| &unit.exercises) {
        of_exercise(exercise, root.as_deref(), right_only, &mut subjects);
    }
    let ladders = ladders(&course, args.unit.as_deref())?;
    for (ladder, rung) in ladders.into_iter().flat_map(|ladder| ladder.rungs.iter().map(move |rung| (ladder, rung))) {
        let place = format!("kernels/ladders/{}/{}", ladder.name, rung.file);
        subjects.push(Subject { place, text: rung.source.clone(), spec: &rung.spec });
    }
    if let Some(wanted) = args.sample.filter(|wanted| (1..subjects.len()).contains(wanted)) {
        let all = subjects.len();
        let mut number = 0..all;
        subjects.retain(|_| number.next().is_some_and(|number| (number * wanted) % all < wanted));
    }
    let ways = ways(args)?;
    let lab = Lab::start(LabConfig { nvrtc: places.settings().nvrtc, ..LabConfig::new(places.data_dir()) });
    let (mut problems, mut times, mut ran) = (Vec::new(), Vec::new(), 0);
    for (number, subject) in subjects.iter().enumerate() {
        out::transient(&format!("{number} of {}: {}", subjects.len(), subject.place));
        let Some(compiled) = compile(&lab, subject)? else { continue };
        let mut device = SideBySide::new(&ways, args.times.unwrap_or(1));
        // What a kernel is rejected for before it runs is the same in all ways.
        if judged(&mut device, &compiled, subject, args.seed).is_err() {
            continue;
        }
        ran += 1;
        problems.extend(device.differences.iter().map(|difference| format!("{}: {difference}", subject.place)));
        let spent = device.ways.iter().map(|way| way.spent.clone()).collect();
        times.push(Times { place: subject.place.clone(), spent });
    }
    out::transient("");
    for problem in &problems {
        out::print(&format!("{problem}\n"));
    }
    if right_only {
        out::print(&worth(&ways, &times));
    }
    out::print(&format!(
        "kernels run: {ran} of {}, in {} ways each, problems: {}\n",
        subjects.len(),
        ways.len(),
        problems.len()
    ));
    if problems.is_empty() { Ok(()) } else { Err(Failure::Kernel) }
}

/// The kernels of an exercise: right ones, and unless those alone are asked for wrong ones too.
fn of_exercise<'c>(
    exercise: &'c Exercise,
    root: Option<&std::path::Path>,
    right_only: bool,
    subjects: &mut Vec<Subject<'c>>,
) {
    let folder = &exercise.folder;
    let mut add = |place: String, text: &str| {
        subjects.push(Subject { place, text: text.to_owned(), spec: &exercise.spec });
    };
    add(format!("{folder}/reference.cu"), &exercise.reference);
    if let Some(solution) = &exercise.plain_solution {
        add(format!("{folder}/solution.cu"), solution);
    }
    if right_only {
        return;
    }
    for wrong in &exercise.wrongs {
        add(format!("{folder}/{}", wrong.file), &wrong.source);
    }
    for kernel in
        root.into_iter().flat_map(|root| ["right", "wrong"].map(|side| others::kernels(root, exercise, side))).flatten()
    {
        add(kernel.name, &kernel.text);
    }
}

/// All fast paths first, then what is compared with them.
fn ways(args: &Args) -> Result<Vec<(String, Fast)>, Failure> {
    let mut ways = vec![("all".to_owned(), Fast::ALL), ("none".to_owned(), Fast::NONE)];
    let names: Vec<&str> = match &args.only {
        Some(names) => names.split(',').map(str::trim).collect(),
        None if args.alone || args.times.is_some() => Fast::NAMES.to_vec(),
        None => Vec::new(),
    };
    for name in names {
        ways.push((name.to_owned(), Fast::without(name).map_err(usage)?));
    }
    Ok(ways)
}

/// A kernel as the lab compiles it, with those that the exercise gives. None: it does not compile.
fn compile(lab: &Lab, subject: &Subject<'_>) -> Result<Option<CompileReport>, Failure> {
    let Ok(choice) = Choice::of(&EmulatorDevice::describe(), subject.spec) else { return Ok(None) };
    let arch = choice.arch.to_string();
    let one = |text: Source| -> Result<Option<CompileReport>, Failure> {
        let job = Job::Compile { source: text, arch: arch.clone(), emit: Emit::default() };
        let answer = engine::run_seen(lab, job, false, &mut |_| {})?;
        if answer.outcome == Outcome::Stopped {
            return Err(Failure::Interrupted);
        }
        Ok(answer.compiled.filter(|report| report.succeeded))
    };
    let mut own = source(&subject.place, &subject.text);
    own.options.clone_from(&subject.spec.options);
    let Some(mut report) = one(own.clone())? else { return Ok(None) };
    if report.read(&own).is_err() {
        return Ok(None);
    }
    for given in subject.spec.given() {
        let text = Source { name: given.file.clone(), text: given.text.clone(), ..own.clone() };
        let Some(compiled) = one(text)? else { return Ok(None) };
        report.given.push(GivenKernel { file: given.file.clone(), report: compiled });
    }
    Ok(Some(report))
}

/// Judges a kernel, or runs it where nothing says what is right.
fn judged(device: &mut SideBySide, compiled: &CompileReport, subject: &Subject<'_>, seed: u64) -> Result<(), String> {
    let stop = AtomicBool::new(false);
    device.load(compiled).map_err(|error| error.to_string())?;
    let spec = subject.spec;
    let ended = match spec.oracle {
        Some(_) => {
            let request = CheckRequest { seed: Some(seed), ..CheckRequest::default() };
            judge::check(device, compiled, spec, &request, &mut |_| {}, &stop).map(|_| ())
        }
        None => {
            let options = RunOptions::default();
            let run = FreeRun { compiled, against: None, spec, options: &options, seed: Some(seed), trace: None };
            judge::run_free(device, &run, &mut |_| {}, &stop)
        }
    };
    ended.map_err(|error| error.to_string())
}

/// How many times as long kernels take without each fast path: the one that it helps most, and all together.
fn worth(ways: &[(String, Fast)], times: &[Times]) -> String {
    let seconds = |kernel: &Times, way: usize| {
        let mut rounds: Vec<f64> = kernel.spent[way].iter().map(Duration::as_secs_f64).collect();
        rounds.sort_by(f64::total_cmp);
        rounds.get(rounds.len() / 2).copied().unwrap_or(0.0)
    };
    let total = |way: usize| times.iter().map(|kernel| seconds(kernel, way)).sum::<f64>();
    let mut rows = vec![["without", "all kernels", "most", "kernel that it helps most"].map(str::to_owned).to_vec()];
    for (way, (name, _)) in ways.iter().enumerate().skip(1) {
        let ratio = |kernel: &Times| seconds(kernel, way) / seconds(kernel, 0).max(1e-9);
        // What takes a fraction of a millisecond says little.
        let told = times.iter().filter(|kernel| seconds(kernel, 0) > 5e-4);
        let most = told.max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let (most, place) = most.map_or((0.0, ""), |kernel| (ratio(kernel), kernel.place.as_str()));
        rows.push(vec![
            name.clone(),
            format!("{:.2}", total(way) / total(0).max(1e-9)),
            format!("{most:.2}"),
            place.to_owned(),
        ]);
    }
    let aligns = [Align::Left, Align::Right, Align::Right, Align::Left];
    format!("{}\ncore time with all fast paths: {:.2} s\n", table(&aligns, &rows), total(0))
}
