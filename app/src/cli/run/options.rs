//! What the command line says of a run: sizes, inputs, outputs, constants.

use super::super::{Done, Failure, content, npy, out, usage};
use super::Args;
use crate::guess::{self, Guessed};
use gpu_core::compile::{Diagnostic, Severity, constants, declared};
use gpu_core::job::RunOptions;
use gpu_core::spec::{Param, Role, Size, Spec};
use gpu_core::verdict::RunReport;
use std::path::Path;
use std::time::Duration;

pub fn read(args: &Args, spec: &Spec) -> Result<RunOptions, Failure> {
    let mut size = sizes(&args.size)?;
    let mut inputs = Vec::new();
    for text in &args.input {
        let (name, path) = pair(text, "--input", "x=x.npy")?;
        let array = npy::read(Path::new(path))?;
        let found = spec.params.iter().find(|param| param.name() == name);
        let Some(Param::Buffer { dtype, shape, role, .. }) = found else {
            let buffers: Vec<&str> = buffers(spec).map(|(name, ..)| name).collect();
            return Err(usage(format!("the kernel has no buffer `{name}` to fill; it has {}", buffers.join(", "))));
        };
        if *role == Role::Out {
            return Err(usage(format!("`{name}` is an output: nothing reads what it holds before the run")));
        }
        // An extent that is a variable alone is as long as the array.
        if shape.len() == array.shape.len() {
            for (extent, length) in shape.iter().zip(&array.shape) {
                let is_variable = spec.check.first().is_some_and(|first| first.contains_key(&extent.0));
                if is_variable && !size.contains_key(&extent.0) {
                    size.insert(extent.0.clone(), i64::try_from(*length).unwrap_or(i64::MAX));
                }
            }
        }
        if let Some(note) = array.rounded_to(*dtype) {
            out::remark(&format!("note: {path} {note}"));
        }
        inputs.push((name.to_owned(), array.bytes_as(*dtype).map_err(|why| usage(format!("{why}: {path}")))?));
    }
    for text in &args.output {
        let (name, _) = pair(text, "--output", "y=y.npy")?;
        if !buffers(spec).any(|(known, role)| known == name && role.is_judged()) {
            let outputs: Vec<&str> = buffers(spec).filter(|(_, role)| role.is_judged()).map(|(name, _)| name).collect();
            return Err(usage(format!("the kernel has no output `{name}`; it has {}", outputs.join(", "))));
        }
    }
    let first = spec.check.first().cloned().unwrap_or_default();
    if let Some(unknown) = size.keys().find(|name| !first.contains_key(*name)) {
        let known: Vec<&str> = first.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        return Err(usage(format!("the spec has no size variable `{unknown}`; {known}")));
    }
    let sizes = match (args.all_sizes, size.is_empty()) {
        (true, _) => spec.check.clone(),
        (false, true) => Vec::new(),
        (false, false) => vec![first.into_iter().chain(size).collect()],
    };
    let time_limit = match args.time_limit {
        Some(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Some(Duration::from_secs_f64(seconds)),
        Some(seconds) => {
            return Err(usage(format!("a time limit of {seconds} s is not possible; write 0.1 to 86400 seconds")));
        }
        None => None,
    };
    let against = args.against.as_deref().map(content::file).transpose()?.map(|kernel| kernel.source);
    Ok(RunOptions {
        sizes,
        inputs,
        whole_outputs: !args.output.is_empty(),
        time_limit,
        against,
        may_be_infinite: args.allow_nan,
        may_be_partial: args.allow_partial,
    })
}

fn buffers(spec: &Spec) -> impl Iterator<Item = (&str, Role)> {
    spec.params.iter().filter_map(|param| match param {
        Param::Buffer { name, role, .. } => Some((name.as_str(), *role)),
        Param::Scalar { .. } | Param::TensorMap { .. } | Param::Struct { .. } => None,
    })
}

fn pair<'a>(text: &'a str, option: &str, example: &str) -> Result<(&'a str, &'a str), Failure> {
    let found = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    found
        .filter(|(name, value)| !name.is_empty() && !value.is_empty())
        .ok_or_else(|| usage(format!("`{text}` is not understood: write {option} {example}")))
}

