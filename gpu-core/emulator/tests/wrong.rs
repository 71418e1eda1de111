//! Kernels that are wrong, and near misses that are right.

mod common;

use std::time::Duration;

use common::*;
use ptx_emulator::{Fault, FaultKind, Launch, Memory, Options, Outcome};

const DIALECTS: [&str; 2] = [include_str!("ptx/wrong.sm_90a.ptx"), include_str!("ptx/wrong.sm_120a.ptx")];

/// Runs a kernel in both dialects with arguments made by `arguments`.
fn each(
    kernel: &str,
    grid: u32,
    block: u32,
    options: &Options,
    arguments: impl Fn(&mut Memory, Launch) -> Launch,
    check: impl Fn(&Outcome),
) {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let launch = arguments(&mut memory, Launch::new(kernel, [grid, 1, 1], [block, 1, 1]));
        check(&run_with(&module, &mut memory, &launch, options));
    }
}

fn expect(kernel: &str, grid: u32, block: u32, words: u64, kind: FaultKind) {
    each(
        kernel,
        grid,
        block,
        &Options::default(),
        |memory, launch| {
            let out = memory.alloc("out", 4 * words).expect("fits");
            memory.write(out, &vec![0; 4 * words as usize]).expect("inside");
            launch.arg_u64(out)
        },
        |outcome| {
            let fault = outcome.faults.first().unwrap_or_else(|| panic!("{kernel}: no fault"));
            assert_eq!(fault.kind, kind, "{kernel}: {fault:#?}");
            assert!(fault.source.is_some(), "{fault:#?}");
        },
    );
}

fn expect_clean(kernel: &str, grid: u32, block: u32, inputs: &[u32]) {
    each(
        kernel,
        grid,
        block,
        &Options::default(),
        |memory, launch| {
            let out = upload_u32(memory, "out", &[0; 256]);
            let input = upload_u32(memory, "in", inputs);
            let launch = launch.arg_u64(out);
            if inputs.is_empty() { launch } else { launch.arg_u64(input) }
        },
        |outcome| assert!(outcome.completed && outcome.faults.is_empty(), "{kernel}: {:#?}", outcome.faults),
    );
}

fn both_sides(fault: &Fault) {
    let other = fault.other.as_ref().expect("both sides are named");
    assert!(other.source.is_some());
    let this = fault.thread.expect("a thread");
    assert_ne!((this.block, this.thread), (other.thread.block, other.thread.thread), "{fault:#?}");
}

#[test]
fn races_in_shared_memory() {
    each(
        "race_shared",
        1,
        256,
        &Options::default(),
        |memory, launch| {
            let out = memory.alloc("out", 1024).expect("fits");
            launch.arg_u64(out)
        },
        |outcome| {
            let fault = outcome.faults.iter().find(|fault| fault.kind == FaultKind::Race).expect("a race");
            both_sides(fault);
            assert!(fault.message.contains("`s`["), "{}", fault.message);
        },
    );
    each(
        "race_tile",
        1,
        64,
        &Options::default(),
        |memory, launch| {
            let a = upload_f32(memory, "a", &[1.0; 256]);
            let out = memory.alloc("out", 256).expect("fits");
            launch.arg_u64(a).arg_u64(out).arg_u32(256)
        },
        |outcome| {
            assert!(kinds(outcome).contains(&FaultKind::Race), "{:#?}", outcome.faults);
            outcome.faults.iter().for_each(both_sides);
        },
    );
    expect("race_warp", 1, 32, 64, FaultKind::Race);
    expect_clean("warp_ok", 1, 32, &[]);
    each(
        "hist_race",
        1,
        64,
        &Options::default(),
        |memory, launch| {
            let out = memory.alloc("out", 32).expect("fits");
            let a = upload_u32(memory, "a", &(0..64).collect::<Vec<_>>());
            launch.arg_u64(out).arg_u64(a)
        },
        |outcome| assert_eq!(kinds(outcome), [FaultKind::Race], "{:#?}", outcome.faults),
    );
    expect_clean("cas_ok", 4, 64, &[]);
}

#[test]
fn races_in_global_memory_whatever_the_schedule() {
    for workers in [1, 2, 4] {
        for _ in 0..3 {
            let options = Options { workers, ..Options::default() };
            each(
                "race_global",
                8,
                64,
                &options,
                |memory, launch| {
                    let a = upload_f32(memory, "a", &[1.0; 512]);
                    launch.arg_u64(a).arg_u32(512)
                },
                |outcome| {
                    assert!(kinds(outcome).contains(&FaultKind::Race), "{:#?}", outcome.faults);
                },
            );
        }
    }
    expect("race_sum", 1, 32, 1, FaultKind::Race);
    expect("race_sum", 4, 1, 1, FaultKind::Race);
    expect("race_blocks", 4, 32, 1, FaultKind::Race);
    // Everybody stores the same value with the same instruction.
    expect_clean("no_race_flag", 8, 64, &[1; 64]);
}

