//! Work of two streams that touches the same memory, with and without an order. Each case is a process of its own, as a
//! race is an error that stays.

mod common;

use std::process::Command;
use std::ptr::null_mut;

use common::*;

unsafe extern "C" {
    fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    fn cuStreamSynchronize(stream: Handle) -> u32;
    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) -> u32;
    fn cuStreamBeginCapture_v2(stream: Handle, mode: u32) -> u32;
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> u32;
    fn cuGraphInstantiateWithFlags(exec: *mut Handle, graph: Handle, flags: u64) -> u32;
    fn cuGraphLaunch(exec: Handle, stream: Handle) -> u32;
    fn cuEventCreate(event: *mut Handle, flags: u32) -> u32;
    fn cuEventRecord(event: Handle, stream: Handle) -> u32;
    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: Handle) -> u32;
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) -> u32;
    fn cuMemAllocAsync(pointer: *mut u64, bytes: usize, stream: Handle) -> u32;
    fn cuMemFreeAsync(pointer: u64, stream: Handle) -> u32;
}

/// Each thread of `fill` writes a word of `n` from `p` on; each of `sum` adds one of them to the word at `to` atomically.
const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 n) {
    .reg .pred %p<2>; .reg .u32 %r<3>; .reg .u64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 ret;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
.visible .entry sum(.param .u64 p, .param .u64 to) {
    .reg .u32 %r<3>; .reg .u64 %rd<5>;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd4, [to];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    red.global.add.u32 [%rd4], %r2;
    ret;
}";

/// Looks at the word at `to` with an acquiring load before it reads the one at `p`.
const ASK: &str = ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry ask(.param .u64 p, .param .u64 to) {
    .reg .u32 %r<3>; .reg .u64 %rd<3>;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [to];
    ld.acquire.gpu.global.u32 %r1, [%rd2];
    ld.global.u32 %r2, [%rd1];
    ret;
}";

struct Bench {
    fill: Handle,
    sum: Handle,
    streams: [Handle; 3],
    event: Handle,
}

fn bench() -> Bench {
    context();
    let module = load(PTX);
    let mut bench = Bench { fill: function(module, "fill"), sum: function(module, "sum"), streams: [0; 3], event: 0 };
    // SAFETY: pointers to locals.
    unsafe {
        for stream in &mut bench.streams {
            assert_eq!(cuStreamCreate(stream, 1), 0);
        }
        assert_eq!(cuEventCreate(&mut bench.event, 0), 0);
    }
    bench
}

fn run(function: Handle, threads: u32, stream: Handle, arguments: &mut [*mut std::ffi::c_void]) {
    let arguments = arguments.as_mut_ptr();
    // SAFETY: the callers pass one pointer for each parameter of the kernel.
    let code = unsafe { cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, stream, arguments, null_mut()) };
    assert_eq!(code, 0);
}

impl Bench {
    fn fill(&self, to: u64, stream: usize) {
        run(self.fill, 64, self.streams[stream], &mut [arg(&to), arg(&64u32)]);
    }

    fn sum(&self, from: u64, to: u64, stream: usize) {
        run(self.sum, 64, self.streams[stream], &mut [arg(&from), arg(&to)]);
    }

    /// Stream `after` waits for what `before` has so far.
    fn order(&self, before: usize, after: usize) {
        // SAFETY: handles of this bench.
        unsafe {
            assert_eq!(cuEventRecord(self.event, self.streams[before]), 0);
            assert_eq!(cuStreamWaitEvent(self.streams[after], self.event, 0), 0);
        }
    }
}

