//! Kernels through the terminal, on the emulator: status, places, faults, counters, limits.

use crate::cli_support::{Machine, end, wait_for};
use curriculum::Course;
use curriculum::store::{Store, TextSlot};
use std::time::{Duration, Instant};

const GOOD: &str = "extern \"C\" __global__ void vector_add(const float* a, const float* b, float* c, int n) {\n\
                    \tint i = blockIdx.x * blockDim.x + threadIdx.x;\n\
                    \tif (i < n) c[i] = a[i] + b[i];\n\
                    }\n";

#[test]
fn the_scaffold_fails_and_the_reference_passes() {
    let machine = Machine::new();
    // With nothing typed yet, the learner's text is the scaffold.
    let scaffold = machine.run(&["check", "week1/day4"]);
    assert_eq!(scaffold.status, 1, "{}{}", scaffold.stdout, scaffold.stderr);
    assert!(scaffold.stdout.contains("FAILED"), "{}", scaffold.stdout);
    let reference = machine.run(&["check", "week1/day4", "--kernel", "reference"]);
    reference.shows(&["PASSED", "registers", "global loads", "seed"]);
}

#[test]
fn the_learners_own_text_is_judged_and_its_pass_is_noted() {
    let machine = Machine::new();
    let data = machine.path("data");
    let course = Course::embedded();
    let day = course.unit("week1/day4").unwrap();
    let exercise = &day.exercises[0];
    let slot = TextSlot::of(day, exercise);
    let write = |text: &str| {
        let store = Store::open(&data).unwrap();
        store.text(&slot, &exercise.scaffold);
        store.edit(&slot, text);
        assert!(store.flush(Duration::from_secs(10)));
    };
    write(&GOOD.replace("a[i] + b[i]", "a[i] - b[i]"));
    assert_eq!(machine.run(&["check", "week1/day4"]).status, 1);
    write(GOOD);
    machine.run(&["check", "week1/day4"]).shows(&["PASSED", "kernel.cu"]);
    // A file is no progress of the learner's text.
    machine.run(&["check", "week1/day4", "--kernel", "reference"]).shows(&["PASSED"]);

    let store = Store::open(&data).unwrap();
    let runs = store.runs(&slot);
    assert_eq!(runs.iter().map(|run| run.passed).collect::<Vec<_>>(), [false, true]);
    assert!(store.progress().exercise(day, &exercise.key).is_some_and(|noted| noted.passed.is_some()));
    assert_eq!(store.run_source(&slot, &runs[1]).as_deref(), Some(GOOD));
    // While a window has the folder open, a check works and says that it is not noted.
    let ended = machine.run(&["check", "week1/day4"]);
    ended.shows(&["PASSED"]);
    assert!(ended.stderr.contains("not noted"), "{}", ended.stderr);
}

/// Experiments are judged as the window judges them: by their own spec where they have one.
#[test]
fn experiments_are_kernels_too() {
    let machine = Machine::new();
    machine
        .run(&["check", "1.4", "--kernel", "experiments/grid-stride"])
        .shows(&["PASSED", "experiments/grid-stride.cu"]);
    machine.run(&["check", "1.3", "--kernel", "experiments/divergence.cu"]).shows(&["PASSED", "Divergence"]);
    machine.run(&["bench", "1.3", "--kernel", "experiments/divergence"]).shows(&["global loads"]);
    let unknown = machine.run(&["check", "1.4", "--kernel", "experiments/nothing"]);
    unknown.fails(2, &["experiments/nothing", "reference", "experiments/grid-stride"]);
    // What is noted is the learner's own text.
    let store = Store::open_read_only(&machine.path("data"));
    let course = Course::embedded();
    let day = course.unit("1.4").unwrap();
    assert!(store.runs(&TextSlot::of(day, &day.exercises[0])).is_empty());
}

