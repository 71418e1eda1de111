//! The judge and the benchmark on a real GPU. Ignored by default, so that no run without a GPU counts them as passed:
//!
//! ```text
//! cargo test -p gpu-core --test gpu -- --ignored --nocapture
//! ```
//!
//! They need a GPU with its driver, and NVRTC (`LOCKSTEP_NVRTC` or any place where Lockstep finds it).
//!
//! One test is not ignored: it runs the others, but for the measurements of `timed`, against the emulator's driver
//! library in a process of their own. So the code that drives GPUs is tested on machines with none.

#[path = "gpu/steps.rs"]
mod steps;
mod support;
#[path = "gpu/views.rs"]
mod views;

use gpu_core::bench::{self, BenchRequest, Compared, StopRule, Timing};
use gpu_core::compile::{CompileReport, build, locate, nvrtc, options::Arch};
use gpu_core::device::{Argument, Buffer, Device, DeviceChoice, Launch, RunError, Sequence};
use gpu_core::devices;
use gpu_core::job::Source;
use gpu_core::judge::{self, CheckRequest};
use gpu_core::spec::{Dtype, Geometry, Role, Spec, launch_directives};
use gpu_core::verdict::Verdict;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Benchmarks disturb each other: one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Gpu {
    device: Box<dyn Device>,
    _turn: MutexGuard<'static, ()>,
}

fn gpu() -> Gpu {
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let device = devices::open(&DeviceChoice::Gpu(0)).unwrap_or_else(|error| panic!("these tests need a GPU: {error}"));
    Gpu { device, _turn: turn }
}

/// Set for the tests that run on the emulator's driver library.
const ON_EMULATED_DRIVER: &str = "LOCKSTEP_TEST_EMULATED_DRIVER";

fn on_emulated_driver() -> bool {
    std::env::var_os(ON_EMULATED_DRIVER).is_some()
}

fn compile(text: &str, arch: &str) -> CompileReport {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let toolchain = match locate::locate(None, folder.path()) {
        Ok(toolchain) => toolchain,
        // PTX that was compiled beforehand is all that the emulator's driver takes anyway.
        Err(_) if on_emulated_driver() && text == support::SOURCE => return support::precompiled(),
        Err(_) if on_emulated_driver() && text == support::steps::SOURCE => {
            return CompileReport { ptx: support::steps::PTX.to_owned(), ..support::precompiled() };
        }
        Err(error) => panic!("NVRTC is needed: {error:?}"),
    };
    let compiler = nvrtc::Nvrtc::load(&toolchain).unwrap_or_else(|error| panic!("{error}"));
    let source =
        Source { name: "kernel.cu".to_owned(), text: text.to_owned(), headers: Vec::new(), options: Vec::new() };
    let source = gpu_core::compile::includes::with_course_headers(&source);
    let arch = Arch::parse(arch).expect("an architecture");
    let mut report = build::build(&compiler, &toolchain, &source, arch).unwrap_or_else(|error| panic!("{error:?}"));
    assert!(report.succeeded, "{:?}", report.diagnostics);
    report.launch_directives = launch_directives(text, &[]).expect("well-formed directives");
    report
}

