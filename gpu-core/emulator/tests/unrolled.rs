//! The copies of a line that a compiler unrolled must not take the places of other faults.

mod common;

use common::{load, memory, run_with, upload_u32};
use ptx_emulator::{Fault, FaultKind, Launch, Options};

/// Copies of one line, more than a launch tells of.
const COPIES: u64 = 24;

/// All threads of a warp store what differs to one word, in `COPIES` instructions of line 7 (each by itself a race); then
/// line 9 stores to one more word, `rounds` times.
fn kernel(lines: bool) -> String {
    let loc = |line: u32| if lines { format!("    .loc 1 {line} 5\n") } else { String::new() };
    let copies: String = (0..COPIES).map(|copy| format!("    st.global.u32 [%rd1+{}], %r1;\n", copy * 4)).collect();
    format!(
        "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 rounds)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r3, [rounds];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 0;
$again:
{}{copies}    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r3;
    @%p1 bra $again;
{}    st.global.u32 [%rd1+{}], %r1;
    ret;
}}
.file 1 \"kernel.cu\"
",
        loc(7),
        loc(9),
        COPIES * 4
    )
}

fn races(lines: bool, rounds: u32) -> Vec<Fault> {
    let module = load(&kernel(lines));
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; COPIES as usize + 1]);
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(out).arg_u32(rounds);
    let options = Options { deterministic: true, workers: 1, ..Options::default() };
    let outcome = run_with(&module, &mut memory, &launch, &options);
    assert!(outcome.faults.iter().all(|fault| fault.kind == FaultKind::Race), "{:#?}", outcome.faults);
    outcome.faults
}

fn of_line(races: &[Fault], line: u32) -> Vec<u64> {
    let on = |fault: &&Fault| fault.source.as_ref().is_some_and(|source| source.line == line);
    races.iter().filter(on).map(|fault| fault.occurrences).collect()
}

#[test]
fn a_fault_behind_an_unrolled_loop_is_told() {
    let races = races(true, 1);
    assert_eq!(of_line(&races, 9).len(), 1, "{races:#?}");
    assert_eq!(of_line(&races, 7).len(), 1, "one array, one fault: {races:#?}");
}

/// Each copy counts as often as it would alone: the first time for every thread but the first, which meets nobody's store
/// yet, and later for all of them.
#[test]
fn copies_that_are_not_told_are_counted() {
    for rounds in [1, 3] {
        let races = races(true, rounds);
        assert_eq!(of_line(&races, 9), [31], "{races:#?}");
        let copies: u64 = of_line(&races, 7).iter().sum();
        assert_eq!(copies, COPIES * (31 + 32 * u64::from(rounds - 1)), "{rounds}: {races:#?}");
    }
}

/// Without lines nobody knows what is a copy.
#[test]
fn instructions_without_lines_are_told_apart() {
    assert_eq!(races(false, 1).len(), Options::default().max_faults);
}
