//! Group quantization: the same matrix with one scale for the tensor, for each row and for each group, and the error that
//! each leaves, side by side.

use super::kit::{self, Cells};
use super::layouts::{self, Share};
use super::stepper::Stepper;
use super::values::{self, number};
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Painter, Rect, Stroke, StrokeKind, Ui, vec2};
use gpu_core::formats::{Format, Given, Layout};

const ROWS: usize = 8;
const COLUMNS: usize = 128;
const HEAD: f32 = 22.0;
const CELL: f32 = 9.0;
const FORMATS: [Format; 4] = [Format::Int4, Format::Int8, Format::E4m3, Format::Nvfp4];
const GROUPS: [usize; 4] = [16, 32, 64, 128];
/// A scale is stored in fp16.
const SCALE_BITS: usize = 16;

pub struct GroupQuantization {
    format: Format,
    group: usize,
    /// How much larger one column is than the others.
    outlier: f64,
    element: Stepper,
}

impl Default for GroupQuantization {
    fn default() -> Self {
        Self { format: Format::Int4, group: 32, outlier: 8.0, element: Stepper::starting_at(3 * COLUMNS + 5) }
    }
}

/// The matrix stored with one way of sharing scales.
struct Stored {
    layout: Layout,
    values: Vec<f64>,
    scales: Vec<f64>,
    codes: Vec<f64>,
}

impl GroupQuantization {
    /// Rows of different spread, and one column of outliers.
    fn values(&self) -> Vec<f64> {
        let mut values = values::normals(11, ROWS * COLUMNS);
        for (at, value) in values.iter_mut().enumerate() {
            let (row, column) = (at / COLUMNS, at % COLUMNS);
            let spread = [1.0, 0.4, 1.5, 0.6, 1.0, 0.25, 2.0, 0.8][row % ROWS];
            *value *= spread * if column == 44 { self.outlier } else { 1.0 };
        }
        values
    }

    fn stored(&self, values: &[f64], share: Share) -> Stored {
        let layout = layouts::scaled(self.format, ROWS, COLUMNS, share);
        let stored = layout.quantize(values, &Given::default()).stored;
        Stored {
            values: layout.decode(&stored),
            scales: (0..layout.groups()).map(|group| layout.scale_at(&stored, group)).collect(),
            codes: (0..layout.elements())
                .map(|at| layout.format.element().decode(layout.code_at(&stored, at)))
                .collect(),
            layout,
        }
    }

