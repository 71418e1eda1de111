//! Lines that a learner marks with a comment `// watch`, whose values a traced run keeps.

use ptx_emulator::SourceLine;

/// Lines that are kept at most: each costs memory at every step.
const MOST: usize = 8;

/// The marked lines of a source, in order; the first [`MOST`]. The comment may go on: `// watch: the sum so far`.
pub fn watched(source: &str, file: &str) -> Vec<SourceLine> {
    let is_marked = |line: &str| {
        let comment = line.rsplit_once("//").map(|(_, comment)| comment.trim());
        comment.is_some_and(|comment| comment == "watch" || comment.starts_with("watch:"))
    };
    let lines = source.lines().zip(1..).filter(|(line, _)| is_marked(line));
    lines.take(MOST).map(|(_, line)| SourceLine { file: file.to_owned(), line, column: 0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_comments_at_the_end_of_a_line() {
        let source =
            "float e = expf(x); // watch\nsum += e; // watch: the sum so far\nint watch = 1; // watching\n// watch\n";
        let lines: Vec<u32> = watched(source, "kernel.cu").iter().map(|line| line.line).collect();
        assert_eq!(lines, [1, 2, 4]);
        assert_eq!(watched(&"x; // watch\n".repeat(20), "k.cu").len(), MOST);
    }
}
