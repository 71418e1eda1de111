//! One mistake, one report: a missing barrier is met at every line that comes to the array, and by every copy that the compiler
//! made of a loop.

use ptx_emulator::{Fault, FaultKind};
use std::collections::BTreeSet;

/// Faults of one kind in one array as the first of them, with a count and with the lines of the others. Order is kept.
pub(super) fn fold(faults: Vec<Fault>) -> Vec<Fault> {
    let mut kept: Vec<(Fault, BTreeSet<u32>)> = Vec::new();
    for fault in faults {
        let same = |known: &Fault| match (array(known), array(&fault)) {
            (Some(one), Some(other)) => one == other && (known.kind == fault.kind || is_echo(known, &fault)),
            _ => false,
        };
        let foldable = matches!(
            fault.kind,
            FaultKind::Race | FaultKind::Uninitialised | FaultKind::MissingAsyncWait | FaultKind::StaleRead
        );
        match kept.iter_mut().find(|(known, _)| foldable && same(known)) {
            Some((known, lines)) => {
                if known.kind == fault.kind {
                    known.occurrences += fault.occurrences;
                }
                lines.extend(line(&fault).filter(|at| Some(*at) != line(known)));
            }
            None => kept.push((fault, BTreeSet::new())),
        }
    }
    let told = |(mut fault, lines): (Fault, BTreeSet<u32>)| {
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        match &lines[..] {
            [] => {}
            [one] => fault.message += &format!("; the same array at line {one} too"),
            [most @ .., last] => {
                fault.message += &format!("; the same array at lines {} and {last} too", most.join(", "))
            }
        }
        fault
    };
    kept.into_iter().map(told).collect()
}

/// What an asynchronous copy did not wait for is a race too.
fn is_echo(known: &Fault, fault: &Fault) -> bool {
    known.kind == FaultKind::MissingAsyncWait && fault.kind == FaultKind::Race
}

fn array(fault: &Fault) -> Option<(&str, Option<ptx_emulator::Space>)> {
    fault.allocation.as_ref().map(|allocation| (allocation.name.as_str(), fault.space))
}

fn line(fault: &Fault) -> Option<u32> {
    fault.source.as_ref().map(|source| source.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emulator::{AllocationRef, SourceLine, Space};

    fn fault(kind: FaultKind, array: &str, line: u32) -> Fault {
        Fault {
            kind,
            message: "m".to_owned(),
            kernel: String::new(),
            launch: None,
            source: Some(SourceLine { file: "kernel.cu".to_owned(), line, column: 1 }),
            inlined_at: None,
            instruction: String::new(),
            thread: None,
            space: Some(Space::Shared),
            access: None,
            address: None,
            access_bytes: 4,
            allocation: Some(AllocationRef { name: array.to_owned(), base: 0, bytes: 4, offset: 0 }),
            other: None,
            occurrences: 2,
        }
    }

    #[test]
    fn one_array_is_told_of_once_for_each_kind() {
        use FaultKind::{MissingAsyncWait, OutOfBounds, Race};
        let all = vec![
            fault(MissingAsyncWait, "s", 3),
            fault(Race, "s", 4),
            fault(Race, "t", 7),
            fault(Race, "t", 7),
            fault(Race, "t", 9),
            fault(Race, "t", 8),
            fault(OutOfBounds, "t", 1),
        ];
        let folded = fold(all);
        let told: Vec<_> = folded.iter().map(|fault| (fault.kind, fault.message.as_str(), fault.occurrences)).collect();
        let expected = [
            (MissingAsyncWait, "m; the same array at line 4 too", 2),
            (Race, "m; the same array at lines 8 and 9 too", 8),
            (OutOfBounds, "m", 2),
        ];
        assert_eq!(told, expected);
    }
}
