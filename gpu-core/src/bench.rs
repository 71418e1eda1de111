//! Timing on a GPU; counters on the emulator. Measured and modelled time are different types.

pub mod ceilings;
mod milestones;
mod point;
mod probes;
mod quantities;
mod sampled;
mod stats;
mod verify;

pub use crate::bench_report::{BenchPoint, BenchReport, KernelFacts, LibraryTime, Reached, RivalTime};
pub use crate::measured::{Ceilings, Compared, Figure, Stats, Timing, Unit};
pub use milestones::reached;
pub use quantities::{
    Evidence, Needs, OF_RIVAL, QUANTITIES, Quantity, error_of, measure as measure_quantity, quantity, rival_of,
};
pub use stats::{Ended, StopRule, compare, noise};

use crate::compile::CompileReport;
use crate::cuda::CudaDevice;
use crate::device::{Device, DeviceKind, RunError};
use crate::job::Event;
use crate::judge::{self, CheckRequest};
use crate::library::Library;
use crate::oracle;
use crate::profile::bound_by;
use crate::spec::{Milestone, Resolved, Size, Spec};
use crate::words::{duration, si};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

impl BenchReport {
    /// Holds the run against the milestones, again where something was measured since.
    pub fn weigh(&mut self, milestones: &[Milestone]) {
        self.milestones = reached(milestones, &self.points, self.kernel);
    }
}

/// What is asked of a benchmark beside the spec.
#[derive(Clone, Debug, Default)]
pub struct BenchRequest {
    /// None: a fresh one from the operating system.
    pub seed: Option<u64>,
    pub rule: StopRule,
    /// cuBLASLt's file, when this machine has one.
    pub library: Option<PathBuf>,
    /// What was measured of this machine before; None: the copy and the FP32 rate are measured now.
    pub ceilings: Option<Ceilings>,
}

