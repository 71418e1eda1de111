//! The history of a kernel's runs beside the reference and this machine's measured ceiling.
//!
//! Measured times are dots with a bar from the 20th to the 80th percentile. Modelled times are hatched intervals. Runs
//! on the emulator have counters and no time: they get a plot of their own and never a place on a time axis.

mod csv;

use crate::theme::{self, Tokens};
use crate::widgets::plot_kit::{self, Swatch};
use csv::csv;
use egui::{Align2, FontId, Pos2, Rect, RichText, Stroke, Ui, pos2, vec2};
use egui_plot::{GridMark, Plot, PlotPoint, PlotTransform};
use gpu_core::bench::{BenchPoint, BenchReport, Timing};
use serde::{Deserialize, Serialize};

/// One size's result of one run, as kept in a day's history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedRun {
    /// Counts the learner's benchmarked versions from 1; shown on the axis.
    pub number: u32,
    pub device: String,
    /// Seconds since the Unix epoch.
    pub when_unix_s: u64,
    pub point: BenchPoint,
}

impl TimedRun {
    /// The points of one benchmark.
    pub fn from_report(number: u32, report: &BenchReport) -> Vec<Self> {
        let run = |point: &BenchPoint| TimedRun {
            number,
            device: report.device.clone(),
            when_unix_s: report.when_unix_s,
            point: point.clone(),
        };
        report.points.iter().map(run).collect()
    }
}

/// What is on the vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Percent of the measured ceiling: comparable between machines.
    Share,
    Time,
    /// Bytes or operations per second.
    Rate,
    LoadSectors,
    StoreSectors,
    BankConflicts,
    WarpInstructions,
    LoadBytes,
}

impl Measure {
    const ALL: [Measure; 8] = [
        Measure::Share,
        Measure::Time,
        Measure::Rate,
        Measure::LoadSectors,
        Measure::StoreSectors,
        Measure::BankConflicts,
        Measure::WarpInstructions,
        Measure::LoadBytes,
    ];

    fn is_timed(self) -> bool {
        matches!(self, Measure::Share | Measure::Time | Measure::Rate)
    }

    fn title(self) -> &'static str {
        match self {
            Measure::Share => "Share of ceiling",
            Measure::Time => "Time",
            Measure::Rate => "Rate",
            Measure::LoadSectors => "Sectors per load",
            Measure::StoreSectors => "Sectors per store",
            Measure::BankConflicts => "Bank conflicts",
            Measure::WarpInstructions => "Warp instructions",
            Measure::LoadBytes => "Bytes loaded",
        }
    }

    fn show(self, value: f64, point: &BenchPoint) -> String {
        match self {
            Measure::Share => format!("{} %", plot_kit::short(value)),
            Measure::Time => plot_kit::time_ns(value),
            Measure::Rate => plot_kit::si(value, rate_unit(point)),
            Measure::LoadSectors | Measure::StoreSectors => plot_kit::short(value),
            Measure::BankConflicts | Measure::WarpInstructions => plot_kit::si(value, ""),
            Measure::LoadBytes => plot_kit::si(value, "B"),
        }
    }
}

pub(super) fn rate_unit(point: &BenchPoint) -> &'static str {
    if point.bound.contains("copy") { "B/s" } else { "FLOP/s" }
}

/// What one run contributes to the plot.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Drawn {
    /// Low, middle and high; for times p20, median and p80.
    Measured {
        low: f64,
        middle: f64,
        high: f64,
    },
    Modelled {
        low: f64,
        high: f64,
    },
    /// An exact count.
    Counted(f64),
    /// Counted on the emulator, so it has no place on a time axis.
    NoTime,
    Rejected,
}

/// What the learner chose to see.
#[derive(Clone, Debug, Default)]
pub struct TimingPlotState {
    /// None follows the runs: the share of the ceiling where a time was measured, else sectors per load.
    pub measure: Option<Measure>,
    pub log: bool,
    /// Name of the size; None is the last one.
    pub case: Option<String>,
    /// Over versions, or over sizes.
    pub over: Over,
    /// Times of other programs that do the same, drawn as levels.
    pub others: Vec<OtherTime>,
}

/// What the horizontal axis holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Over {
    #[default]
    Versions,
    Sizes,
    /// Operations per byte: the roofline.
    Intensity,
}

