//! Synchronisation in long loops: what the checks remember must not grow with the number of rounds.

mod common;

use std::time::{Duration, Instant};

use common::*;
use ptx_emulator::{FaultKind, Launch, Module, Options, Outcome};

/// Two blocks write into each other's shared memory and read their own, a cluster barrier between; every round reads
/// what the round before wrote. The second kernel leaves out one barrier.
fn exchange(rounds: u32, barrier_before_read: bool) -> String {
    let sync = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
    let before = if barrier_before_read { sync } else { "bar.sync 0;\n" };
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n.reqnctapercluster 2, 1, 1\n{{\n\
         .reg .pred %p;\n.reg .b32 %t, %me, %peer, %sh, %to, %own, %round, %v, %sum, %i;\n.reg .b64 %out, %at;\n\
         .shared .align 4 .b8 box[128];\n\
         ld.param.u64 %out, [out];\ncvta.to.global.u64 %out, %out;\nmov.u32 %t, %tid.x;\nmov.u32 %me, %cluster_ctarank;\n\
         xor.b32 %peer, %me, 1;\nmov.u32 %sh, box;\nmad.lo.u32 %own, %t, 4, %sh;\n\
         mapa.shared::cluster.u32 %to, %own, %peer;\nmov.u32 %round, 0;\nmov.u32 %sum, 0;\n{sync}\
         LOOP:\nadd.u32 %v, %round, %me;\nst.shared::cluster.u32 [%to], %v;\n{before}ld.shared.u32 %v, [%own];\n\
         add.u32 %sum, %sum, %v;\n{sync}add.u32 %round, %round, 1;\nsetp.lt.u32 %p, %round, {rounds};\n@%p bra LOOP;\n\
         mad.lo.u32 %i, %me, 32, %t;\nmul.wide.u32 %at, %i, 4;\nadd.u64 %at, %at, %out;\nst.global.u32 [%at], %sum;\nret;\n}}\n"
    )
}

/// A producer block hands a consumer block one number a round through its shared memory: arrivals at the other's
/// mbarriers say full and empty.
fn pipeline(rounds: u32) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n.reqnctapercluster 2, 1, 1\n{{\n\
         .reg .pred %p, %q;\n.reg .b32 %t, %me, %peer, %sh, %far, %own, %round, %v, %sum, %parity, %i;\n.reg .b64 %out, %at;\n\
         .shared .align 8 .b8 box[256];\n\
         ld.param.u64 %out, [out];\ncvta.to.global.u64 %out, %out;\nmov.u32 %t, %tid.x;\nmov.u32 %me, %cluster_ctarank;\n\
         xor.b32 %peer, %me, 1;\nmov.u32 %sh, box;\nmapa.shared::cluster.u32 %far, %sh, %peer;\n\
         setp.eq.u32 %p, %t, 0;\n@%p mbarrier.init.shared.b64 [%sh], 32;\nfence.mbarrier_init.release.cluster;\n\
         mad.lo.u32 %own, %t, 4, %sh;\nmad.lo.u32 %i, %t, 4, %far;\n\
         barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
         mov.u32 %round, 0;\nmov.u32 %sum, 0;\nsetp.eq.u32 %q, %me, 1;\n\
         LOOP:\nand.b32 %parity, %round, 1;\n@%q bra CONSUME;\n\
         st.shared::cluster.u32 [%i+64], %round;\n\
         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%far];\n\
         EMPTY: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%sh], %parity;\n@!%p bra EMPTY;\nbra NEXT;\n\
         CONSUME: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%sh], %parity;\n@!%p bra CONSUME;\n\
         ld.shared.u32 %v, [%own+64];\nadd.u32 %sum, %sum, %v;\n\
         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%far];\n\
         NEXT: add.u32 %round, %round, 1;\nsetp.lt.u32 %p, %round, {rounds};\n@%p bra LOOP;\n\
         barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
         mad.lo.u32 %i, %me, 32, %t;\nmul.wide.u32 %at, %i, 4;\nadd.u64 %at, %at, %out;\nst.global.u32 [%at], %sum;\nret;\n}}\n"
    )
}

fn play(ptx: &str) -> (Outcome, Vec<u32>, Duration) {
    let module = Module::load(ptx).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 64]);
    let launch = Launch { cluster: [2, 1, 1], ..Launch::new("k", [2, 1, 1], [32, 1, 1]).arg_u64(out) };
    let options = Options { workers: 1, time_limit: Some(Duration::from_secs(120)), ..Options::default() };
    let start = Instant::now();
    let outcome = run_with(&module, &mut memory, &launch, &options);
    (outcome, download_u32(&memory, out, 64), start.elapsed())
}

