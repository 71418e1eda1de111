//! `lockstep bench --ladder NAME --rivals`: a rung beside what PyTorch and CUB have for the same problem. The learner's
//! Python loads the compiled kernel (`kernels/ladders/rivals.py`) and times all of them in turns, on the same buffers.

use super::engine::Target;
use super::{Failure, Places, out, usage};
use crate::rungs::{self, Figure, Line};
use curriculum::LadderRung;
use gpu_core::compile::CompileReport;
use gpu_core::device::DeviceChoice;
use gpu_core::spec::{Resolved, ResolvedLaunch, ResolvedParam, launch_directives};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

const SCRIPT: &str = include_str!("../../../kernels/ladders/rivals.py");
/// What the script has rivals for, by the names of the oracles.
const PROBLEMS: [&str; 2] = ["sum", "vector_add"];

/// Refuses, before anything is measured, what the script cannot do.
///
/// # Errors
/// Wrong usage, with what would be right.
pub fn possible(rung: &LadderRung, target: &Target) -> Result<(), Failure> {
    let problem = rung.spec.oracle.as_deref().unwrap_or("a free kernel");
    if !PROBLEMS.contains(&problem) {
        let known = PROBLEMS.join(" and ");
        return Err(usage(format!(
            "--rivals knows PyTorch's and CUB's kernels for {known}, not for {problem}; what cuBLASLt does is timed \
             without it"
        )));
    }
    if !target.is_local() || target.choice != DeviceChoice::Gpu(0) {
        return Err(usage("--rivals runs on the first GPU of this machine: use it with --device gpu"));
    }
    Ok(())
}

/// Times a compiled rung and its rivals at the sizes that the rung is timed at.
///
/// # Errors
/// No Python, no library, or a wrong result, in one sentence.
pub fn run(
    rung: &LadderRung,
    compiled: &CompileReport,
    places: &Places,
    stop: &AtomicBool,
) -> Result<Vec<Figure>, Failure> {
    let folder =
        tempfile::tempdir().map_err(|error| Failure::Usage(format!("a scratch folder cannot be made: {error}")))?;
    let cubin = folder.path().join("kernel.cubin");
    let plan = folder.path().join("plan.json");
    let text = plan_of(rung, &cubin.display().to_string())?.to_string();
    std::fs::write(&cubin, &compiled.cubin)
        .and_then(|()| std::fs::write(&plan, text))
        .map_err(|error| Failure::Usage(format!("the plan for Python cannot be written: {error}")))?;
    let mut figures = Vec::new();
    let mut each = |line| match line {
        Line::Figure(figure) => figures.push(figure),
        Line::Said(said) => out::remark(&said),
    };
    let arguments = [plan.display().to_string()];
    rungs::run(places.settings().python.as_deref(), "rivals.py", SCRIPT, &arguments, stop, &mut each)
        .map_err(|why| Failure::Usage(format!("the rivals could not be timed: {why}")))?;
    Ok(figures)
}

/// What the script reads: kernels, and for each size their launches and the parameters.
fn plan_of(rung: &LadderRung, cubin: &str) -> Result<Value, Failure> {
    let directives = launch_directives(&rung.source, &rung.spec.options)
        .map_err(|(line, why)| Failure::Rejected(format!("{} line {line}: {why}", rung.file)))?;
    let spec = rung.spec.directed(&directives).map_err(Failure::Rejected)?;
    if spec.has_steps() {
        let why = format!("{} has several steps, and rivals are timed beside kernels of one launch only", rung.file);
        return Err(Failure::Usage(why));
    }
    let cases = rung.spec.bench.iter().map(|size| {
        let case = spec.resolve(size);
        case.map(|case| case_of(&case)).map_err(|(key, why)| Failure::Rejected(format!("{key}: {why}")))
    });
    Ok(json!({
        "problem": rung.spec.oracle,
        "kernels": [{ "name": rung.file, "entry": rung.spec.entry(), "cubin": cubin }],
        "cases": cases.collect::<Result<Vec<Value>, Failure>>()?,
    }))
}

