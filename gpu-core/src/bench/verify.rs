//! After timing the output is checked once more, with inputs that the kernel has never seen: a kernel that
//! remembers its last answer is fast and wrong.

use super::point::{Bench, Buffers, Kernel, ROUND_LIMIT, launch_once};
use super::sampled;
use crate::device::{Argument, RunError};
use crate::judge::{self, compare, explain};
use crate::library::Prepared;
use crate::oracle;
use crate::spec::{Dtype, Metric, Resolved, ResolvedBuffer, ResolvedParam, Role, Spec, Tolerance};
use std::time::Instant;

/// Sizes up to this many elements, and this many operations, are checked against the oracle; it takes about a
/// second.
const ORACLE_ELEMENTS: u64 = 1 << 23;
const ORACLE_FLOPS: f64 = 4.3e9;
/// Bytes read back and compared at a time.
const CHUNK_BYTES: usize = 64 << 20;

/// What became of the check after timing.
#[derive(Default)]
pub struct Verified {
    pub rejected: Option<String>,
    pub caveat: Option<String>,
}

pub fn after_timing(
    bench: &Bench<'_>,
    own: &Kernel<'_>,
    reference: Option<&Kernel<'_>>,
    buffers: &Buffers,
    library: Option<&Prepared<'_>>,
) -> Result<(Verified, Option<String>), RunError> {
    let seed = bench.seed.wrapping_add(1);
    let oracle = bench.spec.oracle.as_deref().and_then(oracle::find);
    let sampling = oracle.filter(|oracle| oracle.can_sample());
    let library_is_wrong = match (sampling, library) {
        (Some(oracle), Some(library)) => {
            buffers.refill(&own.case, seed)?;
            library.queue(bench.gpu)?;
            bench.gpu.stream.wait(Instant::now() + ROUND_LIMIT, bench.stop)?;
            sampled::first_wrong(bench, &own.case, buffers, oracle, seed)?
        }
        _ => None,
    };
    let elements: u64 = own.case.buffers().map(|buffer| buffer.elements).sum();
    let by_oracle = elements <= ORACLE_ELEMENTS && own.case.flops <= ORACLE_FLOPS;
    let mut verified = match (oracle, reference) {
        (Some(oracle), _) if by_oracle => against_oracle(bench, oracle, own, buffers, seed)?,
        (Some(oracle), _) if oracle.can_sample() => {
            buffers.refill(&own.case, seed)?;
            launch_once(bench.gpu, own, buffers, bench.stop)?;
            let wrong = sampled::first_wrong(bench, &own.case, buffers, oracle, seed)?;
            Verified { rejected: wrong.map(|wrong| format!("wrong after timing: {wrong}")), caveat: None }
        }
        (_, Some(reference)) => against_reference(bench, own, reference, buffers, seed)?,
        _ => Verified {
            caveat: Some(
                "too large for the float64 reference: the output was checked at smaller sizes only".to_owned(),
            ),
            rejected: None,
        },
    };
    if let (None, Some(hit)) = (&verified.rejected, buffers.guard_hit()?) {
        let shapes: Vec<&ResolvedBuffer> = own.case.buffers().collect();
        verified.rejected = Some(explain::corruption_sentence(&hit, &shapes));
    }
    Ok((verified, library_is_wrong))
}

fn against_oracle(
    bench: &Bench<'_>,
    oracle: &oracle::Oracle,
    own: &Kernel<'_>,
    buffers: &Buffers,
    seed: u64,
) -> Result<Verified, RunError> {
    let mut arguments = judge::arguments(&own.case, seed);
    for (index, argument) in arguments.iter().enumerate() {
        if let Argument::Buffer(buffer) = argument {
            buffers.write(index, &buffer.bytes)?;
        }
    }
    let expected = oracle
        .compute(&own.case.signature(), &judge::oracle_inputs(&own.case, &arguments))
        .map_err(RunError::BadRequest)?;
    launch_once(bench.gpu, own, buffers, bench.stop)?;
    for (index, argument) in arguments.iter_mut().enumerate() {
        if let Argument::Buffer(buffer) = argument
            && buffer.role != Role::In
        {
            buffers.read(index, 0, &mut buffer.bytes)?;
        }
    }
    let mut comparison = compare::compare(&own.case, &arguments, &expected, bench.spec, None, None);
    if comparison.mismatch_count == 0 {
        comparison.violated = judge::violated(oracle, &own.case, &arguments);
    }
    let rejected = explain::wrong_sentence(&comparison).map(|sentence| format!("wrong after timing: {sentence}"));
    Ok(Verified { rejected, caveat: None })
}

