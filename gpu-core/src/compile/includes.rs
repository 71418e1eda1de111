//! Looks at a source before the compiler does: size, zero bytes, and includes that leave the headers of the course.
//!
//! The compiler runs in a jail that cannot open such files anyway (see `worker/jail.rs`); this check gives the clear
//! message, and the protection on systems that have no jail.

use super::standins;
use super::tokens::{Kind, Token, tokens};
use super::{Diagnostic, Severity};
use crate::compile::Source;
use std::collections::BTreeSet;

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
    standins::add(&mut source);
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
    ways_out(text)
        .into_iter()
        .map(|found| {
            let start = text[..found.at].rfind('\n').map_or(0, |newline| newline + 1);
            let line = 1 + text[..found.at].matches('\n').count();
            let column = 1 + text[start..found.at].chars().count();
            let shown: String = text[found.at..].lines().next().unwrap_or_default().trim().chars().take(80).collect();
            error(line, column, format!("`{shown}` refused: {}", found.reason))
        })
        .collect()
}

/// Why an operand of `#include` or `__has_include` is refused.
fn refusal(operand: String) -> Option<String> {
    const ONLY: &str = "a kernel may include only the course's headers (`lab.cuh`, `mma.cuh`, `tma.cuh`, `hopper.cuh`, `product.cuh`) and CUDA's headers, by their plain names";
    let operand = operand.trim();
    let inner = match operand.chars().next() {
        Some('"') => operand[1..].split('"').next().unwrap_or(""),
        Some('<') => operand[1..].split('>').next().unwrap_or(""),
        _ => return Some(format!("the name must stand there itself, not a macro; {ONLY}")),
    };
    if let Some((_, why)) = standins::ABSENT.iter().find(|(name, _)| *name == inner) {
        return Some((*why).to_owned());
    }
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+');
    if inner.is_empty() || !inner.chars().all(|c| plain(c) || matches!(c, '\\' | ':' | '~')) {
        return Some(format!("a header's name has letters, digits and `_-./` alone; {ONLY}"));
    }
    let absolute = inner.starts_with(['/', '\\', '~']) || inner.get(1..2) == Some(":");
    if absolute {
        return Some(format!("absolute paths are not allowed; {ONLY}"));
    }
    if inner.contains(['\\', ':', '~']) {
        return Some(format!("a header's name has letters, digits and `_-./` alone; {ONLY}"));
    }
    if inner.split('/').any(|part| part == "..") {
        return Some(format!("paths with `..` are not allowed; {ONLY}"));
    }
    None
}

/// Directives that a kernel may have. What is not among them is refused: compilers add ways of their own to read files.
const DIRECTIVES: [&str; 16] = [
    "define",
    "undef",
    "if",
    "ifdef",
    "ifndef",
    "elif",
    "elifdef",
    "elifndef",
    "else",
    "endif",
    "error",
    "warning",
    "pragma",
    "line",
    "include",
    "include_next",
];
/// Operators that tell whether a file is there.
const OPERATORS: [&str; 4] = ["__has_include_next", "__has_include", "__has_embed", "__has_cpp_include"];
/// Directives of assemblers that read files.
const ASSEMBLER: [&str; 2] = [".incbin", ".include"];

/// Something that is refused.
struct Found {
    at: usize,
    reason: String,
}

