//! A line of a helper says little when many lines call it: a fault names the call of each of its sides.

mod common;

use common::*;
use ptx_emulator::{Fault, FaultKind, Launch, Memory, Module, SourceLine};

/// `put` is line 3 of `lab.cuh`; the kernels call it at lines 9 and 12 of `kernel.cu`, from which the compiler inlined it.
const PTX: &str = r#"
.version 8.7
.target sm_90a
.address_size 64

.visible .entry outside(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .loc 1 8 0
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 7;
    .loc 1 9 5
    .loc 2 3 14, function_name $L__info_string0, inlined_at 1 9 5
    st.global.u32 [%rd1], %r1;
    .loc 1 12 5
    .loc 2 3 14, function_name $L__info_string0, inlined_at 1 12 5
    st.global.u32 [%rd1+4096], %r1;
    ret;
}

// The even threads write by the one call, the odd ones by the other, and all of them write one word.
.visible .entry both(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .loc 1 8 0
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @!%p1 bra $odd;
    .loc 2 3 14, function_name $L__info_string0, inlined_at 1 9 5
    st.global.u32 [%rd1], %r1;
    bra $end;
$odd:
    .loc 2 3 14, function_name $L__info_string0, inlined_at 1 12 5
    st.global.u32 [%rd1], %r1;
$end:
    ret;
}

// Each call writes a word of its own, the same in every thread.
.visible .entry apart(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .loc 1 8 0
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    .loc 2 3 14, function_name $L__info_string0, inlined_at 1 9 5
    st.global.u32 [%rd1], %r1;
    .loc 2 3 14, function_name $L__info_string0, inlined_at 1 12 5
    st.global.u32 [%rd1], %r1;
    ret;
}

.file 1 "kernel.cu"
.file 2 "lab.cuh"
.section .debug_str
{
$L__info_string0:
.b8 95,0
}
"#;

fn run(kernel: &str, threads: u32) -> Vec<Fault> {
    let module = Module::load(PTX).unwrap_or_else(|error| panic!("{error}"));
    let mut memory: Memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 16]);
    let launch = Launch::new(kernel, [1, 1, 1], [threads, 1, 1]).arg_u64(out);
    common::run(&module, &mut memory, &launch).faults
}

fn at(line: &Option<SourceLine>) -> Option<(&str, u32)> {
    line.as_ref().map(|line| (line.file.as_str(), line.line))
}

#[test]
fn a_fault_names_the_call() {
    let faults = run("outside", 1);
    assert_eq!(faults.len(), 1, "{faults:#?}");
    assert_eq!(faults[0].kind, FaultKind::OutOfBounds);
    assert_eq!(faults[0].place().as_deref(), Some("lab.cuh:3, called from kernel.cu:12"));
}

#[test]
fn both_sides_of_a_race_name_their_calls() {
    for threads in [2, 64] {
        let faults = run("both", threads);
        let race = faults.iter().find(|fault| {
            let other = fault.other.as_ref().expect("a race has two sides");
            fault.inlined_at != other.inlined_at
        });
        let race = race.unwrap_or_else(|| panic!("no race between the two calls: {faults:#?}"));
        assert_eq!(race.kind, FaultKind::Race);
        let other = race.other.as_ref().expect("looked for");
        assert_eq!((at(&race.source), at(&other.source)), (Some(("lab.cuh", 3)), Some(("lab.cuh", 3))));
        let mut calls = [at(&race.inlined_at), at(&other.inlined_at)];
        calls.sort();
        assert_eq!(calls, [Some(("kernel.cu", 9)), Some(("kernel.cu", 12))]);
    }
}

#[test]
fn the_same_line_by_another_call_is_another_fault() {
    let faults = run("apart", 64);
    let calls: Vec<_> = faults.iter().map(|fault| at(&fault.inlined_at).expect("inlined").1).collect();
    assert!(calls.contains(&9) && calls.contains(&12), "{faults:#?}");
}
