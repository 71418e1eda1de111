//! Findings to sentences and hint keys: what a learner reads first.

use super::compare::Comparison;
use super::{metric, nonfinite};
use crate::device::{Corruption, CorruptionKind};
use crate::spec::{Resolved, ResolvedBuffer};
pub use crate::verdict::rank;
use crate::verdict::{CaseReport, FAULT_KEYS, Mismatch, fault_key};
use crate::words::grouped;
use ptx_emulator::{Counters, Fault, FaultKind};

/// Whether a kernel with such a fault could take a GPU's context, or the GPU's time, with it.
pub fn is_dangerous(kind: FaultKind) -> bool {
    match kind {
        FaultKind::OutOfBounds
        | FaultKind::Misaligned
        | FaultKind::UseAfterFree
        | FaultKind::StackOverflow
        | FaultKind::Trap
        | FaultKind::BarrierPhase
        | FaultKind::BarrierDivergence
        | FaultKind::Deadlock
        | FaultKind::StepBudget
        | FaultKind::TimeBudget => true,
        FaultKind::BadLaunch
        | FaultKind::MissingAsyncWait
        | FaultKind::MaskMisuse
        | FaultKind::UndefinedResult
        | FaultKind::Race
        | FaultKind::StaleRead
        | FaultKind::Uninitialised
        | FaultKind::Stopped => false,
    }
}

/// The sentence of a fault with its place: `... (kernel.cu:7)`, `... (lab.cuh:3, called from kernel.cu:7)`,
/// `... (kernel.cu:7, step "combine")`.
pub fn fault_sentence(fault: &Fault) -> String {
    let message = fault.message.trim_end_matches('.');
    let places: Vec<String> = fault.place().into_iter().chain(fault.launch.as_ref().map(ToString::to_string)).collect();
    match places.is_empty() {
        false => format!("{message} ({})", places.join(", ")),
        true => message.to_owned(),
    }
}

/// Why scratch memory of the learner's choice is refused.
pub fn workspace_sentence(buffer: &ResolvedBuffer) -> String {
    let most = buffer.max_bytes.unwrap_or(0);
    format!(
        "the scratch buffer `{}` takes {} bytes, and this exercise allows {}: {} of its {} elements are too many",
        buffer.name,
        grouped(buffer.bytes()),
        grouped(most),
        grouped(buffer.elements.saturating_sub(most / buffer.dtype.bytes() as u64)),
        grouped(buffer.elements)
    )
}

/// Index as in C: `c[256]`, `c[3][17]`.
fn element(mismatch: &Mismatch) -> String {
    let index: String = mismatch.index.iter().map(|i| format!("[{i}]")).collect();
    format!("{}{index}", mismatch.buffer)
}

/// One sentence about wrong outputs.
pub fn mismatch_sentence(comparison: &Comparison) -> Option<String> {
    let first = comparison.mismatches.first()?;
    let (count, all) = (comparison.mismatch_count, comparison.element_count);
    let share = format!(
        "{} of {} output element{} {} wrong{}",
        grouped(count),
        grouped(all),
        if all == 1 { "" } else { "s" },
        if count == 1 { "is" } else { "are" },
        comparison.region.as_ref().map(|region| format!(", all in {region}")).unwrap_or_default()
    );
    let what = if first.never_written && first.expected.is_nan() {
        format!("{} was never written", element(first))
    } else if first.never_written {
        format!("{} was never written (expected {})", element(first), number(first.expected))
    } else {
        let [got, expected] = metric::codes(first);
        format!("{} is {}{got}, expected {}{expected}", element(first), number(first.got), number(first.expected))
    };
    // The limit that is broken, where it is one of the output as a whole.
    let broken = comparison.outputs.iter().find(|output| !output.passed && output.of == first.buffer);
    let of_the_whole = broken.filter(|output| metric::is_of_the_whole(&output.metric)).map(|output| {
        format!("{} of {} is {}; ", metric::spoken(&output.metric), output.of, metric::against_limit(output))
    });
    let what = format!("{}{what}", of_the_whole.unwrap_or_default());
    let clue = match comparison.patterns.first() {
        Some(&"tail_missing") => "; everything before it is right, and everything from there on is missing",
        Some(&"transposed_output") => "; rows and columns are exchanged",
        Some(&"shifted_output") => "; the values are right, but one place off",
        Some(&"precision") if comparison.guess.is_none() => {
            "; every value is nearly right: look at the precision of what is multiplied, of the sums and of the result"
        }
        _ => "",
    };
    let author = comparison.clue.as_ref().map(|author| format!(": {author}")).unwrap_or_default();
    // Why comes before what follows from it.
    if let Some(words) = comparison.narrow.or(comparison.gaps.as_deref()) {
        return Some(format!("{words}. {what}{author}; {share}"));
    }
    let clue = match (&comparison.guess, comparison.right_corner) {
        (Some(guess), _) if clue.is_empty() => format!("; {}", guess.words),
        (None, Some([rows, columns])) if clue.is_empty() && first.index.len() == 2 && comparison.region.is_none() => {
            let span = |what: &str, count: usize| match count {
                1 => format!("{what} 0"),
                count => format!("{what}s 0 to {}", count - 1),
            };
            format!("; right are only {} of {}", span("row", rows), span("column", columns))
        }
        _ => clue.to_owned(),
    };
    Some(format!("{what}{author}; {share}{clue}"))
}

