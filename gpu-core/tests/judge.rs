//! The judge on the emulator: a right kernel passes, and each wrong one is rejected for what is wrong with it.

#[path = "judge/steps.rs"]
mod steps;
mod support;

use gpu_core::bench::{self, BenchRequest};
use gpu_core::compile::CompileReport;
use gpu_core::device::{Argument, Device, DeviceChoice, DeviceInfo, DeviceKind, Report, RunError, Sequence};
use gpu_core::devices;
use gpu_core::emulator::{FaultKind, TraceRequest};
use gpu_core::job::{Event, RunOptions};
use gpu_core::judge::{self, CheckRequest, FreeRun};
use gpu_core::spec::Spec;
use gpu_core::verdict::{RunReport, Verdict};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

fn emulator() -> Box<dyn Device> {
    devices::open(&DeviceChoice::Emulator).expect("the emulator is always there")
}

fn check_with(spec: &Spec, request: &CheckRequest) -> Result<Verdict, RunError> {
    check_compiled(spec, &support::precompiled(), request)
}

fn check_compiled(spec: &Spec, compiled: &CompileReport, request: &CheckRequest) -> Result<Verdict, RunError> {
    let go_on = AtomicBool::new(false);
    judge::check(emulator().as_mut(), compiled, spec, request, &mut |_| {}, &go_on)
}

/// A run at the spec's first size.
fn run_free(spec: &Spec, compiled: &CompileReport) -> RunReport {
    let go_on = AtomicBool::new(false);
    let options = RunOptions::default();
    let run = FreeRun { compiled, against: None, spec, options: &options, seed: Some(1), trace: None };
    let mut reports = Vec::new();
    let mut emit = |event| {
        if let Event::Ran(report) = event {
            reports.push(*report);
        }
    };
    judge::run_free(emulator().as_mut(), &run, &mut emit, &go_on).unwrap_or_else(|error| panic!("{error}"));
    reports.pop().expect("a report")
}

