//! Undefined elements in products of matrices: told in the results that need them, and in no others.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch};

/// A word of shared memory for each lane, of which those of `written` lanes have ones of f16; then `body` makes `%r20` to
/// `%r23` of it (`%r4`) and of ones (`%r5`), and lanes of `stored` store `%r20` plus 1.
fn kernel(written: &str, body: &str, stored: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<32>; .reg .b64 %rd<4>; .reg .pred %p<4>;\n.shared .align 16 .b8 s[128];\n\
         ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nand.b32 %r7, %r1, 3;\nmov.u32 %r2, s;\nmov.b32 %r5, 0x3c003c00;\n\
         mov.b32 %r6, 0;\nshl.b32 %r3, %r1, 2;\nadd.u32 %r3, %r3, %r2;\nsetp.{written};\n@%p1 st.shared.b32 [%r3], %r5;\n\
         bar.warp.sync 0xffffffff;\n{body}\nsetp.{stored};\nadd.u32 %r20, %r20, 1;\nmul.wide.u32 %rd2, %r1, 4;\n\
         add.u64 %rd2, %rd2, %rd1;\n@%p1 st.global.u32 [%rd2], %r20;\nret;\n}}\n"
    )
}

/// The product with these operands; `result` is the register that is stored.
fn product(a: &str, b: &str, c: &str, result: usize) -> String {
    let d: Vec<String> = (0..4).map(|i| format!("%r{}", 20 + (i + 4 - result) % 4)).collect();
    format!(
        "ld.shared.b32 %r4, [%r3];\nmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{{}}}, {{{a}}}, {{{b}}}, {{{c}}};",
        d.join(", ")
    )
}

const LOAD: &str = "and.b32 %r8, %r1, 7;\nshl.b32 %r8, %r8, 4;\nadd.u32 %r8, %r8, %r2;\n";

/// Whether what is stored of it counts as undefined.
fn is_undefined(ptx: &str) -> bool {
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 32]);
    let outcome = run(&load(ptx), &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(out));
    assert!(outcome.faults.iter().all(|fault| fault.kind == FaultKind::Uninitialised), "{:?}", outcome.faults);
    !outcome.faults.is_empty()
}

#[test]
fn a_result_needs_its_row_its_column_and_its_own_summand() {
    let (ones, b, zeros) = ("%r5, %r5, %r5, %r5", "%r5, %r5", "%r6, %r6, %r6, %r6");
    let (all, none) = ("ge.u32 %p1, %r1, 0", "lt.u32 %p1, %r1, 0");
    // Rows 8 to 15 of A are in its second and fourth register, and in the last two of D.
    let rows = |result| kernel(none, &product("%r5, %r4, %r5, %r4", b, zeros, result), all);
    assert_eq!([0, 1, 2, 3].map(|result| is_undefined(&rows(result))), [false, false, true, true]);
    // Row 7 is that of the last four lanes.
    let row = |stored| kernel("lt.u32 %p1, %r1, 28", &product("%r4, %r5, %r5, %r5", b, zeros, 0), stored);
    assert!(!is_undefined(&row("lt.u32 %p1, %r1, 28")));
    assert!(is_undefined(&row("ge.u32 %p1, %r1, 28")));
    // Columns 4 to 7 of B are those of the last 16 lanes; of D, those of the last two lanes of four.
    let columns = |stored| kernel("lt.u32 %p1, %r1, 16", &product(ones, "%r5, %r4", zeros, 0), stored);
    assert!(!is_undefined(&columns("lt.u32 %p1, %r7, 2")));
    assert!(is_undefined(&columns("ge.u32 %p1, %r7, 2")));
    let summands =
        |stored, result| kernel("lt.u32 %p1, %r1, 16", &product(ones, b, "%r6, %r4, %r6, %r6", result), stored);
    assert!(!is_undefined(&summands("lt.u32 %p1, %r1, 16", 1)));
    assert!(is_undefined(&summands("ge.u32 %p1, %r1, 16", 1)));
    assert!(!is_undefined(&summands("ge.u32 %p1, %r1, 16", 0)));
}

#[test]
fn a_matrix_that_is_loaded_lacks_the_rows_that_nobody_wrote() {
    // Row 7 is the last 16 bytes.
    let load = |form: &str, then: &str, stored: &str| {
        let body = format!("{LOAD}ldmatrix.sync.aligned.m8n8.x1{form}.shared.b16 {{%r20}}, [%r8];\n{then}");
        kernel("lt.u32 %p1, %r1, 28", &body, stored)
    };
    assert!(!is_undefined(&load("", "", "lt.u32 %p1, %r1, 28")));
    assert!(is_undefined(&load("", "", "ge.u32 %p1, %r1, 28")));
    // Turned, its elements are the upper halves of every fourth lane.
    let (low, high) = ("and.b32 %r20, %r20, 0xffff;", "shr.u32 %r20, %r20, 16;");
    assert!(!is_undefined(&load(".trans", low, "ge.u32 %p1, %r1, 0")));
    assert!(!is_undefined(&load(".trans", high, "lt.u32 %p1, %r7, 3")));
    assert!(is_undefined(&load(".trans", high, "eq.u32 %p1, %r7, 3")));
}
