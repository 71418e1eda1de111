//! What `--json` prints is what `app/JSON.md` shows: every key of one is in the other.

use crate::cli_support::{Machine, repository};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The page's examples by name.
fn examples() -> BTreeMap<String, Value> {
    let page = std::fs::read_to_string(repository().join("app/JSON.md")).unwrap();
    let mut found = BTreeMap::new();
    for block in page.split("```json ").skip(1) {
        let (name, rest) = block.split_once('\n').unwrap();
        let text = rest.split("```").next().unwrap();
        found.insert(name.to_owned(), serde_json::from_str(text).unwrap_or_else(|e| panic!("example {name}: {e}")));
    }
    found
}

/// All paths of keys below `value`, and those at which it has null or an empty list (nothing can be told below them).
fn paths(value: &Value, at: &str, keys: &mut BTreeSet<String>, ends: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                let path = format!("{at}.{key}");
                keys.insert(path.clone());
                paths(inner, &path, keys, ends);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                paths(item, at, keys, ends);
            }
        }
        Value::Array(_) | Value::Null => {
            ends.insert(at.to_owned());
        }
        _ => {}
    }
}

/// Paths of `of` that are neither in `other` nor below one of its ends.
fn missing(of: &Value, other: &Value) -> Vec<String> {
    let (mut keys, mut known, mut ends) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    paths(of, "", &mut keys, &mut BTreeSet::new());
    paths(other, "", &mut known, &mut ends);
    let below = |path: &String| ends.iter().any(|end| path.starts_with(&format!("{end}.")));
    keys.into_iter().filter(|path| !known.contains(path) && !below(path)).collect()
}

#[track_caller]
fn agrees(name: &str, printed: &Value) {
    let example = &examples()[name];
    assert_eq!(missing(printed, example), Vec::<String>::new(), "{name}: printed, not in app/JSON.md");
    assert_eq!(missing(example, printed), Vec::<String>::new(), "{name}: in app/JSON.md, not printed");
    assert_eq!(printed["version"], example["version"]);
    assert_eq!(printed["command"], example["command"]);
}

#[test]
fn the_comparison_sees_differences() {
    let (a, b) = (
        serde_json::json!({ "x": [{ "y": 1 }], "n": null }),
        serde_json::json!({ "x": [{ "z": 1 }], "n": { "m": 1 } }),
    );
    assert_eq!(missing(&a, &b), [".x.y"]);
    assert_eq!(missing(&b, &a), [".x.z"]);
}

#[test]
fn commands_without_a_kernel_print_what_the_page_shows() {
    let machine = Machine::new();
    let (error, status) = machine.json(&["check", "week9/day9"]);
    assert_eq!((status, error["exit_status"].as_i64()), (2, Some(2)));
    agrees("error", &error);
    agrees("list", &machine.json(&["list"]).0);
    agrees("practice", &machine.json(&["practice"]).0);
    let (doctor, status) = machine.json(&["doctor"]);
    assert_eq!((status, doctor["ready"].as_bool()), (0, Some(true)));
    agrees("doctor", &doctor);
    assert_eq!(machine.run(&["devices", "--add", "spark", "ssh spark lockstep worker"]).status, 0);
    let (devices, _) = machine.json(&["devices"]);
    agrees("devices", &devices);
    assert!(devices["devices"].as_array().unwrap().iter().any(|d| d["id"] == "emulator"), "{devices}");
}

#[test]
fn compile_prints_what_the_page_shows() {
    let machine = Machine::new();
    let file = machine.file("k.cu", "extern \"C\" __global__ void k(float* a) { int x; a[0] = 1.0f; }\n");
    let (report, status) = machine.json(&["compile", &file, "--emit", "ptx"]);
    assert_eq!(status, 0);
    agrees("compile", &report);
    assert_eq!(report["compiled"]["diagnostics"][0]["severity"], "warning");
    let bad = machine.file("bad.cu", "extern \"C\" __global__ void k(float* a) { int x = ; }\n");
    let (report, status) = machine.json(&["compile", &bad]);
    assert_eq!((status, report["outcome"].as_str()), (1, Some("compile_errors")));
    agrees("compile", &report);
}

#[test]
fn decode_prints_what_the_page_shows() {
    let machine = Machine::new();
    agrees("decode", &machine.json(&["decode", "--tokens", "2"]).0);
    agrees("decode", &machine.json(&["decode", "--perplexity", "--cache", "nvfp4"]).0);
}

