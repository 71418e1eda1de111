//! `lockstep dev verify-counters`: the emulator's memory counters beside the hardware's, launch by launch.

use crate::cli::engine::{self, Target};
use crate::cli::{Done, Failure, Places, out, usage};
use gpu_core::counter_check::{self, Probes, Row};
use gpu_core::device::{Argument, Buffer, DeviceChoice, Launch, Sequence};
use gpu_core::devices;
use gpu_core::job::{Emit, Job, Source};
use gpu_core::spec::{Dtype, Geometry, Role};
use std::ffi::OsString;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Args {
    /// Measure on this machine's GPU with Nsight Compute instead of using what an H200 counted
    #[arg(long)]
    gpu: bool,
    /// Launch the probes on the GPU and print nothing (what Nsight Compute runs)
    #[arg(long, hide = true)]
    launch_only: bool,
    /// Show launches that agree too
    #[arg(long)]
    all: bool,
}

/// The recorded figures are of this architecture's code.
const ARCH: &str = "sm_90a";

pub fn run(args: &Args, places: &Places) -> Done {
    let job = |arch: &str| Job::Compile {
        source: Source {
            name: "counters.cu".into(),
            text: counter_check::SOURCE.into(),
            headers: Vec::new(),
            options: Vec::new(),
        },
        arch: arch.into(),
        emit: Emit::default(),
    };
    let arch = if args.gpu || args.launch_only { gpu_arch()? } else { ARCH.to_owned() };
    let answer = engine::submit(places, &Target::local_emulator(), job(&arch), false)?;
    let compiled =
        answer.compiled.filter(|report| report.succeeded).ok_or_else(|| usage("the probes do not compile"))?;
    if args.launch_only {
        return launch_all(&compiled);
    }
    let emulated = counter_check::emulate(&compiled.ptx).map_err(usage)?;
    let (machine, hardware) = if args.gpu { measure()? } else { counter_check::recorded().map_err(usage)? };
    print_table(&machine, &emulated, &hardware, args.all)
}

fn gpu_arch() -> Result<String, Failure> {
    let gpu = devices::list().into_iter().find(|device| device.choice == DeviceChoice::Gpu(0));
    gpu.map(|gpu| gpu.arch).ok_or_else(|| usage("there is no GPU here; without --gpu the recorded figures are used"))
}

/// Runs this program under Nsight Compute.
fn measure() -> Result<(String, Vec<Row>), Failure> {
    let exe = std::env::current_exe().map_err(usage)?;
    let program: Vec<OsString> =
        [exe.into_os_string(), "dev".into(), "verify-counters".into(), "--launch-only".into()].into();
    let launches = gpu_core::ncu::profile(&program, &counter_check::metrics(), Some("^[gsa]_")).map_err(usage)?;
    let probes = Probes::load().cases;
    if launches.len() != probes.len() {
        return Err(usage(format!("Nsight Compute saw {} launches of {}", launches.len(), probes.len())));
    }
    let rows = probes.iter().zip(&launches).map(|(probe, launch)| counter_check::measured(probe, launch)).collect();
    Ok(("this machine's GPU, now".into(), rows))
}

/// Launches every probe on GPU 0.
fn launch_all(compiled: &gpu_core::compile::CompileReport) -> Done {
    let mut gpu = devices::open(&DeviceChoice::Gpu(0)).map_err(usage)?;
    gpu.load(compiled).map_err(usage)?;
    let probes = Probes::load();
    let buffer =
        |name: &str, role, bytes| Argument::Buffer(Buffer { name: name.into(), dtype: Dtype::F32, role, bytes });
    let input: Vec<u8> = counter_check::input().iter().flat_map(|value| value.to_le_bytes()).collect();
    for probe in &probes.cases {
        let mut arguments = vec![
            buffer("out", Role::InOut, vec![0; counter_check::BUFFER_BYTES]),
            buffer("in", Role::In, input.clone()),
            Argument::Scalar(probe.1.to_le_bytes().to_vec()),
        ];
        let geometry = Geometry::new([probes.grid, 1, 1], [probes.block, 1, 1]);
        let launch = Sequence::of(Launch::new(&probe.0, geometry), Duration::from_secs(60));
        gpu.run(&launch, &mut arguments, &AtomicBool::new(false)).map_err(usage)?;
    }
    Ok(())
}

/// Prints what differs (or everything) and fails unless every figure agrees.
fn print_table(machine: &str, emulated: &[Row], hardware: &[Row], all: bool) -> Done {
    let names = counter_check::names();
    let mut different = 0;
    let mut compared = 0;
    for (ours, theirs) in emulated.iter().zip(hardware) {
        let mut cells = Vec::new();
        for (index, name) in names.iter().enumerate() {
            compared += 1;
            let (a, b) = (ours.figures[index], theirs.figures[index]);
            if a != b {
                different += 1;
                cells.push(format!("{name} {a}, hardware {b}"));
            } else if all && a != 0 {
                cells.push(format!("{name} {a}"));
            }
        }
        if !cells.is_empty() {
            out::print(&format!("{:<20} k = {:<4} {}\n", ours.probe.0, ours.probe.1, cells.join("; ")));
        }
    }
    out::print(&format!(
        "{} launches, {compared} figures compared with {machine}: {} agree exactly, {different} differ\n",
        emulated.len(),
        compared - different
    ));
    if different == 0 { Ok(()) } else { Err(Failure::Reported) }
}
