//! `lockstep bench --ladder NAME`: every rung of a ladder judged and timed, beside the vendor's library where there is
//! one for the problem. `matmul` stands for all ladders whose names begin with it, `all` for all there are.

use super::engine::{self, DeviceArgs, Target};
use super::{Done, Failure, Places, content, json, out, rivals, usage};
use curriculum::{Ladder, Rung};
use gpu_core::bench::{BenchPoint, BenchReport};
use gpu_core::compile::CompileReport;
use gpu_core::emulator::Counters;
use gpu_core::job::{Job, Outcome, Source};
use gpu_core::worker::Lab;
use serde_json::{Value, json as object};

pub struct Request<'a> {
    /// Of one ladder, or of several.
    pub name: &'a str,
    /// One rung only.
    pub rung: Option<&'a str>,
    /// Also the last rung beside PyTorch and CUB.
    pub rivals: bool,
    /// The rivals may be a script that did not come with Lockstep.
    pub trust_scripts: bool,
    pub device: &'a DeviceArgs,
    pub json: bool,
}

/// What became of one rung.
struct Climbed<'l> {
    rung: &'l Rung,
    outcome: Outcome,
    message: Option<String>,
    compile_ms: Option<f64>,
    from_cache: bool,
    registers: Option<u32>,
    spilled_bytes: Option<u32>,
    failed: Option<String>,
    bench: Option<BenchReport>,
}

impl Climbed<'_> {
    fn is_sound(&self) -> bool {
        self.bench
            .as_ref()
            .is_some_and(|bench| bench.passed_check && bench.points.iter().all(|point| point.rejected.is_none()))
    }

    /// Whether it is for machines of another architecture than the GPU that was asked.
    fn is_for_elsewhere(&self) -> bool {
        self.rung.spec.requires.is_some() && matches!(self.outcome, Outcome::BadRequest(_))
    }

    /// Of a size by name, in nanoseconds.
    fn median_ns(&self, point: &str) -> Option<f64> {
        let points = &self.bench.as_ref()?.points;
        Some(points.iter().find(|known| known.name == point)?.stats?.median_ns)
    }

    /// Speed as multiples of the library's, one a size.
    fn of_library(&self) -> Vec<f64> {
        self.bench.iter().flat_map(|bench| &bench.points).filter_map(gpu_core::bench::BenchPoint::of_library).collect()
    }
}

pub fn run(request: &Request<'_>, places: &Places) -> Done {
    let course = content::course(places)?;
    match &named(&course.ladders, request.name)[..] {
        [] => {
            let names: Vec<&str> = course.ladders.iter().map(|ladder| ladder.name.as_str()).collect();
            let names = names.join(", ");
            Err(usage(format!("there is no ladder `{}`; there are {names}, and `all` of them", request.name)))
        }
        [ladder] => one(ladder, request, places),
        ladders => several(ladders, request, places),
    }
}

/// The ladder of this name, or those that it stands for.
fn named<'l>(ladders: &'l [Ladder], name: &str) -> Vec<&'l Ladder> {
    let group = format!("{name}-");
    match ladders.iter().find(|ladder| ladder.name == name) {
        Some(ladder) => vec![ladder],
        None => ladders.iter().filter(|ladder| name == "all" || ladder.name.starts_with(&group)).collect(),
    }
}

fn one(ladder: &Ladder, request: &Request<'_>, places: &Places) -> Done {
    let rungs: Vec<&Rung> = match request.rung {
        None => ladder.rungs.iter().collect(),
        Some(text) => vec![ladder.rung(text).ok_or_else(|| {
            let files: Vec<&str> = ladder.rungs.iter().map(|rung| rung.file.as_str()).collect();
            usage(format!("`{text}` is not a rung of {}; they are {}", ladder.name, files.join(", ")))
        })?],
    };
    let target = request.device.target(places)?;
    if let (true, Some(rung)) = (request.rivals, rungs.last()) {
        rivals::possible(ladder, (*rung).into(), &target, request.trust_scripts)?;
    }
    let lab = engine::start(places, &target);
    let (climbed, last) = climb(ladder, &rungs, request, &target, &lab)?;
    let beside = match (climbed.last().filter(|now| request.rivals && now.is_sound()), last) {
        (Some(now), Some(compiled)) => {
            rivals::run(ladder, now.rung.into(), &compiled, places, engine::stop_on_ctrl_c()).map(Some)
        }
        _ => Ok(None),
    };
    // What was measured is told also where the rivals fail.
    let (beside, failed) = match beside {
        Ok(figures) => (figures, None),
        Err(why) => (None, Some(why)),
    };
    if request.json {
        let mut fields = ladder_json(ladder, &request.device.device, &climbed);
        fields["rivals"] = object!(beside);
        out::json(&json::envelope("ladder", fields));
    } else if let (Some(figures), Some(now)) = (&beside, climbed.last()) {
        let text = rivals::text(figures, &now.rung.file);
        let style = out::Style::stdout();
        out::print(&format!("{}\n{text}", style.bold("beside its rivals, in turns in one process")));
    }
    if let Some(why) = failed {
        return Err(why);
    }
    match climbed.iter().all(Climbed::is_sound) {
        true => Ok(()),
        false => Err(Failure::Kernel),
    }
}

