//! What one lane does, or one warp, counts for itself alone: arrivals at mbarriers, fences for the asynchronous proxy, and the
//! registers that a warp takes from its block.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Outcome};

/// Warp 0 stores a word a lane and does `before` and `arrive`, at the mbarrier of `count` arrivals; warp 1 waits and does `then`, and
/// reads the word of lane `read` of warp 0 (a register).
fn handed_over(count: u32, arrive: &str, then: &str, read: &str) -> Outcome {
    let text = format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<20>; .reg .b64 %l<8>; .reg .pred %p<8>;\n.shared .align 16 .b8 s[128];\n\
         .shared .align 8 .b64 full;\n.shared .align 8 .b64 second;\n.shared .align 4 .b32 other;\n\
         ld.param.u64 %l1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %laneid;\nmov.u32 %r3, s;\nmov.u32 %r4, full;\n\
         mov.u32 %r5, second;\nshl.b32 %r6, %r2, 2;\nadd.u32 %r7, %r3, %r6;\nsetp.eq.u32 %p1, %r2, 0;\n\
         setp.lt.u32 %p2, %r2, 16;\nsetp.ge.u32 %p3, %r2, 15;\nsetp.ne.u32 %p4, %r1, 0;\nmov.u32 %r12, 0;\nmov.u32 %r13, 31;\n\
         @%p4 bra INITED;\nmbarrier.init.shared.b64 [%r4], {count};\nmbarrier.init.shared.b64 [%r5], 32;\nINITED: bar.sync 0;\n\
         setp.ge.u32 %p5, %r1, 32;\n@%p5 bra OTHERS;\nst.shared.u32 [%r7], %r2;\n{arrive}\nbra END;\n\
         OTHERS: mbarrier.try_wait.parity.shared.b64 %p6, [%r4], 0;\n@!%p6 bra OTHERS;\n{then}\n\
         shl.b32 %r8, {read}, 2;\nadd.u32 %r8, %r8, %r3;\nld.shared.u32 %r9, [%r8];\nmul.wide.u32 %l2, %r1, 4;\n\
         add.u64 %l2, %l2, %l1;\nst.global.u32 [%l2], %r9;\nEND: ret;\n}}\n"
    );
    let mut memory = memory();
    let out = memory.alloc("out", 4 * 64).expect("fits");
    run(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(out))
}

const ARRIVE: &str = "mbarrier.arrive.shared.b64 _, [%r4];";
const ALONE: &str = "@%p1 mbarrier.arrive.shared.b64 _, [%r4];";

#[test]
fn an_arrival_of_one_lane_speaks_for_that_lane() {
    let outcome = handed_over(1, ALONE, "", "%r2");
    assert_eq!(kinds(&outcome), [FaultKind::Race], "{:#?}", outcome.faults);
    let message = &outcome.faults[0].message;
    assert!(message.contains("thread (0,0,0), another lane of that warp, arrives at an mbarrier"), "{message}");
    assert!(message.contains("put __syncwarp() before that arrival"), "{message}");
    for (what, count, arrive, then, read) in [
        ("its own word", 1, ALONE.to_owned(), "", "%r12"),
        ("the lanes meet first", 1, format!("bar.warp.sync -1;\n{ALONE}"), "", "%r2"),
        ("all arrive", 32, ARRIVE.to_owned(), "", "%r2"),
        (
            "they arrive one by one",
            32,
            format!(
                "mov.u32 %r10, 0;\nEACH: setp.ne.u32 %p7, %r10, %r2;\n@%p7 bra NEXT;\n{ARRIVE}\nNEXT: add.u32 %r10, %r10, 1;\n\
                     setp.lt.u32 %p7, %r10, 32;\n@%p7 bra EACH;"
            ),
            "",
            "%r2",
        ),
        ("the last of two arrivals is by all", 33, format!("{ALONE}\n{ARRIVE}"), "", "%r2"),
        ("the block meets", 1, format!("{ALONE}\nbar.sync 0;"), "bar.sync 0;", "%r2"),
    ] {
        let outcome = handed_over(count, &arrive, then, read);
        assert!(outcome.faults.is_empty(), "{what}: {:#?}", outcome.faults);
    }
}

#[test]
fn lanes_that_met_the_one_that_arrives_are_spoken_for() {
    let low = "@%p2 bar.warp.sync 0xffff;";
    let high = "@%p3 bar.warp.sync 0xffff8000;";
    for (meetings, read, races) in [
        (low.to_owned(), "%r12", false),
        (low.to_owned(), "%r2", true),
        // Lanes 16 to 31 meet lane 15, which meets lane 0 afterwards, or has met it before.
        (format!("{high}\n{low}"), "%r2", false),
        (format!("{high}\n{low}"), "%r13", false),
        (format!("{low}\n{high}"), "%r13", true),
    ] {
        let outcome = handed_over(1, &format!("{meetings}\n{ALONE}"), "", read);
        let expected: &[FaultKind] = if races { &[FaultKind::Race] } else { &[] };
        assert_eq!(kinds(&outcome), expected, "{meetings} {read}: {:#?}", outcome.faults);
    }
}

