//! Scaffold and solution: solving changes only the places that are marked.
//!
//! A place begins at a comment with `TODO` and ends at the next blank line or at a closing brace. Everything else of the
//! scaffold, comments and spacing aside, stands in the solution in the same order.

/// Something wrong with a scaffold.
pub(super) struct Mark<'a> {
    /// Text of the line that is meant, empty for the whole file.
    pub near: &'a str,
    pub what: String,
}

pub(super) fn findings<'a>(scaffold: &'a str, solution: &str) -> Vec<Mark<'a>> {
    let mut marks = Vec::new();
    if !scaffold.contains("TODO") {
        marks.push(Mark { near: "", what: "no TODO: a learner would not know where to write".to_owned() });
    }
    if code_lines(solution).any(|line| line.contains("TODO")) || solution.contains("// TODO") {
        marks.push(Mark { near: "", what: "the solution has a TODO left".to_owned() });
    }
    let solved: Vec<String> = code_lines(solution).collect();
    let mut at = 0;
    for line in outside_places(scaffold) {
        let code = strip(line);
        if code.is_empty() {
            continue;
        }
        match solved[at..].iter().position(|solved| *solved == code) {
            Some(offset) => at += offset + 1,
            None => marks.push(Mark {
                near: line,
                what: format!("`{}` is outside the TODO places, but the solution does not have it there", line.trim()),
            }),
        }
    }
    marks
}

/// The lines that a solution must keep.
fn outside_places(scaffold: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    scaffold.lines().filter(move |line| {
        let code = line.trim();
        if code.starts_with("//") && code.contains("TODO") {
            inside = true;
        } else if code.is_empty() || code.starts_with('}') {
            inside = false;
        }
        !inside
    })
}

fn code_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(strip).filter(|line| !line.is_empty())
}

/// A line without its comment and without spaces.
fn strip(line: &str) -> String {
    line.split("//").next().unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCAFFOLD: &str =
        "void k(int n)\n{\n    // TODO 1: the index.\n    int i = 0;\n\n    int j = n;\n    // TODO 2\n}\n";

    fn whats(reference: &str) -> Vec<String> {
        findings(SCAFFOLD, reference).into_iter().map(|mark| mark.what).collect()
    }

    #[test]
    fn places_may_change_and_the_rest_stays() {
        assert_eq!(
            whats("void k(int n)\n{\n    int i = 7; // mine\n    int j = n;\n    if (i) j++;\n}\n"),
            Vec::<String>::new()
        );
        let missing = whats("void k(int n)\n{\n    int i = 7;\n}\n");
        assert!(missing.len() == 1 && missing[0].contains("`int j = n;`"), "{missing:?}");
        assert!(whats("void k(long n)\n{\nint j = n;\n}\n")[0].contains("void k(int n)"));
    }

    #[test]
    fn a_scaffold_has_a_todo_and_a_reference_has_none() {
        assert!(findings("int a;\n", "int a;\n")[0].what.contains("no TODO"));
        assert!(
            whats("void k(int n)\n{\n    // TODO 2\n    int j = n;\n}\n").iter().any(|what| what.contains("TODO left"))
        );
    }
}
