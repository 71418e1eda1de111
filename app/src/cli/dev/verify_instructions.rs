//! `lockstep dev verify-instructions`: single instructions on the emulator and on the GPU, result by result.

use crate::cli::{Done, Failure, Places, out, usage};
use gpu_core::device::{Device, DeviceChoice};
use gpu_core::devices;
use gpu_core::instruction_check::{self, Arch, FormOutcome, Probe, Row, Stage};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

#[derive(clap::Args)]
pub struct Args {
    /// Only instructions whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Only one family, as in the summary
    #[arg(long)]
    group: Option<String>,
    /// Compare with this machine's GPU (without it, with the GPU when there is one)
    #[arg(long, conflicts_with = "emulator_arch")]
    gpu: bool,
    /// Compare the emulator with itself, for this architecture: shows that every probe loads and runs
    #[arg(long, value_name = "sm_XX")]
    emulator_arch: Option<String>,
    /// Show instructions that agree too
    #[arg(long)]
    all: bool,
    /// Print one JSON object with every comparison and the first differing cases
    #[arg(long)]
    json: bool,
    /// Keep what the GPU (or the emulator, with --emulator-arch) answered in this file: a digest of each form's results and some cases; of two machines' emulators the files must be the same
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write the modules to this folder instead of running them
    #[arg(long, value_name = "DIR")]
    ptx: Option<PathBuf>,
    /// Begin with this instruction and print events: what runs in a process of its own
    #[arg(long, hide = true, value_name = "INDEX")]
    worker_from: Option<usize>,
}

pub fn run(args: &Args, _: &Places) -> Done {
    let name = match &args.emulator_arch {
        Some(arch) => arch.clone(),
        None => gpu_arch()?,
    };
    let arch =
        Arch::parse(&name).ok_or_else(|| usage(format!("`{name}` is not an architecture; write it as in `sm_90a`")))?;
    let probes = instruction_check::probes(arch);
    let wanted = |probe: &Probe| {
        args.only.as_ref().is_none_or(|only| probe.name.contains(only.as_str()))
            && args.group.as_ref().is_none_or(|group| probe.group == group)
    };
    let chosen: Vec<usize> = (0..probes.len()).filter(|&index| wanted(&probes[index])).collect();
    if chosen.is_empty() {
        return Err(usage("no instruction has such a name and family; leave out --only and --group to see them all"));
    }
    if let Some(folder) = &args.ptx {
        return write_modules(folder, arch, &probes, &chosen);
    }
    if let Some(from) = args.worker_from {
        return work(args, arch, &probes, &chosen, from);
    }
    let start = Instant::now();
    let mut rows = supervise(args, &probes, &chosen)?;
    if let Some(file) = &args.record {
        let device = if args.emulator_arch.is_some() { "the emulator".to_owned() } else { gpu_name() };
        record(file, &device, &name, &rows)?;
    }
    for row in &mut rows {
        row.recording = None;
    }
    if args.json {
        print_json(&name, &rows, start.elapsed().as_secs_f64());
    } else {
        print_summary(&name, &rows, start.elapsed().as_secs_f64());
    }
    if rows.iter().all(|row| row.outcome.passes()) { Ok(()) } else { Err(Failure::Reported) }
}

fn gpu_arch() -> Result<String, Failure> {
    let gpu = devices::list().into_iter().find(|device| device.choice == DeviceChoice::Gpu(0));
    gpu.map(|gpu| gpu.arch)
        .ok_or_else(|| usage("there is no GPU here; with --emulator-arch sm_90a the probes run on the emulator alone"))
}

fn gpu_name() -> String {
    let gpu = devices::list().into_iter().find(|device| device.choice == DeviceChoice::Gpu(0));
    gpu.map_or_else(|| "a GPU".to_owned(), |gpu| gpu.name)
}

fn record(file: &Path, device: &str, arch: &str, rows: &[Row]) -> Done {
    let mut text = format!(
        "# Results of {device} ({arch}), written by `lockstep dev verify-instructions --record`.\n\
         # Name, digest of all results, some cases as number=results; instruction_check/record.rs has the format.\n"
    );
    for row in rows {
        if let Some(recording) = &row.recording {
            text.push_str(&recording.line(&row.name));
            text.push('\n');
        }
    }
    std::fs::write(file, text).map_err(|error| usage(format!("cannot write {}: {error}", file.display())))
}