/// Everything in `text` through which a compiler might read a file that it should not, in the compiler's own tokens.
fn ways_out(text: &str) -> Vec<Found> {
    let all: Vec<Token<'_>> = tokens(text).into_iter().filter(|token| token.kind != Kind::Space).collect();
    let mut found = Vec::new();
    let mut refuse = |at: usize, reason: String| found.push(Found { at, reason });
    // Where C++ before C++17 sees `#` and a backslash.
    for trigraph in ["??=", "??/"] {
        if let Some(at) = text.find(trigraph) {
            refuse(at, format!("trigraphs such as `{trigraph}` are not allowed: write the character itself"));
        }
    }
    let mut start = 0;
    while start < all.len() {
        let end = (start + 1..all.len()).find(|&i| all[i].first_on_line).unwrap_or(all.len());
        if all[start].text == "#" {
            directive(text, &all[start..end], &mut refuse);
        } else {
            code(&all[start..end], &mut refuse);
        }
        start = end;
    }
    if all.iter().any(|token| token.text == "##") {
        let words: BTreeSet<String> =
            all.iter().filter(|token| matches!(token.kind, Kind::Word | Kind::Number)).map(Token::plain).collect();
        if let Some(operator) = OPERATORS.iter().find(|operator| can_be_joined(operator, &words)) {
            let at = all.iter().find(|token| token.text == "##").map_or(0, |token| token.at);
            refuse(
                at,
                format!("`##` can make `{operator}` here, which tells what files there are; name the pieces otherwise"),
            );
        }
    }
    // Literals side by side are one.
    let mut joined = String::new();
    let mut first = 0;
    for token in &all {
        if token.kind != Kind::Literal {
            joined.clear();
            continue;
        }
        if joined.is_empty() {
            first = token.at;
        }
        joined += &inside(&token.plain()).to_ascii_lowercase();
        if let Some(name) = ASSEMBLER.iter().find(|name| joined.contains(**name)) {
            refuse(first, format!("`{name}` is not allowed in a text: an assembler would read a file there"));
            joined.clear();
        }
    }
    found.sort_by_key(|found| found.at);
    found
}

/// What stands between the quotes of a literal.
fn inside(literal: &str) -> &str {
    let open = literal.find(['"', '\'']).map_or(0, |at| at + 1);
    literal[open..].trim_end_matches(['"', '\''])
}

/// Whether two or more of the words, one after the other, are `whole`.
fn can_be_joined(whole: &str, words: &BTreeSet<String>) -> bool {
    let mut reached = vec![false; whole.len() + 1];
    reached[0] = true;
    for at in 0..whole.len() {
        if !reached[at] {
            continue;
        }
        for word in words.iter().filter(|word| !word.is_empty() && word.len() < whole.len()) {
            if whole[at..].starts_with(word.as_str()) {
                reached[at + word.len()] = true;
            }
        }
    }
    reached[whole.len()]
}

