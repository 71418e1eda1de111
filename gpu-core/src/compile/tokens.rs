//! C++ as a compiler splits it: lines joined at backslashes, comments, strings (raw ones too), characters, numbers with
//! separators, digraphs. Everything that looks at source text before or after the compiler starts from here.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Blanks, line ends and comments.
    Space,
    /// A name or keyword.
    Word,
    Number,
    /// A string or character literal with its prefix.
    Literal,
    /// Anything else, one operator at a time; digraphs as what they stand for.
    Mark,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: Kind,
    /// As written; for a digraph what it stands for. A name that is cut by a line splice is told by [`Token::spliced`].
    pub text: &'a str,
    /// First byte in the source.
    pub at: usize,
    /// Byte after the last.
    pub end: usize,
    /// A backslash and a line end lie within.
    pub spliced: bool,
    /// Nothing but space stands before it on its logical line.
    pub first_on_line: bool,
}

impl Token<'_> {
    /// The text without line splices.
    pub fn plain(&self) -> String {
        if self.spliced { without_splices(self.text) } else { self.text.to_owned() }
    }
}

fn without_splices(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        match splice(&rest[at..]) {
            0 => {
                out.push('\\');
                rest = &rest[at + 1..];
            }
            length => rest = &rest[at + length..],
        }
    }
    out + rest
}

/// Length of a line splice at the start of `text`: a backslash and a line end, with blanks between as GNU has it.
fn splice(text: &str) -> usize {
    let Some(rest) = text.strip_prefix('\\') else { return 0 };
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\u{b}', '\u{c}']).len();
    if rest[blanks..].starts_with('\n') { 1 + blanks + 1 } else { 0 }
}

/// A place in the source from which characters come with splices passed over.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    source: &'a str,
    at: usize,
}

impl Cursor<'_> {
    /// The next character, and whether a splice stood before it. The cursor ends after it.
    fn next(&mut self) -> Option<char> {
        self.skip();
        let c = self.source[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn skip(&mut self) {
        while let length @ 1.. = splice(&self.source[self.at..]) {
            self.at += length;
        }
    }

    fn peek(&self) -> Option<char> {
        let mut ahead = *self;
        ahead.next()
    }

    /// Goes past `text` if it comes next.
    fn takes(&mut self, text: &str) -> bool {
        let mut ahead = *self;
        for wanted in text.chars() {
            if ahead.next() != Some(wanted) {
                return false;
            }
        }
        *self = ahead;
        true
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.next();
        }
    }
}

fn in_word(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphanumeric()
}

/// All tokens in order, spaces and comments included: together they are the source.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut cursor = Cursor { source, at: 0 };
    let mut first_on_line = true;
    while cursor.at < source.len() {
        let at = cursor.at;
        let (kind, stands_for) = one(&mut cursor);
        // A backslash at the very end of a text.
        if cursor.at == at {
            break;
        }
        let written = &source[at..cursor.at];
        let spliced = written.contains('\\') && kind != Kind::Space && has_splice(written);
        let token = Token { kind, text: stands_for.unwrap_or(written), at, end: cursor.at, spliced, first_on_line };
        if kind != Kind::Space {
            first_on_line = false;
        } else if ends_line(written) {
            first_on_line = true;
        }
        found.push(token);
    }
    found
}

fn has_splice(text: &str) -> bool {
    text.match_indices('\\').any(|(at, _)| splice(&text[at..]) > 0)
}

/// Whether a space ends the logical line. Line ends inside block comments do not: a comment is one blank.
fn ends_line(space: &str) -> bool {
    !space.starts_with("/*") && without_splices(space).ends_with('\n')
}

/// Reads one token; for a digraph also what it stands for.
fn one(cursor: &mut Cursor<'_>) -> (Kind, Option<&'static str>) {
    let start = *cursor;
    let Some(c) = cursor.next() else {
        cursor.at = cursor.source.len();
        return (Kind::Space, None);
    };
    match c {
        '\n' => (Kind::Space, None),
        c if c.is_whitespace() => {
            cursor.take_while(|c| c != '\n' && c.is_whitespace());
            (Kind::Space, None)
        }
        '/' if cursor.takes("/") => {
            cursor.take_while(|c| c != '\n');
            (Kind::Space, None)
        }
        '/' if cursor.takes("*") => {
            let mut last = ' ';
            while let Some(c) = cursor.next() {
                if last == '*' && c == '/' {
                    break;
                }
                last = c;
            }
            (Kind::Space, None)
        }
        '"' | '\'' => {
            quoted(cursor, c);
            (Kind::Literal, None)
        }
        '.' if cursor.peek().is_some_and(|c| c.is_ascii_digit()) => number(cursor),
        c if c.is_ascii_digit() => number(cursor),
        c if in_word(c) => {
            cursor.take_while(in_word);
            word(cursor, start)
        }
        '<' if cursor.takes("::") => {
            // `<::` is `<` and `::`, unless `:` or `>` follows: that is the exception of the standard.
            if matches!(cursor.peek(), Some(':' | '>')) {
                *cursor = start;
                cursor.takes("<:");
                return (Kind::Mark, Some("["));
            }
            *cursor = start;
            cursor.next();
            (Kind::Mark, None)
        }
        '<' if cursor.takes(":") => (Kind::Mark, Some("[")),
        '<' if cursor.takes("%") => (Kind::Mark, Some("{")),
        ':' if cursor.takes(">") => (Kind::Mark, Some("]")),
        '%' if cursor.takes(">") => (Kind::Mark, Some("}")),
        '%' if cursor.takes(":%:") => (Kind::Mark, Some("##")),
        '%' if cursor.takes(":") => (Kind::Mark, Some("#")),
        '#' if cursor.takes("#") => (Kind::Mark, Some("##")),
        '<' if cursor.takes("<<") => (Kind::Mark, Some("<<<")),
        ':' if cursor.takes(":") => (Kind::Mark, Some("::")),
        '#' => (Kind::Mark, Some("#")),
        _ => (Kind::Mark, None),
    }
}

