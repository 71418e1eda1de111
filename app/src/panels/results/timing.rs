//! Times of this kernel's runs beside the reference and the machine's ceiling.

use super::headline;
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::panels::{Screen, parts};
use crate::scripts::{Figure, ScriptKey};
use crate::state::{Desk, Loadable, PlotWish, Sight};
use crate::theme::{self, space};
use crate::widgets::focus;
use crate::widgets::rate_bars::{self, RateBar};
use crate::widgets::roofline::{self, RooflinePoint};
use crate::widgets::scaling_plot;
use crate::widgets::sentence;
use crate::widgets::svg::Recording;
use crate::widgets::timing_plot::{self, OtherTime, Over, TimedRun};
use curriculum::Block;
use curriculum::store::RunKind;
use egui::{Frame, Grid, Margin, RichText, ScrollArea, Ui};
use gpu_core::bench::{BenchPoint, BenchReport, Compared, Reached, Timing};

/// Points from which all choices of a plot may stand in one row.
const ONE_ROW: f32 = 700.0;
/// What the row holds beside the choices of the versions: which plot at the left, the copies at the right.
const REST_OF_ROW: f32 = 340.0;

/// Points below which the copies have a row of their own.
const NARROW_ROW: f32 = 380.0;

/// Of a plot with its legend and its words, in points.
const LEAST_HEIGHT: f32 = 165.0;
const MOST_HEIGHT: f32 = 460.0;
/// A pane lower than this, in points, holds the plot and its choices alone.
const LOW: f32 = 310.0;

