//! A loaded module: decoded instructions, kernels and variables.

use std::fmt;
use std::sync::Arc;

use crate::exec::image::{GlobalVariable, Image};
use crate::fast::Fast;
use crate::features::in_forms;
use crate::memory::Memory;
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

/// PTX made ready to run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Module {
    pub(crate) image: Arc<Image>,
}

impl Module {
    /// Parses and decodes PTX text.
    ///
    /// # Errors
    /// Lists every problem of the module at once: syntax, unknown names, unsupported instructions.
    pub fn load(ptx: &str) -> Result<Module, LoadError> {
        Module::load_with(ptx, Fast::default())
    }

    /// The same with instructions in the forms that `fast` says.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load_with(ptx: &str, fast: Fast) -> Result<Module, LoadError> {
        in_forms(fast, || crate::build::module::load(ptx)).map(|image| Module { image: Arc::new(image) })
    }

    /// The `.target`, for example `sm_90a`.
    pub fn target(&self) -> &str {
        &self.image.target
    }

    /// Whether its code may wait for what others write: it loads from memory with an ordering, or `volatile`.
    pub fn listens(&self) -> bool {
        let waits = |text: &str| {
            let load = ["ld.volatile", "ld.relaxed", "ld.acquire"].iter().any(|start| text.starts_with(start));
            let atomic = text.contains(".acquire") || text.contains(".acq_rel");
            (load || atomic) && !text.contains(".shared")
        };
        self.image.texts.iter().any(waits)
    }

    /// Names of the `__device__` variables that hold something else than when the module was loaded: what a launch leaves in
    /// them, the next one finds.
    pub fn changed_variables(&self, memory: &Memory) -> Vec<String> {
        let changed = |variable: &&GlobalVariable| {
            let mut now = vec![0; variable.bytes as usize];
            let (first, rest) = now.split_at_mut(variable.init.len());
            let read = memory.read(variable.address, first).is_ok()
                && memory.read(variable.address + first.len() as u64, rest).is_ok();
            read && (*first != variable.init[..] || rest.iter().any(|byte| *byte != 0))
        };
        let kept = self.image.variables.iter().filter(|variable| !variable.read_only);
        kept.filter(changed).map(|variable| variable.name.clone()).collect()
    }

    /// Address and size of the variables that the host shares (`__managed__`).
    pub fn managed_variables(&self) -> Vec<(u64, u64)> {
        let managed = self.image.variables.iter().filter(|variable| variable.managed);
        managed.map(|variable| (variable.address, variable.bytes)).collect()
    }

    pub fn kernels(&self) -> &[KernelInfo] {
        &self.image.kernels
    }

    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.image.kernels.iter().find(|kernel| kernel.name == name)
    }
}
