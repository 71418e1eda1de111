//! Decides whether a kernel is right: fresh inputs, every size of the exercise, the float64 oracle, and the
//! emulator's checks, which run also when the device is a GPU.

mod advice;
mod again;
mod bits;
mod blame;
mod captured;
mod case;
pub(crate) mod compare;
mod conclude;
pub(crate) mod draws;
mod example;
pub(crate) mod explain;
mod fills;
mod fold;
mod free_run;
mod gaps;
pub(crate) mod inputs;
pub(crate) mod metric;
mod narrow;
mod nonfinite;
mod patience;
pub(crate) mod steps;
pub(crate) mod tensors;
#[cfg(test)]
mod view_tests;

pub(crate) use case::violated;
pub use example::{Example, ExpectedOutput, example};
pub use explain::fault_sentence;
pub use free_run::{FreeRun, outer_limit, run_free};
pub use inputs::{arguments, fresh_seed};
pub use steps::Traced;
pub(crate) use tensors::oracle_inputs;

use crate::compile::{CompileReport, signature};
use crate::device::{Device, DeviceKind, RunError};
use crate::emulator_device::EmulatorDevice;
use crate::job::Event;
use crate::oracle::{self, Oracle};
use crate::spec::{Directive, Resolved, Size, Spec, Step};
use crate::verdict::{Captured, Verdict};
use case::Judged;
use ptx_emulator::{Trace, TraceRequest};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// One case may run this long. A lab ends a job without progress after about as long, so this is a little less:
/// the kernel's own fault report says more than a killed worker.
pub const CASE_TIME_LIMIT: Duration = Duration::from_secs(8);
/// Host memory for one case's buffers, their float64 copies included.
pub(crate) const MAX_CASE_BYTES: u64 = 8 << 30;

/// Cases that are run again to find who wrote a wrong element: the smallest may have no writer at all.
const MAX_BLAMES: u32 = 3;

/// What is asked of a check beside the spec.
#[derive(Clone, Debug, Default)]
pub struct CheckRequest {
    /// None: a fresh one from the operating system.
    pub seed: Option<u64>,
    /// Traced is the last of the emulator's cases.
    pub trace: Option<TraceRequest>,
    /// The step whose first launch is traced; None: the learner's first.
    pub trace_step: Option<String>,
    /// The kernel compiled for the exercise's own architecture, where the GPU takes another branch of it.
    pub branch: Option<CompileReport>,
}

/// Judges a compiled kernel. Each case is sent as an [`Event::Case`] when it is done, printed text as
/// [`Event::Console`].
///
/// # Errors
/// [`RunError::BadRequest`] for a missing kernel, a wrong signature or a spec that cannot be evaluated;
/// the rest as the device has it. A kernel that is wrong is not an error but a verdict.
pub fn check(
    device: &mut dyn Device,
    compiled: &CompileReport,
    spec: &Spec,
    request: &CheckRequest,
    emit: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<Verdict, RunError> {
    let started = Instant::now();
    let oracle = spec.oracle.as_deref().ok_or_else(|| {
        RunError::BadRequest(
            "this spec names no oracle, so there is nothing to check against; run it instead".to_owned(),
        )
    })?;
    let oracle =
        oracle::find(oracle).ok_or_else(|| RunError::BadRequest(format!("there is no oracle called `{oracle}`")))?;
    signature::check(compiled, spec, signature::EXERCISE).map_err(RunError::BadRequest)?;
    signature::check_given(compiled, spec).map_err(RunError::Environment)?;
    local_arrays_fit(compiled, spec)?;
    let spec = &spec.directed(&compiled.launch_directives).map_err(RunError::BadRequest)?;
    let seed = request.seed.unwrap_or_else(fresh_seed);
    let mut session = Session {
        compiled,
        spec,
        oracle,
        seed,
        emit,
        stop,
        judged: Vec::new(),
        trace: None,
        captured: None,
        trace_step: request.trace_step.clone(),
        notes: Vec::new(),
        blames_left: MAX_BLAMES,
        follow_left: nonfinite::TIME_LIMIT,
        impossible: None,
    };

    match device.info().kind {
        DeviceKind::Emulator => session.run_on(device, spec.emulator_sizes(), request.trace.as_ref())?,
        DeviceKind::Gpu => {
            if let Some(branch) = &request.branch {
                session.compiled = branch;
                session.check_on_emulator(None)?;
                session.compiled = compiled;
                let (arch, gpu) = (&branch.arch, &device.info().name);
                session.notes.push(format!("{gpu} cannot run the exercise's branch for {arch}: the emulator ran it."));
            }
            // The emulator goes first: what it finds names line and thread, where the GPU would only lose its context.
            session.check_on_emulator(request.trace.as_ref())?;
            let danger =
                session.judged.iter().flat_map(|judged| &judged.report.faults).find(|f| explain::is_dangerous(f.kind));
            match danger.map(explain::fault_sentence) {
                Some(fault) => session.notes.push(format!("Not run on {}: {fault}.", device.info().name)),
                None => session.run_on(device, &spec.check, None)?,
            }
        }
    }
    Ok(session.verdict(started))
}

/// No GPU gives a thread more than 512 KiB of local memory, and the emulator follows.
fn local_arrays_fit(compiled: &CompileReport, spec: &Spec) -> Result<(), RunError> {
    const MOST: u32 = 512 << 10;
    let stack = |step: &Step| {
        let kernels = &compiled.of_step(step)?.kernels;
        kernels.iter().find(|kernel| kernel.name == step.entry).map(|kernel| kernel.stack_bytes)
    };
    let too_large = spec.steps.iter().filter_map(|step| Some((step, stack(step)?))).find(|(_, bytes)| *bytes > MOST);
    match too_large {
        None => Ok(()),
        Some((step, bytes)) => Err(RunError::BadRequest(format!(
            "the local arrays of kernel `{}` take {bytes} bytes in each thread, and a thread has at most {MOST}: make \
             them smaller, or do without; a sum needs one variable, not all of its terms",
            step.entry
        ))),
    }
}

/// What the cases of one check share.
struct Session<'a> {
    compiled: &'a CompileReport,
    spec: &'a Spec,
    oracle: &'static Oracle,
    seed: u64,
    emit: &'a mut dyn FnMut(Event),
    stop: &'a AtomicBool,
    judged: Vec<Judged>,
    trace: Option<Trace>,
    captured: Option<Captured>,
    trace_step: Option<String>,
    notes: Vec<String>,
    /// How often the writers of wrong elements may still be looked for.
    blames_left: u32,
    /// How long the origin of infinities and NaN may still be looked for.
    follow_left: Duration,
    /// A size at which the launch cannot be, and why.
    impossible: Option<(String, String)>,
}

