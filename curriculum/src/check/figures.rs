//! Measured figures in lessons: a number with a unit of performance is worth nothing without its machine.

/// Units of speed and of measured time.
const UNITS: [&str; 14] = [
    "GB/s", "TB/s", "MB/s", "GFLOP/s", "TFLOP/s", "GFLOPS", "TFLOPS", "ms", "us", "\u{b5}s", "ns", "x faster",
    "clocks", "cycles",
];

/// Words that name a machine.
const MACHINES: [&str; 20] = [
    "H200",
    "H100",
    "A100",
    "A6000",
    "B200",
    "GB10",
    "Spark",
    "RTX",
    "Turing",
    "Ampere",
    "Hopper",
    "Blackwell",
    "Ada",
    "Xeon",
    "EPYC",
    "Jetson",
    "laptop",
    "your machine",
    "your own",
    "this machine",
];

/// The figures of paragraphs that name no machine; code and formulas are no claims.
pub(super) fn without_machine(markdown: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fenced = false;
    for paragraph in markdown.split("\n\n") {
        let fences = paragraph.lines().filter(|line| line.trim_start().starts_with("```")).count();
        let skip = fenced || fences > 0;
        fenced ^= fences % 2 == 1;
        if skip || MACHINES.iter().any(|machine| paragraph.contains(machine)) {
            continue;
        }
        found.extend(UNITS.iter().filter_map(|unit| figure(paragraph, unit)));
    }
    found
}

/// The first `number unit` in a text.
fn figure<'a>(text: &'a str, unit: &str) -> Option<&'a str> {
    text.match_indices(unit).find_map(|(at, _)| {
        let after = text[at + unit.len()..].chars().next();
        if after.is_some_and(|c| c.is_alphanumeric() || c == '/') {
            return None;
        }
        let before = text[..at].trim_end_matches([' ', '~', '$']);
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit() || ".,".contains(c)).len();
        (digits > 0).then(|| &text[before.len() - digits..at + unit.len()])
    })
}

#[cfg(test)]
mod tests {
    use super::without_machine;

    #[test]
    fn a_figure_needs_a_machine_in_its_paragraph() {
        assert_eq!(without_machine("It runs at 4,249 GB/s."), ["4,249 GB/s"]);
        assert_eq!(without_machine("On one H200 it runs\nat 4,249 GB/s."), [""; 0]);
        assert_eq!(without_machine("On an H200.\n\nIt takes 0.73 ms, or 3us."), ["0.73 ms", "3us"]);
        assert_eq!(without_machine("12 bytes, 32 threads, items, 5 msgs"), [""; 0]);
        assert_eq!(without_machine("```\n7 ms\n\n8 ms\n```\n\nand 9 ms"), ["9 ms"]);
    }
}