#[test]
fn answers_print_what_the_page_shows_and_give_nothing_away_before() {
    let machine = Machine::new();
    let unit = ["answer", "practice/simulation/three-copies"];
    let (asked, status) = machine.json(&[&unit[..], &["--seed", "3"]].concat());
    assert_eq!((status, asked["mysteries"].as_array().map(Vec::len)), (0, Some(3)), "{asked}");
    for mystery in asked["mysteries"].as_array().unwrap() {
        assert!(mystery["source"].is_null() && mystery["questions"][0]["accepted"].is_null(), "{mystery}");
        assert!(mystery["questions"][0]["why"].is_null(), "{mystery}");
    }
    let right = "b=passes over shared memory,bank_conflicts";
    let (answered, status) = machine.json(&[&unit[..], &["--reply", right]].concat());
    assert_eq!(status, 0, "{answered}");
    agrees("answer", &answered);
    assert_eq!(answered["mysteries"][0]["questions"][1]["right"], true);
    let (wrong, status) = machine.json(&[&unit[..], &["--reply", &right.replace("bank_conflicts", "faults")]].concat());
    assert_eq!((status, wrong["mysteries"][0]["questions"][1]["right"].as_bool()), (1, Some(false)));
    machine.run(&[&unit[..], &["--reply", "z=1,2"]].concat()).fails(2, &["there is no kernel `z`; there are: a, b, c"]);
    machine.run(&[&unit[..], &["--reply", "a=1"]].concat()).fails(2, &["has 2 questions"]);
    machine.run(&["answer", "week1/day4"]).fails(2, &["asks no questions about kernels"]);
}

#[test]
fn kernels_print_what_the_page_shows() {
    let machine = Machine::new();
    let (failed, status) = machine.json(&["check", "week1/day4", "--kernel", "wrong/out_of_bounds"]);
    assert_eq!(status, 1);
    agrees("check", &failed);
    let (passed, status) = machine.json(&["check", "week1/day4", "--kernel", "reference"]);
    assert_eq!(status, 0);
    agrees("check", &passed);
    let (bench, status) = machine.json(&["bench", "week1/day4", "--kernel", "reference"]);
    assert_eq!(status, 0);
    agrees("bench", &bench);
    let (profile, status) = machine.json(&["profile", "week1/day4", "--kernel", "reference"]);
    assert_eq!(status, 0);
    agrees("profile", &profile);
    let counted = &bench["bench"]["points"].as_array().unwrap().last().unwrap()["counters"]["global_load"]["requests"];
    assert_eq!(profile["rows"][0]["emulator"], *counted);
    assert!(profile["ncu"].as_str().is_some_and(|line| line.starts_with("ncu ") && line.contains("--size")));
}

/// What the window does: the learner's text, in a process of its own.
#[test]
fn the_windows_profile_counts_the_text_that_is_open() {
    let machine = Machine::new();
    let reference = machine.json(&["profile", "week1/day4", "--kernel", "reference"]).0;
    let request = |kernel: &str| lockstep::profiled::Request {
        day: "week1/day4-first-kernel".into(),
        exercise: "main".into(),
        kernel: kernel.into(),
        device: "emulator".into(),
        data_dir: machine.path("data"),
        content: None,
    };
    let nvrtc = crate::cli_support::nvrtc();
    machine.file("data/settings.toml", format!("nvrtc = {:?}\n", nvrtc.display().to_string()));
    let kernels = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels");
    let text = std::fs::read_to_string(kernels.join("week1/day4-first-kernel/reference.cu")).unwrap();
    let run = |kernel: &str| {
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_lockstep"));
        lockstep::profiled::run_by(program, &request(kernel), &std::sync::atomic::AtomicBool::new(false))
    };
    let profiled = run(&text).unwrap();
    assert_eq!(profiled.rows[0].emulator, reference["rows"][0]["emulator"].as_u64());
    assert!(!profiled.has_gpu() && profiled.gpu_missing.is_none());
    let broken = run("extern \"C\" __global__ void vector_add(int n) { n = ; }").unwrap_err();
    assert!(broken.starts_with("the kernel does not compile: line 1: "), "{broken}");
    let wrong = run(&std::fs::read_to_string(kernels.join("week1/day4-first-kernel/wrong/out_of_bounds.cu")).unwrap());
    assert!(wrong.as_ref().is_err_and(|why| why.contains("past its end")), "{wrong:?}");
}

