//! Words to complete what is being typed: of the text itself and of CUDA's built-ins. Pure functions of the text.

use crate::builtins::{self, Builtin};
use std::collections::HashMap;

/// Letters after which the list opens by itself.
const LEAST_TYPED: usize = 2;

/// Words offered at most: nobody reads further.
const MAX_ITEMS: usize = 60;

/// Bytes before and after the cursor whose words are compared letter by letter: a kernel and its neighbours, and a bound
/// on a key's work. Farther away a word must begin with just what is typed.
const REACH: usize = 20_000;

/// Words looked at beyond that.
const MAX_FAR: usize = 2_000;

/// One word that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub text: String,
    /// Its documentation, if it is CUDA's.
    pub builtin: Option<&'static Builtin>,
}

/// The open list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Byte offset where the word begins that is being typed.
    pub start: usize,
    pub items: Vec<Candidate>,
    pub chosen: usize,
    /// Asked for by key: stays open with less typed.
    pub asked: bool,
}

impl Completion {
    pub fn choice(&self) -> Option<&Candidate> {
        self.items.get(self.chosen)
    }

    /// Moves the choice, around the ends.
    pub(super) fn step(&mut self, by: isize) {
        let count = self.items.len().max(1) as isize;
        self.chosen = (self.chosen as isize + by).rem_euclid(count) as usize;
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The list for the cursor's place; None when there is nothing to offer. Without `asked` it opens for words only, not
/// in comments and strings, and not for a word that is complete.
pub fn complete(text: &str, cursor: usize, asked: bool) -> Option<Completion> {
    let before = &text[..cursor];
    let start = before.char_indices().rev().take_while(|(_, c)| is_word(*c)).last().map_or(cursor, |(at, _)| at);
    let typed = &text[start..cursor];
    if typed.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let prose = is_prose(&text[line_start..start]) || in_block_comment(&text[..start]);
    if !asked && prose {
        return None;
    }
    // After a dot only members fit; the types of the text are not known, those of the built-in variables are.
    if let Some(owner) = text[..start].strip_suffix('.') {
        let owner_start = owner.char_indices().rev().take_while(|(_, c)| is_word(*c)).last();
        let members = builtins::members(owner_start.map_or("", |(at, _)| &owner[at..]));
        let items = members.iter().filter(|member| member.starts_with(typed) && **member != typed);
        let items: Vec<_> = items.map(|member| Candidate { text: (*member).to_owned(), builtin: None }).collect();
        return (!items.is_empty()).then_some(Completion { start, items, chosen: 0, asked });
    }
    if !asked && typed.chars().count() < LEAST_TYPED {
        return None;
    }
    let items = ranked(text, start, cursor, typed, prose);
    // What is written out needs no list that Enter would then choose from.
    let is_complete = !asked && items.first().is_some_and(|first| first.text == typed);
    (!items.is_empty() && !is_complete).then_some(Completion { start, items, chosen: 0, asked })
}

/// True at the end of `line` when that is inside a comment or a string.
fn is_prose(line: &str) -> bool {
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '/') if chars.peek() == Some(&'/') => return true,
            _ => {}
        }
    }
    quote.is_some()
}

/// True at the end of a text that ends within `/* … */`.
fn in_block_comment(before: &str) -> bool {
    let near = &before[before.floor_char_boundary(before.len().saturating_sub(REACH))..];
    near.rfind("/*").is_some_and(|open| !near[open..].contains("*/") && !is_prose(line_until(near, open)))
}

/// What stands before `at` on its line.
fn line_until(text: &str, at: usize) -> &str {
    &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at]
}

