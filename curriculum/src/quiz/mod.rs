//! Questions of a day: what they are, how an answer is marked, what a prediction is compared with.

mod expression;
mod mark;
mod measure;
mod parse;

pub use expression::evaluate;
pub use mark::{Answer, Mark, left_out, mark, mark_prediction, parse_number};
pub use measure::{Evidence, Needs, QUANTITIES, Quantity, measure_quantity, quantity};
pub(crate) use parse::parse;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quiz {
    pub questions: Vec<Question>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Stable within the day; progress and review are kept under `day-id/question-id`.
    pub id: String,
    /// What it tests, for the review list: `row-major indexing`.
    pub concept: String,
    /// Markdown.
    pub prompt: String,
    /// Why the right answer is right; shown after any answer.
    pub why: String,
    pub kind: Kind,
}

impl Question {
    /// Whether only a GPU can tell the answer: a time is asked for.
    pub fn needs_gpu(&self) -> bool {
        let Kind::Predict { quantity: name, .. } = &self.kind else { return false };
        quantity(name).is_some_and(|quantity| quantity.needs == Needs::Gpu)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// One right choice.
    Single { choices: Vec<Choice> },
    /// Every right choice and no other.
    Multiple { choices: Vec<Choice> },
    /// A number.
    Numeric {
        answer: f64,
        /// Largest accepted absolute difference, in the unit.
        tolerance: f64,
        /// For example `bytes`; empty for a bare number.
        unit: String,
        /// Arithmetic that gives `answer`; the checks recompute it.
        expression: Option<String>,
        /// Wrong values that a known mistake leads to.
        traps: Vec<Trap<f64>>,
        /// What to say to any other wrong value.
        otherwise: String,
    },
    /// Click the cell (or cells) of a grid. Row and column count from 0.
    Cell {
        rows: u32,
        columns: u32,
        row_label: String,
        column_label: String,
        /// All of them are to be clicked.
        cells: Vec<(u32, u32)>,
        traps: Vec<Trap<(u32, u32)>>,
        otherwise: String,
    },
    /// Say a number first, then run a kernel of the day: the answer is what this machine measures.
    Predict {
        /// Name of a [`Quantity`].
        quantity: String,
        run: PredictRun,
        /// Accepted share of the measured value, 0.1 for ten percent.
        relative_tolerance: f64,
        /// Accepted difference in the quantity's unit, for counts near 0.
        tolerance: f64,
        /// What its author says the emulator counts; the checks count it. None for what only a GPU can tell.
        expected: Option<f64>,
        traps: Vec<Trap<f64>>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub text: String,
    pub right: bool,
    /// Why choosing it is right or wrong.
    pub why: String,
}

/// A wrong answer with the mistake behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap<T> {
    pub answer: T,
    pub why: String,
}

/// What a predict-then-run question runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictRun {
    /// Exercise key.
    pub exercise: String,
    pub kernel: PredictKernel,
    pub action: PredictAction,
    /// Name of the case or bench point that is read (`n = 1000`); None reads the largest.
    pub case: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PredictKernel {
    /// The text in the editor.
    Learner,
    /// The plain answer.
    Solution,
    /// What benchmarks compare with.
    Reference,
    /// An experiment by name, knobs at their defaults unless given.
    Experiment { name: String, knobs: Vec<(String, i64)> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredictAction {
    /// Judge on the emulator: counters are exact and the same on every machine.
    Check,
    /// Time on a GPU.
    Bench,
}

impl Quiz {
    pub fn question(&self, id: &str) -> Option<&Question> {
        self.questions.iter().find(|question| question.id == id)
    }
}

impl Kind {
    /// The word in `quiz.toml`.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Single { .. } => "single",
            Kind::Multiple { .. } => "multiple",
            Kind::Numeric { .. } => "numeric",
            Kind::Cell { .. } => "cell",
            Kind::Predict { .. } => "predict",
        }
    }
}