/// Own outputs against those of the reference kernel, which agreed with the oracle at the smaller sizes.
fn against_reference(
    bench: &Bench<'_>,
    own: &Kernel<'_>,
    reference: &Kernel<'_>,
    buffers: &Buffers,
    seed: u64,
) -> Result<Verified, RunError> {
    buffers.refill(&own.case, seed)?;
    launch_once(bench.gpu, own, buffers, bench.stop)?;
    let mut results = Vec::new();
    for (index, buffer) in outputs(&own.case) {
        let mut bytes = vec![0; buffer.bytes() as usize];
        buffers.read(index, 0, &mut bytes)?;
        results.push(bytes);
    }
    buffers.refill(&own.case, seed)?;
    launch_once(bench.gpu, reference, buffers, bench.stop)?;
    let theirs = |index: usize, at: usize, bytes: &mut [u8]| buffers.read(index, at, bytes);
    let wrong = disagreement(bench.spec, &own.case, &results, theirs)?;
    Ok(Verified { rejected: wrong.map(|wrong| format!("wrong after timing: {wrong}")), caveat: None })
}

/// What two right results may not differ in, as a sentence about the own ones. `read_theirs` fills a piece of the other
/// result: of which parameter, from which byte on. What the hardware chooses is held against its own rules only.
fn disagreement(
    spec: &Spec,
    case: &Resolved,
    own: &[Vec<u8>],
    read_theirs: impl Fn(usize, usize, &mut [u8]) -> Result<(), RunError>,
) -> Result<Option<String>, RunError> {
    let oracle = spec.oracle.as_deref().and_then(oracle::find);
    for (number, ((index, buffer), own)) in outputs(case).zip(own).enumerate() {
        if oracle.is_some_and(|oracle| oracle.is_chosen_by_hardware(number)) {
            continue;
        }
        let tolerance = tolerance(spec, case, index, buffer);
        let mut chunk = vec![0; CHUNK_BYTES.min(own.len())];
        for (at, own) in own.chunks(CHUNK_BYTES).enumerate() {
            let theirs = &mut chunk[..own.len()];
            read_theirs(index, at * CHUNK_BYTES, theirs)?;
            let Some(tolerance) = &tolerance else { continue };
            if let Some((element, got, want)) = first_difference(buffer.dtype, own, theirs, tolerance) {
                let element = (at * CHUNK_BYTES / buffer.dtype.bytes() + element) as u64;
                let place: String = buffer.index_of(element).iter().map(|i| format!("[{i}]")).collect();
                return Ok(Some(format!("{}{place} is {got}, the reference kernel has {want}", buffer.name)));
            }
        }
    }
    let decoded = || outputs(case).zip(own).map(|((_, buffer), bytes)| buffer.dtype.decode_all(bytes)).collect();
    Ok(oracle.and_then(|oracle| oracle.violated(&case.signature(), decoded)))
}

/// What two right results of one output may differ in. None: anything, for they are right on average only, or are codes
/// of which several stand for nearly the same value.
fn tolerance(spec: &Spec, case: &Resolved, index: usize, buffer: &ResolvedBuffer) -> Option<Tolerance> {
    // Errors of single elements may well be a few times the mean one.
    const PEAK: f64 = 8.0;
    let of = |absolute, relative| Some(Tolerance { absolute, relative, reason: String::new() });
    if let Some(view) = case.views.iter().find(|view| view.is_made_of(index)) {
        return if view.layout.is_exact { of(0.0, 0.0) } else { None };
    }
    match spec.rule(&buffer.name).metric {
        Metric::Elementwise { absolute, relative } => of(absolute, relative),
        Metric::Exact => of(0.0, 0.0),
        Metric::Ulp { limit } => of(0.0, 2.0 * limit * buffer.dtype.roundoff()),
        Metric::RelativeNorm { limit } => of(0.0, PEAK * limit),
        Metric::SqnrDb { limit } => of(0.0, PEAK * 10f64.powf(-limit / 20.0)),
        Metric::Cosine { limit } => of(0.0, PEAK * (2.0 - 2.0 * limit).max(0.0).sqrt()),
        Metric::Statistical { .. } => None,
    }
}

