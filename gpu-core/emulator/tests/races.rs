//! Races on global memory against an oracle that knows only "different threads, the same byte, one of them writes, no
//! barrier between": random scripts that a small kernel plays, each thread its own accesses.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Module, Options, Outcome};

/// Plays `script[step][thread]`: bits 0-3 say what, bits 4 and up where in `data`. What a step does is the same for the
/// whole block, so that all lanes access together.
const PLAYER: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.visible .entry play(.param .u64 script_, .param .u64 data_, .param .u32 steps_)
{
	.reg .pred %p<3>;
	.reg .b16 %h<3>;
	.reg .b32 %r<20>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [script_];
	ld.param.u64 %rd2, [data_];
	ld.param.u32 %r1, [steps_];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %nctaid.x;
	mad.lo.u32 %r6, %r3, %r4, %r2;
	mul.lo.u32 %r7, %r4, %r5;
	mul.wide.u32 %rd3, %r6, 4;
	add.u64 %rd1, %rd1, %rd3;
	mul.wide.u32 %rd4, %r7, 4;
	cvt.u16.u32 %h1, %r6;
	mov.u32 %r8, 0;
$next:
	setp.ge.u32 %p1, %r8, %r1;
	@%p1 bra $end;
	ld.global.nc.u32 %r9, [%rd1];
	add.u64 %rd1, %rd1, %rd4;
	add.u32 %r8, %r8, 1;
	and.b32 %r10, %r9, 15;
	shr.u32 %r11, %r9, 4;
	cvt.u64.u32 %rd5, %r11;
	add.u64 %rd6, %rd2, %rd5;
	setp.eq.u32 %p1, %r10, 1;
	@%p1 bra $ld1;
	setp.eq.u32 %p1, %r10, 2;
	@%p1 bra $ld2;
	setp.eq.u32 %p1, %r10, 3;
	@%p1 bra $ld4;
	setp.eq.u32 %p1, %r10, 4;
	@%p1 bra $ld16;
	setp.eq.u32 %p1, %r10, 5;
	@%p1 bra $st1;
	setp.eq.u32 %p1, %r10, 6;
	@%p1 bra $st2;
	setp.eq.u32 %p1, %r10, 7;
	@%p1 bra $st4;
	setp.eq.u32 %p1, %r10, 8;
	@%p1 bra $st16;
	setp.eq.u32 %p1, %r10, 9;
	@%p1 bra $bar;
	bra $next;
$ld1:	ld.global.u8 %h2, [%rd6];
	bra $next;
$ld2:	ld.global.u16 %h2, [%rd6];
	bra $next;
$ld4:	ld.global.u32 %r12, [%rd6];
	bra $next;
$ld16:	ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd6];
	bra $next;
$st1:	st.global.u8 [%rd6], %h1;
	bra $next;
$st2:	st.global.u16 [%rd6], %h1;
	bra $next;
$st4:	st.global.u32 [%rd6], %r6;
	bra $next;
$st16:	st.global.v4.u32 [%rd6], {%r6, %r6, %r6, %r6};
	bra $next;
$bar:	bar.sync 0;
	bra $next;
$end:	ret;
}
"#;

const BLOCKS: u32 = 2;
const DATA_BYTES: u32 = 8192 + 256;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit)) as u32
    }
}

/// What: 0 nothing, 1-4 loads and 5-8 stores of 1, 2, 4, 16 bytes, 9 barrier.
const SIZES: [u32; 4] = [1, 2, 4, 16];

fn size(what: u32) -> u32 {
    SIZES[(what as usize - 1) % 4]
}

