//! The launches of a case, and what is said of each step of them.

use super::CASE_TIME_LIMIT;
use crate::compile::CompileReport;
use crate::device::{Launch, Report, Sequence};
use crate::spec::{Resolved, ResolvedParam, Spec};
use crate::verdict::StepReport;
use ptx_emulator::{LaunchName, TraceRequest};

/// The launches of a case. Traced is the first one of the learner's first step, or of the step that is named.
pub(crate) fn sequence_of<'a>(
    compiled: &CompileReport,
    spec: &'a Spec,
    resolved: &Resolved,
    trace: Option<&Traced>,
) -> Sequence<'a> {
    let first_own = spec.steps.iter().position(|step| step.given.is_none());
    let launches = resolved.launches.iter().map(|launch| {
        let step = &spec.steps[launch.step];
        let report = compiled.of_step(step);
        let resources = report.and_then(|report| report.kernels.iter().find(|kernel| kernel.name == step.entry));
        let name = spec
            .has_steps()
            .then(|| LaunchName { step: step.name.clone(), turn: step.repeat.as_ref().map(|_| launch.turn) });
        let wanted = |trace: &&Traced| match &trace.step {
            Some(name) => *name == step.name,
            None => Some(launch.step) == first_own,
        };
        let traced = trace.filter(wanted).filter(|_| launch.turn == 0);
        Launch {
            name,
            given: step.given.as_ref().map(|given| given.file.as_str()),
            kernel: &step.entry,
            geometry: launch.geometry,
            registers_per_thread: resources.map(|resources| resources.registers).filter(|registers| *registers > 0),
            takes: (!step.args.is_empty()).then(|| step.args.iter().flat_map(|arg| pieces(resolved, arg)).collect()),
            scalars: launch
                .scalars
                .iter()
                .flat_map(|(param, bytes)| {
                    let name = spec.params[*param].name();
                    pieces(resolved, name).map(move |place| (place, bytes.clone()))
                })
                .collect(),
            watched: traced.map_or_else(Vec::new, |_| compiled.watched.clone()),
            trace: traced.map(|trace| trace.request.clone()),
        }
    });
    Sequence {
        launches: launches.collect(),
        time_limit: CASE_TIME_LIMIT,
        written_once: spec.written_once,
        nonfinite: None,
    }
}

/// Places of a parameter among the resolved ones: of a struct there are several, one behind the other.
fn pieces<'a>(resolved: &'a Resolved, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let of = move |param: &ResolvedParam| {
        let own = match param {
            ResolvedParam::Buffer(buffer) => &buffer.name,
            ResolvedParam::Scalar(scalar) => &scalar.name,
            ResolvedParam::TensorMap(map) => &map.name,
        };
        own.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('+'))
    };
    resolved.params.iter().enumerate().filter(move |(_, param)| of(param)).map(|(place, _)| place)
}

/// What to trace of a case.
#[derive(Clone, Debug)]
pub struct Traced {
    pub request: TraceRequest,
    /// None: the first launch of the learner's first step.
    pub step: Option<String>,
}

/// What each step did; empty for an exercise of one launch, of which the case itself says all.
pub(crate) fn step_reports(spec: &Spec, resolved: &Resolved, run: &Report) -> Vec<StepReport> {
    if !spec.has_steps() {
        return Vec::new();
    }
    let mut reports: Vec<StepReport> = spec.steps.iter().map(StepReport::of).collect();
    for (index, launch) in resolved.launches.iter().enumerate() {
        let report = &mut reports[launch.step];
        if let Some(counters) = run.each.get(index) {
            report.launches += 1;
            report.counters.get_or_insert_default().add(counters);
        } else if run.completed {
            // A GPU counts nothing, but has made every launch.
            report.launches += 1;
        }
    }
    reports
}

/// A place in the file (`step[1].grid[0]`) as a learner reads it.
pub(crate) fn place_in_words(spec: &Spec, key: &str) -> String {
    let of_step = spec.steps.iter().find_map(|step| {
        let rest = key.strip_prefix(&step.at)?.strip_prefix('.')?;
        spec.has_steps().then(|| format!("{rest} of step \"{}\"", step.name))
    });
    let of_param = || {
        let (index, rest) = key.strip_prefix("param[")?.split_once("].")?;
        let param = spec.params.get(index.parse::<usize>().ok()?)?;
        Some(format!("the {} of `{}`", rest.split('[').next().unwrap_or(rest), param.name()))
    };
    of_step.or_else(of_param).unwrap_or_else(|| key.to_owned())
}
