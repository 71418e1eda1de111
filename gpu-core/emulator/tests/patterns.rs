//! Accesses that lie as the last one of their instruction did take a short way: it must find and count what the long one
//! does. In the reference mode every access takes the long way.

mod common;

use common::{download_u32, load, memory, run, run_with, upload_u32};
use ptx_emulator::{Checks, Fast, FaultKind, Launch, Memory, Module, Options, Outcome};

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
    let long = Options { fast: Fast::NONE, ..short.clone() };
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

/// Atomics with nothing to check take a short way of their own.
#[test]
fn atomics_do_and_count_the_same_on_both_ways() {
    let checks = Checks::NONE;
    for workers in [1, 2] {
        let short = Options { checks, workers, ..Options::default() };
        let long = Options { fast: Fast::NONE, ..short.clone() };
        let bare = Options { workers, ..Options::unchecked() };
        let module = load(include_str!("../examples/speed/everyday.ptx"));
        for (kernel, n) in [("atomic_sum", 40_000), ("atomic_each", 30_000), ("histogram", 16_384)] {
            let play = |options: &Options| {
                let mut memory = memory();
                let numbers: Vec<u32> = (0..n).map(|i| i * 7 + 1).collect();
                let a = upload_u32(&mut memory, "a", &numbers);
                let c = upload_u32(&mut memory, "c", &vec![5; n as usize]);
                let launch = Launch::new(kernel, [8, 1, 1], [256, 1, 1]).arg_u64(a).arg_u64(a).arg_u64(c).arg_u32(n);
                let outcome = run_with(&module, &mut memory, &launch, options);
                assert!(outcome.completed && outcome.faults.is_empty(), "{kernel}: {:#?}", outcome.faults);
                (download_u32(&memory, c, n as usize), outcome.counters, outcome.lines)
            };
            assert_eq!(play(&short), play(&long), "{kernel} with {workers}");
            assert_eq!(play(&bare).0, play(&long).0, "{kernel} with {workers}");
        }
    }
}

/// Each thread updates words from its own on, which lies `apart` bytes behind the one before, `step` bytes on in each round.
fn updates(form: &str) -> String {
    format!(
        "
.version 8.0
.target sm_80
.address_size 64
.visible .entry updates(.param .u64 to, .param .u32 apart, .param .u32 step, .param .u32 count)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [apart];
    ld.param.u32 %r2, [step];
    ld.param.u32 %r3, [count];
    mov.u32 %r4, %tid.x;
    mul.lo.u32 %r5, %r4, %r1;
    cvt.u64.u32 %rd2, %r5;
    add.s64 %rd1, %rd1, %rd2;
    cvt.u64.u32 %rd3, %r2;
    mov.u32 %r6, 1;
$again:
    {form}
    add.s64 %rd1, %rd1, %rd3;
    add.s32 %r3, %r3, -1;
    setp.ne.s32 %p1, %r3, 0;
    @%p1 bra $again;
    ret;
}}"
    )
}

#[test]
fn atomics_go_where_their_addresses_say() {
    for (form, apart, threads) in [
        ("atom.global.add.u32 %r6, [%rd1], 3;", 0, 64),
        ("red.global.add.u32 [%rd1], 3;", 0, 32),
        ("red.global.add.u32 [%rd1], %r4;", 4, 96),
        ("atom.global.exch.b32 %r6, [%rd1], %r4;", 4, 64),
        ("atom.global.cas.b32 %r6, [%rd1], 0, %r4;", 4, 64),
        ("red.global.max.u32 [%rd1], %r4;", 4, 40),
        ("red.global.add.u32 [%rd1], 1;", 8, 64),
    ] {
        let module = load(&updates(form));
        for step in [0, 4, 128] {
            let play = |options: &Options| {
                let mut memory = memory();
                let to = upload_u32(&mut memory, "to", &[0; 2048]);
                let launch = Launch::new("updates", [1, 1, 1], [threads, 1, 1]).arg_u64(to);
                let launch = launch.arg_u32(apart).arg_u32(step).arg_u32(20);
                let outcome = run_with(&module, &mut memory, &launch, options);
                assert!(outcome.faults.is_empty(), "{form}: {:#?}", outcome.faults);
                (download_u32(&memory, to, 2048), outcome.counters)
            };
            let short = Options { checks: Checks::NONE, workers: 1, ..Options::default() };
            let long = Options { fast: Fast::NONE, ..short.clone() };
            assert_eq!(play(&short), play(&long), "{form} {apart} {step}");
        }
    }
}

#[test]
fn the_first_atomic_beyond_the_end_is_found() {
    let module = load(&updates("red.global.add.u32 [%rd1], 1;"));
    for options in [Options::unchecked(), Options::default()] {
        let mut memory = memory();
        let to = upload_u32(&mut memory, "to", &[0; 32 * 20 + 16]);
        let launch = Launch::new("updates", [1, 1, 1], [32, 1, 1]).arg_u64(to).arg_u32(4).arg_u32(128).arg_u32(30);
        let fault = run_with(&module, &mut memory, &launch, &options).faults.remove(0);
        assert_eq!((fault.kind, fault.address), (FaultKind::OutOfBounds, Some(to + 4 * (32 * 20 + 16))));
        assert_eq!(fault.thread.map(|thread| thread.lane), Some(16));
    }
}