/// One after the other in one worker. What is for another architecture is told, and is no failure.
fn several(ladders: &[&Ladder], request: &Request<'_>, places: &Places) -> Done {
    if request.rung.is_some() || request.rivals {
        let names: Vec<&str> = ladders.iter().map(|ladder| ladder.name.as_str()).collect();
        return Err(usage(format!(
            "--rung and --rivals are for one ladder, and `{}` stands for {}",
            request.name,
            names.join(", ")
        )));
    }
    let target = request.device.target(places)?;
    let lab = engine::start(places, &target);
    let (mut all, mut sound) = (Vec::new(), true);
    for ladder in ladders {
        let rungs: Vec<&Rung> = ladder.rungs.iter().collect();
        let (climbed, _) = climb(ladder, &rungs, request, &target, &lab)?;
        sound &= climbed.iter().all(|now| now.is_sound() || now.is_for_elsewhere());
        all.push(ladder_json(ladder, &request.device.device, &climbed));
    }
    if request.json {
        out::json(&json::envelope("ladders", object!({ "ladders": all })));
    }
    match sound {
        true => Ok(()),
        false => Err(Failure::Kernel),
    }
}

/// What became of each rung, and what the compiler said of the last. Prints them as they come, but for `--json`.
fn climb<'l>(
    ladder: &Ladder,
    rungs: &[&'l Rung],
    request: &Request<'_>,
    target: &Target,
    lab: &Lab,
) -> Result<(Vec<Climbed<'l>>, Option<CompileReport>), Failure> {
    let style = out::Style::stdout();
    if !request.json {
        out::print(&format!("{}  {}\ndevice  {}\n\n", style.bold(&ladder.name), ladder.title, target.shown));
    }
    let mut climbed: Vec<Climbed<'l>> = Vec::new();
    let mut last: Option<CompileReport> = None;
    for &rung in rungs {
        let source =
            Source { name: rung.file.clone(), text: rung.source.clone(), headers: Vec::new(), options: Vec::new() };
        let job = Job::Bench {
            source,
            spec: Box::new(rung.spec.clone()),
            device: target.choice.clone(),
            arch: request.device.arch()?,
            seed: request.device.seed,
            reference: None,
        };
        let answer = engine::run_in(lab, job, !request.json)?;
        let verdict = answer.verdict.as_ref().filter(|verdict| !verdict.passed);
        let errors = answer.compiled.as_ref().filter(|compiled| !compiled.succeeded);
        let failed = verdict
            .map(|verdict| verdict.summary.clone())
            .or_else(|| errors.and_then(|compiled| compiled.first_error()).map(|first| first.message.clone()));
        let resources = answer
            .compiled
            .as_ref()
            .and_then(|compiled| compiled.kernels.iter().find(|kernel| kernel.name == rung.spec.entry()));
        let now = Climbed {
            rung,
            message: answer.message().map(str::to_owned),
            compile_ms: answer.compiled.as_ref().map(|compiled| compiled.compile_ms),
            from_cache: answer.compiled.as_ref().is_some_and(|compiled| compiled.from_cache),
            registers: resources.map(|kernel| kernel.registers),
            spilled_bytes: resources.map(|kernel| kernel.spill_store_bytes + kernel.spill_load_bytes),
            failed,
            bench: answer.bench.clone(),
            outcome: answer.outcome,
        };
        if !request.json {
            out::print(&rung_text(&now, climbed.last(), style));
        }
        last = answer.compiled;
        let stopped = now.outcome == Outcome::Stopped;
        climbed.push(now);
        if stopped {
            return Err(Failure::Interrupted);
        }
    }
    Ok((climbed, last))
}

