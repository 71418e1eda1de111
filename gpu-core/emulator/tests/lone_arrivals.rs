//! Parts of warps at barriers of the whole block. The manual leaves open what happens; since Volta each thread arrives for
//! itself, and what is expected here is what an H200 makes of these kernels (driver 580). Programs in use rely on it, so
//! without checks they run; with checks they are told.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Options};

/// A name, the threads of the block, the text between the head and the store of `x`, and what a thread stores.
type Case = (&'static str, u32, &'static str, fn(u32) -> u32);

const CASES: [Case; 6] = [
    (
        "a barrier in one branch, and the next for all",
        64,
        "setp.ge.u32 p, a, 16; @p bra L; bar.sync 0; add.u32 x, x, 10; L: bar.sync 0; add.u32 x, x, 100;",
        |thread| if thread < 16 { 111 } else { 101 },
    ),
    (
        "a barrier inside the guard of a tree of sums",
        256,
        "mov.u32 b, s; shl.b32 i, a, 2; add.u32 b, b, i; add.u32 i, a, 1; st.shared.u32 [b], i; bar.sync 0;
         mov.u32 i, 128;
         W: setp.ge.u32 p, a, i; @p bra L;
         shl.b32 t, i, 2; add.u32 t, t, b; ld.shared.u32 u, [b]; ld.shared.u32 v, [t]; add.u32 u, u, v;
         st.shared.u32 [b], u; bar.sync 0;
         L: shr.u32 i, i, 1; setp.ne.u32 q, i, 0; @q bra W;
         ld.shared.u32 x, [b];",
        |thread| {
            let mut sums: Vec<u32> = (1..=256).collect();
            for stride in [128, 64, 32, 16, 8, 4, 2, 1] {
                (0..stride).for_each(|at| sums[at] += sums[at + stride]);
            }
            sums[thread as usize]
        },
    ),
    (
        "others end in a loop of their own",
        64,
        "setp.ge.u32 p, a, 16; @p bra L; bar.sync 0; add.u32 x, x, 10; bra E;
         L: mov.u32 i, 0; M: add.u32 i, i, 1; setp.lt.u32 q, i, 3000; @q bra M; st.global.u32 [d], i; ret;
         E:",
        |thread| if thread < 16 { 11 } else { 3000 },
    ),
    (
        "odd and even lanes at barriers of their own",
        64,
        "and.b32 i, a, 1; setp.eq.u32 p, i, 0; @p bra L; bar.sync 0; add.u32 x, x, 10; bra E;
         L: bar.sync 0; add.u32 x, x, 100; E:",
        |thread| if thread % 2 == 0 { 101 } else { 11 },
    ),
    (
        "a second barrier for odd lanes, when the even ones have ended",
        64,
        "and.b32 i, a, 1; setp.eq.u32 p, i, 0; @p bra L; bar.sync 0; add.u32 x, x, 10; bar.sync 0; bra E;
         L: bar.sync 0; add.u32 x, x, 100; E:",
        |thread| if thread % 2 == 0 { 101 } else { 11 },
    ),
    (
        "a predicate on the barrier itself",
        64,
        "setp.lt.u32 p, a, 16; @p bar.sync 0; @!p bar.sync 0; add.u32 x, x, 10;",
        |_| 11,
    ),
];

