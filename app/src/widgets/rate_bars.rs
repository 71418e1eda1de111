//! What several programs reached at the same work, as bars on a logarithmic scale: from three loops on a CPU to a
//! library on a GPU is a factor of ten thousand.
//!
//! Measured here is a full bar; recorded on another machine is hatched and says where and when.

use crate::fonts::Bold;
use crate::theme::{self, space};
use crate::widgets::plot_kit::{self, Swatch};
use egui::{Align2, FontId, Rect, RichText, Sense, Ui, pos2, vec2};

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct RateBar {
    /// `CPU, loops i-j-k`
    pub name: String,
    pub device: String,
    pub gflops: f64,
    /// The day on which this machine measured it, where that is known.
    pub measured: Option<String>,
    /// Where it was recorded; None: measured on this machine.
    pub recorded: Option<String>,
}

const ROW: f32 = 22.0;
const BAR: f32 = 12.0;

/// Draws the bars in the order given.
pub fn show(ui: &mut Ui, title: &str, bars: &[RateBar]) {
    let tokens = theme::tokens(ui);
    let words = describe(title, bars);
    ui.label(RichText::new(title).bold());
    let width = ui.available_width();
    let size = vec2(width, ROW * bars.len() as f32 + space::S);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Figure, true, &words));
    let painter = ui.painter_at(rect);
    let font = FontId::proportional(theme::font_size::SMALL);
    let widest = |texts: &mut dyn Iterator<Item = String>| {
        texts.map(|text| painter.layout_no_wrap(text, font.clone(), tokens.text).size().x).fold(0.0, f32::max)
    };
    let names = widest(&mut bars.iter().map(|bar| bar.name.clone())).min(width * 0.45);
    let values = widest(&mut bars.iter().map(value));
    let left = rect.left() + names + space::M;
    let room = (rect.right() - values - space::M - left).max(30.0);
    let scale = Scale::of(bars);
    let mut hovered = None;
    for (index, bar) in bars.iter().enumerate() {
        let middle = rect.top() + ROW * (index as f32 + 0.5);
        painter.text(pos2(left - space::M, middle), Align2::RIGHT_CENTER, &bar.name, font.clone(), tokens.text_muted);
        let length = (room * scale.share(bar.gflops)).max(2.0);
        let area = Rect::from_min_size(pos2(left, middle - BAR / 2.0), vec2(length, BAR));
        match &bar.recorded {
            None => {
                painter.rect_filled(area, 2.0, tokens.measured);
            }
            Some(_) => plot_kit::hatch(&painter, area, tokens.text_muted),
        }
        painter.text(pos2(area.right() + space::S, middle), Align2::LEFT_CENTER, value(bar), font.clone(), tokens.text);
        let row = Rect::from_x_y_ranges(rect.x_range(), middle - ROW / 2.0..=middle + ROW / 2.0);
        if response.hover_pos().is_some_and(|at| row.contains(at)) {
            hovered = Some(bar);
        }
    }
    if let Some(bar) = hovered {
        response.on_hover_text_at_pointer(bar_words(bar));
    }
    let recorded = bars.iter().find_map(|bar| bar.recorded.as_ref());
    plot_kit::legend(ui, |ui| {
        if bars.iter().any(|bar| bar.recorded.is_none()) {
            plot_kit::legend_entry(ui, Swatch::Solid, tokens.measured, &measured_words(bars));
        }
        if let Some(recorded) = recorded {
            plot_kit::legend_entry(ui, Swatch::Hatched, tokens.text_muted, recorded);
        }
        plot_kit::legend_entry(
            ui,
            Swatch::Hollow,
            tokens.text_faint,
            "logarithmic: equal steps to the right are equal factors",
        );
    });
}

/// `measured on this machine`, with the days on which.
fn measured_words(bars: &[RateBar]) -> String {
    let mut days: Vec<&str> = bars.iter().filter_map(|bar| bar.measured.as_deref()).collect();
    days.sort_unstable();
    days.dedup();
    let days: String = days.iter().flat_map(|day| [", ", day]).collect();
    format!("measured on this machine{days}")
}