/// A step of one block: the same `what` for all, places by one of the shapes that kernels have.
fn step(random: &mut Random, block: u32, threads: u32) -> Vec<u32> {
    let what = match random.below(10) {
        0..2 => 9,
        2..6 => 1 + random.below(4),
        _ => 5 + random.below(4),
    };
    if what == 9 {
        return vec![9; threads as usize];
    }
    let bytes = size(what);
    let own = random.below(8) > 0;
    // Mostly each block has its own part of the data, and each thread its own place there.
    let base = if own { block * 4096 } else { 0 } + if random.below(6) == 0 { bytes * random.below(9) } else { 0 };
    let shape = if what >= 5 { random.below(4) } else { random.below(7) };
    let shift = random.below(threads);
    (0..threads)
        .map(|thread| {
            let element = match shape {
                0 | 1 => thread,
                2 => thread * 2,
                3 => thread * (1 + 32 / bytes).min(3584 / bytes / threads),
                4 => shift,
                5 => thread / 16 * 16,
                _ => (thread + shift) % threads,
            };
            let active = shape != 1 || thread % 32 < 20 + shift % 12;
            if active { what | (base + element * bytes) << 4 } else { 0 }
        })
        .collect()
}

/// Whether any two accesses race.
fn oracle(script: &[Vec<u32>], threads: u32) -> bool {
    races(script, threads, |_, _| false)
}

/// The same, where some pairs of what two threads do to one byte are none.
fn races(script: &[Vec<u32>], threads: u32, agree: impl Fn(u32, u32) -> bool) -> bool {
    // Per byte: (thread, epoch, what) of every access so far.
    let mut seen: Vec<Vec<(u32, u32, u32)>> = vec![Vec::new(); DATA_BYTES as usize];
    let mut epochs = [0; BLOCKS as usize];
    for row in script {
        for block in 0..BLOCKS {
            if row[(block * threads) as usize] & 15 == 9 {
                epochs[block as usize] += 1;
            }
        }
        for (thread, entry) in row.iter().enumerate() {
            let (what, place, thread) = (entry & 15, entry >> 4, thread as u32);
            if what == 0 || what == 9 {
                continue;
            }
            let (block, writes) = (thread / threads, what >= 5);
            let epoch = epochs[block as usize];
            for byte in place..place + size(what) {
                for (other, when, did) in &seen[byte as usize] {
                    let ordered = other / threads == block && *when < epoch;
                    if *other != thread && (writes || *did >= 5) && !ordered && !agree(what, *did) {
                        return true;
                    }
                }
                seen[byte as usize].push((thread, epoch, what));
            }
        }
    }
    false
}

fn play(module: &Module, script: &[Vec<u32>], threads: u32, workers: usize) -> Outcome {
    let mut memory = memory();
    let words: Vec<u32> = script.iter().flatten().copied().collect();
    let script_address = upload_u32(&mut memory, "script", &words);
    let data = upload_u32(&mut memory, "data", &vec![0; DATA_BYTES as usize / 4]);
    let launch = Launch::new("play", [BLOCKS, 1, 1], [threads, 1, 1])
        .arg_u64(script_address)
        .arg_u64(data)
        .arg_u32(script.len() as u32);
    run_with(module, &mut memory, &launch, &Options { workers, ..Options::default() })
}

/// Plays so many scripts, on one worker and on two, and holds what is found to the oracle. More than `least` of them must have a race,
/// and as many none. `write` gives how many threads a block has, and the steps.
fn hold_to_oracle(
    scripts: u64,
    (factor, first): (u64, u64),
    least: usize,
    write: impl Fn(&mut Random) -> (u32, Vec<Vec<u32>>),
) {
    let module = load(PLAYER);
    let (mut clean, mut racy) = (0, 0);
    for seed in 0..scripts {
        let (threads, script) = write(&mut Random(seed * factor + first));
        let expected = oracle(&script, threads);
        let outcome = play(&module, &script, threads, 1 + seed as usize % 2);
        let found = outcome.faults.iter().any(|fault| fault.kind == FaultKind::Race);
        assert_eq!(found, expected, "seed {seed}, {threads} threads: {:#?}\n{script:?}", outcome.faults.first());
        assert!(outcome.faults.iter().all(|fault| fault.kind == FaultKind::Race), "{:#?}", outcome.faults);
        if found { racy += 1 } else { clean += 1 }
    }
    assert!(clean > least && racy > least, "{clean} scripts without and {racy} with a race: the scripts test nothing");
}

