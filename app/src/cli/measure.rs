//! `lockstep measure`: the machine itself, by the programs that lessons offer.

use super::{Done, Failure, Places, engine, out, usage};
use crate::measure::{self, Program, Request};
use crate::scripts::Figure;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// Which program; without one they are listed
    program: Option<String>,
    /// Edge of the matrices; may be given several times [default: the program's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16384))]
    n: Vec<u32>,
    /// Print one line of JSON for each result, as a Python rung does
    #[arg(long)]
    lines: bool,
    /// Also write a recording, with machine and date, for `assets/recorded/`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let Some(name) = &args.program else {
        out::print(&list());
        return Ok(());
    };
    let program =
        measure::find(name).ok_or_else(|| usage(format!("there is no program `{name}`; there are:\n{}", list())))?;
    let own: Vec<usize> = args.n.iter().map(|n| *n as usize).collect();
    let sizes = if own.is_empty() { program.sizes } else { &own };
    let data_dir = places.data_dir();
    let request = Request { sizes, data_dir: &data_dir, stop: engine::stop_on_ctrl_c() };
    if !args.lines {
        out::print(&format!("{}\n{}\n\n", program.title, program.what));
    }
    let (mut recorded, mut figures, mut wrong) = (Vec::new(), Vec::new(), false);
    let ended = program.run(&request, &mut |figure| {
        wrong |= !figure.ok;
        let line = serde_json::to_string(&figure).unwrap_or_default();
        out::print(&if args.lines { format!("{line}\n") } else { text(&figure) });
        recorded.push(line);
        figures.push(figure);
    });
    if let Err(problem) = ended {
        if problem == "stopped" {
            return Err(Failure::Interrupted);
        }
        if args.lines {
            out::print(&format!("{}\n", serde_json::json!({ "error": problem })));
            return Err(Failure::Reported);
        }
        return Err(usage(problem));
    }
    if !args.lines {
        out::print(&goals(program, &figures));
    }
    if let Some(file) = &args.record {
        record(file, &recorded).map_err(|error| usage(format!("{error}: {}", file.display())))?;
    }
    if wrong { Err(Failure::Rejected("a result was wrong".to_owned())) } else { Ok(()) }
}

fn list() -> String {
    let line = |program: &&Program| format!("{:16}{}\n", program.name, program.what);
    measure::PROGRAMS.iter().map(line).collect()
}

/// The program's milestones, and how these figures stand to them.
fn goals(program: &Program, figures: &[Figure]) -> String {
    let line = |goal: &measure::Goal| {
        let (mark, because) = match goal.judge(figures) {
            Some((true, because)) => ("reached", because),
            Some((false, because)) => ("not yet", because),
            None => ("open", "what it needs was not measured".to_owned()),
        };
        format!("  {:8}{}: {because}\n", mark, goal.name)
    };
    let lines: String = program.goals.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\nMilestones\n{lines}") }
}

fn text(figure: &Figure) -> String {
    let untimed = if figure.gflops.is_some() { "" } else { "not timed" };
    let time = figure.median_ms.map_or(untimed.to_owned(), |ms| out::nanoseconds(ms * 1e6));
    let rate = match (figure.gflops, figure.gbps) {
        (Some(gflops), _) => format!("{gflops:.1} GFLOP/s"),
        (None, Some(gbps)) => format!("{gbps:.1} GB/s"),
        (None, None) => String::new(),
    };
    let mark = if figure.ok { "" } else { "  WRONG" };
    format!("{:12}{:34}{time:>12}{rate:>18}  {}{mark}\n", figure.name, figure.rung, figure.device)
}

fn record(file: &Path, lines: &[String]) -> Result<(), String> {
    let devices = gpu_core::devices::list();
    let gpu = devices.iter().find(|device| device.driver_version.is_some());
    let origin = measure::Origin {
        machine: gpu.map_or_else(|| cpu_matmul::physical_description(true), |gpu| gpu.name.clone()),
        driver: gpu
            .and_then(|gpu| gpu.driver_version.as_ref())
            .map_or_else(|| "none".to_owned(), |version| format!("CUDA {version}")),
        date: gpu_core::bench::today(),
    };
    let mut to = std::fs::File::create(file).map_err(|error| error.to_string())?;
    writeln!(to, "{}\n{}", measure::head_line(origin), lines.join("\n")).map_err(|error| error.to_string())
}
