//! The small model writes with a kernel: another kernel's mistake is another text.

use crate::cli_support::{Machine, repository};

const DAY: &str = "kernels/week4/day7-production";

fn text(machine: &Machine, more: &[&str]) -> String {
    let (json, status) = machine.json(&[&["decode", "--tokens", "24"], more].concat());
    assert_eq!((status, &json["outcome"]), (0, &"done".into()), "{json}");
    assert_eq!(json["tokens"], 24);
    json["text"].as_str().unwrap().to_owned()
}

#[test]
fn two_right_kernels_write_alike_and_a_wrong_one_does_not() {
    let machine = Machine::new();
    let right = text(&machine, &[]);
    assert_eq!(text(&machine, &["--kernel", "solution"]), right);
    for wrong in ["wrong/high-nibble-first", "wrong/ignores-the-page-table", "wrong/not-rescaled"] {
        assert_ne!(text(&machine, &["--kernel", wrong]), right, "{wrong}");
    }
    // A file of the learner's is what runs.
    let solution = std::fs::read_to_string(repository().join(DAY).join("solution.cu")).unwrap();
    let mine = machine.file("mine.cu", &solution);
    assert_eq!(text(&machine, &["--kernel", &mine]), right);
    let half = machine.file("half.cu", solution.replace("0.125f", "0.0625f"));
    assert_ne!(text(&machine, &["--kernel", &half]), right);
}

#[test]
fn every_format_writes_and_says_how_exact_it_was() {
    let machine = Machine::new();
    let mut bytes = Vec::new();
    for format in ["fp16", "bf16", "fp8", "k8v4", "nvfp4", "int4"] {
        let (json, status) = machine.json(&["decode", "--cache", format, "--tokens", "3"]);
        assert_eq!((status, json["tokens"].as_u64()), (0, Some(3)), "{json}");
        let error = json["largest_error"].as_f64().unwrap();
        assert!(error < 1e-5, "{format}: {error}");
        bytes.push(json["bytes_per_token"].as_u64().unwrap());
    }
    assert!(
        bytes[0] == bytes[1]
            && bytes[1] > bytes[2]
            && bytes[2] > bytes[3]
            && bytes[3] > bytes[4]
            && bytes[4] == bytes[5],
        "{bytes:?}"
    );
}

#[test]
fn a_kernel_that_breaks_ends_the_text() {
    let machine = Machine::new();
    let source = "extern \"C\" __global__ void decode_paged(int n) {}";
    let ended = machine.run(&["decode", "--kernel", &machine.file("short.cu", source)]);
    assert_eq!(ended.status, 1, "{}{}", ended.stdout, ended.stderr);
    assert!(format!("{}{}", ended.stdout, ended.stderr).contains("decode_paged"), "{}{}", ended.stdout, ended.stderr);
    let solution = std::fs::read_to_string(repository().join(DAY).join("solution.cu")).unwrap();
    let beyond = solution.replace("size_t row = (size_t)(page", "size_t row = (size_t)(10000 + page");
    let ended = machine.run(&["decode", "--kernel", &machine.file("beyond.cu", beyond)]);
    let said = ["FAILED after 0 bytes", "k_codes"].iter().all(|said| ended.stdout.contains(said));
    assert!(ended.status == 1 && said, "{}{}", ended.stdout, ended.stderr);
    machine.run(&["decode", "--cache", "int3"]).fails(2, &["int3", "k8v4"]);
    machine.run(&["decode", "--tokens", "2000"]).fails(2, &["1024"]);
}

#[test]
fn texts_at_once_share_their_launches_and_read_as_alone() {
    let machine = Machine::new();
    let alone = text(&machine, &[]);
    let (json, status) = machine.json(&["decode", "--tokens", "24", "--batch", "3"]);
    assert_eq!((status, json["texts"].as_array().map(Vec::len)), (0, Some(3)), "{json}");
    assert!(json["texts"].as_array().unwrap().iter().all(|text| text == &alone), "{json}");
    assert!(json["largest_error"].as_f64() < Some(1e-5) && json["tokens_per_second"].as_f64() > Some(0.0), "{json}");
    let drawn = ["decode", "--tokens", "12", "--batch", "2", "--temperature", "1", "--seed", "5"];
    let (json, _) = machine.json(&drawn);
    assert_ne!(json["texts"][0], json["texts"][1], "each is drawn by itself: {json}");
    // The pages of a text lie among those of the others.
    let wrong = ["decode", "--tokens", "24", "--batch", "2", "--kernel", "wrong/ignores-the-page-table"];
    assert_ne!(machine.json(&wrong).0["text"], alone);
    machine.run(&["decode", "--batch", "0"]).fails(2, &["1 to 256"]);
}

#[test]
fn lines_are_a_rungs_and_end_with_what_went_wrong() {
    let machine = Machine::new();
    let ended = machine.run(&["decode", "--lines", "--tokens", "3", "--cache", "int4"]);
    let lines: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect();
    assert_eq!((ended.status, lines.len(), &lines[0]["cache"]), (0, 4, &"int4".into()), "{}", ended.stdout);
    assert!(lines[1..].iter().all(|line| line["ok"] == true && line["median_ms"].as_f64() > Some(0.0)), "{lines:?}");
    let broken = machine.file("broken.cu", "extern \"C\" __global__ void decode_paged(int n) { int x = ; }\n");
    let ended = machine.run(&["decode", "--lines", "--kernel", &broken]);
    assert!(ended.status == 1 && ended.stdout.contains("{\"error\":"), "{}", ended.stdout);
}