#[test]
fn uninitialised_values_are_reported_when_used() {
    each(
        "uninit_shared",
        1,
        64,
        &Options::default(),
        |memory, launch| {
            let out = memory.alloc("out", 256).expect("fits");
            launch.arg_u64(out)
        },
        |outcome| {
            assert_eq!(kinds(outcome), [FaultKind::Uninitialised], "{:#?}", outcome.faults);
            assert!(outcome.faults[0].message.contains("`s`[32]"), "{}", outcome.faults[0].message);
        },
    );
    each(
        "uninit_global",
        1,
        64,
        &Options::default(),
        |memory, launch| {
            let a = memory.alloc("a", 256).expect("fits");
            let out = memory.alloc("out", 256).expect("fits");
            memory.write(a, &[0; 160]).expect("inside");
            launch.arg_u64(a).arg_u64(out)
        },
        |outcome| {
            assert_eq!(kinds(outcome), [FaultKind::Uninitialised]);
            assert!(outcome.faults[0].message.contains("`a`[40]"), "{}", outcome.faults[0].message);
        },
    );
    each(
        "uninit_branch",
        1,
        32,
        &Options::default(),
        |memory, launch| {
            let a = memory.alloc("a", 128).expect("fits");
            let out = memory.alloc("out", 128).expect("fits");
            launch.arg_u64(a).arg_u64(out)
        },
        |outcome| assert_eq!(kinds(outcome), [FaultKind::Uninitialised]),
    );
    // Copying a struct with padding uses nothing; the copy is as little initialised as the original.
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let a = memory.alloc("a", 256).expect("fits");
        let out = memory.alloc("out", 256).expect("fits");
        for i in 0..32 {
            memory.write(a + 8 * i, &[1]).expect("inside");
            memory.write(a + 8 * i + 4, &[1; 4]).expect("inside");
        }
        run_clean(&module, &mut memory, &Launch::new("copy_ok", [1, 1, 1], [32, 1, 1]).arg_u64(a).arg_u64(out));
    }
}

#[test]
fn barriers_and_masks() {
    expect("divergent_barrier", 1, 64, 64, FaultKind::BarrierDivergence);
    expect("half_barrier", 1, 64, 64, FaultKind::BarrierDivergence);
    each(
        "early_exit",
        1,
        64,
        &Options::default(),
        |memory, launch| {
            let out = memory.alloc("out", 256).expect("fits");
            launch.arg_u64(out).arg_u32(40)
        },
        |outcome| {
            assert_eq!(kinds(outcome), [FaultKind::BarrierDivergence]);
            assert!(outcome.completed);
            assert!(outcome.faults[0].message.contains("40 of the 64"), "{}", outcome.faults[0].message);
        },
    );
    expect("mask_misuse", 1, 32, 32, FaultKind::MaskMisuse);
    expect("inactive_read", 1, 32, 32, FaultKind::MaskMisuse);
}

#[test]
fn bad_addresses() {
    expect("shared_oob", 1, 32, 64, FaultKind::OutOfBounds);
    expect("misaligned", 1, 8, 64, FaultKind::Misaligned);
    expect("race_sum", 1, 1, 0, FaultKind::OutOfBounds);
    each(
        "null_deref",
        1,
        32,
        &Options::default(),
        |_, launch| launch.arg_u64(0),
        |outcome| {
            assert_eq!(kinds(outcome), [FaultKind::OutOfBounds]);
        },
    );
    each(
        "null_deref",
        1,
        32,
        &Options::default(),
        |memory, launch| {
            let a = memory.alloc("gone", 128).expect("fits");
            memory.free(a).expect("live");
            launch.arg_u64(a)
        },
        |outcome| {
            assert_eq!(kinds(outcome), [FaultKind::UseAfterFree]);
            assert!(outcome.faults[0].message.contains("`gone`"));
        },
    );
    each(
        "const_oob",
        1,
        4,
        &Options::default(),
        |memory, launch| {
            let out = memory.alloc("out", 16).expect("fits");
            launch.arg_u64(out).arg_u32(-1i32 as u32)
        },
        |outcome| assert_eq!(kinds(outcome)[0], FaultKind::OutOfBounds),
    );
}

