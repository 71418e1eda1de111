//! The one place where a device worker calls the judge, the benchmark and the devices.

use super::messages::Task;
use crate::bench::{self, BenchRequest};
use crate::compile::CompileReport;
use crate::compile::options::Arch;
use crate::device::{Device, DeviceChoice, DeviceInfo, DeviceKind, RunError};
use crate::devices;
use crate::emulator_device::EmulatorDevice;
use crate::job::Event;
use crate::judge::{self, CheckRequest, FreeRun};
use std::sync::atomic::AtomicBool;

/// An open device.
pub struct Opened {
    device: Box<dyn Device>,
}

impl Opened {
    pub fn open(choice: &DeviceChoice) -> Result<Self, RunError> {
        Ok(Self { device: devices::open(choice)? })
    }

    pub fn info(&self) -> DeviceInfo {
        self.device.info().clone()
    }

    /// Does a task. Events go out through `emit` as they come.
    pub fn perform(&mut self, task: Task, emit: &mut dyn FnMut(Event), stop: &AtomicBool) -> Result<(), RunError> {
        let device = self.device.as_mut();
        let event = match task {
            Task::Check { compiled, branch, spec, seed, trace } => {
                let request = CheckRequest { seed, trace, trace_step: None, branch: branch.map(|branch| *branch) };
                let (mut emulator, note) = stands_in(device.info(), &compiled);
                let device = emulator.as_mut().map_or(device, |emulator| emulator as &mut dyn Device);
                let mut verdict = judge::check(device, &compiled, &spec, &request, emit, stop)?;
                verdict.notes.extend(note);
                Event::Verdict(Box::new(verdict))
            }
            Task::Run { compiled, against, spec, seed, trace, options } => {
                let (mut emulator, note) = stands_in(device.info(), &compiled);
                let device = emulator.as_mut().map_or(device, |emulator| emulator as &mut dyn Device);
                let name = options.against.as_ref().map_or("the other kernel", |source| source.name.as_str());
                let against = against.as_deref().map(|other| (other, name));
                let run = FreeRun { compiled: &compiled, against, spec: &spec, options: &options, seed, trace };
                let mut noted = |event| match (event, &note) {
                    (Event::Ran(mut report), Some(note)) => {
                        report.case.notes.push(note.clone());
                        emit(Event::Ran(report));
                    }
                    (event, _) => emit(event),
                };
                return judge::run_free(device, &run, &mut noted, stop);
            }
            Task::Bench { compiled, reference, spec, seed, library, ceilings } => {
                let ceilings = ceilings.map(|ceilings| *ceilings);
                let request = BenchRequest { seed, library, ceilings, ..BenchRequest::default() };
                let report = bench::measure(device, &compiled, reference.as_deref(), &spec, &request, emit, stop)?;
                Event::Bench(Box::new(report))
            }
            Task::Ceilings { probes } => {
                Event::Ceilings(Box::new(bench::measure_all_ceilings(device, probes.as_ref(), emit, stop)?))
            }
        };
        emit(event);
        Ok(())
    }
}

/// The emulator for a kernel that was compiled for more than the GPU is, and what to say of it.
fn stands_in(info: &DeviceInfo, compiled: &CompileReport) -> (Option<EmulatorDevice>, Option<String>) {
    let own = Arch::of_capability(info.capability.0, info.capability.1);
    match Arch::parse(&compiled.arch) {
        Some(arch) if info.kind == DeviceKind::Gpu && !own.satisfies(arch) => {
            let note =
                format!("Run on the emulator, not on {}: that is {own}, and the kernel needs {arch}.", info.name);
            (Some(EmulatorDevice::new()), Some(note))
        }
        _ => (None, None),
    }
}

pub fn list() -> Vec<DeviceInfo> {
    devices::list()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emulator_stands_in_for_a_gpu_that_cannot_and_says_so() {
        let gpu = DeviceInfo {
            choice: DeviceChoice::Gpu(0),
            kind: DeviceKind::Gpu,
            name: "Hopper".to_owned(),
            ..EmulatorDevice::describe()
        };
        let compiled = |arch: &str| CompileReport { arch: arch.to_owned(), ..CompileReport::default() };
        let (emulator, note) = stands_in(&gpu, &compiled("sm_120a"));
        let wanted = "Run on the emulator, not on Hopper: that is sm_90a, and the kernel needs sm_120a.";
        assert_eq!((emulator.is_some(), note.as_deref()), (true, Some(wanted)));
        assert!(stands_in(&gpu, &compiled("sm_90a")).0.is_none());
        assert!(stands_in(&gpu, &compiled("sm_80")).0.is_none());
        assert!(stands_in(&EmulatorDevice::describe(), &compiled("sm_120a")).0.is_none(), "it is the emulator already");
    }
}
