//! Find and replace in the editor's text. Regular expressions come with the workbench; plain words serve here.

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
    /// All matches in order; not overlapping.
    pub matches: Vec<Range<usize>>,
    /// Grows when the box should take the keyboard.
    pub focus: u64,
}

/// Matches kept: more than anyone steps through, and a bound on the work of one keystroke.
const MAX_MATCHES: usize = 10_000;

impl Find {
    /// Looks again after the text or the question changed.
    pub fn refresh(&mut self, text: &str) {
        self.matches.clear();
        if !self.open || self.query.is_empty() {
            return;
        }
        self.matches = matches(text, &self.query, self.match_case, self.whole_word);
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

fn matches(text: &str, query: &str, match_case: bool, whole_word: bool) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |range: &Range<usize>| {
        !whole_word
            || !(text[..range.start].chars().next_back().is_some_and(is_word)
                || text[range.end..].chars().next().is_some_and(is_word))
    };
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
}
