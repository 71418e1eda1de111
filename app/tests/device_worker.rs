//! Device workers through the built binary: verdicts, and what broken kernels do to them. On the emulator; with
//! `LOCKSTEP_TEST_DEVICE=gpu` on the first GPU.
#![cfg(target_os = "linux")]

mod lab_support;

use gpu_core::device::DeviceChoice;
use gpu_core::job::{Event, Job, Outcome};
use lab_support::{GOOD, TestLab, check_job, device, source, spec, unique};
use std::time::{Duration, Instant};

/// A `vector_add` with another body.
fn kernel(body: &str) -> String {
    format!(
        "extern \"C\" __global__ void vector_add(const float* a, const float* b, float* c, int n)\n{{\n{body}\n}}\n"
    )
}

const ENDLESS: &str = "    volatile int go = 1;\n    while (go) { }\n    c[0] = a[0];";

/// Runs a warm-up check so that later times count no start.
fn warm_lab() -> TestLab {
    let lab = TestLab::start().warm();
    let (verdict, _, outcome) = lab.check(GOOD);
    assert_eq!(outcome, Outcome::Done);
    assert!(verdict.expect("a verdict").passed);
    lab
}

fn bad_request(lab: &TestLab, text: &str) -> String {
    let (_, _, outcome) = lab.check(text);
    let Outcome::BadRequest(why) = outcome else { panic!("{outcome:?}") };
    why
}

#[test]
fn a_right_kernel_passes_and_the_verdict_tells_its_times() {
    let lab = warm_lab();
    let (verdict, _, _) = lab.check(&format!("{GOOD}// {}\n", unique()));
    let verdict = verdict.unwrap();
    assert!(verdict.compile_ms > 1.0 && verdict.total_ms > verdict.compile_ms, "{verdict:?}");
    lab.good_check_follows();
}

#[test]
fn kernels_that_do_not_fit_the_exercise_name_the_declaration_to_write() {
    let lab = warm_lab();
    let why = bad_request(&lab, "");
    assert!(why.contains("it defines no kernel") && why.contains("extern \"C\" __global__ void vector_add("), "{why}");
    let why = bad_request(&lab, &GOOD.replace("vector_add", "add"));
    assert!(why.contains("it defines `add`"), "{why}");
    let why = bad_request(&lab, &GOOD.replace("extern \"C\" ", ""));
    assert!(why.contains("without `extern \"C\"`"), "{why}");
    let why = bad_request(&lab, "extern \"C\" __global__ void vector_add(float* a) { a[0] = 1.0f; }");
    assert!(why.contains("takes 1 parameter, the exercise passes 4"), "{why}");
    let why = bad_request(&lab, &GOOD.replace("int n", "double n"));
    assert!(why.contains("parameter 4"), "{why}");
    let (_, _, outcome) = lab.check(&GOOD.replace("c[i] =", "d[i] ="));
    assert!(matches!(outcome, Outcome::CompileErrors(found) if found[0].line == 4));
    lab.good_check_follows();
}

#[test]
fn an_endless_loop_ends_and_says_so() {
    let lab = warm_lab();
    let (verdict, _, outcome) = lab.check(&kernel(ENDLESS));
    match outcome {
        // The emulator stops by its own budget and tells the line.
        Outcome::Done => {
            let verdict = verdict.expect("a verdict");
            assert!(!verdict.passed);
            let line = verdict.faults().first().and_then(|fault| fault.source.as_ref()).map(|source| source.line);
            assert!(matches!(line, Some(3..=5)), "{:?}", verdict.faults());
        }
        // A kernel on a GPU can only be killed.
        Outcome::LimitExceeded(why) => assert!(why.contains("loop"), "{why}"),
        other => panic!("{other:?}"),
    }
    lab.good_check_follows();
}

#[test]
fn stopping_an_endless_loop_takes_a_moment() {
    let lab = warm_lab();
    let (id, stop) = lab.lab.submit(check_job(&kernel(ENDLESS)));
    std::thread::sleep(Duration::from_millis(700));
    let asked = Instant::now();
    stop.stop();
    assert_eq!(lab.finish(id).1, Outcome::Stopped);
    assert!(asked.elapsed() < Duration::from_millis(1500), "{:?}", asked.elapsed());
    lab.good_check_follows();
}