/// What a plot can become, each with its button's text.
const COPIES: [(Action, &str, PlotWish); 3] = [
    (Action::CopyPlot, "CSV", PlotWish::Csv),
    (Action::SavePlotSvg, "SVG…", PlotWish::Svg),
    (Action::SavePlotPng, "PNG…", PlotWish::Png),
];

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let t = theme::tokens(ui);
    ScrollArea::vertical().id_salt("timing").auto_shrink(false).show(ui, |ui| {
        if screen.comes_into_view(Sight::Plots) {
            ui.scroll_to_cursor(Some(egui::Align::TOP));
        }
        Frame::new().inner_margin(Margin::same(space::L as i8)).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = space::S;
            match &desk.bench {
                Loadable::Pending { .. } => {
                    ui.horizontal(|ui| {
                        parts::busy(ui);
                        ui.label(RichText::new("Benchmarking…").bold());
                    });
                }
                Loadable::Failed { message, .. } => parts::notice(ui, t.fail_soft, t.fail, |ui| {
                    ui.add(egui::Label::new(sentence::job(ui, message, t.text)).wrap());
                }),
                Loadable::Empty | Loadable::Ready(_) => {}
            }
            if let Some(words) = desk.bench.value().filter(|_| !desk.bench.is_pending()).and_then(headline::of_report) {
                ui.label(sentence::job(ui, &words, t.text));
            }
            // In a low pane the plot comes first.
            let is_low = ui.available_height() < LOW;
            if let Some(report) = desk.bench.value().filter(|_| !is_low) {
                milestones_line_ui(ui, report);
            }
            rates_ui(ui, screen, desk);
            let runs = screen.memory.timed_runs(desk);
            let others = script_times(screen, desk);
            let key = format!("{}/{}", desk.day, desk.exercise);
            let mut wish = screen.plot_wish();
            let plot = screen.memory.plots.entry(key).or_default();
            plot.others = others;
            // One row for all where there is room: in a low pane each row is a piece of the plot.
            let one_row = ui.available_width() >= ONE_ROW.max(REST_OF_ROW + timing_plot::controls_width(plot, &runs));
            let copies_ui = |ui: &mut Ui, wish: &mut Option<PlotWish>| {
                for (action, text, of) in COPIES {
                    let button = ui.add_enabled(!runs.is_empty(), egui::Button::new(text));
                    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, action.info().text));
                    if button.on_hover_text(action.tooltip(ui.ctx())).clicked() {
                        *wish = Some(of);
                    }
                }
            };
            let is_narrow = ui.available_width() < NARROW_ROW;
            ui.horizontal(|ui| {
                let over = [
                    (Over::Versions, "Versions", "Each run of this kernel"),
                    (Over::Sizes, "Sizes", "The newest run over its sizes"),
                    (Over::Intensity, "Roofline", "The runs under this machine's ceilings"),
                ];
                for (value, text, tooltip) in over {
                    ui.selectable_value(&mut plot.over, value, text).on_hover_text(tooltip);
                }
                if one_row && plot.over == Over::Versions {
                    ui.separator();
                    timing_plot::controls_ui(ui, plot, &runs);
                }
                if !is_narrow {
                    parts::sides(ui, "plot", &mut wish, |_, _| {}, copies_ui);
                }
            });
            if is_narrow {
                ui.horizontal(|ui| copies_ui(ui, &mut wish));
            }
            let height = (ui.available_height() - space::M).clamp(LEAST_HEIGHT, MOST_HEIGHT);
            let recording = Recording::begin(ui);
            let top = ui.cursor().min;
            let clicked = match plot.over {
                Over::Versions if one_row => timing_plot::plot_ui(ui, plot, &runs, height),
                Over::Versions => timing_plot::show(ui, plot, &runs, height),
                Over::Sizes => {
                    let measure = plot.measure.unwrap_or(timing_plot::Measure::Time);
                    scaling_plot::show(ui, &runs, measure, height);
                    None
                }
                Over::Intensity => {
                    let ceilings = desk.bench.value().and_then(|report| report.ceilings.as_ref());
                    roofline::show(ui, ceilings, &roofline_points(&runs), height);
                    None
                }
            };
            // Choices stay behind; the legend begins the picture.
            let choices =
                if plot.over == Over::Versions && !one_row { ui.spacing().interact_size.y + space::S } else { 0.0 };
            let top = top + egui::vec2(0.0, choices);
            let area = egui::Rect::from_min_max(top, egui::pos2(ui.max_rect().right(), ui.cursor().top()));
            // Words do not begin at a picture's very edge; the pane has as much room around them.
            let area = egui::Rect {
                max: area.max + egui::vec2(space::M, space::XS),
                ..area.with_min_x(area.left() - space::M)
            };
            let which = match plot.over {
                Over::Versions => "versions",
                Over::Sizes => "sizes",
                Over::Intensity => "roofline",
            };
            let name = |ending: &str| format!("{}-{which}.{ending}", desk.day);
            screen.commands.extend(wish.map(|wish| match (wish, timing_plot::table(plot, &runs)) {
                (_, None) => Command::Say("There is no run to plot yet: benchmark your kernel first".to_owned()),
                (PlotWish::Csv, Some(text)) => Command::CopyText(text),
                (PlotWish::Svg, _) => Command::SavePage { name: name("svg"), text: recording.end(ui, area, t.panel) },
                (PlotWish::Png, _) => Command::SavePicture { name: name("png"), area: area.intersect(ui.clip_rect()) },
            }));
            screen.commands.extend(clicked.map(Command::OpenRun));
            if let Some(report) = desk.bench.value().filter(|_| is_low) {
                milestones_line_ui(ui, report);
            }
            if let Some(report) = desk.bench.value() {
                ui.separator();
                report_ui(ui, report);
            }
        });
        focus::follow(ui);
    });
}

