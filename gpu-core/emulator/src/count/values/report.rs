//! What is told of a value that is no finite number. Plain data, as the rest of the report.

use serde::{Deserialize, Serialize};

use crate::report::{LaunchName, SourceLine, ThreadId};

/// How a value that is no finite number came into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NonfiniteKind {
    /// An instruction made an infinity of finite operands, or NaN of operands that are none.
    Computed,
    /// The kernel's text holds it, such as `-INFINITY` to begin a maximum with.
    Constant,
    /// It was there before: in an input, in an argument, or where nobody followed it.
    Given,
}

/// One place where an infinity or NaN came into being, for the first thread that met it there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nonfinite {
    pub kind: NonfiniteKind,
    /// The result: an infinity or NaN.
    pub value: f64,
    /// What was computed, with its operands' values: `3e38 * 2`, `exp2(1610.1)`. The array's element for one that was loaded.
    pub expression: String,
    /// The operands of the instruction, in its order.
    pub operands: Vec<f64>,
    /// Values of the same line that alone decide the result, the nearest first: what a function that the compiler wrote out was
    /// called with is among them.
    pub arguments: Vec<Argument>,
    /// The PTX instruction's text.
    pub instruction: String,
    pub source: Option<SourceLine>,
    /// Where the function that `source` is in was called, when the compiler inlined it.
    pub inlined_at: Option<SourceLine>,
    /// None of a launch by itself.
    pub launch: Option<LaunchName>,
    pub thread: ThreadId,
    /// How often this instruction made one, over all threads.
    pub occurrences: u64,
}

/// A value that a result was made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    pub value: f64,
    /// It was multiplied by the base-2 logarithm of e, as every exponential begins.
    pub by_log2_e: bool,
}
