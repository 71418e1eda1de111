//! Reads the log of NVRTC and of the ptxas inside it. The log is text under a hostile source's influence: nothing here
//! may panic, and its length and the number of messages are bounded.

use super::{Diagnostic, Severity, explained, letters::name_unknown, resources::demangle};

/// Most messages kept; more help nobody.
const MAX_DIAGNOSTICS: usize = 200;
/// Longest message kept, in bytes; template backtraces can be enormous.
const MAX_MESSAGE_BYTES: usize = 4000;

/// What the log is about, to give a place to messages that have none of their own.
pub struct Context<'a> {
    pub source_name: &'a str,
    pub source_text: &'a str,
    /// PTX of the same compilation; ptxas names lines of it.
    pub ptx: &'a str,
}

/// All messages in log order, exact repetitions dropped.
pub fn parse(log: &str, context: &Context<'_>) -> Vec<Diagnostic> {
    let lines: Vec<&str> = log.lines().collect();
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut next = 0;
    while next < lines.len() && found.len() < MAX_DIAGNOSTICS {
        let head = lines[next];
        next += 1;
        let Some(mut diagnostic) = compiler_message(head, context).or_else(|| assembler_message(head, context)) else {
            continue;
        };
        // The block of a message: everything up to an empty line or a line that is not indented.
        let start = next;
        while next < lines.len() && lines[next].starts_with([' ', '\t']) && !lines[next].trim().is_empty() {
            next += 1;
        }
        read_block(&lines[start..next], &mut diagnostic);
        diagnostic.message = reword(&diagnostic.message);
        truncate(&mut diagnostic.message);
        // What CUDA's own headers are warned of is nobody's to mend who includes them.
        let foreign = diagnostic.severity == Severity::Warning
            && (std::path::Path::new(&diagnostic.file).is_absolute() || is_usual(&diagnostic, context));
        if !foreign && !found.contains(&diagnostic) {
            found.push(diagnostic);
        }
    }
    explained::explain(name_unknown(found, context), context)
}

/// A warning about what CUDA's own guide writes: barriers of `cuda::barrier` and states of `cuda::pipeline` in shared memory have
/// constructors, which the kernel runs itself.
fn is_usual(diagnostic: &Diagnostic, context: &Context<'_>) -> bool {
    let line = context.source_text.lines().nth(diagnostic.line.saturating_sub(1) as usize).unwrap_or_default();
    diagnostic
        .message
        .starts_with("dynamic initialization is not supported for a function-scope static __shared__ variable")
        && ["barrier", "pipeline", "TempStorage"].iter().any(|word| line.contains(word))
}

/// `kernel.cu(3): error: expected a ";"`, `At end of source: error: …` or `nvrtc: error: …`.
fn compiler_message(line: &str, context: &Context<'_>) -> Option<Diagnostic> {
    const KINDS: [(&str, Severity); 8] = [
        ("catastrophic error", Severity::Error),
        ("command-line error", Severity::Error),
        ("internal error", Severity::Error),
        ("fatal error", Severity::Error),
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("note", Severity::Note),
        ("remark", Severity::Note),
    ];
    if line.starts_with([' ', '\t']) {
        return None;
    }
    // The first place where `: kind` follows decides; file names may contain colons themselves.
    let (at, severity, after) = line.match_indices(": ").find_map(|(at, _)| {
        let rest = &line[at + 2..];
        KINDS.iter().find_map(|&(kind, severity)| {
            let after = rest.strip_prefix(kind)?;
            // ` #177-D: text`, or `: text`.
            let (number, text) = after.split_once(':')?;
            let plausible = number.is_empty() || number.trim_start().starts_with('#');
            plausible.then_some((at, severity, text.trim()))
        })
    })?;
    let place = &line[..at];
    let (file, line_number) = if place == "At end of source" {
        (context.source_name, last_line(context.source_text))
    } else if place == "nvrtc" {
        (context.source_name, 0)
    } else {
        let (file, number) = place.strip_suffix(')')?.rsplit_once('(')?;
        (file, number.parse().ok()?)
    };
    Some(Diagnostic { severity, file: file.to_owned(), line: line_number, column: 0, message: after.to_owned() })
}

