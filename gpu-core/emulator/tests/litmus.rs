//! Small programs whose blocks meet in memory on two host threads: what PTX's memory model forbids must not be seen.
//!
//! What can be seen depends on the machine: x86 changes the order of a store and a load behind it only, ARM that of any two
//! accesses. `tests/order.rs` asks the same of all orders that a machine might have.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use common::*;
use ptx_emulator::{Launch, Options};

/// What a pair of blocks does with the words `x` (`%l1`) and `y` (`%l2`) of each round, both 0 before, and what they may not
/// both have found in `%r5` and `%r6`.
struct Program {
    name: &'static str,
    first: &'static str,
    second: &'static str,
    /// The second block then reads `x` if it found something.
    reads: bool,
    forbidden: fn([u32; 2], [u32; 2]) -> bool,
}

/// A flag without what it stands for.
fn lost(_: [u32; 2], [flag, data]: [u32; 2]) -> bool {
    flag != 0 && data != 7
}

const READ_BEHIND_FLAG: &str = "setp.ne.u32 %p3, %r5, 0; @%p3 ld.weak.global.u32 %r6, [%l1];";

const PROGRAMS: &[Program] = &[
    Program {
        name: "message by release and acquire",
        first: "st.weak.global.u32 [%l1], 7; st.release.gpu.global.u32 [%l2], 1;",
        second: "ld.acquire.gpu.global.u32 %r5, [%l2];",
        reads: true,
        forbidden: lost,
    },
    Program {
        name: "message by fences",
        first: "st.weak.global.u32 [%l1], 7; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%l2], 1;",
        second: "ld.relaxed.gpu.global.u32 %r5, [%l2]; fence.acq_rel.gpu;",
        reads: true,
        forbidden: lost,
    },
    Program {
        name: "message by membar and volatile",
        first: "st.global.u32 [%l1], 7; membar.gl; st.volatile.global.u32 [%l2], 1;",
        second: "ld.volatile.global.u32 %r5, [%l2]; membar.gl;",
        reads: true,
        forbidden: lost,
    },
    Program {
        name: "message by atomics",
        first: "st.weak.global.u32 [%l1], 7; atom.release.gpu.global.exch.b32 %r7, [%l2], 1;",
        second: "atom.acquire.gpu.global.add.u32 %r5, [%l2], 0;",
        reads: true,
        forbidden: lost,
    },
    Program {
        name: "message by compare-and-swap of 64 bits",
        first: "st.weak.global.u32 [%l1], 7; atom.acq_rel.gpu.global.cas.b64 %l5, [%l2], 0, 1;",
        second: "atom.acq_rel.gpu.global.cas.b64 %l5, [%l2], 2, 3; cvt.u32.u64 %r5, %l5;",
        reads: true,
        forbidden: lost,
    },
    Program {
        name: "a store and a load behind it, each way",
        first: "st.relaxed.gpu.global.u32 [%l1], 1; fence.sc.gpu; ld.relaxed.gpu.global.u32 %r5, [%l2];",
        second: "st.relaxed.gpu.global.u32 [%l2], 1; membar.gl; ld.relaxed.gpu.global.u32 %r5, [%l1];",
        reads: false,
        forbidden: |[first, _], [second, _]| first == 0 && second == 0,
    },
    Program {
        name: "a load and a store behind it, each way",
        first: "ld.acquire.gpu.global.u32 %r5, [%l1]; st.release.gpu.global.u32 [%l2], 1;",
        second: "ld.acquire.gpu.global.u32 %r5, [%l2]; st.release.gpu.global.u32 [%l1], 1;",
        reads: false,
        forbidden: |[first, _], [second, _]| first == 1 && second == 1,
    },
    Program {
        name: "one word read twice",
        first: "st.relaxed.gpu.global.u32 [%l1], 1; st.relaxed.gpu.global.u32 [%l1], 2;",
        second: "ld.relaxed.gpu.global.u32 %r5, [%l1]; ld.relaxed.gpu.global.u32 %r6, [%l1];",
        reads: false,
        forbidden: |_, [once, again]| once > again,
    },
];

/// Bytes from one round's words to the next's: no cache line has those of two.
const STRIDE: u32 = 128;

