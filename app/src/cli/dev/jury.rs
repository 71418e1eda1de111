//! Judges many kernels: in parallel, each different job once, and on the emulator none again that this very program has
//! judged before.

use super::judged::Judged;
use crate::cli::engine::{self, Answer};
use crate::cli::{Failure, Places, out};
use gpu_core::device::DeviceChoice;
use gpu_core::job::{Event, Job, Outcome, Source};
use gpu_core::spec::Spec;
use gpu_core::verdict::fault_key;
use gpu_core::worker::{Lab, LabConfig};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A busy machine's compiler may take long; that is not what is looked at here.
const COMPILE_TIME: Duration = Duration::from_secs(120);

/// Options of every command that judges the course.
#[derive(clap::Args)]
pub struct JuryArgs {
    /// Judge with inputs of this seed: the answer to the same course is the same each time
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many kernels at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Judge again what this program has judged before; on a GPU all are
    #[arg(long)]
    again: bool,
    /// Where: emulator, or gpu, gpu:N, beside which the emulator's checks still run; counters are the emulator's
    #[arg(long, value_name = "DEVICE", default_value = "emulator", value_parser = device)]
    device: DeviceChoice,
}

fn device(text: &str) -> Result<DeviceChoice, String> {
    engine::local_choice(text).ok_or_else(|| "expected emulator, gpu or gpu:N".to_owned())
}

/// Makes problems of an answer, as sentences.
type Verdict<'c> = Box<dyn Fn(&Answer) -> Vec<String> + Send + Sync + 'c>;

/// One job, and what its answer must be.
pub struct Case<'c> {
    /// Path of the kernel, for progress and problems.
    pub place: String,
    pub job: Job,
    judge: Verdict<'c>,
}

impl<'c> Case<'c> {
    pub fn new(place: impl Into<String>, job: Job, judge: impl Fn(&Answer) -> Vec<String> + Send + Sync + 'c) -> Self {
        Case { place: place.into(), job, judge: Box::new(judge) }
    }
}

/// What was found.
pub struct Found {
    /// How many were printed.
    pub problems: usize,
    /// Jobs that ran now, and those whose answers were known.
    pub ran: usize,
    pub known: usize,
    pub took: Duration,
}

/// Kernels in a row that the machine could not judge before it is held to lack something: one alone may have met a busy moment.
const MOST_UNJUDGED: usize = 4;

/// What has been found so far.
#[derive(Default)]
struct Heard(Mutex<SoFar>);

#[derive(Default)]
struct SoFar {
    problems: usize,
    /// Kernels in a row that the machine could not judge, the last ones.
    unjudged: usize,
    /// Some kernel was judged.
    any: bool,
    /// What the machine lacked last.
    lacks: Option<String>,
    /// Why nothing more is judged.
    end: Option<Failure>,
}

impl Heard {
    fn lock(&self) -> MutexGuard<'_, SoFar> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, cases: &[Case<'_>], of: &[usize], answer: Result<Answer, Failure>) {
        let mut so_far = self.lock();
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => {
                so_far.end.get_or_insert(why);
                return;
            }
        };
        let lacks = match &answer.outcome {
            Outcome::Environment(why) => Some(why.clone()),
            _ => None,
        };
        so_far.unjudged = if lacks.is_some() { so_far.unjudged + 1 } else { 0 };
        so_far.any |= lacks.is_none();
        so_far.lacks = lacks.clone().or(so_far.lacks.take());
        for case in of.iter().map(|index| &cases[*index]) {
            let found = match &lacks {
                Some(why) => vec![format!("it was not judged: {why}")],
                None => (case.judge)(&answer),
            };
            for problem in found {
                so_far.problems += 1;
                out::transient("");
                out::print(&format!("{}: {problem}\n", case.place));
            }
        }
        if let Some(why) = lacks.filter(|_| so_far.unjudged >= MOST_UNJUDGED) {
            so_far.end.get_or_insert(Failure::Usage(why));
        }
    }

    fn is_over(&self) -> bool {
        self.lock().end.is_some()
    }

    fn end(self) -> Result<usize, Failure> {
        let so_far = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (so_far.end, so_far.lacks.filter(|_| !so_far.any)) {
            (Some(end), _) => Err(end),
            // Of few kernels all may have been left unjudged.
            (None, Some(lacks)) => Err(Failure::Usage(lacks)),
            (None, None) => Ok(so_far.problems),
        }
    }
}

pub struct Jury<'p> {
    places: &'p Places,
    pub seed: Option<u64>,
    jobs: usize,
    judged: Judged,
    device: DeviceChoice,
}

impl<'p> Jury<'p> {
    pub fn new(places: &'p Places, args: &JuryArgs) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let device = args.device.clone();
        // What a GPU says may differ from one time to the next.
        let judged = Judged::new(places, args.again || device != DeviceChoice::Emulator);
        Jury { places, seed: Some(args.seed), jobs: args.jobs.unwrap_or(cores).clamp(1, 64), judged, device }
    }

