//! Where the first infinity or NaN came from, through registers, shuffles, shared and global memory and several launches.

mod common;

use common::*;
use ptx_emulator::{
    Checks, Launch, Memory, Module, NonfiniteKind, NonfiniteLog, Options, Outcome, SourceLine, TraceRequest,
};

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// `expf` as NVRTC writes it out for `y[i] = expf(x[i]) * 0`, the exponential of what was loaded going through a shuffle and
/// shared memory on its way.
const SPREAD: &str = r#"
.visible .entry spread(.param .u64 x, .param .u64 y) {
.reg .f32 %f<40>; .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<4>;
.shared .align 4 .b8 room[128];
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
.loc 1 3 5
mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
.loc 1 4 5
ld.global.f32 %f18, [%rd4];
mov.f32 %f19, 0f3F000000; mov.f32 %f20, 0f3BBB989D;
fma.rn.f32 %f21, %f18, %f20, %f19;
cvt.sat.f32.f32 %f22, %f21;
mov.f32 %f23, 0f4B400001; mov.f32 %f24, 0f437C0000;
fma.rm.f32 %f25, %f22, %f24, %f23;
add.f32 %f26, %f25, 0fCB40007F;
neg.f32 %f27, %f26;
mov.f32 %f28, 0f3FB8AA3B;
fma.rn.f32 %f29, %f18, %f28, %f27;
mov.f32 %f30, 0f32A57060;
fma.rn.f32 %f31, %f18, %f30, %f29;
mov.b32 %r9, %f25; shl.b32 %r10, %r9, 23; mov.b32 %f32, %r10;
ex2.approx.ftz.f32 %f33, %f31;
mul.f32 %f2, %f33, %f32;
.loc 1 5 5
mov.b32 %r11, %f2;
shfl.sync.bfly.b32 %r12|%p1, %r11, 1, 31, -1;
.loc 1 6 5
mov.u32 %r13, room; shl.b32 %r14, %r1, 2; add.s32 %r15, %r13, %r14;
st.shared.b32 [%r15], %r12;
bar.sync 0;
ld.shared.f32 %f3, [%r15];
.loc 1 7 5
mul.f32 %f4, %f3, 0f00000000;
st.global.f32 [%rd5], %f4;
ret;
}
.visible .entry halve(.param .u64 y, .param .u64 z) {
.reg .f32 %f<4>; .reg .b64 %rd<8>; .reg .b32 %r<3>;
ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [z];
.loc 1 11 5
mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
ld.global.f32 %f1, [%rd4];
mul.f32 %f2, %f1, 0f3F000000;
st.global.f32 [%rd5], %f2;
ret;
}
.visible .entry masked(.param .u64 x, .param .u64 y) {
.reg .f32 %f<8>; .reg .b64 %rd<8>; .reg .b32 %r<3>;
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
.loc 1 20 5
mov.f32 %f1, 0fFF800000;
mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
ld.global.f32 %f2, [%rd4];
.loc 1 21 5
max.f32 %f3, %f1, %f2;
.loc 1 22 5
sub.f32 %f4, %f2, %f3;
st.global.f32 [%rd5], %f4;
ret;
}
.visible .entry over_infinity(.param .u64 x, .param .u64 y) {
.reg .f32 %f<8>; .reg .b64 %rd<8>; .reg .b32 %r<3>;
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
.loc 1 40 5
ld.global.f32 %f1, [%rd1];
mul.f32 %f2, %f1, 0f7F7FFFFF;
.loc 1 41 5
div.rn.f32 %f3, %f1, %f2;
st.global.f32 [%rd2], %f3;
ret;
}
.visible .entry store_narrow(.param .u64 x, .param .u64 y) {
.reg .f32 %f<8>; .reg .b64 %rd<8>; .reg .b32 %r<3>; .reg .b16 %h<3>;
ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
.loc 1 30 5
mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; mul.wide.u32 %rd6, %r1, 2;
add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd6;
ld.global.f32 %f2, [%rd4];
cvt.rn.f16.f32 %h1, %f2;
st.global.b16 [%rd5], %h1;
ret;
}
"#;

