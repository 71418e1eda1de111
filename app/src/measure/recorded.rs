//! Recorded runs, for machines without a GPU: what a program printed on a machine that is named, with driver and date.
//!
//! A recording is the file that `lockstep measure NAME --record FILE` writes: one line with the machine, then the
//! program's lines. An empty file is "no recording yet", and is shown as such.

use crate::scripts::Figure;
use serde::{Deserialize, Serialize};

/// Where and when a recording was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub machine: String,
    pub driver: String,
    /// ISO 8601.
    pub date: String,
}

#[derive(Serialize, Deserialize)]
struct Head {
    recorded: Origin,
}

/// What a program printed elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub origin: Origin,
    pub figures: Vec<Figure>,
}

impl Recording {
    /// `recorded on one NVIDIA H200, driver 580.65, 2026-11-21`
    pub fn words(&self) -> String {
        let Origin { machine, driver, date } = &self.origin;
        format!("recorded on one {machine}, driver {driver}, {date}")
    }
}

/// Files by the program that wrote them.
static RECORDINGS: [(&str, &str); 1] =
    [("library-matmul", include_str!("../../../assets/recorded/library-matmul-h200.jsonl"))];

/// The recording of a program; None where none was made yet.
pub fn recording(program: &str) -> Option<Recording> {
    let (_, text) = RECORDINGS.iter().find(|(name, _)| *name == program)?;
    parse(text)
}

fn parse(text: &str) -> Option<Recording> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let head: Head = serde_json::from_str(lines.next()?).ok()?;
    let figures = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
    Some(Recording { origin: head.recorded, figures })
}

/// The first line of a recording.
pub fn head_line(origin: Origin) -> String {
    serde_json::to_string(&Head { recorded: origin }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_read_back() {
        let origin = Origin { machine: "NVIDIA H200".into(), driver: "580".into(), date: "2026-11-21".into() };
        let figure = Figure { name: "n = 7".into(), rung: "x".into(), ok: true, ..Figure::default() };
        let text = format!("{}\n{}\n", head_line(origin.clone()), serde_json::to_string(&figure).unwrap());
        assert_eq!(parse(&text), Some(Recording { origin, figures: vec![figure] }));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn the_files_are_empty_or_whole() {
        for (name, text) in RECORDINGS {
            let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
            let read = parse(text).map_or(0, |recording| recording.figures.len() + 1);
            assert_eq!(lines, read, "{name}: a line cannot be read");
            assert!(parse(text).is_none_or(|recording| !recording.origin.date.is_empty()), "{name}");
        }
    }
}