/// What another program needed for one size.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherTime {
    /// Name of the size.
    pub case: String,
    /// `triton`
    pub name: String,
    pub device: String,
    pub median_ns: f64,
}

fn drawn(run: &TimedRun, measure: Measure) -> Drawn {
    let point = &run.point;
    if let Some(counters) = point.counters.as_ref().filter(|_| !measure.is_timed()) {
        let each = |t: &gpu_core::emulator::Traffic| t.sectors as f64 / (t.requests.max(1)) as f64;
        return Drawn::Counted(match measure {
            Measure::LoadSectors => each(&counters.global_load),
            Measure::StoreSectors => each(&counters.global_store),
            Measure::BankConflicts => {
                (counters.shared_load.bank_conflicts + counters.shared_store.bank_conflicts) as f64
            }
            Measure::WarpInstructions => counters.warp_instructions as f64,
            _ => counters.global_load.bytes as f64,
        });
    }
    if !measure.is_timed() {
        return Drawn::NoTime;
    }
    if point.rejected.is_some() {
        return Drawn::Rejected;
    }
    // Nanoseconds to the measure; a shorter time is a higher share or rate.
    let convert = |ns: f64| match measure {
        Measure::Share => ceiling_ns(point).map(|ceiling| 100.0 * ceiling / ns),
        Measure::Rate => Some(amount(point) / ns * 1e9),
        _ => Some(ns),
    };
    let ordered = |a: f64, b: f64| Some((convert(a)?, convert(b)?)).map(|(a, b)| (a.min(b), a.max(b)));
    let found = match (&point.timing, &point.stats) {
        (Some(Timing::Modelled { low_ns, high_ns, .. }), _) => {
            ordered(*low_ns, *high_ns).map(|(low, high)| Drawn::Modelled { low, high })
        }
        (_, Some(stats)) => ordered(stats.p20_ns, stats.p80_ns)
            .and_then(|(low, high)| Some(Drawn::Measured { low, middle: convert(stats.median_ns)?, high })),
        _ => None,
    };
    found.unwrap_or(Drawn::NoTime)
}

/// The time that the measured ceiling allows for this point.
fn ceiling_ns(point: &BenchPoint) -> Option<f64> {
    Some(point.stats?.median_ns * point.share_of_ceiling?)
}

pub(super) fn amount(point: &BenchPoint) -> f64 {
    if point.bound.contains("copy") { point.bytes } else { point.flops }
}

/// A horizontal line: the reference kernel or the ceiling, from the newest run that has it.
fn level(runs: &[&TimedRun], measure: Measure, ns_of: impl Fn(&BenchPoint) -> Option<f64>) -> Option<f64> {
    let (point, ns) = runs.iter().rev().find_map(|run| Some((&run.point, ns_of(&run.point)?)))?;
    match measure {
        Measure::Share => Some(100.0 * ceiling_ns(point)? / ns),
        Measure::Time => Some(ns),
        Measure::Rate => Some(amount(point) / ns * 1e9),
        _ => None,
    }
}

/// Names of the sizes of these runs, and the one that is shown: the chosen one, else the last.
fn cases<'a>(state: &TimingPlotState, runs: &'a [TimedRun]) -> Option<(Vec<&'a str>, String)> {
    let mut cases: Vec<&str> = Vec::new();
    for run in runs {
        if !cases.contains(&run.point.name.as_str()) {
            cases.push(&run.point.name);
        }
    }
    let last = cases.last()?;
    let case = state.case.as_deref().filter(|case| cases.contains(case)).unwrap_or(last).to_owned();
    Some((cases, case))
}

/// What the plot shows as a table in CSV: the runs of the chosen size over the versions, else all of them.
pub fn table(state: &TimingPlotState, runs: &[TimedRun]) -> Option<String> {
    let (_, case) = cases(state, runs)?;
    let shown = |run: &&TimedRun| state.over != Over::Versions || run.point.name == case;
    Some(csv(&runs.iter().filter(shown).collect::<Vec<_>>()))
}

/// The runs of the size that is shown, and the quantity on the vertical axis: the chosen one where they have it.
fn shown<'a>(
    state: &TimingPlotState,
    runs: &'a [TimedRun],
    case: &str,
) -> (Vec<&'a TimedRun>, Measure, impl Fn(&Measure) -> bool + use<>) {
    let runs: Vec<&TimedRun> = runs.iter().filter(|run| run.point.name == case).collect();
    let timed = runs.iter().any(|run| run.point.timing.is_some() || run.point.stats.is_some());
    let counted = runs.iter().any(|run| run.point.counters.is_some());
    let fits = move |measure: &Measure| if measure.is_timed() { timed } else { counted };
    let fallback = if timed { Measure::Share } else { Measure::LoadSectors };
    let measure = state.measure.filter(fits).unwrap_or(fallback);
    (runs, measure, fits)
}

