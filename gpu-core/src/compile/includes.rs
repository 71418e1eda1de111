//! Looks at a source before the compiler does: size, zero bytes, and includes that leave the headers of the course.
//!
//! The compiler runs in a jail that cannot open such files anyway (see `worker/jail.rs`); this check gives the clear
//! message, and the protection on systems that have no jail.

use super::{Diagnostic, Severity};
use crate::job::Source;

/// Longest source accepted, in bytes. The longest kernel of the course has some 20 kB.
pub const MAX_SOURCE_BYTES: usize = 2 * 1024 * 1024;

/// The course's headers, present for every kernel that asks for them; each includes at most the ones after it.
pub const COURSE_HEADERS: [(&str, &str); 5] = [
    ("product.cuh", include_str!("../../../kernels/include/product.cuh")),
    ("hopper.cuh", include_str!("../../../kernels/include/hopper.cuh")),
    ("tma.cuh", include_str!("../../../kernels/include/tma.cuh")),
    ("mma.cuh", include_str!("../../../kernels/include/mma.cuh")),
    ("lab.cuh", include_str!("../../../kernels/include/lab.cuh")),
];

/// `source` with the course's headers where they are included, directly or by each other, and did not come along.
pub fn with_course_headers(source: &Source) -> Source {
    let mut source = source.clone();
    for (name, text) in COURSE_HEADERS {
        let is_named = |text: &str| text.contains(&format!("\"{name}\"")) || text.contains(&format!("<{name}>"));
        let wanted = is_named(&source.text) || source.headers.iter().any(|(_, text)| is_named(text));
        if wanted && !source.headers.iter().any(|(header, _)| header == name) {
            source.headers.push((name.to_owned(), text.to_owned()));
        }
    }
    source
}

/// Problems that make compiling pointless; empty when the compiler may look.
pub fn check(source: &Source) -> Vec<Diagnostic> {
    let mut found = check_text(&source.name, &source.text);
    for (name, text) in &source.headers {
        found.extend(check_text(name, text));
    }
    found
}

fn check_text(name: &str, text: &str) -> Vec<Diagnostic> {
    let error = |line: usize, column: usize, message: String| Diagnostic {
        severity: Severity::Error,
        file: name.to_owned(),
        line: line as u32,
        column: column as u32,
        message,
    };
    if text.len() > MAX_SOURCE_BYTES {
        let megabytes = |bytes: usize| bytes as f64 / (1024.0 * 1024.0);
        return vec![error(
            0,
            0,
            format!(
                "the file has {:.1} MB; a kernel source may have at most {:.0} MB",
                megabytes(text.len()),
                megabytes(MAX_SOURCE_BYTES)
            ),
        )];
    }
    if let Some(at) = text.find('\0') {
        // NVRTC would take everything after it for absent, and say nothing.
        let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[..at].matches('\n').count() + 1;
        let column = text[line_start..at].chars().count() + 1;
        return vec![error(line, column, "the source contains a zero byte here; remove it".to_owned())];
    }
    directives(text)
        .into_iter()
        .filter_map(|directive| {
            let reason = refusal(&directive.operand)?;
            Some(error(directive.line, directive.column, format!("`{}` refused: {reason}", directive.shown)))
        })
        .collect()
}

/// Why an operand of `#include` or `__has_include` is refused.
fn refusal(operand: &str) -> Option<String> {
    const ONLY: &str = "a kernel may include only the course's headers (`lab.cuh`, `mma.cuh`, `tma.cuh`, `hopper.cuh`, `product.cuh`) and CUDA's headers, by their plain names";
    let operand = operand.trim();
    let inner = match operand.chars().next() {
        Some('"') => operand[1..].split('"').next().unwrap_or(""),
        Some('<') => operand[1..].split('>').next().unwrap_or(""),
        _ => return Some(format!("the name must stand there itself, not a macro; {ONLY}")),
    };
    let absolute = inner.starts_with(['/', '\\', '~']) || inner.get(1..2) == Some(":");
    if absolute {
        return Some(format!("absolute paths are not allowed; {ONLY}"));
    }
    if inner.split(['/', '\\']).any(|part| part == "..") {
        return Some(format!("paths with `..` are not allowed; {ONLY}"));
    }
    None
}

struct Directive {
    line: usize,
    column: usize,
    /// What the reader typed, shortened.
    shown: String,
    operand: String,
}

/// Every `#include`, `#include_next`, `#import`, `#embed` and every use of `__has_include` and `__has_embed`.
///
/// Comments are blanked, lines joined at backslashes. Raw string literals are not recognised on purpose: a mistake
/// there could hide a directive, while the reverse only refuses a strange string.
fn directives(text: &str) -> Vec<Directive> {
    const DIRECTIVES: [&str; 4] = ["include_next", "include", "import", "embed"];
    const OPERATORS: [&str; 3] = ["__has_include_next", "__has_include", "__has_embed"];
    let mut found = Vec::new();
    for (line, logical) in logical_lines(text) {
        let trimmed = logical.trim_start();
        let column = logical.chars().count() - trimmed.chars().count() + 1;
        let mut push = |operand: &str, shown: &str, column: usize| {
            found.push(Directive {
                line,
                column,
                shown: shown.trim().chars().take(80).collect(),
                operand: operand.to_owned(),
            });
        };
        let Some(rest) = trimmed.strip_prefix('#').or_else(|| trimmed.strip_prefix("%:")) else { continue };
        let rest = rest.trim_start();
        if let Some(operand) = DIRECTIVES.iter().find_map(|name| word(rest, name)) {
            push(operand, trimmed, column);
            continue;
        }
        // The operators are allowed in conditions only, which are directives.
        for operator in OPERATORS {
            for (at, _) in rest.match_indices(operator) {
                let Some(after) = word(&rest[at..], operator) else { continue };
                // `defined(__has_include)` and `#ifdef __has_include` ask for the operator itself.
                let Some(operand) = after.trim_start().strip_prefix('(') else { continue };
                push(operand, &rest[at..], column + trimmed.find(operator).unwrap_or(0));
            }
        }
    }
    found
}

