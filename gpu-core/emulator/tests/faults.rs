//! Kernels that are wrong in one way each, and their corrected twins: what the emulator says of them.
//!
//! The table is in the CUDA sources under `ptx/faults`: `//@ name key=value ...` before a kernel says how to launch it
//! and what is expected, `<- here` and `<- other` mark the lines that the fault must name. The PTX beside each source
//! was written by NVRTC 13.5 with `-lineinfo`.
//!
//! Keys: `grid`, `block`, `cluster`, `dyn` (bytes of dynamic shared memory), `args` (see [`Case::launch`]), `fault`
//! (`none` or the fault's name), `says` (words of its message, to the end of the line), `note` (a remark's word, or `none`
//! where there must be no remark), `coop=1` (a cooperative launch).

mod common;

use std::time::Duration;

use common::*;
use ptx_emulator::{
    Checks, Fault, FaultKind, Launch, Memory, Module, Options, Outcome, Swizzle, TensorMap, TensorType,
};

struct Source {
    name: &'static str,
    cuda: &'static str,
    dialects: &'static [(&'static str, &'static str)],
}

macro_rules! source {
    ($name:literal: $($arch:literal)*) => {
        Source {
            name: $name,
            cuda: include_str!(concat!("ptx/faults/", $name, ".cu")),
            dialects: &[$(($arch, include_str!(concat!("ptx/faults/", $name, ".", $arch, ".ptx")))),*],
        }
    };
}

const SOURCES: &[Source] = &[
    source!("races": "sm_90a" "sm_120a"),
    source!("misuse": "sm_90a" "sm_120a"),
    source!("async": "sm_90a"),
    source!("cluster": "sm_90a"),
    source!("wgmma": "sm_90a"),
    source!("right": "sm_90a"),
    source!("groups": "sm_90a"),
    source!("unusual": "sm_90a"),
    source!("guises": "sm_90a" "sm_120a"),
    source!("scopes": "sm_90a"),
    source!("stuck": "sm_90a"),
    source!("stale": "sm_90a"),
    source!("waits": "sm_90a"),
    source!("suites": "sm_90a"),
    source!("ordering": "sm_90a"),
];

/// One kernel of a source and what is expected of it.
#[derive(Debug, Default)]
struct Case {
    kernel: String,
    grid: u32,
    block: u32,
    cluster: u32,
    cooperative: bool,
    dynamic: u32,
    arguments: Vec<String>,
    fault: String,
    says: String,
    note: String,
    here: Option<u32>,
    other: Option<u32>,
}

fn cases(cuda: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (index, line) in cuda.lines().enumerate() {
        if let Some(header) = line.strip_prefix("//@ ") {
            let (header, says) = header.split_once(" says=").unwrap_or((header, ""));
            let mut words = header.split(' ');
            let mut case = Case {
                kernel: words.next().expect("a name").to_owned(),
                grid: 1,
                block: 32,
                cluster: 1,
                says: says.to_owned(),
                ..Case::default()
            };
            for word in words {
                let (key, value) = word.split_once('=').unwrap_or_else(|| panic!("`{word}` of {}", case.kernel));
                let number = || value.parse().unwrap_or_else(|_| panic!("`{word}` of {}", case.kernel));
                match key {
                    "grid" => case.grid = number(),
                    "block" => case.block = number(),
                    "cluster" => case.cluster = number(),
                    "coop" => case.cooperative = value == "1",
                    "dyn" => case.dynamic = number(),
                    "args" => case.arguments = value.split(',').map(str::to_owned).collect(),
                    "fault" => case.fault = value.to_owned(),
                    "note" => case.note = value.to_owned(),
                    _ => panic!("`{word}` of {}", case.kernel),
                }
            }
            cases.push(case);
        }
        let line_number = index as u32 + 1;
        if let Some(case) = cases.last_mut() {
            if line.contains("<- here") {
                case.here = Some(line_number);
            }
            if line.contains("<- other") {
                case.other = Some(line_number);
            }
        }
    }
    cases
}