fn check(gpu: &mut Gpu, compiled: &CompileReport, spec: &Spec) -> Verdict {
    let go_on = AtomicBool::new(false);
    judge::check(gpu.device.as_mut(), compiled, spec, &CheckRequest::default(), &mut |_| {}, &go_on)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn quick() -> BenchRequest {
    BenchRequest {
        seed: None,
        rule: StopRule { least_seconds: 0.1, most_seconds: 2.0, ..StopRule::default() },
        library: None,
        ceilings: None,
    }
}

#[test]
#[ignore = "needs a GPU"]
fn devices_are_listed_with_the_emulator_last() {
    let _gpu = gpu();
    let devices = devices::list();
    assert!(devices.len() >= 2, "{devices:?}");
    assert_eq!(devices.last().map(|info| info.choice.clone()), Some(DeviceChoice::Emulator));
    println!("{:#?}", devices[0]);
    assert!(devices[0].multiprocessors.is_some() && devices[0].l2_bytes.is_some());
}

#[test]
#[ignore = "needs a GPU"]
fn a_right_kernel_passes_on_both_devices() {
    let mut gpu = gpu();
    let compiled = compile(support::SOURCE, &gpu.device.info().arch.clone());
    let mut spec = support::vector_add("vector_add", &[1, 257, 65_537, 1_000_003]);
    spec.emulator_check = spec.check[..2].to_vec();
    let verdict = check(&mut gpu, &compiled, &spec);
    assert!(verdict.passed, "{}", verdict.summary);
    assert_eq!(verdict.cases.len(), 6, "two on the emulator, four on the GPU");
    assert_eq!(verdict.cases[5].device, gpu.device.info().name);
    let started = Instant::now();
    check(&mut gpu, &compiled, &support::vector_add("vector_add", &[1, 257, 1000]));
    println!("warm check: {:?}", started.elapsed());
}

#[test]
#[ignore = "needs a GPU"]
fn wrong_kernels_are_rejected_before_they_reach_the_gpu() {
    let mut gpu = gpu();
    let compiled = compile(support::SOURCE, &gpu.device.info().arch.clone());
    for (entry, key) in [
        ("no_bounds_check", "out_of_bounds"),
        ("races", "race"),
        ("subtracts", "wrong_output"),
        ("last_element_missing", "tail_missing"),
    ] {
        // At 257 alone the last element is also all that the second block makes.
        let verdict = check(&mut gpu, &compiled, &support::vector_add(entry, &[257, 1000]));
        assert!(!verdict.passed);
        assert_eq!(verdict.hints[0], key, "{}", verdict.summary);
        println!("{entry}: {}", verdict.summary);
    }
    // And the context has survived them all.
    assert!(check(&mut gpu, &compiled, &support::vector_add("vector_add", &[100])).passed);
}

/// Runs a kernel on the GPU alone, past the emulator's checks.
fn raw_run(
    device: &mut dyn Device,
    compiled: &CompileReport,
    entry: &str,
    limit: Duration,
) -> Result<(Vec<Argument>, gpu_core::device::Report), RunError> {
    let n = 1000i32;
    let buffer = |name: &str, role, value: f32| {
        Argument::Buffer(Buffer {
            name: name.to_owned(),
            dtype: Dtype::F32,
            role,
            bytes: value.to_le_bytes().repeat(n as usize),
        })
    };
    let mut arguments = vec![
        buffer("a", Role::In, 1.0),
        buffer("b", Role::In, 2.0),
        buffer("c", Role::Out, 0.0),
        Argument::Scalar(n.to_le_bytes().to_vec()),
    ];
    let launch = Sequence::of(Launch::new(entry, Geometry::new([4, 1, 1], [256, 1, 1])), limit);
    device.load(compiled)?;
    let report = device.run(&launch, &mut arguments, &AtomicBool::new(false))?;
    Ok((arguments, report))
}

#[test]
#[ignore = "needs a GPU"]
fn guard_zones_poison_and_inputs_are_watched_on_the_gpu_itself() {
    let mut gpu = gpu();
    let compiled = compile(support::SOURCE, &gpu.device.info().arch.clone());
    let limit = Duration::from_secs(5);
    let (_, report) = raw_run(gpu.device.as_mut(), &compiled, "writes_past_end", limit).expect("no sticky error");
    assert_eq!(report.corruptions.len(), 1, "{report:?}");
    assert_eq!(
        (report.corruptions[0].buffer.as_str(), report.corruptions[0].first_byte, report.corruptions[0].changed_bytes),
        ("c", 4000, 4)
    );
    let (_, report) = raw_run(gpu.device.as_mut(), &compiled, "changes_input", limit).expect("no sticky error");
    assert_eq!((report.corruptions[0].buffer.as_str(), report.corruptions[0].first_byte), ("a", 0));
    let (arguments, report) = raw_run(gpu.device.as_mut(), &compiled, "last_element_missing", limit).expect("runs");
    assert!(report.corruptions.is_empty());
    let Argument::Buffer(c) = &arguments[2] else { panic!("a buffer") };
    assert_eq!(c.bytes[3996..], *Dtype::F32.poison());
    assert_eq!(c.bytes[..4], 3f32.to_le_bytes());
}

/// Faults that end the process are met in a process of their own: this test binary, called again for one test.
fn in_own_process(test: &str) -> (String, Duration) {
    let started = Instant::now();
    let exe = std::env::current_exe().expect("this binary");
    let output = std::process::Command::new(exe)
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("LOCKSTEP_GPU_CHILD", "1")
        .output()
        .expect("a child");
    (String::from_utf8_lossy(&output.stdout).into_owned(), started.elapsed())
}

fn is_child() -> bool {
    std::env::var_os("LOCKSTEP_GPU_CHILD").is_some()
}

fn child(entry: &str, limit: Duration) {
    let mut device = devices::open(&DeviceChoice::Gpu(0)).expect("a GPU");
    let compiled = compile(support::SOURCE, &device.info().arch.clone());
    let error = raw_run(device.as_mut(), &compiled, entry, limit).expect_err("a fault");
    println!("CHILD {error:?}");
    let again = raw_run(device.as_mut(), &compiled, "vector_add", limit);
    println!("AGAIN {}", again.is_ok());
    // Without the exit handlers: the driver's could wait for a kernel that never ends.
    // SAFETY: ends the process; nothing in it is needed any more, and the lines above are flushed.
    unsafe { libc::_exit(0) }
}

#[test]
#[ignore = "needs a GPU"]
fn an_illegal_address_is_sticky_and_the_next_process_works() {
    if is_child() {
        child("far_out", Duration::from_secs(5));
    }
    let mut turn = gpu();
    let (text, _) = in_own_process("an_illegal_address_is_sticky_and_the_next_process_works");
    assert!(text.contains("CHILD Sticky(") && text.contains("AGAIN false"), "{text}");
    println!("{text}");
    let compiled = compile(support::SOURCE, &turn.device.info().arch.clone());
    assert!(check(&mut turn, &compiled, &support::vector_add("vector_add", &[100])).passed);
}

#[test]
#[ignore = "needs a GPU"]
fn a_trap_is_sticky() {
    if is_child() {
        child("traps", Duration::from_secs(5));
    }
    let _turn = gpu();
    let (text, took) = in_own_process("a_trap_is_sticky");
    assert!(text.contains("CHILD Sticky("), "{text}");
    println!("{text}, {took:?}");
}

#[test]
#[ignore = "needs a GPU"]
fn an_endless_kernel_meets_its_limit() {
    if is_child() {
        child("never_ends", Duration::from_millis(500));
    }
    let _turn = gpu();
    let (text, took) = in_own_process("an_endless_kernel_meets_its_limit");
    assert!(text.contains("CHILD Limit(") && text.contains("AGAIN false"), "{text}");
    println!("{text}, {took:?}");
}

fn first_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/week1/day4-first-kernel")
}

