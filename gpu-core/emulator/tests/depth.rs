//! Deep recursion: what it gives, and that a call costs the same however deep it is.

mod common;
use common::*;
use ptx_emulator::{FaultKind, Launch, Module, Options};
use std::time::{Duration, Instant};
/// Each thread adds the numbers up to `n`, one in each call.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) down(.param .b32 n)
{
    .reg .b32 %r<8>;
    .reg .pred %p<2>;
    ld.param.b32 %r1, [n];
    setp.eq.u32 %p1, %r1, 0;
    mov.u32 %r3, 1;
    @%p1 bra out;
    sub.u32 %r2, %r1, 1;
    {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], %r2;
    call (b), down, (a);
    ld.param.b32 %r3, [b];
    }
    add.u32 %r3, %r3, %r1;
out:
    st.param.b32 [r], %r3;
    ret;
}
.visible .entry k(.param .u64 to, .param .u32 n)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [n];
    {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], %r1;
    call (b), down, (a);
    ld.param.b32 %r3, [b];
    }
    st.global.u32 [%rd1], %r3;
    ret;
}";
/// The sum up to `n` in each of 8 warps, and how long that took.
fn summed(module: &Module, n: u32) -> (u32, Duration) {
    let mut memory = memory();
    let to = upload_u32(&mut memory, "to", &[0]);
    let launch = Launch::new("k", [1, 1, 1], [256, 1, 1]).arg_u64(to).arg_u32(n);
    let options = Options { workers: 1, ..Options::default() };
    let begun = Instant::now();
    let outcome = run_with(module, &mut memory, &launch, &options);
    assert!(outcome.faults.is_empty(), "{n}: {:#?}", outcome.faults);
    (download_u32(&memory, to, 1)[0], begun.elapsed())
}

#[test]
fn a_call_costs_the_same_at_any_depth() {
    const SHORT: u32 = 400;
    const LONG: u32 = 4_000;
    let module = load(PTX);
    // The least of some: other programs run as well.
    let (mut short, mut long) = (Duration::MAX, Duration::MAX);
    for _ in 0..5 {
        let (sum, took) = summed(&module, SHORT);
        assert_eq!(sum, SHORT * (SHORT + 1) / 2 + 1);
        short = short.min(took);
        let (sum, took) = summed(&module, LONG);
        assert_eq!(sum, LONG * (LONG + 1) / 2 + 1);
        long = long.min(took);
    }
    let ratio = long.as_secs_f64() / short.as_secs_f64() / f64::from(LONG / SHORT);
    assert!(ratio < 1.5, "a call costs {ratio} times as much among {LONG} as among {SHORT}");
}

#[test]
fn endless_recursion_overflows_the_stack() {
    let module = load(PTX);
    let mut memory = memory();
    let to = upload_u32(&mut memory, "to", &[0]);
    let launch = Launch::new("k", [64, 1, 1], [256, 1, 1]).arg_u64(to).arg_u32(u32::MAX);
    let outcome = run(&module, &mut memory, &launch);
    assert!(kinds(&outcome).contains(&FaultKind::StackOverflow), "{:#?}", outcome.faults);
}
