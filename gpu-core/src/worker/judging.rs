//! The one place where a device worker calls the judge, the benchmark and the devices.

use super::messages::Task;
use crate::bench::{self, BenchRequest};
use crate::device::{self, Device, DeviceChoice, DeviceInfo, RunError};
use crate::job::Event;
use crate::judge::{self, CheckRequest, FreeRun};
use std::sync::atomic::AtomicBool;

/// An open device.
pub struct Opened {
    device: Box<dyn Device>,
}

impl Opened {
    pub fn open(choice: &DeviceChoice) -> Result<Self, RunError> {
        Ok(Self { device: device::open(choice)? })
    }

    pub fn info(&self) -> DeviceInfo {
        self.device.info().clone()
    }

    /// Does a task. Events go out through `emit` as they come.
    pub fn perform(&mut self, task: Task, emit: &mut dyn FnMut(Event), stop: &AtomicBool) -> Result<(), RunError> {
        let device = self.device.as_mut();
        let event = match task {
            Task::Check { compiled, spec, seed, trace } => {
                let request = CheckRequest { seed, trace };
                Event::Verdict(Box::new(judge::check(device, &compiled, &spec, &request, emit, stop)?))
            }
            Task::Run { compiled, against, spec, seed, trace, options } => {
                let name = options.against.as_ref().map_or("the other kernel", |source| source.name.as_str());
                let against = against.as_deref().map(|other| (other, name));
                let run = FreeRun {
                    compiled: &compiled,
                    against,
                    spec: &spec,
                    entry: &spec.entry,
                    options: &options,
                    seed,
                    trace,
                };
                return judge::run_free(device, &run, emit, stop);
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

pub fn list() -> Vec<DeviceInfo> {
    device::list()
}
