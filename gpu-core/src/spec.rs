//! What a kernel takes, must produce and should cost: the exercise file, parsed and checked.
//! The format is documented for authors in CONTRIBUTING.md and `kernels/README.md`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values of the size variables of one case, for example `n = 1000`.
pub type Size = BTreeMap<String, i64>;

/// An integer expression over size variables: `+ - * / %`, parentheses, `ceil_div(a, b)`, `min`, `max`,
/// `round_up(a, b)`. Kept as text here, parsed and checked when the file is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expr(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    F64,
    F32,
    F16,
    Bf16,
    E4m3,
    E5m2,
    I64,
    I32,
    U32,
    I16,
    U16,
    I8,
    U8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    In,
    Out,
    InOut,
}

/// How an input is filled. Always from the case's fresh seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fill {
    Normal { mean: f64, std: f64 },
    Uniform { low: f64, high: f64 },
    Integers { low: i64, high: i64 },
    Constant { value: f64 },
    Index,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Param {
    Buffer { name: String, dtype: Dtype, shape: Vec<Expr>, role: Role, fill: Option<Fill> },
    Scalar { name: String, dtype: Dtype, value: String },
}

/// Launch shape in expressions of the size variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchShape {
    pub grid: Vec<Expr>,
    pub block: Vec<Expr>,
    pub cluster: Vec<Expr>,
    pub dynamic_shared_bytes: Expr,
    /// The learner may change grid and block by `// lockstep: block = 128` style directives in the source.
    pub learner_may_change: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    pub absolute: f64,
    pub relative: f64,
    /// Why this much error is right, shown to the learner.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    pub flops: Expr,
    /// Fewest bytes of global memory that any correct kernel moves.
    pub bytes: Expr,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Milestone {
    pub name: String,
    /// Share of this machine's measured ceiling.
    pub share_of_ceiling: Option<f64>,
    pub note: String,
}

/// A kernel that must be rejected, and for what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrong {
    /// Path relative to the exercise's folder.
    pub file: String,
    /// A fault kind in snake_case (`race`), or `wrong_output`, `never_written`, `input_changed`.
    pub fault: String,
    /// What the learner believed, for authors.
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub title: String,
    /// Kernel's name; declare it `extern "C"`.
    pub entry: String,
    pub params: Vec<Param>,
    pub launch: LaunchShape,
    /// Name of a float64 oracle, see `oracle/`; None for a free run.
    pub oracle: Option<String>,
    pub tolerance: Tolerance,
    /// Sizes that correctness is checked at, each with a fresh seed.
    pub check: Vec<Size>,
    /// Sizes that the emulator's checks run at; a subset of small sizes. Empty means `check`.
    pub emulator_check: Vec<Size>,
    pub bench: Vec<Size>,
    pub cost: Cost,
    pub milestones: Vec<Milestone>,
    /// Least architecture, for example `sm_90`; None means any.
    pub requires: Option<String>,
    pub wrong: Vec<Wrong>,
}
