//! What a GPU answered, small enough to keep: a digest of all results and some cases in full.
//!
//! One line a form, fields parted by tabs: name, digest, cases. A case is its number and, after `=`, the bits of its
//! results in hexadecimal, parted by commas; cases are parted by spaces. Operands are not kept, since a case always has
//! the same ones. Lines that begin with `#` say where the recording comes from.

use super::{Comparison, Probe};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Results of one probe on one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// FNV-1a over the bits of every result, 64 bits each, result register by result register.
    pub digest: u64,
    /// Case number and its results.
    pub cases: Vec<(usize, Vec<u64>)>,
}

/// Cases kept because the emulator differed, and cases kept anyway.
const DIFFERING: usize = 6;
const SPREAD: usize = 3;

/// FNV-1a over results as [`super::run`] gives them.
pub fn digest(results: &[Vec<u64>]) -> u64 {
    let words = results.iter().flatten();
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        word.to_le_bytes().iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    })
}

impl Recording {
    /// Records `results`; of the cases that differ from the emulator some are kept first.
    pub fn new(probe: &Probe, results: &[Vec<u64>], found: &Comparison) -> Recording {
        let mut kept: Vec<usize> = found.differences.iter().map(|difference| difference.case).take(DIFFERING).collect();
        let cases = probe.cases();
        // Among the edges, in the middle and near the end, where operands are arbitrary.
        kept.extend([cases / 64 + 3, cases / 2 + 5, cases - 7].iter().take(SPREAD).filter(|case| **case < cases));
        kept.sort_unstable();
        kept.dedup();
        let row = |case: usize| results.iter().map(|register| register[case]).collect();
        Recording { digest: digest(results), cases: kept.into_iter().map(|case| (case, row(case))).collect() }
    }

    /// The line of a form.
    pub fn line(&self, name: &str) -> String {
        let mut line = format!("{name}\t{:016x}\t", self.digest);
        for (index, (case, results)) in self.cases.iter().enumerate() {
            let results: Vec<String> = results.iter().map(|bits| format!("{bits:x}")).collect();
            let gap = if index > 0 { " " } else { "" };
            let _ = write!(line, "{gap}{case}={}", results.join(","));
        }
        line
    }

    /// Reads a file of such lines.
    ///
    /// # Errors
    /// The first line that is not of this form, by its number.
    pub fn read(text: &str) -> Result<Vec<(String, Recording)>, String> {
        let mut list = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let recording = parse(line).ok_or_else(|| format!("line {} is no recording: {line}", at + 1))?;
            list.push(recording);
        }
        Ok(list)
    }
}

fn parse(line: &str) -> Option<(String, Recording)> {
    let mut fields = line.split('\t');
    let (name, digest, cases) = (fields.next()?, fields.next()?, fields.next()?);
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let case = |text: &str| {
        let (case, results) = text.split_once('=')?;
        Some((case.parse().ok()?, results.split(',').map(hex).collect::<Option<Vec<u64>>>()?))
    };
    let cases = cases.split(' ').map(case).collect::<Option<Vec<_>>>()?;
    Some((name.to_owned(), Recording { digest: hex(digest)?, cases }))
}
