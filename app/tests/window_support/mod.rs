//! The window without a screen: a course, a scratch data folder and an engine of the test's choice.

#![allow(dead_code, reason = "each test program uses a part")]

use curriculum::store::{Store, ThemeChoice};
use curriculum::{Course, Exercise};
use egui_kittest::kittest::Queryable;
use egui_kittest::{Harness, SnapshotOptions, SnapshotResults};
use gpu_core::compile::{CompileReport, Diagnostic, KernelResources, Severity};
use gpu_core::device::{DeviceChoice, DeviceInfo, DeviceKind};
use gpu_core::emulator::{
    AccessKind, AllocationRef, Counters, Fault, FaultKind, LineCounters, SourceLine, Space, ThreadId, Traffic,
};
use gpu_core::job::{Event, Job, Outcome};
use gpu_core::verdict::{CaseReport, Mismatch, Verdict, Writer};
use lockstep::app::App;
use lockstep::effect::Update;
use lockstep::lab::{Engine, Scripted};
use lockstep::state::{Compiler, JobKey, LabKey, Loadable};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

pub const SIZE: [f32; 2] = [1280.0, 800.0];

/// Longest that background work of a test may take.
const PATIENCE: Duration = Duration::from_secs(240);

/// An engine that the test keeps a hand on.
#[derive(Clone)]
pub struct Shared(pub Rc<RefCell<Scripted>>);

impl Engine for Shared {
    fn connect(&mut self, lab: &LabKey, remote: Option<&str>, settings: &curriculum::store::Settings) {
        self.0.borrow_mut().connect(lab, remote, settings);
    }

    fn submit(&mut self, lab: &LabKey, job: Job) -> JobKey {
        self.0.borrow_mut().submit(lab, job)
    }

    fn stop(&mut self, job: &JobKey) {
        self.0.borrow_mut().stop(job);
    }

    fn poll(&mut self) -> Vec<(JobKey, Event)> {
        self.0.borrow_mut().poll()
    }
}

/// Longest that a frame may keep the learner waiting.
pub const FRAME_PROMISE: Duration = Duration::from_millis(50);

/// Stretches of frames that may be spoiled by other tests on the same cores before the promise counts as broken.
const STRETCHES: usize = 4;

/// Draws frames for a second, up to four times, until not one of them takes longer than promised.
pub fn check_frames(mut draw: impl FnMut()) {
    let mut worst = Vec::new();
    for _ in 0..STRETCHES {
        let (start, mut slowest, mut count) = (Instant::now(), Duration::ZERO, 0);
        while start.elapsed() < Duration::from_secs(1) {
            let frame = Instant::now();
            draw();
            slowest = slowest.max(frame.elapsed());
            count += 1;
            std::thread::sleep(Duration::from_millis(2));
        }
        println!("{count} frames, slowest {slowest:?}");
        if slowest < FRAME_PROMISE {
            return;
        }
        worst.push(slowest);
    }
    panic!("a frame took longer than {FRAME_PROMISE:?} in every stretch: {worst:?}");
}

/// A window with its scratch folder.
pub struct Window {
    pub harness: Harness<'static, App>,
    pub engine: Shared,
    pub folder: tempfile::TempDir,
}

/// What the script answers a job with; None is silence.
pub type Script = Box<dyn FnMut(&Job) -> Option<Vec<Event>>>;

