//! Reads of shared memory are told to the race check later, or never where the block meets before anybody asks. What it finds
//! must be what it would have found at once, which a trace makes it do.

mod common;

use common::{load, memory, run_with, upload_u32};
use ptx_emulator::{Fast, FaultKind, Launch, Options, Outcome};

/// Round after round each thread fills its words of a tile, reads words of others in several ways, and meets the block before and
/// behind that. In rounds `early`, threads below `some` come to no second barrier but write at once; in rounds `skip` nobody
/// comes to the first one.
fn kernel(reads: &str) -> String {
    format!(
        "
.version 8.0
.target sm_80
.address_size 64
.visible .entry later(.param .u64 out, .param .u32 skip, .param .u32 early, .param .u32 some)
{{
    .reg .pred %p<6>;
    .reg .b32 %r<24>;
    .reg .b64 %rd<6>;
    .shared .align 16 .b8 tile[8192];
    .shared .align 16 .b8 other[2048];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [skip];
    ld.param.u32 %r2, [early];
    ld.param.u32 %r3, [some];
    mov.u32 %r4, %tid.x;
    mov.u32 %r5, tile;
    mov.u32 %r21, other;
    shl.b32 %r6, %r4, 3;
    add.s32 %r6, %r6, %r5;
    and.b32 %r7, %r4, 15;
    shr.u32 %r8, %r4, 4;
    mad.lo.u32 %r9, %r7, 68, %r5;
    mad.lo.u32 %r10, %r8, 68, %r5;
    xor.b32 %r11, %r4, 5;
    mad.lo.u32 %r11, %r11, 8, %r5;
    mad.lo.u32 %r12, %r4, 12, %r5;
    shl.b32 %r22, %r4, 3;
    add.s32 %r22, %r22, %r21;
    mov.u32 %r13, 0;
    mov.u32 %r14, 0;
$again:
    st.shared.v2.u32 [%r6], {{%r13, %r14}};
    setp.ne.s32 %p1, %r13, %r1;
    @%p1 bar.sync 0;
    {reads}
    setp.eq.s32 %p2, %r13, %r2;
    setp.lt.u32 %p3, %r4, %r3;
    and.pred %p4, %p2, %p3;
    @%p4 st.shared.u32 [%r6], 7;
    @!%p2 bar.sync 0;
    add.s32 %r13, %r13, 1;
    setp.lt.s32 %p5, %r13, 12;
    @%p5 bra $again;
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r14;
    ret;
}}"
    )
}

/// Ways to read, of which each adds to %r14.
const READS: &[&str] = &[
    // Two columns of one tile; a place for each half of the warp.
    "ld.shared.u32 %r15, [%r9]; ld.shared.u32 %r16, [%r10]; add.s32 %r14, %r15, %r16;",
    "ld.shared.u32 %r15, [%r9+4]; ld.shared.u32 %r16, [%r9+8]; ld.shared.u32 %r17, [%r9+4]; add.s32 %r14, %r15, %r17;",
    // Rows of pairs, the own one and one that lies crosswise.
    "ld.shared.v2.u32 {%r15, %r16}, [%r6]; ld.shared.v2.u32 {%r17, %r18}, [%r11]; add.s32 %r14, %r15, %r17;",
    // A column, a byte of it, and what makes the shadow finer.
    "ld.shared.u32 %r15, [%r12]; add.s32 %r14, %r14, %r15;",
    "ld.shared.u32 %r15, [%r12]; ld.shared.u8 %r16, [%r12+1]; add.s32 %r14, %r14, %r16;",
    // Some lanes of each.
    "setp.lt.u32 %p3, %r7, 9; @%p3 ld.shared.u32 %r15, [%r9]; @%p3 ld.shared.u32 %r16, [%r10]; mov.u32 %r14, 1;",
    // The own words are read and written in between; an array of its own is.
    "ld.shared.v2.u32 {%r15, %r16}, [%r6]; st.shared.v2.u32 [%r6], {%r16, %r15}; mov.u32 %r14, 2;",
    "ld.shared.u32 %r15, [%r9]; st.shared.v2.u32 [%r22], {%r15, %r15}; ld.shared.v2.u32 {%r16, %r17}, [%r22]; mov.u32 %r14, 3;",
    "ld.shared.u32 %r15, [%r9]; atom.shared.add.u32 %r16, [%r21], 1; ld.shared.u32 %r15, [%r12]; mov.u32 %r14, 4;",
    "ld.shared.u32 %r15, [%r9]; atom.shared.add.u32 %r16, [%r5], 1; mov.u32 %r14, 5;",
    "ld.shared.u32 %r15, [%r9]; bar.warp.sync -1; ld.shared.u32 %r15, [%r12]; mov.u32 %r14, 6;",
    "ld.shared.u32 %r15, [%r9]; bar.sync 1, 128; st.shared.u32 [%r6+4], %r15; mov.u32 %r14, 7;",
];

fn says(text: &str, threads: u32, numbers: [u32; 3], options: &Options) -> Outcome {
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 512]);
    let launch = Launch::new("later", [3, 1, 1], [threads, 1, 1]).arg_u64(out);
    let launch = numbers.into_iter().fold(launch, Launch::arg_u32);
    Outcome { trace: None, ..run_with(&load(text), &mut memory, &launch, options) }
}

#[test]
fn reads_that_are_told_later_race_as_those_that_are_told_at_once() {
    let short = Options { deterministic: true, workers: 1, ..Options::default() };
    let long = Options { fast: Fast::NONE, ..short.clone() };
    let (mut races, mut clean) = (0, 0);
    for reads in READS {
        let text = kernel(reads);
        for threads in [128, 100, 32] {
            if threads < 128 && reads.contains("bar.sync 1") {
                continue;
            }
            for numbers in [[99, 99, 0], [5, 99, 0], [99, 4, 0], [99, 4, 40], [99, 4, 1], [99, 11, 200], [7, 9, 64]] {
                let (short, long) = (says(&text, threads, numbers, &short), says(&text, threads, numbers, &long));
                assert_eq!(short, long, "{reads} {threads} {numbers:?}");
                if short.faults.iter().any(|fault| fault.kind == FaultKind::Race) {
                    races += 1;
                } else {
                    clean += 1;
                }
            }
        }
    }
    assert!(races > 50 && clean > 50, "{races} with races, {clean} without");
}