#[test]
fn who_passes_an_arrival_on_passes_no_more_on() {
    // Warp 1 arrives at a second mbarrier, and waits for it.
    let on = "mbarrier.arrive.shared.b64 _, [%r5];\nAGAIN: mbarrier.try_wait.parity.shared.b64 %p6, [%r5], 0;\n@!%p6 bra AGAIN;";
    let outcome = handed_over(1, ALONE, on, "%r13");
    assert_eq!(kinds(&outcome), [FaultKind::Race], "{:#?}", outcome.faults);
    let outcome = handed_over(1, &format!("bar.warp.sync -1;\n{ALONE}"), on, "%r13");
    assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
}

/// Warp 1 reads what warp 0 stored, and frees it with an arrival; warp 0 waits for that and stores again.
#[test]
fn one_lane_frees_what_it_has_read_itself() {
    let stores_again = format!(
        "{ARRIVE}\nFREE: mbarrier.try_wait.parity.shared.b64 %p7, [%r5], 0;\n@!%p7 bra FREE;\nst.shared.u32 [%r7], %r12;"
    );
    let frees = |free: &str| format!("ld.shared.u32 %r9, [%r7];\n{free}\nmov.u32 %r9, 0;\nbra END;");
    // The second mbarrier takes 32 arrivals: one lane makes them all.
    let one = "@%p1 mbarrier.arrive.shared.b64 _, [%r5], 32;";
    let outcome = handed_over(32, &stores_again, &frees(one), "%r2");
    assert_eq!(kinds(&outcome), [FaultKind::Race], "{:#?}", outcome.faults);
    assert!(outcome.faults[0].message.contains("put __syncwarp()"), "{}", outcome.faults[0].message);
    for free in [format!("bar.warp.sync -1;\n{one}"), "mbarrier.arrive.shared.b64 _, [%r5];".to_owned()] {
        let outcome = handed_over(32, &stores_again, &frees(&free), "%r2");
        assert!(outcome.faults.is_empty(), "{free}: {:#?}", outcome.faults);
    }
}

/// Threads store 16 bytes each and do `between`; then thread 0 stores all of it with a bulk copy.
fn copied_out(threads: u32, between: &str) -> Outcome {
    let bytes = threads * 16;
    let text = format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<8>; .reg .b64 %l<4>; .reg .pred %p<4>;\n.shared .align 16 .b8 s[{bytes}];\n\
         ld.param.u64 %l1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\nshl.b32 %r3, %r1, 4;\nadd.u32 %r3, %r3, %r2;\n\
         mov.u32 %r4, %laneid;\nsetp.eq.u32 %p1, %r4, 0;\nsetp.ne.u32 %p2, %r1, 0;\n\
         st.shared.v4.b32 [%r3], {{%r1, %r1, %r1, %r1}};\n{between}\n@%p2 bra END;\n\
         cp.async.bulk.global.shared::cta.bulk_group [%l1], [%r2], {bytes};\ncp.async.bulk.commit_group;\n\
         cp.async.bulk.wait_group 0;\nEND: ret;\n}}\n"
    );
    let mut memory = memory();
    let out = memory.alloc("out", bytes.into()).expect("fits");
    run(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [threads, 1, 1]).arg_u64(out))
}

#[test]
fn a_fence_of_one_lane_covers_what_it_stored() {
    let all = "fence.proxy.async.shared::cta;";
    let one = "@%p1 fence.proxy.async.shared::cta;";
    for (threads, between, missing) in [
        (64, format!("{one}\nbar.sync 0;"), true),
        (32, format!("{one}\nbar.sync 0;"), true),
        (32, format!("{one}\nbar.warp.sync -1;"), true),
        (64, format!("{all}\nbar.sync 0;"), false),
        (64, format!("bar.sync 0;\n{all}\nbar.sync 0;"), false),
        (64, format!("bar.warp.sync -1;\n{one}\nbar.sync 0;"), false),
        // The one that starts the copy fences behind the barrier.
        (64, format!("bar.sync 0;\n{one}"), false),
        (1, one.to_owned(), false),
    ] {
        let outcome = copied_out(threads, &between);
        let expected: &[FaultKind] = if missing { &[FaultKind::MissingAsyncWait] } else { &[] };
        assert_eq!(kinds(&outcome), expected, "{threads} {between}: {:#?}", outcome.faults);
    }
}

