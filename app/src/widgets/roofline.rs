//! The roofline: what a kernel reached against what this machine was measured to allow at that arithmetic intensity
//! (Williams, Waterman and Patterson, 2009). Both axes are logarithmic.

use crate::theme::{self, Tokens, font_size};
use crate::widgets::plot_kit::{self, Swatch};
use egui::{Align2, FontId, Pos2, Rect, RichText, Stroke, Ui, pos2};
use egui_plot::{Plot, PlotPoint, PlotTransform};
use gpu_core::bench::Ceilings;

/// One kernel on the roofline.
#[derive(Clone, Debug, PartialEq)]
pub struct RooflinePoint {
    /// For example `run 3` or `reference`.
    pub name: String,
    /// Operations and fewest bytes of global memory of one launch.
    pub flops: f64,
    pub bytes: f64,
    /// None for a run on the emulator: it has an intensity and no speed, and is drawn as a line, not as a point.
    pub median_ns: Option<f64>,
    /// The learner's newest run is drawn larger.
    pub newest: bool,
}

impl RooflinePoint {
    /// Operations per byte of global memory.
    pub fn intensity(&self) -> f64 {
        self.flops / self.bytes
    }

    /// Operations per second.
    pub fn speed(&self) -> Option<f64> {
        Some(self.flops / self.median_ns? * 1e9)
    }
}

/// What the machine allows at an intensity, in operations per second.
pub fn roof(ceilings: &Ceilings, intensity: f64) -> f64 {
    (ceilings.copy_bytes_per_s * intensity).min(ceilings.fp32_flops)
}

/// Draws the roofline in the available width. Points that lack work or bytes are left out.
pub fn show(ui: &mut Ui, ceilings: Option<&Ceilings>, points: &[RooflinePoint], height: f32) {
    let Some(ceilings) = ceilings.filter(|c| c.copy_bytes_per_s > 0.0 && c.fp32_flops > 0.0) else {
        plot_kit::empty_state(
            ui,
            height,
            "No measured ceilings",
            "Measure this machine's copy bandwidth and FP32 rate on a GPU, and its roof is drawn here.",
        );
        return;
    };
    let points: Vec<&RooflinePoint> = points.iter().filter(|p| p.flops > 0.0 && p.bytes > 0.0).collect();
    let tokens = theme::tokens(ui);
    let top = ui.cursor().top();
    plot_kit::legend(ui, |ui| {
        plot_kit::legend_entry(ui, Swatch::Solid, tokens.ceiling, "ceilings, measured on this machine");
        if points.iter().any(|p| p.median_ns.is_some()) {
            plot_kit::legend_entry(ui, Swatch::Measured, tokens.measured, "your runs, measured");
        }
        if points.iter().any(|p| p.median_ns.is_none()) {
            plot_kit::legend_entry(ui, Swatch::Dashed, tokens.modelled, "intensity only: no time was measured");
        }
    });
    let ridge = ceilings.fp32_flops / ceilings.copy_bytes_per_s;
    let intensities = points.iter().map(|p| p.intensity());
    let low = intensities.clone().fold(ridge / 30.0, f64::min).log10() - 0.3;
    let high = intensities.fold(ridge * 10.0, f64::max).log10() + 0.3;
    let slowest = points.iter().filter_map(|p| p.speed()).fold(roof(ceilings, 10f64.powf(low)), f64::min);
    let shown = Plot::new("roofline")
        .height(plot_kit::height_left(ui, top, height))
        .allow_scroll(false)
        .allow_drag(false)
        .allow_boxed_zoom(false)
        .allow_zoom(false)
        .show_crosshair(false)
        .grid_color(tokens.grid)
        .label_formatter(|_| None)
        .include_x(low)
        .include_x(high)
        .include_y(slowest.log10() - 0.2)
        .include_y(ceilings.fp32_flops.log10() + 0.4)
        .x_grid_spacer(|input| plot_kit::decades(&input))
        .y_grid_spacer(|input| plot_kit::decades(&input))
        .x_axis_label("arithmetic intensity, FLOP per byte")
        .x_axis_formatter(
            |mark, _| {
                if plot_kit::is_labelled(&mark) { trim(10f64.powf(mark.value)) } else { String::new() }
            },
        )
        .y_axis_formatter(|mark, _| {
            if plot_kit::is_labelled(&mark) { plot_kit::si(10f64.powf(mark.value), "FLOP/s") } else { String::new() }
        })
        .y_axis_min_width(84.0)
        .show(ui, |_| ());
    let words = describe(ceilings, &points);
    shown.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Figure, true, &words));
    let painter = ui.painter_at(shown.response.rect);
    plot_kit::settle(ui, "roofline", shown.transform.frame());
    let marks = paint(&painter, &shown.transform, shown.response.rect, ceilings, &points, tokens);
    if let Some(pointer) = shown.response.hover_pos() {
        let nearest = marks.iter().min_by(|a, b| a.0.distance(pointer).total_cmp(&b.0.distance(pointer)));
        let text = match nearest {
            Some((at, point)) if at.distance(pointer) < 20.0 => sentence(ceilings, point),
            _ => {
                let here = shown.transform.value_from_position(pointer);
                let intensity = 10f64.powf(here.x);
                let most = plot_kit::si(roof(ceilings, intensity), "FLOP/s");
                format!("{} FLOP per byte: at most {most}", plot_kit::digits(intensity))
            }
        };
        shown.response.on_hover_text_at_pointer(text);
    }
    ui.label(RichText::new(words).small().color(tokens.text_muted));
}

