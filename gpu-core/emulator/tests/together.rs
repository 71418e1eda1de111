//! What lanes of a warp do together because they do the same, and apart because they do not.

mod common;

use common::{download_f32, download_u32, kinds, load, memory, run, run_clean, run_with, upload_u32};
use ptx_emulator::{Checks, FaultKind, Launch, Options};

/// A kernel of `body`, whose threads know `%tid` and the places of two arrays; the last instruction stores `%out`.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 c)\n{{\n\
         .reg .pred %p, %q; .reg .b32 %tid, %at, %x, %y, %out; .reg .b64 %ra, %rc, %rt, %token;\n\
         .shared .align 8 .b8 bar[256]; .shared .align 8 .b8 cells[256];\n\
         ld.param.u64 %ra, [a]; ld.param.u64 %rc, [c]; mov.u32 %tid, %tid.x; mov.u32 %at, bar;\n\
         {body}\n\
         mul.wide.u32 %rt, %tid, 4; add.u64 %rt, %rt, %rc; st.global.b32 [%rt], %out; ret;\n}}\n"
    )
}

const FIRST: &str = "setp.ne.u32 %p, %tid, 0;";

#[test]
fn each_arrival_gets_the_count_that_those_before_it_left() {
    for (each, count) in [(1, 64), (1, 32), (2, 64), (3, 96)] {
        let text = kernel(&format!(
            "{FIRST} @!%p mbarrier.init.shared.b64 [%at], {count}; bar.sync 0;\n\
             mbarrier.arrive.shared.b64 %token, [%at], {each};\n\
             mbarrier.pending_count.b64 %x, %token;\n\
             mbarrier.test_wait.parity.shared.b64 %q, [%at], 0; mbarrier.test_wait.parity.shared.b64 %q, [%at], 0;\n\
             selp.b32 %y, 1000, 0, %q; add.u32 %out, %x, %y;"
        ));
        let mut memory = memory();
        let c = memory.alloc("c", 128).expect("fits");
        run_clean(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(0).arg_u64(c));
        let over = if 32 * each == count { 1000 } else { 0 };
        let expected: Vec<u32> = (0..32).map(|lane| count - each * lane + over).collect();
        assert_eq!(download_u32(&memory, c, 32), expected, "{each} of {count}");
    }
}

#[test]
fn arrivals_beyond_the_count_are_told_of() {
    // Sixteen of them end the phase, and nothing says so to the others.
    let text = kernel(&format!(
        "{FIRST} @!%p mbarrier.init.shared.b64 [%at], 16; bar.sync 0;\n\
         mbarrier.arrive.shared.b64 %token, [%at]; mbarrier.pending_count.b64 %out, %token;"
    ));
    let mut memory = memory();
    let c = memory.alloc("c", 128).expect("fits");
    let outcome = run(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(0).arg_u64(c));
    assert_eq!(kinds(&outcome), [FaultKind::BarrierPhase], "{:#?}", outcome.faults);
    assert_eq!(outcome.faults[0].occurrences, 16);
    let expected: Vec<u32> = (0..32).map(|lane| 16 - lane % 16).collect();
    assert_eq!(download_u32(&memory, c, 32), expected);
}

#[test]
fn lanes_at_several_mbarriers_wait_each_for_its_own() {
    // Those of even threads are over.
    let text = kernel(
        "shl.b32 %x, %tid, 3; add.u32 %at, %at, %x; mbarrier.init.shared.b64 [%at], 1; bar.sync 0;\n\
         and.b32 %x, %tid, 1; setp.eq.u32 %p, %x, 0; @%p mbarrier.arrive.shared.b64 %token, [%at];\n\
         mbarrier.test_wait.parity.shared.b64 %q, [%at], 0; mbarrier.test_wait.parity.shared.b64 %q, [%at], 0;\n\
         selp.b32 %out, 1, 0, %q;",
    );
    let mut memory = memory();
    let c = memory.alloc("c", 128).expect("fits");
    run_clean(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(0).arg_u64(c));
    let expected: Vec<u32> = (0..32).map(|lane| 1 - lane % 2).collect();
    assert_eq!(download_u32(&memory, c, 32), expected);
}

