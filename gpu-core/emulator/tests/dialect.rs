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

#[test]
fn constants_may_be_expressions() {
    // Values as ptxas 13.5 has them.
    let cases: &[(&str, i64)] = &[
        ("3+4*2", 11),
        ("(1<<4)|3", 19),
        ("-7/2", -3),
        ("0xffffffffffffffff>>60", 15),
        ("7 % -4", 3),
        ("-7 % 4", -3),
        ("1 ? 2 : 3 ? 4 : 5", 2),
        ("1<<2+1", 8),
        ("-7>>1", -4),
        ("(.u64)-7>>60", 15),
        ("3>2?5U:6", 5),
        ("-7/2U", 0x7fff_ffff_ffff_fffc),
        ("-1 < 1U", 0),
        ("-1<1", 1),
        ("!5", 0),
        ("~5", -6),
        ("1||0 && 0", 1),
        ("1|2^3&1", 3),
        ("0 - 1 >> 1", -1),
        ("1 == 2 < 3", 1),
        ("WARP_SZ*2", 64),
        ("5U - 6 > 0", 1),
        ("0xffffffffffffffff / 2", i64::MAX),
        ("1.5 < 2.0", 1),
    ];
    let mut body = String::from(".global .u64 variables[] = {");
    body += &cases.iter().map(|case| case.0).collect::<Vec<_>>().join(", ");
    body += "};\n.global .f64 half[2] = {1.5*2.0, -(2.5)};\n.visible .entry k(.param .u64 out) {\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\n";
    for (index, (expression, _)) in cases.iter().enumerate() {
        body += &format!("mov.u64 %rd2, {expression};\nst.global.u64 [%rd1+{index}*16], %rd2;\n");
        body += &format!("ld.global.u64 %rd2, variables[{index}];\nst.global.u64 [%rd1+{index}*16+8], %rd2;\n");
    }
    let end = 16 * cases.len();
    body +=
        &format!("ld.global.v2.u64 {{%rd2, %rd3}}, [half];\nst.global.v2.u64 [%rd1+{end}], {{%rd2, %rd3}};\nret;\n}}");
    let module = load(&wrap(&body));
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &vec![0; end / 4 + 4]);
    run_clean(&module, &mut memory, &Launch::new("k", [1, 1, 1], [1, 1, 1]).arg_u64(out));
    let got = download_u32(&memory, out, end / 4 + 4);
    let word = |at: usize| (u64::from(got[2 * at + 1]) << 32 | u64::from(got[2 * at])) as i64;
    for (index, (expression, value)) in cases.iter().enumerate() {
        assert_eq!((word(2 * index), word(2 * index + 1)), (*value, *value), "{expression}");
    }
    assert_eq!([word(end / 8), word(end / 8 + 1)].map(|bits| f64::from_bits(bits as u64)), [3.0, -2.5]);
    for wrong in ["1/0", "1.5+1", "h*2", "(1", "1 ? 2", "~1.5", "0f3F800000*2"] {
        let text = format!(".global .u64 h;\n.global .u64 x = {wrong};\n.visible .entry k() {{ ret; }}");
        assert!(Module::load(&wrap(&text)).is_err(), "{wrong}");
    }
    let deep = format!(".visible .entry k() {{ .reg .b32 %r<2>; mov.u32 %r1, {}; ret; }}", "(-".repeat(100_000));
    assert!(Module::load(&wrap(&deep)).is_err());
}

