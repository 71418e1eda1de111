//! Copies by `cp.async` that lie as the last ones did go a short way, which traced accesses do not: results, counters and
//! faults are the same both ways.

mod common;

use common::{Dice, download_u32, goes_both_ways, kinds, load, many, memory, run_with, upload_u32};
use ptx_emulator::{FaultKind, Launch, Options, Outcome};

const THREADS: u32 = 64;
const WORDS: usize = 16_384;
/// Bytes of one stage of the pipeline.
const STAGE: usize = 2048;

struct Case {
    text: String,
    /// Words of the source that have values.
    written: usize,
}

/// `%j`: a place of the thread, in units of what it copies.
fn place(dice: &mut Dice) -> String {
    match dice.below(7) {
        0 | 1 => "mov.u32 %j, %tid;".to_owned(),
        // Halves and quarters of a warp.
        2 => "and.b32 %j, %tid, 15; shr.u32 %k, %tid, 4; mad.lo.u32 %j, %k, 24, %j;".to_owned(),
        3 => "and.b32 %j, %tid, 7; shr.u32 %k, %tid, 3; mad.lo.u32 %j, %k, 12, %j;".to_owned(),
        4 => "mul.lo.u32 %j, %tid, 2;".to_owned(),
        // As tiles are swizzled.
        5 => "shr.u32 %k, %tid, 3; and.b32 %k, %k, 7; xor.b32 %j, %tid, %k;".to_owned(),
        _ => format!("xor.b32 %j, %tid, {};", dice.below(64)),
    }
}

/// A loop that fills one or two stages and reads from them what other threads copied.
fn case(dice: &mut Dice) -> Case {
    let bytes = [4, 4, 8, 16][dice.below(4)];
    let rounds = 2 + dice.below(5);
    let stages = 1 + dice.below(2);
    let (to, from) = (place(dice), place(dice));
    let swap = if dice.below(3) == 0 { "add.u32 %j, %j, %round;" } else { "" };
    let guard = match dice.below(6) {
        0 => format!("setp.lt.u32 %q, %tid, {};", dice.below(64)),
        1 => "and.b32 %k, %tid, 5; setp.ne.u32 %q, %k, 0;".to_owned(),
        2 => "setp.ne.u32 %q, %round, 1;".to_owned(),
        _ => "setp.ge.u32 %q, %tid, 0;".to_owned(),
    };
    let size = match dice.below(5) {
        0 => format!("mov.u32 %k, {};", dice.below(bytes + 1)),
        1 => format!("and.b32 %k, %tid, 1; mul.lo.u32 %k, %k, {bytes};"),
        _ => String::new(),
    };
    let third = if size.is_empty() { "" } else { ", %k" };
    let cache = if bytes == 16 && dice.below(2) == 0 { "cg" } else { "ca" };
    let fill = match dice.below(4) {
        0 => String::new(),
        _ => format!(
            "mov.u32 %j, %tid; $fill: mov.u32 %i, tile; mad.lo.u32 %i, %j, 4, %i; st.shared.u32 [%i], %j;\n\
             add.u32 %j, %j, {THREADS}; setp.lt.u32 %p, %j, {}; @%p bra $fill; bar.sync 0;\n",
            2 * STAGE / 4
        ),
    };
    let commit = if dice.below(8) == 0 { "" } else { "cp.async.commit_group;" };
    let wait = match dice.below(10) {
        0 => "",
        1 => "cp.async.wait_all;",
        2 | 3 => "cp.async.wait_group 1;",
        _ => "cp.async.wait_group 0;",
    };
    let [before, after] = [(); 2].map(|()| if dice.below(8) == 0 { "" } else { "bar.sync 0;" });
    let (partner, limit) = ([0, 1, 5, 32][dice.below(4)], if dice.below(4) == 0 { 8 * STAGE } else { 2 * STAGE });
    let lag = if stages == 2 { dice.below(2) } else { 0 };
    let array = if dice.below(4) == 0 { "%rc" } else { "%ra" };
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 c)\n{{\n\
         .reg .pred %p, %q; .reg .b32 %i, %j, %k, %tid, %round, %stage, %to, %sum; .reg .b64 %ra, %rc, %rj, %rt;\n\
         .shared .align 256 .b8 tile[{limit}];\n\
         ld.param.u64 %ra, [a]; ld.param.u64 %rc, [c]; mov.u32 %tid, %tid.x; mov.u32 %round, 0; mov.u32 %sum, 0;\n\
         add.u64 %rc, %rc, 32768;\n\
         {fill}$round: rem.u32 %stage, %round, {stages}; mul.lo.u32 %stage, %stage, {STAGE};\n\
         {to} {swap} mad.lo.u32 %to, %j, {bytes}, %stage; mov.u32 %i, tile; add.u32 %to, %to, %i;\n\
         {from} mad.lo.u32 %j, %j, {bytes}, 0; mad.lo.u32 %j, %round, 512, %j; cvt.u64.u32 %rj, %j; add.u64 %rt, {array}, %rj;\n\
         {guard} {size}\n\
         @%q cp.async.{cache}.shared.global [%to], [%rt], {bytes}{third};\n\
         {commit} {wait} {before}\n\
         add.u32 %k, %round, {lag}; rem.u32 %k, %k, {stages}; mul.lo.u32 %k, %k, {STAGE};\n\
         xor.b32 %j, %tid, {partner}; shl.b32 %j, %j, 2; add.u32 %j, %j, %k; mov.u32 %i, tile; add.u32 %j, %j, %i;\n\
         ld.shared.u32 %k, [%j]; add.u32 %sum, %sum, %k; {after}\n\
         add.u32 %round, %round, 1; setp.lt.u32 %p, %round, {rounds}; @%p bra $round;\n\
         mul.wide.u32 %rj, %tid, 4; ld.param.u64 %rc, [c]; add.u64 %rt, %rc, %rj; st.global.u32 [%rt], %sum; ret;\n}}\n"
    );
    Case { text, written: if dice.below(8) == 0 { 1 + dice.below(1024) } else { WORDS } }
}

