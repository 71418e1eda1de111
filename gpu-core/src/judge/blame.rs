//! Who wrote a wrong element: the failed case once more on the emulator, with every write traced.

use super::inputs;
use crate::device::{Argument, Device, Launch, Report, RunError, Sequence};
use crate::spec::Resolved;
use crate::verdict::{Mismatch, Writer};
use ptx_emulator::{
    AccessKind, FaultKind, SourceLine, Space, StepAccess, StepCopy, ThreadId, Trace, TraceAllocation, TraceRequest,
    WarpTrace,
};
use std::sync::atomic::AtomicBool;

/// Blocks and bytes of trace up to which a case is run again: the small sizes, which are the ones to learn from.
const MAX_BLOCKS: u64 = 4096;
const MAX_TRACE_BYTES: usize = 64 << 20;

/// All writes of a case to its buffers, launch by launch.
pub(super) struct Writes {
    traces: Vec<Trace>,
}

impl Writes {
    /// Runs the case again. None where it is too large, or where it does not run to its end.
    ///
    /// # Errors
    /// As the device has it; a stop above all.
    pub fn of(
        device: &mut dyn Device,
        sequence: &Sequence<'_>,
        resolved: &Resolved,
        seed: u64,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, RunError> {
        let of = |launch: &Launch<'_>| launch.geometry.grid.iter().map(|extent| u64::from(*extent)).product::<u64>();
        if sequence.launches.iter().map(of).fold(0, u64::saturating_add) > MAX_BLOCKS {
            return Ok(None);
        }
        let mut sequence = sequence.clone();
        let max_bytes = MAX_TRACE_BYTES / sequence.launches.len().max(1);
        for launch in &mut sequence.launches {
            launch.watched.clear();
            launch.trace = Some(TraceRequest { blocks: (0..of(launch)).collect(), warps: Vec::new(), max_bytes });
        }
        let mut arguments: Vec<Argument> = inputs::arguments(resolved, seed);
        let report = device.run(&sequence, &mut arguments, stop)?;
        // The last writer counts, so a trace that was cut short proves nothing.
        let whole = report.completed && !report.traces.iter().any(|trace| trace.truncated);
        Ok(whole.then_some(Self { traces: report.traces }))
    }

    /// The last thread that wrote any of these bytes of a buffer.
    pub fn writer(&self, buffer: &str, first_byte: u64, bytes: u64) -> Option<Writer> {
        let mut last: Option<((usize, u64), Writer)> = None;
        self.each(buffer, |tick, start, end, writer| {
            if start < first_byte + bytes && first_byte < end && last.as_ref().is_none_or(|(then, _)| *then <= tick) {
                last = Some((tick, writer()));
            }
        });
        last.map(|(_, writer)| writer)
    }

    /// The write nearest to a byte that nobody wrote: its first byte, and who made it.
    pub fn nearest(&self, buffer: &str, byte: u64) -> Option<(u64, Writer)> {
        let mut best: Option<(u64, u64, Writer)> = None;
        self.each(buffer, |_, start, end, writer| {
            let distance = if byte < start { start - byte } else { (byte + 1).saturating_sub(end) };
            if best.as_ref().is_none_or(|(least, ..)| distance < *least) {
                best = Some((distance, if byte < start { start } else { end - 1 }, writer()));
            }
        });
        best.map(|(_, at, writer)| (at, writer))
    }

    /// Calls with the time (launch and tick), first and last byte (exclusive, from the buffer's start) and author of
    /// each lane's write.
    fn each(&self, buffer: &str, mut found: impl FnMut((usize, u64), u64, u64, &dyn Fn() -> Writer)) {
        for (number, trace) in self.traces.iter().enumerate() {
            each_of(trace, buffer, |tick, start, end, writer| found((number, tick), start, end, writer));
        }
    }
}

fn each_of(trace: &Trace, buffer: &str, mut found: impl FnMut(u64, u64, u64, &dyn Fn() -> Writer)) {
    let Some(index) = trace.allocations.iter().position(|a| a.name == buffer && a.space == Space::Global) else {
        return;
    };
    let allocation = &trace.allocations[index];
    for warp in &trace.warps {
        for step in &warp.steps {
            if let Some(copy) = step.copy.as_ref().filter(|copy| !copy.to_shared) {
                let source = || trace.instructions.get(step.instruction as usize)?.source.clone();
                let launch = || trace.launch.clone();
                let writer = || Writer { launch: launch(), thread: thread(trace, warp, copy.lane), source: source() };
                for (start, end) in stored(copy, allocation) {
                    found(step.tick, start, end, &writer);
                }
            }
            let Some(access) = step.access.as_ref().filter(|access| writes(access)) else { continue };
            let lanes = (0..32).filter(|lane| step.mask >> lane & 1 != 0);
            let groups = access.addresses.iter().chain(&access.further);
            for (lane, address) in lanes.cycle().zip(groups) {
                let Some(start) = address.checked_sub(allocation.base) else { continue };
                if start < allocation.bytes {
                    let source = || trace.instructions.get(step.instruction as usize)?.source.clone();
                    let launch = || trace.launch.clone();
                    let writer = || Writer { launch: launch(), thread: thread(trace, warp, lane), source: source() };
                    found(step.tick, start, start + u64::from(access.bytes), &writer);
                }
            }
        }
    }
}

/// First and last byte (exclusive, from the array's start) of each row that a bulk copy stores in an array.
fn stored(copy: &StepCopy, array: &TraceAllocation) -> Vec<(u64, u64)> {
    let inside = |(start, end): (i64, i64)| {
        let base = array.base as i64;
        let (start, end) = (start.wrapping_sub(base).max(0), end.wrapping_sub(base).min(array.bytes as i64));
        (start < end).then_some((start as u64, end as u64))
    };
    let Some(tensor) = &copy.tensor else {
        let of = |from: u64| (from as i64, from.saturating_add(copy.bytes) as i64);
        return copy.global.map(of).and_then(inside).into_iter().collect();
    };
    // Of each dimension the indices that are in the box and in the tensor: what is outside is not stored.
    let kept = |dimension: usize| {
        let start = tensor.start.get(dimension).copied().unwrap_or(0);
        let size = tensor.sizes.get(dimension).copied().unwrap_or(1) as i64;
        let extent = tensor.extents.get(dimension).copied().unwrap_or(1).into();
        start.max(0)..start.saturating_add(extent).min(size)
    };
    let bytes = |elements: i64| elements * i64::from(tensor.element_bits) / 8;
    let mut rows = vec![tensor.address as i64];
    for (dimension, stride) in tensor.strides_bytes.iter().enumerate() {
        let at = |row: i64| kept(dimension + 1).map(move |index| row.wrapping_add(index.wrapping_mul(*stride as i64)));
        rows = rows.into_iter().flat_map(at).collect();
    }
    let columns = kept(0);
    let span = |row: i64| inside((row.wrapping_add(bytes(columns.start)), row.wrapping_add(bytes(columns.end))));
    rows.into_iter().filter_map(span).collect()
}

fn writes(access: &StepAccess) -> bool {
    access.space == Space::Global && matches!(access.kind, AccessKind::Write | AccessKind::Atomic)
}

fn thread(trace: &Trace, warp: &WarpTrace, lane: u32) -> ThreadId {
    let linear = warp.warp * 32 + lane;
    let [x, y, _] = trace.block.map(|extent| extent.max(1));
    let thread = [linear % x, linear / x % y, linear / (x * y)];
    ThreadId { block: warp.block, thread, warp: warp.warp, lane }
}

/// Adds to each mismatch who wrote it.
pub(super) fn name_writers(writes: &Writes, case: &Resolved, mismatches: &mut [Mismatch]) {
    for mismatch in mismatches.iter_mut().filter(|mismatch| !mismatch.never_written) {
        let Some((buffer, byte, bytes)) = case.place_of(&mismatch.buffer, &mismatch.index) else { continue };
        mismatch.writer = writes.writer(buffer, byte, bytes);
    }
}

/// Of elements that hold no value those in which something was stored all the same; `known` keeps the others.
fn stored_without_value(
    writes: &Writes,
    case: &Resolved,
    known: &mut [(String, Vec<usize>)],
) -> Vec<(String, Vec<usize>)> {
    let mut found = Vec::new();
    for (name, elements) in known.iter_mut().filter(|(_, elements)| !elements.is_empty()) {
        let Some(size) = case.buffers().find(|shape| shape.name == *name).map(|shape| shape.dtype.bytes()) else {
            continue;
        };
        let mut stored = std::collections::BTreeSet::new();
        writes.each(name, |_, start, end, _| {
            stored.extend(start as usize / size..(end as usize).div_ceil(size));
        });
        let (undefined, never) = elements.iter().copied().partition(|element| stored.contains(element));
        *elements = never;
        found.push((name.clone(), undefined));
    }
    found.retain(|(_, elements): &(_, Vec<usize>)| !elements.is_empty());
    found
}

/// Elements in which a kernel stored something without a value, where a fault says that it did: they are taken out of those that
/// nobody wrote. Empty where it cannot be told.
pub(super) fn take_undefined(
    device: &mut dyn Device,
    sequence: &Sequence<'_>,
    case: &Resolved,
    seed: u64,
    run: &mut Report,
    stop: &AtomicBool,
) -> Result<Vec<(String, Vec<usize>)>, RunError> {
    let tells = |kind| matches!(kind, FaultKind::Uninitialised | FaultKind::MaskMisuse);
    let Some(known) =
        run.unwritten.as_mut().filter(|_| run.completed && run.faults.iter().any(|fault| tells(fault.kind)))
    else {
        return Ok(Vec::new());
    };
    if known.iter().all(|(_, elements)| elements.is_empty()) {
        return Ok(Vec::new());
    }
    let writes = Writes::of(device, sequence, case, seed, stop)?;
    Ok(writes.map(|writes| stored_without_value(&writes, case, known)).unwrap_or_default())
}

/// Marks the mismatches that are undefined, and says who stored them nothing of a value.
pub(super) fn mark_undefined(undefined: &[(String, Vec<usize>)], case: &Resolved, mismatches: &mut [Mismatch]) {
    for mismatch in mismatches {
        let Some((buffer, byte, _)) = case.place_of(&mismatch.buffer, &mismatch.index) else { continue };
        let Some(size) = case.buffers().find(|shape| shape.name == buffer).map(|shape| shape.dtype.bytes() as u64)
        else {
            continue;
        };
        let elements = undefined.iter().find(|(name, _)| name == buffer).map(|(_, elements)| elements);
        mismatch.undefined = elements.is_some_and(|elements| elements.binary_search(&((byte / size) as usize)).is_ok());
    }
}

/// What the writes say of a wrong element.
#[derive(Default)]
pub(super) struct Clue {
    pub text: Option<String>,
    pub names_a_thread: bool,
    /// What was stored had never been written.
    pub copies_nothing: bool,
}

/// `block (1,0,0), thread (0,0,0) wrote it at line 9`, with what was written nearest where nobody wrote it.
pub(super) fn clue(writes: &Writes, case: &Resolved, first: &Mismatch) -> Clue {
    let of_thread = |text: String| Clue { text: Some(text), names_a_thread: true, copies_nothing: false };
    if let Some(writer) = &first.writer {
        return of_thread(format!("{} wrote it{}", who(writer), line(writer.source.as_ref())));
    }
    let place = case.place_of(&first.buffer, &first.index).filter(|_| first.never_written);
    let Some((buffer, wanted, size)) = place else { return Clue::default() };
    let Some(shape) = case.buffers().find(|shape| shape.name == buffer) else { return Clue::default() };
    let Some((byte, writer)) = writes.nearest(buffer, wanted) else {
        return Clue { text: Some(format!("no thread wrote to `{buffer}` at all")), ..Clue::default() };
    };
    if byte / size == wanted / size {
        // Written after all, with what had never been written itself: copying such a value is no fault by itself.
        let place = line(writer.source.as_ref());
        let text = format!("{} stored a copy of something that nobody wrote{place}", who(&writer));
        return Clue { text: Some(text), names_a_thread: true, copies_nothing: true };
    }
    let index: String = shape.index_of(byte / shape.dtype.bytes() as u64).iter().map(|at| format!("[{at}]")).collect();
    let place = line(writer.source.as_ref());
    of_thread(format!("the nearest that was is {buffer}{index}, by {}{place}", who(&writer)))
}

/// Who changed an input first seen changed at this byte.
pub(super) fn changed_by(writes: &Writes, buffer: &str, first_byte: i64) -> Option<String> {
    let writer = writes.writer(buffer, u64::try_from(first_byte).ok()?, 1)?;
    Some(format!("{} wrote there{}", who(&writer), line(writer.source.as_ref())))
}

fn who(writer: &Writer) -> String {
    let triple = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    let of = writer.launch.as_ref().map_or_else(String::new, |launch| format!(" of {launch}"));
    format!("block {}, thread {}{of}", triple(writer.thread.block), triple(writer.thread.thread))
}

fn line(source: Option<&SourceLine>) -> String {
    source.map_or_else(String::new, |source| format!(" at line {}", source.line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emulator::TensorBox;

    #[test]
    fn a_copy_stores_the_rows_of_its_box_that_are_in_the_tensor() {
        let array = TraceAllocation { name: "y".into(), space: Space::Global, base: 1000, bytes: 160 };
        let plain = |from| StepCopy { bytes: 32, global: Some(from), ..StepCopy::default() };
        assert_eq!(stored(&plain(1016), &array), [(16, 48)]);
        assert_eq!(stored(&plain(1144), &array), [(144, 160)]);
        assert_eq!(stored(&plain(2000), &array), []);
        // Five rows of six floats, 32 bytes apart, and a box of four by two that reaches beyond the corner.
        let tensor = TensorBox {
            start: vec![4, 4],
            extents: vec![4, 2],
            sizes: vec![6, 5],
            address: 1000,
            strides_bytes: vec![32],
            element_bits: 32,
            ..TensorBox::default()
        };
        let copy = |start: [i64; 2]| StepCopy {
            tensor: Some(TensorBox { start: start.to_vec(), ..tensor.clone() }),
            ..StepCopy::default()
        };
        assert_eq!(stored(&copy([4, 4]), &array), [(144, 152)]);
        assert_eq!(stored(&copy([0, 1]), &array), [(32, 48), (64, 80)]);
    }
}