#[test]
fn elements_of_arrays_are_named() {
    let text = "
.global .u32 g[4] = {10, 20, 30, 40};
.global .v2 .u32 pairs[2] = {1, 2, 3, 4};
.shared .u16 s[8];
.visible .entry k(.param .u64 out) {
    .local .u32 l[4];
    .reg .b64 %rd<4>;
    .reg .b32 %r<9>;
    .reg .b16 %h<2>;
    .reg .v4 .u32 v;
    ld.param.u64 %rd1, [out];
    ld.global.u32 %r1, g[1];
    mov.u32 %r2, 2;
    ld.global.u32 %r3, g[%r2];
    ld.global.u32 %r4, g[%r2+1];
    mov.u64 %rd2, g[3];
    ld.global.u32 %r5, [%rd2];
    ld.u32 %r6, g[0];
    ld.global.v2.u32 {%r7, %r8}, pairs[2];
    st.global.v4.u32 [%rd1], {%r1, %r3, %r4, %r5};
    st.global.v4.u32 [%rd1+16], {%r6, %r7, %r8, %r2};
    mov.u16 %h1, 77;
    st.shared.u16 s[%r2], %h1;
    ld.shared.u16 %r1, [s+4];
    mov.u64 %rd3, 3;
    st.local.u32 l[%rd3], 99;
    ld.local.u32 %r3, l[3];
    mov.v4.u32 v, %ntid;
    mov.v4.u32 {%r4, _, %r5, %r6}, %tid;
    add.u32 %r7, v.x, v.w;
    st.global.v4.u32 [%rd1+32], {%r1, %r3, %r7, %r6};
    ret;
}";
    assert_eq!(output(text, 12), [20, 30, 40, 40, 10, 3, 4, 2, 77, 99, 1, 0]);
    for (line, says) in [
        ("ld.global.u32 %r1, x[1];", "no array"),
        ("atom.global.add.u32 %r1, g[1], 1;", "brackets"),
        ("ld.u32 %r1, s[%r1];", "state space"),
    ] {
        let text = format!(
            ".global .u32 g[4];\n.shared .u32 s[4];\n.visible .entry k() {{ .reg .b32 %r<2>; mov.u32 %r1, 0; {line} ret; }}"
        );
        let error = Module::load(&wrap(&text)).expect_err(line);
        assert!(error.to_string().contains(says), "{error}");
    }
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

/// Another of a fuzzer's finds: mixed precision with too few operands.
#[test]
fn missing_operands_are_counted_before_they_are_read() {
    for line in ["add.f32.f16 %r1;", "fma.rn.f32.bf16 %r1, %h1;", "sub.f32.bf16;"] {
        let text = format!(
            ".version 9.0\n.target sm_120a\n.address_size 64\n\
             .visible .entry k() {{ .reg .b32 %r<3>; .reg .b16 %h<3>; {line} ret; }}"
        );
        let error = Module::load(&text).expect_err(line);
        assert!(error.to_string().contains("operands"), "{error}");
    }
}

#[test]
fn opcodes_may_be_written_in_pieces() {
    let text = "
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<4>;
    .reg .f32 %f<2>;
    .reg .pred %p;
    ld .param .u64 %rd1, [out];
    add/* one */.u32 %r1, %tid .x, 1;
    setp .eq // two
        .u32 %p, %r1, 1;
    @ !%p add .u32 %r1, %r1, 5;
    @%p add .u32 %r1, %r1, 6;
    st .global.u32 [%rd1], %r1;
    mov.f32 %f1, -.5;
    mul.f32 %f1, %f1, .25e1;
    st.global.f32 [%rd1+4], %f1;
    ret .uni;
}";
    assert_eq!(output(text, 2), [7, (-1.25f32).to_bits()]);
    // Errors still name their line.
    let wrong = Module::load(&wrap("\n.visible .entry k() {\n add\n .u32\n 5;\n nothing .u32 1;\n}")).unwrap_err();
    assert!(wrong.problems.iter().any(|problem| problem.ptx_line == 9), "{wrong}");
}

#[test]
fn parameters_of_functions_have_addresses() {
    let text = "
.func (.param .b32 sum) pick(.param .align 8 .b8 list[12], .param .b32 index) {
    .reg .b64 %a, %g;
    .reg .b32 %i, %x, %y;
    mov.b64 %a, list;
    cvta.local.u64 %g, %a;
    ld.param.u32 %i, [index];
    mul.wide.u32 %a, %i, 4;
    add.u64 %a, %g, %a;
    .reg .pred %large;
    setp.gt.u32 %large, %i, 1;
    @%large bra $two;
    ld.u32 %x, [%a];
    bra $both;
$two:
    mov.u32 %x, 9;
$both:
    // Through the pointer and by name it is the same memory.
    st.u32 [%g+8], 100;
    ld.param.u32 %y, [list+8];
    add.u32 %x, %x, %y;
    st.param.b32 [sum], %x;
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 1;
$again:
    {
    .param .align 8 .b8 list[12];
    .param .b32 index;
    .param .b32 sum;
    st.param.v2.b32 [list], {5, 7};
    st.param.b32 [list+8], 9;
    st.param.b32 [index], %r1;
    call.uni (sum), pick, (list, index);
    ld.param.b32 %r2, [sum];
    }
    st.global.u32 [%rd1], %r2;
    add.u64 %rd1, %rd1, 4;
    add.u32 %r1, %r1, 1;
    .reg .pred %p;
    setp.lt.u32 %p, %r1, 3;
    @%p bra $again;
    ret;
}";
    assert_eq!(output(text, 2), [107, 109]);
}

#[test]
fn functions_with_registers_for_parameters_branch() {
    let text = "
.func (.reg .u32 sum) count(.reg .u32 n, .reg .u32 step) {
    .reg .pred %p;
    mov.u32 sum, 0;
$again:
    add.u32 sum, sum, step;
    sub.u32 n, n, 1;
    setp.ne.u32 %p, n, 0;
    @%p bra $again;
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<4>;
    ld.param.u64 %rd1, [out];
    call.uni (%r1), count, (5, 3);
    st.global.u32 [%rd1], %r1;
    ret;
}";
    assert_eq!(output(text, 1), [15]);
}