/// What follows `name` in `text` when `name` stands there as a whole word.
fn word<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(name)?;
    let goes_on = rest.starts_with(|c: char| c == '_' || c.is_alphanumeric());
    (!goes_on).then_some(rest)
}

/// Lines after joining at backslash-newline and blanking comments, with the number of their first physical line.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    #[derive(PartialEq)]
    enum State {
        Code,
        Quote(char),
        LineComment,
        BlockComment,
    }
    let mut lines = Vec::new();
    let mut current = String::new();
    let (mut line, mut first) = (1, 1);
    let mut state = State::Code;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\\' {
            // Compilers of the GNU family let blanks stand between the backslash and the newline.
            let mut ahead = rest.clone();
            while ahead.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\r')) {
                ahead.next();
            }
            if ahead.peek() == Some(&'\n') {
                ahead.next();
                rest = ahead;
                line += 1;
                continue;
            }
        }
        if c == '\n' {
            if state != State::BlockComment {
                state = State::Code;
                lines.push((first, std::mem::take(&mut current)));
                first = line + 1;
            }
            line += 1;
            continue;
        }
        match state {
            State::LineComment => {}
            State::BlockComment => {
                if c == '*' && rest.peek() == Some(&'/') {
                    rest.next();
                    state = State::Code;
                    current.push(' ');
                }
            }
            State::Quote(quote) => {
                current.push(c);
                if c == '\\' {
                    current.extend(rest.next_if(|&next| next != '\n'));
                } else if c == quote {
                    state = State::Code;
                }
            }
            State::Code => match (c, rest.peek()) {
                ('/', Some('/')) => state = State::LineComment,
                ('/', Some('*')) => {
                    rest.next();
                    state = State::BlockComment;
                }
                // An apostrophe between digits separates them (1'000).
                ('"', _) => {
                    state = State::Quote(c);
                    current.push(c);
                }
                ('\'', _) if !current.ends_with(|last: char| last.is_ascii_hexdigit()) => {
                    state = State::Quote(c);
                    current.push(c);
                }
                _ => current.push(c),
            },
        }
    }
    lines.push((first, current));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_courses_header_comes_along_once() {
        let source = |text: &str| Source {
            name: "kernel.cu".into(),
            text: text.into(),
            headers: Vec::new(),
            options: Vec::new(),
        };
        assert!(with_course_headers(&source("int x;")).headers.is_empty());
        let with = with_course_headers(&source("#include \"lab.cuh\"\n"));
        assert_eq!(with.headers.len(), 1);
        assert!(check(&with).is_empty(), "{:?}", check(&with));
        assert_eq!(with_course_headers(&with), with);
        let all = with_course_headers(&source("#include <product.cuh>\n"));
        let names: Vec<&str> = all.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, COURSE_HEADERS.map(|(name, _)| name), "each brings what it includes itself");
    }

    fn places(text: &str) -> Vec<(u32, u32)> {
        check_text("kernel.cu", text).into_iter().map(|found| (found.line, found.column)).collect()
    }

    #[test]
    fn refuses_every_way_out_of_the_header_folders() {
        for text in [
            "#include \"/etc/passwd\"",
            "#include </etc/passwd>",
            "  #  include \"../secret\"",
            "#include <../../etc/passwd>",
            "#include \"a/../../b\"",
            "%: include \"/etc/passwd\"",
            "#inc\\\nlude \"/etc/passwd\"",
            "#include /* x */ \"/proc/self/environ\"",
            "/* a\n*/ #include \"/etc/passwd\"",
            "#include_next \"/etc/passwd\"",
            "#import \"/etc/passwd\"",
            "#embed \"/etc/passwd\"",
            "#if __has_include(\"/etc/passwd\")",
            "#elif defined(X) && __has_include ( </etc/passwd> )",
            "#define P \"/etc/passwd\"\n#include P",
            "#include \"C:\\\\x\"",
            "#include \"~/x\"",
            "const char* s = R\"(\n#include \"/etc/passwd\"\n)\";",
            "int a = 1'000; \n#include \"/etc/passwd\"",
            "#error don't\n#include \"/etc/passwd\"",
        ] {
            assert_eq!(places(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn lets_ordinary_sources_pass() {
        for text in [
            "",
            "#include \"lab.cuh\"\n#include <cuda_fp16.h>\n#include <cuda/std/type_traits>",
            "// #include \"/etc/passwd\"",
            "/* #include \"/etc/passwd\" */ int x;",
            "const char* s = \"#include /etc/passwd\";",
            "#if defined(__has_include)\n#if __has_include(<cuda_fp8.h>)\n#endif\n#endif",
            "#define included 1\n#ifdef include\n#endif\n#pragma once",
            "int \u{e9} = '\\''; // \u{20ac}",
        ] {
            assert_eq!(places(text), [], "{text}");
        }
    }

    #[test]
    fn names_line_and_column() {
        assert_eq!(places("int x;\n  #include \"/etc/passwd\"\n"), [(2, 3)]);
        assert_eq!(places("int x; \\\n int y;\n#include \"/a\"\n"), [(3, 1)]);
        assert_eq!(places("ab\nc\0d"), [(2, 2)]);
        assert_eq!(places(&"x".repeat(5 << 20)), [(0, 0)]);
    }
}
