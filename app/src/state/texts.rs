//! Which texts and listings stand beside the open one.

use super::{Desk, State};
use crate::versions::{Against, ListingKind, OtherKey, Version};

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
            Some(None) => Version::None("The text of this run is no longer in the data folder."),
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
