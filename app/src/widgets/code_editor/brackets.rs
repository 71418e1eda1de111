//! The bracket beside the cursor and its partner. Pure functions of the text.

use super::signature::past_quoted;

/// Bytes that are looked at each way: some hundred lines, and a bound on a frame's work.
const REACH: usize = 20_000;

/// Offsets of the bracket at the cursor (else the one before it) and of its partner. Those of comments and of strings
/// are only letters, unless the cursor is in that very comment or string.
pub fn matching(text: &str, cursor: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let is_bracket = |at: &usize| bytes.get(*at).is_some_and(|byte| b"()[]{}".contains(byte));
    let at = Some(cursor).into_iter().chain(cursor.checked_sub(1)).find(is_bracket)?;
    let (open, close, forward) = match bytes[at] {
        b'(' => (b'(', b')', true),
        b'[' => (b'[', b']', true),
        b'{' => (b'{', b'}', true),
        b')' => (b'(', b')', false),
        b']' => (b'[', b']', false),
        _ => (b'{', b'}', false),
    };
    let window = at.saturating_sub(REACH)..bytes.len().min(at + REACH);
    let prose = prose(bytes, line_start(bytes, window.start), window.end);
    let within = |offset: usize| prose.iter().position(|part| part.contains(&offset));
    let home = within(at);
    let mut depth = 0_i32;
    let mut visit = |offset: usize| {
        let step = match bytes[offset] {
            byte if byte == open => 1,
            byte if byte == close => -1,
            _ => return false,
        };
        if within(offset) != home {
            return false;
        }
        depth += step;
        depth == 0
    };
    let partner =
        if forward { (at..window.end).find(|i| visit(*i)) } else { (window.start..=at).rev().find(|i| visit(*i)) };
    Some((at, partner?))
}

/// The start of the line that `at` is in, so that a comment of one line is seen from its beginning.
fn line_start(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// Comments, strings and characters between two offsets.
fn prose(bytes: &[u8], from: usize, to: usize) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut at = from;
    while at < to {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => {
                bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end)
            }
            b'/' if bytes[at..].starts_with(b"/*") => {
                let close = bytes[at + 2..].windows(2).position(|two| two == b"*/");
                close.map_or(bytes.len(), |close| at + 2 + close + 2)
            }
            // `1'000'000` is a number.
            b'\'' if at > 0 && bytes[at - 1].is_ascii_hexdigit() => at + 1,
            quote @ (b'"' | b'\'') => (past_quoted(bytes, at, quote) + 1).min(bytes.len()),
            _ => at + 1,
        };
        if end > at + 1 {
            found.push(at..end);
        }
        at = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The partner of the bracket at the first `^`'s place of the line below.
    fn partner(text: &str, at: usize) -> Option<usize> {
        matching(text, at).map(|(_, partner)| partner)
    }

    #[test]
    fn brackets_of_comments_and_strings_are_letters() {
        for inside in ["// it's {", "/* { ( */", "\"}{\\\"{\"", "'{'", "1'000; // '{'"] {
            let text = format!("{{ x({inside}\n); }}");
            assert_eq!(partner(&text, 0), Some(text.len() - 1), "{text}");
            assert_eq!(partner(&text, text.len()), Some(0), "{text}");
            let round = text.find('(').unwrap();
            assert_eq!(partner(&text, round), text.rfind(')'), "{text}");
        }
    }

    #[test]
    fn within_a_comment_its_own_brackets_match() {
        let text = "f( // of a (b) and ( this\n);";
        assert_eq!(partner(text, text.find("(b").unwrap()), text.find(") and"));
        assert_eq!(partner(text, text.find("( this").unwrap()), None);
        assert_eq!(partner(text, 1), Some(text.len() - 2));
    }

    #[test]
    fn unbalanced_and_odd_texts_have_no_partner() {
        for text in ["{", "}", "(]", "/*", "\"", "'", "{ /*", "é{日本", "{\"", ""] {
            for at in 0..=text.len() {
                assert_eq!(partner(text, at), None, "{text:?} at {at}");
            }
        }
        assert_eq!(matching("a()b", 3), Some((2, 1)), "the one before the cursor");
    }
}
