//! Axes, lines and marks of the history of a kernel's runs.

use super::shown::{self, Column, Drawn, Place, Shown};
use super::{OtherTime, Runs, TimedRun, amount, rate_unit};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit::{self, Swatch};
use egui::{Align2, FontId, Galley, Pos2, Rect, Stroke, Ui, pos2, vec2};
use egui_plot::{AxisHints, Plot, PlotPoint, PlotTransform};
use gpu_core::bench::Timing;
use std::rc::Rc;
use std::sync::Arc;

/// Width in points that a dot with its bar needs.
const DOT_ROOM: f32 = 3.0;

/// Height in points of a bar's number with some air, and of the axis below the plot.
const LABEL_ROOM: f32 = 22.0;
const AXIS_ROOM: f32 = 62.0;

/// Width in points of the vertical axis, and what two numbers of the axis below stand apart at least.
const SIDE_ROOM: f32 = 64.0;
const NUMBER_ROOM: f32 = 48.0;

/// What two numbers of the axis at the side stand apart at least.
const LINE_ROOM: f32 = 24.0;

/// Where a run's mark is; of a measured time its low, middle and high end.
enum Mark {
    Bar([Pos2; 3]),
    At(Pos2),
}

impl Mark {
    /// Where the pointer finds it.
    fn middle(&self) -> Pos2 {
        match self {
            Mark::Bar([_, middle, _]) => *middle,
            Mark::At(at) => *at,
        }
    }
}

pub(super) struct Chart<'a> {
    pub runs: &'a Runs,
    pub shown: &'a Shown,
    pub others: &'a [&'a OtherTime],
    pub log: bool,
}

