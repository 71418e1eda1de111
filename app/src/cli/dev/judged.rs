//! What this very program has judged already, kept in the data folder: a course whose kernels did not change is checked
//! in seconds. Another build, another compiler or another spec is another key.

use crate::cli::Places;
use crate::cli::engine::Answer;
use gpu_core::compile::{CompileReport, locate};
use gpu_core::emulator::FaultKind;
use gpu_core::entries::Entries;
use gpu_core::job::{Event, Job, Outcome};
use gpu_core::verdict::CaseReport;
use sha2::{Digest as _, Sha256};
use std::time::{Duration, SystemTime};

/// Answers that nobody asked for in this time go.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);

pub struct Judged {
    entries: Entries,
    /// Program and compiler. None: nothing is looked up, or kept.
    makers: Option<Vec<u8>>,
    again: bool,
}

impl Judged {
    pub fn new(places: &Places, again: bool) -> Self {
        let entries = Entries::new(places.data_dir().join("cache").join("judged"));
        entries.sweep_older(KEPT);
        Judged { entries, makers: makers(places), again }
    }

    /// A name for a job and all that its answer depends on.
    pub fn key(&self, job: &Job) -> String {
        let mut hash = Sha256::new();
        hash.update(self.makers.as_deref().unwrap_or_default());
        hash.update(postcard::to_stdvec(job).unwrap_or_default());
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The answer to a job, where it is known.
    pub fn find(&self, key: &str) -> Option<Answer> {
        if self.again || self.makers.is_none() {
            return None;
        }
        let events: Vec<Event> = self.entries.read(key)?;
        let mut answer = Answer::none();
        // The last one ends a job.
        events.into_iter().any(|event| answer.take(event)).then_some(answer)
    }

    /// Keeps an answer that would be the same again; what a limit of time or a crash ended is none. A failure to write
    /// only costs time later.
    pub fn keep(&self, key: &str, events: Vec<Event>, outcome: &Outcome) {
        if self.makers.is_none()
            || !matches!(outcome, Outcome::Done | Outcome::CompileErrors(_) | Outcome::BadRequest(_))
            || events.iter().any(is_cut_off)
        {
            return;
        }
        let events: Vec<Event> = events
            .into_iter()
            .filter(|event| !matches!(event, Event::Progress { .. } | Event::Case(_)))
            .map(|event| match event {
                // What it was compiled to is large, and no check looks at it.
                Event::Compiled(report) => {
                    Event::Compiled(Box::new(CompileReport { ptx: String::new(), cubin: Vec::new(), ..*report }))
                }
                other => other,
            })
            .collect();
        let _ = self.entries.write(key, &events);
    }
}

/// Whether a limit of time ended what is told: on a machine with less to do it might have ended otherwise.
fn is_cut_off(event: &Event) -> bool {
    let is_cut = |case: &CaseReport| {
        case.faults.iter().any(|fault| matches!(fault.kind, FaultKind::TimeBudget | FaultKind::Stopped))
    };
    match event {
        Event::Verdict(verdict) => verdict.cases.iter().any(is_cut),
        Event::Ran(report) => is_cut(&report.case),
        _ => false,
    }
}

/// This program and its compiler, by path, size and time.
fn makers(places: &Places) -> Option<Vec<u8>> {
    let program = std::env::current_exe().ok()?;
    let compiler = locate::locate(places.settings().nvrtc.as_deref(), &places.data_dir()).ok()?.nvrtc;
    let mut bytes = Vec::new();
    for path in [program, compiler] {
        let metadata = std::fs::metadata(&path).ok()?;
        let changed = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        bytes.extend(path.as_os_str().as_encoded_bytes());
        bytes.extend(metadata.len().to_le_bytes());
        bytes.extend(changed.as_nanos().to_le_bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::emulator::Fault;
    use gpu_core::verdict::RunReport;

    fn ran(kind: FaultKind) -> Event {
        let fault = Fault {
            kind,
            message: String::new(),
            kernel: String::new(),
            launch: None,
            source: None,
            inlined_at: None,
            instruction: String::new(),
            thread: None,
            space: None,
            access: None,
            address: None,
            access_bytes: 0,
            allocation: None,
            other: None,
            occurrences: 1,
        };
        let case = CaseReport { faults: vec![fault], ..CaseReport::default() };
        Event::Ran(Box::new(RunReport { case, ..RunReport::default() }))
    }

    #[test]
    fn only_what_would_be_the_same_again_is_kept() {
        assert!(is_cut_off(&ran(FaultKind::TimeBudget)) && is_cut_off(&ran(FaultKind::Stopped)));
        assert!(!is_cut_off(&ran(FaultKind::StepBudget)), "as many steps take as long everywhere");
        assert!(!is_cut_off(&ran(FaultKind::Race)));
        let folder = tempfile::tempdir().expect("a scratch folder");
        let judged = Judged { entries: Entries::new(folder.path().to_owned()), makers: Some(vec![1]), again: false };
        judged.keep("cut", vec![ran(FaultKind::TimeBudget), Event::Finished(Outcome::Done)], &Outcome::Done);
        judged.keep("whole", vec![ran(FaultKind::Race), Event::Finished(Outcome::Done)], &Outcome::Done);
        assert!(judged.find("cut").is_none() && judged.find("whole").is_some());
    }
}
