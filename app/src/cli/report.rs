//! What an engine's report looks like in a terminal. Every function returns text, so that tests can read it.

use super::out::{Align, Style, bytes, grouped, table, visible};
use gpu_core::compile::{CompileReport, Diagnostic, Severity};
use gpu_core::emulator::{Class, Counters, Fault, SourceLine, ThreadId};
use gpu_core::verdict::{CaseReport, FirstNonfinite, Mismatch, RunReport, StepReport, Verdict, fault_key};

/// The kernel that a report is about.
pub struct Kernel<'a> {
    /// Name in the compiler's messages.
    pub name: &'a str,
    /// What a person calls it: the path as typed.
    pub shown: &'a str,
    pub text: &'a str,
}

impl Kernel<'_> {
    /// `path:line` or `path:line:column`, with the path as typed.
    fn place(&self, file: &str, line: u32, column: u32) -> String {
        let file = if file == self.name { self.shown } else { file };
        match (line, column) {
            (0, _) => file.to_owned(),
            (line, 0) => format!("{file}:{line}"),
            (line, column) => format!("{file}:{line}:{column}"),
        }
    }

    /// The source line with its number and a caret under `column`, or under its first character.
    fn snippet(&self, file: &str, line: u32, column: u32) -> String {
        let source = (file == self.name).then(|| self.text.lines().nth(line.checked_sub(1)? as usize)).flatten();
        let Some(source) = source else { return String::new() };
        // Tabs count as one column for the compiler; the caret's line repeats them so that both lines line up.
        let wanted = column
            .checked_sub(1)
            .map_or_else(|| source.chars().take_while(|c| c.is_whitespace()).count(), |column| column as usize);
        let lead: String = source.chars().take(wanted).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let shown: String = source.chars().take(200).collect();
        format!("{line:>6} | {}\n       | {lead}^\n", visible(&shown))
    }
}

/// Diagnostics in the compiler's order, each with its line.
pub fn diagnostics(list: &[Diagnostic], kernel: &Kernel<'_>, style: Style) -> String {
    let mut text = String::new();
    for Diagnostic { severity, file, line, column, message } in list {
        let severity = match severity {
            Severity::Note => style.dim("note"),
            Severity::Warning => style.yellow("warning"),
            Severity::Error => style.red("error"),
        };
        text += &format!("{}: {severity}: {}\n", kernel.place(file, *line, *column), visible(message));
        text += &kernel.snippet(file, *line, *column);
    }
    text
}

/// One line per kernel: what ptxas gave it.
pub fn resources(report: &CompileReport) -> String {
    let rows: Vec<Vec<String>> = report
        .kernels
        .iter()
        .map(|k| {
            let spills = match k.spill_store_bytes + k.spill_load_bytes {
                0 => "no spills".to_owned(),
                _ => format!("spills {} B stored, {} B loaded", k.spill_store_bytes, k.spill_load_bytes),
            };
            vec![
                k.name.clone(),
                format!("{} registers", k.registers),
                format!("{} B shared", k.static_shared_bytes),
                format!("{} B stack", k.stack_bytes),
                spills,
            ]
        })
        .collect();
    table(&[Align::Left, Align::Right, Align::Right, Align::Right, Align::Left], &rows)
}

/// `compiled for sm_90a by NVRTC 13.5 in 33 ms` and the kernels' resources; diagnostics are printed apart.
pub fn compiled(report: &CompileReport) -> String {
    let cache = if report.from_cache { ", from the cache" } else { "" };
    let mut text = format!(
        "compiled for {} by NVRTC {} in {:.0} ms{cache}\n",
        report.arch, report.nvrtc_version, report.compile_ms
    );
    text += &resources(report);
    text
}

fn thread(id: &ThreadId) -> String {
    let triple = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    format!("block {}, thread {}", triple(id.block), triple(id.thread))
}

fn at(source: &Option<SourceLine>, kernel: &Kernel<'_>) -> String {
    match source {
        Some(SourceLine { file, line, column }) => kernel.place(file, *line, *column),
        None => kernel.shown.to_owned(),
    }
}

