//! Loads before which a pragma says that some bytes are not used, as compilers write them where they fill up a vector.

mod common;

use common::{download_u32, kinds, load, memory, run_clean, run_with, upload_u32};
use ptx_emulator::{FaultKind, Launch, Memory, Options, Outcome};

fn kernel(body: &str) -> String {
    format!(
        ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 c)\n{{\n\
         .reg .pred %p; .reg .b32 %tid, %x<5>; .reg .b64 %a, %c, %t, %w<3>;\n.shared .align 16 .b8 cells[28];\n\
         ld.param.u64 %a, [a]; ld.param.u64 %c, [c]; mov.u32 %tid, %tid.x; mul.wide.u32 %t, %tid, 16;\n\
         mov.u32 %x0, 7; mov.u32 %x1, 7; mov.u32 %x2, 7; mov.u32 %x3, 7;\n{body}\nret;\n}}\n"
    )
}

/// Of 11 words to 4 or more; `threads` of them run.
fn outcome(body: &str, threads: u32, options: &Options) -> (Outcome, Vec<u32>) {
    let mut memory: Memory = memory();
    let a = upload_u32(&mut memory, "a", &(0..11).map(|word| 0x1020_3040 + word).collect::<Vec<_>>());
    let c = upload_u32(&mut memory, "c", &[0; 128]);
    let launch = Launch::new("k", [1, 1, 1], [threads, 1, 1]).arg_u64(a).arg_u64(c);
    let outcome = run_with(&load(&kernel(body)), &mut memory, &launch, options);
    (outcome, download_u32(&memory, c, 4))
}

const WAYS: fn() -> [Options; 3] = || {
    let counted = Options { checks: ptx_emulator::Checks::NONE, ..Options::default() };
    [Options::default(), counted, Options::unchecked()]
};

const STORE: &str = "st.global.v4.b32 [%c], {%x0, %x1, %x2, %x3};";

#[test]
fn bytes_that_are_not_used_may_lie_behind_the_end() {
    for options in WAYS() {
        let load = "ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%a+32];";
        let all = outcome(&format!("{load} {STORE}"), 1, &options).0;
        assert_eq!(kinds(&all), [FaultKind::OutOfBounds], "{:#?}", all.faults);
        let (some, out) = outcome(&format!(".pragma \"used_bytes_mask 4095\";\n{load} {STORE}"), 1, &options);
        assert!(some.faults.is_empty(), "{:#?}", some.faults);
        assert_eq!(out[..3], [0x1020_3048, 0x1020_3049, 0x1020_304a]);
        // The pragma is of that load alone, and what is used must be there.
        for other in [
            format!(".pragma \"used_bytes_mask 4095\";\nmov.u32 %x0, 1;\n{load}"),
            format!(".pragma \"used_bytes_mask 0xf00f\";\n{load}"),
        ] {
            let outcome = outcome(&other, 1, &options).0;
            assert_eq!(kinds(&outcome), [FaultKind::OutOfBounds], "{other}");
        }
        let past = &outcome(&format!(".pragma \"used_bytes_mask 0xf00f\";\n{load}"), 1, &options).0.faults[0];
        assert_eq!((past.access_bytes, past.allocation.as_ref().map(|a| a.offset)), (4, Some(44)));
        let apart = format!(".pragma \"used_bytes_mask 15\";\n{}", load.replace("+32", "+4"));
        assert_eq!(kinds(&outcome(&apart, 1, &options).0), [FaultKind::Misaligned]);
    }
}