/// What this machine's CPU, its libraries and the day's scripts reached at the same work, beside what was recorded on a
/// GPU; nothing where nothing is there.
fn rates_ui(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let state = screen.state;
    let Some(day) = state.course.unit_by_id(&desk.day) else { return };
    let blocks = day.lesson.sections.iter().flat_map(|section| &section.blocks);
    let mut programs: Vec<&str> = blocks
        .filter_map(|block| match block {
            Block::Measure { name } if name != "loop-orders" => Some(name.as_str()),
            _ => None,
        })
        .collect();
    // What is measured of a GPU is held against this machine's CPU.
    if !programs.is_empty() && !programs.contains(&"cpu-matmul") {
        programs.insert(0, "cpu-matmul");
    }
    let keys = programs.iter().map(|name| ScriptKey::of_program(name));
    let scripts = day.exercises.iter().flat_map(|exercise| &exercise.scripts);
    let keys = keys.chain(scripts.map(|script| ScriptKey { day: day.id.clone(), file: script.file.clone() }));
    let runs: Vec<_> = keys.filter_map(|key| state.scripts.get(&key)).collect();
    let mut found: Vec<(&str, RateBar)> = Vec::new();
    let add = |figure: &Figure, measured: Option<String>, recorded: Option<String>| {
        let gflops = figure.gflops.filter(|_| figure.ok)?;
        Some(RateBar { name: figure.rung.clone(), device: figure.device.clone(), gflops, measured, recorded })
    };
    for run in runs {
        let bars = run.figures.iter().filter_map(|figure| Some((figure.name.as_str(), add(figure, run.date(), None)?)));
        found.extend(bars);
    }
    let recordings: Vec<_> = programs.iter().filter_map(|name| crate::measure::recording(name)).collect();
    for recording in &recordings {
        for figure in &recording.figures {
            found.extend(add(figure, None, Some(recording.words())).map(|bar| (figure.name.as_str(), bar)));
        }
    }
    if found.is_empty() {
        return;
    }
    // One chart for each size, the largest first: it says most.
    let mut sizes: Vec<&str> = Vec::new();
    for (size, _) in &found {
        if !sizes.contains(size) {
            sizes.push(size);
        }
    }
    sizes.sort_by_key(|size| (std::cmp::Reverse(size.len()), std::cmp::Reverse(*size)));
    for size in sizes {
        let bars: Vec<RateBar> = found.iter().filter(|(of, _)| *of == size).map(|(_, bar)| bar.clone()).collect();
        rates_chart_ui(ui, screen, &format!("{}-rates-{size}", desk.day), &format!("The same product, {size}"), &bars);
    }
    ui.separator();
}

/// One chart of rates, and what it can become.
fn rates_chart_ui(ui: &mut Ui, screen: &mut Screen<'_>, name: &str, title: &str, bars: &[RateBar]) {
    let mut wish = None;
    let recording = Recording::begin(ui);
    let top = ui.cursor().min;
    rate_bars::show(ui, title, bars);
    let area = egui::Rect::from_min_max(top, egui::pos2(ui.max_rect().right(), ui.cursor().top()));
    ui.horizontal(|ui| {
        for (action, text, of) in COPIES {
            let button = ui.small_button(text);
            let named = format!("{}: {title}", action.info().text);
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &named));
            if button.on_hover_text(action.info().tooltip).clicked() {
                wish = Some(of);
            }
        }
    });
    let file: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    screen.commands.extend(wish.map(|wish| match wish {
        PlotWish::Csv => Command::CopyText(rate_bars::csv(bars)),
        PlotWish::Svg => {
            Command::SavePage { name: format!("{file}.svg"), text: recording.end(ui, area, theme::tokens(ui).panel) }
        }
        PlotWish::Png => Command::SavePicture { name: format!("{file}.png"), area: area.intersect(ui.clip_rect()) },
    }));
}

/// What the exercise's Python scripts measured when they ran last.
fn script_times(screen: &Screen<'_>, desk: &Desk) -> Vec<OtherTime> {
    let Some(exercise) = screen.state.exercise() else { return Vec::new() };
    let key = |file: &str| ScriptKey { day: desk.day.clone(), file: file.to_owned() };
    let runs = exercise.scripts.iter().filter_map(|script| screen.state.scripts.get(&key(&script.file)));
    let figures = runs.flat_map(|run| run.figures.iter().map(move |figure| (figure, run.date())));
    let time = |(figure, date): (&Figure, Option<String>)| {
        let median_ns = 1e6 * figure.median_ms.filter(|_| figure.ok)?;
        let device = date.map_or_else(|| figure.device.clone(), |date| format!("{}, {date}", figure.device));
        Some(OtherTime { case: figure.name.clone(), name: figure.rung.clone(), device, median_ns })
    };
    figures.filter_map(time).collect()
}