fn check(spec: &Spec) -> Verdict {
    check_with(spec, &CheckRequest::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The verdict fails, its summary holds every part, and the first hint is `key`.
#[track_caller]
fn rejected(spec: &Spec, key: &str, parts: &[&str]) -> Verdict {
    let verdict = check(spec);
    assert!(!verdict.passed, "{} passed", spec.entry());
    assert_eq!(verdict.hints.first().map(String::as_str), Some(key), "{}: {:?}", verdict.summary, verdict.hints);
    for part in parts {
        assert!(verdict.summary.contains(part), "`{part}` is not in: {}", verdict.summary);
    }
    verdict
}

#[test]
fn a_right_kernel_passes_at_every_size() {
    let spec = support::vector_add("vector_add", &[1, 31, 256, 257, 1000]);
    let verdict = check(&spec);
    assert!(verdict.passed, "{}", verdict.summary);
    assert_eq!(verdict.cases.len(), 5);
    assert!(verdict.summary.contains("All 5 cases pass"), "{}", verdict.summary);
    let counters = verdict.cases[4].counters.expect("the emulator counts");
    // 1000 floats are 125 sectors of 32 bytes; two inputs.
    assert_eq!(counters.global_load.sectors, 250);
    assert_eq!(counters.global_store.sectors, 125);
}

#[test]
fn seeds_are_fresh_and_can_be_repeated() {
    let spec = support::vector_add("subtracts", &[100]);
    let first = check(&spec);
    let second = check(&spec);
    assert_ne!(first.seed, second.seed);
    let request = CheckRequest { seed: Some(first.seed), ..CheckRequest::default() };
    let again = check_with(&spec, &request).expect("runs");
    assert_eq!(again.cases[0].mismatches, first.cases[0].mismatches);
}

#[test]
fn reading_past_the_end_is_named_with_line_block_and_thread() {
    let verdict = rejected(&support::vector_add("no_bounds_check", &[257]), "out_of_bounds", &["judge.cu:", "n = 257"]);
    let fault = verdict.faults()[0];
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    let thread = fault.thread.expect("a thread");
    assert_eq!((thread.block, thread.thread), ([1, 0, 0], [1, 0, 0]));
    let source = fault.source.as_ref().expect("a line");
    let line = support::SOURCE.lines().nth(source.line as usize - 1).expect("a line of the source");
    assert!(line.contains("c[i] = a[i] + b[i]"), "{line}");
}

#[test]
fn writing_past_the_end_is_a_fault_of_the_array() {
    let verdict = rejected(&support::vector_add("writes_past_end", &[64]), "out_of_bounds", &["`c`"]);
    let allocation = verdict.faults()[0].allocation.as_ref().expect("an array");
    assert_eq!((allocation.name.as_str(), allocation.offset, allocation.bytes), ("c", 256, 256));
}

#[test]
fn a_missing_write_is_told_from_a_wrong_one() {
    let verdict = rejected(
        &support::vector_add("last_element_missing", &[300]),
        "tail_missing",
        &["c[299] was never written", "1 of 300"],
    );
    assert!(verdict.hints.iter().any(|hint| hint == "never_written"));
    assert!(verdict.cases[0].mismatches[0].never_written);
}

#[test]
fn wrong_values_come_with_the_first_mismatches() {
    let verdict = rejected(&support::vector_add("subtracts", &[50]), "wrong_output", &["c[0] is ", "expected"]);
    let case = &verdict.cases[0];
    assert_eq!((case.mismatches.len(), case.mismatch_count, case.element_count), (10, 50, 50));
    assert_eq!(case.mismatches[3].index, [3]);
}

#[test]
fn a_changed_input_is_found_though_the_output_is_right() {
    let verdict = rejected(
        &support::vector_add("changes_input", &[100]),
        "input_changed",
        &["input `a` was changed at 100 element(s), first at 0"],
    );
    assert_eq!(verdict.cases[0].mismatch_count, 0);
}

#[test]
fn a_race_is_found() {
    let verdict = rejected(&support::vector_add("races", &[256]), "race", &["judge.cu:"]);
    assert_eq!(verdict.faults()[0].kind, FaultKind::Race);
    assert!(verdict.faults()[0].other.is_some(), "both sides are named");
}

#[test]
fn using_what_was_never_written_is_found() {
    let verdict = rejected(&support::vector_add("accumulates_into_output", &[32]), "uninitialised", &["judge.cu:"]);
    assert_eq!(verdict.faults()[0].kind, FaultKind::Uninitialised);
}

#[test]
fn exchanged_rows_and_columns_are_recognised() {
    rejected(&support::matrix_add("swaps_rows_and_columns"), "transposed_output", &["rows and columns are exchanged"]);
}

#[test]
fn a_trap_is_a_verdict() {
    rejected(&support::vector_add("traps", &[32]), "trap", &["judge.cu:"]);
}

#[test]
fn an_endless_kernel_can_be_stopped() {
    let spec = support::vector_add("never_ends", &[32]);
    let stop = AtomicBool::new(false);
    let started = Instant::now();
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let request = CheckRequest::default();
        judge::check(emulator().as_mut(), &support::precompiled(), &spec, &request, &mut |_| {}, &stop)
    });
    assert_eq!(result.err(), Some(RunError::Stopped));
    // That it ended by the stop says the error; how soon is left wide, for machines that run much else beside.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn misfitting_kernels_are_bad_requests() {
    let bad = |spec: &Spec| match check_with(spec, &CheckRequest::default()) {
        Err(RunError::BadRequest(message)) => message,
        other => panic!("{other:?}"),
    };
    let message = bad(&support::vector_add("vektor_add", &[1]));
    assert!(message.contains("vektor_add") && message.contains("vector_add"), "{message}");
    let message = bad(&support::vector_add("swaps_rows_and_columns", &[1]));
    assert!(message.contains("5") && message.contains("4"), "{message}");
    let mut free = support::vector_add("vector_add", &[1]);
    free.oracle = None;
    assert!(bad(&free).contains("oracle"));
}

#[test]
fn printed_text_and_cases_are_sent_as_they_come() {
    let spec = support::vector_add("prints", &[3, 5]);
    let mut events = Vec::new();
    let go_on = AtomicBool::new(false);
    let request = CheckRequest::default();
    let verdict = judge::check(
        emulator().as_mut(),
        &support::precompiled(),
        &spec,
        &request,
        &mut |event| events.push(event),
        &go_on,
    )
    .expect("runs");
    assert!(verdict.passed, "{}", verdict.summary);
    let console: String = events
        .iter()
        .filter_map(|event| if let Event::Console(text) = event { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(console, "n is 3\nn is 5\n");
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Case(_))).count(), 2);
}

