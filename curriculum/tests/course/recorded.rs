//! Figures that lessons quote, against the recordings that they were taken from.

use serde_json::Value;

const RECORDED: &str = include_str!("../../../assets/recorded/matmul-week1-h200.json");
const SIZE: u64 = 4096;

/// GFLOP/s of a kernel, as lessons write it: `5,730`.
fn figure(recorded: &Value, kernel: &str, size: u64) -> String {
    let rows = recorded["times"].as_array().expect("times");
    let row = rows.iter().find(|row| row["kernel"] == kernel && row["size"] == size);
    let gflops = row.and_then(|row| row["gflops"].as_f64()).unwrap_or_else(|| panic!("{kernel} at {size}"));
    let digits = format!("{gflops:.0}");
    match digits.len() {
        0..=3 => digits,
        length => format!("{},{}", &digits[..length - 3], &digits[length - 3..]),
    }
}

#[test]
fn the_matmul_ladder_is_what_was_recorded() {
    let recorded: Value = serde_json::from_str(RECORDED).expect("JSON");
    let lesson = include_str!("../../week1/day7-fast-matmul/lesson.md");
    let steps = [
        "day5/experiments/uncoalesced",
        "day5/experiments/coalesced",
        "day6/experiments/tiled, TILE 32",
        "day7/experiments/register-column",
        "day7/experiments/register-square",
        "day7/experiments/vectorized",
        "day7/reference",
    ];
    let library = recorded["times"]
        .as_array()
        .expect("times")
        .iter()
        .find(|row| row["kernel"] == "cuBLAS" && row["size"] == SIZE);
    let library = library.and_then(|row| row["gflops"].as_f64()).expect("cuBLAS");
    for (index, kernel) in steps.iter().enumerate() {
        let figure = figure(&recorded, kernel, SIZE);
        let share = 100.0 * figure.replace(',', "").parse::<f64>().expect("a number") / library;
        let row = lesson.lines().find(|line| line.starts_with(&format!("| {} |", index + 1)) && line.contains(" % |"));
        let row = row.unwrap_or_else(|| panic!("no row for step {}", index + 1));
        assert!(row.ends_with(&format!("| {figure} | {share:.0} % |")), "{kernel}: {figure}, {share:.0} %: {row}");
    }
}

#[test]
fn sentences_quote_what_was_recorded() {
    let recorded: Value = serde_json::from_str(RECORDED).expect("JSON");
    let lessons = [
        (
            include_str!("../../week1/day5-naive-matmul/lesson.md"),
            &["day5/experiments/uncoalesced", "cuBLAS"][..],
            SIZE,
        ),
        (include_str!("../../week1/day5-naive-matmul/lesson.md"), &["day5/experiments/coalesced"], SIZE),
        (
            include_str!("../../week1/day6-tiling/lesson.md"),
            &["day5/solution", "day6/experiments/tiled, TILE 16", "day6/experiments/tiled, TILE 32", "cuBLAS"],
            SIZE,
        ),
        (
            include_str!("../../week1/day7-fast-matmul/lesson.md"),
            &["day7/experiments/register-square, SPREAD 0", "day7/06_tiled_matmul_v1.py"],
            SIZE,
        ),
        (
            include_str!("../../week1/day7-fast-matmul/lesson.md"),
            &["day5/experiments/coalesced", "day7/experiments/register-square", "day7/reference", "cuBLAS"],
            1024,
        ),
    ];
    for (lesson, kernels, size) in lessons {
        for kernel in kernels {
            let figure = figure(&recorded, kernel, size);
            assert!(lesson.contains(&figure), "{kernel} at {size}: {figure} is not quoted");
        }
    }
}