#[test]
fn the_race_check_finds_what_the_oracle_finds() {
    hold_to_oracle(6000, (977, 5), 600, |random| {
        let threads = [32, 48, 64, 96][random.below(4) as usize];
        let steps = 1 + random.below(6) as usize;
        let script: Vec<Vec<u32>> =
            (0..steps).map(|_| (0..BLOCKS).flat_map(|block| step(random, block, threads)).collect()).collect();
        (threads, script)
    });
}

/// Blocks that read the same few sectors, word by word or in rows, before one thread writes.
#[test]
fn what_several_blocks_read_is_known_byte_by_byte() {
    hold_to_oracle(4000, (911, 3), 400, |random| {
        let threads = [32, 64][random.below(2) as usize];
        let mut script = Vec::new();
        for _ in 0..1 + random.below(12) {
            let mut row = Vec::new();
            for block in 0..BLOCKS {
                // Mostly both blocks go through the sector one after the other, the second one not as far.
                let (shape, at) = (random.below(5), 4 * random.below(8 - 3 * block));
                let what = [3, 3, 3, 1, 9][shape as usize];
                row.extend((0..threads).map(|thread| match what {
                    9 => 9,
                    1 => 1 | (at + thread % 4) << 4,
                    _ if shape == 2 => what | (4 * (thread % 8)) << 4,
                    _ => what | at << 4,
                }));
            }
            script.push(row);
        }
        for _ in 0..random.below(3) {
            script.push(only(
                [5, 7, 7][random.below(3) as usize],
                threads,
                random.below(2) * threads,
                4 * random.below(16),
            ));
        }
        (threads, script)
    });
}

/// Lanes that share sectors in other ways than side by side: fields of structures, every second or third element, rows from
/// the end, permutations, neighbours at one place.
#[test]
fn what_lanes_share_of_a_sector_is_known_exactly() {
    hold_to_oracle(5000, (1327, 11), 600, |random| {
        let threads = [32, 64][random.below(2) as usize];
        let mut script = Vec::new();
        for _ in 0..1 + random.below(5) {
            let mut row = Vec::new();
            for block in 0..BLOCKS {
                let what = 1 + random.below(8);
                let bytes = size(what);
                let fields = [2, 3, 5, 7][random.below(4) as usize].min(4096 / bytes / threads - 1);
                let (shape, shift, field) = (random.below(6), random.below(threads), random.below(fields));
                let mask = [u32::MAX, u32::MAX, 0x0f0f_3f1f][random.below(3) as usize];
                let place = |thread: u32| match shape {
                    0..3 => thread * fields + field,
                    3 => threads - 1 - thread,
                    4 => (thread * 13 + shift) % threads,
                    _ if random.0 >> 40 & 1 == 0 => thread / 2,
                    _ => thread,
                };
                let what_of = |thread: u32| if mask >> (thread % 32) & 1 != 0 { what } else { 0 };
                row.extend((0..threads).map(|thread| what_of(thread) | (block * 4096 + place(thread) * bytes) << 4));
            }
            script.push(row);
            if random.below(4) > 0 {
                script.push(vec![9; (BLOCKS * threads) as usize]);
            }
        }
        (threads, script)
    });
}

/// Steps of a script in which every thread of block 0 does the same at `place(thread)`.
/// Where thread `thread` of a block stores, counted in elements: lanes that meet in all ways that indices have.
fn meeting(shape: u32, thread: u32, by: u32) -> u32 {
    match shape {
        0 => thread >> by,
        1 => thread % (1 << by),
        2 => (thread >> by) * 9,
        3 => thread.min(by),
        4 => thread ^ 1,
        5 => (thread >> by) * 3 + thread % 3,
        6 => thread * 2 / 3,
        7 => (thread + by) / 5,
        _ => by,
    }
}

/// The player whose stores go by the place alone.
fn agreeing() -> String {
    PLAYER
        .replace("[%rd6], %r6;", "[%rd6], %r11;")
        .replace("{%r6, %r6, %r6, %r6}", "{%r11, %r11, %r11, %r11}")
        .replace("$st1:", "$st1:	cvt.u16.u32 %h1, %r11;\n")
        .replace("$st2:", "$st2:	cvt.u16.u32 %h1, %r11;\n")
}

/// Stores of one instruction that agree are no race, however the lanes lie.
#[test]
fn stores_of_the_same_are_no_race_however_lanes_lie() {
    only_races_are_found(&agreeing(), false);
}