/// Judges a kernel and, when it is right, times it at the spec's benchmark sizes (on a GPU) or counts what it does
/// (on the emulator, which has no time to measure). The check's verdict goes out as an event before.
///
/// # Errors
/// As [`judge::check`]; a kernel that is wrong is reported, not timed.
pub fn measure(
    device: &mut dyn Device,
    compiled: &CompileReport,
    reference: Option<&CompileReport>,
    spec: &Spec,
    request: &BenchRequest,
    emit: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<BenchReport, RunError> {
    let seed = request.seed.unwrap_or_else(judge::fresh_seed);
    let check = CheckRequest { seed: Some(seed), ..CheckRequest::default() };
    let verdict = judge::check(device, compiled, spec, &check, emit, stop)?;
    let mut report = BenchReport {
        device: device.info().name.clone(),
        passed_check: verdict.passed,
        points: Vec::new(),
        milestones: Vec::new(),
        summary: verdict.summary.clone(),
        when_unix_s: unix_seconds(),
        ceilings: None,
        kernel: KernelFacts::default(),
    };
    let error = error_of(&verdict);
    emit(Event::Verdict(Box::new(verdict)));
    if !report.passed_check {
        report.summary = format!("Not timed, for the kernel is wrong. {}", report.summary);
        return Ok(report);
    }
    report.points = match CudaDevice::behind(device) {
        Some(gpu) => {
            if request.ceilings.is_some() {
                gpu.ceilings.clone_from(&request.ceilings);
            }
            time(gpu, compiled, reference, spec, seed, request, emit, stop)?
        }
        None => count(device, compiled, spec, seed, emit, stop)?,
    };
    report.ceilings = CudaDevice::behind(device).and_then(|gpu| gpu.ceilings.clone());
    report.kernel = kernel_facts(device, compiled, spec, error);
    report.weigh(&spec.milestones);
    report.summary = summary(&report.points);
    Ok(report)
}

/// What milestones may ask of the kernel itself, at the last size that was measured.
fn kernel_facts(device: &dyn Device, compiled: &CompileReport, spec: &Spec, error: Option<f64>) -> KernelFacts {
    let sizes = match device.info().kind {
        DeviceKind::Gpu => spec.bench.as_slice(),
        DeviceKind::Emulator => spec.emulator_bench_sizes(),
    };
    let directed = spec.directed(&compiled.launch_directives).ok();
    let known = directed.and_then(|spec| Some(KernelFacts::of(compiled, &spec, &spec.resolve(sizes.last()?).ok()?)));
    let known = known.unwrap_or_default();
    KernelFacts { error, ..known }
}

/// This machine's ceilings, measured now; all of them when the compiled probes are given.
///
/// # Errors
/// [`RunError::BadRequest`] on the emulator, which has none.
pub fn measure_all_ceilings(
    device: &mut dyn Device,
    probes: Option<&CompileReport>,
    emit: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<Ceilings, RunError> {
    let Some(gpu) = CudaDevice::behind(device) else {
        return Err(RunError::BadRequest(
            "ceilings are measured on a GPU; the emulator has counters, no time".to_owned(),
        ));
    };
    gpu.ceilings = None;
    ceilings::measure(gpu, probes, emit, stop)
}

/// Measured once per process, for they take a third of a second.
fn measure_ceilings(
    gpu: &mut CudaDevice,
    emit: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<Ceilings, RunError> {
    if let Some(known) = &gpu.ceilings {
        return Ok(known.clone());
    }
    emit(Event::Progress { what: "measuring this machine's ceilings".to_owned(), done: 0, total: 2 });
    let copy_bytes_per_s = probes::copy_bytes_per_s(gpu, stop)?;
    emit(Event::Progress { what: "measuring this machine's ceilings".to_owned(), done: 1, total: 2 });
    let fp32_flops = probes::fp32_flops(gpu, stop)?;
    let measured = Ceilings {
        device: gpu.info().name.clone(),
        driver: gpu.info().driver_version.clone().unwrap_or_default(),
        date: iso_date(unix_seconds()),
        copy_bytes_per_s,
        fp32_flops,
        more: Vec::new(),
        clock_mhz: None,
        temperature_c: None,
        notes: vec!["copy: the driver's device-to-device copy, bytes read plus bytes written".to_owned()],
    };
    gpu.ceilings = Some(measured.clone());
    Ok(measured)
}

#[expect(clippy::too_many_arguments, reason = "one call, and a struct for it would only repeat the names")]
fn time(
    gpu: &mut CudaDevice,
    compiled: &CompileReport,
    reference: Option<&CompileReport>,
    spec: &Spec,
    seed: u64,
    request: &BenchRequest,
    emit: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<Vec<BenchPoint>, RunError> {
    if spec.bench.is_empty() {
        return Err(RunError::BadRequest("the spec has no sizes.bench".to_owned()));
    }
    let ceilings = measure_ceilings(gpu, emit, stop)?;
    // Afresh: nothing that the kernel kept in device variables while it was checked survives.
    gpu.unload();
    gpu.load(compiled)?;
    let gpu = &*gpu;
    let reference = match reference {
        Some(report) => Some((report, gpu.load_reference(report)?)),
        None => None,
    };
    let directed = |report: &CompileReport| spec.directed(&report.launch_directives).map_err(RunError::BadRequest);
    let own_spec = directed(compiled)?;
    let their_spec = reference.as_ref().map(|(report, _)| directed(report)).transpose()?;
    let clock = probes::ClockProbe::new(gpu)?;
    let uses_matrix_unit = compiled.ptx.contains("mma");
    let (library, no_library) = open_library(gpu, spec, request.library.as_deref());
    let bench = point::Bench {
        gpu,
        spec,
        ceilings: &ceilings,
        clock: &clock,
        rule: request.rule,
        seed,
        uses_matrix_unit,
        library: library.as_ref(),
        stop,
    };
    let mut points = Vec::new();
    for (index, size) in spec.bench.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Err(RunError::Stopped);
        }
        let name = crate::spec::size_name(size);
        emit(Event::Progress { what: format!("timing {name}"), done: index as u32, total: spec.bench.len() as u32 });
        let own = kernel(gpu, gpu.module(None)?, compiled, &own_spec, size)?;
        let reference = match (&reference, &their_spec) {
            (Some((report, module)), Some(spec)) => Some(kernel(gpu, module, report, spec, size)?),
            _ => None,
        };
        points.push(match bench.memory_shortage(&own.case)? {
            Some(reason) => left_out(&own.case, reason),
            None => bench.point(&own, reference.as_ref())?,
        });
    }
    if let (Some(reason), Some(last)) = (no_library, points.last_mut()) {
        last.caveats.push(reason);
    }
    Ok(points)
}

/// The library, where there is one for this exercise; or why it is left out.
fn open_library(gpu: &CudaDevice, spec: &Spec, file: Option<&Path>) -> (Option<Library>, Option<String>) {
    let oracle = spec.oracle.as_deref().and_then(oracle::find);
    if oracle.is_none_or(|oracle| oracle.library.is_none()) {
        return (None, None);
    }
    let Some(file) = file else {
        let reason = "no library to compare with: cuBLASLt was not found (`pip install nvidia-cublas` is enough)";
        return (None, Some(reason.to_owned()));
    };
    match Library::open(gpu, file) {
        Ok(library) => (Some(library), None),
        Err(error) => (None, Some(format!("no library to compare with: {error}"))),
    }
}

/// A kernel made ready at a size, as its own launch directives want it. The course's kernels are loaded already.
fn kernel<'m>(
    gpu: &'m CudaDevice,
    own: &'m crate::cuda::Module,
    compiled: &CompileReport,
    spec: &'m Spec,
    size: &Size,
) -> Result<point::Kernel<'m>, RunError> {
    let case = judge::resolve(spec, size, u64::MAX)?;
    let mut launches = Vec::new();
    for launch in judge::steps::sequence_of(compiled, spec, &case, None).launches {
        let module = if launch.given.is_none() { own } else { gpu.module(launch.given)? };
        let function = module.function(launch.kernel)?;
        function
            .prepare(&launch.geometry, gpu.info().shared_per_block_optin_bytes)
            .map_err(|error| launch.blame(error))?;
        launches.push(point::Launched { function, launch });
    }
    Ok(point::Kernel { case, launches })
}