#[test]
fn what_never_ends_is_ended() {
    let budget = Options { max_warp_instructions: Some(300_000), ..Options::default() };
    each(
        "endless",
        1,
        32,
        &budget,
        |m, l| {
            let a = upload_u32(m, "a", &[0]);
            l.arg_u64(a)
        },
        |outcome| {
            assert_eq!(kinds(outcome), [FaultKind::StepBudget], "{:#?}", outcome.faults);
            assert!(!outcome.completed);
        },
    );
    let time = Options { time_limit: Some(Duration::from_millis(100)), ..Options::default() };
    each(
        "endless",
        4,
        64,
        &time,
        |m, l| {
            let a = upload_u32(m, "a", &[0]);
            l.arg_u64(a)
        },
        |outcome| {
            assert!(kinds(outcome).contains(&FaultKind::TimeBudget), "{:#?}", outcome.faults);
        },
    );
    each(
        "spin_forever",
        2,
        32,
        &Options::default(),
        |m, l| {
            let a = upload_u32(m, "a", &[0]);
            l.arg_u64(a)
        },
        |outcome| {
            assert_eq!(kinds(outcome), [FaultKind::Deadlock], "{:#?}", outcome.faults);
            assert!(outcome.faults[0].message.contains("line"), "{}", outcome.faults[0].message);
        },
    );
    each(
        "overflow",
        1,
        32,
        &Options::default(),
        |m, l| {
            let a = upload_u32(m, "a", &[0; 2]);
            l.arg_u64(a).arg_u32(5000)
        },
        |outcome| {
            assert!(kinds(outcome).contains(&FaultKind::StackOverflow), "{:#?}", outcome.faults);
        },
    );
    each(
        "trap_it",
        1,
        32,
        &Options::default(),
        |m, l| {
            let a = upload_u32(m, "a", &[0; 32]);
            l.arg_u64(a)
        },
        |outcome| {
            assert_eq!(kinds(outcome), [FaultKind::Trap]);
            assert_eq!(outcome.faults[0].thread.map(|t| t.thread[0]), Some(5));
        },
    );
}

/// Its threads are more than 64 bits count.
#[test]
fn the_largest_grid_ends_with_its_first_fault() {
    let module = load(DIALECTS[0]);
    let mut memory = memory();
    let a = upload_u32(&mut memory, "a", &[0; 32]);
    let launch = Launch::new("trap_it", [i32::MAX as u32, 65_535, 65_535], [32, 1, 1]).arg_u64(a);
    let options = Options { time_limit: Some(Duration::from_secs(20)), ..Options::default() };
    let outcome = ptx_emulator::launch(&module, &mut memory, &launch, &options, &Default::default());
    assert!(kinds(&outcome).contains(&FaultKind::Trap), "{:#?}", outcome.faults);
}

#[test]
fn stop_is_seen_at_once() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let module = load(DIALECTS[0]);
    let mut memory = memory();
    let a = upload_u32(&mut memory, "a", &[0]);
    let launch = Launch::new("endless", [8, 1, 1], [256, 1, 1]).arg_u64(a);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let handle = scope.spawn(|| {
            let outcome = ptx_emulator::launch(&module, &mut memory, &launch, &Options::default(), &stop);
            (std::time::Instant::now(), outcome)
        });
        std::thread::sleep(Duration::from_millis(100));
        let asked = std::time::Instant::now();
        stop.store(true, Ordering::Relaxed);
        let (ended, outcome) = handle.join().expect("no panic");
        // 50 ms is the aim; a busy machine gets more.
        assert!(ended.saturating_duration_since(asked) < Duration::from_millis(1000));
        assert!(kinds(&outcome).contains(&FaultKind::Stopped));
    });
}

/// PTX without source lines, for one kernel of two or three instructions.
fn small(head: &str, body: &str, threads: u32) -> Outcome {
    let text = format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(){head} {{\n.reg .pred %p<2>;\n\
         .reg .b32 %r<3>;\n{body}\nret;\n}}\n"
    );
    run(&load(&text), &mut memory(), &Launch::new("k", [1, 1, 1], [threads, 1, 1]))
}

#[test]
fn a_barrier_says_whom_it_waits_for() {
    let outcome = small("", "barrier.cta.sync 2, 128;", 64);
    let message = &outcome.faults[0].message;
    assert!(message.contains("64 of the 64 threads") && message.contains("is for 128 threads"), "{message}");
    // Both sides of a branch wait, each at its own barrier.
    let apart = "mov.u32 %r1, %laneid;\nand.b32 %r1, %r1, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra EVEN;\n\
                 bar.sync 0;\nbra END;\nEVEN:\nbar.sync 0;\nEND:";
    let outcome = small("", apart, 32);
    assert_eq!(outcome.faults[0].kind, FaultKind::BarrierDivergence);
    let message = &outcome.faults[0].message;
    assert!(message.contains("16 of the 32 threads") && message.contains("of the others 16 wait at"), "{message}");
}

