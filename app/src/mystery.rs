//! What is run of a kernel whose source is shut, and what its answer is evidence of: for terminal, window and
//! `dev check` alike.

use curriculum::answer::Mystery;
use curriculum::quiz::Evidence;
use gpu_core::bench::BenchReport;
use gpu_core::device::DeviceChoice;
use gpu_core::job::{Job, Source};
use gpu_core::verdict::{RunReport, Verdict};

/// Inputs of every run that is asked about: the figures are those that the course was checked with.
pub const SEED: u64 = 1;

/// One mystery of one unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MysteryKey {
    /// The unit's id.
    pub unit: String,
    pub exercise: String,
    pub mystery: String,
}

/// Judged and counted where its file names an oracle, else run once; on the emulator.
pub fn job(mystery: &Mystery, seed: Option<u64>) -> Job {
    let text = mystery.source.clone();
    let source = Source { name: "kernel.cu".to_owned(), text, headers: Vec::new(), options: Vec::new() };
    let (spec, device) = (Box::new(mystery.spec.clone()), DeviceChoice::Emulator);
    match mystery.spec.oracle {
        Some(_) => Job::Bench { source, spec, device, arch: None, seed, reference: None },
        None => Job::Run { source, spec, device, arch: None, seed, trace: None, options: Box::default() },
    }
}

/// The figures of a run: of the benchmark where there is one, which is the larger size.
pub fn evidence<'a>(
    verdict: Option<&'a Verdict>,
    bench: Option<&'a BenchReport>,
    ran: Option<&'a RunReport>,
) -> Evidence<'a> {
    Evidence { verdict: verdict.filter(|_| bench.is_none()), bench, ran, case: None, ..Evidence::default() }
}