/// `n=1000` and its like.
pub fn sizes(list: &[String]) -> Result<Size, Failure> {
    list.iter()
        .map(|text| {
            let (name, value) = pair(text, "--size", "n=1000")?;
            let value: i64 = value
                .replace('_', "")
                .parse()
                .map_err(|_| usage(format!("`{value}` is not a whole number: write --size {name}=1000")))?;
            Ok((name.to_owned(), value))
        })
        .collect()
}

/// The source with a `__constant__` variable set.
pub fn set_constant(source: &str, setting: &str) -> Result<String, Failure> {
    let (name, value) = pair(setting, "--set", "taps=0.25,0.5,0.25")?;
    let is_file = Path::new(value).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    let values = if is_file {
        npy::read(Path::new(value))?.literals().map_err(usage)?
    } else {
        value.split(',').map(|number| number.trim().to_owned()).collect()
    };
    let is_number = |text: &String| {
        let digits = text.trim_end_matches(['f', 'F', 'u', 'U', 'l', 'L']);
        digits.parse::<f64>().is_ok_and(f64::is_finite) || text.parse::<f64>().is_ok_and(f64::is_finite)
    };
    if let Some(odd) = values.iter().find(|value| !is_number(value)) {
        return Err(usage(format!("`{odd}` is not a number that a constant can be set to")));
    }
    constants::set(source, name, &values).map_err(usage)
}

/// A spec for a kernel that came without one.
pub fn guess_spec(source: &str, file: &Path, entry: Option<&str>, given: &[String]) -> Result<Guessed, Failure> {
    let kernels = declared::kernels(source);
    let wanted = entry.map(|name| name.split('<').next().unwrap_or(name).trim());
    let matches = |kernel: &&declared::Kernel| wanted.is_none_or(|wanted| kernel.is_called(wanted));
    let mut found = kernels.iter().filter(matches);
    let names = || kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect::<Vec<_>>().join(", ");
    let kernel = match (found.next(), found.next()) {
        (Some(kernel), None) => kernel,
        (Some(_), Some(_)) => {
            return Err(usage(format!(
                "{} has several kernels: choose one with --entry ({}), or describe it with --spec",
                file.display(),
                names()
            )));
        }
        (None, _) if kernels.is_empty() => {
            return Err(usage(format!(
                "{} has no kernel: a kernel begins with `__global__ void name(…)`",
                file.display()
            )));
        }
        (None, _) => {
            return Err(usage(format!(
                "{} has no kernel `{}`; it has {}",
                file.display(),
                entry.unwrap_or_default(),
                names()
            )));
        }
    };
    guess::guess(kernel, source, entry, &sizes(given)?).map_err(usage)
}

/// What the last line adds of warnings, which a run that ends well has all the same.
pub fn warned(diagnostics: &[Diagnostic]) -> Option<String> {
    let lines: Vec<u32> =
        diagnostics.iter().filter(|found| found.severity == Severity::Warning).map(|found| found.line).collect();
    Some(match lines[..] {
        [] => return None,
        [0] => ". The compiler has a warning, above".to_owned(),
        [line] => format!(". The compiler warns of line {line}, above"),
        [..] => format!(". The compiler has {} warnings, above", lines.len()),
    })
}

/// What the last line adds of sizes that the spec has and that were not run.
pub fn left_out(spec: &Spec, all: bool) -> Option<String> {
    let more = spec.check.len().saturating_sub(1);
    let sizes = if more == 1 { "size" } else { "sizes" };
    (more > 0 && !all).then(|| format!(". The spec has {more} more {sizes}: --all-sizes runs them too"))
}

/// Writes the outputs that were asked for, of the last size that ran to its end.
pub fn write_outputs(args: &Args, ran: &[RunReport]) -> Done {
    let Some(last) = ran.iter().rfind(|ran| ran.completed) else { return Ok(()) };
    for text in &args.output {
        let (name, path) = pair(text, "--output", "y=y.npy")?;
        if let Some(output) = last.outputs.iter().find(|output| output.name == name) {
            npy::write(Path::new(path), output.dtype, &output.shape, &output.bytes)?;
        }
    }
    Ok(())
}