/// Blocks 0 and 1 meet before each round, so that they go through it at the same time.
fn text(program: &Program) -> String {
    let behind = if program.reads { READ_BEHIND_FLAG } else { "" };
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64
.visible .entry litmus(.param .u64 x, .param .u64 y, .param .u64 meet, .param .u64 out, .param .u32 rounds)
{{
    .reg .pred %p<5>;
    .reg .b32 %r<9>;
    .reg .b64 %l<8>;
    ld.param.u64 %l1, [x];
    ld.param.u64 %l2, [y];
    ld.param.u64 %l3, [meet];
    ld.param.u64 %l4, [out];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %ctaid.x;
    setp.ne.u32 %p1, %r2, 0;
    mul.wide.u32 %l6, %r2, 8;
    add.s64 %l4, %l4, %l6;
$round:
    red.relaxed.gpu.global.add.u32 [%l3], 1;
$meet:
    ld.relaxed.gpu.global.u32 %r3, [%l3];
    setp.lt.u32 %p2, %r3, 2;
    @%p2 bra $meet;
    mov.u32 %r5, 0;
    mov.u32 %r6, 0;
    @%p1 bra $second;
    {}
    bra.uni $next;
$second:
    {}
    {behind}
$next:
    st.global.v2.u32 [%l4], {{%r5, %r6}};
    add.s64 %l1, %l1, {STRIDE};
    add.s64 %l2, %l2, {STRIDE};
    add.s64 %l3, %l3, {STRIDE};
    add.s64 %l4, %l4, {STRIDE};
    add.s32 %r1, %r1, -1;
    setp.ne.s32 %p4, %r1, 0;
    @%p4 bra $round;
    ret;
}}",
        program.first, program.second
    )
}

/// What the two blocks found in each round.
fn outcomes(program: &Program, rounds: u32, options: &Options) -> Vec<[[u32; 2]; 2]> {
    let mut memory = memory();
    let words = vec![0; (rounds * STRIDE / 4) as usize];
    let [x, y, meet, out] = ["x", "y", "meet", "out"].map(|name| upload_u32(&mut memory, name, &words));
    let launch = Launch::new("litmus", [2, 1, 1], [1, 1, 1]);
    let launch = launch.arg_u64(x).arg_u64(y).arg_u64(meet).arg_u64(out).arg_u32(rounds);
    let outcome = run_with(&load(&text(program)), &mut memory, &launch, options);
    assert!(outcome.completed && outcome.faults.is_empty(), "{}: {:#?}", program.name, outcome.faults);
    let found = download_u32(&memory, out, words.len());
    found.chunks_exact(STRIDE as usize / 4).map(|round| [[round[0], round[1]], [round[2], round[3]]]).collect()
}

fn none_is_forbidden(rounds: u32, launches: u32, options: &Options) {
    for program in PROGRAMS {
        for _ in 0..launches {
            for (round, [first, second]) in outcomes(program, rounds, options).into_iter().enumerate() {
                assert!(!(program.forbidden)(first, second), "{}: {first:?} {second:?} in {round}", program.name);
            }
        }
    }
}

/// More of them by hand: `LOCKSTEP_LITMUS=100 cargo test --workspace --test litmus`.
fn launches() -> u32 {
    std::env::var("LOCKSTEP_LITMUS").ok().and_then(|value| value.parse().ok()).unwrap_or(1)
}

#[test]
fn what_the_memory_model_forbids_is_not_seen() {
    none_is_forbidden(20_000, launches(), &Options { workers: 2, ..Options::unchecked() });
}

#[test]
fn programs_that_order_their_blocks_are_in_no_race() {
    none_is_forbidden(2000, launches(), &Options { workers: 2, ..Options::default() });
}

const ADD: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 word, .param .u32 times)
{
    .reg .pred %p1;
    .reg .b32 %r<3>;
    .reg .b64 %l<2>;
    ld.param.u64 %l1, [word];
    ld.param.u32 %r1, [times];
$again:
    red.relaxed.sys.global.add.u32 [%l1], 1;
    add.s32 %r1, %r1, -1;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra $again;
    ret;
}";

/// Memory that a program shares with a kernel is nobody's alone, though one worker runs the kernel.
#[test]
fn a_program_may_update_its_memory_beside_a_kernel() {
    const TIMES: u32 = 50_000;
    let word = AtomicU32::new(0);
    let ended = AtomicBool::new(false);
    let mut memory = memory();
    // SAFETY: the word outlives the memory, and everybody updates it atomically.
    let address = unsafe { memory.map_host("word", word.as_ptr().cast(), 4) }.expect("free");
    let own = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut times = 0u32;
            while !ended.load(Ordering::Relaxed) {
                word.fetch_add(1, Ordering::Relaxed);
                times += 1;
            }
            times
        });
        let launch = Launch::new("add", [1, 1, 1], [32, 1, 1]).arg_u64(address).arg_u32(TIMES);
        let outcome = run_with(&load(ADD), &mut memory, &launch, &Options::unchecked());
        ended.store(true, Ordering::Relaxed);
        assert!(outcome.completed, "{:#?}", outcome.faults);
        other.join().expect("it only adds")
    });
    assert_eq!(word.load(Ordering::Relaxed), own.wrapping_add(32 * TIMES));
}

const ASK: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry ask(.param .u64 words)
{
    .reg .pred %p1;
    .reg .b32 %r<3>;
    .reg .b64 %l<2>;
    ld.param.u64 %l1, [words];
    st.weak.global.u32 [%l1+4], 7;
    st.release.sys.global.u32 [%l1], 1;
$again:
    ld.acquire.sys.global.u32 %r1, [%l1];
    setp.ne.u32 %p1, %r1, 2;
    @%p1 bra $again;
    ld.weak.global.u32 %r2, [%l1+4];
    add.s32 %r2, %r2, 1;
    st.weak.global.u32 [%l1+4], %r2;
    ret;
}";