#[test]
fn stores_of_the_same_to_shared_memory_are_no_race_however_lanes_lie() {
    let shared = agreeing()
        .replace("\n{\n", &format!("\n{{\n\t.shared .align 16 .b8 places[{DATA_BYTES}];\n"))
        .replace("add.u64 %rd6, %rd2, %rd5;", "mov.u32 %r16, places;\n\tadd.u32 %r16, %r16, %r11;")
        .replace("[%rd6]", "[%r16]")
        .replace("st.global", "st.shared")
        .replace("ld.global", "ld.shared")
        .replace("ld.shared.nc", "ld.global.nc");
    only_races_are_found(&shared, true);
}

/// Plays stores of lanes that meet; `apart`: each block in its own part of the places.
fn only_races_are_found(text: &str, apart: bool) {
    let module = load(text);
    let (mut clean, mut racy, mut found) = (0, 0, 0);
    for seed in 0..4000 {
        let mut random = Random(seed * 6151 + 3);
        let threads = [32, 48, 64, 24][random.below(4) as usize];
        let steps = 1 + random.below(4);
        let script: Vec<Vec<u32>> = (0..steps)
            .map(|_| {
                let what = if random.below(4) == 0 { 9 } else { 5 + random.below(4) };
                let (shape, by, own) = (random.below(9), random.below(5), random.below(3) > 0 || apart);
                let place = |thread: u32, block: u32| {
                    let base = if own { block * 4096 + 16 * by } else { 0 };
                    base + meeting(shape, thread, by) * size(what) % 3584
                };
                let entry = |thread: u32, block: u32| if what == 9 { 9 } else { what | place(thread, block) << 4 };
                (0..BLOCKS)
                    .flat_map(|block| (0..threads).map(move |thread| (thread, block)))
                    .map(|(t, b)| entry(t, b))
                    .collect()
            })
            .collect();
        let outcome = play(&module, &script, threads, 1 + seed as usize % 2);
        let reported = outcome.faults.iter().any(|fault| fault.kind == FaultKind::Race);
        if races(&script, threads, |one, other| one == other) {
            racy += 1;
            found += u32::from(reported);
        } else {
            clean += 1;
            assert!(!reported, "seed {seed}, {threads} threads: {:#?}\n{script:?}", outcome.faults.first());
        }
    }
    // Who stores the same takes the place of who stored it before, so a race with that one may go unseen.
    assert!(clean > 500 && racy > 500 && found * 10 > racy * 9, "{clean} clean, {racy} racy, {found} found");
}

/// A step of one block whose threads mostly stay with records of their own, `pitch` bytes apart.
fn field(random: &mut Random, block: u32, threads: u32, pitch: u32) -> Vec<u32> {
    let what = match random.below(12) {
        0 => 9,
        1..6 => [3, 3, 3, 4, 2][random.below(5) as usize],
        _ => [7, 7, 7, 8, 6][random.below(5) as usize],
    };
    if what == 9 {
        return vec![9; threads as usize];
    }
    let bytes = size(what);
    let within = random.below(pitch / bytes) * bytes;
    let (all, turn, one) = (random.below(5) > 0, random.below(24) == 0, random.below(threads));
    let foreign = random.below(12) == 0;
    (0..threads)
        .map(|thread| {
            let active = all || if foreign { thread == one } else { thread % 32 < 20 };
            let record = if turn || foreign && thread == one { (thread + 1 + one / 2) % threads } else { thread };
            if active { what | (block * 4096 + record * pitch + within) << 4 } else { 0 }
        })
        .collect()
}

#[test]
fn what_lanes_have_to_themselves_is_known_exactly() {
    hold_to_oracle(3000, (7919, 11), 300, |random| {
        let (threads, pitch) = [(32, 32), (32, 64), (64, 64), (32, 96), (64, 32)][random.below(5) as usize];
        let steps = 3 + random.below(16);
        let script: Vec<Vec<u32>> =
            (0..steps).map(|_| (0..BLOCKS).flat_map(|block| field(random, block, threads, pitch)).collect()).collect();
        (threads, script)
    });
}

