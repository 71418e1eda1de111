//! `lockstep bench --ladder NAME --rivals`, and `lockstep bench UNIT --rivals`: a rung, or a kernel for an exercise that names
//! the ladder, beside what Python's libraries have for the same problem, as `ladder.toml` names it. The learner's Python loads
//! the compiled kernel (`kernels/ladders/rivals.py`) and times all of them in turns, on the same buffers.

use super::engine::Target;
use super::{Failure, Places, out, usage};
use crate::scripts::{self, Figure, Line};
use curriculum::{Ladder, Rival, Rung};
use gpu_core::bench::{BenchReport, RivalTime};
use gpu_core::compile::CompileReport;
use gpu_core::device::DeviceChoice;
use gpu_core::spec::{
    Resolved, ResolvedBuffer, ResolvedFill, ResolvedLaunch, ResolvedMap, ResolvedParam, Role, Spec, launch_directives,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const SCRIPT: &str = include_str!("../../../kernels/ladders/rivals.py");

/// The kernel that is timed beside rivals.
#[derive(Clone, Copy)]
pub struct Own<'a> {
    /// File name, by which its figures are told from the rivals'.
    pub file: &'a str,
    pub source: &'a str,
    pub spec: &'a Spec,
}

impl<'a> From<&'a Rung> for Own<'a> {
    fn from(rung: &'a Rung) -> Self {
        Self { file: &rung.file, source: &rung.source, spec: &rung.spec }
    }
}

/// Refuses, before anything is measured, what the script cannot do.
///
/// # Errors
/// Wrong usage, with what would be right.
pub fn possible(ladder: &Ladder, own: Own<'_>, target: &Target, trusted: bool) -> Result<(), Failure> {
    if ladder.rivals.is_empty() {
        return Err(usage(format!(
            "the ladder {} names no rivals (`[[rival]]` in its ladder.toml); what cuBLASLt does is timed without --rivals",
            ladder.name
        )));
    }
    if !trusted && !curriculum::is_own_script(&ladder.rivals_source) {
        let may = if gpu_core::worker::confines_scripts() {
            "it would run in a sandbox, with Python's packages, but without your files and the network"
        } else {
            "there is no sandbox for files here, so it could do with them all that you can"
        };
        return Err(usage(format!(
            "rivals.py of the ladder {} did not come with Lockstep: {may}; look at it, then repeat with --trust-scripts",
            ladder.name
        )));
    }
    if !target.is_local() || target.choice != DeviceChoice::Gpu(0) {
        return Err(usage("--rivals runs on the first GPU of this machine: use it with --device gpu"));
    }
    let spec = directed(own)?;
    if spec.steps.iter().any(|step| step.given.is_some()) {
        return Err(usage(format!("a step of {} is a given kernel, which cannot be timed beside rivals", own.file)));
    }
    plan_of(ladder, own, Path::new("")).map(|_| ())
}

/// Times a compiled kernel and the ladder's rivals at the sizes that the kernel is timed at.
///
/// # Errors
/// No Python, no library, or a wrong result, in one sentence.
pub fn run(
    ladder: &Ladder,
    own: Own<'_>,
    compiled: &CompileReport,
    places: &Places,
    stop: &AtomicBool,
) -> Result<Vec<Figure>, Failure> {
    let folder =
        tempfile::tempdir().map_err(|error| Failure::Usage(format!("a scratch folder cannot be made: {error}")))?;
    let plan = folder.path().join("plan.json");
    let text = plan_of(ladder, own, folder.path())?.to_string();
    std::fs::write(folder.path().join("kernel.cubin"), &compiled.cubin)
        .and_then(|()| std::fs::write(folder.path().join("ladder.py"), &ladder.rivals_source))
        .and_then(|()| std::fs::write(&plan, text))
        .map_err(|error| Failure::Usage(format!("the plan for Python cannot be written: {error}")))?;
    let mut figures = Vec::new();
    let mut each = |line| match line {
        Line::Figure(figure) => figures.push(figure),
        Line::Said(said) => out::remark(&said),
    };
    let arguments = [plan.display().to_string()];
    let reads = [folder.path().to_owned()];
    let script = scripts::Script { file: "rivals.py", source: SCRIPT, arguments: &arguments, reads: &reads };
    scripts::run(places.settings().python.as_deref(), script, stop, &mut each)
        .map_err(|why| Failure::Usage(format!("the rivals could not be timed: {why}")))?;
    Ok(figures)
}

