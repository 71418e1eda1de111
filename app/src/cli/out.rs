//! Text for people: alignment, colour where the terminal wants it, and no panic when the reader goes away.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes to standard output. A closed pipe (`lockstep list | head`) is not an error. Colours of [`Style`] go through, all
/// other control characters are shown.
pub fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(guarded(text).as_bytes()).and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        // The first says why; what follows fails for the same reason.
        let _ = UNWRITTEN.set(error.to_string());
    }
}

static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// Why a part of what was printed did not arrive: a full disk, mostly.
pub fn unwritten() -> Option<&'static str> {
    UNWRITTEN.get().map(String::as_str)
}

/// Text that came from a kernel, a compiler, a file or another machine, with what a terminal would obey made visible:
/// control characters but tab and line end, and the marks that turn the direction of writing.
pub fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            // A line end of Windows.
            '\r' => out.push_str("\\r"),
            c if is_obeyed(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out.into()
}

fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// As [`visible`], but for the sequences that [`Style`] writes.
fn guarded(text: &str) -> std::borrow::Cow<'_, str> {
    const OURS: [&str; 6] = ["\x1b[1;31m", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[33m", "\x1b[0m"];
    if !text.contains('\x1b') {
        return visible(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&visible(&rest[..at]));
        let ours = OURS.iter().find(|code| rest[at..].starts_with(**code));
        let length = ours.map_or(1, |code| code.len());
        match ours {
            Some(code) => out.push_str(code),
            None => out.push_str(&visible(&rest[at..at + 1])),
        }
        rest = &rest[at + length..];
    }
    out.push_str(&visible(rest));
    out.into()
}

static JSON_PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether [`json`] was called: a command prints one object, also when it fails.
pub fn json_printed() -> bool {
    JSON_PRINTED.load(Ordering::Relaxed)
}

/// One JSON object and a newline.
pub fn json(value: &serde_json::Value) {
    JSON_PRINTED.store(true, Ordering::Relaxed);
    print(&json_text(value));
}

/// JSON with nothing in it that a terminal would obey: serde escapes the control characters that JSON forbids, not the others.
fn json_text(value: &serde_json::Value) -> String {
    let text = format!("{value:#}\n");
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) { out.push_str(&format!("\\u{:04x}", u32::from(c))) } else { out.push(c) }
    }
    out
}

/// One line on standard error, beginning with the program's name.
pub fn error(message: &str) {
    let style = Style::of(&std::io::stderr());
    let _ = writeln!(std::io::stderr(), "{} {}", style.red("lockstep:"), visible(message));
}

/// A remark on standard error, so that standard output stays what was asked for.
pub fn remark(message: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(message));
}

pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Shows a line that the next one replaces; nothing unless standard error is a terminal.
pub fn transient(message: &str) {
    let mut stderr = std::io::stderr();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[2K{}", visible(message).replace('\n', " "));
        let _ = stderr.flush();
    }
}

/// Terminal attributes, or none: by NO_COLOR, TERM=dumb, or output that is not a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    enabled: bool,
}

impl Style {
    pub fn stdout() -> Self {
        Style::of(&std::io::stdout())
    }

    pub fn stderr() -> Self {
        Style::of(&std::io::stderr())
    }

    fn of(stream: &impl IsTerminal) -> Self {
        // https://no-color.org: present and not empty.
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Style { enabled: !refused && !dumb && stream.is_terminal() }
    }

    #[cfg(test)]
    pub fn plain() -> Self {
        Style { enabled: false }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.enabled { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub fn red(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }
}

/// Side of a column that its text is flush with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Columns two spaces apart, indented by two. The last left-aligned column is not padded; columns that no alignment is
/// given for are flush left.
pub fn table(aligns: &[Align], rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.iter().map(Vec::len).max().unwrap_or(0)).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::from("  ");
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            match aligns.get(column).unwrap_or(&Align::Left) {
                Align::Left => line += &format!("{cell}{padding}  "),
                Align::Right => line += &format!("{padding}{cell}  "),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// `1234567` as `1 234 567`: readable in every locale.
pub fn grouped(number: u64) -> String {
    crate::amounts::in_groups(number, ' ')
}

/// Bytes with a binary unit: `512 B`, `1.5 KiB`, `139.8 GiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// Nanoseconds with the unit that leaves one to three digits before the point.
pub fn nanoseconds(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.3} ms", ns / 1e6),
        ns => format!("{:.3} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(nanoseconds(999.0), "999 ns");
        assert_eq!(nanoseconds(1.5e6), "1.500 ms");
    }

    #[test]
    fn nothing_foreign_moves_the_cursor() {
        assert_eq!(visible("a\tb\n\u{e9}"), "a\tb\n\u{e9}");
        assert_eq!(visible("\x1b]0;title\x07"), "\\u{1b}]0;title\\u{7}");
        assert_eq!(visible("\u{9b}31m\u{202e}"), "\\u{9b}31m\\u{202e}");
        assert_eq!(visible("a\rb"), "a\\rb");
        let style = Style { enabled: true };
        let shown = guarded(&format!("{} \x1b[2J\x1b[31mx", style.green("PASSED"))).into_owned();
        assert_eq!(shown, "\x1b[32mPASSED\x1b[0m \\u{1b}[2J\\u{1b}[31mx");
        for coloured in [style.bold("x"), style.dim("x"), style.red("x"), style.green("x"), style.yellow("x")] {
            assert_eq!(guarded(&coloured), coloured);
        }
    }

    #[test]
    fn json_stays_json() {
        let value = serde_json::json!({ "text": "\u{1b}[2J\u{9b}\u{202e}\r\u{e9}" });
        let text = json_text(&value);
        assert!(!text.chars().any(is_obeyed), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["a".into(), "10".into(), "x".into()], vec!["bbb".into(), "7".into(), "y".into()]];
        assert_eq!(table(&[Align::Left, Align::Right, Align::Left], &rows), "  a    10  x\n  bbb   7  y\n");
        assert_eq!(table(&[Align::Left], &rows), "  a    10  x\n  bbb  7   y\n");
    }
}
