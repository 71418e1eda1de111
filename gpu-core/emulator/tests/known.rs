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
