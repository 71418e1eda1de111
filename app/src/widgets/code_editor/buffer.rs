//! Text with line starts. Offsets are bytes and always lie between characters.

use std::ops::Range;

/// A text and where its lines begin. There is always at least one line.
#[derive(Clone, Debug)]
pub struct Buffer {
    text: String,
    /// Byte offset of each line's first character.
    starts: Vec<usize>,
    /// Bytes of the longest line: a bound on how far the view scrolls sideways.
    longest_bytes: usize,
}

impl Default for Buffer {
    fn default() -> Self {
        Self::new(String::new())
    }
}

impl Buffer {
    /// Takes a text; line ends become `\n`, which is all that the compiler and the editor need.
    pub fn new(text: String) -> Self {
        let text = if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text };
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        let mut buffer = Self { text, starts, longest_bytes: 0 };
        buffer.measure();
        buffer
    }

    fn measure(&mut self) {
        let ends = self.starts.iter().skip(1).copied().chain([self.text.len() + 1]);
        self.longest_bytes = self.starts.iter().zip(ends).map(|(start, end)| end - 1 - start).max().unwrap_or(0);
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    pub fn longest_bytes(&self) -> usize {
        self.longest_bytes
    }

    /// Replaces a range and returns what was there. Only the lines that it touches are indexed again.
    pub fn replace(&mut self, range: Range<usize>, with: &str) -> String {
        let removed = self.text[range.clone()].to_owned();
        self.text.replace_range(range.clone(), with);
        let first = self.starts.partition_point(|start| *start <= range.start);
        let last = self.starts.partition_point(|start| *start <= range.end);
        let added: Vec<usize> = with.match_indices('\n').map(|(at, _)| range.start + at + 1).collect();
        let after = first + added.len();
        self.starts.splice(first..last, added);
        for start in &mut self.starts[after..] {
            *start = *start + with.len() - removed.len();
        }
        self.measure();
        removed
    }

    /// Zero-based line that holds the offset.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The line's text without its end. Empty for a line that does not exist.
    pub fn line(&self, line: usize) -> &str {
        &self.text[self.line_range(line)]
    }

    /// The line's bytes without its end. A line past the end gives the empty range at the end.
    pub fn line_range(&self, line: usize) -> Range<usize> {
        let Some(start) = self.starts.get(line).copied() else { return self.len()..self.len() };
        let end = self.starts.get(line + 1).map_or(self.len(), |next| next - 1);
        start..end
    }

    /// Characters between the line's start and the offset.
    pub fn column_of(&self, offset: usize) -> usize {
        let start = self.starts[self.line_of(offset)];
        self.text[start..offset].chars().count()
    }

    /// The offset of a character column, at most the line's end.
    pub fn offset_at(&self, line: usize, column: usize) -> usize {
        let range = self.line_range(line.min(self.line_count() - 1));
        let line = &self.text[range.clone()];
        line.char_indices().nth(column).map_or(range.end, |(at, _)| range.start + at)
    }

    /// The nearest offset that is in the text and between characters.
    pub fn clamp(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset.min(self.len()))
    }

    pub fn previous_char(&self, offset: usize) -> usize {
        self.text[..offset].char_indices().next_back().map_or(0, |(at, _)| at)
    }

    pub fn next_char(&self, offset: usize) -> usize {
        self.text[offset..].chars().next().map_or(offset, |c| offset + c.len_utf8())
    }

    pub fn char_at(&self, offset: usize) -> Option<char> {
        self.text[offset..].chars().next()
    }

    /// Start of the word at or before the offset, as Ctrl+Left moves.
    pub fn previous_word(&self, offset: usize) -> usize {
        let mut at = offset;
        let mut class = None;
        for (index, c) in self.text[..offset].char_indices().rev() {
            match (class, Class::of(c)) {
                (None, Class::Space) => {}
                (None, found) => class = Some(found),
                (Some(wanted), found) if found != wanted => break,
                _ => {}
            }
            at = index;
        }
        at
    }

    /// End of the word at or after the offset, as Ctrl+Right moves.
    pub fn next_word(&self, offset: usize) -> usize {
        let mut class = None;
        for (index, c) in self.text[offset..].char_indices() {
            match (class, Class::of(c)) {
                (None, Class::Space) => {}
                (None, found) => class = Some(found),
                (Some(wanted), found) if found != wanted => return offset + index,
                _ => {}
            }
        }
        self.len()
    }

    /// The word, run of spaces or run of signs around the offset, as a double click selects.
    pub fn word_at(&self, offset: usize) -> Range<usize> {
        let range = self.line_range(self.line_of(offset));
        let after = self.text[offset..range.end].chars().next().map(Class::of);
        let before = self.text[range.start..offset].chars().next_back().map(Class::of);
        // At the end of a word the word is meant, not the space after it.
        let class = match (before, after) {
            (Some(Class::Word), _) => Class::Word,
            (_, Some(class)) | (Some(class), None) => class,
            (None, None) => return offset..offset,
        };
        let start = self.text[range.start..offset]
            .char_indices()
            .rev()
            .take_while(|(_, c)| Class::of(*c) == class)
            .last()
            .map_or(offset, |(at, _)| range.start + at);
        let end = self.text[offset..range.end]
            .char_indices()
            .find(|(_, c)| Class::of(*c) != class)
            .map_or(range.end, |(at, _)| offset + at);
        start..end
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Word,
    Sign,
}

