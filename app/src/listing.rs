//! PTX and SASS as rows that know their source line. Pure functions of the compiler's texts.

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest that a difference may take on the window's thread; beyond it a coarser one is shown.
const DIFF_TIME: Duration = Duration::from_millis(60);

/// What a row is, which decides its colour and whether it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// An instruction.
    Code,
    /// The head of a kernel or function.
    Head,
    /// Where branches lead.
    Label,
    /// `.reg`, `.loc`, sections: what the assembler needs and a reader seldom.
    Directive,
    Comment,
}

/// One line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub text: String,
    pub kind: RowKind,
    /// One-based line of the kernel's text that this was made of.
    pub line: Option<u32>,
}

/// A listing with its way back from source lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub rows: Vec<Row>,
    by_line: BTreeMap<u32, Vec<usize>>,
}

impl Listing {
    fn new(rows: Vec<Row>) -> Self {
        let mut by_line: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            if let Some(line) = row.line {
                by_line.entry(line).or_default().push(index);
            }
        }
        Self { rows, by_line }
    }

    /// Rows made of a source line, in order.
    pub fn rows_of(&self, line: u32) -> &[usize] {
        self.by_line.get(&line).map_or(&[], Vec::as_slice)
    }

    /// Number of instructions.
    pub fn instructions(&self) -> usize {
        self.rows.iter().filter(|row| row.kind == RowKind::Code).count()
    }

    /// Without what a reader seldom needs.
    pub fn condensed(&self) -> Self {
        let kept = self.rows.iter().filter(|row| !matches!(row.kind, RowKind::Directive | RowKind::Comment));
        Self::new(kept.cloned().collect())
    }
}

/// PTX, with places from its `.loc` lines (PTX ISA, "Debugging Directives"). `file` is the kernel's name.
pub fn ptx(text: &str, file: &str) -> Listing {
    let own: Vec<u32> = text
        .lines()
        .filter_map(|line| {
            // `.file 1 "kernel.cu"`
            let rest = line.trim().strip_prefix(".file")?.trim_start();
            let (number, name) = rest.split_once(char::is_whitespace)?;
            is_file(name.trim().trim_matches('"'), file).then(|| number.parse().ok())?
        })
        .collect();
    let mut rows = Vec::new();
    let mut place = None;
    // Inside `.section { … }`, and inside a function's braces.
    let mut section = false;
    let mut depth = 0_i32;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        let is_head = trimmed.starts_with(".visible")
            || trimmed.starts_with(".entry")
            || trimmed.starts_with(".weak")
            || trimmed.starts_with(".func")
            || trimmed.starts_with(".extern");
        if trimmed.starts_with(".section") {
            section = true;
        }
        let kind = if section {
            RowKind::Directive
        } else if trimmed.starts_with("//") {
            RowKind::Comment
        } else if trimmed.starts_with(".loc") {
            place = location(trimmed, &own);
            RowKind::Directive
        } else if is_head {
            place = None;
            RowKind::Head
        } else if trimmed.starts_with('.') || trimmed.starts_with(['(', ')']) || trimmed == "{" || trimmed == "}" {
            // Parameters of a head stand before its first brace.
            if depth == 0 && trimmed.starts_with(".param") { RowKind::Head } else { RowKind::Directive }
        } else if trimmed.ends_with(':') {
            RowKind::Label
        } else {
            RowKind::Code
        };
        if section && trimmed.ends_with('}') {
            section = false;
        } else if !section {
            depth += match trimmed {
                "{" => 1,
                "}" => -1,
                _ => 0,
            };
        }
        let line = place.filter(|_| kind == RowKind::Code);
        rows.push(Row { text: tidy(line_text(trimmed, kind)), kind, line });
    }
    Listing::new(rows)
}

fn line_text(trimmed: &str, kind: RowKind) -> String {
    match kind {
        RowKind::Code => format!("    {trimmed}"),
        _ => trimmed.to_owned(),
    }
}

/// Tabs between a mnemonic and its operands to one space: the columns are ours.
fn tidy(text: String) -> String {
    if text.contains('\t') { text.replace(" \t", " ").replace('\t', " ") } else { text }
}