fn outcome(case: &Case, options: &Options) -> (Outcome, Vec<u32>) {
    let module = load(&case.text);
    let mut memory = memory();
    let [a, c] = ["a", "c"].map(|name| memory.alloc(name, 4 * WORDS as u64).expect("fits"));
    let words: Vec<u8> = (0..case.written as u32).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
    memory.write(a, &words).expect("inside");
    memory.write(c + 32_768, &words[..words.len().min(32_768)]).expect("inside");
    let launch = Launch::new("k", [2, 1, 1], [THREADS, 1, 1]).arg_u64(a).arg_u64(c);
    let outcome = run_with(&module, &mut memory, &launch, options);
    let c = download_u32(&memory, c, WORDS);
    (outcome, c)
}

#[test]
fn copies_that_lie_as_before_do_what_all_others_do() {
    many("PIPELINES_PROGRAMS", 1000, 0x2545_f491_4f6c_dd1d, |program, dice| {
        let case = case(dice);
        goes_both_ways(|options| outcome(&case, &options), &format!("program {program}:\n{}", case.text))
    });
}

/// What fills the same places over and over is not remembered for each time.
#[test]
fn a_loop_that_never_waits_takes_no_longer_each_time() {
    for (wait, faults) in [("", vec![FaultKind::MissingAsyncWait]), ("cp.async.wait_all;", vec![])] {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 c)\n{{\n\
             .reg .pred %p; .reg .b32 %i, %j, %tid, %to; .reg .b64 %ra, %rc, %rj;\n.shared .align 16 .b8 tile[384];\n\
             ld.param.u64 %ra, [a]; ld.param.u64 %rc, [c]; mov.u32 %tid, %tid.x; mov.u32 %i, 0;\n\
             mul.wide.u32 %rj, %tid, 4; add.u64 %ra, %ra, %rj; add.u64 %rc, %rc, %rj;\n\
             $again: rem.u32 %j, %i, 3; shl.b32 %j, %j, 7; mad.lo.u32 %j, %tid, 4, %j; mov.u32 %to, tile; add.u32 %to, %to, %j;\n\
             cp.async.ca.shared.global [%to], [%ra], 4; cp.async.commit_group;\n\
             add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 100000; @%p bra $again;\n{wait}\n\
             ld.shared.u32 %j, [%to]; st.global.u32 [%rc], %j; ret;\n}}\n"
        );
        let module = load(&text);
        let mut memory = memory();
        let (a, c) = (upload_u32(&mut memory, "a", &[7; 32]), upload_u32(&mut memory, "c", &[0; 32]));
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(c);
        let limit = Some(std::time::Duration::from_secs(60));
        let outcome = run_with(&module, &mut memory, &launch, &Options { time_limit: limit, ..Options::default() });
        assert!(outcome.completed && kinds(&outcome) == faults, "{:?}", outcome.faults);
        assert_eq!(download_u32(&memory, c, 32), [7; 32]);
    }
}