/// Points that the controls take at most beside the size's name, and for each letter of it.
const CONTROLS: (f32, f32) = (270.0, 7.0);

/// How wide the controls will be, in points, a little more rather than less.
pub fn controls_width(state: &TimingPlotState, runs: &[TimedRun]) -> f32 {
    cases(state, runs).map_or(0.0, |(_, case)| CONTROLS.0 + CONTROLS.1 * case.chars().count() as f32)
}

/// What is chosen of the plot: quantity, size, and the kind of axis. Nothing where there are no runs.
pub fn controls_ui(ui: &mut Ui, state: &mut TimingPlotState, runs: &[TimedRun]) {
    let Some((cases, case)) = cases(state, runs) else { return };
    let (_, measure, fits) = shown(state, runs, &case);
    ui.horizontal(|ui| {
        let shown = egui::ComboBox::from_id_salt("measure").selected_text(measure.title()).show_ui(ui, |ui| {
            for option in Measure::ALL.into_iter().filter(fits) {
                ui.selectable_value(&mut state.measure, Some(option), option.title());
            }
        });
        plot_kit::name_choice(&shown.response, "Quantity", measure.title());
        if cases.len() > 1 {
            let shown = egui::ComboBox::from_id_salt("case").selected_text(&case).show_ui(ui, |ui| {
                for option in &cases {
                    ui.selectable_value(&mut state.case, Some((*option).to_owned()), *option);
                }
            });
            plot_kit::name_choice(&shown.response, "Size", &case);
        } else {
            ui.label(RichText::new(&case).color(theme::tokens(ui).text_muted));
        }
        crate::widgets::tick::checkbox(ui, &mut state.log, "Log").on_hover_text("Logarithmic axis");
    });
}

/// Draws the plot in the available width, `height` points high with its controls. Gives the number of a run that was
/// clicked, to show its source.
pub fn show(ui: &mut Ui, state: &mut TimingPlotState, runs: &[TimedRun], height: f32) -> Option<u32> {
    let top = ui.cursor().top();
    controls_ui(ui, state, runs);
    plot_ui(ui, state, runs, height - (ui.cursor().top() - top))
}

/// The same without the controls.
pub fn plot_ui(ui: &mut Ui, state: &mut TimingPlotState, runs: &[TimedRun], height: f32) -> Option<u32> {
    let Some((_, case)) = cases(state, runs) else {
        plot_kit::empty_state(
            ui,
            height,
            "No runs yet",
            "Benchmark your kernel: each version becomes a point here, beside the reference and the ceiling.",
        );
        return None;
    };
    let (runs, measure, _) = shown(state, runs, &case);
    let top = ui.cursor().top();
    let others: Vec<&OtherTime> = state.others.iter().filter(|other| other.case == case).collect();
    let chart = Chart { runs: &runs, others: &others, measure, log: state.log };
    chart.legend_ui(ui);
    let clicked = chart.plot_ui(ui, plot_kit::height_left(ui, top, height));
    ui.label(RichText::new(chart.summary()).small().color(theme::tokens(ui).text_muted));
    clicked
}

/// Width in points that a dot with its bar needs.
const DOT_ROOM: f32 = 3.0;

/// Height in points of a bar's number with some air, and of the axis below the plot.
const LABEL_ROOM: f32 = 22.0;
const AXIS_ROOM: f32 = 62.0;

struct Chart<'a> {
    runs: &'a [&'a TimedRun],
    others: &'a [&'a OtherTime],
    measure: Measure,
    log: bool,
}