/// `ptxas application ptx input, line 30; error   : …`, `ptxas error : …`, `ptxas warning : …`.
fn assembler_message(line: &str, context: &Context<'_>) -> Option<Diagnostic> {
    let rest = line.strip_prefix("ptxas ")?;
    let (head, text) = rest.split_once(" : ").or_else(|| rest.split_once(": "))?;
    let (place, kind) = head.rsplit_once("; ").unwrap_or(("", head));
    let severity = match kind.trim() {
        "error" | "fatal" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    // Says only that there were errors, which the messages before it told.
    if text.trim().starts_with("Ptx assembly aborted") {
        return None;
    }
    let ptx_line: Option<usize> = place.rsplit_once("line ").and_then(|(_, number)| number.trim().parse().ok());
    let at = ptx_line.and_then(|number| source_of_ptx_line(context.ptx, number));
    let mut message = demangle_quoted(text.trim());
    if let Some(instruction) = ptx_line.and_then(|number| context.ptx.lines().nth(number.checked_sub(1)?)) {
        message.push_str(&format!("\nin the PTX instruction `{}`", instruction.trim()));
    }
    let (file, line, column) = at.unwrap_or((context.source_name.to_owned(), 0, 0));
    Some(Diagnostic { severity, file, line, column, message })
}

/// The source place in force at a one-based line of PTX text: the nearest `.loc` before it, within its function.
fn source_of_ptx_line(ptx: &str, ptx_line: usize) -> Option<(String, u32, u32)> {
    let lines: Vec<&str> = ptx.lines().take(ptx_line).collect();
    let (file, line, column) = lines
        .iter()
        .rev()
        // A closing brace in column one ends the function before: its places do not count.
        .take_while(|line| !line.starts_with('}'))
        .find_map(|line| {
            let mut words = line.trim().strip_prefix(".loc")?.split_whitespace();
            let mut number = || words.next()?.trim_end_matches(',').parse::<u32>().ok();
            Some((number()?, number()?, number()?))
        })?;
    // Files are listed at the end of the text.
    let name = ptx.lines().find_map(|line| {
        let (index, name) = line.trim().strip_prefix(".file")?.trim().split_once(char::is_whitespace)?;
        (index.parse() == Ok(file)).then(|| name.trim().trim_matches('"').to_owned())
    })?;
    Some((name, line, column))
}

/// Takes column and further message lines from what follows a head line.
fn read_block(block: &[&str], diagnostic: &mut Diagnostic) {
    let caret = block.iter().position(|line| line.trim() == "^");
    let echo = caret.and_then(|caret| caret.checked_sub(1));
    if let (Some(caret), Some(echo)) = (caret, echo) {
        // Both lines are indented by two. The caret counts bytes; people and editors count characters.
        let byte = block[caret].find('^').unwrap_or(0).saturating_sub(2);
        let text = block[echo].get(2..).unwrap_or("");
        let before = text.char_indices().take_while(|(at, _)| *at < byte).count();
        diagnostic.column = u32::try_from(before + 1).unwrap_or(0);
    }
    for (at, line) in block.iter().enumerate() {
        if Some(at) != caret && Some(at) != echo {
            diagnostic.message.push('\n');
            diagnostic.message.push_str(line.trim());
        }
    }
}

/// Clearer words for messages that name options the learner cannot pass, or nothing to do.
fn reword(message: &str) -> String {
    if message.starts_with("A function without execution space annotations") {
        return "a function without `__device__` or `__global__` is host code, and only device code is compiled here. \
                Mark it `__device__`, or remove it (there is no `main`: Lockstep launches the kernel)"
            .to_owned();
    }
    if message.starts_with("A namespace scope variable without memory space annotations") {
        return "a variable outside functions lives on the host unless it is marked, and only device code is compiled \
                here. Mark it `__device__` or `__constant__`, or make it `constexpr`"
            .to_owned();
    }
    message.to_owned()
}

/// Replaces `'_Z…'` by the name as written.
fn demangle_quoted(text: &str) -> String {
    text.split('\'')
        .map(|part| if part.starts_with("_Z") { demangle(part) } else { part.to_owned() })
        .collect::<Vec<_>>()
        .join("'")
}

fn last_line(text: &str) -> u32 {
    u32::try_from(text.lines().count().max(1)).unwrap_or(u32::MAX)
}

fn truncate(message: &mut String) {
    if message.len() > MAX_MESSAGE_BYTES {
        let end = message.floor_char_boundary(MAX_MESSAGE_BYTES);
        message.truncate(end);
        message.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_plain(log: &str) -> Vec<Diagnostic> {
        parse(log, &Context { source_name: "kernel.cu", source_text: "a\nb\nc\n", ptx: "" })
    }

    #[test]
    fn reads_place_severity_and_caret() {
        let found = parse_plain(
            "kernel.cu(3): error: expected a \";\"\n    a[0]=y;\n    ^\n\n\
             kernel.cu(2): warning #177-D: variable \"x\" was declared but never referenced\n    int x = 1\n        ^\n\n\
             Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n\
             1 error detected in the compilation of \"kernel.cu\".\n",
        );
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].severity, found[0].line, found[0].column), (Severity::Error, 3, 3));
        assert!(found[0].message.ends_with("(the compiler says: expected a \";\")"), "{}", found[0].message);
        assert_eq!((found[1].severity, found[1].line, found[1].column), (Severity::Warning, 2, 7));
    }

    #[test]
    fn the_column_counts_characters_although_the_caret_counts_bytes() {
        // As NVRTC 13.5 prints it: `é€` are 5 bytes and the caret is pushed right by 3.
        let found = parse_plain("kernel.cu(1): error: identifier \"y\" is undefined\n  /* é€ */ y;\n              ^\n");
        assert_eq!(found[0].column, 10);
    }

    #[test]
    fn keeps_the_backtrace_of_templates_and_the_notes() {
        let found = parse_plain(
            "kernel.cu(1): error: static assertion failed with \"n too big\"\n  x\n  ^\n\
             kernel.cu(1): note #3453-D: the final comparison was 3 < 0\n  x\n   ^\n          detected during:\n\
             \x20           instantiation of \"T g(T) [with T=float]\" at line 4\n\n",
        );
        assert_eq!(found[1].severity, Severity::Note);
        assert_eq!(
            found[1].message,
            "the final comparison was 3 < 0\ndetected during:\ninstantiation of \"T g(T) [with T=float]\" at line 4"
        );
        assert_eq!(found[1].column, 2);
    }

    #[test]
    fn the_end_of_the_source_is_its_last_line() {
        let found = parse_plain("At end of source: error: expected a \"}\"\n");
        assert_eq!((found[0].file.as_str(), found[0].line), ("kernel.cu", 3));
    }

    #[test]
    fn an_assembler_error_is_led_back_to_the_source() {
        let ptx = ".entry k()\n{\n.loc 1 3 2\n// begin inline asm\nfoo.bar %f1;\n}\n.file 1 \"kernel.cu\"\n";
        let log = "ptxas application ptx input, line 5; error   : Not a name of any known instruction: 'foo'\n\
                   ptxas fatal   : Ptx assembly aborted due to errors\n";
        let found = parse(log, &Context { source_name: "kernel.cu", source_text: "", ptx });
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].column), (3, 2));
        assert!(found[0].message.contains("foo.bar %f1;"), "{}", found[0].message);
    }

    #[test]
    fn odd_text_never_panics() {
        for log in [
            "",
            "\n\n",
            "(",
            "): error: x",
            "a(b): error: x",
            "kernel.cu(99999999999): error: x",
            "ptxas ",
            "ptxas : ",
            "ptxas line x; error : y",
            "é(1): error: é\n  é\n ^\n^\n",
            ": error:",
            "x(1): error: y\n  ^",
            "  ^",
            "x(1): error #: y\n\u{1F600}\n",
            "ptxas application ptx input, line 0; error : x",
        ] {
            parse(log, &Context { source_name: "", source_text: "", ptx: ".loc\n.loc x\n.file\n" });
        }
    }
}
