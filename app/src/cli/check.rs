//! `lockstep check`: compile a day's kernel and judge it.

use super::engine::{self, DeviceArgs};
use super::{Done, Failure, Places, content, json, out, record, report};
use curriculum::store::RunRecord;
use gpu_core::job::{Job, Outcome};
use serde_json::json as object;

#[derive(clap::Args)]
pub struct Args {
    /// Day as `lockstep list` shows it, or short: week1/day4, 1.4
    day: String,
    /// A file, or `scaffold`, `solution`, `reference`, `wrong/NAME` [default: your own text, else the scaffold]
    #[arg(long, value_name = "FILE")]
    kernel: Option<String>,
    /// An exercise of the day other than its main one
    #[arg(long, value_name = "NAME")]
    exercise: Option<String>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Print one JSON object (app/JSON.md, "check")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let course = content::course(places)?;
    let (day, exercise) = content::exercise(&course, &args.day, args.exercise.as_deref())?;
    let kernel = content::kernel(places, day, exercise, args.kernel.as_deref())?;
    let target = args.device.target(places)?;
    let style = out::Style::stdout();
    if !args.json {
        out::print(&format!(
            "{}  {}\nkernel  {}\ndevice  {}\n\n",
            style.bold(&day.address),
            exercise.spec.title,
            kernel.shown,
            target.shown
        ));
    }
    let job = Job::Check {
        source: kernel.source.clone(),
        spec: Box::new(exercise.spec.clone()),
        device: target.choice.clone(),
        arch: args.device.arch()?,
        seed: args.device.seed,
        trace: None,
    };
    let answer = engine::submit(places, &target, job, !args.json)?;
    if let (None, Some(verdict)) = (&args.kernel, &answer.verdict) {
        let text = &kernel.source.text;
        let run = RunRecord::check(&target.shown, verdict, text, record::now());
        record::run(places, day, exercise, &run, text);
    }
    if args.json {
        out::json(&json::envelope(
            "check",
            object!({
                "day": day.address,
                "exercise": exercise.key,
                "kernel": kernel.shown,
                "device": args.device.device,
                "outcome": json::outcome(&answer.outcome),
                "message": answer.message(),
                "compiled": answer.compiled.as_ref().map(json::compiled),
                "console": answer.console,
                "verdict": answer.verdict.as_ref().map(json::verdict),
            }),
        ));
    } else {
        out::print(&answer.compile_text(&kernel.for_report(), style));
        if let Some(verdict) = &answer.verdict {
            out::print(&format!("\n{}", report::verdict(verdict, &kernel.for_report(), style)));
            // What the course has to say about this failure.
            if let Some(hint) = exercise.hints.for_keys(&verdict.hints).filter(|_| !verdict.passed) {
                out::print(&format!("hint: {}\n", hint.steps.first().map_or("", String::as_str)));
            }
        }
    }
    match &answer.outcome {
        Outcome::Done if answer.verdict.as_ref().is_some_and(|verdict| verdict.passed) => Ok(()),
        Outcome::Done | Outcome::CompileErrors(_) => Err(Failure::Kernel),
        _ => Err(engine::failure(&answer)),
    }
}
