//! The open day's title and its five steps.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::theme::{self, font_size, radius, space};
use crate::widgets::focus;
use curriculum::{Day, Step};
use egui::{Button, Frame, Margin, Panel, RichText, Stroke, Ui};

/// Width from which title and steps stand in one row.
const ONE_ROW: f32 = 1040.0;

/// Width below which a step is its number alone.
const NUMBERS: f32 = 620.0;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let Some(day) = screen.state.day() else { return };
    let header = Frame::new().fill(t.panel).inner_margin(Margin::symmetric(space::XL as i8, space::S as i8));
    Panel::top("day header").frame(header).resizable(false).show(ui, |ui| header_ui(ui, screen, day));
}

fn header_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Day) {
    if ui.available_width() >= ONE_ROW {
        let title = |ui: &mut Ui, _: &mut Screen<'_>| title_ui(ui, day);
        parts::sides(ui, "steps", screen, title, |ui, screen| steps_ui(ui, screen, day));
        return;
    }
    ui.horizontal(|ui| title_ui(ui, day));
    ui.horizontal(|ui| steps_ui(ui, screen, day));
}

fn title_ui(ui: &mut Ui, day: &Day) {
    let t = theme::tokens(ui);
    ui.label(RichText::new(format!("Week {} · Day {}", day.week, day.number)).color(t.text_muted));
    let title = RichText::new(&day.title).size(font_size::HEADING).bold();
    ui.add(egui::Label::new(title).truncate());
    if day.is_written() && ui.available_width() > 90.0 {
        ui.label(RichText::new(format!("about {} min", day.minutes)).small().color(t.text_muted));
    }
}

fn steps_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Day) {
    if !day.is_written() {
        return;
    }
    let short = ui.ctx().content_rect().width() < NUMBERS;
    ui.spacing_mut().item_spacing.x = space::XS;
    for (index, step) in Step::ALL.into_iter().enumerate() {
        step_ui(ui, screen, day, index + 1, step, short);
    }
}

fn step_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Day, number: usize, step: Step, short: bool) {
    let t = theme::tokens(ui);
    let open = screen.state.view.step == step;
    let done = screen.state.progress.is_step_done(day, step);
    let title = &day.lesson.section(step).title;
    let mark = if done { "✔".to_owned() } else { number.to_string() };
    let text = if short && !open { mark } else { format!("{mark}  {title}") };
    let color = match (open, done) {
        (true, _) => t.text,
        (false, true) => t.pass,
        (false, false) => t.text_muted,
    };
    let mut label = RichText::new(text).color(color);
    if open {
        // Not bold: wider letters would move the steps behind this one.
        label = label.strong();
    }
    let button = Button::selectable(open, label)
        .fill(if open { t.accent_soft } else { t.raised })
        .stroke(Stroke::new(1.0, if open { t.accent } else { t.border }))
        .corner_radius(radius::LARGE)
        .frame_when_inactive(true);
    let action = match step {
        Step::Challenge => Action::StepChallenge,
        Step::Explore => Action::StepExplore,
        Step::Concept => Action::StepConcept,
        Step::CodeIt => Action::StepCodeIt,
        Step::Verify => Action::StepVerify,
    };
    let response = ui.add(button).on_hover_text(action.tooltip(ui.ctx()));
    focus::ring(ui, &response);
    let name = format!("Step {number}: {title}{}", if done { ", done" } else { "" });
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, open, &name));
    if response.clicked() {
        screen.send(Command::ShowStep(step));
    }
    if number < Step::ALL.len() && !short {
        ui.label(RichText::new("›").color(t.text_faint));
    }
}

/// What a planned day will hold, and the nearest that can be done.
pub fn planned_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Day, summary: &str) {
    let t = theme::tokens(ui);
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.16);
        Frame::new()
            .fill(t.raised)
            .stroke(Stroke::new(1.0, t.border))
            .corner_radius(radius::LARGE)
            .inner_margin(space::XXL)
            .show(ui, |ui| {
                ui.set_max_width(520.0);
                ui.label(RichText::new("This day is planned").size(font_size::HEADING).bold());
                ui.add_space(space::S);
                ui.label(RichText::new(summary).color(t.text));
                ui.add_space(space::S);
                let text = "It is not written yet. What it will hold is fixed; the days before it can be done now.";
                ui.label(RichText::new(text).color(t.text_muted));
                ui.add_space(space::M);
                let written = screen.state.course.days().filter(|other| other.is_written() && other.id != day.id);
                let nearest = written.min_by_key(|other| {
                    let place = |day: &Day| i64::from(day.week) * 7 + i64::from(day.number);
                    (place(other) - place(day)).abs()
                });
                if let Some(nearest) = nearest {
                    let text = format!("Open Week {} Day {}: {}", nearest.week, nearest.number, nearest.title);
                    if ui.button(text).clicked() {
                        screen.commands.push(Command::OpenDay(nearest.id.clone()));
                    }
                }
            });
    });
}
