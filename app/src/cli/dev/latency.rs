//! `lockstep dev latency`: how long a learner waits from an edit to its verdict, and after a kernel that went wrong.
//!
//! Each edit changes the text, so that nothing comes from the cache: the time holds compiling, running every case and
//! judging. Workers are warm, as they are while a learner works.

use crate::cli::engine::{self, DeviceArgs};
use crate::cli::{Done, Places, content, out, usage};
use gpu_core::job::{Event, Job, Outcome, Source};
use gpu_core::spec::Spec;
use gpu_core::worker::Lab;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Args {
    /// Day whose solution is edited
    #[arg(default_value = "week1/day4")]
    day: String,
    /// Edits to time
    #[arg(long, value_name = "N", default_value_t = 20)]
    edits: u32,
    #[command(flatten)]
    device: DeviceArgs,
}

/// Longest wait for one job.
const PATIENCE: Duration = Duration::from_secs(120);
/// An endless kernel is stopped after this long, as an impatient learner would.
const ENDLESS_RUN: Duration = Duration::from_millis(700);

pub fn run(args: &Args, places: &Places) -> Done {
    let course = content::course(places)?;
    let (_, exercise) = content::exercise(&course, &args.day, None)?;
    let kernel = content::kernel(places, content::exercise(&course, &args.day, None)?.0, exercise, Some("solution"))?;
    let target = args.device.target(places)?;
    let lab = engine::start(places, &target);
    let arch = args.device.arch()?;
    let bench = Timer { lab: &lab, spec: &exercise.spec, source: &kernel.source, args, target: &target, arch };

    bench.check(&bench.edited(0))?;
    let mut waits = Vec::new();
    for edit in 1..=args.edits.max(1) {
        waits.push(bench.check(&bench.edited(edit))?);
    }
    waits.sort_by(f64::total_cmp);
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share).round() as usize];
    out::print(&format!(
        "edit to verdict on {}: median {:.1} ms, p20 {:.1}, p80 {:.1}, worst {:.1} ({} edits, compiling included)\n",
        target.shown,
        at(0.5),
        at(0.2),
        at(0.8),
        at(1.0),
        waits.len()
    ));
    let name = exercise.spec.entry();
    let params = kernel_params(&kernel.source.text, name);
    let mut illegal = bench.edited(10_001);
    illegal.text = format!("extern \"C\" __global__ void {name}({params}) {{ *(volatile int*)0x10 = 1; }}\n");
    bench.recovery("an illegal address", &illegal, None)?;
    let mut endless = bench.edited(10_002);
    endless.text =
        format!("extern \"C\" __global__ void {name}({params}) {{ volatile int going = 1; while (going) {{ }} }}\n");
    bench.recovery("an endless loop, stopped", &endless, Some(ENDLESS_RUN))
}

/// The parameter list of a kernel's definition in a text.
fn kernel_params<'t>(text: &'t str, entry: &str) -> &'t str {
    let after = text.split_once(&format!("{entry}(")).map_or("", |(_, rest)| rest);
    after.split_once(')').map_or("", |(list, _)| list)
}

struct Timer<'a> {
    lab: &'a Lab,
    spec: &'a Spec,
    source: &'a Source,
    args: &'a Args,
    target: &'a engine::Target,
    arch: Option<String>,
}

impl Timer<'_> {
    /// The kernel with a comment that no earlier run had.
    fn edited(&self, edit: u32) -> Source {
        let now =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let text = format!("{}\n// edit {edit} at {now}\n", self.source.text);
        Source { text, ..self.source.clone() }
    }

    fn job(&self, source: &Source) -> Job {
        Job::Check {
            source: source.clone(),
            spec: Box::new(self.spec.clone()),
            device: self.target.choice.clone(),
            arch: self.arch.clone(),
            seed: self.args.device.seed,
            trace: None,
        }
    }

    /// Submits a job and waits for its end; stops it after `stop_after`. Milliseconds, outcome, passed.
    fn time(
        &self,
        source: &Source,
        stop_after: Option<Duration>,
    ) -> Result<(f64, Outcome, bool), super::super::Failure> {
        let started = Instant::now();
        let (id, stop) = self.lab.submit(self.job(source));
        let mut passed = false;
        let mut stopped = false;
        while started.elapsed() < PATIENCE {
            if !stopped && stop_after.is_some_and(|after| started.elapsed() > after) {
                stop.stop();
                stopped = true;
            }
            let Some((from, event)) = self.lab.next_event(Duration::from_millis(20)) else { continue };
            match event {
                Event::Verdict(verdict) if from == id => passed = verdict.passed,
                Event::Finished(outcome) if from == id => {
                    return Ok((started.elapsed().as_secs_f64() * 1e3, outcome, passed));
                }
                _ => {}
            }
        }
        Err(usage(format!("no answer within {} s", PATIENCE.as_secs())))
    }

    /// A check that must pass, in milliseconds.
    fn check(&self, source: &Source) -> Result<f64, super::super::Failure> {
        match self.time(source, None)? {
            (ms, Outcome::Done, true) => Ok(ms),
            (_, outcome, _) => Err(usage(format!("the solution did not pass: {outcome:?}"))),
        }
    }

    /// How long the next good run takes after a bad one.
    fn recovery(&self, what: &str, bad: &Source, stop_after: Option<Duration>) -> Done {
        let mut waits = Vec::new();
        let mut ended = Outcome::Done;
        for edit in 0..3 {
            let (_, outcome, passed) = self.time(bad, stop_after)?;
            if passed {
                return Err(usage(format!("the kernel with {what} passed")));
            }
            ended = outcome;
            waits.push(self.check(&self.edited(20_000 + edit))?);
        }
        waits.sort_by(f64::total_cmp);
        out::print(&format!(
            "next good run after {what}: median {:.0} ms, worst {:.0} ms (the bad run ended as {})\n",
            waits[1],
            waits[2],
            short(&ended)
        ));
        Ok(())
    }
}

/// An outcome in a few words.
fn short(outcome: &Outcome) -> String {
    let text = format!("{outcome:?}");
    text.chars().take(110).collect()
}