impl Case {
    /// Arguments: `in:N` counts 0, 1, ... as floats, `raw:N` is never written, `gone:N` is freed, `n=V` is a number,
    /// `map:W:H:w:h` is a tensor map of box w x h over W x H floats, any other `name:N` holds N zero words.
    fn launch(&self, memory: &mut Memory) -> Launch {
        let mut launch = Launch::new(&self.kernel, [self.grid, 1, 1], [self.block, 1, 1]).shared(self.dynamic);
        launch.cluster = [self.cluster, 1, 1];
        launch.cooperative = self.cooperative;
        for argument in &self.arguments {
            if let Some((_, value)) = argument.split_once('=') {
                launch = launch.arg_u32(value.parse().expect("a number"));
                continue;
            }
            let (name, size) = argument.split_once(':').expect("name:words");
            let numbers: Vec<u32> = size.split(':').map(|n| n.parse().expect("a number")).collect();
            let ramp = |n: u32| (0..n).map(|i| i as f32).collect::<Vec<f32>>();
            let words = numbers[0];
            launch = match name {
                "in" => launch.arg_u64(upload_f32(memory, name, &ramp(words))),
                "raw" => launch.arg_u64(memory.alloc(name, 4 * u64::from(words)).expect("fits")),
                "gone" => {
                    let gone = upload_f32(memory, name, &ramp(words));
                    memory.free(gone).expect("live");
                    launch.arg_u64(gone)
                }
                "map" => {
                    let [width, height, w, h] = numbers[..] else { panic!("map:W:H:w:h") };
                    let map = TensorMap {
                        address: upload_f32(memory, "tensor", &ramp(width * height)),
                        element: TensorType::F32,
                        sizes: vec![width.into(), height.into()],
                        strides: vec![u64::from(width) * 4],
                        tile: vec![w, h],
                        element_strides: vec![1, 1],
                        swizzle: Swizzle::None,
                        nan_fill: false,
                        im2col: None,
                        interleave: ptx_emulator::Interleave::None,
                    };
                    launch.params.resize(launch.params.len().next_multiple_of(64), 0);
                    launch.params.extend(map.encode().expect("valid"));
                    launch
                }
                _ => launch.arg_u64(upload_u32(memory, name, &vec![0; words as usize])),
            };
        }
        launch
    }

    fn run(&self, module: &Module, workers: usize, most_steps: u64) -> Outcome {
        self.run_checked(module, workers, most_steps, Checks::ALL)
    }

    fn run_checked(&self, module: &Module, workers: usize, most_steps: u64, checks: Checks) -> Outcome {
        let mut memory = memory();
        let launch = self.launch(&mut memory);
        let options = Options {
            checks,
            workers,
            max_warp_instructions: Some(most_steps),
            time_limit: Some(Duration::from_secs(60)),
            ..Options::default()
        };
        run_with(module, &mut memory, &launch, &options)
    }

    /// What is wrong with what the emulator said; empty when all is right.
    fn complaints(&self, outcome: &Outcome) -> Vec<String> {
        let mut out = Vec::new();
        if self.note == "none" {
            out.extend(outcome.notes.iter().map(|note| format!("a needless note: {note}")));
        } else if !outcome.notes.iter().any(|note| note.contains(&self.note)) && !self.note.is_empty() {
            out.push(format!("no note says `{}`: {:?}", self.note, outcome.notes));
        }
        if self.fault == "none" {
            out.extend(outcome.faults.iter().map(|fault| format!("falsely accused: {}", short(fault))));
            if !outcome.completed {
                out.push("did not end".to_owned());
            }
            return out;
        }
        let kind = |fault: &Fault| serde_json_name(fault);
        let found: Vec<&Fault> =
            outcome.faults.iter().filter(|fault| self.fault.split('|').any(|name| kind(fault) == name)).collect();
        if found.is_empty() {
            out.push(format!("missed; said instead: {:#?}", outcome.faults.iter().map(short).collect::<Vec<_>>()));
            return out;
        }
        // Small functions are inlined: the line of the call counts as well.
        let first = |fault: &Fault, line: u32| {
            [&fault.source, &fault.inlined_at].into_iter().flatten().any(|source| source.line == line)
        };
        let second = |fault: &Fault, line: u32| {
            fault.other_line().is_some_and(|source| source.line == line)
                || fault.message.contains(&format!("called at line {line})"))
        };
        let right = found.iter().any(|fault| {
            let plain =
                self.here.is_none_or(|here| first(fault, here)) && self.other.is_none_or(|other| second(fault, other));
            // Which side of a race comes second is the schedule's business.
            let turned = self.fault.starts_with("race")
                && self.here.is_none_or(|here| second(fault, here))
                && self.other.is_none_or(|other| first(fault, other));
            (plain || turned) && fault.message.contains(&self.says)
        });
        if !right {
            let found: Vec<String> = found.into_iter().map(short).collect();
            out.push(format!("wants lines {:?} and {:?}, `{}`: {found:#?}", self.here, self.other, self.says));
        }
        for fault in &outcome.faults {
            if is_one_sided(fault) {
                out.push(format!("one side only: {}", short(fault)));
            }
            if fault.message.is_empty() || fault.kernel != self.kernel {
                out.push(format!("no message or kernel: {fault:#?}"));
            }
        }
        out
    }
}

