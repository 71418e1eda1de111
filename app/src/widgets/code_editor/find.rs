//! Find and replace in the editor's text, by words or by regular expressions.

use regex::{Regex, RegexBuilder};
use std::ops::Range;

/// What is looked for and where it was found.
#[derive(Clone, Debug, Default)]
pub struct Find {
    pub open: bool,
    pub replace_open: bool,
    pub query: String,
    pub replacement: String,
    pub match_case: bool,
    pub whole_word: bool,
    pub regex: bool,
    /// All matches in order; not overlapping.
    pub matches: Vec<Range<usize>>,
    /// What is wrong with the expression, in a few words.
    pub problem: Option<String>,
    /// Grows when the box should take the keyboard.
    pub focus: u64,
    /// Where the search began (anchor, cursor), until a match is kept or the learner works on elsewhere.
    pub from: Option<(usize, usize)>,
    /// The expression as it was compiled last.
    compiled: Option<(String, bool, Regex)>,
}

/// Matches kept: more than anyone steps through, and a bound on the work of one keystroke.
const MAX_MATCHES: usize = 10_000;

/// Bytes that a compiled expression may take: `(\w{100}){100}` must not eat the memory.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// What to do about the mistakes that everybody makes, by how the library's message begins.
const REMEDIES: [(&str, &str); 6] = [
    ("unclosed group", r"its `)` is missing, or write `\(` to find the bracket itself"),
    ("unopened group", r"it has no `(`, or write `\)` to find the bracket itself"),
    ("unclosed character class", r"its `]` is missing, or write `\[` to find the bracket itself"),
    (
        "repetition operator missing expression",
        r"nothing stands before it, or write `\*`, `\+`, `\?` for the sign itself",
    ),
    ("unclosed counted repetition", r"its `}` is missing, or write `\{` to find the brace itself"),
    ("incomplete escape sequence", r"a letter or a sign is to follow, or write `\\` to find the backslash itself"),
];

impl Find {
    /// Looks again after the text or the question changed.
    pub fn refresh(&mut self, text: &str) {
        self.matches.clear();
        self.problem = None;
        if !self.open || self.query.is_empty() {
            return;
        }
        if !self.regex {
            self.matches = matches(text, &self.query, self.match_case, self.whole_word);
            return;
        }
        match self.expression() {
            Ok(regex) => {
                // An empty match, as of `x*`, is nothing that could be shown or replaced.
                let found = regex.find_iter(text).map(|found| found.range()).filter(|range| !range.is_empty());
                self.matches =
                    found.filter(|range| !self.whole_word || is_whole(text, range)).take(MAX_MATCHES).collect();
            }
            Err(problem) => self.problem = Some(problem),
        }
    }

    /// The expression, compiled once per change.
    fn expression(&mut self) -> Result<Regex, String> {
        if let Some((query, match_case, regex)) = &self.compiled
            && *query == self.query
            && *match_case == self.match_case
        {
            // A clone shares the program.
            return Ok(regex.clone());
        }
        let mut builder = RegexBuilder::new(&self.query);
        // `^` and `$` are a line's, as in every editor.
        builder.multi_line(true).case_insensitive(!self.match_case).size_limit(MAX_REGEX_BYTES);
        let regex = builder.build().map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "this expression is too large".to_owned(),
            error => {
                // The last line says what is wrong; those before draw a caret, for which there is no room.
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default();
                let what = last.strip_prefix("error: ").unwrap_or(last);
                match REMEDIES.iter().find(|(said, _)| what.starts_with(said)) {
                    Some((_, remedy)) => format!("{what}; {remedy}"),
                    None => what.to_owned(),
                }
            }
        })?;
        self.compiled = Some((self.query.clone(), self.match_case, regex.clone()));
        Ok(regex)
    }

    /// What a match becomes: the replacement, with `$1` and `${name}` of an expression filled in.
    pub fn replaced(&mut self, text: &str, found: &Range<usize>) -> String {
        if !self.regex {
            return self.replacement.clone();
        }
        let Ok(regex) = self.expression() else { return self.replacement.clone() };
        let mut with = String::new();
        // With the text around it: `^`, `$` and `\b` look there.
        match regex.captures_at(text, found.start).filter(|captures| captures.get_match().range() == *found) {
            Some(captures) => captures.expand(&self.replacement, &mut with),
            None => with.clone_from(&self.replacement),
        }
        with
    }

    /// The first match at or after `from`, else the first of all.
    pub fn next_from(&self, from: usize) -> Option<Range<usize>> {
        self.matches.iter().find(|m| m.start >= from).or_else(|| self.matches.first()).cloned()
    }

    /// The last match that ends before `to`, else the last of all.
    pub fn previous_from(&self, to: usize) -> Option<Range<usize>> {
        self.matches.iter().rev().find(|m| m.end <= to).or_else(|| self.matches.last()).cloned()
    }
}

fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !(text[..range.start].chars().next_back().is_some_and(is_word)
        || text[range.end..].chars().next().is_some_and(is_word))
}

fn matches(text: &str, query: &str, match_case: bool, whole_word: bool) -> Vec<Range<usize>> {
    let whole = |range: &Range<usize>| !whole_word || is_whole(text, range);
    let found: Box<dyn Iterator<Item = Range<usize>>> = if match_case {
        Box::new(text.match_indices(query).map(|(at, m)| at..at + m.len()))
    } else {
        // Only ASCII letters fold: byte offsets stay those of the text, and CUDA's names are ASCII.
        let (hay, needle) = (text.as_bytes(), query.as_bytes());
        let mut at = 0;
        Box::new(std::iter::from_fn(move || {
            while at + needle.len() <= hay.len() {
                let end = at + needle.len();
                if hay[at..end].eq_ignore_ascii_case(needle) {
                    let found = at..end;
                    at = end;
                    return Some(found);
                }
                at += 1;
            }
            None
        }))
    };
    found.filter(whole).take(MAX_MATCHES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_words_in_any_case_and_wraps_around() {
        let mut find = Find { open: true, query: "tile".into(), ..Find::default() };
        find.refresh("Tile tile_x TILE é tile");
        assert_eq!(find.matches.len(), 4);
        assert_eq!(find.next_from(1), Some(5..9));
        assert_eq!(find.next_from(100), Some(0..4));
        assert_eq!(find.previous_from(5), Some(0..4));
        assert_eq!(find.previous_from(0), find.matches.last().cloned());
        find.whole_word = true;
        find.refresh("Tile tile_x TILE é tile");
        assert_eq!(find.matches.len(), 3);
        find.match_case = true;
        find.refresh("Tile tile_x TILE é tile");
        assert_eq!(find.matches.len(), 1);
        find.query.clear();
        find.refresh("x");
        assert_eq!(find.next_from(0), None);
    }

    #[test]
    fn expressions_find_lines_and_fill_the_replacement_in() {
        let text = "float a0 = x[0];\nfloat a1 = x[1]; // é\n";
        let mut find = Find { open: true, regex: true, ..Find::default() };
        find.query = r"^FLOAT (\w+) = (?<of>\w+)\[".into();
        find.replacement = "auto $1 = ${of}2[".into();
        find.refresh(text);
        assert_eq!(find.matches, [0..13, 17..30]);
        assert_eq!(find.replaced(text, &(17..30)), "auto a1 = x2[");
        find.match_case = true;
        find.refresh(text);
        assert!(find.matches.is_empty() && find.problem.is_none());
        find.query = "é$".into();
        find.refresh(text);
        assert_eq!(find.matches.len(), 1);
        find.query = "y*".into();
        find.refresh(text);
        assert!(find.matches.is_empty(), "an empty match is none");
    }

    #[test]
    fn a_wrong_or_huge_expression_says_so() {
        for query in ["(a", "a{99999}{9999}", r"\q", "[z-a]"] {
            let mut find = Find { open: true, regex: true, query: query.into(), ..Find::default() };
            find.refresh("aaa");
            assert!(find.problem.as_ref().is_some_and(|problem| !problem.is_empty()), "{query}");
            assert!(find.matches.is_empty());
            assert_eq!(find.replaced("aaa", &(0..1)), "");
        }
    }

    /// The library's words may change: then the remedies would go unnoticed.
    #[test]
    fn what_is_not_finished_says_how_to_go_on() {
        for (query, remedy) in ["(a", "a)", "[a", "*", "a{2", "a\\"].into_iter().zip(REMEDIES) {
            let mut find = Find { open: true, regex: true, query: query.into(), ..Find::default() };
            find.refresh("aaa");
            let problem = find.problem.unwrap_or_default();
            assert!(problem.ends_with(remedy.1), "{query}: {problem}");
        }
    }
}
