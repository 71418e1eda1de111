//! A unit of the course: a day, a lab, a practice problem or a reference page, with its words.

use crate::answer::AnswerExercise;
use crate::exercise::{Exercise, Experiment};
use crate::quiz::Quiz;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Written,
    /// Visible in the course and not yet written; says what it will hold.
    Planned {
        summary: String,
    },
}

/// What a unit is, and what only its kind has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// `curriculum/week1/day4-first-kernel`
    Day { week: u32, number: u32 },
    /// `curriculum/labs/reduction`: a larger experiment, in parts.
    Lab {
        /// Time for who does only the exercises.
        quick_minutes: Option<u32>,
    },
    /// `curriculum/practice/reductions/argmax`: one exercise with no lesson before it.
    Problem {
        /// One of [`crate::FAMILIES`].
        family: String,
        /// 1 to 3.
        difficulty: u32,
        concepts: Vec<String>,
    },
    /// `curriculum/reference/architectures`: to look things up in.
    Page { tags: Vec<String> },
}

impl UnitKind {
    /// In the middle of a sentence.
    pub fn word(&self) -> &'static str {
        match self {
            UnitKind::Day { .. } => "day",
            UnitKind::Lab { .. } => "lab",
            UnitKind::Problem { .. } => "problem",
            UnitKind::Page { .. } => "page",
        }
    }

    /// The file with title and summary, and the one with the words, in the unit's folder under `curriculum/`.
    pub fn files(&self) -> (&'static str, &'static str) {
        match self {
            UnitKind::Day { .. } => ("day.toml", "lesson.md"),
            UnitKind::Lab { .. } => ("lab.toml", "lesson.md"),
            UnitKind::Problem { .. } => ("problem.toml", "problem.md"),
            UnitKind::Page { .. } => ("page.toml", "page.md"),
        }
    }
}

/// Something to open: a day, a lab, a practice problem or a reference page. All have words, most have exercises.
#[derive(Clone, Debug)]
pub struct Unit {
    pub kind: UnitKind,
    /// Folder below `curriculum/` and `kernels/`, for example `week1/day4-first-kernel`.
    pub address: String,
    /// Stable name that progress and texts are kept under, also a folder's: a day's slug, or `id` of `day.toml` where
    /// that was changed, so that moving a day to another number or week keeps it; of other units the address with
    /// hyphens (`labs-reduction`).
    pub id: String,
    pub title: String,
    /// One line for the course tree and `lockstep list`.
    pub summary: String,
    pub status: Status,
    /// Estimated time for all of it.
    pub minutes: u32,
    /// What the learner can do afterwards.
    pub objectives: Vec<String>,
    /// Addresses of units that it builds on, as written (`week1/day4`): see [`crate::map`].
    pub after: Vec<String>,
    /// Empty sections while the unit is planned.
    pub lesson: Lesson,
    pub quiz: Quiz,
    pub reflection: Vec<Reflection>,
    pub links: Vec<Link>,
    pub math: Vec<MathEntry>,
    pub glossary: Vec<Term>,
    /// The first is the unit's main exercise; the others build on it.
    pub exercises: Vec<Exercise>,
    /// Questions about kernels whose source is shut, by key.
    pub answers: Vec<AnswerExercise>,
    /// Ids of the visualizations that the lesson shows, in order of appearance.
    pub visualizations: Vec<String>,
}

/// Where in a unit a learner is: one of the five steps of a day, or a part of anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    Challenge,
    Explore,
    Concept,
    CodeIt,
    Verify,
    /// The section with this index, of a unit whose author chose the headings.
    Part(u8),
}

impl Step {
    /// A day's, in order.
    pub const ALL: [Step; 5] = [Step::Challenge, Step::Explore, Step::Concept, Step::CodeIt, Step::Verify];

    pub fn title(self) -> &'static str {
        match self {
            Step::Challenge => "Challenge",
            Step::Explore => "Explore",
            Step::Concept => "Concept",
            Step::CodeIt => "Code It",
            Step::Verify => "Verify",
            Step::Part(_) => "Part",
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
            // A section of its own name, see `Section::id`.
            Step::Part(_) => "part",
        }
    }
}

/// A unit's words; a day has a section for each of [`Step::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    pub sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub step: Step,
    /// Stable name for progress and links: [`Step::id`], or the heading in lower-case words and hyphens.
    pub id: String,
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
    /// A drawing of the unit, with what it shows.
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
    /// A button that opens an experiment of the unit.
    Experiment {
        name: String,
    },
    /// A button that opens an exercise of the unit by key.
    Exercise {
        key: String,
    },
    /// A button that opens an answer exercise of the unit by key.
    Answer {
        key: String,
    },
    /// A button that measures this machine with one of Lockstep's own programs, by name.
    Measure {
        name: String,
    },
    /// A table to fill in.
    Fill(crate::fill::FillTable),
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

/// One line of the math summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MathEntry {
    pub name: String,
    /// LaTeX without dollar signs.
    pub formula: String,
    pub meaning: String,
}

/// A glossary entry, listed with the unit that introduces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub term: String,
    pub meaning: String,
}

