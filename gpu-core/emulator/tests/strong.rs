//! Volatile and relaxed loads and stores differ from weak ones by their order alone. They must
//! find the same words, be counted alike, take part in races as ever, and give way to others as polls do.

mod common;

use common::{download_u32, load, memory, run_with, upload_u32};
use ptx_emulator::{Checks, FaultKind, Launch, Options, Outcome};

/// `%rd5` and `%r5` are a thread's place in array `a` and in shared memory, as `place` puts it; `%rd6` its own one in `b`.
fn kernel(place: &str, body: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b) {{\n.reg .pred \
         %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n.shared .align 8 .b8 sh[8192];\nld.param.u64 %rd1, [a];\n\
         ld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 64, %r1;\n\
         {place}\nmul.wide.u32 %rd3, %r4, 4;\nadd.s64 %rd5, %rd1, %rd3;\nmul.wide.u32 %rd4, %r3, 4;\nadd.s64 %rd6, %rd2, \
         %rd4;\nshl.b32 %r5, %r4, 2;\nmov.u32 %r6, sh;\nadd.u32 %r5, %r5, %r6;\nand.b32 %r7, %r1, 1;\nsetp.eq.u32 \
         %p1, %r7, 0;\nsetp.lt.u32 %p2, %r1, 11;\n{body}\nret;\n}}"
    )
}

const WORDS: usize = 2048;
/// One behind the other, all at one place, in two halves, far apart and in no order.
const PLACES: &[&str] = &[
    "mov.u32 %r4, %r1;",
    "mov.u32 %r4, 9;",
    "shr.u32 %r4, %r1, 4;\nmul.lo.u32 %r4, %r4, 24;\nadd.u32 %r4, %r4, %r1;",
    "mul.lo.u32 %r4, %r1, 17;",
    "mul.lo.u32 %r4, %r1, 0x9e3779b1;\nshr.u32 %r4, %r4, 21;",
];

fn run(text: &str, options: &Options) -> (Outcome, Vec<u32>, Vec<u32>) {
    let module = load(text);
    let mut memory = memory();
    let values: Vec<u32> = (0..WORDS as u32).map(|i| i * i + 3).collect();
    let (a, b) = (upload_u32(&mut memory, "a", &values), upload_u32(&mut memory, "b", &values));
    let launch = Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(a).arg_u64(b);
    let outcome = run_with(&module, &mut memory, &launch, options);
    (outcome, download_u32(&memory, a, WORDS), download_u32(&memory, b, WORDS))
}

/// What loads and stores of some strength do, in rounds, so that later ones follow earlier ones.
fn body(space: &str, strength: &str, guard: &str) -> String {
    let (at, other) = if space == "shared" { ("%r5", "st.shared.u32 [%r5], %r3;") } else { ("%rd5", "") };
    format!(
        "mov.u32 %r10, 0;\nmov.u32 %r9, 1;\n{other}\nbar.sync 0;\n$round:\n{guard}ld{strength}.{space}.u32 %r9, [{at}];\n\
         mad.lo.u32 %r8, %r8, 31, %r9;\nbar.sync 0;\n{guard}st{strength}.{space}.u32 [{at}], %r10;\nbar.sync 0;\n\
         {guard}ld{strength}.{space}.u32 %r9, [{at}];\nadd.u32 %r8, %r8, %r9;\nadd.u32 %r10, %r10, 1;\n\
         setp.lt.u32 %p3, %r10, 20;\n@%p3 bra $round;\nst.global.u32 [%rd6], %r8;"
    )
    .replacen("mov.u32 %r10", "mov.u32 %r8, 7;\nmov.u32 %r10", 1)
}

#[test]
fn strong_accesses_find_and_count_what_weak_ones_do() {
    let ways = [
        Options { workers: 1, ..Options::unchecked() },
        Options { workers: 1, checks: Checks::NONE, ..Options::default() },
        Options { workers: 1, ..Options::default() },
    ];
    for place in PLACES {
        for space in ["global", "shared"] {
            for guard in ["", "@%p1 ", "@%p2 "] {
                for options in &ways {
                    let says = |strength: &str| {
                        let (outcome, a, b) = run(&kernel(place, &body(space, strength, guard)), options);
                        assert!(outcome.completed, "{:#?}", outcome.faults);
                        (outcome.counters, outcome.executed, a, b)
                    };
                    let weak = says("");
                    assert!(weak == says(".volatile"), "{place} {space} {guard}");
                    assert!(weak == says(".relaxed.gpu"), "{place} {space} {guard}");
                }
            }
        }
    }
}

