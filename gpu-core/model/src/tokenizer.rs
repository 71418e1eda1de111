//! Byte-pair encoding as GPT-2 does it: text is cut into words, a word's bytes are written as letters, and pairs of neighbours
//! are merged in the order in which training found them.

use std::collections::HashMap;

/// Words to tokens and back.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    /// What each token stands for, in bytes.
    pieces: Vec<Vec<u8>>,
    numbers: HashMap<String, u32>,
    /// Rank of a merge: the lower, the earlier.
    ranks: HashMap<(String, String), usize>,
}

/// The letter that stands for a byte: itself where it can be printed, else one from U+0100 on.
fn letter(byte: u8) -> char {
    let is_printable = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if is_printable(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|byte| !is_printable(*byte)).count();
    char::from_u32(0x100 + before as u32).unwrap_or('?')
}

impl Tokenizer {
    pub(crate) fn new(tokens: &[String], merges: &[String]) -> Self {
        let bytes: HashMap<char, u8> = (0..=255).map(|byte| (letter(byte), byte)).collect();
        let piece = |token: &String| {
            let own: Option<Vec<u8>> = token.chars().map(|letter| bytes.get(&letter).copied()).collect();
            // What has letters of no byte stands for itself.
            own.unwrap_or_else(|| token.as_bytes().to_vec())
        };
        let pair = |merge: &String| merge.split_once(' ').map(|(first, second)| (first.to_owned(), second.to_owned()));
        Self {
            pieces: tokens.iter().map(piece).collect(),
            numbers: tokens.iter().zip(0..).map(|(token, number)| (token.clone(), number)).collect(),
            ranks: merges.iter().filter_map(pair).zip(0..).collect(),
        }
    }

    /// Tokens of a text. Bytes that the vocabulary lacks are left out.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        words(text).into_iter().flat_map(|word| self.merged(word)).collect()
    }

    /// What a token stands for; nothing for one that does not exist.
    pub fn bytes(&self, token: u32) -> &[u8] {
        self.pieces.get(token as usize).map_or(&[], Vec::as_slice)
    }

    fn merged(&self, word: &str) -> Vec<u32> {
        let mut parts: Vec<String> = word.bytes().map(|byte| letter(byte).to_string()).collect();
        loop {
            let ranked = parts
                .windows(2)
                .enumerate()
                .filter_map(|(at, pair)| Some((*self.ranks.get(&(pair[0].clone(), pair[1].clone()))?, at)));
            let Some((_, at)) = ranked.min() else { break };
            let second = parts.remove(at + 1);
            parts[at] += &second;
        }
        parts.iter().filter_map(|part| self.numbers.get(part).copied()).collect()
    }
}

/// What a word is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Space,
    Sign,
}

fn kind(letter: char) -> Kind {
    match letter {
        _ if letter.is_alphabetic() => Kind::Letter,
        _ if letter.is_numeric() => Kind::Digit,
        _ if letter.is_whitespace() => Kind::Space,
        _ => Kind::Sign,
    }
}

/// Pieces that are never merged with each other: `'s` and its kin, letters, single digits and signs, each with one space before it,
/// and runs of white space, whose last space goes to the next word. (SmolLM cuts digits apart before anything else, so that a
/// digit has no space.)
fn words(text: &str) -> Vec<&str> {
    const ENDINGS: [&str; 7] = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let lead = usize::from(first == ' ');
        let body = &rest[lead..];
        let length = match body.chars().next().map(kind) {
            _ if ENDINGS.iter().any(|ending| rest.starts_with(ending)) => {
                ENDINGS.iter().find(|ending| rest.starts_with(**ending)).map_or(1, |ending| ending.len())
            }
            Some(Kind::Digit) if lead == 0 => first.len_utf8(),
            Some(own @ (Kind::Letter | Kind::Sign)) => {
                lead + body.find(|next: char| kind(next) != own).unwrap_or(body.len())
            }
            // White space: all of it at the end of the text or before a digit, else all but the last one.
            _ => {
                let run = rest.find(|next: char| kind(next) != Kind::Space).unwrap_or(rest.len());
                let last = rest[..run].chars().next_back().map_or(0, char::len_utf8);
                let next = rest[run..].chars().next().map(kind);
                if matches!(next, None | Some(Kind::Digit)) || run == last { run } else { run - last }
            }
        };
        let (word, after) = rest.split_at(length.max(1));
        found.push(word);
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_into_words() {
        assert_eq!(words("The warp's 32 lanes."), ["The", " warp", "'s", " ", "3", "2", " lanes", "."]);
        assert_eq!(words("a  b\n\n  c "), ["a", " ", " b", "\n\n ", " c", " "]);
        assert_eq!(words("x += 1; é"), ["x", " +=", " ", "1", ";", " é"]);
        assert_eq!(words("").len(), 0);
    }

    #[test]
    fn pairs_are_merged_by_rank_and_bytes_come_back() {
        let strings = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let tokens = strings(&["a", "b", "c", "bc", "ab", "Ġa", "Ġ", "Ã", "©"]);
        let tokenizer = Tokenizer::new(&tokens, &strings(&["b c", "a b", "Ġ a"]));
        assert_eq!(tokenizer.encode("abc"), [0, 3], "`b c` was found first");
        assert_eq!(tokenizer.encode("ab a"), [4, 5]);
        assert_eq!(tokenizer.encode("é"), [7, 8]);
        let back: Vec<u8> =
            tokenizer.encode(" a é").iter().flat_map(|token| tokenizer.bytes(*token)).copied().collect();
        assert_eq!(String::from_utf8(back).unwrap(), " a é");
        assert!(tokenizer.bytes(99).is_empty() && letter(b' ') == 'Ġ');
    }
}
