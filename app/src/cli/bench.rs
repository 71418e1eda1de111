//! `lockstep bench`: judge a day's kernel, then time it on a GPU, or count its work on the emulator.

use super::engine::Answer;
use super::subject::{Subject, SubjectArgs};
use super::{Done, Failure, Places, ceilings, content, engine, json, ladder, out, record, report, rivals, usage};
use curriculum::store::RunRecord;
use curriculum::{Course, Ladder};
use gpu_core::bench::{BenchPoint, BenchReport, Compared, Reached, Stats, Timing};
use gpu_core::job::{Job, Outcome};

#[derive(clap::Args)]
pub struct Args {
    /// Day as `lockstep list` shows it, or short: week1/day4, 1.4
    #[arg(required_unless_present = "what")]
    day: Option<String>,
    /// Time every rung of a ladder, for example matmul-bf16, beside the vendor's library; `matmul` stands for all that
    /// begin so, `all` for all
    #[arg(long, value_name = "NAME", group = "what", conflicts_with_all = ["day", "kernel", "exercise"])]
    ladder: Option<String>,
    /// One rung of the ladder: its number or file
    #[arg(long, value_name = "RUNG", requires = "ladder", conflicts_with = "day")]
    rung: Option<String>,
    /// Also time the kernel, or a ladder's last rung, beside PyTorch and CUB, in turns, in the Python that has them
    #[arg(long, conflicts_with = "ceilings")]
    rivals: bool,
    /// Let a `rivals.py` run that did not come with Lockstep: it can do all that you can
    #[arg(long, requires = "rivals")]
    trust_scripts: bool,
    /// Measure what this machine can do at most: bandwidths, arithmetic rates, latencies
    #[arg(long, group = "what", conflicts_with_all = ["day", "kernel", "exercise"])]
    ceilings: bool,
    #[command(flatten)]
    subject: SubjectArgs,
    /// Print one JSON object (app/JSON.md, "bench")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    if args.ceilings {
        return ceilings::run(&args.subject.device, args.json, places);
    }
    if let Some(name) = &args.ladder {
        let request = ladder::Request {
            name,
            rung: args.rung.as_deref(),
            rivals: args.rivals,
            trust_scripts: args.trust_scripts,
            device: &args.subject.device,
            json: args.json,
        };
        return ladder::run(&request, places);
    }
    let course = content::course(places)?;
    let day = args.day.as_deref().unwrap_or_default();
    let subject = Subject::find(&course, day, &args.subject, places)?;
    let Subject { day, exercise, kernel, target, .. } = &subject;
    // An experiment of other parameters has no rival.
    let rival = kernel.spec.is_none().then(|| content::text(&exercise.reference));
    let style = out::Style::stdout();
    if !args.json {
        out::print(&subject.heading(style));
    }
    let ladder = args.rivals.then(|| beside(&course, &subject, args.trust_scripts)).transpose()?;
    let job = Job::Bench {
        source: kernel.source.clone(),
        spec: Box::new(subject.spec().clone()),
        device: target.choice.clone(),
        arch: args.subject.device.arch()?,
        seed: args.subject.device.seed,
        reference: rival.filter(|rival| rival.text != kernel.source.text),
    };
    let mut answer = engine::submit(places, target, job, !args.json)?;
    let failed = ladder.and_then(|ladder| time_rivals(ladder, &subject, &mut answer, places).err());
    if let (None, Some(bench)) = (&args.subject.kernel, &answer.bench) {
        let text = &kernel.source.text;
        record::run(places, day, exercise, &RunRecord::bench(bench, text), text);
    }
    if args.json {
        let mut fields = subject.fields(&answer);
        fields["bench"] = answer.bench.as_ref().map(json::bench).into();
        out::json(&json::envelope("bench", fields));
    } else {
        out::print(&answer.compile_text(&kernel.for_report(), style));
        if let Some(verdict) = answer.verdict.as_ref().filter(|verdict| !verdict.passed) {
            out::print(&format!("\n{}", report::verdict(verdict, &kernel.for_report(), style)));
        }
        if let Some(bench) = &answer.bench {
            out::print(&format!("\n{}", text(bench, style)));
        }
        if let Some(why) = engine::not_judged(&answer, subject.spec(), "exercise") {
            out::print(&format!("\n{}: {why}\n", style.red("FAILED")));
        }
    }
    // What was measured is told also where the rivals fail.
    if let Some(why) = failed {
        return Err(why);
    }
    match &answer.outcome {
        Outcome::Done if answer.bench.as_ref().is_some_and(sound) => Ok(()),
        Outcome::Done | Outcome::CompileErrors(_) => Err(Failure::Kernel),
        _ => Err(engine::failure(&answer)),
    }
}

/// The ladder whose rivals the exercise names.
fn beside<'c>(course: &'c Course, subject: &Subject<'_>, trusted: bool) -> Result<&'c Ladder, Failure> {
    let named = subject.exercise.rivals.as_ref().filter(|_| subject.kernel.spec.is_none());
    let ladder = named.and_then(|name| course.ladders.iter().find(|ladder| ladder.name == *name)).ok_or_else(|| {
        usage(
            "this exercise names no rivals (`rivals` in its exercise.toml); those of a ladder are timed by \
             `lockstep bench --ladder NAME --rivals`",
        )
    })?;
    rivals::possible(ladder, own(subject), &subject.target, trusted)?;
    Ok(ladder)
}

