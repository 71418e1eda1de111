//! One run of a kernel with no oracle: what it printed, counted and left behind.

use super::{CheckRequest, emit_console, explain, fresh_seed, inputs, launch_of, resolve};
use crate::compile::{CompileReport, signature};
use crate::device::{Argument, Device, RunError};
use crate::job::Event;
use crate::spec::{ResolvedBuffer, Spec};
use crate::verdict::RunReport;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Elements of each buffer that are reported.
const HEAD: usize = 16;

/// Runs a kernel once at the spec's first size.
///
/// # Errors
/// As [`check`](super::check), but no oracle is needed.
pub fn run_free(
    device: &mut dyn Device,
    compiled: &CompileReport,
    spec: &Spec,
    request: &CheckRequest,
    emit: &mut dyn FnMut(Event),
    stop: &AtomicBool,
) -> Result<RunReport, RunError> {
    let started = Instant::now();
    signature::check(&compiled.ptx, spec).map_err(RunError::BadRequest)?;
    let launch = spec.launch_with(&compiled.launch_directives).map_err(RunError::BadRequest)?;
    let size =
        spec.check.first().ok_or_else(|| RunError::BadRequest("the spec has no size in sizes.check".to_owned()))?;
    let resolved = resolve(spec, size, &launch)?;
    device.load(compiled)?;
    let mut arguments = inputs::arguments(&resolved, request.seed.unwrap_or_else(fresh_seed));
    let launch = launch_of(compiled, spec, &resolved, request.trace.clone());
    let mut run = device.run(&launch, &mut arguments, stop)?;
    emit_console(emit, &mut run);
    run.faults.sort_by_key(|fault| explain::rank(fault.kind));
    let buffers: Vec<&ResolvedBuffer> = resolved.buffers().collect();
    let mut notes = run.notes;
    notes.extend(run.corruptions.iter().map(|corruption| explain::corruption_sentence(corruption, &buffers)));
    let outputs = arguments.iter().filter_map(|argument| match argument {
        Argument::Buffer(buffer) => {
            let size = buffer.dtype.bytes();
            let head = &buffer.bytes[..buffer.bytes.len().min(HEAD * size)];
            Some((buffer.name.clone(), (buffer.bytes.len() / size) as u64, buffer.dtype.decode_all(head)))
        }
        Argument::Scalar(_) | Argument::TensorMap(_) | Argument::TiledMap { .. } => None,
    });
    Ok(RunReport {
        device: device.info().name.clone(),
        completed: run.completed,
        outputs: outputs.collect(),
        faults: run.faults,
        notes,
        counters: run.counters,
        lines: run.lines,
        trace: run.trace,
        wall_ms: started.elapsed().as_secs_f64() * 1e3,
    })
}