fn row(what: u32, threads: u32, place: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..BLOCKS * threads).map(|thread| if thread < threads { what | place(thread) << 4 } else { 0 }).collect()
}

fn only(what: u32, threads: u32, thread: u32, place: u32) -> Vec<u32> {
    (0..BLOCKS * threads).map(|t| if t == thread { what | place << 4 } else { 0 }).collect()
}

/// The write is compared with the reads since the last write, also where that write is known and in order.
#[test]
fn a_write_behind_a_read_without_a_barrier_is_a_race() {
    let module = load(PLAYER);
    for (reader, writer, at) in [(0, 1, 0), (3, 40, 128), (63, 0, 60), (5, 6, 20)] {
        let threads = 64;
        let barrier: Vec<u32> = vec![9; 2 * threads as usize];
        let fill = row(7, threads, |thread| 4 * thread);
        let read = only(3, threads, reader, at);
        let write = only(7, threads, writer, at);
        let wrong = play(&module, &[fill.clone(), barrier.clone(), read.clone(), write.clone()], threads, 1);
        let fault = wrong.faults.first().expect("a race");
        assert_eq!(fault.kind, FaultKind::Race);
        let other = fault.other.as_ref().expect("both sides are named");
        // Warps run one after the other, so that either side may come first.
        let mut named = [fault.thread.expect("a thread").thread[0], other.thread.thread[0]];
        named.sort_unstable();
        assert_eq!(named, [reader.min(writer), reader.max(writer)], "{fault:#?}");
        let right = play(&module, &[fill, barrier.clone(), read, barrier, write], threads, 1);
        assert!(right.completed && right.faults.is_empty(), "{:#?}", right.faults);
    }
}

/// Rows of a matrix store at one place: all lanes name the address `row % 4 * 16`, so each row is stored twice.
const TWICE: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry one(.param .u64 out, .param .u32 differ)
{
	.reg .pred %p<2>;
	.reg .b32 %r<12>;
	.reg .b64 %l<4>;
	.shared .align 16 .b8 rows[64];
	ld.param.u64 %l1, [out];
	ld.param.u32 %r9, [differ];
	mov.u32 %r1, %tid.x;
	and.b32 %r2, %r1, 3;
	mov.u32 %r3, rows;
	mad.lo.u32 %r4, %r2, 16, %r3;
	// Row r of the matrix is what lanes 4r to 4r+3 hold; rows 4 to 7 are rows 0 to 3 again, unless they are to differ.
	and.b32 %r5, %r1, 15;
	add.u32 %r5, %r5, 1;
	mad.lo.u32 %r5, %r1, %r9, %r5;
	stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r5};
	bar.sync 0;
	and.b32 %r6, %r1, 15;
	mad.lo.u32 %r7, %r6, 4, %r3;
	ld.shared.u32 %r8, [%r7];
	mul.wide.u32 %l2, %r1, 4;
	add.u64 %l3, %l1, %l2;
	st.global.u32 [%l3], %r8;
	ret;
}
";

#[test]
fn rows_of_a_matrix_store_that_say_the_same_are_no_race() {
    let module = load(TWICE);
    for differ in [0, 1] {
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[0; 32]);
        let outcome =
            run(&module, &mut memory, &Launch::new("one", [1, 1, 1], [32, 1, 1]).arg_u64(out).arg_u32(differ));
        if differ == 0 {
            assert!(outcome.completed && outcome.faults.is_empty(), "{:#?}", outcome.faults);
            assert_eq!(download_u32(&memory, out, 32), (0..32).map(|lane| lane % 16 + 1).collect::<Vec<u32>>());
        } else {
            assert!(kinds(&outcome).contains(&FaultKind::Race), "{:#?}", outcome.faults);
        }
    }
}

