//! The open day: its title, the five steps, and below them lesson, work and results.

use super::{Screen, lesson, parts, results, work};
use crate::command::{Action, Command};
use crate::theme::{self, font_size, radius, space};
use curriculum::{Day, Status, Step};
use egui::{Button, CentralPanel, Frame, Layout, Margin, Panel, RichText, Stroke, Ui};

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let state = screen.state;
    let Some(day) = state.day() else {
        return parts::empty(ui, "No day is open", "Choose one in the course on the left (Ctrl+Shift+E shows it).");
    };
    let header = Frame::new().fill(t.panel).inner_margin(Margin::symmetric(space::XL as i8, space::M as i8));
    Panel::top("day header").frame(header).resizable(false).show(ui, |ui| header_ui(ui, screen, day));
    if let Status::Planned { summary } = &day.status {
        CentralPanel::default().frame(Frame::new().fill(t.inset)).show(ui, |ui| planned_ui(ui, screen, day, summary));
        return;
    }
    let has_work = screen.state.desk().is_some();
    if screen.state.view.lesson_shown {
        let frame = Frame::new().fill(t.panel);
        if has_work {
            let width = (ui.available_width() * 0.42).clamp(300.0, theme::PROSE_WIDTH + 64.0);
            Panel::left("lesson")
                .frame(frame)
                .default_size(width)
                .size_range(260.0..=900.0)
                .show(ui, |ui| lesson::show(ui, screen, day));
        } else {
            CentralPanel::default().frame(frame).show(ui, |ui| lesson::show(ui, screen, day));
            return;
        }
    }
    if screen.state.view.results_shown {
        Panel::bottom("results")
            .frame(Frame::new().fill(t.panel))
            .resizable(true)
            .default_size((ui.available_height() * 0.42).min(280.0))
            .size_range(96.0..=ui.available_height() - 120.0)
            .show(ui, |ui| results::show(ui, screen));
    }
    CentralPanel::default().frame(Frame::new().fill(t.inset)).show(ui, |ui| work::show(ui, screen));
}

fn header_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Day) {
    let t = theme::tokens(ui);
    ui.horizontal(|ui| {
        ui.label(RichText::new(format!("Week {} · Day {}", day.week, day.number)).color(t.text_muted));
        let title = RichText::new(&day.title).size(font_size::HEADING).strong();
        ui.add(egui::Label::new(title).truncate());
        ui.with_layout(Layout::right_to_left(egui::Align::Center), |ui| {
            if day.is_written() {
                ui.label(RichText::new(format!("about {} min", day.minutes)).small().color(t.text_muted));
            }
        });
    });
    if day.is_written() {
        ui.add_space(space::XS);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            for (index, step) in Step::ALL.into_iter().enumerate() {
                step_ui(ui, screen, day, index + 1, step);
            }
        });
    }
}

fn step_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Day, number: usize, step: Step) {
    let t = theme::tokens(ui);
    let open = screen.state.view.step == step;
    let done = screen.state.progress.is_step_done(day, step);
    let title = &day.lesson.section(step).title;
    let text = format!("{}  {title}", if done { "✔".to_owned() } else { number.to_string() });
    let color = match (open, done) {
        (true, _) => t.text,
        (false, true) => t.pass,
        (false, false) => t.text_muted,
    };
    let mut label = RichText::new(text).color(color);
    if open {
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
    let name = format!("Step {number}: {title}{}", if done { ", done" } else { "" });
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, open, &name));
    if response.clicked() {
        screen.send(Command::ShowStep(step));
    }
    if number < Step::ALL.len() {
        ui.label(RichText::new("›").color(t.text_faint));
    }
}

fn planned_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Day, summary: &str) {
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
                ui.label(RichText::new("This day is planned").size(font_size::HEADING).strong());
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
