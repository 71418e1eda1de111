//! What a kernel takes, must produce and should cost: the exercise file, parsed and checked.
//! The format is documented for authors in `kernels/README.md`.
//!
//! These types cross process boundaries in a format that does not describe itself, so none of them uses an
//! internally tagged serde form; the file format is read by hand, with line numbers.

mod directives;
mod expr;
mod fill;
pub(crate) mod macros;
mod output;
#[cfg(test)]
mod output_tests;
mod read;
mod read_extras;
mod read_outputs;
mod resolve;
mod step;
mod tensor_map;
pub mod toml_reader;
mod view;

pub use crate::formats::Dtype;
pub use directives::{Directive, launch_directives};
pub use expr::{ExprError, Parsed};
pub use fill::{ResolvedFill, TieFormat};
pub use output::{METRICS, Metric, OutputRule};
pub(crate) use resolve::struct_layout;
pub use resolve::{
    Geometry, Resolved, ResolvedBuffer, ResolvedLaunch, ResolvedParam, ResolvedScalar, index_of, size_name,
};
pub use step::{Given, Step, given_text};
pub use tensor_map::{MapSpec, ResolvedMap, TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES};
pub use toml_reader::{SpecError, SpecProblem};
pub use view::{ResolvedView, Tensor, View};

use crate::bench::{Needs, OF_RIVAL, quantity, rival_of};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values of the size variables of one case, for example `n = 1000`.
pub type Size = BTreeMap<String, i64>;

/// An integer expression over size variables: `+ - * / % <<`, parentheses, `ceil_div(a, b)`, `min`, `max`,
/// `round_up(a, b)`, `sqrt`. Kept as text here, parsed and checked when the file is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expr(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    In,
    Out,
    InOut,
    /// An output that holds zeros before the run, for kernels that add into it.
    Zeroed,
    /// Memory that the kernel may use as it likes, zeros before the run; nobody judges it.
    Scratch,
}

impl Role {
    /// Whether an oracle computes from it.
    pub fn is_given(self) -> bool {
        matches!(self, Role::In | Role::InOut)
    }

    /// Whether an oracle says what it must hold after the run.
    pub fn is_judged(self) -> bool {
        matches!(self, Role::Out | Role::InOut | Role::Zeroed)
    }
}

/// How an input is filled. Always from the case's fresh seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fill {
    Normal {
        mean: f64,
        std: f64,
    },
    /// In `[low, high)`.
    Uniform {
        low: f64,
        high: f64,
    },
    /// Whole numbers from `low` to `high`, both included; expressions of the size variables.
    Integers {
        low: Expr,
        high: Expr,
    },
    Constant {
        value: f64,
    },
    /// The element's own row-major index.
    Index,
    /// Normal, with some columns `factor` times as large as the rest.
    Outliers {
        std: f64,
        channels: Expr,
        factor: f64,
    },
    /// Each row the numbers from 0 on in a random order.
    Permutation,
    /// A page table: numbers below `pages`, none twice.
    Pages {
        pages: Expr,
    },
    /// Whole numbers of which the first is the greatest and the last the least.
    Lengths {
        low: Expr,
        high: Expr,
    },
    /// Ascending from 0 to `total`, as the offsets of ragged rows.
    PrefixSums {
        total: Expr,
    },
    /// 1 with this probability, else 0.
    Mask {
        density: f64,
    },
    /// A single 1 in each row.
    OneHot,
    /// Student's t: heavy tails.
    StudentT {
        df: f64,
        scale: f64,
    },
    /// Half way between two numbers of a format.
    Ties {
        format: TieFormat,
    },
    /// Infinities, NaN and zeros among other numbers, in these shares; infinities and zeros of both signs.
    Special {
        is_normal: bool,
        inf: f64,
        nan: f64,
        zero: f64,
    },
    /// Numbers of a file in the exercise's folder, repeated as needed.
    File {
        path: String,
        /// See [`Spec::attach_files`].
        values: Vec<f64>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Param {
    /// A pointer to device memory. `fill` is None for pure outputs, which are poisoned instead. Scratch memory with
    /// `max_bytes` has a size that the learner may choose, up to that.
    Buffer { name: String, dtype: Dtype, shape: Vec<Expr>, role: Role, fill: Option<Fill>, max_bytes: Option<Expr> },
    /// A value; an integer expression for integer types, evaluated in floating point for the others. It may use `turn`
    /// where steps are repeated.
    Scalar { name: String, dtype: Dtype, value: String },
    /// A `const __grid_constant__ CUtensorMap` over one of the buffers.
    TensorMap { name: String, map: MapSpec },
    /// A struct by value: its members in order, each a type and an expression, laid out as C++ lays them out.
    Struct { name: String, fields: Vec<(Dtype, String)> },
}

impl Param {
    pub fn name(&self) -> &str {
        match self {
            Param::Buffer { name, .. }
            | Param::Scalar { name, .. }
            | Param::TensorMap { name, .. }
            | Param::Struct { name, .. } => name,
        }
    }
}

/// Launch shape in expressions of the size variables. `grid` may also use `block_x`, `block_y` and `block_z`;
/// `dynamic_shared_bytes` those and `grid_x`, `grid_y`, `grid_z`; all of a step with `repeat` the number of the `turn`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchShape {
    pub grid: Vec<Expr>,
    pub block: Vec<Expr>,
    pub cluster: Vec<Expr>,
    pub dynamic_shared_bytes: Expr,
    /// All blocks are on the device at once, so that they may wait for each other.
    pub cooperative: bool,
    /// The learner may change grid and block by `// lockstep: block = 128` style directives in the source.
    pub learner_may_change: bool,
}

