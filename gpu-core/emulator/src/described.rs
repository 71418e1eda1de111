//! What a module says of its kernels, and what is wrong with one that cannot be run.

use std::fmt;

use crate::report::SourceLine;

/// One kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Byte offset in the argument block.
    pub offset: u32,
    pub bytes: u32,
    pub align: u32,
    /// Declared as a pointer (`.ptr`), or loaded and used as one.
    pub is_pointer: bool,
}

/// What a module says of one of its kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Name in the PTX.
    pub name: String,
    pub params: Vec<ParamInfo>,
    /// Size of the argument block.
    pub param_bytes: u32,
    pub static_shared_bytes: u32,
    /// Stack bytes of the kernel's own frame, per thread.
    pub local_bytes: u32,
    /// From `.maxntid` or `.reqntid` (`__launch_bounds__`).
    pub max_threads: Option<u32>,
    /// From `.reqntid`: the kernel runs with blocks of this shape only.
    pub required_block: Option<[u32; 3]>,
    /// 32-bit registers that a thread would need, estimated from the values alive at once: ptxas alone knows. None for
    /// kernels too large to be looked at.
    pub register_estimate: Option<u32>,
    /// 32-bit registers that a thread is launched with at the most, in the units in which they are handed out. None: neither
    /// `.maxntid`, `.reqntid` nor `.maxnreg` says so.
    pub register_limit: Option<u32>,
    /// Source files that its lines name.
    pub sources: Vec<String>,
}

/// One thing in a module that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadProblem {
    /// What is wrong and what to do.
    pub message: String,
    /// The instruction's text, when one is at fault.
    pub instruction: String,
    /// One-based line of the PTX text.
    pub ptx_line: u32,
    pub source: Option<SourceLine>,
}

/// All that keeps a module from being run, found in one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    pub problems: Vec<LoadProblem>,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "PTX line {}: {}", problem.ptx_line, problem.message)?;
            if !problem.instruction.is_empty() {
                write!(f, " in `{}`", problem.instruction)?;
            }
            if let Some(source) = &problem.source {
                write!(f, " (from {}:{})", source.file, source.line)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {}
