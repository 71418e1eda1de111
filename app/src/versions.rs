//! Texts and listings that stand beside the open one: earlier runs, the scaffold, the solution; PTX and SASS of another
//! architecture. Plain data; [`crate::apply`] fills it.

use crate::lab::JobKey;
use crate::loadable::Loadable;
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
    pub other: Loadable<CompileReport>,
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