fn case_of(case: &Resolved) -> Value {
    let parameter = |param: &ResolvedParam| match param {
        ResolvedParam::Buffer(buffer) => json!({
            "name": buffer.name,
            "dtype": buffer.dtype.name(),
            "elements": buffer.elements,
            "role": if buffer.role.is_given() { "in" } else { "out" },
        }),
        ResolvedParam::Scalar(scalar) => {
            json!({ "name": scalar.name, "dtype": scalar.dtype.name(), "value": scalar.value as i64 })
        }
        ResolvedParam::TensorMap(map) => json!({ "name": map.name, "dtype": "tensor_map" }),
    };
    let launch = |launch: &ResolvedLaunch| {
        json!({
            "grid": launch.geometry.grid,
            "block": launch.geometry.block,
            "dynamic_shared_bytes": launch.geometry.dynamic_shared_bytes,
        })
    };
    json!({
        "name": case.name,
        "bytes": case.bytes,
        "params": case.params.iter().map(parameter).collect::<Vec<Value>>(),
        "launches": case.launches.iter().map(launch).collect::<Vec<Value>>(),
    })
}

/// One line a size and contestant, with its speed as multiples of the kernel's.
pub fn text(figures: &[Figure], kernel: &str) -> String {
    let own = |name: &str| figures.iter().find(|figure| figure.name == name && figure.rung == kernel)?.median_ms;
    let row = |figure: &Figure| {
        let time = |ms: Option<f64>| ms.map_or_else(|| "no time".to_owned(), |ms| out::nanoseconds(1e6 * ms));
        let compared = match (own(&figure.name), figure.median_ms) {
            (Some(own), Some(other)) if figure.rung != kernel => {
                format!("the rung has {:.3} of its speed", other / own)
            }
            _ => String::new(),
        };
        let rate = figure.gbps.map_or_else(String::new, |gbps| format!("{gbps:.0} GB/s"));
        let spread = format!("{} to {}", time(figure.p20_ms), time(figure.p80_ms));
        vec![format!("  {}", figure.name), figure.rung.clone(), time(figure.median_ms), spread, rate, compared]
    };
    use out::Align::{Left, Right};
    out::table(&[Left, Left, Right, Left, Right, Left], &figures.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use curriculum::Course;

    fn rung(ladder: &str) -> LadderRung {
        let course = Course::embedded();
        let ladder = course.ladders.iter().find(|known| known.name == ladder).expect("the ladder");
        ladder.rungs.last().expect("a rung").clone()
    }

    #[test]
    fn what_has_no_rivals_is_refused_before_the_climb() {
        let told = |rung: &LadderRung| match possible(rung, &Target::local_emulator()) {
            Err(Failure::Usage(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(told(&rung("transpose")).contains("not for transpose"));
        assert!(told(&rung("sum")).contains("--device gpu"));
    }

    #[test]
    fn the_plan_holds_every_size_with_its_launch() {
        let rung = rung("sum");
        let plan = plan_of(&rung, "k.cubin").expect("a plan");
        assert_eq!(plan["problem"], "sum");
        assert_eq!(plan["kernels"][0]["cubin"], "k.cubin");
        let cases = plan["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), rung.spec.bench.len());
        let last = cases.last().expect("a case");
        let elements = last["params"][0]["elements"].as_u64().expect("a buffer");
        assert_eq!(last["params"][2]["value"].as_u64(), Some(elements));
        assert_eq!(last["bytes"].as_f64(), Some(4.0 * elements as f64));
        // As the kernel's own comments have it, not as the ladder's base does.
        assert_eq!(last["launches"][0]["block"], json!([512, 1, 1]));
        assert_eq!(last["launches"][0]["grid"], json!([396, 1, 1]));
    }

    #[test]
    fn the_script_says_in_one_sentence_what_is_missing() {
        let mut none = |_| {};
        let arguments = ["/nowhere/plan.json".to_owned()];
        let ended = rungs::run(None, "rivals.py", SCRIPT, &arguments, &AtomicBool::new(false), &mut none);
        let why = ended.expect_err("there is no such plan");
        // By machine: no library, a library and no GPU, or all but the plan.
        let known = ["neither torch nor cupy found", "finds no GPU", "No such file"];
        assert!(known.iter().any(|part| why.contains(part)), "{why}");
        assert_eq!(why.lines().count(), 1, "{why}");
    }

    #[test]
    fn rivals_stand_with_the_rungs_speed_beside_theirs() {
        let figure = |rung: &str, ms: f64| Figure {
            name: "n = 4".into(),
            rung: rung.into(),
            median_ms: Some(ms),
            p20_ms: Some(ms),
            p80_ms: Some(2.0 * ms),
            gbps: Some(100.0),
            ok: true,
            ..Figure::default()
        };
        let text = text(&[figure("k.cu", 1.0), figure("torch.sum", 1.5)], "k.cu");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].trim_end().ends_with("100 GB/s"), "{text}");
        assert!(lines[1].ends_with("the rung has 1.500 of its speed"), "{text}");
    }
}