/// An output passes when `|got - expected| <= absolute + relative * magnitude`. The magnitude is the sum of the
/// absolute values of the terms that the oracle added up (for element-wise work simply `|expected|`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    pub absolute: f64,
    pub relative: f64,
    /// Why this much error is right, shown to the learner.
    pub reason: String,
}

/// Which measured ceiling a kernel is held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CeilingKind {
    /// Whichever takes longer at the ceiling: moving the bytes or doing the operations.
    #[default]
    Auto,
    /// Device-to-device copy bandwidth.
    Memory,
    /// FP32 multiply-add rate of the ordinary cores.
    Fp32,
    /// What one of them does of that: for a kernel of one thread.
    OneLane,
    MmaF16,
    MmaBf16,
    MmaE4m3,
    /// With a scale for each 32 elements, or in four bits with one for each 16: Blackwell's smaller chips.
    MmaMxfp8,
    MmaNvfp4,
    WgmmaBf16,
    WgmmaE4m3,
    /// `bytes` over the bandwidth of shared memory, or of L2.
    Shared,
    L2,
    /// Special functions.
    Sfu,
}

impl CeilingKind {
    /// All of them with their names in exercise files.
    pub const ALL: [(&'static str, CeilingKind); 14] = [
        ("auto", CeilingKind::Auto),
        ("memory", CeilingKind::Memory),
        ("fp32", CeilingKind::Fp32),
        ("one_lane", CeilingKind::OneLane),
        ("mma_f16", CeilingKind::MmaF16),
        ("mma_bf16", CeilingKind::MmaBf16),
        ("mma_e4m3", CeilingKind::MmaE4m3),
        ("mma_mxfp8", CeilingKind::MmaMxfp8),
        ("mma_nvfp4", CeilingKind::MmaNvfp4),
        ("wgmma_bf16", CeilingKind::WgmmaBf16),
        ("wgmma_e4m3", CeilingKind::WgmmaE4m3),
        ("shared", CeilingKind::Shared),
        ("l2", CeilingKind::L2),
        ("sfu", CeilingKind::Sfu),
    ];

    /// The key of the measured figure, and what it is called in a sentence; None for those that every machine has.
    pub fn figure(self) -> Option<(&'static str, &'static str)> {
        match self {
            CeilingKind::Auto | CeilingKind::Memory | CeilingKind::Fp32 | CeilingKind::OneLane => None,
            CeilingKind::MmaF16 => Some(("mma_f16", "FP16 mma.sync")),
            CeilingKind::MmaBf16 => Some(("mma_bf16", "BF16 mma.sync")),
            CeilingKind::MmaE4m3 => Some(("mma_e4m3", "FP8 mma.sync")),
            CeilingKind::MmaMxfp8 => Some(("mma_mxfp8", "MXFP8 mma.sync")),
            CeilingKind::MmaNvfp4 => Some(("mma_nvfp4", "NVFP4 mma.sync")),
            CeilingKind::WgmmaBf16 => Some(("wgmma_bf16", "BF16 wgmma")),
            CeilingKind::WgmmaE4m3 => Some(("wgmma_e4m3", "FP8 wgmma")),
            CeilingKind::Shared => Some(("shared_bandwidth", "shared memory")),
            CeilingKind::L2 => Some(("l2_read_bandwidth", "L2")),
            CeilingKind::Sfu => Some(("sfu", "special functions")),
        }
    }
}

/// What a kernel has to do, in expressions of the size variables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Floating-point operations.
    pub flops: Expr,
    /// Fewest bytes of global memory that any correct kernel moves.
    pub bytes: Expr,
    pub ceiling: CeilingKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Milestone {
    pub name: String,
    /// Share of this machine's measured ceiling, 0 to 1.
    pub share_of_ceiling: Option<f64>,
    /// Absolute figures, where the course gives one: 10^9 operations, or bytes, per second.
    pub gflops: Option<f64>,
    pub gbytes_per_s: Option<f64>,
    /// Bounds of quantities: one of [`crate::bench::QUANTITIES`] and a number; shares from 0 to 1.
    pub at_most: Vec<(String, f64)>,
    pub at_least: Vec<(String, f64)>,
    pub note: String,
}

impl Milestone {
    /// Whether a run on the emulator can tell if it is reached.
    pub fn is_counted(&self) -> bool {
        let is_counted = |name: &str| quantity(name).is_some_and(|quantity| quantity.needs == Needs::Emulator);
        self.at_most.iter().chain(&self.at_least).any(|(name, _)| is_counted(name))
    }

