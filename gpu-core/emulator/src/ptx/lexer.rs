//! Splits PTX text into tokens. Linear in the text, whatever the text is.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Identifier, register, directive or dotted opcode: `%r1`, `.reg`, `ld.global.v4.f32`, `kind::f8f6f4`.
    Word,
    /// Integer literal, wrapped to 64 bits.
    Int(u64),
    /// `0f3F800000`.
    F32(u32),
    /// `0d3FF0000000000000` or a decimal fraction.
    F64(u64),
    /// Quoted string; the text is without the quotes.
    Str,
    /// One character of punctuation.
    Punct(u8),
    /// A byte that PTX has no use for.
    Bad,
    /// Begins a comment or a quoted string that does not end; the last token.
    Open,
}

/// One token and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// Byte offset of `text` in the source.
    pub start: usize,
    /// One-based line.
    pub line: u32,
}

/// The tokens of a text. A large module has ten to an instruction, so each is kept in 16 bytes and read when it is asked for.
pub struct Tokens<'a> {
    text: &'a str,
    all: Vec<Packed>,
}

#[derive(Clone, Copy)]
struct Packed {
    start: u32,
    bytes: u32,
    line: u32,
    lexeme: Lexeme,
}

#[derive(Clone, Copy)]
enum Lexeme {
    Word,
    Number,
    Str,
    Punct,
    Bad,
    Open,
}

impl<'a> Tokens<'a> {
    pub fn get(&self, index: usize) -> Option<Token<'a>> {
        let Packed { start, bytes, line, lexeme } = *self.all.get(index)?;
        let start = start as usize;
        let text = &self.text[start..start + bytes as usize];
        let kind = match lexeme {
            Lexeme::Word => Kind::Word,
            Lexeme::Number => number(text),
            Lexeme::Str => Kind::Str,
            Lexeme::Punct => Kind::Punct(text.as_bytes()[0]),
            Lexeme::Bad => Kind::Bad,
            Lexeme::Open => Kind::Open,
        };
        Some(Token { kind, text, start, line })
    }

    /// Where a token begins; the end of the text where there is none.
    pub fn start(&self, index: usize) -> usize {
        self.all.get(index).map_or(self.text.len(), |token| token.start as usize)
    }

    pub fn last(&self) -> Option<Token<'a>> {
        self.get(self.all.len().checked_sub(1)?)
    }

    #[allow(clippy::len_without_is_empty, reason = "nobody asks whether a text is empty")]
    pub fn len(&self) -> usize {
        self.all.len()
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

/// The longest text that is read.
pub const MAX_BYTES: usize = u32::MAX as usize;

/// Cuts a text of at most [`MAX_BYTES`] into tokens.
pub fn tokens(text: &str) -> Tokens<'_> {
    let bytes = text.as_bytes();
    let mut all = Vec::with_capacity(bytes.len() / 4);
    let mut push = |lexeme, start: usize, end: usize, line| {
        all.push(Packed { start: start as u32, bytes: (end - start) as u32, line, lexeme });
    };
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\n' => {
                line += 1;
                at += 1;
            }
            b' ' | b'\t' | b'\r' | 0x0c => at += 1,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let (start, first_line) = (at, line);
                at += 2;
                while at < bytes.len() && !(bytes[at] == b'*' && bytes.get(at + 1) == Some(&b'/')) {
                    line += u32::from(bytes[at] == b'\n');
                    at += 1;
                }
                if at >= bytes.len() {
                    // The rest of the text is in a comment that nobody closed.
                    push(Lexeme::Open, start, start + 2, first_line);
                }
                at = (at + 2).min(bytes.len());
            }
            b'"' => {
                let start = at + 1;
                let first_line = line;
                at = start;
                while at < bytes.len() && bytes[at] != b'"' {
                    line += u32::from(bytes[at] == b'\n');
                    at += 1;
                }
                if at >= bytes.len() {
                    push(Lexeme::Open, start - 1, start, first_line);
                    break;
                }
                push(Lexeme::Str, start, at, first_line);
                at = (at + 1).min(bytes.len());
            }
            _ if byte.is_ascii_digit() || byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                let start = at;
                at = number_end(bytes, at);
                push(Lexeme::Number, start, at, line);
            }
            _ if is_word(byte) => {
                let start = at;
                // Directives may touch (`.reg.b16`); opcodes never begin with a dot.
                let directive = byte == b'.';
                while at < bytes.len() {
                    if directive && bytes[at] == b'.' && at > start {
                        break;
                    }
                    if is_word(bytes[at]) {
                        at += 1;
                    } else if bytes[at] == b':'
                        && bytes.get(at + 1) == Some(&b':')
                        && bytes.get(at + 2).is_some_and(|&next| is_word(next))
                    {
                        at += 2;
                    } else {
                        break;
                    }
                }
                push(Lexeme::Word, start, at, line);
            }
            _ if byte.is_ascii_graphic() => {
                push(Lexeme::Punct, at, at + 1, line);
                at += 1;
            }
            _ => {
                let start = at;
                at += 1;
                while !text.is_char_boundary(at) {
                    at += 1;
                }
                push(Lexeme::Bad, start, at, line);
            }
        }
    }
    Tokens { text, all }
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let hex = bytes[start] == b'0' && matches!(bytes.get(start + 1), Some(b'x' | b'X' | b'f' | b'F' | b'd' | b'D'));
    let mut at = start + 1;
    while at < bytes.len() {
        let byte = bytes[at];
        let exponent_sign =
            !hex && matches!(byte, b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E') && at + 1 < bytes.len();
        if byte.is_ascii_alphanumeric() || byte == b'_' || (byte == b'.' && !hex) || exponent_sign {
            at += 1;
        } else {
            break;
        }
    }
    at
}

fn number(text: &str) -> Kind {
    let parsed = if let Some(digits) = text.strip_prefix("0f").or_else(|| text.strip_prefix("0F")) {
        u32::from_str_radix(digits, 16).ok().map(Kind::F32)
    } else if let Some(digits) = text.strip_prefix("0d").or_else(|| text.strip_prefix("0D")) {
        u64::from_str_radix(digits, 16).ok().map(Kind::F64)
    } else {
        let plain = text.trim_end_matches(['U', 'u']);
        if let Some(digits) = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
            u64::from_str_radix(digits, 16).ok().map(Kind::Int)
        } else if let Some(digits) = plain.strip_prefix("0b").or_else(|| plain.strip_prefix("0B")) {
            u64::from_str_radix(digits, 2).ok().map(Kind::Int)
        } else if plain.len() > 1 && plain.starts_with('0') && plain.bytes().all(|b| b.is_ascii_digit()) {
            u64::from_str_radix(plain, 8).ok().map(Kind::Int)
        } else if plain.bytes().all(|b| b.is_ascii_digit()) {
            plain.parse::<u64>().ok().map(Kind::Int)
        } else {
            plain.parse::<f64>().ok().map(|value| Kind::F64(value.to_bits()))
        }
    };
    parsed.unwrap_or(Kind::Bad)
}
