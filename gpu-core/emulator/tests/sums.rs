//! Atomics of several host threads at the same words: memory must be what they make of it in any order, and races must be
//! found as ever.

mod common;

use common::{download_u32, load, memory, run_with, upload_u32};
use ptx_emulator::{FaultKind, Launch, Options, Outcome};

const BLOCKS: u32 = 48;
const THREADS: u32 = BLOCKS * 64;

/// Blocks of 64 threads: `%r1` is the thread's number, `%rd1` and `%rd2` are arrays.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b) {{\n.reg .pred \
         %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\nld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\n\
         mov.u32 %r1, %ctaid.x;\nshl.b32 %r1, %r1, 6;\nmov.u32 %r2, %tid.x;\nadd.u32 %r1, %r1, %r2;\n{body}\nret;\n}}"
    )
}

/// Runs it on two arrays of words, with so many workers.
fn run(body: &str, words: usize, begin: impl Fn(u32) -> u32, options: &Options) -> (Outcome, Vec<u32>, Vec<u32>) {
    let module = load(&kernel(body));
    let mut memory = memory();
    let values: Vec<u32> = (0..words as u32).map(begin).collect();
    let (a, b) = (upload_u32(&mut memory, "a", &values), upload_u32(&mut memory, "b", &values));
    let launch = Launch::new("k", [BLOCKS, 1, 1], [64, 1, 1]).arg_u64(a).arg_u64(b);
    let outcome = run_with(&module, &mut memory, &launch, options);
    (outcome, download_u32(&memory, a, words), download_u32(&memory, b, words))
}

/// What an atomic makes of a word of so many bits.
fn next(form: &str, old: u64, b: u64) -> u64 {
    let low = |value: u64| if form.ends_with("32") { value & 0xffff_ffff } else { value };
    let signed = |value: u64| if form.ends_with("32") { i64::from(value as i32) } else { value as i64 };
    low(match form.split_once('.').expect("an operation and a type") {
        ("add", _) => old.wrapping_add(b),
        ("and", _) => old & b,
        ("or", _) => old | b,
        ("xor", _) => old ^ b,
        ("min", ty) if ty.starts_with('s') => signed(old).min(signed(b)) as u64,
        ("max", ty) if ty.starts_with('s') => signed(old).max(signed(b)) as u64,
        ("min", _) => old.min(b),
        _ => old.max(b),
    })
}

const FORMS: &[&str] = &[
    "add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "min.u64", "min.s64", "max.u32", "max.s32", "max.u64",
    "max.s64", "and.b32", "and.b64", "or.b32", "or.b64", "xor.b32", "xor.b64",
];

/// A number in no order, as the kernel computes it.
fn mixed(thread: u32) -> u32 {
    thread.wrapping_mul(0x9e37_79b1)
}

const MIXED: &str = "mul.lo.u32 %r3, %r1, 0x9e3779b1;\n";

