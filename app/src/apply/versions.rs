//! Earlier texts and other listings: asking for them, and taking them in.

use super::run::source;
use crate::effect::Effect;
use crate::state::{Compiler, LabKey, Loadable, Purpose, State, ToastKind};
use crate::versions::{Against, Disassembler, Other, Version};
use curriculum::store::TextSlot;
use gpu_core::compile::CompileReport;
use gpu_core::job::{Emit, Event, Job, Source};

impl State {
    /// Asks for the text of a run, if it is not known.
    pub(super) fn read_version(&mut self, against: Against, effects: &mut Vec<Effect>) {
        let Version::Unread(number) = self.version(against) else { return };
        let Some(desk) = self.desk_mut() else { return };
        if let Some(run) = desk.runs.get(number as usize - 1)
            && desk.versions.reading.as_ref() != Some(&run.source)
        {
            desk.versions.reading = Some(run.source.clone());
            effects.push(Effect::ReadRun { slot: desk.slot.clone(), run: Box::new(run.clone()) });
        }
    }

    pub(super) fn run_was_read(&mut self, slot: &TextSlot, sum: String, text: Option<String>) {
        if let Some(desk) = self.desks.get_mut(slot) {
            desk.versions.reading.take_if(|reading| *reading == sum);
            desk.versions.texts.insert(sum, text);
        }
    }

    /// Asks for what the listing that is looked at lacks.
    pub(super) fn fetch_listing(&mut self, effects: &mut Vec<Effect>) {
        if !matches!(self.compiler, Compiler::Found { .. }) || !self.listing_lacks() {
            return;
        }
        let sass = self.looks_at_sass();
        let wanted = self.other_wanted();
        let slot = self.desk.clone();
        let options = self.spec().map(|spec| spec.options.clone()).unwrap_or_default();
        let Some(desk) = self.desk_mut() else { return };
        let versions = &mut desk.versions;
        let Some(listed) = &versions.listed else { return };
        let arch = listed.arch.clone();
        let mut submit = |text: &str, arch: String, other: bool| {
            let source = Source { options: options.clone(), ..source(text) };
            let job = Job::Compile { source, arch, emit: Emit { sass } };
            let purpose = Purpose::Listing { other };
            effects.push(Effect::Submit { lab: LabKey::Here, job: Box::new(job), purpose, slot: slot.clone() });
        };
        if sass && listed.sass.is_none() && versions.sass_asked != versions.generation {
            versions.sass_asked = versions.generation;
            submit(desk.editor.text(), arch.clone(), false);
        }
        let Some(wanted) = wanted.filter(|wanted| versions.other_asked.as_ref() != Some(wanted)) else { return };
        let other = wanted.other.clone();
        match &other {
            Other::Arch(arch) => {
                versions.other_asked = Some(wanted);
                versions.other.begin();
                submit(desk.editor.text(), arch.clone(), true);
            }
            Other::Run(number) => {
                let Some(run) = desk.runs.get((*number as usize).saturating_sub(1)) else {
                    versions.other_asked = Some(wanted);
                    versions.other.fail("There is no such run");
                    return;
                };
                match versions.texts.get(&run.source) {
                    Some(Some(text)) => {
                        versions.other_asked = Some(wanted);
                        versions.other.begin();
                        let text = text.clone();
                        submit(&text, arch, true);
                    }
                    Some(None) => {
                        versions.other_asked = Some(wanted);
                        versions.other.fail("The text of this run is no longer in the data folder");
                    }
                    // Asked for again when it was read.
                    None => self.read_version(Against::Run(*number), effects),
                }
            }
        }
    }

    /// An event of a listing's compilation. `other` says of which side.
    pub(super) fn listing_event(&mut self, slot: &TextSlot, other: bool, event: Event) {
        let Some(versions) = self.desks.get_mut(slot).map(|desk| &mut desk.versions) else { return };
        match event {
            Event::Compiled(report) if other => take_other(&mut versions.other, *report),
            Event::Compiled(report) => {
                let sass = report.sass;
                // Of the text as it was when this was asked for, which may have changed since.
                if let Some(listed) = versions.listed.as_mut().filter(|listed| listed.ptx == report.ptx) {
                    versions.no_disassembler = sass.is_none();
                    listed.sass = sass;
                    versions.generation += 1;
                    versions.sass_asked = versions.generation;
                    if let Some(asked) = &mut versions.other_asked {
                        asked.generation = versions.generation;
                    }
                }
            }
            Event::Finished(outcome) => {
                if other {
                    versions.other_job = None;
                    match outcome.why() {
                        None => versions.other.end(),
                        Some(why) => versions.other.fail(why.to_owned()),
                    }
                } else {
                    versions.sass_job = None;
                }
            }
            _ => {}
        }
    }

    pub(super) fn install_disassembler(&mut self, effects: &mut Vec<Effect>) {
        if self.disassembler != Disassembler::Fetching {
            self.disassembler = Disassembler::Fetching;
            effects.push(Effect::InstallDisassembler);
        }
    }

    pub(super) fn disassembler_came(&mut self, came: Result<(), String>, effects: &mut Vec<Effect>) {
        match came {
            Ok(()) => {
                self.disassembler = Disassembler::Unasked;
                self.toast(ToastKind::Good, "nvdisasm is ready");
                // The lab looks for its tools when it starts.
                effects.push(Effect::RestartLab);
                for desk in self.desks.values_mut() {
                    desk.versions.sass_asked = 0;
                    desk.versions.other_asked = None;
                    desk.versions.no_disassembler = false;
                }
            }
            Err(why) => self.disassembler = Disassembler::Failed(why),
        }
    }
}

fn take_other(slot: &mut Loadable<CompileReport>, report: CompileReport) {
    if report.succeeded {
        *slot = Loadable::Ready(CompileReport { cubin: Vec::new(), ..report });
    } else {
        let first = report.first_error().map_or("", |diagnostic| diagnostic.message.as_str());
        let line = report.first_error().map_or(0, |diagnostic| diagnostic.line);
        slot.fail(format!("does not compile for {}: line {line}: {first}", report.arch));
    }
}
