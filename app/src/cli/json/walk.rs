//! Every field of a report reaches `--json`, or is listed here as left out.

use gpu_core::bench::{
    BenchPoint, BenchReport, Ceilings, Compared, Figure, KernelFacts, LibraryTime, Reached, RivalTime, Stats, Timing,
    Unit,
};
use gpu_core::compile::{CompileReport, Diagnostic, GivenKernel, KernelResources, Severity};
use gpu_core::emulator::{
    AccessKind, AllocationRef, Counters, Fault, FaultKind, LaunchName, LineCounters, OtherSide, SourceLine, Space,
    ThreadId, Trace,
};
use gpu_core::spec::Dtype;
use gpu_core::verdict::{
    Captured, CapturedBuffer, CaseReport, CodePair, FirstNonfinite, Mismatch, NonfiniteStep, OutputReport, RunOutput,
    RunReport, StepReport, Verdict, Writer,
};
use serde::Serialize;
use serde_json::Value;

/// What is not printed, and why.
const LEFT_OUT: [(&str, &str); 24] = [
    ("trace", "hundreds of megabytes of steps, for pictures"),
    ("verdict.captured", "the numbers of the traced case, likewise"),
    ("compiled.calls", "for messages about the learner's own text"),
    ("compiled.watched", "likewise: the learner's own comments"),
    ("compiled.ptx", "a product: `lockstep compile --emit ptx`"),
    ("compiled.cubin", "a product: `lockstep compile --emit cubin`"),
    ("compiled.sass", "a product: `lockstep compile --emit sass`"),
    ("compiled.declared", "for messages about the learner's own text"),
    ("compiled.arrays", "likewise: their names and extents are in the messages"),
    ("compiled.structs", "likewise"),
    ("compiled.conditions", "likewise"),
    ("compiled.unset", "likewise"),
    ("run.outputs[].bytes", "written to files where they are asked for"),
    ("run.case.reason", "`summary` has it"),
    ("run.case.worst_error_ratio", "of a tolerance, which a free run need not have"),
    ("run.case.outputs", "likewise; `outputs` has the buffers"),
    ("run.case.outputs[]", "likewise"),
    ("compiled.launch_directives", "the learner's own comments"),
    ("compiled.given[].report", "the course's kernel; its resources are `kernels`"),
    ("bench.ceilings.copy_bytes_per_s", "one of `figures`"),
    ("bench.ceilings.fp32_flops", "one of `figures`"),
    ("bench.ceilings.more", "the others of `figures`"),
    ("bench.ceilings.more[]", "likewise"),
    ("bench.points[].timing.Modelled", "the other form of `timing`"),
];

/// What is printed under another name.
const RENAMED: [(&str, &str); 5] = [
    (".launch.step", ".step.name"),
    (".launch", ".step"),
    (".timing.Measured", ".timing"),
    // What a free run has in common with a check's case stands beside what it has alone.
    ("run.case.element_count", "run.compared"),
    ("run.case", "run"),
];

fn place(line: u32) -> SourceLine {
    SourceLine { file: "kernel.cu".to_owned(), line, column: 1 }
}

fn thread() -> ThreadId {
    ThreadId { block: [1, 0, 0], thread: [2, 0, 0], warp: 0, lane: 2 }
}

fn launch() -> Option<LaunchName> {
    Some(LaunchName { step: "combine".to_owned(), turn: Some(3) })
}

fn fault() -> Fault {
    Fault {
        kind: FaultKind::Race,
        message: "both write".to_owned(),
        kernel: "k".to_owned(),
        launch: launch(),
        source: Some(place(3)),
        inlined_at: Some(place(4)),
        instruction: "st".to_owned(),
        thread: Some(thread()),
        space: Some(Space::Global),
        access: Some(AccessKind::Write),
        address: Some(16),
        access_bytes: 4,
        allocation: Some(AllocationRef { name: "c".to_owned(), base: 0, bytes: 64, offset: 16 }),
        other: Some(OtherSide {
            source: Some(place(5)),
            inlined_at: Some(place(6)),
            thread: thread(),
            access: Some(AccessKind::Read),
        }),
        occurrences: 2,
    }
}

