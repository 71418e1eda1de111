//! One version of a kernel over the sizes that were timed: where it begins to fill the machine, and how it compares
//! with the reference there. Both axes are logarithmic.

use super::timing_plot::{Measure, TimedRun, rate_unit};
use crate::theme;
use crate::widgets::plot_kit::{self, Swatch};
use egui::{Pos2, RichText, Stroke, Ui};
use egui_plot::{Plot, PlotPoint};
use gpu_core::bench::{BenchPoint, Stats};

/// The size that a case's name tells: the product of its numbers (`n = 1024`, `1024 × 512`, `m = 8, n = 16`).
pub fn size_of(name: &str) -> Option<f64> {
    let mut numbers = name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<f64>().ok());
    let first = numbers.next()?;
    Some(numbers.fold(first, |size, number| size * number.max(1.0))).filter(|size| *size > 0.0)
}

/// A time at a size.
struct Timed<'a> {
    size: f64,
    point: &'a BenchPoint,
    stats: Stats,
}

/// Draws the newest run that has times at two sizes or more, `height` points high. Only measured times are drawn.
pub fn show(ui: &mut Ui, runs: &[TimedRun], measure: Measure, height: f32) {
    let t = theme::tokens(ui);
    // The sizes of a run stand together.
    let newest =
        runs.chunk_by(|a, b| a.number == b.number).rev().find(|sizes| sizes.len() > 1 && timed(sizes).len() > 1);
    let Some(newest) = newest else {
        return plot_kit::empty_state(
            ui,
            height,
            "No sizes to compare",
            "Benchmark on a GPU: a run times several sizes, and each becomes a point here.",
        );
    };
    let top = ui.cursor().top();
    let (number, own) = (newest[0].number, timed(newest));
    let value = |ns: f64, point: &BenchPoint| match measure {
        Measure::Rate => super::timing_plot::amount(point) / ns * 1e9,
        Measure::Share => point
            .share_of_ceiling
            .map_or(f64::NAN, |share| point.stats.map_or(f64::NAN, |stats| 100.0 * share * stats.median_ns / ns)),
        _ => ns,
    };
    let reference: Vec<(f64, f64)> = own
        .iter()
        .filter_map(|timed| Some((timed.size, value(timed.point.reference?.median_ns, timed.point))))
        .filter(|(_, value)| *value > 0.0)
        .collect();
    plot_kit::legend(ui, |ui| {
        plot_kit::legend_entry(
            ui,
            Swatch::Measured,
            t.measured,
            &format!("run {number}, measured: median, p20 to p80"),
        );
        if !reference.is_empty() {
            plot_kit::legend_entry(ui, Swatch::Dashed, t.reference, "reference kernel, measured");
        }
    });
    let unit = own.first().map_or("", |timed| rate_unit(timed.point));
    let show = move |value: f64| match measure {
        Measure::Rate => plot_kit::si(value, unit),
        Measure::Share => format!("{} %", plot_kit::short(value)),
        _ => plot_kit::time_ns(value),
    };
    let mut plot = Plot::new("scaling")
        .height(plot_kit::height_left(ui, top, height))
        .allow_scroll(false)
        .allow_drag(false)
        .allow_boxed_zoom(false)
        .allow_zoom(false)
        .show_crosshair(false)
        .grid_color(t.grid)
        .label_formatter(|_| None)
        .x_axis_label("size")
        .x_grid_spacer(|input| plot_kit::decades(&input))
        .y_grid_spacer(|input| plot_kit::decades(&input))
        .x_axis_formatter(|mark, _| {
            if plot_kit::is_labelled(&mark) { plot_kit::si(10f64.powf(mark.value), "") } else { String::new() }
        })
        .y_axis_formatter(
            move |mark, _| {
                if plot_kit::is_labelled(&mark) { show(10f64.powf(mark.value)) } else { String::new() }
            },
        )
        .y_axis_min_width(64.0);
    let bars = own.iter().map(|timed| {
        let at = |ns| value(ns, timed.point);
        (timed, at(timed.stats.p20_ns), at(timed.stats.median_ns), at(timed.stats.p80_ns))
    });
    let bars: Vec<_> = bars.filter(|(_, a, b, c)| [a, b, c].iter().all(|value| **value > 0.0)).collect();
    for (timed, low, _, high) in &bars {
        plot = plot.include_x(timed.size.log10() - 0.1).include_x(timed.size.log10() + 0.1);
        plot = plot.include_y(low.log10() - 0.1).include_y(high.log10() + 0.1);
    }
    for (_, value) in &reference {
        plot = plot.include_y(value.log10());
    }
    let shown = plot.show(ui, |_| ());
    let painter = ui.painter_at(shown.response.rect);
    plot_kit::settle(ui, "scaling", shown.transform.frame());
    let at = |x: f64, y: f64| shown.transform.position_from_point(&PlotPoint::new(x.log10(), y.log10()));
    for pair in reference.windows(2) {
        let [a, b] = [pair[0], pair[1]].map(|(x, y)| at(x, y));
        plot_kit::dashed(&painter, a, b, Stroke::new(1.5, t.reference));
    }
    let mut marks: Vec<(Pos2, String)> = Vec::new();
    for (timed, low, middle, high) in &bars {
        let [low_at, middle_at, high_at] = [low, middle, high].map(|value| at(timed.size, *value));
        if let Some((previous, _)) = marks.last() {
            painter.line_segment([*previous, middle_at], Stroke::new(1.0, t.measured.gamma_multiply(0.5)));
        }
        painter.line_segment([low_at, high_at], Stroke::new(2.0, t.measured));
        painter.circle_filled(middle_at, 4.5, t.measured);
        let detail = format!("{}: {}, p20 to p80 {} to {}", timed.point.name, show(*middle), show(*low), show(*high));
        marks.push((middle_at, detail));
    }
    let words: Vec<&str> = marks.iter().map(|(_, detail)| detail.as_str()).collect();
    let summary = format!("Run {number} over sizes. {}.", words.join(". "));
    shown.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Figure, true, &summary));
    ui.label(RichText::new(summary).small().color(t.text_muted));
    let near = shown.response.hover_pos().and_then(|pointer| {
        let nearest = marks.iter().min_by(|a, b| a.0.distance(pointer).total_cmp(&b.0.distance(pointer)))?;
        (nearest.0.distance(pointer) < 24.0).then_some(nearest)
    });
    if let Some((at, detail)) = near {
        painter.circle_stroke(*at, 7.0, Stroke::new(1.5, t.accent));
        shown.response.on_hover_text_at_pointer(detail);
    }
}

/// The measured sizes of a run, smallest first.
fn timed(sizes: &[TimedRun]) -> Vec<Timed<'_>> {
    let own = sizes.iter().filter(|run| run.point.rejected.is_none());
    let timed = |run: &'_ TimedRun| Some((size_of(&run.point.name)?, run.point.stats?));
    let mut found: Vec<Timed<'_>> =
        own.filter_map(|run| timed(run).map(|(size, stats)| Timed { size, point: &run.point, stats })).collect();
    found.sort_by(|a, b| a.size.total_cmp(&b.size));
    found
}

#[cfg(test)]
mod tests {
    use super::size_of;

    #[test]
    fn sizes_are_read_from_case_names() {
        for (name, size) in [
            ("n = 1048576", Some(1_048_576.0)),
            ("1024 × 512", Some(524_288.0)),
            ("m = 8, n = 16, k = 2", Some(256.0)),
            ("small", None),
            ("n = 0", None),
        ] {
            assert_eq!(size_of(name), size, "{name}");
        }
    }
}
