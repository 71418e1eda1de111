//! Full-text search over the whole course: lessons, hints, questions, glossary, formulas and kernels.

use crate::course::Course;
use crate::unit::{Step, Unit, UnitKind};

/// Where a hit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The unit's title, summary, objectives and tags.
    Head,
    Lesson(Step),
    Question,
    Glossary,
    Formula,
    /// The scaffold that the exercise starts from.
    Kernel,
}

impl Place {
    pub fn title(self, unit: &Unit) -> &str {
        match self {
            Place::Head => unit.place_word(),
            Place::Lesson(step) => unit.step_title(step),
            Place::Question => "Quiz",
            Place::Glossary => "Glossary",
            Place::Formula => "Formula",
            Place::Kernel => "Kernel",
        }
    }

    /// The step that shows it.
    pub fn step(self, unit: &Unit) -> Step {
        match self {
            Place::Head => unit.first_step(),
            Place::Lesson(step) => step,
            Place::Question => unit.last_step(),
            Place::Glossary | Place::Formula => unit.notes_step(),
            Place::Kernel => unit.exercise().map_or_else(|| unit.first_step(), |main| unit.step_of_exercise(&main.key)),
        }
    }
}

/// A text of the course that has all words of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Id of the unit.
    pub day: String,
    pub place: Place,
    /// The line with the most words of the query, cut to a readable length.
    pub snippet: String,
    /// Byte ranges of the query's words in `snippet`.
    pub marks: Vec<std::ops::Range<usize>>,
    /// Higher is better.
    pub score: u32,
}

/// One searchable text.
#[derive(Clone, Debug)]
struct Entry {
    day: String,
    place: Place,
    text: String,
    lower: String,
    weight: u32,
}

/// The course's texts, ready to be searched: build once, in the background for a large course.
#[derive(Clone, Debug, Default)]
pub struct Index {
    entries: Vec<Entry>,
}

/// Longest snippet, in characters.
const SNIPPET: usize = 120;

impl Index {
    pub fn new(course: &Course) -> Self {
        let mut index = Self::default();
        for unit in course.units() {
            index.add_unit(unit);
        }
        index
    }

    fn add_unit(&mut self, day: &Unit) {
        let mut add = |place, weight, text: String| {
            if !text.trim().is_empty() {
                let lower = text.to_lowercase();
                self.entries.push(Entry { day: day.id.clone(), place, text, lower, weight });
            }
        };
        let words = match &day.kind {
            UnitKind::Page { tags } => tags.join(", "),
            UnitKind::Problem { concepts, .. } => concepts.join(", "),
            _ => day.objectives.join("\n"),
        };
        add(Place::Head, 8, [&day.title, &day.summary, &words].map(String::as_str).join("\n"));
        for section in &day.lesson.sections {
            add(Place::Lesson(section.step), 3, plain(&section.markdown));
        }
        for term in &day.glossary {
            add(Place::Glossary, 6, plain(&format!("{}: {}", term.term, term.meaning)));
        }
        for entry in &day.math {
            add(Place::Formula, 4, format!("{}: {}", entry.name, entry.meaning));
        }
        for question in &day.quiz.questions {
            add(Place::Question, 2, plain(&question.prompt));
        }
        for exercise in &day.exercises {
            add(Place::Kernel, 2, exercise.scaffold.clone());
        }
    }

    /// Texts with all words of the query, best first, at most `limit`. A word also matches inside a longer one.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let words: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Vec::new();
        }
        let mut hits: Vec<Hit> = self.entries.iter().filter_map(|entry| hit(entry, &words)).collect();
        // Stable: equal hits stay in course order.
        hits.sort_by_key(|hit| std::cmp::Reverse(hit.score));
        hits.truncate(limit);
        hits
    }
}

fn hit(entry: &Entry, words: &[String]) -> Option<Hit> {
    let mut score = 0;
    for word in words {
        let found = entry.lower.matches(word.as_str()).count() as u32;
        if found == 0 {
            return None;
        }
        let whole = starts_of(&entry.lower, word).any(|at| is_word(&entry.lower, at, word.len()));
        score += entry.weight * (1 + found.min(5)) + if whole { 6 } else { 0 };
    }
    // All in one line is what was most likely meant.
    let count = |line: &str| words.iter().filter(|word| line.to_lowercase().contains(word.as_str())).count();
    let lines = entry.text.lines().filter(|line| !line.trim().is_empty());
    // `max_by_key` takes the last of equals; a reader expects the first.
    let best = lines.rev().max_by_key(|line| count(line)).unwrap_or_default();
    if count(best) == words.len() {
        score += 10;
    }
    let (snippet, marks) = snippet(best.trim(), words);
    Some(Hit { day: entry.day.clone(), place: entry.place, snippet, marks, score })
}

