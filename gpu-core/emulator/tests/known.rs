//! What a read of shared memory has found to have values needs no second look, until something takes the values away.

mod common;

use common::{kinds, load, memory, run_with, upload_u32};
use ptx_emulator::{FaultKind, Launch, Options};

/// Lanes read a column of a tile with padding, again and again. In round `lost` a thread stores what it read where nobody has
/// written, to a word of the tile that the others read; in round `written` there is a value again.
const KERNEL: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 data, .param .u32 lost, .param .u32 written)
{
    .reg .pred %p<6>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<6>;
    .shared .align 16 .b8 tile[1088];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [data];
    ld.param.u32 %r1, [lost];
    ld.param.u32 %r2, [written];
    mov.u32 %r3, %tid.x;
    and.b32 %r4, %r3, 15;
    mov.u32 %r5, tile;
    mad.lo.u32 %r6, %r4, 68, %r5;
    st.shared.u32 [%r6], %r4;
    mov.u32 %r7, 0;
    mov.u32 %r8, 0;
    setp.eq.u32 %p1, %r3, 5;
$again:
    bar.sync 0;
    ld.shared.u32 %r9, [%r6];
    add.u32 %r8, %r8, %r9;
    bar.sync 0;
    setp.eq.u32 %p2, %r7, %r1;
    and.pred %p2, %p2, %p1;
    @%p2 ld.global.u32 %r10, [%rd2];
    @%p2 st.shared.u32 [%r6], %r10;
    setp.eq.u32 %p3, %r7, %r2;
    and.pred %p3, %p3, %p1;
    @%p3 st.shared.u32 [%r6], 7;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p4, %r7, 40;
    @%p4 bra $again;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r8;
    ret;
}";

#[test]
fn values_that_are_taken_away_again_are_missed() {
    let module = load(KERNEL);
    let options = Options { deterministic: true, workers: 1, ..Options::default() };
    for (lost, written, wrong) in
        [(99, 99, false), (30, 99, true), (30, 30, false), (30, 31, true), (3, 3, false), (3, 4, true), (0, 99, true)]
    {
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[0; 32]);
        let data = memory.alloc("data", 64).expect("fits");
        let launch = Launch::new("k", [3, 1, 1], [32, 1, 1]).arg_u64(out).arg_u64(data).arg_u32(lost).arg_u32(written);
        let outcome = run_with(&module, &mut memory, &launch, &options);
        let found = kinds(&outcome).contains(&FaultKind::Uninitialised);
        assert_eq!(found, wrong, "{lost} {written}: {:#?}", outcome.faults);
    }
}

/// Each lane reads a word of its own, 17 words from its neighbour's, again and again. Block `empty` writes none of them. From
/// round `moved` on the words lie a tile further, of which the first half of the lanes have written theirs, and `all` of
/// them if asked for; until round `whole` only that half reads there. What is read before round `used` is not used.
const TURNS: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 empty, .param .u32 moved, .param .u32 all, .param .u32 whole, .param .u32 used)
{
    .reg .pred %p<9>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<6>;
    .shared .align 16 .b8 tile[4352];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [empty];
    ld.param.u32 %r2, [moved];
    ld.param.u32 %r3, [whole];
    ld.param.u32 %r4, [used];
    ld.param.u32 %r5, [all];
    mov.u32 %r6, %tid.x;
    mov.u32 %r7, tile;
    mad.lo.u32 %r7, %r6, 68, %r7;
    mov.u32 %r8, %ctaid.x;
    setp.ne.u32 %p1, %r8, %r1;
    @%p1 st.shared.u32 [%r7], %r6;
    setp.lt.u32 %p2, %r6, 16;
    setp.ne.u32 %p3, %r5, 0;
    or.pred %p3, %p3, %p2;
    @%p3 st.shared.u32 [%r7+2176], %r6;
    mov.u32 %r9, 0;
    mov.u32 %r10, 0;
    mov.u32 %r11, 0;
$again:
    bar.sync 0;
    setp.eq.u32 %p4, %r9, %r2;
    @%p4 add.u32 %r7, %r7, 2176;
    setp.lt.u32 %p5, %r9, %r2;
    setp.ge.u32 %p6, %r9, %r3;
    or.pred %p5, %p5, %p6;
    or.pred %p5, %p5, %p2;
    @%p5 ld.shared.u32 %r11, [%r7];
    setp.ge.u32 %p7, %r9, %r4;
    @%p7 add.u32 %r10, %r10, %r11;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p8, %r9, 60;
    @%p8 bra $again;
    mad.lo.u32 %r6, %r8, 32, %r6;
    mul.wide.u32 %rd3, %r6, 4;
    add.s64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r10;
    ret;
}";

/// The first block of three that uses what has no value.
fn wrong_block(empty: u32, moved: u32, all: u32, whole: u32, used: u32) -> Option<u32> {
    let module = load(TURNS);
    let options = Options { deterministic: true, workers: 1, ..Options::default() };
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 96]);
    let launch = Launch::new("k", [3, 1, 1], [32, 1, 1]).arg_u64(out);
    let launch = [empty, moved, all, whole, used].into_iter().fold(launch, Launch::arg_u32);
    let outcome = run_with(&module, &mut memory, &launch, &options);
    assert!(kinds(&outcome).iter().all(|&kind| kind == FaultKind::Uninitialised), "{:#?}", outcome.faults);
    outcome.faults.first().map(|fault| fault.thread.expect("of a thread").block[0])
}

#[test]
fn what_one_block_has_written_the_next_one_has_not() {
    assert_eq!(wrong_block(99, 99, 1, 0, 0), None);
    for block in 0..3 {
        assert_eq!(wrong_block(block, 99, 1, 0, 0), Some(block));
    }
}

#[test]
fn words_with_values_say_nothing_of_words_elsewhere() {
    assert_eq!(wrong_block(99, 30, 1, 0, 0), None);
    assert_eq!(wrong_block(99, 30, 0, 0, 0), Some(0));
}

#[test]
fn words_read_without_values_have_none_the_next_time_either() {
    assert_eq!(wrong_block(1, 99, 1, 0, 70), None);
    assert_eq!(wrong_block(1, 99, 1, 0, 40), Some(1));
}

#[test]
fn words_of_some_lanes_say_nothing_of_those_of_all() {
    assert_eq!(wrong_block(99, 20, 1, 40, 0), None);
    assert_eq!(wrong_block(99, 20, 0, 99, 0), None);
    assert_eq!(wrong_block(99, 20, 0, 40, 0), Some(0));
}