/// A number as the preprocessor sees it: digits, letters, points, signs after an exponent, and `'` between digits.
fn number(cursor: &mut Cursor<'_>) -> (Kind, Option<&'static str>) {
    let mut last = '0';
    while let Some(c) = cursor.peek() {
        let sign = matches!(c, '+' | '-') && matches!(last, 'e' | 'E' | 'p' | 'P');
        let separator = c == '\'' && {
            let mut ahead = *cursor;
            ahead.next();
            ahead.peek().is_some_and(in_word)
        };
        if !(sign || separator || c == '.' || in_word(c)) {
            break;
        }
        cursor.next();
        last = c;
    }
    (Kind::Number, None)
}

/// A name, or the literal that it is the prefix of.
fn word(cursor: &mut Cursor<'_>, start: Cursor<'_>) -> (Kind, Option<&'static str>) {
    let written = &cursor.source[start.at..cursor.at];
    let prefix =
        Token { kind: Kind::Word, text: written, at: 0, end: 0, spliced: has_splice(written), first_on_line: false }
            .plain();
    match (prefix.as_str(), cursor.peek()) {
        ("R" | "LR" | "uR" | "UR" | "u8R", Some('"')) => {
            cursor.next();
            raw(cursor);
            (Kind::Literal, None)
        }
        ("L" | "u" | "U" | "u8", Some(quote @ ('"' | '\''))) => {
            cursor.next();
            quoted(cursor, quote);
            (Kind::Literal, None)
        }
        _ => (Kind::Word, None),
    }
}

/// The rest of a string or character; an unclosed one ends with its line.
fn quoted(cursor: &mut Cursor<'_>, quote: char) {
    while let Some(c) = cursor.peek() {
        if c == '\n' {
            return;
        }
        cursor.next();
        match c {
            '\\' if cursor.peek().is_some_and(|c| c != '\n') => {
                cursor.next();
            }
            c if c == quote => return,
            _ => {}
        }
    }
}

/// The rest of a raw string after its quote. Splices count for nothing in it.
fn raw(cursor: &mut Cursor<'_>) {
    let rest = &cursor.source[cursor.at..];
    let open = rest.find('(').filter(|open| {
        *open <= 16 && !rest[..*open].contains(|c: char| c.is_whitespace() || matches!(c, ')' | '\\' | '"'))
    });
    let Some(open) = open else {
        // No raw string after all; what the compiler makes of it is an error of its own.
        quoted(cursor, '"');
        return;
    };
    let close = format!("){}\"", &rest[..open]);
    cursor.at = rest[open..].find(&close).map_or(cursor.source.len(), |end| cursor.at + open + end + close.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(text: &str) -> Vec<String> {
        let found = tokens(text).into_iter().filter(|token| token.kind != Kind::Space);
        found.map(|token| token.plain()).collect()
    }

    #[test]
    fn together_they_are_the_source() {
        for text in [
            "",
            "\\",
            "a\\",
            "\"",
            "'",
            "R\"(",
            "R\"x(a)y\"",
            "/*",
            "//",
            "é€ /* ü */",
            "1'000'0x",
            "<::>",
            "%:%:",
            "a\\\n",
        ] {
            let mut at = 0;
            for token in tokens(text) {
                assert_eq!(token.at, at, "{text}");
                at = token.end;
            }
            assert!(at == text.len() || text[at..].starts_with('\\'), "{text}");
        }
    }

    #[test]
    fn strings_hide_what_looks_like_code() {
        assert_eq!(marks("R\"(\" /* )\" x"), ["R\"(\" /* )\"", "x"]);
        assert_eq!(marks("u8'\"' y"), ["u8'\"'", "y"]);
        assert_eq!(marks("u8R\"ab(\n)\" )ab\" z"), ["u8R\"ab(\n)\" )ab\"", "z"]);
        assert_eq!(marks("FR\"(a)\" z"), ["FR", "\"(a)\"", "z"]);
        assert_eq!(marks("1'000'000 'a'"), ["1'000'000", "'a'"]);
        assert_eq!(marks("0x1.8p-3f"), ["0x1.8p-3f"]);
    }

    #[test]
    fn splices_and_digraphs_are_seen_through() {
        assert_eq!(marks("#inc\\\nlude <a>")[..2], ["#", "include"]);
        assert_eq!(marks("%:include")[..2], ["#", "include"]);
        assert_eq!(marks("/\\\n/ no\nyes"), ["yes"]);
        assert_eq!(marks("/\\ \n* no *\\\n/yes"), ["yes"]);
        assert_eq!(marks("k<<<1, 2>>>"), ["k", "<<<", "1", ",", "2", ">", ">", ">"]);
        let found = tokens("#a \\\n\n#b");
        assert!(found.iter().rfind(|token| token.text == "#").is_some_and(|token| token.first_on_line), "{found:?}");
        assert!(tokens("a /* \n */ #").last().is_some_and(|token| !token.first_on_line));
        assert!(tokens("a \n /* \n */ #").last().is_some_and(|token| token.first_on_line));
    }
}
