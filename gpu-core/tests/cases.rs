//! Mistakes that people make (`data/cases.cu`): what each is rejected for, and the words that lead to it. What is right beside them
//! passes without a fault.

mod support;

use gpu_core::compile::CompileReport;
use gpu_core::device::DeviceChoice;
use gpu_core::devices;
use gpu_core::judge::{self, CheckRequest};
use gpu_core::spec::Spec;
use gpu_core::verdict::{RunReport, Verdict, fault_key};
use std::sync::atomic::AtomicBool;

const PTX: &str = include_str!("data/cases.ptx");

fn compiled() -> CompileReport {
    CompileReport { succeeded: true, arch: "sm_90a".to_owned(), ptx: PTX.to_owned(), ..CompileReport::default() }
}

/// A spec with buffers as `name dtype shape role`, scalars by their names, and launch and sizes as TOML.
fn spec(entry: &str, oracle: &str, buffers: &[[&str; 4]], scalars: &[&str], launch: &str, sizes: &str) -> Spec {
    let mut text = format!("title = \"t\"\nentry = \"{entry}\"\n");
    if !oracle.is_empty() {
        text += &format!("oracle = \"{oracle}\"\n");
    }
    for [name, dtype, shape, role] in buffers {
        text += &format!("[[param]]\nname = \"{name}\"\ndtype = \"{dtype}\"\nshape = [{shape}]\nrole = \"{role}\"\n");
    }
    for name in scalars {
        text += &format!("[[param]]\nname = \"{name}\"\ndtype = \"i32\"\nvalue = \"{name}\"\n");
    }
    text += &format!(
        "[launch]\n{launch}\n[tolerance]\nabsolute = 0.0\nrelative = 1e-5\nreason = \"Sums.\"\n[sizes]\ncheck = [{sizes}]\n"
    );
    Spec::parse(&text, "cases.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn vector_add(entry: &str, n: i64) -> Spec {
    let buffers = [["a", "f32", "\"n\"", "in"], ["b", "f32", "\"n\"", "in"], ["c", "f32", "\"n\"", "out"]];
    let sizes = format!("{{ n = 100 }}, {{ n = {n} }}");
    spec(entry, "vector_add", &buffers, &["n"], "grid = [\"ceil_div(n, block_x)\"]\nblock = [256]", &sizes)
}

fn matrix_add(entry: &str) -> Spec {
    let shape = "\"m\", \"n\"";
    let buffers = [["a", "f32", shape, "in"], ["b", "f32", shape, "in"], ["c", "f32", shape, "out"]];
    let launch = "grid = [\"ceil_div(n, block_x)\", \"ceil_div(m, block_y)\"]\nblock = [16, 16]";
    spec(entry, "matrix_add", &buffers, &["m", "n"], launch, "{ m = 5, n = 7 }, { m = 260, n = 257 }")
}

fn sum(entry: &str, block: u32) -> Spec {
    let buffers = [["x", "f32", "\"n\"", "in"], ["y", "f32", "1", "zeroed"]];
    let launch = format!("grid = [\"min(ceil_div(n, block_x), 64)\"]\nblock = [{block}]");
    spec(entry, "sum", &buffers, &["n"], &launch, "{ n = 31 }, { n = 257 }, { n = 1500 }")
}

fn product(entry: &str) -> Spec {
    let buffers =
        [["A", "f32", "\"m\", \"k\"", "in"], ["B", "f32", "\"k\", \"n\"", "in"], ["C", "f32", "\"m\", \"n\"", "out"]];
    let launch = "grid = [\"ceil_div(n, 16)\", \"ceil_div(m, 16)\"]\nblock = [16, 16]";
    let sizes = "{ m = 1, n = 1, k = 1 }, { m = 17, n = 33, k = 20 }, { m = 40, n = 20, k = 53 }";
    spec(entry, "matmul", &buffers, &["m", "n", "k"], launch, sizes)
}

fn check(spec: &Spec) -> Verdict {
    let mut emulator = devices::open(&DeviceChoice::Emulator).expect("the emulator is always there");
    let (request, stop) = (CheckRequest::default(), AtomicBool::new(false));
    judge::check(emulator.as_mut(), &compiled(), spec, &request, &mut |_| {}, &stop)
        .unwrap_or_else(|error| panic!("{}: {error}", spec.entry()))
}

/// Freely, at the last size: the spec names no oracle.
fn run_as(spec: &Spec) -> RunReport {
    let spec = Spec { oracle: None, check: spec.check[1..].to_vec(), ..spec.clone() };
    let mut emulator = devices::open(&DeviceChoice::Emulator).expect("the emulator is always there");
    support::run(emulator.as_mut(), &compiled(), &spec, &AtomicBool::new(false))
        .unwrap_or_else(|error| panic!("{}: {error}", spec.entry()))
}

#[test]
fn a_free_run_is_launched_again_in_what_it_left() {
    let once = run_as(&vector_add("serves_once", 1000));
    assert!(!once.case.passed && once.completed, "{}", once.summary);
    assert_eq!(once.hints.first().map(String::as_str), Some("kept_state"), "{:?}", once.hints);
    for part in ["the first launch is right", "`served`", "In the second launch c[0] was never written"] {
        assert!(once.summary.contains(part), "`{part}` is not in: {}", once.summary);
    }
    let again = run_as(&vector_add("serves_again", 1000));
    assert!(again.case.passed, "{}", again.summary);
}

/// Of `in[256]`, `out[512]` and `flag[1]`, with blocks of 256 threads.
fn run(entry: &str, blocks: u32) -> RunReport {
    let buffers = [["in", "i32", "256", "inout"], ["out", "i32", "512", "out"], ["flag", "i32", "1", "scratch"]];
    let spec = spec(entry, "", &buffers, &[], &format!("grid = [{blocks}]\nblock = [256]"), "{ n = 1 }");
    let mut emulator = devices::open(&DeviceChoice::Emulator).expect("the emulator is always there");
    support::run(emulator.as_mut(), &compiled(), &spec, &AtomicBool::new(false))
        .unwrap_or_else(|error| panic!("{entry}: {error}"))
}

#[test]
fn each_mistake_is_rejected_in_words_that_lead_to_it() {
    let fails: &[(Spec, &str, &[&str])] = &[
        (vector_add("serves_once", 1000), "kept_state", &["the first launch is right", "`served`", "Set it back"]),
        (vector_add("sixteen_bits", 66_000), "narrow_index", &["the first 65,536", "16 bits", "keep it in an `int`"]),
        (vector_add("signed_sixteen_bits", 66_000), "out_of_bounds", &["[-32", "`short`"]),
        (matrix_add("eight_bits"), "narrow_index", &["8 bits", "from 256 on"]),
        (sum("all_lanes_add", 256), "wrong_output", &["exactly 32 times"]),
        (sum("whole_total", 256), "whole_number", &["whole number"]),
        (sum("odd_tree", 96), "wrong_output", &["parts were added by a tree"]),
        (sum("last_without_fence", 128), "race", &["`sums`", "__threadfence()"]),
        (sum("total_too_early", 128), "race", &["`running`", "__threadfence()", "__syncthreads()"]),
        (sum("warps_too_early", 128), "race", &["`running`", "put __syncthreads() before it"]),
        (sum("last_by_number", 128), "race", &["`of_all`"]),
        (sum("fence_for_all", 128), "race", &["`of_all`", "waits for nobody"]),
        (product("filled_with_ones"), "wrong_output", &["too large by the same number", "zeros belong there"]),
        (product("other_coordinate"), "wrong_output", &["both tiles are brought by the other coordinate"]),
    ];
    let mut problems = Vec::new();
    for (spec, key, words) in fails {
        let verdict = check(spec);
        let entry = &spec.entry();
        if verdict.passed {
            problems.push(format!("{entry} passed"));
        } else if verdict.hints.first().map(String::as_str) != Some(key) {
            problems.push(format!("{entry}: {:?}: {}", verdict.hints, verdict.summary));
        }
        for word in *words {
            if !verdict.summary.contains(word) {
                problems.push(format!("{entry}: `{word}` is not in: {}", verdict.summary));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn what_is_right_beside_them_passes() {
    for spec in [vector_add("serves_again", 1000), sum("last_with_fence", 128), sum("total_in_time", 128)] {
        let verdict = check(&spec);
        assert!(verdict.passed, "{}: {}", spec.entry(), verdict.summary);
    }
    let report = run("counts_in_time", 3);
    assert!(report.completed && report.case.faults.is_empty(), "{:#?}", report.case.faults);
}

#[test]
fn faults_of_a_free_run_lead_to_what_is_missing() {
    let cases: &[(&str, u32, &str, &[&str])] = &[
        ("counts_too_early", 2, "race", &["`many`"]),
        ("warp_in_step", 1, "race", &["__syncwarp()"]),
        ("barrier_for_some", 1, "barrier_divergence", &["inside the condition"]),
        ("polls_a_copy", 2, "race", &["never looks at memory again", "volatile"]),
        ("counts_down", 1, "out_of_bounds", &["`in`[4294967295]", "below 0"]),
        ("shared_of_no_size", 1, "out_of_bounds", &["`room`", "0 bytes", "dynamic_shared_bytes"]),
        ("copy_not_waited_for", 1, "missing_async_wait", &["`room`"]),
        ("into_the_neighbour", 1, "out_of_bounds", &["`first`["]),
    ];
    let source: Vec<&str> = include_str!("data/cases.cu").lines().collect();
    let mut problems = Vec::new();
    for (entry, blocks, key, words) in cases {
        let report = run(entry, *blocks);
        let Some(fault) = report.case.faults.first() else {
            problems.push(format!("{entry}: no fault"));
            continue;
        };
        let told = format!("{}: {}", fault_key(fault.kind), fault.message);
        if fault_key(fault.kind) != *key {
            problems.push(format!("{entry}: {told}"));
        }
        problems.extend(
            words.iter().filter(|word| !told.contains(**word)).map(|word| format!("{entry}: no `{word}` in {told}")),
        );
        // Where it happened is a line of the kernel, and so is the other side: CUDA's headers are nobody's mistake.
        let lines = [fault.source.as_ref(), fault.other_line()];
        for line in lines.into_iter().flatten() {
            if line.file != "cases.cu" || source.get(line.line as usize - 1).is_none() {
                problems.push(format!("{entry}: {}:{}", line.file, line.line));
            }
        }
        // One mistake, one report.
        let alike = report.case.faults.iter().filter(|other| other.kind == fault.kind).count();
        if alike > 2 {
            problems.push(format!("{entry}: {alike} reports of {key}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