#[test]
fn a_trace_of_the_last_case_comes_on_request() {
    let spec = support::vector_add("vector_add", &[1, 300]);
    let trace = TraceRequest { blocks: vec![0, 1], warps: Vec::new(), max_bytes: 1 << 20 };
    let verdict = check_with(&spec, &CheckRequest { trace: Some(trace), ..CheckRequest::default() }).expect("runs");
    let trace = verdict.trace.expect("a trace");
    assert_eq!((trace.grid, trace.block), ([2, 1, 1], [256, 1, 1]));
    assert!(!trace.warps.is_empty());
}

#[test]
fn directives_of_the_kernel_shape_the_launch() {
    let spec = support::vector_add("vector_add", &[300]);
    let mut compiled = support::precompiled();
    compiled.launch_directives =
        gpu_core::spec::launch_directives("// lockstep: block = 64\n", &[]).expect("well-formed");
    let trace = TraceRequest { blocks: vec![0], warps: Vec::new(), max_bytes: 1 << 20 };
    let request = CheckRequest { trace: Some(trace), ..CheckRequest::default() };
    let go_on = AtomicBool::new(false);
    let verdict = judge::check(emulator().as_mut(), &compiled, &spec, &request, &mut |_| {}, &go_on).expect("runs");
    let trace = verdict.trace.expect("a trace");
    assert_eq!((trace.grid, trace.block), ([5, 1, 1], [64, 1, 1]));
}

#[test]
fn a_free_run_shows_the_outputs() {
    let mut spec = support::vector_add("vector_add", &[20]);
    spec.oracle = None;
    let go_on = AtomicBool::new(false);
    let report = support::run(emulator().as_mut(), &support::precompiled(), &spec, &go_on).expect("runs");
    assert!(report.completed && report.case.faults.is_empty());
    let [a, b, c] = report.outputs.as_slice() else { panic!("three buffers") };
    assert_eq!((c.name.as_str(), c.element_count, c.head.len()), ("c", 20, 16));
    assert!((a.head[7] + b.head[7] - c.head[7]).abs() < 1e-6);
}

#[test]
fn a_benchmark_on_the_emulator_counts_and_pretends_no_time() {
    let mut spec = support::vector_add("vector_add", &[100]);
    spec.emulator_bench = vec![[("n".to_owned(), 4096)].into()];
    let go_on = AtomicBool::new(false);
    let run = |spec: &Spec| {
        bench::measure(
            emulator().as_mut(),
            &support::precompiled(),
            None,
            spec,
            &BenchRequest::default(),
            &mut |_| {},
            &go_on,
        )
        .expect("runs")
    };
    let report = run(&spec);
    let point = &report.points[0];
    assert!(report.passed_check && point.timing.is_none() && point.stats.is_none() && point.copy.is_none());
    assert_eq!(point.counters.expect("counters").global_store.sectors, 4096 / 8);
    assert!(report.summary.contains("no time"), "{}", report.summary);
    spec.steps[0].entry = "subtracts".to_owned();
    let report = run(&spec);
    assert!(
        !report.passed_check && report.points.is_empty() && report.summary.contains("Not timed"),
        "{}",
        report.summary
    );
}

/// Looks like a GPU to the judge and runs on a second emulator; answers with `fails` when that is set.
struct PretendedGpu {
    info: DeviceInfo,
    emulator: Box<dyn Device>,
    runs: u32,
    fails: Option<RunError>,
}

impl PretendedGpu {
    fn new() -> Self {
        let emulator = emulator();
        let mut info = emulator.info().clone();
        info.kind = DeviceKind::Gpu;
        info.name = "Pretended".to_owned();
        Self { info, emulator, runs: 0, fails: None }
    }

    fn check(&mut self, spec: &Spec) -> Result<Verdict, RunError> {
        let go_on = AtomicBool::new(false);
        judge::check(self, &support::precompiled(), spec, &CheckRequest::default(), &mut |_| {}, &go_on)
    }
}

impl Device for PretendedGpu {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, compiled: &CompileReport) -> Result<(), RunError> {
        self.emulator.load(compiled)
    }

    fn run(
        &mut self,
        sequence: &Sequence<'_>,
        arguments: &mut [Argument],
        stop: &AtomicBool,
    ) -> Result<Report, RunError> {
        self.runs += 1;
        match &self.fails {
            Some(error) => Err(error.clone()),
            None => self.emulator.run(sequence, arguments, stop),
        }
    }

    fn as_any(&mut self) -> &mut dyn std::any::Any {
        self
    }
}