fn left_out(case: &Resolved, reason: String) -> BenchPoint {
    let mut point = untimed(&case.name, case.flops, case.bytes);
    point.rejected = Some(format!("left out: {reason}"));
    point
}

/// A point of which nothing is known yet but its work.
fn untimed(name: &str, flops: f64, bytes: f64) -> BenchPoint {
    BenchPoint {
        name: name.to_owned(),
        timing: None,
        stats: None,
        flops,
        bytes,
        share_of_ceiling: None,
        bound: String::new(),
        copy: None,
        reference: None,
        against_reference: None,
        library: None,
        rivals: Vec::new(),
        counters: None,
        lines: Vec::new(),
        steps: Vec::new(),
        workspace_bytes: 0,
        caveats: Vec::new(),
        rejected: None,
    }
}

/// The emulator's counters at the spec's sizes for them.
fn count(
    device: &mut dyn Device,
    compiled: &CompileReport,
    spec: &Spec,
    seed: u64,
    emit: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<Vec<BenchPoint>, RunError> {
    let spec = &spec.directed(&compiled.launch_directives).map_err(RunError::BadRequest)?;
    let sizes = spec.emulator_bench_sizes();
    let mut points = Vec::new();
    device.load(compiled)?;
    for (index, size) in sizes.iter().enumerate() {
        let case = judge::resolve(spec, size, judge::MAX_CASE_BYTES)?;
        let what = format!("counting at {}", case.name);
        emit(Event::Progress { what, done: index as u32, total: sizes.len() as u32 });
        let mut arguments = judge::arguments(&case, seed);
        let run = device.run(&judge::steps::sequence_of(compiled, spec, &case, None), &mut arguments, stop)?;
        let mut point = untimed(&case.name, case.flops, case.bytes);
        point.bound = bound_by(&Ceilings::default(), spec.cost.ceiling, case.flops, case.bytes).to_owned();
        point.workspace_bytes = case.workspace_bytes();
        point.steps = judge::steps::step_reports(spec, &case, &run);
        point.rejected = run.faults.first().map(judge::fault_sentence);
        point.counters = run.counters;
        point.lines = run.lines;
        point.caveats = vec!["counted on the emulator: it has no time to measure".to_owned()];
        points.push(point);
    }
    Ok(points)
}

/// One sentence about the largest size.
fn summary(points: &[BenchPoint]) -> String {
    let Some(point) = points.last() else { return "Nothing was measured: the spec has no benchmark sizes.".to_owned() };
    if let Some(reason) = &point.rejected {
        return format!("{}: rejected, {reason}.", point.name);
    }
    if let Some(stats) = &point.stats {
        let seconds = stats.median_ns / 1e9;
        let rate = match point.bound.as_str() {
            bound if bound.starts_with("fp32") => si(point.flops / seconds, "FLOP/s"),
            _ => si(point.bytes / seconds, "B/s"),
        };
        let share = point.share_of_ceiling.map_or_else(String::new, |share| {
            format!(", {:.0}% of this machine's measured {} ceiling", share * 100.0, point.bound)
        });
        let against = match point.against_reference {
            None => "",
            Some(Compared::Faster) => "; faster than the reference",
            Some(Compared::Slower) => "; slower than the reference",
            Some(Compared::Inconclusive) => "; no clear difference from the reference",
        };
        return format!("{}: {} ({rate}{share}){against}.", point.name, duration(stats.median_ns));
    }
    let Some(counters) = &point.counters else { return format!("{}: nothing was measured.", point.name) };
    let sectors = counters.global_load.sectors + counters.global_store.sectors;
    let moved = sectors as f64 * 32.0;
    let ideal = if point.bytes > 0.0 {
        format!(", {:.2} times the least possible", moved / point.bytes)
    } else {
        String::new()
    };
    format!(
        "{}: {} warp instructions and {} of memory sectors{ideal}; counted on the emulator, no time.",
        point.name,
        counters.warp_instructions,
        si(moved, "B")
    )
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Today's date in UTC, as in `2026-11-21`.
pub fn today() -> String {
    iso_date(unix_seconds())
}

/// `2026-11-21` in UTC, by the days-to-civil algorithm (Howard Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms").
fn iso_date(unix_seconds: u64) -> String {
    let days = (unix_seconds / 86_400) as i64 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_civil() {
        assert_eq!(iso_date(0), "1970-01-01");
        assert_eq!(iso_date(951_782_400), "2000-02-29");
        assert_eq!(iso_date(1_795_305_600), "2026-11-22");
    }
}