impl Chart<'_> {
    /// Other programs' levels, in the unit of the axis; the runs tell what a time means as a share or rate.
    fn others(&self) -> impl Iterator<Item = (&OtherTime, f64)> {
        let point = self.shown.newest_timed.map(|at| &self.runs[at].point);
        self.others
            .iter()
            .filter_map(move |other| Some((*other, shown::level(point?, self.shown.measure, other.median_ns)?)))
    }

    /// The newest run of this size.
    fn last(&self) -> Option<&TimedRun> {
        self.shown.drawn.last().map(|(at, ..)| &self.runs[*at])
    }

    /// Value to plot coordinate.
    fn y(&self, value: f64) -> f64 {
        if self.log { value.max(1e-12).log10() } else { value }
    }

    pub fn legend_ui(&self, ui: &mut Ui) {
        let tokens = theme::tokens(ui);
        let has = |like: Drawn| self.shown.has(like);
        let timed = self.shown.measure.is_timed();
        plot_kit::legend(ui, |ui| {
            if has(Drawn::MEASURED) {
                plot_kit::legend_entry(ui, Swatch::Measured, tokens.measured, "measured: median, p20 to p80");
            }
            if has(Drawn::MODELLED) {
                plot_kit::legend_entry(ui, Swatch::Hatched, tokens.modelled, "modeled interval, not measured");
            }
            if has(Drawn::COUNTED) {
                plot_kit::legend_entry(ui, Swatch::Bar, tokens.series[2], "counted exactly on the emulator");
            }
            if timed && has(Drawn::NoTime) {
                plot_kit::legend_entry(ui, Swatch::Hollow, tokens.text_faint, "emulator run: no time");
            }
            if timed && has(Drawn::Rejected) {
                plot_kit::legend_entry(ui, Swatch::Cross, tokens.fail, "rejected");
            }
            if self.shown.reference.is_some() {
                plot_kit::legend_entry(ui, Swatch::Dashed, tokens.reference, "reference kernel");
            }
            if self.shown.least.is_some() {
                plot_kit::legend_entry(ui, Swatch::Dashed, tokens.ceiling, "least possible");
            }
            for (index, (other, _)) in self.others().enumerate() {
                let text = format!("{}, measured on {}", other.name, other.device);
                plot_kit::legend_entry(ui, Swatch::Dashed, tokens.series[(index + 4) % tokens.series.len()], &text);
            }
            if self.shown.ceiling.is_some() {
                let bound = self.last().map_or("", |run| run.point.bound.as_str());
                let text = format!("ceiling of this machine ({bound}), measured");
                plot_kit::legend_entry(ui, Swatch::Solid, tokens.ceiling, &text);
            }
        });
    }

    /// Draws axes and marks; returns the number of a run that was clicked.
    pub fn plot_ui(&self, ui: &mut Ui, height: f32) -> Option<u32> {
        let tokens = theme::tokens(ui);
        let number = |run: Option<&(usize, u32, Drawn)>| run.map_or(1.0, |(_, number, _)| f64::from(*number));
        let first = number(self.shown.drawn.first());
        let last = number(self.shown.drawn.last());
        let sample = &self.last()?.point;
        let (measure, log) = (self.shown.measure, self.log);
        let until = last.max(first + 2.0);
        let step = plot_kit::step(until - first + 1.4, ui.available_width() - SIDE_ROOM, NUMBER_ROOM).max(1.0);
        let numbers = AxisHints::new_x()
            .label("run")
            // The steps leave room; the default would hide them.
            .label_spacing(NUMBER_ROOM / 2.0..=NUMBER_ROOM * 0.75)
            .formatter(move |mark, _| {
                let run = mark.value.round();
                if run >= first && run <= last { format!("{run:.0}") } else { String::new() }
            });
        let values = AxisHints::new_y()
            .min_thickness(SIDE_ROOM)
            .label_spacing(LINE_ROOM * 0.4..=LINE_ROOM * 0.75)
            .formatter(move |mark, _| {
                let value = if log { 10f64.powf(mark.value) } else { mark.value };
                if log && !plot_kit::is_labelled(&mark) || !log && value < 0.0 {
                    return String::new();
                }
                measure.show(value, sample)
            });
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
            .include_x(until + 0.7)
            .custom_x_axes(vec![numbers])
            .x_grid_spacer(move |input| plot_kit::marks(&input, step))
            .custom_y_axes(vec![values]);
        if log {
            plot = plot.y_grid_spacer(|input| plot_kit::decades(&input));
        } else {
            let room = height - AXIS_ROOM;
            plot = plot.include_y(0.0).y_grid_spacer(move |input| {
                let step = plot_kit::step(input.bounds.1 - input.bounds.0, room, LINE_ROOM);
                plot_kit::marks(&input, step)
            });
        }
        let levels = self.shown.reference.into_iter().chain(self.shown.ceiling).chain(self.shown.least);
        let levels = levels.chain(self.others().map(|(_, value)| value));
        let (low, top) = levels
            .fold((self.shown.low, self.shown.high.max(0.0)), |(low, top), level| (low.min(level), top.max(level)));
        // The two ends alone: a long history has thousands of values.
        for value in [low, top].into_iter().filter(|_| low.is_finite()) {
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
        self.paint(&painter, &shown.transform, shown.response.rect, tokens);
        shown.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Figure, true, self.summary()));

        let pointer = shown.response.hover_pos()?;
        let (transform, frame) = (&shown.transform, shown.response.rect);
        let marks = self.shown.drawn.iter().map(|(at, number, drawn)| {
            let mark = self.mark(transform, frame, *number, drawn);
            let reach = match (&mark, drawn) {
                (Mark::Bar([low, _, high]), _) => Rect::from_two_pos(*low, *high),
                // All of the bar, not just its end.
                (Mark::At(top), Drawn::Counted(_)) => {
                    Rect::from_two_pos(*top, pos2(top.x, self.base(transform, frame)))
                }
                (Mark::At(place), _) => Rect::from_pos(*place),
            };
            (*at, mark.middle(), reach.distance_to_pos(pointer))
        });
        let (at, place, distance) = marks.min_by(|a, b| a.2.total_cmp(&b.2))?;
        if distance > 24.0 {
            return None;
        }
        painter.circle_stroke(place, 7.0, Stroke::new(1.5, tokens.accent));
        let run = &self.runs[at];
        let clicked = shown.response.clicked();
        shown.response.on_hover_text_at_pointer(self.detail(run));
        clicked.then_some(run.number)
    }

    fn mark(&self, transform: &PlotTransform, rect: Rect, number: u32, drawn: &Drawn) -> Mark {
        let at = |y: f64| transform.position_from_point(&PlotPoint::new(f64::from(number), self.y(y)));
        match *drawn {
            Drawn::Measured { low, middle, high } => Mark::Bar([at(low), at(middle), at(high)]),
            Drawn::Modelled { low, high } => Mark::At(Rect::from_two_pos(at(low), at(high)).center()),
            Drawn::Counted(value) => Mark::At(at(value)),
            Drawn::NoTime | Drawn::Rejected => Mark::At(pos2(at(1.0).x, rect.bottom() - 10.0)),
        }
    }

    /// Where bars begin.
    fn base(&self, transform: &PlotTransform, rect: Rect) -> f32 {
        if self.log { rect.bottom() } else { transform.position_from_point(&PlotPoint::new(0.0, 0.0)).y }
    }

    /// The number above a bar.
    fn label(&self, painter: &egui::Painter, run: usize, value: f64, tokens: &Tokens) -> Arc<Galley> {
        let text = self.shown.measure.show(value, &self.runs[run].point);
        painter.layout_no_wrap(text, FontId::proportional(theme::font_size::SMALL), tokens.text_muted)
    }

    /// Paints lines and marks.
    fn paint(&self, painter: &egui::Painter, transform: &PlotTransform, rect: Rect, tokens: &Tokens) {
        let at = |x: f64, y: f64| transform.position_from_point(&PlotPoint::new(x, self.y(y)));
        if let Some(ceiling) = self.shown.ceiling {
            painter.hline(rect.x_range(), at(0.0, ceiling).y, Stroke::new(2.0, tokens.ceiling));
        }
        if let Some(least) = self.shown.least {
            let y = at(0.0, least).y;
            let stroke = Stroke::new(1.5, tokens.ceiling);
            plot_kit::dashed(painter, pos2(rect.left(), y), pos2(rect.right(), y), stroke);
        }
        if let Some(reference) = self.shown.reference {
            let y = at(0.0, reference).y;
            let stroke = Stroke::new(1.5, tokens.reference);
            plot_kit::dashed(painter, pos2(rect.left(), y), pos2(rect.right(), y), stroke);
        }
        for (index, (_, value)) in self.others().enumerate() {
            let y = at(0.0, value).y;
            let stroke = Stroke::new(1.5, tokens.series[(index + 4) % tokens.series.len()]);
            plot_kit::dashed(painter, pos2(rect.left(), y), pos2(rect.right(), y), stroke);
        }
        // More runs than there is room for dots: one bar for each column of pixels, from the lowest to the highest.
        let dense = self.shown.drawn.len() as f32 * DOT_ROOM > rect.width();
        if dense {
            for (column, color) in &*self.columns(transform, rect, tokens) {
                painter.line_segment([column.left_bottom(), column.left_top()], Stroke::new(1.0, *color));
            }
            if !self.shown.has(Drawn::MODELLED) {
                return;
            }
        }
        let color = tokens.measured;
        let mut previous: Option<Pos2> = None;
        // Numbers stand above the bars where they have room, the newest in any case: its bar, and where its number begins.
        let mut labelled = f32::NEG_INFINITY;
        let last = match self.shown.drawn.last() {
            Some((index, number, drawn @ Drawn::Counted(value))) => {
                let half = self.label(painter, *index, *value, tokens).size().x / 2.0;
                (*index, self.mark(transform, rect, *number, drawn).middle().x - half - space::XS)
            }
            _ => (usize::MAX, f32::INFINITY),
        };
        for (index, number, drawn) in &self.shown.drawn {
            let mark = self.mark(transform, rect, *number, drawn);
            // What is modelled keeps its own look.
            if dense && !matches!(drawn, Drawn::Modelled { .. }) {
                continue;
            }
            let base = self.base(transform, rect);
            match (mark, drawn) {
                (Mark::Bar([low, middle, high]), _) => {
                    if let Some(previous) = previous {
                        painter.line_segment([previous, middle], Stroke::new(1.0, color.gamma_multiply(0.5)));
                    }
                    previous = Some(middle);
                    painter.line_segment([low, high], Stroke::new(2.0, color));
                    for end in [low, high] {
                        painter.hline(end.x - 4.0..=end.x + 4.0, end.y, Stroke::new(2.0, color));
                    }
                    if self.runs[*index].point.caveats.is_empty() {
                        painter.circle_filled(middle, 4.5, color);
                    } else {
                        painter.circle(middle, 4.5, tokens.inset, Stroke::new(2.0, color));
                    }
                }
                (Mark::At(_), Drawn::Modelled { low, high }) => {
                    let x = f64::from(*number);
                    let area = Rect::from_two_pos(at(x, *low), at(x, *high)).expand2(vec2(9.0, 0.0));
                    plot_kit::hatch(painter, area, tokens.modelled);
                }
                (Mark::At(top), Drawn::Counted(value)) => {
                    // Narrower where there are many; a gap stays between two of them.
                    let half = (0.4 * transform.dpos_dvalue_x() as f32).clamp(1.0, 9.0);
                    let bar = Rect::from_x_y_ranges(top.x - half..=top.x + half, top.y.min(base)..=base);
                    painter.rect_filled(bar, 2.0, tokens.series[2]);
                    let label = self.label(painter, *index, *value, tokens);
                    let (left, right) = (top.x - label.size().x / 2.0, top.x + label.size().x / 2.0);
                    let is_last = *index == last.0;
                    if is_last || (left > labelled && right < last.1) {
                        labelled = right + space::XS;
                        painter.galley(pos2(left, top.y - 3.0 - label.size().y), label, tokens.text_muted);
                    }
                }
                (Mark::At(place), Drawn::Rejected) => {
                    let font = FontId::proportional(theme::font_size::BODY);
                    painter.text(place, Align2::CENTER_CENTER, "✖", font, tokens.fail);
                }
                (Mark::At(place), _) => {
                    painter.circle_stroke(place, 3.5, Stroke::new(1.5, tokens.text_faint));
                }
            }
        }
    }

    /// What many runs are painted as: found anew when the plot moves, for a history of thousands is not walked through in
    /// every frame.
    fn columns(&self, transform: &PlotTransform, rect: Rect, tokens: &Tokens) -> Rc<[Column]> {
        let bounds = transform.bounds();
        let (low, high) = (bounds.min(), bounds.max());
        let place = Place { frame: *transform.frame(), low, high, log: self.log, color: tokens.measured };
        let mut known = self.shown.columns.borrow_mut();
        if let Some((same, columns)) = &*known
            && *same == place
        {
            return columns.clone();
        }
        let base = self.base(transform, rect);
        let mut columns: Vec<Column> = Vec::new();
        for (_, number, drawn) in &self.shown.drawn {
            let mark = self.mark(transform, rect, *number, drawn);
            let point = |place: Pos2, reach: f32| Rect::from_pos(place).expand2(vec2(0.0, reach));
            let (own, color) = match (&mark, drawn) {
                (_, Drawn::Modelled { .. }) => continue,
                (Mark::Bar([low, _, high]), _) => (Rect::from_two_pos(*low, *high), tokens.measured),
                (Mark::At(top), Drawn::Counted(_)) => (Rect::from_two_pos(*top, pos2(top.x, base)), tokens.series[2]),
                (Mark::At(place), Drawn::Rejected) => (point(*place, 2.0), tokens.fail),
                (Mark::At(place), _) => (point(*place, 1.0), tokens.text_faint),
            };
            match columns.last_mut() {
                Some((last, same)) if *same == color && own.left() - last.left() < 1.0 => {
                    *last = last.union(own).with_max_x(last.left());
                }
                _ => columns.push((own, color)),
            }
        }
        known.insert((place, columns.into())).1.clone()
    }

    /// Everything known of one run, a line each.
    fn detail(&self, run: &TimedRun) -> String {
        let point = &run.point;
        let mut lines =
            vec![format!("Run {} on {}, {}", run.number, run.device, crate::widgets::sentence::numbers(&point.name))];
        match (&point.rejected, &point.timing, &point.stats) {
            (Some(reason), ..) => lines.push(format!("Rejected: {reason}")),
            (None, Some(Timing::Modelled { low_ns, high_ns, bound_by }), _) => lines.push(format!(
                "Modeled, not measured: {} to {}, bound by {bound_by}",
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
        let measure = self.shown.measure;
        if !measure.is_timed()
            && let Drawn::Counted(value) = shown::drawn(run, measure)
        {
            lines.push(format!("{}: {}", measure.title(), measure.show(value, point)));
        }
        // Without a time the one caveat is that there is none, which was said.
        lines.extend(point.caveats.iter().filter(|_| point.stats.is_some()).map(|why| format!("Doubtful: {why}")));
        lines.join("\n")
    }

    /// The newest run that is drawn, in words: under the plot and for screen readers.
    pub fn summary(&self) -> String {
        let newest = self.shown.newest.map(|at| &self.runs[at]);
        newest.map(|run| self.detail(run).replace('\n', ". ") + ".").unwrap_or_default()
    }
}
