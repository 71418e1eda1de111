//! A lab on the built binary, for tests of the worker processes.

#![allow(dead_code, reason = "each test program uses a part")]

use gpu_core::compile::{CompileReport, locate};
use gpu_core::device::DeviceChoice;
use gpu_core::job::{Emit, Event, Job, JobId, Outcome, Source};
use gpu_core::spec::Spec;
use gpu_core::verdict::Verdict;
use gpu_core::worker::{Lab, LabConfig, Limits};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest that any job of a test may take, in all.
const PATIENCE: Duration = Duration::from_secs(90);

/// The kernel that must work after every mishap.
pub const GOOD: &str = "extern \"C\" __global__ void vector_add(const float* a, const float* b, float* c, int n)\n\
                        {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) c[i] = a[i] + b[i];\n}\n";

/// Where NVRTC is. Fails, and says how to get it, when it is nowhere: these tests prove nothing without it.
pub fn nvrtc() -> PathBuf {
    match locate::locate(None, &lockstep::paths::data_dir()) {
        Ok(toolchain) => toolchain.nvrtc,
        Err(error) => panic!("this test needs NVRTC. {error}"),
    }
}

/// A lab with a data folder of its own.
pub struct TestLab {
    pub lab: Lab,
    pub folder: tempfile::TempDir,
}

pub fn config(folder: &tempfile::TempDir) -> LabConfig {
    LabConfig {
        worker_command: vec![env!("CARGO_BIN_EXE_lockstep").to_owned(), "worker".to_owned()],
        nvrtc: Some(nvrtc()),
        ..LabConfig::new(folder.path().to_owned())
    }
}

impl TestLab {
    pub fn start() -> TestLab {
        Self::with(|_| {})
    }

    pub fn with_limits(change: impl FnOnce(&mut Limits)) -> TestLab {
        Self::with(|config| change(&mut config.limits))
    }

    pub fn with(change: impl FnOnce(&mut LabConfig)) -> TestLab {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut config = config(&folder);
        change(&mut config);
        TestLab { lab: Lab::start(config), folder }
    }

    /// Waits until a compile worker is warm, so that times do not count the start.
    pub fn warm(self) -> TestLab {
        let started = Instant::now();
        while self.lab.status().nvrtc_version.is_none() {
            assert!(started.elapsed() < PATIENCE, "no compile worker: {:?}", self.lab.status());
            std::thread::sleep(Duration::from_millis(10));
        }
        self
    }

    /// Runs a job to its end: its events, and how it ended.
    pub fn run(&self, job: Job) -> (Vec<Event>, Outcome) {
        let (id, _) = self.lab.submit(job);
        self.finish(id)
    }

    pub fn finish(&self, id: JobId) -> (Vec<Event>, Outcome) {
        let started = Instant::now();
        let mut events = Vec::new();
        while started.elapsed() < PATIENCE {
            match self.lab.next_event(Duration::from_millis(100)) {
                Some((of, Event::Finished(outcome))) if of == id => return (events, outcome),
                Some((of, event)) if of == id => events.push(event),
                _ => {}
            }
        }
        panic!("no end after {PATIENCE:?}: {:?}", self.lab.status());
    }

    pub fn compile(&self, text: &str) -> (Option<CompileReport>, Outcome) {
        self.compile_for(text, "sm_90a", Emit::default())
    }

    pub fn compile_for(&self, text: &str, arch: &str, emit: Emit) -> (Option<CompileReport>, Outcome) {
        let (events, outcome) = self.run(compile_job(text, arch, emit));
        let report = events.into_iter().find_map(|event| match event {
            Event::Compiled(report) => Some(*report),
            _ => None,
        });
        (report, outcome)
    }

    /// Checks a kernel against the vector addition of [`spec`].
    pub fn check(&self, text: &str) -> (Option<Verdict>, String, Outcome) {
        let (id, _) = self.lab.submit(check_job(text));
        self.finish_check(id)
    }

    /// The verdict, what was printed, and the outcome.
    pub fn finish_check(&self, id: JobId) -> (Option<Verdict>, String, Outcome) {
        let (events, outcome) = self.finish(id);
        let (mut verdict, mut printed) = (None, String::new());
        for event in events {
            match event {
                Event::Verdict(found) => verdict = Some(*found),
                Event::Console(text) => printed += &text,
                _ => {}
            }
        }
        (verdict, printed, outcome)
    }

    /// As [`TestLab::good_run_follows`], through the device.
    pub fn good_check_follows(&self) {
        let started = Instant::now();
        let (verdict, _, outcome) = self.check(&format!("{GOOD}// {}\n", unique()));
        let took = started.elapsed();
        assert_eq!(outcome, Outcome::Done);
        let verdict = verdict.expect("a verdict");
        assert!(verdict.passed, "{}", verdict.summary);
        assert!(took < Duration::from_millis(1500), "the next good check took {took:?}");
    }

    /// A kernel never compiled before must compile soon: nothing is left of what went wrong before.
    pub fn good_run_follows(&self) {
        let started = Instant::now();
        let text = format!("{GOOD}// {}\n", unique());
        let (report, outcome) = self.compile(&text);
        assert_eq!(outcome, Outcome::Done);
        assert!(report.is_some_and(|report| report.succeeded && !report.from_cache));
        let took = started.elapsed();
        assert!(took < Duration::from_millis(1500), "the next good run took {took:?}");
    }
}

/// A number that no other call gives.
pub fn unique() -> u128 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static LAST: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    (now << 32) + u128::from(LAST.fetch_add(1, Ordering::Relaxed))
}

pub fn source(text: &str) -> Source {
    Source { name: "kernel.cu".to_owned(), text: text.to_owned(), headers: Vec::new(), options: Vec::new() }
}

pub fn compile_job(text: &str, arch: &str, emit: Emit) -> Job {
    Job::Compile { source: source(text), arch: arch.to_owned(), emit }
}

/// `emulator`, or the first GPU with `LOCKSTEP_TEST_DEVICE=gpu`.
pub fn device() -> DeviceChoice {
    match std::env::var("LOCKSTEP_TEST_DEVICE").as_deref() {
        Ok("gpu") => DeviceChoice::Gpu(0),
        _ => DeviceChoice::Emulator,
    }
}

/// Vector addition at a few small sizes.
pub fn spec() -> Spec {
    const TEXT: &str = r#"
title = "Vector addition"
entry = "vector_add"
oracle = "vector_add"
[[param]]
name = "a"
dtype = "f32"
shape = ["n"]
[[param]]
name = "b"
dtype = "f32"
shape = ["n"]
[[param]]
name = "c"
dtype = "f32"
shape = ["n"]
role = "out"
[[param]]
name = "n"
dtype = "i32"
value = "n"
[launch]
grid = ["ceil_div(n, block_x)"]
block = [256]
learner_may_change = true
[tolerance]
absolute = 0.0
relative = 1.2e-7
reason = "One addition rounds once."
[sizes]
check = [{ n = 1 }, { n = 257 }, { n = 1000 }]
bench = [{ n = 65536 }]
[cost]
flops = "n"
bytes = "12 * n"
ceiling = "memory"
"#;
    Spec::parse(TEXT, "test.toml").unwrap_or_else(|error| panic!("{error}"))
}

pub fn check_job(text: &str) -> Job {
    let spec = Box::new(spec());
    Job::Check { source: source(text), spec, device: device(), arch: None, seed: None, trace: None }
}