fn starts_of<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at)
}

fn is_word(text: &str, at: usize, len: usize) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    !letter(at.checked_sub(1).and_then(|before| bytes.get(before))) && !letter(bytes.get(at + len))
}

/// LaTeX as a line of text: signs for the commands that the course uses, and no braces. What is left of an unknown
/// command is its name, which may be what is looked for.
fn formula(tex: &str) -> String {
    const SIGNS: [(&str, &str); 16] = [
        ("\\cdot", "·"),
        ("\\times", "×"),
        ("\\approx", "≈"),
        ("\\left", ""),
        ("\\right", ""),
        ("\\lceil", "⌈"),
        ("\\rceil", "⌉"),
        ("\\lfloor", "⌊"),
        ("\\rfloor", "⌋"),
        ("\\bmod", "mod"),
        ("\\qquad", " "),
        ("\\quad", " "),
        ("\\text", ""),
        ("\\frac", ""),
        ("}{", "} / {"),
        ("\\", ""),
    ];
    let text = SIGNS.iter().fold(tex.to_owned(), |text, (tex, sign)| text.replace(tex, sign));
    text.replace(['{', '}'], "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formulas of a line written out. A dollar without a partner, or with a letter where a formula has none, stays.
fn with_formulas(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('$') {
        let dollars = if rest[at..].starts_with("$$") { "$$" } else { "$" };
        let inside = &rest[at + dollars.len()..];
        let Some(end) = inside.find(dollars).filter(|end| *end > 0 && !inside[..*end].contains('`')) else { break };
        out.push_str(&rest[..at]);
        out.push_str(&formula(&inside[..end]));
        rest = &inside[end + dollars.len()..];
    }
    out + rest
}

/// A row of a table as its cells, and what is said of a picture without the mark in front of it.
fn as_read(line: &str) -> String {
    if let Some(row) = line.trim().strip_prefix('|').and_then(|row| row.strip_suffix('|')) {
        let is_rule = row.chars().all(|c| "|-: ".contains(c));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        return if is_rule { String::new() } else { cells.join(" · ") };
    }
    let caption = line.strip_prefix("*[Interactive: ").and_then(|rest| Some(rest.split_once("]* ")?.1));
    caption.unwrap_or(line).to_owned()
}

/// Markdown as it reads: without backquotes, stars of emphasis and targets of links, and with formulas in a line. A star
/// between spaces multiplies.
pub fn plain(markdown: &str) -> String {
    let mut fenced = false;
    let lines = markdown.lines().map(|line| {
        fenced ^= line.trim_start().starts_with("```");
        if fenced { line.to_owned() } else { with_formulas(&as_read(line)) }
    });
    let markdown = lines.collect::<Vec<_>>().join("\n");
    let mut out = String::with_capacity(markdown.len());
    let mut before = ' ';
    let mut rest = markdown.chars().peekable();
    // Inside of backquotes a star is the code's own.
    let mut in_code = false;
    while let Some(c) = rest.next() {
        match c {
            '`' => in_code = !in_code,
            '*' if !in_code => {
                let blank_before = before.is_whitespace();
                let blank_after = rest.peek().is_none_or(|next| next.is_whitespace());
                // The first of a line is a bullet.
                let in_line = out.rsplit('\n').next().is_some_and(|line| !line.trim().is_empty());
                if blank_before && blank_after && before != '*' && in_line {
                    out.push(c);
                }
            }
            ']' if !in_code && rest.peek() == Some(&'(') => {
                let label = out.rfind('[').filter(|at| !out[*at..].contains('\n'));
                if let Some(at) = label {
                    out.remove(at);
                    for skipped in rest.by_ref() {
                        if skipped == ')' {
                            break;
                        }
                    }
                } else {
                    out.push(c);
                }
            }
            _ => out.push(c),
        }
        before = c;
    }
    out
}

/// The part of a line around the first word, and where all words are in it.
fn snippet(line: &str, words: &[String]) -> (String, Vec<std::ops::Range<usize>>) {
    let chars: Vec<char> = line.chars().collect();
    let first = words.iter().filter_map(|word| find(&chars, word, 0)).min().unwrap_or(0);
    let from = if chars.len() <= SNIPPET { 0 } else { first.saturating_sub(SNIPPET / 4) };
    let until = (from + SNIPPET).min(chars.len());
    let mut text = String::new();
    if from > 0 {
        text.push('…');
    }
    text.extend(&chars[from..until]);
    if until < chars.len() {
        text.push('…');
    }
    let shown: Vec<char> = text.chars().collect();
    let byte_of = |at: usize| shown[..at].iter().map(|c| c.len_utf8()).sum::<usize>();
    let mut marks = Vec::new();
    for word in words {
        let (mut at, len) = (0, word.chars().count());
        while let Some(found) = find(&shown, word, at) {
            marks.push(byte_of(found)..byte_of(found + len));
            at = found + len;
        }
    }
    marks.sort_by_key(|mark| mark.start);
    marks.dedup_by(|next, last| next.start < last.end);
    (text, marks)
}

/// Position in characters, ignoring case; lower-casing a whole text may change its length.
fn find(text: &[char], word: &str, from: usize) -> Option<usize> {
    let word: Vec<char> = word.chars().collect();
    let same = |a: char, b: char| a == b || a.to_lowercase().eq(b.to_lowercase());
    let last = text.len().checked_sub(word.len())?;
    (from..=last).find(|at| word.iter().zip(&text[*at..]).all(|(a, b)| same(*a, *b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_the_course_is_found() {
        let course = Course::embedded();
        let index = Index::new(&course);
        let hits = index.search("coalesc", 50);
        assert!(hits.len() > 3, "{hits:?}");
        assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
        let day = course.unit("first-kernel").expect("day 4");
        let find = |query: &str, place: Place| {
            let hits = index.search(query, usize::MAX);
            assert!(hits.iter().any(|hit| hit.day == day.id && hit.place == place), "{query}: {place:?} {hits:?}");
        };
        find(&day.title, Place::Head);
        find("vector_add", Place::Kernel);
        if let Some(term) = day.glossary.first() {
            find(&term.term, Place::Glossary);
        }
        assert_eq!(index.search("", 9), []);
        assert_eq!(index.search("zzz-no-such-word", 9), []);
    }

    #[test]
    fn all_words_are_needed_and_marked() {
        let index = Index {
            entries: vec![Entry {
                day: "d".into(),
                place: Place::Head,
                text: "Über warps\nA Warp reads sectors; a warp waits".into(),
                lower: "über warps\na warp reads sectors; a warp waits".into(),
                weight: 1,
            }],
        };
        let hits = index.search("warp sector", 9);
        assert_eq!(hits[0].snippet, "A Warp reads sectors; a warp waits");
        let marked: Vec<&str> = hits[0].marks.iter().map(|mark| &hits[0].snippet[mark.clone()]).collect();
        assert_eq!(marked, ["Warp", "sector", "warp"]);
        assert_eq!(index.search("warp bank", 9), []);
        assert_eq!(&index.search("über", 9)[0].snippet, "Über warps");
    }

    #[test]
    fn markdown_is_shown_as_it_reads() {
        let table = "| Without | no conflict |\n|---|---:|\n| 8 | 1/16 of a load |\n";
        assert_eq!(plain(table), "Without · no conflict\n\n8 · 1/16 of a load");
        assert_eq!(plain("*[Interactive: banks]* Turn it."), "Turn it.");
        for (markdown, shown) in [
            ("do **in the same moment**.", "do in the same moment."),
            ("ask for with the *different* sectors", "ask for with the different sectors"),
            ("with `STRIDE` 2 and `a*b`", "with STRIDE 2 and a*b"),
            ("2 * 3 threads", "2 * 3 threads"),
            ("see [the day](week1/day4) [1]", "see the day [1]"),
            ("* a list\n* more", " a list\n more"),
            ("thread $t$ of $B = 256$ owns $b \\cdot B + t$", "thread t of B = 256 owns b · B + t"),
            ("$$\\frac{2}{E} \\text{ reads of shared memory}$$", "2 / E reads of shared memory"),
            ("a dollar $ alone, and `$L__BB0_2` of `$x`", "a dollar $ alone, and $L__BB0_2 of $x"),
            ("```\nbra $L1; bra $L2;\n```", "\nbra $L1; bra $L2;\n"),
        ] {
            let shown_now = plain(markdown);
            assert_eq!(shown_now.trim(), shown.trim(), "{markdown}");
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_word() {
        let line = format!("{} needle {}", "x".repeat(300), "y".repeat(300));
        let (text, marks) = snippet(&line, &["needle".to_owned()]);
        assert!(text.chars().count() <= SNIPPET + 2 && text.starts_with('…') && text.ends_with('…'));
        assert_eq!(&text[marks[0].clone()], "needle");
    }
}
