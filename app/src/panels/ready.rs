//! The ready check as a page: what this machine has, and a way to what is missing.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::fonts::Bold;
use crate::icons;
use crate::ready::{self, Answers, Item, State as Standing};
use crate::state::{Compiler, Loadable, Pane, READY_QUIZ};
use crate::theme::{self, font_size, space};
use crate::widgets::focus;
use crate::widgets::quiz::{self, QuizAction};
use crate::widgets::sentence;
use curriculum::{Step, Unit};
use egui::{Frame, Margin, ProgressBar, RichText, ScrollArea, Ui};
use gpu_core::device::DeviceInfo;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::same(space::XL as i8)).show(ui, |ui| {
            ui.set_max_width(ui.available_width().min(theme::PROSE_WIDTH));
            ui.spacing_mut().item_spacing.y = space::M;
            ui.label(RichText::new("Is this machine ready?").size(font_size::HEADING).bold());
            let devices = devices(screen);
            let mut items = screen.state.ready.value().cloned().unwrap_or_default();
            if !items.is_empty() {
                items.extend(ready::gpus(&devices));
                let room = ui.input(|input| input.viewport().monitor_size);
                items.push(ready::scale(ui.pixels_per_point(), room.map(|size| [size.x, size.y])));
            }
            ui.label(RichText::new(verdict(&items)).color(t.text_muted));
            ui.horizontal(|ui| {
                if ui.button("Look again").on_hover_text(Action::ReadyCheck.tooltip(ui.ctx())).clicked() {
                    screen.send(Command::LookAround);
                }
                if matches!(screen.state.ready, Loadable::Pending { .. }) {
                    parts::busy(ui);
                    ui.label(RichText::new("Looking…").color(t.text_muted));
                }
            });
            for item in &items {
                item_ui(ui, screen, item);
            }
            questions_ui(ui, screen);
            path_ui(ui, screen, &items, &devices);
            start_ui(ui, screen, &items);
        });
        focus::follow(ui);
    });
}

/// Every device that was listed, here and on remote machines.
fn devices(screen: &Screen<'_>) -> Vec<DeviceInfo> {
    let labs = screen.state.devices.labs.values();
    labs.filter_map(|lab| lab.devices.value()).flatten().cloned().collect()
}

/// A few questions, for the pace.
fn questions_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let course = screen.state.course.clone();
    if course.ready.questions.is_empty() {
        return;
    }
    ui.separator();
    ui.label(RichText::new("What do you know already?").size(font_size::HEADING).bold());
    let text = "Eight questions on what the course builds on. They are not graded. They only set the pace that is suggested below.";
    ui.add(egui::Label::new(RichText::new(text).color(t.text_muted)).wrap());
    let key = screen.state.quiz_key(READY_QUIZ);
    let restores = screen.memory.restored.insert(key.clone());
    let state = screen.memory.quiz_mut(&key);
    if restores {
        for (question, answer) in &screen.state.progress.ready {
            state.restore(&course.ready, question, answer);
        }
    }
    for action in quiz::show(ui, &course.ready, state) {
        match action {
            QuizAction::Answered { question, correct, given } => {
                screen.commands.push(Command::ReadyAnswered { question, correct, given });
            }
            QuizAction::TriedAgain { question, given } => {
                screen.commands.push(Command::TriedAgain { day: None, question, given });
            }
            QuizAction::OpenLink(target) => screen.commands.push(Command::OpenLink(target)),
            // Nothing of the ready check is measured.
            QuizAction::Run { .. } => {}
        }
    }
}

/// Where it leads: the way through the course that fits this machine and these answers.
fn path_ui(ui: &mut Ui, screen: &mut Screen<'_>, items: &[Item], devices: &[DeviceInfo]) {
    let t = theme::tokens(ui);
    let course = screen.state.course.clone();
    let mut answers = Answers::default();
    let key = screen.state.quiz_key(READY_QUIZ);
    for (question, right) in screen.memory.quiz_mut(&key).firsts(&course.ready) {
        answers.add(&question.concept, right);
    }
    let recommended = ready::recommend(items, ready::best_capability(devices), &answers);
    ui.separator();
    ui.label(RichText::new("Your way through the course").size(font_size::HEADING).bold());
    parts::notice(ui, t.info_soft, t.info, |ui| {
        ui.label(RichText::new(recommended.path.title()).bold());
        ui.add(egui::Label::new(recommended.what).wrap());
        for reason in &recommended.because {
            ui.add(egui::Label::new(RichText::new(format!("• {reason}")).color(t.text_muted)).wrap());
        }
    });
}

