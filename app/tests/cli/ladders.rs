//! Ladders in the terminal, and what was recorded of them on a GPU.

use crate::cli_support::{Machine, repository};
use curriculum::Course;
use serde_json::Value;

#[test]
fn a_rung_is_named_by_number_file_or_name_and_mistakes_are_told() {
    let machine = Machine::new();
    machine.run(&["bench", "--ladder", "no-such"]).fails(2, &["matmul-bf16"]);
    machine.run(&["bench", "--ladder", "copy", "--rung", "99"]).fails(2, &["01-one-per-thread.cu"]);
    machine.run(&["bench", "week1/day4", "--ladder", "copy"]).fails(2, &["--ladder"]);
    machine.run(&["bench"]).fails(2, &["DAY"]);
    machine.run(&["bench", "week1/day4", "--rivals"]).fails(2, &["names no rivals", "--ladder NAME --rivals"]);
    machine.run(&["bench", "week3/day3", "--rivals"]).fails(2, &["--device gpu"]);
    machine.run(&["bench", "week1/day4", "--rung", "1"]).fails(2, &["--rung"]);
    machine
        .run(&["bench", "--ladder", "copy", "--rivals", "--device", "gpu"])
        .fails(2, &["copy names no rivals", "cuBLASLt"]);
    machine.run(&["bench", "--ladder", "sum", "--rivals"]).fails(2, &["--device gpu"]);
    // A folder's own script of rivals is run only when that is said.
    let folder = machine.path("theirs");
    let script = folder.join("kernels/ladders/sum/rivals.py");
    std::fs::create_dir_all(script.parent().unwrap()).unwrap();
    let functions = "def expected(case): ...\ndef torch_sum(case): ...\ndef cub(case): ...\n";
    std::fs::write(&script, functions).unwrap();
    let theirs = ["bench", "--ladder", "sum", "--rivals", "--content", folder.to_str().unwrap()];
    machine.run(&theirs).fails(2, &["did not come with Lockstep", "--trust-scripts"]);
    machine.run(&[&theirs[..], &["--trust-scripts"]].concat()).fails(2, &["--device gpu"]);
    machine.run(&["bench", "--ceilings"]).fails(2, &["--device gpu"]);
}

/// Every recording belongs to the ladders as they are now, and keeps what they promise.
#[test]
fn recordings_fit_their_ladders() {
    let course = Course::embedded();
    let mut recordings = 0;
    for entry in std::fs::read_dir(repository().join("assets/recorded")).unwrap().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if !file.starts_with("ladder-") {
            continue;
        }
        recordings += 1;
        let recorded: Value = serde_json::from_str(&std::fs::read_to_string(entry.path()).unwrap()).unwrap();
        for key in ["name", "driver", "date"] {
            assert!(recorded["machine"][key].is_string(), "{file}: machine.{key}");
        }
        let ladder = course.ladders.iter().find(|ladder| recorded["ladder"] == ladder.name.as_str());
        let ladder = ladder.unwrap_or_else(|| panic!("{file}: no such ladder"));
        let rungs = recorded["rungs"].as_array().unwrap();
        let files: Vec<&str> = rungs.iter().map(|rung| rung["file"].as_str().unwrap()).collect();
        let now: Vec<&str> = ladder.rungs.iter().map(|rung| rung.file.as_str()).collect();
        assert_eq!(files, now, "{file}: measure again");
        for (number, (recorded, rung)) in rungs.iter().zip(&ladder.rungs).enumerate() {
            let place = format!("{file}: {}", rung.file);
            assert_eq!(recorded["outcome"], "done", "{place}");
            assert_eq!(recorded["bench"]["passed_check"], true, "{place}");
            // A rung that only changes what the same kernel is given has nothing to compile.
            let compiled = || rungs[..number].iter().any(|before| before["file"] == rung.file.as_str());
            assert!(recorded["compile_from_cache"] == false || compiled(), "{place}");
            assert!(recorded["compile_ms"].as_f64().unwrap() <= 3000.0, "{place}: more than 3 s to compile");
            for point in recorded["bench"]["points"].as_array().unwrap() {
                assert!(point["rejected"].is_null() && point["stats"]["median_ns"].is_number(), "{place}: {point}");
            }
            let gains = recorded["times_the_rung_before"].as_object().unwrap().values();
            let slower = gains.filter_map(Value::as_f64).any(|gain| gain < 0.995);
            assert!(
                !slower || rung.slower_because.is_some(),
                "{place} is slower than the rung before, and no word why"
            );
        }
    }
    assert!(recordings > 0, "nothing is recorded");
}