#[test]
fn an_access_to_several_arrays_is_one_request() {
    let text = kernel(
        "and.b32 %x, %tid, 1; setp.eq.u32 %p, %x, 0; selp.b64 %rt, %ra, %rc, %p;\n\
         mul.wide.u32 %token, %tid, 4; add.u64 %rt, %rt, %token; ld.global.b32 %out, [%rt]; bar.sync 0;",
    );
    let mut memory = memory();
    let a = upload_u32(&mut memory, "a", &(0..32).collect::<Vec<_>>());
    let c = upload_u32(&mut memory, "c", &(100..132).collect::<Vec<_>>());
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(c);
    let outcome = run_clean(&load(&text), &mut memory, &launch);
    let expected: Vec<u32> = (0..32).map(|lane| if lane % 2 == 0 { lane } else { 100 + lane }).collect();
    assert_eq!(download_u32(&memory, c, 32), expected);
    let load = outcome.counters.global_load;
    assert_eq!((load.requests, load.sectors, load.bytes), (1, 8, 128));
}

#[test]
fn copies_of_several_sizes_from_several_arrays_all_take_place() {
    // Every third lane copies two bytes, the others four; even lanes from one array, odd ones from the other.
    let text = kernel(
        "mov.u32 %at, cells; shl.b32 %x, %tid, 2; add.u32 %at, %at, %x;\n\
         and.b32 %y, %tid, 1; setp.eq.u32 %p, %y, 0; selp.b64 %rt, %ra, %rc, %p;\n\
         mul.wide.u32 %token, %tid, 4; add.u64 %rt, %rt, %token;\n\
         rem.u32 %y, %tid, 3; setp.eq.u32 %q, %y, 0; selp.b32 %y, 2, 4, %q;\n\
         cp.async.ca.shared.global [%at], [%rt], 4, %y; cp.async.wait_all; ld.shared.b32 %out, [%at]; bar.sync 0;",
    );
    let mut memory = memory();
    let a = upload_u32(&mut memory, "a", &(0..32).map(|i| 0x1_0001 * i).collect::<Vec<_>>());
    let c = upload_u32(&mut memory, "c", &(0..32).map(|i| 0x1_0001 * (i + 100)).collect::<Vec<_>>());
    run_clean(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(c));
    let expected: Vec<u32> = (0..32)
        .map(|lane| {
            let value = 0x1_0001 * if lane % 2 == 0 { lane } else { lane + 100 };
            if lane % 3 == 0 { value & 0xffff } else { value }
        })
        .collect();
    assert_eq!(download_u32(&memory, c, 32), expected);
}

#[test]
fn an_atomic_of_several_arrays_gives_each_lane_its_own_answer() {
    // Shared memory by odd lanes, global memory by even ones; each place by two lanes.
    let text = kernel(
        "mov.u32 %at, cells; shr.u32 %x, %tid, 2; shl.b32 %x, %x, 2; add.u32 %at, %at, %x;\n\
         mov.u32 %y, 0; st.shared.b32 [%at], %y; bar.sync 0;\n\
         and.b32 %y, %tid, 1; setp.eq.u32 %p, %y, 0;\n\
         cvt.u64.u32 %token, %at; cvta.shared.u64 %token, %token; cvt.u64.u32 %rt, %x; add.u64 %rt, %rt, %ra;\n\
         selp.b64 %rt, %rt, %token, %p; mov.u32 %y, 5; atom.add.u32 %out, [%rt], %y;",
    );
    let mut memory = memory();
    let a = upload_u32(&mut memory, "a", &[7; 8]);
    let c = memory.alloc("c", 128).expect("fits");
    run_clean(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(c));
    assert_eq!(download_u32(&memory, a, 8), [17; 8]);
    let expected: Vec<u32> = (0..32).map(|lane| (lane & 2) / 2 * 5 + if lane % 2 == 0 { 7 } else { 0 }).collect();
    assert_eq!(download_u32(&memory, c, 32), expected);
}

