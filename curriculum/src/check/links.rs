//! Links within the words of the course: each leads to the web, to a unit, to a step of one, or to a word.

use crate::course::Course;

/// Targets of links that lead nowhere, in Markdown or in a file of it; code is left out.
pub(super) fn astray<'t>(text: &'t str, course: &Course) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Every second piece is code.
        for words in line.split('`').step_by(2) {
            for (at, _) in words.match_indices("](") {
                // A picture's file is the loader's business.
                let picture = words[..at].rfind('[').is_some_and(|open| words[..open].ends_with('!'));
                let target = words[at + 2..].split_once(')').map(|(target, _)| target);
                found.extend(target.filter(|target| !picture && !leads_somewhere(target, course)));
            }
        }
    }
    found
}

/// The same rules as the window's.
fn leads_somewhere(target: &str, course: &Course) -> bool {
    if target.starts_with("https://") || target.starts_with("http://") {
        return true;
    }
    if let Some(term) = target.strip_prefix("glossary:") {
        return course.glossary().iter().any(|(entry, _)| entry.term.eq_ignore_ascii_case(term));
    }
    let (day, step) = target.split_once('#').map_or((target, None), |(day, step)| (day, Some(step)));
    course.unit(day).is_ok_and(|unit| step.is_none_or(|step| unit.step_by_id(step).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let course = Course::embedded();
        let good =
            "See [day 5](week1/day5#concept), [this](https://example.org/a), [cache line](glossary:cache line).\n";
        assert_eq!(astray(good, &course), [""; 0]);
        let bad = "See [day 9](week1/day9), [x](week1/day5#nowhere), [y](glossary:no such word) and [z](lesson.md).";
        let targets = ["week1/day9", "week1/day5#nowhere", "glossary:no such word", "lesson.md"];
        assert_eq!(astray(bad, &course), targets);
        assert_eq!(astray("![A chip](chip.svg) of [day 5](week1/day5)\n", &course), [""; 0]);
        assert_eq!(astray("A lambda `[&](int i)`.\n```cpp\nauto f = [](int i) {};\n```\n", &course), [""; 0]);
    }
}