fn rung_text(now: &Climbed<'_>, before: Option<&Climbed<'_>>, style: out::Style) -> String {
    let mut text = format!("{}  {}\n  {}\n", style.bold(&now.rung.file), now.rung.title, now.rung.change);
    if let Some(why) = now.message.as_ref().or(now.failed.as_ref()) {
        return text + &format!("  {} {why}\n\n", style.red("failed:"));
    }
    let points: Vec<&BenchPoint> = now.bench.iter().flat_map(|bench| &bench.points).collect();
    text += &points_text(&points, |size| before.and_then(|before| before.median_ns(size)), style);
    text.push('\n');
    text
}

/// One line a size; `before` says how many nanoseconds the rung before took for it.
fn points_text(points: &[&BenchPoint], before: impl Fn(&str) -> Option<f64>, style: out::Style) -> String {
    let mut rows = Vec::new();
    for point in points {
        let Some(stats) = &point.stats else {
            let why = point.rejected.clone().or_else(|| point.counters.as_ref().map(counted));
            let mut cells = vec![String::new(); 5];
            cells[0].clone_from(&point.name);
            cells.push(why.unwrap_or_else(|| "no time here".to_owned()));
            rows.push(cells);
            continue;
        };
        let mut cells = vec![
            point.name.clone(),
            out::nanoseconds(stats.median_ns),
            format!("±{:.1}%", 100.0 * stats.spread()),
            format!("{:.1} GFLOP/s", point.flops / stats.median_ns),
            format!("{:.0} GB/s", point.bytes / stats.median_ns),
        ];
        if let (Some(library), Some(ratio)) = (&point.library, point.of_library()) {
            cells.push(format!("{ratio:.3} of {}", library.name));
        } else if let Some(ratio) = point.of_copy() {
            cells.push(format!("{ratio:.3} of a copy of as many bytes"));
        }
        if let Some(gain) = before(&point.name).map(|before| before / stats.median_ns) {
            cells.push(format!("{gain:.2}x the rung before"));
        }
        if let Some(why) = &point.rejected {
            cells.push(format!("{} {why}", style.red("rejected:")));
        }
        rows.push(cells);
    }
    use out::Align::{Left, Right};
    out::table(&[Left, Right, Right, Right, Right, Left], &rows)
}

/// What the emulator says of one launch, where it has no time to give.
fn counted(counters: &Counters) -> String {
    let global = [counters.global_load, counters.global_store, counters.global_atomic, counters.global_reduction];
    let shared = [counters.shared_load, counters.shared_store, counters.shared_atomic];
    let mut parts = vec![
        (counters.warp_instructions, "warp instructions"),
        (global.iter().map(|traffic| traffic.sectors).sum(), "sectors"),
        (shared.iter().map(|traffic| traffic.wavefronts).sum(), "shared wavefronts"),
        (shared.iter().map(|traffic| traffic.bank_conflicts).sum(), "bank conflicts"),
        (counters.async_copy_bytes, "bytes copied asynchronously"),
        (counters.matrix_instructions, "matrix instructions"),
    ];
    parts.retain(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.iter().map(|(count, what)| format!("{} {what}", out::grouped(*count))).collect();
    parts.join(", ")
}

fn ladder_json(ladder: &Ladder, device: &str, climbed: &[Climbed<'_>]) -> Value {
    let mut rungs = Vec::new();
    for (index, now) in climbed.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &climbed[before]);
        let gains: serde_json::Map<String, Value> = now
            .bench
            .iter()
            .flat_map(|bench| &bench.points)
            .filter_map(|point| {
                let gain = before?.median_ns(&point.name)? / point.stats?.median_ns;
                Some((point.name.clone(), gain.into()))
            })
            .collect();
        rungs.push(object!({
            "file": now.rung.file,
            "title": now.rung.title,
            "change": now.rung.change,
            "slower_because": now.rung.slower_because,
            "outcome": json::outcome(&now.outcome),
            "message": now.message.as_ref().or(now.failed.as_ref()),
            "compile_ms": now.compile_ms,
            "compile_from_cache": now.from_cache,
            "registers": now.registers,
            "spilled_bytes": now.spilled_bytes,
            "times_the_rung_before": gains,
            "of_library_geomean": geomean(&now.of_library()),
            "of_library_least": now.of_library().into_iter().reduce(f64::min),
            "bench": now.bench.as_ref().map(json::bench),
        }));
    }
    let measured = climbed.iter().find_map(|now| now.bench.as_ref()?.ceilings.as_ref());
    let machine = measured.map(
        |ceilings| object!({ "name": ceilings.device, "driver": ceilings.driver, "date": gpu_core::bench::today() }),
    );
    object!({ "ladder": ladder.name, "title": ladder.title, "device": device, "machine": machine, "rungs": rungs })
}