fn write_modules(folder: &Path, arch: Arch, probes: &[Probe], chosen: &[usize]) -> Done {
    let failed = |error: std::io::Error| usage(format!("cannot write the modules: {error}: {}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let batches = instruction_check::batches(arch, probes, chosen);
    for (index, batch) in batches.iter().enumerate() {
        std::fs::write(folder.join(format!("{index:03}.ptx")), &batch.ptx).map_err(failed)?;
    }
    out::print(&format!("{} instructions in {} modules: {}\n", chosen.len(), batches.len(), folder.display()));
    Ok(())
}

/// The part that a faulting kernel may take along: prints events, one a line.
fn work(args: &Args, arch: Arch, probes: &[Probe], chosen: &[usize], from: usize) -> Done {
    let mut emulator = devices::open(&DeviceChoice::Emulator).map_err(usage)?;
    let other = if args.emulator_arch.is_some() { DeviceChoice::Emulator } else { DeviceChoice::Gpu(0) };
    let mut other: Box<dyn Device> = devices::open(&other).map_err(usage)?;
    let left: Vec<usize> = chosen.iter().copied().filter(|index| *index >= from).collect();
    let mut report = |event: Stage| {
        if let Ok(line) = serde_json::to_string(&event) {
            out::print(&format!("{line}\n"));
        }
    };
    instruction_check::check((emulator.as_mut(), other.as_mut()), arch, probes, &left, &mut report).map_err(usage)
}

/// Runs workers until every instruction has its row. After some faults of a GPU nothing more can be done in the process
/// that caused them, so the next worker begins behind the instruction at fault.
fn supervise(args: &Args, probes: &[Probe], chosen: &[usize]) -> Result<Vec<Row>, Failure> {
    let exe = std::env::current_exe().map_err(usage)?;
    let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
    let mut from = chosen[0];
    loop {
        let mut command = Command::new(&exe);
        command.args(["dev", "verify-instructions", "--worker-from", &from.to_string()]);
        for (flag, value) in
            [("--only", &args.only), ("--group", &args.group), ("--emulator-arch", &args.emulator_arch)]
        {
            if let Some(value) = value {
                command.args([flag, value]);
            }
        }
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(usage)?;
        let mut begun = None;
        let mut got_any = false;
        if let Some(stdout) = child.stdout.take() {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                match serde_json::from_str(&line) {
                    Ok(Stage::Begin(index)) => begun = Some(index),
                    Ok(Stage::Row(row)) => {
                        got_any = true;
                        if !args.json {
                            print_row(&row, args.all);
                        }
                        rows.insert(row.index, row);
                    }
                    // Text of a driver or of a kernel that prints.
                    Err(_) => out::remark(&line),
                }
            }
        }
        let status = child.wait().map_err(usage)?;
        if let Some(index) = begun
            && !status.success()
            && !rows.contains_key(&index)
        {
            let reason = format!("the process ended ({status})");
            rows.insert(index, Row::new(index, &probes[index], FormOutcome::GpuFault(reason)));
            got_any = true;
        }
        let Some(next) = chosen.iter().find(|index| !rows.contains_key(index)) else { break };
        if status.success() || !got_any {
            return Err(usage(format!("the worker gave up before `{}`", probes[*next].name)));
        }
        from = *next;
    }
    Ok(rows.into_values().collect())
}

fn print_row(row: &Row, all: bool) {
    let name = &row.name;
    let verdict = row.outcome.verdict();
    match &row.outcome {
        FormOutcome::Compared(found) => {
            if found.equal == found.results && !all {
                return;
            }
            let mut text = format!(
                "{verdict:<16} {name}: {} of {} results equal, {} NaN bits, {} outside, max {} ulp\n",
                found.equal, found.results, found.nan_bits, found.outside, found.max_ulp
            );
            for difference in found.differences.iter().take(3) {
                text.push_str(&format!(
                    "                   case {} result {} of ({}): emulator {}, GPU {}\n",
                    difference.case,
                    difference.result,
                    difference.operands.join(", "),
                    difference.emulator,
                    difference.hardware
                ));
            }
            out::print(&text);
        }
        FormOutcome::RefusedByEmulator(why)
        | FormOutcome::NotOnGpu(why)
        | FormOutcome::EmulatorFault(why)
        | FormOutcome::GpuFault(why) => {
            out::print(&format!("{verdict:<16} {name}: {}\n", why.trim().replace('\n', "; ")))
        }
    }
}

/// Verdicts in the order of the summary.
const VERDICTS: [&str; 8] = [
    "equal",
    "NaN bits differ",
    "within bounds",
    "DIFFERENT",
    "EMULATOR REFUSES",
    "EMULATOR FAULTS",
    "GPU FAULTS",
    "not on this GPU",
];

fn counts<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> [usize; 8] {
    VERDICTS.map(|verdict| rows.clone().filter(|row| row.outcome.verdict() == verdict).count())
}

/// Each once, in order; a group may come up again after another.
fn groups(rows: &[Row]) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for row in rows {
        if !groups.contains(&row.group.as_str()) {
            groups.push(&row.group);
        }
    }
    groups
}

fn print_summary(arch: &str, rows: &[Row], seconds: f64) {
    let mut text = format!("\n{:<16}{:>7}", arch, "forms");
    for verdict in VERDICTS {
        text.push_str(&format!("  {verdict}"));
    }
    text.push('\n');
    let mut line = |name: &str, total: usize, counts: [usize; 8]| {
        text.push_str(&format!("{name:<16}{total:>7}"));
        for (verdict, count) in VERDICTS.iter().zip(counts) {
            text.push_str(&format!("  {count:>width$}", width = verdict.len()));
        }
        text.push('\n');
    };
    for group in groups(rows) {
        let members = rows.iter().filter(|row| row.group == group);
        line(group, members.clone().count(), counts(members));
    }
    line("all", rows.len(), counts(rows.iter()));
    let results: usize = rows
        .iter()
        .map(|row| match &row.outcome {
            FormOutcome::Compared(found) => found.results,
            _ => 0,
        })
        .sum();
    text.push_str(&format!("{results} results compared in {seconds:.0} s\n"));
    out::print(&text);
}

fn print_json(arch: &str, rows: &[Row], seconds: f64) {
    let summary = |rows: Vec<&Row>| {
        VERDICTS.iter().zip(counts(rows.iter().copied())).map(|(v, n)| ((*v).to_owned(), json!(n))).collect()
    };
    let groups: serde_json::Map<String, serde_json::Value> = groups(rows)
        .into_iter()
        .map(|group| {
            let members = rows.iter().filter(|row| row.group == group).collect();
            (group.to_owned(), serde_json::Value::Object(summary(members)))
        })
        .collect();
    out::json(&json!({
        "command": "dev verify-instructions",
        "version": 1,
        "arch": arch,
        "seconds": seconds,
        "all": serde_json::Value::Object(summary(rows.iter().collect())),
        "groups": groups,
        "rows": rows,
    }));
}
