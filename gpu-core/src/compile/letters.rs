//! Characters that copied text has and C++ does not know. NVRTC says "unrecognized token" for each byte of them, and most
//! cannot be told from the right one by looking.

use super::{Diagnostic, diagnostics::Context};

/// What NVRTC says of each byte.
const UNKNOWN: &str = "unrecognized token";
/// What it says after that at the same place.
const ECHO: &str = "expected an expression";

/// One message for each such character, which says what it is and what to type.
pub fn name_unknown(found: Vec<Diagnostic>, context: &Context<'_>) -> Vec<Diagnostic> {
    // Where the last one was, and the columns that its bytes are told at.
    let mut last: Option<(u32, std::ops::Range<u32>)> = None;
    let mut kept = Vec::with_capacity(found.len());
    for mut diagnostic in found {
        let (line, column) = (diagnostic.line, diagnostic.column);
        let is_echo = last.as_ref().is_some_and(|(of, columns)| *of == line && columns.contains(&column));
        if is_echo && (diagnostic.message == UNKNOWN || diagnostic.message == ECHO) {
            continue;
        }
        let is_ours = diagnostic.message == UNKNOWN && diagnostic.file == context.source_name;
        let unknown = is_ours.then(|| character_at(context.source_text, line, column)).flatten();
        if let Some(unknown) = unknown.filter(|c| !c.is_ascii() || c.is_ascii_control()) {
            diagnostic.message = explained(unknown);
            // The further bytes are told one column to the right: the character counts as one.
            let next = character_at(context.source_text, line, column + 1);
            let also = u32::from(unknown.len_utf8() > 1 && next.is_none_or(|c| c.is_ascii()));
            last = Some((line, column..column + 1 + also));
        }
        kept.push(diagnostic);
    }
    kept
}

fn character_at(text: &str, line: u32, column: u32) -> Option<char> {
    let line = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    line.chars().nth(usize::try_from(column).ok()?.checked_sub(1)?)
}

fn explained(c: char) -> String {
    let code = format!("U+{:04X}", u32::from(c));
    let instead = match c {
        '“' | '”' | '„' | '«' | '»' => "\"",
        '‘' | '’' | '‚' | '´' => "'",
        '\u{2010}'..='\u{2015}' | '−' => "-",
        '×' | '∗' | '·' | '⋅' => "*",
        '÷' | '∕' => "/",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '…' => "...",
        '、' => ",",
        '。' => ".",
        _ => "",
    };
    // What keyboards of East Asia write: the same characters, each as wide as an ideograph.
    let wide = u32::from(c).checked_sub(0xfee0).and_then(char::from_u32).filter(char::is_ascii_graphic);
    let is_invisible = c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    match wide {
        _ if is_invisible => {
            format!(
                "an invisible character ({code}), as copied text may have: delete it, and type a space where one is needed"
            )
        }
        Some(wide) => format!("`{c}` ({code}) looks like `{wide}` and is another character: type `{wide}`"),
        None if !instead.is_empty() => format!("`{c}` ({code}) is a character of prose: type `{instead}`"),
        None => format!("`{c}` ({code}) may stand in comments and strings only, not in names"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::diagnostics::parse;
    use super::*;

    fn messages(source: &str, log: &str) -> Vec<(u32, u32, String)> {
        let context = Context { source_name: "kernel.cu", source_text: source, ptx: "" };
        let found = parse(log, &context).into_iter();
        found.map(|found| (found.line, found.column, found.message)).collect()
    }

    /// Logs as NVRTC 13.5 writes them.
    #[test]
    fn each_character_is_named_once_with_what_to_type() {
        let source = "void f()\n{\n  a =\u{a0}1 − 2;\n";
        let echo = format!("  {}\n", source.lines().nth(2).unwrap());
        let at =
            |byte: usize, message: &str| format!("kernel.cu(3): error: {message}\n{echo}  {}^\n\n", " ".repeat(byte));
        let log = [
            at(5, "unrecognized token"),
            at(5, "expected an expression"),
            at(6, "unrecognized token"),
            at(9, "unrecognized token"),
            at(10, "unrecognized token"),
            at(11, "unrecognized token"),
            at(13, "expected a \";\""),
        ];
        let found = messages(source, &log.concat());
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!((found[0].0, found[0].1), (3, 6));
        assert!(found[0].2.contains("invisible character (U+00A0)"), "{found:?}");
        assert_eq!((found[1].1, found[1].2.as_str()), (9, "`−` (U+2212) is a character of prose: type `-`"));
        assert!(found[2].2.contains("expected a \";\""), "{found:?}");
    }

    #[test]
    fn what_is_no_such_character_keeps_its_message() {
        let log = "kernel.cu(1): error: unrecognized token\n  a @ b\n    ^\n\n";
        assert_eq!(messages("a @ b\n", log)[0].2, "unrecognized token");
        assert_eq!(messages("", log)[0].2, "unrecognized token", "no such line");
    }

    #[test]
    fn what_to_type_is_said_of_every_kind() {
        for (c, said) in
            [('“', "`\"`"), ('’', "`'`"), ('；', "`;`"), ('≤', "`<=`"), ('ï', "names"), ('\u{200b}', "delete")]
        {
            assert!(explained(c).contains(said), "{}", explained(c));
        }
    }
}