    fn shares(&self) -> [(Share, String); 3] {
        [
            (Share::Tensor, "one scale for the tensor".to_owned()),
            (Share::Row, "one scale a row".to_owned()),
            (Share::Group(self.group), format!("one scale for {} neighbors", self.group)),
        ]
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            for format in FORMATS {
                ui.selectable_value(&mut self.format, format, layouts::name(format));
            }
            ui.label("group");
            for group in GROUPS {
                ui.selectable_value(&mut self.group, group, group.to_string());
            }
            values::drag(ui, "outlier column is larger by", &mut self.outlier, 1.0..=100.0, 0.1);
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, values: &[f64], words: &str) {
        let width = ui.available_width();
        let cell = vec2(width / COLUMNS as f32, CELL);
        let each = HEAD + ROWS as f32 * CELL + space::XS;
        let canvas = self.element.canvas(ui, vec2(width, 4.0 * each), words, values.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let chosen = self.element.within(values.len());
        let cells = |index: usize| {
            let origin = canvas.rect.min + vec2(0.0, index as f32 * each + HEAD);
            values::grid(origin, ROWS, COLUMNS, cell)
        };
        let title = |index: usize, texts: &[&str]| {
            let at = cells(index).origin - vec2(0.0, 3.0);
            kit::small_in(painter, at, Align2::LEFT_BOTTOM, canvas.rect.width(), texts, tokens.text);
        };
        let largest = values.iter().fold(1e-12_f64, |most, x| most.max(x.abs()));
        title(0, &["the values"]);
        paint(painter, tokens, &cells(0), chosen, COLUMNS, |at| values::heat(tokens, values[at] / largest));
        let stored: Vec<(Stored, String)> =
            self.shares().into_iter().map(|(share, name)| (self.stored(values, share), name)).collect();
        let error = |stored: &Stored, at: usize| (stored.values[at] - values[at]).abs();
        // One scale of colours for all three, so that they can be compared.
        let worst = (0..values.len()).map(|at| error(&stored[0].0, at)).fold(1e-12, f64::max);
        for (index, (stored, name)) in stored.iter().enumerate() {
            let share = 100.0 * error_share(values, &stored.values);
            let whole = format!("error with {name}: {share:.1} % of the values");
            let short = format!("{name}: error of {share:.1} %");
            title(index + 1, &[whole.as_str(), short.as_str()]);
            let group = if stored.layout.axis.is_none() { COLUMNS } else { stored.layout.group };
            paint(painter, tokens, &cells(index + 1), chosen, group, |at| {
                // The root, so that small errors are seen beside large ones.
                tokens.fail.gamma_multiply(0.9 * (error(stored, at) / worst).sqrt().min(1.0) as f32)
            });
        }
        let under = canvas.response.hover_pos().and_then(|pos| (0..4).find_map(|index| cells(index).at(pos)));
        if let (Some(at), true) = (under, canvas.response.clicked()) {
            self.element.jump(at);
        }
    }
}

/// Norm of the error over the norm of the values.
fn error_share(values: &[f64], stored: &[f64]) -> f64 {
    10f64.powf(-values::sqnr_db(values, stored) / 20.0)
}

fn paint(
    painter: &Painter,
    tokens: &Tokens,
    cells: &Cells,
    chosen: usize,
    group: usize,
    fill: impl Fn(usize) -> egui::Color32,
) {
    let outer = Rect::from_min_size(cells.origin, cells.size());
    painter.rect_filled(outer, 0.0, tokens.inset);
    for at in 0..cells.count {
        painter.rect_filled(cells.rect(at), 0.0, fill(at));
    }
    for column in (group..COLUMNS).step_by(group.max(1)) {
        painter.vline(cells.rect(column).left(), outer.y_range(), Stroke::new(1.0, tokens.border_strong));
    }
    painter.rect_stroke(outer, 0.0, Stroke::new(1.0, tokens.border_strong), StrokeKind::Outside);
    let rect = cells.rect(chosen);
    painter.rect_stroke(rect, 0.0, Stroke::new(2.5, tokens.lane_focus), StrokeKind::Outside);
    painter.rect_stroke(rect.expand(2.0), 0.0, Stroke::new(1.0, tokens.text), StrokeKind::Outside);
}

/// For each way of sharing: scales, bits an element, signal to noise, and what became of the chosen element.
fn table_ui(ui: &mut Ui, viz: &GroupQuantization, values: &[f64]) {
    let tokens = theme::tokens(ui);
    let at = viz.element.within(values.len());
    egui::ScrollArea::horizontal().id_salt("shares").show(ui, |ui| {
        egui::Grid::new("shares").striped(true).num_columns(7).show(ui, |ui| {
            for head in ["", "scales", "bits each", "scale here", "code", "read back", "error"] {
                ui.label(egui::RichText::new(head).small().color(tokens.text_muted));
            }
            ui.end_row();
            for (share, name) in viz.shares() {
                let stored = viz.stored(values, share);
                let error = (stored.values[at] - values[at]).abs();
                ui.label(name);
                ui.label(stored.scales.len().to_string());
                ui.label(number(layouts::bits_each(&stored.layout, SCALE_BITS)));
                ui.label(number(stored.scales[stored.layout.group_of(at)]));
                ui.label(number(stored.codes[at]));
                ui.label(number(stored.values[at]));
                ui.label(number(error));
                ui.end_row();
            }
        });
    });
}

impl Visualization for GroupQuantization {
    kit::head_without_steps!("group-quantization", "Group quantization map");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.controls_ui(ui);
        let values = self.values();
        self.element.ui(ui, values.len(), "element");
        let words = self.describe(input);
        self.picture_ui(ui, &values, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.fail.gamma_multiply(0.8), "large error");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.fail.gamma_multiply(0.2), "small error");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Solid, tokens.border_strong, "between groups");
        });
        table_ui(ui, self, &values);
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let values = self.values();
        let at = self.element.within(values.len());
        let of = |share| self.stored(&values, share);
        let all = self.shares().map(|(share, _)| of(share));
        let db = all.each_ref().map(|stored| values::sqnr_db(&values, &stored.values));
        let read = all.each_ref().map(|stored| number(stored.values[at]));
        format!(
            "{}, row {}, column {}: the value {} is read back as {} with one scale for the tensor, {} with one a row, {} with one \
             for {} neighbours. Signal to noise of the whole: {:.1}, {:.1} and {:.1} dB. An outlier sets the scale of everything \
             that shares it; smaller groups keep the damage local and cost {} bits an element.",
            layouts::name(self.format),
            at / COLUMNS,
            at % COLUMNS,
            number(values[at]),
            read[0],
            read[1],
            read[2],
            self.group,
            db[0],
            db[1],
            db[2],
            number(layouts::bits_each(&all[2].layout, SCALE_BITS)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_groups_leave_less_error() {
        for format in [Format::Int4, Format::Int8] {
            for outlier in [4.0, 8.0, 50.0] {
                let viz = GroupQuantization { format, outlier, ..GroupQuantization::default() };
                let values = viz.values();
                let db = viz.shares().map(|(share, _)| values::sqnr_db(&values, &viz.stored(&values, share).values));
                assert!(db[0] < db[1] && db[1] <= db[2], "{format:?} {outlier}: {db:?}");
            }
        }
    }

    #[test]
    fn a_value_is_its_code_times_its_scale() {
        let viz = GroupQuantization::default();
        let values = viz.values();
        for (share, _) in viz.shares() {
            let stored = viz.stored(&values, share);
            for at in 0..values.len() {
                let scale = stored.scales[stored.layout.group_of(at)];
                assert!((stored.codes[at] * scale - stored.values[at]).abs() < 1e-9);
            }
        }
    }
}
