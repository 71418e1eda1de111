//! Bytes that nobody wrote and that are only put elsewhere, as copies of structures do with padding.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Module};

/// Word `t` of `in` has one defined byte, its lowest, which is 7; and what faults a kernel has that loads it into `%r`.
fn faults(body: &str) -> Vec<FaultKind> {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b16 %h<4>;\n.reg .b32 %t, %r, %s, %v;\n.reg .b64 %in, %out, %w, %x;\n\
         ld.param.u64 %in, [in];\ncvta.to.global.u64 %in, %in;\nld.param.u64 %out, [out];\ncvta.to.global.u64 %out, %out;\n\
         mov.u32 %t, %tid.x;\nmad.wide.u32 %in, %t, 4, %in;\nmad.wide.u32 %out, %t, 8, %out;\n\
         ld.global.u32 %r, [%in];\n{body}\nret;\n}}\n"
    );
    let module = Module::load(&ptx).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = memory();
    let input = memory.alloc("in", 128).expect("fits");
    let output = memory.alloc("out", 256).expect("fits");
    for thread in 0..32 {
        memory.write(input + 4 * thread, &[7]).expect("inside");
    }
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(input).arg_u64(output);
    kinds(&run_with(&module, &mut memory, &launch, &Default::default()))
}

#[test]
fn parts_that_are_only_put_elsewhere_are_copied() {
    // By shifts, by bytes that change places, and by fields.
    assert_eq!(faults("shr.u32 %s, %r, 8;\nst.global.b8 [%out], %s;\nst.global.b8 [%out+1], %r;"), []);
    assert_eq!(faults("prmt.b32 %s, %r, 0, 0x3210;\nshr.u32 %s, %s, 16;\nst.global.b16 [%out], %s;"), []);
    assert_eq!(faults("bfe.u32 %s, %r, 24, 8;\nst.global.b8 [%out+3], %s;"), []);
    // A word that was put together from parts, and taken apart again.
    let joined = "and.b32 %s, %r, 0xffffff00;\nand.b32 %v, %r, 255;\nor.b32 %s, %s, %v;\n\
                  cvt.u64.u32 %w, %s;\nshl.b64 %w, %w, 32;\ncvt.u64.u32 %x, %t;\nor.b64 %w, %w, %x;\n";
    assert_eq!(
        faults(&format!("{joined}st.global.b32 [%out], %w;\nshr.u64 %x, %w, 56;\nst.global.b8 [%out+7], %x;")),
        []
    );
}

#[test]
fn what_was_joined_with_them_is_computed() {
    let told = [FaultKind::Uninitialised];
    assert_eq!(faults("shr.u32 %s, %r, 8;\nxor.b32 %s, %s, 5;\nst.global.b8 [%out], %s;"), told);
    assert_eq!(faults("shr.u32 %s, %r, 8;\nshr.u32 %v, %r, 16;\nxor.b32 %s, %s, %v;\nst.global.b8 [%out], %s;"), told);
    // A number of which the lowest bits are undefined, with zeros above.
    assert_eq!(faults("shr.u32 %s, %r, 24;\nst.global.b32 [%out], %s;"), told);
    assert_eq!(faults("shr.u32 %s, %r, 8;\nadd.u32 %s, %s, 1;\nst.global.b8 [%out], %s;"), told);
}