#[test]
fn copies_are_waited_for_by_groups_of_each_lane() {
    // Even lanes commit twice as many groups as odd ones: of theirs the first is over, of the others none.
    let text = kernel(
        "mov.u32 %at, cells; shl.b32 %x, %tid, 2; add.u32 %at, %at, %x; mul.wide.u32 %rt, %tid, 4; add.u64 %rt, %rt, %ra;\n\
         and.b32 %y, %tid, 1; setp.eq.u32 %p, %y, 0;\n\
         cp.async.ca.shared.global [%at], [%rt], 4; cp.async.commit_group; @%p cp.async.commit_group;\n\
         cp.async.wait_group 1; mov.u32 %out, 0; @%p ld.shared.b32 %out, [%at];",
    );
    let run_of = |text: &str| {
        let mut memory = memory();
        let a = upload_u32(&mut memory, "a", &(0..32).collect::<Vec<_>>());
        let c = memory.alloc("c", 128).expect("fits");
        let outcome = run(&load(text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(c));
        (kinds(&outcome), download_u32(&memory, c, 32))
    };
    let expected: Vec<u32> = (0..32).map(|lane| if lane % 2 == 0 { lane } else { 0 }).collect();
    assert_eq!(run_of(&text), (vec![], expected));
    let (faults, _) = run_of(&text.replace("@%p ld.shared", "ld.shared"));
    assert_eq!(faults, [FaultKind::MissingAsyncWait]);
}

/// Compilers end kernels with a label, or with an `exit` behind a loop that never ends: the way out is the one before.
#[test]
fn lanes_that_part_meet_again_whatever_stands_behind_the_last_way_out() {
    let body = "setp.lt.u32 %p, %tid, 5; @%p bra $two; add.u32 %x, %tid, 1; bra $met; $two: mov.u32 %x, 9; $met: activemask.b32 %out;";
    let text = kernel(body);
    let endings =
        ["ret;\n}", "ret; $end:\n}", "ret; exit;\n}", "ret; $last: bra $last; exit;\n}", "exit; ret; $end:\n}"];
    for ending in endings {
        let text = text.replace("ret;\n}", ending);
        let mut memory = memory();
        let c = memory.alloc("c", 128).expect("fits");
        run_clean(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(0).arg_u64(c));
        assert_eq!(download_u32(&memory, c, 32), [u32::MAX; 32], "{ending}");
    }
}

/// An early way out stands last in the text: the end is the `ret`.
#[test]
fn lanes_wait_for_no_others_at_an_early_way_out() {
    let text = kernel(
        "mov.u32 %x, 0; setp.ge.u32 %p, %tid, 5; @%p bra $main;\n\
         $loop: setp.eq.u32 %q, %x, 77; @%q bra $early; add.u32 %x, %x, 1; setp.lt.u32 %p, %x, %tid; @%p bra $loop;\n\
         $main: bar.sync 0; activemask.b32 %y; add.u32 %out, %x, %y; add.u32 %out, %out, 1;",
    );
    let text = text.replace("ret;\n}", "ret;\n$early: exit;\n}");
    let mut memory = memory();
    let c = memory.alloc("c", 128).expect("fits");
    run_clean(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(0).arg_u64(c));
    let expected: Vec<u32> = (0..32).map(|lane: u32| if lane < 5 { lane.max(1) } else { 0 }).collect();
    assert_eq!(download_u32(&memory, c, 32), expected);
}

/// Where a shuffle takes from says nothing of the value.
#[test]
fn lanes_meet_in_a_part_that_has_an_end_of_its_own() {
    // Half of the warp; odd lanes do something more in the first part, and all of its lanes go on together.
    let text = kernel(
        "setp.ge.u32 %p, %tid, 16; @%p bra OTHERS; and.b32 %x, %tid, 1; setp.eq.u32 %q, %x, 0;\n\
         @%q bra ON; add.u32 %y, %tid, 1; ON: activemask.b32 %out;\n\
         mul.wide.u32 %rt, %tid, 4; add.u64 %rt, %rt, %rc; st.global.b32 [%rt], %out; ret; OTHERS: activemask.b32 %out;",
    );
    let mut memory = memory();
    let c = memory.alloc("c", 128).expect("fits");
    run_clean(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(0).arg_u64(c));
    let expected: Vec<u32> = (0..32).map(|lane| if lane < 16 { 0xffff } else { 0xffff_0000 }).collect();
    assert_eq!(download_u32(&memory, c, 32), expected);
}

#[test]
fn lanes_that_meet_only_to_end_hold_up_no_barrier() {
    let skips = "setp.ge.u32 %p, %tid, 8; mov.u32 %out, 1; @%p bra ON; bar.sync 0; mov.u32 %out, 7;";
    let launch = |text: &str| {
        let mut memory = memory();
        let c = memory.alloc("c", 44).expect("fits");
        let launch = Launch::new("k", [1, 1, 1], [11, 1, 1]).arg_u64(0).arg_u64(c);
        let outcome = run(&load(text), &mut memory, &launch);
        let told = outcome.faults[0].message.clone();
        (kinds(&outcome), told, download_u32(&memory, c, 8))
    };
    let (found, told, out) = launch(&kernel(skips).replace("ret;", "ON: ret;"));
    assert_eq!(found, [FaultKind::BarrierDivergence], "{told}");
    assert!(told.starts_with("only 8 of the 11 threads of block (0,0,0) reach barrier 0"), "{told}");
    assert_eq!(out, [7; 8]);
    // Where they have more to do, they wait for the rest of their warp, and nothing can go on.
    let (found, told, _) = launch(&kernel(&format!("{skips} ON:")));
    assert_eq!(found, [FaultKind::BarrierDivergence, FaultKind::Deadlock], "{told}");
    assert!(told.contains("8 of the 11 threads of block (0,0,0) wait at the barrier"), "{told}");
    assert!(told.contains("of the others 3 are at PTX line 10, where they wait for the rest of their warp"), "{told}");
}

#[test]
fn votes_wait_for_no_lanes_that_have_ended() {
    // What is left of the warp comes to the vote as two groups, or as one, and the others end somewhere else.
    let vote = "vote.sync.ballot.b32 %out, %p, -1; mul.wide.u32 %rt, %tid, 4; add.u64 %rt, %rt, %rc; st.global.b32 [%rt], %out; ret;";
    let parted = "setp.ge.u32 %p, %tid, 12; and.b32 %x, %tid, 1; setp.eq.u32 %q, %x, 1;\n";
    for (text, left) in [
        (format!("{parted}@!%p bra VOTE; @%q bra OTHERS; VOTE: {vote} OTHERS: mov.u32 %out, 5;"), 0x5555_5fff),
        (
            format!("{parted}@!%p bra VOTE; @%q bra OTHERS; VOTE: bar.warp.sync -1; {vote} OTHERS: mov.u32 %out, 5;"),
            0x5555_5fff,
        ),
        (format!("{parted}@%q bra OTHERS; {vote} OTHERS: mov.u32 %out, 5;"), 0x5555_5555),
    ] {
        let mut memory = memory();
        let c = memory.alloc("c", 128).expect("fits");
        run_clean(&load(&kernel(&text)), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(0).arg_u64(c));
        let ballot: u32 = left & 0xffff_f000;
        let expected: Vec<u32> = (0..32).map(|lane| if left >> lane & 1 != 0 { ballot } else { 5 }).collect();
        assert_eq!(download_u32(&memory, c, 32), expected, "{text}");
    }
}

#[test]
fn the_predicate_of_a_shuffle_does_not_depend_on_its_value() {
    let text = kernel(
        "setp.lt.u32 %p, %tid, 16; @%p mov.u32 %x, 7; shfl.sync.up.b32 %y|%q, %x, 1, 0, -1;\n\
         @%q add.s32 %y, %y, %x; mov.u32 %out, 0; @%p mov.u32 %out, %y;",
    );
    let mut memory = memory();
    let c = memory.alloc("c", 128).expect("fits");
    run_clean(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(0).arg_u64(c));
    let expected: Vec<u32> = (0..32).map(|lane| [7, 14, 0][usize::from(lane > 0) + usize::from(lane > 15)]).collect();
    assert_eq!(download_u32(&memory, c, 32), expected);
    // Lanes behind take what was never set, and use it.
    let text = text.replace("mov.u32 %out, 0; @%p mov.u32 %out, %y;", "add.u32 %out, %y, 1;");
    let outcome = run(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(0).arg_u64(c));
    assert_eq!(kinds(&outcome), [FaultKind::Uninitialised], "{:#?}", outcome.faults);
}

/// A barrier orders what was before it, for each group of a warp's lanes, and nothing of what they do behind it.
#[test]
fn groups_of_a_warp_that_pass_a_barrier_apart_race_behind_it() {
    let parted = |one: &str, other: &str| {
        kernel(&format!(
            "mov.u32 %x, cells; setp.lt.u32 %p, %tid, 2; setp.eq.u32 %q, %tid, 5; mov.u32 %out, 0;\n\
             @%p bra $two; barrier.sync 0; {one} bra $met;\n\
             $two: barrier.sync 0; {other} $met:"
        ))
    };
    let only = "setp.eq.u32 %q, %tid, 1;";
    // What one lane stores before the barrier, others may read behind it.
    let before = "@%q st.shared.u32 [%x], %tid; barrier.sync 0;";
    for (text, faults) in [
        (
            parted("@%q st.shared.u32 [%x], %tid;", &format!("{only} @%q st.shared.u32 [%x], %tid;")),
            vec![FaultKind::Race],
        ),
        (parted("@%q st.shared.u32 [%x], %tid;", "ld.shared.u32 %y, [%x];"), vec![FaultKind::Race]),
        (parted("@%q st.shared.u32 [%x], %tid;", ""), vec![]),
        (parted("@%q st.shared.u32 [%x], %tid;", &format!("{only} @%q st.shared.u32 [%x + 4], %tid;")), vec![]),
        (parted(&format!("{before} ld.shared.u32 %y, [%x];"), "barrier.sync 0; ld.shared.u32 %y, [%x];"), vec![]),
    ] {
        for threads in [32, 64] {
            let mut memory = memory();
            let c = memory.alloc("c", 256).expect("fits");
            let launch = Launch::new("k", [1, 1, 1], [threads, 1, 1]).arg_u64(0).arg_u64(c);
            let outcome = run(&load(&text), &mut memory, &launch);
            assert_eq!(kinds(&outcome), faults, "{threads}: {text}\n{:#?}", outcome.faults);
        }
    }
}

/// Lanes that come to a product of a warpgroup as two groups, for they may meet behind it only, wait there together.
#[test]
fn a_parted_warp_waits_for_its_warpgroup_as_one() {
    for barriers in 0..4 {
        let text = format!(
            ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 c)\n.reqntid 128\n{{\n\
             .reg .pred %p, %q; .reg .b32 %tid, %at, %i, %j, %r; .reg .b64 %rc, %a; .reg .f32 %f<4>;\n\
             .shared .align 1024 .b8 zero[32768];\n\
             ld.param.u64 %rc, [c]; mov.u32 %tid, %tid.x; mov.u32 %at, zero; mad.lo.u32 %i, %tid, 16, %at; mov.u32 %r, 0;\n\
             $fill: st.shared.v4.b32 [%i], {{%r, %r, %r, %r}}; add.u32 %i, %i, 2048; sub.u32 %j, %i, %at;\n\
             setp.lt.u32 %p, %j, 32768; @%p bra $fill;\n\
             fence.proxy.async.shared::cta; bar.sync 0; {}\n\
             bfe.u32 %r, %at, 4, 14; cvt.u64.u32 %a, %r; or.b64 %a, %a, 4611686293305294848;\n\
             mov.f32 %f0, 0f3F800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n\
             setp.eq.u32 %p, %tid, 0; setp.gt.u32 %q, %tid, 500; @%p bra $one; @%q bra $end; bra $both; $one: bra $both;\n\
             $both: wgmma.fence.sync.aligned; setp.ne.b32 %p, %r, -1;\n\
             wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, %a, %a, %p, 1, 1, 0, 1;\n\
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n\
             mad.wide.u32 %rc, %tid, 4, %rc; st.global.f32 [%rc], %f3;\n$end: ret;\n}}\n",
            "bar.sync 0; ".repeat(barriers)
        );
        let mut memory = memory();
        let c = memory.alloc("c", 512).expect("fits");
        run_clean(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [128, 1, 1]).arg_u64(c));
        assert_eq!(download_f32(&memory, c, 128), [1.0; 128], "{barriers}");
    }
}