/// `.loc 1 5 9` or `.loc 2 3 1, function_name $L__info_string0, inlined_at 1 5 9`: the line in the kernel's own text.
fn location(loc: &str, own: &[u32]) -> Option<u32> {
    let pair = |text: &str| {
        let mut numbers = text.split_whitespace().map(|word| word.trim_matches(',').parse::<u32>().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    let (file, line) = pair(loc.strip_prefix(".loc")?)?;
    if own.contains(&file) {
        return (line > 0).then_some(line);
    }
    let (file, line) = pair(loc.split_once("inlined_at")?.1)?;
    (own.contains(&file) && line > 0).then_some(line)
}

fn is_file(path: &str, file: &str) -> bool {
    Path::new(path).file_name().is_some_and(|name| name == file)
}

/// SASS as `nvdisasm -c -g` writes it, with places from its `//## File` lines.
pub fn sass(text: &str, file: &str) -> Listing {
    let mut rows = Vec::new();
    let mut place = None;
    // A chain of `//## File` lines leads from the innermost function outwards: the first of our own text counts.
    let mut in_chain = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        if let Some(rest) = trimmed.strip_prefix("//## File ") {
            if !in_chain {
                place = None;
            }
            in_chain = true;
            place = place.or_else(|| sass_location(rest, file));
            rows.push(Row { text: trimmed.to_owned(), kind: RowKind::Comment, line: None });
            continue;
        }
        in_chain = false;
        let (kind, text) = if let Some(code) = sass_code(trimmed) {
            (RowKind::Code, code)
        } else if let Some(name) = trimmed.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
            place = None;
            (RowKind::Head, format!("{name}:"))
        } else if trimmed.starts_with(".L_") && trimmed.ends_with(':') {
            (RowKind::Label, trimmed.to_owned())
        } else if trimmed.starts_with("//") {
            (RowKind::Comment, trimmed.to_owned())
        } else {
            (RowKind::Directive, tidy(trimmed.to_owned()))
        };
        rows.push(Row { text, kind, line: place.filter(|_| kind == RowKind::Code) });
    }
    // Behind the last jump to itself only padding follows.
    let code_end = rows.iter().rposition(|row| row.kind == RowKind::Code && !row.text.contains("NOP;"));
    if let Some(end) = code_end {
        for row in &mut rows[end + 1..] {
            if row.kind == RowKind::Code {
                row.kind = RowKind::Directive;
            }
        }
    }
    Listing::new(rows)
}

/// `"/kernel.cu", line 6 inlined at "/kernel.cu", line 9`
fn sass_location(rest: &str, file: &str) -> Option<u32> {
    let mut parts = rest.split(" inlined at ");
    parts.find_map(|part| {
        let (name, after) = part.trim().trim_start_matches('"').split_once('"')?;
        let number = after.trim_start_matches(',').trim().strip_prefix("line")?.split_whitespace().next()?;
        is_file(name, file).then(|| number.parse().ok()).flatten()
    })
}

/// `/*0040*/   IMAD R9, R9, UR4, R0 ;` to its address and instruction; lines of the encoding alone are none.
fn sass_code(trimmed: &str) -> Option<String> {
    let (address, code) = trimmed.strip_prefix("/*")?.split_once("*/")?;
    let code = code.trim();
    let code = code.split("/*").next().unwrap_or_default().trim_end();
    if code.is_empty() || !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let code = code.strip_suffix(';').map_or(code, str::trim_end);
    Some(format!("{address}  {code};"))
}

/// What one row becomes when two listings are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// In both; the indices of the older and of the newer one.
    Same(usize, usize),
    Gone(usize),
    Came(usize),
}

/// Differences of two listings. Numbers of registers, labels and addresses do not count: they change all over when one
/// instruction does.
pub fn compare(old: &Listing, new: &Listing) -> Vec<Change> {
    let key = |listing: &Listing| listing.rows.iter().map(|row| normal(&row.text)).collect::<Vec<_>>();
    changes(&key(old), &key(new))
}

