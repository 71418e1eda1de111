//! Passed or not, case by case, with the first mismatches and what to look at.

use crate::command::Command;
use crate::fonts::Bold;
use crate::icons::{self, Icon};
use crate::lab::KERNEL_NAME;
use crate::panels::{Screen, parts};
use crate::state::{Desk, Loadable, Pane, State};
use crate::theme::{self, space};
use crate::widgets::sentence;
use egui::{CollapsingHeader, Grid, RichText, Ui};
use gpu_core::emulator::{Fault, FaultKind, SourceLine};
use gpu_core::verdict::{CaseReport, Mismatch, Verdict};

/// Faults shown; the Problems tab lists all.
const FAULTS: usize = 5;

/// Failed cases whose details are open from the start.
const OPEN_CASES: u32 = 3;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let t = theme::tokens(ui);
    ui.spacing_mut().item_spacing.y = space::S;
    let running = desk.verdict.is_pending();
    match &desk.verdict {
        Loadable::Empty => {
            return parts::empty(
                ui,
                icons::GAVEL,
                "Nothing checked yet",
                "Check (Ctrl+Enter) compiles the kernel and judges it on fresh inputs of awkward sizes.",
            );
        }
        Loadable::Failed { message, .. } => failed_ui(ui, desk, message),
        Loadable::Pending { .. } => {
            ui.horizontal(|ui| {
                parts::busy(ui);
                ui.label(RichText::new("Checking…").bold());
                if desk.verdict.value().is_some() && desk.cases.is_empty() {
                    ui.label(RichText::new("below: the previous run").color(t.text_muted));
                }
            });
        }
        Loadable::Ready(verdict) => summary_ui(ui, screen, desk, verdict),
    }
    let earlier = desk.verdict.value();
    let cases: &[CaseReport] = match earlier {
        Some(verdict) if !running || desk.cases.is_empty() => &verdict.cases,
        _ => &desk.cases,
    };
    if let Some(verdict) = earlier.filter(|_| !running) {
        faults_ui(ui, screen, verdict);
        nonfinite_ui(ui, screen, verdict);
        for note in &verdict.notes {
            ui.label(sentence::job(ui, &format!("ℹ {note}"), t.info));
        }
        hint_ui(ui, screen, desk, verdict);
    }
    let mut failed = 0;
    for (index, case) in cases.iter().enumerate() {
        failed += u32::from(!case.passed);
        // The first failures are what a learner looks at.
        let open = !case.passed && failed <= OPEN_CASES;
        case_ui(ui, index, case, open, screen.commands);
    }
    if let Some(verdict) = earlier.filter(|verdict| !running && !verdict.cases.is_empty()) {
        let text = format!(
            "{:.0} ms in all, {:.0} ms of it compiling. Seed {}.",
            verdict.total_ms, verdict.compile_ms, verdict.seed
        );
        ui.label(RichText::new(text).small().color(t.text_muted));
    }
}

fn failed_ui(ui: &mut Ui, desk: &Desk, message: &str) {
    let t = theme::tokens(ui);
    parts::notice(ui, t.fail_soft, t.fail, |ui| {
        ui.add(egui::Label::new(sentence::job(ui, &format!("✖ {message}"), t.text)).wrap());
        if desk.verdict.value().is_some() {
            ui.label(RichText::new("Below: the previous run.").color(t.text_muted));
        }
    });
}

fn summary_ui(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk, verdict: &Verdict) {
    let t = theme::tokens(ui);
    if verdict.passed && !desk.is_stale() && desk.experiment.is_none() {
        return super::passed::show(ui, screen, desk, verdict);
    }
    let (symbol, color) = parts::outcome(t, verdict.passed);
    let fill = if verdict.passed { t.pass_soft } else { t.fail_soft };
    parts::notice(ui, fill, color, |ui| {
        ui.horizontal_wrapped(|ui| {
            let title = if verdict.passed { "Passed" } else { "Not yet" };
            ui.label(RichText::new(format!("{symbol} {title}")).bold().color(color));
            if let Some(fault) = told_in_summary(verdict) {
                icons::show(ui, fault_icon(fault.kind), t.fail);
                heading_ui(ui, screen, fault);
            }
            // A box after a sentence that wraps would be as narrow as what its last line leaves.
            if desk.is_stale() {
                parts::chip(ui, "for an earlier text", t.text_muted, t.raised);
            }
            ui.label(sentence::job(ui, &verdict.summary, t.text));
        });
        if verdict.passed && !verdict.cases.is_empty() {
            let text = format!("Judged on {}.", devices(verdict));
            ui.label(RichText::new(text).small().color(t.text_muted));
        }
    });
}