/// Puts what was timed beside a kernel into its benchmark, and holds it against the milestones again.
pub fn stand_beside(bench: &mut BenchReport, ladder: &Ladder, own: Own<'_>, figures: &[Figure]) {
    let median = |point: &str, rung: &str| {
        let found = figures.iter().find(|figure| figure.name == point && figure.rung == rung && figure.ok);
        found.and_then(|figure| figure.median_ms).map(|ms| 1e6 * ms)
    };
    for point in &mut bench.points {
        let Some(own_median_ns) = median(&point.name, own.file) else { continue };
        let timed = |rival: &Rival| {
            let (key, name) = (rival.call.clone(), rival.name.clone());
            Some(RivalTime { key, name, median_ns: median(&point.name, &rival.name)?, own_median_ns })
        };
        point.rivals = ladder.rivals.iter().filter_map(timed).collect();
    }
    bench.weigh(&own.spec.milestones);
}

/// The kernel's spec with what its own comments say of the launch.
fn directed(own: Own<'_>) -> Result<Spec, Failure> {
    let directives = launch_directives(own.source, &own.spec.options)
        .map_err(|(line, why)| Failure::Rejected(format!("{} line {line}: {why}", own.file)))?;
    own.spec.directed(&directives).map_err(Failure::Rejected)
}

/// What the script reads: the kernel, the rivals, and for each size the launches and the parameters.
fn plan_of(ladder: &Ladder, own: Own<'_>, folder: &Path) -> Result<Value, Failure> {
    let spec = directed(own)?;
    let cases = own.spec.bench.iter().map(|size| {
        let case = spec.resolve(size).map_err(|(key, why)| Failure::Rejected(format!("{key}: {why}")))?;
        case_of(&spec, &case)
    });
    let rivals = ladder.rivals.iter().map(|rival| json!({ "name": rival.name, "call": rival.call }));
    Ok(json!({
        "module": folder.join("ladder.py").display().to_string(),
        "rivals": rivals.collect::<Vec<Value>>(),
        "kernel": { "name": own.file, "cubin": folder.join("kernel.cubin").display().to_string() },
        "cases": cases.collect::<Result<Vec<Value>, Failure>>()?,
    }))
}

fn case_of(spec: &Spec, case: &Resolved) -> Result<Value, Failure> {
    let parameter = |param: &ResolvedParam| match param {
        ResolvedParam::Buffer(buffer) => buffer_of(buffer),
        ResolvedParam::Scalar(scalar) => {
            Ok(json!({ "name": scalar.name, "dtype": scalar.dtype.name(), "value": scalar.value }))
        }
        ResolvedParam::TensorMap(map) => Ok(json!({ "name": map.name })),
    };
    Ok(json!({
        "name": case.name,
        "sizes": case.size,
        "bytes": case.bytes,
        "flops": case.flops,
        "params": case.params.iter().map(parameter).collect::<Result<Vec<Value>, Failure>>()?,
        "launches": case.launches.iter().map(|launch| launch_of(spec, case, launch)).collect::<Vec<Value>>(),
    }))
}