#[test]
fn parts_of_words_and_single_bytes_have_their_places() {
    for options in WAYS() {
        for (mask, load, bits, expected) in [
            (0x0003, "ld.global.b32 %x0, [%a+40];", 0xffff, 0x304a),
            (0x0007, "ld.global.b32 %x0, [%a+40];", 0xff_ffff, 0x20_304a),
            (0x0006, "ld.b32 %x0, [%a+40];", 0xff_ff00, 0x20_3000),
            (0x00f0, "ld.global.b64 %w0, [%a+32]; mov.b64 {%x1, %x0}, %w0;", u32::MAX, 0x1020_3049),
            (0x0f0f, "ld.global.v2.b64 {%w0, %w1}, [%a+32]; mov.b64 {%x0, %x1}, %w1;", u32::MAX, 0x1020_304a),
            (0x0001, "ld.global.v2.u16 {%x0, %x1}, [%a+40];", 0xff, 0x4a),
        ] {
            let text = format!(".pragma \"used_bytes_mask {mask}\";\n{load} st.global.b32 [%c], %x0;");
            let (outcome, out) = outcome(&text, 1, &options);
            assert!(outcome.faults.is_empty(), "{load}: {:#?}", outcome.faults);
            assert_eq!(out[0] & bits, expected, "{load}");
        }
    }
}

#[test]
fn others_may_write_what_is_not_used() {
    // Odd threads write the second word of what even ones read.
    let text = |pragma: &str| {
        format!(
            "and.b32 %x4, %tid, 1; setp.ne.u32 %p, %x4, 0; shr.u32 %x4, %tid, 1; mul.wide.u32 %t, %x4, 16;\n\
             add.u64 %t, %t, %c; @%p bra ODD;\n{pragma}ld.global.v4.b32 {{%x0, %x1, %x2, %x3}}, [%t];\n\
             st.global.b32 [%t], %x3; bra ON;\nODD: st.global.b32 [%t+4], %x4;\nON:"
        )
    };
    let options = Options::default();
    let race = outcome(&text(""), 32, &options).0;
    assert!(kinds(&race).contains(&FaultKind::Race), "{:#?}", race.faults);
    let (right, _) = outcome(&text(".pragma \"used_bytes_mask 65295\";\n"), 32, &options);
    assert!(right.faults.is_empty(), "{:#?}", right.faults);
    // The same in shared memory, of which only some is written.
    let shared = |mask: u32| {
        format!(
            "mov.u32 %x4, cells; setp.ne.u32 %p, %tid, 0; @!%p st.shared.b32 [%x4+16], %tid; bar.sync 0;\n\
             @%p bra ODD;\n.pragma \"used_bytes_mask {mask}\";\nld.shared.v4.b32 {{%x0, %x1, %x2, %x3}}, [%x4+16];\n\
             st.global.b32 [%c], %x0; setp.ne.u32 %p, %x2, 3; @%p bra ON; st.global.b32 [%c+4], %x2; bra ON;\nODD: st.shared.b32 [%x4+20], %tid;\nON:"
        )
    };
    let found = |mask| kinds(&outcome(&shared(mask), 2, &options).0);
    assert_eq!(found(0x000f), []);
    assert_eq!(found(0x00ff), [FaultKind::Race]);
    assert_eq!(found(0x0f0f), [FaultKind::Uninitialised]);
    assert_eq!(found(0xf00f), [FaultKind::OutOfBounds]);
}

#[test]
fn it_costs_what_the_whole_load_costs() {
    let text = |pragma: &str| {
        kernel(&format!(
            "add.u64 %t, %t, %a;\n{pragma}ld.global.v4.b32 {{%x0, %x1, %x2, %x3}}, [%t];\nmov.u32 %x4, cells;\n\
             st.shared.v4.b32 [%x4], {{%x0, %x0, %x0, %x0}};\nbar.sync 0;\n{pragma}ld.shared.v4.b32 {{%x0, %x1, %x2, %x3}}, [%x4];\n\
             st.global.b32 [%c], %x0;"
        ))
    };
    let mut memory = memory();
    let a = upload_u32(&mut memory, "a", &[5; 128]);
    let c = upload_u32(&mut memory, "c", &[0; 4]);
    let mut counted = |text: &str| {
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(c);
        run_clean(&load(text), &mut memory, &launch).counters
    };
    let (all, some) = (counted(&text("")), counted(&text(".pragma \"used_bytes_mask 4095\";\n")));
    assert_eq!(format!("{all:?}"), format!("{some:?}"));
    assert_eq!(all.global_load.sectors, 16);
}