impl Class {
    fn of(c: char) -> Self {
        if c.is_whitespace() {
            Class::Space
        } else if c.is_alphanumeric() || c == '_' {
            Class::Word
        } else {
            Class::Sign
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_follow_edits() {
        let mut buffer = Buffer::new("ab\r\ncé\n\nd".to_owned());
        assert_eq!((buffer.text(), buffer.line_count()), ("ab\ncé\n\nd", 4));
        assert_eq!((buffer.line(1), buffer.line(2), buffer.line(3), buffer.line(9)), ("cé", "", "d", ""));
        assert_eq!((buffer.line_of(0), buffer.line_of(3), buffer.line_of(buffer.len())), (0, 1, 3));
        assert_eq!(buffer.column_of(6), 2);
        assert_eq!(buffer.offset_at(1, 2), 6);
        assert_eq!(buffer.offset_at(1, 99), 6);
        assert_eq!(buffer.offset_at(99, 0), buffer.len() - 1);
        assert_eq!(buffer.clamp(5), 4, "inside é");
        assert_eq!(buffer.replace(2..3, ""), "\n");
        assert_eq!((buffer.line(0), buffer.line_count(), buffer.longest_bytes()), ("abcé", 3, 5));
    }

    #[test]
    fn an_edited_index_equals_a_fresh_one() {
        let mut buffer = Buffer::new("a\nbb\n\nccc\n".to_owned());
        for (range, with) in [(0..0, "x\n"), (3..6, "\n\n"), (0..5, ""), (2..2, "q\nr"), (0..6, "\n")] {
            buffer.replace(range.start.min(buffer.len())..range.end.min(buffer.len()), with);
            let fresh = Buffer::new(buffer.text().to_owned());
            assert_eq!((&buffer.starts, buffer.longest_bytes), (&fresh.starts, fresh.longest_bytes));
        }
    }

    #[test]
    fn words_are_letters_digits_and_underscores() {
        let buffer = Buffer::new("int  i_1 = a[n];".to_owned());
        assert_eq!(buffer.next_word(0), 3);
        assert_eq!(buffer.next_word(3), 8);
        assert_eq!(buffer.previous_word(8), 5);
        assert_eq!(buffer.previous_word(5), 0);
        assert_eq!(buffer.word_at(6), 5..8);
        assert_eq!(buffer.word_at(8), 5..8, "the end of a word");
        assert_eq!(buffer.word_at(16), 14..16);
        assert_eq!(Buffer::default().word_at(0), 0..0);
    }
}
