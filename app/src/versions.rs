//! Texts and listings that stand beside the open one: earlier runs, the scaffold, the solution; PTX and SASS of another
//! architecture. Plain data; [`crate::apply`] fills it.

use crate::state::{Desk, JobKey, Slot, State};
use gpu_core::compile::CompileReport;
use std::collections::BTreeMap;

/// What the open text is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Against {
    #[default]
    Scaffold,
    /// The newest run that passed.
    LastPassing,
    Reference,
    /// A run, counted from 1.
    Run(u32),
}

/// The text to compare with, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version<'a> {
    Text(&'a str),
    /// It must be read first: the run's number.
    Unread(u32),
    /// There is none; says why.
    None(&'static str),
    /// It would give the answer away.
    Locked,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ListingKind {
    #[default]
    Ptx,
    Sass,
}

impl ListingKind {
    pub fn title(self) -> &'static str {
        match self {
            ListingKind::Ptx => "PTX",
            ListingKind::Sass => "SASS",
        }
    }
}

/// What a listing is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Other {
    /// The same text for another architecture.
    Arch(String),
    /// The text of a run, counted from 1, for the same architecture.
    Run(u32),
}

impl Other {
    pub fn title(&self) -> String {
        match self {
            Other::Arch(arch) => arch.clone(),
            Other::Run(number) => format!("Run {number}"),
        }
    }
}

/// How the listing is shown; the same for every text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListingView {
    pub kind: ListingKind,
    /// Directives and comments too.
    pub everything: bool,
    pub other: Option<Other>,
}

/// What is under way on the way to nvdisasm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Disassembler {
    #[default]
    Unasked,
    Fetching,
    Failed(String),
}

/// A listing's question, so that it is asked once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherKey {
    pub other: Other,
    pub sass: bool,
    /// Of the listing beside it.
    pub generation: u64,
}

/// What belongs to one text.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    /// Texts of runs by their sum; None when the file is gone.
    pub texts: BTreeMap<String, Option<String>>,
    /// Sum of the text that is being read.
    pub reading: Option<String>,
    /// The last text that compiled.
    pub listed: Option<CompileReport>,
    /// Grows with each new listing.
    pub generation: u64,
    /// The listing whose SASS was asked for.
    pub sass_asked: u64,
    /// True when SASS was asked for and there is no disassembler.
    pub no_disassembler: bool,
    pub sass_job: Option<JobKey>,
    pub other: Slot<CompileReport>,
    pub other_asked: Option<OtherKey>,
    pub other_job: Option<JobKey>,
}

impl Versions {
    /// Takes a report that stands for a text; SASS of the same code is kept.
    pub fn list(&mut self, report: &CompileReport) {
        if !report.succeeded {
            return;
        }
        let sass = report.sass.clone().or_else(|| {
            let old = self.listed.as_ref().filter(|old| old.ptx == report.ptx && old.arch == report.arch)?;
            old.sass.clone()
        });
        // The machine code itself is of no use to the screen.
        self.listed = Some(CompileReport { sass, cubin: Vec::new(), ..report.clone() });
        self.generation += 1;
    }
}

impl Desk {
    /// The number (from 1) of the newest run that passed.
    pub fn last_passing(&self) -> Option<u32> {
        self.runs.iter().rposition(|run| run.passed).map(|index| index as u32 + 1)
    }

    fn run_text(&self, number: u32) -> Version<'_> {
        let Some(run) = (number as usize).checked_sub(1).and_then(|index| self.runs.get(index)) else {
            return Version::None("There is no such run.");
        };
        match self.versions.texts.get(&run.source) {
            Some(Some(text)) => Version::Text(text),
            Some(None) => Version::None("The text of this run is not in the data folder any more."),
            None => Version::Unread(number),
        }
    }
}

impl State {
    /// The text that the open one is compared with.
    pub fn version(&self, against: Against) -> Version<'_> {
        let Some(desk) = self.desk() else { return Version::None("No text is open.") };
        match against {
            Against::Scaffold => self.scaffold().map_or(Version::None("This text starts from nothing."), Version::Text),
            Against::LastPassing => match desk.last_passing() {
                Some(number) => desk.run_text(number),
                None => Version::None("No run has passed yet."),
            },
            Against::Reference if !self.solution_unlocked() => Version::Locked,
            Against::Reference => match self.exercise() {
                Some(exercise) => Version::Text(exercise.solution()),
                None => Version::None("There is no solution."),
            },
            Against::Run(number) => desk.run_text(number),
        }
    }

    /// What the other listing is wanted for, if it is wanted.
    pub fn other_wanted(&self) -> Option<OtherKey> {
        let other = self.view.listing.other.clone()?;
        let generation = self.desk()?.versions.generation;
        Some(OtherKey { other, sass: self.view.listing.kind == ListingKind::Sass, generation })
    }

    /// True when machine code is looked at, as a listing or in the picture of the compilation.
    pub fn looks_at_sass(&self) -> bool {
        let is_shown = self.view.visualization.as_deref() == Some("compile-pipeline");
        self.view.listing.kind == ListingKind::Sass || is_shown
    }

    /// True when the listing that is looked at needs something that nobody has asked for.
    pub fn listing_lacks(&self) -> bool {
        let Some(versions) = self.desk().map(|desk| &desk.versions) else { return false };
        let Some(listed) = &versions.listed else { return false };
        let sass = self.looks_at_sass();
        let own = sass && listed.sass.is_none() && versions.sass_asked != versions.generation;
        own || self.other_wanted().is_some_and(|wanted| versions.other_asked.as_ref() != Some(&wanted))
    }
}
