//! The course as the window and the terminal see it: its units, in weeks and on shelves, and what an exercise holds.

use crate::address::{self, UnknownUnit};
use crate::error::ContentErrors;
use crate::files::Files;
use crate::ladder::Ladder;
use crate::quiz::Quiz;
use crate::unit::{Term, Unit, UnitKind};
use gpu_core::spec::Spec;
use std::path::Path;

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

/// A kernel to write: the CUDA half of a unit.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// `main` for the day's own exercise, else the sub-folder's name (`matrix-add`).
    pub key: String,
    /// Folder from the course's root, for example `kernels/week1/day4-first-kernel`.
    pub folder: String,
    pub spec: Spec,
    /// `exercise.toml` as written.
    pub spec_text: String,
    /// What the learner starts from: compiles, and fails the check.
    pub scaffold: String,
    /// What benchmarks compare with: as fast as we can make it.
    pub reference: String,
    /// `solution.cu`, where the reference is not the plain answer: see [`Exercise::solution`].
    pub plain_solution: Option<String>,
    /// Kernels that must be rejected, each for its declared reason.
    pub wrongs: Vec<WrongKernel>,
    pub experiments: Vec<Experiment>,
    pub rungs: Vec<Rung>,
    pub hints: Hints,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongKernel {
    /// Relative to the exercise's folder, for example `wrong/out_of_bounds.cu`.
    pub file: String,
    pub source: String,
    /// What it must be rejected for (a fault kind, `wrong_output`, `never_written`, …).
    pub fault: String,
    pub why: String,
}

/// A macro that an experiment varies, defined with `-D NAME=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    pub name: String,
    pub values: Vec<i64>,
    pub default: i64,
    /// What turning it shows.
    pub label: String,
}

/// A kernel to play with: correct or instructive, with values to turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// File name without `.cu`.
    pub name: String,
    pub title: String,
    /// What running it answers.
    pub question: String,
    pub source: String,
    /// Whole-number macros of the source; [`Experiment::with`] turns them.
    pub knobs: Vec<Knob>,
    /// Its own spec where it takes other parameters than the exercise.
    pub spec: Option<Spec>,
    /// Its own files, relative to the exercise's folder.
    pub files: Vec<String>,
}

/// A Python step beside the kernel, never required to pass a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    /// File name, for example `04_triton_vector_add.py`.
    pub file: String,
    /// First line of the module's docstring.
    pub title: String,
    pub source: String,
    /// Distributions that it imports, from its inline script metadata (PEP 723).
    pub packages: Vec<String>,
}

/// Help for one exercise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// From a nudge to nearly the answer, shown one after the other on request.
    pub steps: Vec<String>,
    /// Shown when a check ends with this diagnosis.
    pub triggered: Vec<TriggeredHint>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggeredHint {
    /// A hint key as in `Verdict::hints`: `race`, `out_of_bounds`, `wrong_output`, …
    pub fault: String,
    /// From a nudge to nearly the answer.
    pub steps: Vec<String>,
}

impl Hints {
    /// The exercise's own hint for a diagnosis.
    pub fn own(&self, key: &str) -> Option<&TriggeredHint> {
        self.triggered.iter().find(|hint| hint.fault == key)
    }

    /// The hint for the first of a verdict's keys, which is what the learner was told: the exercise's own, else the
    /// common one. A hint for something else would lead away from it.
    pub fn for_keys<'a>(&'a self, keys: &[String]) -> Option<&'a TriggeredHint> {
        let first = keys.first()?;
        let near = match first.as_str() {
            "tail_missing" => self.own("never_written"),
            "step_budget" => self.own("time_budget"),
            "time_budget" => self.own("step_budget"),
            _ => None,
        };
        let own = self.own(first).or(near).or_else(|| crate::common_hints::find(first));
        own.or_else(|| keys.iter().find_map(|key| self.own(key)))
    }
}

impl Course {
    /// The course compiled into this program.
    ///
    /// # Panics
    /// Never in a released program: a test loads it, and what it loads is fixed at build time.
    pub fn embedded() -> Self {
        match crate::load::course(&Files::embedded()) {
            Ok(course) => course,
            Err(errors) => unreachable!("the embedded course is checked by tests: {errors}"),
        }
    }

    /// The course in a folder, or the embedded one with a folder's files over it; see [`Files::from_folder`].
    ///
    /// # Errors
    /// Everything that is wrong with the folder's files, each with path, line and what is expected.
    pub fn load(dir: &Path) -> Result<Self, ContentErrors> {
        let files = Files::from_folder(dir).map_err(ContentErrors)?;
        Self::from_files(&files)
    }

    /// The course that these files make.
    ///
    /// # Errors
    /// As [`Course::load`].
    pub fn from_files(files: &Files) -> Result<Self, ContentErrors> {
        crate::load::course(files)
    }

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

impl Exercise {
    /// The answer that a learner is shown: the scaffold with its marked places filled in.
    pub fn solution(&self) -> &str {
        self.plain_solution.as_deref().unwrap_or(&self.reference)
    }

    /// The file of [`Self::solution`].
    pub fn solution_file(&self) -> &'static str {
        if self.plain_solution.is_some() { "solution.cu" } else { "reference.cu" }
    }
}