fn lines() -> Vec<LineCounters> {
    vec![LineCounters { source: place(3), counters: Counters::default() }]
}

fn stats() -> Option<Stats> {
    Some(Stats { samples: 20, median_ns: 1.0, p20_ns: 1.0, p80_ns: 2.0, min_ns: 0.5 })
}

fn steps() -> Vec<StepReport> {
    let (name, entry) = ("combine".to_owned(), "combine".to_owned());
    vec![StepReport { name, entry, given: true, launches: 1, counters: Some(Counters::default()), stats: stats() }]
}

fn words() -> Vec<String> {
    vec!["words".to_owned()]
}

fn mismatch() -> Mismatch {
    Mismatch {
        buffer: "c".to_owned(),
        index: vec![1],
        expected: 1.0,
        got: 2.0,
        never_written: false,
        undefined: false,
        code: Some(CodePair { got: 1, expected: Some(2), bits: 4, got_scale: Some(1.0), expected_scale: Some(1.0) }),
        writer: Some(Writer { launch: launch(), thread: thread(), source: Some(place(3)) }),
    }
}

fn first_nonfinite() -> Option<FirstNonfinite> {
    let step = NonfiniteStep {
        value: 3.0,
        expression: "expf(1204.5)".to_owned(),
        operands: vec![1.0],
        instruction: "ex2".to_owned(),
        source: Some(place(3)),
        inlined_at: Some(place(4)),
        launch: launch(),
        thread: thread(),
        occurrences: 2,
    };
    let (buffer, index, sentence) = ("c".to_owned(), vec![1], "words".to_owned());
    Some(FirstNonfinite { sentence, buffer, index, first: step.clone(), then: Some(step) })
}

fn case() -> CaseReport {
    let output = OutputReport {
        of: "c".to_owned(),
        metric: "elementwise".to_owned(),
        measured: 1.0,
        limit: 1.0,
        is_at_least: false,
        passed: true,
        reason: "words".to_owned(),
    };
    CaseReport {
        name: "n = 1".to_owned(),
        seed: 1,
        device: "emulator".to_owned(),
        passed: false,
        reason: "wrong".to_owned(),
        mismatches: vec![mismatch()],
        mismatch_count: 1,
        element_count: 2,
        worst_error_ratio: 3.0,
        outputs: vec![output],
        corrupted: words(),
        faults: vec![fault()],
        first_nonfinite: first_nonfinite(),
        notes: words(),
        counters: Some(Counters::default()),
        lines: lines(),
        steps: steps(),
        wall_ms: 1.0,
    }
}

fn verdict() -> Verdict {
    Verdict {
        passed: false,
        summary: "wrong".to_owned(),
        cases: vec![case()],
        hints: words(),
        notes: words(),
        trace: Some(Trace::default()),
        captured: Some(Captured {
            case: "n = 1".to_owned(),
            sizes: vec![("n".to_owned(), 1)],
            buffers: vec![CapturedBuffer { name: "c".to_owned(), shape: vec![1], is_output: true, values: vec![1.0] }],
        }),
        seed: 1,
        compile_ms: 1.0,
        total_ms: 2.0,
    }
}

fn ran() -> RunReport {
    RunReport {
        case: case(),
        completed: true,
        summary: "words".to_owned(),
        hints: words(),
        trace: Some(Trace::default()),
        outputs: vec![RunOutput {
            name: "y".to_owned(),
            dtype: Dtype::F32,
            shape: vec![1],
            is_output: true,
            element_count: 1,
            head: vec![1.0],
            never_written: 0,
            undefined: 0,
            nan_count: 0,
            infinite_count: 0,
            bytes: vec![0; 4],
        }],
    }
}