#[test]
fn a_kernel_for_one_block_shape_runs_with_no_other() {
    assert!(small(" .reqntid 48", "", 48).faults.is_empty());
    for threads in [32, 64] {
        let outcome = small(" .reqntid 48", "", threads);
        assert_eq!(kinds(&outcome), [FaultKind::BadLaunch]);
        let message = &outcome.faults[0].message;
        assert!(message.contains("(48, 1, 1)") && message.contains(&format!("({threads}, 1, 1)")), "{message}");
    }
}

#[test]
fn past_the_end_of_what_malloc_gave_is_out_of_bounds() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func (.param .b64 r) malloc(.param .b64 n);\n\
                .visible .entry k() {\n.reg .b64 %p<2>;\n{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64;\n\
                call.uni (r), malloc, (n); ld.param.b64 %p1, [r]; }\nst.u32 [%p1+60], 1;\nst.u32 [%p1+64], 1;\nret;\n}";
    // Many pieces lie side by side: the word behind one is not the next one's.
    let outcome = run(&load(text), &mut memory(), &Launch::new("k", [1, 1, 1], [32, 1, 1]));
    let fault = &outcome.faults[0];
    assert_eq!(fault.kind, FaultKind::OutOfBounds, "{fault:#?}");
    let near = fault.allocation.as_ref().expect("the piece");
    assert_eq!((near.bytes, near.offset), (64, 64));
    assert_eq!(fault.thread.expect("a thread").thread, [0, 0, 0]);
}

#[test]
fn half_a_warp_gives_no_registers_back() {
    let halves = "mov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 setmaxnreg.dec.sync.aligned.u32 24;";
    let outcome = small("", halves, 32);
    assert_eq!(outcome.faults[0].kind, FaultKind::MaskMisuse, "{:#?}", outcome.faults);
    let message = &outcome.faults[0].message;
    assert!(message.contains("executes setmaxnreg with 16 of 32 lanes (others have ended)"), "{message}");
    assert!(small("", "setmaxnreg.dec.sync.aligned.u32 24;", 128).faults.is_empty());
}

#[test]
fn an_access_askew_in_the_last_element_is_misaligned_not_outside() {
    // A device stops at the alignment, which is the mistake; that the access then leaves the array follows from it.
    for (offset, kind) in [(57, FaultKind::Misaligned), (61, FaultKind::Misaligned), (64, FaultKind::OutOfBounds)] {
        let ptx = format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {{\n.reg .b32 %r<2>;\n\
             .reg .b64 %rd<2>;\nld.param.u64 %rd1, [a];\nmov.u32 %r1, 42;\nst.global.u32 [%rd1+{offset}], %r1;\nret;\n}}"
        );
        let module = load(&ptx);
        let mut memory = memory();
        let a = memory.alloc("a", 64).expect("fits");
        let outcome = run(&module, &mut memory, &Launch::new("k", [1, 1, 1], [1, 1, 1]).arg_u64(a));
        assert_eq!(kinds(&outcome), [kind], "{:#?}", outcome.faults);
    }
}

#[test]
fn arrays_of_functions_with_long_parameters_have_their_names() {
    // `E` ends types of parameters as well, and some of their names have one.
    for (mangled, name) in [
        ("_ZZ4tileE1s", "s"),
        ("_ZZ4tileE1s_0", "s"),
        ("_ZZ13d_triCountingPN4cuda3__46atomicIiLNS_3std3__412thread_scopeE0EEEiPKiS8_E8s_buffer", "s_buffer"),
        ("_ZZ14cc_vertex_data8ECLgraphPiS0_PKiiS0_S0_iS0_E7updated", "updated"),
        ("plain", "plain"),
    ] {
        let ptx = format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {{\n.reg .b32 %r<4>;\n\
             .reg .b64 %rd<2>;\n.shared .align 4 .b8 {mangled}[64];\nld.param.u64 %rd1, [a];\n\
             ld.shared.u32 %r1, [{mangled}+8];\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%rd1], %r2;\nret;\n}}"
        );
        let module = load(&ptx);
        let mut memory = memory();
        let a = memory.alloc("a", 64).expect("fits");
        let outcome = run(&module, &mut memory, &Launch::new("k", [1, 1, 1], [1, 1, 1]).arg_u64(a));
        assert_eq!(kinds(&outcome), [FaultKind::Uninitialised]);
        assert!(outcome.faults[0].message.contains(&format!("`{name}`[2]")), "{}", outcome.faults[0].message);
    }
}