/// Reductions, which count threads as the manual says; these were not put to a GPU.
const REDUCTIONS: [Case; 8] = [
    (
        "odd and even lanes count at barriers of their own",
        64,
        "and.b32 i, a, 1; setp.eq.u32 p, i, 0; setp.lt.u32 q, a, 10; @p bra L; bar.red.popc.u32 x, 0, q; bra E;
         L: bar.red.popc.u32 x, 0, q; add.u32 x, x, 100; E:",
        |thread| if thread % 2 == 0 { 110 } else { 10 },
    ),
    (
        "a predicate on the reduction itself",
        64,
        "setp.lt.u32 p, a, 16; setp.lt.u32 q, a, 20; @p bar.red.popc.u32 x, 0, q; @!p bar.red.popc.u32 x, 0, q;",
        |_| 20,
    ),
    (
        "half of each warp says no",
        64,
        "and.b32 i, a, 16; setp.eq.u32 p, i, 0; setp.lt.u32 q, a, 16; setp.ne.u32 q, a, 40; @p bra L;
         bar.red.and.pred q, 0, q; bra E; L: bar.red.and.pred q, 0, q; E: selp.u32 x, 7, 8, q;",
        |_| 8,
    ),
    (
        "one lane of another group says yes",
        64,
        "and.b32 i, a, 16; setp.eq.u32 p, i, 0; setp.eq.u32 q, a, 60; @p bra L;
         bar.red.or.pred q, 0, q; bra E; L: bar.red.or.pred q, 0, q; E: selp.u32 x, 7, 8, q;",
        |_| 7,
    ),
    (
        "again and again, by groups of four lanes that come one after the other",
        96,
        "shr.u32 u, a, 2; and.b32 u, u, 7; mov.u32 i, 0; mov.u32 x, 0;
         A: and.b32 t, i, 7; mov.u32 v, 0;
         B: setp.eq.u32 p, u, v; @!p bra C; setp.le.u32 q, u, t; bar.red.popc.u32 t, 0, q; add.u32 x, x, t; bra D;
         C: add.u32 v, v, 1; setp.lt.u32 p, v, 8; @p bra B;
         D: add.u32 i, i, 1; setp.lt.u32 p, i, 16; @p bra A;",
        |_| 2 * (1..=8).map(|groups| 12 * groups).sum::<u32>(),
    ),
    (
        "others have ended",
        64,
        "setp.ge.u32 p, a, 20; @p bra L; setp.ne.u32 q, a, 3; bar.red.popc.u32 x, 0, q; bra E;
         L: st.global.u32 [d], x; ret; E:",
        |thread| if thread < 20 { 19 } else { 1 },
    ),
    (
        "two pairs of warps, one after the other at one barrier",
        128,
        "setp.ge.u32 p, a, 64; @p bra L;
         bar.red.popc.u32 x, 1, 64, p; setp.lt.u32 q, a, 7; bar.red.popc.u32 x, 1, 64, q; bar.arrive 2, 128; bra E;
         L: bar.sync 2, 128; setp.ne.u32 q, a, 64; bar.red.popc.u32 x, 1, 64, q; E:",
        |thread| if thread < 64 { 7 } else { 63 },
    ),
    (
        "a pair of warps at the barrier that one of another pair has not gone on from",
        128,
        "shr.u32 i, a, 5; setp.ne.u32 q, a, 0; setp.eq.u32 p, i, 0; @p bra A; setp.eq.u32 p, i, 3; @p bra C;
         bar.sync 2, 96; setp.eq.u32 q, a, 40; bar.red.popc.u32 x, 1, 64, q; bra E;
         A: bar.sync 3, 64; bar.red.popc.u32 x, 1, 64, q; bar.arrive 2, 96; bra E;
         C: bar.arrive 3, 64; bar.red.popc.u32 x, 1, 64, q; E:",
        |thread| if matches!(thread / 32, 0 | 3) { 63 } else { 1 },
    ),
];

fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 o) {{
         .reg .b64 d, e; .reg .b32 a, b, i, x, t, u, v; .reg .pred p, q; .shared .align 4 .b8 s[1024];
         ld.param.u64 d, [o]; mov.u32 a, %tid.x; mul.wide.u32 e, a, 4; add.u64 d, d, e; mov.u32 x, 1;
         {body}\n st.global.u32 [d], x; ret; }}\n"
    )
}

#[test]
fn without_checks_each_thread_arrives_for_itself() {
    for (name, threads, body, expected) in CASES.into_iter().chain(REDUCTIONS) {
        let module = load(&text(body));
        let mut memory = memory();
        let out = memory.alloc("out", 1024).expect("fits");
        let launch = Launch::new("k", [1, 1, 1], [threads, 1, 1]).arg_u64(out);
        let outcome = run_with(&module, &mut memory, &launch, &Options::unchecked());
        assert!(outcome.completed && outcome.faults.is_empty(), "{name}: {:#?}", outcome.faults);
        let stored = download_u32(&memory, out, threads as usize);
        assert_eq!(stored, (0..threads).map(expected).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn with_checks_it_is_told() {
    for (name, threads, body, _) in CASES {
        let module = load(&text(body));
        let mut memory = memory();
        let out = memory.alloc("out", 1024).expect("fits");
        let launch = Launch::new("k", [1, 1, 1], [threads, 1, 1]).arg_u64(out);
        let kinds: Vec<FaultKind> = run(&module, &mut memory, &launch).faults.iter().map(|fault| fault.kind).collect();
        assert!(kinds.contains(&FaultKind::BarrierDivergence), "{name}: {kinds:?}");
    }
}