/// A kernel that asks the program beside it and waits for the answer is not stuck, however long that takes.
#[test]
fn a_program_may_answer_a_kernel_that_waits() {
    let words = [AtomicU32::new(0), AtomicU32::new(0)];
    let mut memory = memory();
    // SAFETY: the words outlive the memory; who touches them is ordered by the first one.
    let address = unsafe { memory.map_host("words", words.as_ptr().cast::<u8>().cast_mut(), 8) }.expect("free");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while words[0].load(Ordering::Acquire) != 1 {
                std::thread::yield_now();
            }
            std::thread::sleep(std::time::Duration::from_millis(300));
            assert_eq!(words[1].load(Ordering::Relaxed), 7);
            words[1].store(8, Ordering::Relaxed);
            words[0].store(2, Ordering::Release);
        });
        let launch = Launch::new("ask", [1, 1, 1], [1, 1, 1]).arg_u64(address);
        let outcome = run_with(&load(ASK), &mut memory, &launch, &Options::default());
        // Lest the thread waits for ever.
        words[0].compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).ok();
        assert!(outcome.completed && outcome.faults.is_empty(), "{:#?}", outcome.faults);
    });
    assert_eq!(words[1].load(Ordering::Relaxed), 9);
}

/// Hardware moves an aligned vector in one piece, though PTX promises less: the descriptors of CUB's scans are a state and a value
/// side by side, which must not come from two stores.
#[test]
fn an_aligned_vector_comes_from_one_store() {
    let forms = [
        ("v2.u64", 2, "relaxed.gpu"),
        ("v2.u64", 2, "volatile"),
        ("v4.u32", 4, "relaxed.gpu"),
        ("v4.u32", 4, "release.gpu"),
        ("v2.u32", 2, "relaxed.gpu"),
        ("v2.u32", 2, "volatile"),
    ];
    for (form, count, order) in forms {
        let (kind, bits) = if form.ends_with("64") { ("%w", 64) } else { ("%v", 32) };
        let list = |first: u32| (0..count).map(|at| format!("{kind}{}", first + at)).collect::<Vec<_>>().join(", ");
        let same = vec![format!("{kind}0"); count as usize].join(", ");
        let differ: String = (1..count)
            .map(|at| format!("setp.ne.b{bits} %p1, {kind}4, {kind}{}; @%p1 add.u32 %bad, %bad, 1;\n", 4 + at))
            .collect();
        let load_order = order.replace("release", "acquire");
        for lanes in [1, 32] {
            let text = format!(
                ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 out)\n{{\n\
                 .reg .pred %p<4>; .reg .b32 %v<10>, %tid, %cta, %n, %bad, %at; .reg .b64 %w<10>, %a, %o, %off;\n\
                 ld.param.u64 %a, [a]; ld.param.u64 %o, [out]; mov.u32 %tid, %tid.x; mov.u32 %cta, %ctaid.x;\n\
                 mul.wide.u32 %off, %tid, 16; add.u64 %a, %a, %off; mul.wide.u32 %off, %tid, 4; add.u64 %o, %o, %off;\n\
                 mov.u32 %bad, 0; mov.u32 %n, 0; setp.ne.u32 %p2, %cta, 0; setp.ge.u32 %p3, %tid, {lanes}; @%p2 bra READ; @%p3 bra END;\n\
                 WRITE: add.u32 %n, %n, 1; mov.u32 %v0, %n; cvt.u64.u32 %w0, %n;\n\
                 st.{order}.global.{form} [%a], {{{same}}}; setp.lt.u32 %p0, %n, 40000; @%p0 bra WRITE; bra END;\n\
                 READ: add.u32 %n, %n, 1; ld.{load_order}.global.{form} {{{}}}, [%a];\n{differ}\
                 setp.lt.u32 %p0, %n, 40000; @%p0 bra READ; st.global.u32 [%o], %bad;\nEND: ret;\n}}\n",
                list(4)
            );
            let module = load(&text);
            let torn = [Options::unchecked(), Options { checks: ptx_emulator::Checks::NONE, ..Options::default() }]
                .map(|options| {
                    let mut memory = memory();
                    let a = upload_u32(&mut memory, "a", &[0; 128]);
                    let out = upload_u32(&mut memory, "out", &[0; 32]);
                    let launch = Launch::new("k", [2, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(out);
                    run_with(&module, &mut memory, &launch, &Options { workers: 2, ..options });
                    download_u32(&memory, out, 32).iter().sum::<u32>()
                });
            assert_eq!(torn, [0, 0], "{order} {form}, {lanes} lanes that store");
        }
    }
}
