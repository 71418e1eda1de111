//! Exercises of several launches on the emulator: memory stays between them, and every report says which step it is of.

use super::support::steps::{PTX, ROWS, SUM, SWAP_IN_CLUSTER, THROUGH_SCRATCH};
use super::{check_compiled, emulator, run_free};
use gpu_core::bench::{self, BenchRequest};
use gpu_core::compile::{CompileReport, GivenKernel};
use gpu_core::emulator::{LaunchName, TraceRequest};
use gpu_core::judge::CheckRequest;
use gpu_core::spec::{Spec, launch_directives};
use gpu_core::verdict::Verdict;
use std::sync::atomic::AtomicBool;

fn spec(text: &str) -> Spec {
    Spec::parse(text, "steps.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn compiled(source: &str) -> CompileReport {
    CompileReport {
        succeeded: true,
        arch: "sm_90a".to_owned(),
        ptx: PTX.to_owned(),
        launch_directives: launch_directives(source, &[]).expect("well-formed"),
        ..CompileReport::default()
    }
}

fn check(spec: &Spec) -> Verdict {
    check_compiled(spec, &compiled(""), &CheckRequest::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(spec: &Spec, compiled: &CompileReport) -> String {
    check_compiled(spec, compiled, &CheckRequest::default()).expect_err("refused").to_string()
}

fn named(step: &str, turn: Option<u64>) -> Option<LaunchName> {
    Some(LaunchName { step: step.to_owned(), turn })
}

#[test]
fn two_kernels_pass_and_are_counted_apart() {
    let verdict = check(&spec(SUM));
    assert!(verdict.passed, "{}", verdict.summary);
    let case = &verdict.cases[0];
    let names: Vec<(&str, &str, u64)> =
        case.steps.iter().map(|step| (step.name.as_str(), step.entry.as_str(), step.launches)).collect();
    assert_eq!(names, [("partial sums", "partial_sums", 1), ("combine", "combine", 1)]);
    let [first, second] = [0, 1].map(|step| case.steps[step].counters.expect("counted"));
    // 1000 floats by the first, four sums by the second: one lane of the only warp reads them.
    assert_eq!((first.global_load.bytes, second.global_load.bytes), (4000, 16));
    assert_eq!(first.global_store.bytes, 16);
    let sum = case.counters.expect("counted");
    assert_eq!(sum.warp_instructions, first.warp_instructions + second.warp_instructions);
    assert_eq!(sum.global_load.sectors, first.global_load.sectors + second.global_load.sectors);
}

#[test]
fn a_fault_says_which_step_and_ends_the_sequence() {
    let verdict = check(&spec(&SUM.replace("entry = \"combine\"", "entry = \"combine_long\"")));
    let fault = verdict.faults()[0];
    assert_eq!((fault.launch.clone(), verdict.hints[0].as_str()), (named("combine_long", None), "out_of_bounds"));
    assert!(verdict.summary.contains("step \"combine_long\", at n = 1000, parts = 4"), "{}", verdict.summary);
    // The first kernel writes past the end: the second is not even launched.
    let small = SUM.replace("shape = [\"parts\"]", "shape = [\"parts - 1\"]");
    let verdict = check(&spec(&small));
    assert_eq!(verdict.faults()[0].launch, named("partial sums", None), "{}", verdict.summary);
    assert_eq!(verdict.cases[0].steps.iter().map(|step| step.launches).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_wrong_result_names_the_step_that_wrote_it() {
    let verdict = check(&spec(&SUM.replace("entry = \"combine\"", "name = \"last\"\nentry = \"combine_short\"")));
    let mismatch = &verdict.cases[0].mismatches[0];
    assert_eq!(mismatch.writer.as_ref().expect("a writer").launch, named("last", None));
    assert!(verdict.summary.contains("thread (0,0,0) of step \"last\" wrote it"), "{}", verdict.summary);
}

#[test]
fn a_group_takes_turns_with_the_number_of_the_turn() {
    let verdict = check(&spec(ROWS));
    assert!(verdict.passed, "{}", verdict.summary);
    assert_eq!(verdict.cases[0].steps.iter().map(|step| step.launches).collect::<Vec<_>>(), [5, 5]);
    // Reading before appending finds what no thread of this turn has written yet: zeros.
    let (append, read) = ROWS.split_once("\n[[step]]\nname = \"read\"").expect("two steps");
    let (head, append) = append.split_once("\n[[step]]").expect("a step");
    let early = format!("{head}\n[[step]]\nname = \"read\"{read}\n[[step]]{append}");
    let verdict = check(&spec(&early));
    assert!(!verdict.passed);
    let writer = verdict.cases[0].mismatches[0].writer.clone().expect("a writer");
    assert_eq!(writer.launch, named("read", Some(0)), "{}", verdict.summary);
}

#[test]
fn the_courses_own_kernel_is_a_module_of_its_own() {
    let given = SUM.replace("entry = \"combine\"", "given = \"given/combine.cu\"\nentry = \"combine\"");
    let spec = spec(&given);
    // The learner's text has no `combine`.
    let mut report = compiled("");
    let whole = report.clone();
    report.ptx = report.ptx.replace("combine(", "something_else(");
    let missing = refused(&spec, &report);
    assert!(missing.contains("given/combine.cu") && missing.contains("not loaded"), "{missing}");
    report.given = vec![GivenKernel { file: "given/combine.cu".to_owned(), report: whole }];
    let verdict = check_compiled(&spec, &report, &CheckRequest::default()).expect("runs");
    assert!(verdict.passed && verdict.cases[0].steps[1].given, "{}", verdict.summary);
}

#[test]
fn signatures_are_those_of_each_step() {
    let swapped = SUM.replace("[\"partial\", \"y\", \"parts\"]", "[\"partial\", \"parts\", \"y\"]");
    let message = refused(&spec(&swapped), &compiled(""));
    assert!(message.starts_with("step \"combine\": parameter 2 of kernel `combine`"), "{message}");
    assert!(message.contains("void combine(float* partial, int parts, float* y)"), "{message}");
}

#[test]
fn directives_name_the_kernel_they_shape() {
    let spec = spec(SUM);
    let message = refused(&spec, &compiled("\n// lockstep: grid = 2"));
    assert!(message.contains("line 2: this exercise has several kernels; say which one `grid` is for"), "{message}");
    assert!(message.contains("`partial_sums.grid` or `combine.grid`"), "{message}");
    let message = refused(&spec, &compiled("// lockstep: sums.grid = 2"));
    assert!(message.contains("`sums` is no kernel of yours in this exercise"), "{message}");
    let message = refused(&spec, &compiled("// lockstep: combine.block = 64"));
    assert!(message.contains("line 1: this exercise fixes the launch shape of `combine`"), "{message}");
    let large = compiled("// lockstep: partial_sums.block = 2048");
    let verdict = check_compiled(&spec, &large, &CheckRequest::default()).expect("judged");
    assert!(!verdict.passed && verdict.summary.contains("step \"partial sums\""), "{}", verdict.summary);
    let report = compiled("// lockstep: partial_sums.grid = 4\n// lockstep: partial_sums.block = 128");
    let verdict = check_compiled(&spec, &report, &CheckRequest::default()).expect("runs");
    // Half of the 256 sums were never written, and half as many threads never look at them.
    assert!(verdict.passed, "{}", verdict.summary);
}

#[test]
fn scratch_memory_has_the_size_that_the_learner_asks_for_up_to_a_limit() {
    let with = |text: &str| check_compiled(&spec(SUM), &compiled(text), &CheckRequest::default()).expect("judged");
    assert!(with("// lockstep: size(partial) = 4").passed);
    let verdict = with("// lockstep: size(partial) = 5");
    assert_eq!((verdict.passed, verdict.hints.first().map(String::as_str)), (false, Some("workspace")));
    let wanted = "scratch buffer `partial` takes 20 bytes, and this exercise allows 16: 1 of its 5 elements";
    assert!(verdict.summary.contains(wanted), "{}", verdict.summary);
    let small = with("// lockstep: size(partial) = 3");
    assert_eq!(small.hints[0], "out_of_bounds", "{}", small.summary);
    let message = refused(&spec(SUM), &compiled("// lockstep: size(x) = 3"));
    assert!(message.contains("the size of `x` is not yours to choose; you can set `size(partial)`"), "{message}");
    let message = refused(&spec(ROWS), &compiled("// lockstep: size(cache) = 3"));
    assert!(message.contains("fixes the sizes of its buffers"), "{message}");
}

#[test]
fn the_blocks_of_a_cooperative_launch_wait_for_each_other() {
    let verdict = check(&spec(THROUGH_SCRATCH));
    assert!(verdict.passed, "{}", verdict.summary);
    assert!(verdict.cases[0].steps.is_empty(), "one launch is told by the case itself");
    let verdict = check(&spec(&THROUGH_SCRATCH.replace("cooperative = true", "cooperative = false")));
    assert!(!verdict.passed && verdict.summary.contains("not a cooperative"), "{}", verdict.summary);
    let unordered = THROUGH_SCRATCH.replace("\"through_scratch\"", "\"through_scratch_unordered\"");
    assert_eq!(check(&spec(&unordered)).hints[0], "race");
    let many = THROUGH_SCRATCH.replace("{ n = 1000 }", "{ n = \"64 * 5000\" }");
    let verdict = check(&spec(&many));
    assert_eq!(verdict.hints[0], "bad_launch", "{}", verdict.summary);
    assert!(verdict.summary.contains("fit on the device at once"), "{}", verdict.summary);
}

#[test]
fn a_cluster_is_the_steps_own() {
    let verdict = check(&spec(SWAP_IN_CLUSTER));
    assert!(verdict.passed, "{}", verdict.summary);
}

#[test]
fn traced_is_the_learners_first_launch_or_that_of_a_step() {
    let trace = || Some(TraceRequest { blocks: vec![0], warps: Vec::new(), max_bytes: 1 << 20 });
    let traced = |spec: &Spec, step: Option<&str>| {
        let request = CheckRequest { trace: trace(), trace_step: step.map(str::to_owned), ..CheckRequest::default() };
        let trace = check_compiled(spec, &compiled(""), &request).expect("runs").trace.expect("a trace");
        (trace.kernel, trace.launch)
    };
    let sum = spec(SUM);
    assert_eq!(traced(&sum, None), ("partial_sums".to_owned(), named("partial sums", None)));
    assert_eq!(traced(&sum, Some("combine")), ("combine".to_owned(), named("combine", None)));
    assert_eq!(traced(&spec(ROWS), Some("read")), ("read_row".to_owned(), named("read", Some(0))));
}

#[test]
fn free_runs_and_benchmarks_take_steps_too() {
    let go_on = AtomicBool::new(false);
    let spec = spec(SUM);
    let ran = run_free(&spec, &compiled(""));
    assert!(ran.completed && ran.case.passed, "{}", ran.summary);
    let head = |name: &str| &ran.outputs.iter().find(|output| output.name == name).expect("a buffer").head;
    let (sum, total) = (head("partial").iter().sum::<f64>(), head("y")[0]);
    assert!((sum - total).abs() < 1e-3 && ran.case.steps.len() == 2, "{sum} and {total}");
    let request = BenchRequest::default();
    let report =
        bench::measure(emulator().as_mut(), &compiled(""), None, &spec, &request, &mut |_| {}, &go_on).expect("counts");
    let point = &report.points[0];
    assert_eq!((point.steps.len(), point.workspace_bytes), (2, 16));
    assert_eq!(point.steps[0].counters.expect("counted").global_store.bytes, 16);
}
