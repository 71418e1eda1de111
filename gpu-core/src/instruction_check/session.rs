//! A whole comparison of two devices: module by module, probe by probe.

use super::{Arch, Comparison, Match, Probe, Recording, batches, compare, load, run};
use crate::device::{Device, RunError};
use serde::{Deserialize, Serialize};

/// What came of one probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormOutcome {
    Compared(Comparison),
    /// The emulator does not take the instruction; says why.
    RefusedByEmulator(String),
    /// The other device does not take it; says why.
    NotOnGpu(String),
    /// The emulator reported a fault.
    EmulatorFault(String),
    /// The other device failed.
    GpuFault(String),
}

/// One line of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Position in [`super::probes`].
    pub index: usize,
    pub group: String,
    pub name: String,
    pub cases: usize,
    pub outcome: FormOutcome,
    /// What the other device gave, in brief; present when it gave anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recording>,
}

impl Row {
    pub fn new(index: usize, probe: &Probe, outcome: FormOutcome) -> Row {
        let (group, name) = (probe.group.to_owned(), probe.name.clone());
        Row { index, group, name, cases: probe.cases(), outcome, recording: None }
    }
}

impl FormOutcome {
    /// In one or two words.
    pub fn verdict(&self) -> &'static str {
        match self {
            FormOutcome::Compared(found) => match found.verdict {
                Match::Equal => "equal",
                Match::NanBits => "NaN bits differ",
                Match::WithinBounds => "within bounds",
                Match::Different => "DIFFERENT",
            },
            FormOutcome::RefusedByEmulator(_) => "EMULATOR REFUSES",
            FormOutcome::NotOnGpu(_) => "not on this GPU",
            FormOutcome::EmulatorFault(_) => "EMULATOR FAULTS",
            FormOutcome::GpuFault(_) => "GPU FAULTS",
        }
    }

    /// Whether the emulator does what the hardware does, as far as the hardware says.
    pub fn passes(&self) -> bool {
        match self {
            FormOutcome::Compared(found) => found.verdict != Match::Different,
            FormOutcome::NotOnGpu(_) => true,
            _ => false,
        }
    }
}

/// What [`check`] reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// This probe runs next: should the process die, it was this one.
    Begin(usize),
    Row(Row),
}

/// Compares the chosen probes, ascending, on two devices.
///
/// # Errors
/// When a device can do nothing more; everything up to there was reported.
pub fn check(
    (emulator, other): (&mut dyn Device, &mut dyn Device),
    arch: Arch,
    probes: &[Probe],
    chosen: &[usize],
    report: &mut dyn FnMut(Stage),
) -> Result<(), RunError> {
    for batch in batches(arch, probes, chosen) {
        let mut outcomes: Vec<Option<FormOutcome>> = vec![None; batch.members.len()];
        let place = |member: usize| batch.members.iter().position(|other| *other == member).unwrap_or(0);
        let (taken, refused) = load(emulator, arch, probes, &batch.members)?;
        for (member, why) in refused {
            outcomes[place(member)] = Some(FormOutcome::RefusedByEmulator(why));
        }
        if let Some(first) = taken.first() {
            report(Stage::Begin(*first));
        }
        let (taken_by_both, refused) = load(other, arch, probes, &taken)?;
        for (member, why) in refused {
            outcomes[place(member)] = Some(FormOutcome::NotOnGpu(why));
        }
        for (at, &member) in batch.members.iter().enumerate() {
            let probe = &probes[member];
            let mut lost = None;
            let mut recording = None;
            let outcome = match outcomes[at].take() {
                Some(outcome) => outcome,
                None if !taken_by_both.contains(&member) => continue,
                None => {
                    report(Stage::Begin(member));
                    match run(emulator, member, probe) {
                        Err(error) => FormOutcome::EmulatorFault(error.to_string()),
                        Ok(ours) => match run(other, member, probe) {
                            Ok(theirs) => {
                                let found = compare(probe, &ours, &theirs);
                                recording = Some(Recording::new(probe, &theirs, &found));
                                FormOutcome::Compared(found)
                            }
                            Err(error) => {
                                let outcome = FormOutcome::GpuFault(error.to_string());
                                lost = error.loses(other.info().kind).then_some(error);
                                outcome
                            }
                        },
                    }
                }
            };
            report(Stage::Row(Row { recording, ..Row::new(member, probe, outcome) }));
            if let Some(error) = lost {
                return Err(error);
            }
        }
    }
    Ok(())
}