/// `kernel.cu:12: out_of_bounds: message; block (3,0,0) thread (17,0,0)`, the source line, and the other party.
pub fn fault(fault: &Fault, kernel: &Kernel<'_>, style: Style) -> String {
    let line_only = fault.source.clone().map(|source| SourceLine { column: 0, ..source });
    let mut text = format!(
        "{}: {}: {}",
        at(&line_only, kernel),
        style.red(fault_key(fault.kind)),
        visible(fault.message.trim_end_matches('.'))
    );
    // Most messages begin with the thread.
    if let Some(id) = fault.thread.as_ref().filter(|id| !fault.message.contains(&thread(id))) {
        text += &format!("; {}", thread(id));
    }
    if fault.occurrences > 1 {
        text += &format!(" (and {} more like it)", grouped(fault.occurrences - 1));
    }
    if let Some(launch) = &fault.launch {
        text += &format!("; in {launch}");
    }
    text.push('\n');
    if let Some(SourceLine { file, line, column }) = &fault.source {
        text += &kernel.snippet(file, *line, *column);
    }
    text += &called_from(&fault.inlined_at, kernel);
    if let Some(other) = &fault.other {
        text += &format!("       with {} at {}\n", thread(&other.thread), at(&other.source, kernel));
        if let Some(SourceLine { file, line, column }) = &other.source
            && other.source.as_ref().map(|s| s.line) != fault.source.as_ref().map(|s| s.line)
        {
            text += &kernel.snippet(file, *line, *column);
        }
        text += &called_from(&other.inlined_at, kernel);
    }
    text
}

/// Where an infinity or NaN came from, with the lines that made it.
pub fn nonfinite(found: &FirstNonfinite, kernel: &Kernel<'_>) -> String {
    let mut text = format!("\n{}\n", visible(&found.sentence));
    for step in std::iter::once(&found.first).chain(&found.then) {
        if let Some(SourceLine { file, line, column }) = &step.source {
            text += &kernel.snippet(file, *line, *column);
        }
        text += &called_from(&step.inlined_at, kernel);
    }
    text
}

/// The line of the kernel that led to a line of a helper, which many lines may call.
fn called_from(call: &Option<SourceLine>, kernel: &Kernel<'_>) -> String {
    let Some(SourceLine { file, line, column }) = call else { return String::new() };
    format!("       called from {}\n", kernel.place(file, *line, 0)) + &kernel.snippet(file, *line, *column)
}

fn number(value: f64) -> String {
    // Counts, and bits of a float that an `int` holds, are read digit by digit.
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value}");
    }
    if value != 0.0 && (value.abs() < 1e-4 || value.abs() >= 1e7) { format!("{value:e}") } else { format!("{value}") }
}

/// The first wrong elements of one case.
pub fn mismatches(list: &[Mismatch]) -> String {
    let mut rows = vec![vec!["element".to_owned(), "expected".into(), "got".into(), String::new()]];
    for m in list {
        let index: Vec<String> = m.index.iter().map(u64::to_string).collect();
        let remark = match &m.writer {
            _ if m.never_written => "never written".to_owned(),
            _ if m.undefined => "undefined: what was stored has no value".to_owned(),
            Some(writer) => {
                let line =
                    writer.source.as_ref().map_or_else(String::new, |source| format!(" at line {}", source.line));
                let triple = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
                let launch = writer.launch.as_ref().map_or_else(String::new, |launch| format!(", in {launch}"));
                format!(
                    "by block {}, thread {}{line}{launch}",
                    triple(writer.thread.block),
                    triple(writer.thread.thread)
                )
            }
            None => String::new(),
        };
        let got = if m.never_written || m.undefined { "-".into() } else { number(m.got) };
        rows.push(vec![format!("{}[{}]", m.buffer, index.join(", ")), number(m.expected), got, remark]);
    }
    table(&[Align::Left, Align::Right, Align::Right, Align::Left], &rows)
}

