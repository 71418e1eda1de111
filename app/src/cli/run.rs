//! `lockstep run`: a kernel of one's own at sizes of one's own. Its spec says what it takes; without one, that is guessed from
//! the kernel's parameters. What can be said of the outputs is said, and a fault is a failure.

mod options;

use super::engine::{self, DeviceArgs};
use super::{Done, Failure, Places, content, json, out, report, usage};
use gpu_core::job::{Job, Outcome};
use gpu_core::spec::{Spec, given_text};
use serde_json::json as object;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// CUDA C++ source
    file: PathBuf,
    /// What the kernel takes: a file like `exercise.toml` (kernels/README.md), of which entry, buffers and launch are
    /// needed [default: guessed from the kernel's parameters]
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Which kernel of the file to guess a spec for, as C++ calls it: `scale`, `math::scale`, `scale<float, 4>`
    #[arg(long, value_name = "NAME", conflicts_with = "spec")]
    entry: Option<String>,
    /// Write the guessed spec to a file to start from, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with = "spec")]
    write_spec: Option<PathBuf>,
    /// Size variables, as in `--size n=1000` or `--size m=3,n=4`; the others are as at the spec's first size
    #[arg(long, value_name = "NAME=VALUE,…", value_delimiter = ',')]
    size: Vec<String>,
    /// Run at every size of `sizes.check`
    #[arg(long, conflicts_with = "size")]
    all_sizes: bool,
    /// Another kernel with the same parameters: its outputs are what is expected
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// What a buffer holds before the run, from a file of numpy.save
    #[arg(long, value_name = "NAME=FILE.npy")]
    input: Vec<String>,
    /// Write an output to a file that numpy.load reads
    #[arg(long, value_name = "NAME=FILE.npy")]
    output: Vec<String>,
    /// Values of a `__constant__` variable: `--set taps=0.25,0.5,0.25` or `--set taps=FILE.npy`
    #[arg(long, value_name = "NAME=VALUES")]
    set: Vec<String>,
    /// Longest time that one size may take, in seconds [default: 8]
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,
    /// NaN and infinities in the outputs are what the kernel is for
    #[arg(long)]
    allow_nan: bool,
    /// The kernel writes a part of its outputs only
    #[arg(long)]
    allow_partial: bool,
    #[command(flatten)]
    device: DeviceArgs,
    /// Print one JSON object (app/JSON.md, "run")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let mut kernel = content::file(&args.file)?;
    let target = args.device.target(places)?;
    let style = out::Style::stdout();
    for setting in &args.set {
        kernel.source.text = options::set_constant(&kernel.source.text, setting)?;
    }
    let spec = match &args.spec {
        Some(path) => spec_of(path)?,
        None => {
            let guessed = options::guess_spec(&kernel.source.text, &args.file, args.entry.as_deref(), &args.size)?;
            if let Some(path) = &args.write_spec {
                return write_spec(path, &guessed.text);
            }
            if !args.json {
                out::print(&guessed.words(&args.file));
            }
            guessed.spec
        }
    };
    let run_options = options::read(args, &spec)?;
    let job = Job::Run {
        source: kernel.source.clone(),
        spec: Box::new(spec.clone()),
        device: target.choice.clone(),
        arch: args.device.arch()?,
        seed: args.device.seed,
        trace: None,
        options: Box::new(run_options),
    };
    let mut answer = engine::submit(places, &target, job, !args.json)?;
    let warned = answer.compiled.as_ref().and_then(|compiled| options::warned(&compiled.diagnostics));
    if let Some(last) = answer.ran.last_mut().filter(|ran| ran.case.passed) {
        last.summary += &warned.unwrap_or_default();
        last.summary += &options::left_out(&spec, args.all_sizes).unwrap_or_default();
    }
    let answer = answer;
    options::write_outputs(args, &answer.ran)?;
    // The one to tell of where one is told: the first that failed, else the last.
    let told = answer.ran.iter().find(|ran| !ran.case.passed).or(answer.ran.last());
    if args.json {
        out::json(&json::envelope(
            "run",
            object!({
                "kernel": kernel.shown,
                "device": args.device.device,
                "outcome": json::outcome(&answer.outcome),
                "message": answer.message(),
                "compiled": answer.compiled.as_ref().map(json::compiled),
                "console": answer.console,
                "run": told.map(json::ran),
                "runs": answer.ran.iter().map(json::ran).collect::<serde_json::Value>(),
            }),
        ));
    } else {
        out::print(&answer.compile_text(&kernel.for_report(), style));
        for ran in &answer.ran {
            out::print(&format!("\n{}", report::ran(ran, &kernel.for_report(), style)));
        }
        if let Some(why) = engine::not_judged(&answer, &spec, "spec") {
            out::print(&format!("\n{}: {why}\n", style.red("FAILED")));
        }
        let failed: Vec<&str> =
            answer.ran.iter().filter(|ran| !ran.case.passed).map(|ran| ran.case.name.as_str()).collect();
        // With several sizes the last line still says how all of them went.
        if answer.ran.len() > 1 {
            let all = answer.ran.len();
            out::print(&match failed.len() {
                0 => format!("\n{}: at all {all} sizes\n", style.green("COMPLETED")),
                some => format!("\n{}: at {some} of {all} sizes ({})\n", style.red("FAILED"), failed.join("; ")),
            });
        }
    }
    match &answer.outcome {
        Outcome::Done if !answer.ran.is_empty() && answer.ran.iter().all(|ran| ran.case.passed) => Ok(()),
        Outcome::Done | Outcome::CompileErrors(_) => Err(Failure::Kernel),
        _ => Err(engine::failure(&answer)),
    }
}

fn spec_of(path: &Path) -> Result<Spec, Failure> {
    let mut spec = Spec::parse(&content::read(path)?, &path.display().to_string()).map_err(usage)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    spec.read_given(|file| given_text(&folder.join(file)))
        .map_err(|missing| usage(format!("{}: a step's `given`: {missing}", path.display())))?;
    Ok(spec)
}

fn write_spec(path: &Path, text: &str) -> Done {
    let written = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    let written = written.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|error| usage(format!("the spec cannot be written ({error}): {}", path.display())))?;
    out::print(&format!("wrote {}: check its shapes, then run with --spec {}\n", path.display(), path.display()));
    Ok(())
}
