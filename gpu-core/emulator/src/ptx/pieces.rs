//! Opcodes and special registers written in pieces, which the language allows: `add .u32`, `%tid .x`, also with comments
//! between. No compiler writes that, so the text is looked at only when it could not be read as it stands.

use super::lexer::{Kind, MAX_BYTES, Token, tokens};

/// The text with all pieces joined and its lines kept; None when there are none.
pub fn joined(text: &str) -> Option<String> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let tokens = tokens(text);
    let is = |token: Option<Token<'_>>, punct: &[u8]| {
        token.is_none_or(|token| matches!(token.kind, Kind::Punct(byte) if punct.contains(&byte)))
    };
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        let before = |count: usize| index.checked_sub(count).and_then(|at| tokens.get(at));
        // At the start of a statement, behind its guard, or a special register.
        let guarded = is(before(2), b"@") && before(2).is_some() || is(before(2), b"!") && is(before(3), b"@");
        let begins = is(before(1), b";{}:") || guarded;
        let whole = token.kind == Kind::Word && !token.text.starts_with('.');
        index += 1;
        if !whole || !(begins || token.text.starts_with('%')) {
            continue;
        }
        let end = |token: Token<'_>| token.start + token.text.len();
        let mut last = end(token);
        while let Some(piece) = tokens.get(index).filter(|t| t.kind == Kind::Word && t.text.starts_with('.')) {
            let between = &text[last..piece.start];
            out.push_str(&text[copied..last]);
            // Lines go behind the piece, so that those after it keep their numbers.
            out.push_str(piece.text);
            out.extend(between.matches('\n'));
            last = end(piece);
            copied = last;
            index += 1;
        }
    }
    (copied > 0).then(|| {
        out.push_str(&text[copied..]);
        out
    })
}