#[test]
fn a_gpu_is_judged_by_its_own_sizes_and_by_the_emulators_checks() {
    let mut spec = support::vector_add("vector_add", &[100, 1000]);
    spec.emulator_check = vec![[("n".to_owned(), 33)].into()];
    let mut gpu = PretendedGpu::new();
    let verdict = gpu.check(&spec).expect("runs");
    assert!(verdict.passed, "{}", verdict.summary);
    let cases: Vec<(&str, &str)> =
        verdict.cases.iter().map(|case| (case.name.as_str(), case.device.as_str())).collect();
    let emulator = gpu.emulator.info().name.clone();
    assert_eq!(cases, [("n = 33", emulator.as_str()), ("n = 100", "Pretended"), ("n = 1000", "Pretended")]);
    // A race does not change the output on this pretended GPU; the emulator's checks still find it.
    let verdict = gpu.check(&support::vector_add("races", &[256])).expect("runs");
    assert!(!verdict.passed && verdict.hints[0] == "race", "{}", verdict.summary);
}

#[test]
fn the_exercises_branch_is_judged_where_the_gpu_takes_another_one() {
    let spec = support::vector_add("vector_add", &[100]);
    let mut branch = support::precompiled();
    for right in [true, false] {
        if !right {
            branch.ptx = branch.ptx.replace("add.f32", "sub.f32");
        }
        let mut gpu = PretendedGpu::new();
        let request = CheckRequest { branch: Some(branch.clone()), ..CheckRequest::default() };
        let go_on = AtomicBool::new(false);
        let verdict =
            judge::check(&mut gpu, &support::precompiled(), &spec, &request, &mut |_| {}, &go_on).expect("runs");
        assert_eq!(verdict.passed, right, "{}", verdict.summary);
        let passed: Vec<bool> = verdict.cases.iter().map(|case| case.passed).collect();
        assert_eq!(passed, [right, true, true], "the branch, then what the GPU takes on the emulator and on the GPU");
        assert!(verdict.notes.iter().any(|note| note.contains("branch for")), "{:?}", verdict.notes);
    }
}

#[test]
fn a_kernel_that_could_take_the_context_along_never_reaches_the_gpu() {
    let mut gpu = PretendedGpu::new();
    let verdict = gpu.check(&support::vector_add("no_bounds_check", &[257])).expect("runs");
    assert_eq!((gpu.runs, verdict.passed), (0, false));
    assert!(verdict.notes[0].starts_with("Not run on Pretended"), "{:?}", verdict.notes);
}

#[test]
fn sticky_errors_and_unreadable_ptx_are_told_apart() {
    let mut gpu = PretendedGpu::new();
    let lost = RunError::Sticky("lost".to_owned());
    gpu.fails = Some(lost.clone());
    assert_eq!(gpu.check(&support::vector_add("vector_add", &[10])).err(), Some(lost));
    // PTX that the emulator refuses: on the emulator an error of the environment, beside a GPU a note.
    let mut compiled = support::precompiled();
    compiled.ptx = compiled.ptx.replace("add.f32", "frobnicate.f32");
    let spec = support::vector_add("vector_add", &[10]);
    let go_on = AtomicBool::new(false);
    let request = CheckRequest::default();
    let error =
        judge::check(emulator().as_mut(), &compiled, &spec, &request, &mut |_| {}, &go_on).expect_err("refused");
    let RunError::Environment(message) = error else { panic!("{error}") };
    assert!(message.contains("frobnicate"), "{message}");
}

/// The warm edit-to-verdict budget leaves the judge 60 ms for a lesson like day 4's.
#[test]
fn a_check_of_a_small_exercise_is_quick() {
    let spec = support::vector_add("vector_add", &[1, 257, 1000, 4096]);
    let mut device = emulator();
    let compiled = support::precompiled();
    let go_on = AtomicBool::new(false);
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let started = Instant::now();
        judge::check(device.as_mut(), &compiled, &spec, &CheckRequest::default(), &mut |_| {}, &go_on).expect("runs");
        best = best.min(started.elapsed());
    }
    assert!(best < Duration::from_millis(60), "{best:?}");
}