/// The way from here into the course: the first kernel, or the next one.
fn start_ui(ui: &mut Ui, screen: &mut Screen<'_>, items: &[Item]) {
    if items.is_empty() || items.iter().any(|item| item.state == Standing::Failed) {
        return;
    }
    let state = screen.state;
    let passed = |day: &&Unit| day.exercise().is_some_and(|main| state.progress.has_passed(day, &main.key));
    let days = || state.course.days().filter(|day| day.is_written() && day.exercise().is_some());
    let is_first = !days().any(|day| passed(&day));
    let Some(day) = days().find(|day| !passed(day)) else { return };
    let text = match is_first {
        true => "Write your first kernel ›".to_owned(),
        false => format!("Continue with {}: {} ›", day.place(), day.title),
    };
    ui.add_space(space::S);
    if focus::primary(ui, &text, true).on_hover_text(format!("{}: {}", day.place(), day.title)).clicked() {
        let step = if is_first { Step::CodeIt } else { day.first_step() };
        screen.commands.extend([Command::OpenDay(day.id.clone()), Command::ShowStep(step)]);
        if is_first {
            screen.commands.push(Command::FocusPane(Pane::Editor));
        }
    }
    ui.add_space(space::XL);
}

fn verdict(items: &[Item]) -> String {
    let count = |state| items.iter().filter(|item| item.state == state).count();
    match (items.len(), count(Standing::Failed), count(Standing::Limited)) {
        (0, ..) => "Looking at this machine…".to_owned(),
        (_, 0, 0) => "Ready. Nothing is missing.".to_owned(),
        (_, 0, 1) => "Ready. One optional thing is missing.".to_owned(),
        (_, 0, more) => format!("Ready. {more} optional things are missing."),
        (_, 1, _) => "One thing to fix before kernels can run.".to_owned(),
        (_, more, _) => format!("{more} things to fix before kernels can run."),
    }
}

fn item_ui(ui: &mut Ui, screen: &mut Screen<'_>, item: &Item) {
    let t = theme::tokens(ui);
    let (icon, name, color, fill) = match item.state {
        Standing::Fine => (icons::CHECK_CIRCLE, "fine", t.pass, t.raised),
        Standing::Limited => (icons::INFO, "optional", t.warn, t.raised),
        Standing::Failed => (icons::X_CIRCLE, "to fix", t.fail, t.fail_soft),
    };
    parts::notice(ui, fill, color, |ui| {
        ui.horizontal(|ui| {
            let sign = icons::show(ui, icon, color);
            sign.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, name));
            ui.label(RichText::new(item.title).bold());
        });
        ui.add(egui::Label::new(sentence::job(ui, &item.found, t.text)).wrap());
        let Some(fix) = &item.fix else { return };
        let begin = if item.state == Standing::Failed { "To do" } else { "Optional" };
        ui.add(egui::Label::new(sentence::job(ui, &format!("{begin}: {fix}"), t.text_muted)).wrap());
        let in_window = matches!(item.id, "nvrtc" | "headers" | "disassembler" | "python" | "gpu_driver");
        if in_window || commands(fix).next().is_some() {
            ui.horizontal_wrapped(|ui| fix_ui(ui, screen, item, fix));
        }
    });
}

/// The fix as a button where the window can do it, and its commands to copy.
fn fix_ui(ui: &mut Ui, screen: &mut Screen<'_>, item: &Item, fix: &str) {
    let t = theme::tokens(ui);
    match (item.id, &screen.state.compiler) {
        ("nvrtc" | "headers" | "disassembler", Compiler::Installing { what, done_bytes, total_bytes }) => {
            let share = if *total_bytes > 0 { *done_bytes as f32 / *total_bytes as f32 } else { 0.0 };
            ui.label(format!("Installing {what}"));
            ui.add(ProgressBar::new(share).desired_width(180.0).show_percentage());
            if ui.button("Cancel").clicked() {
                screen.commands.push(Command::StopInstall);
            }
        }
        ("nvrtc" | "headers" | "disassembler", _) => {
            let license =
                "Downloads NVIDIA's wheels with pip and checks their hashes; NVIDIA's license applies to them";
            if ui.button("Install NVRTC").on_hover_text(license).clicked() {
                screen.commands.push(Command::InstallCompiler);
            }
        }
        ("gpu_driver", _) if ui.button("Add a remote machine…").clicked() => {
            screen.commands.push(Command::Do(Action::Settings));
        }
        ("python", _) if ui.button("Choose a Python…").clicked() => {
            screen.commands.push(Command::Do(Action::Settings));
        }
        _ => {}
    }
    for command in commands(fix) {
        if ui
            .button(sentence::job(ui, &format!("Copy `{command}`"), t.text))
            .on_hover_text("Run it in a terminal")
            .clicked()
        {
            screen.commands.push(Command::CopyText(command.to_owned()));
        }
    }
}

/// What stands between backquotes and is more than a name.
fn commands(fix: &str) -> impl Iterator<Item = &str> {
    fix.split('`').skip(1).step_by(2).filter(|text| text.contains(' '))
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_are_what_stands_between_backquotes() {
        let found: Vec<&str> =
            super::commands("run `sudo apt install x` or set `FOO`; then `lockstep setup`").collect();
        assert_eq!(found, ["sudo apt install x", "lockstep setup"]);
    }
}