fn outputs(case: &Resolved) -> impl Iterator<Item = (usize, &ResolvedBuffer)> {
    case.params.iter().enumerate().filter_map(|(index, param)| match param {
        ResolvedParam::Buffer(buffer) if buffer.role.is_judged() => Some((index, buffer)),
        _ => None,
    })
}

/// First element in which two results differ by more than both may err. Where sums cancel, the size of the terms is
/// not known here, and the root mean square of the chunk stands for it.
fn first_difference(dtype: Dtype, own: &[u8], theirs: &[u8], tolerance: &Tolerance) -> Option<(usize, f64, f64)> {
    if own == theirs {
        return None;
    }
    let (own, theirs) = (dtype.decode_all(own), dtype.decode_all(theirs));
    let finite = theirs.iter().filter(|value| value.is_finite());
    let square: f64 = finite.map(|value| value * value).sum::<f64>() / theirs.len().max(1) as f64;
    let typical = square.sqrt();
    let differs = |(got, want): (&f64, &f64)| {
        let allowed = 2.0 * (tolerance.absolute + tolerance.relative * want.abs().max(typical));
        // A NaN on one side only is a difference too: it is not within anything.
        let within = (got - want).abs() <= allowed;
        got != want && !(got.is_nan() && want.is_nan()) && !within
    };
    let at = own.iter().zip(&theirs).position(differs)?;
    Some((at, own[at], theirs[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_hardware_chooses_may_differ_between_runs() {
        let text = r#"
            title = "Who ran this?"
            entry = "who_ran"
            oracle = "execution_probe"
            param = [
                { name = "sm", dtype = "i32", shape = ["blocks", "threads"], role = "out" },
                { name = "warp", dtype = "i32", shape = ["blocks", "threads"], role = "out" },
                { name = "lane", dtype = "i32", shape = ["blocks", "threads"], role = "out" },
            ]
            launch = { grid = ["blocks"], block = ["threads"] }
            tolerance = { absolute = 0.0, relative = 1e-3, reason = "whole numbers" }
            sizes = { check = [{ blocks = 300, threads = 64 }] }
        "#;
        let spec = Spec::parse(text, "exercise.toml").unwrap_or_else(|error| panic!("{error}"));
        let case = spec.resolve(&spec.check[0]).unwrap();
        let result = |sm: fn(i32) -> i32, lanes: i32| -> Vec<Vec<u8>> {
            let of = |value: &dyn Fn(i32) -> i32| (0..300 * 64).flat_map(|at| value(at).to_le_bytes()).collect();
            vec![of(&|at| sm(at / 64)), of(&|at| at % 64 / 32), of(&|at| at % lanes)]
        };
        let say = |own: Vec<Vec<u8>>| {
            let theirs = result(|block| block % 132, 32);
            let read = |index: usize, at: usize, bytes: &mut [u8]| {
                bytes.copy_from_slice(&theirs[index][at..][..bytes.len()]);
                Ok(())
            };
            disagreement(&spec, &case, &own, read).unwrap().unwrap_or_default()
        };
        assert_eq!(say(result(|block| (block + 7) % 132, 32)), "", "another run gave the blocks to others");
        assert_eq!(say(result(|block| block % 132, 16)), "lane[0][16] is 0, the reference kernel has 16");
        let alike = say(result(|_| 5, 32));
        assert!(alike.contains("sm is 5 in all 300 blocks"), "{alike}");
    }

    #[test]
    fn results_may_differ_by_rounding_only() {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let tolerance = Tolerance { absolute: 0.0, relative: 1e-6, reason: String::new() };
        let difference =
            |own: &[f32], theirs: &[f32]| first_difference(Dtype::F32, &bytes(own), &bytes(theirs), &tolerance);
        assert_eq!(difference(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(difference(&[1.0, 2.000_001], &[1.0, 2.0]), None);
        assert_eq!(difference(&[1.0, 2.1], &[1.0, 2.0]).map(|found| found.0), Some(1));
        assert_eq!(difference(&[f32::NAN], &[1.0]).map(|found| found.0), Some(0));
        assert_eq!(difference(&[f32::NAN], &[f32::NAN]), None);
        assert_eq!(difference(&[f32::INFINITY], &[1.0]).map(|found| found.0), Some(0));
    }
}