#[test]
fn sums_of_several_workers_are_those_of_one() {
    // Neither whole pages nor an even number of them.
    const WORDS: usize = 2602;
    for (index, form) in FORMS.iter().enumerate() {
        let wide = form.ends_with("64");
        let words = if wide { WORDS as u32 / 2 } else { WORDS as u32 };
        for lie in ["one", "apart", "row"] {
            let place = |thread: u32| match lie {
                "one" => words - 1,
                "apart" => mixed(thread) % words,
                _ => thread % 64 + 7,
            };
            let number = match lie {
                "one" => format!("mov.u32 %r4, {};", words - 1),
                "apart" => format!("rem.u32 %r4, %r3, {words};"),
                _ => "add.u32 %r4, %r2, 7;".to_owned(),
            };
            let bytes = if wide { 8 } else { 4 };
            // Some lanes stay away every other time.
            let body = format!(
                "{MIXED}{number}\nmul.wide.u32 %rd3, %r4, {bytes};\nadd.s64 %rd4, %rd1, %rd3;\nshr.u32 %r5, %r3, 7;\n\
                 cvt.u64.u32 %rd5, %r5;\nshl.b64 %rd6, %rd5, 33;\nor.b64 %rd5, %rd5, %rd6;\nand.b32 %r6, %r1, 37;\n\
                 setp.ne.u32 %p1, %r6, 5;\n{}red.global.{form} [%rd4], {};",
                if index % 2 == 0 { "@%p1 " } else { "" },
                if wide { "%rd5" } else { "%r5" },
            );
            let begin = |i: u32| mixed(i ^ 0x5555) >> 3;
            let mut expected: Vec<u32> = (0..WORDS as u32).map(begin).collect();
            for thread in 0..THREADS {
                if index % 2 == 0 && thread & 37 == 5 {
                    continue;
                }
                let b = u64::from(mixed(thread) >> 7);
                let at = place(thread) as usize;
                if wide {
                    let old = u64::from(expected[2 * at]) | u64::from(expected[2 * at + 1]) << 32;
                    let new = next(form, old, b | b << 33);
                    (expected[2 * at], expected[2 * at + 1]) = (new as u32, (new >> 32) as u32);
                } else {
                    expected[at] = next(form, u64::from(expected[at]), b) as u32;
                }
            }
            for workers in [1, 2, 5] {
                for options in [Options::default(), Options::unchecked()] {
                    let (outcome, a, b) = run(&body, WORDS, begin, &Options { workers, ..options });
                    assert!(outcome.completed && outcome.faults.is_empty(), "{form} {lie}: {:#?}", outcome.faults);
                    assert!(a == expected, "{form}, {lie}, {workers} workers");
                    assert!(b.into_iter().eq((0..WORDS as u32).map(begin)), "{form}: the other array");
                }
            }
        }
    }
}

/// What an atomic gives back, and what a load finds, must be what all blocks did.
#[test]
fn what_is_read_is_in_memory_at_once() {
    // Everybody draws a number and notes it at its own place.
    let tickets = "atom.global.add.u32 %r3, [%rd1], 1;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n\
                   st.global.u32 [%rd4], %r3;";
    // All wait for the sum of all.
    let meeting = "red.global.add.u32 [%rd1], 1;\n$wait:\nld.relaxed.gpu.global.u32 %r3, [%rd1];\n\
                   setp.lt.u32 %p1, %r3, 3072;\n@%p1 bra $wait;";
    for workers in [2, 3] {
        let options = Options { workers, ..Options::unchecked() };
        let (outcome, a, mut drawn) = run(tickets, THREADS as usize, |_| 0, &options);
        assert!(outcome.completed);
        drawn.sort_unstable();
        assert!(a[0] == THREADS && drawn.into_iter().eq(0..THREADS));
        let (outcome, a, _) = run(meeting, 4, |_| 0, &options);
        assert!(outcome.completed && a[0] == THREADS, "{:#?}", outcome.faults);
    }
}

#[test]
fn races_with_atomics_are_found_although_atomics_alone_have_none() {
    let clean = ["red.global.add.u32 [%rd1], 1;", "atom.global.cas.b32 %r3, [%rd1], 0, 1;"];
    let races = [
        // A store, an atomic that other blocks do not see, a store by a pointer that comes from two.
        "red.global.add.u32 [%rd1], 1;\nst.global.u32 [%rd1], %r1;",
        "atom.global.cta.add.u32 %r3, [%rd1], 1;",
        "red.global.add.u32 [%rd1], 1;\nxor.b64 %rd3, %rd1, %rd2;\nxor.b64 %rd4, %rd3, %rd2;\nst.global.u32 [%rd4], %r1;",
        "red.global.add.u32 [%rd1], 1;\nst.global.u64 [%rd2], %rd1;\nld.global.u64 %rd3, [%rd2];\nld.global.u32 %r3, [%rd3];\nst.global.u32 [%rd2+32], 1;",
    ];
    for workers in [1, 2] {
        let options = Options { workers, ..Options::default() };
        for body in clean {
            let (outcome, ..) = run(body, 64, |_| 0, &options);
            assert!(outcome.faults.is_empty(), "{body}: {:#?}", outcome.faults);
        }
        for body in races {
            let (outcome, ..) = run(body, 64, |_| 0, &options);
            assert!(outcome.faults.iter().any(|fault| fault.kind == FaultKind::Race), "{body}");
        }
    }
}
