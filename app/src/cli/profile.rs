//! `lockstep profile`: the counters of one kernel, the emulator's beside those that Nsight Compute reads on a GPU.
//!
//! Nsight Compute runs `lockstep run` on the same kernel at the same size, so what it counts is the launch that the
//! emulator counted. Without it, or without permission, the emulator's counters come alone, with what is missing.

use super::engine::{self, Target};
use super::subject::{Subject, SubjectArgs};
use super::{Done, Failure, Places, content, json, out, usage};
use crate::profiled::{DIFFERENCES, Profiled, Row};
use gpu_core::bench::BenchPoint;
use gpu_core::compile::Severity;
use gpu_core::counter_check::COUNTERS;
use gpu_core::device::DeviceChoice;
use gpu_core::job::{Job, Outcome};
use gpu_core::ncu::{self, LaunchMetrics};
use gpu_core::spec::Size;
use serde_json::json;
use std::ffi::OsString;

#[derive(clap::Args)]
pub struct Args {
    /// Day as `lockstep list` shows it, or short: week2/day1, 2.1
    day: String,
    #[command(flatten)]
    subject: SubjectArgs,
    /// Print the command that has Nsight Compute count this kernel, and run nothing
    #[arg(long, conflicts_with = "json")]
    command: bool,
    /// Print one JSON object (app/JSON.md, "profile")
    #[arg(long)]
    pub json: bool,
}

/// What a GPU has besides the counters that the emulator has as well: name, metric.
const HARDWARE_ONLY: [(&str, &str); 5] = [
    ("time_ns", "gpu__time_duration.sum"),
    ("dram_bytes", "dram__bytes.sum"),
    ("l2_hit_percent", "lts__t_sector_hit_rate.pct"),
    ("achieved_occupancy_percent", "sm__warps_active.avg.pct_of_peak_sustained_active"),
    ("tensor_core_percent", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"),
];

pub fn run(args: &Args, places: &Places) -> Done {
    let course = content::course(places)?;
    let subject = Subject::find(&course, &args.day, &args.subject, places)?;
    let size = subject
        .spec()
        .emulator_bench_sizes()
        .last()
        .cloned()
        .ok_or_else(|| usage("this exercise has no size to count at"))?;
    let files = Files::write(&subject, &size)?;
    if args.command {
        out::print(&format!("{}\n", files.shown()));
        std::mem::forget(files.folder);
        return Ok(());
    }
    let style = out::Style::stdout();
    if !args.json {
        out::print(&subject.heading(style));
    }
    let (answer, point) = count(&subject, places, !args.json)?;
    let Some(point) = point else {
        let of_the_kernel = matches!(answer.outcome, Outcome::Done | Outcome::CompileErrors(_));
        return match (why_not(&answer), of_the_kernel) {
            (_, false) => Err(engine::failure(&answer)),
            (why, _) if args.json => Err(Failure::Rejected(why)),
            (why, _) => {
                out::print(&answer.compile_text(&subject.kernel.for_report(), style));
                if answer.outcome == Outcome::Done {
                    out::print(&format!("\n{}: {why}\n", style.red("FAILED")));
                }
                Err(Failure::Kernel)
            }
        };
    };
    let wants_gpu = matches!(subject.target.choice, DeviceChoice::Gpu(_));
    let hardware = if wants_gpu { Some(measure(&subject, &files)) } else { None };
    let missing = match &hardware {
        Some(Err(why)) => Some(why.clone()),
        _ => None,
    };
    let launch = hardware.and_then(Result::ok);
    let rows = rows(&point, launch.as_ref());
    if args.json {
        let profiled = Profiled { case: point.name, rows, gpu_missing: missing, ncu: files.shown() };
        let mut fields = serde_json::to_value(profiled).map_err(usage)?;
        fields["day"] = json!(subject.day.address);
        fields["exercise"] = json!(subject.exercise.key);
        fields["kernel"] = json!(subject.kernel.shown);
        out::json(&json::envelope("profile", fields));
        std::mem::forget(files.folder);
        return Ok(());
    }
    out::print(&format!("{}\n{}", style.bold(&point.name), table(&rows, launch.is_some())));
    match (&missing, launch.is_some()) {
        (_, true) => {
            out::print("\nWhere the two differ, one of these is why:\n");
            DIFFERENCES.iter().for_each(|why| out::print(&format!("- {why}\n")));
        }
        (Some(why), _) => out::print(&format!("\nNo hardware counters: {why}\n")),
        (None, _) => out::print("\nWith a GPU and Nsight Compute, `--device gpu` sets its counters beside these.\n"),
    }
    Ok(())
}

fn rows(point: &BenchPoint, launch: Option<&LaunchMetrics>) -> Vec<Row> {
    let row = |name: &str, metric: &str, emulator| Row {
        name: name.to_owned(),
        metric: metric.to_owned(),
        emulator,
        gpu: launch.and_then(|launch| launch.values.get(metric).copied()),
    };
    let both =
        COUNTERS.iter().map(|counter| row(counter.name, counter.metric, point.counters.as_ref().map(counter.emulated)));
    let only = HARDWARE_ONLY.iter().map(|(name, metric)| row(name, metric, None));
    both.chain(only.filter(|row| row.gpu.is_some())).collect()
}

fn table(rows: &[Row], has_gpu: bool) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| out::grouped(value.round() as u64));
    let mut cells = vec![vec!["  counter".to_owned(), "emulator".to_owned()]];
    if has_gpu {
        cells[0].push("GPU".to_owned());
    }
    cells[0].push("Nsight Compute calls it".to_owned());
    for row in rows {
        let mut line =
            vec![format!("  {}", row.name.replace('_', " ")), number(row.emulator.map(|value| value as f64))];
        if has_gpu {
            line.push(number(row.gpu));
        }
        line.push(row.metric.to_owned());
        cells.push(line);
    }
    let mut align = vec![out::Align::Left, out::Align::Right];
    if has_gpu {
        align.push(out::Align::Right);
    }
    align.push(out::Align::Left);
    out::table(&align, &cells)
}