/// The fault that the summary is about: it is not told twice.
fn told_in_summary(verdict: &Verdict) -> Option<&Fault> {
    verdict.faults().first().copied().filter(|fault| verdict.summary.contains(fault.message.trim_end_matches('.')))
}

/// Where the first infinity or NaN came from, with ways to its lines.
fn nonfinite_ui(ui: &mut Ui, screen: &mut Screen<'_>, verdict: &Verdict) {
    let t = theme::tokens(ui);
    let Some(found) = verdict.cases.iter().find_map(|case| case.first_nonfinite.as_ref()) else { return };
    parts::notice(ui, t.fail_soft, t.fail, |ui| {
        ui.label(sentence::job(ui, &format!("∞ {}", found.sentence), t.text));
        let steps = std::iter::once(&found.first).chain(&found.then);
        let places = steps.flat_map(|step| step.source.iter().chain(&step.inlined_at));
        let mut shown: Vec<u32> = Vec::new();
        for place in places.filter(|place| place.file == KERNEL_NAME) {
            if !shown.contains(&place.line) {
                shown.push(place.line);
                place_ui(ui, screen, place, "");
            }
        }
    });
}

pub(super) fn devices(verdict: &Verdict) -> String {
    let mut names: Vec<&str> = verdict.cases.iter().map(|case| case.device.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(" and ")
}

fn faults_ui(ui: &mut Ui, screen: &mut Screen<'_>, verdict: &Verdict) {
    let t = theme::tokens(ui);
    // The same mistake at another size says nothing new.
    let place = |fault: &Fault| (fault.kind, fault.source.as_ref().map(|source| (source.file.clone(), source.line)));
    let mut told: Vec<_> = told_in_summary(verdict).map(place).into_iter().collect();
    let first = told.len();
    let faults = verdict.faults();
    let count = faults.len();
    for fault in faults {
        if told.len() < FAULTS && !told.contains(&place(fault)) {
            told.push(place(fault));
            fault_ui(ui, screen, fault, None);
        }
    }
    let rest = count - told.len();
    if rest > 0 {
        let what = if told.len() == first || told.len() < FAULTS { "more of the same kind" } else { "more" };
        if ui.link(RichText::new(format!("{rest} {what}, under Problems")).small().color(t.link)).clicked() {
            screen.send(Command::ShowPane(Pane::Problems));
        }
    }
}

/// One fault: what, where, and a way there; with the case that met it where several are listed.
pub fn fault_ui(ui: &mut Ui, screen: &mut Screen<'_>, fault: &Fault, case: Option<&str>) {
    let t = theme::tokens(ui);
    parts::with_icon(ui, fault_icon(fault.kind), t.fail, |ui| {
        heading_ui(ui, screen, fault);
        ui.label(sentence::job(ui, &fault.message, t.text));
        let mut notes: Vec<String> = case.map(|case| format!("at {}", sentence::numbers(case))).into_iter().collect();
        if fault.occurrences > 1 {
            notes.push(format!("{} threads", parts::grouped(fault.occurrences)));
        }
        if !notes.is_empty() {
            ui.label(RichText::new(format!("({})", notes.join(", "))).color(t.text_muted));
        }
    });
}

/// A fault's kind in words, and links to its line and to the line that called what it is in.
fn heading_ui(ui: &mut Ui, screen: &mut Screen<'_>, fault: &Fault) {
    let t = theme::tokens(ui);
    ui.label(RichText::new(fault_name(fault)).bold().color(t.fail));
    let Some(place) = &fault.source else { return };
    place_ui(ui, screen, place, "");
    // A line of a helper says little when many lines call it.
    if let Some(call) = &fault.inlined_at {
        place_ui(ui, screen, call, "called from ");
    }
}

/// A line by its number, with the name of its file where that is not the learner's own.
fn place_ui(ui: &mut Ui, screen: &mut Screen<'_>, place: &SourceLine, before: &str) {
    match State::jump_to(place) {
        Some(command) => {
            if ui.link(format!("{before}line {}", place.line)).on_hover_text("Go to the line").clicked() {
                screen.send(command);
            }
        }
        None => {
            let text = format!("{before}{} line {}", place.file, place.line);
            ui.label(RichText::new(text).color(theme::tokens(ui).text_muted));
        }
    }
}

/// The fault's kind as a picture of what went wrong.
fn fault_icon(kind: FaultKind) -> Icon {
    match kind {
        FaultKind::OutOfBounds => icons::FRAME_CORNERS,
        FaultKind::Misaligned => icons::RULER,
        FaultKind::UseAfterFree => icons::TRASH,
        FaultKind::Race => icons::ARROWS_MERGE,
        FaultKind::StaleRead => icons::CLOCK_COUNTER_CLOCKWISE,
        FaultKind::Uninitialised => icons::QUESTION,
        FaultKind::BarrierDivergence => icons::GIT_BRANCH,
        FaultKind::MaskMisuse => icons::GRID_NINE,
        FaultKind::MissingAsyncWait => icons::HOURGLASS_MEDIUM,
        FaultKind::BarrierPhase => icons::ARROWS_CLOCKWISE,
        FaultKind::Deadlock => icons::LOCK,
        FaultKind::StepBudget => icons::INFINITY,
        FaultKind::TimeBudget => icons::TIMER,
        FaultKind::StackOverflow => icons::STACK,
        FaultKind::BadLaunch => icons::ROCKET_LAUNCH,
        FaultKind::Trap => icons::BOMB,
        FaultKind::UndefinedResult => icons::DICE_FIVE,
        FaultKind::Stopped => icons::PROHIBIT,
    }
}

/// The fault's kind in words.
pub fn fault_name(fault: &Fault) -> &'static str {
    use FaultKind as Kind;
    match fault.kind {
        Kind::OutOfBounds => "Out of bounds",
        Kind::Misaligned => "Misaligned access",
        Kind::UseAfterFree => "Use after free",
        Kind::Race => "Race",
        Kind::StaleRead => "Stale read",
        Kind::Uninitialised => "Uninitialized value",
        Kind::BarrierDivergence => "Barrier not reached by all",
        Kind::MaskMisuse => "Wrong warp mask",
        Kind::MissingAsyncWait => "Copy not waited for",
        Kind::BarrierPhase => "Wrong barrier phase",
        Kind::Deadlock => "Deadlock",
        Kind::StepBudget => "Too many instructions",
        Kind::TimeBudget => "Too slow",
        Kind::StackOverflow => "Stack overflow",
        Kind::BadLaunch => "Launch refused",
        Kind::Trap => "Trap",
        Kind::UndefinedResult => "Undefined result",
        Kind::Stopped => "Stopped",
    }
}