/// # Errors
/// What the script cannot make: the kernel of a rival sees what the spec says, or nothing is timed.
fn buffer_of(buffer: &ResolvedBuffer) -> Result<Value, Failure> {
    let refused = |what: String| Err(usage(format!("--rivals cannot make the array `{}`: {what}", buffer.name)));
    if matches!(buffer.role, Role::InOut | Role::Zeroed) {
        return refused(
            "it is set again before each launch, and rivals are timed in many launches in a row".to_owned(),
        );
    }
    let fill = match &buffer.fill {
        None => json!({ "kind": "none" }),
        Some(ResolvedFill::Normal { mean, std }) => json!({ "kind": "normal", "mean": mean, "std": std }),
        Some(ResolvedFill::Uniform { low, high }) => json!({ "kind": "uniform", "low": low, "high": high }),
        Some(ResolvedFill::Integers { low, high }) => json!({ "kind": "integers", "low": low, "high": high }),
        Some(ResolvedFill::Constant { value }) => json!({ "kind": "constant", "value": value }),
        Some(ResolvedFill::Index) => json!({ "kind": "index" }),
        Some(other) => return refused(format!("its script does not know the fill {other:?}")),
    };
    Ok(json!({
        "name": buffer.name,
        "dtype": buffer.dtype.name(),
        "shape": buffer.shape,
        "role": if buffer.role.is_judged() { "out" } else { "in" },
        "fill": fill,
    }))
}

fn launch_of(spec: &Spec, case: &Resolved, launch: &ResolvedLaunch) -> Value {
    let step = &spec.steps[launch.step];
    let named = |param: &ResolvedParam| match param {
        ResolvedParam::Buffer(buffer) => buffer.name.clone(),
        ResolvedParam::Scalar(scalar) => scalar.name.clone(),
        ResolvedParam::TensorMap(map) => map.name.clone(),
    };
    let argument = |(index, param): (usize, &ResolvedParam)| match param {
        ResolvedParam::Buffer(buffer) => json!({ "buffer": buffer.name }),
        ResolvedParam::Scalar(scalar) => {
            let own = launch.scalars.iter().find(|(at, _)| *at == index).map_or(&scalar.bytes, |(_, bytes)| bytes);
            json!({ "bytes": own })
        }
        ResolvedParam::TensorMap(map) => json!({ "map": map_of(case, map) }),
    };
    let all = || case.params.iter().enumerate();
    let arguments: Vec<Value> = if step.args.is_empty() {
        all().map(argument).collect()
    } else {
        step.args.iter().filter_map(|name| all().find(|(_, param)| named(param) == *name)).map(argument).collect()
    };
    json!({
        "entry": step.entry,
        "grid": launch.geometry.grid,
        "block": launch.geometry.block,
        "cluster": launch.geometry.cluster,
        "dynamic_shared_bytes": launch.geometry.dynamic_shared_bytes,
        "cooperative": launch.geometry.cooperative,
        "arguments": arguments,
    })
}

/// A tensor map in the driver's numbers.
fn map_of(case: &Resolved, map: &ResolvedMap) -> Value {
    let buffer = match &case.params[map.buffer] {
        ResolvedParam::Buffer(buffer) => buffer.name.as_str(),
        _ => "",
    };
    json!({
        "buffer": buffer,
        "element": map.element() as u32,
        "sizes": map.sizes,
        "strides_bytes": map.strides_bytes,
        "tile": map.tile,
        "swizzle": map.swizzle as u32,
        "nan_fill": map.nan_fill,
    })
}

