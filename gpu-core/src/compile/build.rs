//! One compilation: source in, report out.

use super::nvrtc::{COMPILATION, INVALID_OPTION, Nvrtc, OUT_OF_MEMORY, SUCCESS};
use super::options::{Arch, nvrtc_options};
use super::{
    CompileReport, Diagnostic, Severity, Toolchain, constants, diagnostics, host_code, resources, slips, standins,
};
use crate::compile::Source;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Instant;

/// Static shared memory that the assembler accepts for every architecture.
const SHARED_BYTES_PER_BLOCK: u32 = 48 << 10;

/// Why there is no report at all. What is wrong with the *source* is in the report's diagnostics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BuildFailure {
    /// NVRTC ran out of the memory that its process may use.
    OutOfMemory,
    /// The architecture is unknown to this NVRTC, or an option is.
    BadRequest(String),
    /// NVRTC failed in itself; says how.
    Internal(String),
}

/// Compiles `source` for `arch`. Blocks as long as NVRTC does: call it in a process that can be killed.
pub fn build(nvrtc: &Nvrtc, toolchain: &Toolchain, source: &Source, arch: Arch) -> Result<CompileReport, BuildFailure> {
    let started = Instant::now();
    let mut report = attempt(nvrtc, toolchain, source, arch)?;
    // What is left to say of the kernels alone says more than what the rest of the program led to.
    if !report.succeeded
        && let Some((again, notes)) = second_try(source)
    {
        report = attempt(nvrtc, toolchain, &again, arch)?;
        report.diagnostics.splice(0..0, notes);
    }
    let host = host_headers(source);
    report.diagnostics.splice(0..0, host);
    report.compile_ms = started.elapsed().as_secs_f64() * 1e3;
    Ok(report)
}

/// A source that did not compile, with what nvcc would have given it, and without the host's part of a program. With notes on
/// what was left out. None where there is nothing to change.
fn second_try(source: &Source) -> Option<(Source, Vec<Diagnostic>)> {
    let mut again = source.clone();
    let mut notes = Vec::new();
    if let Some(stripped) = host_code::strip(&source.text) {
        again.text = stripped.text;
        for (name, first, last) in &stripped.left_out {
            let lines = if first == last { format!("line {first}") } else { format!("lines {first} to {last}") };
            let what = if name == "main" { "the program that starts kernels" } else { "for the host" };
            notes.push(Diagnostic {
                severity: Severity::Note,
                file: source.name.clone(),
                line: *first,
                column: 0,
                message: format!(
                    "`{name}` ({lines}) is {what}, and is left out: Lockstep allocates, copies and launches itself, as the \
                     exercise or the spec says"
                ),
            });
        }
    }
    let standard = standins::uses_standard(&again.text);
    if standard {
        standins::put_before(&mut again);
    }
    (standard || !notes.is_empty()).then_some((again, notes))
}

/// Says of headers that hold nothing for a kernel that they hold nothing.
fn host_headers(source: &Source) -> Vec<Diagnostic> {
    let empty =
        standins::included(&source.text).into_iter().filter(|(name, _)| standins::HOST.contains(&name.as_str()));
    empty
        .map(|(name, line)| Diagnostic {
            severity: Severity::Note,
            file: source.name.clone(),
            line,
            column: 0,
            message: format!(
                "`{name}` is a header for the host's part of a program, and is left out: nothing of it works in a kernel. You can \
                 remove this line"
            ),
        })
        .collect()
}

fn attempt(nvrtc: &Nvrtc, toolchain: &Toolchain, source: &Source, arch: Arch) -> Result<CompileReport, BuildFailure> {
    let options = nvrtc_options(toolchain, source, &arch);
    let raw = nvrtc.compile(&source.name, &source.text, &source.headers, &options);
    let version = nvrtc.version();
    match raw.code {
        SUCCESS | COMPILATION => {}
        OUT_OF_MEMORY => return Err(BuildFailure::OutOfMemory),
        INVALID_OPTION if raw.log.contains("gpu-architecture") => {
            let known: Vec<String> = nvrtc.supported_archs().iter().map(|number| format!("sm_{number}")).collect();
            return Err(BuildFailure::BadRequest(format!(
                "NVRTC {version} cannot compile for {arch}; it knows {} (with `a` or `f` where the chip has it)",
                known.join(", ")
            )));
        }
        INVALID_OPTION => {
            return Err(BuildFailure::BadRequest(format!("NVRTC {version} refused an option: {}", raw.log.trim())));
        }
        _ => {
            return Err(BuildFailure::Internal(format!(
                "NVRTC {version} failed with {}: {}",
                raw.code_name,
                raw.log.lines().next().unwrap_or("it said nothing more")
            )));
        }
    }
    let ptx = plain_file_names(&raw.ptx, source);
    let context = diagnostics::Context { source_name: &source.name, source_text: &source.text, ptx: &ptx };
    let mut report = CompileReport {
        succeeded: raw.code == SUCCESS,
        arch: arch.to_string(),
        nvrtc_version: version,
        diagnostics: diagnostics::parse(&raw.log, &context),
        kernels: resources::parse(&raw.log, &raw.cubin),
        ..CompileReport::default()
    };
    if !report.succeeded && report.diagnostics.iter().any(|found| found.message.starts_with("out of memory")) {
        return Err(BuildFailure::OutOfMemory);
    }
    explain_shared_memory(&mut report, source);
    explain_silence(&mut report, source, &raw.code_name);
    if report.succeeded {
        report.ptx = ptx;
        report.cubin = raw.cubin;
    }
    explain_constants(&mut report, source);
    if report.succeeded {
        report.diagnostics.extend(slips::found(source));
    }
    Ok(report)
}