impl Session<'_> {
    /// The emulator's checks beside a GPU. What the emulator cannot run is noted, not held against the kernel.
    fn check_on_emulator(&mut self, trace: Option<&TraceRequest>) -> Result<(), RunError> {
        let mut emulator = EmulatorDevice::new();
        match emulator.load(self.compiled) {
            Ok(()) => self.run_on(&mut emulator, self.spec.emulator_sizes(), trace),
            Err(RunError::Environment(message)) => {
                self.notes.push(format!("Races and bounds were not checked: {message}."));
                Ok(())
            }
            Err(other) => Err(other),
        }
    }

    fn run_on(
        &mut self,
        device: &mut dyn Device,
        sizes: &[Size],
        trace: Option<&TraceRequest>,
    ) -> Result<(), RunError> {
        device.load(self.compiled)?;
        for (index, size) in sizes.iter().enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(RunError::Stopped);
            }
            // What no device can launch is a mistake of the kernel's, where the kernel chose it.
            if let Some(message) = impossible(self.spec, size, &self.compiled.launch_directives) {
                self.impossible = Some((crate::spec::size_name(size), message));
                break;
            }
            let resolved = resolve(self.spec, size, MAX_CASE_BYTES)?;
            let trace = trace.filter(|_| index + 1 == sizes.len()).cloned();
            let judged = self.case(device, resolved, trace)?;
            (self.emit)(Event::Case(Box::new(judged.report.clone())));
            // A kernel that does not end would spend the limit again at every size.
            let hangs = judged.report.faults.iter().any(|fault| explain::rank(fault.kind) >= 12);
            self.judged.push(judged);
            if hangs {
                break;
            }
        }
        Ok(())
    }
}

/// Why a launch cannot be at a size: too many threads in a block, or an expression that gives none.
pub(crate) fn impossible(spec: &Spec, size: &Size, said: &[Directive]) -> Option<String> {
    let (key, message) = spec.resolve(size).err()?;
    let part = spec.steps.iter().find_map(|step| key.strip_prefix(&step.at)?.strip_prefix('.'))?;
    let of = if spec.has_steps() { format!(" ({})", steps::place_in_words(spec, &key)) } else { String::new() };
    // The kernel's own comment asked for it.
    let key_of = part.split(['[', '.']).next().unwrap_or_default();
    let line = said.iter().rfind(|directive| directive.key == key_of).map(|directive| directive.line);
    let by = line.map_or_else(String::new, |line| format!("; line {line} asks for it (`// lockstep: {key_of} = …`)"));
    Some(format!("this launch cannot be: `{part}`{of}: {message}{by}"))
}

/// Evaluates a spec at a size and refuses what would not fit into memory.
pub(crate) fn resolve(spec: &Spec, size: &Size, most_bytes: u64) -> Result<Resolved, RunError> {
    let at = crate::spec::size_name(size);
    let resolved = spec.resolve(size).map_err(|(key, message)| {
        RunError::BadRequest(format!("{} at {at}: {message}", steps::place_in_words(spec, &key)))
    })?;
    let bytes = resolved.buffer_bytes();
    if bytes > most_bytes {
        return Err(RunError::Limit(format!("{at} needs {bytes} bytes of buffers; the limit is {most_bytes}")));
    }
    Ok(resolved)
}

#[cfg(test)]
pub(crate) mod tests_support {
    use crate::spec::{CeilingKind, Cost, Expr, LaunchShape, Spec, Step, Tolerance};

    /// A spec with nothing in it but a launch of one thread.
    pub fn empty_spec(entry: &str) -> Spec {
        let one = || vec![Expr::from("1")];
        Spec {
            title: String::new(),
            steps: vec![Step {
                name: entry.to_owned(),
                entry: entry.to_owned(),
                args: Vec::new(),
                launch: LaunchShape {
                    grid: one(),
                    block: one(),
                    cluster: Vec::new(),
                    dynamic_shared_bytes: Expr::from("0"),
                    cooperative: false,
                    learner_may_change: false,
                },
                given: None,
                repeat: None,
                group: None,
                at: "launch".to_owned(),
            }],
            params: Vec::new(),
            oracle: None,
            tolerance: Tolerance { absolute: 0.0, relative: 0.0, reason: String::new() },
            check: Vec::new(),
            emulator_check: Vec::new(),
            bench: Vec::new(),
            emulator_bench: Vec::new(),
            cost: Cost { flops: Expr::from("0"), bytes: Expr::from("0"), ceiling: CeilingKind::Auto },
            milestones: Vec::new(),
            requires: None,
            arch: Vec::new(),
            written_once: false,
            options: Vec::new(),
            outputs: Vec::new(),
            views: Vec::new(),
            may_be_empty: Vec::new(),
        }
    }
}