#[test]
fn a_copy_engine_is_shown_an_mbarrier_before_it_signals_it() {
    let copy = |file: &str, shows: &str, meet: &str| {
        let text = format!(
            ".version 8.8\n.target sm_90a\n.address_size 64\n.file 1 \"{file}\"\n.visible .entry k(.param .u64 p) {{\n.loc 1 5 1\n\
             .reg .b32 %r<4>; .reg .b64 %l<4>; .reg .pred %p<4>;\n.shared .align 16 .b8 s[128];\n.shared .align 8 .b64 full;\n\
             ld.param.u64 %l1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, s;\nmov.u32 %r3, full;\nsetp.ne.u32 %p1, %r1, 0;\n\
             @%p1 bra WAIT;\nmbarrier.init.shared.b64 [%r3], 1;\n{shows}\nWAIT: {meet}\n@%p1 bra DONE;\n\
             mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 128;\n\
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%l1], 128, [%r3];\n\
             DONE: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;\n@!%p2 bra DONE;\nret;\n}}\n"
        );
        let mut memory = memory();
        let source = upload_u32(&mut memory, "in", &[1; 32]);
        run(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(source))
    };
    let outcome = copy("k.cu", "", "bar.sync 0;");
    assert_eq!(kinds(&outcome), [FaultKind::BarrierPhase], "{:#?}", outcome.faults);
    let message = &outcome.faults[0].message;
    assert!(message.contains("put fence.mbarrier_init.release.cluster (or fence.proxy.async)"), "{message}");
    let meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;";
    for (shows, meet) in [
        ("fence.mbarrier_init.release.cluster;", "bar.sync 0;"),
        ("fence.proxy.async.shared::cta;", "bar.sync 0;"),
        ("fence.proxy.async;", "bar.sync 0;"),
        ("", meet),
    ] {
        let outcome = copy("k.cu", shows, meet);
        assert!(outcome.faults.is_empty(), "{shows} {meet}: {:#?}", outcome.faults);
    }
    // What others' compilers and libraries leave out.
    for file in ["kernel.py", "/cuda/__memcpy_async/cp_async_bulk_shared_global.h"] {
        assert!(copy(file, "", "bar.sync 0;").faults.is_empty(), "{file}");
    }
}

/// Of three warpgroups the first gives registers back and the others take some.
fn shared_out(head: &str, gives: &str, takes: u32) -> Outcome {
    let text = format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{head}\n{{\n\
         .reg .b32 %r<4>; .reg .pred %p<4>;\nmov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 128;\n@%p1 bra TAKES;\n{gives}\n\
         bra END;\nTAKES: setmaxnreg.inc.sync.aligned.u32 {takes};\nEND: ret;\n}}\n"
    );
    run(&load(&text), &mut memory(), &Launch::new("k", [1, 1, 1], [384, 1, 1]).arg_u64(0))
}

#[test]
fn warps_take_no_more_registers_than_their_block_has() {
    let gives = |count: u32| format!("setmaxnreg.dec.sync.aligned.u32 {count};");
    let whole = ".maxntid 384,1,1";
    // 65536 / 384 is 170, and registers come in eights: 168.
    for (head, gives, takes, fits) in [
        (whole, gives(40), 232, true),
        (whole, gives(24), 240, true),
        (whole, gives(32), 240, false),
        (whole, gives(24), 256, false),
        (whole, String::new(), 176, false),
        (whole, String::new(), 168, true),
        (".maxntid 384,1,1\n.minnctapersm 2", gives(24), 104, true),
        (".maxntid 384,1,1\n.minnctapersm 2", gives(24), 112, false),
        (".maxnreg 100", gives(24), 144, true),
        (".maxnreg 100", gives(24), 152, false),
        // ptxas leaves it out.
        ("", gives(24), 256, true),
    ] {
        let outcome = shared_out(head, &gives, takes);
        let expected: &[FaultKind] = if fits { &[] } else { &[FaultKind::Deadlock] };
        assert_eq!(kinds(&outcome), expected, "{head} {gives} {takes}: {:#?}", outcome.faults);
    }
    let message = shared_out(whole, &gives(24), 256).faults[0].message.clone();
    assert!(
        message.contains("the 12 warps of its block are launched with 168 a thread at most, 64512 together"),
        "{message}"
    );
    assert!(message.contains("ask for 68608; take 240 at most"), "{message}");
}

#[test]
fn lanes_that_copy_to_one_place_are_told_so() {
    let copies = |place: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
             .reg .b32 %r<4>; .reg .b64 %l<4>;\n.shared .align 16 .b8 s[512];\nld.param.u64 %l1, [p];\n\
             mov.u32 %r1, %tid.x;\nmul.wide.u32 %l2, %r1, 16;\nadd.u64 %l1, %l1, %l2;\nmov.u32 %r2, s;\n{place}\n\
             shl.b32 %r1, %r1, 4;\nadd.u32 %r2, %r2, %r1;\ncp.async.cg.shared.global [%r2], [%l1], 16;\n\
             cp.async.commit_group;\ncp.async.wait_group 0;\nret;\n}}\n"
        );
        let mut memory = memory();
        let source = upload_u32(&mut memory, "in", &(0..128).collect::<Vec<u32>>());
        run(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(source))
    };
    assert!(copies("").faults.is_empty());
    let outcome = copies("and.b32 %r1, %r1, 15;");
    assert_eq!(kinds(&outcome), [FaultKind::Race], "{:#?}", outcome.faults);
    let message = &outcome.faults[0].message;
    assert!(message.contains("both lanes copy to the same place in one step"), "{message}");
    assert!(!message.contains("__sync"), "{message}");
}
