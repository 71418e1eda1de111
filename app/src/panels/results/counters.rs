//! What the kernel did, as the emulator counted it: the whole launch and line by line.

use crate::command::Command;
use crate::fonts::Bold;
use crate::panels::{Screen, parts};
use crate::state::Desk;
use crate::theme::{self, space};
use crate::widgets::sentence;
use egui::{Grid, RichText, Ui};
use gpu_core::emulator::{Counters, LineCounters, SharedTraffic, Traffic};

/// Lines shown, the busiest first.
const LINES: usize = 12;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let t = theme::tokens(ui);
    ui.spacing_mut().item_spacing.y = space::S;
    let Some((name, counters, lines)) = latest(desk) else {
        return parts::empty(
            ui,
            crate::state::Pane::Counters.icon(),
            "Nothing counted yet",
            "Check or Benchmark on the emulator counts instructions, memory sectors and bank conflicts.",
        );
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(sentence::numbers(name)).bold());
        let note = "counted by the emulator: memory exactly as Nsight Compute defines it, instructions as PTX";
        ui.label(RichText::new(note).small().color(t.text_muted));
    });
    Grid::new("counters").num_columns(2).spacing([space::XXL, space::XXS]).show(ui, |ui| {
        for (name, value) in facts(counters) {
            parts::fact(ui, name, value);
        }
    });
    if !lines.is_empty() {
        ui.add_space(space::S);
        lines_ui(ui, screen, counters, lines);
    }
}

/// The largest case of the last run that has counters: of the benchmark if there is one, else of the check.
fn latest(desk: &Desk) -> Option<(&str, &Counters, &[LineCounters])> {
    let bench = desk.bench.value().and_then(|report| {
        report.points.iter().rev().find_map(|p| Some((p.name.as_str(), p.counters.as_ref()?, p.lines.as_slice())))
    });
    bench.or_else(|| {
        let cases = &desk.verdict.value()?.cases;
        cases.iter().rev().find_map(|c| Some((c.name.as_str(), c.counters.as_ref()?, c.lines.as_slice())))
    })
}

pub(super) fn facts(c: &Counters) -> Vec<(&'static str, String)> {
    let (g, n) = (parts::grouped, parts::counted);
    let mut rows = vec![
        ("Warp instructions", g(c.warp_instructions)),
        ("Thread instructions", g(c.thread_instructions)),
        ("Branches that diverged", format!("{} of {}", g(c.divergent_branches), g(c.branches))),
    ];
    let mut traffic = |name, traffic: &Traffic| {
        if traffic.requests > 0 {
            let share = traffic.sectors as f64 / traffic.requests as f64;
            rows.push((
                name,
                format!("{}, {} ({share:.2} each)", n(traffic.requests, "request"), n(traffic.sectors, "sector")),
            ));
        }
    };
    traffic("Global loads", &c.global_load);
    traffic("Global stores", &c.global_store);
    traffic("Global atomics", &c.global_atomic);
    traffic("Local loads", &c.local_load);
    traffic("Local stores", &c.local_store);
    let mut shared = |name, traffic: &SharedTraffic| {
        if traffic.requests > 0 {
            rows.push((
                name,
                format!("{}, {}", n(traffic.requests, "request"), n(traffic.bank_conflicts, "bank conflict")),
            ));
        }
    };
    shared("Shared loads", &c.shared_load);
    shared("Shared stores", &c.shared_store);
    shared("Shared atomics", &c.shared_atomic);
    if c.barriers > 0 {
        rows.push(("Warp arrivals at barriers", g(c.barriers)));
    }
    if c.matrix_instructions > 0 {
        rows.push(("Matrix instructions", g(c.matrix_instructions)));
    }
    rows
}

fn lines_ui(ui: &mut Ui, screen: &mut Screen<'_>, whole: &Counters, lines: &[LineCounters]) {
    let mut sorted: Vec<&LineCounters> = lines.iter().collect();
    sorted.sort_by_key(|line| std::cmp::Reverse(line.counters.warp_instructions));
    Grid::new("line counters").num_columns(5).spacing([space::XL, space::XXS]).striped(true).show(ui, |ui| {
        for name in ["Line", "Share of instructions", "Sectors", "Sectors per request", "Bank conflicts"] {
            parts::caption(ui, name);
        }
        ui.end_row();
        for line in sorted.into_iter().take(LINES) {
            let c = &line.counters;
            let text = if line.source.file == crate::lab::KERNEL_NAME {
                format!("{}", line.source.line)
            } else {
                format!("{}:{}", line.source.file, line.source.line)
            };
            if ui.link(text).on_hover_text("Go to the line").clicked() {
                screen.send(Command::GoToLine { line: line.source.line, column: 0 });
            }
            let share = c.warp_instructions as f64 / whole.warp_instructions.max(1) as f64;
            ui.monospace(format!("{:5.1} %", share * 100.0));
            let sectors = c.global_load.sectors + c.global_store.sectors + c.global_atomic.sectors;
            let requests = c.global_load.requests + c.global_store.requests + c.global_atomic.requests;
            let of_requests = |text: String| (requests > 0).then_some(text);
            let none = "This line does not access global memory";
            figure_ui(ui, of_requests(parts::grouped(sectors)), none);
            figure_ui(ui, of_requests(format!("{:.2}", sectors as f64 / requests as f64)), none);
            let shared = c.shared_load.requests + c.shared_store.requests + c.shared_atomic.requests;
            let conflicts =
                c.shared_load.bank_conflicts + c.shared_store.bank_conflicts + c.shared_atomic.bank_conflicts;
            let none = "This line does not access shared memory";
            figure_ui(ui, (shared > 0).then(|| parts::grouped(conflicts)), none);
            ui.end_row();
        }
    });
}

/// A figure, or a dash that says why there is none.
fn figure_ui(ui: &mut Ui, figure: Option<String>, none: &str) {
    match figure {
        Some(figure) => ui.monospace(figure),
        None => ui.label(RichText::new("–").color(theme::tokens(ui).text_muted)).on_hover_text(none),
    };
}
