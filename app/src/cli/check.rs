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
    /// Which step of the hint to show: 1 is a nudge, the last is nearly the answer
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=9))]
    hint: u8,
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
        if let Some(why) = engine::not_judged(&answer, subject.spec(), "exercise") {
            out::print(&format!("\n{}: {why}\n", style.red("FAILED")));
        }
        // What the course has to say about this failure, or about what a right kernel still wastes.
        let keys = match (&answer.verdict, &answer.outcome) {
            (Some(verdict), _) => verdict.hints.clone(),
            (None, Outcome::CompileErrors(_)) => vec!["compile_error".to_owned()],
            (None, Outcome::BadRequest(_)) => vec!["wrong_signature".to_owned()],
            _ => Vec::new(),
        };
        if let Some(hint) = exercise.hints.for_keys(&keys) {
            out::print(&hint_text(&hint.steps, args.hint));
        }
    }
    match &answer.outcome {
        Outcome::Done if answer.verdict.as_ref().is_some_and(|verdict| verdict.passed) => Ok(()),
        Outcome::Done | Outcome::CompileErrors(_) => Err(Failure::Kernel),
        _ => Err(engine::failure(&answer)),
    }
}

/// The steps of a hint up to the one that is asked for, and how to see the next.
fn hint_text(steps: &[String], wanted: u8) -> String {
    let shown = usize::from(wanted).min(steps.len());
    let mut text = String::new();
    for (index, step) in steps.iter().take(shown).enumerate() {
        let number = if wanted > 1 { format!(" {}", index + 1) } else { String::new() };
        text += &format!("hint{number}: {step}\n");
    }
    if shown < steps.len() {
        text += &format!("      (step {shown} of {}; --hint {} shows the next)\n", steps.len(), shown + 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::hint_text;

    #[test]
    fn steps_come_one_by_one() {
        let steps = ["a", "b"].map(str::to_owned);
        assert_eq!(hint_text(&steps, 1), "hint: a\n      (step 1 of 2; --hint 2 shows the next)\n");
        assert_eq!(hint_text(&steps, 2), "hint 1: a\nhint 2: b\n");
        assert_eq!(hint_text(&steps, 9), "hint 1: a\nhint 2: b\n");
    }
}
