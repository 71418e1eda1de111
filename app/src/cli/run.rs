//! `lockstep run`: a free kernel, once, with buffers described by a spec file. No oracle, no verdict.

use super::engine::{self, DeviceArgs};
use super::{Done, Failure, Places, content, json, out, report, usage};
use gpu_core::job::{Job, Outcome};
use gpu_core::spec::Spec;
use serde_json::json as object;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// CUDA C++ source
    file: PathBuf,
    /// What the kernel takes: a file like `exercise.toml` (kernels/README.md), of which entry, buffers and launch are needed
    #[arg(long, value_name = "FILE")]
    spec: PathBuf,
    #[command(flatten)]
    device: DeviceArgs,
    /// Print one JSON object (app/JSON.md, "run")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let kernel = content::file(&args.file)?;
    let spec_text = content::read(&args.spec)?;
    let spec = Spec::parse(&spec_text, &args.spec.display().to_string()).map_err(usage)?;
    let target = args.device.target(places)?;
    let style = out::Style::stdout();
    let job = Job::Run {
        source: kernel.source.clone(),
        spec: Box::new(spec),
        device: target.choice.clone(),
        arch: args.device.arch()?,
        seed: args.device.seed,
        trace: None,
    };
    let answer = engine::submit(places, &target, job, !args.json)?;
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
                "run": answer.ran.as_ref().map(json::ran),
            }),
        ));
    } else {
        out::print(&answer.compile_text(&kernel.for_report(), style));
        if let Some(ran) = &answer.ran {
            out::print(&format!("\n{}", report::ran(ran, &kernel.for_report(), style)));
        }
    }
    match &answer.outcome {
        Outcome::Done if answer.ran.as_ref().is_some_and(|ran| ran.completed) => Ok(()),
        Outcome::Done | Outcome::CompileErrors(_) => Err(Failure::Kernel),
        _ => Err(engine::failure(&answer)),
    }
}