#[test]
fn a_number_may_be_added_to_a_register_in_passing() {
    let text = "
.visible .entry k(.param .u64 out) {
    .local .align 8 .b8 place[8];
    .reg .b64 %rd<4>;
    .reg .b32 a, b;
    .reg .b16 h;
    .reg .pred p;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, 0xffffffff;
    st.local.u64 [place], %rd2 + 1;
    ld.local.u64 %rd3, [place];
    st.global.u64 [%rd1], %rd3;
    mov.u32 a, 5;
    mul.lo.u32 b, a+3, a+4;
    st.global.u32 [%rd1+8], b;
    mov.u16 h, 0xffff;
    st.global.u16 [%rd1+12], h+2;
    // A guard holds for the sum too, and the register stays as it is.
    setp.eq.u32 p, a+1, 5;
    @!p mov.u32 b, a+0x1ffffffff;
    st.global.u32 [%rd1+16], b;
    st.global.u32 [%rd1+20], a;
    bar.sync a+1;
    ret;
}";
    assert_eq!(output(text, 6), [0, 1, 72, 1, 4, 5]);
    let wrong = wrap(".entry k() { .reg .b32 a, b; mov.b32 a+1, b; ret; }");
    let error = Module::load(&wrong).expect_err("no result").to_string();
    assert!(error.contains("the result of `mov.b32` must be a register"), "{error}");
}

#[test]
fn functions_and_scopes_have_shared_variables_of_their_own() {
    let text = wrap(
        "
.shared .align 4 .b8 s[8];
.func (.reg .b32 x) f() { .shared .align 4 .b8 s[32]; st.shared.u32 [s+28], 5; ld.shared.u32 x, [s+28]; ret; }
.visible .entry a(.param .u64 out) {
    .shared .align 4 .b8 s[16];
    .reg .b64 d;
    .reg .b32 x;
    ld.param.u64 d, [out];
    st.shared.u32 [s+12], 7;
    ld.shared.u32 x, [s+12];
    st.global.u32 [d], x;
    ret;
}
.visible .entry b(.param .u64 out) {
    .shared .align 4 .b8 s[64];
    .reg .b64 d;
    .reg .b32 x, y;
    ld.param.u64 d, [out];
    st.shared.u32 [s+28], 9;
    call (y), f, ();
    ld.shared.u32 x, [s+28];
    st.global.u32 [d], x;
    st.global.u32 [d+4], y;
    ret;
}
.visible .entry k(.param .u64 out) {
    .reg .b64 d;
    .reg .b32 x, y, z;
    ld.param.u64 d, [out];
    st.shared.u32 [s+4], 2;
    {
        .shared .align 4 .b8 s[4];
        st.shared.u32 [s], 3;
        ld.shared.u32 y, [s];
    }
    {
        .shared .align 4 .b8 s[128];
        st.shared.u32 [s+124], 4;
        ld.shared.u32 x, [s+124];
    }
    ld.shared.u32 z, [s+4];
    st.global.u32 [d], x;
    st.global.u32 [d+4], y;
    st.global.u32 [d+8], z;
    ret;
}",
    );
    let module = load(&text);
    for (name, bytes, wanted) in [("a", 16, vec![7]), ("b", 64 + 32, vec![9, 5]), ("k", 4 + 128 + 8, vec![4, 3, 2])] {
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[0; 32]);
        run_clean(&module, &mut memory, &Launch::new(name, [1, 1, 1], [1, 1, 1]).arg_u64(out));
        assert_eq!(download_u32(&memory, out, wanted.len()), wanted, "{name}");
        assert_eq!(module.kernel(name).expect("a kernel").static_shared_bytes, bytes, "{name}");
    }
}

#[test]
fn an_access_without_a_space_goes_to_the_variable_it_names() {
    let text = "
.global .align 8 .b8 g[16];
.visible .entry k(.param .u64 out) {
    .local .align 8 .b8 a[8];
    .local .align 8 .b8 b[16];
    .shared .align 8 .b8 s[16];
    .reg .b64 d, p;
    .reg .b32 x<8>;
    ld.param.u64 d, [out];
    st.u32 [a+4], 1;
    st.u32 [b+8], 2;
    st.u32 [s+8], 3;
    st.u32 [g+8], 4;
    ld.u32 x0, [a+4];
    mov.u64 p, b;
    ld.local.u32 x1, [p+8];
    ld.shared.u32 x2, [s+8];
    ld.global.u32 x3, [g+8];
    st.v2.u32 [b], {x2, x3};
    ld.local.v2.u32 {x4, x5}, [b];
    st.global.v4.u32 [d], {x0, x1, x2, x3};
    st.global.v2.u32 [d+16], {x4, x5};
    ret;
}";
    assert_eq!(output(text, 6), [1, 2, 3, 4, 3, 4]);
}