/// The whole check: cases, first mismatches, faults, notes, counters, verdict.
pub fn verdict(verdict: &Verdict, kernel: &Kernel<'_>, style: Style) -> String {
    let mut text = String::new();
    let rows: Vec<Vec<String>> = verdict.cases.iter().map(|case| case_row(case, style)).collect();
    // Colour codes would count as width: the marked column is last but for the reason.
    text += &table(&[Align::Left, Align::Left, Align::Right, Align::Left, Align::Left], &rows);
    if let Some(case) = verdict.cases.iter().find(|case| !case.mismatches.is_empty()) {
        text += &format!(
            "\nfirst mismatches at {} ({} of {} elements differ)\n{}",
            case.name,
            grouped(case.mismatch_count),
            grouped(case.element_count),
            mismatches(&case.mismatches)
        );
    }
    if let Some(found) = verdict.cases.iter().find_map(|case| case.first_nonfinite.as_ref()) {
        text += &nonfinite(found, kernel);
    }
    for case in &verdict.cases {
        for what in &case.corrupted {
            text += &format!("\n{}: {}\n", case.name, visible(what));
        }
    }
    let faults = verdict.faults();
    if !faults.is_empty() {
        text.push('\n');
    }
    for (one, others) in folded(faults) {
        text += &fault(one, kernel, style);
        if others > 0 {
            text += &format!("       and at the same place {others} more times, in other cases or threads\n");
        }
    }
    let mut notes: Vec<&String> = verdict.cases.iter().flat_map(|case| &case.notes).chain(&verdict.notes).collect();
    notes.dedup();
    for note in notes {
        text += &format!("note: {}\n", visible(note));
    }
    if let Some((case, counted)) = verdict.cases.iter().rev().find_map(|case| Some((case, case.counters.as_ref()?))) {
        text += &format!("\ncounters at {} (emulator)\n{}{}", case.name, counters(counted), steps(&case.steps));
    }
    let word = if verdict.passed { style.green("PASSED") } else { style.red("FAILED") };
    text += &format!("\n{word}: {} (seed {})\n", visible(&verdict.summary), verdict.seed);
    if !verdict.passed && !verdict.hints.is_empty() {
        text += &format!("diagnosis: {}\n", verdict.hints.join(", "));
    }
    text
}

/// The first fault of each kind, pair of lines and calls, and how many more are like it: every size of a check finds the same
/// mistake again.
fn folded<'f>(faults: impl IntoIterator<Item = &'f Fault>) -> Vec<(&'f Fault, usize)> {
    let line = |source: &Option<SourceLine>| source.as_ref().map(|s| (s.file.clone(), s.line));
    let place = |f: &Fault| {
        let other = f.other.as_ref().map(|other| (line(&other.source), line(&other.inlined_at)));
        (f.kind, line(&f.source), line(&f.inlined_at), other)
    };
    let mut kept: Vec<(&Fault, usize)> = Vec::new();
    for fault in faults {
        match kept.iter_mut().find(|(first, _)| place(first) == place(fault)) {
            Some((_, others)) => *others += 1,
            None => kept.push((fault, 0)),
        }
    }
    kept
}

fn case_row(case: &CaseReport, style: Style) -> Vec<String> {
    let mark = if case.passed { style.green("passed") } else { style.red("FAILED") };
    // Faults are told in full below; here their kinds do.
    let mut kinds: Vec<&str> = case.faults.iter().map(|fault| fault_key(fault.kind)).collect();
    kinds.dedup();
    let reason = if kinds.is_empty() { visible(&case.reason).into_owned() } else { kinds.join(", ") };
    vec![case.name.clone(), case.device.clone(), format!("{:.1} ms", case.wall_ms), mark, reason]
}