fn own<'s>(subject: &'s Subject<'_>) -> rivals::Own<'s> {
    let source = &subject.kernel.source;
    rivals::Own { file: &source.name, source: &source.text, spec: subject.spec() }
}

/// Adds what the rivals took to a sound benchmark, and weighs its milestones again.
fn time_rivals(ladder: &Ladder, subject: &Subject<'_>, answer: &mut Answer, places: &Places) -> Done {
    let (Some(bench), Some(compiled)) = (answer.bench.as_mut().filter(|bench| sound(bench)), &answer.compiled) else {
        return Ok(());
    };
    let figures = rivals::run(ladder, own(subject), compiled, places, engine::stop_on_ctrl_c())?;
    rivals::stand_beside(bench, ladder, own(subject), &figures);
    Ok(())
}

/// Every point is a result.
fn sound(bench: &BenchReport) -> bool {
    bench.passed_check && bench.points.iter().all(|point| point.rejected.is_none())
}

fn text(bench: &BenchReport, style: out::Style) -> String {
    let mut text = String::new();
    for point in &bench.points {
        text += &format!("{} on {}\n{}", style.bold(&point.name), bench.device, point_text(point));
        for caveat in &point.caveats {
            text += &format!("  {} {caveat}\n", style.yellow("caution:"));
        }
        if let Some(why) = &point.rejected {
            text += &format!("  {} {why}\n", style.red("rejected:"));
        }
        text.push('\n');
    }
    if !bench.milestones.is_empty() {
        text += &format!("milestones\n{}\n", milestones(bench, style));
    }
    text + &format!("{}\n", bench.summary)
}

fn milestones(bench: &BenchReport, style: out::Style) -> String {
    let row = |milestone: &Reached| {
        let mark = match milestone.reached {
            Some(true) => style.green("reached"),
            Some(false) => style.yellow("not yet"),
            None => style.dim("open"),
        };
        vec![format!("  {}", milestone.name), mark, milestone.because.clone()]
    };
    let rows: Vec<Vec<String>> = bench.milestones.iter().map(row).collect();
    out::table(&[out::Align::Left, out::Align::Left, out::Align::Left], &rows)
}

fn point_text(point: &BenchPoint) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, text: String| rows.push(vec![name.to_owned(), text]);
    if let Some(stats) = &point.stats {
        row("time (measured)", spread(stats));
        row("rate", rates(point, stats.median_ns));
    }
    if let Some(share) = point.share_of_ceiling {
        row("of this machine's ceiling", format!("{:.1}% ({})", 100.0 * share, point.bound));
    }
    if let Some(copy) = &point.copy {
        row("a copy of as many bytes", spread(copy));
        let shares = [("yours", point.of_copy()), ("the reference", point.reference_of_copy())];
        let shares: Vec<String> =
            shares.iter().filter_map(|(who, share)| Some(format!("{who} {:.1}%", 100.0 * (*share)?))).collect();
        row("rate beside that copy's", shares.join(", "));
    }
    if let Some(reference) = &point.reference {
        let compared = match point.against_reference {
            Some(Compared::Faster) => "yours is faster",
            Some(Compared::Slower) => "yours is slower",
            Some(Compared::Inconclusive) | None => "inconclusive",
        };
        row("the reference", format!("{}: {compared}", spread(reference)));
    }
    if let (Some(library), Some(ratio)) = (&point.library, point.of_library()) {
        row("the library", format!("{}: {}; yours has {ratio:.3} of its speed", library.name, spread(&library.stats)));
    }
    for rival in &point.rivals {
        let (theirs, own) = (out::nanoseconds(rival.median_ns), out::nanoseconds(rival.own_median_ns));
        row(&rival.name, format!("median {theirs}, yours {own} in turns with it: {:.3} of its speed", rival.share()));
    }
    if let Some(Timing::Modelled { low_ns, high_ns, bound_by }) = &point.timing {
        row(
            "time (modeled, not measured)",
            format!("{} to {}, bound by {bound_by}", out::nanoseconds(*low_ns), out::nanoseconds(*high_ns)),
        );
    }
    for step in &point.steps {
        if let Some(stats) = &step.stats {
            rows.push(vec![format!("step \"{}\" by itself", step.name), spread(stats)]);
        }
    }
    let mut text = out::table(&[out::Align::Left, out::Align::Left], &rows);
    if let Some(counters) = &point.counters {
        text += &report::counters(counters);
        text += &report::steps(&point.steps);
    }
    text
}

fn spread(s: &Stats) -> String {
    format!(
        "median {} (20% {}, 80% {}, least {}; {} samples)",
        out::nanoseconds(s.median_ns),
        out::nanoseconds(s.p20_ns),
        out::nanoseconds(s.p80_ns),
        out::nanoseconds(s.min_ns),
        s.samples
    )
}

/// Work per second: operations or bytes per nanosecond are 10^9 per second.
fn rates(point: &BenchPoint, median_ns: f64) -> String {
    format!("{:.1} GB/s, {:.1} GFLOP/s", point.bytes / median_ns, point.flops / median_ns)
}