#[test]
fn a_run_prints_what_the_page_shows() {
    let machine = Machine::new();
    let kernel = machine
        .file("fill.cu", "__global__ void fill(float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = i; }\n");
    let (run, status) = machine.json(&["run", &kernel, "--size", "n=8"]);
    assert_eq!(status, 0, "{run}");
    agrees("run", &run);
    assert_eq!(run["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(run["run"], run["runs"][0]);
}

#[test]
fn a_ladder_prints_what_the_page_shows() {
    let (climbed, status) = Machine::new().json(&["bench", "--ladder", "copy", "--rung", "1"]);
    assert_eq!(status, 0, "{climbed}");
    agrees("ladder", &climbed);
    assert_eq!(climbed["rungs"][0]["file"], "01-one-per-thread.cu");
    assert_eq!(climbed["rungs"][0]["bench"]["passed_check"], true);
}

/// Two small ladders in a folder of their own, over the course.
#[test]
fn ladders_of_one_beginning_run_together() {
    let machine = Machine::new();
    let copy = repository().join("kernels/ladders/copy");
    let read = |file: &str| std::fs::read_to_string(copy.join(file)).unwrap();
    let whole = read("ladder.toml");
    let (one_rung, _) = whole.split_at(whole.rfind("[[rung]]").unwrap());
    for name in ["pair-a", "pair-b"] {
        machine.file(&format!("course/kernels/ladders/{name}/ladder.toml"), one_rung);
        machine.file(&format!("course/kernels/ladders/{name}/01-one-per-thread.cu"), read("01-one-per-thread.cu"));
    }
    let pair = ["bench", "--ladder", "pair", "--content", "course"];
    let (climbed, status) = machine.json(&pair);
    assert_eq!(status, 0, "{climbed}");
    agrees("ladders", &climbed);
    let names: Vec<&str> =
        climbed["ladders"].as_array().unwrap().iter().map(|l| l["ladder"].as_str().unwrap()).collect();
    assert_eq!(names, ["pair-a", "pair-b"]);
    assert_eq!(climbed["ladders"][1]["rungs"][0]["bench"]["passed_check"], true);
    machine.run(&pair).shows(&["pair-a  Copy", "pair-b  Copy"]);
    machine.run(&[&pair[..], &["--rung", "1"]].concat()).fails(2, &["for one ladder", "pair-a, pair-b"]);
    // One that is wrong fails all of them.
    machine.file("course/kernels/ladders/pair-a/01-one-per-thread.cu", "extern \"C\" __global__ void copy() {}");
    assert_eq!(machine.json(&pair).1, 1);
}

#[test]
fn a_report_that_fails_is_still_one_object() {
    let machine = Machine::new();
    let file = machine.file("empty.cu", "");
    let (report, status) = machine.json(&["check", "week1/day4", "--kernel", &file]);
    assert_eq!((status, report["command"].as_str()), (1, Some("check")));
}

#[test]
fn what_is_remembered_and_what_leads_where_print_what_the_page_shows() {
    let machine = Machine::new();
    let (nothing, status) = machine.json(&["review"]);
    assert_eq!((status, &nothing["questions"]), (0, &serde_json::json!([])));
    // A card as earlier versions wrote it, in the third box.
    let card = "[review.\"first-kernel/linear-index\"]\nbox = 2\ndue = \"2026-01-08\"\nseen = 3\nmissed = 1\n";
    machine.file("data/progress.toml", card);
    let (review, status) = machine.json(&["review"]);
    assert_eq!((status, review["due"].as_u64()), (0, Some(1)), "{review}");
    agrees("review", &review);
    assert_eq!(review["questions"][0]["last"], "2026-01-01");
    assert!(review["questions"][0]["chance"].as_f64().unwrap() < 0.9, "{review}");
    let words = machine.run(&["review", "--questions"]).stdout;
    assert!(
        words.contains("week1/day4-first-kernel#linear-index") && words.contains("1 question is due today"),
        "{words}"
    );

    let (map, status) = machine.json(&["list", "--map"]);
    assert_eq!(status, 0);
    agrees("list-map", &map);
    let units = map["map"].as_array().unwrap();
    let of = |address: &str| units.iter().find(|unit| unit["address"] == address).unwrap();
    let tiling = of("week1/day6-tiling");
    assert_eq!(tiling["after"], serde_json::json!(["week1/day5-naive-matmul"]));
    assert!(tiling["leads_to"].as_array().unwrap().iter().any(|unit| unit == "week1/day7-fast-matmul"), "{tiling}");
    let level = |address: &str| of(address)["level"].as_u64().unwrap();
    assert!(level("week1/day1-cpu-baseline") == 1 && level("week4/day7-production") > 15);
    assert!(machine.run(&["list", "--map"]).stdout.contains("after week1/day5-naive-matmul"));
}
