//! The history of a kernel's runs beside the reference and this machine's measured ceiling.
//!
//! Measured times are dots with a bar from the 20th to the 80th percentile. Modelled times are hatched intervals. Runs
//! on the emulator have counters and no time: they get a plot of their own and never a place on a time axis.

mod chart;
mod csv;
mod shown;

pub use shown::Runs;

use crate::theme;
use crate::widgets::{plot_kit, sentence};
use chart::Chart;
use csv::csv;
use egui::{RichText, Ui};
use gpu_core::bench::{BenchPoint, BenchReport};
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

pub(super) fn amount(point: &BenchPoint) -> f64 {
    if point.bound.contains("copy") { point.bytes } else { point.flops }
}

/// The size that is shown: the chosen one, else the last that came. None where there are no runs.
fn case<'a>(state: &TimingPlotState, runs: &'a Runs) -> Option<&'a str> {
    let cases = runs.cases();
    let chosen = state.case.as_ref().and_then(|case| cases.iter().find(|known| *known == case));
    chosen.or(cases.last()).map(String::as_str)
}

/// What the plot shows as a table in CSV: the runs of the chosen size over the versions, else all of them.
pub fn table(state: &TimingPlotState, runs: &Runs) -> Option<String> {
    let case = case(state, runs)?;
    let shown = |run: &&TimedRun| state.over != Over::Versions || run.point.name == case;
    Some(csv(&runs.iter().filter(shown).collect::<Vec<_>>()))
}

/// Points that the controls take at most beside the size's name, and for each letter of it.
const CONTROLS: (f32, f32) = (270.0, 7.0);

/// How wide the controls will be, in points, a little more rather than less.
pub fn controls_width(state: &TimingPlotState, runs: &Runs) -> f32 {
    case(state, runs).map_or(0.0, |case| CONTROLS.0 + CONTROLS.1 * case.chars().count() as f32)
}

/// What is chosen of the plot: quantity, size, and the kind of axis. Nothing where there are no runs.
pub fn controls_ui(ui: &mut Ui, state: &mut TimingPlotState, runs: &Runs) {
    let Some(case) = case(state, runs) else { return };
    let shown = runs.shown(case, state.measure);
    let measure = shown.measure;
    ui.horizontal(|ui| {
        let combo = egui::ComboBox::from_id_salt("measure").selected_text(measure.title()).show_ui(ui, |ui| {
            for option in Measure::ALL.into_iter().filter(|option| shown.fits(*option)) {
                ui.selectable_value(&mut state.measure, Some(option), option.title());
            }
        });
        plot_kit::name_choice(&combo.response, "Quantity", measure.title());
        if runs.cases().len() > 1 {
            let combo = egui::ComboBox::from_id_salt("case").selected_text(sentence::numbers(case)).show_ui(ui, |ui| {
                for option in runs.cases() {
                    ui.selectable_value(&mut state.case, Some(option.clone()), sentence::numbers(option));
                }
            });
            plot_kit::name_choice(&combo.response, "Size", case);
        } else {
            ui.label(RichText::new(sentence::numbers(case)).color(theme::tokens(ui).text_muted));
        }
        crate::widgets::tick::checkbox(ui, &mut state.log, "Log").on_hover_text("Logarithmic axis");
    });
}

/// Draws the plot in the available width, `height` points high with its controls. Gives the number of a run that was
/// clicked, to show its source.
pub fn show(ui: &mut Ui, state: &mut TimingPlotState, runs: &Runs, height: f32) -> Option<u32> {
    let top = ui.cursor().top();
    controls_ui(ui, state, runs);
    plot_ui(ui, state, runs, height - (ui.cursor().top() - top))
}

/// The same without the controls.
pub fn plot_ui(ui: &mut Ui, state: &mut TimingPlotState, runs: &Runs, height: f32) -> Option<u32> {
    let Some(case) = case(state, runs) else {
        plot_kit::empty_state(
            ui,
            height,
            "No runs yet",
            "Benchmark your kernel: each version becomes a point here, beside the reference and the ceiling.",
        );
        return None;
    };
    let shown = runs.shown(case, state.measure);
    let top = ui.cursor().top();
    let others: Vec<&OtherTime> = state.others.iter().filter(|other| other.case == case).collect();
    let chart = Chart { runs, shown: &shown, others: &others, log: state.log };
    chart.legend_ui(ui);
    let clicked = chart.plot_ui(ui, plot_kit::height_left(ui, top, height));
    ui.label(RichText::new(chart.summary()).small().color(theme::tokens(ui).text_muted));
    clicked
}