impl Chart<'_> {
    fn reference(&self) -> Option<f64> {
        level(self.runs, self.measure, |point| Some(point.reference?.median_ns))
    }

    fn ceiling(&self) -> Option<f64> {
        level(self.runs, self.measure, ceiling_ns)
    }

    /// Other programs' levels, in the unit of the axis; the runs tell what a time means as a share or rate.
    fn others(&self) -> impl Iterator<Item = (&OtherTime, f64)> {
        let value = |ns: f64| level(self.runs, self.measure, |point| point.stats.map(|_| ns));
        self.others.iter().filter_map(move |other| Some((*other, value(other.median_ns)?)))
    }

    /// Value to plot coordinate.
    fn y(&self, value: f64) -> f64 {
        if self.log { value.max(1e-12).log10() } else { value }
    }

    fn legend_ui(&self, ui: &mut Ui) {
        let tokens = theme::tokens(ui);
        let kinds: Vec<Drawn> = self.runs.iter().map(|run| drawn(run, self.measure)).collect();
        let has = |test: fn(&Drawn) -> bool| kinds.iter().any(test);
        plot_kit::legend(ui, |ui| {
            if has(|d| matches!(d, Drawn::Measured { .. })) {
                plot_kit::legend_entry(ui, Swatch::Measured, tokens.measured, "measured: median, p20 to p80");
            }
            if has(|d| matches!(d, Drawn::Modelled { .. })) {
                plot_kit::legend_entry(ui, Swatch::Hatched, tokens.modelled, "modelled interval, not measured");
            }
            if has(|d| matches!(d, Drawn::Counted(_))) {
                plot_kit::legend_entry(ui, Swatch::Bar, tokens.series[2], "counted exactly on the emulator");
            }
            if self.measure.is_timed() && has(|d| matches!(d, Drawn::NoTime)) {
                plot_kit::legend_entry(ui, Swatch::Hollow, tokens.text_faint, "emulator run: no time");
            }
            if self.measure.is_timed() && has(|d| matches!(d, Drawn::Rejected)) {
                plot_kit::legend_entry(ui, Swatch::Cross, tokens.fail, "rejected");
            }
            if self.reference().is_some() {
                plot_kit::legend_entry(ui, Swatch::Dashed, tokens.reference, "reference kernel");
            }
            for (index, (other, _)) in self.others().enumerate() {
                let text = format!("{}, measured on {}", other.name, other.device);
                plot_kit::legend_entry(ui, Swatch::Dashed, tokens.series[(index + 4) % tokens.series.len()], &text);
            }
            if self.ceiling().is_some() {
                let bound = self.runs.last().map_or("", |run| run.point.bound.as_str());
                let text = format!("ceiling of this machine ({bound}), measured");
                plot_kit::legend_entry(ui, Swatch::Solid, tokens.ceiling, &text);
            }
        });
    }

    /// Draws axes and marks; returns the number of a run that was clicked.
    fn plot_ui(&self, ui: &mut Ui, height: f32) -> Option<u32> {
        let tokens = theme::tokens(ui);
        let first = self.runs.first().map_or(1.0, |run| f64::from(run.number));
        let last = self.runs.last().map_or(1.0, |run| f64::from(run.number));
        let sample = self.runs.last().map(|run| &run.point)?;
        let (measure, log) = (self.measure, self.log);
        let mut plot = Plot::new("timing")
            .height(height)
            .allow_scroll(false)
            .allow_drag(false)
            .allow_boxed_zoom(false)
            .allow_zoom(false)
            .show_crosshair(false)
            .grid_color(tokens.grid)
            .label_formatter(|_| None)
            .include_x(first - 0.7)
            .include_x(last.max(first + 2.0) + 0.7)
            .x_axis_label("run")
            .x_grid_spacer(|input| {
                let step = ((input.bounds.1 - input.bounds.0) / 20.0).ceil().max(1.0);
                let from = (input.bounds.0 / step).ceil() as i64;
                let to = (input.bounds.1 / step).floor() as i64;
                (from..=to).map(|i| GridMark { value: i as f64 * step, step_size: step }).collect()
            })
            .x_axis_formatter(move |mark, _| {
                let run = mark.value.round();
                if run >= first && run <= last { format!("{run:.0}") } else { String::new() }
            })
            .y_axis_formatter(move |mark, _| {
                let value = if log { 10f64.powf(mark.value) } else { mark.value };
                if log && !plot_kit::is_labelled(&mark) || !log && value < 0.0 {
                    return String::new();
                }
                measure.show(value, sample)
            })
            .y_axis_min_width(64.0);
        if log {
            plot = plot.y_grid_spacer(|input| plot_kit::decades(&input));
        } else {
            plot = plot.include_y(0.0);
        }
        let mut levels: Vec<f64> = self.reference().into_iter().chain(self.ceiling()).collect();
        levels.extend(self.others().map(|(_, value)| value));
        for run in self.runs {
            match drawn(run, self.measure) {
                Drawn::Measured { low, high, .. } | Drawn::Modelled { low, high } => levels.extend([low, high]),
                Drawn::Counted(value) => levels.push(value),
                Drawn::NoTime | Drawn::Rejected => {}
            }
        }
        let top = levels.iter().copied().fold(0.0, f64::max);
        // The two ends alone: a long history has thousands of values.
        let low = levels.iter().copied().fold(f64::INFINITY, f64::min);
        for value in [low, top].into_iter().filter(|value| value.is_finite() && !levels.is_empty()) {
            plot = plot.include_y(self.y(value));
        }
        if top > 0.0 {
            // Above the highest bar is room for its number.
            let bottom = if log { self.y(low) } else { 0.0 };
            let span = (self.y(top) - bottom).max(if log { 0.2 } else { 0.0 });
            plot = plot.include_y(self.y(top) + span * f64::from(LABEL_ROOM / (height - AXIS_ROOM).max(LABEL_ROOM)));
        } else {
            plot = plot.include_y(self.y(1.0));
        }
        let shown = plot.show(ui, |_| ());
        let painter = ui.painter_at(shown.response.rect);
        plot_kit::settle(ui, "timing", shown.transform.frame());
        let marks = self.paint(&painter, &shown.transform, shown.response.rect, tokens);
        shown.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Figure, true, self.summary()));

        let pointer = shown.response.hover_pos()?;
        let nearest = marks.iter().min_by(|a, b| a.0.distance(pointer).total_cmp(&b.0.distance(pointer)))?;
        if nearest.0.distance(pointer) > 24.0 {
            return None;
        }
        painter.circle_stroke(nearest.0, 7.0, Stroke::new(1.5, tokens.accent));
        let run = nearest.1;
        let clicked = shown.response.clicked();
        shown.response.on_hover_text_at_pointer(self.detail(run));
        clicked.then_some(run.number)
    }

    /// Paints lines and marks; returns where each run is.
    fn paint(
        &self,
        painter: &egui::Painter,
        transform: &PlotTransform,
        rect: Rect,
        tokens: &Tokens,
    ) -> Vec<(Pos2, &TimedRun)> {
        let at = |x: f64, y: f64| transform.position_from_point(&PlotPoint::new(x, self.y(y)));
        if let Some(ceiling) = self.ceiling() {
            painter.hline(rect.x_range(), at(0.0, ceiling).y, Stroke::new(2.0, tokens.ceiling));
        }
        if let Some(reference) = self.reference() {
            let y = at(0.0, reference).y;
            let stroke = Stroke::new(1.5, tokens.reference);
            plot_kit::dashed(painter, pos2(rect.left(), y), pos2(rect.right(), y), stroke);
        }
        for (index, (_, value)) in self.others().enumerate() {
            let y = at(0.0, value).y;
            let stroke = Stroke::new(1.5, tokens.series[(index + 4) % tokens.series.len()]);
            plot_kit::dashed(painter, pos2(rect.left(), y), pos2(rect.right(), y), stroke);
        }
        let mut marks = Vec::with_capacity(self.runs.len());
        // More runs than there is room for dots: one bar for each column of pixels, from the lowest to the highest.
        let dense = self.runs.len() as f32 * DOT_ROOM > rect.width();
        let mut column: Option<(Pos2, Pos2)> = None;
        let mut previous: Option<Pos2> = None;
        for run in self.runs {
            let x = f64::from(run.number);
            let bottom = pos2(at(x, 1.0).x, rect.bottom() - 10.0);
            match drawn(run, self.measure) {
                Drawn::Measured { low, middle, high } => {
                    let color = tokens.measured;
                    let (low, middle, high) = (at(x, low), at(x, middle), at(x, high));
                    if dense {
                        marks.push((middle, *run));
                        column = match column {
                            Some((from, to)) if low.x - from.x < 1.0 => {
                                Some((pos2(from.x, from.y.max(low.y)), pos2(from.x, to.y.min(high.y))))
                            }
                            full => {
                                if let Some((from, to)) = full {
                                    painter.line_segment([from, to], Stroke::new(1.0, color));
                                }
                                Some((pos2(low.x, low.y.max(high.y)), pos2(low.x, low.y.min(high.y))))
                            }
                        };
                        continue;
                    }
                    if let Some(previous) = previous {
                        painter.line_segment([previous, middle], Stroke::new(1.0, color.gamma_multiply(0.5)));
                    }
                    previous = Some(middle);
                    painter.line_segment([low, high], Stroke::new(2.0, color));
                    for end in [low, high] {
                        painter.hline(end.x - 4.0..=end.x + 4.0, end.y, Stroke::new(2.0, color));
                    }
                    if run.point.caveats.is_empty() {
                        painter.circle_filled(middle, 4.5, color);
                    } else {
                        painter.circle(middle, 4.5, tokens.inset, Stroke::new(2.0, color));
                    }
                    marks.push((middle, *run));
                }
                Drawn::Modelled { low, high } => {
                    let area = Rect::from_two_pos(at(x, low), at(x, high)).expand2(vec2(9.0, 0.0));
                    plot_kit::hatch(painter, area, tokens.modelled);
                    marks.push((area.center(), *run));
                }
                Drawn::Counted(value) => {
                    let top = at(x, value);
                    let base = if self.log { rect.bottom() } else { at(x, 0.0).y };
                    let bar = Rect::from_x_y_ranges(top.x - 9.0..=top.x + 9.0, top.y.min(base)..=base);
                    painter.rect_filled(bar, 2.0, tokens.series[2]);
                    let label = self.measure.show(value, &run.point);
                    let font = FontId::proportional(theme::font_size::SMALL);
                    painter.text(pos2(top.x, top.y - 3.0), Align2::CENTER_BOTTOM, label, font, tokens.text_muted);
                    marks.push((top, *run));
                }
                Drawn::NoTime => {
                    painter.circle_stroke(bottom, 3.5, Stroke::new(1.5, tokens.text_faint));
                    marks.push((bottom, *run));
                }
                Drawn::Rejected => {
                    let font = FontId::proportional(theme::font_size::BODY);
                    painter.text(bottom, Align2::CENTER_CENTER, "✖", font, tokens.fail);
                    marks.push((bottom, *run));
                }
            }
        }
        if let Some((from, to)) = column {
            painter.line_segment([from, to], Stroke::new(1.0, tokens.measured));
        }
        marks
    }

    /// Everything known of one run, a line each.
    fn detail(&self, run: &TimedRun) -> String {
        let point = &run.point;
        let mut lines = vec![format!("Run {} on {}, {}", run.number, run.device, point.name)];
        match (&point.rejected, &point.timing, &point.stats) {
            (Some(reason), ..) => lines.push(format!("Rejected: {reason}")),
            (None, Some(Timing::Modelled { low_ns, high_ns, bound_by }), _) => lines.push(format!(
                "Modelled, not measured: {} to {}, bound by {bound_by}",
                plot_kit::time_ns(*low_ns),
                plot_kit::time_ns(*high_ns)
            )),
            (None, _, Some(stats)) => {
                if let Some(share) = point.share_of_ceiling {
                    lines.push(format!("{} % of the ceiling ({})", plot_kit::digits(share * 100.0), point.bound));
                }
                lines.push(format!(
                    "Median {}, p20 to p80 {} to {}, {} samples",
                    plot_kit::time_ns(stats.median_ns),
                    plot_kit::time_ns(stats.p20_ns),
                    plot_kit::time_ns(stats.p80_ns),
                    stats.samples
                ));
                lines.push(plot_kit::si(amount(point) / stats.median_ns * 1e9, rate_unit(point)));
            }
            (None, _, None) => lines.push("Counted on the emulator: no time was measured".to_owned()),
        }
        if !self.measure.is_timed()
            && let Drawn::Counted(value) = drawn(run, self.measure)
        {
            lines.push(format!("{}: {}", self.measure.title(), self.measure.show(value, point)));
        }
        // Without a time the one caveat is that there is none, which was said.
        lines.extend(point.caveats.iter().filter(|_| point.stats.is_some()).map(|why| format!("Doubtful: {why}")));
        lines.join("\n")
    }

    /// The newest run that is drawn, in words: under the plot and for screen readers.
    fn summary(&self) -> String {
        let has_value = |run: &&&TimedRun| !matches!(drawn(run, self.measure), Drawn::NoTime | Drawn::Rejected);
        let newest = self.runs.iter().rfind(has_value).or(self.runs.last());
        newest.map(|run| self.detail(run).replace('\n', ". ") + ".").unwrap_or_default()
    }
}