/// What happens, the code that waiting gives in the end, and what must be said.
type Case = (&'static str, fn(&Bench, u64, u64), u32, &'static [&'static str]);

const CASES: &[Case] = &[
    ("two writers", |b, p, _| [0, 1].iter().for_each(|stream| b.fill(p, *stream)), FAILED, &["`fill`", "writes"]),
    ("a writer and a reader", |b, p, to| (b.fill(p, 0), b.sum(p, to, 1)).1, FAILED, &["`sum`", "`fill`", "PTX line"]),
    ("an event between", |b, p, to| (b.fill(p, 0), b.order(0, 1), b.sum(p, to, 1)).2, 0, &[]),
    ("through a third stream", through_a_third, 0, &[]),
    ("an event too early", |b, p, to| (b.order(0, 1), b.fill(p, 0), b.sum(p, to, 1)).2, FAILED, &["cuStreamWaitEvent"]),
    ("neighbours", |b, p, _| (b.fill(p, 0), b.fill(p + 256, 1)).1, 0, &[]),
    ("one word shared", |b, p, _| (b.fill(p, 0), b.fill(p + 252, 1)).1, FAILED, &["byte 252 of"]),
    ("two that add", |b, p, to| (b.sum(p, to, 0), b.sum(p, to, 1)).1, 0, &[]),
    ("atomics and a plain read", |b, p, to| (b.sum(p, to, 0), b.sum(to - 252, p + 2048, 1)).1, FAILED, &["updates"]),
    ("the host waits", the_host_waits, 0, &[]),
    ("the host waits for one that waits", the_host_waits_for_a_wait, 0, &[]),
    ("a fill", a_fill, FAILED, &["a fill", "`sum`"]),
    ("a copy", a_copy, FAILED, &["a copy", "`sum`", "byte 128"]),
    ("memory freed under a kernel", freed_too_early, FAILED, &["`sum`"]),
    ("a published word", published, 0, &[]),
    ("branches of a graph", |b, p, to| b.graph(|b| (b.fill(p, 0), b.sum(p, to, 1)).1), FAILED, &["edge", "`fill`"]),
    ("branches apart", |b, p, to| b.graph(|b| (b.fill(p + 1024, 0), b.sum(p, to, 1)).1), 0, &[]),
    ("a chain in a graph", |b, p, to| b.graph(|b| (b.fill(p, 0), b.order(0, 1), b.sum(p, to, 1)).2), 0, &[]),
];

/// `CUDA_ERROR_LAUNCH_FAILED`.
const FAILED: u32 = 719;

fn through_a_third(bench: &Bench, p: u64, to: u64) {
    bench.fill(p, 0);
    bench.order(0, 1);
    bench.fill(p + 1024, 1);
    bench.order(1, 2);
    bench.sum(p, to, 2);
}

fn the_host_waits(bench: &Bench, p: u64, to: u64) {
    bench.fill(p, 0);
    // SAFETY: a handle of the bench.
    assert_eq!(unsafe { cuStreamSynchronize(bench.streams[0]) }, 0);
    bench.sum(p, to, 1);
}

fn the_host_waits_for_a_wait(bench: &Bench, p: u64, to: u64) {
    bench.fill(p, 0);
    bench.order(0, 1);
    // SAFETY: a handle of the bench.
    assert_eq!(unsafe { cuStreamSynchronize(bench.streams[1]) }, 0);
    bench.sum(p, to, 2);
}

fn a_fill(bench: &Bench, p: u64, to: u64) {
    // SAFETY: memory of the test.
    assert_eq!(unsafe { cuMemsetD8Async(p, 1, 100, bench.streams[0]) }, 0);
    bench.sum(p, to, 1);
}

fn a_copy(bench: &Bench, p: u64, to: u64) {
    bench.sum(p, to, 0);
    // SAFETY: memory of the test.
    assert_eq!(unsafe { cuMemcpyDtoDAsync_v2(p + 128, p + 1024, 32, bench.streams[1]) }, 0);
}

fn freed_too_early(bench: &Bench, _: u64, to: u64) {
    let mut memory = 0;
    // SAFETY: a pointer to a local; memory of the test.
    unsafe {
        assert_eq!(cuMemAllocAsync(&mut memory, 256, bench.streams[0]), 0);
        assert_eq!(cuMemsetD8Async(memory, 1, 256, bench.streams[0]), 0);
        bench.order(0, 1);
        bench.sum(memory, to, 1);
        assert_eq!(cuCtxSynchronize(), 0);
        bench.sum(memory, to, 1);
        assert_eq!(cuMemFreeAsync(memory, bench.streams[0]), 0);
    }
}

fn published(bench: &Bench, p: u64, to: u64) {
    bench.sum(p, to, 0);
    run(function(load(ASK), "ask"), 1, bench.streams[1], &mut [arg(&to), arg(&to)]);
}

impl Bench {
    /// Captures work of the first two streams as two branches, and runs the graph twice in the first stream.
    fn graph(&self, work: impl Fn(&Bench)) {
        let (mut graph, mut exec) = (0, 0);
        // SAFETY: handles of this bench and pointers to locals.
        unsafe {
            assert_eq!(cuStreamBeginCapture_v2(self.streams[0], 0), 0);
            self.order(0, 1);
            work(self);
            self.order(1, 0);
            assert_eq!(cuStreamEndCapture(self.streams[0], &mut graph), 0);
            assert_eq!(cuGraphInstantiateWithFlags(&mut exec, graph, 0), 0);
            assert_eq!(cuGraphLaunch(exec, self.streams[0]), 0);
            cuGraphLaunch(exec, self.streams[0]);
        }
    }
}

const WHICH: &str = "BETWEEN_CASE";

/// One case; the environment says which. Run by the next test.
#[test]
fn one_case() {
    let Some(index) = std::env::var(WHICH).ok().and_then(|index| index.parse::<usize>().ok()) else { return };
    let bench = bench();
    let (p, to) = (upload(&[1u32; 1024]), upload(&[0u32; 128]) + 252);
    CASES[index].1(&bench, p, to);
    // SAFETY: no arguments.
    println!("code {}", unsafe { cuCtxSynchronize() });
}

#[test]
fn what_streams_do_to_each_other_is_found() {
    let wrong: Vec<String> = CASES
        .iter()
        .enumerate()
        .filter_map(|(index, (name, _, code, words))| {
            let mut child = Command::new(std::env::current_exe().expect("a path"));
            child.args(["--exact", "one_case", "--nocapture"]).env(WHICH, index.to_string());
            let output = child.env("LOCKSTEP_CHECKS", "1").output().expect("it starts");
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            // Memory may also be gone before the kernel comes to it.
            let gone = said.contains("UseAfterFree") && *name == "memory freed under a kernel";
            let found =
                (gone || said.contains(&format!("code {code}\n"))) && words.iter().all(|word| said.contains(word));
            let quiet = *code != 0 || !said.contains("Race");
            (!found || !quiet).then(|| format!("{name}: {said}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn without_checks_nothing_is_said() {
    let mut child = Command::new(std::env::current_exe().expect("a path"));
    let output =
        child.args(["--exact", "one_case", "--nocapture"]).env(WHICH, "0").env_remove("LOCKSTEP_CHECKS").output();
    let said = String::from_utf8_lossy(&output.expect("it starts").stdout).into_owned();
    assert!(said.contains("code 0\n"), "{said}");
}