/// A number with as many digits as tell floats apart, in the shortest of the usual forms.
pub(super) fn number(value: f64) -> String {
    const DIGITS: i32 = 8;
    if value == 0.0 || !value.is_finite() || (value == value.trunc() && value.abs() < 1e15) {
        return format!("{value}");
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-4..DIGITS).contains(&exponent) {
        return format!("{value:.7e}");
    }
    let text = format!("{value:.*}", (DIGITS - 1 - exponent).max(0) as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// One sentence about memory that was changed and should not have been.
pub fn corruption_sentence(corruption: &Corruption, buffers: &[&ResolvedBuffer]) -> String {
    let name = &corruption.buffer;
    let buffer = buffers.iter().find(|buffer| buffer.name == *name);
    let size = buffer.map_or(1, |buffer| buffer.dtype.bytes() as i64);
    let element = corruption.first_byte.div_euclid(size);
    match corruption.kind {
        CorruptionKind::Input => format!(
            "input `{name}` was changed at {} element(s), first at {element}: a kernel must leave its inputs alone",
            grouped(corruption.changed_bytes / size as u64)
        ),
        CorruptionKind::Guard => {
            let place = if element < 0 { "before its start" } else { "past its end" };
            let elements = grouped(buffer.map_or(0, |buffer| buffer.elements));
            format!(
                "the kernel wrote {place}: element {element} of `{name}`, which has {elements} element(s); {} bytes of the guard zone changed",
                corruption.changed_bytes
            )
        }
    }
}

/// Why a case failed, in one sentence; empty when it passed. Faults lead, for they are causes.
pub fn reason(case: &CaseReport, comparison: &Comparison) -> String {
    let fault =
        case.faults.iter().min_by_key(|fault| rank(fault.kind)).filter(|fault| !is_of_narrow_index(fault, comparison));
    fault
        .map(fault_sentence)
        .or_else(|| case.corrupted.first().cloned())
        .or_else(|| wrong_sentence(comparison).map(|sentence| sentence + &origin(case)))
        .unwrap_or_default()
}

/// Where the first infinity or NaN came from, behind what is wrong.
fn origin(case: &CaseReport) -> String {
    let found = case.first_nonfinite.as_ref();
    found.map_or_else(String::new, |found| {
        format!("; it began with {}{}", nonfinite::of(&found.first), nonfinite::place(&found.first))
    })
}

/// Threads whose index went round write the elements of others: that is what follows, and not why.
fn is_of_narrow_index(fault: &Fault, comparison: &Comparison) -> bool {
    comparison.narrow.is_some() && fault.kind == FaultKind::Race
}

/// What is wrong with the outputs.
pub fn wrong_sentence(comparison: &Comparison) -> Option<String> {
    mismatch_sentence(comparison).or_else(|| comparison.violated.clone())
}

/// Hint keys of one case, most telling first.
pub fn hints(case: &CaseReport, corruptions: &[Corruption], comparison: &Comparison) -> Vec<&'static str> {
    let causes = case.faults.iter().filter(|fault| !is_of_narrow_index(fault, comparison));
    let mut kinds: Vec<FaultKind> = causes.map(|fault| fault.kind).collect();
    kinds.sort_by_key(|kind| rank(*kind));
    let mut keys: Vec<&'static str> = kinds.into_iter().map(fault_key).collect();
    keys.extend(corruptions.iter().map(|corruption| match corruption.kind {
        CorruptionKind::Guard => "out_of_bounds",
        CorruptionKind::Input => "input_changed",
    }));
    let guessed = comparison.guess.as_ref().and_then(|guess| guess.key);
    // Bits of a whole number are mostly no number as a float, and that says nothing.
    let patterns = comparison.patterns.iter().copied();
    keys.extend(patterns.filter(|pattern| guessed != Some("whole_number") || *pattern != "nan_output"));
    keys.extend(guessed);
    if comparison.mismatch_count > 0 || comparison.violated.is_some() {
        keys.push("wrong_output");
    }
    keys
}

/// Whether the right elements are those of the grid's first block: a tile of the size that the grid was made for.
pub fn is_first_block_only(resolved: &Resolved, shape: &[usize], right: [usize; 2]) -> bool {
    let [rows, columns] = match *shape {
        [columns] => [1, columns],
        [rows, columns] => [rows, columns],
        _ => return false,
    };
    // With several launches there is no one grid to compare with.
    let Some(launch) = resolved.only_launch() else { return false };
    let [block_x, block_y, _] = launch.geometry.block.map(|extent| extent as usize);
    let [grid_x, grid_y, _] = launch.geometry.grid.map(|extent| extent as usize);
    if grid_x * grid_y < 2 {
        return false;
    }
    let fits = |right: usize, all: usize, block: usize, grid: usize| {
        (right == all && grid == 1) || (right.is_multiple_of(block.max(1)) && all.div_ceil(right) == grid)
    };
    // A block to a row, as where each thread notes something of its own.
    let a_row_each = right == [1, columns] && block_x == columns && grid_x == rows && grid_y == 1;
    a_row_each || (fits(right[1], columns, block_x, grid_x) && fits(right[0], rows, block_y, grid_y))
}

/// Keys of several cases in the order in which a hint is looked for: what says more than "wrong" goes before it.
/// `whole` are the keys of each failed case; what speaks of the whole of a result must hold in all of them.
pub fn most_telling_first(keys: Vec<&'static str>, whole: &[&[&'static str]]) -> Vec<&'static str> {
    const OF_THE_WHOLE: [&str; 2] = ["nothing_written", "first_block_only"];
    let holds = |key: &&str| !OF_THE_WHOLE.contains(key) || whole.iter().all(|keys| keys.contains(key));
    let mut keys: Vec<&'static str> = keys.into_iter().filter(holds).collect();
    let rank = |key: &str| match key {
        _ if OF_THE_WHOLE.contains(&key) => 0,
        // Some elements may be missing for many reasons, and how the others are wrong says which.
        "never_written" => 2,
        "wrong_output" => 3,
        _ => 1,
    };
    // Faults are causes and keep their place at the front.
    let causes = keys.iter().take_while(|key| FAULT_KEYS.contains(key)).count();
    keys[causes..].sort_by_key(|key| rank(key));
    keys
}

