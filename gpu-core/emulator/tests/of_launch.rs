//! Values that are the same in all warps of a launch, which are not computed by each of them anew: what kernels make of
//! them, and what is counted.

mod common;

use common::*;
use ptx_emulator::{Fast, FaultKind, Launch, Options, Outcome};

const BLOCKS: u32 = 5;
/// The last warp of a block has 8 lanes.
const THREADS: u32 = 40;

/// Runs `k` on some fast paths; without them everything is computed where it stands.
fn launched(ptx: &str, a: u32, b: u32, fast: Fast) -> (Outcome, Vec<u32>) {
    let module = load(ptx);
    let mut memory = memory();
    let to = upload_u32(&mut memory, "to", &vec![0; (BLOCKS * THREADS) as usize]);
    let launch = Launch::new("k", [BLOCKS, 1, 1], [THREADS, 1, 1]).arg_u64(to).arg_u32(a).arg_u32(b);
    let options = Options { fast, line_counters: true, ..Options::default() };
    let outcome = run_with(&module, &mut memory, &launch, &options);
    (outcome, download_u32(&memory, to, (BLOCKS * THREADS) as usize))
}

/// `body` makes `%r20` of `%r1` and `%r2` (arguments), `%r3` (threads of a block), `%r4` (lane), `%r9` (thread of the grid).
fn kernel(body: &str) -> String {
    format!(
        "
.version 8.0
.target sm_80
.address_size 64
.func (.reg .b32 %out) twice(.reg .b32 %in)
{{
    .reg .b32 %r<40>;
    mov.u32 %r1, 2;
    mov.u32 %r7, %r1;
    mov.u32 %r8, %r7;
    mul.lo.u32 %out, %in, %r8;
    ret;
}}
.visible .entry k(.param .u64 to, .param .u32 a, .param .u32 b)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<40>;
    .reg .b64 %rd<5>;
    ld.param.u32 %r1, [a];
    ld.param.u32 %r2, [b];
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %laneid;
    mov.u32 %r5, %ctaid.x;
    mov.u32 %r6, %tid.x;
    mad.lo.u32 %r9, %r5, %r3, %r6;
{body}
    ld.param.u64 %rd1, [to];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r9, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r20;
    ret;
}}"
    )
}

/// What each thread of the grid stores, from its lane and its number.
fn expected(value: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    (0..BLOCKS * THREADS).map(|thread| value(thread % THREADS % 32, thread)).collect()
}

/// Runs a kernel both ways, with different arguments one after the other.
fn check(body: &str, value: impl Fn(u32, u32, u32, u32) -> u32) {
    let ptx = kernel(body);
    for (a, b) in [(3, 5), (0, 7), (u32::MAX, 2)] {
        let (outcome, values) = launched(&ptx, a, b, Fast::ALL);
        assert!(outcome.completed && outcome.faults.is_empty(), "{body}\n{:#?}", outcome.faults);
        assert_eq!(values, expected(|lane, thread| value(a, b, lane, thread)), "{body}");
        assert_eq!((outcome, values), launched(&ptx, a, b, Fast::NONE), "{body}");
    }
}

#[test]
fn they_hold_on_every_way_and_next_to_a_call() {
    check(
        "
    mul.lo.u32 %r7, %r1, %r2;
    add.u32 %r8, %r7, %r4;
    setp.ne.u32 %p2, %r7, 0;
    and.b32 %r10, %r6, 1;
    setp.eq.u32 %p1, %r10, 0;
    @%p1 bra even;
    mul.lo.u32 %r11, %r7, 3;
    add.u32 %r12, %r11, %r9;
    bra.uni both;
even:
    add.u32 %r12, %r8, %r9;
both:
    call.uni (%r13), twice, (%r12);
    selp.u32 %r14, %r13, 1, %p2;
    add.u32 %r15, %r14, %r7;
    sub.u32 %r16, %r15, %r8;
    call.uni (%r20), twice, (%r16);",
        |a, b, lane, thread| {
            let product = a.wrapping_mul(b);
            let odd = thread % THREADS % 2 == 1;
            let sum = if odd { product.wrapping_mul(3) } else { product.wrapping_add(lane) }.wrapping_add(thread);
            let chosen = if product != 0 { sum.wrapping_mul(2) } else { 1 };
            chosen.wrapping_sub(lane).wrapping_mul(2)
        },
    );
}

#[test]
fn a_register_with_more_values_is_none_of_them() {
    check(
        "
    mov.u32 %r20, %r1;
    mov.u32 %r10, %r2;
again:
    add.u32 %r20, %r20, %r10;
    shr.u32 %r10, %r10, 1;
    mul.lo.u32 %r11, %r1, 7;
    xor.b32 %r20, %r20, %r11;
    setp.ne.u32 %p1, %r10, 0;
    @%p1 bra again;
    add.cc.u32 %r12, %r1, %r1;
    addc.u32 %r13, %r20, 0;
    mov.u32 %r20, %r13;",
        |a, b, _, _| {
            let (mut sum, mut step) = (a, b);
            loop {
                sum = sum.wrapping_add(step) ^ a.wrapping_mul(7);
                step >>= 1;
                if step == 0 {
                    return sum.wrapping_add(u32::from(a.checked_add(a).is_none()));
                }
            }
        },
    );
}

#[test]
fn a_kernel_that_begins_again_finds_them() {
    check(
        "
    mov.u32 %r20, %r4;
    bra.uni enter;
again:
    add.u32 %r10, %r1, %r3;
    add.u32 %r11, %r10, %r2;
    add.u32 %r20, %r20, %r11;
enter:
    setp.lt.u32 %p1, %r20, %r3;
    @%p1 bra again;",
        |a, b, lane, _| {
            let step = a.wrapping_add(THREADS).wrapping_add(b);
            let mut value = lane;
            while value < THREADS {
                value = value.wrapping_add(step);
            }
            value
        },
    );
}

#[test]
fn one_that_some_lanes_pass_by_is_undefined_there() {
    let ptx = kernel(
        "
    and.b32 %r10, %r6, 1;
    setp.eq.u32 %p1, %r10, 0;
    @%p1 bra over;
    mul.lo.u32 %r11, %r1, 3;
over:
    add.u32 %r20, %r11, %r9;",
    );
    for fast in [Fast::ALL, Fast::NONE] {
        let (outcome, _) = launched(&ptx, 1, 2, fast);
        assert_eq!(kinds(&outcome), [FaultKind::Uninitialised], "{:#?}", outcome.faults);
        assert_eq!(outcome.faults[0].occurrences, u64::from(BLOCKS * THREADS / 2));
    }
}