/// All versions of this text that were timed or counted, numbered from 1. The newest comes with all its details.
pub fn timed_runs(desk: &Desk) -> Vec<TimedRun> {
    let newest = desk.bench.value();
    let mut runs = Vec::new();
    for (index, record) in desk.runs.iter().enumerate() {
        let number = index as u32 + 1;
        if let Some(report) = newest.filter(|report| {
            record.kind == RunKind::Bench && report.when_unix_s == record.when_unix_s && report.device == record.device
        }) {
            runs.extend(TimedRun::from_report(number, report));
            continue;
        }
        runs.extend(record.points.iter().map(|point| TimedRun {
            number,
            device: record.device.clone(),
            when_unix_s: record.when_unix_s,
            point: BenchPoint {
                name: point.name.clone(),
                timing: None,
                stats: point.stats,
                flops: point.flops,
                bytes: point.bytes,
                share_of_ceiling: point.share_of_ceiling,
                bound: String::new(),
                copy: None,
                reference: None,
                against_reference: None,
                library: None,
                rivals: Vec::new(),
                counters: point.counters,
                lines: Vec::new(),
                steps: Vec::new(),
                workspace_bytes: 0,
                caveats: Vec::new(),
                rejected: None,
            },
        }));
    }
    runs
}

/// The largest size of every run, and of the newest run's reference and library beside it.
fn roofline_points(runs: &[TimedRun]) -> Vec<RooflinePoint> {
    let last = runs.last().map(|run| run.number);
    let mut points = Vec::new();
    // The sizes of a run stand together.
    for sizes in runs.chunk_by(|a, b| a.number == b.number) {
        let accepted = sizes.iter().filter(|run| run.point.rejected.is_none());
        let Some(run) = accepted.max_by(|a, b| a.point.bytes.total_cmp(&b.point.bytes)) else { continue };
        let newest = Some(run.number) == last;
        let point = |name: String, median_ns| RooflinePoint {
            name,
            flops: run.point.flops,
            bytes: run.point.bytes,
            median_ns,
            newest: false,
        };
        if newest {
            let reference = run.point.reference.map(|stats| point("reference".to_owned(), Some(stats.median_ns)));
            let library = run.point.library.as_ref();
            points.extend(reference);
            points.extend(library.map(|library| point(library.name.clone(), Some(library.stats.median_ns))));
        }
        let own = point(format!("run {}", run.number), run.point.stats.map(|stats| stats.median_ns));
        points.push(RooflinePoint { newest, ..own });
    }
    points
}

fn report_ui(ui: &mut Ui, report: &BenchReport) {
    let t = theme::tokens(ui);
    ui.label(RichText::new(sentence::plain(&report.summary)).bold());
    ui.label(RichText::new(&report.device).small().color(t.text_muted));
    Grid::new("bench").num_columns(6).spacing([space::XL, space::XS]).striped(true).show(ui, |ui| {
        for name in ["Size", "Time", "Share of the ceiling", "Against our solution", "Against the library", ""] {
            parts::caption(ui, name);
        }
        ui.end_row();
        for point in &report.points {
            point_ui(ui, point);
            ui.end_row();
        }
    });
    if !report.milestones.is_empty() {
        ui.add_space(space::S);
        parts::caption(ui, "Milestones");
        for milestone in &report.milestones {
            milestone_ui(ui, milestone);
        }
    }
}

/// Which milestones are reached, above the plot: why stands below it, where a low pane has to be scrolled.
fn milestones_line_ui(ui: &mut Ui, report: &BenchReport) {
    let t = theme::tokens(ui);
    if report.milestones.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        parts::caption(ui, "Milestones");
        for milestone in &report.milestones {
            let (mark, state, color) = match milestone.reached {
                Some(true) => ("✔", "reached", t.pass),
                Some(false) => ("○", "not yet reached", t.warn),
                None => ("○", "open", t.text_muted),
            };
            let label = ui.label(RichText::new(format!("{mark} {}", milestone.name)).color(color));
            label.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{}: {state}", milestone.name))
            });
            label.on_hover_text(&milestone.because);
        }
    });
}

