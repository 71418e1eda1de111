//! Stores and reductions that release asynchronously (`st.async`, `red.async` on global memory), and `multimem`, whose
//! team is one device: each row of the table is one form and what it leaves behind.

mod common;

use common::*;
use ptx_emulator::Launch;

/// Architecture; what runs with the place in %l1 (which holds 12, 3) and 5 in %r1, %l2, %f1, %d1; the two words after it.
const FORMS: &[(&str, &str, [u32; 2])] = &[
    ("sm_100a", "st.async.mmio.release.sys.global.b32 [%l1], %r1;", [5, 3]),
    ("sm_100a", "st.async.mmio.release.sys.global.u64 [%l1], %l2;", [5, 0]),
    ("sm_120a", "st.async.mmio.release.gpu.global.f32 [%l1], %f1;", [0x40a0_0000, 3]),
    ("sm_120a", "st.async.release.sys.global.u16 [%l1+4], %h1;", [12, 5]),
    ("sm_120a", "red.async.mmio.release.sys.global.add.u32 [%l1], %r1;", [17, 3]),
    ("sm_120a", "red.async.mmio.release.sys.global.min.s32 [%l1], %r1;", [5, 3]),
    ("sm_120a", "red.async.mmio.release.sys.global.inc.u32 [%l1+4], %r1;", [12, 4]),
    ("sm_120a", "red.async.release.gpu.global.xor.b32 [%l1], %r1;", [9, 3]),
    ("sm_120a", "red.async.release.gpu.global.add.u64 [%l1], %l2;", [17, 3]),
    ("sm_90a", "multimem.ld_reduce.relaxed.gpu.global.add.u32 %r2, [%l1]; st.global.u32 [%l1+4], %r2;", [12, 12]),
    ("sm_90a", "multimem.ld_reduce.weak.global.and.b64 %l3, [%l1]; st.global.u64 [%l1], %l3;", [12, 3]),
    (
        "sm_90a",
        "multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v2.f16x2 {%r2, %r3}, [%l1]; st.global.v2.u32 [%l1], {%r3, %r2};",
        [3, 12],
    ),
    ("sm_100a", "multimem.ld_reduce.weak.global.add.acc::f16.e4m3x4 %r2, [%l1+4]; st.global.u32 [%l1], %r2;", [3, 3]),
    ("sm_90a", "multimem.st.relaxed.sys.global.u32 [%l1], %r1;", [5, 3]),
    ("sm_90a", "multimem.st.weak.global.v2.f32 [%l1], {%f1, %f1};", [0x40a0_0000, 0x40a0_0000]),
    ("sm_90a", "multimem.red.relaxed.gpu.global.max.u32 [%l1+4], %r1;", [12, 5]),
    ("sm_90a", "multimem.red.release.sys.global.add.u64 [%l1], %l2;", [17, 3]),
];

#[test]
fn every_form_leaves_what_it_says() {
    let mut wrong = Vec::new();
    for (arch, form, expect) in FORMS {
        let text = format!(
            ".version 9.2\n.target {arch}\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n\
             .reg .b16 %h<2>; .reg .b32 %r<4>; .reg .b64 %l<4>; .reg .f32 %f<2>;\nld.param.u64 %l1, [out];\n\
             mov.u16 %h1, 5; mov.u32 %r1, 5; mov.u64 %l2, 5; mov.f32 %f1, 0f40A00000;\n{form}\nret;\n}}\n"
        );
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[12, 3]);
        run_clean(&load(&text), &mut memory, &Launch::new("k", [1, 1, 1], [1, 1, 1]).arg_u64(out));
        let got = download_u32(&memory, out, 2);
        if got != expect {
            wrong.push(format!("{form}: {got:?}, not {expect:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