/// Counters as Nsight Compute defines them; rows of zeros are left out.
pub fn counters(c: &Counters) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, value: String, remark: String| rows.push(vec![name.to_owned(), value, remark]);
    let active = c.thread_instructions as f64 / (c.warp_instructions.max(1) as f64);
    row("warp instructions (PTX)", grouped(c.warp_instructions), format!("{active:.1} of 32 lanes active on average"));
    if c.branches > 0 {
        let share = 100.0 * c.divergent_branches as f64 / c.branches as f64;
        row("branches", grouped(c.branches), format!("{} divergent ({share:.0}%)", grouped(c.divergent_branches)));
    }
    let traffics = [
        ("global loads", &c.global_load),
        ("global stores", &c.global_store),
        ("global atomics", &c.global_atomic),
        ("local loads", &c.local_load),
        ("local stores", &c.local_store),
    ];
    for (name, t) in traffics.into_iter().filter(|(_, t)| t.requests > 0) {
        let per_request = t.sectors as f64 / t.requests as f64;
        let used = used_share(name, t.bytes, t.sectors);
        row(
            name,
            format!("{} sectors", grouped(t.sectors)),
            format!("{} requests, {per_request:.2} sectors each{used}", grouped(t.requests)),
        );
    }
    let shared =
        [("shared loads", &c.shared_load), ("shared stores", &c.shared_store), ("shared atomics", &c.shared_atomic)];
    for (name, s) in shared.into_iter().filter(|(_, s)| s.requests > 0) {
        row(
            name,
            format!("{} wavefronts", grouped(s.wavefronts)),
            format!("{} requests, {} bank conflicts", grouped(s.requests), grouped(s.bank_conflicts)),
        );
    }
    if c.barriers > 0 {
        row("barrier arrivals", grouped(c.barriers), String::new());
    }
    if c.async_copy_bytes > 0 {
        row("asynchronous copies", bytes(c.async_copy_bytes), String::new());
    }
    if c.matrix_instructions > 0 {
        row(
            "matrix instructions",
            grouped(c.matrix_instructions),
            format!("{} multiply-adds", grouped(c.matrix_multiply_adds)),
        );
    }
    table(&[Align::Left, Align::Right, Align::Left], &rows)
}

/// How much of what was moved was asked for. Atomics of one warp to the same sector are one transfer with many updates, of which a
/// share says nothing.
fn used_share(name: &str, bytes: u64, sectors: u64) -> String {
    if name == "global atomics" {
        return String::new();
    }
    let share = 100.0 * bytes as f64 / (32 * sectors.max(1)) as f64;
    // Several lanes that read one element get it from one sector.
    if share > 100.0 {
        return ", all of the bytes used, some by several lanes".to_owned();
    }
    format!(", {share:.0}% of the bytes used")
}

/// One line for each step of an exercise that has several.
pub fn steps(steps: &[StepReport]) -> String {
    let row = |step: &StepReport| {
        let times = if step.launches == 1 { "once".to_owned() } else { format!("{} times", grouped(step.launches)) };
        let counted = step.counters.as_ref().map_or_else(String::new, |c| {
            let sectors = c.global_load.sectors + c.global_store.sectors;
            format!("{} warp instructions, {} global sectors", grouped(c.warp_instructions), grouped(sectors))
        });
        let whose = if step.given { "the course's kernel" } else { "" };
        vec![format!("  step \"{}\"", step.name), times, counted, whose.to_owned()]
    };
    table(&[Align::Left, Align::Left, Align::Left, Align::Left], &steps.iter().map(row).collect::<Vec<_>>())
}

/// A free run at one size: buffers' heads, faults, wrong elements, counters, verdict.
pub fn ran(report: &RunReport, kernel: &Kernel<'_>, style: Style) -> String {
    let RunReport { case, .. } = report;
    let at = if case.name.is_empty() { String::new() } else { format!(" at {}", case.name) };
    let mut text = format!("ran on {}{at} in {:.1} ms\n", case.device, case.wall_ms);
    for output in &report.outputs {
        let head: Vec<String> = output.head.iter().map(|value| number(*value)).collect();
        let more = if output.element_count > head.len() as u64 { ", …" } else { "" };
        let extents: Vec<String> = output.shape.iter().map(|extent| format!("[{}]", grouped(*extent))).collect();
        let mut odd = Vec::new();
        for (count, what) in [
            (output.never_written, "never written"),
            (output.undefined, "undefined"),
            (output.nan_count, "NaN"),
            (output.infinite_count, "infinite"),
        ] {
            if count > 0 && output.is_output {
                odd.push(format!("{} {what}", grouped(count)));
            }
        }
        let odd = if odd.is_empty() { String::new() } else { format!("  ({})", odd.join(", ")) };
        text += &format!("  {}{} = {}{more}{odd}\n", output.name, extents.concat(), head.join(", "));
    }
    if case.element_count > 0 && !case.mismatches.is_empty() {
        text += &format!(
            "\nfirst mismatches ({} of {} elements differ)\n{}",
            grouped(case.mismatch_count),
            grouped(case.element_count),
            mismatches(&case.mismatches)
        );
    }
    for what in &case.corrupted {
        text += &format!("\n{}\n", visible(what));
    }
    for (one, others) in folded(&case.faults) {
        text += &fault(one, kernel, style);
        if others > 0 {
            text += &format!("       and at the same place {others} more times, in other threads\n");
        }
    }
    for note in &case.notes {
        text += &format!("note: {}\n", visible(note));
    }
    if let Some(counted) = &case.counters {
        text += &format!("\ncounters (emulator)\n{}{}", counters(counted), steps(&case.steps));
    }
    // The same word, sentence and exit status.
    let word = if case.passed { style.green("COMPLETED") } else { style.red("FAILED") };
    text += &format!("\n{word}: {} (seed {})\n", visible(report.summary.trim_end_matches('.')), case.seed);
    if !case.passed && !report.hints.is_empty() {
        text += &format!("diagnosis: {}\n", report.hints.join(", "));
    }
    text
}

