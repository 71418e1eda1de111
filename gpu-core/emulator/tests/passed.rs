//! Values that nobody gave are followed into functions that the compiler left as calls, and out of them again.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Outcome};

/// The functions that are called.
const FUNCTIONS: &str = r#"
.version 8.5
.target sm_90
.address_size 64

// 1 where x is 77, which it decides by a branch.
.func (.param .b32 r) decides(.param .b32 x)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [x];
    mov.u32 %r2, 0;
    setp.ne.s32 %p1, %r1, 77;
    @%p1 bra $end;
    mov.u32 %r2, 1;
$end:
    st.param.b32 [r], %r2;
    ret;
}

.func (.param .b32 r) hands_on(.param .b32 x)
{
    .reg .b32 %r<2>;
    ld.param.u32 %r1, [x];
    st.param.b32 [r], %r1;
    ret;
}

// The first half of a pair, three times; nothing of the second.
.func (.param .b32 r) first(.param .align 8 .b8 x[8])
{
    .reg .b32 %r<4>;
    ld.param.v2.u32 {%r1, %r2}, [x];
    mul.lo.u32 %r3, %r1, 3;
    st.param.b32 [r], %r3;
    ret;
}

// The byte in the middle of a word, three times.
.func (.param .b32 r) middle(.param .align 4 .b8 x[4])
{
    .reg .b16 %rs<2>;
    .reg .b32 %r<4>;
    ld.param.u8 %rs1, [x+2];
    cvt.u32.u16 %r1, %rs1;
    mul.lo.u32 %r2, %r1, 3;
    st.param.b32 [r], %r2;
    ret;
}
"#;

/// What each kernel does with `%r1`, the number of a word of `a` (`%rd1`) at `%rd3`, and leaves in `out` (`%rd2`). Words 0 and 1 of
/// `a` are given, the others are not.
const KERNELS: &[(&str, &str)] = &[
    (
        "branch",
        r#"
    ld.global.u32 %r2, [%rd3];
    {
        .param .b32 p;
        .param .b32 q;
        st.param.b32 [p], %r2;
        call.uni (q), decides, (p);
        ld.param.b32 %r3, [q];
    }
    st.global.u32 [%rd2], %r3;
"#,
    ),
    (
        "compute",
        r#"
    ld.global.u32 %r2, [%rd3];
    {
        .param .b32 p;
        .param .b32 q;
        st.param.b32 [p], %r2;
        call.uni (q), hands_on, (p);
        ld.param.b32 %r3, [q];
    }
    mul.lo.u32 %r4, %r3, 3;
    st.global.u32 [%rd2], %r4;
"#,
    ),
    // An undefined value goes through the function and is only kept; then the same function is given defined ones.
    (
        "keep",
        r#"
    ld.global.u32 %r2, [%rd3];
    {
        .param .b32 p;
        .param .b32 q;
        st.param.b32 [p], %r2;
        call.uni (q), hands_on, (p);
        ld.param.b32 %r3, [q];
    }
    st.global.u32 [%rd2], %r3;
    ld.global.u32 %r4, [%rd1];
    {
        .param .b32 p;
        .param .b32 q;
        st.param.b32 [p], %r4;
        call.uni (q), hands_on, (p);
        ld.param.b32 %r5, [q];
    }
    {
        .param .b32 p;
        .param .b32 q;
        st.param.b32 [p], %r5;
        call.uni (q), decides, (p);
        ld.param.b32 %r6, [q];
    }
    add.u32 %r7, %r6, %r5;
    st.global.u32 [%rd2+4], %r7;
"#,
    ),
    // A pair of word 0 and another one: only the first matters.
    (
        "pair",
        r#"
    ld.global.u32 %r2, [%rd3];
    ld.global.u32 %r3, [%rd1];
    mov.b64 %rd4, {%r3, %r2};
    {
        .param .align 8 .b8 p[8];
        .param .b32 q;
        st.param.b64 [p], %rd4;
        call.uni (q), first, (p);
        ld.param.b32 %r4, [q];
    }
    st.global.u32 [%rd2], %r4;
"#,
    ),
    // The same the other way round: only the undefined one matters.
    (
        "turned",
        r#"
    ld.global.u32 %r2, [%rd3];
    ld.global.u32 %r3, [%rd1];
    mov.b64 %rd4, {%r2, %r3};
    {
        .param .align 8 .b8 p[8];
        .param .b32 q;
        st.param.b64 [p], %rd4;
        call.uni (q), first, (p);
        ld.param.b32 %r4, [q];
    }
    st.global.u32 [%rd2], %r4;
"#,
    ),
    // Bytes of word 0, but for one of another word: the last, which nobody looks at.
    (
        "bytes",
        r#"
    ld.global.u8 %rs1, [%rd1];
    ld.global.u8 %rs2, [%rd3];
    {
        .param .align 4 .b8 p[4];
        .param .b32 q;
        st.param.b8 [p], %rs1;
        st.param.b8 [p+1], %rs1;
        st.param.b8 [p+2], %rs1;
        st.param.b8 [p+3], %rs2;
        call.uni (q), middle, (p);
        ld.param.b32 %r4, [q];
    }
    st.global.u32 [%rd2], %r4;
"#,
    ),
];

fn module() -> String {
    let entry = |(name, body): &(&str, &str)| {
        format!(
            ".visible .entry {name}(.param .u64 a, .param .u64 out, .param .u32 word)\n{{\n\
             .reg .pred %p<4>;\n.reg .b16 %rs<4>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<8>;\n\
             ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [out];\nld.param.u32 %r1, [word];\n\
             mad.wide.u32 %rd3, %r1, 4, %rd1;\n{body}ret;\n}}\n"
        )
    };
    FUNCTIONS.to_owned() + &KERNELS.iter().map(entry).collect::<String>()
}

fn run_on(kernel: &str, word: u32) -> Outcome {
    let module = load(&module());
    let mut memory = memory();
    let a = memory.alloc("a", 64).expect("fits");
    memory.write(a, &[5, 0, 0, 0, 77, 0, 0, 0]).expect("inside");
    let out = memory.alloc("out", 64).expect("fits");
    run(&module, &mut memory, &Launch::new(kernel, [1, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(out).arg_u32(word))
}

#[test]
fn undefined_values_are_followed_through_calls() {
    for kernel in ["branch", "compute", "turned"] {
        for word in [0, 1] {
            let outcome = run_on(kernel, word);
            assert!(outcome.completed && outcome.faults.is_empty(), "{kernel}: {:#?}", outcome.faults);
        }
        let outcome = run_on(kernel, 5);
        assert_eq!(kinds(&outcome), [FaultKind::Uninitialised], "{kernel}: {:#?}", outcome.faults);
        assert!(outcome.faults[0].message.contains("`a`[5]"), "{}", outcome.faults[0].message);
    }
}

#[test]
fn what_a_function_does_not_use_may_be_undefined() {
    for kernel in ["keep", "pair", "bytes"] {
        for word in [0, 1, 5] {
            let outcome = run_on(kernel, word);
            assert!(outcome.completed && outcome.faults.is_empty(), "{kernel}: {:#?}", outcome.faults);
        }
    }
}