    /// Judges a kernel.
    pub fn check(&self, file: &str, text: &str, spec: &Spec) -> Job {
        Job::Check {
            source: source(file, text),
            spec: Box::new(spec.clone()),
            device: self.device.clone(),
            arch: None,
            seed: self.seed,
            trace: None,
        }
    }

    /// Judges a kernel and counts its work.
    pub fn bench(&self, file: &str, text: &str, spec: &Spec) -> Job {
        Job::Bench {
            source: source(file, text),
            spec: Box::new(spec.clone()),
            device: DeviceChoice::Emulator,
            arch: None,
            seed: self.seed,
            reference: None,
        }
    }

    /// Runs the jobs of all cases and has each case look at its answer. Problems are printed as they are found.
    ///
    /// # Errors
    /// Stopped, or the machine lacks what every kernel needs.
    pub fn hear(&self, cases: &[Case<'_>]) -> Result<Found, Failure> {
        let started = Instant::now();
        // Several cases may ask the same.
        let mut jobs: Vec<(&Job, String, Vec<usize>)> = Vec::new();
        let mut by_key: HashMap<String, usize> = HashMap::new();
        for (index, case) in cases.iter().enumerate() {
            let key = self.judged.key(&case.job);
            let job = *by_key.entry(key.clone()).or_insert_with(|| {
                jobs.push((&case.job, key, Vec::new()));
                jobs.len() - 1
            });
            jobs[job].2.push(index);
        }
        let heard = Heard::default();
        let mut open = Vec::new();
        for (job, (_, key, of)) in jobs.iter().enumerate() {
            match self.judged.find(key) {
                Some(answer) => heard.take(cases, of, Ok(answer)),
                None => open.push(job),
            }
        }
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.min(open.len()) {
                scope.spawn(|| {
                    let lab = self.lab();
                    while let Some(&job) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let (job, key, of) = &jobs[job];
                        let place = of.first().map_or("", |first| cases[*first].place.as_str());
                        out::transient(&format!("{} of {}: {place}", done.load(Ordering::Relaxed), open.len()));
                        heard.take(cases, of, self.run(&lab, job, key));
                        done.fetch_add(1, Ordering::Relaxed);
                        if heard.is_over() {
                            next.store(open.len(), Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        out::transient("");
        let problems = heard.end()?;
        Ok(Found { problems, ran: open.len(), known: jobs.len() - open.len(), took: started.elapsed() })
    }

    /// A lab of its own for each thread: one lab runs the emulator's jobs one after the other.
    fn lab(&self) -> Lab {
        let nvrtc = self.places.settings().nvrtc;
        let mut config = LabConfig { nvrtc, warm_compilers: 1, ..LabConfig::new(self.places.data_dir()) };
        config.limits = self.places.limits();
        config.limits.compile_time = config.limits.compile_time.max(COMPILE_TIME);
        Lab::start(config)
    }

    fn run(&self, lab: &Lab, job: &Job, key: &str) -> Result<Answer, Failure> {
        let mut events: Vec<Event> = Vec::new();
        let answer = engine::run_seen(lab, job.clone(), false, &mut |event| events.push(event.clone()))?;
        if answer.outcome == Outcome::Stopped {
            return Err(Failure::Interrupted);
        }
        self.judged.keep(key, events, &answer.outcome);
        Ok(answer)
    }
}

pub fn source(file: &str, text: &str) -> Source {
    let name = file.rsplit('/').next().unwrap_or(file).to_owned();
    Source { name, text: text.to_owned(), headers: Vec::new(), options: Vec::new() }
}

/// Everything that a kernel was rejected for.
pub fn diagnoses(answer: &Answer) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(verdict) = &answer.verdict {
        found.extend(verdict.faults().into_iter().map(|fault| fault_key(fault.kind).to_owned()));
        found.extend(verdict.hints.iter().cloned());
    }
    match &answer.outcome {
        Outcome::CompileErrors(_) => found.push("compile_error".to_owned()),
        Outcome::BadRequest(_) => found.push("wrong_signature".to_owned()),
        _ => {}
    }
    found
}

pub fn passed(answer: &Answer) -> bool {
    answer.verdict.as_ref().is_some_and(|verdict| verdict.passed)
}

/// One line on how a job ended.
pub fn why(answer: &Answer) -> String {
    match (&answer.outcome, &answer.verdict) {
        (Outcome::CompileErrors(list), _) => {
            list.first().map_or("it does not compile".into(), |d| format!("line {}: {}", d.line, d.message))
        }
        (Outcome::Done, Some(verdict)) => verdict.summary.clone(),
        _ => answer.message().unwrap_or("no verdict").to_owned(),
    }
}
