//! Loading and running probes on a device.

use super::kernel::{Batch, kernel_name, output_layout};
use super::{Arch, Probe, fill};
use crate::compile::CompileReport;
use crate::device::{Argument, Buffer, Device, Launch, RunError, Sequence};
use crate::spec::{Dtype, Geometry, Role};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Probes that a device does not take, and why.
pub type Refusals = Vec<(usize, String)>;

/// Loads a module of the probes that the device takes, and says which ones it does not take and why.
///
/// # Errors
/// When the device cannot load anything at all.
pub fn load(
    device: &mut dyn Device,
    arch: Arch,
    probes: &[Probe],
    members: &[usize],
) -> Result<(Vec<usize>, Refusals), RunError> {
    let mut refused = Refusals::new();
    let taken = sift(device, arch, probes, members, &mut refused)?;
    if !taken.is_empty() {
        try_load(device, &Batch::new(arch, probes, &taken))?;
    }
    Ok((taken, refused))
}

fn try_load(device: &mut dyn Device, batch: &Batch) -> Result<(), RunError> {
    // The driver assembles a zero-terminated text where it expects a cubin.
    let cubin = [batch.ptx.as_bytes(), &[0]].concat();
    device.load(&CompileReport { succeeded: true, ptx: batch.ptx.clone(), cubin, ..CompileReport::default() })
}

/// Members that can be loaded together.
fn sift(
    device: &mut dyn Device,
    arch: Arch,
    probes: &[Probe],
    members: &[usize],
    refused: &mut Refusals,
) -> Result<Vec<usize>, RunError> {
    let mut left = members.to_vec();
    loop {
        if left.is_empty() {
            return Ok(left);
        }
        let batch = Batch::new(arch, probes, &left);
        let message = match try_load(device, &batch) {
            Ok(()) => return Ok(left),
            Err(RunError::Environment(message)) => message,
            Err(other) => return Err(other),
        };
        let named = complaints(&message, &batch);
        if named.is_empty() {
            // The message names no line: find the culprit by halves.
            if let [only] = left[..] {
                refused.push((only, message));
                return Ok(Vec::new());
            }
            let (first, second) = left.split_at(left.len() / 2);
            let mut taken = sift(device, arch, probes, first, refused)?;
            taken.extend(sift(device, arch, probes, second, refused)?);
            return Ok(taken);
        }
        left.retain(|member| named.iter().all(|(other, _)| other != member));
        refused.extend(named);
    }
}

/// The members that a message complains about, each with its first complaint.
fn complaints(message: &str, batch: &Batch) -> Refusals {
    let mut named = Refusals::new();
    for text in message.lines() {
        let Some((_, rest)) = text.split_once("line ") else { continue };
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let Ok(line) = digits.parse() else { continue };
        let Some(member) = batch.member_at(line) else { continue };
        let reason = rest[digits.len()..].trim_start_matches([';', ':', ' ']).to_owned();
        if named.iter().all(|(other, _)| *other != member) {
            named.push((member, reason));
        }
    }
    named
}

/// Runs a probe of the loaded module and gives its results, each result register for all cases.
///
/// # Errors
/// What the device says, and the emulator's first fault.
pub fn run(device: &mut dyn Device, index: usize, probe: &Probe) -> Result<Vec<Vec<u64>>, RunError> {
    let buffer =
        |name: &str, role, bytes| Argument::Buffer(Buffer { name: name.into(), dtype: Dtype::U32, role, bytes });
    let (starts, scratch_at, out_bytes) = output_layout(probe);
    let mut arguments = vec![buffer("in", Role::In, fill::buffer(probe)), buffer("out", Role::Out, vec![0; out_bytes])];
    if let Some(mapped) = &probe.map {
        let mut map = mapped.map.clone();
        map.address += if mapped.over_scratch { scratch_at as u64 } else { 0 };
        arguments.push(Argument::TiledMap { buffer: usize::from(mapped.over_scratch), map });
    }
    let [grid, block] = probe.extents();
    let name = kernel_name(index);
    let launch = Launch::new(&name, Geometry::new(grid, block));
    let sequence = Sequence::of(launch, Duration::from_secs(60));
    let report = device.run(&sequence, &mut arguments, &AtomicBool::new(false))?;
    if let Some(fault) = report.faults.first() {
        return Err(RunError::BadRequest(fault.message.clone()));
    }
    if !report.completed {
        return Err(RunError::BadRequest(format!("the launch did not end: {}", report.notes.join("; "))));
    }
    let Argument::Buffer(out) = &arguments[1] else { return Ok(Vec::new()) };
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte));
    let results = probe.outputs.iter().zip(starts).map(|(value, start)| {
        let bytes = &out.bytes[start..start + probe.cases() * value.slot_bytes()];
        bytes.chunks(value.slot_bytes()).map(word).collect()
    });
    Ok(results.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assemblers_complaints_find_their_probes() {
        let arch = Arch { number: 90, suffix: Some('a') };
        let probes = super::super::probes(arch);
        let batch = Batch::new(arch, &probes, &[3, 4, 5]);
        let line = |name: &str| {
            let at =
                batch.ptx.lines().position(|line| line.starts_with(&format!("{name} %d0"))).expect("in the module");
            at + 1
        };
        let (first, second) = (line(&probes[3].name), line(&probes[5].name));
        let log = format!(
            "ptxas application ptx input, line {first}; error   : Illegal modifier\n\
             ptxas application ptx input, line {first}; error   : Illegal again\n\
             the emulator cannot run this kernel: PTX line {second}: unknown instruction\n\
             ptxas fatal   : Ptx assembly aborted due to errors"
        );
        let expected = vec![(3, "error   : Illegal modifier".to_owned()), (5, "unknown instruction".to_owned())];
        assert_eq!(complaints(&log, &batch), expected);
        assert!(complaints("no line is named here", &batch).is_empty());
    }
}
