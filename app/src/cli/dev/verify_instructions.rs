//! `lockstep dev verify-instructions`: single instructions on the emulator and on the GPU, result by result.

use crate::cli::engine::{self, Target};
use crate::cli::{Done, Failure, Places, out, usage};
use gpu_core::device::{self, Device, DeviceChoice};
use gpu_core::instruction_check::{self, Probe};
use gpu_core::job::{Emit, Job, Source};

#[derive(clap::Args)]
pub struct Args {
    /// Only instructions whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Run on the emulator alone, compiled for this architecture: shows that every probe loads and runs
    #[arg(long, value_name = "sm_XX")]
    emulator_arch: Option<String>,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let arch = match &args.emulator_arch {
        Some(arch) => arch.clone(),
        None => gpu_arch()?,
    };
    let wanted = |probe: &Probe| args.only.as_ref().is_none_or(|only| probe.name.contains(only.as_str()));
    let probes: Vec<Probe> = instruction_check::probes(&arch).into_iter().filter(wanted).collect();
    if probes.is_empty() {
        return Err(usage("no instruction has such a name; leave out --only to see them all"));
    }
    let source = Source {
        name: "instructions.cu".into(),
        text: instruction_check::source(&probes),
        headers: Vec::new(),
        options: Vec::new(),
    };
    let job = Job::Compile { source, arch, emit: Emit::default() };
    let answer = engine::submit(places, &Target::local_emulator(), job, false)?;
    let compiled =
        answer.compiled.filter(|report| report.succeeded).ok_or_else(|| usage("the probes do not compile"))?;
    let mut emulator = device::open(&DeviceChoice::Emulator).map_err(usage)?;
    emulator.load(&compiled).map_err(usage)?;
    let mut gpu: Option<Box<dyn Device>> = None;
    if args.emulator_arch.is_none() {
        let mut opened = device::open(&DeviceChoice::Gpu(0)).map_err(usage)?;
        opened.load(&compiled).map_err(usage)?;
        gpu = Some(opened);
    }
    let mut different = 0;
    for (index, probe) in probes.iter().enumerate() {
        let ours = instruction_check::run(emulator.as_mut(), index, probe)
            .map_err(|e| usage(format!("{}: {e}", probe.name)))?;
        let Some(gpu) = gpu.as_mut() else {
            out::print(&format!("{}: {} results\n", probe.name, ours.len()));
            continue;
        };
        let theirs =
            instruction_check::run(gpu.as_mut(), index, probe).map_err(|e| usage(format!("{}: {e}", probe.name)))?;
        let found = instruction_check::compare(probe, &ours, &theirs);
        match found.first {
            None => out::print(&format!("{}: {} results agree\n", probe.name, found.results)),
            Some((at, a, b)) => {
                different += 1;
                out::print(&format!(
                    "{}: {} of {} results differ ({} of them for arbitrary bits); result {at}: emulator {a:#x}, GPU {b:#x}\n",
                    probe.name, found.differing, found.results, found.among_arbitrary
                ));
            }
        }
    }
    out::print(&format!("{} instructions, {different} with differences\n", probes.len()));
    if different == 0 { Ok(()) } else { Err(Failure::Reported) }
}

fn gpu_arch() -> Result<String, Failure> {
    let gpu = device::list().into_iter().find(|device| device.choice == DeviceChoice::Gpu(0));
    gpu.map(|gpu| gpu.arch)
        .ok_or_else(|| usage("there is no GPU here; with --emulator-arch sm_90a the probes run on the emulator alone"))
}