#[test]
fn a_missing_bounds_check_names_fault_line_block_and_thread() {
    let machine = Machine::new();
    let text = GOOD.replace("if (i < n) ", "");
    let file = machine.file("mine.cu", &text);
    let ended = machine.run(&["check", "week1/day4", "--kernel", &file]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(ended.stdout.contains(&format!("{file}:3: out_of_bounds: ")), "{}", ended.stdout);
    // The last block of n = 1, 256 threads, is block 0; the first thread past the end is thread 1.
    assert!(ended.stdout.contains("block (0,0,0), thread (1,0,0)"), "{}", ended.stdout);
    assert!(ended.stdout.contains("     3 | \tc[i] = a[i] + b[i];\n       | \t"), "{}", ended.stdout);
}

/// Fault, line, block and thread; `lockstep dev check` asks for them of every wrong kernel of the course's days.
#[test]
fn a_known_wrong_kernel_is_rejected_with_a_place() {
    let machine = Machine::new();
    let course = curriculum::Course::embedded();
    let day = course.unit("week1/day4").unwrap();
    let (exercise, wrong) =
        day.exercises.iter().find_map(|exercise| Some((exercise, exercise.wrongs.first()?))).unwrap();
    let file = wrong.file.trim_end_matches(".cu");
    let ended = machine.run(&["check", &day.address, "--exercise", &exercise.key, "--kernel", file]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    let line = |start: &str| ended.stdout.lines().find(|line| line.starts_with(start)).expect("such a line");
    assert!(line("diagnosis: ").contains(&wrong.fault), "{}", ended.stdout);
    let summary = line("FAILED: ");
    assert!(summary.contains("block (") && (summary.contains("thread (") || summary.contains(" lanes ")), "{summary}");
    assert!(summary.contains(" at line ") || summary.contains(".cu:"), "{summary}");
}

#[test]
fn a_wrong_element_names_who_wrote_it() {
    let machine = Machine::new();
    let (report, _) = machine.json(&["check", "week1/day4", "--kernel", "wrong/wrong_output"]);
    let cases = report["verdict"]["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["passed"] == false).unwrap();
    let writer = &case["mismatches"][0]["writer"];
    // Element 256 is the first of block 1.
    assert_eq!(writer["thread"]["block"], serde_json::json!([1, 0, 0]), "{writer}");
    assert_eq!(writer["thread"]["thread"], serde_json::json!([0, 0, 0]), "{writer}");
    let course = curriculum::Course::embedded();
    let wrongs = &course.unit("week1/day4").unwrap().exercise().unwrap().wrongs;
    let text = &wrongs.iter().find(|wrong| wrong.fault == "wrong_output").unwrap().source;
    let line = writer["source"]["line"].as_u64().unwrap() as usize;
    assert!(text.lines().nth(line - 1).unwrap().contains("c[i] ="), "line {line} of {text}");
}

#[test]
fn a_seed_repeats_a_run() {
    let machine = Machine::new();
    let run = |seed: &str| {
        let (report, status) = machine.json(&["check", "1.4", "--kernel", "wrong/wrong_output", "--seed", seed]);
        assert_eq!(status, 1);
        let cases = report["verdict"]["cases"].as_array().unwrap().clone();
        cases.into_iter().map(|case| case["mismatches"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
}

#[test]
fn text_that_is_no_kernel_fails_with_status_1() {
    let machine = Machine::new();
    for (name, text, said) in [
        ("empty.cu", String::new(), "vector_add"),
        ("syntax.cu", GOOD.replace("+ b[i];", "+ ;"), "error"),
        ("name.cu", GOOD.replace("vector_add", "vector_sub"), "vector_add"),
        ("signature.cu", GOOD.replace(", int n)", ")").replace("i < n", "i < 9"), "parameter"),
        ("secret.cu", format!("#include \"/etc/passwd\"\n{GOOD}"), "include"),
    ] {
        let file = machine.file(name, text);
        let ended = machine.run(&["check", "week1/day4", "--kernel", &file]);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.status, 1, "{name}: {all}");
        assert!(all.contains(said), "{name}: {all}");
        assert!(!all.contains("root:"), "{name} leaks: {all}");
    }
}

#[test]
fn compile_shows_diagnostics_resources_and_products() {
    let machine = Machine::new();
    let good = machine.file("good.cu", GOOD);
    machine.run(&["compile", &good, "--arch", "sm_90"]).shows(&["sm_90", "vector_add", "registers", "no spills"]);
    machine
        .run(&["compile", &good, "--arch", "sm_121a", "--emit", "ptx"])
        .shows(&[".target sm_121a", ".entry vector_add"]);
    let cubin = machine.path("out.cubin");
    let ended = machine.run(&["compile", &good, "--emit", "cubin", "-o", cubin.to_str().unwrap()]);
    ended.shows(&[]);
    assert!(std::fs::read(&cubin).unwrap().starts_with(b"\x7fELF"));

    let bad = machine.file("bad.cu", GOOD.replace("c[i] = a", "c[i] = aa"));
    let ended = machine.run(&["compile", &bad]);
    assert_eq!(ended.status, 1);
    assert!(ended.stdout.contains(&format!("{bad}:3:")) && ended.stdout.contains("aa"), "{}", ended.stdout);
    assert!(ended.stdout.contains("     3 | "), "{}", ended.stdout);
}

#[test]
fn a_free_kernel_runs_once_with_its_spec() {
    let machine = Machine::new();
    let kernel = machine.file(
        "twice.cu",
        "extern \"C\" __global__ void twice(const float* x, float* y, int n) {\n  int i = threadIdx.x;\n  \
         if (i < n) y[i] = 2.0f * x[i];\n  if (i == 0) printf(\"n is %d\\n\", n);\n}\n",
    );
    let spec = machine.file(
        "twice.toml",
        "title = \"Twice\"\nentry = \"twice\"\n\
         [[param]]\nname = \"x\"\ndtype = \"f32\"\nshape = [\"n\"]\nfill = \"index\"\n\
         [[param]]\nname = \"y\"\ndtype = \"f32\"\nshape = [\"n\"]\nrole = \"out\"\n\
         [[param]]\nname = \"n\"\ndtype = \"i32\"\nvalue = \"n\"\n\
         [launch]\ngrid = [1]\nblock = [32]\n[sizes]\ncheck = [{ n = 8 }]\n[cost]\nflops = \"n\"\nbytes = \"8 * n\"\n",
    );
    let ended = machine.run(&["run", &kernel, "--spec", &spec]);
    ended.shows(&["COMPLETED", "y[8] = 0, 2, 4, 6", "n is 8"]);
}

#[test]
fn bench_on_the_emulator_counts_and_pretends_no_time() {
    let machine = Machine::new();
    let (report, status) = machine.json(&["bench", "week1/day4", "--kernel", "reference"]);
    assert_eq!(status, 0, "{report:#}");
    let points = report["bench"]["points"].as_array().unwrap();
    assert!(!points.is_empty());
    for point in points {
        assert!(point["counters"]["global_load"]["sectors"].as_u64().unwrap() > 0);
        assert!(point["stats"].is_null(), "nothing was measured");
        assert!(point["timing"].is_null() || point["timing"]["kind"] == "modelled", "{}", point["timing"]);
    }
}

#[test]
fn a_remote_worker_through_a_shell_gives_the_same_verdict() {
    let machine = Machine::new();
    // A stand-in for `ssh spark lockstep worker`.
    let command = format!("exec '{}' worker", env!("CARGO_BIN_EXE_lockstep"));
    assert_eq!(machine.run(&["devices", "--add", "spark", &command]).status, 0);
    let ended = machine.run(&["check", "week1/day4", "--kernel", "reference", "--device", "spark:emulator"]);
    ended.shows(&["spark", "PASSED"]);
    assert_eq!(machine.run(&["devices", "--add", "gone", "exit 3"]).status, 0);
    let ended = machine.run(&["check", "week1/day4", "--kernel", "reference", "--device", "gone:emulator"]);
    assert_eq!(ended.status, 2, "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn an_endless_loop_is_ended_by_a_limit() {
    let machine = Machine::new();
    let file = machine.file("endless.cu", GOOD.replace("if (i < n) ", "while (true) if (i < n) "));
    let started = Instant::now();
    let ended = machine.run(&["check", "week1/day4", "--kernel", &file]);
    assert_eq!(ended.status, 1, "{}{}", ended.stdout, ended.stderr);
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[cfg(unix)]
#[test]
fn interrupting_a_check_ends_it_cleanly() {
    let machine = Machine::new();
    let file = machine.file("endless.cu", GOOD.replace("if (i < n) ", "while (true) if (i < n) "));
    let mut command = machine.command(&["check", "week1/day4", "--kernel", &file]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mine = child.id();
    // Its workers are its children: wait until one exists, so that the interrupt meets a running job.
    wait_for(&mut child, "worker", || !children(mine).is_empty());
    std::thread::sleep(Duration::from_millis(500));
    let workers = children(mine);
    let started = Instant::now();
    end({
        let mut kill = std::process::Command::new("kill");
        kill.args(["-INT", &mine.to_string()]);
        kill
    });
    let output = child.wait_with_output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(5), "it took {:?}", started.elapsed());
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let alive = || workers.iter().any(|id| std::path::Path::new(&format!("/proc/{id}/exe")).exists());
    let waited = Instant::now();
    while alive() && waited.elapsed() < Duration::from_secs(3) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!alive(), "a worker outlives the command");
}

/// Processes whose parent is `id`.
#[cfg(unix)]
fn children(id: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let direct: Vec<u32> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    if !direct.is_empty() {
        return direct;
    }
    // Children belong to the thread that started them.
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|text| text.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>())
        .collect()
}
