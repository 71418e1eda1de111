//! Words that the course explains: found in a text, and explained where they stand.

use super::document::{Block, Document, Piece, Text, TextStyle};
use std::collections::HashSet;
use std::ops::Range;

/// Target of a link to a word's explanation.
const TARGET: &str = "glossary:";

/// All words with an explanation.
#[derive(Clone, Debug, Default)]
pub struct Glossary {
    words: Vec<Word>,
}

#[derive(Clone, Debug)]
struct Word {
    name: String,
    /// How it is written in a text: the name, and what stands in its brackets.
    forms: Vec<String>,
    meaning: String,
}

impl Glossary {
    /// From terms and their meanings; the first of two alike counts.
    pub fn new<'a>(terms: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut words: Vec<Word> = Vec::new();
        for (term, meaning) in terms {
            let (before, inside) = match term.split_once('(') {
                Some((before, inside)) => (before, inside.trim_end_matches(')')),
                None => (term, ""),
            };
            let forms = [before, inside].map(|form| form.trim().trim_matches('`').to_owned());
            let forms: Vec<String> = forms.into_iter().filter(|form| form.chars().count() > 1).collect();
            if !words.iter().any(|word| word.name.eq_ignore_ascii_case(term)) && !forms.is_empty() {
                words.push(Word { name: term.to_owned(), forms, meaning: meaning.to_owned() });
            }
        }
        // The longer ones first: `shared memory bank` is not a `bank`.
        words.sort_by_key(|word| std::cmp::Reverse(word.forms.iter().map(String::len).max()));
        Self { words }
    }

    /// What a link to a word says; None for other links.
    pub fn meaning(&self, target: &str) -> Option<String> {
        let term = target.strip_prefix(TARGET)?;
        let word = self.words.iter().find(|word| {
            word.name.eq_ignore_ascii_case(term) || word.forms.iter().any(|form| form.eq_ignore_ascii_case(term))
        })?;
        // A tooltip shows letters only.
        Some(curriculum::search::plain(&format!("{}: {}", word.name, word.meaning)))
    }

    /// Marks the first place of each word in running text; headings, code and links stay as they are.
    pub fn explain(&self, document: &mut Document) {
        let mut used = HashSet::new();
        let Document { blocks, links, .. } = document;
        self.blocks(blocks, links, &mut used);
    }

    fn blocks(&self, blocks: &mut [Block], links: &mut Vec<String>, used: &mut HashSet<usize>) {
        for block in blocks {
            match block {
                Block::Paragraph(text) => self.text(text, links, used),
                Block::List { items, .. } => {
                    items.iter_mut().for_each(|item| self.blocks(&mut item.blocks, links, used));
                }
                Block::Quote { blocks, .. } | Block::Fold { blocks, .. } => self.blocks(blocks, links, used),
                Block::Table { rows, .. } => {
                    rows.iter_mut().flatten().for_each(|text| self.text(text, links, used));
                }
                Block::Heading { .. } | Block::Formula { .. } | Block::Code { .. } | Block::Rule => {}
            }
        }
    }

    fn text(&self, text: &mut Text, links: &mut Vec<String>, used: &mut HashSet<usize>) {
        let mut pieces = Vec::with_capacity(text.pieces.len());
        for piece in text.pieces.drain(..) {
            match piece {
                Piece::Plain { text, style } if style.link.is_none() && !style.code => {
                    self.split(&text, style, &mut pieces, links, used);
                }
                other => pieces.push(other),
            }
        }
        text.pieces = pieces;
    }

    fn split(
        &self,
        text: &str,
        style: TextStyle,
        pieces: &mut Vec<Piece>,
        links: &mut Vec<String>,
        used: &mut HashSet<usize>,
    ) {
        let mut found: Vec<(Range<usize>, usize)> = Vec::new();
        for (index, word) in self.words.iter().enumerate().filter(|(index, _)| !used.contains(index)) {
            // A place inside of a longer word that was found before is that word's.
            let free = |place: &Range<usize>| !found.iter().any(|(o, _)| o.start < place.end && place.start < o.end);
            let places = word.forms.iter().filter_map(|form| places_of(text, form).find(free));
            if let Some(place) = places.min_by_key(|place| place.start) {
                found.push((place, index));
            }
        }
        found.sort_by_key(|(place, _)| place.start);
        let plain = |text: &str, pieces: &mut Vec<Piece>| {
            if !text.is_empty() {
                pieces.push(Piece::Plain { text: text.to_owned(), style });
            }
        };
        let mut at = 0;
        for (place, index) in found {
            used.insert(index);
            plain(&text[at..place.start], pieces);
            let link = links.len();
            links.push(format!("{TARGET}{}", self.words[index].name));
            let style = TextStyle { link: Some(link), word: true, ..style };
            pieces.push(Piece::Plain { text: text[place.clone()].to_owned(), style });
            at = place.end;
        }
        plain(&text[at..], pieces);
    }
}

/// Where a word stands by itself or in the plural, every place. A name in capitals is sought as written: `SM` is not `sm`.
fn places_of<'t>(text: &'t str, form: &'t str) -> impl Iterator<Item = Range<usize>> + use<'t> {
    let exact = form.chars().count() <= 4 && form.chars().any(char::is_uppercase);
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.char_indices().filter_map(move |(at, _)| {
        let end = at + form.len();
        let here = text.get(at..end)?;
        let same = if exact { here == form } else { here.eq_ignore_ascii_case(form) };
        if !same || letter(text[..at].chars().next_back()) {
            return None;
        }
        let rest = &text[end..];
        let plural = rest.strip_prefix('s').filter(|after| !letter(after.chars().next()));
        (plural.is_some() || !letter(rest.chars().next())).then_some(at..end + usize::from(plural.is_some()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glossary() -> Glossary {
        Glossary::new([
            ("warp", "32 threads"),
            ("streaming multiprocessor (SM)", "runs blocks"),
            ("bank", "a 4-byte column of shared memory"),
            ("bank conflict", "two rows of one bank"),
        ])
    }

    #[test]
    fn the_first_place_of_each_word_is_marked() {
        let text =
            "# Warp\nTwo warps and a `warp` meet on an SM. [A warp](x), warped, two bank conflicts, a bank; a warp.\n";
        let mut document = Document::parse(text);
        glossary().explain(&mut document);
        let words: Vec<&String> = document.links.iter().filter(|link| link.starts_with(TARGET)).collect();
        assert_eq!(
            words,
            ["glossary:warp", "glossary:streaming multiprocessor (SM)", "glossary:bank conflict", "glossary:bank"]
        );
        let Block::Paragraph(text) = &document.blocks[1] else { panic!("{:?}", document.blocks) };
        let marked: Vec<&str> = text
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Plain { text, style } if style.word => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(marked, ["warps", "SM", "bank conflicts", "bank"]);
        assert!(text.plain().starts_with("Two warps and a warp meet on an SM."), "no letter is lost: {}", text.plain());
    }

    #[test]
    fn a_word_says_its_meaning_by_any_of_its_names() {
        let glossary = glossary();
        assert_eq!(glossary.meaning("glossary:Warp").as_deref(), Some("warp: 32 threads"));
        assert!(glossary.meaning("glossary:sm").is_some() && glossary.meaning("week1/day4").is_none());
        assert_eq!(glossary.meaning("glossary:nothing"), None);
        let marked = Glossary::new([("stride", "how far `i + 1` is from `i`, **in elements**")]);
        assert_eq!(marked.meaning("glossary:stride").unwrap(), "stride: how far i + 1 is from i, in elements");
    }
}