fn directive(text: &str, line: &[Token<'_>], refuse: &mut impl FnMut(usize, String)) {
    let Some(name) = line.get(1).map(Token::plain) else { return };
    let at = line[0].at;
    match name.as_str() {
        "include" | "include_next" => {
            if let Some(reason) = refusal(operand(text, line, 2)) {
                refuse(at, reason);
            }
            return;
        }
        "import" | "embed" => {
            refuse(at, format!("`#{name}` is not allowed: a kernel includes headers with `#include`"));
            return;
        }
        known if DIRECTIVES.contains(&known) => {}
        // A line number alone.
        other if other.bytes().all(|byte| byte.is_ascii_digit()) => {}
        other => {
            refuse(at, format!("`#{other}` is no directive that a kernel may use"));
            return;
        }
    }
    let is_condition = matches!(name.as_str(), "if" | "elif");
    for (index, token) in line.iter().enumerate().skip(2) {
        let plain = token.plain();
        if OPERATORS.contains(&plain.as_str()) {
            let previous = line[index - 1].plain();
            let before = if previous == "(" { line[index - 2].plain() } else { previous };
            // `defined(__has_include)`, `#ifdef __has_include`, `#undef __has_include` ask for the operator itself.
            if matches!(before.as_str(), "defined" | "ifdef" | "ifndef" | "elifdef" | "elifndef" | "undef") {
                continue;
            }
            let reason = match line.get(index + 1) {
                _ if plain == "__has_embed" => Some("a kernel embeds no files".to_owned()),
                Some(open) if open.text == "(" => refusal(operand(text, line, index + 2)),
                _ => Some(format!(
                    "`{plain}` must stand in a condition, with the header's name: `#if {plain}(<cuda_fp16.h>)`"
                )),
            };
            if let Some(reason) = reason {
                refuse(token.at, reason);
            }
            continue;
        }
        if !is_condition {
            continue;
        }
        // What else could lead an operator to a file has no place in a condition.
        let operand_of_operator =
            index >= 2 && line[index - 1].text == "(" && OPERATORS.contains(&line[index - 2].plain().as_str());
        let is_text = token.kind == Kind::Literal && token.plain().contains('"');
        let next = line.get(index + 1).map_or("", |next| next.text);
        let is_path = token.text == "<" && matches!(next, "/" | "." | "~" | "\\");
        if (is_text || is_path) && !operand_of_operator {
            refuse(token.at, "a condition compares numbers; a name of a file has no place in it".to_owned());
        } else if token.text == ")" && next == "(" {
            refuse(token.at, "a condition calls a macro by its name, not by what another macro gives".to_owned());
        }
    }
}

/// Code outside of directives: the operators mean nothing there, and where a compiler lets them, they are refused.
fn code(tokens: &[Token<'_>], refuse: &mut impl FnMut(usize, String)) {
    for token in tokens {
        let plain = token.plain();
        if OPERATORS.contains(&plain.as_str()) {
            refuse(token.at, format!("`{plain}` belongs into a condition of the preprocessor"));
        }
    }
}

/// What is written from token `index` of a directive to its end, with line splices taken out.
fn operand(text: &str, line: &[Token<'_>], index: usize) -> String {
    let Some(first) = line.get(index) else { return String::new() };
    let end = line.last().map_or(first.end, |last| last.end);
    let raw =
        Token { kind: Kind::Mark, text: &text[first.at..end], at: first.at, end, spliced: true, first_on_line: false };
    raw.plain()
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
            "int a = 1'000; \n#include \"/etc/passwd\"",
            "#error don't\n#include \"/etc/passwd\"",
            // What hides a directive from a reader who does not know raw strings and prefixes.
            "const char* s = R\"(\" /* )\";\n#include \"/etc/passwd\"\n// */",
            "char8_t c = u8'\"';\n#include \"/etc/passwd\"\n// \"",
            "auto s = LR\"x(/*)x\";\n#include \"/etc/passwd\"",
            "int a = 1'0'0; /* ' */\n#include \"/etc/passwd\"",
            "#include <a> \\\n\n#\\\ninclude \"/etc/passwd\"",
            "#include_alias \"a\" \"/etc/passwd\"",
            "#embed \"data.bin\"",
            "#if __has_embed(<data.bin>)",
            "#define H __has_include\n",
            "#define H(x) __has_include(x)\n",
            "#define C(a, b) a##b\n#if C(__has_, include)(P)\n",
            "#if H(\"/etc/passwd\")",
            "#if H(</etc/passwd>)",
            "#if H(1)(P)",
            "bool b = __has_include(\"/etc/passwd\");",
            "asm(\".inc\" \"bin \\\"/etc/passwd\\\"\");",
            "asm(\".INCLUDE \\\"/etc/passwd\\\"\");",
            "#include \"C:x\"",
            "#include \"a\\b\"",
            "#include \"\"",
            "#include",
            "??=include \"/etc/passwd\"",
            "#include <curand_kernel.h>",
        ] {
            assert!(!places(text).is_empty(), "{text}");
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
            "const char* s = R\"(\n#include \"/etc/passwd\"\n)\";",
            "#define PASTE(a, b) a##b\nint PASTE(has_, x);",
            "#if (A) && (B) < (C)\n#endif\n#if F(1, 2) == 3\n#endif",
            "#\n#line 3 \"other.cu\"\n#undef __has_include",
            "asm volatile(\"cp.async.wait_all;\\n\");",
            "#include <cstdint>\n#include <iostream>",
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