fn module() -> Module {
    load(&format!("{HEAD}.file 1 \"kernel.cu\"\n{SPREAD}"))
}

fn followed(module: &Module, memory: &mut Memory, launch: &Launch, log: &NonfiniteLog) -> Outcome {
    let options = Options {
        checks: Checks::NONE,
        counters: false,
        line_counters: false,
        nonfinite: Some(log.clone()),
        ..Options::default()
    };
    let outcome = run_with(module, memory, launch, &options);
    assert!(outcome.completed && outcome.faults.is_empty(), "{:#?}", outcome.faults);
    outcome
}

#[test]
fn the_exponential_that_overflowed_is_found_behind_shuffles_memory_and_launches() {
    let module = module();
    let mut memory = memory();
    let mut x = vec![1.0f32; 32];
    x[7] = 1204.5;
    let x = upload_f32(&mut memory, "x", &x);
    let y = upload_f32(&mut memory, "y", &[0.0; 32]);
    let z = upload_f32(&mut memory, "z", &[0.0; 32]);
    let log = NonfiniteLog::default();
    followed(&module, &mut memory, &Launch::new("spread", [1, 1, 1], [32, 1, 1]).arg_u64(x).arg_u64(y), &log);
    followed(&module, &mut memory, &Launch::new("halve", [1, 1, 1], [32, 1, 1]).arg_u64(y).arg_u64(z), &log);
    let got = download_f32(&memory, z, 32);
    // The shuffle exchanges neighbours.
    assert!(got[6].is_nan() && got.iter().enumerate().all(|(at, value)| at == 6 || *value == 0.0), "{got:?}");
    let chain = log.chain(z + 24, 4);
    assert_eq!(chain.len(), 2, "{chain:#?}");
    let [first, then] = &chain[..] else { unreachable!() };
    assert_eq!((first.kind, first.value), (NonfiniteKind::Computed, f64::INFINITY));
    assert_eq!(first.source.as_ref().map(|source| source.line), Some(4));
    assert_eq!((first.thread.lane, first.thread.thread), (7, [7, 0, 0]));
    assert!(first.instruction.starts_with("ex2"), "{}", first.instruction);
    assert!(first.arguments.iter().any(|argument| argument.value == 1204.5 && argument.by_log2_e), "{first:#?}");
    assert!(then.value.is_nan() && then.thread.lane == 6, "{then:#?}");
    assert_eq!(then.expression, "inf * 0");
    assert_eq!(then.source.as_ref().map(|source| source.line), Some(7));
    assert!(log.chain(z, 4).is_empty(), "nothing is to be said of a number");
    assert_eq!(log.first().map(|first| first.thread.lane), Some(7));
}

#[test]
fn an_infinity_of_the_text_is_told_from_what_was_made_of_it() {
    let module = module();
    let mut memory = memory();
    let x = upload_f32(&mut memory, "x", &[1.0, f32::NEG_INFINITY]);
    let y = upload_f32(&mut memory, "y", &[0.0; 2]);
    let log = NonfiniteLog::default();
    followed(&module, &mut memory, &Launch::new("masked", [1, 1, 1], [2, 1, 1]).arg_u64(x).arg_u64(y), &log);
    assert!(log.chain(y, 4).is_empty());
    let chain = log.chain(y + 4, 4);
    assert_eq!(chain.len(), 2, "{chain:#?}");
    assert_eq!((chain[0].kind, chain[0].expression.as_str()), (NonfiniteKind::Given, "x[1]"));
    assert_eq!(chain[1].kind, NonfiniteKind::Computed);
    assert_eq!(chain[1].expression, "-inf - (-inf)");
    assert_eq!(chain[1].source.as_ref().map(|source| source.line), Some(22));
}

