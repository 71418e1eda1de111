//! The card of a kernel that passes: how good it is beside the best there can be and the version before, which milestones
//! are reached, and what to try next.

use super::{headline, verdict};
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::icons;
use crate::panels::{Screen, parts};
use crate::state::Desk;
use crate::theme::{self, Tokens, font_size, space};
use crate::widgets::sentence;
use curriculum::Step;
use curriculum::store::{RunPoint, RunRecord, source_sum};
use egui::{Color32, Grid, RichText, Stroke, Ui, vec2};
use gpu_core::bench::{BenchReport, Stats};
use gpu_core::emulator::Counters;
use gpu_core::verdict::Verdict;

/// Seconds in which the tick is drawn.
const DRAWN_S: f64 = 0.45;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk, verdict: &Verdict) {
    let t = theme::tokens(ui);
    parts::notice(ui, t.pass_soft, t.pass, |ui| {
        ui.spacing_mut().item_spacing.y = space::S;
        ui.horizontal(|ui| {
            tick_ui(ui, t, drawn_share(ui, screen, desk));
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = space::XXS;
                ui.label(RichText::new("Passed").size(font_size::HEADING).bold().color(t.pass));
                ui.add(egui::Label::new(sentence::job(ui, &verdict.summary, t.text)).wrap());
            });
        });
        let report = report_of_text(desk);
        ui.scope(|ui| rows_ui(ui, t, desk, verdict, report));
        milestones_ui(ui, screen, t, report);
        next_ui(ui, screen, desk, report);
        if !verdict.cases.is_empty() {
            let text = format!("Judged on {}.", verdict::devices(verdict));
            ui.label(RichText::new(text).small().color(t.text_muted));
        }
    });
}

/// How much of the tick is drawn, 0 to 1; all of it where nothing may move and for a verdict of an earlier session.
fn drawn_share(ui: &Ui, screen: &Screen<'_>, desk: &Desk) -> f32 {
    let Some(since_s) = desk.judged_at_s.map(|at_s| screen.state.now_s - at_s) else { return 1.0 };
    if !theme::moves(ui) || !(0.0..DRAWN_S).contains(&since_s) {
        return 1.0;
    }
    ui.ctx().request_repaint();
    // Fast at first, as a hand draws it.
    let rest = 1.0 - (since_s / DRAWN_S) as f32;
    1.0 - rest * rest
}

/// A tick in a disc, its stroke as long as `share` says.
fn tick_ui(ui: &mut Ui, t: &Tokens, share: f32) {
    let (rect, _) = ui.allocate_exact_size(vec2(34.0, 34.0), egui::Sense::hover());
    let (center, radius) = (rect.center(), 15.0);
    ui.painter().circle_filled(center, radius * (0.7 + 0.3 * share), t.pass);
    let corners = [vec2(-7.0, 0.5), vec2(-2.0, 5.5), vec2(7.5, -5.0)].map(|at| center + at);
    let lengths = [corners[0].distance(corners[1]), corners[1].distance(corners[2])];
    let mut left = share * (lengths[0] + lengths[1]);
    let stroke = Stroke::new(3.0, t.pass_soft);
    for (ends, length) in corners.windows(2).zip(lengths) {
        let part = (left / length).clamp(0.0, 1.0);
        ui.painter().line_segment([ends[0], ends[0] + part * (ends[1] - ends[0])], stroke);
        left -= length;
    }
}

/// The benchmark, if it is of the text that passed.
fn report_of_text(desk: &Desk) -> Option<&BenchReport> {
    let report = desk.bench.value().filter(|_| !desk.bench.is_pending())?;
    let own = source_sum(&desk.judged_text);
    let is_own = |run: &RunRecord| run.when_unix_s == report.when_unix_s && run.source == own;
    desk.runs.iter().any(is_own).then_some(report)
}

/// The newest earlier run of another text that passed, as far as it has what `has` looks for.
fn before<'a, T>(desk: &'a Desk, has: impl Fn(&'a RunPoint) -> Option<T>) -> Option<T> {
    let own = source_sum(&desk.judged_text);
    let mut runs = desk.runs.iter().rev().filter(|run| run.passed && run.source != own);
    runs.find_map(|run| run.points.iter().rev().find_map(&has))
}

/// One quantity of the card.
struct Row {
    name: &'static str,
    yours: String,
    best: Option<String>,
    before: Option<String>,
    reference: Option<String>,
    is_best: bool,
}

