//! Who reads what others update atomically must come behind the updates of all of them, and not only behind the newest, which
//! mostly is its own.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Options, Outcome};

/// A kernel of several blocks that add to `total`, count in `done` and store to `out`. `%p1`: thread 0 of its block; `%p2`:
/// the last block by number; `%r1`: the thread's number; `take` sets `%p3` where a block took the last number.
fn kernel(body: &str) -> String {
    let take = "@%p1 atom.global.add.u32 %r5, [%rd2], 1;\nsetp.eq.and.u32 %p3, %r5, %r4, %p1;";
    let body = body.replace("take;", take);
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 total, .param .u64 done, .param .u64 out)\n{{\n\
         .reg .pred %p<6>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<6>;\n.shared .align 4 .b8 sum[4];\n\
         ld.param.u64 %rd1, [total];\nld.param.u64 %rd2, [done];\nld.param.u64 %rd3, [out];\n\
         mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %nctaid.x;\nsub.u32 %r4, %r3, 1;\nmov.u32 %r5, 0xffffffff;\n\
         mov.u32 %r9, 1;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r2, %r4;\n{body}\nret;\n}}\n"
    )
}

fn play(body: &str, grid: u32, block: u32, workers: usize) -> (Outcome, u32) {
    let mut memory = memory();
    let [total, done, out] = ["total", "done", "out"].map(|name| upload_u32(&mut memory, name, &[0]));
    let launch = Launch::new("k", [grid, 1, 1], [block, 1, 1]).arg_u64(total).arg_u64(done).arg_u64(out);
    let options = Options { workers, ..Options::default() };
    let outcome = run_with(&load(&kernel(body)), &mut memory, &launch, &options);
    (outcome, download_u32(&memory, out, 1)[0])
}

/// A race whose message holds each of `words`, on one worker and on two.
#[track_caller]
fn races(body: &str, grid: u32, block: u32, words: &[&str]) {
    for workers in [1, 2] {
        let (outcome, _) = play(body, grid, block, workers);
        // Either side may come second.
        let races = !outcome.faults.is_empty() && kinds(&outcome).iter().all(|kind| *kind == FaultKind::Race);
        assert!(races, "{workers} workers: {:#?}", outcome.faults);
        let told: Vec<&str> = outcome.faults.iter().map(|fault| fault.message.as_str()).collect();
        for word in words {
            assert!(told.iter().any(|told| told.contains(word)), "`{word}` is not in {told:?}");
        }
    }
}

#[track_caller]
fn clean(body: &str, grid: u32, block: u32, result: u32) {
    for workers in [1, 2] {
        let (outcome, out) = play(body, grid, block, workers);
        assert!(outcome.completed && outcome.faults.is_empty() && outcome.notes.is_empty(), "{outcome:#?}");
        assert_eq!(out, result);
    }
}

/// All threads of all blocks add; the block with the last number stores the total.
const ADD: &str = "red.global.add.u32 [%rd1], 1;\n";
const STORE: &str = "@%p3 ld.global.u32 %r6, [%rd1];\n@%p3 st.global.u32 [%rd3], %r6;";

#[test]
fn a_number_that_is_taken_without_a_fence_tells_of_nothing() {
    races(&format!("{ADD}take;\n{STORE}"), 6, 96, &["`total`[0]", "updated it atomically", "__threadfence()"]);
    let fenced = "membar.gl;\nbar.sync 0;\ntake;\nmembar.gl;\n";
    clean(&format!("{ADD}{fenced}{STORE}"), 6, 96, 6 * 96);
    // The fence may be one thread's behind the barrier of all.
    clean(&format!("{ADD}bar.sync 0;\nmembar.gl;\ntake;\nmembar.gl;\n{STORE}"), 6, 96, 6 * 96);
    // Of the block itself the warps that did not come to the barrier are missing.
    races(&format!("{ADD}membar.gl;\ntake;\nmembar.gl;\n{STORE}"), 6, 96, &["other warps of its own block"]);
    clean(&format!("{ADD}membar.gl;\ntake;\nmembar.gl;\n{STORE}"), 6, 32, 6 * 32);
}

#[test]
fn the_last_block_by_number_is_not_the_last_to_add() {
    let store = "and.pred %p3, %p1, %p2;\n";
    races(&format!("@%p1 {ADD}{store}{STORE}"), 6, 64, &["`total`[0]", "line"]);
    // A look ahead may find any value.
    let look = "@%p3 ld.global.u32 %r6, [%rd1];\n@%p3 setp.ge.u32 %p4, %r6, 0;\n@!%p3 bra $end;\n@%p4 st.global.u32 [%rd3], %r9;\n$end:";
    clean(&format!("@%p1 {ADD}{store}{look}"), 6, 64, 1);
}