/// NVRTC writes `.file` entries as absolute paths below the current folder, also for sources that exist in memory
/// only. Readers want the names that they gave.
fn plain_file_names(ptx: &str, source: &Source) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    let names = std::iter::once(&source.name).chain(source.headers.iter().map(|(name, _)| name));
    let replacements: Vec<(String, &String)> =
        names.map(|name| (folder.join(name).display().to_string(), name)).collect();
    let mut out = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        let replaced = line.trim_start().strip_prefix(".file").and_then(|rest| {
            let path = rest.split('"').nth(1)?;
            let (_, name) = replacements.iter().find(|(long, _)| Path::new(long) == Path::new(path))?;
            Some(line.replacen(path, name, 1))
        });
        out.push_str(replaced.as_deref().unwrap_or(line));
    }
    out
}

/// ptxas 13.5 refuses too much of `__shared__` without a word. How much that is depends on the target: 48 KiB, and for an
/// architecture-specific one (`sm_90a`) all that a block of it may have, which drivers load and run as well.
fn explain_shared_memory(report: &mut CompileReport, source: &Source) {
    if report.succeeded || has_error(report) {
        return;
    }
    let whole = ptx_emulator::Device::of(&report.arch).shared_per_block;
    let limit = if report.arch.ends_with('a') { whole } else { SHARED_BYTES_PER_BLOCK };
    let line = line_with(&source.text, "__shared__");
    let too_much = report.kernels.iter().filter(|kernel| kernel.static_shared_bytes > limit);
    let found: Vec<Diagnostic> = too_much
        .map(|kernel| Diagnostic {
            severity: Severity::Error,
            file: source.name.clone(),
            line,
            column: 0,
            message: format!(
                "kernel `{}` declares {} bytes of static shared memory (its `__shared__` arrays); for {} a block may have {limit}. Use less, \
                 or `extern __shared__` with a size that the launch gives, up to {} KiB there",
                kernel.name,
                kernel.static_shared_bytes,
                report.arch,
                whole / 1024
            ),
        })
        .collect();
    report.diagnostics.extend(found);
}

/// Constant memory that nothing fills.
fn explain_constants(report: &mut CompileReport, source: &Source) {
    for name in constants::unset(&report.ptx) {
        let plain = name.rsplit("::").next().unwrap_or(&name);
        report.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            file: source.name.clone(),
            line: line_with(&source.text, plain),
            column: 0,
            message: format!(
                "`{name}` is `__constant__` and nothing sets it, so it is all zeros: a program would copy values there from the \
                 host. Give it values here (`= {{…}}`), or run with `--set {plain}=…`"
            ),
        });
    }
}

/// A failed compilation always says something, and a source without kernels is told so.
fn explain_silence(report: &mut CompileReport, source: &Source, code_name: &str) {
    let place =
        |severity, message: String| Diagnostic { severity, file: source.name.clone(), line: 0, column: 0, message };
    if !report.succeeded && !has_error(report) {
        let text = format!("the compiler failed without saying why ({code_name})");
        report.diagnostics.push(place(Severity::Error, text));
    }
    if report.succeeded && report.kernels.is_empty() {
        let what = if source.text.trim().is_empty() { "the file is empty" } else { "no kernel is defined here" };
        let text = format!("{what}: a kernel starts with `extern \"C\" __global__ void name(…)`");
        report.diagnostics.push(place(Severity::Warning, text));
    }
}

fn has_error(report: &CompileReport) -> bool {
    report.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// One-based number of the first line that contains `needle`; 0 when none does.
fn line_with(text: &str, needle: &str) -> u32 {
    text.lines().position(|line| line.contains(needle)).map_or(0, |index| index as u32 + 1)
}