fn is_one_sided(fault: &Fault) -> bool {
    fault.kind == ptx_emulator::FaultKind::Race && fault.other.is_none()
}

fn serde_json_name(fault: &Fault) -> String {
    // The stable name is the snake_case form of the variant.
    let mut name = String::new();
    for c in format!("{:?}", fault.kind).chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

fn short(fault: &Fault) -> String {
    let line = fault.source.as_ref().map_or(0, |source| source.line);
    let other = fault.other.as_ref().map_or(0, |o| o.source.as_ref().map_or(0, |source| source.line));
    format!("{:?} line {line} other {other} x{}: {}", fault.kind, fault.occurrences, fault.message)
}

fn walk(name: &str) {
    let source = SOURCES.iter().find(|source| source.name == name).expect("a source");
    walk_texts(source.cuda, source.dialects, 20_000_000);
}

/// Kernels of your own: `FAULTS=/path/name` names `name.cu` with headers and `name.ptx`.
#[test]
#[ignore = "needs FAULTS=/path/name"]
fn others() {
    let path = std::env::var("FAULTS").expect("FAULTS=/path/name");
    let read =
        |end: &str| std::fs::read_to_string(format!("{path}.{end}")).unwrap_or_else(|e| panic!("{path}.{end}: {e}"));
    walk_texts(&read("cu"), &[("", &read("ptx"))], 20_000_000);
}

fn walk_texts(cuda: &str, dialects: &[(&str, &str)], most_steps: u64) {
    let only = std::env::var("CASE").unwrap_or_default();
    let mut wrong = String::new();
    let cases = cases(cuda);
    for (arch, ptx) in dialects {
        let module = load(ptx);
        let mut named: Vec<&str> = cases.iter().map(|case| case.kernel.as_str()).collect();
        named.sort_unstable();
        let mut kernels: Vec<&str> = module.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
        kernels.sort_unstable();
        assert_eq!(named, kernels, "every kernel has a header");
        for case in cases.iter().filter(|case| case.kernel.contains(&only)) {
            for workers in [1, 2] {
                let begin = std::time::Instant::now();
                // Of several blocks that read a place the shadow keeps one. Where that is the one that goes on to write there, as
                // may be when two host threads run at the same time, nobody knows who the others were.
                let mut outcome = case.run(&module, workers, most_steps);
                for _ in 0..if workers == 1 { 0 } else { 10 } {
                    if !outcome.faults.iter().any(is_one_sided) {
                        break;
                    }
                    outcome = case.run(&module, workers, most_steps);
                }
                eprintln!("{} with {workers}: {:.2?}, {} steps", case.kernel, begin.elapsed(), outcome.executed);
                if !only.is_empty() {
                    let faults: Vec<String> = outcome.faults.iter().map(short).collect();
                    eprintln!("{} {workers}: {faults:#?} {:?}", case.kernel, outcome.notes);
                }
                for complaint in case.complaints(&outcome) {
                    wrong.push_str(&format!("{arch} {} with {workers}: {complaint}\n", case.kernel));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

macro_rules! walks {
    ($($test:ident: $source:literal)*) => {
        $(#[test]
        fn $test() {
            walk($source);
        })*
    };
}

walks! {
    races: "races"
    misuse: "misuse"
    asynchronous_copies: "async"
    clusters: "cluster"
    nothing_is_said_of_right_kernels: "right"
    cooperative_groups: "groups"
    warpgroup_products: "wgmma"
    unusual_mistakes: "unusual"
    unusual_guises: "guises"
    scopes: "scopes"
    stale_reads_and_early_waits: "stale"
    waits_of_libraries: "waits"
    kernels_of_known_suites: "suites"
    orderings: "ordering"
}

/// Without checks, a program that forgets a wait or a fence goes on, as it does on a GPU.
#[test]
fn missing_waits_are_told_with_checks_alone() {
    let mut seen = 0;
    for name in ["async", "wgmma", "stale", "waits"] {
        let source = SOURCES.iter().find(|source| source.name == name).expect("a source");
        let module = load(source.dialects[0].1);
        for case in cases(source.cuda).iter().filter(|case| case.fault == "missing_async_wait") {
            let outcome = case.run_checked(&module, 1, 1_000_000, Checks::NONE);
            let told = outcome.faults.iter().find(|fault| fault.kind == FaultKind::MissingAsyncWait);
            assert!(told.is_none(), "{}: {told:?}", case.kernel);
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} kernels");
}

/// On a GPU the copy ends whether or not the other lanes run: no lesson about lanes that wait for each other.
#[test]
fn a_lane_that_waits_for_a_copy_waits_for_no_lane() {
    let source = SOURCES.iter().find(|source| source.name == "stale").expect("a source");
    let module = load(source.dialects[0].1);
    let case = cases(source.cuda).into_iter().find(|case| case.kernel == "one_lane_waited_ok").expect("a kernel");
    assert!(case.run(&module, 1, 1_000_000).notes.is_empty());
}

/// Polls that are counted may end by themselves, so they are given some: as many on a machine that has much else to do.
#[test]
fn counted_polls_are_given_instructions_and_not_time() {
    let module = load(
        "
.version 8.0
.target sm_80
.address_size 64
.visible .entry counts(.param .u64 flag)
{
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
    mov.u32 %r1, 0;
$again:
    ld.volatile.global.u32 %r2, [%rd1];
    add.s32 %r1, %r1, 1;
    setp.ne.s32 %p1, %r2, 0;
    @%p1 bra $end;
    setp.lt.u32 %p2, %r1, 4000000000;
    @%p2 bra $again;
$end:
    ret;
}",
    );
    // Many warps, or what the worker does between its rounds takes most of the time.
    let play = || {
        let mut memory = memory();
        let flag = upload_u32(&mut memory, "flag", &[0]);
        let launch = Launch::new("counts", [256, 1, 1], [256, 1, 1]).arg_u64(flag);
        let options = Options { workers: 1, time_limit: Some(Duration::from_secs(300)), ..Options::default() };
        let outcome = run_with(&module, &mut memory, &launch, &options);
        (outcome.faults.iter().map(serde_json_name).collect::<Vec<String>>(), outcome.executed)
    };
    let (faults, executed) = play();
    assert_eq!(faults, ["deadlock"]);
    assert!(executed > 150_000_000, "after {executed} instructions");
    // To the instruction, which no clock would be.
    assert_eq!(play().1, executed);
}

/// Within far fewer steps than a launch may take: it is the waiting that is found, not that it lasts.
#[test]
fn waiting_without_end() {
    let source = SOURCES.iter().find(|source| source.name == "stuck").expect("a source");
    walk_texts(source.cuda, source.dialects, 400_000_000);
}

/// Half of the address space away, where an offset has no negative.
#[test]
fn the_farthest_address_is_told_like_any_other() {
    for more in [1_u64 << 63, (1 << 63) - 4, u64::MAX - 3] {
        let module = load(&format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n.reg .b64 %rd<3>;\n\
             ld.param.u64 %rd1, [out];\nadd.s64 %rd2, %rd1, {more};\nst.global.u32 [%rd2], 1;\nret;\n}}"
        ));
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[0; 4]);
        let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).arg_u64(out);
        let outcome = run_with(&module, &mut memory, &launch, &Options::default());
        assert_eq!(kinds(&outcome), [FaultKind::OutOfBounds], "{more:#x}: {:#?}", outcome.faults);
    }
}