#[test]
fn a_zero_that_an_infinity_led_to_says_so() {
    let module = module();
    let mut memory = memory();
    let x = upload_f32(&mut memory, "x", &[3.0]);
    let y = upload_f32(&mut memory, "y", &[1.0]);
    let log = NonfiniteLog::default();
    followed(&module, &mut memory, &Launch::new("over_infinity", [1, 1, 1], [1, 1, 1]).arg_u64(x).arg_u64(y), &log);
    assert_eq!(download_f32(&memory, y, 1), [0.0]);
    let chain = log.chain(y, 4);
    assert_eq!(chain.iter().map(|step| step.expression.as_str()).collect::<Vec<_>>(), ["3 * 3.402823e38"]);
}

#[test]
fn a_conversion_to_a_narrow_format_overflows() {
    let module = module();
    let mut memory = memory();
    let x = upload_f32(&mut memory, "x", &[1.0, 70_000.0, -70_000.0]);
    let y = upload_u32(&mut memory, "y", &[0; 2]);
    let log = NonfiniteLog::default();
    followed(&module, &mut memory, &Launch::new("store_narrow", [1, 1, 1], [3, 1, 1]).arg_u64(x).arg_u64(y), &log);
    let words = |at: u64| log.chain(y + at, 2).first().map(|first| (first.value, first.expression.clone()));
    assert_eq!(words(0), None);
    assert_eq!(words(2), Some((f64::INFINITY, "half(70000)".to_owned())));
    assert_eq!(words(4), Some((f64::NEG_INFINITY, "half(-70000)".to_owned())));
    assert_eq!(log.first().map(|first| first.occurrences), Some(2));
}

#[test]
fn following_values_changes_no_result() {
    let module = module();
    let x: Vec<f32> = (0..32).map(|at| at as f32 * 4.0).collect();
    let results = [None, Some(NonfiniteLog::default())].map(|log| {
        let mut memory = memory();
        let x = upload_f32(&mut memory, "x", &x);
        let y = upload_f32(&mut memory, "y", &[0.0; 32]);
        let launch = Launch::new("spread", [1, 1, 1], [32, 1, 1]).arg_u64(x).arg_u64(y);
        let outcome = run_with(&module, &mut memory, &launch, &Options { nonfinite: log, ..Options::default() });
        (download_u32(&memory, y, 32), outcome.counters, outcome.executed)
    });
    assert_eq!(results[0], results[1]);
}

#[test]
fn a_trace_keeps_what_watched_lines_give() {
    let module = module();
    let mut memory = memory();
    let values: Vec<f32> = (0..40).map(|at| at as f32).collect();
    let y = upload_f32(&mut memory, "y", &values);
    let z = upload_f32(&mut memory, "z", &[0.0; 40]);
    let line = |line| SourceLine { file: "kernel.cu".to_owned(), line, column: 0 };
    let options = Options {
        trace: Some(TraceRequest { blocks: vec![0], warps: vec![1], max_bytes: 1 << 20 }),
        watched: vec![line(11), line(99)],
        ..Options::default()
    };
    let launch = Launch::new("halve", [1, 1, 1], [40, 1, 1]).arg_u64(y).arg_u64(z);
    let outcome = run_with(&module, &mut memory, &launch, &options);
    let trace = outcome.trace.expect("asked for");
    // The store is the last of the line.
    let [kept] = &trace.values[..] else { panic!("{:#?}", trace.values) };
    assert_eq!((kept.source.line, kept.warp, kept.mask), (11, 1, 0xff));
    assert_eq!(kept.values, [16.0, 16.5, 17.0, 17.5, 18.0, 18.5, 19.0, 19.5]);
    assert!(!trace.truncated);
    let cut = Options {
        trace: Some(TraceRequest { blocks: vec![0], warps: vec![1], max_bytes: 64 }),
        watched: vec![line(11)],
        ..Options::default()
    };
    let trace = run_with(&module, &mut memory, &launch, &cut).trace.expect("asked for");
    assert!(trace.truncated && trace.values.is_empty());
}