/// Name of an instruction class in `--json`.
pub fn class_name(class: Class) -> &'static str {
    match class {
        Class::Integer => "integer",
        Class::Float32 => "float32",
        Class::Float64 => "float64",
        Class::FloatNarrow => "float_narrow",
        Class::Special => "special",
        Class::Convert => "convert",
        Class::Move => "move",
        Class::Compare => "compare",
        Class::Branch => "branch",
        Class::Global => "global",
        Class::Shared => "shared",
        Class::Local => "local",
        Class::Const => "const",
        Class::Atomic => "atomic",
        Class::Warp => "warp",
        Class::Barrier => "barrier",
        Class::AsyncCopy => "async_copy",
        Class::Matrix => "matrix",
        Class::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: Kernel<'static> = Kernel { name: "kernel.cu", shown: "mine/kernel.cu", text: "a\n\tc[i] = 1;\nlast" };

    #[test]
    fn snippets_point_at_the_column_or_the_first_character() {
        assert_eq!(KERNEL.snippet("kernel.cu", 2, 2), "     2 | \tc[i] = 1;\n       | \t^\n");
        assert_eq!(KERNEL.snippet("kernel.cu", 2, 0), "     2 | \tc[i] = 1;\n       | \t^\n");
        for (file, line) in [("kernel.cu", 0), ("kernel.cu", 9), ("lab.cuh", 1)] {
            assert_eq!(KERNEL.snippet(file, line, 1), "", "no such line to show");
        }
    }

    #[test]
    fn diagnostics_show_the_path_as_typed() {
        let list = [Diagnostic {
            severity: Severity::Error,
            file: "kernel.cu".into(),
            line: 3,
            column: 1,
            message: "expected a \";\"".into(),
        }];
        let text = diagnostics(&list, &KERNEL, Style::plain());
        assert_eq!(text, "mine/kernel.cu:3:1: error: expected a \";\"\n     3 | last\n       | ^\n");
    }

    #[test]
    fn both_sides_of_a_race_name_their_calls() {
        let id = ThreadId { block: [0; 3], thread: [1, 0, 0], warp: 0, lane: 1 };
        let line = |file: &str, line| Some(SourceLine { file: file.into(), line, column: 1 });
        let race = Fault {
            kind: gpu_core::emulator::FaultKind::Race,
            message: "both write".into(),
            kernel: "k".into(),
            launch: None,
            source: line("lab.cuh", 7),
            inlined_at: line("kernel.cu", 1),
            instruction: String::new(),
            thread: None,
            space: None,
            access: None,
            address: None,
            access_bytes: 4,
            allocation: None,
            other: Some(gpu_core::emulator::OtherSide {
                source: line("lab.cuh", 7),
                inlined_at: line("kernel.cu", 3),
                thread: id,
                access: None,
            }),
            occurrences: 1,
        };
        assert_eq!(
            fault(&race, &KERNEL, Style::plain()),
            "lab.cuh:7: race: both write\n       called from mine/kernel.cu:1\n     1 | a\n       | ^\n       \
             with block (0,0,0), thread (1,0,0) at lab.cuh:7:1\n       called from mine/kernel.cu:3\n     3 | last\n       \
             | ^\n"
        );
    }

    #[test]
    fn odd_numbers_stay_readable() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(1.5), "1.5");
        assert_eq!(number(f64::NAN), "NaN");
        assert_eq!(number(3e-9), "3e-9");
        assert_eq!(number(1_077_640_099.0), "1077640099");
        assert_eq!(number(12_345_678.5), "1.23456785e7");
    }
}
