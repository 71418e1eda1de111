//! The course tree: weeks, shelves, and how far each of their units is. Planned days are shown and say so.

use super::Screen;
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::state::Pane;
use crate::theme::{self, Tokens, radius, space};
use crate::widgets::focus;
use curriculum::{Status, Unit, UnitKind};
use egui::{
    Color32, FontFamily, FontId, Frame, Margin, Rect, Response, RichText, ScrollArea, Sense, Stroke, Ui, pos2, vec2,
};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let frame =
        Frame::new().inner_margin(Margin { left: space::L as i8, ..Margin::symmetric(space::M as i8, space::M as i8) });
    frame.show(ui, |ui| {
        ui.label(RichText::new(&screen.state.course.title).bold());
        let (finished, written, total) = totals(screen);
        let text = if written < total {
            format!("{finished} done · {written} of {total} days written")
        } else {
            format!("{finished} of {total} days done")
        };
        ui.label(RichText::new(text).small().color(t.text_muted));
        due_ui(ui, screen);
    });
    let focus = screen.takes_focus(Pane::Course);
    let course = screen.state.course.clone();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = space::XXS;
        for shelf in course.shelves() {
            let heading = format!("{}  {}", shelf.title, shelf.name);
            let margin =
                Margin { left: space::L as i8, right: space::M as i8, top: space::M as i8, bottom: space::XXS as i8 };
            Frame::new().inner_margin(margin).show(ui, |ui| {
                let text = RichText::new(heading.trim_end()).small().bold().color(t.text_muted);
                ui.add(egui::Label::new(text).truncate().show_tooltip_when_elided(false)).on_hover_text(shelf.about);
            });
            for day in shelf.units {
                let open = screen.state.view.day.as_deref() == Some(day.id.as_str());
                let response = day_row(ui, t, screen, day, open);
                if open && focus {
                    response.request_focus();
                }
                if response.clicked() {
                    screen.send(Command::OpenDay(day.id.clone()));
                }
            }
        }
        ui.add_space(space::L);
        focus::follow(ui);
    });
}

/// Questions that come back today, where a learner sees them at the start.
fn due_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let state = screen.state;
    let due = state.progress.due(&state.course, state.today, usize::MAX).len();
    if due == 0 || !state.review.is_empty() {
        return;
    }
    let text =
        if due == 1 { "1 question to review today".to_owned() } else { format!("{due} questions to review today") };
    if ui.button(text).on_hover_text(Action::Review.tooltip(ui.ctx())).clicked() {
        screen.send(Command::Do(Action::Review));
    }
}

/// Days done, written and in all.
fn totals(screen: &Screen<'_>) -> (usize, usize, usize) {
    let course = &screen.state.course;
    let finished = course.days().filter(|day| screen.state.progress.done(day).is_complete()).count();
    (finished, course.days().filter(|day| day.is_written()).count(), course.days().count())
}

fn day_row(ui: &mut Ui, t: &Tokens, screen: &Screen<'_>, day: &Unit, open: bool) -> Response {
    let height = 30.0;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
    let done = screen.state.progress.done(day);
    let planned = !day.is_written();
    let state = if planned {
        "planned".to_owned()
    } else if done.is_complete() {
        "done".to_owned()
    } else {
        format!("{} of {} done", done.finished, done.total)
    };
    let (label, text) = match day.day() {
        Some((_, number)) => (format!("Day {number}: {}", day.title), format!("{number}  {}", day.title)),
        None => (format!("{}: {}", day.place_word(), day.title), day.title.clone()),
    };
    let tooltip = label.clone();
    let label = format!("{label}, {state}");
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, open, &label));
    if ui.is_rect_visible(rect) {
        let row = rect.shrink2(vec2(space::XS, 1.0));
        let fill = if open {
            t.accent_soft
        } else if response.hovered() {
            t.hover
        } else {
            Color32::TRANSPARENT
        };
        ui.painter().rect_filled(row, f32::from(radius::SMALL), fill);
        if response.has_focus() {
            let stroke = Stroke::new(1.5, t.accent);
            ui.painter().rect_stroke(row, f32::from(radius::SMALL), stroke, egui::StrokeKind::Inside);
        }
        let mark = pos2(row.left() + 14.0, row.center().y);
        progress_mark(ui, t, mark, done.share(), done.is_complete(), planned);
        let color = if planned { t.text_faint } else { t.text };
        let right = row.right() - space::M;
        let left = row.left() + 30.0;
        let font = FontId::new(theme::font_size::BODY, FontFamily::Proportional);
        let mut job = egui::text::LayoutJob::simple_singleline(text, font, color);
        job.wrap = egui::text::TextWrapping::truncate_at_width((right - left).max(20.0));
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
        ui.painter().galley(pos2(left, row.center().y - galley.size().y / 2.0), galley, color);
    }
    let summary = match &day.status {
        Status::Written => day.summary.clone(),
        Status::Planned { summary } => format!("Not written yet. {summary}"),
    };
    let summary = match &day.kind {
        UnitKind::Problem { difficulty, .. } => format!("Difficulty {difficulty} of 3. {summary}"),
        _ => summary,
    };
    response.on_hover_text(format!("{tooltip}\n{summary}"))
}

/// A ring that fills; a tick when all is done; a dashed look for a planned day.
fn progress_mark(ui: &Ui, t: &Tokens, center: egui::Pos2, share: f32, complete: bool, planned: bool) {
    let painter = ui.painter();
    let size = 6.0;
    if complete {
        painter.circle_filled(center, size + 0.5, t.pass);
        let tick = vec![center + vec2(-3.0, 0.0), center + vec2(-0.8, 2.4), center + vec2(3.2, -2.4)];
        painter.add(egui::Shape::line(tick, Stroke::new(1.6, t.panel)));
    } else if planned {
        painter.circle_stroke(center, size - 2.0, Stroke::new(1.0, t.border_strong));
    } else {
        painter.circle_stroke(center, size, Stroke::new(1.5, t.border_strong));
        if share > 0.0 {
            // A pie from the top, clockwise.
            let steps = (share * 32.0).ceil() as usize;
            let mut points = vec![center];
            for step in 0..=steps {
                let turn = (step as f32 / 32.0).min(share) * std::f32::consts::TAU - std::f32::consts::FRAC_PI_2;
                points.push(center + (size - 1.0) * vec2(turn.cos(), turn.sin()));
            }
            let whole = Rect::from_center_size(center, vec2(2.0 * size, 2.0 * size));
            // The polygon is concave above one half: two convex halves draw right.
            let half = points.len().min(18);
            let clip = painter.with_clip_rect(whole.expand(1.0));
            clip.add(egui::Shape::convex_polygon(points[..half].to_vec(), t.accent, Stroke::NONE));
            if points.len() > half {
                let mut rest = vec![center];
                rest.extend_from_slice(&points[half - 1..]);
                clip.add(egui::Shape::convex_polygon(rest, t.accent, Stroke::NONE));
            }
        }
    }
}