#[test]
fn volatile_readers_of_an_unfinished_total_are_told() {
    let store = "@%p3 ld.volatile.global.u32 %r6, [%rd1];\nadd.u32 %r7, %r6, %r6;\n@%p3 st.global.u32 [%rd3], %r7;";
    races(
        &format!("{ADD}membar.gl;\ntake;\nmembar.gl;\n{store}"),
        6,
        96,
        &["no data race by the letter", "__syncthreads()"],
    );
    clean(&format!("{ADD}membar.gl;\nbar.sync 0;\ntake;\nmembar.gl;\n{store}"), 6, 96, 2 * 6 * 96);
}

#[test]
fn relaxed_readers_of_an_unfinished_total_are_noted() {
    let store = "@%p3 ld.relaxed.gpu.global.u32 %r6, [%rd1];\nadd.u32 %r7, %r6, %r6;\n@%p3 st.global.u32 [%rd3], %r7;";
    let (outcome, _) = play(&format!("{ADD}membar.gl;\ntake;\nmembar.gl;\n{store}"), 6, 96, 1);
    assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
    assert!(outcome.notes.iter().any(|note| note.contains("relaxed load")), "{:?}", outcome.notes);
    clean(&format!("{ADD}membar.gl;\nbar.sync 0;\ntake;\nmembar.gl;\n{store}"), 6, 96, 2 * 6 * 96);
}

#[test]
fn shared_counters_are_complete_behind_a_barrier_of_the_block_only() {
    let add = "@%p1 st.shared.u32 [sum], 0;\nbar.sync 0;\nred.shared.add.u32 [sum], 1;\n";
    // The last thread of the block, and of its warp, reads.
    let store = "setp.eq.u32 %p4, %r1, 127;\n@%p4 ld.shared.u32 %r6, [sum];\n@%p4 st.global.u32 [%rd3], %r6;";
    for between in ["bar.warp.sync -1;\n", "membar.cta;\n", ""] {
        races(&format!("{add}{between}{store}"), 1, 128, &["`sum`[0]"]);
    }
    clean(&format!("{add}bar.sync 0;\n{store}"), 1, 128, 128);
    // In one warp a barrier of the warp is enough; without it the other lanes may not have come.
    let store = "setp.eq.u32 %p4, %r1, 31;\n@%p4 ld.shared.u32 %r6, [sum];\n@%p4 st.global.u32 [%rd3], %r6;";
    clean(&format!("{add}bar.warp.sync -1;\n{store}"), 1, 32, 32);
    races(&format!("{add}{store}"), 1, 32, &["__syncwarp()"]);
}

#[test]
fn two_of_four_warps_that_meet_know_nothing_of_the_others() {
    // Warps 2 and 3 meet at a barrier of their own; all four have added.
    let body = "@%p1 st.shared.u32 [sum], 0;\nbar.sync 0;\nred.shared.add.u32 [sum], 1;\nsetp.lt.u32 %p4, %r1, 64;\n@%p4 bra $end;\n\
                bar.sync 1, 64;\nsetp.eq.u32 %p5, %r1, 64;\n@%p5 ld.shared.u32 %r6, [sum];\n@%p5 st.global.u32 [%rd3], %r6;\n$end:";
    races(body, 1, 128, &["`sum`[0]"]);
    let all = body.replace("@%p4 bra $end;", "").replace("bar.sync 1, 64;", "bar.sync 1, 128;");
    clean(&all, 1, 128, 128);
}

/// Who took the last number sets the counter back. Of two workers each may write its update into the shadow after the
/// other, in whatever order memory saw them.
#[test]
fn the_last_block_may_set_the_counter_back() {
    let body = format!(
        "{ADD}membar.gl;\nbar.sync 0;\ntake;\nmembar.gl;\n{STORE}\nmov.u32 %r7, 0;\n@%p3 st.global.u32 [%rd2], %r7;"
    );
    for _ in 0..40 {
        clean(&body, 160, 32, 160 * 32);
    }
    // Nobody may who did not take one.
    let other = "mov.u32 %r7, 0;\nsetp.eq.and.u32 %p4, %r1, 32, %p2;\n@%p4 st.global.u32 [%rd2], %r7;";
    races(&format!("take;\n{other}"), 6, 64, &["`done`[0]"]);
}