/// Lanes that went ahead of one that waits for another warp are one group with it again where all of them meet: on a GPU lanes
/// wait for each other behind the next branch, and libraries count on it.
#[test]
fn lanes_that_meet_again_wait_for_each_other_behind_branches() {
    // One lane of a warp waits for a word of the other one. Only it stores then what all of its warp read.
    let text = |waiter: u32, meet: &str| {
        let (setter, first, last) = (32 - waiter, waiter, waiter + 31);
        kernel(&format!(
            "setp.gt.u32 %p, %tid, 1; shl.b32 %at, %tid, 2; mov.u32 %x, cells; add.u32 %x, %x, %at; mov.u32 %out, 0;\n\
             @!%p st.shared.u32 [%x], %out; bar.sync 0;\n\
             mov.u32 %x, cells; setp.ne.u32 %p, %tid, {waiter}; @%p bra $set;\n\
             $spin: ld.acquire.cta.shared.u32 %y, [%x]; setp.eq.u32 %q, %y, 0; @%q bra $spin; bra $met;\n\
             $set: setp.ne.u32 %q, %tid, {setter}; @%q bra $met; st.release.cta.shared.u32 [%x], 1;\n\
             $met: {meet}\n\
             setp.lt.u32 %q, %tid, {first}; @%q bra $end; setp.gt.u32 %q, %tid, {last}; @%q bra $end;\n\
             @%p bra $read; st.volatile.shared.u32 [%x + 4], 77;\n\
             $read: ld.volatile.shared.u32 %out, [%x + 4];\n$end:"
        ))
    };
    for meet in
        ["bar.warp.sync -1;", "vote.sync.any.pred %q, %p, -1;", "shfl.sync.idx.b32 %y, %tid, 0, 31, -1;", "bar.sync 0;"]
    {
        for (times, waiter, workers) in (1..4).flat_map(|n| [(n, 0, 1), (n, 32, 1), (n, 0, 2), (n, 32, 2)]) {
            let mut memory = memory();
            let c = memory.alloc("c", 256).expect("fits");
            let launch = Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(0).arg_u64(c);
            let options = Options { workers, checks: Checks::NONE, ..Options::default() };
            let outcome = run_with(&load(&text(waiter, &meet.repeat(times))), &mut memory, &launch, &options);
            assert!(outcome.completed && outcome.faults.is_empty(), "{meet}: {:#?}", outcome.faults);
            let read = download_u32(&memory, c + 4 * u64::from(waiter), 32);
            assert_eq!(read, [77; 32], "{meet} {times} times, thread {waiter} waits");
        }
    }
}