fn ranked(text: &str, start: usize, cursor: usize, typed: &str, prose: bool) -> Vec<Candidate> {
    let lower = typed.to_ascii_lowercase();
    let mut found: Vec<(u8, usize, Candidate)> = Vec::new();
    for (word, (count, class)) in words(text, (start, cursor), typed, &lower, prose) {
        if builtins::find(word).is_none() {
            // Words of the text before CUDA's, the frequent first.
            found.push((class * 2, usize::MAX - count, Candidate { text: word.to_owned(), builtin: None }));
        }
    }
    for (rank, builtin) in builtins::all().iter().enumerate() {
        if let Some(class) = class(builtin.name, typed, &lower) {
            let candidate = Candidate { text: builtin.name.to_owned(), builtin: Some(builtin) };
            // The table lists the common words of a family first.
            found.push((class * 2 + 1, rank, candidate));
        }
    }
    // What is typed already stands first: then the list need not open.
    found.sort_by(|a, b| (a.2.text != typed, a.0, a.1, &a.2.text).cmp(&(b.2.text != typed, b.0, b.1, &b.2.text)));
    found.truncate(MAX_ITEMS);
    found.into_iter().map(|(_, _, candidate)| candidate).collect()
}

/// How well a word fits, 0 the best; None when it does not.
fn class(word: &str, typed: &str, lower: &str) -> Option<u8> {
    if word.starts_with(typed) {
        return Some(0);
    }
    let folded =
        |text: &str| text.len() >= lower.len() && text.as_bytes()[..lower.len()].eq_ignore_ascii_case(lower.as_bytes());
    if folded(word) {
        return Some(1);
    }
    let bare = word.trim_start_matches('_');
    if bare.len() < word.len() && folded(bare.trim_start_matches('_')) {
        return Some(2);
    }
    // Inside only for what is long enough to mean it.
    let inside = || word.as_bytes().windows(lower.len()).any(|part| part.eq_ignore_ascii_case(lower.as_bytes()));
    (lower.len() >= 3 && word.len() > lower.len() && inside()).then_some(3)
}

