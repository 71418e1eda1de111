//! What the traced case was given and left, as far as a picture draws it.

use crate::device::Argument;
use crate::spec::{Resolved, ResolvedParam};
use crate::verdict::{Captured, CapturedBuffer};

/// Elements of a buffer that are kept.
const MOST: usize = 1 << 14;

/// The numbers before the run.
pub(super) fn before(resolved: &Resolved, arguments: &[Argument]) -> Captured {
    let mut captured = Captured { case: resolved.name.clone(), ..Captured::default() };
    for (name, value) in &resolved.size {
        captured.sizes.push((name.clone(), *value));
    }
    for (param, argument) in resolved.params.iter().zip(arguments) {
        if let (ResolvedParam::Buffer(shape), Argument::Buffer(buffer)) = (param, argument)
            && shape.role.is_given()
        {
            captured.buffers.push(CapturedBuffer {
                name: shape.name.clone(),
                shape: shape.shape.clone(),
                is_output: false,
                values: head(buffer),
            });
        }
    }
    captured
}

/// Adds what the kernel left in its outputs.
pub(super) fn after(captured: &mut Captured, resolved: &Resolved, arguments: &[Argument]) {
    for (param, argument) in resolved.params.iter().zip(arguments) {
        if let (ResolvedParam::Buffer(shape), Argument::Buffer(buffer)) = (param, argument)
            && shape.role.is_judged()
        {
            captured.buffers.push(CapturedBuffer {
                name: shape.name.clone(),
                shape: shape.shape.clone(),
                is_output: true,
                values: head(buffer),
            });
        }
    }
}

fn head(buffer: &crate::device::Buffer) -> Vec<f64> {
    let bytes = buffer.bytes.len().min(MOST * buffer.dtype.bytes());
    buffer.dtype.decode_all(&buffer.bytes[..bytes])
}