fn value(bar: &RateBar) -> String {
    plot_kit::si(bar.gflops * 1e9, "FLOP/s")
}

fn bar_words(bar: &RateBar) -> String {
    let here = || format!("measured here{}", bar.measured.as_ref().map(|date| format!(", {date}")).unwrap_or_default());
    let how = bar.recorded.clone().unwrap_or_else(here);
    format!("{}: {} on {}, {how}", bar.name, value(bar), bar.device)
}

/// The bars as a table, rates in operations per second.
pub fn csv(bars: &[RateBar]) -> String {
    let mut out = String::from("name,device,flops_per_s,kind,recorded\n");
    for bar in bars {
        let kind = if bar.recorded.is_some() { "recorded" } else { "measured" };
        let field = plot_kit::csv_field;
        let recorded = field(bar.recorded.as_deref().unwrap_or_default());
        out += &format!("{},{},{},{kind},{recorded}\n", field(&bar.name), field(&bar.device), bar.gflops * 1e9);
    }
    out
}

/// The same in words.
pub fn describe(title: &str, bars: &[RateBar]) -> String {
    let list: Vec<String> = bars.iter().map(bar_words).collect();
    format!("{title}. {}", list.join("; "))
}

/// Logarithmic, from half the slowest to the fastest.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(bars: &[RateBar]) -> Self {
        let rates = || bars.iter().map(|bar| bar.gflops.max(1e-9).log10()).filter(|rate| rate.is_finite());
        let low = rates().fold(f64::INFINITY, f64::min) - 0.3;
        let high = rates().fold(f64::NEG_INFINITY, f64::max);
        Self { low, high: high.max(low + 0.3) }
    }

    fn share(&self, gflops: f64) -> f32 {
        (((gflops.max(1e-9).log10() - self.low) / (self.high - self.low)) as f32).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, gflops: f64, recorded: Option<&str>) -> RateBar {
        RateBar { name: name.into(), device: "d".into(), gflops, measured: None, recorded: recorded.map(str::to_owned) }
    }

    #[test]
    fn equal_factors_are_equal_lengths() {
        let bars = [bar("a", 1.0, None), bar("b", 10.0, None), bar("c", 100.0, None)];
        let scale = Scale::of(&bars);
        let shares: Vec<f32> = bars.iter().map(|bar| scale.share(bar.gflops)).collect();
        assert!((shares[1] - shares[0] - (shares[2] - shares[1])).abs() < 1e-6);
        assert!(shares[0] > 0.0 && (shares[2] - 1.0).abs() < 1e-6);
        assert!(Scale::of(&bars[..1]).share(1.0) > 0.5, "a bar alone is a whole one");
    }

    #[test]
    fn words_say_what_was_measured_and_what_recorded() {
        let dated = RateBar { measured: Some("2026-11-21".into()), ..bar("a", 2.0, None) };
        assert_eq!(describe("T", std::slice::from_ref(&dated)), "T. a: 2 GFLOP/s on d, measured here, 2026-11-21");
        assert_eq!(measured_words(&[dated.clone(), dated]), "measured on this machine, 2026-11-21");
        let words = describe("T", &[bar("a", 2.0, None), bar("b", 3e4, Some("recorded on one X"))]);
        assert_eq!(words, "T. a: 2 GFLOP/s on d, measured here; b: 30 TFLOP/s on d, recorded on one X");
    }

    #[test]
    fn a_table_tells_measured_and_recorded_apart() {
        let table = csv(&[bar("a, fast", 2.0, None), bar("b", 3e4, Some("recorded on one X"))]);
        let rows: Vec<&str> = table.lines().collect();
        assert_eq!(rows[0], "name,device,flops_per_s,kind,recorded");
        assert_eq!(rows[1], "\"a, fast\",d,2000000000,measured,");
        assert_eq!(rows[2], "b,d,30000000000000,recorded,recorded on one X");
    }
}
