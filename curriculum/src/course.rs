//! The course as the window and the terminal see it: its units, in weeks and on shelves. [`crate::load`] reads it.

use crate::address::{self, UnknownUnit};
use crate::ladder::Ladder;
use crate::quiz::Quiz;
use crate::unit::{Term, Unit, UnitKind};

/// The whole course, read once and then only looked at.
#[derive(Clone, Debug, Default)]
pub struct Course {
    pub title: String,
    /// Language of the words as an IETF tag, for example `en`.
    pub language: String,
    pub weeks: Vec<Week>,
    /// Larger experiments, by `order`.
    pub labs: Vec<Unit>,
    /// Practice problems, by family and then by difficulty.
    pub problems: Vec<Unit>,
    /// Reference pages, by `order`.
    pub pages: Vec<Unit>,
    /// One problem each, from the plainest kernel to the fastest.
    pub ladders: Vec<Ladder>,
    /// The ready check's questions, `curriculum/ready/quiz.toml`; none where a course has no such file.
    pub ready: Quiz,
}

#[derive(Clone, Debug)]
pub struct Week {
    pub number: u32,
    pub title: String,
    /// The week's driving project, one sentence.
    pub project: String,
    pub days: Vec<Unit>,
}

/// Units under one heading.
#[derive(Clone, Debug)]
pub struct Shelf<'c> {
    /// `Week 2`, `Labs`, `Practice: reductions`, `Reference`.
    pub title: String,
    /// A week's own title; empty for the others.
    pub name: &'c str,
    /// One sentence on what is there.
    pub about: &'c str,
    pub units: Vec<&'c Unit>,
}

/// What practice problems are about: the folders that `practice/` may have, in order.
pub const FAMILIES: [&str; 9] = [
    "elementwise",
    "reductions",
    "selection",
    "stencils",
    "sparse",
    "linear-algebra",
    "transformer",
    "quantized",
    "simulation",
];

impl Course {
    pub fn days(&self) -> impl Iterator<Item = &Unit> {
        self.weeks.iter().flat_map(|week| &week.days)
    }

    /// Everything that can be opened: days, labs, problems, pages.
    pub fn units(&self) -> impl Iterator<Item = &Unit> {
        self.days().chain(&self.labs).chain(&self.problems).chain(&self.pages)
    }

    pub(crate) fn units_mut(&mut self) -> impl Iterator<Item = &mut Unit> {
        let days = self.weeks.iter_mut().flat_map(|week| &mut week.days);
        days.chain(&mut self.labs).chain(&mut self.problems).chain(&mut self.pages)
    }

    /// The units under the headings that every list of them has, in order; headings with nothing below are left out.
    pub fn shelves(&self) -> Vec<Shelf<'_>> {
        let mut shelves = Vec::new();
        for week in &self.weeks {
            let title = format!("Week {}", week.number);
            shelves.push(Shelf { title, name: &week.title, about: &week.project, units: week.days.iter().collect() });
        }
        let mut push = |title: String, about, units: Vec<_>| shelves.push(Shelf { title, name: "", about, units });
        push("Labs".to_owned(), "Larger experiments around one question", self.labs.iter().collect());
        for family in FAMILIES {
            let of_it = |unit: &&Unit| matches!(&unit.kind, UnitKind::Problem { family: own, .. } if own == family);
            let about = "Problems to solve on your own, with no lesson before them";
            push(
                format!("Practice: {}", family.replace('-', " ")),
                about,
                self.problems.iter().filter(of_it).collect(),
            );
        }
        push("Reference".to_owned(), "Pages to look things up in", self.pages.iter().collect());
        shelves.retain(|shelf| !shelf.units.is_empty());
        shelves
    }

    /// The unit meant by an address or an id; a day also by `week1/day4` or `1.4`, any other also by its last part.
    ///
    /// # Errors
    /// No such unit; carries the nearest addresses.
    pub fn unit(&self, asked: &str) -> Result<&Unit, UnknownUnit> {
        if let Some(unit) = self.units().find(|unit| address::matches(asked, unit)) {
            return Ok(unit);
        }
        let wanted = asked.trim().trim_matches('/').to_ascii_lowercase();
        // By its last part, where that means one.
        let mut named = self.units().filter(|unit| unit.slug() == wanted);
        if let (Some(unit), None) = (named.next(), named.next()) {
            return Ok(unit);
        }
        let mut scored: Vec<(usize, &Unit)> = self
            .units()
            .map(|unit| {
                let short = unit.day().map_or_else(String::new, |(week, day)| format!("week{week}/day{day}"));
                let score = [&unit.address, short.as_str(), &unit.id].map(|name| address::distance(&wanted, name));
                (score.into_iter().min().unwrap_or(usize::MAX), unit)
            })
            .collect();
        scored.sort_by_key(|(score, _)| *score);
        // A clear winner stands alone; far-off names are no help.
        let best = scored.first().map_or(0, |(score, _)| *score);
        let limit = (wanted.chars().count() / 2).max(2).min(2 * best + 1);
        let nearest = scored.iter().take_while(|(s, _)| *s <= limit).take(3).map(|(_, d)| d.address.clone()).collect();
        Err(UnknownUnit { asked: asked.to_owned(), nearest })
    }

    /// The unit kept under this stable id, wherever it is in the course now.
    pub fn unit_by_id(&self, id: &str) -> Option<&Unit> {
        self.units().find(|unit| unit.id == id)
    }

    /// All glossary entries with the unit that introduces them, by term.
    pub fn glossary(&self) -> Vec<(&Term, &Unit)> {
        let mut terms: Vec<_> = self.units().flat_map(|unit| unit.glossary.iter().map(move |t| (t, unit))).collect();
        terms.sort_by_key(|(term, _)| term.term.to_lowercase());
        terms
    }
}