/// Medians that `lockstep bench` took of the kernels that the milestones of days 1 and 3 are to tell apart.
#[test]
fn the_milestones_of_one_thread_stand_between_what_was_recorded() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../../assets/recorded/one-thread-h200.json")).expect("JSON");
    let best = |kernel: &str| {
        let rows = recorded["times"].as_array().expect("times").iter().filter(|row| row["kernel"] == kernel);
        rows.filter_map(|row| row["share"].as_f64()).reduce(f64::max).unwrap_or_else(|| panic!("{kernel}"))
    };
    let course = curriculum::Course::embedded();
    let asked = |day: &str, milestone: &str| {
        let exercise = &course.unit(day).expect("a day").exercises[0];
        let milestone = exercise.spec.milestones.iter().find(|of| of.name == milestone).expect("a milestone");
        milestone.share_of_ceiling.expect("a share")
    };
    for (day, milestone, slower, faster) in [
        ("week1/day1", "A sum in a register", "day1/solution", "loops i, j, k, a sum in a register"),
        ("week1/day1", "Four sums at a time", "loops i, j, k, a sum in a register", "2 x 2 sums"),
        ("week1/day1", "Sixty-four at a time", "2 x 2 sums", "day1/reference, 8 x 8 sums"),
        ("week1/day3", "Together", "one lane writes for its warp", "day3/reference"),
    ] {
        let (slow, asked, fast) = (best(slower), asked(day, milestone), best(faster));
        assert!(slow < 0.8 * asked && 1.2 * asked < fast, "{milestone}: {slow}, {asked} asked, {fast}");
    }
}

#[test]
fn the_lessons_quote_what_programs_and_scripts_printed() {
    let lessons = [
        include_str!("../../week1/day1-cpu-baseline/lesson.md"),
        include_str!("../../week1/day2-library-speedup/lesson.md"),
    ];
    let recorded = [
        include_str!("../../../assets/recorded/cpu-matmul-h200.jsonl"),
        include_str!("../../../assets/recorded/python-week1-h200.jsonl"),
    ];
    let gflops = |rung: &str| {
        let lines = recorded.iter().flat_map(|text| text.lines());
        let rows = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let found = rows.into_iter().find(|row| row["rung"] == rung && row["name"] == "n = 1024");
        found.and_then(|row| row["gflops"].as_f64()).unwrap_or_else(|| panic!("{rung}"))
    };
    let cpu = ["CPU, loops i-j-k", "CPU, loops i-k-j", "CPU, blocks of 64"].map(|rung| format!("{:.1}", gflops(rung)));
    let quoted = format!("{} and {:.0} GFLOP/s at n = 1024", cpu.join(", "), gflops("CPU, library, all cores"));
    assert!(lessons[0].contains(&quoted), "{quoted}");
    let grouped = |rung: &str| {
        let digits = format!("{:.0}", gflops(rung));
        format!("{},{} GFLOP/s", &digits[..digits.len() - 3], &digits[digits.len() - 3..])
    };
    assert!(lessons[0].contains(&grouped("NumPy")) && lessons[1].contains(&grouped("NumPy")), "{}", grouped("NumPy"));
    for rung in ["CuPy, data stays", "CuPy, copies each time"] {
        assert!(lessons[1].contains(&grouped(rung)), "{}", grouped(rung));
    }
}

#[test]
fn the_price_of_divergence_is_what_was_recorded() {
    let recorded: Value =
        serde_json::from_str(include_str!("../../../assets/recorded/divergence-h200.json")).expect("JSON");
    let times = |by_warp: u64| -> Vec<u64> {
        let rows = recorded["times"].as_array().expect("times").iter().filter(|row| row["by_warp"] == by_warp);
        rows.map(|row| (row["median_ns"].as_f64().expect("a time") / 1e3).round() as u64).collect()
    };
    let (lanes, warps) = (times(0), times(1));
    let lesson = include_str!("../../week1/day3-how-gpus-work/lesson.md");
    let [one, two, four, eight, sixteen, all] = lanes[..] else { panic!("{lanes:?}") };
    assert!(all >= 1000);
    let quoted = format!(
        "took {one} us (microseconds, millionths of a second) with one way and $2^{{22}}$ elements; with 2, 4, 8, 16 and \
         32 ways among neighboring lanes {two}, {four}, {eight}, {sixteen} and {},{:03} us",
        all / 1000,
        all % 1000
    );
    assert!(lesson.contains(&quoted), "{quoted}");
    let (least, most) = (warps.iter().min().expect("six"), warps.iter().max().expect("six"));
    assert!(lesson.contains(&format!("chosen by warp {least} to {most} us")), "{least} to {most}");
}