/// The first exercise: its spec, and what its kernels are compiled to.
fn first_exercise(gpu: &Gpu, kernel: &str) -> (Spec, CompileReport) {
    let folder = first_folder();
    let spec = Spec::load(&folder.join("exercise.toml")).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(folder.join(kernel)).expect("a kernel");
    (spec, compile(&text, &gpu.device.info().arch.clone()))
}

#[test]
#[ignore = "needs a GPU"]
fn the_first_exercise_tells_right_from_wrong() {
    let mut gpu = gpu();
    if on_emulated_driver() && locate::locate(None, Path::new("")).is_err() {
        println!("skipped: its kernels are compiled afresh, and there is no NVRTC here");
        return;
    }
    let (spec, solution) = first_exercise(&gpu, "solution.cu");
    let (_, reference) = first_exercise(&gpu, "reference.cu");
    for kernel in [&solution, &reference] {
        let verdict = check(&mut gpu, kernel, &spec);
        assert!(verdict.passed, "{}", verdict.summary);
    }
    // The list is the course's half of the file, which `Spec` does not hold.
    let text = std::fs::read_to_string(first_folder().join("exercise.toml")).expect("an exercise");
    let table: toml::Table = text.parse().expect("TOML");
    let wrongs = table["wrong"].as_array().expect("known-wrong kernels");
    for wrong in wrongs {
        let (file, fault) = (wrong["file"].as_str().expect("a file"), wrong["fault"].as_str().expect("a fault"));
        let (_, compiled) = first_exercise(&gpu, file);
        let verdict = check(&mut gpu, &compiled, &spec);
        assert!(!verdict.passed && verdict.hints.iter().any(|hint| hint == fault), "{file}: {}", verdict.summary);
    }
}