fn hint_ui(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk, verdict: &Verdict) {
    if !verdict.passed {
        hint_for_ui(ui, screen, desk, &verdict.hints);
    }
}

/// What the course has to say about the first of these diagnoses, step by step.
pub fn hint_for_ui(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk, keys: &[String]) {
    let t = theme::tokens(ui);
    let course = screen.state.course.clone();
    let exercise = course.unit_by_id(&desk.day).and_then(|day| day.exercise_by_key(&desk.exercise));
    let Some(hint) = exercise.and_then(|exercise| exercise.hints.for_keys(keys)) else { return };
    parts::notice(ui, t.warn_soft, t.warn, |ui| {
        parts::icon_caption(ui, icons::LIGHTBULB, t.warn, "What this usually means");
        let place = format!("fault hint/{}/{}/{}", desk.day, desk.exercise, hint.fault);
        let shown = *screen.memory.fault_hints.get(&place).unwrap_or(&1);
        for (index, step) in hint.steps.iter().take(shown).enumerate() {
            screen.markdown_ui(ui, &format!("{place}/{index}"), step);
        }
        if shown < hint.steps.len() && ui.button("Tell me more").clicked() {
            screen.memory.fault_hints.insert(place, shown + 1);
        }
    });
}

fn case_ui(ui: &mut Ui, index: usize, case: &CaseReport, open: bool, commands: &mut Vec<Command>) {
    let t = theme::tokens(ui);
    let (symbol, color) = parts::outcome(t, case.passed);
    // In one look, for the heading is one text.
    let reason = if case.passed { String::new() } else { sentence::plain(&case.reason) };
    let reason = reason.as_str();
    let font = egui::TextStyle::Body.resolve(ui.style());
    let title = |reason: &str| {
        let mut title = egui::text::LayoutJob::default();
        let mut add = |text: &str, color| {
            title.append(text, 0.0, egui::text::TextFormat::simple(font.clone(), color));
        };
        add(symbol, color);
        add(&format!("  {}", sentence::numbers(&case.name)), t.text);
        add(&format!("   {}", case.device), t.text_muted);
        if !reason.is_empty() {
            add(&format!("   {reason}"), t.text);
        }
        title
    };
    // A heading is one line; a reason that does not fit is told in full below it.
    let width = |reason: &str| ui.painter().layout_job(title(reason)).size().x;
    let room = ui.available_width() - 2.0 * space::XXL;
    let cut = !reason.is_empty() && width(reason) > room;
    let shown = if cut {
        let share = ((room - width("")) / (width(reason) - width(""))).clamp(0.0, 1.0);
        let kept = (reason.chars().count() as f32 * share) as usize;
        format!("{}…", reason.chars().take(kept.saturating_sub(4)).collect::<String>())
    } else {
        reason.to_owned()
    };
    let title = title(&shown);
    // A case that passes now does not stay open because it failed before.
    CollapsingHeader::new(title).id_salt(("case", index, case.passed)).default_open(open).show(ui, |ui| {
        if case.passed {
            let text = format!(
                "{} element{} right; largest error {:.0} % of the tolerance; {:.0} ms; seed {}",
                parts::grouped(case.element_count),
                if case.element_count == 1 { "" } else { "s" },
                100.0 * case.worst_error_ratio,
                case.wall_ms,
                case.seed
            );
            ui.label(RichText::new(text).color(t.text_muted));
        }
        if cut {
            ui.add(egui::Label::new(sentence::job(ui, &case.reason, t.text)).wrap());
        }
        mismatches_ui(ui, index, case, commands);
        for text in &case.corrupted {
            ui.label(sentence::job(ui, &format!("✖ {text}"), t.fail));
        }
        for note in &case.notes {
            ui.label(sentence::job(ui, &format!("ℹ {note}"), t.info));
        }
    });
}