impl Window {
    /// Day 4 open, its text read, the compiler found.
    pub fn open(dark: bool, size: [f32; 2], script: Script) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        Self::open_in(folder, dark, size, script)
    }

    pub fn open_in(folder: tempfile::TempDir, dark: bool, size: [f32; 2], script: Script) -> Self {
        let parts = Self::parts(folder.path().to_owned(), dark, size, script);
        Self::opened(folder, parts)
    }

    /// With this many pixels for each point.
    pub fn open_scaled(dark: bool, size: [f32; 2], scale: f32, script: Script) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let parts = Self::parts_scaled(folder.path().to_owned(), dark, size, scale, script);
        Self::opened(folder, parts)
    }

    /// Takes the words of the last day away, as in a course that is still being written, and opens it.
    pub fn open_a_planned_day(&mut self) {
        self.plan_the_last(1);
    }

    /// Takes the words of so many days of the last week away, and opens the last.
    pub fn plan_the_last(&mut self, count: usize) {
        let mut course = curriculum::Course::clone(&self.app().state.course);
        let days = &mut course.weeks.last_mut().expect("a last week").days;
        let id = days.last().expect("a last day").id.clone();
        for day in days.iter_mut().rev().take(count) {
            day.status = curriculum::Status::Planned { summary: day.summary.clone() };
            day.lesson.sections.clear();
            day.exercises.clear();
            day.answers.clear();
            day.visualizations.clear();
            day.quiz = curriculum::quiz::Quiz::default();
        }
        self.harness.state_mut().inject(lockstep::effect::Update::Course(Ok(std::sync::Arc::new(course))));
        self.harness.state_mut().command(lockstep::command::Command::OpenDay(id));
        self.settle();
    }

    fn opened(folder: tempfile::TempDir, (harness, engine): (Harness<'static, App>, Shared)) -> Self {
        let mut window = Self { harness, engine, folder };
        window.until("the text is read", |app| app.state.desk().is_some_and(|desk| desk.loaded));
        window.settle();
        window
    }

    /// The window alone, on a data folder that outlives it.
    pub fn parts(path: PathBuf, dark: bool, size: [f32; 2], script: Script) -> (Harness<'static, App>, Shared) {
        Self::parts_scaled(path, dark, size, 1.0, script)
    }

    fn parts_scaled(
        path: PathBuf,
        dark: bool,
        size: [f32; 2],
        scale: f32,
        script: Script,
    ) -> (Harness<'static, App>, Shared) {
        let engine = Shared(Rc::new(RefCell::new(Scripted::new(script))));
        let given = engine.clone();
        let theme = if dark { egui::Theme::Dark } else { egui::Theme::Light };
        let builder = Harness::builder().with_theme(theme).with_size(size).with_pixels_per_point(scale);
        let harness = builder.with_max_steps(64).build_eframe(move |cc| {
            let store = Store::open(&path).expect("a fresh data folder");
            let mut app = App::with_parts(&cc.egui_ctx, Course::embedded(), store, path, Box::new(given));
            app.state.settings.theme = if dark { ThemeChoice::Dark } else { ThemeChoice::Light };
            app.state.settings.editor_points = 13.0;
            app.apply_look(&cc.egui_ctx);
            // Shown by the About dialog.
            app.state.data_dir = "/home/learner/.local/share/lockstep".into();
            app.state.devices.labs.entry(LabKey::Here).or_default().devices = Loadable::Ready(vec![emulator(), gpu()]);
            app.inject(Update::Compiler(Compiler::Found { origin: "Lockstep's data folder".into() }));
            app.open_first(Some("week1/day4"));
            app
        });
        (harness, engine)
    }

    /// Draws frames until it holds; background work gets real time.
    pub fn until(&mut self, what: &str, holds: impl Fn(&App) -> bool) {
        let start = Instant::now();
        loop {
            self.harness.step();
            if holds(self.harness.state()) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "never came: {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Draws frames until nothing changes; a second of the window's time passes, so that the text is compiled.
    pub fn settle(&mut self) {
        self.harness.run_steps(8);
        // Every control that was ever shown in a test has a name.
        self.harness.check_accessibility();
    }

    pub fn click(&mut self, label: &str) {
        self.harness.get_by_label(label).click();
        self.settle();
    }

    pub fn key(&mut self, modifiers: egui::Modifiers, key: egui::Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.settle();
    }

    pub fn type_text(&mut self, text: &str) {
        self.harness.event(egui::Event::Text(text.to_owned()));
        self.settle();
    }

    /// Replaces the whole kernel by selecting all and pasting, as a learner does.
    pub fn paste_kernel(&mut self, text: &str) {
        self.harness.get_by_label("Code editor").focus();
        self.settle();
        self.key(egui::Modifiers::COMMAND, egui::Key::A);
        self.harness.event(egui::Event::Paste(text.to_owned()));
        self.settle();
    }

    pub fn app(&self) -> &App {
        self.harness.state()
    }

    pub fn text(&self) -> &str {
        self.app().state.desk().map_or("", |desk| desk.editor.text())
    }

    pub fn has(&self, label: &str) -> bool {
        self.harness.query_all_by_label_contains(label).next().is_some()
    }

    pub fn shot(&mut self, results: &mut SnapshotResults, name: &str) {
        // Letters of different software rasterizers differ by a few pixels at their edges.
        let options = SnapshotOptions::default().threshold(1.5).max_failed_pixels(400);
        self.harness.remove_cursor();
        self.harness.step();
        results.add(self.harness.try_snapshot_options(name, &options));
    }
}

pub fn emulator() -> DeviceInfo {
    DeviceInfo {
        choice: DeviceChoice::Emulator,
        kind: DeviceKind::Emulator,
        name: "Emulator".into(),
        capability: (9, 0),
        arch: "sm_90a".into(),
        multiprocessors: None,
        memory_bytes: None,
        l2_bytes: None,
        clock_khz: None,
        memory_clock_khz: None,
        memory_bus_bits: None,
        shared_per_block_optin_bytes: None,
        driver_version: None,
    }
}

pub fn gpu() -> DeviceInfo {
    DeviceInfo {
        choice: DeviceChoice::Gpu(0),
        kind: DeviceKind::Gpu,
        name: "NVIDIA H200".into(),
        multiprocessors: Some(132),
        ..emulator()
    }
}

fn counters(n: u64) -> Counters {
    let warps = n.div_ceil(32);
    Counters {
        warp_instructions: warps * 14,
        thread_instructions: n * 14,
        branches: warps,
        divergent_branches: u64::from(!n.is_multiple_of(32)),
        global_load: Traffic { requests: warps * 2, sectors: warps * 8, bytes: n * 8 },
        global_store: Traffic { requests: warps, sectors: warps * 4, bytes: n * 4 },
        ..Counters::default()
    }
}

fn place(line: u32) -> SourceLine {
    SourceLine { file: "kernel.cu".into(), line, column: 5 }
}

pub fn case(n: u64, passed: bool) -> CaseReport {
    let wrong = |i: u64| Mismatch {
        buffer: "c".into(),
        index: vec![i],
        expected: 0.25 * i as f64 - 3.0,
        got: 0.0,
        never_written: i.is_multiple_of(2),
        undefined: false,
        code: None,
        writer: (!i.is_multiple_of(2)).then(|| Writer {
            launch: None,
            thread: ThreadId { block: [0, 0, 0], thread: [i as u32, 0, 0], warp: 0, lane: i as u32 },
            source: Some(place(6)),
        }),
    };
    CaseReport {
        name: format!("n = {n}"),
        seed: 7,
        device: "emulator".into(),
        passed,
        reason: if passed { String::new() } else { format!("{n} of {n} elements of c are wrong") },
        mismatches: if passed { Vec::new() } else { (0..5.min(n)).map(wrong).collect() },
        mismatch_count: if passed { 0 } else { n },
        element_count: n,
        worst_error_ratio: 0.0,
        outputs: Vec::new(),
        corrupted: Vec::new(),
        faults: Vec::new(),
        first_nonfinite: None,
        notes: Vec::new(),
        counters: Some(counters(n)),
        lines: vec![
            LineCounters { source: place(6), counters: counters(n) },
            LineCounters { source: place(5), counters: Counters { warp_instructions: n, ..Counters::default() } },
        ],
        steps: Vec::new(),
        wall_ms: 3.0,
    }
}

pub fn out_of_bounds(line: u32) -> Fault {
    Fault {
        kind: FaultKind::OutOfBounds,
        message: "thread 232 of block 3 reads a[1000], which has 1000 elements".into(),
        kernel: "vector_add".into(),
        launch: None,
        source: Some(place(line)),
        inlined_at: None,
        instruction: "ld.global.f32".into(),
        thread: Some(ThreadId { block: [3, 0, 0], thread: [232, 0, 0], warp: 7, lane: 8 }),
        space: Some(Space::Global),
        access: Some(AccessKind::Read),
        address: Some(0x1000),
        access_bytes: 4,
        allocation: Some(AllocationRef { name: "a".into(), base: 0, bytes: 4000, offset: 4000 }),
        other: None,
        occurrences: 24,
    }
}

/// Moves a fault to a function of a header that its line calls.
fn in_helper(fault: &mut Fault) {
    fault.inlined_at = fault.source.replace(SourceLine { file: "lab.cuh".into(), line: 90, column: 5 });
}

pub fn verdict(passed: bool, faults: Vec<Fault>) -> Verdict {
    let mut cases: Vec<CaseReport> = [1, 31, 257, 1000].map(|n| case(n, passed)).into();
    let (hint, wrong) = match faults.first() {
        Some(_) => ("out_of_bounds", "It reads outside an array."),
        None => ("wrong_output", "c is wrong at n = 1: element 0 was never written."),
    };
    cases[0].faults = faults;
    let right = format!("All {} sizes are right and nothing is wrong inside.", cases.len());
    Verdict {
        passed,
        summary: if passed { right } else { wrong.into() },
        notes: Vec::new(),
        hints: vec![hint.into()],
        cases,
        trace: None,
        captured: None,
        seed: 7,
        compile_ms: 41.0,
        total_ms: 63.0,
    }
}

pub fn compiled(text: &str) -> CompileReport {
    // The script's idea of a compiler: the word `oops` is an error.
    let errors = text.lines().enumerate().filter_map(|(index, line)| {
        let column = line.find("oops")? as u32 + 1;
        Some(Diagnostic {
            severity: Severity::Error,
            file: "kernel.cu".into(),
            line: index as u32 + 1,
            column,
            message: "identifier \"oops\" is undefined".into(),
        })
    });
    let diagnostics: Vec<Diagnostic> = errors.collect();
    CompileReport {
        succeeded: diagnostics.is_empty(),
        arch: "sm_90a".into(),
        nvrtc_version: "13.5".into(),
        diagnostics,
        kernels: vec![KernelResources {
            name: "vector_add".into(),
            registers: 12,
            constant_bytes: 380,
            ..KernelResources::default()
        }],
        ptx: "//\n.version 9.5\n.target sm_90a\n.visible .entry vector_add(\n)\n{\n\tret;\n}\n".into(),
        cubin: Vec::new(),
        sass: None,
        given: Vec::new(),
        declared: Vec::new(),
        arrays: Vec::new(),
        structs: Vec::new(),
        conditions: Vec::new(),
        unset: Vec::new(),
        calls: Vec::new(),
        watched: Vec::new(),
        launch_directives: Default::default(),
        from_cache: false,
        compile_ms: 41.0,
    }
}

/// Compiles and judges by simple rules: `oops` does not compile, a kernel without a guard is out of bounds, one
/// without an addition is wrong, and the rest passes. With `helper(`, the fault is in a header.
pub fn simple_script() -> Script {
    Box::new(|job| Some(answer(job)))
}

pub fn answer(job: &Job) -> Vec<Event> {
    match job {
        Job::Compile { source, .. } => {
            vec![Event::Compiled(Box::new(compiled(&source.text))), Event::Finished(Outcome::Done)]
        }
        Job::Check { source, .. } => {
            let report = compiled(&source.text);
            if !report.succeeded {
                let diagnostics = report.diagnostics.clone();
                return vec![Event::Compiled(Box::new(report)), Event::Finished(Outcome::CompileErrors(diagnostics))];
            }
            let guarded = source.text.contains("if (");
            let adds = source.text.contains("] + ");
            let line = source.text.lines().position(|line| line.contains("] + ")).unwrap_or(0) as u32 + 1;
            let mut faults = if adds && !guarded { vec![out_of_bounds(line)] } else { Vec::new() };
            if source.text.contains("helper(") {
                faults.iter_mut().for_each(in_helper);
            }
            let verdict = verdict(adds && guarded, faults);
            let mut events = vec![Event::Compiled(Box::new(report))];
            events.extend(verdict.cases.iter().cloned().map(|case| Event::Case(Box::new(case))));
            events.extend([Event::Verdict(Box::new(verdict)), Event::Finished(Outcome::Done)]);
            events
        }
        _ => vec![Event::Finished(Outcome::Done)],
    }
}

/// Day 4's reference kernel, as the course has it.
pub fn reference() -> String {
    exercise(|exercise| exercise.reference.clone())
}

/// The plain answer to day 4, as the course has it.
pub fn solution() -> String {
    exercise(|exercise| exercise.solution().to_owned())
}

fn exercise(read: impl Fn(&Exercise) -> String) -> String {
    let course = Course::embedded();
    read(course.unit("week1/day4").expect("day 4").exercise().expect("an exercise"))
}

/// A guarded vector add that both the script and the judge pass.
pub const GOOD: &str = "#include \"lab.cuh\"\n\nextern \"C\" __global__ void vector_add(const float* a, const float* b, \
                        float* c, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) c[i] = \
                        a[i] + b[i];\n}\n";

/// The same without its guard.
pub fn unguarded() -> String {
    GOOD.replace("if (i < n) ", "")
}
