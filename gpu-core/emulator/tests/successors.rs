//! Warps and blocks that run in the place of those that have ended have nothing of theirs.

mod common;

use common::{download_u32, load, memory, run_with, upload_u32};
use ptx_emulator::{Fast, Fault, FaultKind, Launch, Options, Outcome, Space};

/// A kernel of `body` with three arguments, that may stop at `END`.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 c)\n{{\n\
         .reg .pred %p, %q; .reg .b32 %tid, %cta, %at, %x, %y, %unset; .reg .b64 %ra, %rc, %rt;\n\
         .shared .align 8 .b8 cells[512]; .local .align 4 .b8 own[16];\n\
         ld.param.u64 %ra, [a]; ld.param.u64 %rc, [c]; mov.u32 %tid, %tid.x; mov.u32 %cta, %ctaid.x; mov.u32 %at, cells;\n\
         {body}\n\
         END: ret;\n}}\n"
    )
}

/// Runs it with and without machine code, by one worker and by two.
fn each_way(body: &str, grid: u32, block: [u32; 3], check: impl Fn(&Outcome, &[u32], u32)) {
    let module = load(&kernel(body));
    for (machine_code, workers) in [(true, 1), (true, 2), (false, 1), (false, 2)] {
        let mut memory = memory();
        let threads = block.iter().product::<u32>();
        let a = upload_u32(&mut memory, "a", &(0..grid * threads).collect::<Vec<_>>());
        let c = upload_u32(&mut memory, "c", &vec![u32::MAX; (grid * threads) as usize]);
        let launch = Launch::new("k", [grid, 1, 1], block).arg_u64(a).arg_u64(c);
        let fast = Fast::default().with("machine_code", machine_code).expect("its name");
        let options = Options { fast, workers, ..Options::default() };
        let outcome = run_with(&module, &mut memory, &launch, &options);
        check(&outcome, &download_u32(&memory, c, (grid * threads) as usize), threads);
    }
}

fn only(outcome: &Outcome, kind: FaultKind, space: Option<Space>) -> &Fault {
    let [fault] = &outcome.faults[..] else { panic!("{:#?}", outcome.faults) };
    assert_eq!((fault.kind, fault.space), (kind, space), "{fault:#?}");
    fault
}

/// `%rt`: the place of the thread in `c`.
const PLACE: &str =
    "mov.u32 %x, %ntid.x; mad.lo.u32 %x, %cta, %x, %tid; mul.wide.u32 %rt, %x, 4; add.u64 %rt, %rt, %rc;";

#[test]
fn a_warp_knows_nothing_of_what_the_one_before_had_seen() {
    // Warps 0 and 1 meet, and end; warp 2 reads what warp 1 wrote before.
    let body = "shl.b32 %x, %tid, 2; add.u32 %at, %at, %x; setp.ge.u32 %p, %tid, 64; @%p bra THIRD;\n\
                setp.lt.u32 %q, %tid, 32; @%q bra MEET; st.shared.b32 [%at], %tid;\n\
                MEET: barrier.sync 1, 64; bra END;\n\
                THIRD: ld.shared.b32 %y, [%at + -128];";
    each_way(body, 40, [96, 1, 1], |outcome, _, _| {
        let fault = only(outcome, FaultKind::Race, Some(Space::Shared));
        assert_eq!(fault.occurrences, 40 * 32);
        let thread = fault.thread.expect("of a thread");
        assert_eq!((thread.warp, fault.other.as_ref().map(|other| other.thread.warp)), (2, Some(1)));
    });
}

#[test]
fn registers_that_nothing_set_are_told_of_in_late_warps_and_blocks() {
    // Only warp 3 of block 37 leaves it unset.
    let body = format!(
        "setp.ne.u32 %p, %cta, 37; @%p bra SET; setp.lt.u32 %p, %tid, 96; @%p bra SET; bra GO;\n\
         SET: mov.u32 %unset, 7;\n\
         GO: {PLACE} add.u32 %y, %unset, 1; st.global.b32 [%rt], %y;"
    );
    each_way(&body, 40, [128, 1, 1], |outcome, c, _| {
        let fault = only(outcome, FaultKind::Uninitialised, None);
        let thread = fault.thread.expect("of a thread");
        assert_eq!((thread.block, thread.warp, fault.occurrences), ([37, 0, 0], 3, 32));
        let set = c.iter().filter(|value| **value == 8).count();
        assert!(set >= 40 * 128 - 32);
    });
}

#[test]
fn local_and_shared_memory_is_unwritten_for_who_comes_next() {
    // All warps but the last write what is their own, and the last one only reads; so do blocks.
    let local = format!(
        "setp.ge.u32 %p, %tid, 96; @%p bra READ; st.local.b32 [own + 4], %tid;\n\
         READ: ld.local.b32 %y, [own + 4]; {PLACE} add.u32 %y, %y, 1; st.global.b32 [%rt], %y;"
    );
    each_way(&local, 3, [128, 1, 1], |outcome, _, _| {
        let fault = only(outcome, FaultKind::Uninitialised, Some(Space::Local));
        assert_eq!((fault.thread.expect("of a thread").warp, fault.occurrences), (3, 3 * 32));
    });
    let shared = format!(
        "shl.b32 %x, %tid, 2; add.u32 %at, %at, %x; setp.eq.u32 %p, %cta, 29; @%p bra READ; st.shared.b32 [%at], %tid;\n\
         READ: ld.shared.b32 %y, [%at]; {PLACE} add.u32 %y, %y, 1; st.global.b32 [%rt], %y;"
    );
    each_way(&shared, 30, [128, 1, 1], |outcome, _, _| {
        let fault = only(outcome, FaultKind::Uninitialised, Some(Space::Shared));
        assert_eq!((fault.thread.expect("of a thread").block, fault.occurrences), ([29, 0, 0], 128));
    });
}

#[test]
fn threads_know_their_numbers_wherever_the_others_ended() {
    // Odd warps of odd blocks end at once, half of the lanes of even ones a little later, one way or the other.
    let body = "mov.u32 %x, %ntid.x; mov.u32 %y, %tid.y; mad.lo.u32 %tid, %y, %x, %tid; mov.u32 %y, %ntid.y;\n\
                mul.lo.u32 %x, %x, %y; mov.u32 %y, %tid.z; mad.lo.u32 %tid, %y, %x, %tid;\n\
                mov.u32 %y, %ntid.z; mul.lo.u32 %x, %x, %y; mad.lo.u32 %x, %cta, %x, %tid;\n\
                mul.wide.u32 %rt, %x, 4; add.u64 %rt, %rt, %rc;\n\
                shr.u32 %y, %tid, 5; and.b32 %y, %y, %cta; and.b32 %y, %y, 1; setp.eq.u32 %p, %y, 1; @%p exit;\n\
                or.b32 %y, %tid, %cta; and.b32 %y, %y, 1; setp.eq.u32 %p, %y, 0; @!%p bra ON; @%p ret;\n\
                ON: st.global.b32 [%rt], %x;";
    for block in [[7, 5, 3], [33, 1, 2], [4, 4, 8], [1, 1, 1], [64, 4, 1], [200, 1, 1]] {
        each_way(body, 33, block, |outcome, c, threads| {
            assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
            for (at, value) in (0..).zip(c) {
                let (block, thread) = (at / threads, at % threads);
                let ended = (thread / 32) & block & 1 == 1 || (thread | block) & 1 == 0;
                assert_eq!(*value, if ended { u32::MAX } else { at }, "thread {thread} of block {block}");
            }
        });
    }
}
