//! The fast paths do what the plain interpreter does: memory, counters and faults are the same with all of them, with each of
//! them alone switched off, and in the reference mode. What is here are whole kernels, as compilers write them; the launches of
//! all other tests are held to the reference mode where they are made if that is asked for (`common/twin.rs`), and the kernels of the course by
//! `lockstep dev fast-paths`.

#[allow(dead_code)]
#[path = "../examples/speed/cases.rs"]
mod cases;
mod common;

use std::sync::atomic::AtomicBool;

use cases::{COALESCED, Case, EVERYDAY, FURTHER, NEIGHBOURS, ORDINARY, Ready, SCATTERED};
use common::twin::differences;
use common::{memory, upload_u32};
use ptx_emulator::{Fast, Launch, Memory, Module, Options, Outcome};

fn one_worker(fast: Fast) -> Options {
    Options { workers: 1, fast, ..Options::default() }
}

fn without(name: &str) -> Fast {
    Fast::ALL.with(name, false).expect("one of the names")
}

/// What is compared with [`Fast::ALL`]: the reference mode, that with all instructions in their fastest forms, and some fast paths
/// alone switched off, by turns.
fn ways(turn: usize) -> Vec<(String, Fast)> {
    let forms = Fast { vector_forms: true, matrix_lanes: true, ..Fast::NONE };
    let mut ways =
        vec![("the reference mode".to_owned(), Fast::NONE), ("the reference mode in fast forms".to_owned(), forms)];
    for step in 0..3 {
        let name = Fast::NAMES[(3 * turn + step) % Fast::NAMES.len()];
        ways.push((format!("without {name}"), without(name)));
    }
    ways
}

/// Asserts that `run` comes to the same in all of the ways.
fn hold(what: &str, turn: usize, run: impl Fn(Fast) -> (Outcome, Memory)) {
    let usual = run(Fast::ALL);
    for (way, fast) in ways(turn) {
        let differences = differences(&usual, &run(fast));
        assert!(differences.is_empty(), "{what}, {way}: {}", &differences[..differences.len().min(4000)]);
    }
}

fn hold_cases(cases: &[&[Case]]) {
    for (turn, case) in cases.iter().copied().flatten().enumerate() {
        let case = case.smaller(3);
        hold(case.name, turn, |fast| Ready::with(&case, fast).end(&one_worker(fast)));
    }
}

#[test]
fn kernels_of_neighbouring_lanes() {
    hold_cases(&[COALESCED, EVERYDAY]);
}

#[test]
fn kernels_of_ordinary_kinds() {
    hold_cases(&[ORDINARY, FURTHER]);
}

#[test]
fn kernels_of_lanes_apart() {
    hold_cases(&[NEIGHBOURS, SCATTERED]);
}

/// Every pattern of accesses whose counters an H200 gave.
#[test]
fn patterns_of_accesses() {
    let text = include_str!("../../../assets/recorded/counters-h200.json");
    let recorded: serde_json::Value = serde_json::from_str(text).expect("valid JSON");
    for (turn, row) in recorded["launches"].as_array().expect("a list").iter().enumerate() {
        let (kernel, k) = (row["kernel"].as_str().expect("a name"), row["k"].as_u64().expect("a number"));
        hold(&format!("{kernel} {k}"), turn, |fast| {
            let module = Module::load_with(include_str!("ptx/counters.sm_90a.ptx"), fast).expect("own PTX");
            let mut memory = memory();
            let [out, input] = ["out", "in"].map(|name| upload_u32(&mut memory, name, &vec![0; 1 << 19]));
            let launch = Launch::new(kernel, [2, 1, 1], [128, 1, 1]).arg_u64(out).arg_u64(input).arg_u32(k as u32);
            let outcome =
                ptx_emulator::launch(&module, &mut memory, &launch, &one_worker(fast), &AtomicBool::new(false));
            (outcome, memory)
        });
    }
}

/// The programs of `random_programs.rs`.
#[test]
fn random_programs() {
    let folder = format!("{}/tests/ptx/random", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(paths.len() > 10);
    for (turn, path) in paths.iter().enumerate() {
        let ptx = std::fs::read_to_string(path).expect("text");
        hold(&path.display().to_string(), turn, |fast| {
            let module = Module::load_with(&ptx, fast).expect("own PTX");
            let mut memory = memory();
            let numbers: Vec<u32> = (0..4096u32).map(|i| i.wrapping_mul(2_654_435_761) >> (i % 29)).collect();
            let (nothing, sums) = (vec![0; 4096 * 3], vec![0; 192]);
            let [from, to, acc] = [("in", &numbers), ("out", &nothing), ("acc", &sums)]
                .map(|(name, words)| upload_u32(&mut memory, name, words));
            let launch = Launch::new("k", [4, 1, 1], [256, 1, 1]).arg_u64(from).arg_u64(to).arg_u64(acc);
            let outcome =
                ptx_emulator::launch(&module, &mut memory, &launch, &one_worker(fast), &AtomicBool::new(false));
            (outcome, memory)
        });
    }
}

#[test]
fn names_that_are_none_are_told() {
    assert_eq!(Fast::without("").expect("nothing"), Fast::ALL);
    assert_eq!(Fast::without("all").expect("all"), Fast::NONE);
    let two = Fast::without("machine_code, runs").expect("both names");
    assert_eq!(two, Fast { machine_code: false, runs: false, ..Fast::ALL });
    let error = Fast::without("machine_cod").expect_err("no such name");
    assert!(error.contains("`machine_cod`") && error.contains("machine_code"), "{error}");
}