fn trim(value: f64) -> String {
    if value >= 1.0 { format!("{value:.0}") } else { format!("{value:.6}").trim_end_matches('0').to_owned() }
}

fn paint<'a>(
    painter: &egui::Painter,
    transform: &PlotTransform,
    rect: Rect,
    ceilings: &Ceilings,
    points: &[&'a RooflinePoint],
    tokens: &Tokens,
) -> Vec<(Pos2, &'a RooflinePoint)> {
    let at = |x: f64, y: f64| transform.position_from_point(&PlotPoint::new(x.log10(), y.log10()));
    let small = FontId::proportional(font_size::SMALL);
    let ridge = ceilings.fp32_flops / ceilings.copy_bytes_per_s;
    let bounds = transform.bounds();
    let (left, right) = (10f64.powf(bounds.min()[0]), 10f64.powf(bounds.max()[0]));
    let corner = at(ridge, ceilings.fp32_flops);
    let stroke = Stroke::new(2.0, tokens.ceiling);
    let from = at(left, ceilings.copy_bytes_per_s * left);
    painter.line_segment([from, corner], stroke);
    painter.line_segment([corner, at(right, ceilings.fp32_flops)], stroke);
    painter.circle_filled(corner, 3.0, tokens.ceiling);
    let flat = format!("FP32 {}", plot_kit::si(ceilings.fp32_flops, "FLOP/s"));
    painter.text(
        pos2(rect.right() - 6.0, corner.y - 4.0),
        Align2::RIGHT_BOTTOM,
        flat,
        small.clone(),
        tokens.text_muted,
    );
    // The label of the slope stands above the line's left part, inside the plot.
    let third = pos2(from.x + (corner.x - from.x) * 0.3, from.y + (corner.y - from.y) * 0.3);
    let slope = format!("copy {}", plot_kit::si(ceilings.copy_bytes_per_s, "B/s"));
    painter.text(third + egui::vec2(-8.0, -8.0), Align2::RIGHT_BOTTOM, slope, small.clone(), tokens.text_muted);

    let mut marks = Vec::new();
    for point in points {
        let x = point.intensity();
        let top = at(x, roof(ceilings, x));
        match point.speed() {
            Some(speed) => {
                let here = at(x, speed);
                // The gap to the roof is what there is to win.
                plot_kit::dashed(painter, here, top, Stroke::new(1.0, tokens.measured.gamma_multiply(0.6)));
                let radius = if point.newest { 6.0 } else { 4.0 };
                painter.circle_filled(here, radius, tokens.measured);
                let place = here + egui::vec2(radius + 4.0, 0.0);
                painter.text(place, Align2::LEFT_CENTER, &point.name, small.clone(), tokens.text);
                marks.push((here, *point));
            }
            None => {
                let bottom = pos2(top.x, rect.bottom());
                plot_kit::dashed(painter, bottom, top, Stroke::new(1.5, tokens.modelled));
                let place = pos2(top.x + 5.0, rect.bottom() - 4.0);
                painter.text(place, Align2::LEFT_BOTTOM, &point.name, small.clone(), tokens.text);
                marks.push((top, *point));
            }
        }
    }
    marks
}

fn sentence(ceilings: &Ceilings, point: &RooflinePoint) -> String {
    let intensity = point.intensity();
    let most = roof(ceilings, intensity);
    let bound = if ceilings.copy_bytes_per_s * intensity < ceilings.fp32_flops { "memory" } else { "arithmetic" };
    let intensity = plot_kit::digits(intensity);
    match point.speed() {
        Some(speed) => format!(
            "{}: {intensity} FLOP per byte, {}, {} % of what this machine allows there; bound by {bound}",
            point.name,
            plot_kit::si(speed, "FLOP/s"),
            plot_kit::digits(100.0 * speed / most),
        ),
        None => format!(
            "{}: {intensity} FLOP per byte; at most {} on this machine, bound by {bound}; no time was measured",
            point.name,
            plot_kit::si(most, "FLOP/s"),
        ),
    }
}

fn describe(ceilings: &Ceilings, points: &[&RooflinePoint]) -> String {
    let newest = points.iter().rev().find(|point| point.newest).or(points.last());
    let machine = format!("{}, measured {}", ceilings.device, ceilings.date);
    match newest {
        Some(point) => format!("{}. {machine}.", sentence(ceilings, point)),
        None => format!("{machine}. Run a kernel with a benchmark to see where it stands."),
    }
}
