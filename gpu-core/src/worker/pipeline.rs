//! A compilation as the lab does it: check, cache, worker, disassembly.

use super::pool::Pool;
use super::shared::Shared;
use crate::compile::options::{Arch, refused_option};
use crate::compile::{CompileReport, cache, includes, sass};
use crate::job::{Emit, Outcome, Source};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Compiles. `Ok` also when the source has errors: they are in the report. `Err` is the job's end.
pub fn compile(
    shared: &Shared,
    pool: &Pool,
    source: &Source,
    arch: &str,
    emit: Emit,
    stop: &AtomicBool,
) -> Result<CompileReport, Outcome> {
    let started = Instant::now();
    let arch = Arch::parse(arch).ok_or_else(|| {
        Outcome::BadRequest(format!(
            "`{arch}` is no architecture; write it as in sm_90a (for CUDA's 9.0 and newer: sm_120a, sm_121a)"
        ))
    })?;
    if let Some(refusal) = refused_option(&source.options) {
        return Err(Outcome::BadRequest(refusal));
    }
    let source = &includes::with_course_headers(source);
    let refused = includes::check(source);
    if !refused.is_empty() {
        return Ok(CompileReport { arch: arch.to_string(), diagnostics: refused, ..CompileReport::default() });
    }
    let toolchain = shared.toolchain().map_err(Outcome::Environment)?;
    let cache = cache::Cache::new(&shared.config.data_dir);
    let key = cache::key(&toolchain, source, arch);
    let cached = cache.read(&key);
    let from_cache = cached.is_some();
    let mut report = match cached {
        Some(report) => report,
        None => pool.compile(shared, &toolchain, source, &arch.to_string(), stop)?,
    };
    let mut new = !from_cache && report.succeeded;
    if emit.sass && report.succeeded && report.sass.is_none() {
        match sass::disassemble(&toolchain, &report.cubin, &shared.config.data_dir) {
            Ok(text) => {
                report.sass = text;
                new = report.sass.is_some();
            }
            Err(problem) => report.diagnostics.push(problem),
        }
    }
    if new {
        cache.write(&key, &report);
    }
    if !emit.sass {
        report.sass = None;
    }
    report.from_cache = from_cache;
    report.compile_ms = started.elapsed().as_secs_f64() * 1e3;
    Ok(report)
}