/// One line a size and contestant, with its speed as multiples of the kernel's.
pub fn text(figures: &[Figure], kernel: &str) -> String {
    let own = |name: &str| figures.iter().find(|figure| figure.name == name && figure.rung == kernel)?.median_ms;
    let row = |figure: &Figure| {
        let time = |ms: Option<f64>| ms.map_or_else(|| "no time".to_owned(), |ms| out::nanoseconds(1e6 * ms));
        let compared = match (own(&figure.name), figure.median_ms) {
            (Some(own), Some(other)) if figure.rung != kernel => {
                format!("{kernel} has {:.3} of its speed", other / own)
            }
            _ => String::new(),
        };
        // What has far more operations than bytes is told by those.
        let rate = match (figure.gflops, figure.gbps) {
            (Some(gflops), gbps) if gflops > 20.0 * gbps.unwrap_or(0.0) => format!("{:.1} TFLOP/s", gflops / 1e3),
            (_, Some(gbps)) => format!("{gbps:.0} GB/s"),
            _ => String::new(),
        };
        let error = figure.relative_error.map_or_else(String::new, |error| format!("error {error:.1e}"));
        let spread = format!("{} to {}", time(figure.p20_ms), time(figure.p80_ms));
        vec![format!("  {}", figure.name), figure.rung.clone(), time(figure.median_ms), spread, rate, error, compared]
    };
    use out::Align::{Left, Right};
    out::table(&[Left, Left, Right, Left, Right, Left, Left], &figures.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use curriculum::Course;

    fn ladder(name: &str) -> Ladder {
        Course::embedded().ladders.iter().find(|known| known.name == name).expect("the ladder").clone()
    }

    #[test]
    fn what_has_no_rivals_is_refused_before_the_climb() {
        let told = |name: &str, rung: usize| {
            let ladder = ladder(name);
            match possible(&ladder, (&ladder.rungs[rung]).into(), &Target::local_emulator(), false) {
                Err(Failure::Usage(why)) => why,
                other => panic!("{other:?}"),
            }
        };
        assert!(told("transpose", 0).contains("transpose names no rivals"));
        assert!(told("sum", 4).contains("--device gpu"));
        let sum = ladder("sum");
        let zeroed = plan_of(&sum, (&sum.rungs[0]).into(), Path::new("/t"));
        assert!(matches!(zeroed, Err(Failure::Usage(why)) if why.contains("`y`") && why.contains("again before each")));
    }

    #[test]
    fn the_plan_holds_every_size_with_its_launch() {
        let ladder = ladder("sum");
        let rung = ladder.rungs.last().expect("a rung");
        let plan = plan_of(&ladder, rung.into(), Path::new("/t")).expect("a plan");
        assert_eq!(plan["kernel"]["cubin"], Path::new("/t/kernel.cubin").display().to_string());
        assert_eq!(plan["rivals"][1]["call"], "cub");
        let cases = plan["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), rung.spec.bench.len());
        let last = cases.last().expect("a case");
        let elements = last["params"][0]["shape"][0].as_u64().expect("a buffer");
        assert_eq!(last["params"][2]["value"].as_f64(), Some(elements as f64));
        assert_eq!(last["bytes"].as_f64(), Some(4.0 * elements as f64));
        let launch = &last["launches"][0];
        assert_eq!(launch["arguments"][0]["buffer"], "x");
        assert_eq!(launch["arguments"][2]["bytes"], json!((elements as u32).to_le_bytes()));
        // As the kernel's own comments have it, not as the ladder's base does.
        assert_eq!(launch["block"], json!([512, 1, 1]));
        assert_eq!(launch["grid"], json!([396, 1, 1]));
    }

    /// Clusters, tensor maps, several launches and scalars that are no integers reach the plan.
    #[test]
    fn what_hopper_kernels_take_is_in_the_plan() {
        let mut product = ladder("matmul-bf16");
        product.rivals = vec![curriculum::Rival { name: "torch".to_owned(), call: "torch_matmul".to_owned() }];
        let rung = product.rung("10-multicast").expect("the rung").clone();
        let plan = plan_of(&product, (&rung).into(), Path::new("/t")).expect("a plan");
        let launch = &plan["cases"][0]["launches"][0];
        assert_ne!(launch["cluster"], json!([1, 1, 1]), "{launch}");
        let maps =
            launch["arguments"].as_array().expect("arguments").iter().filter(|argument| argument["map"].is_object());
        let maps: Vec<&Value> = maps.map(|argument| &argument["map"]).collect();
        assert!(!maps.is_empty() && maps.iter().all(|map| map["element"] == 9 && map["sizes"][0].is_u64()), "{maps:?}");
    }

    /// Every exercise that names a ladder's rivals can be timed beside them: its arrays and sizes reach the plan.
    #[test]
    fn exercises_with_rivals_have_a_plan() {
        let course = Course::embedded();
        let mut planned = 0;
        for exercise in course.shelves().iter().flat_map(|shelf| &shelf.units).flat_map(|unit| &unit.exercises) {
            let Some(name) = &exercise.rivals else { continue };
            let own = Own { file: "mine.cu", source: exercise.solution(), spec: &exercise.spec };
            let plan = plan_of(&ladder(name), own, Path::new("/t")).unwrap_or_else(|_| panic!("{}", exercise.folder));
            assert_eq!(plan["cases"].as_array().map(Vec::len), Some(exercise.spec.bench.len()), "{}", exercise.folder);
            planned += 1;
        }
        assert!(planned > 0, "no exercise names rivals");
    }

    #[test]
    fn what_was_timed_reaches_the_milestones() {
        let course = Course::embedded();
        let exercise = &course.unit("week3/day3").expect("the day").exercises[0];
        let own = Own { file: "mine.cu", source: &exercise.reference, spec: &exercise.spec };
        let point = |name: &str| gpu_core::bench::BenchPoint { name: name.into(), ..Default::default() };
        let mut bench = BenchReport {
            device: "GPU".into(),
            passed_check: true,
            points: vec![point("n = 1"), point("n = 2")],
            milestones: Vec::new(),
            summary: String::new(),
            when_unix_s: 0,
            ceilings: None,
            kernel: gpu_core::bench::KernelFacts::default(),
        };
        let figure = |name: &str, rung: &str, ms, ok| Figure {
            name: name.into(),
            rung: rung.into(),
            median_ms: Some(ms),
            ok,
            ..Figure::default()
        };
        let asks = |bench: &BenchReport| {
            let of_rivals = exercise.spec.milestones.iter().position(|milestone| milestone.rivals().next().is_some());
            bench.milestones[of_rivals.expect("a milestone that asks for rivals")].clone()
        };
        stand_beside(&mut bench, &ladder("softmax"), own, &[]);
        assert!(asks(&bench).reached.is_none() && asks(&bench).because.contains("not measured here"));
        let figures = [
            figure("n = 2", "mine.cu", 1.0, true),
            figure("n = 2", "torch.compile", 1.25, true),
            // A wrong result is no rival.
            figure("n = 2", "torch.softmax", 0.1, false),
        ];
        stand_beside(&mut bench, &ladder("softmax"), own, &figures);
        assert!(bench.points[0].rivals.is_empty() && bench.points[1].rivals.len() == 1, "{:?}", bench.points);
        assert_eq!(bench.points[1].of_rival(Some("compiled")), Some(1.25));
        assert_eq!(asks(&bench).reached, Some(true), "{}", asks(&bench).because);
    }

    #[test]
    fn the_script_says_in_one_sentence_what_is_missing() {
        let mut none = |_| {};
        let arguments = ["/nowhere/plan.json".to_owned()];
        let script = scripts::Script { file: "rivals.py", source: SCRIPT, arguments: &arguments, reads: &[] };
        let ended = scripts::run(None, script, &AtomicBool::new(false), &mut none);
        let why = ended.expect_err("there is no such plan");
        // By machine: no library, a library and no GPU, or all but the plan.
        let known = ["torch is not found", "finds no GPU", "No such file"];
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
            relative_error: Some(2e-7),
            ok: true,
            ..Figure::default()
        };
        let text = text(&[figure("k.cu", 1.0), figure("torch.sum", 1.5)], "k.cu");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].trim_end().ends_with("100 GB/s  error 2.0e-7"), "{text}");
        assert!(lines[1].ends_with("k.cu has 1.500 of its speed"), "{text}");
    }
}
