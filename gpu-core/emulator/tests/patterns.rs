//! Accesses that lie as the last one of their instruction did take a short way: it must find and count what the long one
//! does. A trace makes every access take the long way.

mod common;

use common::{download_u32, load, memory, run, run_with, upload_u32};
use ptx_emulator::{FaultKind, Launch, Memory, Module, Options, Outcome, TraceRequest};

/// Adds words `step` bytes apart, from each thread's own on.
const WALK: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry walk(.param .u64 from, .param .u64 to, .param .u32 count, .param .u32 step)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r1, [count];
    ld.param.u32 %r2, [step];
    mov.u32 %r3, %tid.x;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    cvt.u64.u32 %rd4, %r2;
    mov.u32 %r4, 0;
$again:
    ld.global.u32 %r5, [%rd1];
    add.u32 %r4, %r4, %r5;
    add.s64 %rd1, %rd1, %rd4;
    add.s32 %r1, %r1, -1;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra $again;
    st.global.u32 [%rd2], %r4;
    ret;
}";

/// Runs it over `words` words of which the first `written` have values.
fn walk(words: usize, written: usize, threads: u32, count: u32, step: u32) -> (Memory, u64, u64, Outcome) {
    let mut memory = memory();
    let from = memory.alloc("from", 4 * words as u64).expect("fits");
    let bytes: Vec<u8> = (0..written as u32).flat_map(|i| (i * i).to_le_bytes()).collect();
    memory.write(from, &bytes).expect("inside");
    let to = upload_u32(&mut memory, "to", &vec![0; threads as usize]);
    let launch = Launch::new("walk", [1, 1, 1], [threads, 1, 1]);
    let launch = launch.arg_u64(from).arg_u64(to).arg_u32(count).arg_u32(step);
    let outcome = run(&load(WALK), &mut memory, &launch);
    (memory, from, to, outcome)
}

#[test]
fn sums_are_right_for_whole_and_partial_warps() {
    for threads in [1, 7, 31, 32, 40, 64] {
        for step in [4, 128, 132] {
            let (memory, _, to, outcome) = walk(4096, 4096, threads, 50, step);
            assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
            let sums = (0..threads).map(|thread| {
                (0..50).map(|i| thread + i * step / 4).fold(0u32, |sum, word| sum.wrapping_add(word * word))
            });
            assert_eq!(download_u32(&memory, to, threads as usize), sums.collect::<Vec<u32>>(), "{threads} {step}");
        }
    }
}

#[test]
fn the_first_access_beyond_the_end_is_found() {
    let (_, from, _, outcome) = walk(32 * 20 + 16, 32 * 20 + 16, 32, 30, 128);
    let fault = &outcome.faults[0];
    assert_eq!(fault.kind, FaultKind::OutOfBounds);
    assert_eq!(fault.thread.map(|thread| thread.lane), Some(16));
    assert_eq!(fault.address, Some(from + 4 * (32 * 20 + 16)));
    let allocation = fault.allocation.as_ref().expect("known");
    assert_eq!((allocation.name.as_str(), allocation.offset), ("from", 4 * (32 * 20 + 16)));
}

#[test]
fn the_first_misaligned_access_is_found() {
    let (_, from, _, outcome) = walk(4096, 4096, 32, 30, 130);
    let fault = &outcome.faults[0];
    assert_eq!((fault.kind, fault.address), (FaultKind::Misaligned, Some(from + 130)));
}

#[test]
fn the_first_word_without_a_value_is_found() {
    let (_, from, _, outcome) = walk(4096, 32 * 20 + 5, 32, 30, 128);
    let fault = &outcome.faults[0];
    assert_eq!((fault.kind, fault.address), (FaultKind::Uninitialised, Some(from + 4 * (32 * 20 + 5))));
}

/// All that a launch says, without what a trace adds.
fn says(module: &Module, launch: impl Fn(&mut Memory) -> Launch, options: &Options) -> Outcome {
    let mut memory = memory();
    let launch = launch(&mut memory);
    Outcome { trace: None, ..run_with(module, &mut memory, &launch, options) }
}

#[test]
fn short_and_long_way_count_and_find_the_same() {
    let short = Options { deterministic: true, ..Options::default() };
    let request = TraceRequest { blocks: (0..4096).collect(), warps: Vec::new(), max_bytes: 1 << 20 };
    let long = Options { trace: Some(request), ..short.clone() };
    let text = include_str!("../../../assets/recorded/counters-h200.json");
    let recorded: serde_json::Value = serde_json::from_str(text).expect("valid JSON");
    let module = load(include_str!("ptx/counters.sm_90a.ptx"));
    for row in recorded["launches"].as_array().expect("a list") {
        let kernel = row["kernel"].as_str().expect("a name");
        let k = row["k"].as_i64().expect("a number") as u32;
        let launch = |memory: &mut Memory| {
            let out = upload_u32(memory, "out", &vec![0; 1 << 19]);
            let input = upload_u32(memory, "in", &vec![0; 1 << 19]);
            Launch::new(kernel, [4, 1, 1], [128, 1, 1]).arg_u64(out).arg_u64(input).arg_u32(k)
        };
        assert_eq!(says(&module, launch, &short), says(&module, launch, &long), "{kernel} {k}");
    }
    let module = load(include_str!("ptx/speed.sm_90a.ptx"));
    for (kernel, grid, block, n) in [
        ("matmul", [4, 4], [16, 16], 64),
        ("matmul", [6, 3], [8, 16], 48),
        ("tiled", [2, 2], [32, 32], 64),
        ("reduce", [16, 1], [256, 1], 4000),
        ("strided", [8, 1], [256, 1], 65000),
    ] {
        let launch = |memory: &mut Memory| {
            let [a, b, c] = ["a", "b", "c"].map(|name| upload_u32(memory, name, &vec![0; 65536]));
            let launch = Launch::new(kernel, [grid[0], grid[1], 1], [block[0], block[1], 1]);
            launch.arg_u64(a).arg_u64(b).arg_u64(c).arg_u32(n)
        };
        let (short, long) = (says(&module, launch, &short), says(&module, launch, &long));
        assert!(short.completed && short.faults.is_empty(), "{kernel}: {:#?}", short.faults);
        assert_eq!(short, long, "{kernel}");
    }
}