/// Who wrote a wrong element; its line is a click away.
fn writer_ui(ui: &mut Ui, mismatch: &Mismatch, commands: &mut Vec<Command>) {
    let t = theme::tokens(ui);
    let Some(writer) = mismatch.writer.as_ref().filter(|_| !mismatch.never_written) else {
        let note = match (mismatch.never_written, mismatch.undefined) {
            (true, _) => "never written",
            (_, true) => "undefined",
            _ => "",
        };
        ui.label(RichText::new(note).color(t.text_muted));
        return;
    };
    let triple = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    let who = format!("by block {}, thread {}", triple(writer.thread.block), triple(writer.thread.thread));
    match &writer.source {
        Some(source) if source.file == KERNEL_NAME => {
            if ui.link(format!("{who}, line {}", source.line)).on_hover_text("Show the line").clicked() {
                commands.push(Command::GoToLine { line: source.line, column: source.column });
            }
        }
        _ => {
            ui.label(RichText::new(who).color(t.text_muted));
        }
    }
}

fn mismatches_ui(ui: &mut Ui, index: usize, case: &CaseReport, commands: &mut Vec<Command>) {
    let t = theme::tokens(ui);
    if case.mismatches.is_empty() {
        return;
    }
    let shown = case.mismatches.len() as u64;
    let text = format!(
        "{} of {} wrong{}",
        parts::grouped(case.mismatch_count),
        parts::counted(case.element_count, "element"),
        if shown < case.mismatch_count { format!(". The first {shown}:") } else { ":".to_owned() }
    );
    ui.horizontal(|ui| {
        icons::show(ui, icons::NOT_EQUALS, t.fail);
        ui.label(RichText::new(text).color(t.text_muted));
    });
    Grid::new(("mismatches", index)).num_columns(4).spacing([space::XXL, space::XXS]).striped(true).show(ui, |ui| {
        for name in ["Element", "Expected", "Got", ""] {
            parts::caption(ui, name);
        }
        ui.end_row();
        for mismatch in &case.mismatches {
            let place: Vec<String> = mismatch.index.iter().map(u64::to_string).collect();
            ui.monospace(format!("{}[{}]", mismatch.buffer, place.join("][")));
            ui.monospace(parts::number(mismatch.expected));
            let got = if mismatch.never_written || mismatch.undefined {
                "—".to_owned()
            } else {
                parts::number(mismatch.got)
            };
            ui.label(RichText::new(got).monospace().color(t.fail));
            writer_ui(ui, mismatch, commands);
            ui.end_row();
        }
    });
}