#[test]
fn one_thread_makes_an_mbarrier_and_parities_are_bits() {
    let every = "mbarrier.init.shared.b64 [%at], 64; bar.sync 0;";
    let one_of_each_warp =
        "and.b32 %y, %tid, 31; setp.eq.u32 %p, %y, 0; @%p mbarrier.init.shared.b64 [%at], 64; bar.sync 0;";
    let first = "setp.eq.u32 %p, %tid, 0; @%p mbarrier.init.shared.b64 [%at], 64; bar.sync 0;";
    let anew = "setp.eq.u32 %p, %tid, 0; @%p mbarrier.init.shared.b64 [%at], 64; bar.sync 0;\n\
                setp.eq.u32 %p, %tid, 32; @%p mbarrier.init.shared.b64 [%at], 64; bar.sync 0;";
    let told = |make: &str, parity: u32| {
        let text = kernel(&format!(
            "{make} mbarrier.arrive.shared.b64 %token, [%at];\n\
             L: mbarrier.test_wait.parity.shared.b64 %q, [%at], {parity}; @!%q bra L; mov.u32 %out, %tid;"
        ));
        let mut memory = memory();
        let c = memory.alloc("c", 256).expect("fits");
        let outcome = run(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(0).arg_u64(c));
        outcome.faults.iter().map(|fault| fault.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(told(first, 0), Vec::<String>::new());
    assert_eq!(told(anew, 0), Vec::<String>::new());
    for make in [every, one_of_each_warp] {
        let told = told(make, 0);
        assert!(told.iter().any(|words| words.contains("initialises too")), "{told:?}");
    }
    let told = told(first, 2);
    assert!(told.len() == 1 && told[0].contains("parity 2") && told[0].contains("0 or 1"), "{told:?}");
}
