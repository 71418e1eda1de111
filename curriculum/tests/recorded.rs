//! Figures that lessons quote, against the recordings that they were taken from.

use serde_json::Value;

const RECORDED: &str = include_str!("../../assets/recorded/matmul-week1-h200.json");
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
    let lesson = include_str!("../week1/day7-fast-matmul/lesson.md");
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
        (include_str!("../week1/day5-naive-matmul/lesson.md"), &["day5/experiments/uncoalesced", "cuBLAS"][..], SIZE),
        (include_str!("../week1/day5-naive-matmul/lesson.md"), &["day5/experiments/coalesced"], SIZE),
        (
            include_str!("../week1/day6-tiling/lesson.md"),
            &["day5/solution", "day6/experiments/tiled, TILE 16", "day6/experiments/tiled, TILE 32", "cuBLAS"],
            SIZE,
        ),
        (
            include_str!("../week1/day7-fast-matmul/lesson.md"),
            &["day7/experiments/register-square, SPREAD 0", "day7/06_tiled_matmul_v1.py"],
            SIZE,
        ),
        (
            include_str!("../week1/day7-fast-matmul/lesson.md"),
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