    /// Keys of the rivals that it asks for, and None for the fastest of them.
    pub fn rivals(&self) -> impl Iterator<Item = Option<&str>> {
        let names = self.at_most.iter().chain(&self.at_least).map(|(name, _)| name.as_str());
        names.filter(|name| quantity(name).is_some_and(|quantity| quantity.name == OF_RIVAL)).map(rival_of)
    }
}

/// Keys and sections of an exercise file that help, test, vary and compare kernels: the course reads them, nothing here does.
pub const LEFT_TO_THE_COURSE: [&str; 4] = ["hint", "wrong", "experiment", "rivals"];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub title: String,
    /// What is launched, in order; at least one. A file without `[[step]]` has the one that `entry` and `[launch]` say.
    pub steps: Vec<Step>,
    pub params: Vec<Param>,
    /// Name of a float64 oracle, see `oracle/`; None for a free run.
    pub oracle: Option<String>,
    /// Of every output without a rule of its own.
    pub tolerance: Tolerance,
    pub outputs: Vec<OutputRule>,
    pub views: Vec<View>,
    /// Names of buffers that may have no elements.
    pub may_be_empty: Vec<String>,
    /// Sizes that correctness is checked at, each with a fresh seed.
    pub check: Vec<Size>,
    /// Sizes that the emulator's checks run at; small ones. Empty means `check`.
    pub emulator_check: Vec<Size>,
    /// Sizes that are timed on a GPU.
    pub bench: Vec<Size>,
    /// Sizes that are counted on the emulator. Empty means the last of `emulator_check`.
    pub emulator_bench: Vec<Size>,
    pub cost: Cost,
    pub milestones: Vec<Milestone>,
    /// Least architecture, for example `sm_90`; None means any.
    pub requires: Option<String>,
    /// Architectures that the kernel has branches for, best first; empty means that one text serves all.
    pub arch: Vec<String>,
    /// Each element of global memory is for one thread to write: the emulator reports a second store, also of the same
    /// value.
    pub written_once: bool,
    /// Extra NVRTC options, each checked against the allowed ones.
    pub options: Vec<String>,
}

impl Spec {
    /// Sizes for the emulator's checks.
    pub fn emulator_sizes(&self) -> &[Size] {
        if self.emulator_check.is_empty() { &self.check } else { &self.emulator_check }
    }

    /// Sizes that the emulator counts in a benchmark.
    pub fn emulator_bench_sizes(&self) -> &[Size] {
        if self.emulator_bench.is_empty() {
            let sizes = self.emulator_sizes();
            &sizes[sizes.len().saturating_sub(1)..]
        } else {
            &self.emulator_bench
        }
    }
}