/// What a column shows of a row.
type Column = fn(&Row) -> &Option<String>;

fn rows_ui(ui: &mut Ui, t: &Tokens, desk: &Desk, verdict: &Verdict, report: Option<&BenchReport>) {
    let mut rows: Vec<Row> = time_row(desk, report).into_iter().collect();
    let counted = report.and_then(|report| report.points.iter().rev().find_map(|point| point.counters.as_ref()));
    let case = verdict.cases.iter().rev().find_map(|case| Some((case.name.as_str(), case.counters.as_ref()?)));
    match (counted, case) {
        (Some(counters), _) => counted_rows(desk, counters, |_| true, &mut rows),
        (None, Some((name, counters))) => counted_rows(desk, counters, |point| point.name == name, &mut rows),
        (None, None) => {}
    }
    if rows.is_empty() {
        return;
    }
    let has = |of: Column| rows.iter().any(|row| of(row).is_some());
    let columns: [(&str, Column); 3] = [
        ("Best possible", |row| &row.best),
        ("Your last version", |row| &row.before),
        ("Our solution", |row| &row.reference),
    ];
    let shown: Vec<_> = columns.into_iter().filter(|(_, of)| has(*of)).collect();
    // Figures end at one edge, and the ticks stand in one column.
    // Rows of text, as close as lines: the buttons below are in sight in a low pane too.
    ui.spacing_mut().interact_size.y = 0.0;
    let widest = rows.iter().map(|row| row.yours.chars().count()).max().unwrap_or(0);
    Grid::new("passed").num_columns(2 + shown.len()).spacing([space::XL, space::XS]).show(ui, |ui| {
        for name in ["", "Yours"].into_iter().chain(shown.iter().map(|(name, _)| *name)) {
            parts::caption(ui, name);
        }
        ui.end_row();
        for row in &rows {
            ui.label(RichText::new(row.name).color(t.text_muted));
            let mark = if row.is_best { "  ✔" } else { "" };
            let color = if row.is_best { t.pass } else { t.text };
            ui.label(RichText::new(format!("{:>widest$}{mark}", row.yours)).monospace().color(color));
            for (name, of) in &shown {
                missing_or(ui, t, name, of(row).as_deref());
            }
            ui.end_row();
        }
    });
}

/// A figure of the card, or why there is none.
fn missing_or(ui: &mut Ui, t: &Tokens, column: &str, figure: Option<&str>) {
    let Some(figure) = figure else {
        let (word, why) = match column {
            "Best possible" => ("not known", "Nobody can say how few would do. Compare with your last version."),
            "Our solution" => ("not timed", "Only times are measured beside our solution."),
            _ => ("none", "No earlier version that passed has this figure at this size."),
        };
        ui.label(RichText::new(word).small().color(t.text_muted)).on_hover_text(why);
        return;
    };
    ui.label(RichText::new(figure).monospace().color(t.text_muted));
}

fn time_row(desk: &Desk, report: Option<&BenchReport>) -> Option<Row> {
    let point = report?.points.iter().rfind(|point| point.rejected.is_none() && point.stats.is_some())?;
    let time = |stats: &Stats| parts::time(stats.median_ns);
    let stats = point.stats.as_ref()?;
    let share = point.share_of_ceiling.filter(|share| *share > 0.0);
    Some(Row {
        name: "Time",
        yours: time(stats),
        best: share.map(|share| parts::time(stats.median_ns * share.min(1.0))),
        before: before(desk, |run| run.stats.as_ref().filter(|_| run.name == point.name).map(time)),
        reference: point.reference.as_ref().map(time),
        is_best: share.is_some_and(|share| share > 0.95),
    })
}