/// Time of 16 times as many rounds over 16 times the time: 1 when it grows with the rounds alone, 16 with their square.
fn growth(kernel: impl Fn(u32) -> String, rounds: u32, expected: impl Fn(u32, u32) -> u32) -> f64 {
    let time = |rounds: u32| {
        let (outcome, sums, time) = play(&kernel(rounds));
        assert!(outcome.completed && outcome.faults.is_empty(), "{rounds} rounds: {:#?}", outcome.faults);
        for (index, sum) in sums.iter().enumerate() {
            assert_eq!(*sum, expected(index as u32 / 32, rounds), "thread {index}");
        }
        time
    };
    // The least of three: the machine does other things as well.
    let short = (0..3).map(|_| time(rounds)).min().expect("three");
    time(16 * rounds).as_secs_f64() / (16.0 * short.as_secs_f64())
}

#[test]
fn cluster_barriers_cost_the_same_in_every_round() {
    let sum = |rank: u32, rounds: u32| (0..rounds).map(|round| round + (rank ^ 1)).fold(0, u32::wrapping_add);
    let growth = growth(|rounds| exchange(rounds, true), 2_000, sum);
    assert!(growth < 4.0, "16 times the rounds took {growth:.1} times their share");
}

#[test]
fn mbarriers_of_other_blocks_cost_the_same_in_every_round() {
    let sum = |rank: u32, rounds: u32| if rank == 1 { (0..rounds).fold(0, u32::wrapping_add) } else { 0 };
    let growth = growth(pipeline, 2_000, sum);
    assert!(growth < 4.0, "16 times the rounds took {growth:.1} times their share");
}

/// Folding what is old must not order what is new.
#[test]
fn a_missing_barrier_is_found_in_a_long_loop() {
    let (outcome, _, _) = play(&exchange(5_000, false));
    assert!(kinds(&outcome).contains(&FaultKind::Race), "{:#?}", outcome.faults);
}

/// One thread polls a flag that all others of the block store to, each its own number, with nothing that orders them:
/// every round of every loop races, and none ends. `load` and `store` name the instructions.
fn racing_poll(load: &str, store: &str, flag: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p;\n.reg .b32 %t, %v;\n.reg .b64 %at;\n.shared .align 4 .b8 box[4];\n\
         {flag}\nmov.u32 %t, %tid.x;\nsetp.eq.u32 %p, %t, 0;\n@%p bra POLL;\n\
         STORE:\n{store}.u32 [%at], %t;\nbra STORE;\n\
         POLL:\n{load}.u32 %v, [%at];\nsetp.ne.u32 %p, %v, 77777;\n@%p bra POLL;\nret;\n}}\n"
    )
}

/// A race is told once and counted from then on, so that a loop of nothing but races runs at a speed at which its time
/// limit is noticed.
#[test]
fn a_poll_that_races_in_every_round_ends_at_its_time_limit() {
    let global = "ld.param.u64 %at, [out];\ncvta.to.global.u64 %at, %at;";
    let shared = "mov.u64 %at, box;";
    for (load, store, flag) in [
        ("ld.global", "st.global", global),
        ("ld.volatile.global", "st.global", global),
        ("ld.shared", "st.shared", shared),
    ] {
        let module = common::load(&racing_poll(load, store, flag));
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[0; 1]);
        let launch = Launch::new("k", [1, 1, 1], [256, 1, 1]).arg_u64(out);
        let limit = Duration::from_secs(1);
        let options = Options { workers: 1, time_limit: Some(limit), ..Options::default() };
        let start = Instant::now();
        let outcome = run_with(&module, &mut memory, &launch, &options);
        let took = start.elapsed();
        assert!(took >= limit && took < 2 * limit, "{load}, {store}: {took:?}");
        assert!(kinds(&outcome).contains(&FaultKind::TimeBudget), "{load}, {store}: {:#?}", outcome.faults);
        // One line for each pair of instructions that met, with all their meetings.
        let races: Vec<_> = outcome.faults.iter().filter(|fault| fault.kind == FaultKind::Race).collect();
        assert!((1..=3).contains(&races.len()), "{load}, {store}: {races:#?}");
        assert!(races.iter().map(|race| race.occurrences).sum::<u64>() > 10_000, "{load}, {store}: {races:#?}");
    }
}