/// None of no values.
fn geomean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::{BenchPoint, Climbed, Outcome, geomean, named, points_text};
    use crate::cli::out::Style;
    use gpu_core::bench::{LibraryTime, Stats};
    use gpu_core::emulator::Counters;

    #[test]
    fn a_size_prints_with_all_that_is_known_of_it() {
        let stats = |median_ns| Stats { samples: 9, min_ns: 1e5, median_ns, p20_ns: 1e5, p80_ns: 3e5 };
        let whole = BenchPoint {
            name: "n = 64".into(),
            stats: Some(stats(2e5)),
            flops: 4e5,
            bytes: 8e5,
            copy: Some(stats(1e5)),
            library: Some(LibraryTime { name: "cuBLASLt".into(), stats: stats(3e5) }),
            rejected: Some("too fast".into()),
            ..BenchPoint::default()
        };
        let bare = BenchPoint { name: "n = 128".into(), rejected: Some("does not fit".into()), ..whole.clone() };
        let bare = BenchPoint { stats: None, ..bare };
        let text = points_text(&[&whole, &bare], |size| (size == "n = 64").then_some(3e5), Style::plain());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("  n = 64 "), "{text}");
        assert!(
            lines[0].ends_with("2.0 GFLOP/s  4 GB/s  1.500 of cuBLASLt  1.50x the rung before  rejected: too fast")
        );
        assert_eq!(lines[1].trim(), format!("n = 128{}does not fit", " ".repeat(lines[1].trim().len() - 19)));
    }

    #[test]
    fn what_was_counted_stands_where_no_time_can() {
        let mut counters = Counters { warp_instructions: 12_345, ..Counters::default() };
        counters.global_store.sectors = 64;
        let point = BenchPoint { name: "n = 64".into(), counters: Some(counters), ..BenchPoint::default() };
        let text = points_text(&[&point], |_| None, Style::plain());
        assert!(text.trim().ends_with("12 345 warp instructions, 64 sectors"), "{text}");
    }

    #[test]
    fn a_name_is_of_one_ladder_or_of_all_that_begin_with_it() {
        let course = curriculum::Course::embedded();
        let names = |name| named(&course.ladders, name).iter().map(|l| l.name.as_str()).collect::<Vec<_>>();
        assert_eq!(names("sum"), ["sum"]);
        assert_eq!(names("matmul"), ["matmul-bf16", "matmul-blackwell", "matmul-fp32", "matmul-fp8", "matmul-tf32"]);
        assert_eq!(names("all").len(), course.ladders.len());
        assert!(names("mat").is_empty() && names("").is_empty());
    }

    #[test]
    fn a_rung_for_another_architecture_is_no_failure_of_several() {
        let course = curriculum::Course::embedded();
        let of = |ladder: &str, outcome| Climbed {
            rung: &named(&course.ladders, ladder)[0].rungs[0],
            outcome,
            message: None,
            compile_ms: None,
            from_cache: false,
            registers: None,
            spilled_bytes: None,
            failed: None,
            bench: None,
        };
        let refused = Outcome::BadRequest("this exercise needs sm_120a".into());
        assert!(of("matmul-blackwell", refused.clone()).is_for_elsewhere());
        assert!(!of("matmul-blackwell", Outcome::Done).is_for_elsewhere());
        assert!(!of("copy", refused).is_for_elsewhere(), "it asks for no architecture");
    }

    #[test]
    fn a_geomean_is_the_root_of_the_product() {
        assert_eq!(geomean(&[]), None);
        assert!(geomean(&[2.0, 8.0]).is_some_and(|mean| (mean - 4.0).abs() < 1e-12));
    }
}