/// What was counted, beside the version before at the same size.
fn counted_rows(desk: &Desk, counters: &Counters, fits: impl Fn(&RunPoint) -> bool, rows: &mut Vec<Row>) {
    let old = before(desk, |point| point.counters.as_ref().filter(|_| fits(point)));
    let mut sectors = |name, of: fn(&Counters) -> &gpu_core::emulator::Traffic| {
        let Some(now) = headline::Sectors::of(of(counters)) else { return };
        rows.push(Row {
            name,
            yours: format!("{:.2}", now.each),
            best: Some(format!("{:.2}", now.least)),
            before: old.and_then(|old| headline::Sectors::of(of(old))).map(|old| format!("{:.2}", old.each)),
            reference: None,
            is_best: now.is_least(),
        });
    };
    sectors("Sectors per load", |c| &c.global_load);
    sectors("Sectors per store", |c| &c.global_store);
    let shared = |c: &Counters| c.shared_load.requests + c.shared_store.requests;
    let conflicts = |c: &Counters| c.shared_load.bank_conflicts + c.shared_store.bank_conflicts;
    let mut count = |name, yours: u64, best: Option<u64>, old: Option<u64>| {
        rows.push(Row {
            name,
            yours: parts::grouped(yours),
            best: best.map(parts::grouped),
            before: old.map(parts::grouped),
            reference: None,
            is_best: best == Some(yours),
        });
    };
    if shared(counters) > 0 {
        count("Bank conflicts", conflicts(counters), Some(0), old.map(conflicts));
    }
    count("Warp instructions", counters.warp_instructions, None, old.map(|old| old.warp_instructions));
}

/// Reached ones with a tick; before a benchmark, what there is to reach.
fn milestones_ui(ui: &mut Ui, screen: &Screen<'_>, t: &Tokens, report: Option<&BenchReport>) {
    let marked = |reached: Option<bool>| -> (&str, Color32) {
        match reached {
            Some(true) => ("✔", t.pass),
            Some(false) => ("○", t.warn),
            None => ("○", t.text_muted),
        }
    };
    let known: Vec<(&str, Option<bool>, &str)> = match report {
        Some(report) => report.milestones.iter().map(|m| (m.name.as_str(), m.reached, m.because.as_str())).collect(),
        None => {
            let spec = screen.state.spec();
            let asked = spec.map(|spec| spec.milestones.as_slice()).unwrap_or_default();
            asked.iter().map(|milestone| (milestone.name.as_str(), None, milestone.note.as_str())).collect()
        }
    };
    if known.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        parts::caption(ui, if report.is_some() { "Milestones" } else { "Milestones (Benchmark measures them)" });
        for (name, reached, about) in known {
            let (mark, color) = marked(reached);
            ui.label(RichText::new(format!("{mark} {name}")).color(color)).on_hover_text(about);
        }
    });
}

/// What there is to do with a kernel that passes.
fn next_ui(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk, report: Option<&BenchReport>) {
    let t = theme::tokens(ui);
    let course = screen.state.course.clone();
    let Some(day) = course.unit_by_id(&desk.day) else { return };
    let open = report.and_then(|report| report.milestones.iter().find(|milestone| milestone.reached == Some(false)));
    if let Some(milestone) = open {
        let text = format!("Try next: {}. {}", milestone.name, sentence::whole(&milestone.because));
        ui.add(egui::Label::new(sentence::job(ui, &text, t.text)).wrap());
    }
    let passed = |key: &str| screen.state.progress.has_passed(day, key);
    let next = day.exercises.iter().find(|exercise| exercise.key != desk.exercise && !passed(&exercise.key));
    ui.horizontal_wrapped(|ui| {
        let again = if report.is_some() { "Benchmark again" } else { "Benchmark it" };
        let bench = parts::action_button(ui, Action::Benchmark, again, false, !screen.state.is_running());
        screen.commands.extend(bench);
        if parts::icon_button(ui, icons::LIGHTBULB, "Our solution")
            .on_hover_text(Action::ShowSolution.tooltip(ui.ctx()))
            .clicked()
        {
            screen.send(Command::Do(Action::ShowSolution));
        }
        match next {
            Some(exercise) => {
                let text = format!("Next exercise: {} ›", exercise.spec.title);
                if ui.button(text).on_hover_text("Opens it in the editor").clicked() {
                    screen.send(Command::OpenExercise(exercise.key.clone()));
                }
            }
            None => {
                let step = screen.state.view.step;
                let last = day.day().is_some().then(|| day.last_step()).filter(|last| *last != step);
                if let Some(next) = last.or_else(|| day.step_after(step)) {
                    let text = format!("Next step: {} ›", day.step_title(next));
                    let tooltip = match next {
                        Step::Verify => Action::StepVerify.tooltip(ui.ctx()),
                        _ => "Continues in the lesson".to_owned(),
                    };
                    if ui.button(text).on_hover_text(tooltip).clicked() {
                        screen.send(Command::ShowStep(next));
                    }
                }
            }
        }
    });
}
