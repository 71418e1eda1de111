//! What the tests of the judge and of GPUs share: specs for the kernels of `data/judge.cu`.

#[allow(dead_code, reason = "not every test binary needs it")]
pub mod steps;

use gpu_core::compile::CompileReport;
use gpu_core::device::{Device, RunError};
use gpu_core::job::{Event, RunOptions};
use gpu_core::judge::{self, FreeRun};
use gpu_core::spec::Spec;
use gpu_core::verdict::RunReport;
use std::sync::atomic::AtomicBool;

#[allow(dead_code, reason = "not every test binary needs it")]
pub const SOURCE: &str = include_str!("../data/judge.cu");
pub const PTX: &str = include_str!("../data/judge.ptx");

/// Vector addition by `entry`, at these sizes.
#[allow(dead_code, reason = "not every test binary needs it")]
pub fn vector_add(entry: &str, check: &[i64]) -> Spec {
    let sizes: Vec<String> = check.iter().map(|n| format!("{{ n = {n} }}")).collect();
    let buffer = |name: &str, role: &str| {
        format!("[[param]]\nname = \"{name}\"\ndtype = \"f32\"\nshape = [\"n\"]\nrole = \"{role}\"\n")
    };
    let text = format!(
        "title = \"t\"\nentry = \"{entry}\"\noracle = \"vector_add\"\n{}{}{}[[param]]\nname = \"n\"\ndtype = \"i32\"\nvalue = \"n\"\n\
         [launch]\ngrid = [\"ceil_div(n, block_x)\"]\nblock = [256]\nlearner_may_change = true\n\
         [tolerance]\nabsolute = 0.0\nrelative = 1e-7\nreason = \"One rounding.\"\n\
         [sizes]\ncheck = [{}]\nbench = [{{ n = \"1 << 16\" }}, {{ n = \"1 << 28\" }}]\n\
         [cost]\nflops = \"n\"\nbytes = \"12 * n\"\n",
        buffer("a", "in"),
        buffer("b", "in"),
        buffer("c", "out"),
        sizes.join(", ")
    );
    Spec::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// Matrix addition by `entry` for 5 rows of 7.
#[allow(dead_code, reason = "not every test binary needs it")]
pub fn matrix_add(entry: &str) -> Spec {
    let buffer = |name: &str, role: &str| {
        format!("[[param]]\nname = \"{name}\"\ndtype = \"f32\"\nshape = [\"m\", \"n\"]\nrole = \"{role}\"\n")
    };
    let scalar = |name: &str| format!("[[param]]\nname = \"{name}\"\ndtype = \"i32\"\nvalue = \"{name}\"\n");
    let text = format!(
        "title = \"t\"\nentry = \"{entry}\"\noracle = \"matrix_add\"\n{}{}{}{}{}\
         [launch]\ngrid = [\"ceil_div(n, block_x)\", \"ceil_div(m, block_y)\"]\nblock = [16, 16]\n\
         [tolerance]\nabsolute = 0.0\nrelative = 1e-7\nreason = \"One rounding.\"\n\
         [sizes]\ncheck = [{{ m = 5, n = 7 }}]\n",
        buffer("a", "in"),
        buffer("b", "in"),
        buffer("c", "out"),
        scalar("m"),
        scalar("n")
    );
    Spec::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// The kernels of `data/judge.cu` as compiled beforehand: enough for the emulator.
#[allow(dead_code, reason = "not every test binary needs it")]
pub fn precompiled() -> CompileReport {
    CompileReport { succeeded: true, arch: "sm_90a".to_owned(), ptx: PTX.to_owned(), ..CompileReport::default() }
}

/// A free run at the spec's first size.
#[allow(dead_code, reason = "not every test binary needs it")]
pub fn run(
    device: &mut dyn Device,
    compiled: &CompileReport,
    spec: &Spec,
    stop: &AtomicBool,
) -> Result<RunReport, RunError> {
    let (options, mut report) = (RunOptions::default(), None);
    let run = FreeRun { compiled, against: None, spec, options: &options, seed: None, trace: None };
    let mut keep = |event| {
        if let Event::Ran(ran) = event {
            report = Some(*ran);
        }
    };
    judge::run_free(device, &run, &mut keep, stop)?;
    Ok(report.expect("every size is told of"))
}
