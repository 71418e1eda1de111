//! What a launch keeps of its module: no more than its kernel reaches, and of the launch before only what is the same again.

mod common;

use common::{download_u32, kinds, load, memory, run_clean, run_with, upload_u32};
use ptx_emulator::{Counters, FaultKind, Launch, Options};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";
/// Device functions, each with accesses of its own.
const TWICE: &str = ".func (.reg .b32 r) twice(.reg .b32 x) {\n.local .align 4 .b8 place[4];\n.reg .b64 %p;\n\
                     mov.u64 %p, place; st.local.u32 [%p], x; ld.local.u32 r, [%p]; add.u32 r, r, r; ret; }\n";
const NEXT: &str = ".func (.reg .b32 r) next(.reg .b32 x) { add.u32 r, x, 1; ret; }\n";

/// A kernel that calls those two directly, or the second through a pointer.
fn kernel(name: &str, by_pointer: bool) -> String {
    let call = match by_pointer {
        true => "mov.u64 %f, next; call (%x), %f, (%x), form;",
        false => "call (%x), next, (%x);",
    };
    format!(
        ".visible .entry {name}(.param .u64 c) {{\n.reg .b32 %tid, %x; .reg .b64 %c, %t, %f; .reg .pred %p;\n\
         form: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n\
         ld.param.u64 %c, [c]; mov.u32 %tid, %tid.x; mul.wide.u32 %t, %tid, 8; add.u64 %c, %c, %t;\n\
         ld.global.u32 %x, [%c]; call (%x), twice, (%x); {call}\n\
         setp.gt.u32 %p, %tid, 40; @%p bra OUT; st.global.u32 [%c], %x;\nOUT: bar.sync 0; ret; }}\n"
    )
}

fn counters(text: &str, name: &str) -> Counters {
    let (module, mut memory) = (load(text), memory());
    let c = upload_u32(&mut memory, "c", &[5; 128]);
    let outcome = run_clean(&module, &mut memory, &Launch::new(name, [1, 1, 1], [64, 1, 1]).arg_u64(c));
    let expected: Vec<u32> = (0..128).map(|word| if word % 2 == 0 && word <= 80 { 11 } else { 5 }).collect();
    assert_eq!(download_u32(&memory, c, 128), expected);
    outcome.counters
}

#[test]
fn what_a_kernel_counts_does_not_depend_on_the_rest_of_its_module() {
    let other = |name: &str| {
        format!(
            ".visible .entry {name}(.param .u64 a) {{ .reg .b64 %a; .reg .b32 %x; ld.param.u64 %a, [a]; \
             ld.global.u32 %x, [%a]; add.u32 %x, %x, 1; st.global.u32 [%a+4], %x; ret; }}\n"
        )
    };
    for by_pointer in [false, true] {
        let own = kernel("own", by_pointer);
        let alone = counters(&format!("{HEAD}{TWICE}{NEXT}{own}"), "own");
        assert_eq!((alone.global_load.requests, alone.global_store.requests, alone.barriers), (2, 2, 2));
        assert_eq!((alone.local_load.requests, alone.local_store.requests), (2, 2));
        let declared = ".func (.reg .b32 r) next(.reg .b32 x);\n";
        for text in [
            format!("{HEAD}{TWICE}{NEXT}{}{own}{}", other("before"), other("behind")),
            format!("{HEAD}{}{TWICE}{}{NEXT}{own}", other("before"), other("between")),
            // A function that stands behind the kernel that calls it.
            format!("{HEAD}{declared}{TWICE}{own}{}{NEXT}{}", other("between"), other("behind")),
        ] {
            assert_eq!(counters(&text, "own"), alone, "{text}");
        }
    }
}

#[test]
fn whose_parts_are_whose_is_asked_anew_when_anything_changed() {
    // Thread t of block b writes word t + b * step.
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 c, .param .u32 step) {{\n.reg .b32 %t, %b, %s; .reg .b64 %c, %o;\n\
         ld.param.u64 %c, [c]; ld.param.u32 %s, [step]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n\
         mad.lo.u32 %t, %b, %s, %t; mul.wide.u32 %o, %t, 4; add.u64 %c, %c, %o; st.global.u32 [%c], %b; ret; }}\n"
    );
    let (module, mut memory) = (load(&text), memory());
    let c = upload_u32(&mut memory, "c", &[0; 256]);
    let mut faults = |blocks: u32, threads: u32, step: u32| {
        let launch = Launch::new("k", [blocks, 1, 1], [threads, 1, 1]).arg_u64(c).arg_u32(step);
        kinds(&run_with(&module, &mut memory, &launch, &Options::default()))
    };
    for _ in 0..2 {
        for _ in 0..2 {
            assert_eq!(faults(4, 64, 64), []);
        }
        for _ in 0..2 {
            assert!(faults(4, 64, 32).contains(&FaultKind::Race), "another argument");
        }
        assert_eq!(faults(4, 32, 32), []);
        assert!(faults(4, 64, 32).contains(&FaultKind::Race), "other blocks");
        assert_eq!(faults(1, 64, 32), []);
        assert!(faults(2, 64, 32).contains(&FaultKind::Race), "another grid");
    }
}
