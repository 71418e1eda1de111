//! CUDA C++ to PTX, cubin and SASS by NVRTC, with no GPU needed.

pub mod arrays;
pub mod build;
pub mod cache;
pub mod calls;
pub mod conditions;
pub mod constants;
pub mod declared;
pub mod diagnostics;
mod explained;
pub mod fetch;
mod host_code;
pub mod includes;
mod letters;
pub mod locate;
pub mod nvrtc;
mod operands;
pub mod options;
pub mod parameters;
pub mod resources;
pub mod sass;
mod scopes;
pub mod signature;
mod slips;
pub mod standins;
pub mod structs;
pub mod tokens;
pub mod unset;
pub mod watched;
pub mod wheels;

use crate::spec::Step;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where NVRTC and what belongs to it were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// `libnvrtc.so.13`, `nvrtc64_130_0.dll` and the like, as an absolute path.
    pub nvrtc: PathBuf,
    /// The builtins of the exact same minor version; None when NVRTC is left to find them beside itself.
    pub builtins: Option<PathBuf>,
    /// Folders with `cuda_fp16.h` and its kin; may be empty, NVRTC 13.3 and later bring their own copies.
    pub include_dirs: Vec<PathBuf>,
    /// The disassembler, when there is one.
    pub nvdisasm: Option<PathBuf>,
    /// For people: `setting`, `data folder`, `CUDA toolkit at …`, `Python package`.
    pub origin: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Note,
    Warning,
    Error,
}

/// One message of the compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    pub severity: Severity,
    pub file: String,
    /// One-based; 0 when the message has no place.
    pub line: u32,
    /// One-based; 0 when unknown (NVRTC prints a caret, from which it is read).
    pub column: u32,
    pub message: String,
}

/// What ptxas gave one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelResources {
    pub name: String,
    pub registers: u32,
    pub static_shared_bytes: u32,
    pub stack_bytes: u32,
    pub spill_store_bytes: u32,
    pub spill_load_bytes: u32,
    pub constant_bytes: u32,
    pub barriers: u32,
}

/// A kernel's text with what is needed to compile it anywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Name shown in diagnostics, `.loc` lines and faults, for example `kernel.cu`.
    pub name: String,
    pub text: String,
    /// Extra headers by include name (`lab.cuh` is always there).
    pub headers: Vec<(String, String)>,
    /// Extra NVRTC options, already checked by the spec.
    pub options: Vec<String>,
}

/// Everything that a compilation yields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompileReport {
    pub succeeded: bool,
    pub arch: String,
    /// As in `13.5`.
    pub nvrtc_version: String,
    pub diagnostics: Vec<Diagnostic>,
    pub kernels: Vec<KernelResources>,
    pub ptx: String,
    pub cubin: Vec<u8>,
    /// Disassembly; None when not asked for or no disassembler is present.
    pub sass: Option<String>,
    /// Launch directives found in the source's comments.
    pub launch_directives: Vec<crate::spec::Directive>,
    /// Kernels as the source declares them.
    pub declared: Vec<declared::Kernel>,
    /// Arrays as it declares them.
    pub arrays: Vec<arrays::Array>,
    /// Structures as it declares them.
    pub structs: Vec<structs::Struct>,
    /// Conditions on the thread's number, and what stands inside of them.
    pub conditions: Vec<conditions::Condition>,
    /// Variables that it declares without a value.
    pub unset: Vec<unset::Unset>,
    /// Mathematical functions that it calls.
    pub calls: Vec<calls::Call>,
    /// Lines whose values a trace keeps.
    pub watched: Vec<ptx_emulator::SourceLine>,
    /// The course's kernels that the exercise launches beside the learner's, each compiled apart.
    pub given: Vec<GivenKernel>,
    pub from_cache: bool,
    pub compile_ms: f64,
}

/// A kernel of the course.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenKernel {
    /// Path as the exercise names it.
    pub file: String,
    pub report: CompileReport,
}

impl CompileReport {
    /// Notes what the text says beside its code: kernels, arrays, and how they are to be launched.
    ///
    /// # Errors
    /// File, line and what is wrong with a launch directive.
    pub fn read(&mut self, source: &crate::compile::Source) -> Result<(), String> {
        self.declared = declared::kernels(&source.text);
        self.arrays = arrays::arrays(&source.text, &source.options);
        self.structs = structs::structs(&source.text);
        self.conditions = conditions::conditions(&source.text);
        self.unset = unset::unset(&source.text);
        self.calls = calls::calls(&source.text);
        self.watched = watched::watched(&source.text, &source.name);
        self.launch_directives = crate::spec::launch_directives(&source.text, &source.options)
            .map_err(|(line, message)| format!("{}:{line}: {message}", source.name))?;
        Ok(())
    }

    /// What a step's kernel was compiled to: the learner's text, or the course's file that it names.
    pub fn of_step(&self, step: &Step) -> Option<&CompileReport> {
        match &step.given {
            None => Some(self),
            Some(given) => self.given.iter().find(|kernel| kernel.file == given.file).map(|kernel| &kernel.report),
        }
    }

    /// What to say first of a text that does not compile: warnings may come before the error.
    pub fn first_error(&self) -> Option<&Diagnostic> {
        self.diagnostics.iter().find(|found| found.severity == Severity::Error).or(self.diagnostics.first())
    }
}