/// Round after round each thread writes a word, another one `step` words away reads it, with a barrier before each; in
/// rounds `skip_read` and `skip_write` it is missing.
const COLUMNS: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry columns(.param .u64 out, .param .u32 step, .param .u32 skip_read, .param .u32 skip_write)
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 tile[16896];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [step];
    ld.param.u32 %r2, [skip_read];
    ld.param.u32 %r3, [skip_write];
    mov.u32 %r4, %tid.x;
    mov.u32 %r5, tile;
    add.s32 %r6, %r4, 1;
    and.b32 %r6, %r6, 63;
    mul.lo.s32 %r6, %r6, %r1;
    shl.b32 %r6, %r6, 2;
    add.s32 %r6, %r6, %r5;
    mul.lo.s32 %r7, %r4, %r1;
    shl.b32 %r7, %r7, 2;
    add.s32 %r7, %r7, %r5;
    mov.u32 %r8, 0;
    mov.u32 %r9, 0;
$again:
    st.shared.u32 [%r6], %r8;
    setp.ne.s32 %p1, %r8, %r2;
    @%p1 bar.sync 0;
    ld.shared.u32 %r10, [%r7];
    add.s32 %r9, %r9, %r10;
    setp.ne.s32 %p2, %r8, %r3;
    @%p2 bar.sync 0;
    add.s32 %r8, %r8, 1;
    setp.lt.s32 %p3, %r8, 8;
    @%p3 bra $again;
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r9;
    ret;
}";

#[test]
fn columns_of_shared_memory_race_as_rows_do() {
    let module = load(COLUMNS);
    for step in [1, 2, 3, 33, 66] {
        for (skip_read, skip_write, races) in [(99, 99, false), (5, 99, true), (99, 5, true), (99, 7, false)] {
            let mut memory = memory();
            let out = upload_u32(&mut memory, "out", &[0; 64]);
            let launch = Launch::new("columns", [1, 1, 1], [64, 1, 1]).arg_u64(out).arg_u32(step);
            let outcome = run(&module, &mut memory, &launch.arg_u32(skip_read).arg_u32(skip_write));
            let found: Vec<FaultKind> = outcome.faults.iter().map(|fault| fault.kind).collect();
            assert_eq!(found.contains(&FaultKind::Race), races, "{step} {skip_read} {skip_write}: {found:?}");
            assert!(races || found.is_empty(), "{step} {skip_read} {skip_write}: {:#?}", outcome.faults);
            if !races {
                assert_eq!(download_u32(&memory, out, 64), [28; 64], "{step}");
            }
        }
    }
}

/// Straight runs of instructions are counted once for all of them; with a trace each is stepped and counted by itself.
#[test]
fn stretches_count_and_find_what_single_steps_do() {
    let short = Options { deterministic: true, ..Options::default() };
    let long = Options { fast: Fast::NONE, ..short.clone() };
    let module = load(include_str!("../examples/speed/everyday.ptx"));
    for (kernel, threads, n) in [
        ("saxpy_grid", 200, 3000),
        ("shuffle_reduce", 256, 900),
        ("stencil", 256, 700),
        ("histogram", 256, 5000),
        ("half2_math", 96, 1000),
        ("softmax_row", 64, 100),
        ("scan", 256, 1024),
        ("divergent", 128, 300),
        ("ballot", 128, 512),
        ("layernorm", 256, 512),
        ("aos", 250, 2000),
        ("gather", 128, 500),
    ] {
        let launch = |memory: &mut Memory| {
            let [a, b, c] = ["a", "b", "c"].map(|name| upload_u32(memory, name, &vec![3; 16384]));
            Launch::new(kernel, [4, 1, 1], [threads, 1, 1]).arg_u64(a).arg_u64(b).arg_u64(c).arg_u32(n)
        };
        assert_eq!(says(&module, launch, &short), says(&module, launch, &long), "{kernel}");
    }
    // One that is left in its midst: by a fault, and at a meeting point, where the other half of the warp is waited for.
    let module = load(HALVES);
    for words in [64, 20] {
        let launch = |memory: &mut Memory| {
            let to = upload_u32(memory, "to", &vec![0; words]);
            Launch::new("halves", [1, 1, 1], [64, 1, 1]).arg_u64(to)
        };
        let (short, long) = (says(&module, launch, &short), says(&module, launch, &long));
        assert_eq!(short.faults.len(), usize::from(words < 64), "{:#?}", short.faults);
        assert_eq!(short, long, "{words}");
    }
    let mut memory = memory();
    let to = upload_u32(&mut memory, "to", &[0; 64]);
    let launch = Launch::new("halves", [1, 1, 1], [64, 1, 1]).arg_u64(to);
    let outcome = run(&module, &mut memory, &launch);
    let halves = |lane: u32| if lane % 32 < 16 { 0x5555 + 1 } else { 0x5555_0000 + 1 };
    assert_eq!(download_u32(&memory, to, 64), (0..64).map(halves).collect::<Vec<u32>>());
    // 15 instructions (the thread number is read by one of its own), of which the vote is tried by the whole warp first.
    assert_eq!(outcome.counters.thread_instructions, 64 * 16);
}

/// Each half of a warp votes for itself: the groups part at the vote and meet behind it.
const HALVES: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry halves(.param .u64 to)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 16;
    mov.u32 %r3, 0xffff;
    shl.b32 %r3, %r3, %r2;
    and.b32 %r4, %r1, 1;
    setp.eq.u32 %p1, %r4, 0;
    ld.param.u64 %rd1, [to];
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    vote.sync.ballot.b32 %r5, %p1, %r3;
    add.u32 %r6, %r5, 1;
    bar.sync 0;
    st.global.u32 [%rd1], %r6;
    ret;
}";
