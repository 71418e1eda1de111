//! Names in a text: where one stands, where it is declared, and every place of it. Comments and strings are none.

use std::ops::Range;

fn is_part(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// Whether this can be a name of C++.
pub fn is_name(text: &str) -> bool {
    text.chars().all(is_part) && text.chars().next().is_some_and(|first| !first.is_ascii_digit())
}

/// The name around or right before an offset.
pub fn at(text: &str, offset: usize) -> Option<Range<usize>> {
    let before = text.get(..offset)?;
    let start = before.len() - before.chars().rev().take_while(|c| is_part(*c)).count();
    let end = offset + text.get(offset..)?.chars().take_while(|c| is_part(*c)).count();
    is_name(text.get(start..end)?).then_some(start..end)
}

/// Every place of a name that is code, in order.
pub fn occurrences(text: &str, name: &str) -> Vec<Range<usize>> {
    if name.is_empty() {
        return Vec::new();
    }
    let code = code_only(text);
    let is_whole = |start: usize| {
        let before = code[..start].chars().next_back().is_some_and(is_part);
        let after = code[start + name.len()..].chars().next().is_some_and(is_part);
        !before && !after
    };
    let found = code.match_indices(name).map(|(start, _)| start);
    found.filter(|start| is_whole(*start)).map(|start| start..start + name.len()).collect()
}

/// The text with another name in these places.
pub fn renamed(text: &str, places: &[Range<usize>], new: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        out.push_str(&text[at..place.start]);
        out.push_str(new);
        at = place.end;
    }
    out + &text[at..]
}

/// Words that come before a name without declaring it.
const NO_TYPES: [&str; 12] =
    ["return", "else", "case", "goto", "new", "delete", "throw", "typename", "sizeof", "do", "not", "and"];

/// Where a name is declared: the last declaration before the offset, or the first one behind it. A declaration is a type, or
/// `#define`, and then the name.
pub fn definition(text: &str, offset: usize) -> Option<Range<usize>> {
    let name = &text[at(text, offset)?];
    let places = occurrences(text, name);
    let declares = |place: &&Range<usize>| {
        let before = text[..place.start].trim_end_matches([' ', '\t']);
        let starred = before.trim_end_matches(['*', '&', ' ']);
        let word: String = starred.chars().rev().take_while(|c| is_part(*c) || *c == '#').collect();
        let word: String = word.chars().rev().collect();
        let after = text[place.end..].trim_start();
        let is_type =
            (is_name(&word) && !NO_TYPES.contains(&word.as_str())) || starred.ends_with('>') || word == "#define";
        // `a * b` multiplies: a declaration ends its name with one of these.
        let ends = word == "#define" || after.starts_with([',', ')', '=', ';', '[', '(', '{', ':']);
        // So it does with a space on either side, as nobody writes a pointer here.
        is_type && ends && !text[..place.start].ends_with('.') && !text[..place.start].ends_with(" * ")
    };
    let before = places.iter().filter(|place| place.start <= offset).rfind(declares);
    before.or_else(|| places.iter().find(declares)).cloned()
}

/// The text with blanks in place of comments and strings, byte by byte: offsets stay.
fn code_only(text: &str) -> String {
    let mut out: Vec<u8> = text.as_bytes().to_vec();
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        let rest = &bytes[index..];
        let end = if rest.starts_with(b"//") {
            rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            rest.windows(2).skip(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 4)
        } else if rest[0] == b'"' {
            quoted(rest)
        } else {
            index += 1;
            continue;
        };
        let is_include = text[..index].trim_end().ends_with("#include");
        if !is_include {
            out[index..index + end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        index += end.max(1);
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Length of a string with its quotes.
fn quoted(rest: &[u8]) -> usize {
    let mut index = 1;
    while index < rest.len() && rest[index] != b'"' && rest[index] != b'\n' {
        index += if rest[index] == b'\\' { 2 } else { 1 };
    }
    (index + 1).min(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#define TILE 16\n__global__ void add(const float* a, float* c, int n) {\n    // a and n are not code here\n    \
        int i = threadIdx.x * TILE;\n    if (i < n) c[i] = a[i] * an;\n    printf(\"a %d\", i);\n}\n";

    fn place(nth: usize, name: &str) -> usize {
        TEXT.match_indices(name).nth(nth).expect(name).0
    }

    #[test]
    fn a_name_has_its_places_in_code_alone() {
        let places = occurrences(TEXT, "a");
        assert_eq!(places.len(), 2, "{places:?}");
        assert_eq!(renamed(TEXT, &places, "left").matches("left").count(), 2);
        assert_eq!(occurrences(TEXT, "n").len(), 2);
        assert_eq!(occurrences(TEXT, "").len(), 0);
        // Letters of more than one byte keep their places.
        assert_eq!(occurrences("/* ä */ b + b", "b"), [9..10, 13..14]);
    }

    #[test]
    fn the_cursor_is_on_a_name_or_on_none() {
        let at_tile = place(1, "TILE");
        assert_eq!(at(TEXT, at_tile + 2).map(|range| &TEXT[range]), Some("TILE"));
        assert_eq!(at(TEXT, at_tile + 4).map(|range| &TEXT[range]), Some("TILE"));
        assert_eq!(at("1 + 2", 1), None);
        assert!(is_name("_x1") && !is_name("1x") && !is_name("") && !is_name("a b"));
    }

    #[test]
    fn a_use_leads_to_its_declaration() {
        let to = |offset: usize| definition(TEXT, offset).map(|range| range.start);
        assert_eq!(to(place(1, "TILE")), Some(place(0, "TILE")));
        assert_eq!(to(TEXT.find("a[i]").expect("a use")), Some(TEXT.find("a, float").expect("a parameter")));
        assert_eq!(to(TEXT.find("i < n").expect("a use")), Some(TEXT.find("i = thread").expect("its line")));
        assert_eq!(to(TEXT.find("threadIdx").expect("a builtin")), None);
    }
}