#[test]
fn faults_and_races_of_strong_accesses_are_found() {
    let far = "mad.lo.u32 %r4, %r1, 40, 0;";
    for (space, strength) in [("global", ".volatile"), ("shared", ".volatile"), ("global", ".relaxed.gpu")] {
        for options in [Options::unchecked(), Options::default()] {
            let (outcome, ..) = run(&kernel(far, &body(space, strength, "")), &options);
            assert!(outcome.faults.iter().any(|fault| fault.kind == FaultKind::OutOfBounds), "{space}{strength}");
        }
    }
    // A hundred volatile loads first: then nothing is remembered of any more. The strong store meets a weak one.
    let many = "ld.volatile.global.u32 %r9, [%rd5];\n".repeat(100);
    let clash = format!("{many}st.volatile.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1], %r3;");
    let (outcome, ..) = run(&kernel(PLACES[0], &clash), &Options::default());
    assert!(outcome.faults.iter().any(|fault| fault.kind == FaultKind::Race));
    // Reads of what nobody wrote, which only counts where somebody asks for it: after the last of them.
    let asked = format!("{many}setp.eq.u32 %p1, %r9, 3;\n@%p1 st.global.u32 [%rd6], %r1;");
    let module = load(&kernel(PLACES[0], &asked));
    let mut memory = memory();
    let a = memory.alloc("a", 4096).expect("fits");
    let launch = Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(a).arg_u64(a);
    let outcome = run_with(&module, &mut memory, &launch, &Options::default());
    assert!(outcome.faults.iter().any(|fault| fault.kind == FaultKind::Uninitialised));
}

/// A warp that waits for another one by volatile loads, in each space, with and without checks of races.
#[test]
fn waiting_warps_give_way() {
    let wait = |space: &str, at: &str| {
        format!(
            "setp.ge.u32 %p3, %r1, 32;\n@%p3 bra $second;\n$wait:\nld.volatile.{space}.u32 %r9, [{at}];\nsetp.ne.u32 \
             %p1, %r9, 77;\n@%p1 bra $wait;\nbra $end;\n$second:\nst.volatile.{space}.u32 [{at}], 77;\n$end:\n\
             st.global.u32 [%rd6], 5;"
        )
    };
    for (space, at) in [("global", "%rd1"), ("shared", "%r6")] {
        for options in [Options::unchecked(), Options { workers: 2, checks: Checks::NONE, ..Options::default() }] {
            let (outcome, _, b) = run(&kernel(PLACES[0], &wait(space, at)), &options);
            assert!(outcome.completed && b[..64] == [5; 64], "{space}: {:#?}", outcome.faults);
        }
    }
}

/// One warp puts numbers down and raises flags, the other polls the flags and reads: in order behind a fence, a race without.
#[test]
fn polls_learn_what_a_fence_behind_them_orders() {
    let place = "and.b32 %r4, %r1, 31;";
    let polls = "ld.volatile.global.u32 %r9, [%rd5];\nsetp.ne.u32 %p1, %r9, 77;\n@%p1 bra $wait";
    let program = |before: &str, behind: &str| {
        format!(
            "setp.ge.u32 %p3, %r1, 32;\n@%p3 bra $second;\nmov.u32 %r10, 0;\n{before}\n$wait:\n{polls};\n{behind}\n\
             ld.global.u32 %r8, [%rd6+512];\nadd.u32 %r8, %r8, 1;\nst.global.u32 [%rd6], %r8;\nbra $end;\n$second:\n\
             st.global.u32 [%rd6+384], %r1;\nmembar.gl;\nst.volatile.global.u32 [%rd5], 77;\n$end:"
        )
    };
    // The flags' row may have been looked at before, and forgotten by a fence; or another row, a place, or both.
    let row = "ld.volatile.global.u32 %r9, [%rd5];\n";
    let others = "ld.volatile.global.u32 %r9, [%rd1];\nld.volatile.global.u32 %r9, [%rd5+640];\n";
    for before in ["", row, &format!("{row}membar.gl;"), &format!("{row}{others}membar.cta;{others}")] {
        for (behind, clean) in [("membar.gl;", true), ("fence.acq_rel.cta;", true), ("", false)] {
            let (outcome, _, b) = run(&kernel(place, &program(before, behind)), &Options::default());
            assert!(outcome.completed || !clean, "{:#?}", outcome.faults);
            assert_eq!(outcome.faults.is_empty(), clean, "{before} {behind}: {:#?}", outcome.faults);
            assert!(!clean || (0..32).all(|lane| b[lane] == lane as u32 + 33), "{before}");
        }
    }
}
