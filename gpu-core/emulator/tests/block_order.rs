//! In which order blocks begin: by their numbers where a kernel could notice, as on a GPU; elsewhere each worker begins with
//! a part of its own.

mod common;

use common::{download_u32, kinds, load, memory, run_with, upload_u32};
use ptx_emulator::{FaultKind, Launch, Options};

/// A kernel of `body`, whose threads know their block and two arrays; `%tid` is the thread.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 c)\n{{\n\
         .reg .pred %p; .reg .b32 %tid, %block, %group, %x, %y; .reg .b64 %ra, %rc, %rt;\n\
         ld.param.u64 %ra, [a]; ld.param.u64 %rc, [c]; mov.u32 %tid, %tid.x; mov.u32 %block, %ctaid.x;\n\
         {body}\n\
         ret;\n}}\n"
    )
}

fn workers(workers: usize) -> Options {
    Options { workers, ..Options::default() }
}

/// One block fits on each of the 132 multiprocessors. Up to so many that follow each other wait for each other, ten
/// times: more than the places that one of several workers has.
#[test]
fn neighbours_that_wait_for_each_other_are_there_together() {
    let text = kernel(
        "div.u32 %group, %block, 120; mul.wide.u32 %rt, %group, 4; add.u64 %ra, %ra, %rt;\n\
         atom.release.gpu.global.add.u32 %x, [%ra], 1;\n\
         wait: ld.acquire.gpu.global.u32 %x, [%ra]; setp.lt.u32 %p, %x, 120; @%p bra wait;\n\
         mul.wide.u32 %rt, %block, 4; add.u64 %rt, %rt, %rc; st.global.b32 [%rt], %x;",
    );
    for (group, count) in [120, 131, 132].into_iter().flat_map(|group| [1, 2, 3, 5, 8, 16].map(|count| (group, count)))
    {
        let mut memory = memory();
        let a = upload_u32(&mut memory, "a", &[0; 10]);
        let c = memory.alloc("c", 40 * u64::from(group)).expect("fits");
        let mut launch = Launch::new("k", [10 * group, 1, 1], [1, 1, 1]).arg_u64(a).arg_u64(c);
        launch.dynamic_shared_bytes = 150 << 10;
        let outcome = run_with(&load(&text.replace("120", &group.to_string())), &mut memory, &launch, &workers(count));
        assert!(outcome.completed && outcome.faults.is_empty(), "{count} workers: {:#?}", outcome.faults);
        assert_eq!(download_u32(&memory, c, 10 * group as usize), vec![group; 10 * group as usize], "{count} workers");
    }
}

/// All but the last block wait for the last one, which has no place before they end. Before they wait, those of the first half
/// take longer than all others together, so that a worker with nothing else to do would come to the last one.
#[test]
fn who_waits_for_a_block_without_a_place_waits_for_ever() {
    let text = kernel(
        "setp.eq.u32 %p, %block, 999; @%p bra give;\n\
         mov.u32 %y, 0; setp.ge.u32 %p, %block, 500; @%p bra wait;\n\
         work: add.u32 %y, %y, 1; setp.lt.u32 %p, %y, 2000; @%p bra work;\n\
         wait: ld.acquire.gpu.global.u32 %x, [%ra]; setp.eq.u32 %p, %x, 0; @%p bra wait; ret;\n\
         give: st.release.gpu.global.u32 [%ra], 1;",
    );
    for count in [1, 2, 3] {
        let mut memory = memory();
        let a = upload_u32(&mut memory, "a", &[0]);
        let mut launch = Launch::new("k", [1000, 1, 1], [1, 1, 1]).arg_u64(a).arg_u64(0);
        launch.dynamic_shared_bytes = 150 << 10;
        let outcome = run_with(&load(&text), &mut memory, &launch, &workers(count));
        assert_eq!(kinds(&outcome), [FaultKind::Deadlock], "{count} workers: {:#?}", outcome.faults);
    }
}

/// Every block makes the same mistake; it is told of the first one, however many workers there are.
#[test]
fn a_mistake_of_all_blocks_is_told_of_the_lowest() {
    let text = kernel(
        "mad.lo.u32 %x, %block, 32, %tid; mul.wide.u32 %rt, %x, 4; add.u64 %ra, %rt, %ra; ld.global.b32 %y, [%ra];\n\
         setp.eq.u32 %p, %y, 7; selp.b32 %x, 1, 2, %p; add.u64 %rc, %rt, %rc; st.global.b32 [%rc], %x;",
    );
    for round in 0..100 {
        let mut memory = memory();
        let [a, c] = ["a", "c"].map(|name| memory.alloc(name, 4096).expect("fits"));
        let launch = Launch::new("k", [32, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(c);
        let outcome = run_with(&load(&text), &mut memory, &launch, &workers(1 + round % 4));
        assert_eq!(kinds(&outcome), [FaultKind::Uninitialised], "{:#?}", outcome.faults);
        assert_eq!(outcome.faults[0].thread.map(|thread| thread.block), Some([0; 3]));
        assert_eq!(outcome.faults[0].occurrences, 1024);
    }
}

/// However many workers take them and from whose part, every block runs once.
#[test]
fn every_block_runs_once() {
    let text = kernel("mul.wide.u32 %rt, %block, 4; add.u64 %rt, %rt, %rc; red.global.add.u32 [%rt], 1;");
    for blocks in [1, 2, 3, 7, 100, 1025] {
        for count in [1, 2, 3, 5, 16] {
            let mut memory = memory();
            let c = upload_u32(&mut memory, "c", &vec![0; blocks as usize]);
            let launch = Launch::new("k", [blocks, 1, 1], [1, 1, 1]).arg_u64(0).arg_u64(c);
            let outcome = run_with(&load(&text), &mut memory, &launch, &workers(count));
            assert!(outcome.completed && outcome.faults.is_empty(), "{:#?}", outcome.faults);
            assert_eq!(download_u32(&memory, c, blocks as usize), vec![1; blocks as usize], "{count} workers");
        }
    }
}