fn bench() -> BenchReport {
    let point = BenchPoint {
        name: "n = 1".to_owned(),
        timing: Some(Timing::Measured { nanos: vec![1.0], cold_l2: true }),
        stats: stats(),
        flops: 1.0,
        bytes: 1.0,
        share_of_ceiling: Some(0.5),
        bound: "copy bandwidth".to_owned(),
        copy: stats(),
        reference: stats(),
        against_reference: Some(Compared::Faster),
        library: stats().map(|stats| LibraryTime { name: "cuBLASLt".to_owned(), stats }),
        rivals: vec![RivalTime { key: "cub".to_owned(), name: "CUB".to_owned(), median_ns: 2.0, own_median_ns: 1.0 }],
        counters: Some(Counters::default()),
        lines: lines(),
        steps: steps(),
        workspace_bytes: 16,
        caveats: words(),
        rejected: Some("words".to_owned()),
    };
    let figure = Figure {
        key: "l2".to_owned(),
        name: "L2".to_owned(),
        value: 1.0,
        unit: Unit::BytesPerSecond,
        how: "read".to_owned(),
    };
    BenchReport {
        device: "GPU".to_owned(),
        passed_check: true,
        points: vec![point],
        milestones: vec![Reached { name: "m".to_owned(), reached: Some(true), because: "fast".to_owned() }],
        summary: "fast".to_owned(),
        when_unix_s: 1,
        ceilings: Some(Ceilings {
            device: "GPU".to_owned(),
            driver: "1".to_owned(),
            date: "2026-11-21".to_owned(),
            copy_bytes_per_s: 1.0,
            fp32_flops: 1.0,
            more: vec![figure],
            clock_mhz: Some(1.0),
            temperature_c: Some(1.0),
            notes: words(),
        }),
        kernel: KernelFacts {
            registers: Some(32.0),
            occupancy: Some(0.5),
            workspace_bytes: Some(16.0),
            error: Some(0.25),
        },
    }
}

fn compiled() -> CompileReport {
    let diagnostic = Diagnostic {
        severity: Severity::Error,
        file: "kernel.cu".to_owned(),
        line: 1,
        column: 1,
        message: "no".to_owned(),
    };
    let kernels = vec![KernelResources { name: "k".to_owned(), ..KernelResources::default() }];
    CompileReport {
        diagnostics: vec![diagnostic],
        given: vec![GivenKernel { file: "given/k.cu".to_owned(), report: CompileReport::default() }],
        kernels,
        ..CompileReport::default()
    }
}

/// Every key below a value, with the keys that lead to it.
fn paths(at: &str, value: &Value, found: &mut Vec<(String, bool)>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let path = format!("{at}.{key}");
                let empty = inner.is_null() || inner.as_array().is_some_and(Vec::is_empty);
                found.push((path.clone(), empty));
                paths(&path, inner, found);
            }
        }
        Value::Array(items) => {
            if let Some(first) = items.first() {
                paths(&format!("{at}[]"), first, found);
            }
        }
        _ => {}
    }
}

#[track_caller]
fn reaches(what: &str, report: &impl Serialize, printed: &Value) {
    let (mut fields, mut shown) = (Vec::new(), Vec::new());
    paths(what, &serde_json::to_value(report).expect("plain data"), &mut fields);
    paths(what, printed, &mut shown);
    let is_left_out = |path: &str| {
        let within = |left: &str| path == left || path.starts_with(&format!("{left}."));
        LEFT_OUT.iter().any(|(left, _)| within(left) || within(&format!("{what}.{left}")))
    };
    let mut missing = Vec::new();
    for (path, empty) in fields.iter().filter(|(path, _)| !is_left_out(path)) {
        assert!(!empty, "the sample leaves `{path}` empty, so that what is in it would not be walked");
        // `launches` is no `launch`.
        let renamed = RENAMED.iter().fold(path.replace(".launches", ".\0"), |path, (from, to)| path.replace(from, to));
        let name = renamed.replace(".\0", ".launches");
        if name != what && !shown.iter().any(|(shown, _)| *shown == name) {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "neither in `--json` nor in LEFT_OUT: {missing:#?}");
}

#[test]
fn every_field_of_a_report_is_printed_or_left_out_on_purpose() {
    reaches("verdict", &verdict(), &super::verdict(&verdict()));
    reaches("run", &ran(), &super::ran(&ran()));
    reaches("bench", &bench(), &super::bench(&bench()));
    reaches("compiled", &compiled(), &super::compiled(&compiled()));
}
