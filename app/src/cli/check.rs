//! `lockstep check`: compile a day's kernel and judge it.

use super::subject::{Subject, SubjectArgs};
use super::{Done, Failure, Places, content, engine, json, out, record, report};
use curriculum::store::RunRecord;
use gpu_core::job::{Job, Outcome};

#[derive(clap::Args)]
pub struct Args {
    /// Day as `lockstep list` shows it, or short: week1/day4, 1.4
    day: String,
    #[command(flatten)]
    subject: SubjectArgs,
    /// Print one JSON object (app/JSON.md, "check")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let course = content::course(places)?;
    let subject = Subject::find(&course, &args.day, &args.subject, places)?;
    let Subject { day, exercise, kernel, target, .. } = &subject;
    let style = out::Style::stdout();
    if !args.json {
        out::print(&subject.heading(style));
    }
    let job = Job::Check {
        source: kernel.source.clone(),
        spec: Box::new(subject.spec().clone()),
        device: target.choice.clone(),
        arch: args.subject.device.arch()?,
        seed: args.subject.device.seed,
        trace: None,
    };
    let answer = engine::submit(places, target, job, !args.json)?;
    if let (None, Some(verdict)) = (&args.subject.kernel, &answer.verdict) {
        let text = &kernel.source.text;
        let run = RunRecord::check(&target.shown, verdict, text, record::now());
        record::run(places, day, exercise, &run, text);
    }
    if args.json {
        out::json(&json::envelope("check", subject.fields(&answer)));
    } else {
        out::print(&answer.compile_text(&kernel.for_report(), style));
        if let Some(verdict) = &answer.verdict {
            out::print(&format!("\n{}", report::verdict(verdict, &kernel.for_report(), style)));
        }
        // What the course has to say about this failure.
        let keys = match (&answer.verdict, &answer.outcome) {
            (Some(verdict), _) if !verdict.passed => verdict.hints.clone(),
            (None, Outcome::CompileErrors(_)) => vec!["compile_error".to_owned()],
            _ => Vec::new(),
        };
        if let Some(hint) = exercise.hints.for_keys(&keys) {
            out::print(&format!("hint: {}\n", hint.steps.first().map_or("", String::as_str)));
        }
    }
    match &answer.outcome {
        Outcome::Done if answer.verdict.as_ref().is_some_and(|verdict| verdict.passed) => Ok(()),
        Outcome::Done | Outcome::CompileErrors(_) => Err(Failure::Kernel),
        _ => Err(engine::failure(&answer)),
    }
}