/// Keys that say how a kernel uses the machine, from its counters. Only clear cases: a factor of two over what
/// the same bytes would cost at best, in a run large enough to mean something.
pub fn usage_hints(counters: &Counters) -> Vec<&'static str> {
    // A grid of a few blocks is mostly edges, and edges are never tidy.
    const LEAST_REQUESTS: u64 = 256;
    const SECTOR_BYTES: u64 = 32;
    let mut keys = Vec::new();
    let wasteful = [counters.global_load, counters.global_store]
        .into_iter()
        // One lane's few bytes are a sector, however they lie.
        .any(|t| t.requests >= LEAST_REQUESTS && t.sectors > 2 * t.requests.max(t.bytes / SECTOR_BYTES));
    // One thread at a time has no neighbours to share a sector with.
    let alone = counters.thread_instructions <= counters.warp_instructions;
    if wasteful && !alone {
        keys.push("uncoalesced");
    }
    let conflicts = [counters.shared_load, counters.shared_store]
        .into_iter()
        .any(|traffic| traffic.requests >= LEAST_REQUESTS && 2 * traffic.bank_conflicts > traffic.wavefronts);
    if conflicts {
        keys.push("bank_conflicts");
    }
    if counters.branches >= LEAST_REQUESTS && 4 * counters.divergent_branches > counters.branches {
        keys.push("divergence");
    }
    keys
}

/// The first sentence of a verdict that passed.
pub fn passed_sentence(cases: &[CaseReport], resolved: &[Resolved]) -> String {
    let outputs: u64 = resolved
        .iter()
        .flat_map(Resolved::buffers)
        .filter(|buffer| buffer.role.is_judged())
        .map(|buffer| buffer.elements)
        .sum();
    let checked = cases.iter().any(|case| case.counters.is_some());
    let worst = cases.iter().map(|case| case.worst_error_ratio).fold(0.0, f64::max);
    format!(
        "All {} cases pass: {} output elements agree with the float64 reference (largest error {:.0}% of the tolerance){}",
        cases.len(),
        grouped(outputs),
        worst * 100.0,
        if checked { ", and the emulator found no fault." } else { "." }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emulator::Traffic;

    #[test]
    fn usage_hints_need_a_clear_case() {
        let traffic = |requests, sectors, bytes| Traffic { requests, sectors, bytes };
        let mut counters = Counters {
            global_load: traffic(1000, 4000, 128_000),
            warp_instructions: 10_000,
            thread_instructions: 320_000,
            ..Counters::default()
        };
        assert!(usage_hints(&counters).is_empty(), "32 lanes of 4 bytes in 4 sectors");
        counters.global_load = traffic(1000, 32_000, 128_000);
        assert_eq!(usage_hints(&counters), ["uncoalesced"]);
        let alone = Counters { thread_instructions: 10_000, ..counters };
        assert!(usage_hints(&alone).is_empty(), "one thread");
        counters.global_load = traffic(10, 320, 1280);
        assert!(usage_hints(&counters).is_empty(), "too little to judge");
    }

    #[test]
    fn numbers_are_short_and_tell_floats_apart() {
        for (value, text) in [
            (0.0, "0"),
            (3.0, "3"),
            (-1.868_339_151, "-1.8683392"),
            (0.01, "0.01"),
            (1.5e-9, "1.5000000e-9"),
            (123_456.789, "123456.79"),
            (f64::NAN, "NaN"),
            (3.402_823_5e38, "3.4028235e38"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn corruption_names_the_element() {
        let corruption =
            Corruption { buffer: "c".to_owned(), kind: CorruptionKind::Guard, first_byte: -4, changed_bytes: 4 };
        assert!(corruption_sentence(&corruption, &[]).contains("before its start"));
    }
}
