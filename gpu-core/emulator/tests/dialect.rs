//! PTX that people write by hand and NVRTC does not: vector registers, functions whose parameters are registers,
//! variables inside functions.

mod common;

use common::*;
use ptx_emulator::{Launch, Module};

fn wrap(body: &str) -> String {
    format!(".version 8.0\n.target sm_80\n.address_size 64\n{body}")
}

/// Runs `k` with two threads and gives the first `count` words of its output.
fn output(text: &str, count: usize) -> Vec<u32> {
    let module = load(&wrap(text));
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 32]);
    run_clean(&module, &mut memory, &Launch::new("k", [1, 1, 1], [1, 1, 1]).arg_u64(out));
    download_u32(&memory, out, count)
}

#[test]
fn vector_registers_are_taken_apart() {
    let text = "
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd<2>;
    .reg .v4 .u32 a, b;
    .reg .v2.u32 h<2>;
    .reg .b64 packed;
    .reg .u32 x, y, z, w;
    ld.param.u64 %rd1, [out];
    mov.u32 a.x, 1;
    mov.u32 a.y, 2;
    mov.u32 a.z, 3;
    mov.u32 a.w, 4;
    mov.v4.u32 {x, y, z, w}, a;
    mov.v4.u32 {y, z, w, x}, {x, y, z, w};
    mov.v4.u32 b, {x, y, z, w};
    st.global.v4.u32 [%rd1], b;
    ld.global.v4.u32 a, [%rd1];
    add.u32 a.r, a.g, a.b;
    mov.v4.u32 b, a;
    st.global.v4.u32 [%rd1+16], b;
    mov.u32 h0.x, 7;
    mov.u32 h0.y, 8;
    mov.b64 packed, h0;
    mov.b64 h1, packed;
    st.global.v2.u32 [%rd1+32], h1;
    st.global.u64 [%rd1+40], packed;
    ret;
}";
    assert_eq!(output(text, 12), [4, 1, 2, 3, 3, 1, 2, 3, 7, 8, 7, 8]);
}

#[test]
fn parameters_and_results_may_be_registers() {
    let text = "
.func (.reg .u64 sum, .reg .pred large) add(.reg .u64 a, .reg .u32 b, .reg .v2 .u32 c, .reg .pred twice) {
    .reg .b64 t;
    cvt.u64.u32 t, b;
    add.u64 sum, a, t;
    cvt.u64.u32 t, c.y;
    add.u64 sum, sum, t;
    @twice add.u64 sum, sum, sum;
    setp.gt.u64 large, sum, 100;
    @large ret;
    add.u64 sum, sum, 1000;
}
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<3>;
    .reg .v2 .u32 c;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 20;
    mov.u32 c.y, 3;
    mov.u32 c.x, 999;
    setp.eq.u32 %p1, %r1, 20;
    call (%rd2, %p2), add, (40, %r1, c, %p1);
    selp.u32 %r2, 1, 0, %p2;
    st.global.u64 [%rd1], %rd2;
    st.global.u32 [%rd1+8], %r2;
    setp.ne.u32 %p1, %r1, 20;
    call (%rd2, %p2), add, (40, 5, c, %p1);
    selp.u32 %r2, 1, 0, %p2;
    st.global.u64 [%rd1+16], %rd2;
    st.global.u32 [%rd1+24], %r2;
    ret;
}";
    assert_eq!(output(text, 7), [126, 0, 1, 0, 1048, 0, 0]);
}

#[test]
fn functions_have_global_variables_of_their_own() {
    let text = "
.global .u32 shared_name = 5;
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<5>;
    .global .u32 table[3] = {10, 20, 30};
    .const .u32 one = 1;
    .global .u64 pointer = shared_name;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, table;
    ld.global.u32 %r1, [%rd2+8];
    ld.const.u32 %r2, [one];
    ld.global.u64 %rd3, [pointer];
    ld.global.u32 %r3, [%rd3];
    add.u32 %r4, %r1, %r2;
    st.global.v2.u32 [%rd1], {%r4, %r3};
    ret;
}";
    assert_eq!(output(text, 2), [31, 5]);
}

/// What a fuzzer found: such instructions once wrote past their registers.
#[test]
fn registers_narrower_than_the_type_are_refused() {
    for line in [
        "cvt.ftz.f64.f32 %r1, %r2;",
        "cvt.rn.f32.s64 %r1, %r2;",
        "ld.global.u64 %r1, [%rd1];",
        "st.global.u64 [%rd1], %r1;",
        "ld.global.v2.u32 {%r1, %rd2}, [%rd1];",
        "st.global.v2.u32 [%rd1], {%r1, %rd2};",
        "mov.v2.u64 {%r1, %rd2}, {%rd1, %rd2};",
    ] {
        let text = format!(".visible .entry k() {{ .reg .b32 %r<3>; .reg .b64 %rd<3>; {line} ret; }}");
        let error = Module::load(&wrap(&text)).expect_err(line);
        assert_eq!(error.problems.len(), 1, "{error}");
        assert!(error.to_string().contains("bits"), "{error}");
    }
}