#[test]
fn an_illegal_address_fails_the_check_and_not_the_lab() {
    let lab = warm_lab();
    let text =
        kernel("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) *(float*)(i + 64) = a[i] + b[i];");
    let (verdict, _, outcome) = lab.check(&text);
    match outcome {
        Outcome::Done => {
            let verdict = verdict.expect("a verdict");
            assert!(!verdict.passed);
            assert_eq!(
                verdict.faults()[0].source.as_ref().map(|source| source.line),
                Some(4),
                "{:?}",
                verdict.faults()
            );
        }
        Outcome::Crashed(why) => assert!(why.contains("address"), "{why}"),
        other => panic!("{other:?}"),
    }
    lab.good_check_follows();
}

#[test]
fn ten_million_printed_lines_are_cut() {
    let lab = warm_lab();
    let text = kernel(
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) c[i] = a[i] + b[i];\n\
         \x20   if (i < 1000) for (int k = 0; k < 10000; ++k) printf(\"thread %d says hello for time %d\\n\", i, k);",
    );
    let (_, printed, outcome) = lab.check(&text);
    assert!(printed.starts_with("thread "), "{:?}", printed.get(..80));
    assert!(printed.len() < (1 << 20) + 1000, "{} bytes", printed.len());
    assert!(!matches!(outcome, Outcome::Crashed(_) | Outcome::Environment(_)), "{outcome:?}");
    lab.good_check_follows();
}

#[test]
fn a_worker_killed_in_the_middle_of_a_run_is_replaced() {
    let lab = warm_lab();
    let (id, _) = lab.lab.submit(check_job(&kernel(ENDLESS)));
    std::thread::sleep(Duration::from_millis(500));
    let role = if device() == DeviceChoice::Emulator { "emulator" } else { "gpu 0" };
    let workers = lab.lab.status().workers;
    let victim = workers.iter().find(|worker| worker.busy && worker.role == role).expect("a busy worker").pid;
    // SAFETY: plain system call on a process of our own.
    unsafe { libc::kill(victim as i32, libc::SIGKILL) };
    let (_, _, outcome) = lab.finish_check(id);
    let Outcome::Crashed(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("signal 9") && why.contains("A fresh one is started"), "{why}");
    lab.good_check_follows();
}

#[test]
fn typing_is_compiled_while_a_check_runs() {
    let lab = warm_lab();
    let (id, stop) = lab.lab.submit(check_job(&kernel(ENDLESS)));
    std::thread::sleep(Duration::from_millis(300));
    lab.good_run_follows();
    stop.stop();
    lab.finish(id);
}

#[test]
fn a_free_run_needs_no_oracle() {
    let lab = warm_lab();
    let spec = Box::new(gpu_core::spec::Spec { oracle: None, ..spec() });
    let job = Job::Run {
        source: source(GOOD),
        spec,
        device: device(),
        arch: None,
        seed: Some(1),
        trace: None,
        options: Box::default(),
    };
    let (events, outcome) = lab.run(job);
    assert_eq!(outcome, Outcome::Done);
    let ran = events.into_iter().find_map(|event| match event {
        Event::Ran(report) => Some(report),
        _ => None,
    });
    assert!(ran.is_some_and(|report| report.completed));
}

#[test]
fn the_emulator_is_always_among_the_devices() {
    let lab = TestLab::start();
    let (events, outcome) = lab.run(Job::Devices);
    assert_eq!(outcome, Outcome::Done);
    let Some(Event::Devices(devices)) = events.first() else { panic!("{events:?}") };
    assert!(devices.iter().any(|device| device.choice == DeviceChoice::Emulator));
    assert_eq!(lab.lab.status().devices.as_ref(), Some(devices));
}

#[test]
fn a_gpu_that_is_not_there_is_an_environment_problem() {
    let lab = TestLab::start();
    let Job::Check { source, spec, seed, trace, .. } = check_job(GOOD) else { unreachable!() };
    let (_, outcome) = lab.run(Job::Check { source, spec, device: DeviceChoice::Gpu(63), arch: None, seed, trace });
    assert!(matches!(&outcome, Outcome::Environment(why) if !why.is_empty()), "{outcome:?}");
}

/// Prints the figures; run it alone on a quiet machine:
/// `cargo test -p lockstep --test device_worker -- --ignored --nocapture`.
#[test]
#[ignore = "measures time"]
fn warm_edit_to_verdict_time() {
    let lab = warm_lab();
    let mut times: Vec<f64> = (0..31)
        .map(|_| {
            let text = format!("{GOOD}// {}\n", unique());
            let started = Instant::now();
            let (verdict, _, outcome) = lab.check(&text);
            assert_eq!(outcome, Outcome::Done);
            assert!(verdict.is_some_and(|verdict| verdict.passed));
            started.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    println!("warm edit to verdict: {median:.1} ms (median of 31; {:.1} to {:.1})", times[0], times[30]);
    assert!(median < 150.0);
}