/// Words of the text that fit, with how often they occur and how well they fit; not the one being typed. Those of
/// comments only where prose is written: `threads` of a sentence is no name.
fn words<'a>(
    text: &'a str,
    (start, cursor): (usize, usize),
    typed: &str,
    lower: &str,
    prose: bool,
) -> HashMap<&'a str, (usize, u8)> {
    let from = text.floor_char_boundary(start.saturating_sub(REACH));
    // Whole lines, so that a comment is seen from its beginning.
    let from = if from == 0 { 0 } else { text[from..start].find('\n').map_or(from, |at| from + at + 1) };
    let to = text.ceil_char_boundary((cursor + REACH).min(text.len()));
    let first = lower.as_bytes().first().copied();
    let mut counts = HashMap::new();
    if lower.len() >= LEAST_TYPED {
        for part in [&text[..from], &text[to..]] {
            for (at, _) in part.match_indices(typed).take(MAX_FAR) {
                let length = part[at..].find(|c| !is_word(c)).unwrap_or(part.len() - at);
                let begins = !part[..at].ends_with(is_word);
                if begins && length > typed.len() && (prose || !is_prose(line_until(part, at))) {
                    counts.entry(&part[at..at + length]).or_insert((0, 0)).0 += 1;
                }
            }
        }
    }
    let near = &text[from..to];
    let bytes = near.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        // Bytes of other alphabets are letters here: a name of theirs is offered whole.
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        if bytes[at] == b'/' && !prose {
            let end = match bytes.get(at + 1) {
                Some(b'/') => near[at..].find('\n'),
                Some(b'*') => near[at + 2..].find("*/").map(|end| 2 + end + 2),
                _ => Some(1),
            };
            at = end.map_or(bytes.len(), |end| at + end);
            continue;
        }
        if !is_part(bytes[at]) {
            at += 1;
            continue;
        }
        let begin = at;
        while at < bytes.len() && is_part(bytes[at]) {
            at += 1;
        }
        // Most words are ruled out by their first letter, or by being too short to hold the letters inside.
        let fits = first
            .is_none_or(|first| bytes[begin].eq_ignore_ascii_case(&first) || lower.len() >= 3 || bytes[begin] == b'_');
        if bytes[begin].is_ascii_digit() || !fits || at - begin < 2 || at - begin < typed.len() || from + begin == start
        {
            continue;
        }
        let word = &near[begin..at];
        if let Some(class) = class(word, typed, lower) {
            counts.entry(word).or_insert((0, class)).0 += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(text: &str) -> Vec<String> {
        complete(text, text.len(), false)
            .map_or(Vec::new(), |list| list.items.into_iter().map(|item| item.text).collect())
    }

    #[test]
    fn words_of_the_text_come_first_then_cudas() {
        let list = offered("int thread_count = 3; int threshold = thread_count; thr");
        assert_eq!(list[..3], ["thread_count", "threshold", "threadIdx"]);
        assert!(offered("__syn").iter().any(|word| word == "__syncthreads"));
    }

    #[test]
    fn underscores_case_and_the_middle_need_not_be_typed() {
        assert!(offered("x; sync").iter().any(|word| word == "__syncthreads"));
        assert!(offered("threadidx").iter().any(|word| word == "threadIdx"));
        assert!(offered("ballot").iter().any(|word| word == "__ballot_sync"));
        assert!(offered("shfl").iter().any(|word| word == "__shfl_down_sync"));
    }

    #[test]
    fn it_opens_for_words_only() {
        for text in
            ["", "i", "12ab", "// thr", "\"thr", "x = 'th", "printf(\"%d \\\" thr", "threadIdx", "foo.thr", "\n"]
        {
            assert_eq!(offered(text), Vec::<String>::new(), "{text:?}");
        }
        assert!(!offered("printf(\"%d\", thr").is_empty(), "after the string");
        for text in ["/* of\n thr", "int x; /* thr"] {
            assert_eq!(offered(text), Vec::<String>::new(), "{text:?}");
        }
        for text in ["/* of */ thr", "/* of\n */\nthr", "// a /* b\nthr", "f(\"/*\"); thr"] {
            assert!(!offered(text).is_empty(), "{text:?}");
        }
        assert!(complete("// thr", 6, true).is_some(), "when it is asked for");
        assert!(complete("i", 1, true).is_some());
    }

    #[test]
    fn words_of_sentences_are_no_names() {
        let text = "// 256 threads\nint threshold = 1 / 2; /* thread 0 is\n threadless */ thr";
        assert_eq!(offered(text)[..2], ["threshold", "threadIdx"]);
        assert!(!offered(text).iter().any(|word| word == "threads" || word == "threadless"));
        let comment = "// 256 threads\n// thr";
        let list = complete(comment, comment.len(), true).expect("a list");
        assert_eq!(list.items[0].text, "threads", "where a sentence is written");
    }

    #[test]
    fn words_from_the_far_end_of_a_long_text_are_offered() {
        let filler = "int other = 1;\n".repeat(4_000);
        let text = format!("int farthest_name = 0; // farthest_prose\n{filler}fart");
        assert_eq!(offered(&text), ["farthest_name"]);
        let text = format!("fart\n{filler}日farther; farthest_name(); xfarther;");
        let list = complete(&text, 4, false).expect("a list");
        assert_eq!(list.items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>(), ["farthest_name"]);
    }

    #[test]
    fn members_of_the_index_variables_follow_a_dot() {
        assert_eq!(offered("int i = threadIdx."), ["x", "y", "z"]);
        assert_eq!(offered("blockDim.x"), Vec::<String>::new());
    }

    #[test]
    fn any_text_and_cursor_are_fine() {
        let text = "é äöü_word 日本語 \u{1F600}wo";
        for (at, _) in text.char_indices() {
            let _ = complete(text, at, true);
        }
        assert_eq!(offered("äöü_word; äöü"), ["äöü_word"]);
    }
}