fn milestone_ui(ui: &mut Ui, milestone: &Reached) {
    parts::milestone(ui, &milestone.name, milestone.reached, &milestone.because);
}

fn point_ui(ui: &mut Ui, point: &BenchPoint) {
    let t = theme::tokens(ui);
    ui.monospace(sentence::numbers(&point.name).into_owned());
    // Measured and modelled times differ in colour, wording and shape: a number and an interval.
    match (&point.timing, &point.stats) {
        (Some(Timing::Measured { .. }), Some(stats)) => {
            let text = format!(
                "{}  ({} – {})",
                parts::time(stats.median_ns),
                parts::time(stats.p20_ns),
                parts::time(stats.p80_ns)
            );
            ui.label(RichText::new(text).monospace().color(t.measured));
        }
        (Some(Timing::Modelled { low_ns, high_ns, bound_by }), _) => {
            let text = format!("modeled {} … {}, bound by {bound_by}", parts::time(*low_ns), parts::time(*high_ns));
            ui.label(RichText::new(text).italics().color(t.modelled));
        }
        _ => {
            ui.label(RichText::new("not timed").color(t.text_muted));
        }
    }
    match point.share_of_ceiling {
        Some(share) => ui.monospace(format!("{:.0} % of {}", share * 100.0, point.bound)),
        None => ui.label("–"),
    };
    match point.against_reference {
        Some(Compared::Faster) => ui.label(RichText::new("▲ faster").color(t.pass)),
        Some(Compared::Slower) => ui.label(RichText::new("▼ slower").color(t.warn)),
        Some(Compared::Inconclusive) => ui.label(RichText::new("≈ no clear difference").color(t.text_muted)),
        None => ui.label("–"),
    };
    match (&point.library, point.of_library()) {
        (Some(library), Some(ratio)) => ui.monospace(format!("{ratio:.2}x")).on_hover_text(format!(
            "{}: {}, interleaved with yours in the same buffers",
            library.name,
            parts::time(library.stats.median_ns)
        )),
        _ => ui.label("–"),
    };
    match &point.rejected {
        Some(why) => ui.label(RichText::new(format!("✖ not a result: {why}")).color(t.fail)),
        // That the emulator has no time is no doubt about what it counted.
        None => {
            let color = if point.stats.is_some() { t.warn } else { t.text_muted };
            ui.label(RichText::new(point.caveats.join("; ")).small().color(color))
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::bench::{LibraryTime, Stats};

    fn run(number: u32, bytes: f64, median_ns: Option<f64>) -> TimedRun {
        let stats = median_ns.map(|median_ns| Stats { samples: 9, median_ns, ..Stats::default() });
        let point = BenchPoint { stats, bytes, flops: 2.0 * bytes, ..BenchPoint::default() };
        TimedRun { number, device: "GPU".to_owned(), when_unix_s: 0, point }
    }

    #[test]
    fn the_roofline_holds_every_run_at_its_largest_size_and_the_newest_ones_rivals() {
        let mut newest = run(2, 4e6, Some(2e3));
        newest.point.library =
            Some(LibraryTime { name: "cuBLASLt".to_owned(), stats: Stats { median_ns: 1e3, ..Stats::default() } });
        let points = roofline_points(&[run(1, 1e6, Some(9e3)), run(1, 4e6, Some(8e3)), newest, run(3, 1e3, None)]);
        let names: Vec<(&str, f64, bool)> = points.iter().map(|p| (p.name.as_str(), p.bytes, p.newest)).collect();
        assert_eq!(names, [("run 1", 4e6, false), ("run 2", 4e6, false), ("run 3", 1e3, true)]);
        let points = roofline_points(&[run(1, 1e6, Some(9e3)), {
            let mut newest = run(2, 4e6, Some(2e3));
            newest.point.library =
                Some(LibraryTime { name: "cuBLASLt".to_owned(), stats: Stats { median_ns: 1e3, ..Stats::default() } });
            newest
        }]);
        let names: Vec<&str> = points.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["run 1", "cuBLASLt", "run 2"]);
    }
}