/// Groups of 4, 8 or 16 lanes store a word each, block 0; `mode` 0: the same, 1: each lane its own, 2: the same, and the
/// second block stores to the last one's place, 3: block 0 adds there by atomics, and the second block as in 2.
fn groups(ty: &str, bytes: u32, shift: u32) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out_, .param .u32 mode_) {{\n\
         .reg .b64 %out, %at, %v; .reg .b32 %r<8>; .reg .pred %p<6>;\n\
         ld.param.u64 %out, [out_]; ld.param.u32 %r1, [mode_]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;\n\
         shr.u32 %r4, %r2, {shift}; mul.wide.u32 %at, %r4, {bytes}; add.u64 %at, %out, %at;\n\
         setp.eq.u32 %p1, %r3, 0;\n@!%p1 bra SECOND;\nsetp.eq.u32 %p2, %r1, 3;\n@%p2 bra ADDS;\n\
         setp.eq.u32 %p3, %r1, 1;\nselp.u32 %r5, %r2, %r4, %p3;\ncvt.u64.u32 %v, %r5;\n\
         st.global.{ty} [%at], %v;\nret;\nADDS: red.global.add.u32 [%at], 1;\nret;\n\
         SECOND: setp.gt.u32 %p4, %r1, 1;\nsetp.eq.and.u32 %p5, %r2, 31, %p4;\nmov.b64 %v, 77;\n\
         @%p5 st.global.{ty} [%at], %v;\nret;\n}}\n"
    )
}

#[test]
fn groups_of_lanes_that_store_the_same_are_no_race() {
    for (ty, bytes) in [("u32", 4), ("u64", 8)] {
        for shift in [2, 3, 4] {
            let module = load(&groups(ty, bytes, shift));
            for mode in 0..4 {
                let mut memory = memory();
                let out = upload_u32(&mut memory, "out", &[0; 16]);
                let launch = Launch::new("k", [2, 1, 1], [32, 1, 1]).arg_u64(out).arg_u32(mode);
                let outcome = run(&module, &mut memory, &launch);
                let races = kinds(&outcome).contains(&FaultKind::Race);
                assert_eq!(races, mode != 0, "{ty}, shift {shift}, mode {mode}: {:#?}", outcome.faults);
            }
        }
    }
}

/// Blocks on two workers store the same to the same places by the same instruction: one now and then meets another's store
/// before it has landed, which is no race either.
#[test]
fn blocks_that_store_the_same_agree_on_every_run() {
    let module = load(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out_) {\n\
         .reg .b64 %out, %at; .reg .b32 %r<6>; .reg .pred %p;\nld.param.u64 %out, [out_];\n\
         mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.u32 %r3, %r2, %r5, %r1;\n\
         add.u32 %r4, %r3, 64;\n\
         $next:\nmul.wide.u32 %at, %r3, 4; add.u64 %at, %out, %at; add.u32 %r3, %r3, 1;\n\
         st.global.u32 [%at], %r3;\nsetp.ne.u32 %p, %r3, %r4;\n@%p bra $next;\nret;\n}\n",
    );
    let options = Options { workers: 2, ..Options::default() };
    for round in 0..100 {
        let mut memory = memory();
        let out = memory.alloc("out", 4 * (48 * 64 + 64)).expect("fits");
        let launch = Launch::new("k", [48, 1, 1], [64, 1, 1]).arg_u64(out);
        let outcome = run_with(&module, &mut memory, &launch, &options);
        assert!(outcome.completed && outcome.faults.is_empty(), "run {round}: {:?}", outcome.faults.first());
    }
}

#[test]
fn stores_of_the_same_are_no_race_in_the_largest_modules() {
    // More accesses than a cell of the race check has numbers for, in front of the ones that are run.
    for (space, place, others) in [("global", "%d1", 8_200), ("shared", "%r1", 16_400)] {
        let before = format!("st.{space}.u32 [{place}], 1;\n").repeat(others);
        let begin =
            "{ .reg .b64 %d<2>; .reg .b32 %r<2>; .shared .b32 cell; ld.param.u64 %d1, [a]; mov.u32 %r1, cell;\n";
        let module = load(&format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry other(.param .u64 a) {begin}{before}ret; }}\n\
             .visible .entry k(.param .u64 a) {begin}st.{space}.u32 [{place}], 7;\nret; }}\n"
        ));
        let mut memory = memory();
        let a = memory.alloc("a", 4).expect("fits");
        run_clean(&module, &mut memory, &Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(a));
    }
}
