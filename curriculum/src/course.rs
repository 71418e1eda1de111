//! The course as the window and the terminal see it: weeks, days, and what one day holds.

use crate::address::{self, UnknownDay};
use crate::error::ContentErrors;
use crate::files::Files;
use crate::ladder::Ladder;
use crate::quiz::Quiz;
use gpu_core::spec::Spec;
use std::path::Path;

/// The whole course, read once and then only looked at.
#[derive(Clone, Debug)]
pub struct Course {
    pub title: String,
    /// Language of the words as an IETF tag, for example `en`.
    pub language: String,
    pub weeks: Vec<Week>,
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
    pub days: Vec<Day>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Written,
    /// Visible in the course and not yet written; says what it will hold.
    Planned {
        summary: String,
    },
}

#[derive(Clone, Debug)]
pub struct Day {
    /// Folder below `curriculum/` and `kernels/`, for example `week1/day4-first-kernel`.
    pub address: String,
    /// Stable name that progress is kept under: the folder's slug, or `id` of `day.toml` where the slug was changed.
    /// Moving a day to another number or week keeps it.
    pub id: String,
    pub week: u32,
    pub number: u32,
    pub title: String,
    /// One line for the course tree and `lockstep list`.
    pub summary: String,
    pub status: Status,
    /// Estimated time for the five steps.
    pub minutes: u32,
    /// What the learner can do afterwards.
    pub objectives: Vec<String>,
    /// Empty sections while the day is planned.
    pub lesson: Lesson,
    pub quiz: Quiz,
    pub reflection: Vec<Reflection>,
    pub links: Vec<Link>,
    pub math: Vec<MathEntry>,
    pub glossary: Vec<Term>,
    /// The first is the day's main exercise; the others build on it.
    pub exercises: Vec<Exercise>,
    /// Ids of the visualizations that the lesson shows, in order of appearance.
    pub visualizations: Vec<String>,
}

/// The five steps of a day, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    Challenge,
    Explore,
    Concept,
    CodeIt,
    Verify,
}

impl Step {
    pub const ALL: [Step; 5] = [Step::Challenge, Step::Explore, Step::Concept, Step::CodeIt, Step::Verify];

    pub fn title(self) -> &'static str {
        match self {
            Step::Challenge => "Challenge",
            Step::Explore => "Explore",
            Step::Concept => "Concept",
            Step::CodeIt => "Code It",
            Step::Verify => "Verify",
        }
    }

    /// Stable name for progress files and for headings of translated lessons (`## Entdecken {#explore}`).
    pub fn id(self) -> &'static str {
        match self {
            Step::Challenge => "challenge",
            Step::Explore => "explore",
            Step::Concept => "concept",
            Step::CodeIt => "code-it",
            Step::Verify => "verify",
        }
    }
}

/// A day's words, one section for each of [`Step::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    pub sections: [Section; 5],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub step: Step,
    /// As written in the heading; a translation has its own.
    pub title: String,
    /// The section as one Markdown text: code pieces included, interactive parts replaced by a line that names them.
    pub markdown: String,
    /// The same section in pieces, for a window that can show the interactive parts.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Markdown(String),
    /// A drawing of the day, with what it shows.
    Figure {
        /// Its name beside the lesson, `index.svg`.
        file: String,
        svg: String,
        caption: String,
    },
    /// A visualization by id, with the sentence that tells what to look for.
    Visualization {
        id: String,
        caption: String,
    },
    /// The rungs of a ladder, each to be opened as an experiment.
    Ladder {
        name: String,
    },
    /// A button that opens an experiment of the day.
    Experiment {
        name: String,
    },
    /// A button that opens an exercise of the day by key.
    Exercise {
        key: String,
    },
    /// A button that measures this machine with one of Lockstep's own programs, by name.
    Measure {
        name: String,
    },
}

/// A "what would happen if" question with something to compare one's own answer with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reflection {
    pub id: String,
    pub ask: String,
    /// Shown after the learner has written an answer or asks for it.
    pub think: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub title: String,
    pub url: String,
    /// Why it is worth reading.
    pub why: String,
}

/// One line of the week's math summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MathEntry {
    pub name: String,
    /// LaTeX without dollar signs.
    pub formula: String,
    pub meaning: String,
}

/// A glossary entry, listed with the day that introduces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub term: String,
    pub meaning: String,
}

/// A kernel to write: the CUDA half of a day.
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
        crate::load::course(&files)
    }

    pub fn days(&self) -> impl Iterator<Item = &Day> {
        self.weeks.iter().flat_map(|week| &week.days)
    }

    /// The day meant by `week1/day4`, `week1/day4-first-kernel`, `1.4` or `first-kernel`.
    ///
    /// # Errors
    /// No such day; carries the nearest addresses.
    pub fn day(&self, asked: &str) -> Result<&Day, UnknownDay> {
        if let Some(day) = self.days().find(|day| address::matches(asked, &day.address, day.week, day.number, &day.id))
        {
            return Ok(day);
        }
        let wanted = asked.trim().trim_matches('/').to_ascii_lowercase();
        let mut scored: Vec<(usize, &Day)> = self
            .days()
            .map(|day| {
                let short = format!("week{}/day{}", day.week, day.number);
                let score = [&day.address, &short, &day.id].map(|name| address::distance(&wanted, name));
                (score.into_iter().min().unwrap_or(usize::MAX), day)
            })
            .collect();
        scored.sort_by_key(|(score, _)| *score);
        // A clear winner stands alone; far-off names are no help.
        let best = scored.first().map_or(0, |(score, _)| *score);
        let limit = (wanted.chars().count() / 2).max(2).min(2 * best + 1);
        let nearest = scored.iter().take_while(|(s, _)| *s <= limit).take(3).map(|(_, d)| d.address.clone()).collect();
        Err(UnknownDay { asked: asked.to_owned(), nearest })
    }

    /// The day kept under this stable id, wherever it is in the course now.
    pub fn day_by_id(&self, id: &str) -> Option<&Day> {
        self.days().find(|day| day.id == id)
    }

    /// All glossary entries with the day that introduces them, by term.
    pub fn glossary(&self) -> Vec<(&Term, &Day)> {
        let mut terms: Vec<_> = self.days().flat_map(|day| day.glossary.iter().map(move |t| (t, day))).collect();
        terms.sort_by_key(|(term, _)| term.term.to_lowercase());
        terms
    }
}

impl Day {
    pub fn is_written(&self) -> bool {
        self.status == Status::Written
    }

    /// The main exercise.
    pub fn exercise(&self) -> Option<&Exercise> {
        self.exercises.first()
    }

    /// An exercise by key (`main`, `matrix-add`).
    pub fn exercise_by_key(&self, key: &str) -> Option<&Exercise> {
        self.exercises.iter().find(|exercise| exercise.key == key)
    }

    /// An experiment of any of the day's exercises, with that exercise.
    pub fn experiment(&self, name: &str) -> Option<(&Exercise, &Experiment)> {
        self.exercises.iter().find_map(|exercise| {
            exercise.experiments.iter().find(|experiment| experiment.name == name).map(|found| (exercise, found))
        })
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

impl Lesson {
    /// A lesson with no words, for a planned day.
    pub fn empty() -> Self {
        Self {
            sections: Step::ALL.map(|step| Section {
                step,
                title: step.title().to_owned(),
                markdown: String::new(),
                blocks: Vec::new(),
            }),
        }
    }

    pub fn section(&self, step: Step) -> &Section {
        &self.sections[step as usize]
    }
}
