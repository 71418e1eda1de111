//! Views whose codes and scales must be those of the reference, bit by bit, and what a wrong code is called.

use super::compare::{Comparison, PATTERN_SAMPLE, TABLE_ROWS, Wrong};
use super::metric;
use super::tensors::{Output, Unwritten, known_of};
use crate::device::Buffer;
use crate::formats::Stored;
use crate::oracle::Expected;
use crate::spec::{OutputRule, ResolvedBuffer, ResolvedView, Role};
use crate::verdict::{CodePair, Mismatch};

/// The code of an element and its scale, beside those of the reference where it has some.
pub(super) fn code(view: &ResolvedView, got: &Stored, expected: &Expected, element: usize) -> CodePair {
    let layout = &view.layout;
    let group = layout.group_of(element);
    let scale = |stored: &Stored| layout.scales.as_ref().map(|_| layout.scale_at(stored, group));
    let want = expected.stored.as_ref();
    CodePair {
        got: layout.code_at(got, element).into(),
        expected: want.map(|want| layout.code_at(want, element).into()),
        bits: layout.format.element().bits() as u32,
        got_scale: scale(got),
        expected_scale: want.and_then(scale),
    }
}

/// Scales that nobody wrote: every value that they belong to is garbage, so they are named first.
pub(super) fn note_unwritten(parts: &[(&ResolvedBuffer, &Buffer)], unwritten: Unwritten<'_>, result: &mut Comparison) {
    for (shape, buffer) in parts {
        let poison = buffer.dtype.poison();
        let known = known_of(unwritten, &shape.name);
        let elements = || buffer.bytes.chunks_exact(poison.len());
        let is_poison = |bytes: &[u8]| shape.role == Role::Out && bytes == poison;
        // A byte may well be meant to be what a byte is poisoned with; a whole buffer of them is not.
        if known.is_none() && poison.len() == 1 && !elements().all(is_poison) {
            continue;
        }
        let is_missing = |index: usize, bytes: &[u8]| match known {
            Some(known) => known.binary_search(&index).is_ok(),
            None => is_poison(bytes),
        };
        for (index, bytes) in elements().enumerate().filter(|(index, bytes)| is_missing(*index, bytes)) {
            result.mismatch_count += 1;
            result.never_written += 1;
            result.element_count += 1;
            if result.mismatches.len() < TABLE_ROWS {
                result.mismatches.push(Mismatch {
                    buffer: shape.name.clone(),
                    index: shape.index_of(index as u64),
                    expected: f64::NAN,
                    got: buffer.dtype.decode(bytes),
                    never_written: true,
                    undefined: false,
                    writer: None,
                    code: None,
                });
            }
        }
    }
}

/// A view that is judged by its bits.
pub(super) struct Exact<'a> {
    pub output: &'a Output<'a>,
    pub view: &'a ResolvedView,
    pub got: &'a Stored,
    pub want: &'a Stored,
    pub expected: &'a Expected,
    pub parts: &'a [(&'a ResolvedBuffer, &'a Buffer)],
    pub unwritten: Unwritten<'a>,
}

/// Compares scales, then codes: a wrong scale is the cause of wrong codes.
pub(super) fn compare(of: &Exact<'_>, rule: &OutputRule, result: &mut Comparison) -> (Vec<usize>, Wrong) {
    let before = result.mismatch_count;
    of.parts.iter().for_each(|(shape, buffer)| of.compare_part(shape, buffer, result));
    let (output, layout) = (of.output, &of.view.layout);
    let columns = layout.columns().max(1);
    let (values, has_gaps) = (layout.decode(of.want), output.has_gaps());
    let (mut wrong, mut written) = (Wrong::default(), Vec::new());
    for (element, &want) in values.iter().enumerate().take(output.elements()) {
        let is_equal = layout.code_at(of.got, element) == layout.code_at(of.want, element);
        if is_equal && !(has_gaps && output.is_unwritten(element)) {
            continue;
        }
        let never_written = output.is_unwritten(element);
        let got = output.values[element];
        wrong.note(element, columns, got, want, never_written);
        if !never_written && written.len() < PATTERN_SAMPLE {
            written.push(element);
        }
        if result.mismatches.len() < TABLE_ROWS {
            result.mismatches.push(Mismatch {
                buffer: output.name.to_owned(),
                index: output.index_of(element as u64),
                expected: want,
                got,
                never_written,
                undefined: false,
                writer: None,
                code: Some(code(of.view, of.got, of.expected, element)),
            });
        }
    }
    result.element_count += output.elements() as u64;
    result.mismatch_count += wrong.count;
    result.never_written += wrong.never_written;
    let all_wrong = result.mismatch_count - before;
    result.outputs.push(metric::report(rule, all_wrong as f64, all_wrong));
    if all_wrong > 0 {
        result.worst_error_ratio = metric::MAX_RATIO;
        if result.mismatch_count == wrong.count {
            result.region = wrong.region(&output.shape);
        }
        if wrong.never_written > 0 && !result.patterns.contains(&"never_written") {
            result.patterns.push("never_written");
        }
    }
    (written, wrong)
}

impl Exact<'_> {
    fn compare_part(&self, shape: &ResolvedBuffer, buffer: &Buffer, result: &mut Comparison) {
        let layout = &self.view.layout;
        let is = |name: Option<&String>| name == Some(&shape.name);
        let (want, is_scale) = if is(layout.scales.as_ref().map(|part| &part.name)) {
            (&self.want.scales, true)
        } else if is(layout.zero_points.as_ref().map(|part| &part.name)) {
            (&self.want.zero_points, false)
        } else {
            (&self.want.tensor_scale, false)
        };
        let (dtype, size) = (buffer.dtype, buffer.dtype.bytes());
        let value = |bytes: &[u8]| match &layout.scales {
            Some(part) if is_scale => part.kind.decode(bytes),
            _ => dtype.decode(bytes),
        };
        result.element_count += shape.elements;
        let known = known_of(self.unwritten, &shape.name);
        let is_missing = |index: usize, got: &[u8]| match (known, dtype.poison()) {
            (Some(known), _) => known.binary_search(&index).is_ok(),
            (None, [one]) => super::tensors::is_unwritten_byte(&buffer.bytes, index, *one),
            (None, poison) => got == poison,
        };
        let has_gaps = shape.role == Role::Out && known.is_some_and(|known| !known.is_empty());
        let pairs = buffer.bytes.chunks_exact(size).zip(want.chunks_exact(size));
        let is_wrong = |index: usize, got: &[u8], want: &[u8]| got != want || has_gaps && is_missing(index, got);
        for (index, (got, want)) in pairs.enumerate().filter(|(index, (got, want))| is_wrong(*index, got, want)) {
            let never_written = shape.role == Role::Out && is_missing(index, got);
            result.mismatch_count += 1;
            result.never_written += u64::from(never_written);
            if result.mismatches.len() < TABLE_ROWS {
                let raw = |bytes: &[u8]| bytes.iter().rev().fold(0, |code, byte| code << 8 | u32::from(*byte));
                result.mismatches.push(Mismatch {
                    buffer: shape.name.clone(),
                    index: shape.index_of(index as u64),
                    expected: value(want),
                    got: value(got),
                    never_written,
                    undefined: false,
                    writer: None,
                    code: (size <= 4).then(|| CodePair {
                        got: raw(got),
                        expected: Some(raw(want)),
                        bits: 8 * size as u32,
                        got_scale: None,
                        expected_scale: None,
                    }),
                });
            }
        }
    }
}
