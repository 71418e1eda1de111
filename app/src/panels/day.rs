//! The open unit's title and its steps or parts.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::icons::{self, Icon};
use crate::theme::{self, font_size, radius, space};
use crate::widgets::focus;
use curriculum::{Step, Unit};
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

fn header_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit) {
    if ui.available_width() >= ONE_ROW {
        let title = |ui: &mut Ui, _: &mut Screen<'_>| title_ui(ui, day);
        parts::sides(ui, "steps", screen, title, |ui, screen| steps_ui(ui, screen, day));
        return;
    }
    ui.horizontal(|ui| title_ui(ui, day));
    ui.horizontal(|ui| steps_ui(ui, screen, day));
}

fn title_ui(ui: &mut Ui, day: &Unit) {
    let t = theme::tokens(ui);
    let place = day.day().map_or_else(|| day.place(), |(week, number)| format!("Week {week} · Day {number}"));
    ui.label(RichText::new(place).color(t.text_muted));
    let title = RichText::new(&day.title).size(font_size::HEADING).bold();
    ui.add(egui::Label::new(title).truncate());
    if day.is_written() && day.minutes > 0 && ui.available_width() > 90.0 {
        ui.label(RichText::new(format!("about {} min", day.minutes)).small().color(t.text_muted));
    }
}

fn steps_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit) {
    if !day.is_written() {
        return;
    }
    // Parts may be many, and their headings are long.
    let count = day.lesson.sections.len();
    let short = ui.ctx().content_rect().width() < NUMBERS || day.day().is_none();
    if count < 2 {
        return;
    }
    ui.spacing_mut().item_spacing.x = space::XS;
    for (index, step) in day.steps().enumerate() {
        step_ui(ui, screen, day, index + 1, step, short);
    }
}

fn step_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit, number: usize, step: Step, short: bool) {
    let t = theme::tokens(ui);
    let open = screen.state.view.step == step;
    let done = screen.state.progress.is_step_done(day, step);
    let title = day.step_title(step);
    let icon = if done { Some(icons::CHECK_CIRCLE) } else { icon_of(step) };
    let color = match (open, done) {
        (true, _) => t.text,
        (false, true) => t.pass,
        (false, false) => t.text_muted,
    };
    let mut atoms = egui::Atoms::default();
    match icon {
        Some(icon) => atoms.push_right(icons::colored(icon, if done { t.pass } else { color })),
        None => atoms.push_right(RichText::new(number.to_string()).color(color)),
    }
    // A part that is called like the unit would say its name twice in one row.
    if (open || !short) && title != day.title {
        let label = RichText::new(title).color(color);
        // Not bold: wider letters would move the steps behind this one.
        atoms.push_right(if open { label.strong() } else { label });
    }
    let button = Button::selectable(open, atoms)
        .fill(if open { t.accent_soft } else { t.raised })
        .stroke(Stroke::new(1.0, if open { t.accent } else { t.border }))
        .corner_radius(radius::LARGE)
        .frame_when_inactive(true);
    let tooltip = match step {
        Step::Challenge => Action::StepChallenge.tooltip(ui.ctx()),
        Step::Explore => Action::StepExplore.tooltip(ui.ctx()),
        Step::Concept => Action::StepConcept.tooltip(ui.ctx()),
        Step::CodeIt => Action::StepCodeIt.tooltip(ui.ctx()),
        Step::Verify => Action::StepVerify.tooltip(ui.ctx()),
        Step::Part(_) => title.to_owned(),
    };
    let response = ui.add(button).on_hover_text(tooltip);
    focus::ring(ui, &response);
    let word = if day.day().is_some() { "Step" } else { "Part" };
    let name = format!("{word} {number}: {title}{}", if done { ", done" } else { "" });
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, open, &name));
    if response.clicked() {
        screen.send(Command::ShowStep(step));
    }
    if number < day.lesson.sections.len() && !short {
        ui.label(RichText::new("›").color(t.text_faint));
    }
}

/// The icon of a day's step; the parts of a lab are numbered.
fn icon_of(step: Step) -> Option<Icon> {
    match step {
        Step::Challenge => Action::StepChallenge.icon(),
        Step::Explore => Action::StepExplore.icon(),
        Step::Concept => Action::StepConcept.icon(),
        Step::CodeIt => Action::StepCodeIt.icon(),
        Step::Verify => Action::StepVerify.icon(),
        Step::Part(_) => None,
    }
}

/// What a planned day will hold, and the nearest that can be done.
pub fn planned_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit, summary: &str) {
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
                ui.label(RichText::new(format!("This {} is planned", day.kind.word())).size(font_size::HEADING).bold());
                ui.add_space(space::S);
                ui.label(RichText::new(summary).color(t.text));
                ui.add_space(space::S);
                let text = "Coming later. Until then, there is plenty to do in the days before it.";
                ui.label(RichText::new(text).color(t.text_muted));
                ui.add_space(space::M);
                let written = screen.state.course.days().filter(|other| other.is_written() && other.id != day.id);
                let nearest = written.min_by_key(|other| {
                    let place = |day: &Unit| day.day().map_or(0, |(week, day)| i64::from(week) * 7 + i64::from(day));
                    (place(other) - place(day)).abs()
                });
                if let Some(nearest) = nearest {
                    let text = format!("Open {}: {}", nearest.place(), nearest.title);
                    if ui.button(text).clicked() {
                        screen.commands.push(Command::OpenDay(nearest.id.clone()));
                    }
                }
            });
    });
}