/// Differences of two texts, line by line.
pub fn compare_lines(old: &[&str], new: &[&str]) -> Vec<Change> {
    changes(old, new)
}

fn changes<T: std::hash::Hash + Eq + Ord>(old: &[T], new: &[T]) -> Vec<Change> {
    let deadline = Instant::now() + DIFF_TIME;
    let mut changes = Vec::with_capacity(old.len().max(new.len()));
    for op in capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline)) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                changes.extend((0..len).map(|i| Change::Same(old_index + i, new_index + i)));
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                changes.extend(op.old_range().map(Change::Gone));
                changes.extend(op.new_range().map(Change::Came));
            }
        }
    }
    changes
}

/// An instruction with numbers of registers and labels left out.
fn normal(text: &str) -> String {
    let text = text.trim();
    // SASS: the address in front.
    let text = match text.split_once("  ") {
        Some((address, code)) if address.bytes().all(|byte| byte.is_ascii_hexdigit()) => code,
        _ => text,
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word_end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_%$.".contains(c))).unwrap_or(rest.len());
        if word_end == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let word = &rest[..word_end];
        let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_register = bare.starts_with('%') && bare.len() > 1
            || (bare.len() < word.len() && matches!(bare, "R" | "UR" | "P" | "UP" | "B"));
        if is_register {
            out.push_str(bare);
        } else if word.starts_with("$L") || word.starts_with(".L_") {
            out.push_str("$L");
        } else if let Some((register, suffix)) = word.split_once('.').filter(|(register, _)| {
            let bare = register.trim_end_matches(|c: char| c.is_ascii_digit());
            bare.len() < register.len() && matches!(bare, "R" | "UR")
        }) {
            // `R6.64`, `R2.reuse`
            out.push_str(register.trim_end_matches(|c: char| c.is_ascii_digit()));
            if suffix != "reuse" {
                out.push('.');
                out.push_str(suffix);
            }
        } else {
            out.push_str(word);
        }
        rest = &rest[word_end..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As NVRTC 13.5 writes it, cut.
    const PTX: &str = "//\n// Generated by NVIDIA NVVM Compiler\n//\n\n.version 9.5\n.target sm_90a\n\n.visible .entry add(\n\t.param \
        .u64 add_param_0\n)\n{\n\t.reg .pred \t%p<2>;\n\t.loc\t1 2 0\n\n\n\tld.param.u64 \t%rd1, [add_param_0];\n\t.loc\t1 3 \
        5\n\tmov.u32 \t%r3, %ctaid.x;\n\t@%p1 bra \t$L__BB0_2;\n\n\t.loc\t2 8 5, function_name $L__info_string0, inlined_at 1 \
        5 9\n\tmul.f32 \t%f1, %f2, %f3;\n\t.loc\t2 9 5\n\tadd.f32 \t%f1, %f2, %f3;\n\n$L__BB0_2:\n\t.loc\t1 8 \
        1\n\tret;\n\n}\n\n\t.file\t1 \"kernel.cu\"\n\t.file\t2 \"lab.cuh\"\n\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 \
        102\n\t}\n";

    /// As nvdisasm 13.5 writes it, cut.
    const SASS: &str = "\t.target\tsm_90a\n//---- .text.add ----\n\t.section\t.text.add,\"ax\",@progbits\n        .global   \
        add\nadd:\n.text.add:\n\t//## File \"/kernel.cu\", line 2\n        /*0000*/                   LDC R1, c[0x0][0x28] \
        ;\n\t//## File \"/lab.cuh\", line 9 inlined at \"/kernel.cu\", line 5\n\t//## File \"/kernel.cu\", line 5\n        \
        /*0010*/               @P0 EXIT ;\n.L_x_2:\n        /*0020*/                   STG.E desc[UR4][R6.64], R9 ;\n.L_x_0:\n  \
              /*0140*/                   BRA `(.L_x_0);\n        /*0150*/                   NOP;\n";

    #[test]
    fn rows_of_ptx_know_their_source_lines() {
        let listing = ptx(PTX, "kernel.cu");
        let code: Vec<_> = listing
            .rows
            .iter()
            .filter(|row| row.kind == RowKind::Code)
            .map(|row| (row.text.trim(), row.line))
            .collect();
        assert_eq!(
            code,
            [
                ("ld.param.u64 %rd1, [add_param_0];", Some(2)),
                ("mov.u32 %r3, %ctaid.x;", Some(3)),
                ("@%p1 bra $L__BB0_2;", Some(3)),
                ("mul.f32 %f1, %f2, %f3;", Some(5)),
                ("add.f32 %f1, %f2, %f3;", None),
                ("ret;", Some(8)),
            ]
        );
        assert_eq!(listing.instructions(), 6);
        assert_eq!(listing.rows_of(3).len(), 2);
        assert!(listing.rows_of(99).is_empty());
        let short = listing.condensed();
        let kinds = short.rows.iter().filter(|row| row.kind != RowKind::Code).map(|row| row.text.as_str());
        assert_eq!(kinds.collect::<Vec<_>>(), [".visible .entry add(", ".param .u64 add_param_0", "$L__BB0_2:"]);
        assert_eq!(short.rows_of(8).len(), 1);
    }

    #[test]
    fn rows_of_sass_know_their_source_lines() {
        let short = sass(SASS, "kernel.cu").condensed();
        let rows: Vec<_> = short.rows.iter().map(|row| (row.text.as_str(), row.line)).collect();
        assert_eq!(
            rows,
            [
                ("add:", None),
                ("0000  LDC R1, c[0x0][0x28];", Some(2)),
                ("0010  @P0 EXIT;", Some(5)),
                (".L_x_2:", None),
                ("0020  STG.E desc[UR4][R6.64], R9;", Some(5)),
                (".L_x_0:", None),
                ("0140  BRA `(.L_x_0);", Some(5)),
            ]
        );
    }

    #[test]
    fn a_difference_looks_past_register_numbers_labels_and_addresses() {
        for (a, b) in [
            ("    add.s64 %rd6, %rd4, %rd5;", "    add.s64 %rd16, %rd1, %rd2;"),
            ("    @%p1 bra $L__BB0_2;", "    @%p3 bra $L__BB7_1;"),
            ("0040  IMAD R9, R9, UR4, R0;", "0f20  IMAD R12, R3, UR5, R7;"),
            ("0120  STG.E desc[UR4][R6.64], R9;", "0130  STG.E desc[UR6][R2.64], R1;"),
            ("0070  @P0 EXIT;", "0080  @P1 EXIT;"),
            ("0070  FADD R1, R2.reuse, R3;", "0070  FADD R1, R2, R3;"),
        ] {
            assert_eq!(normal(a), normal(b));
        }
        for (a, b) in [
            ("    add.s64 %rd6, %rd4, %rd5;", "    sub.s64 %rd6, %rd4, %rd5;"),
            ("0040  IMAD R9, R9, 0x4, R0;", "0040  IMAD R9, R9, 0x8, R0;"),
            ("0040  LDC R1, c[0x0][0x28];", "0040  LDC R1, c[0x0][0x37c];"),
            ("    ld.global.f32 %f1, [%rd6];", "    ld.global.f32 %f1, [%rd6+4];"),
        ] {
            assert_ne!(normal(a), normal(b));
        }
        let old = ptx(PTX, "kernel.cu").condensed();
        let new = ptx(&PTX.replace("mul.f32", "div.f32").replace("%f1", "%f9"), "kernel.cu").condensed();
        let changes = compare(&old, &new);
        let same = changes.iter().filter(|change| matches!(change, Change::Same(..))).count();
        assert_eq!((changes.len() - same, same), (2, old.rows.len() - 1), "one went and one came");
    }

    #[test]
    fn any_text_is_a_listing() {
        for text in ["", "\n\n", ".loc", ".loc x y", "//## File", "/*", "/**/", "{}", ".section", "é\t\u{1F600}:"] {
            let _ = (ptx(text, "kernel.cu"), sass(text, "kernel.cu"));
        }
        assert_eq!(compare(&Listing::default(), &Listing::default()), []);
    }
}
