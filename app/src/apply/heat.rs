//! Figures of the last run, line by line, as the editor's gutter shows them.

use crate::amounts::counted;
use crate::lab::KERNEL_NAME;
use crate::widgets::code_editor::{Heat, Trouble};
use gpu_core::bench::BenchReport;
use gpu_core::emulator::{Counters, LineCounters, SharedTraffic, Traffic};
use gpu_core::verdict::Verdict;

/// Bytes of a sector, the unit in which global memory is moved (Nsight Compute, "Memory Tables").
const SECTOR_BYTES: f64 = 32.0;

/// A line is pointed at when less than this share of what it moves is used.
const USED_LEAST: f64 = 0.5;

/// Of the largest case that was counted.
pub(super) fn of_verdict(verdict: &Verdict) -> Vec<Heat> {
    let mut cases = verdict.cases.iter().rev().filter(|case| !case.lines.is_empty());
    cases.find_map(|case| Some(lines(case.counters.as_ref()?, &case.lines))).unwrap_or_default()
}

/// Of the largest size that was counted.
pub(super) fn of_bench(report: &BenchReport) -> Vec<Heat> {
    let mut points = report.points.iter().rev().filter(|point| !point.lines.is_empty());
    points.find_map(|point| Some(lines(point.counters.as_ref()?, &point.lines))).unwrap_or_default()
}

pub(super) fn lines(whole: &Counters, lines: &[LineCounters]) -> Vec<Heat> {
    let own = lines.iter().filter(|line| line.source.file == KERNEL_NAME && line.source.line > 0);
    let mut found: Vec<Heat> = own.map(|line| heat(whole, line)).collect();
    found.sort_by_key(|heat| heat.line);
    found
}

fn heat(whole: &Counters, line: &LineCounters) -> Heat {
    let c = &line.counters;
    let share = c.warp_instructions as f64 / whole.warp_instructions.max(1) as f64;
    let mut facts = vec![format!("{:.1} % of the instructions", share * 100.0)];
    let mut trouble = None;
    for (name, traffic) in [
        ("load", &c.global_load),
        ("store", &c.global_store),
        ("atomic", &c.global_atomic),
        ("reduction", &c.global_reduction),
    ] {
        facts.extend(global(name, traffic));
        if wasteful(traffic) {
            trouble = Some(Trouble::Sectors);
        }
    }
    for (name, traffic) in [("load", &c.shared_load), ("store", &c.shared_store), ("atomic", &c.shared_atomic)] {
        facts.extend(shared(name, traffic));
        if traffic.bank_conflicts > 0 {
            trouble = trouble.or(Some(Trouble::Banks));
        }
    }
    let local = c.local_load.requests + c.local_store.requests;
    if local > 0 {
        facts.push(format!(
            "{} to local memory: spilled registers or an indexed local array",
            counted(local, "request")
        ));
        trouble = trouble.or(Some(Trouble::Local));
    }
    if c.divergent_branches > 0 {
        facts.push(format!("{} of {} branches diverged", c.divergent_branches, c.branches));
    }
    Heat { line: line.source.line, share: share as f32, trouble, text: facts.join("; ") }
}

fn global(name: &str, traffic: &Traffic) -> Option<String> {
    if traffic.requests == 0 {
        return None;
    }
    let each = traffic.sectors as f64 / traffic.requests as f64;
    let used = used(traffic) * 100.0;
    Some(format!("global {name}: {each:.2} sectors per request, {used:.0} % of them used"))
}

/// Share of the moved bytes that threads asked for; several threads may ask for the same ones.
fn used(traffic: &Traffic) -> f64 {
    (traffic.bytes as f64 / (traffic.sectors as f64 * SECTOR_BYTES).max(1.0)).min(1.0)
}

fn wasteful(traffic: &Traffic) -> bool {
    // One sector is the least that there is.
    traffic.sectors > traffic.requests && used(traffic) < USED_LEAST
}

fn shared(name: &str, traffic: &SharedTraffic) -> Option<String> {
    (traffic.requests > 0).then(|| {
        format!(
            "shared {name}: {} in {}",
            counted(traffic.bank_conflicts, "bank conflict"),
            counted(traffic.requests, "request")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::emulator::SourceLine;

    fn line(number: u32, counters: Counters) -> LineCounters {
        LineCounters { source: SourceLine { file: KERNEL_NAME.into(), line: number, column: 1 }, counters }
    }

    #[test]
    fn strided_loads_bank_conflicts_and_spills_are_pointed_at() {
        let whole = Counters { warp_instructions: 200, ..Counters::default() };
        let strided = Counters {
            warp_instructions: 50,
            global_load: Traffic { requests: 10, sectors: 320, bytes: 1280 },
            ..Counters::default()
        };
        let coalesced =
            Counters { global_load: Traffic { requests: 10, sectors: 40, bytes: 1280 }, ..Counters::default() };
        let banks = Counters {
            shared_load: SharedTraffic { requests: 4, wavefronts: 128, bank_conflicts: 124, bytes: 512 },
            ..Counters::default()
        };
        let spilled = Counters { local_load: Traffic { requests: 3, sectors: 12, bytes: 384 }, ..Counters::default() };
        let other =
            LineCounters { source: SourceLine { file: "lab.cuh".into(), line: 3, column: 1 }, counters: strided };
        let found = lines(&whole, &[line(9, spilled), line(7, banks), line(5, strided), line(6, coalesced), other]);
        let seen: Vec<_> = found.iter().map(|heat| (heat.line, heat.trouble)).collect();
        let wanted = [(5, Some(Trouble::Sectors)), (6, None), (7, Some(Trouble::Banks)), (9, Some(Trouble::Local))];
        assert_eq!(seen, wanted);
        assert!((found[0].share - 0.25).abs() < 1e-6);
        assert!(found[0].text.contains("32.00 sectors per request, 12 % of them used"), "{}", found[0].text);
        assert!(found[2].text.contains("124 bank conflicts in 4 requests"), "{}", found[2].text);
    }

    #[test]
    fn a_warp_that_reads_one_number_wastes_nothing() {
        // 4 bytes of one sector for all lanes: the least that there is.
        let traffic = Traffic { requests: 8, sectors: 8, bytes: 8 * 128 };
        assert!(!wasteful(&traffic));
        assert!(!wasteful(&Traffic { requests: 8, sectors: 8, bytes: 8 * 4 }));
    }
}