/// Judges and counts on the emulator.
fn count(subject: &Subject, places: &Places, progress: bool) -> Result<(engine::Answer, Option<BenchPoint>), Failure> {
    let job = Job::Bench {
        source: subject.kernel.source.clone(),
        spec: Box::new(subject.spec().clone()),
        device: DeviceChoice::Emulator,
        arch: None,
        seed: Some(1),
        reference: None,
    };
    let mut answer = engine::submit(places, &Target::local_emulator(), job, progress)?;
    let point = answer.bench.as_mut().and_then(|bench| bench.points.pop()).filter(|point| point.counters.is_some());
    Ok((answer, point))
}

/// Why nothing was counted: what the judge or the compiler says first.
fn why_not(answer: &engine::Answer) -> String {
    if let Outcome::CompileErrors(diagnostics) = &answer.outcome {
        let error = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
        return error.map_or_else(
            || "the kernel does not compile".to_owned(),
            |error| format!("the kernel does not compile: line {}: {}", error.line, error.message),
        );
    }
    let judged = answer.verdict.as_ref().filter(|verdict| !verdict.passed).map(|verdict| verdict.summary.clone());
    judged
        .or_else(|| answer.bench.as_ref().map(|bench| bench.summary.clone()))
        .unwrap_or_else(|| "the kernel was not counted".to_owned())
}

/// Why there are no hardware counters, in one sentence, or what was counted.
fn measure(subject: &Subject, files: &Files) -> Result<LaunchMetrics, String> {
    if !subject.target.is_local() {
        return Err("Nsight Compute counts on this machine only; run `lockstep profile` on the remote one".to_owned());
    }
    let metrics: Vec<&str> =
        COUNTERS.iter().map(|counter| counter.metric).chain(HARDWARE_ONLY.iter().map(|(_, metric)| *metric)).collect();
    let pattern = format!("^{}$", subject.spec().entry());
    let launches = ncu::profile(&files.program()?, &metrics, Some(&pattern)).map_err(|error| error.to_string())?;
    launches.into_iter().next().ok_or_else(|| "Nsight Compute saw no launch of this kernel".to_owned())
}

/// The kernel and its spec as files, for `lockstep run`.
struct Files {
    folder: tempfile::TempDir,
    size: String,
    device: String,
}

impl Files {
    fn write(subject: &Subject, size: &Size) -> Result<Self, Failure> {
        let spec = subject.spec_text().ok_or_else(|| {
            usage("an experiment with parameters of its own cannot be profiled; profile its exercise, or count it with `lockstep bench`")
        })?;
        let folder = tempfile::Builder::new().prefix("lockstep-profile-").tempdir().map_err(usage)?;
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).map_err(|error| usage(format!("cannot write ({error}): {}", path.display())))
        };
        write("kernel.cu", &subject.kernel.source.text)?;
        write("spec.toml", spec)?;
        let size: Vec<String> = size.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let device = match &subject.target.choice {
            DeviceChoice::Gpu(ordinal) => format!("gpu:{ordinal}"),
            DeviceChoice::Emulator => "gpu".to_owned(),
        };
        Ok(Self { folder, size: size.join(","), device })
    }

    /// What Nsight Compute starts.
    fn program(&self) -> Result<Vec<OsString>, String> {
        let exe = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut program = vec![exe.into_os_string(), "run".into()];
        program.push(self.folder.path().join("kernel.cu").into_os_string());
        program.push("--spec".into());
        program.push(self.folder.path().join("spec.toml").into_os_string());
        for part in ["--size", &self.size, "--device", &self.device, "--seed", "1"] {
            program.push(part.into());
        }
        Ok(program)
    }

    /// The whole command, to be typed.
    fn shown(&self) -> String {
        let metrics: Vec<&str> = COUNTERS.iter().map(|counter| counter.metric).collect();
        let program = self.program().unwrap_or_default();
        let program: Vec<String> = program.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        format!(
            "ncu --csv --print-units base --clock-control none --target-processes all --metrics {} {}",
            metrics.join(","),
            program.join(" ")
        )
    }
}