impl Unit {
    pub fn is_written(&self) -> bool {
        self.status == Status::Written
    }

    /// The main exercise.
    pub fn exercise(&self) -> Option<&Exercise> {
        self.exercises.first()
    }

    /// Keys of all that is to be passed.
    pub fn exercise_keys(&self) -> impl Iterator<Item = &str> {
        let exercises = self.exercises.iter().map(|exercise| exercise.key.as_str());
        exercises.chain(self.answers.iter().map(|answer| answer.key.as_str()))
    }

    /// An exercise by key (`main`, `matrix-add`).
    pub fn exercise_by_key(&self, key: &str) -> Option<&Exercise> {
        self.exercises.iter().find(|exercise| exercise.key == key)
    }

    /// An answer exercise by key.
    pub fn answer(&self, key: &str) -> Option<&AnswerExercise> {
        self.answers.iter().find(|answer| answer.key == key)
    }

    /// An experiment of any of the unit's exercises, with that exercise.
    pub fn experiment(&self, name: &str) -> Option<(&Exercise, &Experiment)> {
        self.exercises.iter().find_map(|exercise| {
            exercise.experiments.iter().find(|experiment| experiment.name == name).map(|found| (exercise, found))
        })
    }

    /// Week and day, of a day.
    pub fn day(&self) -> Option<(u32, u32)> {
        match self.kind {
            UnitKind::Day { week, number } => Some((week, number)),
            _ => None,
        }
    }

    /// The last part of the address; of a day without its number.
    pub fn slug(&self) -> &str {
        let last = self.address.rsplit('/').next().unwrap_or_default();
        if self.day().is_some() { last.split_once('-').map_or(last, |(_, slug)| slug) } else { last }
    }

    /// Where it is in the course, for people: `Week 1 Day 4`, `Lab`, `Practice`, `Reference`.
    pub fn place(&self) -> String {
        match &self.kind {
            UnitKind::Day { week, number } => format!("Week {week} Day {number}"),
            UnitKind::Lab { .. } => "Lab".to_owned(),
            UnitKind::Problem { .. } => "Practice".to_owned(),
            UnitKind::Page { .. } => "Reference".to_owned(),
        }
    }

    /// What it is, as a heading.
    pub fn place_word(&self) -> &'static str {
        match &self.kind {
            UnitKind::Day { .. } => "Day",
            UnitKind::Lab { .. } => "Lab",
            UnitKind::Problem { .. } => "Problem",
            UnitKind::Page { .. } => "Page",
        }
    }

    /// Folder of the words from the course's root.
    pub fn folder(&self) -> String {
        format!("curriculum/{}", self.address)
    }

    /// The steps or parts, in order; never empty.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = Step> {
        self.lesson.sections.iter().map(|section| section.step)
    }

    pub fn first_step(&self) -> Step {
        self.steps().next().unwrap_or(Step::Part(0))
    }

    /// The one with the quiz and what belongs to the end.
    pub fn last_step(&self) -> Step {
        self.steps().next_back().unwrap_or(Step::Part(0))
    }

    pub fn step_after(&self, step: Step) -> Option<Step> {
        self.steps().skip_while(|other| *other != step).nth(1)
    }

    /// The one with formulas and glossary.
    pub fn notes_step(&self) -> Step {
        if self.day().is_some() { Step::Concept } else { self.last_step() }
    }

    /// The one in which an exercise is worked on: a day's Code It, else the part that shows it.
    pub fn step_of_exercise(&self, key: &str) -> Step {
        if self.day().is_some() {
            return Step::CodeIt;
        }
        let shows = |section: &&Section| section.exercise_keys().any(|other| other == key);
        self.lesson.sections.iter().find(shows).map_or_else(|| self.first_step(), |section| section.step)
    }

    /// The step or part with this id.
    pub fn step_by_id(&self, id: &str) -> Option<Step> {
        self.lesson.sections.iter().find(|section| section.id == id).map(|section| section.step)
    }

    /// What a link, or the file of progress, calls a step.
    pub fn step_id(&self, step: Step) -> &str {
        self.lesson.section(step).map_or(step.id(), |section| &section.id)
    }

    /// A step's heading.
    pub fn step_title(&self, step: Step) -> &str {
        self.lesson.section(step).map_or(step.title(), |section| &section.title)
    }
}

impl Section {
    pub(crate) fn new(step: Step, id: &str, title: &str) -> Self {
        Self { step, id: id.to_owned(), title: title.to_owned(), markdown: String::new(), blocks: Vec::new() }
    }

    /// Keys of the exercises and answer exercises that it shows.
    pub fn exercise_keys(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Exercise { key } | Block::Answer { key } => Some(key.as_str()),
            _ => None,
        })
    }
}

impl Lesson {
    /// A day's lesson with no words.
    pub fn empty_day() -> Self {
        Self { sections: Step::ALL.map(|step| Section::new(step, step.id(), step.title())).to_vec() }
    }

    pub fn section(&self, step: Step) -> Option<&Section> {
        self.sections.iter().find(|section| section.step == step)
    }
}