/// Fewer than this and the list below would be testing next to nothing.
#[cfg(target_os = "linux")]
const LEAST_TESTS: usize = 12;

#[test]
#[cfg(target_os = "linux")]
fn these_tests_pass_on_the_emulated_driver() {
    let exe = std::env::current_exe().expect("this binary");
    let library = exe.with_file_name("liblockstep_cuda.so");
    assert!(library.is_file(), "cargo builds the driver library beside this test: {}", library.display());
    let folder = tempfile::tempdir().expect("a scratch folder");
    for name in ["libcuda.so", "libcuda.so.1"] {
        std::os::unix::fs::symlink(&library, folder.path().join(name)).expect("a link");
    }
    let output = std::process::Command::new(&exe)
        .args(["--ignored", "--nocapture", "--skip", "timed::"])
        .env("LD_LIBRARY_PATH", folder.path())
        .env("LOCKSTEP_ARCH", "sm_90")
        .env(ON_EMULATED_DRIVER, "1")
        .output()
        .expect("a child");
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{said}");
    let passed = text.lines().filter_map(|line| line.strip_prefix("test result: ok. ")).next_back();
    let count = passed.and_then(|line| line.split(' ').next()?.parse::<usize>().ok());
    assert!(count.is_some_and(|count| count >= LEAST_TESTS), "{text}");
}

