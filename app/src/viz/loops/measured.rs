//! The six orders as this machine's CPU really does them, measured in the background.

use super::example::{ORDERS, WhatIf};
use crate::fonts::Bold;
use crate::icons;
use crate::scripts::Figure;
use crate::theme::{self, font_size, space};
use crate::viz::kit;
use crate::viz::{VizAction, VizInput};
use crate::widgets::plot_kit::{self, si};
use egui::{Align2, FontId, Rect, RichText, Ui, pos2, vec2};

/// The program that measures them.
const PROGRAM: &str = "loop-orders";
const BAR: f32 = 18.0;

/// Bars where measured, and the button that measures. `chosen` is the order that the picture shows.
pub fn ui(ui: &mut Ui, input: &VizInput<'_>, chosen: [usize; 3]) -> Option<VizAction> {
    let tokens = theme::tokens(ui);
    let run = input.program(PROGRAM);
    let running = run.is_some_and(|run| run.running);
    let figures: &[Figure] = run.map_or(&[], |run| &run.figures);
    let mut action = None;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Measured on this machine").bold());
        if running {
            ui.spinner();
            if ui.button("Stop measuring").clicked() {
                action = Some(VizAction::StopMeasuring);
            }
        } else {
            let text = if figures.is_empty() { "Measure all six" } else { "Measure again" };
            if ui
                .add(egui::Button::new((icons::atom(icons::PLAY), text)))
                .on_hover_text("Some ten seconds, in the background")
                .clicked()
            {
                action = Some(VizAction::Measure(PROGRAM));
            }
        }
    });
    if let Some(problem) = run.and_then(|run| run.problem.as_ref()) {
        ui.label(RichText::new(problem).small().color(tokens.fail));
    }
    let words = words(figures, run.and_then(crate::scripts::ScriptRun::date), input.trace.is_none());
    if figures.is_empty() {
        kit::caption_ui(ui, &words);
        return action;
    }
    let size = vec2(ui.available_width(), BAR * ORDERS.len() as f32 + space::S);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Figure, true, &words));
    let painter = ui.painter_at(rect);
    let most = figures.iter().filter_map(|figure| figure.gflops).fold(1e-9, f64::max);
    for (index, order) in ORDERS.into_iter().enumerate() {
        let name = WhatIf::name(order);
        let middle = rect.top() + BAR * (index as f32 + 0.5);
        let color = if order == chosen { tokens.text } else { tokens.text_muted };
        let font = FontId::monospace(font_size::SMALL);
        painter.text(pos2(rect.left() + 28.0, middle), Align2::RIGHT_CENTER, &name, font, color);
        let Some(figure) = figures.iter().find(|figure| figure.rung == name) else { continue };
        let rate = figure.gflops.unwrap_or(0.0);
        let length = (rect.width() - 130.0).max(40.0) * (rate / most) as f32;
        let bar = Rect::from_min_size(pos2(rect.left() + 36.0, middle - BAR / 2.0 + 3.0), vec2(length, BAR - 6.0));
        painter.rect_filled(bar, 2.0, if order == chosen { tokens.lane_focus } else { tokens.measured });
        let at = pos2(bar.right() + space::S, middle);
        kit::small(&painter, at, Align2::LEFT_CENTER, si(rate * 1e9, "FLOP/s"), tokens.text_muted);
    }
    plot_kit::legend(ui, |ui| {
        plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.measured, "measured, longer is faster");
    });
    kit::caption_ui(ui, &words);
    action
}

/// The same in words. `is_counted`: bars of what the picture's cache does stand above.
pub fn words(figures: &[Figure], date: Option<String>, is_counted: bool) -> String {
    let rate = |figure: &&Figure| figure.gflops.unwrap_or(0.0);
    let fastest = figures.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let slowest = figures.iter().min_by(|a, b| rate(a).total_cmp(&rate(b)));
    let (Some(fastest), Some(slowest)) = (fastest, slowest) else {
        let counted = ": the bars above come from counting in a small model of a cache";
        return format!("Not measured yet{}.", if is_counted { counted } else { "" });
    };
    format!(
        "At {} on {}{}: {} is the fastest with {}, {} the slowest with {}, a factor of {:.1}, for the same additions.",
        fastest.name,
        fastest.device,
        date.map(|date| format!(", measured on {date}")).unwrap_or_default(),
        fastest.rung,
        si(rate(&fastest) * 1e9, "FLOP/s"),
        slowest.rung,
        si(rate(&slowest) * 1e9, "FLOP/s"),
        rate(&fastest) / rate(&slowest).max(1e-12)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_the_fastest_and_the_slowest() {
        let figure = |rung: &str, gflops| Figure {
            name: "n = 512".into(),
            rung: rung.into(),
            device: "a CPU".into(),
            gflops: Some(gflops),
            ok: true,
            ..Figure::default()
        };
        let figures = [figure("ijk", 1.0), figure("ikj", 12.0), figure("kji", 0.5)];
        let words = words(&figures, Some("2026-11-21".into()), true);
        assert!(words.contains("ikj is the fastest") && words.contains("kji the slowest"), "{words}");
        assert!(words.contains("factor of 24.0") && words.contains("on a CPU, measured on 2026-11-21:"), "{words}");
        assert!(super::words(&[], None, true).contains("the bars above"));
        assert_eq!(super::words(&[], None, false), "Not measured yet.", "a run of one's own has no bars");
    }

    #[test]
    fn the_program_and_its_orders_exist() {
        assert!(crate::measure::find(PROGRAM).is_some());
        let names: Vec<String> = ORDERS.into_iter().map(WhatIf::name).collect();
        for variant in cpu_matmul::orders() {
            assert!(names.contains(&variant.name.to_owned()), "{}", variant.name);
        }
    }
}
