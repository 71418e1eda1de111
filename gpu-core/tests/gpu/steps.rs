//! Several launches, cooperative ones and clusters on a GPU.

use super::support::steps::{ROWS, SOURCE, SUM, SWAP_IN_CLUSTER, THROUGH_SCRATCH};
use super::{Gpu, check, compile, gpu, on_emulated_driver, quick};
use gpu_core::bench;
use gpu_core::compile::{CompileReport, GivenKernel};
use gpu_core::device::{Argument, Buffer, Launch, RunError, Sequence};
use gpu_core::spec::{Dtype, Geometry, Role, Spec};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn spec(text: &str, sizes: &str) -> Spec {
    let at = text.find("sizes = ").expect("sizes");
    let rest = &text[at..];
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let text = text.replace(line, &format!("sizes = {sizes}"));
    Spec::parse(&text, "steps.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn compiled(gpu: &Gpu) -> CompileReport {
    compile(SOURCE, &gpu.device.info().arch.clone())
}

#[test]
#[ignore = "needs a GPU"]
fn sequences_pass_on_both_devices() {
    let mut gpu = gpu();
    let compiled = compiled(&gpu);
    let sum =
        "{ check = [{ n = 1, parts = 1 }, { n = 1_000_003, parts = 300 }], emulator_check = [{ n = 999, parts = 4 }] }";
    let rows = "{ check = [{ rows = 300, columns = 1000 }], emulator_check = [{ rows = 3, columns = 40 }] }";
    for (text, sizes, launches) in [(SUM, sum, 1), (ROWS, rows, 300)] {
        let verdict = check(&mut gpu, &compiled, &spec(text, sizes));
        assert!(verdict.passed, "{}", verdict.summary);
        let last = verdict.cases.last().expect("cases");
        assert_eq!(last.device, gpu.device.info().name);
        assert!(last.steps.len() == 2 && last.steps.iter().all(|step| step.launches == launches), "{:?}", last.steps);
    }
    // The course's own kernel is a module of its own.
    let given = SUM.replace("entry = \"combine\"", "given = \"given/combine.cu\"\nentry = \"combine\"");
    let report = CompileReport {
        given: vec![GivenKernel { file: "given/combine.cu".to_owned(), report: compiled.clone() }],
        ..compiled.clone()
    };
    let verdict = check(&mut gpu, &report, &spec(&given, sum));
    assert!(verdict.passed, "{}", verdict.summary);
    // A wrong second step is a wrong result on the GPU too.
    let wrong = SUM.replace("entry = \"combine\"", "entry = \"combine_short\"");
    let verdict = check(&mut gpu, &compiled, &spec(&wrong, sum));
    assert!(!verdict.passed, "{}", verdict.summary);
}

#[test]
#[ignore = "needs a GPU"]
fn the_blocks_of_a_grid_wait_for_each_other() {
    let mut gpu = gpu();
    let compiled = compiled(&gpu);
    let verdict = check(&mut gpu, &compiled, &spec(THROUGH_SCRATCH, "{ check = [{ n = 1000 }, { n = 4000 }] }"));
    assert!(verdict.passed, "{}", verdict.summary);
    // More blocks than fit are refused with both numbers, before anything runs.
    let buffer = |name: &str, role| {
        Argument::Buffer(Buffer { name: name.to_owned(), dtype: Dtype::F32, role, bytes: vec![0; 4096] })
    };
    let mut arguments = vec![
        buffer("x", Role::In),
        buffer("scratch", Role::Scratch),
        buffer("y", Role::Out),
        Argument::Scalar(1024i32.to_le_bytes().to_vec()),
    ];
    let geometry = Geometry { cooperative: true, ..Geometry::new([1 << 20, 1, 1], [64, 1, 1]) };
    let launch = Sequence::of(Launch::new("through_scratch", geometry), Duration::from_secs(10));
    gpu.device.load(&compiled).expect("loads");
    let refused = gpu.device.run(&launch, &mut arguments, &AtomicBool::new(false)).expect_err("too many blocks");
    let RunError::BadRequest(message) = refused else { panic!("{refused:?}") };
    assert!(message.contains("1048576 blocks") && message.contains("fit on this GPU at once"), "{message}");
    println!("{message}");
}

#[test]
#[ignore = "needs a GPU"]
fn clusters_share_their_memory() {
    let mut gpu = gpu();
    if gpu.device.info().capability < (9, 0) {
        println!("not run: clusters came with 9.0");
        return;
    }
    let compiled = compiled(&gpu);
    let sizes = "{ check = [{ n = 1024 }, { n = 131072 }], emulator_check = [{ n = 1024 }] }";
    let verdict = check(&mut gpu, &compiled, &spec(SWAP_IN_CLUSTER, sizes));
    assert!(verdict.passed, "{}", verdict.summary);
}

#[test]
#[ignore = "needs a GPU"]
fn a_benchmark_times_the_sequence_and_each_step() {
    let mut gpu = gpu();
    let compiled = compiled(&gpu);
    let sizes = "{ check = [{ n = 999, parts = 4 }], bench = [{ n = \"1 << 26\", parts = 1024 }] }";
    let spec = spec(SUM, sizes);
    let go_on = AtomicBool::new(false);
    if on_emulated_driver() {
        // It has no times worth a bound.
        return;
    }
    let device = gpu.device.as_mut();
    let report = bench::measure(device, &compiled, Some(&compiled), &spec, &quick(), &mut |_| {}, &go_on)
        .unwrap_or_else(|error| panic!("{error}"));
    let point = &report.points[0];
    assert_eq!(point.rejected, None);
    let whole = point.stats.expect("timed").median_ns;
    let each: Vec<f64> = point.steps.iter().map(|step| step.stats.expect("timed").median_ns).collect();
    println!("whole {whole:.0} ns, steps {each:?} ns; {}", report.summary);
    let together: f64 = each.iter().sum();
    assert!(each.len() == 2 && each[0] < whole && each[1] < whole, "{whole} and {each:?}");
    assert!((0.7..1.6).contains(&(together / whole)), "{together} and {whole}");
}