/// Measurements: they mean something on a real GPU only.
mod timed {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn ceilings_are_plausible() {
        let mut gpu = gpu();
        let go_on = AtomicBool::new(false);
        let ceilings = bench::measure_all_ceilings(gpu.device.as_mut(), None, &mut |_| {}, &go_on)
            .unwrap_or_else(|error| panic!("{error}"));
        println!("{ceilings:#?}");
        let info = gpu.device.info();
        let cores = f64::from(info.multiprocessors.expect("known")) * f64::from(info.clock_khz.expect("known")) * 1e3;
        // 64 to 128 multiply-adds a clock on every chip since Volta; a probe reaches most of that.
        assert!(ceilings.fp32_flops > 0.8 * cores * 64.0 * 2.0 && ceilings.fp32_flops < 1.1 * cores * 128.0 * 2.0);
        if let (Some(khz), Some(bits)) = (info.memory_clock_khz, info.memory_bus_bits) {
            let nominal = 2.0 * f64::from(khz) * 1e3 * f64::from(bits) / 8.0;
            assert!(
                (0.6..1.0).contains(&(ceilings.copy_bytes_per_s / nominal)),
                "{}",
                ceilings.copy_bytes_per_s / nominal
            );
        }
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn wide_vector_addition_keeps_up_with_a_copy() {
        let mut gpu = gpu();
        let source = format!("// lockstep: grid = ceil_div(n, 4 * block_x)\n{}", support::SOURCE);
        let compiled = compile(&source, &gpu.device.info().arch.clone());
        let reference = compile(support::SOURCE, &gpu.device.info().arch.clone());
        let spec = support::vector_add("vector_add_wide", &[1, 1000, 4099]);
        let go_on = AtomicBool::new(false);
        let report = bench::measure(
            gpu.device.as_mut(),
            &compiled,
            Some(&reference),
            &spec,
            &BenchRequest::default(),
            &mut |_| {},
            &go_on,
        )
        .unwrap_or_else(|error| panic!("{error}"));
        for point in &report.points {
            println!(
                "{}: {:?}\n  copy {:?}\n  reference {:?} {:?}\n  share {:?}\n  {:?}",
                point.name,
                point.stats,
                point.copy,
                point.reference,
                point.against_reference,
                point.share_of_ceiling,
                point.caveats
            );
            assert_eq!(point.rejected, None);
        }
        println!("{}", report.summary);
        let small = &report.points[0];
        assert!(
            matches!(small.timing, Some(Timing::Measured { cold_l2: false, .. })),
            "2^16 elements take microseconds"
        );
        let large = &report.points[1];
        assert!(matches!(large.timing, Some(Timing::Measured { cold_l2: true, .. })));
        let ratio = large.copy.expect("timed").median_ns / large.stats.expect("timed").median_ns;
        println!("vector add moves {ratio:.3} times the bytes of a copy in the same time");
        assert!(ratio >= 0.97, "{ratio}");
        // The same text with and without four elements a thread: both launch shapes are their own.
        assert!(matches!(large.against_reference, Some(Compared::Faster | Compared::Inconclusive)));
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn a_kernel_that_skips_its_work_is_rejected() {
        let mut gpu = gpu();
        let compiled = compile(support::SOURCE, &gpu.device.info().arch.clone());
        let spec = support::vector_add("lazy_when_large", &[1, 1000]);
        let go_on = AtomicBool::new(false);
        let report = bench::measure(gpu.device.as_mut(), &compiled, None, &spec, &quick(), &mut |_| {}, &go_on)
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(report.passed_check, "it is right at the sizes that are checked");
        let reason = report.points[1].rejected.as_ref().expect("2^28 elements in no time");
        println!("{reason}");
        assert!(reason.contains("impossible"), "{reason}");
        assert_eq!(report.points[1].share_of_ceiling, None);
        // With a reference the wrong output is seen as well.
        let mut reference = compiled.clone();
        reference.ptx = compiled.ptx.clone();
        let report = bench::measure(
            gpu.device.as_mut(),
            &compiled,
            Some(&reference),
            &support::vector_add("does_nothing", &[100]),
            &quick(),
            &mut |_| {},
            &go_on,
        )
        .unwrap_or_else(|error| panic!("{error}"));
        assert!(!report.passed_check && report.points.is_empty());
    }

    /// A product of 2048 has 17 billion operations: after timing a sample of its elements is computed in float64.
    #[test]
    #[ignore = "needs a GPU"]
    fn what_is_too_large_to_compute_is_checked_by_a_sample() {
        let mut gpu = gpu();
        let arch = gpu.device.info().arch.clone();
        let spec = Spec::parse(views::PRODUCT, "product.toml").unwrap_or_else(|error| panic!("{error}"));
        let go_on = AtomicBool::new(false);
        for (factor, rejected) in [("1.0f", false), ("(n > 1000 ? 1.01f : 1.0f)", true)] {
            let compiled = compile(&views::PRODUCT_KERNEL.replace("FACTOR", factor), &arch);
            let started = Instant::now();
            let report = bench::measure(gpu.device.as_mut(), &compiled, None, &spec, &quick(), &mut |_| {}, &go_on)
                .unwrap_or_else(|error| panic!("{error}"));
            assert!(report.passed_check, "{}", report.summary);
            let point = &report.points[0];
            println!("{:?} in {:?}: {:?}", point.stats.map(|stats| stats.median_ns), started.elapsed(), point.rejected);
            assert_eq!(point.rejected.is_some(), rejected, "{:?}", point.rejected);
            if let Some(why) = &point.rejected {
                assert!(why.contains("wrong after timing"), "{why}");
            }
            assert!(!point.caveats.iter().any(|caveat| caveat.contains("too large for the float64 reference")));
        }
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn the_reference_of_the_first_exercise_reaches_the_ceiling() {
        let mut gpu = gpu();
        let (spec, plain) = first_exercise(&gpu, "solution.cu");
        let (_, reference) = first_exercise(&gpu, "reference.cu");
        let go_on = AtomicBool::new(false);
        let report = bench::measure(
            gpu.device.as_mut(),
            &reference,
            Some(&plain),
            &spec,
            &BenchRequest::default(),
            &mut |_| {},
            &go_on,
        )
        .unwrap_or_else(|error| panic!("{error}"));
        println!(
            "{}\n{:#?}",
            report.summary,
            report.points.iter().map(|p| (&p.name, p.stats, p.copy, p.reference, &p.caveats)).collect::<Vec<_>>()
        );
        let large = report.points.last().expect("a point");
        let ratio = large.copy.expect("timed").median_ns / large.stats.expect("timed").median_ns;
        assert!(ratio >= 0.97, "{ratio}");
    }
}
