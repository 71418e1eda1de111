//! `runs.jsonl`: every judged or timed run of an exercise, oldest first, one line each.

use gpu_core::bench::{BenchReport, Stats};
use gpu_core::emulator::Counters;
use gpu_core::verdict::Verdict;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    Check,
    Bench,
}

/// One run, as far as the timing plot and the list of runs need it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub when_unix_s: u64,
    pub kind: RunKind,
    /// `emulator` or the GPU's name; a remote's name in front where it was one.
    pub device: String,
    pub passed: bool,
    /// The verdict's or report's sentence.
    pub summary: String,
    /// Hint keys of a failed check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Timed or counted sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<RunPoint>,
    /// [`source_sum`] of the kernel's text; the text itself is kept beside the runs.
    pub source: String,
    /// Version of the app that judged.
    pub version: String,
}

/// A timed (GPU) or counted (emulator) size of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPoint {
    /// For example `n = 1048576`.
    pub name: String,
    /// None on the emulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<Stats>,
    /// Emulator only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// 0 to 1 and a little more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_of_ceiling: Option<f64>,
    pub bytes: f64,
    pub flops: f64,
}

/// First 16 hexadecimal digits of the SHA-256 of a kernel's text.
pub fn source_sum(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

impl RunRecord {
    /// A check. `device` as the learner knows it.
    pub fn check(device: &str, verdict: &Verdict, source: &str, when_unix_s: u64) -> Self {
        Self {
            when_unix_s,
            kind: RunKind::Check,
            device: device.to_owned(),
            passed: verdict.passed,
            summary: verdict.summary.clone(),
            hints: verdict.hints.clone(),
            // The largest case that was counted, so that a check on the emulator is a point of the plot too.
            points: verdict
                .cases
                .iter()
                .rev()
                .find(|case| case.counters.is_some())
                .map(|case| RunPoint {
                    name: case.name.clone(),
                    stats: None,
                    counters: case.counters,
                    share_of_ceiling: None,
                    bytes: 0.0,
                    flops: 0.0,
                })
                .into_iter()
                .collect(),
            source: source_sum(source),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// A benchmark; rejected points are left out, they are no results.
    pub fn bench(report: &BenchReport, source: &str) -> Self {
        let points = report.points.iter().filter(|point| point.rejected.is_none());
        Self {
            when_unix_s: report.when_unix_s,
            kind: RunKind::Bench,
            device: report.device.clone(),
            passed: report.passed_check,
            summary: report.summary.clone(),
            hints: Vec::new(),
            points: points
                .filter(|point| point.stats.is_some() || point.counters.is_some())
                .map(|point| RunPoint {
                    name: point.name.clone(),
                    stats: point.stats,
                    counters: point.counters,
                    share_of_ceiling: point.share_of_ceiling,
                    bytes: point.bytes,
                    flops: point.flops,
                })
                .collect(),
            source: source_sum(source),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Reads the lines that make sense; the number of those that do not (torn by a crash, or of a newer version) is
/// returned, and they stay in the file.
pub(crate) fn parse(text: &str) -> (Vec<RunRecord>, usize) {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let (mut runs, mut unread) = (Vec::new(), 0);
    for line in lines {
        match serde_json::from_str(line) {
            Ok(run) => runs.push(run),
            Err(_) => unread += 1,
        }
    }
    (runs, unread)
}
